# SPDX-License-Identifier: Apache-2.0
"""Random clusters for the differential test of plugins. A generator is a function of a random.Random that returns
{"config": KubeSchedulerConfiguration or None, "objects": [...], "pods": [...]}: what is there, and the pods that are
judged, each by itself. It registers itself with @generator("name"); a file of generators is named in ALL_FILES.

Objects stand as an API server would give them out: with namespaces, uids, and what it fills in."""
import importlib

ALL_FILES = ["declared", "nodes", "mixed", "topology", "volumes"]
GENERATORS = {}


def generator(name):
    def add(function):
        GENERATORS[name] = function
        return function
    return add


def load():
    for file in ALL_FILES:
        importlib.import_module(file)
    return GENERATORS


def config(plugin_config=(), plugins=None):
    profile = {"schedulerName": "default-scheduler",
               "pluginConfig": [{"name": name, "args": dict(args, apiVersion="kubescheduler.config.k8s.io/v1", kind=name + "Args")}
                                for name, args in plugin_config]}
    if plugins:
        profile["plugins"] = plugins
    return {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "profiles": [profile]}


def node(name, allocatable, labels=None, taints=(), unschedulable=False, images=()):
    ret = {"apiVersion": "v1", "kind": "Node",
           "metadata": {"name": name, "uid": "node-" + name, "labels": dict({"kubernetes.io/hostname": name}, **(labels or {}))},
           "spec": {}, "status": {"allocatable": allocatable, "capacity": allocatable}}
    if taints:
        ret["spec"]["taints"] = list(taints)
    if unschedulable:
        ret["spec"]["unschedulable"] = True
    if images:
        ret["status"]["images"] = list(images)
    return ret


def pod(name, containers, namespace="default", labels=None, node_name=None, **spec):
    spec = dict({"containers": containers, "schedulerName": "default-scheduler", "priority": 0,
                 "enableServiceLinks": True, "restartPolicy": "Always"}, **spec)
    if node_name:
        spec["nodeName"] = node_name
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": namespace, "uid": f"pod-{namespace}-{name}", "labels": labels or {},
                         "creationTimestamp": "2026-01-01T00:00:00Z"},
            "spec": spec, "status": {"phase": "Running" if node_name else "Pending"}}


def container(name, image="registry.example/app:v1", requests=None, ports=(), **more):
    ret = dict({"name": name, "image": image}, **more)
    if requests:
        ret["resources"] = {"requests": requests}
    if ports:
        ret["ports"] = list(ports)
    return ret


def some(random, items, most=None):
    """Any of them, each once."""
    items = list(items)
    return random.sample(items, random.randint(0, min(len(items), most if most is not None else len(items))))
