//! The command that runs, and whoever minds it.

use super::link::Order;
use super::monitor::Monitor;
use super::place::Place;

/// The command and its monitor.
pub(super) struct Command {
    /// The process between us and the command.
    pub(super) monitor: Monitor,
    /// The command's process id.
    pub(super) child: i32,
    /// Its process group.
    pub(super) group: i32,
    /// Where it stands.
    pub(super) place: Place,
}

impl Command {
    /// Tells the monitor what to do.
    pub(super) fn order(&self, order: Order) {
        self.monitor.link.order(order);
    }

    /// Whom to signal where the tree is not known.
    pub(super) fn target(&self) -> i32 {
        self.place.target(self.group, self.child)
    }
}
