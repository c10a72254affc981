# SPDX-License-Identifier: Apache-2.0
"""The operator host as a pod has it: `dormouse manifest operator`, a service account's files, and several hosts at once.

Each test runs against `dormouse api` and, where tools/build-upstream has been run, a real kube-apiserver.
"""
import http.client
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

import pytest
import yaml

from conftest import BUILD, DEADLINE_S, ROOT, Server, wait_for
from operators import OPERATORS, RESOURCES, Hosting, Ring, dormouse, grant, modules_beside

sys.path.insert(0, str(ROOT / "test/differential"))
from servers import Unavailable, Upstream  # noqa: E402

pytestmark = pytest.mark.skipif(not (BUILD / "guests/ring-g2.wasm").exists(), reason="no compiler for guests here")
LEASE = "/apis/coordination.k8s.io/v1/namespaces/operators/leases/dormouse-operator"
PLURALS = {"Namespace": "/api/v1/namespaces", "ServiceAccount": "/api/v1/namespaces/operators/serviceaccounts",
           "CustomResourceDefinition": "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
           "Deployment": "/apis/apps/v1/namespaces/operators/deployments",
           **{k: f"/apis/rbac.authorization.k8s.io/v1/{k.lower()}s" for k in ("ClusterRole", "ClusterRoleBinding")},
           **{k: f"/apis/rbac.authorization.k8s.io/v1/namespaces/operators/{k.lower()}s" for k in ("Role", "RoleBinding")}}


class Real(Upstream):
    """A kube-apiserver with the test client of conftest.Server."""
    connect, headers, ask, get, create, watch = (
        Server.connect, Server.headers, Server.ask, Server.get, Server.create, Server.watch)

    def operator(self, name, file, env=None, **spec):
        return add_operator(self, name, file, env, **spec)


class Own(Server):
    def operator(self, name, file, env=None, **spec):
        return add_operator(self, name, file, env, **spec)

    @property
    def ca(self):
        return self.data_dir / "pki/ca.crt"


def add_operator(server, name, file, env=None, **spec):
    return server.create(OPERATORS, {
        "apiVersion": "dormouse.dev/v1alpha1", "kind": "Operator", "metadata": {"name": name},
        "spec": {"module": {"file": file}, "env": [{"name": k, "value": v} for k, v in (env or {}).items()], **spec}})


@pytest.fixture(scope="module", params=["dormouse", "kube-apiserver"])
def server(request):
    with tempfile.TemporaryDirectory(prefix="dm-in-cluster-") as path:
        if request.param == "dormouse":
            made = Own(os.path.join(path, "data"))
        else:
            try:
                made = Real(path)
            except Unavailable as why:
                pytest.skip(f"NOT RUN against a real kube-apiserver: {why}")
        yield made
        for process in getattr(made, "processes", []):
            process.kill()  # it takes twenty seconds to end in peace, for nobody
        made.stop()


def clear(server):
    """Nothing controls namespaces beside a bare kube-apiserver: what the test before left goes by name."""
    for path in (OPERATORS, *(RESOURCES.format(f"ring{i}") for i in range(2)),
                 "/api/v1/namespaces/operators/serviceaccounts", "/api/v1/namespaces/operators/secrets"):
        server.ask("DELETE", path)
    server.ask("DELETE", LEASE)
    left = server.get(OPERATORS)
    assert left.status == 404 or not left.json().get("items"), left.body


@pytest.fixture
def cluster(server):
    """With the manifest applied."""
    clear(server)
    manifest = dormouse("manifest", "operator", "--image", "dormouse:1", "-n", "operators", "--read", "configmaps")
    assert manifest.returncode == 0, manifest.stderr
    for document in yaml.safe_load_all(manifest.stdout):
        answer = server.ask("POST", PLURALS[document["kind"]] + "?fieldValidation=Strict", document)
        assert answer.status in (201, 409), (document["kind"], answer.body)
    wait_for(lambda: server.get(OPERATORS).status == 200, "the CRD is served")
    yield server
    for pod in Pod.running:
        if pod.process.poll() is None:  # of a test that failed
            pod.process.kill()
    Pod.running.clear()


class Pod(Hosting):
    """`dormouse operator run` with a service account's files and no kubeconfig."""

    running = []

    def __init__(self, cluster, path, *extra, bound=None):
        self.cluster, self.data_dir = cluster, pathlib.Path(path)
        self.account = pathlib.Path(str(path) + "-account")
        self.account.mkdir()
        (self.account / "namespace").write_text("operators")
        (self.account / "ca.crt").write_bytes(pathlib.Path(cluster.ca).read_bytes())
        self.rotate(bound)
        self.log = open(str(path) + ".log", "ab")
        env = {k: v for k, v in os.environ.items() if k != "KUBECONFIG"} | {
            "HOME": "/nonexistent", "KUBERNETES_SERVICE_HOST": cluster.host, "KUBERNETES_SERVICE_PORT": str(cluster.port),
            "DORMOUSE_SERVICE_ACCOUNT": str(self.account)}
        self.process = subprocess.Popen(
            [BUILD / "dormouse", "operator", "run", "--data-dir", path, "--namespace", "operators", "--modules",
             modules_beside(path), "--leader-elect", "--lease-name", "dormouse-operator", "--health-listen", "127.0.0.1:0",
             "--idle", "100ms", *extra], stdout=subprocess.PIPE, stderr=self.log, text=True, env=env)
        self.running.append(self)
        line = self.process.stdout.readline()
        assert line.startswith("ready "), self.text_of_log()
        self.port = int(dict(w.split("=", 1) for w in line.split()[1:])["health-port"])

    def rotate(self, bound=None):
        """Another token in the file, as a kubelet replaces it."""
        spec = {"expirationSeconds": 3600}
        if bound:
            spec["boundObjectRef"] = {"apiVersion": "v1", "kind": "Secret", "name": bound}
        answer = self.cluster.create("/api/v1/namespaces/operators/serviceaccounts/dormouse-operator/token", {
            "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec})
        (self.account / "part").write_text(answer["status"]["token"])
        (self.account / "part").rename(self.account / "token")

    def text_of_log(self):
        return pathlib.Path(str(self.data_dir) + ".log").read_text()

    def probe(self, path):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=DEADLINE_S)
        connection.request("GET", path)
        answer = connection.getresponse()
        body = answer.read().decode()
        connection.close()
        return answer.status, body

    def leads(self):
        return "leading lease=" in self.text_of_log()

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(DEADLINE_S)
        self.process.stdout.close()
        self.log.close()
        return status


def ready(cluster, name):
    found = cluster.get(f"{OPERATORS}/{name}").json().get("status", {}).get("conditions", [])
    return next((c for c in found if c["type"] == "Ready"), {})


def ring_of(cluster, pod, n=2):
    cluster.admin = pod.admin  # for the messages of the ring
    cluster.text_of_log = pod.text_of_log
    ring = Ring(cluster, n)
    ring.apply("ring-g2.wasm")
    return ring


def test_a_pod_with_the_manifest_runs_operators(cluster, data_dir):
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "binds"}}
    cluster.create("/api/v1/namespaces/operators/secrets", secret)
    pod = Pod(cluster, data_dir + "-pod", bound="binds")
    ring = ring_of(cluster, pod)
    ring.round()
    wait_for(lambda: ready(cluster, "ring-0").get("status") == "True", "the status is written")
    assert cluster.get("/api/v1/namespaces/operators/serviceaccounts/ring-0").status == 200
    assert pod.probe("/healthz") == (200, "ok\n") and pod.probe("/readyz") == (200, "ok\n")
    assert "dormouse_guests 2" in pod.probe("/metrics")[1]
    pod.all_asleep(2)
    pod.rotate()  # the old token ends now, the new one lies in the file
    assert cluster.ask("DELETE", "/api/v1/namespaces/operators/secrets/binds").status == 200
    patch = {"spec": {"paused": True}}
    assert cluster.ask("PATCH", f"{OPERATORS}/ring-1", patch, Content_Type="application/merge-patch+json").status == 200
    wait_for(lambda: ready(cluster, "ring-1").get("reason") == "Paused", "the status is written with the new token", 60)
    watch = ring.begin()
    cluster.ask("PATCH", f"{OPERATORS}/ring-1", {"spec": {"paused": False}}, Content_Type="application/merge-patch+json")
    ring.finish(watch)
    assert pod.stop() == 0
    assert cluster.get(LEASE).json()["spec"].get("holderIdentity", "") == "", "it has let go of the lease"


HELLO = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "watch", "patch", "update"]}


def test_a_guest_of_abi_v1_reads_what_its_account_may_see(cluster, data_dir):
    if not (BUILD / "guests/hello-v1.wasm").exists():
        pytest.skip("hello-v1.wasm was not built")
    path = "/api/v1/namespaces/operators/configmaps"
    cluster.ask("DELETE", path + "/one")
    cluster.ask("DELETE", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/hello")
    pod = Pod(cluster, data_dir + "-pod")
    cluster.operator("hello", "hello-v1.wasm")
    cluster.create(path, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one", "labels": {"hello": "please"}}})
    wait_for(lambda: "may not list and watch" in ready(cluster, "hello").get("message", ""), "it says what its account may not do")
    assert ready(cluster, "hello")["status"] == "False"
    grant(cluster, "hello", [HELLO], account="hello")
    wait_for(lambda: "greeting" in cluster.get(path + "/one").json().get("data", {}), "it greets", 60)
    wait_for(lambda: ready(cluster, "hello").get("status") == "True", "and is ready")
    pod.all_asleep(1)
    assert pod.stop() == 0


def test_of_several_hosts_one_works(cluster, data_dir):
    first = Pod(cluster, data_dir + "-first")
    wait_for(first.leads, "the first one leads")
    ring = ring_of(cluster, first)
    ring.round()
    second = Pod(cluster, data_dir + "-second")
    wait_for(lambda: second.probe("/readyz")[0] == 200, "the second one is ready, too")
    wait_for(lambda: len(second.guests()) == 2, "and knows the operators")
    assert second.status()["guests"] == 0 and not second.runners()
    assert first.stop() == 0  # lets go of the lease
    wait_for(second.leads, "the second one leads")
    cluster.admin, cluster.text_of_log = second.admin, second.text_of_log
    ring.round()
    third = Pod(cluster, data_dir + "-third")
    second.kill()  # without a word: its lease has to run out
    watch = ring.begin()
    cluster.admin, cluster.text_of_log = third.admin, third.text_of_log
    ring.finish(watch)
    assert cluster.get(LEASE).json()["spec"]["leaseTransitions"] == 2
    assert third.stop() == 0


def test_who_is_deposed_stops_its_guests_at_once(cluster, data_dir):
    pod = Pod(cluster, data_dir + "-pod")
    ring = ring_of(cluster, pod)
    ring.round()
    lease = cluster.get(LEASE).json()["spec"]
    other = {"spec": {"holderIdentity": "somebody-else", "leaseTransitions": lease["leaseTransitions"] + 1, "leaseDurationSeconds": 5}}
    assert cluster.ask("PATCH", LEASE, other, Content_Type="application/merge-patch+json").status == 200
    wait_for(lambda: pod.status()["guests"] == 0, "its guests are gone")
    watch = ring.begin()  # nobody renews that other lease
    ring.finish(watch)
    assert pod.stop() == 0
