# SPDX-License-Identifier: Apache-2.0
"""Wasm functions behind the gateway of a real `dormouse up`: examples, failures, limits, streams, gRPC."""
import hashlib
import itertools
import json
import os
import re
import shutil
import subprocess
import threading

import pytest

from conftest import BUILD, DEADLINE_S, IS_CLOCK_SHIFTED, ROOT, command_of, wait_for
from functions_kit import FunctionServer, call

EXAMPLES = ["fn-hello-c", "fn-hello-rust"]  # Go takes long to compile: test_wasm_fn, and a new project below


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    modules = tmp_path_factory.mktemp("modules")
    for path in [*(BUILD / "guests").glob("fn-*.wasm"), *(BUILD / "test/guests").glob("fn-*.wasm")]:
        shutil.copy(path, modules / path.name)
    server = FunctionServer(tmp_path_factory.mktemp("server") / "d", extra=["--modules", str(modules)])
    yield server
    assert server.stop() == 0


@pytest.fixture(scope="module")
def deploy(server):
    """A function of a module, made once; its host."""
    made = set()

    def make(name, module, **spec):
        if not (BUILD / "guests" / f"{module}.wasm").exists() and not (BUILD / "test/guests" / f"{module}.wasm").exists():
            pytest.skip(f"{module} is not built")
        if name not in made:
            server.deploy(name, {"module": {"file": f"{module}.wasm"}, **spec})
            made.add(name)
        return f"{name}.default"
    return make


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_greets_echoes_and_forgets(server, deploy, example):
    host = deploy(example, example)
    for _ in range(3):
        answer = call(server.gateway, host, "/?name=J%C3%BCrgen", timeout=120)
        assert (answer.status, answer.body.decode()) == (200, "hello, Jürgen\n")
        assert int(answer.headers["content-length"]) == len(answer.body)
    body = bytes(range(256)) * 8192
    assert call(server.gateway, host, method="POST", body=body).body == body
    pieces = (body[i:i + 10000] for i in range(0, len(body), 10000))
    assert call(server.gateway, host, method="POST", body=pieces).body == body  # in chunks
    assert call(server.gateway, host, "/elsewhere").status == 404


def test_a_module_that_is_being_compiled_is_seen(tmp_path, monkeypatch):
    """A first compilation that takes its time is in the status and in `fn list`."""
    modules, gate = tmp_path / "modules", tmp_path / "gate"
    modules.mkdir()
    shutil.copy(BUILD / "guests/fn-hello-c.wasm", modules / "slow.wasm")
    compiler = tmp_path / "compiler"
    compiler.write_text(f'#!/bin/sh\nwhile [ ! -e {gate} ]; do sleep 0.05; done\nexec {BUILD}/dormouse-compile "$@"\n')
    compiler.chmod(0o755)
    monkeypatch.setenv("DORMOUSE_COMPILE", str(compiler))
    server = FunctionServer(tmp_path / "d", extra=["--modules", str(modules)])
    path = "/apis/dormouse.dev/v1alpha1/namespaces/default/functions/slow"

    def conditions():
        return {c["type"]: (c["status"], c.get("reason")) for c in server.get(path).json().get("status", {}).get("conditions", [])}

    def ready_column():
        listed = subprocess.run([BUILD / "dormouse", "fn", "list", "--kubeconfig", server.kubeconfig], capture_output=True, text=True, check=True)
        return listed.stdout.splitlines()[1].split()[2]
    try:
        server.deploy("slow", {"module": {"file": "slow.wasm"}, "scale": {"initial": 1}})
        wait_for(lambda: conditions().get("Progressing") == ("True", "Compiling"), "the status says so")
        assert conditions()["Ready"] == ("Unknown", "Compiling")
        assert ready_column() == "Compiling"
        deploy = subprocess.Popen([BUILD / "dormouse", "fn", "deploy", "--name", "second", modules / "slow.wasm", "--kubeconfig", server.kubeconfig],
                                  stderr=subprocess.PIPE, text=True)
        assert deploy.stderr.readline() == "the module is being compiled\n"
        gate.touch()
        assert "default/second: ready" in deploy.communicate(timeout=60)[1]
        wait_for(lambda: conditions() == {"Ready": ("True", "Deployed")}, "it is ready")
        assert ready_column() == "True"
        assert call(server.gateway, "slow.default").status == 200
    finally:
        gate.touch()
        assert server.stop() == 0


def mapped_code(pid):
    """The compiled modules that the process and its children have mapped."""
    found = set()
    for child in map(int, open(f"/proc/{pid}/task/{pid}/children").read().split()):
        try:
            found |= set(re.findall(r"[0-9a-f]{64}\.\S*code", open(f"/proc/{child}/maps").read()))
        except OSError:
            continue  # it has ended, or is none of ours to look into
    return found


def test_a_function_answers_with_quick_code_and_moves_to_optimized_code(tmp_path):
    modules = tmp_path / "modules"
    modules.mkdir()
    padding = b"\1x" + bytes(64 << 10)  # a custom section: large enough to be compiled quickly first
    wasm = (BUILD / "guests/fn-hello-c.wasm").read_bytes() + b"\0\x82\x80\4" + padding
    (modules / "padded.wasm").write_bytes(wasm)
    digest = hashlib.sha256(wasm).hexdigest()
    server = FunctionServer(tmp_path / "d", extra=["--modules", str(modules)])
    try:
        server.deploy("padded", {"module": {"file": "padded.wasm"}})
        assert call(server.gateway, "padded.default", "/?name=a", timeout=120).body == b"hello, a\n"
        assert re.search(f"module compiled module={digest[:12]} tier=quick", server.text_of_log())
        wait_for(lambda: re.search(f"module compiled module={digest[:12]} tier=optimized", server.text_of_log()), "the optimized code")

        def has_moved():
            assert call(server.gateway, "padded.default", "/?name=a").body == b"hello, a\n"
            mine = {name for name in mapped_code(server.process.pid) if name.startswith(digest)}
            return not any(name.endswith(".q.code") for name in mine)
        wait_for(has_moved, "no quick code in use")
    finally:
        assert server.stop() == 0


def test_a_function_outlives_the_loss_of_its_compiled_code(tmp_path):
    server = FunctionServer(tmp_path / "d", extra=["--modules", str(BUILD / "guests")])
    try:
        server.deploy("lost", {"module": {"file": "fn-hello-c.wasm"}})
        assert call(server.gateway, "lost.default", "/?name=a", timeout=120).status == 200
        for path in (tmp_path / "d/modules").iterdir():
            path.unlink()
        main = server.process.pid
        for child in open(f"/proc/{main}/task/{main}/children").read().split():
            if "dormouse-runner" in command_of(int(child)):
                os.kill(int(child), 9)
        wait_for(lambda: call(server.gateway, "lost.default", "/?name=a", timeout=120).status == 200, "an answer of new code")
        assert list((tmp_path / "d/modules").glob("*.code"))
    finally:
        assert server.stop() == 0


def test_a_program_that_prints_is_a_function_also_by_its_path(server, deploy):
    deploy("cgi", "fn-cgi-c")
    answer = call(server.gateway, "anything", "/fn/default/cgi/a%20b?c=d", method="POST", body="one\ntwo\n")
    assert answer.body.decode() == "POST /a b\n2 lines, 8 bytes\n"
    deploy("variables", "fn-command")
    lines = call(server.gateway, "anything", "/fn/default/variables/head").body.decode().splitlines()
    assert "SCRIPT_NAME=/fn/default/variables" in lines and "PATH_INFO=/head" in lines
    lines = call(server.gateway, "variables.default", "/head", headers={"X-Mine": "1", "Authorization": "x"}).body.decode().splitlines()
    assert "HTTP_X_MINE=1" in lines and "HTTP_HOST=variables.default" in lines
    assert not any(line.startswith("HTTP_AUTHORIZATION") for line in lines)


@pytest.mark.parametrize("path, status, reason", [
    ("/trap", 502, "GuestTrapped"), ("/hog", 502, "GuestTrapped"), ("/deep", 502, "GuestTrapped"),
    ("/exit/3", 502, "GuestExited"), ("/badname", 502, "MalformedHead"), ("/length/7", 502, "WrongLength"),
    ("/big/200000", 502, "ResponseTooLarge"), ("/spin", 504, "RequestTimeout")])
def test_a_guest_that_ends_badly_is_an_answer_with_a_reason_and_a_line(server, deploy, path, status, reason):
    name, timeouts = ("spins", {"requestMilliseconds": 2000}) if reason == "RequestTimeout" else ("bad", {})
    host = deploy(name, "fn-reactor", timeouts=timeouts, limits={"responseBytes": 100000})
    answer = call(server.gateway, host, path, timeout=120)
    assert (answer.status, answer.headers["x-dormouse-reason"]) == (status, reason)
    lines = [json.loads(line) for line in (server.data_dir / f"function-logs/default/{name}.log").read_text().splitlines()]
    assert any(line["message"].startswith(reason) and line["call"] for line in lines)
    assert call(server.gateway, host, "/hello").body == b"hello"


def test_the_id_of_an_asynchronous_call_finds_what_it_has_logged(server, deploy):
    deploy("bad-once", "fn-reactor", **{"async": {"attempts": 1}})

    def answer_of(id):
        answer = call(server.gateway, "gateway", f"/v1/async/{id}")
        return answer if answer.headers["x-faas-call-state"] == "failed" else None

    words = [BUILD / "dormouse", "fn", "call", "bad-once", "/exit/4", "--async", "--data-dir", server.data_dir]
    id = subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
    assert re.fullmatch(r"[0-9a-f]{40}", id)
    assert wait_for(lambda: answer_of(id), "it has failed").headers["x-dormouse-call-id"] == id
    words = [BUILD / "dormouse", "fn", "logs", "bad-once", "--call", id, "--data-dir", server.data_dir]
    lines = subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()
    assert lines and all("GuestExited" in line and f"call={id}" in line for line in lines)


def test_no_request_sees_what_another_one_did(server, deploy):
    host = deploy("pristine", "fn-init")
    for path in ("/poke/50", "/trap", "/grow", "/poke/255", "/exit/1"):
        assert call(server.gateway, host, "/count").body == b"1001"
        call(server.gateway, host, path)
        assert call(server.gateway, host, "/peek").body == b"1"
    host = deploy("kept", "fn-reactor", reuse=True, scale={"max": 1})
    counts = [int(call(server.gateway, host, "/count").body) for _ in range(3)]
    assert counts == sorted(counts) and counts[-1] >= 3


def test_grpc_reaches_a_guest_both_ways(server, deploy):
    grpc = pytest.importorskip("grpc", reason="no grpcio here (python3-grpcio)")
    if IS_CLOCK_SHIFTED:
        pytest.skip("grpcio waits until a time of the wall clock")
    host = deploy("remote", "fn-reactor", protocol="grpc")
    with grpc.insecure_channel(server.gateway, options=[("grpc.default_authority", host)]) as channel:
        assert channel.unary_unary("/t.T/Echo")(b"hello", timeout=DEADLINE_S) == b"hello"
        sent = [threading.Event() for _ in range(5)]

        def messages():
            for i, event in enumerate(sent):
                yield b"message %d" % i
                assert event.wait(DEADLINE_S)

        answers = channel.stream_stream("/t.T/Echo")(messages(), timeout=DEADLINE_S)
        for i, event in zip(itertools.count(), sent):
            assert next(answers) == b"message %d" % i  # before the next one is sent
            event.set()
        assert list(answers) == []
        assert answers.code() is grpc.StatusCode.OK


@pytest.mark.parametrize("language", ["c", "rust", "go"])
def test_a_new_project_is_built_deployed_and_answers(server, tmp_path, language):
    def fn(*args):
        return subprocess.run([BUILD / "dormouse", "fn", *args], cwd=tmp_path, capture_output=True, text=True, timeout=300,
                              env={**os.environ, "DORMOUSE_SDK": str(ROOT / "sdk")})

    made = fn("init", "--lang", language, f"new-{language}")
    assert made.returncode == 0, made.stderr
    built = fn("build", f"new-{language}")
    if built.returncode and "a tool is missing" in built.stderr:
        pytest.skip(built.stderr.strip())
    assert built.returncode == 0, built.stderr
    deployed = fn("deploy", f"new-{language}", "--data-dir", str(server.data_dir), "--call", "/?name=you")
    assert (deployed.returncode, deployed.stdout) == (0, "hello, you\n"), deployed.stderr
