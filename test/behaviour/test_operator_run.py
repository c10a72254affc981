# SPDX-License-Identifier: Apache-2.0
"""`dormouse operator run DIR`: the operators of a directory, against an API server that is another process."""
import os
import pathlib

import pytest

from conftest import BUILD, Server, wait_for
from operators import Ring, Run, Up, distinct, dormouse, modules_beside

pytestmark = pytest.mark.skipif(not (BUILD / "guests/ring-g2.wasm").exists(), reason="no compiler for guests here")


class Directory:
    """A directory with wasm_config.yaml."""

    def __init__(self, path):
        self.path, self.documents = path, {}

    def put(self, name, wasm, env=None, more=""):
        lines = [f"name: {name}", f"wasm: {wasm}", *([more] if more else []), "env:" if env else ""]
        lines += [f"- name: {k}\n  value: '{v}'" for k, v in (env or {}).items()]
        self.documents[name] = "\n".join(lines) + "\n"

    def write(self, text=None):
        part = self.path / "part"
        part.write_text("---\n".join(self.documents.values()) if text is None else text)
        part.rename(self.path / "wasm_config.yaml")


@pytest.fixture
def directory(data_dir):
    return Directory(modules_beside(data_dir))


def start_ring(api, directory, data_dir, n=4):
    """An API server, a ring without Operator objects, and a process that runs its operators."""
    ring = Ring(api, n)
    for i in range(n):
        directory.put(f"ring-{i}", "ring-g2.wasm", ring.env(i))
    directory.write()
    run = Run(data_dir + "-run", directory.path, api.kubeconfig)
    ring.round()
    return ring, run


def connections(pid, port):
    """How many TCP connections of the process lead there."""
    inodes = set()
    for fd in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        try:
            inodes.add(os.readlink(fd))
        except OSError:
            pass  # closed meanwhile
    rows = [line.split() for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sum(1 for r in rows if f"socket:[{r[9]}]" in inodes and int(r[2].rsplit(":", 1)[1], 16) == port)


def test_a_ring_turns_and_sleeps_against_another_process(dormouse_api, directory, data_dir):
    ring, run = start_ring(dormouse_api, directory, data_dir)
    run.all_asleep(4)
    wait_for(lambda: not run.runners(), "the runner has ended")
    ring.round()
    wait_for(lambda: all(g["wakes"] > 0 for g in run.guests().values()), "every operator was woken")
    assert all(g["namespace"] == "" for g in run.guests().values())
    assert connections(run.process.pid, dormouse_api.port) == 1, "watches and calls are streams of one connection"
    names = dormouse("guests", "--data-dir", str(run.data_dir), "-o", "name").stdout.split()
    assert sorted(names) == [f"ring-{i}" for i in range(4)]
    assert run.stop() == 0


def test_operators_come_and_go_with_the_file(dormouse_api, directory, data_dir):
    ring, run = start_ring(dormouse_api, directory, data_dir)
    kept = directory.documents.pop("ring-2")
    directory.write()
    wait_for(lambda: "ring-2" not in run.guests(), "the operator is gone")
    watch = ring.begin()
    wait_for(lambda: ring.nonce_at(2) == ring.nonce, "the round comes as far as it can")
    directory.documents["ring-2"] = kept
    directory.write()
    ring.finish(watch)
    assert all(g["restarts"] == 0 for g in run.guests().values())
    assert run.stop() == 0


def test_a_new_module_file_takes_over(dormouse_api, directory, data_dir):
    ring, run = start_ring(dormouse_api, directory, data_dir)
    run.all_asleep(4)
    before = run.guests()
    distinct(directory.path / "ring-g2.wasm", directory.path / "part", "v2")
    (directory.path / "part").rename(directory.path / "ring-g2.wasm")

    def replaced():
        now = run.guests()
        return all(now[name]["activations"] < before[name]["activations"] or now[name]["wakes"] < before[name]["wakes"] for name in before)

    wait_for(replaced, "guests that count from the start")
    ring.round()
    assert run.stop() == 0


def test_a_typo_names_key_and_line_and_changes_nothing(dormouse_api, directory, data_dir):
    directory.write("name: a\nwasm: ring-g2.wasm\n---\nname: b\nwsam: ring-g2.wasm\n")
    args = ("operator", "run", str(directory.path), "--data-dir", data_dir + "-run", "--kubeconfig", dormouse_api.kubeconfig)
    done = dormouse(*args)
    assert done.returncode == 1 and done.stdout == "", done
    assert "line 5, column 1: unknown key 'wsam'" in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr
    ring, run = start_ring(dormouse_api, directory, data_dir)
    directory.write("name: a\nwasm: ring-g2.wasm\nagrs: []\n")
    wait_for(lambda: "line 3, column 1: unknown key 'agrs'" in run.text_of_log(), "the typo is reported")
    assert sorted(run.guests()) == [f"ring-{i}" for i in range(4)]
    ring.round()
    directory.put("more", "none.wasm")
    directory.write()
    wait_for(lambda: "more" in run.guests(), "the mended file is read")
    assert run.guests()["more"]["state"] == "Refused" and "none.wasm" in run.guests()["more"]["lastError"]
    ring.round()
    assert run.stop() == 0


@pytest.mark.parametrize("how", ["killed", "stopped"])
def test_a_cluster_that_goes_and_comes_back(directory, data_dir, how):
    api = Server(data_dir)
    ring, run = start_ring(api, directory, data_dir)
    run.all_asleep(4)
    port = api.port
    api.kill() if how == "killed" else api.stop()
    output = "cluster does not answer"
    wait_for(lambda: output in run.text_of_log(), "it says that the cluster is gone", 60)
    wait_for(lambda: run.status()["asleep"] == 4, "guests sleep on")
    api = ring.server = Server(data_dir, listen=f"127.0.0.1:{port}")
    ring.round(120)
    wait_for(lambda: "cluster answers again" in run.text_of_log(), "it says that the cluster is back")
    ring.round()
    log = run.text_of_log()
    assert log.count(output) == 1 and log.count("cluster answers again") == 1, log
    assert all(g["restarts"] == 0 for g in run.guests().values())
    assert run.stop() == 0
    assert api.stop() == 0


def test_a_cluster_that_is_not_there_yet(directory, data_dir):
    api = Server(data_dir)
    ring = Ring(api, 2)
    port, kubeconfig = api.port, api.kubeconfig
    assert api.stop() == 0
    for i in range(2):
        directory.put(f"ring-{i}", "ring-g2.wasm", ring.env(i))
    directory.write()
    run = Run(data_dir + "-run", directory.path, kubeconfig)
    wait_for(lambda: len(run.guests()) == 2 and all(g["activations"] for g in run.guests().values()), "they ran in vain")
    api = ring.server = Server(data_dir, listen=f"127.0.0.1:{port}")
    ring.round(120)
    assert run.stop() == 0
    assert api.stop() == 0


def test_names_cannot_talk_to_the_terminal(dormouse_api, directory, data_dir):
    directory.write('name: "a\\e[2J\\nb"\nwasm: none.wasm\n')
    run = Run(data_dir + "-run", directory.path, dormouse_api.kubeconfig)
    for form in ("name", "wide"):
        text = dormouse("guests", "--data-dir", str(run.data_dir), "-o", form).stdout
        assert "a?[2J?b" in text and "\x1b" not in text, text
    assert "\x1b" not in run.text_of_log()
    assert run.stop() == 0


def test_a_directory_that_an_operator_host_used_serves_a_cluster_later(dormouse_api, directory, data_dir):
    _, run = start_ring(dormouse_api, directory, data_dir)
    assert run.stop() == 0
    up = Up(str(run.data_dir))
    assert up.status()["operators"] == 0
    assert up.stop() == 0


def test_what_is_missing_is_named(dormouse_api, directory, data_dir):
    run = ("operator", "run", str(directory.path), "--data-dir", data_dir + "-run")
    done = dormouse(*run, "--kubeconfig", dormouse_api.kubeconfig)
    assert done.returncode == 1 and "wasm_config.yaml" in done.stderr, done.stderr
    directory.write("")
    done = dormouse(*run, "--kubeconfig", "/nonexistent/config")
    assert done.returncode == 1 and "/nonexistent/config" in done.stderr, done.stderr
    done = dormouse(*run, "--kubeconfig", dormouse_api.kubeconfig, "--context", "elsewhere")
    assert done.returncode == 1 and "'elsewhere'" in done.stderr, done.stderr
    done = dormouse("operator", "run", "--watch", "--kubeconfig", dormouse_api.kubeconfig)
    assert done.returncode == 2 and "needs a project" in done.stderr, done.stderr
    done = dormouse(*run, "--namespace", "operators")
    assert done.returncode == 2 and "not for the operators of a directory" in done.stderr, done.stderr
