//! Options that were typed and would do nothing: refused, with what is missing. In the other layers they stand for runs
//! that come.

use super::{Origin, Resolved};
use crate::cli::RunCli;
use crate::config::Config;
use crate::error::Error;
use crate::watch::{ActivityKind, Ladders, Step};

impl Resolved<RunCli> {
    /// Refuses the first of them.
    pub fn check_effect(&self, config: &Config) -> Result<(), Error> {
        let policy = &config.policy;
        let no_silence = policy.idle.is_none() && policy.first_output.is_none();
        let Ladders { looping, timeout, .. } = &policy.ladders;
        let nudges_elsewhere = looping.iter().chain(timeout).any(|step| *step == Step::Nudge(None));
        let bytes = policy.activity == ActivityKind::Bytes;
        let idle_off = "--idle is off; give it a limit, as in --idle 5m";
        let loops_off = "--loop-for is off; give it a time, as in --loop-for 2m";
        let no_relaunch = "nothing would start the command again; add --relaunch stuck, crash or any";
        let cases = [
            ("report-always", config.report.is_none(), "there is no report to write; add --report FILE.html"),
            // A report says how to go on, and quotes it.
            ("relaunch-with", !config.relaunches() && config.report.is_none(), no_relaunch),
            ("max-relaunches", !config.relaunches(), no_relaunch),
            ("relaunch-delay", !config.relaunches(), no_relaunch),
            ("on-timeout", policy.timeout.is_none(), "there is no limit on the whole; add --timeout 2h"),
            ("done-idle", policy.done.is_none(), "nothing says that the command is done; add --done REGEX"),
            ("on-idle", no_silence, idle_off),
            ("on-waiting", no_silence, idle_off),
            ("nudge", no_silence && !nudges_elsewhere, idle_off),
            ("on-loop", policy.loops.lasting.is_none(), loops_off),
            ("only", bytes, "with --activity bytes every byte counts; leave one of the two out"),
            ("ignore", bytes, "with --activity bytes every byte counts; leave one of the two out"),
        ];
        match cases.iter().find(|(name, is_idle, _)| *is_idle && self.origin(name) == Origin::Flag) {
            Some((name, _, why)) => Err(Error::usage(format!("--{name} would do nothing: {why}"))),
            None => self.check_nudges(config),
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
             warn,nudge,wait:1m,stop, or leave one of the two out"
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
