# SPDX-License-Identifier: Apache-2.0
"""dormouse image serve: unmodified clients pull from the node store, and what it lacks is pulled through."""
import gzip
import json
import os
import re
import resource
import shutil
import socket
import subprocess
import threading

import pytest

from conftest import BUILD, DEADLINE_S, wait_for
from image_kit import MANIFEST, Layout, digest, layer
from registry_kit import Fake, Proxy, stall_after
from serve_kit import Serve, serve

SKOPEO = shutil.which("skopeo")
BASE = layer([("etc", "d", ""), ("etc/motd", "f", os.urandom(700_000))])
TOP = layer([("app", "d", ""), ("app/run", "f", b"version 1\n")])
INDEX = "application/vnd.oci.image.index.v1+json"


def image(store, *args, check=True):
    done = subprocess.run([BUILD / "dormouse", "image", *map(str, args), "--store", store], capture_output=True, text=True,
                          timeout=DEADLINE_S)
    assert not check or done.returncode == 0, done.stderr
    return done


@pytest.fixture
def layout(tmp_path):
    made = Layout(tmp_path / "app")
    made.image("v1", [BASE, TOP])
    return made


@pytest.fixture
def store(tmp_path, layout):
    image(tmp_path / "store", "pull", f"oci:{layout.directory}:v1", "--form", "both", "--name", "docker.io/library/app:v1")
    return tmp_path / "store"


def manifest_of(layout):
    return (layout.directory / "blobs/sha256" / layout.manifests[0]["digest"][7:]).read_bytes()


def skopeo_copy(server, name, to, *args):
    done = subprocess.run([SKOPEO, "--insecure-policy", "copy", "--src-tls-verify=false", *args, f"docker://{server.host}/{name}", to],
                          capture_output=True, text=True, timeout=DEADLINE_S)
    assert done.returncode == 0, done.stderr


def pss_kib(pid):
    with open(f"/proc/{pid}/smaps_rollup") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("Pss:"))


@pytest.mark.skipif("san" in BUILD.name, reason="a build with sanitizers keeps its memory")
def test_an_idle_server_returns_the_memory_of_its_program(store):
    with serve(store) as server:
        busy = pss_kib(server.process.pid)
        wait_for(lambda: pss_kib(server.process.pid) < busy * 2 / 3, "it has unmapped what only its start needed")
        assert server.get("/v2/")[0] == 200


def test_the_protocol_of_registries(store, layout):
    want = manifest_of(layout)
    doc = json.loads(want)
    blob = doc["layers"][0]["digest"]
    data = (layout.directory / "blobs/sha256" / blob[7:]).read_bytes()
    with serve(store) as s:
        status, headers, body = s.get("/v2/")
        assert status == 200 and headers["Docker-Distribution-Api-Version"] == "registry/2.0"
        for name in ("library/app", "app", "docker.io/library/app"):
            status, headers, body = s.get(f"/v2/{name}/manifests/v1")
            assert (status, body, headers["Content-Type"]) == (200, want, MANIFEST)
            assert headers["Docker-Content-Digest"] == digest(want)
        assert s.get(f"/v2/library/app/manifests/{digest(want)}")[2] == want
        assert s.get("/v2/library/app/manifests/v1?ns=docker.io")[0] == 200
        assert s.get("/v2/library/app/manifests/v1?ns=ghcr.io")[0] == 404
        status, headers, body = s.request("HEAD", "/v2/app/manifests/v1")
        assert (status, headers["Content-Length"], body) == (200, str(len(want)), b"")
        status, headers, body = s.get(f"/v2/app/blobs/{blob}")
        assert status == 200 and body == data and headers["Accept-Ranges"] == "bytes" and headers["ETag"] == f'"{blob}"'
        status, headers, body = s.request("HEAD", f"/v2/app/blobs/{blob}")
        assert (status, headers["Content-Length"]) == (200, str(len(data)))
        for field, low, high in (("bytes=10-19", 10, 20), (f"bytes={len(data) - 5}-", len(data) - 5, len(data)), ("bytes=-7", len(data) - 7, len(data)),
                                 (f"bytes=5-{2 * len(data)}", 5, len(data))):
            status, headers, body = s.get(f"/v2/app/blobs/{blob}", Range=field, If_Range=f'"{blob}"')
            assert status == 206 and body == data[low:high] and headers["Content-Range"] == f"bytes {low}-{high - 1}/{len(data)}"
        several = [(0, 10), (10, 300_000), (400_000, len(data))]
        status, headers, body = s.get(f"/v2/app/blobs/{blob}", Range="bytes=" + ", ".join(f"{low}-{high - 1}" for low, high in several))
        assert status == 206 and headers["Content-Length"] == str(len(body)) and headers.get_content_type() == "multipart/byteranges"
        boundary = headers.get_param("boundary").encode()
        found = re.findall(rb"--" + boundary + rb"\r\n.*?content-range: bytes (\d+)-(\d+)/(\d+)\r\n\r\n", body, re.DOTALL)
        assert [(int(low), int(high) + 1, int(n)) for low, high, n in found] == [(low, high, len(data)) for low, high in several]
        assert all(data[low:high] in body for low, high in several) and body.endswith(b"--" + boundary + b"--\r\n")
        assert s.get(f"/v2/app/blobs/{blob}", Range="bytes=5-9,0-4")[0] == 200 and s.get(f"/v2/app/blobs/{blob}", Range="bytes=0-1,9999999-")[0] == 206
        assert s.get(f"/v2/app/blobs/{blob}", Range="bytes=" + ",".join(f"{2 * n}-{2 * n}" for n in range(65)))[0] == 200
        assert s.get(f"/v2/app/blobs/{blob}", Range="bytes=1-2", If_Range='"other"')[0] == 200
        assert s.get(f"/v2/app/blobs/{blob}", Range=f"bytes={len(data)}-")[0] == 416
        assert s.get(f"/v2/app/blobs/{blob}", If_None_Match=f'W/"x", "{blob}"')[0] == 304
        assert digest(s.get(f"/v2/app/blobs/{doc['config']['digest']}")[2]) == doc["config"]["digest"]
        assert json.loads(s.get("/v2/app/tags/list")[2]) == {"name": "app", "tags": ["v1"]}
        assert json.loads(s.get(f"/v2/app/referrers/{digest(want)}")[2])["manifests"] == []
        for path, status, code in ((f"/v2/app/manifests/v2", 404, "MANIFEST_UNKNOWN"), (f"/v2/app/blobs/{digest(b'')}", 404, "BLOB_UNKNOWN"),
                                   ("/v2/none/tags/list", 404, "NAME_UNKNOWN"), ("/v2/app/manifests/sha512:00", 400, "DIGEST_INVALID"),
                                   ("/v2/A/manifests/v1", 400, "NAME_INVALID"), ("/v2/app/blobs/uploads/", 400, None), ("/", 404, None)):
            got, _, body = s.get(path)
            assert got == status and (code is None or json.loads(body)["errors"][0]["code"] == code), path
        assert s.request("POST", "/v2/app/blobs/uploads/")[0] == 405
        assert s.stop() == 0


def test_tags_are_listed_page_by_page(store):
    for tag in ("v2", "v3", "w"):
        image(store, "tag", "app:v1", f"docker.io/library/app:{tag}")
    with serve(store) as s:
        status, headers, body = s.get("/v2/app/tags/list?n=2")
        assert json.loads(body)["tags"] == ["v1", "v2"]
        assert headers["Link"] == '</v2/app/tags/list?n=2&last=v2>; rel="next"'
        status, headers, body = s.get("/v2/app/tags/list?n=2&last=v2")
        assert json.loads(body)["tags"] == ["v3", "w"] and "Link" not in headers


@pytest.mark.skipif(not SKOPEO, reason="skopeo is not installed")
def test_skopeo_pulls_what_was_pulled(store, layout, tmp_path):
    with serve(store) as s:
        skopeo_copy(s, "library/app:v1", f"oci:{tmp_path}/out:v1")
        done = subprocess.run([SKOPEO, "inspect", "--tls-verify=false", f"docker://{s.host}/app:v1"], capture_output=True, text=True, timeout=DEADLINE_S)
        assert json.loads(done.stdout)["RepoTags"] == ["v1"], done.stderr
    index = json.loads((tmp_path / "out/index.json").read_text())
    assert index["manifests"][0]["digest"] == layout.manifests[0]["digest"]


@pytest.mark.skipif(not SKOPEO, reason="skopeo is not installed")
def test_skopeo_pulls_an_image_of_which_only_tars_are_kept(layout, tmp_path):
    store = tmp_path / "raw"
    image(store, "pull", f"oci:{layout.directory}:v1", "--name", "app:v1")
    with serve(store) as s:
        skopeo_copy(s, "app:v1", f"oci:{tmp_path}/out:v1")
        assert s.get(f"/v2/app/manifests/{layout.manifests[0]['digest']}")[0] == 404
    got = json.loads(image(store, "inspect", f"oci:{tmp_path}/out:v1", "-o", "json").stdout)
    assert [v["diffID"] for v in got["layers"]] == [digest(BASE), digest(TOP)]


def test_a_token_is_asked_for(store, tmp_path):
    (tmp_path / "token").write_text("a secret\n")
    with serve(store, "--token-file", tmp_path / "token") as s:
        status, headers, body = s.get("/v2/")
        assert status == 401 and headers["WWW-Authenticate"].startswith("Basic ") and json.loads(body)["errors"][0]["code"] == "UNAUTHORIZED"
        assert s.get("/v2/", Authorization="Bearer a secret")[0] == 200
        assert s.get("/v2/", Authorization="Bearer a secreT")[0] == 401
        assert s.get("/v2/app/manifests/v1", Authorization="Basic eDphIHNlY3JldA==")[0] == 200
        assert s.get("/metrics")[0] == 401 and s.get("/v1/health")[0] == 200
        if SKOPEO:
            skopeo_copy(s, "app:v1", f"oci:{tmp_path}/out:v1", "--src-creds", "any:a secret")


def test_other_machines_need_tls_and_a_token(store):
    for args, word in ((["--listen", "0.0.0.0:0"], "TLS"), (["--listen", "0.0.0.0:0", "--allow-plain-http"], "token")):
        done = image(store, "serve", *args, check=False)
        assert done.returncode == 2 and word in done.stderr


def test_a_report_names_an_address_that_others_can_reach(store, tmp_path):
    (tmp_path / "key").write_text("k" * 64)
    done = image(store, "serve", "--listen", "0.0.0.0:0", "--allow-plain-http", "--allow-anonymous", "--node", "n1",
                 "--cluster-key-file", str(tmp_path / "key"), "--report", check=False)
    assert done.returncode == 2 and "--url" in done.stderr


def test_it_may_have_as_many_descriptors_as_the_machine_lets_it(store):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    try:
        with serve(store) as s:
            assert resource.prlimit(s.process.pid, resource.RLIMIT_NOFILE) == (hard, hard)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_what_was_removed_meanwhile_is_served_to_the_end(store, layout):
    """The server only reads: another process removes the image and collects it between manifest and blobs."""
    doc = json.loads(manifest_of(layout))
    with serve(store) as s:
        assert s.get("/v2/app/manifests/v1")[0] == 200
        image(store, "rm", "app:v1")
        assert json.loads(image(store, "gc", "-o", "json").stdout)["layers"] == 2
        for d in [doc["config"]] + doc["layers"]:
            status, _, body = s.get(f"/v2/app/blobs/{d['digest']}")
            assert status == 200 and digest(body) == d["digest"]
        assert s.get("/v2/app/manifests/v1")[0] == 404


def test_a_large_blob_is_not_held_in_memory(tmp_path):
    big = layer([("big", "f", os.urandom(64 << 20))])
    made = Layout(tmp_path / "big")
    made.image("v1", [big], compress=lambda tar: tar, suffix="")
    store = tmp_path / "store"
    image(store, "pull", f"oci:{made.directory}:v1", "--name", "big:v1")
    with serve(store) as s:
        status, _, body = s.get(f"/v2/big/blobs/{digest(big)}")
        assert status == 200 and digest(body) == digest(big)
        peak = next(int(v.split()[1]) for v in open(f"/proc/{s.process.pid}/status") if v.startswith("VmHWM"))
        assert peak < 32 << 10, f"{peak} KiB"


@pytest.mark.skipif(not SKOPEO, reason="skopeo is not installed")
def test_names_of_registries_with_a_port(layout, tmp_path):
    """By containerd's ns, in the path, and for clients that take no ":" there as containerd names directories of hosts."""
    image(tmp_path / "store", "pull", f"oci:{layout.directory}:v1", "--form", "both", "--name", "registry.example:5000/team/app:v1")
    with serve(tmp_path / "store") as s:
        for name, query in (("team/app", "?ns=registry.example:5000"), ("registry.example:5000/team/app", ""), ("registry.example_5000_/team/app", ""),
                            ("registry.example_5000_/team/app", "?ns=registry.example%3A5000")):
            assert s.get(f"/v2/{name}/manifests/v1{query}")[2] == manifest_of(layout), (name, query)
        assert s.get("/v2/team/app/manifests/v1")[0] == s.get("/v2/registry.example_5001/team/app/manifests/v1")[0] == 404
        skopeo_copy(s, "registry.example_5000/team/app:v1", f"oci:{tmp_path}/out:v1")


# ---- pull-through

@pytest.fixture
def upstream(layout):
    f = Fake()
    f.add_layout(layout, "library/app", "v1")
    yield f
    f.close()


@pytest.mark.skipif(not SKOPEO, reason="skopeo is not installed")
def test_what_is_missing_is_pulled_through_once(upstream, layout, tmp_path):
    store = tmp_path / "store"
    with serve(store, "--upstream", upstream.host) as s:
        together = [threading.Thread(target=skopeo_copy, args=(s, "library/app:v1", f"oci:{tmp_path}/out{i}:v1")) for i in range(4)]
        for t in together:
            t.start()
        for t in together:
            t.join(DEADLINE_S)
        for i in range(4):
            index = json.loads((tmp_path / f"out{i}/index.json").read_text())
            assert index["manifests"][0]["digest"] == layout.manifests[0]["digest"]
        blobs = [p for p in upstream.paths("GET") if "/blobs/" in p]
        assert sorted(set(blobs)) == sorted(blobs), "a blob was fetched twice"
        upstream.close()
        skopeo_copy(s, "library/app:v1", f"oci:{tmp_path}/again:v1")
    assert image(store, "ls", "-o", "name").stdout.split() == [f"{upstream.host}/library/app:v1"]
    assert json.loads(image(store, "check", "-o", "json").stdout)["damaged"] == 0


def test_registries_that_were_not_named_are_not_asked(upstream, tmp_path):
    with serve(tmp_path / "store", "--upstream", "localhost:1") as s:
        assert s.get(f"/v2/library/app/manifests/v1?ns={upstream.host}")[0] == 404
        assert s.get(f"/v2/{upstream.host}/library/app/manifests/v1")[0] == 404
    assert upstream.seen == []


def test_a_manifest_does_not_wait_for_its_layers_and_a_blob_waits_for_itself(upstream, layout, tmp_path):
    """The upstream stops within the large layer; the other one and the manifest are served meanwhile."""
    doc = json.loads(manifest_of(layout))
    large, small = (d["digest"] for d in doc["layers"])
    released = threading.Event()
    upstream.faults.append(("GET", large, stall_after(1000, released)))
    with serve(tmp_path / "store", "--upstream", upstream.host) as s:
        status, headers, body = s.get("/v2/library/app/manifests/v1")
        assert status == 200 and body == manifest_of(layout)
        assert s.get(f"/v2/library/app/manifests/{digest(body)}")[0] == 200
        assert digest(s.get(f"/v2/library/app/blobs/{small}")[2]) == small
        released.set()
        assert digest(s.get(f"/v2/library/app/blobs/{large}")[2]) == large
        assert s.get(f"/v2/library/app/blobs/{digest(b'x')}")[0] == 404


def test_a_manifest_by_digest_does_not_depend_on_a_pull_of_another_tag(upstream, layout, tmp_path):
    """It waits for that pull, which might bring it, and is pulled after it."""
    large = json.loads(manifest_of(layout))["layers"][0]["digest"]
    second = layout.image("v2", [TOP])
    want = (layout.directory / "blobs/sha256" / layout.manifests[1]["digest"][7:]).read_bytes()
    upstream.add_layout(layout, "library/app", "v2")
    released, got = threading.Event(), []
    upstream.faults.append(("GET", large, stall_after(1000, released)))
    with serve(tmp_path / "store", "--upstream", upstream.host) as s:
        assert s.get("/v2/library/app/manifests/v1")[0] == 200
        wait_for(lambda: any(large in p for p in upstream.paths("GET")), "the blob is asked for")
        asking = threading.Thread(target=lambda: got.append(s.get(f"/v2/library/app/manifests/{digest(want)}")))
        asking.start()
        wait_for(lambda: b"dormouse_image_requests 1\n" in s.get("/metrics")[2], "the request waits")
        released.set()
        asking.join(DEADLINE_S)
        assert got and (got[0][0], got[0][2]) == (200, want), got
        assert digest(s.get(f"/v2/library/app/blobs/{second['layers'][0]['digest']}")[2]) == second["layers"][0]["digest"]


AWAY = {"code": "UNAVAILABLE", "message": "the image cannot be had from the registry that has it"}


def test_a_proxy_that_wants_another_login_is_no_missing_image(upstream, tmp_path, monkeypatch):
    with Proxy(upstream.port, "user:right") as proxy:
        monkeypatch.setenv("http_proxy", f"http://user:secret@127.0.0.1:{proxy.server_address[1]}")
        with serve(tmp_path / "store", "--upstream", "registry.example", "--plain-http") as s:
            status, _, body = s.get("/v2/library/app/manifests/v1")
            assert (status, json.loads(body)["errors"]) == (502, [AWAY])
            wait_for(lambda: "407" in "".join(s.log), "the log says why")
            assert "secret" not in "".join(s.log)
        assert proxy.seen


def test_errors_are_sentences_without_the_words_of_others(upstream, tmp_path):
    upstream.faults.append(("GET", "/manifests/", lambda h: h.error(403, "INTERNAL-DETAIL")))
    with serve(tmp_path / "store", "--upstream", upstream.host) as s:
        for path, code, message in (("/v2/library/app/manifests/v1", "MANIFEST_UNKNOWN", "manifest unknown to this registry"),
                                    (f"/v2/library/app/blobs/{digest(b'')}", "BLOB_UNKNOWN", "blob unknown to this registry"),
                                    ("/v2/none/tags/list", "NAME_UNKNOWN", "repository unknown to this registry"),
                                    ("/v2/A/manifests/v1", "NAME_INVALID", "the name, the reference or a parameter is not valid")):
            assert json.loads(s.get(path)[2])["errors"] == [{"code": code, "message": message}]
        wait_for(lambda: "INTERNAL-DETAIL" in "".join(s.log), "the log says why")


def test_a_registry_that_is_away_or_lies_is_reported(upstream, layout, tmp_path):
    doc = json.loads(manifest_of(layout))
    large = doc["layers"][0]["digest"]
    with serve(tmp_path / "store", "--upstream", upstream.host) as s:
        assert s.get("/v2/library/none/manifests/v1")[0] == 404
        upstream.blobs[large] = upstream.blobs[large][:-1] + b"?"
        assert s.get("/v2/library/app/manifests/v1")[0] == 200
        status, _, body = s.get(f"/v2/library/app/blobs/{large}")
        assert status == 502 and json.loads(body)["errors"][0]["code"] == "UNAVAILABLE"
        assert s.get("/v2/library/app/tags/list")[0] == 404
        upstream.close()
        status, _, body = s.get("/v2/library/app/manifests/v2")
        assert status == 502 and json.loads(body)["errors"] == [AWAY], body
    assert image(tmp_path / "store", "ls", "-o", "name").stdout == ""


def test_a_kill_during_a_pull_leaves_a_store_that_the_next_one_uses(upstream, layout, tmp_path):
    large = json.loads(manifest_of(layout))["layers"][0]["digest"]
    released = threading.Event()
    upstream.faults.append(("GET", large, stall_after(1000, released)))
    s = Serve(tmp_path / "store", "--upstream", upstream.host)
    assert s.get("/v2/library/app/manifests/v1")[0] == 200
    wait_for(lambda: any(large in p for p in upstream.paths("GET")), "the blob is asked for")
    s.kill()
    s.stop()
    released.set()
    with serve(tmp_path / "store", "--upstream", upstream.host) as again:
        assert again.get("/v2/library/app/manifests/v1")[0] == 200
        assert digest(again.get(f"/v2/library/app/blobs/{large}")[2]) == large
    assert json.loads(image(tmp_path / "store", "check", "-o", "json").stdout)["damaged"] == 0


def test_a_layer_that_is_being_sent_does_not_leave_for_another(tmp_path):
    """Three images of which two fit; a client takes its time over the first, which was used the longest ago."""
    registry, tars, blobs = Fake(), {}, {}
    try:
        for name in "abc":
            made = Layout(tmp_path / name)
            tars[name] = layer([("f", "f", os.urandom(7_000_000))])
            made.image("v1", [tars[name]], compress=lambda t: t, suffix="")
            blobs[name] = registry.add_layout(made, f"library/{name}", "v1")["layers"][0]["digest"]
        with serve(tmp_path / "store", "--upstream", registry.host, "--quota", "40Mi") as s:
            def path(name, what):
                return f"/v2/library/{name}/{what}?ns={registry.host}"
            assert s.get(path("a", "manifests/v1"))[0] == 200 and s.get(path("a", f"blobs/{blobs['a']}"))[0] == 200
            slow = socket.socket()
            slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
            slow.settimeout(DEADLINE_S)
            slow.connect(("127.0.0.1", int(s.host.split(":")[1])))
            slow.sendall(f"GET {path('a', 'blobs/' + blobs['a'])} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            assert slow.recv(4096)
            for name in "bc":
                assert s.get(path(name, "manifests/v1"))[0] == 200
                assert len(s.get(path(name, f"blobs/{blobs[name]}"))[2]) == len(tars[name])
            there = {name: (tmp_path / "store/layers" / digest(tars[name])[7:]).exists() for name in "abc"}
            slow.close()
            metrics = s.get("/metrics")[2].decode()
            assert there == {"a": True, "b": False, "c": True}
            assert "dormouse_image_cache_evicted_total 1\n" in metrics and "dormouse_image_cache_misses_total 3\n" in metrics
    finally:
        registry.close()


def statuses(s, paths, **headers):
    return {path: (s.get(path, **headers)[0], s.request("HEAD", path, **headers)[0]) for path in paths}


@pytest.mark.parametrize("form", ["raw", "both", "cas"])
def test_a_client_that_knows_digests_gets_nothing_that_is_private(form, layout, tmp_path):
    """What a pull with a tenant's credentials brought is marked below tenants/: whatever name it is asked by, it is missing."""
    store, doc = tmp_path / "store", json.loads(manifest_of(layout))
    image(store, "pull", f"oci:{layout.directory}:v1", "--form", form, "--name", "docker.io/library/app:v1")
    blobs = [doc["layers"][1]["digest"]] if form == "both" else []
    names = ("app", "library/app", "docker.io/library/app", "other/thing")
    of_layer = [f"/v2/{name}/blobs/{d}" for name in names for d in [digest(TOP), *blobs]]
    if form == "both":                                      # of it the clients get the blob, never the tar
        of_layer += [f"/v2/app/blobs/{digest(TOP)}?ns=docker.io"]
    of_image = [f"/v2/{name}/manifests/{reference}" for name in names[:3] for reference in ("v1", digest(manifest_of(layout)))]
    of_config = [f"/v2/{name}/blobs/{doc['config']['digest']}" for name in names]
    of_document = [f"/v2/{name}/manifests/{digest(manifest_of(layout))}" for name in names]

    def hide(d):
        (store / "tenants" / d[7:]).mkdir(parents=True, mode=0o700)

    def show(d):
        (store / "tenants" / d[7:]).rmdir()

    def gone(s, paths):
        for headers in ({}, {"Range": "bytes=0-9"}, {"Range": "bytes=0-9,20-29"}):
            assert set(statuses(s, paths, **headers).values()) == {(404, 404)}, headers

    hide(digest(TOP))
    with serve(store) as s:                                 # the layer alone is private: so is every image that has it
        gone(s, of_layer + of_image)
        assert s.get(f"/v2/app/blobs/{digest(BASE)}")[0] == 200
        show(digest(TOP))
        assert set(statuses(s, of_layer).values()) == {(200, 200)} and s.get("/v2/app/manifests/v1")[0] == 200
    hide(doc["config"]["digest"])
    with serve(store) as s:                                 # a configuration, which may hold secrets
        gone(s, of_config + ["/v2/app/manifests/v1"])
        show(doc["config"]["digest"])
        assert set(statuses(s, of_config).values()) == {(200, 200)}
    hide(digest(manifest_of(layout)))
    with serve(store) as s:
        gone(s, of_document + ["/v2/app/manifests/v1"])
        show(digest(manifest_of(layout)))
        assert s.get("/v2/app/manifests/v1")[0] == 200


@pytest.mark.parametrize("what", ["the layer", "another layer"])
def test_a_private_layer_becomes_public_when_the_registry_gives_its_bytes(what, upstream, layout, tmp_path):
    """A registry that only lists its DiffID, with a blob of its own, proves nothing."""
    store, doc = tmp_path / "store", json.loads(manifest_of(layout))
    image(store, "pull", f"oci:{layout.directory}:v1", "--form", "both", "--name", "other:v1")
    (store / "tenants" / digest(TOP)[7:]).mkdir(parents=True, mode=0o700)
    top = doc["layers"][1]["digest"]
    if what == "another layer":
        blob = upstream.blob(gzip.compress(layer([("mine", "f", b"mine")])))
        changed = json.dumps(doc | {"layers": [doc["layers"][0], doc["layers"][1] | {"digest": digest(blob), "size": len(blob)}]}).encode()
        upstream.manifests["library/app", "v1"] = (MANIFEST, changed)
    with serve(store, "--upstream", upstream.host) as s:
        assert s.get("/v2/library/app/manifests/v1")[0] == (200 if what == "the layer" else 502)
        status, _, body = s.get(f"/v2/library/app/blobs/{top}")
        if what == "the layer":
            assert (status, digest(body)) == (200, top) and len([p for p in upstream.paths("GET") if top in p]) == 1
        else:
            wait_for(lambda: b"dormouse_image_pulls_failed_total 1\n" in s.get("/metrics")[2], "the pull has failed")
            assert s.get(f"/v2/library/app/blobs/{top}")[0] == 404


def test_the_end_of_the_server_does_not_wait_for_a_proof(upstream, layout, tmp_path):
    store, top = tmp_path / "store", json.loads(manifest_of(layout))["layers"][1]["digest"]
    image(store, "pull", f"oci:{layout.directory}:v1", "--form", "both", "--name", "other:v1")
    (store / "tenants" / digest(TOP)[7:]).mkdir(parents=True, mode=0o700)
    released = threading.Event()
    upstream.faults.append(("GET", top, stall_after(10, released)))
    with serve(store, "--upstream", upstream.host) as s:
        assert s.get("/v2/library/app/manifests/v1")[0] == 200
        wait_for(lambda: any(top in p for p in upstream.paths("GET")), "the layer is asked for")
        assert s.stop() == 0 and "Operation canceled" in "".join(s.log), "it was cut"
    released.set()


def test_a_name_of_a_tenant_is_no_name_for_clients(layout, tmp_path):
    image(tmp_path / "store", "pull", f"oci:{layout.directory}:v1", "--name", "docker.io/library/app:v1#tenant=ann")
    with serve(tmp_path / "store") as s:
        for path in ("/v2/app/manifests/v1", "/v2/app/manifests/v1%23tenant=ann", "/v2/app/manifests/v1%23tenant%3Dann", "/v2/app/tags/list"):
            assert s.get(path)[0] in (400, 404), path


# ---- what has rotted

def rot(store, form):
    """Another byte in what the store keeps of BASE."""
    if form == "cas":
        place = max((store / "objects").glob("*/*"), key=lambda path: path.stat().st_size)
    else:
        place = store / "layers" / digest(BASE)[7:] / "data.tar"
    data = bytearray(place.read_bytes())
    data[len(data) // 2] ^= 1
    place.chmod(0o600)
    place.write_bytes(data)
    return place


def metric(s, name):
    lines = dict(line.split() for line in s.get("/metrics")[2].decode().splitlines() if not line.startswith("#"))
    return int(lines[f"dormouse_image_scrub_{name}_total"])


def told_of_damage(s):
    return next((line for line in s.log if "a layer of the image store was damaged" in line), None)


@pytest.mark.parametrize("form", ["raw", "cas"])
def test_a_mere_mirror_says_what_has_rotted(form, layout, tmp_path):
    store = tmp_path / "store"
    image(store, "pull", f"oci:{layout.directory}:v1", "--form", form)
    with serve(store, "--scrub", "1000Ti") as s:
        wait_for(lambda: metric(s, "layers") > 4, "each layer was looked at twice")
        assert metric(s, "bytes") > 2 * len(BASE) and metric(s, "damaged") == 0
        place = rot(store, form)
        wait_for(lambda: metric(s, "damaged"), "it is found")
        assert metric(s, "removed") == 0 and place.exists()
        assert "removed=0 made_again=0" in wait_for(lambda: told_of_damage(s), "what was done")
    assert any("the image store is damaged" in line for line in s.log)
    with serve(store) as s:
        assert b"scrub" not in s.get("/metrics")[2]


def test_a_server_that_writes_removes_what_has_rotted_and_pulls_it_again(upstream, store, layout):
    blob = json.loads(manifest_of(layout))["layers"][0]["digest"]
    with serve(store, "--upstream", upstream.host, "--scrub", "1000Ti") as s:
        rot(store, "both")                                  # before a manifest is served, after which its blobs are held open
        wait_for(lambda: metric(s, "removed"), "it is found")
        assert (store / "scrub").read_text().startswith("sha256:")
        reported = wait_for(lambda: told_of_damage(s), "what was done")
        assert f"layer={digest(BASE)} damaged=" in reported and "removed=1 " in reported
        assert s.get("/v2/library/app/manifests/v1")[0] == 200
        assert digest(s.get(f"/v2/library/app/blobs/{blob}")[2]) == blob
    assert (store / "layers" / digest(BASE)[7:] / "data.tar").read_bytes() == BASE
    assert image(store, "check").returncode == 0


def test_no_removal_is_told_where_it_fails(upstream, store):
    with serve(store, "--upstream", upstream.host, "--scrub", "1000Ti") as s:
        shutil.rmtree(store / "trash", ignore_errors=True)
        (store / "trash").write_text("no directory")
        place = rot(store, "both")
        reported = wait_for(lambda: told_of_damage(s), "it is found")
        assert f"layer={digest(BASE)} damaged=" in reported and "removed=0 " in reported and place.exists()
        assert any("reason=" in line and "removed" not in line for line in s.log if "the image store is damaged" in line)
