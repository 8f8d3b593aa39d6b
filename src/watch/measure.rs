//! Numbers as lines give them, and what of a name: `1,200`, `13.2k`, `4.5e-04`, `_rate: 3.4%`.

/// How large, how often, how much of something.
#[derive(Debug, Clone, Copy)]
pub(super) struct Number<'a> {
    /// The digits before the decimals.
    whole: &'a str,
    /// It has decimals or an exponent.
    broken: bool,
    /// `%`, `k`, `MiB`.
    unit: &'a str,
    rest: &'a str,
}

impl<'a> Number<'a> {
    /// The number that `text` begins with: `3`, `1,200`, `0.5`, `3/10`, `4.5e-04`, `13.2k`, `120MiB`.
    fn take(text: &'a str) -> Option<Self> {
        let first = Self::one(text)?;
        let of = first.rest.strip_prefix('/').and_then(Self::one);
        Some(of.map_or(first, |of| Self { broken: first.broken || of.broken, unit: of.unit, rest: of.rest, ..first }))
    }

    fn one(text: &'a str) -> Option<Self> {
        let whole = &text[..text.len() - behind_digits(text, true).len()];
        let after = text[whole.len()..].strip_prefix('.').filter(|rest| begins_with_digit(rest));
        let decimals = after.map(|rest| behind_digits(rest, false));
        let rest = decimals.unwrap_or(&text[whole.len()..]);
        let exponent = behind_exponent(rest, decimals.is_some());
        let broken = decimals.is_some() || exponent.is_some();
        let (unit, rest) = split_unit(exponent.unwrap_or(rest));
        begins_with_digit(whole).then_some(Self { whole, broken, unit, rest })
    }

    /// Whether nothing belongs to it that makes it an address, a version or a name.
    fn is_whole(&self) -> bool {
        let mut next = self.rest.chars();
        match next.next() {
            Some('.' | '-' | '_' | '/' | '@') => !next.next().is_some_and(char::is_alphanumeric),
            Some(c) => !c.is_alphanumeric() && c != ':',
            None => true,
        }
    }

    /// Whether it says how large something is, not how many there are or which.
    pub(super) fn is_measure(&self) -> bool {
        self.broken || self.is_share()
    }

    pub(super) fn is_share(&self) -> bool {
        self.unit == "%"
    }
}

/// Whether `word` is a number that stands for itself.
pub(super) fn is_count(word: &str) -> bool {
    Number::take(word).is_some_and(|number| number.rest.trim_start_matches(',').is_empty())
}

/// What a line says of a name, apart from the beginning of that name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Said<'a> {
    /// The rest of the name: `s`, `_rate`, ` rate`.
    name: &'a str,
    /// `:`, `=` or nothing.
    sign: Option<char>,
    pub(super) number: Number<'a>,
}

/// Names of what is measured by nature, and of what is counted.
const RATES: [&str; 5] = ["rate", "ratio", "norm", "percent", "pct"];
const COUNTS: [&str; 2] = ["count", "total"];

impl<'a> Said<'a> {
    /// What `rest` says of the name whose beginning it follows: `s: 3`, `_rate 3.4%`, `": 0.5`, ` (L2) = 1e-5`.
    pub(super) fn of(rest: &'a str) -> Option<Self> {
        let joins = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '/' | '@');
        let after = rest.trim_start_matches(joins);
        let kind = |name: &str| after.strip_prefix(' ')?.strip_prefix(name).filter(|rest| !rest.starts_with(joins));
        let after = RATES.iter().chain(&COUNTS).find_map(|name| kind(name)).unwrap_or(after);
        let name = &rest[..rest.len() - after.len()];
        let quoted = after.strip_prefix(['"', '\'']).unwrap_or(after).trim_start();
        let group =
            quoted.strip_prefix(['(', '[']).and_then(|group| Some(group.split_once([')', ']'])?.1.trim_start()));
        let named = group.filter(|after| after.starts_with([':', '='])).unwrap_or(quoted);
        let sign = named.chars().next().filter(|c| matches!(c, ':' | '='));
        let value = named.strip_prefix([':', '=']).unwrap_or(named).trim_start();
        let value = value.strip_prefix(['"', '\'']).unwrap_or(value);
        let number = Number::take(value.strip_prefix(['-', '+']).unwrap_or(value)).filter(Number::is_whole)?;
        Some(Self { name, sign, number })
    }

    fn last_part(&self) -> &'a str {
        self.name.rsplit(|c: char| !c.is_alphabetic()).next().unwrap_or_default()
    }

    pub(super) fn is_rate(&self) -> bool {
        RATES.contains(&self.last_part())
    }

    /// Whether the name is that of several, and the number given as theirs, as in `s: 3`, `ed=3`, `_count: 3`; or the number
    /// is a measure.
    pub(super) fn is_count_or_measure(&self) -> bool {
        let plural = !self.name.is_empty() && self.name.chars().all(char::is_alphabetic);
        self.sign.is_some() && (plural || COUNTS.contains(&self.last_part())) || self.number.is_measure()
    }

    /// Whether it is a value of a variable, or else no number of an error such as `403.14`, nor the beginning of a sentence
    /// such as `: 1.5 is no version`.
    pub(super) fn is_value(&self, part_of_name: bool) -> bool {
        let variable = part_of_name || self.sign == Some('=') || self.name.contains(['_', '-', '/', '@']);
        let code = self.sign.is_none() && self.number.whole.len() > 2 && !self.is_rate() && !self.number.is_share();
        variable || !code && !goes_on(self.behind_unit())
    }

    /// What follows the number and its unit, such as `px`.
    fn behind_unit(&self) -> &'a str {
        const LONGEST: usize = 3;
        let rest = self.number.rest;
        let unit = rest.strip_prefix(' ').unwrap_or(rest);
        let after = unit.trim_start_matches(|c: char| c.is_alphabetic() || c == '%');
        let ends = !after.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '/' | '@' | ':' | '='));
        if ends && unit.len() - after.len() <= LONGEST { after } else { rest }
    }
}

/// Whether words follow that are not the name of another number.
fn goes_on(after: &str) -> bool {
    let next = after.trim_start();
    next.starts_with(char::is_alphabetic) && Said::of(next).is_none()
}

fn begins_with_digit(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
}

fn behind_digits(text: &str, thousands: bool) -> &str {
    text.trim_start_matches(|c: char| c.is_ascii_digit() || thousands && c == ',')
}

/// What follows `e-04` or, behind decimals, `e6`: without either, `3e45` is the beginning of an id.
fn behind_exponent(text: &str, decimals: bool) -> Option<&str> {
    let exponent = text.strip_prefix(['e', 'E'])?;
    let digits = exponent.strip_prefix(['-', '+']).or(decimals.then_some(exponent))?;
    begins_with_digit(digits).then(|| behind_digits(digits, false))
}

/// A share, or thousands and more, of bytes or of anything.
fn split_unit(text: &str) -> (&str, &str) {
    let size = || {
        let rest = text.strip_prefix(['k', 'K', 'm', 'M', 'g', 'G', 't', 'T'])?;
        let rest = rest.strip_prefix('i').unwrap_or(rest);
        Some(rest.strip_prefix(['b', 'B']).unwrap_or(rest))
    };
    let after = text.strip_prefix('%').or_else(size).unwrap_or(text);
    let unit = &text[..text.len() - after.len()];
    if after.starts_with(char::is_alphanumeric) { ("", text) } else { (unit, after) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_counts_with_units_and_exponents_and_names_are_none() {
        for count in
            ["3", "1,200", "0.5", "3/10", "1.2/3.4k", "4.5e-04", "1e+05", "1.2E6", "13.2k", "120MB", "4GiB", "3.4%"]
        {
            assert!(is_count(count), "{count}");
        }
        assert!(!is_count(&"1/".repeat(1 << 20)), "however long");
        for name in
            ["", ",", "1.2.3", "10.0.0.7", "3e45", "70B", "12ms", "1080p", "3rd", "4kids", "12%x", "-3", "3/x", "e-04"]
        {
            assert!(!is_count(name), "{name}");
        }
    }

    #[test]
    fn what_is_said_of_a_name_is_the_number_behind_it() {
        for said in ["s: 3", "=0.5", "_rate 3.4%", " rate: 3.4%", "\": 0.5", " (L2) = -1e-5", "_count\":3", "': '0.5'"]
        {
            assert!(Said::of(said).is_some(), "{said}");
        }
        for other in
            ["", ":", ": no 3", " rated 3", ": 10.0.0.7", ": 1.5: bad", " (3) bad", "-0.5", " at 3", ": 12:00:01"]
        {
            assert!(Said::of(other).is_none(), "{other}");
        }
    }
}
