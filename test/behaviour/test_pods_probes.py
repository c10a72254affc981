# SPDX-License-Identifier: Apache-2.0
"""Probes and hooks of containers, as Kubernetes documents them."""
import http.server
import threading

import pytest

from conftest import wait_for
from pods_kit import Cluster, cluster, condition_of, is_ready, needs_pods, state_of, status_of, store  # noqa: F401

pytestmark = needs_pods

SLEEP = ["sleep", "100000"]


def exists(path):
    return {"exec": {"command": ["test", "-e", path]}, "periodSeconds": 1}


def one(command=SLEEP, **members):
    return [{"name": "a", "command": command, **members}]


def test_liveness_restarts_a_container(cluster):
    cluster.run("live", containers=one(livenessProbe={"exec": {"command": ["test", "!", "-e", "/tmp/dead"]}, "periodSeconds": 1, "failureThreshold": 1}))
    pod = cluster.wait("live", is_ready)
    (cluster.root_of(pod) / "tmp/dead").touch()
    pod = cluster.wait("live", lambda p: status_of(p)["restartCount"] == 1 and is_ready(p))
    assert status_of(pod)["lastState"]["terminated"]["exitCode"] == 137  # sleep is process 1: TERM has no effect
    cluster.wait_reason("live", "Unhealthy")
    cluster.wait_reason("live", "Killing")
    assert not (cluster.root_of(pod) / "tmp/dead").exists()  # its files are new


def test_startup_comes_before_the_other_probes(cluster):
    cluster.run("start", containers=one(startupProbe={**exists("/tmp/started"), "failureThreshold": 1000},
                                        livenessProbe={**exists("/tmp/live"), "failureThreshold": 1}, readinessProbe=exists("/tmp/live")))
    pod = cluster.wait("start", lambda p: state_of(p)[0] == "running")
    cluster.wait_reason("start", "Unhealthy")
    pod = cluster.pod("start")
    assert not status_of(pod)["started"] and not is_ready(pod) and status_of(pod)["restartCount"] == 0
    for name in ("live", "started"):
        (cluster.root_of(pod) / "tmp" / name).touch()
    pod = cluster.wait("start", is_ready)
    assert status_of(pod)["started"] and status_of(pod)["restartCount"] == 0


def test_a_startup_probe_that_fails_restarts_the_container(cluster):
    cluster.run("never", containers=one(startupProbe={**exists("/no"), "failureThreshold": 1, "terminationGracePeriodSeconds": 1}))
    cluster.wait("never", lambda p: status_of(p).get("restartCount", 0) >= 1)


SERVE = "mkdir /tmp/www; touch /tmp/www/ok; exec httpd -f -p 8080 -h /tmp/www"


def test_readiness_by_http_and_tcp(cluster):
    probe = {"httpGet": {"path": "/ok", "port": "web"}, "periodSeconds": 1, "failureThreshold": 1}
    cluster.run("http", containers=one(["sh", "-c", SERVE], ports=[{"name": "web", "containerPort": 8080}], readinessProbe=probe,
                                       livenessProbe={"tcpSocket": {"port": 8080}, "periodSeconds": 1}))
    pod = cluster.wait("http", is_ready)
    page = cluster.root_of(pod) / "tmp/www/ok"
    page.unlink()
    pod = cluster.wait("http", lambda p: not is_ready(p))
    assert condition_of(pod, "ContainersReady") == "False" and not status_of(pod)["ready"] and status_of(pod)["started"]
    page.touch()
    pod = cluster.wait("http", is_ready)
    assert status_of(pod)["restartCount"] == 0


def test_a_hook_after_the_start(cluster):
    cluster.run("post", containers=one(lifecycle={"postStart": {"exec": {"command": ["sh", "-c", "while test ! -e /tmp/go; do usleep 20000; done; touch /tmp/done"]}}}))
    pod = cluster.wait("post", lambda p: state_of(p)[0] == "running")
    assert not is_ready(pod)
    root = cluster.root_of(pod)
    (root / "tmp/go").touch()
    cluster.wait("post", is_ready)
    assert (root / "tmp/done").exists()


def test_a_hook_after_the_start_that_fails_ends_the_container(cluster):
    cluster.run("post-fails", restartPolicy="Never", containers=one(
        ["sh", "-c", "trap 'exit 9' TERM; while :; do sleep 0.05; done"], lifecycle={"postStart": {"exec": {"command": ["false"]}}}))
    pod = cluster.wait_phase("post-fails", "Failed")
    assert state_of(pod)[0] == "terminated"
    cluster.wait_reason("post-fails", "FailedPostStartHook")


def test_a_hook_before_the_end_is_part_of_the_grace(cluster):
    say = "trap 'cat /v/order; exit 0' TERM; echo up; while :; do sleep 0.05; done"
    mounts = [{"name": "v", "mountPath": "/v"}]
    hook = {"exec": {"command": ["sh", "-c", "echo hook > /v/order"]}}
    cluster.run("pre", terminationGracePeriodSeconds=60, volumes=[{"name": "v", "emptyDir": {}}],
                containers=one(["sh", "-c", say], volumeMounts=mounts, lifecycle={"preStop": hook}))
    cluster.run("pre-long", terminationGracePeriodSeconds=1, containers=one(["sh", "-c", "trap 'exit 0' TERM; while :; do sleep 0.05; done"],
                                                                            lifecycle={"preStop": {"exec": {"command": SLEEP}}}))
    cluster.run("pre-sleep", terminationGracePeriodSeconds=60, containers=one(["sh", "-c", "trap 'exit 5' TERM; while :; do sleep 0.05; done"],
                                                                              lifecycle={"preStop": {"sleep": {"seconds": 1}}}))
    pod = cluster.wait("pre", is_ready)
    wait_for(lambda: cluster.log_of(pod) == ["up"], "the log")
    path = cluster.log_dir / f"default_pre_{pod['metadata']['uid']}/a/0.log"
    log = path.open()  # the file is removed with the pod
    for name in ("pre-long", "pre-sleep"):
        cluster.wait(name, is_ready)
    for name in ("pre", "pre-long", "pre-sleep"):
        cluster.delete(name)
    for name in ("pre", "pre-long", "pre-sleep"):
        cluster.wait_gone(name)
    assert [line.split()[3] for line in log] == ["up", "hook"]
    wait_for(lambda: not path.parent.parent.exists(), "the logs are removed")


@pytest.fixture
def asked():
    """Paths that a server on this machine was asked for; it answers with 500."""
    paths = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            paths.append((self.path, self.headers.get("X-Who")))
            self.send_error(500)

        def log_message(self, *args):
            pass
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    paths.append(server.server_port)
    yield paths
    server.shutdown()
    server.server_close()


def test_hooks_by_http_take_any_answer(cluster, asked):
    def get(path):
        return {"httpGet": {"host": "127.0.0.1", "port": asked[0], "path": path, "httpHeaders": [{"name": "X-Who", "value": "me"}]}}
    cluster.run("get", containers=one(lifecycle={"postStart": get("/begin"), "preStop": get("/end")}))
    cluster.wait("get", is_ready)
    cluster.delete("get")
    cluster.wait_gone("get")
    assert asked[1:] == [("/begin", "me"), ("/end", "me")]
    cluster.run("refused", restartPolicy="Never", containers=one(lifecycle={"postStart": {"httpGet": {"port": 9, "path": "/"}}}))
    cluster.wait_phase("refused", "Failed")


def test_a_hook_keeps_its_headers_while_the_pod_changes(tmp_path, store, monkeypatch):  # noqa: F811
    """The answer to the first request is a redirect; before it, each change of the pod frees the specification before."""
    monkeypatch.setenv("MALLOC_PERTURB_", "165")  # freed memory is overwritten
    seen, go = [], threading.Event()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            seen.append((self.path, self.headers.get("X-Who")))
            if self.path == "/first":
                go.wait()
                self.send_response(302)
                self.send_header("Location", "/second")
            else:
                self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *args):
            pass
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    up = Cluster(tmp_path / "data", store)
    hook = {"host": "127.0.0.1", "port": server.server_port, "path": "/first", "httpHeaders": [{"name": "X-Who", "value": "me"}]}
    try:
        up.run("moved", labels={"n": "0"}, containers=one(["sh", "-c", "exec sleep 100000"], lifecycle={"postStart": {"httpGet": hook}},
                                                          env=[{"name": "N", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['n']"}}}]))
        wait_for(lambda: seen, "the hook asks")
        for n in range(1, 4):
            up.patch("/api/v1/namespaces/default/pods/moved", {"metadata": {"labels": {"n": str(n)}}})
            up.run(f"next-{n}", restartPolicy="Never", command=["true"])  # the agent has seen the change once this pod has ended
            up.wait_phase(f"next-{n}", "Succeeded")
        go.set()
        up.wait("moved", is_ready)
        assert seen == [("/first", "me"), ("/second", "me")]
        up.clear()
    finally:
        go.set()
        server.shutdown()
        server.server_close()
        assert up.stop() == 0


def test_deletion_while_the_first_hook_runs(cluster):
    slow = {"exec": {"command": SLEEP}}
    cluster.run("both", terminationGracePeriodSeconds=1, containers=one(lifecycle={"postStart": slow, "preStop": slow}))
    cluster.wait("both", lambda p: state_of(p)[0] == "running")
    cluster.delete("both")
    cluster.wait_gone("both")


def test_a_container_that_is_ending_is_ready_until_its_end(cluster):
    cluster.run("drain", terminationGracePeriodSeconds=300, containers=one(
        ["sh", "-c", "trap 'touch /tmp/term' TERM; touch /tmp/ready; while test ! -e /tmp/go; do sleep 0.05; done"], readinessProbe=exists("/tmp/ready")))
    pod = cluster.wait("drain", is_ready)
    root = cluster.root_of(pod)
    cluster.delete("drain")
    wait_for(lambda: (root / "tmp/term").exists(), "TERM")
    assert is_ready(cluster.pod("drain"))
    (root / "tmp/ready").unlink()
    cluster.wait("drain", lambda p: not is_ready(p))
    (root / "tmp/go").touch()
    cluster.wait_gone("drain")


def test_a_deadline_of_the_pod(cluster):
    cluster.run("deadline", activeDeadlineSeconds=1)
    pod = cluster.wait_phase("deadline", "Failed")
    assert pod["status"]["reason"] == "DeadlineExceeded" and state_of(pod)[0] == "terminated"
    assert condition_of(pod, "Ready") == "False"
