//! What no input may do: one entry for the fuzzer and for the property tests.

use std::time::Duration;

use super::{Action, Event, Known, Look, Moment, Observation, Policy, Size, Stream, Watcher};

/// Reads `script` as a list of things that happen, shows them to a watcher, and panics if it breaks a promise:
/// deadlines lie ahead, every verdict has evidence, the cursor is on the screen, a picture shows what is there, and nothing
/// takes for ever.
///
/// A script is a list of operations: a byte that says what, a byte that says how much, and so many bytes of data.
pub fn survive(script: &[u8]) -> Vec<(Moment, Event)> {
    survive_with(script, Some(20));
    survive_with(script, None)
}

fn survive_with(script: &[u8], picture: Option<usize>) -> Vec<(Moment, Event)> {
    let loops = super::LoopPolicy { lasting: Some(Duration::from_secs(20)), ..super::LoopPolicy::default() };
    let mut watcher = Watcher::new(Policy { idle: Some(Duration::from_secs(30)), loops, picture, ..Policy::default() });
    let mut now = Moment::START;
    let mut events = Vec::new();
    let mut rest = script;
    while let [what, amount, after @ ..] = rest {
        let (data, next) = after.split_at(usize::from(*amount).min(after.len()));
        let amount = u16::from(*amount);
        let known = if amount % 2 == 0 { Known::Yes } else { Known::No };
        let stream = [Stream::Terminal, Stream::Stdout, Stream::Stderr][usize::from(amount % 3)];
        let observation = match what % 8 {
            0..=2 => Observation::Output { stream: Stream::Terminal, bytes: data },
            3 => Observation::Output { stream, bytes: data },
            4 => Observation::Typed(data),
            5 => Observation::Resized(Size { cols: amount, rows: u16::from(*what) / 8 }),
            6 => Observation::Looked(Look { reads_terminal: known, ..Look::default() }),
            _ => Observation::Elapsed,
        };
        // Operations that carry no text use the data as more operations.
        rest = if matches!(what % 8, 0..=4) { next } else { after };
        now = now + Duration::from_millis(u64::from(*what) * u64::from(amount) / 4);
        let mut steps = 0;
        while let Some(deadline) = watcher.deadline().filter(|deadline| *deadline <= now) {
            check(&mut watcher, deadline, &Observation::Elapsed, &mut events);
            steps += 1;
            assert!(steps < 1000, "deadlines without end before {now:?}");
        }
        check(&mut watcher, now, &observation, &mut events);
        if picture.is_some() {
            check_picture(&mut watcher);
        }
    }
    events
}

fn check(watcher: &mut Watcher, now: Moment, observation: &Observation<'_>, events: &mut Vec<(Moment, Event)>) {
    for action in watcher.observe(now, observation) {
        if let Action::Report(event) = action {
            if let Event::StateChanged { from, to, evidence } = &event {
                assert_ne!(from, to);
                assert!(!evidence.is_empty(), "{to} without evidence");
            }
            events.push((now, event));
        }
    }
    assert!(watcher.deadline().is_none_or(|deadline| deadline > now), "a deadline that has passed");
    assert!(!watcher.explain(now).is_empty());
    let (row, col) = watcher.cursor();
    assert!((1..=1000).contains(&row) && (1..=1000).contains(&col), "cursor at {row}, {col}");
}

fn check_picture(watcher: &mut Watcher) {
    let mut rows = watcher.rows();
    while rows.last().is_some_and(String::is_empty) {
        rows.pop();
    }
    let mut picture = watcher.picture();
    // A row of nothing but colour is a row of the picture.
    while picture.text().last().is_some_and(String::is_empty) {
        picture.rows.pop();
    }
    assert_eq!(picture.text(), rows);
    assert!(picture.above.len() <= 20, "{} lines above", picture.above.len());
}
