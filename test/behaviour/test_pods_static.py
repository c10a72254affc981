# SPDX-License-Identifier: Apache-2.0
"""Static pods: files of a directory, which run without the API, and their mirrors in it."""
import json

import pytest

from conftest import wait_for
from pods_kit import IMAGE, Cluster, is_ready, needs_pods, status_of, store

pytestmark = needs_pods


def manifest(name, command=("sleep", "100000"), directory=None, grace_s=1):
    container = {"name": "a", "image": IMAGE, "imagePullPolicy": "IfNotPresent", "command": list(command)}
    spec = {"terminationGracePeriodSeconds": grace_s, "containers": [container]}
    if directory:
        container["volumeMounts"] = [{"name": "d", "mountPath": "/d"}]
        spec["volumes"] = [{"name": "d", "hostPath": {"path": str(directory)}}]
    return json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec})


@pytest.fixture
def machine(tmp_path, store):
    """The directory of manifests, and the cluster."""
    files = tmp_path / "manifests"
    files.mkdir()
    up = Cluster(tmp_path / "data", store, "--pod-manifest-dir", str(files), "--node-name", "n1")
    yield files, up
    for path in files.iterdir():
        path.unlink()
    up.wait_gone("web-n1")
    assert up.stop() == 0


def test_a_mirror_that_is_deleted_comes_back_and_containers_go_on(machine):
    files, up = machine
    (files / "web.json").write_text(manifest("web"))
    pod = up.wait("web-n1", is_ready)
    pid = up.pid_of(pod)
    for force in ([], [], ["--grace-period=0", "--force"]):
        uid = up.pod("web-n1")["metadata"]["uid"]
        up.kubectl("delete", "pod", "web-n1", *force, timeout=30)  # waits until the name is free
        pod = up.wait("web-n1", lambda p: is_ready(p) and p["metadata"]["uid"] != uid)
        assert "deletionTimestamp" not in pod["metadata"]
        assert up.pid_of(pod) == pid and status_of(pod)["restartCount"] == 0


def test_a_file_that_changes_or_goes_ends_the_pod(machine):
    files, up = machine
    (files / "web.json").write_text(manifest("web"))
    first = up.wait("web-n1", is_ready)
    (files / "web.json").write_text(manifest("web", ["sleep", "200000"]))
    second = up.wait("web-n1", lambda p: is_ready(p) and p["spec"]["containers"][0]["command"][1] == "200000")
    assert first["metadata"]["uid"] != second["metadata"]["uid"]
    (files / "web.json").unlink()
    up.wait_gone("web-n1")
    wait_for(lambda: not list((up.data_dir / "agent/pods").iterdir()), "nothing of it is left")


def test_a_file_that_changes_runs_one_pod_at_a_time_and_gives_the_old_one_its_grace(machine, tmp_path):
    files, up = machine
    said = tmp_path / "said"
    said.mkdir()

    def instance(n):
        text = f"trap 'sleep 3; echo end {n} >> /d/log; exit 0' TERM; echo begin {n} >> /d/log; while :; do sleep 0.1; done"
        return manifest("web", ["sh", "-c", text], directory=said, grace_s=60)

    (files / "web.json").write_text(instance(1))
    first = up.wait("web-n1", is_ready)
    (files / "web.json").write_text(instance(2))
    up.wait("web-n1", lambda p: is_ready(p) and p["metadata"]["uid"] != first["metadata"]["uid"])
    assert (said / "log").read_text() == "begin 1\nend 1\nbegin 2\n"


def test_a_node_without_a_directory_removes_mirrors_that_are_left(tmp_path, store):
    files = tmp_path / "manifests"
    files.mkdir()
    (files / "web.json").write_text(manifest("web"))
    up = Cluster(tmp_path / "data", store, "--pod-manifest-dir", str(files), "--node-name", "n1")
    up.wait("web-n1", is_ready)
    assert up.stop() == 0
    up = Cluster(tmp_path / "data", store, "--node-name", "n1")
    up.wait_gone("web-n1")
    wait_for(lambda: not list((up.data_dir / "agent/pods").iterdir()), "nothing of it is left")
    assert up.stop() == 0
