//! What changes merely because time passes, taken out of a line: spinners, times, clocks, dates, rates, growing dots.
//!
//! Percentages, sizes, counters and tokens stay: they show work.

mod digits;
mod time;

use self::digits::with_ascii_digits;
use self::time::{Time, is_uptime, take_calendar, take_labelled, take_number, take_unknown};

/// What was taken out of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Taken {
    /// A spinner glyph.
    pub(super) spinner: bool,
    /// An elapsed or remaining time, a rate, growing dots.
    pub(super) elapsed: bool,
    /// A date: the times beside it are of the day, not of the work.
    pub(super) date: bool,
    /// Stands for what the spinners and times were: another number, another moment of the same work.
    pub(super) ticks: u64,
    /// The same of the spinners alone.
    pub(super) turns: u64,
    /// Stands for what the clocks showed: `0:45` may be of the work or of the day.
    pub(super) clocks: u64,
}

fn stir(sum: u64, text: &str, place: usize) -> u64 {
    (sum ^ super::seen::hash(text)).rotate_left(7).wrapping_add(place as u64)
}

/// Writes `text` without what time alone changes into `out`.
pub(super) fn mask(text: &str, out: &mut String) -> Taken {
    out.clear();
    let mut taken = Taken::default();
    let text = &*with_ascii_digits(text);
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if first.is_whitespace() {
            if !out.is_empty() && !out.ends_with(' ') {
                out.push(' ');
            }
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let at_word = out.chars().next_back().is_none_or(|last| !continues_word(last));
        let Some((after, is)) = take(rest, first, at_word, out, &mut taken) else {
            out.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        };
        let (what, place) = (&rest[..rest.len() - after.len()], text.len() - rest.len());
        match is {
            Is::Tick => taken.ticks = stir(taken.ticks, what, place),
            Is::Turn => {
                taken.ticks = stir(taken.ticks, what, place);
                taken.turns = stir(taken.turns, what, place);
            }
            Is::Clock => taken.clocks = stir(taken.clocks, what, place),
            Is::Other => {}
        }
        rest = after;
    }
    out.truncate(out.trim_end().len());
    if out.contains("~ ~ ~") {
        mask_transfer_meter(out);
    }
    taken
}

/// Whether a number behind `last` belongs to the same word; where nobody puts blanks between words it does not.
fn continues_word(last: char) -> bool {
    last.is_alphanumeric() && last < '\u{2e80}' || last == '.' || last == '_'
}

/// Whether what was taken turns, or runs, as work in progress does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Is {
    Turn,
    Tick,
    Clock,
    Other,
}

/// Takes one thing that time changes off the front of `rest`, if there is one.
fn take<'a>(rest: &'a str, first: char, at_word: bool, out: &mut String, taken: &mut Taken) -> Option<(&'a str, Is)> {
    if first == '.' || first == '…' {
        return Some(take_dots(rest, out));
    }
    if is_spinner(first) {
        taken.spinner = true;
        return Some((&rest[first.len_utf8()..], Is::Turn));
    }
    if is_shape(first) {
        let end = rest.find(|c| !is_shape(c)).unwrap_or(rest.len());
        // A long run of blocks is a bar, and a bar that fills is progress.
        if rest[..end].chars().count() <= 4 {
            let turns = rest[..end].chars().any(|c| !is_cursor(c));
            taken.spinner |= turns;
            return Some((&rest[end..], if turns { Is::Turn } else { Is::Other }));
        }
        // A pulse that runs along a bar moves its blocks; only a bar that fills has others.
        let mut blocks: Vec<char> = rest[..end].chars().collect();
        blocks.sort_unstable();
        if !is_curve(&blocks) {
            out.extend(blocks);
        }
        return Some((&rest[end..], Is::Turn));
    }
    if !first.is_ascii() || !at_word {
        return None;
    }
    if matches!(first, '|' | '/' | '-' | '\\' | '*' | '+') && is_lone(rest, out) {
        taken.spinner = true;
        return Some((&rest[1..], Is::Turn));
    }
    if first.is_ascii_digit() && out.ends_with("time=") && rest.contains(" speed=") {
        // How much of the film is done: ffmpeg shows no other counter where it only reads.
        let end = rest.find(' ').unwrap_or(rest.len());
        out.push_str(&rest[..end]);
        return Some((&rest[end..], Is::Other));
    }
    let (after, kind) = match first {
        '0'..='9' => take_number(rest).or_else(|| take_labelled(rest, out))?,
        '-' | '?' if !out.ends_with(first) => (take_unknown(rest)?, Time::Elapsed),
        'A'..='Z' => (take_calendar(rest)?, Time::Date),
        _ => return None,
    };
    let kind = if kind == Time::Elapsed && is_uptime(out) { Time::Clock } else { kind };
    match kind {
        Time::Elapsed | Time::Clock => taken.elapsed = true,
        Time::Date => taken.date = true,
    }
    out.push('~');
    let is = match kind {
        Time::Elapsed => Is::Tick,
        Time::Clock => Is::Clock,
        Time::Date => Is::Other,
    };
    Some((after, is))
}

/// Glyphs that are drawn only to turn.
pub(super) fn is_spinner(c: char) -> bool {
    matches!(c,
        '\u{2801}'..='\u{28ff}' | '◐'..='◕' | '◜'..='◡' | '◴'..='◷' | '◰'..='◳' | '●' | '○' | '◉' | '◎' | '◌' | '◍' | '◯'
        | '\u{2720}'..='\u{274b}' | '·' | '•' | '∙' | '⋅' | '◦' | '⊶' | '⊷' | '⊙' | '⦿' | '⦾' | '☱'..='☴' | '★' | '☆'
        | '⏳' | '⌛' | '\u{1f311}'..='\u{1f318}' | '\u{1f550}'..='\u{1f567}' | '⏺' | '◆' | '◇' | '◈' | '⬢' | '⬡')
}

/// Blocks and squares: a few of them are a pulse, many are a bar.
fn is_shape(c: char) -> bool {
    matches!(c, '\u{2580}'..='\u{259f}' | '■'..='▱' | '◢'..='◥' | '⬝' | '⬞' | '⬛' | '⬜' | '\u{2800}')
}

/// Whether these, which are in order, are columns of several heights: they draw how a load or a speed has changed.
fn is_curve(blocks: &[char]) -> bool {
    let mut columns = blocks.iter().filter(|block| matches!(block, '▁'..='▇'));
    columns.next().is_some_and(|lowest| columns.any(|other| other != lowest))
}

/// The row of glyphs at the end of `text` if it is all that `before` was made longer by. A spinner replaces its glyph;
/// dots that follow a word only grow.
pub(super) fn added_glyphs<'a>(before: &str, text: &'a str) -> &'a str {
    let glyph = |c: char| is_spinner(c) || is_shape(c) || matches!(c, '.' | '…' | ' ');
    let added = text.strip_prefix(before).unwrap_or_default();
    if before.is_empty() || added.trim().is_empty() || !added.chars().all(glyph) {
        return "";
    }
    let row = text[text.trim_end_matches(glyph).len()..].trim_start();
    if row.starts_with(['.', '…']) && ends_in_word(text[..text.len() - row.len()].trim_end()) { "" } else { row }
}

/// Whether dots that follow belong to what is said. Letters among dots do not: `..F..` is a test runner's.
fn ends_in_word(text: &str) -> bool {
    let rest = text.trim_end_matches(char::is_alphanumeric);
    text.ends_with([')', '\'', '"']) || rest.len() < text.len() && !rest.ends_with('.')
}

/// What programs draw as a blinking cursor.
fn is_cursor(c: char) -> bool {
    matches!(c, '█' | '▌' | '▐' | '▏' | '▎' | '▍' | '▕' | '▂' | '▁')
}

/// One sign between blanks.
fn is_lone(rest: &str, out: &str) -> bool {
    (out.is_empty() || out.ends_with(' ')) && rest[1..].chars().next().is_none_or(char::is_whitespace)
}

/// Dots that follow a word grow or blink; dots on their own are a test runner's, and stay.
fn take_dots<'a>(rest: &'a str, out: &mut String) -> (&'a str, Is) {
    let end = rest.find(|c| c != '.' && c != '…').unwrap_or(rest.len());
    let (dots, after) = rest.split_at(end);
    let last = out.chars().next_back();
    let attached = last.is_some_and(|last| last.is_alphanumeric() || matches!(last, ')' | '\'' | '"' | '~'));
    let ends = after.chars().next().is_none_or(|c| c.is_whitespace() || c == '(');
    // qwen turns with dots, one to three, before what it says.
    let leads = out.trim().is_empty() && after.trim_start().starts_with(char::is_alphabetic);
    if ends && (attached || end <= 3 && (last.is_some() || leads)) {
        return (after, Is::Turn);
    }
    out.push_str(dots);
    (after, Is::Other)
}

/// A transfer meter such as curl's: the numbers beside three clocks in a row are speeds.
fn mask_transfer_meter(out: &mut String) {
    let mut fields: Vec<&str> = out.split(' ').collect();
    let Some(clocks) = fields.windows(3).position(|three| three.iter().all(|field| *field == "~")) else { return };
    let numeric = |field: &str| field.starts_with(|c: char| c.is_ascii_digit());
    for index in [clocks.wrapping_sub(1), clocks.wrapping_sub(2), clocks + 3] {
        if let Some(field) = fields.get_mut(index).filter(|field| numeric(field)) {
            *field = "~";
        }
    }
    *out = fields.join(" ");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(text: &str) -> String {
        let mut out = String::new();
        mask(text, &mut out);
        out
    }

    fn same(one: &str, other: &str) {
        assert_eq!(masked(one), masked(other), "{one:?} and {other:?} differ by time alone");
    }

    fn differ(one: &str, other: &str) {
        assert_ne!(masked(one), masked(other), "{one:?} and {other:?} differ by work");
    }

    #[test]
    fn spinners_and_elapsed_times_do_not_count() {
        same("✽ Working… (24s)", "· Working… (1m 02s)");
        same("⠸ Thinking... (esc to cancel, 49s)", "⠧ Thinking.. (esc to cancel, 1m)");
        same("       █░  Waiting for model", "░█         Waiting for model");
        same("| loading", "/ loading");
        same("■■■■⬝⬝⬝⬝ busy", "⬝⬝■■■■⬝⬝ busy");
        same("elapsed: 12", "elapsed: 13");
        same("ETA 00:33 elapsed 12:03:09", "ETA --:-- elapsed 0:01");
        same("Waiting for the cluster.....", "Waiting for the cluster............");
        same(".   Counting electrons", "... Counting electrons");
        differ("... Counting electrons", "... Weighing photons");
        same("updated 2 minutes ago", "updated 45 seconds ago");
    }

    #[test]
    fn times_with_a_limit_do_not_count() {
        same("Waiting (34s/900s)", "Waiting (1m 2s/900s)");
        same("Waiting 34/900s", "Waiting 35/900s");
        same("Waiting (34 of 900 seconds)", "Waiting (35 of 900 seconds)");
        same("Waiting [34s / 15m]", "Waiting [35s / 15m]");
        same("Waiting 34s/15m", "Waiting 35s/15m");
        differ("copied 34/900", "copied 35/900");
        differ("copied 34 of 900 files", "copied 35 of 900 files");
        differ("filled 3 of 30 days", "filled 4 of 30 days");
        differ("remaining: 266", "remaining: 265");
    }

    #[test]
    fn times_of_other_languages_do_not_count() {
        same("2 m 3 s", "3 m 4 s");
        same("34 sec. gone", "35 sec. gone");
        same("2 Min. 3 Sek.", "3 Min. 4 Sek.");
        same("34 Sekunden", "35 Sekunden");
        same("34 secondes, 34 segundos, 34 secondi", "35 secondes, 35 segundos, 35 secondi");
        same("已运行34秒", "已运行35秒");
        same("経過時間 2分3秒経過", "経過時間 3分4秒経過");
        same("34초 경과", "35초 경과");
        same("прошло 2 мин 3 с", "прошло 3 мин 4 с");
        same("٩ ث جارٍ التحميل (١٢ ثانية)", "١٠ ث جارٍ التحميل (١٣ ثانية)");
        same("۳۴ ثانیه", "۳۵ ثانیه");
        same("०:३४ ३४ सेकंड", "०:३५ ३५ सेकंड");
        same("経過３４秒", "経過３５秒");
        same("ผ่านไป 34 วินาที", "ผ่านไป 35 วินาที");
        same("2 dakika 34 saniye, 34 giây, 34 detik", "3 dakika 35 saniye, 35 giây, 35 detik");
        same("34 sekund, 34 sekuntia, 34 sekunder", "35 sekund, 35 sekuntia, 35 sekunder");
        same("34 secunde, 2 minuuttia, 34 másodperc", "35 secunde, 3 minuuttia, 35 másodperc");
        same("прошло 2 минуты 3 секунды", "прошло 3 минуты 4 секунды");
        same("34 seg, 34 segons, 2 dk 34 sn", "35 seg, 35 segons, 3 dk 35 sn");
        same("2 uur 34 seconden, 34 vteřin, 34 δευτ.", "3 uur 35 seconden, 35 vteřin, 35 δευτ.");
        same("34 ثوان, 34 सेकेंड, 34 সেকেন্ড", "35 ثوان, 35 सेकेंड, 35 সেকেন্ড");
        differ("34 sections, 34 segments", "35 sections, 35 segments");
        differ("34 s3 objects", "35 s3 objects");
        differ("34 min.js", "35 min.js");
        differ("第34章", "第35章");
        differ("第３４章", "第３５章");
        differ("٣٤ ملفا", "٣٥ ملفا");
        differ("5 m of cable", "6 m of cable");
    }

    #[test]
    fn dates_and_clocks_do_not_count() {
        same("vm: Mon Nov 16 00:33:39 2026", "vm: Tue Dec  1 10:00:00 2026");
        same("2026-11-16 01:29:09.911 link: x", "2026-12-16T02:29:09Z link: x");
        same("[16/Nov/2026:00:40:21 +0000] GET", "[17/Nov/2026:10:40:22 +0000] GET");
        same("done 12:29 AM", "done 1:05 PM");
        same("opus 2:35pm", "opus 2:36pm");
    }

    #[test]
    fn rates_and_the_speeds_of_a_transfer_meter_do_not_count() {
        same("4.77 MiB/19.07 MiB (3.69 KiB/s, 66m)", "4.77 MiB/19.07 MiB (29.55 KiB/s, 6m)");
        same("下载 3.69 KB/秒", "下载 0.15 KB/秒");
        same("45 % 3,69 МБ/с", "45 % 0,15 МБ/с");
        same("45 % 3,7 Mo par seconde, 12 Zeilen pro Sekunde", "45 % 0,1 Mo par seconde, 1 Zeilen pro Sekunde");
        differ("12 файлов/каталог", "13 файлов/каталог");
        same("100/600 [00:10<00:50, 9.88it/s]", "100/600 [00:45<03:50,  2.2s/it]");
        same("out 7%[> ] 292.97K --.-KB/s eta 9m 3s", "out 7%[> ] 292.97K  12.1KB/s eta 59s");
        same(
            " 7 3906k 7 292k 0 0 39295 0 0:01:41 0:00:44 0:00:57 39785",
            " 7 3906k 7 292k 0 0 20000 0 0:03:41 0:01:44 0:02:57 --:--:--",
        );
    }

    #[test]
    fn rates_by_any_name_do_not_count() {
        same("frame= 12 fps=3.1 speed=0.49x", "frame= 12 fps=2.9 speed=0.481x");
        same("45 MB, avg 120 KBps", "45 MB, avg 119 KBps");
        same("120 frames, 2.31 fps", "120 frames, 2.3 fps");
        same("$0.34 ($1.20/hr)", "$0.34 ($1.19/hr)");
        same("12 rows (3.1 rows per second, 186 rows/minute)", "12 rows (3.0 rows per second, 180 rows/minute)");
        differ("frame= 12 fps=3.1", "frame= 13 fps=3.1");
        differ("12 rows per table", "13 rows per table");
    }

    #[test]
    fn counters_sizes_and_percentages_count() {
        differ("✻ Baking (24s · ↓ 36 tokens)", "✻ Baking (25s · ↓ 37 tokens)");
        differ("Receiving objects: 42.9% (15873/37000)", "Receiving objects: 43.0% (15873/37000)");
        differ("4.77 MiB/19.07 MiB (3.69 KiB/s)", "4.78 MiB/19.07 MiB (3.69 KiB/s)");
        differ("tests/test_a.py .....", "tests/test_a.py ......");
        differ("size=N/A time=00:01:02.45 bitrate=N/A speed=6.1x", "size=N/A time=00:01:02.95 bitrate=N/A speed=6.1x");
        differ("......", ".......");
        differ("██████████▏         ", "███████████         ");
        differ("1714k 0 0 39295 0 0:01:41 0:00:44 0:00:57 39785", "1715k 0 0 39295 0 0:01:41 0:00:44 0:00:57 39785");
    }

    #[test]
    fn words_that_begin_like_a_day_or_a_month_are_none() {
        for what in [
            "Decoding 3 of 12",
            "Thumbnail 3 of 95",
            "Marking 3",
            "Mark 3",
            "Monitor 3",
            "Octets 3",
            "Satellite 3",
            "Augment 3",
            "Declared 3 symbols",
            "Maybe 3 left",
        ] {
            differ(what, &what.replace('3', "4"));
        }
        same("on Sept 3 2026", "on Sept 4 2026");
        same("on Tues, Dec 1", "on Thurs, Dec 3");
        same("on Monday, 16 November 2026", "on Tuesday, 17 November 2026");
        same("Mon. 16 Nov. 2026", "Tue. 17 Nov. 2026");
    }

    #[test]
    fn numbers_that_only_look_like_times_count() {
        differ("✻ Working (12s · ↓ 1.2m tokens)", "✻ Working (12s · ↓ 1.3m tokens)");
        differ("12.1m rows", "12.2m rows");
        differ("jobs 57:96 done", "jobs 57:97 done");
        differ("1149/12/3 passed", "1150/12/3 passed");
        differ("12/34/2026 passed", "12/35/2026 passed");
        same("1.2m left", "1.1m left");
    }

    #[test]
    fn times_in_every_form_do_not_count() {
        same("20261120T010203Z link", "20261120T010204Z link");
        same("20261120-010203 link", "20261120-010204 link");
        same("20261120T010203.123Z link", "20261120T010204.45Z link");
        differ("20261120 stored", "20261121 stored");
        same("Time left: 266", "Time left: 265");
        same("time remaining 266", "time remaining 265");
        differ("left: 266", "left: 265");
        same("sec=12, secs: 12", "sec=13, secs: 13");
        same("at 1763500000.123", "at 1763500001.456");
        differ("1763500000 bytes", "1763500001 bytes");
        same("{\"elapsed\":12.3}", "{\"elapsed\":12.4}");
        same("elapsed_ms=1200", "elapsed_ms=1300");
        differ("elapsed_rows=1200", "elapsed_rows=1300");
        same("3分前", "4分前");
    }

    #[test]
    fn a_curve_is_no_bar() {
        same("cpu ▁▃▅▇▅▃▁▂", "cpu ▃▅▇▅▃▁▂▄");
        same("cpu ▁▁▁▁▁▁▁▂", "cpu ▁▁▁▁▁▁▂▃");
        differ("███▁▁▁▁▁▁▁", "████▁▁▁▁▁▁");
    }

    #[test]
    fn glyphs_that_are_added_one_by_one_are_no_spinner() {
        for (before, text, row) in [
            ("•", "••", "••"),
            ("a.py ..", "a.py ...", "..."),
            ("..F", "..F.", "."),
            ("x ·", "x ··", "··"),
            (". .", ". . .", ". . ."),
        ] {
            assert_eq!(added_glyphs(before, text), row, "{before:?} to {text:?}");
        }
        for (before, text) in [
            ("", "•"),
            ("•", "∙"),
            ("•", "• done"),
            ("•", "• "),
            ("waiting..", "waiting..."),
            ("waiting .", "waiting . ."),
            ("(3s).", "(3s).."),
        ] {
            assert_eq!(added_glyphs(before, text), "", "{before:?} to {text:?}");
        }
    }

    #[test]
    fn names_and_versions_stay_whole() {
        for text in ["src/module_3.rs", "gemini-2.5-flash", "v0.86.2", "crate-5 v0.5.9", "10.0.3.95", "May I go?"] {
            assert_eq!(masked(text), text);
        }
    }
}
