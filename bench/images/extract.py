# SPDX-License-Identifier: Apache-2.0
"""From an image to its root file system, against umoci, tar, podman and containerd; each time on a fresh file system.

Two places where the image is: a layout on the disk, and a registry on loopback, from which containerd and
podman pull. Deleting and extracting again on
one ext4 costs many times the system time (inodes are not reused at once), hence a new ext4 on a loop device for each repetition, or a tmpfs
where loop devices are missing.
"""
import contextlib
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

import podman_peer
from containerd_peer import installed
from refactor import make_images
from result import Skipped, say

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "test/behaviour"))
from registry_kit import REGISTRY, real  # noqa: E402

DOC = "image to root file system: dormouse, umoci, tar, podman, containerd"
IMAGES = ("redis-new", "python-new", "node-new", "postgres-new")
DEADLINE_S = 300
UNMOUNT_S = 10
FILE_SYSTEM_BYTES = 6 << 30


def call(*args, **options):
    done = subprocess.run([str(a) for a in args], capture_output=True, text=True, timeout=DEADLINE_S, **options)
    if done.returncode:
        raise OSError(f"{args[0]}: {done.stderr.strip()[-300:]}")
    return done.stdout


def end(error, clean):
    """Clean up after `error` (None: nothing has failed), which is not hidden by what fails here."""
    try:
        clean()
    except OSError as e:
        if error is None:
            raise
        say(f"  after an error, something is left: {e}")


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

    def __exit__(self, kind, error, trace):
        end(error, self.remove)

    def mounts_below(self):
        """The deepest first: podman leaves its storage mounted."""
        with open("/proc/self/mounts") as f:
            found = [line.split()[1] for line in f]
        return sorted((m for m in found if m.startswith(f"{self.at}/")), key=len, reverse=True)

    def remove(self):
        deadline = time.monotonic() + UNMOUNT_S
        while True:  # the mounts of a daemon that has ended go a moment later
            try:
                call("umount", *self.mounts_below(), self.at)
                break
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
        self.file.unlink(missing_ok=True)


class Image:
    """Where an image is."""

    def __init__(self, plan, layout, host, name):
        self.plan, self.layout, self.name = plan, layout, name
        self.in_layout, self.in_registry = f"oci:{layout}:{name}", host and f"{host}/{name}:latest"

    def blobs(self):
        """Paths of the layers, the bottom first."""
        def read(digest):
            return json.loads((self.layout / "blobs/sha256" / digest[7:]).read_text())
        index = json.loads((self.layout / "index.json").read_text())
        named = next(m for m in index["manifests"] if m["annotations"]["org.opencontainers.image.ref.name"] == self.name)
        return [self.layout / "blobs/sha256" / d["digest"][7:] for d in read(named["digest"])["layers"]]


# ---- each is given an empty directory; what is timed ends with its last yield, and begins with its first if it has two

def unpack(reference, *more):
    def run(image, at):
        call(image.plan.build / "dormouse", "image", "unpack", reference(image), at / "rootfs", *more)
    return run


def mount(reference):
    def run(image, at):
        (at / "mnt").mkdir()
        data = ("--data-dir", at / "data")
        error = None

        def umount():
            if os.path.ismount(at / "mnt"):
                call(image.plan.build / "dormouse", "image", "umount", at / "mnt", *data)
        try:
            call(image.plan.build / "dormouse", "image", "mount", reference(image), at / "mnt", "--sink", "tarfs", *data)
            yield
        except OSError as e:
            error = e
            raise
        finally:
            end(error, umount)
    return run


def umoci(image, at):
    call("umoci", "raw", "unpack", "--image", f"{image.layout}:{image.name}", at / "rootfs")


def tar(image, at):
    (at / "rootfs").mkdir()
    for path in image.blobs():
        call("tar", "-xzf", path, "-C", at / "rootfs")


def podman(source):
    def run(image, at):
        peer = podman_peer.Podman(at)
        yield
        pulled = peer.pull(source(image))
        yield
        peer.check(pulled, len(image.blobs()))
    return run


def containerd(of):
    def run(image, at):
        daemon = of.start(at)
        try:
            yield
            daemon.pull(image.in_registry)
            yield
            daemon.check(len(image.blobs()))
        finally:
            daemon.stop()
    return run


def once(run, image):
    """Seconds, and the kind of file system."""
    with Fresh(image.plan.work) as fresh:
        began = time.monotonic()
        steps = run(image, fresh.at)
        if steps is None:
            return time.monotonic() - began, fresh.kind
        marks = [time.monotonic() for _ in steps]
        return (marks[-1] - (marks[0] if len(marks) > 1 else began)), fresh.kind


# ---- who takes part

def ours(has_registry):
    """Labels, and how it is done."""
    yield {"sink": "dirs", "from": "layout", "sync": "no"}, unpack(lambda i: i.in_layout, "--no-sync")
    if has_registry:
        def reference(image):
            return f"docker://{image.in_registry}"
        yield {"sink": "dirs", "from": "registry", "sync": "no"}, unpack(reference, "--no-sync")
        yield {"sink": "tarfs", "from": "registry", "sync": "yes"}, mount(reference)
    else:
        yield {"sink": "tarfs", "from": "layout", "sync": "yes"}, mount(lambda i: i.in_layout)


def theirs(plan, has_registry):
    for name, run in (("umoci", umoci), ("tar", tar)):
        if shutil.which(name):
            yield {"peer": name, "from": "layout"}, run
        else:
            say(f"  without {name}: it is not installed")
    version = podman_peer.installed()
    if version:
        yield {"peer": "podman", "version": version, "from": "layout"}, podman(lambda i: i.in_layout)
        if has_registry:
            yield {"peer": "podman", "version": version, "from": "registry"}, podman(lambda i: f"docker://{i.in_registry}")
    else:
        say("  without podman: it is not installed")
    if has_registry:
        for one in installed(plan.containerd_root):
            yield {"peer": f"containerd {one.version.split('.')[0]}.x {one.snapshotter}", "version": one.version, "from": "registry"}, containerd(one)


def word(labels):
    return " ".join(labels.get(k, "") for k in ("peer", "sink", "from")) + (" synced" if labels.get("sync") == "yes" else "")


@contextlib.contextmanager
def registry_with(plan, layout, images):
    """HOST:PORT of a registry on loopback that has the images; None: there is no registry program here."""
    if not REGISTRY:
        say("  without pulls: no docker-registry here")
        yield None
        return
    home = plan.work / "registry"
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    with real(home, log={"level": "error"}) as host:
        for name in images:
            call(plan.build / "dormouse", "image", "push", f"oci:{layout}:{name}", f"docker://{host}/{name}:latest")
        yield host


def measure(plan, results, image, all_of_us, rounds):
    times = [[] for _ in all_of_us]
    kind = None
    for _ in range(rounds):
        for (labels, how), seconds in zip(all_of_us, times):  # in turn, so that what disturbs one disturbs all
            try:
                took, kind = once(how, image)
                seconds.append(took)
            except OSError as e:
                say(f"  {word(labels)}: {e}")
    for (labels, _), seconds in zip(all_of_us, times):
        if not seconds:
            continue
        metric = "extract_s" if "sink" in labels else "peer_extract_s"
        results.add(metric, {"variant": "extract", "image": image.name, "file_system": kind, **labels}, "s", statistics.median(seconds),
                    n=len(seconds), least=min(seconds), most=max(seconds))
        say(f"  {image.name} {word(labels)}: {statistics.median(seconds):.2f} s ({min(seconds):.2f} to {max(seconds):.2f})")


def run(plan, results):
    if os.geteuid() != 0:
        raise Skipped("extract: a fresh file system takes root")
    images = IMAGES[:1] if plan.quick else IMAGES
    corpus = pathlib.Path(plan.work) / f"extract-{len(images)}"
    make_images(corpus, images)
    with registry_with(plan, corpus / "layout", images) as host:
        all_of_us = [*ours(host), *theirs(plan, host)]
        for name in images:
            measure(plan, results, Image(plan, corpus / "layout", host, name), all_of_us, 2 if plan.quick else 5)
