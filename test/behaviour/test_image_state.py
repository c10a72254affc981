# SPDX-License-Identifier: Apache-2.0
"""What nodes tell a cluster about their images: who writes it, and which decisions change because of it."""
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading
import time

import pytest

from conftest import BUILD, ROOT, wait_for
from image_kit import Layout, digest, layer
from image_state_kit import LAYERS, Cluster
from registry_kit import REGISTRY, real
from scheduler_kit import Scheduler
from serve_kit import NOBODY, token


def has_room(directory):
    """Pods go to no node whose disk is over 90 % in use."""
    v = os.statvfs(directory)
    return v.f_blocks - v.f_bfree < 0.85 * (v.f_blocks - v.f_bfree + v.f_bavail)


@pytest.fixture
def cluster(dormouse_api, tmp_path):
    """The nodes report the disk under their stores: one with room, as the disk of this machine may be full."""
    base = next((d for d in (tmp_path, "/dev/shm") if os.access(d, os.W_OK) and has_room(d)), None)
    if not base:
        pytest.skip("NO ROOM: all file systems are over 85 % in use")
    with tempfile.TemporaryDirectory(dir=base) as directory:
        c = Cluster(dormouse_api, pathlib.Path(directory))
        yield c
        c.close()


def test_plans_and_placement_follow_what_nodes_report(cluster, tmp_path):
    for name in ("n1", "n2"):
        cluster.start(name)
    wait_for(lambda: cluster.state("n1") and cluster.state("n2"), "both nodes to report")
    state = cluster.state("n2")
    assert state["url"] == cluster.nodes["n2"].url and state["freeUploadSlots"] == 3 and state["cache"]["usedBytes"] == 0
    plan = cluster.plan()
    assert plan["node"] == "n1" and {t["how"] for t in plan["transfers"]} == {"registry"}  # nothing tells them apart

    cluster.pull("n2")
    wait_for(lambda: cluster.has("n2") == 2, "n2 to report its layers")
    later = cluster.state("n2")
    assert later["layers"]["generation"] > state["layers"]["generation"] and later["network"]["registryBitsPerSecond"] > 0
    assert later["cache"]["pinnedBytes"] == later["cache"]["usedBytes"] > 0, "without a quota nothing leaves to make room"
    plan = cluster.plan()
    assert (plan["node"], plan["transfers"], plan["seconds"]) == ("n2", [], 0)
    plan = cluster.plan("--node", "n1")
    assert {n for t in plan["transfers"] for n in [t["source"], *t["alternatives"]]} == {"n2", "registry"}

    layers = ", ".join(f"{digest(tar)}={d['size']}" for tar, d in zip(LAYERS, cluster.doc["layers"]))
    for name in ("n1", "n2"):
        cluster.api.create("/api/v1/nodes", {"metadata": {"name": name}, "status": {
            "allocatable": {"cpu": "8", "memory": "16Gi", "ephemeral-storage": "100Gi", "pods": "110"}}})
    scheduler = Scheduler(cluster.api.kubeconfig, tmp_path, text=(ROOT / "docs/examples/scheduler-break.yaml").read_text() +
                          "leaderElection: {leaderElect: false}\n")
    try:
        cluster.api.create("/api/v1/namespaces/default/pods", {
            "metadata": {"name": "p", "annotations": {"image.dormouse.dev/layers": layers}},
            "spec": {"containers": [{"name": "c", "image": cluster.name}]}})
        wait_for(lambda: cluster.api.get("/api/v1/namespaces/default/pods/p").json()["spec"].get("nodeName"), "the pod to have a node")
        assert cluster.api.get("/api/v1/namespaces/default/pods/p").json()["spec"]["nodeName"] == "n2"
    finally:
        assert scheduler.stop() == 0


@pytest.mark.skipif(not REGISTRY or not shutil.which("skopeo"), reason="no docker-registry or skopeo here")
def test_a_pod_that_says_nothing_of_layers_goes_where_they_are(cluster, tmp_path):
    """All parts are real: the scheduler asks Debian's docker-registry, and a node has pulled from it."""
    with real(tmp_path) as host:
        subprocess.run(["skopeo", "copy", "--quiet", "--dest-tls-verify=false", f"oci:{cluster.directory / 'app'}:v1", f"docker://{host}/library/app:v1"], check=True)
        for name in ("n1", "n2", "n3"):
            cluster.start(name, args=("--upstream", host))
            cluster.api.create("/api/v1/nodes", {"metadata": {"name": name}, "status": {
                "allocatable": {"cpu": "8", "memory": "16Gi", "ephemeral-storage": "100Gi", "pods": "110"}}})
        n3 = cluster.nodes["n3"]
        assert n3.get(f"/v2/library/app/manifests/v1?ns={host}")[0] == 200
        for d in cluster.doc["layers"]:
            assert n3.get(f"/v2/library/app/blobs/{d['digest']}?ns={host}")[0] == 200
        wait_for(lambda: cluster.has("n3") == 2 and cluster.state("n1") and cluster.state("n2"), "all nodes to report")
        scheduler = Scheduler(cluster.api.kubeconfig, tmp_path, args=("--image-registry", host), text=(ROOT / "docs/examples/scheduler-break.yaml").read_text() +
                              "leaderElection: {leaderElect: false}\n")
        try:
            cluster.api.create("/api/v1/namespaces/default/pods", {
                "metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": f"{host}/library/app:v1"}]}})
            wait_for(lambda: cluster.api.get("/api/v1/namespaces/default/pods/p").json()["spec"].get("nodeName"), "the pod to have a node")
            assert cluster.api.get("/api/v1/namespaces/default/pods/p").json()["spec"]["nodeName"] == "n3"
        finally:
            assert scheduler.stop() == 0


def test_a_plan_from_reports_is_sent_and_reported_again(cluster):
    for name in ("n1", "n2"):
        cluster.start(name)
    cluster.pull("n2")
    wait_for(lambda: cluster.has("n2") == 2 and cluster.state("n1"), "both nodes to report")
    end = cluster.plan("--node", "n1", "--send", "--cluster-key-file", cluster.directory / "key")
    assert (end["state"], end["layersDone"]) == ("done", 2)
    wait_for(lambda: cluster.has("n1") == 2, "n1 to report its layers")
    assert cluster.plan("--node", "n1")["transfers"] == []


def test_the_image_of_a_plan_is_of_the_store_or_else_of_its_registry(cluster, tmp_path):
    cluster.start("n1")
    wait_for(lambda: cluster.state("n1"), "the node to report")
    here = ("--store", tmp_path / "store")

    def planned(image):
        done = cluster.try_plan(image, *here)
        assert done.returncode == 0, done.stderr
        return sorted(t["layer"] for t in json.loads(done.stdout)["transfers"])

    layers = planned(f"docker://{cluster.name}")
    assert len(layers) == 2 and planned(cluster.name) == layers, "there is no store"
    end = json.loads(cluster.try_plan(cluster.name, *here, "--send", "--cluster-key-file", cluster.directory / "key").stdout)
    assert (end["state"], end["layersDone"]) == ("done", 2)
    other = Layout(tmp_path / "other")
    other.image("v1", [layer([("other", "f", b"other\n")])])
    for image in ("other:v1", cluster.name):
        subprocess.run([BUILD / "dormouse", "image", "pull", f"oci:{other.directory}:v1", "--name", image, *here], check=True, capture_output=True)
    assert planned(cluster.name) == planned("other:v1") != layers, "the store's comes first"
    missing = f"{cluster.registry.host}/library/none:v1"
    done = cluster.try_plan(missing, *here)
    assert done.returncode == 1 and f"error: not in the store; image 'docker://{missing}': " in done.stderr and "404" in done.stderr
    done = cluster.try_plan("No Name", *here)
    assert done.returncode == 1 and "error: not in the store; image 'docker://No Name': " in done.stderr


def test_a_plan_made_by_hand_sees_what_another_one_has_under_way(cluster):
    """The registry sends slowly until n1 has told that it fetches the layer: the next plan has n2 wait for n1."""
    for name in ("n1", "n2"):
        cluster.start(name)
    wait_for(lambda: cluster.state("n1") and cluster.state("n2"), "both nodes to report")
    big = cluster.doc["layers"][0]["digest"]
    reported = threading.Event()

    def slowly(h):
        data, at = h.server.blobs[big], 0
        h.send_response(200)
        h.send_header("Content-Length", str(len(data)))
        h.end_headers()
        while not reported.wait(0.05):
            h.wfile.write(data[at:at + 2000])
            at += 2000
        h.wfile.write(data[at:])
        return True

    cluster.registry.faults.append(("GET", f"/blobs/{big}", slowly))
    send = ("--send", "--cluster-key-file", cluster.directory / "key")
    with concurrent.futures.ThreadPoolExecutor(2) as threads:
        try:
            first = threads.submit(cluster.plan, "--node", "n1", *send)
            wait_for(lambda: "arrivingPrefixes" in cluster.state("n1")["layers"], "n1 to tell what it fetches")
            plan = cluster.plan("--node", "n2")
            assert [(t["how"], t["source"], t["alternatives"]) for t in plan["transfers"]][0] == ("after", "n1", ["registry"])
            second = threads.submit(cluster.plan, "--node", "n2", *send)
        finally:
            reported.set()
        assert (first.result()["state"], second.result()["state"]) == ("done", "done")
    assert second.result()["registryBytes"] == 0 and second.result()["peerBytes"] == sum(d["size"] for d in cluster.doc["layers"])
    wait_for(lambda: cluster.has("n1") == 2 and "arrivingPrefixes" not in cluster.state("n1")["layers"], "n1 to tell that it has it")


def test_a_node_writes_its_own_state_alone(cluster):
    cluster.start("n1")
    wait_for(lambda: cluster.state("n1"), "n1 to report")
    other = cluster.start("n3", credentials="n1")  # with the rights of another
    wait_for(lambda: any("is not written" in line and "can only get, create, update, patch" in line for line in other.log), "n3 to say so")
    assert cluster.state("n3") is None and cluster.state("n1")
    done = cluster.api.kubectl("--kubeconfig", cluster.kubeconfig("n3"), "delete", "nodeimagestate", "n1", check=False)
    assert done.returncode != 0 and cluster.state("n1")


def test_a_restart_and_an_object_that_was_deleted_are_no_matter(cluster):
    node = cluster.start("n1")
    cluster.pull("n1")
    wait_for(lambda: cluster.has("n1") == 2, "n1 to report its layers")
    before = cluster.state("n1")["layers"]["generation"]
    node.kill()
    cluster.api.kubectl("delete", "nodeimagestate", "n1")
    cluster.start("n1")
    wait_for(lambda: cluster.has("n1") == 2, "n1 to report again")
    assert cluster.state("n1")["layers"]["generation"] > before


# ---- the way to other nodes

def test_nodes_measure_each_other_after_something_happened(cluster):
    n2 = cluster.start("n2")
    cluster.start("n1", args=("--peer", f"n2={n2.url}"))
    wait_for(lambda: cluster.state("n1"), "n1 to report")
    assert "network" not in cluster.state("n1")  # at rest nothing is measured
    cluster.pull("n1")
    network = wait_for(lambda: cluster.state("n1").get("network", {}).get("rttMicroseconds") and cluster.state("n1")["network"], "n1 to measure")
    assert network["uplinkBitsPerSecond"] > 0 and network["downlinkBitsPerSecond"] > 0, network
    row = cluster.api.kubectl("get", "nis", "n1", "-o", "wide").stdout.splitlines()[1].split()
    assert row[1] == str(network["rttMicroseconds"])
    assert "rttMicroseconds" not in cluster.state("n2").get("network", {})  # it knows no other node


def test_a_node_measures_others_on_its_own_where_it_is_asked_to(cluster):
    n2 = cluster.start("n2")
    cluster.start("n1", args=("--peer", f"n2={n2.url}", "--peer", "gone=http://127.0.0.1:1", "--probe", "10s"))
    network = wait_for(lambda: cluster.state("n1") and cluster.state("n1").get("network"), "n1 to measure")
    assert network["rttMicroseconds"] > 0 and network["uplinkBitsPerSecond"] > 0 and network["downlinkBitsPerSecond"] > 0, network


def test_the_way_to_the_registry_is_measured_and_planned_with(cluster):
    """The registry answers n1 after 50 ms; n2 it lets in only with a token. A plan counts two round trips for the first byte."""
    cluster.registry.faults += [("GET", "/v2/", lambda h: time.sleep(0.05))] * 2
    cluster.start("n1", args=("--probe", "10s"))
    network = wait_for(lambda: cluster.state("n1") and cluster.state("n1").get("network"), "n1 to measure")
    assert network["registryRttMicroseconds"] >= 50_000 and "rttMicroseconds" not in network and not cluster.registry.faults
    assert cluster.plan("--node", "n1")["seconds"] >= 0.1
    cluster.registry.auth = "bearer"
    cluster.start("n2", args=("--probe", "10s"))
    network = wait_for(lambda: cluster.state("n2") and cluster.state("n2").get("network"), "n2 to measure")
    assert network["registryRttMicroseconds"] > 0
    asked = [headers for _, path, headers in cluster.registry.seen if path == "/v2/"]
    assert len(asked) == 4 and not any("Authorization" in headers for headers in asked)


def test_probes_need_a_token_and_have_a_budget(cluster):
    node = cluster.start("n1")
    ask = {"Authorization": "Bearer " + token("probe", NOBODY, "n9", "n1")}
    assert node.get("/v1/probe?node=n9")[0] == 403
    assert node.get("/v1/probe?node=n8", **ask)[0] == 403  # of another node
    assert node.get("/v1/probe?node=n9", **ask)[0] == 204
    assert node.get("/v1/probe?node=n9&bytes=1048577", **ask)[0] == 400
    assert node.request("POST", "/v1/probe?node=n9", b"x" * 1048577, **ask)[0] == 400
    for _ in range(4):
        assert node.get("/v1/probe?node=n9&bytes=1048576", **ask)[2] == bytes(1048576)
        assert node.request("POST", "/v1/probe?node=n9", b"x" * 1048576, **ask)[0] == 204
    assert node.get("/v1/probe?node=n9&bytes=1", **ask)[0] == 429
    assert node.get("/v1/probe?node=n9", **ask)[0] == 204


@pytest.mark.parametrize("args", [("--peer", "n2"), ("--peer", "n2=ftp://a/"), ("--peer", "=http://a/")])
def test_a_peer_that_is_none_is_a_usage_error(cluster, args):
    with pytest.raises(AssertionError, match="peer|ftp|URL"):
        cluster.start("n1", args=args)
