//! What is in force, option by option, as it would be written.

use std::time::Duration;

use super::{Config, Pty, Stdin};
use crate::watch::{ActivityKind, Pattern, format_ladder};

impl Config {
    /// The options that decide what was done, with their values.
    pub fn in_force(&self) -> Vec<(&'static str, String)> {
        let policy = &self.policy;
        let waiting = policy.ladders.waiting.as_ref();
        let mut all = vec![
            ("idle", limit(policy.idle)),
            ("timeout", limit(policy.timeout)),
            ("first-output", limit(policy.first_output)),
            ("max-idle", limit(policy.max_idle)),
            ("warn", format!("{}%", policy.warn)),
            ("activity", if policy.activity == ActivityKind::Screen { "screen" } else { "bytes" }.to_owned()),
            ("loop", policy.loops.count.to_string()),
            ("loop-for", limit(policy.loops.lasting)),
            ("profile", policy.profile.as_ref().map_or_else(|| "none".to_owned(), |profile| profile.name.clone())),
            ("guard", some_of(policy.guards.iter().map(ToString::to_string))),
            ("nudge", some_of(policy.nudges.texts.iter().cloned())),
            ("max-nudges", policy.nudges.most.to_string()),
            ("signal", policy.ending.signal.to_string()),
            ("kill-after", limit(policy.ending.kill_after)),
            ("on-idle", format_ladder(&policy.ladders.idle)),
            ("on-loop", format_ladder(&policy.ladders.looping)),
            (
                "on-waiting",
                waiting.map_or_else(|| "attended: warn; unattended: as on-idle".to_owned(), |l| format_ladder(l)),
            ),
            ("on-timeout", format_ladder(&policy.ladders.timeout)),
        ];
        if let Some(done) = &policy.done {
            all.push(("done", done.source().to_owned()));
            all.push(("done-idle", limit(Some(policy.done_idle))));
        }
        let patterns = |patterns: &[Pattern]| some_of(patterns.iter().map(|pattern| pattern.source().to_owned()));
        for (name, list) in [("loop-pattern", &policy.loops.patterns), ("waiting", &policy.waiting)] {
            if !list.is_empty() {
                all.push((name, patterns(list)));
            }
        }
        if self.relaunches() {
            let after = match (self.relaunch.after_crash, self.relaunch.after_stuck) {
                (true, true) => "any",
                (true, false) => "crash",
                (false, true) => "stuck",
                (false, false) => "only by a step of a ladder",
            };
            all.push(("relaunch", after.to_owned()));
            all.push(("max-relaunches", self.relaunch.most.to_string()));
            all.push(("relaunch-delay", limit(Some(self.relaunch.delay))));
        }
        let pty = match self.pty {
            Pty::Always => "always",
            Pty::Mirror => "mirror",
            Pty::Never => "never",
        };
        let stdin = match self.stdin {
            Stdin::Auto => "auto",
            Stdin::Pty => "pty",
            Stdin::Inherit => "inherit",
            Stdin::Null => "null",
        };
        all.extend([("pty", pty.to_owned()), ("stdin", stdin.to_owned())]);
        all
    }
}

fn limit(limit: Option<Duration>) -> String {
    limit.map_or_else(|| "off".to_owned(), |limit| humantime::format_duration(limit).to_string())
}

fn some_of(all: impl Iterator<Item = String>) -> String {
    let all: Vec<String> = all.collect();
    if all.is_empty() { "none".to_owned() } else { all.join(", ") }
}
