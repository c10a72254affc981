# SPDX-License-Identifier: Apache-2.0
"""Where modules come from: files that come late and change, ConfigMaps, URLs; and the way back from a bad one."""
import base64
import contextlib
import hashlib
import http.server
import select
import socket
import ssl
import subprocess
import threading

import pytest

from conftest import BUILD, wait_for
from operators import OPERATORS, Ring, Up, distinct, dormouse

pytestmark = pytest.mark.skipif(not (BUILD / "guests/ring-g2.wasm").exists(), reason="no compiler for guests here")


@pytest.fixture
def up(data_dir):
    server = Up(data_dir, "--module-host", "127.0.0.1")
    yield server
    assert server.stop() == 0


def module_of(up, name):
    return up.get(f"{OPERATORS}/{name}").json().get("status", {}).get("module", {}).get("sha256")


def condition(up, name, kind):
    status = up.get(f"{OPERATORS}/{name}").json().get("status", {})
    return next((c for c in status.get("conditions", []) if c["type"] == kind), None)


def create(up, name, module, env, **spec):
    return up.create(OPERATORS, {
        "apiVersion": "dormouse.dev/v1alpha1", "kind": "Operator", "metadata": {"name": name},
        "spec": {"module": module, "env": [{"name": k, "value": v} for k, v in env.items()], **spec}})


def two_versions(up):
    source = BUILD / "guests/ring-g2.wasm"
    made = []
    for nonce in ("one", "two"):
        distinct(source, up.modules / f"{nonce}.tmp", nonce)
        made.append((up.modules / f"{nonce}.tmp").read_bytes())
        (up.modules / f"{nonce}.tmp").unlink()
    return [(data, hashlib.sha256(data).hexdigest()) for data in made]


def write(path, data):
    part = path.with_suffix(".part")
    part.write_bytes(data)
    part.rename(path)


def test_a_file_that_comes_late_and_changes(up):
    (one, one_sum), (two, two_sum) = two_versions(up)
    ring = Ring(up, 2)
    create(up, "ring-0", {"file": "late.wasm"}, ring.env(0))
    up.becomes("ring-0", "False", "SpecInvalid")
    write(up.modules / "late.wasm", one)
    up.becomes("ring-0", "True", "Running")
    create(up, "ring-1", {"file": "late.wasm"}, ring.env(1))
    ring.round()
    wait_for(lambda: module_of(up, "ring-0") == one_sum, "the status names the module")
    write(up.modules / "late.wasm", two)
    wait_for(lambda: module_of(up, "ring-0") == module_of(up, "ring-1") == two_sum, "the new version runs")
    ring.round()
    write(up.modules / "late.wasm", b"garbage")
    refused = wait_for(lambda: condition(up, "ring-0", "UpdateRefused"), "the new one is refused")
    assert refused["reason"] == "ModuleInvalid" and condition(up, "ring-0", "Degraded")["status"] == "True"
    up.becomes("ring-0", "True", "Running")  # what ran before goes on
    ring.round()
    write(up.modules / "late.wasm", one)
    wait_for(lambda: not condition(up, "ring-0", "UpdateRefused"), "it is mended")
    assert module_of(up, "ring-0") in (one_sum, two_sum)
    wait_for(lambda: module_of(up, "ring-0") == one_sum, "and runs")
    up.becomes("ring-0", "True", "Running")


def test_a_module_in_a_config_map(up):
    (one, one_sum), (two, two_sum) = two_versions(up)
    ring = Ring(up, 2)
    up.operator("ring-1", "ring-g2.wasm", ring.env(1))
    create(up, "ring-0", {"configMap": {"name": "code", "key": "ring.wasm"}}, ring.env(0))
    assert "'operators/code'" in up.becomes("ring-0", "False", "ModuleNotFound")["message"]
    path = "/api/v1/namespaces/operators/configmaps"
    up.create(path, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "code"},
                     "binaryData": {"ring.wasm": base64.b64encode(one).decode()}})
    up.becomes("ring-0", "True", "Running")
    ring.round()
    wait_for(lambda: module_of(up, "ring-0") == one_sum, "the status names the module")
    patch = {"binaryData": {"ring.wasm": base64.b64encode(two).decode()}}
    assert up.ask("PATCH", path + "/code", patch, Content_Type="application/merge-patch+json").status == 200
    wait_for(lambda: module_of(up, "ring-0") == two_sum, "the new version runs")
    assert up.ask("DELETE", path + "/code").status == 200
    ring.round()


class Files(http.server.BaseHTTPRequestHandler):
    files, seen = {}, []

    def do_GET(self):
        self.seen.append(self.path)
        data = self.files.get(self.path)
        self.send_response(200 if data else 404)
        self.send_header("Content-Length", str(len(data or b"")))
        self.end_headers()
        self.wfile.write(data or b"")

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def served(handler, tls=None):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    if tls:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()


@pytest.fixture
def files():
    Files.files, Files.seen = {}, []
    with served(Files) as port:
        yield f"http://127.0.0.1:{port}"


def test_a_module_from_a_url(up, files):
    (one, one_sum), (two, two_sum) = two_versions(up)
    ring = Ring(up, 2)
    up.operator("ring-1", "ring-g2.wasm", ring.env(1))
    Files.files["/two"] = two
    create(up, "ring-0", {"url": files + "/one", "sha256": one_sum.upper()}, ring.env(0))
    assert "404" not in up.becomes("ring-0", "False", "ModuleUnavailable")["message"]
    Files.files["/one"] = one
    up.becomes("ring-0", "True", "Running")
    ring.round()
    wait_for(lambda: module_of(up, "ring-0") == one_sum, "the status names the module")
    up.patch("ring-0", {"module": {"url": files + "/two", "sha256": one_sum[::-1]}})
    refused = wait_for(lambda: condition(up, "ring-0", "UpdateRefused"), "the new one is refused")
    assert refused["reason"] == "ModuleDigestWrong" and two_sum not in refused["message"]
    up.patch("ring-0", {"module": {"url": files + "/two", "sha256": two_sum}})
    up.becomes("ring-0", "True", "Running")
    ring.round()
    count = len(Files.seen)
    up.patch("ring-0", {"module": {"url": files + "/one", "sha256": one_sum}})
    wait_for(lambda: module_of(up, "ring-0") == one_sum, "it is there again")
    assert len(Files.seen) == count, "and was not fetched again"


def test_a_url_may_not_name_neighbours(data_dir, files):
    up = Up(data_dir)
    (one, one_sum), _ = two_versions(up)
    Files.files["/one"] = one
    ring = Ring(up, 2)
    create(up, "ring-0", {"url": files + "/one", "sha256": one_sum}, ring.env(0))
    assert "--module-host" in up.becomes("ring-0", "False", "ModuleHostDenied")["message"]
    assert not Files.seen, "nobody was asked"
    assert up.stop() == 0


class Tunnels(http.server.BaseHTTPRequestHandler):
    """A proxy that knows CONNECT alone."""
    seen = []

    def do_CONNECT(self):
        self.seen.append(self.path)
        host, port = self.path.rsplit(":", 1)
        with socket.create_connection(("127.0.0.1", int(port))) as there:
            self.connection.sendall(b"HTTP/1.1 200 Go ahead\r\n\r\n")
            ends = [self.connection, there]
            while True:
                for end in select.select(ends, [], [])[0]:
                    data = end.recv(65536)
                    if not data:
                        self.close_connection = True
                        return
                    ends[end is ends[0]].sendall(data)

    def log_message(self, *_):
        pass


def test_https_through_a_proxy(data_dir, tmp_path, monkeypatch):
    key, cert = tmp_path / "key.pem", tmp_path / "cert.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key,
                    "-out", cert, "-days", "2", "-subj", "/CN=modules.test", "-addext", "subjectAltName=DNS:modules.test"],
                   check=True, capture_output=True)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(cert, key)
    Files.files, Files.seen, Tunnels.seen = {}, [], []
    with served(Files, tls) as port, served(Tunnels) as proxy:
        monkeypatch.setenv("SSL_CERT_FILE", str(cert))
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{proxy}")
        monkeypatch.setenv("no_proxy", "127.0.0.1,localhost")
        up = Up(data_dir)
        (one, one_sum), _ = two_versions(up)
        Files.files["/m"] = one
        ring = Ring(up, 2)
        create(up, "ring-0", {"url": f"https://modules.test:{port}/m", "sha256": one_sum}, ring.env(0))
        up.becomes("ring-0", "True", "Running")
        assert Tunnels.seen == [f"modules.test:{port}"] and Files.seen == ["/m"]
        assert up.stop() == 0


def test_the_schema_wants_one_source_and_a_digest(up):
    Ring(up, 2)
    bad = [{}, {"file": "a", "url": "http://a", "sha256": "0" * 64}, {"url": "http://a"}, {"url": "ftp://a", "sha256": "0" * 64},
           {"configMap": {}}, {"url": "http://a", "sha256": "12"}]
    for i, module in enumerate(bad):
        body = {"apiVersion": "dormouse.dev/v1alpha1", "kind": "Operator", "metadata": {"name": f"bad-{i}"}, "spec": {"module": module}}
        answer = up.ask("POST", OPERATORS, body)
        assert answer.status == 422, (module, answer.body)


def condition(up, name, kind):
    found = up.get(f"{OPERATORS}/{name}").json().get("status", {}).get("conditions", [])
    return next((c for c in found if c["type"] == kind), None)


def test_a_version_that_crashes_again_and_again_is_returned_from(up):
    ring = Ring(up, 2)
    ring.apply("ring-g2.wasm")
    ring.round()
    up.all_asleep(2)
    up.patch("ring-0", {"module": {"file": "hostile-g2.wasm"}, "env": [{"name": "MODE", "value": "trap"}]})
    rolled = wait_for(lambda: condition(up, "ring-0", "RolledBack"), "it is returned from", 60)
    assert rolled["status"] == "True" and rolled["reason"] == "CrashLoop", rolled
    up.becomes("ring-0", "True", "Running")
    assert condition(up, "ring-0", "Degraded")["reason"] == "RolledBack"
    assert "\nReturned  " in dormouse("operator", "describe", "operators/ring-0", "--data-dir", up.data_dir).stdout
    ring.round()
    assert [e for e in up.events("ring-0") if e["reason"] == "RolledBack"]
    up.patch("ring-0", {"module": {"file": "ring-g2.wasm"}, "env": [{"name": k, "value": v} for k, v in ring.env(0).items()]})
    wait_for(lambda: not condition(up, "ring-0", "RolledBack"), "a new spec ends that")
    ring.round()
