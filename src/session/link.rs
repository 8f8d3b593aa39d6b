//! The line between idlewatch and its monitor process: small messages of one size.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use super::spawn::Failure;
use crate::signal::Signal;

/// What idlewatch tells the monitor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Send this signal to the command alone, as the sender of it meant.
    Signal(Signal),
    /// Send this signal to the command's process group, as a terminal does.
    SignalGroup(Signal),
    /// Put the command in the foreground of its terminal.
    Foreground,
    /// Take the command out of the foreground of its terminal.
    Background,
    /// idlewatch does not stand still, or no longer.
    Awake,
    /// Everything is read: leave, without disturbing what lives on.
    Finish,
}

/// What the monitor tells idlewatch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum News {
    /// The command runs and has this process id.
    Started {
        /// Its process id.
        pid: i32,
        /// Its process group.
        group: i32,
    },
    /// The command could not be started, for this reason.
    Failed(Failure),
    /// The command was stopped by this signal.
    Stopped(Signal),
    /// The command ended with this status, as `waitpid` gives it.
    Ended(i32),
}

/// One end of the line.
#[derive(Debug)]
pub struct Link(UnixStream);

const SIZE: usize = 12;
/// How often a message is tried that the kernel has no memory for, and how long it is waited in between.
const TRIES: usize = 200;
const NEXT_TRY: Duration = Duration::from_millis(10);

impl Link {
    /// Both ends.
    pub fn pair() -> io::Result<(Self, Self)> {
        let (one, other) = UnixStream::pair()?;
        Ok((Self(one), Self(other)))
    }

    /// Tells the monitor. A monitor that is gone is noticed where its news are read.
    pub fn order(&self, order: Order) {
        let (kind, value) = match order {
            Order::Signal(signal) => (0, signal.number()),
            Order::SignalGroup(signal) => (1, signal.number()),
            Order::Foreground => (2, 0),
            Order::Background => (3, 0),
            Order::Awake => (4, 0),
            Order::Finish => (5, 0),
        };
        self.send(kind, [value, 0]);
    }

    /// Reads the next order; none when idlewatch is gone.
    pub fn next_order(&self) -> Option<Order> {
        let (kind, [value, _]) = self.receive()?;
        Some(match kind {
            0 => Order::Signal(Signal::from_number(value)?),
            1 => Order::SignalGroup(Signal::from_number(value)?),
            2 => Order::Foreground,
            3 => Order::Background,
            4 => Order::Awake,
            _ => Order::Finish,
        })
    }

    /// Tells idlewatch. An idlewatch that is gone is noticed where its orders are read.
    pub fn report(&self, news: News) {
        let (kind, values) = match news {
            News::Started { pid, group } => (0, [pid, group]),
            News::Failed(failure) => (1, [failure.to_number(), 0]),
            News::Stopped(signal) => (2, [signal.number(), 0]),
            News::Ended(status) => (3, [status, 0]),
        };
        self.send(kind, values);
    }

    /// Reads the next news; none when the monitor is gone.
    pub fn next_news(&self) -> Option<News> {
        let (kind, [value, other]) = self.receive()?;
        Some(match kind {
            0 => News::Started { pid: value, group: other },
            1 => News::Failed(Failure::from_number(value)),
            2 => News::Stopped(Signal::from_number(value)?),
            _ => News::Ended(value),
        })
    }

    /// Closes the line: the other side takes it as our death.
    pub fn close(&self) {
        let _ = self.0.shutdown(std::net::Shutdown::Both);
    }

    /// Whoever waits for a message that cannot be sent would wait for ever: then the line is closed.
    fn send(&self, kind: u8, values: [i32; 2]) {
        let mut message = [0; SIZE];
        message[0] = kind;
        message[4..8].copy_from_slice(&values[0].to_ne_bytes());
        message[8..].copy_from_slice(&values[1].to_ne_bytes());
        if self.write(&message).is_err() {
            self.close();
        }
    }

    /// The kernel may have no memory for a message, for the moment.
    fn write(&self, mut message: &[u8]) -> io::Result<()> {
        let mut tries = 0;
        while !message.is_empty() {
            match (&self.0).write(message) {
                Ok(count) => message = &message[count..],
                Err(error) => match error.raw_os_error() {
                    Some(libc::EINTR) => {}
                    Some(libc::ENOBUFS | libc::ENOMEM | libc::EAGAIN) if tries < TRIES => {
                        tries += 1;
                        std::thread::sleep(NEXT_TRY);
                    }
                    _ => return Err(error),
                },
            }
        }
        Ok(())
    }

    fn receive(&self) -> Option<(u8, [i32; 2])> {
        let mut message = [0; SIZE];
        (&self.0).read_exact(&mut message).ok()?;
        let value = |at: usize| message[at..at + 4].try_into().map(i32::from_ne_bytes).ok();
        Some((message[0], [value(4)?, value(8)?]))
    }
}

impl AsFd for Link {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_arrives_as_it_was_sent_and_a_closed_end_says_so() {
        let (ours, theirs) = Link::pair().unwrap();
        for order in [
            Order::Signal(Signal::TERM),
            Order::SignalGroup(Signal::INT),
            Order::Foreground,
            Order::Background,
            Order::Awake,
            Order::Finish,
        ] {
            ours.order(order);
            assert_eq!(theirs.next_order(), Some(order));
        }
        for news in [
            News::Started { pid: 42, group: 43 },
            News::Failed(Failure::Running(2)),
            News::Failed(Failure::Preparing(2)),
            News::Stopped(Signal::TSTP),
            News::Ended(0x0100),
        ] {
            theirs.report(news);
            assert_eq!(ours.next_news(), Some(news));
        }
        drop(theirs);
        assert_eq!(ours.next_news(), None);
    }

    #[test]
    fn a_message_that_cannot_be_sent_at_once_arrives_later() {
        const MANY: usize = 10_000;
        let (ours, theirs) = Link::pair().unwrap();
        ours.0.set_nonblocking(true).unwrap();
        let reader =
            std::thread::spawn(move || (0..MANY).filter(|_| theirs.next_order() == Some(Order::Awake)).count());
        (0..MANY).for_each(|_| ours.order(Order::Awake));
        drop(ours);
        assert_eq!(reader.join().unwrap(), MANY);
    }
}
