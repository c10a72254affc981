# SPDX-License-Identifier: Apache-2.0
"""dormouse image mount: what is mounted is what is unpacked, with either sink, and umount leaves nothing."""
import gzip
import os
import random
import shutil
import subprocess

import pytest

from conftest import BUILD, DEADLINE_S, can_mount
from image_kit import Layout, layer
from tree_kit import TIME, Stack, difference, snapshot

SEED = int(os.environ.get("TEST_SEED", "0")) or random.randrange(1 << 32)


def image(*args, **options):
    return subprocess.run([BUILD / "dormouse", "image", *map(str, args)], capture_output=True, text=True, timeout=DEADLINE_S,
                          **options)


class Place:
    """An image, a directory to mount it at, and a data directory."""

    def __init__(self, path):
        self.path, self.target, self.data = path, path / "mnt", path / "data"
        self.target.mkdir()

    def made(self, *layers):
        directory = self.path / f"layout{len(list(self.path.iterdir()))}"
        Layout(directory).image("it", [t if isinstance(t, bytes) else layer(t) for t in layers], compress=gzip.compress)
        return f"oci:{directory}:it"

    def mount(self, reference, *args):
        done = image("mount", reference, self.target, "--no-sync", "--data-dir", self.data, *args)
        if "mounting needs root" in done.stderr:
            pytest.skip("no mounts here")
        return done

    def umount(self):
        return image("umount", self.target, "--data-dir", self.data)

    def is_clean(self):
        return not os.path.ismount(self.target) and list((self.data / "mounts").iterdir()) == []


def can_tarfs(place):
    done = place.mount(place.made([("a", "f", b"x")]), "--sink", "tarfs")
    if done.returncode == 0:
        place.umount()
    return done.returncode == 0


@pytest.fixture
def place(tmp_path):
    if not can_mount():
        pytest.skip("no mounts here")
    made = Place(tmp_path)
    yield made
    while os.path.ismount(made.target):
        subprocess.run(["umount", "-l", made.target], check=True)
    for lower in made.data.glob("mounts/*/lower"):
        if os.path.ismount(lower):
            subprocess.run(["umount", "-l", lower], check=True)


@pytest.fixture(params=["tarfs", "dirs"])
def sink(request, place):
    if request.param == "tarfs" and not can_tarfs(place):
        pytest.skip("this kernel mounts no EROFS image in a file")
    return request.param


RICH = [(".", "d", "", {"mode": 0o711, "mtime": TIME}), ("d", "d", "", {"mode": 0o2750, "uid": 7, "gid": 70000, "mtime": 11}),
        ("d/empty", "f", b"", {"mode": 0o6755}), ("d/one", "f", b"1"), ("d/block", "f", b"b" * 512), ("d/large", "f", os.urandom(300000)),
        ("d/link", "h", "d/large"), ("d/short", "l", "x"), ("d/long", "l", "y" * 300), ("d/longest", "l", "z/" * 2000),
        ("d/device", "k", ""), ("d/pipe", "p", ""), ("d/before epoch", "f", b"x", {"mtime": -5}),
        ("d/attributes", "f", b"x", {"pax_headers": {f"SCHILY.xattr.user.{i}": "v" * i * 3 for i in range(30)}}),
        *[(f"many/{'n' * (i % 200)}{i}", "f", b"%d" % i) for i in range(500)], ("many/!", "f", b"before ."), ("nothing", "d", "")]


def test_what_is_mounted_is_what_is_unpacked(place, sink):
    reference = place.made(RICH, [("d/one", "f", b"upper"), ("many/.wh.0", "f", b""), ("h", "h", "d/block"), ("nothing", "f", b"")])
    done = place.mount(reference, "--sink", sink, "--suid")
    assert done.returncode == 0 and sink in done.stdout, done.stderr
    assert image("unpack", reference, place.path / "unpacked", "--no-sync").returncode == 0
    assert difference(snapshot(place.target), snapshot(place.path / "unpacked")) == []
    with pytest.raises(OSError):
        (place.target / "new").write_text("x")
    assert place.umount().returncode == 0 and place.is_clean()


@pytest.mark.parametrize("turn", range(8))
def test_random_stacks_are_mounted_as_they_are_unpacked(place, turn):
    if not can_tarfs(place):
        pytest.skip("this kernel mounts no EROFS image in a file")
    print("TEST_SEED", SEED)
    stack = Stack(random.Random(SEED + turn), layers=5)
    reference = place.made(*stack.layers)
    assert place.mount(reference, "--sink", "tarfs").returncode == 0
    assert image("unpack", reference, place.path / "unpacked", "--no-sync").returncode == 0
    assert difference(snapshot(place.target), snapshot(place.path / "unpacked")) == []
    assert place.umount().returncode == 0


def overlay(place, lowers):
    done = subprocess.run(["mount", "-t", "overlay", "none", place.target, "-o", "lowerdir=" + ":".join(map(str, lowers))],
                          capture_output=True, text=True)
    if done.returncode:
        pytest.skip("no overlay here: " + done.stderr)


@pytest.mark.parametrize("turn", range(8))
def test_layers_unpacked_apart_are_stacked_by_overlayfs(place, turn):
    print("TEST_SEED", SEED)
    stack = Stack(random.Random(SEED + turn), layers=4)
    root = [(".", "d", "", {"mode": 0o755, "mtime": TIME})]
    reference = place.made(*[root + e for e in stack.layers])
    assert image("unpack", reference, place.path / "unpacked", "--no-sync").returncode == 0
    done = image("unpack", reference, place.path / "apart", "--layers", "--no-sync")
    assert done.returncode == 0, done.stderr
    overlay(place, [place.path / "apart" / str(i) for i in reversed(range(len(stack.layers)))])
    assert difference(snapshot(place.target), snapshot(place.path / "unpacked")) == []


def test_whiteouts_of_layers_unpacked_apart(place):
    """Also where lower layers are not there yet, and in whatever order the archive has them."""
    reference = place.made(
        [("d", "d", ""), ("d/old", "f", b""), ("e", "d", ""), ("e/old", "f", b""), ("f", "f", b""), ("g", "d", ""), ("g/old", "f", b"")],
        [(".wh.f", "f", b""), ("d/.wh..wh..opq", "f", b""), ("d", "d", ""), ("d/new", "f", b""), ("e", "d", ""), (".wh.e", "f", b""),
         ("g/.wh.old", "f", b""), ("g/.wh.never", "f", b""), ("h/i/.wh..wh..opq", "f", b"")])
    assert image("unpack", reference, place.path / "apart", "--layers", "--no-sync").returncode == 0
    overlay(place, [place.path / "apart/1", place.path / "apart/0"])
    assert set(snapshot(place.target)) == {b"", b"d", b"d/new", b"e", b"g", b"h", b"h/i"}
    assert os.getxattr(place.path / "apart/1/e", "trusted.overlay.opaque") == b"y"
    assert os.stat(place.path / "apart/1/f").st_rdev == 0


def test_sparse_files_lie_beside_the_tar(place, sink):
    if not shutil.which("tar"):
        pytest.skip("no tar here")
    source = place.path / "source"
    source.mkdir()
    for name in "ab":
        with open(source / name, "wb") as f:
            f.write(b"begin")
            f.seek(20 << 20)
            f.write(b"end of " + name.encode())
            f.truncate((30 << 20) + 7)
        os.utime(source / name, (TIME, TIME))
    os.utime(source, (TIME, TIME))
    data = subprocess.run(["tar", "-cS", "--format=posix", "-C", source, "."], check=True, capture_output=True).stdout
    assert place.mount(place.made(data), "--sink", sink).returncode == 0
    assert difference(snapshot(source), snapshot(place.target)) == []
    stored = int(subprocess.run(["du", "-s", "-k", place.data], check=True, capture_output=True, text=True).stdout.split()[0])
    assert stored < 2000
    assert place.umount().returncode == 0 and place.is_clean()


def test_what_is_written_is_lost_by_umount(place, sink):
    reference = place.made([(".", "d", "", {"mode": 0o711}), ("d", "d", ""), ("d/f", "f", b"lower"), ("gone", "f", b"x")])
    assert place.mount(reference, "--sink", sink, "--rw").returncode == 0
    assert os.stat(place.target).st_mode & 0o7777 == 0o711
    (place.target / "d/f").write_text("upper")
    os.unlink(place.target / "gone")
    assert (place.target / "d/f").read_text() == "upper" and os.listdir(place.target) == ["d"]
    assert place.umount().returncode == 0 and place.is_clean()
    assert place.mount(reference, "--sink", sink).returncode == 0
    assert (place.target / "d/f").read_text() == "lower" and place.umount().returncode == 0


def test_a_mount_in_use_stays_whole(place, sink):
    reference = place.made([("f", "f", b"x")])
    assert place.mount(reference, "--sink", sink, "--rw").returncode == 0
    with open(place.target / "f", "rb"):
        done = place.umount()
        assert done.returncode == 1 and "busy" in done.stderr
        assert os.path.ismount(place.target) and (place.target / "f").read_bytes() == b"x"
        done = place.mount(reference)
        assert done.returncode == 1 and "something is mounted" in done.stderr
    assert place.umount().returncode == 0 and place.is_clean()
    done = place.umount()
    assert done.returncode == 1 and done.stderr == f"error: '{place.target}' is no image that is mounted\n"


def test_strangers_get_no_rights(place, sink):
    reference = place.made([("setuid", "f", b"x", {"mode": 0o4755}), ("null", "k", "")])
    for args, has in (((), True), (("--suid",), False)):
        assert place.mount(reference, "--sink", sink, *args).returncode == 0
        flags = os.statvfs(place.target).f_flag
        assert bool(flags & os.ST_NOSUID) == bool(flags & os.ST_NODEV) == has
        assert place.umount().returncode == 0


def test_a_failure_mounts_nothing(place, sink):
    for entries in ([("../x", "f", b"")], [("h", "h", "nothing")]):
        done = place.mount(place.made(entries), "--sink", sink)
        assert done.returncode == 1 and "layer " in done.stderr and place.is_clean(), done.stderr


def test_a_directory_that_is_not_there_is_named(place):
    done = image("mount", place.made([("f", "f", b"x")]), place.path / "missing", "--data-dir", place.data)
    assert done.returncode == 1 and "missing" in done.stderr


def test_a_user_namespace_mounts_files(tmp_path):
    place = Place(tmp_path)
    reference = place.made([("d", "d", ""), ("d/f", "f", b"lower")], [("d/g", "f", b"upper")])
    script = '"$1" image mount "$2" "$3" --rw --rootless --no-sync --data-dir "$4" && cat "$3/d/f" "$3/d/g" && ' \
             'echo written >"$3/d/f" && rm "$3/d/g" && cat "$3/d/f" && "$1" image umount "$3" --data-dir "$4" && ls -A "$4/mounts" "$3"'
    done = subprocess.run(["unshare", "-Urm", "bash", "-c", script, "-", BUILD / "dormouse", reference, place.target, place.data],
                          capture_output=True, text=True, timeout=DEADLINE_S)
    if "unshare:" in done.stderr:
        pytest.skip("no user namespaces here")
    assert done.returncode == 0, done.stderr
    assert "(dirs)" in done.stdout and "lowerupper" in done.stdout and "written" in done.stdout
