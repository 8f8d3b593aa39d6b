//! Programs that hang in the kernel.

use std::fs;

use crate::support::{Run, has, stderr};

/// Waits for a page of a file system that stands still, in one thread, and in another for that to be over, which keeps
/// everybody from its memory. Then it waits for something that never comes.
const HANGS: &str = r"
import ctypes, mmap, os, select, threading, time
libc = ctypes.CDLL(None)
file = mmap.mmap(os.open('at/file', os.O_RDWR), 4096)
page = ctypes.c_char.from_buffer(file)
address = ctypes.c_void_p(ctypes.addressof(page))
page.value
waits = threading.Thread(target=lambda: libc.memset(address, 65, 1), daemon=True)
waits.start()
while open(f'/proc/self/task/{waits.native_id}/stat').read().split()[2] != 'D':
    time.sleep(0.001)
never = select.poll()
never.register(os.pipe()[0], select.POLLIN)
threading.Thread(target=lambda: libc.mprotect(address, 4096, 1), daemon=True).start()
never.poll()
";

#[test]
fn a_command_whose_memory_nobody_can_look_into_is_watched_all_the_same() {
    if !nix::unistd::geteuid().is_root() || !["mkfs.ext4", "fsfreeze", "python3"].iter().all(|name| has(name)) {
        eprintln!("skipped: only root can do this");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("hangs.py"), HANGS).unwrap();
    // While it stands still, whoever looks at that process hangs too, such as `ps`: whatever happens here, it goes on.
    let script = "mkdir at && truncate -s 8M disk && mkfs.ext4 -q disk && mount -o loop disk at || exit 99
        trap 'fsfreeze -u at 2>/dev/null; umount -l at' EXIT INT TERM HUP
        head -c 4096 /dev/zero > at/file && sync && fsfreeze -f at || exit 99
        timeout -s KILL 10 $IW --idle 300ms --on-idle 'run:fsfreeze -u at,kill' --report report.json -- python3 hangs.py
        exit $?";
    let output = Run::bare(&["unshare", "-m", "sh", "-c", script]).folder(folder.path()).output();
    if output.status.code() == Some(99) || stderr(&output).starts_with("unshare:") {
        eprintln!("skipped: no file system can be made to stand still here");
        return;
    }
    assert_eq!(output.status.code(), Some(121), "{}", stderr(&output));
    let report = fs::read_to_string(folder.path().join("report.json")).unwrap();
    assert!(report.contains("python3"), "{report}");
}
