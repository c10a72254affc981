# SPDX-License-Identifier: Apache-2.0
"""Trees that `image refactor` attaches: a node fetches those parts of the next version's layers in which files are that it lacks."""
import gzip
import json
import os
import random
import struct
import subprocess

import pytest

from conftest import BUILD, DEADLINE_S
from image_kit import Layout, digest, layer
from registry_kit import REGISTRY, fake, real

R = random.Random(11)
OWN = [R.randbytes(1 << 20) for _ in range(10)]
COMMON = R.randbytes(400_000)
TREES = "application/vnd.dormouse.image.trees.v1"
OF = "image.dormouse.dev/tree-of"


def dormouse(*args):
    clean = {k: v for k, v in os.environ.items() if "proxy" not in k.lower()} | {"HOME": "/nonexistent"}
    done = subprocess.run([BUILD / "dormouse", "image", *map(str, args)], capture_output=True, text=True, timeout=DEADLINE_S, env=clean)
    assert done.returncode == 0, done.stderr
    return done


def pull(store, source, *more):
    done = dormouse("pull", source, "--store", store, "-o", "json", *more)
    return json.loads(done.stdout) | {"said": done.stderr}


def app(n):
    """One of 10 files of 1 MiB is another one in each version."""
    files = [(f"app/f{i:02}", "f", OWN[i] if i != 5 else bytes([n]) * 16 + OWN[i][16:]) for i in range(10)]
    return layer([("app", "d", ""), ("app/empty", "f", b""), *files, ("lib", "d", ""), ("lib/common", "f", COMMON), ("version", "f", b"%d" % n)])


@pytest.fixture(scope="module")
def layout(tmp_path_factory):
    made = Layout(tmp_path_factory.mktemp("trees") / "source")
    for n in (1, 2):
        made.image(f"v{n}", [app(n)])
    made.image("v3", [layer([("app", "d", ""), *[(f"app/f{i:02}", "f", OWN[i]) for i in range(7)], ("app/new", "f", R.randbytes(2 << 20))])])
    made.image("db", [layer([("lib", "d", ""), ("lib/common", "f", COMMON), ("db", "f", b"db" * 5000)])])
    return made


def refactor(host, tag, *more):
    dormouse("refactor", f"docker://{host}/app:{tag}", f"docker://{host}/db:db", "--to", "source", "--layer-threshold", "1", "--gain-threshold", "1", *more)


@pytest.fixture(scope="module")
def filled(layout):
    with fake() as server:
        for name in ("v1", "v2", "v3"):
            server.add_layout(layout, "app", name)
        server.add_layout(layout, "db", "db")
        for tag in ("v1", "v2"):
            refactor(server.host, tag)
        yield server


@pytest.fixture
def registry(filled):
    before = dict(filled.blobs), dict(filled.manifests)
    yield filled
    filled.blobs, filled.manifests = before
    filled.knows_ranges = True


def attached(registry, subject):
    """The manifest with the trees of an image."""
    index = json.loads(registry.manifests["app", "sha256-" + subject[7:]][1])
    (found,) = [m for m in index["manifests"] if m["artifactType"] == TREES]
    doc = json.loads(registry.manifests["app", found["digest"]][1])
    assert doc["artifactType"] == TREES and doc["subject"]["digest"] == subject
    return doc


def refactored(registry, tag):
    original = digest(registry.manifests["app", tag][1])
    index = json.loads(registry.manifests["app", "sha256-" + original[7:]][1])
    name = [m["digest"] for m in index["manifests"]][-1]
    return name, json.loads(registry.manifests["app", name][1])


def test_the_members_of_a_tree_are_those_of_the_blob(registry):
    name, image = refactored(registry, "v2")
    config = json.loads(registry.blobs[image["config"]["digest"]])
    trees = attached(registry, name)["layers"]
    assert len(trees) == 1                                          # small layers have none
    tree, (at,) = trees[0], [i for i, d in enumerate(config["rootfs"]["diff_ids"]) if d == trees[0]["annotations"][OF]]
    blob, data = registry.blobs[image["layers"][at]["digest"]], registry.blobs[tree["digest"]]
    magic, n = struct.unpack_from("<8sQ", data)
    members = [struct.unpack_from("<II", data, 16 + 8 * i) for i in range(n)]
    assert magic == b"DMLTREE1" and n > 2 and sum(p for p, _ in members) == len(blob) and len(data) < 4000
    begin = 0
    for packed, raw in members:
        assert len(gzip.decompress(blob[begin:begin + packed])) == raw
        begin += packed


def test_a_node_fetches_the_members_with_files_that_it_lacks(registry, tmp_path):
    first = pull(tmp_path / "node", f"docker://{registry.host}/app:v1")
    assert first["bytes"] > 10 << 20 and first["layersByFiles"] == 0
    registry.seen.clear()
    second = pull(tmp_path / "node", f"docker://{registry.host}/app:v2")
    sent = sum(int(h["Range"].split("-")[1]) + 1 - int(h["Range"][6:].split("-")[0]) for _, path, h in registry.seen if "/blobs/" in path and "Range" in h)
    assert second["layersByFiles"] == 1 and second["blobBytesSpared"] > 10 << 20
    assert 4 << 20 < sent <= second["bytes"] < (8 << 20) + 100_000, second    # one or two members of 4 MiB, the tree, documents
    assert dormouse("check", "--store", tmp_path / "node").returncode == 0
    whole = pull(tmp_path / "other", f"docker://{registry.host}/app:v2", "--whole")
    assert whole["layersByFiles"] == 0 and whole["digest"] == second["digest"]
    name = [l for l in os.listdir(tmp_path / "other/layers")]
    assert all((tmp_path / "node/layers" / n / "data.tar").read_bytes() == (tmp_path / "other/layers" / n / "data.tar").read_bytes() for n in name)


def forge(registry, change):
    """Another tree under the same image, as somebody who may push could attach it."""
    name, _ = refactored(registry, "v2")
    index = json.loads(registry.manifests["app", "sha256-" + name[7:]][1])
    (found,) = [m for m in index["manifests"] if m["artifactType"] == TREES]
    doc = json.loads(registry.manifests["app", found["digest"]][1])
    data = change(registry.blobs[doc["layers"][0]["digest"]])
    registry.blobs[digest(data)] = data
    doc["layers"][0] |= {"digest": digest(data), "size": len(data)}
    text = json.dumps(doc).encode()
    found |= {"digest": digest(text), "size": len(text)}
    registry.manifests["app", found["digest"]] = (found["mediaType"], text)
    registry.manifests["app", "sha256-" + name[7:]] = (registry.manifests["app", "sha256-" + name[7:]][0], json.dumps(index).encode())


def wrong_member(data):
    """One member a byte longer, the next one a byte shorter."""
    (a, r), (b, s) = struct.unpack_from("<II", data, 16), struct.unpack_from("<II", data, 24)
    return data[:16] + struct.pack("<IIII", a + 1, r, b - 1, s) + data[32:]


def moved_tar(data):
    """The same of the tar: the first member claims bytes of the second one."""
    (a, r), (b, s) = struct.unpack_from("<II", data, 16), struct.unpack_from("<II", data, 24)
    return data[:16] + struct.pack("<IIII", a, r + 512, b, s - 512) + data[32:]


@pytest.mark.parametrize("change, why", [
    (lambda d: b"nothing", "wrong magic number"), (lambda d: d[:200], ""), (lambda d: d[:8] + b"\xff" * 8 + d[16:], "more than"),
    (lambda d: d[:16] + struct.pack("<I", 7) + d[20:], "one of another blob"), (lambda d: d[:-40] + bytes(40), "checksum"), (moved_tar, ""), (wrong_member, "")])
def test_a_tree_that_is_wrong_costs_its_bytes(change, why, registry, tmp_path):
    pull(tmp_path / "node", f"docker://{registry.host}/app:v1")
    forge(registry, change)
    second = pull(tmp_path / "node", f"docker://{registry.host}/app:v2")
    assert second["layersByFiles"] == 0 and "cannot be made from parts" in second["said"] and why in second["said"], second["said"]
    assert dormouse("check", "--store", tmp_path / "node").returncode == 0


def test_a_registry_without_ranges_gives_the_blob(registry, tmp_path):
    pull(tmp_path / "node", f"docker://{registry.host}/app:v1")
    registry.knows_ranges = False
    assert pull(tmp_path / "node", f"docker://{registry.host}/app:v2")["layersByFiles"] == 0


def test_an_update_has_a_tree_of_its_delta(registry):
    refactor_update = ("refactor", f"docker://{registry.host}/app:v3", "--update", "v1", "--to", "source", "--force")
    dormouse(*refactor_update)
    name, image = refactored(registry, "v3")
    (tree,) = attached(registry, name)["layers"]
    assert tree["annotations"][OF] == json.loads(registry.blobs[image["config"]["digest"]])["rootfs"]["diff_ids"][-1]


@pytest.mark.skipif(not REGISTRY, reason="no docker-registry here")
def test_trees_in_docker_registry_as_well(layout, tmp_path):
    with real(tmp_path) as host:
        for tag, repository in (("v1", "app"), ("v2", "app"), ("db", "db")):
            dormouse("push", f"oci:{layout.directory}:{tag}", f"docker://{host}/{repository}:{tag}")
        for tag in ("v1", "v2"):
            refactor(host, tag)
        pull(tmp_path / "node", f"docker://{host}/app:v1")
        second = pull(tmp_path / "node", f"docker://{host}/app:v2")
    assert second["layersByFiles"] == 1 and second["bytes"] < (8 << 20) + 100_000
