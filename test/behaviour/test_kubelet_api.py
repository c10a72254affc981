# SPDX-License-Identifier: Apache-2.0
"""Logs, exec, attach and port forwarding through the API server, to a stand-in for the kubelet with the kubelet's API."""
import http.client
import http.server
import socket
import ssl
import subprocess
import threading
from urllib.parse import parse_qsl, urlsplit

import pytest

from conftest import Server
from test_join import SERVING, csr, issued, request

PODS = "/api/v1/namespaces/default/pods"
LIMIT_S = 30


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.server.kubelet.serve(self)

    do_POST = do_GET


class QuietServer(http.server.ThreadingHTTPServer):
    def handle_error(self, *_):  # clients that leave
        pass


class Kubelet:
    """It keeps what it was asked; `logs` is what containers have printed, a list of bytes, or a status with a text."""

    def __init__(self, cert, key, ca):
        self.asked, self.logs, self.protocol, self.peers = [], [b"one\n", b"two\n"], "SPDY/3.1", []
        self.more, self.left = threading.Semaphore(0), threading.Event()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cert, key)
        context.load_verify_locations(ca)
        context.verify_mode = ssl.CERT_REQUIRED
        self.http = QuietServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.http.socket = context.wrap_socket(self.http.socket, server_side=True, do_handshake_on_connect=False)
        self.http.kubelet = self
        self.port = self.http.server_port
        self.thread = threading.Thread(target=self.http.serve_forever, daemon=True)
        self.thread.start()

    def stop(self):
        self.http.shutdown()
        self.http.server_close()

    def serve(self, x):
        url = urlsplit(x.path)
        self.asked.append((x.command, url.path, parse_qsl(url.query)))
        self.peers.append({k: v for part in x.connection.getpeercert()["subject"] for k, v in part})
        self.fields = dict(x.headers)
        if url.path.startswith("/containerLogs/"):
            self.serve_logs(x, dict(parse_qsl(url.query)))
        elif self.protocol and x.headers.get("Upgrade"):
            self.serve_raw(x)
        else:
            self.refuse(x, 403, "no upgrade here")

    def refuse(self, x, status, text):
        x.send_response(status)
        x.send_header("Content-Length", str(len(text)))
        x.end_headers()
        x.wfile.write(text.encode())

    def serve_logs(self, x, params):
        if isinstance(self.logs, tuple):
            return self.refuse(x, *self.logs)
        x.send_response(200)
        x.send_header("Transfer-Encoding", "chunked")
        x.end_headers()
        try:
            for part in self.logs:
                if params.get("follow"):
                    self.more.acquire()
                x.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
            if params.get("follow"):
                x.connection.settimeout(LIMIT_S)
                x.rfile.read(1)
                self.left.set()
            x.wfile.write(b"0\r\n\r\n")
        except OSError:
            self.left.set()

    def serve_raw(self, x):
        x.send_response(101)
        x.send_header("Connection", "Upgrade")
        x.send_header("Upgrade", self.protocol)
        x.send_header("X-Stream-Protocol-Version", "v4.channel.k8s.io")
        x.send_header("Set-Cookie", "not=passed")
        x.end_headers()
        x.wfile.write(b"hello ")
        x.close_connection = True
        try:
            while data := x.rfile.read1(65536):
                x.wfile.write(data.upper())
        except OSError:
            pass
        self.left.set()


@pytest.fixture(scope="module")
def cluster(shared_api, tmp_path_factory):
    path = tmp_path_factory.mktemp("kubelet")
    key, text = request(path, "/O=system:nodes/CN=system:node:n1", "IP:127.0.0.1")
    shared_api.create("/apis/certificates.k8s.io/v1/certificatesigningrequests", csr("n1", text, SERVING, ["server auth"]))
    shared_api.kubectl("certificate", "approve", "n1")
    kubelet = Kubelet(issued(shared_api, "n1", path), key, shared_api.data_dir / "pki/ca.crt")
    add_node(shared_api, "n1", kubelet.port)
    for name, node, containers in (("p", "n1", ["c"]), ("two", "n1", ["a", "b"])):
        shared_api.create(PODS, {"metadata": {"name": name}, "spec": {
            "nodeName": node, "containers": [{"name": c, "image": "x"} for c in containers]}})
    shared_api.kubelet = kubelet
    yield shared_api
    kubelet.stop()


@pytest.fixture
def kubelet(cluster):
    kubelet = cluster.kubelet
    kubelet.asked, kubelet.logs, kubelet.protocol = [], [b"one\n", b"two\n"], "SPDY/3.1"
    kubelet.left.clear()
    return kubelet


def add_node(server, name, port):
    server.create("/api/v1/nodes", {"metadata": {"name": name}})
    status = {"status": {"addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
                         "daemonEndpoints": {"kubeletEndpoint": {"Port": port}}}}
    answer = server.ask("PATCH", f"/api/v1/nodes/{name}/status", status, Content_Type="application/merge-patch+json")
    assert answer.status == 200, answer.body


def test_logs_are_those_of_the_kubelet(cluster, kubelet):
    assert cluster.kubectl("logs", "p").stdout == "one\ntwo\n"
    assert kubelet.asked == [("GET", "/containerLogs/default/p/c", [])]
    assert kubelet.peers[-1] == {"organizationName": "system:masters", "commonName": "kube-apiserver-kubelet-client"}
    cluster.kubectl("logs", "two", "-c", "b", "--tail=5", "--previous", "--timestamps", "--since=1m", "--limit-bytes=99")
    _, path, params = kubelet.asked[-1]
    assert path == "/containerLogs/default/two/b"
    assert sorted(params) == [("limitBytes", "99"), ("previous", "true"), ("sinceSeconds", "60"), ("tailLines", "5"),
                              ("timestamps", "true")]
    no = cluster.kubectl("logs", "two", "-c", "z", check=False)
    assert "container z is not valid for pod two" in no.stderr
    upgraded = cluster.ask("GET", f"{PODS}/p/log", Connection="Upgrade", Upgrade="websocket")
    assert (upgraded.status, upgraded.body) == (200, b"one\ntwo\n"), "a log is never another protocol"
    odd = cluster.ask("GET", f"{PODS}/p/log?container=c&sinceTime=2020-01-01T00:00:00%2B01:00&follow=false&x=%26y")
    assert odd.status == 200 and odd.body == b"one\ntwo\n"
    assert kubelet.asked[-1][2] == [("sinceTime", "2020-01-01T00:00:00+01:00")]


def test_a_log_is_followed_line_by_line(cluster, kubelet):
    connection = cluster.connect()
    connection.request("GET", f"{PODS}/p/log?follow=true", headers={"Authorization": "Bearer " + cluster.token,
                                                                     "Accept-Encoding": "gzip"})
    kubelet.more.release()
    answer = connection.getresponse()
    assert answer.status == 200 and answer.getheader("Content-Type") == "text/plain"
    assert answer.readline() == b"one\n"
    kubelet.more.release()
    assert answer.readline() == b"two\n"
    connection.close()  # the kubelet sees it
    answer.close()
    assert kubelet.left.wait(LIMIT_S)


def test_long_logs_pass_completely_and_slowly(cluster, kubelet):
    kubelet.logs = [bytes([65 + i % 26]) * 65536 for i in range(400)]
    connection = cluster.connect()
    connection.request("GET", f"{PODS}/p/log", headers={"Authorization": "Bearer " + cluster.token})
    answer = connection.getresponse()
    assert answer.read() == b"".join(kubelet.logs)
    connection.close()


@pytest.mark.parametrize("status, text, reason", [
    (404, "no such container", "NotFound"), (400, "bad tail", "BadRequest"), (500, "disk is gone\n", "InternalError"),
    (302, "", "InternalError"), (503, "busy", "")])
def test_a_refusal_of_the_kubelet_is_passed_on(cluster, kubelet, status, text, reason):
    kubelet.logs = (status, text)
    answer = cluster.get(f"{PODS}/p/log")
    assert answer.status == (500 if status == 302 else status)
    body = answer.json()
    assert body["message"] == (text.strip() or "the node answered with status 302") and body.get("reason", "") == reason


def test_a_refusal_without_end_is_cut(cluster, kubelet):
    kubelet.logs = (500, "x" * 1_000_000)
    answer = cluster.get(f"{PODS}/p/log")
    assert answer.status == 500 and answer.json()["message"] == "x" * 4096


def upgrade(cluster, path, method="POST", protocol="SPDY/3.1", **fields):
    """(status, headers, socket)"""
    context = ssl.create_default_context(cafile=str(cluster.data_dir / "pki/ca.crt"))
    context.set_alpn_protocols(["http/1.1"])
    plain = socket.create_connection((cluster.host, cluster.port), timeout=LIMIT_S)
    s = context.wrap_socket(plain, server_hostname=cluster.host)
    lines = [f"{method} {path} HTTP/1.1", f"Host: {cluster.host}", f"Authorization: Bearer {cluster.token}",
             "Connection: Upgrade", f"Upgrade: {protocol}", "X-Stream-Protocol-Version: v4.channel.k8s.io",
             "X-Stream-Protocol-Version: v3.channel.k8s.io", "Cookie: secret=1"]
    lines += [f"{k.replace('_', '-')}: {v}" for k, v in fields.items()]
    s.sendall("\r\n".join(lines + ["", ""]).encode())
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        part = s.recv(1)
        assert part, head
        head += part
    first, *rest = head.decode().split("\r\n")
    return int(first.split()[1]), {line.split(": ")[0].lower(): line.split(": ")[1] for line in rest if line}, s


@pytest.mark.parametrize("sub, query, asked", [
    ("exec", "command=sh&command=-c&command=echo%20a%26b&stdin=true&stdout=true&stderr=true&tty=true",
     ("/exec/default/p/c", [("command", "sh"), ("command", "-c"), ("command", "echo a&b"), ("input", "1"), ("output", "1"),
                            ("error", "1"), ("tty", "1")])),
    ("attach", "stdout=1&stdin=false", ("/attach/default/p/c", [("output", "1")])),
    ("portforward", "", ("/portForward/default/p", [])),
])
def test_bytes_pass_both_ways(cluster, kubelet, sub, query, asked):
    status, headers, s = upgrade(cluster, f"{PODS}/p/{sub}?{query}")
    assert status == 101 and headers["upgrade"] == "SPDY/3.1"
    assert headers["x-stream-protocol-version"] == "v4.channel.k8s.io" and "set-cookie" not in headers
    assert kubelet.asked == [("POST", *asked)]
    assert "Authorization" not in kubelet.fields and "Cookie" not in kubelet.fields
    block = b"x" * 100_000
    s.sendall(block)
    data = b""
    while len(data) < len(block) + 6:
        data += s.recv(65536)
    assert data == b"hello " + block.upper()
    s.close()  # the kubelet sees the end
    assert kubelet.left.wait(LIMIT_S)


def test_a_websocket_passes_without_the_token(cluster, kubelet):
    kubelet.protocol = "websocket"
    status, headers, s = upgrade(
        cluster, f"{PODS}/p/exec?command=ls&stdout=true", "GET", "websocket", Sec_WebSocket_Key="dGhlIHNhbXBsZSBub25jZQ==",
        Sec_WebSocket_Version="13", Sec_WebSocket_Protocol="base64url.bearer.authorization.k8s.io.c2VjcmV0, v5.channel.k8s.io")
    assert status == 101 and headers["upgrade"] == "websocket"
    assert kubelet.fields["Sec-WebSocket-Protocol".lower()] == "v5.channel.k8s.io"
    s.close()


def test_what_cannot_be_upgraded(cluster, kubelet):
    answer = cluster.ask("POST", f"{PODS}/p/exec?command=ls&stdout=true")
    assert answer.status == 400 and answer.json()["message"] == "Upgrade request required"
    assert kubelet.asked == []
    kubelet.protocol = None
    status, _, s = upgrade(cluster, f"{PODS}/p/exec?command=ls&stdout=true")
    assert status == 403
    s.close()


def test_rights_count_before_the_kubelet_is_asked(cluster, kubelet):
    answer = cluster.ask("GET", f"{PODS}/p/log", Impersonate_User="jane")
    assert answer.status == 403 and kubelet.asked == []


def test_a_kubelet_that_is_not_there_or_is_another(cluster, kubelet, tmp_path):
    closed = socket.socket()
    closed.bind(("127.0.0.1", 0))  # it does not listen
    add_node(cluster, "off", closed.getsockname()[1])
    subject = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=n2",
               "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", tmp_path / "k", "-out", tmp_path / "c"]
    subprocess.run(subject, check=True, capture_output=True)
    other = Kubelet(tmp_path / "c", tmp_path / "k", cluster.data_dir / "pki/ca.crt")
    try:
        add_node(cluster, "own", other.port)
        for name in ("off", "own"):
            cluster.create(PODS, {"metadata": {"name": name}, "spec": {"nodeName": name, "containers": [{"name": "c", "image": "x"}]}})
        answer = cluster.get(f"{PODS}/off/log").json()
        assert answer["code"] == 500 and answer["message"].endswith("connect: connection refused")
        answer = cluster.get(f"{PODS}/own/log").json()
        assert answer["code"] == 500 and "certificate" in answer["message"], answer
        assert other.asked == []
        assert cluster.kubectl("logs", "own", "--insecure-skip-tls-verify-backend").stdout == "one\ntwo\n"
    finally:
        other.stop()
        closed.close()


def test_a_server_that_stops_cuts_what_is_followed(data_dir, tmp_path):
    server = Server(data_dir)
    key, text = request(tmp_path, "/O=system:nodes/CN=system:node:n1", "IP:127.0.0.1")
    server.create("/apis/certificates.k8s.io/v1/certificatesigningrequests", csr("n1", text, SERVING, ["server auth"]))
    server.kubectl("certificate", "approve", "n1")
    kubelet = Kubelet(issued(server, "n1", tmp_path), key, server.data_dir / "pki/ca.crt")
    kubelet.logs = [b"one\n"]
    add_node(server, "n1", kubelet.port)
    server.create(PODS, {"metadata": {"name": "p"}, "spec": {"nodeName": "n1", "containers": [{"name": "c", "image": "x"}]}})
    connection = server.connect()
    connection.request("GET", f"{PODS}/p/log?follow=true", headers={"Authorization": "Bearer " + server.token})
    kubelet.more.release()
    answer = connection.getresponse()
    assert answer.readline() == b"one\n"
    assert server.stop() == 0
    assert kubelet.left.wait(LIMIT_S)
    with pytest.raises((http.client.IncompleteRead, OSError, ValueError)):
        answer.read()
    kubelet.stop()
