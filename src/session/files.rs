//! What the files look like that guards go by. A file system may not answer, and whoever asks it then hangs; so that is a
//! process of its own, which is left to hang.
#![allow(unsafe_code, reason = "a fork, and statx(2) with flags that nothing wraps")]

use std::fs::{self, File, Metadata};
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use nix::sys::signal::{SigSet, SigmaskHow, sigprocmask};
use nix::unistd::{ForkResult, Pid, fork, setpgid};

use super::printed::is_followed;
use super::unblocked::never_block;
use super::{inherited, signals, terminal};
use crate::signal::Signal;
use crate::watch::Moment;

/// How long a file system may take to answer.
const LIMIT: Duration = Duration::from_secs(10);
/// How many entries of a folder are looked at.
const MOST_ENTRIES: u64 = 10_000;
const HANGS: &str = "its file system does not respond";
/// What is written of one.
const SIZE: usize = 56;

/// What a file or a folder looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// How much is in it.
    pub size: u64,
    /// When that was changed last, in seconds and the rest of them.
    modified: (i64, i64),
    entries: u64,
    /// When that, or what is known of it, was changed last: what was put there with an older time is new all the same.
    touched: (i64, i64),
}

impl Mark {
    /// A folder's mark is that of everything below it, as far as it is looked at, but for our records and what the command
    /// prints, which change nothing of it, nor of their own. None where there is nothing.
    pub fn of(path: &Path) -> Option<Self> {
        let modified = |metadata: &Metadata| (metadata.mtime(), metadata.mtime_nsec());
        let touched = |metadata: &Metadata| (metadata.ctime(), metadata.ctime_nsec());
        let metadata = fs::metadata(path).ok()?;
        if is_followed(&metadata) {
            return Some(Self { size: 0, modified: (0, 0), entries: 0, touched: (0, 0) });
        }
        let (size, modified_at, touched_at) = (metadata.len(), modified(&metadata), touched(&metadata));
        let mut mark = Self { size, modified: modified_at, entries: 0, touched: touched_at };
        let mut folders = if metadata.is_dir() { vec![path.to_owned()] } else { Vec::new() };
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                mark.entries += 1;
                if mark.entries > MOST_ENTRIES {
                    return Some(mark);
                }
                let Ok(metadata) = entry.metadata() else { continue };
                if is_followed(&metadata) {
                    continue;
                }
                mark.size += metadata.len();
                mark.modified = mark.modified.max(modified(&metadata));
                mark.touched = mark.touched.max(touched(&metadata));
                if metadata.is_dir() {
                    folders.push(entry.path());
                }
            }
        }
        Some(mark)
    }

    /// Whether it was changed this short a time before `now`. A time that is still to come is that of another clock.
    pub fn is_new(&self, now: SystemTime, within: Duration) -> bool {
        let since_epoch = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        [self.modified, self.touched].into_iter().any(|(seconds, rest)| {
            let (Ok(seconds), Ok(rest)) = (u64::try_from(seconds), u32::try_from(rest)) else { return false };
            since_epoch.checked_sub(Duration::new(seconds, rest)).is_some_and(|age| age < within)
        })
    }

    fn to_bytes(mark: Option<Self>) -> [u8; SIZE] {
        let numbers = mark.map_or([0; 7], |mark| {
            let [modified, modified_rest, touched, touched_rest] =
                [mark.modified.0, mark.modified.1, mark.touched.0, mark.touched.1].map(i64::cast_unsigned);
            [1, mark.size, modified, modified_rest, mark.entries, touched, touched_rest]
        });
        let mut bytes = [0; SIZE];
        for (place, number) in bytes.chunks_exact_mut(8).zip(numbers) {
            place.copy_from_slice(&number.to_ne_bytes());
        }
        bytes
    }

    fn from_bytes(bytes: [u8; SIZE]) -> Option<Self> {
        let number = |at: usize| bytes[at * 8..][..8].try_into().map(u64::from_ne_bytes).unwrap_or_default();
        let time = |at: usize| (number(at).cast_signed(), number(at + 1).cast_signed());
        (number(0) == 1).then(|| Self { size: number(1), modified: time(2), entries: number(4), touched: time(5) })
    }
}

/// A process that looks.
#[derive(Debug)]
struct Looking {
    pid: i32,
    path: PathBuf,
    answer: PipeReader,
    /// How long it may; none once it has been given up, and is only there because nothing can end it.
    until: Option<Moment>,
    /// Somebody waits for the answer.
    awaited: bool,
}

/// What came of a look.
#[derive(Debug, PartialEq, Eq)]
pub struct Seen {
    /// At what.
    pub path: PathBuf,
    /// What it looks like, if there is anything, or why that is not known.
    pub mark: Result<Option<Mark>, String>,
    /// Somebody waits for it.
    pub awaited: bool,
}

/// All that look.
#[derive(Debug, Default)]
pub struct Files(Vec<Looking>);

impl Files {
    /// Has a look taken at this, once it is not being looked at already.
    pub fn look(&mut self, now: Moment, path: &Path, awaited: bool) -> Result<(), Seen> {
        let failed = |why: String| Seen { path: path.to_owned(), mark: Err(why), awaited };
        match self.0.iter_mut().find(|looking| looking.path == path) {
            Some(looking) if looking.until.is_some() => looking.awaited |= awaited,
            Some(_) => return Err(failed(HANGS.to_owned())),
            None => {
                let (pid, answer) = start(path).map_err(|error| failed(error.to_string()))?;
                let until = Some(now + LIMIT);
                self.0.push(Looking { pid, path: path.to_owned(), answer, until, awaited });
            }
        }
        Ok(())
    }

    /// Whether an answer is awaited.
    pub fn are_awaited(&self) -> bool {
        self.0.iter().any(|looking| looking.awaited && looking.until.is_some())
    }

    /// When the next one has looked for too long.
    pub fn deadline(&self) -> Option<Moment> {
        self.0.iter().filter_map(|looking| looking.until).min()
    }

    /// What was seen, and what took too long to be.
    pub fn seen(&mut self, now: Moment) -> Vec<Seen> {
        let mut seen = Vec::new();
        self.0.retain_mut(|looking| {
            let (mut bytes, given_up) = ([0; SIZE], looking.until.is_none());
            let (mark, stays) = match looking.answer.read(&mut bytes) {
                Ok(SIZE) => (Ok(Mark::from_bytes(bytes)), false),
                Ok(_) => (Err("the process that checked it was killed".to_owned()), false),
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
                    if looking.until.take_if(|until| now >= *until).is_none() {
                        return true;
                    }
                    looking.end();
                    (Err(HANGS.to_owned()), true)
                }
                Err(error) => (Err(error.to_string()), false),
            };
            if !given_up {
                seen.push(Seen { path: looking.path.clone(), mark, awaited: looking.awaited });
            }
            stays
        });
        seen
    }
}

impl Looking {
    /// As long as its end of the pipe is open it is there, and its process id its own.
    fn end(&self) {
        let _ = signals::send(self.pid, Signal::KILL);
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        for looking in &mut self.0 {
            if looking.answer.read(&mut [0; SIZE]).is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock) {
                looking.end();
            }
        }
    }
}

/// The size of a file that we have open, as far as this machine knows it: whoever has more to say may not answer.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn known_size(file: &File) -> Option<u64> {
    // SAFETY: an all-zero statx is a valid value to be filled in.
    let mut about: libc::statx = unsafe { std::mem::zeroed() };
    let (flags, size) = (libc::AT_EMPTY_PATH | libc::AT_STATX_DONT_SYNC, libc::STATX_SIZE);
    // SAFETY: the name is a string, and `about` outlives the call, which fills it in.
    let answer = unsafe { libc::statx(file.as_raw_fd(), c"".as_ptr(), flags, size, &raw mut about) };
    (answer == 0).then_some(about.stx_size).or_else(|| file.metadata().ok().map(|metadata| metadata.len()))
}

/// The size of a file that we have open.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn known_size(file: &File) -> Option<u64> {
    file.metadata().ok().map(|metadata| metadata.len())
}

/// Starts a process that looks and writes down what it sees. It is buried with others that nobody asks for.
fn start(path: &Path) -> io::Result<(i32, PipeReader)> {
    let (read, write) = io::pipe()?;
    never_block(&read)?;
    // A signal that comes before the new process has let go of our handlers would be noted as ours.
    let mut before = SigSet::empty();
    sigprocmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::all()), Some(&mut before))?;
    // SAFETY: there is one thread, so the new process may go on as this one would.
    let forked = unsafe { fork() };
    if let Ok(ForkResult::Child) = forked {
        let _ = std::panic::catch_unwind(|| become_looker(path, &write));
        // SAFETY: _exit does not return and runs no code of ours.
        unsafe { libc::_exit(0) }
    }
    let _ = sigprocmask(SigmaskHow::SIG_SETMASK, Some(&before), None);
    match forked? {
        ForkResult::Parent { child } => Ok((child.as_raw(), read)),
        ForkResult::Child => Err(io::Error::other("never here")),
    }
}

/// In the new process. Whatever else it has open would never end elsewhere should it hang.
fn become_looker(path: &Path, mut write: &PipeWriter) {
    signals::let_go();
    let _ = setpgid(Pid::from_raw(0), Pid::from_raw(0));
    inherited::close_all_but(&[write.as_raw_fd()]);
    terminal::replace_standard_streams(&[0, 1, 2]);
    let _ = sigprocmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::empty()), None);
    let _ = write.write_all(&Mark::to_bytes(Mark::of(path)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_read_as_it_was_written() {
        for mark in [None, Some(Mark { size: 7, modified: (-3, 999_999_999), entries: 2, touched: (4, 5) })] {
            assert_eq!(Mark::from_bytes(Mark::to_bytes(mark)), mark);
        }
    }

    #[test]
    fn a_mark_is_new_by_either_of_its_times_and_not_by_one_that_is_still_to_come() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1000);
        let is_new = |modified, touched| {
            let mark = Mark { size: 7, modified: (modified, 0), entries: 0, touched: (touched, 0) };
            mark.is_new(now, Duration::from_secs(10))
        };
        assert!(is_new(995, 995) && is_new(3, 991) && is_new(2000, 1000) && is_new(995, 0));
        assert!(!is_new(990, 990) && !is_new(2000, 980) && !is_new(2000, 1001) && !is_new(-5, 0));
    }

    /// One that never answers.
    fn hanging(until: Moment) -> (Files, PipeWriter) {
        let (answer, write) = io::pipe().unwrap();
        never_block(&answer).unwrap();
        // A process id that nobody has.
        let looking = Looking { pid: i32::MAX, path: "x".into(), answer, until: Some(until), awaited: false };
        (Files(vec![looking]), write)
    }

    #[test]
    fn who_hangs_is_given_up_once_and_not_followed_by_another() {
        let path = Path::new("x");
        let (mut files, write) = hanging(Moment::START + LIMIT);
        assert_eq!((files.seen(Moment::START), files.are_awaited()), (Vec::new(), false));
        assert_eq!(files.look(Moment::START, path, true), Ok(()));
        assert!(files.are_awaited() && files.0.len() == 1);
        let seen = files.seen(Moment::START + LIMIT);
        assert!(seen.len() == 1 && seen[0].awaited && seen[0].mark.is_err());
        assert!(!files.are_awaited() && files.deadline().is_none());
        assert!(files.look(Moment::START + LIMIT, path, true).is_err_and(|seen| seen.awaited));
        assert!(files.seen(Moment::START + LIMIT * 2).is_empty());
        // It answers at last, and is asked anew the next time.
        drop(write);
        assert!(files.seen(Moment::START + LIMIT * 3).is_empty() && files.0.is_empty());
    }

    #[test]
    fn the_size_of_what_we_have_open_is_known() {
        let mut file = tempfile::tempfile().unwrap();
        assert_eq!(known_size(&file), Some(0));
        file.write_all(b"seven..").unwrap();
        assert_eq!(known_size(&file), Some(7));
    }

    #[test]
    fn what_was_seen_is_told() {
        let (mut files, mut write) = hanging(Moment::START + LIMIT);
        let mark = Some(Mark { size: 7, modified: (3, 4), entries: 0, touched: (5, 6) });
        write.write_all(&Mark::to_bytes(mark)).unwrap();
        assert_eq!(files.seen(Moment::START), [Seen { path: "x".into(), mark: Ok(mark), awaited: false }]);
        assert!(files.0.is_empty());
    }
}
