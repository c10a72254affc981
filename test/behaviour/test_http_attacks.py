# SPDX-License-Identifier: Apache-2.0
"""Clients that mean no good, by the hundred; `./dev bench attack` has the same by the ten thousand.

Whatever they do, the server answers others, and its memory stays within bounds.
"""
import json
import select
import socket
import ssl
import struct
import threading

import pytest

from conftest import DEADLINE_S, Server, wait_for

MAPS = "/api/v1/namespaces/default/configmaps"


@pytest.fixture
def api(tmp_path):
    server = Server(tmp_path / "data")
    yield server
    assert server.stop() == 0


def pss_mib(api):
    with open(f"/proc/{api.process.pid}/smaps_rollup") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("Pss:")) / 1024


def dial(api, alpn=None):
    raw = socket.create_connection((api.host, api.port), DEADLINE_S)
    if alpn is None:
        return raw
    tls = ssl.create_default_context(cafile=str(api.data_dir / "pki/ca.crt"))
    tls.set_alpn_protocols([alpn])
    return tls.wrap_socket(raw, server_hostname=api.host)


def hello(api):
    """What a TLS client sends first."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    try:
        api.tls.wrap_bio(incoming, outgoing, server_hostname=api.host).do_handshake()
    except ssl.SSLWantReadError:
        return outgoing.read()


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def field(name, value):
    return b"\0" + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode()


def get(api, stream, path):
    fields = [(":method", "GET"), (":scheme", "https"), (":path", path), (":authority", "x"),
              ("authorization", "Bearer " + api.token)]
    return frame(1, 5, stream, b"".join(field(*f) for f in fields))


PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0)


def read_frames(s):
    """(type, payload) until the connection ends."""
    data = b""
    while True:
        while len(data) < 9 or len(data) < 9 + int.from_bytes(data[:3], "big"):
            try:
                more = s.recv(65536)
            except OSError:
                more = b""
            if not more:
                return
            data += more
        n = int.from_bytes(data[:3], "big")
        yield data[3], data[9:9 + n]
        data = data[9 + n:]


def request_head(api, method, path, *fields):
    return "".join(line + "\r\n" for line in
                   (f"{method} {path} HTTP/1.1", "Host: x", f"Authorization: Bearer {api.token}", *fields, "")).encode()


def answers(api, within_s=10):
    connection = api.connect()
    connection.timeout = within_s
    assert api.ask("GET", "/readyz", connection=connection).body == b"ok"
    connection.close()


@pytest.mark.parametrize("alpn, most_kib", [("http/1.1", 24), ("h2", 36)])
def test_idle_connections_are_cheap(api, alpn, most_kib):
    before, held = pss_mib(api), []
    for _ in range(400):
        s = dial(api, alpn)
        s.sendall(PREFACE + get(api, 1, "/version") if alpn == "h2" else request_head(api, "GET", "/version"))
        assert s.recv(1000)
        held.append(s)
    answers(api)
    assert (pss_mib(api) - before) * 1024 / len(held) < most_kib
    for s in held:
        s.close()


def test_half_a_hello_costs_next_to_nothing(api):
    before = pss_mib(api)
    held = [dial(api) for _ in range(400)]
    for s in held:
        s.sendall(hello(api)[:200])
    answers(api)
    assert pss_mib(api) - before < 4
    for s in held:
        s.close()


def test_handshakes_that_are_not_finished_give_way(api):
    first = hello(api)
    held = [dial(api) for _ in range(600)]
    for s in held:
        s.sendall(first)
    answers(api)

    def cut():
        ended = 0
        for s in held:
            s.setblocking(False)
            try:
                while s.recv(65536):
                    pass
                ended += 1
            except BlockingIOError:
                pass
            except OSError:
                ended += 1
        return ended
    wait_for(lambda: cut() >= 80, "the oldest handshakes to be cut")
    assert cut() < 200
    for s in held:
        s.close()


def test_who_speaks_without_tls_is_told(api):
    s = dial(api)
    s.sendall(b"GET /version HTTP/1.1\r\nHost: x\r\n\r\n")
    assert s.recv(1000) == b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"
    s.close()


@pytest.mark.parametrize("fields, status", [
    ([f"x-{i}: y" for i in range(400)], 431),
    (["x-long: " + "y" * 70000], 431),
    (["cookie: " + "a=b; " * 10000] * 2, 431),
])
def test_floods_of_fields_are_refused(api, fields, status):
    s = dial(api, "http/1.1")
    s.sendall(request_head(api, "GET", "/version", *fields))
    assert s.recv(1000).startswith(b"HTTP/1.1 %d" % status)
    s.close()
    answers(api)


@pytest.mark.parametrize("body", ["[" * 100000, '{"a":' * 50000, '{"data":{"a":' + "1" * 100000 + "}}"],
                         ids=["arrays", "objects", "number"])
def test_deep_and_odd_json_is_refused(api, body):
    assert api.ask("POST", MAPS, body).status == 400
    answers(api)


def test_who_sends_too_much_can_read_why(api):
    s = dial(api, "http/1.1")
    s.sendall(request_head(api, "POST", MAPS, "Content-Type: application/json", f"Content-Length: {1 << 30}"))
    try:
        for _ in range(64):  # 4 MiB that nobody wants
            if select.select([s], [], [], 0)[0]:
                break
            s.sendall(b" " * 65536)
    except OSError:
        pass
    assert s.recv(1000).startswith(b"HTTP/1.1 413")
    s.close()


def test_large_bodies_in_parallel_stay_bounded(api):
    body = json.dumps({"metadata": {"generateName": "big-"}, "data": {"a": "x" * (3000 << 10)}})
    statuses = []

    def post():
        for _ in range(2):
            statuses.append(api.ask("POST", MAPS, body).status)
    threads = [threading.Thread(target=post) for _ in range(16)]
    for t in threads:
        t.start()
    answers(api)
    for t in threads:
        t.join()
    assert len(statuses) == 32 and set(statuses) <= {201, 422, 429}
    assert pss_mib(api) < 300


def test_rapid_resets_end_the_connection(api):
    s = dial(api, "h2")
    s.sendall(PREFACE + b"".join(get(api, 2 * i + 1, "/version") + frame(3, 0, 2 * i + 1, b"\0\0\0\x08")
                                 for i in range(700)))
    goaway = [payload for kind, payload in read_frames(s) if kind == 7]
    assert goaway and goaway[-1][4:8] == b"\0\0\0\x0b"  # ENHANCE_YOUR_CALM
    s.close()
    answers(api)


def test_answers_that_are_not_read_stay_bounded(api):
    connection = api.connect()
    for i in range(100):
        body = {"metadata": {"name": f"m{i}"}, "data": {"a": "x" * 20000}}
        assert api.ask("POST", MAPS, body, connection=connection).status == 201
    held = []
    for i in range(4):
        s = dial(api, "h2")  # 100 times 2 MiB each
        s.sendall(PREFACE + b"".join(get(api, 2 * k + 1, "/api/v1/configmaps") for k in range(100)))
        held.append(s)
        s = dial(api, "http/1.1")
        s.sendall(request_head(api, "GET", "/api/v1/configmaps"))
        held.append(s)
    answers(api, 20)
    assert pss_mib(api) < 250
    for s in held:
        s.close()
    wait_for(lambda: pss_mib(api) < 100, "memory to come back")


def test_frames_that_nobody_reads_are_bounded(tmp_path):
    """Requests that are malformed are answered by resets, which wait while the client leaves its answers unread."""
    api = Server(tmp_path / "data")
    for i in range(50):
        api.create(MAPS, {"metadata": {"name": f"m{i}"}, "data": {"k": "v" * 20000}})
    s = dial(api, "h2")
    wide = frame(4, 0, 0, struct.pack(">HI", 4, (1 << 31) - 1)) + frame(8, 0, 0, struct.pack(">I", 1 << 30))
    s.sendall(PREFACE + wide + b"".join(get(api, 1 + 2 * i, MAPS) for i in range(8)))
    api.get("/readyz")
    cut, stream = False, 101
    while not cut and stream < 1200000:
        try:
            s.sendall(b"".join(frame(1, 5, stream + 2 * i, b"\x82") for i in range(10000)))
        except OSError:
            cut = True
        stream += 20000
    assert cut
    assert pss_mib(api) < 64
    s.close()
    assert api.stop() == 0
