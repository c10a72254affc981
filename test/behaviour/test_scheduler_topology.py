# SPDX-License-Identifier: Apache-2.0
"""`dormouse up` keeps pods near, apart and spread, while nodes come, go and change; kubectl makes what is placed."""
import collections
import json

import pytest

from conftest import wait_for
from scheduler_kit import PODS, all_bound, node_of, read_pods
from test_scheduler import NODES, Up

ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"


@pytest.fixture
def up(data_dir):
    server = Up(data_dir)
    yield server
    assert server.stop() == 0


def zoned(up, zones=3, each=2, cpu="8"):
    for z in range(zones):
        for i in range(each):
            up.node(f"n{z}{i}", cpu, {ZONE: f"z{z}"})


def replicas(up, name, n, labels=None, **spec):
    """What a ReplicaSet's controller would make, given to kubectl at once. Names of the pods."""
    pods = [{"apiVersion": "v1", "kind": "Pod",
             "metadata": {"name": f"{name}-{i}", "labels": {"app": name, **(labels or {})}},
             "spec": {"containers": [{"name": "c", "image": "i:1", "resources": {"requests": {"cpu": "100m"}}}], **spec}}
            for i in range(n)]
    up.kubectl("create", "-f", "-", input=json.dumps({"apiVersion": "v1", "kind": "List", "items": pods}))
    return [p["metadata"]["name"] for p in pods]


def spread(key, app, when="DoNotSchedule", skew=1, **more):
    return {"topologyKey": key, "maxSkew": skew, "whenUnsatisfiable": when, "labelSelector": {"matchLabels": {"app": app}}, **more}


def term(key, app, **more):
    return {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}, **more}


def required(kind, *terms):
    return {kind: {"requiredDuringSchedulingIgnoredDuringExecution": list(terms)}}


def preferred(kind, *terms):
    return {kind: {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "podAffinityTerm": t} for t in terms]}}


def zones_of(placed):
    return collections.Counter(node[1] for node in placed.values())


def hosts_of(placed):
    return collections.Counter(placed.values())


def test_replicas_are_spread_over_zones_and_hosts(up):
    zoned(up)
    names = replicas(up, "web", 12, topologySpreadConstraints=[spread(ZONE, "web"), spread(HOST, "web")])
    placed = all_bound(up, names)
    assert zones_of(placed) == {"0": 4, "1": 4, "2": 4}
    assert set(hosts_of(placed).values()) == {2}


def test_replicas_that_only_prefer_it_are_spread_too(up):
    zoned(up)
    placed = all_bound(up, replicas(up, "web", 12, topologySpreadConstraints=[spread(ZONE, "web", "ScheduleAnyway")]))
    assert zones_of(placed) == {"0": 4, "1": 4, "2": 4}


def test_pods_behind_a_service_are_spread_by_default(up):
    zoned(up, each=1, cpu="64")
    up.create("/api/v1/namespaces/default/services", {"metadata": {"name": "s"}, "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]}})
    placed = all_bound(up, replicas(up, "web", 9))
    assert zones_of(placed) == {"0": 3, "1": 3, "2": 3}


def test_a_pod_waits_until_its_zone_is_not_too_full(up):
    up.node("n00", labels={ZONE: "z0"})
    names = replicas(up, "web", 2, topologySpreadConstraints=[spread(ZONE, "web", minDomains=2)])
    wait_for(lambda: len([p for p in read_pods(up).values() if node_of(p)]) == 1, "one has a node")
    waiting = next(n for n, p in read_pods(up).items() if not node_of(p))
    assert up.wait_refused(waiting) == ("0/1 nodes are available: 1 node(s) didn't match pod topology spread constraints. preemption: 0/1 "
                                        "nodes are available: 1 No preemption victims found for incoming pod.")
    up.node("elsewhere")  # has no zone
    up.node("n10", labels={ZONE: "z1"})
    assert all_bound(up, names)[waiting] == "n10"


def test_nodes_without_the_label_are_told(up):
    up.node("n")
    replicas(up, "web", 1, topologySpreadConstraints=[spread(ZONE, "web")])
    assert "1 node(s) didn't match pod topology spread constraints (missing required label)" in up.wait_refused("web-0")
    up.kubectl("label", "node", "n", f"{ZONE}=z0")
    assert up.wait_bound("web-0") == "n"


def test_one_on_each_host_and_the_others_wait(up):
    zoned(up, zones=2, each=2)
    names = replicas(up, "db", 5, affinity=required("podAntiAffinity", term(HOST, "db")))
    wait_for(lambda: sum(bool(node_of(p)) for p in read_pods(up).values()) == 4, "as many as there are hosts")
    waiting = wait_for(lambda: [n for n in names if up.condition(n).get("message")], "the last one is told")
    assert "4 node(s) didn't match pod anti-affinity rules" in up.condition(waiting[0])["message"]
    up.kubectl("delete", "pod", next(n for n in names if n not in waiting), "--grace-period=0", "--force")
    all_bound(up, [n for n in names if n in read_pods(up)])
    assert set(hosts_of({n: node_of(p) for n, p in read_pods(up).items()}).values()) == {1}


def test_pods_keep_away_who_asked_them_to(up):
    zoned(up, zones=2, each=1)
    all_bound(up, replicas(up, "quiet", 1, affinity=required("podAntiAffinity", term(ZONE, "loud"))))
    quiet = up.node_of("quiet-0")
    placed = all_bound(up, replicas(up, "loud", 5))
    assert quiet not in placed.values()
    up.kubectl("cordon", next(iter(placed.values())))
    replicas(up, "more", 1, labels={"app": "loud"})
    assert "1 node(s) didn't satisfy existing pods anti-affinity rules" in up.wait_refused("more-0")
    up.kubectl("label", "pod", "more-0", "app=silent", "--overwrite")
    assert up.wait_bound("more-0") == quiet


def test_a_series_stays_in_the_zone_of_its_first_pod(up):
    zoned(up)
    placed = all_bound(up, replicas(up, "ring", 8, affinity=required("podAffinity", term(ZONE, "ring"))))
    assert len(zones_of(placed)) == 1


def test_near_to_pods_of_namespaces_by_label(up):
    zoned(up, zones=2, each=1)
    up.create("/api/v1/namespaces", {"metadata": {"name": "stores", "labels": {"team": "data"}}})
    up.create("/api/v1/namespaces/stores/pods", {"metadata": {"name": "db", "labels": {"app": "db"}}, "spec": {
        "nodeName": "n10", "containers": [{"name": "c", "image": "i"}]}})
    near = term(HOST, "db", namespaceSelector={"matchLabels": {"team": "data"}})
    placed = all_bound(up, replicas(up, "web", 3, affinity=required("podAffinity", near)))
    assert set(placed.values()) == {"n10"}
    up.kubectl("label", "namespace", "stores", "team-")
    replicas(up, "late", 1, affinity=required("podAffinity", near))
    assert "didn't match pod affinity rules" in up.wait_refused("late-0")


def test_preferences_of_both_sides_count(up):
    zoned(up, zones=3, each=1, cpu="64")
    all_bound(up, replicas(up, "cache", 1, affinity=preferred("podAffinity", term(HOST, "web")), nodeSelector={ZONE: "z2"}))
    assert set(all_bound(up, replicas(up, "web", 3)).values()) == {"n20"}
    placed = all_bound(up, replicas(up, "batch", 4, affinity=preferred("podAntiAffinity", term(HOST, "web"))))
    assert "n20" not in placed.values()


# ---- nodes that lie, change and go ----

def test_a_node_that_moves_takes_its_pods_with_it(up):
    zoned(up, zones=2, each=1)
    placed = all_bound(up, replicas(up, "web", 4, topologySpreadConstraints=[spread(ZONE, "web")]))
    assert zones_of(placed) == {"0": 2, "1": 2}
    up.node("n20", labels={ZONE: "z2"})
    up.kubectl("label", "node", "n10", f"{ZONE}=z0", "--overwrite")  # z0 has 4 now, z2 none
    placed = all_bound(up, replicas(up, "web-more", 1, labels={"app": "web"}, topologySpreadConstraints=[spread(ZONE, "web")]))
    assert placed["web-more-0"] == "n20"


def test_labels_and_capacities_that_lie(up):
    """Amounts that the API takes, but no machine has; three nodes that claim to be one host."""
    host = {HOST: "n00", ZONE: "z0"}
    up.create(NODES, {"metadata": {"name": "poor", "labels": host}, "status": {"allocatable": {"cpu": "1e-9", "memory": "0.5", "pods": "0"}}})
    up.create(NODES, {"metadata": {"name": "rich", "labels": host}, "status": {"allocatable": {
        "cpu": "9223372036854775807", "memory": "99999999999Ei", "pods": "999999999999"}}})
    up.node("n00", labels={ZONE: "z0"})
    placed = all_bound(up, replicas(up, "web", 1, affinity=required("podAntiAffinity", term(HOST, "web"))))
    assert placed["web-0"] in ("n00", "rich")
    replicas(up, "late", 1, labels={"app": "web"}, affinity=required("podAntiAffinity", term(HOST, "web")))
    assert "2 node(s) didn't match pod anti-affinity rules" in up.wait_refused("late-0")
    assert "1 Too many pods" in up.wait_refused("late-0")


def test_a_node_that_goes_frees_its_domain(up):
    zoned(up, zones=2, each=1)
    names = replicas(up, "db", 2, affinity=required("podAntiAffinity", term(ZONE, "db")))
    placed = all_bound(up, names)
    replicas(up, "late", 1, labels={"app": "db"}, affinity=required("podAntiAffinity", term(ZONE, "db")))
    up.wait_refused("late-0")
    gone = placed[names[0]]
    up.kubectl("delete", "node", gone)
    up.node(f"{gone}-new", labels={ZONE: f"z{gone[1]}"})
    assert up.wait_bound("late-0") == f"{gone}-new"


def test_a_node_comes_back_with_its_pods(up):
    zoned(up, zones=2, each=1)
    names = replicas(up, "db", 2, affinity=required("podAntiAffinity", term(ZONE, "db")))
    placed = all_bound(up, names)
    gone = placed[names[0]]
    up.kubectl("delete", "node", gone)
    replicas(up, "late", 1, labels={"app": "db"}, affinity=required("podAntiAffinity", term(ZONE, "db")))
    up.wait_refused("late-0")
    up.node(gone, labels={ZONE: f"z{gone[1]}"})  # the pod is still bound to it
    wait_for(lambda: "2 node(s) didn't match pod anti-affinity rules" in up.condition("late-0").get("message", ""), "both are taken")
    assert up.node_of("late-0") is None


def test_nodes_come_and_go_while_pods_are_placed(up):
    zoned(up, zones=3, each=3, cpu="64")
    names = []
    for i in range(6):
        names += replicas(up, f"r{i}", 20, labels={"app": "web"}, topologySpreadConstraints=[spread(ZONE, "web", skew=2)],
                          affinity=preferred("podAntiAffinity", term(HOST, "web")))
        up.kubectl("delete", "node", f"n{i % 3}{i // 3}")
        up.node(f"n{i % 3}{i // 3}", "64", {ZONE: f"z{(i + 1) % 3}"})
    all_bound(up, names)
    pods = up.get(PODS).json()["items"]
    assert len(pods) == len(names)
    assert all(not p["spec"].get("nodeName") or p["spec"]["nodeName"].startswith("n") for p in pods)
