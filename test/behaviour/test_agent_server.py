# SPDX-License-Identifier: Apache-2.0
"""The HTTP server of a node's agent (test/agent_rig: its containers are processes here), asked by client-go, by kubectl
of two versions and the Python client through an API server, and by hand."""
import http.client
import json
import os
import socket
import socketserver
import ssl
import subprocess
import sys
import threading

import pytest

from conftest import BUILD, ROOT, wait_for
from test_auth import openssl
from test_clients import go_program
from test_join import SERVING, csr, issued, request
from test_kubectl_versions import program
from test_kubelet_api import PODS, add_node

RIG = BUILD / "test/agent_rig"
pytestmark = pytest.mark.skipif(not RIG.exists(), reason="test/agent_rig is not built")
LIMIT_S = 60


class Rig:
    def __init__(self, api, path):
        self.api, self.path = api, path
        key, text = request(path, "/O=system:nodes/CN=system:node:rig", "IP:127.0.0.1")
        api.create("/apis/certificates.k8s.io/v1/certificatesigningrequests", csr("rig", text, SERVING, ["server auth"]))
        api.kubectl("certificate", "approve", "rig")
        self.ca = api.data_dir / "pki/ca.crt"
        self.process = subprocess.Popen([RIG, issued(api, "rig", path), key, self.ca, path], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline().split("=")[1])

    def certificate(self, name, subject):
        """(certificate, key) of a client, which the cluster's CA has issued"""
        key, cert, request_ = (self.path / f"{name}.{end}" for end in ("key", "crt", "csr"))
        if not cert.exists():
            openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", str(key),
                    "-out", str(request_), "-subj", subject)
            extensions = self.path / "client.cnf"
            extensions.write_text("extendedKeyUsage=clientAuth\n")
            openssl("x509", "-req", "-in", str(request_), "-CA", str(self.ca), "-CAkey", str(self.ca.with_suffix(".key")),
                    "-CAcreateserial", "-CAserial", str(self.path / "serial"), "-out", str(cert), "-days", "1",
                    "-extfile", str(extensions))
        return cert, key

    def admin(self):
        return self.certificate("admin", "/O=system:masters/CN=admin")

    def context(self, who=None):
        context = ssl.create_default_context(cafile=str(self.ca))
        if who:
            context.load_cert_chain(*who)
        return context

    def ask(self, path, method="GET", who=None, **fields):
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, context=self.context(who), timeout=LIMIT_S)
        connection.request(method, path, headers={k.replace("_", "-"): v for k, v in fields.items()})
        answer = connection.getresponse()
        answer.text = answer.read().decode()
        connection.close()
        return answer

    def print(self, *lines):
        for line in lines:
            self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def stop(self):
        self.process.terminate()
        assert self.process.wait(LIMIT_S) == 0
        self.process.stdin.close()
        self.process.stdout.close()


class Echo(socketserver.BaseRequestHandler):
    def handle(self):
        while data := self.request.recv(65536):
            self.request.sendall(data)


class EchoServer(socketserver.ThreadingTCPServer):
    daemon_threads, request_queue_size = True, 64


@pytest.fixture(scope="module")
def echo():
    with EchoServer(("127.0.0.1", 0), Echo) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


@pytest.fixture(scope="module")
def rig(shared_api, tmp_path_factory):
    rig = Rig(shared_api, tmp_path_factory.mktemp("agent"))
    add_node(shared_api, "rig", rig.port)
    shared_api.create(PODS, {"metadata": {"name": "p"}, "spec": {
        "nodeName": "rig", "containers": [{"name": "c", "image": "x"}, {"name": "silent", "image": "x"}]}})
    running = shared_api.ask("PATCH", f"{PODS}/p/status", {"status": {"phase": "Running"}},
                             Content_Type="application/merge-patch+json")
    assert running.status == 200, running.body
    yield rig
    rig.stop()
    shared_api.kubectl("delete", "pod", "p", "--force", "--grace-period=0")


# ---- streams

@pytest.mark.parametrize("part", ["spdy", "websocket", "v4", "v3", "v2", "v1", "leave", "forward", "tunnel"])
def test_client_go_cannot_tell(rig, echo, part):
    cert, key = rig.admin()
    done = subprocess.run([go_program("clientstreams"), f"127.0.0.1:{rig.port}", cert, key, rig.ca, str(echo), part],
                          capture_output=True, text=True, timeout=2 * LIMIT_S)
    assert done.returncode == 0 and f"done: {part}" in done.stdout, done.stdout + done.stderr


@pytest.fixture(params=["oldest", "newest"])
def kubectl(rig, request):
    path = program(request.param)
    if not path:
        pytest.skip("no such kubectl here")
    env = dict(os.environ, KUBECONFIG=str(rig.api.kubeconfig), HOME=str(rig.api.data_dir))

    def run(*args, input=None, check=True):
        done = subprocess.run([path, *args], capture_output=True, text=True, input=input, env=env, timeout=LIMIT_S)
        assert not check or done.returncode == 0, done.stderr
        return done
    run.path, run.env = path, env
    return run


def test_kubectl_exec_through_the_api_server(kubectl):
    done = kubectl("exec", "p", "-c", "c", "--", "/bin/sh", "-c", "echo out; echo err >&2; exit 5", check=False)
    assert (done.returncode, done.stdout) == (5, "out\n") and "err\n" in done.stderr
    block = "0123456789" * 100_000
    assert kubectl("exec", "-i", "p", "-c", "c", "--", "/bin/cat", input=block).stdout == block
    done = kubectl("exec", "p", "-c", "silent", "--", "/bin/true", check=False)
    assert done.returncode != 0 and 'container not found ("silent")' in done.stderr
    assert kubectl("attach", "-i", "p", "-c", "c", input="to cat\n").stdout.endswith("to cat\n")


def test_kubectl_port_forward_through_the_api_server(kubectl, echo):
    forward = subprocess.Popen([kubectl.path, "port-forward", "pod/p", f":{echo}"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, env=kubectl.env)
    try:
        line = forward.stdout.readline()
        assert line, forward.stderr.read()
        port = int(line.split(" -> ")[0].rsplit(":", 1)[1])
        for _ in range(3):
            with socket.create_connection(("127.0.0.1", port), timeout=LIMIT_S) as s:
                s.sendall(b"x" * 300_000)
                s.shutdown(socket.SHUT_WR)
                data = b""
                while part := s.recv(65536):
                    data += part
                assert data == b"x" * 300_000
    finally:
        forward.kill()
        forward.communicate()


def test_the_python_client_runs_commands(rig):
    made = subprocess.run([ROOT / "test/get-client", "python"], capture_output=True, text=True)
    if made.returncode != 0:
        pytest.skip(made.stderr.strip().splitlines()[-1])
    text = """
import sys
from kubernetes import client, config
from kubernetes.stream import stream
config.load_kube_config(sys.argv[1])
core = client.CoreV1Api()
def run(*command, **more):
    return stream(core.connect_get_namespaced_pod_exec, "p", "default", container="c", command=list(command), stderr=True,
                  stdout=True, stdin=True, tty=False, _preload_content=False, **more)
s = run("/bin/sh", "-c", "read line; echo got $line; echo bad >&2; exit 9")
s.write_stdin("words\\n")
s.run_forever(timeout=30)
assert s.read_stdout() == "got words\\n" and s.read_stderr() == "bad\\n" and s.returncode == 9, s.returncode
s = run("/bin/true", binary=True)
s.run_forever(timeout=30)
assert s.returncode == 0
print("done")
"""
    env = dict(os.environ, PYTHONPATH=made.stdout.strip(), PYTHONDONTWRITEBYTECODE="1")
    done = subprocess.run([sys.executable, "-c", text, rig.api.kubeconfig], capture_output=True, text=True, timeout=LIMIT_S, env=env)
    assert done.stdout == "done\n", done.stdout + done.stderr


# ---- logs

def test_kubectl_logs_through_the_api_server(rig, kubectl):
    mark = kubectl.path
    rig.print(*(f"{mark} line {i}" for i in range(500)))
    wait_for(lambda: f"{mark} line 499\n" in kubectl("logs", "p", "-c", "c").stdout, "the lines are in the log")
    assert kubectl("logs", "p", "-c", "c", "--tail=2").stdout == f"{mark} line 498\n{mark} line 499\n"
    stamped = kubectl("logs", "p", "-c", "c", "--tail=1", "--timestamps").stdout
    assert stamped.split(" ", 1)[1] == f"{mark} line 499\n" and stamped[4] == "-" and stamped.split()[0].endswith("Z")
    assert len(kubectl("logs", "p", "-c", "c", "--limit-bytes=10").stdout) == 10
    no = kubectl("logs", "p", "-c", "c", "--previous", check=False)
    assert no.returncode != 0 and 'previous terminated container "c" in pod "p" not found' in no.stderr


def test_a_log_is_followed_through_rotations(rig):
    """The rig's files are rotated after 100,000 bytes."""
    connection = http.client.HTTPSConnection("127.0.0.1", rig.port, context=rig.context(rig.admin()), timeout=LIMIT_S)
    connection.request("GET", "/containerLogs/default/p/c?follow=true&tailLines=0")
    answer = connection.getresponse()
    assert answer.status == 200 and answer.getheader("Content-Type") == "text/plain"
    for start in range(0, 4000, 500):
        rig.print(*(f"followed {i} {'x' * 60}" for i in range(start, start + 500)))
        for i in range(start, start + 500):
            assert answer.readline() == f"followed {i} {'x' * 60}\n".encode()
    connection.close()
    names = sorted(os.listdir(rig.path / "pods/default_p_u-1/c"))
    assert 3 <= len(names) <= 5 and names[0] == "0.log"


@pytest.mark.parametrize("query, status", [
    ("tailLines=x", 400), ("tailLines=-1", 422), ("limitBytes=0", 422), ("sinceSeconds=0", 422), ("sinceTime=yesterday", 400),
    ("sinceTime=2020-01-01T00:00:00Z&sinceSeconds=5", 422), ("stream=Both", 422), ("stream=Stdout&tailLines=1", 422),
    ("stream=Stderr", 200), ("tail=all", 200), ("sinceTime=2999-01-01T00:00:00Z", 200), ("sinceSeconds=9223372036854775807", 200)])
def test_queries_of_logs(rig, query, status):
    answer = rig.ask(f"/containerLogs/default/p/c?{query}", who=rig.admin())
    assert answer.status == status
    if query.startswith("stream=Stderr") or "2999" in query:
        assert answer.text == ""


def test_logs_that_are_not_there(rig):
    for path, status, text in [("default/q/c", 404, 'pod "q" does not exist\n'), ("other/p/c", 404, 'pod "p" does not exist\n'),
                               ("default/p/z", 404, 'container "z" not found in pod "p"\n')]:
        answer = rig.ask("/containerLogs/" + path, who=rig.admin())
        assert (answer.status, answer.text) == (status, text)


# ---- who may ask

def test_who_may_ask(rig):
    bearer = {"Authorization": "Bearer good"}
    assert rig.ask("/pods").status == 401
    assert rig.ask("/pods", Authorization="Bearer bad").status == 401
    assert rig.ask("/pods", Authorization="Basic Z29vZA==").status == 401
    assert rig.ask("/healthz").status == 401
    refused = rig.ask("/pods", **bearer)
    assert refused.status == 403
    assert refused.text == "Forbidden (user=jane, verb=get, resource=nodes, subresource(s)=[pods proxy])\n"
    assert rig.ask("/exec/default/p/c?command=id&output=1", "POST", **bearer).status == 403
    assert rig.ask("/metrics/resource", **bearer).status == 200
    assert rig.ask("/stats/summary", "POST", **bearer).status == 403
    bob = rig.certificate("bob", "/CN=bob")
    assert "user=bob" in rig.ask("/%70ods", who=bob).text
    assert rig.ask("/pods", who=rig.admin()).status == 200


def test_a_certificate_of_another_ca_is_no_identity(rig, tmp_path):
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/O=system:masters/CN=x",
            "-keyout", str(tmp_path / "k"), "-out", str(tmp_path / "c"))
    assert rig.ask("/pods", who=(tmp_path / "c", tmp_path / "k")).status == 401


# ---- the other paths

def test_the_other_paths(rig):
    admin = rig.admin()
    assert json.loads(rig.ask("/pods", who=admin).text)["items"][0]["metadata"]["name"] == "p"
    assert json.loads(rig.ask("/runningpods/", who=admin).text)["items"] == []
    assert rig.ask("/healthz", who=admin).text == "ok"
    assert json.loads(rig.ask("/configz", who=admin).text) == {"kubeletconfig": {}}
    summary = json.loads(rig.ask("/stats/summary", who=admin).text)
    assert summary["node"]["nodeName"] == "n1" and summary["pods"][0]["containers"][0]["memory"]["workingSetBytes"] == 4096
    assert 'container_memory_rss{container="c",id="/kubepods/podu-1/id-1",image="",name="id-1",namespace="default",pod="p"} 2048 ' \
        in rig.ask("/metrics/cadvisor", who=admin).text
    assert 'pod_cpu_usage_seconds_total{namespace="default",pod="p"} 1.5 ' in rig.ask("/metrics/resource", who=admin).text
    assert "dormouse_agent_http_requests_total" in rig.ask("/metrics", who=admin).text
    assert rig.ask("/metrics/probes", who=admin).status == 200
    for path, method, status in [("/", "GET", 404), ("/run/default/p/c", "POST", 404), ("/logs/", "GET", 404),
                                 ("/pods", "POST", 405), ("/pods/x", "GET", 404), ("/metrics/none", "GET", 404),
                                 ("/exec/default/p/c?command=id&output=1", "POST", 400), ("/exec/default/p", "GET", 404),
                                 ("/portForward/default/p", "GET", 400), ("/pods/../pods", "GET", 400)]:
        assert rig.ask(path, method, who=admin).status == status, path


def test_protocols_that_are_not_spoken(rig):
    fields = {"Connection": "Upgrade", "Upgrade": "SPDY/3.1", "X_Stream_Protocol_Version": "v9.channel.k8s.io"}
    answer = rig.ask("/exec/default/p/c?command=id&output=1", "POST", who=rig.admin(), **fields)
    assert answer.status == 403 and "v4.channel.k8s.io" in answer.getheader("X-Accepted-Stream-Protocol-Versions")
    fields = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec_WebSocket_Version": "13",
              "Sec_WebSocket_Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec_WebSocket_Protocol": "chat"}
    assert rig.ask("/exec/default/p/c?command=id&output=1", who=rig.admin(), **fields).status == 403


def test_the_api_server_reaches_every_node_with_its_own_certificate(rig):
    """system:masters is not asked about: the API server answers with the log."""
    assert rig.api.get(f"{PODS}/p/log?container=c&limitBytes=1").status == 200
