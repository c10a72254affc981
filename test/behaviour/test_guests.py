# SPDX-License-Identifier: Apache-2.0
"""Real guests on the real host: the ring and the mirror in both ABIs, sleep against twins, hostile modules."""
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest
import yaml

from conftest import BUILD, ROOT, Server, wait_for
from functions_kit import ask_socket
from guest_kit import apply_crd, check_mirror, make_namespaces, nonce_of, set_nonce
from operators import grant

def parent_of(pid):
    try:
        return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
    except OSError:
        return None


def name_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_text().split("\0")[0]
    except OSError:
        return None


OPERATORS = "/apis/dormouse.dev/v1alpha1/namespaces/operators/operators"


class Host(Server):
    """`dormouse up` with a directory of modules."""

    COMMAND = "up"

    def __init__(self, path, *extra):
        modules = os.path.join(path, "modules")
        is_new = not os.path.exists(modules)
        os.makedirs(modules, exist_ok=True)
        for directory in (BUILD / "guests", BUILD / "test/guests"):
            for module in directory.glob("*.wasm"):
                shutil.copy(module, modules)
        super().__init__(os.path.join(path, "data"), extra=["--modules", modules, *extra])
        self.modules = modules
        if is_new:
            make_namespaces(self, "operators")
            grant(self, "guests", [{"apiGroups": ["amurant.io"], "resources": ["*"], "verbs": ["*"]},
                                   {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["*"]}])
            grant(self, "mirror", next(yaml.safe_load_all((ROOT / "guests/mirror/rbac.yaml").read_text()))["rules"])

    def add(self, name, module, **env):
        if not os.path.exists(os.path.join(self.modules, module + ".wasm")):
            pytest.skip(f"{module}.wasm was not built: its compiler is not here")
        return self.create(OPERATORS, {
            "apiVersion": "dormouse.dev/v1alpha1", "kind": "Operator", "metadata": {"name": name},
            "spec": {"module": {"file": module + ".wasm"},
                     "env": [{"name": k, "value": str(v)} for k, v in env.items()]}})

    def remove(self, name):
        assert self.ask("DELETE", f"{OPERATORS}/{name}").status == 200

    def status(self, name):
        return self.get(f"{OPERATORS}/{name}").json().get("status", {})

    def lines(self, name):
        """What the guest has printed."""
        found = re.findall(rf'guest operator=operators/{name} .*?line="(.*)"$', self.text_of_log(), re.M)
        return [line for line in found if line.startswith("probe ")]

    def guest(self, name):
        done = subprocess.run([str(BUILD / "dormouse"), "guests", "--data-dir", str(self.data_dir), "-o", "json"],
                              capture_output=True, text=True, check=True)
        return next((g for g in json.loads(done.stdout) if g["name"] == name), None)

    def is_asleep(self, name):
        guest = self.guest(name)
        return guest and guest["state"].lower() == "asleep"


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    host = Host(tmp_path_factory.mktemp("host"), "--idle", "100ms")
    yield host
    assert host.stop() == 0


@pytest.mark.parametrize("abi", ["g1", "g2"])
def test_the_ring_turns_awake_and_asleep(host, abi):
    apply_crd(host, "guests/ring/crd.yaml")
    spaces = [f"{abi}-{i}" for i in range(4)]
    make_namespaces(host, *spaces)
    names = [f"ring-{space}" for space in spaces]
    for i, name in enumerate(names):
        host.add(name, f"ring-{abi}", IN_NAMESPACE=spaces[i], OUT_NAMESPACE=spaces[(i + 1) % 4])
    for nonce in (1, 2, 3):
        set_nonce(host, spaces[0], nonce)
        wait_for(lambda: nonce_of(host, spaces[-1]) == nonce, f"nonce {nonce} has gone around")
        wait_for(lambda: all(host.is_asleep(name) for name in names), "all of them sleep")
    assert host.guest(names[0])["wakes"] >= 2
    assert host.guest(names[0])["restarts"] == 0
    for name in names:
        host.remove(name)


@pytest.mark.parametrize("abi", ["g1", "g2"])
def test_the_mirror_mirrors_with_the_rights_of_its_manifest(host, abi):
    apply_crd(host, "guests/mirror/crd.yaml")
    _, operator = yaml.safe_load_all((ROOT / "guests/mirror/operator.yaml").read_text())
    operator["spec"]["module"]["file"] = f"mirror-{abi}.wasm"
    host.create(OPERATORS, operator)
    check_mirror(host)
    events = "/api/v1/namespaces/hub/events"
    wait_for(lambda: any(e["reason"] == "InStep" for e in host.get(events).json()["items"]), "an event about the rule")
    assert "status=403" not in host.text_of_log()
    host.remove("mirror")
    for namespace in ("hub", "web1", "web2", "web3"):
        host.ask("DELETE", f"/api/v1/namespaces/{namespace}")
        wait_for(lambda: host.get(f"/api/v1/namespaces/{namespace}").status == 404, f"{namespace} has gone")


@pytest.mark.parametrize("abi", ["g1", "g2"])
def test_the_smallest_operator_greets(host, abi):
    host.add("hello", f"hello-{abi}")
    name, maps = f"greet-{abi}", "/api/v1/namespaces/default/configmaps"
    host.create(maps, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "labels": {"hello": "please"}}})
    greeting = lambda: host.get(f"{maps}/{name}").json().get("data", {}).get("greeting")  # noqa: E731
    wait_for(lambda: greeting() == f"Hello, {name}!", "a greeting")
    wait_for(lambda: host.is_asleep("hello"), "it sleeps")
    host.ask("PATCH", f"{maps}/{name}", {"data": {"greeting": "go away"}}, Content_Type="application/merge-patch+json")
    wait_for(lambda: greeting() == f"Hello, {name}!", "another one")
    host.remove("hello")


@pytest.mark.parametrize("module", ["twin-g1", "twin-g2", "go-g2", "rust-g2", "table-g2"])
def test_sleep_changes_nothing(tmp_path, module):
    """The same guest on a host where it sleeps after every activation, and where it never sleeps."""
    printed = []
    for mode in ("always", "never"):
        host = Host(str(tmp_path), f"--sleep-{mode}")  # the second one finds the module compiled
        host.add(mode, module, TICK=5)
        wait_for(lambda: len(host.lines(mode)) >= 60, "sixty events", timeout=90)
        assert host.guest(mode)["restarts"] == 0
        if mode == "always" and module != "table-g2":
            assert host.guest(mode)["wakes"] >= 50
        printed.append(host.lines(mode)[:60])
        host.remove(mode)
        assert host.stop() == 0
    assert printed[0] == printed[1]


@pytest.mark.parametrize("abi", ["g1", "g2"])
def test_completions_come_in_order(host, abi):
    host.add(f"timers-{abi}", f"order-{abi}", MODE="timers")
    host.add(f"requests-{abi}", f"order-{abi}", MODE="requests")
    wait_for(lambda: host.lines(f"timers-{abi}"), "the timers")
    wait_for(lambda: host.lines(f"requests-{abi}"), "the answers")
    assert host.lines(f"timers-{abi}") == ["probe order 3t 1t 2t 0t"]
    words = host.lines(f"requests-{abi}")[0].split()[2:]
    assert not any("!" in word for word in words)
    if abi == "g2":
        assert all(words.index(f"{i}h") < words.index(f"{i}b") for i in range(4))
        assert words[0][0] != words[1][0], "a head and its body in direct succession, with others waiting"


HOSTILE = {
    # MODE, AT: what the status of the operator must say; None: it lives on
    ("trap", "start"): "unreachable",
    ("trap", "wake"): "unreachable",
    ("recursion", "wake"): "stack",
    ("garbage", "start"): "malformed",
    ("exit", "start"): None,
    ("exit", "wake"): "exited with status 0",
    ("grow", "start"): None,
    ("flood", "start"): None,
    ("partial", "wake"): None,
    ("timers", "start"): "too many operations",
    ("requests", "wake"): "too many operations",
    ("ids", "start"): None,
}


@pytest.mark.parametrize("abi", ["g1", "g2"])
@pytest.mark.parametrize("mode, at", HOSTILE)
def test_a_hostile_guest_harms_only_itself(host, abi, mode, at):
    name = f"{mode}-{at}-{abi}"
    output = HOSTILE[mode, at]
    host.add(name, f"hostile-{abi}", MODE=mode, AT=at)
    if output is None:
        wait_for(lambda: "probe woken 0" in host.lines(name), "the guest goes on")
        assert host.guest(name)["restarts"] == 0
    else:
        wait_for(lambda: output in (host.guest(name) or {}).get("lastError", ""), f"'{output}' is its last error")
    if mode == "ids":
        assert [line for line in host.lines(name) if " id " in line] == [f"probe id {i}" for i in (1, 2, 3)]
    host.remove(name)
    assert host.get("/version").status == 200


WILD = ["request", "request_length", "fd_write_buffer", "fd_write_vector", "fd_write_count", "fd_write_result",
        "clock_time_get", "random_get", "random_get_length", "environ_get", "environ_sizes_get", "args_get",
        "poll_oneoff", "fd_prestat_dir_name", "path_open"]


def test_wild_pointers_end_a_guest_or_fail(host):
    names = {}
    for abi, functions in (("g1", ["request", "watch", "watch_length"]), ("g2", WILD)):
        for function in functions:
            name = f"wild-{function.replace('_', '-')}-{abi}"
            host.add(name, f"hostile-{abi}", MODE="wild", FN=function)
            names[name] = function
    for name in names:
        wait_for(lambda: any("survived" in line for line in host.lines(name))
                 or (host.guest(name) or {}).get("lastError"), f"{name} has had its answer")
        assert not any(line == "probe survived 0" for line in host.lines(name)), f"{name} was obeyed"
        host.remove(name)


def test_it_is_said_what_confines_a_runner(host):
    host.add("confined", "hostile-g2", MODE="grow")
    wait_for(lambda: host.guest("confined") and host.guest("confined")["activations"], "a runner")
    pids = [int(p) for p in os.listdir("/proc") if p.isdigit()]
    runners = [p for p in pids if parent_of(p) == host.process.pid and name_of(p) == "dormouse-runner"]
    text = ask_socket(host.data_dir, "GET", "/metrics").body.decode()
    parts = dict(re.findall(r'^dormouse_runner_confinement\{part="(\w+)"\} (\d)$', text, re.M))
    assert set(parts) == {"user", "processes", "network", "ipc", "memory", "files"}
    missing = sorted(p for p in parts if parts[p] == "0")
    output = re.findall(r"runners lack a part of their confinement here missing=(\S+)", host.text_of_log())
    assert [sorted(s.split(",")) for s in output] == ([missing] if missing else [])
    for pid in runners:
        numbers = next(line.split()[1:] for line in open(f"/proc/{pid}/status") if line.startswith("NSpid:"))
        assert (numbers[-1] == "1") == (parts["processes"] == "1")
        if parts["memory"] == "1":
            wait_for(lambda: "/dormouse-guests-" in open(f"/proc/{pid}/cgroup").read(), "it is in the group")
    host.remove("confined")


def test_an_unknown_import_is_named(host):
    host.add("import", "import-g2")
    wait_for(lambda: "surprise-abi.open" in host.status("import").get("message", ""), "the refusal")
    assert host.lines("import") == []
    host.remove("import")


def test_the_guests_in_c_are_built_without_the_rest(tmp_path):
    names = [d.name for d in (ROOT / "guests").iterdir()
             if d.is_dir() and not (d / "Cargo.toml").exists() and not (d / "go.mod").exists()]
    done = subprocess.run([ROOT / "tools/build-guests", tmp_path, *names], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    built = {f.name for f in tmp_path.glob("*.wasm")}
    assert {n if n.startswith(("fn-", "sched-")) else re.sub("-(g1|g2|v1)$", "", n)
            for n in (f.removesuffix(".wasm") for f in built)} == set(names)
    loaded = subprocess.run([BUILD / "dormouse", "scheduler", "call"], capture_output=True, text=True, timeout=300,
                            input=json.dumps({"module": str(tmp_path / "sched-label-c.wasm"), "config": "disk"}) + "\n")
    assert json.loads(loaded.stdout) == {"points": ["filter", "score"]}, loaded.stderr
