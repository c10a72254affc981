# SPDX-License-Identifier: Apache-2.0
"""Bytes over the wide link for a version update, with real files: packages of Debian in their two newest versions, one layer for each image.

A node has the old version and pulls the new one from `dormouse image serve`, through a proxy that counts the bytes of both directions. Three
ways: the layer's blob, gzip as registries have it (what every stock engine fetches, since the layer has another digest); only files that the
node lacks; the same, packed against the files of the old version. And one from docker-registry, to which `image delta` attached the last of these
in advance. Contents are compared by DiffID in all of them.
"""
import asyncio
import functools
import gzip
import io
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import threading
import time
import urllib.parse

from result import Skipped, say

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "test/behaviour"))
from image_kit import Layout  # noqa: E402
from registry_kit import REGISTRY, real  # noqa: E402

DOC = "bytes of a version update: blobs, missing files, files packed against old ones"
FAMILIES = {
    "openssl": ("libssl3", "openssl"),
    "redis": ("redis-server", "redis-tools"),
    "python": ("python3.11-minimal", "libpython3.11-minimal", "libpython3.11-stdlib"),
    "nginx": ("nginx", "nginx-common"),
    "apache": ("apache2-bin",),
    "haproxy": ("haproxy",),
    "php": ("php8.2-cli",),
    "node": ("nodejs", "libnode108"),
    "postgres": ("postgresql-15", "postgresql-client-15"),
    "mariadb": ("mariadb-server-core",),
    "java": ("openjdk-17-jre-headless",),
}
QUICK = ("openssl", "redis", "python")
HOST = "docker.io/library/"


def older(a, b):
    return subprocess.run(["dpkg", "--compare-versions", a, "lt", b]).returncode == 0


def versions(package):
    """The two newest that apt knows, the older one first."""
    done = subprocess.run(["apt-cache", "madison", package], capture_output=True, text=True)
    found = {line.split("|")[1].strip() for line in done.stdout.splitlines() if line.count("|") == 2 and "Sources" not in line}
    ordered = sorted(found, key=functools.cmp_to_key(lambda a, b: -1 if older(a, b) else 1))
    if len(ordered) < 2:
        raise Skipped(f"apt knows no two versions of {package}")
    return ordered[-2:]


def download(directory, package, version):
    directory.mkdir(parents=True, exist_ok=True)
    pattern = f"{package}_{version.replace(':', '%3a')}_*.deb"
    if not list(directory.glob(pattern)):
        done = subprocess.run(["apt-get", "-q", "download", f"{package}={version}"], cwd=directory, capture_output=True, text=True, timeout=600)
        if done.returncode or not list(directory.glob(pattern)):
            raise Skipped(f"{package} {version} cannot be downloaded: {done.stderr.strip()[-200:]}")
    return next(directory.glob(pattern))


def make_layer(debs):
    """What installing them adds, without the database of packages."""
    out, seen = io.BytesIO(), set()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for deb in debs:
            data = subprocess.run(["dpkg-deb", "--fsys-tarfile", str(deb)], stdout=subprocess.PIPE, check=True).stdout
            with tarfile.open(fileobj=io.BytesIO(data)) as t:
                for m in t:
                    m.name = m.name.removeprefix("./")
                    if m.name in ("", ".") or m.name in seen:
                        continue
                    seen.add(m.name)
                    tar.addfile(m, t.extractfile(m) if m.isreg() else None)
    return out.getvalue()


class Counted:
    """A proxy to host:port; n: bytes of both directions."""

    def __init__(self, target):
        self.host, self.port = target.split(":")
        self.n, self.loop, ready = 0, asyncio.new_event_loop(), threading.Event()

        async def pump(reader, writer):
            try:
                while data := await reader.read(65536):
                    self.n += len(data)
                    writer.write(data)
                    await writer.drain()
            except OSError:
                pass
            writer.close()

        async def accept(reader, writer):
            r, w = await asyncio.open_connection(self.host, int(self.port))
            await asyncio.gather(pump(reader, w), pump(r, writer))

        async def start():
            self.server = await asyncio.start_server(accept, "127.0.0.1", 0)
            self.url = "127.0.0.1:%d" % self.server.sockets[0].getsockname()[1]
            ready.set()

        self.loop.create_task(start())
        threading.Thread(target=self.loop.run_forever, daemon=True).start()
        ready.wait()

    def close(self):
        self.loop.call_soon_threadsafe(self.loop.stop)


class Registry:
    """docker-registry with all versions and their deltas."""

    def __init__(self, plan, layout, store, families):
        self.real = real(plan.work / "update")
        host = self.real.__enter__()
        for family in families:
            for age in ("old", "new"):
                call(plan, "push", f"oci:{layout.directory}:{family}-{age}", f"docker://{host}/{family}:{age}")
            try:
                call(plan, "delta", f"docker://{host}/{family}:new", "--from", f"{HOST}{family}:old", "--store", store)
            except OSError as e:
                say(f"  {family} has no delta: {e}")
        self.proxy = Counted(host)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.proxy.close()
        self.real.__exit__(None, None, None)

    def cpu_s(self):
        return 0


class Served:
    def __init__(self, program, store):
        self.process = subprocess.Popen([program, "image", "serve", "--listen", "127.0.0.1:0", "--store", store], stdout=subprocess.PIPE, text=True)
        url = dict(w.split("=", 1) for w in self.process.stdout.readline().split()[1:])["url"]
        self.proxy = Counted(urllib.parse.urlsplit(url).netloc)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.proxy.close()
        self.process.terminate()
        self.process.wait(20)

    def cpu_s(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def call(plan, *args):
    env = {k: v for k, v in os.environ.items() if "proxy" not in k.lower()}
    done = subprocess.run([plan.build / "dormouse", "image", *map(str, args)], capture_output=True, text=True, timeout=600, env=env)
    if done.returncode:
        raise OSError(f"dormouse image {args[0]}: {done.stderr.strip()[-300:]}")
    return done.stdout


def update(plan, name, family, layout, server, *args):
    """Bytes on the link and seconds of pulling the new version, on a node that has the old one."""
    node = plan.work / "update-node"
    subprocess.run(["rm", "-rf", str(node)], check=True)
    call(plan, "pull", f"oci:{layout.directory}:{family}-old", "--store", node, "--name", "old:v")
    before, cpu, began = server.proxy.n, server.cpu_s(), time.monotonic()
    done = json.loads(call(plan, "pull", f"docker://{server.proxy.url}/{family}:new", "--store", node, "--name", "new:v", "-o", "json", *args))
    seconds, cpu = time.monotonic() - began, server.cpu_s() - cpu
    if "registry" not in name and (name != "blobs") != (done["layersByFiles"] > 0):
        raise OSError(f"{family}: {name} were not what the layer was made from")
    return server.proxy.n - before, seconds, cpu


def run(plan, results):
    if subprocess.run(["which", "apt-get", "apt-cache", "dpkg-deb"], stdout=subprocess.DEVNULL).returncode:
        raise Skipped("no packages of Debian here")
    families = {f: p for f, p in FAMILIES.items() if not plan.quick or f in QUICK}
    work = plan.work / "update"
    subprocess.run(["rm", "-rf", str(work)], check=True)
    layout, known = Layout(work / "layout"), {}
    for family, packages in families.items():
        try:
            found = {p: versions(p) for p in packages}
            debs = [[download(plan.work / "debs", p, v[age]) for p, v in found.items()] for age in (0, 1)]
        except (Skipped, subprocess.SubprocessError) as e:
            say(f"  without {family}: {e}")
            continue
        known[family] = found[packages[0]]
        for age, files in zip(("old", "new"), debs):
            layout.image(f"{family}-{age}", [make_layer(files)], compress=lambda data: gzip.compress(data, 6))
    if not known:
        raise Skipped("no package with two versions could be downloaded")
    stores = {"blobs": work / "both", "files": work / "new", "file deltas": work / "both"}
    if REGISTRY:
        stores["deltas in a registry"] = work / "both"
    else:
        say("  without deltas in a registry: no docker-registry here")
    for family in known:
        for store, ages in ((work / "both", ("old", "new")), (work / "new", ("new",))):
            for age in ages:
                call(plan, "pull", f"oci:{layout.directory}:{family}-{age}", "--store", store, "--form", "both", "--name", f"{HOST}{family}:{age}")
    total = {way: 0 for way in stores}
    for way, store in stores.items():
        with Registry(plan, layout, store, known) if "registry" in way else Served(plan.build / "dormouse", store) as server:
            for family, (old, new) in known.items():
                n, seconds, cpu = update(plan, way, family, layout, server, *(("--whole",) if way == "blobs" else ()))
                total[way] += n
                labels = {"variant": "update", "family": family, "from": old, "to": new}
                if way == "blobs":
                    results.add("peer_update_mb", {**labels, "peer": "layers as blobs"}, "MB", n / 1e6)
                else:
                    results.add("update_mb", {**labels, "how": way}, "MB", n / 1e6)
                results.add("update_s", {**labels, "how": way}, "s", seconds)
                if "registry" not in way:
                    results.add("update_server_cpu_s", {**labels, "how": way}, "s", cpu)
                say(f"  {family:10}{old:>28} -> {new:28}{way:22}{n / 1e6:9.3f} MB {seconds:7.2f} s")
    for way in [w for w in stores if w != "blobs"]:
        ratio = total["blobs"] / total[way]
        results.add("wan_ratio", {"variant": "update", "family": "all", "of": "bytes of an update", "how": way}, "1", ratio)
        say(f"  {way}: {total['blobs'] / 1e6:.1f} MB became {total[way] / 1e6:.1f} MB, {ratio:.2f} times less")
    subprocess.run(["rm", "-rf", str(work), str(plan.work / "update-node")], check=True)
