# SPDX-License-Identifier: Apache-2.0
"""dormouse image refactor --layers zstd-chunked: layers with a table of contents and a tar-split, judged by a reader in Python, zstd, GNU tar and skopeo."""
import base64
import functools
import io
import json
import os
import shutil
import struct
import subprocess
import tarfile
from types import SimpleNamespace

import pytest

from conftest import DEADLINE_S
from image_kit import Layout, digest, layer
from registry_kit import REGISTRY, fake, real
from test_image_estargz import BIG, CHUNK, dormouse, entries, entries_of, layers, tree
from test_image_refactor import check_layout

pytestmark = pytest.mark.skipif(not shutil.which("zstd"), reason="no zstd here")
SKOPEO = shutil.which("skopeo")
NOTE = "io.github.containers.zstd-chunked."
OLD_NOTE = "io.containers.zstd-chunked."      # of podman 4.3
SKIPPABLE = b"\x50\x2a\x4d\x18"
KINDS = {"reg": tarfile.REGTYPE, "dir": tarfile.DIRTYPE, "symlink": tarfile.SYMTYPE, "hardlink": tarfile.LNKTYPE, "char": tarfile.CHRTYPE, "fifo": tarfile.FIFOTYPE}


def refactor(*args, check=True):
    return dormouse("refactor", *args, "--layers", "zstd-chunked", "--layer-threshold", "1", "--gain-threshold", "1", check=check)


@pytest.fixture(scope="module")
def layout(tmp_path_factory):
    made = Layout(tmp_path_factory.mktemp("chunked") / "source")
    for n in (1, 2):
        made.image(f"v{n}", [layer(entries(n))])
    return made


@pytest.fixture(scope="module")
def written(layout, tmp_path_factory):
    out = tmp_path_factory.mktemp("chunked") / "out"
    refactor(*[f"oci:{layout.directory}:v{n}" for n in (1, 2)], "--to", f"oci:{out}", "--mode", "replace")
    check_layout(out)
    return out


@functools.lru_cache(maxsize=None)
def inflate(data):
    done = subprocess.run(["zstd", "-dcq"], input=data, capture_output=True, timeout=DEADLINE_S)
    assert done.returncode == 0, done.stderr
    return done.stdout


def place(data, text):
    """What is at OFFSET:PACKED:UNPACKED, inflated; before it stands the head of a skippable frame."""
    at, packed, unpacked = map(int, text.split(":")[:3])
    assert data[at - 8:at] == SKIPPABLE + struct.pack("<I", packed)
    found = inflate(data[at:at + packed])
    assert len(found) == unpacked
    return data[at:at + packed], found


def table(data, notes):
    """(table, lines of the tar-split, where the table is), compared with the footer and the annotations."""
    assert data[-72:-64] == SKIPPABLE + struct.pack("<I", 64) and data[-8:] == b"GNUlInUx"
    *at, kind, split_at, split_packed, split_unpacked = struct.unpack("<7Q", data[-64:-8])
    assert notes[NOTE + "manifest-position"] == ":".join(map(str, [*at, kind])) and kind == 1
    assert notes[NOTE + "tarsplit-position"] == f"{split_at}:{split_packed}:{split_unpacked}"
    packed, text = place(data, notes[NOTE + "manifest-position"])
    assert digest(packed) == notes[NOTE + "manifest-checksum"]
    assert all(notes[OLD_NOTE + key] == notes[NOTE + key] for key in ("manifest-position", "manifest-checksum"))
    packed, lines = place(data, notes[NOTE + "tarsplit-position"])
    doc = json.loads(text)
    assert doc["version"] == 1 and doc["tarSplitDigest"] == digest(packed)
    return doc["entries"], [json.loads(line) for line in lines.splitlines()], at[0]


def contents(data, rows):
    """Path -> content, each from its chunks alone, compared with their digests. Frames of a file hold nothing else."""
    found = {}
    for i, row in enumerate(rows):
        if row["type"] != "reg" or not row.get("size"):
            assert row["type"] == "chunk" or "offset" not in row and "digest" not in row
            continue
        mine = [row]
        while i + len(mine) < len(rows) and rows[i + len(mine)]["type"] == "chunk":
            mine.append(rows[i + len(mine)])
        ends = [r["offset"] for r in mine[1:]] + [row["endOffset"]]
        content = b""
        for r, end in zip(mine, ends, strict=True):
            part = inflate(data[r["offset"]:end])
            assert r["name"] == row["name"] and r.get("chunkOffset", 0) == len(content) and digest(part) == r["chunkDigest"]
            assert r.get("chunkSize", len(part)) == len(part) and ("chunkSize" in r) == (len(mine) > 1)
            content += part
        assert len(content) == row["size"] and digest(content) == row["digest"]
        found[row["name"]] = content
    return found


def crc64(data):
    """As Go's hash/crc64 with its ISO polynomial."""
    value = (1 << 64) - 1
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0xD800000000000000 if value & 1 else 0)
    return (value ^ (1 << 64) - 1).to_bytes(8, "big")


def assemble(lines, found):
    """The tar from its tar-split, as containers/storage makes it."""
    out, names = b"", []
    for n, line in enumerate(lines):
        assert line["position"] == n
        if line["type"] == 2:
            out += base64.b64decode(line["payload"])
            continue
        names.append(line["name"])
        content = found.get(line["name"], b"")
        assert line["type"] == 1 and line.get("size", 0) == len(content)
        if 0 < len(content) < 5000:
            assert base64.b64decode(line["payload"]) == crc64(content)
        out += content
    return out, names


def test_a_layer_is_zstd_and_has_a_table(written):
    seen = {}
    for data, notes, diff_id in layers(written, "v1"):
        raw = inflate(data)
        rows, lines, at = table(data, notes)
        found = contents(data, rows)
        again, names = assemble(lines, found)
        assert digest(raw) == digest(again) == diff_id and inflate(data[:at - 8]) == raw
        listed = [r for r in rows if r["type"] != "chunk"]
        assert names == [r["name"] for r in listed]
        with tarfile.open(fileobj=io.BytesIO(raw)) as t:
            for m, row in zip(t.getmembers(), listed, strict=True):
                assert (m.name, m.type, m.mode, m.uid, m.gid) == (row["name"].rstrip("/"), KINDS[row["type"]], row.get("mode", 0), row.get("uid", 0), row.get("gid", 0))
                assert row.get("linkName", "") == m.linkname and row.get("size", 0) == m.size
                if m.isreg() and m.size:
                    assert t.extractfile(m).read() == found[m.name]
                seen[row["name"]] = row
    assert seen["usr/big"]["chunkSize"] == CHUNK and seen["bin/su"]["mode"] == 0o4755 and seen["app/"]["modtime"] == "2023-11-14T22:13:20Z"
    assert base64.b64decode(seen["bin/su"]["xattrs"]["user.a"]) == b"b" and seen["bin/sudo"]["linkName"] == "bin/su"
    assert (seen["null"]["devMajor"], seen["null"]["devMinor"]) == (1, 3) and not [n for n in seen if "stargz" in n or "landmark" in n]


def test_times_are_those_of_the_tar(tmp_path):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as t:
        for name, time in (("exact", "1700000000.000000070"), ("old", "-2"), ("zero", "0")):
            info = tarfile.TarInfo(name)
            info.pax_headers = {"mtime": time}
            t.addfile(info)
    made = Layout(tmp_path / "source")
    made.image("v1", [out.getvalue()])
    refactor(f"oci:{made.directory}:v1", "--force", "--mtime", "exact", "--to", f"oci:{tmp_path}/out")
    (data, notes, diff_id), = layers(tmp_path / "out", "v1")
    rows, lines, _ = table(data, notes)
    assert digest(assemble(lines, {})[0]) == diff_id
    assert {r["name"]: r["modtime"] for r in rows if r["type"] == "reg"} == {"exact": "2023-11-14T22:13:20.000000070Z", "old": "1969-12-31T23:59:58Z", "zero": "1970-01-01T00:00:00Z"}


def test_the_same_images_give_the_same_bytes(layout, written, tmp_path):
    refactor(*[f"oci:{layout.directory}:v{n}" for n in (1, 2)], "--to", f"oci:{tmp_path}/again", "--mode", "replace", "--threads", "1")
    assert (tmp_path / "again/index.json").read_bytes() == (written / "index.json").read_bytes()


@pytest.mark.skipif(os.geteuid() != 0, reason="owners and devices need root")
def test_others_unpack_what_the_source_has(layout, written, tmp_path):
    """GNU tar behind zstd; what skopeo copied."""
    def tar(name, tars):
        out = tmp_path / name
        out.mkdir()
        for data in tars:
            done = subprocess.run(["tar", "-xp", "--xattrs", "--numeric-owner", "-C", out], input=data, capture_output=True, timeout=DEADLINE_S)
            assert done.returncode == 0 and not done.stderr, done.stderr
        return tree(out)
    source = tar("source", [layer(entries_of(layout))])
    assert tar("made", [inflate(data) for data, *_ in layers(written, "v1")]) == source
    if SKOPEO:
        done = subprocess.run([SKOPEO, "--insecure-policy", "copy", f"oci:{written}:v1", f"dir:{tmp_path}/copy"], capture_output=True, text=True, timeout=DEADLINE_S)
        assert done.returncode == 0, done.stderr
        manifest = json.loads((tmp_path / "copy/manifest.json").read_text())
        assert tar("copied", [inflate((tmp_path / "copy" / d["digest"].split(":")[1]).read_bytes()) for d in manifest["layers"]]) == source


def test_what_is_refused(layout, tmp_path):
    odd = Layout(tmp_path / "odd")
    odd.image("v1", [layer([(b"caf\xe9".decode("utf-8", "surrogateescape"), "f", b"x" * 4000)])])
    done = refactor(f"oci:{odd.directory}:v1", "--force", "--to", f"oci:{tmp_path}/out", check=False)
    assert done.returncode == 1 and "is not UTF-8, which zstd:chunked asks for" in done.stderr
    (tmp_path / "start").write_text("dormouse start 1\n")
    done = refactor(f"oci:{layout.directory}:v1", "--to", f"oci:{tmp_path}/out", "--start", tmp_path / "start", check=False)
    assert done.returncode == 2 and "--layers estargz" in done.stderr
    done = dormouse("refactor", f"oci:{layout.directory}:v1", "--to", f"oci:{tmp_path}/out", "--layers", "zstd", check=False)
    assert done.returncode == 2 and "gzip, estargz or zstd-chunked" in done.stderr


def test_an_update_has_a_table_as_well(layout, written, tmp_path):
    shutil.copytree(written, tmp_path / "out")
    changed = [(n, k, (b"new" * 3000 if n == "usr/s1" else v), *rest) for n, k, v, *rest in entries_of(layout) if n != "tiny"]
    made = Layout(tmp_path / "next")
    made.image("v3", [layer(changed)])
    refactor(f"oci:{made.directory}:v3", "--update", "v1", "--to", f"oci:{tmp_path}/out")
    data, notes, _ = layers(tmp_path / "out", "v3")[-1]
    rows, *_ = table(data, notes)
    assert contents(data, rows)["usr/s1"] == b"new" * 3000 and ".wh.tiny" in [r["name"] for r in rows]


@pytest.mark.parametrize("form", ["raw", "cas"])
def test_a_node_fetches_the_files_that_it_lacks(form, layout, tmp_path):
    """From a registry that knows nothing but ranges: one file of 60 is another one in v3, of 200 bytes or so."""
    changed = [(n, k, (b"another" * 30 if n == "usr/s9" else v), *rest) for n, k, v, *rest in entries_of(layout)]
    made = Layout(tmp_path / "source")
    made.image("v1", [layer(entries_of(layout))])
    made.image("v3", [layer(changed)])
    with fake() as registry:
        for n in (1, 3):
            out = tmp_path / f"out{n}"
            refactor(f"oci:{made.directory}:v{n}", "--force", "--to", f"oci:{out}")
            registry.add_layout(SimpleNamespace(directory=out), "app", f"v{n}")
        dormouse("pull", f"docker://{registry.host}/app:v1", "--store", tmp_path / "node", "--form", form)
        second = json.loads(dormouse("pull", f"docker://{registry.host}/app:v3", "--store", tmp_path / "node", "-o", "json").stdout)
    assert second["layersByFiles"] == 1 and second["blobBytesSpared"] > len(BIG)
    assert second["bytes"] < 40_000, second
    assert dormouse("check", "--store", tmp_path / "node").returncode == 0


@pytest.mark.skipif(not REGISTRY, reason="no docker-registry here")
def test_it_goes_into_a_registry_and_comes_back(layout, tmp_path):
    with real(tmp_path) as host:
        refactor(*[f"oci:{layout.directory}:v{n}" for n in (1, 2)], "--to", f"docker://{host}/app", "--mode", "replace", "--name", "v1", "--name", "v2")
        first = json.loads(dormouse("pull", f"docker://{host}/app:v1", "--store", tmp_path / "node", "-o", "json").stdout)
        second = json.loads(dormouse("pull", f"docker://{host}/app:v2", "--store", tmp_path / "node", "-o", "json").stdout)
    assert first["bytes"] > len(BIG) and second["bytes"] < 60_000
