# SPDX-License-Identifier: Apache-2.0
"""Talking to scheduler plugins through `dormouse scheduler call`; used by tests of plugins."""
import json
import subprocess

from conftest import BUILD

INT_MIN, INT_MAX = -(2**31), 2**31 - 1
UID = "384900cd-dc7b-41ec-837e-9c4c1762363e"


def pod(name="good-pod", uid=UID, namespace="test", node="good-node", **spec):
    if node:
        spec["nodeName"] = node
    return {"metadata": {"name": name, "namespace": namespace, "uid": uid}, "spec": spec}


def node(name="good-node"):
    return {"metadata": {"name": name}}


POD_SMALL = pod()
POD_FOR_HANDLE = pod("handle-pod", "handle-test")
NODE_SMALL = node()


class Plugin:
    """One plugin; use with `with`. `loaded` is the answer to the first line."""

    def __init__(self, data_dir, module, *options, **first):
        self.process = subprocess.Popen([BUILD / "dormouse", "scheduler", "call", "--data-dir", data_dir, *options],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True)
        self.loaded = self.ask({"module": str(module), **first})

    def __enter__(self):
        return self

    def __exit__(self, *why):
        self.process.stdin.close()
        self.process.stdout.close()
        err = self.process.stderr.read()
        self.process.stderr.close()
        status = self.process.wait(60)
        if why[0] is None:
            assert status == 0, err

    def ask(self, line):
        self.process.stdin.write((line if isinstance(line, str) else json.dumps(line)) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer, "no answer: " + self.process.stderr.read()
        return json.loads(answer)

    def __call__(self, hook, **members):
        return self.ask({"hook": hook, **members})

    def memory_kib(self):
        """Resident memory of the process."""
        with open(f"/proc/{self.process.pid}/status") as f:
            return next(int(line.split()[1]) for line in f if line.startswith("VmRSS"))


def trapped(hook, frame, output="panic!\n", kind="unreachable"):
    """The text of a trap. The output of a guest is followed by a newline of its own."""
    return f"wasm: {hook} error: {output}wasm error: {kind}\nwasm stack trace:\n\t{frame}"


RUN_ALL = ["enqueue", "prefilter", "filter", "postfilter", "addpod", "removepod", "prescore", "score",
           "normalizescore", "reserve", "unreserve", "permit", "prebind", "bind", "postbind", "addpod", "removepod"]
POINT = {"filter": "filter", "postfilter": "filter", "addpod": "filter", "removepod": "filter", "prescore": "score",
         "score": "score", "normalizescore": "score", "reserve": "reserve", "unreserve": "reserve",
         "permit": "permit", "prebind": "bind", "bind": "bind", "postbind": "bind"}


def run_all(plugin, a_pod, node_name):
    """Every hook that the plugin exposes, as upstream's tests run them; the answers by hook."""
    answers = {}
    for hook in RUN_ALL:
        if hook in POINT and POINT[hook] not in plugin.loaded["points"]:
            continue
        name = "" if hook in ("prebind", "bind", "postbind") else node_name
        target = {"target": a_pod} if hook in ("addpod", "removepod") else {}
        answers[hook] = plugin(hook, pod=a_pod, node=name, **target)
    return answers
