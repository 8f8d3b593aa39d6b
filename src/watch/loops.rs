//! Is it looping? It keeps printing, and nothing is new.
//!
//! A line is a repeat when the same text, times and ids masked, has come `count` times among the last lines. While
//! nearly all lines are repeats, whatever their order and whatever the length of the cycle, the run lasts. Rounds that
//! bring a line nobody has seen, and that is no complaint, are work with complaints in it.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use super::complaint::Tone;
use super::line_form::LineForm;
use super::seen::{Seen, hash};
use super::words::{quote, span};
use super::{Moment, Pattern};

/// The longest cycle that is recognised.
const LONGEST_CYCLE: usize = 64;
/// So many lines are remembered at the most. Whoever wants more rounds than that of a long cycle gets those of a short one.
const MOST_LINES: usize = 1 << 16;
/// Lines that come all at once are a list, not a loop.
const BATCH: Duration = Duration::from_secs(1);
/// Texts that are remembered for each pattern of the user's.
const CAPTURES: usize = 1024;
/// Lines without a complaint in them that come slower than this are a heartbeat, not a loop.
const HEARTBEAT: Duration = Duration::from_millis(500);
/// A run that has stopped printing for this long is over: what follows is silence.
const OVER: Duration = Duration::from_mins(1);

/// However slow a loop is, after this long it is silence.
const LONGEST_PATIENCE: Duration = Duration::from_mins(15);

/// When repetition is a loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopPolicy {
    /// A cycle seen this often is suspected.
    pub count: usize,
    /// Lasting this long with nothing new it is a loop; none: never.
    pub lasting: Option<Duration>,
    /// The same captured text so often is a loop, whatever lies between.
    pub patterns: Vec<Pattern>,
}

impl Default for LoopPolicy {
    fn default() -> Self {
        Self { count: 5, lasting: Some(Duration::from_mins(2)), patterns: Vec::new() }
    }
}

/// What repeats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repetition {
    /// A line of the cycle as it was last printed.
    pub pattern: String,
    /// The lines differ in times, numbers or ids, and this is one of them; otherwise it is the text of each.
    pub varies: bool,
    /// How often it came.
    pub count: usize,
    /// The time from one to the next.
    pub period: Duration,
}

impl Repetition {
    /// What came how often, in words.
    pub fn in_words(&self) -> String {
        let like = if self.varies { "lines like " } else { "" };
        format!("{like}{} seen {} times, every {}", quote(&self.pattern), self.count, span(self.period))
    }
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    hash: u64,
    at: Moment,
    news: bool,
}

#[derive(Debug)]
struct Run {
    since: Moment,
    last: Moment,
    repeats: usize,
    news: usize,
    complains: bool,
    warned: bool,
    what: Repetition,
}

/// The memory of the last lines.
#[derive(Debug, Default)]
pub(super) struct Loops {
    recent: VecDeque<Entry>,
    counts: HashMap<u64, usize>,
    seen: Seen,
    /// What was written over.
    drawn: Seen,
    form: LineForm,
    before: String,
    run: Option<Run>,
    /// When something last came that was new, or a run was broken off: what repeats, repeats since then.
    renewed: Option<Moment>,
    captures: HashMap<u64, (usize, Moment)>,
}

impl Loops {
    /// Takes in a line. Gives what repeats, once per run, when it becomes suspicious.
    pub(super) fn line(&mut self, now: Moment, text: &str, policy: &LoopPolicy) -> Option<Repetition> {
        if let Some(found) = self.captured(now, text, policy) {
            return Some(found);
        }
        let known = self.form.hash(text);
        // Only what is taken for the same by its form may be of another wording.
        let varies = known.is_some() && self.form.varies(text);
        let found = known.or_else(|| self.twice_on_end(text));
        self.before.clear();
        self.before.push_str(text);
        let (hash, tone) = found?;
        let news = self.is_news(tone);
        if news {
            self.renew(now);
        }
        let count = self.count(Entry { hash, at: now, news }, policy);
        if self.run.as_ref().is_some_and(|run| now.since(run.last) > OVER.max(run.what.period * 4)) {
            self.run = None;
        }
        if count < policy.count {
            self.disturb(now);
            return None;
        }
        let what = Repetition { pattern: text.trim().to_owned(), varies, count, period: Duration::ZERO };
        self.repeated((hash, tone), now, what, policy)
    }

    /// A line that says next to nothing, as `y` or a row of dots: where it comes twice on end it is no frame of a table.
    fn twice_on_end(&self, text: &str) -> Option<(u64, Tone)> {
        let plain = Tone { complains: false, retries: false, share: false };
        (self.before == text).then(|| (hash(text), plain))
    }

    /// A line was written over. Where it held a number that it never held, as a bar does between two warnings, the work
    /// goes on.
    pub(super) fn overwritten(&mut self, now: Moment, text: &str) {
        let Some((hash, tone)) = self.form.hash(text) else { return };
        let counts = text.contains(|c: char| c.is_ascii_digit()) && !tone.retries && !tone.complains;
        if counts && self.drawn.is_new_hash(hash) {
            self.renew(now);
        }
    }

    /// Something new came: from now on nothing has been new.
    fn renew(&mut self, now: Moment) {
        self.renewed = Some(now);
        if let Some(run) = &mut self.run {
            run.since = now;
        }
    }

    /// Something else than a repeat came.
    fn disturb(&mut self, now: Moment) {
        if let Some(run) = &mut self.run {
            run.news += 1;
            if run.news > 4 + run.repeats / 2 {
                self.run = None;
                self.renewed = Some(now);
            }
        }
    }

    /// Another round of the same is no news for its number, and neither is another complaint.
    fn is_news(&mut self, tone: Tone) -> bool {
        let words = self.form.hash_of_words(tone);
        self.seen.is_new_hash(words) && !tone.complains && !tone.retries
    }

    fn count(&mut self, entry: Entry, policy: &LoopPolicy) -> usize {
        self.recent.push_back(entry);
        let count = self.counts.entry(entry.hash).or_default();
        *count += 1;
        let count = *count;
        if self.recent.len() > (policy.count + 1).saturating_mul(LONGEST_CYCLE).min(MOST_LINES)
            && let Some(oldest) = self.recent.pop_front()
            && let Some(left) = self.counts.get_mut(&oldest.hash)
        {
            *left -= 1;
            if *left == 0 {
                self.counts.remove(&oldest.hash);
            }
        }
        count
    }

    fn repeated(
        &mut self,
        (hash, Tone { complains, .. }): (u64, Tone),
        now: Moment,
        mut what: Repetition,
        policy: &LoopPolicy,
    ) -> Option<Repetition> {
        let complains = complains && self.is_common(what.count);
        let (round, news) = self.goes_round(hash, policy);
        let first = self.recent.iter().find(|entry| entry.hash == hash).map_or(now, |entry| entry.at);
        what.period = now.since(first) / u32::try_from(what.count - 1).unwrap_or(u32::MAX).max(1);
        let run = self.run.get_or_insert_with(|| Run {
            since: self.renewed.map_or(first, |renewed| first.max(renewed)),
            last: now,
            repeats: 0,
            news: 0,
            complains,
            warned: false,
            what: what.clone(),
        });
        run.repeats += 1;
        run.last = now;
        // The line that complains says best what is wrong.
        if complains || !run.complains {
            run.what = what;
        }
        run.complains |= complains;
        let suspicious = round && now.since(run.since) >= BATCH;
        let first_time = suspicious && !run.warned;
        run.warned |= suspicious;
        let warning = first_time.then(|| run.what.clone());
        if news {
            self.disturb(now);
        }
        warning
    }

    /// Whether a line that came `count` times comes about as often as the others that repeat. A complaint now and then
    /// in the log of a busy server is no loop.
    fn is_common(&self, count: usize) -> bool {
        const SELDOM: usize = 4;
        self.counts.values().all(|other| *other <= count * SELDOM)
    }

    /// Whether every line since this one last came, or nearly every one, keeps coming; and whether one was news.
    fn goes_round(&self, hash: u64, policy: &LoopPolicy) -> (bool, bool) {
        let before = self.recent.iter().rev().skip(1);
        let between: Vec<&Entry> = before.take_while(|other| other.hash != hash).collect();
        let again = |entry: &&&Entry| self.counts.get(&entry.hash).is_some_and(|count| *count + 1 >= policy.count);
        let round = between.len() <= LONGEST_CYCLE && between.iter().filter(again).count() * 4 >= between.len() * 3;
        let news = between.iter().any(|entry| entry.news);
        (round && !news, news)
    }

    /// What a pattern of the user's has found often enough.
    pub(super) fn captured(&mut self, now: Moment, text: &str, policy: &LoopPolicy) -> Option<Repetition> {
        let capture = policy.patterns.iter().find_map(|pattern| pattern.captured(text))?;
        if self.captures.len() >= CAPTURES {
            self.captures.clear();
        }
        let (count, first) = self.captures.entry(hash(&capture)).or_insert((0, now));
        *count += 1;
        if *count < policy.count {
            return None;
        }
        let others = u32::try_from(*count - 1).unwrap_or(u32::MAX).max(1);
        let period = now.since(*first) / others;
        let what = Repetition { pattern: capture.into_owned(), varies: false, count: *count, period };
        let warn = *count == policy.count;
        let since = *first;
        self.run =
            Some(Run { since, last: now, repeats: *count, news: 0, complains: true, warned: true, what: what.clone() });
        warn.then_some(what)
    }

    /// What is a loop by now, and since when.
    pub(super) fn looping(&self, now: Moment, policy: &LoopPolicy) -> Option<(&Repetition, Moment)> {
        let run = self.run.as_ref().filter(|run| run.warned && run.is_serious() && !run.is_over(now))?;
        (now.since(run.since) >= policy.lasting?).then_some((&run.what, run.since))
    }

    /// From 0, nothing repeats, to 100, a loop.
    pub(super) fn suspicion(&self, now: Moment, policy: &LoopPolicy) -> u8 {
        let Some(run) = self.run.as_ref().filter(|run| !run.is_over(now)) else { return 0 };
        let lasting = policy.lasting.unwrap_or(Duration::MAX).as_secs_f64().max(1.0);
        let share = (now.since(run.since).as_secs_f64() / lasting).min(1.0);
        let (least, most) = match (run.warned, run.is_serious()) {
            (false, _) => (10.0, 30.0),
            (true, false) => (25.0, 45.0),
            (true, true) => (50.0, 100.0),
        };
        // In range by construction.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let suspicion = (least + (most - least) * share) as u8;
        suspicion
    }

    /// When [`looping`](Self::looping) changes if nothing happens before.
    pub(super) fn deadline(&self, now: Moment, policy: &LoopPolicy) -> Option<Moment> {
        let run = self.run.as_ref().filter(|run| run.warned && run.is_serious() && !run.is_over(now))?;
        let starts = run.since + policy.lasting?;
        Some(if now < starts { starts } else { run.last + run.patience() })
    }
}

impl Run {
    /// A plain line at a steady, slow pace is a sign of life; a complaint, or a flood, is a loop.
    fn is_serious(&self) -> bool {
        self.complains || self.what.period < HEARTBEAT
    }

    fn patience(&self) -> Duration {
        (self.what.period * 3).clamp(Duration::from_secs(5), LONGEST_PATIENCE)
    }

    fn is_over(&self, now: Moment) -> bool {
        now.since(self.last) >= self.patience()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warnings(lines: impl Iterator<Item = String>) -> Vec<Repetition> {
        let (mut loops, policy) = (Loops::default(), LoopPolicy::default());
        let at = |index: usize| Moment::after_start(Duration::from_millis(index as u64 * 250));
        lines.enumerate().filter_map(|(index, line)| loops.line(at(index), &line, &policy)).collect()
    }

    fn cycle(length: usize, rounds: usize) -> impl Iterator<Item = String> {
        (0..length * rounds)
            .map(move |n| format!("2026-11-16 00:00:{:02} error in step {}", n % 60, "x".repeat(n % length)))
    }

    #[test]
    fn cycles_of_every_length_are_seen_through_changing_times() {
        for length in [1, 2, 3, 12, 40, 64] {
            assert_eq!(warnings(cycle(length, 8)).len(), 1, "cycle of {length}");
        }
    }

    #[test]
    fn many_rounds_are_counted_where_they_are_asked_for() {
        for (length, count) in [(1, 5000), (64, 100)] {
            let (mut loops, policy) = (Loops::default(), LoopPolicy { count, ..LoopPolicy::default() });
            let at = |index: usize| Moment::after_start(Duration::from_millis(index as u64 * 250));
            let lines = cycle(length, count + 3).enumerate();
            let found = lines.filter_map(|(index, line)| loops.line(at(index), &line, &policy));
            assert_eq!(found.count(), 1, "{count} of {length}");
        }
    }

    #[test]
    fn a_complaint_with_another_number_is_the_same_complaint() {
        let found = warnings((0..50).map(|n| format!("warning: skipped block {n}: no data")));
        assert_eq!(found.len(), 1);
        assert!(found[0].pattern.starts_with("warning: skipped block"));
        assert!(found[0].in_words().starts_with("lines like 'warning: skipped block"), "{}", found[0].in_words());
    }

    #[test]
    fn what_came_as_it_is_quoted_is_said_to_have_come() {
        let said = |line: &str| warnings((0..50).map(|_| line.to_owned())).remove(0).in_words();
        assert!(said("error: cannot connect").starts_with("'error: cannot connect' seen "));
        assert!(said("  error: cannot connect ").starts_with("'error: cannot connect' seen "));
        assert!(said("12:00:01 error: cannot connect").starts_with("lines like '12:00:01 error: "));
    }

    #[test]
    fn a_complaint_with_another_id_is_the_same_complaint() {
        let id = |n: usize| format!("{:x}Xk{}", n * 7919, n * 31 % 97);
        assert_eq!(warnings((0..50).map(|n| format!("error: 529, \"request_id\":\"req_011CS{}\"", id(n)))).len(), 1);
        assert_eq!(warnings((0..50).map(|n| format!("cp: cannot create '/tmp/tmp.{}'", id(n)))).len(), 1);
        assert_eq!(warnings((0..50).map(|n| format!("error: see 2026-11-17T14_02_{n:02}_123Z-debug-0.log"))).len(), 1);
        assert_eq!(warnings((0..50).map(|n| format!("error: batch 14_{n:02}-7 is lost"))).len(), 1);
        assert_eq!(warnings((0..50).map(|n| format!("warning: src/part{n}_test_{n}.rs: unused"))), []);
    }

    #[test]
    fn an_agent_that_makes_the_same_failing_call_is_seen_in_its_log_of_json() {
        let mut last = 1_u64;
        let mut id = || {
            let letters = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
            let mut next = || {
                last = last.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                char::from(letters[usize::try_from(last >> 33).unwrap() % letters.len()])
            };
            (0..22).map(|_| next()).collect::<String>()
        };
        let mut rounds = |command: fn(usize) -> String| {
            let lines: Vec<String> = (0..60)
                .flat_map(|n| {
                    let (call, said, tokens) = (id(), id(), 1000 + n * 137);
                    let asks = format!(
                        "{{\"type\":\"assistant\",\"id\":\"msg_01{said}\",\"content\":[{{\"type\":\"tool_use\",\"id\":\"toolu_01{call}\",\
                         \"input\":{{\"command\":\"{}\"}}}}],\"usage\":{{\"input_tokens\":3,\"cache_read_input_tokens\":{tokens}}}}}",
                        command(n)
                    );
                    let fails = format!(
                        "{{\"type\":\"user\",\"content\":\"cat: x: No such file\",\"is_error\":true,\"tool_use_id\":\"toolu_01{call}\"}}"
                    );
                    [asks, fails]
                })
                .collect();
            warnings(lines.into_iter()).len()
        };
        assert_eq!(rounds(|_| "cat x".to_owned()), 1);
        assert_eq!(rounds(|n| format!("cat {}", "part/".repeat(n + 1))), 0);
    }

    #[test]
    fn work_that_looks_alike_is_not_a_loop() {
        let compiling = (0..500).map(|n| format!("   Compiling crate-{n} v0.{n}.1"));
        let table = (0..200).flat_map(|n| ["+-----+-----+".to_owned(), format!("| row | {n} |")]);
        let failing = (0..300).map(|n| format!("tests/test_{n}.py::test_it FAILED [{}%]", n / 3));
        let epochs = (0..100).flat_map(|n| [format!("Epoch {n}/100"), format!("loss: 0.{n}")]);
        assert_eq!(warnings(compiling), []);
        assert_eq!(warnings(table), []);
        assert_eq!(warnings(failing), []);
        assert_eq!(warnings(epochs), []);
    }

    #[test]
    fn complaints_with_something_new_between_them_are_no_loop() {
        let same =
            ["In file included from a.h:12:", "a.h:3: warning: deprecated", "  3 | old p;", "note: declared here"];
        let building = |n: usize| [format!("Building src/part{n}.cpp")].into_iter().chain(same.map(str::to_owned));
        assert_eq!(warnings((0..100).flat_map(building)), []);
        let trying = |n: usize| [format!("== Round {n} ==")].into_iter().chain(same.map(str::to_owned));
        assert_eq!(warnings((0..100).flat_map(trying)).len(), 1);
    }

    #[test]
    fn a_heartbeat_is_suspected_and_never_a_loop() {
        let (mut loops, policy) = (Loops::default(), LoopPolicy::default());
        let at = |seconds: u64| Moment::after_start(Duration::from_secs(seconds));
        for n in 0..600 {
            loops.line(at(n), "GET /health 200", &policy);
            assert_eq!(loops.looping(at(n), &policy), None);
        }
        assert!(loops.suspicion(at(600), &policy) < 50);
    }

    #[test]
    fn a_captured_text_repeats_whatever_lies_between() {
        let policy = LoopPolicy { patterns: vec![Pattern::trusted("^Run: (.*)$")], ..LoopPolicy::default() };
        let mut loops = Loops::default();
        let found: Vec<_> = (0..10)
            .flat_map(|n| [format!("Run: make {}", n % 2), format!("something new {n}")])
            .filter_map(|line| loops.line(Moment::START, &line, &policy))
            .collect();
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].in_words(), "'make 0' seen 5 times, every 0ms");
    }

    #[test]
    fn what_differs_in_any_group_is_no_repeat() {
        let policy = LoopPolicy { patterns: vec![Pattern::trusted(r"(Read|Write)\((.*)\)")], ..LoopPolicy::default() };
        let found = |file: fn(usize) -> String| {
            let mut loops = Loops::default();
            let lines = (0..16).map(|n| format!("Read({})", file(n)));
            lines.filter_map(|line| loops.captured(Moment::START, &line, &policy)).collect::<Vec<_>>()
        };
        assert_eq!(found(|n| format!("file{n}.c")), []);
        let same = found(|_| "a.c".to_owned());
        assert_eq!((same.len(), &*same[0].pattern), (1, "Read a.c"));
    }
}
