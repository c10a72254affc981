# SPDX-License-Identifier: Apache-2.0
"""As whom operators act: a service account each, its rights and no others, and a rate."""
import re

import pytest

from conftest import BUILD, Server, wait_for
from operators import ALL_RESOURCES, OPERATORS, RESOURCES, Ring, Run, Up, create_all, grant, modules_beside

pytestmark = pytest.mark.skipif(not (BUILD / "guests/ring-g2.wasm").exists(), reason="no compiler for guests here")
ACCOUNTS = "/api/v1/namespaces/operators/serviceaccounts"
READ = {"apiGroups": ["amurant.io"], "resources": ["testresources"], "verbs": ["get", "list", "watch"]}
WRITE = {"apiGroups": ["amurant.io"], "resources": ["testresources"], "verbs": ["get", "create", "update"]}


@pytest.fixture
def up(data_dir):
    server = Up(data_dir)
    yield server
    assert server.stop() == 0


def bare_ring(server, n=2):
    """A ring whose operators may do nothing yet."""
    ring = Ring(server, n)
    path = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/ring-operator"
    assert server.ask("DELETE", path).status == 200
    return ring


def forbidden(up, name):
    conditions = up.get(f"{OPERATORS}/{name}").json().get("status", {}).get("conditions", [])
    return next((c["message"] for c in conditions if c["type"] == "Forbidden"), None)


def test_an_operator_has_the_rights_of_its_account_and_no_others(up):
    ring = bare_ring(up)
    ring.apply("ring-g2.wasm")
    wait_for(lambda: "ring-0" in up.guests(), "it runs")
    log = wait_for(lambda: [line for line in up.text_of_log().splitlines() if re.search(r"\b403\b", line)], "it is refused")
    assert "operator=operators/ring-" in log[0], log[0]
    lacks = wait_for(lambda: forbidden(up, "ring-0"), "the status says what it may not")
    assert lacks.startswith("system:serviceaccount:operators:ring-0 may not: "), lacks
    condition = up.becomes("ring-0", "False", "AccessDenied")
    status = up.get(f"{OPERATORS}/ring-0").json()["status"]
    assert (status["phase"], status["message"], condition["message"]) == ("Running", lacks, lacks)
    ring.begin().close()
    for i in range(2):  # each may read where it reads and write where it writes, and that is enough
        grant(up, f"in-{i}", [READ], account=f"ring-{i}", namespace=f"ring{i}")
        grant(up, f"out-{i}", [WRITE], account=f"ring-{i}", namespace=f"ring{(i + 1) % 2}")
    ring.round()
    wait_for(lambda: not forbidden(up, "ring-0"), "it may now")
    up.becomes("ring-0", "True", "Running")
    account = up.get(f"{ACCOUNTS}/ring-0").json()
    operator = up.get(f"{OPERATORS}/ring-0").json()
    assert account["metadata"]["ownerReferences"][0]["uid"] == operator["metadata"]["uid"]
    wait_for(lambda: up.get(f"{OPERATORS}/ring-0").json()["status"].get("serviceAccount") ==
             "system:serviceaccount:operators:ring-0", "the status says as whom it acts")
    assert up.ask("DELETE", f"{OPERATORS}/ring-0").status == 200
    wait_for(lambda: up.get(f"{ACCOUNTS}/ring-0").status == 404, "its account went with it")


def test_the_roles_for_users_know_operators_and_functions(up):
    """view, edit and admin aggregate our kinds, as they do those of Kubernetes."""
    functions = "/apis/dormouse.dev/v1alpha1/namespaces/operators/functions"
    create_all(up, [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "operators"}}]
               + [{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": user, "namespace": "operators"},
                   "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
                   "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}]}
                  for user, role in (("jane", "view"), ("eve", "edit"))])
    made = {"apiVersion": "dormouse.dev/v1alpha1", "kind": "Function", "metadata": {"name": "f"}, "spec": {"fake": {}}}
    for path in OPERATORS, functions, functions[:-1] + "policies", functions[:-1] + "revisions":
        wait_for(lambda: up.get(path, Impersonate_User="jane").status == 200, f"jane may see {path}")
        assert up.get(path, Impersonate_User="joe").status == 403
    assert up.ask("POST", functions, made, Impersonate_User="jane").status == 403
    assert up.ask("POST", functions, made, Impersonate_User="eve").status == 201
    assert up.ask("DELETE", functions + "/f", Impersonate_User="eve").status == 200
    policy = {"apiVersion": "dormouse.dev/v1alpha1", "kind": "FunctionPolicy", "metadata": {"name": "default"}, "spec": {}}
    assert up.ask("POST", functions[:-1] + "policies", policy, Impersonate_User="eve").status == 403, "quotas are not for those they bind"


def test_a_right_that_is_taken_away_is_gone(up):
    ring = Ring(up, 2)
    ring.apply("ring-g2.wasm")
    ring.round()
    path = "/apis/rbac.authorization.k8s.io/v1/clusterroles/ring-operator"
    assert up.ask("PATCH", path, {"rules": [READ]}, Content_Type="application/merge-patch+json").status == 200
    ring.begin().close()
    wait_for(lambda: "cannot update resource" in up.text_of_log() or "403" in up.text_of_log(), "the write is refused")
    assert ring.nonce_at(1) == ring.nonce - 1


def test_an_account_that_is_not_there_and_not_to_be_made_is_waited_for(up):
    ring = Ring(up, 2)
    up.operator("ring-0", "ring-g2.wasm", ring.env(0), serviceAccountName="someone", createServiceAccount=False)
    condition = up.becomes("ring-0", "False", "IdentityUnavailable")
    assert "'operators/someone'" in condition["message"], condition
    create_all(up, [{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "someone", "namespace": "operators"}}])
    up.becomes("ring-0", "True", "Running")
    watch = ring.begin()
    wait_for(lambda: ring.nonce_at(1) == ring.nonce, "it works")
    watch.close()
    assert up.get(f"{ACCOUNTS}/ring-0").status == 404


def test_requests_beyond_the_limit_are_refused_and_told(up):
    ring = Ring(up, 2)
    up.operator("ring-0", "ring-g2.wasm", ring.env(0), limits={"requestsPerSecond": 2, "burst": 2})

    def reported():
        conditions = up.get(f"{OPERATORS}/ring-0").json().get("status", {}).get("conditions", [])
        return next((c for c in conditions if c["type"] == "LimitReached"), None)
    wait_for(lambda: "ring-0" in up.guests(), "it runs")
    for i in range(5):
        ring.begin().close()
    condition = wait_for(reported, "the limit is told")
    assert condition["status"] == "True" and "2 a second" in condition["message"], condition
    wait_for(lambda: [e for e in up.events("ring-0") if e["reason"] == "LimitReached"], "an Event says so")
    wait_for(lambda: ring.nonce_at(1) == ring.nonce, "it gets there all the same", 60)


@pytest.mark.parametrize("how", ["account", "impersonate"])
def test_against_another_server_tokens_speak_or_impersonation(dormouse_api, data_dir, how):
    modules = modules_beside(data_dir)
    ring = bare_ring(dormouse_api)
    for i in range(2):
        grant(dormouse_api, f"in-{i}", [READ], account=f"ring-{i}", namespace=f"ring{i}")
        grant(dormouse_api, f"out-{i}", [WRITE], account=f"ring-{i}", namespace=f"ring{(i + 1) % 2}")
    documents = [f"name: ring-{i}\nwasm: ring-g2.wasm\nserviceAccount: operators/ring-{i}\nenv:\n" +
                 "".join(f"- {{name: {k}, value: '{v}'}}\n" for k, v in ring.env(i).items()) for i in range(2)]
    (modules / "wasm_config.yaml").write_text("---\n".join(documents))
    run = Run(data_dir + "-run", modules, dormouse_api.kubeconfig, "--operator-identity", how)
    ring.round()
    run.all_asleep(2)
    ring.round()
    assert dormouse_api.get(f"{ACCOUNTS}/ring-1").status == 200
    assert "forbidden" not in run.text_of_log()
    assert run.stop() == 0


def limit_of(up, name):
    conditions = up.get(f"{OPERATORS}/{name}").json().get("status", {}).get("conditions", [])
    return next((c["message"] for c in conditions if c["type"] == "LimitReached"), "")


def test_each_limit_says_which_it_was_with_the_figure(up):
    ring = Ring(up, 2)
    up.operator("swap", "ring-g2.wasm", {**ring.env(0), "HEAP_MEM_SIZE": str(1 << 20)}, limits={"swap": "128Ki"})
    up.operator("cpu", "hostile-g2.wasm", {"MODE": "loop"}, limits={"activationMilliseconds": 100})
    up.operator("memory", "hostile-g2.wasm", {"MODE": "memory"}, limits={"memory": "4Mi"})
    up.operator("log", "hostile-g2.wasm", {"MODE": "flood"}, limits={"logLinesPerSecond": 5, "memory": "4Mi"})
    wait_for(lambda: "128 KiB of swap" in limit_of(up, "swap"), "the swap limit is told", 60)
    assert up.guests()["swap"]["state"] == "Awake"
    wait_for(lambda: "more than 100 ms" in limit_of(up, "cpu"), "the CPU limit is told", 60)
    wait_for(lambda: "4096 KiB of memory" in limit_of(up, "memory"), "the memory limit is told", 60)
    wait_for(lambda: "beyond 5 a second" in limit_of(up, "log"), "the log limit is told", 60)
    for name in ("swap", "cpu", "memory", "log"):
        wait_for(lambda: [e for e in up.events(name) if e["reason"] in ("LimitReached", "GuestFailed")], "an Event says so")
    bad = [{"memory": "1Ki"}, {"swap": "8Gi"}, {"burst": 5}, {"cpuShare": 0}, {"requestsPerSecond": -1}]
    for i, limits in enumerate(bad):
        body = {"apiVersion": "dormouse.dev/v1alpha1", "kind": "Operator", "metadata": {"name": f"bad-{i}"},
                "spec": {"module": {"file": "ring-g2.wasm"}, "limits": limits}}
        answer = up.ask("POST", OPERATORS, body)
        if answer.status == 201:  # what a schema cannot say, the host does
            assert "spec.limits" in up.becomes(f"bad-{i}", "False", "SpecInvalid")["message"]
        else:
            assert answer.status == 422 and b"spec.limits" in answer.body, answer.body
