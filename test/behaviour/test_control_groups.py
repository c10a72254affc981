# SPDX-License-Identifier: Apache-2.0
"""Control groups of version 2: what `dormouse up` makes of a group that is delegated to it, as systemd does it for a unit with
Delegate=yes, of one that is not, and of the root of a namespace, as in a container. On machines whose controllers are those of version 1
./dev test --kernels runs them."""
import json
import os
import pathlib
import shutil
import tempfile

import pytest

from conftest import BUILD, can_mount, wait_for
from functions_kit import FunctionServer, call
from test_fn_containers import MISSING

ROOT = pathlib.Path("/sys/fs/cgroup")
LIMIT = 512 << 20
USER = 60321
IN_GROUP = 'echo $$ >"$0/cgroup.procs" && exec "$@"'
AS_USER = f'echo $$ >"$0/cgroup.procs" && exec setpriv --reuid={USER} --regid={USER} --clear-groups "$@"'
IN_NAMESPACE = 'echo $$ >"$0/cgroup.procs" && exec unshare -C -m sh -c "umount -l /sys/fs/cgroup && mount -t cgroup2 cgroup /sys/fs/cgroup && ' \
               'exec \\"\\$@\\"" sh "$@"'


def is_version_2():
    controllers = ROOT / "cgroup.controllers"
    return os.geteuid() == 0 and controllers.exists() and "memory" in controllers.read_text().split()


pytestmark = [pytest.mark.skipif(not is_version_2(), reason="control groups of version 2 have no controllers here"),
              pytest.mark.skipif(not can_mount(), reason="no mounts here")]


def remove_tree(group):
    for below in sorted(group.glob("**/"), reverse=True):
        below.rmdir()


@pytest.fixture
def group():
    (ROOT / "cgroup.subtree_control").write_text("+memory +cpu +pids")
    made = ROOT / f"dormouse-test-{os.getpid()}"
    made.mkdir()
    (made / "memory.max").write_text(str(LIMIT))
    yield made
    remove_tree(made)


@pytest.fixture
def started(group):
    """up in the group by these words of a shell."""
    servers = []
    with tempfile.TemporaryDirectory(prefix="dm-behaviour-") as path:
        path = pathlib.Path(path)
        modules, bundle = path / "modules", path / "bundles/web"
        modules.mkdir()
        shutil.copy(BUILD / "guests/fn-hello-c.wasm", modules)
        (bundle / "rootfs").mkdir(parents=True)
        shutil.copy(BUILD / "test/oci_guest", bundle / "rootfs/guest")
        process = {"args": ["/guest"], "cwd": "/", "user": {"uid": 1000, "gid": 1000}}
        (bundle / "config.json").write_text(json.dumps({"ociVersion": "1.0.2", "process": process, "root": {"path": "rootfs"}}))

        def start(words, uid=0):
            os.chmod(path, 0o755)
            os.chown(path, uid, uid)
            extra = ("--modules", str(modules), "--bundles", str(bundle.parent))
            server = FunctionServer(path / "data", extra=extra, prefix=("sh", "-c", words, group))
            servers.append(server)
            return server
        yield start
        for server in servers:
            assert server.stop() == 0


def processes(group):
    return (group / "cgroup.procs").read_text().split()


def programs(group):
    return [pathlib.Path(f"/proc/{pid}/comm").read_text().strip() for pid in processes(group)]


def answers(server, name, what):
    server.deploy(name, what)
    answer = call(server.gateway, f"{name}.default", timeout=120)
    assert answer.status == 200, (answer.body, server.text_of_log()[-2000:])


MODULE = {"module": {"file": "fn-hello-c.wasm"}}
CONTAINER = {"image": {"bundle": "web"}, "port": 80, "resources": {"memory": "64Mi", "cpu": "500m"}}


def test_a_delegated_group_is_divided_between_main_and_guests(group, started):
    os.setxattr(group, "trusted.delegate", b"1")
    server = started(IN_GROUP)
    pid = server.process.pid
    assert processes(group) == [str(pid)]
    answers(server, "hello", MODULE)
    guests, main = group / f"dormouse-guests-{pid}", group / f"dormouse-main-{pid}"
    wait_for(lambda: "dormouse-runner" in programs(guests), "a runner is in the group of guests")
    assert str(pid) in processes(main) and processes(group) == []
    assert int((guests / "memory.max").read_text()) == LIMIT - (64 << 20)
    assert "have no limit of memory together" not in server.text_of_log()
    assert server.stop() == 0
    assert [p for p in group.iterdir() if p.is_dir()] == []


def test_a_group_may_belong_to_a_user(group, started):
    for name in ("", "cgroup.procs", "cgroup.threads", "cgroup.subtree_control"):
        os.chown(group / name, USER, USER)
    server = started(AS_USER, USER)
    answers(server, "hello", MODULE)
    guests, main = (group / f"dormouse-{what}-{server.process.pid}" for what in ("guests", "main"))
    wait_for(lambda: "dormouse-runner" in programs(guests), "a runner is in the group of guests")
    assert str(server.process.pid) in processes(main) and processes(group) == []
    assert server.stop() == 0
    assert [p for p in group.iterdir() if p.is_dir()] == []


def test_a_group_that_is_not_delegated_is_left_alone(group, started):
    server = started(IN_GROUP)
    answers(server, "hello", MODULE)
    assert [p for p in group.iterdir() if p.is_dir()] == []
    assert "is not delegated to this process" in server.text_of_log()


@pytest.mark.skipif(bool(MISSING), reason="NO CONTAINERS TESTED: " + MISSING)
@pytest.mark.parametrize("first", ["module", "container"])
def test_the_root_of_a_namespace_has_room_for_guests_and_containers(group, started, first):
    server = started(IN_NAMESPACE)
    both = {"module": MODULE, "container": CONTAINER}
    for name in (first, *(set(both) - {first})):
        answers(server, name, both[name])
    containers = next(p for p in (group / "dormouse-fn").iterdir() if p.is_dir())
    assert (containers / "memory.max").read_text().strip() == str(64 << 20)
    wait_for(lambda: (containers / "cpu.max").read_text().split() == ["50000", "100000"], "its CPU time is limited")
    guests = next(group.glob("dormouse-guests-*"))
    wait_for(lambda: "dormouse-runner" in programs(guests), "a runner is in the group of guests")
