# SPDX-License-Identifier: Apache-2.0
"""Modules in registries that want credentials: of operators and functions, and whose they are afterwards."""
import base64
import hashlib
import json
import os
import subprocess

import pytest

from conftest import BUILD, wait_for
from functions_kit import FUNCTIONS, FunctionServer, ask_socket, call
from operators import OPERATORS, Run
from registry_kit import answer, fake

DORMOUSE = str(BUILD / "dormouse")
FUNCTION, OTHER, RING = (BUILD / f"guests/{name}.wasm" for name in ("fn-hello-c", "fn-cgi-c", "ring-g2"))
USER, PASSWORD = "ann", "s3cret"
pytestmark = pytest.mark.skipif(not FUNCTION.exists(), reason="no compiler for guests here")


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def docker_config(host, user=USER, password=PASSWORD):
    return json.dumps({"auths": {host: {"auth": base64.b64encode(f"{user}:{password}".encode()).decode()}}})


def logged_in(directory, host, **login):
    """An environment whose user has run 'docker login HOST'."""
    directory.mkdir(exist_ok=True)
    (directory / "config.json").write_text(docker_config(host, **login))
    return {**os.environ, "DOCKER_CONFIG": str(directory)}


def push(file, reference, env):
    done = subprocess.run([DORMOUSE, "module", "push", file, reference, "-o", "json"], capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def registry():
    with fake() as server:
        server.auth, server.users = "basic", {USER: PASSWORD, "bob": "t0o"}
        yield server


@pytest.fixture
def env(tmp_path, registry, monkeypatch):
    """Of who has logged in to the registry; processes of the test have it too."""
    made = logged_in(tmp_path / "docker", registry.host)
    monkeypatch.setenv("DOCKER_CONFIG", made["DOCKER_CONFIG"])
    return made


# ---- Functions and Operators

@pytest.fixture
def up(tmp_path, registry, env):
    server = FunctionServer(tmp_path / "data", extra=("--module-host", registry.host))
    for name in ("operators", "bob"):
        server.create("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    yield server
    assert PASSWORD not in server.text_of_log()
    assert server.stop() == 0


def add_secret(server, namespace, name, config, kind="kubernetes.io/dockerconfigjson", key=".dockerconfigjson"):
    server.create(f"/api/v1/namespaces/{namespace}/secrets", {
        "apiVersion": "v1", "kind": "Secret", "type": kind, "metadata": {"name": name},
        "data": {key: base64.b64encode(config.encode()).decode()}})


def module(pushed):
    return {"module": {"url": pushed["url"], "sha256": pushed["sha256"]}}


def condition_of_function(server, name, namespace="default"):
    status = server.get(FUNCTIONS.format(namespace) + "/" + name).json().get("status", {})
    return next((c for c in status.get("conditions", []) if c["type"] == "Ready"), {"status": "", "reason": "", "message": ""})


def add_operator(server, name, pushed, namespace="operators", **spec):
    server.create(OPERATORS.replace("/operators/operators", f"/{namespace}/operators"), {
        "apiVersion": "dormouse.dev/v1alpha1", "kind": "Operator", "metadata": {"name": name},
        "spec": {**module(pushed), "env": [{"name": "IN_NAMESPACE", "value": "default"}, {"name": "OUT_NAMESPACE", "value": "default"}], **spec}})


def status_of_operator(server, name, namespace="operators"):
    return server.get(OPERATORS.replace("/operators/operators", f"/{namespace}/operators") + f"/{name}").json().get("status", {})


def runs(server, name, namespace="operators"):
    """Its guest may not do what it wants, which is no matter here."""
    wait_for(lambda: status_of_operator(server, name, namespace).get("phase") == "Running", "it runs")


def refused(server, name, reason, namespace="operators"):
    """The message of the condition Ready, once it has this reason."""
    def ready():
        found = status_of_operator(server, name, namespace).get("conditions", [])
        return next((c for c in found if c["type"] == "Ready" and c["reason"] == reason), None)
    said = wait_for(ready, f"it is refused: {reason}")
    assert said["status"] == "False"
    return said["message"]


def test_a_function_has_the_credentials_of_its_secret_and_no_other_namespace_its_module(up, registry, env):
    pushed = push(FUNCTION, f"{registry.host}/team/hello:v1", env)
    add_secret(up, "default", "pull", docker_config(registry.host))
    up.deploy("mine", {**module(pushed), "imagePullSecrets": [{"name": "pull"}]})
    assert call(up.gateway, "mine.default").status == 200
    asked = len(registry.seen)
    up.deploy("stranger", {**module(pushed), "scale": {"initial": 1}}, namespace="bob")
    said = wait_for(lambda: (c := condition_of_function(up, "stranger", "bob"))["status"] == "False" and c, "it has no credentials")
    assert "without credentials" in said["message"], said
    assert not [path for method, path, _ in registry.seen[asked:] if "/blobs/" in path]
    up.deploy("borrows", {**module(pushed), "imagePullSecrets": [{"name": "pull"}], "scale": {"initial": 1}}, namespace="bob")
    said = wait_for(lambda: "pull" in (c := condition_of_function(up, "borrows", "bob"))["message"] and c, "the Secret is of another namespace")
    assert "is not there" in said["message"], said
    add_secret(up, "bob", "own", docker_config(registry.host, "bob", "t0o"))
    asked = len(registry.seen)
    up.deploy("own", {**module(pushed), "imagePullSecrets": [{"name": "own"}]}, namespace="bob")
    assert call(up.gateway, "own.bob").status == 200
    assert [path for method, path, _ in registry.seen[asked:] if "/blobs/" in path], "the bytes came for bob's credentials"


def test_an_operator_has_the_credentials_of_its_secret(up, registry, env):
    pushed = push(RING, f"{registry.host}/team/ring:v1", env)
    add_secret(up, "operators", "pull", docker_config(registry.host))
    add_operator(up, "ring", pushed, imagePullSecrets=[{"name": "pull"}])
    runs(up, "ring")
    asked = len(registry.seen)
    add_operator(up, "again", pushed, imagePullSecrets=[{"name": "pull"}])
    runs(up, "again")
    assert len(registry.seen) == asked
    add_operator(up, "stranger", pushed, namespace="bob")
    assert "without credentials" in refused(up, "stranger", "ModuleAccessDenied", "bob")
    add_operator(up, "borrows", pushed, namespace="bob", imagePullSecrets=[{"name": "pull"}])
    assert refused(up, "borrows", "PullSecretNotFound", "bob") == "there is no Secret 'pull'"
    add_secret(up, "bob", "pull", docker_config(registry.host, "bob", "t0o"))
    runs(up, "borrows", "bob")


@pytest.mark.parametrize("secret, reason, why", [
    ({"config": "{}", "kind": "Opaque"}, "PullSecretInvalid", "Secret 'pull' is not of type kubernetes.io/dockerconfigjson"),
    ({"config": docker_config("registry.example")}, "ModuleAccessDenied", "does not give"),
    ({"config": "wrong"}, "ModuleAccessDenied", "the registry refuses the credentials"),
])
def test_what_is_wrong_with_a_secret_is_said(up, registry, env, secret, reason, why):
    pushed = push(RING, f"{registry.host}/team/ring:v1", env)
    if secret["config"] == "wrong":
        secret = {"config": docker_config(registry.host, password="wrong")}
    add_secret(up, "operators", "pull", **secret)
    add_operator(up, "ring", pushed, imagePullSecrets=[{"name": "pull"}])
    assert why in refused(up, "ring", reason)


def test_what_a_registry_lacks_is_said(up, registry, env):
    pushed = push(RING, f"{registry.host}/team/ring:v1", env)
    add_secret(up, "operators", "pull", docker_config(registry.host))
    secrets = {"imagePullSecrets": [{"name": "pull"}]}
    add_operator(up, "gone", {**pushed, "url": f"oci://{registry.host}/team/gone:v1"}, **secrets)
    add_operator(up, "other", {**pushed, "sha256": "0" * 64}, **secrets)
    for name, reason, why in (("gone", "ModuleNotFound", "the registry has no 'oci://"), ("other", "ModuleDigestWrong", "holds no module of this digest")):
        assert why in refused(up, name, reason)


def test_the_host_does_not_lend_its_own_credentials(up, registry, env):
    """Who runs the process has logged in to the registry; users of its API have not."""
    pushed = push(RING, f"{registry.host}/team/ring:v1", env)
    add_operator(up, "ring", pushed)
    assert "without credentials" in refused(up, "ring", "ModuleAccessDenied")


def test_what_a_registry_gives_to_all_is_there_for_all(up, registry, env):
    pushed = push(RING, f"{registry.host}/team/ring:v1", env)
    registry.auth = None
    add_operator(up, "ring", pushed)
    runs(up, "ring")
    registry.faults.append(("GET", "/manifests/", answer(500)))
    asked = len(registry.seen)
    add_operator(up, "other", pushed, namespace="bob")
    runs(up, "other", "bob")
    assert len(registry.seen) == asked


def test_operators_of_a_directory_have_the_credentials_of_who_runs_them(dormouse_api, data_dir, tmp_path, registry, env):
    pushed = push(RING, f"{registry.host}/team/ring:v1", env)
    directory = tmp_path / "operators"
    directory.mkdir()
    (directory / "wasm_config.yaml").write_text(
        f"name: ring\nwasm: {pushed['url']}\nsha256: {pushed['sha256']}\n"
        "env: [{name: IN_NAMESPACE, value: default}, {name: OUT_NAMESPACE, value: default}]\n")
    run = Run(data_dir + "-run", directory, dormouse_api.kubeconfig, "--module-host", registry.host)
    try:
        wait_for(lambda: run.guests().get("ring", {}).get("state") in ("Running", "Asleep"), "it runs")
        assert PASSWORD not in run.text_of_log()
    finally:
        assert run.stop() == 0
