# SPDX-License-Identifier: Apache-2.0
"""A small valid object of every kind that is compared, and what one may do to it.

Each row: (path of the group version, plural, kind, namespaced, fields beside metadata, patch that changes the spec).
"""

POD_SPEC = {"automountServiceAccountToken": False, "containers": [{"name": "c", "image": "busybox"}]}
TEMPLATE = {"metadata": {"labels": {"app": "x"}}, "spec": POD_SPEC}
SELECTOR = {"matchLabels": {"app": "x"}}
RULES = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}]
WEBHOOK = {"name": "hook.example.com", "clientConfig": {"url": "https://example.com/hook"}, "sideEffects": "None",
           "admissionReviewVersions": ["v1"],
           "rules": [{"operations": ["CREATE"], "apiGroups": ["none.example.com"], "apiVersions": ["v1"], "resources": ["things"]}]}
CORE = "/api/v1"

KINDS = [
    (CORE, "configmaps", "ConfigMap", True, {"data": {"k": "v"}}, {"data": {"k": "w"}}),
    (CORE, "secrets", "Secret", True, {"stringData": {"k": "v"}}, {"data": {"k": "dw=="}}),
    (CORE, "serviceaccounts", "ServiceAccount", True, {}, {"automountServiceAccountToken": False}),
    (CORE, "namespaces", "Namespace", False, {}, {"metadata": {"annotations": {"a": "b"}}}),
    (CORE, "pods", "Pod", True, {"spec": POD_SPEC}, {"spec": {"activeDeadlineSeconds": 5}}),
    (CORE, "services", "Service", True, {"spec": {"selector": {"app": "x"}, "ports": [{"port": 80}]}},
     {"spec": {"sessionAffinity": "ClientIP"}}),
    (CORE, "endpoints", "Endpoints", True, {"subsets": [{"addresses": [{"ip": "10.1.2.3"}], "ports": [{"port": 80}]}]},
     {"subsets": []}),
    (CORE, "nodes", "Node", False, {"spec": {"podCIDR": "10.2.0.0/24"}}, {"spec": {"unschedulable": True}}),
    (CORE, "persistentvolumes", "PersistentVolume", False,
     {"spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/data"}}},
     {"spec": {"capacity": {"storage": "2Gi"}}}),
    (CORE, "persistentvolumeclaims", "PersistentVolumeClaim", True,
     {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}},
     {"spec": {"storageClassName": "other"}}),
    (CORE, "replicationcontrollers", "ReplicationController", True, {"spec": {"template": TEMPLATE}}, {"spec": {"replicas": 3}}),
    (CORE, "resourcequotas", "ResourceQuota", True, {"spec": {"hard": {"configmaps": "10000"}}}, {"spec": {"hard": {"secrets": "10000"}}}),
    (CORE, "limitranges", "LimitRange", True,
     {"spec": {"limits": [{"type": "Container", "max": {"cpu": "100"}}]}},
     {"spec": {"limits": [{"type": "Pod", "max": {"cpu": "100"}}]}}),
    (CORE, "podtemplates", "PodTemplate", True, {"template": TEMPLATE}, {"template": {"metadata": {"labels": {"app": "y"}}}}),
    (CORE, "events", "Event", True,
     {"involvedObject": {"namespace": "{ns}", "kind": "Pod", "name": "p"}, "reason": "R", "message": "m", "type": "Normal",
      "source": {"component": "test"}, "count": 1}, {"count": 2}),
    ("/apis/apps/v1", "deployments", "Deployment", True, {"spec": {"selector": SELECTOR, "template": TEMPLATE}}, {"spec": {"replicas": 3}}),
    ("/apis/apps/v1", "replicasets", "ReplicaSet", True, {"spec": {"selector": SELECTOR, "template": TEMPLATE}}, {"spec": {"replicas": 3}}),
    ("/apis/apps/v1", "statefulsets", "StatefulSet", True,
     {"spec": {"selector": SELECTOR, "template": TEMPLATE, "serviceName": "s"}}, {"spec": {"replicas": 3}}),
    ("/apis/apps/v1", "daemonsets", "DaemonSet", True, {"spec": {"selector": SELECTOR, "template": TEMPLATE}},
     {"spec": {"minReadySeconds": 3}}),
    ("/apis/apps/v1", "controllerrevisions", "ControllerRevision", True, {"revision": 1, "data": {"a": 1}}, {"revision": 2}),
    ("/apis/batch/v1", "jobs", "Job", True, {"spec": {"template": {"spec": {**POD_SPEC, "restartPolicy": "Never"}}}},
     {"spec": {"parallelism": 3}}),
    ("/apis/batch/v1", "cronjobs", "CronJob", True,
     {"spec": {"schedule": "* * * * *",
               "jobTemplate": {"spec": {"template": {"spec": {**POD_SPEC, "restartPolicy": "Never"}}}}}},
     {"spec": {"suspend": True}}),
    ("/apis/autoscaling/v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler", True,
     {"spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}, "maxReplicas": 5}},
     {"spec": {"maxReplicas": 6}}),
    ("/apis/autoscaling/v1", "horizontalpodautoscalers", "HorizontalPodAutoscaler", True,
     {"spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}, "maxReplicas": 5,
               "targetCPUUtilizationPercentage": 50}}, {"spec": {"maxReplicas": 6}}),
    ("/apis/policy/v1", "poddisruptionbudgets", "PodDisruptionBudget", True,
     {"spec": {"minAvailable": 1, "selector": SELECTOR}}, {"spec": {"minAvailable": "50%"}}),
    ("/apis/rbac.authorization.k8s.io/v1", "roles", "Role", True, {"rules": RULES}, {"rules": []}),
    ("/apis/rbac.authorization.k8s.io/v1", "rolebindings", "RoleBinding", True,
     {"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"},
      "subjects": [{"kind": "User", "name": "u"}, {"kind": "ServiceAccount", "name": "s", "namespace": "n"}]}, {"subjects": []}),
    ("/apis/rbac.authorization.k8s.io/v1", "clusterroles", "ClusterRole", False, {"rules": RULES}, {"rules": []}),
    ("/apis/rbac.authorization.k8s.io/v1", "clusterrolebindings", "ClusterRoleBinding", False,
     {"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "r"},
      "subjects": [{"kind": "Group", "name": "g"}]}, {"subjects": []}),
    ("/apis/coordination.k8s.io/v1", "leases", "Lease", True, {"spec": {"holderIdentity": "me", "leaseDurationSeconds": 15}},
     {"spec": {"leaseTransitions": 1}}),
    ("/apis/events.k8s.io/v1", "events", "Event", True,
     {"eventTime": "2026-01-02T03:04:05.000006Z", "reportingController": "example.com/c", "reportingInstance": "i", "action": "A",
      "reason": "R", "type": "Normal", "note": "n", "regarding": {"namespace": "{ns}", "kind": "Pod", "name": "p"}},
     {"series": {"count": 2, "lastObservedTime": "2026-01-02T03:04:06.000000Z"}}),
    ("/apis/discovery.k8s.io/v1", "endpointslices", "EndpointSlice", True,
     {"addressType": "IPv4", "endpoints": [{"addresses": ["10.1.2.3"]}], "ports": [{"port": 80}]},
     {"endpoints": [{"addresses": ["10.1.2.4"], "conditions": {"ready": True}}]}),
    ("/apis/networking.k8s.io/v1", "ingresses", "Ingress", True,
     {"spec": {"rules": [{"host": "a.example.com", "http": {"paths": [
         {"path": "/", "pathType": "Prefix", "backend": {"service": {"name": "s", "port": {"number": 80}}}}]}}]}},
     {"spec": {"defaultBackend": {"service": {"name": "d", "port": {"name": "http"}}}}}),
    ("/apis/networking.k8s.io/v1", "ingressclasses", "IngressClass", False, {"spec": {"controller": "example.com/c"}},
     {"metadata": {"annotations": {"a": "b"}}}),
    ("/apis/networking.k8s.io/v1", "networkpolicies", "NetworkPolicy", True,
     {"spec": {"podSelector": {}, "ingress": [{"ports": [{"port": 80}]}]}}, {"spec": {"policyTypes": ["Egress"]}}),
    ("/apis/networking.k8s.io/v1", "servicecidrs", "ServiceCIDR", False, {"spec": {"cidrs": ["10.9.0.0/24"]}},
     {"metadata": {"annotations": {"a": "b"}}}),
    ("/apis/node.k8s.io/v1", "runtimeclasses", "RuntimeClass", False, {"handler": "h"}, {"overhead": {"podFixed": {"cpu": "1m"}}}),
    ("/apis/scheduling.k8s.io/v1", "priorityclasses", "PriorityClass", False, {"value": 5}, {"description": "d"}),
    ("/apis/storage.k8s.io/v1", "storageclasses", "StorageClass", False, {"provisioner": "example.com/p"},
     {"allowVolumeExpansion": True}),
    ("/apis/storage.k8s.io/v1", "csidrivers", "CSIDriver", False, {"spec": {}}, {"spec": {"podInfoOnMount": True}}),
    ("/apis/storage.k8s.io/v1", "csinodes", "CSINode", False, {"spec": {"drivers": []}},
     {"spec": {"drivers": [{"name": "example.com", "nodeID": "n", "topologyKeys": ["a"]}]}}),
    ("/apis/storage.k8s.io/v1", "volumeattachments", "VolumeAttachment", False,
     {"spec": {"attacher": "example.com", "nodeName": "n", "source": {"persistentVolumeName": "v"}}},
     {"metadata": {"annotations": {"a": "b"}}}),
    ("/apis/storage.k8s.io/v1", "csistoragecapacities", "CSIStorageCapacity", True, {"storageClassName": "s", "capacity": "1Gi"},
     {"capacity": "2Gi"}),
    ("/apis/storage.k8s.io/v1", "volumeattributesclasses", "VolumeAttributesClass", False,
     {"driverName": "example.com", "parameters": {"a": "b"}}, {"metadata": {"annotations": {"a": "b"}}}),
    ("/apis/admissionregistration.k8s.io/v1", "validatingwebhookconfigurations", "ValidatingWebhookConfiguration", False,
     {"webhooks": [WEBHOOK]}, {"webhooks": []}),
    ("/apis/admissionregistration.k8s.io/v1", "mutatingwebhookconfigurations", "MutatingWebhookConfiguration", False,
     {"webhooks": [WEBHOOK]}, {"webhooks": []}),
    ("/apis/admissionregistration.k8s.io/v1", "validatingadmissionpolicies", "ValidatingAdmissionPolicy", False,
     {"spec": {"matchConstraints": {"resourceRules": [{"operations": ["CREATE"], "apiGroups": ["none.example.com"],
                                                       "apiVersions": ["v1"], "resources": ["things"]}]},
               "validations": [{"expression": "true"}]}}, {"spec": {"failurePolicy": "Ignore"}}),
    ("/apis/admissionregistration.k8s.io/v1", "validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding", False,
     {"spec": {"policyName": "p", "validationActions": ["Deny"]}}, {"spec": {"validationActions": ["Warn"]}}),
    ("/apis/apiextensions.k8s.io/v1", "customresourcedefinitions", "CustomResourceDefinition", False, None, None),
    ("/apis/certificates.k8s.io/v1", "certificatesigningrequests", "CertificateSigningRequest", False, None, None),
    ("/apis/apiregistration.k8s.io/v1", "apiservices", "APIService", False, None, None),
    ("/apis/flowcontrol.apiserver.k8s.io/v1", "flowschemas", "FlowSchema", False,
     {"spec": {"priorityLevelConfiguration": {"name": "global-default"}, "matchingPrecedence": 5000,
               "rules": [{"subjects": [{"kind": "User", "user": {"name": "nobody"}}],
                          "resourceRules": [{"verbs": ["get"], "apiGroups": ["none.example.com"], "resources": ["things"],
                                             "namespaces": ["*"]}]}]}},
     {"spec": {"matchingPrecedence": 5001}}),
    ("/apis/flowcontrol.apiserver.k8s.io/v1", "prioritylevelconfigurations", "PriorityLevelConfiguration", False,
     {"spec": {"type": "Limited", "limited": {"nominalConcurrencyShares": 1, "limitResponse": {"type": "Reject"}}}},
     {"spec": {"limited": {"lendablePercent": 50}}}),
]

SCALED = {"deployments", "replicasets", "statefulsets", "replicationcontrollers"}
WITH_STATUS = {"pods", "services", "nodes", "namespaces", "persistentvolumes", "persistentvolumeclaims", "resourcequotas",
               "replicationcontrollers", "deployments", "replicasets", "statefulsets", "daemonsets", "jobs", "cronjobs",
               "horizontalpodautoscalers", "poddisruptionbudgets", "ingresses", "servicecidrs", "volumeattachments",
               "validatingadmissionpolicies", "flowschemas", "prioritylevelconfigurations"}

# Which part of the tree answers for a kind.
AREA = {"v1": "kinds-core", "apps": "kinds-core", "batch": "kinds-core", "autoscaling": "kinds-core", "policy": "kinds-core"}


def area_of(base):
    parts = base.split("/")
    return AREA.get(parts[2], "kinds-rest")


def api_version(base):
    return base.removeprefix("/apis/").removeprefix("/api/")


def crd(group, plural="mice", kind="Mouse", scope="Namespaced", schema=None, **version):
    """A definition with one version v1."""
    schema = schema or {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.{group}"},
            "spec": {"group": group, "scope": scope, "names": {"plural": plural, "kind": kind},
                     "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}, **version}]}}
