//! Words by which a line says that something went wrong, in any program.

use super::measure::{Said, is_count};

/// What a line says of how it goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tone {
    /// Something went wrong.
    pub(super) complains: bool,
    /// The same is tried once more.
    pub(super) retries: bool,
    /// So far has the work come.
    pub(super) share: bool,
}

impl Tone {
    /// The tone of `text`, which is `masked` without times and ids; `lower` is room to work in.
    pub(super) fn of(text: &str, masked: &str, lower: &mut String) -> Self {
        to_lowercase(text, lower);
        let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        let complains = (has(&COMPLAINTS) && !none_of_it(lower) && !only_counts(lower, masked) || crashed(lower))
            && !is_passed(text);
        Self { complains, retries: has(&RETRIES), share: shows_share(text) }
    }
}

/// Whether the line says of a test or a step that it went well: `✔ throws an error`, `--- PASS: TestTimeout (0.8s)`,
/// `ok 3 - is refused`, `test fails ... ok`. What its name complains of is what was wanted.
fn is_passed(text: &str) -> bool {
    let word = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
    let mut words = text.split_whitespace();
    let last = words.clone().next_back().is_some_and(|last| last == "ok") && text.contains("... ok");
    let first = [words.next(), words.next()].map(|first| first.map(word).unwrap_or_default());
    let says = |said: &String| matches!(said.as_str(), "PASS" | "PASSED" | "ok" | "OK");
    text.trim_start().starts_with(['✓', '✔', '✅', '☑']) || last || first.iter().any(says) && first[0] != "not"
}

/// Whether the line says that nothing went wrong: `0 errors`, and not `500 errors`.
fn none_of_it(lower: &str) -> bool {
    let begins = |at: usize| !lower[..at].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | ','));
    NONE_OF_IT.iter().any(|word| lower.match_indices(word).any(|(at, _)| begins(at)))
}

/// Whether every complaint in the line is measured, as in `train_error: 0.0123`, or counted beside something else that is:
/// `1200 rows, 3 errors`, `ok=12 failed=3`. One alone with a number, as in `error: 529` or `500 error`, is that error.
fn only_counts(lower: &str, masked: &str) -> bool {
    let beside = counted(masked).nth(1).is_some();
    let mut complaints = COMPLAINTS.iter().flat_map(|word| lower.match_indices(word));
    complaints.all(|(at, word)| {
        let (before, rest) = (&lower[..at], &lower[at + word.len()..]);
        let said = Said::of(rest);
        is_empty(rest)
            || said.is_some_and(|said| is_measured(before, word, &said) || beside && said.is_count_or_measure())
            || beside && before.ends_with(' ') && ends_in_count(before, rest)
    })
}

/// Whether what is said of a name that `rest` is the end of is that there is none: `s": []`, `=null`, `ed: none`.
fn is_empty(rest: &str) -> bool {
    let after = rest.trim_start_matches(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-'));
    let named = after.strip_prefix(['"', '\'']).unwrap_or(after).trim_start();
    let Some(sign) = named.chars().next().filter(|sign| matches!(sign, ':' | '=')) else { return false };
    let value = named[1..].trim_start();
    let Some(rest) = NOTHING.iter().find_map(|nothing| value.strip_prefix(nothing)) else { return false };
    // It may be the beginning of a sentence.
    rest.is_empty()
        || rest.starts_with([',', ';', '}', ']', ')', '"', '\'', '|'])
        || sign == '=' && rest.starts_with(' ')
}

/// Whether the line says that a program has ended as none should.
fn crashed(lower: &str) -> bool {
    let exits = |word: &str| {
        lower.match_indices(word).any(|(at, _)| {
            let code = lower[at + word.len()..].trim_start_matches([' ', ':', '=', '[', '(']);
            code.starts_with(|c: char| matches!(c, '1'..='9'))
        })
    };
    CRASHES.iter().any(|word| lower.contains(word)) || EXITS.iter().any(|word| exits(word))
}

/// Whether the number is how large an error is, or how many of all fail. How long a timeout was, or how full a disk is, is
/// neither.
fn is_measured(before: &str, word: &str, said: &Said<'_>) -> bool {
    let is_measure = word == "error" && said.number.is_measure() || word == "fail" && said.number.is_share();
    let measures = said.is_rate() || is_measure;
    measures && said.is_value(before.ends_with(['_', '-', '/', '.']))
}

/// Whether the last word is a number of what `rest` is the end of: of several, and not the number of an attempt or a part of
/// a name or an address.
fn ends_in_count(before: &str, rest: &str) -> bool {
    let ending = rest.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
    let mut words = before.split_whitespace().rev();
    let mut last = words.next();
    // `3 parse errors`.
    if ending.ends_with('s') && last.is_some_and(|word| word.chars().all(char::is_alphabetic)) {
        last = words.next();
    }
    let is_counted = last.is_some_and(|word| is_count(word.trim_start_matches(['(', '['])));
    !ending.is_empty() && is_counted && !words.next().is_some_and(|word| RETRIES.iter().any(|name| word.contains(name)))
}

/// The numbers in a line that stand for themselves: none of names, addresses or, as far as they are masked, times.
fn counted(masked: &str) -> impl Iterator<Item = &str> {
    let belongs =
        |c: char| c.is_alphanumeric() || matches!(c, '.' | ',' | '-' | '+' | '_' | ':' | '/' | '@' | '[' | ']');
    let words = masked.split(move |c: char| !belongs(c)).map(|word| word.trim_matches([',', '.', ':', '+', '[', ']']));
    let of_its_own = |name: &str| name.bytes().all(|b| b.is_ascii_alphabetic() || matches!(b, b'_' | b'-'));
    let value = move |word| match str::rsplit_once(word, ':') {
        Some((name, value)) if of_its_own(name) => value,
        _ => word,
    };
    words.map(value).filter(|word| is_count(word))
}

const COMPLAINTS: [&str; 34] = [
    "error",
    "fail",
    "warn",
    "retry",
    "exception",
    "traceback",
    "panic",
    "refused",
    "denied",
    "timeout",
    "timed out",
    "cannot",
    "can't",
    "could not",
    "couldn't",
    "unable",
    "unhealthy",
    "unavailable",
    "unreachable",
    "undefined",
    "invalid",
    "abort",
    "reset by",
    "disconnect",
    "reconnect",
    "restart",
    "not found",
    "no such",
    "crash",
    "killed",
    "rejected",
    "try again",
    "trying again",
    "exited (",
];

/// A count of zero is the opposite of a complaint.
const NONE_OF_IT: [&str; 18] = [
    "0 error",
    "no error",
    "errors: 0",
    "errors=0",
    "errors none",
    "0 fail",
    "no fail",
    "failed: 0",
    "failed=0",
    "0 warn",
    "no warn",
    "zero error",
    "zero fail",
    "zero warn",
    "without error",
    "without fail",
    "without warn",
    "error-free",
];

/// What stands for nothing as the value of a name.
const NOTHING: [&str; 11] = ["null", "none", "nil", "<nil>", "false", "\"\"", "''", "[]", "{}", "()", "0"];

/// How a program ends that has not come to its end.
const CRASHES: [&str; 8] = [
    "segmentation fault",
    "core dumped",
    "out of memory",
    "terminated by signal",
    "killed by signal",
    "exited on signal",
    "bus error",
    " died",
];

/// What stands before the status of one that failed, unless that is 0.
const EXITS: [&str; 5] = ["exit status", "exit code", "exited with code", "exited with status", "exited (code"];

/// Words by which a line says that the same is tried once more.
const RETRIES: [&str; 5] = ["retry", "reconnect", "attempt", "try again", "trying again"];

/// Whether the line says that the same is tried once more.
pub(super) fn is_retry(text: &str) -> bool {
    let mut lower = String::new();
    to_lowercase(text, &mut lower);
    RETRIES.iter().any(|word| lower.contains(word))
}

/// Whether the line has a mark that something is finished, well or not.
pub(super) fn is_marked_done(text: &str) -> bool {
    text.contains(['✓', '✔', '✗', '✘', '✕', '✖', '☑', '☒', '✅', '❌']) || text.contains("[x]") || text.contains("[X]")
}

/// Whether the line announces itself as a tip: something to read while time passes.
pub(super) fn is_tip(text: &str) -> bool {
    let start = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    let lower: String = start.chars().take(16).flat_map(char::to_lowercase).collect();
    ["tip:", "tips:", "tip ", "pro tip", "hint:", "did you know"].iter().any(|word| lower.starts_with(word))
}

/// Whether a number in the line says how far the work has come: `42%`, `3/10`, `3 of 10`.
fn shows_share(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digit = |index: usize| bytes.get(index).is_some_and(u8::is_ascii_digit);
    (1..bytes.len()).any(|index| match bytes[index] {
        b'%' => digit(index - 1),
        b'/' => digit(index - 1) && digit(index + 1),
        b' ' => digit(index - 1) && text[index..].starts_with(" of ") && digit(index + 4),
        _ => false,
    })
}

fn to_lowercase(text: &str, lower: &mut String) {
    lower.clear();
    if text.is_ascii() {
        lower.push_str(text);
        lower.make_ascii_lowercase();
    } else {
        lower.extend(text.chars().flat_map(char::to_lowercase));
    }
}

#[cfg(test)]
mod tests {
    use crate::watch::line_form::LineForm;

    fn complains(text: &str) -> bool {
        LineForm::default().hash(text).is_some_and(|(_, tone)| tone.complains)
    }

    #[test]
    fn a_test_that_passed_does_not_complain_of_what_it_is_called() {
        for passed in [
            "    ✔ should throw an error when missing (3ms)",
            "--- PASS: TestTimeout (0.84s)",
            "ok 12 - refuses an invalid name",
            "[       OK ] Parser.Error (0 ms)",
            "tests/test_io.py::test_denied PASSED [ 12%]",
            "test parser::fails_on_garbage ... ok",
        ] {
            assert!(!complains(passed), "{passed}");
        }
        for complaint in [
            "not ok 12 - refuses an invalid name",
            "--- FAIL: TestTimeout (0.84s)",
            "test parser::fails_on_garbage ... FAILED",
            "the request failed, this is not ok",
            "error: the ✔ is missing",
        ] {
            assert!(complains(complaint), "{complaint}");
        }
    }

    #[test]
    fn a_program_that_ends_well_does_not_complain() {
        for well in [
            "exited with code 0",
            "exit status 0",
            "exited: web (exit status 0; expected)",
            "GET / responded with status 200",
        ] {
            assert!(!complains(well), "{well}");
        }
    }

    #[test]
    fn complaints_that_are_counted_among_other_things_are_no_complaint() {
        for counted in [
            "INFO processed 13200 records, 3 errors",
            "ok=12 changed=0 failed=3",
            "12 passed, 2 failed",
            "epoch 3 loss=0.2 train_error=0.0086",
            "rows: 1200, errors: 3",
            r#"{"rows":1200,"errors":3}"#,
            "epoch 3 loss 1.9844 val_error 0.4901",
            "[12]\ttrain-error:0.046522\ttest-error:0.042831",
            "12:00:01 Tests  3 failed | 12 passed (15)",
            // Training and solving.
            "train_error: 0.0123",
            "12:00:01 train_error: 0.0123",
            "[1763500000.123] train_error: 0.0123",
            "2026-11-18 12:00:01,344 INFO step 100 train_error: 0.0123",
            "step 100 error=4.5e-04",
            "epoch 3 loss 0.21 error_rate 3.4%",
            "error 0.0123",
            "Error: 1.2e-05",
            "iter 10: relative error = 1.2345e-05",
            "error=5e-05 at the best point",
            "mean absolute error 0.0123 (best 0.0119)",
            "mean reprojection error: 0.35 px",
            "clock error: 0.35 ms",
            "error -0.012 gain 1.5",
            "word error rate: 12.3%",
            "failure rate 3.4%",
            "val_error_rate: 0",
            "pose error (L2): 0.034",
            r#"{"epoch": 3, "eval_error": 0.0123}"#,
            "{'eval_error': 0.0123, 'lr': 5e-05}",
            r#"{"valid_error": "0.0123"}"#,
            "Epoch 3 - 12s - error: 0.0123 - val_error: 0.0231",
            "[10]\tvalid_0's binary_error: 0.0345\tvalid_0's auc: 0.91",
            "[7]\ttrain-error:0.046522+0.0031\ttest-error:0.042831+0.0042",
            "val/error 0.0123 improved",
            // Counts with an exponent or a unit.
            "processed 13.2k records, 3 errors",
            "120MB, 2 failed",
            "1.2e+06 rows, 3 errors",
            "1.5GiB of 4GiB, 30%, 2 errors",
            "[0:12] 3.40% 1,234 files 1.2 GiB, 2 errors",
            "12345kB read, 12 frames, 3 decoding errors",
            r#"{"processed": 1200, "error_count": 3}"#,
            "rows = 1.2M, errors = 3",
            // Test runners and linters.
            "Tests: 3 failed, 12 passed, 15 total",
            "Tests run: 12, Failures: 2, Errors: 1, Skipped: 0",
            "Executed 120 tests, with 2 failures in 3.4 (3.5) seconds",
            "Running [ 00:00:12] 120/340: 4 running, 118 passed, 2 failed, 3 skipped",
            "[1,234 / 5,678] 12 actions running, 3 failed",
            "✖ 12 problems (3 errors, 9 warnings)",
            "Found 3 errors in 12 files (checked 340 source files)",
            "1.2k files checked, 3 warnings",
            // Databases.
            "progress: 5.0 s, 1234.5 tps, lat 0.812 ms stddev 0.123, 3 failed",
            "Records: 1200  Duplicates: 2  Warnings: 3",
            "indexed 1.2M documents, 4 failed",
            "vacuumed 12 tables, 3 lock timeouts",
            // Of what there is none.
            r#"{"row":12,"error":null}"#,
            r#"{"row":12,"errors":[]}"#,
            r#"{"row":12,"is_error":false,"failed":0}"#,
            r#"{"row": 12, "error": ""}"#,
            "level=info row=12 error=<nil>",
            "row 12, failed: none",
            "row 12 without errors",
            "row 12, zero failures",
            "row 12 errors none",
        ] {
            assert!(!complains(counted), "{counted}");
        }
    }

    #[test]
    fn a_complaint_is_one_whatever_numbers_are_in_it() {
        for complaint in [
            "error: 529, request 12",
            "500 error in 3 ms",
            "3 errors",
            "connection refused, 3 errors, 12 left",
            "failed to fetch 3 of 12",
            "HTTP 503 service unavailable after 3 s",
            "2026-11-18 12:00:01,344 [main] request failed: 503",
            "request 3fa8b2c1-9d04-4e1b-a7c6-0123456789ab failed: 503",
            "[1763500000.123456] request 0x7f3a8812 failed: 503",
            "Nov 18 12:00:01 host app[1234]: request failed: 503",
            "attempt 3 failed, 2 left",
            "10.0.0.7:43210 disconnected: EOF",
            // Not every number behind the word is a measure.
            "error: 3.14 is not an integer",
            "ValueError: 0.5 is not in the list",
            "error: 1.5: no such version",
            "error: 1.2.3 is too old",
            "error: 10.0.0.7 is down",
            "HTTP Error 403.14 - Forbidden",
            "error: 2.5 GB are missing",
            "error: 85% of the space is used",
            "warning: 85%",
            "connection timeout: 30.5s",
            "connect timeout: 30.0",
            "Test #12 ... Failed 0.35 sec",
            "WARN error_rate 0.034 is too high",
            "[error] step 100 loss 0.21",
            "error_code: 529, request 12",
            "error=529 after 12 steps",
            "request 3e45 failed: 503",
            "llama-70B failed: 503",
            "attempt 3 parse errors, 2 left",
            // What tools say of themselves.
            "rsync error: some files could not be transferred (code 23) at main.c(1338) [sender=3.2.7]",
            "[h264 @ 0x55d0c8a3f700] error while decoding MB 12 34, bytestream -5",
            "[mp4 @ 0x5581] Invalid DTS: 1200 PTS: 1100 in output stream 0:0",
            "test result: FAILED. 12 passed; 2 failed; 0 ignored",
            "FAILED (failures=2, errors=1)",
            "FAIL\texample.com/pkg\t0.353s",
            "src/main.c:12:5: warning: unused variable 'x' [-Wunused-variable]",
            "error[E0308]: mismatched types",
            "ERROR 1205 (HY000): Lock wait timeout exceeded; try restarting transaction",
            "ERROR:  duplicate key value violates unique constraint \"a_pkey\" (12, 34)",
            "FATAL:  connection to 10.0.0.7:5432 refused, 12 left",
            "HTTPConnectionPool(host='x', port=80): Read timed out. (read timeout=30.0)",
            r#"{"row":12,"error":"null pointer"}"#,
            r#"{"error":null,"status":"connection refused"}"#,
            "error: none of the files can be read",
            "error=0x80070005",
            // Programs that end as none should.
            "./run.sh: line 3: 1000 Segmentation fault (core dumped) ./prog",
            "Out of memory",
            "process exited with code 1",
            "App [web:0] exited with code [1] via signal [SIGINT]",
            "2026-11-20 01:02:03,004 INFO exited: web (exit status 1; not expected)",
            "worker process 1001 exited on signal 11",
            "make: *** terminated by signal 9",
            "the server died, starting anew",
            "Task 12 failed with exit code 1",
            "worker 1001 exited (code 1)",
        ] {
            assert!(complains(complaint), "{complaint}");
        }
    }
}
