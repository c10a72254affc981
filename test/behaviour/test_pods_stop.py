# SPDX-License-Identifier: Apache-2.0
"""The process ends as asked, at any moment: containers go on, and the next process takes them over."""
import os
import random
import threading

from conftest import wait_for
from pods_kit import Cluster, is_ready, needs_pods, status_of, store

pytestmark = needs_pods


def test_a_stop_leaves_containers_and_the_next_process_takes_them_over(tmp_path, store):
    up = Cluster(tmp_path / "data", store)
    up.run("stays", ["sh", "-c", "i=0; while :; do echo $i; i=$((i+1)); usleep 20000; done"], shareProcessNamespace=True,
           terminationGracePeriodSeconds=1)
    up.run("probed", containers=[{"name": "a", "command": ["sleep", "100000"], "readinessProbe": {"exec": {"command": ["true"]}, "periodSeconds": 1}}])
    pod = up.wait("stays", is_ready)
    up.wait("probed", is_ready)
    pid = up.pid_of(pod)
    assert up.stop() == 0
    os.kill(pid, 0)
    up = up.again()
    pod = up.wait("stays", is_ready)
    assert up.pid_of(pod) == pid and status_of(pod)["restartCount"] == 0
    assert is_ready(up.wait("probed", is_ready))
    n = len(up.log_of(pod))
    wait_for(lambda: len(up.log_of(pod)) > n + 3, "more lines")
    lines = up.log_of(pod)
    assert lines == [str(i) for i in range(len(lines))]  # none is lost, none comes twice
    runs = up.run_dirs()
    up.clear()
    assert up.stop() == 0
    assert not [p for p in runs if p.name.startswith("dormouse-pod-") and p.exists()]


def test_stops_at_any_moment(tmp_path, store):
    rng = random.Random(int(os.environ.get("TEST_SEED", "1")))
    up = Cluster(tmp_path / "data", store)
    for round in range(int(os.environ.get("TEST_STOPS", "4"))):
        up.run(f"p{round}", terminationGracePeriodSeconds=1, containers=[
            {"name": n, "command": ["sleep", "100000"], "lifecycle": {"postStart": {"exec": {"command": ["true"]}}}} for n in "ab"])
        if round:
            up.delete(f"p{round - 1}")
        threading.Event().wait(rng.random())
        assert up.stop() == 0
        up = up.again()
    up.wait(f"p{round}", is_ready)
    for i in range(round):
        up.wait_gone(f"p{i}")
    up.clear()
    assert up.stop() == 0
