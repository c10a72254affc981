# SPDX-License-Identifier: Apache-2.0
"""The Python client at work. usage: python_client.py KUBECONFIG; prints 'done' when all came true."""
import sys
import threading

from kubernetes import client, config, dynamic, utils, watch
from kubernetes.client.exceptions import ApiException

NS = "default"


def config_maps(api):
    made = api.create_namespaced_config_map(NS, client.V1ConfigMap(
        metadata=client.V1ObjectMeta(name="py", labels={"app": "py"}), data={"k": "1"}))
    assert made.metadata.uid and made.metadata.creation_timestamp.year > 2000
    assert api.read_namespaced_config_map("py", NS).data == {"k": "1"}
    assert api.patch_namespaced_config_map("py", NS, {"data": {"k": "2"}}).data == {"k": "2"}
    assert api.patch_namespaced_config_map("py", NS, [{"op": "add", "path": "/data/j", "value": "x"}]).data["j"] == "x"
    made.data = {"k": "3"}
    try:
        api.replace_namespaced_config_map("py", NS, made)
        raise AssertionError("a stale object must not be taken")
    except ApiException as e:
        assert e.status == 409 and e.reason == "Conflict", e
    listed = api.list_namespaced_config_map(NS, label_selector="app=py", limit=1)
    assert [i.metadata.name for i in listed.items] == ["py"]
    assert api.list_config_map_for_all_namespaces(field_selector="metadata.name=py").items
    api.delete_namespaced_config_map("py", NS, body=client.V1DeleteOptions(grace_period_seconds=0))
    try:
        api.read_namespaced_config_map("py", NS)
        raise AssertionError("what was deleted must be gone")
    except ApiException as e:
        assert e.status == 404


def watches(api):
    version = api.list_namespaced_config_map(NS).metadata.resource_version

    def write():
        api.create_namespaced_config_map(NS, {"metadata": {"name": "watched"}})
        api.patch_namespaced_config_map("watched", NS, {"data": {"a": "b"}})
        api.delete_namespaced_config_map("watched", NS)
    thread = threading.Thread(target=write)
    thread.start()
    w, seen = watch.Watch(), []
    for event in w.stream(api.list_namespaced_config_map, NS, resource_version=version, field_selector="metadata.name=watched",
                          timeout_seconds=20):
        seen.append(event["type"])
        if event["type"] == "DELETED":
            w.stop()
    thread.join()
    assert seen == ["ADDED", "MODIFIED", "DELETED"], seen


def workloads(api_client):
    apps = client.AppsV1Api(api_client)
    labels = {"app": "py"}
    spec = client.V1DeploymentSpec(
        selector=client.V1LabelSelector(match_labels=labels),
        template=client.V1PodTemplateSpec(metadata=client.V1ObjectMeta(labels=labels), spec=client.V1PodSpec(
            containers=[client.V1Container(name="c", image="busybox", resources=client.V1ResourceRequirements(requests={"cpu": "100m"}))])))
    made = apps.create_namespaced_deployment(NS, client.V1Deployment(metadata=client.V1ObjectMeta(name="py"), spec=spec))
    assert made.spec.replicas == 1 and made.spec.strategy.rolling_update.max_surge == "25%"
    assert apps.patch_namespaced_deployment_scale("py", NS, {"spec": {"replicas": 4}}).spec.replicas == 4
    assert apps.read_namespaced_deployment("py", NS).metadata.generation == 2
    apps.delete_namespaced_deployment("py", NS)
    utils.create_from_dict(api_client, {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "py", "namespace": NS},
                                        "spec": {"selector": labels, "ports": [{"port": 80}]}})
    service = client.CoreV1Api(api_client).read_namespaced_service("py", NS)
    assert service.spec.cluster_ip and service.spec.ports[0].target_port == 80
    client.CoreV1Api(api_client).delete_namespaced_service("py", NS)


def untyped(api_client):
    found = dynamic.DynamicClient(api_client).resources.get(api_version="coordination.k8s.io/v1", kind="Lease")
    body = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "py"}, "spec": {"holderIdentity": "me"}}
    found.create(body=body, namespace=NS)
    assert found.get(name="py", namespace=NS).spec.holderIdentity == "me"
    applied = found.server_side_apply(body={**body, "spec": {"leaseDurationSeconds": 5}}, namespace=NS, name="py", field_manager="py")
    assert applied.spec.leaseDurationSeconds == 5
    found.delete(name="py", namespace=NS)


def reviews(api_client):
    review = client.AuthorizationV1Api(api_client).create_self_subject_access_review({
        "spec": {"resourceAttributes": {"namespace": NS, "verb": "get", "resource": "pods"}}})
    assert review.status.allowed
    assert client.VersionApi(api_client).get_code().major == "1"
    assert "apps" in [g.name for g in client.ApisApi(api_client).get_api_versions().groups]


def main():
    config.load_kube_config(sys.argv[1])
    with client.ApiClient() as api_client:
        config_maps(client.CoreV1Api(api_client))
        watches(client.CoreV1Api(api_client))
        workloads(api_client)
        untyped(api_client)
        reviews(api_client)
    print("done")


main()
