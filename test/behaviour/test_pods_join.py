# SPDX-License-Identifier: Apache-2.0
"""Pods of a machine that has joined, while its API server is away, and while the machine itself is."""
import os
import pathlib
import re
import signal

import pytest

from conftest import Server, wait_for
from pods_kit import Cluster, is_ready, needs_pods, state_of, status_of, store
from test_nodes_join import NODES, Node, create_token, ready
from test_pods_static import manifest

pytestmark = needs_pods


class Control(Cluster):
    """A cluster without a node of its own."""

    def __init__(self, data_dir, listen="127.0.0.1:0"):
        self.log_dir = pathlib.Path(str(data_dir) + ".pods")
        Server.__init__(self, data_dir, listen=listen, extra=("--gateway", "none", "--no-agent"))


@pytest.fixture
def control(tmp_path, store):
    server = Control(tmp_path / "data")
    server.store = store
    yield server
    assert server.process.poll() is not None or server.stop() == 0


def join(control, directory, *args):
    node = Node(control, directory, "--node-name", "n1", "--image-store", str(control.store), "--agent-listen", "127.0.0.1:0", "--pod-log-dir", str(control.log_dir), *args)
    wait_for(lambda: ready(control, "n1").get("status") == "True", "the node is ready")
    return node


def test_pods_go_on_while_the_server_is_away(control, tmp_path):
    node = join(control, tmp_path / "n1", "--token", create_token(control))
    control.run("again", nodeName="n1")
    control.run("once", ["sh", "-c", "trap 'echo bye > /dev/termination-log; exit 4' TERM; while :; do sleep 0.05; done"], nodeName="n1", restartPolicy="Never")
    control.run("probed", nodeName="n1", containers=[{"name": "a", "command": ["sleep", "100000"],
                                                      "livenessProbe": {"exec": {"command": ["test", "!", "-e", "/tmp/dead"]}, "periodSeconds": 1, "failureThreshold": 1}}])
    pod, once, probed = (control.wait(name, is_ready) for name in ("again", "once", "probed"))
    control.kill()
    pid, other = control.pid_of(pod), control.pid_of(probed)
    os.kill(control.pid_of(once), signal.SIGTERM)
    (control.root_of(probed) / "tmp/dead").touch()
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: not pathlib.Path(f"/proc/{other}").exists(), "the probe ends its container")
    server = Control(control.data_dir, control.listen)
    pod = server.wait("again", lambda p: status_of(p)["restartCount"] == 1 and is_ready(p))
    assert status_of(pod)["lastState"]["terminated"]["exitCode"] == 137
    server.wait("probed", lambda p: status_of(p)["restartCount"] == 1 and is_ready(p))
    once = server.wait_phase("once", "Failed")
    assert state_of(once)[1]["exitCode"] == 4 and state_of(once)[1]["message"] == "bye\n"
    for name in ("again", "once", "probed"):
        server.delete(name)
        server.wait_gone(name)
    assert node.stop() == 0
    assert server.stop() == 0


def test_a_machine_that_starts_without_its_server_goes_on(control, tmp_path):
    files, said = tmp_path / "manifests", tmp_path / "said"
    files.mkdir()
    said.mkdir()
    node = join(control, tmp_path / "n1", "--token", create_token(control), "--pod-manifest-dir", str(files))
    control.run("talks", nodeName="n1", volumes=[{"name": "d", "hostPath": {"path": str(said)}}], terminationGracePeriodSeconds=1, containers=[
        {"name": "a", "command": ["sh", "-c", f"while :; do echo {1000 * 'x'}; echo . >> /d/lines; done"], "volumeMounts": [{"name": "d", "mountPath": "/d"}]}])
    talks = control.wait("talks", is_ready)
    pid = control.pid_of(talks)
    control.kill()
    node.kill()
    lines = lambda: (said / "lines").stat().st_size  # noqa: E731
    wait_for(lambda: state_of_process(pid) == "S", "its output is full")
    (files / "static.json").write_text(manifest("static", ["sh", "-c", "touch /d/static; sleep 100000"], directory=said))
    before = lines()
    node = Node(control, tmp_path / "n1", "--node-name", "n1", "--image-store", str(control.store), "--agent-listen", "127.0.0.1:0", "--pod-log-dir", str(control.log_dir),
                "--pod-manifest-dir", str(files), wait=False)
    wait_for(lambda: (said / "static").exists(), "the static pod runs")
    wait_for(lambda: lines() > before, "the output of the pod is read")
    server = Control(control.data_dir, control.listen)
    assert status_of(server.wait("talks", is_ready))["restartCount"] == 0
    assert server.wait("static-n1", is_ready)["metadata"]["ownerReferences"][0]["uid"] == server.get(f"{NODES}/n1").json()["metadata"]["uid"]
    (files / "static.json").unlink()
    server.delete("talks")
    for name in ("talks", "static-n1"):
        server.wait_gone(name)
    assert node.stop() == 0
    assert server.stop() == 0


def first_of_its_namespace(pid):
    """The process that the others of a namespace of processes end with."""
    namespace = os.readlink(f"/proc/{pid}/ns/pid")
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(path / "ns/pid") == namespace and re.search(r"^NSpid:.*\t1$", (path / "status").read_text(), re.M):
                return int(path.name)
        except OSError:
            pass
    return None


def test_a_pause_program_ends_before_its_pod_is_known(control, tmp_path):
    """Nothing starts it then: its pod does, once the server is back, and knows how its container ended."""
    files, said = tmp_path / "manifests", tmp_path / "said"
    files.mkdir()
    said.mkdir()
    node = join(control, tmp_path / "n1", "--token", create_token(control), "--pod-manifest-dir", str(files))
    control.run("shared", nodeName="n1", shareProcessNamespace=True, terminationGracePeriodSeconds=1)
    pid = control.pid_of(control.wait("shared", is_ready))
    pause = first_of_its_namespace(pid)
    assert pause != pid
    control.kill()
    node.kill()
    node = Node(control, tmp_path / "n1", "--node-name", "n1", "--image-store", str(control.store), "--agent-listen", "127.0.0.1:0", "--pod-log-dir", str(control.log_dir),
                "--pod-manifest-dir", str(files), wait=False)
    wait_for(lambda: node.text().count("container adopted") == 2, "both are taken over")
    os.kill(pause, signal.SIGKILL)
    (files / "static.json").write_text(manifest("static", ["sh", "-c", "sleep 2; touch /d/static; sleep 100000"], directory=said))  # longer than a pause before a new start
    wait_for(lambda: (said / "static").exists(), "the static pod runs")
    assert node.process.poll() is None, node.text()
    server = Control(control.data_dir, control.listen)
    pod = server.wait("shared", lambda p: is_ready(p) and status_of(p)["restartCount"] == 1)
    assert status_of(pod)["lastState"]["terminated"]["exitCode"] == 137
    assert first_of_its_namespace(server.pid_of(pod)) not in (None, pause, server.pid_of(pod))
    (files / "static.json").unlink()
    server.delete("shared")
    for name in ("shared", "static-n1"):
        server.wait_gone(name)
    assert node.stop() == 0
    assert server.stop() == 0


def state_of_process(pid):
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]


def test_what_happens_to_a_pod_while_its_machine_is_away(control, tmp_path):
    node = join(control, tmp_path / "n1", "--token", create_token(control))
    for name in ("kept", "deleted", "forced"):
        control.run(name, nodeName="n1")
    pods = {name: control.wait(name, is_ready) for name in ("kept", "deleted", "forced")}
    pids = {name: control.pid_of(pod) for name, pod in pods.items()}
    node.kill()
    control.delete("deleted")
    control.delete("forced", gracePeriodSeconds=0)
    assert control.pod("deleted") and not control.pod("forced")
    control.patch("/api/v1/namespaces/default/pods/kept/status", {"status": {"conditions": [{"type": "Ready", "status": "False"}]}}, "strategic-merge-patch")
    control.run("new", nodeName="n1")
    node = join(control, tmp_path / "n1")
    control.wait_gone("deleted")
    control.wait("new", is_ready)
    pod = control.wait("kept", is_ready)
    assert control.pid_of(pod) == pids["kept"] and status_of(pod)["restartCount"] == 0
    for name in ("deleted", "forced"):
        wait_for(lambda: not pathlib.Path(f"/proc/{pids[name]}").exists(), f"{name} ends")
    for name in ("kept", "new"):
        control.delete(name)
        control.wait_gone(name)
    assert control.ask("DELETE", f"{NODES}/n1").status == 200
    assert node.stop() == 0
