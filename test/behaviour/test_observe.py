# SPDX-License-Identifier: Apache-2.0
"""dormouse operator describe and dormouse trace: what an operator of ABI v1 did, and what it waits for."""
import json
import re
import subprocess

import pytest

from conftest import BUILD, wait_for
from operators import grant
from test_guests import Host

MAPS = "/api/v1/namespaces/default/configmaps"


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    host = Host(tmp_path_factory.mktemp("host"), "--idle", "100ms")
    grant(host, "hello", [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["*"]}])
    host.add("hello", "hello-v1")
    wait_for(lambda: host.is_asleep("hello"), "it sleeps")
    yield host
    assert host.stop() == 0


def dormouse(host, *args):
    return subprocess.run([BUILD / "dormouse", *args, "--data-dir", host.data_dir], capture_output=True, text=True)


def describe(host):
    return json.loads(dormouse(host, "operator", "describe", "operators/hello", "-o", "json").stdout)


def greet(host, name):
    host.create(MAPS, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "labels": {"hello": "please"}}})


def test_a_trace_shows_each_call_of_an_activation(host):
    wait_for(lambda: host.is_asleep("hello"), "it sleeps")
    with subprocess.Popen([BUILD / "dormouse", "trace", "operators/hello", "--data-dir", host.data_dir, "-o", "json"],
                          stdout=subprocess.PIPE, text=True) as trace:
        wait_for(lambda: describe(host)["v1"]["tracers"] == 1, "it listens")
        greet(host, "traced")
        steps = [json.loads(line) for line in trace.stdout]
    assert trace.returncode == 0
    assert [s["event"] for s in steps] == ["activation", "call", "post", "end"]
    first, call, post, end = steps
    assert (first["controller"], first["key"], first["reasons"], first["state"]) == ("hello", "default/traced", ["create"], "Asleep")
    assert call["call"] == f"PATCH {MAPS}/traced" and call["value"] == call["bytes"] > 100
    assert 0 < call["atUs"] <= call["atUs"] + call["tookUs"] <= post["atUs"] <= end["atUs"]
    assert (post["call"], post["what"]) == ("log", "greeted")
    assert end["result"] == "done" and end["busyUs"] <= end["workUs"]


def test_describe_says_why_it_last_ran_and_what_it_waits_for(host):
    greet(host, "described")
    wait_for(lambda: "default/described because of update: done" in dormouse(host, "operator", "describe", "operators/hello").stdout,
             "its own write came back to it")
    text = dormouse(host, "operator", "describe", "-n", "operators", "hello").stdout
    assert re.search(r"last run     [0-9.]+ (us|ms|s) ago, default/described because of update: done in [1-9][0-9.]* (us|ms)\n", text), text
    assert "Acts as        system:serviceaccount:operators:hello\n" in text
    assert "next         by an event; no timer is set\n" in text
    assert "Watch          configmaps: v1 ConfigMap (for), Synced\n" in text
    assert describe(host)["v1"]["failures"] == 0


def test_its_log_names_controller_and_key(host):
    greet(host, "logged")
    line = lambda: [json.loads(text) for text in  # noqa: E731
                    dormouse(host, "operator", "logs", "operators/hello", "-o", "json").stdout.splitlines() if "default/logged" in text]
    wait_for(line, "a line")
    assert {"level": "info", "message": "greeted", "controller": "hello", "key": "default/logged", "fields": {"name": "logged"}}.items() <= line()[0].items()


def test_an_operator_that_is_not_there_is_named_as_such(host):
    for command in (["trace"], ["operator", "describe"]):
        done = dormouse(host, *command, "operators/nobody")
        assert done.returncode == 1 and "there is no such operator here" in done.stderr
    done = subprocess.run([BUILD / "dormouse", "trace", "hello", "--data-dir", "/nonexistent"], capture_output=True, text=True)
    assert done.returncode == 3 and "is it running?" in done.stderr


def metrics(host):
    """Name with labels -> value; what the text format does not allow fails."""
    text = subprocess.run(["curl", "-sS", "--unix-socket", f"{host.data_dir}/admin.sock", "http://localhost/metrics"],
                          capture_output=True, text=True, check=True).stdout
    found, families = {}, {}
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            _, _, family, kind = line.split(" ")
            assert family not in families, f"{family} is declared twice"
            families[family] = kind
        elif not line.startswith("#"):
            name, value = line.rsplit(" ", 1)
            base = name.split("{")[0]
            family = next((base[:-len(s)] for s in ("_bucket", "_sum", "_count") if base.endswith(s) and base[:-len(s)] in families), base)
            assert family in families, f"{name} belongs to no family"
            assert name not in found, f"{name} is there twice"
            found[name] = float(value)
    return found


def test_metrics_have_the_names_that_dashboards_know(host):
    greet(host, "measured")
    mine = 'controller="hello",operator="operators/hello"'
    total = lambda: metrics(host)[f'controller_runtime_reconcile_total{{{mine},result="success"}}']  # noqa: E731
    before = total()
    greet(host, "measured-too")
    wait_for(lambda: total() >= before + 2, "two reconciles more: the object, and its own write")
    wait_for(lambda: host.is_asleep("hello"), "it sleeps")
    m = metrics(host)
    assert m[f'workqueue_adds_total{{name="hello",{mine}}}'] >= 4
    assert m[f'controller_runtime_reconcile_errors_total{{{mine}}}'] == 0
    assert m[f'controller_runtime_reconcile_time_seconds_count{{{mine}}}'] >= before + 2
    assert m["dormouse_guest_wake_seconds_count"] == m["dormouse_guest_wakes_total"] >= 1
    assert m['dormouse_guest_wake_seconds_bucket{le="+Inf"}'] == m["dormouse_guest_wake_seconds_count"]
    assert m['dormouse_operator_loads_total{operator="operators/hello"}'] >= 1
    assert m['dormouse_operator_resident_bytes{operator="operators/hello"}'] == 0
    assert m['dormouse_operator_swap_bytes{operator="operators/hello"}'] > 0
    assert m["dormouse_cache_objects"] >= 2
    assert m['rest_client_requests_total{operator="operators/hello",code="2xx"}'] >= 3
