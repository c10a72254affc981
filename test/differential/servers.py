# SPDX-License-Identifier: Apache-2.0
"""The two servers that are compared: `dormouse api` and kube-apiserver with etcd, each on a directory of its own."""
import json
import os
import pathlib
import re
import signal
import ssl
import socket
import subprocess
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("DORMOUSE_BUILD", ROOT / "build"))
READY_S = 120
ADMIN_TOKEN = "differential-admin"

# Gates of upstream that are no default elsewhere, and admission that needs its controllers, stay as they are;
# what is switched off here would need another process (a webhook, a cloud, a kubelet).
UPSTREAM_ARGS = (
    "--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction", "--anonymous-auth=false", "--service-cluster-ip-range=10.96.0.0/12",
    "--service-account-issuer=https://kubernetes.default.svc", "--allow-privileged=true",
    "--endpoint-reconciler-type=none", "--enable-bootstrap-token-auth=false", "--watch-cache=true", "--v=0",
    "--event-ttl=1h",
)


class Unavailable(Exception):
    """There is no such server on this machine."""


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as s:
        return s.getsockname()[1]


class Server:
    """host, port, token and tls: all that a session needs. Processes belong to it."""

    name = None

    def __init__(self):
        self.processes = []

    def stop(self):
        for p in reversed(self.processes):
            p.send_signal(signal.SIGTERM)
        for p in reversed(self.processes):
            try:
                p.wait(20)
            except subprocess.TimeoutExpired:
                p.kill()
                p.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def pids(self):
        return [p.pid for p in self.processes]


class Dormouse(Server):
    name = "dormouse"

    def __init__(self, directory):
        super().__init__()
        if not (BUILD / "dormouse").exists():
            raise Unavailable(f"no {BUILD / 'dormouse'}; ./dev build makes it")
        self.directory = pathlib.Path(directory)
        data = self.directory / "dormouse"
        log = open(self.directory / "dormouse.log", "ab")
        process = subprocess.Popen([BUILD / "dormouse", "api", "--data-dir", data, "--listen", "127.0.0.1:0", "--anonymous-auth=false"],
                                   stdout=subprocess.PIPE, stderr=log, text=True)
        self.processes.append(process)
        line = process.stdout.readline()
        if not line.startswith("ready "):
            self.stop()
            raise RuntimeError("dormouse did not become ready: " + (self.directory / "dormouse.log").read_text())
        url = re.search(r"url=https://(\S+)", line).group(1)
        self.host, port = url.rsplit(":", 1)
        self.port = int(port)
        self.token = (data / "admin.token").read_text().strip()
        self.ca = data / "pki/ca.crt"
        self.tls = ssl.create_default_context(cafile=self.ca)


def find_upstream():
    """The directory with kube-apiserver and etcd; raises Unavailable with what to do."""
    done = subprocess.run([ROOT / "tools/build-upstream", "--cached"], capture_output=True, text=True)
    if done.returncode != 0:
        raise Unavailable(done.stderr.strip() or "tools/build-upstream has not been run")
    return pathlib.Path(done.stdout.strip())


class Upstream(Server):
    name = "kube-apiserver"

    def __init__(self, directory, args=UPSTREAM_ARGS):
        super().__init__()
        programs = find_upstream()
        self.version = (programs / "version").read_text().strip()
        self.directory = pathlib.Path(directory)
        self.directory.mkdir(exist_ok=True)
        try:
            self._start_etcd(programs)
            self._start_apiserver(programs, args)
            self._aggregate_roles()
        except BaseException:
            self.stop()
            raise

    def _spawn(self, name, args):
        log = open(self.directory / f"{name}.log", "ab")
        process = subprocess.Popen(args, stdout=log, stderr=log)
        self.processes.append(process)
        return process

    def _wait(self, process, what, probe):
        end = time.monotonic() + READY_S
        while not probe():
            if process.poll() is not None or time.monotonic() > end:
                text = (self.directory / f"{what}.log").read_text()
                raise RuntimeError(f"{what} did not become ready: {text[-3000:]}")
            time.sleep(0.1)

    def _start_etcd(self, programs):
        self.etcd_port, peer = free_port(), free_port()
        client, peers = f"http://127.0.0.1:{self.etcd_port}", f"http://127.0.0.1:{peer}"
        process = self._spawn("etcd", [
            programs / "etcd", "--data-dir", self.directory / "etcd", "--log-level=error",
            "--listen-client-urls", client, "--advertise-client-urls", client, "--listen-peer-urls", peers,
            "--initial-advertise-peer-urls", peers, "--initial-cluster", f"default={peers}"])

        def healthy():
            try:
                return b"true" in urllib.request.urlopen(client + "/health", timeout=1).read()
            except OSError:
                return False
        self._wait(process, "etcd", healthy)

    def _start_apiserver(self, programs, args):
        self.host, self.port, self.token = "127.0.0.1", free_port(), ADMIN_TOKEN
        tokens, key = self.directory / "tokens.csv", self.directory / "sa.key"
        tokens.write_text(f'{ADMIN_TOKEN},admin,,"system:masters"\n')
        if not key.exists():
            subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True, capture_output=True)
        certs = self.directory / "certs"
        process = self._spawn("kube-apiserver", [
            programs / "kube-apiserver", f"--etcd-servers=http://127.0.0.1:{self.etcd_port}",
            f"--secure-port={self.port}", "--bind-address=127.0.0.1", f"--cert-dir={certs}",
            f"--token-auth-file={tokens}", f"--service-account-key-file={key}",
            f"--service-account-signing-key-file={key}", *args])
        self.ca = certs / "apiserver.crt"
        self._wait(process, "kube-apiserver", self._is_ready)
        self.tls = ssl.create_default_context(cafile=self.ca)
        self.tls.check_hostname = False

    def _ask(self, method, path, body=None):
        request = urllib.request.Request(
            f"https://127.0.0.1:{self.port}{path}", method=method, data=json.dumps(body).encode() if body else None,
            headers={"Authorization": "Bearer " + self.token, "Content-Type": "application/merge-patch+json"})
        return json.loads(urllib.request.urlopen(request, context=self.tls, timeout=30).read())

    def _aggregate_roles(self):
        """What the controller manager would do once: the rules of view, edit and admin, from the roles made for them."""
        path = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
        for name in ("view", "edit", "admin"):
            label = "rbac.authorization.k8s.io%2Faggregate-to-" + name + "%3Dtrue"
            parts = self._ask("GET", f"{path}?labelSelector={label}")["items"]
            rules = []
            for part in sorted(parts, key=lambda r: r["metadata"]["name"]):
                rules += [r for r in part["rules"] if r not in rules]
            self._ask("PATCH", f"{path}/{name}", {"rules": rules})

    def _is_ready(self):
        if not self.ca.exists():
            return False
        context = ssl._create_unverified_context()
        request = urllib.request.Request(f"https://127.0.0.1:{self.port}/readyz",
                                         headers={"Authorization": "Bearer " + self.token})
        try:
            return urllib.request.urlopen(request, context=context, timeout=2).status == 200
        except OSError:
            return False
