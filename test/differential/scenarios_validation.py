# SPDX-License-Identifier: Apache-2.0
"""One valid object and hundreds of wrong ones: messages, causes and paths of validation."""
from kinds import POD_SPEC, RULES, SELECTOR, TEMPLATE
from scenario import DELETE, creates, updates

CORE = "/api/v1/namespaces/{ns}/"
APPS = "/apis/apps/v1/namespaces/{ns}/"
BATCH = "/apis/batch/v1/namespaces/{ns}/"
RBAC = "/apis/rbac.authorization.k8s.io/v1/"

POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {
    "automountServiceAccountToken": False, "volumes": [{"name": "v", "emptyDir": {}}],
    "containers": [{"name": "c", "image": "busybox", "ports": [{"containerPort": 80, "name": "web"}],
                    "env": [{"name": "A", "value": "1"}], "volumeMounts": [{"name": "v", "mountPath": "/v"}],
                    "resources": {"requests": {"cpu": "100m"}, "limits": {"cpu": "200m", "memory": "64Mi"}},
                    "livenessProbe": {"httpGet": {"port": 80, "path": "/"}}}]}}
C, V = "spec.containers[0].", "spec.volumes[0]"

POD_CHANGES = [
    ("spec.containers", []), ("spec.containers", DELETE), ("spec", DELETE), (C + "name", ""), (C + "name", "Bad_Name"), (C + "name", DELETE),
    (C + "name", "x" * 64), (C + "image", ""), (C + "image", DELETE), (C + "image", " busybox "), ("spec.containers[1]", {"name": "c", "image": "i"}),
    (C + "imagePullPolicy", "Sometimes"), (C + "terminationMessagePolicy", "Loud"), (C + "terminationMessagePath", "rel"), (C + "workingDir", "rel"),
    (C + "ports[0].containerPort", 0), (C + "ports[0].containerPort", 70000), (C + "ports[0].protocol", "ICMP"), (C + "ports[0].name", "Bad Name"),
    (C + "ports[0].name", "very-long-name-of-a-port"), (C + "ports[0].name", "123"), (C + "ports[0].hostPort", 70000), (C + "ports[0].hostIP", "x"),
    (C + "ports[1]", {"containerPort": 81, "name": "web"}), (C + "ports[1]", {"containerPort": 80}), (C + "env[0].name", ""), (C + "env[0].name", "a=b"),
    (C + "env[0].name", "1x"), (C + "env[0].valueFrom", {"fieldRef": {"fieldPath": "metadata.name"}}), (C + "env[1]", {"name": "B", "valueFrom": {}}),
    (C + "env[1]", {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "spec.nothing"}}}), (C + "env[1]", {"name": "B", "valueFrom": {"fieldRef": {}}}),
    (C + "env[1]", {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['a b']"}}}),
    (C + "env[1]", {"name": "B", "valueFrom": {"configMapKeyRef": {"name": "", "key": ""}}}),
    (C + "env[1]", {"name": "B", "valueFrom": {"secretKeyRef": {"name": "s", "key": "a/b"}}}),
    (C + "env[1]", {"name": "B", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "3"}}}),
    (C + "env[1]", {"name": "B", "valueFrom": {"resourceFieldRef": {"resource": "nothing"}}}),
    (C + "envFrom", [{}]), (C + "envFrom", [{"configMapRef": {"name": ""}}]), (C + "envFrom", [{"prefix": "a=b", "secretRef": {"name": "x"}}]),
    (C + "volumeMounts[0].name", "none"), (C + "volumeMounts[0].name", ""), (C + "volumeMounts[0].mountPath", ""), (C + "volumeMounts[0].subPath", "../x"),
    (C + "volumeMounts[0].subPath", "/x"), (C + "volumeMounts[1]", {"name": "v", "mountPath": "/v"}), (C + "volumeMounts[0].mountPropagation", "Wrong"),
    (C + "volumeMounts[0].subPathExpr", "$(X)"), (C + "volumeDevices", [{"name": "v", "devicePath": "/dev/x"}]),
    (C + "resources.requests.cpu", "1"), (C + "resources.requests.cpu", "-1"), (C + "resources.requests.cpu", "abc"), (C + "resources.requests.nothing", "1"),
    (C + "resources.limits.example~com/gpu", "1"), (C + "resources.limits.example~com/gpu", "1.5"), (C + "resources.requests.memory", "1m"),
    (C + "resources.requests.hugepages-2Mi", "2Mi"), (C + "resources.claims", [{"name": "x"}]),
    (C + "livenessProbe.tcpSocket", {"port": 80}), (C + "livenessProbe.httpGet", DELETE), (C + "livenessProbe.httpGet.port", 0),
    (C + "livenessProbe.httpGet.port", "none!"), (C + "livenessProbe.httpGet.path", ""), (C + "livenessProbe.httpGet.scheme", "FTP"),
    (C + "livenessProbe.httpGet.httpHeaders", [{"name": "a b", "value": "x"}]), (C + "livenessProbe.successThreshold", 2), (C + "livenessProbe.periodSeconds", -1),
    (C + "livenessProbe.timeoutSeconds", -1), (C + "livenessProbe.failureThreshold", -1), (C + "livenessProbe.terminationGracePeriodSeconds", -1),
    (C + "readinessProbe", {"exec": {"command": []}}), (C + "readinessProbe", {"grpc": {"port": 0}}), (C + "readinessProbe", {"tcpSocket": {"port": 80}, "terminationGracePeriodSeconds": 5}),
    (C + "startupProbe", {"tcpSocket": {"port": "web"}, "successThreshold": 3}), (C + "lifecycle", {"postStart": {}}),
    (C + "lifecycle", {"preStop": {"exec": {"command": ["x"]}, "sleep": {"seconds": 5}}}), (C + "lifecycle", {"preStop": {"sleep": {"seconds": -5}}}),
    (C + "securityContext", {"privileged": True, "allowPrivilegeEscalation": False}), (C + "securityContext", {"runAsUser": -1}),
    (C + "securityContext", {"procMount": "Wrong"}), (C + "securityContext", {"seccompProfile": {"type": "Wrong"}}),
    (C + "securityContext", {"seccompProfile": {"type": "Localhost"}}), (C + "securityContext", {"capabilities": {"add": ["CAP_SYS_ADMIN"]}, "allowPrivilegeEscalation": False}),
    (C + "securityContext", {"appArmorProfile": {"type": "Localhost"}}), (C + "stdinOnce", "x"), (C + "restartPolicy", "Always"), (C + "resizePolicy", [{"resourceName": "x", "restartPolicy": "y"}]),
    (V, {"name": ""}), (V, {"name": "v"}), (V, {"name": "Bad_Name", "emptyDir": {}}), (V, {"name": "v", "emptyDir": {}, "hostPath": {"path": "/x"}}),
    ("spec.volumes[1]", {"name": "v", "emptyDir": {}}), (V, {"name": "v", "emptyDir": {"sizeLimit": "-1"}}), (V, {"name": "v", "emptyDir": {"medium": "Wrong"}}),
    (V, {"name": "v", "hostPath": {"path": ""}}), (V, {"name": "v", "hostPath": {"path": "/a/../b"}}), (V, {"name": "v", "hostPath": {"path": "/a", "type": "Wrong"}}),
    (V, {"name": "v", "secret": {}}), (V, {"name": "v", "secret": {"secretName": "s", "defaultMode": 1000}}),
    (V, {"name": "v", "secret": {"secretName": "s", "items": [{"key": "", "path": "../x"}]}}), (V, {"name": "v", "configMap": {}}),
    (V, {"name": "v", "configMap": {"name": "c", "items": [{"key": "k", "path": "/abs"}]}}), (V, {"name": "v", "persistentVolumeClaim": {"claimName": ""}}),
    (V, {"name": "v", "downwardAPI": {"items": [{"path": "a", "fieldRef": {"fieldPath": "spec.x"}}]}}), (V, {"name": "v", "downwardAPI": {"items": [{"path": "a"}]}}),
    (V, {"name": "v", "projected": {"sources": [{}]}}), (V, {"name": "v", "projected": {"sources": [{"serviceAccountToken": {"path": ""}}]}}),
    (V, {"name": "v", "projected": {"sources": [{"serviceAccountToken": {"path": "t", "expirationSeconds": 5}}]}}), (V, {"name": "v", "nfs": {}}),
    (V, {"name": "v", "projected": {"sources": [{"configMap": {"name": "a", "items": [{"key": "x", "path": "p"}]}}, {"secret": {"name": "b", "items": [{"key": "x", "path": "p"}]}}]}}),
    (V, {"name": "v", "csi": {"driver": ""}}), (V, {"name": "v", "gitRepo": {"repository": ""}}), (V, {"name": "v", "iscsi": {"targetPortal": "x"}}),
    (V, {"name": "v", "ephemeral": {}}), (V, {"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": {"accessModes": []}}}}), (V, {"name": "v", "image": {}}),
    ("spec.restartPolicy", "Sometimes"), ("spec.dnsPolicy", "Wrong"), ("spec.dnsPolicy", "None"), ("spec.dnsConfig", {"nameservers": ["x"]}),
    ("spec.dnsConfig", {"searches": ["bad domain"], "options": [{}]}), ("spec.terminationGracePeriodSeconds", -1), ("spec.activeDeadlineSeconds", 0),
    ("spec.nodeName", "Bad_Name"), ("spec.nodeSelector", {"a b": "c"}), ("spec.nodeSelector", {"a": "b c"}), ("spec.hostname", "Bad_Name"), ("spec.subdomain", "Bad_Name"),
    ("spec.hostNetwork", True), ("spec.hostAliases", [{"ip": "x", "hostnames": ["bad host"]}]), ("spec.serviceAccountName", "Bad_Name"), ("spec.serviceAccountName", "none"),
    ("spec.imagePullSecrets", [{}]), ("spec.priorityClassName", "none"), ("spec.priority", 5), ("spec.schedulerName", "Bad Name"), ("spec.runtimeClassName", "none"),
    ("spec.preemptionPolicy", "Wrong"), ("spec.os", {"name": "beos"}), ("spec.os", {"name": "windows"}), ("spec.overhead", {"cpu": "1"}),
    ("spec.tolerations", [{"operator": "Equal"}]), ("spec.tolerations", [{"key": "a", "operator": "Exists", "value": "x"}]), ("spec.tolerations", [{"key": "a b"}]),
    ("spec.tolerations", [{"key": "a", "effect": "Wrong"}]), ("spec.tolerations", [{"key": "a", "operator": "Wrong"}]),
    ("spec.tolerations", [{"key": "a", "tolerationSeconds": 5}]), ("spec.readinessGates", [{"conditionType": "bad type"}]), ("spec.schedulingGates", [{"name": ""}]),
    ("spec.schedulingGates", [{"name": "a"}, {"name": "a"}]), ("spec.topologySpreadConstraints", [{"maxSkew": 0, "topologyKey": "", "whenUnsatisfiable": "Wrong"}]),
    ("spec.topologySpreadConstraints", [{"maxSkew": 1, "topologyKey": "a", "whenUnsatisfiable": "ScheduleAnyway", "minDomains": 2}]),
    ("spec.affinity", {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}}),
    ("spec.affinity", {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Wrong"}]}]}}}),
    ("spec.affinity", {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "In"}]}]}}}),
    ("spec.affinity", {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 0, "preference": {}}]}}),
    ("spec.affinity", {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": ""}]}}),
    ("spec.affinity", {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 101, "podAffinityTerm": {"topologyKey": "a", "namespaces": ["Bad_"]}}]}}),
    ("spec.securityContext", {"sysctls": [{"name": "Bad Name", "value": "x"}]}), ("spec.securityContext", {"supplementalGroups": [-1]}),
    ("spec.securityContext", {"fsGroupChangePolicy": "Wrong"}), ("spec.securityContext", {"runAsUser": -5, "runAsGroup": -5, "fsGroup": -5}),
    ("spec.shareProcessNamespace", True), ("spec.hostPID", True), ("spec.initContainers", [{"name": "c", "image": "i"}]),
    ("spec.initContainers", [{"name": "i", "image": "i", "lifecycle": {"preStop": {"exec": {"command": ["x"]}}}, "livenessProbe": {"tcpSocket": {"port": 1}}}]),
    ("spec.initContainers", [{"name": "i", "image": "i", "restartPolicy": "Always"}]), ("spec.initContainers", [{"name": "i", "image": "i", "restartPolicy": "Never"}]),
    ("spec.ephemeralContainers", [{"name": "e", "image": "i"}]), ("spec.setHostnameAsFQDN", True), ("spec.hostUsers", False), ("spec.resourceClaims", [{"name": "x"}]),
    ("spec.resources", {"requests": {"cpu": "1"}}), ("status", {"phase": "Running"}), ("spec.unknown", 1), (C + "unknown", 1), ("spec.enableServiceLinks", "x"),
    ("metadata.annotations", {"seccomp.security.alpha.kubernetes.io/pod": "x"}), ("metadata.labels", {"topology.kubernetes.io/zone": "x"}),
]
creates("validate/pods", CORE + "pods", POD, POD_CHANGES)
updates("validate/pod updates", CORE + "pods", POD, [
    (C + "image", "other"), (C + "image", ""), (C + "name", "d"), (C + "env[0].value", "2"), ("spec.nodeName", "n1"), ("spec.restartPolicy", "Never"),
    ("spec.activeDeadlineSeconds", 10), ("spec.terminationGracePeriodSeconds", 5), ("spec.tolerations", []), ("spec.volumes", []), ("spec.priority", 9),
    ("spec.containers[1]", {"name": "d", "image": "i"}), ("metadata.labels", {"a": "b"}), ("spec.schedulingGates", [{"name": "a.b/c"}]), ("spec.nodeSelector", {"a": "b"}),
    (C + "resources.requests.cpu", "150m"), ("spec.hostname", "x"), ("status.phase", "Running"),
    ("spec.ephemeralContainers", [{"name": "e", "image": "i"}]), ("spec.serviceAccountName", "x"),
])

DEPLOYMENT = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": {"selector": SELECTOR, "template": TEMPLATE}}
TEMPLATE_CHANGES = [
    ("spec.selector", DELETE), ("spec.selector", {}), ("spec.selector.matchLabels", {"app": "y"}), ("spec.template", DELETE), ("spec.template.metadata", DELETE),
    ("spec.selector.matchExpressions", [{"key": "a", "operator": "Wrong"}]), ("spec.selector.matchExpressions", [{"key": "a", "operator": "In"}]),
    ("spec.template.spec.containers", []), ("spec.template.spec.containers[0].name", ""), ("spec.template.spec.restartPolicy", "Never"),
    ("spec.template.spec.activeDeadlineSeconds", 5), ("spec.template.metadata.labels", {"app": "a b"}), ("spec.replicas", -1), ("spec.minReadySeconds", -1),
    ("spec.template.metadata.name", "x"), ("spec.template.spec.containers[0].resources", {"requests": {"cpu": "x"}}), ("spec", DELETE),
]
creates("validate/deployments", APPS + "deployments", DEPLOYMENT, TEMPLATE_CHANGES + [
    ("spec.strategy", {"type": "Wrong"}), ("spec.strategy", {"type": "Recreate", "rollingUpdate": {}}), ("spec.strategy", {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}}),
    ("spec.strategy", {"rollingUpdate": {"maxSurge": "abc"}}), ("spec.strategy", {"rollingUpdate": {"maxUnavailable": "200%"}}), ("spec.strategy", {"rollingUpdate": {"maxSurge": -1}}),
    ("spec.revisionHistoryLimit", -1), ("spec.progressDeadlineSeconds", 0), ("spec.progressDeadlineSeconds", -5), ("spec.paused", "x"),
])
updates("validate/deployment updates", APPS + "deployments", DEPLOYMENT, [
    ("spec.selector.matchLabels.app", "y"), ("spec.selector.matchLabels.more", "y"), ("spec.replicas", 5), ("spec.template.spec.containers[0].image", ""),
    ("spec.template.metadata.labels.app", "y"), ("status.replicas", 4), ("metadata.generation", 50)])
creates("validate/replicasets", APPS + "replicasets", {**DEPLOYMENT, "kind": "ReplicaSet"}, TEMPLATE_CHANGES)
creates("validate/daemonsets", APPS + "daemonsets", {**DEPLOYMENT, "kind": "DaemonSet"}, TEMPLATE_CHANGES + [
    ("spec.updateStrategy", {"type": "Wrong"}), ("spec.updateStrategy", {"rollingUpdate": {"maxUnavailable": 0}}), ("spec.updateStrategy", {"type": "OnDelete"}),
    ("spec.updateStrategy", {"rollingUpdate": {"maxUnavailable": 1, "maxSurge": 1}}), ("spec.revisionHistoryLimit", -1)])
STATEFUL = {**DEPLOYMENT, "kind": "StatefulSet"}
creates("validate/statefulsets", APPS + "statefulsets", STATEFUL, TEMPLATE_CHANGES + [
    ("spec.serviceName", ""), ("spec.serviceName", "Bad_Name"), ("spec.podManagementPolicy", "Wrong"), ("spec.updateStrategy", {"type": "Wrong"}),
    ("spec.updateStrategy", {"rollingUpdate": {"partition": -1}}), ("spec.ordinals", {"start": -1}), ("spec.persistentVolumeClaimRetentionPolicy", {"whenDeleted": "Wrong"}),
    ("spec.volumeClaimTemplates", [{"metadata": {"name": "v"}, "spec": {}}]), ("spec.revisionHistoryLimit", -1)])
updates("validate/statefulset updates", APPS + "statefulsets", STATEFUL, [
    ("spec.serviceName", "x"), ("spec.podManagementPolicy", "Parallel"), ("spec.replicas", 4), ("spec.selector.matchLabels.x", "y"), ("spec.minReadySeconds", 3)])

JOB = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": {"template": {"spec": {**POD_SPEC, "restartPolicy": "Never"}}}}
creates("validate/jobs", BATCH + "jobs", JOB, [
    ("spec.template.spec.restartPolicy", "Always"), ("spec.template.spec.restartPolicy", DELETE), ("spec.parallelism", -1), ("spec.completions", -1), ("spec.backoffLimit", -1),
    ("spec.activeDeadlineSeconds", -1), ("spec.ttlSecondsAfterFinished", -1), ("spec.completionMode", "Wrong"), ("spec.completionMode", "Indexed"), ("spec.selector", SELECTOR),
    ("spec.manualSelector", True), ("spec.podFailurePolicy", {"rules": []}), ("spec.podFailurePolicy", {"rules": [{"action": "Wrong"}]}), ("spec.suspend", True),
    ("spec.podFailurePolicy", {"rules": [{"action": "Count", "onExitCodes": {"operator": "In", "values": [0]}}]}), ("spec.podReplacementPolicy", "Wrong"),
    ("spec.backoffLimitPerIndex", 1), ("spec.maxFailedIndexes", 1), ("spec.successPolicy", {"rules": [{"succeededCount": 1}]}), ("spec.managedBy", "bad value"), ("spec.template", DELETE)])
updates("validate/job updates", BATCH + "jobs", JOB, [
    ("spec.completions", 3), ("spec.parallelism", 3), ("spec.template.spec.containers[0].image", "x"), ("spec.selector", SELECTOR), ("spec.suspend", True),
    ("spec.completionMode", "Indexed"), ("spec.backoffLimit", 2)])
CRON = {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "c"}, "spec": {"schedule": "* * * * *", "jobTemplate": {"spec": JOB["spec"]}}}
creates("validate/cronjobs", BATCH + "cronjobs", CRON, [
    ("spec.schedule", ""), ("spec.schedule", "nonsense"), ("spec.schedule", "@daily"), ("spec.schedule", "TZ=UTC * * * * *"), ("spec.schedule", "60 * * * *"),
    ("spec.concurrencyPolicy", "Wrong"), ("spec.timeZone", "Nowhere/City"), ("spec.timeZone", "Europe/Berlin"), ("spec.timeZone", ""), ("spec.startingDeadlineSeconds", -1),
    ("spec.successfulJobsHistoryLimit", -1), ("spec.failedJobsHistoryLimit", -1), ("spec.jobTemplate.spec.template.spec.restartPolicy", "Always"),
    ("spec.jobTemplate.spec.manualSelector", True), ("metadata.name", "x" * 53)])

SERVICE = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": {"selector": {"a": "b"}, "ports": [{"port": 80, "name": "web"}]}}
creates("validate/services", CORE + "services", SERVICE, [
    ("metadata.name", "1a"), ("metadata.name", "a.b"), ("metadata.name", "x" * 64), ("spec.ports", []), ("spec.ports", DELETE), ("spec.ports[0].port", 0), ("spec.ports[0].port", 65536),
    ("spec.ports[0].name", "Bad_Name"), ("spec.ports[0].protocol", "ICMP"), ("spec.ports[0].targetPort", 0), ("spec.ports[0].targetPort", "bad name!"), ("spec.ports[0].nodePort", 30000),
    ("spec.ports[1]", {"port": 81}), ("spec.ports[1]", {"port": 80, "name": "other"}), ("spec.ports[1]", {"port": 81, "name": "web"}), ("spec.type", "Wrong"), ("spec.type", "ExternalName"),
    ("spec.externalName", "x.y"), ("spec.clusterIP", "x"), ("spec.clusterIPs", ["10.96.0.3", "10.96.0.4"]), ("spec.externalIPs", ["x"]), ("spec.externalIPs", ["127.0.0.1"]),
    ("spec.sessionAffinity", "Wrong"), ("spec.sessionAffinityConfig", {"clientIP": {"timeoutSeconds": 5}}), ("spec.externalTrafficPolicy", "Local"), ("spec.internalTrafficPolicy", "Wrong"),
    ("spec.internalTrafficPolicy", "Local"), ("spec.loadBalancerIP", "x"), ("spec.loadBalancerSourceRanges", ["10.0.0.0/8"]), ("spec.healthCheckNodePort", 5), ("spec.selector", {"a b": "c"}),
    ("spec.ipFamilies", ["IPv5"]), ("spec.ipFamilyPolicy", "Wrong"), ("spec.ports[0].appProtocol", "bad proto!"), ("spec.publishNotReadyAddresses", "x"), ("spec.loadBalancerClass", "x"),
    ("spec.trafficDistribution", "Wrong"), ("spec.allocateLoadBalancerNodePorts", True), ("spec", DELETE)])

NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "d-validate-node"}, "spec": {"podCIDR": "10.3.0.0/24"}}
creates("validate/nodes", "/api/v1/nodes", NODE, [
    ("spec.podCIDR", "x"), ("spec.podCIDRs", ["10.3.0.0/24", "10.4.0.0/24"]), ("spec.taints", [{"key": "", "effect": "NoSchedule"}]), ("spec.taints", [{"key": "a", "effect": "Wrong"}]),
    ("spec.taints", [{"key": "a", "effect": "NoSchedule"}, {"key": "a", "effect": "NoSchedule"}]), ("spec.taints", [{"key": "a", "value": "b c", "effect": "NoSchedule"}]),
    ("spec.unschedulable", True), ("spec.providerID", "x"), ("spec.configSource", {}), ("status.capacity", {"cpu": "-1"}), ("status.allocatable", {"cpu": "x"}), ("status.addresses", [{"type": "InternalIP", "address": "1.2.3.4"}]),
    ("spec.externalID", "x"), ("metadata.name", "Bad_Name"), ("spec", DELETE)])
updates("validate/node updates", "/api/v1/nodes", {**NODE, "metadata": {"name": "d-validate-node-updates"}}, [
    ("spec.podCIDR", "10.4.0.0/24"), ("spec.providerID", "a"), ("spec.unschedulable", True), ("spec.taints", [{"key": "a", "effect": "NoExecute"}]), ("metadata.labels.a", "b"), ("status.phase", "Running")])

creates("validate/secrets", CORE + "secrets", {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"k": "dg=="}}, [
    ("data", {"bad key!": "dg=="}), ("data", {"k": "!"}), ("data", {"": "dg=="}), ("data", {"..": "dg=="}), ("stringData", {"k": "w"}), ("stringData", {"a b": "w"}), ("type", "kubernetes.io/tls"), ("type", "kubernetes.io/basic-auth"),
    ("type", "kubernetes.io/ssh-auth"), ("type", "kubernetes.io/dockerconfigjson"), ("type", "kubernetes.io/dockercfg"), ("type", "kubernetes.io/service-account-token"), ("type", "bootstrap.kubernetes.io/token"), ("immutable", True),
    ("data", {"k": "x" * 1500000}), ("type", "")])
updates("validate/secret updates", CORE + "secrets", {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "type": "example.com/t", "data": {"k": "dg=="}}, [
    ("type", "other"), ("type", ""), ("data.k", "dw=="), ("data", DELETE), ("immutable", True), ("stringData", {"z": "w"})])
creates("validate/configmaps", CORE + "configmaps", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"k": "v"}}, [
    ("data", {"bad key!": "v"}), ("data", {"": "v"}), ("data", {".": "v"}), ("data", {"..": "v"}), ("data", {"..a": "v"}), ("data", {"x" * 254: "v"}), ("binaryData", {"k": "dg=="}), ("binaryData", {"a b": "dg=="}), ("data", {"k": "x" * 1048577}),
    ("immutable", True), ("data", None), ("data", DELETE)])

creates("validate/roles", RBAC + "namespaces/{ns}/roles", {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "r"}, "rules": RULES}, [
    ("rules", []), ("rules[0].verbs", []), ("rules[0].apiGroups", []), ("rules[0].resources", []), ("rules[0].nonResourceURLs", ["/x"]), ("rules[0].resourceNames", ["a"]), ("metadata.name", "a:b"), ("metadata.name", "a/b"), ("metadata.name", "a%b"), ("rules", "x")])
creates("validate/clusterroles", RBAC + "clusterroles", {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "d-validate-role"}, "rules": RULES}, [
    ("rules[0]", {"verbs": ["get"], "nonResourceURLs": ["/x"]}), ("rules[0]", {"verbs": ["get"], "nonResourceURLs": ["/x"], "resources": ["pods"], "apiGroups": [""]}), ("rules[0]", {}), ("aggregationRule", {}),
    ("aggregationRule", {"clusterRoleSelectors": []}), ("aggregationRule", {"clusterRoleSelectors": [{"matchLabels": {"a b": "c"}}]})])
BINDING = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": "b"},
           "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}, "subjects": [{"kind": "User", "name": "u", "apiGroup": "rbac.authorization.k8s.io"}]}
creates("validate/rolebindings", RBAC + "namespaces/{ns}/rolebindings", BINDING, [
    ("roleRef", DELETE), ("roleRef.kind", "Wrong"), ("roleRef.apiGroup", "wrong"), ("roleRef.name", ""), ("roleRef.name", "a/b"), ("subjects[0].kind", "Wrong"), ("subjects[0].kind", ""), ("subjects[0].name", ""), ("subjects[0].apiGroup", "wrong"),
    ("subjects[0]", {"kind": "ServiceAccount", "name": "s"}), ("subjects[0]", {"kind": "ServiceAccount", "name": "Bad_", "namespace": "n", "apiGroup": "x"}), ("subjects[0]", {"kind": "Group", "name": ""}), ("subjects", []), ("roleRef.name", "none")])
updates("validate/rolebinding updates", RBAC + "namespaces/{ns}/rolebindings", BINDING, [("roleRef.name", "edit"), ("roleRef.kind", "Role"), ("subjects", []), ("subjects[0].name", "v")])

creates("validate/leases", "/apis/coordination.k8s.io/v1/namespaces/{ns}/leases", {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "l"}, "spec": {"holderIdentity": "me", "leaseDurationSeconds": 5}}, [
    ("spec.leaseDurationSeconds", 0), ("spec.leaseDurationSeconds", -1), ("spec.leaseTransitions", -1), ("spec.holderIdentity", ""), ("spec.renewTime", "x"), ("spec.renewTime", "2026-01-02T03:04:05Z"), ("spec.renewTime", "2026-01-02T03:04:05.123456Z"),
    ("spec.acquireTime", "2026-01-02T03:04:05.1Z"), ("spec.strategy", "x"), ("spec.preferredHolder", "x"), ("spec", DELETE)])

creates("validate/claims", CORE + "persistentvolumeclaims", {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}, [
    ("spec.accessModes", []), ("spec.accessModes", ["Wrong"]), ("spec.resources", {}), ("spec.resources.requests.storage", "0"), ("spec.resources.requests.storage", "-1Gi"), ("spec.volumeMode", "Wrong"), ("spec.storageClassName", "Bad_"),
    ("spec.accessModes", ["ReadWriteOncePod", "ReadWriteMany"]), ("spec.selector", {"matchLabels": {"a b": "c"}}), ("spec.dataSource", {"kind": "", "name": ""})])
creates("validate/policies", "/apis/networking.k8s.io/v1/namespaces/{ns}/networkpolicies", {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": "n"}, "spec": {"podSelector": {}}}, [
    ("spec.policyTypes", ["Wrong"]), ("spec.ingress", [{"from": [{}]}]), ("spec.ingress", [{"from": [{"ipBlock": {"cidr": "x"}}]}]), ("spec.ingress", [{"ports": [{"port": 70000}]}]), ("spec.egress", [{"to": [{"ipBlock": {"cidr": "10.0.0.0/8", "except": ["11.0.0.0/16"]}}]}]),
    ("spec.ingress", [{"ports": [{"port": 80, "endPort": 70}]}]), ("spec.podSelector", {"matchLabels": {"a": "b c"}})])
creates("validate/budgets", "/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets", {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b"}, "spec": {"minAvailable": 1, "selector": SELECTOR}}, [
    ("spec.maxUnavailable", 1), ("spec.minAvailable", -1), ("spec.minAvailable", "200%"), ("spec.minAvailable", "x"), ("spec.unhealthyPodEvictionPolicy", "Wrong"), ("spec.selector", {"matchLabels": {"a": "b c"}})])
creates("validate/autoscalers", "/apis/autoscaling/v2/namespaces/{ns}/horizontalpodautoscalers", {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "h"},
        "spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}, "maxReplicas": 5}}, [
    ("spec.maxReplicas", 0), ("spec.minReplicas", 0), ("spec.minReplicas", 9), ("spec.scaleTargetRef", {}), ("spec.scaleTargetRef.kind", "a/b"), ("spec.metrics", [{"type": "Wrong"}]), ("spec.metrics", [{"type": "Resource"}]),
    ("spec.metrics", [{"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization"}}}]), ("spec.behavior", {"scaleUp": {"stabilizationWindowSeconds": -1}}), ("spec.behavior", {"scaleDown": {"policies": [{"type": "Wrong", "value": 0, "periodSeconds": 0}]}})])
creates("validate/ingresses", "/apis/networking.k8s.io/v1/namespaces/{ns}/ingresses", {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": {"name": "i"},
        "spec": {"rules": [{"host": "a.example.com", "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": {"service": {"name": "s", "port": {"number": 80}}}}]}}]}}, [
    ("spec.rules", []), ("spec.rules[0].host", "1.2.3.4"), ("spec.rules[0].host", "Bad_"), ("spec.rules[0].http.paths[0].pathType", DELETE), ("spec.rules[0].http.paths[0].path", "x"), ("spec.rules[0].http.paths[0].backend", {}),
    ("spec.rules[0].http.paths[0].backend.service.port", {}), ("spec.rules[0].http.paths[0].backend.service.port", {"number": 80, "name": "x"}), ("spec.tls", [{"hosts": ["Bad_"]}]), ("spec.ingressClassName", "Bad_"), ("spec.rules[0].http.paths", [])])
creates("validate/priorityclasses", "/apis/scheduling.k8s.io/v1/priorityclasses", {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "d-validate-priority"}, "value": 5}, [
    ("value", 2000000000), ("preemptionPolicy", "Wrong"), ("globalDefault", "x"), ("metadata.name", "system-x"), ("value", DELETE)])
creates("validate/endpointslices", "/apis/discovery.k8s.io/v1/namespaces/{ns}/endpointslices", {"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "metadata": {"name": "e"}, "addressType": "IPv4", "endpoints": [{"addresses": ["10.1.2.3"]}]}, [
    ("addressType", "Wrong"), ("addressType", DELETE), ("endpoints[0].addresses", []), ("endpoints[0].addresses", ["x"]), ("endpoints[0].addresses", ["::1"]), ("ports", [{"name": "Bad_", "port": 70000}]), ("endpoints[0].hostname", "Bad_")])
creates("validate/quotas", CORE + "resourcequotas", {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard": {"pods": "1000"}}}, [
    ("spec.hard", {"nothing": "1"}), ("spec.hard", {"pods": "-1"}), ("spec.hard", {"pods": "x"}), ("spec.scopes", ["Wrong"]), ("spec.scopes", ["BestEffort", "NotBestEffort"]), ("spec.hard", {"requests.cpu": "1", "count/deployments.apps": "5"})])
