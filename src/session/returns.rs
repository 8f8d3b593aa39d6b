//! Carriage returns, where others print to our terminal too: it goes on to add them for the others' sake, so those that
//! the command's terminal has added are taken out again.
//!
//! What was printed says by itself under which settings that was: a newline with its return is for a terminal that adds
//! it, one that stands alone is for a terminal that adds nothing. The settings themselves would not say: the command
//! may have changed them since.

use memchr::memchr_iter;

/// Takes returns out of what was printed, cut anywhere.
#[derive(Debug, Default)]
pub struct Returns {
    /// The last byte was one.
    after_return: bool,
    /// And it is not passed on yet: whether a newline follows is not known.
    held: bool,
}

impl Returns {
    /// Puts into `out` what a terminal that adds the returns has to be given for `bytes`. How much of them that is: all,
    /// or what comes before a newline that stands alone.
    pub fn take_out(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> usize {
        let Some(first) = bytes.first() else { return 0 };
        if std::mem::take(&mut self.held) && *first != b'\n' {
            out.push(b'\r');
        }
        let mut from = 0;
        for newline in memchr_iter(b'\n', bytes) {
            let before = newline.checked_sub(1);
            if !before.map_or(self.after_return, |before| bytes[before] == b'\r') {
                out.extend_from_slice(&bytes[from..newline]);
                self.after_return = false;
                return newline;
            }
            out.extend_from_slice(&bytes[from..before.unwrap_or(from)]);
            out.push(b'\n');
            from = newline + 1;
        }
        self.held = bytes.ends_with(b"\r");
        self.after_return = self.held;
        out.extend_from_slice(&bytes[from..bytes.len() - usize::from(self.held)]);
        bytes.len()
    }

    /// Whether a return is held back.
    pub fn is_held(&self) -> bool {
        self.held
    }

    /// Whether a return is held back; it is not from now on. Should its newline come all the same, another return does no
    /// harm.
    pub fn release(&mut self) -> bool {
        std::mem::take(&mut self.held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(pieces: &[&str]) -> (String, Vec<usize>) {
        let (mut returns, mut out) = (Returns::default(), Vec::new());
        let counts = pieces.iter().map(|piece| returns.take_out(piece.as_bytes(), &mut out)).collect();
        (String::from_utf8(out).unwrap(), counts)
    }

    #[test]
    fn the_return_before_a_newline_is_taken_out_and_no_other() {
        assert_eq!(taken(&["one\r\n\r\ntwo\r50%\r\r\nend"]), ("one\n\ntwo\r50%\r\nend".to_owned(), vec![20]));
    }

    #[test]
    fn a_newline_that_stands_alone_is_where_it_ends() {
        assert_eq!(taken(&["one\r\ntwo\nthree\r\n"]), ("one\ntwo".to_owned(), vec![8]));
        assert_eq!(taken(&["\n"]), (String::new(), vec![0]));
        assert_eq!(taken(&["one\r\n\n"]), ("one\n".to_owned(), vec![5]));
    }

    #[test]
    fn a_cut_between_them_is_no_newline_that_stands_alone() {
        assert_eq!(taken(&["one\r", "", "\ntwo\r\n"]), ("one\ntwo\n".to_owned(), vec![4, 0, 6]));
        assert_eq!(taken(&["50%\r", "60%\r", "\r\n"]), ("50%\r60%\r\n".to_owned(), vec![4, 4, 2]));
    }

    #[test]
    fn a_return_is_held_back_only_until_somebody_wants_to_see_it() {
        let (mut returns, mut out) = (Returns::default(), Vec::new());
        returns.take_out(b"50%\r", &mut out);
        assert!(returns.release() && !returns.release());
        assert_eq!((returns.take_out(b"\nend", &mut out), out.as_slice()), (4, &b"50%\nend"[..]));
    }
}
