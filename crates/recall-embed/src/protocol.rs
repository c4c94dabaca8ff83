//! Requests on standard input, replies on standard output, a line of JSON each.
//!
//! The first line that is written says what the model is: `{"model": …, "dimensions": …, "max_tokens": …}`. Then each request
//! `{"kind": "query" | "passage", "texts": […]}` gets `{"vectors": [[…], …]}`, with vectors of length 1, or `{"error": …}`.

use std::io::{BufRead, Write};

use anyhow::Result;
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
    dimensions: usize,
    max_tokens: usize,
}

/// Answers requests until there are no more.
///
/// # Errors
/// When a request cannot be read or a reply not be written. What is wrong with a request itself is said in its reply.
pub fn serve(folder: &ModelFolder, model: &Model<'_>, mut requests: impl BufRead, mut replies: impl Write) -> Result<()> {
    let about = About { model: &folder.name, dimensions: folder.shapes.hidden_size, max_tokens: folder.max_tokens };
    write_line(&mut replies, &about)?;
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = std::io::Read::take(&mut requests, MAX_REQUEST_BYTES).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(());
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let reply = answer(model, &line).map_or_else(|e| Reply::Error(format!("{e:#}")), Reply::Vectors);
        write_line(&mut replies, &reply)?;
    }
}

fn answer(model: &Model<'_>, line: &[u8]) -> Result<Vec<Vec<f32>>> {
    let request: Request = serde_json::from_slice(line)?;
    model.embed(&request.texts.iter().map(String::as_str).collect::<Vec<_>>(), request.kind)
}

fn write_line(to: &mut impl Write, value: &impl Serialize) -> Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    to.write_all(&line)?;
    Ok(to.flush()?)
}
