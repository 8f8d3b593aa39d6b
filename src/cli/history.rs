//! `idlewatch ctl history`: which runs of the past are shown.

use clap::Args;

use super::hints::{self, hinted};
use super::values;

/// Which runs of the past.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(args_override_self = true)]
pub struct HistoryArgs {
    /// Only runs that ended for this reason, for example idle_timeout ('exited': by themselves)
    #[arg(long, value_name = "REASON", value_parser = hinted(reason, hints::endings))]
    #[arg(hide_possible_values = true)]
    pub reason: Option<String>,

    /// Only runs that began within this time
    #[arg(long, value_name = "DUR", value_parser = values::duration)]
    pub since: Option<std::time::Duration>,

    /// Only runs with this text in their command
    #[arg(long, value_name = "TEXT")]
    pub command: Option<String>,

    /// At most this many, the newest
    #[arg(short = 'n', long, value_name = "N", default_value = "20", value_parser = values::number)]
    pub number: u32,
}

fn reason(text: &str) -> Result<String, String> {
    let names = hints::endings();
    if names.contains(&text) {
        return Ok(text.to_owned());
    }
    Err(format!("unknown reason; use one of {}", names.join(", ")))
}
