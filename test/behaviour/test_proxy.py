# SPDX-License-Identifier: Apache-2.0
"""The proxies of nodes, pods and Services: what reaches the other server, what comes back, and where the server does not connect."""
import http.server
import json
import os
import shutil
import socket
import ssl
import subprocess
import threading

import pytest

from conftest import DEADLINE_S, Server, find_kubectl, wait_for
from pods_kit import needs_pods
from test_nodes_join import NODES, Node, create_token

NS = "/api/v1/namespaces/default"


def address_of_this_machine():
    """One that is no loopback; nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        try:
            s.connect(("192.0.2.1", 9))
        except OSError:
            pytest.skip("this machine has no address but loopback")
        return s.getsockname()[0]


class Echo(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", len(body))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def serve(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path.startswith("/moved"):
            self.answer(302, Location="/there?x=1")
        elif self.path.startswith("/away"):
            self.answer(302, Location="https://elsewhere.example/there")
        elif self.path.startswith("/broken"):
            self.answer(418, b"no", X_Own="1", Content_Type="text/teapot")
        elif self.headers.get("Upgrade"):
            self.answer_upgrade()
        else:
            seen = {"method": self.command, "path": self.path, "body": body.decode(), "headers": {k.lower(): v for k, v in self.headers.items()}}
            if isinstance(self.connection, ssl.SSLSocket):
                seen["user"] = dict(x[0] for x in (self.connection.getpeercert() or {}).get("subject", ()))
            self.answer(200, json.dumps(seen).encode(), Content_Type="application/json", Set_Cookie="a=b")

    def answer_upgrade(self):
        self.send_response(101)
        self.send_header("Connection", "Upgrade")
        self.send_header("Upgrade", self.headers["Upgrade"])
        self.end_headers()
        self.close_connection = True
        while True:
            data = self.connection.recv(100)
            if not data:
                return
            self.connection.sendall(data.upper())

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = do_HEAD = serve


class Backend:
    def __init__(self, host, tls=None):
        self.server = http.server.ThreadingHTTPServer((host, 0), Echo)
        self.server.daemon_threads = True
        self.port = self.server.server_port
        if tls:
            self.server.socket = tls.wrap_socket(self.server.socket, server_side=True)
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture
def place(data_dir):
    """A server on this machine's address, and that address."""
    host = address_of_this_machine()
    server = Server(data_dir, listen=f"{host}:0")
    yield server, host
    assert server.stop() == 0


def make_pod(server, name, ip, port=None):
    container = {"name": "c", "image": "i", **({"ports": [{"containerPort": port}]} if port else {})}
    server.create(NS + "/pods", {"metadata": {"name": name}, "spec": {"containers": [container]}})
    done = server.ask("PATCH", f"{NS}/pods/{name}/status", {"status": {"podIP": ip, "podIPs": [{"ip": ip}]}}, Content_Type="application/merge-patch+json")
    assert done.status == 200, done.body


def test_a_request_reaches_the_pod_and_its_answer_comes_back(place):
    server, host = place
    with Backend(host) as web:
        make_pod(server, "web", host, web.port)
        at = f"{NS}/pods/web/proxy"
        seen = server.get(at + "/a%20b/c?x=1&y=%20", X_Mine="1", Cookie="c=d").json()
        assert (seen["method"], seen["path"]) == ("GET", "/a%20b/c?x=1&y=%20")
        fields = seen["headers"]
        assert fields["x-mine"] == "1" and fields["cookie"] == "c=d" and fields["host"] == f"{host}:{web.port}"
        assert fields["x-forwarded-uri"] == at + "/a%20b/c" and fields["x-forwarded-for"] == host
        assert "authorization" not in fields and not any(k.startswith("impersonate") for k in fields)
        for method in ("POST", "PUT", "PATCH", "DELETE"):
            seen = server.ask(method, at + "/w", "some text", Content_Type="text/plain").json()
            assert (seen["method"], seen["body"], seen["headers"]["content-type"]) == (method, "some text", "text/plain")
        broken = server.get(at + "/broken")
        assert (broken.status, broken.body, broken.headers["x-own"], broken.headers["content-type"]) == (418, b"no", "1", "text/teapot")
        assert server.get(at + "/moved").headers["location"] == at + "/there?x=1"
        assert server.get(at + "/away").headers["location"] == "https://elsewhere.example/there"
        assert server.get(at + "/").headers["set-cookie"] == "a=b"
        bare = server.get(at + "?q=1")
        assert (bare.status, bare.headers["location"]) == (301, at + "/?q=1")
        head = server.ask("HEAD", at + "/x")
        assert head.status == 200 and head.body == b"" and int(head.headers["content-length"]) > 0
        assert server.get(f"{NS}/pods/web:{web.port}/proxy/").status == 200
        assert server.get(f"{NS}/pods/http:web:{web.port}/proxy/").status == 200
        assert server.kubectl("get", "--raw", at + "/raw").stdout.startswith('{"method": "GET", "path": "/raw"')
        large = "y" * (2 << 20)
        assert server.ask("POST", at + "/w", large).json()["body"] == large
    gone = server.get(at + "/")
    assert gone.status == 503 and "error trying to reach service: dial tcp" in gone.json()["message"]


def test_another_protocol_passes_through(place):
    server, host = place
    with Backend(host) as web:
        make_pod(server, "web", host, web.port)
        with socket.create_connection((server.host, server.port), timeout=DEADLINE_S) as plain:
            context = ssl.create_default_context(cafile=str(server.data_dir / "pki/ca.crt"))
            with context.wrap_socket(plain, server_hostname=server.host) as s:
                s.sendall((f"GET {NS}/pods/web/proxy/echo HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {server.token}\r\n"
                           "Connection: Upgrade\r\nUpgrade: shout\r\n\r\n").encode())
                head = b""
                while b"\r\n\r\n" not in head:
                    head += s.recv(1000)
                assert head.startswith(b"HTTP/1.1 101 ")
                s.sendall(b"hello")
                assert s.recv(5) == b"HELLO"


def tls_of(tmp_path, host, pem=None):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    file = tmp_path / "server.pem"
    if pem:
        file.write_text(pem)
    else:
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", str(file) + ".key",
                        "-out", str(file), "-subj", "/CN=x", "-days", "2"], check=True, capture_output=True)
        file.write_text(file.read_text() + (tmp_path / "server.pem.key").read_text())
    context.load_cert_chain(str(file))
    return context


def test_a_service_leads_to_a_ready_endpoint(place, tmp_path):
    server, host = place
    at = NS + "/services/web/proxy/"
    assert server.get(at).status == 404
    server.create(NS + "/services", {"metadata": {"name": "web"}, "spec": {"ports": [{"name": "http", "port": 80}, {"name": "tls", "port": 443}]}})
    assert server.get(NS + "/services/web:http/proxy/").json()["message"] == 'no endpoints available for service "web"'
    with Backend(host) as web, Backend(host, tls_of(tmp_path, host)) as secret:
        server.create("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", {
            "metadata": {"name": "web-1", "labels": {"kubernetes.io/service-name": "web"}}, "addressType": "IPv4",
            "ports": [{"name": "http", "port": web.port}, {"name": "tls", "port": secret.port}],
            "endpoints": [{"addresses": ["198.51.100.9"], "conditions": {"ready": False}}, {"addresses": [host], "conditions": {"ready": True}}]})
        server.create("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", {
            "metadata": {"name": "other-1", "labels": {"kubernetes.io/service-name": "other"}}, "addressType": "IPv4",
            "ports": [{"name": "http", "port": 1}], "endpoints": [{"addresses": ["198.51.100.10"]}]})
        for _ in range(5):
            assert server.get(NS + "/services/web:http/proxy/x").json()["path"] == "/x"
        assert server.get(NS + "/services/web:80/proxy/x").json()["path"] == "/x"
        assert server.get(NS + "/services/https:web:tls/proxy/x").json()["user"] == {}  # a pod does not see our certificate
        no = server.get(NS + "/services/web:81/proxy/")
        assert (no.status, no.json()["message"]) == (503, 'no service port 81 found for service "web"')
        assert server.get(NS + "/services/web/proxy/").status == 503  # two ports, and neither was named
        assert server.get(NS + "/services/ftp:web:80/proxy/").status == 400


def test_a_node_is_asked_as_its_agent(place, tmp_path):
    server, host = place
    token = create_token(server)
    node = Node(server, tmp_path / "n1", "--token", token, "--node-name", "n1")
    pem = wait_for(lambda: (tmp_path / "n1/node-serving.pem").exists() and (tmp_path / "n1/node-serving.pem").read_text(), "its certificate")
    tls = tls_of(tmp_path, host, pem)
    tls.load_verify_locations(str(server.data_dir / "pki/ca.crt"))
    tls.verify_mode = ssl.CERT_OPTIONAL
    assert node.stop() == 0
    with Backend(host, tls) as agent, Backend(host) as other:
        done = server.ask("PATCH", f"{NODES}/n1/status", {"status": {"daemonEndpoints": {"kubeletEndpoint": {"Port": agent.port}}}},
                          Content_Type="application/merge-patch+json")
        assert done.status == 200
        seen = server.get(f"{NODES}/n1/proxy/stats/summary?only_cpu=true").json()
        assert seen["path"] == "/stats/summary?only_cpu=true"
        assert seen["user"] == {"organizationName": "system:masters", "commonName": "kube-apiserver-kubelet-client"}
        assert server.get(f"{NODES}/n1:{agent.port}/proxy/pods").json()["path"] == "/pods"
        assert server.get(f"{NODES}/n1:{other.port}/proxy/x").json()["path"] == "/x"
    assert server.get(f"{NODES}/none/proxy/").status == 404
    # An agent with a certificate of somebody else does not get the request.
    with Backend(host, tls_of(tmp_path, host)) as liar:
        server.ask("PATCH", f"{NODES}/n1/status", {"status": {"daemonEndpoints": {"kubeletEndpoint": {"Port": liar.port}}}},
                   Content_Type="application/merge-patch+json")
        no = server.get(f"{NODES}/n1/proxy/pods")
        assert no.status == 503 and "certificate" in no.json()["message"]


def test_the_server_does_not_connect_to_itself(place):
    server, _ = place
    for name, ip in (("loop", "127.0.0.1"), ("six", "::1"), ("link", "169.254.169.254"), ("any", "0.0.0.0")):
        make_pod(server, name, ip, 80)
        no = server.get(f"{NS}/pods/{name}/proxy/")
        assert (no.status, no.json()["message"]) == (400, "address not allowed"), name
    server.create(NS + "/pods", {"metadata": {"name": "none"}, "spec": {"containers": [{"name": "c", "image": "i"}]}})
    assert server.get(f"{NS}/pods/none/proxy/").status == 400
    for wrong in ("a:b:c:d", ":", "x:none:80"):
        assert server.get(f"{NS}/pods/{wrong}/proxy/").status in (400, 404)


def test_a_proxy_needs_its_right(place):
    server, host = place
    with Backend(host) as web:
        make_pod(server, "web", host, web.port)
        account = "system:serviceaccount:default:default"
        no = server.get(f"{NS}/pods/web/proxy/", Impersonate_User=account)
        assert no.status == 403 and 'cannot get resource "pods/proxy"' in no.json()["message"]
        rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default"
        server.create(rbac + "/roles", {"metadata": {"name": "p"}, "rules": [{"apiGroups": [""], "resources": ["pods/proxy"], "verbs": ["get"]}]})
        server.create(rbac + "/rolebindings", {"metadata": {"name": "p"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "p"},
                                               "subjects": [{"kind": "ServiceAccount", "name": "default"}]})
        seen = server.get(f"{NS}/pods/web/proxy/", Impersonate_User=account).json()
        assert "impersonate-user" not in seen["headers"]
        assert server.ask("POST", f"{NS}/pods/web/proxy/", "x", Impersonate_User=account).status == 403


@pytest.fixture
def network():
    """The words that run a program in a network of its own, whose machine has the address 10.99.0.1."""
    if not find_kubectl() or not shutil.which("ip"):
        pytest.skip("needs kubectl and ip")
    name = f"dm{os.getpid()}"
    subprocess.run(["ip", "netns", "add", name], check=True)
    words = ("nsenter", f"--net=/run/netns/{name}")
    for line in ("link set lo up", "link add e0 type veth peer name e1", "link set e1 up", "link set e0 up", *address(1)):
        subprocess.run([*words, "ip", *line.split()], check=True)
    yield words
    subprocess.run(["ip", "netns", "del", name], check=True)


def address(n):
    return f"addr add 10.99.0.{n}/24 dev e0", "route add default via 10.99.0.254 dev e0"


class Up(Server):
    COMMAND = "up"


@needs_pods
def test_a_node_with_another_address_has_a_certificate_for_it(data_dir, network):
    up = Up(data_dir, extra=("--gateway", "none", "--agent", "--node-name", "moves"), prefix=network)

    def kubectl(*words):
        done = subprocess.run([*network, find_kubectl(), "--kubeconfig", up.kubeconfig, "--request-timeout=5s", *words], capture_output=True, text=True,
                              timeout=DEADLINE_S)
        return done.stdout

    def is_reached(host):
        return kubectl("get", "node", "moves", "-o", "jsonpath={.status.addresses[0].address}") == host and \
            kubectl("get", "--raw", "/api/v1/nodes/moves/proxy/healthz") == "ok"

    wait_for(lambda: is_reached("10.99.0.1"), "the node answers at its address")
    for line in ("addr del 10.99.0.1/24 dev e0", *address(2)):
        subprocess.run([*network, "ip", *line.split()], check=True)
    wait_for(lambda: is_reached("10.99.0.2"), "the node answers at its new address")
    assert up.stop() == 0
