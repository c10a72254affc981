# SPDX-License-Identifier: Apache-2.0
"""`dormouse image serve` as a process of a test."""
import base64
import contextlib
import hashlib
import hmac
import http.client
import json
import os
import signal
import socket
import subprocess
import threading
import time
import urllib.parse

from conftest import BUILD, DEADLINE_S, wait_for


def start_until_ready(args, env, log):
    """The process, the thread that appends the lines of its standard error to `log`, and what its line `ready` says."""
    process = subprocess.Popen([str(a) for a in args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
    reader = threading.Thread(target=lambda: log.extend(process.stderr), daemon=True)
    reader.start()
    line = process.stdout.readline()
    if not line.startswith("ready "):
        process.wait(DEADLINE_S)
        reader.join(DEADLINE_S)
        raise AssertionError("".join(log))
    return process, reader, dict(word.split("=", 1) for word in line.split()[1:])


class Serve:
    def __init__(self, store, *args):
        env = {**os.environ, "DORMOUSE_IMAGE_STORE": str(store)}
        self.log = []
        command = [BUILD / "dormouse", "image", "serve", "--listen", "127.0.0.1:0", *args]
        self.process, self.reader, self.ready = start_until_ready(command, env, self.log)
        self.url = self.ready["url"]
        self.host = urllib.parse.urlsplit(self.url).netloc

    def request(self, method, path, body=None, **headers):
        connection = http.client.HTTPConnection(self.host, timeout=DEADLINE_S)
        try:
            connection.request(method, path, body, {k.replace("_", "-"): v for k, v in headers.items()})
            response = connection.getresponse()
            return response.status, response.headers, response.read()
        finally:
            connection.close()

    def get(self, path, **headers):
        return self.request("GET", path, **headers)

    def kill(self):
        self.process.kill()
        self.process.wait(DEADLINE_S)

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(DEADLINE_S)
        finally:
            self.process.kill()
            self.reader.join(DEADLINE_S)
            self.process.stdout.close()
            self.process.stderr.close()


@contextlib.contextmanager
def serve(store, *args):
    s = Serve(store, *args)
    try:
        yield s
    finally:
        s.stop()


def metric(node, name):
    text = node.get("/metrics")[2].decode()
    return int(next(line for line in text.splitlines() if line.startswith(name + " ")).rsplit(" ", 1)[1])


KEY = "the key of a cluster of tests, long enough"
NOBODY = "sha256:" + "0" * 64


def token(deploy, blob, source, node, key=KEY, now=None, seconds=600):
    """As image/bdm.h makes them."""
    begin = int(time.time() if now is None else now)
    text = f"dormouse bdm 1\n{deploy}\n{blob}\n{source}\n{node}\n{begin}\n{begin + seconds}\n"
    mac = hmac.new(key.encode(), text.encode(), hashlib.sha256).digest()
    return f"{begin}.{begin + seconds}." + base64.urlsafe_b64encode(mac).rstrip(b"=").decode()


class Node(Serve):
    """A `dormouse image serve` that is a node of a cluster."""

    def __init__(self, directory, name, *args, store=None):
        key = directory / "key"
        key.write_text(KEY + "\n")
        self.name, self.store = name, store or directory / name
        super().__init__(self.store, "--node", name, "--cluster-key-file", key, *args)

    def bearer(self, what, blob=NOBODY, **rest):
        return {"Authorization": "Bearer " + token(what, blob, "", self.name, **rest)}

    def send(self, bdm):
        body = json.dumps(bdm)
        digest = "sha256:" + hashlib.sha256(body.encode()).hexdigest()
        status, _, answer = self.request("POST", f"/v1/bdm?digest={digest}", body, **self.bearer("bdm", digest))
        return status, json.loads(answer)

    def put_meta(self, text):
        digest = "sha256:" + hashlib.sha256(text).hexdigest()
        assert self.request("PUT", f"/v1/meta/{digest}", text, **self.bearer("meta", digest))[0] == 201

    def status(self, deploy):
        status, _, answer = self.get(f"/v1/deploys/{deploy}", **self.bearer(deploy))
        assert status == 200, answer
        return json.loads(answer)

    def wait(self, deploy):
        def ended():
            now = self.status(deploy)
            return now if now["state"] != "running" else None
        return wait_for(ended, "the deployment ends")


class Proxy:
    """TCP to `host`; after that many bytes from there it calls `then` once, and carries nothing more until the end."""

    def __init__(self, host, after=None, then=None):
        self.target, self.after, self.then = host, after, then
        self.n, self.is_cut = 0, threading.Event()
        self.released, self.lock = threading.Event(), threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client = self.listener.accept()[0]
            except OSError:
                return
            host, port = self.target.split(":")
            try:
                server = socket.create_connection((host, int(port)))
            except OSError:
                client.close()
                continue
            threading.Thread(target=self.pump, args=(client, server, False), daemon=True).start()
            threading.Thread(target=self.pump, args=(server, client, True), daemon=True).start()

    def pump(self, source, to, is_answer):
        try:
            while data := source.recv(16384):
                if is_answer and not self.may_pass(len(data)):
                    break
                to.sendall(data)
        except OSError:
            pass
        if self.is_cut.is_set():
            self.released.wait(DEADLINE_S)
        for s in (source, to):
            with contextlib.suppress(OSError):
                s.shutdown(socket.SHUT_RDWR)

    def may_pass(self, n):
        with self.lock:
            self.n += n
            if self.after is None or self.n <= self.after:
                return True
            if not self.is_cut.is_set():
                self.is_cut.set()
                self.then and self.then(self)
            return False

    def close(self):
        self.released.set()
        self.listener.close()
