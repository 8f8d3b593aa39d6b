//! Times, clocks, dates and rates at the beginning of a text, in the ways programs write them.

/// Names of units of time in the languages programs speak; those of three letters and more in upper and lower case.
const UNITS: [&str; 65] = [
    "ns",
    "us",
    "µs",
    "μs",
    "ms",
    "s",
    "sec",
    "secs",
    "second",
    "seconds",
    "min",
    "mins",
    "hr",
    "hrs",
    "hour",
    "hours",
    "sek",
    "stunde",
    "stunden",
    "seconde",
    "secondes",
    "heure",
    "heures",
    "horas",
    "secondi",
    "с",
    "сек",
    "мин",
    "ч",
    "час",
    "分",
    "분",
    "saniye",
    "dakika",
    "saat",
    "godzin",
    "giây",
    "phút",
    "detik",
    "menit",
    "хв",
    "ث",
    "ثانية",
    "ثانیه",
    "دقيقة",
    "دقیقه",
    "שניות",
    "דקות",
    "सेकंड",
    "मिनट",
    "perc",
    "λεπτά",
    "δευτερόλεπτα",
    "δευτ",
    "seg",
    "segons",
    "seconden",
    "uur",
    "vteřin",
    "vteřiny",
    "sn",
    "dk",
    "ثوان",
    "ثوانٍ",
    "सेकेंड",
];
/// How such names begin in languages that bend them, in upper and lower case: `Sekunden`, `sekuntia`, `минуты`.
const STEMS: [&str; 9] = ["sekun", "secund", "segund", "minut", "minuu", "секунд", "минут", "хвилин", "másodperc"];
/// Units of scripts that put no blank after a word.
const RUN_ON_UNITS: [&str; 12] =
    ["秒", "分前", "時間前", "分钟", "分間", "小时", "時間", "초", "시간", "วินาที", "นาที", "সেকেন্ড"];
/// Units that are units of time only right behind their number, and those that are only apart from it.
const SHORT_UNITS: [&str; 4] = ["m", "h", "d", "w"];
const LONG_UNITS: [&str; 4] = ["day", "days", "week", "weeks"];
/// What there are millions of.
const COUNTED: [&str; 24] = [
    "tokens",
    "rows",
    "records",
    "lines",
    "requests",
    "items",
    "ops",
    "files",
    "messages",
    "events",
    "params",
    "parameters",
    "points",
    "samples",
    "documents",
    "docs",
    "objects",
    "bytes",
    "steps",
    "keys",
    "words",
    "entries",
    "packets",
    "queries",
];
/// What stands between a time and its limit.
const LIMITS: [&str; 3] = ["/", " / ", " of "];
/// Halves of the day.
const HALVES: [&str; 6] = ["AM", "PM", "am", "pm", "a.m.", "p.m."];
/// What something is counted by in a rate.
const PER: [&str; 10] = ["s", "sec", "second", "it", "min", "minute", "m", "h", "hr", "hour"];
/// The words for it, in English, German, French, Spanish and Portuguese, Italian, Russian.
const OVER: [&str; 7] = [" per ", " pro ", " par ", " por ", " al ", " в ", " на "];
/// Units that are rates by themselves, in upper and lower case.
const RATES: [&str; 10] = ["fps", "bps", "kbps", "mbps", "gbps", "kibps", "mibps", "gibps", "rps", "rpm"];
/// Labels of numbers that are times and rates without a unit.
const LABELS: [&str; 18] = [
    "elapsed",
    "waited",
    "uptime",
    "seconds",
    "secs",
    "sec",
    "time",
    "runtime",
    "duration",
    "eta",
    "timeout",
    "fps",
    "tps",
    "qps",
    "iops",
    "speed",
    "rate",
    "throughput",
];

/// The same of two words: what else is left or remains is work.
const LEFT: [&str; 2] = ["time left", "time remaining"];

/// What it is that time changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Time {
    /// An elapsed or remaining time, or a rate.
    Elapsed,
    /// What a clock shows.
    Clock,
    /// A date.
    Date,
}

fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// A number that is a time, a date or a rate.
pub(super) fn take_number(rest: &str) -> Option<(&str, Time)> {
    let whole = digits(rest);
    let date = take_iso_date(rest, whole).or_else(|| take_compact_date(rest, whole));
    if let Some(after) = date.or_else(|| take_seconds(rest, whole)) {
        return Some((after, Time::Date));
    }
    if let Some(after) = take_clock(rest, whole) {
        return Some((after, Time::Clock));
    }
    if let Some(after) = take_rate(&rest[number(rest)..]) {
        return Some((after, Time::Elapsed));
    }
    take_duration(rest).or_else(|| take_unit_of_limit(rest)).map(|after| (after, Time::Elapsed))
}

/// Whether what follows is the time that a machine has been up: no more of the work than a clock.
pub(super) fn is_uptime(out: &str) -> bool {
    let label = out.trim_end_matches([' ', ':', '=', '~', ',']);
    let start = label.trim_end_matches(char::is_alphabetic).len();
    label[start..].eq_ignore_ascii_case("uptime")
}

/// A number without a unit whose label says that it is a time.
pub(super) fn take_labelled<'a>(rest: &'a str, out: &str) -> Option<(&'a str, Time)> {
    let words = out.trim_end_matches([' ', ':', '=', '"', '\'']);
    let label = words.rsplit([' ', '(', '{', '[', ',', '"', '\'']).next()?;
    let is = |label: &str| LABELS.iter().any(|name| label.eq_ignore_ascii_case(name));
    let in_unit = || label.rsplit_once('_').is_some_and(|(label, unit)| is(label) && is_unit(unit));
    let left = || LEFT.iter().any(|name| ends_in(words, name));
    let times = is(label) || in_unit() || left();
    let after = &rest[number(rest)..];
    // Of a limit, as in `elapsed 34/3600`.
    let limit = after.strip_prefix('/').filter(|limit| digits(limit) > 0);
    let after = limit.map_or(after, |limit| &limit[number(limit)..]);
    (times && !after.starts_with(['%', '/'])).then_some((after, Time::Elapsed))
}

/// Whether `text` ends in these words, in upper or lower case.
fn ends_in(text: &str, words: &str) -> bool {
    let start = text.len().checked_sub(words.len()).filter(|start| text.is_char_boundary(*start));
    start.is_some_and(|start| {
        text[start..].eq_ignore_ascii_case(words) && !text[..start].ends_with(char::is_alphanumeric)
    })
}

/// The length of a number with decimals and thousands.
fn number(rest: &str) -> usize {
    let end = rest.bytes().take_while(|b| b.is_ascii_digit() || matches!(b, b'.' | b',')).count();
    rest[..end].trim_end_matches(['.', ',']).len()
}

/// `2026-11-16`, with a time or not, `16/Nov/2026:00:40:21 +0000`, `16-Nov-26`, `11/16/2026`.
fn take_iso_date(rest: &str, whole: usize) -> Option<&str> {
    let separator = rest[whole..].chars().next().filter(|c| matches!(c, '-' | '/' | '.'))?;
    let second = &rest[whole + 1..];
    let middle = digits(second);
    let middle = if middle > 0 { middle } else { is_month(second).then_some(3)? };
    let third = second.get(middle..)?.strip_prefix(separator)?;
    let last = digits(third);
    let plausible = match (whole, middle, last) {
        (4, 1..=3, 1..=2) => is_year(rest) && is_in_year(&second[..middle]) && is_in_year(&third[..last]),
        (1..=2, 1..=2, 4) => is_year(third) && is_in_year(&rest[..whole]) && is_in_year(&second[..middle]),
        (1..=2, 3, 2 | 4) => is_month(second),
        _ => false,
    };
    if !plausible {
        return None;
    }
    let after = &third[last..];
    let time = after.strip_prefix(['T', ' ', ':', '_']).unwrap_or(after);
    let after = take_clock(time, digits(time)).unwrap_or(after);
    let after = after.strip_prefix('Z').unwrap_or(after);
    let zone = after.strip_prefix(' ').unwrap_or(after);
    match zone.strip_prefix(['+', '-']).map(|zone| (zone, digits(zone))) {
        Some((zone, 2 | 4)) => Some(&zone[digits(zone)..]),
        _ => Some(after),
    }
}

/// Whether it begins with a year that somebody may live in.
fn is_year(text: &str) -> bool {
    text.starts_with("19") || text.starts_with("20")
}

/// Whether this is a day of a month, or a month.
fn is_in_year(text: &str) -> bool {
    is_month(text) || text.parse().is_ok_and(|number| (1..=31).contains(&number))
}

/// `20261116T012909Z`, `20261116-012909.123`.
fn take_compact_date(rest: &str, whole: usize) -> Option<&str> {
    let time = rest[whole..].strip_prefix(['T', '-', '_']).filter(|_| whole == 8 && is_year(rest))?;
    let fits = is_in_year(&rest[4..6]) && is_in_year(&rest[6..8]) && digits(time) == 6;
    let after = behind_fraction(fits.then(|| &time[6..])?);
    Some(after.strip_prefix('Z').unwrap_or(after)).filter(|after| !after.starts_with(char::is_alphanumeric))
}

/// The seconds since 1970 with thousandths or more, from 2017 to 2030: `1763500000.123`.
fn take_seconds(rest: &str, whole: usize) -> Option<&str> {
    let plausible = whole == 10 && rest.starts_with('1') && matches!(rest.as_bytes()[1], b'5'..=b'8');
    let fraction = rest[whole..].strip_prefix('.').filter(|fraction| plausible && digits(fraction) >= 3)?;
    let after = &fraction[digits(fraction)..];
    (!after.starts_with(|c: char| c.is_alphanumeric() || c == '.')).then_some(after)
}

/// `0:34`, `12:03:09`, `12:03:09.911`, `1:02:03 AM`, `2:35pm`, `1234:05:06`.
fn take_clock(rest: &str, whole: usize) -> Option<&str> {
    if !(1..=7).contains(&whole) {
        return None;
    }
    let mut after = &rest[whole..];
    let mut fields = 0;
    while let Some(next) = after.strip_prefix(':') {
        if digits(next) != 2 || next.as_bytes()[0] > b'5' {
            break;
        }
        after = &next[2..];
        fields += 1;
    }
    if !(1..=3).contains(&fields) || whole > 3 && fields != 2 {
        return None;
    }
    if let Some(end) = take_half(after) {
        return Some(end);
    }
    if after.starts_with(|c: char| c.is_alphanumeric() && c != 'Z' || c == ':') {
        return None;
    }
    let after = behind_fraction(after);
    Some(take_half(after).unwrap_or(after))
}

/// What follows the fraction of a second, where there is one.
fn behind_fraction(text: &str) -> &str {
    let fraction = text.strip_prefix(['.', ',']).filter(|fraction| digits(fraction) > 0);
    fraction.map_or(text, |fraction| &fraction[digits(fraction)..])
}

fn take_half(after: &str) -> Option<&str> {
    let half = after.trim_start();
    let end = HALVES.iter().find_map(|name| half.strip_prefix(name))?;
    (!end.starts_with(char::is_alphanumeric)).then_some(end)
}

/// What follows the number in `3.69 KiB/s`, `9.88it/s`, `1.2s/it`, `12 tokens/sec`, `30 fps`, `5 rows per second`.
fn take_rate(after: &str) -> Option<&str> {
    let unit = after.strip_prefix(' ').unwrap_or(after);
    let (name, end) = unit.split_at(letters(unit));
    // `12 fps=3` are two numbers, and the name is the second one's.
    let ends = !end.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '=' | ':'));
    let rate = ends && RATES.iter().any(|rate| rate.eq_ignore_ascii_case(name));
    if rate { Some(end) } else { take_quotient(after) }
}

fn take_quotient(after: &str) -> Option<&str> {
    /// A longer word is no unit.
    const LONGEST: usize = 10;
    let unit = after.strip_prefix(' ').unwrap_or(after);
    let (name, end) = split_word(unit);
    if name.chars().nth(LONGEST).is_some() {
        return None;
    }
    let words = || OVER.iter().find_map(|word| end.strip_prefix(word).or_else(|| after.strip_prefix(word)));
    let per = end.strip_prefix('/').or_else(words)?;
    if let Some(end) = RUN_ON_UNITS.iter().find_map(|by| per.strip_prefix(by)) {
        return Some(end);
    }
    let (by, end) = split_word(per);
    // A time for each of whatever is counted is a rate: `12ms/step`.
    let of_time = is_unit(name) && !by.is_empty();
    (of_time || PER.contains(&by) || is_unit(by)).then_some(end)
}

fn letters(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_alphabetic).count()
}

/// `34s`, `1m 2s`, `250 ms`, `2.0 seconds`, `1h2m`, with `ago` or not, with a limit or not.
fn take_duration(rest: &str) -> Option<&str> {
    let after = duration(rest)?;
    Some(take_limit(after).unwrap_or(after))
}

/// What follows a time that has a limit: `34s/900s`, `34s of 15m`.
fn take_limit(after: &str) -> Option<&str> {
    LIMITS.iter().find_map(|sign| duration(after.strip_prefix(sign)?))
}

/// A time that leaves the unit to its limit: `34/900s`, `34 of 900 seconds`. So many of so many days are work.
fn take_unit_of_limit(rest: &str) -> Option<&str> {
    let after = &rest[number(rest)..];
    let limit = LIMITS.iter().find_map(|sign| after.strip_prefix(sign)).filter(|limit| digits(limit) > 0)?;
    let unit = limit[number(limit)..].trim_start();
    let (name, end) = split_word(unit);
    is_unit(name).then_some(end)
}

fn duration(rest: &str) -> Option<&str> {
    let mut after = duration_part(rest, true)?;
    loop {
        let next = after.strip_prefix([' ', ':']).unwrap_or(after);
        match duration_part(next, false) {
            Some(end) => after = end,
            None => return Some(after),
        }
    }
}

fn duration_part(rest: &str, may_stand_alone: bool) -> Option<&str> {
    if digits(rest) == 0 {
        return None;
    }
    let after = &rest[number(rest)..];
    let unit = after.strip_prefix(' ').filter(|_| may_stand_alone);
    let spaced = unit.is_some();
    let unit = unit.unwrap_or(after);
    if let Some(next) = RUN_ON_UNITS.iter().find_map(|name| unit.strip_prefix(name)) {
        return Some(next);
    }
    let (name, next) = split_word(unit);
    let others = if spaced { LONG_UNITS } else { SHORT_UNITS };
    if is_unit(name) || others.contains(&name) {
        let more = next.strip_prefix('/').is_some_and(|limit| digits(limit) == 0);
        // What is counted in `12 s3 objects` and `5 min.js` has a name that only begins like a unit; in `1.2m tokens` it is
        // millions.
        let millions = name == "m" && next.strip_prefix(' ').is_some_and(|what| COUNTED.contains(&split_word(what).0));
        let named = millions
            || spaced && digits(next) > 0
            || next.strip_prefix('.').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase()));
        return (!more && !named && !next.starts_with('_')).then_some(next);
    }
    let runs_on = matches!(name, "h" | "m" | "s" | "d") && if spaced { is_spaced_part(next) } else { digits(next) > 0 };
    runs_on.then_some(next)
}

fn split_word(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_alphabetic()).unwrap_or(text.len()))
}

fn is_unit(name: &str) -> bool {
    let begins = |stem: &&str| name.get(..stem.len()).is_some_and(|start| start.eq_ignore_ascii_case(stem));
    UNITS.iter().any(|unit| *unit == name || name.len() > 2 && unit.eq_ignore_ascii_case(name))
        || STEMS.iter().any(begins)
}

/// The minutes and seconds in `1 h 2 m 3 s`.
fn is_spaced_part(text: &str) -> bool {
    let Some(number) = text.strip_prefix(' ').filter(|number| digits(number) > 0) else { return false };
    let unit = number[digits(number)..].strip_prefix(' ').unwrap_or_default();
    unit.starts_with(['m', 's']) && !unit[1..].starts_with(char::is_alphanumeric)
}

/// A time or a rate that is not known yet: `--:--:--`, `--.-KB/s`, `?it/s`, `-:--`.
pub(super) fn take_unknown(rest: &str) -> Option<&str> {
    let end = rest.find(|c| !matches!(c, '-' | '?' | ':' | '.')).unwrap_or(rest.len());
    let (sign, after) = rest.split_at(end);
    if sign.contains(':') && sign.len() >= 3 && !after.starts_with(char::is_alphanumeric) {
        return Some(after);
    }
    take_quotient(after)
}

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
/// Days and months as they are written in full: any beginning of three letters or more is one too. Other words that begin
/// like them, as `Decoding` and `Mark`, are not.
const NAMES: [&str; 24] = [
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
    "Juni",
    "Juli",
    "Aprile",
    "Marzo",
    "Montag",
];

fn is_month(text: &str) -> bool {
    MONTHS.iter().any(|month| text.starts_with(month))
}

/// `Mon Nov 16 00:33:39 UTC 2026`, `Nov 16 2026`, `Mon, 16 Nov 2026`.
pub(super) fn take_calendar(rest: &str) -> Option<&str> {
    let mut after = rest;
    let mut numbers = 0;
    let mut names = 0;
    loop {
        let word = after.trim_start_matches([' ', ',']);
        let end = word.find([' ', ',']).unwrap_or(word.len());
        let next = &word[..end];
        let name = next.trim_end_matches('.');
        let day_or_month = name.len() >= 3 && NAMES.iter().any(|full| full.starts_with(name));
        let day = (1..=2).contains(&next.len()) && digits(next) == next.len() && names > 0 && numbers == 0;
        let clock = || take_clock(next, digits(next)).is_some_and(str::is_empty);
        let year = next.len() == 4 && digits(next) == 4;
        let zone = matches!(next, "UTC" | "GMT" | "CET" | "CEST" | "AM" | "PM");
        if day_or_month {
            names += 1;
        } else if day {
            numbers += 1;
        } else if numbers == 0 || !(clock() || year || zone) {
            break;
        }
        after = &word[end..];
        if after.is_empty() {
            break;
        }
    }
    (names > 0 && numbers > 0).then_some(after)
}
