//! What the man page says beyond the options, from the same types as the program.
//!
//! Roff: a backslash and a dot or quote at the start of a line are escaped where text comes from elsewhere.
#![forbid(unsafe_code)]

use std::fmt::Write as _;

use crate::exit::{Reason, USAGE};
use crate::layers::variable;

/// What `idlewatch` does, for whoever opens its page first.
pub const DESCRIPTION: &str = "idlewatch runs COMMAND under a pseudo-terminal and passes everything through: bytes, keys, \
    signals, the exit status. It reads the screen the way a person would: a turning spinner and a ticking clock are not \
    activity, new text is. After --idle without activity it asks the guards whether the command is working all the same. If \
    none defers, it warns, and then nudges, signals or relaunches the command, as told; the exit status says why.\n\n\
    Without options, idlewatch warns after five minutes without activity and then ends the command with exit status 121, \
    unless a guard defers or the command waits for a person at the terminal.\n\n\
    idlewatch ctl queries and controls runs in progress and shows earlier ones. idlewatch replay says what would have been \
    found in a recording. Each has a page of its own.";

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
    let found = "Each line is a moment of the recording: a state and the evidence for it, a warning, or that the command \
                 would have been ended there, why, and with which exit status. With --json the end is the event signaled, \
                 with 0 processes. A replay does what a run does by default when nobody is at the terminal: it \
                 warns, and then ends the command; the recording goes on all the same. Of the guards only turn is asked, \
                 which looks at nothing but the screen. The others (cpu, disk, net, io, children, file: and cmd:) look at \
                 processes and files that are gone, and might have deferred the end.";
    let found = format!(".SH \"WHAT IS PRINTED\"\n{}\n", escape(found));
    let environment = ".SH ENVIRONMENT\nLimits, detection options and the profile are read from the same variables and the same \
                       configuration file as for a run; see\n.BR idlewatch (1).\n";
    let status = ".SH \"EXIT STATUS\"\n0, whatever is found in the recording; 2 if the arguments, the environment or the \
                  configuration file are wrong, or the file is no recording; 125 if what was found cannot be written.\n";
    let examples = example(
        "See whether and when a recorded session would have been ended:",
        "idlewatch replay --idle 3m run.cast",
    ) + &example("The same as JSON lines:", "idlewatch replay --json run.cast");
    format!("{found}{status}{environment}.SH EXAMPLES\n{examples}{}", see_also(&["idlewatch"]))
}

/// The sections that follow the verbs of `idlewatch ctl`.
pub fn ctl_sections() -> String {
    let items = |all: &[(&str, &str)]| -> String {
        let item = |(name, meaning): &(&str, &str)| format!(".TP\n\\fB{}\\fR\n{}\n", escape(name), escape(meaning));
        all.iter().map(item).collect()
    };
    let run = "RUN is the id of a run or the beginning of it, the process id of the command or of idlewatch, or 'last' for \
               the newest run. It can be omitted if only one run is in progress.";
    let protocol = "Each run listens on a Unix socket that only its user can use. It speaks JSON lines: each request gets one \
                    answer (ok, error with message, or what was asked for), in order. Unknown fields are ignored. A line has \
                    at most 65536 bytes. A run has at most 128 clients at once; it also answers them during the pause before \
                    a relaunch.";
    let requests = items(&[
        (
            "{\"type\":\"get_session_stats\"}",
            "The answer is session_stats: command, pid, state, evidence, limits and counts. Very long texts in it are cut.",
        ),
        ("{\"type\":\"explain\"}", "The answer is explanation, with its text."),
        (
            "{\"type\":\"subscribe\"}",
            "From then on every event is sent as well, as with --events. Events that are not read in time are dropped; \
             dropped says how many.",
        ),
        (
            "{\"type\":\"extend_timeout\",\"by\":900000}",
            "Leaves the run alone for this many milliseconds, and raises its --timeout by as much.",
        ),
        ("{\"type\":\"nudge\",\"text\":\"go on\"}", "Answered once the command has accepted the text, or has not."),
        ("{\"type\":\"force_stop\"}", "The run exits with 119."),
        ("{\"type\":\"force_complete\"}", "The run exits with 0."),
    ]);
    let status = items(&[
        ("0", "Success."),
        ("1", "There is no such run, or it refused or did not answer."),
        ("2", "The arguments are wrong, or there is no directory for the history."),
        ("125", "The history could not be read, or the answer could not be printed."),
    ]);
    let files = items(&[
        ("$XDG_RUNTIME_DIR/idlewatch/RUN.sock", "The socket of a run."),
        (
            "/tmp/idlewatch-UID/RUN.sock",
            "The same where XDG_RUNTIME_DIR is not set or belongs to another user. A directory that others can access is not used. \
             ctl looks in both.",
        ),
    ]);
    let examples = example("List the runs in progress:", "idlewatch ctl list")
        + &example("Give the only run another quarter of an hour:", "idlewatch ctl extend 15m")
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
    ("cpu", "The command's processes use the processor, beyond what drawing a spinner takes."),
    ("disk", "They read from a disk or write to it at 200 kB/s or more. What is in memory already does not count."),
    (
        "net",
        "They receive 40 bytes a second or more over TCP connections that were open before, which is more than pings: a \
         model is answering, even while the agent prints nothing.",
    ),
    ("turn", "An agent's turn is in progress and has shown something new within two minutes; see --profile."),
    ("io", "They read and write 500 kB/s or more in all, wherever from and to."),
    (
        "children",
        "They start processes, or processes end. Of those that are gone by the time anybody looks, only the last two \
         fifths tell.",
    ),
    (
        "file:PATH",
        "The file, or something in the directory, changes. Our own records and what the command prints do not count.",
    ),
    (
        "cmd:SHELL",
        "This shell command exits with 0 within 10 seconds. Its standard input is empty, its output is discarded, and \
         IDLEWATCH_PID and IDLEWATCH_STATE are set as for run:.",
    ),
];

fn guards() -> String {
    let about = "When a command has been silent for --idle, the guards are asked. As long as any of them defers, the silence \
                 leads to nothing but a warning, up to --max-idle. When the last one stops deferring, the command gets --idle \
                 once more. When they are asked first, cpu, disk, net and io go by the last two fifths of that time: what was done \
                 long ago does not say that the command still works. children and file: go by all of it but its first second \
                 or, if --idle is short, its first quarter: what begins or changes with the last output belongs to it. \
                 Later, each goes by the time since it was asked last. A guard defers if:";
    let mut text = format!(".SH \"WHAT GUARDS CHECK\"\n{}\n", escape(about));
    for (name, meaning) in GUARDS {
        let _ = write!(text, ".TP\n\\fB{}\\fR\n{}\n", escape(name), escape(meaning));
    }
    text
}

/// The steps of a ladder, as they are written, and what each does.
const STEPS: [(&str, &str); 14] = [
    ("warn", "Print a warning on standard error or, while the command draws on the terminal, show it in the title."),
    (
        "nudge[:TEXT]",
        "Type this text and submit it; without a text, the next one of --nudge. Nothing is typed where it could do harm: \
         into a password prompt, a menu, or text that somebody has begun to type. At most --max-nudges are typed per start of \
         the command.",
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
        "Run this shell command beside the command. Its standard input is empty and its output is discarded; \
         IDLEWATCH_PID and IDLEWATCH_STATE hold the process id and the state of the command. The next step does not wait for \
         it to end: put a wait: step in between where it has to. Its exit is reported with --verbose, and in any case if it \
         could not be run.",
    ),
    ("prompt", "Ask the person at the terminal what to do, for up to a minute. Skipped if nobody is there."),
    (
        "relaunch",
        "End the command as stop does and start it again, at most --max-relaunches times; see also --relaunch-with. A command \
         that ends by itself within 5 seconds three times in a row is not started again, nor is one that idlewatch was told to \
         end: by TERM, or within 30 seconds after INT, QUIT or HUP.",
    ),
    ("stop", "End the command: --signal, then SIGKILL after --kill-after."),
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
    let about = "A ladder says what to do about a stuck command, step by step. --on-idle, --on-loop, --on-waiting and \
                 --on-timeout each take one, as steps separated by commas: warn,nudge:go on,wait:2m,stop. Within a text or a \
                 shell command, write a comma as \\, and a backslash before a comma as \\\\. Each step is taken only while the \
                 command is still stuck: progress ends the ladder, and the next time it starts with the first step. Before \
                 every step but warn, the guards of a silent command are asked. A ladder without stop, relaunch or a signal \
                 ends nothing; stop and relaunch finish one. If a person is at the terminal (the run is \
                 attended), a command that waits for them is never ended, whatever the ladder says: --on-waiting then skips \
                 such a step and goes on with the next. If a step makes the command end, the exit status says why.";
    let mut text = format!(".SH LADDERS\n{}\n", escape(about));
    for (name, meaning) in STEPS {
        let keys = if name == "key:NAME" { format!("{}.", KEYS.join(", ")) } else { String::new() };
        let _ = write!(text, ".TP\n\\fB{}\\fR\n{}{}\n", escape(name), escape(meaning), escape(&keys));
    }
    text
}

fn signals() -> String {
    let about = "A signal sent to idlewatch reaches the command. TERM, INT, HUP, QUIT and TSTP reach its whole process group, \
                 as with timeout(1), because they are mostly sent to a group, of which only idlewatch is left to receive \
                 them. One that was ignored when idlewatch was started, as HUP is by nohup and INT in the background of a \
                 script, has no effect on idlewatch, but still reaches the command when a process sends it. Keys such as \
                 Ctrl-C act in the command's own terminal. KILL cannot be passed on, but the command is killed too. STOP \
                 stops idlewatch alone, and SEGV, BUS, FPE and ILL end it.";
    format!(".SH SIGNALS\n{}\n", escape(about))
}

fn exit_status() -> String {
    let mut text =
        ".SH \"EXIT STATUS\"\nThe command's own status whenever it ended by itself; if it died of a signal, \
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
    let lost = "If some of the command's output cannot be written, to a full disk for example, idlewatch says so and turns an exit \
                status of 0 into that of error, because the command itself could not notice.";
    let change = "With\n.B \\-\\-exit\\-code\na reason gets another code";
    format!(
        "{text}.PP\n{change}; those of {fixed} are the same in every shell and cannot be changed.\n.PP\n{}\n",
        escape(lost)
    )
}

fn report() -> String {
    let when = "A report is written if the run ends stuck (silent, looping, waiting, over time, or out of relaunches), or \
                with --report-always at every end. A command that could not be started leaves none. The report replaces an \
                existing file, completely or not at all, and only its owner can read it, because it quotes the screen and the \
                command lines of processes. If it cannot be written, idlewatch says so in one line when it is due, and in \
                one more at the start if that can be seen then; the exit status is unaffected.";
    let tasks = "The file of --checkpoint holds the command's own list of tasks as JSON: a list, or an object with a list \
                 called tasks. A task is a string, or an object with a name (or title, or content) and a status: done or \
                 completed, in_progress, or anything else for what is left. An object with the lists done, current and \
                 remaining works as well. The file is read at the end and whenever the run's status is asked for, up to \
                 1 MiB. If it is missing, is not a regular file or cannot be understood, the report says so.";
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
            "An asciicast (version 2) of what the command prints, as it reaches the screen: both streams in order, size changes, \
             and a marker with evidence for everything that idlewatch has to say. What is typed is not recorded, nor when; what \
             the terminal echoes is output, and a replay may take it for progress. Time while the run is stopped is left out. \
             Events with the letter w hold what only the run could know, such as whether the command was blocked in a read; \
             players skip them, and idlewatch replay uses them. The file is created with mode 0600; an existing one is \
             overwritten and keeps its mode.",
        ),
        (
            "--heartbeat",
            "A line on standard error for CI services that take silence for death. Only the command's own output postpones it. \
             It is printed even with --quiet. Nothing is printed while standard error is a terminal on which the command draws \
             or has left a line unfinished.",
        ),
    ];
    let mut text =
        ".SH \"NOTES ON RECORDS\"\nNo record holds up the command. What cannot be written, because the disk is full or the \
                    reader is slow or gone, is reported once (a report also at the start, see REPORT), and the run goes on. \
                    A file in which there is no room for more ends with a whole line.\n"
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
    let mut text = ".SH EVENTS\nWith\n.B \\-\\-events\nevents are written as JSON objects, one per line: appended to a file, which is created with mode 0600, or \
                    written to a named pipe or an inherited descriptor. The reader may open a named pipe at any time: what is \
                    written before that, or after a reader has gone, waits in the pipe, as much as it can hold. Every event has v (1), \
                    type, at (the time in UTC), run (the id of the run) and elapsed (since the command was last started); times \
                    are in milliseconds. The JSON Schema is idlewatch\\-events.schema.json.\n"
        .to_owned();
    for of in schema["oneOf"].as_array().into_iter().flatten() {
        let name = of["$ref"].as_str().and_then(|name| name.rsplit('/').next()).unwrap_or_default();
        let of = &definitions[name];
        let _ = write!(text, ".TP\n\\fB{}\\fR\n{}\n", escape(name), escape(&about(of)));
        let fields = of["required"].as_array().into_iter().flatten().filter_map(serde_json::Value::as_str);
        for field in fields.skip(EVERY_EVENT) {
            let _ = writeln!(text, ".br\n\\fI{}\\fR: {}", escape(field), escape(&about(&of["properties"][field])));
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
                "Every option but --print-config: its name in capitals, with _ for -, as in {}=1h. Put several values on \
                 separate lines. A switch is 1, true, yes or on, or 0, false, no or off. An empty variable counts as unset.",
                variable("max-idle")
            ),
        ),
        (variable("config"), "The configuration file to read, as with --config.".to_owned()),
        (
            "XDG_CONFIG_HOME".to_owned(),
            "The directory that holds idlewatch/config.toml; by default $HOME/.config.".to_owned(),
        ),
        (
            "NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID".to_owned(),
            "Set by systemd for a service. If NOTIFY_SOCKET names a socket that listens, idlewatch sends READY=1 when the \
             command has started, STATUS= with each change of state, STOPPING=1 at the end and, twice per WatchdogSec=, \
             WATCHDOG=1, but only while the command is not stalled, looping or overtime, or while a guard defers. The command \
             does not see the three variables, because by default (NotifyAccess=main) systemd listens to idlewatch alone. With \
             --no-notify they are passed on to the command."
                .to_owned(),
        ),
        (
            "XDG_STATE_HOME".to_owned(),
            "The directory that holds idlewatch/history.jsonl; by default $HOME/.local/state.".to_owned(),
        ),
        (
            "XDG_RUNTIME_DIR".to_owned(),
            "The directory that holds idlewatch/ with the control sockets; by default one under /tmp.".to_owned(),
        ),
        (
            "IDLEWATCH_PID, IDLEWATCH_STATE".to_owned(),
            "Set for the shell commands of run: and cmd: the process id of the command, and its state (active, quiet, waiting, \
             stalled, looping or overtime)."
                .to_owned(),
        ),
        ("NO_COLOR".to_owned(), "If set, messages are not coloured.".to_owned()),
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
                   list. A table [profile.NAME] (or [profiles.NAME]) describes a program the way the built-in profiles do; its \
                   table options sets options for that program. Nothing is read from the current directory.";
    let history = "The history: one line of JSON for each run that has ended, readable by its owner alone: v, run, at, elapsed, \
                   command (shortened), cwd, pid, code, reason, childStatus, childSignal, states (milliseconds in each), \
                   nudges, signals, deferrals, relaunches, activity (how often something that counts changed in each part of \
                   the run) and activitySpan. When the file reaches 1 MiB, runs that took less than a second and ended well are \
                   dropped, and then the older half. idlewatch ctl history shows it. A directory that others can write to is \
                   not used; failure to write is reported only with --verbose.";
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
        "What the command prints is passed on to your terminal as it is. Wherever idlewatch itself shows such text, in \
         messages, titles, lists and reports, control characters and text direction marks are removed or escaped.",
        "No file in the current directory is read unless you name it. Shell commands in run:, cmd: and --relaunch-with are \
         yours; nothing that the command prints becomes part of them.",
        "The control socket is in a directory that only you can enter; one that is a symbolic link, belongs to another user \
         or is open to others is not used. Files hold what was on your screen and are created with mode 0600. What you type is \
         in none of them, unless the command shows it.",
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
            "Nudge an agent, then resume it:",
            "idlewatch --nudge 'go on' --relaunch stuck --relaunch-with 'claude --continue' -- claude",
        ),
        (
            "Limit the running time only, as timeout does:",
            "idlewatch --idle off --timeout 1h --signal INT -- ./run-tests",
        ),
        ("Write an HTML report if it hangs:", "idlewatch --report hang.html --checkpoint tasks.json -- claude"),
        ("Show the configuration in effect, and run nothing:", "idlewatch --print-config --idle 2m -- claude"),
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
