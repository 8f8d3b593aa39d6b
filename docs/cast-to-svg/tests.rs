use std::fmt::Write;
use std::path::Path;

use idlewatch::exit::Reason;
use regex::Regex;

use super::*;

fn recording(events: &[(f64, &str)]) -> String {
    let mut text = String::from("{\"version\":2,\"width\":20,\"height\":3}\n");
    for (at, output) in events {
        let _ = writeln!(text, "[{at},\"o\",{}]", serde_json::to_string(output).unwrap());
    }
    text
}

fn drawn(events: &[(f64, &str)]) -> String {
    let svg = picture(recording(events).as_bytes()).unwrap();
    assert_is_whole(&svg);
    svg
}

/// Fails unless this is well-formed, runs nothing and asks for nothing.
fn assert_is_whole(svg: &str) {
    let tag = Regex::new(r#"^<(/?)([a-z]+)((?: [a-zA-Z-]+="[^"<&]*")*)(/?)>"#).unwrap();
    let entity = Regex::new("^&(amp|lt|gt|quot);").unwrap();
    let (mut open, mut rest) = (Vec::new(), svg);
    while let Some(at) = rest.find(['<', '&']) {
        rest = &rest[at..];
        if let Some(entity) = entity.find(rest) {
            rest = &rest[entity.end()..];
            continue;
        }
        let Some(parts) = tag.captures(rest) else { panic!("neither tag nor entity: {}", &rest[..rest.len().min(80)]) };
        let name = parts[2].to_owned();
        assert!(
            ["svg", "title", "desc", "style", "g", "rect", "path", "circle", "text"].contains(&name.as_str()),
            "{name}"
        );
        match (&parts[1], &parts[4]) {
            ("/", _) => assert_eq!(open.pop(), Some(name)),
            (_, "/") => {}
            _ => open.push(name),
        }
        rest = &rest[parts[0].len()..];
    }
    assert!(open.is_empty(), "{open:?}");
    assert!(!svg.chars().any(|c| c.is_control() && c != '\n'));
    let inside = svg.replacen("xmlns=\"http://www.w3.org/2000/svg\"", "", 1);
    for reference in ["http", "href", "url(", "@import", "src="] {
        assert!(!inside.contains(reference), "{reference}");
    }
}

#[test]
fn recordings_become_pictures_that_need_nothing_else() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recordings");
    for name in ["agent-asks.cast", "log-loop.cast", "question.cast", "spinner-works.cast"] {
        let svg = picture(BufReader::new(File::open(folder.join(name)).unwrap())).unwrap();
        assert_is_whole(&svg);
        assert!(svg.contains("@keyframes"), "{name}");
    }
}

#[test]
fn what_a_program_prints_is_text_and_nothing_else() {
    let svg = drawn(&[(0.0, "\x1b]2;</text><script>\x1b\\<script>&\"'\x1b[8m")]);
    assert!(svg.contains(">&lt;script&gt;&amp;&quot;'</text>"), "{svg}");
    assert!(svg.contains(">&lt;/text&gt;&lt;script&gt;</text>"), "{svg}");
}

#[test]
fn where_nothing_moves_the_end_is_seen() {
    let svg = drawn(&[(1.0, "first"), (2.0, "\r\x1b[2Ksecond"), (3.0, "\r\x1b[2Klast")]);
    let row = svg.lines().find(|line| line.contains("class=\"r0\"")).unwrap();
    let order: Vec<_> = ["last", "first", "second"].iter().map(|word| row.find(word).unwrap()).collect();
    assert!(order.is_sorted(), "{row}");
    // Two seconds and the rest of five: the second of three is reached after a seventh.
    assert!(svg.contains("r0 7.00s step-end infinite"), "{svg}");
    assert!(svg.contains("14.29%{transform:translateY(-42px)}"), "{svg}");
    assert!(svg.contains("prefers-reduced-motion:reduce"));
}

#[test]
fn the_title_is_put_aside_and_taken_back_and_the_bell_is_seen() {
    let svg =
        drawn(&[(0.0, "x\x1b]0;own\x07"), (1.0, "\x1b[22;2t\x1b]2;not"), (1.01, "ice\x1b\\\x07"), (2.0, "\x1b[23;2t")]);
    let bar = svg.lines().find(|line| line.contains("class=\"t\"")).unwrap();
    assert!(bar.find(">own<").unwrap() < bar.find(">● notice<").unwrap(), "{bar}");
}

#[test]
fn each_word_begins_in_its_column_whatever_the_font() {
    let svg = drawn(&[(0.0, "a  \x1b[31;1mb c\x1b[m ● \x1b[7md\x1b[m é日本e")]);
    let row = svg.lines().find(|line| line.contains("class=\"r0\"")).unwrap();
    for part in ["x=\"22\" textLength=\"9\">a<", "x=\"49\" textLength=\"27\" class=\"b\" style=\"fill:#f07683\">b c<"] {
        assert!(row.contains(part), "{part}: {row}");
    }
    for part in ["x=\"121\" textLength=\"9\">é<", "x=\"130\" textLength=\"36\">日本<", "x=\"166\" textLength=\"9\">e<"]
    {
        assert!(row.contains(part), "{part}: {row}");
    }
    assert!(row.contains("x=\"89\" class=\"m\">●<"), "{row}");
    assert!(row.contains("<rect x=\"103\" y=\"0\" width=\"9\" height=\"21\" fill=\"#d8dce8\" class=\"p\"/>"), "{row}");
}

#[test]
fn a_recording_that_shows_nothing_is_refused() {
    assert!(picture(recording(&[(0.0, "\x1b[2J")]).as_bytes()).is_err());
    assert!(picture("nonsense\n".as_bytes()).is_err());
}

#[test]
fn the_picture_in_the_readme_says_what_the_program_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/idlewatch.svg");
    let svg = fs::read_to_string(path).unwrap();
    assert_is_whole(&svg);
    assert!(svg.len() < 80_000, "{}", svg.len());
    let reason = Reason::IdleTimeout;
    let end = format!("idlewatch: {} ({reason}, exit status {})", reason.meaning(), reason.code());
    assert!(svg.contains(&end), "make it again with docs/picture: it does not say '{end}'");
}
