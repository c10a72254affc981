# SPDX-License-Identifier: Apache-2.0
"""The verbs to the letter: lists, watches, patches, apply, deletion, negotiation, and what no resource answers."""
import itertools
import json

from scenario import DELETE, changed, scenario
from session import APPLY, JSON_PATCH, MERGE_PATCH, PARTIAL_LIST, PROTOBUF, STRATEGIC, TABLE, methods_of, schema_shapes

MAPS = "/api/v1/namespaces/{ns}/configmaps"
PODS = "/api/v1/namespaces/{ns}/pods"
DEPLOYMENTS = "/apis/apps/v1/namespaces/{ns}/deployments"


def config_map(name, labels=None, **data):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **({"labels": labels} if labels else {})},
            **({"data": data} if data else {})}


SECRETS = "/api/v1/namespaces/{ns}/secrets"


def item(name, labels=None):
    """A Secret: unlike ConfigMaps, nobody else makes any."""
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, **({"labels": labels} if labels else {})}}


def pod(name, labels=None, **spec):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, **({"labels": labels} if labels else {})},
            "spec": {"automountServiceAccountToken": False, "containers": [{"name": "c", "image": "busybox"}], **spec}}


def deployment(name, **spec):
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "labels": {"app": "x"}},
            "spec": {"selector": {"matchLabels": {"app": "x"}}, **spec,
                     "template": {"metadata": {"labels": {"app": "x"}},
                                  "spec": {"containers": [{"name": "c", "image": "busybox", "ports": [{"containerPort": 80}]}]}}}}


# ------------------------------------------------------------------ lists

@scenario("lists/parameters")
def list_parameters(s):
    s.namespace()
    for i in range(5):
        s.post(SECRETS, item(f"m{i}", {"n": str(i), "odd": str(i % 2)}))
    now = s.get(SECRETS).get("metadata", "resourceVersion", default="1")
    first = s.get(SECRETS + "/m0").get("metadata", "resourceVersion", default="1")
    far = str(int(now) + 100000)
    versions = ["", "0", now, first, far, "abc", "-1"]
    for version, match, limit in itertools.product(versions, ["", "Exact", "NotOlderThan", "Wrong"], ["", "2"]):
        if version == far and match != "Exact":
            continue  # waits three seconds; once is enough, below
        query = "&".join(f"{k}={v}" for k, v in
                         (("resourceVersion", version), ("resourceVersionMatch", match), ("limit", limit)) if v)
        shown = {now: "NOW", first: "FIRST", far: "FAR"}.get(version, version)
        s.get(SECRETS + "?" + query, label=f"version={shown} match={match} limit={limit}")
    s.get(SECRETS + f"?resourceVersion={far}&resourceVersionMatch=NotOlderThan", label="a version in the future")


@scenario("lists/pages")
def list_pages(s):
    s.namespace()
    for i in range(5):
        s.post(SECRETS, item(f"m{i}", {"odd": str(i % 2)}))
    page = s.get(SECRETS + "?limit=2", label="first page")
    s.quietly("DELETE", SECRETS + "/m3")
    s.quietly("POST", SECRETS, item("m9"))
    token = page.get("metadata", "continue", default="none")
    s.get(SECRETS + f"?limit=2&continue={token}&resourceVersion=0", label="continue with version 0")
    s.get(SECRETS + f"?limit=2&continue={token}&resourceVersion=5", label="continue with a version")
    s.get(SECRETS + f"?limit=2&continue={token}&resourceVersion=5&resourceVersionMatch=Exact", label="continue with a match")
    page = s.get(SECRETS + f"?limit=2&continue={token}", label="second page, of the same moment")
    token = page.get("metadata", "continue", default="none")
    s.get(SECRETS + f"?limit=2&continue={token}", label="last page")
    s.get(SECRETS + f"?continue={token}", label="the rest without a limit")
    s.get(SECRETS + "?limit=2&labelSelector=odd%3D0", label="with a selector: no remaining count")
    for bad in ("abc", "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6LTEsInN0YXJ0IjoiIn0", "e30"):
        s.get(SECRETS + f"?limit=2&continue={bad}", label=f"bad continue {bad[:8]}")
    s.get(SECRETS + "?limit=-1", label="negative limit")
    s.get(SECRETS + "?limit=abc", label="limit is no number")
    s.get(SECRETS + "?limit=100000000000000000000", label="huge limit")
    s.get(SECRETS + "?timeoutSeconds=abc", label="timeout is no number")
    s.get(SECRETS + "?unknown=1", label="unknown parameter")
    s.get(SECRETS + "?watch=maybe&timeoutSeconds=1", label="watch=maybe", view=lambda a: None)


@scenario("lists/label selectors")
def label_selectors(s):
    s.namespace()
    for i, labels in enumerate([{"a": "1"}, {"a": "2"}, {"a": "1", "b": "x"}, {"b": "y"}, None]):
        s.quietly("POST", SECRETS, item(f"m{i}", labels))
    for selector in ("a=1", "a==1", "a!=1", "a in (1,2)", "a notin (1)", "a", "!a", "a,b", "a=1,b=x", "a=", "a in ()", "a in (1", "=1",
                     "a>1", "a<2", "a>x", "a gt 1", "a=1=2", ",", "a=1,", "-a=1", "a/b/c=1", "example.com/a=1", "a=" + "x" * 64, "a b",
                     "a in 1", " a = 1 ", "a in (1, 2)", "a=-1", "()", "a!", "metadata.name=m0"):
        s.get(SECRETS, label="none", record=False)
        query = selector.replace(" ", "%20").replace("=", "%3D").replace(">", "%3E").replace("<", "%3C").replace("!", "%21")
        s.get(f"{SECRETS}?labelSelector={query}", label=f"selector '{selector[:30]}'")


@scenario("lists/field selectors")
def field_selectors(s):
    s.namespace()
    s.quietly("POST", PODS, pod("p1", nodeName="n1"))
    s.quietly("POST", PODS, pod("p2", restartPolicy="Never", schedulerName="other"))
    s.quietly("POST", "/api/v1/namespaces/{ns}/secrets", {"metadata": {"name": "s"}, "type": "example.com/t"})
    s.quietly("POST", MAPS, config_map("m"))
    core = "/api/v1/namespaces/{ns}/"
    asked = {
        "pods": ["metadata.name=p1", "metadata.namespace={ns}", "spec.nodeName=n1", "spec.nodeName=", "spec.nodeName!=n1",
                 "spec.restartPolicy=Never", "spec.schedulerName=other", "spec.serviceAccountName=default", "spec.hostNetwork=true",
                 "spec.hostNetwork=false", "status.phase=Pending", "status.phase!=Pending", "status.podIP=", "status.nominatedNodeName=",
                 "spec.containers=x", "metadata.labels=x", "status.phase", "status.phase=a,", "=x", "status.phase==Pending",
                 "metadata.name=p1,spec.nodeName=n1", "metadata.name=p1,spec.nodeName=n2", "metadata.uid=x"],
        "secrets": ["type=example.com/t", "type!=example.com/t", "data=x"],
        "configmaps": ["metadata.name=m", "metadata.name!=m", "data.k=v", "metadata.name=m\\,x"],
        "services": ["spec.clusterIP=None", "spec.type=ClusterIP", "spec.x=y"],
        "events": ["involvedObject.kind=Pod", "involvedObject.name=x", "involvedObject.namespace=x", "involvedObject.uid=x",
                   "involvedObject.apiVersion=v1", "involvedObject.resourceVersion=1", "involvedObject.fieldPath=x", "reason=x",
                   "reportingComponent=x", "source=x", "type=Normal", "message=x"],
        "replicationcontrollers": ["status.replicas=0", "spec.replicas=1"],
    }
    for plural, selectors in asked.items():
        for selector in selectors:
            query = selector.replace("\\", "%5C").replace("=", "%3D").replace("!", "%21")
            s.get(f"{core}{plural}?fieldSelector={query}", label=f"{plural} {selector}")
    for path in ("/api/v1/nodes?fieldSelector=spec.unschedulable%3Dtrue", "/api/v1/nodes?fieldSelector=spec.podCIDR%3Dx",
                 "/api/v1/namespaces?fieldSelector=metadata.name%3D{ns}", "/api/v1/namespaces?fieldSelector=status.phase%3DTerminating",
                 "/apis/apps/v1/namespaces/{ns}/replicasets?fieldSelector=status.replicas%3D0",
                 "/apis/apps/v1/namespaces/{ns}/deployments?fieldSelector=status.replicas%3D0",
                 "/apis/batch/v1/namespaces/{ns}/jobs?fieldSelector=status.successful%3D0",
                 "/apis/events.k8s.io/v1/namespaces/{ns}/events?fieldSelector=regarding.kind%3DPod",
                 "/apis/events.k8s.io/v1/namespaces/{ns}/events?fieldSelector=involvedObject.kind%3DPod",
                 "/apis/certificates.k8s.io/v1/certificatesigningrequests?fieldSelector=spec.signerName%3Dx"):
        s.get(path)


@scenario("lists/negotiation")
def negotiation(s):
    s.namespace()
    s.quietly("POST", SECRETS, item("m"))
    for accept in ("*/*", "application/*", "application/json", "application/yaml", "text/html", "text/plain", PROTOBUF, TABLE, PARTIAL_LIST,
                   "application/json;as=Table;v=v1beta1;g=meta.k8s.io", "application/json;as=Table;v=v9;g=meta.k8s.io",
                   "application/json;as=Other;v=v1;g=meta.k8s.io", "application/json;as=Other;v=v1;g=meta.k8s.io,application/json",
                   "application/yaml;as=Table;v=v1;g=meta.k8s.io", PROTOBUF + ";as=Table;v=v1;g=meta.k8s.io",
                   PROTOBUF + ";as=PartialObjectMetadataList;v=v1;g=meta.k8s.io", "application/json;stream=watch",
                   "application/json;pretty=1", "text/html,application/json;q=0.5", "application/vnd.kubernetes.protobuf,application/json",
                   "application/cbor", "nonsense", "", "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"):
        s.get(SECRETS + "/m", headers={"Accept": accept}, label=f"get {accept}")
        s.get(SECRETS, headers={"Accept": accept}, label=f"list {accept}")
    s.get(SECRETS + "/none", accept="application/yaml", label="not found in yaml")
    s.get(SECRETS + "/none", accept=PROTOBUF, label="not found in protobuf")
    s.get(SECRETS + "/none", accept=TABLE, label="not found as a table")
    s.get(SECRETS + "?pretty=true", label="pretty", view=lambda a: a.raw[:20].decode())
    s.get(SECRETS + "?pretty=true", accept=TABLE)
    s.get(SECRETS, accept=TABLE.replace(",application/json", ""), label="a table without fallback")
    for include in ("None", "Metadata", "Object", "Wrong"):
        s.get(f"{SECRETS}?includeObject={include}", accept=TABLE, label=f"includeObject={include}")
    body = json.dumps(item("n"))
    for i, ct in enumerate(("application/json", "application/json; charset=utf-8", "application/yaml", "text/plain", "application/xml", "",
                            PROTOBUF, "application/cbor", "application/x-www-form-urlencoded", "nonsense")):
        s.post(SECRETS + "?dryRun=All", body, ct=ct or " ", label=f"content type '{ct}'")
    for ct in ("application/json", "application/yaml", "text/plain", JSON_PATCH, MERGE_PATCH, STRATEGIC, APPLY, "application/apply-patch+cbor"):
        s.patch(SECRETS + "/m?dryRun=All", "{}", ct=ct, label=f"patch of {ct}")


# ------------------------------------------------------------------ watches

@scenario("watches/life of objects")
def watch_life(s):
    s.namespace()
    rev = s.get(SECRETS).get("metadata", "resourceVersion")
    made = s.post(SECRETS, item("a", {"l": "1"})).obj
    s.patch(SECRETS + "/a", {"data": {"k": "Mg=="}})
    s.patch(SECRETS + "/a", {"metadata": {"labels": {"l": "2"}}})
    s.patch(SECRETS + "/a", {"metadata": {"labels": {"l": "1"}}})
    s.post(SECRETS, item("b"))
    s.delete(SECRETS + "/a")
    s.events(f"{SECRETS}?watch=1&resourceVersion={rev}", 6, label="all")
    s.events(f"{SECRETS}?watch=1&resourceVersion={rev}&labelSelector=l%3D1", 5, label="with a label selector")
    s.events(f"{SECRETS}?watch=1&resourceVersion={rev}&fieldSelector=metadata.name%3Db", 1, label="with a field selector")
    s.events(f"{SECRETS}?watch=1&resourceVersion={rev}", 6, label="tables", accept=TABLE)
    s.events(f"{SECRETS}?watch=1&resourceVersion={rev}", 6, label="metadata",
             accept="application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io")
    s.events(f"/api/v1/watch/namespaces/{{ns}}/secrets?resourceVersion={rev}", 6, label="by the old path")
    s.events(f"/api/v1/watch/namespaces/{{ns}}/secrets/b?resourceVersion={rev}", 1, label="one object by the old path")
    s.events(f"{SECRETS}?watch=1&resourceVersion=0", 1, label="from 0")
    s.events(f"{SECRETS}?watch=1", 1, label="without a version")
    s.events(f"{SECRETS}?watch=1&timeoutSeconds=1&labelSelector=none", 1, label="timeout")


@scenario("watches/parameters")
def watch_parameters(s):
    s.namespace()
    s.quietly("POST", SECRETS, item("a"))
    now = s.get(SECRETS).get("metadata", "resourceVersion")
    end = "&timeoutSeconds=1"
    for query in ("resourceVersion=1", "resourceVersion=abc", "resourceVersion=-1", "resourceVersionMatch=Exact",
                  "resourceVersionMatch=NotOlderThan", "sendInitialEvents=true", "sendInitialEvents=false",
                  "sendInitialEvents=true&resourceVersionMatch=Exact", "sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
                  "sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion=" + now,
                  "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
                  "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&resourceVersion=0",
                  "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&resourceVersion=" + now,
                  "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&labelSelector=none",
                  "limit=1", "continue=abc", "timeoutSeconds=abc", "fieldSelector=data.x%3Dy", "labelSelector=%3D"):
        s.events(f"{SECRETS}?watch=1&{query}{end}", 4, label=query.replace(now, "NOW"))
    s.get(f"{SECRETS}?sendInitialEvents=true&resourceVersionMatch=NotOlderThan", label="a list that wants initial events")
    s.events(f"{SECRETS}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true{end}", 2,
             accept=TABLE, label="initial events as tables")
    s.get(f"{SECRETS}?watch=1{end}", headers={"Accept": "text/html"}, label="watch in html")
    s.ask("GET", f"{SECRETS}?watch=1&resourceVersion=0{end}", accept="application/yaml", label="watch in yaml", view=lambda a: None)
    s.ask("GET", f"{SECRETS}?watch=1&resourceVersion=0{end}", accept=PROTOBUF + ";stream=watch", label="watch in protobuf",
          view=lambda a: None)
    s.get(f"{SECRETS}/a?watch=1&resourceVersion=0{end}", label="watch of one object's path")


# ------------------------------------------------------------------ writes

@scenario("writes/create")
def create(s):
    s.namespace()
    s.post(MAPS, {"metadata": {"name": "no-kind"}}, label="without kind and apiVersion")
    s.post(MAPS, {"metadata": {}}, label="without a name")
    s.normaliser.generated += ["gen-", "Bad_"]
    s.post(MAPS, {"metadata": {"generateName": "gen-"}}, label="generateName")
    s.post(MAPS, {"metadata": {"generateName": "Bad_"}}, label="bad generateName")
    s.post(MAPS, {"metadata": {"name": "both", "generateName": "gen-"}}, label="name and generateName")
    for i, (what, metadata) in enumerate({
        "uid": {"uid": "11111111-2222-3333-4444-555555555555"}, "resourceVersion": {"resourceVersion": "5"},
        "creationTimestamp": {"creationTimestamp": "2001-01-01T00:00:00Z"}, "generation": {"generation": 7},
        "selfLink": {"selfLink": "/x"}, "deletionTimestamp": {"deletionTimestamp": "2001-01-01T00:00:00Z"},
        "deletionGracePeriodSeconds": {"deletionGracePeriodSeconds": 3}, "finalizers": {"finalizers": ["example.com/f"]},
        "bad finalizers": {"finalizers": ["no-domain", "bad finalizer", ""]},
        "owners": {"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u"}]},
        "bad owners": {"ownerReferences": [{"apiVersion": "", "kind": "", "name": "", "uid": ""}]},
        "two controllers": {"ownerReferences": [
            {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u", "controller": True},
            {"apiVersion": "v1", "kind": "Pod", "name": "q", "uid": "v", "controller": True}]},
        "event as owner": {"ownerReferences": [{"apiVersion": "v1", "kind": "Event", "name": "p", "uid": "u"}]},
        "managedFields": {"managedFields": [{"manager": "m", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1",
                                             "time": "2001-01-01T00:00:00Z", "fieldsV1": {"f:data": {"f:k": {}}}}]},
        "bad managedFields": {"managedFields": [{"manager": "m", "operation": "Wrong"}]},
        "bad annotations": {"annotations": {"bad key!": "x"}}, "huge annotations": {"annotations": {"k": "x" * 270000}},
        "bad label value": {"labels": {"k": "a b"}}, "long label": {"labels": {"k": "x" * 64}}, "bad label key": {"labels": {"a/b/c": "x"}},
        "empty label key": {"labels": {"": "x"}}, "label of wrong type": {"labels": {"k": 5}}, "labels a list": {"labels": ["k"]},
        "null labels": {"labels": None}, "unknown field": {"unknown": "x"},
    }.items()):
        s.post(MAPS, {"metadata": {"name": f"m{i}", **metadata}, "data": {"k": "v"}}, label=what)
    for name in ("a.b", "-a", "a-", "A", "a_b", "a" * 253, "a" * 254, "a/b", ".", "..", "a%b", "1", "a..b"):
        s.post(MAPS + "?dryRun=All", config_map(name), label=f"name {name[:20]}")
    for query in ("fieldManager=me", "fieldManager=" + "x" * 129, "fieldManager=a%0Ab", "dryRun=Some", "dryRun=All&dryRun=All", "dryRun=",
                  "fieldValidation=Wrong", "fieldValidation=Ignore", "pretty=1", "unknown=1"):
        s.post(f"{MAPS}?{query}", config_map("q"), label=query[:30])
        s.quietly("DELETE", MAPS + "/q")
    s.post(MAPS.replace("{ns}", "d-nowhere"), config_map("m"), label="a namespace that is not")
    s.post(MAPS + "/m", config_map("m"), label="post to an object")
    s.post("/api/v1/configmaps", config_map("m"), label="post without a namespace")


@scenario("writes/bodies")
def bodies(s):
    s.namespace()
    good = json.dumps(config_map("m", k="v"))
    for what, body in {
        "empty": "", "not json": "nonsense", "list": "[]", "string": '"x"', "number": "5", "null": "null", "cut": good[:30], "trailing": good + "x",
        "two": good + good, "bool for string": '{"metadata":{"name":true}}', "object for string": '{"metadata":{"name":{}}}',
        "string for map": '{"metadata":{"name":"m"},"data":"x"}', "number in data": '{"metadata":{"name":"m"},"data":{"k":1}}',
        "null in data": '{"metadata":{"name":"m"},"data":{"k":null}}', "bad base64": '{"metadata":{"name":"m"},"binaryData":{"k":"!"}}',
        "base64 with newline": '{"metadata":{"name":"m"},"binaryData":{"k":"YQ==\\n"}}', "string for bool": '{"metadata":{"name":"m"},"immutable":"x"}',
        "wrong case": '{"metadata":{"name":"m"},"Data":{"k":"v"}}', "twice": '{"metadata":{"name":"m"},"data":{"k":"1"},"data":{"k":"2"}}',
        "key twice": '{"metadata":{"name":"m"},"data":{"k":"1","k":"2"}}', "bad utf8": '{"metadata":{"name":"m"},"data":{"k":"\\ud800"}}',
        "time": '{"metadata":{"name":"m","creationTimestamp":"yesterday"}}', "list kind": '{"apiVersion":"v1","kind":"List","items":[]}',
        "configmap list": '{"apiVersion":"v1","kind":"ConfigMapList","items":[]}', "kind a number": '{"apiVersion":"v1","kind":5}',
        "other group": '{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"m"}}', "bad apiVersion": '{"apiVersion":"a/b/c","kind":"ConfigMap"}',
        "deep": "[" * 12000, "deep objects": '{"a":' * 12000, "control": '{"metadata":{"name":"m"},"data":{"k":"\u0001"}}',
        "large number": '{"metadata":{"name":"m","generation":99999999999999999999}}', "float": '{"metadata":{"name":"m","generation":1.5}}',
        "float integer": '{"metadata":{"name":"m","generation":1e2}}',
    }.items():
        for mode in ("Strict", "Warn"):
            s.post(f"{MAPS}?dryRun=All&fieldValidation={mode}", body, label=f"{what}, {mode}")
    for what, body in {"yaml": "metadata: {name: m}\ndata: {k: v}\n", "yaml twice": "metadata: {name: m}\ndata: {k: v}\ndata: {k: w}\n",
                       "bad yaml": "metadata: {name: m\n", "yaml tab": "\tmetadata:\n", "yaml documents": "metadata: {name: m}\n---\nmetadata: {name: n}\n",
                       "yaml number": "metadata: {name: m}\ndata: {k: 5}\n", "yaml anchor": "metadata: {name: m}\ndata: &a {k: v}\nbinaryData: {}\n",
                       "yaml unknown": "metadata: {name: m}\nextra: 1\n"}.items():
        s.post(f"{MAPS}?dryRun=All&fieldValidation=Strict", body, ct="application/yaml", label=what)


@scenario("writes/update")
def update(s):
    s.namespace()
    made = s.post(MAPS, config_map("a", k="1")).obj or {}
    s.put(MAPS + "/a", made, label="no change")
    s.put(MAPS + "/a", changed(made, "data.k", "2"), label="change")
    s.put(MAPS + "/a", changed(made, "data.k", "3"), label="stale")
    s.put(MAPS + "/a", config_map("a", k="4"), label="without a version")
    s.put(MAPS + "/a", config_map("b"), label="another name")
    s.put(MAPS + "/a", {"data": {}}, label="no name")
    s.put(MAPS + "/none", config_map("none"), label="create by put")
    s.put(MAPS + "/none", {**config_map("none"), "metadata": {"name": "none", "resourceVersion": "5"}}, label="put of none with a version")
    s.put(MAPS + "/none", {**config_map("none"), "metadata": {"name": "none", "uid": "u"}}, label="put of none with a uid")
    for where, value in {"metadata.uid": "other", "metadata.creationTimestamp": "2001-01-01T00:00:00Z", "metadata.generation": 9,
                         "metadata.resourceVersion": "abc", "metadata.namespace": "other", "metadata.deletionTimestamp": "2001-01-01T00:00:00Z",
                         "metadata.selfLink": "/x", "metadata.managedFields": [], "metadata.finalizers": ["example.com/f"], "immutable": True}.items():
        now = s.get(MAPS + "/a", record=False).obj or made
        s.put(MAPS + "/a?dryRun=All", changed(now, where, value), label=where)
    s.patch(MAPS + "/a", {"immutable": True}, label="make immutable")
    for where, value in (("data.k", "9"), ("immutable", False), ("immutable", DELETE), ("metadata.labels", {"a": "b"}), ("binaryData", {"x": "YQ=="})):
        now = s.get(MAPS + "/a", record=False).obj or made
        s.put(MAPS + "/a?dryRun=All", changed(now, where, value), label=f"immutable: {where}")
    s.put(MAPS, made, label="put to a collection")
    s.ask("PATCH", MAPS, "{}", ct=MERGE_PATCH, label="patch of a collection")


@scenario("writes/generation")
def generation(s):
    s.namespace()
    made = s.post(DEPLOYMENTS, deployment("d")).obj or {}
    s.patch(DEPLOYMENTS + "/d", {"metadata": {"labels": {"x": "y"}}}, label="labels do not count")
    s.patch(DEPLOYMENTS + "/d", {"spec": {"replicas": 2}}, label="the spec does")
    s.patch(DEPLOYMENTS + "/d", {"status": {"replicas": 2}}, label="status is not written here")
    s.patch(DEPLOYMENTS + "/d/status", {"status": {"replicas": 2}, "spec": {"replicas": 9}}, label="and the spec not there")
    s.patch(DEPLOYMENTS + "/d", {"metadata": {"generation": 99}}, label="nobody sets it")
    s.patch(DEPLOYMENTS + "/d/scale", {"spec": {"replicas": 4}}, label="scale does")
    s.put(DEPLOYMENTS + "/d", deployment("d", replicas=4), label="put without change of the spec")
    s.post("/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets", {"metadata": {"name": "b"}, "spec": {"minAvailable": 1}})
    s.patch("/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets/b", {"spec": {"minAvailable": 2}})


@scenario("writes/json patch")
def json_patch(s):
    s.namespace()
    s.post(MAPS, config_map("a", {"l": "1"}, k="1", j="2"))
    patches = {
        "add": [{"op": "add", "path": "/data/x", "value": "y"}], "add over": [{"op": "add", "path": "/data/k", "value": "y"}],
        "remove": [{"op": "remove", "path": "/data/k"}], "remove what is not": [{"op": "remove", "path": "/data/none"}],
        "replace": [{"op": "replace", "path": "/data/k", "value": "z"}], "replace what is not": [{"op": "replace", "path": "/data/none", "value": "z"}],
        "move": [{"op": "move", "from": "/data/k", "path": "/data/m"}], "move what is not": [{"op": "move", "from": "/data/none", "path": "/data/m"}],
        "copy": [{"op": "copy", "from": "/data/k", "path": "/data/m"}], "copy what is not": [{"op": "copy", "from": "/data/none", "path": "/data/m"}],
        "test": [{"op": "test", "path": "/data/k", "value": "1"}], "failing test": [{"op": "test", "path": "/data/k", "value": "2"}],
        "test of what is not": [{"op": "test", "path": "/data/none", "value": "2"}], "test null": [{"op": "test", "path": "/data/none", "value": None}],
        "unknown op": [{"op": "nap", "path": "/data/k"}], "no op": [{"path": "/data/k"}], "no path": [{"op": "add", "value": 1}],
        "no value": [{"op": "add", "path": "/data/q"}], "bad path": [{"op": "add", "path": "data/q", "value": "x"}],
        "missing parent": [{"op": "add", "path": "/none/q", "value": "x"}], "root": [{"op": "replace", "path": "", "value": {}}],
        "escapes": [{"op": "add", "path": "/metadata/annotations", "value": {}}, {"op": "add", "path": "/metadata/annotations/a~1b", "value": "x"}],
        "wrong type": [{"op": "replace", "path": "/data", "value": "x"}], "index": [{"op": "add", "path": "/metadata/finalizers/0", "value": "a.b/c"}],
        "append": [{"op": "add", "path": "/metadata/finalizers", "value": []}, {"op": "add", "path": "/metadata/finalizers/-", "value": "a.b/c"}],
        "empty": [], "unknown field": [{"op": "add", "path": "/extra", "value": 1}],
    }
    for what, patch in patches.items():
        s.patch(MAPS + "/a?dryRun=All", patch, ct=JSON_PATCH, label=what)
    for what, body in {"an object": "{}", "no json": "nonsense", "null": "null", "empty": "", "a list of numbers": "[1]"}.items():
        s.patch(MAPS + "/a?dryRun=All", body, ct=JSON_PATCH, label="body: " + what)
    s.patch(MAPS + "/a?dryRun=All", [{"op": "add", "path": "/data/x", "value": "y"}] * 10001, ct=JSON_PATCH, label="too many")
    s.patch(MAPS + "/none", [], ct=JSON_PATCH, label="of none")
    s.patch(MAPS + "/a?fieldValidation=Strict&dryRun=All", [{"op": "add", "path": "/extra", "value": 1}], ct=JSON_PATCH, label="unknown field, strict")
    s.patch(MAPS + "/a?force=true", [], ct=JSON_PATCH, label="force without apply")


@scenario("writes/merge and strategic patch")
def merge_patch(s):
    s.namespace()
    s.post(DEPLOYMENTS, deployment("d"))
    container = lambda **c: {"spec": {"template": {"spec": {"containers": [c]}}}}
    patches = {
        "add a container": container(name="e", image="i"), "change one": container(name="c", image="j"),
        "delete one": {"spec": {"template": {"spec": {"containers": [{"$patch": "delete", "name": "c"}, {"name": "f", "image": "i"}]}}}},
        "replace the list": {"spec": {"template": {"spec": {"containers": [{"$patch": "replace"}, {"name": "r", "image": "i"}]}}}},
        "replace a map": {"metadata": {"labels": {"$patch": "replace", "only": "this"}}},
        "delete a map": {"metadata": {"labels": {"$patch": "delete"}}}, "null": {"metadata": {"labels": {"app": None}}},
        "no merge key": container(image="j"), "bad directive": container(**{"name": "c", "$patch": "nap"}),
        "order": {"spec": {"template": {"spec": {"$setElementOrder/containers": [{"name": "e"}, {"name": "c"}], "containers": [{"name": "e", "image": "i"}]}}}},
        "bad order": {"spec": {"template": {"spec": {"$setElementOrder/containers": [{"name": "e"}], "containers": [{"name": "x", "image": "i"}]}}}},
        "retain keys": {"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}},
        "recreate": {"spec": {"strategy": {"type": "Recreate"}}},
        "primitive delete": {"metadata": {"$deleteFromPrimitiveList/finalizers": ["example.com/a"]}},
        "primitive add": {"metadata": {"finalizers": ["example.com/a"]}},
        "ports by key": container(name="c", ports=[{"containerPort": 81}]),
        "env": container(name="c", env=[{"name": "A", "value": "1"}]),
        "selector": {"spec": {"selector": {"matchLabels": {"app": "y"}}}}, "unknown field": {"spec": {"nap": 1}},
        "wrong type": {"spec": {"replicas": "two"}}, "negative": {"spec": {"replicas": -2}}, "nothing": {}, "status": {"status": {"replicas": 3}},
        "tolerations": {"spec": {"template": {"spec": {"tolerations": [{"key": "a", "operator": "Exists"}]}}}},
        "volumes": {"spec": {"template": {"spec": {"volumes": [{"name": "v", "emptyDir": {}}]}}}},
    }
    for ct in (STRATEGIC, MERGE_PATCH):
        for what, patch in patches.items():
            s.patch(DEPLOYMENTS + "/d?dryRun=All", patch, ct=ct, label=f"{ct.split('/')[1].split('-')[0]}: {what}")
            s.patch(DEPLOYMENTS + "/d?dryRun=All&fieldValidation=Strict", {"spec": {"nap": 1}}, ct=ct, label="unknown field, strict")
    for body in ("nonsense", "[]", '"x"', "null", ""):
        for ct in (STRATEGIC, MERGE_PATCH):
            s.patch(DEPLOYMENTS + "/d?dryRun=All", body, ct=ct, label=f"body {body} {ct}")


# ------------------------------------------------------------------ server-side apply

def apply(s, path, obj, manager="one", force=None, label=None, **kw):
    query = f"?fieldManager={manager}" + (f"&force={force}" if force else "")
    return s.patch(path + query, json.dumps(obj), ct=APPLY, label=label, **kw)


@scenario("ssa/ownership and conflicts")
def ssa_conflicts(s):
    s.namespace()
    at = MAPS + "/a"
    apply(s, at, config_map("a", k="1"), label="creates")
    apply(s, at, config_map("a", k="1"), label="again: no change")
    apply(s, at, config_map("a", k="2"), manager="two", label="conflicts")
    apply(s, at, config_map("a", k="1", j="x"), manager="two", label="shares")
    apply(s, at, config_map("a", k="2"), manager="two", force="true", label="forced")
    apply(s, at, config_map("a", j="y"), label="one lets k go")
    apply(s, at, config_map("a"), manager="two", label="two lets all go")
    s.patch(at, {"data": {"k": "9"}}, label="an update takes over")
    apply(s, at, config_map("a", k="8"), manager="two", label="conflicts with an update")
    apply(s, at, config_map("a", k="9"), manager="two", label="agrees with an update")
    s.patch(at + "?fieldManager=three", {"data": {"k": None}}, label="an update removes")
    s.get(at)
    s.patch(at, json.dumps(config_map("a")), ct=APPLY, label="without a manager")
    s.patch(at + "?fieldManager=", json.dumps(config_map("a")), ct=APPLY, label="with an empty manager")
    apply(s, at, config_map("b"), label="another name")
    apply(s, at, {"metadata": {"name": "a"}}, label="without kind")
    apply(s, at, {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}}, label="another kind")
    apply(s, at, {**config_map("a"), "metadata": {"name": "a", "managedFields": [{"manager": "x"}]}}, label="with managedFields")
    apply(s, at, {**config_map("a"), "metadata": {"name": "a", "resourceVersion": "1"}}, label="with an old version")
    apply(s, at, {**config_map("a"), "metadata": {"name": "a", "uid": "x"}}, label="with another uid")
    apply(s, at, {**config_map("a"), "extra": 1}, label="with an unknown field")
    apply(s, at + "x", config_map("ax", k="1"), manager="me", label="dry", force="maybe")
    s.patch(at + "?fieldManager=m&dryRun=All&force=true", json.dumps(config_map("a", z="1")), ct=APPLY, label="dry and forced")
    s.patch(at + "?fieldManager=m&fieldValidation=Ignore", json.dumps({**config_map("a"), "extra": 1}), ct=APPLY, label="unknown, ignored")
    s.patch(at + "?fieldManager=m", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {y: yaml}\n", ct=APPLY, label="in yaml")
    s.patch(at + "?fieldManager=m", "a: [", ct=APPLY, label="bad yaml")
    s.patch(at + "?fieldManager=m", "", ct=APPLY, label="empty")
    s.patch(at + "?fieldManager=m", "[]", ct=APPLY, label="a list")
    s.patch(at, {"metadata": {"managedFields": [{}]}}, label="clears managedFields")
    s.patch(at + "?fieldManager=after", {"data": {"n": "1"}}, label="and they begin anew")


@scenario("ssa/lists and sets")
def ssa_lists(s):
    s.namespace()
    at = DEPLOYMENTS + "/d"
    d = deployment("d")
    apply(s, at, d, label="creates")
    other = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": {"template": {"spec": {}}}}
    sidecar = changed(other, "spec.template.spec.containers", [{"name": "side", "image": "i"}])
    apply(s, at, sidecar, manager="two", label="two adds a container")
    apply(s, at, changed(sidecar, "spec.template.spec.containers[0].env", [{"name": "A", "value": "1"}]), manager="two", label="with env")
    apply(s, at, changed(other, "spec.template.spec.containers", [{"name": "c", "image": "other"}]), manager="two", label="conflict inside an item")
    apply(s, at, changed(d, "spec.template.spec.containers[0].ports", [{"containerPort": 80}, {"containerPort": 81, "protocol": "UDP"}]), label="ports")
    apply(s, at, changed(d, "spec.template.spec.containers[0].ports", [{"containerPort": 80}, {"containerPort": 80}]), label="a key twice")
    apply(s, at, changed(d, "spec.template.spec.containers[0].name", DELETE), label="no key")
    apply(s, at, changed(d, "metadata.finalizers", ["example.com/a", "example.com/b"]), label="a set")
    apply(s, at, changed(other, "metadata.finalizers", ["example.com/b", "example.com/c"]), manager="two", label="a set of two")
    apply(s, at, d, label="one lets its members go")
    apply(s, at, changed(d, "metadata.finalizers", ["example.com/a", "example.com/a"]), label="a member twice")
    s.patch(at, {"metadata": {"finalizers": None}}, label="nobody's any more")
    apply(s, at, changed(other, "spec.template.spec.tolerations", [{"key": "a", "operator": "Exists"}]), manager="two", label="an atomic list")
    apply(s, at, changed(d, "spec.template.spec.tolerations", [{"key": "b", "operator": "Exists"}]), label="conflicts as a whole")
    apply(s, at, changed(d, "spec.selector.matchLabels.more", "x"), label="immutable")
    apply(s, at, changed(d, "spec.replicas", 3), label="replicas")
    apply(s, at + "/scale", {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "d"}, "spec": {"replicas": 5}},
          manager="scaler", label="scale conflicts")
    apply(s, at + "/scale", {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "d"}, "spec": {"replicas": 5}},
          manager="scaler", force="true", label="scale forced")
    s.get(at)
    apply(s, at + "/status", {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "status": {"replicas": 1}},
          manager="controller", label="status")
    apply(s, at + "/status", {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": {"replicas": 1}},
          manager="controller", label="the spec by way of status")
    s.get(at)


@scenario("ssa/update managers and migration")
def ssa_updates(s):
    s.namespace()
    agent = {"User-Agent": "kubectl-client-side-apply/v1"}
    obj = config_map("a", k="1")
    obj["metadata"]["annotations"] = {"kubectl.kubernetes.io/last-applied-configuration": json.dumps(config_map("a", k="1")) + "\n"}
    s.post(MAPS + "?fieldManager=kubectl-client-side-apply", obj, label="client-side apply")
    apply(s, MAPS + "/a", config_map("a", k="2"), manager="kubectl", label="migrates")
    apply(s, MAPS + "/a", config_map("a"), manager="kubectl", label="and lets go")
    s.post(MAPS, config_map("b", k="1"), headers=agent, label="manager from the user agent")
    s.patch(MAPS + "/b", {"data": {"k": "2"}}, headers={"User-Agent": "other-agent/1.2 (linux)"}, label="another agent")
    s.patch(MAPS + "/b", {"data": {"k": "2"}}, headers={"User-Agent": "third"}, label="no change, no manager")
    s.put(MAPS + "/b", config_map("b", {"x": "y"}, k="3"), headers={"User-Agent": ""}, label="an update by nobody")
    for i in range(12):
        s.quietly("PATCH", f"{MAPS}/b?fieldManager=m{i}", {"data": {f"k{i}": "x"}}, ct=MERGE_PATCH)
    s.get(MAPS + "/b", label="many update managers are merged", view=lambda a: len(a.get("metadata", "managedFields", default=[])))
    s.put(MAPS + "/b?fieldManager=me", config_map("b"), label="removing everything")
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"a": "b"}}
    apply(s, "/api/v1/namespaces/{ns}/secrets/s", secret, label="stringData")
    apply(s, "/api/v1/namespaces/{ns}/secrets/s", {**secret, "stringData": {"c": "d"}}, label="stringData again")
    svc = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "v"}, "spec": {"selector": {"a": "b"}, "ports": [{"port": 80}]}}
    apply(s, "/api/v1/namespaces/{ns}/services/v", svc, label="a service")
    apply(s, "/api/v1/namespaces/{ns}/services/v", changed(svc, "spec.ports", [{"port": 80, "name": "a"}, {"port": 80, "protocol": "UDP", "name": "b"}]),
          label="two ports of one number")
    apply(s, PODS + "/p", pod("p"), label="a pod")
    apply(s, PODS + "/p", changed(pod("p"), "spec.containers[0].image", "other"), label="its image")
    apply(s, PODS + "/p", changed(pod("p"), "spec.containers[0].command", ["x"]), label="its command")


# ------------------------------------------------------------------ deletion

@scenario("deletes/options")
def delete_options(s):
    s.namespace()

    def fresh(name="a", **meta):
        s.quietly("DELETE", f"{MAPS}/{name}")
        return s.quietly("POST", MAPS, {"metadata": {"name": name, **meta}}).obj or {}
    for what, options in {
        "another uid": {"preconditions": {"uid": "x"}}, "an old version": {"preconditions": {"resourceVersion": "1"}},
        "both policies": {"propagationPolicy": "Orphan", "orphanDependents": True}, "bad policy": {"propagationPolicy": "Wrong"},
        "negative grace": {"gracePeriodSeconds": -5}, "bad dryRun": {"dryRun": ["Some"]}, "dry": {"dryRun": ["All"]},
        "wrong kind": {"apiVersion": "v1", "kind": "ConfigMap"}, "meta kind": {"apiVersion": "meta.k8s.io/v1", "kind": "DeleteOptions", "dryRun": ["All"]},
        "v1 kind": {"apiVersion": "v1", "kind": "DeleteOptions", "dryRun": ["All"]}, "unknown field": {"nap": 1, "dryRun": ["All"]},
    }.items():
        fresh()
        s.delete(MAPS + "/a", options, label=what)
    meta = fresh().get("metadata", {})
    s.delete(MAPS + "/a", {"preconditions": {"uid": meta.get("uid"), "resourceVersion": meta.get("resourceVersion")}}, label="the right ones")
    for what, body in {"nonsense": "nonsense", "list": "[]", "string": '"x"'}.items():
        fresh()
        s.delete(MAPS + "/a", body, label="body: " + what)
    for query in ("propagationPolicy=Background", "propagationPolicy=Foreground", "propagationPolicy=Orphan", "propagationPolicy=Wrong",
                  "gracePeriodSeconds=5", "gracePeriodSeconds=abc", "orphanDependents=true", "orphanDependents=false", "dryRun=All", "dryRun=x",
                  "preconditions=x", "ignoreStoreReadErrorWithClusterBreakingPotential=true"):
        fresh("b")
        s.delete(f"{MAPS}/b?{query}", label=query)
        s.quietly("PATCH", MAPS + "/b", {"metadata": {"finalizers": None}}, ct=MERGE_PATCH)
    fresh("f", finalizers=["example.com/f"])
    s.delete(MAPS + "/f", label="with a finalizer")
    s.delete(MAPS + "/f", label="again")
    s.get(MAPS + "/f")
    s.patch(MAPS + "/f", {"metadata": {"finalizers": ["example.com/f", "example.com/g"]}}, label="no finalizer may be added")
    s.patch(MAPS + "/f", {"metadata": {"deletionTimestamp": None}}, label="there is no way back")
    s.patch(MAPS + "/f", {"data": {"k": "v"}}, label="but a change")
    s.patch(MAPS + "/f", {"metadata": {"finalizers": None}}, label="the last finalizer goes")
    s.get(MAPS + "/f")


@scenario("deletes/collections")
def delete_collections(s):
    s.namespace()

    def fill():
        for i in range(4):
            s.quietly("POST", SECRETS, item(f"m{i}", {"n": str(i), "odd": str(i % 2)}))
    fill()
    s.delete(SECRETS + "?labelSelector=odd%3D1&dryRun=All", label="dry")
    s.delete(SECRETS + "?labelSelector=odd%3D1", label="by label")
    s.delete(SECRETS + "?fieldSelector=metadata.name%3Dm0", label="by field")
    s.delete(SECRETS + "?labelSelector=none%3D1", label="none")
    s.delete(SECRETS + "?labelSelector=%3D", label="bad selector")
    s.delete(SECRETS + "?limit=1", label="limit")
    s.quietly("POST", SECRETS, item("m1"))
    s.delete(SECRETS, {"preconditions": {"uid": "x"}}, label="preconditions")
    s.delete(SECRETS + "?resourceVersion=0", label="version 0")
    s.delete(SECRETS + "?dryRun=All", {"propagationPolicy": "Orphan"}, label="orphaning, dry")
    s.delete("/api/v1/secrets", label="in all namespaces")
    s.delete("/api/v1/namespaces", label="of namespaces")
    s.delete("/api/v1/namespaces/{ns}/services", label="of services")
    s.get(SECRETS)


@scenario("deletes/pods")
def delete_pods(s):
    s.namespace()
    for i, (query, body) in enumerate((("", None), ("?gracePeriodSeconds=0", None), ("?gracePeriodSeconds=5", None), ("", {"gracePeriodSeconds": 1}))):
        for node in (None, "n1"):
            name = f"p{i}{node or ''}"
            s.post(PODS, pod(name, **({"nodeName": node} if node else {})))
            s.delete(f"{PODS}/{name}{query}", body, label=f"delete{query} {body} on {node}")
            s.get(f"{PODS}/{name}")
            s.delete(f"{PODS}/{name}?gracePeriodSeconds=2", label="shorter")
            s.delete(f"{PODS}/{name}?gracePeriodSeconds=50", label="longer")
            s.delete(f"{PODS}/{name}?gracePeriodSeconds=0", label="now")
    s.post(PODS, pod("q", nodeName="n1", terminationGracePeriodSeconds=7))
    s.delete(PODS + "/q", label="its own grace period")
    s.patch(PODS + "/q/status", {"status": {"phase": "Succeeded"}}, label="has ended")
    s.delete(PODS + "/q", label="after the end")


# ------------------------------------------------------------------ subresources

@scenario("kinds-core/pod subresources")
def pod_subresources(s):
    s.namespace()
    s.post(PODS, pod("p", {"app": "x"}))
    binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n1"}}
    s.post(PODS + "/p/binding", changed(binding, "target.name", ""), label="binding to no node")
    s.post(PODS + "/p/binding", changed(binding, "target.kind", "Pod"), label="binding to a pod")
    s.post(PODS + "/p/binding", changed(binding, "metadata.name", "other"), label="binding of another")
    s.post(PODS + "/p/binding", binding, label="binding")
    s.get(PODS + "/p")
    s.post(PODS + "/p/binding", binding, label="again")
    s.post(PODS + "/none/binding", changed(binding, "metadata.name", "none"), label="of none")
    s.post("/api/v1/namespaces/{ns}/bindings", binding, label="the old path")
    s.patch(PODS + "/p/status", {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}], "podIP": "10.1.1.1",
                                            "podIPs": [{"ip": "10.1.1.1"}], "containerStatuses": [
                                                {"name": "c", "image": "busybox", "imageID": "", "ready": True, "restartCount": 2,
                                                 "state": {"running": {"startedAt": "2026-01-02T03:04:05Z"}}}]}}, ct=STRATEGIC, label="status")
    s.get(PODS, accept=TABLE, label="as a table")
    s.patch(PODS + "/p/ephemeralcontainers", {"spec": {"ephemeralContainers": [{"name": "e", "image": "i"}]}}, ct=STRATEGIC, label="ephemeral")
    s.get(PODS + "/p/ephemeralcontainers")
    s.patch(PODS + "/p/resize", {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}}, ct=STRATEGIC, label="resize")
    for sub in ("log", "exec", "attach", "portforward", "proxy"):
        s.get(f"{PODS}/none/{sub}", label=f"{sub} of none")
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p"}}
    s.post(PODS + "/p/eviction", {**eviction, "metadata": {"name": "other"}}, label="eviction of another")
    s.post(PODS + "/p/eviction", {**eviction, "deleteOptions": {"dryRun": ["All"]}}, label="eviction, dry")
    budgets = "/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets"
    s.post(budgets, {"metadata": {"name": "b"}, "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "x"}}}})
    s.post(PODS + "/p/eviction", eviction, label="eviction against a budget")
    s.delete(budgets + "/b")
    s.post(PODS + "/p/eviction", eviction, label="eviction")
    s.post(PODS + "/none/eviction", {**eviction, "metadata": {"name": "none"}}, label="eviction of none")
    s.get(PODS + "/p")


@scenario("kinds-core/namespaces")
def namespaces(s):
    s.post("/api/v1/namespaces", {"metadata": {"name": s.ns}}, label="create")
    s.get("/api/v1/namespaces/{ns}")
    s.put("/api/v1/namespaces/{ns}/finalize", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": s.ns},
                                               "spec": {"finalizers": ["kubernetes", "example.com/f"]}}, label="finalize")
    s.patch("/api/v1/namespaces/{ns}", {"spec": {"finalizers": []}}, label="finalizers by patch")
    s.delete("/api/v1/namespaces/{ns}", label="delete")
    s.get("/api/v1/namespaces/{ns}", view=lambda a: [a.get("status", "phase"), a.get("spec", "finalizers", default=[])[-1:]])
    s.post(MAPS, config_map("a"), label="create in a dying namespace")
    for name in ("default", "kube-system", "kube-public", "kube-node-lease"):
        s.delete(f"/api/v1/namespaces/{name}?dryRun=All", label=f"delete {name}")
    s.post("/api/v1/namespaces", {"metadata": {"name": "a.b"}}, label="a dot in the name")
    s.post("/api/v1/namespaces", {"metadata": {"name": "x" * 64}}, label="a long name")


@scenario("kinds-core/services")
def services(s):
    s.namespace()
    path = "/api/v1/namespaces/{ns}/services"
    for name, spec in {
        "headless": {"clusterIP": "None", "selector": {"a": "b"}}, "external": {"type": "ExternalName", "externalName": "a.example.com"},
        "port": {"type": "NodePort", "ports": [{"port": 80}]}, "balancer": {"type": "LoadBalancer", "ports": [{"port": 80}, {"port": 81, "name": "b"}]},
        "named": {"ports": [{"port": 80, "name": "a", "targetPort": "web"}, {"port": 81, "name": "b", "protocol": "UDP"}]},
        "affinity": {"sessionAffinity": "ClientIP", "ports": [{"port": 80}]}, "dual": {"ipFamilyPolicy": "PreferDualStack", "ports": [{"port": 80}]},
        "required": {"ipFamilyPolicy": "RequireDualStack", "ports": [{"port": 80}]}, "fixed": {"clusterIP": "10.96.0.77", "ports": [{"port": 80}]},
        "foreign": {"clusterIP": "192.168.1.1", "ports": [{"port": 80}]}, "nodeport": {"type": "NodePort", "ports": [{"port": 80, "nodePort": 31234}]},
        "badport": {"type": "NodePort", "ports": [{"port": 80, "nodePort": 80}]},
    }.items():
        s.post(path, {"metadata": {"name": name}, "spec": spec}, label=name)
    s.post(path, {"metadata": {"name": "again"}, "spec": {"clusterIP": "10.96.0.77", "ports": [{"port": 80}]}}, label="an address in use")
    s.patch(path + "/port", {"spec": {"type": "ClusterIP"}}, label="to ClusterIP")
    s.patch(path + "/fixed", {"spec": {"clusterIP": "10.96.0.78"}}, label="another address")
    s.patch(path + "/affinity", {"spec": {"type": "ExternalName", "externalName": "x.example.com", "clusterIP": ""}}, label="to ExternalName")
    s.get(path, accept=TABLE)
    s.delete(path + "/fixed")


# ------------------------------------------------------------------ what is no resource

@scenario("proto/discovery")
def discovery(s):
    aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    for path in ("/api", "/apis"):
        s.get(path, view=lambda a: {g["name"]: g for g in a.get("groups", default=[])} or a.obj, label=path)
        for accept in (aggregated, aggregated + ",application/json", aggregated.replace("v2", "v2beta1") + ",application/json",
                       aggregated.replace("v2", "v9"), aggregated.replace("v2", "v9") + ",application/json"):
            s.get(path, accept=accept, label=f"{path} {accept[17:70]}",
                  view=lambda a: {g["metadata"].get("name", ""): g for g in a.get("items", default=[])} or a.get("kind"))
    for version in ("/api/v1", *("/apis/" + v for v in (
            "apps/v1", "batch/v1", "autoscaling/v1", "autoscaling/v2", "policy/v1", "rbac.authorization.k8s.io/v1", "coordination.k8s.io/v1",
            "events.k8s.io/v1", "discovery.k8s.io/v1", "networking.k8s.io/v1", "node.k8s.io/v1", "scheduling.k8s.io/v1", "storage.k8s.io/v1",
            "admissionregistration.k8s.io/v1", "apiextensions.k8s.io/v1", "authentication.k8s.io/v1", "authorization.k8s.io/v1",
            "certificates.k8s.io/v1", "apiregistration.k8s.io/v1", "flowcontrol.apiserver.k8s.io/v1"))):
        s.get(version, label=version, view=lambda a: {r["name"]: {k: v for k, v in r.items() if k != "storageVersionHash"}
                                                      for r in a.get("resources", default=[])} or a.obj)
    for path in ("/apis/apps", "/apis/apps/v9", "/apis/none.example.com", "/api/v2", "/apis/apps/v1beta1/deployments", "/nothing", "/"):
        s.get(path, label=path, view=(lambda a: None) if path == "/" else None)
    for path in ("/api/v1/nothings", "/api/v1/namespaces/default/nothings/x", "/apis/apps/v1/nothings", "/api/v1/namespaces/default/nothings"):
        for method in ("GET", "POST", "DELETE", "PATCH", "PUT"):
            s.ask(method, path, None if method == "GET" else "{}", label=f"{method} {path}")
    for method, path in (("POST", "/api"), ("DELETE", "/apis"), ("PUT", "/version"), ("POST", "/version"), ("OPTIONS", "/api/v1/pods"),
                         ("HEAD", "/api/v1/namespaces"), ("TRACE", "/api/v1/namespaces"), ("FOO", "/api/v1/namespaces")):
        s.ask(method, path, label=f"{method} {path}")


@scenario("proto/openapi")
def openapi(s):
    s.get("/openapi/v3", label="index", view=lambda a: {path: "served" for path in a.get("paths", default={})})
    index = s.get("/openapi/v3", record=False).get("paths", default={})
    for name in ("api", "api/v1", "apis", "apis/apps/v1", "apis/batch/v1", "apis/autoscaling/v2", "apis/policy/v1", "apis/rbac.authorization.k8s.io/v1",
                 "apis/coordination.k8s.io/v1", "apis/networking.k8s.io/v1", "apis/storage.k8s.io/v1", "apis/apiextensions.k8s.io/v1", "version"):
        url = index.get(name, {}).get("serverRelativeURL", "/openapi/v3/" + name)
        s.get(url, label=f"schemas of {name}", view=schema_shapes(lambda o: o.get("components", {}).get("schemas")))
        s.get(url, label=f"paths of {name}", view=methods_of)
    s.get("/openapi/v3/apis/none/v1", label="none")
    s.get("/openapi/v2", label="v2 definitions", view=schema_shapes(lambda o: o.get("definitions")))
    s.get("/openapi/v2", label="v2 paths", view=methods_of)
    for accept in ("application/com.github.proto-openapi.spec.v2@v1.0+protobuf", "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
                   "application/json", "*/*", "text/plain", "application/com.github.proto-openapi.spec.v3.v1.0+protobuf"):
        s.get("/openapi/v2", headers={"Accept": accept}, label=f"v2 {accept}", view=lambda a: None)
        s.get("/openapi/v3/api/v1", headers={"Accept": accept}, label=f"v3 {accept}", view=lambda a: None)


@scenario("h2/health and version")
def health(s):
    for path in ("/healthz", "/livez", "/readyz", "/healthz/ping", "/livez/ping", "/readyz/ping", "/healthz/etcd", "/healthz/nothing", "/livez/nothing",
                 "/readyz/shutdown", "/healthz?exclude=ping", "/readyz?exclude=nothing"):
        s.get(path, headers={"Accept": "*/*"})
    for path in ("/livez?verbose", "/readyz?verbose", "/healthz?verbose", "/readyz?verbose&exclude=ping"):
        s.get(path, headers={"Accept": "*/*"}, view=lambda a: [a.raw.decode().splitlines()[0], a.raw.decode().splitlines()[-1]])
    s.get("/version", view=lambda a: sorted(a.obj or {}))
    s.get("/metrics", headers={"Accept": "*/*"}, view=lambda a: None)
    for path in ("/healthz/", "/metrics/slis", "/logs", "/debug/pprof/", "/swaggerapi", "/ui", "/.well-known/openid-configuration", "/openid/v1/jwks",
                 "/api/", "/api/v1/", "/api/v1/namespaces/", "//api", "/api//v1", "/api/v1/../v1", "/api/v1/namespaces/default/configmaps/%2e%2e"):
        s.get(path, view=lambda a: a.obj.get("reason") if isinstance(a.obj, dict) else None)
