# SPDX-License-Identifier: Apache-2.0
"""Roles of functions in processes of their own, and what happens when one of them is killed."""
import base64
import http.client
import http.server
import queue
import socketserver
import subprocess
import threading
import time

import pytest

from conftest import BUILD, Server, wait_for
from functions_kit import FAKE, FUNCTIONS, Role, call, function
from snapshotter_kit import field, fields, text, varint

LEASE = "/apis/coordination.k8s.io/v1/namespaces/default/leases/dormouse-functions"


class Cell:
    """An API, two control planes, two gateways, two workers."""

    def __init__(self, base, controls=2, gateways=1, workers=1, words=()):
        self.base, self.deployed = base, 0
        base.mkdir(exist_ok=True)
        (base / "token").write_text("0123456789abcdef0123\n")
        if "--token-file" not in words:
            words = (*words, "--token-file", base / "token")
        self.api = Server(base / "api", extra=())
        manifest = subprocess.run([BUILD / "dormouse", "manifest", "fn"], capture_output=True, text=True, check=True).stdout
        self.api.kubectl("apply", "-f", "-", input=manifest)
        self.controls = [Role("controlplane", base / f"c{i}", "--listen", "127.0.0.1:0", "--kubeconfig", self.api.kubeconfig,
                              "--name", f"c{i}", *words) for i in range(controls)]
        self.addresses = [w for c in self.controls for w in ("-c", c.ready["control-plane"])] + list(words)
        self.workers = [self.worker(i) for i in range(workers)]
        self.gateways = [Role("gateway", base / f"g{i}", "--listen", "127.0.0.1:0", "--name", f"g{i}", *self.addresses)
                         for i in range(gateways)]

    def worker(self, i):
        return Role("worker", self.base / f"w{i}", "--name", f"w{i}", *self.addresses)

    @property
    def gateway(self):
        return self.gateways[0].ready["gateway"].removeprefix("http://")

    def who_leads(self):
        return next((c for c in self.controls if c.process.poll() is None and c.status()["functions"]["leads"]), None)

    def leader(self):
        """On a busy machine nobody leads now and then."""
        return wait_for(self.who_leads, "one leads")

    def deploy(self, name, spec=None):
        self.api.create(FUNCTIONS.format("default"), function(name, spec))
        self.deployed += 1
        for gateway in self.gateways:
            wait_for(lambda: gateway.metric("dormouse_gateway_functions") == self.deployed, f"{name} is known")
        return f"{name}.default"

    def stop(self):
        for role in self.gateways + self.workers + self.controls:
            if role.process.poll() is None:
                assert role.stop() == 0
        assert self.api.stop() == 0


@pytest.fixture
def cell(tmp_path):
    made = Cell(tmp_path)
    yield made
    made.stop()


class Load:
    """Requests to a warm function, one after the other, on a kept connection; what failed."""

    def __init__(self, gateway, host):
        self.gateway, self.host, self.failures, self.done, self.longest = gateway, host, [], 0, 0
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        connection = http.client.HTTPConnection(self.gateway, timeout=20)
        while not self.over.is_set():
            began = time.monotonic()
            try:
                connection.request("GET", "/", headers={"Host": self.host})
                answer = connection.getresponse()
                answer.read()
                if answer.status != 200:
                    self.failures.append(answer.status)
            except OSError as e:
                self.failures.append(repr(e))
                connection.close()
            self.longest = max(self.longest, time.monotonic() - began)
            self.done += 1

    def end(self):
        self.over.set()
        self.thread.join()
        return self.failures


def test_roles_apart_answer(cell):
    host = cell.deploy("f")
    answer = call(cell.gateway, host, "/", "POST", b"over there")
    assert (answer.status, answer.body) == (200, b"over there")
    leader = cell.leader()
    status = leader.status()["functions"]
    assert [w["name"] for w in status["workers"]] == ["w0"] and [g["name"] for g in status["gateways"]] == ["g0"]
    follower = next(c for c in cell.controls if c is not leader)
    assert follower.status()["functions"]["leader"] == leader.ready["control-plane"]


def test_a_killed_leader_costs_no_request(cell):
    warm, cold = cell.deploy("warm"), [cell.deploy(f"cold{i}") for i in range(3)]
    assert call(cell.gateway, warm).status == 200
    load = Load(cell.gateway, warm)
    leader = cell.leader()
    term = leader.status()["functions"]["term"]
    began = time.monotonic()
    leader.kill()
    assert [call(cell.gateway, host).status for host in cold] == [200, 200, 200]
    took = time.monotonic() - began
    now = cell.leader()
    assert load.end() == []
    assert now.status()["functions"]["term"] > term
    print(f"cold starts came back after {took:.2f} s")
    # What was there before is known to the new one, and is not made a second time.
    wait_for(lambda: sum(w["sandboxes"] for w in now.status()["functions"]["workers"]) == 4, "all are known")
    assert cell.api.get(LEASE).json()["spec"]["holderIdentity"].startswith(now.ready["control-plane"] + "_")


def test_a_leader_that_was_stopped_and_goes_on_changes_nothing(cell):
    host = cell.deploy("f")
    assert call(cell.gateway, host).status == 200
    old = cell.leader()
    old.process.send_signal(19)  # SIGSTOP
    try:
        fresh = wait_for(lambda: next((c for c in cell.controls if c is not old and c.status()["functions"]["leads"]), None),
                         "another one leads")
        other = cell.deploy("g")  # when the gateway has found out, too
        assert call(cell.gateway, other).status == 200
    finally:
        old.process.send_signal(18)  # SIGCONT
    wait_for(lambda: not old.status()["functions"]["leads"], "the old one has understood")
    assert fresh.status()["functions"]["leads"]
    assert call(cell.gateway, host).status == 200
    assert len(fresh.status()["functions"]["workers"]) == 1


def test_a_killed_worker_is_replaced(tmp_path):
    cell = Cell(tmp_path, controls=1, workers=2)
    host = cell.deploy("f", FAKE | {"scale": {"min": 1}})
    assert call(cell.gateway, host).status == 200
    busy = next(w["name"] for w in cell.leader().status()["functions"]["workers"] if w["sandboxes"])
    cell.workers[int(busy[1:])].kill()
    wait_for(lambda: call(cell.gateway, host).status == 200, "it runs elsewhere")
    wait_for(lambda: [w["name"] for w in cell.leader().status()["functions"]["workers"]] != [], "the dead one is forgotten")
    cell.stop()


def test_a_gateway_that_comes_back_gets_everything(cell):
    host = cell.deploy("f")
    assert call(cell.gateway, host).status == 200
    cell.gateways[0].kill()
    cell.gateways[0].start()
    assert call(cell.gateway, host).status == 200
    assert sum(w["sandboxes"] for w in cell.leader().status()["functions"]["workers"]) == 1


def test_a_control_plane_alone_comes_back_to_living_sandboxes(tmp_path):
    cell = Cell(tmp_path, controls=1)
    host = cell.deploy("f", FAKE | {"fake": {"createMilliseconds": 50}})
    first = call(cell.gateway, host).headers["x-fake-sandbox"]
    address = cell.controls[0].ready["control-plane"]
    cell.controls[0].kill()
    assert call(cell.gateway, host).headers["x-fake-sandbox"] == first, "warm requests need no control plane"
    cell.controls[0].command[cell.controls[0].command.index("--listen") + 1] = address
    cell.controls[0].start()
    wait_for(lambda: len(cell.controls[0].status()["functions"]["workers"]) == 1, "its worker is back")
    assert call(cell.gateway, host).headers["x-fake-sandbox"] == first
    cell.stop()


def test_roles_speak_tls_to_each_other(tmp_path):
    cert, key, token = tmp_path / "cert.pem", tmp_path / "key.pem", tmp_path / "token"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                    "/CN=roles", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", cert], check=True, capture_output=True)
    token.write_text("a token of some length\n")
    tls = ["--tls-cert", cert, "--tls-key", key, "--tls-ca", cert]
    cell = Cell(tmp_path, controls=1, words=[*tls, "--token-file", token])
    host = cell.deploy("f")
    assert call(cell.gateway, host, "/", "POST", b"sealed").body == b"sealed"
    address = cell.controls[0].ready["control-plane"]
    assert call(address, address, "/v1/status").status == 400, "that is no TLS"
    stranger = Role("worker", tmp_path / "stranger", "--name", "stranger", *tls, "-c", address, wait=False)
    wait_for(lambda: "UNAUTHENTICATED" in (tmp_path / "stranger.log").read_text(), "who shows no token is sent away")
    assert call(cell.gateway, host).status == 200
    assert [w["name"] for w in cell.controls[0].status()["functions"]["workers"]] == ["w0"]
    stranger.kill()
    cell.stop()


def test_a_gateway_without_a_control_plane_does_not_claim_to_know_the_functions(tmp_path):
    gateway = Role("gateway", tmp_path / "g", "--listen", "127.0.0.1:0", "--control-plane", "127.0.0.1:1", wait=False)
    try:
        wait_for(lambda: (tmp_path / "g/admin.sock").exists(), "its socket")
        answer = call(gateway.status()["gateway"], "hello.default")
        assert (answer.status, answer.headers["x-dormouse-reason"]) == (503, "NoControlPlane")
        assert answer.headers["retry-after"] == "1"
    finally:
        gateway.stop()


def test_a_worker_without_a_cluster_runs_modules_of_files(cell, tmp_path):
    cell.workers.append(Role("worker", tmp_path / "files", "--name", "files", "--modules", BUILD / "test/guests", "--label", "has=files",
                             *cell.addresses))
    host = cell.deploy("module", {"module": {"file": "fn-reactor.wasm"}, "nodeSelector": {"has": "files"}})
    assert call(cell.gateway, host, "/hello").body == b"hello"
    host = cell.deploy("map", {"module": {"configMap": {"name": "m", "key": "k"}}, "nodeSelector": {"has": "files"}})
    answer = call(cell.gateway, host, "/hello")
    assert answer.status == 503
    path = FUNCTIONS.format("default") + "/map"
    wait_for(lambda: "--kubeconfig" in cell.api.get(path).json().get("status", {}).get("message", ""), "its status says why")
    assert call(cell.gateway, "module.default", "/hello").status == 200


class Between(http.server.BaseHTTPRequestHandler):
    """Passes requests on to an API; what is held is refused until it is let go."""
    protocol_version = "HTTP/1.1"
    api, held, refused = None, (), 0

    def log_message(self, *words):
        pass

    def answer(self):
        kind = type(self)
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        self.close_connection = True
        if any(part in self.path for part in kind.held):
            kind.refused += 1
            self.send_response(503)
            self.send_header("content-length", "0")
            self.end_headers()
            return
        there = http.client.HTTPSConnection(kind.api.host, kind.api.port, context=kind.api.tls)
        headers = {name: value for name, value in self.headers.items() if name.lower() in ("accept", "content-type")}
        there.request(self.command, self.path, body, {"Authorization": f"Bearer {kind.api.token}", **headers})
        response = there.getresponse()
        self.send_response(response.status)
        self.send_header("content-type", response.getheader("content-type", "application/json"))
        self.send_header("connection", "close")
        self.end_headers()
        try:
            while chunk := response.read1(65536):
                self.wfile.write(chunk)
                self.wfile.flush()
        except OSError:
            pass  # whoever asked has gone
        there.close()

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer


def test_nobody_leads_before_the_policies_are_known(tmp_path):
    """Else a function whose namespace wants a token would be open to all for a moment after each restart."""
    api = Server(tmp_path / "api", extra=())
    manifest = subprocess.run([BUILD / "dormouse", "manifest", "fn"], capture_output=True, text=True, check=True).stdout
    api.kubectl("apply", "-f", "-", input=manifest)
    api.create(FUNCTIONS.format("default"), function("guarded"))
    api.create("/apis/dormouse.dev/v1alpha1/namespaces/default/functionpolicies",
               {"apiVersion": "dormouse.dev/v1alpha1", "kind": "FunctionPolicy", "metadata": {"name": "default"},
                "spec": {"tokens": [{"name": "one", "secretName": "t"}]}})
    api.create("/api/v1/namespaces/default/secrets", {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "t"},
                                                      "data": {"token": base64.b64encode(b"open sesame").decode()}})

    class Held(Between):
        held = ("/functionpolicies", "/secrets/")

    Held.api = api
    proxy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Held)
    proxy.daemon_threads = True
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    config = tmp_path / "config"
    config.write_text(f"""apiVersion: v1
kind: Config
current-context: c
contexts: [{{name: c, context: {{cluster: c, user: u}}}}]
clusters: [{{name: c, cluster: {{server: "http://127.0.0.1:{proxy.server_port}"}}}}]
users: [{{name: u, user: {{token: none}}}}]
""")
    control = Role("controlplane", tmp_path / "c", "--listen", "127.0.0.1:0", "--kubeconfig", config, wait=False)
    wait_for(lambda: Held.refused >= 2, "it asks for policies")
    assert not control.status()["functions"].get("leads")
    Held.held = ("/secrets/",)
    control.wait_ready()
    known = ("-c", control.ready["control-plane"], "--token-file", tmp_path / "c" / "fn.token")
    worker = Role("worker", tmp_path / "w", *known)
    gateway = Role("gateway", tmp_path / "g", "--listen", "127.0.0.1:0", *known)
    address, shown = gateway.ready["gateway"].removeprefix("http://"), {"Authorization": "Bearer open sesame"}
    assert call(address, "guarded.default").status == 401
    assert call(address, "guarded.default", headers=shown).status == 401
    Held.held = ()
    wait_for(lambda: call(address, "guarded.default", headers=shown).status == 200, "the token is read again")
    assert call(address, "guarded.default").status == 401
    for role in (gateway, worker, control):
        assert role.stop() == 0
    proxy.shutdown()
    proxy.server_close()
    assert api.stop() == 0


def test_the_api_may_be_away_for_a_while(cell):
    warm, cold = cell.deploy("warm"), cell.deploy("cold")
    assert call(cell.gateway, warm).status == 200
    first = call(cell.gateway, warm).headers["x-fake-sandbox"]
    cell.api.kill()
    cell.api.process.stdout.close()
    wait_for(lambda: not cell.who_leads(), "who cannot renew the Lease does not lead")
    assert call(cell.gateway, warm).headers["x-fake-sandbox"] == first, "warm requests need no API"
    cell.api = Server(cell.base / "api", listen=cell.api.listen)
    assert call(cell.gateway, cold).status == 200
    assert call(cell.gateway, warm).headers["x-fake-sandbox"] == first

    def known():  # by whoever leads: on a busy machine that changes once more
        leader = cell.who_leads()
        return leader and sum(w["sandboxes"] for w in leader.status()["functions"]["workers"])

    wait_for(lambda: known() == 2, "one leads again, and knows both sandboxes")


def test_a_worker_that_is_stopped_costs_no_request(tmp_path):
    cell = Cell(tmp_path, controls=1, workers=2)
    host = cell.deploy("f", {"fake": {"workMilliseconds": 5}})
    assert call(cell.gateway, host).status == 200
    load = Load(cell.gateway, host)
    busy = next(w["name"] for w in cell.leader().status()["functions"]["workers"] if w["sandboxes"])
    assert cell.workers[int(busy[1:])].stop() == 0
    done = load.done
    wait_for(lambda: load.done > done + 10, "it goes on elsewhere")
    assert load.end() == []
    cell.stop()


def test_a_worker_that_comes_back_without_its_sandboxes_makes_new_ones(cell):
    host = cell.deploy("f", FAKE | {"scale": {"min": 2}})
    leader = cell.leader()
    wait_for(lambda: sum(w["sandboxes"] for w in leader.status()["functions"]["workers"]) == 2, "both are there")
    first = call(cell.gateway, host).headers["x-fake-sandbox"]
    cell.workers[0].kill()
    cell.workers[0].start()
    answer = call(cell.gateway, host)
    assert answer.status == 200 and answer.headers["x-fake-sandbox"] != first
    wait_for(lambda: [w["sandboxes"] for w in leader.status()["functions"]["workers"]] == [2], "two again")


def test_the_lease_of_a_killed_up_is_let_go_of_when_its_data_is_served_again(tmp_path):
    """It has no end and its holder was no other than the API's own process; the term goes on counting."""
    class Up(Server):
        COMMAND = "up"
    up = Up(tmp_path / "data")
    held = wait_for(lambda: up.get(LEASE).status == 200 and up.get(LEASE).json(), "it leads")
    assert held["spec"]["leaseDurationSeconds"] == 2147483647
    # Another program's, of the same length but without the label, and one with it that ages.
    for name, labels, seconds in ("foreign", {}, 2147483647), ("ages", {"dormouse.dev/ends-with-api": "true"}, 3600):
        up.create("/apis/coordination.k8s.io/v1/namespaces/default/leases",
                  {"metadata": {"name": name, "labels": labels}, "spec": {"holderIdentity": "them", "leaseDurationSeconds": seconds}})
    for i in range(101):  # the same as its own, in front of it in every list
        up.create("/apis/coordination.k8s.io/v1/namespaces/default/leases",
                  {"metadata": {"name": f"decoy-{i:03}", "labels": {"dormouse.dev/ends-with-api": "true"}},
                   "spec": {"holderIdentity": "them", "leaseDurationSeconds": 2147483647}})
    up.kill()
    api = Server(tmp_path / "data")
    left = api.get(LEASE).json()
    assert not left["spec"].get("holderIdentity") and "labels" not in left["metadata"], left
    assert left["spec"].get("leaseTransitions") == held["spec"].get("leaseTransitions")
    for name in "foreign", "ages", "decoy-000":
        assert api.get(LEASE.replace("dormouse-functions", name)).json()["spec"]["holderIdentity"] == "them"
    control = Role("controlplane", tmp_path / "c", "--listen", "127.0.0.1:0", "--kubeconfig", api.kubeconfig)
    wait_for(lambda: control.status()["functions"]["leads"], "another one leads")
    assert api.get(LEASE).json()["spec"]["leaseTransitions"] == held["spec"].get("leaseTransitions", 0) + 1
    assert control.stop() == 0
    api.kill()
    up = Up(tmp_path / "data")  # takes any
    wait_for(lambda: up.get(LEASE).json()["spec"]["leaseDurationSeconds"] == 2147483647, "it leads again")
    assert up.stop() == 0


def test_the_next_leader_hears_of_a_compilation_that_goes_on(tmp_path, monkeypatch):
    gate, compiler = tmp_path / "gate", tmp_path / "compiler"
    compiler.write_text(f'#!/bin/sh\nwhile [ ! -e {gate} ]; do sleep 0.05; done\nexec {BUILD}/dormouse-compile "$@"\n')
    compiler.chmod(0o755)
    monkeypatch.setenv("DORMOUSE_COMPILE", str(compiler))
    cell = Cell(tmp_path / "cell", workers=0)
    cell.workers = [Role("worker", tmp_path / "w", "--name", "w", "--modules", BUILD / "guests", *cell.addresses)]

    def conditions():
        status = cell.api.get(FUNCTIONS.format("default") + "/slow").json().get("status", {})
        return {c["type"]: (c["status"], c.get("reason")) for c in status.get("conditions", [])}
    try:
        host = cell.deploy("slow", {"module": {"file": "fn-hello-c.wasm"}, "scale": {"initial": 1}})
        wait_for(lambda: conditions().get("Progressing") == ("True", "Compiling"), "the first leader says so")
        first = cell.leader()
        first.process.kill()
        first.process.wait()
        cell.api.ask("PATCH", FUNCTIONS.format("default") + "/slow/status", {"status": {"conditions": []}},
                     Content_Type="application/merge-patch+json")
        wait_for(lambda: cell.who_leads() not in (None, first), "there is another leader")
        wait_for(lambda: conditions().get("Progressing") == ("True", "Compiling"), "the second leader says so")
        gate.touch()
        wait_for(lambda: conditions() == {"Ready": ("True", "Deployed")}, "it is ready")
        assert call(cell.gateway, host).status == 200
    finally:
        gate.touch()
        cell.stop()


class HostileWorker:
    """Speaks for a worker, with the token that workers have: every sandbox that it is ordered to make is at `sandbox`."""

    def __init__(self, cell, address, sandbox):
        grpc = pytest.importorskip("grpc", reason="no grpcio here (python3-grpcio)")
        self.sandbox, self.reports, self.orders, self.seq = sandbox, queue.Queue(), queue.Queue(), 0
        self.report(1, field(1, "hostile") + varint(2 << 3) + varint(1) + field(3, address) + varint(4 << 3) + varint(8000) +
                    varint(5 << 3) + varint(8 << 30) + field(7, "fake"))
        self.channel = grpc.insecure_channel(cell.leader().ready["control-plane"])
        token = (cell.base / "token").read_text().strip()
        self.stream = self.channel.stream_stream("/dormouse.fn.v1.ControlPlane/Worker", request_serializer=bytes,
                                                 response_deserializer=bytes)(
            iter(self.reports.get, None), metadata=[("authorization", f"Bearer {token}")])
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def report(self, number=None, message=b""):
        self.seq += 1
        self.reports.put((field(number, message) if number else b"") + varint(2 << 3) + varint(self.seq))

    def read(self):
        try:
            for order in map(fields, self.stream):
                for create in order.get(5, []):
                    sandbox = fields(create)[1][0]
                    self.report(3, varint(1 << 3) + varint(sandbox) + field(3, self.sandbox))
                self.orders.put(order)
        except Exception:  # the control plane has closed it
            pass

    def next(self, number):
        """The next order that has this field."""
        while True:
            order = self.orders.get(timeout=60)
            if number in order:
                return order

    def stop(self):
        self.reports.put(None)
        self.stream.cancel()
        self.reader.join(60)
        self.channel.close()


class Victim(http.server.BaseHTTPRequestHandler):
    """What a gateway must not be made to call: on a Unix socket, as services of a machine have."""
    requests = []

    def do_GET(self):
        self.requests.append(self.path)
        self.send_response(200)
        self.end_headers()

    def address_string(self):
        return "a gateway"


def test_a_hostile_worker_cannot_have_gateways_call_others(tmp_path):
    cell = Cell(tmp_path, controls=1, workers=0)
    victim = socketserver.ThreadingUnixStreamServer(str(tmp_path / "victim"), Victim)
    served = threading.Thread(target=victim.serve_forever)
    served.start()
    taken = []
    try:
        for address in "169.254.169.254:80", "10.213.0.9:80", f"unix:{tmp_path}/victim":
            worker = HostileWorker(cell, address, address)
            taken.append(worker)
            why = text(fields(worker.next(10)[10][0]), 1)
            assert "its address is not HOST:PORT" in why or f"its address {address[:-3]} is not the one" in why
        host = cell.deploy("f")
        worker = HostileWorker(cell, "127.0.0.1:1", f"unix:{tmp_path}/victim")
        taken.append(worker)
        worker.next(1)
        answers = []
        caller = threading.Thread(target=lambda: answers.append(call(cell.gateway, host).status))
        caller.start()
        assert worker.next(6)  # it is to delete what it made
        seen = wait_for(lambda: [e for e in cell.api.get("/api/v1/namespaces/default/events").json()["items"]
                                 if e["reason"] == "AddressDenied"], "an event says so")
        assert seen[0]["type"] == "Warning" and seen[0]["involvedObject"]["name"] == "f"
        assert "worker hostile named unix:" in seen[0]["message"]
        cell.workers.append(cell.worker(0))
        worker.stop()
        caller.join(60)
        assert answers == [200] and not Victim.requests
    finally:
        for worker in taken:
            worker.stop()
        victim.shutdown()
        served.join()
        victim.server_close()
        cell.stop()


def test_a_worker_or_gateway_that_is_refused_says_why(tmp_path):
    cell = Cell(tmp_path, controls=1, workers=0, words=("--token-file", tmp_path / "token"))
    worker = Role("worker", tmp_path / "w", "--name", "w", "--advertise", "192.0.2.7:7080", *cell.addresses, wait=False)
    try:
        wait_for(lambda: "192.0.2.7 is not the one that it dials from (127.0.0.1)" in (tmp_path / "w.log").read_text(), "it says why")
        assert cell.leader().status()["functions"]["workers"] == []
        worker.stop()
        gateway = Role("gateway", tmp_path / "g", "--name", "g", "--listen", "127.0.0.1:0", "--advertise", "192.0.2.7:80", *cell.addresses, wait=False)
        wait_for(lambda: "192.0.2.7 is not the one that it dials from (127.0.0.1)" in (tmp_path / "g.log").read_text(), "the gateway says why")
        assert [g["name"] for g in cell.leader().status()["functions"]["gateways"]] == ["g0"]
        gateway.stop()
        for ours in cell.leader().ready["control-plane"], cell.api.url.split("//")[1]:
            worker = HostileWorker(cell, ours, "")
            assert text(fields(worker.next(10)[10][0]), 1) == f"its address {ours} is one of the control plane's"
            worker.stop()
    finally:
        worker.stop()
        cell.stop()
    cell = Cell(tmp_path / "2", controls=1, workers=0)
    try:
        other = Role("controlplane", tmp_path / "c", "--listen", "127.0.0.1:0", "--kubeconfig", cell.api.kubeconfig, "--lease-name",
                     "other", "--worker-network", "192.0.2.0/24", "--token-file", tmp_path / "token")
        worker = Role("worker", tmp_path / "w2", "--name", "w2", "--advertise", "192.0.2.7:7080", "-c", other.ready["control-plane"],
                      "--token-file", tmp_path / "token")
        assert [w["address"] for w in other.status()["functions"]["workers"]] == ["192.0.2.7:7080"]
        assert worker.stop() == 0 and other.stop() == 0
    finally:
        cell.stop()
