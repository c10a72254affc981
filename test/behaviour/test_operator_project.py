# SPDX-License-Identifier: Apache-2.0
"""`dormouse operator init` and `build`, from an empty directory, in every language."""
import os
import subprocess

import pytest
import yaml

from conftest import BUILD, ROOT, Server, wait_for

LANGUAGES = [lang for lang in ("c", "rust", "go") if (ROOT / "sdk" / lang / "template").is_dir()]


def dormouse(*args, cwd, **env):
    return subprocess.run([str(BUILD / "dormouse"), "operator", *args], cwd=cwd, capture_output=True, text=True,
                          env={**os.environ, **env}, timeout=300)


def build(project, **env):
    """Skips, loudly, where a language's tools are missing."""
    done = dormouse("build", str(project), cwd=project, **env)
    if done.returncode and "a tool is missing" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    return project / "operator.wasm"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    cluster = Server(tmp_path_factory.mktemp("cluster") / "data")
    yield cluster
    assert cluster.stop() == 0


def greets(cluster, project):
    """`operator run` of the project, against a cluster, says hello as its README promises."""
    sample = yaml.safe_load((project / "sample.yaml").read_text())
    path = "/api/v1/namespaces/default/configmaps"
    cluster.create(path, sample)
    running = subprocess.Popen([str(BUILD / "dormouse"), "operator", "run", str(project), "--kubeconfig", cluster.kubeconfig,
                                "--data-dir", str(project / ".host")], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        wait_for(lambda: "data" in cluster.get(f"{path}/world").json(), "a greeting", timeout=120)
        return cluster.get(f"{path}/world").json()["data"]
    finally:
        running.terminate()
        assert running.wait(timeout=60) == 0
        assert cluster.ask("DELETE", f"{path}/world").status == 200


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_project_builds_where_it_was_made_and_elsewhere_and_runs(language, tmp_path, cluster):
    made = dormouse("init", "--lang", language, "my-op", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert os.listdir(tmp_path) == ["my-op"]
    assert not [f for f in (tmp_path / "my-op").rglob("*") if f.is_file() and "sdk" not in f.parts
                and "@NAME@" in f.read_text()]
    elsewhere = tmp_path / "else" / "where"
    elsewhere.parent.mkdir()
    (tmp_path / "my-op").rename(elsewhere)
    module = build(elsewhere, DORMOUSE_SDK="/nowhere").read_bytes()
    assert module.startswith(b"\0asm")
    assert b"dormouse_v1_activate" in module and b"dormouse_v1_setup" in module
    if language == "c":
        assert len(module) < 40 << 10
    assert not list(elsewhere.glob(".operator*"))
    assert greets(cluster, elsewhere) == {"greeting": "Hello, world!"}


def test_a_failed_build_leaves_the_last_module(tmp_path):
    assert dormouse("init", "--lang", "c", "my-op", cwd=tmp_path).returncode == 0
    project = tmp_path / "my-op"
    before = build(project).read_bytes()
    (project / "operator.c").write_text("this is not C\n")
    failed = dormouse("build", cwd=project)
    assert failed.returncode == 1
    assert "operator.c:1" in failed.stderr and "failed, see above" in failed.stderr
    assert (project / "operator.wasm").read_bytes() == before


def test_a_missing_tool_is_named_with_what_to_install(tmp_path):
    assert dormouse("init", "--lang", "c", "c", cwd=tmp_path).returncode == 0
    done = dormouse("build", "c", cwd=tmp_path, DM_CLANG="no-such-clang")
    assert done.returncode == 1
    assert "no 'no-such-clang' in PATH" in done.stderr and "install: clang lld wasi-libc" in done.stderr
    assert dormouse("init", "--lang", "rust", "r", cwd=tmp_path).returncode == 0
    assert dormouse("init", "--lang", "go", "g", cwd=tmp_path).returncode == 0
    bare = tmp_path / "bin"
    bare.mkdir()
    for tool in ("sh", "dirname", "realpath"):
        (bare / tool).symlink_to(f"/bin/{tool}")
    done = dormouse("build", "r", cwd=tmp_path, PATH=str(bare))
    assert done.returncode == 1
    assert "no 'cargo' in PATH" in done.stderr and "https://rustup.rs" in done.stderr
    done = dormouse("build", "g", cwd=tmp_path, PATH=str(bare))
    assert done.returncode == 1
    assert "no 'go' in PATH" in done.stderr and "https://go.dev/dl" in done.stderr
    (bare / "go").write_text("#!/bin/sh\necho go1.23.4\n")
    (bare / "go").chmod(0o755)
    done = dormouse("build", "g", cwd=tmp_path, PATH=str(bare))
    assert done.returncode == 1 and "this is go1.23.4" in done.stderr


def test_a_wasm_opt_in_path_is_not_run(tmp_path):
    """clang runs one that it finds when it optimizes while linking; an old one refuses our instructions."""
    (tmp_path / "wasm-opt").write_text(f"#!/bin/sh\ntouch {tmp_path}/was-run\nexit 1\n")
    (tmp_path / "wasm-opt").chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    assert dormouse("init", "--lang", "c", "my-op", cwd=tmp_path).returncode == 0
    assert build(tmp_path / "my-op", PATH=path).stat().st_size > 0
    done = subprocess.run([ROOT / "tools/build-guests", tmp_path / "guests", "cleaner", "fn-hello-c"],
                          capture_output=True, text=True, env={**os.environ, "PATH": path})
    assert done.returncode == 0, done.stderr
    assert sorted(os.listdir(tmp_path / "guests")) == ["cleaner-v1.wasm", "fn-hello-c.wasm"]
    assert not (tmp_path / "was-run").exists()


def test_a_check_of_the_compiler_links_as_a_build_does(tmp_path):
    """A clang that compiles and cannot link is found before a build is tried."""
    (tmp_path / "clang").write_text('#!/bin/sh\ncase " $* " in *" -c "*) exec clang "$@" ;; esac\necho cannot link >&2\nexit 1\n')
    (tmp_path / "clang").chmod(0o755)
    done = subprocess.run([ROOT / "sdk/c/dm-cc", "check"], capture_output=True, text=True,
                          env={**os.environ, "DM_CLANG": str(tmp_path / "clang")})
    assert done.returncode == 1 and "cannot link" in done.stdout


def test_a_warning_is_shown_and_does_not_stop_a_build(tmp_path):
    assert dormouse("init", "--lang", "c", "my-op", cwd=tmp_path).returncode == 0
    with open(tmp_path / "my-op/operator.c", "a") as source:
        source.write("static int spare;\n")
    done = dormouse("build", "my-op", cwd=tmp_path)
    if done.returncode and "a tool is missing" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0 and "unused variable 'spare'" in done.stderr


def test_a_go_test_that_does_not_compile_is_told(tmp_path):
    assert dormouse("init", "--lang", "go", "my-op", cwd=tmp_path).returncode == 0
    build(tmp_path / "my-op")
    with open(tmp_path / "my-op/main_test.go", "a") as source:
        source.write("\nvar _ = noSuchThing\n")
    done = dormouse("build", "my-op", cwd=tmp_path)
    assert done.returncode == 0 and "noSuchThing" in done.stderr and "may not compile" in done.stderr


def test_a_go_project_tests_itself(tmp_path):
    assert dormouse("init", "--lang", "go", "my-op", cwd=tmp_path).returncode == 0
    build(tmp_path / "my-op")
    done = subprocess.run(["go", "test", "./..."], cwd=tmp_path / "my-op", capture_output=True, text=True,
                          env={**os.environ, "GOPROXY": "off"})
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("args, says", [
    (["--lang", "c"], "what is it called"),
    (["--lang", "c", "Op"], "lower case"),
    (["--lang", "c", "../op"], "lower case"),
    (["--lang", "cobol", "op"], "rust or go, not 'cobol'"),
    (["op"], "which language"),
])
def test_wrong_words_are_usage_errors(args, says, tmp_path):
    done = dormouse("init", *args, cwd=tmp_path)
    assert done.returncode == 2 and says in done.stderr
    assert os.listdir(tmp_path) == []


def test_nothing_is_left_of_a_project_that_could_not_be_made(tmp_path):
    (tmp_path / "taken").mkdir()
    done = dormouse("init", "--lang", "c", "taken", cwd=tmp_path)
    assert done.returncode == 1 and "'taken' exists" in done.stderr
    broken = tmp_path / "sdks" / "c"
    broken.mkdir(parents=True)
    (broken / "build").write_text("#!/bin/sh\n")
    (broken / "build").chmod(0o755)
    done = dormouse("init", "--lang", "c", "op", "--sdk", str(tmp_path / "sdks"), cwd=tmp_path)
    assert done.returncode == 1 and "template" in done.stderr
    done = dormouse("init", "--lang", "c", "op", "--sdk", "/nowhere", cwd=tmp_path)
    assert done.returncode == 1 and "no 'c/build' in '/nowhere'" in done.stderr
    assert sorted(os.listdir(tmp_path)) == ["sdks", "taken"]


def test_a_directory_without_a_project_says_so(tmp_path):
    done = dormouse("build", str(tmp_path), cwd=tmp_path)
    assert done.returncode == 1 and "no Cargo.toml, go.mod or *.c" in done.stderr
