# SPDX-License-Identifier: Apache-2.0
"""Figs. 12 and 14 of the BREAK paper with pods on three machines, each a network namespace (network.py), for nodes that keep a part of the images.

Systems: `dormouse up` with machines that have joined it and share images by the plans of the scheduler; the same without sharing ("pull"); kubelets with
containerd and upstream's control plane (pod_peer.py). The registry is Debian's, behind a slow link; the machines see each other over a faster one (without
a delay of its own). The images are the recorded ones of four families (refactor.py), with one file in ONE_IN, and one more layer, a program that waits.

A trace of deployments, drawn once by Zipf's law, is the same for all. A deployment begins when the Pod is created and ends when a watch says Running.
The last ALIVE pods live; when one has ended, its node keeps the layers of images of living pods and, the last used first, those of other images as long as
all layers of these together are within the part of the data set (compressed layers). The benchmark removes the others, from nodes of all systems alike.

Fig. 14: the systems, by network and part. Fig. 12: machines that share and have unequal links; the scheduler chooses with the plugins of Kubernetes, by
bandwidth alone (NetMARKS), or with BREAK's plugins, which is the default there.
"""
import base64
import collections
import contextlib
import json
import os
import pathlib
import random
import shutil
import ssl
import subprocess
import sys
import time
from unittest import mock

from network import Network, inside
from nodes import NETWORKS, NODES, PEER_MBIT, REGISTRY_PORT, UNEQUAL, call, quantile
from result import Skipped, say

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "test/behaviour"))
from conftest import Server  # noqa: E402
from image_kit import CONFIG, LAYER, Layout, digest, layer, packed  # noqa: E402
from image_nodes_kit import create_token  # noqa: E402
from kubelet_kit import find_upstream  # noqa: E402
from pod_client_kit import PODS, Api, Watch  # noqa: E402
from registry_kit import REGISTRY, real  # noqa: E402

DOC = "pods on machines that share images behind shaped links, and on kubelets with containerd (Figs. 12 and 14)"
TIMEOUT_S = 120
POLL_S = 0.02
PORT = 6445     # that of the other control plane is 6443
STATES = "/apis/dormouse.dev/v1alpha1/nodeimagestates"
FAMILIES = ("debian", "redis", "python", "node")
ONE_IN = 2
PARTS = (0, 5, 10, 25)      # percent of the data set that a node keeps
DEPLOYMENTS, ALIVE, SLOTS = 12, 4, 2
SEED = 7
CONFIGURATION = """apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
"""
BY_BANDWIDTH = """  plugins:
    score: {disabled: [{name: '*'}], enabled: [{name: BreakNetwork, weight: 1}]}
"""
SCHEDULERS = {"kubernetes": CONFIGURATION, "bandwidth": CONFIGURATION + BY_BANDWIDTH, "break": None}


class Up(Server):
    COMMAND = "up"


def wait_for(condition, what, poll_s=POLL_S):
    end = time.monotonic() + TIMEOUT_S
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(poll_s)
    raise OSError(f"not within {TIMEOUT_S} s: {what}")


def draw(names, n):
    """By Zipf's law over the images in a drawn order."""
    rng = random.Random(SEED)
    order = rng.sample(names, len(names))
    return rng.choices(order, [1 / (i + 1) for i in range(len(order))], k=n)


class Images:
    """In the registry, as HOST/pods:NAME."""

    def __init__(self, plan, work, names, inner):
        self.sizes, self.digests, self.diffs = {}, {}, {}   # of a layer: bytes; of an image: digests of its layers, and those of their contents
        images = plan.work / f"images-part-{len(names)}-{ONE_IN}"
        subprocess.run([sys.executable, str(pathlib.Path(__file__).with_name("refactor.py")), "--one-in", str(ONE_IN), str(images), *names], check=True)
        layout, tar = Layout.__new__(Layout), layer([("program", "f", (plan.build / "bench/nodes/pod-program").read_bytes(), {"mode": 0o755})])
        layout.directory = images / "layout"
        self.blobs = layout.directory / "blobs/sha256"
        index = json.loads((layout.directory / "index.json").read_text())
        layout.manifests = [m for m in index["manifests"] if not m["annotations"]["org.opencontainers.image.ref.name"].startswith("pod-")]
        for found in list(layout.manifests):
            self.add(layout, found, tar)
        (layout.directory / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": layout.manifests}))
        for name in names:
            call(plan.build / "dormouse", "image", "push", f"oci:{layout.directory}:pod-{name}", f"docker://{inner}/pods:{name}")
        self.total = sum(self.sizes.values())

    def add(self, layout, found, tar):
        name = found["annotations"]["org.opencontainers.image.ref.name"]
        manifest = json.loads((self.blobs / found["digest"][7:]).read_text())
        config = json.loads((self.blobs / manifest["config"]["digest"][7:]).read_text())
        config["rootfs"]["diff_ids"].append(digest(tar))
        config["config"] = {"Entrypoint": ["/program"], "Cmd": ["idle"]}
        config.pop("history", None)
        manifest["config"] = layout.descriptor(json.dumps(config).encode(), CONFIG)
        manifest["layers"].append(layout.descriptor(packed(tar), LAYER + "+gzip"))
        layout.manifests.append(layout.descriptor(json.dumps(manifest).encode(), found["mediaType"], annotations={"org.opencontainers.image.ref.name": f"pod-{name}"}))
        self.diffs[name], self.digests[name] = config["rootfs"]["diff_ids"], [m["digest"] for m in manifest["layers"]]
        self.sizes |= {m["digest"]: m["size"] for m in manifest["layers"]}

    def size(self, names):
        return sum(self.sizes[d] for d in {d for n in names for d in self.digests[n]})


class Machines:
    """A context: `dormouse up`, and machines that have joined it."""

    LEFT_BYTES = 1 << 60    # of images after a trace: all goes with the cluster

    def __init__(self, lab, directory, shares, configuration=None):
        self.lab, self.directory, self.shares, self.configuration = lab, directory, shares, configuration
        self.network, self.end = lab.network, contextlib.ExitStack()

    def __enter__(self):
        self.directory.mkdir()
        try:
            self.start()
        except BaseException:
            self.end.close()
            raise
        return self

    def __exit__(self, *_):
        self.end.close()

    def start(self):
        self.end.callback(self.remove)
        args = ["--gateway", "none", "--image-registry", self.lab.host, "--plain-http-registry", self.lab.host]
        if self.shares:
            args += ["--share-images", "--node-network", "10.77.0.0/24"]
        if self.configuration:
            (self.directory / "scheduler.yaml").write_text(self.configuration)
            args += ["--scheduler-config", str(self.directory / "scheduler.yaml")]
        with inside(self.network.name("master")):
            up = Up(self.directory / "up", listen=f"{self.network.address('master')}:{PORT}", extra=args)
            self.end.callback(up.stop)
            token = create_token(up)
        self.api = Api(f"/run/netns/{self.network.name('master')}", up.host, up.port, ssl.create_default_context(cafile=up.data_dir / "pki/ca.crt"), up.token)
        for n in NODES:
            process = self.join(n, up.url, token)
            self.end.callback(process.wait, TIMEOUT_S)
            self.end.callback(process.terminate)
        if self.shares:
            wait_for(lambda: len(self.api.must("GET", STATES)["items"]) == len(NODES), "all nodes to report")

    def join(self, name, url, token):
        log = self.directory / f"{name}.log"
        with inside(self.network.name(name)), log.open("w") as to:
            process = subprocess.Popen(
                [self.lab.dormouse, "join", url, "--token", token, "--data-dir", self.directory / name, "--node-name", name, "--agent-listen", "0.0.0.0:0",
                 "--max-pods", str(SLOTS), "--pod-log-dir", self.directory / f"{name}.pods", "--image-registry", self.lab.host,
                 "--plain-http-registry", self.lab.host, *([] if self.shares else ["--image-listen", "none"])], stdout=subprocess.PIPE, stderr=to, text=True)
        if not process.stdout.readline().startswith("ready "):
            raise OSError(f"{name} does not join: {log.read_text()[-500:]}")
        return process

    def remove(self):
        for line in sorted((line.split()[1] for line in open("/proc/mounts")), reverse=True):
            if line.startswith(str(self.directory) + "/"):
                subprocess.run(["umount", "--lazy", line])
        shutil.rmtree(self.directory, ignore_errors=True)

    def remove_image(self, node, reference):
        store = ("--store", self.directory / node / "images", "--wait", "10s")
        call(self.lab.dormouse, "image", "rm", reference, *store)

        def are_gone():
            """An image that was in use stays leased for ten seconds."""
            call(self.lab.dormouse, "image", "gc", *store)
            rows = json.loads(call(self.lab.dormouse, "image", "ls", "--layers", *store[:2], "-o", "json").stdout)
            return all(row["images"] for row in rows)
        wait_for(are_gone, f"{node} to remove layers", 0.2)

    def reported(self, node):
        prefixes = base64.b64decode(self.api.must("GET", f"{STATES}/{node}")["spec"]["layers"]["prefixes"])
        return {prefixes[i:i + 6] for i in range(0, len(prefixes), 6)}


class Trace:
    """Deployments on one cluster, whose nodes begin without images."""

    def __init__(self, lab, cluster, part):
        self.lab, self.cluster, self.api, self.images = lab, cluster, cluster.api, lab.images
        self.limit = self.images.total * part // 100
        self.alive, self.used, self.n = collections.deque(), {n: [] for n in NODES}, 0  # used: images of a node, the last used last

    def run(self, names):
        try:
            return [self.deploy(name) for name in names]
        finally:
            self.limit = self.cluster.LEFT_BYTES
            while self.alive:
                self.end_oldest()

    def deploy(self, name):
        while len(self.alive) >= ALIVE:
            self.end_oldest()
        self.n += 1
        pod, watch = f"{name}-{self.n}", Watch(self.api)
        container = {"name": "c", "image": f"{self.lab.host}/pods:{name}", "imagePullPolicy": "IfNotPresent"}
        before, began = self.lab.registry.n_down, time.monotonic()
        self.api.must("POST", PODS, {"metadata": {"name": pod}, "spec": {"hostNetwork": True, "terminationGracePeriodSeconds": 2, "containers": [container]}})
        while True:
            _, found, at = watch.next()
            if found["metadata"]["name"] == pod and found["status"].get("phase") == "Running":
                break
        watch.close()
        node = found["spec"]["nodeName"]
        self.alive.append((pod, node, name))
        self.used[node] = [i for i in self.used[node] if i != name] + [name]
        self.wait_reported(node)
        return {"node": node, "ready": at - began, "registry": self.lab.registry.n_down - before}

    def end_oldest(self):
        pod, node, _ = self.alive.popleft()
        self.api.must("DELETE", f"{PODS}/{pod}")
        wait_for(lambda: self.api.ask("GET", f"{PODS}/{pod}")[0] == 404, f"{pod} to end")
        needed = [i for _, n, i in self.alive if n == node]
        removed = False
        while (spare := [i for i in self.used[node] if i not in needed]) and self.images.size(spare) > self.limit:
            self.cluster.remove_image(node, f"{self.lab.host}/pods:{spare[0]}")
            self.used[node].remove(spare[0])
            removed = True
        if removed:
            self.wait_reported(node)

    def wait_reported(self, node):
        """The scheduler knows what the node has."""
        if getattr(self.cluster, "shares", False):
            wanted = {bytes.fromhex(d[7:19]) for i in self.used[node] for d in self.images.diffs[i]}
            wait_for(lambda: self.cluster.reported(node) == wanted, f"{node} to report its layers")


class Lab:
    def __init__(self, plan):
        self.plan, self.dormouse, self.work, self.n = plan, str(plan.build / "dormouse"), (plan.work / "pods").absolute(), 0
        names = [f"{f}-{age}" for age in ("old", "new") for f in FAMILIES]
        self.trace = draw(names, DEPLOYMENTS // 2 if plan.quick else DEPLOYMENTS)
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)
        self.end = contextlib.ExitStack()
        self.end.enter_context(mock.patch.dict(os.environ, {"no_proxy": "*", "NO_PROXY": "*"}))
        try:
            self.network = Network({"registry": NETWORKS[0][0], "master": 1000, **{n: PEER_MBIT for n in NODES}})
            self.end.callback(self.network.close)
            with inside(self.network.name("registry")):
                inner = self.end.enter_context(real(self.work))
                self.images = Images(plan, self.work, names, inner)
            host, port = inner.split(":")
            self.registry = self.network.proxy("registry", REGISTRY_PORT, (host, int(port)), 0)
            self.host = f"{self.network.address('registry')}:{REGISTRY_PORT}"
        except BaseException:
            self.end.close()
            raise

    def set_network(self, mbit, rtt_ms, of_nodes=None):
        self.network.shape("registry", mbit)
        self.registry.rtt_ms = rtt_ms
        for n in NODES:
            self.network.shape(n, (of_nodes or {}).get(n, PEER_MBIT))

    def on_machines(self, part, shares, configuration=None):
        self.n += 1
        with Machines(self, self.work / f"cluster-{self.n}", shares, configuration) as cluster:
            return Trace(self, cluster, part).run(self.trace)

    @contextlib.contextmanager
    def kubelets(self):
        """Nothing where they cannot be had. It is kept, since it takes long to start; nodes know nothing of each other."""
        if missing := find_upstream()[1]:
            say(f"  without kubelets: {missing}")
            yield None
            return
        from pod_peer import Kubelets
        with Kubelets(self.network, self.work / "kubelets", (self.plan.build / "bench/nodes/pod-program").read_bytes(), SLOTS) as cluster:
            yield cluster

    def close(self):
        self.end.close()
        shutil.rmtree(self.work, ignore_errors=True)


def mean(records):
    return sum(r["ready"] for r in records) / len(records)


def report(results, metric, labels, records):
    values = [r["ready"] for r in records]
    results.add(metric, labels, "s", mean(records), n=len(values), least=min(values), median=quantile(values, 0.5), p90=quantile(values, 0.9), most=max(values))
    results.add("pod_registry_mb", labels, "MB", sum(r["registry"] for r in records) / 1e6)
    say(f"  {' '.join(str(v) for k, v in labels.items() if k != 'variant'):34} Running after {mean(records):6.2f} s, median {quantile(values, 0.5):6.2f} s, at most {max(values):6.2f} s; "
        f"{sum(r['registry'] for r in records) / 1e6:7.1f} MB from the registry; {' '.join(r['node'] for r in records)}")


def figure_14(lab, results, networks, parts):
    speedups = {}
    with lab.kubelets() as kubelets:
        for mbit, rtt_ms in networks:
            for part in parts:
                lab.set_network(mbit, rtt_ms)
                at, found = {"variant": "pods", "figure": "14", "mbit": mbit, "rtt_ms": rtt_ms, "cache_percent": part}, {}
                if kubelets:
                    found["kubelet"] = Trace(lab, kubelets, part).run(lab.trace)
                    report(results, "peer_pod_running_s", {**at, "system": "kubelet"}, found["kubelet"])
                for system in ("pull", "shared"):
                    found[system] = lab.on_machines(part, system == "shared")
                    report(results, "pod_running_s", {**at, "system": system}, found[system])
                for ours, over in (("shared", "kubelet"), ("pull", "kubelet"), ("shared", "pull")):
                    if over in found:
                        speedup = mean(found[over]) / mean(found[ours])
                        speedups.setdefault((ours, over), []).append(speedup)
                        results.add("pod_speedup", {**at, "system": ours, "over": over}, "1", speedup)
    for (ours, over), values in speedups.items():
        results.add("pod_speedup", {"variant": "pods", "figure": "14", "system": ours, "over": over, "mean": "all"}, "1", sum(values) / len(values), least=min(values), most=max(values))
        say(f"  {ours} over {over}: {sum(values) / len(values):.2f} in the mean ({min(values):.2f} to {max(values):.2f})")


def figure_12(lab, results, network, parts):
    mbit, rtt_ms = network
    for part in parts:
        lab.set_network(mbit, rtt_ms, UNEQUAL)
        at, found = {"variant": "pods", "figure": "12", "mbit": mbit, "rtt_ms": rtt_ms, "cache_percent": part}, {}
        for name, configuration in SCHEDULERS.items():
            found[name] = lab.on_machines(part, True, configuration)
            report(results, "pod_running_s" if name == "break" else "peer_pod_running_s", {**at, "scheduler": name}, found[name])
        for name in ("kubernetes", "bandwidth"):
            results.add("pod_speedup", {**at, "over": name}, "1", mean(found[name]) / mean(found["break"]))


def chosen(variable, all_of, default):
    """Those that the variable names by number, from 0: for runs that have to be short."""
    words = os.environ.get(variable)
    return [all_of[int(w)] for w in words.split(",")] if words else list(default)


def run(plan, results):
    if not REGISTRY or not shutil.which("zstd"):
        raise Skipped("no docker-registry or zstd here")
    if os.geteuid() or not (shutil.which("crun") or shutil.which("runc")):
        raise Skipped("pods need root, and crun or runc")
    parts = chosen("DORMOUSE_BENCH_PARTS", PARTS, PARTS[1::2] if plan.quick else PARTS)
    networks = chosen("DORMOUSE_BENCH_NETWORKS", NETWORKS, NETWORKS[2:] if plan.quick else NETWORKS)
    figures = chosen("DORMOUSE_BENCH_FIGURES", (12, 14), (12, 14))
    lab = Lab(plan)
    try:
        say(f"  {len(lab.images.digests)} images, {lab.images.total / 1e6:.0f} MB in distinct layers; {' '.join(lab.trace)}")
        if 14 in figures:
            figure_14(lab, results, networks, parts)
        if 12 in figures:
            figure_12(lab, results, NETWORKS[1], parts)
    finally:
        lab.close()
