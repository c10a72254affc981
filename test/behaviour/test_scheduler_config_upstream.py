# SPDX-License-Identifier: Apache-2.0
"""Configurations that are wrong, or just possible: what kube-scheduler says of them, and what dormouse does.

Needs a kube-scheduler (tools/build-upstream, or KUBE_SCHEDULER).
"""
import concurrent.futures
import json
import re
import subprocess

import pytest

from conftest import BUILD
from scheduler_kit import find_kube_scheduler

HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
ONE = HEAD + "profiles:\n- schedulerName: s\n"
OBJECT = '{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration",'
REQUIRED = "{addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: %s}}"
PREFERRED = "{addedAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [%s]}}"


def args(plugin, value):
    return f"{ONE}  pluginConfig:\n  - name: {plugin}\n    args: {value}\n"


def plugins(value):
    return f"{ONE}  plugins: {value}\n"


def term(value):
    return args("NodeAffinity", REQUIRED % ("{nodeSelectorTerms: [%s]}" % value))


def spread(value):
    return args("PodTopologySpread", "{defaultingType: List, defaultConstraints: [%s]}" % value)


CASES = [
    # the envelope
    HEAD, "a: 1", "kind: KubeSchedulerConfiguration", "kind: 1", "[]", "kind: K\napiVersion: a/b/c", HEAD + "---\nb: 2\n",
    HEAD.replace("/v1", "/v1beta3"), HEAD.replace("KubeSchedulerConfiguration", "Pod"),
    HEAD.replace("KubeSchedulerConfiguration", "NodeAffinityArgs"),
    # fields
    HEAD + "foo: 1\n", HEAD + "zoo: 1\nfoo: 1\n", OBJECT + '"zoo":1,"foo":1}', plugins("{score: {enabled: [{Name: x}]}}"),
    OBJECT + '"leaderElection":{"leaderElect":true,"leaderElect":true}}', HEAD + "parallelism: x\n", HEAD + "parallelism: 5000000000\n",
    HEAD + "podMaxBackoffSeconds: 1.5\n", HEAD + "profiles: {}\n", HEAD + "profiles: [1]\n", HEAD + "profiles: [{schedulerName: 1}]\n",
    HEAD + "leaderElection: {leaderElect: 1}\n", HEAD + "leaderElection: {leaseDuration: 15}\n",
    HEAD + "leaderElection: {leaseDuration: abc}\n", HEAD + "leaderElection: {leaseDuration: '15'}\n",
    HEAD + "leaderElection: {leaseDuration: 3x}\n", HEAD + "extenders: [{tlsConfig: {caData: 'AA?A'}}]\n",
    HEAD + "clientConnection: {qps: x}\n",
    args("DefaultPreemption", "{kind: InterPodAffinityArgs}"), args("DefaultPreemption", "{kind: Foo}"),
    args("DefaultPreemption", "{apiVersion: v2}"), args("DefaultPreemption", "{minCandidateNodesPercentage: x}"),
    args("DefaultPreemption", "[1]"), args("DefaultPreemption", "text"), args("NodeAffinity", ""),
    args("NodeResourcesFit", "{scoringStrategy: {resources: [{Name: cpu, Weight: 1}]}}"),
    args("NodeResourcesFit", "{a: 1}") + "    b: 2\nc: 3\n",
    # rules
    HEAD + "parallelism: 0\n", HEAD + "percentageOfNodesToScore: 101\n", ONE + "  percentageOfNodesToScore: -1\n",
    HEAD + "podInitialBackoffSeconds: 0\n", HEAD + "podInitialBackoffSeconds: 5\npodMaxBackoffSeconds: 4\n",
    HEAD + "clientConnection: {burst: -1}\n", HEAD + "leaderElection: {leaseDuration: 10s}\n",
    HEAD + "leaderElection: {retryPeriod: -1m30.5s}\n", HEAD + "leaderElection: {resourceLock: endpoints}\n",
    HEAD + "profiles: [{schedulerName: a}, {}]\n", HEAD + "profiles: [{schedulerName: ''}]\n",
    plugins("{filter: {enabled: [{name: EBSLimits}]}}"), ONE + "  pluginConfig: [{name: x}, {name: x}]\n",
    ONE + "  pluginConfig: [{name: EBSLimits}]\n",
    HEAD + "profiles: [{schedulerName: a}, {schedulerName: b, plugins: {queueSort: {enabled: [{name: X}], disabled: [{name: '*'}]}}}]\n",
    plugins("{queueSort: {enabled: [{name: X}, {name: Z}]}}"),
    HEAD + "extenders: [{prioritizeVerb: p}]\n", HEAD + "extenders: [{bindVerb: a}, {bindVerb: b}]\n",
    HEAD + "extenders: [{managedResources: [{name: cpu}]}]\n", HEAD + "extenders: [{managedResources: [{name: 'a b/c'}]}]\n",
    HEAD + "extenders: [{managedResources: [{name: a/b}]}, {managedResources: [{name: a/b}]}]\n",
    plugins("{multiPoint: {disabled: [{name: NodeResourcesFit}]}}") +
    "extenders: [{urlPrefix: 'http://x', managedResources: [{name: a/b, ignoredByScheduler: true}]}]\n",
    # arguments
    args("DefaultPreemption", "{minCandidateNodesPercentage: 200}"), args("DefaultPreemption", "{minCandidateNodesAbsolute: -1}"),
    args("DefaultPreemption", "{minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 0}"),
    args("InterPodAffinity", "{hardPodAffinityWeight: 101}"), args("VolumeBinding", "{bindTimeoutSeconds: -1}"),
    args("VolumeBinding", "{shape: [{utilization: 1, score: 1}]}"),
    args("NodeResourcesBalancedAllocation", "{resources: [{name: cpu, weight: 2}]}"),
    args("NodeResourcesBalancedAllocation", "{resources: [{name: cpu}, {name: cpu}]}"),
    args("NodeResourcesFit", "{scoringStrategy: {type: Best}}"), args("NodeResourcesFit", "{scoringStrategy: {resources: []}}"),
    args("NodeResourcesFit", "{scoringStrategy: {type: RequestedToCapacityRatio}}"),
    args("NodeResourcesFit", "{scoringStrategy: {type: LeastAllocated, requestedToCapacityRatio: {}}}"),
    args("NodeResourcesFit", "{scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: {}}}"),
    args("NodeResourcesFit", "{scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: "
                             "{shape: [{utilization: 5, score: 1}, {utilization: 5, score: 200}]}}}"),
    args("NodeResourcesFit", "{scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 101}]}}"),
    args("NodeResourcesFit", "{ignoredResourceGroups: [a/b]}"), args("NodeResourcesFit", "{ignoredResources: ['a b']}"),
    args("PodTopologySpread", "{defaultingType: Best}"),
    args("PodTopologySpread", "{defaultConstraints: [{maxSkew: 1, topologyKey: k, whenUnsatisfiable: DoNotSchedule}]}"),
    spread("{topologyKey: k, whenUnsatisfiable: DoNotSchedule}"), spread("{maxSkew: 1, whenUnsatisfiable: Never}"),
    spread("{maxSkew: 1, topologyKey: 'a b'}"),
    spread("{maxSkew: 1, topologyKey: k, whenUnsatisfiable: DoNotSchedule, labelSelector: {}}"),
    spread("&c {maxSkew: 1, topologyKey: k, whenUnsatisfiable: DoNotSchedule}, *c"),
    term("{matchExpressions: [{key: a, operator: In}]}"), term("{matchExpressions: [{key: 'a b', operator: Exists, values: [x]}]}"),
    term("{matchExpressions: [{key: a, operator: Gt, values: [x, z]}]}"), term("{matchExpressions: [{key: a, operator: In, values: ['x y']}]}"),
    term("{matchExpressions: [{key: a, operator: Nope}]}"), term("{matchFields: [{key: metadata.name, operator: In, values: [a, b]}]}"),
    term("{matchFields: [{key: metadata.name, operator: Gt, values: [a]}]}"), args("NodeAffinity", REQUIRED % "{}"),
    args("NodeAffinity", PREFERRED % "{weight: 1, preference: {matchExpressions: [{key: a, operator: Nope}]}}"),
    args("NodeAffinity", PREFERRED % "{preference: {matchExpressions: [{key: a, operator: Nope}]}}"),
    args("Nope", "{a: 1}"), args("NodeName", "{a: 1}"),
    # profiles
    plugins("{filter: {enabled: [{name: Nope}]}}"), plugins("{multiPoint: {enabled: [{name: Nope}]}}"),
    plugins("{filter: {enabled: [{name: ImageLocality}]}}"), plugins("{filter: {enabled: [{name: NodeName}, {name: NodeName}]}}"),
    plugins("{multiPoint: {disabled: [{name: '*'}], enabled: [{name: NodeName}, {name: NodeName}]}}"),
    plugins("{multiPoint: {disabled: [{name: '*'}]}}"), plugins("{bind: {disabled: [{name: '*'}]}}"),
    plugins("{queueSort: {disabled: [{name: '*'}]}}"), plugins("{queueSort: {enabled: [{name: PrioritySort}]}}"),
    plugins("{multiPoint: {enabled: [{name: TaintToleration}]}}"), plugins("{score: {enabled: [{name: NodeName}]}}"),
    plugins("{score: {enabled: [{name: NodeResourcesFit, weight: -1}]}}"), plugins("{filter: {enabled: [{}]}}"),
    HEAD + "profiles: [{schedulerName: a, plugins: {multiPoint: {enabled: [{name: Nope}]}}}, {schedulerName: b}]\n",
]
TEXT_MAX = 240  # an error of ours, with its place, is cut behind it


def upstream_says(program, path):
    """'' for a configuration that it takes."""
    done = subprocess.run([program, "--config", path / "c.yaml", "--write-config-to", path / "out.yaml", "--kubeconfig", path / "k.yaml",
                           "--master", "http://127.0.0.1:1", "--authentication-skip-lookup", "--secure-port", "0"], capture_output=True, text=True, timeout=60)
    if done.returncode == 0:
        return ""
    text = re.search(r'"command failed" err=(.*)', done.stderr, re.S).group(1).strip()
    if text.startswith("<"):  # klog's way with texts of several lines
        return re.sub(r"\n\t", "\n", text[1:].rstrip(" >\n")).strip()
    return json.loads(text).removesuffix(": ")  # whose cause is empty


def dormouse_says(path):
    """The same, and whether it was cut."""
    done = subprocess.run([BUILD / "dormouse", "scheduler", "simulate", "--config", path / "c.yaml", "--pods", "/dev/null"],
                          capture_output=True, text=True, timeout=60)
    if done.returncode == 0:
        return "", False
    text = done.stderr.splitlines()[-1].removeprefix("error: ")
    return re.sub(r"^line \d+, column \d+: ", "", text.removeprefix(f"{path}/c.yaml: ")), len(text) > TEXT_MAX


def of_fit(text):
    """Upstream finds what is wrong with these arguments when it makes the plugin, without their path."""
    text = re.sub(r"^initializing profiles: .*initializing plugin \"NodeResourcesFit\": ", "", text)
    return text.replace("profiles[0].pluginConfig[0].args.", "")


def test_the_same_is_said_of_every_configuration(tmp_path):
    program = find_kube_scheduler()
    if not program:
        pytest.skip("NOT RUN: no kube-scheduler here: set KUBE_SCHEDULER, or build one with tools/build-upstream")

    def compare(number):
        path = tmp_path / str(number)
        path.mkdir()
        (path / "c.yaml").write_text(CASES[number])
        (path / "k.yaml").write_text("apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}]\n"
                                     "contexts: [{name: c, context: {cluster: c}}]\ncurrent-context: c\n")
        ours, is_cut = dormouse_says(path)
        theirs, ours = of_fit(upstream_says(program, path)), of_fit(ours)
        is_same = theirs == ours or (is_cut and theirs[:60] == ours[:60])
        return "" if is_same else f"{CASES[number]}\nkube-scheduler: {theirs}\ndormouse: {ours}\n"

    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:  # each is a program of its own
        different = [d for d in pool.map(compare, range(len(CASES))) if d]
    assert not different, "\n".join(different)
