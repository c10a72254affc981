# SPDX-License-Identifier: Apache-2.0
"""hostUsers: false: the root of the container is no root of the machine, and files belong to the same users all the same."""
import os
import pathlib
import re
import subprocess

import pytest

from conftest import wait_for
from pods_kit import Cluster, cluster, is_ready, needs_pods, state_of, status_of, store

pytestmark = needs_pods

SLEEP = ["sleep", "100000"]


def ids_of(up, pod, container="a"):
    """Real user and group of the program, as the machine sees them."""
    text = pathlib.Path(f"/proc/{up.pid_of(pod, container)}/status").read_text()
    return [int(line.split()[1]) for line in text.splitlines() if line.startswith(("Uid:", "Gid:"))]


def mounts_of(uid):
    return [line.split()[1] for line in pathlib.Path("/proc/self/mounts").read_text().splitlines() if uid in line]


def test_root_of_the_container_is_another_user_of_the_machine(cluster):
    cluster.put("ConfigMap", "conf", data={"key": "value"})
    cluster.put("Secret", "hush", stringData={"key": "secret"})
    volumes = [{"name": "disk", "emptyDir": {}}, {"name": "memory", "emptyDir": {"medium": "Memory"}}, {"name": "conf", "configMap": {"name": "conf"}},
               {"name": "hush", "secret": {"secretName": "hush", "defaultMode": 0o400}}]
    places = [{"name": v["name"], "mountPath": f"/{v['name']}"} for v in volumes]
    cluster.run("own", hostUsers=False, volumes=volumes, containers=[{"name": "a", "command": SLEEP, "volumeMounts": places}])
    cluster.run("machine")
    pod = cluster.wait("own", is_ready)
    uid, gid = ids_of(cluster, pod)
    assert uid == gid and uid >= 65536 and uid % 65536 == 0
    assert ids_of(cluster, cluster.wait("machine", is_ready)) == [0, 0]
    assert cluster.sh("own", "id -u; awk '{print $1, $2, $3}' /proc/self/uid_map 2>/dev/null || cat /proc/self/uid_map").split() == ["0", "0", str(uid), "65536"]
    assert set(cluster.sh("own", "stat -c %u:%g / /bin/busybox /etc/hosts /disk /memory /conf/key /hush/key").split()) == {"0:0"}
    assert cluster.sh("own", "cat /conf/key /hush/key; echo x > /disk/x; echo x > /memory/x; echo x > /new; chown 1000:1000 /disk/x && cat /disk/x /new") \
        == "valuesecretx\nx\n"
    made = cluster.data_dir / "agent/pods" / pod["metadata"]["uid"]
    [on_disk] = made.glob("volumes/**/disk/x")
    assert (on_disk.stat().st_uid, on_disk.stat().st_gid) == (1000, 1000)  # as without a namespace of its own
    # The root of the container has no power over what is not its own.
    assert cluster.sh("own", "mount -t tmpfs tmpfs /tmp 2>&1; echo > /proc/sys/kernel/hostname 2>&1; echo 1 > /proc/sysrq-trigger 2>&1", check=False).count("denied") \
        + cluster.sh("own", "cat /proc/1/environ >/dev/null && echo own", check=False).count("own") >= 1
    assert (pathlib.Path("/dev/null").stat().st_uid, pathlib.Path("/dev/null").stat().st_mode & 0o777) == (0, 0o666)


def test_pods_have_users_of_their_own_which_stay_over_a_restart_of_the_process(tmp_path, store):
    up = Cluster(tmp_path / "data", store)
    names = ["one", "two"]
    for name in names:
        up.run(name, hostUsers=False, containers=[{"name": n, "command": ["sh", "-c", "echo begin; sleep 100000"]} for n in "ab"])
    pods = {name: up.wait(name, is_ready) for name in names}
    bases = {name: ids_of(up, pods[name])[0] for name in names}
    assert len(set(bases.values())) == 2
    for name in names:
        assert ids_of(up, pods[name], "b")[0] == bases[name]
        ipc = {os.readlink(f"/proc/{up.pid_of(pods[name], c)}/ns/{kind}") for c in "ab" for kind in ("user", "ipc", "net")}
        assert len(ipc) == 3  # shared in the pod
    up.kill()
    up = up.again()
    for name in names:
        pod = up.wait(name, is_ready)
        assert status_of(pod)["restartCount"] == 0 and ids_of(up, pod)[0] == bases[name]
        wait_for(lambda name=name: up.sh(name, "id -u", check=False) == "0\n", "a command at the node's new port")
    os.kill(up.pid_of(up.pod("one")), 9)
    pod = up.wait("one", lambda p: is_ready(p) and status_of(p)["restartCount"] == 1)
    assert ids_of(up, pod)[0] == bases["one"]
    up.run("three", hostUsers=False)
    assert ids_of(up, up.wait("three", is_ready))[0] not in bases.values()
    uids = [p["metadata"]["uid"] for p in pods.values()]
    up.clear()
    for uid in uids:
        wait_for(lambda: not mounts_of(uid), f"no mount is left: {mounts_of(uid)}")
    roots = [p for d in pathlib.Path("/run").glob("dormouse-roots-*") for p in d.iterdir() if os.path.ismount(p)]
    assert not [r for r in roots if str(tmp_path) in pathlib.Path("/proc/mounts").read_text()], roots
    assert up.stop() == 0


def test_other_users_and_what_they_write(cluster):
    cluster.run("other", hostUsers=False, securityContext={"runAsUser": 1000, "runAsGroup": 1000, "fsGroup": 2000},
                volumes=[{"name": "v", "emptyDir": {}}],
                containers=[{"name": n, "command": SLEEP, "volumeMounts": [{"name": "v", "mountPath": "/v"}]} for n in "ab"])
    pod = cluster.wait("other", is_ready)
    assert ids_of(cluster, pod)[0] % 65536 == 1000
    assert cluster.sh("other", "touch /v/x; stat -c %u:%g /v/x; id -u") == "1000:2000\n1000\n"
    assert cluster.sh("other", "ls -n /v/x", "b").split()[2:4] == ["1000", "2000"]
    cluster.run("init", hostUsers=False, restartPolicy="Never", initContainers=[{"name": "i", "command": ["sh", "-c", "echo init > /dev/stdout"]}],
                containers=[{"name": "a", "command": ["sh", "-c", "echo out > /dev/stdout; echo bye > /dev/termination-log; exit 3"]}])
    pod = cluster.wait_phase("init", "Failed")
    assert cluster.log_of(pod) == ["out"] and cluster.log_of(pod, "i") == ["init"]
    assert (state_of(pod)[1]["exitCode"], state_of(pod)[1]["message"]) == (3, "bye\n")


def crun_version():
    words = subprocess.run(["crun", "--version"], capture_output=True, text=True).stdout.split()
    return tuple(int(n) for n in re.match(r"(\d+)\.(\d+)", words[2]).groups()), words[2]


def test_processes_are_shared_where_crun_can_do_it(cluster):
    """Else the event says what is needed."""
    for name in ("shared-1", "shared-2", "shared-3"):
        cluster.run(name, hostUsers=False, shareProcessNamespace=True, volumes=[{"name": "v", "emptyDir": {}}],
                    containers=[{"name": c, "command": SLEEP, "volumeMounts": [{"name": "v", "mountPath": "/v"}]} for c in "ab"])
    version, text = crun_version()
    if version < (1, 21):
        cluster.wait_reason("shared-1", "FailedCreatePodSandBox")
        assert cluster.pod("shared-1")["status"]["phase"] == "Pending"
        events = cluster.get("/api/v1/namespaces/default/events?fieldSelector=reason%3DFailedCreatePodSandBox").json()["items"]
        assert any(f"together need crun 1.21 or later, and that of this machine is {version[0]}.{version[1]}" in e["message"] for e in events), events
    else:
        for name in ("shared-1", "shared-2", "shared-3"):
            pod = cluster.wait(name, is_ready)
            assert ids_of(cluster, pod)[0] >= 65536 and status_of(pod)["restartCount"] == 0
            assert cluster.sh(name, "touch /v/x; stat -c %u /v/x; ps | grep -c 'sleep 10000[0]'", "b") == "0\n2\n"
            assert cluster.sh(name, "kill -9 1 2>/dev/null || echo refused") == "refused\n"
    for name in ("shared-1", "shared-2", "shared-3"):
        cluster.delete(name, gracePeriodSeconds=0)


def test_a_volume_that_cannot_be_mapped_is_a_clear_failure(cluster):
    cluster.run("proc", hostUsers=False, volumes=[{"name": "v", "hostPath": {"path": "/proc"}}],
                containers=[{"name": "a", "command": SLEEP, "volumeMounts": [{"name": "v", "mountPath": "/v"}]}])
    cluster.wait("proc", lambda p: status_of(p).get("restartCount", 0) > 0 or state_of(p)[1].get("reason") in ("StartError", "RunContainerError"))
    cluster.wait_reason("proc", "Failed")
