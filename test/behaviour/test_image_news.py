# SPDX-License-Identifier: Apache-2.0
"""What a node makes of the news that an image was replaced."""
import hashlib
import json
import subprocess

import pytest

from conftest import BUILD, DEADLINE_S, wait_for
from image_kit import Layout, layer
from registry_kit import Fake
from serve_kit import Node

OLD = [layer([("base", "f", b"base" * 1000)]), layer([("app", "f", b"version 1\n")])]
NEW = [OLD[0], layer([("app", "f", b"version 1, in another layer\n")])]


@pytest.fixture
def registry(tmp_path):
    r = Fake()
    layout = Layout(tmp_path / "app")
    layout.image("v1", OLD)
    layout.image("v2", NEW)
    r.old = r.add_layout(layout, "library/app", "v1")
    r.new = r.add_layout(layout, "library/app", "v2")
    yield r
    r.close()


def pull(node, registry):
    status, headers, _ = node.get(f"/v2/library/app/manifests/v1?ns={registry.host}")
    assert status == 200
    for d in registry.old["layers"]:
        node.get(f"/v2/library/app/blobs/{d['digest']}?ns={registry.host}")
    wait_for(lambda: f"{registry.host}/library/app:v1" in names(node), "the image to have its name")
    return headers["Docker-Content-Digest"]


def names(node):
    return subprocess.run([BUILD / "dormouse", "image", "ls", "--store", node.store, "-o", "name"], capture_output=True, text=True, timeout=DEADLINE_S).stdout


def replace(registry):
    """The tag stands for the new image; what the optimizer tells."""
    old, new = (registry.manifests["library/app", t][1] for t in ("v1", "v2"))
    registry.manifests["library/app", "v1"] = registry.manifests["library/app", "v2"]
    digests = ["sha256:" + hashlib.sha256(text).hexdigest() for text in (old, new)]
    return {"name": f"docker://{registry.host}/library/app:v1", "old": digests[0], "new": digests[1], "dead": [registry.old["layers"][1]["digest"]]}


def tell(node, news, **token):
    body = json.dumps(news)
    digest = "sha256:" + hashlib.sha256(body.encode()).hexdigest()
    status, _, answer = node.request("POST", f"/v1/images/replaced?digest={digest}", body, **node.bearer("replaced", digest, **token))
    return status, json.loads(answer)


def test_a_node_that_prefetches_pulls_what_replaced_its_image(tmp_path, registry):
    node = Node(tmp_path, "n1", "--upstream", registry.host, "--quota", "64Mi", "--prefetch")
    try:
        assert tell(node, {"name": "other:v1", "old": "", "new": "sha256:" + "1" * 64, "dead": []}) == (200, {"image": "absent", "dead": 0})
        pull(node, registry)
        news = replace(registry)
        assert tell(node, news) == (200, {"image": "pulling", "dead": 1})
        wait_for(lambda: tell(node, news)[1]["image"] == "current", "the node to have the new image")
        before = len(registry.paths("GET"))
        for d in registry.new["layers"]:
            assert len(node.get(f"/v2/library/app/blobs/{d['digest']}?ns={registry.host}")[2]) == d["size"]
        assert len(registry.paths("GET")) == before, "it has all of it"
    finally:
        assert node.stop() == 0


def test_others_compare_the_tag_at_the_next_request_and_not_after_a_minute(tmp_path, registry):
    node = Node(tmp_path, "n1", "--upstream", registry.host)
    try:
        old = pull(node, registry)
        news = replace(registry)
        assert node.get(f"/v2/library/app/manifests/v1?ns={registry.host}")[1]["Docker-Content-Digest"] == old
        assert tell(node, news)[1]["image"] == "noted"
        assert node.get(f"/v2/library/app/manifests/v1?ns={registry.host}")[1]["Docker-Content-Digest"] == news["new"]
    finally:
        assert node.stop() == 0


def test_only_the_cluster_tells_news(tmp_path, registry):
    node = Node(tmp_path, "n1", "--upstream", registry.host)
    try:
        assert tell(node, replace(registry), key="another key of another cluster, as long")[0] == 403
        assert tell(node, {"name": "a b", "old": "", "new": "", "dead": []})[0] == 400
        body, digest = "{}", "sha256:" + "2" * 64
        assert node.request("POST", f"/v1/images/replaced?digest={digest}", body, **node.bearer("replaced", digest))[0] == 400
        assert node.request("POST", "/v1/images/replaced", body)[0] == 400
    finally:
        assert node.stop() == 0
