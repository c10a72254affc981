# SPDX-License-Identifier: Apache-2.0
"""Clusters with volumes: claims bound and not, classes, capacities, limits, attachments, and volumes of before CSI."""
from clusters import container, generator, node, pod

ZONES = ["topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"]
REGIONS = ["topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region"]
MODES = ["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"]
SIZES = ["1Gi", "2Gi", "3Gi", "1024Mi", "1", "1500M", "2G"]
DRIVERS = ["csi.example.com", "ebs.csi.aws.com", "pd.csi.storage.gke.io", "disk.csi.azure.com"]
MIGRATED = ["kubernetes.io/aws-ebs", "kubernetes.io/gce-pd", "kubernetes.io/cinder", "kubernetes.io/azure-disk"]
CLASSES = {"now": ("csi.example.com", "Immediate"), "wait": ("kubernetes.io/no-provisioner", "WaitForFirstConsumer"),
           "made": ("csi.example.com", "WaitForFirstConsumer"), "ebs": ("kubernetes.io/aws-ebs", "WaitForFirstConsumer"),
           "file": ("kubernetes.io/azure-file", "WaitForFirstConsumer")}
BIND_COMPLETED, SELECTED = "pv.kubernetes.io/bind-completed", "volume.kubernetes.io/selected-node"
GONE = {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["example.com/x"]}


def storage(kind, name, **more):
    return dict({"apiVersion": "storage.k8s.io/v1", "kind": kind, "metadata": {"name": name}}, **more)


class World:
    def __init__(self, r):
        self.r, self.pick, self.objects = r, r.choice, []
        self.nodes, self.claims = [f"n{i}" for i in range(5)], [f"c{i}" for i in range(10)]
        self.volumes = [f"pv{i:02}" for i in range(r.randint(0, 14))]

    def chance(self, p):
        return self.r.random() < p

    def zone_labels(self):
        return ({k: self.pick(["a", "b", "us-x-a", "us-x-b__us-x-a"]) for k in ZONES if self.chance(.25)}
                | {k: self.pick(["r", "s"]) for k in REGIONS if self.chance(.25)})

    def requirement(self):
        key, op = self.pick(["host", "zone", "color", *ZONES]), self.pick(["In", "In", "In", "NotIn", "Exists", "DoesNotExist"])
        values = {"host": self.nodes[:4], "zone": ["a", "b"], "color": ["red"]}.get(key, ["a", "b", "us-x-a"])
        return {"key": key, "operator": op} | ({"values": [self.pick(values)]} if op in ("In", "NotIn") else {})

    def affinity(self):
        def term():
            ret = {"matchExpressions": [self.requirement() for _ in range(self.r.randint(1, 2))]} if self.chance(.9) else {}
            if self.chance(.1):
                ret["matchFields"] = [{"key": "metadata.name", "operator": "In", "values": [self.pick(self.nodes[:2])]}]
            return ret
        return {"required": {"nodeSelectorTerms": [term() for _ in range(self.r.randint(1, 2))]}}

    def source(self):
        return self.pick([
            {"hostPath": {"path": "/x"}}, {"local": {"path": "/d"}}, {"cinder": {"volumeID": "x"}},
            {"csi": {"driver": self.pick(DRIVERS[:2]), "volumeHandle": f"vol-{self.r.randint(0, 6)}"}},
            {"csi": {"driver": DRIVERS[0], "volumeHandle": f"h{self.r.randint(0, 6)}"}},
            {"awsElasticBlockStore": {"volumeID": self.pick(["vol-1", "aws://z/vol-2", "aws:///vol-3", "vol-4", "bad/x"])}},
            {"gcePersistentDisk": {"pdName": self.pick("pq")}},
            {"azureDisk": {"diskName": "d", "diskURI": self.pick(["u1", "u2"]), "kind": "Managed"}},
            {"azureFile": {"secretName": "s", "shareName": "s", "secretNamespace": "n"}}])

    def add_classes(self):
        for name, (provisioner, mode) in CLASSES.items():
            if self.chance(.05):
                continue
            c = storage("StorageClass", name, provisioner=provisioner, volumeBindingMode=mode)
            if self.chance(.3):
                c["allowedTopologies"] = [self.pick([{"matchLabelExpressions": [{"key": "zone", "values": [self.pick("ab")]}]}, {}])
                                          for _ in range(self.r.randint(1, 2))]
            self.objects.append(c)

    def add_nodes(self):
        for name in self.nodes:
            labels = {"host": name} | ({"zone": self.pick("ab")} if self.chance(.7) else {})
            labels |= {k: v for k, v in self.zone_labels().items() if "__" not in v}
            for key in "topology.ebs.csi.aws.com/zone", "topology.gke.io/zone":
                if self.chance(.2):
                    labels[key] = self.pick(["a", "b", "us-x-a"])
            self.objects.append(node(name, {"cpu": "100", "memory": "100Gi", "pods": "110"}, labels))
            if self.chance(.7):
                self.objects.append(self.csi_node(name))

    def csi_node(self, name):
        drivers = []
        for driver in DRIVERS:
            if self.chance(.6):
                drivers.append({"name": driver, "nodeID": "i"} | ({"allocatable": {"count": self.r.randint(1, 3)}} if self.chance(.8) else {}))
        ret = storage("CSINode", name, spec={"drivers": drivers})
        if self.chance(.5):
            ret["metadata"]["annotations"] = {"storage.alpha.kubernetes.io/migrated-plugins": ",".join(self.r.sample(MIGRATED, self.r.randint(0, 3)))}
        return ret

    def add_capacities(self):
        if self.chance(.7):
            spec = self.pick([{}, {"storageCapacity": True}, {"storageCapacity": True}, {"storageCapacity": False}])
            self.objects.append(storage("CSIDriver", DRIVERS[0], spec=spec))
        for i in range(self.r.randint(0, 5)):
            c = storage("CSIStorageCapacity", f"cap{i}", storageClassName=self.pick(["made", "made", "wait", "ebs"]))
            c["metadata"]["namespace"] = "kube-system"
            if self.chance(.85):
                c["nodeTopology"] = self.pick([{}, {"matchLabels": {"zone": self.pick("ab")}},
                                               {"matchExpressions": [{"key": "host", "operator": "In", "values": self.r.sample(self.nodes, 2)}]},
                                               {"matchExpressions": [{"key": "zone", "operator": "Exists"}]}])
            if self.chance(.85):
                c["capacity"] = self.pick(SIZES)
            if self.chance(.3):
                c["maximumVolumeSize"] = self.pick(SIZES)
            self.objects.append(c)

    def add_volumes(self):
        for name in self.volumes:
            meta = {"name": name, "uid": f"uid-{name}", "labels": self.zone_labels() if self.chance(.3) else {}}
            spec = dict(self.source(), accessModes=self.r.sample(MODES, self.r.randint(1, 3)), capacity={"storage": self.pick(SIZES)},
                        storageClassName=self.pick(["wait", "made", "now", ""]), persistentVolumeReclaimPolicy="Retain")
            if self.chance(.2):
                meta["labels"]["disk"] = "fast"
            if self.chance(.5):
                spec["nodeAffinity"] = self.affinity()
            if self.chance(.15):
                spec["volumeMode"] = self.pick(["Block", "Filesystem"])
            if self.chance(.1):
                spec["volumeAttributesClassName"] = "gold"
            if self.chance(.1):
                meta |= GONE
            if self.chance(.2):
                claim = self.pick(self.claims)
                spec["claimRef"] = {"namespace": self.pick(["default", "default", "other"]), "name": claim}
                if self.chance(.5):
                    spec["claimRef"]["uid"] = self.pick([f"uid-{claim}", "another"])
            self.objects.append({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": meta, "spec": spec,
                                 "status": {"phase": self.pick(["Available"] * 4 + ["Pending", "Bound"])}})

    def add_claim(self, name, owner=None):
        meta = {"name": name, "namespace": "default", "uid": f"uid-{name}", "annotations": {}}
        spec = {"accessModes": [self.pick(MODES)]}
        if self.chance(.95):
            spec["resources"] = {"requests": {"storage": self.pick(SIZES)}}
        if self.chance(.9):
            spec["storageClassName"] = self.pick(["wait", "wait", "wait", "made", "made", "ebs", "file", "now", "none"])
        if self.chance(.4):
            spec["volumeName"] = self.pick([*self.volumes, "none"])
            if self.chance(.9):
                meta["annotations"][BIND_COMPLETED] = "yes"
        if self.chance(.1):
            meta["annotations"][SELECTED] = self.pick(self.nodes)
        if self.chance(.1):
            meta["annotations"]["volume.beta.kubernetes.io/storage-class"] = self.pick(["wait", "made", ""])
        if self.chance(.1):
            spec["volumeMode"] = self.pick(["Block", "Filesystem"])
        if self.chance(.05):
            spec["volumeAttributesClassName"] = "gold"
        if self.chance(.1):
            spec["selector"] = self.pick([{}, {"matchLabels": {"disk": "fast"}}, {"matchExpressions": [{"key": "disk", "operator": "DoesNotExist"}]}])
        if self.chance(.03):
            meta |= GONE
        if owner:
            meta["ownerReferences"] = [{"apiVersion": "v1", "kind": "Pod", "name": owner, "uid": f"pod-default-{owner}", "controller": True}]
        self.objects.append({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta, "spec": spec,
                             "status": {"phase": "Lost" if self.chance(.03) else "Pending"}})

    def inline(self):
        read_only = self.chance(.5)
        return self.pick([
            {"emptyDir": {}}, {"gcePersistentDisk": {"pdName": self.pick("pq"), "readOnly": read_only}},
            {"awsElasticBlockStore": {"volumeID": self.pick(["vol-1", "vol-2"]), "readOnly": read_only}},
            {"iscsi": {"targetPortal": "t", "iqn": self.pick("qr"), "lun": 0, "readOnly": read_only}},
            {"rbd": {"monitors": self.r.sample("abc", 2), "image": self.pick("ij"), "pool": self.pick(["p", "rbd"]), "readOnly": read_only}},
            {"azureDisk": {"diskName": "d", "diskURI": self.pick(["u1", "u2"]), "kind": "Managed"}},
            {"cinder": {"volumeID": "x"}}, {"portworxVolume": {"volumeID": "x"}}, {"azureFile": {"secretName": "s", "shareName": "s"}}])

    def pod(self, name, node_name=None):
        """A claim stands in a pod once: that is where ours differs, and says so."""
        volumes, claims = [], self.r.sample(self.claims, 3)
        for i in range(self.r.randint(1, 3)):
            kind = self.r.random()
            if kind < .55:
                source = {"persistentVolumeClaim": {"claimName": claims[i]}}
            elif kind < .65:
                source = {"ephemeral": {"volumeClaimTemplate": {"spec": {}}}}
                if self.chance(.9):
                    self.add_claim(f"{name}-v{i}", name)
            else:
                source = self.inline()
            volumes.append(dict(source, name=f"v{i}"))
        return pod(name, [container("c")], node_name=node_name, volumes=volumes)


@generator("volumes")
def volumes(r):
    w = World(r)
    w.add_classes()
    w.add_nodes()
    w.add_capacities()
    w.add_volumes()
    for name in w.claims:
        if w.chance(.95):
            w.add_claim(name)
    for i in range(r.randint(0, 6)):
        w.objects.append(w.pod(f"run{i}", w.pick(w.nodes)))
    for i in range(r.randint(0, 6)):
        w.objects.append(storage("VolumeAttachment", f"va{i}", spec={
            "attacher": w.pick(DRIVERS[:2]), "nodeName": w.pick(w.nodes), "source": {"persistentVolumeName": w.pick([*w.volumes, "none"])}}))
    pods = [w.pod(f"p{i}") for i in range(8)]
    return {"config": None, "objects": w.objects, "pods": pods}
