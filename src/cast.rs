//! Recordings: asciicast, versions 2 and 3, read line by line, and version 2 written.
#![forbid(unsafe_code)]

pub mod write;

use std::io::{self, BufRead, ErrorKind, Read};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::watch::{Look, Size};

/// What the first line of a recording says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The size of the terminal.
    pub size: Size,
    /// When it was made, in seconds since 1970.
    pub timestamp: Option<u64>,
    /// What was recorded.
    pub command: Option<String>,
    version: u8,
}

/// What an event of a recording is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// Output.
    Output(String),
    /// Input: typed by a person, or the terminal's answer to a query.
    Input(String),
    /// The terminal has a new size.
    Resize(Size),
    /// The command ended.
    Exit,
    /// Something that a recording of ours holds for a replay.
    Aside(Aside),
    /// A marker, or something this version does not know.
    Other,
}

/// What the watcher was told and no player knows of: a replay can look at no process that is gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Aside {
    /// A look at the processes found this.
    Look(Look),
    /// For so many milliseconds nobody could watch.
    Gap(u64),
    /// Somebody gave the command so many milliseconds more.
    Extend(u64),
    /// The command was started again: nothing that was seen before belongs to it.
    Relaunch,
}

/// No recording lasts longer. A replay lets all the time between two events pass, and would never come to the second.
const LONGEST: Duration = Duration::from_hours(24 * 365 * 100);

/// One event of a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// When, since the start of the recording.
    pub at: Duration,
    /// What.
    pub what: What,
}

#[derive(Deserialize)]
struct AnyHeader {
    version: u64,
    width: Option<u16>,
    height: Option<u16>,
    term: Option<TermHeader>,
    timestamp: Option<f64>,
    command: Option<String>,
}

#[derive(Deserialize)]
struct TermHeader {
    cols: u16,
    rows: u16,
}

/// Reads a recording; an error is the number of the line and the reason.
#[derive(Debug)]
pub struct Cast<R> {
    lines: R,
    number: usize,
    header: Header,
    at: Duration,
    line: String,
}

/// What a file has to begin with.
const BEGINS: &str = "the first line should look like {\"version\": 2, \"width\": 80, \"height\": 24}";

/// What is wrong with a recording, and in which line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The line, from 1.
    pub line: usize,
    /// Why it cannot be read.
    pub reason: String,
}

/// No recorder writes longer lines, and what is no recording may have no end.
const LONGEST_LINE: u64 = 64 << 20;

fn read_line(lines: &mut impl BufRead, line: &mut String) -> io::Result<usize> {
    let count = lines.by_ref().take(LONGEST_LINE).read_line(line)?;
    if count as u64 == LONGEST_LINE {
        return Err(io::Error::other(format!("the line is longer than {} MiB", LONGEST_LINE >> 20)));
    }
    Ok(count)
}

impl<R: BufRead> Cast<R> {
    /// Reads the header.
    pub fn open(mut lines: R) -> Result<Self, Fault> {
        let fault = |reason: String| Fault { line: 1, reason };
        let mut line = String::new();
        read_line(&mut lines, &mut line).map_err(|error| match error.kind() {
            ErrorKind::InvalidData => fault(format!("not an asciicast: it is not text; {BEGINS}")),
            _ => fault(error.to_string()),
        })?;
        if line.trim().is_empty() {
            return Err(fault(format!("not an asciicast: it is empty; {BEGINS}")));
        }
        let any: AnyHeader = serde_json::from_str(&line).map_err(|error| {
            let is_header =
                serde_json::from_str::<serde_json::Value>(&line).is_ok_and(|line| line.get("version").is_some());
            fault(if is_header {
                format!("invalid header: {}", why(&error))
            } else {
                format!("not an asciicast: it has no header; {BEGINS}")
            })
        })?;
        let size = match (any.version, any.width, any.height, any.term) {
            (2, Some(cols), Some(rows), _) => Size { cols, rows },
            (3, _, _, Some(term)) => Size { cols: term.cols, rows: term.rows },
            (2 | 3, ..) => return Err(fault(format!("the header gives no terminal size; {BEGINS}"))),
            (other, ..) => return Err(fault(format!("unsupported asciicast version {other}; use version 2 or 3"))),
        };
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let timestamp = any.timestamp.filter(|seconds| (0.0..1e11).contains(seconds)).map(|seconds| seconds as u64);
        let version = if any.version == 3 { 3 } else { 2 };
        let header = Header { size, timestamp, command: any.command, version };
        Ok(Self { lines, number: 1, header, at: Duration::ZERO, line })
    }

    /// What the first line says.
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// The next event; none at the end.
    pub fn next_entry(&mut self) -> Result<Option<Entry>, Fault> {
        loop {
            self.line.clear();
            self.number += 1;
            let read = read_line(&mut self.lines, &mut self.line).map_err(|error| self.fault(error.to_string()))?;
            if read == 0 {
                return Ok(None);
            }
            let text = self.line.trim();
            // Version 3 allows comments.
            if text.is_empty() || text.starts_with('#') {
                continue;
            }
            let (seconds, what) = match parse(text) {
                Ok(parsed) => parsed,
                // The last line may be cut: the recorder was killed, or the disk was full.
                Err(_) if !self.line.ends_with('\n') => return Ok(None),
                Err(reason) => return Err(self.fault(reason)),
            };
            // Version 2 counts from the start, version 3 from the event before.
            let at = if self.header.version == 3 { self.at.saturating_add(seconds) } else { seconds };
            if at > LONGEST {
                return Err(self.fault(too_late(seconds)));
            }
            self.at = self.at.max(at);
            return Ok(Some(Entry { at: self.at, what }));
        }
    }

    fn fault(&self, reason: String) -> Fault {
        Fault { line: self.number, reason }
    }
}

fn too_late(seconds: Duration) -> String {
    let seconds = seconds.as_secs_f64();
    format!(
        "the time {seconds} makes it longer than a hundred years; times are in seconds, since the start in version 2, \
         since the previous event in version 3"
    )
}

/// What is wrong, without the place: it is one in the line, whose number is that in the file.
fn why(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or_default().to_owned()
}

fn parse(text: &str) -> Result<(Duration, What), String> {
    let (seconds, code, data): (f64, String, serde_json::Value) =
        serde_json::from_str(text).map_err(|error| format!("not an event [time, code, data]: {}", why(&error)))?;
    let at = Duration::try_from_secs_f64(seconds).map_err(|_| {
        format!("{seconds} is not a time; use the seconds since the start, or since the previous event in version 3")
    })?;
    let text = || data.as_str().map(str::to_owned).ok_or_else(|| format!("the data of '{code}' is not a string"));
    let what = match code.as_str() {
        "o" => What::Output(text()?),
        "i" => What::Input(text()?),
        "r" => What::Resize(size(&text()?)?),
        "x" => What::Exit,
        // Somebody else's may have the same letter and another meaning.
        "w" => data.as_str().and_then(|text| serde_json::from_str(text).ok()).map_or(What::Other, What::Aside),
        _ => What::Other,
    };
    Ok((at, what))
}

fn size(text: &str) -> Result<Size, String> {
    let parts = text.split_once('x').and_then(|(cols, rows)| Some((cols.parse().ok()?, rows.parse().ok()?)));
    let (cols, rows) = parts.ok_or_else(|| format!("'{text}' is not a size such as 80x24"))?;
    Ok(Size { cols, rows })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Entry>, Fault> {
        let mut cast = Cast::open(text.as_bytes())?;
        let mut entries = Vec::new();
        while let Some(entry) = cast.next_entry()? {
            entries.push(entry);
        }
        Ok(entries)
    }

    fn fault(text: &str) -> Fault {
        read(text).unwrap_err()
    }

    #[test]
    fn version_2_counts_from_the_start_and_version_3_from_the_event_before() {
        let events = "[1.5, \"o\", \"a\"]\n[2.5, \"r\", \"100x30\"]\n";
        let two = read(&format!("{{\"version\":2,\"width\":80,\"height\":24}}\n{events}")).unwrap();
        let three =
            format!("{{\"version\":3,\"term\":{{\"cols\":80,\"rows\":24}}}}\n# a comment\n{events}[0.5,\"x\",\"0\"]\n");
        let three = read(&three).unwrap();
        assert_eq!(two[1], Entry { at: Duration::from_millis(2500), what: What::Resize(Size { cols: 100, rows: 30 }) });
        assert_eq!(three[1].at, Duration::from_secs(4));
        assert_eq!(three[2].what, What::Exit);
        let years =
            format!("{{\"version\":3,\"term\":{{\"cols\":80,\"rows\":24}}}}\n{}", "[2e9,\"o\",\"x\"]\n".repeat(2));
        assert_eq!(fault(&years).line, 3);
    }

    #[test]
    fn a_fault_names_its_line() {
        let header = "{\"version\":2,\"width\":80,\"height\":24}\n";
        assert_eq!(fault("").line, 1);
        let large = fault("{\"version\":2,\"width\":999999999,\"height\":24}\n").reason;
        assert!(large.contains("invalid header") && large.contains("999999999"), "{large}");
        assert!(
            fault("# Not a recording\n")
                .reason
                .contains("not an asciicast: it has no header; the first line should look like")
        );
        assert!(Cast::open(&b"\xff\xfe\n"[..]).unwrap_err().reason.contains("not an asciicast: it is not text"));
        assert!(fault("{\"version\":1}").reason.contains("version 1;"));
        assert!(
            fault("{\"version\":2}").reason.contains("no terminal size; the first line should look like {\"version\"")
        );
        assert_eq!(fault(&format!("{header}[1.0, \"o\", \"x\"]\nnonsense\n")).line, 3);
        assert!(fault(&format!("{header}[-1.0, \"o\", \"x\"]\n")).reason.contains("not a time"));
        let late = fault(&format!("{header}[1.0, \"o\", \"x\"]\n[1e11, \"o\", \"x\"]\n"));
        assert_eq!(late.line, 3);
        assert!(late.reason.contains("time 100000000000 makes it longer than a hundred years"), "{late:?}");
        assert_eq!(read(&format!("{header}[1.0, \"o\", \"x\"]\n[2.0, \"o")).unwrap().len(), 1);
        assert_eq!(read(&format!("{header}[1.0, \"w\", 5]\n")).unwrap()[0].what, What::Other);
        let broken = fault(&format!("{header}[1.0, \"o\"]\n[oops\n"));
        assert_eq!(broken.line, 2);
        assert!(
            broken.reason.contains("not an event [time, code, data]") && !broken.reason.contains("column"),
            "{broken:?}"
        );
        assert!(fault(&format!("{header}[1.0, \"r\", \"wide\"]\n")).reason.contains("80x24"));
    }
}
