# SPDX-License-Identifier: Apache-2.0
"""Deployments of `dormouse up` with kubectl, on simulated nodes."""
from conftest import wait_for
from workloads_kit import APPS, CORE, Workloads, template, workloads  # noqa: F401

REVISION = "deployment.kubernetes.io/revision"


def make(server, name, replicas=3, image="one", **spec):
    return server.create(f"{APPS}/deployments", {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": {
        "replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template(name, image), **spec}})


def sets(server, name):
    found = server.items(f"{APPS}/replicasets?labelSelector=app%3D{name}")
    return sorted(found, key=lambda s: int(s["metadata"]["annotations"][REVISION]))


def conditions(server, name):
    return {c["type"]: c for c in server.status("deployments", name).get("conditions", [])}


def images(server, name):
    return {p["spec"]["containers"][0]["image"] for p in server.pods(name)}


def wait_done(server, name, replicas):
    return server.wait_status("deployments", name, replicas=replicas, updatedReplicas=replicas, readyReplicas=replicas,
                              availableReplicas=replicas, unavailableReplicas=0)


def set_image(server, name, image):
    server.kubectl("set", "image", f"deployment/{name}", f"a={image}")


def test_a_deployment_comes_up(workloads):
    workloads.kubectl("create", "deployment", "up", "--image", "one", "--replicas", "3")
    workloads.kubectl("rollout", "status", "deployment/up", "--timeout", "60s")
    v = wait_done(workloads, "up", 3)
    assert v["metadata"]["annotations"][REVISION] == "1"
    one, = sets(workloads, "up")
    hash_of = one["metadata"]["labels"]["pod-template-hash"]
    assert one["metadata"]["name"] == f"up-{hash_of}" and one["spec"]["selector"]["matchLabels"]["pod-template-hash"] == hash_of
    assert all(p["metadata"]["labels"]["pod-template-hash"] == hash_of for p in workloads.pods("up"))
    found = conditions(workloads, "up")
    assert (found["Available"]["status"], found["Available"]["reason"]) == ("True", "MinimumReplicasAvailable")
    assert (found["Progressing"]["status"], found["Progressing"]["reason"]) == ("True", "NewReplicaSetAvailable")
    assert found["Progressing"]["message"] == f'ReplicaSet "up-{hash_of}" has successfully progressed.'
    wait_for(lambda: [e["message"] for e in workloads.events("up", "ScalingReplicaSet")] == [f"Scaled up replica set up-{hash_of} from 0 to 3"],
             "an Event")
    shown = workloads.kubectl("get", "deployment", "up", "--no-headers").stdout.split()
    assert shown[:4] == ["up", "3/3", "3", "3"]


def test_a_deployment_is_scaled(workloads):
    make(workloads, "scaled", 2)
    wait_done(workloads, "scaled", 2)
    workloads.kubectl("scale", "deployment", "scaled", "--replicas", "5")
    wait_done(workloads, "scaled", 5)
    workloads.kubectl("scale", "deployment", "scaled", "--replicas", "0")
    wait_done(workloads, "scaled", 0)
    one, = sets(workloads, "scaled")
    notes = one["metadata"]["annotations"]
    assert notes["deployment.kubernetes.io/desired-replicas"] == "0" and notes[REVISION] == "1"


def test_a_rolling_update_keeps_enough_pods(workloads):
    make(workloads, "rolls", 6, strategy={"rollingUpdate": {"maxSurge": 2, "maxUnavailable": 1}})
    wait_done(workloads, "rolls", 6)
    watch = workloads.watch(f"{APPS}/deployments?watch=1&fieldSelector=metadata.name%3Drolls&resourceVersion="
                            + workloads.object("deployments", "rolls")["metadata"]["resourceVersion"])
    set_image(workloads, "rolls", "two")
    while True:
        status = watch.next()["object"]["status"]
        assert status.get("availableReplicas", 0) >= 5 and status["replicas"] <= 8, status
        if status.get("updatedReplicas", 0) == status["replicas"] == status.get("availableReplicas", 0) == 6 and status["observedGeneration"] == 2:
            break
    watch.close()
    workloads.kubectl("rollout", "status", "deployment/rolls", "--timeout", "60s")
    assert images(workloads, "rolls") == {"two"}
    old, new = sets(workloads, "rolls")
    assert old["spec"]["replicas"] == 0 and new["spec"]["replicas"] == 6


def test_the_history_is_undone(workloads):
    make(workloads, "undone", 2)
    wait_done(workloads, "undone", 2)
    for image in ("two", "three"):
        set_image(workloads, "undone", image)
        workloads.kubectl("rollout", "status", "deployment/undone", "--timeout", "60s")
    history = workloads.kubectl("rollout", "history", "deployment/undone").stdout
    assert [line.split()[0] for line in history.splitlines()[2:] if line] == ["1", "2", "3"]
    workloads.kubectl("rollout", "undo", "deployment/undone")
    workloads.kubectl("rollout", "status", "deployment/undone", "--timeout", "60s")
    wait_for(lambda: images(workloads, "undone") == {"two"}, "the image before")
    workloads.kubectl("rollout", "undo", "deployment/undone", "--to-revision", "1")
    workloads.kubectl("rollout", "status", "deployment/undone", "--timeout", "60s")
    wait_for(lambda: images(workloads, "undone") == {"one"}, "the first image")
    v = wait_for(lambda: (o := workloads.object("deployments", "undone"))["metadata"]["annotations"][REVISION] == "5" and o, "revision 5")
    assert [s["metadata"]["annotations"][REVISION] for s in sets(workloads, "undone")] == ["3", "4", "5"]
    assert sets(workloads, "undone")[2]["metadata"]["annotations"]["deployment.kubernetes.io/revision-history"] == "1"
    assert v["status"]["replicas"] == 2


def test_a_paused_deployment_waits(workloads):
    make(workloads, "paused", 2)
    wait_done(workloads, "paused", 2)
    workloads.kubectl("rollout", "pause", "deployment/paused")
    wait_for(lambda: conditions(workloads, "paused")["Progressing"]["reason"] == "DeploymentPaused", "it is paused")
    set_image(workloads, "paused", "two")
    workloads.kubectl("scale", "deployment", "paused", "--replicas", "4")
    workloads.wait_status("deployments", "paused", replicas=4, readyReplicas=4, updatedReplicas=0)
    assert images(workloads, "paused") == {"one"}
    workloads.kubectl("rollout", "resume", "deployment/paused")
    workloads.kubectl("rollout", "status", "deployment/paused", "--timeout", "60s")
    wait_done(workloads, "paused", 4)
    assert images(workloads, "paused") == {"two"}


def test_a_restart_makes_new_pods(workloads):
    make(workloads, "again", 2)
    wait_done(workloads, "again", 2)
    before = {p["metadata"]["uid"] for p in workloads.pods("again")}
    workloads.kubectl("rollout", "restart", "deployment/again")
    workloads.kubectl("rollout", "status", "deployment/again", "--timeout", "60s")
    wait_done(workloads, "again", 2)
    assert not before & {p["metadata"]["uid"] for p in workloads.pods("again")}


def test_recreate_ends_all_pods_first(workloads):
    make(workloads, "fresh", 3, strategy={"type": "Recreate"})
    wait_done(workloads, "fresh", 3)
    watch = workloads.watch(f"{CORE}/pods?watch=1&labelSelector=app%3Dfresh")
    set_image(workloads, "fresh", "two")
    living = set()
    while True:
        event = watch.next()
        pod = event["object"]
        old = pod["spec"]["containers"][0]["image"] == "one"
        (living.discard if event["type"] == "DELETED" else living.add)((pod["metadata"]["name"], old))
        if not old:
            assert not any(was_old for _, was_old in living), living
            break
    watch.close()
    workloads.kubectl("rollout", "status", "deployment/fresh", "--timeout", "60s")
    wait_done(workloads, "fresh", 3)
    assert images(workloads, "fresh") == {"two"}


def test_old_sets_go_beyond_the_limit(workloads):
    make(workloads, "short", 1, revisionHistoryLimit=1)
    wait_done(workloads, "short", 1)
    for image in ("two", "three", "four"):
        set_image(workloads, "short", image)
        workloads.kubectl("rollout", "status", "deployment/short", "--timeout", "60s")
    wait_for(lambda: [s["metadata"]["annotations"][REVISION] for s in sets(workloads, "short")] == ["3", "4"], "two sets are left")


def test_a_rollout_that_does_not_progress_is_reported(workloads):
    make(workloads, "stuck", 2, progressDeadlineSeconds=2)
    wait_done(workloads, "stuck", 2)
    patch = {"spec": {"template": {"spec": {"nodeSelector": {"no": "where"}}}}}
    workloads.ask("PATCH", f"{APPS}/deployments/stuck", patch, Content_Type="application/strategic-merge-patch+json")
    found = wait_for(lambda: (c := conditions(workloads, "stuck")["Progressing"])["reason"] == "ProgressDeadlineExceeded" and c, "the deadline")
    assert found["status"] == "False" and "has timed out progressing" in found["message"]
    assert workloads.kubectl("rollout", "status", "deployment/stuck", "--timeout", "60s", check=False).returncode != 0
    workloads.kubectl("rollout", "undo", "deployment/stuck")
    wait_done(workloads, "stuck", 2)
    wait_for(lambda: conditions(workloads, "stuck")["Progressing"]["reason"] == "NewReplicaSetAvailable", "it works again")


def test_a_name_that_is_taken_is_no_obstacle(workloads):
    make(workloads, "clash", 1)
    wait_done(workloads, "clash", 1)
    first, = sets(workloads, "clash")
    workloads.kubectl("delete", "deployment", "clash", "--cascade=orphan")
    workloads.kubectl("label", "rs", first["metadata"]["name"], "app=foreign", "--overwrite")
    make(workloads, "clash", 1)
    workloads.wait_status("deployments", "clash", replicas=1, collisionCount=1)
    second, = sets(workloads, "clash")
    assert second["metadata"]["name"] != first["metadata"]["name"]


def test_what_it_owns_goes_with_it(workloads):
    make(workloads, "gone", 2)
    wait_done(workloads, "gone", 2)
    workloads.kubectl("delete", "deployment", "gone")
    wait_for(lambda: not sets(workloads, "gone") and not workloads.items(f"{CORE}/pods?labelSelector=app%3Dgone"), "sets and pods go")


def test_a_rollout_survives_the_end_of_the_process(data_dir):
    server = Workloads(data_dir)
    server.start_nodes()
    make(server, "killed", 40)
    wait_done(server, "killed", 40)
    watch = server.watch(f"{CORE}/pods?watch=1&labelSelector=app%3Dkilled")
    set_image(server, "killed", "two")
    new = 0
    while new < 15:
        event = watch.next()
        new += event["type"] == "ADDED" and event["object"]["spec"]["containers"][0]["image"] == "two"
    server.kill()
    watch.close()
    server.log.close()
    server.nodes.stop()
    server = Workloads(data_dir)
    server.start_nodes()
    wait_done(server, "killed", 40)
    assert len(server.pods("killed")) == 40 and images(server, "killed") == {"two"}
    assert server.stop_all() == 0
