//! Whether what is undone is what was left on, however the output was cut.

use super::*;

fn left_by(output: &str) -> String {
    let mut whole = Modes::default();
    whole.follow(output.as_bytes());
    let mut bytewise = Modes::default();
    for byte in output.bytes() {
        bytewise.follow(&[byte]);
    }
    for modes in [&mut whole, &mut bytewise] {
        if modes.parser != Parser::Csi {
            // What is left of one that was broken off means nothing.
            modes.csi = Csi::default();
        }
    }
    assert_eq!(whole, bytewise, "a cut changed what was understood of {output:?}");
    String::from_utf8(whole.undo(24)).unwrap()
}

#[test]
fn a_program_that_cleans_up_leaves_nothing() {
    for output in [
        "plain text\r\n",
        "\x1b[31mred\x1b[0m",
        "\x1b[1;38;5;196;48;2;1;2;3mx\x1b[22;39;49m",
        "\x1b[4:3mcurly\x1b[4:0m",
        "\x1b[?1049h\x1b[?1000;1006h\x1b[?25l\x1b[>1u text \x1b[<u\x1b[?25h\x1b[?1006;1000l\x1b[?1049l",
        "\x1b[?1049h\x1b[>1u\x1b[?1049l",
        "\x1b[?2004h\x1b[?2004l\x1b[?1004h\x1b[?1004l\x1b[?2026h\x1b[?2026l",
        "\x1b[?25l\x1bc",
        "\x1b[2;10r\x1b[r\x1b(0qqq\x1b(B\x0e\x0f\x1b=\x1b>\x1b[4 q\x1b[0 q\x1b[>4;2m\x1b[>4m",
        "\x1b]0;a title with [?25l inside\x07",
        "\x1b[1;24r\x1b[2;2r\x1b[5;2r\x1b[4h\x1b[4l\x1b[4;20h\x1b[20;4l\x1b[2;5r\x1b[1;r\x1b[?66h\x1b[?66l",
        "\x1b[4h\x1b[2;5r\x1b[!p\x1b[1;5;9;9;1$r",
        "\x1b]8;id=1;http://x/\x1b\\link\x1b]8;;\x1b\\\x1b]9;4;1;50\x07\x1b]9;4;0;0\x07\x1b]9;a notice\x07\x1b]8;;x\x18",
        "\x1b[?25s\x1b[?25l\x1b[?25r",
    ] {
        assert_eq!(left_by(output), "", "{output:?}");
    }
}

#[test]
fn attributes_that_are_reset_later_make_no_difference_and_others_do() {
    let flood = "\x1b[1;31mfield\x1b[>4;2m\x1b[22;39m\x1b[?25l".repeat(50);
    for (end, undo) in [
        ("\x1b[0m", "\x1b[?25h\x1b[>4m"),
        ("\x1b]0;title\x1b[m", "\x1b[?25h\x1b[>4m"),
        ("\x1b[m\x1b[7mx", "\x1b[?25h\x1b[>4m\x1b[m"),
        ("\x1b[0m\x1b[3", "\x1b[?25h\x1b[>4m"),
        ("\x1b[3m", "\x1b[?25h\x1b[>4m\x1b[m"),
    ] {
        assert_eq!(left_by(&(flood.clone() + end)), undo, "{end:?}");
    }
}

#[test]
fn a_control_character_within_a_sequence_does_not_hide_it() {
    for odd in ["\r", "\0", "\x07", "\x7f", "é"] {
        for end in ["", "x\x1b[0m"] {
            assert_eq!(left_by(&format!("\x1b[4{odd}h{end}")), "\x1b[4l", "{odd:?} {end:?}");
            assert_eq!(left_by(&format!("\x1b[2;5{odd}r{end}")), left_by("\x1b[2;5r"), "{odd:?} {end:?}");
            assert_eq!(left_by(&format!("\x1b[4h\x1b[4{odd}l{end}")), "", "{odd:?} {end:?}");
        }
    }
}

#[test]
fn what_is_skipped_makes_no_difference() {
    // The first eight are those that are skipped most of the time.
    let pieces: Vec<&str> = "\
        \x1b[31m|\x1b[1;4:3m|\x1b[39m|\x1b[m|\x1b[0m|\x1b[3;1H|\x1b[K|text|a q|2 q|\x1b[5 q|\x1b[0 q|\x1b[ q|\
        \x1b[?25l|\x1b[?25h|\x1b[1?25l|\x1b[?1049h|\x1b[?1049l|\x1b[>1u|\x1b[<u|\x1b[=3u|\x1b[>4;2m|\x1b(0|\
        \x1b(B|\x0e|\x0f|\x1b[3\x0e1m|\x1b=|\x1b>|\x1b[!p|\x1b[0!p|!p|\x1b[\x7f?25l|\x1bc|\x1b]0;a title|\x07|\x1b\\|\x1bPq|\x18|\x1b|\
        \x1b[|\x1b[3|\x1b[?1000;1006h|\x1b[?25s|\x1b[?25r|é|\r\n|\x1b\x1b[?7l|\
        \x1b[2;5r|\x1b[r|\x1b[4h|\x1b[4;20l|3rd|[left|8h|\x1b]8;;x|\x1b]8;;|\x1b]9;4;1"
        .split('|')
        .collect();
    let mut random = 9_u64;
    let mut dice = |sides: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(random >> 33).unwrap() % sides
    };
    for _ in 0..3000 {
        let calm = dice(60);
        let mut output = String::new();
        for _ in 0..dice(120) {
            let among = if dice(60) < calm { 8 } else { pieces.len() };
            output.push_str(pieces[dice(among)]);
        }
        left_by(&output);
    }
}

#[test]
fn exactly_what_was_left_on_is_undone() {
    for (output, undo) in [
        ("\x1b[31mred", "\x1b[m"),
        ("\x1b[1mbold\x1b[39m", "\x1b[m"),
        ("\x1b[?25l", "\x1b[?25h"),
        ("\x1b[?1049h", "\x1b[?1049l"),
        ("\x1b[?1000h\x1b[?1006h", "\x1b[?1000l\x1b[?1006l"),
        ("\x1b[?2004h\x1b[?1004h", "\x1b[?1004l\x1b[?2004l"),
        ("\x1b[>1u\x1b[>5u", "\x1b[<2u"),
        ("\x1b[=1u", "\x1b[=0u"),
        ("\x1b[?2026hhalf a frame", "\x1b[?2026l"),
        ("\x1b[>1u\x1b[?1049h\x1b[>3u", "\x1b[<1u\x1b[?1049l\x1b[<1u"),
        ("\x1b[?1049h\x1b[?25l\x1b[31m", "\x1b[?1049l\x1b[?25h\x1b[m"),
        ("\x1b[>4;2m", "\x1b[>4m"),
        ("\x1b[0;23r", "\x1b7\x1b[r\x1b8"),
        ("\x1b[2;24r", "\x1b7\x1b[r\x1b8"),
        ("\x1b[?1049h\x1b[3;9r", "\x1b[?1049l\x1b7\x1b[r\x1b8"),
        ("\x1b[4h", "\x1b[4l"),
        ("\x1b[2;20h", "\x1b[2l\x1b[20l"),
        ("\x1b[?69h\x1b[?66h", "\x1b[?69l\x1b>"),
        ("\x1b]8;;http://x/\x1b\\link", "\x1b]8;;\x1b\\"),
        ("\x1b]8;id=a:b;x\x07link", "\x1b]8;;\x1b\\"),
        ("\x1b]9;4;3\x07", "\x1b]9;4;0\x1b\\"),
    ] {
        assert_eq!(left_by(output), undo, "{output:?}");
    }
}

#[test]
fn nothing_is_put_into_the_middle_of_a_sequence_or_a_character() {
    let text = "a\x1b[1mé─🙂\x1b]0;title\x07ü";
    let mut whole = vec![0];
    for (at, part) in [("a", 1), ("\x1b[1m", 4), ("é", 2), ("─", 3), ("🙂", 4), ("\x1b]0;title\x07", 10), ("ü", 2)]
    {
        assert_eq!(at.len(), part);
        whole.push(whole.last().unwrap() + part);
    }
    for step in 1..=4 {
        let mut modes = Modes::default();
        for (index, bytes) in text.as_bytes().chunks(step).enumerate() {
            modes.follow(bytes);
            let seen = index * step + bytes.len();
            assert_eq!(modes.is_between_sequences(), whole.contains(&seen), "after {seen} bytes, {step} at a time");
        }
    }
}

#[test]
fn a_sequence_that_was_cut_off_is_known_until_it_is_ended() {
    let mut modes = Modes::default();
    modes.follow(b"\x1b[?25l\x1b[38;5");
    assert!(modes.cut_off() && !modes.cut_off());
    assert_eq!(modes.undo(24), b"\x1b[?25h");
}
