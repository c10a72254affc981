# SPDX-License-Identifier: Apache-2.0
"""Logs of containers that print as fast as they can, and of a disk that does not answer: the API server goes on, and no line is lost."""
import gzip
import os
import subprocess

import pytest
from conftest import wait_for
from pods_kit import PODS, Cluster, cluster, is_ready, needs_pods, state_of, store

pytestmark = needs_pods

FLOODS, REQUESTS, LINES = 3, 300, 300000


def files_of(up, pod):
    meta = pod["metadata"]
    directory = up.log_dir / f"{meta['namespace']}_{meta['name']}_{meta['uid']}" / "a"
    return [directory / n for n in sorted(n for n in os.listdir(directory) if n != "0.log" and not n.endswith(".tmp"))] + [directory / "0.log"]


def texts_of(up, pod):
    """All lines, those of rotated files too."""
    lines = []
    for path in files_of(up, pod):
        text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        assert text.endswith(b"\n"), path
        lines += [line.split(b" ", 3) for line in text.splitlines()]
    assert all(len(line) == 4 and line[2] == b"F" for line in lines)
    return [line[3] for line in lines]


def last_number(up, pod):
    return int(files_of(up, pod)[-1].read_bytes().rpartition(b"\n")[0].rpartition(b" ")[2] or 0)


def numbers(n):
    return [str(i).encode() for i in range(1, n + 1)]


def test_containers_that_flood_their_output_do_not_stop_the_api_and_lose_no_line(cluster):
    for i in range(FLOODS):
        cluster.run(f"flood-{i}", ["seq", "1", "2000000000"])
    floods = [cluster.wait(f"flood-{i}", is_ready) for i in range(FLOODS)]
    before = [wait_for(lambda: last_number(cluster, pod), "a flood") for pod in floods]
    for i in range(REQUESTS):
        assert cluster.get(f"{PODS}/flood-{i % FLOODS}").status == 200
    # One among them has its turn too.
    cluster.run("counts", ["seq", "1", str(LINES)], restartPolicy="Never")
    counts = cluster.wait_phase("counts", "Succeeded")
    for pod, number in zip(floods, before):
        wait_for(lambda: last_number(cluster, pod) > number, "the flood goes on")
        assert is_ready(cluster.pod(pod["metadata"]["name"]))
    assert texts_of(cluster, counts) == numbers(LINES)
    for pod in floods:
        cluster.delete(pod["metadata"]["name"])
    for pod in floods:
        cluster.wait_gone(pod["metadata"]["name"])


def test_the_end_is_reported_after_the_last_line_is_in_the_log(cluster):
    for i in range(5):
        cluster.run(f"last-{i}", ["sh", "-c", "seq 1 5000; echo why >&2; exit 3"], restartPolicy="Never")
        spec = cluster.wait_phase(f"last-{i}", "Failed")
        assert sorted(texts_of(cluster, spec)) == sorted(numbers(5000) + [b"why"])


@pytest.fixture
def slow_disk(tmp_path):
    """A file system that can be stopped; gives its directory."""
    image, directory = tmp_path / "disk", tmp_path / "data.pods"
    directory.mkdir()
    image.write_bytes(b"")
    os.truncate(image, 64 << 20)
    if subprocess.run(["mkfs.ext4", "-q", image]).returncode != 0 or subprocess.run(["mount", "-o", "loop", image, directory]).returncode != 0:
        pytest.skip("no loop device")
    yield directory
    subprocess.run(["fsfreeze", "-u", directory], stderr=subprocess.DEVNULL)
    subprocess.run(["umount", "-l", directory], check=True)


def test_a_disk_that_does_not_answer_stops_containers_and_not_the_api(slow_disk, tmp_path, store):
    up = Cluster(tmp_path / "data", store)
    try:
        up.run("prints", ["sh", "-c", f"until test -e /tmp/go; do sleep 0.05; done; seq 1 {LINES}"], restartPolicy="Never")
        pod = up.wait("prints", is_ready)
        subprocess.run(["fsfreeze", "-f", slow_disk], check=True)
        os.close(os.open(f"/proc/{up.pid_of(pod)}/root/tmp/go", os.O_CREAT | os.O_WRONLY, 0o644))
        # It prints more than is held, so it waits in its write().
        wait_for(lambda: "pipe_write" in (open(f"/proc/{up.pid_of(pod)}/task/{up.pid_of(pod)}/wchan").read() + wait_of_children(up.pid_of(pod))), "the container waits")
        for _ in range(REQUESTS):
            assert up.get(f"{PODS}/prints").status == 200
        assert state_of(up.pod("prints"))[0] == "running"
        subprocess.run(["fsfreeze", "-u", slow_disk], check=True)
        assert texts_of(up, up.wait_phase("prints", "Succeeded")) == numbers(LINES)
    finally:
        subprocess.run(["fsfreeze", "-u", slow_disk], stderr=subprocess.DEVNULL)
        up.clear()
        assert up.stop() == 0


def wait_of_children(pid):
    """What the kernel says that the children of a process wait for."""
    children = open(f"/proc/{pid}/task/{pid}/children").read().split()
    return "".join(open(f"/proc/{child}/wchan").read() for child in children)
