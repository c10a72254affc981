# SPDX-License-Identifier: Apache-2.0
"""`dormouse up` gives pods their nodes: what kubectl shows of it, in upstream's words."""
import json
import os

import pytest

from conftest import Server, wait_for

NODES, PODS = "/api/v1/nodes", "/api/v1/namespaces/default/pods"
EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events"


class Up(Server):
    COMMAND = "up"

    def __init__(self, data_dir, *extra, **more):
        super().__init__(data_dir, extra=("--gateway", "none", *extra), **more)

    def node(self, name, cpu="4", labels=None, **spec):
        self.create(NODES, {"metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **(labels or {})}}, "spec": spec,
                            "status": {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "110"}}})

    def pod(self, name, cpu="1", **spec):
        self.create(PODS, {"metadata": {"name": name}, "spec": {"containers": [
            {"name": "c", "image": "i:1", "resources": {"requests": {"cpu": cpu}}}], **spec}})

    def node_of(self, name):
        return self.get(f"{PODS}/{name}").json()["spec"].get("nodeName")

    def wait_bound(self, name):
        return wait_for(lambda: self.node_of(name), f"{name} has a node")

    def condition(self, name):
        for c in self.get(f"{PODS}/{name}").json()["status"].get("conditions", []):
            if c["type"] == "PodScheduled":
                return c
        return {}

    def wait_refused(self, name):
        return wait_for(lambda: self.condition(name).get("message"), f"it is told why {name} has no node")

    def threads(self):
        return len(os.listdir(f"/proc/{self.process.pid}/task"))


@pytest.fixture
def up(data_dir):
    server = Up(data_dir)
    yield server
    assert server.stop() == 0


def test_kubectl_shows_where_a_pod_went(up):
    up.node("n1")
    up.kubectl("run", "web", "--image=nginx")
    up.kubectl("wait", "--for=condition=PodScheduled", "pod/web", "--timeout=50s")
    assert up.kubectl("get", "pod", "web", "-o", "jsonpath={.spec.nodeName}").stdout == "n1"

    def described():
        text = up.kubectl("describe", "pod", "web").stdout
        return text if "Scheduled" in text.split("Events:")[1] else None
    line = next(line for line in wait_for(described, "the Event is shown").splitlines() if "Successfully assigned" in line)
    assert line.split()[:2] == ["Normal", "Scheduled"]
    assert "default-scheduler" in line
    assert line.endswith("Successfully assigned default/web to n1")


def test_kubectl_shows_why_a_pod_has_no_node(up):
    up.node("small", "500m")
    up.node("tainted", taints=[{"key": "gpu", "value": "yes", "effect": "NoSchedule"}])
    up.node("closed", unschedulable=True)
    up.node("elsewhere", labels={"zone": "b"})
    up.pod("p", nodeSelector={"zone": "a"})
    message = up.wait_refused("p")
    assert message == ("0/4 nodes are available: 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable, "
                       "2 node(s) didn't match Pod's node affinity/selector. preemption: 0/4 nodes are available: "
                       "4 Preemption is not helpful for scheduling.")
    condition = up.condition("p")
    assert (condition["status"], condition["reason"]) == ("False", "Unschedulable")
    text = wait_for(lambda: "FailedScheduling" in (t := up.kubectl("describe", "pod", "p").stdout) and t, "the Event is shown")
    line = next(line for line in text.splitlines() if "FailedScheduling" in line)
    assert line.split()[0] == "Warning"
    assert line.endswith(message)
    up.kubectl("label", "node", "elsewhere", "zone=a", "--overwrite")
    assert up.wait_bound("p") == "elsewhere"
    assert up.condition("p")["status"] == "True"


def test_a_node_that_opens_takes_the_pods_that_wait(up):
    up.node("n")
    up.kubectl("cordon", "n")
    up.pod("p")
    assert "1 node(s) were unschedulable" in up.wait_refused("p")
    up.kubectl("uncordon", "n")
    assert up.wait_bound("p") == "n"


def test_a_gate_holds_a_pod_until_it_is_taken_away(up):
    up.node("n")
    up.pod("p", schedulingGates=[{"name": "example.com/wait"}])
    assert up.condition("p")["reason"] == "SchedulingGated"
    up.pod("q")
    up.wait_bound("q")
    assert up.node_of("p") is None
    up.kubectl("patch", "pod", "p", "--type=json", "-p", '[{"op":"remove","path":"/spec/schedulingGates"}]')
    assert up.wait_bound("p") == "n"


def test_pods_of_priority_make_room(up):
    up.node("n", "2")
    up.create("/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": "high"}, "value": 1000})
    up.pod("low", "2")
    up.wait_bound("low")
    up.pod("high", "2", priorityClassName="high")
    wait_for(lambda: up.get(f"{PODS}/high").json()["status"].get("nominatedNodeName") == "n", "a node is nominated")
    low = wait_for(lambda: (lambda pod: pod if "deletionTimestamp" in pod["metadata"] else None)(up.get(f"{PODS}/low").json()), "the victim ends")
    target = next(c for c in low["status"]["conditions"] if c["type"] == "DisruptionTarget")
    assert target["reason"] == "PreemptionByScheduler"
    notes = wait_for(lambda: [e for e in up.get(EVENTS).json()["items"] if e["reason"] == "Preempted"], "an Event tells")
    assert notes[0]["regarding"]["name"] == "low"
    up.kubectl("delete", "pod", "low", "--grace-period=0", "--force")  # nobody plays kubelet here
    assert up.wait_bound("high") == "n"
    assert "nominatedNodeName" not in up.get(f"{PODS}/high").json()["status"]


def test_it_sleeps_until_a_pod_waits(up):
    before = up.threads()
    up.node("n")
    up.create(PODS, {"metadata": {"name": "others"}, "spec": {"schedulerName": "somebody", "containers": [{"name": "c", "image": "i"}]}})
    assert up.threads() == before
    up.pod("p")
    up.wait_bound("p")
    assert up.threads() == before + 1
    assert up.node_of("others") is None


def test_a_server_that_was_killed_goes_on(data_dir):
    up = Up(data_dir)
    up.node("n", "40")
    names = [f"p{i}" for i in range(60)]
    connection = up.connect()
    for name in names:
        body = {"metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]}}
        assert up.ask("POST", PODS, body, connection=connection).status == 201
    up.kill()
    up = Up(data_dir)

    def placed():
        return sum("nodeName" in p["spec"] for p in up.get(PODS).json()["items"])
    wait_for(lambda: placed() == 40, "as many pods as there is room for")
    wait_for(lambda: sum("Insufficient cpu" in json.dumps(p["status"].get("conditions", [])) for p in up.get(PODS).json()["items"]) == 20,
             "the others are told")
    assert placed() == 40
    assert up.stop() == 0
