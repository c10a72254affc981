# SPDX-License-Identifier: Apache-2.0
"""Memory of `dormouse image serve` at rest, before and after it was pulled from, and what a byte sent costs; of a node's server as well."""
import contextlib
import hashlib
import http.client
import json
import os
import random
import pathlib
import shutil
import subprocess
import sys
import tarfile
import io
import threading
import time
import urllib.parse

from result import say

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "test/behaviour"))
from serve_kit import KEY  # noqa: E402

DOC = "image serve: memory at rest, processor time for each GB sent"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CONNECTIONS = 4
REST_S = 4


def make_layout(directory, size):
    """An OCI layout with one layer of that many random bytes, not compressed."""
    blobs = directory / "blobs/sha256"
    blobs.mkdir(parents=True)
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w") as t:
        info = tarfile.TarInfo("data")
        info.size = size
        t.addfile(info, io.BytesIO(random.Random(1).randbytes(size)))

    def put(data, media_type):
        name = hashlib.sha256(data).hexdigest()
        (blobs / name).write_bytes(data)
        return {"mediaType": media_type, "digest": f"sha256:{name}", "size": len(data)}

    layer = put(tar.getvalue(), "application/vnd.oci.image.layer.v1.tar")
    config = {"os": "linux", "architecture": "amd64", "rootfs": {"type": "layers", "diff_ids": [layer["digest"]]}}
    manifest = {"schemaVersion": 2, "mediaType": MANIFEST, "layers": [layer],
                "config": put(json.dumps(config).encode(), "application/vnd.oci.image.config.v1+json")}
    index = {"schemaVersion": 2, "manifests": [put(json.dumps(manifest).encode(), MANIFEST)]}
    (directory / "oci-layout").write_text('{"imageLayoutVersion":"1.0.0"}')
    (directory / "index.json").write_text(json.dumps(index))
    return layer


def pss_mib(pid):
    with open(f"/proc/{pid}/smaps_rollup") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("Pss:")) / 1024


def cpu_s(pid):
    with open(f"/proc/{pid}/stat") as f:
        user, system = f.read().rsplit(")", 1)[1].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def pull(host, layer):
    c = http.client.HTTPConnection(host, timeout=60)
    c.request("GET", "/v2/bench/manifests/v1")
    c.getresponse().read()
    c.request("GET", f"/v2/bench/blobs/{layer['digest']}")
    response, n = c.getresponse(), 0
    while data := response.read(1 << 20):
        n += len(data)
    c.close()
    assert n == layer["size"], f"{n} of {layer['size']} bytes"


def pull_all(host, layer, times):
    threads = [threading.Thread(target=lambda: [pull(host, layer) for _ in range(times)]) for _ in range(CONNECTIONS)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


@contextlib.contextmanager
def serving(plan, work, *more):
    """A server of the store in `work` -> (process, host)."""
    server = subprocess.Popen([plan.build / "dormouse", "image", "serve", "--listen", "127.0.0.1:0", "--store", work / "store", *more],
                              stdout=subprocess.PIPE, text=True)
    try:
        url = dict(w.split("=", 1) for w in server.stdout.readline().split()[1:])["url"]
        yield server, urllib.parse.urlsplit(url).netloc
    finally:
        server.terminate()
        server.wait(20)
        server.stdout.close()


def idle(results, server, kind, pulls):
    """At rest: once nothing changes any more; an idle server returns what it does not need after two seconds."""
    mib, since = pss_mib(server.pid), time.monotonic()
    while time.monotonic() - since < REST_S:
        time.sleep(0.1)
        now = pss_mib(server.pid)
        if abs(now - mib) > 0.05:
            mib, since = now, time.monotonic()
    results.add("serve_idle_pss_mib", {"variant": "serve", "kind": kind, "pulls": pulls}, "MiB", mib)
    say(f"  {kind}: {mib:.1f} MiB at rest after {pulls} pulls")


def run(plan, results):
    work = plan.work / "serve"
    shutil.rmtree(work, ignore_errors=True)
    layer = make_layout(work / "layout", (16 if plan.quick else 64) << 20)
    subprocess.run([plan.build / "dormouse", "image", "pull", f"oci:{work}/layout", "--name", "bench:v1", "--store", work / "store"],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    times = 2 if plan.quick else 8
    try:
        with serving(plan, work) as (server, host):
            idle(results, server, "registry", 0)
            before = cpu_s(server.pid)
            pull_all(host, layer, times)
            per_gb = (cpu_s(server.pid) - before) / (CONNECTIONS * times * layer["size"] / 1e9)
            idle(results, server, "registry", CONNECTIONS * times)
            results.add("serve_cpu_s_per_gb", {"variant": "serve", "connections": CONNECTIONS}, "s", per_gb)
            say(f"  {per_gb:.2f} s of processor time for a GB")
        (work / "key").write_text(KEY + "\n")
        with serving(plan, work, "--node", "n1", "--cluster-key-file", work / "key", "--plain-http") as (server, _):
            idle(results, server, "node", 0)
    finally:
        shutil.rmtree(work, ignore_errors=True)
