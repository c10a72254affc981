# SPDX-License-Identifier: Apache-2.0
"""dormouse image snapshotter, called as containerd calls it; with containerd itself: test_foreign_containerd.py."""
import base64
import hashlib
import json
import os
import random
import socket
import stat
import subprocess
import threading

import pytest

from conftest import BUILD, DEADLINE_S, IS_CLOCK_SHIFTED, can_mount, wait_for
from image_kit import Layout, digest, layer
from registry_kit import Fake
from snapshotter_kit import REF, field, fields, info, snapshotter

grpc = pytest.importorskip("grpc", reason="no grpcio here (python3-grpcio)")

pytestmark = [pytest.mark.skipif(os.geteuid() != 0, reason="files of all owners take root"),
              pytest.mark.skipif(IS_CLOCK_SHIFTED, reason="grpcio waits until a time of the wall clock")]
BASE = layer([("etc", "d", ""), ("etc/motd", "f", b"hello\n"), ("etc/gone", "f", b"")])
TOP = layer([("etc", "d", ""), ("etc/.wh.gone", "f", b""), ("etc/more", "f", os.urandom(100_000), {"mode": 0o4755, "uid": 7})])
SEED = int(os.environ.get("TEST_SEED", "0")) or random.randrange(1 << 32)


def chain(*tars):
    """The chain ID of layers."""
    at = digest(tars[0])
    for tar in tars[1:]:
        at = "sha256:" + hashlib.sha256(f"{at} {digest(tar)}".encode()).hexdigest()
    return at


def image(place, *args):
    done = subprocess.run([BUILD / "dormouse", "image", *map(str, args), "--store", place / "store"], capture_output=True, text=True,
                          timeout=DEADLINE_S)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def layout(tmp_path):
    made = Layout(tmp_path / "app")
    made.image("v1", [BASE, TOP])
    return made


@pytest.fixture
def stored(tmp_path, layout):
    image(tmp_path, "pull", f"oci:{layout.directory}:v1", "--name", "app:v1")
    return tmp_path


def prepare_layers(s):
    """Both layers of the image as containerd asks for them; the name of the upper one."""
    parent = ""
    for wanted in (chain(BASE), chain(BASE, TOP)):
        assert s.code("Prepare", field(2, f"default/1/extract {wanted}") + field(3, parent) + field(4, {REF: wanted})) == "ALREADY_EXISTS"
        parent = next(i["name"] for i in s.list() if i["labels"].get(REF) == wanted)
    return parent


def test_layers_that_the_store_has_are_there(stored):
    with snapshotter(stored) as s:
        assert stat.S_IMODE(os.stat(s.socket).st_mode) == 0o600
        top = prepare_layers(s)
        assert prepare_layers(s) == top and len(s.list()) == 2
        (mount,) = s.prepare("default/3/c", top)
        assert mount["type"] == "overlay"
        options = dict(o.split("=", 1) for o in mount["options"])
        lowers = options["lowerdir"].split(":")
        assert len(lowers) == 2 and os.path.dirname(options["upperdir"]) == os.path.dirname(options["workdir"])
        assert open(lowers[1] + "/etc/motd").read() == "hello\n"
        assert os.stat(lowers[0] + "/etc/gone").st_rdev == 0 and stat.S_ISCHR(os.stat(lowers[0] + "/etc/gone").st_mode)
        more = os.stat(lowers[0] + "/etc/more")
        assert (stat.S_IMODE(more.st_mode), more.st_uid) == (0o4755, 7)
        if can_mount():
            target = stored / "mnt"
            target.mkdir()
            subprocess.run(["mount", "-t", "overlay", "overlay", target, "-o", ",".join(mount["options"])], check=True)
            try:
                assert sorted(os.listdir(target / "etc")) == ["more", "motd"]
                (target / "new").write_text("x")
            finally:
                subprocess.run(["umount", target], check=True)
            assert os.path.exists(options["upperdir"] + "/new")


def test_what_the_store_lacks_is_left_to_containerd(tmp_path):
    """Also without any image, and with labels that are no chain IDs."""
    with snapshotter(tmp_path) as s:
        for i, wanted in enumerate((chain(BASE), "sha256:zz", "")):
            (mount,) = s.prepare(f"k{i}", **{REF: wanted})
            assert mount["type"] == "bind" and mount["options"] == ["rw", "rbind"]
        assert [i["kind"] for i in s.list()] == ["active"] * 3


def test_the_life_of_a_snapshot(stored):
    with snapshotter(stored) as s:
        top = prepare_layers(s)
        (mount,) = s.prepare("c", top, a="1")
        upper = next(o for o in mount["options"] if o.startswith("upperdir="))[9:]
        with open(upper + "/written", "wb") as f:
            f.write(b"x" * 5000)
        usage = fields(s.ask("Usage", field(2, "c"))[0])
        assert usage[1][0] >= 5000 and usage[2][0] == 2
        assert s.code("Prepare", field(2, "c") + field(3, top)) == "ALREADY_EXISTS"
        assert s.code("Prepare", field(2, "d") + field(3, "c")) == "INVALID_ARGUMENT"
        assert s.code("Prepare", field(2, "d") + field(3, "nothing")) == "NOT_FOUND"
        assert s.code("Commit", field(2, "img") + field(3, "c") + field(5, top)) == "UNIMPLEMENTED"
        assert s.code("Commit", field(2, "img") + field(3, "c") + field(4, {"b": "2"})) == "OK"
        assert s.code("Mounts", field(2, "img")) == "FAILED_PRECONDITION"
        assert s.code("Mounts", field(2, "c")) == "NOT_FOUND"
        (view,) = s.prepare("v", "img", method="View")
        assert view["type"] == "overlay" and not any(o.startswith("upperdir") for o in view["options"])
        assert s.code("Remove", field(2, "img")) == "FAILED_PRECONDITION"
        got = info(fields(s.ask("Stat", field(2, "img"))[0])[1][0])
        assert got == {"name": "img", "parent": top, "kind": "committed", "labels": {"b": "2"}}
        update = field(2, field(1, "img") + field(6, {"b": "", "c": "3"})) + field(3, field(1, "labels.b") + field(1, "labels.c"))
        assert info(fields(s.ask("Update", update)[0])[1][0])["labels"] == {"c": "3"}
        assert s.code("Update", field(2, field(1, "img")) + field(3, field(1, "parent"))) == "INVALID_ARGUMENT"
        filtered = s.ask("List", field(2, f'labels."{REF}"=={chain(BASE, TOP)},kind==committed'))
        assert [info(m)["name"] for a in filtered for m in fields(a)[1]] == [top]
        assert s.code("List", field(2, "name~=x")) == "UNIMPLEMENTED"
        for name in ("v", "img", top):
            assert s.code("Remove", field(2, name)) == "OK"
        assert s.code("Cleanup") == "OK"
        assert len(s.list()) == 1 and len(s.dirs()) == 1


def test_hostile_calls_change_nothing(tmp_path):
    with snapshotter(tmp_path) as s:
        assert s.code("Prepare", b"\x12\xff\xff\xff\xff\x0f") == "INVALID_ARGUMENT"
        assert s.code("Prepare", field(2, "x" * 2000)) == "INVALID_ARGUMENT"
        assert s.code("Prepare", field(2, "a\nb")) == "INVALID_ARGUMENT"
        assert s.code("Prepare", field(2, "a\0b")) == "INVALID_ARGUMENT"
        assert s.code("Prepare", field(2, "a") + field(4, {f"k{i}": "v" for i in range(100)})) == "INVALID_ARGUMENT"
        assert s.code("Prepare", field(2, "a") + field(4, {"k": "v" * 5000})) == "INVALID_ARGUMENT"
        assert s.code("Prepare", bytes(300_000)) == "RESOURCE_EXHAUSTED"
        assert s.code("Nothing") == "UNIMPLEMENTED"
        assert s.code("Prepare", field(2, "../../etc")) == "OK"  # a name is not a path
        assert s.code("Remove", field(2, "../../etc\0")) == "NOT_FOUND"  # another name
        assert s.list()[0]["name"] == "../../etc" and len(s.dirs()) == 1
        with socket.socket(socket.AF_UNIX) as other:  # no HTTP/2
            other.connect(str(s.socket))
            other.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            assert b" 404 " in other.recv(4096)


def peak_memory(process):
    with open(f"/proc/{process.pid}/status") as f:
        return next(int(line.split()[1]) << 10 for line in f if line.startswith("VmHWM"))


def test_a_long_filter_takes_memory_as_its_length(tmp_path):
    with snapshotter(tmp_path) as s:
        assert s.code("List", field(2, "name")) == "OK"
        before = peak_memory(s.process)
        assert s.code("List", field(2, "labels" + '.""' * 10_000)) == "OK"
        assert s.code("List", field(2, 'labels."' + "x" * 30_000 + '"')) == "RESOURCE_EXHAUSTED"
        assert s.code("List", field(2, 'labels."' + "x" * 30_000)) == "INVALID_ARGUMENT"
        assert s.code("List", field(2, 'labels."x\\')) == "INVALID_ARGUMENT"
        assert peak_memory(s.process) - before < 32 << 20


def test_killed_at_any_time_nothing_that_was_answered_is_lost(stored):
    """A client that prepares, commits and removes as fast as it can, and a kill without warning; then again."""
    print("TEST_SEED", SEED)
    rng = random.Random(SEED)
    with snapshotter(stored) as s:
        top, known, number = prepare_layers(s), {}, 0
        for turn in range(6):
            timer = threading.Timer(rng.uniform(0.01, 0.3), s.process.kill)
            timer.start()
            pending = None
            try:
                while True:
                    number += 1
                    names = [n for n, kind in known.items() if kind == "active"]
                    if names and rng.random() < 0.5:
                        name = rng.choice(names)
                        pending = (name, "committed")
                        s.ask("Commit", field(2, name + "!") + field(3, name))
                        del known[name]
                        known[name + "!"] = "committed"
                    elif known and rng.random() < 0.3:
                        name = rng.choice(list(known))
                        pending = (name, "removed")
                        s.ask("Remove", field(2, name))
                        del known[name]
                    else:
                        pending = (f"k{number}", "active")
                        s.prepare(f"k{number}", top)
                        known[f"k{number}"] = "active"
            except grpc.RpcError as error:
                assert error.code().name == "UNAVAILABLE", error
            timer.join()
            s.kill()
            s.start()
            now = {i["name"]: i["kind"] for i in s.list() if i["name"].startswith("k")}
            name, what = pending
            for maybe in (name, name + "!"):  # the call that was not answered happened, or it did not
                if now.get(maybe) != known.get(maybe):
                    assert maybe == name or what == "committed"
                    known.pop(maybe, None)
                    known.update({maybe: now[maybe]} if maybe in now else {})
            assert now == known
            assert len(s.dirs()) == len(s.list())
            assert [*(s.root / "tmp").iterdir(), *(s.root / "trash").iterdir()] == []
        for name in [*known, top]:
            s.ask("Remove", field(2, name))
        assert len(s.list()) == 1


def fill(path):
    """Write it until there is no room."""
    with pytest.raises(OSError), open(path, "wb", buffering=0) as f:
        while f.write(bytes(4096)) == 4096:
            pass
        f.write(bytes(4096))


def test_a_full_disk_is_an_error_and_nothing_else(stored):
    """The snapshots lie on a file system of 1 MiB, which a container fills: a large layer is left to containerd, calls fail, and a snapshot
    that is removed gives its room back, also after a start without room."""
    if not can_mount():
        pytest.skip("no mounts here")
    large = layer([("large", "f", os.urandom(3 << 20))])
    made = Layout(stored / "large")
    made.image("v1", [large])
    image(stored, "pull", f"oci:{made.directory}:v1", "--name", "large:v1")
    (stored / "snapshots").mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", stored / "snapshots"], check=True)
    try:
        with snapshotter(stored) as s:
            (mount,) = s.prepare("k", **{REF: chain(large)})
            assert mount["type"] == "bind" and list((s.root / "tmp").iterdir()) == []
            wait_for(lambda: any("layer not unpacked" in line and "No space" in line for line in s.log), "the log to say so")
            names = []
            for is_started_again in (False, True):
                fill(mount["source"] + "/filler")
                while (code := s.code("Prepare", field(2, name := f"n{len(names)}".ljust(200)) + field(4, {"k": "v" * 4000}))) == "OK":
                    names.append(name)
                assert code == "RESOURCE_EXHAUSTED" and len(names) > 40
                assert {i["name"] for i in s.list()} == {"k", *names}
                if is_started_again:
                    s.kill()
                    s.start()
                    assert {i["name"] for i in s.list()} == {"k", *names}
                    assert s.code("Prepare", field(2, "again") + field(4, {"k": "v" * 4000})) == "RESOURCE_EXHAUSTED"
                while names:  # these have no files; more bytes of the journal than are left over of any block
                    assert s.code("Remove", field(2, names.pop())) == "OK"
                assert s.code("Remove", field(2, "k")) == "OK"
                (mount,) = s.prepare("k")
            s.kill()
            s.start()
            assert [i["name"] for i in s.list()] == ["k"]
    finally:
        subprocess.run(["umount", stored / "snapshots"], check=True)


def test_a_layer_of_one_tenant_is_not_given_by_its_chain_id(stored):
    """An image can list a DiffID that its author only heard of."""
    (stored / "store/tenants" / digest(BASE)[7:]).mkdir(parents=True)
    with snapshotter(stored) as s:
        (mount,) = s.prepare("k", **{REF: chain(BASE)})
        assert mount["type"] == "bind"


@pytest.fixture
def registry():
    r = Fake()
    yield r
    r.close()


def test_images_of_upstreams_are_pulled_once(tmp_path, layout, registry):
    registry.add_layout(layout, "app", "v1")
    labels = {"containerd.io/snapshot/cri.image-ref": f"{registry.host}/app:v1"}
    with snapshotter(tmp_path, "--upstream", registry.host) as s:
        codes, parent = [], ""
        first = threading.Thread(target=lambda: codes.append(s.code("Prepare", field(2, "a") + field(4, {REF: chain(BASE), **labels}))))
        first.start()
        codes.append(s.code("Prepare", field(2, "b") + field(4, {REF: chain(BASE), **labels})))
        first.join()
        assert codes == ["ALREADY_EXISTS"] * 2
        assert len([p for p in registry.paths("GET") if "/blobs/" in p]) == 3  # the configuration and two layers
        parent = s.list()[0]["name"]
        assert s.code("Prepare", field(2, "c") + field(3, parent) + field(4, {REF: chain(BASE, TOP), **labels})) == "ALREADY_EXISTS"
        assert len([p for p in registry.paths("GET") if "/blobs/" in p]) == 3


def test_credentials_of_the_node_are_not_used(tmp_path, layout, registry):
    """The author of any image may have written the label, and what is pulled is for everybody."""
    registry.add_layout(layout, "app", "v1")
    registry.auth, registry.users["root"] = "basic", "secret"
    auths = tmp_path / "auth.json"
    auths.write_text(json.dumps({"auths": {registry.host: {"auth": base64.b64encode(b"root:secret").decode()}}}))
    with snapshotter(tmp_path, "--upstream", registry.host, env={"REGISTRY_AUTH_FILE": str(auths)}) as s:
        (mount,) = s.prepare("a", **{REF: chain(BASE), "containerd.io/snapshot/cri.image-ref": f"{registry.host}/app:v1"})
        assert mount["type"] == "bind"
        wait_for(lambda: any("image not pulled" in line and "a snapshotter pulls without any" in line for line in s.log), "the log to say so")
    assert registry.seen and not any("Authorization" in headers for _, _, headers in registry.seen)


def test_other_registries_are_not_asked(tmp_path, layout, registry):
    registry.add_layout(layout, "app", "v1")
    with snapshotter(tmp_path, "--upstream", "registry.example") as s:
        (mount,) = s.prepare("a", **{REF: chain(BASE), "containerd.io/snapshot/cri.image-ref": f"{registry.host}/app:v1"})
        assert mount["type"] == "bind" and registry.seen == []


def test_pulls_that_hang_hold_up_no_layer_of_the_store(stored, registry):
    """As many at once as there may be."""
    end, arrived = threading.Event(), threading.Semaphore(0)

    def hang(handler):
        arrived.release()
        end.wait(DEADLINE_S)
        return handler.error(404, "MANIFEST_UNKNOWN")

    registry.faults += [("GET", f"/app{i}/", hang) for i in range(4)]
    codes = []

    def ask(s, i):
        labels = {REF: f"sha256:{i:064d}", "containerd.io/snapshot/cri.image-ref": f"{registry.host}/app{i}:v1"}
        codes.append(s.code("Prepare", field(2, f"pull{i}") + field(4, labels)))

    with snapshotter(stored, "--upstream", registry.host) as s:
        assert s.code("Stat", field(2, "x")) == "NOT_FOUND"
        threads = [threading.Thread(target=ask, args=(s, i)) for i in range(4)]
        for t in threads:
            t.start()
        try:
            assert all(arrived.acquire(timeout=DEADLINE_S) for _ in threads)
            assert s.code("Prepare", field(2, "a") + field(4, {REF: chain(BASE)})) == "ALREADY_EXISTS"
            assert codes == []
        finally:
            end.set()
            for t in threads:
                t.join()
        assert codes == ["OK"] * 4


def test_a_registry_that_fails_leaves_it_to_containerd(tmp_path, registry):
    with snapshotter(tmp_path, "--upstream", registry.host) as s:
        (mount,) = s.prepare("a", **{REF: chain(BASE), "containerd.io/snapshot/cri.image-ref": f"{registry.host}/app:v1"})
        assert mount["type"] == "bind"
        wait_for(lambda: any("image not pulled" in line for line in s.log), "the log to say so")


def test_a_damaged_journal_is_said_and_nothing_is_removed(stored):
    with snapshotter(stored) as s:
        s.prepare("a")
        s.prepare("b")
        s.kill()
        data = bytearray((s.root / "journal").read_bytes())
        data[60] ^= 1
        (s.root / "journal").write_bytes(data)
        with pytest.raises(AssertionError, match="damaged"):
            s.start()
        assert s.dirs() == {"1", "2"}


def test_a_socket_in_a_directory_that_is_not_there_is_named(tmp_path):
    at = tmp_path / "none" / "socket"
    done = subprocess.run([BUILD / "dormouse", "image", "snapshotter", "--socket", at, "--root", tmp_path / "snapshots", "--store", tmp_path / "store"],
                          capture_output=True, text=True, timeout=DEADLINE_S)
    assert done.returncode == 1 and f"listen on '{at}': No such file or directory" in done.stderr
