# SPDX-License-Identifier: Apache-2.0
"""Commands about the scheduler: what it needs in a cluster, why a pod stands where it does, placing without a cluster."""
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
    done = dormouse("manifest", "scheduler", *args)
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
    (["--config", "/nonexistent"], "error: open '/nonexistent': No such file or directory"),
])
def test_a_manifest_that_cannot_be(args, why):
    done = dormouse("manifest", "scheduler", *args)
    assert done.returncode in (1, 2) and done.stderr.strip() == why and not done.stdout


def test_a_wrong_configuration_names_field_and_line(tmp_path):
    file = tmp_path / "scheduler.yaml"
    file.write_text(CONFIG.replace("MostAllocated", "Best") + "paralelism: 3\n")
    done = dormouse("manifest", "scheduler", "--config", file)
    assert done.returncode == 1
    assert done.stderr == f'error: {file}: line 10, column 1: strict decoding error: unknown field "paralelism"\n'
    file.write_text(CONFIG.replace("MostAllocated", "Best") + "parallelism: 3\n")
    done = dormouse("manifest", "scheduler", "--config", file)
    assert f"{file}: line 9, column 30: profiles[0].pluginConfig[0].args.scoringStrategy.type: Unsupported value: \"Best\"" in done.stderr
    file.write_text(CONFIG + "parallelism: 3\n")
    done = dormouse("manifest", "scheduler", "--config", file)
    assert done.returncode == 0 and done.stderr == "warning: parallelism: has no effect: one thread looks at all nodes\n"
