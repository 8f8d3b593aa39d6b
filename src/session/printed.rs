//! Files that the command prints to directly, and whether it has; and those that we write. What a job says and what is
//! said about it often go to one log or one folder, and of our own lines nobody is active.

use std::fs::{File, Metadata};
use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::fs::MetadataExt;
use std::sync::Mutex;

use nix::sys::stat::{SFlag, fstat};

use super::files::known_size;

/// Which file it is: device and number.
type Identity = (u64, u64);

/// How much we have written to each regular file that somebody else opened for us.
static OURS: Mutex<Vec<(Identity, u64)>> = Mutex::new(Vec::new());

/// The regular files of which we know without looking when they grow.
static FOLLOWED: Mutex<Vec<Identity>> = Mutex::new(Vec::new());

/// We know when this grows: it is a record of ours, or what the command prints goes there.
pub fn follow(fd: BorrowedFd<'_>) {
    if let (Some(identity), Ok(mut followed)) = (identity(fd), FOLLOWED.lock())
        && !followed.contains(&identity)
    {
        followed.push(identity);
    }
}

/// Whether this is such a file: that it grows says nothing more of the command.
pub fn is_followed(about: &Metadata) -> bool {
    FOLLOWED.lock().is_ok_and(|followed| followed.contains(&(about.dev(), about.ino())))
}

/// Which regular file this is, if it is one.
fn identity(fd: BorrowedFd<'_>) -> Option<Identity> {
    let about = fstat(fd).ok()?;
    let is_file = SFlag::from_bits_truncate(about.st_mode & SFlag::S_IFMT.bits()) == SFlag::S_IFREG;
    is_file.then_some((about.st_dev, about.st_ino))
}

/// We have written so much to this.
pub fn we_wrote(fd: BorrowedFd<'_>, bytes: usize) {
    let Some(identity) = identity(fd) else { return };
    let Ok(mut ours) = OURS.lock() else { return };
    let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
    match ours.iter_mut().find(|(known, _)| *known == identity) {
        Some((_, written)) => *written += bytes,
        None => ours.push((identity, bytes)),
    }
}

/// A file that the command prints to directly.
#[derive(Debug)]
pub struct Printed {
    file: File,
    identity: Option<Identity>,
    size: u64,
    ours: u64,
}

impl Printed {
    /// What it looks like before the command begins.
    pub fn new(fd: BorrowedFd<'_>) -> io::Result<Self> {
        let file = File::from(fd.try_clone_to_owned()?);
        let size = file.metadata().map_or(0, |metadata| metadata.len());
        let mut new = Self { identity: identity(fd), file, size, ours: 0 };
        new.ours = new.written_by_us();
        Ok(new)
    }

    /// Whether it has grown since the last time by more than we have written, or has been emptied.
    pub fn has_changed(&mut self) -> bool {
        let (size, ours) = (known_size(&self.file).unwrap_or(self.size), self.written_by_us());
        let expected = self.size + (ours - self.ours);
        // Ours may have been written over what was there, where it was opened twice.
        let changed = size < self.size || size > expected;
        (self.size, self.ours) = (size, ours);
        changed
    }

    fn written_by_us(&self) -> u64 {
        let ours = OURS.lock().map(|ours| ours.iter().find(|(known, _)| Some(*known) == self.identity).map(|it| it.1));
        ours.ok().flatten().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn what_we_write_ourselves_is_not_printed_by_the_command() {
        let mut file = tempfile::tempfile().unwrap();
        we_wrote(file.as_fd(), 100);
        let mut printed = Printed::new(file.as_fd()).unwrap();
        assert!(!printed.has_changed());
        let line = b"ours\n";
        file.write_all(line).unwrap();
        we_wrote(file.as_fd(), line.len());
        assert!(!printed.has_changed());
        file.write_all(b"ours\ntheirs\n").unwrap();
        we_wrote(file.as_fd(), line.len());
        assert!(printed.has_changed() && !printed.has_changed());
        // It was written over what was there already.
        we_wrote(file.as_fd(), line.len());
        assert!(!printed.has_changed());
        file.set_len(0).unwrap();
        assert!(printed.has_changed() && !printed.has_changed());
    }
}
