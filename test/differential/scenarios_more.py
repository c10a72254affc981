# SPDX-License-Identifier: Apache-2.0
"""What other scenarios leave out: ranges of Services, lists in rules, what stays allowed when a schema gets stricter, and in
which order the mistakes of a YAML body are told."""
import json

from kinds import crd
from scenario import creates, scenario, updates
from scenarios_crd import CRDS, wait_served
from session import APPLY
import time

RANGES = "/apis/networking.k8s.io/v1/servicecidrs"
RANGE = {"apiVersion": "networking.k8s.io/v1", "kind": "ServiceCIDR", "metadata": {"name": "d-more-range"}, "spec": {"cidrs": ["10.7.0.0/24"]}}

creates("more/ranges", RANGES, {**RANGE, "metadata": {"name": "d-more-new"}}, [
    ("spec.cidrs", []), ("spec.cidrs", ["x"]), ("spec.cidrs", ["10.7.0.0/24", "fd00::/112"]), ("spec.cidrs", ["fd00::/112", "10.7.0.0/24"]), ("spec.cidrs", ["10.7.0.0/24", "10.8.0.0/24"]), ("spec.cidrs", ["10.7.0.0/24", "fd00::/112", "10.8.0.0/24"]),
    ("spec.cidrs", ["10.7.0.1/24"]), ("spec.cidrs", ["10.7.0.0/32"]), ("spec.cidrs", ["fd00::/64"]), ("spec.cidrs", ["fd00::/128"]), ("spec.cidrs", ["010.7.0.0/24"]), ("spec.cidrs", ["FD00::/112"]), ("spec.cidrs", ["::ffff:10.7.0.0/112"]), ("spec.cidrs", ["10.7.0.0"]),
    ("spec.cidrs", ["10.7.0.0/24", "10.7.0.0/24"]), ("spec.cidrs", ["10.7.0.0/4"]), ("spec.cidrs", ["x", "y"]), ("spec.cidrs", [""]), ("spec.cidrs", ["10.7.0.0/33"])])
updates("more/range updates", RANGES, RANGE, [
    ("spec.cidrs", ["10.7.0.0/24", "fd00::/112"]), ("spec.cidrs", ["10.7.0.0/25"]), ("spec.cidrs", ["fd00::/112"]), ("spec.cidrs", ["fd00::/112", "10.7.0.0/24"]), ("spec.cidrs", ["10.7.0.0/24", "10.9.0.0/24"]), ("spec.cidrs", []), ("spec.cidrs", ["10.7.0.0/24", "x"]),
    ("spec.cidrs", ["x"]), ("metadata.labels", {"a": "b"})])
updates("more/ranges of two families", RANGES, {**RANGE, "metadata": {"name": "d-more-two"}, "spec": {"cidrs": ["10.6.0.0/24", "fd01::/112"]}}, [
    ("spec.cidrs", ["10.6.0.0/24"]), ("spec.cidrs", ["10.6.0.0/24", "fd02::/112"]), ("spec.cidrs", ["fd01::/112", "10.6.0.0/24"]), ("spec.cidrs", ["10.5.0.0/24", "fd01::/112"]), ("spec.cidrs", ["10.6.0.0/24", "fd01::/112", "10.5.0.0/24"])])

LIST_RULES = (
    "self.sort() == self", "self.sort().size() == 1", "self.sortBy(e, -e) == self", "self.sortBy(e, e)[0] == 1", "self.distinct() == self", "self.distinct().size() == self.size()", "[self, self].flatten() == self", "[[self]].flatten(2) == self", "[[1, 2], [3]].flatten() == self",
    "self.reverse() == self", "self.slice(0, 1) == self", "self.slice(0) == self", "lists.range(5) == self", "self.first().orValue(0) == 1", "self.last().hasValue()", "self.first() == 1", "sets.contains(self, [1])", "sets.equivalent(self, self)", "sets.intersects(self, self)",
    "self.unique() == self", "self.isSorted()", "self.sum() == 3", "self.min() == 1", "self.max() == 1", "self.indexOf(1) == 0", "self.lastIndexOf(1) == 0", "math.greatest(self) == 1", "math.least(1, 2) == 1", "math.abs(-1) == 1", "base64.encode(b'a') == 'x'", "base64.decode('a') == b'x'",
    "regex.replace('a', 'b', 'c') == 'c'", "self.all(i, v, v > i)", "self.exists(i, v, v > i)", "self.existsOne(i, v, v > i)", "self.transformList(i, v, v + i) == self", "self.transformMap(i, v, v) == {0: 1}", "self.transformMapEntry(i, v, {v: i}) == {1: 0}", "cel.bind(x, self, x.size() == 1)",
    "self.map(x, x > 1, x * 2) == self", "self.filter(x, x > 1).size() == 1", "self + self == self", "1 in self", "self[0] == 1", "'abc'.reverse() == 'cba'", "'%s'.format(self) == 'x'", "self.join() == 'x'", "['b', 'a'].sort() == ['a', 'b']")


@scenario("more/lists in rules")
def lists(s):
    group = s.ns + ".example.com"
    for bound in ({}, {"maxItems": 10}):
        for rule in LIST_RULES:
            numbers = {"type": "array", "items": {"type": "integer"}, **bound, "x-kubernetes-validations": [{"rule": rule}]}
            base = crd(group, schema={"type": "object", "properties": {"spec": {"type": "object", "properties": {"a": numbers}}}})
            s.post(f"{CRDS}?dryRun=All&fieldValidation=Strict", base, label=f"{rule} {bound or ''}", view=lambda a: a.obj if a.status != 201 else None)


def wait_strict(s, path, body, status):
    """Upstream takes a changed schema shortly after the definition was written."""
    for _ in range(100):
        if s.quietly("POST", path + "?dryRun=All", body).status == status:
            return
        time.sleep(0.1)


def outcome(answer):
    """What is wrong, sorted: upstream goes through the members of an object in the order of a Go map."""
    return sorted(f"{c['field']}: {c['message']}" for c in answer.get("details", "causes", default=[]))


@scenario("more/ratcheting")
def ratcheting(s):
    s.namespace()
    group = s.ns + ".example.com"
    text, number = {"type": "string"}, {"type": "integer"}

    def schema(strict):
        name = {**text, "maxLength": 3} if strict else text
        size = {**number, "maximum": 5} if strict else number
        room = {"type": "object", "required": ["name"], "properties": {"name": text, "note": name, "size": size}}
        keyed = {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"], "items": room}
        if strict:
            keyed["maxItems"] = 3
        ruled = {"x-kubernetes-validations": [{"rule": "self.size() < 3", "message": "too long"}]} if strict else {}
        spec = {"type": "object", "properties": {
            "keyed": keyed, "atomic": {"type": "array", "x-kubernetes-list-type": "atomic", "items": name}, "plain": {"type": "array", "items": name}, "set": {"type": "array", "x-kubernetes-list-type": "set", "items": name},
            "map": {"type": "object", "additionalProperties": name}, "one": name, "other": name, "word": {**text, **({"enum": ["a", "b"]} if strict else {})}, "rule": {**text, **ruled}, "whole": {"type": "object", "x-kubernetes-map-type": "atomic", "properties": {"x": name, "y": name}},
            "needs": {"type": "object", **({"required": ["r"]} if strict else {}), "properties": {"r": text, "q": text}}, "free": number}}
        return {"type": "object", "properties": {"spec": spec}}
    s.quietly("POST", CRDS, crd(group, schema=schema(False)))
    mice = f"/apis/{group}/v1/namespaces/{{ns}}/mice"
    wait_served(s, mice)
    mouse = {"apiVersion": group + "/v1", "kind": "Mouse", "metadata": {"name": "m"}}
    long = "longer"
    spec = {"keyed": [{"name": n, "note": long, "size": 9} for n in ("a", "b", "c", "d")], "atomic": [long, "ok"], "plain": [long, "ok"], "set": [long, "ok"], "map": {"k": long, "j": "ok"}, "one": long, "other": "ok", "word": "z", "rule": long, "whole": {"x": long, "y": "ok"}, "needs": {"q": "x"}, "free": 1}
    made = s.quietly("POST", mice, {**mouse, "spec": spec}).obj
    definition = s.quietly("GET", f"{CRDS}/mice.{group}").obj
    definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = schema(True)
    s.quietly("PUT", f"{CRDS}/mice.{group}", definition)
    wait_strict(s, mice, {**mouse, "metadata": {"name": "probe"}, "spec": {"one": long}}, 422)
    # In no order of their own: upstream's is that of a Go map.
    s.post(mice + "?dryRun=All", {**mouse, "metadata": {"name": "new"}, "spec": spec}, label="all of it anew", view=outcome)
    rooms = spec["keyed"]
    a, b, c, d = rooms
    for label, change in [
        ("nothing", {}), ("something else", {"free": 2}), ("reordered rooms", {"keyed": [d, c, b, a]}), ("one room less", {"keyed": [a, b, c]}), ("three reordered", {"keyed": [c, a, b]}), ("a room more", {"keyed": rooms + [{"name": "e", "size": 1}]}), ("a bad room more", {"keyed": rooms + [{"name": "e", "size": 8}]}),
        ("a changed key", {"keyed": [{**a, "name": "z"}, b, c, d]}), ("changed keys, three", {"keyed": [{**a, "name": "z"}, b, c]}), ("swapped keys", {"keyed": [{**a, "name": "b"}, {**b, "name": "a"}, c, d]}), ("a changed size", {"keyed": [{**a, "size": 8}, b, c, d]}), ("a changed size, three", {"keyed": [{**a, "size": 8}, b, c]}),
        ("a changed note", {"keyed": [{**a, "note": "also long"}, b, c]}), ("a good note", {"keyed": [{**a, "note": "ok"}, b, c]}), ("reordered and changed", {"keyed": [c, {**a, "size": 7}, b]}), ("twice the same", {"keyed": [a, a, b]}), ("no rooms", {"keyed": []}),
        ("reordered atomic", {"atomic": ["ok", long]}), ("longer atomic", {"atomic": [long, "ok", "x"]}), ("reordered plain", {"plain": ["ok", long]}), ("longer plain", {"plain": [long, "ok", "x"]}), ("reordered set", {"set": ["ok", long]}), ("longer set", {"set": [long, "ok", "x"]}), ("set with a bad one", {"set": [long, "ok", "very long"]}),
        ("changed map", {"map": {"k": long, "j": "x"}}), ("moved in map", {"map": {"j": long, "k": "ok"}}), ("added to map", {"map": {"k": long, "j": "ok", "l": "y"}}), ("added bad to map", {"map": {"k": long, "j": "ok", "l": long}}), ("one", {"one": "another"}), ("other takes the same", {"other": long}),
        ("word", {"word": "y"}), ("good word", {"word": "a"}), ("rule", {"rule": "another"}), ("whole", {"whole": {"x": long, "y": "x"}}), ("whole bad", {"whole": {"x": "another", "y": "ok"}}), ("needs", {"needs": {"q": "y"}}), ("needs with", {"needs": {"q": "y", "r": "z"}}), ("needs empty", {"needs": {}})]:
        s.put(mice + "/m?dryRun=All", {**mouse, "metadata": made["metadata"], "spec": {**spec, **change}}, label="put " + label, view=outcome)
        s.patch(mice + "/m?dryRun=All", {"spec": change}, label="merge " + label, view=outcome)
        s.patch(mice + "/m?dryRun=All&fieldManager=x&force=true", json.dumps({**mouse, "spec": change}), ct=APPLY, label="apply " + label, view=outcome)


YAML_BODIES = {
    "two unknown": "metadata: {name: m}\nzeta: 1\nalpha: 2\n",
    "unknown and twice": "metadata: {name: m}\nextra: 1\ndata: {k: v}\ndata: {k: w}\n",
    "twice and unknown": "metadata: {name: m, name: n}\ndata: {k: v, k: w}\nextra: 1\nmore: {a: 1, a: 2}\n",
    "three times": "metadata: {name: m}\ndata: {k: v}\ndata: {k: w}\ndata: {k: x}\n",
    "deep": "metadata: {name: m, labels: {a: b, a: c}, odd: 1}\nbinaryData: {}\nbinaryData: {}\nodd: 1\n",
    "twice below unknown": "metadata: {name: m}\nodd: {x: {y: 1, y: 2}}\n",
    "in a list": "metadata: {name: m, ownerReferences: [{apiVersion: v1, kind: Pod, name: p, uid: u, odd: 1, name: q}]}\n",
    "case": "metadata: {name: m}\nData: {k: v}\ndata: {k: w}\n",
}


@scenario("more/mistakes of yaml")
def mistakes(s):
    s.namespace()
    maps = "/api/v1/namespaces/{ns}/configmaps"
    for label, body in YAML_BODIES.items():
        whole = "apiVersion: v1\nkind: ConfigMap\n" + body
        for how in ("Strict", "Warn"):
            s.post(f"{maps}?dryRun=All&fieldValidation={how}", whole, ct="application/yaml", label=f"{label} {how}")
            s.patch(f"{maps}/m?dryRun=All&fieldManager=x&fieldValidation={how}", whole, ct=APPLY, label=f"apply {label} {how}")


@scenario("more/checked types")
def checked(s):
    path = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
    name = s.ns + "-p"
    rule = {"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["*"], "resources": ["deployments"]}
    s.quietly("POST", path, {"metadata": {"name": name}, "spec": {"matchConstraints": {"resourceRules": [rule]}, "validations": [{"expression": "true"}]}})
    status = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy", "metadata": {"name": name}, "status": {"observedGeneration": 1, "typeChecking": {}}}
    answer = s.patch(f"{path}/{name}/status?fieldManager=validating-admission-policy-controller&force=true", json.dumps(status), ct=APPLY, label="without warnings", view=lambda a: a.get("status"))
    s.note("what is stored", answer, view=lambda a: s.quietly("GET", f"{path}/{name}").get("status"))
    s.quietly("DELETE", f"{path}/{name}")
