//! The verbs of `ctl`, as they are typed.

use std::time::Duration;

use clap::{Parser, Subcommand};

use super::history::HistoryArgs;
use super::values::{nudge_text, positive};

/// `idlewatch ctl VERB`
#[derive(Debug, Clone, Parser)]
#[command(
    name = "idlewatch ctl",
    bin_name = "idlewatch ctl",
    about = "Query and control runs in progress",
    after_help = "RUN is the id of a run or the beginning of it, the process id of the command or of idlewatch, or \
                  'last' for the newest run. It can be omitted if only one run is in progress.",
    disable_help_subcommand = true,
    subcommand_value_name = "VERB",
    subcommand_help_heading = "Verbs"
)]
pub struct CtlCli {
    /// What to do.
    #[command(subcommand)]
    pub verb: CtlVerb,

    /// Print JSON lines
    #[arg(long, global = true)]
    pub json: bool,
}

/// What to do.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum CtlVerb {
    /// List the runs in progress
    List {
        /// Print only their ids
        #[arg(long)]
        ids: bool,
    },
    /// Show the state of a run, and the evidence for it
    Status {
        /// The run, by its id or the beginning of it, by a process id, or as last
        run: Option<String>,
    },
    /// Watch all runs, or one run and its events, until q is pressed
    Watch {
        /// The run, by its id or the beginning of it, by a process id, or as last
        run: Option<String>,
    },
    /// Leave a run alone for this long, and raise its --timeout by as much
    #[command(allow_missing_positional = true)]
    Extend {
        /// The run, by its id or the beginning of it, by a process id, or as last
        run: Option<String>,
        /// How long, as in 15m
        #[arg(value_name = "DUR", value_parser = positive)]
        by: Duration,
    },
    /// Type a text into a run's command and submit it
    #[command(allow_missing_positional = true)]
    Nudge {
        /// The run, by its id or the beginning of it, by a process id, or as last
        run: Option<String>,
        /// The text to type
        #[arg(value_name = "TEXT", value_parser = nudge_text)]
        text: String,
    },
    /// End a run; it exits with 119
    Stop {
        /// The run, by its id or the beginning of it, by a process id, or as last
        run: Option<String>,
    },
    /// End a run as a success; it exits with 0
    Complete {
        /// The run, by its id or the beginning of it, by a process id, or as last
        run: Option<String>,
    },
    /// Show past runs, the newest last
    History(HistoryArgs),
    /// Explain the state of a run in detail
    Explain {
        /// The run, by its id or the beginning of it, by a process id, or as last
        run: Option<String>,
    },
}
