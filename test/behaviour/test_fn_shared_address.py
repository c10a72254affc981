# SPDX-License-Identifier: Apache-2.0
"""Gateways behind one address: docs/examples/keepalived.conf, on three machines made of network namespaces."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

import pytest

from conftest import BUILD, DEADLINE_S, ROOT, can_mount, wait_for

NET = "10.213.77"
SHARED = f"{NET}.100"
TOKEN = "a-token-of-this-test-0123456789"


def run(*words, **more):
    return subprocess.run([str(w) for w in words], check=True, capture_output=True, text=True, timeout=DEADLINE_S, **more).stdout


class Machines:
    """`net` holds a bridge, clients and the rest of dormouse; `g0` and `g1` a gateway and keepalived each."""

    def __init__(self, base):
        self.base, self.processes = base, []
        self.names = {n: f"dm{os.getpid() % 100000}-{n}" for n in ("net", "g0", "g1")}
        for name in self.names.values():
            run("ip", "netns", "add", name)
            run("ip", "-n", name, "link", "set", "lo", "up")
        self.ip("net", "link add br0 type bridge")
        self.ip("net", f"addr add {NET}.1/24 dev br0")
        self.ip("net", "link set br0 up")
        for i, machine in enumerate(("g0", "g1")):
            self.ip("net", f"link add {machine} type veth peer name eth0 netns {self.names[machine]}")
            self.ip("net", f"link set {machine} master br0 up")
            self.ip(machine, f"addr add {NET}.{i + 2}/24 dev eth0")
            self.ip(machine, "link set eth0 up")
        self.token = base / "token"
        self.token.write_text(TOKEN)
        self.token.chmod(0o600)

    def ip(self, machine, words):
        run("ip", "-n", self.names[machine], *words.split())

    def start(self, machine, name, *words):
        log = open(self.base / f"{machine}-{name}.log", "ab")
        process = subprocess.Popen(["ip", "netns", "exec", self.names[machine], *map(str, words)], stdout=subprocess.PIPE,
                                   stderr=log, text=True, start_new_session=True)
        log.close()
        self.processes.append(process)
        return process

    def dormouse(self, machine, *words):
        process = self.start(machine, words[0], BUILD / "dormouse", *words, "--token-file", self.token)
        line = process.stdout.readline()
        assert line.startswith("ready "), (self.base / f"{machine}-{words[0]}.log").read_text()[-2000:]
        return process

    def curl(self, *words):
        done = subprocess.run(["ip", "netns", "exec", self.names["net"], "curl", "-sS", "-o", os.devnull, "-w", "%{http_code}", *words],
                              capture_output=True, text=True, timeout=DEADLINE_S)
        return done.stdout if done.returncode == 0 else ""

    def has_address(self, machine):
        return f" {SHARED}/" in run("ip", "-n", self.names[machine], "addr", "show", "dev", "eth0")

    def close(self):
        for process in self.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        for process in self.processes:
            try:
                process.wait(DEADLINE_S)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
            process.stdout.close()
        for name in self.names.values():
            run("ip", "netns", "del", name)


@pytest.fixture
def machines(tmp_path):
    if not can_mount() or not shutil.which("keepalived") or not shutil.which("ip"):
        pytest.skip("needs root, keepalived and ip")
    made = Machines(tmp_path)
    yield made
    made.close()


def keepalived(machines, machine, priority):
    text = (ROOT / "docs/examples/keepalived.conf").read_text()
    text = text.replace("priority 100 ", f"priority {priority} ").replace("10.0.0.100/24", f"{SHARED}/24")
    conf = machines.base / f"{machine}.conf"
    conf.write_text(text)
    machines.start(machine, "keepalived", "keepalived", "--dont-fork", "--log-console", "--use-file", conf, "--pid",
                   machines.base / f"{machine}.pid", "--vrrp_pid", machines.base / f"{machine}.vrrp", "--vrrp")


def test_an_address_moves_to_a_gateway_that_lives(machines):
    base = machines.base
    machines.dormouse("net", "up", "--no-agent", "--data-dir", base / "up", "--listen", "127.0.0.1:0", "--fn-listen", f"{NET}.1:7070",
                      "--fn-worker-listen", f"{NET}.1:0")
    gateways = {m: machines.dormouse(m, "fn", "gateway", "--data-dir", base / m, "--name", m, "--listen", "0.0.0.0:80", "--advertise",
                                     f"{NET}.{i + 2}:80", "-c", f"{NET}.1:7070", "--health-listen", "127.0.0.1:9901")
                for i, m in enumerate(("g0", "g1"))}
    body = {"metadata": {"name": "f"}, "spec": {"fake": {"createMilliseconds": 1}}}
    assert machines.curl("-H", f"Authorization: Bearer {TOKEN}", "-H", "Content-Type: application/json", "-d", json.dumps(body),
                         f"http://{NET}.1:7070/v1/namespaces/default/functions") in ("200", "201")
    for i, machine in enumerate(gateways):
        keepalived(machines, machine, 100 + i)
    wait_for(lambda: machines.has_address("g0") or machines.has_address("g1"), "a machine has the address")
    ask = lambda: machines.curl("--max-time", "1", "-H", "Host: f.default", f"http://{SHARED}/")  # noqa: E731
    wait_for(lambda: ask() == "200", "the function answers at the shared address")
    holder = next(m for m in gateways if machines.has_address(m))
    children = pathlib.Path(f"/proc/{gateways[holder].pid}/task/{gateways[holder].pid}/children").read_text().split()
    for pid in [gateways[holder].pid, *map(int, children)]:
        os.kill(pid, signal.SIGKILL)
    killed = time.monotonic()
    wait_for(lambda: ask() == "200", "another machine answers at the shared address")
    took = time.monotonic() - killed
    print(f"take-over took {took:.2f} s")
    assert not machines.has_address(holder)
