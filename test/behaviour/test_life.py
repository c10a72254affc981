# SPDX-License-Identifier: Apache-2.0
"""What may happen to operators beside their own faults: much at once, and things that vanish."""
import pytest

from conftest import BUILD, wait_for
from operators import ALL_RESOURCES, OPERATORS, RESOURCES, Ring, Up, create_all, grant

pytestmark = pytest.mark.skipif(not (BUILD / "guests/ring-g2.wasm").exists(), reason="no compiler for guests here")
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
MANY = 1000


@pytest.fixture
def up(data_dir):
    server = Up(data_dir)
    yield server
    assert server.stop() == 0


def test_a_thousand_operators_at_once(up):
    ring = Ring(up, 2)
    connection = up.connect()
    for i in range(MANY):
        body = {"apiVersion": "dormouse.dev/v1alpha1", "kind": "Operator", "metadata": {"name": f"op-{i}"},
                "spec": {"module": {"file": "ring-g2.wasm"}, "env": [{"name": k, "value": v} for k, v in ring.env(i % 2).items()]}}
        assert up.ask("POST", OPERATORS, body, connection=connection).status == 201
    wait_for(lambda: up.status()["asleep"] == MANY, "all of them sleep", 120)

    def all_ready():
        items = up.ask("GET", OPERATORS, connection=connection).json()["items"]
        return all(c["status"] == "True" for o in items for c in o.get("status", {}).get("conditions", [{"type": "Ready", "status": ""}])
                   if c["type"] == "Ready")
    wait_for(all_ready, "every status says so", 120)
    ring.round()
    assert up.ask("DELETE", OPERATORS, connection=connection).status == 200
    wait_for(lambda: up.status()["operators"] == 0, "all are gone", 60)
    connection.close()


def test_a_namespace_that_goes_while_its_operators_sleep(up):
    ring = Ring(up, 2)
    ring.apply("ring-g2.wasm")
    ring.round()
    up.all_asleep(2)
    assert up.ask("DELETE", "/api/v1/namespaces/ring1").status in (200, 202)
    wait_for(lambda: up.get("/api/v1/namespaces/ring1").status == 404, "the namespace is gone")
    ring.begin().close()
    up.create("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ring1"}})
    ring.round()
    assert up.ask("DELETE", "/api/v1/namespaces/operators").status in (200, 202)
    wait_for(lambda: up.get("/api/v1/namespaces/operators").status == 404, "the operators' own namespace is gone")
    wait_for(lambda: up.status()["operators"] == 0, "and they with it")
    assert not list((up.data_dir / "swap").glob("*.swap"))


def test_the_definition_of_what_they_watch_vanishes_and_returns(up):
    ring = Ring(up, 2)
    ring.apply("ring-g2.wasm")
    ring.round()
    up.all_asleep(2)
    definition = up.get(f"{CRDS}/testresources.amurant.io").json()
    assert up.ask("DELETE", f"{CRDS}/testresources.amurant.io").status == 200
    wait_for(lambda: up.get(ALL_RESOURCES).status == 404, "it is gone")
    definition["metadata"] = {"name": definition["metadata"]["name"]}
    definition.pop("status")
    up.create(CRDS, definition)
    wait_for(lambda: up.get(ALL_RESOURCES).status == 200, "it is back")
    ring.round(120)


def test_the_definition_of_operators_vanishes_and_returns(up):
    ring = Ring(up, 2)
    ring.apply("ring-g2.wasm")
    ring.round()
    definition = up.get(f"{CRDS}/operators.dormouse.dev").json()
    assert up.ask("DELETE", f"{CRDS}/operators.dormouse.dev").status == 200
    wait_for(lambda: up.status()["operators"] == 0, "its objects go with it, and so do they", 60)
    definition["metadata"] = {"name": definition["metadata"]["name"]}
    definition.pop("status")
    wait_for(lambda: up.get(f"{CRDS}/operators.dormouse.dev").status == 404, "it is gone")
    up.create(CRDS, definition)
    wait_for(lambda: up.get(OPERATORS).status == 200, "it is back")
    ring.apply("ring-g2.wasm")
    ring.round(120)


def test_an_operator_deleted_in_the_middle_of_its_work(up):
    ring = Ring(up, 4)
    for _ in range(5):
        ring.apply("ring-g2.wasm")
        watch = ring.begin()
        wait_for(lambda: ring.nonce_at(1) == ring.nonce, "it is on its way")
        for i in range(4):
            assert up.ask("DELETE", f"{OPERATORS}/ring-{i}").status == 200
        watch.close()
        wait_for(lambda: up.status()["guests"] == 0, "all guests are gone")
    ring.apply("ring-g2.wasm")
    ring.round()


def test_keys_of_a_paused_operator_wait(up):
    if not (BUILD / "guests/hello-v1.wasm").exists():
        pytest.skip("hello-v1.wasm was not built")
    create_all(up, [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "operators"}}])
    rules = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "watch", "patch", "update"]}]
    grant(up, "hello", rules, account="hello")
    up.operator("hello", "hello-v1.wasm")
    path = "/api/v1/namespaces/operators/configmaps"

    def add(name):
        up.create(path, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "labels": {"hello": "please"}}})

    def greeted(name):
        return "greeting" in up.get(f"{path}/{name}").json().get("data", {})
    add("before")
    wait_for(lambda: greeted("before"), "it greets")
    up.patch("hello", {"paused": True})
    up.becomes("hello", "False", "Paused")
    wait_for(lambda: up.status()["guests"] == 0, "it has no guest")
    for i in range(20):
        add(f"while-{i}")
    assert not greeted("while-0")
    up.patch("hello", {"paused": False})
    wait_for(lambda: all(greeted(f"while-{i}") for i in range(20)), "it makes up for it")
    for i in range(5):  # another generation each time, while there is work
        add(f"during-{i}")
        up.patch("hello", {"env": [{"name": "N", "value": str(i)}]})
    wait_for(lambda: all(greeted(f"during-{i}") for i in range(5)), "nothing is lost in a replacement")


def test_somebody_else_writes_the_status(up):
    ring = Ring(up, 2)
    ring.apply("ring-g2.wasm")
    ring.round()
    for i in range(20):
        patch = {"status": {"phase": f"Wrong {i}", "message": "x"}}
        assert up.ask("PATCH", f"{OPERATORS}/ring-0/status", patch, Content_Type="application/merge-patch+json").status == 200
        up.patch("ring-0", {"paused": bool(i % 2 == 0)})
    wait_for(lambda: up.get(f"{OPERATORS}/ring-0").json()["status"]["phase"] == "Running", "the last word is the host's")
    up.becomes("ring-0", "True", "Running")
    ring.round()


def test_a_damaged_swap_file_starts_that_guest_anew(up):
    ring = Ring(up, 2)
    ring.apply("ring-g2.wasm")
    ring.round()
    up.all_asleep(2)
    for swap in (up.data_dir / "swap").glob("*.swap"):
        data = bytearray(swap.read_bytes())
        data[::7] = b"\xa5" * len(data[::7])
        swap.write_bytes(data)
    ring.round()
    assert up.get(RESOURCES.format("ring1") + "/run0").status == 200
