# SPDX-License-Identifier: Apache-2.0
"""A cluster of one machine whose node runs pods, with an image of busybox in its store."""
import json
import os
import pathlib
import shutil
import subprocess
import time

import pytest

from conftest import BUILD, DEADLINE_S, Server, wait_for
from image_kit import Layout, layer, programs

PODS = "/api/v1/namespaces/default/pods"
IMAGE = "busybox:test"


def can_run_pods():
    return os.geteuid() == 0 and bool(shutil.which("crun") or shutil.which("runc")) and bool(shutil.which("busybox"))


needs_pods = pytest.mark.skipif(not can_run_pods(), reason="pods need root, crun or runc, and busybox")

COMMANDS = ("sh", "sleep", "cat", "echo", "env", "id", "ls", "hostname", "true", "false", "test", "touch", "wget", "httpd", "nc", "mount", "kill",
            "dd", "mkdir", "stat", "grep", "sort", "head", "readlink", "date", "seq", "ps", "rm", "cp", "ln", "printf", "nsenter", "sysctl", "chmod",
            "mkfifo", "chown", "wc", "ip", "tail", "tr", "df", "ping", "usleep", "tar", "du")


def busybox_archive(directory):
    """An OCI layout with the image `busybox:test`."""
    entries = programs("busybox")
    entries += [(f"bin/{name}", "l", "busybox") for name in COMMANDS]
    entries += [("etc/passwd", "f", b"root:x:0:0:root:/root:/bin/sh\napp:x:1000:1000::/home:/bin/sh\n"),
                ("etc/group", "f", b"root:x:0:\napp:x:1000:\nextra:x:2000:app\n"), ("tmp", "d", b"", {"mode": 0o1777})]
    layout = Layout(directory)
    layout.image(IMAGE, [layer(entries)], run={"Env": ["PATH=/bin"], "Cmd": ["sh"]})
    return layout


def make_store(directory):
    """A store of images with busybox:test, for --image-store."""
    busybox_archive(directory / "layout")
    done = subprocess.run([BUILD / "dormouse", "image", "pull", f"oci:{directory}/layout:{IMAGE}", "--name", f"docker.io/library/{IMAGE}",
                           "--store", directory / "store"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return directory / "store"


@pytest.fixture(scope="session")
def store(tmp_path_factory):
    return make_store(tmp_path_factory.mktemp("images"))


@pytest.fixture(scope="module")
def cluster(tmp_path_factory, store):
    """One for all tests of a file: each of them has pods of its own names."""
    up = Cluster(tmp_path_factory.mktemp("pods") / "data", store)
    yield up
    up.clear()
    assert up.stop() == 0


class Cluster(Server):
    COMMAND = "up"

    def __init__(self, data_dir, store, *extra, wait=True):
        self.store, self.more = store, extra
        self.log_dir = pathlib.Path(str(data_dir) + ".pods")
        super().__init__(data_dir, extra=("--gateway", "none", "--agent", "--image-store", str(store), "--pod-log-dir", str(self.log_dir), *extra), wait=wait)

    def again(self):
        """Another process on the same data."""
        return Cluster(self.data_dir, self.store, *self.more)


    def run(self, name, command=("sleep", "100000"), containers=None, **spec):
        containers = containers or [{"name": "a", "image": IMAGE, "command": list(command)}]
        for c in containers + spec.get("initContainers", []):
            c.setdefault("image", IMAGE)
            c.setdefault("imagePullPolicy", "IfNotPresent")
        meta = {"name": name, "annotations": spec.pop("annotations", {}), "labels": spec.pop("labels", {})}
        spec.setdefault("terminationGracePeriodSeconds", 2)
        return self.create(PODS, {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {"containers": containers, **spec}})

    def pod(self, name):
        answer = self.get(f"{PODS}/{name}")
        return answer.json() if answer.status == 200 else None

    def wait(self, name, condition, what=""):
        """The pod, once the condition holds; else the last state in the failure."""
        last = None

        def check():
            nonlocal last
            last = self.pod(name)
            return last is not None and condition(last)
        try:
            wait_for(check, what or name)
        except Exception as e:
            raise AssertionError(f"{name}: {what}\n{json.dumps(last and last.get('status'), indent=1)}\n{self.text_of_log()[-3000:]}") from e
        return last

    def wait_phase(self, name, phase):
        return self.wait(name, lambda p: p["status"].get("phase") == phase, phase)

    def wait_ready(self_, name=None):  # noqa: N805 - also that of Server, without a name
        if name is None:
            return Server.wait_ready(self_)
        return self_.wait(name, is_ready, "ready")

    def wait_gone(self, name):
        wait_for(lambda: self.pod(name) is None, f"{name} is gone")

    def delete(self, name, **options):
        answer = self.ask("DELETE", f"{PODS}/{name}", options or None)
        assert answer.status in (200, 202), answer.body

    def log_of(self, pod, container="a", restart=0):
        """The lines that the container has printed."""
        meta = pod["metadata"]
        path = self.log_dir / f"{meta['namespace']}_{meta['name']}_{meta['uid']}" / container / f"{restart}.log"
        return [line.split(" ", 3)[3] for line in path.read_text().splitlines()] if path.exists() else []

    def pid_of(self, pod, container="a"):
        """Of the container's program, as this machine numbers it: by what its runtime has written."""
        ident = status_of(pod, container)["containerID"].removeprefix("dormouse://")
        for path in pathlib.Path("/run").glob(f"dormouse-pod-*/{ident}/pid"):
            return int(path.read_text())
        return None

    def sh(self, name, text, container="a", check=True):
        """What a shell in the container prints."""
        return self.kubectl("exec", name, "-c", container, "--", "sh", "-c", text, check=check).stdout

    def put(self, kind, name, method="POST", **members):
        """A ConfigMap or Secret."""
        body = {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, **members}
        path = f"/api/v1/namespaces/default/{kind.lower()}s"
        answer = self.ask(method, path if method == "POST" else f"{path}/{name}", body)
        assert answer.status in (200, 201), answer.body

    def patch(self, path, body, kind="merge-patch"):
        answer = self.ask("PATCH", path, body, Content_Type=f"application/{kind}+json")
        assert answer.status == 200, answer.body
        return answer.json()

    def reasons(self, name):
        """Of the events of the pod."""
        items = self.get(f"/api/v1/namespaces/default/events?fieldSelector=involvedObject.name%3D{name}").json()["items"]
        return [e["reason"] for e in items]

    def wait_reason(self, name, reason):
        wait_for(lambda: reason in self.reasons(name), f"{reason}: {self.reasons(name)}")

    def root_of(self, pod, container="a"):
        """The files of a container that runs."""
        return pathlib.Path(f"/proc/{self.pid_of(pod, container)}/root")

    def run_dirs(self):
        """Where the agent and its containers have what is in memory: named by a hash of the data directory."""
        ends = {p.parts[2].rsplit("-", 1)[1] for p in pathlib.Path("/run").glob("dormouse-agent-*/pods/*.json")
                if (self.data_dir / "agent/pods" / p.stem).exists()}
        return [p for p in pathlib.Path("/run").glob("dormouse-*-*") if p.name.rsplit("-", 1)[1] in ends]

    def run_dir(self):
        """Of the containers."""
        return next((p for p in self.run_dirs() if p.name.startswith("dormouse-pod-")), "none")

    def clear(self):
        """No pod and nothing of one is left."""
        for item in self.get(PODS).json()["items"]:
            self.delete(item["metadata"]["name"], gracePeriodSeconds=0)
        wait_for(lambda: not self.get(PODS).json()["items"], "no pod is left")
        wait_for(lambda: not os.listdir(self.data_dir / "agent/pods"), "no directory of a pod is left")


def status_of(pod, container="a"):
    status = pod["status"]
    for kind in ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"):
        for one in status.get(kind, []):
            if one["name"] == container:
                return one
    return {}


def state_of(pod, container="a"):
    """("running", {...})"""
    state = status_of(pod, container).get("state", {})
    return next(iter(state.items()), (None, {}))


def condition_of(pod, kind):
    return next((c["status"] for c in pod["status"].get("conditions", []) if c["type"] == kind), None)


def is_ready(pod):
    return condition_of(pod, "Ready") == "True"
