# SPDX-License-Identifier: Apache-2.0
"""`dormouse scheduler` and `dormouse nodes simulate` with a real kube-apiserver, where tools/build-upstream has been run."""
import sys
import tempfile

import pytest

from conftest import ROOT, Server, wait_for
from nodes_kit import Nodes
from scheduler_kit import (PODS, Proxy, Scheduler, Witness, all_bound, check_no_node_is_too_full, config, create_pods,
                           find_kube_scheduler, read_pods)

sys.path.insert(0, str(ROOT / "test/differential"))
from servers import Unavailable, Upstream  # noqa: E402


class Real(Upstream):
    """A kube-apiserver with the test client of conftest.Server, and a kubeconfig."""

    connect, headers, ask, get, create, watch = (
        Server.connect, Server.headers, Server.ask, Server.get, Server.create, Server.watch)

    def __init__(self, directory):
        super().__init__(directory)
        self.url = f"https://127.0.0.1:{self.port}"
        self.kubeconfig = str(self.directory / "kubeconfig")
        (self.directory / "kubeconfig").write_text(f"""apiVersion: v1
kind: Config
clusters: [{{name: c, cluster: {{server: "{self.url}", certificate-authority: {self.ca}}}}}]
users: [{{name: u, user: {{token: {self.token}}}}}]
contexts: [{{name: x, context: {{cluster: c, user: u}}}}]
current-context: x
""")


@pytest.fixture(scope="module")
def real():
    with tempfile.TemporaryDirectory(prefix="dm-real-api-") as path:
        try:
            server = Real(path)
        except Unavailable as why:
            pytest.skip(f"NOT RUN against a real kube-apiserver: {why}")
        # what the controller manager makes, and pods cannot be without
        wait_for(lambda: server.get("/api/v1/namespaces/default").status == 200, "the namespace default")
        server.create("/api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": "default"}})
        yield server
        for process in server.processes:
            process.kill()  # in peace it takes twenty seconds
        server.stop()


@pytest.fixture
def cluster(real, tmp_path):
    nodes = Nodes(real, tmp_path / "nodes.log", "--nodes", "12", "--cpu", "4", "--zones", "3", "--untaint", "--remove",
                  "--lease-interval", "1s")
    wait_for(lambda: not any(n["spec"].get("taints") for n in real.get("/api/v1/nodes").json()["items"]),
             "admission's taint is off")
    yield real
    for name in read_pods(real):
        real.ask("DELETE", f"{PODS}/{name}?gracePeriodSeconds=0")
    status, counts = nodes.stop()
    assert status == 0 and counts["refused"] == 0
    assert not real.get("/api/v1/nodes").json()["items"]


def test_pods_are_placed_and_run(cluster, tmp_path):
    scheduler = Scheduler(cluster.kubeconfig, tmp_path)
    witness = Witness(cluster)
    names = [f"p{i}" for i in range(100)]
    create_pods(cluster, names)
    all_bound(cluster, names)
    wait_for(lambda: all(p["status"]["phase"] == "Running" for p in read_pods(cluster).values()), "all run")
    create_pods(cluster, ["large"], cpu="5")

    def reported():
        return [c["message"] for c in read_pods(cluster)["large"]["status"].get("conditions", [])
                if c["type"] == "PodScheduled"]
    [message] = wait_for(reported, "why it waits")
    assert message.startswith("0/12 nodes are available: 12 Insufficient cpu."), message
    witness.stop()
    check_no_node_is_too_full(cluster)
    assert scheduler.stop() == 0


def test_killed_between_assume_and_bind(cluster, tmp_path):
    proxy = Proxy(cluster.host, cluster.port)
    witness = Witness(cluster)
    first = Scheduler(proxy.kubeconfig(cluster, tmp_path / "kc"), tmp_path, "first")
    create_pods(cluster, ["before"])
    all_bound(cluster, ["before"])
    proxy.hold("up")
    names = [f"p{i}" for i in range(40)]
    create_pods(cluster, names)
    proxy.wait_held("up")
    first.kill()
    proxy.release("up")  # what it sent arrives when it is dead
    second = Scheduler(cluster.kubeconfig, tmp_path, "second")
    all_bound(cluster, names)
    witness.stop()
    proxy.close()
    check_no_node_is_too_full(cluster)
    assert second.stop() == 0


def test_beside_kube_scheduler(cluster, tmp_path):
    """Each places its own; with leader election and one name, only who leads places, whichever of the two it is."""
    program = find_kube_scheduler()
    if not program:
        pytest.skip("no kube-scheduler here: set KUBE_SCHEDULER, or build one with tools/build-upstream")
    args = ["--secure-port=0"]
    theirs = Scheduler(cluster.kubeconfig, tmp_path, "theirs", config("theirs"), [program], args)
    ours = Scheduler(cluster.kubeconfig, tmp_path, "ours", config("ours"))
    witness = Witness(cluster)
    mine = {name: [f"{name}-{i}" for i in range(30)] for name in ("ours", "theirs")}
    for name, pods in mine.items():
        create_pods(cluster, pods, scheduler=name)
    all_bound(cluster, mine["ours"] + mine["theirs"], timeout=60)
    theirs.stop()
    assert ours.stop() == 0

    text = config(leader_elect=True, lease_s=3)
    theirs = Scheduler(cluster.kubeconfig, tmp_path, "theirs2", text, [program], args)
    create_pods(cluster, ["by-them"])
    all_bound(cluster, ["by-them"], timeout=60)
    ours = Scheduler(cluster.kubeconfig, tmp_path, "ours2", text, wait=False)
    create_pods(cluster, [f"a{i}" for i in range(20)])
    all_bound(cluster, [f"a{i}" for i in range(20)], timeout=60)
    assert "scheduler leads" not in ours.text()
    theirs.kill()
    create_pods(cluster, [f"b{i}" for i in range(20)])
    all_bound(cluster, [f"b{i}" for i in range(20)], timeout=60)
    assert "scheduler leads" in ours.text()
    witness.stop()
    check_no_node_is_too_full(cluster)
    assert ours.stop() == 0
