# SPDX-License-Identifier: Apache-2.0
"""containerd, podman and docker, unmodified: layers through `image snapshotter`, pulls from `image serve`, and what we push runs."""
import contextlib
import json
import os
import random
import shlex
import subprocess
import tempfile
import threading
import time
import pathlib

import pytest

from conftest import BUILD, DEADLINE_S, wait_for
from image_kit import Layout, layer
from registry_kit import Fake, real
from serve_kit import serve
from release_kit import Release, default_root
from snapshotter_kit import containerd as start_containerd
from snapshotter_kit import has, snapshotter
from test_image_snapshotter import chain, image
from tree_kit import TIME, Stack, difference, snapshot

pytestmark = [pytest.mark.foreign, pytest.mark.skipif(os.geteuid() != 0, reason="containerd needs root"),
              pytest.mark.skipif(not has("containerd", "ctr", "runc"), reason="no containerd here")]
needs_newer = pytest.mark.skipif(not default_root(), reason="no newer containerd here (tools/containerd-root)")
pytest.importorskip("grpc", reason="no grpcio here (python3-grpcio)")
SEED = int(os.environ.get("TEST_SEED", "0")) or random.randrange(1 << 32)
PROGRAM = r"""
#include <stdio.h>
int main(int argc, char **argv)
{
    char line[200];
    for (int i = 1; i < argc; i++) {
        FILE *f = fopen(argv[i], "r");
        puts(f && fgets(line, sizeof line, f) ? line : "none");
    }
    if (argc == 1) {
        puts("running");
        fflush(stdout);
        getchar();
    }
    return 0;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A static program that prints the first lines of files, or waits."""
    place = tmp_path_factory.mktemp("program")
    (place / "p.c").write_text(PROGRAM)
    subprocess.run(["gcc", "-O1", "-static", "-o", place / "p", place / "p.c"], check=True)
    return (place / "p").read_bytes()


@pytest.fixture
def place():
    """Sockets have short paths."""
    with tempfile.TemporaryDirectory(prefix="dm-") as path:
        yield pathlib.Path(path)


@pytest.fixture(params=["installed", pytest.param("newer", marks=needs_newer)])
def containerd(request):
    """How one is started: containerd(place, socket)."""
    release = Release(default_root() if request.param == "newer" else None)
    return lambda *args: start_containerd(*args, release)


@pytest.fixture
def registry():
    r = Fake()
    yield r
    r.close()


@pytest.fixture
def layers(program):
    base = layer([("bin", "d", ""), ("bin/p", "f", program, {"mode": 0o755}), ("etc", "d", ""), ("etc/motd", "f", b"base\n"),
                  ("proc", "d", ""), ("dev", "d", ""), ("sys", "d", "")])
    top = layer([("etc", "d", ""), ("etc/motd", "f", b"top\n"), ("etc/more", "f", os.urandom(200_000))])
    return [base, top]


@pytest.fixture
def reference(place, registry, layers):
    made = Layout(place / "app")
    made.image("v1", layers, run={"Cmd": ["/bin/p"]})
    registry.add_layout(made, "app", "v1")
    return f"{registry.host}/app:v1"


def layers_fetched(registry, agent="containerd"):
    """Paths of blobs that containerd asked for, without those of configurations."""
    configs = {json.loads(data)["config"]["digest"] for _, data in registry.manifests.values() if b'"config"' in data}
    return [p for m, p, h in registry.seen if m == "GET" and "/blobs/" in p and p.split("/")[-1] not in configs
            and h.get("User-Agent", "").startswith(agent)]


def test_layers_of_the_store_are_not_fetched(place, registry, reference, containerd):
    image(place, "pull", f"docker://{reference}")
    with snapshotter(place) as s, containerd(place / "c", s.socket) as c:
        c.pull(reference)
        assert layers_fetched(registry) == []
        assert c.run(reference, "one", "/bin/p", "/etc/motd", "/etc/gone").split() == ["top", "none"]
        assert len(c.snapshots()) == 2
        c.forget()
        wait_for(lambda: s.list() == [] and s.dirs() == set(), "containerd removes what no image needs")


def test_what_the_store_lacks_containerd_fetches(place, registry, reference, layers, containerd):
    """The lower layer is here, the upper one is not; and the other way round, as another image has it."""
    made = Layout(place / "lower")
    made.image("v1", layers[:1])
    image(place, "pull", f"oci:{made.directory}:v1", "--name", "lower:v1")
    with snapshotter(place) as s, containerd(place / "c", s.socket) as c:
        c.pull(reference)
        assert len(layers_fetched(registry)) == 1
        assert c.run(reference, "one", "/bin/p", "/etc/motd").split() == ["top"]
        kinds = [i["name"].startswith("dormouse/") for i in s.list() if i["kind"] == "committed"]
        assert sorted(kinds) == [False, True]


def test_an_empty_store_is_as_good_as_none(place, registry, reference, containerd):
    with snapshotter(place) as s, containerd(place / "c", s.socket) as c:
        c.pull(reference)
        assert len(layers_fetched(registry)) == 2
        assert c.run(reference, "one", "/bin/p", "/etc/motd").split() == ["top"]
        image(place, "pull", f"docker://{reference}")  # the lock of the store is free
        c.forget()
        wait_for(lambda: s.list() == [], "containerd removes what no image needs")
        c.pull(reference)
        assert len(layers_fetched(registry)) == 2


def test_images_of_upstreams_are_pulled_by_us(place, registry, reference, containerd):
    """containerd takes the manifest and the configuration, and no layer."""
    with snapshotter(place, "--upstream", registry.host) as s, containerd(place / "c", s.socket) as c:
        c.pull(reference)
        assert layers_fetched(registry) == [] and len(layers_fetched(registry, "")) == 2
        assert all(i["name"].startswith("dormouse/") for i in s.list())


@needs_newer
def test_ctr_of_2_asks_for_layers(place, registry, reference):
    """By the transfer service, which runs in containerd. (With --local it fetches all layers, as that of 1.6.)"""
    image(place, "pull", f"docker://{reference}")
    with snapshotter(place) as s, start_containerd(place / "c", s.socket, Release(default_root())) as c:
        c.ctr("images", "pull", "--plain-http", "--snapshotter", "dormouse", reference)
        assert layers_fetched(registry) == []
        assert all(i["name"].startswith("dormouse/") for i in s.list()) and len(s.list()) == 2
        assert c.run(reference, "one", "/bin/p", "/etc/motd").split() == ["top"]
        c.forget()
        wait_for(lambda: s.list() == [] and s.dirs() == set(), "containerd removes what no image needs")


@needs_newer
def test_the_transfer_service_says_which_image_it_pulls(place, registry, reference):
    with snapshotter(place, "--upstream", registry.host) as s, start_containerd(place / "c", s.socket, Release(default_root())) as c:
        c.ctr("images", "pull", "--plain-http", "--snapshotter", "dormouse", reference)
        assert layers_fetched(registry) == [] and len(layers_fetched(registry, "")) == 2
        assert c.run(reference, "one", "/bin/p", "/etc/motd").split() == ["top"]


@needs_newer
def test_the_kubelet_may_pull_without_the_transfer_service(place, registry, reference):
    """With this setting the CRI plugin of 2.x pulls by itself, as that of 1.6."""
    with snapshotter(place, "--upstream", registry.host) as s:
        with start_containerd(place / "c", s.socket, Release(default_root()), "disable_snapshot_annotations = false") as c:
            c.pull(reference)
            assert layers_fetched(registry) == [] and len(layers_fetched(registry, "")) == 2
            assert "DisableSnapshotAnnotations" in c.text_of_log()


@contextlib.contextmanager
def mounted(c, snapshotter, key, parent, target):
    """A snapshot over that of the chain ID `parent`, mounted as containerd says. (`ctr images mount` of 1.6 takes its own
    snapshotter, whatever --snapshotter says.)"""
    snapshots = "snapshots", "--snapshotter", snapshotter
    target.mkdir()
    c.ctr(*snapshots, "prepare", key, parent)
    try:
        words = shlex.split(c.ctr(*snapshots, "mounts", target, key).stdout)
        assert words[0] == "mount", words
        subprocess.run(words, check=True)
        try:
            yield ",".join(words)
        finally:
            subprocess.run(["umount", target], check=True)
    finally:
        c.ctr(*snapshots, "rm", key)


def as_tools_write(entries):
    """
    The entries in the form in which tools write them; containerd 1.6 differs from the specification, and from umoci and us, in
    others: it gives a file the attributes of its last link's entry, and a directory that a layer hides and makes again shows
    what the lower layers have in it.
    """
    files = {e[0]: e[3] for e in entries if e[1] == "f"}
    dirs = {e[0] for e in entries if e[1] == "d"}
    out, opaque = [], []
    for path, kind, value, attributes in entries:
        hidden = path.replace(".wh.", "") if ".wh." in path and ".wh..wh." not in path else None
        if hidden in dirs:
            opaque.append((hidden + "/.wh..wh..opq", "f", b"", {}))
        else:
            out.append((path, kind, value, files[value] if kind == "h" else attributes))
    return out + opaque


@pytest.mark.parametrize("turn", range(4))
def test_random_stacks_look_as_with_overlayfs_of_containerd(place, registry, turn, containerd):
    print("TEST_SEED", SEED)
    root = [(".", "d", "", {"mode": 0o755, "mtime": TIME})]
    tars = [layer(root + as_tools_write(e)) for e in Stack(random.Random(SEED + turn), layers=5).layers]
    made = Layout(place / "app")
    made.image("v1", tars)
    registry.add_layout(made, "app", "v1")
    reference = f"{registry.host}/app:v1"
    image(place, "pull", f"docker://{reference}")
    with snapshotter(place) as s, containerd(place / "c", s.socket) as c:
        trees, options = {}, {}
        c.pull(reference)
        c.ctr("images", "pull", "--plain-http", "--snapshotter", "overlayfs", reference)
        for name in ("overlayfs", "dormouse"):
            with mounted(c, name, "look", chain(*tars), place / f"mnt-{name}") as options[name]:
                trees[name] = snapshot(place / f"mnt-{name}", has_ghosts=name == "overlayfs")
                del trees[name][b""]["mtime"]  # that of the upper directory, which is new
        assert all(i["name"].startswith("dormouse/") for i in s.list() if i["kind"] == "committed")
        assert str(s.root) in options["dormouse"] and str(s.root) not in options["overlayfs"]
        assert difference(trees["overlayfs"], trees["dormouse"]) == []


def test_containers_outlive_the_snapshotter(place, registry, reference, containerd):
    image(place, "pull", f"docker://{reference}")
    with snapshotter(place) as s, containerd(place / "c", s.socket) as c:
        c.pull(reference)
        running = subprocess.Popen(c.run_words(reference, "one"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert running.stdout.readline() == "running\n"
        s.kill()
        assert c.ctr("snapshots", "--snapshotter", "dormouse", "usage", check=False).returncode != 0
        s.start()
        assert [i["kind"] for i in s.list()].count("active") == 1
        wait_for(lambda: c.ctr("snapshots", "--snapshotter", "dormouse", "usage", check=False).returncode == 0, "containerd finds it again")
        assert c.run(reference, "two", "/bin/p", "/etc/motd").split() == ["top"]
        out, _ = running.communicate("\n", timeout=DEADLINE_S)
        assert running.returncode == 0
        wait_for(lambda: [i["kind"] for i in s.list()].count("active") == 0, "its snapshot is removed")


def test_killed_in_pulls_nothing_is_lost_or_left(place, registry, layers, containerd):
    """Images that share a layer are pulled, run and removed, while the snapshotter is killed at any time."""
    print("TEST_SEED", SEED)
    rng = random.Random(SEED)
    references = []
    for i in range(3):
        made = Layout(place / f"app{i}")
        made.image("v1", [*layers, layer([("etc", "d", ""), (f"etc/{i}", "f", os.urandom(300_000))])])
        registry.add_layout(made, f"app{i}", "v1")
        references.append(f"{registry.host}/app{i}:v1")
    image(place, "pull", f"docker://{references[0]}")  # the layers of one are here, of the others but the upper one
    with snapshotter(place) as s, containerd(place / "c", s.socket) as c:
        for turn in range(5):
            for reference in references:
                timer = threading.Timer(rng.uniform(0, 0.4), s.process.kill)
                timer.start()
                c.can_pull(reference)
                timer.join()
                s.kill()
                s.start()
                wait_for(lambda: c.can_pull(reference), "it is pulled again")
                assert c.run(reference, f"turn{turn}", "/bin/p", "/etc/motd").split() == ["top"]
            c.forget()
            wait_for(lambda: s.list() == [], "containerd removes all")
            assert s.dirs() == set()


# ---- the mirror, and what we push

@pytest.fixture
def hosts(place, reference):
    """containerd asks the mirror for that registry."""
    def write(url, host):
        directory = place / "hosts" / host
        directory.mkdir(parents=True)
        (directory / "hosts.toml").write_text(f'server = "http://{host}"\n[host."{url}"]\n  capabilities = ["pull", "resolve"]\n')
        return place / "hosts"
    return write


def test_containerd_pulls_from_the_mirror(place, registry, reference, hosts, containerd):
    host = reference.split("/")[0]
    with serve(place / "mirror", "--upstream", host) as mirror, snapshotter(place) as s, containerd(place / "c", s.socket) as c:
        c.ctr("images", "pull", "--hosts-dir", hosts(mirror.url, host), "--snapshotter", "overlayfs", reference)
        assert [p for p in layers_fetched(registry)] == []
        assert c.run(reference, "one", "/bin/p", "/etc/motd", snapshotter="overlayfs").split() == ["top"]


def test_containerd_runs_what_we_push(place, layers, containerd):
    made = Layout(place / "app")
    made.image("v1", layers)
    made.image("v2", [layers[0], layer([("etc", "d", ""), ("etc/motd", "f", b"second\n")])])
    with real(place) as host:
        for tag in ("v1", "v2"):
            done = subprocess.run([BUILD / "dormouse", "image", "push", f"oci:{made.directory}:{tag}", f"docker://{host}/app:{tag}"],
                                  capture_output=True, text=True, timeout=DEADLINE_S)
            assert done.returncode == 0, done.stderr
        done = subprocess.run([BUILD / "dormouse", "image", "refactor", f"docker://{host}/app:v1", f"docker://{host}/app:v2", "--to", "source",
                               "--layer-threshold", "1", "--gain-threshold", "1"], capture_output=True, text=True, timeout=DEADLINE_S)
        assert done.returncode == 0, done.stderr
        tags = json.loads(subprocess.run(["skopeo", "list-tags", "--tls-verify=false", f"docker://{host}/app"], capture_output=True, text=True,
                                         check=True).stdout)["Tags"]
        refactored = sorted(t for t in tags if t not in ("v1", "v2") and t.startswith(("v1", "v2")))
        with snapshotter(place) as s, containerd(place / "c", s.socket) as c:
            for tag in ["v1", "v2", *refactored]:
                c.pull(f"{host}/app:{tag}")
                want = "top" if tag.startswith("v1") else "second"
                assert c.run(f"{host}/app:{tag}", "one", "/bin/p", "/etc/motd").split() == [want], tag


@pytest.mark.skipif(not has("podman"), reason="no podman here")
def test_podman_pulls_from_the_mirror(place, registry, reference):
    storage = ["--root", place / "podman", "--runroot", place / "podman-run", "--storage-driver", "vfs"]
    with serve(place / "mirror", "--upstream", registry.host) as mirror:
        (place / "registries.conf").write_text(f'[[registry]]\nlocation = "{registry.host}"\ninsecure = true\n'
                                               f'[[registry.mirror]]\nlocation = "{mirror.host}"\ninsecure = true\n')
        env = {**os.environ, "CONTAINERS_REGISTRIES_CONF": str(place / "registries.conf")}
        done = subprocess.run(["podman", *storage, "pull", "-q", reference], capture_output=True, text=True, timeout=DEADLINE_S, env=env)
        assert done.returncode == 0, done.stderr
        assert layers_fetched(registry, "containers/") == []
        target = subprocess.run(["podman", *storage, "image", "mount", reference], capture_output=True, text=True, timeout=DEADLINE_S)
        assert target.returncode == 0, target.stderr
        assert open(target.stdout.strip() + "/etc/motd").read() == "top\n"
        subprocess.run(["podman", *storage, "rmi", "-f", reference], capture_output=True, timeout=DEADLINE_S)


@contextlib.contextmanager
def dockerd(place, mirror):
    """A Docker of a test's own: nothing of its is outside of `place`, and it reaches loopback alone."""
    place.mkdir()
    (place / "daemon.json").write_text("{}")
    nowhere = {"HTTPS_PROXY": "http://127.0.0.1:1", "HTTP_PROXY": "http://127.0.0.1:1", "NO_PROXY": "127.0.0.1"}
    socket = f"unix://{place}/d.sock"
    with open(place / "log", "w") as log:
        process = subprocess.Popen(["dockerd", "--config-file", place / "daemon.json", "--data-root", place / "data", "--exec-root", place / "run",
                                    "--pidfile", place / "pid", "--host", socket, "--bridge", "none", "--iptables=false", "--ip6tables=false",
                                    "--registry-mirror", mirror], stdout=log, stderr=log, env={**os.environ, **nowhere})

    def docker(*args, check=True):
        done = subprocess.run(["docker", "--host", socket, *args], capture_output=True, text=True, timeout=DEADLINE_S)
        assert not check or done.returncode == 0, done.stderr + (place / "log").read_text()
        return done

    try:
        wait_for(lambda: process.poll() is not None or docker("info", check=False).returncode == 0, "dockerd answers")
        assert process.poll() is None, (place / "log").read_text()
        yield docker
    finally:
        process.terminate()
        process.wait(DEADLINE_S)


@pytest.mark.skipif(not has("dockerd", "docker"), reason="no docker here")
def test_docker_pulls_from_the_mirror_and_runs_it(place, layers):
    """As its registry mirror: names of docker.io."""
    made = Layout(place / "app")
    made.image("v1", layers, run={"Cmd": ["/bin/p"]})
    image(place, "pull", f"oci:{made.directory}:v1", "--name", "docker.io/library/dormouse-test:v1")
    with serve(place / "store") as mirror, dockerd(place / "d", mirror.url) as docker:
        docker("pull", "dormouse-test:v1")
        assert docker("run", "--rm", "--network", "none", "dormouse-test:v1", "/bin/p", "/etc/motd").stdout.split() == ["top"]
