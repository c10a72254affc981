# SPDX-License-Identifier: Apache-2.0
"""./dev on machines of several kinds: programs of the distribution are stand-ins that write down how they are called."""
import os
import re
import shutil
import subprocess

import pytest

from conftest import ROOT

STAND_INS = {
    "sudo": 'exec "$@"',
    "meson": "true",
    "ninja": "true",
    "dpkg-query": 'for p; do :; done; grep -qx "$p" "$HERE/missing" && exit 1; echo "install ok installed"',
    "apt-cache": """case $1 in
show) grep -qx "$2" "$HERE/unknown" && exit 100; exit 0 ;;
search) cat "$HERE/versions" ;;
esac""",
    "apt-get": 'echo "apt-get $*" >>"$HERE/calls"; : >"$HERE/missing"; [ "$1" != install ] || : >"$HERE/rust-is-here"; echo "Setting up it"',
    "rustup": 'echo "rustup $*" >>"$HERE/calls"; : >"$HERE/rust-is-here"',
}
TOOLS = {
    "find-rust": '[ "${1:-}" != --minimum ] || { echo 1.95.0; exit 0; }; [ -e "$HERE/rust-is-here" ] && echo /usr/bin',
    "build-engine": "echo /engine",
    "containerd-root": 'echo "containerd-root $*" >>"$HERE/calls"; exit 1',
    "run-tests": 'echo "ran $*"; echo "$TEST_TOOK" >"$HERE/took"; echo "1 passed, 0 failed"',
    "test-kernels": 'echo "ran kernels $*"; echo "1 passed, 0 failed"',
}


class Machine:
    """missing: packages that are not installed; unknown: those that the distribution does not have."""

    def __init__(self, path, missing=(), unknown=(), rust=True, versions=(), without=()):
        self.path = path
        for directory, programs in (("bin", STAND_INS), ("tools", TOOLS)):
            (path / directory).mkdir()
            for name, text in programs.items():
                if name not in without:
                    (path / directory / name).write_text(f"#!/bin/sh\n{text}\n")
                    (path / directory / name).chmod(0o755)
        shutil.copy(ROOT / "dev", path)
        shutil.copy(ROOT / "tools/demo", path / "tools")
        for name, lines in (("missing", missing), ("unknown", unknown), ("versions", versions), ("calls", ())):
            (path / name).write_text("".join(f"{line}\n" for line in lines))
        if rust:
            (path / "rust-is-here").touch()

    def dev(self, *args, status=0):
        env = {k: v for k, v in os.environ.items() if k not in ("ENGINE_DIR", "XDG_CACHE_HOME")}
        env |= {"HERE": str(self.path), "HOME": str(self.path / "home"), "PATH": f"{self.path}/bin:/usr/bin:/bin"}
        done = subprocess.run(["./dev", *args], cwd=self.path, capture_output=True, text=True, env=env, timeout=60)
        assert done.returncode == status, done.stderr
        return done

    def calls(self):
        return (self.path / "calls").read_text().splitlines()


def test_the_first_run_says_what_it_takes_and_what_is_left(tmp_path):
    machine = Machine(tmp_path, missing=["wabt"])
    done = machine.dev("test", "--skips", "gate")
    output = done.stderr.splitlines()
    assert "GiB of disk" in output[0] and "~/.cargo" in output[1]
    assert [line for line in output if " of 5" in line] == [
        "dev: step 1 of 5: packages (then: Rust, Wasm engine, dormouse and its tests, running the tests)",
        "dev: step 2 of 5: Rust (then: Wasm engine, dormouse and its tests, running the tests)",
        "dev: step 3 of 5: Wasm engine (then: dormouse and its tests, running the tests)",
        "dev: step 4 of 5: dormouse and its tests (then: running the tests)",
        "dev: step 5 of 5: running the tests"]
    assert machine.calls() == ["apt-get install -y --no-install-recommends wabt"]
    assert done.stdout.splitlines() == ["ran build --skips gate", "1 passed, 0 failed"]
    assert "Setting up it" in (tmp_path / ".cache/apt.log").read_text()
    assert re.fullmatch(r"took 0:\d\d building\n", (tmp_path / "took").read_text())


def test_later_runs_are_not_told(tmp_path):
    machine = Machine(tmp_path)
    (tmp_path / "home/.cache/dormouse/engine/x/compile/lib").mkdir(parents=True)
    assert machine.dev("build").stderr == "dev: building\n"
    assert machine.calls() == []


@pytest.mark.parametrize("unknown, package", [(["libllhttp-dev"], "node-llhttp"), ([], "libllhttp-dev")])
def test_llhttp_comes_from_the_package_that_the_distribution_has(tmp_path, unknown, package):
    machine = Machine(tmp_path, missing=["libllhttp-dev", "node-llhttp"], unknown=unknown)
    machine.dev("build")
    assert machine.calls() == [f"apt-get install -y --no-install-recommends {package}"]


@pytest.mark.parametrize("unknown, versions, installs", [
    ([], [], "rustc-web cargo-web"),
    (["rustc-web"], ["rustc-1.89 - old", "rustc-1.97 - new", "rustc-1.91 - old"], "rustc-1.97 cargo-1.97"),
])
def test_rust_comes_from_packages(tmp_path, unknown, versions, installs):
    machine = Machine(tmp_path, rust=False, unknown=unknown, versions=versions)
    machine.dev("build")
    assert machine.calls() == ["apt-get update", f"apt-get install -y --no-install-recommends {installs}"]


def test_a_toolchain_is_added_and_the_default_stays(tmp_path):
    machine = Machine(tmp_path, rust=False, unknown=["rustc-web"], versions=["rustc-1.89 - old"])
    machine.dev("build")
    assert machine.calls() == ["apt-get update", "rustup toolchain install 1.95.0 --profile minimal"]


def test_other_kernels_take_more_packages(tmp_path):
    machine = Machine(tmp_path, missing=["kmod", "qemu-system-x86"])
    assert machine.dev("test", "--kernels", "6.1", "swap").stdout.splitlines() == ["ran kernels build 6.1 swap", "1 passed, 0 failed"]
    assert machine.calls() == ["apt-get install -y --no-install-recommends kmod qemu-system-x86"]


def test_foreign_tests_are_run_alone(tmp_path):
    machine = Machine(tmp_path)
    done = machine.dev("test", "--foreign", "containerd")
    assert done.stdout.splitlines()[0] == "ran build --foreign containerd"
    assert machine.calls() == [f"containerd-root {tmp_path}/home/.cache/dormouse/containerd-root"]
    assert "no containerd 2.x: its tests are skipped" in done.stderr
    machine.dev("test")
    assert len(machine.calls()) == 1


@pytest.mark.parametrize("args, why", [
    (["nosuch"], "dev: unknown command 'nosuch'; './dev help' lists the commands"),
    (["run", "--nosuch"], "dev: run: unknown argument '--nosuch'"),
    (["run", "--operators"], "dev: run: --operators needs a number"),
    (["run", "--operators", "many"], "dev: run: --operators: 'many' is no number above 0"),
])
def test_wrong_usage_is_refused_before_anything_is_built(tmp_path, args, why):
    machine = Machine(tmp_path, missing=["wabt"])
    done = machine.dev(*args, status=2)
    assert done.stderr.splitlines()[0] == why
    assert machine.calls() == [] and not (tmp_path / "build.log").exists()
