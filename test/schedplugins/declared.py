# SPDX-License-Identifier: Apache-2.0
"""Clusters for NodeDeclaredFeatures: kubelets that can do some of what a pod's spec needs."""
from clusters import container, generator, node, pod, some

FEATURES = ["RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport", "ExtendWebSocketsToKubelet", "SomethingElse"]
RESTART_ALL = {"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [1]}}
RESTART = dict(RESTART_ALL, action="Restart")


def demanding_pod(random, name):
    c = container("c", requests={"cpu": "100m"})
    spec = {}
    if random.random() < 0.4:
        spec["initContainers"] = [container("i", restartPolicyRules=[random.choice([RESTART, RESTART_ALL])])]
    if random.random() < 0.4:
        c["restartPolicyRules"] = random.choice([[RESTART], [RESTART, RESTART_ALL]])
    if random.random() < 0.5:
        spec["hostNetwork"] = random.random() < 0.7
    if random.random() < 0.6:
        spec["hostUsers"] = random.random() < 0.3
    return pod(name, [c], **spec)


@generator("declared")
def declared(random):
    nodes = [node(f"n{i}", {"cpu": "4", "memory": "8Gi", "pods": "110"}) for i in range(random.randint(1, 6))]
    for n in nodes:
        n["status"]["declaredFeatures"] = sorted(some(random, FEATURES))
    return {"config": None, "objects": nodes, "pods": [demanding_pod(random, f"p{i}") for i in range(random.randint(1, 5))]}
