# SPDX-License-Identifier: Apache-2.0
"""dormouse operator test: tests of operators against a cluster and a clock of their own."""
import json
import os
import shutil
import subprocess

import pytest

from conftest import BUILD, ROOT
from test_operator_project import build, dormouse

MAP = "apiVersion: v1, kind: ConfigMap"


@pytest.fixture(autouse=True, scope="module")
def data_dir_of_the_user(tmp_path_factory):
    """Compiled modules are kept in it, for all commands."""
    before = os.environ.get("DORMOUSE_DATA_DIR")
    os.environ["DORMOUSE_DATA_DIR"] = str(tmp_path_factory.mktemp("user"))
    yield
    if before is None:
        del os.environ["DORMOUSE_DATA_DIR"]
    else:
        os.environ["DORMOUSE_DATA_DIR"] = before


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    where = tmp_path_factory.mktemp("project")
    assert dormouse("init", "--lang", "c", "hello", cwd=where).returncode == 0
    build(where / "hello")  # or skips
    return where / "hello"


def run(project, *args):
    return subprocess.run([BUILD / "dormouse", "operator", "test", project, *args], capture_output=True, text=True, timeout=200)


def check(project, text, *args):
    """The outcome of one test, without building again."""
    file = project / "one.yaml"
    file.write_text(text)
    return run(project, file, "--no-build", *args)


@pytest.mark.parametrize("language", ["c", "rust", "go"])
def test_a_new_project_passes_its_own_tests(language, tmp_path):
    assert dormouse("init", "--lang", language, "my-op", cwd=tmp_path).returncode == 0
    build(tmp_path / "my-op")
    done = run(tmp_path / "my-op")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("ok   ") and done.stdout.endswith("\n1 passed, 0 failed\n")


def test_a_failure_names_step_line_and_difference(project):
    done = check(project, f"steps:\n- apply: {{{MAP}, metadata: {{name: a, labels: {{hello: please}}}}}}\n"
                 f"- expect: {{{MAP}, metadata: {{name: a}}, data: {{greeting: nothing}}}}\n")
    assert done.returncode == 1
    assert 'step 2 (expect, line 3): .data.greeting is "Hello, a!", expected "nothing"' in done.stdout
    assert done.stdout.endswith("0 passed, 1 failed\n")
    for text, why in [("steps:\n- expect: [{kind: X}]\n", "it needs apiVersion and kind"),
                      ("steps:\n- jump: 3\n", "there is no step 'jump'"),
                      ("steps:\n- {apply: 1, delete: 2}\n", "a step is one of"),
                      ("steps:\n- advance: soon\n", "'soon' is no time"),
                      (f"steps:\n- expect: {{{MAP}, metadata: {{name: nobody}}}}\n", "ConfigMap 'nobody' is not there"),
                      (f"steps:\n- absent: {{{MAP}, metadata: {{name: kube-root-ca.crt}}}}\n", "ConfigMap 'kube-root-ca.crt' is there"),
                      ("steps:\n- apply: {apiVersion: no.such/v1, kind: Thing, metadata: {name: a}}\n", "no kind 'Thing' in 'no.such/v1'"),
                      ("steps:\n- event: {reason: Never}\n", "there is no such event"),
                      ("steps:\n- writes: 1\n", "has written 0 times, expected 1"),
                      ("stpes: []\n", "'stpes' is none of name, objects, steps"),
                      ("steps: [\n", "line")]:
        done = check(project, text)
        assert done.returncode == 1 and why in done.stdout, (text, done.stdout)


def test_a_module_is_compiled_once_for_all_tests(project, tmp_path, monkeypatch):
    monkeypatch.setenv("DORMOUSE_DATA_DIR", str(tmp_path))
    text = (f"steps:\n- apply: {{{MAP}, metadata: {{name: a, labels: {{hello: please}}}}}}\n"
            f"- expect: {{{MAP}, metadata: {{name: a}}, data: {{greeting: \"Hello, a!\"}}}}\n")

    def compiled():
        assert check(project, text).returncode == 0
        return {path.name: path.stat().st_ino for path in (tmp_path / "modules").glob("*.code")}
    first = compiled()
    assert len(first) == 1
    assert compiled() == first
    # What others can write to is not executed.
    os.chmod(tmp_path / "modules", 0o777)
    (tmp_path / "modules" / next(iter(first))).unlink()
    assert compiled() == {}


def test_a_namespace_may_be_any(project):
    apply = ("- apply: {apiVersion: v1, kind: Namespace, metadata: {name: shop}}\n"
             "- apply: {apiVersion: events.k8s.io/v1, kind: Event, metadata: {name: e, namespace: shop}, eventTime: \"2026-01-02T03:04:05.000000Z\", "
             "reason: Sold, action: Sell, type: Normal, reportingController: till, reportingInstance: till-1, regarding: {apiVersion: v1, kind: ConfigMap, name: a, namespace: shop}}\n"
             f"- apply: {{{MAP}, metadata: {{name: a, namespace: shop}}, data: {{x: only}}}}\n")
    found = check(project, "steps:\n" + apply + "- event: {namespace: \"*\", reason: Sold}\n- event: {namespace: shop, reason: Sold}\n"
                  f"- expect: {{{MAP}, metadata: {{namespace: \"*\"}}, data: {{x: only}}}}\n")
    assert found.returncode == 0, found.stdout + found.stderr
    for step in ("- event: {reason: Sold}\n", "- event: {namespace: \"*\", reason: Bought}\n"):
        assert "there is no such event" in check(project, "steps:\n" + apply + step).stdout


def test_time_passes_as_fast_as_wanted_and_faults_are_survived(project):
    done = check(project, f"""
steps:
- fail: {{method: PATCH, path: /api/v1/namespaces/default/configmaps/a, status: 500, times: 3}}
- apply: {{{MAP}, metadata: {{name: a, labels: {{hello: please}}}}}}
- advance: 1s
- writes: 0
- expect: {{{MAP}, metadata: {{name: a}}, data: {{greeting: "Hello, a!"}}}}
- sleep: true
- advance: 30d
- writes: 0
- apply: {{{MAP}, metadata: {{name: b, labels: {{hello: please}}}}}}
- expect: {{{MAP}, metadata: {{name: b}}, data: {{greeting: "*"}}}}
- delete: {{{MAP}, name: b}}
- absent: {{{MAP}, metadata: {{name: b}}}}
""")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "hangs" not in done.stderr


def test_a_missing_right_fails(project, tmp_path):
    copy = tmp_path / "bare"
    shutil.copytree(project, copy)
    text = (copy / "rbac.yaml").read_text()
    assert "verbs: [get, list, watch, patch]" in text
    (copy / "rbac.yaml").write_text(text.replace("verbs: [get, list, watch, patch]", "verbs: [get, list, watch]"))
    done = check(copy, f"steps:\n- apply: {{{MAP}, metadata: {{name: a, labels: {{hello: please}}}}}}\n"
                 f"- expect: {{{MAP}, metadata: {{name: a}}, data: {{greeting: '*'}}}}\n")
    assert done.returncode == 1 and ".data is not there" in done.stdout
    complaint = next(line for line in done.stdout.splitlines() if "complained last" in line)
    assert "forbidden" in complaint and '"level"' not in complaint, complaint


def test_what_is_recorded_is_compared(project):
    greet = f"steps:\n- apply: {{{MAP}, metadata: {{name: a, labels: {{hello: please}}}}}}\n"
    assert check(project, greet, "--update").returncode == 0
    recorded = project / "one.yaml.recorded"
    write = json.loads(recorded.read_text())
    assert write["method"] == "PATCH" and write["body"] == {"data": {"greeting": "Hello, a!"}} and write["status"] == 200
    assert check(project, greet).returncode == 0
    recorded.write_text(recorded.read_text().replace("Hello", "Goodbye"))
    done = check(project, greet)
    assert done.returncode == 1 and "number 1 is" in done.stdout and "Goodbye" in done.stdout
    os.remove(recorded)


def test_what_is_missing_is_named(project, tmp_path):
    done = run(tmp_path / "nowhere")
    assert done.returncode == 1 and "there is no directory" in done.stderr
    done = run(tmp_path)
    assert done.returncode == 1 and "has no Cargo.toml, go.mod or *.c" in done.stderr
    done = run(ROOT / "docs", "--no-build")
    assert done.returncode == 1 and "docs/tests'" in done.stderr
