# SPDX-License-Identifier: Apache-2.0
"""Garbage collection in the real server: kubectl's cascades, a crash in the middle, thousands of dependents."""
import concurrent.futures
import re

from conftest import Server, wait_for

MAPS = "/api/v1/namespaces/default/configmaps"
ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"


def pss_kib(server):
    return int(re.search(r"^Pss:\s+(\d+)", open(f"/proc/{server.process.pid}/smaps_rollup").read(), re.M).group(1))


def owned_by(owner, name, blocks=True):
    ref = {"apiVersion": "v1", "kind": "ConfigMap", "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"],
           "blockOwnerDeletion": blocks, "controller": True}
    return {"metadata": {"name": name, "ownerReferences": [ref]}}


def make_owned(server, owner, names):
    """Made by several connections at once."""
    def some(part):
        connection = server.connect()
        for name in part:
            assert server.ask("POST", ACCOUNTS, owned_by(owner, name), connection=connection).status == 201
        connection.close()
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(some, [names[i::8] for i in range(8)]))


def count_owned(server):
    return sum(o["metadata"]["name"] != "default" for o in server.get(ACCOUNTS).json()["items"])


def test_kubectl_deletes_in_all_three_ways(shared_api):
    for way, left in (("background", 0), ("foreground", 0), ("orphan", 3)):
        owner = shared_api.create(MAPS, {"metadata": {"name": "owner"}})
        make_owned(shared_api, owner, [f"{way}{i}" for i in range(3)])
        shared_api.kubectl("delete", "configmap", "owner", "--cascade=" + way, "--wait")
        assert shared_api.get(MAPS + "/owner").status == 404
        wait_for(lambda: count_owned(shared_api) == left, f"the dependents of a deletion in the {way}")
    assert all("ownerReferences" not in o["metadata"] for o in shared_api.get(ACCOUNTS).json()["items"])
    shared_api.kubectl("delete", "serviceaccounts", "--all")


def test_a_crash_in_the_middle_changes_nothing_in_the_end(data_dir):
    server = Server(data_dir)
    for policy in ("Background", "Foreground"):
        owner = server.create(MAPS, {"metadata": {"name": policy.lower()}})
        make_owned(server, owner, [f"{policy.lower()}{i}" for i in range(200)])
    for policy in ("Background", "Foreground"):
        assert server.ask("DELETE", f"{MAPS}/{policy.lower()}?propagationPolicy={policy}").status == 200
    for _ in range(3):
        server.kill()
        server = Server(data_dir)
    wait_for(lambda: count_owned(server) == 0, "all dependents to go")
    wait_for(lambda: server.get(MAPS + "/foreground").status == 404, "the owner to go")
    assert server.stop() == 0


def test_thousands_of_dependents_cost_little_memory(dormouse_api):
    owner = dormouse_api.create(MAPS, {"metadata": {"name": "owner"}})
    make_owned(dormouse_api, owner, [f"d{i}" for i in range(5000)])
    before = most = pss_kib(dormouse_api)
    assert dormouse_api.ask("DELETE", MAPS + "/owner?propagationPolicy=Foreground").status == 200
    while dormouse_api.get(MAPS + "/owner").status == 200:
        most = max(most, pss_kib(dormouse_api))
    assert count_owned(dormouse_api) == 0
    print(f"before {before} KiB, most {most} KiB")
    assert most - before < 8 * 1024
