# SPDX-License-Identifier: Apache-2.0
"""dormouse image refactor: images get shared layers and stay what they are, judged by umoci, skopeo, GNU tar, libarchive and Python."""
import gzip
import hashlib
import io
import json
import os
import random
import shutil
import stat
import struct
import subprocess
import tarfile

import pytest

from conftest import BUILD, DEADLINE_S
from image_kit import Layout, digest, docker_archive, layer

OPTIONS = ("--layer-threshold", "1", "--gain-threshold", "1")
CAPABILITY = b"\x01\x00\x00\x02\x00\x20\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
NOISE = random.Random(1).randbytes(300_000)
LONG = "d" * 90 + "/" + "e" * 120 + "/" + "f" * 200
ODD = b"caf\xe9-\xff".decode("utf-8", "surrogateescape")


def run(*args, **more):
    return subprocess.run([BUILD / "dormouse", "image", "refactor", *args], capture_output=True, text=True, timeout=DEADLINE_S, **more)


def refactor(*args):
    done = run(*args, *OPTIONS, "-o", "json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def xattr(**attributes):
    return {"pax_headers": {f"SCHILY.xattr.{k.replace('_', '.', 1)}": v.decode("latin-1") for k, v in attributes.items()}}


BASE = layer([
    ("etc", "d", "", {"mtime": 1500000000, "mode": 0o750}), ("etc/passwd", "f", b"root\n" * 100), ("etc/shadow", "f", b"secret", {"mode": 0o640, "gid": 42}),
    ("bin", "d", ""), ("bin/su", "f", NOISE[:9000], {"mode": 0o4755}), ("bin/ping", "f", NOISE[9000:20000], {"mode": 0o755} | xattr(user_a=b"b")),
    ("bin/perl", "f", NOISE[20000:60000], {"mode": 0o755}), ("bin/perl5", "h", "bin/perl"), ("lib", "l", "usr/lib"), ("usr", "d", ""), ("usr/lib", "d", ""),
    (LONG.rsplit("/", 1)[0].split("/")[0], "d", ""), (LONG.rsplit("/", 1)[0], "d", ""), (LONG, "f", b"long\n" * 50), (ODD, "f", b"odd"), ("empty", "f", b""),
    ("tmp", "d", "", {"mode": 0o1777}), ("gone", "f", NOISE[:5000]), ("old", "d", ""), ("old/x", "f", b"x" * 3000)])


def version(n, when):
    return layer([
        ("app", "d", "", {"mtime": when}), ("app/data", "f", NOISE[60000:200000], {"mtime": when}), ("app/run", "f", b"#!%d\n" % n * 40, {"mode": 0o755}),
        (".wh.gone", "f", b""), ("old", "d", ""), ("old/.wh..wh..opq", "f", b""), ("old/y", "f", b"y%d" % n), ("etc/passwd", "f", b"root\nuser%d\n" % n)])


@pytest.fixture
def layout(tmp_path):
    made = Layout(tmp_path / "source")
    made.image("v1", [BASE, version(1, 1600000000)])
    made.image("v2", [BASE, version(2, 1700000000)])
    other = layer([("app", "d", ""), ("app/data", "f", NOISE[60000:200000]), ("only", "f", b"here" * 900)])
    made.image("v3", [other])
    return made


def blob(directory, name):
    return (directory / "blobs/sha256" / name.removeprefix("sha256:")).read_bytes()


def image_of(directory, name):
    index = json.loads((directory / "index.json").read_text())
    found, = [m for m in index["manifests"] if m.get("annotations", {}).get("org.opencontainers.image.ref.name") == name]
    manifest = json.loads(blob(directory, found["digest"]))
    return found, manifest, json.loads(blob(directory, manifest["config"]["digest"]))


def check_layout(directory):
    """Every name is the digest of its content, nothing temporary is left."""
    assert sorted(p.name for p in directory.iterdir()) == ["blobs", "index.json", "oci-layout"]
    for path in (directory / "blobs/sha256").iterdir():
        assert hashlib.sha256(path.read_bytes()).hexdigest() == path.name


def merged(directory, name):
    """The merged view by Python's tarfile; of layers without whiteouts it is the last member of each path."""
    _, manifest, config = image_of(directory, name)
    files, links = {}, {}
    for d, diff_id in zip(manifest["layers"], config["rootfs"]["diff_ids"], strict=True):
        raw = gzip.decompress(blob(directory, d["digest"]))
        assert digest(raw) == diff_id
        with tarfile.open(fileobj=io.BytesIO(raw)) as tar:
            members = tar.getmembers()
            assert [m.name for m in members] == sorted((m.name for m in members), key=lambda n: n.encode("utf-8", "surrogateescape"))
            for m in members:
                assert not m.name.rsplit("/", 1)[-1].startswith(".wh.")
                if m.islnk():
                    links[m.name] = m.linkname
                if not m.isdir():
                    assert m.name not in files, "layers are disjoint"
                target = tar.getmember(m.linkname) if m.islnk() else m
                content = tar.extractfile(target).read() if target.isreg() else target.linkname
                xattrs = {k: v for k, v in target.pax_headers.items() if k.startswith("SCHILY.xattr.")}
                files[m.name] = (target.type, target.mode, target.uid, target.gid, target.mtime, content, str(xattrs))
    return files, links


def test_images_share_layers_and_stay_what_they_are(layout, tmp_path):
    out = tmp_path / "out"
    names = [f"oci:{layout.directory}:v{i}" for i in (1, 2, 3)]
    seen = refactor(*names, "--to", f"oci:{out}")
    check_layout(out)
    assert seen["written"] and seen["stored"] <= seen["storedBefore"]
    one, links = merged(out, "v1")
    two, _ = merged(out, "v2")
    assert one["etc"][1] == 0o750 and one["etc"][4] == 1500000000  # directories keep their times
    assert one["bin/su"][1] == 0o4755 and one["etc/shadow"][1:4] == (0o640, 0, 42) and "'b'" in one["bin/ping"][6]
    assert links == {"bin/perl5": "bin/perl"}
    assert one["app/data"][4] == two["app/data"][4] == 1600000000 and one["app"][4] == 1600000000 and two["app"][4] == 1700000000
    assert "gone" not in one and "old/x" not in one and one["old/y"][5] == b"y1" and two["old/y"][5] == b"y2"
    assert one[LONG][5] == b"long\n" * 50 and one[ODD][5] == b"odd" and one["empty"][5] == b""
    assert one["etc/passwd"][5] == b"root\nuser1\n"
    shared = [{d["digest"] for d in image_of(out, n)[1]["layers"]} for n in ("v1", "v2", "v3")]
    assert len(shared[0] & shared[1]) == 2 and len(shared[0] & shared[1] & shared[2]) == 1
    found, manifest, config = image_of(out, "v1")
    assert manifest["subject"]["digest"] == layout.manifests[0]["digest"] == manifest["annotations"]["image.dormouse.dev/source"]
    assert [d["annotations"]["image.dormouse.dev/sharers"] for d in manifest["layers"]] == ["3", "2", "1"]
    assert config["created"] == "2024-01-01T00:00:00Z" and config["architecture"] == "amd64"
    assert sum(not h.get("empty_layer") for h in config["history"]) == len(manifest["layers"])
    assert found["platform"] == {"architecture": "amd64", "os": "linux"}


def test_the_same_images_give_the_same_bytes(layout, tmp_path):
    names = [f"oci:{layout.directory}:v{i}" for i in (1, 2, 3)]
    for out, threads in (("one", "1"), ("two", "4")):
        refactor(*names, "--to", f"oci:{tmp_path / out}", "--threads", threads)
    assert (tmp_path / "one/index.json").read_bytes() == (tmp_path / "two/index.json").read_bytes()
    assert sorted(os.listdir(tmp_path / "one/blobs/sha256")) == sorted(os.listdir(tmp_path / "two/blobs/sha256"))


def test_a_layer_in_two_compressions_has_the_size_that_each_image_says(tmp_path):
    source = Layout(tmp_path / "source")
    sizes = [source.image(name, [BASE], compress=lambda t, level=level: gzip.compress(t, level))["layers"][0]["size"]
             for name, level in (("a", 1), ("b", 0), ("c", 9))]
    for threads in "1", "4":
        output = json.loads(run("--dry-run", "-o", "json", "--threads", threads, *[f"oci:{source.directory}:{n}" for n in "abc"]).stdout)
        assert [i["sizeBefore"] for i in output["images"]] == sizes and output["storedBefore"] == sizes[0]


def test_a_dry_run_writes_nothing_and_says_what_would_be_shared(layout, tmp_path):
    done = run("--dry-run", *OPTIONS, *[f"oci:{layout.directory}:v{i}" for i in (1, 2, 3)])
    assert done.returncode == 0, done.stderr
    assert "all" in done.stdout and "v1, v2" in done.stdout and "(estimated)" in done.stdout and "ratios" in done.stdout
    done = run("--dry-run", *[f"oci:{layout.directory}:v{i}" for i in (1, 2, 3)])
    assert done.returncode == 0 and "would not be carried out" in done.stdout
    assert os.listdir(tmp_path) == ["source"]


def test_too_little_gain_is_refused_and_leaves_nothing(layout, tmp_path):
    done = run(f"oci:{layout.directory}:v1", f"oci:{layout.directory}:v2", "--to", f"oci:{tmp_path / 'out'}")
    assert done.returncode == 1 and "nothing is written" in done.stderr
    assert os.listdir(tmp_path) == ["source"]


def test_python_sources_with_compiled_files_keep_their_times(tmp_path):
    def made(when, flags):
        pyc = struct.pack("<HHI", 3495, 0x0a0d, flags) + b"\0" * 8 + NOISE[:3000]
        return layer([("m.py", "f", b"pass\n" * 999, {"mtime": when}), ("__pycache__", "d", ""), ("__pycache__/m.cpython-311.pyc", "f", pyc),
                      ("data", "f", NOISE[5000:9000], {"mtime": when})])

    for flags in (0, 1):
        source = Layout(tmp_path / f"source{flags}")
        source.image("a", [made(1000, flags)])
        source.image("b", [made(2000, flags)])
        refactor(*[f"oci:{source.directory}:{n}" for n in "ab"], "--to", f"oci:{tmp_path / str(flags)}")
        a, b = [merged(tmp_path / str(flags), n)[0] for n in "ab"]
        assert a["data"][4] == b["data"][4] == 1000
        assert (a["m.py"][4], b["m.py"][4]) == ((1000, 2000) if flags == 0 else (1000, 1000))


def test_times_are_exact_where_asked(layout, tmp_path):
    names = [f"oci:{layout.directory}:v{i}" for i in (1, 2)]
    for out, options in (("all", ("--mtime", "exact")), ("some", ("--mtime-exact", "/app/*"))):
        seen = refactor(*names, "--to", f"oci:{tmp_path / out}", *options)
        assert seen["changedTimes"] == 0
        assert merged(tmp_path / out, "v2")[0]["app/data"][4] == 1700000000


def test_linked_content_keeps_rights_and_never_joins_two_paths_of_an_image(tmp_path):
    text = b"licence\n" * 500
    source = Layout(tmp_path / "source")
    source.image("a", [layer([("a", "f", text), ("twin", "f", text), ("x", "f", text * 2, {"mode": 0o600}), ("run", "f", text * 3, {"mode": 0o755})])])
    source.image("b", [layer([("b", "f", text), ("x", "f", text * 2, {"mode": 0o644}), ("run", "f", text * 3, {"mode": 0o755})])])
    refactor(*[f"oci:{source.directory}:{n}" for n in "ab"], "--to", f"oci:{tmp_path / 'out'}", "--link", "symlink", "--force")
    a, b = [merged(tmp_path / "out", n)[0] for n in "ab"]
    assert a["a"][0] == b["b"][0] == tarfile.SYMTYPE and a["a"][5] == b["b"][5] and a["a"][5].startswith("/.blobs/")
    assert a[a["a"][5][1:]][5] == text
    assert a["twin"][0] == tarfile.REGTYPE and a["twin"][5] == text
    assert a["x"][:2] == (tarfile.REGTYPE, 0o600) and b["x"][:2] == (tarfile.REGTYPE, 0o644)
    assert a["run"][0] == tarfile.REGTYPE
    done = run(f"oci:{tmp_path / 'out'}:a", f"oci:{tmp_path / 'out'}:b", *OPTIONS, "--force", "--to", f"oci:{tmp_path / 'again'}", "--link", "symlink")
    assert done.returncode == 1 and ".blobs" in done.stderr and not (tmp_path / "again").exists()


def test_images_that_share_nothing_stay_as_they_are(layout, tmp_path):
    layout.image("alone", [layer([("alone", "f", NOISE[250000:])])])
    refactor(*[f"oci:{layout.directory}:{n}" for n in ("v1", "v2", "alone")], "--to", f"oci:{tmp_path / 'out'}")
    check_layout(tmp_path / "out")
    assert image_of(tmp_path / "out", "alone")[0]["digest"] == layout.manifests[3]["digest"]


def test_archives_of_docker_are_sources_too(tmp_path):
    docker_archive(tmp_path / "a.tar", {"a:1": [BASE, version(1, 5)]})
    docker_archive(tmp_path / "b.tar", {"b:1": [BASE, version(2, 5)]})
    refactor(f"docker-archive:{tmp_path / 'a.tar'}", f"docker-archive:{tmp_path / 'b.tar'}", "--to", f"oci:{tmp_path / 'out'}")
    check_layout(tmp_path / "out")
    assert merged(tmp_path / "out", "a")[0]["etc/passwd"][5] == b"root\nuser1\n"
    assert "subject" not in image_of(tmp_path / "out", "b")[1]


def test_names_in_the_store_are_sources_too(layout, tmp_path):
    store = ("--store", str(tmp_path / "store"))

    def pull(n):
        done = subprocess.run([BUILD / "dormouse", "image", "pull", f"oci:{layout.directory}:v{n}", "--name", f"app:v{n}", *store], capture_output=True, text=True,
                              timeout=DEADLINE_S)
        assert done.returncode == 0, done.stderr

    pull(1)
    pull(2)
    refactor("app:v1", "app:v2", f"oci:{layout.directory}:v3", *store, "--to", f"oci:{tmp_path / 'out'}")
    refactor(*[f"oci:{layout.directory}:v{i}" for i in (1, 2, 3)], "--to", f"oci:{tmp_path / 'same'}")
    check_layout(tmp_path / "out")
    ours, same = image_of(tmp_path / "out", "app:v2")[1], image_of(tmp_path / "same", "v2")[1]
    assert ours["layers"] == same["layers"] and ours["config"] == same["config"] and ours["annotations"] == same["annotations"]
    layout.image("v4", third(1800000000))
    pull(4)
    done = run("app:v4", "--update", "app:v2", "--to", f"oci:{tmp_path / 'out'}", *store)
    assert done.returncode == 0, done.stderr
    assert image_of(tmp_path / "out", "app:v4")[1]["layers"][-1]["annotations"]["image.dormouse.dev/kind"] == "delta"
    done = run("app:v9", "--to", f"oci:{tmp_path / 'no'}", *store)
    assert done.returncode == 1 and "app:v9" in done.stderr and not (tmp_path / "no").exists()


def test_a_layout_in_use_keeps_its_images(layout, tmp_path):
    """side: the old name stays; replace: it moves, the old image stays without a name."""
    names = [f"oci:{layout.directory}:v{i}" for i in (1, 2)]
    before = json.loads((layout.directory / "index.json").read_text())["manifests"]
    seen = refactor(*names, "--to", f"oci:{layout.directory}")
    check_layout(layout.directory)
    assert image_of(layout.directory, "v1")[0] == before[0]
    assert image_of(layout.directory, "sha256-" + before[0]["digest"][7:])[0]["digest"] == seen["images"][0]["digest"]
    refactor(*names, "--to", f"oci:{layout.directory}", "--mode", "replace")
    assert image_of(layout.directory, "v1")[0]["digest"] == seen["images"][0]["digest"]
    assert image_of(layout.directory, "v3")[0] == before[2]
    index = json.loads((layout.directory / "index.json").read_text())["manifests"]
    assert before[0]["digest"] in [m["digest"] for m in index]


# ---- other readers ----

def tree_of(root):
    """What umoci made of an image: everything but the times of directories that it made itself."""
    seen, inodes = {}, {}
    for directory, dirs, files in os.walk(os.fsencode(root)):
        for name in dirs + files:
            path = os.path.join(directory, name)
            st = os.lstat(path)
            kind = stat.S_IFMT(st.st_mode)
            content = os.readlink(path) if kind == stat.S_IFLNK else hashlib.sha256(open(path, "rb").read()).hexdigest() if kind == stat.S_IFREG else st.st_rdev
            xattrs = {} if kind == stat.S_IFLNK else {k: os.getxattr(path, k) for k in os.listxattr(path)}
            relative = os.path.relpath(path, os.fsencode(root))
            linked = inodes.setdefault(st.st_ino, relative) if kind != stat.S_IFDIR else relative
            seen[relative] = (st.st_mode, st.st_uid, st.st_gid, content, xattrs, inodes.get(st.st_ino, linked), int(st.st_mtime))
    return seen


def unpack(directory, name, to):
    rootless = () if os.geteuid() == 0 else ("--rootless",)
    done = subprocess.run(["umoci", "unpack", *rootless, "--image", f"{directory}:{name}", to], capture_output=True, text=True, timeout=DEADLINE_S)
    assert done.returncode == 0, done.stderr
    return tree_of(to / "rootfs")


def compare(before, after):
    assert before.keys() == after.keys()
    changed = 0
    for path, was in before.items():
        now = after[path]
        # A name of a group of hard links stands for the group; which one os.walk() meets first may differ.
        assert was[:5] == now[:5], path
        if was[6] != now[6]:
            assert not stat.S_ISDIR(was[0]), path
            assert now[6] < was[6], path
            changed += 1
    groups = [sorted(sorted(p for p, e in t.items() if e[5] == first) for first in {e[5] for e in t.values()}) for t in (before, after)]
    assert groups[0] == groups[1]
    return changed


@pytest.mark.skipif(not shutil.which("umoci"), reason="no umoci here")
def test_umoci_unpacks_the_same_trees(layout, tmp_path):
    names = [f"oci:{layout.directory}:v{i}" for i in (1, 2, 3)]
    seen = refactor(*names, "--to", f"oci:{tmp_path / 'out'}")
    changed = sum(compare(unpack(layout.directory, f"v{i}", tmp_path / f"before{i}"), unpack(tmp_path / "out", f"v{i}", tmp_path / f"after{i}")) for i in (1, 2, 3))
    assert changed <= seen["changedTimes"]


class RandomLayers:
    """Layers over each other: files, directories, links, whiteouts, opaque directories."""

    def __init__(self, rng):
        self.rng, self.contents = rng, [rng.randbytes(rng.randrange(3000)) for _ in range(12)]

    def layer(self, below):
        rng, entries, made = self.rng, [], {}
        for top in rng.sample("abcde", 3):
            entries.append((top, "d", "", {"mtime": rng.randrange(10 ** 9), "mode": rng.choice([0o755, 0o700])}))
            if below and rng.random() < 0.15:
                entries.append((f"{top}/.wh..wh..opq", "f", b""))
            for name in rng.sample("pqrstu", 4):
                path = f"{top}/{name}"
                kind = rng.random()
                if kind < 0.6 or not made:
                    entries.append((path, "f", rng.choice(self.contents), {"mtime": rng.randrange(10 ** 9), "mode": rng.choice([0o644, 0o600, 0o4755]), "uid": rng.choice([0, 7])}))
                    made[path] = True
                elif kind < 0.75:
                    entries.append((path, "l", rng.choice(["x", "/etc/x", "../y"]), {"mtime": rng.randrange(10 ** 9)}))
                elif kind < 0.9:
                    entries.append((path, "h", rng.choice(list(made))))
                elif below and (top, name) in below:
                    entries.append((f"{top}/.wh.{name}", "f", b""))
        return layer(entries), below | {(p.split("/")[0], p.split("/")[1]) for p, k, *_ in entries if "/" in p and ".wh." not in p}

    def image(self, base):
        tars, below = list(base[0]), base[1]
        for _ in range(self.rng.randrange(1, 4)):
            tar, below = self.layer(below)
            tars.append(tar)
        return tars, below


@pytest.mark.skipif(not shutil.which("umoci"), reason="no umoci here")
@pytest.mark.parametrize("seed", range(6))
def test_random_stacks_unpack_the_same(tmp_path, seed):
    rng = random.Random(seed)
    layers, source = RandomLayers(rng), Layout(tmp_path / "source")
    base = layers.image(([], set()))
    names = [f"i{i}" for i in range(4)]
    for name in names:
        source.image(name, layers.image(base)[0])
    refactor(*[f"oci:{source.directory}:{n}" for n in names], "--to", f"oci:{tmp_path / 'out'}", "--force", "--max-layers", str(rng.randrange(2, 9)))
    for name in names:
        compare(unpack(source.directory, name, tmp_path / f"before-{name}"), unpack(tmp_path / "out", name, tmp_path / f"after-{name}"))


@pytest.mark.skipif(not shutil.which("skopeo"), reason="no skopeo here")
def test_skopeo_copies_the_result(layout, tmp_path):
    refactor(*[f"oci:{layout.directory}:v{i}" for i in (1, 2)], "--to", f"oci:{tmp_path / 'out'}")
    done = subprocess.run(["skopeo", "--insecure-policy", "copy", f"oci:{tmp_path / 'out'}:v2", f"docker-archive:{tmp_path / 'v2.tar'}:app:v2"],
                          capture_output=True, text=True, timeout=DEADLINE_S)
    assert done.returncode == 0, done.stderr
    with tarfile.open(tmp_path / "v2.tar") as tar:
        manifest, = json.load(tar.extractfile("manifest.json"))
    assert len(manifest["Layers"]) == len(image_of(tmp_path / "out", "v2")[1]["layers"])


@pytest.mark.parametrize("program", [("tar", "--list", "--verbose", "--numeric-owner", "--quoting-style=literal"), ("bsdtar", "-tv", "--numeric-owner")])
def test_other_programs_read_the_layers(layout, tmp_path, program):
    if not shutil.which(program[0]):
        pytest.skip(f"no {program[0]} here")
    refactor(*[f"oci:{layout.directory}:v{i}" for i in (1, 2, 3)], "--to", f"oci:{tmp_path / 'out'}")
    for d in image_of(tmp_path / "out", "v1")[1]["layers"]:
        raw = gzip.decompress(blob(tmp_path / "out", d["digest"]))
        done = subprocess.run([*program, "-f", "-"], input=raw, capture_output=True, timeout=DEADLINE_S, env=os.environ | {"LC_ALL": "C"})
        assert done.returncode == 0 and done.stderr == b"", done.stderr
        with tarfile.open(fileobj=io.BytesIO(raw)) as tar:
            assert len(done.stdout.splitlines()) == len(tar.getmembers())
            for m in tar.getmembers():
                if program[0] == "bsdtar" and not m.name.isascii():
                    continue  # it shows such bytes escaped
                line, = [x for x in done.stdout.splitlines() if x.split(b" -> ")[0].split(b" link to ")[0].endswith(b" " + os.fsencode(m.name) + b"/" * m.isdir())]
                assert line.startswith(b"d" if m.isdir() else b"h" if m.islnk() else b"l" if m.issym() else b"-")


EXTRACT = {"tar": ("tar", "--extract", "--preserve-permissions", "--numeric-owner", "--xattrs", "--xattrs-include=*"),
           "bsdtar": ("bsdtar", "-x", "-p", "--numeric-owner", "--xattrs")}


@pytest.mark.skipif(os.geteuid() != 0, reason="owners of files need root")
@pytest.mark.skipif(not shutil.which("bsdtar"), reason="no bsdtar here")
def test_gnu_tar_and_libarchive_extract_the_same(layout, tmp_path):
    refactor(*[f"oci:{layout.directory}:v{i}" for i in (1, 2, 3)], "--to", f"oci:{tmp_path / 'out'}")
    paths = set()
    for i, d in enumerate(image_of(tmp_path / "out", "v1")[1]["layers"]):
        seen = {}
        for program, command in EXTRACT.items():
            root = tmp_path / f"{program}-{i}"
            root.mkdir()
            done = subprocess.run([*command, "-C", root, "-f", "-"], input=gzip.decompress(blob(tmp_path / "out", d["digest"])), capture_output=True, timeout=DEADLINE_S)
            assert done.returncode == 0, done.stderr
            seen[program] = tree_of(root)
        assert compare(seen["tar"], seen["bsdtar"]) == 0
        paths |= {os.fsdecode(p) for p in seen["tar"]}
    assert paths == set(merged(tmp_path / "out", "v1")[0])


# ---- what changes and what stays ----

def generation(layout, n):
    """Two images that share a file that stays and one that every generation has anew."""
    for name in "ab":
        layout.image(f"{name}{n}", [layer([("stays", "f", NOISE[:90000]), ("changes", "f", NOISE[100000 + 1000 * n:150000])]), layer([(name, "f", name.encode() * n)])])
    return [f"oci:{layout.directory}:{name}{n}" for name in "ab"]


@pytest.mark.parametrize("remembers", [True, False])
def test_a_layer_of_what_stays_outlives_an_update(layout, tmp_path, remembers):
    words = ("--split-threshold", "1", *(("--changes", str(tmp_path / "changes")) if remembers else ()))
    seen = [refactor(*generation(layout, n), "--to", f"oci:{tmp_path / f'out{n}'}", *words)["layers"] for n in (1, 2, 3)]
    assert len(seen[0]) == 1 and "changes" not in seen[0][0]
    kept = {v["digest"] for v in seen[1]} & {v["digest"] for v in seen[2]}
    if remembers:
        assert [v["changes"] for v in seen[1]] == [v["changes"] for v in seen[2]] == [False, True]
        assert kept == {seen[1][0]["digest"]}
        (tmp_path / "changes").write_bytes(b"DMPATHS1 no table")
        done = run(*generation(layout, 4), *OPTIONS, "--to", f"oci:{tmp_path / 'out4'}", *words)
        assert done.returncode == 0 and "is damaged, starting a new one" in done.stderr
        assert int.from_bytes((tmp_path / "changes").read_bytes()[8:16], "little") == 4, "stays, changes, a, b"
    else:
        assert [len(v) for v in seen] == [1, 1, 1] and not kept


# ---- new versions ----

def third(when):
    """Over BASE: a changed, a new and a removed file, a removed directory, other types, another time of a directory."""
    return [BASE, layer([("app", "d", "", {"mtime": when}), ("app/data", "f", NOISE[60000:200000], {"mtime": when}), ("app/run", "f", b"#!3\n" * 40, {"mode": 0o755}),
                         ("app/new", "f", b"new" * 100), ("etc/.wh.shadow", "f", b""), (".wh.tmp", "f", b""), (".wh.old", "f", b""), ("gone", "d", ""), ("gone/x", "f", b"x"),
                         (".wh.lib", "f", b""), ("lib", "f", b"no link"), ("bin/.wh.perl5", "f", b"")])]


def update(layout, out, source, *args):
    done = run(f"oci:{layout.directory}:{source}", "--to", f"oci:{out}", "-o", "json", *args)
    return json.loads(done.stdout) if done.returncode == 0 else done.stderr


def test_a_new_version_keeps_the_layers_and_gets_a_delta(layout, tmp_path):
    out = tmp_path / "out"
    refactor(*[f"oci:{layout.directory}:v{i}" for i in (1, 2, 3)], "--to", f"oci:{out}")
    layout.image("v4", third(1800000000))
    seen = update(layout, out, "v4", "--update", "v2")
    check_layout(out)
    before, after = image_of(out, "v2")[1], image_of(out, "v4")[1]
    assert after["layers"][:-1] == before["layers"] and after["layers"][-1]["annotations"]["image.dormouse.dev/kind"] == "delta"
    assert after["layers"][-1]["size"] == seen["deltaSize"] < before["layers"][0]["size"]
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(blob(out, after["layers"][-1]["digest"])))) as tar:
        names = tar.getnames()
    assert {".wh.old", ".wh.tmp", "etc/.wh.shadow", "bin/.wh.perl5", "gone", "gone/x", "lib", "app/new"} <= set(names)
    assert "app/data" not in names and "usr" not in names and "usr/lib" not in names
    if shutil.which("umoci"):
        compare(unpack(layout.directory, "v4", tmp_path / "before"), unpack(out, "v4", tmp_path / "after"))
    assert "--mode replace" in update(layout, out, "v4", "--update", "v2")
    assert update(layout, out, "v4", "--update", "v2", "--mode", "replace")["digest"] == seen["digest"]


def test_deltas_end_where_planning_again_is_better(layout, tmp_path):
    out = tmp_path / "out"
    refactor(*[f"oci:{layout.directory}:v{i}" for i in (1, 2)], "--to", f"oci:{out}")
    for i in range(5):
        layout.image(f"n{i}", [BASE, version(1, 1600000000), layer([("n", "f", b"%d" % i * 10)])])
        seen = update(layout, out, f"n{i}", "--update", f"n{i - 1}" if i else "v1")
        assert i == 4 and "full number of deltas" in seen or seen["deltas"] == i + 1
    layout.image("other", [layer([("other", "f", NOISE)])])
    assert "hidden" in update(layout, out, "other", "--update", "v1") or "new" in update(layout, out, "other", "--update", "v1")
    assert "no image" in update(layout, out, "other", "--update", "v9")
    check_layout(out)


@pytest.mark.skipif(not shutil.which("umoci"), reason="no umoci here")
@pytest.mark.parametrize("seed", range(6))
def test_random_updates_unpack_the_same(tmp_path, seed):
    rng = random.Random(1000 + seed)
    layers, source, out = RandomLayers(rng), Layout(tmp_path / "source"), tmp_path / "out"
    bulk = [layer([("bulk", "f", NOISE)])]
    base = layers.image((bulk, set()))
    for name in "abc":
        source.image(name, layers.image(base)[0])
    refactor(*[f"oci:{source.directory}:{n}" for n in "ab"], "--to", f"oci:{out}", "--force")
    seen = update(source, out, "c", "--update", "a")
    assert isinstance(seen, dict), seen
    compare(unpack(source.directory, "c", tmp_path / "before"), unpack(out, "c", tmp_path / "after"))


# ---- faults ----

def test_damaged_layers_are_refused_and_nothing_becomes_visible(layout, tmp_path):
    manifest = json.loads(blob(layout.directory, layout.manifests[1]["digest"]))
    path = layout.directory / "blobs/sha256" / manifest["layers"][1]["digest"][7:]
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    done = run(*OPTIONS, f"oci:{layout.directory}:v1", f"oci:{layout.directory}:v2", "--to", f"oci:{tmp_path / 'out'}")
    assert done.returncode == 1 and f"oci:{layout.directory}:v2" in done.stderr
    assert os.listdir(tmp_path) == ["source"]


def test_a_directory_with_other_files_is_refused(layout, tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "home/letter").write_text("dear")
    done = run(*OPTIONS, f"oci:{layout.directory}:v1", "--to", f"oci:{tmp_path / 'home'}", "--force")
    assert done.returncode == 1 and "no image layout" in done.stderr
    assert os.listdir(tmp_path / "home") == ["letter"]


@pytest.mark.parametrize("words", [("--mtime", "later"), ("--link", "hard"), ("--mode", "both"), ("--max-layers", "65"), ("--to", "dir:x"), ("--to", "oci:x:name")])
def test_wrong_options_are_refused(layout, words):
    done = run(f"oci:{layout.directory}:v1", f"oci:{layout.directory}:v2", *(("--to", "oci:x") if words[0] != "--to" else ()), *words)
    assert done.returncode == 2 and done.stderr.startswith("error: ")


def test_a_full_disk_leaves_the_layout_as_it_was(layout, tmp_path):
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", small], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("mounting a small file system needs privileges")
    try:
        first = Layout(small / "layout")
        first.image("x", [layer([("x", "f", b"x")])])
        before = (small / "layout/index.json").read_bytes()
        for target in (small / "layout", small / "fresh"):
            done = run(*OPTIONS, *[f"oci:{layout.directory}:v{i}" for i in (1, 2, 3)], "--to", f"oci:{target}")
            assert done.returncode == 1 and "No space left" in done.stderr
        check_layout(small / "layout")
        assert (small / "layout/index.json").read_bytes() == before and not (small / "fresh").exists()
    finally:
        subprocess.run(["umount", small], check=True)


def test_what_a_killed_run_left_is_removed_by_the_next(layout, tmp_path):
    out = tmp_path / "out"
    (out / ".tmp-0/blobs/sha256").mkdir(parents=True)
    (out / ".tmp-0/blobs/sha256/new-1").write_bytes(b"half")
    refactor(*[f"oci:{layout.directory}:v{i}" for i in (1, 2)], "--to", f"oci:{out}")
    check_layout(out)
