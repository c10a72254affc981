# SPDX-License-Identifier: Apache-2.0
"""Who owns which field, beyond what scenarios_api has: custom kinds, versions, subresources, entries sent by clients."""
import json

from scenario import DELETE, changed, scenario
from scenarios_api import apply, MAPS, DEPLOYMENTS, config_map, deployment
from scenarios_crd import SCHEMA, wait_served, CRDS
from kinds import crd
from session import APPLY, JSON_PATCH, MERGE_PATCH, STRATEGIC

def thing(group, version="v1", **spec):
    return {"apiVersion": f"{group}/{version}", "kind": "Mouse", "metadata": {"name": "m"}, "spec": spec}

@scenario("ownership/crd")
def own_crd(s):
    s.namespace()
    group = s.ns + ".example.com"
    d = crd(group, schema=SCHEMA, subresources={"status": {}, "scale": {"specReplicasPath": ".spec.count", "statusReplicasPath": ".status.replicas"}})
    s.quietly("POST", CRDS, d)
    mice = f"/apis/{group}/v1/namespaces/{{ns}}/mice"
    wait_served(s, mice)
    at = mice + "/m"
    T = lambda **k: thing(group, **k)
    apply(s, at, T(nap="long", tags=["a"], rooms=[{"name": "a"}], flat=[1], whole={"a": "b"}, map={"a": 1}, free={"x": {"y": [1], "z": None}}), label="create")
    apply(s, at, T(nap="long", tags=["b"], rooms=[{"name": "b", "size": 2}], map={"b": 1}, free={"q": 1}), manager="two", label="two")
    apply(s, at, T(nap="short", flat=[2], whole={"c": "d"}, rooms=[{"name": "a", "size": 9}], free={"x": {"y": [2]}}), manager="two", label="conflicts")
    apply(s, at, T(nap="long", tags=["c"]), label="one drops")
    s.get(at)
    apply(s, at, T(nap="long", tags=["a", "a"]), label="dup set")
    apply(s, at, T(nap="long", rooms=[{"size": 1}]), label="no key")
    apply(s, at, T(nap="long", unknown=1), label="unknown")
    apply(s, at, T(nap="long", count=None, maybe=None), label="nulls")
    s.patch(at, {"spec": {"count": 5, "free": {"u": {"v": 1}}}}, ct=MERGE_PATCH, label="merge")
    s.patch(at, [{"op": "add", "path": "/spec/tags/-", "value": "z"}], ct=JSON_PATCH, label="json patch")
    s.patch(at + "/status", {"status": {"phase": "p", "replicas": 2}, "spec": {"count": 9}, "metadata": {"labels": {"l": "1"}}}, ct=MERGE_PATCH, label="status merge")
    apply(s, at + "/status", {"apiVersion": group + "/v1", "kind": "Mouse", "metadata": {"name": "m", "labels": {"x": "y"}}, "spec": {"count": 3}, "status": {"phase": "q"}}, manager="st", label="status apply")
    apply(s, at + "/status", {"apiVersion": group + "/v1", "kind": "Mouse", "metadata": {"name": "m"}, "status": {"phase": "q"}}, manager="st", force="true", label="status apply forced")
    scale = s.get(at + "/scale").obj or {}
    s.put(at + "/scale", changed(scale, "spec.replicas", 7), label="put scale")
    s.patch(at + "/scale", {"spec": {"replicas": 8}}, ct=MERGE_PATCH, label="patch scale")
    apply(s, at + "/scale", {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "m"}, "spec": {"replicas": 9}}, manager="sc", label="apply scale")
    s.get(at)
    apply(s, at, T(nap="long", inner={"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x", "labels": {"a": "b"}}, "more": {"z": 1}}), label="embedded")
    apply(s, at, T(nap="long", one={"a": "x"}, deep={}, port="http", ratio=1.5), manager="three", label="others")
    now = s.get(at, record=False).obj or {}
    s.put(at, changed(now, "spec.rooms", [{"name": "new"}]), label="put rooms")
    s.put(at, changed(now, "metadata.resourceVersion", ""), label="put without version")
    s.patch(at, {"metadata": {"managedFields": []}}, ct=MERGE_PATCH, label="clear")
    apply(s, at, T(nap="long"), label="first apply again")

@scenario("ownership/crd versions")
def own_versions(s):
    s.namespace()
    group = s.ns + ".example.com"
    d = crd(group, schema={"type": "object", "properties": {"spec": {"type": "object", "properties": {"a": {"type": "string"}, "l": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"}}}}})
    v2 = json.loads(json.dumps(d["spec"]["versions"][0])); v2["name"] = "v2"; v2["storage"] = False
    v2["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["l"].pop("x-kubernetes-list-type")
    v2["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["b"] = {"type": "string"}
    d["spec"]["versions"].append(v2)
    s.quietly("POST", CRDS, d)
    at1, at2 = (f"/apis/{group}/{v}/namespaces/{{ns}}/mice/m" for v in ("v1", "v2"))
    wait_served(s, f"/apis/{group}/v2/namespaces/{{ns}}/mice"); wait_served(s, f"/apis/{group}/v1/namespaces/{{ns}}/mice")
    apply(s, at1, thing(group, "v1", a="1", l=["x", "y"]), label="v1")
    apply(s, at2, thing(group, "v2", a="1"), label="same manager in v2")
    apply(s, at1, thing(group, "v1", a="1", l=["x"]), label="back in v1")
    apply(s, at2, thing(group, "v2", a="1", l=["x", "z"]), manager="two", label="two in v2")
    s.patch(at2, {"spec": {"a": "3"}}, ct=MERGE_PATCH, label="update in v2")
    s.patch(at1, {"spec": {"a": "4"}}, ct=MERGE_PATCH, label="update in v1")
    apply(s, at1, thing(group, "v2", a="1"), label="wrong version")
    s.get(at1)

@scenario("ownership/builtin")
def own_builtin(s):
    s.namespace()
    S = "/api/v1/namespaces/{ns}/secrets"
    s.post(S, {"metadata": {"name": "s"}, "stringData": {"a": "b"}}, label="stringData")
    apply(s, S + "/t", {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "t"}, "stringData": {"a": "b"}}, label="apply stringData")
    apply(s, S + "/t", {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "t"}, "stringData": {"a": "c"}}, label="apply stringData 2")
    apply(s, S + "/t", {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "t"}}, label="drop stringData")
    P = "/api/v1/namespaces/{ns}/pods"
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"automountServiceAccountToken": False, "containers": [{"name": "c", "image": "i", "ports": [{"containerPort": 80}, {"containerPort": 80, "protocol": "UDP"}], "resources": {"limits": {"cpu": "1000m"}}}], "tolerations": [{"key": "k", "operator": "Exists"}]}}
    apply(s, P + "/p", pod, label="pod")
    s.patch(P + "/p", {"spec": {"containers": [{"name": "c", "image": "j"}]}}, ct=STRATEGIC, label="image")
    s.patch(P + "/p/status", {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}, ct=STRATEGIC, label="pod status")
    s.patch(P + "/p/ephemeralcontainers", {"spec": {"ephemeralContainers": [{"name": "e", "image": "x"}]}}, ct=STRATEGIC, label="ephemeral")
    s.post(P + "/p/binding", {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n"}}, label="bind")
    s.get(P + "/p")
    D = DEPLOYMENTS
    s.post(D, deployment("d"), label="deployment")
    sc = s.get(D + "/d/scale").obj or {}
    s.put(D + "/d/scale?fieldManager=sc", changed(sc, "spec.replicas", 3), label="scale put")
    s.get(D + "/d")
    s.patch(D + "/d/scale?fieldManager=sc2", {"spec": {"replicas": 4}}, ct=MERGE_PATCH, label="scale patch")
    s.get(D + "/d")
    s.patch(D + "/d?fieldManager=k", {"spec": {"strategy": {"type": "Recreate", "rollingUpdate": None}}}, ct=MERGE_PATCH, label="recreate")
    s.patch(D + "/d/status?fieldManager=k", {"status": {"replicas": 1, "conditions": [{"type": "Available", "status": "True"}]}, "metadata": {"annotations": {"a": "b"}, "labels": {"c": "d"}}}, ct=STRATEGIC, label="dep status")
    s.get(D + "/d")
    V = "/api/v1/namespaces/{ns}/services"
    svc = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": {"ports": [{"port": 80, "name": "a"}, {"port": 80, "protocol": "UDP", "name": "b"}], "selector": {"a": "b"}}}
    apply(s, V + "/s", svc, label="service")
    apply(s, V + "/s", changed(svc, "spec.ports", [{"port": 81, "name": "a"}]), label="service ports")
    apply(s, V + "/s", changed(svc, "spec.selector", {"c": "d"}), manager="two", label="selector atomic?")
    E = "/api/v1/namespaces/{ns}/events"
    s.post(E, {"metadata": {"name": "e"}, "involvedObject": {"kind": "Pod", "name": "p", "namespace": s.ns}, "reason": "r", "count": 1}, label="event")
    s.patch(E + "/e", {"count": 2}, ct=MERGE_PATCH, label="event patch")
    s.get(E + "/e")
    C = "/apis/batch/v1/namespaces/{ns}/cronjobs"
    apply(s, C + "/c", {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "c"}, "spec": {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}}}}, label="cronjob")
    L = "/apis/coordination.k8s.io/v1/namespaces/{ns}/leases"
    s.post(L, {"metadata": {"name": "l"}, "spec": {"holderIdentity": "a", "renewTime": "2026-01-01T00:00:00.000000Z"}}, label="lease")
    s.patch(L + "/l", {"spec": {"renewTime": "2026-01-01T00:00:01.000000Z"}}, ct=MERGE_PATCH, label="lease renew")
    R = "/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/roles"
    apply(s, R + "/r", {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "r"}, "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]}, label="role")
    I = "/apis/networking.k8s.io/v1/namespaces/{ns}/ingresses"
    apply(s, I + "/i", {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": {"name": "i"}, "spec": {"rules": [{"host": "a.b", "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": {"service": {"name": "s", "port": {"number": 80}}}}]}}]}}, label="ingress")
    N = "/apis/networking.k8s.io/v1/namespaces/{ns}/networkpolicies"
    apply(s, N + "/n", {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": "n"}, "spec": {"podSelector": {}, "ingress": [{}]}}, label="netpol")
    apply(s, "/api/v1/namespaces/{ns}", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": s.ns, "labels": {"a": "b"}}}, label="namespace")
    s.get("/api/v1/namespaces/{ns}")
    B = "/api/v1/namespaces/{ns}/serviceaccounts"
    s.post(B, {"metadata": {"name": "b"}, "secrets": [{"name": "x"}], "imagePullSecrets": [{"name": "y"}]}, label="sa")
    s.patch(B + "/b", {"imagePullSecrets": [{"name": "z"}]}, ct=STRATEGIC, label="sa patch")

@scenario("ownership/managed")
def own_managed(s):
    s.namespace()
    at = MAPS + "/a"
    mf = lambda **k: {"manager": "x", "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1", "time": "2001-01-01T00:00:00Z", "fieldsV1": {"f:data": {"f:k": {}}}, **k}
    s.post(MAPS, config_map("a", k="1", j="2"), label="create")
    for i, entry in enumerate([mf(), mf(operation="Bad"), mf(apiVersion=""), mf(fieldsType=""), mf(fieldsType="V2"), mf(fieldsV1={"x": {}}), mf(fieldsV1={"f:data": {"k:{\"a\"": {}}}), mf(time=None), mf(manager=""), mf(subresource="sub"),
                   mf(fieldsV1=None), mf(fieldsV1={}), mf(fieldsV1={"f:data": {"v:1.50": {}, "i:3": {}, "z:9": {}, "f:b": {}, "f:a": {"f:z": {}}}}), mf(apiVersion="v9"), mf(extra=1), mf(manager="m" * 200), mf(fieldsV1={"f:data": {".": {}, "f:k": {".": {}}}})]):
        s.patch(at + f"?fieldManager=p", {"metadata": {"managedFields": [entry]}, "data": {"n": str(i)}}, ct=MERGE_PATCH, label=f"sends {i}")
    s.patch(at + "?fieldManager=p", {"metadata": {"managedFields": [mf(), mf(time="2002-01-01T00:00:00Z")]}}, ct=MERGE_PATCH, label="twice the same")
    s.patch(at + "?fieldManager=p", {"metadata": {"managedFields": [mf(), {}]}}, ct=MERGE_PATCH, label="with an empty one")
    s.patch(at + "?fieldManager=p", {"metadata": {"managedFields": None}}, ct=MERGE_PATCH, label="null")
    now = s.get(at).obj or {}
    s.put(at, changed(now, "metadata.managedFields", DELETE), label="put without")
    s.put(at, changed(now, "metadata.managedFields[0].time", "2005-01-01T00:00:00Z"), label="put another time")
    k = {"kubectl.kubernetes.io/last-applied-configuration": json.dumps({**config_map("b", k="1"), "metadata": {"name": "b", "labels": {"l": "1"}}})}
    s.post(MAPS + "?fieldManager=kubectl-client-side-apply", {**config_map("b", k="1"), "metadata": {"name": "b", "labels": {"l": "1"}, "annotations": k}}, label="csa")
    apply(s, MAPS + "/b", config_map("b", k="2"), manager="other", label="another manager")
    apply(s, MAPS + "/b", config_map("b", k="2"), manager="kubectl", label="kubectl")
    apply(s, MAPS + "/b", {**config_map("b", k="3"), "metadata": {"name": "b", "annotations": {"x": "y"}}}, manager="kubectl", label="kubectl again")
    s.patch(MAPS + "/b?fieldManager=kubectl-edit", {"data": {"k": "5"}}, ct=MERGE_PATCH, label="edit")
    apply(s, MAPS + "/b", config_map("b", k="6"), manager="kubectl", label="conflicts now")
    s.get(MAPS + "/b")
    apply(s, MAPS + "/n", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "n"}}, label="generateName")
    apply(s, MAPS + "/n", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "n", "namespace": "other"}}, label="other namespace")
    apply(s, MAPS + "/n", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "n", "uid": "u"}}, label="uid of none")
    apply(s, MAPS + "/n", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "n", "resourceVersion": "5"}}, label="version of none")
    apply(s, MAPS + "/n", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "n", "labels": {"a": 1}}}, label="label type")
    apply(s, MAPS + "/n", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "n", "labels": {"a": None}}}, label="null label")
    apply(s, MAPS + "/n", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "n"}, "data": None}, label="null data")
    apply(s, MAPS + "/n", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "n"}, "data": {}}, label="empty data")
    apply(s, MAPS + "/q", config_map("q", k="1"), manager="a b", label="space")
    s.patch(MAPS + "/q?fieldManager=a%09b", json.dumps(config_map("q")), ct=APPLY, label="tab")
    s.patch(MAPS + "/q?fieldManager=x&dryRun=All&dryRun=", json.dumps(config_map("q")), ct=APPLY, label="dry")
    s.patch(MAPS + "/q?fieldManager=x&fieldValidation=Strict", '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"q"},"data":{"a":"1","a":"2"}}', ct=APPLY, label="dup strict")
    s.patch(MAPS + "/q?fieldManager=x&fieldValidation=Warn", 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: q}\ndata:\n  a: "1"\n  a: "2"\n', ct=APPLY, label="dup warn")
    s.patch(MAPS + "/q?fieldManager=x&fieldValidation=Strict", 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: q}\ndata:\n  a: "1"\n  a: "2"\n  b: "1"\n  b: "3"\n', ct=APPLY, label="dup strict yaml")
    s.patch(MAPS + "/q?fieldManager=x", "{}", ct="application/apply-patch+cbor", label="cbor")
    s.patch(MAPS + "/q?fieldManager=x", "{}", ct="application/json", label="json")
    s.patch(MAPS + "/q?fieldManager=x", "{}", ct="text/plain; charset=x", label="text")
