//! Programs as they are once installed.
//!
//! How much of a program the kernel maps at once depends on how its file came into memory: a linker writes here and
//! there and leaves single pages, a copy large ones. A program that has just been built starts a tenth slower than the
//! same bytes installed, and holds another amount of memory. So what was built here is copied, and read anew from the
//! disk like the peers that came from a package.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};
use tempfile::TempDir;

/// Copies of the programs that were built here. They go with it.
pub struct Installed(TempDir);

impl Installed {
    /// For nothing yet.
    pub fn new() -> io::Result<Self> {
        tempfile::Builder::new().prefix("idlewatch-compare-").tempdir().map(Self)
    }

    /// Where the copy of this program is; the program itself where there is none to copy.
    pub fn copy(&self, name: &str, program: &str) -> String {
        let folder = self.0.path().join(name);
        let copy = folder.join(Path::new(program).file_name().unwrap_or_default());
        let made = fs::create_dir(&folder).and_then(|()| install(Path::new(program), &copy));
        made.map_or_else(|_| program.to_owned(), |()| copy.to_string_lossy().into_owned())
    }
}

fn install(program: &Path, copy: &Path) -> io::Result<()> {
    fs::write(copy, fs::read(program)?)?;
    fs::set_permissions(copy, Permissions::from_mode(0o755))?;
    let file = File::open(copy)?;
    file.sync_all()?;
    posix_fadvise(&file, 0, 0, PosixFadviseAdvice::POSIX_FADV_DONTNEED)?;
    Ok(())
}
