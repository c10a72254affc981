# SPDX-License-Identifier: Apache-2.0
"""Functions from references to images: pulled, run, kept; what the status says meanwhile; credentials from Secrets."""
import base64
import gzip
import json
import os
import pathlib
import random
import subprocess
import threading
import time
import uuid

import pytest

from conftest import BUILD, can_mount, wait_for
from functions_kit import FUNCTIONS, FunctionServer, call
from image_kit import Layout, digest, docker_archive, layer
from pods_kit import PODS, can_run_pods
from registry_kit import REGISTRY, cut_after, fake, real
from serve_kit import Node, serve
from test_fn_containers import MISSING

DORMOUSE = str(BUILD / "dormouse")
pytestmark = pytest.mark.skipif(bool(MISSING), reason="NO CONTAINERS TESTED: " + MISSING)

PASSWD = b"root:x:0:0::/:/bin/sh\napp:x:1234:99::/:/bin/sh\n"
GROUP = b"root:x:0:\nstaff:x:77:app\n"


def tars():
    guest = (BUILD / "test/oci_guest").read_bytes()
    return [layer([("etc", "d", ""), ("etc/passwd", "f", PASSWD), ("etc/group", "f", GROUP), ("bin", "d", "")]),
            layer([("bin/guest", "f", guest, {"mode": 0o755}), ("bin/again", "l", "guest")])]


RUN = {"Entrypoint": ["/bin/guest", "always"], "Cmd": ["by", "default"], "Env": ["COLOUR=red", "PLACE=image"], "User": "app",
       "WorkingDir": "/bin"}


def layout(directory, run=RUN, name="v1", more=()):
    """An image that runs, as image_kit makes one; its configuration says how. more: further layers."""
    made = Layout(directory)
    layers = [*tars(), *more]
    made.image(name, layers)
    config = {"os": "linux", "architecture": "amd64", "config": run, "rootfs": {"type": "layers", "diff_ids": [digest(t) for t in layers]}}
    manifest = json.loads((directory / "blobs/sha256" / made.manifests[0]["digest"][7:]).read_text())
    manifest["config"] = made.descriptor(json.dumps(config).encode(), manifest["config"]["mediaType"])
    made.manifests = [made.descriptor(json.dumps(manifest).encode(), manifest["mediaType"],
                                      annotations={"org.opencontainers.image.ref.name": name})]
    (directory / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": made.manifests}))
    return made


@pytest.fixture
def registry():
    with fake() as server:
        yield server


@pytest.fixture
def start(tmp_path, registry):
    servers = []

    def begin(*more):
        servers.append(FunctionServer(tmp_path / "data", extra=("--image-registry", registry.host, *map(str, more))))
        return servers[-1]

    yield begin
    for server in servers:
        assert server.process.poll() is not None or server.stop() == 0


def spec(reference, **more):
    return {"image": {"reference": reference, **more.pop("image", {})}, "port": 80, **more}


def ready(server, name, namespace="default"):
    status = server.get(FUNCTIONS.format(namespace) + "/" + name).json().get("status", {})
    return next((c for c in status.get("conditions", []) if c["type"] == "Ready"), {"reason": "", "message": ""})


def refused(server, name):
    """The condition, once its image cannot be had."""
    output = ready(server, name)
    return output if output["reason"] in ("ErrImagePull", "ImagePullBackOff") else None


def requests(registry):
    return [(method, path) for method, path, _ in registry.seen]


def store(server, *words):
    done = subprocess.run([DORMOUSE, "image", *words, "--store", server.data_dir / "images", "--wait", "30s"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(not REGISTRY, reason="no docker-registry")
def test_an_image_of_a_registry_answers_and_is_run_as_it_says(tmp_path):
    with real(tmp_path) as host:
        layout(tmp_path / "layout")
        subprocess.run(["skopeo", "copy", "-q", "--dest-tls-verify=false", f"oci:{tmp_path}/layout:v1", f"docker://{host}/team/web:v1"], check=True)
        server = FunctionServer(tmp_path / "data", extra=("--image-registry", host))
        try:
            done = subprocess.run([DORMOUSE, "fn", "deploy", "--data-dir", server.data_dir, "--image", f"{host}/team/web:v1", "--name", "web",
                                   "--port", "80", "--env", "COLOUR=blue"], capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            assert call(server.gateway, "web.default").body == b"web always by default"
            assert call(server.gateway, "web.default", "/env/COLOUR").body == b"blue", "the function's"
            assert call(server.gateway, "web.default", "/env/PLACE").body == b"image", "the image's"
            assert b"1234" in call(server.gateway, "web.default", "/status").body, "the user app"
            server.deploy("args", spec(f"{host}/team/web:v1", args=["other"]))
            assert call(server.gateway, "args.default").body == b"args always other", "the entrypoint stays"
            server.deploy("command", spec(f"{host}/team/web:v1", command=["/bin/again"], args=["only"]))
            assert call(server.gateway, "command.default").body == b"command only"
        finally:
            assert server.stop() == 0


def test_a_second_start_and_a_restart_ask_the_registry_for_nothing(tmp_path, start, registry):
    registry.add_layout(layout(tmp_path / "layout"), "team/web", "v1")
    server = start()
    server.deploy("web", spec(f"{registry.host}/team/web:v1"))
    assert call(server.gateway, "web.default").status == 200
    asked = requests(registry)
    assert sum("/blobs/" in path for _, path in asked) == 3, "a configuration and two layers, once each"
    server.deploy("twin", spec(f"{registry.host}/team/web:v1"))
    assert call(server.gateway, "twin.default").status == 200
    assert server.stop() == 0
    server = start()
    assert call(server.gateway, "web.default").status == 200
    assert requests(registry) == asked


@pytest.mark.skipif(not can_run_pods(), reason="pods need root, crun or runc, and busybox")
def test_a_function_and_a_pod_of_one_image_pull_it_once(tmp_path, start, registry):
    registry.add_layout(layout(tmp_path / "layout"), "team/web", "v1")
    image = f"{registry.host}/team/web:v1"
    server = start("--agent", "--pod-log-dir", tmp_path / "logs")
    pod = {"metadata": {"name": "web"}, "spec": {"terminationGracePeriodSeconds": 0, "containers": [{"name": "a", "image": image}]}}
    server.create(PODS, pod)
    wait_for(lambda: server.get(f"{PODS}/web").json()["status"]["phase"] == "Running", "the pod runs")
    asked = requests(registry)
    assert sum("/blobs/" in path for _, path in asked) == 3, "a configuration and two layers, once each"
    server.deploy("web", spec(image))
    assert call(server.gateway, "web.default").status == 200
    assert requests(registry) == asked, "the function has what the pod has pulled"
    server.ask("DELETE", f"{PODS}/web")
    server.ask("DELETE", FUNCTIONS.format("default") + "/web")
    wait_for(lambda: server.get(f"{PODS}/web").status == 404, "the pod is gone")


def test_functions_share_layers_of_refactored_forms_but_not_where_a_digest_is_named(tmp_path, start, registry):
    for name in ("web", "api"):
        registry.add_layout(layout(tmp_path / name, more=[layer([(name, "f", name.encode() * 5000)])]), f"team/{name}", "v1")
    named = [f"docker://{registry.host}/team/{name}:v1" for name in ("web", "api")]
    done = subprocess.run([DORMOUSE, "image", "refactor", *named, "--to", "source", "--layer-threshold", "1", "--gain-threshold", "1"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    registry.seen.clear()
    server = start()

    def blobs(name, reference):
        before = len(registry.seen)
        server.deploy(name, spec(reference))
        assert call(server.gateway, f"{name}.default").status == 200
        return {path.rsplit("/", 1)[1] for _, path, _ in registry.seen[before:] if "/blobs/" in path}

    def layers(repository, reference):
        return {d["digest"] for d in json.loads(registry.manifests[repository, reference][1])["layers"]}

    originals = {name: digest(registry.manifests[f"team/{name}", "v1"][1]) for name in ("web", "api")}
    attached = {name: json.loads(registry.manifests[f"team/{name}", "sha256-" + originals[name][7:]][1])["manifests"][0]["digest"] for name in originals}
    first, second = (layers(f"team/{name}", attached[name]) for name in ("web", "api"))
    assert first & second and blobs("web", f"{registry.host}/team/web:v1") >= first
    assert blobs("api", f"{registry.host}/team/api:v1") & (first | second) == second - first
    assert blobs("pinned", f"{registry.host}/team/web@{originals['web']}") >= layers("team/web", "v1")


def test_many_functions_of_an_image_share_one_pull(tmp_path, start, registry):
    registry.add_layout(layout(tmp_path / "layout"), "team/web", "v1")
    server = start()
    for i in range(5):
        server.deploy(f"web{i}", spec(f"{registry.host}/team/web:v1", scale={"initial": 1}))
    for i in range(5):
        assert call(server.gateway, f"web{i}.default").status == 200
    assert sum("/blobs/" in path for _, path in requests(registry)) == 3


def test_a_missing_image_is_told_by_the_kubelets_words_and_comes_later(tmp_path, start, registry):
    made = layout(tmp_path / "layout")
    server = start()
    server.deploy("late", spec(f"{registry.host}/team/late:v1", scale={"initial": 1}))
    output = wait_for(lambda: ready(server, "late") if ready(server, "late")["reason"] in ("ErrImagePull", "ImagePullBackOff") else None, "its reason")
    assert f"{registry.host}/team/late:v1" in output["message"] and "MANIFEST_UNKNOWN" in output["message"], output
    wait_for(lambda: ready(server, "late")["reason"] == "ImagePullBackOff", "it waits longer each time")
    registry.add_layout(made, "team/late", "v1")
    wait_for(lambda: ready(server, "late").get("status") == "True", "it is pulled after all")
    assert call(server.gateway, "late.default").status == 200


def test_a_slow_pull_is_said_and_blocks_nothing(tmp_path, start, registry):
    released = threading.Event()
    registry.add_layout(layout(tmp_path / "layout"), "team/slow", "v1")

    def wait(handler):
        released.wait(60)

    registry.faults.append(("GET", "/blobs/", wait))
    server = start()
    server.deploy("slow", spec(f"{registry.host}/team/slow:v1", scale={"initial": 1}))
    try:
        wait_for(lambda: ready(server, "slow")["reason"] == "ImagePulling", "the condition says so")
        server.deploy("other", {"fake": {}})
        assert call(server.gateway, "other.default").status == 200
    finally:
        released.set()
    assert call(server.gateway, "slow.default").status == 200


def test_commands_write_the_store_while_an_image_is_being_pulled(tmp_path, start, registry):
    """The child that pulls has the lock of the store, and does what they ask."""
    made = layout(tmp_path / "layout")
    for name in ("web", "slow"):
        registry.add_layout(made, f"team/{name}", "v1")
    released, begun = threading.Event(), threading.Event()

    def wait(handler):
        begun.set()
        released.wait(60)

    registry.faults.append(("GET", "/blobs/", wait))
    server = start()

    def image(*words):
        return subprocess.run([DORMOUSE, "image", *words, "--store", server.data_dir / "images"], capture_output=True, text=True)

    server.deploy("slow", spec(f"{registry.host}/team/slow:v1", scale={"initial": 1}))
    try:
        assert begun.wait(60)
        for words in ("pull", f"oci:{tmp_path}/layout:v1", "--name", "app:v1"), ("tag", "app:v1", "app:v2"), ("pin", "app:v2"), ("rm", "app:v1"), ("gc",):
            done = image(*words)
            assert done.returncode == 0, (words, done.stderr)
        assert image("ls", "-o", "name").stdout.split() == ["app:v2"]
        if can_mount():     # without a copy, where this kernel can, and without waiting for the end of the pull
            at, data = tmp_path / "mnt", ("--data-dir", tmp_path / "mounts")
            at.mkdir()
            alone = subprocess.run([DORMOUSE, "image", "mount", f"oci:{tmp_path}/layout:v1", at, "--data-dir", tmp_path / "alone", "-o", "json"],
                                   capture_output=True, text=True)
            assert alone.returncode == 0 and subprocess.run([DORMOUSE, "image", "umount", at, "--data-dir", tmp_path / "alone"]).returncode == 0, alone.stderr
            done = image("mount", "app:v2", at, "-o", "json", "--wait", "1h", *data)
            assert done.returncode == 0 and json.loads(done.stdout)["fromStore"] == json.loads(alone.stdout)["fromStore"], done.stderr
            assert len(list((server.data_dir / "images/leases").iterdir())) == json.loads(done.stdout)["fromStore"]
            done = subprocess.run([DORMOUSE, "image", "umount", at, "--wait", "1h", *data], capture_output=True, text=True)
            assert done.returncode == 0 and list((server.data_dir / "images/leases").iterdir()) == [], done.stderr
        wait_for(lambda: ready(server, "slow")["reason"] == "ImagePulling", "the pull goes on")
    finally:
        released.set()
    assert call(server.gateway, "slow.default").status == 200


@pytest.fixture
def beside(tmp_path, registry):
    """The image service of the worker's node, on the worker's store."""
    nodes = []

    def begin(server):
        nodes.append(Node(tmp_path, "n1", "--upstream", registry.host, store=server.data_dir / "images"))
        return nodes[-1]

    yield begin
    for node in nodes:
        node.stop()


def holder(server):
    return int((server.data_dir / "images/lock").read_text().split()[0])


def plan(registry, made, repository, node):
    """The BDM of an image, all of it from the registry."""
    doc = json.loads(made.blob_of(made.manifests[0]))
    config = json.loads(made.blob_of(doc["config"]))
    tasks = [{"id": i, "blob": d["digest"], "diff": diff, "size": d["size"], "raw_size": 0, "enc": "gzip", "range": [0, d["size"]], "prio": i,
              "src": {"kind": "registry", "repo": repository}, "alt": [], "expect_ms": 100}
             for i, (d, diff) in enumerate(zip(doc["layers"], config["rootfs"]["diff_ids"]), 1)]
    return {"v": 1, "deploy": str(uuid.uuid4()), "epoch": 1, "deadline_ms": 60000, "tasks": tasks, "binding": {"node": node.name, "url": node.url},
            "image": {"ref": f"{registry.host}/{repository}:v1", "manifest": made.manifests[0]["digest"], "config": doc["config"]["digest"]}}


def test_a_worker_has_its_images_by_the_image_service_that_has_its_store(tmp_path, start, registry, beside):
    registry.add_layout(layout(tmp_path / "web"), "team/web", "v1")
    planned = layout(tmp_path / "planned", more=[layer([("more", "f", b"of the plan")])])
    registry.add_layout(planned, "team/planned", "v1")
    server = start()
    node = beside(server)
    server.deploy("web", spec(f"{registry.host}/team/web:v1"))
    assert call(server.gateway, "web.default").body == b"web always by default"
    assert holder(server) == node.process.pid, "it has the store all the time"
    assert node.get(f"/v2/team/web/manifests/v1?ns={registry.host}")[0] == 200, "and serves what the function brought"
    missing = subprocess.run([DORMOUSE, "image", "gc", "--store", server.data_dir / "images", "-o", "json"], capture_output=True, text=True)
    assert json.loads(missing.stdout)["rootFileSystems"] == 0, "what is in use stays"

    # What a plan brought before the first sandbox is not asked of the registry any more.
    bdm = plan(registry, planned, "team/planned", node)
    assert node.send(bdm)[0] == 202 and node.wait(bdm["deploy"])["state"] == "done"
    asked = requests(registry)
    server.deploy("planned", spec(f"{registry.host}/team/planned:v1"))
    assert call(server.gateway, "planned.default", "/read/more").body == b"of the plan"
    assert requests(registry) == asked

    server.deploy("none", spec(f"{registry.host}/team/none:v1", scale={"initial": 1}))
    assert "MANIFEST_UNKNOWN" in wait_for(lambda: refused(server, "none"), "its reason")["message"]
    assert node.stop() == 0
    server.deploy("after", spec(f"{registry.host}/team/web:v1", args=["after"]))
    assert call(server.gateway, "after.default").body == b"after always after", "without it the worker goes on itself"


def test_an_image_service_that_is_killed_in_the_middle_costs_a_function_nothing(tmp_path, start, registry, beside):
    registry.add_layout(layout(tmp_path / "layout"), "team/slow", "v1")
    released, begun = threading.Event(), threading.Event()

    def wait(handler):
        begun.set()
        released.wait(60)

    registry.faults.append(("GET", "/blobs/", wait))
    server = start()
    node = beside(server)
    server.deploy("slow", spec(f"{registry.host}/team/slow:v1", scale={"initial": 1}))
    try:
        assert begun.wait(60)
        wait_for(lambda: ready(server, "slow")["reason"] == "ImagePulling", "the condition says so")
        node.kill()
    finally:
        released.set()
    assert call(server.gateway, "slow.default").status == 200
    assert ready(server, "slow")["reason"] not in ("ErrImagePull", "ImagePullBackOff")


def dockerconfig(host, user, password):
    auth = base64.b64encode(f"{user}:{password}".encode()).decode()
    config = json.dumps({"auths": {host: {"auth": auth}}})
    return {"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/dockerconfigjson",
            "data": {".dockerconfigjson": base64.b64encode(config.encode()).decode()}}


def test_credentials_come_from_a_secret_and_hold_for_its_namespace_alone(tmp_path, start, registry):
    registry.add_layout(layout(tmp_path / "layout"), "team/private", "v1")
    registry.auth, registry.users = "basic", {"ann": "s3cret"}
    server = start()
    reference = f"{registry.host}/team/private:v1"
    secret = dockerconfig(registry.host, "ann", "s3cret")
    server.create("/api/v1/namespaces/default/secrets", {**secret, "metadata": {"name": "pull"}})
    server.deploy("mine", spec(reference, imagePullSecrets=[{"name": "pull"}]))
    assert call(server.gateway, "mine.default").status == 200
    server.deploy("nobody", spec(reference, scale={"initial": 1}))
    output = wait_for(lambda: refused(server, "nobody"), "it is refused")
    assert output["message"].endswith("no credentials for it are known (it names no imagePullSecrets)"), output
    server.create("/api/v1/namespaces/default/secrets", {**dockerconfig("other.example", "ann", "s3cret"), "metadata": {"name": "other"}})
    server.deploy("elsewhere", spec(reference, imagePullSecrets=[{"name": "other"}], scale={"initial": 1}))
    output = wait_for(lambda: refused(server, "elsewhere"), "it is refused")
    assert "(none in its imagePullSecrets)" in output["message"], output
    server.deploy("forgot", spec(reference, imagePullSecrets=[{"name": "none"}], scale={"initial": 1}))
    output = wait_for(lambda: ready(server, "forgot") if "none" in ready(server, "forgot")["message"] else None, "the Secret is missing")
    assert ".dockerconfigjson" in output["message"]
    assert "s3cret" not in server.text_of_log()


def test_a_deploy_that_mends_one_before_is_not_told_its_failure(start, tmp_path, registry):
    registry.add_layout(layout(tmp_path / "layout"), "team/private", "v1")
    registry.auth, registry.users = "basic", {"ann": "s3cret"}
    server = start()

    def deploy(*words):
        return subprocess.run([DORMOUSE, "fn", "deploy", "--data-dir", server.data_dir, "--image", f"{registry.host}/team/private:v1",
                               "--name", "web", "--port", "80", *words], capture_output=True, text=True)

    done = deploy()
    assert done.returncode == 1 and "ImagePull" in done.stderr and "nothing was changed" not in done.stderr, done
    done = deploy()
    assert done.returncode == 1 and "nothing was changed since it failed: " in done.stderr, done
    server.create("/api/v1/namespaces/default/secrets", {**dockerconfig(registry.host, "ann", "s3cret"), "metadata": {"name": "pull"}})
    done = deploy("--pull-secret", "pull")
    assert done.returncode == 0, done.stderr
    assert call(server.gateway, "web.default").status == 200


def make_namespace(server, name):
    server.create("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})


def test_who_knows_the_digest_of_a_private_layer_does_not_get_it(tmp_path, registry):
    """An image of an own registry lists the layers of another tenant by their DiffIDs; the blobs are anything."""
    secret = [layer([("secret", "f", b"of ann")])]
    made = layout(tmp_path / "layout", more=secret)
    registry.add_layout(made, "team/private", "v1")
    registry.auth, registry.users = "basic", {"ann": "s3cret", "bob": "t0o"}
    with fake() as other:
        stolen = layout(tmp_path / "stolen", more=secret)
        manifest = json.loads(stolen.blob_of(stolen.manifests[0]))
        manifest["layers"] = [stolen.descriptor(gzip.compress(layer([(f"f{i}", "f", b"x")])), d["mediaType"]) for i, d in enumerate(manifest["layers"])]
        stolen.manifests = [stolen.descriptor(json.dumps(manifest).encode(), stolen.manifests[0]["mediaType"])]
        other.add_manifest(stolen, stolen.manifests[0], "mallory/web", "v1")
        server = FunctionServer(tmp_path / "data", extra=("--image-registry", registry.host, "--image-registry", other.host))
        try:
            for namespace in ("mallory", "bob"):
                make_namespace(server, namespace)
            pull = dockerconfig(registry.host, "ann", "s3cret")
            server.create("/api/v1/namespaces/default/secrets", {**pull, "metadata": {"name": "pull"}})
            server.deploy("mine", spec(f"{registry.host}/team/private:v1", imagePullSecrets=[{"name": "pull"}]))
            assert call(server.gateway, "mine.default", "/read/secret").body == b"of ann"
            document = made.blob_of(made.manifests[0])
            with serve(server.data_dir / "images") as mirror:       # another process of the machine makes the store a mirror
                known = [digest(document), json.loads(document)["config"]["digest"], digest(secret[0])]
                assert [mirror.get(f"/v2/team/private/{kind}/{d}")[0] for d in known for kind in ("blobs", "manifests")] == [404] * 6
                assert mirror.get("/v2/team/private/manifests/v1?ns=" + registry.host)[0] == 404
            node = Node(tmp_path, "n1", "--upstream", other.host, store=server.data_dir / "images")  # brings it to the node for a pod
            bdm = plan(other, stolen, "mallory/web", node)
            assert node.send(bdm)[0] == 202 and node.wait(bdm["deploy"])["layersPresent"] == 3
            assert node.get(f"/v2/mallory/web/blobs/{digest(secret[0])}")[0] == 404 and node.stop() == 0
            login = dockerconfig(other.host, "any", "word")
            server.create("/api/v1/namespaces/mallory/secrets", {**login, "metadata": {"name": "pull"}})
            for name, more in {"plain": {}, "login": {"imagePullSecrets": [{"name": "pull"}]}}.items():
                server.deploy(name, spec(f"{other.host}/mallory/web:v1", scale={"initial": 1}, **more), namespace="mallory")
                wait_for(lambda: ready(server, name, "mallory")["reason"] in ("ErrImagePull", "ImagePullBackOff"), "it is refused")
            # Whom the registry gives the bytes has them.
            pull = dockerconfig(registry.host, "bob", "t0o")
            server.create("/api/v1/namespaces/bob/secrets", {**pull, "metadata": {"name": "pull"}})
            before = len(requests(registry))
            server.deploy("too", spec(f"{registry.host}/team/private:v1", imagePullSecrets=[{"name": "pull"}]), namespace="bob")
            assert call(server.gateway, "too.bob", "/read/secret").body == b"of ann"
            assert sum("/blobs/" in path for _, path in requests(registry)[before:]) >= 4, "the bytes came again"
            before = len(requests(registry))
            server.deploy("again", spec(f"{registry.host}/team/private:v1", imagePullSecrets=[{"name": "pull"}], image={"pullPolicy": "Always"}),
                          namespace="bob")
            assert call(server.gateway, "again.bob", "/read/secret").body == b"of ann"
            assert sum("/blobs/" in path for _, path in requests(registry)[before:]) <= 2, "but not a third time"
        finally:
            assert server.stop() == 0


def test_a_pull_with_credentials_that_breaks_off_leaves_nothing_to_go_on_with(tmp_path, start, registry):
    """A part of a blob belongs to no tenant: whoever lists its digest would get what is in it."""
    random.seed(1)
    secret = layer([("secret", "f", random.randbytes(600_000))])
    made = layout(tmp_path / "layout", more=[secret])
    registry.add_layout(made, "team/private", "v1")
    registry.auth, registry.users = "basic", {"ann": "s3cret"}
    blob = json.loads(made.blob_of(made.manifests[0]))["layers"][-1]["digest"]
    registry.knows_ranges = False
    registry.faults += [("GET", blob, cut_after(300_000))] * 50
    server = start()
    server.create("/api/v1/namespaces/default/secrets", {**dockerconfig(registry.host, "ann", "s3cret"), "metadata": {"name": "pull"}})
    server.deploy("mine", spec(f"{registry.host}/team/private:v1", scale={"initial": 1}, imagePullSecrets=[{"name": "pull"}]))
    wait_for(lambda: ready(server, "mine")["reason"] in ("ErrImagePull", "ImagePullBackOff"), "it breaks off")
    assert [path for _, path in requests(registry) if blob in path], "in the middle"
    assert not list((server.data_dir / "images/tmp").rglob("*.part"))


def test_what_a_tenant_mounts_is_not_in_the_root_of_another(tmp_path, start, registry):
    registry.add_layout(layout(tmp_path / "layout"), "team/web", "v1")
    server = start()
    make_namespace(server, "other")
    server.create("/api/v1/namespaces/other/secrets", {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "keys"}, "data": {"one": "a2V5"}})
    server.deploy("web", spec(f"{registry.host}/team/web:v1", secrets=[{"secretName": "keys", "mountPath": "/bin/shadow"}]), namespace="other")
    assert call(server.gateway, "web.other", "/read/bin/shadow/one").body == b"key"
    server.deploy("web", spec(f"{registry.host}/team/web:v1"))
    assert call(server.gateway, "web.default").status == 200
    roots = list(pathlib.Path(server.data_dir, "images/images").glob("*/*/rootfs"))
    assert sorted((root / "bin/shadow").exists() for root in roots) == [False, True]


def test_a_tenant_whose_registry_hangs_does_not_hold_up_another(tmp_path, start, registry):
    released = threading.Event()

    def wait(handler):
        released.wait(60)

    for i in range(6):
        registry.add_layout(layout(tmp_path / f"slow{i}", run={**RUN, "Env": [f"N={i}"]}), f"team/slow{i}", "v1")
        registry.faults.append(("GET", f"/team/slow{i}/blobs/", wait))
    registry.add_layout(layout(tmp_path / "layout"), "team/web", "v1")
    server = start()
    make_namespace(server, "other")
    try:
        for i in range(6):
            server.deploy(f"slow{i}", spec(f"{registry.host}/team/slow{i}:v1", scale={"initial": 1}))
        wait_for(lambda: sum(ready(server, f"slow{i}")["reason"] == "ImagePulling" for i in range(6)) >= 2, "two of them are pulled")
        server.deploy("web", spec(f"{registry.host}/team/web:v1"), namespace="other")
        assert call(server.gateway, "web.other").status == 200
        server.deploy("twin", spec(f"{registry.host}/team/slow0:v1", scale={"initial": 1}))
        wait_for(lambda: ready(server, "twin")["reason"] == "ImagePulling", "who shares a pull that goes on is told so")
    finally:
        released.set()
    for i in range(6):
        assert call(server.gateway, f"slow{i}.default").status == 200


def test_tenants_whose_registries_hang_do_not_hold_up_another_by_being_many(tmp_path, start, registry):
    released, tenants = threading.Event(), [f"slow{i}" for i in range(3)]
    for i in range(6):
        registry.add_layout(layout(tmp_path / f"i{i}", run={**RUN, "Env": [f"N={i}"]}), f"team/i{i}", "v1")
        registry.faults += 20 * [("GET", f"/team/i{i}/blobs/", lambda handler: released.wait(600) and None)]  # each attempt
    registry.add_layout(layout(tmp_path / "layout"), "team/web", "v1")
    server = start()

    def pulling():
        return sum(ready(server, f"f{i}", tenants[i % 3])["reason"] == "ImagePulling" for i in range(6))

    try:
        for i in range(6):
            if i < 3:
                make_namespace(server, tenants[i])
            server.deploy(f"f{i}", spec(f"{registry.host}/team/i{i}:v1", scale={"initial": 1}), namespace=tenants[i % 3])
        wait_for(lambda: pulling() >= 4, "as many as may be busy are pulled")
        server.deploy("web", spec(f"{registry.host}/team/web:v1"))
        assert call(server.gateway, "web.default").status == 200
    finally:
        released.set()


def test_a_namespace_that_is_made_again_inherits_no_image(tmp_path, start, registry):
    """Who makes it names the old one's image with credentials that open nothing."""
    registry.add_layout(layout(tmp_path / "layout"), "team/private", "v1")
    registry.auth, registry.users = "basic", {"ann": "s3cret"}
    server = start()
    reference = f"{registry.host}/team/private:v1"
    wanted = spec(reference, imagePullSecrets=[{"name": "pull"}])

    def make(password):
        make_namespace(server, "team")
        server.create("/api/v1/namespaces/team/secrets", {**dockerconfig(registry.host, "ann", password), "metadata": {"name": "pull"}})

    make("s3cret")
    server.deploy("mine", wanted, namespace="team")
    assert call(server.gateway, "mine.team").status == 200
    n = len(requests(registry))
    server.deploy("again", wanted, namespace="team")  # it is here, for this namespace
    assert call(server.gateway, "again.team").status == 200 and len(requests(registry)) == n
    for name in ("mine", "again"):
        server.ask("DELETE", FUNCTIONS.format("team") + "/" + name)
        wait_for(lambda: server.get(FUNCTIONS.format("team") + "/" + name).status == 404, "the function to go")
    server.ask("DELETE", "/api/v1/namespaces/team")
    wait_for(lambda: server.get("/api/v1/namespaces/team").status == 404, "the namespace to go")
    make("guessed")
    server.deploy("mine", {**wanted, "scale": {"initial": 1}}, namespace="team")
    wait_for(lambda: ready(server, "mine", "team")["reason"] in ("ErrImagePull", "ImagePullBackOff"), "it is refused")


def test_files_of_the_worker_are_images_below_its_directories_alone(tmp_path, start):
    (tmp_path / "bundles").mkdir()
    layout(tmp_path / "bundles/layout")
    layout(tmp_path / "secret")
    docker_archive(tmp_path / "bundles/app.tar", {"app:v1": tars()})
    server = start("--bundles", tmp_path / "bundles")
    server.deploy("layout", spec("oci:layout:v1"))
    assert call(server.gateway, "layout.default").body == b"layout always by default"
    server.deploy("archive", spec("docker-archive:app.tar:app:v1", command=["/bin/guest", "archived"]))
    assert call(server.gateway, "archive.default").body == b"archive archived"
    for name, reference in {"outside": f"oci:{tmp_path}/secret:v1", "up": "oci:../secret:v1", "store": f"store:{tmp_path}/data/images:x"}.items():
        server.deploy(name, spec(reference))
        assert call(server.gateway, f"{name}.default").status == 503, reference
        why = wait_for(lambda: ready(server, name)["message"], "the condition says why")
        assert "below a directory of bundles" in why or "may name a store" in why


def test_a_registry_that_is_not_named_is_refused(start, registry):
    server = start()
    server.deploy("elsewhere", spec("registry.invalid/team/web:v1", scale={"initial": 1}))
    output = wait_for(lambda: ready(server, "elsewhere") if "image-registry" in ready(server, "elsewhere")["message"] else None, "why")
    assert "registry.invalid" in output["message"]


def test_gc_leaves_an_image_in_use_and_takes_it_afterwards(tmp_path, start, registry):
    registry.add_layout(layout(tmp_path / "layout"), "team/web", "v1")
    server = start()
    reference = f"{registry.host}/team/web:v1"
    server.deploy("web", spec(reference))
    assert call(server.gateway, "web.default").status == 200
    roots = list(pathlib.Path(server.data_dir, "images/images").glob("*/*/rootfs"))
    assert len(roots) == 1
    store(server, "rm", reference)
    store(server, "gc")
    assert roots[0].exists() and call(server.gateway, "web.default").status == 200
    assert server.ask("DELETE", FUNCTIONS.format("default") + "/web").status == 200

    def is_gone():
        store(server, "gc")
        return not roots[0].exists()

    wait_for(is_gone, "nothing uses it any more")


def test_the_root_of_a_namespace_that_is_gone_does_not_stay(tmp_path, start, registry):
    """Another namespace still uses the image, so that the image itself stays."""
    registry.add_layout(layout(tmp_path / "layout"), "team/web", "v1")
    server = start()
    make_namespace(server, "gone")
    for namespace in ("default", "gone"):
        server.deploy("web", spec(f"{registry.host}/team/web:v1"), namespace)
        assert call(server.gateway, f"web.{namespace}").status == 200

    def roots():
        return set(pathlib.Path(server.data_dir, "images/images").glob("*/*/rootfs"))

    assert len(roots()) == 2
    assert json.loads(store(server, "gc", "-o", "json"))["rootFileSystems"] == 0
    assert len(roots()) == 2 and call(server.gateway, "web.gone").status == 200
    assert server.ask("DELETE", FUNCTIONS.format("gone") + "/web").status == 200
    assert server.ask("DELETE", "/api/v1/namespaces/gone").status in (200, 202)

    def would_go():
        return json.loads(store(server, "gc", "--dry-run", "-o", "json"))["rootFileSystems"] == 1

    wait_for(would_go, "no container uses it any more")
    assert len(roots()) == 2
    assert "1 root file systems" in store(server, "gc")
    assert len(roots()) == 1 and call(server.gateway, "web.default").status == 200
    assert list(pathlib.Path(server.data_dir, "images/trash").iterdir()) == []


def test_a_root_that_nothing_has_used_for_a_day_goes_with_the_next_question(tmp_path, start, registry):
    registry.add_layout(layout(tmp_path / "layout"), "team/old", "v1")
    registry.add_layout(layout(tmp_path / "other", more=[layer([("new", "f", b"x")])]), "team/new", "v1")
    server = start()
    server.deploy("old", spec(f"{registry.host}/team/old:v1"))
    assert call(server.gateway, "old.default").status == 200
    old, = pathlib.Path(server.data_dir, "images/images").glob("*/*/rootfs")
    assert server.ask("DELETE", FUNCTIONS.format("default") + "/old").status == 200
    wait_for(lambda: json.loads(store(server, "gc", "--dry-run", "-o", "json"))["rootFileSystems"] == 1, "no container uses it any more")
    assert old.exists()
    a_day_ago = time.time() - 25 * 3600
    os.utime(old.parent, (a_day_ago, a_day_ago))
    server.deploy("new", spec(f"{registry.host}/team/new:v1"))
    assert call(server.gateway, "new.default").status == 200
    wait_for(lambda: not old.exists(), "the child that pulled has ended")
    assert len(list(pathlib.Path(server.data_dir, "images/images").glob("*/*/rootfs"))) == 1


def test_a_server_that_is_killed_finds_the_containers_of_images_again(tmp_path, start, registry):
    registry.add_layout(layout(tmp_path / "layout"), "team/web", "v1")
    server = start()
    server.deploy("stays", spec(f"{registry.host}/team/web:v1"))
    assert call(server.gateway, "stays.default").status == 200
    server.kill()
    server = start()
    assert call(server.gateway, "stays.default").status == 200
    store(server, "gc")
    assert call(server.gateway, "stays.default").status == 200


def test_a_server_that_is_killed_in_the_middle_of_a_pull_goes_on(tmp_path, start, registry):
    released, begun = threading.Event(), threading.Event()
    registry.add_layout(layout(tmp_path / "layout"), "team/web", "v1")

    def wait(handler):
        begun.set()
        released.wait(60)

    registry.faults.append(("GET", "/blobs/", wait))
    server = start()
    server.deploy("web", spec(f"{registry.host}/team/web:v1", scale={"initial": 1}))
    assert begun.wait(60)
    server.kill()
    released.set()
    server = start()
    assert call(server.gateway, "web.default").status == 200


def test_devices_of_an_image_do_not_come_with_it(tmp_path, start, registry):
    """A container runs on the root file system in place: a node of the machine's disk would be the disk."""
    nodes = [("kmsg", "k", "", {"devmajor": 1, "devminor": 11, "mode": 0o666})]
    registry.add_layout(layout(tmp_path / "layout", more=[layer(nodes)]), "team/nodes", "v1")
    server = start()
    server.deploy("nodes", spec(f"{registry.host}/team/nodes:v1"))
    assert call(server.gateway, "nodes.default", "/write/dev/null").status == 200
    assert call(server.gateway, "nodes.default", "/write/kmsg").status == 404
    roots = list(pathlib.Path(server.data_dir, "images/images").glob("*/*/rootfs"))
    assert len(roots) == 1 and (roots[0] / "bin/guest").exists()
    assert not [path for path in roots[0].rglob("*") if path.is_char_device() or path.is_block_device()]


@pytest.mark.parametrize("run, words", [({"Entrypoint": ["/bin/guest"], "User": "ghost"}, "no user 'ghost'"), ({}, "names no program")])
def test_an_image_that_cannot_run_says_why(tmp_path, start, registry, run, words):
    registry.add_layout(layout(tmp_path / "layout", run), "team/odd", "v1")
    server = start()
    server.deploy("odd", spec(f"{registry.host}/team/odd:v1", scale={"initial": 1}))
    wait_for(lambda: words in ready(server, "odd")["message"], "the condition says what is wrong")
