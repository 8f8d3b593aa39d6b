//! What `/proc/PID/stat` says of a process. Its fields are numbered as in proc(5).

use std::fs;
use std::time::Duration;

use nix::unistd::{SysconfVar, sysconf};

/// One reading of it.
#[derive(Debug)]
pub struct Stat {
    /// The name of what runs in it, as far as the kernel keeps it.
    pub name: String,
    /// What it is doing, as a letter.
    pub state: char,
    /// The third field and those after it.
    rest: String,
}

impl Stat {
    /// Reads it, unless the process is gone.
    pub fn read(pid: i32) -> Option<Self> {
        Self::parse(&fs::read(format!("/proc/{pid}/stat")).ok()?)
    }

    /// pid (name) state …: the name may hold anything, brackets, newlines and half a letter included.
    fn parse(stat: &[u8]) -> Option<Self> {
        let (open, close) = (memchr::memchr(b'(', stat)?, memchr::memrchr(b')', stat)?);
        let name = String::from_utf8_lossy(stat.get(open + 1..close)?).into_owned();
        let rest = std::str::from_utf8(&stat[close + 1..]).ok()?.trim_start().to_owned();
        Some(Self { name, state: rest.chars().next()?, rest })
    }

    /// The number in this field.
    pub fn number(&self, field: usize) -> Option<u64> {
        self.rest.split_ascii_whitespace().nth(field.checked_sub(3)?)?.parse().ok()
    }

    /// The process id of its parent.
    pub fn parent(&self) -> Option<i32> {
        self.number(4).and_then(|parent| i32::try_from(parent).ok())
    }

    /// The sum of the numbers in these fields, as far as they are there.
    pub fn sum(&self, fields: std::ops::RangeInclusive<usize>) -> u64 {
        fields.filter_map(|field| self.number(field)).sum()
    }
}

/// What the fields that count time count in.
#[derive(Debug, Clone, Copy)]
pub struct Ticks {
    per_second: u64,
}

impl Ticks {
    /// The system's.
    pub fn of_system() -> Option<Self> {
        let per_second = u64::try_from(sysconf(SysconfVar::CLK_TCK).ok()??).ok()?;
        (per_second > 0).then_some(Self { per_second })
    }

    /// How long so many are.
    pub fn length(self, ticks: u64) -> Duration {
        Duration::from_millis(ticks.saturating_mul(1000) / self.per_second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_anything() {
        for (name, shown) in
            [(&b"cat"[..], "cat"), (b") R 1 (", ") R 1 ("), (b"a\nb", "a\nb"), (b"half a \xc3", "half a \u{fffd}")]
        {
            let stat = [b"12 (", name, b") S 7 12 12 0 -1 4194304 100 0 0 0 5 6 7 8 20 0 3 0 999\n"].concat();
            let stat = Stat::parse(&stat).expect("it can be read");
            assert_eq!((stat.name.as_str(), stat.state, stat.parent()), (shown, 'S', Some(7)));
            assert_eq!((stat.sum(14..=17), stat.number(20), stat.number(22)), (26, Some(3), Some(999)));
        }
    }

    #[test]
    fn what_is_not_there_is_not_known() {
        assert!(Stat::parse(b"").is_none() && Stat::parse(b"12 (cat").is_none() && Stat::parse(b")(").is_none());
        let cut = Stat::parse(b"12 (cat) S").expect("it has a state");
        assert_eq!((cut.parent(), cut.number(2), cut.sum(14..=17)), (None, None, 0));
    }
}
