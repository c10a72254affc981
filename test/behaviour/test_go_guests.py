# SPDX-License-Identifier: Apache-2.0
"""Operators in Go on the real host: the issuer with the rights of its manifest, and the SDK's own test guest."""
import base64
import shutil
import subprocess

import pytest
import yaml

from conftest import BUILD, GUESTS_HAVE_ANOTHER_CLOCK, ROOT, wait_for
from guest_kit import apply_crd, make_namespaces
from operators import Up

OPERATORS = "/apis/dormouse.dev/v1alpha1/namespaces/operators/operators"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
GROUP = "/apis/issuer.dormouse.dev/v1alpha1/namespaces/default"
SECRETS = "/api/v1/namespaces/default/secrets"
MERGE = {"Content_Type": "application/merge-patch+json"}
COMPILE_S = 240  # a module of several MB, on a machine that does other things as well


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    if not shutil.which("go"):
        pytest.skip("GO GUESTS ARE NOT TESTED: no Go here; install Go 1.24 or later")
    host = Up(tmp_path_factory.mktemp("go") / "data")
    built = subprocess.run([ROOT / "sdk/go/build", ROOT / "guests/issuer", host.modules / "issuer.wasm"],
                           capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    host.project = shutil.copytree(ROOT / "guests/issuer", tmp_path_factory.mktemp("go") / "issuer",
                                   ignore=shutil.ignore_patterns("*.wasm"))
    shutil.copy(host.modules / "issuer.wasm", host.project)
    make_namespaces(host, "operators")
    yield host
    assert host.stop() == 0


def create(host, path, kind, name, spec):
    return host.create(f"{path}", {"apiVersion": "issuer.dormouse.dev/v1alpha1", "kind": kind, "metadata": {"name": name},
                                   "spec": spec})


@pytest.fixture(scope="module")
def issuer(host):
    """The host with the issuer, an authority and a certificate, as its README says."""
    apply_crd(host, "guests/issuer/crd.yaml")
    for manifest in ("rbac", "operator"):
        for doc in yaml.safe_load_all((ROOT / f"guests/issuer/{manifest}.yaml").read_text()):
            if doc["kind"] == "Operator":
                host.create(OPERATORS, doc)
            elif doc["kind"] != "Namespace":
                host.create(f"{RBAC}/{doc['kind'].lower()}s", doc)
    for doc in yaml.safe_load_all((ROOT / "guests/issuer/sample.yaml").read_text()):
        host.create(f"{GROUP}/{doc['kind'].lower()}s", doc)
    wait_for(lambda: is_ready(host, "web"), "the sample's certificate is ready", COMPILE_S)
    return host


def status(host, name):
    return host.get(f"{GROUP}/certificates/{name}").json().get("status", {})


def is_ready(host, name):
    conditions = status(host, name).get("conditions", [])
    return bool(conditions) and conditions[0]["status"] == "True"


def is_asleep(host):
    return host.guests()["issuer"]["state"].lower() == "asleep"


def secret(host, name):
    answer = host.get(f"{SECRETS}/{name}")
    assert answer.status == 200, answer.body
    return {k: base64.b64decode(v) for k, v in answer.json()["data"].items()}


def openssl(*args, stdin):
    return subprocess.run(["openssl", *map(str, args)], input=stdin, capture_output=True, check=True).stdout.decode()


def patch(host, path, body):
    answer = host.ask("PATCH", path, body, **MERGE)
    assert answer.status == 200, answer.body


@pytest.mark.skipif(bool(GUESTS_HAVE_ANOTHER_CLOCK), reason=GUESTS_HAVE_ANOTHER_CLOCK)
def test_certificates_verify_with_their_authority(issuer, tmp_path):
    data = secret(issuer, "web-tls")
    for name, content in data.items():
        (tmp_path / name).write_bytes(content)
    assert "OK" in openssl("verify", "-CAfile", tmp_path / "ca.crt", "-verify_hostname", "web.default.svc",
                           tmp_path / "tls.crt", stdin=b"")
    public = openssl("x509", "-noout", "-pubkey", stdin=data["tls.crt"])
    assert openssl("pkey", "-pubout", stdin=data["tls.key"]) == public
    assert data["ca.crt"] == secret(issuer, "authority")["tls.crt"]
    events = issuer.get("/apis/events.k8s.io/v1/namespaces/default/events").json()["items"]
    assert any(e["reason"] == "Issued" and e["regarding"]["name"] == "web" for e in events)


def test_it_sleeps_and_wakes_for_a_change(issuer):
    wait_for(lambda: is_asleep(issuer), "it sleeps")
    before = status(issuer, "web")["serialNumber"]
    patch(issuer, f"{GROUP}/certificates/web", {"spec": {"dnsNames": ["other.test"]}})
    wait_for(lambda: status(issuer, "web")["serialNumber"] != before, "a new certificate for another name")
    assert "DNS:other.test" in openssl("x509", "-noout", "-text", stdin=secret(issuer, "web-tls")["tls.crt"])
    wait_for(lambda: is_asleep(issuer), "it sleeps again")
    assert issuer.ask("DELETE", f"{SECRETS}/web-tls").status == 200
    wait_for(lambda: issuer.get(f"{SECRETS}/web-tls").status == 200, "a deleted secret comes back")
    guest = issuer.guests()["issuer"]
    assert guest["wakes"] >= 2 and guest["restarts"] == 0, guest


def test_it_wakes_to_renew_in_time(issuer):
    spec = {"secretName": "short", "issuerRef": {"name": "authority"}, "commonName": "short", "duration": "5m",
            "renewBefore": "4m59s"}
    create(issuer, f"{GROUP}/certificates", "Certificate", "short", spec)
    wait_for(lambda: status(issuer, "short").get("revision", 0) >= 3, "renewed twice, a second after each")
    patch(issuer, f"{GROUP}/certificates/short", {"spec": {"renewBefore": "1m"}})
    wait_for(lambda: status(issuer, "short").get("observedGeneration") == 2, "it is seen")
    wait_for(lambda: is_asleep(issuer), "it sleeps")


def test_leaves_follow_a_new_authority(issuer):
    before = status(issuer, "web")["serialNumber"]
    assert issuer.ask("DELETE", f"{SECRETS}/authority").status == 200
    wait_for(lambda: status(issuer, "web")["serialNumber"] != before and is_ready(issuer, "web"), "a new leaf")
    wait_for(lambda: secret(issuer, "web-tls")["ca.crt"] == secret(issuer, "authority")["tls.crt"], "the new authority's")


def test_mistakes_are_told(issuer):
    create(issuer, f"{GROUP}/certificates", "Certificate", "bad",
           {"secretName": "bad", "issuerRef": {"name": "nobody"}, "commonName": "bad", "duration": "1s"})

    def reason():
        return (status(issuer, "bad").get("conditions") or [{}])[0].get("reason")
    wait_for(lambda: reason() == "InvalidSpec", "a duration that is too short is refused")
    patch(issuer, f"{GROUP}/certificates/bad", {"spec": {"duration": "1h"}})
    wait_for(lambda: reason() == "IssuerNotFound", "its issuer is missing")
    create(issuer, f"{GROUP}/issuers", "Issuer", "nobody", {"selfSigned": {}})
    wait_for(lambda: is_ready(issuer, "bad"), "its issuer has come")


def test_an_issuer_in_use_stays(issuer):
    assert issuer.ask("DELETE", f"{GROUP}/issuers/authority").status == 200
    wait_for(lambda: issuer.get(f"{GROUP}/issuers/authority").json()["status"]["conditions"][0]["reason"] == "InUse",
             "its status says who uses it")
    for name in ("web", "short"):
        assert issuer.ask("DELETE", f"{GROUP}/certificates/{name}").status == 200
    wait_for(lambda: issuer.get(f"{GROUP}/issuers/authority").status == 404, "it goes with its last user")
    wait_for(lambda: issuer.get(f"{SECRETS}/web-tls").status == 404, "so do the secrets")


def test_years_pass_on_the_clock_of_a_test(issuer):
    done = subprocess.run([BUILD / "dormouse", "operator", "test", "--no-build", "--module", "issuer.wasm", issuer.project],
                          capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.endswith("\n2 passed, 0 failed\n"), done.stdout + done.stderr


@pytest.fixture(scope="module")
def trial(host):
    """The guest that the SDK's own tests run on wazero: it does what ConfigMaps ask for."""
    built = subprocess.run([ROOT / "sdk/go/build", ROOT / "sdk/go/wasmtest/testdata/guest", host.modules / "trial.wasm"],
                           capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    rule = {"apiGroups": ["", "events.k8s.io"], "resources": ["configmaps", "events"], "verbs": ["*"]}
    account = {"kind": "ServiceAccount", "name": "trial", "namespace": "operators"}
    host.create(f"{RBAC}/clusterroles", {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
                                         "metadata": {"name": "trial"}, "rules": [rule]})
    host.create(f"{RBAC}/clusterrolebindings", {
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "trial"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "trial"}, "subjects": [account]})
    host.operator("trial", "trial.wasm")
    wait_for(lambda: (host.ready("trial") or {}).get("status") == "True", "it runs", COMPILE_S)
    return host


def ask(host, what):
    """Let the trial do something. Every answer of its is a line in the log."""
    host.create("/api/v1/namespaces/default/configmaps", {"apiVersion": "v1", "kind": "ConfigMap", "data": {"do": what},
                                                          "metadata": {"name": f"do-{what}", "labels": {"guest": "1"}}})


def says(host, text):
    def line():
        found = [one for one in host.text_of_log().splitlines() if "operators/trial" in one and text in one]
        return found[-1] if found else None
    return wait_for(line, f"the log says {text}")


@pytest.mark.parametrize("what, line", [
    ("sleep", 'line="slept" monotonic="1h0m0s" wall="0"'),
    ("goroutines", 'line="goroutines" order="2,1,0"'),
    ("config", 'line="config" text="" missing="true"'),
    ("create", 'line="doing" what="create"'),
    ("apply", 'line="applied" conflict="true" shared="theirs" own="1"'),
    ("consistent", 'line="consistent" wrong="true" right="true"'),
    ("enqueue", 'line="gone" key="default/nobody" reasons="enqueue"'),
    ("fail", "as asked"),
    ("terminal", "terminal error: as asked"),
    ("panic", "panic: runtime error: invalid memory address or nil pointer dereference"),
    ("deadlock", "all goroutines are asleep - deadlock!"),
    ("exit", "exit"),
])
def test_a_guest_does_on_the_host_what_it_does_on_wazero(trial, what, line):
    ask(trial, what)
    says(trial, line)
    assert trial.ask("DELETE", f"/api/v1/namespaces/default/configmaps/do-{what}").status == 200
