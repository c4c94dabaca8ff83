//! A reply as a blockquote, cut where one of its blocks ends. Pure.

use text::blocks::{Block, BlockKind, blocks, harmless_lines, without_long_parts};
use text::clean::{one_line, shorten};

/// What stands where something was cut.
const CUT: &str = "> […]\n";
/// With less room nothing is quoted, in bytes.
const MIN_BYTES: usize = 60;

/// The text in a blockquote of at most so many bytes, of it at most so many characters; of a longer one its beginning, and its last paragraph if
/// that is short. Every line of it begins with `>`; no code fence stays open, no heading or lead-in stands last where something was cut. `None` if
/// nothing of it fits.
pub(super) fn blockquote(text: &str, room: usize, most_chars: usize) -> Option<String> {
    let text = harmless_lines(text);
    let blocks = blocks(&text);
    let whole: String = blocks.iter().map(render).collect();
    if whole.is_empty() || room < MIN_BYTES {
        return None;
    }
    if whole.len() <= room && whole.chars().count() <= most_chars {
        return Some(whole);
    }
    let limit = Limit { bytes: room - CUT.len(), chars: most_chars };
    ending(&blocks, limit)
        .and_then(|end| Some(cut(&blocks[..blocks.len() - 1], limit.without(&end))? + &end))
        .or_else(|| cut(&blocks, limit))
}

/// The last paragraph, where it takes at most a quarter of the room: it often asks something, or names what is left.
fn ending(blocks: &[Block<'_>], limit: Limit) -> Option<String> {
    let (last, _) =
        blocks.split_last().filter(|(last, before)| last.kind == BlockKind::Text && last.apart && !before.is_empty())?;
    let quarter = Limit { bytes: limit.bytes / 4, chars: limit.chars / 4 };
    Some(render(last)).filter(|end| quarter.holds("", end))
}

/// The first of the blocks, which do not fit all, and that something was cut.
fn cut(blocks: &[Block<'_>], limit: Limit) -> Option<String> {
    let mut out = String::new();
    let mut told = 0;
    for block in blocks {
        let more = render(block);
        if !limit.holds(&out, &more) {
            break;
        }
        out.push_str(&more);
        told += 1;
    }
    let next = &blocks[told.min(blocks.len() - 1)];
    if matches!(next.kind, BlockKind::Text | BlockKind::Item) && out.len() < limit.bytes.min(limit.chars) / 2 {
        out.push_str(&shortened(next, &out, limit).unwrap_or_default());
        if out.ends_with("…\n") {
            return Some(out + CUT);
        }
    }
    let kept = without_lead_in(blocks, told);
    let mut out: String = blocks[..kept].iter().map(render).collect();
    if kept == 0 {
        out = blocks[..told].iter().map(render).collect();
        out.push_str(&part_of(next, &out, limit)?);
    }
    Some(out + CUT)
}

/// As [`blockquote`], with code, tables and quotations of more than a few lines told by their length.
pub(super) fn brief_blockquote(text: &str, room: usize, most_chars: usize) -> Option<String> {
    blockquote(&without_long_parts(text), room, most_chars)
}

/// A block's lines in a blockquote.
fn render(block: &Block<'_>) -> String {
    let mut out = String::from(if block.apart { ">\n" } else { "" });
    for line in &block.lines {
        let line = if block.kind == BlockKind::Heading { line.trim_start().trim_start_matches('#').trim_start() } else { line };
        out.push_str(quoted_line(line).as_str());
    }
    out
}

#[derive(Clone, Copy)]
struct Limit {
    bytes: usize,
    chars: usize,
}

impl Limit {
    fn holds(self, text: &str, more: &str) -> bool {
        text.len() + more.len() <= self.bytes && text.chars().count() + more.chars().count() <= self.chars
    }

    fn without(self, text: &str) -> Self {
        Self { bytes: self.bytes - text.len(), chars: self.chars - text.chars().count() }
    }
}

/// How many of the first blocks are told so that none of them only leads to what was cut.
fn without_lead_in(blocks: &[Block<'_>], mut told: usize) -> usize {
    let rows = blocks[..told].iter().rev().take_while(|block| block.kind == BlockKind::Row).count();
    // A table's head and its rule.
    if rows <= 2 && blocks.get(told).is_some_and(|next| next.kind == BlockKind::Row) {
        told -= rows;
    }
    while told > 0 && blocks[told - 1].leads_in() {
        told -= 1;
    }
    told
}

/// The beginning of a block that does not fit: some lines of a fence, which is closed, or some words.
fn part_of(block: &Block<'_>, before: &str, limit: Limit) -> Option<String> {
    if block.kind != BlockKind::Fence {
        return shortened(block, before, limit);
    }
    let fence = block.lines.first().map_or("", |line| line.trim_start());
    let mark = fence.chars().next().unwrap_or('`');
    let close = quoted_line(&mark.to_string().repeat(fence.chars().take_while(|c| *c == mark).count()));
    let mut out = String::from(if block.apart { ">\n" } else { "" });
    let mut told = 0;
    for line in block.lines.iter().take(block.lines.len() - 1) {
        let line = quoted_line(&shorten(line, 200));
        if !limit.holds(before, &format!("{out}{line}{close}")) {
            break;
        }
        out.push_str(&line);
        told += 1;
    }
    (told > 1).then(|| out + &close)
}

fn shortened(block: &Block<'_>, before: &str, limit: Limit) -> Option<String> {
    let apart = if block.apart { ">\n" } else { "" };
    let text = one_line(&block.lines.join(" "));
    let mut chars = limit.bytes.saturating_sub(before.len()).min(limit.chars.saturating_sub(before.chars().count()));
    while chars >= 40 {
        let part = format!("{apart}{}", quoted_line(&shorten(&text, chars)));
        if limit.holds(before, &part) {
            return Some(part);
        }
        chars = chars * 9 / 10;
    }
    None
}

fn quoted_line(line: &str) -> String {
    if line.is_empty() { ">\n".to_owned() } else { format!("> {line}\n") }
}
