# SPDX-License-Identifier: Apache-2.0
"""A gate between lazy starts and `image serve`."""
import hashlib
import http.client
import http.server
import struct
import threading

from conftest import DEADLINE_S


def sha256(data):
    return hashlib.sha256(data).hexdigest()


class Valve(http.server.ThreadingHTTPServer):
    """In front of `image serve`: requests for files wait unless all of them are in `open`, or are refused."""
    daemon_threads = True

    def __init__(self, host):
        super().__init__(("127.0.0.1", 0), Through)
        self.target, self.open, self.is_refusing, self.asked = host, None, False, []
        self.withheld = None    # a file of which it says that it does not have it
        self.instead = {}       # path of a GET: the body of its answer
        self.held = set()       # words of paths of GETs that wait
        self.breaks = {}        # a word of a path: so many requests for it get no answer
        self.changed = threading.Condition()
        self.is_over = False
        self.host = "127.0.0.1:%d" % self.server_address[1]
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def set(self, **what):
        with self.changed:
            for name, value in what.items():
                setattr(self, name, value)
            self.changed.notify_all()

    def breaks_off(self, path):
        with self.changed:
            word = next((w for w, n in self.breaks.items() if n and w in path), None)
            if word:
                self.breaks[word] -= 1
            return word is not None

    def wait_held(self, path):
        with self.changed:
            self.changed.wait_for(lambda: self.is_over or not any(word in path for word in self.held), DEADLINE_S)

    def may_pass(self, digests):
        with self.changed:
            self.asked.append(digests)
            self.changed.wait_for(lambda: self.is_over or self.is_refusing or self.open is None or set(digests) <= self.open, DEADLINE_S)
            return not (self.is_over or self.is_refusing)

    def close(self):
        self.set(is_over=True)
        self.shutdown()
        self.server_close()


class Through(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def carry(self, method, body=None):
        connection = http.client.HTTPConnection(self.server.target, timeout=DEADLINE_S)
        try:
            connection.request(method, self.path, body, {k: v for k, v in self.headers.items() if k.lower() not in ("host", "content-length", "connection")})
            answer = connection.getresponse()
            data = answer.read()
            if method == "GET":
                data = self.server.instead.get(self.path, data)
        finally:
            connection.close()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("content-length", "transfer-encoding", "connection", "date", "server"):
                self.send_header(name, value)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        self.server.wait_held(self.path)
        if self.server.breaks_off(self.path):
            self.close_connection = True
        else:
            self.carry("GET")

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        layers, bases, files = struct.unpack_from("<III", body, 12)
        digests = [body[at:at + 32].hex() for at in range(24 + 32 * (layers + bases), len(body), 32)]
        assert len(digests) == files
        if not self.server.breaks_off(self.path) and self.server.may_pass(digests):
            withheld = self.server.withheld
            self.carry("POST", body.replace(bytes.fromhex(withheld), bytes(32)) if withheld else body)
        else:
            self.close_connection = True


def sum64(data, seed):
    """src/base/sum.c"""
    k0, k1, k2, ones = 0x9e3779b97f4a7c15, 0xd1b54a32d192ed03, 0x8cb92ba72f3d8dd7, (1 << 64) - 1

    def fold(x, y):
        return (x * y & ones) ^ (x * y >> 64)
    tail = data[len(data) // 32 * 32:].ljust(32, b"\0")
    a, b = seed ^ k1, seed ^ k2
    for words in [*struct.iter_unpack("<4Q", data[:len(data) // 32 * 32]), struct.unpack("<4Q", tail)]:
        a, b = fold(words[0] ^ k0, words[1] ^ a), fold(words[2] ^ k1, words[3] ^ b)
    return fold(a ^ k2 ^ len(data), b ^ k0)


def summed(data):
    return data + struct.pack("<Q", sum64(data, 1))


def tree_parts(text):
    """The index and the frame of a tree manifest (src/oci/tree_manifest.h)."""
    n_index, n_frame = struct.unpack_from("<QQ", text, 16)
    assert len(text) == 32 + n_index + n_frame + 8 and summed(text[:-8]) == text
    return text[32:32 + n_index], text[32 + n_index:-8]


def forged_tree(real, other):
    """The tree manifest of a layer that says of its files what that of another layer says: the tar is the right one."""
    index, _ = tree_parts(other)
    real_index, frame = tree_parts(real)
    index = summed(index[:24] + real_index[24:56] + index[56:-8])
    return summed(b"DMTREEMF" + struct.pack("<IIQQ", 1, 1, len(index), len(frame)) + index + frame)
