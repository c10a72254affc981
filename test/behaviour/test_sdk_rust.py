# SPDX-License-Identifier: Apache-2.0
"""The unit tests of what is written in Rust, where there is a cargo that can have its crates."""
import os
import shutil
import subprocess

import pytest

from conftest import BUILD, ROOT


@pytest.mark.parametrize("package", ["sdk/rust", "sdk/rust/function", "guests/tenant", "guests/ring/rust"])
def test_a_rust_package_passes_its_tests(package):
    if not shutil.which("cargo"):
        pytest.skip("RUST IS NOT TESTED: no 'cargo' in PATH")
    env = {**os.environ, "CARGO_TARGET_DIR": str(BUILD / "sdk-rust"), "CARGO_NET_RETRY": "0"}
    manifest = str(ROOT / package / "Cargo.toml")
    fetched = subprocess.run(["cargo", "fetch", "--locked", "--manifest-path", manifest], env=env,
                             capture_output=True, text=True)
    if fetched.returncode and "lock file" not in fetched.stderr:
        pytest.skip(f"RUST IS NOT TESTED: its crates cannot be had here: {fetched.stderr[-300:]}")
    done = subprocess.run(["cargo", "test", "--locked", "--manifest-path", manifest], env=env, capture_output=True,
                          text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
