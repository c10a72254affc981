# SPDX-License-Identifier: Apache-2.0
"""ReplicaSets and ReplicationControllers of `dormouse up`, with simulated nodes."""
import os

from conftest import wait_for
from workloads_kit import APPS, CORE, Workloads, template, workloads  # noqa: F401


def make_set(server, name, replicas, **spec):
    return server.create(f"{APPS}/replicasets", {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": name}, "spec": {
        "replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template(name), **spec}})


def controller_of(obj):
    return next((r["name"] for r in obj["metadata"].get("ownerReferences", []) if r.get("controller")), None)


def test_a_set_has_as_many_pods_as_it_wants(workloads):
    make_set(workloads, "many", 7)
    workloads.wait_status("replicasets", "many", replicas=7, readyReplicas=7, availableReplicas=7, fullyLabeledReplicas=7)
    pods = workloads.pods("many")
    assert {controller_of(p) for p in pods} == {"many"} and all(p["metadata"]["name"].startswith("many-") for p in pods)
    workloads.kubectl("scale", "rs", "many", "--replicas", "2")
    workloads.wait_status("replicasets", "many", replicas=2, readyReplicas=2)
    assert len(workloads.pods("many")) == 2
    wait_for(lambda: len(workloads.events("many", "SuccessfulCreate")) == 7, "an Event for each pod made")
    wait_for(lambda: len(workloads.events("many", "SuccessfulDelete")) == 5, "an Event for each pod deleted")
    workloads.kubectl("delete", "pod", workloads.pods("many")[0]["metadata"]["name"])
    workloads.wait_status("replicasets", "many", replicas=2, readyReplicas=2)
    workloads.kubectl("delete", "rs", "many")
    wait_for(lambda: not workloads.items(f"{CORE}/pods?labelSelector=app%3Dmany"), "the pods go with their set")


def test_the_dearest_pods_stay(workloads):
    made = make_set(workloads, "dear", 5)
    workloads.wait_status("replicasets", "dear", readyReplicas=5)
    keep = sorted(p["metadata"]["name"] for p in workloads.pods("dear"))[:2]
    workloads.kubectl("annotate", "pod", *keep, "controller.kubernetes.io/pod-deletion-cost=100")
    workloads.kubectl("scale", "rs", "dear", "--replicas", "2")
    workloads.wait_status("replicasets", "dear", replicas=2)
    assert sorted(p["metadata"]["name"] for p in workloads.pods("dear")) == keep
    assert made["metadata"]["name"] == "dear"


def test_a_pod_is_released_and_adopted_by_its_labels(workloads):
    make_set(workloads, "claims", 2)
    workloads.wait_status("replicasets", "claims", readyReplicas=2)
    one = workloads.pods("claims")[0]["metadata"]["name"]
    workloads.kubectl("label", "pod", one, "app=other", "--overwrite")
    wait_for(lambda: len(workloads.pods("claims")) == 2, "another pod takes its place")
    wait_for(lambda: not controller_of(workloads.get(f"{CORE}/pods/{one}").json()), "the pod has no controller")
    workloads.kubectl("label", "pod", one, "app=claims", "--overwrite")
    wait_for(lambda: len(workloads.pods("claims")) == 2, "one of the three is deleted")
    assert {controller_of(p) for p in workloads.pods("claims")} == {"claims"}
    workloads.kubectl("delete", "rs", "claims", "--cascade=orphan")
    orphans = {p["metadata"]["name"] for p in workloads.pods("claims")}
    wait_for(lambda: not any(controller_of(p) for p in workloads.pods("claims")), "they are orphans")
    make_set(workloads, "claims", 2)
    workloads.wait_status("replicasets", "claims", readyReplicas=2)
    assert {p["metadata"]["name"] for p in workloads.pods("claims")} == orphans


def test_a_pod_is_available_once_it_was_ready_for_long_enough(workloads):
    make_set(workloads, "slow", 1, minReadySeconds=2)
    v = workloads.wait_status("replicasets", "slow", readyReplicas=1)
    assert v["status"].get("availableReplicas", 0) == 0
    workloads.wait_status("replicasets", "slow", availableReplicas=1)


def test_pods_that_cannot_be_made_are_reported(workloads):
    workloads.kubectl("create", "namespace", "tight")
    workloads.kubectl("create", "quota", "few", "--hard", "pods=1", "-n", "tight")
    wait_for(lambda: workloads.get("/api/v1/namespaces/tight/resourcequotas/few").json().get("status", {}).get("hard"), "the quota counts")
    path = "/apis/apps/v1/namespaces/tight/replicasets"
    workloads.create(path, {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "full"}, "spec": {
        "replicas": 3, "selector": {"matchLabels": {"app": "full"}}, "template": template("full")}})

    def condition():
        found = workloads.get(f"{path}/full").json().get("status", {}).get("conditions", [])
        return next((c for c in found if c["type"] == "ReplicaFailure"), None)
    found = wait_for(condition, "ReplicaFailure")
    assert found["reason"] == "FailedCreate" and "exceeded quota: few" in found["message"], found
    events = lambda: workloads.items("/api/v1/namespaces/tight/events")  # noqa: E731
    wait_for(lambda: any(e["reason"] == "FailedCreate" and e["message"].startswith("Error creating: pods ") for e in events()), "an Event says so")
    workloads.kubectl("delete", "quota", "few", "-n", "tight")
    wait_for(lambda: not condition(), "the pods are made after all")
    workloads.kubectl("delete", "namespace", "tight")


def test_a_replication_controller_works_like_a_set(workloads):
    workloads.create(f"{CORE}/replicationcontrollers", {"apiVersion": "v1", "kind": "ReplicationController", "metadata": {"name": "rc"},
                                                        "spec": {"replicas": 2, "template": template("rc")}})
    v = workloads.wait_status("replicationcontrollers", "rc", replicas=2, readyReplicas=2)
    assert "terminatingReplicas" not in v["status"]
    workloads.kubectl("scale", "rc", "rc", "--replicas", "3")
    workloads.wait_status("replicationcontrollers", "rc", replicas=3, readyReplicas=3)
    workloads.kubectl("delete", "rc", "rc")
    wait_for(lambda: not workloads.items(f"{CORE}/pods?labelSelector=app%3Drc"), "its pods go")


def test_no_pod_is_made_twice_when_the_process_is_killed(data_dir):
    server = Workloads(data_dir)
    watch = server.watch(f"{CORE}/pods?watch=1")
    make_set(server, "crash", 120)
    made = 0
    while made < 40:
        made += watch.next()["type"] == "ADDED"
    server.kill()
    watch.close()
    server.log.close()
    server = Workloads(data_dir)
    server.wait_status("replicasets", "crash", replicas=120)
    assert len(server.items(f"{CORE}/pods")) == 120
    assert not server.events("crash", "SuccessfulDelete")
    assert server.stop() == 0


def test_another_process_may_run_the_controllers(data_dir):
    server = Workloads(data_dir, "--no-workloads")
    done = server.kubectl("create", "deployment", "stored", "--image", "one")
    assert "no controller for deployments" in done.stderr
    assert server.stop() == 0
    assert os.path.isdir(data_dir)
