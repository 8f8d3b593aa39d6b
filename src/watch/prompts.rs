//! Does it sit at a prompt? The signs that shells and interpreters put before what is typed.

use super::mask::is_spinner;
use super::waiting::{View, inside};

/// Signs that end a prompt.
const PROMPTS: [char; 10] = ['>', '$', '#', '%', '❯', '›', '»', 'λ', '〉', '\u{e0b0}'];

pub(super) fn prompt(view: View<'_>) -> Option<String> {
    let head = inside(view.before_cursor());
    let directly = view.cursor.col <= view.rows.get(view.cursor.row).map_or(0, |row| row.chars().count()) + 2;
    let debugger = head.starts_with('(') && head.ends_with(')') && head.len() < 24;
    // Some shells point from the left: `➜  proj git:(main) ✗`, `❯ ls`. Python goes on with three dots and a blank.
    let pointed = points(head) || head == "==>" || head == "..." && view.cursor.col == 4;
    if directly && (ends_as_prompt(head) || debugger || pointed || is_sign_alone(view, head)) {
        return Some(head.to_owned());
    }
    if is_empty_frame(view) {
        return Some("an empty frame".to_owned());
    }
    // Programs that hide the cursor frame their input with rules.
    let last = view.rows.iter().rposition(|row| !row.is_empty())?;
    for index in (last.saturating_sub(9)..=last).rev() {
        let text = inside(&view.rows[index]);
        let rest = text.strip_prefix(['>', '❯', '›', '»', '*', '!', '➜', '→', '$']);
        let framed = |row: Option<&String>| row.is_some_and(|row| is_rule(row));
        if rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\u{a0}']))
            && framed(view.rows.get(index.wrapping_sub(1)))
            && framed(view.rows.get(index + 1))
        {
            return Some(text.to_owned());
        }
    }
    None
}

/// One sign or two, a blank, and the cursor, with nothing else in the row: `* ` of sbcl, `?- ` of swipl, `; ` of rc.
fn is_sign_alone(view: View<'_>, head: &str) -> bool {
    let (row, signs) = (view.rows.get(view.cursor.row).map_or("", String::as_str), head.chars().count());
    let sign = |c: char| !(c.is_alphanumeric() || is_spinner(c) || matches!(c, '[' | '(' | '{' | '"' | '\'' | '='));
    let turns = head.chars().all(|c| matches!(c, '.' | '|' | '/' | '\\' | '-' | '…'));
    row.trim_end() == head && (1..=2).contains(&signs) && view.cursor.col > signs && head.chars().all(sign) && !turns
}

/// The cursor stands in a box with nothing in its row. The edge of the box may have words in it.
fn is_empty_frame(view: View<'_>) -> bool {
    let row = |index: usize| view.rows.get(index).map_or("", |row| row.trim());
    let (at, side) = (view.cursor.row, ['│', '┃']);
    let sides = row(at).chars().count() > 10 && row(at).starts_with(side) && row(at).ends_with(side);
    let edge =
        |row: &str| row.starts_with(['╭', '┌', '┏', '╰', '└', '┗']) && row.ends_with(['╮', '┐', '┓', '╯', '┘', '┛']);
    let framed = edge(row(at.wrapping_sub(1))) || edge(row(at + 1));
    sides && framed && view.cursor.col > 0 && inside(row(at)).is_empty()
}

/// A prompt that begins with its sign: after it come a folder and what git says of it, or what was typed.
fn points(head: &str) -> bool {
    let Some(rest) = head.strip_prefix(['➜', '❯']) else { return false };
    rest.contains("git:(") || rest.split_whitespace().count() <= 1
}

/// `45%`, `a ->`, `<name>` and a bar of hashes end in the same signs and are no prompts.
fn ends_as_prompt(head: &str) -> bool {
    let share = head.ends_with('%') && head.bytes().rev().nth(1).is_some_and(|b| b.is_ascii_digit());
    // `db=>`, `user=>` and `->` alone are prompts of psql, clojure and mysql, `DB<1>` one of perl.
    let pointed = head.strip_suffix("->").or_else(|| head.strip_suffix("=>"));
    let arrow = pointed.is_some_and(|name| !name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.')));
    let tag = head.ends_with('>') && head.contains('<') && (head.starts_with('<') || head.contains(' '));
    let bar = head.ends_with("##") || head.ends_with("# #") || head.ends_with("%%");
    head.ends_with(PROMPTS) && !share && !arrow && !tag && !bar
}

/// A row that is nothing but a line across.
fn is_rule(row: &str) -> bool {
    let row = row.trim();
    row.chars().count() >= 10 && row.chars().all(|c| matches!(c, '\u{2500}'..='\u{259f}' | '-' | '=' | '_'))
}
