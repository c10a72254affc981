# SPDX-License-Identifier: Apache-2.0
"""dormouse image mount from the store: no second copy, a lease as long as it is mounted, and other ways where tars do not fit."""
import fcntl
import gzip
import json
import os
import shutil
import subprocess

import pytest

from conftest import BUILD, DEADLINE_S
from image_kit import Layout, digest, docker_archive, layer
from serve_kit import serve
from tree_kit import difference, snapshot

BASE = layer([("etc", "d", ""), ("etc/motd", "f", os.urandom(300_000)), ("old", "f", b"x"), ("ln", "l", "etc/motd")])
UPPER = layer([("etc/new", "f", b"y" * 1000), (".wh.old", "f", b""), ("hard", "h", "etc/new")])


class Place:
    def __init__(self, path):
        self.path, self.data, self.target, self.store = path, path / "data", path / "mnt", path / "data/images"
        self.target.mkdir()
        self.layout = Layout(path / "layout")
        self.layout.image("v1", [BASE, UPPER], compress=gzip.compress)
        self.reference = f"oci:{path / 'layout'}:v1"

    def image(self, *args):
        env = {k: v for k, v in os.environ.items() if k != "DORMOUSE_IMAGE_STORE"}
        return subprocess.run([BUILD / "dormouse", "image", *map(str, args)], capture_output=True, text=True, env=env, timeout=DEADLINE_S)

    def ok(self, *args):
        done = self.image(*args)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def stored(self, *args):
        return self.ok(*args, "--store", self.store)

    def stored_fails(self, *args):
        done = self.image(*args, "--store", self.store)
        assert done.returncode == 1, done.stdout
        return done.stderr

    def mount(self, what, *args, target=None):
        return json.loads(self.ok("mount", what, target or self.target, "--no-sync", "--data-dir", self.data, "-o", "json", *args))

    def umount(self, *args, target=None):
        return self.image("umount", target or self.target, "--data-dir", self.data, *args)

    def used(self):
        return int(subprocess.run(["du", "-s", "-x", "-k", self.data], check=True, capture_output=True, text=True).stdout.split()[0])

    def count(self, directory):
        return len(list((self.store / directory).iterdir()))

    def states(self):
        return list((self.data / "mounts").iterdir())

    def tree(self):
        shutil.rmtree(self.path / "unpacked", ignore_errors=True)
        self.ok("unpack", self.reference, self.path / "unpacked", "--no-sync")
        return snapshot(self.path / "unpacked")


@pytest.fixture
def place(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("mounting needs root")
    made = Place(tmp_path)
    done = made.image("mount", made.reference, made.target, "--sink", "tarfs", "--data-dir", tmp_path / "probe")
    if done.returncode:
        pytest.skip("no EROFS images in files here: " + done.stderr)
    made.ok("umount", made.target, "--data-dir", tmp_path / "probe")
    yield made
    for at in [made.target, *made.data.glob("mounts/*/lower"), *tmp_path.glob("mnt-*")]:
        if os.path.ismount(at):
            subprocess.run(["umount", "-l", at], check=True)


@pytest.mark.parametrize("how", [[], ["--rw"]])
def test_an_image_of_the_store_is_mounted_without_a_copy(place, how):
    place.stored("pull", place.reference, "--name", "app:v1")
    before = place.used()
    assert place.mount("app:v1", *how) == {"sink": "tarfs", "fromStore": True}
    assert difference(snapshot(place.target), place.tree()) == []
    assert place.used() - before < 100
    assert place.count("leases") == 1
    assert place.umount().returncode == 0 and place.states() == [] and place.count("leases") == 0
    assert place.stored("ls", "-o", "name").split() == ["app:v1"]


def test_an_image_from_elsewhere_is_pulled_once_and_gets_no_name(place):
    assert place.mount(place.reference)["fromStore"]
    (made,) = place.store.glob("images/*/*.erofs")
    first = made.stat()
    assert difference(snapshot(place.target), place.tree()) == []
    place.ok("umount", place.target, "--data-dir", place.data)
    for blob in place.layout.directory.glob("blobs/sha256/*"):
        if blob.read_bytes()[:2] == b"\x1f\x8b":
            blob.unlink()  # the second mount reads no layer
    assert place.mount(place.reference)["fromStore"]
    second = made.stat()
    assert (first.st_ino, first.st_mtime_ns) == (second.st_ino, second.st_mtime_ns)
    assert place.stored("ls", "-o", "name") == "" and place.umount().returncode == 0


def test_gc_leaves_what_is_mounted_and_takes_it_afterwards(place):
    place.mount(place.reference)
    expected = snapshot(place.target)
    place.stored("gc")
    assert place.count("layers") == 2 and place.count("images") == 1
    subprocess.run(["sh", "-c", "echo 3 >/proc/sys/vm/drop_caches"], check=False, capture_output=True)
    assert difference(snapshot(place.target), expected) == []
    assert place.umount().returncode == 0
    place.stored("gc")
    assert place.count("layers") == 0 and place.count("images") == 0


def test_a_quota_leaves_what_is_mounted(place):
    place.mount(place.reference)
    other = Layout(place.path / "other")
    other.image("v1", [layer([("f", "f", os.urandom(400_000))])])
    done = place.image("pull", f"oci:{other.directory}:v1", "--store", place.store, "--quota", "500Ki")
    assert done.returncode == 1 and "quota" in done.stderr
    assert place.count("layers") == 2
    assert place.umount().returncode == 0


def test_two_mounts_of_one_image_have_a_lease_each(place):
    second = place.path / "mnt-2"
    second.mkdir()
    place.mount(place.reference)
    place.mount(place.reference, target=second)
    assert place.count("leases") == 2 and place.umount().returncode == 0 and place.count("leases") == 1
    place.stored("gc")
    assert (second / "etc/new").read_bytes() == b"y" * 1000
    assert place.umount(target=second).returncode == 0 and place.count("leases") == 0


def test_what_a_plain_umount_or_a_kill_left_is_cleared(place):
    for clear in (lambda: place.umount().returncode, lambda: place.mount(place.reference) and place.umount().returncode):
        place.mount(place.reference, "--rw")
        subprocess.run(["umount", place.target], check=True)
        assert place.count("leases") == 1 and len(place.states()) == 1
        assert clear() == 0
        assert place.count("leases") == 0 and place.states() == []


def test_the_lease_ends_when_the_machine_starts_again(place):
    place.mount(place.reference)
    subprocess.run(["umount", place.target], check=True)
    (lease,) = (place.store / "leases").iterdir()
    record = json.loads(lease.read_text())
    assert record["boot"]
    lease.write_text(json.dumps({**record, "boot": "another"}))
    place.stored("gc")
    assert place.count("leases") == 0 and place.count("layers") == 0
    assert place.umount().returncode == 0 and place.states() == []


def test_a_state_that_no_disk_kept_is_cleared(place):
    place.mount(place.reference)
    subprocess.run(["umount", place.target], check=True)
    (state,) = place.states()
    (state / "store").write_bytes(b"")
    place.mount(place.reference)
    assert place.umount().returncode == 0 and place.states() == []


@pytest.mark.parametrize("form", ["gz", "both"])
def test_compressed_layers(place, form):
    place.stored("pull", place.reference, "--name", "app:v1", "--form", form)
    assert place.mount("app:v1") == {"sink": "tarfs", "fromStore": form == "both"}
    assert difference(snapshot(place.target), place.tree()) == []
    assert place.umount().returncode == 0 and place.states() == [] and place.count("leases") == 0


def test_a_tar_that_ends_within_a_block(place):
    cut = layer([("last", "f", b"z" * 700)])
    cut = cut[:cut.rindex(b"z") + 1]
    assert len(cut) % 512
    place.layout.image("cut", [BASE, cut])
    place.reference = f"oci:{place.path / 'layout'}:cut"
    assert place.mount(place.reference) == {"sink": "tarfs", "fromStore": False}
    assert difference(snapshot(place.target), place.tree()) == []
    assert place.umount().returncode == 0 and place.states() == []


def test_a_layer_twice_and_an_archive_of_docker(place):
    docker_archive(place.path / "a.tar", {"app:v1": [BASE, UPPER, BASE]})
    place.reference = f"docker-archive:{place.path / 'a.tar'}"
    assert place.mount(place.reference)["fromStore"] and place.count("layers") == 2
    assert difference(snapshot(place.target), place.tree()) == []
    assert place.umount().returncode == 0


def test_damaged_metadata_is_written_again(place):
    place.mount(place.reference)
    assert place.umount().returncode == 0
    (made,) = place.store.glob("images/*/*.erofs")
    for damaged in (b"", b"\0" * 8192):
        made.write_bytes(damaged)
        assert place.mount(place.reference)["fromStore"]
        assert difference(snapshot(place.target), place.tree()) == []
        assert place.umount().returncode == 0


def test_wrong_bytes_are_never_mounted(place):
    for blob in place.layout.directory.glob("blobs/sha256/*"):
        if blob.read_bytes()[:2] == b"\x1f\x8b":
            blob.write_bytes(gzip.compress(layer([("other", "f", b"evil")])))
    done = place.image("mount", place.reference, place.target, "--data-dir", place.data)
    assert done.returncode == 1 and not os.path.ismount(place.target)
    assert place.states() == [] and place.count("layers") == 0 and place.count("leases") == 0


def test_another_process_that_writes_the_store_is_waited_for(place):
    place.mount(place.reference)
    with open(place.store / "lock", "rb+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = place.umount("--wait", "0s")
        assert done.returncode == 1 and "writes the store" in done.stderr and os.path.ismount(place.target)
    assert place.umount().returncode == 0
    assert digest(BASE)[7:] in os.listdir(place.store / "layers")


def test_beside_a_server_that_takes_jobs_a_mount_has_no_second_copy(place):
    place.stored("pull", place.reference, "--name", "app:v1")
    tree = place.tree()
    with serve(place.store, "--upstream", "127.0.0.1:1"):
        assert place.mount("app:v1") == {"sink": "tarfs", "fromStore": True}
        assert difference(snapshot(place.target), tree) == [] and place.count("leases") == 1
        place.stored("rm", "app:v1")
        assert json.loads(place.stored("gc", "-o", "json"))["layers"] == 0
        assert place.umount().returncode == 0 and place.count("leases") == 0 and place.states() == []
        assert json.loads(place.stored("gc", "-o", "json"))["layers"] == 2
        # An image that the store does not have; written to, which umount removes.
        assert place.mount(place.reference, "--rw", "--sink", "tarfs")["fromStore"]
        (place.target / "mine").write_text("x")
        assert place.count("layers") == 2 and place.stored("ls", "-o", "name") == ""
        assert place.umount().returncode == 0 and place.count("leases") == 0 and place.states() == []
        assert place.mount(place.reference, "--sink", "cas") == {"sink": "cas", "fromStore": True}
        assert difference(snapshot(place.target), tree) == []
    # The lease is there for the next process as well.
    assert json.loads(place.stored("gc", "-o", "json"))["layers"] == 0
    assert place.umount().returncode == 0 and place.count("leases") == 0 and place.states() == []


@pytest.mark.parametrize("sink", ["auto", "tarfs"])
def test_beside_a_server_a_tar_that_ends_within_a_block_takes_a_copy(place, sink):
    cut = layer([("last", "f", b"z" * 700)])
    place.layout.image("cut", [BASE, cut[:cut.rindex(b"z") + 1]])
    place.reference = f"oci:{place.path / 'layout'}:cut"
    place.stored("pull", place.reference, "--name", "app:cut")
    tree = place.tree()
    with serve(place.store, "--upstream", "127.0.0.1:1"):
        for image in ("app:cut", place.reference):
            assert place.mount(image, "--sink", sink) == {"sink": "tarfs", "fromStore": False}
            assert difference(snapshot(place.target), tree) == [] and place.count("leases") == 0
            assert place.umount().returncode == 0 and place.states() == []


def test_a_mount_that_fails_beside_a_server_leaves_nothing(place):
    with serve(place.store, "--upstream", "127.0.0.1:1"):
        done = place.image("mount", f"oci:{place.path / 'layout'}:none", place.target, "--data-dir", place.data)
        assert done.returncode == 1 and "no image 'none'" in done.stderr, done.stderr
        assert place.states() == [] and place.count("leases") == 0
        place.stored("pull", place.reference, "--name", "app:v1")
        done = place.image("mount", "app:v1", place.target, "--data-dir", place.data, "--platform", "linux/riscv64")
        assert done.returncode == 1 and "riscv64" in done.stderr
        assert place.states() == [] and place.count("leases") == 0 and not os.path.ismount(place.target)
        done = place.image("mount", "app:v1", place.target, "--data-dir", place.data, "--sink", "layers", "--wait", "0s")
        assert done.returncode == 1 and "--sink tarfs and cas" in done.stderr
    # Layers that were mounted one by one are left by the process that writes the store.
    assert place.mount("app:v1", "--sink", "layers")["sink"] == "layers"
    with serve(place.store, "--upstream", "127.0.0.1:1"):
        done = place.umount("--wait", "0s")
        assert done.returncode == 1 and "mounted one by one" in done.stderr and os.path.ismount(place.target)
    assert place.umount().returncode == 0 and place.count("leases") == 0 and place.states() == []


def test_beside_a_server_that_takes_no_jobs_a_mount_takes_a_copy(place):
    place.stored("pull", place.reference, "--name", "app:v1")
    with open(place.store / "lock", "rb+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.write(b"1 service\n")  # as it writes itself: an hour is not waited for
        lock.flush()
        assert not place.mount("app:v1", "--wait", "1h")["fromStore"]
        done = place.stored_fails("pin", "app:v1")
        assert "writes the store" in done and "as long as it runs; --wait 1m waits" in done
        assert "--wait 1m" not in place.stored_fails("pin", "app:v1", "--wait", "1ms")
        assert difference(snapshot(place.target), place.tree()) == []
    assert place.umount().returncode == 0 and place.count("leases") == 0 and place.states() == []
