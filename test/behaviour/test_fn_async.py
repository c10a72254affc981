# SPDX-License-Identifier: Apache-2.0
"""Asynchronous calls and triggers through a real gateway, with functions of the fake runtime."""
import http.client
import http.server
import json
import ssl
import subprocess
import threading

import pytest

from conftest import DEADLINE_S, Answer, wait_for
from functions_kit import FAKE, FUNCTIONS, FunctionServer, Role, ask_socket, call
from test_fn_roles import Cell

ASYNC = {"X-Faas-Invocation-Type": "Async"}


@pytest.fixture
def up(data_dir):
    server = FunctionServer(data_dir, extra=("--private-callbacks",))
    yield server
    assert server.stop() == 0


def submit(server, name, body=b"", path="/", **headers):
    answer = call(server.gateway, f"{name}.default", path, "POST", body, {**ASYNC, **headers})
    assert answer.status == 202, (answer.status, answer.body)
    return answer.headers["X-Dormouse-Call-Id"]


def look(server, id, method="GET"):
    return call(server.gateway, "gateway", f"/v1/async/{id}", method)


def result(server, id):
    def ended():
        answer = look(server, id)
        return answer if answer.headers["X-Faas-Call-State"] not in ("pending", "running") else None
    return wait_for(ended, f"end of call {id}")


def metric(server, name):
    text = ask_socket(server.data_dir, "GET", "/metrics").body.decode()
    values = [line.split()[-1] for line in text.splitlines() if line.startswith(name)]
    return float(values[0]) if values else 0.0


def test_a_call_is_accepted_runs_and_leaves_its_answer(up):
    up.deploy("echo")
    body = bytes(range(256)) * 300
    direct = call(up.gateway, "echo.default", "/", "POST", body)
    assert direct.status == 200
    answer = call(up.gateway, "echo.default", "/", "POST", body, {"Prefer": "respond-async"})
    assert answer.status == 202 and answer.headers["Preference-Applied"] == "respond-async"
    id = answer.headers["X-Dormouse-Call-Id"]
    assert answer.headers["Location"] == f"/v1/async/{id}"
    end = result(up, id)
    assert end.status == 200 and end.headers["X-Faas-Call-State"] == "succeeded"
    assert end.headers["X-Faas-Call-Attempts"] == "1"
    assert end.body == direct.body
    assert look(up, "0" * 40).status == 404


def test_keys_limits_and_unknown_functions(up):
    up.deploy("echo", {**FAKE, "limits": {"bodyBytes": 100}})
    first = submit(up, "echo", b"x", **{"Idempotency-Key": "k"})
    assert submit(up, "echo", b"x", **{"Idempotency-Key": "k"}) == first
    assert submit(up, "echo", b"x", **{"Idempotency-Key": "other"}) != first
    answer = call(up.gateway, "echo.default", "/", "POST", b"x" * 101, ASYNC)
    assert answer.status == 413
    answer = call(up.gateway, "nobody.default", "/", "POST", b"x", ASYNC)
    assert answer.status == 404


def test_openfaas_paths(up):
    up.deploy("echo")
    answer = call(up.gateway, "gateway", "/async-function/echo/a", "POST", b"x")
    assert answer.status == 202 and answer.headers["X-Call-Id"]
    assert result(up, answer.headers["X-Call-Id"]).status == 200


def test_a_waiting_or_running_call_is_canceled(up):
    up.deploy("slow", {"fake": {"createMilliseconds": 1, "workMilliseconds": 60000}, "concurrency": {"limit": 1}})
    id = submit(up, "slow", b"x")
    wait_for(lambda: look(up, id).headers["X-Faas-Call-State"] == "running", "it runs")
    assert look(up, id, "DELETE").status == 202
    end = result(up, id)
    assert end.status == 410 and end.headers["X-Faas-Call-State"] == "canceled"


def test_every_acknowledged_call_survives_kill(data_dir):
    server = FunctionServer(data_dir)
    server.deploy("slow", {"fake": {"createMilliseconds": 1, "workMilliseconds": 30}, "concurrency": {"limit": 4}})
    ids = []
    for burst in range(3):
        ids += [submit(server, "slow", b"\0%d" % i) for i in range(40)]
        server.kill()
        server.process.stdout.close()
        server.log.close()
        server = FunctionServer(data_dir)
    for id in ids:
        end = result(server, id)
        assert end.status == 200, (id, end.status, end.headers)
    assert server.stop() == 0


def test_a_stop_in_between_counts_no_attempt(data_dir):
    server = FunctionServer(data_dir)
    server.deploy("slow", {"fake": {"createMilliseconds": 1, "workMilliseconds": 60000}})
    id = submit(server, "slow")
    wait_for(lambda: look(server, id).headers["X-Faas-Call-State"] == "running", "it runs")
    assert server.stop() == 0
    server = FunctionServer(data_dir)
    answer = look(server, id)
    assert answer.status == 202 and answer.headers["X-Faas-Call-Attempts"] == "0"
    assert server.stop() == 0


class Hook:
    """A place that callbacks go to."""

    def __init__(self):
        self.seen = seen = []
        self.arrived = arrived = threading.Event()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                seen.append((dict(self.headers), body))
                self.send_response(204)
                self.end_headers()
                arrived.set()

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def test_a_callback_gets_the_result(up):
    up.deploy("echo")
    hook = Hook()
    id = submit(up, "echo", b"x", **{"X-Callback-Url": hook.url})
    assert hook.arrived.wait(DEADLINE_S)
    fields, body = hook.seen[0]
    assert fields["x-faas-parent-call-id"] == id and fields["x-faas-call-status"] == "200"
    assert fields["x-faas-function"] == "default/echo"
    hook.close()


def test_events_are_fanned_out(up):
    for name, type in (("orders", "order.*"), ("all", None)):
        event = {"type": type} if type else {}
        up.deploy(name, {**FAKE, "triggers": [{"name": "t", "event": event}]})
    event = {"specversion": "1.0", "id": "1", "source": "/shop", "type": "order.made", "data": {"n": 1}}

    def post(event, type="application/cloudevents+json"):
        return call(up.gateway, "gateway", "/v1/events/default", "POST", json.dumps(event), {"Content-Type": type})

    wait_for(lambda: post(event).json()["calls"] == 2, "both functions are known")
    assert post(event).json() == {"events": 1, "calls": 2, "repeated": 2}
    assert post([{**event, "id": "2"}, {**event, "id": "3", "type": "x"}],
                "application/cloudevents-batch+json").json() == {"events": 2, "calls": 3, "repeated": 0}
    assert post({"id": "1"}).status == 400
    wait_for(lambda: metric(up, 'dormouse_function_async_calls_total{state="succeeded"}') == 5, "all have run")


def test_a_schedule_fires(up):
    up.deploy("tick", {**FAKE, "triggers": [{"name": "often", "cron": {"schedule": "@every 1s", "body": "{}"}}]})
    wait_for(lambda: metric(up, "dormouse_function_trigger_fired_total") >= 2, "it fires")
    wait_for(lambda: metric(up, 'dormouse_function_async_calls_total{state="succeeded"}') >= 2, "and runs")


def test_changes_of_objects_fire(up):
    watch = {"apiVersion": "v1", "kind": "ConfigMap", "labelSelector": "app=x", "on": ["Added", "Deleted"]}
    up.deploy("seen", {**FAKE, "triggers": [{"name": "maps", "watch": watch}]})
    wait_for(lambda: metric(up, "dormouse_function_trigger_watches") == 1, "it watches")
    maps = "/api/v1/namespaces/default/configmaps"

    def changes():
        return metric(up, "dormouse_function_trigger_changes_total")

    def make(i):
        up.create(maps, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"m{i}", "labels": {"app": "x"}}})
        up.create(maps, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"other{i}"}})
        return True

    numbers = iter(range(1000))
    wait_for(lambda: make(next(numbers)) and changes() >= 1, "it is told of one")
    before = changes()
    last = next(numbers) - 1
    assert up.ask("DELETE", f"{maps}/m{last}").status == 200
    wait_for(lambda: changes() > before, "and of what is deleted")
    assert up.ask("DELETE", FUNCTIONS.format("default") + "/seen").status == 200
    wait_for(lambda: metric(up, "dormouse_function_trigger_watches") == 0, "it watches no more")


def test_a_namespace_with_tokens_takes_no_events_without(up):
    up.create("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}})
    up.create("/api/v1/namespaces/shop/secrets", {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "partner"},
                                                  "stringData": {"token": "0123456789abcdef"}})
    up.create("/apis/dormouse.dev/v1alpha1/namespaces/shop/functionpolicies", {
        "apiVersion": "dormouse.dev/v1alpha1", "kind": "FunctionPolicy", "metadata": {"name": "default"},
        "spec": {"tokens": [{"name": "partner", "secretName": "partner"}]}})
    up.deploy("all", {**FAKE, "triggers": [{"name": "t", "event": {}}]}, namespace="shop")
    event = json.dumps({"specversion": "1.0", "id": "1", "source": "/s", "type": "t"})

    def post(**fields):
        return call(up.gateway, "gateway", "/v1/events/shop", "POST", event,
                    {"Content-Type": "application/cloudevents+json", **fields})

    wait_for(lambda: post().status == 401, "the policy is known")
    good = wait_for(lambda: [a for a in [post(Authorization="Bearer 0123456789abcdef")] if a.json().get("calls") == 1],
                    "the function is known")
    assert good[0].status == 202
    assert call(up.gateway, "gateway", "/async-function/all.shop", "POST", b"x").status == 401


def test_a_call_belongs_to_the_gateway_that_took_it_and_all_know_of_it(tmp_path):
    cell = Cell(tmp_path, controls=1, gateways=2, workers=1)
    cell.deploy("slow", {"fake": {"createMilliseconds": 1, "workMilliseconds": 400}, "concurrency": {"limit": 8}})
    first, second = (g.ready["gateway"].removeprefix("http://") for g in cell.gateways)

    def see(gateway, id, method="GET"):
        return call(gateway, "gateway", f"/v1/async/{id}", method)

    def end(gateway, id):
        def ended():
            answer = see(gateway, id)
            return answer if answer.headers.get("X-Faas-Call-State") in ("succeeded", "canceled") else None
        return wait_for(ended, f"{id} ends at {gateway}")

    ids = [call(gateway, "slow.default", "/", "POST", b"x%d" % i, ASYNC).headers["X-Dormouse-Call-Id"]
           for i in range(4) for gateway in (first, second)]
    assert len({id[:8] for id in ids}) == 2
    for i, id in enumerate(ids):
        for gateway in (first, second):
            answer = end(gateway, id)
            assert answer.status == 200 and answer.body == b"x%d" % (i // 2)
    id = call(first, "slow.default", "/", "POST", b"x", {**ASYNC, "x-fake-sleep-ms": "60000"}).headers["X-Dormouse-Call-Id"]
    assert see(second, id, "DELETE").status in (200, 202)
    assert end(second, id).status == 410

    ids = [call(first, "slow.default", "/", "POST", b"y%d" % i, ASYNC).headers["X-Dormouse-Call-Id"] for i in range(20)]
    cell.gateways[0].kill()
    assert see(second, ids[0]).status in (404, 502)
    cell.gateways[0].start()
    for i, id in enumerate(ids):
        answer = end(second, id)
        assert answer.status == 200 and answer.body == b"y%d" % i
    cell.stop()


def test_a_gateway_by_itself_watches_objects_if_it_has_a_cluster(tmp_path):
    cell = Cell(tmp_path, controls=1, gateways=0, workers=1)
    gateway = Role("gateway", tmp_path / "g", "--listen", "127.0.0.1:0", "--kubeconfig", cell.api.kubeconfig, *cell.addresses)
    cell.gateways.append(gateway)
    cell.deploy("seen", {**FAKE, "triggers": [{"name": "t", "watch": {"apiVersion": "v1", "kind": "ConfigMap"}}]})

    def metric(name):
        text = ask_socket(gateway.data_dir, "GET", "/metrics").body.decode()
        return sum(float(line.split()[-1]) for line in text.splitlines() if line.startswith(name))

    numbers = iter(range(1000))

    def make():
        cell.api.create("/api/v1/namespaces/default/configmaps",
                        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"m{next(numbers)}"}})
        return metric("dormouse_function_trigger_changes_total") >= 2

    wait_for(make, "it is told of changes")
    wait_for(lambda: metric('dormouse_function_async_calls_total{state="succeeded"}') >= 2, "and calls the function")
    cell.stop()


def test_gateways_with_certificates_ask_each_other_by_tls(tmp_path):
    cert, key, token = tmp_path / "cert.pem", tmp_path / "key.pem", tmp_path / "token"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                    "/CN=roles", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", cert], check=True, capture_output=True)
    token.write_text("a token of some length\n")
    words = ["--tls-cert", cert, "--tls-key", key, "--tls-ca", cert, "--token-file", token]
    cell = Cell(tmp_path, controls=1, gateways=0, workers=1, words=words)
    cell.gateways = [Role("gateway", tmp_path / f"g{i}", "--listen", "127.0.0.1:0", "--name", f"g{i}", "--gateway-cert", cert,
                          "--gateway-key", key, *cell.addresses) for i in range(2)]
    names = [cell.deploy(f"echo{i}") for i in range(4)]
    trust = ssl.create_default_context(cafile=str(cert))

    def ask(gateway, host, path, method, body=None, **headers):
        address = gateway.ready["gateway"].removeprefix("https://")
        connection = http.client.HTTPSConnection(address, context=trust, timeout=20)
        connection.request(method, path, body, {"Host": host, **headers})
        response = connection.getresponse()
        answer = Answer(response, response.read())
        connection.close()
        return answer

    for name in names:  # each is owned by one of them
        for gateway in cell.gateways:
            answer = ask(gateway, name, "/", "POST", b"direct")
            assert (answer.status, answer.body) == (200, b"direct"), answer.headers
    for i, taker in enumerate(cell.gateways):
        id = ask(taker, names[i], "/", "POST", b"later", Prefer="respond-async").headers["X-Dormouse-Call-Id"]
        for gateway in cell.gateways:
            wait_for(lambda: ask(gateway, "x", f"/v1/async/{id}", "GET").body == b"later", "the result is there")
    cell.stop()


def test_a_full_disk_refuses_and_loses_nothing(small_disk):
    disk, enlarge = small_disk
    enlarge()
    server = FunctionServer(disk / "data")
    server.deploy("sink", {"fake": {"createMilliseconds": 1, "workMilliseconds": 2000}, "concurrency": {"limit": 100}})
    body, ids = b"\0" * (1 << 20), []
    while True:
        answer = call(server.gateway, "sink.default", "/", "POST", body, {**ASYNC, "x-fake-bytes": "1"})
        if answer.status != 202:
            break
        ids.append(answer.headers["X-Dormouse-Call-Id"])
        assert len(ids) < 500
    assert (answer.status, answer.headers["x-dormouse-reason"]) == (503, "DiskFull"), answer.body
    assert int(answer.headers["Retry-After"]) > 0 and ids
    for id in ids:
        assert result(server, id).status == 200

    def again():  # once the room that the requests took has been given back
        answer = call(server.gateway, "sink.default", "/", "POST", body, {**ASYNC, "x-fake-bytes": "1"})
        return answer.status == 202 and answer.headers["X-Dormouse-Call-Id"]

    assert result(server, wait_for(again, "there is room again")).status == 200
    assert server.stop() == 0
