# SPDX-License-Identifier: Apache-2.0
"""DaemonSets of `dormouse up`, on three simulated nodes."""
from conftest import wait_for
from workloads_kit import APPS, CORE, template, workloads  # noqa: F401


def make(server, name, image="one", pod=None, **spec):
    own = template(name, image)
    own["spec"].update(pod or {})
    return server.create(f"{APPS}/daemonsets", {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": name}, "spec": {
        "selector": {"matchLabels": {"app": name}}, "template": own, **spec}})


def wait_done(server, name, n, **more):
    return server.wait_status("daemonsets", name, desiredNumberScheduled=n, currentNumberScheduled=n, numberReady=n, updatedNumberScheduled=n,
                              numberAvailable=n, numberUnavailable=0, **more)


def nodes_of(server, name):
    return sorted(p["spec"].get("nodeName", "") for p in server.pods(name))


def test_each_node_has_a_pod(workloads):
    names = sorted(n["metadata"]["name"] for n in workloads.items("/api/v1/nodes"))
    make(workloads, "each")
    wait_done(workloads, "each", 3)
    assert nodes_of(workloads, "each") == names
    workloads.kubectl("rollout", "status", "daemonset/each", "--timeout", "60s")
    gone = workloads.pods("each")[0]["metadata"]["name"]
    workloads.kubectl("delete", "pod", gone)
    wait_for(lambda: nodes_of(workloads, "each") == names and gone not in [p["metadata"]["name"] for p in workloads.pods("each")], "the pod is replaced")
    workloads.kubectl("delete", "daemonset", "each")
    wait_for(lambda: not workloads.items(f"{CORE}/pods?labelSelector=app%3Deach"), "its pods go")


def test_labels_and_taints_of_nodes_decide(workloads):
    first, second = sorted(n["metadata"]["name"] for n in workloads.items("/api/v1/nodes"))[:2]
    make(workloads, "some", pod={"nodeSelector": {"disk": "fast"}})
    workloads.wait_status("daemonsets", "some", desiredNumberScheduled=0)
    workloads.kubectl("label", "node", first, second, "disk=fast")
    wait_done(workloads, "some", 2)
    workloads.kubectl("taint", "node", first, "own=yes:NoSchedule")
    workloads.wait_status("daemonsets", "some", desiredNumberScheduled=1, numberMisscheduled=1)
    assert nodes_of(workloads, "some") == [first, second]  # it stays
    workloads.kubectl("taint", "node", first, "own=yes:NoSchedule-", "own=yes:NoExecute")
    wait_for(lambda: nodes_of(workloads, "some") == [second], "it goes")
    workloads.kubectl("cordon", second)
    wait_done(workloads, "some", 1)
    workloads.kubectl("uncordon", second)
    workloads.kubectl("taint", "node", first, "own=yes:NoExecute-")
    wait_done(workloads, "some", 2)
    workloads.kubectl("label", "node", first, second, "disk-")
    wait_for(lambda: not workloads.pods("some"), "no node fits any more")


def test_a_rolling_update_and_its_history(workloads):
    make(workloads, "rolls")
    wait_done(workloads, "rolls", 3)
    watch = workloads.watch(f"{APPS}/daemonsets?watch=1&fieldSelector=metadata.name%3Drolls&resourceVersion="
                            + workloads.object("daemonsets", "rolls")["metadata"]["resourceVersion"])
    workloads.kubectl("set", "image", "daemonset/rolls", "a=two")
    while True:
        status = watch.next()["object"]["status"]
        assert status.get("numberAvailable", 0) >= 2, status
        if status.get("updatedNumberScheduled", 0) == status.get("numberAvailable", 0) == 3 and status["observedGeneration"] == 2:
            break
    watch.close()
    workloads.kubectl("rollout", "status", "daemonset/rolls", "--timeout", "60s")
    history = workloads.kubectl("rollout", "history", "daemonset/rolls").stdout
    assert [line.split()[0] for line in history.splitlines()[2:] if line] == ["1", "2"]
    workloads.kubectl("rollout", "undo", "daemonset/rolls")
    wait_for(lambda: {p["spec"]["containers"][0]["image"] for p in workloads.pods("rolls")} == {"one"}, "the image before")
    wait_done(workloads, "rolls", 3)
    found = workloads.items(f"{APPS}/controllerrevisions?labelSelector=app%3Drolls")
    assert sorted(r["revision"] for r in found) == [2, 3]


def test_a_surge_keeps_the_old_pod_until_the_new_one_serves(workloads):
    make(workloads, "surge", updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}})
    wait_done(workloads, "surge", 3)
    workloads.kubectl("set", "image", "daemonset/surge", "a=two")
    wait_for(lambda: {p["spec"]["containers"][0]["image"] for p in workloads.pods("surge")} == {"two"}, "all are new")
    wait_done(workloads, "surge", 3)
    assert len(workloads.pods("surge")) == 3


def test_on_delete_changes_nothing_by_itself(workloads):
    make(workloads, "manual", updateStrategy={"type": "OnDelete"}, revisionHistoryLimit=0)
    wait_done(workloads, "manual", 3)
    workloads.kubectl("set", "image", "daemonset/manual", "a=two")
    workloads.wait_status("daemonsets", "manual", updatedNumberScheduled=0, numberAvailable=3)
    workloads.kubectl("delete", "pod", "-l", "app=manual")
    wait_done(workloads, "manual", 3)
    wait_for(lambda: len(workloads.items(f"{APPS}/controllerrevisions?labelSelector=app%3Dmanual")) == 1, "the old revision goes")
