# SPDX-License-Identifier: Apache-2.0
"""Pods on nodes that share their images: a pod's layers come from a neighbour, by the scheduler's plan."""
import base64
import os

import pytest

from conftest import wait_for
from image_kit import layer
from image_nodes_kit import PODS, Cluster
from pods_kit import needs_pods

pytestmark = needs_pods


@pytest.fixture
def cluster(tmp_path):
    c = Cluster(tmp_path)
    yield c
    c.close()


def test_the_second_node_has_its_pods_image_from_the_first(cluster):
    image = cluster.add_image("app", layer([("data", "f", os.urandom(3_000_000))]))
    for name in ("n1", "n2"):
        cluster.share(name)
    cluster.run("first", "n1", image)
    cluster.wait_running("first")
    assert len(cluster.fetched("app")) == 2
    wait_for(lambda: cluster.has("n1", "app") == 2, "n1 to report its layers")
    for d in cluster.images["app"][1]["layers"]:  # a plan uses the registry, too: that it does not have to be there shows
        del cluster.registry.blobs[d["digest"]]
    cluster.run("second", "n2", image)
    cluster.wait_running("second")
    size = sum(d["size"] for d in cluster.images["app"][1]["layers"])
    wait_for(lambda: f"node=n2 image={image} peer_bytes={size} registry_bytes=0" in cluster.up.text_of_log(), "the scheduler to know that")
    assert "image pulled" not in cluster.nodes["n2"].text()


def test_pods_go_where_their_layers_are_and_explain_says_why(cluster):
    image = cluster.add_image("app", layer([("data", "f", os.urandom(3_000_000))]))
    cluster.share("n1")
    cluster.run("first", "n1", image)
    cluster.wait_running("first")
    cluster.share("n2")
    wait_for(lambda: cluster.has("n1", "app") == 2, "n1 to report its layers")
    wait_for(lambda: "pods get nodes by BREAK's scores" in cluster.up.text_of_log(), "BREAK to be the default")
    for i in range(3):  # its first pod is the one thing that speaks against n1
        cluster.run(f"any-{i}", None, image)
        assert cluster.wait_running(f"any-{i}")["spec"]["nodeName"] == "n1"
    told = cluster.explain("any-0")
    scores = {n["name"]: n["scores"]["BreakLayerLocality"] for n in told["nodes"]}
    assert scores["n1"] > 90 > scores["n2"], told
    assert [(p["image"], p["node"]) for p in told["plans"]] == [(image, "n1")]
    cluster.run("other", "n2", image)
    cluster.wait_running("other")
    plan, = cluster.explain("other")["plans"]
    assert plan["node"] == "n2" and {t["how"] for t in plan["transfers"]} <= {"peer", "registry"} and "1 node has it" in plan["transfers"][0]["why"]
    events = [e for e in cluster.up.get("/api/v1/namespaces/default/events").json()["items"] if e["reason"] == "ImagePlanned"]
    assert any(e["involvedObject"]["name"] == "other" and f"Image {image} for n2: " in e["message"] and " from n1" in e["message"] for e in events), events


def test_a_pod_whose_plan_does_not_come_pulls_its_image(cluster):
    """The announcement of a plan is no promise: another client of the API may have written it."""
    image = cluster.add_image("app")
    cluster.share("n1")
    cluster.run("alone", None, image, nodeName="n1")  # bound by no scheduler: it waits for nothing
    cluster.wait_running("alone")
    cluster.delete("alone")
    other = cluster.add_image("other", layer([("data", "f", os.urandom(1000))]))
    cluster.up.create(PODS, {"metadata": {"name": "waits", "annotations": {"image.dormouse.dev/plan": "expected"}}, "spec": {
        "nodeName": "n1", "hostNetwork": True, "terminationGracePeriodSeconds": 1, "containers": [{"name": "c", "image": other}]}})
    cluster.wait_running("waits")
    assert cluster.nodes["n1"].text().count("image pulled") == 2


def runs_alone(cluster, node):
    image = cluster.add_image("app")
    cluster.run("a", node, image)
    cluster.wait_running("a")
    assert cluster.state(node) is None and "image pulled" in cluster.nodes[node].text()
    assert "gives its images to others" not in cluster.nodes[node].text()


def test_a_node_that_does_not_want_to_shares_nothing(cluster):
    cluster.join("n1", "--image-listen", "none")
    runs_alone(cluster, "n1")


SECRET = "/api/v1/namespaces/kube-system/secrets/dormouse-images"


def test_nodes_share_nothing_by_default_and_cannot_read_other_secrets(tmp_path):
    c = Cluster(tmp_path, shares=())
    try:
        c.join("n1")
        runs_alone(c, "n1")
        assert c.up.get(SECRET).status == 404
    finally:
        c.close()
    c = Cluster(tmp_path / "again", shares=("--share-images",))
    try:
        key = base64.b64decode(c.up.get(SECRET).json()["data"]["key"])
        assert len(key) == 64
        n1 = c.join("n1", "--image-listen", "127.0.0.1:0")
        c.up.create("/api/v1/namespaces/kube-system/secrets", {"metadata": {"name": "other"}, "stringData": {"a": "b"}})
        def as_node(*words):
            return c.up.kubectl("--kubeconfig", str(n1.directory / "node.kubeconfig"), "-n", "kube-system", *words, check=False)
        assert as_node("get", "secret", "dormouse-images", "-o", "name").returncode == 0
        assert "Forbidden" in as_node("get", "secret", "other").stderr
        assert "Forbidden" in as_node("delete", "secret", "dormouse-images").stderr
        for log in (c.up.text_of_log(), n1.text()):
            assert key.decode() not in log
    finally:
        c.close()
