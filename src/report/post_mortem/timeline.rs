//! The run at a glance: how much was printed when, what of it counted, the states, and what was done.
//!
//! The drawing is stretched to the width of the page, so it holds nothing that must keep its shape; words stand around
//! it as text of the page.

use std::fmt::Write as _;
use std::time::Duration;

use super::{PostMortem, clock};
use crate::report::chronicle::{Band, Portion};
use crate::watch::{Event, State, span};

/// The drawing is so wide, in units of its own.
const WIDTH: f64 = 1000.0;
/// The room for the bars.
const BARS: f64 = 80.0;
/// Where the states begin, and how high they are.
const STATES: (f64, f64) = (88.0, 12.0);

/// What is marked by a line.
const MARKS: [(&str, &str); 5] = [
    ("guard", "a guard deferred"),
    ("nudge", "nudge"),
    ("signal", "signal"),
    ("shell", "shell command"),
    ("launch", "relaunched"),
];

/// The drawing with its legend.
pub fn render(report: &PostMortem) -> String {
    let chronicle = &report.chronicle;
    let whole = chronicle.length().max(Duration::from_millis(1));
    let place = |elapsed: Duration| WIDTH * (elapsed.as_secs_f64() / whole.as_secs_f64()).min(1.0);
    let (length, portions) = chronicle.activity();
    let bands = chronicle.bands();
    let marks: Vec<(&str, Duration)> =
        chronicle.entries().iter().filter_map(|entry| Some((mark(&entry.event)?, entry.elapsed))).collect();

    let mut html = "<figure class=\"timeline\">\n<svg viewBox=\"0 0 1000 100\" preserveAspectRatio=\"none\" shape-rendering=\"crispEdges\" role=\"img\" \
                    aria-labelledby=\"tl-title tl-desc\">\n<title id=\"tl-title\">Activity over time</title>\n"
        .to_owned();
    let _ = writeln!(html, "<desc id=\"tl-desc\">{}</desc>", describe(&bands, &marks));
    let most = portions.iter().map(|portion| portion.bytes).max().unwrap_or(0);
    for (index, portion) in portions.iter().enumerate() {
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        let (from, to) = (place(length.saturating_mul(index)), place(length.saturating_mul(index + 1)));
        bar(&mut html, portion, most, from, to);
    }
    let (top, height) = STATES;
    for band in &bands {
        let (from, to) = (place(band.from), place(band.to));
        let _ = writeln!(
            html,
            "<rect class=\"s-{}\" x=\"{from:.2}\" y=\"{top}\" width=\"{:.2}\" height=\"{height}\"><title>{} for {}</title></rect>",
            band.state,
            (to - from).max(0.5),
            band.state,
            span(band.to.saturating_sub(band.from)),
        );
    }
    for (name, elapsed) in &marks {
        let x = place(*elapsed).clamp(0.5, WIDTH - 0.5);
        let at = clock(*elapsed);
        let _ = writeln!(
            html,
            "<line class=\"m-{name}\" x1=\"{x:.2}\" x2=\"{x:.2}\" y1=\"0\" y2=\"{}\"><title>{name} at {at}</title></line>",
            top + height
        );
    }
    html.push_str("</svg>\n");
    axis(&mut html, whole);
    legend(&mut html, portions, &bands, &marks);
    html.push_str("</figure>\n");
    html
}

/// As high as its number of bytes has digits: a spinner and a flood differ by a factor of a thousand.
fn bar(html: &mut String, portion: &Portion, most: u64, from: f64, to: f64) {
    if portion.bytes == 0 && !portion.progress {
        return;
    }
    let height = if most == 0 { 4.0 } else { (BARS * size(portion.bytes) / size(most)).max(4.0) };
    let class = if portion.progress { "counts" } else { "passes" };
    let _ = writeln!(
        html,
        "<rect class=\"{class}\" x=\"{from:.2}\" y=\"{:.2}\" width=\"{:.2}\" height=\"{height:.2}\"/>",
        BARS - height,
        (to - from).max(0.5),
    );
}

/// The logarithm to the base of two of one more than this, with a straight line from each power of two to the next: for
/// a drawing that is near enough, and the program needs no library of mathematics, which would be loaded at every start.
fn size(bytes: u64) -> f64 {
    let number = bytes.saturating_add(1);
    let whole = number.ilog2();
    #[allow(clippy::cast_precision_loss, reason = "a drawing has fewer points than that")]
    let part = number as f64 / (1_u64 << whole) as f64;
    f64::from(whole) + part - 1.0
}

const fn mark(event: &Event) -> Option<&'static str> {
    match event {
        Event::GuardDeferred { .. } => Some("guard"),
        Event::Nudged { .. } => Some("nudge"),
        Event::Signaled { .. } => Some("signal"),
        Event::Ran { .. } => Some("shell"),
        Event::Relaunched { .. } => Some("launch"),
        _ => None,
    }
}

fn describe(bands: &[Band], marks: &[(&str, Duration)]) -> String {
    let mut words: Vec<String> =
        bands.iter().map(|band| format!("{} for {}", band.state, span(band.to.saturating_sub(band.from)))).collect();
    words.extend(marks.iter().map(|(name, elapsed)| format!("{name} at {}", clock(*elapsed))));
    words.truncate(60);
    words.join(", ")
}

fn axis(html: &mut String, whole: Duration) {
    html.push_str("<div class=\"axis\" aria-hidden=\"true\">");
    for quarter in 0..=4 {
        let at = whole * quarter / 4;
        let label = if whole < Duration::from_secs(20) { format!("{:.1}s", at.as_secs_f64()) } else { clock(at) };
        let _ = write!(html, "<span>{label}</span>");
    }
    html.push_str("</div>\n");
}

fn legend(html: &mut String, portions: &[Portion], bands: &[Band], marks: &[(&str, Duration)]) {
    html.push_str("<figcaption class=\"legend\">\n");
    let mut item = |class: &str, words: &str| {
        let _ = writeln!(html, "<span><i class=\"{class}\"></i>{words}</span>");
    };
    if portions.iter().any(|portion| portion.progress) {
        item("box counts", "output that counted");
    }
    if portions.iter().any(|portion| portion.bytes > 0 && !portion.progress) {
        item("box passes", "output that did not");
    }
    for state in State::ALL.into_iter().filter(|state| bands.iter().any(|band| band.state == *state)) {
        item(&format!("band s-{state}"), state.name());
    }
    for (name, words) in MARKS {
        match marks.iter().filter(|(kind, _)| *kind == name).count() {
            0 => {}
            1 => item(&format!("mark m-{name}"), words),
            count => item(&format!("mark m-{name}"), &format!("{words} × {count}")),
        }
    }
    html.push_str("</figcaption>\n");
}
