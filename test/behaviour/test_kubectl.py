# SPDX-License-Identifier: Apache-2.0
"""What people do with kubectl, on built-in kinds and on custom resources."""
import json

import pytest

from conftest import DEADLINE_S, wait_for

CRD = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: mice.zoo.io
spec:
  group: zoo.io
  scope: Namespaced
  names: {plural: mice, singular: mouse, kind: Mouse, shortNames: [mo], categories: [all]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    additionalPrinterColumns:
    - {name: Nap, type: string, jsonPath: .spec.nap}
    - {name: Count, type: integer, jsonPath: .spec.count, priority: 1}
    schema:
      openAPIV3Schema:
        type: object
        description: A small animal.
        properties:
          spec:
            type: object
            required: [nap]
            properties:
              nap: {type: string, description: How it sleeps., enum: [long, short]}
              count: {type: integer, minimum: 0, default: 3}
          status:
            type: object
            properties:
              conditions:
                type: array
                items:
                  type: object
                  properties:
                    type: {type: string}
                    status: {type: string}
"""

MOUSE = """
apiVersion: zoo.io/v1
kind: Mouse
metadata: {name: %s}
spec: {nap: %s}
"""

CONFIG_MAP = """
apiVersion: v1
kind: ConfigMap
metadata: {name: %s, labels: {app: demo}}
data: {key: "%s"}
"""


@pytest.fixture(scope="module")
def api(shared_api):
    shared_api.kubectl("apply", "-f", "-", input=CRD)
    shared_api.kubectl("wait", "--for=condition=Established", "crd/mice.zoo.io", "--timeout=50s")
    return shared_api


@pytest.fixture
def ns(api, request):
    """A namespace of the test's own."""
    name = request.node.name.replace("_", "-").replace("[", "-").replace("]", "").lower()[:50].strip("-")
    api.kubectl("create", "namespace", name)
    yield name
    api.kubectl("delete", "namespace", name, "--wait=false")


def test_apply_is_create_then_configure_then_unchanged(api, ns):
    k = lambda text: api.kubectl("-n", ns, "apply", "-f", "-", input=text).stdout.strip()
    assert k(CONFIG_MAP % ("a", 1)) == "configmap/a created"
    assert k(CONFIG_MAP % ("a", 1)) == "configmap/a unchanged"
    assert k(CONFIG_MAP % ("a", 2)) == "configmap/a configured"
    assert k(MOUSE % ("m", "long")) == "mouse.zoo.io/m created"
    assert k(MOUSE % ("m", "long")) == "mouse.zoo.io/m unchanged"
    assert k(MOUSE % ("m", "short")) == "mouse.zoo.io/m configured"
    assert api.kubectl("-n", ns, "get", "mo", "m", "-o", "jsonpath={.spec.nap} {.spec.count}").stdout == "short 3"


def test_get_shows_tables(api, ns):
    api.kubectl("-n", ns, "apply", "-f", "-", input=CONFIG_MAP % ("a", 1))
    api.kubectl("-n", ns, "apply", "-f", "-", input=MOUSE % ("m", "long"))
    lines = api.kubectl("-n", ns, "get", "configmaps").stdout.splitlines()
    assert lines[0].split() == ["NAME", "DATA", "AGE"]
    assert lines[1].split()[:2] == ["a", "1"]
    lines = api.kubectl("-n", ns, "get", "mice").stdout.splitlines()
    assert lines[0].split() == ["NAME", "NAP"] or lines[0].split() == ["NAME", "NAP", "AGE"]
    assert lines[1].split()[:2] == ["m", "long"]
    wide = api.kubectl("-n", ns, "get", "mice", "-o", "wide").stdout.splitlines()
    assert "COUNT" in wide[0]
    assert "STATUS" in api.kubectl("get", "namespaces").stdout.splitlines()[0]
    assert api.kubectl("-n", ns, "get", "all").stdout.startswith("NAME")


def test_get_in_other_forms(api, ns):
    for name, value in (("b", 2), ("a", 1), ("c", 3)):
        api.kubectl("-n", ns, "apply", "-f", "-", input=CONFIG_MAP % (name, value))
    assert "kind: ConfigMap" in api.kubectl("-n", ns, "get", "cm", "a", "-o", "yaml").stdout
    assert json.loads(api.kubectl("-n", ns, "get", "cm", "-o", "json").stdout)["kind"] == "List"
    names = lambda *more: api.kubectl("-n", ns, "get", "cm", "-o", "name", *more).stdout.split()
    assert names() == ["configmap/a", "configmap/b", "configmap/c", "configmap/kube-root-ca.crt"]
    assert names("-l", "app=demo") == names()[:3] and names("-l", "app=other") == []
    assert names("--field-selector", "metadata.name=b") == ["configmap/b"]
    by = api.kubectl("-n", ns, "get", "cm", "-l", "app=demo", "--sort-by={.data.key}", "-o", "jsonpath={.items[*].metadata.name}").stdout
    assert by == "a b c"
    assert api.kubectl("-n", ns, "get", "cm", "--chunk-size=1", "-o", "name").stdout.split() == names()
    assert "not found" in api.kubectl("-n", ns, "get", "cm", "none", check=False).stderr


def test_get_w_follows(api, ns):
    stream = api.kubectl_stream("-n", ns, "get", "cm", "-w", "--output-watch-events", "-o", "name",
                                "--field-selector", "metadata.name=a")
    try:
        api.kubectl("-n", ns, "create", "configmap", "a")
        assert stream.stdout.readline().split()[-1] == "configmap/a"
        api.kubectl("-n", ns, "label", "cm", "a", "x=y")
        assert stream.stdout.readline().split()[-1] == "configmap/a"
        api.kubectl("-n", ns, "delete", "cm", "a")
        assert stream.stdout.readline().split()[-1] == "configmap/a"
    finally:
        stream.kill()
        stream.communicate()


def test_edit_changes_an_object(api, ns, tmp_path, monkeypatch):
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\nsed -i 's/nap: long/nap: short/' \"$1\"\n")
    editor.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(editor))
    api.kubectl("-n", ns, "apply", "-f", "-", input=MOUSE % ("m", "long"))
    assert "edited" in api.kubectl("-n", ns, "edit", "mouse", "m").stdout
    assert api.kubectl("-n", ns, "get", "mouse", "m", "-o", "jsonpath={.spec.nap}").stdout == "short"


@pytest.mark.parametrize("kind", ["strategic", "merge", "json"])
def test_patch_of_a_built_in_kind(api, ns, kind):
    api.kubectl("-n", ns, "create", "configmap", "a", "--from-literal=k=1")
    patch = '[{"op":"replace","path":"/data/k","value":"2"}]' if kind == "json" else '{"data":{"k":"2"}}'
    assert "patched" in api.kubectl("-n", ns, "patch", "cm", "a", "--type", kind, "-p", patch).stdout
    assert api.kubectl("-n", ns, "get", "cm", "a", "-o", "jsonpath={.data.k}").stdout == "2"


@pytest.mark.parametrize("kind", ["merge", "json"])
def test_patch_of_a_custom_resource(api, ns, kind):
    api.kubectl("-n", ns, "apply", "-f", "-", input=MOUSE % ("m", "long"))
    patch = '[{"op":"add","path":"/spec/count","value":7}]' if kind == "json" else '{"spec":{"count":7}}'
    api.kubectl("-n", ns, "patch", "mouse", "m", "--type", kind, "-p", patch)
    assert api.kubectl("-n", ns, "get", "mouse", "m", "-o", "jsonpath={.spec.count}").stdout == "7"
    bad = api.kubectl("-n", ns, "patch", "mouse", "m", "--type", "merge", "-p", '{"spec":{"nap":"never"}}', check=False)
    assert bad.returncode != 0 and "Unsupported value" in bad.stderr


def test_status_is_patched_apart(api, ns):
    api.kubectl("-n", ns, "apply", "-f", "-", input=MOUSE % ("m", "long"))
    status = '{"status":{"conditions":[{"type":"Asleep","status":"True"}]}}'
    api.kubectl("-n", ns, "patch", "mouse", "m", "--subresource=status", "--type=merge", "-p", status)
    api.kubectl("-n", ns, "wait", "--for=condition=Asleep", "mouse/m", "--timeout=50s")


def test_label_and_annotate(api, ns):
    api.kubectl("-n", ns, "create", "secret", "generic", "s", "--from-literal=p=q")
    assert "labeled" in api.kubectl("-n", ns, "label", "secret", "s", "a=b").stdout
    assert "annotated" in api.kubectl("-n", ns, "annotate", "secret", "s", "note=hi").stdout
    meta = json.loads(api.kubectl("-n", ns, "get", "secret", "s", "-o", "json").stdout)["metadata"]
    assert meta["labels"] == {"a": "b"} and meta["annotations"] == {"note": "hi"}
    api.kubectl("-n", ns, "label", "secret", "s", "a-")


def test_delete_waits_for_finalizers(api, ns):
    api.kubectl("-n", ns, "create", "configmap", "a")
    api.kubectl("-n", ns, "patch", "cm", "a", "--type=merge", "-p", '{"metadata":{"finalizers":["x.io/y"]}}')
    stream = api.kubectl_stream("-n", ns, "delete", "cm", "a", "--wait=true")
    wait_for(lambda: api.kubectl("-n", ns, "get", "cm", "a", "-o", "jsonpath={.metadata.deletionTimestamp}").stdout, "deletion to begin")
    assert stream.poll() is None
    api.kubectl("-n", ns, "patch", "cm", "a", "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
    assert stream.wait(DEADLINE_S) == 0
    stream.communicate()
    assert api.kubectl("-n", ns, "delete", "cm", "--all", "--wait").returncode == 0


def test_explain_and_api_resources(api):
    text = api.kubectl("explain", "configmap.data").stdout
    assert "FIELD: data" in text and "DESCRIPTION" in text
    text = api.kubectl("explain", "mouse.spec").stdout
    assert "nap" in text and "How it sleeps." in text
    names = {line.split()[0] for line in api.kubectl("api-resources", "--no-headers").stdout.splitlines()}
    assert {"configmaps", "secrets", "namespaces", "serviceaccounts", "leases", "events", "mice",
            "customresourcedefinitions"} <= names
    assert "zoo.io/v1" in api.kubectl("api-versions").stdout.split()


def test_describe(api, ns):
    api.kubectl("-n", ns, "create", "configmap", "a", "--from-literal=k=value")
    assert "value" in api.kubectl("-n", ns, "describe", "cm", "a").stdout
    api.kubectl("-n", ns, "apply", "-f", "-", input=MOUSE % ("m", "long"))
    assert "Nap" in api.kubectl("-n", ns, "describe", "mouse", "m").stdout
    assert "Active" in api.kubectl("describe", "namespace", ns).stdout


def test_bad_fields_are_named(api, ns):
    bad = api.kubectl("-n", ns, "create", "-f", "-", check=False, input=CONFIG_MAP.replace("\ndata:", "\ndta:") % ("a", 1))
    assert bad.returncode != 0 and 'unknown field "dta"' in bad.stderr
    bad = api.kubectl("-n", ns, "create", "-f", "-", check=False, input=MOUSE % ("m", "never"))
    assert 'Unsupported value: "never": supported values: "long", "short"' in bad.stderr
    bad = api.kubectl("-n", ns, "create", "-f", "-", check=False, input=MOUSE % ("Bad_Name", "long"))
    assert "metadata.name" in bad.stderr
    warned = api.kubectl("-n", ns, "create", "--validate=warn", "-f", "-", input=CONFIG_MAP.replace("\ndata:", "\ndta:") % ("a", 1))
    assert 'unknown field "dta"' in warned.stderr


def test_create_of_the_simple_kinds(api, ns):
    api.kubectl("-n", ns, "create", "serviceaccount", "robot")
    api.kubectl("-n", ns, "create", "secret", "generic", "s", "--from-literal=p=q")
    assert api.kubectl("-n", ns, "get", "secret", "s", "-o", "jsonpath={.data.p} {.type}").stdout == "cQ== Opaque"
    assert "already exists" in api.kubectl("-n", ns, "create", "serviceaccount", "robot", check=False).stderr
    out = api.kubectl("-n", ns, "create", "configmap", "dry", "--dry-run=server", "-o", "name").stdout
    assert out.strip() == "configmap/dry"
    assert api.kubectl("-n", ns, "get", "cm", "dry", check=False).returncode != 0
    api.kubectl("-n", ns, "replace", "--force", "-f", "-", input=CONFIG_MAP % ("r", 1))
    assert "replaced" in api.kubectl("-n", ns, "replace", "-f", "-", input=CONFIG_MAP % ("r", 2)).stdout
    assert "+  key: \"3\"" in api.kubectl("-n", ns, "diff", "-f", "-", check=False, input=CONFIG_MAP % ("r", 3)).stdout


def test_a_namespace_goes_with_its_contents(api):
    api.kubectl("create", "namespace", "short")
    api.kubectl("-n", "short", "create", "configmap", "a")
    api.kubectl("-n", "short", "apply", "-f", "-", input=MOUSE % ("m", "long"))
    api.kubectl("delete", "namespace", "short", "--wait", "--timeout=50s")
    assert "not found" in api.kubectl("get", "namespace", "short", check=False).stderr
    assert "not found" in api.kubectl("-n", "short", "create", "configmap", "a", check=False).stderr


def test_a_definition_goes_with_its_instances(api):
    other = CRD.replace("mice", "cats").replace("mouse", "cat").replace("Mouse", "Cat").replace("[mo]", "[ca]")
    api.kubectl("apply", "-f", "-", input=other)
    api.kubectl("apply", "-f", "-", input=MOUSE.replace("Mouse", "Cat") % ("tom", "long"))
    api.kubectl("delete", "crd", "cats.zoo.io", "--wait", "--timeout=50s")
    assert api.kubectl("get", "cats", check=False).returncode != 0
    assert "cats" not in api.kubectl("api-resources").stdout
