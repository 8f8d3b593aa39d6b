//! The report as Markdown. What a program printed stands in fences that it cannot close and cells that it cannot leave.

use std::fmt::Write as _;

use super::{PostMortem, VERSION, clock, day};
use crate::report::process::as_tree;
use crate::report::visible;
use crate::watch::span;

/// The whole report.
pub fn render(report: &PostMortem) -> String {
    let mut text = format!("# {}\n\n{}\n\n", words(&report.headline()), code(&report.command_line()));
    table(&mut text, ["fact", "value"], report.facts().iter().map(|(name, value)| [words(name), words(value)]));
    why(&mut text, report);
    tried(&mut text, report);
    states(&mut text, report);
    screen(&mut text, report);
    processes(&mut text, report);
    tasks(&mut text, report);
    resume(&mut text, report);
    events(&mut text, report);
    text.push_str("## Policy\n\n");
    let policy = report.policy.iter().map(|(name, value)| [code(name), cell_code(value)]);
    table(&mut text, ["option", "value"], policy);
    let _ = writeln!(text, "idlewatch {VERSION} · run {} · {}", words(&report.run), words(&report.system));
    text
}

fn why(text: &mut String, report: &PostMortem) {
    text.push_str("## Why\n\n");
    match report.verdict() {
        Some((entry, state, evidence)) => {
            let at = clock(entry.elapsed);
            let _ = write!(text, "**{state}** at {at} ({}): {}\n\n", day(entry.when), words(evidence));
        }
        None => text.push_str("No trouble was found.\n\n"),
    }
}

fn tried(text: &mut String, report: &PostMortem) {
    text.push_str("## What was tried\n\n");
    let tried = report.tried();
    if tried.is_empty() {
        text.push_str("Nothing.\n\n");
        return;
    }
    let rows = tried
        .iter()
        .map(|tried| [clock(tried.entry.elapsed), words(tried.what), words(&tried.words), words(&tried.result)]);
    table(text, ["at", "what", "details", "result"], rows);
}

fn states(text: &mut String, report: &PostMortem) {
    text.push_str("## States\n\n");
    let rows = report
        .chronicle
        .bands()
        .into_iter()
        .map(|band| [clock(band.from), band.state.name().to_owned(), span(band.to.saturating_sub(band.from))]);
    table(text, ["from", "state", "lasted"], rows);
}

fn screen(text: &mut String, report: &PostMortem) {
    let scene = &report.scene;
    let _ = write!(text, "## Last screen\n\nAt {}, {}.\n\n", clock(scene.elapsed), scene.taken.words());
    let rows = scene.picture.text();
    if rows.is_empty() {
        text.push_str("Blank.\n\n");
    } else {
        fenced(text, &rows);
    }
    if !scene.picture.above.is_empty() {
        text.push_str("## Lines above\n\n");
        fenced(text, &scene.picture.above);
    }
}

fn processes(text: &mut String, report: &PostMortem) {
    text.push_str("## Processes\n\n");
    let Some(processes) = &report.scene.processes else {
        text.push_str("Not visible.\n\n");
        return;
    };
    if processes.is_empty() {
        text.push_str("None left.\n\n");
        return;
    }
    let rows = as_tree(processes).into_iter().map(|(depth, process)| {
        let indent = "· ".repeat(depth);
        let share = process.share.map_or_else(|| "?".to_owned(), |share| format!("{share}%"));
        [
            process.pid.to_string(),
            process.parent.to_string(),
            format!("{indent}{}", cell_code(&process.command)),
            words(&process.activity()),
            process.state.to_string(),
            format!("{share}, {} in all", span(process.cpu)),
            span(process.age),
        ]
    });
    table(text, ["pid", "parent", "command", "what it does", "state", "CPU", "age"], rows);
    if report.scene.left_out > 0 {
        let _ = write!(text, "{} more were not examined.\n\n", report.scene.left_out);
    }
}

fn tasks(text: &mut String, report: &PostMortem) {
    let tasks = match &report.tasks {
        None => return,
        Some(Err(why)) => {
            let _ = write!(text, "## Tasks\n\nThe list could not be read: {}.\n\n", words(why));
            return;
        }
        Some(Ok(tasks)) => tasks,
    };
    let _ = write!(text, "## Tasks\n\n{}\n\n", tasks.summary());
    let lists = [(&tasks.done, "[x] "), (&tasks.current, "[ ] **now:** "), (&tasks.remaining, "[ ] ")];
    for (list, mark) in lists {
        for task in list {
            let _ = writeln!(text, "- {mark}{}", words(task));
        }
    }
    text.push('\n');
}

fn resume(text: &mut String, report: &PostMortem) {
    text.push_str("## How to resume\n\n");
    match &report.resume {
        Some(resume) => {
            fenced(text, std::slice::from_ref(&resume.command));
            let _ = write!(text, "({})\n\n", words(&resume.source));
        }
        None => text.push_str("No way to resume this command is known; start it again.\n\n"),
    }
}

fn events(text: &mut String, report: &PostMortem) {
    text.push_str("## Events\n\n");
    let (dropped, _) = report.chronicle.dropped();
    if dropped > 0 {
        let _ = write!(text, "{dropped} events in between were not kept.\n\n");
    }
    let rows = report
        .events()
        .into_iter()
        .map(|(entry, what, said)| [clock(entry.elapsed), day(entry.when), words(what), words(&said)]);
    table(text, ["at", "time", "event", "details"], rows);
}

fn table<const N: usize>(text: &mut String, head: [&str; N], rows: impl Iterator<Item = [String; N]>) {
    let _ = writeln!(text, "| {} |", head.join(" | "));
    let _ = writeln!(text, "|{}", "---|".repeat(N));
    for row in rows {
        let _ = writeln!(text, "| {} |", row.join(" | "));
    }
    text.push('\n');
}

/// Lines in a fence that is longer than any run of backticks among them.
fn fenced(text: &mut String, lines: &[String]) {
    let lines: Vec<String> = lines.iter().map(|line| visible(line)).collect();
    let longest = lines.iter().map(|line| longest_run(line)).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let _ = write!(text, "{fence}text\n{}\n{fence}\n\n", lines.join("\n"));
}

fn longest_run(text: &str) -> usize {
    text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0)
}

/// Text that means nothing but itself.
fn words(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in visible(text).chars() {
        match letter {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '#' | '$' | '!' => safe.extend(['\\', letter]),
            plain => safe.push(plain),
        }
    }
    safe
}

/// Text as code within a line.
fn code(text: &str) -> String {
    let text = visible(text);
    if text.is_empty() {
        return String::new();
    }
    let marks = "`".repeat(longest_run(&text) + 1);
    let room = if text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']) { " " } else { "" };
    format!("{marks}{room}{text}{room}{marks}")
}

/// The same within a table, where a bar would end the cell even in code.
fn cell_code(text: &str) -> String {
    code(text).replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_cannot_be_closed_from_within() {
        let mut text = String::new();
        fenced(&mut text, &["a".to_owned(), "`````".to_owned(), "```".to_owned()]);
        assert_eq!(text, "``````text\na\n`````\n```\n``````\n\n");
    }

    #[test]
    fn words_stay_words() {
        assert_eq!(words("<b>|*x*|`y`\n"), "&lt;b&gt;\\|\\*x\\*\\|\\`y\\`&lt;U+000A&gt;");
        assert_eq!(code("a `b` c"), "``a `b` c``");
        assert_eq!(code("`x"), "`` `x ``");
        assert_eq!(cell_code("a|b"), "`a\\|b`");
    }
}
