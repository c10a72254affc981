# SPDX-License-Identifier: Apache-2.0
"""Users, rights and namespaces of containers."""
import json
import os
import pathlib
import re

from conftest import wait_for
from pods_kit import cluster, is_ready, needs_pods, state_of, status_of, store

pytestmark = needs_pods

SLEEP = ["sleep", "100000"]
DEFAULT_CAPABILITIES = "00000000a80425fb"  # chown dac_override fsetid fowner mknod net_raw setgid setuid setfcap setpcap net_bind_service sys_chroot kill audit_write


def one(**members):
    return [{"name": "a", "command": SLEEP, **members}]


def process_status(cluster, name, container="a"):
    return dict(line.split(":\t", 1) for line in cluster.sh(name, "cat /proc/1/status", container).splitlines() if ":\t" in line)


def test_users_and_groups(cluster):
    mounts = [{"name": "v", "mountPath": "/v"}, {"name": "h", "mountPath": "/h"}]
    security = {"runAsUser": 1000, "runAsGroup": 3000, "fsGroup": 4000, "supplementalGroups": [5000]}
    cluster.run("users", securityContext=security, volumes=[{"name": "v", "emptyDir": {}}, {"name": "h", "configMap": {"name": "kube-root-ca.crt"}}], containers=[
        {"name": "a", "command": SLEEP, "volumeMounts": mounts}, {"name": "b", "command": SLEEP, "securityContext": {"runAsUser": 1001, "runAsGroup": 0}}])
    cluster.run("strict", securityContext={**security, "supplementalGroupsPolicy": "Strict"}, containers=one())
    cluster.run("root-no", securityContext={"runAsNonRoot": True}, containers=one())
    cluster.wait("users", is_ready)
    said = cluster.sh("users", "id -u; id -g; id -G; touch /v/f; stat -c '%g %a' /v /v/f; stat -L -c '%g %a' /h/ca.crt; test -w / || echo no").split("\n")
    assert said[:2] == ["1000", "3000"] and set(said[2].split()) == {"3000", "2000", "4000", "5000"}
    assert said[3] == "4000 2777" and said[4].startswith("4000 ") and said[5] == "4000 644" and said[6] == "no"
    assert cluster.sh("users", "id -u; id -g", "b").split() == ["1001", "0"]
    cluster.wait("strict", is_ready)
    assert set(cluster.sh("strict", "id -G").split()) == {"3000", "4000", "5000"}
    pod = cluster.wait("root-no", lambda p: state_of(p)[1].get("reason") == "CreateContainerConfigError")
    assert "runAsNonRoot" in state_of(pod)[1]["message"]


def test_rights_of_containers(cluster):
    cases = {
        "plain": {}, "more": {"capabilities": {"add": ["NET_ADMIN", "SYS_TIME"]}}, "none": {"capabilities": {"drop": ["ALL"]}, "allowPrivilegeEscalation": False},
        "seccomp": {"seccompProfile": {"type": "RuntimeDefault"}}, "ro": {"readOnlyRootFilesystem": True}, "all": {"privileged": True},
        "user": {"runAsUser": 1000}, "unmasked": {"procMount": "Default"}}
    cluster.run("rights", containers=[{"name": name, "command": SLEEP, "securityContext": security} for name, security in cases.items()])
    cluster.wait("rights", is_ready)
    status = {name: process_status(cluster, "rights", name) for name in cases}
    assert status["plain"]["CapEff"] == DEFAULT_CAPABILITIES == status["plain"]["CapBnd"] and status["plain"]["Seccomp"] == "0" and status["plain"]["NoNewPrivs"] == "0"
    assert status["more"]["CapEff"] == f"{int(DEFAULT_CAPABILITIES, 16) | 1 << 12 | 1 << 25:016x}"
    assert int(status["none"]["CapBnd"], 16) == 0 and status["none"]["NoNewPrivs"] == "1"
    assert status["seccomp"]["Seccomp"] == "2" and int(status["user"]["CapEff"], 16) == 0 and status["user"]["CapBnd"] == DEFAULT_CAPABILITIES
    assert "Read-only" in cluster.sh("rights", "touch /x 2>&1", "ro", check=False) and cluster.sh("rights", "touch /tmp/../x; ls /x", "plain") == "/x\n"
    assert status["all"]["CapEff"] in pathlib.Path("/proc/self/status").read_text()  # as much as this machine gives
    ours = {p.name for p in pathlib.Path("/dev").iterdir() if p.is_block_device()}
    assert ours <= set(cluster.sh("rights", "ls /dev", "all").split()) and not ours & set(cluster.sh("rights", "ls /dev", "plain").split())
    options = {name: cluster.sh("rights", "grep ' /sys sysfs' /proc/mounts", name).split()[3].split(",") for name in ("all", "plain")}
    assert "rw" in options["all"] and "ro" in options["plain"]


def test_a_profile_of_the_machine(cluster):
    profiles = cluster.data_dir / "seccomp"
    profiles.mkdir(exist_ok=True)
    (profiles / "no-mkdir.json").write_text(json.dumps({"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [
        {"names": ["mkdir", "mkdirat"], "action": "SCMP_ACT_ERRNO", "errnoRet": 38}]}))
    for name in ("no-mkdir", "missing"):
        cluster.run(name, containers=one(securityContext={"seccompProfile": {"type": "Localhost", "localhostProfile": name + ".json"}}))
    cluster.wait("no-mkdir", is_ready)
    assert "not implemented" in cluster.sh("no-mkdir", "mkdir /tmp/x 2>&1", check=False)
    pod = cluster.wait("missing", lambda p: state_of(p)[1].get("reason") == "CreateContainerConfigError")
    assert "missing.json" in state_of(pod)[1]["message"]


def test_runtimes_and_profiles_that_a_node_does_not_have(cluster):
    for name, handler in (("native", "crun"), ("boxed", "kata")):
        cluster.create("/apis/node.k8s.io/v1/runtimeclasses", {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": name}, "handler": handler})
        cluster.run(name, runtimeClassName=name)
    cluster.wait("native", is_ready)
    cluster.wait_reason("boxed", "FailedCreatePodSandBox")
    cluster.wait("boxed", lambda p: state_of(p)[1].get("reason") == "ContainerCreating")
    cluster.delete("boxed")
    cluster.wait_gone("boxed")
    cluster.run("armor", securityContext={"appArmorProfile": {"type": "Localhost", "localhostProfile": "strict"}})
    pod = cluster.wait_phase("armor", "Failed")
    assert pod["status"]["reason"] == "AppArmor" and "Cannot enforce AppArmor" in pod["status"]["message"]


def test_kernel_parameters(cluster):
    cluster.run("sysctls", securityContext={"sysctls": [{"name": "kernel.shm_rmid_forced", "value": "1"}, {"name": "net.ipv4.ip_local_port_range", "value": "2000 3000"}]},
                containers=[{"name": "a", "command": SLEEP}, {"name": "b", "command": SLEEP}])
    cluster.wait("sysctls", is_ready)
    for container in ("a", "b"):
        assert cluster.sh("sysctls", "cat /proc/sys/kernel/shm_rmid_forced /proc/sys/net/ipv4/ip_local_port_range", container).split() == ["1", "2000", "3000"]


def links(cluster, name, container="a", what=("net", "pid", "ipc", "uts", "mnt")):
    """The namespaces of the container's program."""
    pid = cluster.pid_of(cluster.pod(name), container)
    return {kind: os.readlink(f"/proc/{pid}/ns/{kind}") for kind in what}


def test_namespaces_of_the_machine(cluster):
    cluster.run("own", containers=one())
    cluster.run("machine", hostNetwork=True, hostPID=True, hostIPC=True, containers=one())
    own, machine = cluster.wait("own", is_ready), cluster.wait("machine", is_ready)
    ours = {kind: os.readlink(f"/proc/self/ns/{kind}") for kind in ("net", "pid", "ipc", "uts", "mnt")}
    assert not set(links(cluster, "own").values()) & set(ours.values())
    assert {k: v for k, v in links(cluster, "machine").items() if ours[k] == v}.keys() == {"net", "pid", "ipc", "uts"}
    assert machine["status"]["podIP"] == machine["status"]["hostIP"] != own["status"]["podIP"]
    assert cluster.sh("machine", "hostname").strip() == os.uname().nodename and cluster.sh("own", "hostname").strip() == "own"


def test_containers_of_a_pod_share_network_and_ipc(cluster):
    cluster.run("shared", containers=[{"name": "a", "command": SLEEP}, {"name": "b", "command": SLEEP}])
    cluster.wait("shared", is_ready)
    a, b = links(cluster, "shared"), links(cluster, "shared", "b")
    assert {k for k in a if a[k] == b[k]} == {"net", "ipc"}
    cluster.sh("shared", "echo x > /dev/shm/f")
    assert cluster.sh("shared", "cat /dev/shm/f", "b") == "x\n"


def first_process(namespace):
    """As this machine numbers it."""
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(path / "exe").endswith("/pause") and os.readlink(path / "ns/pid") == namespace:
                return int(path.name)
        except OSError:
            pass  # it has ended
    return None


def test_containers_of_a_pod_share_processes(cluster):
    cluster.run("together", shareProcessNamespace=True, terminationGracePeriodSeconds=1, initContainers=[{"name": "i", "command": ["true"]}],
                containers=[{"name": "a", "command": ["sleep", "54321"]}, {"name": "b", "command": ["sleep", "54322"]}])
    pod = cluster.wait("together", is_ready)
    assert re.search(r"\b1 .*pause", cluster.sh("together", "ps")) and "sleep 54321" in cluster.sh("together", "ps", "b")
    a, b = links(cluster, "together"), links(cluster, "together", "b")
    assert {k for k in a if a[k] == b[k]} == {"net", "ipc", "pid"}
    cluster.sh("together", "sh -c 'sleep 0.01 &'")  # left to the first process, which waits for it
    wait_for(lambda: "[sleep]" not in cluster.sh("together", "ps"), "no zombie stays")
    first = first_process(a["pid"])
    pss = next(int(line.split()[1]) for line in pathlib.Path(f"/proc/{first}/smaps_rollup").read_text().splitlines() if line.startswith("Pss:"))
    assert pss < 200
    os.kill(cluster.pid_of(pod), 9)
    pod = cluster.wait("together", lambda p: status_of(p)["restartCount"] == 1 and is_ready(p))
    assert status_of(pod, "b")["restartCount"] == 0 and links(cluster, "together")["pid"] == b["pid"]
    os.kill(first, 9)  # all processes of the pod end with it
    pod = cluster.wait("together", lambda p: status_of(p, "b")["restartCount"] == 1 and is_ready(p))
    a, b = links(cluster, "together"), links(cluster, "together", "b")
    assert a["pid"] == b["pid"] and "sleep 54321" in cluster.sh("together", "ps", "b")
    cluster.delete("together")
    cluster.wait_gone("together")
