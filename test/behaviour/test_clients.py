# SPDX-License-Identifier: Apache-2.0
"""Programs of others as peers: client-go, controller-runtime, the Python client.

Compiling client-go takes minutes on a small machine, so the Go programs are built only with DORMOUSE_SLOW_TESTS=1;
once they are there every run uses them.
"""
import os
import subprocess
import sys

import pytest

from conftest import GO_HAS_ANOTHER_CLOCK, ROOT


def go_program(name):
    if GO_HAS_ANOTHER_CLOCK:
        pytest.skip(GO_HAS_ANOTHER_CLOCK)
    cached = [] if os.environ.get("DORMOUSE_SLOW_TESTS") else ["--cached"]
    made = subprocess.run([ROOT / "tools/build-go", ROOT / "test" / name, *cached], capture_output=True, text=True)
    if made.returncode != 0:
        pytest.skip(made.stderr.strip().splitlines()[-1] + "; DORMOUSE_SLOW_TESTS=1 builds it")
    return made.stdout.strip()


PARTS = ["json", "protobuf", "informer", "streaming", "dynamic", "apply", "lease", "discovery"]


@pytest.mark.parametrize("part", PARTS)
def test_a_client_go_program_cannot_tell(shared_api, part):
    done = subprocess.run([go_program("clientgo"), shared_api.kubeconfig, part], capture_output=True, text=True, timeout=90)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"done: {part}" in done.stdout


def test_a_controller_runtime_manager_cannot_tell(dormouse_api):
    done = subprocess.run([go_program("controllerruntime"), dormouse_api.kubeconfig], capture_output=True, text=True, timeout=90)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ok: its ConfigMaps are collected" in done.stdout and "ok: the manager stops" in done.stdout


def test_the_python_client_cannot_tell(dormouse_api):
    made = subprocess.run([ROOT / "test/get-client", "python"], capture_output=True, text=True)
    if made.returncode != 0:
        pytest.skip(made.stderr.strip().splitlines()[-1])
    env = dict(os.environ, PYTHONPATH=made.stdout.strip(), PYTHONDONTWRITEBYTECODE="1")
    done = subprocess.run([sys.executable, ROOT / "test/behaviour/python_client.py", dormouse_api.kubeconfig],
                          capture_output=True, text=True, timeout=90, env=env)
    assert done.returncode == 0 and done.stdout == "done\n", done.stdout + done.stderr
