# SPDX-License-Identifier: Apache-2.0
"""Less common parts of the life of pods: init containers and sidecars that fail, rules of restarts, gates, names, host ports."""
import socket
import urllib.request

from conftest import wait_for
from pods_kit import PODS, cluster, condition_of, is_ready, needs_pods, state_of, status_of, store

pytestmark = needs_pods

SLEEP = ["sleep", "100000"]


def sh(text):
    return ["sh", "-c", text]


def test_init_containers_that_fail(cluster):
    cluster.run("init-loop", initContainers=[{"name": "i", "command": ["false"]}])
    cluster.run("init-never", initContainers=[{"name": "i", "command": sh("exit 5")}], restartPolicy="Never")
    pod = cluster.wait("init-loop", lambda p: state_of(p, "i")[1].get("reason") == "CrashLoopBackOff")
    assert pod["status"]["phase"] == "Pending" and state_of(pod)[1]["reason"] == "PodInitializing" and condition_of(pod, "Initialized") == "False"
    pod = cluster.wait_phase("init-never", "Failed")
    assert state_of(pod, "i")[1]["exitCode"] == 5 and state_of(pod)[0] == "waiting"


def test_sidecars_that_end_are_started_again(cluster):
    side = {"name": "side", "restartPolicy": "Always", "command": sh("test -e /v/go && exec sleep 100000; touch /v/go; exit 1"), "volumeMounts": [{"name": "v", "mountPath": "/v"}]}
    volumes = [{"name": "v", "emptyDir": {}}]
    cluster.run("side-ends", initContainers=[side], volumes=volumes)
    pod = cluster.wait("side-ends", lambda p: status_of(p, "side").get("restartCount") == 1 and is_ready(p))
    assert status_of(pod)["restartCount"] == 0 and state_of(pod, "side")[0] == "running"
    # A job with a sidecar ends with its main container, whatever the sidecar does.
    cluster.run("job-fails", sh("exit 3"), restartPolicy="Never", initContainers=[dict(side, command=sh("trap 'exit 0' TERM; while :; do sleep 0.05; done"))], volumes=volumes)
    pod = cluster.wait_phase("job-fails", "Failed")
    assert state_of(pod)[1]["exitCode"] == 3 and state_of(pod, "side")[1]["exitCode"] == 0
    # One that has not started holds the rest back.
    cluster.run("side-holds", initContainers=[dict(side, startupProbe={"exec": {"command": ["test", "-e", "/tmp/up"]}, "periodSeconds": 1, "failureThreshold": 1000},
                                                   command=SLEEP)], volumes=volumes)
    pod = cluster.wait("side-holds", lambda p: state_of(p, "side")[0] == "running")
    assert state_of(pod)[1]["reason"] == "PodInitializing"
    (cluster.root_of(pod, "side") / "tmp/up").touch()
    cluster.wait("side-holds", is_ready)


def test_rules_of_restarts(cluster):
    again = "test -e /v/{0} && exec sleep 100000; touch /v/{0}; exit {1}"
    mounts = [{"name": "v", "mountPath": "/v"}]
    rule = [{"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}}]
    answer = cluster.ask("POST", PODS, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "rules"}, "spec": {
        "restartPolicy": "Never", "terminationGracePeriodSeconds": 0, "volumes": [{"name": "v", "emptyDir": {}}], "containers": [
            {"name": "a", "image": "busybox:test", "imagePullPolicy": "IfNotPresent", "command": sh(again.format("a", 42)), "volumeMounts": mounts, "restartPolicy": "Never",
             "restartPolicyRules": rule},
            {"name": "b", "image": "busybox:test", "imagePullPolicy": "IfNotPresent", "command": sh("exit 7"), "restartPolicy": "Never", "restartPolicyRules": rule},
            {"name": "c", "image": "busybox:test", "imagePullPolicy": "IfNotPresent", "command": sh(again.format("c", 1)), "volumeMounts": mounts, "restartPolicy": "OnFailure"}]}})
    assert answer.status == 201, answer.body
    pod = cluster.wait("rules", lambda p: status_of(p).get("restartCount") == 1 and status_of(p, "c").get("restartCount") == 1 and state_of(p, "b")[0] == "terminated"
                       and state_of(p)[0] == state_of(p, "c")[0] == "running")
    assert status_of(pod, "b")["restartCount"] == 0 and pod["status"]["phase"] == "Running"


def test_readiness_gates(cluster):
    cluster.run("gated", readinessGates=[{"conditionType": "example.com/ok"}])
    pod = cluster.wait("gated", lambda p: condition_of(p, "ContainersReady") == "True")
    assert not is_ready(pod)
    cluster.patch(f"{PODS}/gated/status", {"status": {"conditions": [{"type": "example.com/ok", "status": "True"}]}}, "strategic-merge-patch")
    pod = cluster.wait("gated", is_ready)
    assert condition_of(pod, "example.com/ok") == "True"
    cluster.patch(f"{PODS}/gated/status", {"status": {"conditions": [{"type": "example.com/ok", "status": "False"}]}}, "strategic-merge-patch")
    cluster.wait("gated", lambda p: not is_ready(p))


def test_names_and_resolvers(cluster):
    cluster.run("names", hostname="h", subdomain="s", setHostnameAsFQDN=True, hostAliases=[{"ip": "192.0.2.7", "hostnames": ["alias", "other"]}],
                dnsPolicy="None", dnsConfig={"nameservers": ["192.0.2.1"], "searches": ["a.test", "b.test"], "options": [{"name": "ndots", "value": "2"}]})
    pod = cluster.wait("names", is_ready)
    assert cluster.sh("names", "hostname").strip() == "h.s.default.svc.cluster.local"
    hosts = cluster.sh("names", "cat /etc/hosts")
    assert "192.0.2.7\talias\tother" in hosts and f"{pod['status']['podIP']}\th.s.default.svc.cluster.local\th" in hosts
    assert sorted(cluster.sh("names", "cat /etc/resolv.conf").splitlines()) == ["nameserver 192.0.2.1", "options ndots:2", "search a.test b.test"]


def test_host_ports_and_pods_reach_each_other(cluster):
    with socket.create_server(("", 0)) as s:
        port = s.getsockname()[1]
    serve = sh("mkdir /tmp/w; echo hello > /tmp/w/index.html; exec httpd -f -p 80 -h /tmp/w")
    cluster.run("web", containers=[{"name": "a", "command": serve, "ports": [{"containerPort": 80, "hostPort": port}]}])
    cluster.run("client")
    pod = cluster.wait("web", is_ready)
    cluster.wait("client", is_ready)
    wait_for(lambda: "hello" in cluster.sh("client", f"wget -q -O - http://{pod['status']['podIP']}/", check=False), "one pod reaches the other")
    assert urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=10).read() == b"hello\n"
    assert urllib.request.urlopen(f"http://{pod['status']['podIP']}/", timeout=10).read() == b"hello\n"


def test_deletion_while_it_waits(cluster):
    cluster.run("no-image", containers=[{"name": "a", "image": "no-such:1", "imagePullPolicy": "Never"}])
    cluster.run("no-config", containers=[{"name": "a", "command": SLEEP, "envFrom": [{"configMapRef": {"name": "absent"}}]}])
    cluster.run("no-volume", volumes=[{"name": "v", "secret": {"secretName": "absent"}}], containers=[{"name": "a", "volumeMounts": [{"name": "v", "mountPath": "/v"}]}])
    cluster.run("crashes", ["false"])
    cluster.wait("no-image", lambda p: state_of(p)[1].get("reason") == "ErrImageNeverPull")
    cluster.wait("no-config", lambda p: state_of(p)[1].get("reason") == "CreateContainerConfigError")
    cluster.wait_reason("no-volume", "FailedMount")
    cluster.wait("crashes", lambda p: state_of(p)[1].get("reason") == "CrashLoopBackOff")
    for name in ("no-image", "no-config", "no-volume", "crashes"):
        cluster.delete(name)
    for name in ("no-image", "no-config", "no-volume", "crashes"):
        cluster.wait_gone(name)


def test_hooks_are_left_out_without_grace(cluster):
    cluster.run("no-grace", containers=[{"name": "a", "command": SLEEP, "lifecycle": {"preStop": {"exec": {"command": SLEEP}}}}], terminationGracePeriodSeconds=600)
    cluster.wait("no-grace", is_ready)
    cluster.delete("no-grace", gracePeriodSeconds=1)
    cluster.wait_gone("no-grace")


def test_many_pods_at_once(cluster):
    n = 30
    for i in range(n):
        cluster.run(f"many-{i}", terminationGracePeriodSeconds=0)
    wait_for(lambda: sum(is_ready(p) for p in cluster.get(PODS).json()["items"] if p["metadata"]["name"].startswith("many-")) == n, "all are ready")
    ips = {p["status"]["podIP"] for p in cluster.get(PODS).json()["items"] if p["metadata"]["name"].startswith("many-")}
    assert len(ips) == n
    for i in range(n):
        cluster.delete(f"many-{i}")
    wait_for(lambda: not [p for p in cluster.get(PODS).json()["items"] if p["metadata"]["name"].startswith("many-")], "all are gone")
