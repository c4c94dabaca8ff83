//! A program with a bound on what it prints and on how long it may be silent.

use std::io::{Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// What a program did.
pub(crate) struct Outcome {
    pub(crate) success: bool,
    pub(crate) printed: Vec<u8>,
    /// The end of what it said on stderr, or how it ended if it said nothing.
    pub(crate) said: String,
}

/// Why nothing is known of what it did.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("it could not be started: {0}")]
    Start(std::io::Error),
    #[error("it printed more than {0} bytes")]
    TooMuch(u64),
    #[error("nothing came")]
    TimedOut,
    #[error("it could not be waited for: {0}")]
    Wait(std::io::Error),
}

/// What the threads at the pipes report.
enum News {
    Written,
    Printed(Vec<u8>),
    Said(Vec<u8>),
    /// Nothing more is written, or printed.
    Closed,
    /// Nothing more is said. What runs on in the background, as ssh does for later connections, may never close stderr.
    Silent,
}

/// Standard input and output.
const PIPES: usize = 2;
const SAID: usize = 600;

/// Runs it with `input` on its standard input. It is killed if it prints more than `most` bytes or if for so long nothing is written, printed or
/// said. The threads at its pipes are not waited for: what it started may hold them open.
pub(crate) fn run(mut command: Command, input: &[u8], most: u64, patience: Duration) -> Result<Outcome, Failure> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(Failure::Start)?;
    let news = watch(&mut child, input.to_vec());
    let outcome = follow(&news, most, patience).and_then(|(printed, mut said)| {
        let status = wait(&mut child, patience)?;
        last_words(&news, &mut said);
        let said = String::from_utf8_lossy(&said).trim().trim_end_matches('.').escape_debug().to_string();
        Ok(Outcome { success: status.success(), printed, said: if said.is_empty() { status.to_string() } else { said } })
    });
    if outcome.is_err() {
        // It is gone already, or this ends it.
        let _ = child.kill();
        let _ = child.wait();
    }
    outcome
}

fn watch(child: &mut Child, input: Vec<u8>) -> Receiver<News> {
    let (sender, news) = channel();
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let to = sender.clone();
    thread::spawn(move || {
        if let Some(mut stdin) = stdin {
            // One that ends before it has read everything says why on stderr.
            for piece in input.chunks(64 * 1024) {
                if stdin.write_all(piece).is_err() || to.send(News::Written).is_err() {
                    break;
                }
            }
        }
        _ = to.send(News::Closed);
    });
    let to = sender.clone();
    thread::spawn(move || pass_on(stdout, &to, News::Printed, News::Closed));
    thread::spawn(move || pass_on(stderr, &sender, News::Said, News::Silent));
    news
}

fn pass_on(from: Option<impl Read>, to: &Sender<News>, news: impl Fn(Vec<u8>) -> News, end: News) {
    let mut buffer = vec![0; 64 * 1024];
    if let Some(mut from) = from {
        while let Ok(length @ 1..) = from.read(&mut buffer) {
            if to.send(news(buffer[..length].to_vec())).is_err() {
                return;
            }
        }
    }
    _ = to.send(end);
}

fn follow(news: &Receiver<News>, most: u64, patience: Duration) -> Result<(Vec<u8>, Vec<u8>), Failure> {
    let (mut printed, mut said, mut closed) = (Vec::new(), Vec::new(), 0);
    while closed < PIPES {
        match news.recv_timeout(patience) {
            Ok(News::Written) => {}
            Ok(News::Printed(bytes)) => {
                printed.extend(bytes);
                if printed.len() as u64 > most {
                    return Err(Failure::TooMuch(most));
                }
            }
            Ok(News::Said(bytes)) => keep_end(&mut said, bytes),
            Ok(News::Closed) => closed += 1,
            Ok(News::Silent) => {}
            Err(RecvTimeoutError::Timeout) => return Err(Failure::TimedOut),
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    Ok((printed, said))
}

fn keep_end(said: &mut Vec<u8>, bytes: Vec<u8>) {
    said.extend(bytes);
    said.drain(..said.len().saturating_sub(SAID));
}

/// What was said and not yet passed on when the program ended.
fn last_words(news: &Receiver<News>, said: &mut Vec<u8>) {
    while let Ok(next) = news.recv_timeout(Duration::from_millis(200)) {
        match next {
            News::Said(bytes) => keep_end(said, bytes),
            News::Silent => break,
            _ => {}
        }
    }
}

/// It has closed its output and ends at once, or never.
fn wait(child: &mut Child, patience: Duration) -> Result<ExitStatus, Failure> {
    let (step, mut waited) = (Duration::from_millis(5), Duration::ZERO);
    loop {
        match child.try_wait().map_err(Failure::Wait)? {
            Some(status) => return Ok(status),
            None if waited >= patience => return Err(Failure::TimedOut),
            None => thread::sleep(step),
        }
        waited += step;
    }
}
