# SPDX-License-Identifier: Apache-2.0
"""dormouse image unpack: the tree that umoci makes, nothing outside of it, and all or nothing."""
import gzip
import io
import json
import os
import pathlib
import random
import shutil
import signal
import stat
import subprocess
import tarfile
import tempfile
import time

import pytest

from conftest import BUILD, DEADLINE_S, can_mount
from image_kit import Layout, docker_archive, layer
from tree_kit import TIME, Stack, difference, snapshot

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="owners and devices take root")
SEED = int(os.environ.get("TEST_SEED", "0")) or random.randrange(1 << 32)


@pytest.fixture
def open_path():
    """A temporary directory that other users can write to."""
    with tempfile.TemporaryDirectory() as made_here:
        os.chmod(made_here, 0o777)
        yield pathlib.Path(made_here)


def unpack(reference, target, *args, **options):
    return subprocess.run([BUILD / "dormouse", "image", "unpack", reference, str(target), *args], capture_output=True,
                          text=True, timeout=DEADLINE_S, **options)


def made(tmp_path, *layers, compress=gzip.compress):
    directory = tmp_path / f"layout{len(list(tmp_path.iterdir()))}"
    Layout(directory).image("it", [t if isinstance(t, bytes) else layer(t) for t in layers], compress=compress)
    return f"oci:{directory}:it"


def tree(tmp_path, *layers, args=()):
    target = tmp_path / "rootfs"
    done = unpack(made(tmp_path, *layers), target, "--no-sync", *args)
    assert done.returncode == 0, done.stderr
    return target


def refused(tmp_path, *layers, args=(), code=1, **options):
    """The error of an image that is refused; nothing of it is left."""
    reference = made(tmp_path, *layers)
    before = set(os.listdir(tmp_path))
    done = unpack(reference, tmp_path / "rootfs", "--no-sync", *args, **options)
    assert done.returncode == code, done
    assert set(os.listdir(tmp_path)) == before
    return done.stderr


@needs_root
@pytest.mark.parametrize("turn", range(12))
def test_random_stacks_are_unpacked_as_umoci_does(tmp_path, turn):
    if not shutil.which("umoci"):
        pytest.skip("no umoci here")
    print("TEST_SEED", SEED)
    stack = Stack(random.Random(SEED + turn))
    layers = [layer([(".", "d", "", {"mode": 0o711, "mtime": TIME})] + stack.layers[0])] + [layer(e) for e in stack.layers[1:]]
    reference = made(tmp_path, *layers)
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    done = unpack(reference, ours, "--no-sync")
    assert done.returncode == 0, done.stderr
    subprocess.run(["umoci", "raw", "unpack", "--image", reference[4:], theirs], check=True, capture_output=True,
                   timeout=DEADLINE_S)
    assert difference(snapshot(ours, dir_times=False), snapshot(theirs, dir_times=False)) == []
    # umoci lets times of directories change while it writes into them
    times = {}
    for entries in stack.layers:
        times.update({name.encode(): a["mtime"] for name, kind, _, a in entries if kind == "d"})
    for path, facts in snapshot(ours).items():
        if path in times and facts["type"] == 0o040000:
            assert facts["mtime"] == times[path] * 10**9, path


@needs_root
def test_attributes_are_those_of_the_archive(tmp_path):
    capability = bytes.fromhex("0100000200040000000000000000000000000000")
    root = tree(tmp_path, [
        ("d", "d", "", {"mode": 0o2750, "uid": 7, "gid": 8, "mtime": 11}),
        ("d/setuid", "f", b"x", {"mode": 0o6755, "uid": 1000, "gid": 1000, "mtime": 12}),
        ("d/cap", "f", b"x", {"pax_headers": {"SCHILY.xattr.security.capability": capability.decode("latin1"),
                                              "SCHILY.xattr.user.a": "b", "SCHILY.xattr.trusted.overlay.opaque": "y"}}),
        ("d/link", "l", "nowhere", {"uid": 5, "gid": 6, "mtime": 13}), ("d/device", "k", ""), ("d/pipe", "p", "")])
    seen = snapshot(root)
    assert seen[b"d"]["mode"] == 0o2750 and seen[b"d"]["owner"] == (7, 8) and seen[b"d"]["mtime"] == 11 * 10**9
    assert seen[b"d/setuid"]["mode"] == 0o6755 and seen[b"d/setuid"]["owner"] == (1000, 1000)
    assert seen[b"d/cap"]["xattrs"]["security.capability"] == capability and seen[b"d/cap"]["xattrs"]["user.a"] == b"b"
    assert "trusted.overlay.opaque" not in os.listxattr(root / "d/cap")
    assert seen[b"d/link"]["owner"] == (5, 6) and seen[b"d/link"]["mtime"] == 13 * 10**9
    assert seen[b"d/device"]["device"] == os.makedev(1, 3)


@needs_root
def test_a_whiteout_hides_lower_layers_only(tmp_path):
    lower = [("d", "d", ""), ("d/old", "f", b"1"), ("d/both", "f", b"1"), ("e", "d", ""), ("e/old", "f", b"1"), ("f", "f", b"1"),
             ("g", "d", "", {"mode": 0o700}), ("g/old", "f", b"1")]
    root = tree(tmp_path, lower, [("d", "d", ""), ("d/both", "f", b"2"), ("d/.wh.both", "f", b""), ("d/.wh.old", "f", b""),
                                  ("d/.wh.missing", "f", b""), ("e", "d", ""), ("e/new", "f", b"2"), (".wh.e", "f", b""),
                                  ("f", "d", ""), ("f/new", "f", b"2"), ("g/new", "f", b"2"), (".wh.g", "f", b"")])
    assert {p for p in snapshot(root)} == {b"", b"d", b"d/both", b"e", b"e/new", b"f", b"f/new", b"g", b"g/new"}
    assert (root / "d/both").read_bytes() == b"2"
    assert os.stat(root / "g").st_mode & 0o777 == 0o755  # the lower one is gone, and this layer has no entry for it


@needs_root
def test_entries_replace_what_is_there(tmp_path):
    root = tree(tmp_path, [("a", "d", ""), ("a/b", "d", ""), ("a/b/c", "f", b"1"), ("x", "f", b"1"), ("y", "h", "x"), ("l", "l", "a")],
                [("a", "f", b"file"), ("x", "d", ""), ("x/z", "f", b"2"), ("l", "d", ""), ("l/in", "f", b"3"), ("t", "f", b"1"),
                 ("t", "f", b"twice"), ("h", "h", "y"), ("h", "h", "h")])
    assert (root / "a").read_bytes() == b"file" and (root / "x/z").read_bytes() == b"2" and (root / "y").read_bytes() == b"1"
    assert (root / "l/in").read_bytes() == b"3" and not (root / "l").is_symlink() and (root / "t").read_bytes() == b"twice"
    assert os.stat(root / "h").st_ino == os.stat(root / "y").st_ino


@needs_root
def test_sparse_files_keep_their_holes_and_names_their_bytes(tmp_path):
    if not shutil.which("tar"):
        pytest.skip("no tar here")
    source = tmp_path / "source"
    source.mkdir()
    with open(source / "sparse", "wb") as f:
        f.write(b"begin")
        f.seek(50 << 20)
        f.write(b"end")
        f.truncate(60 << 20)
    (source / os.fsdecode(b"latin-\xe9\xff")).write_bytes(b"name")
    for name in [*os.listdir(source), "."]:
        os.utime(source / name, (TIME, TIME))
    for fmt in ("--format=gnu", "--format=posix"):
        data = subprocess.run(["tar", "-cS", fmt, "-C", source, "."], check=True, capture_output=True).stdout
        target = tmp_path / f"root{fmt[-3:]}"
        done = unpack(made(tmp_path, data), target, "--no-sync")
        assert done.returncode == 0, done.stderr
        assert difference(snapshot(source), snapshot(target)) == []
        assert os.stat(target / "sparse").st_blocks * 512 < 1 << 20


OUTSIDE = [
    ("..", [("../evil", "f", b"x")]),
    ("a parent", [("a", "d", ""), ("a/../../evil", "f", b"x")]),
    ("a symbolic link", [("up", "l", ".."), ("up/evil", "f", b"x")]),
    ("an absolute link", [("abs", "l", "{outside}"), ("abs/evil", "f", b"x")]),
    ("a hard link to outside", [("h", "h", "../outside/kept")]),
    ("a hard link through a link", [("abs", "l", "{outside}"), ("h", "h", "abs/kept")]),
    ("a hard link to a directory", [("d", "d", ""), ("h", "h", "d")]),
    ("a hard link to nothing", [("h", "h", "nothing")]),
    ("a root that is a file", [(".", "f", b"x")]),
    ("a whiteout of the root", [("..wh.", "d", ""), (".wh...", "f", b"")]),
    ("a socket", [("s", "f", b"", {"type": b"s"})]),
]


@needs_root
@pytest.mark.parametrize("what, entries", OUTSIDE, ids=[w for w, _ in OUTSIDE])
def test_a_hostile_layer_is_refused(tmp_path, what, entries):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_bytes(b"kept")
    entries = [(n, k, v.format(outside=outside) if isinstance(v, str) else v, *r) for n, k, v, *r in entries]
    text = refused(tmp_path, entries)
    assert text.startswith("error: ") and "layer 0" in text
    assert os.listdir(outside) == ["kept"] and os.stat(outside / "kept").st_nlink == 1
    assert not (tmp_path / "evil").exists()


@needs_root
@pytest.mark.parametrize("target, how, says", [
    ("d", "refuse", "'l/x/y' is below a symbolic link, 'l'\n"), ("d/f", "follow", "'l/x/y' is below a symbolic link that leads to no directory, 'l'\n"),
    ("none", "follow", "'l/x/y' is below a symbolic link that leads nowhere, 'l'\n"),
])
def test_an_entry_below_a_link_is_named_with_the_link(tmp_path, target, how, says):
    entries = [("d", "d", ""), ("d/f", "f", b""), ("l", "l", target), ("l/x/y", "f", b"")]
    assert refused(tmp_path, entries, args=("--symlink-parent", how)).endswith(says)


@needs_root
@pytest.mark.parametrize("how", ["shadow", "follow"])
def test_links_on_the_way_stay_below_the_root(tmp_path, how):
    outside = tmp_path / "outside"
    outside.mkdir()
    absolute = [("inside", "d", ""), ("up", "l", "../../inside"), ("up/x", "f", b"x"), ("abs", "l", "/inside"), ("abs/y", "f", b"y")]
    root = tree(tmp_path, absolute, args=("--symlink-parent", how))
    if how == "follow":
        assert sorted(os.listdir(root / "inside")) == ["x", "y"] and (root / "up").is_symlink()
    else:
        assert os.listdir(root / "up") == ["x"] and not (root / "up").is_symlink() and os.listdir(root / "inside") == []
    assert os.listdir(outside) == []


@needs_root
def test_a_directory_with_two_paths_has_the_rights_of_its_last_entry(tmp_path):
    lower = [("a", "d", ""), ("a/d", "d", "", {"mode": 0o755}), ("z", "l", "a"), ("z/e", "d", "", {"mode": 0o755})]
    upper = [("z/d", "d", "", {"mode": 0o700, "uid": 7}), ("a/e", "d", "", {"mode": 0o700, "uid": 7})]
    root = tree(tmp_path, lower, upper, args=("--symlink-parent", "follow"))
    for path in (root / "a/d", root / "a/e"):
        assert (stat.S_IMODE(path.stat().st_mode), path.stat().st_uid) == (0o700, 7)


@needs_root
def test_a_link_in_the_place_of_a_directory_does_not_pass_its_rights_on(tmp_path):
    lower = [("b", "d", "", {"mode": 0o700}), ("b/x", "d", "", {"mode": 0o700}), ("a", "d", "", {"mode": 0o777}), ("a/x", "d", "", {"mode": 0o777})]
    root = tree(tmp_path, lower, [("a", "l", "b")], args=("--symlink-parent", "follow"))
    assert [stat.S_IMODE((root / p).stat().st_mode) for p in ("b", "b/x")] == [0o700, 0o700]


@needs_root
def test_the_summary_is_of_what_is_in_the_directory(tmp_path):
    lower = [("d", "d", ""), ("d/f", "f", bytes(1000)), ("d/h", "h", "d/f"), ("gone", "d", ""), ("gone/f", "f", bytes(5000)), ("same", "f", b"old")]
    upper = [(".wh.gone", "f", b""), ("same", "f", bytes(10)), ("l", "l", "d"), ("new/deep/f", "f", b"123")]
    reference = made(tmp_path, lower, upper)
    output = json.loads(unpack(reference, tmp_path / "rootfs", "--no-sync", "-o", "json").stdout)
    # d d/f d/h same l new new/deep new/deep/f
    assert output == {"entries": 8, "bytes": 1013, "devicesLeftOut": 0, "xattrsLeftOut": 0}
    assert unpack(reference, tmp_path / "again", "--no-sync").stdout.startswith("8 entries, 1013 B in ")


@needs_root
def test_images_of_the_store_are_unpacked(tmp_path):
    store = tmp_path / "store"
    reference = made(tmp_path, [("d", "d", ""), ("d/f", "f", b"lower"), ("gone", "f", b"x")], [("d/g", "f", b"upper"), (".wh.gone", "f", b"")])
    pull = subprocess.run([BUILD / "dormouse", "image", "pull", reference, "--name", "app:v1", "--store", store], capture_output=True,
                          text=True, timeout=DEADLINE_S)
    assert pull.returncode == 0, pull.stderr
    for i, (name, args) in enumerate((("app:v1", ("--store", store)), (reference, ()))):
        assert unpack(name, tmp_path / str(i), "--no-sync", *args).returncode == 0
    assert difference(snapshot(tmp_path / "0"), snapshot(tmp_path / "1")) == []
    done = unpack("app:v2", tmp_path / "none", "--store", store)
    assert done.returncode == 1 and "app:v2" in done.stderr and not (tmp_path / "none").exists()


@needs_root
def test_what_lies_about_its_content_is_refused(tmp_path):
    directory = tmp_path / "layout"
    made_layout = Layout(directory)
    data = layer([("a", "f", os.urandom(100000))])
    manifest = made_layout.image("it", [data])
    blob = directory / "blobs/sha256" / manifest["layers"][0]["digest"][7:]
    good = blob.read_bytes()
    for bad, says in ((good[:-9] + bytes([good[-9] ^ 1]) + good[-8:], "not what its name says"),
                      (good[:1000], "bytes, its descriptor says")):
        blob.write_bytes(bad)
        done = unpack(f"oci:{directory}:it", tmp_path / "rootfs")
        assert done.returncode == 1 and says in done.stderr, done.stderr
        assert os.listdir(tmp_path) == ["layout"]
    docker_archive(tmp_path / "a.tar", {"t:1": [data]})
    whole = (tmp_path / "a.tar").read_bytes()
    at = whole.index(data[512:1024])
    (tmp_path / "a.tar").write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:])
    done = unpack(f"docker-archive:{tmp_path}/a.tar", tmp_path / "rootfs")
    assert done.returncode == 1 and "DiffID" in done.stderr and sorted(os.listdir(tmp_path)) == ["a.tar", "layout"]


@needs_root
def test_a_bomb_is_stopped_by_its_size(tmp_path):
    bomb = layer([("zeros", "f", bytes(300 << 20))])
    text = refused(tmp_path, bomb)
    assert "bytes when decompressed" in text
    assert "bytes when decompressed" in refused(tmp_path, [("a", "f", bytes(100000))], args=("--max-layer-size", "64Ki"))


@needs_root
def test_many_entries_take_little_memory(tmp_path):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for i in range(20000):
            info = tarfile.TarInfo(f"d{i % 50}/{i}")
            info.type = tarfile.SYMTYPE
            info.linkname = "x"
            tar.addfile(info)
    target = tmp_path / "rootfs"
    done = subprocess.run(["/usr/bin/env", "bash", "-c", 'ulimit -v 400000; exec "$@"', "-", BUILD / "dormouse", "image", "unpack",
                           made(tmp_path, out.getvalue()), target, "--no-sync"], capture_output=True, text=True, timeout=DEADLINE_S)
    assert done.returncode == 0, done.stderr
    assert sum(len(f) for _, _, f in os.walk(target)) == 20000


@needs_root
def test_a_deep_tree_is_written_and_removed(tmp_path):
    deep = "/".join("d" for _ in range(600))
    root = tree(tmp_path, [(deep, "f", b"x")])
    assert (root / deep).read_bytes() == b"x"
    shutil.rmtree(root)
    root = tree(tmp_path, [(deep, "f", b"x")], [(".wh.d", "f", b"")])
    assert os.listdir(root) == []
    shutil.rmtree(root)
    assert "below a symbolic link" in refused(tmp_path, [(deep, "f", b"x"), ("l", "l", "d"), ("l/x", "f", b"")])


@pytest.mark.skipif(not can_mount(), reason="no mounts here")
def test_a_full_disk_leaves_nothing(tmp_path):
    small = tmp_path / "small"
    small.mkdir()
    reference = made(tmp_path, [("a", "f", os.urandom(1 << 20)), ("b", "f", os.urandom(4 << 20))])
    # a mount that ends with its process
    script = 'mount -t tmpfs -o size=2m none "$1" && "$2" image unpack "$3" "$1/rootfs"; s=$?; ls -A "$1"; exit $s'
    done = subprocess.run(["unshare", "-m", "bash", "-c", script, "-", small, BUILD / "dormouse", reference], capture_output=True,
                          text=True, timeout=DEADLINE_S)
    assert done.returncode == 1 and "No space left" in done.stderr, done
    assert done.stdout == ""


@needs_root
def test_a_killed_process_leaves_nothing_that_counts(tmp_path):
    reference = made(tmp_path, [(f"f{i}", "f", os.urandom(100000)) for i in range(200)])
    target = tmp_path / "rootfs"
    process = subprocess.Popen([BUILD / "dormouse", "image", "unpack", reference, target], stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + DEADLINE_S
    while not [p for p in tmp_path.glob(".dormouse-unpack.*/root/f0")] and process.poll() is None:
        assert time.monotonic() < deadline
    process.send_signal(signal.SIGKILL)
    process.wait()
    if target.exists():  # it was complete before the signal came
        assert len(os.listdir(target)) == 200
        shutil.rmtree(target)
    done = unpack(reference, target, "--no-sync")
    assert done.returncode == 0, done.stderr
    assert len(os.listdir(target)) == 200
    assert list(tmp_path.glob(".dormouse-unpack.*")) == []


@needs_root
def test_a_temporary_directory_of_another_user_is_left_alone(tmp_path):
    planted, own = tmp_path / ".dormouse-unpack.planted", tmp_path / ".dormouse-unpack.own"
    for path, owner in ((planted, 65534), (own, 0)):
        path.mkdir(mode=0o700)
        (path / "d").mkdir()
        os.chown(path, owner, owner)
    assert unpack(made(tmp_path, [("a", "f", b"x")]), tmp_path / "rootfs", "--no-sync").returncode == 0
    assert (planted / "d").is_dir() and not own.exists()


@needs_root
def test_without_privileges_files_belong_to_the_caller(open_path):
    tmp_path = open_path
    entries = [("d", "d", "", {"mode": 0o500, "uid": 0}), ("d/f", "f", b"x", {"uid": 0, "mode": 0o4711}), ("dev", "k", "")]
    reference, target = made(tmp_path, entries), tmp_path / "rootfs"
    nobody = {"user": 65534, "group": 65534, "extra_groups": []}
    done = unpack(reference, target, **nobody)
    assert done.returncode == 1 and "--rootless" in done.stderr and not target.exists()
    done = unpack(reference, target, "--rootless", **nobody)
    assert done.returncode == 0 and "1 devices were left out" in done.stderr
    seen = snapshot(target)
    assert set(seen) == {b"", b"d", b"d/f"} and seen[b"d/f"]["owner"] == (65534, 65534) and seen[b"d"]["mode"] == 0o500
    assert seen[b"d/f"]["mode"] == 0o711  # set-user-ID would be the caller's now


@needs_root
def test_files_that_root_owns_without_their_owner_get_no_rights_of_root(tmp_path):
    root = tree(tmp_path, [("f", "f", b"x", {"uid": 1000, "mode": 0o6755}), ("d", "d", "", {"mode": 0o2755})], args=("--rootless",))
    assert stat.S_IMODE((root / "f").stat().st_mode) == 0o755 and (root / "f").stat().st_uid == 0
    assert stat.S_IMODE((root / "d").stat().st_mode) == 0o2755


@needs_root
def test_a_directory_that_holds_something_is_not_touched(tmp_path):
    target = tmp_path / "rootfs"
    target.mkdir()
    (target / "mine").write_text("kept")
    done = unpack(made(tmp_path, [("a", "f", b"x")]), target)
    assert done.returncode == 1 and "no empty directory" in done.stderr and os.listdir(target) == ["mine"]


def test_the_reader_of_layers_is_confined(tmp_path):
    """What it may do is visible from outside while it waits for input."""
    process = subprocess.Popen([BUILD / "dormouse", "--read-layer", "1000000", "content"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        deadline = time.monotonic() + DEADLINE_S
        status = {}
        while status.get("Seccomp") != "2":
            assert time.monotonic() < deadline and process.poll() is None
            with open(f"/proc/{process.pid}/status") as f:
                status = dict(line.rstrip("\n").split(":\t", 1) for line in f if ":\t" in line)
        assert status["CapEff"] == status["CapPrm"] == status["CapBnd"] == "0000000000000000"
        assert status["NoNewPrivs"] == "1"
        if os.geteuid() == 0:
            assert status["Uid"].split()[0] == "60999"
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


@needs_root
def test_layers_at_once_are_what_each_is_alone(tmp_path):
    """Upper layers are written before lower ones are there, and convert their whiteouts all the same."""
    stack = [[(f"d{i}", "d", ""), *((f"d{i}/f{n}", "f", bytes([n]) * (i + 1) * 5000) for n in range(20))] for i in range(6)]
    stack += [[(f"d{i}/.wh.f3", "f", b"") for i in range(6)], [("d0/.wh..wh..opq", "f", b""), ("d0/new", "f", b"x")], [("d1", "f", b"now a file")]]
    layers = [layer(entries) for entries in stack]
    done = unpack(made(tmp_path, *layers), tmp_path / "all", "--layers", "--no-sync")
    assert done.returncode == 0, done.stderr
    for i, one in enumerate(layers):
        assert unpack(made(tmp_path, one), tmp_path / f"out{i}", "--layers", "--no-sync").returncode == 0
        both = snapshot(tmp_path / f"all/{i}"), snapshot(tmp_path / f"out{i}/0")
        for facts in (facts for seen in both for facts in seen.values() if facts["type"] == 0o020000):
            facts.pop("mtime")  # of whiteouts, which no archive states
        assert difference(*both) == []
    assert snapshot(tmp_path / "all/6")[b"d0/f3"]["device"] == 0
    assert os.getxattr(tmp_path / "all/7/d0", "trusted.overlay.opaque") == b"y"


@needs_root
def test_of_layers_at_once_a_bad_one_leaves_nothing(tmp_path):
    good = [layer([(f"f{i}", "f", b"x" * 100000 * i)]) for i in range(5)]
    reference = made(tmp_path, *good[:2], layer([("gone", "h", "of another layer")]), *good[2:])
    done = unpack(reference, tmp_path / "out", "--layers", "--no-sync")
    assert done.returncode == 1 and "layer 2" in done.stderr and "gone" in done.stderr
    assert not (tmp_path / "out").exists() and [n for n in os.listdir(tmp_path) if n.startswith(".dormouse")] == []


def test_layers_that_are_read_ahead_are_written_in_their_order(tmp_path):
    """Each is more than the pipe of its reader holds, writes what the one below wrote and hides a part of it; one is empty."""
    def one(n):
        big = random.Random(n).randbytes(3_000_000)
        return [("same", "f", big), ("d", "d", ""), (f"d/{n}", "f", bytes([n]) * 10), (f"d/.wh.{n - 2}", "f", b"")]
    stack = [one(n) for n in range(2, 7)]
    root = tree(tmp_path, *stack[:3], [], *stack[3:])
    assert (root / "same").read_bytes() == random.Random(6).randbytes(3_000_000)
    assert sorted(os.listdir(root / "d")) == ["5", "6"]


def test_of_several_bad_layers_the_lowest_is_named(tmp_path):
    big = [("big", "f", random.Random(1).randbytes(3_000_000))]
    for _ in range(5):
        output = refused(tmp_path, big, [("one", "h", "nothing")], [("two", "h", "nothing")], big)
        assert "layer 1" in output and "one" in output and "layer 2" not in output
