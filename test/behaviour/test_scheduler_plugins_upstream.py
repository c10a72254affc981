# SPDX-License-Identifier: Apache-2.0
"""Upstream's own guests as plugins: kube-scheduler-wasm-extension, at HEAD, at v0.1.0 and in between.

WASM_EXTENSION_CLONE names a clone of that repository with its history. Nothing of it is kept here: each
guest is read out of the clone when the test runs. Without it everything is skipped.
"""
import os
import pathlib
import subprocess

import pytest
import yaml

from plugin_kit import (INT_MAX, INT_MIN, NODE_SMALL, POD_FOR_HANDLE, POD_SMALL, UID, Plugin, node, pod, run_all,
                        trapped)
from test_scheduler_call import build, echo, text
from test_scheduler_call import build, echo, text

CLONE = os.environ.get("WASM_EXTENSION_CLONE")
pytestmark = pytest.mark.skipif(not CLONE, reason="WASM_EXTENSION_CLONE does not name a clone of "
                                                  "kubernetes-sigs/kube-scheduler-wasm-extension")
HEAD = "9b2791f1bbea8ad75871433ca0a201d03edee714"
MIDDLE = "9b9e18b"
OLD = "v0.1.0"
GO_GUEST = "a23db847ea3cbae8035237d34afff7e581ce80f4"
DATA = "scheduler/test/testdata"


def show(what):
    return subprocess.run(["git", "-C", CLONE, "cat-file", "blob", what], capture_output=True, check=True).stdout


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    return tmp_path_factory.mktemp("plugins")


@pytest.fixture
def load(scratch):
    """load(path, commit=HEAD, **first line): a running plugin."""
    made = []

    def make(path, commit=HEAD, **first):
        what = f"{commit}:{path}" if path else commit
        file = scratch / what.replace("/", "_").replace(":", "_")
        if not file.exists():
            file.write_bytes(show(what))
        made.append(Plugin(scratch / "data", file, **first))
        return made[-1]

    yield make
    for p in made:
        p.__exit__(None)


def guest(name):
    return f"guest/testdata/{name}/main.wasm"


def wat(name):
    return f"{DATA}/{name}.wasm"


def real(what):
    return yaml.load(show(f"{HEAD}:{DATA}/yaml/{what}.yaml"), Loader)


class Loader(yaml.SafeLoader):
    """Times stay text."""


Loader.yaml_implicit_resolvers = {k: [r for r in v if r[0] != "tag:yaml.org,2002:timestamp"]
                                  for k, v in yaml.SafeLoader.yaml_implicit_resolvers.items()}

ALL = ["bind", "filter", "permit", "reserve", "score"]


# ---- loading ----

@pytest.mark.parametrize("name, text", [
    ("error/not_plugin", "wasm: guest does not export any plugin functions"),
    ("error/prescore_without_score", "wasm: filter, score, reserve, permit or bind must be exported"),
    ("error/scoreextensions_without_score", "wasm: filter, score, reserve, permit or bind must be exported"),
    ("error/panic_on_start", "failed to create a guest pool: wasm: instantiate error: panic!\n"
     "module[1] function[_start] failed: wasm error: unreachable\nwasm stack trace:\n\tpanic_on_start.$2()"),
    ("test/all_noop", "wasm: guest exports the wrong signature for func[postfilter]. should be () -> (i64)"),
])
def test_load_errors(load, name, text):
    assert load(wat(name)).loaded == {"error": text}


@pytest.mark.parametrize("path, points", [
    (wat("error/panic_on_filter"), ["filter"]), (wat("error/panic_on_score"), ["score"]),
    (wat("error/panic_on_prefilter"), []), (wat("error/panic_on_reserve"), ["reserve"]),
    ("examples/advanced/main.wasm", ["score"]), ("examples/nodenumber/main.wasm", ALL),
    ("examples/imagelocality/main.wasm", ["score"]), (guest("cyclestate"), ALL), (guest("permit"), ["permit"]),
    (guest("bind"), ["bind"]),
])
def test_points(load, path, points):
    assert load(path).loaded == {"points": points}


# ---- globals ----

@pytest.mark.parametrize("value", [INT_MIN, INT_MAX])
@pytest.mark.parametrize("hook, name", [
    ("prefilter", "prefilter"), ("filter", "filter"), ("addpod", "prefilterextensions"),
    ("removepod", "prefilterextensions"), ("postfilter", "postfilter"), ("prescore", "prescore"),
    ("score", "score"), ("normalizescore", "scoreextensions"), ("reserve", "reserve"), ("permit", "permit"),
    ("prebind", "prebind"), ("bind", "bind"),
])
def test_status_codes_pass_through(load, hook, name, value):
    got = load(wat(f"test/{name}_from_global"))(hook, pod=POD_SMALL, globals={"status_code_global": value})
    assert (got["code"], got["message"]) == (value, "")
    assert got.get("nodeNames") is None and got.get("timeoutMs", 0) == 0 and got.get("score", 0) == 0
    if hook == "postfilter":
        assert (got["nominated"], got["mode"]) == ("", 0)


@pytest.mark.parametrize("value", [INT_MIN, INT_MAX])
def test_other_numbers_pass_through(load, value):
    got = load(wat("test/score_from_global"))("score", pod=POD_SMALL, node="n", globals={"score_global": value})
    assert (got["code"], got["score"]) == (0, value)
    got = load(wat("test/postfilter_from_global"))("postfilter", pod=POD_SMALL,
                                                   globals={"nominating_mode_global": value})
    assert (got["code"], got["mode"]) == (0, value)


# ---- traps ----

@pytest.mark.parametrize("hook, name, index, result", [
    ("prefilter", "prefilter", 1, " i32"), ("filter", "filter", 1, " i32"),
    ("addpod", "prefilterextensions", 1, " i32"), ("removepod", "prefilterextensions", 2, " i32"),
    ("postfilter", "postfilter", 1, " i64"), ("prescore", "prescore", 1, " i32"), ("score", "score", 1, " i64"),
    ("normalizescore", "scoreextensions", 1, " i32"), ("reserve", "reserve", 1, " i32"),
    ("permit", "permit", 1, " i64"), ("prebind", "prebind", 1, " i32"), ("bind", "bind", 1, " i32"),
])
def test_traps(load, hook, name, index, result):
    plugin = load(wat(f"error/panic_on_{name}"))
    for _ in range(2):  # the second call is in a fresh instance
        got = plugin(hook, pod=POD_SMALL, node="good-node")
        assert got["code"] == 1
        assert got["message"] == trapped(hook, f"panic_on_{name}.${index}(){result}")
        assert got.get("score", 0) == 0 and got.get("timeoutMs", 0) == 0


@pytest.mark.parametrize("config, output", [("", ""), ("hello", "hello\n")])
def test_configuration_reaches_the_guest(load, config, output):
    got = load(wat("error/panic_on_get_config"), config=config)("prefilter", pod=POD_SMALL)
    assert got["message"] == trapped("prefilter", "panic_on_get_config.$2() i32", output)


def test_enqueue_that_traps_gives_the_default_events(load):
    got = load(wat("error/panic_on_enqueue"))("enqueue")
    assert [e[0] for e in got["events"]] == DEFAULT_EVENTS
    assert "wasm: enqueue error: panic!" in got["log"]


def test_traps_of_hooks_without_status_are_logged(load):
    reserve = load(wat("test/reserve_from_global"))
    assert reserve("reserve", pod=POD_SMALL)["code"] == 0
    assert reserve("unreserve", pod=POD_SMALL)["log"] == ""
    assert reserve("unreserve", pod=POD_SMALL, globals={"flag_global": 1})["log"] == (
        '"failed unreserve" err=<\n\twasm: unreserve error: wasm error: unreachable\n\twasm stack trace:\n'
        "\t\treserve_from_global.$1()\n >\n")
    postbind = load(wat("test/postbind_from_global"))
    assert postbind("postbind", pod=POD_SMALL)["log"] == ""
    assert postbind("postbind", pod=POD_SMALL, globals={"flag_global": 1})["log"] == (
        '"failed postbind" err=<\n\twasm: postbind error: wasm error: unreachable\n\twasm stack trace:\n'
        "\t\tpostbind_from_global.$0()\n >\n")
    assert load(wat("error/panic_on_postbind"))("postbind", pod=POD_SMALL)["log"] == (
        '"failed postbind" err=<\n\twasm: postbind error: panic!\n\twasm error: unreachable\n\twasm stack trace:\n'
        "\t\tpanic_on_postbind.$1()\n >\n")


# ---- the guests of three generations ----

GENERATIONS = [HEAD, MIDDLE, OLD]
DEFAULT_EVENTS = ["Pod", "Node", "storage.k8s.io/CSINode", "PersistentVolume", "PersistentVolumeClaim",
                  "storage.k8s.io/StorageClass"]


@pytest.mark.parametrize("commit", GENERATIONS)
def test_enqueue(load, commit):
    got = load(guest("cyclestate"), commit)("enqueue")
    assert got["events"] == [[name, 8191] for name in DEFAULT_EVENTS]
    assert load(guest("cyclestate"), commit, args=["test", "1"])("enqueue")["events"] == [["PersistentVolume", 2]]
    assert load(guest("cyclestate"), commit, args=["test", "2"])("enqueue")["events"] == [
        ["Node", 1], ["PersistentVolume", 2]]


@pytest.mark.parametrize("commit", GENERATIONS)
def test_prefilter(load, commit):
    plugin = load(guest("filter"), commit, args=["test", "preFilter"], nodes=[NODE_SMALL])
    got = plugin("prefilter", pod=POD_SMALL)
    assert (got["code"], got["message"], got["nodeNames"]) == (0, "", ["good-node"])
    got = plugin("prefilter", pod=pod(node=None))
    assert (got["code"], got["nodeNames"]) == (0, None)


@pytest.mark.parametrize("commit", GENERATIONS)
def test_filter(load, commit):
    plugin = load(guest("filter"), commit, args=["test", "filter"], nodes=[NODE_SMALL, node("bad-node")])
    got = plugin("filter", pod=POD_SMALL, node="good-node")
    assert (got["code"], got["message"]) == (0, "")
    got = plugin("filter", pod=POD_SMALL, node="bad-node")
    assert (got["code"], got["message"]) == (2, "good-node != bad-node")


@pytest.mark.parametrize("commit", [HEAD, MIDDLE])
def test_filter_of_an_unknown_node(load, commit):
    plugin = load(guest("filter"), commit, args=["test", "filter"], nodes=[NODE_SMALL])
    got = plugin("filter", pod=POD_SMALL, node="nowhere")
    assert (got["code"], got["message"]) == (2, "good-node != ")
    got = plugin("filter", pod=POD_SMALL)
    assert (got["code"], got["message"]) == (1, "could not get current node name")


@pytest.mark.parametrize("commit", GENERATIONS)
def test_postfilter(load, commit):
    plugin = load(guest("filter"), commit, args=["test", "postFilter"])
    got = plugin("postfilter", pod=POD_SMALL, statuses={"good-node": 0})
    assert (got["code"], got["message"], got["nominated"], got["mode"]) == (0, "", "good-node", 1)
    got = plugin("postfilter", pod=POD_SMALL, statuses={"good-node": 2})
    assert (got["code"], got["message"], got["nominated"], got["mode"]) == (
        3, "good-node is unschedulable", "good-node", 0)


@pytest.mark.parametrize("commit", GENERATIONS)
@pytest.mark.parametrize("hook", ["addpod", "removepod"])
def test_prefilter_extensions(load, hook, commit):
    plugin = load(guest("filter"), commit, args=["test", "preFilterExtensions"],
                  nodes=[NODE_SMALL, node("bad"), node("bad-node")])
    got = plugin(hook, pod=POD_SMALL, target=pod(node=None), node="good-node")
    assert (got["code"], got["message"]) == (0, "")
    got = plugin(hook, pod=POD_SMALL, target=pod("bad-pod", node=None), node="bad")
    seen = "good-pod" if commit == OLD else "bad-pod"  # the oldest guests take one pod for the other
    assert (got["code"], got["message"]) == (1, f"Node name is bad and PodInfo name is {seen}")


@pytest.mark.parametrize("commit", GENERATIONS)
@pytest.mark.parametrize("count", [0, 1, 2])
def test_prescore(load, count, commit):
    names = [f"node-{i}" for i in range(count)]
    plugin = load(guest("score"), commit, args=["test", "preScore"], nodes=[node(n) for n in names])
    got = plugin("prescore", pod=POD_SMALL, nodes=names)
    assert (got["code"], got["message"]) == (count, "")


@pytest.mark.parametrize("commit", GENERATIONS)
def test_score(load, commit):
    plugin = load(guest("score"), commit, args=["test", "score"], nodes=[NODE_SMALL])
    got = plugin("score", pod=POD_SMALL, node="good-node")
    assert (got["code"], got["message"], got["score"]) == (0, "", 100)
    assert plugin("score", pod=POD_SMALL, node="bad-node")["score"] == 0


@pytest.mark.parametrize("commit", GENERATIONS)
def test_normalizescore(load, commit):
    plugin = load(guest("score"), commit, args=["test", "scoreExtensions"])
    got = plugin("normalizescore", pod=POD_SMALL, scores=[["good-node", 100]])
    assert (got["code"], got["scores"]) == (0, [["good-node", 10000]])
    five = [[name, 10 * i] for i, name in enumerate("ecbda")]
    got = plugin("normalizescore", pod=POD_SMALL, scores=five)
    assert (got["code"], got["scores"]) == (0, [[name, 100 * score] for name, score in five])


@pytest.mark.parametrize("commit", GENERATIONS)
def test_reserve(load, commit):
    plugin = load(guest("reserve"), commit)
    got = plugin("reserve", pod=POD_SMALL, node="good")
    assert (got["code"], got["message"]) == (0, "")
    assert plugin("unreserve", pod=POD_SMALL, node="good")["log"] == ""
    got = plugin("reserve", pod=POD_SMALL, node="bad")
    assert (got["code"], got["message"]) == (1, "name is bad")


@pytest.mark.parametrize("commit", GENERATIONS)
def test_permit(load, commit):
    plugin = load(guest("permit"), commit)
    answers = [plugin("permit", pod=POD_SMALL, node=n) for n in ("good", "bad", "wait")]
    assert [(a["code"], a["message"], a["timeoutMs"]) for a in answers] == [
        (0, "", 0), (1, "name is bad", 0), (4, "name is wait", 10000)]


@pytest.mark.parametrize("commit", GENERATIONS)
@pytest.mark.parametrize("hook, arg", [("prebind", "preBind"), ("bind", "bind")])
def test_bind(load, hook, arg, commit):
    plugin = load(guest("bind"), commit, args=["test", arg])
    got = plugin(hook, pod=POD_SMALL, node="good")
    assert (got["code"], got["message"]) == (0, "")
    got = plugin(hook, pod=POD_SMALL, node="bad")
    assert (got["code"], got["message"]) == (1, "name is bad")


@pytest.mark.parametrize("commit", GENERATIONS)
def test_postbind(load, commit):
    plugin = load(guest("bind"), commit, args=["test", "postBind"])
    assert plugin("postbind", pod=POD_SMALL, node="good")["log"] == ""
    log = plugin("postbind", pod=POD_SMALL, node="bad")["log"]
    assert log.startswith('"failed postbind" err=<\n\twasm: postbind error: panic: name is bad\n\t\n'
                          "\twasm error: unreachable\n\twasm stack trace:\n")
    if commit == HEAD:
        assert log.endswith("\t\tmain.runtime._panic(i32,i32)\n\t\tmain.postbind()\n >\n")


# ---- the handle ----

@pytest.mark.parametrize("commit", GENERATIONS)
def test_reject_waiting_pod(load, commit):
    plugin = load(guest("handle"), commit, args=["test", "rejectWaitingPod"], nodes=[NODE_SMALL],
                  waiting=[POD_FOR_HANDLE])
    got = plugin("filter", pod=POD_SMALL, node="good-node")
    assert (got["code"], got["message"], got["rejectedUid"]) == (0, "", UID)
    got = plugin("filter", pod=POD_FOR_HANDLE, node="good-node")
    assert (got["code"], got["message"], got["rejectedUid"]) == (5, "UID is handle-test", "handle-test")


def test_get_waiting_pod(load):
    old = load(guest("handle"), MIDDLE, args=["test", "getWaitingPod"], nodes=[NODE_SMALL], waiting=[POD_FOR_HANDLE])
    got = old("filter", pod=POD_SMALL, node="good-node")
    assert (got["code"], got["message"]) == (1, f"No waiting pod found for UID: {UID}")
    assert old("filter", pod=POD_FOR_HANDLE, node="good-node")["code"] == 0
    new = load(guest("handle"), args=["test", "getWaitingPod"], nodes=[NODE_SMALL], waiting=[POD_FOR_HANDLE])
    for p in (POD_SMALL, POD_FOR_HANDLE):
        got = new("filter", pod=p, node="good-node")
        assert got["code"] == 1
        assert got["message"].startswith("wasm: filter error: panic: not implemented\n\nwasm error: unreachable\n"
                                         "wasm stack trace:\n\tmain.runtime._panic(i32,i32)\n")
        assert got["message"].endswith("\tmain.(main.pluginForGet).Filter() i32\n\tmain.filter() i32")


# ---- cycles ----

@pytest.mark.parametrize("commit", GENERATIONS)
def test_cycle_state(load, commit):
    a_pod, a_node = real("pod"), real("node")
    plugin = load(guest("cyclestate"), commit, nodes=[a_node])
    for _ in range(2):
        for hook, got in run_all(plugin, a_pod, a_node["metadata"]["name"]).items():
            assert got.get("code", 0) == 0 and got["log"] == "", (hook, got)


@pytest.mark.parametrize("commit", GENERATIONS)
def test_pods_that_bind_at_once_have_their_own_state(load, commit):
    plugin = load(guest("cyclestate"), commit, nodes=[NODE_SMALL])
    a, b = pod(uid="a"), pod(uid="b")

    def good(hook, p):
        got = plugin(hook, pod=p, node="good-node")
        assert got.get("code", 0) == 0 and got["log"] == "", (hook, got)

    for p in (a, b):
        for hook in ("prefilter", "filter", "prescore", "score", "reserve", "permit"):
            good(hook, p)
    good("unreserve", a)
    for hook in ("prebind", "bind", "postbind"):
        good(hook, b)
    for hook in ("prefilter", "filter", "prescore", "score"):
        good(hook, a)


def test_bind_runs_where_its_pod_was_filtered(load):
    plugin = load(guest("cyclestate"), nodes=[NODE_SMALL])
    a, b = pod(uid="a"), pod(uid="b")
    for p in (a, b):
        for hook in ("prefilter", "filter", "prescore", "score", "reserve", "permit"):
            assert plugin(hook, pod=p, node="good-node")["code"] == 0
    for p in (a, b):
        for hook in ("prebind", "bind"):
            assert plugin(hook, pod=p, node="good-node")["code"] == 0


def test_instances_are_bounded(load):
    plugin = load(guest("permit"))
    kib = 0
    for i in range(10000):
        assert plugin("permit", pod=pod(uid=f"uid-{i}"), node="good")["code"] == 0
        if i == 1000:
            kib = plugin.memory_kib()
    assert plugin.memory_kib() < kib + 8192


# ---- examples ----

def image_node(name, image):
    return {"metadata": {"name": name},
            "status": {"images": [{"names": [f"{image}:v{i}"], "sizeBytes": 100000000} for i in (1, 2, 3)]}}


IMAGE_NODES = [image_node("no-image-node1", "unrelated-image"), image_node("image-node1", "test-image"),
               image_node("image-node2", "test-image")]


@pytest.mark.parametrize("commit", [HEAD, MIDDLE])
@pytest.mark.parametrize("name, score", [("no-image-node1", 0), ("image-node1", 4), ("image-node2", 4)])
def test_image_locality(load, name, score, commit):
    plugin = load("examples/imagelocality/main.wasm", commit, nodes=IMAGE_NODES)
    a_pod = pod(node=None, containers=[{"name": "c", "image": "test-image:v1"}])
    got = run_all(plugin, a_pod, name)["score"]
    assert (got["code"], got["score"]) == (0, score)


def test_image_locality_of_a_thousand_nodes(load):
    base = real("node")
    nodes = [{**base, "metadata": {**base["metadata"], "name": f"node-{i}"}} for i in range(1000)]
    plugin = load("examples/imagelocality/main.wasm", nodes=nodes)
    a_pod = pod(node=None, containers=[{"name": "c", "image": "test-image:v1"}])
    assert plugin("score", pod=a_pod, node="node-7")["code"] == 0


HAPPY = pod("happy8-meta", uid="happy", namespace="", node="happy8")


def numbers(load, path, config, commit=HEAD):
    plugin = load(path, commit, config=config, nodes=[node("glad8"), node("glad9")])
    log, event, scores = "", None, {}
    for name in ("glad9", "glad8"):
        for hook, got in run_all(plugin, HAPPY, name).items():
            assert got.get("code", 0) == 0, (hook, got)
            log += got["log"]
            event = got.get("event", event)
            if hook == "score":
                scores[name] = got["score"]
    return log, event, scores


def test_node_number(load):
    log, event, scores = numbers(load, "examples/advanced/main.wasm", '{"reverse": false}')
    assert scores == {"glad9": 0, "glad8": 10}
    assert event == "happy8-meta PreScore match lastNumber Continue "
    assert '"execute PreScore on NodeNumber plugin" pod="happy8-meta"\n' in log
    assert '"execute Score on NodeNumber plugin" pod="happy8-meta"\n' in log


def test_node_number_reversed(load):
    log, _, scores = numbers(load, "examples/advanced/main.wasm", '{"reverse": true}')
    assert scores == {"glad9": 10, "glad8": 0}
    assert log.splitlines()[0] == "NodeNumberArgs is successfully applied"


def test_simple_node_number(load):
    _, event, scores = numbers(load, "examples/nodenumber/main.wasm", '{"reverse": false}')
    assert scores == {"glad9": 10, "glad8": 10}
    assert event == "happy8-meta PreScore not match lastNumber Skip "
    _, _, scores = numbers(load, "examples/nodenumber/main.wasm", '{"reverse": true}')
    assert scores == {"glad9": 0, "glad8": 0}


@pytest.mark.parametrize("path", ["examples/nodenumber/main.wasm", "examples/advanced/main.wasm"])
def test_event_of_prescore(load, path):
    got = load(path, nodes=[NODE_SMALL])("prescore", pod=POD_SMALL)
    assert got["event"] == "good-pod PreScore not match lastNumber Skip "


@pytest.mark.parametrize("path", ["examples/nodenumber/main.wasm", "examples/advanced/main.wasm"])
@pytest.mark.parametrize("commit", [MIDDLE, OLD])
def test_older_node_numbers(load, path, commit):
    _, _, scores = numbers(load, path, '{"reverse": false}', commit)
    assert set(scores.values()) <= {0, 10}


def test_scores_of_the_benchmark_guest(load):
    plugin = load("internal/e2e/scheduler_perf/wasm/nodenumber/main.wasm", nodes=[node("node-1"), node("node-9")])
    got = {}
    for name in ("pod-abc1", "pod-x", "pod-9"):
        p = pod(name, uid=name, node=None)
        assert plugin("prefilter", pod=p)["code"] == 0
        assert plugin("prescore", pod=p, nodes=["node-1", "node-9"])["code"] in (0, 5)
        got[name] = [plugin("score", pod=p, node=n)["score"] for n in ("node-1", "node-9")]
    assert got == {"pod-abc1": [10, 0], "pod-x": [10, 10], "pod-9": [0, 10]}


# ---- beyond upstream's host ----

def test_a_reactor_in_go(load):
    plugin = load("", GO_GUEST)
    assert plugin.loaded == {"points": []}
    assert plugin("prefilter", pod=POD_SMALL)["code"] == 0


@pytest.mark.parametrize("length", [2048, 2049, 70000])
def test_long_configurations(load, length):
    config = '{"reverse": false}'.ljust(length)
    assert numbers(load, "examples/advanced/main.wasm", config)[2] == {"glad9": 0, "glad8": 10}


def test_sizes_of_real_objects(scratch):
    a_pod, a_node = real("pod"), real("node")
    names = [f"node-{i}" for i in range(1000)]

    def ask(what, nodes=(), **guest_):
        with Plugin(scratch / "data", build(scratch, echo(what, limit=0, **guest_)), nodes=list(nodes)) as plugin:
            return plugin("filter", pod=a_pod)["code"]

    own = a_node["metadata"]["name"]
    nodes = [{**a_node, "metadata": {**a_node["metadata"], "name": n}} for n in names]
    assert ask("pod") == 3104
    assert ask("node", [a_node], args=f"(i32.const 8) (i32.const {len(own)})",
               more=f"(data (i32.const 8) {text(own)})") == 4158
    assert ask("nodeList", nodes) == 8 + sum(3 + 4158 - len(own) + len(n) for n in names)


def test_three_hundred_filtered_nodes(load):
    names = [f"node-{i}" for i in range(300)]
    plugin = load(guest("score"), args=["test", "preScore"], nodes=[node(n) for n in names])
    assert plugin("prescore", pod=POD_SMALL, nodes=names)["code"] == 300


def test_plugins_of_one_module_do_not_share_state(load):
    forward = load("examples/advanced/main.wasm", config='{"reverse": false}', nodes=[node("glad8")])
    reverse = load("examples/advanced/main.wasm", config='{"reverse": true}', nodes=[node("glad8")])
    assert run_all(forward, HAPPY, "glad8")["score"]["score"] == 10
    assert run_all(reverse, HAPPY, "glad8")["score"]["score"] == 0
