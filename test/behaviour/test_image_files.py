# SPDX-License-Identifier: Apache-2.0
"""dormouse image inspect and diff: images in files, read as they are, and refused when they lie."""
import bz2
import gzip
import json
import os
import shutil
import subprocess
import tarfile

import pytest

from conftest import BUILD, DEADLINE_S
from image_kit import Layout, digest, docker_archive, layer

BASE = layer([("etc", "d", ""), ("etc/passwd", "f", b"root\n"), ("etc/motd", "f", b"hello\n" * 100),
              ("usr", "d", ""), ("usr/bin", "d", ""), ("usr/bin/tool", "f", b"\x7fELF" + b"a" * 5000),
              ("usr/bin/alias", "h", "usr/bin/tool"), ("bin", "l", "usr/bin")])
OLD = layer([("app", "d", ""), ("app/run", "f", b"version 1\n"), ("app/data", "f", b"d" * 3000)])
NEW = layer([("app", "d", ""), ("app/run", "f", b"version 2\n"), ("app/data", "f", b"d" * 3000, {"mtime": 1800000000}),
             ("app/extra", "f", b"x" * 70), ("etc/.wh.motd", "f", b"")])


def image(*args):
    return subprocess.run([BUILD / "dormouse", "image", *args], capture_output=True, text=True, timeout=DEADLINE_S)


def as_json(*args):
    done = image(*args, "-o", "json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def layout(tmp_path):
    made = Layout(tmp_path / "layout")
    made.image("v1", [BASE, OLD])
    made.image("v2", [BASE, NEW])
    return made


def test_an_image_is_described_layer_by_layer(layout):
    seen = as_json("inspect", f"oci:{layout.directory}:v2")
    assert seen["digest"] == layout.manifests[1]["digest"]
    assert [v["diffID"] for v in seen["layers"]] == [digest(BASE), digest(NEW)]
    assert [v["tarSize"] for v in seen["layers"]] == [len(BASE), len(NEW)]
    assert [v["whiteouts"] for v in seen["layers"]] == [0, 1]
    assert seen["files"] == 5 and seen["contentSize"] == 5 + 5004 + 10 + 3000 + 70
    text = image("inspect", f"oci:{layout.directory}:v2")
    assert text.returncode == 0 and digest(NEW) in text.stdout and "5 files" in text.stdout


@pytest.mark.parametrize("compress, suffix", [(gzip.compress, "+gzip"), (lambda t: t, ""), (
    lambda t: gzip.compress(t[:1000]) + gzip.compress(t[1000:]), "+gzip"), ("zstd", "+zstd")])
def test_layers_are_read_in_every_compression(tmp_path, compress, suffix):
    if compress == "zstd":
        if not shutil.which("zstd"):
            pytest.skip("no zstd here")

        def compress(t):
            return subprocess.run(["zstd", "-q", "-c"], input=t, capture_output=True, check=True).stdout
    made = Layout(tmp_path / "layout")
    made.image("", [BASE, OLD], compress=compress, suffix=suffix)
    assert as_json("inspect", f"oci:{made.directory}")["files"] == 5


def test_archives_of_layouts_and_of_docker_hold_the_same(layout, tmp_path):
    with tarfile.open(tmp_path / "layout.tar", "w") as tar:
        tar.add(layout.directory, arcname=".")
    docker_archive(tmp_path / "docker.tar", {"app:v1": [BASE, OLD], "app:v2": [BASE, NEW]})
    want = as_json("inspect", f"oci:{layout.directory}:v1")
    of_archive = as_json("inspect", f"oci-archive:{tmp_path}/layout.tar:v1")
    of_docker = as_json("inspect", f"docker-archive:{tmp_path}/docker.tar:app:v1")
    assert of_archive == want
    for key in ("files", "contentSize", "paths"):
        assert of_docker[key] == want[key]
    assert [v["diffID"] for v in of_docker["layers"]] == [v["diffID"] for v in want["layers"]]


def test_tags_of_docker_archives_are_found_in_any_form(tmp_path):
    archive = f"docker-archive:{tmp_path}/d.tar"
    docker_archive(tmp_path / "d.tar", {"docker.io/foo/bar:1": [BASE], "docker.io/library/redis:7": [BASE, OLD], "own.example/a:latest": [BASE, NEW]})
    for name, layers in ("foo/bar:1", 1), ("docker.io/foo/bar:1", 1), ("redis:7", 2), ("library/redis:7", 2), ("own.example/a", 2):
        assert len(as_json("inspect", f"{archive}:{name}")["layers"]) == layers, name
    for name in "foo/bar:2", "redis", "a:latest", "bar:1":
        done = image("inspect", f"{archive}:{name}")
        assert done.returncode == 1 and name in done.stderr
    docker_archive(tmp_path / "d.tar", {"docker.io/library/a:1": [BASE], "a:1": [BASE, OLD]})
    assert len(as_json("inspect", f"{archive}:a:1")["layers"]) == 2  # the tag as it stands comes first


def test_a_platform_is_chosen_from_an_index(tmp_path):
    made = Layout(tmp_path / "layout")
    for architecture, content in (("amd64", b"1"), ("arm64", b"22")):
        made.image("", [layer([("f", "f", content)])], architecture=architecture)
        made.manifests[-1]["platform"] = {"os": "linux", "architecture": architecture}
    index = json.dumps({"schemaVersion": 2, "manifests": made.manifests}).encode()
    outer = made.descriptor(index, "application/vnd.oci.image.index.v1+json")
    (made.directory / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [outer]}))
    for platform, size in (("linux/amd64", 1), ("linux/arm64", 2)):
        seen = as_json("inspect", f"oci:{made.directory}", "--platform", platform)
        assert seen["contentSize"] == size and seen["platform"] == platform
    none = image("inspect", f"oci:{made.directory}", "--platform", "linux/s390x")
    assert none.returncode == 1 and "none for linux/s390x" in none.stderr


def test_two_images_are_compared(layout):
    seen = as_json("diff", f"oci:{layout.directory}:v1", f"oci:{layout.directory}:v2")
    assert {c["path"]: c["change"] for c in seen["changes"]} == {
        "/app/data": "time", "/app/extra": "added", "/app/run": "content", "/etc/motd": "removed"}
    assert seen["layers"] == 4 and seen["distinctLayers"] == 3
    assert seen["fileBytes"] == (5 + 600 + 5004 + 10 + 3000) + (5 + 5004 + 10 + 3000 + 70)
    both = 5 + 600 + 5004 + 10 + 10 + 3000 + 70
    assert seen["distinctFileBytes"] == {"content": both, "path": both, "attributes": both, "modification": both + 3000}
    text = image("diff", f"oci:{layout.directory}:v1", f"oci:{layout.directory}:v2", "--rows", "1")
    assert text.returncode == 0
    assert "/app/data" in text.stdout and "3 more" in text.stdout and "/app/run" not in text.stdout


def flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def test_a_damaged_blob_is_refused(layout):
    manifest = json.loads((layout.directory / "blobs/sha256" / layout.manifests[0]["digest"][7:]).read_text())
    for what in (manifest["layers"][1], manifest["config"], layout.manifests[0]):
        path = layout.directory / "blobs/sha256" / what["digest"][7:]
        good = path.read_bytes()
        flip(path)
        done = image("inspect", f"oci:{layout.directory}:v1")
        assert done.returncode == 1 and what["digest"][7:] in done.stderr
        path.write_bytes(good[:-1])
        done = image("inspect", f"oci:{layout.directory}:v1")
        assert done.returncode == 1 and "bytes" in done.stderr
        path.unlink()
        done = image("inspect", f"oci:{layout.directory}:v1")
        assert done.returncode == 1 and "No such file" in done.stderr
        path.write_bytes(good)


def test_a_layer_that_is_not_its_diff_id_is_refused(tmp_path):
    made = Layout(tmp_path / "layout")
    made.image("", [BASE], compress=lambda t: gzip.compress(OLD))
    done = image("inspect", f"oci:{made.directory}")
    assert done.returncode == 1 and "DiffID" in done.stderr


def test_names_that_are_not_there_are_told_with_those_that_are(layout, tmp_path):
    done = image("inspect", f"oci:{layout.directory}:v3")
    assert done.returncode == 1 and "'v1', 'v2'" in done.stderr
    done = image("inspect", f"oci:{layout.directory}")
    assert done.returncode == 1 and "several images" in done.stderr
    done = image("inspect", "app:v1")
    assert done.returncode == 1 and "oci-archive:FILE" in done.stderr
    assert image("inspect").returncode == 2
    assert image("diff", f"oci:{layout.directory}:v1").returncode == 2
    (tmp_path / "not.tar").write_bytes(bz2.compress(BASE))
    done = image("inspect", f"docker-archive:{tmp_path}/not.tar")
    assert done.returncode == 1 and "tar, byte" in done.stderr


def test_links_do_not_lead_out_of_a_layout(layout, tmp_path):
    secret = tmp_path / "secret"
    shutil.copy(layout.directory / "blobs/sha256" / layout.manifests[0]["digest"][7:], secret)
    path = layout.directory / "blobs/sha256" / layout.manifests[0]["digest"][7:]
    path.unlink()
    path.symlink_to(secret)
    done = image("inspect", f"oci:{layout.directory}:v1")
    assert done.returncode == 1 and "symbolic" in done.stderr
    path.unlink()
    os.mkfifo(path)
    done = image("inspect", f"oci:{layout.directory}:v1")
    assert done.returncode == 1 and "no regular file" in done.stderr


def test_a_decompression_bomb_costs_time_for_its_bytes_only(tmp_path):
    """A file of 4 GiB in a layer of 4 KiB, as a sparse member: hashed, never held."""
    made = Layout(tmp_path / "layout")
    tars = layer([("big", "f", b"", {"pax_headers": {"GNU.sparse.size": str(1 << 30), "GNU.sparse.map": "0,0"}})])
    made.image("", [tars])
    done = subprocess.run(["/bin/sh", "-c", 'ulimit -v 1000000; exec "$@"', "sh", BUILD / "dormouse", "image",
                           "inspect", f"oci:{made.directory}", "-o", "json"],
                          capture_output=True, text=True, timeout=DEADLINE_S)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["contentSize"] == 1 << 30


def can_trace():
    return shutil.which("strace") and subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True).returncode == 0


@pytest.mark.skipif(not can_trace(), reason="no strace here")
@pytest.mark.parametrize("words, n_layers", [
    ("inspect {v1}", 2), ("diff {v1} {v2}", 3), ("groups {v1} {v2}", 4), ("unpack {v1} {here}/rootfs --rootless --no-sync", 2),
    ("refactor {v1} {v2} --dry-run", 3), ("pull {v1} --name a:b --store {here}/store", 2)])
def test_no_command_parses_a_layer_itself(layout, tmp_path, words, n_layers):
    """Each layer is read by a confined process."""
    names = {v: f"oci:{layout.directory}:{v}" for v in ("v1", "v2")}
    done = subprocess.run(["strace", "-f", "-qq", "-e", "trace=execve", "-e", "signal=none", "-o", tmp_path / "trace", BUILD / "dormouse", "image",
                           *words.format(here=tmp_path, **names).split()], capture_output=True, text=True, timeout=DEADLINE_S)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "trace").read_text().count('"--read-layer"') >= n_layers


def test_a_bomb_is_not_read_to_its_end(tmp_path):
    """A layer that expands to more than a hundred times its blob, and to more than 256 MiB."""
    made = Layout(tmp_path / "layout")
    zeros = layer([("zeros", "f", bytes(300 << 20))])
    made.image("bomb", [zeros], compress=lambda tar: gzip.compress(tar, 1))
    made.image("plain", [zeros], compress=lambda tar: tar, suffix="")
    for words in (("inspect",), ("groups",)):
        done = image(*words, f"oci:{made.directory}:bomb")
        assert done.returncode == 1 and "bytes when decompressed" in done.stderr, done
    assert as_json("inspect", f"oci:{made.directory}:plain")["layers"][0]["diffID"] == digest(zeros)
