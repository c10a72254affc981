# SPDX-License-Identifier: Apache-2.0
"""Preemption on `dormouse up` with simulated nodes: who goes, who comes, and what kubectl shows of it."""
import pytest

from conftest import wait_for
from nodes_kit import Nodes
from test_scheduler import EVENTS, PODS, Up

CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"
BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"


@pytest.fixture
def cluster(data_dir, tmp_path):
    """Starts a server with priority classes and nodes of 1 CPU each."""
    started = []

    def start(n_nodes, *args):
        up = Up(data_dir)
        started.append(up)
        for name, value, policy in ("low", 10, None), ("middle", 100, None), ("high", 1000, None), ("highest", 5000, None), ("polite", 1000, "Never"):
            up.create(CLASSES, {"metadata": {"name": name}, "value": value} | ({"preemptionPolicy": policy} if policy else {}))
        started.append(Nodes(up, tmp_path / "nodes.log", "--nodes", str(n_nodes), "--cpu", "1", *args))
        return up

    yield start
    for what in reversed(started):
        what.stop()


def put(up, name, priority, cpu="900m", labels=None):
    up.create(PODS, {"metadata": {"name": name, "labels": labels or {}}, "spec": {"priorityClassName": priority, "containers": [
        {"name": "c", "image": "i:1", "resources": {"requests": {"cpu": cpu}}}]}})


def fill(up, n, priority="low", **more):
    """One pod for each node; name -> node."""
    names = [f"{priority}-{i}" for i in range(n)]
    for name in names:
        put(up, name, priority, **more)
    nodes = {name: up.wait_bound(name) for name in names}
    assert len(set(nodes.values())) == n
    return nodes


def status(up, name):
    return up.get(f"{PODS}/{name}").json()["status"]


def is_gone(up, name):
    return up.get(f"{PODS}/{name}").status == 404


def preempted(up):
    """Names of pods that Events say were preempted."""
    return sorted(e["regarding"]["name"] for e in up.get(EVENTS).json()["items"] if e["reason"] == "Preempted")


def test_a_pod_of_higher_priority_takes_the_place(cluster):
    up = cluster(1)
    fill(up, 1)
    watch = up.watch(f"{PODS}?watch=1&fieldSelector=metadata.name=low-0")
    put(up, "p", "high")
    assert up.wait_bound("p") == "sim-0"
    seen = []
    while not seen or seen[-1]["type"] != "DELETED":
        seen.append(watch.next())
    watch.close()
    # It is told why it goes before it does.
    condition = next(c for e in seen for c in e["object"]["status"].get("conditions", []) if c["type"] == "DisruptionTarget")
    assert {k: condition[k] for k in ("status", "reason", "message")} == {
        "status": "True", "reason": "PreemptionByScheduler", "message": "default-scheduler: preempting to accommodate a higher priority pod"}
    reported = [e for e in seen if any(c["type"] == "DisruptionTarget" for c in e["object"]["status"].get("conditions", []))]
    assert "deletionTimestamp" not in reported[0]["object"]["metadata"]
    event = wait_for(lambda: next((e for e in up.get(EVENTS).json()["items"] if e["reason"] == "Preempted"), None), "the Event")
    uid = up.get(f"{PODS}/p").json()["metadata"]["uid"]
    assert (event["regarding"]["name"], event["action"], event["type"]) == ("low-0", "Preempting", "Normal")
    assert event["note"] == f"Preempted by pod {uid} on node sim-0"
    assert event["related"]["name"] == "p"
    assert "Preempted" in up.kubectl("get", "events").stdout


def test_a_polite_pod_waits(cluster):
    up = cluster(1)
    fill(up, 1)
    put(up, "p", "polite")
    assert up.wait_refused("p") == "0/1 nodes are available: 1 Insufficient cpu. preemption: not eligible due to preemptionPolicy=Never."
    assert preempted(up) == [] and "nominatedNodeName" not in status(up, "p")


def test_equals_do_not_go(cluster):
    up = cluster(2)
    fill(up, 2, "high")
    put(up, "p", "high")
    assert up.wait_refused("p") == ("0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 nodes are available: "
                                    "2 No preemption victims found for incoming pod.")


def test_budgets_are_kept_where_that_is_possible(cluster):
    up = cluster(3)
    nodes = fill(up, 3, labels={"app": "guarded"})
    up.kubectl("label", "pod", "low-1", "app=free", "--overwrite")
    up.create(BUDGETS, {"metadata": {"name": "b"}, "spec": {"minAvailable": 2, "selector": {"matchLabels": {"app": "guarded"}}}})
    put(up, "p", "high")
    assert up.wait_bound("p") == nodes["low-1"]
    # Who writes its status allows one; then the next one is guarded no more, and at last there is no other way.
    budget = up.get(f"{BUDGETS}/b").json()
    budget["status"] = {"disruptionsAllowed": 1, "currentHealthy": 3, "desiredHealthy": 2, "expectedPods": 3, "observedGeneration": 1}
    assert up.ask("PUT", f"{BUDGETS}/b/status", budget).status == 200
    put(up, "q", "high")
    put(up, "r", "high")
    assert {up.wait_bound("q"), up.wait_bound("r")} == {nodes["low-0"], nodes["low-2"]}
    wait_for(lambda: preempted(up) == ["low-0", "low-1", "low-2"], "all were told")


def test_two_preemptors_do_not_take_the_same_place(cluster):
    up = cluster(3, "--stop-after", "300ms")
    fill(up, 3)
    put(up, "p", "high")
    put(up, "q", "high")
    assert up.wait_bound("p") != up.wait_bound("q")
    wait_for(lambda: len(preempted(up)) == 2, "two have gone")
    assert sum(not is_gone(up, f"low-{i}") for i in range(3)) == 1


def test_a_place_is_kept_while_its_victim_ends(cluster):
    up = cluster(1, "--stop-after", "1500ms")
    fill(up, 1)
    put(up, "p", "high")
    wait_for(lambda: status(up, "p").get("nominatedNodeName") == "sim-0", "it is nominated")
    # Others of lower priority do not slip in, and what happens meanwhile does not make it evict again.
    put(up, "small", "middle", "200m")
    assert up.wait_refused("small").startswith("0/1 nodes are available: 1 Insufficient cpu.")
    up.kubectl("label", "node", "sim-0", "a=b")
    assert up.wait_bound("p") == "sim-0"
    assert is_gone(up, "low-0") and not up.node_of("small")
    assert preempted(up) == ["low-0"]
    wait_for(lambda: not status(up, "p").get("nominatedNodeName"), "it is nominated no more")


def test_a_still_higher_one_takes_the_kept_place(cluster):
    up = cluster(1, "--stop-after", "1500ms")
    fill(up, 1)
    put(up, "p", "high")
    wait_for(lambda: status(up, "p").get("nominatedNodeName") == "sim-0", "it is nominated")
    put(up, "top", "highest")
    assert up.wait_bound("top") == "sim-0"
    wait_for(lambda: not status(up, "p").get("nominatedNodeName"), "the first one hopes no more")
    assert not up.node_of("p") and preempted(up) == ["low-0"]


def test_many(cluster):
    """scheduler_perf's PreemptionBasic, small: four pods on each node, three of which go for one."""
    up = cluster(25)
    items = [("init-%d" % i, "low", "240m") for i in range(100)] + [("p-%d" % i, "high", "750m") for i in range(25)]
    for name, priority, cpu in items[:100]:
        put(up, name, priority, cpu)
    for name, _, _ in items[:100]:
        up.wait_bound(name)
    for name, priority, cpu in items[100:]:
        put(up, name, priority, cpu)
    nodes = [up.wait_bound(name) for name, _, _ in items[100:]]
    assert len(set(nodes)) == 25
    assert sum(not is_gone(up, name) for name, _, _ in items[:100]) == 25
