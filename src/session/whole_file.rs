//! A file that is there whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::errno::Errno;

/// How long to wait before each further attempt.
const PAUSES: [Duration; 3] = [Duration::from_millis(50), Duration::from_millis(200), Duration::from_millis(500)];

/// Writes a file for its owner alone, in place of what has its name. A reader sees the old one or the whole new one.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut pauses = PAUSES.iter();
    loop {
        let error = match attempt(path, bytes) {
            Ok(()) => return Ok(()),
            Err(error) => error,
        };
        match pauses.next() {
            Some(pause) if may_pass(&error) => std::thread::sleep(*pause),
            _ => return Err(error),
        }
    }
}

/// Whether [`write`] would do, as things are.
pub fn try_out(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Err(Errno::EISDIR.into());
    }
    let (_, name) = create(folder_of(path))?;
    fs::remove_file(name)
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

fn attempt(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = folder_of(path);
    let (mut file, name) = create(folder)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all()).and_then(|()| fs::rename(&name, path));
    if let Err(error) = written {
        // Half a file would only be in the way; if it cannot be removed there is nothing more to do.
        let _ = fs::remove_file(&name);
        return Err(error);
    }
    // The name is safe on the disk only once the folder is. Some systems cannot do that, and the file is there anyway.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}

/// A new file under a name that nobody could have prepared.
fn create(folder: &Path) -> io::Result<(File, PathBuf)> {
    let mut random = [0; 8];
    File::open("/dev/urandom")?.read_exact(&mut random)?;
    let name = folder.join(format!(".idlewatch-{:016x}", u64::from_ne_bytes(random)));
    let flags = libc::O_NOFOLLOW | libc::O_CLOEXEC;
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).custom_flags(flags).open(&name)?;
    Ok((file, name))
}

/// Whether a moment later it may go well: somebody else has used up what there is, or holds the place.
fn may_pass(error: &io::Error) -> bool {
    let passing = [
        Errno::EINTR,
        Errno::EAGAIN,
        Errno::EBUSY,
        Errno::EMFILE,
        Errno::ENFILE,
        Errno::ENOMEM,
        Errno::ENOSPC,
        Errno::EDQUOT,
        Errno::ESTALE,
    ];
    error.raw_os_error().is_some_and(|number| passing.contains(&Errno::from_raw(number)))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn it_replaces_what_was_there_and_leaves_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.md");
        let elsewhere = folder.path().join("elsewhere");
        fs::write(&elsewhere, "mine").unwrap();
        std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
        for text in ["one", "two"] {
            write(&path, text.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        assert_eq!(fs::symlink_metadata(&path).unwrap().mode() & 0o7777, 0o600);
        assert!(fs::symlink_metadata(&path).unwrap().is_file());
        assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "mine");
        assert_eq!(names(folder.path()).len(), 2);
    }

    #[test]
    fn what_cannot_be_written_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.md");
        fs::create_dir(&path).unwrap();
        assert!(write(&path, b"x").is_err());
        assert_eq!(names(folder.path()), ["report.md"]);
        assert_eq!(write(&folder.path().join("no/x.md"), b"x").unwrap_err().kind(), io::ErrorKind::NotFound);
        let long = folder.path().join(format!("{}.md", "x".repeat(300)));
        assert!(write(&long, b"x").is_err());
        assert_eq!(names(folder.path()), ["report.md"]);
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
    }

    #[test]
    fn only_what_may_pass_is_tried_again() {
        assert!(may_pass(&Errno::ENOSPC.into()) && may_pass(&Errno::EINTR.into()));
        assert!(!may_pass(&Errno::EACCES.into()) && !may_pass(&Errno::EROFS.into()));
    }
}
