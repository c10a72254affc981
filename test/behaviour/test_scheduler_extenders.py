# SPDX-License-Identifier: Apache-2.0
"""Extenders of the scheduler, as servers over HTTP and HTTPS: by `dormouse scheduler simulate`, and with `dormouse up`."""
import base64
import contextlib
import http.server
import json
import socket
import ssl
import subprocess
import threading
import time

import pytest

from conftest import BUILD
from test_scheduler import PODS, Up

NODES = [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "uid": name},
          "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}}} for name in ("n1", "n2", "n3")]
POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "default", "uid": "p"},
       "spec": {"schedulerName": "default-scheduler", "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "100m"}}}]}}


class Extender(http.server.ThreadingHTTPServer):
    """answers: verb -> a function of the decoded body that returns (status, bytes or object)"""
    daemon_threads = True

    def __init__(self, answers, tls=None):
        self.answers, self.asked, self.release = answers, [], threading.Event()
        super().__init__(("127.0.0.1", 0), Handler)
        if tls:
            self.socket = tls.wrap_socket(self.socket, server_side=True)
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, args=[0.01], daemon=True).start()

    def handle_error(self, request, client_address):
        pass  # handshakes that are to fail


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        verb = self.path.rsplit("/", 1)[1]
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.asked.append((verb, body))
        status, answer = self.server.answers[verb](body)
        data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        with contextlib.suppress(OSError):
            self.wfile.write(b"HTTP/1.1 %d x\r\ncontent-length: %d\r\n\r\n" % (status, len(data)) + data)

    def log_message(self, *args):
        pass


@contextlib.contextmanager
def extender(tls=None, **answers):
    server = Extender(answers, tls)
    try:
        yield server
    finally:
        server.release.set()
        server.shutdown()
        server.socket.close()


def simulate(tmp_path, *extenders, pods=(POD,), fails=False):
    config = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "extenders": list(extenders)}
    for name, value in (("config", config), ("nodes", {"apiVersion": "v1", "kind": "List", "items": NODES}),
                        ("pods", {"apiVersion": "v1", "kind": "List", "items": list(pods)})):
        (tmp_path / f"{name}.json").write_text(json.dumps(value))
    done = subprocess.run([BUILD / "dormouse", "scheduler", "simulate", "--nodes", tmp_path / "nodes.json", "--pods", tmp_path / "pods.json",
                           "--config", tmp_path / "config.json", "-o", "json"], capture_output=True, text=True, timeout=60)
    if fails:
        assert done.returncode != 0, done.stdout
        return done.stderr
    return json.loads(done.stdout), done


def placed(tmp_path, *extenders, **more):
    """The node of the pod p, or why there is none."""
    answer, _ = simulate(tmp_path, *extenders, **more)
    pod = next(p for p in answer["pods"] if p["name"] == "p")
    return pod["node"] or pod["reason"]


def keep(*names):
    return lambda body: (200, {"NodeNames": list(names)})


def test_nodes_by_name_and_whole(tmp_path):
    with extender(filter=keep("n2")) as x:
        assert placed(tmp_path, {"urlPrefix": x.url + "/api//", "filterVerb": "filter", "nodeCacheCapable": True}) == "n2"
        (verb, body), = x.asked
        assert sorted(body["NodeNames"]) == ["n1", "n2", "n3"] and body["Nodes"] is None and body["Pod"]["metadata"]["name"] == "p"
    whole = lambda body: (200, {"Nodes": {"items": [n for n in body["Nodes"]["items"] if n["metadata"]["name"] == "n3"]}})  # noqa: E731
    with extender(filter=whole) as x:
        assert placed(tmp_path, {"urlPrefix": x.url, "filterVerb": "filter"}) == "n3"


def test_one_after_the_other_and_those_that_may_be_ignored_last(tmp_path):
    with extender(filter=keep("n1", "n2")) as a, extender(filter=keep("n2", "n3")) as b:
        one = {"urlPrefix": a.url, "filterVerb": "filter", "nodeCacheCapable": True}
        two = {"urlPrefix": b.url, "filterVerb": "filter", "nodeCacheCapable": True, "ignorable": True}
        # The second one names a node that the first has taken away; it may be ignored.
        assert placed(tmp_path, two, one) in ("n1", "n2")
        assert b.asked[0][1]["NodeNames"] == ["n1", "n2"]


def test_scores_of_several_are_added(tmp_path):
    scores = lambda **points: lambda body: (200, [{"Host": k, "Score": v} for k, v in points.items()])  # noqa: E731
    with extender(score=scores(n1=6, n2=1)) as a, extender(score=scores(n2=4, n3=5)) as b:
        one = {"urlPrefix": a.url, "prioritizeVerb": "score", "weight": 10, "nodeCacheCapable": True}
        two = {"urlPrefix": b.url, "prioritizeVerb": "score", "weight": 20, "nodeCacheCapable": True}
        assert placed(tmp_path, one) == "n1"
        assert placed(tmp_path, one, two) == "n3"


def hang(server):
    server.release.wait(30)
    return 200, {}


BAD = [
    (lambda body: (500, b"oops"), "failed filter with extender at URL {url}/filter, code 500"),
    (lambda body: (200, b"<html>"), None),
    (lambda body: (200, b""), "EOF"),
    (lambda body: (200, {"NodeNames": {}}), "json: cannot unmarshal object into Go struct field ExtenderFilterResult.NodeNames of type []string"),
    (lambda body: (200, {"NodeNames": ["n7"]}), 'extender "{url}" claims a filtered node "n7" which is not found in the input node list'),
    (lambda body: (200, {"Error": "no licence"}), "no licence"),
    (lambda body: (200, b"[" * 100000), None),
    (lambda body: (200, b" " * (65 << 20)), 'Post "{url}/filter": the answer is larger than 64 MiB'),
]


@pytest.mark.parametrize("case", range(len(BAD)))
def test_what_is_wrong_is_said_and_the_next_pod_is_tried(tmp_path, case):
    answer, text = BAD[case]
    once = []

    def filter_once(body):
        if body["Pod"]["metadata"]["name"] == "p":
            return answer(body)
        once.append(body)
        return 200, {"NodeNames": ["n1"]}

    with extender(filter=filter_once) as x:
        config = {"urlPrefix": x.url, "filterVerb": "filter", "nodeCacheCapable": True}
        other = json.loads(json.dumps(POD).replace('"p"', '"q"'))
        answers, _ = simulate(tmp_path, config, pods=[POD, other])
        pods = {p["name"]: p for p in answers["pods"]}
        assert pods["p"]["node"] is None and pods["q"]["node"] == "n1" and once
        if text:
            assert pods["p"]["reason"] == text.format(url=x.url)
        assert placed(tmp_path, config | {"ignorable": True}) in ("n1", "n2", "n3")


def test_one_that_hangs_costs_its_timeout(tmp_path):
    with extender(filter=lambda body: hang(x)) as x:
        config = {"urlPrefix": x.url, "filterVerb": "filter", "nodeCacheCapable": True, "httpTimeout": "100ms"}
        began = time.monotonic()
        assert placed(tmp_path, config | {"ignorable": True}) in ("n1", "n2", "n3")
        assert time.monotonic() - began < 25  # the extender holds each for 30 s
        assert placed(tmp_path, config) == f'Post "{x.url}/filter": context deadline exceeded (Client.Timeout exceeded while awaiting headers)'


def test_nobody_is_there(tmp_path):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
        assert placed(tmp_path, {"urlPrefix": f"http://127.0.0.1:{port}", "filterVerb": "f"}) == \
            f'Post "http://127.0.0.1:{port}/f": dial tcp 127.0.0.1:{port}: connect: connection refused'


def test_what_cannot_be_an_extender(tmp_path):
    assert "couldn't build extenders" in simulate(tmp_path, {"urlPrefix": "gopher://x", "filterVerb": "f"}, fails=True)
    assert "/nowhere.pem" in simulate(tmp_path, {"urlPrefix": "https://127.0.0.1:1", "filterVerb": "f", "enableHTTPS": True,
                                                  "tlsConfig": {"caFile": "/nowhere.pem"}}, fails=True)


# ---- TLS ----

@pytest.fixture(scope="module")
def pki(tmp_path_factory):
    d = tmp_path_factory.mktemp("pki")

    def openssl(*args):
        subprocess.run(["openssl", *args], cwd=d, check=True, capture_output=True)

    for ca in ("ca", "other"):
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", f"/CN={ca}",
                "-keyout", f"{ca}.key", "-out", f"{ca}.crt")
    for name in ("server", "client"):
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.csr")
        (d / f"{name}.ext").write_text("subjectAltName=DNS:extender.example\n")
        openssl("x509", "-req", "-days", "2", "-in", f"{name}.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", f"{name}.ext",
                "-out", f"{name}.crt")
    return d


def tls_server(pki, wants_client=False):
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(pki / "server.crt", pki / "server.key")
    if wants_client:
        tls.load_verify_locations(pki / "ca.crt")
        tls.verify_mode = ssl.CERT_REQUIRED
    return tls


def test_tls(tmp_path, pki):
    def data(name):
        return base64.b64encode((pki / name).read_bytes()).decode()

    with extender(tls_server(pki), filter=keep("n2")) as x:
        config = {"urlPrefix": x.url, "filterVerb": "filter", "nodeCacheCapable": True, "enableHTTPS": True}
        named = {"caFile": str(pki / "ca.crt"), "serverName": "extender.example"}
        assert placed(tmp_path, config | {"tlsConfig": named}) == "n2"
        assert placed(tmp_path, config | {"tlsConfig": {"caData": data("ca.crt"), "serverName": "extender.example"}}) == "n2"
        # Nothing to check it with: nobody checks, as upstream.
        assert placed(tmp_path, config) == "n2"
        assert placed(tmp_path, config | {"tlsConfig": {"insecure": True}}) == "n2"
        for tls in ({"caFile": str(pki / "other.crt"), "serverName": "extender.example"}, {"caFile": str(pki / "ca.crt")}):
            assert placed(tmp_path, config | {"tlsConfig": tls}).startswith(f'Post "{x.url}/filter": '), tls
    with extender(tls_server(pki, wants_client=True), filter=keep("n3")) as x:
        config = {"urlPrefix": x.url, "filterVerb": "filter", "nodeCacheCapable": True, "enableHTTPS": True}
        client = named | {"certFile": str(pki / "client.crt"), "keyFile": str(pki / "client.key")}
        assert placed(tmp_path, config | {"tlsConfig": client}) == "n3"
        assert placed(tmp_path, config | {"tlsConfig": named}).startswith(f'Post "{x.url}/filter": ')


# ---- in a server ----

def test_the_api_serves_extenders_while_the_scheduler_waits_for_them(data_dir, tmp_path):
    """One that binds by the API of the same process, after it has kept the scheduler waiting."""
    waits, go_on = threading.Event(), threading.Event()

    def slow(body):
        waits.set()
        assert go_on.wait(20)
        return 200, {"NodeNames": ["n2"]}

    def bind(body):
        answer = up.ask("POST", f"{PODS}/{body['PodName']}/binding", {
            "apiVersion": "v1", "kind": "Binding", "metadata": {"name": body["PodName"], "uid": body["PodUID"]},
            "target": {"kind": "Node", "name": body["Node"]}})
        return 200, {"Error": "" if answer.status == 201 else str(answer.body)}

    with extender(filter=slow, bind=bind) as x:
        config = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "extenders": [
            {"urlPrefix": x.url, "filterVerb": "filter", "bindVerb": "bind", "nodeCacheCapable": True, "httpTimeout": "20s"}]}
        (tmp_path / "config.json").write_text(json.dumps(config))
        up = Up(data_dir, "--scheduler-config", tmp_path / "config.json")
        try:
            for name in "n1", "n2", "n3":
                up.node(name)
            up.pod("p")
            assert waits.wait(20)
            up.create("/api/v1/namespaces/default/configmaps", {"metadata": {"name": "meanwhile"}})  # the API answers
            go_on.set()
            assert up.wait_bound("p") == "n2"
            assert [verb for verb, _ in x.asked] == ["filter", "bind"]
            # Without the extender every pod's attempt fails, and says so; the configuration is read again.
            x.answers["filter"] = lambda body: (503, b"")
            up.pod("q")
            assert up.wait_refused("q") == f"failed filter with extender at URL {x.url}/filter, code 503"
            config["extenders"] = []
            (tmp_path / "config.json").write_text(json.dumps(config))
            assert up.wait_bound("q")
        finally:
            go_on.set()
            assert up.stop() == 0


def test_an_extender_that_takes_its_time_does_not_keep_the_end_waiting(tmp_path, data_dir):
    asked, go_on = threading.Event(), threading.Event()

    def slow(body):
        asked.set()
        go_on.wait(20)
        x.release.wait(1)  # of each pod
        return 503, b""

    with extender(filter=slow) as x:
        config = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "extenders": [
            {"urlPrefix": x.url, "filterVerb": "filter", "nodeCacheCapable": True, "httpTimeout": "30s"}]}
        (tmp_path / "config.json").write_text(json.dumps(config))
        up = Up(data_dir, "--scheduler-config", tmp_path / "config.json")
        try:
            up.node("n1")
            up.pod("p0")
            assert asked.wait(20)
            for i in range(1, 15):
                up.pod(f"p{i}")
            go_on.set()
            while len(x.asked) < 2:  # all others are queued now
                assert x.release.wait(0.01) is False
        finally:
            assert up.stop() == 0
        assert len(x.asked) < 8
