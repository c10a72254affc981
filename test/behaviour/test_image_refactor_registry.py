# SPDX-License-Identifier: Apache-2.0
"""dormouse image refactor --to docker://: into registries, judged by skopeo and Debian's docker-registry; and what registries do wrong."""
import gzip
import json
import os
import shutil
import signal
import subprocess

import pytest

from conftest import BUILD, DEADLINE_S
from image_kit import Layout, layer
from registry_kit import REGISTRY, answer, fake, real
from test_image_refactor import BASE, NOISE, OPTIONS, version

needs_real = pytest.mark.skipif(not REGISTRY or not shutil.which("skopeo"), reason="no docker-registry or skopeo here")
IMAGES = ("a/app", "b/db")


def command(scratch, *args):
    env = {k: v for k, v in os.environ.items() if "proxy" not in k.lower()} | {"HOME": "/nonexistent", "TMPDIR": str(scratch)}
    return [BUILD / "dormouse", "image", "refactor", *args, *OPTIONS, "-o", "json"], env


@pytest.fixture
def scratch(tmp_path):
    path = tmp_path / "scratch"
    path.mkdir()
    return path


@pytest.fixture
def layout(tmp_path):
    made = Layout(tmp_path / "layout")
    made.image("v1", [BASE, version(1, 1600000000)])
    made.image("v2", [BASE, version(2, 1700000000)])
    return made


@pytest.fixture
def registry(layout):
    with fake() as server:
        for repository, name in zip(IMAGES, ("v1", "v2")):
            server.add_layout(layout, repository, name)
        server.before = dict(server.manifests)
        yield server


def references(host):
    return [f"docker://{host}/{repository}:{tag}" for repository, tag in zip(IMAGES, ("v1", "v2"))]


def run(scratch, *args):
    words, env = command(scratch, *args)
    done = subprocess.run(words, capture_output=True, text=True, timeout=DEADLINE_S, env=env)
    assert not list(scratch.iterdir())
    return done


def refactor(scratch, *args):
    done = run(scratch, *args)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def fails(scratch, *args):
    done = run(scratch, *args)
    assert done.returncode == 1 and not done.stdout, (done.returncode, done.stdout)
    return done.stderr


def skopeo(*args):
    done = subprocess.run(["skopeo", "--insecure-policy", *args], capture_output=True, text=True, timeout=DEADLINE_S)
    assert done.returncode == 0, done.stderr
    return done.stdout


def push(layout, host):
    for reference, name in zip(references(host), ("v1", "v2")):
        skopeo("copy", "--dest-tls-verify=false", f"oci:{layout.directory}:{name}", reference)


def digest_of(reference):
    return json.loads(skopeo("inspect", "--tls-verify=false", reference))["Digest"]


def check_is_whole(reference, tmp_path):
    """skopeo reads all of it and compares each digest."""
    skopeo("copy", "--src-tls-verify=false", reference, f"oci:{tmp_path}/back:x")


def in_layout(scratch, layout, tmp_path, *names):
    """Digests of the same images in a layout, where umoci judges them (test_image_refactor)."""
    out = refactor(scratch, *[f"oci:{layout.directory}:{n}" for n in names], "--to", f"oci:{tmp_path}/want")
    return [i["digest"] for i in out["images"]]


# ---- a real registry

@needs_real
def test_images_are_attached_to_their_sources_and_tags_stay(scratch, tmp_path, layout):
    with real(tmp_path) as host:
        push(layout, host)
        before = [digest_of(r) for r in references(host)]
        out = refactor(scratch, *references(host), "--to", "source")
        assert [digest_of(r) for r in references(host)] == before == [i["source"] for i in out["images"]]
        assert out["layers"] and out["blobs"]["mounted"] == len(out["layers"])
        assert out["blobs"]["uploaded"] == len(out["layers"]) + 2 * 2   # shared once, then tops and configurations
        for image, reference in zip(out["images"], references(host), strict=True):
            found = json.loads(subprocess.run([BUILD / "dormouse", "image", "inspect", reference, "--referrers", "-o", "json"],
                                              capture_output=True, text=True, timeout=DEADLINE_S, check=True).stdout)
            assert [m["digest"] for m in found["manifests"]] == [image["digest"]] and "tag" not in image
            check_is_whole(f"docker://{image['repository']}@{image['digest']}", tmp_path)
        assert [i["digest"] for i in out["images"]] == in_layout(scratch, layout, tmp_path, "v1", "v2")
        again = refactor(scratch, *references(host), "--to", "source")
        assert [i["digest"] for i in again["images"]] == [i["digest"] for i in out["images"]]
        assert (again["blobs"]["uploaded"], again["blobs"]["mounted"], again["blobs"]["bytes"]) == (0, 0, 0)


@needs_real
def test_tags_move_where_asked(scratch, tmp_path, layout):
    with real(tmp_path) as host:
        push(layout, host)
        out = refactor(scratch, *references(host), "--to", "source", "--mode", "replace")
        assert [digest_of(r) for r in references(host)] == [i["digest"] for i in out["images"]]
        assert [i["tag"] for i in out["images"]] == ["v1", "v2"]
        for reference in references(host):
            check_is_whole(reference, tmp_path)


@needs_real
def test_all_images_go_into_one_repository(scratch, tmp_path, layout):
    layout.image("alone", [layer([("alone", "f", b"nobody else has it")])])
    with real(tmp_path) as host:
        push(layout, host)
        skopeo("copy", "--dest-tls-verify=false", f"oci:{layout.directory}:alone", f"docker://{host}/c/alone:1")
        sources = [*references(host), f"docker://{host}/c/alone:1"]
        out = refactor(scratch, *sources, "--to", f"docker://{host}/all", "--mode", "replace", "--name", "app", "--name", "db", "--name", "alone")
        for image, tag in zip(out["images"], ("app", "db", "alone"), strict=True):
            assert (image["repository"], image["tag"]) == (f"{host}/all", tag)
            assert digest_of(f"docker://{host}/all:{tag}") == image["digest"]
            check_is_whole(f"docker://{host}/all:{tag}", tmp_path)
        assert out["images"][2]["unchanged"] and out["images"][2]["digest"] == out["images"][2]["source"]
        files = refactor(scratch, f"oci:{layout.directory}:v1", f"oci:{layout.directory}:v2", "--to", f"docker://{host}/files", "--mode", "replace")
        assert [i["digest"] for i in files["images"]] == [i["digest"] for i in out["images"][:2]]
        assert digest_of(f"docker://{host}/files:v2") == files["images"][1]["digest"]


# ---- new versions

def layers_of(server, repository, name):
    return json.loads(server.manifests[repository, name][1])["layers"]


def blobs_read(server, since):
    return {path.rpartition("/")[2] for method, path, _ in server.seen[since:] if method == "GET" and "/blobs/sha256:" in path}


def add_third(registry, layout, repository="a/app"):
    """A version of a/app:v1 with a file that differs, one that is new, and one less."""
    new = layer([("app", "d", "", {"mtime": 1800000000}), ("app/run", "f", b"#!3\n" * 4000, {"mode": 0o755}), ("app/more", "f", NOISE[:30000]), ("old/.wh.y", "f", b"")])
    layout.image("v3", [BASE, version(1, 1600000000), new])
    registry.add_layout(layout, repository, "v3")
    return new


def test_an_update_sends_the_delta_alone(registry, layout, scratch, tmp_path):
    indexes = tmp_path / "indexes"
    indexes.mkdir()
    first = refactor(scratch, *references(registry.host), "--to", "source", "--index-dir", str(indexes))["images"][0]
    new = add_third(registry, layout)
    before = tags(registry)
    seen = refactor(scratch, f"docker://{registry.host}/a/app:v3", "--update", "v1", "--to", "source", "--index-dir", str(indexes))
    below = layers_of(registry, "a/app", first["digest"])
    *kept, delta = layers_of(registry, "a/app", seen["digest"])
    assert kept == below and delta["size"] == seen["deltaSize"] and tags(registry) == before
    assert (seen["blobs"]["uploaded"], seen["blobs"]["present"]) == (2, len(below))     # the delta and the configuration
    config = json.loads(registry.manifests["a/app", seen["digest"]][1])["config"]
    assert seen["blobs"]["bytes"] == delta["size"] + config["size"] < len(gzip.compress(new)) * 1.1 + config["size"]
    # The same version in a layout, which other tests compare with what umoci unpacks.
    out = tmp_path / "want"
    refactor(scratch, *[f"oci:{layout.directory}:{n}" for n in ("v1", "v2")], "--to", f"oci:{out}")
    assert refactor(scratch, f"oci:{layout.directory}:v3", "--update", "v1", "--to", f"oci:{out}")["digest"] == seen["digest"]
    # The next one builds on it, by its digest. Layers of which the first one kept an index are not read.
    since = len(registry.seen)
    layout.image("v4", [BASE, version(1, 1600000000), new, layer([("app/run", "f", b"4")])])
    again = refactor(scratch, f"oci:{layout.directory}:v4", "--update", seen["digest"], "--to", f"docker://{registry.host}/a/app:v4", "--mode", "replace",
                     "--index-dir", str(indexes))
    assert blobs_read(registry, since) & {d["digest"] for d in (*kept, delta)} == {delta["digest"]}
    assert layers_of(registry, "a/app", "v4")[:-1] == [*kept, delta] and again["deltas"] == 2 and again["tag"] == "v4"
    assert again["blobs"]["uploaded"] == 2


@needs_real
def test_an_update_goes_into_another_repository_and_moves_the_tag(scratch, tmp_path, layout):
    with real(tmp_path) as host:
        push(layout, host)
        refactor(scratch, *references(host), "--to", "source", "--mode", "replace")
        layout.image("v3", [BASE, version(3, 1800000000)])
        seen = refactor(scratch, f"oci:{layout.directory}:v3", "--update", f"docker://{host}/a/app:v1", "--to", f"docker://{host}/c/new:v3", "--mode", "replace")
        assert digest_of(f"docker://{host}/c/new:v3") == seen["digest"] and seen["repository"] == f"{host}/c/new"
        assert seen["blobs"]["mounted"] > 0 and seen["blobs"]["uploaded"] == 2
        check_is_whole(f"docker://{host}/c/new:v3", tmp_path)


def test_an_update_that_does_not_fit_sends_nothing(registry, layout, scratch):
    refactor(scratch, *references(registry.host), "--to", "source")
    layout.image("other", [layer([("other", "f", NOISE)])])
    registry.add_layout(layout, "a/app", "other")
    before, posted = dict(registry.manifests), registry.paths("POST")
    where = f"docker://{registry.host}/a/app:other"
    assert "no delta is written" in fails(scratch, where, "--update", "v1", "--to", "source")
    assert "'docker://" in fails(scratch, where, "--update", "v9", "--to", "source")
    assert registry.manifests == before and registry.paths("POST") == posted
    assert refactor(scratch, where, "--update", "v1", "--to", "source", "--force")["addedFileBytes"] == len(NOISE)


def test_a_tag_that_moves_during_an_update_is_left(registry, layout, scratch):
    refactor(scratch, *references(registry.host), "--to", "source")
    add_third(registry, layout)

    def move(h):
        registry.manifests["a/app", "v3"] = registry.manifests["b/db", "v2"]
    registry.faults.append(("PUT", "/a/app/blobs/uploads/", move))
    text = fails(scratch, f"docker://{registry.host}/a/app:v3", "--update", "v1", "--to", "source", "--mode", "replace")
    assert "tag 'v3' of 'a/app' does not name the image that was read any more" in text
    assert registry.manifests["a/app", "v3"] == registry.manifests["b/db", "v2"]


# ---- what goes wrong

def tags_of(manifests):
    return {key: value for key, value in manifests.items() if not key[1].startswith("sha256")}


def tags(server):
    return tags_of(server.manifests)


def test_a_tag_that_moves_meanwhile_is_left(registry, layout, scratch):
    def move(h):
        registry.manifests["a/app", "v1"] = registry.manifests["b/db", "v2"]
    registry.faults.append(("PUT", "/b/db/blobs/uploads/", move))
    text = fails(scratch, *references(registry.host), "--to", "source", "--mode", "replace")
    assert "tag 'v1' of 'a/app' does not name the image that was read any more" in text
    assert tags(registry) == {("a/app", "v1"): registry.before["b/db", "v2"], ("b/db", "v2"): registry.before["b/db", "v2"]}


def test_another_repository_gets_the_images_of_a_later_run(scratch, registry):
    words = (*references(registry.host), "--to", f"docker://{registry.host}/all", "--mode", "replace", "--name", "app", "--name", "db")
    first = refactor(scratch, *words)
    tags = {n: registry.manifests["all", n] for n in ("app", "db")}
    assert refactor(scratch, *words)["images"] == first["images"] and {n: registry.manifests["all", n] for n in tags} == tags
    refactor(scratch, *words, "--max-layers", "4", "--mtime", "exact")
    assert not any(registry.manifests["all", n] == m for n, m in tags.items())


def test_a_tag_in_use_elsewhere_is_not_taken(registry, layout, scratch):
    registry.add_layout(layout, "all", "v2")
    registry.manifests["all", "v1"] = registry.manifests["all", "v2"]
    before = dict(registry.manifests)
    text = fails(scratch, *references(registry.host), "--to", f"docker://{registry.host}/all", "--mode", "replace")
    assert "tag 'v1' of 'all' does not name" in text and registry.manifests == before and not registry.paths("POST")


def test_an_index_for_several_platforms_is_not_replaced_by_one(registry, layout, scratch):
    index = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": [
        dict(m, platform={"os": "linux", "architecture": "amd64"}) for m in layout.manifests[:1]]}
    registry.add_manifest(layout, layout.descriptor(json.dumps(index).encode(), index["mediaType"]), "a/app", "v1")
    before = tags(registry)
    words = (*references(registry.host), "--platform", "linux/amd64", "--to", "source")
    assert "an index for several platforms" in fails(scratch, *words, "--mode", "replace")
    out = refactor(scratch, *words)
    assert tags(registry) == before and out["images"][0]["source"] == layout.manifests[0]["digest"]


@pytest.mark.parametrize("method, part", [("POST", "/a/app/blobs/uploads"), ("PUT", "/blobs/uploads/"), ("PUT", "/b/db/manifests/sha256:"), ("PUT", "/manifests/v1")])
def test_a_killed_run_leaves_the_tags_and_the_next_one_finishes(registry, scratch, method, part):
    words, env = command(scratch, *references(registry.host), "--to", "source", "--mode", "replace")

    def kill(h):
        process.send_signal(signal.SIGKILL)
        process.wait(DEADLINE_S)
        return h.hang_up()
    registry.faults.append((method, part, kill))
    with subprocess.Popen(words, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        assert process.wait(DEADLINE_S) == -signal.SIGKILL
    assert not registry.faults and list(scratch.iterdir())
    assert tags(registry) == tags_of(registry.before)
    out = refactor(scratch, *references(registry.host), "--to", "source", "--mode", "replace")
    for image in out["images"]:
        repository = image["repository"].partition("/")[2]
        assert registry.manifests[repository, image["tag"]] == registry.manifests[repository, image["digest"]]


def test_a_registry_that_goes_away_is_told_and_keeps_its_tags(registry, scratch):
    registry.faults += [("PUT", "/b/db/manifests/", lambda h: h.hang_up())] * 40
    text = fails(scratch, *references(registry.host), "--to", "source", "--mode", "replace")
    assert "'b/db'" in text
    assert tags(registry) == tags_of(registry.before)


def test_it_waits_where_it_is_asked_to_and_gives_up_where_it_never_ends(registry, scratch):
    registry.faults += [(m, p, answer(429, "TOOMANYREQUESTS", Retry_After="0")) for m, p in (("HEAD", "/blobs/"), ("POST", "/uploads/"), ("PUT", "/manifests/"))]
    refactor(scratch, *references(registry.host), "--to", "source")
    assert not registry.faults
    registry.manifests, registry.blobs = dict(registry.before), {d: b for d, b in registry.blobs.items() if any(d.encode() in m for _, m in registry.before.values())}
    registry.faults += [("POST", "/uploads/", answer(429, "TOOMANYREQUESTS", Retry_After="0"))] * 40
    assert "429" in fails(scratch, *references(registry.host), "--to", "source", "--mode", "replace")
    assert tags(registry) == tags_of(registry.before)


def test_tokens_that_expire_are_fetched_again(registry, scratch):
    registry.auth = "bearer"

    def expire(h):
        registry.tokens.clear()
        return h.challenge()
    registry.faults += [("PUT", "/blobs/uploads/", expire), ("PUT", "/manifests/", expire)]
    out = refactor(scratch, *references(registry.host), "--to", "source", "--mode", "replace")
    assert not registry.faults and registry.manifests["a/app", "v1"] == registry.manifests["a/app", out["images"][0]["digest"]]


def test_one_may_read_but_not_write(registry, scratch):
    registry.faults += [("POST", "/uploads/", answer(403, "DENIED"))] * 3
    text = fails(scratch, *references(registry.host), "--to", "source", "--mode", "replace")
    assert "403" in text or "denied" in text.lower()
    assert tags(registry) == tags_of(registry.before)


@pytest.mark.parametrize("words", [("--to", "docker:x"), ("--to", "docker://x/y@sha256:" + "0" * 64), ("--to", "docker://x/y:one"), ("--to", "source", "--update", "v1"),
                                   ("--to", "source", "--name", "a", "--name", "b", "--name", "c")])
def test_words_that_are_wrong(registry, scratch, words):
    done = run(scratch, *references(registry.host), *words)
    assert done.returncode in (1, 2) and not done.stdout and registry.manifests == registry.before


def test_files_have_no_repository_to_return_to(layout, scratch):
    assert "is not from a registry" in fails(scratch, f"oci:{layout.directory}:v1", f"oci:{layout.directory}:v2", "--to", "source")
