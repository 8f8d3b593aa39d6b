//! From what was typed about limits and detection to what the watcher goes by.
#![forbid(unsafe_code)]

use crate::cli::{ActivityArg, DetectArgs, LimitArgs};
use crate::watch::{ActivityKind, Counting, LoopPolicy, Policy, Profile};

/// The policy for a command of this profile, as far as limits and detection decide it.
pub fn policy(limits: LimitArgs, detect: DetectArgs, profile: Option<Profile>) -> Policy {
    Policy {
        idle: limits.idle.0,
        timeout: limits.timeout.0,
        first_output: limits.first_output.0,
        max_idle: limits.max_idle.0,
        done: limits.done,
        done_idle: limits.done_idle,
        warn: limits.warn,
        activity: match detect.activity {
            ActivityArg::Screen => ActivityKind::Screen,
            ActivityArg::Bytes => ActivityKind::Bytes,
        },
        counting: Counting::new(detect.ignore, detect.only),
        loops: LoopPolicy {
            count: usize::from(detect.loop_count),
            lasting: detect.loop_for.0,
            patterns: detect.loop_pattern,
        },
        waiting: detect.waiting,
        profile,
        ..Policy::default()
    }
}
