# SPDX-License-Identifier: Apache-2.0
"""Who owns which field, and server-side apply, as clients see them."""
import json
import threading

import pytest

from conftest import DEADLINE_S, wait_for

APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"
CM = "/api/v1/namespaces/default/configmaps"


def config(name, data=None, **meta):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **meta},
            **({"data": data} if data is not None else {})}


def apply(api, path, body, manager, status=200, agent="tests/1", **query):
    text = "".join(f"&{k}={v}" for k, v in query.items())
    answer = api.ask("PATCH", f"{path}?fieldManager={manager}{text}", body, Content_Type=APPLY, User_Agent=agent)
    assert answer.status == status, answer.body
    return answer.json()


def owners(obj):
    """{(manager, operation, subresource): fields}"""
    return {(e["manager"], e["operation"], e.get("subresource", "")): e["fieldsV1"]
            for e in obj["metadata"].get("managedFields", [])}


def test_creating_and_updating_is_owned_by_the_clients_name(shared_api):
    api = shared_api
    made = api.ask("POST", CM, config("updates", {"a": "1"}, labels={"x": "y"}), User_Agent="maker/1.0 (linux)").json()
    assert made["metadata"]["managedFields"] == [{
        "manager": "maker", "operation": "Update", "apiVersion": "v1", "time": made["metadata"]["creationTimestamp"],
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:data": {".": {}, "f:a": {}}, "f:metadata": {"f:labels": {".": {}, "f:x": {}}}}}]
    changed = api.ask("PATCH", f"{CM}/updates?fieldManager=other", {"data": {"a": "2", "b": "3"}},
                      Content_Type=MERGE).json()
    assert owners(changed) == {
        ("maker", "Update", ""): {"f:data": {}, "f:metadata": {"f:labels": {".": {}, "f:x": {}}}},
        ("other", "Update", ""): {"f:data": {"f:a": {}, "f:b": {}}}}
    removed = api.ask("PATCH", f"{CM}/updates?fieldManager=third", {"data": {"a": None}}, Content_Type=MERGE).json()
    assert owners(removed)[("other", "Update", "")] == {"f:data": {"f:b": {}}}
    assert ("third", "Update", "") not in owners(removed)


def test_a_write_that_changes_nothing_keeps_the_version(shared_api):
    api = shared_api
    apply(api, f"{CM}/noop", config("noop", {"a": "1"}), "one", 201)
    first = api.get(f"{CM}/noop").json()
    assert apply(api, f"{CM}/noop", config("noop", {"a": "1"}), "one") == first
    same = api.ask("PUT", f"{CM}/noop?fieldManager=else", first).json()
    assert same == first


def test_apply_creates_changes_and_removes(shared_api):
    api = shared_api
    made = apply(api, f"{CM}/life", config("life", {"a": "1", "b": "2"}), "one", 201)
    assert owners(made) == {("one", "Apply", ""): {"f:data": {"f:a": {}, "f:b": {}}}}
    now = apply(api, f"{CM}/life", config("life", {"b": "3"}), "one")
    assert now["data"] == {"b": "3"}
    both = apply(api, f"{CM}/life", config("life", {"b": "3"}), "two")
    assert owners(both)[("two", "Apply", "")] == {"f:data": {"f:b": {}}}
    left = apply(api, f"{CM}/life", config("life"), "one")  # two still wants b
    assert left["data"] == {"b": "3"} and ("one", "Apply", "") not in owners(left)


def test_conflicts_name_their_fields(shared_api):
    api = shared_api
    apply(api, f"{CM}/fight", config("fight", {"a": "1", "b": "2"}), "one", 201)
    no = apply(api, f"{CM}/fight", config("fight", {"a": "9"}), "two", 409)
    assert no["reason"] == "Conflict"
    assert no["message"] == 'Apply failed with 1 conflict: conflict with "one": .data.a'
    assert no["details"]["causes"] == [{"reason": "FieldManagerConflict", "message": 'conflict with "one"',
                                        "field": ".data.a"}]
    api.ask("PATCH", f"{CM}/fight?fieldManager=patcher", {"data": {"b": "7"}}, Content_Type=MERGE)
    no = apply(api, f"{CM}/fight", config("fight", {"a": "9", "b": "9"}), "two", 409)
    assert no["message"] == ('Apply failed with 2 conflicts: conflicts with "one":\n- .data.a\n'
                             'conflicts with "patcher" using v1:\n- .data.b')
    now = apply(api, f"{CM}/fight", config("fight", {"a": "9", "b": "9"}), "two", force="true")
    assert owners(now) == {("two", "Apply", ""): {"f:data": {"f:a": {}, "f:b": {}}}}


@pytest.mark.parametrize("query, body, status, text", [
    ("", config("bad"), 422, 'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: '
     "is required for apply patch"),
    ("fieldManager=x", config("bad", managedFields=[]), 400, "metadata.managedFields must be nil"),
    ("fieldManager=x", {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "bad"}}, 400,
     "invalid object type: /v1, Kind=Secret"),
    ("fieldManager=x", {**config("bad"), "dat": {}}, 500,
     "failed to create typed patch object (/bad; /v1, Kind=ConfigMap): .dat: field not declared in schema"),
    ("fieldManager=x", config("bad", {"a": 1}), 500,
     "failed to create typed patch object (/bad; /v1, Kind=ConfigMap): .data.a: expected string, "
     "got &value.valueUnstructured{Value:1}"),
    ("fieldManager=x", config("other"), 400,
     "the name of the object (other) does not match the name on the URL (bad)"),
    ("fieldManager=" + "x" * 129, config("bad"), 422, 'PatchOptions.meta.k8s.io "" is invalid: fieldManager: '
     "Too long: may not be more than 128 bytes"),
])
def test_what_apply_refuses(shared_api, query, body, status, text):
    answer = shared_api.ask("PATCH", f"{CM}/bad?{query}", body, Content_Type=APPLY)
    assert (answer.status, answer.json()["message"]) == (status, text)


def test_tracking_can_be_ended_and_begins_again_with_apply(shared_api):
    api = shared_api
    made = api.create(CM, config("untracked", {"a": "1"}))
    cleared = api.ask("PATCH", f"{CM}/untracked", {"metadata": {"managedFields": [{}]}}, Content_Type=MERGE).json()
    assert "managedFields" not in cleared["metadata"]
    changed = api.ask("PATCH", f"{CM}/untracked", {"data": {"a": "2"}}, Content_Type=MERGE).json()
    assert "managedFields" not in changed["metadata"]
    no = apply(api, f"{CM}/untracked", config("untracked", {"a": "3"}), "one", 409)
    assert 'conflict with "before-first-apply" using v1: .data.a' in no["message"]
    now = apply(api, f"{CM}/untracked", config("untracked", {"b": "3"}), "one")
    assert set(owners(now)) == {("before-first-apply", "Update", ""), ("one", "Apply", "")}
    assert made["metadata"]["uid"] == now["metadata"]["uid"]


def test_a_dry_run_writes_nothing(shared_api):
    api = shared_api
    made = apply(api, f"{CM}/dry", config("dry", {"a": "1"}), "one", 201, dryRun="All")
    assert made["data"] == {"a": "1"}
    assert api.get(f"{CM}/dry").status == 404


def test_ten_updaters_are_remembered(shared_api):
    api = shared_api
    api.create(CM, config("many", {"k": "0"}))
    for i in range(14):
        obj = api.ask("PATCH", f"{CM}/many?fieldManager=m{i:02}", {"data": {f"k{i}": "1"}}, Content_Type=MERGE).json()
    names = [e["manager"] for e in obj["metadata"]["managedFields"]]
    assert len(names) == 10 and "ancient-changes" in names


def kubectl_yaml(data):
    return json.dumps(config("cli", data))


def test_kubectl_applies_on_the_server(shared_api, tmp_path):
    api = shared_api
    file = tmp_path / "cli.json"
    file.write_text(kubectl_yaml({"a": "1"}))
    api.kubectl("create", "-f", str(file), "--field-manager=maker")
    done = api.kubectl("apply", "--server-side", "-f", str(file))
    assert done.stdout == "configmap/cli serverside-applied\n"  # the same value is shared
    file.write_text(kubectl_yaml({"a": "2"}))
    done = api.kubectl("apply", "--server-side", "-f", str(file), check=False)
    assert done.returncode == 1
    assert 'Apply failed with 1 conflict: conflict with "maker" using v1: .data.a' in done.stderr
    done = api.kubectl("apply", "--server-side", "--force-conflicts", "-f", str(file))
    assert done.stdout == "configmap/cli serverside-applied\n"
    assert "managedFields" not in api.kubectl("get", "cm", "cli", "-o", "yaml").stdout
    shown = json.loads(api.kubectl("get", "cm", "cli", "-o", "json", "--show-managed-fields").stdout)
    assert owners(shown) == {("kubectl", "Apply", ""): {"f:data": {"f:a": {}}}, ("maker", "Update", ""): {"f:data": {}}}


def test_kubectl_moves_from_the_client_to_the_server(shared_api, tmp_path):
    api = shared_api
    file = tmp_path / "csa.json"
    file.write_text(json.dumps(config("csa", {"a": "1", "b": "1"})))
    api.kubectl("apply", "-f", str(file))
    assert ("kubectl-client-side-apply", "Update", "") in owners(api.get(f"{CM}/csa").json())
    file.write_text(json.dumps(config("csa", {"a": "2"})))
    api.kubectl("apply", "--server-side", "-f", str(file))
    now = api.get(f"{CM}/csa").json()
    assert now["data"] == {"a": "2"}
    assert owners(now) == {("kubectl", "Apply", ""): {"f:data": {"f:a": {}}}} or \
        set(owners(now)) == {("kubectl", "Apply", ""), ("kubectl-last-applied", "Apply", "")}
    last = now["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"]
    assert json.loads(last)["data"] == {"a": "2"}
    file.write_text(json.dumps(config("csa", {"c": "2"})))
    api.kubectl("apply", "-f", str(file))  # and back
    assert api.get(f"{CM}/csa").json()["data"] == {"c": "2"}


def test_creating_by_apply_needs_the_right_to_create(shared_api):
    api = shared_api
    rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default"
    api.create(rbac + "/roles", {"metadata": {"name": "patch"}, "rules": [
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["patch", "get"]}]})
    api.create(rbac + "/rolebindings", {
        "metadata": {"name": "patch"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "patch"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "patcher"}]})

    def ask(name):
        return api.ask("PATCH", f"{CM}/{name}?fieldManager=x", config(name, {"a": "1"}), Content_Type=APPLY,
                       Impersonate_User="patcher")
    no = ask("forbidden")
    assert no.status == 403, no.body
    assert no.json()["message"] == ('configmaps "forbidden" is forbidden: User "patcher" cannot create resource '
                                    '"configmaps" in API group "" in the namespace "default"')
    api.create(CM, config("allowed"))
    assert ask("allowed").status == 200


def test_what_the_server_makes_itself_has_its_name(shared_api):
    made = shared_api.get("/api/v1/namespaces/default/services/kubernetes").json()
    assert {e["manager"] for e in made["metadata"]["managedFields"]} == {"kube-apiserver"}


def test_reviews_have_owners_too(shared_api):
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    body = {"spec": {"nonResourceAttributes": {"path": "/x", "verb": "get"}}}
    made = shared_api.ask("POST", path, body, User_Agent="asker/1").json()
    assert owners(made) == {("asker", "Update", ""): {"f:spec": {"f:nonResourceAttributes": {
        ".": {}, "f:path": {}, "f:verb": {}}}}}


def test_reviews_are_no_tables(shared_api):
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    body = {"spec": {"nonResourceAttributes": {"path": "/x", "verb": "get"}}}
    answer = shared_api.ask("POST", path, body, Accept="application/json;as=Table;v=v1;g=meta.k8s.io")
    assert answer.status == 406
    either = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
    assert shared_api.ask("POST", path, body, Accept=either).json()["kind"] == "SelfSubjectAccessReview"


def test_custom_resources_are_applied_by_their_schema(shared_api):
    api, group = shared_api, "apply.example.com"
    api.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
        "metadata": {"name": "mice." + group}, "spec": {
            "group": group, "scope": "Namespaced", "names": {"plural": "mice", "kind": "Mouse"},
            "versions": [{"name": "v1", "served": True, "storage": True, "subresources": {
                "status": {}, "scale": {"specReplicasPath": ".spec.count", "statusReplicasPath": ".status.count"}},
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                    "spec": {"type": "object", "properties": {
                        "count": {"type": "integer"},
                        "tags": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
                        "whole": {"type": "object", "x-kubernetes-map-type": "atomic",
                                  "additionalProperties": {"type": "string"}}}},
                    "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}}}]}})
    path = f"/apis/{group}/v1/namespaces/default/mice/m"

    def mouse(**parts):
        return {"apiVersion": group + "/v1", "kind": "Mouse", "metadata": {"name": "m"}, **parts}

    apply(api, path, mouse(spec={"count": 1, "tags": ["a"], "whole": {"x": "1"}}), "one", 201)
    both = apply(api, path, mouse(spec={"tags": ["b"]}), "two")
    assert both["spec"]["tags"] == ["a", "b"]
    no = apply(api, path, mouse(spec={"whole": {"y": "1"}}), "two", 409)
    assert no["message"].endswith('conflict with "one": .spec.whole')
    status = apply(api, path + "/status", mouse(spec={"count": 9}, status={"phase": "asleep"}), "controller")
    assert status["spec"]["count"] == 1
    assert owners(status)[("controller", "Apply", "status")] == {"f:status": {"f:phase": {}}}
    api.ask("PATCH", path + "/scale?fieldManager=scaler", {"spec": {"replicas": 5}}, Content_Type=MERGE)
    now = api.get(path).json()
    assert now["spec"]["count"] == 5
    assert owners(now)[("scaler", "Update", "scale")] == {"f:spec": {"f:count": {}}}
    no = apply(api, path, mouse(spec={"count": 2, "tags": ["a"]}), "one", 409)
    assert no["message"].endswith(
        f'conflict with "scaler" with subresource "scale" using {group}/v1: .spec.count')
    left = apply(api, path, mouse(spec={"tags": ["a"]}), "one")  # whole was its own, count is the scaler's
    assert left["spec"] == {"count": 5, "tags": ["a", "b"]}


def test_the_generation_of_a_daemonsets_template_is_its_makers(shared_api):
    labels = {"app": "d"}
    made = shared_api.create("/apis/apps/v1/namespaces/default/daemonsets", {
        "metadata": {"name": "owned"}, "spec": {"selector": {"matchLabels": labels}, "template": {
            "metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}}})
    fields = made["metadata"]["managedFields"][0]["fieldsV1"]
    assert fields["f:metadata"] == {"f:annotations": {".": {}, "f:deprecated.daemonset.template.generation": {}}}


def at_once(api, n, ask):
    """ask(i, connection) from n threads that begin together; the answers."""
    start = threading.Barrier(n)
    answers = [None] * n

    def one(i):
        connection = api.connect()
        connection.connect()
        start.wait(DEADLINE_S)
        answers[i] = ask(i, connection)
        connection.close()

    threads = [threading.Thread(target=one, args=(i,)) for i in range(n)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return answers


def test_writes_of_one_object_at_the_same_time_are_all_there(shared_api):
    api, n = shared_api, 80
    api.create(CM, config("crowd", {"a": "b"}))
    answers = at_once(api, n, lambda i, connection: api.ask(
        "PATCH", f"{CM}/crowd?fieldManager=m{i}&force=true", config("crowd", {f"apply-{i}": str(i), "of-all": str(i)}),
        connection=connection, Content_Type=APPLY))
    assert [a.status for a in answers] == [200] * n, [a.body for a in answers if a.status != 200][:1]
    answers = at_once(api, n, lambda i, connection: api.ask(
        "PATCH", f"{CM}/crowd?fieldManager=patches", {"data": {f"merge-{i}": str(i)}}, connection=connection,
        Content_Type=MERGE))
    assert [a.status for a in answers] == [200] * n, [a.body for a in answers if a.status != 200][:1]
    now = api.get(f"{CM}/crowd").json()
    assert {f"apply-{i}" for i in range(n)} | {f"merge-{i}" for i in range(n)} <= set(now["data"])
    assert len([o for o in owners(now) if o[1] == "Apply"]) == n


def test_what_a_quota_counts_is_made_at_the_same_time(shared_api):
    """More writers than could succeed by retrying: each new object writes the quota."""
    api, n = shared_api, 80
    api.create("/api/v1/namespaces", {"metadata": {"name": "crowded"}})
    quotas = "/api/v1/namespaces/crowded/resourcequotas"
    api.create(quotas, {"metadata": {"name": "q"}, "spec": {"hard": {"count/leases.coordination.k8s.io": str(n)}}})
    wait_for(lambda: api.get(f"{quotas}/q").json().get("status", {}).get("hard"), "the quota's status")
    leases = "/apis/coordination.k8s.io/v1/namespaces/crowded/leases"
    answers = at_once(api, n, lambda i, connection: api.ask("POST", leases, {"metadata": {"name": f"l{i}"}},
                                                            connection=connection))
    assert [a.status for a in answers] == [201] * n, [a.body for a in answers if a.status != 201][:1]
    assert api.get(f"{quotas}/q").json()["status"]["used"] == {"count/leases.coordination.k8s.io": str(n)}
    assert api.ask("POST", leases, {"metadata": {"name": "more"}}).status == 403


def test_every_quota_of_a_namespace_is_enforced(shared_api):
    """The last of 64 as well, though they are more than one page of the store; one more is refused."""
    api = shared_api
    api.create("/api/v1/namespaces", {"metadata": {"name": "limited"}})
    quotas, leases = "/api/v1/namespaces/limited/resourcequotas", "/apis/coordination.k8s.io/v1/namespaces/limited/leases"
    fat = {"note": "n" * 100_000}
    for i in range(63):
        api.create(quotas, {"metadata": {"name": f"a{i:02}", "annotations": fat}, "spec": {"hard": {"count/secrets": "1"}}})
    api.create(quotas, {"metadata": {"name": "last"}, "spec": {"hard": {"count/leases.coordination.k8s.io": "1"}}})
    answer = api.ask("POST", quotas, {"metadata": {"name": "more"}, "spec": {"hard": {"pods": "1"}}})
    assert answer.status == 403 and "at most 64 resource quotas" in answer.json()["message"], answer.body
    wait_for(lambda: api.get(f"{quotas}/last").json().get("status", {}).get("hard"), "the last quota's status")
    answers = [api.ask("POST", leases, {"metadata": {"name": f"l{i}"}}) for i in range(2)]
    assert [a.status for a in answers] == [201, 403], answers[0].body
    assert "exceeded quota: last" in answers[1].json()["message"]
    wait_for(lambda: api.get(f"{quotas}/last").json()["status"]["used"] == {"count/leases.coordination.k8s.io": "1"}, "the count")
    assert api.ask("DELETE", f"{quotas}/a00").status == 200
    api.create(quotas, {"metadata": {"name": "more"}, "spec": {"hard": {"pods": "1"}}})
