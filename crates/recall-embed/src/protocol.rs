//! Requests on standard input, replies on standard output, a line of JSON each.
//!
//! The first line that is written says what the model is: `{"model": …, "hash": …, "dimensions": …, "max_tokens": …}`. Then each request
//! `{"kind": "query" | "passage", "texts": […]}` gets `{"vectors": [[…], …]}`, with vectors of length 1, or `{"error": …}`.

use std::io::{BufRead, Read, Write};

use anyhow::{Result, ensure};
use serde::{Deserialize, Serialize};

use crate::model::{Model, ModelFolder, Role};

/// The longest request that is read, in bytes.
const MAX_REQUEST_BYTES: u64 = 64 << 20;

#[derive(Deserialize)]
struct Request {
    kind: Role,
    texts: Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Reply {
    Vectors(Vec<Vec<f32>>),
    Error(String),
}

#[derive(Serialize)]
struct About<'m> {
    model: &'m str,
    hash: &'m str,
    dimensions: usize,
    max_tokens: usize,
}

/// Answers requests until there are no more.
///
/// # Errors
/// When a request cannot be read or a reply not be written. What is wrong with a request itself is said in its reply.
pub fn serve(folder: &ModelFolder, model: &Model<'_>, mut requests: impl BufRead, mut replies: impl Write) -> Result<()> {
    let about =
        About { model: &folder.name, hash: &folder.hash, dimensions: folder.shapes.hidden_size, max_tokens: folder.max_tokens };
    write_line(&mut replies, &about)?;
    let mut line = Vec::new();
    loop {
        line.clear();
        // One byte more than allowed shows that there is more.
        let read = requests.by_ref().take(MAX_REQUEST_BYTES + 1).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(());
        }
        if read as u64 > MAX_REQUEST_BYTES && line.last() != Some(&b'\n') {
            requests.skip_until(b'\n')?;
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let reply = answer(model, &line).map_or_else(|e| Reply::Error(format!("{e:#}")), Reply::Vectors);
        write_line(&mut replies, &reply)?;
    }
}

fn answer(model: &Model<'_>, line: &[u8]) -> Result<Vec<Vec<f32>>> {
    ensure!(
        line.len() as u64 <= MAX_REQUEST_BYTES,
        "the request is longer than {MAX_REQUEST_BYTES} bytes; send fewer texts at once"
    );
    let request: Request = serde_json::from_slice(line)?;
    let mut vectors = model.embed(&request.texts.iter().map(String::as_str).collect::<Vec<_>>(), request.kind)?;
    vectors.iter_mut().flatten().for_each(|x| *x = rounded(*x));
    Ok(vectors)
}

/// With six significant digits: what the model knows, in two thirds of the bytes.
fn rounded(x: f32) -> f32 {
    format!("{x:.5e}").parse().unwrap_or(x)
}

fn write_line(to: &mut impl Write, value: &impl Serialize) -> Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    to.write_all(&line)?;
    Ok(to.flush()?)
}
