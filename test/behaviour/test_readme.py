# SPDX-License-Identifier: Apache-2.0
"""The commands of README.md under "Use it", unchanged."""
import os
import shutil
import subprocess

import pytest

from conftest import BUILD, GO_HAS_ANOTHER_CLOCK, ROOT, find_kubectl

# The README uses default ports and /tmp/d, so the test runs in namespaces of its own.
ALONE = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
SCRIPT = """
set -eu
ip link set lo up
mount -t tmpfs tmpfs /mnt
cp "$1" /mnt/kubectl
mount -t tmpfs tmpfs /tmp
PATH=/mnt:$PATH exec bash -euo pipefail -c "$2"
"""


def can_be_alone():
    return shutil.which("ip") and subprocess.run([*ALONE, "true"], capture_output=True).returncode == 0


@pytest.mark.skipif(BUILD.resolve() != ROOT / "build", reason="README.md runs what is in build/")
@pytest.mark.skipif(not can_be_alone(), reason="needs root for namespaces, and ip (package iproute2)")
def test_the_blocks_of_use_it_work_as_they_stand():
    kubectl = find_kubectl()
    if not kubectl:
        pytest.skip(GO_HAS_ANOTHER_CLOCK or "no kubectl here, and it could not be built from its module")
    clang = subprocess.run([ROOT / "sdk/c/dm-cc", "check"], capture_output=True, text=True)
    if clang.returncode != 0:
        pytest.skip(clang.stdout.strip())
    script = subprocess.run([ROOT / "tools/readme-script", "Use it"], capture_output=True, text=True, check=True).stdout
    env = {k: v for k, v in os.environ.items() if not k.startswith(("DORMOUSE_", "KUBE"))}
    done = subprocess.run([*ALONE, "sh", "-c", SCRIPT, "sh", os.path.realpath(kubectl), script], cwd=ROOT, env=env,
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    for visible in ("operator.dormouse.dev/hello condition met", "configmap/world condition met", "greeting: Hello, world!",
                    "activation: hello default/world", "Controller     hello", "hello, world", "1 passed, 0 failed"):
        assert visible in done.stdout, f"{visible!r} is not to be seen: {done.stdout[-4000:]}"
