# SPDX-License-Identifier: Apache-2.0
"""A node with a certificate of its own: what it reads and writes, asked by kubectl and by hand; what it costs at rest."""
import base64
import http.client
import json
import ssl
import subprocess

import pytest

from conftest import BUILD, Server, wait_for

NS = "/api/v1/namespaces/default"
CSRS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"


def make_kubeconfig(data_dir, *args, check=True):
    return subprocess.run([str(BUILD / "dormouse"), "kubeconfig", "--data-dir", str(data_dir), *args], capture_output=True, text=True, check=check)


def node_kubeconfig(server, tmp_path, name):
    out = tmp_path / (name + ".kubeconfig")
    make_kubeconfig(server.data_dir, "--node", name, "-o", str(out))
    return str(out)


class Node:
    """Asks as a node, with the certificate of its kubeconfig."""

    def __init__(self, server, tmp_path, name):
        self.server, self.kubeconfig = server, node_kubeconfig(server, tmp_path, name)
        user = json.loads(server.kubectl("--kubeconfig", self.kubeconfig, "config", "view", "--raw", "-o", "json").stdout)["users"][0]["user"]
        files = []
        for part in ("certificate", "key"):
            file = tmp_path / f"{name}.{part}"
            file.write_bytes(base64.b64decode(user[f"client-{part}-data"]))
            files.append(str(file))
        self.tls = ssl.create_default_context(cafile=str(server.data_dir / "pki/ca.crt"))
        self.tls.load_cert_chain(*files)

    def kubectl(self, *args, **more):
        return self.server.kubectl("--kubeconfig", self.kubeconfig, *args, **more)

    def ask(self, method, path, body=None):
        connection = http.client.HTTPSConnection(self.server.host, self.server.port, context=self.tls, timeout=30)
        connection.request(method, path, json.dumps(body) if body is not None else None, {"Content-Type": "application/json"})
        response = connection.getresponse()
        answer = response.status, json.loads(response.read())
        connection.close()
        return answer


@pytest.fixture
def api(data_dir):
    server = Server(data_dir)
    for name in ("mine", "other"):
        server.create(NS + "/secrets", {"metadata": {"name": name}, "data": {"k": "eA=="}})
    for name, node, secret in (("p1", "n1", "mine"), ("p2", "n2", "other")):
        server.create(NS + "/pods", {"metadata": {"name": name}, "spec": {
            "nodeName": node, "containers": [{"name": "c", "image": "i"}], "volumes": [{"name": "s", "secret": {"secretName": secret}}]}})
    yield server
    assert server.stop() == 0


def test_a_node_with_its_certificate_sees_what_concerns_it(api, tmp_path):
    node = Node(api, tmp_path, "n1")
    assert "system:node:n1" in node.kubectl("auth", "whoami").stdout
    assert node.kubectl("get", "secret", "mine").returncode == 0
    no = node.kubectl("get", "secret", "other", check=False)
    assert no.returncode == 1
    assert ('secrets "other" is forbidden: User "system:node:n1" cannot get resource "secrets" in API group "" in the namespace '
            "\"default\": no relationship found between node 'n1' and this object") in no.stderr
    assert node.kubectl("get", "pods", "-A", "--field-selector", "spec.nodeName=n1", "-o", "name").stdout == "pod/p1\n"
    assert "can only list/watch pods with spec.nodeName field selector" in node.kubectl("get", "pods", check=False).stderr
    assert node.kubectl("auth", "can-i", "get", "secret/mine").stdout == "yes\n"
    assert node.kubectl("auth", "can-i", "get", "secret/other", check=False).stdout.startswith("no")
    # Its Node: made, told of, and not changed where that would draw pods to it.
    manifest = json.dumps({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1", "labels": {"role": "edge"}}})
    assert node.kubectl("create", "-f", "-", input=manifest).returncode == 0
    assert node.kubectl("label", "node", "n1", "topology.kubernetes.io/zone=z").returncode == 0
    no = node.kubectl("label", "node", "n1", "node-restriction.kubernetes.io/trusted=yes", check=False)
    assert "is not allowed to modify labels: node-restriction.kubernetes.io/trusted" in no.stderr
    no = node.kubectl("taint", "node", "n1", "k=v:NoSchedule", check=False)
    assert 'node "n1" is not allowed to modify taints' in no.stderr
    # With the pod goes the right, also after a restart of the server.
    assert api.ask("DELETE", NS + "/pods/p1?gracePeriodSeconds=0").status == 200
    assert node.ask("GET", NS + "/secrets/mine")[0] == 403
    assert node.ask("GET", NS + "/secrets/other")[0] == 403


def test_a_node_gets_tokens_for_its_pods(api, tmp_path):
    node, token = Node(api, tmp_path, "n1"), NS + "/serviceaccounts/default/token"

    def bound(name, **more):
        uid = api.get(f"{NS}/pods/{name}").json()["metadata"]["uid"]
        return {"spec": {"boundObjectRef": {"apiVersion": "v1", "kind": "Pod", "name": name, "uid": uid}, **more}}
    status, answer = node.ask("POST", token, bound("p1"))
    assert status == 201
    review = api.create("/apis/authentication.k8s.io/v1/tokenreviews", {"spec": {"token": answer["status"]["token"]}})
    assert review["status"]["user"]["username"] == "system:serviceaccount:default:default"
    status, answer = node.ask("POST", token, bound("p2"))
    assert (status, answer["message"]) == (403, 'serviceaccounts "default" is forbidden: node requested token bound to a pod scheduled on a different node')
    status, answer = node.ask("POST", token, {"spec": {}})
    assert (status, answer["message"]) == (403, 'serviceaccounts "default" is forbidden: node requested token not bound to a pod')
    status, answer = node.ask("POST", token, bound("p1", audiences=["vault"]))
    assert status == 403 and 'audience "vault" not found in pod spec volume' in answer["message"]


def test_a_node_renews_its_own_certificate_and_no_other(api, tmp_path):
    node = Node(api, tmp_path, "n1")

    def request(name, of):
        key, csr = tmp_path / f"{name}.key", tmp_path / f"{name}.csr"
        subprocess.run(["openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out", csr,
                        "-subj", f"/O=system:nodes/CN=system:node:{of}"], check=True, capture_output=True)
        return node.ask("POST", CSRS, {"metadata": {"name": name}, "spec": {
            "request": base64.b64encode(csr.read_bytes()).decode(), "signerName": "kubernetes.io/kube-apiserver-client-kubelet", "usages": ["client auth"]}})
    status, answer = request("other", "n2")
    assert status == 403 and answer["message"].endswith("can only create a node CSR with CN=system:node:n1")
    assert request("mine", "n1")[0] == 201
    assert node.kubectl("certificate", "approve", "mine", check=False).returncode != 0
    api.kubectl("certificate", "approve", "mine")
    wait_for(lambda: api.get(f"{CSRS}/mine").json()["status"].get("certificate"), "it is signed")


def test_names_that_are_no_nodes_are_refused(api, tmp_path):
    bad = make_kubeconfig(api.data_dir, "--node", "a/b", check=False)
    assert bad.returncode == 2 and "'a/b' cannot be the name of a node" in bad.stderr
    bad = make_kubeconfig(api.data_dir, "--node", "a", "--user", "b", check=False)
    assert bad.returncode == 2 and "leave out --user" in bad.stderr
    bad = make_kubeconfig(api.data_dir, check=False)
    assert bad.returncode == 2 and "--user or --node is required" in bad.stderr


def test_a_killed_server_keeps_the_index(data_dir, tmp_path):
    server = Server(data_dir)
    server.create(NS + "/secrets", {"metadata": {"name": "s"}})
    server.create(NS + "/pods", {"metadata": {"name": "p"}, "spec": {"nodeName": "n1", "containers": [{"name": "c", "image": "i"}], "imagePullSecrets": [{"name": "s"}]}})
    server.process.kill()
    server.process.wait()
    server = Server(data_dir)
    node = Node(server, tmp_path, "n1")
    assert node.ask("GET", NS + "/secrets/s")[0] == 200
    assert server.ask("DELETE", NS + "/pods/p?gracePeriodSeconds=0").status == 200
    assert node.ask("GET", NS + "/secrets/s")[0] == 403
    assert server.stop() == 0
