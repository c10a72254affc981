# SPDX-License-Identifier: Apache-2.0
"""`dormouse scheduler --send-plans`: the nodes of pods fetch their images as it was planned."""
import base64
import json
import re
import signal
import subprocess
import threading
import urllib.request
import uuid

import pytest

from conftest import BUILD, DEADLINE_S, wait_for
from image_kit import digest
from image_state_kit import LAYERS, Cluster
from operators import Up
from scheduler_kit import Scheduler
from serve_kit import KEY, metric

HERE = ("--node-network", "127.0.0.0/8")
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
        "--send-plans", *HERE, "--cluster-key-file", cluster.directory / "key", "--image-registry", cluster.registry.host, "--log-level", "debug"))
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


def test_a_neighbour_pushes_where_the_scheduler_says_so(cluster, tmp_path):
    for name in ("n1", "n2"):
        cluster.start(name)
    cluster.pull("n1")
    wait_for(lambda: cluster.has("n1") == 2 and cluster.state("n2"), "both nodes to report")
    for d in cluster.doc["layers"]:  # what the registry lost, nodes give each other
        del cluster.registry.blobs[d["digest"]]
    add_node(cluster, "n2")
    s = Scheduler(cluster.api.kubeconfig, tmp_path, args=(
        "--send-plans", *HERE, "--plan-push", "--cluster-key-file", cluster.directory / "key", "--image-registry", cluster.registry.host, "--log-level", "debug"))
    try:
        add_pod(cluster, "a", "n2")
        wait_for(lambda: cluster.has("n2") == 2 and plans(s, "done") == 1, "n2 to have the image")
        size = sum(d["size"] for d in cluster.doc["layers"])
        assert f"node=n2 image={cluster.name} peer_bytes={size} registry_bytes=0" in s.text()
        wait_for(lambda: metric(cluster.nodes["n1"], "dormouse_image_pushes_total") > 0, "n1 to have pushed the large layer")
    finally:
        assert s.stop() == 0


def test_nodes_that_want_an_image_at_once_fetch_it_from_the_registry_once(cluster, request):
    """The registry holds the first node's layer back until the second node has been told: it gets the layer from the first."""
    names = ("n1", "n2", "n3")
    for name in names:
        cluster.start(name)
        add_node(cluster, name)
    wait_for(lambda: all(cluster.state(n) for n in names), "all nodes to report")
    big = cluster.doc["layers"][0]["digest"]
    reported = threading.Event()
    cluster.registry.faults += [("GET", f"/blobs/{big}", lambda h: reported.wait(DEADLINE_S) and None)] * 20
    scheduler = request.getfixturevalue("scheduler")
    for name in names:
        add_pod(cluster, f"p-{name}", name)
    wait_for(lambda: figure(scheduler, "dormouse_image_plans_running") == 3, "all nodes to be told")
    reported.set()
    wait_for(lambda: all(cluster.has(n) == 2 for n in names), "all nodes to have the image")
    wait_for(lambda: scheduler.plans("done") == 3, "the plans to end")
    planned = re.findall(r"a plan is sent node=n\d image=\S+ registry=(\d) peer=0 after=(\d) join=0", scheduler.text())
    assert sorted(planned) == [("0", "2"), ("0", "2"), ("2", "0")], scheduler.text()  # on a busy machine a node may ask the registry in the end


def test_what_only_pull_secrets_show_gets_no_plan(cluster, request):
    """What a plan brings is for every pod of the node: so registries are asked without the pod's secrets, even where the scheduler may read them."""
    registry = cluster.registry
    for name in ("n1", "n2"):
        cluster.start(name)
        add_node(cluster, name)
    wait_for(lambda: cluster.state("n1") and cluster.state("n2"), "both nodes to report")
    registry.users = {"ann": "secret"}
    login = base64.b64encode(json.dumps({"auths": {registry.host: {"username": "ann", "password": "secret"}}}).encode()).decode()
    cluster.api.create("/api/v1/namespaces/default/secrets", {
        "metadata": {"name": "pull"}, "type": "kubernetes.io/dockerconfigjson", "data": {".dockerconfigjson": login}})
    scheduler = request.getfixturevalue("scheduler")
    secrets = {"imagePullSecrets": [{"name": "pull"}]}
    add_pod(cluster, "public", "n1", **secrets)
    wait_for(lambda: scheduler.plans("done") == 1, "the plan of a public image")
    wait_for(lambda: cluster.has("n1") == 2, "n1 to have the image")

    registry.auth = "basic"
    private = f"{registry.host}/library/private:v1"
    registry.manifests["library/private", "v1"] = registry.manifests["library/app", "v1"]
    add_pod(cluster, "private", "n2", image=private, **secrets)
    wait_for(lambda: scheduler.plans("skipped") == 1, "the private image to be passed over")
    assert scheduler.plans("done") == 1 and scheduler.plans("failed") == 0 and cluster.has("n2") == 0
    assert cluster.nodes["n2"].get(f"/v2/library/private/manifests/v1?ns={registry.host}")[0] != 200, "another tenant has it from the node"


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


def test_a_node_that_is_where_no_node_may_be_gets_no_plan(cluster, tmp_path):
    """A node says itself where it is: without --node-network the scheduler sends nothing to its own machine."""
    cluster.start("n1")
    add_node(cluster, "n1")
    wait_for(lambda: cluster.state("n1"), "n1 to report")
    scheduler = Scheduler(cluster.api.kubeconfig, tmp_path, args=(
        "--send-plans", "--cluster-key-file", cluster.directory / "key", "--image-registry", cluster.registry.host))
    try:
        add_pod(cluster, "a", "n1")
        wait_for(lambda: plans(scheduler, "skipped") == 1, "n1 to be passed over")
        add_pod(cluster, "b", "n1")
        wait_for(lambda: plans(scheduler, "skipped") == 2, "n1 to be passed over again")
        assert cluster.has("n1") == 0 and plans(scheduler, "failed") == 0
        assert scheduler.text().count("a node is where no plans are sent") == 1
        event = wait_for(lambda: [e for e in cluster.api.get("/api/v1/namespaces/default/events").json()["items"] if e["reason"] == "ImagePlanFailed"],
                         "the Event")[0]
        assert event["involvedObject"]["name"] in ("a", "b") and "(--node-network)" in event["message"]
    finally:
        assert scheduler.stop() == 0


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


def test_idle_nodes_have_ahead_what_pods_ask_for_often(cluster, tmp_path):
    """Ten pods of n1 want the image: n2 and n3 are sent its layers, which n2 takes and n3 was not told to. Then n2's pod finds them."""
    cluster.start("n1")
    cluster.start("n2", args=("--prefetch", "--quota", "100Mi"))
    cluster.start("n3", args=("--quota", "100Mi"))
    wait_for(lambda: all(cluster.state(n) for n in ("n1", "n2", "n3")), "all nodes to report")
    for name in ("n1", "n2"):
        add_node(cluster, name)
    scheduler = Scheduler(cluster.api.kubeconfig, tmp_path, args=(
        "--send-plans", *HERE, "--cluster-key-file", cluster.directory / "key", "--image-registry", cluster.registry.host, "--plan-prefetch", "200ms"))
    try:
        add_pod(cluster, "first", "n1")
        wait_for(lambda: cluster.has("n1") == 2, "n1 to have the image")
        assert metric(cluster.nodes["n2"], "dormouse_image_prefetches_total") == 0, "once is not often"
        for i in range(10):
            add_pod(cluster, f"p{i}", "n1")
        wait_for(lambda: cluster.has("n2") == 2, "n2 to have the layers")
        wait_for(lambda: figure(scheduler, 'dormouse_image_prefetch_plans_total{outcome="refused"}') > 0, "n3 to refuse them")
        size = sum(d["size"] for d in cluster.doc["layers"])
        n2 = cluster.nodes["n2"]
        assert metric(n2, "dormouse_image_cache_prefetched_bytes_total") >= size and metric(n2, "dormouse_image_cache_prefetch_used_bytes_total") == 0
        assert cluster.has("n3") == 0 and metric(cluster.nodes["n3"], "dormouse_image_prefetches_total") == 0
        names = subprocess.run([BUILD / "dormouse", "image", "ls", "--store", n2.store, "-o", "name"], capture_output=True, text=True, timeout=DEADLINE_S)
        assert names.stdout == "", "no one has asked n2 for the image"

        before = len(cluster.registry.paths("GET"))
        n2.get(f"/v2/library/app/manifests/v1?ns={cluster.registry.host}")  # an engine does
        for d in cluster.doc["layers"]:
            assert len(n2.get(f"/v2/library/app/blobs/{d['digest']}?ns={cluster.registry.host}")[2]) == d["size"]
        assert not [p for p in cluster.registry.paths("GET")[before:] if any(d["digest"] in p for d in cluster.doc["layers"])]
        wait_for(lambda: metric(n2, "dormouse_image_cache_prefetch_used_bytes_total") >= size, "n2 to count that use")
    finally:
        assert scheduler.stop() == 0


def prefetch(cluster, name, **more):
    """The BDM of a prefetch of the image, all of it from the registry."""
    node = cluster.nodes[name]
    tasks = [{"id": i, "blob": d["digest"], "diff": digest(tar), "size": d["size"], "raw_size": 0, "enc": "gzip", "range": [0, d["size"]], "prio": i,
              "src": {"kind": "registry", "repo": "library/app"}, "alt": [], "expect_ms": 100}
             for i, (d, tar) in enumerate(zip(cluster.doc["layers"], LAYERS), 1)]
    manifest = digest(cluster.registry.manifests["library/app", "v1"][1])
    return {"v": 1, "deploy": str(uuid.uuid4()), "epoch": 1, "image": {"ref": cluster.name, "manifest": manifest, "config": cluster.doc["config"]["digest"]},
            "binding": {"node": name, "url": node.url}, "deadline_ms": 60000, "prefetch": True, "tasks": tasks, **more}


def test_a_prefetch_ends_when_something_is_asked_for_and_keeps_within_its_part_of_the_quota(cluster):
    small = cluster.start("small", args=("--prefetch", "--quota", "20Mi"))
    status, answer = small.send(prefetch(cluster, "small"))
    assert status == 409 and "more bytes than may be prefetched" in answer["errors"][0]["message"]

    node = cluster.start("n1", args=("--prefetch", "--quota", "100Mi"))
    reported = threading.Event()
    big = cluster.doc["layers"][0]["digest"]
    cluster.registry.faults.append(("GET", f"/blobs/{big}", lambda h: reported.wait(DEADLINE_S) and None))
    bdm = prefetch(cluster, "n1")
    assert node.send(bdm)[0] == 202
    wait_for(lambda: not cluster.registry.faults, "the prefetch to wait for the registry")
    status, answer = node.send(prefetch(cluster, "n1"))
    assert status == 409 and "something else" in answer["errors"][0]["message"]
    wanted = prefetch(cluster, "n1", prefetch=False)
    assert node.send(wanted)[0] == 202
    end = node.wait(bdm["deploy"])
    assert end["state"] == "failed", end
    reported.set()
    assert node.wait(wanted["deploy"])["state"] == "done"


def test_a_deployment_leaves_a_pin_where_it_is(cluster):
    node = cluster.start("n1")

    def image(*words):
        done = subprocess.run([BUILD / "dormouse", "image", *words, "--store", node.store], capture_output=True, text=True, timeout=DEADLINE_S)
        assert done.returncode == 0, done.stderr
        return done.stdout

    for is_pinned in (False, True):
        bdm = prefetch(cluster, "n1", prefetch=False)
        assert node.send(bdm)[0] == 202
        assert node.wait(bdm["deploy"])["state"] == "done"
        assert [i["pinned"] for i in json.loads(image("ls", "-o", "json"))] == [is_pinned]
        image("pin", cluster.name)


def test_up_has_the_kind_and_sends_plans_itself(tmp_path):
    (tmp_path / "key").write_text(KEY + "\n")
    api = Up(tmp_path / "up", "--gateway", "none", "--send-plans", *HERE, "--cluster-key-file", tmp_path / "key", "--image-registry", "127.0.0.1")
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
    (["--send-plans", "--cluster-key-file", "/nonexistent"], "/nonexistent"), (["--plan-prefetch", "5m"], "--send-plans"), (["--plan-push"], "--send-plans"),
    (["--node-network", "10.0.0.0/8"], "--send-plans"), (["--send-plans", "--cluster-key-file", "key", "--node-network", "here"], "'here' is no network"),
])
def test_wrong_options_say_what_is_wrong(dormouse_api, tmp_path, args, why):
    done = subprocess.run([BUILD / "dormouse", "scheduler", "--kubeconfig", dormouse_api.kubeconfig, "--data-dir", tmp_path / "s", *args],
                          capture_output=True, text=True, timeout=DEADLINE_S)
    assert done.returncode != 0 and why in done.stderr
