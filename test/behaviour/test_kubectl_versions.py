# SPDX-License-Identifier: Apache-2.0
"""The same work with the oldest kubectl that people still have (1.20, from Debian 12) and with the newest."""
import functools
import json
import os
import subprocess
import uuid

import pytest

from conftest import DEADLINE_S, GO_HAS_ANOTHER_CLOCK, ROOT, find_kubectl, wait_for

DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: c, image: "%s", ports: [{containerPort: 80}]}
"""

CRD = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: voles.field.io}
spec:
  group: field.io
  scope: Namespaced
  names: {plural: voles, singular: vole, kind: Vole, shortNames: [vo]}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            description: What it does.
            properties:
              nap: {type: string, description: How it sleeps.}
"""


@functools.cache
def program(version):
    if version == "newest" or GO_HAS_ANOTHER_CLOCK:
        return find_kubectl()
    done = subprocess.run([ROOT / "test/get-client", "kubectl-1.20"], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else None


class Kubectl:
    def __init__(self, api, path, version):
        self.api, self.path, self.is_old = api, path, version == "1.20"
        self.ns = "k-" + uuid.uuid4().hex[:8]
        self.run("create", "namespace", self.ns, namespaced=False)

    def command(self, args, namespaced):
        return [self.path, *(["-n", self.ns] if namespaced else []), *args]

    def environment(self):
        return dict(os.environ, KUBECONFIG=self.api.kubeconfig, HOME=str(self.api.data_dir), KUBE_EDITOR="")

    def run(self, *args, check=True, input=None, namespaced=True):
        done = subprocess.run(self.command(args, namespaced), capture_output=True, text=True, input=input, env=self.environment(), timeout=60)
        if check:
            assert done.returncode == 0, f"kubectl {' '.join(args)}: {done.stderr}"
        return done

    def start(self, *args):
        return subprocess.Popen(self.command(args, True), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.environment())


@pytest.fixture(params=["1.20", "newest"])
def kubectl(request, shared_api):
    path = program(request.param)
    if not path:
        pytest.skip(f"no kubectl {request.param} here")
    return Kubectl(shared_api, path, request.param)


def test_resources_and_explanations(kubectl):
    names = {line.split()[0] for line in kubectl.run("api-resources", "--no-headers").stdout.splitlines()}
    assert {"pods", "deployments", "configmaps", "leases", "roles", "customresourcedefinitions"} <= names
    assert "apps/v1" in kubectl.run("api-versions").stdout.split()
    assert "containers" in kubectl.run("explain", "pod.spec").stdout
    text = kubectl.run("explain", "deployment.spec.template.spec.containers.livenessProbe.httpGet").stdout
    assert "scheme" in text and "port" in text
    assert "does not exist" in kubectl.run("explain", "pod.nothing", check=False).stderr


def test_explain_says_what_types_and_fields_mean(kubectl):
    """From OpenAPI version 3, and from version 2, which is all that the old kubectl reads."""
    ways = [[]] if kubectl.is_old else [[], ["--output", "plaintext-openapiv2"]]
    for way in ways:
        def explain(*args):
            return " ".join(kubectl.run("explain", *args, *way).stdout.split())
        text = explain("pod.spec.containers")
        assert "The containers of the pod, at least one; none can be added or removed later." in text
        assert "A program in an image that runs in a pod." in text
        assert "Working directory of the program; the image's if unset." in text
        text = explain("node.status")
        assert "What a node is like." in text and "Images on the node." in text
        assert "rounded up; the default is 25%." in explain("deployment.spec.strategy.rollingUpdate")
        text = explain("deployment", "--recursive")
        assert "progressDeadlineSeconds" in text and "livenessProbe" in text and "matchExpressions" in text
        assert "When the server stored the object, in UTC." in explain("configmap.metadata.creationTimestamp")


def test_wrong_fields_are_found(kubectl):
    bad = DEPLOYMENT.replace("replicas", "replcas") % "busybox"
    done = kubectl.run("create", "-f", "-", input=bad, check=False)
    assert done.returncode != 0 and "replcas" in done.stderr, done.stderr
    bad = DEPLOYMENT.replace("replicas: 2", "replicas: two") % "busybox"
    done = kubectl.run("create", "-f", "-", input=bad, check=False)
    assert done.returncode != 0 and "replicas" in done.stderr, done.stderr
    kubectl.run("create", "--validate=false", "-f", "-", input=DEPLOYMENT.replace("replicas: 2", "replcas: 2") % "busybox")


def test_apply_diff_and_prune(kubectl):
    assert "created" in kubectl.run("apply", "-f", "-", input=DEPLOYMENT % "busybox").stdout
    assert "unchanged" in kubectl.run("apply", "-f", "-", input=DEPLOYMENT % "busybox").stdout
    done = kubectl.run("diff", "-f", "-", input=DEPLOYMENT % "alpine", check=False)
    assert done.returncode == 1 and "alpine" in done.stdout, done.stderr
    assert "configured" in kubectl.run("apply", "-f", "-", input=DEPLOYMENT % "alpine").stdout
    assert kubectl.run("get", "deploy", "web", "-o", "jsonpath={.spec.template.spec.containers[0].image}").stdout == "alpine"
    assert "serverside-applied" in kubectl.run("apply", "--server-side", "--force-conflicts", "-f", "-", input=DEPLOYMENT % "alpine").stdout
    managers = json.loads(kubectl.run("get", "deploy", "web", "-o", "json", *([] if kubectl.is_old else ["--show-managed-fields"])).stdout)
    assert "kubectl" in {m["manager"] for m in managers["metadata"]["managedFields"]}
    assert "app=web" in kubectl.run("get", "deploy", "--show-labels").stdout


def test_scale_and_rollout(kubectl):
    kubectl.run("apply", "-f", "-", input=DEPLOYMENT % "busybox")
    kubectl.run("scale", "deploy/web", "--replicas=3", "--current-replicas=2")
    assert kubectl.run("get", "deploy", "web", "-o", "jsonpath={.spec.replicas}").stdout == "3"
    assert kubectl.run("scale", "deploy/web", "--replicas=3", "--current-replicas=2", check=False).returncode != 0
    rollout = kubectl.start("rollout", "status", "deploy/web", "--timeout=50s")
    try:
        assert "Waiting" in rollout.stdout.readline()
        path = f"/apis/apps/v1/namespaces/{kubectl.ns}/deployments/web/status"
        status = {"observedGeneration": 2, "replicas": 3, "updatedReplicas": 3, "readyReplicas": 3, "availableReplicas": 3}
        answer = kubectl.api.ask("PATCH", path, {"status": status}, Content_Type="application/merge-patch+json")
        assert answer.status == 200, answer.body
        assert rollout.wait(DEADLINE_S) == 0, rollout.stderr.read()
    finally:
        rollout.kill()
        rollout.communicate()
    kubectl.run("rollout", "pause", "deploy/web")
    kubectl.run("rollout", "resume", "deploy/web")
    kubectl.run("rollout", "restart", "deploy/web")
    kubectl.run("set", "image", "deploy/web", "c=nginx")
    assert "nginx" in kubectl.run("describe", "deploy", "web").stdout


def test_watch_and_wait(kubectl):
    stream = kubectl.start("get", "pods", "-w", "-o", "name")
    try:
        kubectl.run("run", "p", "--image=busybox", "--restart=Never")
        assert stream.stdout.readline().strip() == "pod/p"
    finally:
        stream.kill()
        stream.communicate()
    waiting = kubectl.start("wait", "--for=condition=Ready", "pod/p", "--timeout=50s")
    path = f"/api/v1/namespaces/{kubectl.ns}/pods/p/status"
    ready = {"status": {"conditions": [{"type": "Ready", "status": "True"}], "phase": "Running"}}
    answer = kubectl.api.ask("PATCH", path, ready, Content_Type="application/strategic-merge-patch+json")
    assert answer.status == 200, answer.body
    assert waiting.wait(DEADLINE_S) == 0, waiting.stderr.read()
    waiting.communicate()
    assert "Running" in kubectl.run("get", "pod", "p").stdout
    assert "busybox" in kubectl.run("describe", "pod", "p").stdout
    kubectl.run("delete", "pod", "p", "--wait", "--timeout=50s", "--grace-period=0", "--force")


def test_what_one_may(kubectl):
    assert kubectl.run("auth", "can-i", "create", "deployments").stdout.strip() == "yes"
    done = kubectl.run("auth", "can-i", "get", "secrets", "--as", "nobody", check=False)
    assert done.stdout.split()[0] == "no"
    kubectl.run("create", "role", "reader", "--verb=get,list", "--resource=configmaps")
    kubectl.run("create", "rolebinding", "reader", "--role=reader", "--user=nobody")
    assert kubectl.run("auth", "can-i", "get", "configmaps", "--as", "nobody").stdout.strip() == "yes"
    assert "configmaps" in kubectl.run("auth", "can-i", "--list", "--as", "nobody").stdout
    done = kubectl.run("get", "secrets", "--as", "nobody", check=False)
    assert 'User "nobody" cannot list resource "secrets" in API group "" in the namespace' in done.stderr
    if not kubectl.is_old:
        who = json.loads(kubectl.run("auth", "whoami", "-o", "json").stdout)
        assert "system:masters" in who["status"]["userInfo"]["groups"]
        kubectl.run("create", "serviceaccount", "robot")
        token = kubectl.run("create", "token", "robot", "--duration=20m").stdout.strip()
        answer = kubectl.api.ask("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {}, Authorization="Bearer " + token)
        assert answer.json()["status"]["userInfo"]["username"] == f"system:serviceaccount:{kubectl.ns}:robot"


def test_custom_resources(kubectl):
    kubectl.run("apply", "-f", "-", input=CRD)
    kubectl.run("wait", "--for=condition=Established", "crd/voles.field.io", "--timeout=50s")
    wait_for(lambda: "voles" in kubectl.run("api-resources").stdout, "the resource to be discovered")
    vole = "apiVersion: field.io/v1\nkind: Vole\nmetadata: {name: v}\nspec: {nap: %s}\n"
    kubectl.run("apply", "-f", "-", input=vole % "long")
    assert "v" in kubectl.run("get", "vo", "-o", "name").stdout
    assert "How it sleeps." in kubectl.run("explain", "vole.spec").stdout
    done = kubectl.run("diff", "-f", "-", input=vole % "short", check=False)
    assert done.returncode == 1 and "short" in done.stdout, done.stderr
    kubectl.run("delete", "vole", "v", "--wait", "--timeout=50s")
