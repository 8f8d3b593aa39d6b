//! Options that were typed and would do nothing: refused, with what is missing. In the other layers they stand for runs
//! that come.

use super::{Origin, Resolved};
use crate::cli::RunCli;
use crate::config::Config;
use crate::error::Error;
use crate::exit::Reason;
use crate::watch::{ActivityKind, Ladders, Step};

impl Resolved<RunCli> {
    /// Refuses the first of them.
    pub fn check_effect(&self, config: &Config) -> Result<(), Error> {
        let policy = &config.policy;
        let no_silence = policy.idle.is_none() && policy.first_output.is_none();
        let Ladders { looping, timeout, .. } = &policy.ladders;
        let nudges_elsewhere = looping.iter().chain(timeout).any(|step| *step == Step::Nudge(None));
        let bytes = policy.activity == ActivityKind::Bytes;
        let idle_off = "--idle is off; set it, as in --idle 5m";
        let loops_off = "--loop-for is off; set it, as in --loop-for 2m";
        let none_allowed = config.relaunches() && config.relaunch.most == 0;
        let after_end = config.relaunch.after_crash || config.relaunch.after_stuck;
        let nothing_typed = policy.nudges.texts.is_empty();
        let own_waits = self.origin("on-idle") != Origin::Default;
        let preserved = config.exit.preserve && config.exit.codes.iter().any(|own| own.reason != Reason::Error);
        let preserving =
            format!("{} keeps the command's own status; remove one of the two", self.named("preserve-status", 0));
        let never = "--max-relaunches is 0; set it to 1 or more";
        let no_nudge = "there is nothing to type; add --nudge TEXT";
        let no_relaunch = "nothing relaunches the command; add --relaunch stuck, crash or any";
        let cases = [
            ("report-always", config.report.is_none(), "there is no report to write; add --report FILE.html"),
            // A report says how to go on, and quotes it.
            ("relaunch-with", !config.relaunches() && config.report.is_none(), no_relaunch),
            ("max-relaunches", !config.relaunches(), no_relaunch),
            ("relaunch-delay", !config.relaunches(), no_relaunch),
            ("relaunch", after_end && none_allowed, never),
            ("relaunch-delay", none_allowed, never),
            ("nudge-wait", nothing_typed, no_nudge),
            ("nudge-wait", own_waits, "--on-idle sets its own pauses; use wait:DUR steps in it"),
            ("max-nudges", nothing_typed && !config.nudges(), no_nudge),
            ("max-idle", no_silence, idle_off),
            ("guard", no_silence, idle_off),
            ("exit-code", preserved, &preserving),
            ("on-timeout", policy.timeout.is_none(), "there is no time limit; add one, as in --timeout 2h"),
            ("done-idle", policy.done.is_none(), "nothing tells when the command is done; add --done REGEX"),
            ("on-idle", no_silence, idle_off),
            ("on-waiting", no_silence, idle_off),
            ("nudge", no_silence && !nudges_elsewhere, idle_off),
            ("on-loop", policy.loops.lasting.is_none(), loops_off),
            ("only", bytes, "with --activity bytes every byte counts; remove one of the two"),
            ("ignore", bytes, "with --activity bytes every byte counts; remove one of the two"),
        ];
        match cases.iter().find(|(name, is_idle, _)| *is_idle && self.origin(name) == Origin::Flag) {
            Some((name, _, why)) => Err(Error::usage(format!("--{name} would have no effect: {why}"))),
            None => self.check_ceiling(config).and_then(|()| self.check_nudges(config)),
        }
    }

    /// Refuses a ceiling below the limit that it is above: the command would be ended at the limit, whatever guards say.
    fn check_ceiling(&self, config: &Config) -> Result<(), Error> {
        let policy = &config.policy;
        let limits = [("first-output", policy.first_output), ("idle", policy.idle)];
        let lowest =
            limits.into_iter().filter_map(|(name, limit)| Some((name, limit?))).min_by_key(|(_, limit)| *limit);
        match (policy.max_idle, lowest) {
            (Some(ceiling), Some((name, limit))) if ceiling < limit && self.origin("max-idle") == Origin::Flag => {
                Err(Error::usage(format!(
                    "--max-idle {} is less than --{name} {}, which leaves guards nothing to defer; raise it, or disable guards \
                     with --no-guard",
                    humantime::format_duration(ceiling),
                    humantime::format_duration(limit)
                )))
            }
            _ => Ok(()),
        }
    }

    /// Refuses a nudge that would never be typed: a ladder of the same layer or of a lower one has no room for it. A
    /// ladder of a higher layer was meant to replace it.
    fn check_nudges(&self, config: &Config) -> Result<(), Error> {
        let (nudge, ladder) = (self.origin("nudge"), self.origin("on-idle"));
        let Ladders { idle, looping, waiting, timeout } = &config.policy.ladders;
        let mut steps = idle.iter().chain(looping).chain(waiting.iter().flatten()).chain(timeout);
        let given = !config.policy.nudges.texts.is_empty() && ladder != Origin::Default;
        if !given || nudge.height() < ladder.height() || steps.any(|step| *step == Step::Nudge(None)) {
            return Ok(());
        }
        Err(Error::usage(format!(
            "the text of nudge ({nudge}) would never be typed: on-idle ({ladder}) has no step 'nudge'; add the step, as in \
             warn,nudge,wait:1m,stop, or remove one of the two"
        )))
    }

    /// Whether what is to be typed into the command was asked for with this command line. In the other layers it stands
    /// for runs in which it can be.
    pub fn insists_on_typing(&self, config: &Config) -> bool {
        let Ladders { idle, looping, waiting, timeout } = &config.policy.ladders;
        let waiting = waiting.as_deref().unwrap_or_default();
        let ladders = [("on-idle", &**idle), ("on-loop", looping), ("on-waiting", waiting), ("on-timeout", timeout)];
        let types = |steps: &[Step]| steps.iter().any(|step| matches!(step, Step::Nudge(_) | Step::Key(_)));
        let is_flag = |name: &str| self.origin(name) == Origin::Flag;
        is_flag("nudge") || ladders.iter().any(|(name, steps)| is_flag(name) && types(steps))
    }
}
