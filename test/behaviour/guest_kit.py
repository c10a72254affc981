# SPDX-License-Identifier: Apache-2.0
"""What tests of operators need of a cluster, whether guests or processes run them."""
import yaml

from conftest import ROOT, wait_for

RING = "/apis/amurant.io/v1"
RULES = "/apis/sync.dormouse.dev/v1alpha1"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def apply_crd(api, path):
    """The definitions in a file, until they are served."""
    for crd in yaml.safe_load_all((ROOT / path).read_text()):
        if api.get(f"{CRDS}/{crd['metadata']['name']}").status == 404:
            api.create(CRDS, crd)
        group, version, names = crd["spec"]["group"], crd["spec"]["versions"][0]["name"], crd["spec"]["names"]
        served = f"/apis/{group}/{version}/{names['plural']}"
        wait_for(lambda: api.get(served).status == 200, f"{served} is served")


def make_namespaces(api, *names, **labels):
    for name in names:
        api.create("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace",
                                          "metadata": {"name": name, "labels": labels}})


def set_nonce(api, namespace, nonce, name="run0"):
    path = f"{RING}/namespaces/{namespace}/testresources"
    body = {"apiVersion": "amurant.io/v1", "kind": "TestResource", "metadata": {"name": name}, "spec": {"nonce": nonce}}
    if api.get(f"{path}/{name}").status == 404:
        api.create(path, body)
    else:
        answer = api.ask("PATCH", f"{path}/{name}", {"spec": {"nonce": nonce}}, Content_Type="application/merge-patch+json")
        assert answer.status == 200, answer.body


def nonce_of(api, namespace, name="run0"):
    answer = api.get(f"{RING}/namespaces/{namespace}/testresources/{name}")
    return answer.json()["spec"]["nonce"] if answer.status == 200 else None


def check_mirror(api):
    """The mirror operator runs somewhere: from a rule's first copy to its last."""
    make_namespaces(api, "hub")
    make_namespaces(api, "web1", "web2", team="web")

    def config_map(namespace):
        answer = api.get(f"/api/v1/namespaces/{namespace}/configmaps/ca")
        return answer.json()["data"]["k"] if answer.status == 200 else None

    def set_value(namespace, value):
        assert api.ask("PATCH", f"/api/v1/namespaces/{namespace}/configmaps/ca", {"data": {"k": value}},
                       Content_Type="application/merge-patch+json").status == 200

    api.create("/api/v1/namespaces/hub/configmaps", {
        "apiVersion": "v1", "kind": "ConfigMap", "data": {"k": "1"},
        "metadata": {"name": "ca", "labels": {"sync.dormouse.dev/mirror": "true"}}})
    api.create("/api/v1/namespaces/hub/secrets", {
        "apiVersion": "v1", "kind": "Secret", "stringData": {"k": "s"},
        "metadata": {"name": "pull", "labels": {"sync.dormouse.dev/mirror": "true"}}})
    rule = f"{RULES}/namespaces/hub/mirrorrules"
    api.create(rule, {"apiVersion": "sync.dormouse.dev/v1alpha1", "kind": "MirrorRule", "metadata": {"name": "r"},
                      "spec": {"namespaceSelector": {"matchLabels": {"team": "web"}}}})
    wait_for(lambda: config_map("web1") == config_map("web2") == "1", "both copies are there")
    wait_for(lambda: api.get(f"{rule}/r").json().get("status", {}).get("copies") == 4, "the status counts them")
    set_value("hub", "2")
    wait_for(lambda: config_map("web1") == config_map("web2") == "2", "the copies follow")
    set_value("web1", "mine")
    wait_for(lambda: config_map("web1") == "2", "the copy is put right")
    make_namespaces(api, "web3", team="web")
    wait_for(lambda: config_map("web3") == "2", "a new namespace gets its copy")
    assert api.ask("DELETE", f"{rule}/r").status == 200
    wait_for(lambda: api.get(f"{rule}/r").status == 404, "the rule has gone")
    assert [config_map(f"web{i}") for i in (1, 2, 3)] == [None] * 3
    assert api.get("/api/v1/namespaces/web1/secrets/pull").status == 404
    assert config_map("hub") == "2"
