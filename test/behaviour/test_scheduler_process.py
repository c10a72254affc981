# SPDX-License-Identifier: Apache-2.0
"""`dormouse scheduler` as a process beside an API server, and in `dormouse up`: places pods, explains, reloads, leads."""
import contextlib
import http.client
import json
import os
import pathlib
import signal
import subprocess
import threading

import pytest
import yaml

from conftest import BUILD, DEADLINE_S, Server, wait_for

PODS, NODES = "/api/v1/namespaces/default/pods", "/api/v1/nodes"
LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler"


def dormouse(*args, **more):
    return subprocess.run([BUILD / "dormouse", *map(str, args)], capture_output=True, text=True, timeout=60, **more)


class Scheduler:
    """A running `dormouse scheduler`."""

    def __init__(self, api, path, *extra, env=None):
        self.data_dir = pathlib.Path(path)
        self.log = open(str(path) + ".log", "ab")
        where = [] if env else ["--kubeconfig", api.kubeconfig]
        self.process = subprocess.Popen([BUILD / "dormouse", "scheduler", "--data-dir", path, *where, *map(str, extra)],
                                        stdout=subprocess.PIPE, stderr=self.log, text=True, env=env)
        self.ready = self.process.stdout.readline()

    def text_of_log(self):
        return pathlib.Path(str(self.data_dir) + ".log").read_text()

    def says(self, text):
        return wait_for(lambda: text in self.text_of_log(), f"{text!r} in the log of the scheduler")

    def explain(self, *args):
        return dormouse("scheduler", "explain", "--data-dir", self.data_dir, *args)

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(DEADLINE_S)
        self.process.stdout.close()
        self.log.close()
        return status


@contextlib.contextmanager
def scheduler(api, path, *extra, **more):
    made = Scheduler(api, path, *extra, **more)
    try:
        assert made.ready.startswith("ready data-dir="), made.text_of_log()
        yield made
        assert made.stop() == 0
    finally:
        if made.process.poll() is None:
            made.process.kill()


def add_node(api, name, cpu="4", **spec):
    api.create(NODES, {"metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}}, "spec": spec,
                       "status": {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "110"},
                                  "capacity": {"cpu": cpu, "memory": "8Gi", "pods": "110"},
                                  "conditions": [{"type": "Ready", "status": "True"}]}})


def add_pod(api, name, cpu="1", **spec):
    return api.create(PODS, {"metadata": {"name": name}, "spec": {
        "containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": cpu}}}], **spec}})


def node_of(api, name):
    return api.get(f"{PODS}/{name}").json()["spec"].get("nodeName")


def condition(api, name):
    for c in api.get(f"{PODS}/{name}").json()["status"].get("conditions", []):
        if c["type"] == "PodScheduled":
            return c
    return {}


@pytest.fixture
def api(dormouse_api):
    wait_for(lambda: dormouse_api.get("/api/v1/namespaces/default/serviceaccounts/default").status == 200, "the account of pods")
    return dormouse_api


@pytest.fixture
def path(data_dir):
    return data_dir + "-scheduler"


def test_it_places_pods_and_explains(api, path):
    add_node(api, "small", "1")
    add_node(api, "large", "8")
    with scheduler(api, path) as s:
        add_pod(api, "fits", "4")
        add_pod(api, "huge", "64")
        wait_for(lambda: node_of(api, "fits") == "large", "the pod is on the large node")
        wait_for(lambda: condition(api, "huge").get("reason") == "Unschedulable", "the other pod's condition")
        assert condition(api, "huge")["message"].startswith("0/2 nodes are available: 2 Insufficient cpu.")

        done = s.explain("huge")
        assert done.returncode == 0, done.stderr
        lines = done.stdout.splitlines()
        assert lines[:3] == ["Pod        default/huge", "Profile    default-scheduler", "Would go   nowhere"]
        assert lines[5].split() == ["NODE", "POINTS", "REFUSED", "BY", "REASON"]
        assert sorted(line.split(None, 3)[0:3] for line in lines[6:]) == [[n, "-", "NodeResourcesFit"] for n in ("large", "small")]
        tree = json.loads(s.explain("default/huge", "-o", "json").stdout)
        assert tree["node"] is None and tree["nodes"][0]["refused"]["reasons"] == ["Insufficient cpu"]
        assert yaml.safe_load(s.explain("-n", "default", "huge", "-o", "yaml").stdout) == tree

        add_node(api, "closed", "64", unschedulable=True)
        add_pod(api, "gated", "1", schedulingGates=[{"name": "x.y/z"}])
        wide = wait_for(lambda: s.explain("gated", "-o", "wide").stdout, "an answer about the other pod")
        assert "Waits      for SchedulingGates" in wide.splitlines()
        assert "NodeResourcesFit" in wide and "node(s) were unschedulable" in wide
        there = json.loads(s.explain("fits", "-o", "json").stdout)
        assert there["assigned"] == there["node"] == "large"

        done = s.explain("nobody")
        assert done.returncode == 1 and "pod 'default/nobody' is not known" in done.stderr
        assert s.explain("huge", "-o", "xml").returncode == 2 and s.explain().returncode == 2
    assert dormouse("scheduler", "explain", "huge", "--data-dir", path).returncode == 3


CONFIG = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: {name}
"""


def test_its_configuration_is_read_again(api, path, tmp_path):
    add_node(api, "n")
    file = tmp_path / "c.yaml"
    file.write_text(CONFIG.format(name="one"))
    with scheduler(api, path, "--config", file, "--leader-elect=false") as s:
        add_pod(api, "a", schedulerName="one")
        wait_for(lambda: node_of(api, "a"), "the pod of the first name")
        add_pod(api, "b", schedulerName="two")

        file.write_text(CONFIG.format(name="two") + "paralelism: 3\n")  # wrong: nothing changes
        s.says('line 5, column 1: strict decoding error: unknown field')
        for i in range(3):  # files that have nothing to do with it; each is looked at once it has rested for 200 ms
            (tmp_path / f"beside-{i}").write_text("x")
            threading.Event().wait(0.3)
        assert s.text_of_log().count("unknown field") == 1, "refused again without a change"
        add_pod(api, "c", schedulerName="one")
        wait_for(lambda: node_of(api, "c"), "the old configuration works")

        other = tmp_path / "other"  # as a kubelet and many editors do it
        other.write_text(CONFIG.format(name="two"))
        other.rename(file)
        wait_for(lambda: node_of(api, "b"), "the pod of the second name")
        s.says("scheduler configuration reloaded")

        file.write_text(CONFIG.format(name="two").replace("- scheduler", "- plugins: {filter: {enabled: [{name: Nope}]}}\n  scheduler"))
        s.process.send_signal(signal.SIGHUP)
        s.says("does not exist")
        add_pod(api, "d", schedulerName="two")
        wait_for(lambda: node_of(api, "d"), "the second configuration works on")
    assert api.get(LEASE).status == 404


@pytest.mark.skipif(not (BUILD / "guests/sched-label-c.wasm").exists(), reason="sched-label-c.wasm was not built")
def test_a_plugin_that_comes_with_a_reload_sees_what_was_there_before(api, path, tmp_path):
    for name, labels in (("a", {}), ("b", {"disk": "ssd"}), ("c", {})):
        api.create(NODES, {"metadata": {"name": name, "labels": labels},
                           "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}}})
    file = tmp_path / "c.yaml"
    file.write_text(CONFIG.format(name="one"))
    with scheduler(api, path, "--config", file, "--leader-elect=false") as s:
        add_pod(api, "first", schedulerName="one")
        wait_for(lambda: node_of(api, "first"), "a pod before")
        add_pod(api, "waits", "64", schedulerName="one")
        wait_for(lambda: condition(api, "waits"), "a pod that waits")
        file.write_text(CONFIG.format(name="one") + "  plugins: {multiPoint: {enabled: [{name: label}]}}\n"
                        f"  pluginConfig: [{{name: label, args: {{guestURL: 'file://{BUILD}/guests/sched-label-c.wasm', guestConfig: disk}}}}]\n")
        s.says("scheduler configuration reloaded")
        for name in ("p", "q", "r"):
            add_pod(api, name, schedulerName="one")
        for name in ("p", "q", "r"):
            assert wait_for(lambda n=name: node_of(api, n), "a pod that the plugin has seen") == "b"
        assert "cannot be shown" not in s.text_of_log() and "encoding the pod" not in s.text_of_log()


@pytest.mark.parametrize("text,why", [
    (CONFIG.format(name="x") + "parallelism: 0\n", "c.yaml: line 5, column 1: parallelism: Invalid value: 0: should be an integer"),
    (CONFIG.format(name="x").replace("/v1", "/v1beta3"), 'no kind "KubeSchedulerConfiguration" is registered for version'),
    ("", "c.yaml: Object 'Kind' is missing in ''"),
    (CONFIG.format(name="x") + "  plugins: {bind: {disabled: [{name: '*'}]}}\n",
     'at least one bind plugin is needed for profile with scheduler name "x"'),
])
def test_it_does_not_start_with_a_wrong_configuration(api, path, tmp_path, text, why):
    file = tmp_path / "c.yaml"
    file.write_text(text)
    made = Scheduler(api, path, "--config", file)
    assert made.ready == "" and made.stop() == 1
    assert why in made.text_of_log()


def test_the_configuration_may_name_the_cluster(api, path, tmp_path):
    add_node(api, "n")
    (tmp_path / "c.yaml").write_text(CONFIG.format(name="one") + f"clientConnection: {{kubeconfig: {api.kubeconfig}}}\n")
    env = {k: v for k, v in os.environ.items() if k != "KUBECONFIG"} | {"HOME": "/nonexistent"}
    with scheduler(api, path, "--config", tmp_path / "c.yaml", env=env):
        add_pod(api, "a", schedulerName="one")
        wait_for(lambda: node_of(api, "a"), "the pod's node")


def test_one_of_two_leads_and_the_other_takes_over(api, path):
    add_node(api, "n")
    quick = ("--leader-elect-lease-duration", "3s", "--leader-elect-renew-deadline", "2s", "--leader-elect-retry-period", "200ms")
    with scheduler(api, path, *quick) as first:
        first.says("leading lease=kube-system/kube-scheduler")
        with scheduler(api, path + "2", *quick) as second:
            add_pod(api, "a")
            wait_for(lambda: node_of(api, "a"), "the first works")
            assert "leading" not in second.text_of_log()
            assert first.stop() == 0
            second.says("leading lease=kube-system/kube-scheduler")
            add_pod(api, "b")
            wait_for(lambda: node_of(api, "b"), "the second works")


def test_in_a_pod_it_needs_the_rights_of_its_manifest_and_no_more(api, path, tmp_path):
    done = dormouse("manifest", "scheduler", "--image", "dormouse:1", "--scheduler-name", "mine")
    api.kubectl("apply", "-f", "-", input=done.stdout)
    config = next(d for d in yaml.safe_load_all(done.stdout) if d["kind"] == "ConfigMap")["data"]["scheduler.yaml"]
    (tmp_path / "c.yaml").write_text(config)
    account = tmp_path / "account"
    account.mkdir()
    (account / "namespace").write_text("kube-system")
    (account / "ca.crt").write_bytes((api.data_dir / "pki/ca.crt").read_bytes())
    token = api.create("/api/v1/namespaces/kube-system/serviceaccounts/dormouse-scheduler/token", {
        "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}})
    (account / "token").write_text(token["status"]["token"])
    env = {k: v for k, v in os.environ.items() if k != "KUBECONFIG"} | {
        "HOME": "/nonexistent", "KUBERNETES_SERVICE_HOST": api.host, "KUBERNETES_SERVICE_PORT": str(api.port),
        "DORMOUSE_SERVICE_ACCOUNT": str(account)}
    add_node(api, "n", "2")
    with scheduler(api, path, "--config", tmp_path / "c.yaml", "--health-listen", "127.0.0.1:0", env=env) as s:
        port = int(dict(w.split("=", 1) for w in s.ready.split()[1:])["health-port"])
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=DEADLINE_S)
        connection.request("GET", "/readyz")
        assert connection.getresponse().status == 200
        connection.close()
        s.says("leading lease=kube-system/dormouse-scheduler")
        api.create("/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": "high"}, "value": 1000})
        add_pod(api, "victim", "2", schedulerName="mine")
        wait_for(lambda: node_of(api, "victim"), "the first pod")
        add_pod(api, "vip", "2", schedulerName="mine", priorityClassName="high")
        wait_for(lambda: "deletionTimestamp" in api.get(f"{PODS}/victim").json()["metadata"], "the first pod is evicted")
        api.ask("DELETE", f"{PODS}/victim?gracePeriodSeconds=0")  # as its kubelet would
        wait_for(lambda: node_of(api, "vip") == "n", "the pod that evicts the other")
        add_pod(api, "other")
        assert "forbidden" not in s.text_of_log().lower(), s.text_of_log()
        assert not node_of(api, "other")  # kube-scheduler's


class Up(Server):
    COMMAND = "up"


def test_up_has_a_scheduler_unless_told_otherwise(data_dir):
    for number, extra in enumerate(([], ["--no-scheduler"])):
        api = Up(f"{data_dir}{number}", extra=["--gateway", "none", *extra])
        try:
            add_node(api, "n")
            done = dormouse("scheduler", "explain", "a", "--data-dir", api.data_dir)
            assert done.returncode == 1 and ('pods "a" not found' if number == 0 else "there is no scheduler") in done.stderr
            wait_for(lambda: api.get("/api/v1/namespaces/default/serviceaccounts/default").status == 200, "the account of pods")
            add_pod(api, "a")
            if number == 0:
                wait_for(lambda: node_of(api, "a"), "a node for the pod")
            assert api.get(LEASE).status == 404
        finally:
            assert api.stop() == 0
