# SPDX-License-Identifier: Apache-2.0
"""`dormouse scheduler init` and `build`: a plugin from an empty directory, in every language, that places pods."""
import json
import os
import subprocess

import pytest

from conftest import BUILD, wait_for
from functions_kit import FunctionServer

PODS = "/api/v1/namespaces/default/pods"


def dormouse(*args, cwd, stdin=None, **env):
    return subprocess.run([str(BUILD / "dormouse"), "scheduler", *args], cwd=cwd, capture_output=True, text=True, stdin=stdin,
                          env={**os.environ, **env}, timeout=300)


def make(language, where):
    made = dormouse("init", "--lang", language, "near", cwd=where)
    assert made.returncode == 0, made.stderr
    project = where / "near"
    assert not [f for f in project.rglob("*") if f.is_file() and "sdk" not in f.parts and "@NAME@" in f.read_text()]
    built = dormouse("build", str(project), cwd=where, DORMOUSE_SDK="/nowhere")
    if built.returncode and "a tool is missing" in built.stderr:
        pytest.skip(built.stderr.strip())
    assert built.returncode == 0, built.stderr
    return project


@pytest.mark.parametrize("language", ["c", "rust", "go"])
def test_a_new_plugin_answers_as_its_readme_promises(language, tmp_path):
    project = make(language, tmp_path)
    with open(project / "try.jsonl") as calls:
        output = dormouse("call", "--data-dir", str(tmp_path / "d"), cwd=project, stdin=calls)
    answers = [json.loads(line) for line in output.stdout.splitlines()]
    assert answers[0] == {"points": ["filter"]}, output
    assert [a["code"] for a in answers[2:]] == [0, 2] and answers[3]["message"] == "the node has no label disk"


def test_a_new_plugin_places_pods(tmp_path, monkeypatch):
    project = make("c", tmp_path)
    monkeypatch.chdir(project)
    up = FunctionServer(tmp_path / "data", extra=["--scheduler-config", "scheduler.yaml", "--gateway", "127.0.0.1:0"])
    try:
        for name, labels in ("fast", {"disk": "ssd"}), ("slow", {}):
            up.create("/api/v1/nodes", {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels},
                                        "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"},
                                                   "capacity": {"cpu": "4", "memory": "8Gi", "pods": "110"}}})
        for i in range(4):
            up.create(PODS, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"p{i}"},
                             "spec": {"schedulerName": "near", "containers": [{"name": "c", "image": "i"}]}})
        nodes = wait_for(lambda: (lambda at: all(at) and at)([up.get(f"{PODS}/p{i}").json()["spec"].get("nodeName") for i in range(4)]),
                         "all have a node", timeout=120)
        assert nodes == ["fast"] * 4
    finally:
        assert up.stop() == 0
