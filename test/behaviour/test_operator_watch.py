# SPDX-License-Identifier: Apache-2.0
"""dormouse operator run --watch: what is saved is built and takes over; what does not compile changes nothing."""
import os
import signal
import subprocess

import pytest

from conftest import BUILD, wait_for
from test_operator_project import build, dormouse

MAPS = "/api/v1/namespaces/default/configmaps"


@pytest.fixture
def project(tmp_path):
    assert dormouse("init", "--lang", "c", "my-op", cwd=tmp_path).returncode == 0
    build(tmp_path / "my-op")  # or skips
    return tmp_path / "my-op"


class Watched:
    """The command, and what it has said so far."""

    def __init__(self, project, kubeconfig, data_dir):
        self.log = project.parent / "run.log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen([BUILD / "dormouse", "operator", "run", "--watch", project, "--kubeconfig", kubeconfig,
                                             "--data-dir", data_dir], stdout=log, stderr=log)

    def text(self):
        return self.log.read_text()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(20)


def greeting(api, name):
    return api.get(f"{MAPS}/{name}").json().get("data", {}).get("greeting", "")


def greet(api, name):
    api.create(MAPS, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "labels": {"hello": "please"}}})


def save(path, old, new):
    """As editors do: a new file in place of the old one."""
    text = path.read_text()
    assert old in text
    part = path.with_suffix(".part")
    part.write_text(text.replace(old, new))
    os.replace(part, path)


def test_a_saved_source_takes_over_and_a_broken_one_does_not(dormouse_api, project, tmp_path):
    watched = Watched(project, dormouse_api.kubeconfig, tmp_path / "data")
    try:
        greet(dormouse_api, "one")
        wait_for(lambda: greeting(dormouse_api, "one") == "Hello, one!", "the operator runs")
        save(project / "operator.c", "Hello, ", "Welcome, ")
        wait_for(lambda: greeting(dormouse_api, "one") == "Welcome, one!", "the new one has taken over")
        save(project / "operator.c", "Welcome, ", '" this is not C ')
        wait_for(lambda: "waiting for a change" in watched.text(), "the compiler complains")
        greet(dormouse_api, "two")
        wait_for(lambda: greeting(dormouse_api, "two") == "Welcome, two!", "the last good one goes on")
        assert watched.text().count("ready ") == 1
    finally:
        status = watched.stop()
    assert status == 0


def test_what_is_no_project_is_refused(tmp_path):
    done = subprocess.run([BUILD / "dormouse", "operator", "run", "--watch", tmp_path], capture_output=True, text=True)
    assert done.returncode == 1 and "has no Cargo.toml, go.mod or *.c" in done.stderr
