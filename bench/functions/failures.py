# SPDX-License-Identifier: Apache-2.0
"""Each role killed under load: how long until all is as before, and what was never answered.

An API server, two control planes, two gateways and six workers with fake sandboxes, each a process of its own. Warm calls (GET,
so they may be repeated) to 20 functions that have at least one sandbox each, and cold ones to functions that were never called,
arrive at one gateway; 3 s later a process is killed with SIGKILL, and started again 100 ms later, as systemd does. Sandboxes take
40 ms to create, and a call as long as the label work_ms says: with 40, 42 calls are under way at any time, 7 of them at each worker. `recovery_ms` runs from the kill to the intended time of the last call that
failed or took over 100 ms more than the median before.
"""
import http.client
import json
import pathlib
import signal
import statistics
import subprocess
import threading
import time

import dormouse

WARM, COLD_RATE, SECONDS, KILL_S, WORKERS, CREATE_MS = 20, 50, 10, 3, 6, 40
WORK_MS = (0, 40)
GATEWAYS = ("127.0.0.1:18081", "127.0.0.1:18082")
CONTROLS = ("127.0.0.1:17071", "127.0.0.1:17072")
SLOW_US = 100000


class Cluster:
    def __init__(self, build, directory, control_words=()):
        self.build, self.directory, self.roles = build, directory, {}
        data = directory / "api"
        self.add("api", "api", "--data-dir", data, "--listen", "127.0.0.1:0")
        self.kubeconfig = data / "kubeconfig"
        token = directory / "token"
        token.write_text("a token for the roles of a bench\n")
        known = ["--token-file", token]
        self.api = dormouse.Api(data, self.roles["api"].ready["url"])
        for crd in json.loads((pathlib.Path(__file__).resolve().parents[2] / "src/fn/crd.json").read_text())["items"]:
            self.api.ask("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd)
        for i, address in enumerate(CONTROLS):
            self.add(f"controlplane{i}", "fn", "controlplane", "--data-dir", directory / f"c{i}", "--kubeconfig", self.kubeconfig,
                     "--listen", address, "--name", f"control{i}", *known, *control_words)
        control = [w for address in CONTROLS for w in ("-c", address)] + known
        for i in range(WORKERS):
            self.add(f"worker{i}", "fn", "worker", "--data-dir", directory / f"w{i}", "--name", f"worker{i}", *control)
        for i, address in enumerate(GATEWAYS):
            self.add(f"gateway{i}", "fn", "gateway", "--data-dir", directory / f"g{i}", "--name", f"gateway{i}",
                     "--listen", address, *control)
        self.gateway = GATEWAYS[0]

    def add(self, name, *words):
        self.roles[name] = dormouse.Role(self.build, name, self.directory, words)

    def leader(self):
        for i, address in enumerate(CONTROLS):
            connection = http.client.HTTPConnection(address, timeout=5)
            connection.request("GET", "/health")
            answer = connection.getresponse()
            answer.read()
            if "leading" in (self.directory / f"controlplane{i}.log").read_text().rsplit("following", 1)[-1]:
                return f"controlplane{i}"
        raise RuntimeError("no control plane leads")

    def register(self, names, spec):
        for name in names:
            self.api.ask("POST", dormouse.FUNCTIONS, {"apiVersion": "dormouse.dev/v1alpha1", "kind": "Function",
                                                      "metadata": {"name": name}, "spec": spec})

    def stop(self):
        for role in reversed(self.roles.values()):
            role.stop()


def load(program, gateway, prefix, record, *words):
    return subprocess.Popen([program, "--host", prefix + "{i}.default", "--record", record, "--timeout", "15", "--connections",
                             "2000", *map(str, words), gateway], stdout=subprocess.PIPE, text=True)


def recovery_ms(lines, kill_us):
    """From the kill to the last call that failed or was slow."""
    before = [latency for at, latency, status in lines if at < kill_us and status == 200]
    limit = statistics.median(before) + SLOW_US
    bad = [at for at, latency, status in lines if at >= kill_us - SLOW_US and (status != 200 or latency > limit)]
    return max(0, (max(bad) - kill_us) / 1000) if bad else 0


def one(bench, program, role, work_ms):
    fake = {"createMilliseconds": CREATE_MS, "workMilliseconds": work_ms}
    directory = bench.fresh()
    cluster = Cluster(bench_build(), directory)
    try:
        cluster.register([f"warm{i:05}" for i in range(WARM)], {"fake": fake, "concurrency": {"limit": 100}, "scale": {"min": 1}})
        cold = COLD_RATE * SECONDS
        cluster.register([f"cold{i:05}" for i in range(cold)], {"fake": fake, "scale": {"max": 1}})
        time.sleep(2)
        victim = cluster.roles[cluster.leader() if role == "controlplane" else role]
        loads = [load(program, cluster.gateway, "warm", directory / "warm", "--hosts", WARM, "--rate", 1000, "--seconds", SECONDS),
                 load(program, cluster.gateway, "cold", directory / "cold", "--hosts", cold, "--rate", COLD_RATE, "--seconds",
                      SECONDS)]

        def kill():
            victim.process.send_signal(signal.SIGKILL)
            victim.process.wait()
            time.sleep(0.1)
            victim.start()

        timer = threading.Timer(KILL_S, kill)
        timer.start()
        answers = [json.loads(process.communicate()[0]) for process in loads]
        timer.join()
        for kind, answer in zip(("warm", "cold"), answers):
            lines = [tuple(map(int, line.split()[:3])) for line in pathlib.Path(directory / kind).read_text().splitlines()]
            failed = sum(status != 200 for _, _, status in lines)
            labels = {"role": role, "calls": kind, "work_ms": work_ms, "workers": WORKERS}
            bench.add("recovery_ms", "ms", labels, value=recovery_ms(lines, KILL_S * 1000000), failed=failed, n=len(lines),
                      statuses=answer["statuses"], reasons=answer["reasons"], broken=answer["broken"])
            bench.add("unanswered", "", {"fault": role, "calls": kind, "work_ms": work_ms}, value=answer["unanswered"], n=len(lines))
    finally:
        cluster.stop()


def bench_build():
    return pathlib.Path(__file__).resolve().parents[2] / "build"


def run(bench):
    program = bench_build() / "bench/functions/fn-load"
    for work_ms in WORK_MS:
        for role in ("controlplane", "gateway0", "gateway1", "worker1"):
            one(bench, program, role, work_ms)
