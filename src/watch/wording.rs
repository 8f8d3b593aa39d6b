//! What a line says in words, apart from its numbers.

/// `text` with each number made the same, so that only words differ. A bar that fills beside a number is no word.
pub(super) fn words(text: &str) -> impl Iterator<Item = char> {
    let mut in_number = false;
    text.chars().filter(|c| !is_of_bar(*c)).filter_map(move |c| {
        let digit = c.is_ascii_digit() || in_number && matches!(c, '.' | ',');
        let first = digit && !in_number;
        in_number = digit;
        if first { Some('#') } else { (!digit).then_some(c) }
    })
}

/// The signs of a text without words and numbers, as a bar or a picture is, in order; none if it has any of them.
pub(super) fn bare_signs(text: &str) -> Option<Vec<char>> {
    let says = |c: char| c.is_alphanumeric();
    if text.contains(|c: char| c.is_ascii_digit()) || text.chars().filter(|c| says(*c)).take(2).count() > 1 {
        return None;
    }
    let mut signs: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
    signs.sort_unstable();
    Some(signs)
}

/// Whether all of these signs are among the others, each as often; both are in order.
pub(super) fn are_among(signs: &[char], others: &[char]) -> bool {
    let mut others = others.iter();
    signs.iter().all(|sign| others.any(|other| other == sign))
}

/// Whether the two have other numbers.
pub(super) fn counts_on(before: &str, text: &str) -> bool {
    let digits = |text: &str| text.bytes().filter(u8::is_ascii_digit).collect::<Vec<_>>();
    digits(before) != digits(text)
}

/// What bars are made of, and the blanks around them.
fn is_of_bar(c: char) -> bool {
    matches!(c, ' ' | '=' | '-' | '#' | '>' | '<' | '_' | '|' | '[' | ']' | '*' | '+' | '~' | '\u{2500}'..='\u{25ff}')
}

/// Whether `text` says what `before` did and has a bar that is filled further: where the two differ, its last sign goes on.
/// Beside a number it is the number that says how far the work is.
pub(super) fn fills_further(before: &str, text: &str) -> bool {
    let (mut others, mut last) = (before.chars(), None);
    for sign in text.chars() {
        if others.next() != Some(sign) {
            let goes_on = last == Some(sign) && is_of_bar(sign) && sign != ' ';
            return goes_on && !text.contains(|c: char| c.is_ascii_digit()) && words(before).eq(words(text));
        }
        last = Some(sign);
    }
    false
}

/// Whether `text` names something that `before` did not: a file, a package, a test. Whoever hangs finds other verbs and
/// tips, but goes on to no other thing.
pub(super) fn names_another(before: &str, text: &str) -> bool {
    let is_name = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        word.contains(['/', '.', '_', ':', '@']) && word.contains(char::is_alphabetic)
    };
    text.split(' ').any(|word| is_name(word) && !before.split(' ').any(|old| old == word))
}

/// Whether `text` does to another thing what `before` did to one: `Building scipy` after `Building numpy`.
pub(super) fn does_the_same_to_another(before: &str, text: &str) -> bool {
    let (mut before, mut text) = (before.split_whitespace(), text.split_whitespace());
    let same_verb = before.next().is_some_and(|verb| text.next() == Some(verb));
    let same_length = before.clone().count() == text.clone().count();
    same_verb && same_length && before.zip(text).filter(|(one, other)| one != other).count() == 1
}

/// How many words behind the one for it the number of an attempt is looked for.
const NEAR: usize = 3;

/// `text` without the number of the attempt: `(attempt 2/3): 45%` says nothing new by its 2.
pub(super) fn without_attempt(text: &str) -> String {
    let mut left = 0;
    let words = text.split(' ').filter(|word| {
        let lower = word.to_lowercase();
        if ["retry", "attempt", "reconnect", "again"].iter().any(|name| lower.contains(name)) {
            left = NEAR;
            return true;
        }
        let is_number = word.trim_start_matches(['(', '#']).starts_with(|c: char| c.is_ascii_digit());
        let counts = is_number && !word.contains('%');
        let is_attempt = left > 0 && counts;
        left = if counts { 0 } else { left.saturating_sub(1) };
        !is_attempt
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_that_is_filled_further_is_told_from_signs_that_move() {
        for (before, text) in [
            ("[### ] ~", "[#### ] ~"),
            ("━━━╸── ~", "━━━━── ~"),
            ("[=> ] ~", "[==> ] ~"),
            ("█████░░░ ~ left", "██████░░ ~ left"),
            ("working [##--]", "working [###-]"),
        ] {
            assert!(fills_further(before, text), "{before:?} to {text:?}");
            assert!(!fills_further(text, before), "{text:?} to {before:?}");
        }
        for (before, text) in [
            ("[ = ] ~", "[= ] ~"),
            ("[=] ~", "[ =] ~"),
            ("[### ] loading", "[#### ] linking"),
            ("[### ] 3", "[#### ] 4"),
            ("[### ] 3", "[#### ] 3"),
            ("aa", "aaa"),
            ("", "#"),
            ("###", "###"),
        ] {
            assert!(!fills_further(before, text), "{before:?} to {text:?}");
        }
    }

    #[test]
    fn a_name_is_told_from_a_verb() {
        assert!(names_another("Installing left-pad.js", "Installing right_pad"));
        assert!(names_another("compiling src/a.ts", "compiling src/b.ts"));
        assert!(names_another("pulling", "pulling repo:5000/image"));
        assert!(!names_another("Thinking…", "Pondering…"));
        assert!(!names_another("compiling src/a.ts", "linking src/a.ts"));
        assert!(!names_another("", "Use @ and / for more..."));
        assert!(!names_another("took 1.5", "took 2.5"));
    }

    #[test]
    fn the_next_of_a_kind_is_known_by_the_verb() {
        assert!(does_the_same_to_another("Building numpy", "Building scipy"));
        assert!(does_the_same_to_another("Building numpy for linux", "Building scipy for linux"));
        assert!(!does_the_same_to_another("Building numpy", "Linking numpy"));
        assert!(!does_the_same_to_another("Building numpy", "Building numpy again"));
        assert!(!does_the_same_to_another("Thinking", "Pondering"));
    }

    #[test]
    fn only_the_number_of_the_attempt_is_taken_out() {
        assert_eq!(without_attempt("Downloading (attempt 1/3): 45%"), "Downloading (attempt 45%");
        assert_eq!(without_attempt("Retry 3 of 10"), "Retry of 10");
        assert_eq!(
            without_attempt("retrying, attempt number #4 fetched 12 MB"),
            "retrying, attempt number fetched 12 MB"
        );
        assert_eq!(without_attempt("12 of 30"), "12 of 30");
    }
}
