//! From output to what was seen: taken in (`intake`), and looked at when it has settled.

mod intake;

use std::time::Duration;

use self::intake::Channel;
use super::activity::{Activity, Circumstances, STATUS_LASTS};
use super::appearing::Appearing;
use super::clocks::Clocks;
use super::complaint::is_retry;
use super::growth::Growth;
use super::keys::{Key, Keys};
use super::lines::PAINTING_LASTS;
use super::loops::{Loops, Repetition};
use super::picture::Picture;
use super::policy::ActivityKind;
use super::screen::{Line, Screen};
use super::settling::Unseen;
use super::waiting::View;
use super::{Moment, Policy, Size};

/// Nobody is woken for a look at once: the next output comes first most of the time, and the look is dated back.
const LAZY: Duration = Duration::from_millis(300);
/// How long a repaint after a resize, or an echo after a key, may take.
const ECHO: Duration = Duration::from_secs(1);
/// A program that left the full screen this long before its end did so because it ended.
const LEAVING: Duration = Duration::from_secs(3);

/// Something that a person has begun to type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Draft {
    /// The command was waiting for it.
    pub(super) at_prompt: bool,
    letters: usize,
}

/// Everything that is seen of the command's output.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct Sight {
    channels: [Channel; 3],
    screen: Screen,
    activity: Activity,
    appearing: Appearing,
    pub(super) loops: Loops,
    pub(super) clocks: Clocks,
    title: String,
    unseen: Option<Unseen>,
    in_frame: bool,
    /// When the cursor last went up or to a place.
    painted: Option<Moment>,
    looked: Moment,
    resized: Option<Moment>,
    /// When something was last typed for us into a turn in progress.
    nudged: Option<Moment>,
    typed: Option<Moment>,
    growth: Growth,
    lines: Vec<Line>,
    /// The wording of the screen changed since somebody asked.
    reworded: bool,
    /// The screen changed since somebody asked.
    printed: bool,
    /// A line said that the command is done, since somebody asked.
    said_done: bool,
    /// When somebody last typed.
    pub(super) last_typed: Option<Moment>,
    /// What somebody has begun to type and not submitted.
    pub(super) draft: Option<Draft>,
    keys: Keys,
    pub(super) suspected: Vec<Repetition>,
    /// The full screen that was left last, and when; only where pictures are wanted.
    left: Option<(Moment, Picture)>,
    pictures: bool,
    /// Something broke: from then on nothing is read, and any byte counts.
    blind: bool,
    #[cfg(debug_assertions)]
    breaks: bool,
}

impl Sight {
    /// A view of a screen of this size, on which pictures can be taken with so many lines above them; none: there will
    /// be none.
    pub(super) fn new(size: Size, above: Option<usize>) -> Self {
        let colours = above.is_some();
        Self {
            channels: [Channel::new(colours), Channel::new(colours), Channel::new(colours)],
            screen: Screen::new(size, above.unwrap_or(0)),
            left: None,
            pictures: colours,
            activity: Activity::default(),
            appearing: Appearing::default(),
            loops: Loops::default(),
            clocks: Clocks::default(),
            title: String::new(),
            unseen: None,
            in_frame: false,
            painted: None,
            looked: Moment::START,
            resized: None,
            nudged: None,
            typed: None,
            growth: Growth::default(),
            lines: Vec::new(),
            reworded: true,
            printed: false,
            said_done: false,
            last_typed: None,
            draft: None,
            keys: Keys::default(),
            suspected: Vec::new(),
            blind: false,
            #[cfg(debug_assertions)]
            breaks: false,
        }
    }

    /// Something broke in here: forgets all that was seen, and sees nothing more.
    pub(super) fn lose(&mut self) {
        *self = Self {
            clocks: std::mem::take(&mut self.clocks),
            last_typed: self.last_typed,
            draft: self.draft,
            blind: true,
            ..Self::new(self.screen.size(), None)
        };
        self.screen.lose();
    }

    /// What a person sees.
    pub(super) fn picture(&mut self) -> Picture {
        Picture { title: self.title().map(ToOwned::to_owned), ..self.shown().picture() }
    }

    /// What a person saw last, before a full-screen program left not long before `now`.
    pub(super) fn last_picture(&mut self, now: Moment) -> Picture {
        match self.left.take_if(|(at, _)| now.since(*at) < LEAVING) {
            Some((_, picture)) => picture,
            None => self.picture(),
        }
    }

    fn touch(&mut self, now: Moment) {
        self.unseen = Some(Unseen::with(self.unseen, now));
    }

    /// When the picture that was drawn is whole.
    fn settles(&self) -> Option<Moment> {
        self.unseen.map(|unseen| unseen.settles(self.in_frame))
    }

    /// Looks at what has settled by now.
    pub(super) fn catch_up(&mut self, now: Moment, policy: &Policy) {
        if self.settles().is_some_and(|settles| settles <= now) {
            self.look(policy);
        }
    }

    /// When to look if nothing happens before.
    pub(super) fn deadline(&self) -> Option<Moment> {
        self.settles().map(|settles| settles + LAZY)
    }

    fn look(&mut self, policy: &Policy) {
        let Some(Unseen { last: at, .. }) = self.unseen.take() else { return };
        self.looked = at;
        self.printed = true;
        self.screen.show_for_look();
        let recent = |moment: Option<Moment>| moment.is_some_and(|moment| at.since(moment) < ECHO);
        let around = Circumstances {
            all: recent(self.resized) || recent(self.nudged),
            row: recent(self.typed).then(|| self.screen.cursor().row),
            full_screen: self.screen.is_alternate(),
            size: self.screen.size(),
            status_words: policy.profile.as_ref().map(|profile| profile.status_words).unwrap_or_default(),
        };
        self.screen.lines_into(&mut self.lines);
        let found = self.activity.look(at, &self.lines, around, &policy.counting);
        if found.changed {
            self.clocks.change = Some(at);
        }
        if found.animated {
            self.clocks.turned(at);
        }
        if found.reworded {
            self.reworded = true;
            self.appear(at, around, policy);
        }
        let by = found.progress.or(self.grow(at, found.moved_up, around));
        if let Some(by) = by
            && policy.activity == ActivityKind::Screen
        {
            self.clocks.progressed(at, &by);
        }
    }

    /// The lowest line of a painted picture that became longer.
    fn grow(&mut self, at: Moment, moved_up: bool, around: Circumstances) -> Option<String> {
        let first = self.activity.ticking(at).map(|(row, _)| row).min().unwrap_or(0);
        if !self.growth.has_grown(at, moved_up, first) {
            return None;
        }
        let painted = self.painted.is_some_and(|painted| at.since(painted) < PAINTING_LASTS);
        // What stands where something turned is taken for turning for a while: that the block was pushed down by what we
        // typed, or by another size, is seen only then.
        let lately = |moment: Option<Moment>| moment.is_some_and(|moment| at.since(moment) < ECHO + STATUS_LASTS);
        let disturbed = lately(self.resized) || lately(self.nudged) || around.row.is_some();
        let counts = painted && !disturbed && !self.lines.iter().any(|line| is_retry(&line.text));
        let lowest = self.lines.iter().map(|line| line.text.trim()).rfind(|text| !text.is_empty());
        lowest.filter(|_| counts).map(ToOwned::to_owned)
    }

    /// On a painted screen the lines that appear are what is printed.
    fn appear(&mut self, at: Moment, around: Circumstances, policy: &Policy) {
        if self.painted.is_none_or(|painted| at.since(painted) >= PAINTING_LASTS) || around.all {
            return;
        }
        let ticking: Vec<usize> = self.activity.ticking(at).map(|(row, _)| row - 1).collect();
        let (loops, suspected) = (&mut self.loops, &mut self.suspected);
        self.appearing.look(at, &self.lines, |row| ticking.contains(&row) || around.row == Some(row), &mut |line| {
            suspected.extend(loops.line(at, line, &policy.loops));
        });
    }

    /// Somebody typed: what appears at the cursor next is the echo, unless the line was submitted.
    pub(super) fn typed(&mut self, now: Moment, bytes: &[u8]) {
        self.typed = (!bytes.iter().any(|byte| matches!(byte, b'\r' | b'\n'))).then_some(now);
    }

    /// We typed into a turn in progress: that it is queued, and how it could be sent, is said anywhere on the screen.
    pub(super) const fn nudged(&mut self, now: Moment) {
        self.nudged = Some(now);
    }

    /// Something came from the terminal, and before that the command was `at_prompt`. Whether a person typed it.
    pub(super) fn typed_by_person(&mut self, now: Moment, bytes: &[u8], at_prompt: bool) -> bool {
        let keys = self.keys.take(now, bytes);
        let mut person = keys.iter().filter(|key| **key != Key::Report).peekable();
        if person.peek().is_none() && !self.keys.is_pressed() {
            return false;
        }
        for key in person {
            let letters = self.draft.map_or(0, |draft| draft.letters);
            let at_prompt = self.draft.map_or(at_prompt, |draft| draft.at_prompt);
            self.draft = match key {
                Key::Over => None,
                Key::Letter => Some(Draft { at_prompt, letters: letters + 1 }),
                Key::Erase => Some(Draft { at_prompt, letters: letters.saturating_sub(1) }),
                Key::Other | Key::Report => self.draft,
            }
            .filter(|draft| draft.letters > 0);
        }
        self.typed = (!keys.contains(&Key::Over)).then_some(now);
        self.last_typed = Some(now);
        true
    }

    /// The command has gone on by itself since somebody typed: what that was has been taken, unless it was typed ahead
    /// into a turn that is in progress.
    pub(super) fn forget_old_draft(&mut self, in_turn: bool) {
        let ahead = in_turn && self.draft.is_some_and(|draft| !draft.at_prompt);
        if !ahead && self.last_typed.is_some_and(|typed| self.clocks.progress > typed + ECHO) {
            self.draft = None;
        }
    }

    /// Nobody could watch until now, and nobody typed either.
    pub(super) fn keep_draft(&mut self, now: Moment) {
        self.last_typed = self.last_typed.map(|_| now);
    }

    pub(super) fn resized(&mut self, now: Moment, size: Size) {
        self.screen.resize(size);
        self.resized = Some(now);
        self.touch(now);
    }

    /// Breaks at the next output, or when the screen is read before, for tests.
    #[cfg(debug_assertions)]
    pub(super) fn break_down(&mut self) {
        self.breaks = true;
    }

    /// Whether the wording of the screen changed since this was last asked.
    pub(super) fn take_reworded(&mut self) -> bool {
        std::mem::take(&mut self.reworded)
    }

    pub(super) fn title(&self) -> Option<&str> {
        (!self.title.is_empty()).then_some(self.title.as_str())
    }

    /// Whether a line said that the command is done, since this was last asked.
    pub(super) fn take_said_done(&mut self) -> bool {
        std::mem::take(&mut self.said_done)
    }

    /// Whether the screen was drawn on since this was last asked.
    pub(super) fn take_printed(&mut self) -> bool {
        std::mem::take(&mut self.printed)
    }

    pub(super) fn with_view<T>(&self, see: impl FnOnce(View<'_>) -> T) -> T {
        #[cfg(debug_assertions)]
        assert!(!self.breaks, "a test asked for this");
        let rows = self.screen.rows();
        see(View { rows: &rows, cursor: self.screen.cursor(), alternate: self.screen.is_alternate() })
    }

    /// The screen with everything on it that was printed.
    pub(super) fn shown(&mut self) -> &Screen {
        self.screen.show();
        &self.screen
    }

    /// The screen as it was last looked at.
    pub(super) const fn screen(&self) -> &Screen {
        &self.screen
    }

    /// When what turns or times in the cursor's row, above it or in the title has come to rest.
    pub(super) fn rests_until_cursor(&self) -> Option<Moment> {
        self.activity.last_tick_until(self.screen.cursor().row).max(self.clocks.title).map(Clocks::rest_after)
    }

    /// When what turns or times below the row has come to rest.
    pub(super) fn rests_below(&self, row: usize) -> Option<Moment> {
        self.activity.last_tick_below(row).map(Clocks::rest_after)
    }

    /// What moves on the screen although nothing counts, in words.
    pub(super) fn moving(&self, now: Moment) -> Option<String> {
        let mut rows = String::new();
        let mut times = false;
        for (row, timed) in self.activity.ticking(now) {
            rows.push_str(if rows.is_empty() { "" } else { ", " });
            rows.push_str(&row.to_string());
            times |= timed;
        }
        let what = if times { "spinner or elapsed time" } else { "spinner" };
        match (rows.is_empty(), self.clocks.turns(now)) {
            (false, _) => Some(format!("{what} (row {rows})")),
            (true, true) => Some("title or pulse".to_owned()),
            (true, false) => None,
        }
    }
}
