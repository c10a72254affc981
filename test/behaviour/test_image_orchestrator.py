# SPDX-License-Identifier: Apache-2.0
"""`dormouse scheduler --send-plans`: the nodes of pods fetch their images as it was planned."""
import signal
import subprocess
import threading
import urllib.request

import pytest

from conftest import BUILD, DEADLINE_S, wait_for
from image_state_kit import Cluster
from operators import Up
from scheduler_kit import Scheduler
from serve_kit import KEY

PODS = "/api/v1/namespaces/default/pods"


@pytest.fixture
def cluster(dormouse_api, tmp_path):
    c = Cluster(dormouse_api, tmp_path)
    yield c
    c.close()


def add_node(cluster, name, arch=None):
    labels = {"kubernetes.io/hostname": name, **({"kubernetes.io/arch": arch} if arch else {})}
    cluster.api.create("/api/v1/nodes", {"metadata": {"name": name, "labels": labels}, "status": {
        "allocatable": {"cpu": "8", "memory": "16Gi", "ephemeral-storage": "100Gi", "pods": "110"}}})


def add_pod(cluster, name, node, image=None, **spec):
    cluster.api.create(PODS, {"metadata": {"name": name}, "spec": {
        "containers": [{"name": "c", "image": image or cluster.name}], "nodeSelector": {"kubernetes.io/hostname": node}, **spec}})


@pytest.fixture
def scheduler(cluster, tmp_path):
    s = Scheduler(cluster.api.kubeconfig, tmp_path, args=(
        "--send-plans", "--cluster-key-file", cluster.directory / "key", "--image-registry", cluster.registry.host))
    s.plans = lambda outcome: plans(s, outcome)
    yield s
    assert s.stop() == 0


def figure(scheduler, name):
    text = urllib.request.urlopen(f"http://127.0.0.1:{scheduler.ready['health-port']}/metrics", timeout=DEADLINE_S).read().decode()
    return int(next(line for line in text.splitlines() if line.startswith(name + " ")).rsplit(" ", 1)[1])


def plans(scheduler, outcome):
    """How many plans ended so."""
    return figure(scheduler, f'dormouse_image_plans_total{{outcome="{outcome}"}}')


def test_the_node_of_a_pod_has_its_image_from_a_neighbour(cluster, request):
    for name in ("n1", "n2"):
        cluster.start(name)
    cluster.pull("n1")
    wait_for(lambda: cluster.has("n1") == 2 and cluster.state("n2"), "both nodes to report")
    for d in cluster.doc["layers"]:  # what the registry lost, nodes give each other
        del cluster.registry.blobs[d["digest"]]
    add_node(cluster, "n2")
    scheduler = request.getfixturevalue("scheduler")
    add_pod(cluster, "a", "n2")
    wait_for(lambda: cluster.has("n2") == 2, "n2 to have the image")
    wait_for(lambda: scheduler.plans("done") == 1, "the plan to end")
    size = sum(d["size"] for d in cluster.doc["layers"])
    assert f"node=n2 image={cluster.name} peer_bytes={size} registry_bytes=0" in scheduler.text()

    add_pod(cluster, "b", "n2")  # at once: it is known to be there
    wait_for(lambda: scheduler.plans("joined") + scheduler.plans("present") == 1, "the second pod to need nothing")
    assert scheduler.plans("done") == 1 and scheduler.plans("failed") == 0


def test_nodes_that_want_an_image_at_once_fetch_it_from_the_registry_once(cluster, request):
    """The registry holds the first node's layer back until the second node has been told: it gets the layer from the first."""
    names = ("n1", "n2", "n3")
    for name in names:
        cluster.start(name)
        add_node(cluster, name)
    wait_for(lambda: all(cluster.state(n) for n in names), "all nodes to report")
    big = cluster.doc["layers"][0]["digest"]
    told = threading.Event()
    cluster.registry.faults.append(("GET", f"/blobs/{big}", lambda h: told.wait(DEADLINE_S) and None))
    scheduler = request.getfixturevalue("scheduler")
    for name in names:
        add_pod(cluster, f"p-{name}", name)
    wait_for(lambda: figure(scheduler, "dormouse_image_plans_running") == 3, "all nodes to be told")
    told.set()
    wait_for(lambda: all(cluster.has(n) == 2 for n in names), "all nodes to have the image")
    wait_for(lambda: scheduler.plans("done") == 3, "the plans to end")
    assert sum(big in path for path in cluster.registry.paths("GET")) == 1


def test_a_node_that_is_away_costs_an_event_and_nothing_else(cluster, request):
    cluster.start("n1")
    add_node(cluster, "n1")
    wait_for(lambda: cluster.state("n1"), "n1 to report")
    cluster.nodes["n1"].kill()
    scheduler = request.getfixturevalue("scheduler")
    add_pod(cluster, "a", "n1")
    wait_for(lambda: cluster.api.get(f"{PODS}/a").json()["spec"].get("nodeName"), "the pod to have its node")
    wait_for(lambda: scheduler.plans("failed") == 1, "the plan to fail")
    event = wait_for(lambda: [e for e in cluster.api.get("/api/v1/namespaces/default/events").json()["items"] if e["reason"] == "ImagePlanFailed"], "the Event")[0]
    assert event["involvedObject"]["name"] == "a" and event["type"] == "Warning" and "n1" in event["message"] and cluster.name in event["message"]


def test_nodes_that_tell_nothing_or_are_of_another_kind_get_no_plan(cluster, request):
    cluster.start("n1")
    add_node(cluster, "n1", arch="s390x")
    add_node(cluster, "n2")
    wait_for(lambda: cluster.state("n1"), "n1 to report")
    scheduler = request.getfixturevalue("scheduler")
    for name in ("n1", "n2"):
        add_pod(cluster, f"p-{name}", name)
    wait_for(lambda: scheduler.plans("skipped") == 2, "both to be passed over")
    assert cluster.has("n1") == 0 and scheduler.plans("failed") == 0


def test_an_image_that_is_not_there_fails_once_and_a_stop_ends_what_is_under_way(cluster, request):
    cluster.start("n1")
    add_node(cluster, "n1")
    wait_for(lambda: cluster.state("n1"), "n1 to report")
    scheduler = request.getfixturevalue("scheduler")
    add_pod(cluster, "a", "n1", image=f"{cluster.registry.host}/library/none:v1")
    wait_for(lambda: scheduler.plans("failed") == 1, "the plan to fail")
    held = threading.Event()
    cluster.registry.faults.append(("GET", "/blobs/", lambda h: held.wait(DEADLINE_S) and None))  # the configuration, for the scheduler
    add_pod(cluster, "b", "n1")
    wait_for(lambda: not cluster.registry.faults, "the registry to be asked")
    scheduler.process.send_signal(signal.SIGTERM)
    assert scheduler.process.wait(DEADLINE_S) == 0
    held.set()


def test_up_has_the_kind_and_sends_plans_itself(tmp_path):
    (tmp_path / "key").write_text(KEY + "\n")
    api = Up(tmp_path / "up", "--gateway", "none", "--send-plans", "--cluster-key-file", tmp_path / "key", "--image-registry", "127.0.0.1")
    cluster = Cluster(api, tmp_path)
    try:
        cluster.start("n1")
        wait_for(lambda: cluster.state("n1"), "n1 to report")
        state = cluster.state("n1")
        room = state["disk"]["capacityBytes"] - state["disk"]["usedBytes"] + state["cache"]["usedBytes"]
        assert state["cache"]["capacityBytes"] == max(room, 0), "without a quota what is free, not the whole disk"
        assert api.kubectl("get", "nis", "n1").stdout.splitlines()[1].split()[0] == "n1"
        add_node(cluster, "n1")
        add_pod(cluster, "a", "n1")
        wait_for(lambda: cluster.has("n1") == 2, "n1 to have the image")
        wait_for(lambda: 'dormouse_image_plans_total{outcome="done"} 1' in api.admin("/metrics"), "the plan to end")
    finally:
        cluster.close()
        assert api.stop() == 0


@pytest.mark.parametrize("args, why", [
    (["--send-plans"], "--cluster-key-file"), (["--cluster-key-file", "key"], "--send-plans"),
    (["--send-plans", "--cluster-key-file", "/nonexistent"], "/nonexistent"),
])
def test_wrong_options_say_what_is_wrong(dormouse_api, tmp_path, args, why):
    done = subprocess.run([BUILD / "dormouse", "scheduler", "--kubeconfig", dormouse_api.kubeconfig, "--data-dir", tmp_path / "s", *args],
                          capture_output=True, text=True, timeout=DEADLINE_S)
    assert done.returncode != 0 and why in done.stderr
