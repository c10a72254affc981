# SPDX-License-Identifier: Apache-2.0
"""The control plane of functions in one process: from an object to an answer, revisions, REST, quotas."""
import base64
import concurrent.futures
import http.client
import re

import pytest

from conftest import wait_for
from functions_kit import FAKE, FUNCTIONS, FunctionServer, Role, ask_socket, call, function

REVISIONS = "/apis/dormouse.dev/v1alpha1/namespaces/default/functionrevisions"
POLICIES = "/apis/dormouse.dev/v1alpha1/namespaces/{}/functionpolicies"
REST = "/v1/namespaces/default/functions"


@pytest.fixture(scope="module")
def up(tmp_path_factory):
    server = FunctionServer(tmp_path_factory.mktemp("fn") / "data")
    yield server
    assert server.stop() == 0


def metric(up, name):
    lines = ask_socket(up.data_dir, "GET", "/metrics").body.decode().splitlines()
    return next(float(line.split()[-1]) for line in lines if line.startswith(name + " "))


def private_kib(up):
    rollup = open(f"/proc/{up.process.pid}/smaps_rollup").read()
    return int(re.search(r"^Pss_Anon:\s+(\d+) kB", rollup, re.M).group(1))


def condition(up, name, namespace="default"):
    status = up.get(FUNCTIONS.format(namespace) + "/" + name).json().get("status", {})
    return next((c for c in status.get("conditions", []) if c["type"] == "Ready"), None)


def test_from_an_object_to_an_answer(up):
    up.deploy("first")
    answer = call(up.gateway, "first.default", "/x?y=1", "POST", b"hello")
    assert (answer.status, answer.body) == (200, b"hello")
    wait_for(lambda: (condition(up, "first") or {}).get("status") == "True", "its status says so")
    status = up.get(FUNCTIONS.format("default") + "/first").json()["status"]
    assert (status["latestRevision"], status["readyRevision"], status["observedGeneration"]) == (1, 1, 1)
    assert call(up.gateway, "x", "/fn/default/first/").status == 200


def test_status_is_not_written_for_sleep_and_wake(up):
    up.deploy("quiet")
    wait_for(lambda: condition(up, "quiet"), "its status is there")
    before = up.get(FUNCTIONS.format("default") + "/quiet").json()["metadata"]["resourceVersion"]
    assert call(up.gateway, "quiet.default").status == 200
    assert up.get(FUNCTIONS.format("default") + "/quiet").json()["metadata"]["resourceVersion"] == before


def test_revisions_and_rollback(up):
    up.deploy("rev")
    path = FUNCTIONS.format("default") + "/rev"
    merge = {"Content_Type": "application/merge-patch+json"}
    assert call(up.gateway, "rev.default").status == 200
    up.ask("PATCH", path, {"spec": {"fake": {"createMilliseconds": 6}}}, **merge)
    wait_for(lambda: up.get(path).json().get("status", {}).get("readyRevision") == 2, "the second revision is ready")
    wait_for(lambda: {"rev-00001", "rev-00002"} <= {o["metadata"]["name"] for o in up.get(REVISIONS).json()["items"]}, "both are kept")
    up.ask("PATCH", path, {"spec": {"scale": {"max": 7}}}, **merge)
    wait_for(lambda: up.get(path).json().get("status", {}).get("observedGeneration") == 3, "the change is seen")
    assert up.get(path).json()["status"]["latestRevision"] == 2, "scaling makes no revision"
    up.ask("PATCH", path, {"spec": {"traffic": [{"revision": 1, "percent": 100}]}}, **merge)
    wait_for(lambda: up.get(path).json().get("status", {}).get("observedGeneration") == 4, "the rollback is seen")
    assert call(up.gateway, "rev.default").status == 200
    bad = up.ask("PATCH", path, {"spec": {"traffic": [{"revision": 9, "percent": 100}]}}, **merge)
    assert bad.status == 200
    wait_for(lambda: condition(up, "rev")["reason"] == "InvalidSpec", "there is no such revision")
    assert call(up.gateway, "rev.default").status == 200, "what was there before goes on"


def test_a_rollback_holds_at_once(up):
    """The second revision is another sandbox; when the rollback is seen, no request comes to it any more."""
    path, merge = FUNCTIONS.format("default") + "/back", {"Content_Type": "application/merge-patch+json"}

    def share(first, second):
        return {"spec": {"traffic": [{"revision": 1, "percent": first}, {"percent": second}]}}

    def sandbox():
        answer = call(up.gateway, "back.default")
        assert answer.status == 200
        return answer.headers["x-fake-sandbox"]
    up.deploy("back")
    first = sandbox()
    up.ask("PATCH", path, {"spec": {"fake": {"createMilliseconds": 6}, **share(50, 50)["spec"]}}, **merge)
    second = wait_for(lambda: {sandbox() for _ in range(10)} - {first}, "both answer")
    assert len(second) == 1
    up.ask("PATCH", path, share(100, 0), **merge)
    wait_for(lambda: up.get(path).json().get("status", {}).get("observedGeneration") == 3, "the rollback is seen")
    assert {sandbox() for _ in range(50)} == {first}


def test_a_spec_that_makes_no_sense_is_told_in_status(up):
    spec = FAKE | {"scale": {"min": 5, "max": 2}}
    answer = up.ask("POST", FUNCTIONS.format("default"), function("senseless", spec))
    if answer.status != 201:
        assert answer.status == 422
        return
    wait_for(lambda: (condition(up, "senseless") or {}).get("reason") == "InvalidSpec", "its status says so")
    assert call(up.gateway, "senseless.default").status == 404


def test_environment_comes_from_secrets(up):
    env = [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "later", "key": "k"}}}]
    up.deploy("env", FAKE | {"env": env, "timeouts": {"queueMilliseconds": 300}})
    assert call(up.gateway, "env.default").status in (503, 504)
    wait_for(lambda: condition(up, "env")["reason"] == "EnvironmentUnavailable", "its status says so")
    events = up.get("/api/v1/namespaces/default/events").json()["items"]
    assert [e["reason"] for e in events if e["involvedObject"]["name"] == "env"] == ["EnvironmentUnavailable"]
    up.create("/api/v1/namespaces/default/secrets", {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "later"},
                                                     "data": {"k": base64.b64encode(b"v").decode()}})
    wait_for(lambda: call(up.gateway, "env.default").status == 200, "it runs with the Secret")
    wait_for(lambda: condition(up, "env")["status"] == "True", "its status says so")


@pytest.mark.parametrize("kind,ref", [("Secret", "secretKeyRef"), ("ConfigMap", "configMapKeyRef")])
def test_an_object_without_data_is_one_without_the_key(up, kind, ref):
    name = f"empty-{kind.lower()}"
    up.create(f"/api/v1/namespaces/default/{kind.lower()}s", {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}})
    up.deploy(name, {**FAKE, "scale": {"initial": 1}, "env": [{"name": "A", "valueFrom": {ref: {"name": name, "key": "k"}}}]})
    wait_for(lambda: "has no 'k'" in (condition(up, name) or {}).get("message", ""), "it says what is missing")


def test_rest_and_forms(up):
    def rest(method, path, body=None, headers=None):
        return ask_socket(up.data_dir, method, path, body, headers)
    assert rest("POST", REST, {"name": "r", "spec": FAKE}).status == 201
    assert rest("POST", REST, {"name": "r", "spec": FAKE}).status == 409
    assert rest("POST", REST, "no json").status == 400
    assert rest("POST", REST, {"name": "bad", "spec": {"nonsense": 1}}).status in (400, 422)
    assert rest("PATCH", REST + "/r", {"scale": {"max": 3}}).json()["spec"]["scale"] == {"max": 3}
    assert rest("PUT", REST + "/r", {"spec": {"fake": {}}}).json()["spec"] == {"fake": {}}
    assert rest("PUT", REST + "/r2", {"spec": {"fake": {}}}).status == 201
    assert {"r", "r2"} <= {o["metadata"]["name"] for o in rest("GET", REST).json()["items"]}
    assert rest("GET", REST + "/r").json()["metadata"]["name"] == "r"
    assert rest("DELETE", REST + "/r").status == 200
    assert rest("GET", REST + "/r").status == 404
    assert rest("GET", "/v1/status").json()["leads"] is True

    form = {"content-type": "application/x-www-form-urlencoded"}
    words = "name={}&image=fake:3&port_forwarding=80&port_forwarding=tcp&scaling_upper_bound=4&scaling_lower_bound=0"
    assert rest("POST", "/registerService", words.format("web"), form | {"origin": "http://evil.example"}).status == 403
    answer = rest("POST", "/registerService", words.format("formed"), form)
    assert (answer.status, answer.body.decode()) == (200, "http://" + up.gateway)
    assert call(up.gateway, "formed.default").status == 200
    assert rest("POST", "/registerService", words.format("formed"), form).status == 409
    assert rest("POST", "/registerService", "name=x", form).status == 400
    assert rest("POST", "/registerService", "name=x&image=fake&port_forwarding=80", form).status == 400
    assert rest("GET", "/registerService").status == 405
    assert rest("POST", "/patch", "function=formed&scaling_upper_bound=2", form).status == 200
    assert up.get(FUNCTIONS.format("default") + "/formed").json()["spec"]["scale"]["max"] == 2
    assert rest("POST", "/patch", "function=nobody&scaling_upper_bound=2", form).status == 404
    assert rest("GET", "/check?name=formed").status == 200
    assert rest("GET", "/check?name=nobody").status == 404
    assert rest("GET", "/health").status == 200


def test_quotas_and_tokens_of_a_namespace(up):
    up.create("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "small"}})
    up.create("/api/v1/namespaces/small/secrets", {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "t"},
                                                   "data": {"token": base64.b64encode(b"open sesame").decode()}})
    up.create(POLICIES.format("small"), {"apiVersion": "dormouse.dev/v1alpha1", "kind": "FunctionPolicy", "metadata": {"name": "default"},
                                         "spec": {"quota": {"functions": 1}, "tokens": [{"name": "one", "secretName": "t"}]}})
    up.deploy("a", namespace="small")
    wait_for(lambda: call(up.gateway, "a.small").status == 401, "a token is wanted")
    assert call(up.gateway, "a.small", headers={"Authorization": "Bearer open sesame"}).status == 200
    assert call(up.gateway, "a.small", headers={"Authorization": "Bearer wrong"}).status in (401, 403)
    up.deploy("b", namespace="small")
    wait_for(lambda: (condition(up, "b", "small") or {}).get("reason") == "QuotaExceeded", "one too many")
    assert call(up.gateway, "b.small", headers={"Authorization": "Bearer open sesame"}).status in (401, 404)
    assert ask_socket(up.data_dir, "POST", "/v1/namespaces/small/functions", {"name": "c", "spec": FAKE}).status == 403
    assert up.ask("DELETE", FUNCTIONS.format("small") + "/a").status == 200
    wait_for(lambda: call(up.gateway, "b.small", headers={"Authorization": "Bearer open sesame"}).status == 200, "there is room for it")
    up.deploy("d", namespace="small")
    wait_for(lambda: (condition(up, "d", "small") or {}).get("reason") == "QuotaExceeded", "one too many again")
    assert up.ask("DELETE", POLICIES.format("small") + "/default").status == 200
    wait_for(lambda: call(up.gateway, "d.small").status == 200, "nothing is asked for any more")


def test_an_environment_is_read_for_sandboxes_that_are_there_from_the_beginning(up):
    up.create("/api/v1/namespaces/default/secrets", {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"},
                                                     "data": {"k": base64.b64encode(b"v").decode()}})
    up.deploy("secretive", {**FAKE, "scale": {"min": 1}, "env": [{"name": "K", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}]})
    assert call(up.gateway, "secretive.default").status == 200


def test_a_deleted_function_is_gone_and_its_sandboxes_with_it(up):
    up.deploy("gone")
    assert call(up.gateway, "gone.default").status == 200
    assert up.ask("DELETE", FUNCTIONS.format("default") + "/gone").status == 200
    wait_for(lambda: call(up.gateway, "gone.default").status == 404, "it is not known any more")
    wait_for(lambda: not any(o["spec"]["function"] == "gone" for o in up.get(REVISIONS).json()["items"]), "its revisions go, too")


def test_a_restart_keeps_functions_and_revisions(tmp_path):
    up = FunctionServer(tmp_path / "data")
    up.deploy("kept")
    path = FUNCTIONS.format("default") + "/kept"
    up.ask("PATCH", path, {"spec": {"fake": {"createMilliseconds": 7}}}, Content_Type="application/merge-patch+json")
    wait_for(lambda: up.get(path).json().get("status", {}).get("readyRevision") == 2, "the second revision is ready")
    assert call(up.gateway, "kept.default").status == 200
    up.kill()
    up = FunctionServer(tmp_path / "data")
    assert call(up.gateway, "kept.default").status == 200
    assert up.status()["functions"]["term"] == 2
    up.ask("PATCH", path, {"spec": {"traffic": [{"revision": 1, "percent": 100}]}}, Content_Type="application/merge-patch+json")
    wait_for(lambda: up.get(path).json()["status"]["observedGeneration"] == 3, "the rollback is seen")
    assert call(up.gateway, "kept.default").status == 200
    assert condition(up, "kept")["status"] == "True"
    assert up.stop() == 0


def test_old_revisions_go_and_creations_are_traced(tmp_path):
    up = FunctionServer(tmp_path / "data", extra=["--trace-dir", str(tmp_path / "trace")])
    up.deploy("many")
    path = FUNCTIONS.format("default") + "/many"
    for i in range(1, 24):
        up.ask("PATCH", path, {"spec": {"fake": {"createMilliseconds": i}}}, Content_Type="application/merge-patch+json")
        wait_for(lambda: up.get(path).json().get("status", {}).get("latestRevision") == i + 1, f"revision {i + 1}")
    names = wait_for(lambda: [n for n in [sorted(o["metadata"]["name"] for o in up.get(REVISIONS).json()["items"])] if len(n) == 20],
                     "twenty are kept")[0]
    assert names[-1] == "many-00024" and names[0] == "many-00005"
    assert call(up.gateway, "many.default").status == 200
    assert up.stop() == 0
    lines = (tmp_path / "trace/cold_start_trace.csv").read_text().splitlines()
    assert lines[0].startswith("time,service_name,container_id,success,image_fetch,sandbox_create,") and lines[0].count(",") == 15
    row = dict(zip(lines[0].split(","), lines[1].split(",")))
    assert row["service_name"] == "many" and row["success"] == "true" and int(row["other_worker_node"]) < 1000000
    lines = (tmp_path / "trace/proxy_trace.csv").read_text().splitlines()
    call_row = dict(zip(lines[0].split(","), lines[1].split(",")))
    joins = ("service_name", "container_id")
    assert [call_row[c] for c in joins] == [row[c] for c in joins]
    assert int(call_row["cold_start"]) >= 1000 and int(call_row["cc_throttling"]) == 0 == int(call_row["load_balancing"])
    assert int(call_row["get_metadata"]) < int(call_row["cold_start"])


def test_sandboxes_that_are_written_down_first(tmp_path):
    """The ablation: what the API has to say before a gateway hears of a sandbox."""
    up = FunctionServer(tmp_path / "data", extra=["--persist-sandboxes"])
    up.deploy("f")
    number = int(call(up.gateway, "f.default").headers["x-fake-sandbox"])
    path = f"/api/v1/namespaces/default/configmaps/sandbox-{number:x}"
    assert up.get(path).json()["data"] == {"function": "f"}
    assert up.ask("DELETE", FUNCTIONS.format("default") + "/f").status == 200
    assert up.stop() == 0


def test_a_cold_start_writes_nothing(tmp_path):
    """No transaction of the store lies between a cold request and its answer, or follows it."""
    n, up = 60, FunctionServer(tmp_path / "data")
    for i in range(n):
        up.deploy(f"f{i}", {"fake": {"createMilliseconds": 1}, "scale": {"idleMilliseconds": 1000}})
    wait_for(lambda: all((condition(up, f"f{i}") or {}).get("status") == "True" for i in range(n)), "every status is written")
    before = metric(up, "dormouse_store_commits_total")
    assert before >= n
    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        assert set(pool.map(lambda i: call(up.gateway, f"f{i}.default").status, range(n))) == {200}
    assert metric(up, "dormouse_fn_control_sandboxes_created_total") == n
    wait_for(lambda: up.status()["functions"]["workers"][0]["sandboxes"] == 0, "no sandbox is left")
    assert metric(up, "dormouse_store_commits_total") == before
    assert up.stop() == 0


def test_a_status_comes_while_others_register(tmp_path):
    """Status writes are delayed while a client registers functions one after the other, up to a limit."""
    up = FunctionServer(tmp_path / "data")
    connection = up.connect()
    for i in range(20000):
        assert up.ask("POST", FUNCTIONS.format("default"), function(f"f{i}"), connection=connection).status == 201
        if i % 50 == 0 and condition(up, "f0"):
            break
    assert condition(up, "f0")["status"] == "True"
    connection.close()
    wait_for(lambda: all("status" in o for o in up.get(FUNCTIONS.format("default")).json()["items"]), "every status is written")
    assert up.stop() == 0


def test_functions_that_were_called_become_small_again(tmp_path):
    """Each called once: when the sandboxes have gone, little more is left than before the calls: 2 to 3 KiB, once 6."""
    n, up = 2000, FunctionServer(tmp_path / "data")
    connection = up.connect()
    for i in range(n):
        spec = {"fake": {}, "scale": {"idleMilliseconds": 1000}}
        assert up.ask("POST", FUNCTIONS.format("default"), function(f"f{i}", spec), connection=connection).status == 201
    connection.close()
    wait_for(lambda: metric(up, "dormouse_gateway_functions") == n, "the gateway knows all")
    before = private_kib(up)
    connection = http.client.HTTPConnection(up.gateway, timeout=60)
    for i in range(n):
        connection.request("GET", "/", headers={"Host": f"f{i}.default"})
        answer = connection.getresponse()
        assert (answer.status, answer.read()) == (200, b"")
    connection.close()
    wait_for(lambda: up.status()["functions"]["workers"][0]["sandboxes"] == 0, "no sandbox is left")
    assert metric(up, "dormouse_fn_worker_revisions") <= 256
    grown = private_kib(up) - before
    assert grown < 4 * n, f"{grown} KiB more for {n} functions that were called"
    assert up.stop() == 0


def test_tokens_and_listeners(tmp_path):
    """Beyond loopback nobody listens without a token; with one, REST wants it."""
    bad = FunctionServer(tmp_path / "bad", extra=["--fn-listen", "0.0.0.0:0"], wait=False)
    assert bad.process.wait(30) != 0
    bad.process.stdout.close()
    bad.log.close()
    assert "needs --token-file" in bad.text_of_log()
    own = FunctionServer(tmp_path / "own", extra=["--fn-listen", "127.0.0.1:0"])
    control, made = own.ready["control-plane"], tmp_path / "own/fn.token"
    assert made.stat().st_mode & 0o777 == 0o600 and len(made.read_text().strip()) == 64
    assert call(control, control, REST).status == 401
    assert call(control, control, "/registerService", "POST", "name=x").status == 401
    assert call(control, control, REST, headers={"Authorization": "Bearer " + made.read_text().strip()}).status == 200
    rogue = Role("worker", tmp_path / "rogue", "-c", control, wait=False)
    wait_for(lambda: "token" in (tmp_path / "rogue.log").read_text(), "a worker without the token is told so")
    assert rogue.stop() == 0 and own.stop() == 0
    token = tmp_path / "token"
    token.write_text("0123456789abcdef0123\n")
    up = FunctionServer(tmp_path / "data", extra=["--fn-listen", "127.0.0.1:0", "--token-file", str(token)])
    control = up.ready["control-plane"]
    assert call(control, control, REST).status == 401
    assert call(control, control, REST, headers={"Authorization": "Bearer wrong"}).status == 401
    assert call(control, control, REST, headers={"Authorization": "Bearer 0123456789abcdef0123"}).status == 200
    assert call(control, control, "/nothing", headers={"Authorization": "Bearer 0123456789abcdef0123"}).status == 404
    assert up.stop() == 0
