# SPDX-License-Identifier: Apache-2.0
"""Clusters where all plugins meet: small ones, in flavours that give each of them something to say. Those called
mixed-preemption are full of pods that may go, in budgets."""
from clusters import generator

ZONES = ["z1", "z2", "z3"]
APPS = ["web", "db", "cache"]
NAMESPACES = ["default", "other", "third"]
TAINTS = ["dedicated", "gpu", "maintenance"]
EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"]
IMAGES = {"nginx:1": 150 << 20, "registry.example/app:v2": 700 << 20, "busybox:latest": 4 << 20}
ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"


VERSIONS = {"PodDisruptionBudget": "policy/v1", "StorageClass": "storage.k8s.io/v1", "CSINode": "storage.k8s.io/v1", "CSIDriver": "storage.k8s.io/v1"}


def typed(kind, o):
    return {"apiVersion": VERSIONS.get(kind, "v1"), "kind": kind} | o


class Maker:
    def __init__(self, random):
        self.r = random

    def maybe(self, p=0.5):
        return self.r.random() < p

    def some(self, items, n=None):
        return self.r.sample(items, self.r.randint(0, min(len(items), n or len(items))))

    def labels(self):
        labels = {}
        if self.maybe(0.8):
            labels["app"] = self.r.choice(APPS)
        if self.maybe(0.4):
            labels["tier"] = self.r.choice(["a", "b"])
        if self.maybe(0.2):
            labels["version"] = str(self.r.randint(1, 12))
        return labels

    def selector(self):
        selector = {}
        if self.maybe(0.7):
            selector["matchLabels"] = {"app": self.r.choice(APPS)}
        if self.maybe(0.3):
            op = self.r.choice(["In", "NotIn", "Exists", "DoesNotExist"])
            selector["matchExpressions"] = [{"key": "tier", "operator": op} | ({"values": self.r.sample(["a", "b", "c"], 2)} if op.endswith("n") else {})]
        return selector

    # ---- nodes ----

    def node(self, i):
        labels = {HOST: f"n{i}", "kubernetes.io/os": "linux"}
        if self.maybe(0.85):
            labels[ZONE] = self.r.choice(ZONES)
        if self.maybe(0.5):
            labels["topology.kubernetes.io/region"] = self.r.choice(["r1", "r2"])
        if self.maybe(0.5):
            labels["disk"] = self.r.choice(["ssd", "hdd"])
        if self.maybe(0.4):
            labels["cores"] = str(self.r.randint(1, 64))
        allocatable = {"cpu": self.r.choice(["1", "2", "4", "3500m"]), "memory": self.r.choice(["2Gi", "4Gi", "8000Mi", "7.5G"]),
                       "pods": str(self.r.choice([2, 5, 110])), "ephemeral-storage": self.r.choice(["10Gi", "50Gi"])}
        if self.maybe(0.3):
            allocatable["example.com/gpu"] = str(self.r.randint(0, 4))
        if self.maybe(0.2):
            allocatable["hugepages-2Mi"] = "64Mi"
        spec = {}
        if self.maybe(0.05):
            spec["unschedulable"] = True
        taints = [{"key": k, "value": self.r.choice(["a", "b"]), "effect": self.r.choice(EFFECTS)} for k in self.some(TAINTS, 2) if self.maybe(0.25)]
        if taints:
            spec["taints"] = taints
        images = [{"names": [name], "sizeBytes": size} for name, size in IMAGES.items() if self.maybe(0.4)]
        return {"metadata": {"name": f"n{i}", "uid": f"node-{i}", "labels": labels}, "spec": spec,
                "status": {"allocatable": allocatable, "capacity": allocatable, "images": images}}

    # ---- pods ----

    def requests(self, small):
        requests = {}
        if self.maybe(0.85):
            requests["cpu"] = f"{self.r.choice([50, 100, 250, 400, 600] if small else [50, 300, 600, 1000, 1800, 5000])}m"
        if self.maybe(0.7):
            requests["memory"] = f"{self.r.choice([64, 200, 500, 700] if small else [64, 200, 500, 1500, 3000])}Mi"
        if self.maybe(0.15):
            requests["ephemeral-storage"] = self.r.choice(["1Gi", "20Gi"])
        if self.maybe(0.12):
            requests["example.com/gpu"] = str(self.r.randint(1, 2))
        if self.maybe(0.05):
            requests["hugepages-2Mi"] = "32Mi"
        return requests

    def container(self, name, small):
        requests = self.requests(small)
        c = {"name": name, "image": self.r.choice(list(IMAGES)), "resources": {"requests": requests}}
        limits = {k: v for k, v in requests.items() if "/" in k or "hugepages" in k}
        if limits:
            c["resources"]["limits"] = limits
        if self.maybe(0.15):
            c["ports"] = [{"containerPort": 80, "hostPort": self.r.choice([80, 8080]), "protocol": self.r.choice(["TCP", "UDP"])}
                          | ({"hostIP": self.r.choice(["127.0.0.1", "0.0.0.0"])} if self.maybe(0.3) else {})]
        return c

    def tolerations(self):
        out = []
        for key in self.some(TAINTS, 2):
            t = {"key": key, "operator": self.r.choice(["Exists", "Equal"])}
            if t["operator"] == "Equal":
                t["value"] = self.r.choice(["a", "b"])
            if self.maybe(0.6):
                t["effect"] = self.r.choice(EFFECTS)
            out.append(t)
        if self.maybe(0.05):
            out.append({"operator": "Exists"})
        return out

    def node_term(self):
        term = {}
        exprs = []
        for key in self.some(["disk", ZONE, "cores", "nowhere"], 2):
            op = self.r.choice(["In", "NotIn", "Exists", "DoesNotExist"] + (["Gt", "Lt"] if key == "cores" else []))
            e = {"key": key, "operator": op}
            if op in ("In", "NotIn"):
                e["values"] = {"disk": ["ssd"], ZONE: self.r.sample(ZONES, 2), "cores": ["8"], "nowhere": ["x"]}[key]
            if op in ("Gt", "Lt"):
                e["values"] = [str(self.r.randint(1, 64))]
            exprs.append(e)
        if exprs:
            term["matchExpressions"] = exprs
        if self.maybe(0.1):
            term["matchFields"] = [{"key": "metadata.name", "operator": self.r.choice(["In", "NotIn"]), "values": [f"n{self.r.randint(0, 5)}"]}]
        return term

    def pod_term(self):
        term = {"topologyKey": self.r.choice([ZONE, HOST, "disk", "topology.kubernetes.io/region"])}
        if self.maybe(0.9):
            term["labelSelector"] = self.selector()
        if self.maybe(0.25):
            term["namespaces"] = self.r.sample(NAMESPACES, self.r.randint(1, 2))
        if self.maybe(0.2):
            term["namespaceSelector"] = self.r.choice([{}, {"matchLabels": {"team": "x"}}])
        if self.maybe(0.1) and "labelSelector" in term:
            term[self.r.choice(["matchLabelKeys", "mismatchLabelKeys"])] = ["version"]
        return term

    @staticmethod
    def merge_label_keys(affinity, labels):
        """As API servers do when a pod is made; the scheduler sees the merged selector."""
        for kind in ("podAffinity", "podAntiAffinity"):
            both = affinity.get(kind, {})
            terms = both.get("requiredDuringSchedulingIgnoredDuringExecution", []) + [
                w["podAffinityTerm"] for w in both.get("preferredDuringSchedulingIgnoredDuringExecution", [])]
            for term in terms:
                for keys, operator in (("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")):
                    for key in term.get(keys, []):
                        if key in labels:
                            term["labelSelector"].setdefault("matchExpressions", []).append({"key": key, "operator": operator, "values": [labels[key]]})

    def affinity(self, p):
        a = {}
        if self.maybe(p):
            na = {}
            if self.maybe(0.6):
                na["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": [self.node_term() for _ in range(self.r.randint(1, 2))]}
            if self.maybe(0.6):
                na["preferredDuringSchedulingIgnoredDuringExecution"] = [{"weight": self.r.randint(1, 100), "preference": self.node_term()} for _ in range(self.r.randint(1, 3))]
            a["nodeAffinity"] = na
        for kind in ("podAffinity", "podAntiAffinity"):
            if self.maybe(p):
                pa = {}
                if self.maybe(0.5):
                    pa["requiredDuringSchedulingIgnoredDuringExecution"] = [self.pod_term() for _ in range(self.r.randint(1, 2))]
                if self.maybe(0.5):
                    pa["preferredDuringSchedulingIgnoredDuringExecution"] = [{"weight": self.r.randint(1, 100), "podAffinityTerm": self.pod_term()}
                                                                            for _ in range(self.r.randint(1, 2))]
                a[kind] = pa
        return a

    def spread(self, key):
        s = {"maxSkew": self.r.randint(1, 3), "topologyKey": key,
             "whenUnsatisfiable": self.r.choice(["DoNotSchedule", "ScheduleAnyway"])}
        if self.maybe(0.9):
            s["labelSelector"] = self.selector()
        if s["whenUnsatisfiable"] == "DoNotSchedule" and self.maybe(0.2):
            s["minDomains"] = self.r.randint(1, 4)
        if self.maybe(0.2):
            s["nodeAffinityPolicy"] = self.r.choice(["Honor", "Ignore"])
        if self.maybe(0.2):
            s["nodeTaintsPolicy"] = self.r.choice(["Honor", "Ignore"])
        if self.maybe(0.1) and "labelSelector" in s:
            s["matchLabelKeys"] = ["version"]
        return s

    def pod(self, name, node, priority, small=True, p=0.12):
        spec = {"schedulerName": "default-scheduler", "priority": priority,
                "containers": [self.container(f"c{i}", small) for i in range(self.r.randint(1, 2))]}
        if self.maybe(0.15):
            spec["initContainers"] = [self.container("i0", small) | ({"restartPolicy": "Always"} if self.maybe(0.5) else {})]
        if self.maybe(0.05):
            spec["overhead"] = {"cpu": "100m", "memory": "50Mi"}
        for c in spec.get("initContainers", []):
            c.pop("ports", None)
        if node:
            spec["nodeName"] = node
        tolerations = self.tolerations()
        if tolerations:
            spec["tolerations"] = tolerations
        labels = self.labels()
        affinity = self.affinity(p)
        if affinity:
            self.merge_label_keys(affinity, labels)
            spec["affinity"] = affinity
        if not node and self.maybe(p):
            spec["nodeSelector"] = {"disk": self.r.choice(["ssd", "hdd"])}
        if not node and self.maybe(2 * p):
            spec["topologySpreadConstraints"] = [self.spread(key) for key in self.r.sample([ZONE, HOST], self.r.randint(1, 2))]
        meta = {"name": name, "namespace": self.r.choice(NAMESPACES) if node else "default", "uid": f"{name}-uid", "labels": labels,
                "creationTimestamp": "2025-12-31T00:00:00Z"}
        status = {"phase": "Running" if node else "Pending"}
        if node:
            # Each at another second: then no two victims are equal.
            second = int(name[1:])
            status["startTime"] = f"2025-12-31T{10 + second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}Z"
        return {"metadata": meta, "spec": spec, "status": status}

    @staticmethod
    def part_ports(pods):
        """No port of a node is taken twice: upstream's account of them is a set, and forgets it with the first that goes."""
        taken = set()
        for p in pods:
            for c in p["spec"]["containers"]:
                mine = {(p["spec"]["nodeName"], port["hostPort"], port["protocol"]) for port in c.get("ports", [])}
                if mine & taken:
                    del c["ports"]
                taken |= mine

    def budget(self, i):
        return {"metadata": {"name": f"budget-{i}", "namespace": self.r.choice(NAMESPACES), "uid": f"budget-{i}"}, "spec": {"selector": self.selector()},
                "status": {"disruptionsAllowed": self.r.randint(0, 2)}}

    # ---- volumes: claims of `default`, where the incoming pod is ----

    def storage_class(self, name, provisioner, waits):
        c = {"metadata": {"name": name, "uid": f"class-{name}"}, "provisioner": provisioner,
             "volumeBindingMode": "WaitForFirstConsumer" if waits else "Immediate"}
        if waits and self.maybe(0.4):
            c["allowedTopologies"] = [{"matchLabelExpressions": [{"key": ZONE, "values": self.r.sample(ZONES, 2)}]}]
        return c

    def volume(self, i, nodes, claim):
        spec = {"capacity": {"storage": self.r.choice(["1Gi", "5Gi", "20Gi"])}, "accessModes": ["ReadWriteOnce"],
                "storageClassName": self.r.choice(["local", "csi"])}
        spec |= {"csi": {"driver": "csi.example.com", "volumeHandle": f"handle-{i}"}} if spec["storageClassName"] == "csi" else {"local": {"path": f"/disk/{i}"}}
        meta = {"name": f"pv{i}", "uid": f"pv-{i}"}
        if self.maybe(0.6):
            spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [
                {"key": HOST, "operator": "In", "values": self.r.sample([n["metadata"]["name"] for n in nodes], self.r.randint(1, len(nodes)))}]}]}}
        elif self.maybe(0.6):
            meta["labels"] = {ZONE: "__".join(self.r.sample(ZONES, self.r.randint(1, 2)))}
        if claim:
            spec["claimRef"] = {"kind": "PersistentVolumeClaim", "namespace": "default", "name": claim, "uid": f"claim-{claim}"}
            spec["storageClassName"] = spec["storageClassName"]
        return {"metadata": meta, "spec": spec, "status": {"phase": "Bound" if claim else "Available"}}

    def claim(self, name, volume):
        spec = {"accessModes": ["ReadWriteOncePod" if self.maybe(0.2) else "ReadWriteOnce"], "storageClassName": self.r.choice(["local", "csi", "now"]),
                "resources": {"requests": {"storage": self.r.choice(["1Gi", "4Gi", "10Gi"])}}}
        meta = {"name": name, "namespace": "default", "uid": f"claim-{name}"}
        if volume:
            spec |= {"volumeName": volume["metadata"]["name"], "storageClassName": volume["spec"]["storageClassName"]}
            meta["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
        return {"metadata": meta, "spec": spec, "status": {"phase": "Bound" if volume else "Pending"}}

    def volumes(self, nodes, pods, pod):
        volumes = [self.volume(i, nodes, f"claim{i}" if i < 3 else None) for i in range(self.r.randint(3, 7))]
        claims = [self.claim(f"claim{i}", volumes[i] if i < 3 else None) for i in range(6)]
        for p in pods + [pod]:
            if p["metadata"]["namespace"] != "default" or not (p is pod or self.maybe(0.3)):
                continue
            # Pods that run have volumes that are bound.
            names = self.r.sample([f"claim{i}" for i in range(7 if p is pod else 3)], self.r.randint(1, 2))
            p["spec"]["volumes"] = [{"name": f"v{i}", "persistentVolumeClaim": {"claimName": name}} for i, name in enumerate(names)]
        csi_nodes = [{"metadata": {"name": n["metadata"]["name"], "uid": f"csi-{i}"},
                      "spec": {"drivers": [{"name": "csi.example.com", "nodeID": f"id{i}", "allocatable": {"count": self.r.randint(1, 3)}}] if self.maybe(0.8) else []}}
                     for i, n in enumerate(nodes)]
        return {"PersistentVolume": volumes, "PersistentVolumeClaim": claims, "CSINode": csi_nodes,
                "StorageClass": [self.storage_class("local", "kubernetes.io/no-provisioner", True), self.storage_class("csi", "csi.example.com", True),
                                   self.storage_class("now", "csi.example.com", False)],
                "CSIDriver": [{"metadata": {"name": "csi.example.com", "uid": "driver"}, "spec": {"storageCapacity": False}}]}

    # ---- all ----

    def case(self, flavour):
        n = self.r.randint(1, 9)
        p = {"resources": 0.0, "easy": 0.12, "hard": 0.3, "topology": 0.6, "volumes": 0.05, "preemption": 0.1}[flavour]
        nodes = [self.node(i) for i in range(n)]
        pods = []
        for i in range(self.r.randint(0, (5 if flavour == "resources" else 3) * n)):
            pods.append(self.pod(f"p{i}", f"n{self.r.randrange(n)}", self.r.choice([0, 0, 10, 100, 1000]), p=p / 2))
        pod = self.pod("incoming", None, self.r.choice([0, 50, 500, 5000]), small=flavour != "resources", p=p)
        self.part_ports(pods)
        if flavour == "topology":
            # Nothing but topology decides.
            for node in nodes:
                node["spec"], node["status"]["allocatable"] = {}, {"cpu": "64", "memory": "64Gi", "pods": "110"}
            pod["spec"].pop("nodeSelector", None)
            pod["spec"].get("affinity", {}).pop("nodeAffinity", None)
            pod["spec"]["containers"] = [{"name": "c", "image": "busybox", "resources": {"requests": {"cpu": "100m"}}}]
            pod["spec"].pop("initContainers", None)
        if flavour == "preemption":
            # Full nodes of pods that may go, in budgets.
            for node in nodes:
                node["spec"], node["status"]["allocatable"] = {}, {"cpu": "2", "memory": "4Gi", "pods": str(self.r.choice([6, 110]))}
            pods = [self.pod(f"p{i}", f"n{i % n}", self.r.choice([0, 10, 100, 1000]), p=0.05) for i in range(6 * n)]
            for other in pods:
                other["metadata"]["namespace"] = "default"
                other["spec"]["containers"] = [{"name": "c", "image": "busybox", "resources": {"requests": {"cpu": self.r.choice(["200m", "400m", "600m"])}}}]
            pod["spec"]["priority"] = self.r.choice([50, 500, 5000])
            pod["spec"].pop("initContainers", None)
            pod["spec"].pop("nodeSelector", None)
            pod["spec"]["containers"] = [{"name": "c", "image": "busybox", "resources": {"requests": {"cpu": self.r.choice(["500m", "1", "1500m"])}},
                                          "ports": [{"containerPort": 80, "hostPort": 80}] if self.maybe(0.2) else []}]
        namespaces = [{"metadata": {"name": name, "uid": f"ns-{name}", "labels": {"kubernetes.io/metadata.name": name} | ({"team": "x"} if self.maybe() else {})}}
                      for name in NAMESPACES]
        services = [{"metadata": {"name": "svc", "namespace": "default", "uid": "svc"}, "spec": {"selector": {"app": self.r.choice(APPS)}}}] if self.maybe(0.3) else []
        budgets = [self.budget(i) for i in range(self.r.randint(0, 3))]
        lists = {"Node": nodes, "Namespace": namespaces, "Service": services, "PodDisruptionBudget": budgets}
        lists |= self.volumes(nodes, pods, pod) if flavour == "volumes" else {}
        return {"config": None, "objects": [typed(kind, o) for kind, objects in (lists | {"Pod": pods}).items() for o in objects],
                "pods": [typed("Pod", pod)]}


def add(flavour):
    @generator(f"mixed-{flavour}")
    def make(random):
        return Maker(random).case(flavour)


for one in ("resources", "easy", "hard", "topology", "volumes", "preemption"):
    add(one)
