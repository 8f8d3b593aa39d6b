//! What the man page says beyond the options, from the same types as the program.
//!
//! Roff: a backslash and a dot or quote at the start of a line are escaped where text comes from elsewhere.

use std::fmt::Write as _;

use crate::exit::{Reason, USAGE};
use crate::layers::variable;

/// The sections that follow the options of `idlewatch`.
pub fn sections() -> String {
    [exit_status(), report(), environment(), files(), examples(), see_also("idlewatch-replay")].concat()
}

/// The sections that follow the options of `idlewatch replay`.
pub fn replay_sections() -> String {
    let environment = ".SH ENVIRONMENT\nLimits, detection and the profile are taken from the same variables and the same \
                       configuration file as for a run; see\n.BR idlewatch (1).\n";
    let examples = example("See when a recorded session would have been ended:", "idlewatch replay --idle 3m run.cast")
        + &example("The same as JSON lines:", "idlewatch replay --json run.cast");
    format!("{environment}.SH EXAMPLES\n{examples}{}", see_also("idlewatch"))
}

fn exit_status() -> String {
    let mut text =
        ".SH \"EXIT STATUS\"\nThe status of the command, whenever it ended by itself; if a signal ended it, \
                    idlewatch dies of the same signal. Otherwise:\n"
            .to_owned();
    let usage = "the arguments, the environment or the configuration file are wrong; nothing was started";
    let mut all: Vec<(u8, &str, &str)> =
        Reason::ALL.map(|reason| (reason.code(), reason.name(), reason.meaning())).into();
    all.push((USAGE, "", usage));
    all.sort_unstable();
    for (code, name, meaning) in all {
        let _ = write!(text, ".TP\n\\fB{code}\\fR {}\n{}\n", escape(name), escape(meaning));
    }
    text + ".PP\nThe code for a reason can be changed with\n.BR \\-\\-exit\\-code .\n"
}

fn report() -> String {
    let when = "A report is written when the run ends stuck (silent, looping, waiting, over time, or started again as \
                often as it may be), or with --report-always at every end; a command that could not be started leaves \
                none. It replaces the file that has its name, whole or not at all, and only its owner can read it: it \
                quotes the screen and the command lines of processes. If it cannot be written, that is said in one \
                line and the exit status stays what it was.";
    let tasks = "The file of --checkpoint holds the command's own list of tasks as JSON: a list, or an object with a \
                 list called tasks. A task is a text, or an object with a name (or title, or content) and a status: \
                 done or completed, in_progress, or anything else for what is left. An object with the lists done, \
                 current and remaining will do as well. It is read once, at the end, up to 1 MiB; a file that is \
                 missing, not a regular file or not understood is said to be so in the report.";
    format!(".SH REPORT\n{}\n.PP\n{}\n", escape(when), escape(tasks))
}

fn environment() -> String {
    let items = [
        (
            "IDLEWATCH_<NAME>".to_owned(),
            format!(
                "Every option: the name in capitals, with _ for -, as in {}=1h. Several values go on lines of their \
                 own; a switch is 1, true, yes or on, or 0, false, no or off. An empty variable counts as not set.",
                variable("max-idle")
            ),
        ),
        (variable("config"), "The configuration file to read, as --config.".to_owned()),
        ("XDG_CONFIG_HOME".to_owned(), "Where the folder of the configuration file is; else $HOME/.config.".to_owned()),
        ("NO_COLOR".to_owned(), "If set, messages are without colour.".to_owned()),
    ];
    let mut text =
        ".SH ENVIRONMENT\nThe command line beats the environment, which beats the configuration file, which \
                    beats the profile, which beats the default.\n"
            .to_owned();
    for (name, meaning) in items {
        let _ = write!(text, ".TP\n\\fB{}\\fR\n{}\n", escape(&name), escape(&meaning));
    }
    text
}

fn files() -> String {
    let meaning = "The configuration file. Its keys are the names of the options; an option that may be repeated takes a \
                   list. A table [profile.NAME] (or [profiles.NAME]) describes a program in the same way as the profiles \
                   that come with idlewatch, and its table options sets options for it. Nothing is read from the current \
                   directory.";
    format!(
        ".SH FILES\n.TP\n\\fI{}\\fR\n{}\n.PP\n.nf\n.RS\n{}\n.RE\n.fi\n",
        escape("$XDG_CONFIG_HOME/idlewatch/config.toml"),
        escape(meaning),
        escape(EXAMPLE_FILE).replace("\n.", "\n\\&."),
    )
}

/// The example of a configuration file; a test reads it with the program.
pub const EXAMPLE_FILE: &str = r#"idle = "10m"
guard = ["cpu", "turn", "file:build.log"]
nudge = ["go on"]
quiet = false

[profile.mytool]
commands = ["mytool", "mt"]
options = { max-idle = "1h" }

[[profile.mytool.turn]]
text = "working"
bottom = 3"#;

fn examples() -> String {
    let all = [
        ("End a build that is silent for ten minutes:", "idlewatch --idle 10m -- make all"),
        (
            "Nudge an agent, then start it again where it was:",
            "idlewatch --nudge 'go on' --relaunch stuck --relaunch-with 'claude --continue' -- claude",
        ),
        (
            "As timeout does, with a signal of one's own:",
            "idlewatch --idle off --timeout 1h --signal INT -- ./run-tests",
        ),
        (
            "Leave a page that says what happened, if it hangs:",
            "idlewatch --report hang.html --checkpoint tasks.json -- claude",
        ),
        ("Say what would be done, and run nothing:", "idlewatch --print-config --idle 2m -- claude"),
    ];
    all.iter().fold(".SH EXAMPLES\n".to_owned(), |text, (what, line)| text + &example(what, line))
}

fn example(what: &str, line: &str) -> String {
    format!(".PP\n{}\n.PP\n.nf\n.RS\n{}\n.RE\n.fi\n", escape(what), escape(line))
}

fn see_also(page: &str) -> String {
    format!(".SH \"SEE ALSO\"\n.BR {} (1),\n.BR timeout (1)\n", escape(page))
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq")
}
