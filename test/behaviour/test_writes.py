# SPDX-License-Identifier: Apache-2.0
"""What the writing verbs refuse, warn about and leave alone, in upstream's words."""
import base64
import json

import pytest

from conftest import ROOT, wait_for

CM = "/api/v1/namespaces/default/configmaps"
TYPES = {"json": "application/json-patch+json", "merge": "application/merge-patch+json",
         "strategic": "application/strategic-merge-patch+json", "apply": "application/apply-patch+yaml"}


@pytest.fixture(scope="module")
def cm(shared_api):
    """A ConfigMap that these tests try to change."""
    shared_api.create(CM, {"metadata": {"name": "writes", "labels": {"a": "b"}}, "data": {"k": "v"}})
    return f"{CM}/writes"


def patch(api, path, kind, body, query=""):
    return api.ask("PATCH", path + query, body if isinstance(body, str) else json.dumps(body), Content_Type=TYPES[kind])


GENERIC = "the server rejected our request due to an error in our request"
MAP = "json: cannot unmarshal array into Go value of type map[string]interface {}"


@pytest.mark.parametrize("kind, body, query, code, text", [
    ("json", "{", "", 400, "error decoding patch: unexpected end of JSON input"),
    ("merge", "nonsense", "", 400, "error decoding patch: invalid character 'o' in literal null (expecting 'u')"),
    ("json", {}, "", 400, "error decoding patch: json: cannot unmarshal object into Go value of type "
     "[]handlers.jsonPatchOp"),
    ("json", {}, "?fieldValidation=Ignore", 400, "json: cannot unmarshal object into Go value of type jsonpatch.Patch"),
    ("json", [{"op": "add", "path": 1}], "", 400, "error decoding patch: json: cannot unmarshal number into Go struct "
     "field jsonPatchOp.path of type string"),
    ("json", [{"op": "test", "path": "/data/k", "value": "x"}], "", 422, GENERIC),
    ("json", [{"op": "remove", "path": "/data/none"}], "", 422, GENERIC),
    ("json", [{"op": "dance", "path": "/data/k"}], "", 422, GENERIC),
    ("json", [{"op": "test", "path": "/data/k", "value": "v"}] * 10001, "", 413,
     "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001"),
    ("merge", [], "", 400, "error decoding patch: " + MAP),
    ("merge", "null", "", 400, "Invalid JSON Patch"),
    ("strategic", [], "", 400, MAP),
    ("strategic", {"metadata": {"$patch": "dance"}}, "", 500, "unknown patch type: dance in map"),
    ("merge", {"data": {"k": 1}}, "", 422,
     ' "" is invalid: patch: Invalid value: "{\\"apiVersion\\":\\"v1\\",\\"data\\":{\\"k\\":1}'),
    ("strategic", {"data": {"k": 1}}, "", 422, ' "" is invalid: patch: Invalid value: "map[data:map[k:1]]": '
     "cannot convert int64 to string"),
    ("strategic", {"data": []}, "", 422, ' "" is invalid: patch: Invalid value: "map[data:[]]": '
     "cannot restore map from slice"),
    ("apply", "a: b: c", "?fieldManager=x", 400, "error decoding YAML: error converting YAML to JSON: yaml: "),
    ("apply", "[]", "?fieldManager=x", 400,
     "error decoding YAML: error unmarshaling JSON: while decoding JSON: " + MAP),
    ("apply", "", "?fieldManager=x", 400, "invalid object type: /, Kind="),
    ("merge", {}, "?force=true", 422, 'PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: '
     "may not be specified for non-apply patch"),
])
def test_what_is_wrong_with_a_patch(shared_api, cm, kind, body, query, code, text):
    answer = patch(shared_api, cm, kind, body, query)
    status = answer.json()
    assert answer.status == code, status
    assert status["message"].startswith(text), status["message"]
    if text == GENERIC:
        assert status["reason"] == "Invalid" and status["details"] == {}


def test_lines_of_an_applied_body_count_from_its_first(shared_api, cm):
    body = "\n\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: writes}\ndata:\n  k: v\n  k: w\n"
    answer = patch(shared_api, cm, "apply", body, "?fieldManager=x&force=true&fieldValidation=Strict")
    assert answer.status == 400
    assert 'line 8: key "k" already set in map' in answer.json()["message"]


@pytest.mark.parametrize("kind, body, warning", [
    ("json", '[{"op":"add","path":"/data/k","value":"v","extra":1}]', 'json patch unknown field "[0].extra"'),
    ("json", '[{"op":"add","op":"add","path":"/data/k","value":"v"}]', 'json patch duplicate field "[0].op"'),
    ("json", '[{"op":"add","path":"/dat","value":"v"}]', 'unknown field "dat"'),
    ("merge", '{"data":{"k":"v","k":"v"}}', 'duplicate field "data.k"'),
    ("merge", '{"dat":{}}', 'unknown field "dat"'),
    ("strategic", '{"dat":{}}', 'unknown field "dat"'),
    ("apply", '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"writes"},"data":{"k":"v","k":"v"}}',
     'line 1: key "k" already set in map'),
])
def test_patches_follow_field_validation(shared_api, cm, kind, body, warning):
    more = "&fieldManager=x&force=true" if kind == "apply" else ""
    answer = patch(shared_api, cm, kind, body, "?fieldValidation=Warn" + more)
    assert answer.status == 200, answer.body
    quoted = warning.replace('"', '\\"')
    assert answer.headers.get_all("Warning") == [f'299 - "{quoted}"']
    assert not patch(shared_api, cm, kind, body, "?fieldValidation=Ignore" + more).headers.get_all("Warning")
    answer = patch(shared_api, cm, kind, body, "?fieldValidation=Strict" + more)
    assert answer.status == (400 if kind == "apply" else 422)
    text = answer.json()["message"].replace('\\"', '"')
    if kind == "apply":
        assert text == ("error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n"
                        '  line 1: key "k" already set in map')
    else:
        assert "strict decoding error: " + warning in text


def test_a_patch_type_that_is_not_served(shared_api, cm):
    answer = shared_api.ask("PATCH", cm, "{}", Content_Type="application/apply-patch+cbor")
    assert answer.status == 415
    assert answer.json()["message"] == "415: Unsupported Media Type" and answer.json()["details"] == {}


def test_generated_names_are_cut_and_random(shared_api):
    long = "n" * 80
    names = {shared_api.create(CM, {"metadata": {"generateName": long}})["metadata"]["name"] for _ in range(3)}
    assert len(names) == 3
    assert all(len(n) == 63 and n.startswith("n" * 58) and set(n[58:]) <= set("bcdfghjklmnpqrstvwxz2456789") for n in names)


def test_a_wrong_precondition_is_a_conflict(shared_api, cm):
    now = shared_api.get(cm).json()
    other = {**now, "metadata": {**now["metadata"], "uid": "else"}}
    no = shared_api.ask("PUT", cm, other).json()
    assert no["message"] == ('Operation cannot be fulfilled on configmaps "writes": StorageError: invalid object, Code: 4, '
                             "Key: /configmaps/default/writes, ResourceVersion: 0, AdditionalErrorMsg: "
                             f'Precondition failed: UID in precondition: else, UID in object meta: {now["metadata"]["uid"]}')
    old = {**now, "metadata": {**now["metadata"], "resourceVersion": "1"}}
    no = shared_api.ask("PUT", cm, old)
    assert no.status == 409 and "the object has been modified; please apply your changes to the latest version" in \
        no.json()["message"]
    no = patch(shared_api, cm, "merge", {"metadata": {"resourceVersion": "1"}})
    assert no.status == 409


@pytest.mark.parametrize("method, path, body, code", [
    ("POST", CM, {"metadata": {"name": "never"}}, 201),
    ("PUT", CM + "/writes", {"metadata": {"name": "writes"}, "data": {"k": "dry"}}, 200),
    ("PATCH", CM + "/writes", {"data": {"k": "dry"}}, 200),
    ("DELETE", CM + "/writes", None, 200),
    ("DELETE", CM, None, 200),
])
def test_a_dry_run_is_answered_and_not_done(shared_api, cm, method, path, body, code):
    before = shared_api.get(CM).json()["items"]
    kind = {"Content_Type": TYPES["merge"]} if method == "PATCH" else {}
    answer = shared_api.ask(method, path + "?dryRun=All", body, **kind)
    assert answer.status == code, answer.body
    assert shared_api.get(CM).json()["items"] == before
    answer = shared_api.ask(method, path + "?dryRun=Some", body, **kind)
    assert answer.status == 422 and 'dryRun: Unsupported value: ' in answer.json()["message"]


def test_annotations_of_a_deployment_are_a_generation(shared_api):
    api, path = shared_api, "/apis/apps/v1/namespaces/default/deployments"
    labels = {"app": "g"}
    api.create(path, {"metadata": {"name": "gen"}, "spec": {"selector": {"matchLabels": labels}, "template": {
        "metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}}})
    now = patch(api, path + "/gen", "merge", {"metadata": {"annotations": {"a": "b"}}}).json()
    assert now["metadata"]["generation"] == 2
    now = patch(api, path + "/gen", "merge", {"metadata": {"labels": {"a": "b"}}}).json()
    assert now["metadata"]["generation"] == 2


def test_a_pod_may_be_applied_again(shared_api):
    api, path = shared_api, "/api/v1/namespaces/default/pods/again"
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "again"}, "spec": {
        "containers": [{"name": "c", "image": "i"}], "tolerations": [{"key": "k", "operator": "Exists"}]}}
    made = patch(api, path, "apply", pod, "?fieldManager=x")
    assert made.status == 201, made.body
    again = patch(api, path, "apply", pod, "?fieldManager=x")
    assert again.status == 200 and again.json()["metadata"]["resourceVersion"] == \
        made.json()["metadata"]["resourceVersion"], again.body


def test_a_version_of_what_is_not_there_does_not_count(shared_api):
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "fresh", "resourceVersion": "5"}}
    assert patch(shared_api, CM + "/fresh", "apply", body, "?fieldManager=x").status == 201


SHAPES = ["[]", "{}", "null", '"x"', "5", '[{"op":"replace","path":"","value":[]}]', '[{"op":"replace","path":"","value":{}}]',
          '[{"op":"replace","path":"/metadata","value":5}]', '{"metadata":5}', '{"metadata":[]}', '{"metadata":null}',
          '{"metadata":{"managedFields":5}}', '{"metadata":{"managedFields":[5]}}', '{"metadata":{"managedFields":[{"fieldsV1":5}]}}',
          '{"spec":[]}', '{"spec":null}', '{"kind":5}', '{"apiVersion":[]}', '{"metadata":{"annotations":5}}',
          '{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"shapes"},"spec":{"replicas":"x"}}',
          '{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"shapes"},"spec":[]}',
          '{"apiVersion":"apps/v1","kind":"Deployment","metadata":[]}',
          '{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"shapes","managedFields":5}}',
          '{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"shapes","annotations":null},"spec":null,"status":null}']


@pytest.mark.parametrize("sub", ["", "/scale", "/status"])
def test_no_shape_of_a_patch_ends_the_server(shared_api, sub):
    api, path = shared_api, "/apis/apps/v1/namespaces/default/deployments"
    labels = {"app": "shapes"}
    api.ask("POST", path, {"metadata": {"name": "shapes"}, "spec": {"selector": {"matchLabels": labels}, "template": {
        "metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}}})
    for body in SHAPES:
        for kind in TYPES:
            more = "&fieldManager=kubectl&force=true" if kind == "apply" else ""
            assert patch(api, f"{path}/shapes{sub}", kind, body, "?fieldValidation=Ignore" + more).status
        assert api.ask("PUT", f"{path}/shapes{sub}?fieldValidation=Ignore", body).status
    assert api.get(path + "/shapes").status == 200


def test_what_is_being_deleted_still_exists(shared_api):
    body = {"metadata": {"name": "leaving", "finalizers": ["example.com/stay"]}}
    shared_api.create(CM, body)
    assert shared_api.ask("DELETE", CM + "/leaving").status == 200
    no = shared_api.ask("POST", CM, body)
    assert no.status == 409
    assert no.json()["message"] == 'object is being deleted: configmaps "leaving" already exists'


def test_what_is_stored_without_effect_is_said(shared_api):
    hooks = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
    answer = shared_api.ask("POST", hooks, json.dumps({"metadata": {"name": "quiet"}}), Content_Type="application/json")
    assert answer.status == 201
    output, = answer.headers.get_all("Warning")
    assert "ValidatingWebhookConfiguration is stored without effect" in output
    answer = shared_api.ask("POST", "/api/v1/namespaces", json.dumps({"metadata": {
        "name": "guarded", "labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}),
        Content_Type="application/json")
    assert answer.status == 201
    output, = answer.headers.get_all("Warning")
    assert "does not enforce Pod Security" in output
    assert shared_api.ask("DELETE", hooks + "/quiet").status == 200
    services = "/apis/apiregistration.k8s.io/v1/apiservices"
    answer = shared_api.ask("POST", services, {"metadata": {"name": "v1.elsewhere.example.com"}, "spec": {
        "group": "elsewhere.example.com", "version": "v1", "groupPriorityMinimum": 1000, "versionPriority": 10,
        "service": {"name": "s", "namespace": "default"}, "insecureSkipTLSVerify": True}})
    assert answer.status == 201, answer.body
    output, = answer.headers.get_all("Warning")
    assert "stored without effect" in output
    available, = answer.json()["status"]["conditions"]
    assert (available["type"], available["status"], available["reason"]) == ("Available", "False", "NotForwarded")
    assert shared_api.ask("DELETE", services + "/v1.elsewhere.example.com").status == 200
    no = shared_api.ask("POST", services, {"metadata": {"name": "v1.elsewhere.example.com"}, "spec": {
        "group": "elsewhere.example.com", "version": "v1", "groupPriorityMinimum": 1000, "versionPriority": 10,
        "caBundle": "AAAA"}})
    assert no.status == 422 and "local APIServices may not have a caBundle" in no.json()["message"]


CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def hooked(plural, **client):
    """A definition of versions v1 (stored) and v1beta1 with a conversion webhook."""
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    return {"metadata": {"name": f"{plural}.hooks.example.com"}, "spec": {
        "group": "hooks.example.com", "scope": "Namespaced", "names": {"plural": plural, "kind": plural.capitalize()},
        "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema},
                     {"name": "v1beta1", "served": True, "storage": False, "schema": schema}],
        "conversion": {"strategy": "Webhook", "webhook": {
            "conversionReviewVersions": ["v1"], "clientConfig": {"url": "https://127.0.0.1:1/convert", **client}}}}}


def test_versions_that_a_webhook_would_convert_are_refused(shared_api):
    api = shared_api
    answer = api.ask("POST", CRDS, hooked("gears"))
    assert answer.status == 201, answer.body
    output, = answer.headers.get_all("Warning")
    assert "objects are served in version v1, in which they are stored; requests for v1beta1 fail" in output
    new, old = (f"/apis/hooks.example.com/{v}/namespaces/default/gears" for v in ("v1", "v1beta1"))
    api.create("/api/v1/namespaces", {"metadata": {"name": "hooked"}})
    for ns in ("default", "hooked"):
        api.create(new.replace("default", ns), {"apiVersion": "hooks.example.com/v1", "kind": "Gears",
                                                "metadata": {"name": "g"}})
    assert api.get(f"{new}/g").json()["apiVersion"] == "hooks.example.com/v1"
    for method, path in (("GET", old), ("GET", f"{old}/g"), ("POST", old), ("PATCH", f"{old}/g"), ("DELETE", f"{old}/g")):
        no = api.ask(method, path)
        assert no.status == 500, (method, no.body)
        assert "conversion webhook for hooks.example.com/v1beta1, Kind=Gears failed" in no.json()["message"]
    # the server's own controllers do not ask in that version
    assert api.ask("DELETE", "/api/v1/namespaces/hooked").status == 200
    wait_for(lambda: api.ask("GET", "/api/v1/namespaces/hooked").status == 404, "the namespace to go")
    # what was stored before the storage version changed is not shown as what it is not
    crd = api.get(f"{CRDS}/gears.hooks.example.com").json()
    for v in crd["spec"]["versions"]:
        v["storage"] = not v["storage"]
    assert api.ask("PUT", f"{CRDS}/gears.hooks.example.com", crd).status == 200
    no = api.ask("GET", f"{old}/g")
    assert no.status >= 400 and "conversion webhook for hooks.example.com/v1, Kind=Gears failed" in no.json()["message"]
    assert api.ask("DELETE", f"{CRDS}/gears.hooks.example.com").status == 200
    wait_for(lambda: api.ask("GET", f"{CRDS}/gears.hooks.example.com").status == 404, "the definition to go")


def test_a_bad_bundle_of_a_conversion_webhook(shared_api):
    """As upstream: a new definition waits for a good one, and one that is established keeps it."""
    api = shared_api
    ca = base64.b64encode((api.data_dir / "pki/ca.crt").read_bytes()).decode()
    made = api.ask("POST", CRDS, hooked("cogs", caBundle=base64.b64encode(b"nonsense").decode())).json()
    established, = [c for c in made["status"]["conditions"] if c["type"] == "Established"]
    assert (established["status"], established["reason"]) == ("False", "InvalidCABundle")
    path = f"{CRDS}/cogs.hooks.example.com"
    assert api.ask("GET", "/apis/hooks.example.com/v1/cogs").status == 404

    def put_bundle(text):
        return api.ask("PATCH", path, {"spec": {"conversion": {"webhook": {"clientConfig": {"caBundle": text}}}}},
                       Content_Type=TYPES["merge"])
    assert put_bundle(ca).status == 200
    wait_for(lambda: api.ask("GET", "/apis/hooks.example.com/v1/cogs").status == 200, "the definition to be served")
    no = put_bundle(base64.b64encode(b"nonsense").decode())
    assert no.status == 422
    assert no.json()["message"].endswith('spec.conversion.webhookClientConfig.caBundle: Invalid value: "bm9uc2Vuc2U=": '
                                         "unable to load root certificates: unable to parse bytes as PEM block")
    assert api.ask("DELETE", path).status == 200


@pytest.mark.parametrize("annotation, status, reason", [
    ("https://github.com/kubernetes/kubernetes/pull/1", "True", "ApprovedAnnotation"),
    ("unapproved, experimental", "False", "UnapprovedAnnotation"),
    ("nonsense", None, "with either a URL or a reason starting with \"unapproved\""),
    (None, None, "protected groups must have approval annotation \"api-approved.kubernetes.io\""),
])
def test_groups_of_the_kubernetes_project_want_an_approval(shared_api, annotation, status, reason):
    body = hooked("reviewed")
    body["metadata"] = {"name": "reviewed.x.k8s.io",
                        "annotations": {"api-approved.kubernetes.io": annotation} if annotation else {}}
    body["spec"]["group"] = "x.k8s.io"
    answer = shared_api.ask("POST", CRDS, body)
    if status is None:
        assert answer.status == 422 and reason in answer.json()["message"]
        return
    output, = [c for c in answer.json()["status"]["conditions"] if c["type"] == "KubernetesAPIApprovalPolicyConformant"]
    assert (output["status"], output["reason"]) == (status, reason)
    assert shared_api.ask("DELETE", f"{CRDS}/reviewed.x.k8s.io").status == 200
    wait_for(lambda: shared_api.ask("GET", f"{CRDS}/reviewed.x.k8s.io").status == 404, "the definition to go")


def test_a_namespace_that_a_kind_has_not_is_dropped(shared_api):
    api = shared_api
    nodes = "/api/v1/nodes"
    made = api.ask("POST", nodes, {"metadata": {"name": "placeless", "namespace": "default"}})
    assert made.status == 201 and "namespace" not in made.json()["metadata"], made.body
    for kind, body in (("merge", {"metadata": {"namespace": "other"}}), ("strategic", {"metadata": {"namespace": "other"}})):
        changed = patch(api, f"{nodes}/placeless", kind, body)
        assert changed.status == 200 and "namespace" not in changed.json()["metadata"], changed.body
    now = made.json()
    now["metadata"]["namespace"] = "else"
    del now["metadata"]["resourceVersion"]
    put = api.ask("PUT", f"{nodes}/placeless", now)
    assert put.status == 200 and "namespace" not in put.json()["metadata"], put.body
    applied = patch(api, f"{nodes}/placeless", "apply", {"apiVersion": "v1", "kind": "Node", "metadata": {
        "name": "placeless", "namespace": "default"}}, "?fieldManager=x")
    assert applied.status == 200 and "namespace" not in applied.json()["metadata"], applied.body
    assert api.ask("DELETE", f"{nodes}/placeless").status == 200


def test_a_new_object_may_have_version_0_and_an_empty_group(shared_api):
    api = shared_api
    for name, version, status in (("v-zero", "0", 201), ("v-none", "", 201), ("v-word", "x", 201), ("v-old", "7", 500)):
        answer = api.ask("POST", CM, {"metadata": {"name": name, "resourceVersion": version}})
        assert answer.status == status, (name, answer.body)
        assert status != 201 or answer.json()["metadata"]["resourceVersion"] != version
    made = api.ask("POST", CM, {"apiVersion": "/v1", "kind": "ConfigMap", "metadata": {"name": "slash"}})
    assert made.status == 201 and made.json()["apiVersion"] == "v1", made.body


EVENT = {"eventTime": "2026-01-02T03:04:05.000000Z", "reportingInstance": "i", "action": "Acting", "reason": "Because",
         "type": "Normal"}


def test_events_of_the_newer_style(shared_api):
    api = shared_api
    core, new = ("/api/v1/namespaces/{}/events", "/apis/events.k8s.io/v1/namespaces/{}/events")
    api.create("/api/v1/namespaces", {"metadata": {"name": "elsewhere"}})
    node = {"kind": "Node", "name": "n"}

    def post(path, ns, name, **more):
        return api.ask("POST", path.format(ns), {**EVENT, "metadata": {"name": name}, **more})
    # about what is in no namespace: in default and kube-system
    for ns, status in (("default", 201), ("kube-system", 201), ("elsewhere", 422)):
        answer = post(new, ns, "about-a-node", regarding=node, reportingController="a.io/c")
        assert answer.status == status, answer.body
    assert 'involvedObject.namespace: Invalid value: "": does not match event.namespace' in answer.json()["message"]
    # about what is in a namespace: wherever the reporter likes
    assert post(new, "elsewhere", "about-a-pod", regarding={"kind": "Pod", "name": "p", "namespace": "default"},
                reportingController="a.io/c").status == 201
    no = post(core, "default", "bad", involvedObject=node, reportingComponent="not a name", reportingInstance="i" * 129,
              action="", message="m" * 1025).json()["message"]
    for text in ('reportingComponent: Invalid value: "not a name"', "reportingInstance: Invalid value: \"\": can have at most 128",
                 "action: Required value", 'message: Invalid value: "": can have at most 1024 characters'):
        assert text in no, no
    no = post(new, "default", "bad", regarding=node, reportingController="a.io/c", deprecatedCount=2,
              deprecatedSource={"component": "x"}, series={"count": 1}).json()["message"]
    for text in ("count: Invalid value: \"\": needs to be unset", "source: Invalid value: \"\": needs to be unset",
                 "series.count: Invalid value: \"\": should be at least 2", "series.lastObservedTime: Required value"):
        assert text in no, no
    # `source` selects by the component, or by the reporting controller of newer events
    api.create(core.format("elsewhere"), {"metadata": {"name": "older"}, "source": {"component": "older.io"},
                                          "involvedObject": {"kind": "Pod", "name": "p", "namespace": "elsewhere"}})
    for source, names in (("a.io/c", ["about-a-pod"]), ("older.io", ["older"]), ("none", [])):
        found = api.get(core.format("elsewhere") + f"?fieldSelector=source%3D{source}").json()["items"]
        assert [e["metadata"]["name"] for e in found] == names


def test_every_cluster_has_its_service_range(shared_api):
    path = "/apis/networking.k8s.io/v1/servicecidrs"
    range_ = shared_api.get(f"{path}/kubernetes").json()
    assert range_["spec"]["cidrs"] == ["10.96.0.0/12"]
    ready, = range_["status"]["conditions"]
    assert (ready["type"], ready["status"]) == ("Ready", "True")
    assert shared_api.ask("DELETE", f"{path}/kubernetes").status == 200
    wait_for(lambda: shared_api.ask("GET", f"{path}/kubernetes").status == 200, "it to be there again")


def test_openapi_knows_apply_and_no_empty_lists_of_parameters(shared_api):
    doc = shared_api.get("/openapi/v3/api/v1").json()
    patch_ = doc["paths"]["/api/v1/namespaces/{namespace}/pods/{name}"]["patch"]
    assert "application/apply-patch+yaml" in patch_["requestBody"]["content"]
    empty = [(p, m) for p, item in doc["paths"].items() for m, op in item.items() if isinstance(op, dict) and op.get("parameters") == []]
    assert not empty


def undescribed(schema, path=""):
    for name, field in schema.get("properties", {}).items():
        if not field.get("description"):
            yield f"{path}.{name}"
        yield from undescribed(field, f"{path}.{name}")
    if isinstance(schema.get("items"), dict):
        yield from undescribed(schema["items"], path + "[]")


@pytest.mark.parametrize("name", ["src/fn/crd.json", "src/operator/crd.json", "src/sched/object/node_image_state_crd.json"])
def test_every_field_of_our_own_kinds_is_described(name):
    """For kubectl explain."""
    text = json.loads((ROOT / name).read_text())
    kinds = [c for c in text.get("items", [text]) if c["kind"] == "CustomResourceDefinition"]
    assert kinds
    for kind in kinds:
        for version in kind["spec"]["versions"]:
            schema = version["schema"]["openAPIV3Schema"]
            assert schema.get("description"), kind["metadata"]["name"]
            assert list(undescribed(schema)) == [], kind["metadata"]["name"]
