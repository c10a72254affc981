# SPDX-License-Identifier: Apache-2.0
"""Layers that are made from files which the store has and parts from elsewhere: `image serve`, eStargz, zstd:chunked."""
import gzip
import hashlib
import http.client
import io
import json
import os
import random
import shutil
import socket
import subprocess
import tarfile
import threading

import pytest

from chunked_kit import estargz, zstd_chunked
from conftest import BUILD, DEADLINE_S
from image_kit import CONFIG, MANIFEST, Layout, digest, layer
from registry_kit import REGISTRY, asked, fake, real
from serve_kit import Proxy, serve

SKOPEO = shutil.which("skopeo")
WORDS = random.Random(3)
BIG = WORDS.randbytes(6 << 20)
LIBRARY = WORDS.randbytes(900_000)
FILES = [WORDS.randbytes(3000) for _ in range(60)]


def version(n):
    """A layer of which a library changed in a few bytes and got another name, and three small files are new."""
    library = bytearray(LIBRARY)
    library[1000 * n:1000 * n + 20] = b"version %12d" % n
    entries = [("usr", "d", ""), ("usr/big", "f", BIG), (f"usr/libx.so.{n}", "f", bytes(library)), ("usr/lib.so", "l", f"libx.so.{n}")]
    for i, data in enumerate(FILES):
        entries.append((f"usr/file{i}", "f", data if i % 20 else data[:2000] + b"%d" % n))
    return layer(entries)


def two_blocks_at_the_end(tar):
    with tarfile.open(fileobj=io.BytesIO(tar)) as t:
        end = max(m.offset_data + (m.size + 511) // 512 * 512 for m in t)
    return tar[:end] + bytes(1024)


def image(store, *args, check=True, env=None):
    clean = {k: v for k, v in os.environ.items() if "proxy" not in k.lower()} | {"HOME": "/nonexistent"} | (env or {})
    done = subprocess.run([BUILD / "dormouse", "image", *map(str, args), "--store", store], capture_output=True, text=True, timeout=DEADLINE_S, env=clean)
    assert not check or done.returncode == 0, done.stderr
    return done


def pull(store, source, *args):
    return json.loads(image(store, "pull", source, "-o", "json", *args).stdout)


def tar_in(store, tar):
    found = store / "layers" / digest(tar)[7:] / "data.tar"
    return found.read_bytes() == tar and image(store, "check").returncode == 0


@pytest.fixture
def layout(tmp_path):
    made = Layout(tmp_path / "app")
    for n in (1, 2):
        made.image(f"v{n}", [version(n)])
    return made


@pytest.fixture
def cloud(tmp_path, layout):
    """A store with both versions, as tars."""
    for n in (1, 2):
        image(tmp_path / "cloud", "pull", f"oci:{layout.directory}:v{n}", "--name", f"docker.io/library/app:v{n}")
    return tmp_path / "cloud"


def through(server):
    proxy = Proxy(server.host)
    return proxy, f"docker://{proxy.url[7:]}/app"


# ---- dormouse image serve

def test_an_update_from_a_server_moves_what_changed(cloud, tmp_path):
    node = tmp_path / "node"
    with serve(cloud) as s:
        proxy, app = through(s)
        try:
            first = pull(node, f"{app}:v1")
            assert first["layersByFiles"] == 0 and first["bytes"] > len(BIG)
            moved = proxy.n
            second = pull(node, f"{app}:v2")
            moved = proxy.n - moved
        finally:
            proxy.close()
        line = image(tmp_path / "other", "pull", f"docker://{s.host}/app:v1").stdout
        assert "instead of" not in line
        line = image(tmp_path / "other", "pull", f"docker://{s.host}/app:v2").stdout
        assert "1 made from files, instead of 7." in line
    assert second["layersByFiles"] == 1 and second["blobBytesSpared"] > len(BIG)
    assert second["bytes"] < 30_000 and moved < 35_000          # three files of 2 KB, a table, documents and heads
    assert tar_in(node, version(2))


def test_whole_layers_where_they_are_wanted(cloud, tmp_path):
    with serve(cloud) as s:
        for store, args in (("a", ["--whole"]), ("b", ["--form", "both"])):
            pull(tmp_path / store, f"docker://{s.host}/app:v1", *args)
            assert pull(tmp_path / store, f"docker://{s.host}/app:v2", *args)["layersByFiles"] == 0
        assert not [line for line in s.log if "warn" in line]


def test_a_server_without_the_old_version_sends_new_files_whole(cloud, tmp_path):
    with serve(cloud) as s:
        pull(tmp_path / "node", f"docker://{s.host}/app:v1")
    image(cloud, "rm", "docker.io/library/app:v1")
    image(cloud, "gc")
    with serve(cloud) as s:
        second = pull(tmp_path / "node", f"docker://{s.host}/app:v2")
    assert second["layersByFiles"] == 1 and len(LIBRARY) < second["bytes"] < len(LIBRARY) + 40_000
    assert tar_in(tmp_path / "node", version(2))


@pytest.mark.parametrize("there, here", [("cas", "raw"), ("raw", "cas"), ("cas", "cas")])
def test_stores_that_keep_files_by_their_contents_give_and_take_them(there, here, layout, tmp_path):
    cloud, node = tmp_path / "there", tmp_path / "here"
    for n in (1, 2):
        image(cloud, "pull", f"oci:{layout.directory}:v{n}", "--form", there, "--name", f"docker.io/library/app:v{n}")
    with serve(cloud) as s:
        assert pull(node, f"docker://{s.host}/app:v1", "--form", here)["layersByFiles"] == 0
        second = pull(node, f"docker://{s.host}/app:v2", "--form", here)
        # A client that knows nothing of files: the tar, whole and in ranges.
        tar, path = version(2), f"/v2/app/blobs/{digest(version(2))}"
        doc = json.loads(s.get("/v2/app/manifests/v2")[2])
        assert [(layer["digest"], layer["size"]) for layer in doc["layers"]] == [(digest(tar), len(tar))]
        assert s.request("HEAD", path)[1]["Content-Length"] == str(len(tar)) and s.get(path)[2] == tar
        for low, high in ((0, 1), (500, 1500), (len(tar) // 3, len(tar) // 3 + 900_000), (len(tar) - 3000, len(tar))):
            assert s.get(path, Range=f"bytes={low}-{high - 1}")[2] == tar[low:high]
    assert second["layersByFiles"] == 1 and second["bytes"] < 30_000
    assert image(node, "check").returncode == 0
    assert (node / "layers" / digest(tar)[7:] / ("skeleton" if here == "cas" else "data.tar")).exists()


def test_private_layers_of_functions_are_not_shown_to_a_server(cloud, tmp_path):
    node = tmp_path / "node"
    with serve(cloud) as s:
        pull(node, f"docker://{s.host}/app:v1")
        (node / "tenants" / digest(version(1))[7:]).mkdir(parents=True, mode=0o700)     # as a pull with credentials of a tenant leaves it
        assert pull(node, f"docker://{s.host}/app:v2")["layersByFiles"] == 0
    assert tar_in(node, version(2))


def test_private_layers_of_functions_are_not_given_by_their_files(cloud):
    known = b"DMFILERQ\1\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0" + bytes.fromhex(digest(version(1))[7:]) + hashlib.sha256(FILES[1]).digest()
    with serve(cloud) as s:
        assert s.get(f"/v2/app/_dormouse/trees/{digest(version(2))}")[0] == 200
        (cloud / "tenants" / digest(version(1))[7:]).mkdir(parents=True, mode=0o700)
        assert s.get(f"/v2/app/_dormouse/trees/{digest(version(1))}")[0] == 404
        assert s.request("POST", "/v2/app/_dormouse/files", known)[0] == 404


def test_a_server_that_lies_about_files_costs_its_bytes(cloud, layout, tmp_path):
    with fake() as registry:
        doc = registry.add_layout(layout, "library/app", "v1")
        registry.add_layout(layout, "library/app", "v2")
        output = []

        def says_files(h):
            media_type, data = h.server.manifests["library/app", "v2"]
            return h.reply(200, data, Content_Type=media_type, Dormouse_Files="1")

        def gives_nonsense(h):
            output.append(h.path)
            return h.reply(200, b"DMTREEMF" + bytes(1000))

        pull(tmp_path / "node", f"docker://{registry.host}/library/app:v1")
        registry.faults += [("GET", "/manifests/v2", says_files), ("GET", "/_dormouse/trees/", gives_nonsense)]
        done = image(tmp_path / "node", "pull", f"docker://{registry.host}/library/app:v2", "-o", "json")
        assert "cannot be made from parts, the blob is fetched: " in done.stderr
        done = json.loads(done.stdout)
        assert doc and len(output) == 1 and done["layersByFiles"] == 0 and done["bytes"] > len(BIG)
    assert tar_in(tmp_path / "node", version(2))


def announced(host, n):
    """The status of a request for files whose head says that it has n bytes, before any of them is sent."""
    connection = http.client.HTTPConnection(host, timeout=DEADLINE_S)
    try:
        connection.putrequest("POST", "/v2/app/_dormouse/files")
        connection.putheader("Content-Length", str(n))
        connection.endheaders()
        return connection.getresponse().status
    finally:
        connection.close()


def test_requests_for_files_that_are_wrong(cloud, layout, tmp_path):
    tree = f"/v2/app/_dormouse/trees/{digest(version(1))}"
    with serve(cloud) as s:
        status, headers, body = s.get("/v2/app/manifests/v1")
        assert headers["Dormouse-Files"] == "1"
        status, headers, body = s.get(tree)
        assert status == 200 and body[:8] == b"DMTREEMF" and len(body) < 20_000
        assert s.get(tree)[2] == body
        assert s.get(f"/v2/app/_dormouse/trees/{digest(b'')}")[0] == 404
        assert s.get("/v2/app/_dormouse/trees/x")[0] == 400
        assert s.get("/v2/app/_dormouse/files")[0] == 405
        assert s.request("POST", tree)[0] == 405
        for text in (b"", b"DMFILERQ", b"DMFILERQ" + b"\xff" * 16, b"DMFILERQ\1\0\0\0" + bytes(12) + b"x"):
            status, _, body = s.request("POST", "/v2/app/_dormouse/files", text)
            assert status == 400 and json.loads(body)["errors"][0]["code"] == "FILES_INVALID", text
        nowhere = b"DMFILERQ\1\0\0\0\1\0\0\0" + bytes(8) + bytes(32)
        assert s.request("POST", "/v2/app/_dormouse/files", nowhere)[0] == 404
        assert announced(s.host, 2 << 20) == 413
        wanted = hashlib.sha256(FILES[1]).digest()
        known = b"DMFILERQ\1\0\0\0\1\0\0\0\0\0\0\0\2\0\0\0" + bytes.fromhex(digest(version(1))[7:]) + wanted + bytes(32)
        status, _, body = s.request("POST", "/v2/app/_dormouse/files", known)
        assert status == 200 and body[:8] == b"DMFILEAN" and body[20:22] == b"\1\0" and int.from_bytes(body[22:30], "little") == len(FILES[1])
    (tmp_path / "token").write_text("a secret of the tests\n")
    with serve(cloud, "--token-file", tmp_path / "token") as s:
        assert s.get(tree)[0] == 401 and s.request("POST", "/v2/app/_dormouse/files", known)[0] == 401


@pytest.mark.parametrize("part", [0.3, 0.6, 0.95])
def test_a_pull_that_is_killed_leaves_nothing_half_made(part, cloud, tmp_path):
    with serve(cloud) as s:
        pull(tmp_path / "whole", f"docker://{s.host}/app:v1")
        proxy, app = through(s)
        pull(tmp_path / "whole", f"{app}:v2")
        moved = proxy.n
        proxy.close()
        node, killed = tmp_path / "node", threading.Event()
        pull(node, f"docker://{s.host}/app:v1")
        proxy = Proxy(s.host, after=int(moved * part), then=lambda proxy: (process.kill(), killed.set()))
        try:
            process = subprocess.Popen([BUILD / "dormouse", "image", "pull", f"docker://{proxy.url[7:]}/app:v2", "--store", node], stderr=subprocess.DEVNULL)
            assert killed.wait(DEADLINE_S) and process.wait(DEADLINE_S) == -9
        finally:
            proxy.close()
        assert len(list((node / "layers").iterdir())) == 1 and image(node, "check").returncode == 0
        assert "v2" not in image(node, "ls").stdout
        assert pull(node, f"docker://{s.host}/app:v2")["layersByFiles"] == 1
    assert tar_in(node, version(2))


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a small file system")
def test_a_full_disk_leaves_nothing_half_made(cloud, tmp_path):
    node = tmp_path / "node"
    node.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=40m", "none", node], capture_output=True).returncode:
        pytest.skip("cannot mount here")
    try:
        with serve(cloud) as s:
            pull(node, f"docker://{s.host}/app:v1")
            subprocess.run(["mount", "-o", "remount,size=10m", node], check=True)
            done = image(node, "pull", f"docker://{s.host}/app:v2", check=False)
            assert done.returncode == 1 and "No space left" in done.stderr
            assert len(list((node / "layers").iterdir())) == 1 and image(node, "check").returncode == 0
            subprocess.run(["mount", "-o", "remount,size=40m", node], check=True)
            assert pull(node, f"docker://{s.host}/app:v2")["layersByFiles"] == 1
        assert tar_in(node, version(2))
    finally:
        subprocess.run(["umount", node], check=True)


def test_requests_for_files_that_never_end_keep_nobody_out(cloud):
    """Two at once are packed; those that have not arrived are not among them."""
    waiting = []
    with serve(cloud) as s:
        try:
            for _ in range(8):
                connection = http.client.HTTPConnection(s.host, timeout=DEADLINE_S)
                connection.putrequest("POST", "/v2/app/_dormouse/files")
                connection.putheader("Content-Length", "100")
                connection.putheader("Expect", "100-continue")
                connection.endheaders()
                assert connection.sock.recv(25, socket.MSG_WAITALL) == b"HTTP/1.1 100 Continue\r\n\r\n"    # the server waits for the body
                waiting.append(connection)
            assert s.get(f"/v2/app/_dormouse/trees/{digest(version(1))}")[0] == 200
        finally:
            for connection in waiting:
                connection.close()


def test_nodes_that_update_at_once_wait_for_their_turn(cloud):
    """Two requests are packed at once; the others wait instead of being refused, and whoever leaves is forgotten."""
    def request(n):
        return (b"DMFILERQ\1\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0" + bytes.fromhex(digest(version(1))[7:]) + bytes([n] * 32) + hashlib.sha256(BIG).digest())

    answers = {}
    with serve(cloud) as s:
        gone = http.client.HTTPConnection(s.host, timeout=DEADLINE_S)
        threads = [threading.Thread(target=lambda n=n: answers.update({n: s.request("POST", "/v2/app/_dormouse/files", request(n))})) for n in range(16)]
        for thread in threads:
            thread.start()
        gone.request("POST", "/v2/app/_dormouse/files", request(99))
        gone.close()
        for thread in threads:
            thread.join()
        assert [answers[n][0] for n in range(16)] == [200] * 16
        assert {int.from_bytes(body[22:30], "little") for _, _, body in answers.values()} == {len(BIG)}


# ---- deltas in a registry

def with_delta(registry, layout, tmp_path):
    """Both versions in a registry, and a store that attached to v2 what an update from v1 needs."""
    for n in (1, 2):
        registry.add_layout(layout, "app", f"v{n}")
        image(tmp_path / "maker", "pull", f"docker://{registry.host}/app:v{n}")
    with serve(tmp_path / "maker", "--upstream", registry.host):     # it has the store open, which is only read
        return json.loads(image(tmp_path / "maker", "delta", f"docker://{registry.host}/app:v2", "--from", f"{registry.host}/app:v1", "-o", "json").stdout)


def test_an_update_by_a_delta_from_any_registry(layout, tmp_path):
    with fake() as registry:
        made = with_delta(registry, layout, tmp_path)
        assert made["layers"] == 1 and made["bytes"] < 30_000 and made["blobBytes"] > len(BIG)
        pull(tmp_path / "node", f"docker://{registry.host}/app:v1")
        second = pull(tmp_path / "node", f"docker://{registry.host}/app:v2")
        assert second["layersByFiles"] == 1 and second["bytes"] == made["bytes"] and second["blobBytesSpared"] == made["blobBytes"]
        assert tar_in(tmp_path / "node", version(2))
        # A node without the older version fetches the blob, and does not ask for the delta.
        registry.seen.clear()
        assert pull(tmp_path / "other", f"docker://{registry.host}/app:v2", "--original")["layersByFiles"] == 0
        assert not [path for _, path, _ in registry.seen if "referrers" in path or "sha256-" in path]


@pytest.mark.parametrize("fault", ["other bytes", "another delta", "gone"])
def test_a_delta_that_is_wrong_costs_its_bytes(fault, layout, tmp_path):
    with fake() as registry:
        made = with_delta(registry, layout, tmp_path)
        pull(tmp_path / "node", f"docker://{registry.host}/app:v1")
        artifact = json.loads(registry.manifests["app", made["digest"]][1])
        delta = artifact["layers"][0]["digest"]
        if fault == "other bytes":
            registry.faults.append(("GET", delta, lambda h: h.reply(200, bytes(made["bytes"]))))
        elif fault == "gone":
            registry.faults.append(("GET", delta, lambda h: h.error(404, "BLOB_UNKNOWN")))
        else:                                       # a manifest whose digests are right, of a delta that is not one
            blob = b"DMLDELTA\1\0\0\0" + bytes(300)
            artifact["layers"][0] |= {"digest": digest(blob), "size": len(blob)}
            text = json.dumps(artifact).encode()
            registry.blob(blob)
            registry.manifests["app", digest(text)] = (MANIFEST, text)
            tag = artifact["subject"]["digest"].replace(":", "-")
            index = json.loads(registry.manifests["app", tag][1])
            index["manifests"][0] |= {"digest": digest(text), "size": len(text)}
            registry.manifests["app", tag] = (registry.manifests["app", tag][0], json.dumps(index).encode())
        done = image(tmp_path / "node", "pull", f"docker://{registry.host}/app:v2", "-o", "json")
        assert ("cannot be made from parts" in done.stderr) == (fault != "gone")
        assert json.loads(done.stdout)["layersByFiles"] == 0
    assert tar_in(tmp_path / "node", version(2))


@pytest.mark.skipif(not REGISTRY, reason="no docker-registry here")
def test_a_delta_in_docker_registry(layout, tmp_path):
    with real(tmp_path) as host:
        for n in (1, 2):
            subprocess.run([BUILD / "dormouse", "image", "push", f"oci:{layout.directory}:v{n}", f"docker://{host}/app:v{n}"], check=True, timeout=DEADLINE_S)
            image(tmp_path / "maker", "pull", f"docker://{host}/app:v{n}")
        line = image(tmp_path / "maker", "delta", f"docker://{host}/app:v2", "--from", f"{host}/app:v1").stdout
        assert "1 layers, " in line and "0 without a delta" in line
        pull(tmp_path / "node", f"docker://{host}/app:v1")
        proxy = Proxy(host)
        try:
            second = pull(tmp_path / "node", f"docker://{proxy.url[7:]}/app:v2")
        finally:
            proxy.close()
    assert second["layersByFiles"] == 1 and proxy.n < 40_000
    assert tar_in(tmp_path / "node", version(2))


# ---- layers that others made

def add_chunked(registry, directory, repository, tag, blob, tar, notes, kind):
    made = Layout(directory)
    config = {"os": "linux", "architecture": "amd64", "rootfs": {"type": "layers", "diff_ids": [digest(tar)]}}
    doc = {"schemaVersion": 2, "mediaType": MANIFEST, "config": made.descriptor(json.dumps(config).encode(), CONFIG),
           "layers": [made.descriptor(blob, f"application/vnd.oci.image.layer.v1.tar+{kind}", annotations=notes)]}
    made.manifests.append(made.descriptor(json.dumps(doc).encode(), MANIFEST, annotations={"org.opencontainers.image.ref.name": tag}))
    (directory / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": made.manifests}))
    registry.add_layout(made, repository, tag)


def chunked(kind, registry, tmp_path, **changes):
    """Two versions in a registry; returns the tar of the second."""
    make = estargz if kind == "gzip" else zstd_chunked
    for n in (1, 2):
        blob, tar, notes = make(version(n), **(changes if n == 2 else {}))
        add_chunked(registry, tmp_path / f"{kind}{n}", "app", f"v{n}", blob, tar, notes, kind)
    return tar, len(blob)


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
def test_chunks_that_are_here_are_not_fetched(kind, tmp_path):
    with fake() as registry:
        tar, n_blob = chunked(kind, registry, tmp_path)
        assert pull(tmp_path / "node", f"docker://{registry.host}/app:v1")["layersByFiles"] == 0
        registry.seen.clear()
        second = pull(tmp_path / "node", f"docker://{registry.host}/app:v2")
        ranges = [h["Range"] for m, path, h in registry.seen if "/blobs/" in path and "Range" in h]
        assert any("," in r for r in ranges) and len(ranges) <= 4
        assert second["layersByFiles"] == 1 and second["blobBytesSpared"] == n_blob
        # Of eStargz the last chunk of a file is in one member with headers: 4 of the 6 MiB are spared.
        assert second["bytes"] < n_blob - (4 << 20) if kind == "gzip" else second["bytes"] < len(LIBRARY) + 400_000
        assert all(r.split("-")[1] for r in ranges)
    assert tar_in(tmp_path / "node", tar)


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
@pytest.mark.parametrize("fault", ["no ranges", "other bytes", "another table", "cut short", "gone"])
def test_a_registry_whose_ranges_fail_gives_the_blob(kind, fault, tmp_path):
    with fake() as registry:
        tar, n_blob = chunked(kind, registry, tmp_path)
        pull(tmp_path / "node", f"docker://{registry.host}/app:v1")
        registry.knows_ranges, registry.knows_many = fault != "no ranges", False

        def wrong(h):
            low, high = (int(n) for n in h.headers["Range"][6:].split("-"))
            return h.reply(206, bytes(high + 1 - low), Content_Range=f"bytes {low}-{high}/{n_blob}")

        def cut(h):
            low, high = (int(n) for n in h.headers["Range"][6:].split("-"))
            h.send_response(206)
            h.send_header("Content-Range", f"bytes {low}-{high}/{n_blob}")
            h.send_header("Content-Length", str(high + 1 - low))
            h.end_headers()
            h.wfile.write(bytes((high + 1 - low) // 2))
            h.close_connection = True

        def missing(h):
            return h.error(404, "BLOB_UNKNOWN")

        layer_digest = json.loads(registry.manifests["app", "v2"][1])["layers"][0]["digest"]
        faults = {"another table": wrong, "cut short": cut, "gone": missing}
        if fault in faults:
            registry.faults.append(("GET", layer_digest, faults[fault]))
        elif fault == "other bytes":                        # the table is right, what it leads to is not
            def later(h):
                if h.headers.get("Range", "").startswith("bytes=0-") and "," not in h.headers["Range"]:
                    return wrong(h)
                registry.faults.append(("GET", layer_digest, later))
                return None
            registry.faults.append(("GET", layer_digest, later))
        second = pull(tmp_path / "node", f"docker://{registry.host}/app:v2")
        registry.faults.clear()
        assert second["layersByFiles"] == 0 and second["bytes"] >= n_blob
    assert tar_in(tmp_path / "node", tar)


def fetched(registry, tmp_path, name):
    """The second version onto a new node that has the first one; returns the answer of the pull and the ranges asked for."""
    pull(tmp_path / name, f"docker://{registry.host}/app:v1")
    registry.seen.clear()
    done = image(tmp_path / name, "pull", f"docker://{registry.host}/app:v2", "-o", "json")
    assert "cannot be made" not in done.stderr
    return json.loads(done.stdout), [h["Range"] for _, path, h in registry.seen if "/blobs/" in path and "Range" in h]


def test_several_ranges_in_a_request_make_small_files_worth_leaving_out(tmp_path):
    with fake() as registry:
        tar, n_blob = chunked("zstd", registry, tmp_path)
        many, asked_many = fetched(registry, tmp_path, "many")
        registry.knows_many = False
        single, asked_single = fetched(registry, tmp_path, "single")
    assert many["layersByFiles"] == single["layersByFiles"] == 1
    ranges = [r.split("-") for asked in asked_many for r in asked[6:].split(",")]
    wanted = sum(int(last) + 1 - int(first) for first, last in ranges)
    here = len(BIG) + sum(len(data) for i, data in enumerate(FILES) if i % 20)
    assert many["bytes"] < single["bytes"] - 50 * len(FILES[0]) and wanted < n_blob - here
    assert wanted <= many["bytes"] <= wanted + 200 * len(ranges)                  # with the heads of the parts
    assert len(asked_many) <= 3 and sum("," in r for r in asked_single) == 1      # it asks such a registry once
    assert tar_in(tmp_path / "many", tar) and tar_in(tmp_path / "single", tar)


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
@pytest.mark.parametrize("fault", ["the blob", "one range", "cut short", "the last first", "put together", "fewer", "other parts", "refused"])
def test_a_registry_that_answers_several_ranges_in_its_own_way(kind, fault, tmp_path):
    """What came is used; what did not is asked for range by range."""
    with fake() as registry:
        tar, n_blob = chunked(kind, registry, tmp_path)
        layer_digest = json.loads(registry.manifests["app", "v2"][1])["layers"][0]["digest"]
        data = registry.blobs[layer_digest]
        output = []

        def in_its_own_way(h):
            if "," not in h.headers.get("Range", ""):
                registry.faults.append(("GET", layer_digest, in_its_own_way))
                return None
            output.append(asked(h))
            ranges = output[-1]
            if fault == "the blob":
                return h.reply(200, data)
            if fault == "one range":
                return h.reply(206, data[slice(*ranges[0])], Content_Range=f"bytes {ranges[0][0]}-{ranges[0][1] - 1}/{len(data)}")
            if fault == "refused":
                return h.error(416, "RANGE_INVALID")
            changed = {"cut short": ranges, "the last first": ranges[::-1], "put together": [(ranges[0][0], ranges[1][1]), *ranges[2:]],
                       "fewer": ranges[:1], "other parts": [(low + 1, high) for low, high in ranges]}[fault]
            return h.send_ranges(data, changed, cut=(ranges[0][1] - ranges[0][0]) // 2 if fault == "cut short" else None)

        registry.faults.append(("GET", layer_digest, in_its_own_way))
        second, ranges = fetched(registry, tmp_path, "node")
        registry.faults.clear()
    assert output and second["layersByFiles"] == 1 and second["bytes"] < n_blob
    n_many = sum("," in r for r in ranges)
    if fault == "cut short":
        assert n_many == 2, ranges      # a connection that breaks is no answer
    else:
        assert (n_many == 1) == (fault != "put together" or len(output) == 1)
    assert tar_in(tmp_path / "node", tar)


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
def test_a_table_that_names_other_contents_proves_nothing(kind, tmp_path):
    """The table is what its annotation says, and claims that usr/big is another file of that size which the node has."""
    other = BIG[::-1]
    with fake() as registry:
        tar, n_blob = chunked(kind, registry, tmp_path, digests={"usr/big": digest(other)})
        blob, decoy, notes = (estargz if kind == "gzip" else zstd_chunked)(layer([("usr/other", "f", other), ("usr/libx.so.1", "f", LIBRARY)]))
        add_chunked(registry, tmp_path / "decoy", "app", "decoy", blob, decoy, notes, kind)
        pull(tmp_path / "node", f"docker://{registry.host}/app:decoy")
        done = image(tmp_path / "node", "pull", f"docker://{registry.host}/app:v2", "-o", "json")
    assert "cannot be made from parts" in done.stderr and "is not what its DiffID says" in done.stderr
    assert json.loads(done.stdout)["layersByFiles"] == 0 and json.loads(done.stdout)["bytes"] > n_blob
    assert tar_in(tmp_path / "node", tar)


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
def test_a_file_that_rotted_here_is_no_fault_of_the_registry(kind, tmp_path):
    with fake() as registry:
        tar, n_blob = chunked(kind, registry, tmp_path)
        pull(tmp_path / "node", f"docker://{registry.host}/app:v1")
        [kept] = (tmp_path / "node" / "layers").glob("*/data.tar")
        at = kept.read_bytes().index(BIG[:64])
        kept.chmod(0o600)
        with kept.open("r+b") as f:
            f.seek(at + 100_000)
            f.write(bytes(8))
        done = image(tmp_path / "node", "pull", f"docker://{registry.host}/app:v2", "-o", "json")
    assert "cannot be made from parts" in done.stderr and "a file of the store is damaged" in done.stderr
    assert json.loads(done.stdout)["layersByFiles"] == 0 and json.loads(done.stdout)["bytes"] > n_blob
    assert (tmp_path / "node" / "layers" / digest(tar)[7:] / "data.tar").read_bytes() == tar


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
def test_a_table_that_takes_too_much_memory_costs_the_blob(kind, tmp_path):
    """24 MB of JSON, a gigabyte parsed: more than its confined reader may have."""
    with fake() as registry:
        tar, n_blob = chunked(kind, registry, tmp_path, table=b'{"version":1,"entries":[' + b"0," * (12 << 20) + b"0]}")
        pull(tmp_path / "node", f"docker://{registry.host}/app:v1")
        done = image(tmp_path / "node", "pull", f"docker://{registry.host}/app:v2", "-o", "json")
    assert "cannot be made from parts" in done.stderr and "JSON document too large" in done.stderr
    assert json.loads(done.stdout)["layersByFiles"] == 0 and json.loads(done.stdout)["bytes"] > n_blob
    assert tar_in(tmp_path / "node", tar)


@pytest.mark.skipif(not (REGISTRY and SKOPEO), reason="no docker-registry or no skopeo here")
def test_what_skopeo_writes_as_zstd_chunked(tmp_path):
    # skopeo 1.9 keeps two of the blocks of zeros at the end, which is what Go's tar writer makes.
    layout = Layout(tmp_path / "trimmed")
    with real(tmp_path) as host:
        for n in (1, 2):
            layout.image(f"v{n}", [two_blocks_at_the_end(version(n))])
            done = subprocess.run([SKOPEO, "--insecure-policy", "copy", "--dest-tls-verify=false", "--dest-compress-format", "zstd:chunked",
                                   "--dest-compress", f"oci:{layout.directory}:v{n}", f"docker://{host}/app:v{n}"], capture_output=True, text=True, timeout=DEADLINE_S)
            assert done.returncode == 0, done.stderr
        pull(tmp_path / "node", f"docker://{host}/app:v1")
        second = pull(tmp_path / "node", f"docker://{host}/app:v2")
    assert second["layersByFiles"] == 1 and second["bytes"] < len(LIBRARY) + 500_000
    assert tar_in(tmp_path / "node", two_blocks_at_the_end(version(2)))
