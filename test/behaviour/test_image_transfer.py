# SPDX-License-Identifier: Apache-2.0
"""Nodes that fetch layers from each other as a BDM says: peers that lie, die, stall, are busy, and the registry behind them."""
import contextlib
import http.client
import json
import os
import pathlib
import socket
import subprocess
import threading
import types
import uuid

import pytest

from conftest import BUILD, DEADLINE_S, wait_for
from image_kit import Layout, digest, layer
from registry_kit import Fake, stall_after
from serve_kit import KEY, Node, Proxy, token

BIG = layer([("big", "f", os.urandom(8 << 20))])
TOP = layer([("app", "d", ""), ("app/run", "f", b"version 1\n")])


def image(*args):
    done = subprocess.run([BUILD / "dormouse", "image", *map(str, args)], capture_output=True, text=True, timeout=DEADLINE_S)
    assert done.returncode == 0, done.stderr
    return done.stdout


class Cluster:
    """Nodes n1 (which has nothing), n2 and n3 (which have the image), and a registry."""

    def __init__(self, directory):
        self.directory = directory
        self.layout = Layout(directory / "app")
        self.manifest = self.layout.image("v1", [BIG, TOP])
        self.text = self.read(self.layout.manifests[0]["digest"])
        self.registry = Fake()
        self.registry.add_layout(self.layout, "library/app", "v1")
        self.name = f"{self.registry.host}/library/app:v1"
        self.nodes, self.proxies = {}, []
        for name in ("n2", "n3"):
            image("pull", f"oci:{self.layout.directory}:v1", "--form", "both", "--name", self.name, "--store", directory / name)

    def read(self, name):
        return (self.layout.directory / "blobs/sha256" / name[7:]).read_bytes()

    def start(self, *names, args=()):
        for name in names:
            self.nodes[name] = Node(self.directory, name, *args)
        return [self.nodes[n] for n in names]

    def proxy(self, name, *args):
        self.proxies.append(Proxy(self.nodes[name].host, *args))
        return self.proxies[-1].url

    def close(self):
        for p in self.proxies:
            p.close()
        for n in self.nodes.values():
            n.stop()
        self.registry.close()

    def peer(self, deploy, blob, name, url=None):
        return {"kind": "peer", "node": name, "token": token(deploy, blob, name, "n1"), "url": url or self.nodes[name].url}

    def bdm(self, choose, deadline_ms=20000, split=1):
        """choose(deploy, descriptor, i) gives the sources of a layer, or of part i of the first one."""
        deploy, tasks = str(uuid.uuid4()), []
        for k, (d, tar) in enumerate(zip(self.manifest["layers"], (BIG, TOP))):
            parts = split if k == 0 else 1
            for i in range(parts):
                sources = choose(deploy, d, i)
                tasks.append({"id": len(tasks) + 1, "blob": d["digest"], "diff": digest(tar), "size": d["size"], "raw_size": len(tar),
                              "enc": "gzip", "range": [d["size"] * i // parts, d["size"] * (i + 1) // parts], "prio": k,
                              "src": sources[0], "alt": sources[1:], "expect_ms": 0})
        return {"v": 1, "deploy": deploy, "epoch": 1, "image": {"ref": self.name, "manifest": digest(self.text),
                "config": self.manifest["config"]["digest"]}, "binding": {"node": "n1", "url": self.nodes["n1"].url},
                "deadline_ms": deadline_ms, "tasks": tasks}

    def put_meta(self):
        for text in (self.text, self.read(self.manifest["config"]["digest"])):
            self.nodes["n1"].put_meta(text)

    def deploy(self, bdm, meta=True):
        n1 = self.nodes["n1"]
        if meta:
            self.put_meta()
        status, answer = n1.send(bdm)
        assert status == 202, answer
        return n1.wait(bdm["deploy"])

    def check_whole(self, is_named=True):
        """What n1 has, once it has ended, is the image or nothing that is wrong."""
        self.nodes["n1"].stop()
        store = self.directory / "n1"
        assert json.loads(image("check", "--store", store, "-o", "json"))["damaged"] == 0
        assert image("ls", "--store", store, "-o", "name").split() == ([self.name] if is_named else [])
        if is_named:
            got = json.loads(image("inspect", self.name, "--store", store, "-o", "json"))
            assert [v["diffID"] for v in got["layers"]] == [digest(BIG), digest(TOP)]

    def spoil(self, name, blob):
        """The node has other bytes under that digest, and does not know it."""
        path = self.directory / name / "blobs" / blob[7:]
        data = bytearray(path.read_bytes())
        data[len(data) // 3] ^= 0xff
        path.write_bytes(data)


@pytest.fixture
def cluster(tmp_path):
    c = Cluster(tmp_path)
    yield c
    c.close()


REGISTRY = {"kind": "registry", "repo": "library/app"}


def test_layers_come_from_peers_alone(cluster):
    cluster.start("n1", "n2", "n3")
    bdm = cluster.bdm(lambda deploy, d, i: [cluster.peer(deploy, d["digest"], ("n2", "n3")[i % 2]), REGISTRY], split=4)
    end = cluster.deploy(bdm)
    total = sum(d["size"] for d in cluster.manifest["layers"])
    assert (end["state"], end["layersDone"], end["peerBytes"], end["registryBytes"]) == ("done", 2, total, 0)
    assert cluster.registry.seen == []
    n1 = cluster.nodes["n1"]
    assert n1.send(bdm)[0] == 200  # the same again: how it ended
    status, _, body = n1.get("/v1/cache", **n1.bearer("cache"))
    report = json.loads(body)
    assert status == 200 and report["node"] == "n1" and report["seq"] == 1 and report["up_slots"] == 3
    assert {v["blob"] for v in report["layers"]} == {d["digest"] for d in cluster.manifest["layers"]}
    assert n1.get("/v2/library/app/manifests/v1?ns=" + cluster.registry.host)[2] == cluster.text  # and it is a mirror of it
    cluster.check_whole()


def test_who_lies_is_blamed_and_who_dies_is_left(cluster):
    """n2 sends wrong bytes, n3 is killed in the middle of its part; the registry has the rest."""
    big = cluster.manifest["layers"][0]["digest"]
    cluster.spoil("n2", big)
    cluster.start("n1", "n2", "n3")
    killed = cluster.proxy("n3", 2 << 20, lambda p: (cluster.nodes["n3"].kill(), p.released.set()))
    end = cluster.deploy(cluster.bdm(lambda deploy, d, i: [
        cluster.peer(deploy, d["digest"], "n2") if i == 0 else cluster.peer(deploy, d["digest"], "n3", killed),
        cluster.peer(deploy, d["digest"], "n3", killed) if i == 0 else cluster.peer(deploy, d["digest"], "n2"), REGISTRY], split=2))
    assert end["state"] == "done" and end["liars"] == ["n2"], end
    assert end["registryBytes"] > 0 and cluster.nodes["n3"].process.poll() is not None
    cluster.check_whole()


def test_a_liar_alone_leaves_nothing_visible(cluster):
    big = cluster.manifest["layers"][0]["digest"]
    cluster.spoil("n2", big)
    cluster.start("n1", "n2")
    end = cluster.deploy(cluster.bdm(lambda deploy, d, i: [cluster.peer(deploy, d["digest"], "n2")]))
    assert end["state"] == "failed" and big[:19] in end["error"] and end["liars"] == ["n2"]
    line = wait_for(lambda: [line for line in cluster.nodes["n1"].log if "image not deployed" in line], "the node's own line")[0]
    assert "library/app" in line and big[:19] in line.split("reason=")[1]
    cluster.check_whole(is_named=False)


def readers_of(pid):
    """The processes that read layers for this one."""
    found = []
    for other in filter(str.isdigit, os.listdir("/proc")):
        try:
            parent = pathlib.Path(f"/proc/{other}/stat").read_text().rsplit(")", 1)[1].split()[1]
            if int(parent) == pid and b"--read-layer" in pathlib.Path(f"/proc/{other}/cmdline").read_bytes().split(b"\0"):
                found.append(int(other))
        except OSError:
            pass
    return found


def test_silence_sends_it_to_the_next_which_goes_on_there(cluster):
    """Meanwhile a confined process has what came: the server itself parses no layer."""
    n1, *_ = cluster.start("n1", "n2", "n3")
    readers = []
    mute = cluster.proxy("n2", 3 << 20, lambda p: readers.extend(readers_of(n1.process.pid)))
    end = cluster.deploy(cluster.bdm(lambda deploy, d, i: [cluster.peer(deploy, d["digest"], "n2", mute), cluster.peer(deploy, d["digest"], "n3")]))
    total = sum(d["size"] for d in cluster.manifest["layers"])
    assert end["state"] == "done" and end["peerBytes"] == total, end  # no byte twice
    assert readers and readers_of(n1.process.pid) == []
    cluster.check_whole()


def test_without_a_peer_the_registry_serves_also_the_metadata(cluster):
    cluster.start("n1")
    gone = "http://127.0.0.1:1"
    end = cluster.deploy(cluster.bdm(lambda deploy, d, i: [cluster.peer(deploy, d["digest"], "n2", gone), REGISTRY]), meta=False)
    assert end["state"] == "done" and end["peerBytes"] == 0, end
    cluster.check_whole()


def test_a_registry_that_says_when_to_come_again_is_not_given_up(cluster):
    cluster.start("n1")
    big = cluster.manifest["layers"][0]["digest"]
    cluster.registry.faults += [("GET", big, lambda h: h.error(429, "TOOMANYREQUESTS", Retry_After="1"))] * 6  # more than it has tries
    end = cluster.deploy(cluster.bdm(lambda deploy, d, i: [REGISTRY]))
    assert end["state"] == "done" and cluster.registry.faults == [], end
    cluster.check_whole()


def test_metadata_that_does_not_come_ends_with_the_deadline(cluster):
    cluster.start("n1", "n2")
    released = threading.Event()
    cluster.registry.faults += [("GET", "/manifests/", lambda h: released.wait(DEADLINE_S) and None)] * 10
    try:
        end = cluster.deploy(cluster.bdm(lambda deploy, d, i: [cluster.peer(deploy, d["digest"], "n2"), REGISTRY], deadline_ms=2000), meta=False)
        assert end["state"] == "failed" and end["layersDone"] == 2 and "metadata of the image" in end["error"], end
    finally:
        released.set()
    cluster.check_whole(is_named=False)


def test_many_deployments_of_one_image_fetch_it_once(cluster):
    n1, = cluster.start("n1")
    cluster.start("n2")
    bdms = [cluster.bdm(lambda deploy, d, i: [cluster.peer(deploy, d["digest"], "n2")]) for _ in range(4)]
    ends = []
    together = [threading.Thread(target=lambda b=b: ends.append(cluster.deploy(b))) for b in bdms]
    for t in together:
        t.start()
    for t in together:
        t.join(DEADLINE_S)
    assert [e["state"] for e in ends] == ["done"] * 4
    assert sum(e["peerBytes"] for e in ends) == sum(d["size"] for d in cluster.manifest["layers"])


def test_a_kill_of_the_receiver_leaves_what_the_next_attempt_finishes(cluster):
    cluster.start("n1", "n2", "n3")
    mute = cluster.proxy("n2", 3 << 20)
    bdm = cluster.bdm(lambda deploy, d, i: [cluster.peer(deploy, d["digest"], "n2", mute)])
    cluster.put_meta()
    assert cluster.nodes["n1"].send(bdm)[0] == 202
    assert cluster.proxies[0].is_cut.wait(DEADLINE_S)
    cluster.nodes["n1"].kill()
    cluster.nodes["n1"].stop()
    cluster.start("n1")
    end = cluster.deploy(cluster.bdm(lambda deploy, d, i: [cluster.peer(deploy, d["digest"], "n3")]))
    assert end["state"] == "done"
    cluster.check_whole()


def test_a_deadline_ends_it(cluster):
    cluster.start("n1", "n2")
    mute = cluster.proxy("n2", 1000)
    end = cluster.deploy(cluster.bdm(lambda deploy, d, i: [cluster.peer(deploy, d["digest"], "n2", mute)], deadline_ms=300))
    assert end["state"] == "failed" and "deadline" in end["error"]
    cluster.check_whole(is_named=False)


def test_a_deadline_holds_although_another_import_of_the_layer_stalls(cluster):
    """The mirror of n1 pulls the same image from a registry that has gone silent."""
    big, released = cluster.manifest["layers"][0]["digest"], threading.Event()
    cluster.registry.faults.append(("GET", big, stall_after(1000, released)))
    n1, = cluster.start("n1", args=("--upstream", cluster.registry.host))
    cluster.start("n2")
    assert n1.get("/v2/library/app/manifests/v1")[0] == 200
    wait_for(lambda: any(big in p for p in cluster.registry.paths("GET")), "the blob is asked for")
    try:
        end = cluster.deploy(cluster.bdm(lambda deploy, d, i: [cluster.peer(deploy, d["digest"], "n2")], deadline_ms=300))
        assert end["state"] == "failed" and "another import" in end["error"], end
    finally:
        released.set()


def children(pid):
    """Command lines of the processes that it has started."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if path.read_text().rpartition(")")[2].split()[1] == str(pid):
                found.append((path.parent / "cmdline").read_bytes().split(b"\0"))
    return found


def test_bytes_of_peers_are_read_in_a_confined_process(cluster):
    n1, _ = cluster.start("n1", "n2")
    mute = cluster.proxy("n2", 3 << 20)
    cluster.put_meta()
    bdm = cluster.bdm(lambda deploy, d, i: [cluster.peer(deploy, d["digest"], "n2", mute)])
    assert n1.send(bdm)[0] == 202
    assert cluster.proxies[0].is_cut.wait(DEADLINE_S)
    assert any(b"--read-layer" in words for words in children(n1.process.pid))


def test_what_an_earlier_attempt_left_damaged_is_fetched_again(cluster):
    n1, _ = cluster.start("n1", "n2")
    tmp, = (n1.store / "tmp").iterdir()
    big = cluster.manifest["layers"][0]["digest"]
    (tmp / f"{big[7:]}.part").write_bytes(b"\xff" * (4 << 20))
    end = cluster.deploy(cluster.bdm(lambda deploy, d, i: [cluster.peer(deploy, d["digest"], "n2")]))
    assert end["state"] == "done" and end["liars"] == [], end
    cluster.check_whole()


def test_layers_that_are_here_are_not_evicted_for_those_that_come(cluster):
    """The quota has room for the image, and not for what lies beside it; TOP was used least recently."""
    store, other = cluster.directory / "n1", layer([("other", "f", os.urandom(4 << 20))])
    cluster.layout.image("top", [TOP])
    cluster.layout.image("other", [other])
    for name in ("top", "other"):
        image("pull", f"oci:{cluster.layout.directory}:{name}", "--form", "both", "--name", name, "--store", store)
        image("rm", name, "--store", store)
    os.utime(store / "layers" / digest(TOP)[7:], (1, 1))
    cluster.start("n1", args=("--quota", "36Mi"))
    cluster.start("n2")
    bdm = cluster.bdm(lambda deploy, d, i: [cluster.peer(deploy, d["digest"], "n2")])
    bdm["tasks"].pop()
    end = cluster.deploy(bdm)
    assert end["state"] == "done", end
    assert not (store / "layers" / digest(other)[7:]).exists()
    cluster.check_whole()


def test_tokens_decide_who_may_do_what(cluster):
    n1, n2 = cluster.start("n1", "n2")
    blob = cluster.manifest["layers"][0]["digest"]
    deploy = str(uuid.uuid4())
    path = f"/v1/layers/{blob}?deploy={deploy}&node=n1"
    assert n2.get(path, Authorization="Bearer " + token(deploy, blob, "n2", "n1"))[0] == 200
    for bad in (token(deploy, blob, "n3", "n1"), token(deploy, blob, "n2", "n4"), token(deploy, digest(b""), "n2", "n1"), "x",
                token(deploy, blob, "n2", "n1", key=KEY + "!"), token(deploy, blob, "n2", "n1", now=1000)):
        assert n2.get(path, Authorization="Bearer " + bad)[0] == 403
    assert n2.get(path)[0] == 403
    bdm = cluster.bdm(lambda d, l, i: [cluster.peer(d, l["digest"], "n2")])
    body = json.dumps(bdm)
    right, other = digest(body.encode()), digest(b"another body")
    for path, shown, status in ((right, other, 403), (other, right, 403), (other, other, 400), ("", right, 400)):
        assert n1.request("POST", f"/v1/bdm?digest={path}", body, **n1.bearer("bdm", shown))[0] == status
    assert n1.request("POST", f"/v1/bdm?digest={right}", body)[0] == 403
    assert n2.send(bdm)[0] == 400  # it is not for that node
    assert n1.request("PUT", f"/v1/meta/{digest(b'x')}", b"y", **n1.bearer("meta", digest(b"x")))[0] == 400
    assert n1.get("/v1/cache")[0] == 403 and n1.get(f"/v1/deploys/{deploy}")[0] == 403
    for key, value in (("enc", "zstd"), ("range", [1, 5])):
        wrong = json.loads(body)
        wrong["tasks"][0][key] = value
        assert n1.send(wrong)[0] == 400


def test_how_a_long_deployment_ended_can_be_asked_for(cluster):
    """More than are kept begin after it, and end before it does."""
    n1, *_ = cluster.start("n1", "n2", "n3")
    mute = cluster.proxy("n2", 1000)
    cluster.put_meta()
    long = cluster.bdm(lambda deploy, d, i: [cluster.peer(deploy, d["digest"], "n2", mute)], deadline_ms=3600000)
    assert n1.send(long)[0] == 202
    for _ in range(65):
        short = cluster.bdm(lambda deploy, d, i: [cluster.peer(deploy, d["digest"], "n3")], deadline_ms=0)
        assert n1.send(short)[0] == 202
        n1.wait(short["deploy"])
    for p in cluster.proxies:
        p.close()
    assert n1.wait(long["deploy"])["state"] == "failed"


def test_the_body_of_a_stranger_is_not_read(cluster):
    n1, = cluster.start("n1")
    for method, path in (("POST", "/v1/bdm"), ("POST", f"/v1/bdm?digest={digest(b'')}"), ("PUT", f"/v1/meta/{digest(b'')}")):
        host, port = n1.host.split(":")
        with socket.create_connection((host, int(port)), timeout=DEADLINE_S) as s:
            s.sendall(f"{method} {path} HTTP/1.1\r\nHost: n1\r\nContent-Length: 4000000\r\n\r\n".encode())
            assert s.recv(12) in (b"HTTP/1.1 403", b"HTTP/1.1 400")  # although nothing of the body was sent


def test_upload_slots_are_bounded_and_the_busy_peer_is_asked_again(cluster):
    """Three downloads that do not go on hold the slots of n2."""
    n1, n2, n3 = cluster.start("n1", "n2", "n3")
    blob, deploy = cluster.manifest["layers"][0]["digest"], str(uuid.uuid4())
    held = []
    for _ in range(3):
        c = http.client.HTTPConnection(n2.host, timeout=DEADLINE_S)
        c.connect()
        c.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        c.request("GET", f"/v1/layers/{blob}?deploy={deploy}&node=n1", headers={"Authorization": "Bearer " + token(deploy, blob, "n2", "n1")})
        assert c.getresponse().status == 200
        held.append(c)
    assert n2.get(f"/v1/layers/{blob}?deploy={deploy}&node=n1", Authorization="Bearer " + token(deploy, blob, "n2", "n1"))[0] == 503
    end = cluster.deploy(cluster.bdm(lambda d, l, i: [cluster.peer(d, l["digest"], "n2"), cluster.peer(d, l["digest"], "n3")]))
    assert end["state"] == "done"
    bdm = cluster.bdm(lambda d, l, i: [cluster.peer(d, l["digest"], "n2")])
    for c in held:
        c.close()
    assert cluster.deploy(bdm)["state"] == "done"


def plan_file(cluster, path, **nodes):
    digests = [d["digest"] for d in cluster.manifest["layers"]]
    path.write_text(json.dumps({
        "image": {"reference": cluster.name, "manifest": digest(cluster.text), "config": cluster.manifest["config"]["digest"]},
        "layers": [{"name": n, "bytes": d["size"], "digest": d["digest"], "diffID": digest(tar), "tarBytes": len(tar)}
                   for n, d, tar in zip(("big", "top"), cluster.manifest["layers"], (BIG, TOP))],
        "registryMbit": 50, "nodes": [{"name": n, "url": cluster.nodes[n].url, **rest} for n, rest in nodes.items()]}))
    assert len(digests) == 2
    return path


def send(cluster, path, *args, status=0):
    done = subprocess.run([BUILD / "dormouse", "image", "plan", path, "--node", "n1", "--send", "--cluster-key-file", cluster.directory / "key",
                           "--store", cluster.directory / "none", *args], capture_output=True, text=True, timeout=DEADLINE_S)
    assert done.returncode == status, done.stdout + done.stderr
    return done


def test_a_plan_is_sent_and_its_outcome_is_shown(cluster, tmp_path):
    cluster.start("n1", "n2", "n3")
    path = plan_file(cluster, tmp_path / "cluster.json", n1={}, n2={"layers": ["big"], "uplinkMbit": 500}, n3={"layers": ["big"], "uplinkMbit": 450})
    end = json.loads(send(cluster, path, "-o", "json").stdout)
    big, top = (d["size"] for d in cluster.manifest["layers"])
    assert (end["state"], end["peerBytes"], end["registryBytes"]) == ("done", big, top)
    assert "2 of 2 layers, 2 of them there before" in send(cluster, path).stdout
    cluster.check_whole()


def test_a_plan_that_cannot_be_sent_says_why(cluster, tmp_path):
    n1, = cluster.start("n1")
    path = plan_file(cluster, tmp_path / "cluster.json", n1={})
    (tmp_path / "other").write_text("another key, which is long enough as well")
    assert "403" in send(cluster, path, "--cluster-key-file", tmp_path / "other", status=1).stderr
    whole = json.loads(path.read_text())
    for change, word in (({"image": None}, "which image"), ({"nodes": [{"name": "n1"}]}, "url"), ({"nodes": [{"name": "n1", "url": "ftp://x"}]}, "ftp")):
        path.write_text(json.dumps({k: v for k, v in {**whole, **change}.items() if v is not None}))
        assert word in send(cluster, path, status=1).stderr
    cluster.registry.close()
    path.write_text(json.dumps(whole))
    assert "failed on n1" in send(cluster, path, "--deadline", "2s", status=1).stdout
    n1.kill()
    send(cluster, path, status=3)


def test_a_node_that_begins_an_answer_and_falls_silent_is_given_up(cluster, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        silent = types.SimpleNamespace(url=f"http://127.0.0.1:{listener.getsockname()[1]}")
        cluster.nodes["n1"] = silent
        path = plan_file(cluster, tmp_path / "cluster.json", n1={})
        (tmp_path / "own").write_text("a key that is long enough for tokens")
        taken = []

        def answer():
            connection, _ = listener.accept()
            taken.append(connection)
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 202 Accepted\r\nContent-Length: 10\r\n\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        try:
            assert "does not answer" in send(cluster, path, "--deadline", "1s", "--cluster-key-file", tmp_path / "own", status=1).stderr
        finally:
            del cluster.nodes["n1"]
            thread.join(DEADLINE_S)
            for connection in taken:
                connection.close()


def test_layers_that_are_there_stay_while_the_rest_of_their_image_comes(cluster):
    """TOP is there, and the next to leave; BIG needs room: what leaves is the layer of another image."""
    other = layer([("f", "f", os.urandom(12_000_000))])
    for name, tar in (("top", TOP), ("other", other)):
        made = Layout(cluster.directory / name)
        made.image("v1", [tar], compress=lambda t: t, suffix="")
        image("pull", f"oci:{made.directory}:v1", "--store", cluster.directory / "n1")
    assert [v["diffID"] for v in json.loads(image("ls", "--layers", "--store", cluster.directory / "n1", "-o", "json"))] == [digest(TOP), digest(other)]
    cluster.nodes["n1"] = Node(cluster.directory, "n1", "--quota", "40Mi")
    cluster.start("n2")
    bdm = cluster.bdm(lambda deploy, d, i: [cluster.peer(deploy, d["digest"], "n2"), REGISTRY])
    bdm["tasks"] = bdm["tasks"][:1]
    end = cluster.deploy(bdm)
    assert end["state"] == "done", end
    cluster.nodes["n1"].stop()
    store = cluster.directory / "n1"
    assert {v["name"]: v["layersMissing"] for v in json.loads(image("ls", "--store", store, "-o", "json"))} == {
        cluster.name: 0, "top:v1": 0, "other:v1": 1}
    used = {v["diffID"]: v["used"] for v in json.loads(image("ls", "--layers", "--store", store, "-o", "json"))}
    assert used == {digest(BIG): "once", digest(TOP): "often"}
