//! Those who are told what happens: the person, files, clients, a log.

use std::time::Duration;

use super::Moment;
use super::heartbeat::Heartbeat;
use super::notes::Notes;
use super::records::Records;

/// Everybody who is told something.
pub(super) struct Teller {
    /// The person.
    pub(super) notes: Notes,
    /// Files and clients.
    pub(super) records: Records,
    /// How often the progress is told to those who listen.
    pub(super) progress_every: Option<Duration>,
    /// The same, and when next, while somebody does.
    pub(super) progress: Option<(Duration, Moment)>,
    /// Says that the command is still there.
    pub(super) heartbeat: Option<Heartbeat>,
}
