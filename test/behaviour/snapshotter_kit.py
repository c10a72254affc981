# SPDX-License-Identifier: Apache-2.0
"""`dormouse image snapshotter` as a process of a test, its calls in bytes, and a containerd of a test's own."""
import contextlib
import os
import shutil
import signal
import subprocess
import threading

from conftest import BUILD, DEADLINE_S, wait_for
from release_kit import Release
from serve_kit import start_until_ready

SERVICE = "/containerd.services.snapshots.v1.Snapshots/"
REF = "containerd.io/snapshot.ref"
KINDS = {1: "view", 2: "active", 3: "committed"}


# ---- protobuf, as much as it takes

def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def field(number, value):
    """A text, a message (bytes), or a dictionary of texts."""
    if isinstance(value, dict):
        return b"".join(field(number, field(1, k) + field(2, v)) for k, v in value.items())
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data if data else b""


def fields(data):
    """{number: [value, ...]}"""
    found, at = {}, 0

    def number():
        nonlocal at
        n = shift = 0
        while True:
            byte = data[at]
            at += 1
            n |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return n

    while at < len(data):
        key = number()
        if key & 7 == 0:
            value = number()
        else:
            size = number()
            value = data[at:at + size]
            at += size
        found.setdefault(key >> 3, []).append(value)
    return found


def text(message, number):
    return message.get(number, [b""])[0].decode()


def mounts(answer):
    return [{"type": text(m, 1), "source": text(m, 2), "options": [o.decode() for o in m.get(4, [])]}
            for m in map(fields, fields(answer).get(1, []))]


def info(message):
    m = fields(message)
    labels = dict((text(pair, 1), text(pair, 2)) for pair in map(fields, m.get(6, [])))
    return {"name": text(m, 1), "parent": text(m, 2), "kind": KINDS[m[3][0]], "labels": labels}


# ---- the program

class Snapshotter:
    def __init__(self, place, *args, env=None):
        """place: a directory, in which are store/, snapshots/ and the socket."""
        self.place = place
        self.socket, self.root, self.store = place / "sn.sock", place / "snapshots", place / "store"
        self.args = [BUILD / "dormouse", "image", "snapshotter", "--socket", self.socket, "--root", self.root, "--store", self.store,
                     "--no-sync", *args]
        self.env = {**os.environ, **(env or {})}
        self.log, self.channel = [], None
        self.start()

    def start(self):
        self.process, self.reader, self.ready = start_until_ready(self.args, self.env, self.log)

    def end(self, number):
        if self.channel:
            self.channel.close()
            self.channel = None
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            return self.process.wait(DEADLINE_S)
        finally:
            self.process.kill()
            self.reader.join(DEADLINE_S)
            self.process.stdout.close()
            self.process.stderr.close()

    def kill(self):
        return self.end(signal.SIGKILL)

    def stop(self):
        return self.end(signal.SIGTERM)

    def ask(self, method, request=b""):
        """All messages of the answer. Raises grpc.RpcError."""
        import grpc
        if not self.channel:
            self.channel = grpc.insecure_channel(f"unix://{self.socket}")
        call = self.channel.unary_stream(SERVICE + method, request_serializer=bytes, response_deserializer=bytes)
        return list(call(request, timeout=DEADLINE_S))

    def code(self, method, request=b""):
        import grpc
        try:
            self.ask(method, request)
        except grpc.RpcError as error:
            return error.code().name
        return "OK"

    def prepare(self, key, parent="", method="Prepare", **labels):
        return mounts(self.ask(method, field(2, key) + field(3, parent) + field(4, labels))[0])

    def list(self):
        return [info(m) for answer in self.ask("List") for m in fields(answer).get(1, [])]

    def dirs(self):
        return {p.name for p in (self.root / "dirs").iterdir()}


@contextlib.contextmanager
def snapshotter(place, *args, **options):
    s = Snapshotter(place, *args, **options)
    try:
        yield s
    finally:
        s.stop()


# ---- containerd

CONFIG = """version = 2
root = "{place}/root"
state = "{place}/state"
disabled_plugins = ["io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs", "io.containerd.snapshotter.v1.aufs",
  "io.containerd.snapshotter.v1.devmapper", "io.containerd.tracing.processor.v1.otlp", "io.containerd.internal.v1.opt"]
[grpc]
  address = "{place}/c.sock"
[ttrpc]
  address = "{place}/t.sock"
[proxy_plugins.dormouse]
  type = "snapshot"
  address = "{socket}"
[plugins."io.containerd.gc.v1.scheduler"]
  schedule_delay = "0s"
  startup_delay = "0s"
  mutation_threshold = 1
"""
CONFIG_1 = """[plugins."io.containerd.grpc.v1.cri"]
  enable_selinux = false
  stream_server_port = "0"
[plugins."io.containerd.grpc.v1.cri".containerd]
  snapshotter = "dormouse"
  disable_snapshot_annotations = false
"""
# The transfer service unpacks for the snapshotters that it is told of, and says of which image a layer is only to those that ask for it.
CONFIG_2 = """[proxy_plugins.dormouse.exports]
  root = "{place}/snapshots"
  enable_remote_snapshot_annotations = "true"
[[plugins."io.containerd.transfer.v1.local".unpack_config]]
  platform = "linux"
  snapshotter = "dormouse"
  differ = "walking"
[[plugins."io.containerd.transfer.v1.local".unpack_config]]
  platform = "linux"
  snapshotter = "overlayfs"
  differ = "walking"
[plugins."io.containerd.cri.v1.images"]
  snapshotter = "dormouse"
  {images}
[plugins."io.containerd.cri.v1.images".registry]
  config_path = "{place}/hosts"
[plugins."io.containerd.grpc.v1.cri"]
  stream_server_port = "0"
[plugins."io.containerd.nri.v1.nri"]
  disable = true
"""


def allow_http(hosts, reference):
    """To the registry of the reference, in a directory of containerd's kind; 2.x asks loopback by TLS, too."""
    host = reference.split("/")[0]
    (hosts / host).mkdir(parents=True, exist_ok=True)
    (hosts / host / "hosts.toml").write_text(f'server = "http://{host}"\n')


class Containerd:
    """Its root, state and sockets lie in `place`, which has a short path: sockets have 108 bytes. The socket of the snapshotter, and all that
    it has containerd mount, lie in the parent of `place`."""

    def __init__(self, place, socket, release=Release(), images=""):
        """images: a further setting of the CRI plugin of 2.x."""
        self.place, self.release = place, release
        self.version, self.major = release.containerd_version()
        place.mkdir(exist_ok=True)
        self.address = place / "c.sock"
        config = CONFIG + (CONFIG_1 if self.major == 1 else CONFIG_2).replace("{place}/snapshots", str(place.parent / "snapshots"))
        (place / "config.toml").write_text(config.format(place=place, socket=socket, images=images))
        self.log = open(place / "log", "ab")
        self.process = subprocess.Popen(release.command(place.parent, "containerd", "--config", place / "config.toml"), stdout=self.log, stderr=self.log)
        wait_for(lambda: self.process.poll() is not None or self.ctr("version", check=False).returncode == 0, "containerd answers")
        assert self.process.poll() is None, self.text_of_log()

    def text_of_log(self):
        return (self.place / "log").read_text()

    def words(self, *args, namespace="k8s.io"):
        """The command line of ctr."""
        return self.release.beside(self.process.pid, "ctr", "--address", self.address, "--namespace", namespace, *args)

    def ctr(self, *args, check=True, **options):
        done = subprocess.run(self.words(*args, **options), capture_output=True, text=True, timeout=DEADLINE_S)
        assert not check or done.returncode == 0, done.stdout + done.stderr + self.text_of_log()
        return done

    def pull(self, reference):
        """As the kubelet has images pulled; raises grpc.RpcError. (`ctr images pull` of 1.6 fetches all layers and does not say which snapshot is for which.)"""
        import grpc
        allow_http(self.place / "hosts", reference)
        with grpc.insecure_channel(f"unix://{self.address}") as channel:
            call = channel.unary_unary("/runtime.v1.ImageService/PullImage", request_serializer=bytes, response_deserializer=bytes)
            call(field(1, field(1, reference)), timeout=DEADLINE_S)

    def can_pull(self, reference):
        import grpc
        try:
            self.pull(reference)
            return True
        except grpc.RpcError:
            return False

    def forget(self):
        """Remove all images; the rest goes with them."""
        for name in self.ctr("images", "ls", "-q").stdout.split():
            self.ctr("images", "rm", "--sync", name, check=False)

    def run_words(self, reference, name, *command, snapshotter="dormouse"):
        return self.words("run", "--rm", "--snapshotter", snapshotter, reference, name, *command)

    def run(self, *args, **options):
        done = subprocess.run(self.run_words(*args, **options), capture_output=True, text=True, timeout=DEADLINE_S)
        assert done.returncode == 0, done.stdout + done.stderr + self.text_of_log()
        return done.stdout

    def snapshots(self, snapshotter="dormouse", **options):
        lines = self.ctr("snapshots", "--snapshotter", snapshotter, "ls", **options).stdout.splitlines()[1:]
        return [line.split()[0] for line in lines]

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        try:
            self.process.wait(DEADLINE_S)
        finally:
            self.process.kill()
            self.log.close()


@contextlib.contextmanager
def containerd(*args):
    c = Containerd(*args)
    try:
        yield c
    finally:
        c.stop()
        for line in open("/proc/self/mounts"):  # of a test that failed
            if line.split()[1].startswith(str(c.place)):
                subprocess.run(["umount", "-l", line.split()[1]], check=False)


def has(*programs):
    return all(map(shutil.which, programs))
