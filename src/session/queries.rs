//! Questions a program asks its terminal, answered where there is no terminal to answer them.
//!
//! Without an answer many programs wait, some for seconds, some for ever. The answers are the plainest true ones: a
//! terminal without extras whose cursor is where the screen has it.

use memchr::memrchr;

use crate::scan;

/// How much of a question that is not complete is kept.
const LONGEST: usize = 16;

/// Follows the command's output and notices its questions.
#[derive(Debug, Default)]
pub struct Queries {
    /// The beginning of a question, cut off by the end of what was read.
    partial: Vec<u8>,
}

impl Queries {
    /// The answers to the questions in these bytes. `cursor` is the row and column, from 1.
    pub fn answer(&mut self, bytes: &[u8], mut cursor: impl FnMut() -> (u16, u16)) -> Vec<u8> {
        let (mut answers, mut at) = (Vec::new(), 0);
        if !self.partial.is_empty() {
            let mut begun = std::mem::take(&mut self.partial);
            let known = begun.len();
            begun.extend_from_slice(&bytes[..bytes.len().min(LONGEST)]);
            match sequence(&begun) {
                Some(length) => {
                    answers.extend(reply(&begun[..length], &mut cursor));
                    at = length.saturating_sub(known);
                }
                None if begun.len() <= LONGEST => {
                    self.partial = begun;
                    return answers;
                }
                None => {}
            }
        }
        loop {
            at = scan::first_odd(bytes, at, may_ask);
            if at == bytes.len() {
                break;
            }
            if let Some(begin) = scan::begin_of(bytes, at + 1) {
                answers.extend(reply(&bytes[begin..=at + 1], &mut cursor));
            }
            at += 1;
        }
        let end = &bytes[bytes.len().saturating_sub(LONGEST)..];
        if let Some(begin) = memrchr(0x1b, end).filter(|begin| sequence(&end[*begin..]).is_none()) {
            self.partial = end[begin..].to_vec();
        }
        answers
    }
}

/// Whether a question may end with these two bytes.
#[expect(clippy::needless_bitwise_bool, reason = "many places are compared at once, which a branch would prevent")]
fn may_ask(byte: u8, next: u8, _: u8) -> bool {
    ((next == b'c') | (next == b'n')) & (byte.is_ascii_digit() | (byte == b'[') | (byte == b'>'))
}

/// How long the control sequence at the start of `text` is; none if it is not complete.
fn sequence(text: &[u8]) -> Option<usize> {
    if *text.get(1)? != b'[' {
        return Some(1);
    }
    let end = 2 + text[2..].iter().position(|byte| !matches!(byte, 0x20..=0x3f))?;
    // What breaks it off is not of it.
    Some(if matches!(text[end], 0x40..=0x7e) { end + 1 } else { end })
}

fn reply(question: &[u8], cursor: &mut impl FnMut() -> (u16, u16)) -> Vec<u8> {
    match question {
        // Primary device attributes: a VT102.
        b"\x1b[c" | b"\x1b[0c" => b"\x1b[?6c".to_vec(),
        // Secondary: a VT100, version 0.
        b"\x1b[>c" | b"\x1b[>0c" => b"\x1b[>0;0;0c".to_vec(),
        // Status: no malfunction.
        b"\x1b[5n" => b"\x1b[0n".to_vec(),
        // Where is the cursor?
        b"\x1b[6n" => {
            let (row, col) = cursor();
            format!("\x1b[{row};{col}R").into_bytes()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_answered_wherever_they_are_cut() {
        let output = b"a\x1b[cb\x1b[6n\x1b[31m\x1b[5n\x1b]0;t\x07\x1b[3\x1b[0c 6n 0c\x1b[31mno [6n\x1b[38;2;111;222;123;4m5n\x1b[>c";
        let expected: &[u8] = b"\x1b[?6c\x1b[3;7R\x1b[0n\x1b[?6c\x1b[>0;0;0c";
        for cut in 0..output.len() {
            let mut queries = Queries::default();
            let mut answers = queries.answer(&output[..cut], || (3, 7));
            answers.extend(queries.answer(&output[cut..], || (3, 7)));
            assert_eq!(answers, expected, "cut at {cut}");
        }
    }

    #[test]
    fn ordinary_output_is_no_question() {
        assert!(Queries::default().answer(b"\x1b[2J\x1b[1;1Hhello \x1b[0m\x1b[?25l", || (1, 1)).is_empty());
    }
}
