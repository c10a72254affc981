# SPDX-License-Identifier: Apache-2.0
"""dormouse image optimize: watching a registry, refactoring when it pays, leases, news, and what happens when it is killed."""
import contextlib
import http.server
import json
import os
import re
import shutil
import signal
import subprocess
import threading

import pytest

from conftest import BUILD, DEADLINE_S, wait_for
from image_kit import Layout, layer
from registry_kit import REGISTRY, answer, fake, real
from serve_kit import Node
from test_image_refactor import BASE, NOISE, version

needs_real = pytest.mark.skipif(not REGISTRY or not shutil.which("skopeo"), reason="no docker-registry or skopeo here")
OPTIONS = ("--layer-threshold", "1", "--gain-threshold", "1", "--redundancy-threshold", "1000", "--lease", "1s")
REPOSITORIES = ("shop/app", "shop/db")
LEASE = "dormouse-lease"


def other(n):
    """Contents in common with version(), in layers of its own."""
    return layer([("app", "d", ""), ("app/data", "f", NOISE[60000:200000]), ("only", "f", b"here%d" % n * 900)])


@pytest.fixture
def layout(tmp_path):
    made = Layout(tmp_path / "layout")
    made.image("v1", [BASE, version(1, 1600000000)])
    made.image("v2", [BASE, version(2, 1700000000)])
    made.image("v3", [other(3)])
    return made


@pytest.fixture
def registry(layout):
    with fake() as server:
        for repository, name in zip(REPOSITORIES, ("v1", "v2")):
            server.add_layout(layout, repository, name)
        yield server


class Optimizer:
    def __init__(self, tmp_path, *args, state="state"):
        scratch = tmp_path / "scratch"
        scratch.mkdir(exist_ok=True)
        self.command = [str(BUILD / "dormouse"), "image", "optimize", *args, *OPTIONS, "--state-dir", str(tmp_path / state)]
        self.env = {k: v for k, v in os.environ.items() if "proxy" not in k.lower()} | {"HOME": "/nonexistent", "TMPDIR": str(scratch)}
        self.scratch = scratch

    def once(self, *more, status=0):
        done = subprocess.run([*self.command, "--once", *more], capture_output=True, text=True, timeout=DEADLINE_S, env=self.env)
        assert done.returncode == status, (done.stdout, done.stderr)
        self.errors = done.stderr
        return events(done.stdout)

    @contextlib.contextmanager
    def running(self, log, *more):
        """Its events go into the file `log`."""
        with open(log, "w") as out:
            process = subprocess.Popen([*self.command, *more], stdout=out, stderr=out, env=self.env)
        try:
            yield process
        finally:
            if process.poll() is None:
                process.terminate()
            process.wait(DEADLINE_S)


def events(text):
    """(kind, rest) of each line."""
    return [tuple(line.split(" ", 2)[1:]) for line in text.splitlines() if line[:2] == "20"]


def kinds(found):
    return [k for k, _ in found]


def attached(registry):
    """Repositories with a refactored image, by the tag of its source's referrers."""
    return {r for r, n in registry.manifests if n.startswith("sha256-")}


def tag(registry, repository, name):
    return registry.manifests[repository, name][1]


def test_once_refactors_what_pays_and_then_rests(tmp_path, registry):
    o = Optimizer(tmp_path, f"{registry.host}/shop/app", f"{registry.host}/shop/db:v2")
    before = dict(registry.manifests)
    found = o.once()
    assert kinds(found) == ["found", "found", "working", "refactored", "attached", "attached"], found
    assert attached(registry) == set(REPOSITORIES)
    assert all(registry.manifests[k] == v for k, v in before.items())   # side: tags stay
    assert not list(o.scratch.iterdir())
    registry.seen.clear()
    assert o.once() == []
    assert {m for m, _, _ in registry.seen} <= {"GET", "HEAD"}
    heads = [h for m, p, h in registry.seen if m == "HEAD" and "/manifests/" in p]
    assert len(heads) == 2 and all(h["If-None-Match"].startswith('"sha256:') for h in heads)
    assert not [p for p in registry.paths("GET") if "/blobs/" in p or "/manifests/" in p]


def test_a_new_image_begins_another_run_and_keeps_shared_layers(tmp_path, registry, layout):
    o = Optimizer(tmp_path, "--registry", registry.host)
    o.once()
    first = {d for d, data in registry.blobs.items()}
    registry.add_layout(layout, "shop/third", "v3")
    read = len(registry.seen)
    found = o.once()
    assert kinds(found) == ["found", "working", "refactored", "attached", "attached", "attached"], found
    reads = [p for m, p, _ in registry.seen[read:] if m == "GET" and "/blobs/" in p]
    assert reads
    assert first <= set(registry.blobs)


def test_published_times_keep_layers_as_they_are(tmp_path, registry, layout):
    """A new version with older times of the same files does not rename the layer that nodes hold."""
    o = Optimizer(tmp_path, "--registry", registry.host)
    first = [r for k, r in o.once() if k == "attached" and "shop/app" in r]
    layout.image("older", [BASE, version(2, 1500000000)])
    registry.add_layout(layout, "shop/db", "older")
    registry.manifests["shop/db", "v2"] = registry.manifests.pop(("shop/db", "older"))
    assert [r for k, r in o.once() if k == "attached" and "shop/app" in r] == first
    (tmp_path / "state/times").unlink()
    (tmp_path / "state/state.json").unlink()
    assert [r for k, r in o.once() if k == "attached" and "shop/app" in r] != first


def test_namespaces_of_a_registry_are_groups_of_their_own(tmp_path, registry, layout):
    registry.add_layout(layout, "bank/vault", "v1")
    o = Optimizer(tmp_path, "--registry", registry.host)
    found = o.once()
    assert [r for k, r in found if k == "refactored"][0].startswith("images=2 ")
    assert attached(registry) == set(REPOSITORIES)
    assert "images=3" in [r for k, r in o.once("--across-namespaces") if k == "refactored"][0]


def test_what_does_not_pay_is_said_once(tmp_path, registry):
    o = Optimizer(tmp_path, "--registry", registry.host)
    found = o.once("--gain-threshold", "64Mi")
    assert kinds(found)[-1] == "skipped" and "gain threshold" in found[-1][1]
    assert o.once("--gain-threshold", "64Mi") == []
    found = o.once("--redundancy-threshold", "auto")
    assert kinds(found)[-1] == "skipped" and "redundant bytes" in found[-1][1]
    assert not attached(registry)


def test_replaced_tags_and_dead_layers_are_told_to_a_file_and_an_endpoint(tmp_path, registry):
    reported = []

    class Endpoint(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            reported.append((self.path, json.loads(self.rfile.read(int(self.headers["Content-Length"])))))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *args):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    old = {r: json.loads(tag(registry, r, t)) for r, t in zip(REPOSITORIES, ("v1", "v2"))}
    try:
        o = Optimizer(tmp_path, "--registry", registry.host, "--mode", "replace", "--news", str(tmp_path / "news"),
                      "--news", f"http://127.0.0.1:{server.server_address[1]}/v1/images/replaced")
        found = o.once()
        assert o.once() == []   # the new images are not planned again
    finally:
        server.shutdown()
        server.server_close()
    lines = [json.loads(line) for line in (tmp_path / "news").read_text().splitlines()]
    assert kinds(found).count("moved") == 2 and [t for _, t in reported] == lines and {p for p, _ in reported} == {"/v1/images/replaced"}
    assert [line["name"] for line in lines] == [f"docker://{registry.host}/{r}:{t}" for r, t in zip(REPOSITORIES, ("v1", "v2"))]
    dead = {d for line in lines for d in line["dead"]}
    assert dead == {layer["digest"] for m in old.values() for layer in m["layers"]}


def test_nodes_are_told_and_take_the_new_form(tmp_path, registry, layout):
    """n1 has the images as they were; n2 is away, which holds up no one."""
    node = Node(tmp_path, "n1", "--upstream", registry.host, "--quota", "64Mi", "--prefetch")
    try:
        for r, t in zip(REPOSITORIES, ("v1", "v2")):
            assert node.get(f"/v2/{r}/manifests/{t}?ns={registry.host}")[0] == 200
        ls = [BUILD / "dormouse", "image", "ls", "--store", node.store, "-o", "name"]
        wait_for(lambda: len(subprocess.run(ls, capture_output=True, text=True).stdout.split()) == 2, "both images")
        o = Optimizer(tmp_path, "--registry", registry.host, "--mode", "replace", "--news", "n2=http://127.0.0.1:1", "--news", f"n1={node.url}/",
                      "--cluster-key-file", str(tmp_path / "key"))
        found = o.once()
        assert kinds(found).count("moved") == 2 and [rest.split()[0] for kind, rest in found if kind == "untold"] == ["node=n2"] * 2
        wait_for(lambda: sum("image pulled" in line for line in node.log) > 2, "n1 to pull the new form of one at least")
        metrics = node.get("/metrics")[2].decode()
        assert int(re.search(r"^dormouse_image_cache_unused_bytes (\d+)$", metrics, re.M)[1]) > 0, "dead layers leave first"
    finally:
        assert node.stop() == 0
    done = subprocess.run([*o.command[:3], "--registry", registry.host, "--news", f"n1={node.url}"], capture_output=True, text=True, timeout=DEADLINE_S)
    assert done.returncode == 2 and "--cluster-key-file" in done.stderr


def test_news_that_cannot_be_told_come_again(tmp_path, registry, layout):
    target = tmp_path / "missing" / "news"
    (tmp_path / "news").symlink_to(target)
    o = Optimizer(tmp_path, "--registry", registry.host, "--news", str(tmp_path / "news"))
    o.once()
    registry.add_layout(layout, "shop/app", "v3")
    registry.manifests["shop/app", "v1"] = registry.manifests["shop/app", "v3"]
    found = o.once(status=1)
    assert "trouble" in kinds(found) and "moved" not in kinds(found)
    target.parent.mkdir()
    found = o.once()
    assert kinds(found)[0] == "moved" and json.loads(target.read_text())["dead"]
    assert o.once() == []


def test_an_image_that_is_gone(tmp_path, registry):
    o = Optimizer(tmp_path, "--registry", registry.host, "--news", str(tmp_path / "news"))
    o.once()
    for key in [k for k in registry.manifests if k == ("shop/db", "v2")]:
        del registry.manifests[key]
    found = o.once()
    assert kinds(found) == ["gone"] and "dead=1" in found[0][1]   # the base is in the other image as well


def test_two_optimizers_work_one_after_the_other(tmp_path, registry):
    """Each has its state; the lease in the registry keeps them apart. A killed holder's lease ends by itself."""
    first, second = (Optimizer(tmp_path, "--registry", registry.host, state=name) for name in ("one", "two"))
    released, reached = threading.Event(), threading.Event()

    def hold(handler):
        reached.set()
        released.wait(DEADLINE_S)
        return False

    registry.faults.append(("PUT", "/blobs/uploads/", lambda h: None))          # the lease's own blob
    registry.faults.append(("POST", "/v2/shop/db/blobs/uploads/", hold))
    with first.running(tmp_path / "one.log") as process:
        assert reached.wait(DEADLINE_S)
        with second.running(tmp_path / "two.log") as waiting:
            wait_for(lambda: "waiting" in (tmp_path / "two.log").read_text(), "the second waits")
            assert "refactored" not in (tmp_path / "two.log").read_text()
            process.send_signal(signal.SIGKILL)
            process.wait(DEADLINE_S)
            released.set()
            wait_for(lambda: "refactored" in (tmp_path / "two.log").read_text(), "the second takes over")
            assert waiting.poll() is None
            waiting.terminate()
            assert waiting.wait(DEADLINE_S) == 0
    assert attached(registry) == set(REPOSITORIES)
    assert not list(first.scratch.iterdir())


def test_two_optimizers_with_one_state(tmp_path, registry):
    o = Optimizer(tmp_path, "--registry", registry.host, "--watch", "1h")
    with o.running(tmp_path / "one.log") as process:
        wait_for(lambda: "attached" in (tmp_path / "one.log").read_text(), "the first works")
        with o.running(tmp_path / "two.log") as waiting:
            wait_for(lambda: "waiting" in (tmp_path / "two.log").read_text(), "the second waits")
            process.send_signal(signal.SIGKILL)
            process.wait(DEADLINE_S)
            (tmp_path / "state/state.json").unlink()
            wait_for(lambda: "found" in (tmp_path / "two.log").read_text(), "the second has the state")
            waiting.send_signal(signal.SIGHUP)
            waiting.terminate()
            assert waiting.wait(DEADLINE_S) == 0


@pytest.mark.parametrize("step", ["/v2/shop/app/blobs/uploads/", "/v2/shop/db/manifests/sha256", "/v2/shop/app/manifests/v1"])
def test_killed_at_any_step_the_next_run_repairs(tmp_path, registry, step):
    o = Optimizer(tmp_path, "--registry", registry.host, "--mode", "replace")
    reached, released = threading.Event(), threading.Event()

    def hold(handler):
        reached.set()
        released.wait(DEADLINE_S)
        return handler.hang_up()

    before = {r: tag(registry, r, t) for r, t in zip(REPOSITORIES, ("v1", "v2"))}
    method = "POST" if "uploads" in step else "PUT"
    if step.startswith("/v2/shop/app/blobs"):   # not the one of the lease, which is the first
        registry.faults.append((method, step, lambda h: None))
    registry.faults.append((method, step, hold))
    with o.running(tmp_path / "log") as process:
        assert reached.wait(DEADLINE_S)
        process.send_signal(signal.SIGKILL)
        process.wait(DEADLINE_S)
    released.set()
    assert {r: tag(registry, r, t) for r, t in zip(REPOSITORIES, ("v1", "v2"))} == before
    found = o.once()
    assert "refactored" in kinds(found) and kinds(found).count("moved") == 2, found
    assert not list(o.scratch.iterdir())


def test_a_registry_that_fails_is_said_and_asked_again(tmp_path, registry):
    o = Optimizer(tmp_path, "--registry", registry.host)
    o.once()
    registry.faults += [("HEAD", "/v2/shop/app/manifests/v1", answer(403, "DENIED"))]
    found = o.once(status=1)
    assert kinds(found) == ["trouble"]          # the image is not taken for gone
    assert o.once() == []


def test_a_damaged_state_is_an_error_that_says_what_to_do(tmp_path, registry):
    o = Optimizer(tmp_path, "--registry", registry.host)
    o.once()
    (tmp_path / "state/state.json").write_text("{")
    o.once(status=1)
    assert "state.json" in o.errors and "remove it" in o.errors


def test_a_full_disk_publishes_nothing(tmp_path, registry):
    small = tmp_path / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=200k", "none", small], capture_output=True).returncode:
        pytest.skip("no mount here")
    try:
        o = Optimizer(tmp_path, "--registry", registry.host)
        o.env["TMPDIR"] = str(small)
        o.once(status=1)
        assert "No space left" in o.errors and not attached(registry)
    finally:
        subprocess.run(["umount", small], check=True)
    o.env["TMPDIR"] = str(o.scratch)
    assert "refactored" in kinds(o.once())


def test_a_file_configures_it(tmp_path, registry):
    config = tmp_path / "optimizer.yaml"
    config.write_text(f"kind: ImageRefactoring\nspec:\n  images: [{registry.host}/shop/app]\n  mode: side\n  once: true\n  groupSize: 8\n"
                      f"  stateDir: {tmp_path}/elsewhere\n")
    o = Optimizer(tmp_path, "--config", str(config))
    found = o.once()
    assert kinds(found) == ["found"]
    config.write_text("colour: red\n")
    done = subprocess.run([*o.command, "--once"], capture_output=True, text=True, timeout=DEADLINE_S, env=o.env)
    assert done.returncode == 2 and "--colour" in done.stderr


def test_groups_are_those_that_share(tmp_path, layout):
    layout.image("alone", [layer([("alone", "f", NOISE[250000:])])])
    layout.image("near", [layer([("alone", "f", NOISE[250000:]), ("more", "f", b"m" * 50)])])
    names = [f"oci:{layout.directory}:{n}" for n in ("v1", "alone", "v2", "near", "v3")]
    done = subprocess.run([BUILD / "dormouse", "image", "groups", *names, "-o", "json"], capture_output=True, text=True, timeout=DEADLINE_S, check=True)
    groups = json.loads(done.stdout)["groups"]
    assert [names[1], names[3]] in groups and any({names[0], names[2]} <= set(g) for g in groups)
    done = subprocess.run([BUILD / "dormouse", "image", "groups", *names, "--group-size", "2", "-o", "json"],
                          capture_output=True, text=True, timeout=DEADLINE_S, check=True)
    groups = json.loads(done.stdout)["groups"]
    assert sorted(sum(groups, [])) == sorted(names) and max(map(len, groups)) == 2


def test_many_images_are_split_into_groups(tmp_path, registry, layout):
    layout.image("x1", [layer([("x", "f", NOISE[210000:]), ("n", "f", b"1")])])
    layout.image("x2", [layer([("x", "f", NOISE[210000:]), ("n", "f", b"2")])])
    registry.add_layout(layout, "shop/x", "x1")
    registry.add_layout(layout, "shop/x", "x2")
    o = Optimizer(tmp_path, "--registry", registry.host, "--group-size", "2")
    found = o.once()
    assert kinds(found).count("refactored") == 2, found
    assert attached(registry) == {*REPOSITORIES, "shop/x"}
    assert o.once("--group-size", "2") == []


@needs_real
def test_a_real_registry(tmp_path, layout):
    with real(tmp_path) as host:
        for repository, name in zip(REPOSITORIES, ("v1", "v2")):
            subprocess.run(["skopeo", "--insecure-policy", "copy", "--dest-tls-verify=false", f"oci:{layout.directory}:{name}",
                            f"docker://{host}/{repository}:{name}"], check=True, capture_output=True, timeout=DEADLINE_S)
        o = Optimizer(tmp_path, "--registry", host, "--mode", "replace")
        found = o.once()
        assert kinds(found).count("moved") == 2, (found, o.errors)
        for repository, name in zip(REPOSITORIES, ("v1", "v2")):
            subprocess.run(["skopeo", "--insecure-policy", "copy", "--src-tls-verify=false", f"docker://{host}/{repository}:{name}",
                            f"oci:{tmp_path}/back:x"], check=True, capture_output=True, timeout=DEADLINE_S)
        assert o.once() == []
