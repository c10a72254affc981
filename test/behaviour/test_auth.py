# SPDX-License-Identifier: Apache-2.0
"""Who asks and what he may do: RBAC, impersonation, certificates, reviews; asked by kubectl and by hand."""
import base64
import http.client
import json
import sqlite3
import ssl
import subprocess

import pytest

from conftest import BUILD, Server, wait_for

RBAC = "/apis/rbac.authorization.k8s.io/v1"
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
READ = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list"]}


def role(name, *rules, kind="Role", **more):
    return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind,
            "metadata": {"name": name}, "rules": list(rules), **more}


def binding(name, to, *users, kind="RoleBinding", role_kind="Role"):
    return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": {"name": name},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": role_kind, "name": to},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": u} for u in users]}


def as_user(server, user, method, path, body=None, **headers):
    return server.ask(method, path, body, Impersonate_User=user, **headers)


@pytest.fixture(scope="module")
def roles(shared_api):
    """jane reads ConfigMaps in default; joe manages roles there and reads ConfigMaps."""
    s, ns = shared_api, RBAC + "/namespaces/default"
    s.create(ns + "/roles", role("reader", READ))
    s.create(ns + "/rolebindings", binding("jane", "reader", "jane", "joe"))
    manage = {"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["roles", "rolebindings"],
              "verbs": ["get", "create", "update", "patch", "delete"]}
    s.create(ns + "/roles", role("manager", manage))
    s.create(ns + "/rolebindings", binding("joe", "manager", "joe"))
    return s


def test_a_role_allows_what_it_says_and_nothing_else(roles):
    assert as_user(roles, "jane", "GET", CONFIG_MAPS).status == 200
    no = as_user(roles, "jane", "GET", "/api/v1/namespaces/kube-system/configmaps")
    assert no.status == 403
    assert no.json() == {
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "reason": "Forbidden", "code": 403,
        "message": 'configmaps is forbidden: User "jane" cannot list resource "configmaps" in API group "" '
                   'in the namespace "kube-system"',
        "details": {"kind": "configmaps"}}
    no = as_user(roles, "jane", "DELETE", CONFIG_MAPS + "/x").json()
    assert no["message"] == ('configmaps "x" is forbidden: User "jane" cannot delete resource "configmaps" in API '
                             'group "" in the namespace "default"')
    no = as_user(roles, "jane", "GET", RBAC + "/clusterroles").json()
    assert no["message"] == ('clusterroles.rbac.authorization.k8s.io is forbidden: User "jane" cannot list resource '
                             '"clusterroles" in API group "rbac.authorization.k8s.io" at the cluster scope')
    no = as_user(roles, "jane", "GET", "/metrics").json()
    assert no["message"] == 'forbidden: User "jane" cannot get path "/metrics"'


def test_what_does_not_exist_is_forbidden_as_well(roles):
    no = as_user(roles, "jane", "GET", "/apis/no.such/v1/namespaces/default/things/a/log")
    assert no.status == 403
    assert no.json()["message"] == ('things.no.such "a" is forbidden: User "jane" cannot get resource "things/log" in '
                                    'API group "no.such" in the namespace "default"')
    assert roles.get("/apis/no.such/v1/things").status == 404


def test_changes_of_roles_and_bindings_hold_at_once(roles):
    path = RBAC + "/namespaces/default/rolebindings"
    for _ in range(5):
        assert as_user(roles, "ann", "GET", CONFIG_MAPS).status == 403
        roles.create(path, binding("ann", "reader", "ann"))
        assert as_user(roles, "ann", "GET", CONFIG_MAPS).status == 200
        assert roles.ask("DELETE", path + "/ann").status == 200
    roles.create(path, binding("lost", "not-there", "ann"))
    no = as_user(roles, "ann", "GET", CONFIG_MAPS).json()
    assert no["message"].endswith('in the namespace "default": RBAC: role.rbac.authorization.k8s.io "not-there" not found')
    roles.ask("DELETE", path + "/lost")


def test_a_name_in_a_field_selector_counts_for_lists_and_watches(roles):
    one = {"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["mine"], "verbs": ["list"]}
    roles.create(RBAC + "/namespaces/default/roles", role("one-secret", one))
    roles.create(RBAC + "/namespaces/default/rolebindings", binding("one-secret", "one-secret", "eve"))
    secrets = "/api/v1/namespaces/default/secrets"
    assert as_user(roles, "eve", "GET", secrets).status == 403
    assert as_user(roles, "eve", "GET", secrets + "?fieldSelector=metadata.name%3Dmine").status == 200
    assert as_user(roles, "eve", "GET", secrets + "?fieldSelector=metadata.name%3Dother").status == 403


def test_nobody_grants_more_than_he_has(roles):
    ns = RBAC + "/namespaces/default"
    assert as_user(roles, "joe", "POST", ns + "/roles", role("fine", READ)).status == 201
    no = as_user(roles, "joe", "POST", ns + "/roles", role("more", {**READ, "verbs": ["get", "delete"]},
                                                           {**READ, "resources": ["secrets"]}))
    assert no.status == 403
    assert no.json()["message"] == (
        'roles.rbac.authorization.k8s.io "more" is forbidden: user "joe" (groups=["system:authenticated"]) is '
        "attempting to grant RBAC permissions not currently held:\n"
        '{APIGroups:[""], Resources:["configmaps"], Verbs:["delete"]}\n'
        '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}')
    grow = {"rules": [{**READ, "verbs": ["*"]}]}
    for kind in ("application/merge-patch+json", "application/strategic-merge-patch+json"):
        assert as_user(roles, "joe", "PATCH", ns + "/roles/fine", grow, Content_Type=kind).status == 403
    applied = role("fine", {**READ, "verbs": ["*"]})
    no = as_user(roles, "joe", "PATCH", ns + "/roles/fine?fieldManager=x&force=true", applied,
                 Content_Type="application/apply-patch+yaml")
    assert no.status == 403 and "attempting to grant" in no.json()["message"]
    no = as_user(roles, "joe", "POST", ns + "/rolebindings",
                 binding("take", "cluster-admin", "joe", role_kind="ClusterRole"))
    assert no.status == 403
    assert '{APIGroups:["*"], Resources:["*"], Verbs:["*"]}' in no.json()["message"]
    no = as_user(roles, "joe", "POST", ns + "/rolebindings", binding("take", "missing", "joe"))
    assert (no.status, no.json()["message"]) == (404, 'role.rbac.authorization.k8s.io "missing" not found')
    assert as_user(roles, "joe", "POST", ns + "/rolebindings", binding("give", "reader", "ann")).status == 201
    assert as_user(roles, "joe", "DELETE", ns + "/rolebindings/give").status == 200


def test_bind_and_escalate_lift_the_limit(roles):
    ns = RBAC + "/namespaces/default"
    free = {"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["roles"], "verbs": ["create", "escalate"]}
    bind = {"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["clusterroles"], "resourceNames": ["view"],
            "verbs": ["bind"]}
    make = {"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["rolebindings"], "verbs": ["create"]}
    roles.create(ns + "/roles", role("free", free, bind, make))
    roles.create(ns + "/rolebindings", binding("free", "free", "zoe"))
    everything = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}
    assert as_user(roles, "zoe", "POST", ns + "/roles", role("all", everything)).status == 201
    assert as_user(roles, "zoe", "POST", ns + "/rolebindings", binding("v", "view", "x", role_kind="ClusterRole")).status == 201
    assert as_user(roles, "zoe", "POST", ns + "/rolebindings", binding("e", "all", "zoe")).status == 403


def test_an_aggregation_needs_everything(roles):
    rule = {"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["clusterroles"], "verbs": ["create"]}
    roles.create(RBAC + "/clusterroles", role("maker", rule, kind="ClusterRole"))
    roles.create(RBAC + "/clusterrolebindings",
                 binding("maker", "maker", "kim", kind="ClusterRoleBinding", role_kind="ClusterRole"))
    collect = role("mine", kind="ClusterRole",
                   aggregationRule={"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]})
    no = as_user(roles, "kim", "POST", RBAC + "/clusterroles", collect)
    assert no.status == 403
    assert no.json()["message"].endswith("must have cluster-admin privileges to use an aggregationRule")


def test_impersonation_needs_the_right_to_each_name(roles):
    rules = [{"apiGroups": [""], "resources": ["users"], "resourceNames": ["jane"], "verbs": ["impersonate"]},
             {"apiGroups": [""], "resources": ["groups"], "resourceNames": ["devs"], "verbs": ["impersonate"]}]
    body = role("actor", *rules, kind="ClusterRole")
    roles.create(RBAC + "/clusterroles", body)
    roles.create(RBAC + "/clusterrolebindings",
                 binding("actor", "actor", "actor", kind="ClusterRoleBinding", role_kind="ClusterRole"))
    # Whoever is impersonated cannot impersonate further: headers are read once. So ask what actor may do.
    def may(resource, name, sub="", group=""):
        spec = {"user": "actor", "resourceAttributes": {"verb": "impersonate", "resource": resource, "name": name,
                                                        "subresource": sub, "group": group}}
        review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec}
        return roles.create("/apis/authorization.k8s.io/v1/subjectaccessreviews", review)["status"]["allowed"]
    assert may("users", "jane") and may("groups", "devs")
    assert not may("users", "joe") and not may("groups", "system:masters")


def whoami(server, **headers):
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    answer = server.ask("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", review, **headers)
    assert answer.status == 201, answer.body
    return answer.json()["status"]["userInfo"]


def test_impersonated_identities_are_complete(roles):
    assert whoami(roles, Impersonate_User="jane") == {"username": "jane", "groups": ["system:authenticated"]}
    assert whoami(roles, Impersonate_User="jane", Impersonate_Group="devs", Impersonate_Uid="7",
                  **{"Impersonate_Extra_scopes%2Fall": "a"}) == {
        "username": "jane", "uid": "7", "groups": ["devs", "system:authenticated"], "extra": {"scopes/all": ["a"]}}
    assert whoami(roles, Impersonate_User="system:serviceaccount:a:b")["groups"] == [
        "system:serviceaccounts", "system:serviceaccounts:a", "system:authenticated"]
    assert as_user(roles, "system:anonymous", "GET", "/version").status == 200
    assert as_user(roles, "system:anonymous", "GET", "/api").status == 403
    no = roles.get(CONFIG_MAPS, Impersonate_Group="devs")
    assert no.status == 400
    assert no.json()["message"] == ('requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"devs"}, '
                                    'Extra:map[string][]string(nil)} without impersonating a user name')


PUBLIC = ("/version", "/version/", "/healthz", "/livez", "/readyz")


def ask_plainly(server, path, method="GET", **headers):
    connection = server.connect()
    connection.request(method, path, headers=headers)
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response.status, body


def test_who_shows_nothing_is_anonymous(roles):
    """May see what system:public-info-viewer lets everybody see, and what a binding lets it."""
    for path in PUBLIC:
        assert ask_plainly(roles, path)[0] == 200, path
    assert ask_plainly(roles, "/livez/ping")[0] == 403
    for path, what in (("/api", 'cannot get path \\"/api\\"'), ("/metrics", 'cannot get path \\"/metrics\\"'),
                       (CONFIG_MAPS, 'cannot list resource \\"configmaps\\"')):
        status, body = ask_plainly(roles, path)
        assert status == 403 and f'User \\"system:anonymous\\" {what}' in body.decode(), body
    # a scheme without a token counts as no credentials; an invalid token is refused
    assert ask_plainly(roles, "/version", Authorization="Basic YTpi")[0] == 200
    assert ask_plainly(roles, "/version", Authorization="Bearer wrong")[0] == 401
    assert ask_plainly(roles, "/api", **{"Impersonate-User": "admin", "Impersonate-Group": "system:masters"})[0] == 403
    roles.create(f"{RBAC}/clusterroles", {"metadata": {"name": "for-all"}, "rules": [
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list"]}]})
    roles.create(f"{RBAC}/clusterrolebindings", {"metadata": {"name": "for-all"}, "subjects": [
        {"kind": "Group", "apiGroup": "rbac.authorization.k8s.io", "name": "system:unauthenticated"}],
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "for-all"}})
    wait_for(lambda: ask_plainly(roles, CONFIG_MAPS)[0] == 200, "the binding to be known")
    assert roles.ask("DELETE", f"{RBAC}/clusterrolebindings/for-all").status == 200


def test_without_anonymous_requests_nobody_is_anonymous(tmp_path):
    server = Server(tmp_path / "data", extra=("--anonymous-auth=false",))
    for path in PUBLIC + ("/api", CONFIG_MAPS):
        assert ask_plainly(server, path)[0] == 401, path
    assert server.ask("GET", "/version").status == 200
    assert server.stop() == 0


def test_a_false_token_is_nobodys(roles):
    connection = roles.connect()
    for headers in ({"Authorization": "Bearer wrong"}, {"Authorization": "Bearer " + "x" * 20000}):
        connection.request("GET", "/api", headers=headers)
        response = connection.getresponse()
        body = json.loads(response.read())
        assert (response.status, body["reason"], body["message"]) == (401, "Unauthorized", "Unauthorized")
    connection.close()


def openssl(*args):
    subprocess.run(["openssl", *args], check=True, capture_output=True)


def make_certificate(directory, name, subject, ca, days="1"):
    key, request, cert = (directory / f"{name}.{end}" for end in ("key", "csr", "crt"))
    extensions = directory / "client.ext"
    extensions.write_text("extendedKeyUsage=clientAuth\n")
    openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", str(key),
            "-out", str(request), "-subj", subject)
    openssl("x509", "-req", "-in", str(request), "-CA", str(ca) + ".crt", "-CAkey", str(ca) + ".key",
            "-CAcreateserial", "-days", days, "-extfile", str(extensions), "-out", str(cert))
    return cert, key


def ask_with_certificate(server, cert, key, path):
    context = ssl.create_default_context(cafile=str(server.data_dir / "pki/ca.crt"))
    context.load_cert_chain(cert, key)
    connection = http.client.HTTPSConnection(server.host, server.port, context=context, timeout=30)
    connection.request("GET", path)
    response = connection.getresponse()
    body = json.loads(response.read())
    connection.close()
    return response.status, body


def test_a_certificate_of_the_cluster_names_its_user(roles, tmp_path):
    ca = roles.data_dir / "pki/ca"
    cert = make_certificate(tmp_path, "jane", "/O=devs/CN=jane", ca)
    assert ask_with_certificate(roles, *cert, CONFIG_MAPS)[0] == 200
    status, body = ask_with_certificate(roles, *cert, "/api/v1/secrets")
    assert status == 403 and 'User "jane" cannot list resource "secrets"' in body["message"]
    cert = make_certificate(tmp_path, "root", "/O=system:masters/CN=root", ca)
    assert ask_with_certificate(roles, *cert, "/api/v1/secrets")[0] == 200


def test_a_certificate_of_somebody_else_names_nobody(roles, tmp_path):
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
            str(tmp_path / "other.key"), "-out", str(tmp_path / "other.crt"), "-subj", "/CN=dormouse-ca")
    cert = make_certificate(tmp_path, "jane", "/O=system:masters/CN=jane", tmp_path / "other")
    assert ask_with_certificate(roles, *cert, CONFIG_MAPS)[0] == 401
    cert = make_certificate(tmp_path, "late", "/O=system:masters/CN=late", roles.data_dir / "pki/ca", days="-1")
    assert ask_with_certificate(roles, *cert, CONFIG_MAPS)[0] == 401
    cert = make_certificate(tmp_path, "noname", "/O=system:masters", roles.data_dir / "pki/ca")
    assert ask_with_certificate(roles, *cert, CONFIG_MAPS)[0] == 403  # anonymous, whatever groups it names


def review(server, kind, spec, path=None, **headers):
    plural = kind.lower() + "s"
    body = {"apiVersion": "authorization.k8s.io/v1", "kind": kind, "spec": spec}
    return server.ask("POST", path or "/apis/authorization.k8s.io/v1/" + plural, body, **headers)


def test_access_reviews(roles):
    spec = {"resourceAttributes": {"verb": "list", "resource": "configmaps", "namespace": "default"}}
    answer = review(roles, "SelfSubjectAccessReview", spec, Impersonate_User="jane").json()
    assert answer["status"] == {
        "allowed": True,
        "reason": 'RBAC: allowed by RoleBinding "jane/default" of Role "reader" to User "jane"'}
    spec["resourceAttributes"]["verb"] = "delete"
    assert review(roles, "SelfSubjectAccessReview", spec, Impersonate_User="jane").json()["status"] == {"allowed": False}
    path = {"nonResourceAttributes": {"path": "/healthz", "verb": "get"}, "user": "x", "groups": ["system:authenticated"]}
    assert review(roles, "SubjectAccessReview", path).json()["status"]["allowed"] is True
    local = "/apis/authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews"
    spec = {"resourceAttributes": {"verb": "get", "resource": "configmaps", "namespace": "default",
                                   "labelSelector": {"rawSelector": "a=b"}}, "user": "jane"}
    assert review(roles, "LocalSubjectAccessReview", spec, local).json()["status"]["allowed"] is True
    spec["resourceAttributes"]["namespace"] = "kube-system"
    no = review(roles, "LocalSubjectAccessReview", spec, local)
    assert no.status == 422
    assert 'spec.resourceAttributes.namespace: Invalid value: "kube-system": must match metadata.namespace' in no.json()["message"]


def test_reviews_are_validated(roles):
    no = review(roles, "SubjectAccessReview", {})
    assert no.status == 422
    assert no.json()["message"] == (
        '.authorization.k8s.io "" is invalid: [spec.resourceAttributes: Invalid value: null: '
        "exactly one of nonResourceAttributes or resourceAttributes must be specified, spec.user: Invalid value: "
        '"": at least one of user or group must be specified]')
    assert review(roles, "SelfSubjectRulesReview", {}).json()["message"] == "no namespace on request"
    assert roles.get("/apis/authorization.k8s.io/v1/subjectaccessreviews").status == 405


def test_reviews_speak_protobuf(roles):
    spec = {"resourceAttributes": {"verb": "list", "resource": "pods"}}
    answer = review(roles, "SelfSubjectAccessReview", spec, Accept="application/vnd.kubernetes.protobuf")
    assert answer.status == 201 and answer.body.startswith(b"k8s\0") and b"SelfSubjectAccessReview" in answer.body
    make_account(roles, "typed")
    answer = roles.ask("POST", f"{ACCOUNTS}/typed/token", {"spec": {}}, Accept="application/vnd.kubernetes.protobuf")
    assert answer.status == 201 and b"TokenRequest" in answer.body


def test_kubectl_auth(roles):
    assert roles.kubectl("auth", "can-i", "list", "configmaps", "--as", "jane").stdout.strip() == "yes"
    assert roles.kubectl("auth", "can-i", "list", "secrets", "--as", "jane", check=False).stdout.strip() == "no"
    listed = roles.kubectl("auth", "can-i", "--list", "--as", "jane").stdout
    assert "configmaps" in listed and "[get list]" in listed and "[/apis/*]" in listed
    assert "jane" in roles.kubectl("auth", "whoami", "--as", "jane", "--as-group", "devs").stdout
    no = roles.kubectl("get", "secrets", "--as", "jane", check=False)
    assert 'Error from server (Forbidden): secrets is forbidden: User "jane" cannot list resource "secrets"' in no.stderr


def test_the_defaults_come_back(data_dir):
    server = Server(data_dir)
    names = {o["metadata"]["name"]: o for o in server.get(RBAC + "/clusterroles").json()["items"]}
    assert {"cluster-admin", "admin", "edit", "view", "system:discovery", "system:node", "system:kube-scheduler",
            "system:controller:job-controller"} <= set(names)
    assert names["view"]["metadata"]["labels"] == {"kubernetes.io/bootstrapping": "rbac-defaults",
                                                   "rbac.authorization.k8s.io/aggregate-to-edit": "true"}
    version = server.get(RBAC + "/clusterroles/system:basic-user").json()["metadata"]["resourceVersion"]
    assert server.ask("DELETE", RBAC + "/clusterrolebindings/system:discovery").status == 200
    changed = names["system:kube-dns"] | {"rules": []}
    assert server.ask("PUT", RBAC + "/clusterroles/system:kube-dns", changed).status == 200
    server.stop()
    server = Server(data_dir)
    assert server.get(RBAC + "/clusterrolebindings/system:discovery").status == 200
    again = server.get(RBAC + "/clusterroles/system:kube-dns").json()
    assert again["rules"] == names["system:kube-dns"]["rules"]
    assert server.get(RBAC + "/clusterroles/system:basic-user").json()["metadata"]["resourceVersion"] == version
    assert server.stop() == 0


# ---- tokens ----


def ask_with_token(server, token, path, method="GET", body=None):
    connection = server.connect()
    connection.request(method, path, body=json.dumps(body) if body else None,
                       headers={"Authorization": "Bearer " + token, "Content-Type": "application/json"})
    response = connection.getresponse()
    answer = json.loads(response.read())
    connection.close()
    return response.status, answer


def claims(token):
    part = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


def token_review(server, token, **spec):
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token, **spec}}
    return server.create("/apis/authentication.k8s.io/v1/tokenreviews", body)["status"]


ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"


def make_account(server, name):
    return server.create(ACCOUNTS, {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}})


def test_a_service_account_gets_a_token_and_what_it_is_bound_to(roles):
    uid = make_account(roles, "robot")["metadata"]["uid"]
    token = roles.kubectl("create", "token", "robot").stdout.strip()
    c = claims(token)
    assert c["iss"] == "https://kubernetes.default.svc" and c["aud"] == ["https://kubernetes.default.svc"]
    assert c["sub"] == "system:serviceaccount:default:robot"
    assert c["kubernetes.io"] == {"namespace": "default", "serviceaccount": {"name": "robot", "uid": uid}}
    assert c["exp"] - c["iat"] == 3600 and c["nbf"] == c["iat"] and c["jti"]
    status, body = ask_with_token(roles, token, CONFIG_MAPS)
    assert status == 403 and 'User "system:serviceaccount:default:robot" cannot list' in body["message"]
    grant = binding("robot", "reader")
    grant["subjects"] = [{"kind": "ServiceAccount", "name": "robot", "namespace": "default"}]
    roles.create(RBAC + "/namespaces/default/rolebindings", grant)
    for _ in range(3):  # remembered, and with writes in between
        assert ask_with_token(roles, token, CONFIG_MAPS)[0] == 200
        assert ask_with_token(roles, token, CONFIG_MAPS)[0] == 200
        roles.create(CONFIG_MAPS, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "x"}})
    assert ask_with_token(roles, token, "/api/v1/namespaces/default/secrets")[0] == 403
    user = token_review(roles, token)
    assert user["authenticated"] is True and user["audiences"] == ["https://kubernetes.default.svc"]
    assert user["user"] == {
        "username": "system:serviceaccount:default:robot", "uid": uid,
        "groups": ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"],
        "extra": {"authentication.kubernetes.io/credential-id": ["JTI=" + c["jti"]]}}
    # It dies with its account, also when one of the same name follows.
    assert roles.ask("DELETE", ACCOUNTS + "/robot").status == 200
    assert ask_with_token(roles, token, CONFIG_MAPS)[0] == 401
    make_account(roles, "robot")
    assert ask_with_token(roles, token, CONFIG_MAPS)[0] == 401
    assert "UID does not match claim" in token_review(roles, token)["error"]


def test_a_token_is_for_its_audience(roles):
    make_account(roles, "speaker")
    token = roles.kubectl("create", "token", "speaker", "--audience", "vault", "--duration", "20m").stdout.strip()
    assert ask_with_token(roles, token, CONFIG_MAPS)[0] == 401
    assert token_review(roles, token)["error"] == (
        '[invalid bearer token, token audiences ["vault"] is invalid for the target audiences '
        '["https://kubernetes.default.svc"]]')
    assert token_review(roles, token, audiences=["other", "vault"])["audiences"] == ["vault"]


def test_a_token_lives_as_long_as_what_it_is_bound_to(roles):
    make_account(roles, "bound")
    secrets = "/api/v1/namespaces/default/secrets"
    secret = roles.create(secrets, {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "keeper"}})
    token = roles.kubectl("create", "token", "bound", "--bound-object-kind", "Secret", "--bound-object-name",
                          "keeper").stdout.strip()
    assert claims(token)["kubernetes.io"]["secret"] == {"name": "keeper", "uid": secret["metadata"]["uid"]}
    assert ask_with_token(roles, token, CONFIG_MAPS)[0] == 403
    roles.ask("DELETE", secrets + "/keeper")
    assert ask_with_token(roles, token, CONFIG_MAPS)[0] == 401
    assert token_review(roles, token)["error"] == "[invalid bearer token, service account token has been invalidated]"


def test_token_requests_are_validated(roles):
    make_account(roles, "asker")
    def ask(spec, name="asker"):
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
        answer = roles.ask("POST", f"{ACCOUNTS}/{name}/token", body)
        return answer.status, answer.json().get("message")
    assert ask({"expirationSeconds": 60}) == (
        422, 'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 60: '
             'may not specify a duration less than 10 minutes')
    assert ask({"expirationSeconds": 2**33})[1].endswith("may not specify a duration larger than 2^32 seconds")
    assert ask({"audiences": ["x"] * 65})[0] == 400
    assert ask({}, "nobody") == (404, 'serviceaccounts "nobody" not found')
    assert ask({"boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": "p"}}) == (404, 'pods "p" not found')
    assert ask({"boundObjectRef": {"kind": "Thing", "apiVersion": "a/v1", "name": "p"}}) == (
        400, "cannot bind token to object of type a/v1, Kind=Thing")
    status = roles.ask("POST", f"{ACCOUNTS}/asker/token", {"spec": {}})
    assert status.status == 201 and set(status.json()["status"]) == {"token", "expirationTimestamp"}


def test_forged_tokens_are_refused(roles):
    make_account(roles, "real")
    token = roles.kubectl("create", "token", "real").stdout.strip()
    head, body, signature = token.split(".")
    none = base64.urlsafe_b64encode(b'{"alg":"none"}').rstrip(b"=").decode()
    other = base64.urlsafe_b64encode(json.dumps(claims(token) | {"sub": "system:serviceaccount:default:robot"}).encode())
    for forged in (f"{none}.{body}.", f"{none}.{body}.{signature}", f"{head}.{other.rstrip(b'=').decode()}.{signature}",
                   f"{head}.{body}.{'A' * len(signature)}", f"{head}.{body}.{signature}x", token[:-3], f"{head}.{body}"):
        assert ask_with_token(roles, forged, CONFIG_MAPS)[0] == 401
    assert ask_with_token(roles, token, CONFIG_MAPS)[0] == 403


def test_the_issuer_tells_its_keys(roles):
    config = roles.get("/.well-known/openid-configuration").json()
    assert config["issuer"] == "https://kubernetes.default.svc"
    keys = roles.get("/openid/v1/jwks")
    assert keys.headers["Content-Type"] == "application/jwk-set+json"
    assert [(k["kty"], k["alg"], k["use"]) for k in keys.json()["keys"]] == [("EC", "ES256", "sig")]
    assert as_user(roles, "jane", "GET", "/openid/v1/jwks").status == 403
    assert as_user(roles, "system:serviceaccount:a:b", "GET", "/openid/v1/jwks").status == 200


def test_tokens_of_a_file(data_dir, tmp_path):
    tokens = tmp_path / "tokens.csv"
    tokens.write_text('first,tom,77,"devs,system:masters"\nsecond,ann,3\n')
    server = Server(data_dir, extra=["--token-auth-file", str(tokens), "--service-account-issuer", "https://me.example"])
    assert ask_with_token(server, "first", "/api/v1/secrets")[0] == 200
    assert ask_with_token(server, "second", "/api/v1/secrets")[0] == 403
    assert ask_with_token(server, "third", "/api")[0] == 401
    connection = server.connect()
    for user, what in (("joe", 'users "joe" is forbidden: User "ann" cannot impersonate resource "users" in '
                                            'API group "" at the cluster scope'),
                              ("system:serviceaccount:a:b",
                               'serviceaccounts "b" is forbidden: User "ann" cannot impersonate resource '
                               '"serviceaccounts" in API group "" in the namespace "a"')):
        connection.request("GET", "/api", headers={"Authorization": "Bearer second", "Impersonate-User": user})
        response = connection.getresponse()
        assert (response.status, json.loads(response.read())["message"]) == (403, what)
    connection.close()
    assert token_review(server, "first")["user"] == {
        "username": "tom", "uid": "77", "groups": ["devs", "system:masters", "system:authenticated"]}
    assert server.get("/.well-known/openid-configuration").json()["issuer"] == "https://me.example"
    assert server.stop() == 0
    assert "first" not in server.text_of_log()
    tokens.write_text("a,b,c\nonly-a-token\n")
    broken = Server(str(tmp_path / "other"), extra=["--token-auth-file", str(tokens)], wait=False)
    assert broken.process.wait(30) == 1
    assert "line 2 of the token file" in broken.text_of_log()


def test_a_kubeconfig_for_one_more_user(roles, tmp_path):
    out = tmp_path / "jane.kubeconfig"
    subprocess.run([str(BUILD / "dormouse"), "kubeconfig", "--data-dir", str(roles.data_dir), "--user", "jane",
                    "--group", "devs", "--group", "ops", "-o", str(out)], check=True)
    assert out.stat().st_mode & 0o777 == 0o600
    assert roles.kubectl("--kubeconfig", str(out), "get", "configmaps").returncode == 0
    assert "[devs ops system:authenticated]" in roles.kubectl("--kubeconfig", str(out), "auth", "whoami").stdout
    no = roles.kubectl("--kubeconfig", str(out), "get", "secrets", check=False)
    assert 'User "jane" cannot list resource "secrets"' in no.stderr
    bad = subprocess.run([str(BUILD / "dormouse"), "kubeconfig", "--data-dir", str(tmp_path / "none"), "--user", "x"],
                         capture_output=True, text=True)
    assert bad.returncode == 1 and f"'{tmp_path / 'none'}' is no data directory of a server: start" in bad.stderr
    (roles.data_dir / "kubeconfig").rename(tmp_path / "admin")
    bad = subprocess.run([str(BUILD / "dormouse"), "kubeconfig", "--data-dir", str(roles.data_dir), "--user", "x"],
                         capture_output=True, text=True)
    (tmp_path / "admin").rename(roles.data_dir / "kubeconfig")
    assert bad.returncode == 2 and "give --server" in bad.stderr


def test_a_secret_of_the_old_kind_holds_a_token(roles):
    uid = make_account(roles, "old")["metadata"]["uid"]
    secrets = "/api/v1/namespaces/default/secrets"
    body = {"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/service-account-token",
            "metadata": {"name": "old-token", "annotations": {"kubernetes.io/service-account.name": "old"}}}
    made = roles.create(secrets, body)
    assert made["metadata"]["annotations"]["kubernetes.io/service-account.uid"] == uid
    data = {k: base64.b64decode(v).decode() for k, v in made["data"].items()}
    assert data["namespace"] == "default" and data["ca.crt"].startswith("-----BEGIN CERTIFICATE")
    assert claims(data["token"])["iss"] == "kubernetes/serviceaccount"
    status, answer = ask_with_token(roles, data["token"], CONFIG_MAPS)
    assert status == 403 and 'User "system:serviceaccount:default:old"' in answer["message"]
    roles.ask("DELETE", secrets + "/old-token")
    assert ask_with_token(roles, data["token"], CONFIG_MAPS)[0] == 401
    body["metadata"] = {"name": "lost", "annotations": {"kubernetes.io/service-account.name": "nobody"}}
    assert "token" not in roles.create(secrets, body).get("data", {})


def test_certificates_are_signed_on_request(roles, tmp_path):
    key, request = tmp_path / "u.key", tmp_path / "u.csr"
    openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", str(key),
            "-out", str(request), "-subj", "/O=devs/CN=ursula")
    path = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
    spec = {"request": base64.b64encode(request.read_bytes()).decode(), "usages": ["client auth"],
            "signerName": "kubernetes.io/kube-apiserver-client", "username": "somebody-else"}
    body = {"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "spec": spec}
    made = roles.create(path, body | {"metadata": {"name": "ursula"}})
    assert made["spec"]["username"] == "admin" and "system:masters" in made["spec"]["groups"]
    assert "certificate" not in made.get("status", {})
    roles.kubectl("certificate", "approve", "ursula")
    pem = wait_for(lambda: roles.get(path + "/ursula").json()["status"].get("certificate"), "a certificate")
    cert = tmp_path / "u.crt"
    cert.write_bytes(base64.b64decode(pem))
    status, answer = ask_with_certificate(roles, cert, key, CONFIG_MAPS)
    assert status == 403 and 'User "ursula" cannot list' in answer["message"]
    assert "Approved,Issued" in roles.kubectl("get", "csr", "ursula").stdout
    # Who may update the approval still needs the right to the signer.
    rules = [{"apiGroups": ["certificates.k8s.io"], "resources": ["certificatesigningrequests/approval"],
              "verbs": ["update"]}]
    roles.create(RBAC + "/clusterroles", role("approver", *rules, kind="ClusterRole"))
    roles.create(RBAC + "/clusterrolebindings",
                 binding("approver", "approver", "ann", kind="ClusterRoleBinding", role_kind="ClusterRole"))
    second = roles.create(path, body | {"metadata": {"name": "second"}})
    second["status"] = {"conditions": [{"type": "Approved", "status": "True", "reason": "x"}]}
    no = as_user(roles, "ann", "PUT", path + "/second/approval", second)
    assert no.status == 403
    assert no.json()["message"].endswith(
        'user not permitted to approve requests with signerName "kubernetes.io/kube-apiserver-client"')
    # A request for something else than a client's certificate fails once it is approved.
    roles.create(path, body | {"metadata": {"name": "third"}, "spec": spec | {"usages": ["server auth"]}})
    roles.kubectl("certificate", "approve", "third")
    wait_for(lambda: "Failed" in roles.kubectl("get", "csr", "third").stdout, "the condition Failed")
    openssl("req", "-new", "-key", str(key), "-out", str(request), "-subj", "/O=system:masters/CN=root")
    spec["request"] = base64.b64encode(request.read_bytes()).decode()
    no = roles.ask("POST", path, body | {"metadata": {"name": "root"}, "spec": spec})
    assert no.status == 403 and "system:masters group is not allowed" in no.json()["message"]


def test_parts_of_a_certificate_request(roles, tmp_path):
    openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
            str(tmp_path / "k"), "-out", str(tmp_path / "r"), "-subj", "/CN=somebody")
    path = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
    spec = {"request": base64.b64encode((tmp_path / "r").read_bytes()).decode(), "usages": ["digital signature"],
            "signerName": "example.com/e2e"}
    roles.create(path, {"metadata": {"name": "parts"}, "spec": spec})

    def patch(part, body):
        answer = roles.ask("PATCH", f"{path}/parts/{part}", body, Content_Type="application/merge-patch+json")
        assert answer.status == 200, answer.body
        return answer.json()

    condition = {"type": "Mine", "status": "True", "reason": "e2e"}
    made = patch("approval", {"metadata": {"annotations": {"a": "1"}}, "status": {"conditions": [condition]}})
    assert made["metadata"]["annotations"] == {"a": "1"}
    assert [c["type"] for c in made["status"]["conditions"]] == ["Mine"] and made["status"]["conditions"][0]["lastUpdateTime"]
    made["status"]["conditions"].append(condition | {"type": "Approved"})
    assert len(roles.ask("PUT", path + "/parts/approval", made).json()["status"]["conditions"]) == 2
    certificate = base64.b64encode((roles.data_dir / "pki/ca.crt").read_bytes()).decode()
    made = patch("status", {"status": {"certificate": certificate, "conditions": [condition | {"type": "Other"}]}})
    assert made["status"]["certificate"] == certificate
    assert {c["type"] for c in made["status"]["conditions"]} == {"Approved", "Other"}
    no = roles.ask("PUT", path + "/parts/approval", made | {"status": {"conditions": []}})
    assert no.status == 422 and 'may not remove a condition of type "Approved"' in no.json()["message"]


def test_extensions_are_told_whom_to_believe(roles):
    reported = roles.get("/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication").json()
    assert reported["data"]["client-ca-file"] == (roles.data_dir / "pki/ca.crt").read_text()


def test_an_administrator_of_a_namespace(roles):
    """The role "admin" is made of others; who has it may grant what is in it, and no more."""
    roles.create("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}})
    ns = RBAC + "/namespaces/team/rolebindings"
    roles.create(ns, binding("lead", "admin", "lead", role_kind="ClusterRole"))
    deployments = "/apis/apps/v1/namespaces/team/deployments"
    assert as_user(roles, "lead", "GET", deployments).status == 200
    assert as_user(roles, "lead", "GET", "/apis/apps/v1/deployments").status == 403
    assert as_user(roles, "lead", "POST", ns, binding("dev", "edit", "dev", role_kind="ClusterRole")).status == 201
    assert as_user(roles, "dev", "POST", "/api/v1/namespaces/team/configmaps",
                   {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}}).status == 201
    assert as_user(roles, "dev", "POST", ns, binding("more", "view", "x", role_kind="ClusterRole")).status == 403
    no = as_user(roles, "lead", "POST", ns, binding("root", "cluster-admin", "lead", role_kind="ClusterRole"))
    assert no.status == 403
    # A rule that is collected for the role counts for those who have it already.
    extra = role("team-crons", {"apiGroups": ["example.com"], "resources": ["crons"], "verbs": ["get"]}, kind="ClusterRole")
    extra["metadata"]["labels"] = {"rbac.authorization.k8s.io/aggregate-to-view": "true"}
    crons = "/apis/example.com/v1/namespaces/team/crons/a"
    assert as_user(roles, "dev", "GET", crons).status == 403
    roles.create(RBAC + "/clusterroles", extra)
    wait_for(lambda: as_user(roles, "dev", "GET", crons).status == 404, "the rule in edit, by way of view")


def test_bodies_wait_while_a_token_is_checked(roles):
    """Over HTTP/2 (kubectl) and HTTP/1.1; a token that is seen for the first time is looked up in the store."""
    make_account(roles, "writer")
    grant = binding("writer", "edit", role_kind="ClusterRole")
    grant["subjects"] = [{"kind": "ServiceAccount", "name": "writer", "namespace": "default"}]
    roles.create(RBAC + "/namespaces/default/rolebindings", grant)
    big = "x" * 500000
    for i in range(3):
        token = roles.kubectl("create", "token", "writer").stdout.strip()
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"big-{i}"}, "data": {"k": big}}
        assert ask_with_token(roles, token, CONFIG_MAPS, "POST", body)[0] == 201
        token = roles.kubectl("create", "token", "writer").stdout.strip()
        made = roles.kubectl("--kubeconfig", "/dev/null", "--server", roles.url, "--token", token,
                             "--certificate-authority", str(roles.data_dir / "pki/ca.crt"), "create", "-f", "-",
                             input=json.dumps(body | {"metadata": {"name": f"kubectl-{i}"}}))
        assert "created" in made.stdout
        small = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "never"}}
        assert ask_with_token(roles, "wrong", CONFIG_MAPS, "POST", small)[0] == 401


def test_a_watch_ends_with_the_account_whose_token_opened_it(dormouse_api):
    api, ns = dormouse_api, "/api/v1/namespaces/default"
    accounts = {}
    for name in ("gone", "bound", "stays"):
        api.create(ns + "/serviceaccounts", {"metadata": {"name": name}})
        api.create(RBAC + "/namespaces/default/rolebindings", {
            **binding(name, "view", kind="RoleBinding", role_kind="ClusterRole"),
            "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": "default"}]})
    api.create(ns + "/secrets", {"metadata": {"name": "holder"}})
    secret = {"kind": "Secret", "apiVersion": "v1", "name": "holder"}
    for name in ("gone", "bound", "stays"):
        spec = {"spec": {"boundObjectRef": secret}} if name == "bound" else {"spec": {}}
        accounts[name] = api.create(f"{ns}/serviceaccounts/{name}/token", spec)["status"]["token"]
    watches = {name: api.watch(CONFIG_MAPS + "?watch=1&labelSelector=none", Authorization="Bearer " + token)
               for name, token in accounts.items() for _ in range(2)}  # the second by what is remembered of the token
    assert api.ask("DELETE", ns + "/serviceaccounts/gone").status == 200
    assert watches["gone"].next() is None
    assert api.ask("DELETE", ns + "/secrets/holder").status == 200
    assert watches["bound"].next() is None
    api.create(CONFIG_MAPS, {"metadata": {"name": "seen", "labels": {"none": ""}}})
    assert watches["stays"].next()["object"]["metadata"]["name"] == "seen"
    watches["stays"].close()


def test_a_watch_ends_with_an_account_that_is_deleted_unread(dormouse_api):
    """As with any other deletion, though the server does not know what it deletes."""
    api, ns = dormouse_api, "/api/v1/namespaces/default"
    api.create(ns + "/serviceaccounts", {"metadata": {"name": "lost"}})
    api.create(RBAC + "/namespaces/default/rolebindings", {
        **binding("lost", "view", kind="RoleBinding", role_kind="ClusterRole"),
        "subjects": [{"kind": "ServiceAccount", "name": "lost", "namespace": "default"}]})
    token = api.create(ns + "/serviceaccounts/lost/token", {"spec": {}})["status"]["token"]
    watch = api.watch(CONFIG_MAPS + "?watch=1", Authorization="Bearer " + token)
    with sqlite3.connect(api.data_dir / "store.db", timeout=10) as db:
        changed = db.execute("UPDATE log SET value = zeroblob(length(value)) WHERE id = (SELECT id FROM cur WHERE key = ?)",
                             (b"/registry/serviceaccounts/default/lost",))
        assert changed.rowcount == 1
    db.close()
    assert api.ask("DELETE", ns + "/serviceaccounts/lost?ignoreStoreReadErrorWithClusterBreakingPotential=true").status == 200
    while (event := watch.next()) is not None:
        assert event["type"] in ("ADDED", "BOOKMARK"), event
    assert ask_with_token(api, token, CONFIG_MAPS)[0] == 401
