# SPDX-License-Identifier: Apache-2.0
"""Clusters for PodTopologySpread and InterPodAffinity: pods that are to be near, apart or spread, by labels of nodes."""
from clusters import config, container, generator, node, pod, some

ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
KEYS = [ZONE, HOST, "rack", ZONE, HOST]
NAMESPACES = ["default", "blue", "green", "unknown"]


def cluster(random, most=9):
    ret = []
    for i in range(random.randint(1, most)):
        labels = {"disk": random.choice(["ssd", "hdd"])} if random.random() < 0.7 else {}
        if random.random() < 0.85:
            labels[ZONE] = random.choice(["z1", "z2", "z3", "z1", "z2", "z3", ""])
        if random.random() < 0.6:
            labels["rack"] = random.choice(["r1", "r2", "r3", "r4"])
        taints = [{"key": random.choice(["gpu", "old"]), "effect": random.choice(["NoSchedule", "NoExecute", "PreferNoSchedule"])}] \
            if random.random() < 0.25 else ()
        made = node(f"n{i}", {"cpu": "64", "memory": "64Gi", "pods": "110"}, labels, taints, random.random() < 0.05)
        if random.random() < 0.1:
            del made["metadata"]["labels"][HOST]
        ret.append(made)
    return ret


def namespaces(random):
    return [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "uid": "ns-" + name, "labels": dict(
        {"kubernetes.io/metadata.name": name}, **({"team": random.choice(["one", "two"])} if random.random() < 0.7 else {}))}}
        for name in NAMESPACES if name != "unknown" and random.random() < 0.9]


def labels(random):
    ret = {"app": random.choice("abc")} if random.random() < 0.9 else {}
    if random.random() < 0.5:
        ret["tier"] = random.choice(["x", "y", ""])
    return ret


def selector(random):
    kind = random.randrange(8)
    if kind == 0:
        return {}
    if kind == 1:
        return {"matchExpressions": [{"key": "tier", "operator": random.choice(["Exists", "DoesNotExist"])}]}
    if kind == 2:
        return {"matchExpressions": [{"key": "app", "operator": random.choice(["In", "NotIn"]), "values": random.sample("abcd", 2)}]}
    if kind == 3:
        return {"matchLabels": {"app": random.choice("abc")}, "matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["x"]}]}
    return {"matchLabels": {"app": random.choice("abc")}}


def spread(random, own, hard):
    ret = {"topologyKey": random.choice(KEYS), "maxSkew": random.randint(1, 3), "whenUnsatisfiable": "DoNotSchedule" if hard else "ScheduleAnyway"}
    if random.random() < 0.95:
        ret["labelSelector"] = selector(random)
        if random.random() < 0.2 and own:
            ret["matchLabelKeys"] = [random.choice(["tier", "app", "none"])]
    if hard and random.random() < 0.3:
        ret["minDomains"] = random.randint(1, 5)
    if random.random() < 0.3:
        ret["nodeAffinityPolicy"] = random.choice(["Honor", "Ignore"])
    if random.random() < 0.4:
        ret["nodeTaintsPolicy"] = random.choice(["Honor", "Ignore"])
    return ret


def term(random, own):
    ret = {"topologyKey": random.choice(KEYS)}
    if random.random() < 0.95:
        ret["labelSelector"] = selector(random)
        if random.random() < 0.2:  # the API server puts them into the selector
            key, op = random.choice([("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")])
            name = random.choice(["tier", "app"])
            ret[key] = [name]
            if name in own:
                ret["labelSelector"].setdefault("matchExpressions", []).append({"key": name, "operator": op, "values": [own[name]]})
    if random.random() < 0.3:
        ret["namespaces"] = some(random, NAMESPACES, 2)
    if random.random() < 0.4:
        ret["namespaceSelector"] = random.choice([
            {}, {"matchLabels": {"team": "one"}}, {"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]},
            {"matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "In", "values": ["blue", "unknown"]}]}])
    return ret


def affinity(random, own, required=0.4):
    ret = {}
    for kind in ("podAffinity", "podAntiAffinity"):
        of = {}
        if random.random() < required:
            of["requiredDuringSchedulingIgnoredDuringExecution"] = [term(random, own) for _ in range(random.randint(1, 2))]
        if random.random() < 0.5:
            of["preferredDuringSchedulingIgnoredDuringExecution"] = [{"weight": random.choice([1, 13, 50, 100]), "podAffinityTerm": term(random, own)}
                                                                     for _ in range(random.randint(1, 3))]
        if of:
            ret[kind] = of
    return ret


def make(random, name, namespace=None, node_name=None, with_affinity=0.0, with_spread=0.0, controller=0.0):
    own = labels(random)
    spec = {}
    if random.random() < with_affinity:
        spec["affinity"] = affinity(random, own, 0.25 if node_name else 0.5)
    if random.random() < with_spread:
        spec["topologySpreadConstraints"] = [spread(random, own, random.random() < 0.6) for _ in range(random.randint(1, 3))]
    if not node_name and random.random() < 0.25:
        spec["nodeSelector"] = {"disk": random.choice(["ssd", "hdd"])}
    if not node_name and random.random() < 0.3:
        spec["tolerations"] = [{"key": "gpu", "operator": "Exists"}]
    made = pod(name, [container("c", requests={"cpu": "1m"})], namespace or random.choice(NAMESPACES[:3]), own, node_name, **spec)
    if node_name and random.random() < 0.08:
        made["metadata"].update(deletionTimestamp="2026-01-01T00:00:00Z", deletionGracePeriodSeconds=30, finalizers=["example.com/keep"])
    if random.random() < controller:
        version, kind = random.choice([("v1", "ReplicationController"), ("apps/v1", "ReplicaSet"), ("apps/v1", "StatefulSet"), ("batch/v1", "Job")])
        made["metadata"]["ownerReferences"] = [{"apiVersion": version, "kind": kind, "name": random.choice(["c0", "c1"]), "uid": "c", "controller": True}]
    return made


def question(random, cfg=None, there=25, extra=(), **with_):
    nodes = cluster(random)
    names = [n["metadata"]["name"] for n in nodes]
    bound = [make(random, f"bound{i}", None, random.choice(names), **with_) for i in range(random.randint(0, there))]
    pods = [make(random, f"p{i}", "unknown" if random.random() < 0.05 else None, None, **with_) for i in range(random.randint(2, 6))]
    return {"config": cfg, "objects": nodes + namespaces(random) + list(extra) + bound, "pods": pods}


@generator("spread")
def spreads(random):
    return question(random, with_spread=0.9)


@generator("affinity")
def affinities(random):
    args = {}
    if random.random() < 0.4:
        args["hardPodAffinityWeight"] = random.choice([0, 1, 7, 100])
    if random.random() < 0.3:
        args["ignorePreferredTermsOfExistingPods"] = random.random() < 0.7
    return question(random, config([("InterPodAffinity", args)]) if args else None, with_affinity=random.choice([0.3, 0.9]))


@generator("preferences")
def preferences(random):
    ret = question(random, with_affinity=0.8)
    for made in ret["objects"] + ret["pods"]:
        for of in made["spec"].get("affinity", {}).values() if "spec" in made else ():
            of.pop("requiredDuringSchedulingIgnoredDuringExecution", None)
    return ret


@generator("spread-and-affinity")
def both(random):
    return question(random, with_affinity=0.4, with_spread=0.6)


@generator("default-spread")
def defaults(random):
    cfg = None
    if random.random() < 0.6:
        constraints = [{"topologyKey": key, "maxSkew": random.randint(1, 3), "whenUnsatisfiable": random.choice(["DoNotSchedule", "ScheduleAnyway"])}
                       for key in some(random, [ZONE, HOST, "rack"])]
        cfg = config([("PodTopologySpread", {"defaultingType": "List", "defaultConstraints": constraints})])
    extra = [{"apiVersion": "v1", "kind": "Service", "metadata": {"name": f"s{i}", "namespace": random.choice(NAMESPACES[:3]), "uid": f"s{i}"},
              "spec": dict({"ports": [{"port": 80}]}, **random.choice([{"selector": labels(random)}, {"selector": labels(random)}, {}]))}
             for i in range(random.randint(0, 5))]
    for i in range(2):
        for space in NAMESPACES[:3]:
            meta = {"name": f"c{i}", "namespace": space, "uid": f"c{i}-{space}"}
            if random.random() < 0.6:
                extra.append({"apiVersion": "v1", "kind": "ReplicationController", "metadata": meta, "spec": {"selector": labels(random)}})
            for kind in ("ReplicaSet", "StatefulSet"):
                if random.random() < 0.6:
                    extra.append({"apiVersion": "apps/v1", "kind": kind, "metadata": meta, "spec": {"selector": selector(random)}})
    return question(random, cfg, extra=extra, with_spread=0.15, controller=0.5)


@generator("topology-preemption")
def preemptions(random):
    """One pod that could have a place if others went, which are in its way by where they are."""
    ret = question(random, with_affinity=0.5, with_spread=0.8, there=30)
    ret["pods"] = ret["pods"][:1]
    for i, made in enumerate(ret["objects"]):
        if made["kind"] == "Pod":
            made["status"]["startTime"] = f"2026-01-01T00:{i:02}:00Z"  # of equals the younger one goes
            made["metadata"].pop("deletionTimestamp", None)  # such victims are not evicted again, so nobody hears of them
            made["spec"]["priority"] = random.choice([0, 0, 10, 100, 1000])
    pending = ret["pods"][0]
    pending["spec"].update(priority=random.choice([50, 500]), topologySpreadConstraints=[spread(random, pending["metadata"]["labels"], True)])
    if random.random() < 0.5:
        pending["spec"]["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term(random, pending["metadata"]["labels"])]}}
    return ret
