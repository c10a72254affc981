# SPDX-License-Identifier: Apache-2.0
"""CustomResourceDefinitions and their objects."""
import json

from kinds import crd
from scenario import DELETE, changed, scenario
from session import APPLY, JSON_PATCH, PARTIAL_LIST, STRATEGIC, TABLE
import time

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
SCHEMA = {"type": "object", "required": ["spec"], "properties": {
    "spec": {"type": "object", "required": ["nap"], "properties": {
        "nap": {"type": "string", "enum": ["long", "short"]}, "count": {"type": "integer", "minimum": 0, "maximum": 10, "default": 3},
        "ratio": {"type": "number", "exclusiveMinimum": True, "minimum": 0}, "port": {"x-kubernetes-int-or-string": True},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}, "any": {"x-kubernetes-preserve-unknown-fields": True},
        "tags": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set", "maxItems": 3},
        "rooms": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
                  "items": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "size": {"type": "integer", "default": 1}}}},
        "flat": {"type": "array", "x-kubernetes-list-type": "atomic", "items": {"type": "integer"}},
        "whole": {"type": "object", "x-kubernetes-map-type": "atomic", "additionalProperties": {"type": "string"}},
        "map": {"type": "object", "additionalProperties": {"type": "integer"}, "maxProperties": 2}, "maybe": {"type": "string", "nullable": True, "default": "d"},
        "when": {"type": "string", "format": "date-time"}, "mail": {"type": "string", "format": "email"}, "raw": {"type": "string", "format": "byte"}, "ip": {"type": "string", "format": "ipv4"},
        "code": {"type": "string", "pattern": "^[a-z]+$", "minLength": 2, "maxLength": 4}, "even": {"type": "integer", "multipleOf": 2},
        "one": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
        "inner": {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True},
        "deep": {"type": "object", "default": {}, "properties": {"x": {"type": "string", "default": "y"}}}}},
    "status": {"type": "object", "properties": {"phase": {"type": "string"}, "replicas": {"type": "integer"}}}}}


def wait_served(s, path):
    """Upstream serves a new kind shortly after its conditions say so."""
    for _ in range(100):
        if s.quietly("GET", path).status == 200:
            return
        time.sleep(0.1)


@scenario("crds/objects")
def objects(s):
    s.namespace()
    group = s.ns + ".example.com"
    definition = crd(group, schema=SCHEMA, subresources={"status": {}, "scale": {"specReplicasPath": ".spec.count", "statusReplicasPath": ".status.replicas"}},
                     additionalPrinterColumns=[{"name": "Nap", "type": "string", "jsonPath": ".spec.nap", "description": "how"}, {"name": "Count", "type": "integer", "jsonPath": ".spec.count", "priority": 1},
                                               {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}, {"name": "None", "type": "string", "jsonPath": ".spec.none"}],
                     selectableFields=[{"jsonPath": ".spec.nap"}])
    definition["spec"]["names"].update(shortNames=["mo"], singular="mouse", categories=["all"])
    s.quietly("POST", CRDS, definition)
    mice = f"/apis/{group}/v1/namespaces/{{ns}}/mice"
    wait_served(s, mice)
    mouse = {"apiVersion": group + "/v1", "kind": "Mouse", "metadata": {"name": "m"}, "spec": {"nap": "long"}}
    s.post(mice, mouse, label="create")
    s.post(mice, mouse, label="create again")
    for where, value in [
        ("spec", DELETE), ("spec", {}), ("spec", None), ("spec", []), ("spec.nap", "never"), ("spec.nap", 5), ("spec.count", -1), ("spec.count", 11), ("spec.count", "x"), ("spec.count", 1.5), ("spec.count", 2.0), ("spec.count", None), ("spec.ratio", 0),
        ("spec.ratio", 0.5), ("spec.port", 80), ("spec.port", "http"), ("spec.port", True), ("spec.free", {"a": {"b": 1}}), ("spec.free", "x"), ("spec.any", [1, "x"]), ("spec.tags", ["a", "b"]), ("spec.tags", ["a", "a"]), ("spec.tags", ["a", "b", "c", "d"]),
        ("spec.rooms", [{"name": "a"}, {"name": "b", "size": 2}]), ("spec.rooms", [{"name": "a"}, {"name": "a"}]), ("spec.rooms", [{}]), ("spec.flat", [1, "x"]), ("spec.whole", {"a": "b"}), ("spec.whole", {"a": 1}), ("spec.map", {"a": 1, "b": 2, "c": 3}),
        ("spec.map", {"a": "x"}), ("spec.maybe", None), ("spec.maybe", "x"), ("spec.when", "yesterday"), ("spec.when", "2026-01-02T03:04:05Z"), ("spec.mail", "x"), ("spec.raw", "!"), ("spec.ip", "x"), ("spec.code", "a"), ("spec.code", "abcde"), ("spec.code", "AB"),
        ("spec.even", 3), ("spec.one", {}), ("spec.one", {"a": "x", "b": "y"}), ("spec.inner", {}), ("spec.inner", {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x", "labels": {"a": 1}}, "more": 1}), ("spec.deep", {}), ("spec.deep", {"x": "z", "gone": 1}),
        ("spec.unknown", 1), ("unknown", {"a": 1}), ("status", {"phase": "x"}), ("metadata.name", "Bad_"), ("metadata.labels", {"a": 1}), ("metadata.unknown", 1), ("metadata.generation", 5), ("kind", "Rat"), ("kind", DELETE), ("apiVersion", "x/v1"), ("apiVersion", DELETE)]:
        shown = "gone" if value is DELETE else repr(value)[:50]
        for mode in ("Strict", "Ignore"):
            s.post(f"{mice}?dryRun=All&fieldValidation={mode}", changed(changed(mouse, "metadata.name", "n"), where, value), label=f"{where} = {shown}, {mode}")
    at = mice + "/m"
    s.get(mice)
    s.get(mice, accept=TABLE, label="table")
    s.get(mice, accept=PARTIAL_LIST, label="metadata")
    s.get(mice, accept="application/yaml", label="yaml", view=lambda a: None)
    s.get(mice, accept="application/vnd.kubernetes.protobuf", label="protobuf alone")
    s.get(mice, accept="application/vnd.kubernetes.protobuf,application/json", label="protobuf or json")
    for selector in ("spec.nap%3Dlong", "spec.nap%3Dshort", "spec.count%3D3", "metadata.name%3Dm"):
        s.get(f"{mice}?fieldSelector={selector}", view=lambda a: a.get("message") or len(a.get("items", default=[])))
    s.patch(at, {"spec": {"count": 5}}, label="merge")
    s.patch(at, {"spec": {"count": 5}}, label="no change")
    s.patch(at, {"spec": {"count": 50}}, label="invalid")
    s.patch(at, {"spec": {"count": 5}}, ct=STRATEGIC, label="strategic")
    s.patch(at, [{"op": "add", "path": "/spec/tags", "value": ["x"]}], ct=JSON_PATCH, label="json patch")
    s.patch(at, {"metadata": {"labels": {"a": "b"}}}, label="labels: same generation")
    s.patch(at + "/status", {"status": {"phase": "Asleep", "replicas": 2}, "spec": {"count": 9}}, label="status")
    s.get(at + "/scale")
    s.patch(at + "/scale", {"spec": {"replicas": 6}}, label="scale")
    s.put(at + "/scale", {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "m"}, "spec": {"replicas": 99}}, label="scale, invalid")
    s.patch(at + "?fieldManager=a", json.dumps({**mouse, "spec": {"nap": "short", "rooms": [{"name": "r"}]}}), ct=APPLY, label="apply conflicts")
    s.patch(at + "?fieldManager=a&force=true", json.dumps({**mouse, "spec": {"nap": "short", "rooms": [{"name": "r"}], "tags": ["y"]}}), ct=APPLY, label="apply forced")
    s.patch(at + "?fieldManager=b", json.dumps({**mouse, "spec": {"nap": "short", "rooms": [{"name": "r", "size": 4}, {"name": "q"}], "tags": ["z"]}}), ct=APPLY, label="apply of two")
    s.patch(at + "?fieldManager=a&force=true", json.dumps({**mouse, "spec": {"nap": "short"}}), ct=APPLY, label="one lets go")
    s.delete(at)
    s.get(f"/apis/{group}", label="group")
    s.get(f"/apis/{group}/v1", label="version")
    s.get(f"/apis/{group}/v9", label="version that is not")
    s.get(f"{CRDS}/mice.{group}", view=lambda a: {**a.obj, "metadata": None} if a.obj else None, label="the definition")
    s.get(f"{CRDS}/mice.{group}", accept=TABLE, label="the definition as a table")


@scenario("crds/definitions")
def definitions(s):
    group = s.ns + ".example.com"
    base = crd(group, schema={"type": "object", "properties": {"spec": {"type": "object"}}})
    version = "spec.versions[0]."
    schema = version + "schema.openAPIV3Schema"
    ok = {"type": "object"}
    for where, value in [
        ("metadata.name", "wrong"), ("spec.group", ""), ("spec.group", "nodots"), ("spec.scope", "Wrong"), ("spec.scope", DELETE), ("spec.names", DELETE), ("spec.names.plural", ""), ("spec.names.plural", "Mice"), ("spec.names.kind", ""), ("spec.names.kind", "mouse kind"),
        ("spec.names.singular", "Bad_"), ("spec.names.shortNames", ["Bad_"]), ("spec.names.listKind", "Mouse"), ("spec.names.categories", ["Bad_"]), ("spec.versions", []), ("spec.versions", DELETE), (version + "name", "Bad_"), (version + "name", ""), (version + "storage", False), (version + "served", False),
        (version + "schema", DELETE), (version + "schema", {}), (schema, {}), (schema, {"type": "string"}), (schema + ".properties.spec.type", DELETE), (schema + ".properties.spec.type", "wrong"), (schema + ".properties.metadata", {"type": "object", "properties": {"x": ok}}),
        (schema + ".properties.metadata", {"type": "object", "properties": {"name": {"type": "string", "pattern": "x"}}}), (schema + ".properties.a", {"type": "array"}), (schema + ".properties.a", {"type": "string", "pattern": "("}), (schema + ".properties.a", {"type": "string", "default": 5}),
        (schema + ".properties.a", {"type": "object", "additionalProperties": False}), (schema + ".properties.a", {"type": "object", "properties": {"x": ok}, "additionalProperties": True}), (schema + ".properties.a", {"type": "string", "nullable": True, "default": None}), (schema + ".properties.a", {"$ref": "#/x"}),
        (schema + ".properties.a", {"type": "array", "items": ok, "uniqueItems": True}), (schema + ".properties.a", {"type": "array", "items": ok, "x-kubernetes-list-type": "map"}), (schema + ".properties.a", {"type": "array", "items": ok, "x-kubernetes-list-type": "wrong"}),
        (schema + ".properties.a", {"type": "array", "items": ok, "x-kubernetes-list-type": "set"}), (schema + ".properties.a", {"type": "string", "x-kubernetes-int-or-string": True}), (schema + ".properties.a", {"anyOf": [{"type": "string"}]}),
        (schema + ".properties.a", {"type": "object", "x-kubernetes-preserve-unknown-fields": False}), (schema + ".properties.a", {"type": "object", "x-kubernetes-embedded-resource": True}), (schema + ".properties.a", {"type": "string", "x-kubernetes-map-type": "atomic"}),
        (schema + ".properties.a", {"type": "string", "x-kubernetes-validations": [{"rule": "self =="}]}), (schema + ".properties.a", {"type": "string", "x-kubernetes-validations": [{"rule": "self.size() < 5"}]}), (schema + ".properties.a", {"type": "string", "maxLength": -1}), (schema + ".properties.a", {"type": "string", "enum": ["a", 5]}),
        ("spec.conversion", {"strategy": "Webhook"}), ("spec.conversion", {"strategy": "Wrong"}), ("spec.preserveUnknownFields", True), (version + "additionalPrinterColumns", [{"name": "", "type": "x", "jsonPath": ""}]), (version + "additionalPrinterColumns", [{"name": "A", "type": "string", "jsonPath": "spec.x"}]),
        (version + "subresources", {"scale": {"specReplicasPath": "x"}}), (version + "selectableFields", [{"jsonPath": ".spec.none"}]), (version + "selectableFields", [{"jsonPath": "spec"}]), (version + "deprecated", True), (version + "deprecationWarning", "x"),
        ("spec.versions[1]", {"name": "v1", "served": True, "storage": False, "schema": {"openAPIV3Schema": ok}}), ("spec.versions[1]", {"name": "v2", "served": True, "storage": True, "schema": {"openAPIV3Schema": ok}}), ("spec.unknown", 1), ("status", {"storedVersions": ["v9"]}), ("spec.group", "other.example.com")]:
        shown = "gone" if value is DELETE else repr(value)[:70]
        s.post(f"{CRDS}?dryRun=All&fieldValidation=Strict", changed(base, where, value), label=f"{where.replace(schema, 'S')} = {shown}")


@scenario("crds/versions and life")
def versions(s):
    s.namespace()
    group = s.ns + ".example.com"
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"a": {"type": "string"}}}}}
    base = crd(group, schema=schema)
    base["spec"]["versions"] += [{"name": "v1beta1", "served": True, "storage": False, "deprecated": True, "schema": {"openAPIV3Schema": {
        "type": "object", "properties": {"spec": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string", "default": "x"}}}}}}},
        {"name": "v2", "served": False, "storage": False, "schema": {"openAPIV3Schema": schema}}]
    s.quietly("POST", CRDS, base)
    path = lambda v: f"/apis/{group}/{v}/namespaces/{{ns}}/mice"
    wait_served(s, path("v1beta1"))
    s.post(path("v1beta1"), {"apiVersion": group + "/v1beta1", "kind": "Mouse", "metadata": {"name": "m"}, "spec": {"a": "1", "b": "2"}}, label="create in the old version")
    for v in ("v1", "v1beta1", "v2"):
        s.get(path(v) + "/m", label=f"get in {v}")
        s.get(path(v), label=f"list in {v}")
    s.get(f"/apis/{group}", label="group")
    s.patch(path("v1") + "/m", {"spec": {"a": "3"}}, label="patch in v1")
    s.get(path("v1beta1") + "/m", label="again in v1beta1")
    crd_at = f"{CRDS}/mice.{group}"
    s.patch(crd_at, {"spec": {"scope": "Cluster"}}, label="scope is immutable")
    s.patch(crd_at, {"spec": {"group": "x.example.com"}}, label="group is immutable")
    s.patch(crd_at, {"spec": {"names": {"kind": "Rat"}}}, label="kind is immutable")
    s.patch(crd_at, {"spec": {"versions": [{**base["spec"]["versions"][1], "storage": True}]}}, label="a stored version goes")
    s.patch(crd_at, {"spec": {"versions": base["spec"]["versions"][:2]}}, label="an unserved version goes")
    other = crd(group, plural="mouses", kind="Mouse")
    s.post(CRDS, other, label="the same kind again", view=lambda a: a.status)
    for _ in range(100):
        got = s.quietly("GET", f"{CRDS}/mouses.{group}")
        if len(got.get("status", "conditions") or []) > 1:
            break
        time.sleep(0.05)
    s.get(f"{CRDS}/mouses.{group}", view=lambda a: a.get("status"), label="its conditions")
    s.delete(f"{CRDS}/mouses.{group}", view=lambda a: a.status)
    s.delete(crd_at, label="delete", view=lambda a: a.status)
    for _ in range(100):
        if s.quietly("GET", crd_at).status == 404:
            break
        time.sleep(0.1)
    s.get(crd_at, label="is gone")
    for _ in range(100):
        if s.quietly("GET", path("v1")).status == 404:
            break
        time.sleep(0.1)
    s.get(path("v1") + "/m", label="with its objects")


def ruled(*rules, **more):
    return {**more, "x-kubernetes-validations": [r if isinstance(r, dict) else {"rule": r} for r in rules]}


@scenario("crds/rules")
def rules(s):
    group = s.ns + ".example.com"
    text, short, number = {"type": "string"}, {"type": "string", "maxLength": 10}, {"type": "integer"}
    many = lambda items, **more: {"type": "array", "items": items, **more}
    pair = {"type": "object", "required": ["name"], "properties": {"name": text, "v": number}}
    bound = {"type": "object", "required": ["name"], "properties": {"name": short, "v": number}}
    dear = "self.matches('^" + "a" * 100 + "$')"
    for label, schema in [
        ("cheap", ruled("self == 'a'", **text)), ("of an unbounded list", many(ruled("self == 'a'", **text))), ("a little too dear", many(ruled("self == 'a' && self != 'b' && self != 'c' && self != 'd' && self != 'e'", **text))),
        ("far too dear", many(ruled(dear, **text))), ("dear in a bounded list", many(ruled(dear, **short), maxItems=1000)), ("dear in bounded lists", many(many(ruled(dear, **short), maxItems=1000), maxItems=1000)), ("two dear ones", many(ruled(dear, "self.contains(self)", **text))),
        ("loops", ruled("self.all(x, self.all(y, x.name == y.name))", **many(pair))), ("bounded loops", ruled("self.all(x, self.all(y, x.name == y.name))", **many(bound, maxItems=50))), ("unbounded names", ruled("self.exists_one(x, x.name == 'a')", **many(pair))),
        ("of a map", ruled("self.all(k, self[k] == k)", type="object", additionalProperties=text)), ("of a bounded map", ruled("self.all(k, self[k] == k)", type="object", maxProperties=5, additionalProperties=short)), ("below a map", {"type": "object", "additionalProperties": ruled(dear, **text)}),
        ("enum", ruled("self.matches(self)", type="string", enum=["a", "bbbb"])), ("dates", ruled("self > timestamp('2020-01-01T00:00:00Z')", type="string", format="date-time")), ("message", ruled({"rule": "self == 'a'", "messageExpression": "self + self"}, **text)),
        ("dear message", ruled({"rule": "self == 'a'", "messageExpression": "self.replace('a', self).replace('b', self)"}, **text)), ("message of a number", ruled({"rule": "self == 'a'", "messageExpression": "size(self)"}, **text)), ("message that does not compile", ruled({"rule": "self == 'a'", "messageExpression": "self +"}, **text)),
        ("message of nothing", ruled({"rule": "self == 'a'", "messageExpression": "nope"}, **text)), ("a number", ruled("self.size()", **text)), ("a text", ruled("self", **text)), ("of several types", ruled("self == 1", **text)), ("two mistakes", ruled("self.a == 1 && self.b == 2", type="object", properties={"c": text})),
        ("rule and child", ruled("self.c == 1", type="object", properties={"c": ruled("self == 2", **text)})), ("mixed literals", ruled("[1, 'a'].size() == 2", **text)), ("what formats", ruled("'%s %d'.format([self, 1]) == 'a 1'", **text)), ("unknown function", ruled("self.nope()", **text)), ("old self", ruled("self == oldSelf", **text)),
        ("old self in a list", many(ruled("self == oldSelf", **text))), ("optional old self", ruled({"rule": "oldSelf.hasValue() && oldSelf.value() == self", "optionalOldSelf": True}, **text)), ("optional without", ruled({"rule": "self == 'a'", "optionalOldSelf": True}, **text)), ("old self is no optional", ruled("oldSelf.hasValue()", **text)),
        ("preserved", ruled("self.a == 1", type="object", **{"x-kubernetes-preserve-unknown-fields": True})), ("of anything", ruled("self == 1", **{"x-kubernetes-preserve-unknown-fields": True})), ("embedded", ruled("self.metadata.name == 'a' && self.metadata.labels.size() == 0", type="object", **{"x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True})),
        ("int or string", ruled("type(self) == int ? self < 5 : self.endsWith('%')", **{"x-kubernetes-int-or-string": True})), ("no rule", ruled({"rule": " ", "message": "x"}, **text)), ("optional field", ruled("self.?c.orValue('') == 'a' && self.?c.hasValue()", type="object", properties={"c": text})),
    ]:
        base = crd(group, schema={"type": "object", "properties": {"spec": {"type": "object", "properties": {"a": schema}}}})
        s.post(f"{CRDS}?dryRun=All&fieldValidation=Strict", base, label=label)
    whole = crd(group, schema=ruled("self.metadata.name == 'a' && self.kind == 'b' && self.spec.a == 1", type="object", properties={"spec": {"type": "object"}}))
    s.post(f"{CRDS}?dryRun=All", whole, label="of the whole")


@scenario("crds/nulls")
def nulls(s):
    s.namespace()
    group = s.ns + ".example.com"
    leaf = {"plain": {"type": "string"}, "def": {"type": "string", "default": "d"}, "maybe": {"type": "string", "nullable": True}, "both": {"type": "string", "nullable": True, "default": "d"}, "list": {"type": "array", "items": {"type": "string"}},
            "object": {"type": "object", "properties": {"x": {"type": "string"}, "y": {"type": "string", "default": "y"}}}, "map": {"type": "object", "additionalProperties": {"type": "string"}}, "defmap": {"type": "object", "additionalProperties": {"type": "string", "default": "d"}},
            "nulls": {"type": "array", "items": {"type": "string", "nullable": True}}, "any": {"x-kubernetes-preserve-unknown-fields": True}, "number": {"type": "integer", "default": 3}, "needed": {"type": "object", "required": ["r"], "properties": {"r": {"type": "string"}}}}
    spec = {"type": "object", "properties": {**leaf, "rooms": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"], "items": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, **leaf}}}}}
    s.quietly("POST", CRDS, crd(group, schema={"type": "object", "properties": {"spec": spec}}))
    mice = f"/apis/{group}/v1/namespaces/{{ns}}/mice"
    wait_served(s, mice)
    mouse = {"apiVersion": group + "/v1", "kind": "Mouse", "metadata": {"name": "m"}}
    full = {**mouse, "spec": {"plain": "a", "def": "b", "maybe": "c", "both": "d", "list": ["x"], "object": {"x": "1", "y": "2"}, "map": {"k": "v"}, "rooms": [{"name": "r", "plain": "a", "def": "b"}]}}
    s.quietly("POST", mice, full)
    for name, value in [(n, None) for n in leaf] + [("list", ["a", None]), ("nulls", ["a", None]), ("object", {"x": None, "y": None}), ("map", {"k": None}), ("defmap", {"k": None}), ("any", {"x": None}), ("needed", {"r": None}), ("rooms", None), ("rooms", [None]), ("rooms", [{"name": None}]),
                        ("rooms", [{"name": "r", "plain": None, "def": None, "maybe": None, "both": None, "object": None}])]:
        shown = f"{name} = {json.dumps(value)[:70]}"
        body = {**mouse, "spec": {name: value}}
        s.post(mice + "?dryRun=All", {**body, "metadata": {"name": "new"}}, label="create " + shown)
        s.patch(mice + "/m?dryRun=All", {"spec": {name: value}}, ct="application/merge-patch+json", label="merge " + shown)
        s.patch(mice + "/m?fieldManager=x&force=true&dryRun=All", json.dumps(body), ct=APPLY, label="apply " + shown)
        s.patch(mice + "/new?fieldManager=x&dryRun=All", json.dumps({**body, "metadata": {"name": "new"}}), ct=APPLY, label="apply a new one " + shown)
    for name in ("plain", "def", "maybe", "object", "rooms"):
        s.patch(mice + "/m?fieldManager=x&force=true", json.dumps({**mouse, "spec": {name: None}}), ct=APPLY, label=f"apply for good {name}")
    s.get(mice + "/m", label="what is left")
    pod = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "labels": None}, "data": {"a": None, "b": "x"}}
    s.patch("/api/v1/namespaces/{ns}/configmaps/c?fieldManager=x", json.dumps(pod), ct=APPLY, label="a built-in kind")
    s.patch("/api/v1/namespaces/{ns}/configmaps/c?fieldManager=x", json.dumps({**pod, "data": None}), ct=APPLY, label="its data")


@scenario("policies/expressions")
def policies(s):
    path = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies?dryRun=All"
    name = s.ns + "-p"

    def policy(**spec):
        return {"metadata": {"name": name}, "spec": {"matchConstraints": {"resourceRules": [{"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["*"], "resources": ["deployments"]}]}, **spec}}
    for e in ["true", "1", "'a'", "object.x.y > 1", "object.x + 1", "request.kind.kind == 'Pod'", "request.nope == 1", "request.userInfo.groups.exists(g, g == 1)", "request.userInfo.extra['a'][0] == 'b'", "namespaceObject.metadata.labels.a == 'b'", "namespaceObject.spec.nope == 1",
              "oldObject == null", "authorizer.group('').resource('pods').check('get').allowed()", "authorizer.requestResource.check('get')", "authorizer.nope", "params.x == 1", "variables.v == 1", "1 + 'a' == 2", "object.items.all(x, x)", "[1, 'a'] == []", "request.options.x == 1", "nope == 1", "object ==", "dyn(1)", "null", "[1]", "timestamp('2020-01-01T00:00:00Z')"]:
        s.post(path, policy(validations=[{"expression": e}]), label="validation " + e, view=lambda a: a.obj if a.status != 201 else None)
    for e in ["'a'", "1", "object.x", "string(object.x)", "authorizer.group('').resource('pods').check('get').allowed()", "'a' + request.name", "' '"]:
        s.post(path, policy(validations=[{"expression": "true", "messageExpression": e}]), label="message " + e, view=lambda a: a.obj if a.status != 201 else None)
    for e in ["true", "1", "object.x", "variables.v", "request.name == 'a'"]:
        s.post(path, policy(validations=[{"expression": "true"}], matchConditions=[{"name": "c", "expression": e}]), label="condition " + e, view=lambda a: a.obj if a.status != 201 else None)
    for e in ["'a'", "null", "1", "true", "object.x"]:
        s.post(path, policy(auditAnnotations=[{"key": "k", "valueExpression": e}]), label="annotation " + e, view=lambda a: a.obj if a.status != 201 else None)
    for v, e in [("1", "variables.v == 1"), ("1", "variables.v == 'a'"), ("object.l", "variables.v.all(x, x == 1)"), ("[1, 2]", "variables.v.all(x, x == 'a')"), ("{'a': [1]}", "variables.v['a'][0] == 'x'"), ("nope", "variables.v == 1"), ("1", "variables.w == 1"), ("request.kind", "variables.v.kind == 1"), ("optional.of(1)", "variables.v.hasValue()")]:
        s.post(path, policy(variables=[{"name": "v", "expression": v}], validations=[{"expression": e}]), label=f"variable {v}: {e}", view=lambda a: a.obj if a.status != 201 else None)
    s.post(path, policy(paramKind={"apiVersion": "v1", "kind": "ConfigMap"}, validations=[{"expression": "params.data.x == 1"}, {"expression": "params"}]), label="parameters", view=lambda a: a.obj if a.status != 201 else None)
