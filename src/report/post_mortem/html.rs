//! The report as one page: no script, nothing loaded from anywhere, readable on a phone and on paper.

use std::fmt::Write as _;

use super::{PostMortem, VERSION, clock, day, paint, timeline};
use crate::report::process::{Process, as_tree};
use crate::report::tasks::Tasks;
use crate::report::visible;
use crate::watch::span;

const STYLE: &str = include_str!("style.css");

/// Nothing may be loaded or run, whatever a program managed to print.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// Text as text, wherever it stands.
pub(super) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in visible(text).chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            plain => safe.push(plain),
        }
    }
    safe
}

/// The whole report.
pub fn render(report: &PostMortem) -> String {
    let title = format!("{}: {}", report.command.first().map_or("", String::as_str), report.headline());
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta name=\"generator\" content=\"idlewatch {VERSION}\">\n<title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n\
         <body>\n<main>\n",
        escape(&title)
    );
    header(&mut page, report);
    section(&mut page, "Timeline", &timeline::render(report));
    section(&mut page, "What was tried", &tried(report));
    section(&mut page, "How to resume", &resume(report));
    if let Some(tasks) = &report.tasks {
        section(&mut page, "Tasks", &tasks_of(tasks));
    }
    section(&mut page, "Last screen", &screen(report));
    if !report.scene.picture.above.is_empty() {
        section(&mut page, "Lines above", &above(report));
    }
    section(&mut page, "Processes", &processes(report));
    section(&mut page, "Events", &events(report));
    section(&mut page, "Policy", &policy(report));
    let _ = write!(
        page,
        "<footer>idlewatch {VERSION} · run {} · {}</footer>\n</main>\n</body>\n</html>\n",
        escape(&report.run),
        escape(&report.system)
    );
    page
}

fn section(page: &mut String, title: &str, body: &str) {
    let _ = write!(page, "<section>\n<h2>{title}</h2>\n{body}</section>\n");
}

fn header(page: &mut String, report: &PostMortem) {
    let tone = if report.end.reason.is_some() || report.end.gave_up { "bad" } else { "plain" };
    let _ = write!(
        page,
        "<header class=\"{tone}\">\n<p class=\"kicker\">idlewatch report</p>\n<h1>{}</h1>\n<p class=\"command\"><code>{}</code></p>\n",
        escape(&report.headline()),
        escape(&report.command_line())
    );
    if let Some((entry, state, evidence)) = report.verdict() {
        let _ = writeln!(
            page,
            "<p class=\"why\"><strong class=\"state s-{state}\">{state}</strong> <span class=\"at\">at {}</span> {}</p>",
            clock(entry.elapsed),
            escape(evidence)
        );
    }
    page.push_str("<dl class=\"facts\">\n");
    for (name, value) in report.facts() {
        let _ = writeln!(page, "<div><dt>{}</dt><dd>{}</dd></div>", escape(name), escape(&value));
    }
    page.push_str("</dl>\n</header>\n");
}

fn tried(report: &PostMortem) -> String {
    let tried = report.tried();
    if tried.is_empty() {
        return "<p>Nothing.</p>\n".to_owned();
    }
    let rows = tried.iter().map(|tried| {
        [
            ("", "num", clock(tried.entry.elapsed)),
            ("", "key", escape(tried.what)),
            ("", "most", escape(&tried.words)),
            ("", "result", escape(&tried.result)),
        ]
    });
    table(["At", "What", "Details", "Result"], rows)
}

fn resume(report: &PostMortem) -> String {
    match &report.resume {
        Some(resume) => format!(
            "<pre class=\"shell\" tabindex=\"0\"><code>{}</code></pre>\n<p class=\"note\">{}</p>\n",
            escape(&resume.command),
            escape(&resume.source)
        ),
        None => "<p>No way to resume this command is known; start it again.</p>\n".to_owned(),
    }
}

fn tasks_of(tasks: &Result<Tasks, String>) -> String {
    let tasks = match tasks {
        Ok(tasks) => tasks,
        Err(why) => return format!("<p>The list could not be read: {}.</p>\n", escape(why)),
    };
    let mut html = format!("<p class=\"note\">{}</p>\n<ul class=\"tasks\">\n", tasks.summary());
    for (list, class, word) in [
        (&tasks.done, "done", "done"),
        (&tasks.current, "current", "in progress"),
        (&tasks.remaining, "remaining", "left"),
    ] {
        for task in list {
            let _ = writeln!(html, "<li class=\"{class}\"><span class=\"unseen\">{word}: </span>{}</li>", escape(task));
        }
    }
    html + "</ul>\n"
}

fn screen(report: &PostMortem) -> String {
    let scene = &report.scene;
    let mut note = format!("At {}, {}; {} columns", clock(scene.elapsed), scene.taken.words(), scene.picture.cols);
    if let Some(title) = &scene.picture.title {
        let _ = write!(note, "; title “{title}”");
    }
    let note = escape(&note);
    if scene.picture.rows.is_empty() {
        return format!("<p class=\"note\">{note}</p>\n<p>Blank.</p>\n");
    }
    let label = "aria-label=\"Last screen\"";
    format!(
        "<p class=\"note\">{note}</p>\n<pre class=\"screen\" style=\"--cols:{}\" tabindex=\"0\" role=\"region\" {label}>{}</pre>\n",
        scene.picture.cols.max(1),
        paint::screen(&scene.picture)
    )
}

fn above(report: &PostMortem) -> String {
    let lines: Vec<String> = report.scene.picture.above.iter().map(|line| escape(line)).collect();
    let label = "aria-label=\"Lines above the last screen\"";
    format!(
        "<p class=\"note\">The last lines that scrolled off, newest at the bottom</p>\n\
         <pre class=\"screen tall\" style=\"--cols:{}\" tabindex=\"0\" role=\"region\" {label}>{}\n</pre>\n",
        report.scene.picture.cols.max(1),
        lines.join("\n")
    )
}

fn processes(report: &PostMortem) -> String {
    let Some(processes) = &report.scene.processes else { return "<p>Not visible.</p>\n".to_owned() };
    if processes.is_empty() {
        return "<p>None left.</p>\n".to_owned();
    }
    let rows = as_tree(processes).into_iter().map(|(depth, process)| {
        let share = process.share.map_or_else(String::new, |share| format!("{share}% · "));
        [
            ("", "tree", branch(depth, process)),
            ("", "most", escape(&process.activity())),
            ("State", "key", escape(&process.state.to_string())),
            ("CPU", "num", format!("{share}{}", span(process.cpu))),
            ("Age", "num", span(process.age)),
            ("Pid", "num", format!("{} <span class=\"at\">of {}</span>", process.pid, process.parent)),
        ]
    });
    let mut note = format!("As they were at {}", clock(report.scene.elapsed));
    if report.scene.left_out > 0 {
        let _ = write!(note, "; {} more were not examined", report.scene.left_out);
    }
    format!("<p class=\"note\">{note}</p>\n{}", table(["Process", "Does", "State", "CPU", "Age", "Pid"], rows))
}

fn branch(depth: usize, process: &Process) -> String {
    let lines: String = "<i class=\"branch\"></i>".repeat(depth.min(12));
    format!("<span class=\"row\">{lines}<code>{}</code></span>", escape(&process.command))
}

fn events(report: &PostMortem) -> String {
    let rows = report.events().into_iter().map(|(entry, what, said)| {
        let state = said_state(what);
        [
            ("", "num", format!("<time title=\"{}\">{}</time>", day(entry.when), clock(entry.elapsed))),
            ("", "key", format!("{state}{}", escape(what))),
            ("", "most", escape(&said)),
        ]
    });
    let mut html = String::new();
    let (dropped, _) = report.chronicle.dropped();
    if dropped > 0 {
        let _ = writeln!(html, "<p class=\"note\">{dropped} events in between were not kept.</p>");
    }
    html + &table(["At", "Event", "Details"], rows)
}

/// A dot in the colour of the state, where the event is one.
fn said_state(what: &str) -> String {
    let state = crate::watch::State::ALL.into_iter().find(|state| state.name() == what);
    state.map_or_else(String::new, |state| format!("<i class=\"dot s-{state}\"></i>"))
}

fn policy(report: &PostMortem) -> String {
    let mut html = "<dl class=\"policy\">\n".to_owned();
    for (name, value) in &report.policy {
        let _ = writeln!(html, "<div><dt><code>{}</code></dt><dd>{}</dd></div>", escape(name), escape(value));
    }
    html + "</dl>\n"
}

/// A table whose rows can also stand as blocks on a narrow page: every cell knows what it is called. The cells are HTML.
fn table<const N: usize>(
    head: [&str; N],
    rows: impl Iterator<Item = [(&'static str, &'static str, String); N]>,
) -> String {
    let mut html = "<div class=\"scroll\"><table>\n<thead><tr>".to_owned();
    for name in head {
        let _ = write!(html, "<th scope=\"col\">{name}</th>");
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        html.push_str("<tr>");
        for (name, class, cell) in row {
            let _ = write!(html, "<td class=\"{class}\" data-name=\"{name}\">{cell}</td>");
        }
        html.push_str("</tr>\n");
    }
    html + "</tbody>\n</table></div>\n"
}
