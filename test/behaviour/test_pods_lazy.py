# SPDX-License-Identifier: Apache-2.0
"""Pods whose containers run before all files of their image are on the node."""
import base64
import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import threading

import pytest

from conftest import BUILD, DEADLINE_S, wait_for
from image_kit import Layout, layer, programs
from image_nodes_kit import Cluster as Nodes
from lazy_kit import Valve, forged_tree, sha256
from pods_kit import COMMANDS, PODS, Cluster, is_ready, needs_pods, state_of, status_of
from serve_kit import serve

LATER = b"what is opened later\n"
REST = random.Random(7).randbytes(1 << 20).hex().encode() + b"\n"
LAZY = {"image.dormouse.dev/lazy": "true"}
START = ["sh", "-c", "echo started; sleep 100000"]
USERS = b"root:x:0:0:root:/root:/bin/sh\n"
pytestmark = [needs_pods, pytest.mark.skipif(not os.path.exists("/dev/fuse"), reason="lazy mounts need /dev/fuse")]


def image(store, *args):
    return subprocess.run([BUILD / "dormouse", "image", *map(str, args), "--store", store], capture_output=True, text=True, timeout=DEADLINE_S)


@pytest.fixture(scope="module")
def cloud(tmp_path_factory):
    """A store with an image, the digests of the files that its start opens, and the DiffIDs of its layers."""
    root = tmp_path_factory.mktemp("cloud")
    layers = [layer([*programs("busybox"), *[(f"bin/{name}", "l", "busybox") for name in COMMANDS], ("etc/passwd", "f", USERS), ("tmp", "d", b"", {"mode": 0o1777})]),
              layer([("later.txt", "f", LATER), ("rest", "f", REST)])]
    Layout(root / "app").image("v1", layers, run={"Env": ["PATH=/bin"], "Cmd": START})
    assert image(root / "store", "pull", f"oci:{root}/app:v1", "--name", "docker.io/library/app:v1").returncode == 0
    with open(os.path.realpath(shutil.which("busybox")), "rb") as f:
        return root / "store", {sha256(f.read()), sha256(USERS)}, [sha256(t) for t in layers]


@pytest.fixture
def valve(cloud):
    with serve(cloud[0]) as s:
        made = Valve(s.host)
        made.open = set(cloud[1])
        try:
            yield made
        finally:
            made.close()


@pytest.fixture
def cluster(tmp_path, valve):
    up = Cluster(tmp_path / "data", tmp_path / "images", "--image-registry", valve.host)
    try:
        yield up
    finally:
        up.clear()
        assert up.stop() == 0
        for mount in lazy_mounts(up):       # which stay for the next process
            end_mount(mount)


def lazy_mounts(cluster):
    directory = cluster.data_dir / "lazy"
    return sorted(directory.iterdir()) if directory.exists() else []


def end_mount(mount):
    with contextlib.suppress(ProcessLookupError, FileNotFoundError):
        os.kill(json.loads((mount / "status").read_text())["pid"], signal.SIGKILL)
    for line in open("/proc/mounts"):
        if line.split()[1].startswith(str(mount)):
            subprocess.run(["umount", "--lazy", line.split()[1]])


def again(cluster):
    """Another process on the same data, by the same name."""
    cluster.__dict__.update(cluster.again().__dict__)


def status_of_mount(cluster):
    (mount,) = lazy_mounts(cluster)
    return json.loads((mount / "status").read_text())


def run(cluster, valve, name="lazy", **more):
    container = {"name": "a", "image": f"{valve.host}/app:v1", "command": START, "imagePullPolicy": "IfNotPresent"}
    cluster.run(name, containers=[container], annotations=LAZY, **more)
    return cluster.wait(name, is_ready)


class Reading(threading.Thread):
    """Of a file of the container, which may have to wait for it."""

    def __init__(self, cluster, pod, path):
        super().__init__(daemon=True)
        self.path, self.result = cluster.root_of(pod) / path, None
        self.start()

    def run(self):
        try:
            self.result = self.path.read_bytes()
        except OSError as e:
            self.result = e

    def end(self):
        self.join(DEADLINE_S)
        return self.result


def has_layers(cluster, cloud):
    return all((cluster.store / "layers" / d).exists() for d in cloud[2])


def prefixes(state):
    held = base64.b64decode(state["layers"]["prefixes"])
    return {held[i:i + 6] for i in range(0, len(held), 6)}


def test_a_container_runs_while_files_are_held_back(cluster, cloud, valve):
    pod = run(cluster, valve)
    wait_for(lambda: cluster.log_of(pod) == ["started"], "its first output")
    assert "ImageMounted" in cluster.reasons("lazy") and "Pulled" not in cluster.reasons("lazy")
    assert status_of(pod)["imageID"].startswith("sha256:")
    assert not list((cluster.store / "layers").iterdir())
    assert (cluster.root_of(pod) / "rest").stat().st_size == len(REST)
    reading = Reading(cluster, pod, "later.txt")
    wait_for(lambda: [sha256(LATER)] in valve.asked, "it is asked for")
    assert reading.result is None
    valve.set(open=valve.open | {sha256(LATER)})
    assert reading.end() == LATER
    assert not list((cluster.store / "layers").iterdir())
    assert image(cluster.store, "gc").returncode == 0
    valve.set(open=None)
    cluster.wait_reason("lazy", "Pulled")
    assert has_layers(cluster, cloud) and status_of_mount(cluster)["state"] == "whole"
    n_asked = len(valve.asked)
    valve.set(is_refusing=True)
    assert Reading(cluster, pod, "rest").end() == REST
    wait_for(lambda: any(f"{valve.host}/app:v1" in i["names"] for i in cluster.get("/api/v1/nodes").json()["items"][0]["status"].get("images", [])),
             "the status of the Node names the image")
    # Another pod starts from the store, as with any image.
    run(cluster, valve, "next")
    assert len(valve.asked) == n_asked and len(lazy_mounts(cluster)) == 1
    assert Reading(cluster, cluster.pod("next"), "rest").end() == REST
    assert image(cluster.store, "check").returncode == 0
    assert image(cluster.store, "rm", f"{valve.host}/app:v1").returncode == 0 and image(cluster.store, "gc").returncode == 0
    assert has_layers(cluster, cloud)                                      # while they run


def test_policies_and_errors_are_those_of_a_pull(cluster, cloud, valve):
    def start(name, policy, image_name="app"):
        cluster.run(name, containers=[{"name": "a", "image": f"{valve.host}/{image_name}:v1", "command": START, "imagePullPolicy": policy}], annotations=LAZY)

    def is_waiting(*reasons):
        return lambda p: state_of(p)[1].get("reason") in reasons
    start("never", "Never")
    cluster.wait("never", is_waiting("ErrImageNeverPull"))
    start("missing", "IfNotPresent", "none")
    cluster.wait("missing", is_waiting("ErrImagePull", "ImagePullBackOff"))
    cluster.wait_reason("missing", "Failed")
    assert lazy_mounts(cluster) == []
    start("always", "Always")
    cluster.wait("always", is_ready)
    cluster.wait_reason("always", "ImageMounted")
    start("second", "IfNotPresent")                                        # the mount is shared
    cluster.wait("second", is_ready)
    cluster.wait_reason("second", "ImageMounted")
    assert len(lazy_mounts(cluster)) == 1
    valve.set(open=None)
    for name in ("always", "second"):
        cluster.wait_reason(name, "Pulled")
    start("again", "Always")
    cluster.wait("again", is_ready)
    cluster.wait_reason("again", "Pulled")
    assert "ImageMounted" not in cluster.reasons("again")


def test_without_the_annotation_the_image_is_pulled_whole(cluster, valve):
    valve.set(open=None)
    cluster.run("whole", containers=[{"name": "a", "image": f"{valve.host}/app:v1", "command": START}])
    cluster.wait("whole", is_ready)
    assert "Pulled" in cluster.reasons("whole") and "ImageMounted" not in cluster.reasons("whole") and lazy_mounts(cluster) == []


def forge(valve, cloud, tmp_path):
    """The registry says of a file that it belongs to another user: the tar of the layer is the right one."""
    entries = [("later.txt", "f", LATER, {"mode": 0o4755, "uid": 1}), ("rest", "f", REST)]
    Layout(tmp_path / "forged").image("v1", [layer(entries)])
    assert image(tmp_path / "forging", "pull", f"oci:{tmp_path}/forged:v1", "--name", "app:v1").returncode == 0
    path = f"/v2/app/_dormouse/trees/sha256:{cloud[2][1]}"
    with serve(tmp_path / "forging") as s, serve(cloud[0]) as right:
        valve.instead[path] = forged_tree(right.get(path)[2], s.get(f"/v2/app/_dormouse/trees/sha256:{sha256(layer(entries))}")[2])


def test_a_registry_that_lies_ends_the_container(cluster, cloud, valve, tmp_path):
    forge(valve, cloud, tmp_path)
    pod = run(cluster, valve, restartPolicy="Never")
    assert (cluster.root_of(pod) / "later.txt").stat().st_mode & 0o4000   # not compared yet
    valve.set(open=None)
    pod = cluster.wait("lazy", lambda p: state_of(p)[0] == "terminated")
    assert state_of(pod)[1]["exitCode"] == 137
    cluster.wait_reason("lazy", "ImageUnusable")
    assert "sent files that differ from the image" in cluster.text_of_log()
    # The next one is pulled whole, and that is compared before it starts.
    run(cluster, valve, "next")
    assert "Pulled" in cluster.reasons("next") and "ImageMounted" not in cluster.reasons("next")
    assert not (cluster.root_of(cluster.pod("next")) / "later.txt").stat().st_mode & 0o4000


def test_a_source_that_goes_away_is_reported(cluster, cloud, valve):
    pod = run(cluster, valve)
    valve.set(is_refusing=True)
    reading = Reading(cluster, pod, "later.txt")
    cluster.wait_reason("lazy", "ImageFilesMissing")
    event = next(e for e in cluster.get("/api/v1/namespaces/default/events").json()["items"] if e["reason"] == "ImageFilesMissing")
    assert event["type"] == "Warning" and "bytes are here: " in event["message"]
    assert (cluster.root_of(pod) / "etc/passwd").read_bytes() == USERS
    valve.set(is_refusing=False, open=None)
    assert reading.end() == LATER
    cluster.wait_reason("lazy", "Pulled")


def test_the_agent_is_killed_while_files_are_held_back(cluster, cloud, valve):
    pod = run(cluster, valve)
    with open(f"/proc/{status_of_mount(cluster)['pid']}/cgroup") as f:
        assert "/dormouse-lazy/" in f.read()                               # a service manager ends the group of dormouse
    cluster.kill()
    assert Reading(cluster, pod, "etc/passwd").end() == USERS
    valve.set(open=valve.open | {sha256(LATER)})
    assert Reading(cluster, pod, "later.txt").end() == LATER               # while no dormouse runs
    again(cluster)
    valve.set(open=None)
    cluster.wait_reason("lazy", "Pulled")
    assert status_of(cluster.pod("lazy"))["containerID"] == status_of(pod)["containerID"] and has_layers(cluster, cloud)
    valve.set(is_refusing=True)
    assert Reading(cluster, pod, "rest").end() == REST
    cluster.delete("lazy")
    wait_for(lambda: lazy_mounts(cluster) == [], "nothing is left")
    assert str(cluster.data_dir / "lazy") not in open("/proc/mounts").read()


def test_the_agent_is_killed_before_the_mount_is_there(cluster, cloud, valve):
    valve.set(held={"/_dormouse/trees/"})
    container = {"name": "a", "image": f"{valve.host}/app:v1", "command": START, "imagePullPolicy": "IfNotPresent"}
    cluster.run("lazy", containers=[container], annotations=LAZY)
    cluster.wait_reason("lazy", "Pulling")
    assert status_of_mount(cluster)["state"] == "asking"
    cluster.kill()
    again(cluster)
    valve.set(held=set())
    pod = cluster.wait("lazy", is_ready)
    assert len(lazy_mounts(cluster)) == 2           # the earlier one is given up after a minute
    valve.set(open=None)
    cluster.wait_reason("lazy", "Pulled")
    assert has_layers(cluster, cloud) and Reading(cluster, pod, "rest").end() == REST


def test_the_process_that_fetches_is_killed(cluster, cloud, valve):
    pod = run(cluster, valve)
    os.kill(status_of_mount(cluster)["pid"], signal.SIGKILL)
    cluster.wait_reason("lazy", "ImageUnusable")
    valve.set(open=None)
    new = cluster.wait("lazy", lambda p: status_of(p).get("restartCount") == 1 and is_ready(p))
    assert status_of(new)["containerID"] != status_of(pod)["containerID"]
    assert Reading(cluster, new, "rest").end() == REST


def test_both_are_killed(cluster, cloud, valve):
    pod = run(cluster, valve)
    cluster.kill()
    os.kill(status_of_mount(cluster)["pid"], signal.SIGKILL)
    valve.set(open=None)
    again(cluster)
    new = cluster.wait("lazy", lambda p: status_of(p).get("restartCount") == 1 and is_ready(p))
    assert status_of(new)["containerID"] != status_of(pod)["containerID"]
    assert Reading(cluster, new, "rest").end() == REST


def test_the_plan_brings_the_layers_while_the_container_runs(tmp_path, cloud, valve):
    name = f"{valve.host}/app:v1"
    valve.set(open=None)
    nodes = Nodes(tmp_path, "--image-registry", valve.host)
    try:
        for n in ("n1", "n2"):
            nodes.share(n, "--image-registry", valve.host)
        nodes.run("first", "n1", name)
        nodes.wait_running("first")
        held = {bytes.fromhex(d[:12]) for d in cloud[2]}
        wait_for(lambda: held <= prefixes(nodes.state("n1")), "n1 to report its layers")
        # From here on the registry gives no other files, and layers as a whole later.
        valve.set(open=set(cloud[1]), asked=[], held={f"/blobs/sha256:{d}" for d in cloud[2]})
        nodes.up.create(PODS, {"metadata": {"name": "second", "annotations": LAZY}, "spec": {
            "hostNetwork": True, "terminationGracePeriodSeconds": 1, "nodeSelector": {"kubernetes.io/hostname": "n2"},
            "containers": [{"name": "c", "image": name, "imagePullPolicy": "IfNotPresent"}]}})
        nodes.wait_running("second")
        assert not held <= prefixes(nodes.state("n2"))
        valve.set(held=set())
        wait_for(lambda: f"node=n2 image={name} peer_bytes=" in nodes.up.text_of_log(), "the plan is carried out")
        wait_for(lambda: held <= prefixes(nodes.state("n2")), "n2 to report its layers")
        (mount,) = (nodes.directory / "n2/lazy").iterdir()
        wait_for(lambda: json.loads((mount / "status").read_text())["state"] == "whole", "the image is complete")
        assert {d for digests in valve.asked for d in digests} <= cloud[1]
        for pod in ("first", "second"):
            nodes.delete(pod)
        wait_for(lambda: not list((nodes.directory / "n2/lazy").iterdir()), "nothing is left")
    finally:
        nodes.close()
