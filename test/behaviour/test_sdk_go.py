# SPDX-License-Identifier: Apache-2.0
"""The Go SDK: its own tests and those of the operators written with it, one run for each Go module."""
import os
import shutil
import subprocess

import pytest

from conftest import ROOT

MODULES = ["sdk/go", "sdk/go/wasmtest", "sdk/go/clientgo", "guests/issuer"]
SLOW_MODULES = ["sdk/go/controllerruntime"]  # takes minutes to compile on a small machine


def go(module, *args, **env):
    return subprocess.run(["go", *args], cwd=ROOT / module, capture_output=True, text=True, env=dict(os.environ, **env),
                          timeout=900)


@pytest.fixture(scope="module", autouse=True)
def needs_go():
    if not shutil.which("go"):
        pytest.skip("no Go here: install Go 1.24 or later for the Go SDK and its tests")


@pytest.mark.parametrize("module", MODULES + SLOW_MODULES)
def test_go_tests_pass(module):
    if module in SLOW_MODULES and not os.environ.get("DORMOUSE_SLOW_TESTS"):
        pytest.skip(f"DORMOUSE_SLOW_TESTS=1 runs the tests of {module}")
    try:
        got = go(module, "mod", "download")
    except subprocess.TimeoutExpired:
        pytest.skip(f"the modules that {module} needs do not arrive")
    if got.returncode != 0:
        pytest.skip(f"the modules that {module} needs cannot be fetched: {got.stderr.strip().splitlines()[-1]}")
    done = go(module, "test", "./...", GOFLAGS="-mod=readonly")
    assert done.returncode == 0, done.stdout + done.stderr
    done = go(module, "vet", "./...")
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_go_sources_are_formatted():
    done = subprocess.run(["gofmt", "-l", ROOT / "sdk/go", ROOT / "guests/issuer"], capture_output=True, text=True)
    assert done.stdout == "", done.stdout + done.stderr
