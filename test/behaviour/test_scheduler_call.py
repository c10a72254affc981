# SPDX-License-Identifier: Apache-2.0
"""`dormouse scheduler call`: the plugin ABI, with guests in WebAssembly text made here."""
import gzip
import http.server
import itertools
import json
import random
import shutil
import subprocess
import threading
import time

import pytest

from conftest import BUILD
from plugin_kit import INT_MAX, INT_MIN, NODE_SMALL, POD_SMALL, UID, Plugin, node, pod, run_all, trapped

WAT2WASM = shutil.which("wat2wasm")
pytestmark = pytest.mark.skipif(not WAT2WASM, reason="no wat2wasm (package wabt)")

RESULT = {"enqueue": "", "unreserve": "", "postbind": "", "postfilter": "i64", "score": "i64", "permit": "i64"}
HOOKS = ["enqueue", "prefilter", "addpod", "removepod", "filter", "postfilter", "prescore", "score",
         "normalizescore", "reserve", "unreserve", "permit", "prebind", "bind", "postbind"]
IMPORTS = {
    "node": ("k8s.io/api", "node", "i32 i32 i32 i32", "i32"),
    "nodeList": ("k8s.io/api", "nodeList", "i32 i32", "i32"),
    "get_config": ("k8s.io/scheduler", "get_config", "i32 i32", "i32"),
    "pod": ("k8s.io/scheduler", "currentPod", "i32 i32", "i32"),
    "target": ("k8s.io/scheduler", "targetPod", "i32 i32", "i32"),
    "nodeName": ("k8s.io/scheduler", "currentNodeName", "i32 i32", "i32"),
    "filtered": ("k8s.io/scheduler", "filteredNodeList", "i32 i32", "i32"),
    "images": ("k8s.io/scheduler", "nodeImageStates", "i32 i32 i32 i32", "i32"),
    "statuses": ("k8s.io/scheduler", "nodeToStatusMap", "i32 i32", "i32"),
    "scores": ("k8s.io/scheduler", "nodeScoreList", "i32 i32", "i32"),
    "reason": ("k8s.io/scheduler", "result.status_reason", "i32 i32", ""),
    "names": ("k8s.io/scheduler", "result.node_names", "i32 i32", ""),
    "nominate": ("k8s.io/scheduler", "result.nominated_node_name", "i32 i32", ""),
    "normalized": ("k8s.io/scheduler", "result.normalized_score_list", "i32 i32", ""),
    "events": ("k8s.io/scheduler", "result.cluster_events", "i32 i32", ""),
    "eventf": ("k8s.io/scheduler", "handle.eventrecorder.eventf", "i32 i32", ""),
    "reject": ("k8s.io/scheduler", "handle.reject_waiting_pod", "i32 i32 i32 i32", ""),
    "waiting": ("k8s.io/scheduler", "handle.get_waiting_pod", "i32 i32 i32 i32", ""),
    "nodePods": ("dormouse_scheduler", "nodePods", "i32 i32 i32 i32", "i32"),
    "nodeField": ("dormouse_scheduler", "nodeField", "i32 i32 i32 i32 i32 i32 i32 i32", "i32"),
    "podField": ("dormouse_scheduler", "podField", "i32 i32 i32 i32 i32 i32", "i32"),
    "nodeChanges": ("dormouse_scheduler", "nodeChanges", "i64 i32 i32", "i32"),
    "event": ("dormouse_scheduler", "event", "i32 i32", "i32"),
    "eventOld": ("dormouse_scheduler", "eventOld", "i32 i32", "i32"),
    "eventNew": ("dormouse_scheduler", "eventNew", "i32 i32", "i32"),
    "severity": ("k8s.io/klog", "severity", "", "i32"),
    "log": ("k8s.io/klog", "log", "i32 i32 i32", ""),
    "logs": ("k8s.io/klog", "logs", "i32 i32 i32 i32 i32", ""),
    "fd_write": ("wasi_snapshot_preview1", "fd_write", "i32 i32 i32 i32", "i32"),
    "exit": ("wasi_snapshot_preview1", "proc_exit", "i32", ""),
    "args_sizes": ("wasi_snapshot_preview1", "args_sizes_get", "i32 i32", "i32"),
    "args": ("wasi_snapshot_preview1", "args_get", "i32 i32", "i32"),
}


def text(s):
    """Bytes as a string of WebAssembly text."""
    return '"' + "".join(f"\\{b:02x}" for b in (s.encode() if isinstance(s, str) else s)) + '"'


def module(*imports, name="guest", memory='(memory (export "memory") 1)', more="", **hooks):
    """A module that imports what is named and exports the hooks: body or (signature, body)."""
    lines = [f"(module ${name}"]
    for i in imports:
        where, what, params, result = IMPORTS[i] if isinstance(i, str) else i[1:]
        label = i if isinstance(i, str) else i[0]
        lines.append(f'(import "{where}" "{what}" (func ${label} (param {params})'
                     + (f" (result {result})" if result else "") + "))")
    lines += [memory, more]
    for hook, body in hooks.items():
        result = RESULT.get(hook, "" if hook.startswith("_") else "i32")
        if isinstance(body, tuple):
            result, body = body
        lines.append(f'(func (export "{hook}")' + (f" (result {result})" if result else "") + f" {body})")
    return "\n".join(lines) + ")"


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    return tmp_path_factory.mktemp("plugins")


def build(scratch, source):
    file = scratch / f"{abs(hash(source)):x}.wasm"
    if not file.exists():
        subprocess.run([WAT2WASM, "--debug-names", "-", "-o", file], input=source, text=True, check=True)
    return file


@pytest.fixture
def load(scratch):
    made = []

    def make(source, *options, **first):
        what = build(scratch, source) if source.startswith("(") else source
        made.append(Plugin(scratch / "data", what, *options, **first))
        return made[-1]

    yield make
    for p in made:
        p.__exit__(None)


# Prints "panic!" and traps; the count that fd_write stores lies over the list of what to write.
PANIC = "(drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 0))) unreachable"
PANIC_DATA = '(data (i32.const 0) "\\08\\00\\00\\00\\06\\00\\00\\00panic!")'


def panicking(hook, **more):
    return module("fd_write", name=f"panic_on_{hook}", more=PANIC_DATA, **{hook: PANIC}, **more)


def nothing(*hooks):
    ok = {"": "", "i32": "i32.const 0", "i64": "i64.const 0"}
    return {h: ok[RESULT.get(h, "i32")] for h in hooks}


# ---- loading ----

NO_POINT = "wasm: filter, score, reserve, permit or bind must be exported"


@pytest.mark.parametrize("source, error", [
    (module(), "wasm: guest does not export any plugin functions"),
    (module(memory="(memory 1)", **nothing("filter")), "wasm: guest doesn't export memory[memory]"),
    (module(**nothing("prescore")), NO_POINT),
    (module(**nothing("normalizescore", "enqueue")), NO_POINT),
    (module(postfilter=("i32", "i32.const 0"), **nothing("filter")),
     "wasm: guest exports the wrong signature for func[postfilter]. should be () -> (i64)"),
    (module(addpod=("i64", "i64.const 0"), **nothing("filter")),
     "wasm: guest exports the wrong signature for func[addpod]. should be () -> ()"),
    (module(enqueue=("i32", "i32.const 0"), **nothing("filter")),
     "wasm: guest exports the wrong signature for func[enqueue]. should be () -> ()"),
    (module(more='(global (export "filter") i32 (i32.const 0))'),
     "wasm: guest does not export any plugin functions"),
])
def test_modules_that_are_no_plugins(load, source, error):
    assert load(source).loaded == {"error": error}


@pytest.mark.parametrize("import_, error", [
    (("x", "env", "f", "", ""), "module[env] not instantiated"),
    (("x", "k8s.io/klog", "trace", "", ""), '"trace" is not exported in module "k8s.io/klog"'),
    (("x", "k8s.io/scheduler", "get_config", "i32 i64", "i32"),
     "import func[k8s.io/scheduler.get_config]: signature mismatch: i32i64_i32 != i32i32_i32"),
    (("x", "k8s.io/klog", "severity", "", ""),
     "import func[k8s.io/klog.severity]: signature mismatch: v_v != v_i32"),
])
def test_imports_that_there_are_not(load, import_, error):
    assert load(module(import_, **nothing("filter"))).loaded == {
        "error": "failed to create a guest pool: wasm: instantiate error: " + error}


def test_a_start_that_traps(load):
    source = module("fd_write", name="p", more=PANIC_DATA, _start=PANIC, **nothing("filter"))
    assert load(source).loaded == {
        "error": "failed to create a guest pool: wasm: instantiate error: panic!\n"
                 "module[1] function[_start] failed: wasm error: unreachable\nwasm stack trace:\n\tp.$1()"}
    # and it is told before what is wrong with its hooks
    source = module(name="p", _start="unreachable", **nothing("prescore"))
    assert "function[_start] failed" in load(source).loaded["error"]


def test_exits_at_start(load):
    exits = module("exit", _start="(call $exit (i32.const 0)) unreachable", filter="i32.const 7")
    plugin = load(exits)
    assert plugin.loaded == {"points": ["filter"]}
    assert plugin("filter", pod=POD_SMALL)["code"] == 7
    assert load(exits.replace("$exit (i32.const 0)", "$exit (i32.const 3)")).loaded == {
        "error": "failed to create a guest pool: wasm: instantiate error: module closed with exit_code(3)"}


def test_an_exit_in_a_hook_ends_the_instance(load):
    plugin = load(module("exit", filter="(call $exit (i32.const 3)) unreachable", **nothing("score")))
    for _ in range(2):
        got = plugin("filter", pod=POD_SMALL)
        assert (got["code"], got["message"]) == (1, "wasm: filter error: module closed with exit_code(3)")
    assert plugin("score", pod=POD_SMALL)["code"] == 0


def test_reactors_and_start_sections(load):
    counter = '(global $n (mut i32) (i32.const 0)) (func $add (global.set $n (i32.add (global.get $n) (i32.const 1))))'
    assert load(module(more=counter, _initialize="(call $add)", filter="global.get $n"))(
        "filter", pod=POD_SMALL)["code"] == 1
    both = module(more=counter + "(start $add)", _start="(call $add)", _initialize="unreachable", filter="global.get $n")
    assert load(both)("filter", pod=POD_SMALL)["code"] == 2


CORE = {"filter": ["filter"], "score": ["score"], "reserve": ["reserve", "unreserve"], "permit": ["permit"],
        "bind": ["bind"]}


def test_every_set_of_extension_points(load):
    for n in range(1, 6):
        for names in itertools.combinations(sorted(CORE), n):
            plugin = load(module(**nothing("prefilter", *(h for name in names for h in CORE[name]))))
            assert plugin.loaded == {"points": list(names)}
            plugin.process.stdin.close()
    for alone in (["prefilter"], ["prefilter", "enqueue"]):
        assert load(module(**nothing(*alone))).loaded == {"points": []}


@pytest.mark.parametrize("half", ["reserve", "unreserve", "addpod", "removepod"])
def test_half_of_a_pair(load, half):
    plugin = load(module(**nothing(half, "filter")))
    for hook in ("reserve", "unreserve", "addpod", "removepod"):
        assert plugin(hook, pod=POD_SMALL, target=POD_SMALL, node="n").get("code", 0) == 0


def test_hooks_that_the_guest_lacks(load):
    plugin = load(module(**nothing("filter", "score", "reserve", "permit", "bind")))
    for hook, got in run_all(plugin, POD_SMALL, "n").items():
        assert got.get("code", 0) == (2 if hook == "postfilter" else 0), hook
    got = plugin("postfilter", pod=POD_SMALL)
    assert (got["nominated"], got["mode"]) == ("", 0)
    got = plugin("normalizescore", pod=POD_SMALL, scores=[["b", 2], ["a", 1]])
    assert got["scores"] == [["b", 2], ["a", 1]]


# ---- where modules come from ----

@pytest.mark.parametrize("url, cause", [
    ("c:\\foo.wasm", "unsupported URL scheme: c"), ("ldap://foo/bar.wasm", "unsupported URL scheme: ldap"),
    ("file:x", "invalid URL: file:x"), ("http", "invalid URL: http"),
    ("file://testduta", "open testduta: no such file or directory"), ("file://.", "read .: is a directory"),
    ("http:// ", 'parse "http:// ": invalid character " " in host name'),
    ("https:// ", 'parse "https:// ": invalid character " " in host name'),
])
def test_urls_that_lead_nowhere(load, url, cause):
    assert load(url).loaded == {"error": f"wasm: error reading guestURL {url}: {cause}"}


def test_no_url(load):
    assert load("").loaded == {"error": "wasm: guestURL is required"}


def test_what_is_no_wasm(load, scratch):
    (scratch / "no.wasm").write_text("no")
    assert load(str(scratch / "no.wasm")).loaded["error"].startswith("wasm: error compiling guest: ")


@pytest.fixture
def web(scratch):
    wasm = build(scratch, module(**nothing("filter"))).read_bytes()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            if self.path.startswith("/to/"):
                self.send_response(302)
                self.send_header("Location", self.path[3:])
            elif self.path == "/loop":
                self.send_response(302)
                self.send_header("Location", "/loop")
            else:
                self.send_response(500 if self.path == "/500" else 200)
            packed = self.path == "/gzip"
            body = gzip.compress(wasm) if packed else wasm
            if packed:
                self.send_header("Content-Encoding", "gzip")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_http(load, web, scratch):
    for path in ("/plain", "/gzip", "/to/plain", "/to/to/gzip"):
        assert load(web + path).loaded == {"points": ["filter"]}, path
    assert load(web + "/500").loaded == {
        "error": f'wasm: error reading guestURL {web}/500: received 500 status code from "{web}/500"'}
    assert "stopped after 10 redirects" in load(web + "/loop").loaded["error"]
    assert load("file://" + str(build(scratch, module(**nothing("filter"))))).loaded == {"points": ["filter"]}
    assert "error reading guestURL http://127.0.0.1:1/x" in load("http://127.0.0.1:1/x").loaded["error"]


# ---- results ----

@pytest.mark.parametrize("value", [INT_MIN, -1, 7, INT_MAX])
def test_numbers_pass_through(load, value):
    code = '(global $code (export "code") (mut i32) (i32.const 0))'
    high = '(global $high (export "high") (mut i32) (i32.const 0))'
    packed = ("(i64.or (i64.shl (i64.extend_i32_u (global.get $high)) (i64.const 32))"
              " (i64.extend_i32_u (global.get $code)))")
    ints = {h: "global.get $code" for h in HOOKS if RESULT.get(h, "i32") == "i32"}
    plugin = load(module(more=code + high, score=packed, postfilter=packed, permit=packed, **ints))
    for hook in ints:
        assert plugin(hook, pod=POD_SMALL, globals={"code": value})["code"] == value
    for hook, key in (("score", "score"), ("postfilter", "mode")):
        got = plugin(hook, pod=POD_SMALL, globals={"code": 0, "high": value})
        assert (got["code"], got[key]) == (0, value)
        got = plugin(hook, pod=POD_SMALL, globals={"code": value, "high": 0})
        assert (got["code"], got[key]) == (value, 0)
    got = plugin("permit", pod=POD_SMALL, globals={"high": value, "code": 0})
    assert (got["code"], got["timeoutMs"]) == (value, 0)
    got = plugin("permit", pod=POD_SMALL, globals={"high": 4, "code": value})
    assert (got["code"], got["timeoutMs"]) == (4, value % 2**32)


@pytest.mark.parametrize("hook", [h for h in HOOKS if h not in ("enqueue", "unreserve", "postbind")])
def test_traps(load, hook):
    result = RESULT.get(hook, "i32")
    with_point = {} if hook in CORE else nothing("filter", "score", "bind")
    plugin = load(panicking(hook, **with_point))
    for _ in range(2):  # the second time in a fresh instance
        got = plugin(hook, pod=POD_SMALL, node="n", scores=[["n", 3]])
        assert got["code"] == 1
        assert got["message"] == trapped(hook, f"panic_on_{hook}.$1() {result}")
        assert got.get("nodeNames") is None and got.get("score", 0) == 0 and got.get("timeoutMs", 0) == 0
    if hook == "normalizescore":
        assert got["scores"] == [["n", 3]]


@pytest.mark.parametrize("body, kind", [
    ("unreachable", "unreachable"), ("(i32.load (i32.const -1))", "out of bounds memory access"),
    ("(i32.div_u (i32.const 1) (i32.const 0))", "integer divide by zero"),
    ("(i32.div_s (i32.const 0x80000000) (i32.const -1))", "integer overflow"),
    ("(i32.trunc_f32_s (f32.const nan))", "invalid conversion to integer"),
    ("(call_indirect (type $t) (i32.const 9))", "invalid table access"),
    ("(call_indirect (type $t) (i32.const 0))", "invalid table access"),
    ("(call_indirect (type $t) (i32.const 1))", "indirect call type mismatch"),
])
def test_kinds_of_traps(load, body, kind):
    more = "(type $t (func (result i32))) (table 2 funcref) (elem (i32.const 1) $other) (func $other)"
    got = load(module(name="g", more=more, filter=body))("filter", pod=POD_SMALL)
    assert got["message"] == trapped("filter", "g.$1() i32", "", kind)


def test_a_stack_that_overflows_has_no_trace(load):
    got = load(module(more="(func $f (param i64) (result i32) (call $f (local.get 0)) (drop) (call $f (local.get 0)))",
                      filter="(call $f (i64.const 1))"))("filter", pod=POD_SMALL)
    assert got["message"] == "wasm: filter error: wasm error: stack overflow"


def test_a_deep_trace_is_cut(load):
    more = ("(func $f (param $n i32) (result i32) (if (i32.eqz (local.get $n)) (then unreachable))"
            " (i32.add (call $f (i32.sub (local.get $n) (i32.const 1))) (i32.const 1)))")
    got = load(module(name="g", more=more, filter="(call $f (i32.const 50))"))("filter", pod=POD_SMALL)
    assert got["message"].count("\tg.f(i32) i32") == 30
    assert got["message"].endswith("\n\t... maybe followed by omitted frames")


def test_reasons(load):
    plugin = load(module("reason", more='(data (i32.const 8) "why")', filter="(call $reason (i32.const 8) (i32.const 3))"
                         " (i32.const 2)", score="(call $reason (i32.const 65535) (i32.const 2)) (i64.const 1)"))
    got = plugin("filter", pod=POD_SMALL)
    assert (got["code"], got["message"]) == (2, "why")
    got = plugin("score", pod=POD_SMALL)
    assert (got["code"], got["message"]) == (1, "BUG: out of memory reading message")


@pytest.mark.parametrize("pushed, names", [
    (b"", None), (b"a\0", ["a"]), (b"a\0\0two\0", ["a", "two"]), (b"a\0two", ["a"]), (b"\0\0", None),
    ("é\0世\0".encode(), ["é", "世"]),
])
def test_node_names(load, pushed, names):
    source = module("names", more=f"(data (i32.const 8) {text(pushed)})",
                    prefilter=f"(call $names (i32.const 8) (i32.const {len(pushed)})) (i32.const 0)")
    assert load(source)("prefilter", pod=POD_SMALL)["nodeNames"] == names


def record(resource, actions):
    return resource.to_bytes(4, "little") + actions.to_bytes(4, "little")


DEFAULT = [[name, 8191] for name in ("Pod", "Node", "storage.k8s.io/CSINode", "PersistentVolume",
                                     "PersistentVolumeClaim", "storage.k8s.io/StorageClass")]


@pytest.mark.parametrize("pushed, events", [
    (b"", DEFAULT), (bytes(7), DEFAULT), (record(1, 1) + b"x", [["Node", 1]]), (record(1, 8 | 32), [["Node", 40]]),
    (record(1, 1) + record(2, 2), [["Node", 1], ["PersistentVolume", 2]]), (record(1, 1) + bytes(6), [["Node", 1]]),
    (record(10, 63), [["*", 8191]]), (record(0, 60), [["Pod", 8188]]), (record(99, 1), [["EventResource(99)", 1]]),
])
def test_cluster_events(load, pushed, events):
    source = module("events", more=f"(data (i32.const 8) {text(pushed)})",
                    enqueue=f"(call $events (i32.const 8) (i32.const {len(pushed)}))", **nothing("filter"))
    assert load(source)("enqueue") == {"events": events, "log": ""}


def test_enqueue_without_one_or_with_one_that_traps(load):
    assert load(module(**nothing("filter")))("enqueue")["events"] == DEFAULT
    got = load(panicking("enqueue", **nothing("filter")))("enqueue")
    assert got["events"] == DEFAULT and '"failed enqueue" err=<' in got["log"]


@pytest.mark.parametrize("hook", ["unreserve", "postbind"])
def test_traps_that_can_only_be_logged(load, hook):
    got = load(panicking(hook, **nothing("bind", "reserve")))(hook, pod=POD_SMALL, node="n")
    assert got == {"log": f'"failed {hook}" err=<\n\twasm: {hook} error: panic!\n\twasm error: unreachable\n'
                          f"\twasm stack trace:\n\t\tpanic_on_{hook}.$1()\n >\n"}


@pytest.mark.parametrize("pushed, scores, message", [
    ('{"a":10,"b":20}', [["b", 20], ["a", 10]], ""), ("null", [["b", 1], ["a", 2]], ""), ("{}", [["b", 1], ["a", 2]], ""),
    ("", [["b", 1], ["a", 2]], ""), ('{"a":10}', None, "lacks b"), ('{"a":1,"b":2,"c":3}', None, "other nodes"),
    ('{"a":1.5,"b":2}', None, "cannot unmarshal number 1.5 into Go value of type int (recovered by wazero)\n"
     "wasm stack trace:\n\tk8s.io/scheduler.result.normalized_score_list(i32,i32)\n\tguest.$2() i32"),
    ("[]", None, "cannot unmarshal array"), ("{", None, ""),
])
def test_normalized_scores(load, pushed, scores, message):
    plugin = load(module("normalized", more=f"(data (i32.const 8) {text(pushed)})", score="i64.const 0",
                         normalizescore=f"(call $normalized (i32.const 8) (i32.const {len(pushed)})) (i32.const 0)"))
    got = plugin("normalizescore", pod=POD_SMALL, scores=[["b", 1], ["a", 2]])
    assert (got["code"], got["scores"]) == ((0, scores) if scores else (1, [["b", 1], ["a", 2]]))
    assert message in got["message"]


# ---- what guests see ----

def echo(value, *more_imports, hook="filter", limit=65000, at=1000, args="", **hooks):
    """A hook that gives back a value as its reason, and its length as the code."""
    give = (f"(local $n i32) (local.set $n (call ${value} {args} (i32.const {at}) (i32.const {limit})))"
            f" (if (i32.le_u (local.get $n) (i32.const {limit})) (then (call $reason (i32.const {at}) (local.get $n))))"
            " (local.get $n)")
    if RESULT.get(hook) == "i64":
        give = give[:-len("(local.get $n)")] + "(i64.extend_i32_u (local.get $n))"
    return module(value, "reason", *more_imports, **{hook: give}, **hooks)


NODE_A = '(data (i32.const 8) "n1")'


def test_values(load):
    def got(source, hook="filter", **members):
        answer = load(source, config="hello", nodes=[NODE_SMALL, node("n1")])(hook, **{"pod": POD_SMALL, **members})
        return answer["code"], answer["message"]

    assert got(echo("get_config")) == (5, "hello")
    assert got(echo("nodeName"), node="n1") == (2, "n1")
    assert got(echo("nodeName")) == (0, "")
    assert got(echo("pod"))[0] == 126
    assert got(echo("target"))[0] == 0
    assert got(echo("target", hook="addpod", **nothing("filter")), "addpod", target=pod(node=None))[0] == 126 - 9
    assert got(echo("filtered", hook="prescore", **nothing("score")), "prescore",
               nodes=["a", "b<"]) == (15, '["a","b\\u003c"]')
    assert got(echo("filtered")) == (2, "[]")
    assert got(echo("statuses", hook="postfilter", **nothing("filter")), "postfilter",
               statuses={"b": 2, "a": -1}) == (14, '{"a":-1,"b":2}')
    assert got(echo("statuses")) == (2, "{}")
    assert got(echo("nodeList"))[0] == 8 + 2 + 69 + 2 + 62
    assert got(echo("node", args="(i32.const 0) (i32.const 0)"))[0] == 0
    assert got(echo("node", args="(i32.const 8) (i32.const 2)", more=NODE_A))[0] == 62
    assert got(echo("images", args="(i32.const 8) (i32.const 2)", more=NODE_A)) == (2, "{}")
    assert got(echo("images", args="(i32.const 0) (i32.const 0)")) == (4, "null")


def test_scores_that_guests_see(load):
    got = load(echo("scores", hook="normalizescore", **nothing("score")))(
        "normalizescore", pod=POD_SMALL, scores=[["b", 2], ["a", 2**40]])
    assert got["message"] == '{"a":1099511627776,"b":2}'


def test_an_empty_snapshot(load):
    assert load(echo("nodeList"))("filter", pod=POD_SMALL)["code"] == 8


def test_image_states(load):
    def with_images(name, *images):
        return {"metadata": {"name": name}, "status": {"images": [{"names": [i], "sizeBytes": s} for i, s in images]}}

    plugin = load(echo("images", args="(i32.const 8) (i32.const 2)", more=NODE_A),
                  nodes=[with_images("n1", ("z:1", 5), ("a:1", 7)), with_images("n2", ("z:1", 6))])
    assert json.loads(plugin("filter", pod=POD_SMALL)["message"]) == {
        "a:1": {"Size": 7, "NumNodes": 1, "Nodes": None}, "z:1": {"Size": 5, "NumNodes": 2, "Nodes": None}}
    assert plugin("filter", pod=POD_SMALL)["message"].startswith('{"a:1":{"Size":7,"NumNodes":1,"Nodes":null},"z:1"')


@pytest.mark.parametrize("length", [0, 2048, 2049, 70000])
def test_buffers_that_are_too_small(load, length):
    """Nothing is written then, and the length is told."""
    source = module("get_config", "reason", memory='(memory (export "memory") 3)',
                    filter="(drop (call $get_config (i32.const 1000) (i32.const 2048)))"
                           " (if (i32.gt_u (call $get_config (i32.const 1000) (i32.const 2048)) (i32.const 2048))"
                           " (then (if (i32.load (i32.const 1000)) (then unreachable))))"
                           " (drop (call $get_config (i32.const 1000) (i32.const 100000)))"
                           f" (call $reason (i32.const 1000) (i32.const {length}))"
                           " (call $get_config (i32.const 1000) (i32.const 0))")
    got = load(source, config="x" * length)("filter", pod=POD_SMALL)
    assert (got["code"], got["message"]) == (length, "x" * length)


A_REGION = "(i32.const 65535) (i32.const 2)"


@pytest.mark.parametrize("import_, args, message", [
    ("node", f"{A_REGION} (i32.const 0) (i32.const 0)", "out of memory reading nodeName"),
    ("node", "(i32.const 8) (i32.const 2) (i32.const 65535) (i32.const 65535)", "out of memory"),
    ("images", f"{A_REGION} (i32.const 0) (i32.const 0)", "out of memory reading nodeName"),
    ("nodeList", "(i32.const 65535) (i32.const 65535)", "out of memory"),
    ("get_config", "(i32.const 65535) (i32.const -1)", "out of memory"),
    ("pod", "(i32.const -1) (i32.const -1)", "out of memory"),
    ("names", A_REGION, "out of memory reading nodeNames"),
    ("nominate", A_REGION, "out of memory reading nominatedNodeName"),
    ("normalized", A_REGION, "out of memory reading normalized score list"),
    ("events", A_REGION, "out of memory reading clusterEvents"),
    ("eventf", A_REGION, "out of memory reading eventrecorder event"),
    ("reject", f"{A_REGION} (i32.const 0) (i32.const 0)", "out of memory reading rejectWaitingPod"),
    ("waiting", f"{A_REGION} (i32.const 0) (i32.const 0)", "out of memory reading getWaitingPod"),
    ("eventf", "(i32.const 8) (i32.const 2)", ""),
])
def test_ranges_outside_of_memory(load, import_, args, message):
    result = IMPORTS[import_][3]
    call = f"(call ${import_} {args})"
    source = module(import_, name="g", more=NODE_A, filter=f"(drop {call}) (i32.const 0)" if result else
                    f"{call} (i32.const 0)")
    got = load(source, config="hello", nodes=[node("n1")])("filter", pod=POD_SMALL)
    where, what, params, _ = IMPORTS[import_]
    frame = f"{where}.{what}({params.replace(' ', ',')})" + (f" {result}" if result else "")
    assert got["code"] == 1
    assert got["message"].startswith("wasm: filter error: " + message)
    assert got["message"].endswith(f" (recovered by wazero)\nwasm stack trace:\n\t{frame}\n\tg.$1() i32")


def test_ranges_outside_of_memory_that_do_no_harm(load):
    source = module("log", "logs", "reject", "waiting", filter=
                    f"(call $log (i32.const 0) {A_REGION})(call $logs (i32.const 0) {A_REGION} {A_REGION})"
                    "(call $reject (i32.const 0) (i32.const 0) (i32.const 65530) (i32.const 8))"
                    "(call $waiting (i32.const 0) (i32.const 0) (i32.const 65530) (i32.const 8))"
                    "(call $reject (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0))"
                    "(call $waiting (i32.const 65536) (i32.const 0) (i32.const 0) (i32.const 0)) (i32.const 0)")
    got = load(source)("filter", pod=POD_SMALL)
    assert (got["code"], got["log"]) == (0, "")


def test_hook_functions_during_start(load):
    for name in ("pod", "nodeName", "filtered", "reason"):
        call = f"(call ${name} (i32.const 0) (i32.const 0))"
        source = module(name, _start=f"(drop {call})" if IMPORTS[name][3] else call, **nothing("filter"))
        assert "is of use during a hook only" in load(source).loaded["error"]


def test_waiting_pods(load):
    source = module("reject", "waiting", more=f"(data (i32.const 8) {text(UID)})", filter=
                    f"(call $reject (i32.const 8) (i32.const {len(UID)}) (i32.const 100) (i32.const 8))"
                    " (i32.load (i32.const 100))",
                    score=f"(call $waiting (i32.const 8) (i32.const {len(UID)}) (i32.const 100) (i32.const 200))"
                    " (i64.load32_u (i32.const 100))", **nothing("prefilter"))
    found = load(source, waiting=[POD_SMALL])
    got = found("filter", pod=POD_SMALL)
    assert (got["code"], got["rejectedUid"]) == (1, UID)
    assert found("score", pod=pod(uid="2"))["code"] == int.from_bytes(b"\x0a\x40\x0a\x08", "little")
    missing = load(source)
    assert missing("filter", pod=POD_SMALL)["code"] == 0
    assert missing("score", pod=pod(uid="2"))["code"] == 0


def test_events(load):
    event = {"RegardingReference": {"Name": "good-pod"}, "RelatedReference": None, "Eventtype": "event",
             "Reason": "reason", "Action": "action", "Note": "100%"}
    for given, want in ((event, "good-pod event reason action 100%"),
                        ({**event, "RegardingReference": {}}, "event reason action 100%")):
        data = json.dumps(given)
        source = module("eventf", more=f"(data (i32.const 8) {text(data)})",
                        filter=f"(call $eventf (i32.const 8) (i32.const {len(data)})) (i32.const 0)")
        assert load(source)("filter", pod=POD_SMALL)["event"] == want


# ---- logs ----

@pytest.mark.parametrize("severity, threshold, is_logged", [
    (0, 0, True), (0, 1, False), (1, 0, False), (2, 0, True), (2, 2, True), (2, 3, False), (3, 0, False), (0, 2, False),
])
def test_log_severity(load, severity, threshold, is_logged):
    source = module("log", "severity", more='(data (i32.const 8) "hello")',
                    filter=f"(call $log (i32.const {severity}) (i32.const 8) (i32.const 5)) (call $severity)")
    got = load(source, logSeverity=threshold)("filter", pod=POD_SMALL)
    assert (got["code"], got["log"]) == (threshold, "hello\n" if is_logged else "")


@pytest.mark.parametrize("message, pairs, line", [
    ("hello", b"", "hello\n"), ("hello\n", b"", "hello\n"), ("hello", b"err\0unhandled\0", '"hello" err="unhandled"\n'),
    ("a", b"k\0\0l\0v\0", '"a" k="" l="v"\n'), ("a", b"k\0", '"a" k="(MISSING)"\n'),
    ('q"\t', b"k\0a\\b\0", '"q\\"\\t" k="a\\\\b"\n'), ("a", b"k\0one\ntwo\0", '"a" k=<\n\tone\n\ttwo\n >\n'),
])
def test_structured_logs(load, message, pairs, line):
    source = module("logs", more=f"(data (i32.const 8) {text(message)}) (data (i32.const 200) {text(pairs)})",
                    filter=f"(call $logs (i32.const 0) (i32.const 8) (i32.const {len(message)}) (i32.const 200)"
                           f" (i32.const {len(pairs)})) (i32.const 0)")
    assert load(source)("filter", pod=POD_SMALL)["log"] == line


def test_output_of_calls_that_succeed_is_dropped(load):
    source = module("fd_write", more=PANIC_DATA, **{
        "filter": "(call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 40))",
        "score": "unreachable"})
    plugin = load(source)
    assert plugin("filter", pod=POD_SMALL) == {"code": 0, "message": "", "log": ""}
    assert "panic!" not in plugin("score", pod=POD_SMALL)["message"]


def test_arguments(load):
    source = module("args_sizes", "args", "reason", filter=
                    "(drop (call $args_sizes (i32.const 0) (i32.const 4))) (drop (call $args (i32.const 8) (i32.const 100)))"
                    "(call $reason (i32.const 100) (i32.load (i32.const 4))) (i32.load (i32.const 0))")
    got = load(source, args=["test", "filter"])("filter", pod=POD_SMALL)
    assert (got["code"], got["message"]) == (2, "test\0filter\0")
    assert load(source)("filter", pod=POD_SMALL)["code"] == 0


# ---- instances and limits ----

COUNTER = '(global $n (mut i32) (i32.const 0))'
COUNT = "(global.set $n (i32.add (global.get $n) (i32.const 1))) (global.get $n)"


def test_a_pod_keeps_its_instance(load):
    plugin = load(module(more=COUNTER, prefilter="(global.set $n (i32.const 0)) (i32.const 0)", filter=COUNT,
                         bind=COUNT, **nothing("postbind")))
    a, b = pod(uid="a"), pod(uid="b")
    assert [plugin(h, pod=p)["code"] for h, p in (("prefilter", a), ("filter", a), ("prefilter", b), ("filter", b),
                                                  ("filter", b), ("bind", a), ("bind", b))] == [0, 1, 0, 1, 2, 2, 3]
    plugin("postbind", pod=a)
    c = pod(uid="c")
    assert [plugin(h, pod=c)["code"] for h in ("prefilter", "filter")] == [0, 1]


def test_a_fresh_instance_sees_prefilter_first(load):
    plugin = load(module(more=COUNTER, prefilter="(global.set $n (i32.const 5)) (i32.const 0)", filter=COUNT,
                         score="unreachable"))
    assert [plugin(h, pod=POD_SMALL)["code"] for h in ("prefilter", "filter", "score", "filter", "filter")] == [
        0, 6, 1, 6, 7]


def test_instances_are_bounded(load):
    plugin = load(module(memory='(memory (export "memory") 16)',
                         permit="(memory.fill (i32.const 0) (i32.const 1) (i32.const 1000000)) (i64.const 0)"))
    for i in range(300):
        assert plugin("permit", pod=pod(uid=f"u{i}"))["code"] == 0
    assert plugin.memory_kib() < 120 << 10


def test_plugins_have_their_own_configuration(load):
    one, two = (load(echo("get_config"), config=c) for c in ("one", "two!"))
    assert [p("filter", pod=POD_SMALL)["message"] for p in (one, two)] == ["one", "two!"]


def test_a_loop_ends(load):
    plugin = load(module(filter="(loop $l (br $l)) unreachable", **nothing("score")))
    begin = time.monotonic()
    got = plugin("filter", pod=POD_SMALL)
    assert time.monotonic() - begin < 20
    assert got["code"] == 1 and got["message"].startswith("wasm: filter error: the call took longer than 5000 ms")
    assert plugin("score", pod=POD_SMALL)["code"] == 0


def test_memory_is_bounded(load):
    source = module(filter="(local $n i32) (loop $l (local.set $n (memory.grow (i32.const 16)))"
                           " (br_if $l (i32.ne (local.get $n) (i32.const -1)))) (memory.size)")
    assert load(source)("filter", pod=POD_SMALL)["code"] <= 1024


def test_output_is_bounded(load):
    source = module("fd_write", more=PANIC_DATA, filter=
                    "(local $i i32) (i32.store (i32.const 4) (i32.const 60000)) (loop $l"
                    " (drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 65000)))"
                    " (br_if $l (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 20000))))"
                    " unreachable")
    got = load(source)("filter", pod=POD_SMALL)
    assert got["code"] == 1 and 60000 < len(got["message"]) < 70000


def test_two_generations(load):
    node_2 = ("node", "k8s.io/api", "node", "i32 i32", "i32")
    old_pod = ("pod", "k8s.io/api", "pod", "i32 i32", "i32")
    list_ = "nodeList"
    source = module(node_2, old_pod, list_, filter="(call $node (i32.const 0) (i32.const 0))",
                    score="(i64.extend_i32_u (call $pod (i32.const 0) (i32.const 0)))",
                    prescore="(call $nodeList (i32.const 0) (i32.const 0))")
    plugin = load(source, nodes=[NODE_SMALL, node("n1")])
    assert plugin("filter", pod=POD_SMALL, node="good-node")["code"] == 69
    assert plugin("score", pod=POD_SMALL, node="good-node")["code"] == 126
    assert plugin("prescore", pod=POD_SMALL, nodes=["n1"])["code"] == 8 + 2 + 62


# ---- what upstream lacks ----

def test_pods_on_a_node(load):
    plugin = load(echo("nodePods", args="(i32.const 8) (i32.const 2)", more=NODE_A), nodes=[node("n1"), node("n2")],
                  pods=[pod(uid="1", node="n1"), pod(uid="2", node="n2"), pod(uid="3", node="n1"), pod(uid="4", node="no")])
    two = plugin("filter", pod=POD_SMALL)["code"]
    assert two == 8 + 2 * (2 + 126 - len("good-node") - len(UID) + 3)
    assert load(echo("nodePods", args="(i32.const 0) (i32.const 0)"))("filter", pod=POD_SMALL)["code"] == 0


@pytest.mark.parametrize("path, key, length", [
    (b"\x02\x04", b"", 8),  # spec.unschedulable
    (b"\x01\x01", b"", 2),  # metadata.name
    (b"\x01\x0b", b"disk", 3),  # metadata.labels["disk"]
    (b"\x01\x0b", b"none", -1), (b"\x01\x63", b"", -1), (b"\x01\x01\x01", b"", -1), (b"", b"", -1)])
def test_a_field_of_an_object(load, path, key, length):
    data = f'(data (i32.const 100) {text(path)}) (data (i32.const 200) {text(key)})'
    args = f"(i32.const 100) (i32.const {len(path)}) (i32.const 200) (i32.const {len(key)}) (i32.const 0) (i32.const 0)"
    shown = node("n1") | {"spec": {"unschedulable": True}}
    shown["metadata"]["labels"] = {"a": "b", "disk": "ssd"}
    plugin = load(module("nodeField", more=NODE_A + data,
                         filter=f"(call $nodeField (i32.const 8) (i32.const 2) {args})"), nodes=[shown])
    assert plugin("filter", pod=POD_SMALL)["code"] == length
    plugin = load(module("nodeField", more=data, filter=f"(call $nodeField (i32.const 0) (i32.const 0) {args})"), nodes=[shown])
    assert plugin("filter", pod=POD_SMALL, node="n1")["code"] == length
    same = pod(uid="7")
    same["metadata"]["labels"] = {"disk": "ssd"}
    if path != b"\x02\x04" and length in (3, -1):
        plugin = load(module("podField", more=data, filter=f"(call $podField {args})"))
        assert plugin("filter", pod=same)["code"] == length


def test_what_has_changed_without_a_cluster(load):
    plugin = load(module("nodeChanges", filter="(call $nodeChanges (i64.const 0) (i32.const 0) (i32.const 0))"))
    assert plugin("filter", pod=POD_SMALL)["code"] == 9


def test_the_example_that_asks_for_single_fields(load):
    away = node("away") | {"spec": {"unschedulable": True}}
    plugin = load(str(BUILD / "guests/sched-unschedulable-c.wasm"), nodes=[away, node("here")])
    tolerant = pod(uid="2")
    tolerant["spec"]["tolerations"] = [{"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}]
    for who, where, code in ((pod(uid="1"), "away", 3), (pod(uid="1"), "here", 0), (tolerant, "away", 0)):
        plugin("prefilter", pod=who)
        assert plugin("filter", pod=who, node=where)["code"] == code


def test_queueing_hints(load):
    assert load(module(queueinghint="i32.const 0")).loaded == {
        "error": "wasm: guest does not export any plugin functions"}
    event = {"resource": "Node", "action": 8, "old": node("n1"), "new": node("n1-new")}
    for name, length in (("event", len('{"resource":"Node","action":8}')), ("eventOld", 62), ("eventNew", 66)):
        plugin = load(echo(name, hook="queueinghint", **nothing("filter")))
        assert plugin("queueinghint", pod=POD_SMALL, event=event)["code"] == length
    assert load(module(**nothing("filter")))("queueinghint", pod=POD_SMALL, event=event)["code"] == 1
    got = load(panicking("queueinghint", **nothing("filter")))("queueinghint", pod=POD_SMALL, event=event)
    assert got["code"] == 1 and got["message"].startswith("wasm: queueinghint error: panic!")


# ---- the examples ----

def example(name):
    file = BUILD / "guests" / f"sched-label-{name}.wasm"
    if not file.exists():
        pytest.skip(f"{file.name} was not built")
    return str(file)


def test_an_example_in_c(load):
    plugin = load(example("c"), config="disk", nodes=[{"metadata": {"name": "a", "labels": {"b": "", "disk": "ssd"}}}, node("b")],
                  pods=[pod(uid="x", node="a"), pod(uid="y", node="a")])
    assert plugin.loaded == {"points": ["filter", "score"]}
    for p in (POD_SMALL, pod(uid="2")):
        assert plugin("prefilter", pod=p)["code"] == 0
        assert plugin("filter", pod=p, node="a")["code"] == 0
        got = plugin("filter", pod=p, node="b")
        assert (got["code"], got["message"]) == (2, "the node has no label disk")
        assert [plugin("score", pod=p, node=n)["score"] for n in "ab"] == [98, 100]


@pytest.mark.parametrize("language", ["go", "rust"])
def test_examples_in_other_languages(load, language):
    plugin = load(example(language), config="disk", nodes=[{"metadata": {"name": "a", "labels": {"b": "", "disk": ""}}}, node("b")])
    assert plugin("filter", pod=POD_SMALL, node="a")["code"] == 0
    got = plugin("filter", pod=POD_SMALL, node="b")
    assert (got["code"], got["message"]) == (2, "the node has no label disk")


# ---- lines ----

@pytest.mark.parametrize("line", [
    "x", "{", "[]", "null", '{"hook": "nothing"}', "{}", '{"hook": 3}', '{"hook": "filter", "pod": 3}',
    '{"hook": "filter", "pod": {"spec": 3}}', '{"hook": "filter", "nodes": [3]}', '{"hook": "filter", "scores": [["a"]]}',
    '{"hook": "filter", "statuses": {"a": "x"}}', '{"hook": "filter", "globals": {"a": 99999999999}}',
    '{"hook": "filter", "target": []}', '{"hook": "filter", "event": 3}',
    '{"hook": "filter", "event": {"resource": "Pod", "new": {"spec": 3}}}', '{"hook": "filter", "node": {}}', "\u0000\u0001", "[" * 2000,
])
def test_malformed_lines_are_answered(load, line):
    plugin = load(module(**nothing("filter")))
    assert list(plugin.ask(line)) == ["error"]
    assert plugin("filter", pod=POD_SMALL)["code"] == 0


def test_lines_with_mistakes(load):
    """Valid lines with a few bytes changed: each is answered, and the plugin serves on."""
    plugin = load(module(**nothing("filter", "prescore", "score", "normalizescore")), nodes=[NODE_SMALL])
    good = [json.dumps({"hook": hook, "pod": POD_SMALL, "target": POD_SMALL, "node": "good-node", "nodes": ["a", "b"],
                        "statuses": {"a": 1}, "scores": [["a", 1]], "globals": {}, "event": {"resource": "Pod", "new": POD_SMALL}})
            for hook in ("filter", "prescore", "normalizescore", "enqueue", "queueinghint")]
    draw = random.Random(7)
    for i in range(600):
        line = bytearray(good[i % len(good)].encode())
        for _ in range(draw.randint(1, 4)):
            at = draw.randrange(len(line))
            line[at:at + draw.randint(0, 3)] = draw.choices(b'{}[],:"\\09-eatn ', k=draw.randint(0, 3))
        if line.strip():
            answer = plugin.ask(line.decode("ascii"))
            assert "error" in answer or "log" in answer
    assert plugin("filter", pod=POD_SMALL)["code"] == 0


@pytest.mark.parametrize("first", [{"args": [1]}, {"args": "x"}, {"config": 3}, {"logSeverity": "x"}, {"nodes": [3]},
                                   {"nodes": [{"spec": 3}]}, {"waiting": {}}, {"logSeverity": 1e30}])
def test_malformed_first_lines(load, first, scratch):
    plugin = load(module(**nothing("filter")), **first)
    assert list(plugin.loaded) == ["error"]
    assert "error" in plugin("filter", pod=POD_SMALL)
    again = plugin.ask({"module": str(build(scratch, module(**nothing("filter"))))})
    assert again == {"points": ["filter"]}


def test_a_global_that_there_is_not(load):
    plugin = load(module(**nothing("filter")))
    assert "no mutable i32 global 'x'" in plugin("filter", pod=POD_SMALL, globals={"x": 1})["message"]
