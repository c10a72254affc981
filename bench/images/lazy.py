# SPDX-License-Identifier: Apache-2.0
"""From an image elsewhere to the first word of its program, over a link of the paper's rates: with all of the image first, and lazily.

The image is this machine's Python with its standard library, one layer, and some packages' data that a start does not touch. `image serve` has it, and
the list of a recorded start; the link is a proxy with a rate, shared by all connections, and half of the round trip in each direction. `image run` prints
what its program says: seconds until then, and, lazily, until the image is in the store. The same as a pod of a cluster of one machine, from the creation
of the Pod to the first line of the container's log, with and without the annotation for a lazy start.
"""
import io
import json
import os
import pathlib
import queue
import shutil
import socket
import subprocess
import sys
import tarfile
import threading
import time

from result import Skipped, say

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "test/behaviour"))
from image_kit import Layout, programs  # noqa: E402
from pods_kit import Cluster  # noqa: E402

DOC = "image elsewhere to the first word of a container: all of it first, and lazily"
NETWORKS = ((50, 0.2), (100, 0.05), (500, 0.01))  # Mbit/s, seconds of a round trip
NAME = "docker.io/library/python:bench"
WORD = ["python3", "-c", "import json, http.server, ssl; print('here', flush=True); input()"]
POD_WORD = [*WORD[:2], WORD[2].replace("input()", "import time; time.sleep(1e6)")]
STORED_WITHIN_S = 300


class Link:
    """TCP to `host` as a line of a rate would carry it."""

    def __init__(self, host, mbit, round_trip_s):
        self.target, self.bytes_per_s, self.delay_s = host, mbit * 125000, round_trip_s / 2
        self.lock, self.free_at, self.n = threading.Lock(), 0.0, 0
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.host = "127.0.0.1:%d" % self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client = self.listener.accept()[0]
            except OSError:
                return
            host, port = self.target.split(":")
            time.sleep(2 * self.delay_s)  # the handshake
            server = socket.create_connection((host, int(port)))
            for a, b, counts in ((client, server, False), (server, client, True)):
                on_the_way = queue.Queue(64)
                threading.Thread(target=self.take, args=(a, on_the_way, counts), daemon=True).start()
                threading.Thread(target=self.give, args=(b, on_the_way), daemon=True).start()

    def take(self, source, on_the_way, counts):
        try:
            while data := source.recv(16384):
                with self.lock:
                    now = time.monotonic()
                    if counts:
                        self.n += len(data)
                        self.free_at = max(self.free_at, now) + len(data) / self.bytes_per_s
                        now = self.free_at
                on_the_way.put((now + self.delay_s, data))
        except OSError:
            pass
        on_the_way.put((0, b""))

    def give(self, to, on_the_way):
        try:
            while (item := on_the_way.get())[1]:
                time.sleep(max(0.0, item[0] - time.monotonic()))
                to.sendall(item[1])
            to.shutdown(socket.SHUT_WR)
        except OSError:
            while on_the_way.get()[1]:  # so that the other thread ends
                pass

    def close(self):
        self.listener.close()


def python():
    """That of the distribution: one in a home directory has whatever its user installed."""
    return "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else shutil.which("python3")


def library():
    """Python's own files, of this machine."""
    found = subprocess.run([python(), "-c", "import sysconfig; print(sysconfig.get_path('stdlib'))"], capture_output=True, text=True, check=True)
    return pathlib.Path(found.stdout.strip())


def objects_of(stdlib):
    """Libraries that its modules load."""
    names = set()
    for module in (stdlib / "lib-dynload").glob("*.so"):
        lines = subprocess.run(["ldd", str(module)], capture_output=True, text=True).stdout.splitlines()
        names |= {line.split()[2] for line in lines if "=> /" in line}
    return sorted(names)


def is_content(member):
    if os.path.basename(member.name) in ("site-packages", "__pycache__", "test") or not (member.isfile() or member.isdir()):
        return None
    return member


def make_tar():
    out, stdlib, seen = io.BytesIO(), library(), set()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, _, data, *_ in programs(python()):
            name = "bin/python3" if name == f"bin/{python()}" else name
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(data), 0o755
            tar.addfile(info, io.BytesIO(data))
            seen.add(name)
        for path in objects_of(stdlib):
            if path.lstrip("/") not in seen:
                tar.add(os.path.realpath(path), path.lstrip("/"), recursive=False)
        tar.add(stdlib, str(stdlib).lstrip("/"), filter=is_content)
        for other in ("/usr/lib/python3/dist-packages", "/usr/share/perl"):  # what an image has besides
            if os.path.isdir(other):
                tar.add(other, other.lstrip("/"), filter=is_content)
    return out.getvalue()


def image(plan, store, *args):
    done = subprocess.run([plan.build / "dormouse", "image", *map(str, args), "--store", store], capture_output=True, text=True)
    if done.returncode:
        raise OSError(done.stderr.strip()[-300:])
    return done.stdout


def make_cloud(plan, work):
    tar = make_tar()
    Layout(work / "layout").image("v1", [tar], run={"Entrypoint": WORD})
    image(plan, work / "cloud", "pull", f"oci:{work}/layout:v1", "--name", NAME)
    shutil.rmtree(work / "layout")
    done = subprocess.run([plan.build / "dormouse", "image", "run", NAME, "--record", "--store", work / "cloud", "--data-dir", work / "data"],
                          input="\n", capture_output=True, text=True)
    if done.returncode:
        raise OSError(done.stderr.strip()[-300:])
    return len(tar)


def is_stored(plan, store, name):
    """The name is the last step. A start that is not complete is a row with a state."""
    return any(row["name"] == name and "state" not in row for row in json.loads(image(plan, store, "ls", "-o", "json")))


def measure(plan, work, link, options):
    """Seconds until its word, until all is in the store, and megabytes until its word."""
    shutil.rmtree(work / "node", ignore_errors=True)
    command = [plan.build / "dormouse", "image", "run", f"docker://{link.host}/python:bench", "--store", work / "node/images", "--data-dir", work / "node", *options]
    began, before = time.monotonic(), link.n
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        word = child.stdout.readline()
        ready, n = time.monotonic() - began, link.n - before
        while "--lazy" in options and word and time.monotonic() - began < STORED_WITHIN_S:
            if is_stored(plan, work / "node/images", f"{link.host}/python:bench"):
                break
            time.sleep(0.05)
        stored = time.monotonic() - began
        child.communicate("\n")
    if word != "here\n" or child.returncode:
        raise OSError(f"the container said '{word}' and ended with {child.returncode}")
    return ready, stored, n / 1e6


def measure_pod(plan, work, link, annotations):
    """As measure()."""
    shutil.rmtree(work / "pod", ignore_errors=True)
    (work / "pod").mkdir()
    (work / "pod/images").mkdir()
    name = f"{link.host}/python:bench"
    cluster = Cluster(work / "pod/data", work / "pod/images", "--image-registry", link.host, "--plain-http-registry", link.host)
    try:
        began, before = time.monotonic(), link.n
        cluster.run("python", containers=[{"name": "a", "image": name, "command": POD_WORD}], annotations=annotations)
        while not any("here" in f.read_text() for f in cluster.log_dir.glob("*/a/0.log")):
            time.sleep(0.005)
        ready, n = time.monotonic() - began, link.n - before
        while not is_stored(plan, work / "pod/images", name) and time.monotonic() - began < STORED_WITHIN_S:
            time.sleep(0.05)
        stored = time.monotonic() - began
        cluster.clear()
        lazy = work / "pod/data/lazy"
        while lazy.exists() and any(lazy.iterdir()):    # ten seconds after its last use
            time.sleep(0.1)
    finally:
        cluster.stop()
    return ready, stored, n / 1e6


def run(plan, results):
    if os.geteuid() != 0 or not shutil.which("crun"):
        raise Skipped("containers take root and crun")
    if not os.path.exists("/dev/fuse"):
        raise Skipped("lazy starts take /dev/fuse")
    work = plan.work / "lazy"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    n_tar = make_cloud(plan, work)
    words = [plan.build / "dormouse", "image", "serve", "--listen", "127.0.0.1:0", "--store", work / "cloud"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            host = dict(w.split("=", 1) for w in server.stdout.readline().split()[1:])["url"].split("//")[1].rstrip("/")
            for mbit, round_trip_s in NETWORKS[:1] if plan.quick else NETWORKS:
                link = Link(host, mbit, round_trip_s)
                whole, _, whole_mb = measure(plan, work, link, [])
                ready, stored, mb = measure(plan, work, link, ["--lazy"])
                pods = {start: measure_pod(plan, work, link, annotations) for start, annotations in
                        (("pod, whole", {}), ("pod, lazy", {"image.dormouse.dev/lazy": "true"}))}
                link.close()
                labels = {"variant": "lazy", "image": "python", "mbit": mbit}
                results.add("ready_s", {**labels, "start": "lazy"}, "s", ready)
                results.add("ready_s", {**labels, "start": "whole"}, "s", whole)
                results.add("ready_mb", {**labels, "start": "lazy"}, "MB", mb)
                results.add("ready_mb", {**labels, "start": "whole"}, "MB", whole_mb)
                results.add("stored_s", {**labels, "start": "lazy"}, "s", stored)
                for start, (pod_ready, pod_stored, pod_mb) in pods.items():
                    results.add("ready_s", {**labels, "start": start}, "s", pod_ready)
                    results.add("ready_mb", {**labels, "start": start}, "MB", pod_mb)
                    results.add("stored_s", {**labels, "start": start}, "s", pod_stored)
                    say(f"  {start}: first line after {pod_ready:.2f} s ({pod_mb:.1f} MB), all after {pod_stored:.1f} s")
                say(f"  {n_tar / 1e6:.0f} MB at {mbit} Mbit/s: {ready:.2f} s ({mb:.1f} MB) lazily, all after {stored:.1f} s; {whole:.2f} s ({whole_mb:.1f} MB) with all first")
        finally:
            server.terminate()
    shutil.rmtree(work)
