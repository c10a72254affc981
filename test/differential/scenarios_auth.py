# SPDX-License-Identifier: Apache-2.0
"""Who one is and what one may do; other users are played by impersonation."""
import time

from scenario import scenario
from session import rules_in_order

RBAC = "/apis/rbac.authorization.k8s.io/v1"
MAPS = "/api/v1/namespaces/{ns}/configmaps"
AUTHENTICATION, AUTHORIZATION = "/apis/authentication.k8s.io/v1", "/apis/authorization.k8s.io/v1"


def role(name, *rules, kind="Role"):
    return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": {"name": name}, "rules": list(rules)}


def binding(name, role_kind, role_name, user, kind="RoleBinding"):
    return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": {"name": name},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": role_kind, "name": role_name}, "subjects": [{"kind": "User", "name": user}]}


def rule(verbs, resources, groups=("",), names=None):
    return {"verbs": verbs, "resources": resources, "apiGroups": list(groups), **({"resourceNames": names} if names else {})}


def wait_allowed(s, user, verb="get", resource="configmaps"):
    """Upstream's authorizer sees a new binding a moment after it was made."""
    spec = {"resourceAttributes": {"namespace": s.ns, "verb": verb, "resource": resource}}
    for _ in range(100):
        if s.quietly("POST", AUTHORIZATION + "/selfsubjectaccessreviews", {"spec": spec}, user=user).get("status", "allowed"):
            return
        time.sleep(0.05)


@scenario("auth/requests without identity")
def unauthenticated(s):
    for headers in ({"Authorization": None}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic YTpi"}, {"Authorization": "Bearer"},
                    {"Authorization": "Bearer a.b.c"}):
        for path in ("/api", "/api/v1/namespaces", "/healthz", "/livez", "/readyz", "/version", "/metrics", "/openapi/v2", "/nothing"):
            s.get(path, headers=headers, label=f"{path} {headers}")


@scenario("auth/refusals")
def refusals(s):
    s.namespace()
    user = {"user": "nobody-special"}
    for method, path, body in [
        ("GET", MAPS, None), ("GET", MAPS + "/m", None), ("POST", MAPS, "{}"), ("PUT", MAPS + "/m", "{}"), ("PATCH", MAPS + "/m", "{}"), ("DELETE", MAPS + "/m", None), ("DELETE", MAPS, None),
        ("GET", MAPS + "?watch=1&timeoutSeconds=1", None), ("GET", "/api/v1/namespaces", None), ("GET", "/api/v1/nodes/n", None), ("GET", "/apis/apps/v1/deployments", None), ("GET", "/apis/apps/v1/namespaces/{ns}/deployments/d/scale", None),
        ("POST", "/api/v1/namespaces/{ns}/pods/p/eviction", "{}"), ("GET", "/api/v1/nothings", None), ("GET", "/apis/none.example.com/v1/things", None), ("GET", "/", None), ("GET", "/metrics", None), ("GET", "/logs", None),
        ("GET", "/nothing", None), ("GET", "/api", None), ("GET", "/apis", None), ("GET", "/api/v1", None), ("GET", "/openapi/v2", None), ("GET", "/openapi/v3", None), ("GET", "/version", None), ("GET", "/healthz", None), ("GET", "/livez/ping", None), ("POST", "/version", "{}")]:
        s.ask(method, path, body, ct="application/merge-patch+json" if method == "PATCH" else None, label=f"{method} {path}", view=(lambda a: None) if "openapi" in path or path in ("/apis", "/version", "/api/v1") else None, **user)
    s.ask("GET", MAPS, user="system:anonymous", groups=("system:unauthenticated",), label="as anonymous")
    s.ask("GET", MAPS, user="x", groups=("system:masters",), label="as a master")
    s.ask("GET", MAPS, headers={"Impersonate-Group": "g"}, label="a group without a user")
    s.ask("GET", MAPS, headers={"Impersonate-User": "a", "Impersonate-Extra-Scopes": "x", "Impersonate-Uid": "u"}, label="with extras")
    s.ask("GET", MAPS, headers={"Impersonate-User": "system:serviceaccount:ns:name"}, label="a service account")
    s.ask("POST", AUTHENTICATION + "/selfsubjectreviews", {}, headers={"Impersonate-User": "a", "Impersonate-Group": "g", "Impersonate-Extra-Scopes": "x", "Impersonate-Uid": "u"}, label="whoami in disguise")
    s.ask("POST", AUTHENTICATION + "/selfsubjectreviews", {}, headers={"Impersonate-User": "system:serviceaccount:ns:name"}, label="whoami as a service account")


@scenario("auth/roles")
def roles(s):
    s.namespace()
    u = s.ns + "-user"
    s.post(f"{RBAC}/namespaces/{{ns}}/roles", role("reader", rule(["get", "list", "watch"], ["configmaps"]), rule(["get"], ["secrets"], names=["one"]), rule(["*"], ["deployments/scale"], ["apps"])))
    s.post(f"{RBAC}/namespaces/{{ns}}/rolebindings", binding("reader", "Role", "reader", u))
    wait_allowed(s, u)
    s.get(MAPS, user=u, label="may list")
    s.get(MAPS + "/none", user=u, label="may get")
    s.post(MAPS, {"metadata": {"name": "m"}}, user=u, label="may not create")
    s.get("/api/v1/configmaps", user=u, label="not everywhere")
    s.get("/api/v1/namespaces/{ns}/secrets/one", user=u, label="one secret")
    s.get("/api/v1/namespaces/{ns}/secrets/two", user=u, label="no other")
    s.get("/api/v1/namespaces/{ns}/secrets", user=u, label="nor all")
    s.get("/api/v1/namespaces/{ns}/secrets?fieldSelector=metadata.name%3Done", user=u, label="one by field selector")
    s.get("/apis/apps/v1/namespaces/{ns}/deployments/d/scale", user=u, label="a subresource")
    s.get("/apis/apps/v1/namespaces/{ns}/deployments/d", user=u, label="not the resource")
    s.post(AUTHORIZATION + "/selfsubjectaccessreviews", {"spec": {"resourceAttributes": {"namespace": s.ns, "verb": "get", "resource": "configmaps"}}}, user=u, label="can I")
    s.post(AUTHORIZATION + "/selfsubjectaccessreviews", {"spec": {"resourceAttributes": {"namespace": s.ns, "verb": "delete", "resource": "configmaps"}}}, user=u, label="can I not")
    s.post(AUTHORIZATION + "/selfsubjectaccessreviews", {"spec": {"nonResourceAttributes": {"path": "/healthz", "verb": "get"}}}, user=u, label="can I see a path")
    s.post(AUTHORIZATION + "/selfsubjectrulesreviews", {"spec": {"namespace": s.ns}}, user=u, label="what can I", view=rules_in_order)
    s.post(f"{RBAC}/namespaces/{{ns}}/rolebindings", binding("edits", "ClusterRole", "edit", u), label="edit")
    wait_allowed(s, u, "create")
    s.post(MAPS, {"metadata": {"name": "m"}}, user=u, label="may create now")
    s.post(f"{RBAC}/namespaces/{{ns}}/roles", role("mine"), user=u, label="but no roles")
    s.post(f"{RBAC}/namespaces/{{ns}}/rolebindings", binding("dangling", "Role", "none", u), label="a binding to nothing")


@scenario("auth/escalation")
def escalation(s):
    s.namespace()
    u = s.ns + "-user"
    s.quietly("POST", f"{RBAC}/namespaces/{{ns}}/roles", role("manager", rule(["*"], ["roles", "rolebindings"], ["rbac.authorization.k8s.io"]), rule(["get"], ["configmaps"])))
    s.quietly("POST", f"{RBAC}/namespaces/{{ns}}/rolebindings", binding("manager", "Role", "manager", u))
    wait_allowed(s, u)
    roles, bindings = f"{RBAC}/namespaces/{{ns}}/roles", f"{RBAC}/namespaces/{{ns}}/rolebindings"
    s.post(roles, role("less", rule(["get"], ["configmaps"])), user=u, label="a role of what one has")
    s.post(roles, role("more", rule(["get", "delete"], ["configmaps", "secrets"]), rule(["get"], ["pods"], names=["p"])), user=u, label="a role of more")
    s.put(roles + "/less", role("less", rule(["*"], ["*"], ["*"])), user=u, label="an update to more")
    s.post(bindings, binding("admin", "ClusterRole", "cluster-admin", u), user=u, label="a binding to more")
    s.post(bindings, binding("view", "ClusterRole", "view", u), user=u, label="a binding to view")
    s.post(bindings, binding("less", "Role", "less", u), user=u, label="a binding to what one has")
    s.quietly("POST", roles, role("binder", rule(["bind"], ["clusterroles"], ["rbac.authorization.k8s.io"], ["view"]), rule(["escalate"], ["roles"], ["rbac.authorization.k8s.io"])))
    s.quietly("POST", bindings, binding("binder", "Role", "binder", u))
    time.sleep(0.5)  # until upstream's authorizer has seen it; there is nothing to ask for "bind" on one name
    s.post(bindings, binding("view", "ClusterRole", "view", u), user=u, label="with bind")
    s.post(roles, role("more", rule(["get"], ["secrets"])), user=u, label="with escalate")
    s.ask("GET", MAPS, user=u, headers={"Impersonate-Group": "system:masters"}, label="(impersonation needs a real user)")


@scenario("auth/bootstrap roles")
def bootstrap(s):
    skip = ("cert-manager", "d-")
    for plural in ("clusterroles", "clusterrolebindings"):
        s.get(f"{RBAC}/{plural}", label=plural, view=lambda a: {i["metadata"]["name"]: {k: v for k, v in {**i, "labels": i["metadata"].get("labels"), "annotations": i["metadata"].get("annotations")}.items() if k != "metadata"}
                                                               for i in a.get("items", default=[]) if not i["metadata"]["name"].startswith(skip)})
    for ns in ("kube-system", "kube-public"):
        for plural in ("roles", "rolebindings"):
            s.get(f"{RBAC}/namespaces/{ns}/{plural}", label=f"{ns} {plural}", view=lambda a: {i["metadata"]["name"]: {k: v for k, v in i.items() if k != "metadata"} for i in a.get("items", default=[])})
    s.get("/apis/scheduling.k8s.io/v1/priorityclasses", view=lambda a: [i["metadata"]["name"] for i in a.get("items", default=[]) if not i["metadata"]["name"].startswith("d-")], label="priority classes")
    s.get("/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas", view=lambda a: [i["metadata"]["name"] for i in a.get("items", default=[]) if not i["metadata"]["name"].startswith("d-")], label="flow schemas")
    s.get("/api/v1/namespaces/default/services/kubernetes", label="the service kubernetes")
    s.get("/api/v1/namespaces/default/endpoints/kubernetes", label="its endpoints", view=lambda a: a.status)


@scenario("auth/reviews")
def reviews(s):
    s.namespace()
    access = "/subjectaccessreviews"
    get = {"namespace": s.ns, "verb": "get", "resource": "configmaps"}
    for what, spec in {
        "admin": {"user": "x", "groups": ["system:masters"], "resourceAttributes": get}, "nobody": {"user": "x", "resourceAttributes": get}, "no user": {"resourceAttributes": get}, "empty": {}, "both": {"user": "x", "resourceAttributes": get, "nonResourceAttributes": {"path": "/x", "verb": "get"}},
        "path": {"user": "x", "groups": ["system:authenticated"], "nonResourceAttributes": {"path": "/healthz", "verb": "get"}}, "path of nobody": {"user": "x", "nonResourceAttributes": {"path": "/metrics", "verb": "get"}},
        "selectors": {"user": "x", "resourceAttributes": {**get, "labelSelector": {"requirements": [{"key": "a", "operator": "Wrong"}]}}},
    }.items():
        s.post(AUTHORIZATION + access, {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec}, label=what)
    s.post(f"{AUTHORIZATION}/namespaces/{{ns}}/localsubjectaccessreviews", {"metadata": {"namespace": s.ns}, "spec": {"user": "x", "resourceAttributes": get}}, label="local")
    s.post(f"{AUTHORIZATION}/namespaces/{{ns}}/localsubjectaccessreviews", {"spec": {"user": "x", "resourceAttributes": {**get, "namespace": "other"}}}, label="local, elsewhere")
    s.post(AUTHORIZATION + "/selfsubjectaccessreviews", {"spec": {"resourceAttributes": get}}, label="self")
    s.post(AUTHORIZATION + "/selfsubjectaccessreviews", {"spec": {}}, label="self, empty")
    s.post(AUTHORIZATION + "/selfsubjectrulesreviews", {"spec": {"namespace": s.ns}}, label="rules", view=rules_in_order)
    s.post(AUTHORIZATION + "/selfsubjectrulesreviews", {"spec": {}}, label="rules of no namespace", view=rules_in_order)
    s.post(AUTHENTICATION + "/selfsubjectreviews", {}, label="whoami", view=lambda a: sorted(a.get("status", "userInfo", default={})))
    s.post(AUTHENTICATION + "/selfsubjectreviews", {}, accept="application/json;as=Table;v=v1;g=meta.k8s.io,application/json", label="whoami as a table")
    s.post(AUTHENTICATION + "/tokenreviews", {"spec": {"token": "wrong"}}, label="a wrong token")
    s.post(AUTHENTICATION + "/tokenreviews", {"spec": {}}, label="no token")
    s.get(AUTHENTICATION + "/tokenreviews", label="get of reviews")
    s.get(AUTHORIZATION + "/selfsubjectaccessreviews", label="list of reviews")


@scenario("auth/service account tokens")
def tokens(s):
    s.namespace()
    account = s.quietly("POST", "/api/v1/namespaces/{ns}/serviceaccounts", {"metadata": {"name": "robot"}})
    path = "/api/v1/namespaces/{ns}/serviceaccounts/robot/token"
    made = s.post(path, {"spec": {}}, label="a token")
    token = made.get("status", "token", default="none")
    for what, spec in {"audience": {"audiences": ["a"]}, "short": {"expirationSeconds": 5}, "long": {"expirationSeconds": 1 << 40}, "600": {"expirationSeconds": 600}, "bound to none": {"boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": "none"}},
                       "bound to a kind": {"boundObjectRef": {"kind": "ConfigMap", "apiVersion": "v1", "name": "x"}}}.items():
        s.post(path, {"spec": spec}, label=what)
    s.quietly("POST", "/api/v1/namespaces/{ns}/secrets", {"metadata": {"name": "s"}})
    bound = s.post(path, {"spec": {"boundObjectRef": {"kind": "Secret", "apiVersion": "v1", "name": "s"}}}, label="bound to a secret").get("status", "token", default="none")
    s.post("/api/v1/namespaces/{ns}/serviceaccounts/none/token", {"spec": {}}, label="of none")
    s.get(path, label="get")
    as_robot = {"Authorization": "Bearer " + token}
    s.post(AUTHENTICATION + "/selfsubjectreviews", {}, headers=as_robot, label="whoami")
    s.get(MAPS, headers=as_robot, label="may not list")
    s.post(AUTHENTICATION + "/tokenreviews", {"spec": {"token": token}}, label="review")
    s.post(AUTHENTICATION + "/tokenreviews", {"spec": {"token": token, "audiences": ["other"]}}, label="review for another audience")
    s.get("/api", headers={"Authorization": "Bearer " + bound}, label="bound token", view=lambda a: a.status)
    s.quietly("DELETE", "/api/v1/namespaces/{ns}/secrets/s")
    s.quietly("DELETE", "/api/v1/namespaces/{ns}/serviceaccounts/robot")
