# SPDX-License-Identifier: Apache-2.0
"""Random events in a cluster of one of the generators: objects that come, change and go."""
import copy

from nodes import LABELS as NODE_LABELS
from nodes import allocatable, requests, taints, tolerations

POD_LABELS = {"app": ["web", "db", "cache"], "tier": ["front", "back"], "version": ["1", "2"], "color": ["blue", "green"]}
ZONES = ["topology.kubernetes.io/zone", "topology.kubernetes.io/region", "rack"]


def relabel(random, labels, choices):
    for key in random.sample(list(choices), min(2, len(choices))):
        if random.random() < 0.3:
            labels.pop(key, None)
        else:
            labels[key] = random.choice(choices[key])


def change_node(random, node):
    labels = node["metadata"].setdefault("labels", {})
    for what in random.sample(["labels", "zone", "taints", "unschedulable", "allocatable", "conditions", "annotations"], random.randint(1, 2)):
        if what == "labels":
            relabel(random, labels, NODE_LABELS)
        elif what == "zone":
            relabel(random, labels, {key: ["a", "b", "z1", "z2", "r1", "k1"] for key in ZONES})
        elif what == "taints":
            node["spec"]["taints"] = random.choice([[], taints(random), [{"key": "spot", "effect": "NoSchedule"}]])
        elif what == "unschedulable":
            node["spec"]["unschedulable"] = not node["spec"].get("unschedulable", False)
        elif what == "allocatable":
            node["status"]["allocatable"] = dict(node["status"]["allocatable"], **allocatable(random))
        elif what == "conditions":
            node["status"]["conditions"] = [{"type": "Ready", "status": random.choice(["True", "False"])}]
        else:
            node["metadata"]["annotations"] = {"a": random.choice("bcd")}


def change_pod(random, pod):
    for what in random.sample(["labels", "requests", "tolerations", "deleted"], random.randint(1, 2)):
        if what == "labels":
            relabel(random, pod["metadata"].setdefault("labels", {}), POD_LABELS)
        elif what == "requests":
            pod["spec"]["containers"][0]["resources"] = {"requests": requests(random)}
        elif what == "tolerations" and not pod["spec"].get("nodeName"):
            pod["spec"]["tolerations"] = pod["spec"].get("tolerations", []) + (tolerations(random) or [{"operator": "Exists"}])
        elif what == "deleted" and pod["spec"].get("nodeName"):
            pod["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:01Z"


def change_other(random, o):
    kind = o["kind"]
    if kind == "CSINode":
        for driver in o["spec"]["drivers"]:
            driver["allocatable"] = {"count": random.randint(0, 5)}
    elif kind == "CSIStorageCapacity":
        o[random.choice(["capacity", "maximumVolumeSize"])] = random.choice(["1Gi", "3Gi", "20Gi"])
    elif kind == "CSIDriver":
        o["spec"]["storageCapacity"] = not o["spec"].get("storageCapacity", False)
    elif kind == "PersistentVolume":
        relabel(random, o["metadata"].setdefault("labels", {}), {"topology.kubernetes.io/zone": ["a", "b"], "kind": ["fast", "slow"]})
    elif kind == "PersistentVolumeClaim":
        o["status"]["phase"] = random.choice(["Pending", "Bound"])
        if random.random() < 0.5:
            o["metadata"].setdefault("annotations", {})["volume.kubernetes.io/selected-node"] = "n0"
    elif kind == "StorageClass":
        o["allowedTopologies"] = [{"matchLabelExpressions": [{"key": "topology.kubernetes.io/zone", "values": [random.choice("abc")]}]}]


KINDS = ("Node", "Pod", "PersistentVolume", "PersistentVolumeClaim", "StorageClass", "CSINode", "CSIDriver", "CSIStorageCapacity", "VolumeAttachment")


def event(random, question):
    kind = random.choice(sorted({o["kind"] for o in question["objects"] if o["kind"] in KINDS} | {"Node", "Pod"}))
    candidates = [o for o in question["objects"] + question["pods"] if o["kind"] == kind]
    if not candidates:
        return None
    there = random.choice(candidates)
    how = random.random()
    if how < 0.25:
        new = copy.deepcopy(there)
        if kind in ("Node", "Pod"):
            new["metadata"].update(name="new", uid="new")
            (change_node if kind == "Node" else change_pod)(random, new)
        return {"before": None, "after": new}
    if how < 0.45:
        return {"before": there, "after": None}
    new = copy.deepcopy(there)
    {"Node": change_node, "Pod": change_pod}.get(kind, change_other)(random, new)
    return {"before": there, "after": new}


def events(random, question, n=8):
    return [e for e in (event(random, question) for _ in range(n)) if e]
