//! Where the sockets of all runs of one user are: a folder that nobody else can look into.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// How the name of a socket ends; the run's id stands before it.
const SUFFIX: &str = ".sock";

/// The folder: in `$XDG_RUNTIME_DIR` if that is ours, else one under /tmp named for the user. Whoever starts a run
/// and whoever asks for it come to the same answer.
pub fn place() -> PathBuf {
    let ours = |path: &PathBuf| {
        let owner = fs::metadata(path).is_ok_and(|found| found.is_dir() && found.uid() == user());
        path.is_absolute() && owner
    };
    match std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(ours) {
        Some(runtime) => runtime.join("idlewatch"),
        None => PathBuf::from(format!("/tmp/idlewatch-{}", user())),
    }
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
        "it is not a folder"
    } else if found.uid() != user() {
        "it belongs to somebody else"
    } else if found.mode() & 0o077 != 0 {
        "it is open to others"
    } else {
        return Ok(true);
    };
    Err(format!("{} is not used: {wrong}", folder.display()))
}

/// The socket of a run. Why it can have none, where its name would be too long for the system.
pub fn socket(folder: &Path, run: &str) -> Result<PathBuf, String> {
    // SAFETY: an all-zero sockaddr_un is a valid value, of which only the size is looked at.
    let longest = unsafe { std::mem::zeroed::<libc::sockaddr_un>() }.sun_path.len() - 1;
    let path = folder.join(format!("{run}{SUFFIX}"));
    match path.as_os_str().len() {
        length if length > longest => Err(format!(
            "the name of the socket has {length} bytes and may have {longest}; use a shorter XDG_RUNTIME_DIR ({})",
            path.display()
        )),
        _ => Ok(path),
    }
}

/// The ids of all runs that have a socket here, also of those that are gone.
pub fn runs(folder: &Path) -> Result<Vec<String>, String> {
    if !check(folder)? {
        return Ok(Vec::new());
    }
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let name = |entry: io::Result<fs::DirEntry>| {
        let name = entry.ok()?.file_name().into_string().ok()?;
        name.strip_suffix(SUFFIX).filter(|run| !run.is_empty()).map(ToOwned::to_owned)
    };
    let mut found: Vec<String> = entries.filter_map(name).collect();
    found.sort_unstable();
    Ok(found)
}

/// The user whose runs these are.
pub fn user() -> u32 {
    nix::unistd::geteuid().as_raw()
}
