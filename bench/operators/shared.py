# SPDX-License-Identifier: Apache-2.0
"""Many operators that watch the same objects: what that costs, when all are ready, and whom a change wakes.

Pods of some 2 KiB are made once; then the same data directory serves operators in the process of the API server, which
holds them once, and operators of a second dormouse that watches over HTTP and holds them in its cache.
"""
import contextlib
import json
import os
import shutil
import subprocess
import time

from measure import MIB, Foreign, Realtime, Sampler, family, percentile
from variants import Failed, Server, admin_text

TEAMS = 10


class Plan:
    def __init__(self, quick, pods=None):
        self.pods = pods or (1000 if quick else 50_000)
        self.operators, self.changes, self.settle_s = (10, 5, 1) if quick else (100, 20, 5)


def run(*args):
    done = subprocess.run([str(a) for a in args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600)
    if done.returncode:
        raise Failed(f"{os.path.basename(args[0])} {args[1]}: {done.stderr.decode().strip()[-400:]}")
    return json.loads(done.stdout) if done.stdout.strip() else {}


def entries_by_operator(data):
    """How often each operator's guest was entered; asking wakes the server, but no guest."""
    found = {}
    for line in admin_text(data, "/metrics").splitlines():
        if line.startswith("dormouse_operator_activations_total{"):
            name = line.split('operator="', 1)[1].split('"', 1)[0]
            found[int(name.rpartition("-")[2])] = int(line.rpartition(" ")[2])
    return found


class Host:
    """`dormouse operator run` against the server: operators of a directory, each with the rights of an account of its own."""

    def __init__(self, paths, server, n):
        self.data, directory = paths.work / "host-data", paths.work / "host-operators"
        for d in (self.data, directory):
            shutil.rmtree(d, ignore_errors=True)
            d.mkdir(mode=0o700)
        shutil.copy(paths.build / "bench/operators/share.wasm", directory)
        documents = [json.dumps({
            "name": f"share-{i}", "wasm": "share.wasm", "abi": "v1", "serviceAccount": f"operators/share-{i}",
            "env": [{"name": "TEAM", "value": f"team-{i % TEAMS}"}, {"name": "OUT_NAMESPACE", "value": f"share{i}"}],
        }) for i in range(n)]
        (directory / "wasm_config.yaml").write_text("\n---\n".join(documents) + "\n")
        self.log = open(paths.work / "host.log", "wb")
        self.process = subprocess.Popen(
            [paths.dormouse, "operator", "run", directory, "--kubeconfig", server.kubeconfig, "--data-dir", self.data,
             "--swap-quota", "4Gi", "--sleep-always", "--log-level", "warn"], stdout=self.log, stderr=self.log)

    def pids(self):
        return family(self.process.pid)

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()
        shutil.rmtree(self.data, ignore_errors=True)


class Bench:
    def __init__(self, paths, plan, realtime, results, say, progress):
        self.paths, self.plan, self.realtime = paths, plan, realtime
        self.results, self.say, self.progress = results, say, progress
        self.nonce = 2

    def share(self, action, server, *more):
        return run(self.paths.build / "bench/operators/share", action, "--kubeconfig", server.kubeconfig,
                   "--operators", self.plan.operators, *more)

    def memory(self, pids, labels):
        """Of processes at rest."""
        with Sampler(pids, 0.25) as sampler:
            time.sleep(self.plan.settle_s)
        value = percentile([sample.pss for _, sample in sampler.samples], 95) / MIB
        self.results.add("shared_pss_mib", labels, "MiB", value)
        return value

    def fill(self):
        self.progress(f"shared: making {self.plan.pods} pods")
        server = Server(self.paths, "api")
        try:
            run(self.paths.build / "bench/cache/cache-bench", "fill", server.kubeconfig, "pods", self.plan.pods)
            self.share("setup", server, "--teams", TEAMS)
        finally:
            server.stop()

    def serve(self, labels, *args):
        server = Server(self.paths, *args, keep=True)
        self.share("forget", server)
        self.progress(f"shared: {labels['place']}, before operators")
        self.before = self.memory(server.pids, {**labels, "of": "all", "phase": "before"})
        return server

    def measure(self, labels, server, start, pids, data, host=None):
        """start() makes the operators exist; pids: all processes; data: the directory of who runs them."""
        n, began = self.plan.operators, time.monotonic()
        self.progress(f"shared: {labels['place']}, {n} operators are starting")
        with Sampler(pids, 0.2) as sampler:
            start()
            self.share("synced", server)
            synced = time.monotonic() - began
        self.results.add("shared_synced_s", labels, "s", synced)
        peak = max(sample.pss for _, sample in sampler.samples) / MIB
        self.results.add("shared_pss_mib", {**labels, "of": "all", "phase": "starting"}, "MiB", peak)
        self.progress(f"shared: {labels['place']}, waiting until all sleep")
        run(self.paths.ring, "wait", "--operators", n, "--asleep", data)
        rest = self.memory(pids, {**labels, "of": "all", "phase": "asleep"})
        if host:
            self.memory(host.pids, {**labels, "of": "host", "phase": "asleep"})
        self.progress("")
        self.say(f"  shared {labels['place']:9} {labels['objects']} objects, {n} operators: {rest:.1f} MiB PSS asleep "
                 f"({self.before:.1f} before), {peak:.1f} while starting; all synced after {synced:.2f} s")
        self.changes(labels, server, pids, data)

    def changes(self, labels, server, pids, data):
        self.progress(f"shared: {labels['place']}, changes")
        before, foreign = entries_by_operator(data), Foreign(pids)
        with Realtime(pids, self.realtime):
            times = self.share("changes", server, "--teams", TEAMS, "--rounds", self.plan.changes, "--first", self.nonce,
                               "--asleep", data)
        self.nonce += self.plan.changes
        after = entries_by_operator(data)
        for until in ("each", "last"):
            ms = [us / 1000 for us in times[f"{until}_us"]]
            p = {f"p{percent}": percentile(ms, percent) for percent in (50, 90, 99)}
            self.results.add("shared_change_ms", {**labels, "until": until, "concerned": self.plan.operators // TEAMS}, "ms", **p, n=len(ms))
        strangers = [i for i in after if i % TEAMS >= TEAMS // 2]
        needless = sum(after[i] - before.get(i, 0) for i in strangers)
        self.results.add("shared_needless_wakeups", {**labels, "changes": self.plan.changes, "others": len(strangers)}, "1", needless)
        self.progress("")
        self.say("  shared {place:9} a change reaches all whom it concerns after {p50:.2f} ms p50, {p99:.2f} p99; {needless} others were "
                 "woken (others used {foreign:.0f} % of the machine)".format(**labels, **p, needless=needless, foreign=foreign.percent()))

    def over_http(self, labels):
        server = self.serve(labels, "api")
        host = None
        try:
            def start():
                nonlocal host
                host = Host(self.paths, server, self.plan.operators)

            def pids():
                return server.pids() + (host.pids() if host else [])

            class Late:  # the host's processes, which do not exist yet
                @staticmethod
                def pids():
                    return host.pids()

            self.measure(labels, server, start, pids, self.paths.work / "host-data", Late)
        finally:
            if host:
                host.stop()
            server.stop()

    def embedded(self, labels):
        modules = self.paths.work / "host-operators"
        server = self.serve(labels, "up", "--gateway", "none", "--modules", modules, "--swap-quota", "4Gi", "--sleep-always")
        try:
            self.measure(labels, server, lambda: self.share("create", server, "--teams", TEAMS), server.pids, self.paths.data)
        finally:
            server.stop()


def measure_shared(paths, plan, realtime, results, say, progress):
    bench = Bench(paths, plan, realtime, results, say, progress)
    bench.fill()
    for place, part in (("http", bench.over_http), ("embedded", bench.embedded)):
        with contextlib.ExitStack() as at_end:
            at_end.callback(progress, "")
            part({"place": place, "objects": plan.pods + TEAMS, "n": plan.operators, "abi": "v1", "guest": "c"})
