# SPDX-License-Identifier: Apache-2.0
"""dormouse image pull and what works on the store: names, damage, a full disk, two writers, kill -9."""
import gzip
import json
import os
import pty
import random
import shutil
import signal
import subprocess
import threading

import pytest

from conftest import BUILD, DEADLINE_S, wait_for
from image_kit import Layout, digest, docker_archive, layer
from registry_kit import REGISTRY, answer, cut_after, fake, real, stall_after

BASE = layer([("etc", "d", ""), ("etc/motd", "f", os.urandom(300_000)), ("bin", "l", "usr/bin")])
OLD = layer([("app", "d", ""), ("app/run", "f", b"version 1\n")])
NEW = layer([("app", "d", ""), ("app/run", "f", b"version 2\n"), ("etc/.wh.motd", "f", b"")])


class Store:
    def __init__(self, directory):
        self.directory = directory
        self.env = {**os.environ, "DORMOUSE_IMAGE_STORE": str(directory)}

    def run(self, *args, **rest):
        return subprocess.run([BUILD / "dormouse", "image", *args], capture_output=True, text=True, env=self.env,
                              timeout=DEADLINE_S, **rest)

    def ok(self, *args):
        done = self.run(*args)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def json(self, *args):
        return json.loads(self.ok(*args, "-o", "json"))

    def names(self):
        return self.ok("ls", "-o", "name").split()

    def data(self, tar):
        return self.directory / "layers" / digest(tar)[7:] / "data.tar"


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store")


@pytest.fixture
def layout(tmp_path):
    made = Layout(tmp_path / "app")
    made.image("v1", [BASE, OLD])
    made.image("v2", [BASE, NEW])
    return made


def test_images_are_pulled_named_used_and_removed(store, layout, tmp_path):
    assert store.names() == [] and store.json("ls") == []
    got = store.json("pull", f"oci:{layout.directory}:v1")
    spans = got["spans"]
    assert [s["layer"] for s in spans] == [digest(BASE), digest(OLD)] and all(
        0 < s["beganMicroseconds"] <= s["receivedMicroseconds"] <= s["doneMicroseconds"] for s in spans)
    assert got["name"] == "app:v1" and got["digest"] == layout.manifests[0]["digest"]
    assert (got["layers"], got["layersPresent"]) == (2, 0)
    got2 = store.json("pull", f"oci:{layout.directory}:v2")
    assert got2["layersPresent"] == 1 and [s["layer"] for s in got2["spans"]] == [digest(NEW)], "spans of what was brought alone"
    docker_archive(tmp_path / "d.tar", {"other:v1": [BASE, OLD]})
    got = store.json("pull", f"docker-archive:{tmp_path}/d.tar", "--name", "docker.io/library/saved:latest")
    assert got["layersPresent"] == 2
    assert store.names() == ["app:v1", "app:v2", "docker.io/library/saved:latest"]
    assert store.data(BASE).read_bytes() == BASE
    for name in ("app:v1", got["digest"][7:19], "saved"):
        seen = store.json("inspect", name)
        assert [v["diffID"] for v in seen["layers"]] == [digest(BASE), digest(OLD)] and seen["files"] == 2
    changes = store.json("diff", "app:v1", "app:v2")["changes"]
    assert {c["path"]: c["change"] for c in changes} == {"/app/run": "content", "/etc/motd": "removed"}
    store.ok("tag", "app:v1", "app:stable")
    store.ok("rm", "app:v1", "saved", "app:v2")
    assert store.json("gc", "--dry-run")["layers"] == 1
    assert store.data(NEW).exists()
    assert store.json("gc")["layers"] == 1
    assert store.names() == ["app:stable"] and not store.data(NEW).exists()
    assert store.json("check")["damaged"] == 0
    done = store.run("rm", "app:v1")
    assert done.returncode == 1 and "no image 'app:v1'" in done.stderr
    done = store.run("inspect", "app:v1")
    assert done.stderr == "error: image 'app:v1': the store has no such image\n", "named once"


def test_a_directory_of_others_is_no_store_and_keeps_its_files(layout, tmp_path):
    theirs = Store(tmp_path / "theirs")
    files = [theirs.directory / "tmp/work/f", theirs.directory / "trash/f"]
    for f in files:
        f.parent.mkdir(parents=True)
        f.write_text("theirs")
    source = f"oci:{layout.directory}:v1"
    for words in (["pull", source], ["gc"], ["gc", "--dry-run"], ["rm", "x"], ["tag", "x", "y"], ["pin", "x"],
                  ["check", "--remove"], ["serve", "--listen", "127.0.0.1:0", "--upstream", "127.0.0.1:1"]):
        done = theirs.run(*words)
        assert done.returncode == 1 and "is no store of images" in done.stderr, (words, done.stderr)
        assert sorted(p for p in theirs.directory.rglob("*") if p.is_file()) == files, words


def test_only_what_brings_images_makes_a_store(store, layout):
    for words in (["rm", "x"], ["tag", "x", "y"], ["pin", "x"], ["unpin", "x"], ["check"], ["check", "--remove"], ["gc"], ["gc", "--dry-run"]):
        done = store.run(*words)
        assert done.returncode == 1 and done.stderr == f"error: no images are in '{store.directory}' yet; 'dormouse image pull' brings one\n", words
    assert not store.directory.exists()
    (store.directory / "lost+found").mkdir(parents=True)
    store.ok("pull", f"oci:{layout.directory}:v1")
    assert store.names() == ["app:v1"]


def test_a_form_that_is_asked_for_is_brought_for_layers_that_are_here(store, layout, tmp_path):
    source = f"oci:{layout.directory}:v1"
    blobs = store.directory / "blobs"
    store.ok("pull", source)
    assert list(blobs.iterdir()) == []
    got = store.json("pull", source, "--form", "both")
    assert got["layersPresent"] == 0 and got["bytes"] > 0 and len(list(blobs.iterdir())) == 2
    assert {digest(b.read_bytes())[7:] for b in blobs.iterdir()} == {b.name for b in blobs.iterdir()}
    assert store.json("pull", source, "--form", "both")["layersPresent"] == 2
    store.ok("pull", f"oci:{layout.directory}:v2", "--form", "cas")
    store.ok("rm", "app:v1")
    assert store.json("pull", source, "--form", "raw")["layersPresent"] == 2
    assert store.data(BASE).read_bytes() == BASE and store.json("check")["damaged"] == 0
    other = Layout(tmp_path / "other")
    other.image("v1", [BASE], compress=lambda tar: gzip.compress(tar, 1))
    done = store.run("pull", f"oci:{other.directory}:v1", "--form", "both")
    assert done.returncode == 0 and "not kept in the form asked for" in done.stderr


def test_what_is_damaged_is_found_dropped_and_pulled_again(store, layout):
    store.ok("pull", f"oci:{layout.directory}:v1")
    store.ok("pull", f"oci:{layout.directory}:v2")
    with open(store.data(BASE), "r+b") as f:
        f.seek(2000)
        f.write(b"?")
    done = store.run("check")
    assert done.returncode == 1 and f"layer       {digest(BASE)[7:]}" in done.stdout
    assert store.run("check", "--remove").returncode == 0
    assert [i["layersMissing"] for i in store.json("ls")] == [1, 1]
    store.ok("pull", f"oci:{layout.directory}:v1")
    assert store.json("check")["incomplete"] == 0
    index = store.directory / "meta/index" / digest(OLD)[7:]
    index.write_bytes(index.read_bytes()[:-9])
    done = store.run("inspect", "app:v1")
    assert done.returncode == 1 and "layer index" in done.stderr
    assert store.json("check", "--remove")["repaired"] == 1
    store.ok("inspect", "app:v1")


def test_a_second_writer_is_told_who_writes_and_may_wait(store, layout, tmp_path):
    """The first one reads its archive from a pipe that has nothing yet, with the lock held."""
    store.ok("pull", f"oci:{layout.directory}:v1")
    lock = subprocess.Popen(["flock", store.directory / "lock", "cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    lock.stdin.write(b"x\n")
    lock.stdin.flush()
    lock.stdout.read(1)
    done = store.run("pull", f"oci:{layout.directory}:v2")
    assert done.returncode == 1 and "writes the store" in done.stderr and "--wait" in done.stderr
    for words in ("rm", "app:v1"), ("tag", "app:v1", "b"), ("pin", "app:v1"), ("gc",), ("check", "--remove"):
        done = store.run(*words, "--wait", "1ms")
        assert done.returncode == 1 and "writes the store" in done.stderr and "--wait" not in done.stderr, words
    assert store.names() == ["app:v1"]
    waiting = subprocess.Popen([BUILD / "dormouse", "image", "pull", f"oci:{layout.directory}:v2", "--wait", "1m"],
                               env=store.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    lock.stdin.close()
    assert waiting.wait(DEADLINE_S) == 0
    lock.wait()
    assert store.names() == ["app:v1", "app:v2"]


def test_a_killed_pull_leaves_whole_layers_and_no_name(store, tmp_path):
    big = [layer([(f"f{i}", "f", os.urandom(8_000_000))]) for i in range(3)]
    made = Layout(tmp_path / "big")
    made.image("v1", big, compress=lambda t: t, suffix="")
    for seen in range(3):
        pull = subprocess.Popen([BUILD / "dormouse", "image", "pull", f"oci:{made.directory}:v1", "--threads", "1"],
                                env=store.env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for _ in range(1 + seen):
            pull.stderr.readline()  # a layer is done or there
        pull.send_signal(signal.SIGKILL)
        pull.wait()
        pull.stderr.close()
        if store.names():
            break
        found = store.json("check")
        assert found["damaged"] == 0 and found["layers"] >= 1
    assert store.json("pull", f"oci:{made.directory}:v1")["layersPresent"] >= 1
    assert store.names() == ["big:v1"] and store.json("check")["damaged"] == 0
    assert [p for p in (store.directory / "tmp").rglob("*") if p.is_file()] == []


def test_a_full_disk_is_a_clear_error_and_loses_nothing(layout, tmp_path):
    small = tmp_path / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1500k", "none", small], capture_output=True).returncode:
        pytest.skip("no right to mount")
    try:
        store = Store(small / "store")
        store.ok("pull", f"oci:{layout.directory}:v1")
        made = Layout(tmp_path / "big")
        made.image("v1", [layer([("f", "f", os.urandom(4_000_000))])])
        done = store.run("pull", f"oci:{made.directory}:v1")
        assert done.returncode == 1 and "No space left" in done.stderr
        assert store.names() == ["app:v1"]
        found = store.json("check")
        assert found["damaged"] == 0 and found["incomplete"] == 0 and found["layers"] == 2
        store.ok("rm", "app:v1")
        assert store.json("gc")["layers"] == 2
    finally:
        subprocess.run(["umount", small], check=True)


def test_a_quota_evicts_images_that_are_not_pinned(store, tmp_path):
    names = []
    for i in range(3):
        made = Layout(tmp_path / f"app{i}")
        made.image("v1", [layer([("f", "f", os.urandom(12_000_000))])], compress=lambda t: t, suffix="")
        names.append(f"oci:{made.directory}:v1")
    store.ok("pull", names[0], "--pin")
    store.ok("pull", names[1])
    # A pull reserves 16 MiB at a time: the third needs the room of one of the others.
    store.ok("pull", names[2], "--quota", "32Mi")
    assert {i["name"]: i["layersMissing"] for i in store.json("ls")} == {"app0:v1": 0, "app1:v1": 1, "app2:v1": 0}
    for words in (["unpack", "app1:v1", tmp_path / "out", "--rootless"], ["push", "app1:v1", "docker://127.0.0.1:1/x"]):
        done = store.run(*words)
        assert done.returncode == 1 and "not in the store any more; pull the image again" in done.stderr, done.stderr
    store.ok("pin", "app2:v1")
    done = store.run("pull", names[1], "--quota", "32Mi")
    assert done.returncode == 1 and "quota" in done.stderr and "in use" in done.stderr
    store.ok("unpin", "app2:v1")
    store.ok("pull", names[1], "--quota", "32Mi")


ROOM = ["--quota", "40Mi"]  # a pull reserves 16 MiB at a time: four layers of 7 MB, and no fifth


def big_image(directory, name):
    made = Layout(directory / name)
    tar = layer([("f", "f", os.urandom(7_000_000))])
    made.image("v1", [tar], compress=lambda t: t, suffix="")
    return f"oci:{made.directory}:v1", tar


def pull_in_turn(store, tmp_path, *options):
    """Two images twice, then four others once; each by a process of its own."""
    sources = [big_image(tmp_path, f"app{i}") for i in range(6)]
    for i in (0, 1, 0, 1, 2, 3, 4, 5):
        store.ok("pull", sources[i][0], *ROOM, *options)
    return sources


@pytest.mark.parametrize("policy, kept", [("arc", {0, 1, 4, 5}), ("lfu", {0, 1, 4, 5}), ("lru", {2, 3, 4, 5})])
def test_a_policy_says_which_layers_leave(store, tmp_path, policy, kept):
    pull_in_turn(store, tmp_path, "--policy", policy)
    assert {i["name"] for i in store.json("ls") if i["layersMissing"] == 0} == {f"app{i}:v1" for i in kept}
    assert store.json("check")["damaged"] == 0


def test_the_layers_are_listed_in_the_order_in_which_they_would_leave(store, tmp_path):
    sources = pull_in_turn(store, tmp_path)
    ids = [digest(tar) for _, tar in sources]
    assert [(v["diffID"], v["used"]) for v in store.json("ls", "--layers")] == [
        (ids[4], "once"), (ids[5], "once"), (ids[0], "often"), (ids[1], "often")]
    store.ok("pin", "app4:v1")
    store.ok("rm", "app1:v1")
    rows = store.json("ls", "--layers")
    assert [(v["diffID"], v["images"], v["used"], v["mayLeave"]) for v in rows] == [
        (ids[1], 0, "none", True), (ids[5], 1, "once", True), (ids[0], 1, "often", True), (ids[4], 1, "once", False)]
    assert "in use" in store.ok("ls", "--layers").splitlines()[-1]
    cache = store.json("gc")["cache"]
    assert [cache[k]["layers"] for k in ("once", "often", "unused", "evictedOnce")] == [2, 1, 0, 2]
    assert store.run("ls", "--policy", "lru").returncode == 2 and store.run("ls", "--layers", "--policy", "fifo").returncode == 2


def test_what_was_used_often_is_known_after_a_kill(store, tmp_path):
    sources = [big_image(tmp_path, f"app{i}") for i in range(6)]
    two = Layout(tmp_path / "two")
    two.image("v1", [layer([(f"f{i}", "f", os.urandom(7_000_000))]) for i in range(2)], compress=lambda t: t, suffix="")
    for i in (0, 1, 0, 1, 2, 3):
        store.ok("pull", sources[i][0], *ROOM)
    pull = subprocess.Popen([BUILD / "dormouse", "image", "pull", f"oci:{two.directory}:v1", "--threads", "1", *ROOM],
                            env=store.env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    pull.stderr.readline()  # one layer is there; another left for it
    pull.send_signal(signal.SIGKILL)
    pull.wait()
    pull.stderr.close()
    found = store.json("check")
    assert found["damaged"] == 0 and found["incomplete"] >= 1
    used = {v["diffID"]: v["used"] for v in store.json("ls", "--layers")}
    assert [used[digest(sources[i][1])] for i in (0, 1)] == ["often", "often"] and digest(sources[2][1]) not in used
    for i in (4, 5):
        store.ok("pull", sources[i][0], *ROOM)
    missing = {i["name"]: i["layersMissing"] for i in store.json("ls")}
    assert [missing[f"app{i}:v1"] for i in (0, 1, 4, 5)] == [0, 0, 0, 0] and store.json("check")["damaged"] == 0


def test_progress_is_lines_in_pipes_and_a_bar_on_a_terminal(store, layout):
    done = store.run("pull", f"oci:{layout.directory}:v1")
    assert [line.split()[2] for line in done.stderr.splitlines()] == ["done", "done"] and "\r" not in done.stderr
    ours, theirs = pty.openpty()
    pull = subprocess.Popen([BUILD / "dormouse", "image", "pull", f"oci:{layout.directory}:v2"], env=store.env,
                            stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    assert pull.wait(DEADLINE_S) == 0
    seen = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:
            break
        if not piece:
            break
        seen += piece
    os.close(ours)
    assert b"\r[" in seen and b"of 2 layers" in seen and b"present" in seen


def test_what_a_pull_did_not_wait_for_goes_when_the_machine_stops(store, layout):
    def machine_starts_again():
        mark = store.directory / "unsynced"
        if mark.exists():
            mark.write_text("another boot\n" + mark.read_text().split("\n", 1)[1])

    source = f"oci:{layout.directory}:v1"
    store.ok("pull", source, "--no-sync")
    names, layers = store.names(), sorted(store.ok("ls", "--layers", "-o", "name").split())
    assert names and layers
    store.ok("gc")  # waits for the disk
    machine_starts_again()
    assert sorted(store.ok("ls", "--layers", "-o", "name").split()) == layers
    shutil.rmtree(store.directory)
    store.ok("pull", source, "--no-sync")
    machine_starts_again()
    assert store.ok("ls", "--layers", "-o", "name").split() == [], "a reader removes them first"
    assert store.json("check")["damaged"] == 0
    store.ok("pull", source)
    machine_starts_again()
    assert sorted(store.ok("ls", "--layers", "-o", "name").split()) == layers and store.names() == names


def test_wrong_words_are_usage_errors(store, layout):
    for args in (["pull"], ["pull", f"oci:{layout.directory}:v1", "--form", "zip"], ["ls", "-o", "yaml"], ["rm"],
                 ["tag", "a"], ["check", "x"], ["check", "-o", "name"], ["gc", "-o", "name"]):
        assert store.run(*args).returncode == 2, args
    assert "text or json, not 'name'" in store.run("gc", "-o", "name").stderr
    done = store.run("pull", f"oci:{layout.directory}:v1", "--name", "two words")
    assert done.returncode == 1 and "blanks" in done.stderr
    done = store.run("pull", "oic:DIR:v1")
    assert done.returncode == 1 and "oci-archive:FILE" in done.stderr
    assert store.names() == []


BIG = layer([("big", "f", random.Random(2).randbytes(3_000_000))])


@pytest.fixture
def registry(layout):
    layout.image("big", [BASE, BIG, NEW, OLD])
    with fake() as server:
        server.doc = server.add_layout(layout, "a/b", "big")
        server.ref = f"{server.host}/a/b:big"
        server.big = max(server.doc["layers"], key=lambda d: d["size"])["digest"]
        yield server


def ranges(registry):
    return [h.get("Range") for m, p, h in registry.seen if registry.big in p]


@pytest.mark.parametrize("form", ["raw", "gz", "both"])
def test_an_image_is_pulled_from_a_registry(store, registry, form):
    got = store.json("pull", registry.ref, "--threads", "4", "--form", form)
    assert got["name"] == registry.ref and got["layers"] == 4
    assert store.json("pull", f"docker://{registry.ref}")["layersPresent"] == 4
    assert store.json("inspect", registry.ref)["layers"][1]["diffID"] == digest(BIG)
    assert store.json("check")["damaged"] == 0


def test_a_killed_pull_asks_the_registry_for_the_rest_only(store, registry):
    released = threading.Event()
    registry.faults.append(("GET", registry.big, stall_after(2_000_000, released)))
    pull = subprocess.Popen([BUILD / "dormouse", "image", "pull", registry.ref, "--threads", "1"], env=store.env,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    part = f"{registry.big[7:]}.part"
    wait_for(lambda: any(p.stat().st_size == 2_000_000 for p in store.directory.rglob(part)), "the first bytes")
    pull.kill()
    pull.wait()
    released.set()
    assert store.names() == []
    store.ok("pull", registry.ref)
    assert ranges(registry) == [None, "bytes=2000000-"]
    assert store.json("check")["damaged"] == 0 and list(store.directory.rglob("*.part")) == []


def test_a_registry_that_goes_away_leaves_no_name_and_loses_no_layer(store, registry):
    registry.faults += [("GET", registry.big, cut_after(100_000)), ("GET", registry.big, answer(404, "BLOB_UNKNOWN"))]
    done = store.run("pull", registry.ref, "--threads", "1")
    assert done.returncode == 1 and store.names() == []
    registry.faults.clear()
    store.ok("pull", registry.ref)
    assert ranges(registry) == [None, "bytes=100000-", "bytes=100000-"]


def test_wrong_bytes_of_a_registry_become_no_layer(store, registry):
    good = registry.blobs[registry.big]
    registry.blobs[registry.big] = good[:50_000] + b"?" + good[50_001:]
    done = store.run("pull", registry.ref)
    assert done.returncode == 1 and store.names() == []
    assert store.json("check")["damaged"] == 0 and list(store.directory.rglob("*.part")) == []
    registry.blobs[registry.big] = good
    store.ok("pull", registry.ref)


@pytest.mark.skipif(not (REGISTRY and shutil.which("skopeo")), reason="no docker-registry or no skopeo here")
def test_what_skopeo_pushed_is_pulled(store, layout, tmp_path):
    with real(tmp_path) as host:
        subprocess.run(["skopeo", "copy", "-q", "--dest-tls-verify=false", f"oci:{layout.directory}:v2",
                        f"docker://{host}/a/app:v2"], check=True, timeout=DEADLINE_S)
        got = store.json("pull", f"{host}/a/app:v2")
    assert got["digest"] == layout.manifests[1]["digest"] and store.data(BASE).read_bytes() == BASE


@pytest.mark.parametrize("form", ["raw", "both"])
def test_other_commands_take_names_of_the_store(store, layout, tmp_path, form):
    for tag in ("v1", "v2"):
        store.ok("pull", f"oci:{layout.directory}:{tag}", "--form", form)
    shutil.rmtree(layout.directory)
    store.ok("unpack", "app:v2", str(tmp_path / "root"))
    assert (tmp_path / "root/app/run").read_text() == "version 2\n" and not (tmp_path / "root/etc/motd").exists()
    plan = store.json("refactor", "app:v1", "app:v2", "--dry-run")
    assert plan["written"] is False
    with fake() as server:
        store.ok("push", "app:v1", f"docker://{server.host}/x/app:v1")
        got = store.json("pull", f"{server.host}/x/app:v1")
    assert got["layersPresent"] == 2
    if form == "both":  # with the blobs kept, it is the manifest that was pulled
        assert got["digest"] == layout.manifests[0]["digest"]
    done = store.run("unpack", "nothing:v1", str(tmp_path / "none"))
    assert done.returncode == 1 and "image 'nothing:v1': the store has no such image" in done.stderr


def test_a_layer_that_is_damaged_in_the_store_is_not_used(store, layout, tmp_path):
    store.ok("pull", f"oci:{layout.directory}:v1")
    with open(store.data(BASE), "r+b") as f:
        f.seek(2000)
        f.write(b"?")
    done = store.run("unpack", "app:v1", str(tmp_path / "root"))
    assert done.returncode == 1 and not (tmp_path / "root").exists()
