//! Numbers that go on, and numbers that go to and fro: a counter shows work, a gauge of memory or load only time.

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
        let (before, text): (Vec<f64>, Vec<f64>) = (numbers(before).collect(), numbers(text).collect());
        if before.len() != text.len() {
            self.forget();
            return true;
        }
        self.0.resize(text.len(), Way::default());
        let changed =
            before.iter().zip(&text).zip(&mut self.0).filter(|((before, text), _)| before.total_cmp(text).is_ne());
        changed.fold(false, |any, ((before, text), way)| way.goes_on(text > before) || any)
    }
}

impl Way {
    fn goes_on(&mut self, up: bool) -> bool {
        self.turns = self.turns.saturating_add(u16::from(self.up.replace(up) == Some(!up)));
        self.changes = self.changes.saturating_add(1);
        self.changes < DECIDED || self.turns < self.changes.div_ceil(TURNS)
    }
}

fn numbers(text: &str) -> impl Iterator<Item = f64> {
    let parts = text.split(|c: char| !(c.is_ascii_digit() || c == '.')).map(|part| part.trim_matches('.'));
    parts.filter(|part| !part.is_empty()).map(|part| part.parse().unwrap_or_default())
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
}
