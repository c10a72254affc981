# SPDX-License-Identifier: Apache-2.0
"""dormouse operator logs: what operators say is kept, shown, and followed."""
import json
import subprocess

import pytest

from conftest import BUILD, wait_for
from test_guests import Host


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    host = Host(tmp_path_factory.mktemp("host"), "--idle", "100ms")
    yield host
    assert host.stop() == 0


def logs(host, *args):
    return subprocess.run([BUILD / "dormouse", "operator", "logs", "--data-dir", host.data_dir, *args],
                          capture_output=True, text=True)


def test_lines_of_an_operator_are_kept_and_followed(host):
    host.add("talker", "ring-g2", IN_NAMESPACE="a", OUT_NAMESPACE="b", DM_LOG="debug")
    wait_for(lambda: logs(host, "operators/talker").returncode == 0, "it says something")
    first = json.loads(logs(host, "-n", "operators", "talker", "-o", "json").stdout.splitlines()[0])
    assert first["level"] == "info" and first["message"] and first["time"].endswith("Z")
    with subprocess.Popen([BUILD / "dormouse", "operator", "logs", "-f", "--tail", "1", "--data-dir", host.data_dir, "operators/talker"],
                          stdout=subprocess.PIPE, text=True) as follower:
        try:
            assert follower.stdout.readline()
            host.add("later", "ring-g2")  # it misses its environment: it fails, and says why
            wait_for(lambda: "error" in logs(host, "operators/later").stdout, "its failure is in its log")
            with open(f"{host.data_dir}/logs/operators/talker.log", "a") as f:
                f.write(json.dumps({"time": first["time"], "level": "warn", "message": "come \x1b[31m in", "fields": {"n": 3}}) + "\n")
                f.write(json.dumps({"time": first["time"], "level": "info", "message": "warn it prints itself"}) + "\n")
            ours = (line for line in follower.stdout if line.startswith(first["time"]))  # it continues to print lines meanwhile
            assert next(ours) == f"{first['time']} warn  come ?[31m in n=3\n"
            assert next(ours) == f"{first['time']} warn  it prints itself\n"
        finally:
            follower.kill()
    assert logs(host, "operators/talker", "--since", "1ms").stdout == ""
    host.remove("talker")
    host.remove("later")
    wait_for(lambda: logs(host, "operators/talker").returncode == 1, "its log goes with it")


def test_wrong_words_are_explained(host):
    assert "has logged nothing" in logs(host, "operators/nobody").stderr
    assert "contradict" in logs(host, "-n", "a", "b/c").stderr
    assert logs(host).returncode == 2
    assert "text or json" in logs(host, "-o", "yaml", "a").stderr
