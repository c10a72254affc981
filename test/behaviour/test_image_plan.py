# SPDX-License-Identifier: Apache-2.0
"""`dormouse image plan`: where the layers of an image would come from, and why."""
import json
import subprocess

import pytest

from conftest import BUILD

CLUSTER = {
    "layers": [{"name": "app", "bytes": 5_000_000}, {"name": "base", "bytes": 90_000_000, "urgent": True},
               {"name": "lib", "bytes": 7_000_000}, {"name": "new", "bytes": 1_000_000}],
    "registryMbit": 100,
    "nodes": [{"name": "n1", "uplinkMbit": 100}, {"name": "n2", "layers": ["base", "other"], "uplinkMbit": 500},
              {"name": "n3", "layers": ["base"], "uplinkMbit": 450},
              {"name": "n4", "layers": ["base", "new"], "uplinkMbit": 400, "silentSeconds": 40}],
    "transfers": [{"layer": "app", "to": "n1", "leftMilliseconds": 800}, {"layer": "lib", "to": "n2"}],
}


def plan(tmp_path, cluster, *args, status=0):
    path = tmp_path / "cluster.json"
    path.write_text(cluster if isinstance(cluster, str) else json.dumps(cluster))
    r = subprocess.run([BUILD / "dormouse", "image", "plan", path, *args], capture_output=True, text=True, timeout=60)
    assert r.returncode == status, r.stderr
    return r


def test_each_transfer_is_shown_with_its_reason(tmp_path):
    got = json.loads(plan(tmp_path, CLUSTER, "--node", "n1", "-o", "json").stdout)
    assert got["node"] == "n1"
    rows = [(t["priority"], t["layer"], t["how"], t["source"]) for t in got["transfers"]]
    assert rows == [(0, "base", "peer", "n2"), (0, "base", "peer", "n3"), (1, "lib", "after", "n2"),
                    (2, "app", "join", "registry"), (3, "new", "registry", "registry")]
    first, second = got["transfers"][:2]
    assert (first["fromByte"], first["toByte"], second["toByte"]) == (0, second["fromByte"], 90_000_000)
    assert first["alternatives"] == ["n3", "registry"]
    assert "3 nodes have it, 1 silent" in first["why"] and "shared by two" in first["why"]
    assert got["transfers"][4]["why"] == "1 node has it, 1 silent; none is a source"
    assert got["seconds"] == 0.8


def test_without_a_node_the_fastest_is_taken_and_all_are_listed(tmp_path):
    got = json.loads(plan(tmp_path, CLUSTER, "-o", "json").stdout)
    assert got["node"] == got["nodes"][0]["node"] and [n["node"] for n in got["nodes"]].count("n4") == 0  # silent: no candidate
    assert got["nodes"] == sorted(got["nodes"], key=lambda n: n["seconds"])
    lines = plan(tmp_path, CLUSTER).stdout.splitlines()
    assert lines[0].startswith(f"4 layers, {len(got['transfers'])} transfers to {got['node']}, there and unpacked in ")
    assert lines[2].split() == ["PRIO", "LAYER", "BYTES", "HOW", "FROM", "THERE-IN-MS", "ELSE", "WHY"]


@pytest.mark.parametrize("change, want", [
    ({"registryMbit": -1}, "registryMbit is a number from 0 to 10000000"),
    ({"speed": 1}, "there is no member 'speed'"),
    ({"layers": [], "transfers": []}, "it names no layers or no nodes"),
    ({"layers": [{"name": "a"}, {"name": "a"}], "transfers": []}, "layers[1]: an earlier one has that name"),
    ({"nodes": [{"name": "n1", "uplink": 5}], "transfers": []}, "nodes[0]: there is no member 'uplink'"),
    ({"transfers": [{"layer": "app", "to": "n9"}]}, "transfers[0]: it needs a layer and a node that it goes to"),
    ({"transfers": [{"layer": "app", "to": "n1", "from": "n9"}]}, "transfers[0]: from is not one of the nodes"),
])
def test_what_makes_no_sense_is_named(tmp_path, change, want):
    assert want in plan(tmp_path, {**CLUSTER, **change}, status=1).stderr


def test_errors_say_what_is_wrong(tmp_path):
    assert "cluster.json: " in plan(tmp_path, "{", status=1).stderr
    assert "there is no node 'n9'" in plan(tmp_path, CLUSTER, "--node", "n9", status=1).stderr
    alone = {"layers": [{"name": "a", "bytes": 1}], "nodes": [{"name": "n"}]}
    assert "a layer has no source" in plan(tmp_path, alone, status=1).stderr
