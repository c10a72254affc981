# SPDX-License-Identifier: Apache-2.0
"""Registries: Debian's docker-registry, and a small one in Python that can misbehave in the ways of the real ones."""
import base64
import contextlib
import hashlib
import http.server
import json
import re
import select
import shutil
import socket
import subprocess
import threading
import time
import urllib.parse

from conftest import DEADLINE_S, wait_for

REGISTRY = shutil.which("docker-registry")


def digest(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


class Fake(http.server.ThreadingHTTPServer):
    """blobs and manifests are dictionaries; `faults` is a list of (method, part of the path, function of the handler).

    A fault is used once; its function answers the request and returns True, or returns None to have it served.
    """
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.blobs, self.manifests, self.uploads = {}, {}, {}
        self.faults, self.seen = [], []
        self.lock = threading.Lock()
        self.auth = None          # None, "basic", "bearer"
        self.users = {}           # name -> password
        self.refresh = None       # a refresh token that is taken
        self.token_fault = None   # a function of the handler that answers for the token service
        self.tokens, self.asked, self.expires_in = set(), [], 300
        self.knows_ranges = True      # it answers Range
        self.knows_many = True        # with several ranges, too
        self.thread = threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()

    @property
    def port(self):
        return self.server_address[1]

    @property
    def host(self):
        return f"127.0.0.1:{self.port}"

    def close(self):
        self.shutdown()
        self.server_close()

    def handle_error(self, request, client_address):
        pass  # a client that goes away

    def blob(self, data):
        self.blobs[digest(data)] = data
        return data

    def add_layout(self, layout, repository, tag):
        """The image of that name, from an OCI layout (image_kit)."""
        index = json.loads((layout.directory / "index.json").read_text())
        found = next(m for m in index["manifests"] if m.get("annotations", {}).get("org.opencontainers.image.ref.name") == tag)
        return self.add_manifest(layout, found, repository, tag)

    def add_manifest(self, layout, descriptor, repository, *names):
        data = (layout.directory / "blobs/sha256" / descriptor["digest"][7:]).read_bytes()
        doc = json.loads(data)
        for m in {m["digest"]: m for m in doc.get("manifests", [])}.values():
            self.add_manifest(layout, m, repository)
        for d in [doc[k] for k in ("config",) if k in doc] + doc.get("layers", []):
            self.blob((layout.directory / "blobs/sha256" / d["digest"][7:]).read_bytes())
        for name in (*names, descriptor["digest"]):
            self.manifests[repository, name] = (descriptor["mediaType"], data)
        return doc

    def paths(self, method=None):
        return [path for m, path, _ in self.seen if method in (None, m)]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True

    def log_message(self, *args):
        pass

    def reply(self, status, body=b"", **headers):
        self.send_response(status)
        for k, v in headers.items():
            self.send_header(k.replace("_", "-"), v)
        if "Content_Length" not in headers:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        self.wfile.flush()
        return True

    def error(self, status, code, **headers):
        return self.reply(status, json.dumps({"errors": [{"code": code, "message": f"it is {code}"}]}).encode(), **headers)

    def hang_up(self):
        """Without an end of what was begun."""
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)
        return True

    def handle_all(self):
        server, url = self.server, urllib.parse.urlsplit(self.path)
        self.query = urllib.parse.parse_qs(url.query)
        self.body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        with server.lock:
            server.seen.append((self.command, self.path, {k.title(): v for k, v in self.headers.items()}))
            fault = next((f for f in server.faults if f[0] == self.command and f[1] in self.path), None)
            if fault:
                server.faults.remove(fault)
        if url.path == "/token":
            return server.token_fault(self) if server.token_fault else self.token()
        if not self.is_allowed():
            return self.challenge()
        if fault and fault[2](self):
            return None
        if url.path == "/v2/_catalog":
            return self.reply(200, json.dumps({"repositories": sorted({r for r, _ in server.manifests})}).encode())
        if listed := re.fullmatch(r"/v2/(.+)/tags/list", url.path):
            return self.tags(listed[1])
        match = re.fullmatch(r"/v2/(.+)/(manifests|blobs|referrers)/(.*)", url.path)
        if not match:
            return self.error(404, "NAME_UNKNOWN")
        if match[3].startswith("uploads/"):
            return self.upload(match[1], match[3][8:])
        return getattr(self, match[2])(match[1], match[3])

    do_GET = do_HEAD = do_PUT = do_POST = do_PATCH = handle_all

    # ---- who may

    def user(self):
        kind, _, value = self.headers.get("Authorization", "").partition(" ")
        if kind != "Basic":
            return None
        name, _, password = base64.b64decode(value).decode().partition(":")
        return name if self.server.users.get(name) == password else None

    def is_allowed(self):
        if self.server.auth == "basic":
            return self.user()
        if self.server.auth == "bearer":
            return self.headers.get("Authorization", "")[7:] in self.server.tokens
        return True

    def challenge(self):
        repository = "/".join(self.path.split("/")[2:]).split("/manifests/")[0].split("/blobs/")[0]
        action = "pull" if self.command in ("GET", "HEAD") else "pull,push"
        return self.error(401, "UNAUTHORIZED", WWW_Authenticate="Basic realm=x" if self.server.auth == "basic" else
                          f'Bearer realm="http://{self.server.host}/token",service="fake",scope="repository:{repository}:{action}"')

    def token(self):
        server = self.server
        form = urllib.parse.parse_qs(self.body.decode()) if self.command == "POST" else self.query
        server.asked.append((self.command, self.user(), form))
        is_refreshed = server.refresh and form.get("refresh_token") == [server.refresh]
        if server.users and not self.user() and not is_refreshed:
            return self.error(401, "UNAUTHORIZED")
        text = f"token-{len(server.asked)}"
        server.tokens.add(text)
        return self.reply(200, json.dumps({"token": text, "expires_in": server.expires_in}).encode())

    # ---- what it has

    def manifests(self, repository, name):
        server = self.server
        if self.command == "PUT":
            media_type = self.headers["Content-Type"]
            for key in {name, digest(self.body)}:
                server.manifests[repository, key] = (media_type, self.body)
            return self.reply(201, Docker_Content_Digest=digest(self.body))
        if (repository, name) not in server.manifests:
            return self.error(404, "MANIFEST_UNKNOWN")
        media_type, data = server.manifests[repository, name]
        if self.headers.get("If-None-Match") == f'"{digest(data)}"':
            return self.reply(304)
        return self.reply(200, data, Content_Type=media_type, Docker_Content_Digest=digest(data))

    def tags(self, repository):
        """One page after the other, of two names."""
        names = sorted(n for r, n in self.server.manifests if r == repository and not n.startswith("sha256:"))
        if not names:
            return self.error(404, "NAME_UNKNOWN")
        last = self.query.get("last", [""])[0]
        page = [n for n in names if n > last][:2]
        more = {"Link": f'</v2/{repository}/tags/list?last={page[-1]}&n=2>; rel="next"'} if page and page[-1] != names[-1] else {}
        return self.reply(200, json.dumps({"name": repository, "tags": page}).encode(), **more)

    def blobs(self, repository, name):
        data = self.server.blobs.get(name)
        if data is None:
            return self.error(404, "BLOB_UNKNOWN")
        return self.send_blob(data)

    def send_ranges(self, data, ranges, cut=None):
        """multipart/byteranges; cut: so many bytes of it alone."""
        parts = [b"--THIS_IS_IT\r\nContent-Range: bytes %d-%d/%d\r\nContent-Type: application/octet-stream\r\n\r\n%b\r\n" %
                 (low, high - 1, len(data), data[low:high]) for low, high in ranges]
        body = b"".join(parts) + b"--THIS_IS_IT--\r\n"
        self.close_connection = cut is not None
        return self.reply(206, body[:cut], Content_Type="multipart/byteranges; boundary=THIS_IS_IT", Content_Length=str(len(body)))

    def send_blob(self, data):
        several = re.fullmatch(r"bytes=\d+-\d+(,\d+-\d+)+", self.headers.get("Range", ""))
        if several and self.server.knows_ranges and self.server.knows_many:
            return self.send_ranges(data, asked(self))
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if not wanted or not self.server.knows_ranges:
            return self.reply(200, data)
        start, end = int(wanted[1]), int(wanted[2]) + 1 if wanted[2] else len(data)
        if start >= len(data):
            return self.error(416, "RANGE_INVALID")
        part = data[start:end]
        return self.reply(206, part, Content_Range=f"bytes {start}-{start + len(part) - 1}/{len(data)}")

    def referrers(self, repository, name):
        return self.error(404, "UNSUPPORTED")

    # ---- what it takes

    def upload(self, repository, name):
        server = self.server
        if self.command == "POST":
            if "mount" in self.query and self.query["mount"][0] in server.blobs:
                return self.reply(201, Location=f"/v2/{repository}/blobs/{self.query['mount'][0]}")
            name = f"u{len(server.uploads)}"
            server.uploads[name] = b""
            return self.reply(202, Location=f"/v2/{repository}/blobs/uploads/{name}?state=1")
        if name not in server.uploads:
            return self.error(404, "BLOB_UPLOAD_UNKNOWN")
        place = f"/v2/{repository}/blobs/uploads/{name}?state={len(server.uploads[name]) + 1}"
        if self.command == "GET":
            return self.reply(204, Location=place, Range=f"0-{max(0, len(server.uploads[name]) - 1)}")
        if self.command == "PATCH":
            start = int(self.headers.get("Content-Range", "0-").split("-")[0])
            if start != len(server.uploads[name]):
                return self.error(416, "RANGE_INVALID")
            server.uploads[name] += self.body
            return self.reply(202, Location=place, Range=f"0-{len(server.uploads[name]) - 1}")
        data = server.uploads.pop(name) + self.body
        if digest(data) != self.query["digest"][0]:
            return self.error(400, "DIGEST_INVALID")
        server.blobs[digest(data)] = data
        return self.reply(201, Location=f"/v2/{repository}/blobs/{digest(data)}")


# ---- faults

def answer(status, code="UNAVAILABLE", **headers):
    return lambda h: h.error(status, code, **headers)


def asked(h):
    """The ranges that a request asks for."""
    return [(int(low), int(high) + 1) for low, high in (part.split("-") for part in h.headers["Range"].removeprefix("bytes=").split(","))]


def cut_after(n_bytes):
    """Announce all of the blob, send a part, hang up."""
    def fault(h):
        data = h.server.blobs[h.path.split("/")[-1]]
        wanted = re.fullmatch(r"bytes=(\d+)-", h.headers.get("Range", ""))
        start = int(wanted[1]) if wanted and h.server.knows_ranges else 0
        h.send_response(206 if start else 200)
        if start:
            h.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        h.send_header("Content-Length", str(len(data) - start))
        h.end_headers()
        h.wfile.write(data[start:start + n_bytes])
        h.wfile.flush()
        return h.hang_up()
    return fault


def stall_after(n_bytes, released):
    """Send a part and then nothing, until the event."""
    def fault(h):
        data = h.server.blobs[h.path.split("/")[-1]]
        h.send_response(200)
        h.send_header("Content-Length", str(len(data)))
        h.end_headers()
        h.wfile.write(data[:n_bytes])
        h.wfile.flush()
        released.wait(DEADLINE_S)
        return h.hang_up()
    return fault


@contextlib.contextmanager
def fake():
    server = Fake()
    try:
        yield server
    finally:
        server.close()


@contextlib.contextmanager
def real(directory, **settings):
    """Debian's docker-registry on a free port; yields HOST:PORT."""
    config = directory / "registry.json"
    with socket.create_server(("127.0.0.1", 0)) as s:
        port = s.getsockname()[1]
    config.write_text(json.dumps({"version": 0.1, "storage": {"filesystem": {"rootdirectory": str(directory / "registry")}},
                                  "http": {"addr": f"127.0.0.1:{port}", **settings.get("http", {})},
                                  **{k: v for k, v in settings.items() if k != "http"}}))
    with open(directory / "registry.log", "w") as log:
        process = subprocess.Popen([REGISTRY, "serve", config], stdout=log, stderr=log)

    def is_there():
        assert process.poll() is None, (directory / "registry.log").read_text()
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return True
        except OSError:
            time.sleep(0.01)
            return False

    try:
        wait_for(is_there, "docker-registry")
        yield f"127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(DEADLINE_S)


class Proxy(http.server.ThreadingHTTPServer):
    """Passes on to one server whatever host a client names: CONNECT, and plain requests with a whole URL. With `login`
    ("user:password") it wants that. `seen`: (method, target, Proxy-Authorization) of each request."""
    daemon_threads = True

    def __init__(self, to_port, login=None):
        super().__init__(("127.0.0.1", 0), ProxyHandler)
        self.to_port, self.seen = to_port, []
        self.wanted = login and "Basic " + base64.b64encode(login.encode()).decode()
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()

    def handle_error(self, request, client_address):
        pass  # a client that goes away


class ProxyHandler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def is_allowed(self):
        login = self.headers.get("Proxy-Authorization")
        self.server.seen.append((self.command, self.path, login))
        if self.server.wanted in (None, login):
            return True
        self.send_response(407)
        self.send_header("Proxy-Authenticate", "Basic")
        self.send_header("Content-Length", "0")
        self.end_headers()
        return False

    def do_CONNECT(self):
        if not self.is_allowed():
            return
        with socket.create_connection(("127.0.0.1", self.server.to_port)) as there:
            self.send_response(200)
            self.end_headers()
            ways = {self.connection: there, there: self.connection}
            while True:
                for one in select.select(list(ways), [], [])[0]:
                    data = one.recv(1 << 16)
                    if not data:
                        self.close_connection = True
                        return
                    ways[one].sendall(data)

    def do_GET(self):
        if not self.is_allowed():
            return
        url = urllib.parse.urlsplit(self.path)
        there = http.client.HTTPConnection("127.0.0.1", self.server.to_port)
        kept = {k: v for k, v in self.headers.items() if not k.lower().startswith("proxy-")}
        there.request(self.command, url.path + (url.query and "?" + url.query), headers=kept)
        answer = there.getresponse()
        body = answer.read()
        self.send_response(answer.status)
        for key, value in answer.getheaders():
            if key.lower() != "transfer-encoding":
                self.send_header(key, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        there.close()

    do_HEAD = do_GET
