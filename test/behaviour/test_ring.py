# SPDX-License-Identifier: Apache-2.0
"""Operators end to end: awake, asleep, killed, replaced, removed; with good guests and hostile ones beside them."""
import json
import pathlib
import random
import threading

import pytest

from conftest import BUILD, find_kubectl, wait_for
from operators import OPERATORS, Ring, Up, apply_yaml, distinct, dormouse, name_of

pytestmark = pytest.mark.skipif(not (BUILD / "guests/ring-g2.wasm").exists(), reason="no compiler for guests here")

N = 10


@pytest.fixture
def up(data_dir):
    server = Up(data_dir)
    yield server
    assert server.stop() == 0


def small_ring(up, n=4):
    ring = Ring(up, n)
    ring.apply("ring-g2.wasm")
    ring.round()
    return ring


# ---------------------------------------------------------------- awake and asleep


@pytest.mark.parametrize("abi", ["g1", "g2"])
def test_a_ring_turns_sleeps_and_wakes(up, abi):
    ring = Ring(up, N)
    ring.apply(f"ring-{abi}.wasm")
    up.all_asleep(N)
    for _ in range(3):
        ring.round()
    up.all_asleep(N)
    before = up.guests()
    for g in before.values():
        assert (g["abi"], g["state"], g["residentBytes"], g["restarts"]) == (abi, "Asleep", 0, 0), g
        assert g["swapBytes"] > 0 and g["memoryBytes"] > 0, g
    ring.round()

    def all_woken():
        return all(g["wakes"] > before[name]["wakes"] and g["wakeMicroseconds"]["p99"] > 0 for name, g in up.guests().items())

    wait_for(all_woken, "every operator was woken by the change")
    for i in range(N):
        assert up.becomes(f"ring-{i}", "True", "Running")["message"] == ""
        assert ring.nonce_at(i) == ring.nonce


def test_rounds_come_one_upon_the_other_and_the_last_nonce_arrives_everywhere(up):
    ring = Ring(up, N)
    ring.apply("ring-g2.wasm")
    ring.round()
    for _ in range(20):
        ring.begin().close()
    wait_for(lambda: all(ring.nonce_at(i) == ring.nonce for i in range(N)), "the last nonce is everywhere", 60)


# ---------------------------------------------------------------- deaths


def test_no_event_is_lost_when_runners_are_killed_between_rounds(up):
    ring = Ring(up, N)
    ring.apply("ring-g2.wasm")
    ring.round()
    for i in range(5):
        up.kill_runners()
        ring.round()
        if i % 2:
            up.all_asleep(N)  # killing the runner of sleeping guests costs them nothing


def test_no_event_is_lost_when_runners_are_killed_during_rounds(up):
    ring = Ring(up, N)
    ring.apply("ring-g2.wasm")
    ring.round()
    seed = random.randrange(1 << 30)
    print(f"seed {seed}")
    pick = random.Random(seed)
    over = threading.Event()

    def kill():
        while not over.wait(pick.uniform(0.005, 0.25)):
            up.kill_runners()

    for _ in range(4):
        watch = ring.begin()
        over.clear()
        killer = threading.Thread(target=kill)
        killer.start()
        over.wait(1)
        over.set()
        killer.join()
        ring.finish(watch, 120)
    assert up.status()["operators"] == N


def test_a_runner_that_sleeping_guests_left_costs_them_nothing_when_killed(up):
    ring = Ring(up, N)
    ring.apply("ring-g2.wasm")
    ring.round()
    up.all_asleep(N)
    up.kill_runners()
    wait_for(lambda: not up.runners(), "no runner")
    ring.round()
    assert all(g["restarts"] == 0 for g in up.guests().values())


def test_killed_and_started_again_everything_goes_on(data_dir):
    server = Up(data_dir)
    ring = Ring(server, N)
    ring.apply("ring-g2.wasm")
    for _ in range(3):
        ring.round()
        watch = ring.begin()
        watch.next()
        runners = server.runners()
        server.kill()  # in the middle of the round
        watch.close()
        wait_for(lambda: not any(name_of(p) == "dormouse-runner" for p in runners), "runners end with their parent")
        server = ring.server = Up(data_dir)
        wait_for(lambda: ring.nonce_at(N - 1) == ring.nonce, "the round is finished after the restart", 60)
    ring.round()
    server.all_asleep(N)
    assert server.stop() == 0


# ---------------------------------------------------------------- mistakes


def check_refused(up, name, reason, text):
    condition = up.becomes(name, "False", reason)
    assert text in condition["message"], condition
    events = wait_for(lambda: up.events(name), f"an event about {name}")
    uid = up.get(f"{OPERATORS}/{name}").json()["metadata"]["uid"]
    assert events[0]["type"] == "Warning" and events[0]["reason"] == reason and text in events[0]["message"], events
    assert events[0]["involvedObject"]["uid"] == uid, events  # by which `kubectl describe` finds it


@pytest.fixture
def operators_up(up):
    up.create("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "operators"}})
    return up


def test_mistakes_in_a_spec_get_a_condition_and_an_event(operators_up):
    up = operators_up
    up.operator("file", "rnig.wasm")
    check_refused(up, "file", "SpecInvalid", "'rnig.wasm' is in none of the module directories")
    up.operator("memory", "ring-g2.wasm", limits={"memory": "64Mib"})
    check_refused(up, "memory", "SpecInvalid", "spec.limits.memory")
    up.operator("env", "ring-g2.wasm", {"A=B": "c"})
    check_refused(up, "env", "SpecInvalid", "'A=B'")
    up.operator("outside", "/etc/passwd")
    check_refused(up, "outside", "SpecInvalid", "outside of the module directories")
    apply_yaml(up, "guests/ring/rbac.yaml")  # an operator that is denied what it asks for is not Ready
    up.patch("memory", {"limits": {"memory": "64Mi"}, "env": [{"name": "IN_NAMESPACE", "value": "a"}, {"name": "OUT_NAMESPACE", "value": "b"}]})
    up.becomes("memory", "True", "Running")


def test_a_mistyped_field_is_named_by_the_api(operators_up):
    body = {"apiVersion": "dormouse.dev/v1alpha1", "kind": "Operator", "metadata": {"name": "a"},
            "spec": {"module": {"file": "ring-g2.wasm"}, "limits": {"memroy": "1Mi"}}}
    answer = operators_up.ask("POST", OPERATORS + "?fieldValidation=Strict", body)
    assert answer.status == 400 and "memroy" in answer.json()["message"], answer.body
    body["spec"] = {"module": {"file": "ring-g2.wasm"}, "abi": "g3"}
    answer = operators_up.ask("POST", OPERATORS, body)
    assert answer.status == 422 and "spec.abi" in answer.json()["message"], answer.body


def test_modules_that_are_none_get_a_condition_and_an_event(operators_up):
    up = operators_up
    (up.modules / "garbage.wasm").write_bytes(b"\0asm\1\0\0\0" + b"\xff" * 100)
    (up.modules / "empty.wasm").write_bytes(b"")
    (up.modules / "plain.wasm").write_bytes(bytes.fromhex(  # (module (func (export "_start")))
        "0061736d010000000104016000000302010007" "0a01065f737461727400000a040102000b"))
    up.operator("garbage", "garbage.wasm")
    up.operator("empty", "empty.wasm")
    up.operator("plain", "plain.wasm")
    up.operator("import", "import-g2.wasm")
    up.operator("other", "ring-g1.wasm", abi="g2")
    check_refused(up, "garbage", "ModuleInvalid", "")
    check_refused(up, "empty", "ModuleInvalid", "")
    check_refused(up, "plain", "ModuleUnsupported", "plain WASI command")
    condition = wait_for(lambda: up.ready("import"), "a condition")
    assert condition["status"] == "False" and condition["reason"] != "GuestFailed", condition
    check_refused(up, "other", "ModuleUnsupported", "is of ABI g1, not of the one that was asked for")


def test_a_module_directory_can_be_left_by_no_link(operators_up):
    up = operators_up
    (up.modules / "link.wasm").symlink_to(BUILD / "guests/ring-g2.wasm")
    up.operator("link", "link.wasm")
    check_refused(up, "link", "SpecInvalid", "outside of the module directories")
    up.operator("dots", "../modules/../modules/ring-g2.wasm")  # stays inside
    assert up.becomes("dots", "False", "GuestFailed")  # runs, and asks for its namespaces


# ---------------------------------------------------------------- replaced, removed


def test_a_new_module_version_takes_over_and_the_ring_goes_on(up):
    ring = small_ring(up)
    distinct(up.modules / "ring-g2.wasm", up.modules / "v2.wasm", "v2")
    generation = up.patch("ring-1", {"module": {"file": "v2.wasm"}})["metadata"]["generation"]
    condition = up.becomes("ring-1", "True", "Running")
    assert condition["observedGeneration"] == generation
    ring.round()
    up.patch("ring-1", {"module": {"file": "ring-g1.wasm"}})  # of the other ABI
    wait_for(lambda: up.guests()["ring-1"]["abi"] == "g1", "the new module runs")
    ring.round()


def refusal(up, name):
    conditions = up.get(f"{OPERATORS}/{name}").json().get("status", {}).get("conditions", [])
    return next((c["reason"] for c in conditions if c["type"] == "UpdateRefused"), None)


def test_a_broken_version_changes_nothing_but_the_status(up):
    ring = small_ring(up)
    (up.modules / "garbage.wasm").write_bytes(b"\0asm\1\0\0\0" + b"\xff" * 100)
    up.patch("ring-1", {"module": {"file": "garbage.wasm"}})
    wait_for(lambda: refusal(up, "ring-1") == "ModuleInvalid", "the status tells it")
    ring.round()
    assert up.ready("ring-1")["status"] == "True" and refusal(up, "ring-1") == "ModuleInvalid"
    up.patch("ring-1", {"module": {"file": "ring-g2.wasm"}})
    wait_for(lambda: not refusal(up, "ring-1"), "it is mended")
    up.becomes("ring-1", "True", "Running")
    ring.round()


def test_a_deleted_operator_is_gone_and_comes_back(up):
    ring = small_ring(up)
    assert up.ask("DELETE", f"{OPERATORS}/ring-2").status == 200
    wait_for(lambda: "ring-2" not in up.guests(), "the guest is gone")
    watch = ring.begin()
    wait_for(lambda: ring.nonce_at(2) == ring.nonce, "the round comes as far as it can")
    up.all_asleep(3)
    assert ring.nonce_at(3) == ring.nonce - 1
    up.operator("ring-2", "ring-g2.wasm", ring.env(2))
    ring.finish(watch)
    swap = list((up.data_dir / "swap").glob("*.swap"))
    assert len(swap) <= 4, swap


def test_a_paused_operator_rests_until_it_is_resumed(up):
    ring = small_ring(up)
    up.patch("ring-2", {"paused": True})
    up.becomes("ring-2", "False", "Paused")
    watch = ring.begin()
    wait_for(lambda: ring.nonce_at(2) == ring.nonce, "the round comes as far as it can")
    up.patch("ring-2", {"paused": None})
    ring.finish(watch)
    up.becomes("ring-2", "True", "Running")


def test_an_allow_list_is_kept(up):
    ring = Ring(up, 2)
    rules = [{"verbs": ["get", "list", "watch"], "paths": ["/apis/amurant.io/v1/namespaces/ring0/..."]},
             {"verbs": ["*"], "paths": ["/apis/amurant.io/v1/namespaces/ring1/..."]}]
    up.operator("ring-0", "ring-g2.wasm", ring.env(0), allow=rules)
    ring.round()
    up.patch("ring-0", {"allow": rules[:1]})
    up.becomes("ring-0", "True", "Running")
    ring.begin().close()
    up.all_asleep(1)
    assert ring.nonce_at(1) == ring.nonce - 1


# ---------------------------------------------------------------- hostile neighbours


HOSTILE = {
    "loop": {"limits": {"activationMilliseconds": 200}},
    "memory": {"limits": {"activationMilliseconds": 200, "memory": "4Mi"}},
    "recursion": {},
    "trap": {},
    "garbage": {},
    "requests": {},
    "timers": {},
}
LOUD = ["grow", "busy", "flood", "partial"]  # these live on


@pytest.mark.parametrize("abi", ["g1", "g2"])
def test_hostile_guests_harm_only_themselves(up, abi):
    ring = small_ring(up)
    for mode, spec in HOSTILE.items():
        up.operator(f"bad-{mode}", f"hostile-{abi}.wasm", {"MODE": mode}, **spec)
    for mode in LOUD:
        up.operator(f"bad-{mode}", f"hostile-{abi}.wasm", {"MODE": mode}, limits={"memory": "4Mi"})
    for mode in HOSTILE:
        condition = up.becomes(f"bad-{mode}", "False", "GuestFailed")
        assert condition["message"], condition
        ring.round()
    for mode in LOUD:
        up.becomes(f"bad-{mode}", "True", "Running")
    ring.round()
    guests = up.guests()
    assert guests["bad-grow"]["memoryBytes"] <= 4 << 20
    for i in range(4):
        assert guests[f"ring-{i}"]["restarts"] == 0, guests[f"ring-{i}"]
        assert up.ready(f"ring-{i}")["status"] == "True"
    assert sum(len(up.events(f"bad-{mode}")) for mode in HOSTILE) <= 5 * len(HOSTILE)


# ---------------------------------------------------------------- idle


def switches(pid):
    """Voluntary context switches of every thread: each wake-up ends with one."""
    found = {}
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        for line in (task / "status").read_text().splitlines():
            if line.startswith("voluntary_ctxt_switches:"):
                found[task.name] = int(line.split()[1])
    return found


def test_when_all_sleep_nothing_wakes_up(up):
    ring = small_ring(up)
    up.all_asleep(4)
    wait_for(lambda: not up.runners(), "the runner has ended")

    def quiet():
        before = switches(up.process.pid)
        threading.Event().wait(5)  # the time over which nothing may happen
        return before == switches(up.process.pid)

    wait_for(quiet, "five seconds without a wake-up of any thread", 60)
    assert not up.runners()
    assert up.status()["asleep"] == 4
    ring.round()


# ---------------------------------------------------------------- what is printed


def test_guests_are_listed_in_every_form(up):
    small_ring(up)
    up.all_asleep(4)
    args = ("guests", "--data-dir", str(up.data_dir))
    table = dormouse(*args).stdout.splitlines()
    assert table[0].split()[:4] == ["NAMESPACE", "NAME", "ABI", "STATE"] and len(table) == 5
    assert sorted(line.split()[1] for line in table[1:]) == [f"ring-{i}" for i in range(4)]
    assert all(line.split()[2:4] == ["g2", "Asleep"] for line in table[1:])
    wide = dormouse(*args, "-o", "wide").stdout.splitlines()
    assert wide[0].split()[-1] == "LAST-ERROR"
    names = dormouse(*args, "-o", "name").stdout.split()
    assert sorted(names) == [f"operators/ring-{i}" for i in range(4)]
    listed = json.loads(dormouse(*args, "-o", "json").stdout)
    assert {g["state"] for g in listed} == {"Asleep"} and len(listed) == 4
    wrong = dormouse(*args, "-o", "yaml")
    assert wrong.returncode == 2 and "yaml" in wrong.stderr


def test_guests_of_no_server_is_a_clear_error(data_dir):
    done = dormouse("guests", "--data-dir", data_dir)
    assert done.returncode not in (0, 2) and "is it running? --data-dir DIR" in done.stderr, done


def test_kubectl_sees_operators(up):
    if not find_kubectl():
        pytest.skip("no kubectl here")
    small_ring(up)
    for i in range(4):
        up.becomes(f"ring-{i}", "True", "Running")
    table = up.kubectl("get", "operators", "-n", "operators").stdout.splitlines()
    assert table[0].split() == ["NAME", "PHASE", "READY", "RESTARTS", "AGE"]
    assert all(line.split()[1:4] == ["Running", "True", "0"] for line in table[1:])
    up.operator("bad", "none.wasm")
    check_refused(up, "bad", "SpecInvalid", "none.wasm")
    assert "SpecInvalid" in up.kubectl("describe", "operator", "bad", "-n", "operators").stdout.split("Events:")[1]


def test_metrics_count(up):
    ring = small_ring(up)
    up.all_asleep(4)
    ring.round()
    up.all_asleep(4)
    text = up.admin("/metrics")
    values = dict(line.rsplit(" ", 1) for line in text.splitlines() if line and line[0] != "#" and "{" not in line)
    assert values["dormouse_guests"] == "4" and values["dormouse_guests_asleep"] == "4"
    assert int(values["dormouse_guest_wakes_total"]) > 0
    assert values["dormouse_watches"] and int(values["dormouse_watch_subscribers"]) >= 4


# ---------------------------------------------------------------- what cannot start


def test_a_port_in_use_and_an_unusable_data_directory(up, data_dir):
    other = data_dir + "-2"
    done = dormouse("up", "--data-dir", other, "--listen", f"127.0.0.1:{up.port}")
    assert done.returncode == 1 and str(up.port) in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr
    done = dormouse("up", "--data-dir", data_dir, "--listen", "127.0.0.1:0")
    assert done.returncode == 1 and data_dir in done.stderr and "use" in done.stderr, done.stderr
    done = dormouse("up", "--data-dir", "/proc/dormouse", "--listen", "127.0.0.1:0")
    assert done.returncode == 1 and "/proc/dormouse" in done.stderr, done.stderr
    done = dormouse("operator", "run", other, "--data-dir", data_dir, "--kubeconfig", up.kubeconfig)
    assert done.returncode == 1 and "in use" in done.stderr, done.stderr
