# SPDX-License-Identifier: Apache-2.0
"""Images that nothing uses are removed where disk space runs short, and the Node says which ones it has."""
import os
import subprocess

import pytest

from conftest import BUILD, wait_for
from image_kit import Layout, layer
from pods_kit import IMAGE, Cluster, cluster, is_ready, make_store, needs_pods, store

pytestmark = needs_pods

NOW = ("--image-gc-high-threshold", "1", "--image-gc-low-threshold", "0", "--minimum-image-ttl-duration", "0")


def pull(store, directory, name, size):
    layout = Layout(directory)
    layout.image("x", [layer([("data", "f", os.urandom(size))])])
    done = subprocess.run([BUILD / "dormouse", "image", "pull", f"oci:{directory}:x", "--name", name, "--store", store], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def names(store):
    done = subprocess.run([BUILD / "dormouse", "image", "ls", "--store", store], capture_output=True, text=True, check=True)
    return {line.split()[0] for line in done.stdout.splitlines()[1:]}


def node(up):
    return wait_for(lambda: up.get("/api/v1/nodes").json()["items"], "the node is registered")[0]


def node_events(up):
    return {e["reason"]: e["message"] for e in up.get("/api/v1/namespaces/default/events?fieldSelector=involvedObject.kind%3DNode").json()["items"]}


def test_the_node_lists_its_images(tmp_path):
    store = make_store(tmp_path)
    pull(store, tmp_path / "big", "docker.io/library/big:1", 8 << 20)
    up = Cluster(tmp_path / "data", store)
    wait_for(lambda: node(up)["status"].get("images"), "images of the node")
    big, busybox = node(up)["status"]["images"]  # the largest first
    assert big["names"][1] == "docker.io/library/big:1" and big["names"][0].startswith("docker.io/library/big@sha256:")
    assert 8 << 20 <= big["sizeBytes"] < 10 << 20 and f"docker.io/library/{IMAGE}" in busybox["names"]
    assert up.stop() == 0


def test_images_without_a_user_go_and_others_stay(tmp_path):
    store = make_store(tmp_path)
    pull(store, tmp_path / "unused", "docker.io/library/unused:1", 1 << 20)
    pull(store, tmp_path / "pinned", "docker.io/library/pinned:1", 1 << 20)
    subprocess.run([BUILD / "dormouse", "image", "pin", "docker.io/library/pinned:1", "--store", store], check=True)
    up = Cluster(tmp_path / "data", store, "--image-gc-high-threshold", "100")
    up.run("user")
    up.wait("user", is_ready)
    assert up.stop() == 0
    kept = {f"docker.io/library/{IMAGE}", "docker.io/library/pinned:1"}
    assert names(store) == kept | {"docker.io/library/unused:1"}
    young = Cluster(tmp_path / "data", store, *NOW[:4], "--minimum-image-ttl-duration", "1h")
    wait_for(lambda: "FreeDiskSpaceFailed" in node_events(young), "an event")
    assert "only found 0 bytes eligible to free" in node_events(young)["FreeDiskSpaceFailed"] and "docker.io/library/unused:1" in names(store)
    assert young.stop() == 0
    up = Cluster(tmp_path / "data", store, *NOW)
    wait_for(lambda: "docker.io/library/unused:1" not in names(store), "the image that nothing uses is gone")
    assert names(store) == kept
    wait_for(lambda: len(node(up)["status"].get("images", [])) == 2, "the node says so")
    assert is_ready(up.pod("user"))
    assert up.sh("user", "echo alive") == "alive\n"
    up.clear()
    assert up.stop() == 0


def test_a_short_disk_costs_images_before_pods(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=192m", "tmpfs", disk], check=True)
    up = None
    try:
        store = make_store(disk)
        pull(store, tmp_path / "big", "docker.io/library/big:1", 90 << 20)
        up = Cluster(disk / "data", store, "--image-gc-high-threshold", "100", "--minimum-image-ttl-duration", "0")
        up.run("filler", volumes=[{"name": "v", "emptyDir": {}}], containers=[{"name": "a", "volumeMounts": [{"name": "v", "mountPath": "/v"}], "command": [
            "sh", "-c", "dd if=/dev/zero of=/v/x bs=1048576 count=75 2>/dev/null; exec sleep 100000"]}])
        up.wait("filler", is_ready)
        wait_for(lambda: names(store) == {f"docker.io/library/{IMAGE}"}, "the image goes")
        conditions = {c["type"]: c["status"] for c in node(up)["status"]["conditions"]}
        assert conditions["DiskPressure"] == "True"
        assert is_ready(up.pod("filler")) and "Evicted" not in up.reasons("filler")
        up.run("more", volumes=[{"name": "v", "emptyDir": {}}], tolerations=[{"operator": "Exists"}], containers=[
            {"name": "a", "volumeMounts": [{"name": "v", "mountPath": "/v"}], "command": [
                "sh", "-c", "dd if=/dev/zero of=/v/x bs=1048576 count=88 2>/dev/null; exec sleep 100000"]}])
        pod = up.wait_phase("more", "Failed")  # nothing but pods is left
        assert pod["status"]["reason"] == "Evicted" and is_ready(up.pod("filler"))
        up.clear()
        assert up.stop() == 0
    finally:
        if up and up.process.poll() is None:
            up.kill()
        subprocess.run(["umount", "-l", disk], check=True)


def test_thresholds_in_the_wrong_order_are_refused(tmp_path):
    done = subprocess.run([BUILD / "dormouse", "up", "--data-dir", tmp_path, "--image-gc-high-threshold", "50"], capture_output=True, text=True)
    assert done.returncode == 2 and "--image-gc-low-threshold 80 is not below --image-gc-high-threshold 50" in done.stderr
