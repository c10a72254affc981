# SPDX-License-Identifier: Apache-2.0
"""A client of a cluster in a network namespace (place_kit.py): requests, a watch of pods, logs, and a command in a container over a WebSocket."""
import base64
import http.client
import json
import os
import socket
import struct
import time
import urllib.parse

from place_kit import inside

PODS = "/api/v1/namespaces/default/pods"
TIMEOUT_S = 180


class Connection(http.client.HTTPSConnection):
    """To an address in a network namespace."""

    def __init__(self, api):
        super().__init__(api.host, api.port, context=api.tls, timeout=TIMEOUT_S)
        self.api = api

    def connect(self):
        self.sock = self.api.connect()


class Watch:
    """Events of pods as they arrive."""

    def __init__(self, api):
        self.connection = Connection(api)
        listed = api.must("GET", PODS + "?limit=1")
        self.connection.request("GET", f"{PODS}?watch=1&resourceVersion={listed['metadata']['resourceVersion']}",
                                headers={"Authorization": "Bearer " + api.token})
        self.answer = self.connection.getresponse()
        if self.answer.status != 200:
            raise OSError(f"watch: {self.answer.status} {self.answer.read()[:200]}")

    def next(self):
        """-> (type, pod, when it was here)"""
        line = self.answer.readline()
        at = time.monotonic()
        if not line:
            raise OSError("the watch has ended")
        event = json.loads(line)
        return event["type"], event["object"], at

    def until(self, name, condition):
        """-> when"""
        while True:
            kind, pod, at = self.next()
            if pod.get("metadata", {}).get("name") == name and condition(kind, pod):
                return at

    def close(self):
        self.connection.close()


class Api:
    """netns: a path."""

    def __init__(self, netns, host, port, tls, token):
        self.netns, self.host, self.port, self.tls, self.token = netns, host, port, tls, token
        self.kept = None

    def connect(self):
        with inside(self.netns):
            sock = socket.create_connection((self.host, self.port), TIMEOUT_S)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return self.tls.wrap_socket(sock, server_hostname=self.host)

    def ask(self, method, path, body=None):
        """Over a connection that is kept."""
        for attempt in (0, 1):
            if not self.kept:
                self.kept = Connection(self)
            try:
                self.kept.request(method, path, body=None if body is None else json.dumps(body),
                                  headers={"Authorization": "Bearer " + self.token, "Content-Type": "application/json"})
                answer = self.kept.getresponse()
                return answer.status, answer.read()
            except (OSError, http.client.HTTPException):
                self.kept.close()
                self.kept = None
                if attempt:
                    raise

    def must(self, method, path, body=None):
        status, data = self.ask(method, path, body)
        if status >= 300:
            raise OSError(f"{method} {path}: {status} {data[:300]}")
        return json.loads(data)

    def pods(self):
        return self.must("GET", PODS)["items"]

    # -- logs

    def log_of(self, name, **params):
        status, data = self.ask("GET", f"{PODS}/{name}/log?{urllib.parse.urlencode(params)}")
        if status != 200:
            raise OSError(f"logs: {status} {data[:300]}")
        return data.decode()

    def count_lines(self, name, seconds=None, **params):
        """-> lines of the log that came, seconds that it took: of all, or during some seconds"""
        connection = Connection(self)
        connection.request("GET", f"{PODS}/{name}/log?{urllib.parse.urlencode(params)}", headers={"Authorization": "Bearer " + self.token})
        answer = connection.getresponse()
        if answer.status != 200:
            raise OSError(f"logs: {answer.status} {answer.read()[:200]}")
        n, began, now = 0, None, None
        while data := answer.read1(1 << 17):
            now = time.monotonic()
            began = began or now
            n += data.count(b"\n")
            if seconds and now - began > seconds:
                break
        connection.close()
        return n, (now or 0) - (began or 0)

    # -- exec

    def exec(self, name, *command):
        """Over a connection of its own. -> what it printed, seconds from the connection to the status; OSError: it failed"""
        query = urllib.parse.urlencode([("command", c) for c in command] + [("stdout", "true"), ("stderr", "true")])
        began = time.monotonic()
        sock = self.connect()
        try:
            sock.sendall((f"GET {PODS}/{name}/exec?{query} HTTP/1.1\r\nHost: {self.host}:{self.port}\r\nAuthorization: Bearer {self.token}\r\n"
                          "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                          f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}\r\n"
                          "Sec-WebSocket-Protocol: v5.channel.k8s.io\r\n\r\n").encode())
            out, status = read_streams(sock)
            took = time.monotonic() - began
        finally:
            sock.close()
        if json.loads(status).get("status") != "Success":
            raise OSError(f"exec: {status[:300]}")
        return out, took


def read_streams(sock):
    """-> what came on the others, what the error channel says"""
    data, out = b"", b""

    def need(n):
        nonlocal data
        while len(data) < n:
            more = sock.recv(65536)
            if not more:
                raise OSError(f"exec: the connection ended: {data[:200]}")
            data += more
    while b"\r\n\r\n" not in data:
        need(len(data) + 1)
    head, data = data.split(b"\r\n\r\n", 1)
    if b" 101 " not in head.split(b"\r\n")[0]:
        raise OSError(f"exec: {head[:100]} {data[:200]}")
    while True:
        need(2)
        n, at = data[1] & 127, 2
        if n == 126:
            need(4)
            n, at = struct.unpack(">H", data[2:4])[0], 4
        elif n == 127:
            need(10)
            n, at = struct.unpack(">Q", data[2:10])[0], 10
        need(at + n)
        opcode, payload, data = data[0] & 15, data[at:at + n], data[at + n:]
        if opcode == 2 and payload[:1] == b"\3":
            return out, payload[1:]
        if opcode == 2:
            out += payload[1:]
        if opcode == 8:
            raise OSError(f"exec: closed: {payload[:100]}")
