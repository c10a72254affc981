# SPDX-License-Identifier: Apache-2.0
"""Pods of two machines reach each other with nothing but `dormouse up` and `dormouse join`: each machine is a network namespace."""
import contextlib
import os
import shutil
import socket
import subprocess

import pytest

from conftest import DEADLINE_S, wait_for
from place_kit import inside
from pods_kit import Cluster, is_ready, needs_pods, store  # noqa: F401 - a fixture
from test_nodes_join import NODES, Node, Up, create_token, ready

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
            self.node = Node(self.up, directory / "n1", "--node-name", "n1", "--image-store", str(store), "--node-ip", network.address(1), "--pod-log-dir", str(self.up.log_dir),
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
                self.up.delete(item["metadata"]["name"], gracePeriodSeconds=1)  # its node ends it first
            wait_for(lambda: not self.up.get("/api/v1/namespaces/default/pods").json()["items"], "no pod is left")

    def stop_up(self):
        with self.network.inside(0):
            assert self.up.stop() == 0

    def in_pod(self, n, *command):
        """What the command prints in the container of a pod."""
        done = subprocess.run(["nsenter", "-t", str(self.up.pid_of(self.pods[n])), "-n", "-m", *command], capture_output=True, text=True)
        return done.stdout if done.returncode == 0 else None

    def finds(self, n, name, address="", server=None):
        return address in (self.in_pod(n, "busybox", "nslookup", "-type=a", name, *([server] if server else [])) or "").partition("\n\n")[2]

    def make_headless(self, name, address):
        meta = {"name": name, "labels": {"kubernetes.io/service-name": name}}
        with self.network.inside(0):
            self.up.create("/api/v1/namespaces/default/services", {"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": {"clusterIP": "None"}})
            self.up.create("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
                           {"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "metadata": meta, "addressType": "IPv4", "endpoints": [{"addresses": [address]}]})

    def network_of(self, n):
        return f"/proc/{self.up.pid_of(self.pods[n])}/ns/net"

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


def patch(server, path, body):
    assert server.ask("PATCH", path, body, Content_Type="application/merge-patch+json").status == 200


def source_of(listen_in, address, connect_in):
    """Whose address a connection between two network namespaces has at its end."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with inside(listen_in):
        listener = socket.create_server((address, 0), family=family)
    listener.settimeout(DEADLINE_S)
    with listener, inside(connect_in), socket.create_connection(listener.getsockname()[:2], timeout=DEADLINE_S):
        connection, peer = listener.accept()
        connection.close()
    return peer[0]


def test_pods_of_two_machines_reach_each_other(stack, tmp_path, store):  # noqa: F811
    """Also with their own addresses, which only those outside of the cluster do not see."""
    m = Machines(stack, tmp_path, store, Network(stack), "--pod-cidr", "10.99.0.0/16")
    m.reaches(0)
    m.reaches(1)
    (address0,), (address1,) = m.addresses(0), m.addresses(1)
    assert address0.startswith("10.99.") and address1.startswith("10.99.")
    assert source_of(m.network_of(1), address1, m.network_of(0)) == address0
    assert source_of(m.network_of(0), address0, m.network_of(1)) == address1
    assert source_of(f"/run/netns/{m.network.machines[1]}", m.network.address(1), m.network_of(0)) == m.network.address(0)
    assert [m.in_pod(n, "cat", "/sys/class/net/eth0/mtu") for n in (0, 1)] == ["1450\n", "1450\n"]
    wait_for(lambda: all(m.finds(n, "kubernetes.default.svc.cluster.local") for n in (0, 1)), "the name of a Service")
    m.make_headless("db", "10.99.7.7")
    wait_for(lambda: all(m.finds(n, "db.default.svc.cluster.local", "10.99.7.7") for n in (0, 1)), "an endpoint, also where a node has joined")


def test_pods_of_both_families_behind_a_router(stack, tmp_path, store):  # noqa: F811
    """The machines have IPv4 only, and a router between them knows nothing of pods."""
    m = Machines(stack, tmp_path, store, Network(stack, is_routed=True, mtu=1400), "--pod-cidr", "10.99.0.0/16,fd00:99::/56")
    for n in (0, 1):
        v4, v6 = m.addresses(n)
        assert v4.startswith("10.99.") and v6.startswith("fd00:99:")
        assert m.in_pod(n, "cat", "/sys/class/net/eth0/mtu") == "1350\n"
    m.reaches(0)
    m.reaches(1)
    m.reaches(0, size=3000)
    servers = [line.split()[1] for line in m.in_pod(1, "cat", "/etc/resolv.conf").splitlines() if line.startswith("nameserver")]
    assert len(servers) == 2 and servers[1].startswith("fd00:99:")
    for server in servers:
        wait_for(lambda: m.finds(1, "kubernetes.default.svc.cluster.local", server=server), f"a name, from {server}")
    for address0, address1 in zip(m.addresses(0), m.addresses(1)):
        assert source_of(m.network_of(1), address1, m.network_of(0)) == address0
    with m.network.inside(0):
        notes = [m.up.get(f"{NODES}/{name}").json()["metadata"]["annotations"]["dormouse.dev/pod-networks"] for name in ("n0", "n1")]
        assert notes == ["10.99.0.0/16,fd00:99::/56"] * 2


def test_nodes_learn_another_range(tmp_path):
    """Those that have a piece keep it, and learn the ranges of which the others get theirs."""
    notes = "dormouse.dev/pod-networks"

    def node(server, name):
        item = server.get(f"{NODES}/{name}").json()
        return item["spec"].get("podCIDR"), item["metadata"].get("annotations", {}).get(notes)
    up = Up(tmp_path / "data", "--pod-cidr", "10.98.0.0/16")
    up.create(NODES, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "old"}})
    wait_for(lambda: node(up, "old") == ("10.98.0.0/24", "10.98.0.0/16"), "a piece")
    patch(up, f"{NODES}/old", {"metadata": {"annotations": {notes: "junk"}}})
    wait_for(lambda: node(up, "old") == ("10.98.0.0/24", "10.98.0.0/16"), "the ranges are restored")
    assert up.stop() == 0
    up = Up(tmp_path / "data", "--pod-cidr", "10.97.0.0/24")
    up.create(NODES, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "new"}})
    wait_for(lambda: node(up, "new") == ("10.97.0.0/24", "10.97.0.0/24"), "a piece of the new range")
    wait_for(lambda: node(up, "old") == ("10.98.0.0/24", "10.97.0.0/24"), "the new range beside the old piece")
    up.create(NODES, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "late"}})
    wait_for(lambda: "used up" in up.text_of_log(), "there is no further piece")
    patch(up, f"{NODES}/old", {"metadata": {"annotations": {notes: "junk"}}})
    wait_for(lambda: node(up, "old")[1] == "10.97.0.0/24", "also then the ranges are restored")
    assert node(up, "late")[0] is None
    assert up.stop() == 0
