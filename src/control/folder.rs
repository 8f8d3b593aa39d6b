//! Where the sockets of all runs of one user are: in folders that nobody else can look into.

use std::fs::{self, DirBuilder};
use std::io;
use std::mem::offset_of;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use nix::errno::Errno;

/// How the name of a socket ends; the run's id stands before it.
const SUFFIX: &str = ".sock";

/// Where a run listens.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address {
    /// The run's id.
    pub run: String,
    folder: PathBuf,
}

/// Why a run, or the folder it should be in, cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// There are not enough descriptors or there is not enough memory now; later there may be.
    NoRoom(String),
    /// It is not what it should be.
    Unusable(String),
}

impl Trouble {
    /// What the system said about this path.
    pub fn of(path: &Path, error: Errno) -> Self {
        let words = format!("{}: {error}", path.display());
        match error {
            Errno::EMFILE | Errno::ENFILE | Errno::ENOMEM | Errno::ENOBUFS => Self::NoRoom(words),
            _ => Self::Unusable(words),
        }
    }

    /// It in words.
    pub fn words(self) -> String {
        let (Self::NoRoom(words) | Self::Unusable(words)) = self;
        words
    }
}

/// The folder that a run of ours listens in: in `$XDG_RUNTIME_DIR` if that is ours, else one under /tmp.
pub fn place() -> PathBuf {
    in_runtime().unwrap_or_else(in_tmp)
}

/// All folders that runs of this user may listen in, the one that a run of ours would listen in first: one that was
/// started by cron or after su has no `$XDG_RUNTIME_DIR`.
pub fn places() -> Vec<PathBuf> {
    in_runtime().into_iter().chain([in_tmp()]).collect()
}

fn in_runtime() -> Option<PathBuf> {
    let ours = |path: &PathBuf| {
        let owner = fs::metadata(path).is_ok_and(|found| found.is_dir() && found.uid() == user());
        path.is_absolute() && owner
    };
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(ours)?;
    Some(runtime.join("idlewatch"))
}

/// One under /tmp that is named for the user.
fn in_tmp() -> PathBuf {
    tmp().join(format!("idlewatch-{}", user()))
}

#[cfg(not(debug_assertions))]
fn tmp() -> PathBuf {
    PathBuf::from("/tmp")
}

/// A test has a folder of its own in place of /tmp, where it would meet the runs of everybody.
#[cfg(debug_assertions)]
fn tmp() -> PathBuf {
    std::env::var_os("IDLEWATCH_TEST_TMP").map_or_else(|| PathBuf::from("/tmp"), PathBuf::from)
}

/// The folder, made if it was not there. In words why it cannot be used, where it cannot.
pub fn make() -> Result<PathBuf, String> {
    let folder = place();
    if check(&folder)? {
        return Ok(folder);
    }
    match DirBuilder::new().mode(0o700).create(&folder) {
        Ok(()) => {}
        // Another run was faster.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(format!("cannot make {}: {error}", folder.display())),
    }
    // Looked at again: in /tmp somebody else may have been faster.
    if check(&folder)? { Ok(folder) } else { Err(format!("{} is gone", folder.display())) }
}

/// Whether the folder is there. One that others could have prepared is not used: they could be listening in it.
pub fn check(folder: &Path) -> Result<bool, String> {
    let found = match fs::symlink_metadata(folder) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(format!("{}: {error}", folder.display())),
    };
    let wrong = if !found.is_dir() {
        "not a directory"
    } else if found.uid() != user() {
        "it belongs to another user"
    } else if found.mode() & 0o077 != 0 {
        "other users can access it"
    } else {
        return Ok(true);
    };
    Err(format!("{} is not used: {wrong}", folder.display()))
}

/// The socket of a run. Why it can have none, where its name would be too long for the system.
pub fn socket(folder: &Path, run: &str) -> Result<PathBuf, String> {
    // What comes after the rest of an address, less the null byte at the end.
    let longest = size_of::<libc::sockaddr_un>() - offset_of!(libc::sockaddr_un, sun_path) - 1;
    let path = folder.join(format!("{run}{SUFFIX}"));
    match path.as_os_str().len() {
        length if length > longest => Err(format!(
            "the socket path has {length} bytes, more than the {longest} allowed; use a shorter XDG_RUNTIME_DIR ({})",
            path.display()
        )),
        _ => Ok(path),
    }
}

/// Where all runs listen that have a socket in these folders, also those that are gone. The first of the folders has to
/// be usable if it is there; in one of the others that is not, no run would have made its socket.
pub fn runs(folders: &[PathBuf]) -> Result<Vec<Address>, Trouble> {
    let mut found = Vec::new();
    for (index, folder) in folders.iter().enumerate() {
        match check(folder) {
            Ok(true) => found.extend(runs_in(folder)?),
            Err(why) if index == 0 => return Err(Trouble::Unusable(why)),
            Ok(false) | Err(_) => {}
        }
    }
    found.sort_unstable();
    Ok(found)
}

fn runs_in(folder: &Path) -> Result<Vec<Address>, Trouble> {
    let failed = |error: io::Error| Trouble::of(folder, Errno::from_raw(error.raw_os_error().unwrap_or_default()));
    let entries = fs::read_dir(folder).map_err(failed)?;
    let address = |entry: io::Result<fs::DirEntry>| {
        let name = entry.ok()?.file_name().into_string().ok()?;
        let run = name.strip_suffix(SUFFIX).filter(|run| !run.is_empty())?;
        Some(Address { run: run.to_owned(), folder: folder.to_owned() })
    };
    Ok(entries.filter_map(address).collect())
}

impl Address {
    /// The socket.
    pub fn socket(&self) -> Result<PathBuf, String> {
        socket(&self.folder, &self.run)
    }
}

/// The user whose runs these are.
pub fn user() -> u32 {
    nix::unistd::geteuid().as_raw()
}
