# SPDX-License-Identifier: Apache-2.0
"""dormouse nodes simulate: nodes that are none, against a real API server."""
import json
import subprocess

import pytest

from conftest import BUILD, Server, wait_for
from nodes_kit import Nodes

PODS = "/api/v1/namespaces/default/pods"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"


def pod(name, node, **spec):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
            "spec": {"nodeName": node, "containers": [{"name": "c", "image": "example/c:1"}], **spec}}


def items(server, path):
    return server.get(path).json()["items"]


def conditions(thing):
    return {c["type"]: c["status"] for c in thing["status"].get("conditions", [])}


def running(server, name):
    def look():
        answer = server.get(f"{PODS}/{name}").json()
        return answer if answer.get("status", {}).get("phase") == "Running" else None
    return wait_for(look, f"pod {name} runs")


def test_nodes_are_as_the_options_say(dormouse_api, tmp_path):
    nodes = Nodes(dormouse_api, tmp_path / "log", "--nodes", "6", "--prefix", "edge", "--zones", "3", "--cpu", "4",
                  "--memory", "16Gi", "--pods", "30", "--resource", "nvidia.com/gpu=2", "--label", "pool=blue",
                  "--taint", "kind=gpu:NoSchedule")
    found = {n["metadata"]["name"]: n for n in items(dormouse_api, "/api/v1/nodes")}
    assert sorted(found) == [f"edge-{i}" for i in range(6)]
    node = found["edge-4"]
    assert node["status"]["allocatable"] == {"cpu": "4", "memory": "16Gi", "pods": "30", "nvidia.com/gpu": "2"}
    assert node["spec"]["taints"] == [{"key": "kind", "value": "gpu", "effect": "NoSchedule"}]
    labels = node["metadata"]["labels"]
    assert labels["pool"] == "blue" and labels["kubernetes.io/hostname"] == "edge-4"
    assert [found[f"edge-{i}"]["metadata"]["labels"]["topology.kubernetes.io/zone"] for i in range(4)] == \
        ["zone-a", "zone-b", "zone-c", "zone-a"]
    assert all(conditions(n)["Ready"] == "True" for n in found.values())
    leases = {x["metadata"]["name"]: x for x in items(dormouse_api, LEASES)}
    assert sorted(leases) == sorted(found)
    assert leases["edge-4"]["metadata"]["ownerReferences"][0]["uid"] == node["metadata"]["uid"]
    status, counts = nodes.stop()
    assert (status, counts["nodes"]) == (0, 6)
    assert len(items(dormouse_api, "/api/v1/nodes")) == 6, "without --remove they stay"


def test_pods_run_and_end(dormouse_api, tmp_path):
    nodes = Nodes(dormouse_api, tmp_path / "log", "--nodes", "2", "--remove")
    for i in range(20):
        dormouse_api.create(PODS, pod(f"p{i}", f"sim-{i % 2}", initContainers=[
            {"name": "first", "image": "example/i:1"},
            {"name": "side", "image": "example/s:1", "restartPolicy": "Always"}]))
    dormouse_api.create(PODS, pod("host", "sim-0", hostNetwork=True))
    dormouse_api.create(PODS, pod("elsewhere", "other-0"))
    seen = [running(dormouse_api, f"p{i}") for i in range(20)]
    assert len({p["status"]["podIP"] for p in seen}) == 20
    assert all(p["status"]["podIP"].startswith("10.0.") for p in seen)
    p = seen[3]
    assert conditions(p)["Ready"] == "True" and p["status"]["startTime"]
    [container] = p["status"]["containerStatuses"]
    assert container["ready"] and container["state"]["running"] and container["image"] == "example/c:1"
    first, side = p["status"]["initContainerStatuses"]
    assert first["state"]["terminated"]["exitCode"] == 0 and side["state"]["running"]
    host = running(dormouse_api, "host")
    assert host["status"]["podIP"] == host["status"]["hostIP"]
    assert dormouse_api.get(f"{PODS}/elsewhere").json()["status"]["phase"] == "Pending"

    assert dormouse_api.ask("DELETE", f"{PODS}/p3").status in (200, 202)
    wait_for(lambda: dormouse_api.get(f"{PODS}/p3").status == 404, "pod p3 is gone")
    status, counts = nodes.stop()
    assert status == 0
    assert counts["started"] == 21 and counts["refused"] == 0 and counts["retries"] == 0
    assert items(dormouse_api, "/api/v1/nodes") == [] and items(dormouse_api, LEASES) == []


def test_a_pod_waits_before_it_runs_and_before_it_goes(dormouse_api, tmp_path):
    nodes = Nodes(dormouse_api, tmp_path / "log", "--nodes", "1", "--start-after", "1h", "--stop-after", "200ms")
    dormouse_api.create(PODS, pod("a", "sim-0"))
    watch = dormouse_api.watch(PODS + "?watch=1&fieldSelector=metadata.name%3Da")
    assert watch.next()["object"]["status"]["phase"] == "Pending"
    dormouse_api.ask("DELETE", f"{PODS}/a")
    while True:
        event = watch.next()
        assert event["object"]["status"]["phase"] == "Pending"
        if event["type"] == "DELETED":
            break
    watch.close()
    status, counts = nodes.stop()
    assert (status, counts["started"]) == (0, 0)


def test_what_is_said_to_be_dead_is_ready_again(dormouse_api, tmp_path):
    nodes = Nodes(dormouse_api, tmp_path / "log", "--nodes", "3", "--lease-interval", "1s")
    patch = {"status": {"conditions": [{"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown"}]}}
    answer = dormouse_api.ask("PATCH", "/api/v1/nodes/sim-1/status", patch,
                              Content_Type="application/strategic-merge-patch+json")
    assert answer.status == 200
    wait_for(lambda: conditions(dormouse_api.get("/api/v1/nodes/sim-1").json())["Ready"] == "True", "it is ready")
    before = {x["metadata"]["name"]: x["spec"]["renewTime"] for x in items(dormouse_api, LEASES)}
    wait_for(lambda: all(x["spec"]["renewTime"] > before[x["metadata"]["name"]]
                         for x in items(dormouse_api, LEASES)), "every lease is renewed")
    assert dormouse_api.ask("DELETE", LEASES + "/sim-0").status == 200
    wait_for(lambda: dormouse_api.get(LEASES + "/sim-0").status == 200, "a lost lease is there again")
    assert dormouse_api.ask("DELETE", "/api/v1/nodes/sim-2").status == 200
    wait_for(lambda: "node=sim-2" in nodes.text(), "it hears of it")
    assert nodes.stop()[1]["nodes"] == 2
    assert dormouse_api.get("/api/v1/nodes/sim-2").status == 404, "who was deleted stays away"


def test_the_taint_of_new_nodes_is_taken_off(dormouse_api, tmp_path):
    """As admission puts it on, where no controller takes it off again."""
    nodes = Nodes(dormouse_api, tmp_path / "log", "--nodes", "3", "--untaint", "--taint", "a=b:NoSchedule",
                  "--taint", "node.kubernetes.io/not-ready:NoSchedule", "--taint", "c=d:NoExecute")
    wait_for(lambda: all([t["key"] for t in n["spec"]["taints"]] == ["a", "c"]
                         for n in items(dormouse_api, "/api/v1/nodes")), "the others stay")
    assert nodes.stop()[0] == 0


def test_nodes_of_an_earlier_run_are_taken_over(dormouse_api, tmp_path):
    Nodes(dormouse_api, tmp_path / "one", "--nodes", "3").stop()
    uids = {n["metadata"]["uid"] for n in items(dormouse_api, "/api/v1/nodes")}
    dormouse_api.create(PODS, pod("a", "sim-0"))
    again = Nodes(dormouse_api, tmp_path / "two", "--nodes", "4")
    assert uids < {n["metadata"]["uid"] for n in items(dormouse_api, "/api/v1/nodes")}
    running(dormouse_api, "a")
    again.stop()


def test_a_node_of_somebody_else_is_not(dormouse_api, tmp_path):
    dormouse_api.create("/api/v1/nodes", {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "sim-1"}})
    nodes = Nodes(dormouse_api, tmp_path / "log", "--nodes", "3", wait=False)
    assert nodes.process.wait(30) == 1
    assert 'nodes "sim-1" already exists' in nodes.text()
    nodes.stop()


def test_nodes_of_a_file(dormouse_api, tmp_path):
    real = [{"apiVersion": "v1", "kind": "Node",
             "metadata": {"name": name, "uid": "x", "resourceVersion": "7", "labels": {"a": name}},
             "spec": {"unschedulable": name == "two"},
             "status": {"allocatable": {"cpu": "3", "memory": "2Gi"},
                        "images": [{"names": ["example/big:1"], "sizeBytes": 12345}]}} for name in ("one", "two")]
    (tmp_path / "nodes.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": real}))
    nodes = Nodes(dormouse_api, tmp_path / "log", "--file", str(tmp_path / "nodes.json"), "--remove")
    one, two = sorted(items(dormouse_api, "/api/v1/nodes"), key=lambda n: n["metadata"]["name"])
    assert one["status"]["allocatable"] == {"cpu": "3", "memory": "2Gi", "pods": "110"}
    assert one["status"]["images"][0]["sizeBytes"] == 12345
    assert one["metadata"]["labels"]["a"] == "one" and two["spec"]["unschedulable"]
    assert nodes.stop()[0] == 0
    (tmp_path / "pattern.yaml").write_text("kind: Node\nmetadata: {labels: {a: b}}\nstatus: {capacity: {cpu: 96}}\n")
    nodes = Nodes(dormouse_api, tmp_path / "log2", "--file", str(tmp_path / "pattern.yaml"), "--nodes", "3")
    found = items(dormouse_api, "/api/v1/nodes")
    assert [n["status"]["capacity"]["cpu"] for n in found] == ["96"] * 3
    assert all(n["metadata"]["labels"]["a"] == "b" for n in found)
    nodes.stop()


def test_the_api_goes_and_comes_back(data_dir, tmp_path):
    server = Server(data_dir)
    nodes = Nodes(server, tmp_path / "log", "--nodes", "5", "--remove")
    server.kill()
    again = Server(data_dir, listen=f"127.0.0.1:{server.port}")
    for i in range(5):
        again.create(PODS, pod(f"p{i}", f"sim-{i}"))
    for i in range(5):
        running(again, f"p{i}")
    assert nodes.stop()[0] == 0
    assert items(again, "/api/v1/nodes") == []
    assert again.stop() == 0
    server.process.stdout.close()


@pytest.mark.parametrize("args, text", [
    (["--cpu", "much"], "cpu 'much'"),
    (["--prefix", "A_b"], "prefix 'A_b'"),
    (["--label", "x"], "'x' is not KEY=VALUE"),
    (["--taint", "x=y:Never"], "is not KEY=VALUE:EFFECT"),
    (["--lease-interval", "10ms"], "--lease-interval must be 1s at least"),
    (["--nodes", "60000"], "60000"),
    (["--file", "/nonexistent"], "No such file"),
])
def test_wrong_options_are_told(args, text):
    done = subprocess.run([str(BUILD / "dormouse"), "nodes", "simulate", *args], capture_output=True, text=True)
    assert done.returncode == 2 and text in done.stderr, done.stderr
