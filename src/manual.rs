//! What the man page says beyond the options, from the same types as the program.
//!
//! Roff: a backslash and a dot or quote at the start of a line are escaped where text comes from elsewhere.
#![forbid(unsafe_code)]

use std::fmt::Write as _;

use crate::exit::{Reason, USAGE};
use crate::layers::variable;

/// What `idlewatch` does, for whoever opens its page first.
pub const DESCRIPTION: &str = "idlewatch runs COMMAND under a pseudo-terminal and passes everything through: bytes, keys, \
    signals, the exit status. It reads the screen the way a person would: a spinner that turns and a clock that ticks are no \
    activity, new text is. When nothing that counts has changed for --idle, it asks the guards whether the command works all \
    the same; if none speaks for it, it warns, and nudges, signals or restarts the command, as you said; the exit status says \
    why.\n\nidlewatch ctl asks and steers runs that are going on, and shows earlier ones; idlewatch replay says \
    what would have been found in a recording. Each has a page of its own.";

/// The other forms of the command line, below the first.
pub const SYNOPSIS: &str =
    ".br\n\\fBidlewatch ctl\\fR VERB [RUN]...\n.br\n\\fBidlewatch replay\\fR [OPTIONS] FILE.cast\n";

/// The sections that follow the options of `idlewatch`.
pub fn sections() -> String {
    let all = [
        guards(),
        ladders(),
        signals(),
        exit_status(),
        records(),
        report(),
        events(),
        environment(),
        files(),
        security(),
    ];
    all.concat() + &examples() + &see_also(&["idlewatch-ctl", "idlewatch-replay"])
}

/// The sections that follow the options of `idlewatch replay`.
pub fn replay_sections() -> String {
    let found = "Each line is a moment of the recording: a state with its evidence, a warning, or that the command would have \
                 been ended there, why, and with which exit status; with --json that is the event signaled, to 0 processes. \
                 What is done is what a run does where nothing else was said and nobody is at the terminal: it warns, and \
                 then ends the command. The recording goes on all the same. Of the guards only turn is asked, since it \
                 looks at nothing but the screen; cpu, disk, net, io, children, file: and cmd: look at processes and files that are \
                 gone, and might have deferred the end.";
    let found = format!(".SH \"WHAT IS PRINTED\"\n{}\n", escape(found));
    let environment = ".SH ENVIRONMENT\nLimits, detection and the profile are taken from the same variables and the same \
                       configuration file as for a run; see\n.BR idlewatch (1).\n";
    let status = ".SH \"EXIT STATUS\"\n0, whatever is found in the recording; 2 if the arguments, the environment or the \
                  configuration file are wrong, or the file is no recording; 125 if what was found cannot be written.\n";
    let examples = example("See when a recorded session would have been ended:", "idlewatch replay --idle 3m run.cast")
        + &example("The same as JSON lines:", "idlewatch replay --json run.cast");
    format!("{found}{status}{environment}.SH EXAMPLES\n{examples}{}", see_also(&["idlewatch"]))
}

/// The sections that follow the verbs of `idlewatch ctl`.
pub fn ctl_sections() -> String {
    let items = |all: &[(&str, &str)]| -> String {
        let item = |(name, meaning): &(&str, &str)| format!(".TP\n\\fB{}\\fR\n{}\n", escape(name), escape(meaning));
        all.iter().map(item).collect()
    };
    let run = "RUN is the id of a run, the beginning of it, the process id of the command or of idlewatch, or 'last' for the \
               newest. It can be left out where only one run is going on.";
    let protocol = "Each run listens on a Unix socket, which only its user can use. It speaks JSON lines: a request in, one \
                    answer out (ok, error with message, or what was asked for), in their order. Fields that are not known are \
                    ignored. A line has at most 65536 bytes; a run has at most 128 clients at once, and goes on to answer them \
                    in the pause before a relaunch.";
    let requests = items(&[
        (
            "{\"type\":\"get_session_stats\"}",
            "Answered with session_stats: command, pid, state, evidence, limits and counts. Very long texts in it are cut.",
        ),
        ("{\"type\":\"explain\"}", "Answered with explanation, and its text."),
        (
            "{\"type\":\"subscribe\"}",
            "From then on every event is told as well, as with --events. One that is not taken in time is dropped, and dropped says how many were.",
        ),
        ("{\"type\":\"extend_timeout\",\"by\":900000}", "By so many milliseconds."),
        ("{\"type\":\"nudge\",\"text\":\"go on\"}", "Answered when the command has taken it, or has not."),
        ("{\"type\":\"force_stop\"}", "The run exits with 119."),
        ("{\"type\":\"force_complete\"}", "The run exits with 0."),
    ]);
    let status = items(&[
        ("0", "It was done."),
        ("1", "There is no such run, or it refused, or does not answer."),
        ("2", "The arguments are wrong."),
    ]);
    let files = items(&[
        ("$XDG_RUNTIME_DIR/idlewatch/RUN.sock", "The socket of a run."),
        (
            "/tmp/idlewatch-UID/RUN.sock",
            "The same where XDG_RUNTIME_DIR is not set or belongs to somebody else. A folder that others can look into is not used. ctl looks in both.",
        ),
    ]);
    let examples = example("What is going on?", "idlewatch ctl list")
        + &example("Give the only run a quarter of an hour more:", "idlewatch ctl extend 15m")
        + &example("Follow the newest run as JSON lines:", "idlewatch ctl watch last --json");
    format!(
        ".SH RUNS\n{}\n.SH PROTOCOL\n{}\n{requests}.SH \"EXIT STATUS\"\n{status}.SH FILES\n{files}.SH EXAMPLES\n{examples}{}",
        escape(run),
        escape(protocol),
        see_also(&["idlewatch", "idlewatch-replay"])
    )
}

/// The guards, as they are written, and when each speaks.
const GUARDS: [(&str, &str); 8] = [
    ("cpu", "The command's processes use the processor."),
    (
        "disk",
        "They read from a disk or write to it, some hundred kilobytes a second: what is in memory already does not count.",
    ),
    (
        "net",
        "They receive something over TCP connections that were there before, some ten bytes a second, which is more than \
         pings are: a model answers, also where an agent prints nothing meanwhile.",
    ),
    ("turn", "An agent's turn is in progress, and has shown something new within two minutes; see --profile."),
    ("io", "They read and write much, some hundred kilobytes a second, from wherever and to wherever."),
    ("children", "They start processes, or end them."),
    ("file:PATH", "A file changes, or something in a folder, but for records and what the command prints."),
    (
        "cmd:SHELL",
        "This ends with 0 in a shell, within 10 seconds. It reads nothing, what it prints goes to /dev/null, and it gets \
         IDLEWATCH_PID and IDLEWATCH_STATE as run: does.",
    ),
];

fn guards() -> String {
    let about = "A guard speaks for a silent command, and as long as one does, nothing but a warning comes of the silence, up to \
                 --max-idle. When the last one falls silent too, the command has --idle once more.";
    let mut text = format!(".SH \"WHEN A GUARD SPEAKS\"\n{}\n", escape(about));
    for (name, meaning) in GUARDS {
        let _ = write!(text, ".TP\n\\fB{}\\fR\n{}\n", escape(name), escape(meaning));
    }
    text
}

/// The steps of a ladder, as they are written, and what each does.
const STEPS: [(&str, &str); 14] = [
    ("warn", "Say so: on standard error or, where the command draws on the terminal, in its title."),
    (
        "nudge[:TEXT]",
        "Type this text and submit it; without a text, the next of --nudge. Nothing is typed where it could do harm: at a \
         password, a menu or a text that somebody has begun, and no more than --max-nudges times for each start of the command.",
    ),
    ("wait:DUR", "Do nothing for this long."),
    ("key:NAME", "Press this key: "),
    ("int", "Send SIGINT to all processes of the command."),
    ("term", "The same with SIGTERM."),
    ("hup", "The same with SIGHUP."),
    ("quit", "The same with SIGQUIT."),
    ("kill", "The same with SIGKILL."),
    ("signal:NAME", "The same with this signal, as in signal:USR1."),
    (
        "run:SHELL",
        "Run this in a shell, beside the command. It reads nothing, what it prints goes to /dev/null, and the variables \
         IDLEWATCH_PID and IDLEWATCH_STATE tell it the command's process id and state. The next step does not wait for its end: \
         follow it with wait: where it has to. That it ended is told with --verbose, and always if it could not be run.",
    ),
    ("prompt", "Ask the person at the terminal what to do, for up to a minute. Where nobody is there it is skipped."),
    (
        "relaunch",
        "End the command as stop does, and start it again, at most --max-relaunches times; see also --relaunch-with. What ends \
         by itself within 5 seconds three times in a row is not started again, nor what was told to end: by TERM, or within \
         30 seconds after INT, QUIT or HUP.",
    ),
    ("stop", "End the command: --signal, and SIGKILL after --kill-after."),
];

/// The keys that can be pressed.
const KEYS: [&str; 19] = [
    "enter",
    "esc",
    "tab",
    "space",
    "backspace",
    "up",
    "down",
    "right",
    "left",
    "home",
    "end",
    "pageup",
    "pagedown",
    "ctrl-c",
    "ctrl-d",
    "ctrl-z",
    "y",
    "n",
    "q",
];

fn ladders() -> String {
    let about = "A ladder is what is done about a command that is stuck, step by step: --on-idle, --on-loop, --on-waiting and \
                 --on-timeout take one, with commas between the steps, as in warn,nudge:go on,wait:2m,stop. A comma in a text \
                 or a shell command is written \\, and a backslash before a comma \\\\. Each step is taken only while the \
                 command is still stuck: progress ends the ladder, and the next time it begins with the first step. Before \
                 every step but warn the guards of a silent command are asked. A ladder without stop, relaunch or a signal \
                 ends nothing, and stop or relaunch is its last step. Where a person is at the terminal, a command that waits \
                 for them is never ended, whatever the ladder says: there --on-waiting passes over such a step and goes on \
                 with the next. If the command ends of a step, the exit status says why.";
    let mut text = format!(".SH LADDERS\n{}\n", escape(about));
    for (name, meaning) in STEPS {
        let keys = if name == "key:NAME" { format!("{}.", KEYS.join(", ")) } else { String::new() };
        let _ = write!(text, ".TP\n\\fB{}\\fR\n{}{}\n", escape(name), escape(meaning), escape(&keys));
    }
    text
}

fn signals() -> String {
    let about = "A signal that is sent to idlewatch reaches the command. TERM, INT, HUP, QUIT and TSTP reach all of its \
                 process group, as with timeout(1): they are mostly sent to a group, of which idlewatch alone is left to \
                 hear them. Keys such as Ctrl-C act in the command's own terminal.";
    format!(".SH SIGNALS\n{}\n", escape(about))
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
    let fixed = Reason::ALL.into_iter().filter(|reason| !Reason::OURS.contains(reason)).map(Reason::name);
    let fixed = escape(&fixed.collect::<Vec<_>>().join(" and "));
    let lost = "What cannot be written of the command's output, to a full disk for example, is said, and makes an exit status \
                of 0 that of an error: the command itself did not hear of it.";
    let change = "With\n.B \\-\\-exit\\-code\nanother code is chosen for a reason";
    format!("{text}.PP\n{change}; those of {fixed} are as in every shell and stay.\n.PP\n{}\n", escape(lost))
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
                 current and remaining will do as well. It is read at the end, and when somebody asks how the run stands, up to 1 MiB; a file that is \
                 missing, not a regular file or not understood is said to be so in the report.";
    let json = "The JSON form is one object with \"v\":1, times in milliseconds: run, command, folder, system, \
                idlewatch, started, ended, elapsed, summary, exit (code, reason, meaning, childStatus, childSignal, \
                relaunches, relaunchLimitReached), verdict (at, elapsed, state, evidence), tried (at, elapsed, what, \
                words, result), states (state, from, to), activity (portion; for each portion bytes and whether \
                there was progress), screen (taken, elapsed, title, cols, cursor, rows), linesAbove, processes (pid, \
                parent, command, state, cpu, cpuPercent, age, threads, doing with kind and detail), \
                processesLeftOut, tasks, resume (command, source), policy, events as --events writes them, and \
                eventsDropped.";
    format!(".SH REPORT\n{}\n.PP\n{}\n.PP\n{}\n", escape(when), escape(json), escape(tasks))
}

/// What is written about a run, and what is not.
fn records() -> String {
    let items = [
        (
            "--record",
            "What the command prints, as the screen gets it, in an asciicast of version 2: both streams in the order in which they \
         came, new sizes, and a marker for everything that idlewatch has to say, with its evidence. What is typed is not \
         recorded, nor when; what the terminal echoes is output, which a replay may take for progress. Time while the run is stopped is left out. Events with \
         the letter w hold what only the run could know, such as whether the command was blocked in a read; players pass \
         over them, and idlewatch replay reads them. The file is made with mode 0600; one that exists is overwritten and \
         keeps its mode.",
        ),
        (
            "--heartbeat",
            "A line on standard error for whoever takes silence for death, as CI services do. Only what the command itself prints \
         is silence broken by. It was asked for by name, so --quiet does not take it away; where standard error is a \
         terminal on which the command draws, or stands in the middle of a line, nothing is printed.",
        ),
    ];
    let mut text =
        ".SH RECORDS\nNo record holds up the command. What cannot be written, because the disk is full or the reader \
                    gone or slow, is said once, and the run goes on.\n"
            .to_owned();
    for (name, meaning) in items {
        let _ = write!(text, ".TP\n\\fB{}\\fR\n{}\n", escape(name), escape(meaning));
    }
    text
}

/// The events, from their schema: what it says is said once.
fn events() -> String {
    let schema: serde_json::Value = serde_json::from_str(EVENTS_SCHEMA).unwrap_or_default();
    let definitions = &schema["$defs"];
    let about = |of: &serde_json::Value| of["description"].as_str().unwrap_or_default().to_owned();
    let mut text = ".SH EVENTS\nWith\n.B \\-\\-events\none JSON object a line, appended to a file with mode 0600, or written to a named pipe or an \
                    inherited descriptor. A named pipe may be opened by its reader at any time: what was written before, or after a \
                    reader went, waits in it, up to what a pipe holds. Every event has v (1), \
                    type, at (the time in UTC), run (the name of the run) and elapsed, since the command was started last; times are in milliseconds. The JSON Schema \
                    of all this is idlewatch\\-events.schema.json.\n"
        .to_owned();
    for of in schema["oneOf"].as_array().into_iter().flatten() {
        let name = of["$ref"].as_str().and_then(|name| name.rsplit('/').next()).unwrap_or_default();
        let of = &definitions[name];
        let _ = write!(text, ".TP\n\\fB{}\\fR\n{}\n", escape(name), escape(&about(of)));
        let fields = of["required"].as_array().into_iter().flatten().filter_map(serde_json::Value::as_str);
        for field in fields.skip(EVERY_EVENT) {
            let _ = writeln!(text, "\\fI{}\\fR: {}", escape(field), escape(&about(&of["properties"][field])));
        }
    }
    text
}

/// The JSON Schema of the events.
pub const EVENTS_SCHEMA: &str = include_str!("../man/idlewatch-events.schema.json");

/// How many fields all events have.
const EVERY_EVENT: usize = 5;

fn environment() -> String {
    let items = [
        (
            "IDLEWATCH_<NAME>".to_owned(),
            format!(
                "Every option but --print-config: the name in capitals, with _ for -, as in {}=1h. Several values go on lines of their \
                 own; a switch is 1, true, yes or on, or 0, false, no or off. An empty variable counts as not set.",
                variable("max-idle")
            ),
        ),
        (variable("config"), "The configuration file to read, as --config.".to_owned()),
        ("XDG_CONFIG_HOME".to_owned(), "Where the folder of the configuration file is; else $HOME/.config.".to_owned()),
        (
            "NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID".to_owned(),
            "Set by systemd for a service. Where NOTIFY_SOCKET names a socket that listens, idlewatch sends READY=1 when the \
             command was started, STATUS= with each change of state, STOPPING=1 at the end and, twice in the time of \
             WatchdogSec=, WATCHDOG=1: only while the command is not stalled, looping or overtime, or while a guard \
             speaks for it. The command does not get the three variables, since by default (NotifyAccess=main) systemd \
             listens to idlewatch alone. With --no-notify they are the command's."
                .to_owned(),
        ),
        ("XDG_STATE_HOME".to_owned(), "Where the folder of the history is; else $HOME/.local/state.".to_owned()),
        ("XDG_RUNTIME_DIR".to_owned(), "Where the folder of the control sockets is; else one under /tmp.".to_owned()),
        (
            "IDLEWATCH_PID, IDLEWATCH_STATE".to_owned(),
            "Set for the shell commands of run: and cmd: the process id of the command, and its state (active, quiet, waiting, \
             stalled, looping or overtime)."
                .to_owned(),
        ),
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
    let history = "The history: a line of JSON for each run that has ended, for its owner alone: v, run, at, elapsed, command \
                   (shortened), cwd, pid, code, reason, childStatus, childSignal, states (milliseconds in each), nudges, \
                   signals, deferrals, relaunches, activity (how often something that counts changed in each part of the \
                   run) and activitySpan. When the file reaches 1 MiB, runs that took less than a second and ended well are \
                   dropped, and then the older half. idlewatch ctl history shows it, with --json, --reason, --since, \
                   --command and -n. A folder that others can write to is not used; what cannot be written is said only \
                   with --verbose.";
    format!(
        ".SH FILES\n.TP\n\\fI{}\\fR\n{}\n.PP\n.nf\n.RS\n{}\n.RE\n.fi\n.TP\n\\fI{}\\fR\n{}\n",
        escape("$XDG_CONFIG_HOME/idlewatch/config.toml"),
        escape(meaning),
        escape(EXAMPLE_FILE).replace("\n.", "\n\\&."),
        escape("$XDG_STATE_HOME/idlewatch/history.jsonl"),
        escape(history),
    )
}

fn security() -> String {
    let all = [
        "The command runs as you: idlewatch watches it and does not confine it.",
        "What the command prints is passed on to your terminal as it is. Where idlewatch itself shows such text, in \
         messages, titles, lists and reports, control characters and marks of direction are taken out or written out.",
        "No file in the current directory is read unless it is named. Shell commands in run:, cmd: and --relaunch-with are \
         yours; nothing that the command prints becomes part of them.",
        "The control socket is in a folder that only you can enter; one that is a link, belongs to somebody else or is \
         open to others is not used. Files hold what was on your screen and are made with mode 0600; what you type is in \
         none of them, unless the command shows it.",
    ];
    all.iter().fold(".SH SECURITY\n".to_owned(), |text, paragraph| text + &escape(paragraph) + "\n.PP\n")
}

/// The example of a configuration file; a test reads it with the program.
pub const EXAMPLE_FILE: &str = r#"idle = "10m"
guard = ["cpu", "disk", "net", "turn", "file:build.log"]
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

fn see_also(pages: &[&str]) -> String {
    let pages: String = pages.iter().flat_map(|page| [".BR ".to_owned(), escape(page), " (1),\n".to_owned()]).collect();
    format!(".SH \"SEE ALSO\"\n{pages}.BR timeout (1)\n")
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::{Guard, Step};

    #[test]
    fn the_guards_steps_and_keys_are_those_that_there_are() {
        let told = |wrong: &str| wrong.parse::<Step>().unwrap_err();
        let steps = STEPS.map(|(name, _)| name).join(", ");
        assert!(told("fly").ends_with(&format!("use {steps}")), "{}", told("fly"));
        assert!(told("key:none").ends_with(&format!("use one of {}", KEYS.join(", "))), "{}", told("key:none"));
        let guards = GUARDS.map(|(name, _)| name).join(", ").replace(", cmd", " or cmd");
        assert!("x".parse::<Guard>().unwrap_err().ends_with(&format!("use {guards}")));
        let help =
            crate::cli::command().render_long_help().to_string().split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(help.contains(&steps.replace(", stop", " and stop")), "{help}");
    }
}
