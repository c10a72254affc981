# SPDX-License-Identifier: Apache-2.0
"""From an image in a layout to its root file system, against umoci, tar and containerd; each time on a fresh file system.

Deleting and extracting again on one ext4 costs many times the system time (inodes are not reused at once), hence a new ext4 on a loop device for
each repetition, or a tmpfs where loop devices are missing. No side waits for the disk except
'dormouse image mount', whose pull syncs each layer.
"""
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import tarfile
import time

from refactor import make_images
from result import Skipped, say

DOC = "image to root file system: dormouse, umoci, tar, containerd"
IMAGES = ("redis-new", "python-new", "node-new", "postgres-new")
DEADLINE_S = 300
FILE_SYSTEM_BYTES = 6 << 30


def call(*args, **options):
    done = subprocess.run([str(a) for a in args], capture_output=True, text=True, timeout=DEADLINE_S, **options)
    if done.returncode:
        raise OSError(f"{args[0]}: {done.stderr.strip()[-300:]}")
    return done.stdout


class Fresh:
    """An empty file system at a directory."""

    def __init__(self, work):
        self.file, self.at = work / "fresh.img", work / "fresh"

    def __enter__(self):
        self.at.mkdir(exist_ok=True)
        self.file.unlink(missing_ok=True)
        with open(self.file, "wb") as f:
            f.truncate(FILE_SYSTEM_BYTES)
        try:
            call("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=1,lazy_journal_init=1", self.file)
            call("mount", "-o", "loop", self.file, self.at)
            self.kind = "ext4"
        except OSError:
            call("mount", "-t", "tmpfs", "none", self.at)
            self.kind = "tmpfs"
        return self

    def __exit__(self, *_):
        call("umount", self.at)
        self.file.unlink(missing_ok=True)


def blobs(layout, image):
    """Paths of the layers, the bottom first."""
    def read(digest):
        return json.loads((layout / "blobs/sha256" / digest[7:]).read_text())
    index = json.loads((layout / "index.json").read_text())
    named = next(m for m in index["manifests"] if m["annotations"]["org.opencontainers.image.ref.name"] == image)
    return [layout / "blobs/sha256" / d["digest"][7:] for d in read(named["digest"])["layers"]]


def dormouse(plan, layout, image, at):
    call(plan.build / "dormouse", "image", "unpack", f"oci:{layout}:{image}", at / "rootfs", "--no-sync")


def dormouse_mount(plan, layout, image, at):
    (at / "mnt").mkdir()
    data = ("--data-dir", at / "data")
    try:
        call(plan.build / "dormouse", "image", "mount", f"oci:{layout}:{image}", at / "mnt", "--no-sync", "--sink", "tarfs", *data)
        yield
    finally:
        if os.path.ismount(at / "mnt"):
            call(plan.build / "dormouse", "image", "umount", at / "mnt", *data)


def umoci(plan, layout, image, at):
    call("umoci", "raw", "unpack", "--image", f"{layout}:{image}", at / "rootfs")


def tar(plan, layout, image, at):
    (at / "rootfs").mkdir()
    for path in blobs(layout, image):
        call("tar", "-xzf", path, "-C", at / "rootfs")


class Containerd:
    """A daemon of its own, on the fresh file system; only the import is timed."""

    def __init__(self, at):
        self.socket = at / "containerd.sock"
        config = at / "config.toml"
        config.write_text(f'version = 2\nroot = "{at}/root"\nstate = "{at}/state"\ndisabled_plugins = ["io.containerd.grpc.v1.cri", '
                          f'"io.containerd.internal.v1.opt"]\n[grpc]\n  address = "{self.socket}"\n')
        self.process = subprocess.Popen(["containerd", "-c", config, "-l", "error"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 30
        while subprocess.run(["ctr", "-a", self.socket, "version"], capture_output=True).returncode:
            if time.monotonic() > deadline or self.process.poll() is not None:
                self.stop()
                raise OSError("containerd does not answer")

    def stop(self):
        self.process.terminate()
        self.process.wait()


def containerd(plan, layout, image, at):
    archive = plan.work / f"{image}.tar"
    if not archive.exists():
        only = plan.work / f"only-{image}"
        shutil.rmtree(only, ignore_errors=True)
        make_images(only, [image])
        with tarfile.open(archive, "w") as out:
            out.add(only / "layout", arcname=".")
    daemon = Containerd(at)
    try:
        yield
        call("ctr", "-a", daemon.socket, "image", "import", "--snapshotter", "overlayfs", archive)
        yield
    finally:
        daemon.stop()


def once(run, plan, layout, image):
    """Seconds. A generator says itself what is timed: up to its last yield, from its first if it has two."""
    with Fresh(plan.work) as fresh:
        began = time.monotonic()
        steps = run(plan, layout, image, fresh.at)
        if steps is None:
            return time.monotonic() - began, fresh.kind
        marks = [time.monotonic() for _ in steps]
        return (marks[-1] - (marks[0] if len(marks) > 1 else began)), fresh.kind


def peers():
    yield "dormouse", dormouse
    yield "dormouse mount", dormouse_mount
    for name, run, needs in (("umoci", umoci, ["umoci"]), ("tar", tar, ["tar"]), ("containerd", containerd, ["containerd", "ctr", "umoci"])):
        if missing := [n for n in needs if not shutil.which(n)]:
            say(f"  without {name}: no {missing[0]} here")
        else:
            yield name, run


def run(plan, results):
    if os.geteuid() != 0:
        raise Skipped("extract: a fresh file system takes root")
    images = IMAGES[:1] if plan.quick else IMAGES
    corpus = pathlib.Path(plan.work) / f"extract-{len(images)}"
    make_images(corpus, images)
    all_peers = list(peers())
    for image in images:
        times = {name: [] for name, _ in all_peers}
        for _ in range(2 if plan.quick else 5):
            for name, how in all_peers:  # in turn, so that what disturbs one disturbs all
                try:
                    seconds, kind = once(how, plan, corpus / "layout", image)
                    times[name].append(seconds)
                except OSError as e:
                    say(f"  {name}: {e}")
        for name, seconds in times.items():
            if not seconds:
                continue
            labels = {"variant": "extract", "image": image, "file_system": kind}
            sink = {"dormouse": "dirs", "dormouse mount": "tarfs"}.get(name)
            metric, more = ("extract_s", {"sink": sink}) if sink else ("peer_extract_s", {"peer": name})
            results.add(metric, {**labels, **more}, "s", statistics.median(seconds), n=len(seconds),
                        least=min(seconds), most=max(seconds))
            say(f"  {image} {name}: {statistics.median(seconds):.2f} s")
