# SPDX-License-Identifier: Apache-2.0
"""`dormouse top` on a terminal of ours, and without one."""
import fcntl
import json
import os
import pathlib
import pty
import select
import signal
import struct
import subprocess
import termios
import time

import pytest

from conftest import BUILD, DEADLINE_S
from operators import Ring, Up, create_all, dormouse

pytestmark = pytest.mark.skipif(not (BUILD / "guests/ring-g2.wasm").exists(), reason="no compiler for guests here")


class Terminal:
    def __init__(self, *args, rows=12, columns=140, term="xterm"):
        self.master, slave = pty.openpty()
        self.resize(rows, columns)
        self.process = subprocess.Popen([BUILD / "dormouse", *args], stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
                                        env=dict(os.environ, TERM=term, LC_ALL="C.UTF-8"))
        os.close(slave)
        self.text = ""

    def resize(self, rows, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def until(self, text):
        """Read until this was written; returns everything since the last call."""
        end = time.monotonic() + DEADLINE_S
        while text not in self.text:
            ready, _, _ = select.select([self.master], [], [], max(0, end - time.monotonic()))
            assert ready, f"'{text}' did not come: {self.text!r}"
            self.text += os.read(self.master, 65536).decode(errors="replace")
        seen, self.text = self.text, ""
        return seen

    def shows(self, text):
        """Have the screen drawn in full until this is on it: else only what has changed is written."""
        end = time.monotonic() + DEADLINE_S
        while text not in self.text:
            assert time.monotonic() < end, f"'{text}' did not come: {self.text!r}"
            self.text = ""
            self.press("\x0c")
            while text not in self.text and select.select([self.master], [], [], 0.3)[0]:
                self.text += os.read(self.master, 65536).decode(errors="replace")
        self.text = ""

    def press(self, keys):
        os.write(self.master, keys.encode())

    def end(self):
        status = self.process.wait(DEADLINE_S)
        os.close(self.master)
        return status


@pytest.fixture
def ring(data_dir):
    up = Up(data_dir)
    ring = Ring(up, 3)
    ring.apply("ring-g2.wasm")
    up.all_asleep(3)
    yield ring
    assert up.stop() == 0


def test_live_it_sorts_resizes_and_quits(ring):
    up = ring.server
    top = Terminal("top", "--data-dir", str(up.data_dir))
    seen = top.until("ring-2")
    assert "3 asleep" in seen and "by state" in seen and f"pid {up.process.pid}" in seen
    for key, word in (("m", "memory"), ("w", "wakes"), ("n", "name")):
        top.press(key)
        top.shows(f"by {word}")
    top.resize(6, 60)
    os.kill(top.process.pid, signal.SIGWINCH)
    top.shows("ring-1")
    ring.round()
    top.shows("3 wakes")  # with the next refresh
    top.press("q")
    assert top.end() == 0
    maps = pathlib.Path(f"/proc/{up.process.pid}/maps").read_text()
    assert "curses" not in maps  # the server never loads it


def test_eighty_columns_are_enough(ring):
    """Lines at the top are wrapped, columns left out; the others are to the right."""
    top = Terminal("top", "--data-dir", str(ring.server.data_dir), rows=24, columns=80)
    seen = top.until("ring-2")
    for word in ("3 asleep", "MiB", "wakes (", "1 of 3", "NAMESPACE", "WAKES"):
        assert word in seen, word
    assert "RESTARTS" not in seen
    for _ in range(4):
        top.press("\x1bOC")  # right
    top.shows("RESTARTS")
    for _ in range(8):
        top.press("\x1bOD")
    top.shows("RES(KiB)")
    top.press("q")
    assert top.end() == 0


def test_rows_are_found_shown_and_turned_round(ring):
    top = Terminal("top", "--data-dir", str(ring.server.data_dir), "--sort", "name", rows=24, columns=80)
    top.until("ring-2")
    top.press("\x1bOB")
    top.shows("2 of 3, by name")
    top.press("\r")
    top.shows("LAST ERROR")
    top.press("\r")
    top.press("R")
    top.shows("by name (reverse)")
    top.press("/ing-2\r")
    top.shows("1 of 1, by name (reverse), with 'ing-2'")
    top.press("?")
    top.shows("any key: the table")
    top.press("x")
    top.press("/\x1b")
    top.shows("of 3, by name (reverse);")
    top.press("q")
    assert top.end() == 0


def test_failures_have_a_colour_unless_there_is_to_be_none(data_dir, monkeypatch):
    up = Up(data_dir)
    create_all(up, [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "operators"}}])
    (up.modules / "bad.wasm").write_bytes(b"no module")
    up.operator("bad", "bad.wasm")
    up.becomes("bad", "False", "ModuleInvalid")
    red = "\x1b[31m"
    top = Terminal("top", "--data-dir", data_dir, term="xterm-256color")
    assert red in top.until("bad ")
    top.press("q")
    assert top.end() == 0
    monkeypatch.setenv("NO_COLOR", "1")
    top = Terminal("top", "--data-dir", data_dir, term="xterm-256color")
    assert red not in top.until("bad ")
    top.press("q")
    assert top.end() == 0
    assert red not in dormouse("top", "--data-dir", data_dir).stdout
    assert up.stop() == 0


def test_programs_get_json(ring):
    reported = json.loads(dormouse("top", "--data-dir", str(ring.server.data_dir), "-o", "json").stdout)
    assert reported["status"]["operators"] == 3 and sorted(g["name"] for g in reported["guests"]) == ["ring-0", "ring-1", "ring-2"]
    assert json.loads(dormouse("fn", "top", "--data-dir", str(ring.server.data_dir), "-o", "json").stdout) == []


def test_it_outlives_the_server(data_dir):
    up = Up(data_dir)
    top = Terminal("top", "--data-dir", data_dir)
    top.until("by state")
    assert up.stop() == 0
    top.shows("no answer from a dormouse")
    up = Up(data_dir)
    top.shows(f"pid {up.process.pid}")
    top.press("q")
    assert top.end() == 0
    assert up.stop() == 0


def test_it_ends_with_its_terminal(ring):
    """Nobody sends it a SIGHUP: the terminal is not its controlling one."""
    top = Terminal("top", "--data-dir", str(ring.server.data_dir))
    top.until("ring-0")
    os.close(top.master)
    assert top.process.wait(DEADLINE_S) == 0


def test_an_unknown_terminal_is_an_error(ring):
    top = Terminal("top", "--data-dir", str(ring.server.data_dir), term="nonesuch")
    assert "the terminal 'nonesuch' is not known" in top.until("prints the table once")
    assert top.end() == 1


def test_without_a_terminal_the_table_is_printed_once(ring):
    lines = dormouse("top", "--data-dir", str(ring.server.data_dir), "--sort", "name").stdout.splitlines()
    assert "3 operators: 0 awake, 3 asleep" in lines[0] and lines[1].split()[:2] == ["NAMESPACE", "NAME"]
    assert [line.split()[1] for line in lines[2:]] == ["ring-0", "ring-1", "ring-2"]


def test_mistakes(data_dir):
    done = dormouse("top", "--data-dir", data_dir)
    assert done.returncode == 3 and "is it running?" in done.stderr, done
    done = dormouse("top", "--sort", "colour")
    assert done.returncode == 2 and "colour" in done.stderr, done
