# SPDX-License-Identifier: Apache-2.0
"""Pods on the node of `dormouse up`: their life as Kubernetes documents it."""
import os
import pathlib
import signal

import pytest

from conftest import wait_for
from pods_kit import PODS, Cluster, cluster, condition_of, is_ready, needs_pods, state_of, status_of, store  # noqa: F401

pytestmark = needs_pods


def mounts_of(uid):
    return [line for line in pathlib.Path("/proc/mounts").read_text().splitlines() if uid in line]


def groups_of(uid):
    return [str(p) for p in pathlib.Path("/sys/fs/cgroup").rglob(f"*pod{uid}*")]


def test_a_pod_runs_and_leaves_nothing(cluster):
    cluster.run("simple", ["sh", "-c", "echo hello; id -u; hostname; sleep 100000"])
    pod = cluster.wait("simple", is_ready)
    uid = pod["metadata"]["uid"]
    wait_for(lambda: cluster.log_of(pod) == ["hello", "0", "simple"], "the log")
    assert pod["status"]["phase"] == "Running" and pod["status"]["podIP"] and pod["status"]["qosClass"] == "BestEffort"
    assert status_of(pod)["started"] and status_of(pod)["imageID"].startswith("sha256:")
    assert mounts_of(uid) and groups_of(uid)
    pid = cluster.pid_of(pod)
    os.kill(pid, 0)
    cluster.delete("simple")
    cluster.wait_gone("simple")
    assert not mounts_of(uid) and not groups_of(uid) and not (cluster.data_dir / "agent/pods" / uid).exists()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_policies_of_restarts(cluster):
    cluster.run("never-0", ["true"], restartPolicy="Never")
    cluster.run("never-3", ["sh", "-c", "echo why > /dev/termination-log; exit 3"], restartPolicy="Never")
    cluster.run("failure", ["sh", "-c", "test -e /v/x && exit 0; touch /v/x; exit 1"], restartPolicy="OnFailure",
                containers=[{"name": "a", "command": ["sh", "-c", "test -e /v/x && exit 0; touch /v/x; exit 1"],
                             "volumeMounts": [{"name": "v", "mountPath": "/v"}]}], volumes=[{"name": "v", "emptyDir": {}}])
    cluster.wait_phase("never-0", "Succeeded")
    pod = cluster.wait_phase("never-3", "Failed")
    kind, ended = state_of(pod)
    assert kind == "terminated" and ended["exitCode"] == 3 and ended["reason"] == "Error" and ended["message"] == "why\n"
    pod = cluster.wait_phase("failure", "Succeeded")
    assert status_of(pod)["restartCount"] == 1 and status_of(pod)["lastState"]["terminated"]["exitCode"] == 1
    for name in ("never-0", "never-3", "failure"):
        cluster.delete(name)
        cluster.wait_gone(name)


def test_a_program_that_does_not_exist(cluster):
    cluster.run("nothing", ["/no/such/program"], restartPolicy="Never")
    pod = cluster.wait_phase("nothing", "Failed")
    kind, ended = state_of(pod)
    assert kind == "terminated" and ended["reason"] == "StartError" and ended["exitCode"] == 128 and "/no/such/program" in ended["message"]


def test_a_crash_is_followed_by_a_back_off(cluster):
    cluster.run("crash", ["false"])
    pod = cluster.wait("crash", lambda p: state_of(p)[1].get("reason") == "CrashLoopBackOff")
    assert status_of(pod)["restartCount"] == 1 and pod["status"]["phase"] == "Running" and condition_of(pod, "Ready") == "False"
    cluster.delete("crash")


def test_init_containers_and_sidecars_in_order(cluster):
    say = "echo {} >> /v/order"
    mounts = [{"name": "v", "mountPath": "/v"}]
    side = "; trap 'echo end >> /v/order; cat /v/order; exit 0' TERM; while :; do sleep 0.05; done"
    cluster.run("order", restartPolicy="Never", terminationGracePeriodSeconds=30, volumes=[{"name": "v", "emptyDir": {}}], initContainers=[
        {"name": "one", "command": ["sh", "-c", say.format("one")], "volumeMounts": mounts},
        {"name": "side", "command": ["sh", "-c", say.format("side") + side], "restartPolicy": "Always", "volumeMounts": mounts,
         "startupProbe": {"exec": {"command": ["grep", "side", "/v/order"]}, "periodSeconds": 1}},
        {"name": "two", "command": ["sh", "-c", say.format("two")], "volumeMounts": mounts},
    ], containers=[{"name": "a", "command": ["sh", "-c", say.format("main")], "volumeMounts": mounts}])
    pod = cluster.wait_phase("order", "Succeeded")
    assert cluster.log_of(pod, "side") == ["one", "side", "two", "main", "end"]
    assert state_of(pod, "one")[1]["exitCode"] == 0 and condition_of(pod, "Initialized") == "True"
    assert state_of(pod, "side")[1]["reason"] == "Completed" and status_of(pod, "side")["restartCount"] == 0


def test_what_is_missing_is_said_and_waited_for(cluster):
    cluster.run("config", containers=[{"name": "a", "command": ["sh", "-c", "echo $X; sleep 100000"],
                                       "env": [{"name": "X", "valueFrom": {"configMapKeyRef": {"name": "late", "key": "k"}}}]}])
    pod = cluster.wait("config", lambda p: state_of(p)[1].get("reason") == "CreateContainerConfigError")
    assert 'configmap "late" not found' in state_of(pod)[1]["message"]
    cluster.create("/api/v1/namespaces/default/configmaps", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "late"}, "data": {"k": "v"}})
    pod = cluster.wait("config", is_ready)
    wait_for(lambda: cluster.log_of(pod) == ["v"], "the log")
    cluster.run("image", containers=[{"name": "a", "image": "no-such:1", "imagePullPolicy": "Never"}])
    cluster.wait("image", lambda p: state_of(p)[1].get("reason") == "ErrImageNeverPull")


def test_a_deletion_has_its_grace(cluster):
    cluster.run("polite", ["sh", "-c", "trap 'exit 7' TERM; echo up; while :; do sleep 0.05; done"], terminationGracePeriodSeconds=60)
    cluster.run("deaf", ["sh", "-c", "trap '' TERM; while :; do sleep 0.05; done"], terminationGracePeriodSeconds=2)
    pod = cluster.wait("polite", is_ready)
    cluster.wait("deaf", is_ready)
    wait_for(lambda: cluster.log_of(pod) == ["up"], "the log")
    watch = cluster.watch(PODS + "?watch=true&fieldSelector=metadata.name%3Dpolite")
    cluster.delete("polite")
    cluster.delete("deaf")
    while (event := watch.next())["type"] != "DELETED":
        pass
    assert state_of(event["object"])[1]["exitCode"] == 7
    cluster.wait_gone("polite")
    cluster.wait_gone("deaf")


def test_a_killed_agent_leaves_containers_and_takes_them_over(tmp_path, store):
    up = Cluster(tmp_path / "data", store)
    up.run("stays", ["sh", "-c", "echo begin; while :; do sleep 0.05; test -e /tmp/go && echo went && exec sleep 100000; done"])
    up.run("ends", ["sh", "-c", "echo run; exec sleep 100000"])
    stays, ends = up.wait("stays", is_ready), up.wait("ends", is_ready)
    pid, other = up.pid_of(stays), up.pid_of(ends)
    up.kill()
    os.kill(pid, 0)
    os.kill(other, signal.SIGKILL)
    pathlib.Path(f"/proc/{pid}/root/tmp/go").touch()
    up = up.again()
    pod = up.wait("ends", lambda p: status_of(p)["restartCount"] == 1 and is_ready(p))
    assert status_of(pod)["lastState"]["terminated"]["exitCode"] == 137
    pod = up.wait("stays", is_ready)
    assert up.pid_of(pod) == pid and status_of(pod)["restartCount"] == 0
    assert status_of(pod)["containerID"] == status_of(stays)["containerID"] and pod["status"]["podIP"] == stays["status"]["podIP"]
    wait_for(lambda: up.log_of(pod) == ["begin", "went"], "the log")
    up.clear()
    assert up.stop() == 0
