# SPDX-License-Identifier: Apache-2.0
"""A cluster of `dormouse up` and machines that joined it, which give each other the images of pods, and the registry of these."""
import base64
import json
import os
import pathlib
import signal
import subprocess

from conftest import BUILD, DEADLINE_S, Server, wait_for
from image_kit import Layout, digest, layer, programs
from registry_kit import Fake

NODES = "/api/v1/nodes"
PODS = "/api/v1/namespaces/default/pods"
STATES = "/apis/dormouse.dev/v1alpha1/nodeimagestates"
HERE = ("--node-network", "127.0.0.0/8")


def create_token(server):
    done = subprocess.run([BUILD / "dormouse", "token", "create", "--kubeconfig", server.kubeconfig], capture_output=True, text=True, check=True)
    token = next(word for word in done.stdout.split() if len(word) == 23 and word[6] == ".")
    info = "/api/v1/namespaces/kube-public/configmaps/cluster-info"
    wait_for(lambda: "jws-kubeconfig-" + token[:6] in (server.get(info).json().get("data") or {}), "the token signs cluster-info")
    return token


def base_layer():
    return layer([*programs("busybox"), ("bin/sh", "l", "busybox"), ("bin/sleep", "l", "busybox"), ("bin/cat", "l", "busybox")])


class Joined:
    """A running `dormouse join`, whose pods have the network of the machine."""

    def __init__(self, cluster, name, *args, prefix=()):
        self.name, self.directory = name, cluster.directory / name
        self.log_path = cluster.directory / f"{name}.log"
        self.log = open(self.log_path, "ab")
        env = {k: v for k, v in os.environ.items() if k not in ("KUBECONFIG", "DORMOUSE_JOIN_TOKEN", "DORMOUSE_IMAGE_STORE")}
        self.process = subprocess.Popen(
            [*prefix, BUILD / "dormouse", "join", cluster.up.url, "--token", cluster.token, "--data-dir", self.directory, "--node-name", name,
             "--agent-listen", "0.0.0.0:0", "--pod-log-dir", cluster.directory / f"{name}.pods", "--image-registry", cluster.registry.host, *args],
            stdout=subprocess.PIPE, stderr=self.log, text=True, env=env)
        line = self.process.stdout.readline()
        assert line.startswith("ready "), self.text()

    def text(self):
        return self.log_path.read_text()

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(DEADLINE_S)
        self.process.stdout.close()
        self.log.close()
        return status


class Cluster:
    def __init__(self, directory, *args, shares=("--share-images", *HERE)):
        self.directory, self.nodes = pathlib.Path(directory), {}
        self.directory.mkdir(exist_ok=True)
        self.registry = Fake()
        self.up = Up(self.directory / "up", *shares, "--image-registry", self.registry.host, *args)
        self.token = create_token(self.up)

    def add_image(self, name, *layers):
        """An image of the registry with busybox below these layers; its full name."""
        layout = Layout(self.directory / f"layout-{name}")
        tars = [self.base(), *layers]
        layout.image("v1", tars, run={"Env": ["PATH=/bin"], "Cmd": ["sleep", "100000"]})
        doc = self.registry.add_layout(layout, f"library/{name}", "v1")
        self.images = getattr(self, "images", {})
        self.images[name] = (tars, doc)
        return f"{self.registry.host}/library/{name}:v1"

    def base(self):
        if not hasattr(self, "_base"):
            self._base = base_layer()
        return self._base

    def join(self, name, *args, **more):
        self.nodes[name] = Joined(self, name, *args, **more)
        return self.nodes[name]

    def share(self, name, *args, **more):
        """A node that gives its images to others: in a cluster that does so it needs no more than an address."""
        node = self.join(name, "--image-listen", "127.0.0.1:0", *args, **more)
        wait_for(lambda: self.state(name), f"{name} to report its images")
        return node

    def run(self, name, node, image, policy="IfNotPresent", **spec):
        self.up.create(PODS, {"metadata": {"name": name}, "spec": {
            "hostNetwork": True, "terminationGracePeriodSeconds": 1, "nodeSelector": {"kubernetes.io/hostname": node} if node else {},
            "containers": [{"name": "c", "image": image, "imagePullPolicy": policy}], **spec}})

    def pod(self, name):
        return self.up.get(f"{PODS}/{name}").json()

    def wait_running(self, name):
        def status():
            return self.pod(name).get("status", {})
        try:
            wait_for(lambda: status().get("phase") == "Running" and all(c["ready"] for c in status().get("containerStatuses", [{"ready": False}])), f"{name} to run")
        except Exception as e:
            raise AssertionError(f"{status()}\n{self.up.text_of_log()[-3000:]}\n" + "\n".join(n.text()[-3000:] for n in self.nodes.values())) from e
        return self.pod(name)

    def delete(self, name):
        self.up.ask("DELETE", f"{PODS}/{name}")
        wait_for(lambda: self.up.get(f"{PODS}/{name}").status == 404, f"{name} to be gone")

    def explain(self, pod):
        done = subprocess.run([BUILD / "dormouse", "scheduler", "explain", pod, "--data-dir", self.up.data_dir, "-o", "json"],
                              capture_output=True, text=True, timeout=DEADLINE_S)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def state(self, name):
        answer = self.up.get(f"{STATES}/{name}")
        return answer.json()["spec"] if answer.status == 200 else None

    def has(self, node, image):
        """How many layers of the image the node says that it has."""
        state = self.state(node)
        held = base64.b64decode(state["layers"]["prefixes"]) if state else b""
        held = {held[i:i + 6] for i in range(0, len(held), 6)}
        return sum(bytes.fromhex(digest(tar)[7:19]) in held for tar in self.images[image][0])

    def fetched(self, image, since=0):
        """Layers of the image that the registry was asked for."""
        blobs = {d["digest"] for d in self.images[image][1]["layers"]}
        return [p for p in self.registry.paths("GET")[since:] if any(p.endswith(b) for b in blobs)]

    def close(self):
        for item in self.up.get(PODS).json()["items"]:
            self.up.ask("DELETE", f"{PODS}/{item['metadata']['name']}")  # its node ends it first
        wait_for(lambda: not self.up.get(PODS).json()["items"], "no pod is left")
        stopped = {name: node.stop() for name, node in self.nodes.items()}
        assert self.up.stop() == 0
        self.registry.close()
        assert not any(stopped.values()), stopped
        assert f" {self.directory}/" not in pathlib.Path("/proc/mounts").read_text(), "an image without a user stays mounted"


class Up(Server):
    COMMAND = "up"

    def __init__(self, data_dir, *extra):
        super().__init__(data_dir, extra=("--gateway", "none", "--log-level", "debug", *map(str, extra)))
