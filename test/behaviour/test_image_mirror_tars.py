# SPDX-License-Identifier: Apache-2.0
"""dormouse image serve --upstream over a store that others filled: clients get what the manifest that they get names."""
import gzip
import json
import os
import shutil
import subprocess

import pytest

from conftest import BUILD, DEADLINE_S, wait_for
from image_kit import MANIFEST, Layout, digest, layer
from registry_kit import Fake
from serve_kit import Node, serve
from test_image_news import tell

SKOPEO = shutil.which("skopeo")
BASE = layer([("etc", "d", ""), ("etc/motd", "f", os.urandom(200_000))])
TOP = layer([("app", "d", ""), ("app/run", "f", b"version 1\n")])
TAG = "/v2/library/app/manifests/v1"


def image(store, *args):
    done = subprocess.run([BUILD / "dormouse", "image", *map(str, args), "--store", store], capture_output=True, text=True, timeout=DEADLINE_S)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def registry(tmp_path):
    r = Fake()
    layout = Layout(tmp_path / "app")
    layout.image("v1", [BASE, TOP])
    r.doc = r.add_layout(layout, "library/app", "v1")
    yield r
    r.close()


def fill(registry, store, form="raw"):
    image(store, "pull", f"docker://{registry.host}/library/app:v1", "--form", form)
    registry.seen.clear()
    return store


def wanted(registry):
    return registry.manifests["library/app", "v1"][1]


def fetched(registry):
    return sorted(p.rsplit("/", 1)[1] for p in registry.paths("GET") if "/blobs/" in p)


def layers_of(doc):
    return sorted(d["digest"] for d in doc["layers"])


def check_whole(s, manifest):
    """What it names is there, as it says."""
    doc = json.loads(manifest)
    for d in [doc["config"], *doc["layers"]]:
        status, _, body = s.get(f"/v2/library/app/blobs/{d['digest']}")
        assert (status, digest(body), len(body)) == (200, d["digest"], d["size"])
    assert s.get(f"/v2/library/app/manifests/{digest(manifest)}")[2] == manifest
    return doc


def take(s, path=TAG):
    status, headers, body = s.get(path)
    assert status == 200 and headers["Docker-Content-Digest"] == digest(body), body
    check_whole(s, body)
    return body


@pytest.mark.parametrize("form", ["raw", "cas", "gz"])
@pytest.mark.parametrize("by", ["tag", "digest"])
def test_the_registrys_manifest_comes_with_its_blobs(form, by, registry, tmp_path):
    """They are fetched at the first request, once, and only where the store does not keep them."""
    store = fill(registry, tmp_path / "store", form)
    path = TAG if by == "tag" else f"/v2/library/app/manifests/{digest(wanted(registry))}"
    with serve(store, "--upstream", registry.host) as s:
        assert take(s, path) == take(s, path) == take(s) == wanted(registry)
        blobs = [d for d in fetched(registry) if d != registry.doc["config"]["digest"]]
        assert blobs == ([] if form == "gz" else layers_of(registry.doc))
    with serve(store, "--upstream", registry.host) as s:
        assert take(s) == wanted(registry)
        assert [d for d in fetched(registry) if d != registry.doc["config"]["digest"]] == blobs, "they are kept"
    assert json.loads(image(store, "check", "-o", "json"))["damaged"] == 0


@pytest.mark.skipif(not SKOPEO, reason="skopeo is not installed")
def test_skopeo_pulls_at_the_first_request(registry, tmp_path):
    with serve(fill(registry, tmp_path / "store"), "--upstream", registry.host) as s:
        done = subprocess.run([SKOPEO, "--insecure-policy", "copy", "--src-tls-verify=false", f"docker://{s.host}/library/app:v1", f"oci:{tmp_path}/out:v1"],
                              capture_output=True, text=True, timeout=DEADLINE_S)
        assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "out/index.json").read_text())["manifests"][0]["digest"] == digest(wanted(registry))


def due(node, registry):
    """The tag is compared with the registry's at the next request, as after a minute."""
    news = {"name": f"docker://{registry.host}/library/app:v1", "old": "", "new": "sha256:" + "1" * 64, "dead": []}
    assert tell(node, news)[1]["image"] == "noted"


def asked_for_tag(registry):
    return len([p for p in registry.paths() if p.endswith("/manifests/v1")])


def test_a_tag_that_is_compared_again_stands_for_the_same(registry, tmp_path):
    node = Node(tmp_path, "n1", "--upstream", registry.host, store=fill(registry, tmp_path / "store"))
    try:
        assert take(node) == wanted(registry)
        wait_for(lambda: b"dormouse_image_pulls_total 1\n" in node.get("/metrics")[2], "the pull has ended")
        n = asked_for_tag(registry)
        assert take(node) == wanted(registry) and asked_for_tag(registry) == n
        due(node, registry)
        assert take(node) == wanted(registry) and asked_for_tag(registry) > n
    finally:
        assert node.stop() == 0


def test_what_the_store_has_is_served_where_the_registry_does_not_give_the_blobs(registry, tmp_path):
    """One client learns of it; from then on the manifest waits for the blobs that it names."""
    large = registry.doc["layers"][0]["digest"]
    kept = registry.blobs[large]
    node = Node(tmp_path, "n1", "--upstream", registry.host, store=fill(registry, tmp_path / "store"))
    try:
        del registry.blobs[large]
        assert node.get(TAG)[2] == wanted(registry)
        assert node.get(f"/v2/library/app/blobs/{large}")[0] == 404
        for _ in range(2):
            n = asked_for_tag(registry)
            tars = json.loads(take(node))
            assert layers_of(tars) == sorted((digest(BASE), digest(TOP))) and asked_for_tag(registry) == n
            due(node, registry)
            assert json.loads(take(node)) == tars and asked_for_tag(registry) > n
        registry.blobs[large] = kept
        due(node, registry)
        assert take(node) == wanted(registry)
    finally:
        assert node.stop() == 0


@pytest.mark.parametrize("is_there", [True, False])
def test_a_manifest_with_another_blob_of_a_layer_is_not_given(is_there, registry, tmp_path):
    """A layer has one blob in the store: the tag stands for the tars, and the registry's digest is not here."""
    other = registry.blob(gzip.compress(BASE, 1))
    named = [registry.doc["layers"][0] | {"digest": digest(other), "size": len(other)}]
    text = json.dumps(registry.doc | {"layers": named + registry.doc["layers"][1:]}).encode()
    assert named != registry.doc["layers"][:1]
    store = tmp_path / "store"
    if is_there:
        fill(registry, store, "both")
    else:                                                       # the image itself names both
        config = json.loads(registry.blobs[registry.doc["config"]["digest"]])
        config["rootfs"]["diff_ids"] = [digest(BASE), digest(BASE)]
        config["history"] = []
        blob = registry.blob(json.dumps(config).encode())
        text = json.dumps(registry.doc | {"config": registry.doc["config"] | {"digest": digest(blob), "size": len(blob)},
                                          "layers": named + registry.doc["layers"][:1]}).encode()
    for name in ("v1", digest(text)):
        registry.manifests["library/app", name] = (MANIFEST, text)
    with serve(store, "--upstream", registry.host) as s:
        assert layers_of(json.loads(take(s))) == sorted((digest(BASE), digest(TOP) if is_there else digest(BASE)))
        assert s.get(f"/v2/library/app/manifests/{digest(text)}")[0] == 404
