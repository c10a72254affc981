# SPDX-License-Identifier: Apache-2.0
"""Several schedulers on one cluster: with names of their own, with the same one, and upstream's."""
import signal

import pytest

from conftest import wait_for
from nodes_kit import Nodes
from scheduler_kit import (PODS, Scheduler, Witness, all_bound, check_no_node_is_too_full, config, create_pods,
                           find_kube_scheduler, node_of, read_pods)


@pytest.fixture
def cluster(dormouse_api, tmp_path):
    nodes = Nodes(dormouse_api, tmp_path / "nodes.log", "--nodes", "8", "--cpu", "4", "--no-leases")
    yield dormouse_api
    nodes.stop()


def who_bound(server):
    """Pod -> names of those that say so."""
    output = {}
    for e in server.get("/apis/events.k8s.io/v1/namespaces/default/events").json()["items"]:
        if e["reason"] == "Scheduled":
            output.setdefault(e["regarding"]["name"], []).append(e["reportingController"])
    return output


def test_each_places_its_own(cluster, tmp_path):
    one = Scheduler(cluster.kubeconfig, tmp_path, "one", config("one"))
    two = Scheduler(cluster.kubeconfig, tmp_path, "two", config("two", "three"))
    witness = Witness(cluster)
    mine = {name: [f"{name}-{i}" for i in range(20)] for name in ("one", "two", "three")}
    for name, pods in mine.items():
        create_pods(cluster, pods, scheduler=name)
    create_pods(cluster, ["nobodys"], scheduler="four")
    every = [p for pods in mine.values() for p in pods]
    all_bound(cluster, every)
    output = wait_for(lambda: (s := who_bound(cluster)) and len(s) == len(every) and s, "Events of all")
    assert output == {p: [name] for name, pods in mine.items() for p in pods}
    assert not node_of(read_pods(cluster)["nobodys"])
    witness.stop()
    assert one.stop() == 0 and two.stop() == 0


def test_one_sees_what_the_other_has_placed(cluster, tmp_path):
    """Eight nodes of four cores: what one fills the other finds full, and free again."""
    one = Scheduler(cluster.kubeconfig, tmp_path, "one", config("one"))
    two = Scheduler(cluster.kubeconfig, tmp_path, "two", config("two"))
    ones, twos = [f"one-{i}" for i in range(8)], [f"two-{i}" for i in range(8)]
    create_pods(cluster, ones, scheduler="one", cpu="3")
    assert len(set(all_bound(cluster, ones).values())) == 8, "one to a node"
    create_pods(cluster, twos, scheduler="two", cpu="2")

    def refused():
        p = read_pods(cluster)["two-0"]
        return [c["message"] for c in p["status"].get("conditions", []) if c["reason"] == "Unschedulable"]
    [message] = wait_for(refused, "it is told why")
    assert "0/8 nodes are available: 8 Insufficient cpu" in message
    for name in ones:
        assert cluster.ask("DELETE", f"{PODS}/{name}").status in (200, 202)
    all_bound(cluster, twos)
    check_no_node_is_too_full(cluster)
    assert one.stop() == 0 and two.stop() == 0


def test_two_of_the_same_name(cluster, tmp_path):
    """Without leader election both try every pod; the API takes one binding of each."""
    both = [Scheduler(cluster.kubeconfig, tmp_path, f"s{i}") for i in range(2)]
    witness = Witness(cluster)
    names = [f"p{i}" for i in range(150)]
    create_pods(cluster, names)
    all_bound(cluster, names)
    witness.stop()
    assert all(s.process.poll() is None for s in both)
    both[0].kill()
    create_pods(cluster, ["alone"])
    all_bound(cluster, ["alone"])
    assert both[1].stop() == 0


def test_of_two_one_leads(cluster, tmp_path):
    """With leader election the other takes over when the first is killed, and all pods are placed once."""
    text = config(leader_elect=True, lease_s=3)
    both = [Scheduler(cluster.kubeconfig, tmp_path, f"s{i}", text, wait=False) for i in range(2)]
    witness = Witness(cluster)
    lease = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler"
    create_pods(cluster, [f"a{i}" for i in range(50)])
    all_bound(cluster, [f"a{i}" for i in range(50)])
    holder = wait_for(lambda: cluster.get(lease).json().get("spec", {}).get("holderIdentity"), "one leads")
    [leader] = [s for s in both if "scheduler leads" in s.text()]
    [other] = [s for s in both if s is not leader]
    create_pods(cluster, [f"b{i}" for i in range(50)])
    leader.kill()
    all_bound(cluster, [f"b{i}" for i in range(50)])
    wait_for(lambda: cluster.get(lease).json()["spec"]["holderIdentity"] != holder, "the other leads")
    create_pods(cluster, ["last"])
    all_bound(cluster, ["last"])
    witness.stop()
    check_no_node_is_too_full(cluster)
    assert other.stop() == 0


def test_a_leader_that_slept_knows_that_it_leads_no_more(cluster, tmp_path):
    """Stopped in the midst of its work for longer than its lease, it wakes up beside another leader."""
    text = config(leader_elect=True, lease_s=3)
    both = [Scheduler(cluster.kubeconfig, tmp_path, f"s{i}", text, wait=False) for i in range(2)]
    witness = Witness(cluster)
    create_pods(cluster, ["first"])
    all_bound(cluster, ["first"])
    [leader] = [s for s in both if "scheduler leads" in s.text()]
    [other] = [s for s in both if s is not leader]
    names = [f"p{i}" for i in range(80)]
    create_pods(cluster, names[:40])
    leader.process.send_signal(signal.SIGSTOP)
    create_pods(cluster, names[40:])
    all_bound(cluster, names)
    wait_for(lambda: "scheduler leads" in other.text(), "the other leads")
    leader.process.send_signal(signal.SIGCONT)
    wait_for(lambda: "scheduler does not lead any more" in leader.text(), "it knows")
    create_pods(cluster, ["last"])
    all_bound(cluster, ["last"])
    output = wait_for(lambda: (s := who_bound(cluster)) and "last" in s and s, "Events")
    assert all(len(x) == 1 for x in output.values()), output
    witness.stop()
    check_no_node_is_too_full(cluster)
    assert leader.stop() == 0 and other.stop() == 0


def test_beside_kube_scheduler(cluster, tmp_path):
    program = find_kube_scheduler()
    if not program:
        pytest.skip("no kube-scheduler here: set KUBE_SCHEDULER, or build one with tools/build-upstream")
    theirs = Scheduler(cluster.kubeconfig, tmp_path, "theirs", config("default-scheduler"), [program],
                       ["--secure-port=0"])
    ours = Scheduler(cluster.kubeconfig, tmp_path, "ours", config("dormouse"))
    witness = Witness(cluster)
    mine = {name: [f"{name}-{i}" for i in range(40)] for name in ("default-scheduler", "dormouse")}
    for name, pods in mine.items():
        create_pods(cluster, pods, scheduler=name)
    every = [p for pods in mine.values() for p in pods]
    all_bound(cluster, every, timeout=60)
    output = wait_for(lambda: (s := who_bound(cluster)) and len(s) == len(every) and s, "Events of all")
    assert output == {p: [name] for name, pods in mine.items() for p in pods}
    witness.stop()
    check_no_node_is_too_full(cluster)
    assert ours.stop() == 0
    theirs.stop()
