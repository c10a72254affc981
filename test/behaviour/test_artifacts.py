# SPDX-License-Identifier: Apache-2.0
"""Modules in registries that want credentials: of scheduler plugins, operators and functions, and whose they are afterwards."""
import base64
import contextlib
import hashlib
import json
import os
import signal
import subprocess
import threading

import pytest

from conftest import BUILD, DEADLINE_S, wait_for
from functions_kit import FUNCTIONS, FunctionServer, ask_socket, call
from operators import OPERATORS, Run
from plugin_kit import Plugin
from registry_kit import REGISTRY, answer, digest, fake, real
from test_scheduler_process import add_node, add_pod, node_of, scheduler

DORMOUSE = str(BUILD / "dormouse")
FUNCTION, OTHER, RING = (BUILD / f"guests/{name}.wasm" for name in ("fn-hello-c", "fn-cgi-c", "ring-g2"))
LABEL, NEVER = BUILD / "guests/sched-label-c.wasm", BUILD / "guests/sched-unschedulable-c.wasm"
USER, PASSWORD = "ann", "s3cret"
HTPASSWD = "ann:$2b$05$CaSEQUGmp/sSnGl672fLLOaaJ3LMEwsBw21Qf/SpJAtV.vcpYUDxK\n"  # of both
pytestmark = pytest.mark.skipif(not FUNCTION.exists() or not LABEL.exists(), reason="no compiler for guests here")


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def docker_config(host, user=USER, password=PASSWORD):
    return json.dumps({"auths": {host: {"auth": base64.b64encode(f"{user}:{password}".encode()).decode()}}})


def logged_in(directory, host, **login):
    """An environment whose user has run 'docker login HOST'."""
    directory.mkdir(exist_ok=True)
    (directory / "config.json").write_text(docker_config(host, **login))
    return {**os.environ, "DOCKER_CONFIG": str(directory)}


def anonymous(directory):
    directory.mkdir(exist_ok=True)
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


# ---- plugins of the scheduler

CONFIG = """apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: one
  plugins: {{multiPoint: {{enabled: [{{name: mine}}]}}}}
  pluginConfig: [{{name: mine, args: {{guestURL: "{url}", guestConfig: disk}}}}]
"""


@pytest.fixture
def path(data_dir):
    return data_dir + "-scheduler"


@pytest.fixture
def api(dormouse_api):
    wait_for(lambda: dormouse_api.get("/api/v1/namespaces/default/serviceaccounts/default").status == 200, "the account of pods")
    add_node(dormouse_api, "a")
    dormouse_api.create("/api/v1/nodes", {"metadata": {"name": "b", "labels": {"disk": "ssd"}},
                                          "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}}})
    return dormouse_api


@contextlib.contextmanager
def plugin_scheduler(api, path, tmp_path, url, *extra, **more):
    file = tmp_path / "c.yaml"
    file.write_text(CONFIG.format(url=url))
    with scheduler(api, path, "--config", file, "--leader-elect=false", *extra, **more) as s:
        yield s


def plugins(s):
    return ask_socket(s.data_dir, "GET", "/status").json()["scheduler"]["plugins"]


@pytest.mark.skipif(not REGISTRY, reason="no docker-registry")
def test_a_plugin_comes_from_a_registry_and_moves_with_its_tag(api, path, tmp_path):
    users = tmp_path / "htpasswd"
    users.write_text(HTPASSWD)
    with real(tmp_path, auth={"htpasswd": {"realm": "test", "path": str(users)}}) as host:
        env = logged_in(tmp_path / "docker", host)
        first = push(LABEL, f"{host}/team/plugin:v1", env)
        # The cluster is that of --kubeconfig, which `scheduler` leaves out when it gets an environment.
        env["KUBECONFIG"] = str(api.kubeconfig)
        with plugin_scheduler(api, path, tmp_path, f"oci://{host}/team/plugin:v1", "--plugin-check", "50ms", env=env) as s:
            add_pod(api, "first", schedulerName="one")
            assert wait_for(lambda: node_of(api, "first"), "a pod that the plugin has seen") == "b"
            shown, = plugins(s)
            assert (shown["profile"], shown["name"], shown["manifest"]) == ("one", "mine", first["manifest"])
            assert shown["sha256"] == first["sha256"] == sha256(LABEL)
            metrics = ask_socket(s.data_dir, "GET", "/metrics").body.decode()
            assert f'manifest="{first["manifest"]}",sha256="{first["sha256"]}"}} 1' in metrics
            second = push(NEVER, f"{host}/team/plugin:v1", env)
            wait_for(lambda: plugins(s)[0]["manifest"] == second["manifest"], "the tag has moved")
            assert plugins(s)[0]["sha256"] == sha256(NEVER)
            add_pod(api, "never", schedulerName="one")
            wait_for(lambda: api.get("/api/v1/namespaces/default/pods/never").json()["status"].get("conditions"), "nothing fits any more")
            assert PASSWORD not in s.text_of_log()


def test_a_hangup_asks_for_the_tag_and_what_is_wrong_changes_nothing(api, path, tmp_path, registry, env):
    first = push(LABEL, f"{registry.host}/team/plugin:v1", env)
    with plugin_scheduler(api, path, tmp_path, f"oci://{registry.host}/team/plugin:v1", "--plugin-check", "0s") as s:
        registry.users.clear()
        s.process.send_signal(signal.SIGHUP)
        s.says("scheduler configuration refused, the one before stays")
        assert "(401)" in s.text_of_log()
        registry.users[USER] = PASSWORD
        second = push(NEVER, f"{registry.host}/team/plugin:v1", env)
        assert plugins(s)[0]["manifest"] == first["manifest"]
        s.process.send_signal(signal.SIGHUP)
        wait_for(lambda: plugins(s)[0]["manifest"] == second["manifest"], "it is loaded again")


def test_a_wrong_module_is_refused_once_and_the_next_one_is_taken(api, path, tmp_path, registry, env):
    first = push(LABEL, f"{registry.host}/team/plugin:v1", env)
    url = f"oci://{registry.host}/team/plugin:v1"
    with plugin_scheduler(api, path, tmp_path, url, "--plugin-check", "50ms") as s:
        push(OTHER, f"{registry.host}/team/plugin:v1", env)  # no plugin
        s.says("scheduler configuration refused, the one before stays")
        assert plugins(s)[0]["manifest"] == first["manifest"]
        last = push(NEVER, f"{registry.host}/team/plugin:v1", env)
        wait_for(lambda: plugins(s)[0]["manifest"] == last["manifest"], "it is followed on")


def test_it_starts_with_what_it_had_when_the_registry_is_away(api, path, tmp_path, env, registry):
    pushed = push(LABEL, f"{registry.host}/team/plugin:v1", env)
    url = f"oci://{registry.host}/team/plugin:v1"
    with plugin_scheduler(api, path, tmp_path, url):
        pass
    registry.close()
    with plugin_scheduler(api, path, tmp_path, url) as s:
        assert plugins(s)[0]["manifest"] == pushed["manifest"]
        s.says("registry cannot be asked, the module that it had last is used")
        add_pod(api, "first", schedulerName="one")
        assert wait_for(lambda: node_of(api, "first"), "a pod that the plugin has seen") == "b"


def test_a_registry_that_hangs_does_not_hold_up_the_start(api, path, tmp_path, env, registry):
    """It starts with what it had; what the registry says after all is taken in the background."""
    pushed = push(LABEL, f"{registry.host}/team/plugin:v1", env)
    url = f"oci://{registry.host}/team/plugin:v1"
    with plugin_scheduler(api, path, tmp_path, url):
        pass
    moved = push(NEVER, f"{registry.host}/team/plugin:v1", env)
    released = threading.Event()
    try:
        registry.faults += [("GET", "/manifests/v1", lambda h: not released.wait(DEADLINE_S))] * 2
        with plugin_scheduler(api, path, tmp_path, url, "--plugin-check", "50ms") as s:
            s.says("registry is slow to answer, the module that it had last is used")
            assert plugins(s)[0]["manifest"] == pushed["manifest"] and not released.is_set()
            add_pod(api, "first", schedulerName="one")
            assert wait_for(lambda: node_of(api, "first"), "a pod that the plugin has seen") == "b"
            released.set()
            wait_for(lambda: plugins(s)[0]["manifest"] == moved["manifest"], "the module behind the tag")
        registry.faults += [("GET", "/manifests/v1", lambda h: not released.wait(DEADLINE_S))]
        released.clear()
        with plugin_scheduler(api, path, tmp_path, url) as s:   # it ends while the question is under way
            assert plugins(s)[0]["manifest"] == moved["manifest"]
    finally:
        released.set()


def test_a_pinned_plugin_needs_no_registry_once_it_is_here(api, path, tmp_path, env, registry):
    pushed = push(LABEL, f"{registry.host}/team/plugin:v1", env)
    assert pushed["manifest"] in pushed["url"]
    with plugin_scheduler(api, path, tmp_path, pushed["url"], "--plugin-check", "50ms") as s:
        push(NEVER, f"{registry.host}/team/plugin:v1", env)
        seen = len(registry.seen)
        s.process.send_signal(signal.SIGHUP)
        s.says("scheduler configuration reloaded")
        assert plugins(s)[0]["sha256"] == sha256(LABEL) and len(registry.seen) == seen
    registry.close()
    with plugin_scheduler(api, path, tmp_path, pushed["url"]) as s:
        assert plugins(s)[0]["manifest"] == pushed["manifest"]


def artifact(registry, repository, *layers, **manifest):
    """A manifest with these (type, bytes)."""
    made = [{"mediaType": kind, "digest": digest(registry.blob(data)), "size": len(data)} for kind, data in layers]
    config = registry.blob(b"{}")
    doc = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
           "config": {"mediaType": "application/vnd.wasm.config.v0+json", "digest": digest(config), "size": 2}, "layers": made, **manifest}
    data = json.dumps(doc).encode()
    registry.manifests[repository, "v1"] = registry.manifests[repository, digest(data)] = (doc["mediaType"], data)
    return data


def test_what_is_wrong_with_a_plugin_is_said(data_dir, tmp_path, registry, env, monkeypatch):
    def load(repository, end=":v1"):
        with Plugin(data_dir, f"oci://{registry.host}/{repository}{end}") as plugin:
            return plugin.loaded

    wasm = LABEL.read_bytes()
    data = artifact(registry, "team/plugin", ("application/wasm", wasm))
    loaded = load("team/plugin")
    assert loaded["manifest"] == digest(data) and loaded["sha256"] == sha256(LABEL)
    artifact(registry, "team/older", ("application/vnd.module.wasm.content.layer.v1+wasm", wasm))
    assert "score" in load("team/older")["points"]
    assert "answers 404" in load("team/nothing")["error"]
    artifact(registry, "team/image", ("application/vnd.oci.image.layer.v1.tar+gzip", wasm))
    assert "holds no module: none of its 1 layers is of type application/wasm" in load("team/image")["error"]
    artifact(registry, "team/both", ("application/wasm", wasm), ("application/wasm", NEVER.read_bytes()))
    assert "holds 2 modules, not one" in load("team/both")["error"]
    index = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": []}
    registry.manifests["team/index", "v1"] = (index["mediaType"], json.dumps(index).encode())
    assert "it is an index of several images" in load("team/index")["error"]
    lie = "sha256:" + "0" * 64
    registry.manifests["team/plugin", lie] = ("application/vnd.oci.image.manifest.v1+json", data)
    assert "the registry's manifest is not the one of its digest" in load("team/plugin", f"@{lie}")["error"]
    wrong = NEVER.read_bytes().ljust(len(wasm), b"\0")
    artifact(registry, "team/swapped", ("application/wasm", wrong))
    registry.blobs[digest(wrong)] = b"\1" * len(wrong)
    assert "the module has the digest" in load("team/swapped")["error"]
    assert "oci://" in load("Team/plugin")["error"]  # no reference
    logged_in(tmp_path / "docker", registry.host, password="wrong")
    assert "(401)" in load("team/plugin")["error"]
    monkeypatch.setenv("DOCKER_CONFIG", anonymous(tmp_path / "nobody")["DOCKER_CONFIG"])
    error = load("team/plugin")["error"]
    assert "(401)" in error and PASSWORD not in error


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
    output = wait_for(ready, f"it is refused: {reason}")
    assert output["status"] == "False"
    return output["message"]


def test_a_function_has_the_credentials_of_its_secret_and_no_other_namespace_its_module(up, registry, env):
    pushed = push(FUNCTION, f"{registry.host}/team/hello:v1", env)
    add_secret(up, "default", "pull", docker_config(registry.host))
    up.deploy("mine", {**module(pushed), "imagePullSecrets": [{"name": "pull"}]})
    assert call(up.gateway, "mine.default").status == 200
    asked = len(registry.seen)
    up.deploy("stranger", {**module(pushed), "scale": {"initial": 1}}, namespace="bob")
    output = wait_for(lambda: (c := condition_of_function(up, "stranger", "bob"))["status"] == "False" and c, "it has no credentials")
    assert "without credentials" in output["message"], output
    assert not [path for method, path, _ in registry.seen[asked:] if "/blobs/" in path]
    up.deploy("borrows", {**module(pushed), "imagePullSecrets": [{"name": "pull"}], "scale": {"initial": 1}}, namespace="bob")
    output = wait_for(lambda: "pull" in (c := condition_of_function(up, "borrows", "bob"))["message"] and c, "the Secret is of another namespace")
    assert "does not exist" in output["message"], output
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
    add_operator(up, "nameless", pushed, imagePullSecrets=[{"name": "none"}])
    assert refused(up, "nameless", "PullSecretNotFound") == "there is no Secret 'none'"
    add_secret(up, "operators", "wrong", docker_config(registry.host, password="wrong"))
    add_operator(up, "wrong", pushed, imagePullSecrets=[{"name": "wrong"}])
    assert "refuses the credentials" in refused(up, "wrong", "ModuleAccessDenied")
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
