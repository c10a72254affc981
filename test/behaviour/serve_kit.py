# SPDX-License-Identifier: Apache-2.0
"""`dormouse image serve` as a process of a test."""
import contextlib
import http.client
import os
import signal
import subprocess
import threading
import urllib.parse

from conftest import BUILD, DEADLINE_S


class Serve:
    def __init__(self, store, *args):
        env = {**os.environ, "DORMOUSE_IMAGE_STORE": str(store)}
        self.process = subprocess.Popen([BUILD / "dormouse", "image", "serve", "--listen", "127.0.0.1:0", *map(str, args)],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
        self.log = []
        self.reader = threading.Thread(target=lambda: self.log.extend(self.process.stderr), daemon=True)
        self.reader.start()
        line = self.process.stdout.readline()
        if not line.startswith("ready "):
            self.process.wait(DEADLINE_S)
            self.reader.join(DEADLINE_S)
            raise AssertionError("".join(self.log))
        self.ready = dict(word.split("=", 1) for word in line.split()[1:])
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
