# SPDX-License-Identifier: Apache-2.0
"""The tests leave no process behind, whatever their outcome, and tools/run-tests counts as it says."""
import importlib.machinery
import importlib.util
import os
import re
import subprocess
import sys

import pytest

from conftest import ROOT, is_alive

STARTS = """
import pathlib, subprocess, sys
import pytest

def start(name):
    process = subprocess.Popen(["sleep", "900"])
    pathlib.Path(__file__).with_name(name).write_text(str(process.pid))
    return process
"""


def pytest_of(tmp_path, text, **env):
    (tmp_path / "test_it.py").write_text(STARTS + text)
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "conftest", "--rootdir", tmp_path,
                           tmp_path / "test_it.py"], capture_output=True, text=True, timeout=120,
                          env=dict(os.environ, PYTHONPATH=str(ROOT / "test/behaviour"), TEST_GRACE_S="0.2", **env))
    return done.stdout


def run_tests_of(tmp_path, text):
    out = pytest_of(tmp_path, text)
    started = {f.name: int(f.read_text()) for f in tmp_path.glob("*.pid")}
    assert started and not [name for name, pid in started.items() if is_alive(pid)]
    return out


@pytest.mark.parametrize("outcome, says", [("pytest.skip('no tool')", "1 skipped"), ("assert False", "1 failed")])
@pytest.mark.parametrize("where", ["test", "fixture", "module fixture"])
def test_what_was_started_ends_with_a_test_that_does_not(tmp_path, where, outcome, says):
    scope = 'scope="module"' if where == "module fixture" else ""
    out = run_tests_of(tmp_path, f"""
@pytest.fixture({scope})
def server():
    process = start("fixture.pid")
    {outcome if where != "test" else "pass"}
    yield process
    process.kill()
    process.wait()

def test_one(server):
    start("test.pid")
    {outcome}
""")
    assert says.replace("failed", "error") in out if where != "test" else says in out


def test_a_test_that_passes_and_leaves_a_process_fails(tmp_path):
    out = run_tests_of(tmp_path, """
def test_one():
    start("test.pid")
""")
    assert "left processes running: ['sleep 900']" in out and "1 error" in out


@pytest.mark.parametrize("where, says", [("test", "1 failed, 1 passed"), ("fixture", "1 passed, 1 error"), ("end", "2 passed, 1 error")])
def test_a_test_that_waits_for_ever_is_ended_and_the_next_one_runs(tmp_path, where, says):
    out = pytest_of(tmp_path, f"""
import threading

def hang(here):
    if here == {where!r}:
        threading.Event().wait()

@pytest.fixture
def slow():
    hang("fixture")
    yield
    hang("end")

def test_one(slow):
    hang("test")

def test_two():
    pass
""", TEST_LIMIT_S="1")
    assert "this takes longer than 1 s" in out and says in out, out


WRITES_AFTER_FREE = """
#include <stdlib.h>
int main(int argc, char **argv)
{
    char *volatile p = malloc(4);
    free(p);
    if (argc > 1)
        p[1] = 2;
    return 0;
}
"""


@pytest.mark.parametrize("build, argument, says", [("build-asan", ["bad"], "1 passed, 1 error"), ("build-asan", [], "1 passed"),
                                                   ("build", ["bad"], "1 passed")])
@pytest.mark.parametrize("scope", ["function", "module"])
def test_a_report_of_a_sanitizer_makes_the_test_fail_that_started_the_process(tmp_path, build, argument, says, scope):
    """Also where the test does not look at the process, whose fixture may end after it."""
    (tmp_path / "a.c").write_text(WRITES_AFTER_FREE)
    subprocess.run(["cc", "-g", "-fsanitize=address", "-o", tmp_path / "a", tmp_path / "a.c"], check=True)
    out = pytest_of(tmp_path, f"""
@pytest.fixture(scope={scope!r})
def server():
    yield
    subprocess.run([pathlib.Path(__file__).with_name("a"), *{argument}], stderr=subprocess.DEVNULL)

def test_one(server):
    pass
""", DORMOUSE_BUILD=str(tmp_path / build))
    assert out.splitlines()[-1].startswith(says + " in"), out
    assert ("heap-use-after-free" in out) == ("error" in says)


def test_a_server_of_a_module_outlives_its_tests(tmp_path):
    out = run_tests_of(tmp_path, """
@pytest.fixture(scope="module")
def server():
    process = start("module.pid")
    yield process
    process.kill()
    process.wait()

def test_one(server):
    assert server.poll() is None

def test_two(server):
    assert server.poll() is None
""")
    assert "2 passed" in out and "error" not in out


def load_runner():
    loader = importlib.machinery.SourceFileLoader("run_tests", str(ROOT / "tools/run-tests"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("run_tests", loader))
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


def test_a_process_whose_parent_has_ended_is_found_at_the_end():
    program = f"""
import importlib.machinery, importlib.util, subprocess
loader = importlib.machinery.SourceFileLoader("run_tests", {str(ROOT / "tools/run-tests")!r})
runner = importlib.util.module_from_spec(importlib.util.spec_from_loader("run_tests", loader))
loader.exec_module(runner)
runner.adopt_orphans()
sh = subprocess.Popen(["sh", "-c", "setsid sh -c 'echo begun; sleep 900; true' &"], stdout=subprocess.PIPE)
sh.stdout.readline()  # the orphan has its command by now
sh.wait()
print(runner.end_what_is_left(timeout_s=0))
print(runner.end_what_is_left(timeout_s=0))
"""
    done = subprocess.run([sys.executable, "-B", "-c", program], capture_output=True, text=True, timeout=60)
    first, second = done.stdout.splitlines()
    assert "sleep 900" in first and second == "[]", done.stderr
    assert not is_alive(int(first.strip("[]'\"").split()[0]))


def test_skips_are_counted_by_reason():
    runner = load_runner()
    skipped = [("a", "no tool"), ("b", "no tool"), *((f"n{i}", f"reason {i}") for i in range(runner.REASONS_SHOWN + 2))]
    lines = runner.count_by_reason(skipped)
    assert lines[0].split() == ["2", "no", "tool"] and len(lines) == runner.REASONS_SHOWN + 1
    assert lines[-1].split() == ["3", "for", "3", "other", "reasons"]


def test_a_program_that_ends_without_a_line_is_named(tmp_path):
    runner = load_runner()
    log = tmp_path / "testlog.json"
    log.write_text('{"name": "dormouse:unit / a", "result": "OK"}\n{"name": "dormouse:unit / b", "result": "ERROR", '
                   '"stderr": "b.c:7: not true: x\\n\\n(test program exited with status code -6)\\n"}\n')
    assert runner.failed_without_a_line(log, []) == ["dormouse:unit / b: ERROR: b.c:7: not true: x"]


def result_of(runner, passed, failed):
    result = runner.Result()
    result.passed, result.failed = passed, list(failed)
    return result


@pytest.mark.parametrize("again, failed, second", [((2, []), 0, 2), ((1, ["b"]), 2, 0), ((1, []), 2, 0), ((0, []), 2, 0)])
def test_what_failed_passes_at_the_second_try_only_as_a_whole(again, failed, second):
    runner = load_runner()
    result = runner.second_try(result_of(runner, 5, ["a", "b"]), ["a", "b"], lambda targets: result_of(runner, *again))
    assert (len(result.failed), len(result.second), result.passed) == (failed, second, 5 + second)


def test_what_is_skipped_at_the_second_try_has_not_passed():
    """Of test programs each line counts: those of one that passes may be more than there are programs."""
    runner = load_runner()
    first, again = result_of(runner, 5, ["a", "b"]), result_of(runner, 30, [])
    first.skipped, again.skipped = [("c", "no tool")], [("c", "no tool"), ("b: all", "no network")]
    assert len(runner.second_try(first, ["a", "b"], lambda targets: again).failed) == 2
    again.skipped.pop()
    assert len(runner.second_try(first, ["a", "b"], lambda targets: again).second) == 2


@pytest.mark.parametrize("failed, targets", [([], []), (["a"], None), (["a"] * 4, ["a", "b", "c", "d"])])
def test_what_is_no_test_and_what_is_too_much_is_not_tried_again(failed, targets):
    runner = load_runner()
    result = runner.second_try(result_of(runner, 5, failed), targets, lambda targets: pytest.fail("it ran again"))
    assert result.failed == failed and result.passed == 5 and not result.second


def test_failures_of_pytest_are_found_again_by_their_lines():
    runner = load_runner()
    lines = ["test.behaviour.test_test_runs: test_one[a b-1]: assert False", "test.behaviour.test_dev: test_two"]
    assert runner.pytest_ids(lines) == ["test/behaviour/test_test_runs.py::test_one[a b-1]", "test/behaviour/test_dev.py::test_two"]
    assert runner.pytest_ids([*lines, "pytest ended with status 2"]) is None


def test_ci_names_what_failed_in_its_last_lines(tmp_path):
    """In a copy of the tree whose stages are replaced."""
    output = {"layers": "exit 0", "results": "echo unclear; exit 1", "fuzzers": "echo 'FAILED fuzz_json'; exit 1"}
    many = "".join(f"echo '  test_{i}: wrong'; " for i in range(30))
    tests = f"""
        echo 'passed at the second try only:'; echo '  test_slow: late'; echo
        echo 'took 12:34 unit tests; longest: store 1:02'; echo 'failed:'; {many} echo '7 passed, 30 failed, 1 at the second try'; exit 1"""
    (tmp_path / ".ci").mkdir()
    (tmp_path / "tools").mkdir()
    (tmp_path / ".ci/run").write_text((ROOT / ".ci/run").read_text())
    (tmp_path / "dev").write_text(f'#!/bin/sh\necho "$*" >>{tmp_path}/calls\ncase "$*" in *--only-build) exit ;; esac\n[ "$1" = test ] || {{ {output["fuzzers"]}; }}\n{tests}\n')
    for tool in ("layers", "results"):
        (tmp_path / "tools" / f"check-{tool}").write_text(f"#!/bin/sh\n{output[tool]}\n")
    for script in tmp_path.glob("**/*"):
        script.chmod(0o755)
    done = subprocess.run([tmp_path / ".ci/run"], capture_output=True, text=True, timeout=60)
    lines = done.stdout.splitlines()
    assert done.returncode == 1 and lines[-1] == "21 passed, 93 failed"
    ending = lines[-60:]
    begin = ending.index("passed at the second try only:")
    assert ending[begin + 1:begin + 5] == ["  test_slow: late"] * 3 + [""]
    for line in ("what failed, by stage:", "results (status 1):", "  unclear", "tests (status 1):", "  test_0: wrong", "  and 20 more",
                 "changed files (status 1):", "tests with sanitizers (status 1):", "tests of threads (status 1):", "fuzzers (status 1):", "  FAILED fuzz_json"):
        assert line in ending[begin + 5:], line
    times = lines[lines.index("how long each part took:"):]
    assert times.count("       12:34  unit tests; longest: store 1:02") == 3
    assert any(re.fullmatch(r" +0:\d\d  tests of threads", line) for line in times) and any(line.endswith("  all") for line in times)
    calls = (tmp_path / "calls").read_text().splitlines()
    for build, run in (("test --sanitize --only-build", "test --sanitize --second-try"), ("fuzz --only-build", "fuzz 3")):
        assert calls.index("test --only-build") < calls.index(build) < calls.index(run)


def test_a_pair_of_benchmarks_is_compared_by_medians_of_the_same_figures():
    loader = importlib.machinery.SourceFileLoader("bench_pair", str(ROOT / "tools/bench-pair"))
    pair = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench_pair", loader))
    loader.exec_module(pair)

    def document(rate, p50):
        return {"results": [{"metric": "rate", "labels": {"n": 1}, "unit": "1/s", "value": rate}, {"metric": "wait", "p50": p50, "p99": 0, "n": 9},
                            {"metric": "note", "value": None}]}
    old = [pair.read_figures(document(rate, 2.5)) for rate in (1000, 3000)]
    new = [pair.read_figures(document(rate, 5)) for rate in (1000, 1000)]
    assert pair.compare(old, new) == [["rate n=1 (1/s)", "1,000 / 3,000", "1,000 / 1,000", "0.50"],
                                      ["wait p50", "2.5 / 2.5", "5 / 5", "2.00"], ["wait p99", "0 / 0", "0 / 0", "-"]]
    assert [row[0] for row in pair.compare(old, new, "n=1")] == ["rate n=1 (1/s)"]


@pytest.mark.parametrize("env, says", [({}, "1 passed, 1 deselected"), ({"FOREIGN_TESTS": "1"}, "1 failed, 1 deselected")])
def test_foreign_tests_run_alone_or_not_at_all(tmp_path, env, says):
    out = pytest_of(tmp_path, """
@pytest.mark.foreign
def test_one():
    assert False

def test_two():
    pass
""", **env)
    assert says in out, out


def test_processes_share_the_files_of_tests(tmp_path):
    """Each test runs once, those of a file in one process and in order, and what takes longest begins first."""
    for name, mark, n in (("a", "", 3), ("b", "pytestmark = pytest.mark.long", 1), ("c", "", 2), ("d", "", 1)):
        tests = "".join(f"def test_{i}(server):\n    write('{name}{i}')\n" for i in range(n))
        (tmp_path / f"test_{name}.py").write_text(f"""
import os, pathlib, pytest
{mark}

def write(what):
    with open(pathlib.Path(__file__).with_name("log"), "a") as log:
        print(what, os.getpid(), file=log)

@pytest.fixture(scope="module")
def server():
    write("begin {name}")
    yield
    write("end {name}")

{tests}""")
    (tmp_path / "queue").mkdir()
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "conftest", "--rootdir", tmp_path, tmp_path]
    env = dict(os.environ, PYTHONPATH=str(ROOT / "test/behaviour"), TEST_QUEUE=str(tmp_path / "queue"))
    running = [subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    output = [process.communicate(timeout=120)[0] for process in running]
    assert [process.returncode for process in running] == [0, 0, 0], output
    by_process = {}
    for line in (tmp_path / "log").read_text().splitlines():
        what, pid = line.rsplit(" ", 1)
        by_process.setdefault(pid, []).append(what)
    everything = sorted(word for words in by_process.values() for word in words)
    assert everything == sorted(["a0", "a1", "a2", "b0", "c0", "c1", "d0", *(f"{w} {n}" for n in "abcd" for w in ("begin", "end"))])
    for words in by_process.values():
        whole = [["begin b", "b0", "end b"], ["begin a", "a0", "a1", "a2", "end a"], ["begin c", "c0", "c1", "end c"], ["begin d", "d0", "end d"]]
        assert words == [word for file in whole if file[0] in words for word in file]
    assert sum(int(re.search(r"(\d+) passed", out)[1]) for out in output if "passed" in out) == 7
