//! The command's own list of tasks, read from its file when somebody wants to know.

use std::fs::OpenOptions;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::report::{LARGEST_CHECKPOINT, Tasks};

/// Reads it, or says why not. Never waits: a pipe or a device is not read.
pub fn read(path: &Path) -> Result<Tasks, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    let flags = libc::O_NONBLOCK | libc::O_CLOEXEC | libc::O_NOCTTY;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(failed)?;
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(format!("{}: it is not a regular file", path.display()));
    }
    let mut bytes = Vec::new();
    // One byte more than may be, so that too much is noticed.
    file.take(LARGEST_CHECKPOINT as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
    Tasks::parse(&bytes).map_err(|why| format!("{}: {why}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_file_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        for path in [pipe.as_path(), folder.path(), Path::new("/dev/zero")] {
            assert!(read(path).unwrap_err().contains("not a regular file"), "{}", path.display());
        }
        assert!(read(&folder.path().join("missing")).unwrap_err().contains("No such file"));
        let file = folder.path().join("tasks.json");
        std::fs::write(&file, "[\"a\"]").unwrap();
        assert_eq!(read(&file).unwrap().remaining, ["a"]);
        std::fs::write(&file, vec![b' '; LARGEST_CHECKPOINT + 10]).unwrap();
        assert!(read(&file).unwrap_err().contains("larger"));
    }
}
