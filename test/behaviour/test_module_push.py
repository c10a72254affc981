# SPDX-License-Identifier: Apache-2.0
"""Modules as OCI artifacts: pushed by the command, named by Functions and Operators, and what the digest decides."""
import hashlib
import json
import subprocess

import pytest

from conftest import BUILD, wait_for
from functions_kit import FUNCTIONS, FunctionServer, call
from operators import OPERATORS
from registry_kit import REGISTRY, fake, real

DORMOUSE = str(BUILD / "dormouse")
MODULE = BUILD / "guests/fn-hello-c.wasm"
RING = BUILD / "guests/ring-g2.wasm"
pytestmark = pytest.mark.skipif(not MODULE.exists() or not RING.exists(), reason="no compiler for guests here")


def push(file, reference):
    done = subprocess.run([DORMOUSE, "module", "push", file, reference, "-o", "json"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def ready(server, name):
    status = server.get(FUNCTIONS.format("default") + "/" + name).json().get("status", {})
    return next((c for c in status.get("conditions", []) if c["type"] == "Ready"), {"reason": "", "message": ""})


@pytest.fixture
def registry():
    with fake() as server:
        yield server


@pytest.fixture
def up(tmp_path, registry):
    server = FunctionServer(tmp_path / "data", extra=("--module-host", registry.host))
    yield server
    assert server.stop() == 0


@pytest.mark.skipif(not REGISTRY, reason="no docker-registry")
def test_what_is_pushed_is_an_artifact_that_others_read(tmp_path):
    with real(tmp_path) as host:
        pushed = push(MODULE, f"{host}/team/hello:v1")
        assert pushed["sha256"] == hashlib.sha256(MODULE.read_bytes()).hexdigest()
        assert pushed["url"] == f"oci://{host}/team/hello:v1@{pushed['manifest']}"
        raw = subprocess.run(["skopeo", "inspect", "--raw", "--tls-verify=false", f"docker://{host}/team/hello:v1"], capture_output=True, check=True)
        assert "sha256:" + hashlib.sha256(raw.stdout).hexdigest() == pushed["manifest"]
        manifest = json.loads(raw.stdout)
        assert manifest["config"]["mediaType"] == "application/vnd.wasm.config.v0+json"
        assert [(d["mediaType"], d["digest"]) for d in manifest["layers"]] == [("application/wasm", "sha256:" + pushed["sha256"])]
        again = push(MODULE, f"{host}/team/hello:v1")
        assert again == pushed, "the same module is the same artifact"


def test_a_function_from_a_registry(up, registry):
    pushed = push(MODULE, f"{registry.host}/team/hello:v1")
    for name, url in {"pinned": pushed["url"], "tagged": f"oci://{registry.host}/team/hello:v1"}.items():
        up.deploy(name, {"module": {"url": url, "sha256": pushed["sha256"]}})
        assert call(up.gateway, f"{name}.default").status == 200
    blobs = [path for method, path, _ in registry.seen if method == "GET" and pushed["sha256"] in path]
    assert len(blobs) == 1, "fetched once for its digest"


def test_another_module_behind_the_tag_is_refused_and_told(up, registry):
    push(RING, f"{registry.host}/team/hello:v1")
    wanted = hashlib.sha256(MODULE.read_bytes()).hexdigest()
    up.deploy("moved", {"module": {"url": f"oci://{registry.host}/team/hello:v1", "sha256": wanted}, "scale": {"initial": 1}})
    wait_for(lambda: "holds no module of this digest" in ready(up, "moved")["message"], "its condition says so")


def test_a_registry_that_lies_is_not_believed(up, registry):
    pushed = push(MODULE, f"{registry.host}/team/hello:v1")
    registry.blobs["sha256:" + pushed["sha256"]] = b"\0asm" + bytes(MODULE.stat().st_size - 4)
    up.deploy("lied", {"module": {"url": pushed["url"], "sha256": pushed["sha256"]}, "scale": {"initial": 1}})
    wait_for(lambda: "the module has the digest" in ready(up, "lied")["message"], "its condition says so")


def test_a_registry_that_is_not_named_is_refused(tmp_path, registry):
    pushed = push(MODULE, f"{registry.host}/team/hello:v1")
    server = FunctionServer(tmp_path / "data")
    try:
        server.deploy("inside", {"module": {"url": pushed["url"], "sha256": pushed["sha256"]}, "scale": {"initial": 1}})
        wait_for(lambda: ready(server, "inside").get("status") == "False", "loopback is no public address")
        assert not [m for m, path, _ in registry.seen if m == "GET" and "/blobs/sha256" in path]
    finally:
        assert server.stop() == 0


def test_an_operator_from_a_registry(up, registry):
    pushed = push(RING, f"{registry.host}/team/ring:v1")
    up.create("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "operators"}})
    up.create(OPERATORS, {"apiVersion": "dormouse.dev/v1alpha1", "kind": "Operator", "metadata": {"name": "ring"},
                          "spec": {"module": {"url": pushed["url"], "sha256": pushed["sha256"]},
                                   "env": [{"name": "IN_NAMESPACE", "value": "default"}, {"name": "OUT_NAMESPACE", "value": "default"}]}})
    wait_for(lambda: up.get(f"{OPERATORS}/ring").json().get("status", {}).get("module", {}).get("sha256") == pushed["sha256"], "it has its module")


@pytest.mark.parametrize("words, why", [(("nothing.wasm", "localhost:1/a:b"), "No such file"), ((__file__, "localhost:1/a:b"), "no Wasm module"),
                                        ((MODULE, "localhost:1/a@sha256:" + "0" * 64), "name a tag"), ((MODULE, "UPPER/case"), "UPPER")])
def test_what_cannot_be_pushed_is_said(words, why):
    done = subprocess.run([DORMOUSE, "module", "push", *map(str, words)], capture_output=True, text=True)
    assert done.returncode and why in done.stderr, done.stderr
