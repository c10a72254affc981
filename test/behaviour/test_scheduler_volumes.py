# SPDX-License-Identifier: Apache-2.0
"""Pods with volumes, end to end: the test is the controller that binds claims, which dormouse has not. Each is told twice,
to the scheduler of `dormouse up` and, where tools/build-upstream has built it, to kube-scheduler in its place."""
import pathlib
import signal
import subprocess

import pytest

from conftest import BUILD, DEADLINE_S, ROOT, Server, wait_for

PODS, NODES, CLAIMS = "/api/v1/namespaces/default/pods", "/api/v1/nodes", "/api/v1/namespaces/default/persistentvolumeclaims"
VOLUMES, STORAGE = "/api/v1/persistentvolumes", "/apis/storage.k8s.io/v1"
BOUND, SELECTED = "pv.kubernetes.io/bind-completed", "volume.kubernetes.io/selected-node"

CONFIG = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
podInitialBackoffSeconds: 1
podMaxBackoffSeconds: 1
profiles:
- pluginConfig:
  - name: VolumeBinding
    args: {bindTimeoutSeconds: %d}
"""


class Up(Server):
    COMMAND = "up"


class KubeScheduler:
    """Beside an API, with its kubeconfig; nothing listens."""

    def __init__(self, api, file):
        built = subprocess.run([ROOT / "tools/build-upstream", "--cached"], capture_output=True, text=True)
        program = pathlib.Path(built.stdout.strip() or "/nonexistent") / "kube-scheduler"
        if not program.exists():
            pytest.skip("kube-scheduler has not been built here; tools/build-upstream does it")
        file.write_text(file.read_text() + f"leaderElection: {{leaderElect: false}}\nclientConnection: {{kubeconfig: {api.kubeconfig}}}\n")
        self.process = subprocess.Popen([program, "--config", file, "--secure-port=0"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(DEADLINE_S)


@pytest.fixture(params=["dormouse", "kube-scheduler"])
def up(request, data_dir, tmp_path):
    """Starts `dormouse up` with two nodes and a class for local volumes and one for made ones."""
    started = []

    def start(bind_timeout_s=600):
        file = tmp_path / "scheduler.yaml"
        file.write_text(CONFIG % bind_timeout_s)
        is_ours = request.param == "dormouse"
        api = Up(data_dir, extra=["--gateway", "none", *(["--scheduler-config", file] if is_ours else ["--no-scheduler"])])
        api.is_ours = is_ours
        started.append(api)
        if not is_ours:
            started.append(KubeScheduler(api, file))
        wait_for(lambda: api.get("/api/v1/namespaces/default/serviceaccounts/default").status == 200, "the account of pods")
        for n in "n1", "n2":
            room = {"cpu": "8", "memory": "8Gi", "pods": "110"}
            api.create(NODES, {"metadata": {"name": n, "labels": {"kubernetes.io/hostname": n}},
                               "status": {"allocatable": room, "capacity": room}})
        for name, provisioner in ("local", "kubernetes.io/no-provisioner"), ("made", "csi.example.com"):
            api.create(f"{STORAGE}/storageclasses", {"metadata": {"name": name}, "provisioner": provisioner,
                                                     "volumeBindingMode": "WaitForFirstConsumer"})
        return api

    yield start
    for one in reversed(started):
        assert one.stop() in (0, None)


def patch(api, path, body):
    answer = api.ask("PATCH", path, body, Content_Type="application/merge-patch+json")
    assert answer.status == 200, answer.body
    return answer.json()


def add_volume(api, name, node, claim=None, **source):
    spec = {"capacity": {"storage": "5Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "local",
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [
                {"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}]}]}}}
    if claim:
        spec["claimRef"] = {"namespace": "default", "name": claim["metadata"]["name"], "uid": claim["metadata"]["uid"]}
    made = api.create(VOLUMES, {"metadata": {"name": name}, "spec": spec | (source or {"local": {"path": "/mnt"}})})
    patch(api, f"{VOLUMES}/{name}/status", {"status": {"phase": "Bound" if claim else "Available"}})
    return made


def add_claim(api, name, storage_class="local"):
    return api.create(CLAIMS, {"metadata": {"name": name}, "spec": {
        "accessModes": ["ReadWriteOnce"], "storageClassName": storage_class, "resources": {"requests": {"storage": "1Gi"}}}})


def add_pod(api, name, *claims):
    api.create(PODS, {"metadata": {"name": name}, "spec": {
        "containers": [{"name": "c", "image": "x"}],
        "volumes": [{"name": c, "persistentVolumeClaim": {"claimName": c}} for c in claims]}})


def bind(api, claim, volume):
    """As kube-controller-manager does when both know each other."""
    patch(api, f"{VOLUMES}/{volume}/status", {"status": {"phase": "Bound"}})
    patch(api, f"{CLAIMS}/{claim}", {"metadata": {"annotations": {BOUND: "yes"}}, "spec": {"volumeName": volume}})
    patch(api, f"{CLAIMS}/{claim}/status", {"status": {"phase": "Bound", "capacity": {"storage": "5Gi"}}})


def node_of(api, name):
    return api.get(f"{PODS}/{name}").json()["spec"].get("nodeName")


def message(api, name):
    conditions = api.get(f"{PODS}/{name}").json()["status"].get("conditions", [])
    return next((c.get("message", "") for c in conditions if c["type"] == "PodScheduled"), "")


def says(api, name, text):
    wait_for(lambda: text in message(api, name), f"{text!r} in the pod's condition")


def claim_ref(api, volume):
    return api.get(f"{VOLUMES}/{volume}").json()["spec"].get("claimRef", {}).get("name")


def test_a_pod_goes_where_its_local_volume_is(up):
    api = up()
    add_pod(api, "p", "data")
    says(api, "p", 'persistentvolumeclaim "data" not found')
    add_claim(api, "data")
    says(api, "p", "2 node(s) didn't find available persistent volumes to bind")
    add_volume(api, "disk", "n2")
    wait_for(lambda: claim_ref(api, "disk") == "data", "the volume is the claim's")
    volume = api.get(f"{VOLUMES}/disk").json()
    assert volume["metadata"]["annotations"]["pv.kubernetes.io/bound-by-controller"] == "yes"
    assert volume["spec"]["claimRef"]["uid"] == api.get(f"{CLAIMS}/data").json()["metadata"]["uid"]
    assert not node_of(api, "p")  # before its volume is bound
    wait_for(lambda: api.get(f"{PODS}/p").json()["status"].get("nominatedNodeName") == "n2", "where the pod is going to be")

    if api.is_ours:
        reported = subprocess.run([BUILD / "dormouse", "scheduler", "explain", "p", "--data-dir", api.data_dir], capture_output=True, text=True)
        assert "Waits      on n2 for VolumeBinding: a controller binds PersistentVolumeClaim 'data' to PersistentVolume 'disk'" in reported.stdout

    # What is promised is nobody else's.
    add_claim(api, "other")
    add_pod(api, "q", "other")
    says(api, "q", "2 node(s) didn't find available persistent volumes to bind")

    bind(api, "data", "disk")
    wait_for(lambda: node_of(api, "p") == "n2", "the pod is on the volume's node")
    add_pod(api, "r", "data")
    wait_for(lambda: node_of(api, "r") == "n2", "another pod with the volume")
    assert not node_of(api, "q")


def test_without_a_controller_the_pod_waits_says_why_and_tries_again(up):
    api = up(bind_timeout_s=1)
    add_claim(api, "data")
    add_volume(api, "disk", "n1")
    add_pod(api, "p", "data")
    says(api, "p", "binding volumes: context deadline exceeded")
    # The volume is still the claim's: a later attempt goes on from there.
    assert claim_ref(api, "disk") == "data" and not node_of(api, "p")
    bind(api, "data", "disk")
    wait_for(lambda: node_of(api, "p") == "n1", "the pod")


def test_a_volume_is_made_for_the_chosen_node(up):
    api = up()
    add_claim(api, "data", "made")
    add_pod(api, "p", "data")

    def selected():
        return api.get(f"{CLAIMS}/data").json()["metadata"].get("annotations", {}).get(SELECTED)

    first = wait_for(selected, "a node in the claim's annotation")
    assert first in ("n1", "n2") and not node_of(api, "p")
    # It cannot be made there: the provisioner takes the annotation away, and the pod is tried again.
    patch(api, f"{NODES}/{first}", {"spec": {"unschedulable": True}})
    patch(api, f"{CLAIMS}/data", {"metadata": {"annotations": {SELECTED: None, "tried": "yes"}}})
    second = wait_for(lambda: selected() if selected() != first else None, "another node")
    claim = api.get(f"{CLAIMS}/data").json()
    add_volume(api, "fresh", second, claim, csi={"driver": "csi.example.com", "volumeHandle": "v1"})
    bind(api, "data", "fresh")
    wait_for(lambda: node_of(api, "p") == second, "the pod where its volume was made")


def test_storage_that_is_full_and_nodes_that_have_enough_volumes(up):
    api = up()
    api.create(f"{STORAGE}/csidrivers", {"metadata": {"name": "csi.example.com"}, "spec": {"storageCapacity": True}})
    add_claim(api, "data", "made")
    add_pod(api, "p", "data")
    says(api, "p", "2 node(s) did not have enough free storage")
    api.create("/apis/storage.k8s.io/v1/namespaces/kube-system/csistoragecapacities", {
        "metadata": {"name": "c"}, "storageClassName": "made", "capacity": "10Gi",
        "nodeTopology": {"matchLabels": {"kubernetes.io/hostname": "n2"}}})
    wait_for(lambda: api.get(f"{CLAIMS}/data").json()["metadata"].get("annotations", {}).get(SELECTED) == "n2",
             "the node with room in the claim's annotation")
    add_volume(api, "v1", "n2", add_claim(api, "one"), csi={"driver": "csi.example.com", "volumeHandle": "h1"})
    add_volume(api, "v2", "n2", add_claim(api, "two"), csi={"driver": "csi.example.com", "volumeHandle": "h2"})
    bind(api, "one", "v1")
    bind(api, "two", "v2")
    api.create(f"{STORAGE}/csinodes", {"metadata": {"name": "n2"}, "spec": {"drivers": [
        {"name": "csi.example.com", "nodeID": "i", "allocatable": {"count": 2}}]}})
    add_pod(api, "q", "one")
    # p's volume counts from when its node was chosen.
    wait_for(lambda: node_of(api, "q") == "n2", "a pod with the second volume")
    add_pod(api, "r", "two")
    says(api, "r", "1 node(s) exceed max volume count")
    patch(api, f"{STORAGE}/csinodes/n2", {"spec": {"drivers": [{"name": "csi.example.com", "nodeID": "i", "allocatable": {"count": 3}}]}})
    wait_for(lambda: node_of(api, "r") == "n2", "the pod once the node takes more volumes")


def test_a_claim_for_one_pod(up):
    api = up()
    claim = api.create(CLAIMS, {"metadata": {"name": "mine"}, "spec": {
        "accessModes": ["ReadWriteOncePod"], "storageClassName": "local", "resources": {"requests": {"storage": "1Gi"}}}})
    api.create(VOLUMES, {"metadata": {"name": "v"}, "spec": {
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOncePod"], "storageClassName": "local",
        "claimRef": {"namespace": "default", "name": "mine", "uid": claim["metadata"]["uid"]}, "hostPath": {"path": "/x"}}})
    bind(api, "mine", "v")
    add_pod(api, "first", "mine")
    wait_for(lambda: node_of(api, "first"), "the first pod")
    add_pod(api, "second", "mine")
    says(api, "second", "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod")
    api.ask("DELETE", f"{PODS}/first?gracePeriodSeconds=0")
    wait_for(lambda: node_of(api, "second"), "the second pod when the first has gone")
