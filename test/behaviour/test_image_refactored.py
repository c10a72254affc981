# SPDX-License-Identifier: Apache-2.0
"""dormouse image pull: the refactored form of an image that a tag names, and what is not taken for one."""
import gzip
import json
import os
import subprocess

import pytest

from conftest import BUILD, DEADLINE_S, wait_for
from image_kit import MANIFEST, Layout, digest, layer
from registry_kit import answer, fake
from serve_kit import serve
from test_image_refactor import BASE, OPTIONS, version

NAMES = (("shop/app", "v1"), ("shop/db", "v2"))


def run(*args):
    return subprocess.run([BUILD / "dormouse", "image", *map(str, args)], capture_output=True, text=True, timeout=DEADLINE_S)


def image(*args, status=0):
    done = run(*args)
    assert done.returncode == status, (done.stdout, done.stderr)
    return json.loads(done.stdout)


@pytest.fixture
def registry(tmp_path):
    layout = Layout(tmp_path / "layout")
    layout.image("v1", [BASE, version(1, 1600000000)])
    layout.image("v2", [BASE, version(2, 1700000000)])
    with fake() as server:
        for repository, name in NAMES:
            server.add_layout(layout, repository, name)
        image("refactor", *(f"docker://{server.host}/{r}:{t}" for r, t in NAMES), "--to", "source", *OPTIONS, "-o", "json")
        server.seen.clear()
        yield server


def pull(tmp_path, registry, reference, *more, store="store"):
    return image("pull", f"{registry.host}/{reference}", "--store", tmp_path / store, "-o", "json", *more)


def named(registry, repository, name):
    data = registry.manifests[repository, name][1]
    return digest(data), json.loads(data)


def index_of(registry, repository, original):
    return json.loads(registry.manifests[repository, "sha256-" + original[7:]][1])


def attached(registry, repository, name):
    original, doc = named(registry, repository, name)
    (found,) = index_of(registry, repository, original)["manifests"]
    return original, found["digest"]


def blobs_read(registry):
    return {p.rsplit("/", 1)[1] for p in registry.paths("GET") if "/blobs/" in p}


def test_a_tag_gives_its_refactored_form_whose_layers_are_fetched_once(tmp_path, registry):
    original, refactored = attached(registry, "shop/app", "v1")
    found = pull(tmp_path, registry, "shop/app:v1")
    assert (found["digest"], found["original"], found["name"]) == (refactored, original, f"{registry.host}/shop/app:v1")
    old, new = named(registry, "shop/app", original)[1], named(registry, "shop/app", refactored)[1]
    assert blobs_read(registry) >= {l["digest"] for l in new["layers"]} and not blobs_read(registry) & {l["digest"] for l in old["layers"]}
    registry.seen.clear()
    second = pull(tmp_path, registry, "shop/db:v2")
    assert second["layersPresent"] == second["layers"] - 1 and len(blobs_read(registry)) == 3     # two configurations, its own layer


def test_the_original_is_had_by_digest_and_by_option(tmp_path, registry):
    original, _ = attached(registry, "shop/app", "v1")
    for reference, more in ((f"shop/app@{original}", ()), ("shop/app:v1", ("--original",))):
        found = pull(tmp_path, registry, reference, *more, store=f"store{len(more)}")
        assert found["digest"] == original and "original" not in found
    assert not [p for p in registry.paths() if "/referrers/" in p]


def test_a_refactored_form_is_pinned_by_its_own_digest(tmp_path, registry):
    """Not by the digest of the image: that it has the same files is said by those who push, and not by that digest."""
    original, refactored = attached(registry, "shop/app", "v1")
    reported = pull(tmp_path, registry, "shop/app:v1", store="told")
    assert (reported["digest"], reported["original"]) == (refactored, original)
    found = pull(tmp_path, registry, f"shop/app@{reported['digest']}", store="pinned")
    assert found["digest"] == refactored and "original" not in found and found["layersPresent"] == 0
    again = pull(tmp_path, registry, f"shop/app@{reported['digest']}", store="told")
    assert again["layersPresent"] == again["layers"] and again["bytes"] == 0


def test_a_store_that_has_the_original_keeps_it(tmp_path, registry):
    original, _ = attached(registry, "shop/app", "v1")
    pull(tmp_path, registry, "shop/app:v1", "--original")
    assert pull(tmp_path, registry, "shop/app:v1")["digest"] == original


def attach(registry, repository, original, manifest, config, is_derived=False):
    """A manifest of a stranger, the last of those that are attached. is_derived: it has the annotations of another one."""
    data = json.dumps(config).encode()
    registry.blob(data)
    manifest["config"] |= {"digest": digest(data), "size": len(data)}
    if "annotations" in manifest and not is_derived:
        manifest["annotations"]["image.dormouse.dev/config"] = digest(data)
    text = json.dumps(manifest).encode()
    registry.manifests[repository, digest(text)] = (MANIFEST, text)
    index = index_of(registry, repository, original)
    index["manifests"].append(index["manifests"][-1] | {"digest": digest(text), "size": len(text)})
    media_type, _ = registry.manifests[repository, "sha256-" + original[7:]]
    registry.manifests[repository, "sha256-" + original[7:]] = (media_type, json.dumps(index).encode())


@pytest.mark.parametrize("what", ["environment", "user", "annotation", "subject", "layers", "no manifest", "derived"])
def test_what_is_attached_but_not_the_same_is_not_taken(tmp_path, registry, what):
    original, refactored = attached(registry, "shop/app", "v1")
    _, manifest = named(registry, "shop/app", refactored)
    config = json.loads(registry.blobs[manifest["config"]["digest"]])
    if what == "environment":
        config["config"] = {"Env": ["LD_PRELOAD=/tmp/x.so"]}
    elif what == "user":
        config["config"] = {**config.get("config", {}), "User": "root"}
    elif what == "annotation":
        manifest["annotations"]["image.dormouse.dev/source"] = digest(b"another")
    elif what == "subject":
        manifest["subject"]["digest"] = digest(b"another")
    elif what == "layers":
        manifest["layers"] = manifest["layers"][:1]
    elif what == "no manifest":
        manifest = {"config": manifest["config"]}
    elif what == "derived":     # FROM the refactored form, without another program or environment
        add_layer(registry, manifest, config)
    attach(registry, "shop/app", original, manifest, config, is_derived=what == "derived")
    assert pull(tmp_path, registry, "shop/app:v1")["digest"] == refactored


def add_layer(registry, manifest, config):
    added = gzip.compress(layer([("own", "f", b"own" * 1000)]), mtime=0)
    registry.blob(added)
    manifest["layers"].append(manifest["layers"][-1] | {"digest": digest(added), "size": len(added)})
    config["rootfs"]["diff_ids"].append(digest(gzip.decompress(added)))


def test_what_was_built_from_a_refactored_form_is_an_image_of_its_own(tmp_path, registry):
    """Builders copy annotations of the image that they start FROM: refactored, it is attached to itself, and not to that one's original."""
    original, refactored = attached(registry, "shop/app", "v1")
    _, manifest = named(registry, "shop/app", refactored)
    config = json.loads(registry.blobs[manifest["config"]["digest"]])
    add_layer(registry, manifest, config)
    data = json.dumps(config).encode()
    registry.blob(data)
    del manifest["subject"]
    manifest["config"] |= {"digest": digest(data), "size": len(data)}
    text = json.dumps(manifest).encode()
    for name in ("own", digest(text)):
        registry.manifests["shop/app", name] = (MANIFEST, text)
    image("refactor", *(f"docker://{registry.host}/{n}" for n in ("shop/app:own", "shop/db:v2")), "--to", "source", *OPTIONS, "-o", "json")
    (found,) = index_of(registry, "shop/app", digest(text))["manifests"]
    doc = named(registry, "shop/app", found["digest"])[1]
    assert doc["annotations"]["image.dormouse.dev/source"] == doc["subject"]["digest"] == digest(text)
    assert [m["digest"] for m in index_of(registry, "shop/app", original)["manifests"]] == [refactored]
    assert pull(tmp_path, registry, "shop/app:own")["original"] == digest(text)


@pytest.mark.parametrize("what", ["missing", "other bytes", "refused"])
def test_a_refactored_form_that_lacks_a_layer_leaves_the_original(tmp_path, registry, what):
    original, refactored = attached(registry, "shop/app", "v1")
    lost = named(registry, "shop/app", refactored)[1]["layers"][-1]["digest"]
    if what == "missing":
        del registry.blobs[lost]
    elif what == "other bytes":
        registry.blobs[lost] = registry.blobs[lost][:-1] + b"?"
    else:
        registry.faults.append(("GET", lost, answer(403, "DENIED")))
    done = run("pull", f"{registry.host}/shop/app:v1", "--store", tmp_path / "store", "-o", "json")
    found = json.loads(done.stdout)
    assert done.returncode == 0 and found["digest"] == original and "original" not in found, done.stderr
    assert "warning: the attached refactored form" in done.stderr and (what == "other bytes" or lost[7:19] in done.stderr), done.stderr
    image("check", "--store", tmp_path / "store", "-o", "json")


def test_referrers_that_cannot_be_read_leave_the_original(tmp_path, registry):
    original, refactored = attached(registry, "shop/app", "v1")
    key = "shop/app", "sha256-" + original[7:]
    registry.manifests[key] = (registry.manifests[key][0], b"{")
    assert pull(tmp_path, registry, "shop/app:v1")["digest"] == original


def test_the_environment_turns_it_off(tmp_path, registry, monkeypatch):
    original, refactored = attached(registry, "shop/app", "v1")
    monkeypatch.setenv("DORMOUSE_IMAGE_ORIGINAL", "1")
    assert pull(tmp_path, registry, "shop/app:v1")["digest"] == original
    monkeypatch.setenv("DORMOUSE_IMAGE_ORIGINAL", "0")
    assert pull(tmp_path, registry, "shop/app:v1", store="other")["digest"] == refactored


@pytest.fixture
def target(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("mounting needs root")
    made = tmp_path / "mnt"
    made.mkdir()
    yield made
    for at in (made, *(tmp_path / "data").glob("mounts/*/lower")):
        if os.path.ismount(at):
            subprocess.run(["umount", "-l", at], check=True)


def test_mounts_through_the_store_take_it_and_others_what_is_named(tmp_path, registry, target):
    """Only what the store keeps can be shared, so that a copy has nothing of other layers."""
    original, refactored = attached(registry, "shop/app", "v1")
    layers = {d: {l["digest"] for l in named(registry, "shop/app", d)[1]["layers"]} for d in (original, refactored)}

    def mounted(reference, *more, data="data"):
        registry.seen.clear()
        done = image("mount", f"docker://{registry.host}/{reference}", target, "--no-sync", "--data-dir", tmp_path / data, "-o", "json", *more)
        assert (target / "app/run").read_bytes() == b"#!1\n" * 40
        subprocess.run([BUILD / "dormouse", "image", "umount", target, "--data-dir", tmp_path / data], check=True, timeout=DEADLINE_S)
        return done["fromStore"], [d for d in layers if layers[d] <= blobs_read(registry)]

    if not mounted("shop/app:v1", data="probe")[0]:
        pytest.skip("no mounts from the store here")
    assert mounted("shop/app:v1") == (True, [refactored])
    assert mounted("shop/app:v1", "--original", data="original") == (True, [original])
    assert mounted(f"shop/app@{original}", data="pinned") == (True, [original])
    assert mounted("shop/app:v1", "--sink", "dirs", data="copy") == (False, [original])


def test_a_command_beside_the_mirror_does_not_change_what_its_clients_get(tmp_path, registry):
    """The tag moves, and 'image pull' takes the refactored form of the new image before the mirror looks at the registry again."""
    before, _ = attached(registry, "shop/app", "v1")
    layout = Layout(tmp_path / "new")
    for name, n in (("v1", 7), ("other", 8)):
        layout.image(name, [BASE, version(n, 1800000000)])
    with serve(tmp_path / "store", "--upstream", registry.host) as s:
        def tag():
            return s.get(f"/v2/shop/app/manifests/v1?ns={registry.host}")[1]["Docker-Content-Digest"]

        assert tag() == before
        wait_for(lambda: b"dormouse_image_pulls_total 1\n" in s.get("/metrics")[2], "it is in the store")
        registry.add_layout(layout, "shop/app", "v1")
        registry.add_layout(layout, "shop/app", "other")
        image("refactor", *(f"docker://{registry.host}/shop/app:{t}" for t in ("v1", "other")), "--to", "source", *OPTIONS, "-o", "json")
        moved, refactored = attached(registry, "shop/app", "v1")
        assert tag() == before                                              # for a minute
        assert pull(tmp_path, registry, "shop/app:v1")["digest"] == refactored
        assert tag() == moved


def test_clients_of_the_mirror_get_what_the_registry_names(tmp_path, registry):
    """Also where 'image pull' took the refactored form under that name before."""
    original, refactored = attached(registry, "shop/app", "v1")
    pull(tmp_path, registry, "shop/app:v1", "--form", "both")
    with serve(tmp_path / "store") as s:                                        # no registry to ask: what is under the name
        assert s.get(f"/v2/shop/app/manifests/v1?ns={registry.host}")[1]["Docker-Content-Digest"] == refactored
    with serve(tmp_path / "store", "--upstream", registry.host) as s:
        for name in ("v1", original):
            status, headers, body = s.get(f"/v2/shop/app/manifests/{name}?ns={registry.host}")
            assert (status, headers["Docker-Content-Digest"], digest(body)) == (200, original, original)
        assert s.get(f"/v2/shop/app/blobs/{json.loads(body)['layers'][-1]['digest']}?ns={registry.host}")[0] == 200
