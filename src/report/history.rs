//! The history: one line for each run that has ended, in a file of its owner's.

use std::collections::BTreeMap;
use std::fs::{DirBuilder, File, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::fcntl::{AT_FDCWD, OFlag, openat, renameat};
use nix::sys::stat::Mode;
use serde::{Deserialize, Serialize};

/// A run that has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PastRun {
    /// The version of the format.
    pub v: u8,
    /// Its name.
    pub run: String,
    /// When it began.
    pub at: String,
    /// How many milliseconds it lasted.
    pub elapsed: u64,
    /// The command and its arguments, shortened.
    pub command: Vec<String>,
    /// Where it was started.
    pub cwd: String,
    /// The process id of the command.
    pub pid: i32,
    /// The exit code of idlewatch; none: it died of the same signal as the command.
    pub code: Option<u8>,
    /// Why it ended.
    pub reason: String,
    /// The command's own exit code.
    pub child_status: Option<u8>,
    /// The signal that ended the command.
    pub child_signal: Option<String>,
    /// How many milliseconds it was in each state.
    pub states: BTreeMap<String, u64>,
    /// How often something was typed into it.
    pub nudges: u32,
    /// How often it was sent a signal.
    pub signals: u32,
    /// How often a guard spoke for it.
    pub deferrals: u32,
    /// How often it was started again.
    pub relaunches: u32,
    /// How often something that counts changed, in each part of the run.
    pub activity: Vec<u32>,
    /// How many milliseconds a part is.
    pub activity_span: u64,
}

impl PastRun {
    /// A run that did what it should and took no time is soon of no interest.
    fn is_trifle(&self) -> bool {
        self.elapsed < 1000 && self.code == Some(0) && self.reason == "exited"
    }
}

const FILE: &str = "history.jsonl";
const LOCK: &str = "history.lock";
const FRESH: &str = "history.new";

/// How large the file may become before its older half is dropped.
const MOST_BYTES: u64 = 1 << 20;

/// How long somebody else may have it.
const PATIENCE: Duration = Duration::from_millis(250);

/// The folder of the history, by the rules of XDG: a relative one would let the current directory choose.
pub fn folder() -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = absolute("XDG_STATE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/state")))?;
    Some(state.join("idlewatch"))
}

/// Adds a run to the history in `folder`.
pub fn append(folder: &Path, run: &PastRun) -> io::Result<()> {
    let mut line = serde_json::to_vec(run)?;
    line.push(b'\n');
    let folder = open_folder(folder)?;
    // The lock is on a file that stays; the history itself is replaced when it is shortened.
    let _lock = lock(open(&folder, LOCK, OFlag::O_RDWR | OFlag::O_CREAT)?)?;
    let mut file = open(&folder, FILE, OFlag::O_RDWR | OFlag::O_CREAT | OFlag::O_APPEND)?;
    let mut size = file.metadata()?.size();
    if size + line.len() as u64 > MOST_BYTES {
        file = shorten(&folder, file)?;
        size = file.metadata()?.size();
    }
    let mut last = [b'\n'];
    if size > 0 && file.read_at(&mut last, size - 1)? == 1 && last[0] != b'\n' {
        // Somebody was killed in the middle of a line.
        line.insert(0, b'\n');
    }
    file.write_all(&line).inspect_err(|_| {
        // Half a line is of no use to anybody.
        let _ = file.set_len(size);
    })
}

/// The runs in the history in `folder`, the oldest first. Lines that cannot be read are passed over.
pub fn read(folder: &Path) -> io::Result<Vec<PastRun>> {
    let opened = open_folder_at(folder).and_then(|folder| open(&folder, FILE, OFlag::O_RDONLY));
    match opened {
        Ok(file) => runs(file),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn runs(file: File) -> io::Result<Vec<PastRun>> {
    let mut bytes = Vec::new();
    file.take(4 * MOST_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect())
}

/// Drops what is of no interest any more, and then of the rest the older half. Gives the new file.
fn shorten(folder: &File, file: File) -> io::Result<File> {
    let mut kept: Vec<Vec<u8>> = Vec::new();
    for run in runs(file)?.iter().filter(|run| !run.is_trifle()) {
        let mut line = serde_json::to_vec(run)?;
        line.push(b'\n');
        kept.push(line);
    }
    let (mut left, mut from) = (usize::try_from(MOST_BYTES / 2).unwrap_or(usize::MAX), kept.len());
    while from > 0 && kept[from - 1].len() <= left {
        from -= 1;
        left -= kept[from].len();
    }
    let mut fresh = open(folder, FRESH, OFlag::O_RDWR | OFlag::O_CREAT | OFlag::O_TRUNC | OFlag::O_APPEND)?;
    fresh.write_all(&kept[from..].concat())?;
    fresh.sync_data()?;
    renameat(folder, FRESH, folder, FILE)?;
    Ok(fresh)
}

/// Opens the folder, and makes it if it is not there.
fn open_folder(path: &Path) -> io::Result<File> {
    match open_folder_at(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            DirBuilder::new().recursive(true).mode(0o700).create(path)?;
            open_folder_at(path)
        }
        opened => opened,
    }
}

fn open_folder_at(path: &Path) -> io::Result<File> {
    let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    let folder = File::from(openat(AT_FDCWD, path, flags, Mode::empty())?);
    let about = folder.metadata()?;
    if about.uid() != nix::unistd::geteuid().as_raw() || about.mode() & 0o022 != 0 {
        // With a folder that others can write to, they could make us write to any file.
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "other users can write to its directory"));
    }
    Ok(folder)
}

/// Opens a file of the folder: ours, not a link, and nothing that could make us wait.
fn open(folder: &File, name: &str, flags: OFlag) -> io::Result<File> {
    let careful = OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC | OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
    let file = File::from(openat(folder, name, flags | careful, Mode::S_IRUSR | Mode::S_IWUSR)?);
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{name} is not a regular file")));
    }
    Ok(file)
}

/// Locks it until it is closed. Some file systems know no locks, such as Lustre as it is mounted by default: there the
/// worst is that of two runs that end at the same moment one leaves no line.
fn lock(file: File) -> io::Result<File> {
    const STEP: Duration = Duration::from_millis(2);
    let mut waited = Duration::ZERO;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if waited < PATIENCE => {}
            Err(TryLockError::Error(error))
                if matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EOPNOTSUPP | libc::ENOLCK)) =>
            {
                return Ok(file);
            }
            Err(error) => return Err(error.into()),
        }
        std::thread::sleep(STEP);
        waited += STEP;
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    pub fn run(number: u32) -> PastRun {
        PastRun {
            v: 1,
            run: format!("{number:08x}"),
            at: "2026-01-02T03:04:05Z".to_owned(),
            elapsed: 5000,
            command: vec!["make".to_owned(), "x".repeat(100)],
            cwd: "/".to_owned(),
            pid: 1,
            code: Some(0),
            reason: "exited".to_owned(),
            child_status: Some(0),
            child_signal: None,
            states: BTreeMap::from([("active".to_owned(), 5000)]),
            nudges: 0,
            signals: 0,
            deferrals: 0,
            relaunches: 0,
            activity: vec![0, 1, 4],
            activity_span: 1000,
        }
    }

    #[test]
    fn what_is_added_is_read_back_and_is_for_its_owner_alone() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("state/idlewatch");
        assert!(read(&folder).unwrap().is_empty());
        append(&folder, &run(1)).unwrap();
        // Somebody was killed in the middle of a line.
        let mut file = File::options().append(true).open(folder.join(FILE)).unwrap();
        file.write_all(b"{\"v\":1,").unwrap();
        append(&folder, &run(2)).unwrap();
        assert_eq!(read(&folder).unwrap(), [run(1), run(2)]);
        let mode = |path: &Path| path.metadata().unwrap().mode() & 0o777;
        assert_eq!((mode(&folder), mode(&folder.join(FILE))), (0o700, 0o600));
    }

    #[test]
    fn it_stays_small_and_what_was_of_interest_stays_longest() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("idlewatch");
        append(&folder, &PastRun { reason: "idle_timeout".to_owned(), ..run(0) }).unwrap();
        let file = folder.join(FILE);
        let trifle = serde_json::to_string(&PastRun { elapsed: 3, ..run(7) }).unwrap() + "\n";
        let mut out = File::options().append(true).open(&file).unwrap();
        out.write_all(trifle.repeat(usize::try_from(MOST_BYTES).unwrap() / trifle.len()).as_bytes()).unwrap();
        append(&folder, &run(1)).unwrap();
        assert_eq!(
            read(&folder).unwrap().iter().map(|run| run.run.as_str()).collect::<Vec<_>>(),
            ["00000000", "00000001"]
        );
        let line = serde_json::to_string(&run(3)).unwrap() + "\n";
        out = File::options().append(true).open(&file).unwrap();
        out.write_all(line.repeat(usize::try_from(MOST_BYTES).unwrap() / line.len()).as_bytes()).unwrap();
        append(&folder, &run(4)).unwrap();
        let runs = read(&folder).unwrap();
        assert_eq!(runs.last(), Some(&run(4)));
        let size = file.metadata().unwrap().size();
        assert!((MOST_BYTES / 3..MOST_BYTES * 2 / 3).contains(&size), "{size}");
        assert_eq!(file.metadata().unwrap().mode() & 0o777, 0o600);
    }

    #[test]
    fn many_can_add_at_once() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("idlewatch");
        append(&folder, &run(0)).unwrap();
        let writers: Vec<_> = (0..4)
            .map(|writer| {
                let folder = folder.clone();
                std::thread::spawn(move || {
                    for number in 0..50 {
                        // A busy machine may need more than one's patience; nothing else may fail.
                        while append(&folder, &run(writer * 100 + number)).is_err_and(|error| {
                            assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
                            true
                        }) {}
                    }
                })
            })
            .collect();
        for writer in writers {
            writer.join().unwrap();
        }
        assert_eq!(read(&folder).unwrap().len(), 201);
    }

    #[test]
    fn a_place_that_is_not_ours_alone_is_not_used() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("idlewatch");
        std::fs::create_dir(&folder).unwrap();
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o777)).unwrap();
        assert!(append(&folder, &run(1)).is_err());
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700)).unwrap();
        let victim = place.path().join("victim");
        std::fs::write(&victim, "precious").unwrap();
        symlink(&victim, folder.join(FILE)).unwrap();
        assert!(append(&folder, &run(1)).is_err());
        assert_eq!(std::fs::read_to_string(&victim).unwrap(), "precious");
        std::fs::remove_file(folder.join(FILE)).unwrap();
        nix::unistd::mkfifo(&folder.join(FILE), Mode::S_IRWXU).unwrap();
        assert!(append(&folder, &run(1)).is_err());
        assert!(append(Path::new("/dev/null/idlewatch"), &run(1)).is_err());
    }
}
