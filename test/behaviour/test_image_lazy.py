# SPDX-License-Identifier: Apache-2.0
"""dormouse image run --record and --lazy: an image runs before all of its files are here, and what its programs see when files do not come."""
import contextlib
import http.client
import json
import os
import shutil
import signal
import struct
import subprocess
import termios
import random

import pytest

from conftest import BUILD, DEADLINE_S, is_alive, wait_for
from image_kit import Layout, layer, programs
from lazy_kit import Valve, forged_tree, sha256, summed, tree_parts
from serve_kit import serve

LATER = b"what is opened later\n"
REST = random.Random(7).randbytes(1 << 20).hex().encode() + b"\n"
FILES = [("start.txt", "f", b"start\n"), ("later.txt", "f", LATER), ("rest", "f", REST), ("empty", "f", b""), ("hidden", "f", b"hidden"),
         ("secret", "f", b"secret", {"mode": 0o600})]
RUN = ["sh", "-c", "cat /start.txt; while read f; do if cat $f; then echo read; else echo failed; fi; done"]
pytestmark = pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("crun") or not os.path.exists("/dev/fuse"), reason="lazy starts take root, crun and /dev/fuse")


def run(store, data, image, *options, args=(), **more):
    command = [BUILD / "dormouse", "image", "run", image, "--store", store, "--data-dir", data, *options, *(["--", *args] if args else [])]
    clean = {k: v for k, v in os.environ.items() if "proxy" not in k.lower()}
    return subprocess.Popen([str(c) for c in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=clean, **more)


def image(store, *args):
    return subprocess.run([BUILD / "dormouse", "image", *map(str, args), "--store", store], capture_output=True, text=True, timeout=DEADLINE_S)


@pytest.fixture(scope="module")
def cloud(tmp_path_factory):
    """A store with an image whose start was recorded, the digests of its list, and the DiffIDs of its layers."""
    root = tmp_path_factory.mktemp("lazy")
    layers = [layer([("tmp", "d", "", {"mode": 0o1777}), *programs("sh", "cat")]),
              layer(FILES),
              layer([("hidden", "f", b"seen")])]
    Layout(root / "app").image("v1", layers, run={"Cmd": RUN})
    Layout(root / "other").image("v1", [layer([("f", "f", b"f")])])
    for name in ("app", "other"):
        assert image(root / "store", "pull", f"oci:{root}/{name}:v1", "--name", f"docker.io/library/{name}:v1").returncode == 0
    child = run(root / "store", root / "data", "docker.io/library/app:v1", "--record")
    out, err = child.communicate("", timeout=DEADLINE_S)
    assert (child.returncode, out) == (0, "start\n"), err
    assert "recorded" in err
    lists = list((root / "store/images").glob("*/start"))
    assert len(lists) == 1
    words = lists[0].read_text().split("\n")
    assert words[0] == "dormouse start 1"
    return root / "store", set(words[1:-1]), [sha256(t) for t in layers]


@pytest.fixture
def valve(cloud):
    with serve(cloud[0]) as s:
        made = Valve(s.host)
        made.open = set(cloud[1])       # at first no more than the list
        try:
            yield made
        finally:
            made.close()


@contextlib.contextmanager
def lazy(valve, tmp_path, *options):
    """It has started, with nothing but the files of its list."""
    child = run(tmp_path / "images", tmp_path / "data", f"docker://{valve.host}/app:v1", "--lazy", *options)
    try:
        line = child.stdout.readline()
        assert line == "start\n", child.stderr.read()
        yield child
    finally:
        child.kill()
        child.wait(DEADLINE_S)
        for f in (child.stdin, child.stdout, child.stderr):
            f.close()


def ask(child, path):
    child.stdin.write(path + "\n")
    child.stdin.flush()


def lines(child, n):
    return [child.stdout.readline() for _ in range(n)]


def guardian(child):
    found = [pid for pid in os.listdir("/proc") if pid.isdigit() and is_guardian(pid, child.pid)]
    assert len(found) == 1
    return int(found[0])


def is_guardian(pid, parent):
    with contextlib.suppress(OSError):
        with open(f"/proc/{pid}/cmdline", "rb") as f, open(f"/proc/{pid}/stat") as s:
            return b"--guard-files" in f.read() and int(s.read().rsplit(")", 1)[1].split()[1]) == parent
    return False


def starting(store):
    found = [row for row in json.loads(image(store, "ls", "-o", "json").stdout) if "state" in row]
    assert len(found) <= 1
    return found[0] if found else None


def is_clean(tmp_path):
    return list((tmp_path / "data/runs").iterdir()) == [] and str(tmp_path) not in open("/proc/mounts").read()


def test_the_list_has_what_the_start_opens(cloud):
    _, digests, _ = cloud
    assert sha256(b"start\n") in digests and len(digests) >= 4           # a shell, cat, and libraries
    assert not digests & {sha256(LATER), sha256(REST), sha256(b""), sha256(b"seen")}


def test_the_list_of_private_layers_is_not_given(cloud, tmp_path):
    shutil.copytree(cloud[0], tmp_path / "store")
    with serve(tmp_path / "store") as s:
        manifest = json.loads(s.get("/v2/app/manifests/v1")[2])
        path = f"/v2/app/_dormouse/starts/{manifest['config']['digest']}"
        status, _, body = s.get(path)
        assert status == 200 and set(body.decode().split("\n")[1:-1]) == cloud[1]
        assert s.get(f"/v2/app/_dormouse/starts/sha256:{sha256(b'none')}")[0] == 404
        for private in (cloud[2][1], manifest["config"]["digest"][7:]):      # a layer; the configuration alone
            (tmp_path / "store/tenants" / private).mkdir(parents=True, mode=0o700)
            assert s.get(path)[0] == 404
            (tmp_path / "store/tenants" / private).rmdir()
            assert s.get(path)[0] == 200


def test_it_runs_before_all_is_here_and_then_all_is(cloud, valve, tmp_path):
    with lazy(valve, tmp_path) as child:
        assert not list((tmp_path / "images/layers").iterdir())
        row = starting(tmp_path / "images")
        assert row["name"] == f"docker://{valve.host}/app:v1" and row["state"].startswith("running, hydrating ") and 0 < row["doneBytes"] < row["allBytes"]
        assert row["state"] in image(tmp_path / "images", "ls").stdout
        valve.set(open=valve.open | {sha256(LATER)})
        ask(child, "/later.txt")                                          # while the background waits for all others
        assert lines(child, 2) == [LATER.decode(), "read\n"]
        assert not list((tmp_path / "images/layers").iterdir())
        ask(child, "/empty")
        assert lines(child, 1) == ["read\n"]
        valve.set(open=None)
        wait_for(lambda: all((tmp_path / "images/layers" / d).exists() for d in cloud[2]), "the layers are in the store")
        wait_for(lambda: list((tmp_path / "images/images").glob("*/start")), "and the list")
        wait_for(lambda: f"{valve.host}/app:v1" in [row["name"] for row in json.loads(image(tmp_path / "images", "ls", "-o", "json").stdout)], "and its name")
        assert starting(tmp_path / "images")["state"] == "running"
        wait_for(lambda: list((tmp_path / "images/leases").iterdir()), "and a lease")
        assert image(tmp_path / "images", "rm", f"{valve.host}/app:v1").returncode == 0
        assert image(tmp_path / "images", "gc").returncode == 0
        assert all((tmp_path / "images/layers" / d).exists() for d in cloud[2])  # while it runs
        ask(child, "/hidden")
        assert child.stdout.readline() == "seenread\n"
        out, err = child.communicate("", timeout=DEADLINE_S)
        assert (child.returncode, out, err) == (0, "", "")
    assert is_clean(tmp_path) and starting(tmp_path / "images") is None
    assert list((tmp_path / "images/leases").iterdir()) == []
    assert image(tmp_path / "images", "check").returncode == 0
    n = len(valve.asked)
    again = run(tmp_path / "images", tmp_path / "data", f"docker://{valve.host}/app:v1", "--lazy")
    assert again.communicate("/rest\n", timeout=DEADLINE_S) == ("start\n" + REST.decode() + "read\n", "")
    assert len(valve.asked) == n                                           # all is here: an ordinary start


def all_stored(images, cloud):
    return all((images / "layers" / d).exists() for d in cloud[2])


def test_a_server_that_has_the_store_puts_the_image_there(cloud, valve, tmp_path):
    image(tmp_path / "images", "gc")
    with serve(tmp_path / "images", "--upstream", "127.0.0.1:1") as server, lazy(valve, tmp_path) as child:
        valve.set(open=None)
        wait_for(lambda: f"{valve.host}/app:v1" in [row["name"] for row in json.loads(image(tmp_path / "images", "ls", "-o", "json").stdout)], "its name is there")
        assert all_stored(tmp_path / "images", cloud) and list((tmp_path / "images/images").glob("*/start"))
        wait_for(lambda: list((tmp_path / "images/leases").iterdir()), "and a lease")
        ask(child, "/hidden")
        assert child.stdout.readline() == "seenread\n"
        out, err = child.communicate("", timeout=DEADLINE_S)
        assert (child.returncode, out, err) == (0, "", "") and not server.log
        assert list((tmp_path / "images/leases").iterdir()) == []
    assert is_clean(tmp_path)
    assert image(tmp_path / "images", "check").returncode == 0


def test_two_starts_fetch_an_image_once(cloud, valve, tmp_path):
    with lazy(valve, tmp_path) as first, lazy(valve, tmp_path) as second:
        valve.set(open=None)
        wait_for(lambda: all_stored(tmp_path / "images", cloud), "the layers are in the store")
        wait_for(lambda: len(list((tmp_path / "images/leases").iterdir())) == 2, "both have all of it")
        asked = [d for digests in valve.asked for d in digests]
        assert asked.count(sha256(REST)) == 1
        for child in (first, second):
            out, err = child.communicate("/rest\n", timeout=DEADLINE_S)
            assert (child.returncode, out, err) == (0, REST.decode() + "read\n", "")
    assert list((tmp_path / "images/starts").iterdir()) == []


def test_a_start_goes_on_when_the_other_one_is_killed(cloud, valve, tmp_path):
    with lazy(valve, tmp_path) as first, lazy(valve, tmp_path) as second:
        first.kill()
        first.wait(DEADLINE_S)
        valve.set(open=None)
        wait_for(lambda: all_stored(tmp_path / "images", cloud), "the layers are in the store")
        out, err = second.communicate("/rest\n", timeout=DEADLINE_S)
        assert (second.returncode, out, err) == (0, REST.decode() + "read\n", "")


def test_a_start_goes_on_when_the_registry_of_the_other_one_is_away(cloud, valve, tmp_path):
    with contextlib.closing(Valve(valve.target)) as away:
        away.open = set(cloud[1])
        with lazy(away, tmp_path):
            wait_for(lambda: list((tmp_path / "images/starts").glob("turn-*")), "it fetches for both")
            with lazy(valve, tmp_path):
                away.set(is_refusing=True)
                valve.set(open=None)
                wait_for(lambda: all_stored(tmp_path / "images", cloud), "the layers are in the store")


def test_nothing_is_asked_for_twice_that_other_images_have(cloud, valve, tmp_path):
    Layout(tmp_path / "mine").image("v1", [layer([("a/copy", "f", REST)])])
    assert image(tmp_path / "images", "pull", f"oci:{tmp_path}/mine:v1", "--name", "mine:v1").returncode == 0
    with lazy(valve, tmp_path) as child:
        valve.set(open=None)
        wait_for(lambda: all((tmp_path / "images/layers" / d).exists() for d in cloud[2]), "the layers are in the store")
    assert sha256(REST) not in {d for digests in valve.asked for d in digests}


def test_a_registry_that_goes_away_and_comes_back(valve, tmp_path):
    with lazy(valve, tmp_path, "--open-timeout", "300ms") as child:
        valve.set(is_refusing=True)
        ask(child, "/later.txt")
        assert lines(child, 1) == ["failed\n"]
        ask(child, "/start.txt")                                           # what is here stays
        assert lines(child, 2) == ["start\n", "read\n"]
        valve.set(is_refusing=False, open=None)

        def is_back():
            ask(child, "/later.txt")
            return child.stdout.readline() == LATER.decode() and child.stdout.readline() == "read\n"
        wait_for(is_back, "the file comes")
        child.stdin.close()
        child.stdin = open(os.devnull)
        assert child.wait(DEADLINE_S) == 0
        err = child.stderr.read()
        assert "Input/output error" in err and "warning: files of the image" in err
    assert is_clean(tmp_path)


def test_a_start_survives_connections_that_break(valve, tmp_path):
    valve.breaks = {"/starts/": 1, "/trees/": 2, "/_dormouse/files": 1}
    with lazy(valve, tmp_path) as child:
        assert not any(valve.breaks.values())
        out, err = child.communicate("", timeout=DEADLINE_S)
        assert child.returncode == 0, err


def test_a_killed_guardian_gives_errors_and_no_zeros(valve, tmp_path):
    with lazy(valve, tmp_path) as child:
        pid = guardian(child)
        os.kill(pid, signal.SIGKILL)
        wait_for(lambda: not is_alive(pid), "it has ended")               # its sockets are closed only then
        ask(child, "/later.txt")
        assert lines(child, 1) == ["failed\n"]
        valve.set(open=None)
        out, err = child.communicate("/rest\n", timeout=DEADLINE_S)
        assert out == "failed\n" and "not connected" in err and "process that serves the files of the container has ended" in err, out + err      # of cat itself there is no page any more, or it fails
    assert is_clean(tmp_path)


def test_kill_9_ends_the_container_and_the_guardian(valve, tmp_path):
    with lazy(valve, tmp_path) as child:
        pid = guardian(child)
        child.kill()
        child.wait(DEADLINE_S)
        assert child.stdout.read() == ""                                   # the last process of the container is gone
        wait_for(lambda: not is_alive(pid), "the guardian ends with the mount")
    assert str(tmp_path) not in open("/proc/mounts").read()
    after = run(tmp_path / "images", tmp_path / "data", f"docker://{valve.host}/app:v1", "--lazy")
    assert after.communicate("", timeout=DEADLINE_S)[0] == "start\n"       # and removes what is left
    assert is_clean(tmp_path)


def forge(host, cloud, tmp_path):
    """The path and the tree manifest of the second layer in which a file is another user's, and may run as that user: the tar is the right one."""
    files = [(*entry[:3], {"mode": 0o4755, "uid": 1}) if entry[0] == "later.txt" else entry for entry in FILES]
    Layout(tmp_path / "forged").image("v1", [layer(files)])
    assert image(tmp_path / "forging", "pull", f"oci:{tmp_path}/forged:v1", "--name", "app:v1").returncode == 0
    path = f"/v2/app/_dormouse/trees/sha256:{cloud[2][1]}"
    with serve(tmp_path / "forging") as s:
        return path, forged_tree(http_get(host, path), s.get(f"/v2/app/_dormouse/trees/sha256:{sha256(layer(files))}")[2])


def http_get(host, path):
    connection = http.client.HTTPConnection(host, timeout=DEADLINE_S)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        assert answer.status == 200
        return answer.read()
    finally:
        connection.close()


def test_a_registry_that_forges_attributes_ends_the_container(cloud, valve, tmp_path):
    path, text = forge(valve.target, cloud, tmp_path)
    valve.instead[path] = text
    with lazy(valve, tmp_path) as child:
        valve.set(open=None)
        assert child.wait(DEADLINE_S) == 1
        assert child.stdout.read() == "" and "sent files that differ from the image" in child.stderr.read()


def test_a_registry_that_withholds_a_file_of_one_layer_hides_no_other(cloud, valve, tmp_path):
    path, text = forge(valve.target, cloud, tmp_path)
    valve.instead[path] = text
    with lazy(valve, tmp_path) as child:
        valve.set(open=None, withheld=sha256(b"seen"))
        assert child.wait(DEADLINE_S) == 1
        assert "sent files that differ from the image" in child.stderr.read()
    assert is_clean(tmp_path)


def test_a_registry_that_withholds_a_file_for_good_is_told(cloud, valve, tmp_path):
    with lazy(valve, tmp_path) as child:
        valve.set(open=None, withheld=sha256(b"seen"))
        line = ""
        while "files of the image cannot be fetched" not in line:
            line = child.stderr.readline()
            assert line
        assert line.startswith("error: ")
        out, err = child.communicate("/later.txt\n", timeout=DEADLINE_S)
        assert (child.returncode, out) == (0, LATER.decode() + "read\n"), err
    assert is_clean(tmp_path)


def test_a_container_whose_layers_stay_unproven_is_ended(cloud, valve, tmp_path):
    path, text = forge(valve.target, cloud, tmp_path)
    valve.instead[path] = text
    with lazy(valve, tmp_path, "--prove-within", "300ms") as child:              # while the valve holds everything else
        assert child.wait(DEADLINE_S) == 1
        assert child.stdout.read() == "" and "--prove-within" in child.stderr.read()
    assert is_clean(tmp_path)


def test_a_program_that_ends_before_all_is_proven_is_told_so(valve, tmp_path):
    with lazy(valve, tmp_path) as child:
        out, err = child.communicate("", timeout=DEADLINE_S)
        assert (child.returncode, out) == (0, "") and "warning: the container ended before" in err
    assert is_clean(tmp_path)


def test_a_terminal_is_as_it_was_when_the_container_is_ended(cloud, valve, tmp_path):
    path, text = forge(valve.target, cloud, tmp_path)
    valve.instead[path] = text
    ours, terminal = os.openpty()
    try:
        before = termios.tcgetattr(terminal)
        child = subprocess.Popen([BUILD / "dormouse", "image", "run", f"docker://{valve.host}/app:v1", "--lazy", "-t", "--store", tmp_path / "images", "--data-dir", tmp_path / "data"],
                                 stdin=terminal, stdout=terminal, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            wait_for(lambda: termios.tcgetattr(terminal) != before, "the runtime has made it raw")
            valve.set(open=None)
            assert child.wait(DEADLINE_S) == 1
            assert termios.tcgetattr(terminal) == before
        finally:
            child.kill()
            child.wait(DEADLINE_S)
    finally:
        os.close(ours)
        os.close(terminal)
    assert is_clean(tmp_path)


def test_a_forged_layer_that_is_here_already_does_not_start(cloud, valve, tmp_path):
    path, text = forge(valve.target, cloud, tmp_path)
    Layout(tmp_path / "mine").image("v1", [layer(FILES)])
    assert image(tmp_path / "images", "pull", f"oci:{tmp_path}/mine:v1", "--name", "mine:v1").returncode == 0
    valve.instead[path] = text
    child = run(tmp_path / "images", tmp_path / "data", f"docker://{valve.host}/app:v1", "--lazy")
    out, err = child.communicate("", timeout=DEADLINE_S)
    assert (child.returncode, out) == (1, "") and "the registry says" in err, err
    assert is_clean(tmp_path)


def test_a_layer_that_cannot_be_made_ends_the_container(cloud, valve, tmp_path):
    """Of a frame that does not unpack nothing can be proven."""
    path = f"/v2/app/_dormouse/trees/sha256:{cloud[2][1]}"
    index, frame = tree_parts(http_get(valve.target, path))
    valve.instead[path] = summed(b"DMTREEMF" + struct.pack("<IIQQ", 1, 1, len(index), len(frame) - 4) + index + frame[:-4])
    with lazy(valve, tmp_path) as child:
        valve.set(open=None)
        assert child.wait(DEADLINE_S) == 1
        assert "sent files that differ from the image" in child.stderr.read()


def test_a_registry_whose_files_are_not_the_images_ends_the_container(cloud, tmp_path):
    """One byte between two files of a layer differs: every file is what its digest says, the layer is not."""
    shutil.copytree(cloud[0], tmp_path / "wrong")
    with open(tmp_path / "wrong/layers" / cloud[2][2] / "data.tar", "r+b") as f:
        f.seek(512 + 100)
        assert f.read(1) == b"\0"
        f.seek(512 + 100)
        f.write(b"x")
    with serve(tmp_path / "wrong") as s, contextlib.closing(Valve(s.host)) as valve:
        valve.open = set(cloud[1])
        with lazy(valve, tmp_path) as child:
            valve.set(open=None)
            assert child.wait(DEADLINE_S) == 1
            assert child.stdout.read() == "" and "sent files that differ from the image" in child.stderr.read()
        assert not (tmp_path / "images/layers" / cloud[2][2]).exists()


@pytest.mark.parametrize("name, options, status, text", [
    ("docker://{host}/other:v1", ["--lazy"], 1, "no start of the image was recorded"),
    ("oci:{root}/app:v1", ["--lazy"], 1, "single files"),
    ("docker://{host}/app:v1", ["--record"], 1, "only an image of the store"),
    ("docker://{host}/app:v1", ["--record", "--lazy"], 2, "exclude each other"),
    ("docker://{host}/app:v1", ["--prove-within", "1s"], 2, "needs --lazy"),
    ("docker://{host}/app:v1", ["--lazy", "--open-timeout", "25h"], 2, "1ms to 24h"),
    ("docker://{host}/app:v1", ["--lazy", "--open-timeout", "0s"], 2, "1ms to 24h"),
])
def test_what_cannot_start_so_says_why(cloud, valve, tmp_path, name, options, status, text):
    child = run(tmp_path / "images", tmp_path / "data", name.format(host=valve.host, root=cloud[0].parent), *options)
    out, err = child.communicate("", timeout=DEADLINE_S)
    assert child.returncode == status and text in err and out == "", err
    assert not (tmp_path / "data").exists() or is_clean(tmp_path)


def record(cloud, tmp_path, *options, script):
    """The status and the messages of recording a shell of the image, whose input stays open."""
    child = run(cloud[0], tmp_path / "data", "docker.io/library/app:v1", *options, args=["sh", "-c", script])
    try:
        return child.wait(DEADLINE_S), child.stderr.read()
    finally:
        child.kill()
        child.wait(DEADLINE_S)
        for f in (child.stdin, child.stdout, child.stderr):
            f.close()


@pytest.fixture
def own(cloud, tmp_path):
    """A copy of the store, whose list may change."""
    shutil.copytree(cloud[0], tmp_path / "own")
    return tmp_path / "own", cloud[1], cloud[2]


def listed(store):
    (path,) = (store / "images").glob("*/start")
    return path.read_text().split("\n")[1:-1]


def test_a_start_is_recorded_beside_a_server_that_has_the_store(own, tmp_path):
    before = listed(own[0])
    with serve(own[0], "--upstream", "127.0.0.1:1") as server:             # which it does not ask
        status, err = record(own, tmp_path, "--record", script="exit 0")
        assert status == 0 and "recorded" in err and not server.log
        assert listed(own[0]) != before
    assert is_clean(tmp_path)


def test_recording_ends_after_its_time(own, tmp_path):
    """TERM is lost before the shell has its trap: then it is killed, and the next try has more time for that."""
    for ms in (100, 1000, 5000, 20000):
        status, err = record(own, tmp_path, "--record-for", f"{ms}ms", "--stop-timeout", "100ms", script="trap 'exit 7' TERM; while :; do read x; done")
        assert status in (7, 137), err
        if status == 7:
            break
    assert status == 7 and "recorded" in err and is_clean(tmp_path)


def test_a_program_that_ignores_term_is_killed_when_recording_ends(own, tmp_path):
    status, err = record(own, tmp_path, "--record-for", "1ms", "--stop-timeout", "1ms", script="trap '' TERM; while :; do read x; done")
    assert status == 137 and "recorded" in err
    assert is_clean(tmp_path)


def test_a_program_that_fails_keeps_the_list_that_is_there(own, tmp_path):
    before = listed(own[0])
    status, err = record(own, tmp_path, "--record", script="exit 3")
    assert status == 3 and "its start is not recorded" in err
    assert listed(own[0]) == before
    assert record(own, tmp_path, "--record", script="exit 0")[0] == 0
    assert listed(own[0]) != before                                        # it opened less


def test_another_user_reads_what_it_may(valve, tmp_path):
    with lazy(valve, tmp_path, "--user", "1234:1234") as child:
        valve.set(open=None)
        ask(child, "/later.txt")
        assert lines(child, 2) == [LATER.decode(), "read\n"]
        ask(child, "/secret")                                              # 0600, of root
        assert lines(child, 1) == ["failed\n"]
        out, err = child.communicate("", timeout=DEADLINE_S)
        assert child.returncode == 0 and "Permission denied" in err


def test_a_manifest_has_no_start(cloud):
    with serve(cloud[0]) as s:
        digest = s.get("/v2/app/manifests/v1")[1]["docker-content-digest"]
        assert s.get(f"/v2/app/_dormouse/starts/{digest}")[0] == 404
