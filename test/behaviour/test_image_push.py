# SPDX-License-Identifier: Apache-2.0
"""Nodes that push layers to the one that a BDM binds: who may, what breaks off, what is wrong, and who is asked instead."""
import http.client
import http.server
import json
import socket
import threading
import uuid

import pytest

from conftest import DEADLINE_S, wait_for
from image_kit import digest
from serve_kit import KEY, Proxy, metric, token
from test_image_transfer import Cluster, plan_file, send

AWAY = "http://127.0.0.1:1"


@pytest.fixture
def cluster(tmp_path):
    c = Cluster(tmp_path)
    yield c
    c.close()


class Intake(Proxy):
    """A Proxy that counts, and cuts, what goes to the node."""

    def pump(self, source, to, is_answer):
        super().pump(source, to, not is_answer)


def pushed(bdm):
    """The same, in which peers that come first push."""
    for task in bdm["tasks"]:
        if task["src"]["kind"] == "peer":
            task["mode"] = "push"
    return bdm


def of_peer(bdm, name, url=None):
    """What that peer is told; url: where the node of the deployment is for it."""
    tasks = [{**t, "alt": []} for t in bdm["tasks"] if t.get("mode") == "push" and t["src"]["node"] == name]
    return {**bdm, "tasks": tasks, "binding": {"node": "n1", "url": url or bdm["binding"]["url"]}}


def start(cluster, bdm, *peers, **urls):
    """n1 knows of the deployment before those who push do."""
    cluster.put_meta()
    status, answer = cluster.nodes["n1"].send(bdm)
    assert status == 202, answer
    for name in peers:
        status, answer = cluster.nodes[name].send(of_peer(bdm, name, urls.get(name)))
        assert (status, answer["state"]) == (202, "sending"), answer


def total(cluster):
    return sum(d["size"] for d in cluster.manifest["layers"])


def test_a_plan_has_peers_push(cluster, tmp_path):
    n1, n2 = cluster.start("n1", "n2")
    path = plan_file(cluster, tmp_path / "cluster.json", n1={}, n2={"layers": ["big"], "uplinkMbit": 500})
    end = json.loads(send(cluster, path, "--push", "-o", "json").stdout)
    big, top = (d["size"] for d in cluster.manifest["layers"])
    assert (end["state"], end["peerBytes"], end["pushedBytes"], end["registryBytes"]) == ("done", big, big, top), end
    wait_for(lambda: metric(n2, "dormouse_image_pushes_total") == 1, "n2 to know that it has pushed")
    assert metric(n2, "dormouse_image_pushes_waiting") == metric(n2, "dormouse_image_uploads") == 0
    cluster.check_whole()


def test_ranges_of_a_layer_are_pushed_by_two_nodes(cluster):
    n1, n2, n3 = cluster.start("n1", "n2", "n3")
    bdm = pushed(cluster.bdm(lambda deploy, d, i: [cluster.peer(deploy, d["digest"], ("n2", "n3")[i % 2], AWAY)], split=4))
    start(cluster, bdm, "n2", "n3")
    end = n1.wait(bdm["deploy"])
    assert (end["state"], end["pushedBytes"], end["liars"]) == ("done", total(cluster), []), end
    wait_for(lambda: [metric(n, "dormouse_image_pushes_total") for n in (n2, n3)] == [3, 2], "both to have pushed their parts")
    cluster.check_whole()


def test_without_the_option_nothing_is_pushed(cluster, tmp_path):
    n1, n2 = cluster.start("n1", "n2")
    path = plan_file(cluster, tmp_path / "cluster.json", n1={}, n2={"layers": ["big"], "uplinkMbit": 500})
    end = json.loads(send(cluster, path, "-o", "json").stdout)
    assert (end["state"], end["pushedBytes"]) == ("done", 0) and end["peerBytes"] > 0
    assert metric(n2, "dormouse_image_pushes_total") == 0


def test_who_pushes_is_killed_in_the_middle_and_the_rest_comes_from_elsewhere(cluster):
    cluster.start("n1", "n2", "n3")
    intake = Intake(cluster.nodes["n1"].host, 3 << 20, lambda p: (cluster.nodes["n2"].kill(), p.released.set()))
    cluster.proxies.append(intake)
    bdm = pushed(cluster.bdm(lambda deploy, d, i: [cluster.peer(deploy, d["digest"], "n2"), cluster.peer(deploy, d["digest"], "n3")]))
    start(cluster, bdm, "n2", n2=intake.url)
    end = cluster.nodes["n1"].wait(bdm["deploy"])
    assert (end["state"], end["liars"], end["peerBytes"]) == ("done", [], total(cluster)), end  # no byte twice
    assert 1 << 20 < end["pushedBytes"] < total(cluster)
    assert cluster.nodes["n2"].process.poll() is not None
    cluster.check_whole()


def test_a_push_goes_on_where_an_earlier_attempt_ended(cluster):
    """n1 is killed when it has a part; n2 learns by 409 what is left."""
    n1, n2 = cluster.start("n1", "n2")
    intake = Intake(n1.host, 4 << 20)
    cluster.proxies.append(intake)
    bdm = pushed(cluster.bdm(lambda deploy, d, i: [cluster.peer(deploy, d["digest"], "n2", AWAY)], deadline_ms=60000))
    start(cluster, bdm, "n2", n2=intake.url)
    assert intake.is_cut.wait(DEADLINE_S)
    wait_for(lambda: n1.status(bdm["deploy"])["state"] != "running" or list((n1.store / "tmp").rglob("*.part")), "a part to be kept")
    n1.kill()
    n1.stop()
    intake.close()
    n1, = cluster.start("n1")
    again = pushed(cluster.bdm(lambda deploy, d, i: [cluster.peer(deploy, d["digest"], "n2", AWAY)]))
    start(cluster, again, "n2")
    end = n1.wait(again["deploy"])
    assert end["state"] == "done" and end["registryBytes"] == 0, end
    assert 0 < end["pushedBytes"] == end["peerBytes"] < total(cluster), end
    cluster.check_whole()


def test_who_pushes_wrong_bytes_is_blamed_and_left(cluster):
    cluster.spoil("n2", cluster.manifest["layers"][0]["digest"])
    n1, n2, n3 = cluster.start("n1", "n2", "n3")
    bdm = pushed(cluster.bdm(lambda deploy, d, i: [cluster.peer(deploy, d["digest"], "n2"), cluster.peer(deploy, d["digest"], "n3")]))
    start(cluster, bdm, "n2")
    end = n1.wait(bdm["deploy"])
    assert (end["state"], end["liars"]) == ("done", ["n2"]), end
    assert end["pushedBytes"] > 0
    cluster.check_whole()


def test_who_was_not_told_to_push_is_asked(cluster):
    n1, n2 = cluster.start("n1", "n2")
    bdm = pushed(cluster.bdm(lambda deploy, d, i: [cluster.peer(deploy, d["digest"], "n2")]))
    start(cluster, bdm)
    end = n1.wait(bdm["deploy"])
    assert (end["state"], end["peerBytes"], end["pushedBytes"]) == ("done", total(cluster), 0), end
    cluster.check_whole()


def put(n1, deploy, blob, off, body, shown, source="n2", declared=None):
    """The status and answer; with `declared` so many bytes are announced, and those that are here sent."""
    connection = http.client.HTTPConnection(n1.host, timeout=DEADLINE_S)
    try:
        connection.putrequest("PUT", f"/v1/layers/{blob}?deploy={deploy}&node={source}&off={off}")
        if shown:
            connection.putheader("Authorization", "Bearer " + shown)
        connection.putheader("Content-Length", str(len(body) if declared is None else declared))
        connection.endheaders()
        if declared is None:
            connection.send(body)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def test_only_who_holds_a_token_is_taken_from_and_only_what_is_wanted(cluster):
    """The test is n2. What is refused leaves no trace: the image comes whole from it afterwards."""
    n1, = cluster.start("n1")
    bdm = pushed(cluster.bdm(lambda deploy, d, i: [cluster.peer(deploy, d["digest"], "n2", AWAY)]))
    deploy = bdm["deploy"]
    big, top = (d["digest"] for d in cluster.manifest["layers"])
    texts = {v: cluster.read(v) for v in (big, top)}
    right = {v: token(deploy, v, "n2", "n1") for v in (big, top)}
    assert put(n1, deploy, big, 0, b"", right[big], declared=5)[0] == 410  # there is no such deployment yet
    start(cluster, bdm)
    size = len(texts[big])

    def open_now():
        status, answer = put(n1, deploy, big, 5, b"", right[big], declared=size - 5)
        assert status in (409, 503), answer
        return status == 409 and json.loads(answer)
    assert wait_for(open_now, "n1 to wait for the layer") == {"have": 0}
    for shown in (None, "x", token(deploy, big, "n3", "n1"), token(deploy, big, "n2", "n4"), token(deploy, top, "n2", "n1"),
                  token(str(uuid.uuid4()), big, "n2", "n1"), token(deploy, big, "n2", "n1", key=KEY + "!"), token(deploy, big, "n2", "n1", now=1000)):
        assert put(n1, deploy, big, 0, b"", shown, declared=size)[0] == 403
    assert put(n1, deploy, big, 0, b"", token(deploy, big, "n3", "n1"), source="n3", declared=size)[0] == 410  # it is not the one that is to
    assert put(n1, deploy, digest(b""), 0, b"", token(deploy, digest(b""), "n2", "n1"), declared=5)[0] == 410
    assert put(n1, deploy, big, 0, b"", right[big], declared=size + 1)[0] == 409
    assert put(n1, deploy, big, "x", b"", right[big], declared=size)[0] == 400
    assert n1.status(deploy)["peerBytes"] == 0
    for blob in (big, top):
        assert put(n1, deploy, blob, 0, texts[blob], right[blob])[0] == 204
    end = n1.wait(deploy)
    assert (end["state"], end["pushedBytes"], end["liars"]) == ("done", total(cluster), []), end
    assert put(n1, deploy, big, 0, b"", right[big], declared=size)[0] == 410  # it is there
    cluster.check_whole()


def begin_push(n1, deploy, blob, body, n, source="n2"):
    """A connection on which n1 waits for the rest of the body."""
    connection = http.client.HTTPConnection(n1.host, timeout=DEADLINE_S)
    connection.putrequest("PUT", f"/v1/layers/{blob}?deploy={deploy}&node={source}&off=0")
    connection.putheader("Authorization", "Bearer " + token(deploy, blob, source, "n1"))
    connection.putheader("Content-Length", str(len(body)))
    connection.endheaders()
    connection.send(body[:n])
    return connection


def is_cut(connection):
    try:
        return connection.sock.recv(1) == b""
    except ConnectionError:
        return True


def wait_until_open(n1, deploy, blob, size):
    wait_for(lambda: put(n1, deploy, blob, 5, b"", token(deploy, blob, "n2", "n1"), declared=size - 5)[0] == 409, "n1 to wait for the layer")


def test_who_stalls_while_it_pushes_is_cut_and_the_rest_comes_from_elsewhere(cluster):
    """The test is n2."""
    n1, n3 = cluster.start("n1", "n3")
    bdm = pushed(cluster.bdm(lambda deploy, d, i: [cluster.peer(deploy, d["digest"], "n2", AWAY), cluster.peer(deploy, d["digest"], "n3")]))
    big = cluster.manifest["layers"][0]
    start(cluster, bdm)
    wait_until_open(n1, bdm["deploy"], big["digest"], big["size"])
    connection = begin_push(n1, bdm["deploy"], big["digest"], cluster.read(big["digest"]), 1 << 20)
    try:
        assert is_cut(connection)
    finally:
        connection.close()
    end = n1.wait(bdm["deploy"])
    assert (end["state"], end["liars"], end["pushedBytes"], end["peerBytes"]) == ("done", [], 1 << 20, total(cluster)), end
    cluster.check_whole()


def test_a_push_without_a_length_is_refused(cluster):
    n1, = cluster.start("n1")
    blob, deploy = cluster.manifest["layers"][0]["digest"], str(uuid.uuid4())
    status, _, _ = n1.request("PUT", f"/v1/layers/{blob}?deploy={deploy}&node=n2&off=0", iter([b"xyz"]), Transfer_Encoding="chunked",
                              Authorization="Bearer " + token(deploy, blob, "n2", "n1"))
    assert status == 411


@pytest.mark.parametrize("ends", ["n1", "n2"])
def test_either_end_stops_in_the_middle_of_a_push(cluster, ends):
    n1, n2 = cluster.start("n1", "n2")
    intake = Intake(n1.host, 2 << 20)
    cluster.proxies.append(intake)
    bdm = pushed(cluster.bdm(lambda deploy, d, i: [cluster.peer(deploy, d["digest"], "n2", AWAY)]))
    start(cluster, bdm, "n2", n2=intake.url)
    assert intake.is_cut.wait(DEADLINE_S)
    assert cluster.nodes[ends].stop() == 0
    intake.close()
    cluster.check_whole(is_named=False)


def test_a_node_pushes_only_what_it_was_told_by_the_cluster(cluster):
    n1, n2 = cluster.start("n1", "n2")
    bdm = pushed(cluster.bdm(lambda deploy, d, i: [cluster.peer(deploy, d["digest"], "n2")]))
    mine = of_peer(bdm, "n2")
    body = json.dumps(mine).encode()
    assert n2.request("POST", f"/v1/bdm?digest={digest(body)}", body)[0] == 403
    other = json.dumps(of_peer(bdm, "n2", "http://127.0.0.1:9")).encode()  # the token is for the whole of it, the address included
    assert n2.request("POST", f"/v1/bdm?digest={digest(other)}", other, **n2.bearer("bdm", digest(body)))[0] == 403
    assert n2.send(of_peer(cluster.bdm(lambda deploy, d, i: [cluster.peer(deploy, d["digest"], "n2")]), "n2"))[0] == 400  # nothing is to be pushed
    assert n2.send({**mine, "tasks": [{**t, "src": {**t["src"], "node": "n3"}} for t in mine["tasks"]]})[0] == 400
    assert n2.send(mine)[0] == 202  # n1 does not know of it: it is given up at once
    wait_for(lambda: metric(n2, "dormouse_image_pushes_failed_total") == 2, "both to be given up")
    assert metric(n2, "dormouse_image_pushes_total") == 0


class Thanks(http.server.BaseHTTPRequestHandler):
    """A node that says that it has what it never read."""
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def handle_expect_100(self):
        self.close_connection = True
        self.send_response(204)
        self.end_headers()
        return False


def test_who_says_that_it_has_what_it_never_took_does_not_count(cluster):
    n1, n2 = cluster.start("n1", "n2")
    bdm = pushed(cluster.bdm(lambda deploy, d, i: [cluster.peer(deploy, d["digest"], "n2")]))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Thanks) as node:
        threading.Thread(target=node.serve_forever, daemon=True).start()
        assert n2.send(of_peer(bdm, "n2", "http://127.0.0.1:%d" % node.server_address[1]))[0] == 202
        wait_for(lambda: metric(n2, "dormouse_image_pushes_failed_total") + metric(n2, "dormouse_image_pushes_total") == 2, "both to be over")
        node.shutdown()
    assert metric(n2, "dormouse_image_pushes_total") == 0


def test_a_node_that_breaks_every_connection_is_given_up_with_all_that_is_for_it(cluster):
    """Eight connections in a row, and not for each of the five ranges."""
    n1, n2 = cluster.start("n1", "n2")
    bdm = pushed(cluster.bdm(lambda deploy, d, i: [cluster.peer(deploy, d["digest"], "n2")], split=4))
    seen = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        def answer():
            while True:
                try:
                    connection = listener.accept()[0]
                except OSError:
                    return
                seen.append(connection.recv(1))
                connection.close()
        threading.Thread(target=answer, daemon=True).start()
        assert n2.send(of_peer(bdm, "n2", "http://127.0.0.1:%d" % listener.getsockname()[1]))[0] == 202
        wait_for(lambda: metric(n2, "dormouse_image_pushes_failed_total") == 5, "all to be given up")
        listener.shutdown(socket.SHUT_RDWR)
    assert 8 <= len(seen) <= 10, seen
    assert metric(n2, "dormouse_image_uploads") == metric(n2, "dormouse_image_pushes_waiting") == 0
