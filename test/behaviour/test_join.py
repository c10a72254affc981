# SPDX-License-Identifier: Apache-2.0
"""How a node joins: bootstrap tokens, certificates of nodes that are approved and signed without a user, renewal."""
import base64
import subprocess

import pytest

from conftest import wait_for
from test_auth import RBAC, ask_with_certificate, ask_with_token, openssl, token_review

SECRETS = "/api/v1/namespaces/kube-system/secrets"
CSRS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
CLIENT, SERVING = "kubernetes.io/kube-apiserver-client-kubelet", "kubernetes.io/kubelet-serving"
GROUP = "system:bootstrappers:test:nodes"
TOKEN = "abc123.0123456789abcdef"


def token_secret(token, name=None, kind="bootstrap.kubernetes.io/token", **data):
    token_id, secret = token.split(".")
    data = {"token-id": token_id, "token-secret": secret, "usage-bootstrap-authentication": "true", **data}
    return {"apiVersion": "v1", "kind": "Secret", "type": kind, "metadata": {"name": name or f"bootstrap-token-{token_id}"},
            "stringData": {k: v for k, v in data.items() if v is not None}}


def bind(server, name, role, *groups, users=()):
    subject = {"apiGroup": "rbac.authorization.k8s.io"}
    server.create(RBAC + "/clusterrolebindings", {
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
        "subjects": [subject | {"kind": "Group", "name": g} for g in groups] + [subject | {"kind": "User", "name": u} for u in users]})


@pytest.fixture(scope="module")
def cluster(shared_api):
    """The bindings that kubeadm makes too."""
    s = shared_api
    s.create(SECRETS, token_secret(TOKEN, **{"auth-extra-groups": GROUP, "expiration": "2999-01-01T00:00:00Z"}))
    bind(s, "join", "system:node-bootstrapper", GROUP)
    bind(s, "approve", "system:certificates.k8s.io:certificatesigningrequests:nodeclient", GROUP)
    bind(s, "renew", "system:certificates.k8s.io:certificatesigningrequests:selfnodeclient", "system:nodes")
    return s


def request(path, subject, *names):
    """(key, base64 of a request)"""
    key, csr = path / "k.key", path / "k.csr"
    more = ["-addext", "subjectAltName=" + ",".join(names)] if names else []
    openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", str(key),
            "-out", str(csr), "-subj", subject, *more)
    return key, base64.b64encode(csr.read_bytes()).decode()


def csr(name, text, signer=CLIENT, usages=("digital signature", "client auth")):
    return {"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "metadata": {"name": name},
            "spec": {"request": text, "signerName": signer, "usages": list(usages)}}


def conditions(server, name):
    return {c["type"]: c for c in server.get(f"{CSRS}/{name}").json().get("status", {}).get("conditions", [])}


def issued(server, name, path):
    pem = wait_for(lambda: server.get(f"{CSRS}/{name}").json()["status"].get("certificate"), "a certificate")
    cert = path / f"{name}.crt"
    cert.write_bytes(base64.b64decode(pem))
    return cert


def test_a_bootstrap_token_is_a_user(cluster):
    status = token_review(cluster, TOKEN)
    assert status["user"] == {"username": "system:bootstrap:abc123",
                              "groups": ["system:bootstrappers", GROUP, "system:authenticated"]}, status
    code, answer = ask_with_token(cluster, TOKEN, "/api/v1/secrets")
    assert code == 403 and 'User "system:bootstrap:abc123" cannot list resource "secrets"' in answer["message"]


@pytest.mark.parametrize("number, secret", list(enumerate([
    {"expiration": "2000-01-01T00:00:00Z"},
    {"expiration": "soon"},
    {"usage-bootstrap-authentication": None},
    {"usage-bootstrap-authentication": "yes"},
    {"token-secret": "0123456789abcdeg"},
    {"token-secret": ""},
    {"token-id": "other1"},
    {"auth-extra-groups": "system:masters"},
    {"auth-extra-groups": "system:bootstrappers:ok,system:bootstrappers:"},
    {"kind": "Opaque"},
    {"name": "bootstrap-token-other0"},
])))
def test_what_is_no_valid_bootstrap_token(cluster, number, secret):
    token = f"bad{number:03}.0123456789abcdef"
    made = cluster.ask("POST", SECRETS, token_secret(token, **secret))
    assert made.status == 201, made.body
    assert ask_with_token(cluster, token, "/api")[0] == 401


def test_a_bootstrap_token_ends_with_its_secret(cluster):
    token = "gone00.0123456789abcdef"
    assert ask_with_token(cluster, token, "/api")[0] == 401
    cluster.create(SECRETS, token_secret(token))
    assert ask_with_token(cluster, token, "/api")[0] == 200
    assert ask_with_token(cluster, "gone00.0123456789abcdeF", "/api")[0] == 401
    assert cluster.ask("DELETE", f"{SECRETS}/bootstrap-token-gone00").status == 200
    assert ask_with_token(cluster, token, "/api")[0] == 401


def test_an_expired_bootstrap_token_is_deleted(cluster):
    secret = f"{SECRETS}/bootstrap-token-old000"
    token = token_secret("old000.0123456789abcdef", expiration="2000-01-01T00:00:00Z")
    cluster.create(SECRETS, token | {"metadata": {"name": "bootstrap-token-old001"}, "type": "Opaque"})
    cluster.create(SECRETS, token)
    wait_for(lambda: cluster.get(secret).status == 404, "it is deleted")
    assert cluster.get(f"{SECRETS}/bootstrap-token-old001").status == 200, "a Secret of another type stays"
    assert cluster.get(f"{SECRETS}/bootstrap-token-abc123").status == 200
    cluster.create(SECRETS, token_secret("old000.0123456789abcdef", expiration="2999-01-01T00:00:00Z"))
    answer = cluster.ask("PATCH", secret, {"stringData": {"expiration": "2000-01-01T00:00:00Z"}}, Content_Type="application/merge-patch+json")
    assert answer.status == 200
    wait_for(lambda: cluster.get(secret).status == 404, "its date was changed")


def test_a_node_joins_and_renews_its_certificate(cluster, tmp_path):
    key, text = request(tmp_path, "/O=system:nodes/CN=system:node:n1")
    code, answer = ask_with_token(cluster, TOKEN, CSRS, "POST", csr("n1", text))
    assert code == 201, answer
    cert = issued(cluster, "n1", tmp_path)
    approved = conditions(cluster, "n1")["Approved"]
    assert approved["reason"] == "AutoApproved"
    assert approved["message"] == "Auto approving kubelet client certificate after SubjectAccessReview."
    cluster.create("/api/v1/nodes", {"metadata": {"name": "n1"}})
    assert ask_with_certificate(cluster, cert, key, "/api/v1/nodes/n1")[0] == 200
    assert ask_with_certificate(cluster, cert, key, SECRETS)[0] == 403

    def renew(name, subject):
        return cluster.ask("POST", CSRS, csr(name, request(tmp_path, subject)[1]), Impersonate_User="system:node:n1",
                           Impersonate_Group="system:nodes")
    assert renew("n1-again", "/O=system:nodes/CN=system:node:n1").status == 201
    issued(cluster, "n1-again", tmp_path)
    assert "self kubelet client certificate" in conditions(cluster, "n1-again")["Approved"]["message"]
    no = renew("n1-other", "/O=system:nodes/CN=system:node:n2")
    assert no.status == 403 and "can only create a node CSR with CN=system:node:n1" in no.json()["message"]


@pytest.mark.parametrize("name, subject, more", [
    ("org", "/O=devs/CN=system:node:n1", {}),
    ("orgs", "/O=system:nodes/O=system:masters/CN=system:node:n1", {}),
    ("user", "/O=system:nodes/CN=n1", {}),
    ("names", "/O=system:nodes/CN=system:node:n1", {"names": ["DNS:n1"]}),
    ("usage", "/O=system:nodes/CN=system:node:n1", {"usages": ["client auth", "server auth"]}),
    ("signer", "/O=system:nodes/CN=system:node:n1", {"signer": "kubernetes.io/kube-apiserver-client"}),
])
def test_only_a_nodes_certificate_is_approved(cluster, tmp_path, name, subject, more):
    _, text = request(tmp_path, subject, *more.pop("names", ()))
    assert ask_with_token(cluster, TOKEN, CSRS, "POST", csr(f"odd-{name}", text, **more))[0] == 201
    # The next one is approved, so the server has looked at the one before.
    assert ask_with_token(cluster, TOKEN, CSRS, "POST",
                          csr(f"plain-{name}", request(tmp_path, "/O=system:nodes/CN=system:node:p")[1]))[0] == 201
    issued(cluster, f"plain-{name}", tmp_path)
    assert not conditions(cluster, f"odd-{name}")
    if "signer" in more:
        return
    cluster.kubectl("certificate", "approve", f"odd-{name}")
    wait_for(lambda: "Failed" in conditions(cluster, f"odd-{name}"), "the signer refuses it")


def test_a_request_waits_for_the_right(cluster, tmp_path):
    other = "late00.0123456789abcdef"
    cluster.create(SECRETS, token_secret(other, **{"auth-extra-groups": "system:bootstrappers:late"}))
    bind(cluster, "late-join", "system:node-bootstrapper", "system:bootstrappers:late")
    _, text = request(tmp_path, "/O=system:nodes/CN=system:node:late")
    assert ask_with_token(cluster, other, CSRS, "POST", csr("late", text))[0] == 201
    assert not conditions(cluster, "late")
    bind(cluster, "late-approve", "system:certificates.k8s.io:certificatesigningrequests:nodeclient",
         users=["system:bootstrap:late00"])
    issued(cluster, "late", tmp_path)


def test_a_serving_certificate_of_a_node(cluster, tmp_path):
    key, text = request(tmp_path, "/O=system:nodes/CN=system:node:n1", "DNS:n1", "IP:127.0.0.1")
    usages = ["digital signature", "server auth"]
    as_node = {"Impersonate_User": "system:node:n1", "Impersonate_Group": "system:nodes"}
    assert cluster.ask("POST", CSRS, csr("serving", text, SERVING, usages), **as_node).status == 201
    assert not conditions(cluster, "serving")
    cluster.kubectl("certificate", "approve", "serving")
    cert = issued(cluster, "serving", tmp_path)
    shown = subprocess.run(["openssl", "x509", "-in", cert, "-noout", "-text"], check=True, capture_output=True, text=True).stdout
    assert "TLS Web Server Authentication" in shown and "Client Authentication" not in shown
    assert "DNS:n1, IP Address:127.0.0.1" in shown
    openssl("verify", "-purpose", "sslserver", "-CAfile", str(cluster.data_dir / "pki/ca.crt"), str(cert))
    assert ask_with_certificate(cluster, cert, key, "/api")[0] == 401, "it is none of a client"
    for name, names in (("bare", ()), ("mail", ("DNS:n1", "email:a@example.com"))):
        _, text = request(tmp_path, "/O=system:nodes/CN=system:node:n1", *names)
        assert cluster.ask("POST", CSRS, csr(name, text, SERVING, usages), **as_node).status == 201
        cluster.kubectl("certificate", "approve", name)
        wait_for(lambda: "Failed" in conditions(cluster, name), "the signer refuses it")
