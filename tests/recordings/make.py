#!/usr/bin/env python3
"""make.py: writes the recordings beside it (asciicast). Each is a program in a few lines; nothing is random."""
import json, os

HERE = os.path.dirname(os.path.abspath(__file__))
DOTS = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


def write(name, events, version=2, command="demo"):
    term = {"term": {"cols": 80, "rows": 24}} if version == 3 else {"width": 80, "height": 24}
    with open(os.path.join(HERE, name + ".cast"), "w") as f:
        f.write(json.dumps({"version": version, **term, "timestamp": 1700000000, "command": command}) + "\n")
        last = 0.0
        for at, code, data in events:
            time, last = (round(at - last, 3), at) if version == 3 else (round(at, 3), at)
            f.write(json.dumps([time, code, data], ensure_ascii=False) + "\n")


def spinner(until, text, start=0.0, step=0.25):
    """A line drawn over itself; `text` gives the words at a time."""
    n = int((until - start) / step)
    return [(start + i * step, "o", f"\r\x1b[2K{DOTS[i % 10]} {text(start + i * step)}") for i in range(n)]


def box(status, body=(), prompt=">", footer="? for help"):
    """An agent's screen, painted whole in a synchronized update."""
    rows = ["agent 1.0", *body, "", status, "─" * 40, prompt, "─" * 40, footer]
    return "\x1b[?2026h\x1b[H\x1b[2J" + "\r\n".join(rows) + "\x1b[?2026l"


def agent_hang():
    verbs = ["Pondering", "Stewing", "Brewing", "Musing"]
    out = [(0.0, "o", "\x1b[?1049h"), (0.1, "o", box("", ["> explain"]))]
    for i in range(1, 500):
        t = i * 0.2
        tip = ["  └ Tip: press ? for help"] if 40 <= t < 60 else []
        status = "\r\n".join([f"{'✢✳✶✻'[i % 4]} {verbs[int(t / 25) % 4]}… ({int(t)}s · esc to stop)", *tip])
        out.append((t, "o", box(status, ["> explain"])))
    return out + [(100.0, "m", "end")]


def agent_asks():
    out = [(0.0, "o", "\x1b[?1049h")]
    out += [(i * 0.2, "o", box(f"{'✢✳✶✻'[i % 4]} Thinking… ({i // 5}s)")) for i in range(20)]
    menu = ["Run a command?", " ❯ 1. Yes", "   2. No, and say why", "", " Enter to select"]
    blink = [(4.5 + i * 0.6, "o", "\x1b[1;1H" + "● "[i % 2]) for i in range(50)]
    return out + [(4.2, "o", "\x1b[H\x1b[2J" + "\r\n".join(["  Bash(make)", "", *menu]))] + blink


write("spinner-stall", spinner(60, lambda t: f"Building ({int(t)}s)"))
write("spinner-works", spinner(60, lambda t: f"Building {int(t * 2)} of 200"), version=3)
write("agent-hang", agent_hang())
write("agent-asks", agent_asks())
write("log-loop", [(i * 0.5, "o", f"12:00:{i % 60:02} connection refused, retrying (pid {1000 + i})\r\n12:00:{i % 60:02} sleeping\r\n") for i in range(120)])
write("log-works", [(i * 0.1, "o", f"   Compiling crate-{i} v0.{i % 9}.0\r\n") for i in range(600)])
write("question", [(0.1, "o", "14 files will be deleted.\r\nContinue? [y/N] "), (20.0, "i", "y\r"), (20.1, "o", "y\r\n")]
      + [(20.5 + i, "o", f"deleted file {i}\r\n") for i in range(14)] + [(40.0, "x", "0")], version=3)
