//! Numbers that go on, and numbers that go to and fro: a counter shows work, a gauge of memory or load only time.

use std::cmp::Ordering;

/// A number that has changed less often may still be either.
const DECIDED: u16 = 6;
/// A number that turns back once in so many changes, or more often, is a gauge.
const TURNS: u16 = 4;

/// Where one number went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Way {
    up: Option<bool>,
    changes: u16,
    turns: u16,
}

/// Where each number of a line went, as long as the line has the same words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Numbers(Vec<Way>);

impl Numbers {
    /// The line has other words.
    pub(super) fn forget(&mut self) {
        self.0.clear();
    }

    /// Takes in what the line shows after what it showed `before`. Whether any number that changed goes on.
    pub(super) fn go_on(&mut self, before: &str, text: &str) -> bool {
        let (before, text): (Vec<&str>, Vec<&str>) = (numbers(before).collect(), numbers(text).collect());
        if before.len() != text.len() {
            self.forget();
            return true;
        }
        self.0.resize(text.len(), Way::default());
        let ways = before.into_iter().zip(text).zip(&mut self.0);
        let changed = ways.filter(|((before, text), _)| before != text);
        changed.fold(false, |any, ((before, text), way)| way.goes_on(compare(before, text).is_lt()) || any)
    }
}

impl Way {
    fn goes_on(&mut self, up: bool) -> bool {
        self.turns = self.turns.saturating_add(u16::from(self.up.replace(up) == Some(!up)));
        self.changes = self.changes.saturating_add(1);
        self.changes < DECIDED || self.turns < self.changes.div_ceil(TURNS)
    }
}

fn numbers(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split(|c: char| !(c.is_ascii_digit() || c == '.')).map(|part| part.trim_matches('.'));
    parts.filter(|part| !part.is_empty())
}

/// Which of two numbers is more, of any length. One with several dots, be it `1.234.567`, an address or a version, is compared
/// part by part. Of two that are worth the same the longer one is more: a row of digits grows.
fn compare(one: &str, other: &str) -> Ordering {
    let parts = |number: &str| number.split('.').count();
    let order = if parts(one) > 2 || parts(other) > 2 {
        let each = one.split('.').zip(other.split('.')).map(|(one, other)| compare_whole(one, other));
        parts(one).cmp(&parts(other)).then(each.fold(Ordering::Equal, Ordering::then))
    } else {
        let split = |number| str::split_once(number, '.').unwrap_or((number, ""));
        let ((one, decimals), (other, others)) = (split(one), split(other));
        compare_whole(one, other).then(decimals.cmp(others))
    };
    order.then(one.len().cmp(&other.len()))
}

fn compare_whole(one: &str, other: &str) -> Ordering {
    let (one, other) = (one.trim_start_matches('0'), other.trim_start_matches('0'));
    one.len().cmp(&other.len()).then(one.cmp(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of the values count.
    fn counted(line: impl Fn(u32) -> String) -> usize {
        let mut numbers = Numbers::default();
        (0..100).filter(|n| numbers.go_on(&line(*n), &line(n + 1))).count()
    }

    #[test]
    fn a_gauge_goes_to_and_fro_and_a_counter_goes_on() {
        assert_eq!(counted(|n| format!("{n} files")), 100);
        assert_eq!(counted(|n| format!("file 3: {}%", n % 20)), 100, "it begins again");
        assert_eq!(counted(|n| format!("mem 1{}.{} MB, 7 files", n * 7 % 10, n)), 5);
        assert_eq!(counted(|n| format!("mem 1{}.{n} MB, {n} files", n * 7 % 10)), 100);
        assert_eq!(counted(|n| format!("{} left", 100 - n)), 100);
    }

    #[test]
    fn numbers_go_on_however_they_are_written_and_however_long_they_are() {
        assert_eq!(counted(|n| format!("1.{}.{:03} Bytes", 234 + n / 20, n * 50 % 1000)), 100);
        assert_eq!(counted(|n| format!("scanning 192.168.{}.{}", n / 10, n % 10)), 100);
        assert_eq!(counted(|n| format!("nonce {}", 12_345_678_901_234_567_890_u64 + u64::from(n))), 100);
        assert_eq!(counted(|n| format!("3.{}", "14159265358979".repeat(9)[..=n as usize].to_owned())), 100);
        assert_eq!(counted(|n| "0".repeat(1 + n as usize)), 100);
        assert_eq!(counted(|n| format!("1.234.{:03} Bytes free", n * 7 % 10)), 5);
    }

    #[test]
    fn numbers_are_compared_by_what_they_are_worth() {
        for (less, more) in [
            ("9", "10"),
            ("9.9", "10.1"),
            ("1.25", "1.5"),
            ("0.5", "1"),
            ("007", "8"),
            ("999.999", "1.000.000"),
            ("10.0.0.9", "10.0.0.10"),
            ("3.2.9", "3.10.0"),
            ("1.5", "1.50"),
        ] {
            assert_eq!(
                (compare(less, more), compare(more, less)),
                (Ordering::Less, Ordering::Greater),
                "{less}, {more}"
            );
        }
    }
}
