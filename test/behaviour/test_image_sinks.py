# SPDX-License-Identifier: Apache-2.0
"""dormouse image mount --sink cas and layers: files and layers that images share, equal to what is unpacked, and what check, gc and
damage do to them."""
import fcntl
import gzip
import json
import os
import random
import shutil
import stat
import subprocess

import pytest

from conftest import BUILD, DEADLINE_S, can_mount
from image_kit import Layout, layer
from tree_kit import TIME, Stack, difference, snapshot

SEED = int(os.environ.get("TEST_SEED", "0")) or random.randrange(1 << 32)
ROOT = (".", "d", "", {"mode": 0o711, "uid": 7, "mtime": TIME})
SHARED = random.Random(1).randbytes(200_000)
BASE = layer([ROOT, ("etc", "d", "", {"mode": 0o750, "gid": 42}), ("etc/motd", "f", SHARED), ("old", "f", b"x"), ("ln", "l", "etc/motd")])
ONE = layer([("etc/one", "f", b"1" * 3000), (".wh.old", "f", b""), ("again", "f", SHARED, {"mode": 0o4755, "uid": 9})])
TWO = layer([("etc/two", "f", b"2" * 3000), ("two", "f", b"1" * 3000, {"mode": 0o600})])


class Place:
    def __init__(self, path):
        self.path, self.data, self.store = path, path / "data", path / "data/images"
        self.layout = Layout(path / "layout")

    def image(self, *args):
        env = {k: v for k, v in os.environ.items() if k != "DORMOUSE_IMAGE_STORE"}
        return subprocess.run([BUILD / "dormouse", "image", *map(str, args)], capture_output=True, text=True, env=env, timeout=DEADLINE_S)

    def ok(self, *args):
        done = self.image(*args)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def made(self, name, *layers):
        self.layout.image(name, [t if isinstance(t, bytes) else layer(t) for t in layers], compress=gzip.compress)
        return f"oci:{self.layout.directory}:{name}"

    def target(self, name="mnt"):
        (self.path / name).mkdir(exist_ok=True)
        return self.path / name

    def mount(self, what, sink, *args, at="mnt"):
        return self.image("mount", what, self.target(at), "--data-dir", self.data, "--sink", sink, "-o", "json", *args)

    def mounted(self, what, sink, *args, at="mnt"):
        done = self.mount(what, sink, *args, at=at)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout) == {"sink": sink, "fromStore": True}
        return self.path / at

    def umount(self, at="mnt"):
        self.ok("umount", self.path / at, "--data-dir", self.data)

    def tree(self, what):
        shutil.rmtree(self.path / "unpacked", ignore_errors=True)
        self.ok("unpack", what, self.path / "unpacked", "--no-sync")
        return snapshot(self.path / "unpacked")

    def objects(self):
        return [p for p in self.store.glob("objects/*/*")]

    def check(self, *args):
        return self.image("check", "--store", self.store, "-o", "json", *args)

    def mounts(self):
        with open("/proc/self/mountinfo") as f:
            return [line.split()[4] for line in f if str(self.path) in line]

    def is_clean(self):
        return not self.mounts() and not list((self.data / "mounts").iterdir()) and not list((self.store / "leases").iterdir())


@pytest.fixture
def place(tmp_path):
    if not can_mount():
        pytest.skip("no mounts here")
    made = Place(tmp_path)
    yield made
    for at in reversed(made.mounts()):
        subprocess.run(["umount", "-l", at], check=True)


def need(place, sink):
    done = place.mount(place.made("probe", [("f", "f", b"x")]), sink)
    if done.returncode:
        pytest.skip("this kernel does not mount them: " + done.stderr)
    place.umount()
    shutil.rmtree(place.data)


@pytest.fixture(params=["cas", "layers"])
def sink(request, place):
    need(place, request.param)
    return request.param


@pytest.fixture
def cas(place):
    need(place, "cas")


@pytest.fixture
def layers(place):
    need(place, "layers")


def test_images_are_mounted_as_they_are_unpacked(place, sink):
    references = [place.made("one", BASE, ONE), place.made("two", BASE, TWO)]
    for how in ((), ("--rw",)):
        for i, reference in enumerate(references):
            target = place.mounted(reference, sink, *how, at=f"mnt{i}")
            assert difference(snapshot(target), place.tree(reference)) == []
        for i in range(len(references)):
            place.umount(f"mnt{i}")
        assert place.is_clean()
    assert place.check().returncode == 0


def without_some_directories(rng, layers):
    """Upper layers may lack entries for directories that lower ones have."""
    return [layers[0]] + [[e for e in entries if e[1] != "d" or rng.random() < 0.6] for entries in layers[1:]]


@pytest.mark.parametrize("turn", range(12))
def test_random_stacks_are_mounted_as_they_are_unpacked(place, sink, turn):
    print("TEST_SEED", SEED)
    rng = random.Random(SEED + turn)
    layers = Stack(rng, layers=5).layers
    if turn % 2:
        layers = without_some_directories(rng, layers)
    reference = place.made(f"it{turn}", *layers)
    if place.image("unpack", reference, place.path / "probe", "--no-sync").returncode:
        reference = place.made(f"whole{turn}", *Stack(rng, layers=5).layers)
    done = place.mount(reference, sink)
    if sink == "layers" and "cannot be a lower directory" in done.stderr:
        pytest.skip("a stack of these layers would be another tree: " + done.stderr)
    assert done.returncode == 0, done.stderr
    assert difference(snapshot(place.path / "mnt"), place.tree(reference)) == []
    place.umount()
    assert place.is_clean()


def test_a_file_is_kept_once_for_all_layers_and_owners(place, cas):
    for name, top in (("one", ONE), ("two", TWO)):
        place.ok("pull", place.made(name, BASE, top), "--store", place.store, "--form", "cas", "--name", name)
    assert sorted(p.stat().st_size for p in place.objects()) == [1, 3000, 3000, 200_000]
    assert all(stat.S_IMODE(p.stat().st_mode) & 0o222 == 0 for p in place.objects())
    assert not list(place.store.glob("layers/*/data.tar"))
    one = place.mounted("one", "cas", "--suid")
    assert os.stat(one / "again").st_mode & 0o7777 == 0o4755 and os.stat(one / "again").st_uid == 9
    assert (one / "again").read_bytes() == (one / "etc/motd").read_bytes() == SHARED
    place.umount()
    place.ok("rm", "one", "--store", place.store)
    place.ok("gc", "--store", place.store)
    assert sorted(p.stat().st_size for p in place.objects()) == [1, 3000, 3000, 200_000]  # "two" has all of them
    place.ok("rm", "two", "--store", place.store)
    assert json.loads(place.ok("gc", "--store", place.store, "-o", "json"))["files"] == 4
    assert place.objects() == []


def test_layers_that_were_pulled_as_tars_become_files(place, cas):
    reference = place.made("one", BASE, ONE)
    place.ok("pull", reference, "--store", place.store, "--name", "one")
    before = place.tree(reference)
    tarfs = place.image("mount", "one", place.target("before"), "--data-dir", place.data, "--sink", "tarfs")
    assert tarfs.returncode == 0, tarfs.stderr
    assert difference(snapshot(place.mounted("one", "cas")), before) == []
    assert not list(place.store.glob("layers/*/data.tar")) and place.objects()
    assert difference(snapshot(place.path / "before"), before) == []  # it has the tar open
    place.umount()
    place.umount("before")
    place.ok("unpack", f"store:{place.store}:one", place.path / "again", "--no-sync")
    assert difference(snapshot(place.path / "again"), before) == []
    assert place.check().returncode == 0 and place.is_clean()


def test_what_is_written_to_a_mount_reaches_no_other(place, sink):
    references = [place.made("one", BASE, ONE), place.made("two", BASE, TWO)]
    one = place.mounted(references[0], sink, "--rw", at="mnt0")
    two = place.mounted(references[1], sink, at="mnt1")
    before = snapshot(two)
    with open(one / "etc/motd", "r+b") as f:
        f.write(b"changed")
    os.truncate(one / "again", 10)
    os.chmod(one / "etc/one", 0o777)
    os.chown(one / "etc/one", 1, 1)
    etc = one / "etc"
    if sink == "cas":  # others refuse to rename a directory of the image: EXDEV
        etc = etc.rename(one / "other")
    assert (etc / "one").read_bytes() == b"1" * 3000 and (one / "again").read_bytes() == SHARED[:10]
    assert (etc / "motd").read_bytes() == b"changed" + SHARED[7:]
    assert difference(snapshot(two), before) == []
    with pytest.raises(OSError):
        (two / "new").write_text("x")
    place.umount("mnt0")
    place.umount("mnt1")
    assert place.check().returncode == 0 and place.is_clean()


def damage(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.chmod(0o600)
    path.write_bytes(data)


def test_check_finds_every_damaged_file(place, cas):
    reference = place.made("one", BASE, ONE)
    place.ok("pull", reference, "--store", place.store, "--form", "cas", "--name", "one")
    place.mounted("one", "cas")
    place.umount()
    for pattern, kind in (("objects/*/*", "file"), ("layers/*/skeleton", "layer"), ("images/*/*.erofs", "mount")):
        damage(sorted(place.store.glob(pattern))[0])
        done = place.check()
        assert done.returncode == 1 and kind in [f["kind"] for f in json.loads(done.stdout)["findings"]], done.stdout
        assert place.check("--remove").returncode == 0
        assert json.loads(place.check().stdout)["damaged"] == 0
        place.ok("pull", reference, "--store", place.store, "--form", "cas", "--name", "one")
        assert difference(snapshot(place.mounted("one", "cas")), place.tree(reference)) == []
        place.umount()


def test_damaged_directories_of_layers_are_found_and_made_again(place, layers):
    reference = place.made("one", BASE, ONE)
    expected = place.tree(reference)
    for pattern in ("layers/*/lower-*.erofs", "images/*/dirs-*.erofs"):
        for remove in (False, True):
            place.mounted(reference, "layers")
            place.umount()
            damage(sorted(place.store.glob(pattern))[0])
            done = place.check()
            assert done.returncode == 1 and [f["kind"] for f in json.loads(done.stdout)["findings"]] == ["mount"]
            if remove:
                assert place.check("--remove").returncode == 0
            assert difference(snapshot(place.mounted(reference, "layers")), expected) == []
            place.umount()
    assert place.check().returncode == 0


def test_a_file_that_was_cut_short_is_whole_again_after_a_pull_of_another_layer(place, cas):
    place.ok("pull", place.made("one", BASE, ONE), "--store", place.store, "--form", "cas", "--name", "one")
    (path,) = [p for p in place.objects() if p.stat().st_size == 200_000]
    os.truncate(path, 10)
    place.ok("pull", place.made("again", [("copy", "f", SHARED)]), "--store", place.store, "--form", "cas", "--name", "again")
    assert path.read_bytes() == SHARED and place.check().returncode == 0


def test_gc_leaves_files_that_are_mounted(place, cas):
    target = place.mounted(place.made("one", BASE, ONE), "cas")
    expected = snapshot(target)
    place.ok("gc", "--store", place.store)
    subprocess.run(["sh", "-c", "echo 3 >/proc/sys/vm/drop_caches"], check=False, capture_output=True)
    assert difference(snapshot(target), expected) == []
    place.umount()
    place.ok("gc", "--store", place.store)
    assert place.objects() == [] and place.is_clean()


def test_a_layer_is_mounted_once_for_all_images_that_have_it(place, layers):
    references = [place.made("one", BASE, ONE), place.made("two", BASE, TWO)]
    for i, reference in enumerate(references):
        place.mounted(reference, "layers", at=f"mnt{i}")

    def mounted():
        return [m for m in place.mounts() if m.endswith("/mnt") and "/layers/" in m]

    assert len(mounted()) == 3
    place.umount("mnt0")
    assert len(mounted()) == 2
    assert (place.path / "mnt1/etc/motd").read_bytes() == SHARED
    place.umount("mnt1")
    assert mounted() == [] and place.is_clean() and not list(place.store.glob("layers/*/uses*"))


def test_a_layer_that_is_mounted_may_leave_the_store(place, layers):
    reference = place.made("one", BASE, ONE)
    expected = place.tree(reference)
    target = place.mounted(reference, "layers")
    damage(sorted(place.store.glob("layers/*/data.tar"))[0])
    held = snapshot(target)
    done = place.check("--remove")
    assert done.returncode == 0, done.stderr
    place.ok("gc", "--store", place.store)
    assert not list((place.store / "trash").iterdir()) and not [m for m in place.mounts() if "/trash/" in m]
    assert difference(snapshot(target), held) == []
    assert difference(snapshot(place.mounted(reference, "layers", at="again")), expected) == []
    place.umount("again")
    place.umount()
    assert place.is_clean() and place.check().returncode == 0


def test_uses_of_an_earlier_boot_keep_no_layer_mounted(place, layers):
    reference = place.made("one", BASE, ONE)
    boot = place.path / "boot_id"
    boot.write_text("00000000-1111-2222-3333-444444444444\n")
    # The mounts of a mount namespace end with it, as those of a machine that starts again.
    script = 'mount --bind "$1" /proc/sys/kernel/random/boot_id && shift && exec "$@"'
    mount = [BUILD / "dormouse", "image", "mount", reference, place.target("before"), "--data-dir", place.data, "--sink", "layers"]
    done = subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", *map(str, [boot, *mount])], capture_output=True, text=True, timeout=DEADLINE_S)
    assert done.returncode == 0, done.stderr
    assert not place.mounts() and list(place.store.glob("layers/*/uses*/*"))
    place.mounted(reference, "layers")
    assert not list(place.store.glob("layers/*/uses*0000*"))
    place.umount()
    assert place.mounts() == []
    place.ok("gc", "--store", place.store)
    assert not list(place.store.glob("layers/*"))
    place.umount("before")
    assert place.is_clean()


def test_a_data_directory_may_be_given_relative_to_where_the_command_runs(place, sink):
    relative = ["--data-dir", os.path.relpath(place.data)]
    place.ok("mount", place.made("one", BASE, ONE), place.target(), "--sink", sink, *relative)
    assert (place.path / "mnt/etc/motd").read_bytes() == SHARED
    place.ok("umount", place.path / "mnt", *relative)
    assert place.is_clean()


def test_what_a_plain_umount_left_is_cleared(place, sink):
    reference = place.made("one", BASE, ONE)
    subprocess.run(["umount", place.mounted(reference, sink, "--rw")], check=True)
    place.umount()
    assert place.is_clean()
    subprocess.run(["umount", place.mounted(reference, sink)], check=True)
    place.mounted(reference, sink)
    place.umount()
    assert place.is_clean()


def test_layers_that_no_stack_of_directories_can_show(place, layers):
    for i, upper in enumerate(([("h", "h", "etc/motd")], [(".wh.never", "f", b"")], [(".wh..wh..opq", "f", b""), ("n", "f", b"")])):
        reference = place.made(f"it{i}", BASE, upper)
        done = place.mount(reference, "layers")
        assert done.returncode == 1 and "cannot be a lower directory" in done.stderr and place.is_clean(), done.stderr
        done = place.mount(reference, "auto")
        assert done.returncode == 0, done.stderr
        assert difference(snapshot(place.path / "mnt"), place.tree(reference)) == []
        place.umount()


def test_layers_whose_files_are_shared(place, layers):
    reference = place.made("one", BASE, ONE)
    place.ok("pull", reference, "--store", place.store, "--form", "cas", "--name", "one")
    assert difference(snapshot(place.mounted("one", "layers")), place.tree(reference)) == []
    place.umount()
    assert place.is_clean()


def test_a_full_disk_leaves_nothing_half_there(place):
    small = place.target("small")
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1500k", "none", small], capture_output=True).returncode:
        pytest.skip("no small file systems here")
    large = place.made("large", [(f"f{i}", "f", random.Random(i).randbytes(100_000)) for i in range(9)])
    done = place.image("pull", large, "--store", small / "images", "--form", "cas")
    assert done.returncode == 1 and "space" in done.stderr
    assert place.image("check", "--store", small / "images").returncode == 0
    assert not list(small.glob("images/layers/*")) and not list(small.glob("images/objects/*/*"))
    place.ok("pull", place.made("one", BASE, ONE), "--store", small / "images", "--form", "cas")
    assert place.image("check", "--store", small / "images").returncode == 0


# ---- files, hard links between the mounts ----


def mounted_as_files(place, what, *args, at="mnt"):
    done = place.mount(what, "dirs", *args, at=at)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"sink": "dirs", "fromStore": False}
    return place.path / at


def pulled(place, name, *layers, form="raw"):
    place.ok("pull", place.made(name, *layers), "--store", place.store, "--name", name, "--form", form)
    return name


def links(place):
    return [p for p in place.store.glob("links/*/*/*")]


@pytest.mark.parametrize("form", ["raw", "cas"])
def test_files_of_mounts_are_links_to_one_another(place, form):
    one, two = pulled(place, "one", BASE, ONE, form=form), pulled(place, "two", BASE, TWO, form=form)
    mounts = [mounted_as_files(place, one, at="mnt0"), mounted_as_files(place, two, "--rw", at="mnt1"), mounted_as_files(place, one, at="mnt2")]
    for mount, name in zip(mounts, (one, two, one)):
        assert difference(snapshot(mount), place.tree(f"store:{place.store}:{name}")) == []
    fs = [next((place.data / "mounts").glob("*/fs/etc/one")), *(place.data / "mounts").glob("*/fs/etc/motd")]
    assert len(fs) == 4 and len({p.stat().st_ino for p in fs}) == 2
    # The same content with other attributes, or at another path, is another file.
    assert os.stat(mounts[0] / "again").st_ino != os.stat(mounts[0] / "etc/motd").st_ino
    with open(mounts[1] / "etc/motd", "r+b") as f:
        f.write(b"changed")
    os.chmod(mounts[1] / "etc/two", 0o777)
    assert (mounts[0] / "etc/motd").read_bytes() == SHARED
    for i in range(3):
        assert links(place)
        place.umount(f"mnt{i}")
    assert place.is_clean() and not links(place)
    assert place.check().returncode == 0


@pytest.mark.parametrize("form", ["raw", "gz", "both", "cas"])
def test_a_store_of_any_form_is_mounted_by_any_kernel(place, form):
    """Also one that was made under a newer kernel; a sink that this one lacks is refused, and not chosen."""
    one = pulled(place, "one", BASE, ONE, form=form)
    for how in ((), ("--rw",)):
        done = place.mount(one, "auto", *how)
        assert done.returncode == 0, done.stderr
        assert difference(snapshot(place.path / "mnt"), place.tree(f"store:{place.store}:{one}")) == []
        place.umount()
    for sink in ("tarfs", "layers", "cas"):
        done = place.mount(one, sink)
        if done.returncode == 0:
            place.umount()
            assert (sink == "tarfs" and form == "cas") == ("as by --sink cas" in done.stderr), (sink, form, done.stderr)
        assert done.returncode == 0 or done.returncode == 1 and ("this kernel" in done.stderr or form == "gz"), done.stderr
    assert place.is_clean()


@pytest.mark.parametrize("turn", range(6))
def test_random_stacks_are_linked_as_they_are_unpacked(place, turn):
    print("TEST_SEED", SEED)
    rng = random.Random(SEED + turn)
    layers = without_some_directories(rng, Stack(rng, layers=5).layers)
    reference = place.made(f"it{turn}", *layers)
    if place.image("unpack", reference, place.path / "probe", "--no-sync").returncode:
        layers = Stack(rng, layers=5).layers
    pulled(place, "it", *layers)
    expected = place.tree(f"store:{place.store}:it")
    for at in ("mnt0", "mnt1"):
        assert difference(snapshot(mounted_as_files(place, "it", at=at)), expected) == []
    for at in ("mnt0", "mnt1"):
        place.umount(at)
    assert place.is_clean() and not links(place)


def test_a_directory_that_is_hidden_and_has_new_files_is_a_new_one(place):
    low = [ROOT, ("d", "d", "", {"mode": 0o700, "uid": 5}), ("d/in", "d", "", {"mode": 0o711, "uid": 6}), ("d/in/old", "f", b"x")]
    for hides in ("d/.wh..wh..opq", "d/.wh.in", ".wh.d"):
        for top in ([("d/in/new", "f", b"y"), (hides, "f", b"")], [(hides, "f", b""), ("d/in/new", "f", b"y")]):
            pulled(place, "it", low, top)
            tree = place.tree(f"store:{place.store}:it")
            inner = os.stat(place.path / "unpacked/d/in")
            assert (stat.S_IMODE(inner.st_mode), inner.st_uid, inner.st_mtime) == (0o755, 0, 0)
            assert sorted(os.listdir(place.path / "unpacked/d/in")) == ["new"]
            for sink in ("dirs", "auto"):
                done = place.mount("it", sink)
                assert done.returncode == 0, done.stderr
                assert difference(snapshot(place.path / "mnt"), tree) == [], (hides, sink)
                place.umount()


def test_gc_removes_links_that_no_mount_has(place):
    pulled(place, "one", BASE, ONE)
    mounted_as_files(place, "one")
    held = len(links(place))
    place.ok("gc", "--store", place.store)
    assert held and len(links(place)) == held
    (state,) = (place.data / "mounts").iterdir()
    subprocess.run(["umount", place.path / "mnt"], check=True)
    shutil.rmtree(state)  # as if the data directory was emptied by hand
    assert json.loads(place.ok("gc", "--store", place.store, "--dry-run", "-o", "json"))["files"] == held
    assert json.loads(place.ok("gc", "--store", place.store, "-o", "json"))["files"] == held
    assert not links(place)


def test_files_take_no_lock_of_the_store(place):
    pulled(place, "one", BASE, ONE)
    mounted_as_files(place, "one")
    held = len(links(place))
    with open(place.store / "lock", "rb+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        target = mounted_as_files(place, "one", "--wait", "0s", at="copy")
        assert difference(snapshot(target), place.tree(f"store:{place.store}:one")) == []
        assert held and len(links(place)) == held
        for at in ("copy", "mnt"):
            place.ok("umount", place.path / at, "--data-dir", place.data, "--wait", "0s")
        assert place.is_clean() and len(links(place)) == held
    assert json.loads(place.ok("gc", "--store", place.store, "-o", "json"))["files"] == held
    assert not links(place)


def test_a_damaged_tar_gets_into_no_mount_of_files(place):
    pulled(place, "one", [("f", "f", SHARED)])
    (tar,) = place.store.glob("layers/*/data.tar")
    damage(tar)
    done = place.mount("one", "dirs")
    assert done.returncode == 1 and "damaged" in done.stderr, done.stderr
    assert place.is_clean() and not links(place)


def test_an_image_whose_files_cannot_be_links_is_a_copy(place):
    pulled(place, "one", BASE, ONE, form="gz")
    assert difference(snapshot(mounted_as_files(place, "one")), place.tree(f"store:{place.store}:one")) == []
    assert not links(place)
    place.umount()


def test_a_full_disk_leaves_no_links(place):
    small = place.target("small")
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "none", small], capture_output=True).returncode:
        pytest.skip("no small file systems here")
    place.data = small / "data"
    place.store = place.data / "images"
    pulled(place, "large", [(f"f{i}", "f", random.Random(i).randbytes(200_000)) for i in range(9)])
    done = place.mount("large", "dirs")
    assert done.returncode == 1 and "space" in done.stderr, done.stderr
    assert not links(place) and not list((place.data / "mounts").iterdir())


def test_a_sink_that_is_none_is_named(place):
    done = place.mount(place.made("one", BASE), "nothing")
    assert done.returncode == 2 and "tarfs, layers, cas or dirs" in done.stderr
