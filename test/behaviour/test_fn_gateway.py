# SPDX-License-Identifier: Apache-2.0
"""The gateway as clients see it, in real processes: curl in HTTP/1.1 and HTTP/2, bad input, slow clients, several gateways."""
import concurrent.futures
import http.client
import os
import pathlib
import select
import signal
import socket
import subprocess
import threading

import pytest

from conftest import DEADLINE_S, wait_for
from functions_kit import FAKE, FunctionServer, Role, ask_socket, call


@pytest.fixture(scope="module")
def up(tmp_path_factory):
    server = FunctionServer(tmp_path_factory.mktemp("gw") / "data")
    for name, spec in {
        "f": FAKE,
        "small": {**FAKE, "limits": {"bodyBytes": 1000}},
        "one": {**FAKE, "concurrency": {"limit": 1}, "scale": {"max": 1}, "queue": {"max": 3},
                "timeouts": {"queueMilliseconds": 2000}},
        "short": {**FAKE, "timeouts": {"requestMilliseconds": 2000}},
        "many": {**FAKE, "concurrency": {"limit": 1}, "scale": {"max": 1}},
    }.items():
        server.deploy(name, spec)
        wait_for(lambda: call(server.gateway, f"{name}.default").status == 200, f"{name} answers")
    yield server
    assert server.stop() == 0


def curl(*words, data=None):
    """Output of curl, with the status on a line of its own behind it."""
    done = subprocess.run(["curl", "-sS", "-w", "\n%{http_code}", "--max-time", str(DEADLINE_S), *words], input=data,
                          capture_output=True, timeout=DEADLINE_S + 5)
    body, _, status = done.stdout.rpartition(b"\n")
    return int(status), body


def begin(up, name, *fields):
    """A request whose answer is not awaited; who closes it cancels it."""
    client = socket.create_connection(up.gateway.rsplit(":", 1), DEADLINE_S)
    client.sendall("".join(line + "\r\n" for line in ("GET / HTTP/1.1", f"Host: {name}.default", *fields, "")).encode())
    return client


def metric(up, name):
    """The sum of all samples of this name."""
    text = admin(up, "/metrics")
    return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.split("{")[0].split(" ")[0] == name)


def admin(up, path):
    return ask_socket(up.data_dir, "GET", path).body.decode()


@pytest.mark.parametrize("version", ["--http1.1", "--http2-prior-knowledge"])
def test_bodies_pass_in_every_version(up, version):
    body = os.urandom(300000)
    status, echoed = curl(version, "-H", "Host: f.default", "--data-binary", "@-", f"http://{up.gateway}/", data=body)
    assert (status, echoed) == (200, body)
    status, echoed = curl(version, "-H", "Host: f.default", "-H", "Transfer-Encoding: chunked" if "1" in version else "X: y",
                          "-T", "-", f"http://{up.gateway}/", data=body)
    assert (status, echoed) == (200, body)


def test_unknown_functions_get_a_hint(up):
    answer = call(up.gateway, "nobody.default")
    assert answer.status == 404 and answer.headers["x-dormouse-reason"] == "UnknownFunction"
    assert b"/fn/NAMESPACE/NAME/" in answer.body
    answer = call(up.gateway, "x", "/fn/default/nobody/a")
    assert answer.status == 404 and b"'nobody' in namespace 'default'" in answer.body


def test_a_large_body_is_413(up):
    assert call(up.gateway, "small.default", "/", "POST", b"x" * 1000).status == 200
    answer = call(up.gateway, "small.default", "/", "POST", b"x" * 1001)
    assert (answer.status, answer.headers["x-dormouse-reason"]) == (413, "BodyTooLarge")
    answer = call(up.gateway, "small.default", "/", "POST", iter([b"x" * 900, b"y" * 900]),
                  {"x-fake-sleep-ms": "5000"})  # chunked, and the answer has not begun
    assert (answer.status, answer.headers["x-dormouse-reason"]) == (413, "BodyTooLarge")


def test_bad_ends_have_reasons(up):
    for end, status in {"trap": 502, "reset": 502, "busy": 503}.items():
        answer = call(up.gateway, "f.default", "/", "POST", headers={"x-fake-end": end})
        assert answer.status == status and answer.headers["x-dormouse-reason"], end
    assert call(up.gateway, "f.default").status == 200


def test_a_slow_function_is_504(up):
    answer = call(up.gateway, "short.default", headers={"x-fake-sleep-ms": "60000"})
    assert (answer.status, answer.headers["x-dormouse-reason"]) == (504, "RequestTimeout")
    assert call(up.gateway, "short.default").status == 200


def test_a_full_queue_says_when_to_come_back(up):
    hold = begin(up, "one", "x-fake-sleep-ms: 60000")
    wait_for(lambda: metric(up, "request_concurrency") == 1, "one runs")
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        waiting = [pool.submit(call, up.gateway, "one.default") for _ in range(3)]
        wait_for(lambda: metric(up, "queue_depth") == 3, "three wait")
        full = [call(up.gateway, "one.default") for _ in range(4)]
        late = [w.result() for w in waiting]
    hold.close()
    assert [a.headers["x-dormouse-reason"] for a in full + late] == ["QueueFull"] * 4 + ["QueueTimeout"] * 3
    assert all(a.status == 503 and a.headers["retry-after"] for a in full + late)


def test_waiting_requests_are_served_in_order(up):
    """Begun one after the other, each seen in the queue before the next comes. One that runs has sent its head, and no end."""
    clients = [begin(up, "many", "x-fake-bytes: 1000000", "x-fake-chunk-ms: 60000")]
    wait_for(lambda: metric(up, "request_concurrency") == 1, "the first one runs")
    for i in range(8):
        clients.append(begin(up, "many", "x-fake-bytes: 1000000", "x-fake-chunk-ms: 60000"))
        wait_for(lambda i=i: metric(up, "queue_depth") == i + 1, f"{i + 1} wait")
    while clients:
        running, _, _ = select.select(clients, [], [], DEADLINE_S)
        assert running == clients[:1]
        assert clients[0].recv(100).startswith(b"HTTP/1.1 200 ")
        clients.pop(0).close()


def test_a_client_that_stops_reading_costs_little(up):
    """500 MB are asked for; who does not read gets what fits between, and the server holds no more."""
    def memory():
        text = pathlib.Path(f"/proc/{up.process.pid}/smaps_rollup").read_text()
        return int(next(line for line in text.splitlines() if line.startswith("Pss:")).split()[1])
    before = memory()
    clients = []
    for _ in range(4):
        client = socket.create_connection(up.gateway.rsplit(":", 1))
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.sendall(b"GET / HTTP/1.1\r\nHost: f.default\r\nx-fake-bytes: 500000000\r\n\r\n")
        assert client.recv(100)
        clients.append(client)
    assert call(up.gateway, "f.default").status == 200
    assert memory() - before < 16 << 10
    for client in clients:
        client.close()
    wait_for(lambda: metric(up, "request_concurrency") == 0, "they are canceled")


def test_a_client_that_leaves_frees_its_sandbox(up):
    client = http.client.HTTPConnection(up.gateway)
    client.request("GET", "/", headers={"Host": "many.default", "x-fake-sleep-ms": "60000"})
    wait_for(lambda: metric(up, "request_concurrency") == 1, "it runs")
    client.close()
    assert call(up.gateway, "many.default").status == 200


@pytest.mark.parametrize("sent", [b"GET / HTTP/1.1\r\nHost: f\r\nHost: g\r\n\r\n", b"GARBAGE\r\n\r\n", b"\x16\x03\x01\x02\x00\x01" * 20,
                                  b"POST / HTTP/1.1\r\nHost: f\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"])
def test_garbage_gets_400(up, sent):
    with socket.create_connection(up.gateway.rsplit(":", 1)) as client:
        client.sendall(sent)
        assert client.recv(4096).startswith(b"HTTP/1.1 400")


def test_metrics_have_knatives_names(up):
    before = metric(up, "revision_request_count")
    assert call(up.gateway, "f.default").status == 200
    assert metric(up, "revision_request_count") == before + 1
    text = admin(up, "/metrics")
    assert 'revision_request_latencies_bucket{namespace_name="default",configuration_name="f",revision_name="f-00001",le="' in text


# ---------------------------------------------------------------- several gateways


@pytest.fixture
def pair(tmp_path):
    """`dormouse up` and two more gateways that listen on one port of two addresses."""
    with socket.socket() as free:
        free.bind(("127.0.0.2", 0))
        port = free.getsockname()[1]
    up = FunctionServer(tmp_path / "up", extra=("--fn-listen", "127.0.0.1:0"))
    gateways = [Role("gateway", tmp_path / f"g{i}", "--listen", f"127.0.0.{i + 2}:{port}", "--name", f"g{i}", "-c",
                     up.ready["control-plane"], "--token-file", tmp_path / "up/fn.token") for i in range(2)]
    yield up, gateways, port
    for gateway in gateways:
        gateway.stop()
    assert up.stop() == 0


def test_every_gateway_answers_for_every_function_and_one_may_die(pair):
    up, gateways, port = pair
    names = [f"m{i}" for i in range(12)]
    for name in names:
        up.deploy(name)
    addresses = [f"127.0.0.{i + 2}:{port}" for i in range(2)] + [up.gateway]
    for address in addresses:
        for name in names:
            wait_for(lambda a=address, n=name: call(a, f"{n}.default").status == 200, f"{name} through {address}")
    gateways[0].process.send_signal(signal.SIGKILL)
    gateways[0].process.wait(DEADLINE_S)
    for name in names:  # also those that it owned; and a client with both addresses takes the other
        assert call(up.gateway, f"{name}.default", "/", "POST", b"x").status == 200
        status, _ = curl("--resolve", f"{name}.default:{port}:127.0.0.2,127.0.0.3", f"http://{name}.default:{port}/")
        assert status == 200


def test_a_gateway_that_stops_loses_no_request(pair):
    up, gateways, port = pair
    up.deploy("w", {**FAKE, "concurrency": {"limit": 20}})
    wait_for(lambda: call(f"127.0.0.2:{port}", "w.default").status == 200, "it answers")
    statuses = []
    threads = [threading.Thread(target=lambda: statuses.append(
        call(f"127.0.0.2:{port}", "w.default", headers={"x-fake-sleep-ms": "700"}).status)) for _ in range(10)]
    for thread in threads:
        thread.start()
    wait_for(lambda: sum(metric(g, "request_concurrency") for g in [*gateways, up]) >= 10, "all run")
    gateways[0].process.send_signal(signal.SIGTERM)
    for thread in threads:
        thread.join()
    assert statuses == [200] * 10
    assert gateways[0].process.wait(DEADLINE_S) == 0
