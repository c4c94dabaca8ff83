//! Two hundred and fifty kinds of secrets in five forms each, as people and programs write them, and what only looks like them.
//!
//! The patterns lie in `corpus/`: `texts.txt` for what the text around tells, `named.txt` with `forms.txt` for what has a name of its own,
//! `typed.txt` for what people type to try something, `stay.txt` for what is none.

use crate::secrets::generate::{Grown, grow};
use crate::support::{World, fed};

const TEXTS: &str = include_str!("corpus/texts.txt");
const NAMED: &str = include_str!("corpus/named.txt");
const FORMS: &str = include_str!("corpus/forms.txt");
const TYPED: &str = include_str!("corpus/typed.txt");
const STAY: &str = include_str!("corpus/stay.txt");
/// Forms of each kind.
const EACH: usize = 5;
/// No stretch of a secret of this length may be left.
const WINDOW: usize = 8;
/// Of a hundred tries so many may pass: what no rule can tell from a word is among them.
const MOST: usize = 4;

/// A kind in one form.
struct Try {
    kind: &'static str,
    grown: Grown,
}

/// The lines of a file that are no comment.
fn lines(file: &'static str) -> impl Iterator<Item = &'static str> {
    file.lines().filter(|line| !line.is_empty() && !line.starts_with("# "))
}

fn tries() -> Vec<Try> {
    let mut all = Vec::new();
    let mut kind = "";
    // A cookie file begins with a `# `, so that comments here are the first lines alone.
    for line in TEXTS.lines().skip_while(|line| !line.starts_with("== ")).filter(|line| !line.is_empty()) {
        match line.strip_prefix("== ") {
            Some(name) => kind = name,
            None => all.push(Try { kind, grown: grown(line, &format!("{kind} {}", all.len())) }),
        }
    }
    let forms: Vec<&str> = lines(FORMS).collect();
    for (at, line) in lines(NAMED).enumerate() {
        let fields: Vec<&'static str> = line.split(" | ").map(str::trim).collect();
        let [kind, variable, label, value] = fields[..] else { panic!("no kind: {line}") };
        for n in 0..EACH {
            let pattern = named(forms[(at * EACH + n * 11) % forms.len()], variable, label, value);
            all.push(Try { kind, grown: grown(&pattern, &format!("{kind} {n}")) });
        }
    }
    all
}

/// A form with the names and the value in it.
fn named(form: &str, variable: &str, label: &str, value: &str) -> String {
    let lower = variable.to_lowercase();
    let mut words = lower.split('_');
    let mut camel = words.next().unwrap_or_default().to_owned();
    for word in words {
        camel.push_str(&word[..1].to_uppercase());
        camel.push_str(&word[1..]);
    }
    form.replace("‹VAR›", variable)
        .replace("‹kebab›", &lower.replace('_', "-"))
        .replace("‹var›", &lower)
        .replace("‹camel›", &camel)
        .replace("‹label›", label)
        .replace("‹value›", value)
}

/// The text of a pattern whose holes are in `‹…›`, because braces mean something in what is written here.
fn grown(pattern: &str, seed: &str) -> Grown {
    let pattern = pattern.replace('{', "{{").replace('⏎', "\n").replace('⇥', "\t");
    let mut parts = pattern.split('‹');
    let mut holes = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        holes.push('{');
        // A sign of the same form stands in prompts.
        holes.push_str(&part.replacen('›', "}", 1));
    }
    grow(&holes, seed)
}

/// Is a stretch of any of these in the text?
fn leaks(parts: &[String], text: &str) -> bool {
    let windows = |part: &str| part.as_bytes().windows(WINDOW.min(part.len())).map(<[u8]>::to_vec).collect::<Vec<_>>();
    parts.iter().any(|part| windows(part).iter().any(|window| memchr::memmem::find(text.as_bytes(), window).is_some()))
}

#[test]
fn secrets_go_however_people_write_them() {
    let world = World::new();
    let tries = tries();
    let mut kinds: Vec<&str> = tries.iter().map(|one| one.kind).collect();
    kinds.dedup();
    assert!(kinds.len() >= 200 && tries.len() >= 1000, "{} kinds, {} tries", kinds.len(), tries.len());
    let mut passed = Vec::new();
    for kind in &kinds {
        let all: Vec<&Try> = tries.iter().filter(|one| one.kind == *kind).collect();
        let text = all.iter().map(|one| one.grown.text.as_str()).collect::<Vec<_>>().join("\n\n---\n\n");
        let left = redacted(&world, &text);
        passed.extend(all.iter().filter(|one| leaks(&one.grown.parts, &left)).map(|one| (one.kind, one.grown.text.as_str())));
    }
    println!("{} of {} passed: {passed:#?}", passed.len(), tries.len());
    assert!(passed.len() * 100 <= tries.len() * MOST, "{} of {} passed: {passed:#?}", passed.len(), tries.len());
}

#[test]
fn what_a_person_types_to_try_it_goes() {
    let all: Vec<Typed> = lines(TYPED).map(typed).collect();
    assert!(all.len() >= 40, "{} lines", all.len());
    let text = all.iter().map(|one| one.text.as_str()).collect::<Vec<_>>().join("\n\n---\n\n");
    let left = redacted(&World::new(), &text);
    let passed: Vec<_> = left.split("\n\n---\n\n").zip(&all).filter(|(left, one)| !one.went(left)).collect();
    assert!(passed.is_empty(), "{} of {}: {passed:#?}", passed.len(), all.len());
}

/// A line of `typed.txt`: its text, and the parts around the secret.
#[derive(Debug)]
struct Typed {
    text: String,
    before: String,
    after: String,
}

fn typed(line: &'static str) -> Typed {
    let line = line.replace('⏎', "\n");
    let (before, rest) = line.split_once('‹').expect("a secret");
    let (secret, after) = rest.split_once('›').expect("its end");
    Typed { text: format!("{before}{secret}{after}"), before: before.to_owned(), after: after.to_owned() }
}

impl Typed {
    /// Is a mark in the place of the secret, and all else as it was?
    fn went(&self, left: &str) -> bool {
        let mark = left.strip_prefix(&self.before).and_then(|rest| rest.strip_suffix(&self.after));
        mark.is_some_and(|mark| mark.starts_with("[REDACTED:") && mark.ends_with(']') && !mark.contains(' '))
    }
}

#[test]
fn what_only_looks_like_a_secret_stays() {
    let said: Vec<&str> = lines(STAY).collect();
    assert!(said.len() >= 300, "{} lines", said.len());
    let world = World::new();
    let text = said.join("\n\n---\n\n");
    let left = redacted(&world, &text);
    let changed: Vec<_> = left.split("\n\n---\n\n").zip(&said).filter(|(left, was)| left != *was).collect();
    assert!(changed.is_empty(), "{} of {}: {changed:#?}", changed.len(), said.len());
}

fn redacted(world: &World, text: &str) -> String {
    let mut command = world.process();
    command.arg("redact");
    let ran = fed(command, text.as_bytes());
    assert_eq!(ran.code, 0, "{ran:#?}");
    ran.out
}
