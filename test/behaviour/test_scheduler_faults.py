# SPDX-License-Identifier: Apache-2.0
"""A scheduler that is killed, an API that goes away or has no room: no pod is bound twice, none is forgotten."""
import os
import random
import signal
import threading

import pytest

from conftest import Server, wait_for
from nodes_kit import Nodes
from scheduler_kit import (PODS, Proxy, Scheduler, Witness, all_bound, check_no_node_is_too_full, create_pods,
                           node_of, pod, read_pods)

SLOW = bool(os.environ.get("DORMOUSE_SLOW_TESTS"))
SEED = int(os.environ.get("DORMOUSE_SEED", "0")) or random.randrange(1, 1 << 32)


@pytest.fixture
def cluster(dormouse_api, tmp_path):
    """A server with ten nodes of 8 cores."""
    nodes = Nodes(dormouse_api, tmp_path / "nodes.log", "--nodes", "10", "--no-leases")
    yield dormouse_api
    nodes.stop()


@pytest.fixture
def proxy(cluster):
    p = Proxy(cluster.host, cluster.port)
    yield p
    p.close()


def held_bindings(cluster, proxy, scheduler_kubeconfig, tmp_path, names):
    """A scheduler that has assumed pods, whose bindings are on their way."""
    first = Scheduler(scheduler_kubeconfig, tmp_path, "first")
    proxy.hold("up")
    create_pods(cluster, names)
    proxy.wait_held("up")
    return first


@pytest.mark.parametrize("arrives", [False, True])
def test_killed_between_assume_and_bind(cluster, proxy, tmp_path, arrives):
    """The bindings it sent are lost with it, or arrive when it is dead."""
    names = [f"p{i}" for i in range(40)]
    witness = Witness(cluster)
    first = held_bindings(cluster, proxy, proxy.kubeconfig(cluster, tmp_path / "kc"), tmp_path, names)
    first.kill()
    if arrives:
        proxy.release("up")
    else:
        proxy.cut()
        proxy.release("up")
        assert not any(node_of(p) for p in read_pods(cluster).values())
    second = Scheduler(cluster.kubeconfig, tmp_path, "second")
    all_bound(cluster, names)
    witness.stop()
    check_no_node_is_too_full(cluster)
    assert second.stop() == 0


def test_killed_again_and_again_under_load(cluster, tmp_path):
    print(f"DORMOUSE_SEED={SEED}")
    rng = random.Random(SEED)
    rounds = 16 if SLOW else 5  # of 60 pods; the nodes take 1,100
    witness, names = Witness(cluster), []
    pause = threading.Event()
    for i in range(rounds):
        scheduler = Scheduler(cluster.kubeconfig, tmp_path, f"s{i}", wait=False)
        batch = [f"r{i}-{k}" for k in range(60)]
        names += batch
        create_pods(cluster, batch)
        pause.wait(rng.random() * 0.3)
        scheduler.kill()
    last = Scheduler(cluster.kubeconfig, tmp_path, "last")
    all_bound(cluster, names)
    witness.stop()
    check_no_node_is_too_full(cluster)
    assert last.stop() == 0


def test_answers_are_lost(cluster, proxy, tmp_path):
    """Bindings are carried out, and the scheduler never hears of it."""
    scheduler = Scheduler(proxy.kubeconfig(cluster, tmp_path / "kc"), tmp_path)
    witness = Witness(cluster)
    create_pods(cluster, ["first"])
    all_bound(cluster, ["first"])
    proxy.hold("up")
    names = [f"p{i}" for i in range(30)]
    create_pods(cluster, names)
    proxy.wait_held("up")
    proxy.hold("down")
    proxy.release("up")
    proxy.wait_held("down")
    proxy.cut()
    proxy.release("down")
    all_bound(cluster, names)
    create_pods(cluster, ["last"])
    all_bound(cluster, ["last"])
    witness.stop()
    check_no_node_is_too_full(cluster)
    assert scheduler.stop() == 0


def test_nobody_answers_for_a_while(cluster, proxy, tmp_path):
    """The connection is gone, and comes back; meanwhile pods came, went and were bound by others."""
    scheduler = Scheduler(proxy.kubeconfig(cluster, tmp_path / "kc"), tmp_path)
    witness = Witness(cluster)
    create_pods(cluster, ["a", "b", "big"], cpu="1")
    all_bound(cluster, ["a", "b", "big"])
    proxy.shut()
    names = [f"p{i}" for i in range(30)]
    create_pods(cluster, names + ["gone", "theirs"])
    assert cluster.ask("DELETE", f"{PODS}/gone").status in (200, 202)
    binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "theirs"},
               "target": {"kind": "Node", "name": "sim-9"}}
    assert cluster.ask("POST", f"{PODS}/theirs/binding", binding).status == 201
    assert cluster.ask("DELETE", f"{PODS}/big").status in (200, 202)
    proxy.open()
    nodes = all_bound(cluster, names + ["theirs"])
    assert nodes["theirs"] == "sim-9"
    witness.stop()
    assert scheduler.process.poll() is None and scheduler.stop() == 0


def test_the_api_is_killed_and_comes_back(data_dir, tmp_path):
    server = Server(data_dir)
    nodes = Nodes(server, tmp_path / "nodes.log", "--nodes", "10", "--no-leases")
    scheduler = Scheduler(server.kubeconfig, tmp_path)
    witness = Witness(server)
    names = [f"p{i}" for i in range(60)]
    create_pods(server, names[:40])
    server.kill()  # while the first of them are being bound
    server.process.stdout.close()
    again = Server(data_dir, listen=f"127.0.0.1:{server.port}")
    witness.server = again
    made = [n for n in names[:40] if n in read_pods(again)]
    assert made == names[:40], "what was acknowledged is there"
    create_pods(again, names[40:])
    all_bound(again, names)
    witness.stop()
    check_no_node_is_too_full(again)
    assert scheduler.stop() == 0
    nodes.stop()
    assert again.stop() == 0


def test_the_disk_of_the_api_is_full(small_disk, tmp_path):
    """Bindings are refused until there is room again; then every pod gets its node."""
    disk, make_room = small_disk
    server = Server(disk / "data")
    nodes = Nodes(server, tmp_path / "nodes.log", "--nodes", "5", "--no-leases")
    names = [f"p{i}" for i in range(20)]
    create_pods(server, names)
    maps, i, size = "/api/v1/namespaces/default/configmaps", 0, 200000
    while size > 300:  # until not even a small write has room
        answer = server.ask("POST", maps, {"metadata": {"name": f"m{i}"}, "data": {"v": "x" * size}})
        i += 1
        size = size // 2 if answer.status >= 500 else size
    scheduler = Scheduler(server.kubeconfig, tmp_path)
    witness = Witness(server)
    wait_for(lambda: scheduler.metrics().get("scheduler_schedule_attempts_total/error", 0) >= 5, "it has tried")
    assert not all(node_of(p) for p in read_pods(server).values()), "the disk was not full"
    make_room()
    all_bound(server, names, timeout=60)
    witness.stop()
    assert scheduler.stop() == 0
    nodes.stop()
    assert server.stop() == 0


class Up(Server):
    """`dormouse up`: API and scheduler in one process."""

    COMMAND = "up"


def test_up_is_killed_again_and_again(data_dir, tmp_path):
    """API and scheduler die together, in the midst of bindings; what was acknowledged is bound once."""
    print(f"DORMOUSE_SEED={SEED}")
    rng = random.Random(SEED)
    pause = threading.Event()
    server = Up(data_dir)
    port = server.port
    nodes = Nodes(server, tmp_path / "nodes.log", "--nodes", "10", "--no-leases")
    names, seen = [], {}
    for i in range(10 if SLOW else 3):
        batch = [f"r{i}-{k}" for k in range(40)]
        create_pods(server, batch)
        names += batch
        pause.wait(rng.random() * 0.1)
        server.kill()
        server.process.stdout.close()
        server = Up(data_dir, listen=f"127.0.0.1:{port}")
        for name, p in read_pods(server).items():
            assert seen.get(name, "") in ("", node_of(p)), f"{name} was on {seen[name]}"
            seen[name] = node_of(p)
    nodes_of = all_bound(server, names)
    assert all(nodes_of[n] == node for n, node in seen.items() if node)
    check_no_node_is_too_full(server)
    nodes.stop()
    assert server.stop() == 0


def cache_is_right(server, scheduler):
    """Its picture has as many nodes and bound pods as there are, and nobody waits."""
    def look():
        m = scheduler.metrics()
        if "scheduler_cache_size/pods" not in m:  # a round goes on, and none before has been asked for metrics
            return None
        bound = sum(1 for p in read_pods(server).values() if node_of(p))
        return m if m["scheduler_cache_size/pods"] == bound and m["scheduler_cache_size/assumed_pods"] == 0 and \
            m["scheduler_pending_pods"] == 0 else None
    return wait_for(look, f"the scheduler's picture is right: {scheduler.metrics()}")


def test_after_a_wild_time_its_picture_is_right(cluster, proxy, tmp_path):
    """Pods and nodes that come, change and go at random, connections that break; then all is counted."""
    print(f"DORMOUSE_SEED={SEED}")
    rng = random.Random(SEED)
    scheduler = Scheduler(proxy.kubeconfig(cluster, tmp_path / "kc"), tmp_path)
    connection = cluster.connect()
    live, n_nodes = [], 10
    merge = {"Content_Type": "application/merge-patch+json"}
    for i in range(1500 if SLOW else 400):
        what = rng.random()
        if what < 0.5 and len(live) < 300:
            gates = {"schedulingGates": [{"name": "example.com/wait"}]} if rng.random() < 0.3 else {}
            body = pod(f"w{i}", cpu=rng.choice(["10m", "50m", "3"]), **gates)
            assert cluster.ask("POST", PODS, body, connection=connection).status == 201
            live.append(f"w{i}")
        elif what < 0.7 and live:
            name = live.pop(rng.randrange(len(live)))
            cluster.ask("DELETE", f"{PODS}/{name}?gracePeriodSeconds=0", connection=connection)
        elif what < 0.85 and live:
            patch = {"spec": {"schedulingGates": None}} if rng.random() < 0.5 else {"metadata": {"labels": {"x": str(i)}}}
            cluster.ask("PATCH", f"{PODS}/{rng.choice(live)}", patch, connection=connection, **merge)
        elif what < 0.97:
            patch = {"spec": {"unschedulable": rng.random() < 0.3}, "metadata": {"labels": {"y": str(i)}}}
            cluster.ask("PATCH", f"/api/v1/nodes/sim-{rng.randrange(n_nodes)}", patch, connection=connection, **merge)
        elif what < 0.98:
            proxy.cut()
    for i in range(n_nodes):
        cluster.ask("PATCH", f"/api/v1/nodes/sim-{i}", {"spec": {"unschedulable": False}}, connection=connection, **merge)
    for name in live:
        cluster.ask("PATCH", f"{PODS}/{name}", {"spec": {"schedulingGates": None}}, connection=connection, **merge)
    big = [n for n, p in read_pods(cluster).items()
           if not node_of(p) and p["spec"]["containers"][0]["resources"]["requests"]["cpu"] == "3"]
    for name in big:  # those may find no room
        cluster.ask("DELETE", f"{PODS}/{name}?gracePeriodSeconds=0", connection=connection)
    connection.close()
    all_bound(cluster, [n for n in live if n not in big])
    cache_is_right(cluster, scheduler)
    check_no_node_is_too_full(cluster)
    assert scheduler.stop() == 0


def test_killed_while_it_makes_room(dormouse_api, tmp_path):
    """Preemption that dies between victims and nomination is taken up again: those of high priority get their place."""
    print(f"DORMOUSE_SEED={SEED}")
    rng, pause = random.Random(SEED), threading.Event()
    nodes = Nodes(dormouse_api, tmp_path / "nodes.log", "--nodes", "6", "--cpu", "4", "--no-leases", "--stop-after", "50ms")
    for name, value in (("low", 1), ("high", 1000)):
        dormouse_api.create("/apis/scheduling.k8s.io/v1/priorityclasses",
                            {"metadata": {"name": name}, "value": value})
    low = [f"low-{i}" for i in range(24)]
    first = Scheduler(dormouse_api.kubeconfig, tmp_path, "first")
    create_pods(dormouse_api, low, cpu="1", priorityClassName="low")
    all_bound(dormouse_api, low)
    high = [f"high-{i}" for i in range(12)]
    create_pods(dormouse_api, high, cpu="2", priorityClassName="high")
    for i in range(4):
        pause.wait(rng.random() * 0.05)
        first.kill()
        first = Scheduler(dormouse_api.kubeconfig, tmp_path, f"next{i}", wait=i % 2 == 0)
    first.kill()
    first = Scheduler(dormouse_api.kubeconfig, tmp_path, "last")
    all_bound(dormouse_api, high, timeout=60)
    check_no_node_is_too_full(dormouse_api)
    assert first.stop() == 0
    nodes.stop()


def test_one_that_did_not_read_for_long(cluster, tmp_path):
    """More happens than its connection holds: it is cut off, lists again, and misses nothing."""
    scheduler = Scheduler(cluster.kubeconfig, tmp_path)
    create_pods(cluster, ["first"])
    all_bound(cluster, ["first"])
    scheduler.process.send_signal(signal.SIGSTOP)
    names = [f"p{i}" for i in range(400)]
    for name in names:
        body = pod(name)
        body["metadata"]["annotations"] = {"text": name + "x" * 60000}
        cluster.create(PODS, body)
    for name in names[::2] + ["first"]:
        assert cluster.ask("DELETE", f"{PODS}/{name}?gracePeriodSeconds=0").status in (200, 202)
    scheduler.process.send_signal(signal.SIGCONT)
    all_bound(cluster, names[1::2])
    cache_is_right(cluster, scheduler)
    check_no_node_is_too_full(cluster)
    assert scheduler.stop() == 0
