# SPDX-License-Identifier: Apache-2.0
"""A real kubelet with containerd joins a cluster of `dormouse up` with a bootstrap token and runs pods (tools/build-upstream --node, once)."""
import base64
import json
import re
import shutil
import ssl
import subprocess

import pytest

from conftest import BUILD, find_kubectl, wait_for
from image_kit import Layout, layer, programs
from kubelet_kit import PAUSE, KubeletNode, find_upstream
from place_kit import Place, settings_kept
from pod_client_kit import PODS, Api
from pods_kit import COMMANDS, is_ready, state_of, status_of

built, missing = find_upstream()
pytestmark = [pytest.mark.foreign, pytest.mark.skipif(bool(missing) or not shutil.which("busybox"), reason=missing or "no busybox here")]
NODE, IMAGE = "real", "docker.io/library/busybox:test"
METRICS = "/apis/metrics.k8s.io/v1beta1"
CSRS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"


def make_layout(directory):
    entries = programs("busybox") + [(f"bin/{name}", "l", "busybox") for name in COMMANDS]
    entries += [("etc/passwd", "f", b"root:x:0:0:root:/root:/bin/sh\n"), ("etc/group", "f", b"root:x:0:\n"), ("tmp", "d", b"", {"mode": 0o1777})]
    layout = Layout(directory)
    for name, command in ((IMAGE, ["sh"]), (PAUSE, ["sleep", "1000000000"])):
        layout.image(name, [layer(entries)], run={"Env": ["PATH=/bin"], "Cmd": command})
    return directory


class Cluster:
    """`dormouse up` and a kubelet in a place of their own."""

    def __init__(self, directory):
        self.directory, self.data = directory, directory / "data"
        self.place = Place("kubelet", directory)
        self.node = KubeletNode(self.place, built, make_layout(directory / "layout"), NODE, directory)

    def start(self):
        url = f"https://{self.place.address}:6443"
        self.place.start("dormouse", BUILD / "dormouse", "up", "--no-agent", "--data-dir", self.data, "--listen", f"{self.place.address}:6443", out=subprocess.PIPE)
        line = self.place.programs["dormouse"].stdout.readline()
        assert line.startswith(b"ready "), self.place.log_of("dormouse")
        self.ca = self.data / "pki/ca.crt"
        self.api = Api(self.place.netns, self.place.address, 6443, ssl.create_default_context(cafile=self.ca), (self.data / "admin.token").read_text().strip())
        bootstrap = self.directory / "bootstrap.conf"
        bootstrap.write_text(self.place.run(BUILD / "dormouse", "token", "create", "--data-dir", self.data, "--print-kubeconfig", "--server", url))
        self.node.start_containerd()
        self.node.start_kubelet(self.ca, "--bootstrap-kubeconfig", bootstrap, "--kubeconfig", self.directory / "kubelet.conf",
                                rotateCertificates=True, serverTLSBootstrap=True)
        return self

    def stop(self):
        if "dormouse" in self.place.programs:
            self.place.programs["dormouse"].stdout.close()
        self.place.close()

    def kubelet_log(self):
        return self.place.log_of("kubelet", 3000)

    def run(self, name, command, **spec):
        container = {"name": "a", "image": IMAGE, "imagePullPolicy": "Never", "command": command, **spec.pop("container", {})}
        return self.api.must("POST", PODS, {"metadata": {"name": name}, "spec": {"containers": [container], "terminationGracePeriodSeconds": 1, **spec}})

    def pod(self, name):
        status, data = self.api.ask("GET", f"{PODS}/{name}")
        return json.loads(data) if status == 200 else None

    def wait(self, name, condition):
        last = None

        def check():
            nonlocal last
            last = self.pod(name)
            return last is not None and condition(last)
        try:
            wait_for(check, name)
        except Exception as e:
            raise AssertionError(f"{name}: {json.dumps(last and last.get('status'), indent=1)}\n{self.kubelet_log()}") from e
        return last


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with settings_kept():
        c = Cluster(tmp_path_factory.mktemp("k"))
        try:
            yield c.start()
        finally:
            c.stop()


def node_condition(cluster, kind):
    status, data = cluster.api.ask("GET", f"/api/v1/nodes/{NODE}")
    conditions = json.loads(data)["status"].get("conditions", []) if status == 200 else []
    return next((c["status"] for c in conditions if c["type"] == kind), None)


def test_it_joins_with_a_token_and_gets_its_certificates(cluster):
    wait_for(lambda: node_condition(cluster, "Ready") == "True", "the node is ready: " + cluster.kubelet_log())
    found = {}

    def issued():
        found.update({c["spec"]["signerName"]: c for c in cluster.api.must("GET", CSRS)["items"] if c["status"].get("certificate")})
        return len(found) == 2
    wait_for(issued, "two certificates")
    client, serving = found["kubernetes.io/kube-apiserver-client-kubelet"], found["kubernetes.io/kubelet-serving"]
    assert client["spec"]["username"].startswith("system:bootstrap:") and serving["spec"]["username"] == f"system:node:{NODE}"
    for one in (client, serving):
        text = subprocess.run(["openssl", "x509", "-noout", "-subject"], input=base64.b64decode(one["status"]["certificate"]), capture_output=True).stdout
        assert re.search(rf"O = system:nodes, CN = system:node:{NODE}\s*$", text.decode()), text
    node = cluster.api.must("GET", f"/api/v1/nodes/{NODE}")
    assert node["status"]["nodeInfo"]["containerRuntimeVersion"].startswith("containerd://")
    lease = f"/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/{NODE}"
    wait_for(lambda: cluster.api.ask("GET", lease)[0] == 200, "its lease")
    assert cluster.api.must("GET", lease)["spec"]["holderIdentity"] == NODE


def test_a_pod_runs_with_logs_commands_and_a_token(cluster):
    cluster.api.must("POST", "/api/v1/namespaces/default/configmaps", {"metadata": {"name": "words"}, "data": {"greeting": "hello"}})
    cluster.run("web", ["sh", "-c", "echo $WORD $WHO; exec sleep 100000"], container={
        "env": [{"name": "WORD", "valueFrom": {"configMapKeyRef": {"name": "words", "key": "greeting"}}},
                {"name": "WHO", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]})
    pod = cluster.wait("web", is_ready)
    assert pod["spec"]["nodeName"] == NODE and pod["status"]["podIP"].startswith("10.88.") and pod["status"]["hostIP"] == cluster.place.address
    assert status_of(pod)["containerID"].startswith("containerd://")
    wait_for(lambda: cluster.api.log_of("web") == "hello web\n", "the log")
    assert cluster.api.log_of("web", timestamps="true").endswith(" hello web\n")
    out, _ = cluster.api.exec("web", "cat", "/var/run/secrets/kubernetes.io/serviceaccount/token")
    claims = json.loads(base64.urlsafe_b64decode(out.split(b".")[1] + b"=="))
    assert claims["sub"] == "system:serviceaccount:default:default" and claims["kubernetes.io"]["pod"]["name"] == "web"
    with pytest.raises(OSError, match="exit code 3|NonZeroExitCode"):
        cluster.api.exec("web", "sh", "-c", "exit 3")
    cluster.api.must("DELETE", f"{PODS}/web")
    wait_for(lambda: cluster.pod("web") is None, "it is gone")


def test_ends_are_reported(cluster):
    cluster.run("ends", ["sh", "-c", "echo why >/dev/termination-log; exit 4"], restartPolicy="Never")
    pod = cluster.wait("ends", lambda p: p["status"].get("phase") == "Failed")
    kind, state = state_of(pod)
    assert (kind, state["exitCode"], state["message"]) == ("terminated", 4, "why\n")
    cluster.run("inits", ["true"], restartPolicy="Never", initContainers=[
        {"name": "first", "image": IMAGE, "imagePullPolicy": "Never", "command": ["true"]}])
    cluster.wait("inits", lambda p: p["status"].get("phase") == "Succeeded")
    cluster.run("nothing", ["true"], container={"image": "docker.io/library/nothing:here"})
    pod = cluster.wait("nothing", lambda p: state_of(p)[0] == "waiting" and "Never" in state_of(p)[1]["reason"])
    for name in ("ends", "inits", "nothing"):
        cluster.api.must("DELETE", f"{PODS}/{name}")
        wait_for(lambda: cluster.pod(name) is None, f"{name} is gone")


def test_kubectl_reaches_its_pods(cluster):
    kubectl = find_kubectl()
    if not kubectl:
        pytest.skip("no kubectl here")
    config = cluster.data / "kubeconfig"

    def run(*args):
        return cluster.place.run("env", f"KUBECONFIG={config}", f"HOME={cluster.directory}", kubectl, *args)
    cluster.run("served", ["sh", "-c", "echo here; exec sleep 100000"])
    cluster.wait("served", is_ready)
    assert run("logs", "served") == "here\n"
    assert run("exec", "served", "--", "hostname") == "served\n"
    wait_for(lambda: cluster.api.must("GET", f"{METRICS}/namespaces/default/pods")["items"], "the kubelet has measured the pod twice")
    assert run("top", "pods", "--no-headers").split()[0] == "served" and run("top", "nodes", "--no-headers").split()[0] == NODE
    assert cluster.api.must("GET", f"{METRICS}/namespaces/default/pods/served")["containers"][0]["name"] == "a"
    cluster.api.must("DELETE", f"{PODS}/served")
    wait_for(lambda: cluster.pod("served") is None, "it is gone")
