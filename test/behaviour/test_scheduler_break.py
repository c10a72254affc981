# SPDX-License-Identifier: Apache-2.0
"""BREAK's scorers from a configuration, on clusters that `dormouse scheduler simulate` is given."""
import base64
import datetime
import json
import platform
import subprocess
import threading

import pytest

from conftest import BUILD, ROOT, wait_for
from registry_kit import Fake, digest
from scheduler_kit import Scheduler

EXAMPLE = ROOT / "docs/examples/scheduler-break.yaml"
LAYERS = {f"sha256:{i:012x}": size for i, size in ((1, 10_000_000), (2, 30_000_000), (3, 60_000_000))}


def node(name, **spec):
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "spec": spec,
            "status": {"allocatable": {"cpu": "8", "memory": "16Gi", "ephemeral-storage": "100Gi", "pods": "110"}}}


def state(name, layers=(), age_s=0, uplink=0, rtt=0, **spec):
    now = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(seconds=age_s)
    time = now.strftime("%Y-%m-%dT%H:%M:%SZ")
    prefixes = b"".join(sorted(bytes.fromhex(layer[7:19]) for layer in layers))
    return {"apiVersion": "dormouse.dev/v1alpha1", "kind": "NodeImageState", "metadata": {"name": name},
            "spec": dict({"reportedAt": time, "network": {"measuredAt": time, "uplinkBitsPerSecond": uplink, "rttMicroseconds": rtt},
                          "layers": {"generation": 1, "prefixes": base64.b64encode(prefixes).decode()}}, **spec)}


def pod(name):
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": "default",
                         "annotations": {"image.dormouse.dev/layers": ", ".join(f"{k}={v}" for k, v in LAYERS.items())}},
            "spec": {"containers": [{"name": "c", "image": "registry.example/app:v1", "resources": {"requests": {"cpu": "100m"}}}]}}


def simulate(tmp_path, objects, pods, config=EXAMPLE, seed=1):
    (tmp_path / "nodes.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    (tmp_path / "pods.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": pods}))
    done = subprocess.run([BUILD / "dormouse", "scheduler", "simulate", "--nodes", tmp_path / "nodes.json", "--pods", tmp_path / "pods.json",
                           "--config", config, "--seed", str(seed), "-o", "json"], capture_output=True, text=True, timeout=60)
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout), done.stderr


def places(answer):
    return {p["name"]: p["node"] for p in answer["pods"]}


def test_the_example_is_read_without_a_warning_and_places(tmp_path):
    answer, warnings = simulate(tmp_path, [node("a"), node("b")], [pod("p")])
    assert warnings == ""
    assert places(answer) == {"p": "a"}  # all the same: the lower name


def test_a_pod_goes_where_most_of_its_layers_are(tmp_path):
    layers = list(LAYERS)
    objects = [node(n) for n in "abcd"] + [state("b", layers[:1]), state("c", layers[:1] + layers[2:]), state("d")]
    assert places(simulate(tmp_path, objects, [pod("p")])[0]) == {"p": "c"}


def test_equal_totals_go_to_the_shorter_time_and_the_lower_name_whatever_the_seed(tmp_path):
    objects = [node(n) for n in "dcba"]
    assert {places(simulate(tmp_path, objects, [pod("p")], seed=s)[0])["p"] for s in range(5)} == {"a"}
    # In the same second: b gets its layers sooner, and nothing else tells the nodes apart.
    objects += [state("b", registryBitsPerSecond=0)]
    objects[-1]["spec"]["network"]["registryBitsPerSecond"] = 1_000_000_000
    assert {places(simulate(tmp_path, objects, [pod("p")], seed=s)[0])["p"] for s in range(5)} == {"b"}


def test_a_full_disk_keeps_pods_away(tmp_path):
    objects = [node("a"), node("b"), state("a", list(LAYERS), disk={"capacityBytes": 1000, "usedBytes": 950})]
    assert places(simulate(tmp_path, objects, [pod("p")])[0]) == {"p": "b"}


@pytest.mark.parametrize("args, text", [({"reading": "as printed"}, "Unsupported value"), ({"eta": 100}, "eta: Invalid value")])
def test_wrong_arguments_are_named(tmp_path, args, text):
    (tmp_path / "config.yaml").write_text(json.dumps({
        "apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
        "profiles": [{"plugins": {"multiPoint": {"enabled": [{"name": "BreakLayerLocality"}]}},
                      "pluginConfig": [{"name": "BreakLayerLocality", "args": args}]}]}))
    (tmp_path / "empty.json").write_text("{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": []}")
    done = subprocess.run([BUILD / "dormouse", "scheduler", "simulate", "--nodes", tmp_path / "empty.json", "--pods", tmp_path / "empty.json",
                           "--config", tmp_path / "config.yaml"], capture_output=True, text=True, timeout=60)
    assert done.returncode != 0 and text in done.stderr


def test_the_manifest_defines_what_nodes_tell_where_it_is_read(tmp_path):
    def kinds(*args):
        done = subprocess.run([BUILD / "dormouse", "manifest", "scheduler", "--image", "dormouse:1", *args], capture_output=True, text=True, timeout=60, check=True)
        return [line for line in done.stdout.splitlines() if line.startswith("kind: ")], done.stdout
    assert "kind: CustomResourceDefinition" not in kinds()[0]
    some, text = kinds("--config", EXAMPLE)
    assert "kind: CustomResourceDefinition" in some and "nodeimagestates.dormouse.dev" in text


def test_the_definition_is_taken_and_keeps_wrong_states_out(dormouse_api):
    api = dormouse_api
    crd = json.loads((ROOT / "src/sched/object/node_image_state_crd.json").read_text())
    api.kubectl("apply", "-f", "-", input=json.dumps(crd))
    api.kubectl("wait", "--for=condition=Established", "crd/nodeimagestates.dormouse.dev", "--timeout=50s")
    api.kubectl("create", "-f", "-", input=json.dumps(state("a", LAYERS, uplink=5, rtt=700, cache={"capacityBytes": 9, "pinnedBytes": 9})))
    row = api.kubectl("get", "nis", "-o", "wide").stdout.splitlines()[1].split()
    assert row[:3] == ["a", "700", "5"]
    wrong = state("b", cache={"capacityBytes": 9, "pinnedBytes": 10})
    done = api.kubectl("create", "-f", "-", input=json.dumps(wrong), check=False)
    assert done.returncode != 0 and "pinnedBytes may not exceed capacityBytes" in done.stderr
    del wrong["spec"]["reportedAt"]
    done = api.kubectl("create", "-f", "-", input=json.dumps(wrong), check=False)
    assert done.returncode != 0 and "reportedAt: Required value" in done.stderr


def test_a_running_scheduler_reads_what_nodes_tell_when_it_begins_and_when_it_changes(dormouse_api, tmp_path):
    api = dormouse_api
    path = "/api/v1/namespaces/default/pods/p"

    def apply(*objects):
        api.kubectl("apply", "-f", "-", input=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))

    api.kubectl("apply", "-f", ROOT / "src/sched/object/node_image_state_crd.json")
    api.kubectl("wait", "--for=condition=Established", "crd/nodeimagestates.dormouse.dev", "--timeout=50s")
    full = {"capacityBytes": 1000, "usedBytes": 950}
    apply(*[state(n, LAYERS, disk=full) for n in "abc"])
    for n in "abc":
        api.create("/api/v1/nodes", node(n))
    scheduler = Scheduler(api.kubeconfig, tmp_path, text=EXAMPLE.read_text() + "leaderElection: {leaderElect: false}\n")
    try:
        apply(pod("p"))
        wait_for(lambda: any("3 node(s) had more than 90% of their image disk in use" in c.get("message", "")
                             for c in api.get(path).json()["status"].get("conditions", [])), "the pod to be refused")
        apply(state("c", LAYERS, disk=dict(full, usedBytes=5)))
        wait_for(lambda: api.get(path).json()["spec"].get("nodeName") == "c", "the pod to have a node")
    finally:
        assert scheduler.stop() == 0


# ---- layers from the registry

IMAGE_LAYERS = [(digest(b"base"), 90_000_000), (digest(b"app"), 10_000_000)]


def add_image(registry, repository, tag, layers):
    """Manifest and configuration alone: whoever asks for a layer finds none."""
    config = registry.blob(json.dumps({"architecture": {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine()), "os": "linux",
                                       "rootfs": {"type": "layers", "diff_ids": [diff for diff, _ in layers]}}).encode())
    kind = "application/vnd.oci.image."
    manifest = json.dumps({"schemaVersion": 2, "mediaType": f"{kind}manifest.v1+json",
                           "config": {"mediaType": f"{kind}config.v1+json", "digest": digest(config), "size": len(config)},
                           "layers": [{"mediaType": f"{kind}layer.v1.tar+gzip", "digest": digest(f"blob of {diff}".encode()), "size": size} for diff, size in layers]})
    for name in (tag, digest(manifest.encode())):
        registry.manifests[repository, name] = (f"{kind}manifest.v1+json", manifest.encode())


class Cluster:
    """Nodes a, b and c: c holds the large layer of the image, b the small one; and a scheduler with BREAK's plugins."""

    def __init__(self, api, tmp_path, *args):
        self.api = api
        api.kubectl("apply", "-f", ROOT / "src/sched/object/node_image_state_crd.json")
        api.kubectl("wait", "--for=condition=Established", "crd/nodeimagestates.dormouse.dev", "--timeout=50s")
        base, app = [diff for diff, _ in IMAGE_LAYERS]
        self.apply(state("a"), state("b", [app]), state("c", [base]))
        for n in "abc":
            api.create("/api/v1/nodes", node(n))
        self.scheduler = Scheduler(api.kubeconfig, tmp_path, text=EXAMPLE.read_text() + "leaderElection: {leaderElect: false}\n", args=args)

    def apply(self, *objects):
        self.api.kubectl("apply", "-f", "-", input=json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}))

    def place(self, name, image, **spec):
        """The node of a new pod without an annotation."""
        p = pod(name)
        del p["metadata"]["annotations"]
        p["spec"]["containers"][0]["image"] = image
        p["spec"].update(spec)
        self.apply(p)
        return wait_for(lambda: self.api.get(f"/api/v1/namespaces/default/pods/{name}").json()["spec"].get("nodeName"), f"{name} to have a node")


@pytest.fixture
def registry():
    server = Fake()
    yield server
    server.close()


def test_layers_come_from_the_registry_of_the_image(dormouse_api, tmp_path, registry):
    add_image(registry, "app", "v1", IMAGE_LAYERS)
    cluster = Cluster(dormouse_api, tmp_path, "--image-registry", registry.host)
    try:
        assert cluster.place("p", f"{registry.host}/app:v1") == "c"
        assert cluster.place("q", f"{registry.host}/app:v1") == "c"
        assert len(registry.seen) == 2  # a manifest and a configuration, whatever comes
    finally:
        assert cluster.scheduler.stop() == 0


def test_a_private_image_is_asked_for_with_the_pull_secrets_of_the_pod(dormouse_api, tmp_path, registry):
    add_image(registry, "app", "v1", IMAGE_LAYERS)
    registry.auth, registry.users = "basic", {"me": "secret"}
    auths = {"auths": {registry.host: {"auth": base64.b64encode(b"me:secret").decode()}}}
    dormouse_api.kubectl("apply", "-f", "-", input=json.dumps({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "login", "namespace": "default"}, "type": "kubernetes.io/dockerconfigjson",
        "data": {".dockerconfigjson": base64.b64encode(json.dumps(auths).encode()).decode()}}))
    cluster = Cluster(dormouse_api, tmp_path, "--image-registry", registry.host)
    try:
        image = f"{registry.host}/app:v1"
        assert cluster.place("with", image, imagePullSecrets=[{"name": "absent"}, {"name": "login"}]) == "c"
        assert cluster.place("without", image) == "a"  # and what another may see does not help it
        assert "secret" not in cluster.scheduler.text()
    finally:
        assert cluster.scheduler.stop() == 0


def test_a_registry_that_is_silent_or_not_to_be_asked_keeps_no_pod_waiting(dormouse_api, tmp_path, registry):
    add_image(registry, "app", "v1", IMAGE_LAYERS)
    go_on = threading.Event()
    registry.faults += [("GET", "/manifests/", lambda handler: go_on.wait() and None)] * 2
    cluster = Cluster(dormouse_api, tmp_path, "--image-registry", registry.host)
    try:
        assert cluster.place("p", f"{registry.host}/app:v1") == "a"  # the registry has not answered yet
        assert cluster.place("q", "127.0.0.1:1/app:v1")  # not of the list
        assert "is not to be asked" in cluster.scheduler.text()
    finally:
        go_on.set()
        assert cluster.scheduler.stop() == 0


def test_a_scheduler_ends_while_a_registry_is_asked(dormouse_api, tmp_path, registry):
    add_image(registry, "app", "v1", IMAGE_LAYERS)
    go_on = threading.Event()
    registry.faults += [("GET", "/manifests/", lambda handler: go_on.wait() and None)] * 2
    cluster = Cluster(dormouse_api, tmp_path, "--image-registry", registry.host)
    try:
        p = pod("p")
        del p["metadata"]["annotations"]
        p["spec"]["containers"][0]["image"] = f"{registry.host}/app:v1"
        cluster.apply(p)
        wait_for(lambda: registry.seen, "the registry to be asked")
        assert cluster.scheduler.stop() == 0
    finally:
        go_on.set()
