# SPDX-License-Identifier: Apache-2.0
"""dormouse fn logs: lines of one function, of one call, followed."""

import json
import subprocess

from conftest import BUILD


def write(data_dir, *lines):
    path = data_dir / "function-logs" / "default" / "hello.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a", encoding="utf-8") as f:
        for line in lines:
            f.write(json.dumps(line) + "\n")


def line(message, **more):
    return {"time": "2026-01-02T03:04:05.000006Z", "level": "info", "message": message, **more}


def logs(data_dir, *args):
    return subprocess.run([BUILD / "dormouse", "fn", "logs", "--data-dir", data_dir, *args], capture_output=True, text=True)


def test_lines_are_shown_with_their_call_and_can_be_chosen_by_it(tmp_path):
    write(tmp_path, line("one", revision=1, sandbox=7, call="c-1", stream="stderr"), line("two \x1b[31m", revision=2, sandbox=8, call="c-2", stream="stdout"))
    shown = logs(tmp_path, "hello").stdout.splitlines()
    assert shown[0].endswith(" info  one revision=1 sandbox=7 call=c-1 stream=stderr")
    assert "\x1b" not in shown[1]
    assert len(logs(tmp_path, "default/hello", "--call", "c-2").stdout.splitlines()) == 1
    assert "one" in logs(tmp_path, "hello", "--revision", "1").stdout
    assert json.loads(logs(tmp_path, "hello", "--tail", "1", "-o", "json").stdout)["call"] == "c-2"
    assert logs(tmp_path, "hello", "--since", "1h").stdout == ""


def test_new_lines_are_followed_also_before_there_is_a_file(tmp_path):
    with subprocess.Popen([BUILD / "dormouse", "fn", "logs", "-f", "--data-dir", tmp_path, "hello"], stdout=subprocess.PIPE, text=True) as follower:
        try:
            while not (tmp_path / "function-logs" / "default").exists():
                pass
            write(tmp_path, line("first"))
            assert "first" in follower.stdout.readline()
            write(tmp_path, line("second"))
            assert "second" in follower.stdout.readline()
        finally:
            follower.kill()


def test_wrong_words_are_explained(tmp_path):
    assert "has logged nothing" in logs(tmp_path, "hello").stderr
    assert "contradict" in logs(tmp_path, "-n", "a", "b/c").stderr
    assert logs(tmp_path).returncode == 2
    assert "text or json" in logs(tmp_path, "-o", "yaml", "a").stderr
