# SPDX-License-Identifier: Apache-2.0
"""Where the images of pods come from: pull policies, Secrets, failures; ephemeral containers."""
import base64
import json

import pytest

from conftest import wait_for
from pods_kit import IMAGE, PODS, Cluster, busybox_archive, is_ready, needs_pods, state_of, status_of, store
from registry_kit import fake

pytestmark = needs_pods

SLEEP = ["sleep", "100000"]


@pytest.fixture(scope="module")
def registry(tmp_path_factory):
    with fake() as server:
        layout = busybox_archive(tmp_path_factory.mktemp("layout") / "l")
        server.add_manifest(layout, layout.manifests[0], "team/box", "v1")
        server.auth, server.users = "basic", {"puller": "secret"}
        yield server


@pytest.fixture(scope="module")
def cluster(tmp_path_factory, store, registry):
    up = Cluster(tmp_path_factory.mktemp("pods") / "data", store, "--image-registry", registry.host)
    yield up
    up.clear()
    assert up.stop() == 0


def pull_secret(cluster, registry, name, password="secret"):
    auth = base64.b64encode(f"puller:{password}".encode()).decode()
    cluster.put("Secret", name, type="kubernetes.io/dockerconfigjson", stringData={".dockerconfigjson": json.dumps({"auths": {registry.host: {"auth": auth}}})})


def one(image, policy, command=SLEEP):
    return [{"name": "a", "image": image, "imagePullPolicy": policy, "command": command}]


def test_a_pull_needs_the_secret_of_the_pod(cluster, registry):
    image = f"{registry.host}/team/box:v1"
    pull_secret(cluster, registry, "login")
    pull_secret(cluster, registry, "wrong", "no")
    cluster.run("without", containers=one(image, "IfNotPresent"))
    pod = cluster.wait("without", lambda p: state_of(p)[1].get("reason") in ("ErrImagePull", "ImagePullBackOff"))
    cluster.wait_reason("without", "Failed")
    cluster.run("wrong", containers=one(image, "IfNotPresent"), imagePullSecrets=[{"name": "wrong"}])
    cluster.wait("wrong", lambda p: state_of(p)[1].get("reason") in ("ErrImagePull", "ImagePullBackOff"))
    cluster.run("with", containers=one(image, "IfNotPresent"), imagePullSecrets=[{"name": "wrong"}, {"name": "login"}])
    pod = cluster.wait("with", is_ready)
    assert status_of(pod)["image"] == image and "sha256:" in status_of(pod)["imageID"]
    cluster.wait_reason("with", "Pulled")
    cluster.run("never", containers=one(image, "Never"), imagePullSecrets=[{"name": "login"}])
    cluster.wait("never", is_ready)
    before = len(registry.seen)
    cluster.run("present", containers=one(image, "IfNotPresent"), imagePullSecrets=[{"name": "login"}])
    cluster.wait("present", is_ready)
    assert len(registry.seen) == before
    cluster.run("always", containers=one(image, "Always"), imagePullSecrets=[{"name": "login"}])
    cluster.wait("always", is_ready)
    assert len(registry.seen) > before
    # What one pod's credentials have pulled is not for a pod without them.
    cluster.run("other", containers=one(image, "IfNotPresent"))
    cluster.wait("other", lambda p: state_of(p)[1].get("reason") in ("ErrImagePull", "ImagePullBackOff"))


def test_the_secrets_of_the_service_account_count(cluster, registry):
    pull_secret(cluster, registry, "of-account")
    cluster.create("/api/v1/namespaces/default/serviceaccounts", {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "puller"},
                                                                 "imagePullSecrets": [{"name": "of-account"}]})
    cluster.run("account", containers=one(f"{registry.host}/team/box:v1", "Always"), serviceAccountName="puller")
    cluster.wait("account", is_ready)


def test_images_that_cannot_be_had(cluster, registry):
    cluster.run("missing", containers=one(f"{registry.host}/team/none:v1", "IfNotPresent"))
    cluster.run("bad", containers=one(f"{registry.host}/UPPER:v1", "IfNotPresent"))
    cluster.run("absent", containers=one("no-such:1", "Never"))
    pod = cluster.wait("missing", lambda p: state_of(p)[1].get("reason") in ("ErrImagePull", "ImagePullBackOff"))
    assert pod["status"]["phase"] == "Pending"
    cluster.wait("bad", lambda p: state_of(p)[1].get("reason") == "InvalidImageName")
    cluster.wait("absent", lambda p: state_of(p)[1].get("reason") == "ErrImageNeverPull")
    cluster.wait("missing", lambda p: state_of(p)[1].get("reason") == "ImagePullBackOff")


def test_a_new_image_in_place(cluster):
    cluster.run("image")
    pod = cluster.wait("image", is_ready)
    cluster.patch(f"{PODS}/image", {"spec": {"containers": [{"name": "a", "image": "docker.io/library/" + IMAGE}]}}, "strategic-merge-patch")
    new = cluster.wait("image", lambda p: status_of(p)["restartCount"] == 1 and is_ready(p))
    assert status_of(new)["image"].startswith("docker.io/") and status_of(pod)["containerID"] != status_of(new)["containerID"]


def add_ephemeral(cluster, name, **container):
    body = {"spec": {"ephemeralContainers": [{"name": "debug", "image": IMAGE, "imagePullPolicy": "IfNotPresent", **container}]}}
    cluster.patch(f"{PODS}/{name}/ephemeralcontainers", body, "strategic-merge-patch")


def test_ephemeral_containers(cluster):
    cluster.run("target")
    cluster.wait("target", is_ready)
    add_ephemeral(cluster, "target", command=["sh", "-c", "ps; cat /proc/1/cmdline; echo; exit 3"], targetContainerName="a")
    pod = cluster.wait("target", lambda p: state_of(p, "debug")[0] == "terminated")
    assert state_of(pod, "debug")[1]["exitCode"] == 3 and is_ready(pod)
    wait_for(lambda: any("sleep 100000" in line for line in cluster.log_of(pod, "debug")), "the target's processes")
    # Also where an init container does not end.
    cluster.run("stuck", initContainers=[{"name": "i", "command": SLEEP}])
    cluster.wait("stuck", lambda p: state_of(p, "i")[0] == "running")
    add_ephemeral(cluster, "stuck", command=["sh", "-c", "hostname"])
    pod = cluster.wait("stuck", lambda p: state_of(p, "debug")[0] == "terminated")
    assert cluster.log_of(pod, "debug") == ["stuck"] and pod["status"]["phase"] == "Pending"
