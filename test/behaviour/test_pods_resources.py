# SPDX-License-Identifier: Apache-2.0
"""Limits of pods in control groups, what happens beyond them, and changes in place."""
import pathlib
import re

import pytest

from conftest import wait_for
from pods_kit import PODS, cluster, is_ready, needs_pods, state_of, status_of, store

pytestmark = needs_pods

SLEEP = ["sleep", "100000"]
SYS_RESOURCE = 24  # without it nothing can be made less likely to be killed
V2 = pathlib.Path("/sys/fs/cgroup/cgroup.controllers").exists()


def group_of(pid, controller):
    """The directory of the control group that limits the process."""
    for line in pathlib.Path(f"/proc/{pid}/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if V2 and not controllers:
            return pathlib.Path("/sys/fs/cgroup" + path)
        if controller in controllers.split(","):
            return pathlib.Path(f"/sys/fs/cgroup/{controller}{path}")
    raise AssertionError(controller)


def value(directory, v1, v2):
    return (directory / (v2 if V2 else v1)).read_text().strip()


def memory_of(directory):
    return value(directory, "memory.limit_in_bytes", "memory.max")


def test_limits_are_in_control_groups(cluster):
    cluster.run("limits", containers=[
        {"name": "a", "command": SLEEP, "resources": {"requests": {"cpu": "250m", "memory": "32Mi"}, "limits": {"cpu": "500m", "memory": "64Mi"}}},
        {"name": "b", "command": SLEEP, "resources": {"limits": {"cpu": "100m", "memory": "16Mi"}}}])
    pod = cluster.wait("limits", is_ready)
    assert pod["status"]["qosClass"] == "Burstable"
    memory, cpu = (group_of(cluster.pid_of(pod), c) for c in ("memory", "cpu"))
    assert memory_of(memory) == str(64 << 20) and memory_of(memory.parent) == str(80 << 20)
    if not V2:
        assert [value(d, "cpu.shares", "") for d in (cpu, cpu.parent)] == ["256", "358"]
        assert [value(d, "cpu.cfs_quota_us", "") for d in (cpu, cpu.parent)] == ["50000", "60000"]
    assert cluster.sh("limits", "cat /proc/1/oom_score_adj").strip() not in ("0", "-997", "1000")


@pytest.mark.parametrize("name, resources, qos, adjust", [
    ("best", {}, "BestEffort", "1000"), ("sure", {"limits": {"cpu": "100m", "memory": "32Mi"}}, "Guaranteed", "-997")])
def test_classes_of_pods(cluster, name, resources, qos, adjust):
    cluster.run(name, containers=[{"name": "a", "command": SLEEP, "resources": resources}])
    pod = cluster.wait(name, is_ready)
    least = "-1000" if int(re.search(r"CapEff:\s*(\S+)", pathlib.Path("/proc/self/status").read_text())[1], 16) >> SYS_RESOURCE & 1 else "0"
    assert pod["status"]["qosClass"] == qos and cluster.sh(name, "cat /proc/1/oom_score_adj").strip() == max(adjust, least, key=int)


def test_a_container_that_runs_out_of_memory(cluster):
    cluster.run("oom", restartPolicy="Never", containers=[{"name": "a", "command": ["sh", "-c", "tail /dev/zero"], "resources": {"limits": {"memory": "16Mi"}}},
                                                          {"name": "b", "command": SLEEP}])
    pod = cluster.wait("oom", lambda p: state_of(p)[0] == "terminated")
    assert state_of(pod)[1]["reason"] == "OOMKilled" and state_of(pod)[1]["exitCode"] == 137 and state_of(pod, "b")[0] == "running"


def test_a_pod_that_forks_without_end(cluster):
    cluster.run("bomb", containers=[{"name": "a", "command": ["sh", "-c", "f() { sleep 100000 & f; }; f; sleep 100000"]}])
    pod = cluster.wait("bomb", lambda p: state_of(p)[0] == "running")
    pids = group_of(cluster.pid_of(pod), "pids").parent
    limit = int((pids / "pids.max").read_text())
    assert 0 < limit <= 4096
    cluster.run("beside", ["sh", "-c", "true; exec sleep 100000"])
    cluster.wait("beside", is_ready)
    cluster.delete("bomb", gracePeriodSeconds=0)
    cluster.wait_gone("bomb")
    wait_for(lambda: not pids.exists(), "its processes end")


def test_a_resize_in_place(cluster):
    def size(cpu, memory):
        return {"requests": {"cpu": cpu, "memory": memory}, "limits": {"cpu": cpu, "memory": memory}}
    cluster.run("resize", containers=[{"name": "a", "command": SLEEP, "resources": size("200m", "32Mi")},
                                      {"name": "b", "command": SLEEP, "resources": size("100m", "32Mi"),
                                       "resizePolicy": [{"resourceName": "memory", "restartPolicy": "RestartContainer"}]}])
    pod = cluster.wait("resize", is_ready)
    pid = cluster.pid_of(pod)
    memory, cpu = (group_of(pid, c) for c in ("memory", "cpu"))
    cluster.patch(f"{PODS}/resize/resize", {"spec": {"containers": [{"name": "a", "resources": size("400m", "64Mi")}]}}, "strategic-merge-patch")
    pod = cluster.wait("resize", lambda p: status_of(p).get("resources", {}).get("limits", {}).get("cpu") == "400m")
    assert memory_of(memory) == str(64 << 20) and memory_of(memory.parent) == str(96 << 20)
    if not V2:
        assert [value(d, "cpu.cfs_quota_us", "") for d in (cpu, cpu.parent)] == ["40000", "50000"]
    assert cluster.pid_of(pod) == pid and status_of(pod)["restartCount"] == 0 and status_of(pod)["allocatedResources"] == {"cpu": "400m", "memory": "64Mi"}
    cluster.patch(f"{PODS}/resize/resize", {"spec": {"containers": [{"name": "b", "resources": size("100m", "16Mi")}]}}, "strategic-merge-patch")
    pod = cluster.wait("resize", lambda p: status_of(p, "b")["restartCount"] == 1 and is_ready(p))
    assert memory_of(group_of(cluster.pid_of(pod, "b"), "memory")) == str(16 << 20) and memory_of(memory.parent) == str(80 << 20)
    assert status_of(pod)["restartCount"] == 0


def test_termination_messages(cluster):
    def c(name, text, **more):
        return {"name": name, "command": ["sh", "-c", text], **more}
    logs = {"terminationMessagePolicy": "FallbackToLogsOnError"}
    cluster.run("messages", restartPolicy="Never", containers=[
        c("file", "echo said > /dev/termination-log; echo not this; exit 1"), c("path", "echo here > /tmp/why; exit 0", terminationMessagePath="/tmp/why"),
        c("log", "echo one; echo two; exit 1", **logs), c("fine", "echo one; exit 0", **logs), c("both", "echo log; echo file > /dev/termination-log; exit 1", **logs),
        c("long", "i=0; while test $i -lt 300; do echo 0123456789012345678$i; i=$((i+1)); done; exit 1", **logs),
        c("signal", "kill -9 $$; true")])
    pod = cluster.wait_phase("messages", "Failed")
    said = {name: state_of(pod, name)[1].get("message") for name in ("file", "path", "log", "fine", "both", "long")}
    assert said["file"] == "said\n" and said["path"] == "here\n" and said["log"] == "one\ntwo\n" and said["fine"] is None and said["both"] == "file\n"
    assert len(said["long"]) <= 2048 and said["long"].count("\n") <= 80 and said["long"].endswith("299\n")
    assert state_of(pod, "path")[1]["reason"] == "Completed"


def test_storage_beyond_its_limit(cluster):
    fill = ["sh", "-c", "dd if=/dev/zero of=$WHERE bs=65536 count=64 2>/dev/null; exec sleep 100000"]  # 4 MiB

    def c(where, **more):
        return [{"name": "a", "command": fill, "env": [{"name": "WHERE", "value": where}], **more}]
    limit = {"resources": {"limits": {"ephemeral-storage": "2Mi"}}}
    cluster.run("fills-volume", volumes=[{"name": "v", "emptyDir": {"sizeLimit": "2Mi"}}], containers=c("/v/f", volumeMounts=[{"name": "v", "mountPath": "/v"}]))
    cluster.run("fills-layer", containers=c("/tmp/f", **limit))
    cluster.run("fills-less", volumes=[{"name": "v", "emptyDir": {"sizeLimit": "5Mi"}}], containers=c("/v/f", volumeMounts=[{"name": "v", "mountPath": "/v"}]))
    for name, text in (("fills-volume", 'Usage of EmptyDir volume "v" exceeds the limit "2Mi"'), ("fills-layer", "ephemeral")):
        pod = cluster.wait_phase(name, "Failed")
        assert pod["status"]["reason"] == "Evicted" and text in pod["status"]["message"]
        assert next(c for c in pod["status"]["conditions"] if c["type"] == "DisruptionTarget")["reason"] == "TerminationByKubelet"
        cluster.wait_reason(name, "Evicted")
    assert is_ready(cluster.pod("fills-less"))


def test_storage_of_a_container_that_does_not_run(cluster):
    """Its logs count, and no other directory: beside one that has used nothing."""
    limit = {"resources": {"limits": {"ephemeral-storage": "2Mi"}}}
    cluster.run("logs", containers=[{"name": "quiet", "command": SLEEP},
                                    {"name": "loud", "command": ["sh", "-c", "i=0; while test $i -lt 40; do printf '%065536d\\n' 0; i=$((i+1)); done"], **limit}])
    cluster.run("waits", containers=[{"name": "quiet", "command": SLEEP, **limit}, {"name": "ends", "command": ["true"], **limit}])
    pod = cluster.wait_phase("logs", "Failed")
    assert pod["status"]["reason"] == "Evicted" and "Container loud exceeded its local ephemeral storage limit" in pod["status"]["message"]
    assert status_of(cluster.wait("waits", lambda p: status_of(p, "ends")["restartCount"] > 0), "quiet")["ready"]


def test_pods_that_a_node_refuses(cluster):
    """Bound by hand: the scheduler would not have done it."""
    node = cluster.get("/api/v1/nodes").json()["items"][0]["metadata"]["name"]
    cluster.run("too-big", nodeName=node, containers=[{"name": "a", "command": SLEEP, "resources": {"requests": {"cpu": "1000"}}}])
    cluster.run("elsewhere", nodeName=node, nodeSelector={"no": "such"})
    cluster.run("here", nodeName=node, nodeSelector={"kubernetes.io/hostname": node})
    pod = cluster.wait_phase("too-big", "Failed")
    assert pod["status"]["reason"] == "OutOfcpu" and pod["status"]["message"].startswith("Pod was rejected: Node didn't have enough resource: cpu, requested: 1000000")
    pod = cluster.wait_phase("elsewhere", "Failed")
    assert pod["status"]["reason"] == "NodeAffinity" and state_of(pod)[0] == "waiting"
    cluster.wait("here", is_ready)
    for name in ("too-big", "elsewhere", "here"):
        cluster.delete(name)
        cluster.wait_gone(name)
