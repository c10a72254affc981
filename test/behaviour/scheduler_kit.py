# SPDX-License-Identifier: Apache-2.0
"""Schedulers on a cluster, who watches what they do, and a connection that can be held."""
import json
import os
import pathlib
import signal
import socket
import subprocess
import threading
import urllib.request

from conftest import BUILD, DEADLINE_S, ROOT, wait_for

PODS = "/api/v1/namespaces/default/pods"


def config(*names, leader_elect=False, lease_s=15, more=""):
    """KubeSchedulerConfiguration with a profile for each name."""
    profiles = "".join(f"- schedulerName: {n}\n" for n in names or ("default-scheduler",))
    return ("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
            f"leaderElection:\n  leaderElect: {str(leader_elect).lower()}\n  leaseDuration: {lease_s}s\n"
            f"  renewDeadline: {lease_s * 2 / 3:.1f}s\n  retryPeriod: {max(lease_s / 8, 0.2):.1f}s\n"
            f"{more}profiles:\n{profiles}")


def find_kube_scheduler():
    """$KUBE_SCHEDULER, or the one that the benchmark has built; None without any."""
    if os.environ.get("KUBE_SCHEDULER"):
        return os.environ["KUBE_SCHEDULER"]
    tool = ROOT / "tools/build-upstream"
    found = subprocess.run([tool, "--cached"], capture_output=True, text=True)
    path = pathlib.Path(found.stdout.strip() or "/nonexistent") / "kube-scheduler"
    return str(path) if path.exists() else None


class Scheduler:
    """A running `dormouse scheduler` (or another program with the same options)."""

    def __init__(self, kubeconfig, directory, name="scheduler", text=None, program=None, args=(), wait=True):
        self.log = directory / f"{name}.log"
        self.out = open(self.log, "ab")
        path = directory / f"{name}.yaml"
        path.write_text(text or config())
        env = {k: v for k, v in os.environ.items() if k != "KUBECONFIG"}
        if program:  # kube-scheduler takes a kubeconfig from its configuration alone
            path.write_text((text or config()) + f"clientConnection:\n  kubeconfig: {kubeconfig}\n")
            command = [*program, "--config", str(path), *args]
        else:
            command = [str(BUILD / "dormouse"), "scheduler", "--kubeconfig", str(kubeconfig), "--config", str(path),
                       "--data-dir", str(directory / f"{name}.data"), "--health-listen", "127.0.0.1:0", *args]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE if not program else self.out, stderr=self.out,
                                        text=True, env=env)
        if wait and not program:
            line = self.process.stdout.readline()
            if not line.startswith("ready"):
                self.process.wait(DEADLINE_S)
                raise RuntimeError(f"no ready line; log: {self.text()}")
            self.ready = dict(word.split("=", 1) for word in line.split()[1:])

    def text(self):
        return self.log.read_text()

    def metrics(self):
        """Sums over labels but for "result" and "type": scheduler_schedule_attempts_total/error."""
        text = urllib.request.urlopen(f"http://127.0.0.1:{self.ready['health-port']}/metrics", timeout=DEADLINE_S).read()
        sums = {}
        for line in text.decode().splitlines():
            if line and not line.startswith("#"):
                key, value = line.rsplit(" ", 1)
                name = key.split("{")[0]
                for label in ('result="', 'type="'):
                    if label in key:
                        name += "/" + key.split(label)[1].split('"')[0]
                sums[name] = sums.get(name, 0) + float(value)
        return sums

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(DEADLINE_S)
        self.close()

    def close(self):
        if self.process.stdout:
            self.process.stdout.close()
        self.out.close()

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(DEADLINE_S)
        self.close()
        return status


def pod(name, scheduler="default-scheduler", cpu="10m", labels=None, **spec):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels or {}},
            "spec": {"schedulerName": scheduler, "containers": [
                {"name": "c", "image": "example/c:1", "resources": {"requests": {"cpu": cpu}}}], **spec}}


def create_pods(server, names, **how):
    connection = server.connect()
    for name in names:
        answer = server.ask("POST", PODS, pod(name, **how), connection=connection)
        assert answer.status == 201, answer.body
    connection.close()


def read_pods(server):
    return {p["metadata"]["name"]: p for p in server.get(PODS).json()["items"]}


def node_of(p):
    return p["spec"].get("nodeName", "")


def all_bound(server, names, timeout=DEADLINE_S):
    """Waits until each has a node; name -> node."""
    def look():
        pods = read_pods(server)
        return pods if all(n in pods and node_of(pods[n]) for n in names) else None
    try:
        pods = wait_for(look, "every pod has a node", timeout)
    except AssertionError:
        pods = read_pods(server)
        left = [n for n in names if not node_of(pods.get(n, {"spec": {}}))]
        raise AssertionError(f"{len(left)} pods have no node: {left[:5]}; "
                             f"{json.dumps(pods.get(left[0], {}).get('status'))}") from None
    return {n: node_of(pods[n]) for n in names}


def check_no_node_is_too_full(server):
    """By cpu, in millis, and by the number of pods."""
    def milli(q):
        return int(q[:-1]) if q.endswith("m") else int(q) * 1000
    used, counts = {}, {}
    for p in read_pods(server).values():
        node = node_of(p)
        counts[node] = counts.get(node, 0) + 1
        for c in p["spec"]["containers"]:
            used[node] = used.get(node, 0) + milli(c["resources"]["requests"]["cpu"])
    for n in server.get("/api/v1/nodes").json()["items"]:
        name, allocatable = n["metadata"]["name"], n["status"]["allocatable"]
        assert used.get(name, 0) <= milli(allocatable["cpu"]), name
        assert counts.get(name, 0) <= int(allocatable["pods"]), name


class Witness:
    """Follows all pods and keeps which nodes each has had; survives a server that goes away."""

    def __init__(self, server):
        self.server = server
        self.nodes, self.problems = {}, []  # by uid
        self.ends = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.see_all()
        self.thread.start()

    def see(self, p):
        uid, node = p["metadata"]["uid"], node_of(p)
        had = self.nodes.setdefault(uid, [])
        if node and node not in had:
            had.append(node)
        if not node and had:
            self.problems.append(f"{p['metadata']['name']} lost its node {had}")

    def see_all(self):
        answer = self.server.get(PODS).json()
        for p in answer["items"]:
            self.see(p)
        return answer["metadata"]["resourceVersion"]

    def run(self):
        while not self.ends.is_set():
            try:
                watch = self.server.watch(f"{PODS}?watch=1&timeoutSeconds=20&resourceVersion={self.see_all()}")
                while not self.ends.is_set():
                    event = watch.next(21)
                    if event is None or event["type"] == "ERROR":
                        break
                    self.see(event["object"])
                watch.close()
            except (OSError, ValueError, KeyError, AssertionError):
                self.ends.wait(0.05)

    def stop(self):
        """No pod was ever on two nodes."""
        self.see_all()
        self.ends.set()
        assert not self.problems, self.problems
        twice = {u: n for u, n in self.nodes.items() if len(n) > 1}
        assert not twice, twice


class Proxy:
    """TCP between clients and a server. hold_requests(): what clients send stays here; hold_answers(): the other way."""

    def __init__(self, host, port):
        self.target = (host, port)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.lock = threading.Condition()
        self.held = {"up": False, "down": False}
        self.waiting = {"up": 0, "down": 0}  # bytes that are held
        self.pairs, self.is_open, self.ends = [], True, False
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            try:
                if not self.is_open:
                    raise OSError
                server = socket.create_connection(self.target)
            except OSError:
                client.close()
                continue
            with self.lock:
                self.pairs.append((client, server))
            for way, a, b in (("up", client, server), ("down", server, client)):
                threading.Thread(target=self.carry, args=(way, a, b), daemon=True).start()

    def carry(self, way, a, b):
        try:
            while data := a.recv(65536):
                with self.lock:
                    self.waiting[way] += len(data)
                    self.lock.notify_all()
                    self.lock.wait_for(lambda: not self.held[way])
                    self.waiting[way] -= len(data)
                b.sendall(data)
        except OSError:
            pass
        for s in (a, b):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def hold(self, way):
        with self.lock:
            self.held[way] = True

    def wait_held(self, way, n=1):
        with self.lock:
            assert self.lock.wait_for(lambda: self.waiting[way] >= n, DEADLINE_S), "nothing is held"

    def release(self, way):
        with self.lock:
            self.held[way] = False
            self.lock.notify_all()

    def cut(self):
        """All connections end; what was held is lost."""
        with self.lock:
            pairs, self.pairs = self.pairs, []
        for pair in pairs:
            for s in pair:
                try:
                    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                    s.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
                s.close()
        with self.lock:
            self.lock.notify_all()

    def shut(self):
        """Nobody gets through until open()."""
        self.is_open = False
        self.cut()

    def open(self):
        self.is_open = True

    def close(self):
        self.listener.close()
        self.shut()
        self.release("up")
        self.release("down")

    def kubeconfig(self, server, path):
        text = pathlib.Path(server.kubeconfig).read_text()
        assert server.url in text
        path.write_text(text.replace(server.url, f"https://127.0.0.1:{self.port}"))
        return path
