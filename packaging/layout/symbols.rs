//! Where the functions of a program begin.

use std::collections::BTreeMap;
use std::error::Error;
use std::ffi::OsStr;
use std::process::Command;

/// The names of functions by where they begin, counted from where the program is loaded.
pub struct Symbols(BTreeMap<u64, Vec<String>>);

impl Symbols {
    /// What nm(1), which comes with the linker, knows of this program.
    pub fn read(program: &OsStr) -> Result<Self, Box<dyn Error>> {
        let nm = Command::new("nm").args(["--defined-only", "--format=posix"]).arg(program).output()?;
        if !nm.status.success() {
            return Err(String::from_utf8_lossy(&nm.stderr).trim().into());
        }
        let symbols = Self::parse(&String::from_utf8(nm.stdout)?);
        if symbols.0.is_empty() { Err("it has no symbols".into()) } else { Ok(symbols) }
    }

    /// Lines of a name, a kind, an address and a size.
    fn parse(lines: &str) -> Self {
        let mut all = BTreeMap::<_, Vec<_>>::new();
        for line in lines.lines() {
            let words: Vec<_> = line.split(' ').collect();
            let &[name, "T" | "t" | "W" | "w" | "i", address, size] = words.as_slice() else { continue };
            // What has no size is a place inside a function.
            if let (Ok(address), Ok(1..)) = (u64::from_str_radix(address, 16), u64::from_str_radix(size, 16)) {
                all.entry(address).or_default().push(name.to_owned());
            }
        }
        Self(all)
    }

    /// Where they begin.
    pub fn addresses(&self) -> impl Iterator<Item = u64> {
        self.0.keys().copied()
    }

    /// What the function that begins here is called; some have several names.
    pub fn names(&self, address: u64) -> &[String] {
        self.0.get(&address).map_or(&[], Vec::as_slice)
    }
}
