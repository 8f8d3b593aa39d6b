//! Our own terminal, and whether somebody sits at it.

use super::Moment;
use super::lent::Lent;
use super::terminal::Terminal;

/// The terminal that we were started in, if there is one.
#[derive(Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct Outer {
    /// The terminal itself.
    pub(super) terminal: Option<Terminal>,
    /// Which sink writes to it.
    pub(super) screen: Option<usize>,
    /// The same, where the command reads from it directly.
    pub(super) lent: Option<Lent>,
    /// Leave it alone until the command wants it.
    pub(super) on_demand: bool,
    /// When we last took it for the command, after the start.
    pub(super) fronted: Option<Moment>,
    /// Others, in a pipeline or a script, may print to it.
    pub(super) shared: bool,
    /// The command's terminal was set up while somebody else, a shell at its prompt, had ours as it likes it.
    pub(super) strange_settings: bool,
    /// The command's size is fixed, whatever ours is.
    pub(super) fixed_size: bool,
    /// Our standard input is a terminal.
    pub(super) has_person: bool,
    /// And we are in its foreground: a person can be expected to answer.
    pub(super) attended: bool,
}
