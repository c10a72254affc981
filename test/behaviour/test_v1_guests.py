# SPDX-License-Identifier: Apache-2.0
"""Operators of ABI v1 on the real host, each with the rights of its manifest: hello, cleaner and tenant; and the C SDK."""
import os
import re
import subprocess

import pytest
import yaml

from conftest import BUILD, GUESTS_HAVE_ANOTHER_CLOCK, ROOT, wait_for
from guest_kit import apply_crd, make_namespaces
from operators import Hosting
from test_guests import Host, OPERATORS

MAPS = "/api/v1/namespaces/default/configmaps"
MERGE = {"Content_Type": "application/merge-patch+json"}
CLEANUPS = "/apis/cleaner.dormouse.dev/v1alpha1/namespaces/attic/cleanups"
TENANTS = "/apis/tenancy.dormouse.dev/v1alpha1/tenants"
RBAC = "/apis/rbac.authorization.k8s.io/v1"


class V1(Host, Hosting):
    """`dormouse up` with a directory of modules."""


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    host = V1(tmp_path_factory.mktemp("host"), "--idle", "100ms")
    yield host
    assert host.stop() == 0


def install(host, name):
    """CRD, rights and operator as the guest's README says."""
    apply_crd(host, f"guests/{name}/crd.yaml")
    for manifest in ("rbac", "operator"):
        for doc in yaml.safe_load_all((ROOT / f"guests/{name}/{manifest}.yaml").read_text()):
            if doc["kind"] == "Operator":
                host.create(OPERATORS, doc)
            elif doc["kind"] != "Namespace":
                host.create(f"{RBAC}/{doc['kind'].lower()}s", doc)


def merge(host, path, body):
    answer = host.ask("PATCH", path, body, **MERGE)
    assert answer.status == 200, answer.body
    return answer.json()


def condition(host, path):
    conditions = host.get(path).json().get("status", {}).get("conditions", [])
    return conditions[0] if conditions else {}


def test_hello_greets_asleep_and_awake(host):
    host.add("hello", "hello-v1")
    host.create(MAPS, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "w", "labels": {"hello": "please"}}})
    greeting = lambda: host.get(f"{MAPS}/w").json().get("data", {}).get("greeting")  # noqa: E731
    wait_for(lambda: greeting() == "Hello, w!", "a greeting")
    for _ in range(3):
        wait_for(lambda: host.is_asleep("hello"), "it sleeps")
        merge(host, f"{MAPS}/w", {"data": {"greeting": "go away"}})
        wait_for(lambda: greeting() == "Hello, w!", "another one")
    wait_for(lambda: host.is_asleep("hello"), "it sleeps")
    assert host.guest("hello")["restarts"] == 0
    host.remove("hello")


@pytest.mark.skipif(bool(GUESTS_HAVE_ANOTHER_CLOCK), reason=GUESTS_HAVE_ANOTHER_CLOCK)
def test_the_cleaner_deletes_what_is_over(host):
    make_namespaces(host, "attic")
    install(host, "cleaner")
    maps = "/api/v1/namespaces/attic/configmaps"
    for name, labels, ttl in [("old", {"temp": "yes"}, None), ("kept", {"temp": "yes"}, "never"), ("other", {}, None),
                              ("own", {}, "0s"), ("later", {"temp": "yes"}, "1h")]:
        meta = {"name": name, "labels": labels, "annotations": {"cleaner.dormouse.dev/ttl": ttl} if ttl else {}}
        host.create(maps, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta})
    host.create(CLEANUPS, {"apiVersion": "cleaner.dormouse.dev/v1alpha1", "kind": "Cleanup", "metadata": {"name": "c"},
                           "spec": {"schedule": "@hourly", "dryRun": True, "targets": [
                               {"apiVersion": "v1", "kind": "ConfigMap", "labelSelector": "temp=yes", "ttl": "0s"},
                               {"apiVersion": "v1", "kind": "ConfigMap", "labelSelector": "!temp"},
                               {"apiVersion": "v1", "kind": "Service", "ttl": "0s"},
                               {"apiVersion": "v9", "kind": "Nothing"}]}})
    path, status = f"{CLEANUPS}/c", lambda: host.get(f"{CLEANUPS}/c").json().get("status", {})
    wait_for(lambda: status().get("nextRunTime"), "it has planned the first run")
    assert condition(host, path)["reason"] == "Scheduled"

    def run(**spec):  # an hour has gone by, and the spec changes
        merge(host, f"{path}/status", {"status": {"lastRunTime": "2020-01-01T00:00:00Z"}})
        merge(host, path, {"spec": spec})
        wait_for(lambda: not status()["lastRunTime"].startswith("2020"), "it has run")
        return status()

    dry = run(maxDeletions=100)
    assert (dry["matched"], dry["expired"], dry["deleted"], dry["failed"]) == (6, 2, 0, 2), dry
    wet = run(dryRun=False)
    assert (wet["expired"], wet["deleted"], wet["failed"]) == (2, 2, 2), wet
    assert "Forbidden" in wet["targets"][2]["message"], "the manifest says nothing of Services"
    assert wet["targets"][3]["message"] == "the API has no such kind"
    assert condition(host, path)["reason"] == "Failures"
    names = [m["metadata"]["name"] for m in host.get(maps).json()["items"]]
    assert sorted(set(names) - {"kube-root-ca.crt"}) == ["kept", "later", "other"]
    for i in range(300):  # more than an activation may log
        host.create(maps, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"n{i}", "labels": {"temp": "yes"}}})
    many = run(maxDeletions=280)
    assert (many["expired"], many["deleted"]) == (300, 280), many
    rest = run(maxDeletions=500)
    assert (rest["expired"], rest["deleted"]) == (20, 20), rest
    assert host.guest("cleaner")["restarts"] == 0
    merge(host, path, {"spec": {"schedule": "61 * * * *"}})
    wait_for(lambda: condition(host, path)["reason"] == "InvalidSchedule", "the schedule is refused")
    host.remove("cleaner")


class Kit:
    """test/guests/kit.c on the host, and what it said."""

    def __init__(self, host):
        self.host, self.maps = host, "/api/v1/namespaces/kit/configmaps"
        make_namespaces(host, "kit")
        host.add("kit", "kit-v1", PRIMARY="first")

    def put(self, name, label=None, **data):
        if self.host.get(f"{self.maps}/{name}").status == 200:
            return merge(self.host, f"{self.maps}/{name}", {"data": data})
        meta = {"name": name, "labels": {"kit": label} if label else {}}
        return self.host.create(self.maps, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data})

    def text(self, name):
        answer = self.host.get(f"{self.maps}/{name}")
        return answer.json()["data"]["text"] if answer.status == 200 else None

    def output(self, what):
        """The key-values of its lines, one dictionary each."""
        lines = re.findall(rf'line="kit" what="{what}" ?(.*)', self.host.text_of_log())
        return [dict(re.findall(r'(\w+)="?((?:[^"\\ ]|\\.)*)"?', line)) for line in lines]

    def runs(self, name):
        return [run for run in self.output("run") if run["name"] == name]

    def result(self, what):
        found = wait_for(lambda: self.output(what), f"the result of {what}")[-1]
        return int(found["code"]), int(found["status"]), found["reason"]


@pytest.fixture(scope="module")
def kit(host):
    kit = Kit(host)
    yield kit
    host.remove("kit")


def test_keys_come_by_owner_index_and_configuration(kit):
    kit.put("a", "source", text="one")
    kit.put("b", "source", text="two")
    for name, source in (("p", "a"), ("q", "a"), ("r", "b")):
        kit.put(name, "first", source=source)
    kit.put("s", "second", source="a")  # not the label that its environment names
    wait_for(lambda: (kit.text("made-p"), kit.text("made-q"), kit.text("made-r")) == ("one", "one", "two"), "the copies")
    kit.put("a", text="three")
    wait_for(lambda: kit.text("made-p") == kit.text("made-q") == "three", "both users of the source follow")
    assert kit.host.ask("DELETE", f"{kit.maps}/made-r").status == 200
    wait_for(lambda: kit.text("made-r") == "two", "what it owns comes back")
    kit.put("made-p", text="mine")
    wait_for(lambda: kit.text("made-p") == "three", "what it owns is put right")
    settings = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "kit-settings"}, "data": {"prefix": "> "}}
    kit.host.create("/api/v1/namespaces/operators/configmaps", settings)
    wait_for(lambda: [kit.text(f"made-{n}") for n in "pqr"] == ["> three", "> three", "> two"], "the settings reach all")
    assert kit.text("made-s") is None
    wait_for(lambda: kit.host.is_asleep("kit"), "it sleeps")
    kit.put("b", text="four")
    wait_for(lambda: kit.text("made-r") == "> four", "and wakes")
    assert {run["starts"] for run in kit.output("run")} == {"1"}, "it was started once, and slept with its memory"
    metrics = kit.host.admin("/metrics")
    copies = re.findall(r'^kit_copies_total{operator="operators/kit",kind="ConfigMap"} (\d+)$', metrics, re.M)
    assert copies and re.findall(r'^kit_copy_bytes_count{operator="operators/kit"} (\d+)$', metrics, re.M) == copies


def test_verbs_and_their_errors(kit):
    kit.put("verbs", "first", do="verbs")
    assert kit.result("delete-again") == (-2, 404, "NotFound")
    assert [kit.result(ok) for ok in ("create", "update", "json", "merge", "strategic", "delete")] == [(0, 0, "")] * 6
    assert kit.result("create-again") == (-101, 409, "AlreadyExists")
    assert kit.result("update-stale") == (-100, 409, "Conflict")
    assert kit.result("invalid") == (-1, 422, "Invalid") and kit.output("cause")[-1] == {"field": "told"}
    assert kit.result("forbidden") == (-3, 403, "Forbidden")
    assert kit.result("delete-another") == (-100, 409, "Conflict")


def test_reads_from_the_cache(kit):
    kit.put("cache", "first", do="cache", source="a")
    assert kit.result("no-config") == (-4, 0, "not-declared")
    assert kit.output("users")[-1] == {"names": "cache,p,q,"}
    assert kit.output("sources")[-1] == {"names": "a,b,"}
    assert kit.result("each") == kit.result("list") == kit.result("consistent") == (0, 0, "")
    assert kit.result("absent") == (-2, 0, "not-found") and kit.result("undeclared") == (-4, 0, "not-declared")


def test_results_of_an_activation(kit):
    kit.put("again", "first", do="again")
    assert wait_for(lambda: kit.runs("again")[1:], "once more")[0]["reasons"] == str(1 << 7)
    kit.put("fail", "first", do="fail")
    wait_for(lambda: [run["attempt"] for run in kit.runs("fail")] == ["0", "1", "2"], "two failures and a success")
    kit.put("given-up", "first", do="give-up")
    wait_for(lambda: "asked to give up" in kit.host.text_of_log(), "the failure is told")
    kit.put("p", "first")
    kit.put("enqueue", "first", do="enqueue", other="p")
    wait_for(lambda: [run["reasons"] for run in kit.runs("p")[-1:]] == [str(1 << 9)], "another key")
    assert len(kit.runs("given-up")) == 1


def test_a_secret_that_changes_is_an_activation(kit):
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "kit-word"}, "stringData": {"word": "sesame"}}
    kit.host.create("/api/v1/namespaces/operators/secrets", secret)
    wait_for(lambda: kit.output("config") == [{"name": "word", "word": "sesame"}], "the word")


@pytest.fixture(scope="module")
def tenant_module(host):
    built = subprocess.run([str(ROOT / "sdk/rust/build"), str(ROOT / "guests/tenant"), f"{host.modules}/tenant.wasm"],
                           capture_output=True, text=True,
                           env={**os.environ, "CARGO_TARGET_DIR": str(BUILD / "sdk-rust")})
    if built.returncode == 3 or "failed to download" in built.stderr or "failed to get" in built.stderr:
        pytest.skip(f"RUST GUESTS ARE NOT TESTED: {built.stderr[-300:]}")
    assert built.returncode == 0, built.stderr


def test_a_tenant_has_what_it_asks_for(host, tenant_module):
    install(host, "tenant")
    sample = yaml.safe_load((ROOT / "guests/tenant/sample.yaml").read_text())
    host.create(TENANTS, sample)
    tenant, space = f"{TENANTS}/acme", "/api/v1/namespaces/acme"
    bindings = f"{RBAC}/namespaces/acme/rolebindings"
    wait_for(lambda: condition(host, tenant).get("status") == "True", "the tenant is ready")
    assert host.get(tenant).json()["status"]["objects"] == 5
    assert host.get(space).json()["metadata"]["labels"]["cost-centre"] == "4711"
    assert host.get(f"{space}/resourcequotas/tenant").json()["spec"]["hard"]["pods"] == "20"
    assert host.get(f"{bindings}/tenant-edit").json()["subjects"][1]["name"] == "deployer"

    assert host.ask("DELETE", f"{space}/limitranges/tenant").status == 200
    wait_for(lambda: host.get(f"{space}/limitranges/tenant").status == 200, "what was deleted comes back")
    merge(host, f"{space}/resourcequotas/tenant", {"spec": {"hard": {"pods": "1000"}}})
    wait_for(lambda: host.get(f"{space}/resourcequotas/tenant").json()["spec"]["hard"]["pods"] == "20",
             "what was changed is put right")
    merge(host, tenant, {"spec": {"members": [{"name": "ann", "role": "view"}]}})
    wait_for(lambda: host.get(f"{bindings}/tenant-edit").status == 404, "a role that nobody has is gone")
    wait_for(lambda: host.get(tenant).json()["status"]["objects"] == 4, "the status counts them")
    wait_for(lambda: host.is_asleep("tenant"), "it sleeps: its own writes wake nobody for ever")

    make_namespaces(host, "taken")
    host.create(TENANTS, {**sample, "metadata": {"name": "taken"}})
    wait_for(lambda: condition(host, f"{TENANTS}/taken").get("reason") == "Refused", "a foreign namespace is refused")
    assert "labels" not in host.get("/api/v1/namespaces/taken").json()["metadata"] or \
        "tenancy.dormouse.dev/tenant" not in host.get("/api/v1/namespaces/taken").json()["metadata"]["labels"]
    assert host.ask("DELETE", f"{TENANTS}/taken").status == 200
    wait_for(lambda: host.get(f"{TENANTS}/taken").status == 404, "it goes, and the namespace stays")
    assert host.get("/api/v1/namespaces/taken").status == 200

    assert host.ask("DELETE", tenant).status == 200
    wait_for(lambda: host.get(space).status == 404 and host.get(tenant).status == 404, "both have gone", timeout=60)
    events = host.get("/apis/events.k8s.io/v1/events").json()["items"]
    assert {"Provisioned", "Deleting"} <= {e["reason"] for e in events if e["regarding"]["kind"] == "Tenant"}
    host.remove("tenant")
