//! Sees the first call of each function, with a breakpoint on all of them.

use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use nix::errno::Errno;
use nix::sys::ptrace::{self, Event, Options};
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use super::symbols::Symbols;

/// The functions that were called, in the order of their first call.
#[derive(Default)]
pub struct Calls {
    order: Vec<u64>,
    seen: HashSet<u64>,
}

impl Calls {
    /// Where they begin.
    pub fn in_order(&self) -> impl Iterator<Item = u64> {
        self.order.iter().copied()
    }

    fn add(&mut self, address: u64) {
        if self.seen.insert(address) {
            self.order.push(address);
        }
    }
}

/// The instruction that stops a traced process.
const BREAKPOINT: u8 = 0xcc;

/// Runs this command to its end and notes what it calls, it and the processes it splits off. Those that become another
/// program are let go.
pub fn run(command: &mut Command, symbols: &Symbols, calls: &mut Calls) -> Result<(), Box<dyn Error>> {
    // SAFETY: the call is all that is done between fork and exec, and it only makes a system call.
    let child = unsafe { command.pre_exec(|| Ok(ptrace::traceme()?)) }.spawn()?;
    let first = Pid::from_raw(child.id().cast_signed());
    // It stops when it has become the program.
    let started = waitpid(first, None)?;
    if !matches!(started, WaitStatus::Stopped(_, Signal::SIGTRAP)) {
        return Err(format!("cannot be traced: {started:?}").into());
    }
    let follow = Options::PTRACE_O_TRACEFORK | Options::PTRACE_O_TRACEVFORK | Options::PTRACE_O_TRACECLONE;
    let end = Options::PTRACE_O_TRACEEXEC | Options::PTRACE_O_EXITKILL;
    ptrace::setoptions(first, follow | end)?;
    let base = base(first, Path::new(command.get_program()))?;
    let replaced = Breakpoints::set(first, base, symbols)?;
    let mut known = HashSet::from([first]);
    ptrace::cont(first, None)?;
    loop {
        // Also of processes that are not our own children.
        let status = match waitpid(None, Some(WaitPidFlag::__WALL)) {
            Err(Errno::ECHILD) => return Ok(()),
            status => status?,
        };
        let goes_on = match status {
            WaitStatus::PtraceEvent(pid, _, event) if event == Event::PTRACE_EVENT_EXEC as i32 => {
                ptrace::detach(pid, None)
            }
            WaitStatus::PtraceEvent(pid, ..) => ptrace::cont(pid, None),
            WaitStatus::Stopped(pid, Signal::SIGTRAP) => {
                calls.add(replaced.lift(pid)? - base);
                ptrace::cont(pid, None)
            }
            // So a process that is split off begins.
            WaitStatus::Stopped(pid, Signal::SIGSTOP) if known.insert(pid) => ptrace::cont(pid, None),
            WaitStatus::Stopped(pid, signal) => ptrace::cont(pid, signal),
            WaitStatus::Exited(pid, 1..) | WaitStatus::Signaled(pid, ..) if pid == first => {
                return Err(format!("a run failed: {status:?}").into());
            }
            _ => Ok(()),
        };
        // Whoever was killed meanwhile needs nothing.
        if !matches!(goes_on, Ok(()) | Err(Errno::ESRCH)) {
            goes_on?;
        }
    }
}

/// Where the program is loaded.
fn base(process: Pid, program: &Path) -> Result<u64, Box<dyn Error>> {
    let program = fs::canonicalize(program)?;
    let maps = fs::read_to_string(format!("/proc/{process}/maps"))?;
    let line = maps.lines().find(|line| line.ends_with(&*program.to_string_lossy())).ok_or("it is not loaded")?;
    Ok(u64::from_str_radix(line.split('-').next().unwrap_or_default(), 16)?)
}

/// What stood where breakpoints are.
struct Breakpoints(HashMap<u64, u8>);

impl Breakpoints {
    fn set(process: Pid, base: u64, symbols: &Symbols) -> io::Result<Self> {
        let memory = memory(process)?;
        let mut replaced = HashMap::new();
        for address in symbols.addresses().map(|address| base + address) {
            let mut byte = [0];
            memory.read_exact_at(&mut byte, address)?;
            memory.write_all_at(&[BREAKPOINT], address)?;
            replaced.insert(address, byte[0]);
        }
        Ok(Self(replaced))
    }

    /// Takes away the one that this process has met. Gives where it was.
    fn lift(&self, process: Pid) -> Result<u64, Box<dyn Error>> {
        let mut registers = ptrace::getregs(process)?;
        let address = registers.rip - 1;
        let byte = self.0.get(&address).ok_or("it stopped where no function begins")?;
        memory(process)?.write_all_at(&[*byte], address)?;
        registers.rip = address;
        ptrace::setregs(process, registers)?;
        Ok(address)
    }
}

fn memory(process: Pid) -> io::Result<File> {
    File::options().read(true).write(true).open(format!("/proc/{process}/mem"))
}
