# SPDX-License-Identifier: Apache-2.0
"""ABI v1 end to end: guests that declare, reconcile, read, write and break rules, on the real host (docs/guest-abi.md)."""
import json
import re

import pytest

from conftest import wait_for
from guest_kit import make_namespaces
from operators import Hosting
from test_guests import Host

MERGE = "application/merge-patch+json"


class V1(Host, Hosting):
    """A host whose operators run test/guests/script.c: what it says are lines of the log."""

    def scripted(self, name, declaration, **env):
        if declaration is not None:
            env["DECLARE"] = json.dumps(declaration)
        return self.add(name, "script-v1", **env)

    def said(self, name, what=None):
        found = re.findall(rf'guest operator=operators/{name} line="probe (.*)"$', self.text_of_log(), re.M)
        texts = [re.sub(r"\\(.)", r"\1", line) for line in found]
        return texts if what is None else [t[len(what) + 1:] for t in texts if t.split(" ", 1)[0] == what]

    def acts(self, name):
        """The activations, without their objects."""
        found = []
        for text in self.said(name, "act"):
            text = re.sub(r',"object":\{$', "", text)
            found.append(json.loads(text if text.endswith("}") else text + "}"))
        return found

    def keys(self, name):
        return [f"{a['namespace']}/{a['name']}" for a in self.acts(name)]

    def values(self, name, what):
        """(value, result) of each call that parked."""
        pairs = [text.split(" ", 1) for text in self.said(name, what)]
        return [(int(p[0]), p[1] if len(p) > 1 else "") for p in pairs]

    def put(self, namespace, name, do="", labels=None, annotations=None, kind="configmaps", **data):
        path = f"/api/v1/namespaces/{namespace}/{kind}"
        body = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"do": do, **data},
                "metadata": {"name": name, "labels": labels or {}, "annotations": annotations or {}}}
        if self.get(f"{path}/{name}").status == 404:
            return self.create(path, body)
        answer = self.ask("PATCH", f"{path}/{name}", body, Content_Type=MERGE)
        assert answer.status == 200, answer.body
        return answer.json()

    def drop(self, namespace, name, kind="configmaps"):
        assert self.ask("DELETE", f"/api/v1/namespaces/{namespace}/{kind}/{name}").status == 200

    def log_has(self, text):
        wait_for(lambda: text in self.text_of_log(), f"the log says '{text}'")


def watch(ident, namespace=None, **more):
    w = {"id": ident, "apiVersion": "v1", "kind": "ConfigMap", **more}
    if namespace:
        w["namespaces"] = [namespace]
    return w


def declaration(primary, owns=(), watches=(), **more):
    controller = {"name": "c", "for": primary, "owns": list(owns), "watches": list(watches)}
    for key in ("backoff", "rate", "resyncSeconds", "slackPercent", "concurrency"):
        if key in more:
            controller[key] = more.pop(key)
    return {"abi": 1, "controllers": [controller], **more}


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    host = V1(tmp_path_factory.mktemp("v1"), "--idle", "100ms")
    yield host
    assert host.stop() == 0


@pytest.fixture
def space(host, request):
    """A namespace for this test alone."""
    name = re.sub(r"[^a-z0-9]+", "-", request.node.name.lower())[5:55].strip("-")
    make_namespaces(host, name)
    return name


def test_the_smallest_operator_greets(host, space):
    host.add("hello-v1", "hello-v1")
    maps = f"/api/v1/namespaces/{space}/configmaps"
    host.create(maps, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "labels": {"hello": "please"}}})
    greeting = lambda: host.get(f"{maps}/a").json().get("data", {}).get("greeting")  # noqa: E731
    wait_for(lambda: greeting() == "Hello, a!", "a greeting")
    wait_for(lambda: host.is_asleep("hello-v1"), "it sleeps")
    host.ask("PATCH", f"{maps}/a", {"data": {"greeting": "go away"}}, Content_Type=MERGE)
    wait_for(lambda: greeting() == "Hello, a!", "another one")
    host.remove("hello-v1")


def test_one_config_map_is_reconciled_into_another(host, space):
    """The primary's object comes with the activation; what is written is an ordinary request."""
    body = json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "copy"}, "data": {"k": "v"}})
    host.put(space, "source", f"api POST /api/v1/namespaces/{space}/configmaps application/json {body}")
    host.scripted("copier", declaration(watch("maps", space, name="source")))
    wait_for(lambda: host.get(f"/api/v1/namespaces/{space}/configmaps/copy").status == 200, "the copy")
    copy = host.get(f"/api/v1/namespaces/{space}/configmaps/copy").json()
    assert copy["data"] == {"k": "v"}
    assert copy["metadata"]["managedFields"][0]["manager"] == "copier"
    wait_for(lambda: host.values("copier", "api"), "its answer")
    assert host.values("copier", "api")[0][0] == 201
    assert host.acts("copier")[0] == {"type": "reconcile", "controller": "c", "namespace": space, "name": "source",
                                      "reasons": ["initial"], "attempt": 0}
    wait_for(lambda: host.is_asleep("copier"), "it sleeps")
    host.remove("copier")
