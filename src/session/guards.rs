//! What guards see outside: the work of the process tree, and files.
//!
//! Each compares with what it saw the time before, so they measure once when silence is suspected and are asked when it
//! is certain. What begins and changes has a date, so that those who go by that also know what was before they first
//! measured. What cannot be measured does not speak.

use std::collections::HashMap;
use std::hash::Hash;
use std::iter::Sum;
use std::ops::Sub;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::files::Mark;
use super::tree::{self, Key, Medium, Member, TreeWork, Work};
use crate::watch::{Answer, Busy, Guard, Moment, SHORTEST, Word, span};

/// The share of one core that is work, for processes that have the terminal while something is printed to it: they may be
/// drawing. Measured on agents that hung with their spinners turning: claude 16 %, codex 6 %, gemini 19 %, aider 1 %,
/// opencode up to 41 %.
const BUSY_DRAWING: f64 = 0.45;
/// The same while they print nothing: then they do not draw. But a shell that waits for something starts a process or two
/// every tenth of a second: some 10 %.
const BUSY_SILENT: f64 = 0.15;
/// The same for what those have used themselves that stay: to wait by starting processes costs the processes, and the shell
/// 0.3 %. Agents that hung without a terminal used at most 2 %, programs that poll every millisecond 3 %; a film that is
/// converted as fast as it plays takes 10 %.
const BUSY_STAYING: f64 = 0.05;
/// For processes that do not have it, such as the tools of an agent: asleep they use nothing, at work 28 % and more,
/// on a machine with four times as many busy processes as cores.
const BUSY: f64 = 0.05;
/// Bytes a second that are work. Hung agents moved at most 70 kB/s, builds and installs 750 kB/s and more. Whoever waits by
/// starting programs again and again reads them, up to 1.2 MB/s, but from memory: of a disk nothing.
const TRANSFER: f64 = 500_000.0;
/// The same from or to a disk, where nothing is drawn and whoever hangs writes no more than a log: a backup that is held
/// back, or goes to a slow disk, is slower than a build.
const TRANSFER_DISK: f64 = 200_000.0;
/// Bytes a second that are received and are work. `claude -p` that called a tool every five or six seconds received 228 to
/// 394, `gemini -p` with short answers 145 to 181; one such answer in eight seconds, 726 bytes, would be 90. A server that
/// hangs sends nothing, or pings: by their length 9 for one every five seconds, and more over TLS. That is reckoned, not
/// measured, and so where the line is drawn is a guess.
const RECEIVED: f64 = 40.0;

/// What was seen the time before.
#[derive(Debug, Default)]
pub struct Guards {
    cpu: Option<(Moment, TreeWork)>,
    io: Option<(Moment, u64)>,
    disk: Option<(Moment, u64)>,
    /// What each connection had received.
    net: Option<(Moment, HashMap<u64, u64>)>,
    family: Option<HashMap<Key, Member>>,
    files: Vec<(PathBuf, Option<Mark>)>,
    /// What was said when nobody asked.
    unheard: Vec<Answer>,
}

impl Guards {
    /// What these guards say of the processes below `root`. Shell commands are not asked here, nor files.
    /// `terminals` are the device numbers of the command's terminals, to which something was last `printed` then, and
    /// `busy` is whose processor time is work. The command has been `silent` for so long.
    pub fn ask<'g>(
        &mut self,
        (now, silent): (Moment, Duration),
        guards: impl Iterator<Item = &'g Guard>,
        root: i32,
        (terminals, printed): (&[u64], Option<Moment>),
        busy: Busy,
    ) -> Vec<Answer> {
        guards
            .filter_map(|guard| {
                let word = match guard {
                    Guard::Cpu => self.cpu(now, root, (terminals, printed), busy),
                    Guard::Io => {
                        let moved = tree::bytes_moved(root, Medium::Any);
                        transfer(&mut self.io, now, moved, TRANSFER, "did I/O at")
                    }
                    Guard::Disk => {
                        let moved = tree::bytes_moved(root, Medium::Disk);
                        transfer(&mut self.disk, now, moved, TRANSFER_DISK, "did disk I/O at")
                    }
                    Guard::Net => self.net(now, root),
                    Guard::Children => self.children(root, silent),
                    Guard::Turn | Guard::File(_) | Guard::Command(_) => return None,
                };
                Some(Answer { guard: guard.clone(), word })
            })
            .collect()
    }

    /// Keeps what was said when nobody asked, for when somebody does.
    pub fn keep(&mut self, answer: Answer) {
        if let Word::Speaks(_) = answer.word {
            self.unheard.push(answer);
        }
    }

    /// What a guard says that was asked, once what it said before is taken into account.
    pub fn complete(&mut self, answer: Answer) -> Answer {
        let before = self.unheard.iter().position(|unheard| unheard.guard == answer.guard);
        let before = before.map(|index| self.unheard.swap_remove(index));
        match answer.word {
            Word::Speaks(_) => answer,
            Word::Nothing | Word::Measuring => before.unwrap_or(answer),
        }
    }

    fn cpu(&mut self, now: Moment, root: i32, (terminals, printed): (&[u64], Option<Moment>), busy: Busy) -> Word {
        let Some(work) = tree::work(root, terminals) else { return Word::Nothing };
        let (then, before) = self.cpu.get_or_insert_with(|| (now, work.clone()));
        let (since, wall) = (*then, now.since(*then));
        if wall < SHORTEST {
            return Word::Measuring;
        }
        let staying = share(wall, Work::default(), Work { used: growth(&before.own, &work.own), ..Work::default() });
        let [drawing, others] = [0, 1].map(|group| share(wall, before.groups[group], work.groups[group]));
        (*then, *before) = (now, work);
        let draws = printed.is_some_and(|printed| printed >= since);
        let (drawing, works) = match busy {
            Busy::All if draws => (drawing, drawing >= BUSY_DRAWING),
            Busy::All => (drawing, drawing >= BUSY_SILENT || staying >= BUSY_STAYING),
            // Of whom nothing is taken for work nothing is told either.
            Busy::Tools => (0.0, false),
        };
        let says = (works || others >= BUSY).then(|| {
            let all = (drawing + others) * 100.0;
            format!("its processes used {all:.0}% of a core in the last {}", span(wall))
        });
        says.into()
    }

    /// An agent without a terminal prints nothing while it works, and what it does costs it next to nothing; but the model
    /// answers. Only connections that were there before count: to open one brings bytes too, and whoever tries again for
    /// ever does that.
    fn net(&mut self, now: Moment, root: i32) -> Word {
        let Some(received) = tree::bytes_received(root) else { return Word::Nothing };
        let Some((then, before)) = &self.net else {
            self.net = Some((now, received));
            return Word::Measuring;
        };
        let wall = now.since(*then);
        if wall < SHORTEST {
            return Word::Measuring;
        }
        let bytes: u64 = growth(before, &received);
        self.net = Some((now, received));
        #[allow(clippy::cast_precision_loss, reason = "a rate for people")]
        let rate = bytes as f64 / wall.as_secs_f64();
        let says =
            (rate >= RECEIVED).then(|| format!("its processes received {bytes} bytes in the last {}", span(wall)));
        says.into()
    }

    fn children(&mut self, root: i32, silent: Duration) -> Word {
        let Some(family) = tree::family(root) else { return Word::Nothing };
        let says = comings_and_goings(self.family.as_ref(), &family, silent);
        self.family = Some(family);
        says.into()
    }

    /// What a file says that looks like this now, at this time of day, where the command has been `silent` for so long.
    pub fn file(&mut self, path: &Path, mark: Option<Mark>, time: SystemTime, silent: Duration) -> Word {
        let changed = || Word::Speaks(format!("{} changed", path.display()));
        let known = self.files.iter_mut().find(|(known, _)| known == path);
        let Some((_, before)) = known else {
            self.files.push((path.to_owned(), mark));
            return if mark.is_some_and(|mark| mark.is_new(time, silent)) { changed() } else { Word::Nothing };
        };
        let before = std::mem::replace(before, mark);
        match (before, mark) {
            (before, now) if before == now => Word::Nothing,
            (Some(before), Some(now)) if now.size > before.size => {
                Word::Speaks(format!("{} grew by {} bytes", path.display(), now.size - before.size))
            }
            (_, Some(_)) => changed(),
            (_, None) => Word::Nothing,
        }
    }
}

/// Who has come and gone since a family looked as `before`, or if nobody knows that, who has come in this time.
fn comings_and_goings(
    before: Option<&HashMap<Key, Member>>,
    now: &HashMap<Key, Member>,
    silent: Duration,
) -> Option<String> {
    let count = |begun: usize, ended: usize| format!("{begun} processes started and {ended} ended");
    let Some(before) = before else {
        let begun = now.values().filter(|member| member.age < silent).count();
        return (begun > 0).then(|| count(begun, 0));
    };
    let begun = now.keys().filter(|key| !before.contains_key(key)).count();
    let ended = before.keys().filter(|key| !now.contains_key(key)).count();
    if begun + ended > 0 {
        return Some(count(begun, ended));
    }
    // Whoever came and went in between left nothing but what its parent knows of it.
    let buried = |(key, member): (&Key, &Member)| before.get(key).is_some_and(|before| before.buried < member.buried);
    now.iter().any(buried).then(|| "processes started and ended in between".to_owned())
}

/// By how much those that were there before have grown.
fn growth<K: Eq + Hash, N: Copy + Ord + Sub<Output = N> + Sum>(before: &HashMap<K, N>, now: &HashMap<K, N>) -> N {
    // What has shrunk is another under the same key.
    let grown =
        |(key, amount): (&K, &N)| before.get(key).filter(|before| *before < amount).map(|before| *amount - *before);
    now.iter().filter_map(grown).sum()
}

/// How fast bytes were moved since the last look, in words, where so many a second are work.
fn transfer(last: &mut Option<(Moment, u64)>, now: Moment, moved: Option<u64>, work: f64, what: &str) -> Word {
    let Some(moved) = moved else { return Word::Nothing };
    let (then, before) = *last.get_or_insert((now, moved));
    let (wall, bytes) = (now.since(then), moved.saturating_sub(before));
    if wall < SHORTEST {
        return Word::Measuring;
    }
    *last = Some((now, moved));
    #[allow(clippy::cast_precision_loss, reason = "a rate for people")]
    let rate = bytes as f64 / wall.as_secs_f64();
    let says =
        (rate >= work).then(|| format!("its processes {what} {:.0} KiB/s in the last {}", rate / 1024.0, span(wall)));
    says.into()
}

/// The share of a core that was used of the time in which there was one to use: on a machine with more work than cores
/// even those that do nothing but work get little.
fn share(wall: Duration, before: Work, now: Work) -> f64 {
    let held_up = now.held_up.saturating_sub(before.held_up);
    let could = wall.saturating_sub(held_up).max(wall / 10);
    now.used.saturating_sub(before.used).as_secs_f64() / could.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::clock::Clock;
    use super::*;

    #[test]
    fn a_busy_machine_does_not_make_work_look_like_sleep() {
        let work = |used, held_up| Work { used: Duration::from_secs(used), held_up: Duration::from_secs(held_up) };
        let share = |used: u64, held_up: u64| share(Duration::from_secs(10), work(5, 7), work(5 + used, 7 + held_up));
        assert!((share(10, 0) - 1.0).abs() < 0.01);
        // It got a sixth of a core, and wanted all of it.
        assert!(share(2, 8) > 0.9);
        // A spinner on the same machine.
        assert!(share(1, 2) < 0.2);
        // Several that wait at once are not counted beyond what there is.
        assert!(share(1, 80) <= 1.0);
    }

    fn says(guards: &mut Guards, path: &Path) -> Word {
        guards.file(path, Mark::of(path), Clock::time_of_day(), Duration::ZERO)
    }

    fn speaks_of(word: &Word, what: &str) -> bool {
        matches!(word, Word::Speaks(text) if text.contains(what))
    }

    #[test]
    fn who_has_come_is_known_by_its_age_and_who_came_and_went_by_what_it_left_with_its_parent() {
        let member = |age, buried| Member { age: Duration::from_secs(age), buried };
        let says = |before: Option<&HashMap<Key, Member>>, now: &HashMap<Key, Member>| {
            comings_and_goings(before, now, Duration::from_secs(10))
        };
        let (old, later) = (HashMap::from([((1, 5), member(60, 7))]), HashMap::from([((1, 5), member(70, 7))]));
        assert_eq!((says(None, &old), says(Some(&old), &later)), (None, None));
        let with_a_child = HashMap::from([((1, 5), member(70, 7)), ((2, 70), member(5, 0))]);
        assert_eq!(says(None, &with_a_child).unwrap(), "1 processes started and 0 ended");
        assert_eq!(says(Some(&with_a_child), &later).unwrap(), "0 processes started and 1 ended");
        let buried = HashMap::from([((1, 5), member(70, 8))]);
        assert!(says(Some(&old), &buried).unwrap().ends_with("in between"));
        // Another process under the same id.
        assert!(says(Some(&old), &HashMap::from([((1, 9), member(1, 8))])).unwrap().starts_with("1 processes"));
    }

    #[test]
    fn what_was_said_when_nobody_asked_is_said_once_when_somebody_does() {
        let answer = |word: &Word| Answer { guard: Guard::Children, word: word.clone() };
        let (early, now) = (Word::Speaks("early".to_owned()), Word::Speaks("now".to_owned()));
        for (said, heard) in [(&Word::Nothing, &early), (&Word::Measuring, &early), (&now, &now)] {
            let mut guards = Guards::default();
            guards.keep(answer(&Word::Measuring));
            guards.keep(answer(&early));
            let other = Answer { guard: Guard::Cpu, word: Word::Measuring };
            assert_eq!(guards.complete(other.clone()), other);
            assert_eq!(guards.complete(answer(said)), answer(heard));
            assert_eq!(guards.complete(answer(&Word::Nothing)), answer(&Word::Nothing));
        }
    }

    #[test]
    fn a_connection_that_was_just_opened_has_received_nothing_yet() {
        let (before, now) = (HashMap::from([(1, 500), (2, 70)]), HashMap::from([(1, 900), (3, 4000)]));
        assert_eq!(growth(&before, &now), 400);
    }

    #[test]
    fn bytes_are_work_when_there_are_many_of_them() {
        let (mut last, at) = (None, |seconds| Moment::START + Duration::from_secs(seconds));
        let mut says = |seconds, moved| transfer(&mut last, at(seconds), Some(moved), TRANSFER, "moved");
        assert_eq!(says(0, 7_000_000), Word::Measuring);
        assert_eq!(says(10, 7_700_000), Word::Nothing);
        assert!(speaks_of(&says(20, 17_700_000), "moved 977 KiB/s"));
        assert_eq!(transfer(&mut None, at(0), None, TRANSFER, "moved"), Word::Nothing);
        let mut slow = Some((at(0), 0));
        assert!(speaks_of(&transfer(&mut slow, at(10), Some(3_000_000), TRANSFER_DISK, "moved"), "moved"));
        assert_eq!(transfer(&mut slow, at(20), Some(3_700_000), TRANSFER_DISK, "moved"), Word::Nothing);
    }

    #[test]
    fn a_file_speaks_when_it_grows_and_a_folder_when_something_in_it_does() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("log");
        fs::write(&file, "a").unwrap();
        for path in [file.clone(), folder.path().to_owned()] {
            let mut guards = Guards::default();
            assert_eq!(says(&mut guards, &path), Word::Nothing);
            assert_eq!(says(&mut guards, &path), Word::Nothing);
            let text = fs::read_to_string(&file).unwrap();
            fs::write(&file, text + "more").unwrap();
            assert!(speaks_of(&says(&mut guards, &path), "grew by 4 bytes"));
            assert_eq!(says(&mut guards, &path), Word::Nothing);
        }
    }

    #[test]
    fn a_file_that_is_not_there_does_not_speak_until_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("late");
        let mut guards = Guards::default();
        assert_eq!(says(&mut guards, &file), Word::Nothing);
        fs::write(&file, "here").unwrap();
        assert!(speaks_of(&says(&mut guards, &file), "changed"));
    }

    #[test]
    fn a_file_that_nobody_saw_before_speaks_by_its_date() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("made");
        fs::write(&file, "here").unwrap();
        let mark = Mark::of(&file);
        for (silent, speaks) in [(Duration::from_hours(1), true), (Duration::ZERO, false)] {
            let word = Guards::default().file(&file, mark, Clock::time_of_day(), silent);
            assert_eq!(speaks_of(&word, "changed"), speaks, "{word:?}");
        }
    }
}
