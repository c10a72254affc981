# SPDX-License-Identifier: Apache-2.0
"""dormouse image refactor --layers estargz: layers with a table of contents, judged by a reader in Python, GNU tar, umoci and skopeo."""
import base64
import gzip
import hashlib
import io
import json
import os
import random
import shutil
import subprocess
import tarfile
import zlib
from types import SimpleNamespace

import pytest

from conftest import BUILD, DEADLINE_S
from image_kit import Layout, digest, layer
from registry_kit import REGISTRY, fake, real
from test_image_refactor import blob, check_layout, image_of, xattr

R = random.Random(7)
CHUNK = 4 << 20
OWN = ("stargz.index.json", ".prefetch.landmark", ".no.prefetch.landmark")
SHARED = [R.randbytes(5000) for _ in range(40)]
BIG = R.randbytes(9 << 20)
TOC = "containerd.io/snapshot/stargz/toc.digest"


def dormouse(*args, check=True):
    clean = {k: v for k, v in os.environ.items() if "proxy" not in k.lower()} | {"HOME": "/nonexistent"}
    done = subprocess.run([BUILD / "dormouse", "image", *map(str, args)], capture_output=True, text=True, errors="replace", timeout=DEADLINE_S, env=clean)
    assert not check or done.returncode == 0, done.stderr
    return done


def refactor(*args, check=True):
    return dormouse("refactor", *args, "--layers", "estargz", "--layer-threshold", "1", "--gain-threshold", "1", check=check)


def entries(n):
    own = [(f"app/f{i}", "f", R.randbytes(3000) if i % 10 == 0 else SHARED[i][:4000]) for i in range(40)]
    return [("app", "d", "", {"mode": 0o750}), ("bin", "d", ""), ("bin/su", "f", SHARED[0], {"mode": 0o4755, "uid": 7} | xattr(user_a=b"b")), ("bin/sudo", "h", "bin/su"),
            ("lib", "l", "usr/lib"), ("null", "k", ""), ("pipe", "p", ""), ("empty", "f", b""), ("tiny", "f", b"v%d" % n), ("usr/big", "f", BIG),
            *[(f"usr/s{i}", "f", data) for i, data in enumerate(SHARED)], *own]


@pytest.fixture(scope="module")
def layout(tmp_path_factory):
    made = Layout(tmp_path_factory.mktemp("estargz") / "source")
    for n in (1, 2):
        made.image(f"v{n}", [layer(entries(n))])
    return made


@pytest.fixture(scope="module")
def written(layout, tmp_path_factory):
    out = tmp_path_factory.mktemp("estargz") / "out"
    refactor(*[f"oci:{layout.directory}:v{n}" for n in (1, 2)], "--to", f"oci:{out}", "--mode", "replace")
    check_layout(out)
    return out


def layers(directory, name):
    _, manifest, config = image_of(directory, name)
    return [(blob(directory, d["digest"]), d["annotations"], diff) for d, diff in zip(manifest["layers"], config["rootfs"]["diff_ids"], strict=True)]


def table(data, notes):
    """Of a blob, as stargz-snapshotter finds it: footer, then a tar in gzip with the table alone."""
    footer = data[-51:]
    assert footer[:4] == b"\x1f\x8b\x08\x04" and footer[12:16] == b"SG\x16\0" and footer[32:38] == b"STARGZ" and gzip.decompress(footer) == b""
    at = int(footer[16:32], 16)
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(data[at:-51]))) as t:
        member, = t.getmembers()
        text = t.extractfile(member).read()
    assert member.name == OWN[0] and digest(text) == notes[TOC]
    doc = json.loads(text)
    assert doc["version"] == 1
    return doc["entries"], at


def inflate(data, at, n):
    """The first n bytes from there, across members."""
    out = b""
    while len(out) < n:
        d = zlib.decompressobj(31)
        out += d.decompress(data[at:])
        at = len(data) - len(d.unused_data)
    return out[:n]


def contents(data, rows):
    """Path -> content, each from its chunks alone, compared with their digests."""
    found, name = {}, None
    for i, row in enumerate(rows):
        if row["type"] not in ("reg", "chunk") or (row["type"] == "reg" and not row.get("size")):
            continue
        if row["type"] == "reg":
            name, size, found[row["name"]] = row["name"], row["size"], b""
        assert row["name"] == name and row.get("chunkOffset", 0) == len(found[name])
        part = inflate(data, row["offset"], row.get("chunkSize") or size - len(found[name]))
        assert digest(part) == row["chunkDigest"]
        found[name] += part
        end = row.get("endOffset")
        if end and size <= CHUNK:                           # the members of the content hold nothing else
            assert gzip.decompress(data[row["offset"]:end]) == part
    for row in rows:
        assert row["type"] != "reg" or digest(found.get(row["name"], b"")) == row["digest"]
    return found


def test_a_layer_is_gzip_and_has_a_table(written):
    seen = {}
    for data, notes, diff_id in layers(written, "v1"):
        raw = gzip.decompress(data)
        assert digest(raw) == diff_id and notes["io.containers.estargz.uncompressed-size"] == str(len(raw))
        rows, _ = table(data, notes)
        with tarfile.open(fileobj=io.BytesIO(raw)) as t:
            members = t.getmembers()
            assert members[-1].name == OWN[0] and members[0].name == OWN[2] and t.extractfile(members[0]).read() == b"\x0f"
            kinds = {"reg": tarfile.REGTYPE, "dir": tarfile.DIRTYPE, "symlink": tarfile.SYMTYPE, "hardlink": tarfile.LNKTYPE, "char": tarfile.CHRTYPE, "fifo": tarfile.FIFOTYPE}
            listed = [r for r in rows if r["type"] != "chunk"]
            assert len(listed) == len(members) - 1
            found = contents(data, rows)
            for m, row in zip(members, listed):
                assert (m.name, m.type, m.mode, m.uid, m.gid) == (row["name"].rstrip("/"), kinds[row["type"]], row.get("mode", 0), row.get("uid", 0), row.get("gid", 0))
                assert row.get("linkName", "") == m.linkname and row.get("size", 0) == m.size
                if m.isreg() and m.size:
                    assert t.extractfile(m).read() == found[m.name]
                seen[row["name"]] = row
    assert seen["usr/big"]["chunkSize"] == CHUNK and seen["bin/su"]["mode"] == 0o4755
    assert base64.b64decode(seen["bin/su"]["xattrs"]["user.a"]) == b"b" and seen["bin/sudo"]["linkName"] == "bin/su"
    assert (seen["null"]["devMajor"], seen["null"]["devMinor"]) == (1, 3) and seen["app/"]["modtime"] == "2023-11-14T22:13:20Z"


def test_the_same_images_give_the_same_bytes(layout, written, tmp_path):
    refactor(*[f"oci:{layout.directory}:v{n}" for n in (1, 2)], "--to", f"oci:{tmp_path}/again", "--mode", "replace", "--threads", "1")
    assert (tmp_path / "again/index.json").read_bytes() == (written / "index.json").read_bytes()


def tree(directory):
    found = {}
    for path in sorted(directory.rglob("*")):
        info = path.lstat()
        found[str(path.relative_to(directory))] = (info.st_mode, info.st_uid, info.st_gid, info.st_nlink if not path.is_dir() else 0,
                                                   os.readlink(path) if path.is_symlink() else hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "")
    return found


@pytest.mark.skipif(os.geteuid() != 0, reason="owners and devices need root")
def test_others_unpack_what_the_source_has(layout, written, tmp_path):
    """GNU tar over all layers; umoci, after skopeo copied it."""
    def tar(name, source):
        out = tmp_path / name
        out.mkdir()
        for data, *_ in layers(source, "v1"):
            done = subprocess.run(["tar", "-xzp", "--xattrs", "--numeric-owner", "-C", out], input=data, capture_output=True, timeout=DEADLINE_S)
            assert done.returncode == 0 and not done.stderr, done.stderr
        return out
    source = tmp_path / "source"
    source.mkdir()
    done = subprocess.run(["tar", "-xp", "--xattrs", "--numeric-owner", "-C", source], input=layer(entries_of(layout)), capture_output=True, timeout=DEADLINE_S)
    assert done.returncode == 0, done.stderr
    made = tree(tar("gnu", written))
    assert {k: v for k, v in made.items() if k not in OWN} == tree(source) and set(OWN) & set(made)
    if shutil.which("skopeo") and shutil.which("umoci"):
        for command in (["skopeo", "--insecure-policy", "copy", f"oci:{written}:v1", f"oci:{tmp_path}/copy:v1"], ["umoci", "unpack", "--image", f"{tmp_path}/copy:v1", tmp_path / "bundle"]):
            done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_S)
            assert done.returncode == 0, done.stderr
        assert tree(tmp_path / "bundle/rootfs") == made


def entries_of(layout):
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(blob(layout.directory, image_of(layout.directory, "v1")[1]["layers"][0]["digest"])))) as t:
        return [(m.name, {tarfile.REGTYPE: "f", tarfile.DIRTYPE: "d", tarfile.LNKTYPE: "h", tarfile.SYMTYPE: "l", tarfile.CHRTYPE: "k", tarfile.FIFOTYPE: "p"}[m.type],
                 t.extractfile(m).read() if m.isreg() else m.linkname, {"mode": m.mode, "uid": m.uid, "gid": m.gid}) for m in t]


def test_what_the_start_opens_comes_first(layout, tmp_path):
    start = [SHARED[3], SHARED[0], BIG]
    (tmp_path / "start").write_text("dormouse start 1\n" + "".join(hashlib.sha256(d).hexdigest() + "\n" for d in start))
    refactor(*[f"oci:{layout.directory}:v{n}" for n in (1, 2)], "--to", f"oci:{tmp_path}/out", "--start", tmp_path / "start", "--mode", "replace")
    read_ahead = 0
    for data, notes, _ in layers(tmp_path / "out", "v1"):
        names = [m.name for m in tarfile.open(fileobj=io.BytesIO(gzip.decompress(data)))]
        rows, _ = table(data, notes)
        early = {r["name"] for r in rows if r.get("digest") in map(digest, start)}
        if not early:
            assert names[0] == OWN[2] and OWN[1] not in names
            continue
        at = names.index(OWN[1])
        assert OWN[2] not in names and early <= set(names[:at]) and not early & set(names[at:])
        assert all(n in early or any(e.startswith(n + "/") or not n.strip("./") for e in early) or n == "bin/sudo" for n in names[:at])
        offset = next(r["offset"] for r in rows if r["name"] == OWN[1])
        assert all(r["offset"] < offset for r in rows if r["name"] in early and r.get("offset"))
        read_ahead += 1
    assert read_ahead
    done = dormouse("refactor", f"oci:{layout.directory}:v1", "--to", f"oci:{tmp_path}/no", "--start", tmp_path / "start", check=False)
    assert done.returncode == 2 and "--layers estargz" in done.stderr


def test_a_name_that_is_no_text_is_refused(tmp_path):
    odd = b"caf\xe9".decode("utf-8", "surrogateescape")
    made = Layout(tmp_path / "source")
    made.image("v1", [layer([(odd, "f", b"x" * 4000)])])
    done = refactor(f"oci:{made.directory}:v1", "--force", "--to", f"oci:{tmp_path}/out", check=False)
    assert done.returncode == 1 and "is not UTF-8, which eStargz asks for" in done.stderr


def test_an_image_alone_and_one_that_was_estargz(layout, written, tmp_path):
    """One layer with its own table; tables of sources are replaced, and stay files where gzip is written."""
    refactor(f"oci:{layout.directory}:v1", "--force", "--to", f"oci:{tmp_path}/one")
    (data, notes, _), = layers(tmp_path / "one", "v1")
    assert contents(data, table(data, notes)[0])["usr/big"] == BIG
    refactor(f"oci:{written}:v1", "--force", "--to", f"oci:{tmp_path}/two")
    for data, notes, _ in layers(tmp_path / "two", "v1"):
        rows, _ = table(data, notes)
        assert OWN[0] not in [r["name"] for r in rows]


def test_an_update_has_a_table_as_well(layout, written, tmp_path):
    shutil.copytree(written, tmp_path / "out")
    changed = [(n, k, (b"new" * 3000 if n == "usr/s1" else v), *rest) for n, k, v, *rest in entries_of(layout) if n != "tiny"]
    made = Layout(tmp_path / "next")
    made.image("v3", [layer(changed)])
    refactor(f"oci:{made.directory}:v3", "--update", "v1", "--to", f"oci:{tmp_path}/out")
    data, notes, _ = layers(tmp_path / "out", "v3")[-1]
    names = [r["name"] for r in table(data, notes)[0]]
    assert "usr/s1" in names and ".wh.tiny" in names and not [n for n in names if n.startswith(".wh.") and n[4:] in OWN]


def test_a_node_fetches_the_files_that_it_lacks(layout, tmp_path):
    """From a registry that knows nothing but ranges: one file of 60 is another one in v3."""
    changed = [(n, k, (b"another" * 700 if n == "usr/s9" else v), *rest) for n, k, v, *rest in entries_of(layout)]
    made = Layout(tmp_path / "source")
    made.image("v1", [layer(entries_of(layout))])
    made.image("v3", [layer(changed)])
    with fake() as registry:
        for n in (1, 3):
            out = tmp_path / f"out{n}"
            refactor(f"oci:{made.directory}:v{n}", "--force", "--to", f"oci:{out}")
            registry.add_layout(SimpleNamespace(directory=out), "app", f"v{n}")
        dormouse("pull", f"docker://{registry.host}/app:v1", "--store", tmp_path / "node")
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
