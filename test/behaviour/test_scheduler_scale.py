# SPDX-License-Identifier: Apache-2.0
"""The scheduler with thousands of nodes, against a real API server."""
import collections

from conftest import wait_for
from nodes_kit import Nodes
from scheduler_kit import PODS, Scheduler, all_bound, check_no_node_is_too_full, create_pods, node_of, read_pods

ZONE = "topology.kubernetes.io/zone"


def test_thousands_of_nodes(dormouse_api, tmp_path):
    """2,000 nodes in five zones: all pods run, as even as was asked for."""
    nodes = Nodes(dormouse_api, tmp_path / "nodes.log", "--nodes", "2000", "--zones", "5", "--cpu", "4", "--no-leases")
    scheduler = Scheduler(dormouse_api.kubeconfig, tmp_path)
    plain = [f"plain-{i}" for i in range(600)]
    create_pods(dormouse_api, plain, cpu="1")
    spread = {"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule",
                                             "labelSelector": {"matchLabels": {"app": "even"}}}]}
    even = [f"even-{i}" for i in range(100)]
    create_pods(dormouse_api, even, cpu="3", labels={"app": "even"}, **spread)
    bound = all_bound(dormouse_api, plain + even, timeout=60)
    zone_of = {n["metadata"]["name"]: n["metadata"]["labels"][ZONE]
               for n in dormouse_api.get("/api/v1/nodes").json()["items"]}
    zones = collections.Counter(zone_of[bound[name]] for name in even)
    assert sorted(zones.values()) == [20] * 5, zones
    check_no_node_is_too_full(dormouse_api)
    wait_for(lambda: all(p["status"]["phase"] == "Running" for p in read_pods(dormouse_api).values()), "all run")

    # what is too large for any node waits, and is told why by all of them
    create_pods(dormouse_api, ["large"], cpu="5")

    def reported():
        conditions = read_pods(dormouse_api)["large"]["status"].get("conditions", [])
        return [c["message"] for c in conditions if c["type"] == "PodScheduled" and c["status"] == "False"]
    [message] = wait_for(reported, "why it waits")
    assert message.startswith("0/2000 nodes are available: 2000 Insufficient cpu"), message
    assert dormouse_api.ask("DELETE", f"{PODS}/large?gracePeriodSeconds=0").status in (200, 202)
    assert not node_of(read_pods(dormouse_api).get("large", {"spec": {}}))
    assert scheduler.stop() == 0
    nodes.stop()
