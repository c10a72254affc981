# SPDX-License-Identifier: Apache-2.0
"""The container image of the programs, and their installation."""
import hashlib
import io
import json
import os
import subprocess
import tarfile

import pytest

from conftest import BUILD, ROOT


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    path = tmp_path_factory.mktemp("image") / "image.tar"
    make(path)
    return path


def make(path):
    done = subprocess.run([ROOT / "tools/make-image", BUILD, "example/dormouse:1", path], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif("asan" in BUILD.name, reason="programs with sanitizers are not put into images")
def test_an_image_has_what_its_programs_need(tmp_path, image):
    with tarfile.open(image) as tar:
        files = {m.name: tar.extractfile(m).read() for m in tar}
    manifest = json.loads(files["manifest.json"])[0]
    assert manifest["RepoTags"] == ["example/dormouse:1"]
    config, layer = files[manifest["Config"]], files[manifest["Layers"][0]]
    assert manifest["Config"] == hashlib.sha256(config).hexdigest() + ".json"
    assert json.loads(config)["rootfs"]["diff_ids"] == ["sha256:" + hashlib.sha256(layer).hexdigest()]
    reported = json.loads(subprocess.run([BUILD / "dormouse", "version", "-o", "json"], capture_output=True, check=True).stdout)
    labels = json.loads(config)["config"]["Labels"]
    assert labels["org.opencontainers.image.version"] == reported["version"]
    assert labels.get("org.opencontainers.image.revision", "unknown") == reported["commit"]
    with tarfile.open(fileobj=io.BytesIO(layer)) as tar:
        documents = {m.name.removeprefix("usr/share/doc/dormouse/"): tar.extractfile(m).read() for m in tar
                     if m.name.startswith("usr/share/doc/dormouse/") and m.isfile()}
    assert documents["NOTICE"] == (ROOT / "NOTICE").read_bytes() and b"Apache License" in documents["LICENSE"]
    assert json.loads(documents["dormouse.cdx.json"])["metadata"]["component"]["version"] == reported["version"]
    assert any(name.startswith("licenses/wasmtime-") for name in documents)
    if os.geteuid() != 0:
        pytest.skip("needs root for chroot")
    root = tmp_path / "root"
    (tmp_path / "layer.tar").write_bytes(layer)
    with tarfile.open(tmp_path / "layer.tar") as tar:
        tar.extractall(root)
    for program, says in (("dormouse", "Usage: dormouse"), ("dormouse-compile", "usage"), ("dormouse-runner", ""), ("dormouse-lab", "Usage: dormouse-lab")):
        done = subprocess.run(["chroot", root, f"/usr/bin/{program}", "--help"], capture_output=True, text=True, timeout=60)
        assert says.lower() in (done.stdout + done.stderr).lower(), done
        assert "shared librar" not in done.stderr, done.stderr


def test_the_same_programs_make_the_same_image(tmp_path, image):
    make(tmp_path / "again.tar")
    assert (tmp_path / "again.tar").read_bytes() == image.read_bytes()


def test_an_image_needs_a_tag(tmp_path):
    done = subprocess.run([ROOT / "tools/make-image", BUILD, "dormouse", tmp_path / "x"], capture_output=True, text=True)
    assert done.returncode == 1 and "is not NAME:TAG" in done.stderr and not list(tmp_path.iterdir())


def test_an_installation_works_from_where_it_is(tmp_path):
    done = subprocess.run(["meson", "install", "-C", BUILD, "--no-rebuild", "--strip"], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "DESTDIR": str(tmp_path / "dest")})
    assert done.returncode == 0, done.stdout + done.stderr
    prefix = tmp_path / "dest/usr/local"
    assert sorted(f.name for f in (prefix / "bin").iterdir()) == ["dormouse", "dormouse-compile", "dormouse-lab", "dormouse-runner"]
    assert os.access(prefix / "share/dormouse/sdk/c/dm-cc", os.X_OK)
    assert sorted(f.name for f in (prefix / "share/doc/dormouse").iterdir()) == ["LICENSE", "NOTICE"]
    made = subprocess.run([prefix / "bin/dormouse", "operator", "init", "--lang", "c", "hello"], cwd=tmp_path, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr  # it finds its SDK
    assert not [f for f in prefix.rglob("target") if f.is_dir()]
