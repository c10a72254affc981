# SPDX-License-Identifier: Apache-2.0
"""Pods of two machines reach each other with nothing but `dormouse up` and `dormouse join`: each machine is a network namespace."""
import contextlib
import os
import shutil
import subprocess

import pytest

from conftest import wait_for
from place_kit import inside
from pods_kit import Cluster, is_ready, needs_pods, store  # noqa: F401 - a fixture
from test_nodes_join import Node, create_token, ready

pytestmark = [needs_pods, pytest.mark.skipif(not shutil.which("ip"), reason="needs ip (package iproute2)")]


def ip(*words):
    subprocess.run(["ip", *words], check=True)


class Network:
    """Machines that have one uplink each: on one segment, or each on a segment of its own with a router in between."""

    def __init__(self, stack, is_routed=False, mtu=1500):
        self.name = f"dmtest{os.getpid()}"
        self.is_routed, self.mtu = is_routed, mtu
        self.machines = [self.add(stack, f"{self.name}-{i}") for i in range(2)]
        for n in (0, 1):
            self.join(stack, n)

    def add(self, stack, name):
        ip("netns", "add", name)
        stack.callback(ip, "netns", "delete", name)
        ip("-n", name, "link", "set", "lo", "up")
        return name

    def join(self, stack, n):
        name, mtu = self.machines[n], str(self.mtu)
        if not self.is_routed:
            if n == 0:
                ip("-n", name, "link", "add", "up0", "mtu", mtu, "type", "veth", "peer", "name", "up0", "netns", self.machines[1])
            ip("-n", name, "addr", "add", f"{self.address(n)}/24", "dev", "up0")
            ip("-n", name, "link", "set", "up0", "up")
            return
        if n == 0:
            self.router = self.add(stack, f"{self.name}-r")
            subprocess.run(["ip", "netns", "exec", self.router, "sysctl", "-qw", "net.ipv4.ip_forward=1"], check=True)
        ip("-n", name, "link", "add", "up0", "mtu", mtu, "type", "veth", "peer", "name", f"to{n}", "mtu", mtu, "netns", self.router)
        ip("-n", name, "addr", "add", f"{self.address(n)}/24", "dev", "up0")
        ip("-n", name, "link", "set", "up0", "up")
        ip("-n", self.router, "addr", "add", f"10.78.{n}.254/24", "dev", f"to{n}")
        ip("-n", self.router, "link", "set", f"to{n}", "up")
        ip("-n", name, "route", "add", "default", "via", f"10.78.{n}.254")

    def address(self, n):
        return f"10.78.{n}.1" if self.is_routed else f"10.78.0.{n + 1}"

    def inside(self, n):
        return inside(f"/run/netns/{self.machines[n]}")


class Machines:
    """A server that is a node, n0, and a machine that has joined, n1; a pod on each: p0 and p1."""

    def __init__(self, stack, directory, store, network, *args):  # noqa: F811
        self.network = network
        with network.inside(0):
            self.up = Cluster(directory / "data", store, "--node-name", "n0", "--node-ip", network.address(0), "--listen", f"{network.address(0)}:0",
                              *args, wait=False)
            stack.callback(self.stop_up)
            self.up.wait_ready()
            token = create_token(self.up)
        with network.inside(1):
            self.node = Node(self.up, directory / "n1", "--node-name", "n1", "--node-ip", network.address(1), "--pod-log-dir", str(self.up.log_dir),
                             "--token", token, wait=False)
        stack.callback(self.node.stop)
        stack.callback(self.clear)
        with network.inside(0):
            wait_for(lambda: all(ready(self.up, name).get("status") == "True" for name in ("n0", "n1")), "the nodes are ready")
            for n in (0, 1):
                self.up.run(f"p{n}", nodeName=f"n{n}")
            self.pods = [self.up.wait(f"p{n}", is_ready) for n in (0, 1)]

    def clear(self):
        with self.network.inside(0):
            for item in self.up.get("/api/v1/namespaces/default/pods").json()["items"]:
                self.up.delete(item["metadata"]["name"], gracePeriodSeconds=0)
            wait_for(lambda: not self.up.get("/api/v1/namespaces/default/pods").json()["items"], "no pod is left")

    def stop_up(self):
        with self.network.inside(0):
            assert self.up.stop() == 0

    def in_pod(self, n, *command):
        """What the command prints in the container of a pod."""
        done = subprocess.run(["nsenter", "-t", str(self.up.pid_of(self.pods[n])), "-n", "-m", *command], capture_output=True, text=True)
        return done.stdout if done.returncode == 0 else None

    def addresses(self, n):
        return [a["ip"] for a in self.pods[n]["status"]["podIPs"]]

    def reaches(self, n, size=56):
        """Each address of the other pod, by packets of this size; routes follow the Nodes."""
        for address in self.addresses(1 - n):
            wait_for(lambda: self.in_pod(n, "ping", "-c", "1", "-W", "1", "-s", str(size), address), f"p{n} reaches {address}")


@pytest.fixture
def stack():
    with contextlib.ExitStack() as stack:
        yield stack


def test_pods_of_two_machines_reach_each_other(stack, tmp_path, store):  # noqa: F811
    m = Machines(stack, tmp_path, store, Network(stack))
    m.reaches(0)
    m.reaches(1)
