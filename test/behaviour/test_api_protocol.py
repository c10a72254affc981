# SPDX-License-Identifier: Apache-2.0
"""The wire: authentication, streaming, malformed input, limits; with nothing but Python's own HTTP client."""
import base64
import http.client
import json
import re
import resource
import socket
import ssl
import stat

import pytest

from conftest import wait_for

MAPS = "/api/v1/namespaces/default/configmaps"


def config_map(name, **data):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def raw(api, text, lines=1):
    """Send bytes as they are; the status line of the answer."""
    with api.tls.wrap_socket(socket.create_connection((api.host, api.port), 30), server_hostname=api.host) as s:
        s.sendall(text)
        data = b""
        while b"\r\n" not in data:
            more = s.recv(4096)
            if not more:
                break
            data += more
    return data.split(b"\r\n")[0].decode()


def test_files_are_private(shared_api):
    mode = lambda p: stat.S_IMODE(p.stat().st_mode)
    assert mode(shared_api.data_dir) == 0o700
    for name in ("admin.token", "kubeconfig", "pki/ca.key", "pki/server.key"):
        assert mode(shared_api.data_dir / name) == 0o600


def test_only_the_token_gets_in(shared_api):
    connection = shared_api.connect()
    for value in (None, "Bearer wrong", "Basic " + shared_api.token, "Bearer " + shared_api.token + "x", "Bearer"):
        connection.request("GET", "/api", headers={"Authorization": value} if value else {})
        response = connection.getresponse()
        status = json.loads(response.read())
        shown = value and value.startswith("Bearer ")  # what carries no token is anonymous
        assert (response.status, status["reason"]) == ((401, "Unauthorized") if shown else (403, "Forbidden"))
        assert status["kind"] == "Status"
    assert shared_api.ask("GET", "/api", connection=connection).status == 200
    plain = http.client.HTTPConnection(shared_api.host, shared_api.port, timeout=30)
    try:
        plain.request("GET", "/api")
        assert plain.getresponse().status != 200
    except (http.client.HTTPException, OSError):
        pass


def test_an_answer_says_by_which_id_its_request_is_known(shared_api):
    ids = {shared_api.ask("GET", path).headers["Audit-Id"] for path in ("/api", "/version", "/api/v1/pods/x/y/z", "/apis")}
    assert len(ids) == 4 and all(re.fullmatch("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", i) for i in ids), ids
    assert shared_api.ask("GET", "/api", Audit_ID="mine, and no uuid").headers.get_all("Audit-Id") == ["mine, and no uuid"]


@pytest.mark.parametrize("timeout, status, text", [
    ("5s", 200, None), ("1m30s", 200, None), ("0", 200, None), ("", 200, None),
    ("nonsense", 400, 'invalid timeout specified in the request URL - time: invalid duration "nonsense"'),
    ("5", 400, 'invalid timeout specified in the request URL - time: missing unit in duration "5"'),
])
def test_a_timeout_is_a_time(shared_api, timeout, status, text):
    answer = shared_api.ask("GET", f"/api/v1/namespaces?timeout={timeout}")
    assert answer.status == status
    if text:
        assert (answer.json()["reason"], answer.json()["message"]) == ("BadRequest", text)
    assert shared_api.ask("GET", f"/api/v1/namespaces?watch=1&timeoutSeconds=1&limit=1&timeout={timeout}").status == 200


def test_the_certificate_is_verified_by_its_ca(shared_api):
    stranger = ssl.create_default_context()
    try:
        stranger.wrap_socket(socket.create_connection((shared_api.host, shared_api.port), 30), server_hostname="localhost")
        raise AssertionError("a foreign client must not trust the certificate")
    except ssl.SSLCertVerificationError:
        pass


def test_malformed_requests_are_refused_and_harm_nobody(shared_api):
    token = shared_api.token.encode()
    assert " 400 " in raw(shared_api, b"NONSENSE\r\n\r\n") + " "
    assert " 431 " in raw(shared_api, b"GET /api HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 100000 + b"\r\n\r\n")
    assert " 414 " in raw(shared_api, b"GET /" + b"a" * 40000 + b" HTTP/1.1\r\nHost: x\r\n\r\n")
    head = b"POST " + MAPS.encode() + b" HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer " + token + b"\r\n"
    assert " 400 " in raw(shared_api, head + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n")
    assert " 413 " in raw(shared_api, head + b"Content-Length: 99999999\r\n\r\n")
    for body in ("{", "[]", '"x"', "{}{}", '{"metadata":{"name":1}}', "[" * 100000, '{"metadata":' * 3000, "\x00", ""):
        assert shared_api.ask("POST", MAPS, body).status in (400, 422), body[:20]
    assert shared_api.get("/readyz").body == b"ok"


def test_a_body_at_the_limit_passes_and_one_beyond_does_not(shared_api):
    assert shared_api.ask("POST", "/api/v1/namespaces/default/events", {
        "apiVersion": "v1", "kind": "Event", "metadata": {"name": "big", "namespace": "default"},
        "involvedObject": {"namespace": "default"}, "message": "m" * 900, "reason": "r" * 100}).status == 201
    assert shared_api.ask("POST", MAPS, config_map("big", k="x" * 1000000)).status == 201
    huge = iter([b"x" * 65536] * 48 + [b"y"])  # chunked: only counting finds out
    assert shared_api.ask("POST", MAPS, huge, Transfer_Encoding="chunked").status == 413
    assert shared_api.ask("DELETE", MAPS + "/big").status == 200


def test_a_chunked_body_is_read(shared_api):
    connection = shared_api.connect()
    body = json.dumps(config_map("chunked", k="v")).encode()
    connection.request("POST", MAPS, body=iter([body[:10], body[10:]]), encode_chunked=True,
                       headers=shared_api.headers(Content_Type="application/json", Transfer_Encoding="chunked"))
    assert connection.getresponse().status == 201


def test_one_connection_serves_many_requests(shared_api):
    connection = shared_api.connect()
    for i in range(50):
        assert shared_api.ask("POST", MAPS, config_map(f"many-{i}"), connection=connection).status == 201
    listed = shared_api.ask("GET", MAPS + "?limit=20", connection=connection).json()
    seen = len(listed["items"])
    while listed["metadata"].get("continue"):
        listed = shared_api.ask("GET", MAPS + "?limit=20&continue=" + listed["metadata"]["continue"], connection=connection).json()
        seen += len(listed["items"])
    assert seen == len(shared_api.get(MAPS).json()["items"])


def test_a_watch_follows_from_a_list(shared_api):
    rev = shared_api.get(MAPS).json()["metadata"]["resourceVersion"]
    watch = shared_api.watch(f"{MAPS}?watch=1&resourceVersion={rev}&allowWatchBookmarks=true")
    made = shared_api.create(MAPS, config_map("w", k="1"))
    event = watch.next()
    assert event["type"] == "ADDED" and event["object"] == made
    made["data"]["k"] = "2"
    assert shared_api.ask("PUT", MAPS + "/w", made).status == 200
    assert watch.next()["object"]["data"] == {"k": "2"}
    assert shared_api.ask("PUT", MAPS + "/w", made).status == 409
    shared_api.ask("DELETE", MAPS + "/w")
    gone = watch.next()
    assert gone["type"] == "DELETED" and int(gone["object"]["metadata"]["resourceVersion"]) > int(rev)
    watch.close()


def test_a_streaming_list_ends_with_a_bookmark(shared_api):
    watch = shared_api.watch("/api/v1/namespaces?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true")
    names = set()
    while (event := watch.next())["type"] == "ADDED":
        names.add(event["object"]["metadata"]["name"])
    assert {"default", "kube-system", "kube-public", "kube-node-lease"} <= names
    assert event["type"] == "BOOKMARK" and event["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
    watch.close()


def test_timeout_seconds_ends_a_watch_cleanly(shared_api):
    watch = shared_api.watch(MAPS + "?watch=1&resourceVersion=0&labelSelector=none&timeoutSeconds=1")
    assert watch.next() is None


def pss_kib(api):
    rollup = open(f"/proc/{api.process.pid}/smaps_rollup").read()
    return int(re.search(r"^Pss:\s+(\d+) kB", rollup, re.M).group(1))


def test_a_watcher_that_does_not_read_costs_little_and_misses_nothing(dormouse_api):
    """30 MB of events for somebody who reads later."""
    dormouse_api.create(MAPS, config_map("slow", n="0"))
    watch = dormouse_api.watch(MAPS + "?watch=1&resourceVersion=0&fieldSelector=metadata.name%3Dslow")
    assert watch.next()["type"] == "ADDED"
    before = pss_kib(dormouse_api)
    connection = dormouse_api.connect()
    for i in range(1, 151):
        assert dormouse_api.ask("PUT", MAPS + "/slow", config_map("slow", n=str(i), pad="x" * 200000),
                                connection=connection).status == 200
    assert pss_kib(dormouse_api) - before < 12 * 1024
    for i in range(1, 151):
        assert watch.next()["object"]["data"]["n"] == str(i)
    watch.close()


def test_versions_in_the_past_and_future(shared_api):
    future = shared_api.get(MAPS + "?resourceVersion=99999999")
    assert future.status == 504 and future.json()["reason"] == "Timeout"
    assert future.json()["details"]["causes"][0]["reason"] == "ResourceVersionTooLarge"
    assert shared_api.get(MAPS + "?resourceVersion=0").status == 200
    assert shared_api.get(MAPS + "?resourceVersion=abc").status == 400
    assert shared_api.get(MAPS + "?continue=abc").status == 400


def test_discovery_documents(shared_api):
    accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"
    first = shared_api.get("/apis", Accept=accept)
    assert first.json()["kind"] == "APIGroupDiscoveryList"
    assert "apidiscovery" in first.headers["content-type"]
    assert shared_api.get("/apis", Accept=accept, If_None_Match=first.headers["etag"]).status == 304
    paths = shared_api.get("/openapi/v3").json()["paths"]
    for entry in paths.values():
        assert shared_api.get(entry["serverRelativeURL"]).json()["openapi"].startswith("3.")
    protobuf = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
    document = shared_api.get("/openapi/v2", Accept=protobuf)
    assert document.status == 200 and document.body.startswith(b"\x0a\x032.0")
    assert shared_api.get("/openapi/v2", Accept=protobuf, If_None_Match=document.headers["etag"]).status == 304
    assert shared_api.get("/openapi/v2", Accept="text/plain").status == 406


def test_metrics_count(shared_api):
    shared_api.get(MAPS)
    watch = shared_api.watch(MAPS + "?watch=1")
    text = shared_api.get("/metrics").body.decode()
    watch.close()
    labels = ('verb="LIST",group="",version="v1",resource="configmaps",subresource="",scope="namespace",dry_run="",'
              'component="apiserver"')
    assert re.search(r"^apiserver_request_total\{" + re.escape(labels) + r',code="200"\} [1-9]', text, re.M)
    assert re.search(r"^apiserver_request_duration_seconds_bucket\{" + re.escape(labels) + r',le="1"\} [1-9]', text, re.M)
    for line in ('apiserver_longrunning_requests{verb="WATCH",group="",version="v1",resource="configmaps"',
                 'apiserver_current_inflight_requests{request_kind="readOnly"} 1',
                 'apiserver_flowcontrol_dispatched_requests_total{flow_schema="exempt",priority_level="exempt"}',
                 "apiserver_storage_size_bytes{", "process_resident_memory_bytes ", "kubernetes_build_info{"):
        assert "\n" + line in text, line
    for line in text.splitlines():
        assert re.fullmatch(r"# (HELP|TYPE) .*|[a-z_:]+(\{.*\})? [0-9.]+", line), line


def test_health_speaks_upstreams_words(shared_api):
    for which in ("healthz", "livez", "readyz"):
        plain = shared_api.get("/" + which)
        assert (plain.status, plain.body) == (200, b"ok") and plain.headers["x-content-type-options"] == "nosniff"
        text = shared_api.get(f"/{which}?verbose").body.decode()
        assert text.startswith("[+]ping ok\n[+]etcd ok\n") and text.endswith(f"{which} check passed\n")
        assert shared_api.get(f"/{which}/ping").body == b"ok"
        assert shared_api.get(f"/{which}/none").status == 404
    assert "[+]poststarthook/start-controllers ok\n[+]shutdown ok\n" in shared_api.get("/readyz?verbose").body.decode()
    assert "shutdown" not in shared_api.get("/livez?verbose").body.decode()
    some = shared_api.get("/readyz?verbose=1&exclude=etcd&exclude=nonsense").body.decode()
    assert "[+]etcd excluded: ok\n" in some
    assert 'warn: some health checks cannot be excluded: no matches for "nonsense"\n' in some


def test_too_many_requests_at_once_are_told_to_come_back(dormouse_api):
    """Requests whose bodies do not come count as in flight; beyond the cap others get 429, and go on later."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    head = (f"POST {MAPS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {dormouse_api.token}\r\n"
            "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n").encode()
    waiting = []
    try:
        for _ in range(1024):
            s = dormouse_api.tls.wrap_socket(socket.create_connection((dormouse_api.host, dormouse_api.port), 30),
                                             server_hostname=dormouse_api.host)
            s.sendall(head)
            waiting.append(s)
        refused = wait_for(lambda: (a := dormouse_api.get(MAPS)).status == 429 and a, "the cap to be reached")
        assert refused.headers["retry-after"] == "1" and refused.json()["reason"] == "TooManyRequests"
    finally:
        for s in waiting:
            s.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    wait_for(lambda: dormouse_api.get("/readyz").status == 200, "the server to go on")


class Socket:
    """A WebSocket by hand: what the server sends frame by frame, and the answer to the handshake."""

    def __init__(self, api, path, token=None, **headers):
        self.raw = api.tls.wrap_socket(socket.create_connection((api.host, api.port), 30), server_hostname=api.host)
        fields = {"Host": "x", "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
                  "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", **{k.replace("_", "-"): v for k, v in headers.items()}}
        if token:
            fields["Authorization"] = "Bearer " + token
        self.raw.sendall((f"GET {path} HTTP/1.1\r\n" + "".join(f"{k}: {v}\r\n" for k, v in fields.items()) + "\r\n").encode())
        self.data = b""
        while b"\r\n\r\n" not in self.data:
            self.more()
        head, self.data = self.data.split(b"\r\n\r\n", 1)
        lines = head.decode().split("\r\n")
        self.status = int(lines[0].split()[1])
        self.headers = {k.lower(): v for k, v in (line.split(": ", 1) for line in lines[1:])}

    def more(self):
        chunk = self.raw.recv(65536)
        assert chunk, "the connection ended"
        self.data += chunk

    def take(self, n):
        while len(self.data) < n:
            self.more()
        out, self.data = self.data[:n], self.data[n:]
        return out

    def next(self):
        """(opcode, payload) of the next frame; all are whole, and none is masked."""
        first, second = self.take(2)
        assert first & 0xf0 == 0x80 and second < 128
        n = int.from_bytes(self.take({126: 2, 127: 8}.get(second, 0)), "big") if second >= 126 else second
        return first & 15, self.take(n)

    def event(self):
        op, payload = self.next()
        assert op == 1, op
        return json.loads(payload)

    def send(self, op, payload=b"", mask=b"abcd"):
        masked = bytes(b ^ mask[i % 4] for i, b in enumerate(payload))
        n = bytes([0x80 | len(payload)]) if len(payload) < 126 else b"\xfe" + len(payload).to_bytes(2, "big")
        self.raw.sendall(bytes([0x80 | op]) + n + mask + masked)


def test_a_watch_over_a_websocket(shared_api):
    api = shared_api
    path = f"{MAPS}?watch=1&allowWatchBookmarks=false"
    ws = Socket(api, path + "&resourceVersion=" + api.get(MAPS).json()["metadata"]["resourceVersion"], api.token)
    assert ws.status == 101 and ws.headers["sec-websocket-accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", ws.headers
    api.create(MAPS, config_map("socket", a="x" * 70000))
    event = ws.event()
    assert (event["type"], event["object"]["metadata"]["name"]) == ("ADDED", "socket")
    assert len(event["object"]["data"]["a"]) == 70000
    ws.send(9, b"are you there")
    assert ws.next() == (10, b"are you there")
    ws.send(1, b"nobody reads this" * 20)  # a longer form of the length
    api.ask("DELETE", f"{MAPS}/socket")
    assert ws.event()["type"] == "DELETED"
    ws.send(8, b"\x03\xe8")
    assert ws.next() == (8, b"\x03\xe8")
    assert ws.raw.recv(1) == b""
    ended = Socket(api, path + "&timeoutSeconds=1", api.token)  # the server's end
    frames = []
    while not frames or frames[-1][0] != 8:
        frames.append(ended.next())
    assert frames[-1] == (8, b"\x03\xe8")
    broken = Socket(api, path, api.token)
    broken.raw.sendall(b"\x81\x01x")  # not masked
    while True:
        op, payload = broken.next()
        if op == 8:
            break
    assert payload == b"\x03\xea"
    for s in (ws, ended, broken):
        s.raw.close()


def test_a_token_may_come_as_a_protocol(shared_api):
    api = shared_api
    token = base64.urlsafe_b64encode(api.token.encode()).decode().rstrip("=")
    ws = Socket(api, f"{MAPS}?watch=1", Sec_WebSocket_Protocol=f"base64url.bearer.authorization.k8s.io.{token}, my.protocol")
    assert ws.status == 101 and ws.headers["sec-websocket-protocol"] == "my.protocol"
    ws.raw.close()
    no = Socket(api, f"{MAPS}?watch=1", "wrong")
    assert no.status == 401
    no.raw.close()
    plain = Socket(api, "/version", api.token)  # no watch: answered as it is
    assert plain.status == 200
    plain.raw.close()
