# SPDX-License-Identifier: Apache-2.0
"""From an image in a registry to the first word of a container, with the layers of `image snapshotter`, with containerd's own overlayfs, and by
podman.

Each on a fresh file system, with all that it has there. A containerd pulls as the kubelet has images pulled (CRI), and `ctr run` starts the
container; podman does both. The program says a word and ends. Then once more, with the image there.
"""
import contextlib
import importlib.util
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

import podman_peer
from extract import Fresh, call
from refactor import make_images
from result import Skipped, say

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "test/behaviour"))
from registry_kit import REGISTRY, real  # noqa: E402
from release_kit import Release  # noqa: E402

DOC = "image to container: containerd with our snapshotter, and with its own; podman"
IMAGES = ("redis-new", "node-new")
STARTS_WITHIN_S = 30
PROGRAM = '#include <stdio.h>\nint main(void)\n{\n    puts("here");\n    return 0;\n}\n'
CONFIG = """version = 2
root = "{at}/root"
state = "{at}/state"
disabled_plugins = ["io.containerd.internal.v1.opt"]
[grpc]
  address = "{at}/c.sock"
[ttrpc]
  address = "{at}/t.sock"
[proxy_plugins.dormouse]
  type = "snapshot"
  address = "{at}/sn.sock"
[plugins."io.containerd.grpc.v1.cri"]
  stream_server_port = "0"
"""
CONFIG_1 = """[plugins."io.containerd.grpc.v1.cri".containerd]
  snapshotter = "{snapshotter}"
  disable_snapshot_annotations = false
"""
CONFIG_2 = """[proxy_plugins.dormouse.exports]
  root = "{at}/snapshots"
  enable_remote_snapshot_annotations = "true"
[[plugins."io.containerd.transfer.v1.local".unpack_config]]
  platform = "linux"
  snapshotter = "{snapshotter}"
  differ = "walking"
[plugins."io.containerd.cri.v1.images"]
  snapshotter = "{snapshotter}"
[plugins."io.containerd.cri.v1.images".registry]
  config_path = "{at}/hosts"
[plugins."io.containerd.nri.v1.nri"]
  disable = true
"""


def make_runnable(plan, images):
    """A layout with the images, each with a program on top."""
    work = plan.work / f"start-{len(images)}"
    made = work / "runnable"
    if (work / "runnable.made").exists():
        return work / "layout"
    make_images(work, images)
    made.mkdir(exist_ok=True)
    (made / "p.c").write_text(PROGRAM)
    call("gcc", "-O1", "-static", "-o", made / "start-here", made / "p.c")
    for name in images:
        call("umoci", "insert", "--image", f"{work}/layout:{name}", made / "start-here", "/start-here")
    (work / "runnable.made").touch()
    return work / "layout"


def wait_until(is_there, process, what):
    deadline = time.monotonic() + STARTS_WITHIN_S
    while not is_there():
        if time.monotonic() > deadline or process.poll() is not None:
            raise OSError(f"{what} does not answer")
        time.sleep(0.01)


@contextlib.contextmanager
def ended(process):
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


class Engine:
    """A containerd with its snapshotter."""

    def __init__(self, at, snapshotter, release):
        self.socket, self.snapshotter, self.release = at / "c.sock", snapshotter, release
        config = CONFIG + (CONFIG_1 if release.containerd_version()[1] == 1 else CONFIG_2)
        (at / "config.toml").write_text(config.format(at=at, snapshotter=snapshotter))
        self.log = open(at / "containerd.log", "w")
        self.process = subprocess.Popen(release.command(at, "containerd", "-c", at / "config.toml", "-l", "error"), stdout=self.log, stderr=self.log)

    def words(self, *args):
        """The command line of ctr."""
        return self.release.beside(self.process.pid, "ctr", "-a", self.socket, "-n", "k8s.io", *args)

    def wait(self):
        wait_until(lambda: subprocess.run(self.words("version"), capture_output=True).returncode == 0, self.process, "containerd")

    def pull(self, reference):
        import grpc
        from snapshotter_kit import allow_http, field
        allow_http(self.socket.parent / "hosts", reference)
        with grpc.insecure_channel(f"unix://{self.socket}") as channel:
            call_it = channel.unary_unary("/runtime.v1.ImageService/PullImage", request_serializer=bytes, response_deserializer=bytes)
            try:
                call_it(field(1, field(1, reference)), timeout=300, wait_for_ready=True)
            except grpc.RpcError as e:
                raise OSError(f"pull: {e.code().name}: {e.details()[-300:]}") from e

    def run(self, reference, name):
        output = call(*self.words("run", "--rm", "--snapshotter", self.snapshotter, reference, name, "/start-here"))
        if output.strip() != "here":
            raise OSError(f"the container said '{output}'")

    def check(self, at):
        """All layers are ours, if it has our snapshotter."""
        rows = call(*self.words("snapshots", "--snapshotter", self.snapshotter, "ls")).splitlines()
        n_layers = sum("Committed" in row for row in rows)
        unpacked = (at / "snapshotter.log").read_text().count("layer unpacked ") if self.snapshotter == "dormouse" else n_layers
        if unpacked < n_layers or n_layers == 0:
            raise OSError(f"{unpacked} of {n_layers} layers are the snapshotter's")


@contextlib.contextmanager
def snapshotter(plan, at, *args):
    words = [plan.build / "dormouse", "image", "snapshotter", "--socket", at / "sn.sock", "--root", at / "snapshots", "--store", at / "store", *args]
    with open(at / "snapshotter.log", "w") as log, ended(subprocess.Popen(words, stdout=subprocess.PIPE, stderr=log, text=True)) as process:
        if not process.stdout.readline().startswith("ready "):
            raise OSError("the snapshotter does not start: " + (at / "snapshotter.log").read_text()[-300:])
        yield


def timed(of, *args):
    began = time.monotonic()
    of(*args)
    return time.monotonic() - began


def measure_one(at, name, release, reference):
    """Seconds: the pull, the first container, another one."""
    engine = Engine(at, name, release)
    with ended(engine.process):
        engine.wait()
        seconds = [timed(engine.pull, reference), timed(engine.run, reference, "one"), timed(engine.run, reference, "two")]
        engine.check(at)
        return seconds


def theirs(release):
    def run(plan, at, host, reference):
        return measure_one(at, "overlayfs", release, reference)
    return run


def by_podman(plan, at, host, reference):
    peer = podman_peer.Podman(at)

    def start(name):
        output = peer.run(name, reference, "/start-here")
        if output.strip() != "here":
            raise OSError(f"the container said '{output}'")
    try:
        return [timed(peer.pull, f"docker://{reference}"), timed(start, "one"), timed(start, "two")]
    finally:
        peer.wait()


def from_upstream(release, *more):
    def run(plan, at, host, reference):
        with snapshotter(plan, at, "--upstream", host, *more):
            return measure_one(at, "dormouse", release, reference)
    return run


def from_store(release, *more):
    def run(plan, at, host, reference):
        call(plan.build / "dormouse", "image", "pull", f"docker://{reference}", "--store", at / "store")
        with snapshotter(plan, at, *more):
            return measure_one(at, "dormouse", release, reference)
    return run


def sides(plan):
    """Labels, and how it is done."""
    here = Release()
    version = here.containerd_version()[0]
    yield {"containerd": version, "snapshotter": "overlayfs", "layers": "registry"}, theirs(here)
    for layers, how in (("registry", from_upstream), ("store", from_store)):
        yield {"containerd": version, "snapshotter": "dormouse", "layers": layers, "sync": "yes"}, how(here)
        yield {"containerd": version, "snapshotter": "dormouse", "layers": layers, "sync": "no"}, how(here, "--no-sync")
    if plan.containerd_root:
        newer = Release(plan.containerd_root)
        version = newer.containerd_version()[0]
        yield {"containerd": version, "snapshotter": "overlayfs", "layers": "registry"}, theirs(newer)
        for layers, how in (("registry", from_upstream), ("store", from_store)):
            yield {"containerd": version, "snapshotter": "dormouse", "layers": layers, "sync": "yes"}, how(newer)
    else:
        say("  without a newer containerd: --containerd-root names none")
    version = podman_peer.installed()
    if version:
        yield {"podman": version, "snapshotter": "overlay", "layers": "registry"}, by_podman
    else:
        say("  without podman: it is not installed")


def check_needs():
    if os.geteuid() != 0:
        raise Skipped("start: containerd takes root")
    for program in ("containerd", "ctr", "runc", "umoci", "gcc"):
        if not shutil.which(program):
            raise Skipped(f"start: no {program} here")
    if not REGISTRY:
        raise Skipped("start: no docker-registry here")
    if not importlib.util.find_spec("grpc"):
        raise Skipped(f"start: no grpcio for {sys.executable}")


def run(plan, results):
    check_needs()
    images = IMAGES[:1] if plan.quick else IMAGES
    layout = make_runnable(plan, images)
    home = plan.work / "start-registry"
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    with real(home, log={"level": "error"}) as host:
        for image in images:
            reference = f"{host}/{image}:latest"
            call(plan.build / "dormouse", "image", "push", f"oci:{layout}:{image}", f"docker://{reference}")
            measure(plan, results, image, host, reference, list(sides(plan)))


def measure(plan, results, image, host, reference, all_sides):
    times = [[] for _ in all_sides]
    for _ in range(2 if plan.quick else 5):
        for (labels, how), rows in zip(all_sides, times):  # in turn, so that what disturbs one disturbs all
            with Fresh(plan.work) as fresh:
                try:
                    rows.append(how(plan, fresh.at, host, reference))
                except OSError as e:
                    say(f"  {image} {' '.join(labels.values())}: {e}")
    for (labels, _), rows in zip(all_sides, times):
        if not rows:
            continue
        prefix = "" if labels["snapshotter"] == "dormouse" else "peer_"
        for metric, seconds in (("start_s", [r[0] + r[1] for r in rows]), ("pull_s", [r[0] for r in rows]), ("restart_s", [r[2] for r in rows])):
            results.add(prefix + metric, {"variant": "start", "image": image, **labels}, "s", statistics.median(seconds), n=len(seconds),
                        least=min(seconds), most=max(seconds))
            say(f"  {image} {' '.join(labels.values())} {metric}: {statistics.median(seconds):.3f} ({min(seconds):.3f} to {max(seconds):.3f})")
