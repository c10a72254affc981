# SPDX-License-Identifier: Apache-2.0
"""`dormouse up` with its workload controllers, and simulated nodes whose pods run at once."""
import os
import pathlib
import tempfile

import pytest

from conftest import Server, wait_for
from nodes_kit import Nodes

APPS = "/apis/apps/v1/namespaces/default"
CORE = "/api/v1/namespaces/default"


class Workloads(Server):
    COMMAND = "up"

    def __init__(self, data_dir, *extra):
        super().__init__(data_dir, extra=("--gateway", "none", *extra))

    def start_nodes(self, *args):
        self.nodes = Nodes(self, pathlib.Path(str(self.data_dir) + ".nodes.log"), "--nodes", "3", *args)

    def stop_all(self):
        self.nodes.stop()
        return self.stop()

    def items(self, path):
        return self.get(path).json()["items"]

    def pods(self, app):
        """Those that are not being deleted."""
        found = self.items(f"{CORE}/pods?labelSelector=app%3D{app}")
        return [p for p in found if "deletionTimestamp" not in p["metadata"]]

    def object(self, plural, name):
        return self.get(f"{CORE if plural == 'replicationcontrollers' else APPS}/{plural}/{name}").json()

    def status(self, plural, name):
        return self.object(plural, name).get("status", {})

    def wait_status(self, plural, name, **wanted):
        """Until these counters have these values (a missing one is 0) and the newest generation was observed."""

        def fits():
            v = self.object(plural, name)
            status = v.get("status", {})
            return status.get("observedGeneration") == v["metadata"]["generation"] and \
                all(status.get(k, 0) == n for k, n in wanted.items()) and v
        return wait_for(fits, f"{plural}/{name} has {wanted}: {self.status(plural, name)}")

    def events(self, name, reason):
        return [e for e in self.items(f"{CORE}/events") if e["involvedObject"]["name"] == name and e["reason"] == reason]


@pytest.fixture(scope="module")
def workloads():
    """One cluster for the tests of a file: each of them has objects of its own names."""
    with tempfile.TemporaryDirectory(prefix="dm-behaviour-") as path:
        up = Workloads(os.path.join(path, "data"))
        up.start_nodes()
        yield up
        assert up.stop_all() == 0


def template(app, image="one", **labels):
    return {"metadata": {"labels": {"app": app, **labels}},
            "spec": {"terminationGracePeriodSeconds": 0, "containers": [{"name": "a", "image": image}]}}
