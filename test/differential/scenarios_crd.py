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
