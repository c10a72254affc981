# SPDX-License-Identifier: Apache-2.0
"""Figs. 12 and 14 of the BREAK paper with pods: `dormouse up` and machines that have joined it, each in a network namespace (network.py).

The registry is Debian's, behind a slow link; the machines see each other over a faster one (without a delay of its own). The images are the recorded
ones (refactor.py) with one more layer, a program that waits. A deployment begins when the Pod is created and ends when its status says Running, which is
asked for every 20 ms. The next one begins when the node has reported its layers.

Fig. 14: each image on two of three machines, first the old versions, then the new ones; nodes that pull, and nodes that share images by the plans of the
scheduler. Fig. 12: the machines share images, have unequal links, and the scheduler chooses: with the plugins of Kubernetes, by bandwidth alone
(NetMARKS), or with BREAK's plugins, which is the default there.
"""
import base64
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time
from unittest import mock

from network import Network, inside
from nodes import NETWORKS, NODES, PEER_MBIT, REGISTRY_PORT, UNEQUAL, call, families_of, quantile
from refactor import FAMILIES
from result import Skipped, say

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "test/behaviour"))
from conftest import Server  # noqa: E402
from image_nodes_kit import create_token  # noqa: E402
from image_kit import CONFIG, LAYER, Layout, digest, layer, packed  # noqa: E402
from registry_kit import REGISTRY, real  # noqa: E402

DOC = "pods on machines that share images behind shaped links (Figs. 12 and 14)"
TIMEOUT_S = 600
POLL_S = 0.02
PODS = "/api/v1/namespaces/default/pods"
STATES = "/apis/dormouse.dev/v1alpha1/nodeimagestates"
PROGRAM = "#include <unistd.h>\nint main(void)\n{\n    for (;;)\n        pause();\n}\n"
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


def wait_for(condition, what):
    end = time.monotonic() + TIMEOUT_S
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(POLL_S)
    raise OSError(f"not within {TIMEOUT_S} s: {what}")


class Lab:
    def __init__(self, plan, names):
        self.dormouse, self.work, self.names = str(plan.build / "dormouse"), plan.work / "pods", names
        self.n = 0
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)
        self.end = contextlib.ExitStack()
        self.end.enter_context(mock.patch.dict(os.environ, {"no_proxy": "*", "NO_PROXY": "*"}))
        try:
            self.network = Network({"registry": NETWORKS[0][0], "master": 1000, **{n: PEER_MBIT for n in NODES}})
            self.end.callback(self.network.close)
            with inside(self.network.name("registry")):
                self.inner = self.end.enter_context(real(self.work))
                self.fill(plan)
            host, port = self.inner.split(":")
            self.registry = self.network.proxy("registry", REGISTRY_PORT, (host, int(port)), 0)
            self.host = f"{self.network.address('registry')}:{REGISTRY_PORT}"
        except BaseException:
            self.end.close()
            raise

    def program(self):
        source, program = self.work / "wait.c", self.work / "wait"
        source.write_text(PROGRAM)
        subprocess.run(["cc", "-static", "-O2", "-s", "-o", program, source], check=True)
        return layer([("bench-wait", "f", program.read_bytes(), {"mode": 0o755})])

    def fill(self, plan):
        images = plan.work / f"images-{len(self.names)}"
        subprocess.run([sys.executable, str(pathlib.Path(__file__).with_name("refactor.py")), str(images), *self.names], check=True)
        layout, tar = Layout.__new__(Layout), self.program()
        layout.directory, layout.manifests = images / "layout", []
        blobs = layout.directory / "blobs/sha256"
        index = json.loads((layout.directory / "index.json").read_text())
        layout.manifests = [m for m in index["manifests"] if not m["annotations"]["org.opencontainers.image.ref.name"].startswith("pod-")]
        self.diffs = {}
        for found in list(layout.manifests):
            name = found["annotations"]["org.opencontainers.image.ref.name"]
            manifest = json.loads((blobs / found["digest"][7:]).read_text())
            config = json.loads((blobs / manifest["config"]["digest"][7:]).read_text())
            config["rootfs"]["diff_ids"].append(digest(tar))
            config["config"] = {"Cmd": ["/bench-wait"]}
            config.pop("history", None)
            manifest["config"] = layout.descriptor(json.dumps(config).encode(), CONFIG)
            manifest["layers"].append(layout.descriptor(packed(tar), LAYER + "+gzip"))
            layout.manifests.append(layout.descriptor(json.dumps(manifest).encode(), found["mediaType"], annotations={
                "org.opencontainers.image.ref.name": f"pod-{name}"}))
            self.diffs[name] = config["rootfs"]["diff_ids"]
        (layout.directory / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": layout.manifests}))
        for name in self.names:
            call(self.dormouse, "image", "push", f"oci:{layout.directory}:pod-{name}", f"docker://{self.inner}/pods:{name}")

    def set_network(self, mbit, rtt_ms, of_nodes=None):
        self.network.shape("registry", mbit)
        self.registry.rtt_ms = rtt_ms
        for n in NODES:
            self.network.shape(n, (of_nodes or {}).get(n, PEER_MBIT))

    # ---- one cluster ----

    def join(self, name, token, *args):
        log = self.directory / f"{name}.log"
        with inside(self.network.name(name)), log.open("w") as to:
            process = subprocess.Popen(
                [self.dormouse, "join", self.up.url, "--token", token, "--data-dir", self.directory / name, "--node-name", name, "--agent-listen", "0.0.0.0:0",
                 "--pod-log-dir", self.directory / f"{name}.pods", "--image-registry", self.host, "--plain-http-registry", self.host, *args],
                stdout=subprocess.PIPE, stderr=to, text=True)
        if not process.stdout.readline().startswith("ready "):
            raise OSError(f"{name} does not join: {log.read_text()[-500:]}")
        return process

    @contextlib.contextmanager
    def cluster(self, shares, configuration=None, max_pods=110):
        self.n += 1
        self.directory, self.shares = self.work / f"cluster-{self.n}", shares
        self.directory.mkdir()
        with contextlib.ExitStack() as end:
            end.callback(self.remove)
            end.enter_context(inside(self.network.name("master")))
            args = ["--gateway", "none", "--image-registry", self.host, "--plain-http-registry", self.host]
            if shares:
                args += ["--share-images", "--node-network", "10.77.0.0/24"]
            if configuration:
                (self.directory / "scheduler.yaml").write_text(configuration)
                args += ["--scheduler-config", str(self.directory / "scheduler.yaml")]
            self.up = Up(self.directory / "up", listen=f"{self.network.address('master')}:6443", extra=args)
            end.callback(self.up.stop)
            token = create_token(self.up)
            for n in NODES:
                process = self.join(n, token, "--max-pods", str(max_pods), *([] if shares else ["--image-listen", "none"]))
                end.callback(process.wait, TIMEOUT_S)
                end.callback(process.terminate)
            if shares:
                wait_for(lambda: len(self.up.get(STATES).json()["items"]) == len(NODES), "all nodes to report")
            end.callback(self.clear)
            yield

    def remove(self):
        for line in sorted((line.split()[1] for line in open("/proc/mounts")), reverse=True):
            if line.startswith(str(self.directory) + "/"):
                subprocess.run(["umount", "--lazy", line])
        shutil.rmtree(self.directory, ignore_errors=True)

    def clear(self):
        for item in self.up.get(PODS).json()["items"]:
            self.up.ask("DELETE", f"{PODS}/{item['metadata']['name']}")
        wait_for(lambda: not self.up.get(PODS).json()["items"], "all pods to end")

    def held(self, node):
        prefixes = base64.b64decode(self.up.get(f"{STATES}/{node}").json()["spec"]["layers"]["prefixes"])
        return {prefixes[i:i + 6] for i in range(0, len(prefixes), 6)}

    def deploy(self, name, node=None):
        """-> a record"""
        pod = f"{name}-{len(self.up.get(PODS).json()['items'])}"
        spec = {"hostNetwork": True, "terminationGracePeriodSeconds": 1, "containers": [{"name": "c", "image": f"{self.host}/pods:{name}"}]}
        if node:
            spec["nodeSelector"] = {"kubernetes.io/hostname": node}
        before, began = self.registry.n_down, time.monotonic()
        self.up.create(PODS, {"metadata": {"name": pod}, "spec": spec})
        found = wait_for(lambda: (p := self.up.get(f"{PODS}/{pod}").json())["status"].get("phase") == "Running" and p, f"{pod} to run")
        ready, where = time.monotonic() - began, found["spec"]["nodeName"]
        if self.shares:
            wanted = {bytes.fromhex(d[7:19]) for d in self.diffs[name]}
            wait_for(lambda: wanted <= self.held(where), f"{where} to report its layers")
        return {"node": where, "ready": ready, "registry": self.registry.n_down - before}

    def by_turns(self, shares):
        deployments = [(f"{f}-{age}", k) for age in ("old", "new") for f in families_of(self.names) for k in (0, 1)]
        with self.cluster(shares):
            return [self.deploy(name, NODES[(i // 2 + k) % len(NODES)]) for i, (name, k) in enumerate(deployments)]

    def by_scheduler(self, configuration):
        deployments = [f"{f}-{age}" for age in ("old", "new") for f in families_of(self.names) for _ in (0, 1)]
        with self.cluster(True, configuration, max_pods=-(-len(deployments) // len(NODES)) + 1):
            return [self.deploy(name) for name in deployments]

    def close(self):
        self.end.close()
        shutil.rmtree(self.work, ignore_errors=True)


def mean(records):
    return sum(r["ready"] for r in records) / len(records)


def report(results, metric, labels, records):
    values = [r["ready"] for r in records]
    results.add(metric, labels, "s", mean(records), n=len(values), least=min(values), median=quantile(values, 0.5), p90=quantile(values, 0.9), most=max(values))
    results.add("pod_registry_mb", labels, "MB", sum(r["registry"] for r in records) / 1e6)
    say(f"  {' '.join(str(v) for k, v in labels.items() if k != 'variant'):40} Running after {mean(records):6.2f} s, at most {max(values):6.2f} s; "
        f"{sum(r['registry'] for r in records) / 1e6:7.1f} MB from the registry")


def run(plan, results):
    if not REGISTRY or not shutil.which("zstd") or not shutil.which("cc"):
        raise Skipped("no docker-registry, zstd or C compiler here")
    if os.geteuid() or not (shutil.which("crun") or shutil.which("runc")):
        raise Skipped("pods need root, and crun or runc")
    lab = Lab(plan, [f"{f}-{age}" for age in ("old", "new") for f in FAMILIES[:2]])
    try:
        speedups = []
        for mbit, rtt_ms in NETWORKS[2:] if plan.quick else NETWORKS:
            lab.set_network(mbit, rtt_ms)
            found = {}
            for name, shares in (("pull", False), ("shared", True)):
                found[name] = lab.by_turns(shares)
                labels = {"variant": "pods", "figure": "14", "mbit": mbit, "rtt_ms": rtt_ms, "system": name}
                report(results, "pod_running_s" if shares else "peer_pod_running_s", labels, found[name])
            speedups.append(mean(found["pull"]) / mean(found["shared"]))
            results.add("pod_speedup", {"variant": "pods", "figure": "14", "mbit": mbit, "rtt_ms": rtt_ms, "over": "pull"}, "1", speedups[-1])
        say(f"  shared: {', '.join(f'{v:.2f}' for v in speedups)} times as fast as pulling")
        mbit, rtt_ms = NETWORKS[1]
        lab.set_network(mbit, rtt_ms, UNEQUAL)
        found = {name: lab.by_scheduler(configuration) for name, configuration in SCHEDULERS.items()}
        for name, records in found.items():
            report(results, "pod_running_s" if name == "break" else "peer_pod_running_s",
                   {"variant": "pods", "figure": "12", "mbit": mbit, "rtt_ms": rtt_ms, "scheduler": name}, records)
        for name in ("kubernetes", "bandwidth"):
            results.add("pod_speedup", {"variant": "pods", "figure": "12", "over": name}, "1", mean(found[name]) / mean(found["break"]))
    finally:
        lab.close()
