//! The picture of a terminal in the README: drawn from what the program shows of recorded sessions, so that it cannot differ from it.
//! `RECALL_WRITE_DOCS=1` draws it anew.

use std::fmt::Write;
use std::path::Path;

use crate::support::World;
use crate::support::answers::shown_at_terminal;

const PICTURE: &str = "docs/src/terminal.svg";
const COLUMNS: u16 = 80;
/// More than is shown; empty rows at the end are left out.
const ROWS: u16 = 200;
/// In pixels.
const CELL: (f64, f64) = (8.4, 18.0);
const MARGIN: f64 = 16.0;

/// What is typed, and how many of the lines that follow stand in the picture.
const SCENES: [(&[&str], usize); 4] = [
    (&["digest", "--summarizer", "extract"], 8),
    (&["day", "2026-11-18"], 24),
    (&["search", "cent"], 6),
    (&["report", "--since", "2026-11-17", "--for", "changelog"], 12),
];

#[test]
fn the_terminal_in_the_readme_shows_what_the_program_does() {
    let world = World::with_fixtures(&["plain", "compact"]);
    let mut screen = vt100::Parser::new(ROWS.try_into().expect("rows"), COLUMNS.try_into().expect("columns"), 0);
    for (args, most) in SCENES {
        screen.process(format!("\x1b[1m$ recall {}\x1b[0m\r\n", args.join(" ")).as_bytes());
        let shown = shown_at_terminal(&world, (COLUMNS, ROWS), args);
        let shown = shown.replace(world.data_dir().to_str().expect("UTF-8"), "~/.local/share/recall");
        let lines: Vec<&str> = shown.lines().collect();
        for line in lines.iter().take(most) {
            // A line ends as its last cell looks, and the next one is written as if nothing stood before it.
            screen.process(format!("{}\x1b[m\r\n", line.trim_end_matches('\r')).as_bytes());
        }
        if lines.len() > most {
            screen.process("\x1b[2m…\x1b[0m\r\n".as_bytes());
        }
        screen.process(b"\r\n");
    }
    let drawn = draw(screen.screen());
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(PICTURE);
    if std::env::var_os("RECALL_WRITE_DOCS").is_some() {
        std::fs::write(&file, &drawn).expect("the picture");
    }
    let there = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(there == drawn, "{PICTURE} shows something else than the program does: RECALL_WRITE_DOCS=1 draws it anew");
}

/// A screen as SVG: a text element for each row, with a part for each run of cells that look the same.
fn draw(screen: &vt100::Screen) -> String {
    let last = (0..ROWS).rev().find(|row| !row_text(screen, *row).trim().is_empty()).unwrap_or_default();
    let (width, height) = (f64::from(COLUMNS) * CELL.0 + 2.0 * MARGIN, f64::from(last + 1) * CELL.1 + 2.0 * MARGIN);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" xml:space=\"preserve\" width=\"{width:.0}\" height=\"{height:.0}\" role=\"img\" \
         aria-label=\"recall in a terminal\">\n<style>text{{font:14px ui-monospace,Menlo,Consolas,monospace;white-space:pre;fill:#d8dee9}}\
         .b{{font-weight:bold;fill:#fff}}.f{{fill:#8b95a5}}.c{{fill:#7fd3d8}}</style>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#1d2330\"/>\n"
    );
    for row in 0..=last {
        let y = MARGIN + CELL.1 * f64::from(row) + 14.0;
        let mut runs: Vec<(&str, String)> = Vec::new();
        for column in 0..COLUMNS {
            let Some(cell) = screen.cell(row, column) else { continue };
            let text = if cell.has_contents() { cell.contents().to_owned() } else { " ".to_owned() };
            match runs.last_mut().filter(|(look, _)| *look == look_of(cell)) {
                Some((_, run)) => run.push_str(&text),
                None => runs.push((look_of(cell), text)),
            }
        }
        if let Some((_, run)) = runs.last_mut() {
            run.truncate(run.trim_end().len());
        }
        if runs.iter().all(|(_, run)| run.is_empty()) {
            continue;
        }
        write!(svg, "<text x=\"{MARGIN}\" y=\"{y}\">").expect("a text");
        for (look, run) in &runs {
            let run = run.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            match *look {
                "" => svg.push_str(&run),
                look => write!(svg, "<tspan class=\"{look}\">{run}</tspan>").expect("a text"),
            }
        }
        svg.push_str("</text>\n");
    }
    svg + "</svg>\n"
}

fn row_text(screen: &vt100::Screen, row: u16) -> String {
    screen.contents_between(row, 0, row, COLUMNS)
}

/// The class of a cell.
fn look_of(cell: &vt100::Cell) -> &'static str {
    match cell {
        cell if cell.bold() => "b",
        cell if cell.dim() => "f",
        cell if cell.fgcolor() != vt100::Color::Default => "c",
        _ => "",
    }
}
