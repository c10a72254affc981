# SPDX-License-Identifier: Apache-2.0
"""`dormouse replay`: recorded load against policies in virtual time."""
import json
import subprocess

import pytest

from conftest import BUILD, ROOT

TRACE = ROOT / "test/data/traces/azure2019-invitro-100"


def replay(*args, status=0):
    r = subprocess.run([BUILD / "dormouse", "replay", *map(str, args)], capture_output=True, text=True, timeout=60)
    assert r.returncode == status, r.stderr
    return r


def results(*args):
    return json.loads(replay(*args, "-o", "json").stdout)["results"]


def test_all_policies_see_the_same_calls():
    got = results(TRACE, "--virtual", "--policy", "all", "--to-minute", 30, "--warmup", 10)
    assert [r["policy"] for r in got] == ["kpa", "dirigent", "mu", "escargot", "hybrid"]
    for r in got:
        assert (r["calls"], r["functions"], r["unanswered"]) == (12753, 63, 0)
        assert 1 <= r["slowdown"]["p50"] <= r["slowdown"]["p99"]
        assert 0 < r["idleMemoryMiBSeconds"] < r["memoryMiBSeconds"]


def test_the_seed_decides():
    args = TRACE, "--to-minute", 10, "--place", "random", "--place", "hermod", "-o", "json"
    assert replay(*args).stdout == replay(*args).stdout
    assert replay(*args).stdout != replay(*args, "--seed", 1).stdout


def test_a_table_has_a_row_for_each_policy_and_place():
    lines = replay(TRACE, "--to-minute", 5, "-p", "kpa", "-p", "mu", "--place", "all", "--scale", "0.5").stdout.splitlines()
    assert lines[0].split()[:3] == ["POLICY", "PLACE", "CALLS"]
    assert len(lines) == 1 + 2 * 8


@pytest.mark.parametrize("args, text", [
    ([TRACE, "--policy", "best"], "--policy does not know 'best'"),
    ([TRACE, "--place", "best"], "--place does not know 'best'"),
    ([TRACE, "--scale", "-1"], "--scale is a number above 0"),
    ([TRACE, "--scale", "x"], "--scale is a number above 0"),
    ([TRACE, "--from-minute", "480"], "there is no minute between 480"),
    ([TRACE, "--arrivals", "never"], "--arrivals is exponential"),
    ([], "name the directory of a trace"),
])
def test_wrong_usage_says_what(args, text):
    assert text in replay(*args, status=2).stderr


def test_a_directory_without_a_trace_and_a_damaged_one(tmp_path):
    assert "has none of invocations.csv" in replay(tmp_path, status=1).stderr
    (tmp_path / "invocations.csv").write_text("HashOwner,HashApp,HashFunction,1\no,a,f,many\n")
    assert "invocations.csv:2: not a number of calls: 'many'" in replay(tmp_path, status=1).stderr
