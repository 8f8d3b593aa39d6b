//! Which run is meant.

use super::super::round::Found;
use super::table::command;
use crate::cli::visible;
use crate::report::plain;

/// How many are named where a name is not enough.
const MOST: usize = 8;

/// The run that is meant by this name, or by none, where there is only one.
pub fn find(name: Option<&str>, all: &[Found]) -> Result<usize, String> {
    let Some(name) = name else {
        return match all {
            [] => Err("no run is in progress".to_owned()),
            [_] => Ok(0),
            several => Err(format!("several runs are in progress; name one of {}", candidates(several.iter()))),
        };
    };
    if name == "last" {
        let newest = all.iter().enumerate().rfind(|(_, found)| found.answer.is_some());
        return newest.map(|(index, _)| index).ok_or_else(|| "no run is in progress".to_owned());
    }
    let is_pid = |found: &Found| {
        let own = found.answer.as_ref().map(|told| told.stats.pid);
        name.parse().is_ok_and(|pid: i32| found.pid == Some(pid) || own == Some(pid))
    };
    let which = |fits: &dyn Fn(&Found) -> bool| -> Vec<usize> {
        all.iter().enumerate().filter(|(_, found)| fits(found)).map(|(index, _)| index).collect()
    };
    // The whole id, then a process, and only then the beginning of an id: digits may be any of these.
    let fitting: [&dyn Fn(&Found) -> bool; 3] =
        [&|found| found.run == name, &is_pid, &|found| !name.is_empty() && found.run.starts_with(name)];
    match fitting.iter().map(|fits| which(*fits)).find(|found| !found.is_empty()).as_deref() {
        Some([one]) => Ok(*one),
        Some(several) => {
            let named = candidates(several.iter().map(|index| &all[*index]));
            Err(format!("'{}' is ambiguous; name one of {named}", visible(name)))
        }
        None if all.is_empty() => Err(format!("no run '{}': no run is in progress", visible(name))),
        None => Err(format!("no run '{}'; name one of {}", visible(name), candidates(all.iter()))),
    }
}

fn candidates<'f>(all: impl Iterator<Item = &'f Found>) -> String {
    let named: Vec<String> = all
        .map(|found| {
            let words: String = command(found).chars().take(40).collect();
            format!("{} ({words})", plain(&found.run))
        })
        .collect();
    match named.len().checked_sub(MOST) {
        Some(more @ 1..) => format!("{} and {more} more", named[..MOST].join(", ")),
        _ => named.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::round::Told;
    use crate::report::{Limits, Stats};

    pub fn found(run: &str, pid: i32, idlewatch: i32) -> Found {
        let limits = Limits { idle: None, max_idle: None, timeout: None, timeout_left: None, warn: 60 };
        let stats = Stats {
            started: format!("2026-01-01T00:00:{pid:02}Z"),
            command: vec!["make".to_owned()],
            pid,
            idlewatch_pid: idlewatch.unsigned_abs(),
            cwd: String::new(),
            state: "active".to_owned(),
            evidence: String::new(),
            ending: None,
            since_activity: 0,
            loop_suspicion: 0,
            attended: false,
            limits,
            nudges: 0,
            signals: 0,
            deferrals: 0,
            relaunches: 0,
            output_bytes: 0,
            tasks: None,
        };
        let answer = Some(Told { line: String::new(), elapsed: 0, stats });
        Found { run: run.to_owned(), pid: Some(idlewatch), answer, why: None }
    }

    #[test]
    fn a_run_is_named_by_its_id_its_beginning_a_process_or_as_the_last() {
        let all = [found("12ab34cd", 20, 19), found("12ff0000", 30, 29), found("20aaaaaa", 40, 12)];
        for (name, expected) in
            [("12ab34cd", 0), ("12f", 1), ("30", 1), ("29", 1), ("20", 0), ("20a", 2), ("last", 2), ("12", 2)]
        {
            assert_eq!(find(Some(name), &all), Ok(expected), "{name}");
        }
        assert_eq!(find(None, &all[..1]), Ok(0));
    }

    #[test]
    fn a_name_that_is_not_enough_names_those_it_may_mean() {
        let all = [found("12ab34cd", 20, 19), found("12ff0000", 30, 29)];
        let why = find(Some("12"), &all).unwrap_err();
        assert!(why.contains("12ab34cd (make)") && why.contains("12ff0000 (make)"), "{why}");
        assert!(find(None, &all).unwrap_err().contains("12ff0000"));
        assert!(find(Some("x"), &all).unwrap_err().contains("no run 'x'"));
        assert!(find(Some(""), &all).is_err());
        assert_eq!(find(None, &[]), Err("no run is in progress".to_owned()));
        assert_eq!(find(Some("last"), &[]), Err("no run is in progress".to_owned()));
    }
}
