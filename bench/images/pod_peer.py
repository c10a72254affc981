# SPDX-License-Identifier: Apache-2.0
"""Machines with kubelet and containerd, each in a network namespace, and a control plane in another: what pods.py compares with."""
import pathlib
import re
import shutil
import subprocess
import sys

from nodes import NODES

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench/nodes"), str(ROOT / "test/behaviour")]
from image_kit import Layout, layer  # noqa: E402
from kubelet_kit import PAUSE, KubeletNode  # noqa: E402
from place_kit import Place, settings_kept  # noqa: E402
from systems import ControlPlane  # noqa: E402


class Kubelets:
    """A context. network: with hosts master, registry and NODES. program: of the pause containers."""

    LEFT_BYTES = 0      # of images after a trace: the next one begins without

    def __init__(self, network, directory, program, max_pods):
        self.network, self.directory, self.program, self.max_pods = network, directory, program, max_pods
        self.nodes = {}

    def __enter__(self):
        self.settings = settings_kept()
        self.settings.__enter__()
        self.directory.mkdir()
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def start(self):
        self.control = ControlPlane(self.network, self.directory, NODES)
        self.control.start()
        self.api = self.control.api
        layout = Layout(self.directory / "layout")
        layout.image(PAUSE, [layer([("program", "f", self.program, {"mode": 0o755})])], run={"Entrypoint": ["/program"], "Cmd": ["pause"]})
        for n in NODES:
            at = self.directory / n
            at.mkdir()
            place = Place(n, at, f"/run/netns/{self.network.name(n)}", self.network.address(n))
            node = self.nodes[n] = KubeletNode(place, self.control.built, self.directory / "layout", n, at)
            node.registries = [self.control.registry]
            node.start_containerd()
            node.start_kubelet(self.control.directory / "ca.crt", "--kubeconfig", self.control.config_of(n), maxPods=self.max_pods)
        self.control.wait("nodes", self.are_ready)

    def are_ready(self):
        items = self.api.must("GET", "/api/v1/nodes")["items"]
        ready = [n for n in items if any(c["type"] == "Ready" and c["status"] == "True" for c in n["status"].get("conditions", [])) and not n["spec"].get("taints")]
        return len(ready) == len(NODES) and self.control.has_account()

    def remove_image(self, node, reference):
        """All names of it, and at once what no other image needs."""
        n = self.nodes[node]
        rows = [re.split(r"\s+", line) for line in n.place.run(*n.ctr, "images", "ls").splitlines()[1:]]
        digest = next((r[2] for r in rows if r[0] == reference), None)
        if digest:
            n.place.run(*n.ctr, "images", "rm", "--sync", *(r[0] for r in rows if r[2] == digest))

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        for n in self.nodes.values():
            for program in ("kubelet", "containerd"):
                if program in n.place.programs:
                    n.place.end(program)
            n.place.close()
        if hasattr(self, "control"):
            self.control.stop()
        self.settings.__exit__(None, None, None)
        shutil.rmtree(self.directory, ignore_errors=True)
