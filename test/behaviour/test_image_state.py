# SPDX-License-Identifier: Apache-2.0
"""What nodes tell a cluster about their images: who writes it, and which decisions change because of it."""
import base64
import json
import os
import subprocess

import pytest

from conftest import BUILD, DEADLINE_S, ROOT, wait_for
from image_kit import Layout, digest, layer
from registry_kit import Fake
from scheduler_kit import Scheduler
from serve_kit import Node

STATES = "/apis/dormouse.dev/v1alpha1/nodeimagestates"
LAYERS = [layer([("base", "f", os.urandom(3_000_000))]), layer([("app", "f", b"version 1\n")])]


class Cluster:
    """An API server, a registry with an image, and nodes that report with credentials of their own."""

    def __init__(self, api, directory):
        self.api, self.directory, self.nodes = api, directory, {}
        api.kubectl("apply", "-f", ROOT / "src/sched/object/node_image_state_crd.json")
        api.kubectl("wait", "--for=condition=Established", "crd/nodeimagestates.dormouse.dev", "--timeout=10s")
        layout = Layout(directory / "app")
        layout.image("v1", LAYERS)
        self.registry = Fake()
        self.doc = self.registry.add_layout(layout, "library/app", "v1")
        self.name = f"{self.registry.host}/library/app:v1"

    def kubeconfig(self, name):
        path = self.directory / f"{name}.kubeconfig"
        if not path.exists():
            subprocess.run([BUILD / "dormouse", "kubeconfig", "--data-dir", self.api.data_dir, "--node", name, "-o", path], check=True)
        return path

    def start(self, name, credentials=None):
        self.nodes[name] = Node(self.directory, name, "--report", "--kubeconfig", self.kubeconfig(credentials or name),
                                "--upstream", self.registry.host)
        return self.nodes[name]

    def state(self, name):
        items = {v["metadata"]["name"]: v["spec"] for v in self.api.get(STATES).json()["items"]}
        return items.get(name)

    def has(self, name):
        """How many layers of the image the node says that it has."""
        state = self.state(name)
        held = base64.b64decode(state["layers"]["prefixes"]) if state else b""
        held = {held[i:i + 6] for i in range(0, len(held), 6)}
        return sum(bytes.fromhex(digest(tar)[7:19]) in held for tar in LAYERS)

    def pull(self, name):
        node = self.nodes[name]
        assert node.get(f"/v2/library/app/manifests/v1?ns={self.registry.host}")[0] == 200
        for d in self.doc["layers"]:
            assert node.get(f"/v2/library/app/blobs/{d['digest']}?ns={self.registry.host}")[0] == 200

    def plan(self, *args):
        done = subprocess.run([BUILD / "dormouse", "image", "plan", "--image", f"docker://{self.name}", "--kubeconfig", self.api.kubeconfig,
                               "-o", "json", *args], capture_output=True, text=True, timeout=DEADLINE_S)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def close(self):
        for node in self.nodes.values():
            node.stop()
        self.registry.close()


@pytest.fixture
def cluster(dormouse_api, tmp_path):
    c = Cluster(dormouse_api, tmp_path)
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


def test_a_plan_from_reports_is_sent_and_reported_again(cluster):
    for name in ("n1", "n2"):
        cluster.start(name)
    cluster.pull("n2")
    wait_for(lambda: cluster.has("n2") == 2 and cluster.state("n1"), "both nodes to report")
    end = cluster.plan("--node", "n1", "--send", "--cluster-key-file", cluster.directory / "key")
    assert (end["state"], end["layersDone"]) == ("done", 2)
    wait_for(lambda: cluster.has("n1") == 2, "n1 to report its layers")
    assert cluster.plan("--node", "n1")["transfers"] == []


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
