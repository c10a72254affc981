# SPDX-License-Identifier: Apache-2.0
"""`dormouse node shutdown`: the pods of a machine end before it stops, those of low priority first."""
import shlex
import shutil
import subprocess

import pytest

from conftest import BUILD, ROOT, wait_for
from pods_kit import IMAGE, PODS, Cluster, condition_of, is_ready, needs_pods, state_of, store

pytestmark = needs_pods


def shutdown(up, *args):
    return subprocess.Popen([BUILD / "dormouse", "node", "shutdown", "--data-dir", up.data_dir, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True)


def ready(up):
    conditions = up.get("/api/v1/nodes").json()["items"][0]["status"]["conditions"]
    return next(c for c in conditions if c["type"] == "Ready")


def critical(up, name):
    """In kube-system, where such pods may be."""
    path = "/api/v1/namespaces/kube-system/pods"
    up.create(path, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {
        "priorityClassName": "system-node-critical", "terminationGracePeriodSeconds": 1,
        "containers": [{"name": "a", "image": IMAGE, "imagePullPolicy": "IfNotPresent", "command": ["sleep", "100000"]}]}})
    return lambda: up.get(f"{path}/{name}").json()


def test_pods_end_in_the_order_of_their_priorities(tmp_path, store):
    up = Cluster(tmp_path / "data", store)
    signal = tmp_path / "signal"
    signal.mkdir()
    last = critical(up, "last")
    up.run("first", terminationGracePeriodSeconds=300, volumes=[{"name": "v", "hostPath": {"path": str(signal)}}], containers=[
        {"name": "a", "volumeMounts": [{"name": "v", "mountPath": "/v"}],
         "command": ["sh", "-c", "trap 'touch /v/asked; while [ ! -e /v/go ]; do sleep 0.05; done; exit 0' TERM; while :; do sleep 0.1; done"]}])
    up.run("done", ["true"], restartPolicy="Never")
    up.wait("first", is_ready)
    up.wait_phase("done", "Succeeded")
    wait_for(lambda: is_ready(last()), "the critical pod")
    command = shutdown(up, "--shutdown-grace-period", "300s")
    wait_for((signal / "asked").exists, "the first one is asked to end")
    wait_for(lambda: ready(up)["status"] == "False", "the node is not ready")
    assert ready(up)["message"] == "node is shutting down" and ready(up)["reason"] == "KubeletNotReady"
    assert is_ready(last()) and command.poll() is None
    other = shutdown(up)
    assert other.wait() == 1 and "shutting down already" in other.stderr.read()
    up.create(PODS, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "late"}, "spec": {"nodeName": up.get("/api/v1/nodes").json()["items"][0]["metadata"]["name"],
                     "containers": [{"name": "a", "image": IMAGE}]}})
    late = up.wait_phase("late", "Failed")
    assert late["status"]["reason"] == "NodeShutdown" and "node is shutting down" in late["status"]["message"]
    (signal / "go").touch()
    assert command.wait() == 0 and command.stdout.read() == "2 pods have ended\n"
    for pod in (up.pod("first"), last()):
        assert (pod["status"]["phase"], pod["status"]["reason"]) == ("Failed", "Terminated")
        assert pod["status"]["message"] == "Pod was terminated in response to imminent node shutdown."
        assert state_of(pod)[0] == "terminated" and condition_of(pod, "DisruptionTarget") == "True"
    assert up.pod("done")["status"]["phase"] == "Succeeded"
    assert up.stop() == 0
    up = up.again()
    wait_for(lambda: ready(up)["status"] == "True", "the next process makes it a node again")
    assert up.pod("first")["status"]["phase"] == "Failed"  # for good, as on a kubelet
    up.run("new")
    up.wait("new", is_ready)
    up.ask("DELETE", "/api/v1/namespaces/kube-system/pods/last")
    up.clear()
    assert up.stop() == 0


def test_groups_have_their_own_time_and_containers_that_do_not_end_are_killed(tmp_path, store):
    up = Cluster(tmp_path / "data", store)
    up.run("deaf", ["sh", "-c", "trap '' TERM; while :; do sleep 0.1; done"], terminationGracePeriodSeconds=3000)
    up.wait("deaf", is_ready)
    command = shutdown(up, "--shutdown-grace-period-by-pod-priority", "10=1000s", "--shutdown-grace-period-by-pod-priority", "-10=0s")
    assert command.wait() == 0, command.stderr.read()
    pod = up.pod("deaf")
    assert pod["status"]["reason"] == "Terminated" and state_of(pod)[1]["exitCode"] == 137
    up.clear()
    assert up.stop() == 0


@pytest.mark.parametrize("args, what", [
    (("--shutdown-grace-period", "1s", "--shutdown-grace-period-critical-pods", "2s"), "not longer"),
    (("--shutdown-grace-period-by-pod-priority", "x=1s"), "is no PRIORITY=TIME"),
    (("--shutdown-grace-period-by-pod-priority", "1=x"), "is no PRIORITY=TIME")])
def test_wrong_times_are_refused(tmp_path, args, what):
    done = subprocess.run([BUILD / "dormouse", "node", "shutdown", "--data-dir", tmp_path, *args], capture_output=True, text=True)
    assert done.returncode == 2 and what in done.stderr


def test_a_machine_that_is_no_node_says_so(tmp_path):
    done = subprocess.run([BUILD / "dormouse", "node", "shutdown", "--data-dir", tmp_path], capture_output=True, text=True)
    assert done.returncode == 1 and "no answer from a dormouse" in done.stderr


UNIT = ROOT / "docs/examples/dormouse-shutdown.service"


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs systemd-analyze")
def test_the_example_of_a_unit_is_one(tmp_path):
    """As systemd reads it, beside a unit of dormouse itself and with the program in its place."""
    units, program = tmp_path / "etc/systemd/system", tmp_path / "usr/local/bin/dormouse"
    for directory in (units, program.parent, tmp_path / "bin"):
        directory.mkdir(parents=True)
    for path in (program, tmp_path / "bin/true"):
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
    shutil.copy(UNIT, units)
    (units / "dormouse.service").write_text("[Service]\nExecStart=/usr/local/bin/dormouse up\n")
    for name in ("sysinit", "basic", "shutdown", "multi-user"):
        (units / f"{name}.target").write_text("[Unit]\nDefaultDependencies=no\n")
    done = subprocess.run(["systemd-analyze", "verify", f"--root={tmp_path}", "--man=no", f"/etc/systemd/system/{UNIT.name}"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, ""), done


def test_the_example_of_a_unit_calls_the_command(tmp_path):
    """Its options are those of the command, which fails only since there is no dormouse to ask; and the unit has more time than the periods."""
    lines = dict(line.split("=", 1) for line in UNIT.read_text().splitlines() if "=" in line and not line.startswith("#"))
    words = shlex.split(lines["ExecStop"])
    assert words[0] == "/usr/local/bin/dormouse"
    words[words.index("--data-dir") + 1] = str(tmp_path)
    done = subprocess.run([BUILD / "dormouse", *words[1:]], capture_output=True, text=True)
    assert done.returncode == 1 and "no answer from a dormouse" in done.stderr, done
    assert int(lines["TimeoutStopSec"].removesuffix("s")) > int(words[words.index("--shutdown-grace-period") + 1].removesuffix("s")) + 3
