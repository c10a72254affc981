# SPDX-License-Identifier: Apache-2.0
"""Documents that are expensive to make: requests of an account without rights, however many, do not delay others."""
import os
import socket
import struct
import threading

import pytest

from conftest import Server
from test_http_attacks import PREFACE, dial, field, frame, read_frames

ASKED = 240
TICK_S = 1 / os.sysconf("SC_CLK_TCK")


@pytest.fixture
def api(tmp_path):
    (tmp_path / "tokens").write_text("nobodys-token,nobody,1\n")
    server = Server(tmp_path / "data", extra=["--token-auth-file", str(tmp_path / "tokens")])
    yield server
    assert server.stop() == 0


def cpu_s(api):
    with open(f"/proc/{api.process.pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * TICK_S


def ask_for_all(api, path, *more):
    """One connection that has asked for the document so many times at once, with windows that take all of it."""
    fields = [(":method", "GET"), (":scheme", "https"), (":path", path), (":authority", "x"),
              ("authorization", "Bearer nobodys-token"), *more]
    block = b"".join(field(*f) for f in fields)
    s = dial(api, "h2")
    s.sendall(PREFACE + frame(4, 0, 0, struct.pack(">HI", 4, 0x7fffffff)) + frame(8, 0, 0, struct.pack(">I", 0x7fff0000))
              + b"".join(frame(1, 5, 1 + 2 * i, block) for i in range(ASKED)))
    return s




@pytest.mark.parametrize("path", ["/openapi/v2", "/openapi/v3/api/v1", "/openapi/v3"])
@pytest.mark.parametrize("coding", ["identity", "gzip"])
def test_a_document_is_made_once_for_all_who_ask(api, path, coding):
    one = api.get(path, Accept_Encoding=coding)
    before = cpu_s(api)
    s = ask_for_all(api, path, ("accept-encoding", coding))
    reader = threading.Thread(target=lambda: [None for _ in read_frames(s)], daemon=True)
    reader.start()
    answer = api.get("/version")
    assert answer.status == 200
    assert cpu_s(api) - before < 1.5  # made for each it is 3 to 12 s before anybody else is answered
    s.shutdown(socket.SHUT_RDWR)  # closed under the reader, its number would be another connection's
    reader.join()
    s.close()
    assert api.get(path, Accept_Encoding=coding).body == one.body


def test_a_document_follows_the_definitions(api):
    def has_mice():
        return b"/apis/docs.example.com/v1/mice" in api.get("/openapi/v2").body
    assert not has_mice()
    before = api.get("/openapi/v2").headers["etag"]
    api.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
        "metadata": {"name": "mice.docs.example.com"},
        "spec": {"group": "docs.example.com", "scope": "Namespaced", "names": {"plural": "mice", "kind": "Mouse"},
                 "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}]}})
    assert has_mice()
    assert api.get("/openapi/v2").headers["etag"] != before
    assert api.get("/openapi/v2", If_None_Match=before).status == 200
