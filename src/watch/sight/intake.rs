//! Output on its way into what is seen: sifted, shown to the screen, and read line by line. Of a flood only what decides.

use std::time::Duration;

use super::super::lines::Lines;
use super::super::picture::Picture;
use super::super::policy::ActivityKind;
use super::super::sieve::{Piece, Sieve};
use super::super::sketch::Sketch;
use super::super::{Moment, Policy, Stream};
use super::Sight;
use crate::scan;

/// Complete updates are looked at no more often than this.
const BETWEEN_FRAMES: Duration = Duration::from_millis(100);
/// A program that leaves the full screen again and again is not kept every time: a picture costs.
const BETWEEN_PICTURES: Duration = Duration::from_millis(250);
/// Output that is shorter is read whole.
const WORTH_SKIPPING: usize = 2048;
/// So much is worth to show the emulator what it was not shown yet.
const SKIMMED: usize = 1 << 16;
/// So much of a flood is read, whatever it is.
const READ_OF_A_FLOOD: usize = 1 << 13;

/// One of the streams that the command prints to.
#[derive(Debug)]
pub(super) struct Channel {
    sieve: Sieve,
    lines: Lines,
}

impl Channel {
    pub(super) fn new(colours: bool) -> Self {
        Self { sieve: Sieve::new(colours), lines: Lines::new() }
    }
}

impl Default for Channel {
    fn default() -> Self {
        Self::new(false)
    }
}

impl Sight {
    /// Takes output in.
    pub(in crate::watch) fn output(&mut self, now: Moment, stream: Stream, bytes: &[u8], policy: &Policy) {
        if bytes.is_empty() {
            return;
        }
        self.clocks.byte = Some(now);
        if policy.activity == ActivityKind::Bytes || self.screen.is_lost() {
            self.clocks.progressed(now, "");
        }
        if self.blind {
            self.printed = true;
            return;
        }
        #[cfg(debug_assertions)]
        assert!(!self.breaks, "a test asked for this");
        let mut channel = std::mem::take(&mut self.channels[stream as usize]);
        let (bare, size) = (stream != Stream::Terminal, self.screen.size());
        let read = |sight: &mut Self, channel: &mut Channel, part: &[u8]| {
            let Channel { sieve, lines } = channel;
            sieve.push(part, bare, size.cols, &mut |piece| sight.piece(now, piece, lines, policy));
        };
        let mut rest = bytes;
        if bytes.len() >= WORTH_SKIPPING && self.screen.shows_only_ends() && !policy.looks_at_every_line() {
            if !channel.sieve.is_between_sequences() || channel.sieve.is_in_character() {
                let begun;
                (begun, rest) = bytes.split_at(scan::escape(bytes));
                read(self, &mut channel, begun);
            }
            if channel.sieve.is_between_sequences() {
                let (beside, end) = self.screen.deciding_end(rest, bare);
                if end.len() < rest.len() {
                    channel.sieve.skipped_lines();
                    channel.lines.skipped();
                }
                beside.sequences().for_each(|sequence| read(self, &mut channel, sequence));
                rest = self.skim(now, &mut channel, end, bare, policy);
            }
        }
        read(self, &mut channel, rest);
        self.channels[stream as usize] = channel;
    }

    /// Has the screen draw all of a flood but its end, which is given back to be read.
    fn skim<'o>(
        &mut self,
        now: Moment,
        channel: &mut Channel,
        flood: &'o [u8],
        bare: bool,
        policy: &Policy,
    ) -> &'o [u8] {
        let Channel { sieve, lines } = channel;
        let (cols, mut rest, mut step, mut parts) = (self.screen.size().cols, flood, READ_OF_A_FLOOD, true);
        while let Some(length) = rest.len().checked_sub(READ_OF_A_FLOOD).filter(|length| *length >= SKIMMED.max(step)) {
            let begins = sieve.is_between_sequences() && !sieve.is_in_character();
            let sketch = if begins { self.screen.sketch(&rest[..length], bare, parts) } else { Sketch::default() };
            // To ask for what all of it does is not worth it where little of that is drawn.
            parts &= sketch.length >= length / 2;
            if sketch.length == 0 {
                // Should it come to that again and again, more and more is read before it is tried again.
                step *= 2;
            } else {
                step = READ_OF_A_FLOOD;
                sieve.skipped_lines();
                lines.cut();
            }
            rest = &rest[sketch.length..];
            let read = step.min(rest.len());
            let (read, after) = rest.split_at(read + scan::escape(&rest[read..]));
            for part in sketch.beside.sequences().chain([read]) {
                sieve.push(part, bare, cols, &mut |piece| self.piece(now, piece, lines, policy));
            }
            rest = after;
        }
        rest
    }

    fn piece(&mut self, now: Moment, piece: Piece<'_>, lines: &mut Lines, policy: &Policy) {
        match piece {
            Piece::Text(text) => {
                self.print(now, text, lines, policy);
                self.screen.text(text);
                self.touch(now);
            }
            Piece::Look(sequence) => self.screen.text(sequence),
            Piece::Control { sequence, moves } => {
                self.keep_full_screen(now, sequence);
                if moves {
                    self.painted = Some(now);
                    lines.moved(now);
                }
                self.screen.control(sequence);
                self.touch(now);
            }
            Piece::Margins(set) => self.screen.set_margins(set),
            Piece::Title(title) => {
                if self.title != title {
                    self.title.clear();
                    self.title.push_str(title);
                    self.clocks.turned(now);
                    self.clocks.title = Some(now);
                }
            }
            Piece::Frame(begins) => {
                self.in_frame = begins;
                if !begins && self.unseen.is_some() && now.since(self.looked) >= BETWEEN_FRAMES {
                    self.look(policy);
                }
            }
        }
    }

    /// A full-screen program takes its screen with it when it leaves.
    fn keep_full_screen(&mut self, now: Moment, sequence: &str) {
        let lately = |(at, _): &(Moment, Picture)| now.since(*at) < BETWEEN_PICTURES;
        if self.pictures && leaves_full_screen(sequence) && !self.left.iter().any(lately) && self.shown().is_alternate()
        {
            self.left = Some((now, self.picture()));
        }
    }

    /// New lines count as they come: whether they say anything new is for the loop detector to judge.
    fn print(&mut self, now: Moment, text: &str, lines: &mut Lines, policy: &Policy) {
        let (loops, suspected, clocks) = (&mut self.loops, &mut self.suspected, &mut self.clocks);
        let (said_done, activity) = (&mut self.said_done, &mut self.activity);
        let screen = policy.activity == ActivityKind::Screen;
        lines.text(now, text, policy.looks_at_every_line(), &mut |line, sampled| {
            if line.is_empty() {
                return;
            }
            if screen && policy.counting.counts(line) {
                clocks.progressed(now, line.trim());
                activity.line_completed();
            }
            *said_done |= policy.done.as_ref().is_some_and(|done| done.is_match(line));
            suspected.extend(if sampled {
                loops.line(now, line, &policy.loops)
            } else {
                loops.captured(now, line, &policy.loops)
            });
        });
        if let Some(text) = lines.take_overwritten() {
            loops.overwritten(now, &text);
        }
    }
}

/// Whether this control sequence gives the screen back to what was there before.
fn leaves_full_screen(sequence: &str) -> bool {
    let modes = sequence.strip_prefix("\x1b[?").and_then(|rest| rest.strip_suffix('l'));
    modes.is_some_and(|modes| modes.split(';').any(|mode| matches!(mode, "47" | "1047" | "1049")))
}
