# SPDX-License-Identifier: Apache-2.0
"""Commands about the scheduler: what it needs in a cluster, why a pod stands where it does, placing without a cluster."""
import json
import shutil
import subprocess

import pytest
import yaml

from conftest import BUILD

CONFIG = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: false}
profiles:
- schedulerName: mine

  pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: MostAllocated}}
"""


def dormouse(*args, **more):
    return subprocess.run([BUILD / "dormouse", *map(str, args)], capture_output=True, text=True, timeout=60, **more)


def manifest(*args):
    done = dormouse("manifest", "scheduler", "--image", "dormouse:1", *args)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_manifest_is_accepted_and_grants_what_a_scheduler_does(shared_api):
    shared_api.kubectl("apply", "--validate=strict", "-f", "-", input=manifest())

    def may(verb, resource, *more):
        if "/" in resource and "." not in resource:
            resource, sub = resource.split("/")
            more += ("--subresource", sub)
        done = shared_api.kubectl("auth", "can-i", verb, resource, *more, "--as",
                                  "system:serviceaccount:kube-system:dormouse-scheduler", check=False)
        return done.stdout.strip() == "yes"

    for verb, resource in [("watch", "nodes"), ("delete", "pods"), ("patch", "pods/status"), ("create", "pods/binding"),
                           ("list", "poddisruptionbudgets.policy"), ("update", "persistentvolumeclaims"),
                           ("watch", "storageclasses.storage.k8s.io"), ("create", "events.events.k8s.io")]:
        assert may(verb, resource, "-n", "default"), (verb, resource)
    assert may("update", "leases.coordination.k8s.io/dormouse-scheduler", "-n", "kube-system")
    for verb, resource in [("create", "pods"), ("update", "pods"), ("get", "secrets"), ("update", "nodes")]:
        assert not may(verb, resource, "-n", "default"), (verb, resource)
    assert not may("update", "leases.coordination.k8s.io/kube-scheduler", "-n", "kube-system")


def test_the_manifest_keeps_the_configuration_as_it_is(tmp_path):
    file = tmp_path / "scheduler.yaml"
    file.write_text(CONFIG)
    documents = list(yaml.safe_load_all(manifest("--config", file, "-n", "ops", "--name", "s")))
    kinds = [d["kind"] for d in documents]
    assert kinds == ["ServiceAccount", "ClusterRole", "ClusterRoleBinding", "ConfigMap", "Deployment"]  # no Lease
    assert documents[3]["data"]["scheduler.yaml"] == CONFIG
    assert {d["metadata"]["name"] for d in documents} == {"s"}


def test_instead_of_kube_scheduler_it_shares_its_lease():
    documents = {d["kind"]: d for d in yaml.safe_load_all(manifest("--scheduler-name", "default-scheduler"))}
    config = yaml.safe_load(documents["ConfigMap"]["data"]["scheduler.yaml"])
    assert config["leaderElection"]["resourceName"] == "kube-scheduler"
    assert documents["Role"]["rules"][1]["resourceNames"] == ["kube-scheduler"]


@pytest.mark.parametrize("args,why", [
    (["--image", "a b"], "error: --image: 'a b' is no name"),
    (["--image", "dormouse:1", "--config", "/nonexistent"], "error: open '/nonexistent': No such file or directory"),
])
def test_a_manifest_that_cannot_be(args, why):
    done = dormouse("manifest", "scheduler", *args)
    assert done.returncode in (1, 2) and done.stderr.strip() == why and not done.stdout


@pytest.mark.parametrize("what", ["operator", "scheduler"])
def test_a_manifest_wants_an_image(what):
    done = dormouse("manifest", what)
    assert done.returncode == 2 and not done.stdout
    assert "--image is needed" in done.stderr and "./dev image" in done.stderr


def test_a_wrong_configuration_names_field_and_line(tmp_path):
    file = tmp_path / "scheduler.yaml"
    file.write_text(CONFIG.replace("MostAllocated", "Best") + "paralelism: 3\n")
    done = dormouse("manifest", "scheduler", "--image", "dormouse:1", "--config", file)
    assert done.returncode == 1
    assert done.stderr == f'error: {file}: line 10, column 1: strict decoding error: unknown field "paralelism"\n'
    file.write_text(CONFIG.replace("MostAllocated", "Best") + "parallelism: 3\n")
    done = dormouse("manifest", "scheduler", "--image", "dormouse:1", "--config", file.name, cwd=tmp_path)  # a long path takes its place
    assert f"{file.name}: line 9, column 30: profiles[0].pluginConfig[0].args.scoringStrategy.type: Unsupported value: \"Best\"" in done.stderr
    file.write_text(CONFIG + "parallelism: 3\n")
    done = dormouse("manifest", "scheduler", "--image", "dormouse:1", "--config", file)
    assert done.returncode == 0 and done.stderr == "warning: parallelism: has no effect: one thread looks at all nodes\n"


# ---- simulate ----

def node(name, cpu="4", **labels):
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **labels}},
            "status": {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "110"}}}


def pod(name, cpu="1", labels=None, **spec):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels or {}},
            "spec": {"containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": cpu}}}], **spec}}


def simulate(tmp_path, nodes, pods, *args, check=True):
    for name, objects in (("nodes.yaml", nodes), ("pods.yaml", pods)):
        (tmp_path / name).write_text(objects if isinstance(objects, str) else yaml.safe_dump_all(objects))
    done = dormouse("scheduler", "simulate", "--nodes", tmp_path / "nodes.yaml", "--pods", tmp_path / "pods.yaml", *args)
    if check:
        assert done.returncode == 0, done.stderr
    return done


def places(tmp_path, nodes, pods, *args):
    answer = json.loads(simulate(tmp_path, nodes, pods, "-o", "json", *args).stdout)
    return {p["name"]: p for p in answer["pods"]}


def test_pods_go_where_they_fit(tmp_path):
    done = simulate(tmp_path, [node("small", "1"), node("large", "8"), {"apiVersion": "apps/v1", "kind": "DaemonSet",
                                                                       "metadata": {"name": "d"}}],
                    [pod("a", "4"), pod("b", "16"), pod("c", "1", schedulerName="other")])
    rows = [line.split(None, 3) for line in done.stdout.splitlines()]
    assert rows[0] == ["POD", "NODE", "SCORE", "REASON"]
    assert rows[1] == ["default/a", "large", "-", "-"]
    assert rows[2][:3] == ["default/b", "-", "-"] and rows[2][3].startswith("0/2 nodes are available: 2 Insufficient cpu.")
    assert rows[3] == ["default/c", "-", "-", "no profile has its schedulerName 'other'"]
    assert done.stderr == "warning: DaemonSet d: left out, no plugin looks at this kind\n"


def test_points_and_refusals_are_told(tmp_path):
    found = places(tmp_path, [node("a"), node("b")], [pod("p"), pod("q", "100")])
    assert found["p"]["score"] == sum(found["p"]["scores"].values()) and "NodeResourcesFit" in found["p"]["scores"]
    assert [n["refused"]["plugin"] for n in found["q"]["nodes"]] == ["NodeResourcesFit"] * 2
    wide = simulate(tmp_path, [node("a"), node("b")], [pod("p")], "-o", "wide").stdout
    assert "NodeResourcesFit=" in wide and wide.splitlines()[0].split() == [
        "POD", "NODE", "SCORE", "REASON", "NOMINATED", "ATTEMPTS", "POINTS"]
    tree = yaml.safe_load(simulate(tmp_path, [node("a")], [pod("p")], "-o", "yaml").stdout)
    assert tree["placed"] == 1 and tree["notPlaced"] == 0


def test_the_same_seed_gives_the_same_places(tmp_path):
    nodes, pods = [node(f"n{i}", "64") for i in range(50)], [pod(f"p{i}") for i in range(100)]
    first = simulate(tmp_path, nodes, pods, "--seed", "7").stdout
    assert first == simulate(tmp_path, nodes, pods, "--seed", "7").stdout
    assert first != simulate(tmp_path, nodes, pods, "--seed", "8").stdout


def test_priorities_evict_and_budgets_protect(tmp_path):
    high = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1000}
    budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "keep"},
              "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "kept"}}},
              "status": {"disruptionsAllowed": 0, "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1}}
    there = [pod("kept", "3", {"app": "kept"}, nodeName="a"), pod("goes", "3", nodeName="b")]
    found = places(tmp_path, [node("a"), node("b"), budget, *there], [pod("vip", "3", priorityClassName="high"), high])
    assert found["vip"]["node"] == "b" and found["vip"]["attempts"] == 2
    assert found["goes"]["node"] is None and found["goes"]["preemptedBy"] == "default/vip"
    assert "kept" not in found


def test_volumes_are_provisioned_and_bound(tmp_path):
    waits = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {
        "name": "waits", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
        "provisioner": "csi.example", "volumeBindingMode": "WaitForFirstConsumer"}
    local = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "local"},
             "provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": "WaitForFirstConsumer"}
    volume = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "disk"}, "spec": {
        "capacity": {"storage": "10Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "local", "local": {"path": "/d"},
        "nodeAffinity": {"required": {"nodeSelectorTerms": [
            {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["b"]}]}]}}}}

    def claim(name, **spec):
        return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}, "spec": {
            "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, **spec}}

    def using(name, claim):
        return pod(name, volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": claim}}])

    found = places(tmp_path, [node("a", "64"), node("b", "2"), waits, local, volume, claim("made"),
                              claim("bound", storageClassName="local"), claim("late", storageClassName="local")],
                   [using("new", "made"), using("pinned", "bound"), using("again", "made"), using("none", "late"),
                    using("lost", "nowhere")])
    assert found["new"]["node"] and found["again"]["node"]
    assert found["pinned"]["node"] == "b"
    assert "didn't find available persistent volumes to bind" in found["none"]["reason"]
    assert found["lost"]["reason"].startswith('0/2 nodes are available: persistentvolumeclaim "nowhere" not found.')


def workload(kind, name, version="apps/v1", **spec):
    template = {"metadata": {"labels": {"app": name}}, "spec": pod("x")["spec"]}
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": {
        "selector": {"matchLabels": {"app": name}}, "template": template, **spec}}


def test_new_workloads_bring_their_pods(tmp_path):
    sc = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "fast"}, "provisioner": "csi.example",
          "volumeBindingMode": "WaitForFirstConsumer"}
    claims = [{"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "fast",
                                                      "resources": {"requests": {"storage": "1Gi"}}}}]
    job = workload("Job", "once", "batch/v1", parallelism=3, completions=2)
    job["spec"]["template"]["spec"]["restartPolicy"] = "Never"
    del job["spec"]["selector"]
    there = workload("ReplicaSet", "there", replicas=5)
    there["metadata"]["uid"] = "1"  # of a cluster, and so are its pods
    # Pods of one ReplicaSet are spread over zones by default: that takes the ReplicaSet.
    nodes = [node(f"n{i}", "64", **{"topology.kubernetes.io/zone": f"z{i % 2}"}) for i in range(4)]
    found = places(tmp_path, nodes, [sc, workload("Deployment", "web", replicas=4), job, there,
                                     workload("StatefulSet", "db", replicas=2, serviceName="db", volumeClaimTemplates=claims)])
    assert sorted(found) == ["db-0", "db-1", "once-0", "once-1", "web-0", "web-1", "web-2", "web-3"]
    assert all(p["node"] for p in found.values())
    assert len({found[f"web-{i}"]["node"] for i in range(4)}) == 4


def test_lists_of_json_and_the_configuration_count(tmp_path):
    (tmp_path / "c.yaml").write_text(CONFIG)
    items = json.dumps({"apiVersion": "v1", "kind": "PodList", "items": [
        {"metadata": {"name": f"p{i}"}, "spec": pod("x", schedulerName="mine")["spec"]} for i in range(3)]})
    found = places(tmp_path, [node("a", "8"), node("b", "8")], items, "--config", tmp_path / "c.yaml")
    assert len({p["node"] for p in found.values()}) == 1  # the most allocated


def test_pods_that_are_not_tried_have_a_reason_too(tmp_path):
    gone = pod("gone")
    gone["metadata"]["deletionTimestamp"] = "2020-01-01T00:00:00Z"
    found = places(tmp_path, [node("a")], [gone, pod("gated", schedulingGates=[{"name": "x.y/z"}]), pod("wrong", "-1"),
                                           pod("claims", resourceClaims=[{"name": "gpu"}])])
    assert found["gone"]["reason"] == "it is being deleted"
    assert found["gated"]["reason"] == "it waits for its scheduling gate 'x.y/z'"
    assert "must be greater than or equal to 0" in found["wrong"]["reason"]
    assert "resourceClaims" in found["claims"]["reason"]


@pytest.mark.parametrize("pods,why", [
    ("a: [", "pods.yaml: line 2, column 1: did not find expected node content"),
    ("a: 1", "pods.yaml: an object without kind"),
    ("- 1", "pods.yaml: something that is no object"),
    ([{"apiVersion": "v1", "kind": "Pod", "metadata": {}}], "pods.yaml: Pod : it has no name"),
    ([pod("p"), pod("p")], "pods.yaml: Pod p: pods/default/p: File exists"),
    ([pod("p", priorityClassName="x")], "Pod default/p: no PriorityClass with name x was found"),
    ([pod("p", containers=1)], "Pod p: "),
])
def test_files_that_are_wrong(tmp_path, pods, why):
    done = simulate(tmp_path, [node("a")], pods, check=False)
    assert done.returncode == 1 and why in done.stderr and not done.stdout, done.stderr


def test_what_a_profile_cannot_be(tmp_path):
    (tmp_path / "c.yaml").write_text(CONFIG.replace("pluginConfig:", "plugins: {filter: {enabled: [{name: Nope}]}}\n  pluginConfig:"))
    done = simulate(tmp_path, [node("a")], [pod("p")], "--config", tmp_path / "c.yaml", check=False)
    assert done.returncode == 1 and 'FilterPlugin "Nope" does not exist' in done.stderr
    assert dormouse("scheduler", "simulate").returncode == 2
    assert dormouse("scheduler", "simulate", "--pods", "/dev/null", "-o", "xml").returncode == 2


GUEST = """(module
  (import "k8s.io/scheduler" "result.status_reason" (func $reason (param i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 16) "not today")
  (func (export "filter") (result i32) (call $reason (i32.const 16) (i32.const 9)) (i32.const 2)))
"""
WITH_GUEST = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  plugins: {{multiPoint: {{enabled: [{{name: never}}]}}}}
  pluginConfig: [{{name: never, args: {{guestURL: "file://{0}"}}}}]
"""


def test_plugins_in_webassembly_are_asked_too(tmp_path):
    tool = shutil.which("wat2wasm")
    if not tool:
        pytest.skip("no wat2wasm (package wabt)")
    (tmp_path / "g.wat").write_text(GUEST)
    subprocess.run([tool, tmp_path / "g.wat", "-o", tmp_path / "g.wasm"], check=True)
    (tmp_path / "c.yaml").write_text(WITH_GUEST.format(tmp_path / "g.wasm"))
    where = ("--config", tmp_path / "c.yaml", "--data-dir", tmp_path / "data")
    found = places(tmp_path, [node("a")], [pod("p")], *where)
    assert found["p"]["node"] is None and found["p"]["reason"].startswith("0/1 nodes are available: 1 not today.")
    assert found["p"]["nodes"][0]["refused"]["plugin"] == "never"
    (tmp_path / "c.yaml").write_text(WITH_GUEST.format("/nonexistent"))
    done = simulate(tmp_path, [node("a")], [pod("p")], *where, check=False)
    assert done.returncode == 1 and "/nonexistent" in done.stderr and not done.stdout
