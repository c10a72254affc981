# SPDX-License-Identifier: Apache-2.0
"""ABI v1 end to end: guests that declare, reconcile, read, write and break rules, on the real host (docs/guest-abi.md)."""
import base64
import json
import os
import re
import signal

import pytest

from conftest import wait_for
from guest_kit import make_namespaces
from operators import Hosting
from test_guests import OPERATORS, Host

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
MERGE = "application/merge-patch+json"


class V1(Host, Hosting):
    """A host whose operators run test/guests/script.c: what it says are lines of the log."""

    def scripted(self, name, declaration, **env):
        if declaration is not None:
            env["DECLARE"] = json.dumps(declaration)
        return self.add(name, "script-v1", **env)

    def output(self, name, what=None):
        found = re.findall(rf'guest operator=operators/{name} line="probe (.*)"$', self.text_of_log(), re.M)
        texts = [re.sub(r"\\(.)", r"\1", line) for line in found]
        return texts if what is None else [t[len(what) + 1:] for t in texts if t.split(" ", 1)[0] == what]

    def acts(self, name):
        """The activations, without their objects."""
        found = []
        for text in self.output(name, "act"):
            text = re.sub(r',"object":\{$', "", text)
            found.append(json.loads(text if text.endswith("}") else text + "}"))
        return found

    def keys(self, name):
        return [f"{a['namespace']}/{a['name']}" for a in self.acts(name)]

    def values(self, name, what):
        """(value, result) of each call that parked."""
        pairs = [text.split(" ", 1) for text in self.output(name, what)]
        return [(int(p[0]), p[1] if len(p) > 1 else "") for p in pairs]

    def put(self, namespace, name, do="", labels=None, annotations=None, kind="configmaps", **data):
        path = f"/api/v1/namespaces/{namespace}/{kind}"
        body = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"do": do, **data},
                "metadata": {"name": name, "labels": labels or {}, "annotations": annotations or {}}}
        if self.get(f"{path}/{name}").status == 404:
            return self.create(path, body)
        answer = self.ask("PATCH", f"{path}/{name}", body, Content_Type=MERGE)
        assert answer.status == 200, answer.body
        return answer.json()

    def drop(self, namespace, name, kind="configmaps"):
        assert self.ask("DELETE", f"/api/v1/namespaces/{namespace}/{kind}/{name}").status == 200

    def describe(self, name):
        return json.loads(self.admin(f"/operator?namespace=operators&name={name}"))

    def log_has(self, text):
        wait_for(lambda: text in self.text_of_log(), f"the log says '{text}'")


def watch(ident, namespace=None, **more):
    w = {"id": ident, "apiVersion": "v1", "kind": "ConfigMap", **more}
    if namespace:
        w["namespaces"] = [namespace]
    return w


def declaration(primary, owns=(), watches=(), **more):
    controller = {"name": "c", "for": primary, "owns": list(owns), "watches": list(watches)}
    for key in ("backoff", "rate", "resyncSeconds", "slackPercent", "concurrency", "debounceMs"):
        if key in more:
            controller[key] = more.pop(key)
    return {"abi": 1, "controllers": [controller], **more}


RBAC = "/apis/rbac.authorization.k8s.io/v1"


def grant(host, role, groups, resources, user="system:serviceaccounts:operators", kind="Group"):
    host.create(f"{RBAC}/clusterroles", {
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": role},
        "rules": [{"apiGroups": groups, "resources": resources, "verbs": ["*"]}]})
    host.create(f"{RBAC}/clusterrolebindings", {
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": role},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
        "subjects": [{"kind": kind, "name": user, "apiGroup": "rbac.authorization.k8s.io"}]})


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    host = V1(tmp_path_factory.mktemp("v1"), "--idle", "100ms")
    grant(host, "script-guests", ["", "late.test", "events.k8s.io"],
          ["configmaps", "secrets", "serviceaccounts", "events", "things"])
    yield host
    assert host.stop() == 0


@pytest.fixture
def space(host, request):
    """A namespace for this test alone."""
    name = re.sub(r"[^a-z0-9]+", "-", request.node.name.lower())[5:55].strip("-")
    make_namespaces(host, name)
    return name


def test_the_smallest_operator_greets(host, space):
    host.add("hello-v1", "hello-v1")
    maps = f"/api/v1/namespaces/{space}/configmaps"
    host.create(maps, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "labels": {"hello": "please"}}})
    greeting = lambda: host.get(f"{maps}/a").json().get("data", {}).get("greeting")  # noqa: E731
    wait_for(lambda: greeting() == "Hello, a!", "a greeting")
    wait_for(lambda: host.is_asleep("hello-v1"), "it sleeps")
    host.ask("PATCH", f"{maps}/a", {"data": {"greeting": "go away"}}, Content_Type=MERGE)
    wait_for(lambda: greeting() == "Hello, a!", "another one")
    host.remove("hello-v1")


def test_one_config_map_is_reconciled_into_another(host, space):
    """The primary's object comes with the activation; what is written is an ordinary request."""
    body = json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "copy"}, "data": {"k": "v"}})
    host.put(space, "source", f"api POST /api/v1/namespaces/{space}/configmaps application/json {body}")
    host.scripted("copier", declaration(watch("maps", space, name="source")))
    wait_for(lambda: host.get(f"/api/v1/namespaces/{space}/configmaps/copy").status == 200, "the copy")
    copy = host.get(f"/api/v1/namespaces/{space}/configmaps/copy").json()
    assert copy["data"] == {"k": "v"}
    assert copy["metadata"]["managedFields"][0]["manager"] == "copier"
    wait_for(lambda: host.values("copier", "api"), "its answer")
    assert host.values("copier", "api")[0][0] == 201
    assert host.acts("copier")[0] == {"type": "reconcile", "controller": "c", "namespace": space, "name": "source",
                                      "reasons": ["initial"], "attempt": 0}
    wait_for(lambda: host.is_asleep("copier"), "it sleeps")
    host.remove("copier")


def test_events_become_keys_and_reasons(host, space):
    """The guest is called for what concerns it, merged while it waits, and for nothing else."""
    host.scripted("keys", declaration(
        {**watch("p", space, labelSelector="app=yes"), "predicate": {"or": [{"changed": "labels"}, {"changed": "annotations"}]},
         "indexes": [{"name": "byRef", "field": ".data.ref"}]},
        owns=[{"id": "owned", "apiVersion": "v1", "kind": "Secret", "namespaces": [space]}],
        watches=[{"id": "mapped", "apiVersion": "v1", "kind": "ServiceAccount", "namespaces": [space],
                  "map": {"index": "byRef", "value": "name"}}]))
    wait_for(lambda: host.is_asleep("keys"), "it has seen what was there, and waits")
    host.put(space, "other", "say no")
    made = host.put(space, "mine", "say made", labels={"app": "yes"}, ref="robot")
    wait_for(lambda: host.keys("keys") == [f"{space}/mine"], "the first key")
    assert host.acts("keys")[0]["reasons"] == ["create"]
    host.put(space, "mine", "say made", ref="robot2")  # neither labels nor annotations
    host.put(space, "mine", annotations={"a": "b"})
    wait_for(lambda: len(host.acts("keys")) == 2, "an update")
    assert host.acts("keys")[1]["reasons"] == ["update"]
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "mine", "uid": made["metadata"]["uid"], "controller": True}
    host.create(f"/api/v1/namespaces/{space}/secrets", {"apiVersion": "v1", "kind": "Secret", "metadata": {
        "name": "s", "ownerReferences": [owner]}})
    wait_for(lambda: len(host.acts("keys")) == 3, "an owned object")
    assert host.acts("keys")[2]["reasons"] == ["owned"]
    host.create(f"/api/v1/namespaces/{space}/serviceaccounts", {"apiVersion": "v1", "kind": "ServiceAccount",
                                                                "metadata": {"name": "robot2"}})
    wait_for(lambda: len(host.acts("keys")) == 4, "a mapped object")
    assert host.acts("keys")[3]["reasons"] == ["mapped"]
    host.put(space, "mine", labels={"app": "no"})  # it leaves the selector
    wait_for(lambda: len(host.acts("keys")) == 5, "its end")
    last = host.acts("keys")[4]
    assert last["reasons"] == ["delete"] and last["object"] is None
    assert set(host.keys("keys")) == {f"{space}/mine"}
    host.remove("keys")


def test_a_burst_of_events_is_one_activation_where_that_is_wanted(host, space):
    host.scripted("burst", declaration(watch("p", space, labelSelector="app=burst"), debounceMs=3000))
    wait_for(lambda: host.is_asleep("burst"), "it waits")
    host.put(space, "a", "say made", labels={"app": "burst"})
    for i in range(5):
        host.put(space, "a", n=str(i))
    wait_for(lambda: host.acts("burst"), "an activation")
    host.put(space, "b", "say made", labels={"app": "burst"})
    wait_for(lambda: len(host.acts("burst")) == 2, "the next key")
    assert [(a["name"], a["reasons"]) for a in host.acts("burst")] == [("a", ["create", "update"]), ("b", ["create"])]
    host.remove("burst")


def test_results_of_activations(host, space):
    """Again after a time, back-off, refusal, and what the guest says of a failure."""
    host.put(space, "again", "count\nreturn 300")
    host.put(space, "fails", "fail the disk is on fire\nreturn -1")
    host.put(space, "never", "fail this will not do\nreturn -2")
    host.scripted("results", declaration(watch("p", space), backoff={"baseMs": 50, "maxMs": 200}))
    wait_for(lambda: host.keys("results").count(f"{space}/again") >= 3, "it comes again")
    wait_for(lambda: host.keys("results").count(f"{space}/fails") >= 4, "and again after failures")
    acts = host.acts("results")
    assert [a["attempt"] for a in acts if a["name"] == "fails"][:4] == [0, 1, 2, 3]
    assert next(a for a in acts if a["name"] == "fails" and a["attempt"] == 1)["reasons"] == ["retry"]
    assert [a["reasons"] for a in acts if a["name"] == "again"][1] == ["requeue"]
    assert host.keys("results").count(f"{space}/never") == 1
    host.log_has('key=' + space + '/fails attempt=0 retry_ms=50 error="the disk is on fire"')
    host.log_has("permanent=true error=\"this will not do\"")
    host.put(space, "never", "say changed")
    wait_for(lambda: "changed" in host.output("results", "say"), "a change is another chance")
    host.remove("results")


def test_requests_answer_with_types(host, space):
    maps = f"/api/v1/namespaces/{space}/configmaps"
    host.put(space, "asker", "\n".join([
        f"api GET {maps}/nobody -",
        f"api PUT {maps}/asker application/json " + json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {
            "name": "asker", "resourceVersion": "1"}}),
        "api GET /api/v1/pods?watch=true -",
        "api GET /metrics -",
        f"api DELETE {maps}/victim application/json " + json.dumps({"preconditions": {"uid": "wrong"}}),
        f"api PATCH {maps}/applied?force=true application/apply-patch+yaml " + json.dumps({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "applied"}, "data": {"a": "b"}}),
        "api GET /version -",
    ]))
    host.put(space, "victim")
    host.scripted("asker", declaration(watch("p", space, name="asker")))
    wait_for(lambda: len(host.values("asker", "api")) == 7, "all answers")
    answers = host.values("asker", "api")
    assert [a[0] for a in answers] == [404, 409, -1, -1, 409, 201, 200]
    assert '"reason":"NotFound"' in answers[0][1]
    assert answers[2][1] == "a request cannot watch: declare a watch"
    applied = host.get(f"{maps}/applied").json()["metadata"]["managedFields"]
    assert applied[0]["manager"] == "asker" and applied[0]["operation"] == "Apply"
    assert host.get(f"{maps}/victim").status == 200
    host.remove("asker")


def test_reads_from_the_cache(host, space):
    for i in range(5):
        host.put(space, f"item{i}", labels={"parity": "even" if i % 2 == 0 else "odd"}, ref=f"r{i % 2}")
    host.put(space, "reader", "\n".join([
        'get {"watch":"p","namespace":"%s","name":"reader"}' % space,
        'get {"watch":"items","namespace":"%s","name":"item1"}' % space,
        'get {"watch":"items","namespace":"%s","name":"nobody"}' % space,
        'get {"watch":"nope","namespace":"%s","name":"item1"}' % space,
        'get {"watch":"items","nam":"item1"}',
        'list {"watch":"items","view":"keys"}',
        'list {"watch":"items","view":"keys","limit":2}',
        'list {"watch":"items","view":"keys","labelSelector":"parity=even"}',
        'list {"watch":"items","view":"keys","index":"byRef","value":"r1"}',
        'list {"watch":"items","index":"none","value":"r1"}',
        'list {"watch":"items","view":"metadata","limit":1}',
        f"api PATCH /api/v1/namespaces/{space}/configmaps/item1 {MERGE} " + '{"data":{"fresh":"yes"}}',
        'get {"watch":"items","namespace":"%s","name":"item1","consistent":true}' % space,
        'get {"watch":"absent","namespace":"%s","name":"x"}' % space,
    ]))
    host.scripted("reader", declaration(
        watch("p", space, name="reader"),
        caches=[watch("items", space, labelSelector="parity", indexes=[{"name": "byRef", "field": ".data.ref"}],
                      strip=[".data.do"]),
                {"id": "absent", "apiVersion": "nowhere.dev/v1", "kind": "Nothing"}]))
    wait_for(lambda: len(host.values("reader", "get")) == 7, "the last read")
    gets, lists = host.values("reader", "get"), host.values("reader", "list")
    assert gets[0][0] > 0 and json.loads(gets[1][1])["data"] == {"ref": "r1"}
    assert "managedFields" not in gets[1][1]
    assert [g[0] for g in gets[2:5]] == [-2, -4, -1]
    names = [[i["name"] for i in json.loads(text)["items"]] for _, text in lists[:4]]
    assert names == [[f"item{i}" for i in range(5)], ["item0", "item1"], ["item0", "item2", "item4"], ["item1", "item3"]]
    assert json.loads(lists[1][1])["remainingItemCount"] == 3 and json.loads(lists[1][1])["continue"]
    assert lists[4][0] == -4
    only = json.loads(lists[5][1])["items"][0]
    assert set(only) == {"apiVersion", "kind", "metadata"}
    assert json.loads(gets[5][1])["data"]["fresh"] == "yes"
    assert gets[6][0] == -11
    host.remove("reader")


def test_configuration_and_its_changes(host, space):
    host.scripted("config", declaration(
        watch("p", space, name="main"),
        config=[{"name": "settings", "configMap": "settings", "namespace": space, "onChange": "reconcile"},
                {"name": "key", "secret": "key", "namespace": space, "optional": True, "onChange": "activate"}]),
        DO="config key")
    host.put(space, "main", "config settings\nconfig key\nconfig other")
    status = lambda: host.status("config")  # noqa: E731
    wait_for(lambda: host.guest("config"), "the guest")
    wait_for(lambda: host.values("config", "declare") == [(0, "")], "it has declared")
    assert host.acts("config") == [] and status() is not None  # a required configuration is missing
    host.put(space, "settings", colour="red")
    wait_for(lambda: len(host.values("config", "config")) == 3, "it is read")
    (_, settings), absent, other = host.values("config", "config")
    assert json.loads(settings)["data"]["colour"] == "red" and json.loads(settings)["resourceVersion"]
    assert absent[0] == -2 and other[0] == -4
    host.put(space, "settings", colour="blue")
    wait_for(lambda: len(host.acts("config")) == 2, "a change is a reason")
    assert host.acts("config")[1]["reasons"] == ["config"]
    host.create(f"/api/v1/namespaces/{space}/secrets", {
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "key"},
        "data": {"text": base64.b64encode(b"plain").decode(), "bytes": base64.b64encode(b"\xff\x00").decode()}})
    wait_for(lambda: {"type": "config", "name": "key"} in host.acts("config"), "an activation of its own")
    wait_for(lambda: len(host.values("config", "config")) == 7, "its values")
    value = json.loads(host.values("config", "config")[-1][1])
    assert value["data"] == {"text": "plain"} and value["binaryData"] == {"bytes": base64.b64encode(b"\xff\x00").decode()}
    host.remove("config")


def test_posted_calls(host, space):
    event = {"type": "Warning", "reason": "Made", "action": "Make", "note": "n",
             "regarding": {"apiVersion": "v1", "kind": "ConfigMap", "namespace": space, "name": "poster"}}
    host.put(space, "poster", "\n".join([
        "event " + json.dumps(event), "event " + json.dumps(event),
        'enqueue {"controller":"c","namespace":"%s","name":"later","afterMs":50,"priority":"high"}' % space,
        "metric 0 [\"x\"] 2", "metric 0 [\"x\"] 3", "metric 1 - 7",
        'log 2 something odd|{"why":"because \\"so\\"","n":1}', "log 0 not wanted"]))
    host.scripted("poster", declaration(watch("p", space, name="poster"), metrics=[
        {"name": "poster_made_total", "type": "counter", "help": "made", "labels": ["kind"]},
        {"name": "poster_level", "type": "gauge"}]))
    wait_for(lambda: host.keys("poster") == [f"{space}/poster", f"{space}/later"], "the key that it asked for")
    assert host.acts("poster")[1]["reasons"] == ["enqueue"] and host.acts("poster")[1]["object"] is None
    events = f"/apis/events.k8s.io/v1/namespaces/{space}/events"
    wait_for(lambda: [e.get("series", {}).get("count") for e in host.get(events).json()["items"]] == [2], "one series")
    made = host.get(events).json()["items"][0]
    assert made["reportingController"] == "operators/poster" and made["reason"] == "Made" and made["note"] == "n"
    line = next(x for x in host.text_of_log().splitlines() if "something odd" in x)
    assert " warn" in line.lower() and f"key={space}/poster" in line and "controller=c" in line and "reconcile=" in line
    assert 'why="because \\"so\\""' in line and 'n="1"' in line
    assert "not wanted" not in host.text_of_log()
    metrics = host.admin("/metrics")
    assert 'poster_made_total{operator="operators/poster",kind="x"} 5' in metrics
    assert 'poster_level{operator="operators/poster"} 7' in metrics
    host.remove("poster")


BROKEN = {
    "memory": ("outside", "enqueue: R-memory"),
    "event": ("event {}", "event: R-posted"),
    "half": ("event {\"type\":\"Normal\"", "event: R-posted"),
    "enqueue": ('enqueue {"controller":"other","namespace":"a","name":"b"}',
                "enqueue: R-posted: no controller 'other' is declared"),
    "metric": ("metric 7 - 1", "metric: R-posted"),
    "flood": ("flood 1025", "metric: R-posted"),
    "declare": ("declare {}", "declare: R-"),
    "result": ("return -7", "R-result"),
    "trap": ("trap", "unreachable"),
}


def test_broken_rules_end_activations(host, space):
    """A trap that names call and rule; the key counts as failed, and the next one is served."""
    for name, (do, _) in BROKEN.items():
        host.put(space, name, do)
        host.scripted("rule-" + name, declaration(watch("p", space, name=name), metrics=[{"name": "level", "type": "gauge"}]))
    for name, (_, output) in BROKEN.items():
        wait_for(lambda: output in json.dumps(host.status("rule-" + name)), f"the status of {name} says '{output}'")
        assert f"operators/rule-{name}" in host.text_of_log()
        host.put(space, name, f"say fine-{name}")
    for name in BROKEN:
        wait_for(lambda: f"fine-{name}" in host.output("rule-" + name, "say"), f"{name} starts anew and goes on")
        # the event of the last change may come once more after the retry that has seen it
        assert any(act["attempt"] > 0 for act in host.acts("rule-" + name))
        host.remove("rule-" + name)


STARTS = {
    "nothing": ({}, "R-declare"),
    "slip": ({"DECLARE": '{"controllers":[],"caches":3}'}, "caches: must be an array"),
    "twice": ({"DECLARE": '{"controllers":[]}', "SETUP": 'declare {"controllers":[]}'}, "declare: R-declare"),
    "outside": ({"DECLARE": '{"controllers":[]}', "SETUP": 'get {"watch":"x"}'}, "cache_get: R-outside"),
    "exit": ({"DECLARE": '{"controllers":[]}', "EXIT": "3"}, "3"),
}


def test_starts_that_fail_say_why(host):
    for name, (env, _) in STARTS.items():
        host.scripted("start-" + name, None, **env)
    for name, (_, output) in STARTS.items():
        wait_for(lambda: output in json.dumps(host.status("start-" + name)), f"the status of {name} says '{output}'")
        host.remove("start-" + name)


def crd(group, plural, kind):
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.{group}"},
            "spec": {"group": group, "scope": "Namespaced", "names": {"plural": plural, "kind": kind},
                     "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {
                         "type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}}


def test_kinds_come_and_go(host, space):
    """A kind that is not there yet holds up its controller and no other; one that vanishes may come again."""
    group = "late.test"
    things = f"/apis/{group}/v1/namespaces/{space}/things"
    decl = declaration({"id": "things", "apiVersion": f"{group}/v1", "kind": "Thing"})
    decl["controllers"].append({"name": "maps", "for": watch("p", space, name="here")})
    host.put(space, "here", "say here")
    host.scripted("late", decl)
    wait_for(lambda: "here" in host.output("late", "say"), "the other controller works")
    for round in (1, 2):
        host.create(CRDS, crd(group, "things", "Thing"))
        wait_for(lambda: host.get(things).status == 200, "the kind")
        thing = {"apiVersion": f"{group}/v1", "kind": "Thing", "metadata": {"name": f"t{round}"}, "do": f"say round{round}"}
        host.create(things, thing)
        wait_for(lambda: f"round{round}" in host.output("late", "say"), "a thing is reconciled")
        assert host.ask("DELETE", f"{CRDS}/things.{group}").status == 200
        wait_for(lambda: host.get(things).status == 404, "the kind has gone")
    host.put(space, "here", "say still")
    wait_for(lambda: "still" in host.output("late", "say"), "the other controller still works")
    host.remove("late")


def test_a_watch_that_is_forbidden_until_it_is_not(host, space):
    """The operator waits and says for what; other controllers go on; a right that comes is enough."""
    decl = declaration({"id": "pods", "apiVersion": "v1", "kind": "Endpoints", "namespaces": [space]})
    decl["controllers"].append({"name": "maps", "for": watch("p", space)})
    host.put(space, "a", "get {\"watch\":\"pods\",\"namespace\":\"%s\",\"name\":\"x\"}\nsay works" % space)
    host.scripted("denied", decl)
    wait_for(lambda: "works" in host.output("denied", "say"), "the other controller works")
    assert host.values("denied", "get")[0][0] == -3
    wait_for(lambda: host.describe("denied")["v1"]["watches"][0]["state"] == "Forbidden", "the state of the watch")
    assert "may not list and watch 'endpoints'" in host.describe("denied")["v1"]["waitsFor"]
    host.create(f"/api/v1/namespaces/{space}/endpoints", {"apiVersion": "v1", "kind": "Endpoints", "metadata": {"name": "x"}})
    grant(host, "denied-endpoints", [""], ["endpoints"])
    wait_for(lambda: f"{space}/x" in host.keys("denied"), "it may, and does")
    host.remove("denied")


def test_a_namespace_goes_while_the_operator_sleeps(host, space):
    host.put(space, "a", "say made")
    host.scripted("spaces", declaration(watch("p", space, labelSelector="!keep")), DO="say gone")
    wait_for(lambda: "made" in host.output("spaces", "say"), "it knows the object")
    wait_for(lambda: host.is_asleep("spaces"), "it sleeps")
    host.ask("DELETE", f"/api/v1/namespaces/{space}")
    wait_for(lambda: any(a["name"] == "a" and a.get("object", 1) is None for a in host.acts("spaces")), "it is told")
    wait_for(lambda: host.is_asleep("spaces"), "it sleeps again")
    host.remove("spaces")


def test_a_runner_that_is_killed_while_calls_are_parked(host, space):
    """The activation counts as failed, the key comes again; what was written stays written."""
    script = f"say begin\nrepeat 5000 api GET /api/v1/namespaces/{space}/configmaps/a -\nsay end"
    host.put(space, "a", script)
    host.scripted("killed", declaration(watch("p", space, name="a"), backoff={"baseMs": 20, "maxMs": 20}))
    wait_for(lambda: "end" in host.output("killed", "say"), "it works")
    host.put(space, "a", script, n="1")
    wait_for(lambda: host.output("killed", "say").count("begin") == 2, "it has begun")
    for pid in host.runners():
        os.kill(pid, signal.SIGKILL)
    wait_for(lambda: host.output("killed", "say").count("end") >= 2, "it comes again, and ends")
    assert any(a["attempt"] > 0 for a in host.acts("killed"))
    host.remove("killed")


def test_several_instances_work_on_different_keys(host, space):
    """At most `concurrency` at once, never two on one key; a trap of one is no other's."""
    ask = f"api GET /api/v1/namespaces/{space}/configmaps/nobody -\n"
    for i in range(12):
        host.put(space, f"k{i}", 40 * ask + f"say done{i}", labels={"several": "1"})
    host.scripted("several", declaration(watch("p", space, labelSelector="several"), instances=3, concurrency=3))
    wait_for(lambda: {f"done{i}" for i in range(12)} <= set(host.output("several", "say")), "all of them")
    assert len(host.output("several", "declare")) > 1
    assert len(host.keys("several")) == 12
    host.put(space, "k3", "trap")
    host.put(space, "k4", "say after")
    wait_for(lambda: "after" in host.output("several", "say"), "the others go on")
    host.remove("several")


def test_a_guest_that_loops_holds_up_nobody(host, space):
    """Its neighbours work on, first between its slices, then without it in their runner."""
    host.put(space, "endless", "loop", labels={"endless": ""})
    host.scripted("endless", declaration(watch("p", space, labelSelector="endless")))
    host.scripted("neighbour", declaration(watch("p", space, labelSelector="short")))
    wait_for(lambda: host.status("endless"), "the loop")
    for i in range(30):
        host.put(space, f"short-{i}", f"say {i}", labels={"short": ""})
        wait_for(lambda: f"{space}/short-{i}" in host.keys("neighbour"), f"key {i}")
    host.log_has("ran longer than an activation may")
    host.remove("endless")
    host.remove("neighbour")


def test_a_sleeping_operator_is_not_woken_by_others_events(host, space):
    host.scripted("still", declaration({**watch("p", space, labelSelector="mine"), "predicate": {"changed": "labels"}}))
    host.put(space, "a", "say hello", labels={"mine": "1"})
    wait_for(lambda: "hello" in host.output("still", "say"), "it works")
    wait_for(lambda: host.is_asleep("still"), "it sleeps")
    before = host.guest("still")["activations"]
    for i in range(20):
        host.put(space, "foreign", n=str(i))
        host.put(space, "a", n=str(i))
    host.put(space, "a", "say bye", labels={"mine": "2"})
    wait_for(lambda: "bye" in host.output("still", "say"), "the one that concerns it")
    assert host.guest("still")["activations"] == before + 1
    host.remove("still")


def set_env(host, name, **env):
    answer = host.ask("PATCH", f"{OPERATORS}/{name}", {"spec": {"env": [{"name": k, "value": v} for k, v in env.items()]}},
                      Content_Type=MERGE)
    assert answer.status == 200, answer.body
    return answer.json()["metadata"]["generation"]


def test_events_during_replacements_are_not_lost(host, space):
    """Whatever happens while guests are swapped, declarations included: each object is seen as it is in the end."""
    wide, narrow = watch("p", space), watch("p", space, labelSelector="n")
    names = [f"o{i}" for i in range(10)]
    for name in names:
        host.put(space, name, "say first", labels={"n": name})
    host.scripted("swapped", declaration(wide), DO="say gone")
    wait_for(lambda: len(set(host.keys("swapped"))) >= 10, "it has begun")
    for turn, primary in enumerate([wide, narrow, wide, narrow]):
        generation = set_env(host, "swapped", DECLARE=json.dumps(declaration(primary)), DO="say gone", TURN=str(turn))
        for name in names:
            host.put(space, name, f"say {name}-{turn}", labels={"n": name})
        host.put(space, f"brief{turn}", "say brief", labels={"n": "x"})
        host.drop(space, f"brief{turn}")
        wait_for(lambda: {f"{name}-{turn}" for name in names} <= set(host.output("swapped", "say")), f"turn {turn}")
        wait_for(lambda: host.describe("swapped")["runningGeneration"] == generation, "the new one runs")
    host.drop(space, "o1")
    wait_for(lambda: any(a["name"] == "o1" and a.get("object", 1) is None for a in host.acts("swapped")), "an end")
    assert "R-same" not in json.dumps(host.status("swapped"))
    host.remove("swapped")


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL], ids=["stopped", "killed"])
def test_a_sleeping_guest_outlives_its_host(tmp_path, how):
    """What it remembers and declared is there again; events of meanwhile are not lost."""
    first = V1(tmp_path, "--idle", "50ms")
    grant(first, "script-guests", [""], ["configmaps"])
    make_namespaces(first, "mine")
    first.put("mine", "a", "count")
    first.scripted("keeper", declaration(watch("p", "mine", name="a")))
    wait_for(lambda: first.output("keeper", "count") == ["1"], "it works")
    wait_for(lambda: first.is_asleep("keeper"), "it sleeps")
    first.process.send_signal(how)
    first.process.wait(30)
    second = V1(tmp_path, "--idle", "50ms")
    wait_for(lambda: second.output("keeper", "count")[1:] == ["2"], "it goes on where it was")
    assert len(second.output("keeper", "declare")) == 1
    second.put("mine", "a", "count\nsay again")
    wait_for(lambda: "again" in second.output("keeper", "say"), "and is called as before")
    assert second.stop() == 0


def test_lists_go_over_several_namespaces(host, space):
    """One order and one continue over the namespaces of a watch, although each has its own subscription."""
    spaces = [f"{space}-{x}" for x in ("b", "a", "c")]
    make_namespaces(host, *spaces)
    for i, namespace in enumerate(spaces):
        for k in range(2):
            host.put(namespace, f"m{k}", labels={"several": "1"})
    reads = ['list {"watch":"m","view":"keys"}', 'list {"watch":"m","view":"keys","limit":3}',
             'list {"watch":"m","view":"keys","namespace":"%s"}' % spaces[0],
             'list {"watch":"m","view":"keys","namespace":"default"}',
             'get {"watch":"m","namespace":"default","name":"m0"}']
    host.put(space, "r", "\n".join(reads))
    host.scripted("paging", declaration(watch("p", space, name="r"), caches=[
        {**watch("m", labelSelector="several"), "namespaces": spaces}]))
    wait_for(lambda: host.values("paging", "get"), "the last read")
    lists = [json.loads(text) if value > 0 else value for value, text in host.values("paging", "list")]
    ordered = [(n, f"m{k}") for n in sorted(spaces) for k in range(2)]
    assert [(i["namespace"], i["name"]) for i in lists[0]["items"]] == ordered
    assert [(i["namespace"], i["name"]) for i in lists[1]["items"]] == ordered[:3]
    assert [i["namespace"] for i in lists[2]["items"]] == [spaces[0]] * 2
    assert lists[3] == -2 and host.values("paging", "get")[0][0] == -2
    token = lists[1]["continue"]
    host.put(space, "r", 'list {"watch":"m","view":"keys","limit":3,"continue":"%s"}\n' % token +
             'list {"watch":"m","view":"keys","continue":"x"}')
    wait_for(lambda: len(host.values("paging", "list")) == 6, "the next page")
    rest = json.loads(host.values("paging", "list")[4][1])
    assert [(i["namespace"], i["name"]) for i in rest["items"]] == ordered[3:] and "continue" not in rest
    assert host.values("paging", "list")[5][0] == -1
    host.remove("paging")


def test_what_a_script_cannot_know_is_typed(host, space):
    """The allow list and the request rate of an operator, as Kubernetes would say them."""
    maps = f"/api/v1/namespaces/{space}/configmaps"
    host.put(space, "a", 'list {"watch":"s","view":"keys"}\nget {"watch":"s","namespace":"%s","name":"x"}\nconfig key\n' % space
             + f"api DELETE {maps}/a -\n" + 15 * f"api GET {maps}/a -\n")
    declared = declaration(watch("p", space, name="a"), caches=[{"id": "s", "apiVersion": "v1", "kind": "Secret"}],
                           config=[{"name": "key", "secret": "key", "optional": True}])
    body = {"apiVersion": "dormouse.dev/v1alpha1", "kind": "Operator", "metadata": {"name": "bounded"},
            "spec": {"module": {"file": "script-v1.wasm"},
                     "env": [{"name": "DECLARE", "value": json.dumps(declared)}],
                     "allow": [{"verbs": ["get"], "paths": ["/api/v1/namespaces/{any}/configmaps/{any}"]},
                               {"verbs": ["list", "watch"], "paths": ["/api/v1/namespaces/{any}/configmaps"]}],
                     "limits": {"requestsPerSecond": 5}}}
    host.create(OPERATORS, body)
    wait_for(lambda: len(host.values("bounded", "api")) == 16, "all answers")
    statuses = [value for value, _ in host.values("bounded", "api")]
    assert statuses[0] == 403 and "not in this operator's allow list" in host.values("bounded", "api")[0][1]
    for what in "list", "get":  # what the host reads for it is bounded as well
        value, text = host.values("bounded", what)[0]
        assert value == -3 and "'/api/v1/secrets' are not in this operator's allow list" in text
    assert host.values("bounded", "config")[0][0] == -3 and "allow list" in host.values("bounded", "config")[0][1]
    assert statuses[1:] == 15 * [200], "those beyond the rate have waited"
    assert "dormouse-error: denied" in " ".join(host.output("bounded", "header"))
    limit = wait_for(lambda: next((c for c in host.get(f"{OPERATORS}/bounded").json().get("status", {}).get("conditions", [])
                                   if c["type"] == "LimitReached"), None), "the limit is told")
    assert "beyond 5 a second" in limit["message"]
    assert host.get(f"{maps}/a").status == 200
    host.remove("bounded")


def test_a_pause_keeps_what_happens(host, space):
    host.put(space, "a", "say one")
    host.scripted("paused", declaration(watch("p", space), resyncSeconds=1), DO="say gone")
    wait_for(lambda: host.output("paused", "say").count("one") >= 2, "it works, and a resync is a reason")
    assert any(a["reasons"] == ["resync"] for a in host.acts("paused"))
    pause = lambda yes: host.ask("PATCH", f"{OPERATORS}/paused", {"spec": {"paused": yes}}, Content_Type=MERGE)  # noqa: E731
    assert pause(True).status == 200
    wait_for(lambda: host.status("paused").get("phase") == "Paused", "the pause")
    host.put(space, "b", "say two")
    host.drop(space, "a")
    assert pause(False).status == 200
    wait_for(lambda: "two" in host.output("paused", "say") and "gone" in host.output("paused", "say"), "what it missed")
    host.remove("paused")
