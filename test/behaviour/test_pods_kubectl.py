# SPDX-License-Identifier: Apache-2.0
"""kubectl logs, exec and port-forward with pods that run: through the API server to the agent's server."""
import os
import signal
import subprocess
import urllib.request

import pytest

from conftest import wait_for
from pods_kit import Cluster, is_ready, make_store, needs_pods
from test_kubectl_versions import program

pytestmark = needs_pods
LIMIT_S = 60


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    store = make_store(tmp_path_factory.mktemp("images"))
    up = Cluster(tmp_path_factory.mktemp("kubectl") / "data", store)
    up.run("web", containers=[{"name": "a", "command": ["sh", "-c", "mkdir /www; echo page > /www/x; echo up; httpd -f -p 8080 -h /www"]}])
    up.wait("web", is_ready)
    yield up
    up.clear()
    assert up.stop() == 0


@pytest.fixture(params=["oldest", "newest"])
def kubectl(cluster, request):
    path = program(request.param)
    if not path:
        pytest.skip("no such kubectl here")
    env = dict(os.environ, KUBECONFIG=str(cluster.kubeconfig), HOME=str(cluster.data_dir))

    def run(*args, check=True, **more):
        done = subprocess.run([path, *args], capture_output=True, text=True, env=env, timeout=LIMIT_S, **more)
        assert not check or done.returncode == 0, done.stderr
        return done
    run.version, run.start = request.param, lambda *args: subprocess.Popen(
        [path, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
    return run


def test_exec(kubectl):
    done = kubectl("exec", "web", "--", "sh", "-c", "hostname; echo bad >&2; exit 4", check=False)
    assert (done.returncode, done.stdout) == (4, "web\n") and "bad\n" in done.stderr
    block = "0123456789" * 50_000
    assert kubectl("exec", "-i", "web", "--", "cat", input=block).stdout == block
    none = kubectl("exec", "web", "--", "nothing", check=False)
    assert none.returncode != 0 and "nothing" in none.stderr
    assert kubectl("exec", "-it", "web", "--", "sh", "-c", "test -t 0 || echo no terminal", check=False,
                   stdin=subprocess.DEVNULL).returncode == 0


def test_a_client_that_does_not_read_holds_nobody_up(cluster, kubectl):
    name = f"slow-{kubectl.version}"
    cluster.run(name, restartPolicy="Never", containers=[{"name": "a", "command": [
        "sh", "-c", r"while test ! -e /tmp/go; do echo up; usleep 50000; done; head -c 100000000 /dev/zero | tr '\\000' x; echo; echo end"]}])
    pod = cluster.wait(name, is_ready)
    attach = kubectl.start("attach", name)
    try:
        assert "up\n" in iter(attach.stdout.readline, "")
        attach.send_signal(signal.SIGSTOP)
        cluster.sh(name, "touch /tmp/go")
        cluster.wait_phase(name, "Succeeded")
        assert cluster.log_of(pod)[-1] == "end"
        attach.send_signal(signal.SIGCONT)
        assert "bytes were skipped" in attach.communicate(timeout=LIMIT_S)[0]
    finally:
        attach.kill()
        attach.communicate()


def test_port_forward(kubectl):
    forward = kubectl.start("port-forward", "pod/web", ":8080")
    try:
        line = forward.stdout.readline()
        assert line, forward.stderr.read()
        port = int(line.split(" -> ")[0].rsplit(":", 1)[1])
        for _ in range(3):
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/x", timeout=LIMIT_S) as answer:
                assert answer.read() == b"page\n"
    finally:
        forward.kill()
        forward.communicate()


def test_logs(cluster, kubectl):
    name = f"log-{kubectl.version}"
    cluster.run(name, ["sh", "-c", "echo first; echo second; until test -e /tmp/go; do sleep 0.05; done; echo third"], restartPolicy="Never")
    wait_for(lambda: kubectl("logs", name, check=False).stdout == "first\nsecond\n", "two lines")
    assert kubectl("logs", name, "--tail=1").stdout == "second\n"
    assert kubectl("logs", name, "--since=1h", "--timestamps").stdout.splitlines()[0].endswith("Z first")
    follow = kubectl.start("logs", "-f", name)
    assert [follow.stdout.readline() for _ in range(2)] == ["first\n", "second\n"]
    kubectl("exec", name, "--", "touch", "/tmp/go")
    assert follow.stdout.read() == "third\n", "it ends with the container"
    assert follow.wait(LIMIT_S) == 0
    follow.communicate()
    cluster.wait_phase(name, "Succeeded")
    assert kubectl("logs", name).stdout == "first\nsecond\nthird\n"
    no = kubectl("logs", name, "--previous", check=False)
    assert no.returncode != 0 and "previous terminated container" in no.stderr
    gone = kubectl("exec", name, "--", "true", check=False)
    assert gone.returncode != 0


def test_logs_of_the_container_before(cluster, kubectl):
    name = f"again-{kubectl.version}"
    command = "echo run $(cat /v/n 2>/dev/null); echo two > /v/n; test -e /v/once || { touch /v/once; exit 1; }; sleep 100000"
    cluster.run(name, containers=[{"name": "a", "command": ["sh", "-c", command], "volumeMounts": [{"name": "v", "mountPath": "/v"}]}],
                volumes=[{"name": "v", "emptyDir": {}}])
    cluster.wait(name, lambda p: is_ready(p) and p["status"]["containerStatuses"][0]["restartCount"] == 1, "restarted")
    assert kubectl("logs", name, "--previous").stdout == "run\n"
    assert kubectl("logs", name).stdout == "run two\n"
