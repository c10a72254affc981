# SPDX-License-Identifier: Apache-2.0
"""A cluster whose nodes report what they hold of an image, and the registry that has it."""
import base64
import json
import os
import subprocess

from conftest import BUILD, DEADLINE_S, ROOT
from image_kit import Layout, digest, layer
from registry_kit import Fake
from serve_kit import Node

STATES = "/apis/dormouse.dev/v1alpha1/nodeimagestates"
LAYERS = [layer([("base", "f", os.urandom(3_000_000))]), layer([("app", "f", b"version 1\n")])]


class Cluster:
    """An API server, a registry with an image, and nodes that report with credentials of their own."""

    def __init__(self, api, directory):
        self.api, self.directory, self.nodes = api, directory, {}
        if api.COMMAND != "up":  # which has it
            api.kubectl("apply", "-f", ROOT / "src/sched/object/node_image_state_crd.json")
        api.kubectl("wait", "--for=condition=Established", "crd/nodeimagestates.dormouse.dev", "--timeout=10s")
        layout = Layout(directory / "app")
        layout.image("v1", LAYERS)
        self.registry = Fake()
        self.doc = self.registry.add_layout(layout, "library/app", "v1")
        self.name = f"{self.registry.host}/library/app:v1"

    def kubeconfig(self, name):
        path = self.directory / f"{name}.kubeconfig"
        if not path.exists():
            subprocess.run([BUILD / "dormouse", "kubeconfig", "--data-dir", self.api.data_dir, "--node", name, "-o", path], check=True)
        return path

    def start(self, name, credentials=None, args=()):
        self.nodes[name] = Node(self.directory, name, "--report", "--kubeconfig", self.kubeconfig(credentials or name),
                                "--upstream", self.registry.host, *args)
        return self.nodes[name]

    def state(self, name):
        items = {v["metadata"]["name"]: v["spec"] for v in self.api.get(STATES).json()["items"]}
        return items.get(name)

    def has(self, name):
        """How many layers of the image the node says that it has."""
        state = self.state(name)
        held = base64.b64decode(state["layers"]["prefixes"]) if state else b""
        held = {held[i:i + 6] for i in range(0, len(held), 6)}
        return sum(bytes.fromhex(digest(tar)[7:19]) in held for tar in LAYERS)

    def pull(self, name):
        node = self.nodes[name]
        assert node.get(f"/v2/library/app/manifests/v1?ns={self.registry.host}")[0] == 200
        for d in self.doc["layers"]:
            assert node.get(f"/v2/library/app/blobs/{d['digest']}?ns={self.registry.host}")[0] == 200

    def try_plan(self, image, *args):
        return subprocess.run([BUILD / "dormouse", "image", "plan", "--image", image, "--kubeconfig", self.api.kubeconfig, "-o", "json", *args],
                              capture_output=True, text=True, timeout=DEADLINE_S)

    def plan(self, *args):
        done = self.try_plan(f"docker://{self.name}", *args)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def close(self):
        for node in self.nodes.values():
            node.stop()
        self.registry.close()
