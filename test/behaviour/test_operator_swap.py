# SPDX-License-Identifier: Apache-2.0
"""Swap that does not suffice: a quota that one operator or many exceed, and a disk that is full while one falls asleep."""
import re
import subprocess

import pytest

from conftest import wait_for
from guest_kit import make_namespaces
from test_guests import OPERATORS
from test_operator_v1 import V1, declaration, grant, watch

pytestmark = pytest.mark.long

SPACE = "swap"


def open_host(path, *extra):
    host = V1(path, "--idle", "100ms", *extra)
    make_namespaces(host, SPACE)
    grant(host, "script-guests", [""], ["configmaps"])
    return host


def start(host, names):
    for name in names:
        host.put(SPACE, name, "count")
        host.scripted(name, declaration(watch("p", SPACE, name=name)))
    for name in names:
        wait_for(lambda: host.output(name, "count") == ["1"], f"{name} has run once")


def work(host, names, turn):
    """Each is activated once more and remembers how often that was."""
    for name in names:
        host.put(SPACE, name, "count", turn=str(turn))
    for name in names:
        wait_for(lambda: host.output(name, "count") == [str(i + 1) for i in range(turn)], f"{name} counts to {turn}", 60)
        assert host.guest(name)["restarts"] == 0


def files(host):
    return [f for f in (host.data_dir / "swap").iterdir() if f.is_file()]


def bytes_on_disk(host):
    total = 0
    for f in files(host):
        try:
            total += f.stat().st_blocks * 512
        except FileNotFoundError:  # removed meanwhile
            pass
    return total


def states(host, names):
    guests = host.guests()
    return [guests[name]["state"] for name in names]


def kept_awake(host, name):
    """(reason, message) of its condition, None without one."""
    conditions = host.get(f"{OPERATORS}/{name}").json().get("status", {}).get("conditions", [])
    return next(((c["reason"], c["message"]) for c in conditions if c["type"] == "KeptAwake"), None)


def awake(host, names):
    return [name for name, state in zip(names, states(host, names)) if state == "Awake"]


def test_an_operator_that_dirties_more_than_the_quota_stays_awake_alone(tmp_path):
    host = open_host(tmp_path, "--swap-quota", "2Mi")
    host.add("greedy", "hostile-g2", MODE="grow", AT="start")
    wait_for(lambda: host.lines("greedy"), "it has taken all its memory")
    host.log_has("swap quota used up, guests stay awake")
    start(host, ["modest"])
    for turn in range(2, 5):
        wait_for(lambda: host.is_asleep("modest"), "the innocent one sleeps")
        assert states(host, ["greedy"]) == ["Awake"]
        assert bytes_on_disk(host) <= 2 << 20
        work(host, ["modest"], turn)
    assert host.guest("greedy")["restarts"] == 0
    for name in ("greedy", "modest"):
        host.remove(name)
    wait_for(lambda: not files(host), "no swap file is left")
    assert host.stop() == 0


def test_operators_that_exceed_the_quota_together_lose_nothing(tmp_path):
    host = open_host(tmp_path, "--swap-quota", "128Ki")
    names = [f"many-{i}" for i in range(12)]
    start(host, names)
    host.log_has("swap quota used up, guests stay awake")
    wait_for(lambda: {"Asleep", "Awake"} <= set(states(host, names)), "some sleep, others cannot")
    assert bytes_on_disk(host) <= 128 << 10
    wait_for(lambda: all(kept_awake(host, name) for name in awake(host, names)), "their status says why")
    reported = [kept_awake(host, name) for name in awake(host, names)]
    assert {reason for reason, _ in reported} == {"SwapQuotaUsedUp"} and all("of 128 KiB of swap" in words for _, words in reported), reported
    for turn in range(2, 5):
        work(host, names, turn)
        assert bytes_on_disk(host) <= 128 << 10
    rest = names[:2]
    for name in names[2:]:
        host.remove(name)
    wait_for(lambda: set(states(host, rest)) == {"Asleep"}, "those that are left have room, and sleep")
    wait_for(lambda: not any(kept_awake(host, name) for name in rest), "no status says otherwise")
    work(host, rest, 5)
    for name in rest:
        host.remove(name)
    wait_for(lambda: not files(host), "no swap file is left")
    assert host.stop() == 0


@pytest.fixture
def small_swap(tmp_path):
    """DIR/data/swap is a file system of its own; resize(SIZE)."""
    yield from mounted(tmp_path / "data" / "swap")


@pytest.fixture
def small_cache(tmp_path):
    """The same for the compiled modules."""
    yield from mounted(tmp_path / "data" / "modules")


def mounted(path):
    path.mkdir(parents=True)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k,mode=700", "tmpfs", path], capture_output=True).returncode != 0:
        pytest.skip("may not mount a small file system here")
    yield lambda size: subprocess.run(["mount", "-o", f"remount,size={size}", path], check=True)
    subprocess.run(["umount", "-l", path], check=True)


def test_a_disk_that_is_full_while_an_operator_falls_asleep_keeps_it_awake(tmp_path, small_swap):
    host = open_host(tmp_path)
    names = [f"full-{i}" for i in range(4)]
    start(host, names)
    host.log_has("cannot suspend a guest, it stays awake")
    line = next(x for x in host.text_of_log().splitlines() if "cannot suspend a guest" in x)
    assert re.search(r"guest=operators/full-\d", line) and "no space left" in line.lower(), line
    work(host, names, 2)
    assert "Awake" in states(host, names)
    wait_for(lambda: any(kept_awake(host, name) for name in names), "a status says why")
    reason, words = next(filter(None, (kept_awake(host, name) for name in names)))
    assert reason == "SwapFileFailed" and "no space left" in words.lower(), words
    small_swap("64m")
    wait_for(lambda: set(states(host, names)) == {"Asleep"}, "all sleep once there is room", 90)
    wait_for(lambda: not any(kept_awake(host, name) for name in names), "and no status says otherwise")
    work(host, names, 3)
    for name in names:
        host.remove(name)
    wait_for(lambda: not files(host), "no swap file is left")
    assert host.stop() == 0


def test_a_module_without_room_for_its_code_runs_once_there_is_some(tmp_path, small_cache):
    host = open_host(tmp_path)
    host.add("large", "mirror-g2")
    ready = wait_for(lambda: next((c for c in host.get(f"{OPERATORS}/large").json().get("status", {}).get("conditions", [])
                                   if c["type"] == "Ready" and c["reason"] == "DiskFull"), None), "its status says why")
    assert ready["status"] == "False" and "no space left" in ready["message"].lower()
    small_cache("32m")
    wait_for(lambda: host.guest("large") and host.guest("large")["activations"], "it is compiled and runs", 60)
    host.remove("large")
    assert host.stop() == 0
