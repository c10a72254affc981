# SPDX-License-Identifier: Apache-2.0
"""What one request may cost: bodies of 3 MB in the worst shapes, to every kind that the server has and to custom ones.

The fields of kinds and what those hold come from OpenAPI, so a new field is tried without a word here. Each that can hold
much is filled with as much as fits: maps with keys, lists with items that differ and that do not, strings. What the server
answers does not matter, as long as it answers; what counts is the CPU time of its process, and its memory.

All fields of all kinds are some 2,000 requests, so of those that are not known to be bad some are drawn, always the same:
TEST_SEED=N draws others, COSTS=all tries every one, COSTS=2/10 the second of ten parts, COSTS_LOG=FILE tells what each took.
"""
import copy
import functools
import http.client
import json
import os
import random
import struct
import sys

import pytest

from conftest import ROOT, Server, wait_for
from test_http_attacks import MAPS, PREFACE, dial, frame, get, pss_mib

sys.path.insert(0, str(ROOT / "test/differential"))
import kinds  # noqa: E402

pytestmark = pytest.mark.long
BODY = 3 * 1024 * 1024 - 4096
CPU_S = 0.5 * float(os.environ.get("COSTS_SCALE", "1.6"))  # as long on a machine that others use; CPU time knows of caches
PEAK_MIB = 128
SHARED_MIB = 24  # pages of the program and its libraries are in VmHWM and are no memory of the server's own
DRAWN = 40
http.client._MAXHEADERS = 1000
TICK_S = 1 / os.sysconf("SC_CLK_TCK")


class Meter:
    """CPU time and peak memory of the server's process around a request."""

    def __init__(self, server):
        self.server, self.pid = server, server.process.pid
        self.connection = server.connect()
        self.connection.timeout = 120
        self.found = []

    def cpu_s(self):
        with open(f"/proc/{self.pid}/stat") as f:
            fields = f.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) * TICK_S

    def peak_mib(self):
        with open(f"/proc/{self.pid}/status") as f:
            return next(int(line.split()[1]) for line in f if line.startswith("VmHWM:")) / 1024

    def forget_peak(self):
        with open(f"/proc/{self.pid}/clear_refs", "w") as f:
            f.write("5")

    def settle(self):
        """What the request before held has been given back once others have been answered."""
        for _ in range(3):
            self.server.ask("GET", "/version", connection=self.connection)

    def ask(self, what, method, path, body, content_type="application/json", **headers):
        """The answer; what cost too much is noted."""
        if isinstance(body, (dict, list)):
            body = json.dumps(body, separators=(",", ":"))
        self.settle()
        self.forget_peak()
        before = self.cpu_s()
        try:
            answer = self.server.ask(method, path, body, connection=self.connection, Content_Type=content_type, **headers)
            status = answer.status
        except (http.client.HTTPException, OSError) as e:
            self.connection.close()
            answer, status = None, repr(e)
        cpu, peak = self.cpu_s() - before, self.peak_mib()
        if os.environ.get("COSTS_LOG"):
            with open(os.environ["COSTS_LOG"], "a") as f:
                head = answer.body[:150] if answer else b""
                f.write(f"{cpu:.2f} {peak:.0f} {status} {len(body or ())} {what}  {head!r}\n")
        if cpu >= CPU_S or peak >= PEAK_MIB + SHARED_MIB or answer is None:
            self.found.append(f"{what}: {status}, {cpu:.2f} s, {peak:.0f} MiB")
        return answer


# ---- what fits into a field

def minimal(doc, schema, depth=0, salt=""):
    """Something small that the schema takes; salt makes texts differ."""
    schema = resolve(doc, schema)
    kind = schema.get("type")
    if "enum" in schema:
        return schema["enum"][0]
    if kind == "object" or "properties" in schema:
        if depth > 6:
            return {}
        wanted = list(schema.get("required", []))
        for name in ("name", "key", "type"):
            if name in schema.get("properties", {}) and name not in wanted and depth < 2:
                wanted.append(name)
        return {n: minimal(doc, schema["properties"][n], depth + 1, salt) for n in wanted if n in schema.get("properties", {})}
    if kind == "array":
        return []
    if kind in ("integer", "number"):
        return 1
    if kind == "boolean":
        return True
    if schema.get("format") == "date-time":
        return "2026-01-02T03:04:05Z"
    if schema.get("format") in ("quantity", "int-or-string"):
        return "1"
    return "a" + salt


def resolve(doc, schema):
    for _ in range(10):
        if "$ref" in schema:
            schema = doc["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
        elif len(schema.get("allOf", [])) == 1:
            schema = {**schema, **schema["allOf"][0]}
            del schema["allOf"]
        else:
            break
    if "Quantity" in str(schema.get("oneOf", "")) or schema.get("oneOf"):
        return {"type": "string", "format": "quantity"}
    return schema


def reference(schema):
    if "$ref" in schema:
        return schema["$ref"]
    return schema["allOf"][0].get("$ref") if len(schema.get("allOf", [])) == 1 else None


def text(v):
    return json.dumps(v, separators=(",", ":"))


def many(open_, close, item, room):
    """item(i) as often as fits."""
    parts, n, i = [], room - 2, 0
    while n > 0:
        part = item(i)
        parts.append(part)
        n -= len(part) + 1
        i += 1
    return open_ + ",".join(parts[:-1]) + close


def shapes(doc, schema, room):
    """(name, text) of what fills a field; nothing for one that cannot hold much."""
    schema = resolve(doc, schema)
    kind = schema.get("type")
    if kind == "object" and "properties" not in schema:
        value = text(minimal(doc, schema.get("additionalProperties", {"type": "string"})))
        yield "keys", many("{", "}", lambda i: f'"{i:x}":{value}', room)
    elif kind == "array":
        item = resolve(doc, schema["items"])
        same = text(minimal(doc, item))
        sample = text(minimal(doc, item, salt="%x"))
        yield "same", many("[", "]", lambda i: same, room)
        if "%x" in sample:
            yield "distinct", many("[", "]", lambda i: sample.replace("%x", f"{i:x}"), room)
        if item.get("type") == "object" and "properties" in item and sample != "{}":
            yield "empty", "[" + "{}," * ((room - 4) // 3) + "{}]"
        if item.get("type") == "integer":
            yield "numbers", many("[", "]", str, room)
    elif kind == "string" and not schema.get("format"):
        yield "long", '"' + "a" * (room - 2) + '"'
        yield "commas", '"' + "a," * ((room - 2) // 2) + '"'


HOLE = "\0hole"


def fields(doc, schema, base, seen, at=()):
    """(path, schema) of every field that may hold much, those of a type once in all."""
    schema = resolve(doc, schema)
    for name, sub in schema.get("properties", {}).items():
        if at == () and name in ("apiVersion", "kind", "metadata"):
            continue
        yield (*at, name), sub
        sub_schema = resolve(doc, sub)
        ref, step = reference(sub), ()
        if sub_schema.get("type") == "array":
            ref, step = reference(sub_schema["items"]), (0,)
            sub_schema = resolve(doc, sub_schema["items"])
        if ref and ref not in seen and "properties" in sub_schema:
            seen.add(ref)
            yield from fields(doc, sub_schema, base, seen, (*at, name, *step))


def with_hole(doc, schema, base, path):
    """A copy of base in which the field is to be filled, as JSON with HOLE for its value."""
    out = copy.deepcopy(base)
    at = out
    for i, step in enumerate(path):
        schema = resolve(doc, schema)
        schema = schema["items"] if step == 0 else schema["properties"][step]
        if i + 1 == len(path):
            at[step] = HOLE
            break
        if step == 0:
            if not at:
                at.append(minimal(doc, schema))
            at = at[0]
        else:
            if not at.get(step):
                at[step] = [] if path[i + 1] == 0 else minimal(doc, schema)
            at = at[step]
    return json.dumps(out, separators=(",", ":"))


METADATA = [
    ("ownerReferences", lambda i: f'{{"apiVersion":"v1","kind":"a","name":"a","uid":"{i:x}"}}', "[]"),
    ("ownerReferences", lambda i: '{"apiVersion":"v1","kind":"a","name":"a","uid":"a"}', "[]"),
    ("finalizers", lambda i: f'"a/{i:x}"', "[]"),
    ("finalizers", lambda i: '"a/b"', "[]"),
    ("labels", lambda i: f'"{i:x}":""', "{}"),
    ("labels", lambda i: '"a":""', "{}"),
    ("annotations", lambda i: f'"{i:x}":""', "{}"),
    ("managedFields", lambda i: f'{{"manager":"{i:x}","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{{"f:a":{{}}}}}}', "[]"),
    ("managedFields", lambda i: "{}", "[]"),
    ("unknown", lambda i: f'"{i:x}":""', "{}"),
    ("name", None, ""), ("generateName", None, ""), ("namespace", None, ""), ("creationTimestamp", None, ""),
]


BASE_MAX = 8192  # of an object without what fills it
ROOM = BODY - BASE_MAX
DEEP = 505


@functools.cache
def fills_of_metadata():
    """The same for every kind: making 3 MB here takes longer than serving them."""
    return [many(brackets[0], brackets[1], item, ROOM) if item else '"' + "a" * ROOM + '"' for _, item, brackets in METADATA]


@functools.cache
def fills_of_unknown():
    again = many("", "", lambda i: '"x":1', ROOM - DEEP * 8)
    return {
        "unknown members": "," + many("", "", lambda i: f'"x{i:x}":1', ROOM) + "}",
        "one member again and again": "," + many("", "", lambda i: '"x":1', ROOM) + "}",
        "deep, then one member again and again": ',"x":' + '{"x":' * DEEP + "{" + again + "}" + "}" * DEEP + "}",
        "too deep": ',"x":' + "[" * (ROOM - 8)}


def bodies_of_metadata(base):
    assert len(json.dumps(base)) < BASE_MAX
    for (name, item, _), fill in zip(METADATA, fills_of_metadata()):
        whole = copy.deepcopy(base)
        whole["metadata"][name] = HOLE
        whole = json.dumps(whole, separators=(",", ":"))
        yield f"metadata.{name} {item(1) if item else 'long'}", whole.replace(json.dumps(HOLE), fill)
    whole = json.dumps(base, separators=(",", ":"))
    for what, fill in fills_of_unknown().items():
        yield what, whole[:-1] + fill


def base_object(row):
    path, _, kind, namespaced, extra, _ = row
    if extra is None:
        extra = {"spec": {}}
    extra = json.loads(json.dumps(extra).replace("{ns}", "default"))
    meta = {"name": "cost", **extra.pop("metadata", {})}
    if namespaced:
        meta["namespace"] = "default"
    return {"apiVersion": kinds.api_version(path), "kind": kind, "metadata": meta, **extra}


def collection(row):
    return f"{row[0]}/namespaces/default/{row[1]}" if row[3] else f"{row[0]}/{row[1]}"


def api_documents(server):
    """Path of a group version -> its OpenAPI document."""
    paths = server.get("/openapi/v3").json()["paths"]
    return {"/" + name: server.get(where["serverRelativeURL"]).json() for name, where in paths.items()}


def schema_of(doc, api_version, kind):
    group, _, version = api_version.rpartition("/")
    wanted = {"group": group, "version": version, "kind": kind}
    return next((s for s in doc["components"]["schemas"].values() if wanted in s.get("x-kubernetes-group-version-kind", [])
                 and "properties" in s), None)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    one = Server(tmp_path_factory.mktemp("costs") / "data")
    yield one
    assert one.stop() == 0


@pytest.fixture
def meter(server):
    one = Meter(server)
    yield one
    one.connection.close()
    assert not one.found, "\n" + "\n".join(one.found)


def seed():
    given = os.environ.get("TEST_SEED")
    chosen = int(given) if given else 167711519
    print(f"TEST_SEED={chosen}")
    return chosen


def test_metadata_of_the_worst_shapes(meter):
    row = next(r for r in kinds.KINDS if r[1] == "configmaps")
    for what, body in bodies_of_metadata(base_object(row)):
        meter.ask(what, "POST", collection(row) + "?dryRun=All", body)


def test_every_kind_with_references_and_labels(meter):
    """Few bytes of its own, so that the kind's own work is seen too."""
    for row in kinds.KINDS:
        for what, body in bodies_of_metadata(base_object(row)):
            if what.startswith(("metadata.ownerReferences", "unknown members")) and "a\"}" not in what:
                meter.ask(f"{row[1]} {what}", "POST", collection(row) + "?dryRun=All", body)


def all_fields(server):
    documents, seen = api_documents(server), set()
    for row in kinds.KINDS:
        doc, base = documents[row[0]], base_object(row)
        schema = schema_of(doc, base["apiVersion"], base["kind"])
        for path, sub in fields(doc, schema, base, seen):
            yield row, doc, with_hole(doc, schema, base, path), path, sub


def chosen_of(every):
    wanted = os.environ.get("COSTS")
    if not wanted:
        return random.Random(seed()).sample(every, DRAWN)
    part, parts = (1, 1) if wanted == "all" else map(int, wanted.split("/"))
    return every[part - 1::parts]


def test_fields_of_every_kind(server, meter):
    every = list(all_fields(server))
    assert len(every) > 500
    chosen = chosen_of(every)
    for row, doc, whole, path, sub in chosen:
        for what, fill in shapes(doc, sub, BODY - len(whole)):
            meter.ask(f"{row[1]} {'.'.join(map(str, path))} {what}", "POST", collection(row) + "?dryRun=All",
                      whole.replace(json.dumps(HOLE), fill))


def entries(n, value='""'):
    return "{" + ",".join(f'"{i:x}":{value}' for i in range(n)) + "}"


def test_what_was_quadratic(server, meter):
    """Each of these took seconds to minutes once."""
    clear = entries(BODY // 24)
    secret = f'{{"metadata":{{"name":"s"}},"stringData":{clear},"data":{clear}}}'
    meter.ask("stringData and data", "POST", "/api/v1/namespaces/default/secrets", secret)
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    server.create("/api/v1/namespaces/default/pods", pod)
    notes = entries(BODY // 12)
    meter.ask("annotations of a binding", "POST", "/api/v1/namespaces/default/pods/p/binding",
              f'{{"metadata":{{"name":"p","annotations":{notes}}},"target":{{"name":"n"}}}}')
    subject = '{"kind":"User","name":"u","apiGroup":"rbac.authorization.k8s.io"}'
    binding = (f'{{"metadata":{{"name":"b"}},"roleRef":{{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"r"}},'
               f'"subjects":[{",".join([subject] * (BODY // 70))}]}}')
    bindings = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings"
    assert meter.ask("equal subjects", "POST", bindings, binding).status == 201
    meter.ask("delete of equal subjects", "DELETE", bindings + "/b", None)
    amounts = entries(BODY // 30, '"1"')
    pod["metadata"]["name"] = "q"
    pod["spec"]["containers"][0]["resources"] = {"limits": HOLE, "requests": HOLE}
    meter.ask("limits", "POST", "/api/v1/namespaces/default/pods", json.dumps(pod).replace(json.dumps(HOLE), amounts))
    values = ",".join(f'"{i:x}"' for i in range(BODY // 9))
    terms = f'[{{"matchLabelExpressions":[{{"key":"k","values":[{values}]}}]}}]'
    meter.ask("topology values", "POST", "/apis/storage.k8s.io/v1/storageclasses",
              f'{{"metadata":{{"name":"s"}},"provisioner":"p","allowedTopologies":{terms}}}')
    pod["spec"] = {"containers": [{"name": "c", "image": "i"}], "volumes": [{"name": "v", "quobyte": {"registry": HOLE, "volume": "v"}}]}
    meter.ask("a complaint that shows the whole value, again and again", "POST", "/api/v1/namespaces/default/pods",
              json.dumps(pod).replace(json.dumps(HOLE), f'"{"," * (BODY - 4096)}"'))


def test_variables_of_a_policy_are_bounded(meter):
    for what, expression in (("valid", "1"), ("invalid", "(")):
        variables = ",".join(f'{{"name":"v{i:x}","expression":"{expression}"}}' for i in range(BODY // 38))
        answer = meter.ask(f"{what} variables", "POST", "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies",
                           f'{{"metadata":{{"name":"p"}},"spec":{{"variables":[{variables}],"validations":[{{"expression":"true"}}]}}}}')
        assert answer.status in (413, 422), answer.body[:300]


def test_policies_share_the_bound_of_their_request(server, meter):
    """Each may cost much; all that look at one object may not cost that much together."""
    group = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolic"
    server.create(group + "ies", {"metadata": {"name": "dear"}, "spec": {
        "failurePolicy": "Ignore", "validations": [{"expression": "object.data.all(k, object.data.all(j, j != ''))"}] * 9,
        "matchConstraints": {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}]}}})
    for i in range(20):
        server.create(group + "ybindings", {"metadata": {"name": f"b{i}"}, "spec": {"policyName": "dear", "validationActions": ["Deny"]}})
    small = {"metadata": {"name": "small"}, "data": {f"k{i}": "" for i in range(10)}}
    assert server.ask("POST", "/api/v1/namespaces/default/configmaps", small).status == 201
    large = {"metadata": {"name": "large"}, "data": {f"k{i}": "" for i in range(500)}}
    answer = meter.ask("20 dear policies", "POST", "/api/v1/namespaces/default/configmaps", large)
    for i in range(20):  # the server is that of the other tests, too
        assert server.ask("DELETE", group + f"ybindings/b{i}").status == 200
    assert server.ask("DELETE", group + "ies/dear").status == 200
    assert answer.status == 413, answer.body[:300]


def test_defaults_are_bounded(meter):
    """Small in the request and large with what is absent: 413, and the server goes on."""
    pod = '{"metadata":{"name":"p"},"spec":{"containers":[' + ",".join(['{"name":"a"}'] * (BODY // 13)) + "]}}"
    ports = '{"metadata":{"name":"s"},"spec":{"ports":[' + ",".join(['{"port":1}'] * (BODY // 12)) + "]}}"
    for what, body in (("pods", pod), ("services", ports)):
        answer = meter.ask(f"defaults of {what}", "POST", f"/api/v1/namespaces/default/{what}", body)
        assert answer.status == 413, answer.body[:300]


def test_patches(server, meter):
    data = entries(40000)
    path = "/api/v1/namespaces/default/configmaps/patched"
    made = meter.ask("create", "POST", "/api/v1/namespaces/default/configmaps", f'{{"metadata":{{"name":"patched"}},"data":{data}}}')
    assert made.status == 201
    for kind in ("merge-patch", "strategic-merge-patch"):
        new = "{" + ",".join(f'"n{i:x}":""' for i in range(7700)) + "}"
        done = meter.ask(f"{kind} of new members", "PATCH", path, f'{{"data":{new}}}', f"application/{kind}+json")
        assert done.status == 200, done.body
        meter.ask(f"{kind} of all members", "PATCH", path + "?dryRun=All", f'{{"data":{data}}}', f"application/{kind}+json")
        gone = entries(40000, "null")
        meter.ask(f"{kind} that deletes", "PATCH", path + "?dryRun=All", f'{{"data":{gone}}}', f"application/{kind}+json")
    ops = [{"op": "replace", "path": f"/data/{i:x}", "value": "w"} for i in range(10000)]
    assert meter.ask("json-patch", "PATCH", path + "?dryRun=All", ops, "application/json-patch+json").status == 200
    ops = [{"op": "add", "path": f"/data/k{i:x}", "value": 1} for i in range(10000)]
    meter.ask("json-patch whose result is wrong", "PATCH", path + "?dryRun=All", ops, "application/json-patch+json")
    meter.ask("apply", "PATCH", path + "?dryRun=All&fieldManager=m&force=true",
              f'{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"patched"}},"data":{data}}}', "application/apply-patch+yaml")
    body = server.get(path).json()
    body["data"] = {f"m{i:x}": "" for i in range(40000)}
    meter.ask("update", "PUT", path, body)
    same = "[" + ",".join(['"a/b"'] * 100000) + "]"
    meter.ask("strategic list", "PATCH", path + "?dryRun=All", f'{{"metadata":{{"finalizers":{same}}}}}',
              "application/strategic-merge-patch+json")
    keys = "[" + ",".join(f'"{i:x}"' for i in range(100000)) + "]"
    meter.ask("retain keys", "PATCH", path + "?dryRun=All", f'{{"data":{{"$retainKeys":{keys},{entries(40000)[1:]}}}',
              "application/strategic-merge-patch+json")


def test_strategic_lists(server, meter):
    """Merging lists by key costs the square of their length; many of them in one patch share one budget."""
    def pod(first):
        env = [[{"name": f"e{k}", "value": first} for k in range(2000)] for _ in range(20)]
        env = [list(reversed(e)) if first else e for e in env]
        return {"metadata": {"name": "lists"}, "spec": {"containers": [
            {"name": f"c{i}", "image": "i", "env": e} for i, e in enumerate(env)]}}
    pods = "/api/v1/namespaces/default/pods"
    assert meter.ask("create", "POST", pods, pod("")).status == 201
    answer = meter.ask("lists in another order", "PATCH", pods + "/lists", pod("v"), "application/strategic-merge-patch+json")
    assert answer.status == 413 and b"patching the object takes more time than one request may" in answer.body, answer.body
    orders = "{" + ",".join(f'"$setElementOrder/{i:x}":[]' for i in range(50000)) + "," + entries(100000)[1:]
    made = server.create("/api/v1/namespaces/default/configmaps", {"metadata": {"name": "orders"}})
    meter.ask("orders of many lists", "PATCH", f"/api/v1/namespaces/default/configmaps/{made['metadata']['name']}?dryRun=All",
              f'{{"data":{orders}}}', "application/strategic-merge-patch+json")


COLUMNS = [".spec.l[*].nothing", ".spec..l..nothing", '.spec.l[?(@..nothing=="a")].x', ".spec.l[100000:]"]


@pytest.mark.parametrize("path", COLUMNS)
def test_columns_of_tables(server, meter, path):
    """Each column of a definition may walk the whole object; all of one answer share one budget."""
    plural = f"columns{COLUMNS.index(path)}"
    name = f"{plural}.cost.example.com"
    server.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
        "metadata": {"name": name},
        "spec": {"group": "cost.example.com", "scope": "Namespaced",
                 "names": {"plural": plural, "kind": plural.capitalize(), "singular": plural, "listKind": plural + "list"},
                 "versions": [{"name": "v1", "served": True, "storage": True,
                               "additionalPrinterColumns": [{"name": f"c{i}", "type": "string", "jsonPath": path} for i in range(1000)],
                               "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                                   "spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}}}]}})
    resources = f"/apis/cost.example.com/v1/namespaces/default/{plural}"
    server.create(resources, f'{{"apiVersion":"cost.example.com/v1","kind":"{plural.capitalize()}","metadata":{{"name":"a"}},'
                             f'"spec":{{"l":[{",".join(["{}"] * 130000)}]}}}}')
    watch = server.watch(f"{resources}?watch=1&resourceVersion=0", Accept=TABLE)
    for what in (resources, resources + "/a"):
        answer = meter.ask(f"table {path} {what}", "GET", what, None, Accept=TABLE)
        assert answer.status in (200, 413), answer.body
        assert answer.status == 200 or b"evaluating the JSONPath of columns or fields takes" in answer.body
    patch = meter.ask(f"event {path}", "PATCH", resources + "/a", {"metadata": {"labels": {"a": "b"}}}, "application/merge-patch+json")
    assert patch.status == 200
    assert watch.next()["type"] in ("ADDED", "ERROR")
    watch.close()


TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


def test_selectors_of_many_requirements(server, meter):
    """What a list may take grows with what it reads, not with what its selector asks of each object."""
    labels = {f"l{i}": "v" for i in range(20)}
    connection = server.connect()
    for i in range(3000):
        body = {"metadata": {"name": f"s{i}", "labels": labels}}
        assert server.ask("POST", "/api/v1/namespaces/default/secrets", body, connection=connection).status == 201
    connection.close()
    secrets = "/api/v1/namespaces/default/secrets?limit=100000&labelSelector="
    assert len(meter.ask("list", "GET", secrets + "l1%3Dv,l19!%3Da", None).json()["items"]) == 3000
    many = ",".join(f"l{i % 20}%20notin%20({','.join(f'{k}' for k in range(100, 160))})" for i in range(40))
    assert meter.ask("list of many values", "GET", secrets + many, None).status == 200


def test_watches_share_a_bound_on_requirements(server):
    """Each event is matched with the selectors of all watches; long selectors are counted over all of them."""
    maps = "/api/v1/namespaces/default/configmaps?watch=1&resourceVersion=0&labelSelector="
    server.create("/api/v1/namespaces/default/configmaps", f'{{"metadata":{{"name":"zz-large"}},"data":{entries(60000)}}}')
    many = ",".join(f"a!%3D{i}" for i in range(1000))
    held, status = [], 200
    while status == 200 and len(held) <= 51:
        connection = server.connect()
        connection.request("GET", maps + many, headers=server.headers())
        status = connection.getresponse().status
        held.append(connection)
    assert status == 429 and len(held) == 51
    assert pss_mib(server) < PEAK_MIB  # a watch holds no tree of what it has sent
    plain = server.watch("/api/v1/namespaces/default/configmaps?watch=1&resourceVersion=0&labelSelector=a%3Db")
    plain.close()
    for connection in held:
        connection.close()


def test_yaml(server, meter):
    head = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: why\ndata:\n"
    repeated = "".join(f"  Z{i}: v\n" for i in range(100)) * 2
    line = "    a\n"
    room = BODY - len(head) - len(repeated)
    bodies = {
        "repeated keys and a long text": head + repeated + "  t: |\n" + line * (room // len(line) - 2),
        "keys": head + many("", "", lambda i: f"  k{i:x}: v\n", room).replace(",", ""),
        "brackets": head + "  a: [" + "b," * (room // 2 - 8) + "]\n",
        "merged": head.replace("data:", "x: &a {b: c}\ndata:") + "  <<: *a\n" * (room // 20),
    }
    for what, body in bodies.items():
        path = "/api/v1/namespaces/default/configmaps"
        meter.ask(f"yaml {what}", "POST", path + "?dryRun=All", body, "application/yaml")
        meter.ask(f"apply {what}", "PATCH", path + "/why?dryRun=All&fieldManager=m", body, "application/apply-patch+yaml")


def define(server, plural, schema):
    name = f"{plural}.cost.example.com"
    server.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
        "metadata": {"name": name},
        "spec": {"group": "cost.example.com", "scope": "Namespaced",
                 "names": {"plural": plural, "kind": plural.capitalize(), "singular": plural, "listKind": plural + "list"},
                 "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {
                     "type": "object", "properties": {"spec": schema}}}}]}})
    return f"/apis/cost.example.com/v1/namespaces/default/{plural}", plural.capitalize()


def list_of(item):
    return {"type": "object", "properties": {"l": {"type": "array", "items": item}}}


TEXT = {"type": "string"}
CUSTOM = {
    "defaults": ({"type": "object", "properties": {f"p{i}": {"type": "integer", "default": 1} for i in range(30000)}}, "{}"),
    "defaultsin": (list_of({"type": "object", "properties": {f"p{i}": {"type": "integer", "default": 1} for i in range(100)}}),
                   ("{}",)),
    "enums": (list_of({**TEXT, "enum": [f"v{i}" for i in range(20)]}), ('"v19"',)),
    "enumslong": (list_of({**TEXT, "enum": [f"v{i}" for i in range(60000)]}), ('"v59999"',)),
    "enumswrong": (list_of({**TEXT, "enum": [f"v{i}" for i in range(200)]}), ('"w"',)),
    "patterns": (list_of({**TEXT, "pattern": "^(a|a)*$"}), ('"' + "a" * 500 + '"',)),
    "choices": (list_of({"type": "integer", "allOf": [{"anyOf": [{"maximum": 0}, {"minimum": i % 2}]} for i in range(500)]}), ("1",)),
    "choiceswrong": (list_of({"type": "integer", "oneOf": [{"maximum": 0}, {"minimum": 5}]}), ("1",)),
    "sets": ({"type": "object", "properties": {"l": {"type": "array", "x-kubernetes-list-type": "set", "items": TEXT}}}, ('"%x"',)),
    "maps": ({"type": "object", "properties": {"l": {
        "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
        "items": {"type": "object", "required": ["k"], "properties": {"k": TEXT}}}}}, ('{"k":"%x"}',)),
    "open": ({"type": "object", "x-kubernetes-preserve-unknown-fields": True}, ("[]",)),
    "rules": ({"type": "object", "properties": {"l": {"type": "array", "maxItems": 10000, "items": {**TEXT, "maxLength": 300}}},
               "x-kubernetes-validations": [{"rule": "self.l.all(x, x.size() < 300)"}]}, ('"' + "a" * 290 + '"',)),
}


@pytest.mark.parametrize("plural", CUSTOM)
def test_custom_resources(server, meter, plural):
    schema, fill = CUSTOM[plural]
    path, kind = define(server, plural, schema)
    head = f'{{"apiVersion":"cost.example.com/v1","kind":"{kind}","metadata":{{"name":"cost"}},"spec":'
    spec = fill if isinstance(fill, str) else \
        '{"l":' + many("[", "]", lambda i: fill[0].replace("%x", f"{i:x}"), BODY - len(head) - 20) + "}"
    first = meter.ask(f"create {plural}", "POST", path, head + spec + "}")
    assert first.status in (201, 413, 422), first.body
    meter.ask(f"apply {plural}", "PATCH", path + "/cost?fieldManager=m&force=true", head + spec + "}", "application/apply-patch+yaml")
    meter.ask(f"patch {plural}", "PATCH", path + "/cost", f'{{"spec":{spec}}}', "application/merge-patch+json")
    if first.status == 201:
        body = first.json()
        body["metadata"].pop("managedFields", None)
        meter.ask(f"update {plural}", "PUT", path + "/cost?dryRun=All", body)


def open_schema(depth):
    """A schema in which any example may stand, `depth` levels down."""
    schema = {"type": "object", "description": HOLE}
    for _ in range(depth):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


def definition(group, schema):
    return json.dumps({
        "metadata": {"name": f"larges.{group}"},
        "spec": {"group": group, "scope": "Cluster", "names": {"plural": "larges", "kind": "Large"}, "versions": [
            {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}]}})


PROTOBUF = "application/com.github.proto-openapi.spec.v{}.v1.0+protobuf"


def read_documents(meter, what, *groups):
    """Statuses of all OpenAPI documents that tell of the groups."""
    paths = ["/openapi/v3", "/openapi/v2"] + [f"/openapi/v3/apis/{g}/v1" for g in groups]
    answers = []
    for path in paths:
        for accept in ("application/json", PROTOBUF.format(path[10])):
            answers.append(meter.ask(f"{what}: {path} as {accept}", "GET", path, None, Accept=accept))
    return answers


def test_documents_of_large_definitions(tmp_path):
    """Made once for all, and what is made is bounded: the definitions' writers pay for the rest. On a server of its own."""
    server = Server(tmp_path / "data")
    meter = Meter(server)
    crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

    def define_with(group, schema, fill=""):
        body = definition(group, schema).replace(json.dumps(HOLE), fill)
        assert server.ask("POST", crds, body, connection=meter.connection).status == 201

    define_with("deep.example.com", open_schema(200), '"' + "d" * (BODY - 20000) + '"')
    assert {a.status for a in read_documents(meter, "deep", "deep.example.com")} == {200}
    assert server.ask("DELETE", crds + "/larges.deep.example.com").status == 200
    for i in range(3):
        values = many('{"type":"integer","enum":[', "]}", str, BODY - 500_000)
        define_with(f"g{i}.example.com", {"type": "object", "properties": {"a": HOLE}}, values)
    answers = read_documents(meter, "enums", "g0.example.com")
    assert [a.status for a in answers] == [200, 200, 413, 413, 200, 200]
    assert "too large for this document" in answers[2].json()["message"]
    assert "/openapi/v3/apis/GROUP/VERSION" in answers[2].json()["message"]
    assert server.ask("GET", "/openapi/v3/api/v1").status == 200
    for i in range(20):  # a change of one definition makes all documents old
        change = {"spec": {"names": {"shortNames": [f"s{i}"]}}}
        assert server.ask("PATCH", crds + "/larges.g0.example.com", json.dumps(change),
                          Content_Type="application/merge-patch+json").status == 200
        answer = server.ask("GET", "/openapi/v3/apis/g1.example.com/v1")
        if answer.status == 429:
            break
    assert answer.status == 429 and answer.headers["retry-after"] == "4"
    wait_for(lambda: server.ask("GET", "/openapi/v3/apis/g1.example.com/v1").status == 200, "there is enough to pay for it again")
    meter.connection.close()
    assert server.stop() == 0
    assert not meter.found, "\n" + "\n".join(meter.found)


def test_lists_that_nobody_reads(tmp_path):
    """Five thousand of 2 MB each, with windows of one byte; the server cuts the client that waits longest."""
    api = Server(tmp_path / "data")
    connection = api.connect()
    for i in range(100):
        body = {"metadata": {"name": f"m{i}"}, "data": {"k": "v" * 20000}}
        assert api.ask("POST", MAPS, body, connection=connection).status == 201
    held, peak = [], 0
    for _ in range(50):
        s = dial(api, "h2")
        s.sendall(PREFACE + frame(4, 0, 0, struct.pack(">HI", 4, 1)) + b"".join(get(api, 1 + 2 * i, MAPS) for i in range(100)))
        held.append(s)
        assert api.ask("GET", "/version", connection=connection).status in (200, 429)  # so many are in flight
        peak = max(peak, pss_mib(api))
    assert peak < PEAK_MIB
    for s in held:
        s.close()
    assert api.stop() == 0


def test_memory_is_given_back(server):
    """After all of the above; what is kept is counted on a quiet machine at 10 to 20 MiB."""
    server.get("/readyz")
    assert pss_mib(server) < PEAK_MIB / 2
