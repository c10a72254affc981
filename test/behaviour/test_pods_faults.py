# SPDX-License-Identifier: Apache-2.0
"""What goes wrong around pods: processes that are killed at any moment, disks that are full, an API that is away."""
import calendar
import os
import pathlib
import re
import random
import shutil
import signal
import struct
import subprocess
import threading
import time

import pytest

from conftest import BUILD, wait_for
from pods_kit import IMAGE, PODS, Cluster, cluster, is_ready, needs_pods, state_of, status_of, store

pytestmark = needs_pods

SLEEP = ["sleep", "100000"]


def rest_of(up, uids):
    """What is left of these pods on the machine."""
    found = []
    groups = [d for top in pathlib.Path("/sys/fs/cgroup").glob("*/dormouse-pod") for d, _, _ in os.walk(top)]  # of v1; groups vanish meanwhile
    for uid in uids:
        found += [line.split()[1] for line in pathlib.Path("/proc/mounts").read_text().splitlines() if uid in line]
        found += [d for d in groups if uid in d]
        found += [str(p) for p in (up.data_dir / "agent").glob(f"*/{uid}")] + [str(p) for p in up.log_dir.glob(f"*_{uid}")]
    return found


def programs(mark):
    """Processes of containers that run a program with this argument, but for those of the runtime."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (path / "cmdline").read_bytes().split(b"\0")
            if mark.encode() in words and b"sleep" in words[0]:
                found.append(int(path.name))
        except OSError:
            pass
    return found


@pytest.mark.parametrize("seed", [int(os.environ.get("TEST_SEED", random.randrange(1 << 30)))])
def test_kills_at_any_moment(tmp_path, store, seed):
    """Pods are made and deleted while the process is killed again and again; then all is as it should be."""
    rng = random.Random(seed)
    up = Cluster(tmp_path / "data", store)
    uids, alive = {}, {}
    for round in range(int(os.environ.get("TEST_KILLS", "5"))):
        for i in range(3):
            name, mark = f"p{round}-{i}", f"7{os.getpid()}{round}{i}"
            pod = up.run(name, ["sleep", mark], terminationGracePeriodSeconds=rng.choice([0, 1]), volumes=[{"name": "v", "emptyDir": {"medium": "Memory"}}],
                         containers=[{"name": "a", "command": ["sleep", mark], "volumeMounts": [{"name": "v", "mountPath": "/v"}]},
                                     {"name": "b", "command": ["sleep", mark]}], shareProcessNamespace=rng.random() < 0.3)
            uids[name], alive[name] = pod["metadata"]["uid"], mark
        for name in rng.sample(sorted(alive), len(alive) // 3):
            up.delete(name)
            del alive[name]
        threading.Event().wait(rng.random() * 1.2)  # the moment is what is tested
        up.kill()
        up = up.again()
    for name, mark in alive.items():
        up.wait(name, is_ready)
        wait_for(lambda: len(programs(mark)) == 2, f"{name}: {programs(mark)} (seed {seed})")
    gone = set(uids) - set(alive)
    for name in gone:
        up.wait_gone(name)
    wait_for(lambda: not rest_of(up, [uids[name] for name in gone]), f"{rest_of(up, [uids[name] for name in gone])} (seed {seed})")
    ours = {str(p) for p in pathlib.Path("/run").glob("dormouse-agent-*/network/netns/*") if p.name in uids.values()}
    assert len(ours) == len(alive), ours
    up.clear()
    wait_for(lambda: not rest_of(up, uids.values()), "nothing is left")
    assert up.stop() == 0


def test_the_runtime_is_killed(cluster):
    cluster.run("first")
    cluster.wait("first", is_ready)
    run, stop, killed = str(cluster.run_dir()).encode(), threading.Event(), []
    assert run != b"none"

    def kill_all():
        while not stop.is_set():
            for path in pathlib.Path("/proc").glob("[0-9]*"):
                try:
                    words = (path / "cmdline").read_bytes().split(b"\0")
                    if run + b"/crun" in words and b"run" in words:
                        os.kill(int(path.name), signal.SIGKILL)
                        killed.append(path.name)
                except OSError:
                    pass
    thread = threading.Thread(target=kill_all)
    thread.start()
    try:
        cluster.run("crunless")
        wait_for(lambda: killed, "crun is killed")
    finally:
        stop.set()
        thread.join()
    cluster.wait("crunless", is_ready)


def test_a_full_disk(tmp_path, store):
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", disk], check=True)
    up = None
    try:
        up = Cluster(disk / "data", store)
        up.run("before")
        up.wait("before", is_ready)
        fd = os.open(disk / "fill", os.O_WRONLY | os.O_CREAT)
        try:
            while os.write(fd, bytes(1 << 16)):
                pass
        except OSError:
            os.close(fd)
        answer = up.ask("POST", PODS, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "full"}, "spec": {"containers": [{"name": "a", "image": IMAGE}]}})
        assert is_ready(up.pod("before")) and up.process.poll() is None
        (disk / "fill").unlink()
        if answer.status != 201:
            up.run("full")
        else:
            assert up.process.poll() is None
        wait_for(lambda: (up.pod("full") or {}).get("status", {}).get("phase"), "the pod is there")
        up.clear()
        assert up.stop() == 0
    finally:
        if up and up.process.poll() is None:
            up.kill()
        subprocess.run(["umount", "-l", disk], check=True)


def test_containers_that_ignore_signals_and_leave_zombies(cluster):
    cluster.run("deaf", ["sh", "-c", "trap '' TERM INT HUP; for i in 1 2 3 4 5; do sh -c 'sleep 0.01 & exec sleep 100000' & done; while :; do sleep 0.1; done"],
                terminationGracePeriodSeconds=1)
    cluster.run("beside")
    pod = cluster.wait("deaf", is_ready)
    cluster.wait("beside", is_ready)
    cluster.delete("deaf")
    cluster.wait_gone("deaf")
    wait_for(lambda: not rest_of(cluster, [pod["metadata"]["uid"]]), "nothing is left")
    assert is_ready(cluster.pod("beside"))


def test_a_start_of_the_machine(tmp_path, store):
    """Nothing in /run, no process, no mount: pods begin anew, init containers too, and files of the pod are gone."""
    up = Cluster(tmp_path / "data", store)
    up.run("again", initContainers=[{"name": "i", "command": ["sh", "-c", "echo init"]}])
    up.run("once", SLEEP, restartPolicy="Never")
    pod, once = up.wait("again", is_ready), up.wait("once", is_ready)
    pids = [up.pid_of(pod), up.pid_of(once)]
    keepers = [int(re.search(r"PPid:\t(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text())[1]) for pid in pids]
    up.kill()
    for pid in pids + keepers:
        os.kill(pid, signal.SIGKILL)
    for line in pathlib.Path("/proc/mounts").read_text().splitlines():
        if str(tmp_path) in line or any(m["metadata"]["uid"] in line for m in (pod, once)):
            subprocess.run(["umount", "-l", line.split()[1]], check=False)
    for directory in up.run_dirs():
        subprocess.run(f"umount -l {directory}/network/netns/* 2>/dev/null", shell=True)
        shutil.rmtree(directory, ignore_errors=True)
    up = up.again()
    pod = up.wait("again", lambda p: is_ready(p) and status_of(p)["restartCount"] == 1)
    assert status_of(pod, "i")["restartCount"] == 1 and state_of(pod, "i")[1]["exitCode"] == 0
    once = up.wait_phase("once", "Failed")
    assert state_of(once)[0] == "terminated"
    up.clear()
    assert up.stop() == 0


def test_another_writer_of_the_status_is_corrected(cluster):
    cluster.run("written")
    cluster.wait("written", is_ready)
    cluster.patch(f"{PODS}/written/status", {"status": {"conditions": [{"type": "Ready", "status": "False"}]}}, "strategic-merge-patch")
    cluster.wait("written", is_ready)


def test_an_object_that_is_removed_by_force(cluster):
    cluster.run("forced", ["sh", "-c", "trap '' TERM; while :; do sleep 0.1; done"], terminationGracePeriodSeconds=300)
    pod = cluster.wait("forced", is_ready)
    pid = cluster.pid_of(pod)
    cluster.delete("forced", gracePeriodSeconds=0)
    assert cluster.pod("forced") is None
    cluster.run("forced")  # the same name, at once
    new = cluster.wait("forced", is_ready)
    assert new["metadata"]["uid"] != pod["metadata"]["uid"]
    wait_for(lambda: not pathlib.Path(f"/proc/{pid}").exists(), "the old one ends")
    wait_for(lambda: not rest_of(cluster, [pod["metadata"]["uid"]]), "nothing is left")


def test_what_is_left_of_a_pod_that_has_ended_goes(tmp_path, store):
    """As if the process had been killed between its report and the end of its work."""
    up = Cluster(tmp_path / "data", store)
    up.run("ended", ["sh", "-c", "while test ! -e /tmp/go; do sleep 0.05; done"], restartPolicy="Never")
    pod = up.wait("ended", is_ready)
    groups = []
    for line in pathlib.Path(f"/proc/{up.pid_of(pod)}/cgroup").read_text().splitlines():
        _, names, path = line.split(":", 2)
        group = pathlib.Path("/sys/fs/cgroup" + (f"/{names}" if names else "") + path)
        groups += [g for g in group.parents if g.name.endswith(pod["metadata"]["uid"]) and g.exists()]
    (up.root_of(pod) / "tmp/go").touch()
    up.wait_phase("ended", "Succeeded")
    rest = up.data_dir / "agent/pods" / pod["metadata"]["uid"]
    wait_for(lambda: not rest.exists() and not any(g.exists() for g in groups), "nothing is left")
    up.kill()
    (rest / "volumes").mkdir(parents=True)
    (rest / "volumes/secret").write_text("x")
    for group in groups:
        group.mkdir()
    up = up.again()
    wait_for(lambda: not rest.exists() and not any(g.exists() for g in groups), "nothing is left again")
    assert up.pod("ended")["status"]["phase"] == "Succeeded" and groups
    up.clear()
    assert up.stop() == 0


def test_a_pod_that_was_taken_over_in_part_is_completed(tmp_path, store):
    up = Cluster(tmp_path / "data", store)
    up.run("part", volumes=[{"name": "v", "emptyDir": {}}],
           containers=[{"name": "a", "command": ["sh", "-c", "echo x >> /v/f; wc -l < /v/f; exec sleep 100000"], "volumeMounts": [{"name": "v", "mountPath": "/v"}]}])
    pod = up.wait("part", is_ready)
    logs = up.log_dir / f"default_part_{pod['metadata']['uid']}"
    up.kill()
    shutil.rmtree(logs)
    logs.write_text("in the way")
    up = up.again()
    os.kill(up.pid_of(pod), signal.SIGKILL)
    up.wait("part", lambda p: state_of(p)[1].get("reason") == "CreateContainerConfigError")
    logs.unlink()
    pod = up.wait("part", lambda p: is_ready(p) and status_of(p)["restartCount"] == 1)
    wait_for(lambda: up.log_of(pod, restart=1) == ["2"], "the volume is the same")
    up.clear()
    assert up.stop() == 0


def test_a_disk_that_runs_full_ends_the_pod_that_fills_it(tmp_path, store):
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=96m", "tmpfs", disk], check=True)
    up = None
    try:
        up = Cluster(disk / "data", store)
        mounts = {"volumes": [{"name": "v", "emptyDir": {}}]}
        where = [{"name": "v", "mountPath": "/v"}]
        up.run("modest", **mounts, containers=[{"name": "a", "command": ["sh", "-c", "echo x > /v/x; exec sleep 100000"], "volumeMounts": where}])
        up.wait("modest", is_ready)
        up.run("greedy", **mounts, containers=[{"name": "a", "volumeMounts": where, "command": [
            "sh", "-c", "dd if=/dev/zero of=/v/x bs=1048576 count=88 2>/dev/null; exec sleep 100000"]}])
        pod = up.wait_phase("greedy", "Failed")
        assert pod["status"]["reason"] == "Evicted" and "The node was low on resource: ephemeral-storage" in pod["status"]["message"]
        conditions = lambda: {c["type"]: c["status"] for c in up.get("/api/v1/nodes").json()["items"][0]["status"]["conditions"]}  # noqa: E731
        wait_for(lambda: conditions()["DiskPressure"] == "True", "the node says so")
        assert is_ready(up.pod("modest"))
        up.clear()
        assert up.stop() == 0
    finally:
        if up and up.process.poll() is None:
            up.kill()
        subprocess.run(["umount", "-l", disk], check=True)


def test_everything_is_killed_but_the_machine(tmp_path, store):
    """Each pod goes on as its policy says, and no program runs twice."""
    up = Cluster(tmp_path / "data", store)
    marks = {policy: f"8{os.getpid()}{i}" for i, policy in enumerate(("Always", "OnFailure", "Never"))}
    for policy, mark in marks.items():
        up.run(policy.lower(), ["sleep", mark], restartPolicy=policy)
    pods = {policy: up.wait(policy.lower(), is_ready) for policy in marks}
    pids = [up.pid_of(pod) for pod in pods.values()]
    keepers = [int(p.name) for p in pathlib.Path("/proc").glob("[0-9]*") if str(up.run_dir()).encode() in words_of(p)]
    assert len(keepers) >= len(pids)
    for pid in [up.process.pid, *keepers, *pids]:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    up.process.wait()
    up = up.again()
    for policy in ("Always", "OnFailure"):
        up.wait(policy.lower(), lambda p: is_ready(p) and status_of(p)["restartCount"] == 1)
        assert len(programs(marks[policy])) == 1, policy
    never = up.wait_phase("never", "Failed")
    assert status_of(never)["restartCount"] == 0 and state_of(never)[1]["exitCode"] != 0 and not programs(marks["Never"])
    uids = [pod["metadata"]["uid"] for pod in pods.values()]
    up.clear()
    wait_for(lambda: not rest_of(up, uids), "nothing is left")
    assert up.stop() == 0


def words_of(path):
    try:
        return (path / "cmdline").read_bytes()
    except OSError:
        return b""


def test_jumps_of_the_clock(tmp_path, store, monkeypatch):
    """A day forward, a minute before the beginning: containers, probes, deadlines, back-offs and the node live on."""
    jump = tmp_path / "jump"
    jump.write_bytes(bytes(8))
    with monkeypatch.context() as m:
        m.setenv("LD_PRELOAD", str(BUILD / "test/shifted_clock.so"))
        m.setenv("SHIFTED_CLOCK_FILE", str(jump))
        up = Cluster(tmp_path / "data", store)
    probe = {"exec": {"command": ["true"]}, "periodSeconds": 1}
    up.run("probed", activeDeadlineSeconds=3600, containers=[
        {"name": "a", "livenessProbe": probe, "readinessProbe": probe, "command": ["sh", "-c", "while :; do echo line; sleep 0.1; done"]}])
    up.run("crashes", ["sh", "-c", "sleep 0.2; exit 1"])
    pod = up.wait("probed", is_ready)
    pid = up.pid_of(pod)
    up.wait("crashes", lambda p: status_of(p)["restartCount"] >= 1)
    for i, seconds in enumerate((86400, -60)):
        with open(jump, "r+b") as f:
            f.write(struct.pack("q", seconds))
        n = len(up.log_of(pod))
        wait_for(lambda: len(up.log_of(pod)) > n + 15, "it goes on, beyond two of its probes")
        up.run(f"new{i}", ["sh", "-c", "echo out; exec sleep 100000"], containers=None)
        new = up.wait(f"new{i}", is_ready)
        assert up.log_of(new) == ["out"]
        start = calendar.timegm(time.strptime(new["status"]["startTime"], "%Y-%m-%dT%H:%M:%SZ"))
        assert abs(start - time.time() - seconds) < 50, "the clock has not jumped"
        now = up.wait("probed", is_ready)
        assert up.pid_of(now) == pid and status_of(now)["restartCount"] == 0 and now["status"]["phase"] == "Running"
        assert status_of(up.pod("crashes"))["restartCount"] < 5  # its back-off counts by another clock
        conditions = {c["type"]: c["status"] for c in up.get("/api/v1/nodes").json()["items"][0]["status"]["conditions"]}
        assert conditions["Ready"] == "True"
        up.delete(f"new{i}")
        up.wait_gone(f"new{i}")
    up.clear()
    assert up.stop() == 0


def end_all(up):
    """As after a crash of all processes of a machine that goes on: the containers have ended, and no process has noticed."""
    up.kill()
    ident = up.run_dir().name.rsplit("-", 1)[1]
    groups = [*pathlib.Path("/sys/fs/cgroup").glob(f"**/keepers-{ident}"), *pathlib.Path("/sys/fs/cgroup").glob(f"**/dormouse-pod/{ident}-*")]
    files = [f for g in groups for f in g.glob("**/cgroup.procs")]
    assert files

    def end():
        pids = {int(line) for f in files for line in f.read_text().split()}
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        return not pids
    wait_for(end, "all processes have ended")


def remove_data(directory):
    """As a person does who has ended with it."""
    for line in reversed(pathlib.Path("/proc/mounts").read_text().splitlines()):
        if line.split()[1].startswith(str(directory)):
            subprocess.run(["umount", "--lazy", line.split()[1]], check=True)
    shutil.rmtree(directory)


def test_what_is_left_of_data_directories_that_are_gone(tmp_path, store):
    """A start removes it, except where containers run."""
    gone, kept = Cluster(tmp_path / "gone", store), Cluster(tmp_path / "kept", store)
    gone.run("p", hostUsers=False, containers=[{"name": "a", "command": SLEEP, "ports": [{"containerPort": 80, "hostPort": 28431}]}])
    kept.run("p", SLEEP)
    gone.wait_ready("p")
    pid = kept.pid_of(kept.wait_ready("p"))
    of_gone, of_kept = gone.run_dirs(), kept.run_dirs()
    assert {p.name.split("-")[1] for p in of_gone} == {"agent", "pod", "roots"} and len(of_kept) == 2
    end_all(gone)
    remove_data(gone.data_dir)
    assert kept.stop() == 0
    os.rename(kept.data_dir, tmp_path / "elsewhere")
    up = Cluster(tmp_path / "up", store, "--log-level", "debug")
    wait_for(lambda: "data directories were looked at" in up.text_of_log(), "all were looked at")
    assert not [p for p in of_gone if p.exists()], up.text_of_log()
    assert all(p.exists() for p in of_kept), up.text_of_log()
    assert "28431" not in subprocess.run(["nft", "list", "ruleset"], capture_output=True, text=True).stdout
    os.rename(tmp_path / "elsewhere", kept.data_dir)
    kept = kept.again()
    assert kept.pid_of(kept.wait_ready("p")) == pid
    up.run("p", containers=[{"name": "a", "command": SLEEP, "ports": [{"containerPort": 80, "hostPort": 28431}]}])
    up.wait_ready("p")
    for c in (kept, up):
        c.clear()
        assert c.stop() == 0
