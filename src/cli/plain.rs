//! A command line that is nothing but the command to run.
//!
//! Most are, and to build the parser takes longer than everything else that happens before the command is started. So
//! what the options are where none is given stands here once more; a test holds it against what the parser makes of it.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

use super::{
    ActivityArg, DetectArgs, ExitArgs, GuardArgs, LadderArgs, Limit, LimitArgs, PtyArg, RecordArgs, RelaunchArg,
    RelaunchArgs, RunCli, SayArgs, SourceArgs, StdinArg, TerminalArgs,
};
use crate::signal::Signal;
use crate::watch::Guard;

/// The command in `args`, of which the first is the name of the program, where there is nothing else in them.
pub(super) fn only_command(args: &[OsString]) -> Option<&[OsString]> {
    match args {
        [_, dashes, command @ ..] if dashes == "--" && !command.is_empty() => Some(command),
        [_, command @ ..] if !matches!(command.first()?.as_bytes(), [] | [b'-', ..]) => Some(command),
        _ => None,
    }
}

const fn minutes(count: u64) -> Duration {
    Duration::from_secs(60 * count)
}

impl RunCli {
    /// The command line with this command and no option.
    pub fn without_options(command: Vec<OsString>) -> Self {
        Self {
            command,
            limits: LimitArgs {
                idle: Limit(Some(minutes(5))),
                timeout: Limit(None),
                first_output: Limit(None),
                max_idle: Limit(Some(minutes(30))),
                done: None,
                done_idle: minutes(1),
                warn: 60,
            },
            detect: DetectArgs {
                activity: ActivityArg::Screen,
                ignore: Vec::new(),
                only: Vec::new(),
                loop_count: 5,
                loop_for: Limit(Some(minutes(2))),
                loop_pattern: Vec::new(),
                waiting: Vec::new(),
                profile: "auto".to_owned(),
            },
            guards: GuardArgs { guard: vec![Guard::Cpu, Guard::Disk, Guard::Net, Guard::Turn], no_guard: false },
            ladder: LadderArgs {
                nudge: Vec::new(),
                max_nudges: None,
                nudge_wait: minutes(1),
                signal: Signal::TERM,
                kill_after: Limit(Some(Duration::from_secs(10))),
                on_idle: None,
                on_loop: None,
                on_waiting: None,
                on_timeout: None,
            },
            relaunch: RelaunchArgs {
                relaunch: RelaunchArg::Off,
                relaunch_with: None,
                max_relaunches: 3,
                relaunch_delay: Duration::from_secs(1),
            },
            exit: ExitArgs { exit_code: Vec::new(), preserve_status: false },
            records: RecordArgs {
                events: None,
                progress_every: Limit(Some(Duration::from_secs(30))),
                report: None,
                report_always: false,
                checkpoint: None,
                record: None,
                heartbeat: Limit(None),
                no_notify: false,
                no_history: false,
            },
            say: SayArgs { explain: false, verbose: false, quiet: false },
            terminal: TerminalArgs { pty: PtyArg::Always, stdin: StdinArg::Auto, size: None },
            source: SourceArgs { config: None },
            print_config: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use clap::Parser;

    use super::*;

    fn args(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    #[test]
    fn the_parser_makes_the_same_of_it() {
        let strange =
            vec!["idlewatch".into(), OsString::from_vec(b"\xff".to_vec()), OsString::from_vec(b"-\xfe".to_vec())];
        let lines = [
            args(&["idlewatch", "true"]),
            args(&["idlewatch", "--", "true"]),
            args(&["idlewatch", "--", "--", "true"]),
            args(&["idlewatch", "--", "-t", "5"]),
            args(&["idlewatch", "--", ""]),
            args(&["idlewatch", "--", "", "--help"]),
            args(&["idlewatch", "sh", "-c", "x", "--", "--quiet", "-"]),
            args(&["idlewatch", "make", "--", "all"]),
            args(&["idlewatch", "make", "--help", "--version", "-h"]),
            args(&["", "a b", "", " "]),
            strange,
        ];
        for line in lines {
            let command = only_command(&line).unwrap_or_else(|| panic!("{line:?} has options"));
            let parsed = RunCli::try_parse_from(&line).unwrap_or_else(|error| panic!("{line:?}: {error}"));
            assert_eq!(format!("{parsed:?}"), format!("{:?}", RunCli::without_options(command.to_vec())));
        }
    }

    #[test]
    fn what_may_be_an_option_is_left_to_the_parser() {
        for line in [
            &[][..],
            &["idlewatch"],
            &["idlewatch", "--"],
            &["idlewatch", ""],
            &["idlewatch", "-"],
            &["idlewatch", "-q", "true"],
            &["idlewatch", "--quiet", "--", "true"],
            &["idlewatch", "--help"],
        ] {
            assert_eq!(only_command(&args(line)), None, "{line:?}");
        }
    }
}
