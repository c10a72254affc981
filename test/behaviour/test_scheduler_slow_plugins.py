# SPDX-License-Identifier: Apache-2.0
"""Plugins that never return, in a `dormouse scheduler` with other profiles, which go on meanwhile."""
import shutil
import subprocess
import time

import pytest

from conftest import wait_for
from test_scheduler_process import add_node, add_pod, api, condition, node_of, path, scheduler  # noqa: F401

WAT2WASM = shutil.which("wat2wasm")
pytestmark = pytest.mark.skipif(not WAT2WASM, reason="no wat2wasm (package wabt)")

GUEST = """(module
  (import "k8s.io/klog" "log" (func $log (param i32 i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 16) "it loops")
  (func (export "filter") (result i32)
    (call $log (i32.const 0) (i32.const 16) (i32.const 8))
    (loop $again (br $again))
    (i32.const 0)))
"""
# Permit lets pods wait for a minute; giving their places back never ends.
KEEPER = """(module
  (import "k8s.io/klog" "log" (func $log (param i32 i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 16) "it waits")
  (func (export "reserve") (result i32) (i32.const 0))
  (func (export "permit") (result i64)
    (call $log (i32.const 0) (i32.const 16) (i32.const 8))
    (i64.const 0x40000ea60))
  (func (export "unreserve") (loop $again (br $again))))
"""
CONFIG = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
"""
PROFILE = """\
- schedulerName: {name}
  plugins: {{multiPoint: {{enabled: [{{name: {name}}}]}}}}
  pluginConfig: [{{name: {name}, args: {{guestURL: "file://{wasm}"}}}}]
"""
LOOPS, RESTS = 'plugin={} line="it loops"', "a scheduler plugin takes too long, it rests"


def write_config(tmp_path, guest, *names):
    (tmp_path / "g.wat").write_text(guest)
    subprocess.run([WAT2WASM, tmp_path / "g.wat", "-o", tmp_path / "g.wasm"], check=True)
    file = tmp_path / "c.yaml"
    file.write_text(CONFIG + "".join(PROFILE.format(name=name, wasm=tmp_path / "g.wasm") for name in names))
    return file


@pytest.fixture
def config(tmp_path):
    return write_config(tmp_path, GUEST, "one", "two")


def goes_on_meanwhile(api, path, config, i):
    """Two profiles loop, a third places pods. None: their calls were over before anything could be seen of that."""
    with scheduler(api, f"{path}{i}", "--config", config, "--leader-elect=false") as s:
        for name in ("one", "two"):
            add_pod(api, f"{name}-{i}", schedulerName=name)
        for name in ("one", "two"):
            s.says(LOOPS.format(name))
        for k in range(3):
            add_pod(api, f"free-{i}-{k}", cpu="100m")
            wait_for(lambda k=k: node_of(api, f"free-{i}-{k}"), "a pod of another profile has a node")
        if RESTS in s.text_of_log():
            return None
        done = s.explain(f"free-{i}-0")
        assert done.returncode == 0, done.stderr
        return True  # it ends while they loop


def test_profiles_go_on_while_the_plugins_of_two_others_loop(api, path, config):
    add_node(api, "a")
    assert any(goes_on_meanwhile(api, path, config, i) for i in range(3))


def test_pods_of_plugins_that_loop_are_told_so(api, path, config):
    add_node(api, "a")
    with scheduler(api, path, "--config", config, "--leader-elect=false") as s:
        for name in ("one", "two"):
            add_pod(api, name, schedulerName=name)
        for name in ("one", "two"):
            wait_for(lambda name=name: "took longer than 5000 ms" in condition(api, name).get("message", ""), "the pod's condition", timeout=120)
            s.says(f"{RESTS} plugin={name}")
            assert node_of(api, name) is None
        add_node(api, "b")
        add_pod(api, "free", nodeSelector={"kubernetes.io/hostname": "b"})
        wait_for(lambda: node_of(api, "free") == "b", "what comes afterwards is seen")


def test_its_end_does_not_wait_for_unreserve_of_a_plugin_that_loops(api, path, tmp_path):
    pods = [f"kept-{i}" for i in range(4)]
    add_node(api, "a", cpu="100")
    config = write_config(tmp_path, KEEPER, "keeper")
    with scheduler(api, path, "--config", config, "--leader-elect=false") as s:
        for name in pods:
            add_pod(api, name, schedulerName="keeper")
        wait_for(lambda: s.text_of_log().count('line="it waits"') == len(pods), "all of them wait in Permit")
        began = time.monotonic()
        assert s.stop() == 0
        assert time.monotonic() - began < 5 * len(pods) / 2, "each pod took its time"
    assert "failed unreserve" not in s.text_of_log()
