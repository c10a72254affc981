# SPDX-License-Identifier: Apache-2.0
"""Clusters for the plugins that look at one node at a time: names, taints, labels, ports, resources, images."""
from clusters import config, container, generator, node, pod, some

LABELS = {"zone": ["a", "b", "c"], "disk": ["ssd", "hdd"], "rank": ["1", "5", "07", "12", "x"], "tier": ["", "gold"]}
TAINTS = [("dedicated", "gpu"), ("dedicated", "db"), ("spot", ""), ("node.kubernetes.io/unschedulable", "")]
EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"]
IMAGES = {"registry.example/app:v1": 50 << 20, "registry.example/big:v2": 3000 << 20, "small:latest": 20 << 20,
          "registry.example:5000/mid:latest": 700 << 20, "registry.example/odd:v3": 123456789}
ASKED = ["registry.example/app:v1", "registry.example/big:v2", "small", "registry.example:5000/mid", "registry.example/odd:v3", "unknown:v9"]
EXTENDED = ["example.com/gpu", "example.com/fpga", "other.org/card", "hugepages-2Mi"]
IPS = ["", "0.0.0.0", "127.0.0.1", "10.0.0.1"]


def taints(random):
    ret = []
    for key, value in some(random, TAINTS, 3):
        taint = {"key": key, "effect": random.choice(EFFECTS)}
        if value:
            taint["value"] = value
        ret.append(taint)
    return ret


def tolerations(random):
    ret = []
    for key, value in some(random, TAINTS, 3):
        toleration = {"key": key, "operator": random.choice(["Equal", "Exists"])}
        if toleration["operator"] == "Equal" and random.random() < 0.8:
            toleration["value"] = random.choice([value, "db"])
        if random.random() < 0.7:
            toleration["effect"] = random.choice(EFFECTS)
        ret.append(toleration)
    if random.random() < 0.1:
        ret.append({"operator": "Exists"})
    return ret


def allocatable(random):
    ret = {"cpu": random.choice(["0", "500m", "1", "2", "4", "16", "3750m"]),
           "memory": random.choice(["0", "500Mi", "1Gi", "4Gi", "16000000k", "7654321098"]),
           "pods": random.choice(["0", "1", "3", "110", "110", "110"])}
    if random.random() < 0.5:
        ret["ephemeral-storage"] = random.choice(["1Gi", "10Gi", "100Gi"])
    for name in some(random, EXTENDED, 2):
        ret[name] = random.choice(["0", "1", "2", "8"]) if "huge" not in name else random.choice(["0", "100Mi", "2Gi"])
    return ret


def requests(random):
    ret = {}
    if random.random() < 0.7:
        ret["cpu"] = random.choice(["0", "1m", "100m", "250m", "333m", "1", "2500m", "100"])
    if random.random() < 0.7:
        ret["memory"] = random.choice(["0", "1", "64Mi", "200M", "1Gi", "3333333333", "1Ti"])
    if random.random() < 0.2:
        ret["ephemeral-storage"] = random.choice(["1", "100Mi", "5Gi", "500Gi"])
    if random.random() < 0.2:
        name = random.choice(EXTENDED)
        ret[name] = random.choice(["0", "1", "2", "9"]) if "huge" not in name else random.choice(["2Mi", "1Gi", "4Gi"])
    return ret


def ports(random):
    ret = []
    if random.random() < 0.3:
        for number in some(random, [80, 443, 8080], 2):
            port = {"containerPort": number, "protocol": random.choice(["TCP", "TCP", "UDP"])}
            if random.random() < 0.8:
                port["hostPort"] = number
                ip = random.choice(IPS)
                if ip:
                    port["hostIP"] = ip
            ret.append(port)
    return ret


def containers(random, prefix, most=3, least=1):
    return [container(f"{prefix}{i}", random.choice(ASKED), requests(random), ports(random)) for i in range(random.randint(least, most))]


def requirement(random):
    key = random.choice(list(LABELS) + ["missing"])
    op = random.choice(["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"])
    ret = {"key": key, "operator": op}
    if op in ("In", "NotIn"):
        ret["values"] = some(random, LABELS.get(key, ["y"])) or ["a"]
    elif op in ("Gt", "Lt"):
        ret["values"] = [random.choice(["1", "5", "0", "11"])]
    return ret


def term(random, names):
    ret = {}
    if random.random() < 0.8:
        ret["matchExpressions"] = [requirement(random) for _ in range(random.randint(0, 2))]
    if random.random() < 0.25:
        ret["matchFields"] = [{"key": "metadata.name", "operator": random.choice(["In", "In", "NotIn"]), "values": [random.choice(names)]}
                              for _ in range(random.randint(1, 2))]
    return ret


def node_affinity(random, names):
    ret = {}
    if random.random() < 0.6:
        ret["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": [term(random, names) for _ in range(random.randint(1, 3))]}
    if random.random() < 0.7:
        ret["preferredDuringSchedulingIgnoredDuringExecution"] = [{"weight": random.choice([1, 7, 50, 100]), "preference": term(random, names)}
                                                                  for _ in range(random.randint(1, 4))]
    return ret


def random_nodes(random, least=2, most=12):
    sizes = dict(IMAGES)
    ret = []
    for i in range(random.randint(least, most)):
        labels = {key: random.choice(values) for key, values in LABELS.items() if random.random() < 0.6}
        images = [{"names": [name] + ([name.split(":")[0] + "@sha256:" + "0" * 64] if random.random() < 0.3 else []), "sizeBytes": sizes[name]}
                  for name in some(random, IMAGES)]
        ret.append(node(f"n{i}", allocatable(random), labels, taints(random) if random.random() < 0.4 else (), random.random() < 0.1, images))
    return ret


def random_pod(random, name, names, node_name=None):
    spec = {}
    if random.random() < 0.4:
        spec["initContainers"] = containers(random, "init", 2)
        for c in spec["initContainers"]:
            if random.random() < 0.3:
                c["restartPolicy"] = "Always"
    if random.random() < 0.2:
        spec["overhead"] = {"cpu": "10m", "memory": "30Mi"}
    if random.random() < 0.1:
        spec["resources"] = {"requests": {k: v for k, v in requests(random).items() if k in ("cpu", "memory")}}
    if random.random() < 0.1:
        spec["volumes"] = [{"name": "v", "image": {"reference": random.choice(ASKED), "pullPolicy": "IfNotPresent"}}]
    if not node_name:
        if random.random() < 0.3:
            spec["tolerations"] = tolerations(random)
        if random.random() < 0.2:
            spec["nodeSelector"] = {key: random.choice(LABELS[key]) for key in some(random, LABELS, 2)}
        if random.random() < 0.4:
            spec["affinity"] = {"nodeAffinity": node_affinity(random, names)}
    return pod(name, containers(random, "c"), node_name=node_name, **spec)


def random_config(random, names):
    args = []
    if random.random() < 0.5:
        resources = [{"name": name, "weight": random.choice([1, 2, 5, 100])} for name in
                     some(random, ["cpu", "memory", "ephemeral-storage"] + EXTENDED[:2])] or [{"name": "cpu", "weight": 3}]
        strategy = {"type": random.choice(["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"]), "resources": resources}
        if strategy["type"] == "RequestedToCapacityRatio":
            points = sorted(random.sample(range(0, 101), random.randint(1, 4)))
            strategy["requestedToCapacityRatio"] = {"shape": [{"utilization": p, "score": random.randint(0, 10)} for p in points]}
        fit = {"scoringStrategy": strategy}
        if random.random() < 0.4:
            fit["ignoredResources"] = some(random, EXTENDED[:3])
        if random.random() < 0.3:
            fit["ignoredResourceGroups"] = [random.choice(["example.com", "other.org"])]
        args.append(("NodeResourcesFit", fit))
    if random.random() < 0.3:
        args.append(("NodeResourcesBalancedAllocation", {"resources": [{"name": name, "weight": 1} for name in
                                                                       some(random, ["cpu", "memory", "ephemeral-storage"] + EXTENDED[:2]) or ["memory"]]}))
    if random.random() < 0.3:
        added = node_affinity(random, names)
        if added:
            args.append(("NodeAffinity", {"addedAffinity": added}))
    return config(args) if args else None


@generator("nodes")
def nodes(random):
    objects = random_nodes(random)
    names = [o["metadata"]["name"] for o in objects]
    bound = [random_pod(random, f"bound{i}", names, random.choice(names)) for i in range(random.randint(0, 15))]
    pods = [random_pod(random, f"p{i}", names + ["gone"]) for i in range(random.randint(1, 5))]
    return {"config": random_config(random, names), "objects": objects + bound, "pods": pods}


def roomy_node(random, name):
    """One that refuses little, so that there is something to score."""
    size = {"cpu": random.choice(["4", "7", "16", "64"]), "memory": random.choice(["8Gi", "15Gi", "33333333333"]), "pods": "110",
            "ephemeral-storage": random.choice(["50Gi", "100Gi"])}
    for extended in some(random, EXTENDED, 3):
        size[extended] = random.choice(["4", "8"]) if "huge" not in extended else "2Gi"
    labels = {key: random.choice(values) for key, values in LABELS.items() if random.random() < 0.7}
    images = [{"names": [image], "sizeBytes": IMAGES[image]} for image in some(random, IMAGES)]
    unwelcome = [dict(taint, effect="PreferNoSchedule") for taint in taints(random)]
    return node(name, size, labels, {t["key"]: t for t in unwelcome}.values(), False, images)


def modest(random, c):
    c.pop("ports", None)
    c["resources"] = {"requests": {k: v for k, v in {"cpu": random.choice(["10m", "125m", "700m"]), "memory": random.choice(["1Mi", "99M", "1Gi"]),
                                                     "ephemeral-storage": "1Gi", "example.com/gpu": "1"}.items() if random.random() < 0.5}}
    return c


@generator("scores")
def scores(random):
    objects = [roomy_node(random, f"n{i}") for i in range(random.randint(2, 12))]
    names = [o["metadata"]["name"] for o in objects]
    pods = [random_pod(random, f"bound{i}", names, random.choice(names)) for i in range(random.randint(0, 15))]
    pods += [random_pod(random, f"p{i}", names) for i in range(random.randint(1, 5))]
    for p in pods:
        spec = p["spec"]
        spec["containers"] = [modest(random, c) for c in spec["containers"]]
        spec["initContainers"] = [modest(random, c) for c in spec.get("initContainers", [])]
        spec.pop("nodeSelector", None)
        if "nodeAffinity" in spec.get("affinity", {}):
            spec["affinity"]["nodeAffinity"].pop("requiredDuringSchedulingIgnoredDuringExecution", None)
    given = random_config(random, names)
    for plugin in given["profiles"][0]["pluginConfig"] if given else []:
        plugin["args"].get("addedAffinity", {}).pop("requiredDuringSchedulingIgnoredDuringExecution", None)
    return {"config": given, "objects": objects + [p for p in pods if "nodeName" in p["spec"]],
            "pods": [p for p in pods if "nodeName" not in p["spec"]]}
