# SPDX-License-Identifier: Apache-2.0
"""Dirigent beside us: its control plane, one data plane and workers with fake sandboxes, on loopback.

Built by tools/build-dirigent from a checkout of https://github.com/eth-easl/dirigent; nothing of it is changed. Its servers
listen on fixed ports of all addresses, and its control plane wants to read a HAProxy and its configuration: so it runs in
network and mount namespaces of its own making (bench/functions/run enters them), and both files are made there. Its sandboxes
sleep for 40 ms when they are created, and are one HTTP server on port 80.
"""
import http.client
import pathlib
import subprocess
import time
import urllib.parse

CONTROL = """port: "9090"
replicas: ""
registrationServer: "127.0.0.1:9091"
registrationServerReplicas: ""
verbosity: "info"
traceOutputFolder: "{dir}"
placementPolicy: "random"
persistence: false
reconstruct: false
loadBalancerAddress: ""
removeWorkerNode: false
removeDataplane: false
precreateSnapshots: false
profiler: {{enable: false, mutex: false}}
redis: {{address: "127.0.0.1:6379", dockerAddress: "127.0.0.1:6379", replicas: "", password: "", db: 0, fullPersistence: true}}
endpointPersistence: false
"""
DATA = """dataPlaneIp: "127.0.0.1"
controlPlaneAddress: "127.0.0.1:9090"
portProxy: "8080"
portGRPC: "8081"
portProxyRead: "8082"
verbosity: "info"
traceOutputFolder: "{dir}"
loadBalancingPolicy: "knative"
async: false
persistRequests: false
numberRetries: 3
redis: {{address: "127.0.0.1:6379", replicas: "", password: "", db: 0, fullPersistence: false}}
"""
WORKER = """workerNodeIp: "127.0.0.{last}"
controlPlaneAddress: "127.0.0.1:9090"
port: "{port}"
verbosity: "info"
criType: "scalability_test"
criPath: "/run/containerd/containerd.sock"
cniConfigPath: "{dir}/cni.conf"
prefetchImage: false
"""
GATEWAY = "127.0.0.1:8080"


def prepare_namespace(directory):
    """What Dirigent wants to find on a machine; for a mount namespace that is ours alone."""
    etc, program = pathlib.Path("/etc/haproxy"), pathlib.Path("/usr/sbin/haproxy")
    made = directory / "haproxy"
    made.mkdir()
    (made / "haproxy.cfg").write_text(
        "defaults\n timeout connect 10s\n timeout client 900s\n timeout server 900s\n"
        "frontend f\n bind *:8079\n default_backend dirigent_data_planes\n"
        "backend dirigent_data_planes\n balance hdr(host)\nbackend dirigent_registration_server\n")
    (made / "haproxy").write_text("#!/bin/sh\nexit 0\n")
    (made / "haproxy").chmod(0o755)
    for real, own in ((etc, made), (program, made)):
        if real == program and real.exists():
            continue
        # A layer over the directory, so that nothing outside of the namespace changes.
        base, upper, work = real.parent, directory / f"upper{real.parent.name}", directory / f"work{real.parent.name}"
        upper.mkdir(exist_ok=True)
        work.mkdir(exist_ok=True)
        subprocess.run(["mount", "-t", "overlay", "overlay", "-o", f"lowerdir={base},upperdir={upper},workdir={work}", base],
                       check=True)
        if real == etc:
            etc.mkdir(exist_ok=True)
            (etc / "haproxy.cfg").write_text((made / "haproxy.cfg").read_text())
        else:
            program.write_text((made / "haproxy").read_text())
            program.chmod(0o755)


class Dirigent:
    name = "dirigent"

    def __init__(self, binaries, directory, sandbox, workers=4):
        self.directory = directory
        self.binaries = binaries
        self.processes = {}
        self.logs = []
        self.start("sandbox", [sandbox, "80"])
        self.start_role("control", CONTROL.format(dir=directory), "master_node")
        wait_for_port(9091)
        self.start_role("gateway", DATA.format(dir=directory), "data_plane")
        for i in range(workers):
            self.start_role(f"worker{i}", WORKER.format(dir=directory, last=i + 1, port=10010 + i), "worker_node")
        wait_for_port(8080)
        for i in range(workers):
            wait_for_port(10010 + i)
        self.wait_for_workers(workers)
        self.gateway = GATEWAY

    def wait_for_workers(self, n, seconds=30):
        """A cold start before the control plane has dialled all workers ends it (a nil pointer)."""
        end = time.monotonic() + seconds
        while (self.directory / "control.log").read_text(errors="replace").count("Successfully established") < n:
            if time.monotonic() > end:
                raise RuntimeError("Dirigent's control plane has not dialled its workers")
            time.sleep(0.1)

    def start(self, role, command):
        log = open(self.directory / f"{role}.log", "ab")
        self.logs.append(log)
        self.processes[role] = subprocess.Popen(command, stdout=log, stderr=log, cwd=self.directory)

    def start_role(self, role, config, program):
        path = self.directory / f"{role}.yaml"
        path.write_text(config)
        self.start(role, [self.binaries / program, "--config", path])

    def restart(self, role):
        program = {"control": "master_node", "gateway": "data_plane"}.get(role, "worker_node")
        self.start(role, [self.binaries / program, "--config", self.directory / f"{role}.yaml"])

    def pids(self):
        return [p.pid for role, p in self.processes.items() if role != "sandbox" and p.poll() is None]

    def register(self, names, scale_down_ms=60000, once=False):
        """Returns how long each took, in seconds. once: windows of the cold start sweep."""
        connection, took = http.client.HTTPConnection("127.0.0.1", 9091, timeout=30), []
        for name in names:
            body = urllib.parse.urlencode([
                ("name", name), ("image", "docker.io/library/none"), ("port_forwarding", "80"), ("port_forwarding", "tcp"),
                ("requested_cpu", "1"), ("requested_memory", "1"), ("scaling_upper_bound", "1" if once else "1024"),
                ("scaling_lower_bound", "0"), ("cold_start_sweep", "true" if once else "false")])
            began = time.monotonic()
            connection.request("POST", "/registerService", body, {"content-type": "application/x-www-form-urlencoded"})
            answer = connection.getresponse()
            answer.read()
            if answer.status != 200:
                raise RuntimeError(f"dirigent refused {name}: {answer.status}")
            took.append(time.monotonic() - began)
        return took

    def created(self):
        """Sandboxes made, ever: lines of its trace but the first."""
        trace = self.directory / "cold_start_trace.csv"
        return max(0, trace.read_bytes().count(b"\n") - 1) if trace.exists() else 0

    @staticmethod
    def wait_asleep():
        time.sleep(20)  # its windows are 6 s, its tick 2 s; it does not report the end of sandboxes

    @staticmethod
    def host(prefix):
        return prefix + "{i}"

    def stop(self):
        for process in self.processes.values():
            process.kill()
            process.wait()
        for log in self.logs:
            log.close()


def wait_for_port(port, seconds=30):
    end = time.monotonic() + seconds
    while True:
        try:
            http.client.HTTPConnection("127.0.0.1", port, timeout=1).connect()
            return
        except OSError:
            if time.monotonic() > end:
                raise RuntimeError(f"nothing listens on port {port}") from None
            time.sleep(0.05)
