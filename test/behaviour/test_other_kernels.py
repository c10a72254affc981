# SPDX-License-Identifier: Apache-2.0
"""tools/test-kernels with stand-ins for the machine that it starts: what that boots from, and how its results are told."""
import gzip
import importlib.machinery
import importlib.util
import json
import os
import subprocess
import sys

import pytest

from conftest import ROOT

VERSION = "6.1.0-7-amd64"
# The machine: reads the plan in the shared directory, and leaves there what $RESULT says.
MACHINE = """#!/bin/sh
for word; do
    case $word in *id=shared,*) shared=${word##*path=} ;; kvm | tcg) accel=$word ;; esac
done
echo "$accel" >>"$HERE/machines"
cp "$shared/plan.json" "$HERE/plan.json"
[ "$accel" != "${BROKEN:-}" ] || { echo "no $accel here" >&2; exit 1; }
: >"$shared/booted"
echo "said by the tests" >"$shared/log"
[ -z "${RESULT:-}" ] || printf %s "$RESULT" >"$shared/result.json"
"""


def load():
    loader = importlib.machinery.SourceFileLoader("test_kernels", str(ROOT / "tools/test-kernels"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("test_kernels", loader))
    loader.exec_module(module)
    return module


class Place:
    def __init__(self, path):
        self.path, self.build = path, path / "build"
        self.kernel = path / "cache/dormouse/kernels/6.1"
        base = self.kernel / "lib/modules" / VERSION
        base.mkdir(parents=True)
        (self.kernel / "vmlinuz").write_bytes(b"kernel")
        (base / "modules.builtin").write_text("kernel/drivers/virtio/virtio_pci.ko\n")
        (base / "modules.dep").write_text("a/overlay.ko:\nb/9pnet.ko:\nb/9pnet_virtio.ko: b/9pnet.ko\nb/9p.ko: b/netfs.ko b/9pnet.ko c/fscache.ko\n"
                                          "b/netfs.ko: c/fscache.ko\nc/fscache.ko:\nd/virtio_blk.ko:\n")
        for line in (base / "modules.dep").read_text().splitlines():
            file = base / line.partition(":")[0]
            file.parent.mkdir(exist_ok=True)
            file.write_text(file.name)
        self.build.mkdir()
        (path / "bin").mkdir()
        (path / "bin/qemu-system-x86_64").write_text(MACHINE)
        (path / "bin/qemu-system-x86_64").chmod(0o755)

    def run(self, *args, **env):
        env = {**os.environ, "PATH": f"{self.path}/bin:{os.environ['PATH']}", "HERE": str(self.path), "XDG_CACHE_HOME": str(self.path / "cache"), **env}
        return subprocess.run([sys.executable, ROOT / "tools/test-kernels", self.build, "6.1", *args], capture_output=True, text=True, env=env, timeout=60)


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


def test_modules_are_loaded_after_those_that_they_need(place):
    files = load().module_files(place.kernel, ["virtio_pci", "virtio_blk", "9pnet_virtio", "9p", "overlay"])
    assert [f.name for f in files] == ["virtio_blk.ko", "9pnet.ko", "9pnet_virtio.ko", "fscache.ko", "netfs.ko", "9p.ko", "overlay.ko"]
    with pytest.raises(Exception, match="has no module ext9"):
        load().module_files(place.kernel, ["ext9"])


def test_the_archive_has_programs_with_their_libraries(place):
    load().write_initramfs(place.kernel, "/guest", place.path / "initramfs")
    (place.path / "plain").write_bytes(gzip.decompress((place.path / "initramfs").read_bytes()))
    (place.path / "out").mkdir()
    subprocess.run(["bsdtar", "-xf", place.path / "plain", "-C", place.path / "out"], check=True)
    out = place.path / "out"
    assert "exec switch_root /root /usr/bin/python3 -B /guest" in (out / "init").read_text()
    assert sorted(p.name for p in (out / "modules").iterdir())[0] == "00-virtio_blk.ko"
    assert (out / "bin/sh").read_bytes() == open("/bin/sh", "rb").read() and os.access(out / "bin/sh", os.X_OK)
    assert list(out.glob("**/libc.so.6"))


def test_a_package_that_stands_for_the_newest_kernel_names_it():
    assert load().newest_of("Package: linux-image-amd64\nDepends: linux-image-6.1.0-9-amd64 (= 6.1.27-1)\n", "x") == "linux-image-6.1.0-9-amd64"


def test_results_of_the_machine_are_counted(place):
    result = {"passed": 3, "failed": [], "skipped": [["test_a", "no way"]]}
    done = place.run("--skips", "swap", RESULT=json.dumps(result))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["  skipped: test_a: no way", f"kernel 6.1 ({VERSION}): 3 passed, 0 failed, 1 skipped", "3 passed, 0 failed, 1 skipped"]
    plan = json.loads((place.path / "plan.json").read_text())
    assert (plan["units"], plan["behaviour"], plan["user"]) == (["swap"], [], [])
    assert (place.build / "kernels/6.1.log").read_text() == "said by the tests\n"
    done = place.run(RESULT=json.dumps({**result, "failed": ["test_b: wrong"]}))
    assert done.returncode == 1 and done.stdout.splitlines()[0] == "  failed: test_b: wrong"
    assert done.stdout.splitlines()[-1] == "3 passed, 1 failed, 1 skipped"


def test_a_command_runs_instead_of_the_tests(place):
    done = place.run("--command", "uname -r", RESULT=json.dumps({"passed": 1, "failed": [], "skipped": []}))
    assert done.stdout.splitlines()[0] == "said by the tests" and done.stdout.splitlines()[-1] == "1 passed, 0 failed"
    plan = json.loads((place.path / "plan.json").read_text())
    assert (plan["command"], plan["units"], plan["behaviour"], plan["user"]) == ("uname -r", [], [], [])


def test_a_machine_that_ends_early_is_a_failure(place):
    done = place.run("swap")
    assert done.returncode == 1 and "it ended without a result: said by the tests" in done.stdout


def test_without_virtualization_the_processor_is_emulated(place):
    done = place.run("swap", "twin", "life", BROKEN="kvm", RESULT=json.dumps({"passed": 1, "failed": [], "skipped": []}))
    assert done.stdout.splitlines()[-1] == "1 passed, 0 failed"
    assert (place.path / "machines").read_text().split()[-1] == "tcg"
    plan = json.loads((place.path / "plan.json").read_text())
    assert (plan["units"], plan["behaviour"]) == (["swap"], [])
    assert [name for name, _ in plan["skipped"]] == ["twin", "life"], "which have limits of time"


def test_a_name_that_is_neither_kernel_nor_test_is_refused(place):
    done = place.run("2.4")
    assert done.returncode != 0 and "'2.4' is neither a kernel (6.1, 6.12, sid) nor a test" in done.stderr
