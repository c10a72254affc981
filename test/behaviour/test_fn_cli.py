# SPDX-License-Identifier: Apache-2.0
"""The commands for users of functions, on the built program: from an empty directory to answers, and back."""
import base64
import json
import os
import re
import shutil
import subprocess

import pytest

from conftest import BUILD, DEADLINE_S, wait_for
from functions_kit import FUNCTIONS, FunctionServer

DORMOUSE = str(BUILD / "dormouse")


@pytest.fixture(scope="module")
def up(tmp_path_factory):
    server = FunctionServer(tmp_path_factory.mktemp("fn-cli"))
    yield server
    server.stop()


def dormouse(up, *words, status=0, **options):
    """Runs `dormouse fn WORDS` for this server; returns standard output."""
    environment = {k: v for k, v in os.environ.items() if k not in ("KUBECONFIG", "DORMOUSE_GATEWAY")}
    run = subprocess.run([DORMOUSE, "fn", words[0], "--data-dir", str(up.data_dir), *words[1:]], capture_output=True, text=True,
                         timeout=10 * DEADLINE_S, env=environment, **options)
    assert run.returncode == status, run.stdout + run.stderr
    return run.stdout if status == 0 else run.stderr


def function_status(up, name):
    return up.get(FUNCTIONS.format("default") + "/" + name).json().get("status", {})


def test_from_an_empty_directory_to_an_answer_in_two_commands(up, tmp_path):
    made = subprocess.run([DORMOUSE, "fn", "init", "--lang", "c", "hello"], cwd=tmp_path, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    answer = dormouse(up, "deploy", "hello", "--call", "/", cwd=tmp_path)
    assert "hello" in answer
    assert dormouse(up, "call", "hello") == answer
    assert (tmp_path / "hello/function.wasm").exists()


def test_a_module_is_kept_by_its_digest_and_a_change_is_a_revision(up, tmp_path):
    module = shutil.copy(BUILD / "guests/fn-hello-c.wasm", tmp_path / "shop.wasm")
    dormouse(up, "deploy", str(module), "--env", "GREETING=one")
    dormouse(up, "deploy", str(module), "--env", "GREETING=two")
    kept = [f for f in os.listdir(up.data_dir / "functions") if f.endswith(".wasm")]
    assert len([f for f in kept if len(f) == 64 + len(".wasm")]) >= 1
    listed = json.loads(dormouse(up, "list", "-o", "json"))
    shop = next(f for f in listed["items"] if f["metadata"]["name"] == "shop")
    assert shop["status"]["latestRevision"] == 2
    assert shop["spec"]["env"] == [{"name": "GREETING", "value": "two"}]
    assert "not found" in dormouse(up, "rollback", "shop", "--to", "99", status=1)
    assert "not found" in dormouse(up, "rollback", "nobody", status=1)
    dormouse(up, "rollback", "shop")
    shop = json.loads(dormouse(up, "list", "-o", "json"))["items"]
    assert next(f for f in shop if f["metadata"]["name"] == "shop")["spec"]["traffic"] == [{"revision": 1, "percent": 100}]


def test_a_call_shows_status_reason_and_body(up):
    dormouse(up, "deploy", "--fake", "--name", "echo")
    assert dormouse(up, "call", "echo", "/x", "-d", "hello") == "hello"
    assert "418" in dormouse(up, "call", "echo", "-H", "x-fake-status: 418", status=1)
    assert "UnknownFunction" in dormouse(up, "call", "nobody", status=1)
    assert "502" in dormouse(up, "call", "echo", "-H", "x-fake-end: trap", status=1)
    id_ = dormouse(up, "call", "echo", "--async", "-d", "later")
    assert re.fullmatch(r"[0-9a-f]{40}\n", id_)  # the id alone, for scripts


def test_top_counts_what_was_called(up):
    dormouse(up, "deploy", "--fake", "--name", "counted", "--initial", "0")
    for _ in range(3):
        dormouse(up, "call", "counted", "-d", "x")
    lines = dormouse(up, "top", "--sort", "name").splitlines()
    row = next(line.split() for line in lines if " counted " in line)
    assert row[:2] == ["default", "counted"] and row[2] == "1" and row[6] == "3" and row[7] == "0" and row[8] == "1"


def test_wrong_words_and_absent_servers_are_told_apart(up, tmp_path):
    assert "no Wasm module" in dormouse(up, "deploy", __file__, "--name", "x", status=1)
    assert "lower case" in dormouse(up, "deploy", "--fake", "--name", "Not_A_Name", status=2)
    assert "no function" in dormouse(up, "delete", "nobody", status=1)
    assert "NAME=VALUE" in dormouse(up, "deploy", "--fake", "--name", "x", "--env", "novalue", status=2)
    run = subprocess.run([DORMOUSE, "fn", "call", "x", "--data-dir", str(tmp_path)], capture_output=True, text=True)
    assert run.returncode == 3 and "--gateway" in run.stderr
    elsewhere = dict(os.environ, KUBECONFIG=str(up.data_dir / "kubeconfig"))
    run = subprocess.run([DORMOUSE, "fn", "list", "--data-dir", str(tmp_path)], capture_output=True, text=True, env=elsewhere)
    assert run.returncode == 3 and "kubeconfig" in run.stderr


def test_modules_may_lie_below_a_relative_directory(tmp_path):
    (tmp_path / "mods").mkdir()
    shutil.copy(BUILD / "guests/fn-hello-c.wasm", tmp_path / "mods/hello.wasm")
    server = FunctionServer(tmp_path / "data", extra=["--modules", os.path.relpath(tmp_path / "mods")])
    try:
        server.deploy("near", {"module": {"file": "hello.wasm"}})
        assert "hello" in dormouse(server, "call", "near")
        server.deploy("far", {"module": {"file": "../../etc/passwd"}, "timeouts": {"queueMilliseconds": 300}})
        assert "CannotStart" in dormouse(server, "call", "far", status=1)
    finally:
        server.stop()


def test_what_cannot_run_is_not_ready(up, tmp_path):
    broken = tmp_path / "broken.wasm"
    broken.write_bytes(b"\0asm\1\0\0\0" + b"\xff" * 20)
    assert "broken" in dormouse(up, "deploy", str(broken), status=1)
    assert "is not ready" not in dormouse(up, "deploy", str(broken), "--name", "again", status=1)
    dormouse(up, "deploy", str(broken), "--name", "later", "--initial", "0")


def test_deploy_is_over_when_the_new_revision_answers(up):
    """Each revision answers by another status, and its sandbox takes a while: an early "ready" would call the one before."""
    for n in range(1, 6):
        dormouse(up, "deploy", "--fake", "--name", "again-and-again", "--env", f"N={n}")
        status = function_status(up, "again-and-again")
        assert (status["latestRevision"], status["readyRevision"]) == (n, n)
        ready = next(c for c in status["conditions"] if c["type"] == "Ready")
        assert (ready["status"], ready["observedGeneration"]) == ("True", n)
    dormouse(up, "rollback", "again-and-again")


def test_ready_is_never_true_for_a_revision_that_is_still_to_come(up):
    """The watch sees every status that was written: none says Ready of a generation whose revision is not."""
    path = FUNCTIONS.format("default")
    spec = {"fake": {"createMilliseconds": 200}, "scale": {"initial": 1}}
    first = up.deploy("slow", spec)
    wait_for(lambda: function_status(up, "slow").get("readyRevision") == 1, "the first revision is ready")
    spec["fake"]["createMilliseconds"] = 1000  # writes of the status come 50 ms after what they tell
    up.ask("PATCH", path + "/slow", {"spec": spec}, Content_Type="application/merge-patch+json")
    wait_for(lambda: function_status(up, "slow").get("readyRevision") == 2, "the second revision is ready")
    since = first["metadata"]["resourceVersion"]
    watch = up.watch(f"{path}?watch=1&resourceVersion={since}&fieldSelector=metadata.name%3Dslow")
    reported = []
    while reported[-1:] != [(2, 2, "True")]:  # before it, whatever was written in time
        status = watch.next()["object"].get("status", {})
        reported += [(status["latestRevision"], status.get("readyRevision", 0), c["status"]) for c in status.get("conditions", [])]
    watch.close()
    assert all(ready >= latest for latest, ready, status in reported if status == "True")


def test_a_status_that_does_not_hold_is_replaced(up):
    """Whoever wrote it: another client, or the control plane itself, before something changed and changed back."""
    up.deploy("told", {"fake": {}})
    path = FUNCTIONS.format("default") + "/told/status"

    def ready():
        return [c["status"] for c in function_status(up, "told").get("conditions", []) if c["type"] == "Ready"]
    wait_for(lambda: ready() == ["True"], "it is ready")
    wrong = [{"type": "Ready", "status": "Unknown", "reason": "Compiling", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}]
    done = up.ask("PATCH", path, {"status": {"conditions": wrong}}, Content_Type="application/merge-patch+json")
    assert done.json()["status"]["conditions"] == wrong
    wait_for(lambda: ready() == ["True"], "it is told to be ready again")


def test_a_module_that_is_missing_is_told_before_the_first_call(tmp_path):
    server = FunctionServer(tmp_path / "data")

    def ready(name):
        conditions = function_status(server, name).get("conditions", [])
        return next(((c["status"], c["reason"]) for c in conditions if c["type"] == "Ready"), None)
    try:
        server.deploy("by-file", {"module": {"file": "hello.wasm"}, "timeouts": {"queueMilliseconds": 5000}})
        server.deploy("by-map", {"module": {"configMap": {"name": "hello"}}})
        for name in "by-file", "by-map":
            wait_for(lambda: ready(name) == ("False", "ModuleNotFound"), f"{name} is not ready")
        assert dormouse(server, "call", "by-file", status=1)
        log = server.text_of_log()
        assert server.stop() == 0
        server = FunctionServer(tmp_path / "data")
        for name in "by-file", "by-map":
            wait_for(lambda: ready(name) == ("False", "ModuleNotFound"), f"{name} is not ready after a restart")
        shutil.copy(BUILD / "guests/fn-hello-c.wasm", tmp_path / "data/functions/hello.wasm")
        module = base64.b64encode((BUILD / "guests/fn-hello-c.wasm").read_bytes()).decode()
        server.create("/api/v1/namespaces/default/configmaps", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "hello"},
                                                                "binaryData": {"module.wasm": module}})
        for name in "by-file", "by-map":
            wait_for(lambda: ready(name) == ("True", "Deployed"), f"{name} has its module")
            assert "hello" in dormouse(server, "call", name)
        assert log.count("sandbox not made") <= 1, "the same failure is told once"
    finally:
        server.stop()


def test_a_container_where_none_can_run_names_what_is_missing(up):
    why = dormouse(up, "deploy", "--bundle", "web", "--name", "boxed", status=1)
    assert "crun" in why and "--bundles" in why


def test_deleted_functions_are_gone(up):
    dormouse(up, "deploy", "--fake", "--name", "short")
    dormouse(up, "delete", "short")
    assert "short" not in dormouse(up, "list")
