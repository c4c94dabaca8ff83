//! Figures as bars: drawn as SVG, and read out as a table.

use maud::{Markup, html};

/// A bar.
pub(super) struct Bar {
    pub(super) name: String,
    pub(super) value: f64,
    /// The value as it is told.
    pub(super) told: String,
    /// Is it what the page is about?
    pub(super) is_here: bool,
}

/// The drawing's own units.
const HEIGHT: f64 = 60.0;
const STEP: f64 = 16.0;
const WIDTH: f64 = 12.0;
/// What is more than nothing can be seen.
const LEAST: f64 = 2.0;

/// Bars beside each other, under a caption.
pub(super) fn bars(caption: &str, all: &[Bar]) -> Markup {
    let most = all.iter().map(|bar| bar.value).fold(0.0, f64::max);
    let width = STEP * all.len() as f64;
    let height = |bar: &Bar| if bar.value > 0.0 { (HEIGHT * bar.value / most).max(LEAST) } else { 0.0 };
    html! {
        figure .chart {
            figcaption { (caption) @if let Some(highest) = highest(all) { ": at most " (highest.told) } }
            svg viewBox=(format!("0 0 {width} {}", HEIGHT + 1.0)) preserveAspectRatio="xMinYMid meet" role="img" aria-label=(in_words(caption, all)) {
                @for (at, bar) in all.iter().enumerate() {
                    @let tall = height(bar);
                    rect .here[bar.is_here] x=(format!("{:.1}", STEP * at as f64)) y=(format!("{:.1}", HEIGHT - tall))
                        width=(WIDTH) height=(format!("{tall:.1}")) {
                        title { (bar.name) ": " (bar.told) }
                    }
                }
                line x1="0" x2=(width) y1=(HEIGHT) y2=(HEIGHT) {}
            }
        }
    }
}

/// What the scale of a drawing is read off; `None` if there is nothing.
fn highest(all: &[Bar]) -> Option<&Bar> {
    all.iter().filter(|bar| bar.value > 0.0).max_by(|a, b| a.value.total_cmp(&b.value))
}

/// For whoever does not see them.
fn in_words(caption: &str, all: &[Bar]) -> String {
    let told: Vec<String> = all.iter().filter(|bar| bar.value > 0.0).map(|bar| format!("{} {}", bar.name, bar.told)).collect();
    format!("{caption}: {}", if told.is_empty() { "nothing".to_owned() } else { told.join(", ") })
}
