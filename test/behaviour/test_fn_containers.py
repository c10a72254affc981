# SPDX-License-Identifier: Apache-2.0
"""Functions that are containers, from an object to an answer; what is left when something is killed."""
import base64
import json
import os
import pathlib
import shutil
import signal
import subprocess

import pytest

from conftest import BUILD, wait_for
from functions_kit import FunctionServer, Role, call

RUN = pathlib.Path("/run")


def what_is_missing():
    """test/test_fn_oci.c knows what this machine lacks for containers."""
    done = subprocess.run([BUILD / "test/test_fn_oci", "a_container_is_made_answers_and_leaves_nothing"], capture_output=True, text=True)
    return done.stdout.partition("# SKIP ")[2].strip()


MISSING = what_is_missing()
pytestmark = pytest.mark.skipif(bool(MISSING), reason="NO CONTAINERS TESTED: " + MISSING)


@pytest.fixture(scope="module")
def bundles(tmp_path_factory):
    directory = tmp_path_factory.mktemp("bundles")
    rootfs = directory / "web" / "rootfs"
    rootfs.mkdir(parents=True)
    shutil.copy(BUILD / "test/oci_guest", rootfs / "guest")
    config = {"ociVersion": "1.0.2", "process": {"args": ["/guest"], "cwd": "/", "user": {"uid": 1000, "gid": 1000}}, "root": {"path": "rootfs"}}
    (directory / "web" / "config.json").write_text(json.dumps(config))
    return directory


@pytest.fixture
def up(tmp_path, bundles):
    server = FunctionServer(tmp_path / "data", extra=("--bundles", str(bundles)))
    yield server
    assert server.stop() == 0


def spec(**more):
    return {"image": {"bundle": "web"}, "port": 80, "resources": {"cpu": "1"}, **more}


def states(function):
    """What the workers of this machine keep about the containers of one function."""
    found = []
    for path in RUN.glob("dormouse-fn-*/s*/state.json"):
        try:
            state = json.loads(path.read_text())
        except (OSError, ValueError):
            continue
        if (state.get("note") or {}).get("function") == function:
            found.append(state)
    return found


def test_from_a_bundle_to_an_answer_and_a_log(up):
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "keys"}, "data": {"key": base64.b64encode(b"hush").decode()}}
    up.create("/api/v1/namespaces/default/secrets", secret)
    up.deploy("web", spec(args=["one", "two"], env=[{"name": "COLOUR", "value": "blue"}], secrets=[{"secretName": "keys", "mountPath": "/secrets"}]))
    assert call(up.gateway, "web.default").body == b"web one two"
    assert call(up.gateway, "web.default", "/env/COLOUR").body == b"blue"
    assert call(up.gateway, "web.default", "/env/K_REVISION").body == b"web-00001"
    assert call(up.gateway, "web.default", "/read/secrets/key").body == b"hush"
    assert call(up.gateway, "web.default", "/say/hullo").status == 200

    def shown():
        return subprocess.run([BUILD / "dormouse", "fn", "logs", "--data-dir", up.data_dir, "web"], capture_output=True, text=True).stdout

    wait_for(lambda: "info  hullo" in shown() and "not hullo" in shown(), "both streams are in the log")


def test_a_bundle_from_elsewhere_is_refused_and_the_status_says_why(up):
    up.deploy("thief", spec(image={"bundle": "/etc"}))
    answer = call(up.gateway, "thief.default")
    assert answer.status == 503
    status = wait_for(lambda: up.get("/apis/dormouse.dev/v1alpha1/namespaces/default/functions/thief").json().get("status"), "there is a status")
    assert "not below a directory of bundles" in json.dumps(status)


def test_a_container_that_is_killed_is_replaced_and_leaves_nothing(up):
    up.deploy("killed", spec())
    assert call(up.gateway, "killed.default").status == 200
    first = states("killed")[0]
    os.kill(first["pid"], signal.SIGKILL)
    wait_for(lambda: all(s["pid"] != first["pid"] for s in states("killed")), "its record is gone")
    wait_for(lambda: call(up.gateway, "killed.default").status == 200, "another one answers")
    log = subprocess.run([BUILD / "dormouse", "fn", "logs", "--data-dir", up.data_dir, "killed"], capture_output=True, text=True).stdout
    assert "killed by signal 9" in log


def test_a_server_that_is_killed_finds_its_containers_again(tmp_path, bundles):
    server = FunctionServer(tmp_path / "data", extra=("--bundles", str(bundles)))
    server.deploy("stays", spec())
    assert call(server.gateway, "stays.default").status == 200
    before = states("stays")
    server.kill()
    assert states("stays") == before, "containers live on without their worker"
    server = FunctionServer(tmp_path / "data", extra=("--bundles", str(bundles)))
    assert call(server.gateway, "stays.default").status == 200
    assert states("stays") == before, "and are adopted"
    assert server.stop() == 0
    assert states("stays") == [], "an orderly end takes them along"


def test_a_worker_in_its_own_process_runs_containers(tmp_path, bundles):
    server = FunctionServer(tmp_path / "data", extra=("--fn-listen", "127.0.0.1:0"))
    worker = Role("worker", tmp_path / "worker", "--control-plane", server.ready["control-plane"], "--bundles", bundles,
                  "--token-file", tmp_path / "data/fn.token")
    try:
        server.deploy("apart", spec())
        assert call(server.gateway, "apart.default").body == b"apart"
        worker.kill()
        worker.start()
        wait_for(lambda: call(server.gateway, "apart.default").status == 200, "its container is used again")
        assert worker.stop() == 0
        assert states("apart") == []
    finally:
        assert server.stop() == 0
