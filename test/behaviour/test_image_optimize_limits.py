# SPDX-License-Identifier: Apache-2.0
"""dormouse image optimize: signals, tags that move during a run, leases that are lost, what lies in registries besides images, registries that are away."""
import json
import os
import pathlib
import resource
import signal
import subprocess
import threading

import pytest

from conftest import DEADLINE_S, wait_for
from image_kit import MANIFEST, digest, layer
from registry_kit import answer
from test_image_optimize import LEASE, REPOSITORIES, Optimizer, attached, kinds, layout, registry, tag  # noqa: F401
from test_image_refactor import BASE, NOISE, version

pytestmark = pytest.mark.long


class Held:
    """A request that waits for release()."""

    def __init__(self, registry, method, path, skip=0):
        self.reached, self.released = threading.Event(), threading.Event()
        registry.faults += [(method, path, lambda h: None)] * skip + [(method, path, self.hold)]

    def hold(self, handler):
        self.reached.set()
        self.released.wait(DEADLINE_S)

    def wait(self):
        assert self.reached.wait(DEADLINE_S)

    def release(self):
        self.released.set()


def lines(path):
    return [line.split(" ", 2)[1] for line in path.read_text().splitlines() if line[:2] == "20"]


def put_manifest(registry, repository, name, doc, media_type=MANIFEST):
    data = json.dumps(doc).encode()
    for key in (name, digest(data)):
        registry.manifests[repository, key] = (media_type, data)


def descriptor(registry, data, media_type):
    return {"mediaType": media_type, "digest": digest(registry.blob(data)), "size": len(data)}


# ---- signals

def is_signalled(pid):
    """Does a signal wait for being read?"""
    with open(f"/proc/{pid}/status") as f:
        return any(int(line.split()[1], 16) for line in f if line.startswith("ShdPnd:"))


def test_a_hangup_during_a_run_lets_it_end_and_then_looks(tmp_path, registry):
    o = Optimizer(tmp_path, "--registry", registry.host, "--watch", "1h")
    held = Held(registry, "POST", "/v2/shop/db/blobs/uploads/")
    with o.running(tmp_path / "log") as process:
        held.wait()
        process.send_signal(signal.SIGHUP)
        registry.seen.clear()
        held.release()
        wait_for(lambda: "attached" in lines(tmp_path / "log"), "the run ends")
        wait_for(lambda: "/v2/_catalog?n=1000" in registry.paths("GET"), "another look")
        assert "failed" not in lines(tmp_path / "log") and process.poll() is None


def test_a_single_run_that_is_ended_says_so(tmp_path, registry):
    o = Optimizer(tmp_path, "--registry", registry.host)
    held = Held(registry, "POST", "/v2/shop/db/blobs/uploads/")
    with o.running(tmp_path / "log", "--once") as process:
        held.wait()
        process.terminate()
        assert process.wait(DEADLINE_S) == 1
        held.release()
    assert "ended by a signal" in (tmp_path / "log").read_text() and not attached(registry)


def test_a_look_ends_between_two_requests(tmp_path, registry):
    o = Optimizer(tmp_path, f"{registry.host}/shop/app:v1", f"{registry.host}/shop/db:v2")
    held = Held(registry, "HEAD", "/v2/shop/app/manifests/v1")
    with o.running(tmp_path / "log") as process:
        held.wait()
        process.terminate()
        wait_for(lambda: is_signalled(process.pid), "the signal")
        held.release()
        assert process.wait(DEADLINE_S) == 0
    assert not [p for p in registry.paths() if "/shop/db/" in p]


# ---- tags that move

def test_a_tag_that_moves_after_it_was_replaced_begins_another_run(tmp_path, registry, layout):
    o = Optimizer(tmp_path, "--registry", registry.host, "--mode", "replace")
    held = Held(registry, "PUT", "/v2/shop/db/manifests/v2")      # the tag of app has moved by then
    registry.add_layout(layout, "other/new", "v3")
    new = registry.manifests.pop(("other/new", "v3"))
    registry.manifests = {k: v for k, v in registry.manifests.items() if k[0] != "other/new"}
    with o.running(tmp_path / "log", "--once") as process:
        held.wait()
        for name in ("v1", digest(new[1])):
            registry.manifests["shop/app", name] = new            # a person pushes
        held.release()
        assert process.wait(DEADLINE_S) == 0, (tmp_path / "log").read_text()
    assert tag(registry, "shop/app", "v1") == new[1]
    assert kinds(o.once())[:2] == ["working", "refactored"]
    assert tag(registry, "shop/app", "v1") != new[1] and o.once() == []


def test_a_tag_that_moves_before_it_is_replaced_stays(tmp_path, registry, layout):
    o = Optimizer(tmp_path, "--registry", registry.host, "--mode", "replace")
    held = Held(registry, "PUT", "/v2/shop/app/manifests/sha256")
    registry.add_layout(layout, "shop/app", "v3")
    new = registry.manifests.pop(("shop/app", "v3"))
    with o.running(tmp_path / "log", "--once") as process:
        held.wait()
        registry.manifests["shop/app", "v1"] = new
        held.release()
        assert process.wait(DEADLINE_S) == 1
    assert tag(registry, "shop/app", "v1") == new[1] and "does not name the image that was read any more" in (tmp_path / "log").read_text()
    assert "refactored" in kinds(o.once())


def test_images_that_go_back_to_their_sources_are_replaced_again(tmp_path, registry):
    o = Optimizer(tmp_path, "--registry", registry.host, "--mode", "replace")
    before = dict(registry.manifests)
    o.once()
    registry.manifests.update(before)
    assert "refactored" in kinds(o.once())


def config_of(registry, manifest):
    return json.loads(registry.blobs[manifest["config"]["digest"]])


def test_images_whose_layers_stay_equal_stay_as_they_are(tmp_path, registry, layout):
    o = Optimizer(tmp_path, "--registry", registry.host, "--mode", "replace")
    o.once()
    before = {k: v for k, v in registry.manifests.items() if k[1] != LEASE}
    for n in (1, 2):        # they share with each other, and with nothing else
        layout.image(f"new{n}", [layer([("etc", "d", ""), ("etc/words", "f", NOISE[:60000][::-1]), ("etc/own", "f", b"%d" % n)])])
        registry.add_layout(layout, f"shop/new{n}", f"new{n}")
    found = o.once()
    assert [r for k, r in found if k == "refactored"][0].startswith("images=4 ") and kinds(found).count("moved") == kinds(found).count("attached") == 2
    assert {k: registry.manifests[k] for k in before} == before
    assert len([n for r, n in registry.manifests if r in REPOSITORIES and n.startswith("sha256-")]) == 2
    assert o.once() == []


def test_an_image_that_is_replaced_twice_stays_with_its_original(tmp_path, registry, layout):
    original = digest(tag(registry, "shop/app", "v1"))
    o = Optimizer(tmp_path, "--registry", registry.host, "--mode", "replace")
    o.once()
    first = json.loads(tag(registry, "shop/app", "v1"))
    registry.add_layout(layout, "shop/third", "v3")
    o.once()
    second = json.loads(tag(registry, "shop/app", "v1"))
    assert first["layers"] != second["layers"]
    for doc in (first, second):
        history = config_of(registry, doc)["history"]
        assert doc["annotations"]["image.dormouse.dev/source"] == doc["subject"]["digest"] == original
        assert len([s for s in history if not s.get("empty_layer")]) == len(doc["layers"])
        assert len([s for s in history if s.get("created_by") == "dormouse image refactor"]) == len(doc["layers"])
    assert [n for r, n in registry.manifests if r == "shop/app" and n.startswith("sha256-")] == ["sha256-" + original[7:]]


def test_replaced_images_of_two_namespaces_rest(tmp_path, registry, layout):
    for repository, name in (("bank/app", "v1"), ("bank/db", "v2")):
        registry.add_layout(layout, repository, name)
    o = Optimizer(tmp_path, "--registry", registry.host, "--mode", "replace")
    assert kinds(o.once()).count("refactored") == 2
    assert o.once() == []


def test_a_tag_of_several_platforms_stays_and_does_not_stop_the_others(tmp_path, registry):
    media_type, data = registry.manifests["shop/db", "v2"]
    index = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json",
             "manifests": [{"mediaType": media_type, "digest": digest(data), "size": len(data), "platform": {"os": "linux", "architecture": "amd64"}}]}
    put_manifest(registry, "shop/db", "v2", index, index["mediaType"])
    old = tag(registry, "shop/app", "v1")
    o = Optimizer(tmp_path, "--registry", registry.host, "--mode", "replace", "--platform", "linux/amd64")
    found = o.once()
    assert kinds(found).count("moved") == 1 and attached(registry) == set(REPOSITORIES), (found, o.errors)
    assert json.loads(tag(registry, "shop/db", "v2")) == index and tag(registry, "shop/app", "v1") != old
    assert o.once() == []


# ---- leases

def lease(registry, holder):
    put_manifest(registry, "shop/app", LEASE, {"schemaVersion": 2, "mediaType": MANIFEST, "annotations": {
        "image.dormouse.dev/holder": holder, "image.dormouse.dev/lease-ms": "60000"}})


def test_a_lease_that_another_one_took_ends_the_run(tmp_path, registry):
    o = Optimizer(tmp_path, "--registry", registry.host, "--mode", "replace")
    held = Held(registry, "POST", "/v2/shop/db/blobs/uploads/")
    before = {r: tag(registry, r, t) for r, t in zip(REPOSITORIES, ("v1", "v2"))}
    with o.running(tmp_path / "log", "--once") as process:
        held.wait()

        def is_over():
            lease(registry, "another")      # again: a renewal may have looked before it and written after it
            return process.poll() is not None

        wait_for(is_over, "the run ends")
        assert process.returncode == 1
        held.release()
    assert "held by another optimizer" in (tmp_path / "log").read_text()
    assert {r: tag(registry, r, t) for r, t in zip(REPOSITORIES, ("v1", "v2"))} == before
    assert "another" in tag(registry, "shop/app", LEASE).decode()     # it is not given back by the one that lost it


def test_a_renewal_that_fails_once_does_not_end_the_run(tmp_path, registry):
    o = Optimizer(tmp_path, "--registry", registry.host)
    held = Held(registry, "POST", "/v2/shop/db/blobs/uploads/")
    with o.running(tmp_path / "log", "--once", "--lease", "24s") as process:
        held.wait()
        registry.faults.append(("GET", f"/manifests/{LEASE}", answer(403, "DENIED")))
        wait_for(lambda: not registry.faults, "a renewal")
        held.release()
        assert process.wait(DEADLINE_S) == 0
    assert attached(registry) == set(REPOSITORIES)


def test_a_lease_longer_than_others_would_wait_is_refused(tmp_path, registry):
    o = Optimizer(tmp_path, "--registry", registry.host)
    o.once("--lease", "2h", status=2)
    assert "60 min" in o.errors


# ---- what a killed run leaves

def test_unfinished_files_of_the_state_are_removed(tmp_path, registry):
    o = Optimizer(tmp_path, "--registry", registry.host)
    o.once()
    left = [tmp_path / "state" / n for n in (".state.json.0123456789abcdef.tmp", ".times.0123456789abcdef.tmp", "indexes/.ab.0123456789abcdef.tmp")]
    for path in left:
        path.write_bytes(b"half")
    o.once()
    assert not [p for p in left if p.exists()] and (tmp_path / "state/times").exists() and len(list((tmp_path / "state/indexes").iterdir())) == 3


# ---- what lies in registries

def test_what_is_no_image_is_ignored_and_said_once(tmp_path, registry):
    text = b'{"critical": {}}'
    config = {"architecture": "", "os": "", "config": {}, "rootfs": {"type": "layers", "diff_ids": [digest(text)]}}
    put_manifest(registry, "shop/app", "sha256-aa.sig", {
        "schemaVersion": 2, "mediaType": MANIFEST, "config": descriptor(registry, json.dumps(config).encode(), "application/vnd.oci.image.config.v1+json"),
        "layers": [descriptor(registry, text, "application/vnd.dev.cosign.simplesigning.v1+json")]})
    put_manifest(registry, "shop/chart", "1.0", {
        "schemaVersion": 2, "mediaType": MANIFEST, "config": descriptor(registry, b'{"name": "chart"}', "application/vnd.cncf.helm.config.v1+json"),
        "layers": [descriptor(registry, b"chart", "application/vnd.cncf.helm.chart.content.v1.tar+gzip")]})
    index = "application/vnd.oci.image.index.v1+json"
    put_manifest(registry, "shop/elsewhere", "v1", {"schemaVersion": 2, "mediaType": index, "manifests": [
        {"mediaType": MANIFEST, "digest": digest(b"x"), "size": 1, "platform": {"os": "plan9", "architecture": "mips"}}]}, index)
    o = Optimizer(tmp_path, "--registry", registry.host)
    found = o.once()
    ignored = [r for k, r in found if k == "ignored"]
    assert len(ignored) == 3 and "simplesigning" in ignored[0] and "none for" in ignored[2], found
    assert "refactored" in kinds(found) and attached(registry) == set(REPOSITORIES)
    registry.seen.clear()
    assert o.once() == [] and not [p for p in registry.paths("GET") if "/manifests/" in p]


# ---- groups that fail

def test_a_group_that_fails_does_not_hold_up_the_others(tmp_path, registry, layout):
    for repository, name in (("bad/app", "v1"), ("bad/db", "v2")):
        registry.add_layout(layout, repository, name)
    registry.faults += [(method, "/v2/bad/", answer(403, "DENIED")) for method in ("POST", "PUT")] * 40
    o = Optimizer(tmp_path, "--registry", registry.host, "--watch", "100ms")
    log = tmp_path / "log"
    with o.running(log) as process:
        wait_for(lambda: "failed" in lines(log) and lines(log).count("attached") == 2, "one group fails, one is done")
        registry.add_layout(layout, "shop/third", "v3")
        wait_for(lambda: lines(log).count("attached") == 5, "the new image is worked on")
        assert process.poll() is None
    assert "bad/app:v1" in next(line for line in log.read_text().splitlines() if " failed " in line)
    assert attached(registry) == {"shop/app", "shop/db", "shop/third"}


# ---- what is wrong from the beginning

@pytest.mark.parametrize("words", [
    ("--mode", "foo"), ("--mtime", "foo"), ("--link", "foo"), ("--proof", "foo"), ("--layer-threshold", "abc"), ("--max-layers", "1"),
    ("--redundancy-threshold", "zz"), ("--gain-threshold", "zz"), ("--threads", "0"), ("--registry", "a/b"), ("--registry", "plain"), ("--watch", "0s"),
    ("--news", "ftp://x"), ("--news", "/nonexistent/news"), ("shop/App:v1",), ("example.com/a@sha256:" + "0" * 64,)], ids="=".join)
def test_wrong_words_end_it_at_once(tmp_path, registry, words):
    o = Optimizer(tmp_path, "--registry", registry.host)
    assert o.once(*words, status=2) == [] and words[-1] in o.errors or words == ("--watch", "0s")
    assert not registry.seen and not (tmp_path / "state").exists()


def test_images_of_a_configuration_are_texts(tmp_path, registry):
    file = tmp_path / "optimizer.yaml"
    for images in ("5", "[5]", "true", "{a: b}"):
        file.write_text(f"registry: {registry.host}\nimages: {images}\n")
        Optimizer(tmp_path).once("--config", str(file), status=2)
    assert not registry.seen


def test_a_repository_that_does_not_exist_is_trouble(tmp_path, registry):
    o = Optimizer(tmp_path, f"{registry.host}/shop/app", f"{registry.host}/shop/db", f"{registry.host}/shop/typo")
    found = o.once(status=1)
    assert "shop/typo" in dict(found)["trouble"] and attached(registry) == set(REPOSITORIES)


@pytest.mark.parametrize("size", ["64", "2"])
def test_an_image_that_cannot_be_read_is_left_out(tmp_path, registry, layout, size):
    layout.image("broken", [layer([("x", "f", NOISE[:4000])])])
    doc = registry.add_layout(layout, "shop/broken", "broken")
    registry.blobs[doc["layers"][0]["digest"]] = b"x" * doc["layers"][0]["size"]
    o = Optimizer(tmp_path, "--registry", registry.host, "--group-size", size)
    found = o.once()
    assert "refactored" in kinds(found) and attached(registry) == set(REPOSITORIES), (found, o.errors)
    assert f"shop/broken:broken' is left out: " in o.errors
    assert o.once() == [] and o.errors == ""
    registry.seen.clear()
    assert o.once("--period", "1ms") == [] and "is left out: " in o.errors
    assert {p.split("/")[-1] for p in registry.paths("GET") if "/blobs/" in p} == {doc["config"]["digest"], doc["layers"][0]["digest"]}


def test_an_image_that_was_left_out_is_tried_again(tmp_path, registry, layout):
    doc = registry.add_layout(layout, "shop/late", "v2")
    lost = {d["digest"]: registry.blobs[d["digest"]] for d in doc["layers"][1:]}
    layout.image("v4", [BASE, version(4, 1600000000)])
    registry.add_layout(layout, "shop/app", "v4")
    del registry.manifests["shop/db", "v2"]
    registry.blobs.update({d: b"x" * len(b) for d, b in lost.items()})
    o = Optimizer(tmp_path, "--registry", registry.host)
    assert "shop/late" in dict(o.once())["unreadable"] and "shop/late" not in attached(registry)
    registry.blobs.update(lost)
    assert o.once() == []
    assert "refactored" in kinds(o.once("--period", "1ms")) and "shop/late" in attached(registry)
    assert o.once("--period", "1ms") == []


def test_a_layer_whose_reader_is_killed_stops_no_other_image(tmp_path, registry, layout):
    layout.image("heavy", [layer([("x", "f", NOISE[:150000])])])
    doc = registry.add_layout(layout, "shop/heavy", "heavy")

    def kill_its_reader(h):
        data = registry.blobs[doc["layers"][0]["digest"]]
        h.send_response(200)
        h.send_header("Content-Length", str(len(data)))
        h.end_headers()
        h.wfile.write(data[:-100])
        h.wfile.flush()
        (reader,) = wait_for(lambda: readers_below(os.getpid()), "a reader of layers")
        os.kill(reader, signal.SIGKILL)
        return h.hang_up()

    registry.faults.append(("GET", f"/v2/shop/heavy/blobs/{doc['layers'][0]['digest']}", kill_its_reader))
    o = Optimizer(tmp_path, "--registry", registry.host, "--threads", "1")
    found = o.once()
    assert "shop/heavy" in dict(found)["unreadable"] and "was killed" in o.errors
    assert "refactored" in kinds(found) and attached(registry) == set(REPOSITORIES)
    assert o.once() == []
    assert "images=3" in dict(o.once("--period", "1ms"))["working"]


def test_an_image_whose_content_is_damaged_after_it_was_planned_is_left_out(tmp_path, registry, layout):
    """Indexes of its layers are kept, so that only the second reading shows it."""
    for repository, name in zip(REPOSITORIES, ("v1", "v2")):
        registry.add_layout(layout, f"other/{repository[5:]}", name)
    o = Optimizer(tmp_path, "--registry", registry.host)
    o.once()
    layout.image("v4", [BASE, version(4, 1600000000)])
    registry.add_layout(layout, "shop/app", "v4")
    damaged = registry.add_layout(layout, "shop/db", "v2")["layers"][1]["digest"]
    registry.blobs[damaged] = b"x" * len(registry.blobs[damaged])
    found = o.once()
    assert "shop/db:v2" in dict(found)["unreadable"] and "refactored" in kinds(found), (found, o.errors)
    assert o.once() == []


def readers_below(pid):
    """The processes that read layers and descend from this one."""
    parents, readers = {}, []
    for other in filter(str.isdigit, os.listdir("/proc")):
        try:
            parents[int(other)] = int(pathlib.Path(f"/proc/{other}/stat").read_text().rsplit(")", 1)[1].split()[1])
            if b"--read-layer" in pathlib.Path(f"/proc/{other}/cmdline").read_bytes().split(b"\0"):
                readers.append(int(other))
        except OSError:
            pass

    def is_below(p):
        return p == pid or (p in parents and is_below(parents[p]))

    return [r for r in readers if is_below(r)]


def test_more_tags_than_are_watched_are_the_trouble_of_their_repository(tmp_path, registry):
    many = json.dumps({"name": "shop/many", "tags": [f"t{i}" for i in range(5000)]}).encode()
    registry.faults.append(("GET", "/v2/shop/many/tags/list", lambda h: h.reply(200, many)))
    o = Optimizer(tmp_path, f"{registry.host}/shop/many", f"{registry.host}/shop/app", f"{registry.host}/shop/db")
    found = o.once(status=1)
    assert "more than 4096 images" in dict(found)["trouble"] and attached(registry) == set(REPOSITORIES)


def test_many_repositories_take_few_descriptors(tmp_path, registry, layout):
    for i in range(150):
        registry.manifests[f"r{i}/x", "v1"] = registry.manifests["shop/app", "v1"]
        registry.manifests[f"r{i}/x", digest(registry.manifests["shop/app", "v1"][1])] = registry.manifests["shop/app", "v1"]
    o = Optimizer(tmp_path, "--registry", registry.host)

    def few():
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))

    done = subprocess.run([*o.command, "--once"], capture_output=True, text=True, timeout=DEADLINE_S, env=o.env, preexec_fn=few)
    assert done.returncode == 0 and done.stdout.count(" found ") == 152, (done.stdout[-500:], done.stderr)


# ---- away

def test_a_host_that_is_away_is_asked_once_in_a_look(tmp_path, registry):
    o = Optimizer(tmp_path, *(f"{registry.host}/shop/{r}" for r in ("app:v1", "app:v3", "db:v2", "db:v4")), f"{registry.host}/shop/app")
    for repository, name in (("shop/app", "v3"), ("shop/db", "v4")):
        registry.manifests[repository, name] = registry.manifests["shop/app", "v1"]
        registry.manifests[repository, digest(registry.manifests["shop/app", "v1"][1])] = registry.manifests["shop/app", "v1"]
    o.once()
    registry.close()
    found = o.once(status=1)
    assert kinds(found) == ["trouble"], found
    assert len(json.loads((tmp_path / "state/state.json").read_text())["images"]) == 4


def test_a_repository_that_never_answers_does_not_hide_the_others(tmp_path, registry):
    registry.faults += [("GET", "/v2/shop/aaa/tags/list", lambda h: h.hang_up())] * 9
    o = Optimizer(tmp_path, *(f"{registry.host}/shop/{r}" for r in ("aaa", "app", "db")))
    found = o.once(status=1)
    assert kinds(found).count("trouble") == 1 and attached(registry) == set(REPOSITORIES), (found, o.errors)


def test_news_that_cannot_be_told_are_tried_once_in_a_look(tmp_path, registry, layout):
    o = Optimizer(tmp_path, "--registry", registry.host, "--news", str(tmp_path / "news"))
    (tmp_path / "news").symlink_to(tmp_path / "missing/news")
    o.once()
    for repository, name in zip(REPOSITORIES, ("v1", "v2")):
        registry.add_layout(layout, repository, "v3")
        registry.manifests[repository, name] = registry.manifests.pop((repository, "v3"))
    found = o.once(status=1)
    assert kinds(found).count("trouble") == 1 and "moved" not in kinds(found)
    (tmp_path / "missing").mkdir()
    assert kinds(o.once()).count("moved") == 2
