# SPDX-License-Identifier: Apache-2.0
"""dormouse as ./dev bench functions runs it: one process with all roles, or each role by itself."""
import http.client
import json
import os
import pathlib
import socket
import ssl
import subprocess
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "operators"))
import measure  # noqa: E402

FUNCTIONS = "/apis/dormouse.dev/v1alpha1/namespaces/default/functions"
FAKE = {"fake": {"createMilliseconds": 40}}


class Role:
    """One process of ours, until it says that it is ready."""

    def __init__(self, build, name, directory, words, cores=None):
        self.name, self.words, self.build, self.cores = name, words, build, cores
        self.log = open(directory / f"{name}.log", "ab")
        self.start()

    def start(self):
        command = [str(w) for w in (self.build / "dormouse", *self.words)]
        if self.cores:
            command = ["taskset", "-c", self.cores, *command]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.log, text=True)
        line = self.process.stdout.readline()
        if not line.startswith("ready "):
            raise RuntimeError(f"dormouse {' '.join(map(str, self.words))}: not ready, see {self.log.name}")
        self.ready = dict(w.split("=", 1) for w in line.split()[1:] if "=" in w)

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()


class Api:
    def __init__(self, data, url):
        self.host, port = url.removeprefix("https://").rsplit(":", 1)
        self.port = int(port)
        self.tls = ssl.create_default_context(cafile=str(data / "pki/ca.crt"))
        self.token = (data / "admin.token").read_text().strip()
        self.connection = http.client.HTTPSConnection(self.host, self.port, context=self.tls, timeout=60)
        self.connection.connect()
        self.connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, method, path, body=None):
        self.connection.request(method, path, body=json.dumps(body) if body is not None else None,
                                headers={"authorization": "Bearer " + self.token, "content-type": "application/json"})
        answer = self.connection.getresponse()
        data = answer.read()
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status} {data[:300]}")
        return json.loads(data)


class Dormouse:
    """`dormouse up`, all roles in one process."""
    name = "dormouse"

    def __init__(self, build, directory, *words):
        self.build, self.directory = build, directory
        self.data = directory / "data"
        self.up = Role(build, "up", directory, ["up", "--no-agent", "--data-dir", self.data, "--listen", "127.0.0.1:0",
                                                "--gateway", "127.0.0.1:0", *words])
        self.api = Api(self.data, self.up.ready["url"])
        self.gateway = self.up.ready["gateway"].removeprefix("http://")

    def pids(self):
        return measure.family(self.up.process.pid)

    def register(self, names, spec=None, once=False):
        """Returns how long each took, in seconds; each is durable when it is answered."""
        took = []
        for name in names:
            body = {"apiVersion": "dormouse.dev/v1alpha1", "kind": "Function", "metadata": {"name": name},
                    "spec": spec or FAKE | {"scale": {"policy": "dirigent"} | (
                        {"max": 1, "stableMilliseconds": 6000} if once else {})}}
            began = time.monotonic()
            self.api.ask("POST", FUNCTIONS, body)
            took.append(time.monotonic() - began)
        return took

    def settle(self, n, seconds=60):
        """Until the gateway knows n functions."""
        end = time.monotonic() + seconds
        while self.status().get("functions", {}).get("functions", 0) < n:
            if time.monotonic() > end:
                raise RuntimeError(f"the gateway does not know {n} functions")
            time.sleep(0.05)

    def admin(self, path):
        connection = http.client.HTTPConnection("localhost", timeout=60)
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(str(self.data / "admin.sock"))
        connection.request("GET", path)
        text = connection.getresponse().read()
        connection.close()
        return text

    def status(self):
        return json.loads(self.admin("/status"))

    def created(self):
        """Sandboxes that became ready, ever."""
        name = b"dormouse_fn_control_sandboxes_created_total "
        return next(int(line.split()[-1]) for line in self.admin("/metrics").splitlines() if line.startswith(name))

    def wait_asleep(self, seconds=120):
        """Until no sandbox is left."""
        end = time.monotonic() + seconds
        while any(worker["sandboxes"] for worker in self.status()["functions"]["workers"]):
            if time.monotonic() > end:
                raise RuntimeError("there are sandboxes that do not go")
            time.sleep(0.5)

    @staticmethod
    def host(prefix):
        return prefix + "{i}.default"

    def stop(self):
        self.up.stop()


def make_bundle(directory, program):
    """An OCI bundle whose only file is a static program that listens on $PORT."""
    rootfs = directory / "rootfs"
    rootfs.mkdir(parents=True)
    target = rootfs / "server"
    target.write_bytes(pathlib.Path(program).read_bytes())
    os.chmod(target, 0o755)
    (directory / "config.json").write_text(json.dumps({
        "ociVersion": "1.0.2", "process": {"terminal": False, "user": {"uid": 65534, "gid": 65534}, "args": ["/server"],
                                           "env": ["PATH=/"], "cwd": "/"},
        "root": {"path": "rootfs", "readonly": True}, "hostname": "sandbox",
        "linux": {"namespaces": [{"type": t} for t in ("pid", "mount", "ipc", "uts", "network")]}}))
    return directory
