//! Times and quotations as a person writes them.

use std::time::Duration;

/// `12s`, `5m 02s`, `1h 00m`.
pub fn span(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, 0) => format!("{}ms", duration.as_millis()),
        (0, 0, seconds) => format!("{seconds}s"),
        (0, minutes, seconds) => format!("{minutes}m {seconds:02}s"),
        (hours, minutes, _) => format!("{hours}h {minutes:02}m"),
    }
}

/// A text in quotation marks, shortened, on one line, without controls.
pub(super) fn quote(text: &str) -> String {
    const LONGEST: usize = 80;
    let mut out = String::from("'");
    for (index, c) in text.trim().chars().filter(|c| !c.is_control()).enumerate() {
        if index == LONGEST {
            out.push('…');
            break;
        }
        out.push(c);
    }
    out.push('\'');
    out
}
