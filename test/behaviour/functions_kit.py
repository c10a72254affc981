# SPDX-License-Identifier: Apache-2.0
"""Functions in real processes: `dormouse up` with all roles, and each role by itself."""
import http.client
import json
import os
import signal
import socket
import subprocess

from conftest import BUILD, DEADLINE_S, Answer, Server

FUNCTIONS = "/apis/dormouse.dev/v1alpha1/namespaces/{}/functions"
FAKE = {"fake": {"createMilliseconds": 5}}


def function(name, spec=None):
    return {"apiVersion": "dormouse.dev/v1alpha1", "kind": "Function", "metadata": {"name": name}, "spec": spec or FAKE}


def call(gateway, host, path="/", method="GET", body=None, headers=None, timeout=DEADLINE_S):
    """One request to a function through a gateway at HOST:PORT."""
    connection = http.client.HTTPConnection(gateway, timeout=timeout)
    connection.request(method, path, body=body, headers={"Host": host, **(headers or {})})
    response = connection.getresponse()
    answer = Answer(response, response.read())
    connection.close()
    return answer


def ask_socket(data_dir, method, path, body=None, headers=None):
    """A request over the admin socket."""
    connection = http.client.HTTPConnection("localhost", timeout=DEADLINE_S)
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.connect(os.path.join(data_dir, "admin.sock"))
    if isinstance(body, dict):
        body = json.dumps(body)
    connection.request(method, path, body=body, headers=headers or {})
    response = connection.getresponse()
    answer = Answer(response, response.read())
    connection.close()
    return answer


class FunctionServer(Server):
    """`dormouse up`: the API and all roles."""

    COMMAND = "up"

    def wait_ready(self):
        line = self.process.stdout.readline()
        if not line.startswith("ready "):
            self.process.wait(DEADLINE_S)
            raise RuntimeError(f"no ready line; log: {self.text_of_log()}")
        self.ready = dict(word.split("=", 1) for word in line.split()[1:])
        self.url, self.kubeconfig, self.listen = self.ready["url"], self.ready["kubeconfig"], self.ready["listen"]
        self.gateway = self.ready["gateway"].removeprefix("http://")
        self.host, port = self.url.removeprefix("https://").rsplit(":", 1)
        self.port = int(port)
        self.token = (self.data_dir / "admin.token").read_text().strip()
        import ssl
        self.tls = ssl.create_default_context(cafile=str(self.data_dir / "pki/ca.crt"))

    def deploy(self, name, spec=None, namespace="default"):
        return self.create(FUNCTIONS.format(namespace), function(name, spec))

    def status(self):
        return ask_socket(self.data_dir, "GET", "/status").json()


class Role:
    """One role in a process of its own, until it says that it is ready."""

    def __init__(self, role, data_dir, *words, wait=True):
        self.data_dir = data_dir
        self.command = [str(BUILD / "dormouse"), "fn", role, "--data-dir", str(data_dir), *map(str, words)]
        self.start(wait)

    def start(self, wait=True):
        self.log = open(str(self.data_dir) + ".log", "ab")
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=self.log, text=True)
        if wait:
            self.wait_ready()

    def wait_ready(self):
        line = self.process.stdout.readline()
        assert line.startswith("ready "), open(str(self.data_dir) + ".log").read()[-2000:]
        self.ready = dict(word.split("=", 1) for word in line.split()[1:])

    def status(self):
        return ask_socket(self.data_dir, "GET", "/status").json()

    def metric(self, name):
        """Its value; 0 where it is not told."""
        lines = ask_socket(self.data_dir, "GET", "/metrics").body.decode().splitlines()
        return next((float(line.split()[-1]) for line in lines if line.startswith(name + " ")), 0)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(DEADLINE_S)
        self.process.stdout.close()
        self.log.close()

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(DEADLINE_S)
        self.process.stdout.close()
        self.log.close()
        return status
