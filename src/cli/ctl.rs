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
    about = "Ask and steer the runs that are going on",
    after_help = "RUN is the id of a run, the beginning of it, the process id of the command or of idlewatch, or 'last' \
                  for the newest. It can be left out where only one run is going on.",
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
    /// List the runs that are going on
    List {
        /// Print nothing but their ids
        #[arg(long)]
        ids: bool,
    },
    /// Show how a run stands, and why that is thought
    Status {
        /// The run
        run: Option<String>,
    },
    /// Watch all runs, or one and its events, until q is pressed
    Watch {
        /// The run
        run: Option<String>,
    },
    /// Leave a run alone for this long, and let it run this much longer
    #[command(allow_missing_positional = true)]
    Extend {
        /// The run
        run: Option<String>,
        /// How long, as in 15m
        #[arg(value_name = "DUR", value_parser = positive)]
        by: Duration,
    },
    /// Type a text into a run's command, and submit it
    #[command(allow_missing_positional = true)]
    Nudge {
        /// The run
        run: Option<String>,
        /// The text
        #[arg(value_name = "TEXT", value_parser = nudge_text)]
        text: String,
    },
    /// End a run; it exits with 119
    Stop {
        /// The run
        run: Option<String>,
    },
    /// End a run as a success; it exits with 0
    Complete {
        /// The run
        run: Option<String>,
    },
    /// Show the runs of the past, the last one last
    History(HistoryArgs),
    /// Say at length why a run is thought to do what it does
    Explain {
        /// The run
        run: Option<String>,
    },
}
