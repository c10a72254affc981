# SPDX-License-Identifier: Apache-2.0
"""More requests than the server works on at once: who waits, who is refused, who is not."""
import json
import socket
import time

import pytest

from conftest import DEADLINE_S, Server

MAPS = "/api/v1/namespaces/default/configmaps"


@pytest.fixture
def api(tmp_path):
    server = Server(tmp_path / "data")
    server.create("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
        "metadata": {"name": "overload"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": n} for n in ("greedy", "modest")]})
    yield server
    server.stop()


def begin_create(api, user):
    """A create whose body does not come: it holds its seat until the connection closes."""
    s = api.tls.wrap_socket(socket.create_connection((api.host, api.port), DEADLINE_S), server_hostname=api.host)
    s.sendall(f"POST {MAPS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {api.token}\r\nImpersonate-User: {user}\r\n"
              "Content-Type: application/json\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n".encode())
    s.setblocking(False)
    return s


def output(s):
    try:
        return s.recv(4096)
    except (BlockingIOError, OSError):
        return b""


def metric(api, name, level):
    for line in api.get("/metrics").body.decode().splitlines():
        if line.startswith("apiserver_flowcontrol_" + name) and f'priority_level="{level}"' in line:
            return int(float(line.rsplit(" ", 1)[1]))
    return 0


def test_a_greedy_user_is_refused_and_a_modest_one_waits_his_turn(api):
    held, refused = [], None
    while not refused:
        assert len(held) < 600, "nobody is refused"
        held += [begin_create(api, "greedy") for _ in range(20)]
        api.get("/readyz")  # the server has seen them
        texts = [output(s) for s in held[-20:]]
        refused = next((t for t in texts if t.startswith(b"HTTP/1.1 429")), None)
    head, body = refused.split(b"\r\n\r\n", 1)
    status = json.loads(body)
    assert b"retry-after: 1" in head.lower()
    assert status["reason"] == "TooManyRequests" and status["message"] == "Too many requests, please try again later."
    assert status["details"]["retryAfterSeconds"] == 1
    assert metric(api, "rejected_requests_total", "global-default") > 0
    assert metric(api, "current_inqueue_requests", "global-default") == 50
    assert metric(api, "nominal_limit_seats", "global-default") == 49

    assert api.get(MAPS).status == 200  # who is in system:masters is not asked to wait

    connection = api.connect()
    connection.request("GET", MAPS, headers=api.headers(Impersonate_User="modest"))
    deadline = time.monotonic() + DEADLINE_S
    while metric(api, "current_inqueue_requests", "global-default") != 51:
        assert time.monotonic() < deadline
    held.pop(0).close()  # one seat; fifty of the greedy one's wait longer
    assert connection.getresponse().status == 200
    for s in held:
        s.close()
    while metric(api, "current_executing_requests", "global-default"):
        assert time.monotonic() < deadline
    assert metric(api, "current_inqueue_requests", "global-default") == 0
