# SPDX-License-Identifier: Apache-2.0
"""The commands for users of functions, on the built program: from an empty directory to answers, and back."""
import json
import os
import shutil
import subprocess

import pytest

from conftest import BUILD, DEADLINE_S
from functions_kit import FunctionServer

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
    id_ = dormouse(up, "call", "echo", "--async", "-d", "later").strip()
    assert len(id_) > 8


def test_top_counts_what_was_called(up):
    dormouse(up, "deploy", "--fake", "--name", "counted", "--initial", "0")
    for _ in range(3):
        dormouse(up, "call", "counted", "-d", "x")
    lines = dormouse(up, "top", "--sort", "name").splitlines()
    row = next(line.split() for line in lines if " counted " in line)
    assert row[:2] == ["default", "counted"] and row[5] == "3" and row[6] == "0" and row[7] == "1"


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


def test_deleted_functions_are_gone(up):
    dormouse(up, "deploy", "--fake", "--name", "short")
    dormouse(up, "delete", "short")
    assert "short" not in dormouse(up, "list")
