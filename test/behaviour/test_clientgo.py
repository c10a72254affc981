# SPDX-License-Identifier: Apache-2.0
"""client-go as a foreign peer: typed clients in JSON and protobuf, informers, leader election.

Compiling client-go takes minutes on a small machine, so the program is built only with DORMOUSE_SLOW_TESTS=1;
once it is there it is used by every run.
"""
import os
import subprocess

import pytest

from conftest import ROOT


def test_a_client_go_program_cannot_tell(dormouse_api):
    cached = [] if os.environ.get("DORMOUSE_SLOW_TESTS") else ["--cached"]
    made = subprocess.run([ROOT / "test/build-go", "clientgo", *cached], capture_output=True, text=True)
    if made.returncode != 0:
        pytest.skip(made.stderr.strip().splitlines()[-1] + "; DORMOUSE_SLOW_TESTS=1 builds it")
    done = subprocess.run([made.stdout.strip(), dormouse_api.kubeconfig], capture_output=True, text=True, timeout=90)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ok: elected" in done.stdout
