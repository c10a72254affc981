# SPDX-License-Identifier: Apache-2.0
"""What nodes and pods use: kubectl top, and metrics.k8s.io as its other readers ask for it."""
import concurrent.futures
import json
import re
import socket

import pytest

from conftest import Server, wait_for
from pods_kit import Cluster, is_ready, needs_pods, store  # noqa: F401 - a fixture
from test_nodes_join import NODES, Node, create_token, ready

GROUP = "/apis/metrics.k8s.io/v1beta1"
BUSY = ["sh", "-c", "while :; do :; done"]


def cpu(text):
    """Cores."""
    number, unit = re.fullmatch(r"(\d+)(n|u|m|)", text).groups()
    return int(number) * {"n": 1e-9, "u": 1e-6, "m": 1e-3, "": 1}[unit]


@pytest.fixture(scope="module")
def machines(tmp_path_factory, store):  # noqa: F811
    """The machine of the server, and one that has joined."""
    directory = tmp_path_factory.mktemp("machines")
    up = Cluster(directory / "data", store, "--node-name", "n0", "--agent-listen", "0.0.0.0:0")
    node = Node(up, directory / "n1", "--node-name", "n1", "--image-store", str(store), "--agent-listen", "0.0.0.0:0", "--pod-log-dir", str(up.log_dir), "--token", create_token(up))
    wait_for(lambda: all(ready(up, name).get("status") == "True" for name in ("n0", "n1")), "the nodes are ready")
    up.run("idle", nodeName="n0", labels={"app": "idle"})
    up.run("busy", nodeName="n1", labels={"app": "busy"}, containers=[{"name": "a", "command": BUSY}, {"name": "b", "command": ["sleep", "100000"]}])
    for name in ("idle", "busy"):
        up.wait(name, is_ready)
    yield up
    for name in ("idle", "busy"):
        up.delete(name, gracePeriodSeconds=1)  # its node ends it first
        up.wait_gone(name)
    assert node.stop() == 0
    up.clear()
    assert up.stop() == 0


def items(machines, path):
    """Of a list, once each of the machines' objects has been measured."""
    found = {}

    def measured():
        nonlocal found
        answer = machines.get(path)
        assert answer.status == 200, answer.body
        found = {i["metadata"]["name"]: i for i in answer.json()["items"]}
        return len(found) == 2
    wait_for(measured, f"two objects of {path}")
    return found


@needs_pods
def test_kubectl_top_shows_nodes_and_pods(machines):
    lines = [line.split() for line in machines.kubectl("top", "nodes").stdout.splitlines()]
    assert lines[0][:2] == ["NAME", "CPU(cores)"] and sorted(line[0] for line in lines[1:]) == ["n0", "n1"]
    for line in lines[1:]:
        assert re.fullmatch(r"[1-9]\d*m", line[1]) and line[2].endswith("%") and re.fullmatch(r"[1-9]\d*Mi", line[3]), line
    items(machines, f"{GROUP}/namespaces/default/pods")
    lines = [line.split() for line in machines.kubectl("top", "pods").stdout.splitlines()]
    assert sorted(line[0] for line in lines) == ["NAME", "busy", "idle"]
    lines = [line.split() for line in machines.kubectl("top", "pods", "--containers", "-A", "--no-headers", "-l", "app=busy").stdout.splitlines()]
    assert [line[:3] for line in lines] == [["default", "busy", "a"], ["default", "busy", "b"]]
    assert machines.kubectl("top", "pod", "nosuch", check=False).stderr.startswith("Error from server (NotFound)")


@needs_pods
def test_objects_are_those_of_metrics_server(machines):
    pods = items(machines, f"{GROUP}/pods")
    for pod in pods.values():
        assert sorted(pod) == ["containers", "metadata", "timestamp", "window"]
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", pod["timestamp"]) and re.fullmatch(r"[0-9.]+(ms|s)", pod["window"])
    busy, idle = pods["busy"], pods["idle"]
    assert busy["metadata"]["namespace"] == "default" and busy["metadata"]["labels"] == {"app": "busy"}
    assert [c["name"] for c in busy["containers"]] == ["a", "b"]
    used = [cpu(c["usage"]["cpu"]) for c in busy["containers"]]
    assert used[0] > 20 * used[1] and used[0] > 20 * cpu(idle["containers"][0]["usage"]["cpu"])
    assert all(re.fullmatch(r"[1-9]\d*Ki", c["usage"]["memory"]) for c in busy["containers"])
    nodes = items(machines, f"{GROUP}/nodes")
    assert all(sorted(n) == ["metadata", "timestamp", "usage", "window"] and n["metadata"]["labels"]["kubernetes.io/hostname"] == name
               for name, n in nodes.items())
    one = machines.get(f"{GROUP}/namespaces/default/pods/busy").json()
    assert one["kind"] == "PodMetrics" and one["apiVersion"] == "metrics.k8s.io/v1beta1" and one["containers"] == busy["containers"]
    table = machines.ask("GET", f"{GROUP}/nodes", Accept="application/json;as=Table;v=v1;g=meta.k8s.io").json()
    assert [c["name"] for c in table["columnDefinitions"]] == ["Name", "cpu", "memory", "Window"]
    assert [r["cells"][0] for r in table["rows"]] == ["n0", "n1"]


@needs_pods
def test_selectors_and_names(machines):
    items(machines, f"{GROUP}/pods")

    def names(query):
        answer = machines.get(f"{GROUP}/pods?{query}")
        return [i["metadata"]["name"] for i in answer.json()["items"]] if answer.status == 200 else answer.status
    assert names("labelSelector=app%3Dbusy") == ["busy"] and names("fieldSelector=metadata.name%3Didle") == ["idle"]
    assert names("labelSelector=%3D%3D") == 400
    assert machines.get(f"{GROUP}/namespaces/kube-system/pods").json()["items"] == []
    answer = machines.get(f"{GROUP}/namespaces/default/pods/none")
    assert answer.status == 404 and answer.json()["message"] == 'pods "none" not found'
    assert machines.get(f"{GROUP}/nodes/none").json()["message"] == 'nodes "none" not found'
    assert machines.ask("POST", f"{GROUP}/namespaces/default/pods", {}).status == 405
    assert machines.get(f"{GROUP}/pods?watch=true").status == 405


@needs_pods
def test_rights_are_those_of_the_group(machines):
    def as_user(user, path):
        return machines.ask("GET", path, Impersonate_User=user).status
    binding = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": "viewer"},
               "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
               "subjects": [{"kind": "User", "name": "viewer"}]}
    machines.create("/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings", binding)
    assert as_user("viewer", f"{GROUP}/namespaces/default/pods") == 200
    assert as_user("viewer", f"{GROUP}/namespaces/default/pods/busy") in (200, 404)
    assert as_user("viewer", f"{GROUP}/pods") == 403 and as_user("viewer", f"{GROUP}/nodes") == 403
    assert as_user("nobody", f"{GROUP}/namespaces/default/pods") == 403


def test_nodes_that_cannot_be_measured_are_left_out(tmp_path):
    """Nodes without an agent behind them: the answer does not wait for them twice."""
    server = Server(tmp_path / "data")
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "far"},
            "status": {"addresses": [{"type": "InternalIP", "address": "127.0.0.1"}], "daemonEndpoints": {"kubeletEndpoint": {"Port": 1}}}}
    server.create(NODES, node)
    server.create("/api/v1/namespaces/default/pods", {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
                                                      "spec": {"nodeName": "far", "containers": [{"name": "c", "image": "i"}]}})
    for path in ("nodes", "pods"):
        assert server.get(f"{GROUP}/{path}").json()["items"] == []
    answer = server.get(f"{GROUP}/nodes/far")
    assert answer.status == 404 and answer.json()["message"] == 'nodes.metrics.k8s.io "far" not found'
    assert server.get(f"{GROUP}/namespaces/default/pods/p").json()["message"] == 'pods.metrics.k8s.io "default/p" not found'
    assert "far" in json.dumps(server.get("/api/v1/nodes").json())
    assert server.text_of_log().count("what a node uses was not read") == 1
    assert server.stop() == 0


def test_an_agent_that_does_not_answer_holds_nobody(tmp_path):
    """The question ends with its deadline, also for those that come meanwhile; a server that stops does not wait for it."""
    server = Server(tmp_path / "data")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "silent"},
                "status": {"addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
                           "daemonEndpoints": {"kubeletEndpoint": {"Port": silent.getsockname()[1]}}}}
        server.create(NODES, node)
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            answers = [pool.submit(server.get, f"{GROUP}/nodes") for _ in range(3)]
            assert [a.result().json()["items"] for a in answers] == [[]] * 3
        assert server.text_of_log().count("no answer in time") == 1
        assert server.ask("DELETE", f"{NODES}/silent").status == 200
        server.create(NODES, {**node, "metadata": {"name": "other"}})
        connection = server.connect()
        connection.request("GET", f"{GROUP}/nodes", headers=server.headers())
        silent.accept()[0].recv(1)
        peer, _ = silent.accept()  # of the second node: its agent is being asked
        peer.recv(1)
        gone = server.connect()  # a client that leaves, whose question goes on
        gone.request("GET", f"{GROUP}/nodes/other", headers=server.headers())
        gone.close()
        assert server.stop() == 0
        connection.close()
        peer.close()
