//! Which of the command's streams is a terminal, a pipe or idlewatch's own: decided once, before anything is opened.

use super::surroundings::{Own, Surroundings};
use crate::config::{Pty, Stdin};

/// What the command reads from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// Its terminal.
    Pty,
    /// idlewatch's own standard input, as it is.
    Inherit,
    /// /dev/null.
    Null,
    /// Closed, as idlewatch's own.
    Closed,
}

/// What the command writes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// Its terminal, which stands for ours.
    Pty,
    /// A terminal of its own, because ours goes elsewhere than to a terminal.
    SidePty,
    /// A pipe.
    Pipe,
    /// A socket.
    Socket,
    /// Ours, as it is: a file keeps its position, its limits and its errors, and can be seen to grow.
    Inherit,
    /// The same as its standard output.
    SameAsStdout,
    /// Closed, as idlewatch's own.
    Closed,
}

/// The streams of the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Plan {
    /// What it reads from.
    pub stdin: Input,
    /// Where its output goes.
    pub stdout: Output,
    /// Where its errors go.
    pub stderr: Output,
    /// It gets a controlling terminal. Without one it stays in our own session and process group.
    pub pty: bool,
    /// idlewatch's own standard input, which is no terminal, is typed into the command's terminal.
    pub type_stdin: bool,
    /// It reads from our terminal directly: that is not ours to read.
    pub lends: bool,
    /// Others in a pipeline may use the terminal.
    pub piped: bool,
    /// Others in a pipeline or a script may use the terminal: leave it alone until the command wants it.
    pub on_demand: bool,
    /// They may print to it also while it is ours.
    pub shared: bool,
}

impl Plan {
    /// The plan for these surroundings; `types` is whether anything may have to be typed into the command.
    pub fn new(pty: Pty, stdin: Stdin, types: bool, own: Surroundings) -> Self {
        // An input that holds nothing is no loss, and the terminal can be typed into.
        let stdin = match (stdin, own.stdin) {
            (Stdin::Auto, Own::Null | Own::Closed) if types => Stdin::Pty,
            _ => stdin,
        };
        let output = |stream| match (pty, stream) {
            (_, Own::Closed) => Output::Closed,
            (Pty::Always | Pty::Mirror, Own::Terminal) => Output::Pty,
            (Pty::Always, _) | (Pty::Mirror, Own::OtherTerminal) => Output::SidePty,
            (Pty::Mirror, Own::File) => Output::Inherit,
            (Pty::Mirror | Pty::Never, Own::Socket) => Output::Socket,
            (Pty::Mirror | Pty::Never, _) => Output::Pipe,
        };
        let stdout = output(own.stdout);
        let stderr = match output(own.stderr) {
            Output::SidePty | Output::Pipe | Output::Socket if own.same => Output::SameAsStdout,
            stderr => stderr,
        };
        let pty = pty == Pty::Always || [stdout, stderr].contains(&Output::Pty) || stdin == Stdin::Pty;
        let stdin_plan = match (stdin, own.stdin) {
            (Stdin::Pty, _) => Input::Pty,
            (Stdin::Null, _) => Input::Null,
            (_, Own::Closed) => Input::Closed,
            (Stdin::Auto, Own::Terminal) if pty => Input::Pty,
            (Stdin::Auto | Stdin::Inherit, _) => Input::Inherit,
        };
        let lends = stdin_plan == Input::Inherit && own.stdin == Own::Terminal;
        let piped = [own.stdin, own.stdout, own.stderr].iter().any(|own| matches!(own, Own::Pipe | Own::Socket));
        Self {
            stdin: stdin_plan,
            stdout,
            stderr,
            pty,
            type_stdin: stdin == Stdin::Pty && matches!(own.stdin, Own::Pipe | Own::Socket | Own::File),
            lends,
            piped,
            on_demand: !own.leads && own.stdin != Own::Terminal || piped || lends,
            shared: !own.leads || piped,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ATTENDED: Surroundings =
        Surroundings { stdin: Own::Terminal, stdout: Own::Terminal, stderr: Own::Terminal, same: true, leads: true };
    const CI: Surroundings =
        Surroundings { stdin: Own::File, stdout: Own::Pipe, stderr: Own::Pipe, same: false, leads: false };

    #[test]
    fn in_a_terminal_everything_is_the_terminal() {
        for pty in [Pty::Always, Pty::Mirror] {
            let plan = Plan::new(pty, Stdin::Auto, false, ATTENDED);
            assert_eq!((plan.stdin, plan.stdout, plan.stderr), (Input::Pty, Output::Pty, Output::Pty));
            assert!(plan.pty && !plan.on_demand && !plan.type_stdin);
        }
    }

    #[test]
    fn redirected_output_gets_a_terminal_of_its_own_only_when_asked_for() {
        let own = Surroundings { stderr: Own::File, same: false, ..ATTENDED };
        assert_eq!(Plan::new(Pty::Always, Stdin::Auto, false, own).stderr, Output::SidePty);
        assert_eq!(Plan::new(Pty::Mirror, Stdin::Auto, false, own).stderr, Output::Inherit);
        let merged = Surroundings { stdout: Own::File, stderr: Own::File, ..ATTENDED };
        assert_eq!(Plan::new(Pty::Always, Stdin::Auto, false, merged).stderr, Output::SameAsStdout);
    }

    #[test]
    fn without_any_terminal_mirror_needs_none() {
        let plan = Plan::new(Pty::Mirror, Stdin::Auto, false, CI);
        assert_eq!((plan.stdin, plan.stdout, plan.stderr), (Input::Inherit, Output::Pipe, Output::Pipe));
        assert!(!plan.pty);
        assert!(Plan::new(Pty::Always, Stdin::Auto, false, CI).pty);
    }

    #[test]
    fn never_means_pipes_and_the_terminal_is_read_directly() {
        let plan = Plan::new(Pty::Never, Stdin::Auto, false, ATTENDED);
        assert_eq!((plan.stdin, plan.stdout, plan.stderr), (Input::Inherit, Output::Pipe, Output::SameAsStdout));
        assert!(!plan.pty);
    }

    #[test]
    fn errors_that_go_to_another_terminal_get_a_terminal_of_their_own() {
        let own = Surroundings { stderr: Own::OtherTerminal, same: false, ..ATTENDED };
        for pty in [Pty::Always, Pty::Mirror] {
            assert_eq!(Plan::new(pty, Stdin::Auto, false, own).stderr, Output::SidePty);
        }
    }

    #[test]
    fn closed_streams_stay_closed() {
        let own = Surroundings { stdin: Own::Closed, stdout: Own::Closed, same: false, ..ATTENDED };
        for pty in [Pty::Always, Pty::Mirror, Pty::Never] {
            let plan = Plan::new(pty, Stdin::Auto, false, own);
            assert_eq!((plan.stdin, plan.stdout), (Input::Closed, Output::Closed));
        }
    }

    #[test]
    fn a_pipeline_leaves_the_terminal_to_the_others_until_it_is_wanted() {
        let own = Surroundings { stdout: Own::Pipe, same: false, ..ATTENDED };
        assert!(Plan::new(Pty::Always, Stdin::Auto, false, own).on_demand);
        let own = Surroundings { stdout: Own::File, same: false, ..ATTENDED };
        assert!(!Plan::new(Pty::Always, Stdin::Auto, false, own).on_demand);
        for (stdin, leads, on_demand) in
            [(Own::Null, false, true), (Own::Null, true, false), (Own::Terminal, false, false)]
        {
            let own = Surroundings { stdin, leads, ..ATTENDED };
            assert_eq!(Plan::new(Pty::Always, Stdin::Auto, false, own).on_demand, on_demand);
        }
    }

    #[test]
    fn a_pipe_is_typed_into_the_terminal_only_when_asked_for() {
        let own = Surroundings { stdin: Own::Pipe, ..ATTENDED };
        assert_eq!(Plan::new(Pty::Always, Stdin::Auto, false, own).stdin, Input::Inherit);
        let plan = Plan::new(Pty::Always, Stdin::Pty, false, own);
        assert!(plan.type_stdin && plan.stdin == Input::Pty);
    }
}
