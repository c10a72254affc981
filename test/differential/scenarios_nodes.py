# SPDX-License-Identifier: Apache-2.0
"""What a node may do and write: the Node authorizer and NodeRestriction; nodes are played by impersonation."""
import time

from scenario import scenario
from session import MERGE_PATCH

AUTHORIZATION = "/apis/authorization.k8s.io/v1"
CORE, PODS, SECRETS, CLAIMS = (f"/api/v1/namespaces/{{ns}}/{kind}" for kind in ("configmaps", "pods", "secrets", "persistentvolumeclaims"))
NODES, VOLUMES = "/api/v1/nodes", "/api/v1/persistentvolumes"
LEASES, CSI_NODES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases", "/apis/storage.k8s.io/v1/csinodes"
SLICES = "/apis/resource.k8s.io/v1/resourceslices"
CONTAINERS = [{"name": "c", "image": "i"}]


def names(s):
    """Two nodes of this scenario's own."""
    return s.ns + "-1", s.ns + "-2"


def node(name):
    return {"user": "system:node:" + name, "groups": ("system:nodes",)}


def pod(name, on, **spec):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"nodeName": on, "containers": CONTAINERS, **spec}}


def claim(name, volume):
    return {"metadata": {"name": name}, "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "", "volumeName": volume,
                                                 "resources": {"requests": {"storage": "1Gi"}}}}


def volume(name, ns, of):
    secret = {"namespace": ns, "name": "of-volume"}
    return {"metadata": {"name": name}, "spec": {
        "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, "claimRef": {"namespace": ns, "name": of},
        "csi": {"driver": "d.example.com", "volumeHandle": "h", "nodeStageSecretRef": secret}}}


def wait_related(s, name, kind, of):
    """Upstream's graph learns of a new pod a moment after it was made."""
    spec = {"user": "system:node:" + name, "groups": ["system:nodes"],
            "resourceAttributes": {"namespace": s.ns, "verb": "get", "resource": kind, "name": of}}
    for _ in range(200):
        if s.quietly("POST", AUTHORIZATION + "/subjectaccessreviews", {"spec": spec}).get("status", "allowed"):
            return
        time.sleep(0.05)


def service_account(s):
    s.quietly("POST", "/api/v1/namespaces/{ns}/serviceaccounts", {"metadata": {"name": "default"}})


@scenario("auth/nodes read what concerns them")
def reads(s):
    s.namespace()
    service_account(s)
    one, two = names(s)
    for name in ("mine", "other", "of-volume"):
        s.quietly("POST", SECRETS, {"metadata": {"name": name}})
    s.quietly("POST", CORE, {"metadata": {"name": "map"}})
    s.quietly("POST", VOLUMES, volume(s.ns + "-v", s.ns, "claim"))
    s.quietly("POST", CLAIMS, claim("claim", s.ns + "-v"))
    s.quietly("POST", CLAIMS, claim("free", s.ns + "-none"))
    s.quietly("POST", PODS, pod("p1", one, volumes=[
        {"name": "s", "secret": {"secretName": "mine"}}, {"name": "m", "configMap": {"name": "map"}},
        {"name": "v", "persistentVolumeClaim": {"claimName": "claim"}}]))
    s.quietly("POST", PODS, pod("p2", two, imagePullSecrets=[{"name": "other"}]))
    wait_related(s, one, "secrets", "of-volume")
    wait_related(s, one, "configmaps", "map")
    wait_related(s, two, "secrets", "other")
    status = lambda a: a.obj if a.status >= 400 else None  # noqa: E731  what is refused, and that the rest is not
    for path in ("/mine", "/other", "/of-volume", "/none", "", "?fieldSelector=metadata.name%3Dmine", "?fieldSelector=metadata.name%3Dother",
                 "?watch=1&timeoutSeconds=1"):
        s.get(SECRETS + path, **node(one), view=status)
    for method, path in (("PUT", "/mine"), ("DELETE", "/mine"), ("POST", ""), ("DELETE", "")):
        s.ask(method, SECRETS + path, "{}" if method in ("PUT", "POST") else None, **node(one))
    for path in (CORE + "/map", "/api/v1/namespaces/{ns}/serviceaccounts/default", "/api/v1/namespaces/{ns}/serviceaccounts/none",
                 "/api/v1/namespaces/{ns}/serviceaccounts", CLAIMS + "/claim", CLAIMS + "/free", CLAIMS, VOLUMES + "/{ns}-v", VOLUMES + "/none", VOLUMES, PODS + "/p1",
                 PODS + "/p2", PODS, PODS + "?fieldSelector=metadata.name%3Dp1", PODS + "?fieldSelector=metadata.name%3Dp2",
                 "/api/v1/pods?fieldSelector=spec.nodeName%3D" + one, "/api/v1/pods?fieldSelector=spec.nodeName%3D" + two,
                 "/api/v1/pods?fieldSelector=spec.nodeName%21%3D" + one, PODS + "/p1/log", PODS + "/p1/status", NODES, NODES + "/" + one, NODES + "/" + two,
                 NODES + "?fieldSelector=metadata.name%3D" + one, NODES + f"/{one}/proxy", LEASES, LEASES + "/" + one, LEASES + "/" + two,
                 "/apis/coordination.k8s.io/v1/namespaces/{ns}/leases/" + one, CSI_NODES, CSI_NODES + "/" + one, CSI_NODES + "/" + two, SLICES,
                 SLICES + "/none", SLICES + "?fieldSelector=spec.nodeName%3D" + one, "/apis/resource.k8s.io/v1/namespaces/{ns}/resourceclaims/none",
                 "/apis/storage.k8s.io/v1/volumeattachments/none", "/apis/storage.k8s.io/v1/volumeattachments", "/api/v1/services",
                 "/apis/apps/v1/deployments", "/apis/node.k8s.io/v1/runtimeclasses", "/apis/storage.k8s.io/v1/csidrivers"):
        s.get(path, **node(one), view=status)
        s.get(path, user="system:node:", groups=("system:nodes",), label=path + " without a name", view=status)
    s.post(AUTHORIZATION + "/selfsubjectaccessreviews", {"spec": {"resourceAttributes": {"namespace": s.ns, "verb": "get", "resource": "secrets", "name": "mine"}}}, **node(one))
    s.post(AUTHORIZATION + "/selfsubjectaccessreviews", {"spec": {"resourceAttributes": {"namespace": s.ns, "verb": "get", "resource": "secrets", "name": "other"}}}, **node(one))
    for selector in ({"rawSelector": "spec.nodeName=" + one}, {"requirements": [{"key": "spec.nodeName", "operator": "In", "values": [one]}]},
                     {"requirements": [{"key": "spec.nodeName", "operator": "NotIn", "values": [one]}]}, {"rawSelector": "spec.nodeName=" + two}):
        s.post(AUTHORIZATION + "/selfsubjectaccessreviews", {"spec": {"resourceAttributes": {"verb": "list", "resource": "pods", "fieldSelector": selector}}}, **node(one))
    s.post(AUTHORIZATION + "/selfsubjectrulesreviews", {"spec": {"namespace": s.ns}}, **node(one), view=lambda a: {k: a.get("status", k) for k in ("incomplete", "evaluationError")})


def patch(s, path, body, **who):
    status = lambda a: a.obj if a.status >= 400 else None  # noqa: E731
    s.ask("PATCH", path, body, ct=MERGE_PATCH, label=f"PATCH {path} {body}", view=status, **who)


@scenario("auth/nodes write their own Node")
def own_node(s):
    one, two = names(s)
    me = node(one)
    s.post(NODES, {"metadata": {"name": two}}, **me)
    s.post(NODES, {"metadata": {"name": one, "labels": {"node-restriction.kubernetes.io/x": "1", "a.k8s.io/b": "1", "kubernetes.io/os": "linux", "x.example.com/y": "1"}}}, **me)
    s.post(NODES, {"metadata": {"name": one}, "spec": {"configSource": {"configMap": {"namespace": "a", "name": "b", "kubeletConfigKey": "c"}}}}, **me)
    s.post(NODES, {"metadata": {"name": one, "labels": {"topology.kubernetes.io/zone": "z"}}}, **me, view=lambda a: None)
    s.get(NODES + "/" + one, **me, view=lambda a: None)
    for body in ({"metadata": {"labels": {"topology.kubernetes.io/zone": "y", "node.kubernetes.io/a": "b"}}}, {"metadata": {"labels": {"kubernetes.io/role": "x", "k8s.io/z": "y"}}},
                 {"metadata": {"labels": {"a.node-restriction.kubernetes.io/q": "x"}}}, {"spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}},
                 {"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "x", "uid": "u"}]}}, {"spec": {"unschedulable": True}},
                 {"spec": {"configSource": {"configMap": {"namespace": "a", "name": "b", "kubeletConfigKey": "c"}}}}):
        for path in (NODES + "/" + one, NODES + f"/{one}/status"):
            patch(s, path, body, **me)
    patch(s, NODES + f"/{one}/status", {"status": {"nodeInfo": {"architecture": "x"}}}, **node(two))
    s.ask("DELETE", NODES + "/" + one, **me)
    s.post(LEASES, {"metadata": {"name": two}}, **me)
    s.post("/apis/coordination.k8s.io/v1/namespaces/default/leases", {"metadata": {"name": one}}, **me)
    s.post(LEASES, {"metadata": {"name": one}}, **me, view=lambda a: None)
    s.ask("DELETE", LEASES + "/" + one, **node(two))
    s.ask("DELETE", LEASES + "/" + one, **me)
    s.post(CSI_NODES, {"metadata": {"name": two}, "spec": {"drivers": []}}, **me)
    s.post(CSI_NODES, {"metadata": {"name": one}, "spec": {"drivers": []}}, **me, view=lambda a: None)
    s.ask("DELETE", CSI_NODES + "/" + one, **me, view=lambda a: None)
    slice_ = {"metadata": {"name": one}, "spec": {"driver": "d.example.com", "nodeName": two, "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1}}}
    s.post(SLICES, slice_, **me)
    s.post("/api/v1/namespaces/{ns}/configmaps", {"metadata": {"name": "x"}}, user="system:node:", groups=("system:nodes",))
    s.quietly("DELETE", NODES + "/" + one)


@scenario("auth/nodes make mirror pods")
def mirrors(s):
    s.namespace()
    service_account(s)
    one, two = names(s)
    me = node(one)

    def mirror(owner=None, annotation="kubernetes.io/config.mirror", on=one, owners=None, **spec):
        full = {"apiVersion": "v1", "kind": "Node", "name": one, "uid": uid, "controller": True, **(owner or {})}
        return {"metadata": {"name": "m", "annotations": {annotation: "x"}, "ownerReferences": owners if owners is not None else [full]},
                "spec": {"nodeName": on, "containers": CONTAINERS, **spec}}
    uid = "none"
    s.post(PODS, mirror(), **me, label="without a Node")
    uid = s.quietly("POST", NODES, {"metadata": {"name": one}}).get("metadata", "uid", default="")
    for _ in range(100):  # upstream's admission looks at a cache
        if s.quietly("POST", PODS + "?dryRun=All", mirror(), **me).status == 201:
            break
        time.sleep(0.05)
    other = {"apiVersion": "v1", "kind": "Node", "name": two, "uid": "u"}
    for label, body in (
            ("no mirror", mirror(annotation="x.example.com/y")), ("elsewhere", mirror(on=two)), ("no owner", mirror(owners=[])),
            ("two owners", mirror(owners=[other, {**other, "uid": "v"}])), ("another owner", mirror({"name": two})), ("another kind", mirror({"kind": "Pod"})),
            ("no controller", mirror({"controller": False})), ("blocks", mirror({"blockOwnerDeletion": True})), ("another uid", mirror({"uid": "u"})),
            ("an account", mirror(serviceAccountName="default")), ("pulls", mirror(imagePullSecrets=[{"name": "s"}])),
            ("env", mirror(containers=[{"name": "c", "image": "i", "envFrom": [{"configMapRef": {"name": "m"}}]}])),
            ("a claim of resources", mirror(resourceClaims=[{"name": "r", "resourceClaimName": "x"}]))):
        s.post(PODS, body, **me, label=label)
    for label, source in (
            ("configMap", {"configMap": {"name": "c"}}), ("secret", {"secret": {"secretName": "c"}}), ("claim", {"persistentVolumeClaim": {"claimName": "c"}}),
            ("ephemeral", {"ephemeral": {"volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}}}),
            ("csi", {"csi": {"driver": "d.example.com"}}), ("glusterfs", {"glusterfs": {"endpoints": "e", "path": "p"}}), ("azureFile", {"azureFile": {"secretName": "c", "shareName": "x"}}),
            ("token", {"projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}}), ("projected secret", {"projected": {"sources": [{"secret": {"name": "s"}}]}}),
            ("projected map", {"projected": {"sources": [{"configMap": {"name": "s"}}]}})):
        s.post(PODS, mirror(volumes=[{"name": "v", **source}]), **me, label="a volume of " + label)
    s.post(PODS, mirror(volumes=[{"name": "v", "hostPath": {"path": "/"}}, {"name": "e", "emptyDir": {}}]), **me, view=lambda a: None)
    s.ask("DELETE", PODS + "/m?gracePeriodSeconds=0", **me, view=lambda a: None)
    s.quietly("DELETE", NODES + "/" + one)


@scenario("auth/nodes report on their pods")
def reports(s):
    s.namespace()
    service_account(s)
    one, two = names(s)
    me = node(one)
    s.quietly("POST", CLAIMS, claim("claim", s.ns + "-none"))
    uids = {}
    for name, on, spec in (("p1", one, {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "claim"}},
                                                    {"name": "t", "projected": {"sources": [{"serviceAccountToken": {"audience": "vault", "path": "t"}}]}}]}), ("p2", two, {})):
        uids[name] = s.quietly("POST", PODS, pod(name, on, **spec)).get("metadata", "uid", default="")
    wait_related(s, one, "persistentvolumeclaims", "claim")
    wait_related(s, one, "serviceaccounts", "default")
    for path, body in (("/p1/status", {"status": {"phase": "Running"}}), ("/p2/status", {"status": {"phase": "Running"}}), ("/p1/status", {"metadata": {"labels": {"a": "b"}}}),
                       ("/p1/status", {"status": {"resourceClaimStatuses": [{"name": "a"}]}}), ("/p1", {"metadata": {"labels": {"a": "b"}}}),
                       ("/p1/resize", {"spec": {}}), ("/p1/ephemeralcontainers", {"spec": {}})):
        patch(s, PODS + path, body, **me)
    patch(s, CLAIMS + "/claim/status", {"status": {"capacity": {"storage": "2Gi"}, "conditions": [{"type": "Resizing", "status": "True"}]}}, **me)
    for body in ({"status": {"phase": "Lost"}}, {"metadata": {"labels": {"a": "b"}}}):
        s.ask("PATCH", CLAIMS + "/claim/status", body, ct=MERGE_PATCH, label=f"claim {body}", **me,
              view=lambda a: (a.get("message", default="") or "").split("status.conditions")[0])  # behind it upstream shows Go structures
    token = "/api/v1/namespaces/{ns}/serviceaccounts/default/token"
    bound = lambda name, uid=None, **more: {"spec": {"boundObjectRef": {"apiVersion": "v1", "kind": "Pod", "name": name, "uid": uids.get(name, "u") if uid is None else uid}, **more}}  # noqa: E731
    status = lambda a: a.obj if a.status >= 400 else None  # noqa: E731
    for label, body in (("plain", bound("p1")), ("named audience", bound("p1", audiences=["vault"])), ("another audience", bound("p1", audiences=["x"])),
                        ("two audiences", bound("p1", audiences=["vault", "x"])), ("another node's pod", bound("p2")), ("no pod", bound("none")), ("no uid", bound("p1", uid="")),
                        ("another uid", bound("p1", uid="u")), ("not bound", {"spec": {}}), ("to a node", {"spec": {"boundObjectRef": {"apiVersion": "v1", "kind": "Node", "name": one}}})):
        s.post(token, body, **me, label="token: " + label, view=status)
    s.post(token.replace("default", "none"), bound("p1"), **me)
    s.ask("POST", "/api/v1/namespaces/{ns}/serviceaccounts", {"metadata": {"name": "x"}}, **me)
    s.post(PODS + "/p2/eviction", {"metadata": {"name": "p2"}}, **me)
    s.post(PODS + "/p1/eviction", {"metadata": {"name": "p1"}, "deleteOptions": {"dryRun": ["All"]}}, **me)
    s.post(PODS + "/p1/binding", {"metadata": {"name": "p1"}, "target": {"name": one}}, **me)
    s.ask("DELETE", PODS + "/p2", **me)
    s.ask("DELETE", PODS + "/p1?gracePeriodSeconds=0", **me, view=status)
    s.ask("DELETE", PODS + "/p1", **me, view=status)
