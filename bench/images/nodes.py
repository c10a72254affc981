# SPDX-License-Identifier: Apache-2.0
"""Figs. 12 and 14 of the BREAK paper with real nodes: images from a registry over a slow link, and from other nodes over a fast one.

Each node is a network namespace (network.py) with `dormouse image serve --node`, or containerd; the registry is Debian's. All images of a trace are
deployed one after the other, each on two nodes: first the old versions, then the new ones. A deployment begins with the command and ends when the
first byte of a file of the root file system was read ("ready"): `image plan --send`, the layers, `image unpack`; of containerd `ctr image pull`, which
unpacks, and a mount. Nodes keep all that they got; what smaller caches cost is said by the model (deploy.py).

And once more with all nodes at once: in each of three rounds every node gets another image.

And the new versions again and again to a node that has nothing, from one or two others that have them, which by turns are asked and push.
"""
import concurrent.futures
import contextlib
import datetime
import http.client
import json
import os
import pathlib
import shutil
import subprocess
import sys
import threading
import time
from unittest import mock

from containerd_peer import Containerd
from network import Network, inside
from refactor import FAMILIES
from result import Skipped, say

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "test/behaviour"))
from registry_kit import REGISTRY, real  # noqa: E402
from release_kit import Release  # noqa: E402
from serve_kit import KEY, NOBODY, token  # noqa: E402

DOC = "deployments on real nodes behind shaped links: original and refactored, with and without peers (Figs. 12 and 14)"
# Mbit/s from the registry, milliseconds of a round trip to it.
NETWORKS = ((50, 200), (100, 50), (500, 10))
PEER_MBIT, PEER_RTT_MS = 500, 15
NODES = ("n1", "n2", "n3")
UNEQUAL = {"n1": 500, "n2": 300, "n3": 200}     # Fig. 12: what NetMARKS goes by
PORT, REGISTRY_PORT = 7000, 5000
TIMEOUT_S = 300
# name -> images, peers; containerd is the peer that the others are compared with.
SYSTEMS = {
    "containerd": ("original", False),
    "originals": ("original", False),
    "originals, peers": ("original", True),
    "refactored": ("refactored", False),
    "refactored, peers": ("refactored", True),
}

PUSH_PAIRS = 3
TOGETHER = ("containerd", "originals, peers", "refactored, peers")
QUICK = ("containerd", "originals", "refactored, peers")


def call(*words, check=True):
    env = {k: v for k, v in os.environ.items() if "proxy" not in k.lower()}
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=TIMEOUT_S, env=env)
    if check and done.returncode:
        raise OSError(f"{' '.join(map(str, words[1:4]))}: {done.stderr.strip()[-300:]} {done.stdout.strip()[-300:]}")
    return done


class Node:
    """A namespace with a server of an own store."""

    def __init__(self, lab, name):
        self.lab, self.name, self.store = lab, name, lab.work / name
        self.process = None

    def start(self):
        key = self.lab.work / "key"
        key.write_text(KEY + "\n")
        self.log = self.lab.work / f"{self.name}.log"
        with inside(self.lab.network.name(self.name)), self.log.open("w") as log:
            self.process = subprocess.Popen([self.lab.dormouse, "image", "serve", "--node", self.name, "--cluster-key-file", key, "--listen", "127.0.0.1:0",
                                             "--plain-http", "--store", self.store], stdout=subprocess.PIPE, stderr=log, text=True)
        line = self.process.stdout.readline()
        if not line.startswith("ready "):
            raise OSError(f"node {self.name} does not start")
        self.port = int(dict(w.split("=", 1) for w in line.split()[1:])["url"].rsplit(":", 1)[1])
        self.lab.proxies[self.name].target = ("127.0.0.1", self.port)

    def layers(self):
        """DiffIDs of what is there."""
        with inside(self.lab.network.name(self.name)):
            c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT_S)
            c.request("GET", "/v1/cache", headers={"Authorization": "Bearer " + token("cache", NOBODY, "", self.name)})
            found = json.loads(c.getresponse().read())
            c.close()
        return [v["diff"] for v in found["layers"]]

    def deployed_at(self):
        """When the last deployment ended, by the node's clock, which is ours."""
        lines = [line.split()[0] for line in self.log.read_text().splitlines() if "image deployed" in line]
        return datetime.datetime.fromisoformat(lines[-1].replace("Z", "+00:00")).timestamp()

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait(TIMEOUT_S)
            self.process.stdout.close()
        self.process = None
        shutil.rmtree(self.store, ignore_errors=True)


class Lab:
    """The network, the registry with all images, and nodes."""

    def __init__(self, plan, names):
        self.dormouse, self.work, self.names = str(plan.build / "dormouse"), plan.work / "nodes", names
        self.deployments = [(f"{f}-{age}", k) for age in ("old", "new") for f in families_of(names) for k in (0, 1)]
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)
        self.end = contextlib.ExitStack()
        # Disks are not what this is about, and files made after as many were removed cost ten times as much on ext4.
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=10g", "nodes", str(self.work)], check=True)
        self.end.callback(subprocess.run, ["umount", "--lazy", str(self.work)])
        self.end.enter_context(mock.patch.dict(os.environ, {"no_proxy": "*", "NO_PROXY": "*"}))
        try:
            self.network = Network({"registry": NETWORKS[0][0], "master": 1000, **{n: PEER_MBIT for n in NODES}})
            self.end.callback(self.network.close)
            with inside(self.network.name("registry")):
                self.inner = self.end.enter_context(real(self.work))
                self.fill(plan)
            self.proxies = {n: self.network.proxy(n, PORT, None, PEER_RTT_MS) for n in NODES}
            target = self.inner.split(":")
            self.registry = self.network.proxy("registry", REGISTRY_PORT, (target[0], int(target[1])), 0)
            self.host = f"{self.network.address('registry')}:{REGISTRY_PORT}"
            self.images = {kind: {n: self.describe(kind, n) for n in names} for kind in ("original", "refactored")}
        except BaseException:
            self.end.close()
            raise

    def fill(self, plan):
        images = plan.work / f"images-{len(self.names)}"
        subprocess.run([sys.executable, str(pathlib.Path(__file__).with_name("refactor.py")), str(images), *self.names], check=True)
        sources = [f"oci:{images / 'layout'}:{n}" for n in self.names]
        for name, source in zip(self.names, sources):
            call(self.dormouse, "image", "push", source, f"docker://{self.inner}/original:{name}")
        done = call(self.dormouse, "image", "refactor", *sources, "--to", f"docker://{self.inner}/refactored", "--mode", "replace", "--gain-threshold", "1",
                    "--proof", "own", "-o", "json")
        self.stored = json.loads(done.stdout)["stored"]

    def describe(self, kind, name):
        with inside(self.network.name("registry")):
            done = call(self.dormouse, "image", "inspect", f"docker://{self.inner}/{kind}:{name}", "-o", "json")
            manifest = self.document(kind, name, "manifests")
        found = json.loads(done.stdout)
        return {"reference": f"{self.host}/{kind}:{name}", "manifest": found["digest"], "config": manifest["config"]["digest"],
                "layers": [{"name": v["diffID"], "bytes": v["size"], "digest": v["digest"], "diffID": v["diffID"], "tarBytes": v["tarSize"]} for v in found["layers"]]}

    def document(self, kind, name, what):
        c = http.client.HTTPConnection(self.inner, timeout=TIMEOUT_S)
        c.request("GET", f"/v2/{kind}/{what}/{name}", headers={"Accept": "application/vnd.oci.image.manifest.v1+json"})
        doc = json.loads(c.getresponse().read())
        c.close()
        return doc

    def set_network(self, mbit, rtt_ms, nodes=None):
        self.mbit, self.rtt_ms = mbit, rtt_ms
        self.network.shape("registry", mbit)
        self.registry.rtt_ms = rtt_ms
        for n in NODES:
            self.network.shape(n, (nodes or {}).get(n, PEER_MBIT))

    def cluster(self, kind, name, peers):
        d = self.images[kind][name]
        return {"image": {k: d[k] for k in ("reference", "manifest", "config")}, "layers": d["layers"], "registryMbit": self.mbit,
                "registryRttMilliseconds": self.rtt_ms, "peerRttMilliseconds": PEER_RTT_MS,
                "nodes": [{"name": n, "url": self.proxies[n].url, "layers": self.nodes[n].layers(), **({"uplinkMbit": PEER_MBIT} if peers else {})}
                          for n in NODES]}

    def choose(self, file):
        """`image plan` alone: its nodes, the fastest first, with the seconds that it expects."""
        with inside(self.network.name("master")):
            out = json.loads(call(self.dormouse, "image", "plan", file, "-o", "json").stdout)
        return {n["node"]: n["seconds"] for n in out["nodes"]}

    def deploy(self, kind, name, where, peers, wait=lambda: None, push=False):
        """where: a node, or a function of the nodes that the plan prefers. wait: before it begins. push: other nodes send unasked. -> a record."""
        one = where if isinstance(where, str) else "any"
        file = self.work / f"cluster-{one}.json"
        file.write_text(json.dumps(self.cluster(kind, name, peers)))
        expected = self.choose(file)
        wait()
        began, began_at = time.monotonic(), time.time()
        if callable(where):
            where = where(self.choose(file))    # again: what it takes counts
        with inside(self.network.name("master")):
            out = json.loads(call(self.dormouse, "image", "plan", file, "--node", where, "--send", "--cluster-key-file", self.work / "key", "--deadline", "5m",
                                  *(["--push"] if push else []), "-o", "json").stdout)
        fetched = time.monotonic() - began
        if out["state"] != "done":
            raise OSError(f"{name} on {where}: {out}")
        root = self.work / f"root-{one}"
        call(self.dormouse, "image", "unpack", self.images[kind][name]["reference"], root, "--store", self.nodes[where].store)
        first_byte(root)
        ready = time.monotonic() - began
        shutil.rmtree(root, ignore_errors=True)
        return {"node": where, "fetched": fetched, "ready": ready, "expected": expected[where], "registry": out.get("registryBytes", 0), "peers": out.get("peerBytes", 0),
                "on_node": self.nodes[where].deployed_at() - began_at}

    def with_nodes(self, run):
        self.nodes = {n: Node(self, n) for n in NODES}
        try:
            for node in self.nodes.values():
                node.start()
            return run()
        finally:
            for node in self.nodes.values():
                node.stop()

    def by_turns(self, kind, peers):
        return self.with_nodes(lambda: [self.deploy(kind, name, NODES[(i // 2 + k) % len(NODES)], peers) for i, (name, k) in enumerate(self.deployments)])

    def by_scheduler(self, choose):
        """A node takes its part of the deployments and no more, and an image once. All layers come from the registry: what a node holds counts."""
        limit, load, places, records = -(-len(self.deployments) // len(NODES)), dict.fromkeys(NODES, 0), {}, []

        def run():
            for name, _ in self.deployments:
                def where(expected):
                    fit = [n for n in NODES if load[n] < limit and (name, n) not in places] or [n for n in NODES if load[n] < limit]
                    return choose(fit, expected, len(records))
                records.append(self.deploy("original", name, where, False))
                load[records[-1]["node"]] += 1
                places[name, records[-1]["node"]] = True
            return records
        return self.with_nodes(run)

    def at_once(self, deploy):
        """deploy(name, node, wait): three rounds, in which each node gets another image at the same time. -> records"""
        records, together = [], threading.Barrier(len(NODES))
        with concurrent.futures.ThreadPoolExecutor(len(NODES)) as pool:
            for i in range(len(NODES)):
                began = [pool.submit(deploy, self.names[(i + k) % len(self.names)], n, lambda: together.wait(TIMEOUT_S)) for k, n in enumerate(NODES)]
                records += [one.result() for one in began]
        return records

    def all_at_once(self, kind, peers):
        return self.with_nodes(lambda: self.at_once(lambda name, n, wait: self.deploy(kind, name, n, peers, wait)))

    def again(self, *nodes):
        for n in nodes:
            self.nodes[n].stop()
            self.nodes[n].start()

    def pull_and_push(self, kind, sources):
        """-> records of both, in pairs"""
        pull, push = [], []

        def run():
            for name in [n for n in self.names if n.endswith("-new")]:
                self.again("n2", "n3")
                for n in sources:
                    self.deploy(kind, name, n, True)
                for i in range(PUSH_PAIRS):
                    for to in (pull, push) if i % 2 == 0 else (push, pull):
                        self.again("n1")
                        to.append(self.deploy(kind, name, "n1", True, push=to is push))
            return pull, push
        return self.with_nodes(run)

    def pull(self, daemons, name, n, wait=lambda: None):
        """A deployment by containerd. -> a record"""
        root = self.work / f"root-{n}"
        root.mkdir()
        wait()
        before, began = self.registry.n_down, time.monotonic()
        with inside(self.network.name(n)):      # ctr resolves and fetches itself
            daemons[n].pull(f"{self.host}/original:{name}")
        fetched = time.monotonic() - began
        done = daemons[n].ctr("image", "mount", f"{self.host}/original:{name}", str(root))
        if done.returncode:
            raise OSError(f"containerd: {done.stderr.strip()[-200:]}")
        first_byte(root)
        record = {"node": n, "fetched": fetched, "ready": time.monotonic() - began, "registry": self.registry.n_down - before, "peers": 0}
        subprocess.run(["umount", str(root)], check=True)
        root.rmdir()
        return record

    def with_containerds(self, run):
        """run(daemons), with containerd on each node."""
        daemons = {}
        try:
            for n in NODES:
                at = self.work / f"containerd-{n}"
                at.mkdir()
                with inside(self.network.name(n)):
                    daemons[n] = Containerd(Release(), "overlayfs").start(at)
            return run(daemons)
        finally:
            for d in daemons.values():
                d.stop()
            for n in NODES:
                shutil.rmtree(self.work / f"containerd-{n}", ignore_errors=True)

    def containerds(self):
        """The same trace by turns."""
        return self.with_containerds(lambda daemons: [self.pull(daemons, name, NODES[(i // 2 + k) % len(NODES)]) for i, (name, k) in enumerate(self.deployments)])

    def containerds_at_once(self):
        before = self.registry.n_down
        records = self.with_containerds(lambda daemons: self.at_once(lambda name, n, wait: self.pull(daemons, name, n, wait)))
        for r in records:   # what goes to three at a time is known as a sum alone
            r["registry"] = (self.registry.n_down - before) / len(records)
        return records

    def close(self):
        self.end.close()
        shutil.rmtree(self.work, ignore_errors=True)


def families_of(names):
    return list(dict.fromkeys(n.rsplit("-", 1)[0] for n in names))


def first_byte(root):
    with open(root / "etc/debian_version", "rb") as f:
        if not f.read(1):
            raise OSError(f"nothing in '{root}'")


def quantile(values, q):
    return sorted(values)[min(len(values) - 1, int(q * len(values)))]


def report(results, metric, labels, records):
    for what in ("fetched", "ready"):
        values = [r[what] for r in records]
        results.add(f"{metric}_{'s' if what == 'ready' else 'fetch_s'}", labels, "s", sum(values) / len(values), n=len(values), least=min(values),
                    median=quantile(values, 0.5), p90=quantile(values, 0.9), most=max(values))
    for what in ("registry", "peers"):
        results.add("deploy_mb", {**labels, "from": what}, "MB", sum(r[what] for r in records) / 1e6)
    expected = [(r["expected"], r["fetched"]) for r in records if r.get("expected", 0) > 0.5]
    if expected:
        results.add("deploy_expected_ratio", labels, "1", sum(f for _, f in expected) / sum(e for e, _ in expected), n=len(expected))


def mean(records):
    return sum(r["ready"] for r in records) / len(records)


def at_once(lab, results, networks, systems):
    """All nodes at the same time, which share the link of the registry."""
    for mbit, rtt_ms in networks:
        lab.set_network(mbit, rtt_ms)
        found = {}
        for name, (kind, peers) in systems.items():
            if name not in TOGETHER or (name == "containerd" and not Release().containerd_version()):
                continue
            records = found[name] = lab.containerds_at_once() if name == "containerd" else lab.all_at_once(kind, peers)
            labels = {"variant": "nodes", "figure": "14, at once", "mbit": mbit, "rtt_ms": rtt_ms}
            report(results, "peer_deploy" if name == "containerd" else "deploy", {**labels, **({"peer": name} if name == "containerd" else {"system": name})}, records)
            say(f"  three at once, {mbit:3} Mbit/s, {rtt_ms:3} ms  {name:18} ready after {mean(records):6.2f} s, at most {max(r['ready'] for r in records):6.2f} s; "
                f"{sum(r['registry'] for r in records) / 1e6:7.1f} MB from the registry, {sum(r['peers'] for r in records) / 1e6:7.1f} MB from nodes")
        for name in [n for n in found if n != "containerd" and "containerd" in found]:
            results.add("deploy_speedup", {"variant": "nodes", "figure": "14, at once", "mbit": mbit, "rtt_ms": rtt_ms, "system": name, "over": "containerd", "of": "ready"},
                        "1", mean(found["containerd"]) / mean(found[name]))


def figure_14(lab, results, networks, systems):
    has_peer = Release().containerd_version()
    speedups = {}
    for mbit, rtt_ms in networks:
        lab.set_network(mbit, rtt_ms)
        found = {}
        for name, (kind, peers) in systems.items():
            if name == "containerd" and not has_peer:
                say("  without containerd: it is not installed")
                continue
            records = found[name] = lab.containerds() if name == "containerd" else lab.by_turns(kind, peers)
            labels = {"variant": "nodes", "figure": "14", "mbit": mbit, "rtt_ms": rtt_ms}
            if name == "containerd":
                report(results, "peer_deploy", {**labels, "peer": f"containerd {Containerd(Release(), 'overlayfs').version}"}, records)
            else:
                report(results, "deploy", {**labels, "system": name}, records)
            say(f"  {mbit:3} Mbit/s, {rtt_ms:3} ms  {name:18} ready after {mean(records):6.2f} s, at most {max(r['ready'] for r in records):6.2f} s; "
                f"{sum(r['registry'] for r in records) / 1e6:7.1f} MB from the registry, {sum(r['peers'] for r in records) / 1e6:7.1f} MB from nodes")
        base = "containerd" if has_peer else "originals"
        for name in [n for n in found if n != base]:
            speedups.setdefault(name, []).append(mean(found[base]) / mean(found[name]))
            results.add("deploy_speedup", {"variant": "nodes", "figure": "14", "mbit": mbit, "rtt_ms": rtt_ms, "system": name, "over": base, "of": "ready"}, "1",
                        speedups[name][-1])
    ratios = [r["value"] for r in results.rows if r["metric"] == "deploy_expected_ratio" and r["labels"]["figure"] == "14"]
    say(f"  layers were there {min(ratios):.2f} to {max(ratios):.2f} times as late as planned, by system and network")
    for name, values in speedups.items():
        results.add("deploy_speedup", {"variant": "nodes", "figure": "14", "system": name, "mean": "all networks", "of": "ready"}, "1", sum(values) / len(values))
        say(f"  {name}: {', '.join(f'{v:.2f}' for v in values)} times as fast")


SCHEDULERS = {
    "turns": lambda fit, expected, i: min(fit, key=lambda n: (NODES.index(n) - i) % len(NODES)),
    "bandwidth": lambda fit, expected, i: max(fit, key=UNEQUAL.get),
    "predicted time": lambda fit, expected, i: min(fit, key=lambda n: (expected[n], n)),
}


def figure_12(lab, results, mbit, rtt_ms):
    lab.set_network(mbit, rtt_ms, UNEQUAL)
    found = {name: lab.by_scheduler(choose) for name, choose in SCHEDULERS.items()}
    for name, records in found.items():
        labels = {"variant": "nodes", "figure": "12", "mbit": mbit, "rtt_ms": rtt_ms, "scheduler": name}
        report(results, "deploy" if name == "predicted time" else "peer_deploy", labels, records)
        say(f"  by {name:15} ready after {mean(records):6.2f} s, at most {max(r['ready'] for r in records):6.2f} s; "
            f"{sum(r['registry'] for r in records) / 1e6:7.1f} MB from the registry")
    for name in ("turns", "bandwidth"):
        results.add("deploy_speedup", {"variant": "nodes", "figure": "12", "over": name, "of": "ready"}, "1", mean(found[name]) / mean(found["predicted time"]))


def pull_and_push(lab, results, mbit, rtt_ms):
    lab.set_network(mbit, rtt_ms)
    for sources in (("n2",), ("n2", "n3")):
        for kind in ("original", "refactored"):
            found = dict(zip(("pull", "push"), lab.pull_and_push(kind, sources)))
            for how, records in found.items():
                labels = {"variant": "nodes", "figure": "push", "mbit": mbit, "rtt_ms": rtt_ms, "images": kind, "sources": len(sources), "how": how}
                values = [r["on_node"] for r in records]
                results.add("deploy_node_s", labels, "s", sum(values) / len(values), n=len(values), least=min(values), median=quantile(values, 0.5), most=max(values))
                say(f"  {kind:10} from {len(sources)} nodes by {how}: there after {sum(values) / len(values):5.2f} s ({min(values):.2f} to {max(values):.2f})")
            ratios = sorted(a["on_node"] / b["on_node"] for a, b in zip(found["pull"], found["push"]))
            results.add("deploy_speedup", {**labels, "over": "pull", "of": "there"}, "1", quantile(ratios, 0.5), n=len(ratios), least=ratios[0], most=ratios[-1])


def run(plan, results):
    if not REGISTRY or not shutil.which("zstd"):
        raise Skipped("no docker-registry or zstd here")
    # Two families, four images: the others take longer on these links, and nothing else.
    networks = NETWORKS[2:] if plan.quick else NETWORKS
    systems = {name: how for name, how in SYSTEMS.items() if not plan.quick or name in QUICK}
    lab = Lab(plan, [f"{f}-{age}" for age in ("old", "new") for f in FAMILIES[:2]])
    try:
        figure_14(lab, results, networks, systems)
        at_once(lab, results, networks, systems)
        figure_12(lab, results, *networks[len(networks) // 2])
        if not plan.quick:
            pull_and_push(lab, results, *NETWORKS[1])
    finally:
        lab.close()
