# SPDX-License-Identifier: Apache-2.0
"""The command line as a whole: help, mistakes, and where commands find their server."""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile

import pytest

from conftest import BUILD, DEADLINE_S, Server, wait_for
from functions_kit import FunctionServer
from workloads_kit import Workloads

DORMOUSE = str(BUILD / "dormouse")


def dormouse(*words, **env):
    environment = {k: v for k, v in os.environ.items() if k not in ("KUBECONFIG", "DORMOUSE_GATEWAY", "DORMOUSE_DATA_DIR")}
    return subprocess.run([DORMOUSE, *map(str, words)], capture_output=True, text=True, timeout=DEADLINE_S,
                          env={**environment, **{k: str(v) for k, v in env.items()}})


@pytest.fixture(scope="module")
def up(tmp_path_factory):
    server = FunctionServer(tmp_path_factory.mktemp("cli") / "data")
    server.deploy("hello", {"fake": {}})
    yield server
    assert server.stop() == 0


def test_who_ignores_its_children_does_not_make_us_lose_ours(tmp_path):
    """A signal that is ignored stays so over exec(), and SIGCHLD ignored means that no child can be waited for."""
    key = tmp_path / "key"
    key.write_text("the key of a cluster of tests, long enough\n")
    process = subprocess.Popen([DORMOUSE, "image", "serve", "--listen", "127.0.0.1:0", "--node", "n", "--cluster-key-file", key],
                               stdout=subprocess.PIPE, text=True,
                               env={**os.environ, "DORMOUSE_IMAGE_STORE": str(tmp_path / "store")},
                               preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    try:
        assert process.stdout.readline().startswith("ready ")
        with open(f"/proc/{process.pid}/status") as f:
            ignored = next(int(line.split()[1], 16) for line in f if line.startswith("SigIgn:"))
        assert not ignored >> (signal.SIGCHLD - 1) & 1
    finally:
        process.kill()
        process.wait(DEADLINE_S)
        process.stdout.close()


@pytest.mark.parametrize("words, meant", [
    (["fn", "depoly"], "fn deploy"), (["oprator", "run"], "operator"), (["operator", "tset"], "operator test"),
    (["schduler"], "scheduler"), (["scheduler", "explian", "x"], "scheduler explain"), (["tpo"], "top"), (["vers"], None),
    (["fn", "frobnicate"], None), (["up", "--datadir", "x"], "--data-dir"), (["up", "--lisetn=x"], "--listen"), (["up", "--xyzzy"], None),
])
def test_a_wrong_word_says_what_was_probably_meant(words, meant):
    done = dormouse(*words)
    assert done.returncode == 2 and done.stdout == "" and len(done.stderr.splitlines()) == 1, done
    wrong = " ".join(words[:2]) if words[0] in ("fn", "operator", "scheduler") else words[1] if words[0] == "up" else words[0]
    assert done.stderr.startswith(f"error: unknown {'option' if words[0] == 'up' else 'command'} '{wrong}'; ") and "--help" in done.stderr
    assert f"did you mean '{meant}'?" in done.stderr if meant else "did you mean" not in done.stderr


@pytest.mark.parametrize("words, usage", [
    (["help", "fn", "deploy"], "dormouse fn deploy "), (["help", "fn"], "dormouse fn COMMAND"), (["fn", "--help"], "dormouse fn COMMAND"),
    (["help", "scheduler"], "dormouse scheduler "), (["help"], "dormouse COMMAND"), (["-h"], "dormouse COMMAND"), (["help", "up"], "dormouse up "),
])
def test_help_is_found_by_every_way(words, usage):
    done = dormouse(*words)
    assert done.returncode == 0 and done.stderr == "" and f"Usage: {usage}" in done.stdout, done


def test_a_group_alone_says_that_a_command_is_missing():
    done = dormouse("fn")
    assert done.returncode == 2 and done.stdout == "" and "followed by one of its commands" in done.stderr and "fn deploy" in done.stderr


def test_long_help_has_groups_and_says_what_units_there_are():
    text = dormouse("up", "--help").stdout
    assert len(re.findall(r"^[A-Z][^\n]*:$", text, re.M)) >= 5
    assert re.search(r"^TIME is .*500ms", text, re.M) and re.search(r"^SIZE is .*64Mi", text, re.M)
    assert "$DORMOUSE_DATA_DIR" in text and "/var/lib/dormouse" in text
    assert max(len(line) for line in text.splitlines()) <= 130
    assert "TIME is" not in dormouse("version", "--help").stdout


def test_every_command_has_help_of_one_form():
    commands = re.findall(r"^  ([a-z]+(?: [a-z]+)?) {2,}", dormouse("--help").stdout, re.M)
    assert len(commands) > 50 and {"image gc", "fn deploy", "up"} <= set(commands)
    for command in commands:
        done = dormouse(*command.split(), "--help")
        assert done.returncode == 0 and f"Usage: dormouse {command}" in done.stdout, done
        assert "::" not in done.stdout, done.stdout


@pytest.mark.parametrize("words, says", [
    (["--idle", "5"], "500ms"), (["--swap-quota", "1G"], "64Mi"), (["--fn-simulate", "99999"], "a number from 0 to 10000"),
])
def test_a_wrong_value_is_answered_by_what_it_takes(words, says):
    done = dormouse("up", *words)
    assert done.returncode == 2 and f"{words[0]} does not take '{words[1]}'" in done.stderr and says in done.stderr


@pytest.mark.parametrize("words", [["version"], ["--help"], ["manifest", "operator", "--image", "a/b:1"],
                                   ["image", "replay", "--nodes", "2"]])
def test_lost_output_is_a_failure(words):
    with open("/dev/full", "w") as full:
        done = subprocess.run([BUILD / "dormouse", *words], stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (1, "error: standard output cannot be written\n")


def test_a_reader_that_leaves_a_pipe_is_no_failure():
    done = subprocess.run(f"{BUILD}/dormouse --help | true; echo ${{PIPESTATUS[0]}}", shell=True, capture_output=True, text=True,
                          executable="/bin/bash")
    assert done.stdout.strip() in ("0", "141") and done.stderr == "", done


@pytest.mark.parametrize("command", ["up", "api", "operator run", "scheduler", "fn worker", "image serve", "nodes simulate"])
def test_a_wrong_level_of_the_log_is_wrong_usage(command):
    done = subprocess.run([BUILD / "dormouse", *command.split(), "--log-level", "loud"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, "error: --log-level is error, warn, info or debug, not 'loud'\n"), done


def test_version_is_told_to_people_and_programs():
    for words in (["version"], ["--version"], ["-v"]):
        assert re.match(r"dormouse \d+\.\d+\.\d+(-dev\.\d+)?(\+[\w.]+)? \(commit ", dormouse(*words).stdout)
    reported = json.loads(dormouse("version", "-o", "json").stdout)
    assert set(reported) == {"version", "commit", "date"}
    for program in ("dormouse-compile", "dormouse-lab", "dormouse-runner"):
        done = subprocess.run([BUILD / program, "--version"], capture_output=True, text=True, timeout=DEADLINE_S)
        assert done.returncode == 0 and done.stdout == f"{program} {reported['version']}\n", done
    assert re.fullmatch(r"[0-9a-f]{12}|unknown", reported["commit"].removesuffix("+"))


LAB_COMMANDS = ["operator test", "scheduler simulate", "nodes simulate", "replay", "image replay"]


@pytest.mark.parametrize("command", LAB_COMMANDS)
def test_a_command_of_the_lab_needs_the_program_beside_dormouse(tmp_path, command):
    """dormouse names the program that is missing, and takes another one from the environment."""
    alone = tmp_path / "dormouse"
    os.symlink(DORMOUSE, tmp_path / "link")  # the program is found beside the file, not beside a link to it
    shutil.copy(DORMOUSE, alone)
    done = subprocess.run([alone, *command.split(), "--help"], capture_output=True, text=True, timeout=DEADLINE_S)
    assert done.returncode == 1 and done.stdout == "", done
    assert done.stderr == (f"error: 'dormouse {command}' needs the program dormouse-lab, which is installed beside dormouse: "
                           f"start '{tmp_path}/dormouse-lab': No such file or directory\n")
    for program, env in ((tmp_path / "link", {}), (alone, {"DORMOUSE_LAB": str(BUILD / "dormouse-lab")})):
        done = subprocess.run([program, *command.split(), "--help"], capture_output=True, text=True, timeout=DEADLINE_S,
                              env={**os.environ, **env})
        assert done.returncode == 0 and f"Usage: dormouse {command} [OPTION...]" in done.stdout, done


@pytest.mark.parametrize("words, status, says", [
    (["replay"], 2, "error: name the directory of a trace"), (["replay", "--policy", "x y", "dir"], 2, "'x y'"),
    (["image", "replay", "/nonexistent"], 1, "/nonexistent"), (["scheduler", "simulate"], 2, "--nodes FILE"),
    (["nodes", "simulate", "--nodes", "0"], 2, "--nodes does not take '0'"), (["operator", "test", "/nonexistent"], 1, "there is no directory '/nonexistent'"),
    (["replay", "--polic"], 2, "did you mean '--policy'?"),
])
def test_arguments_and_status_of_the_lab_pass_through(words, status, says):
    done = dormouse(*words)
    assert done.returncode == status and done.stdout == "" and done.stderr.startswith("error: ") and says in done.stderr, done


def test_the_lab_lists_its_commands():
    def lab(*words):
        return subprocess.run([BUILD / "dormouse-lab", *words], capture_output=True, text=True, timeout=DEADLINE_S)
    row = rf"^  (?:{'|'.join(LAB_COMMANDS)}) .*$"
    rows = re.findall(row, dormouse("--help").stdout, re.M)
    assert len(rows) == len(LAB_COMMANDS)
    assert sorted(rows) == sorted(re.findall(r"^  [a-z].*$", lab("--help").stdout, re.M))
    assert lab().returncode == 2 and "Usage: dormouse-lab COMMAND" in lab().stderr
    assert lab("reply").stderr == "error: unknown command 'reply'; did you mean 'replay'? 'dormouse-lab --help' lists them\n"
    assert "Usage: dormouse-lab image COMMAND" in lab("image", "--help").stdout
    assert "Usage: dormouse replay " in lab("help", "replay").stdout


def test_commands_find_their_server_by_the_environment(up):
    directory, config = {"DORMOUSE_DATA_DIR": up.data_dir}, {"KUBECONFIG": up.kubeconfig}
    for env in directory, config:
        assert dormouse("guests", "-o", "json", **env).returncode == 0
        assert "hello" in dormouse("fn", "list", **env).stdout
        called = dormouse("fn", "call", "hello", "-d", "x", **env)
        assert (called.returncode, called.stdout) == (0, "x"), called.stderr
        missing = dormouse("fn", "call", "nobody", **env)
        assert missing.returncode == 1 and ("not found" in missing.stderr or "UnknownFunction" in missing.stderr)
    elsewhere = dormouse("guests", DORMOUSE_DATA_DIR="/nonexistent", **config)
    assert elsewhere.returncode == 3 and "is it running?" in elsewhere.stderr and "admin.sock" not in elsewhere.stderr


def test_a_function_is_called_where_its_status_says(up, tmp_path):
    """A kubeconfig that does not lie in a data directory: only the cluster knows the gateway."""
    copy = tmp_path / "config"
    copy.write_text(open(up.kubeconfig).read())
    wait_for(lambda: up.get("/apis/dormouse.dev/v1alpha1/namespaces/default/functions/hello").json().get("status", {}).get("url"), "the URL")
    called = dormouse("fn", "call", "hello", "-d", "y", KUBECONFIG=copy, XDG_STATE_HOME=tmp_path)
    assert (called.returncode, called.stdout) == (0, "y"), called.stderr
    missing = dormouse("fn", "call", "nobody", KUBECONFIG=copy)
    assert missing.returncode == 1 and "not found" in missing.stderr


def test_a_module_goes_to_the_server_of_the_kubeconfig_only(up, tmp_path):
    """A data directory of another server is not where the cluster looks for modules."""
    other = FunctionServer(tmp_path / "other")
    try:
        done = dormouse("fn", "deploy", BUILD / "guests/fn-hello-c.wasm", "--name", "there", KUBECONFIG=up.kubeconfig,
                        DORMOUSE_DATA_DIR=other.data_dir)
        assert done.returncode == 0, done.stderr
        assert not list((other.data_dir / "functions").iterdir())
    finally:
        assert other.stop() == 0


def test_a_directory_in_use_names_the_process_and_the_way_out(up, tmp_path):
    (tmp_path / "wasm_config.yaml").write_text("")
    for words in (["operator", "run", tmp_path, "--kubeconfig", up.kubeconfig], ["scheduler", "--kubeconfig", up.kubeconfig], ["api"]):
        done = dormouse(*words, "--data-dir", up.data_dir)
        assert done.returncode == 1 and f"in use by process {up.process.pid} " in done.stderr and "--data-dir" in done.stderr, done
    missing = dormouse("operator", "run", tmp_path / "nowhere", "--kubeconfig", up.kubeconfig, "--data-dir", up.data_dir)
    assert "nowhere" in missing.stderr and "in use" not in missing.stderr


def test_a_port_that_is_taken_names_the_option_that_says_another(up, tmp_path):
    taken = up.url.removeprefix("https://")
    any_port = ["--listen", "127.0.0.1:0"]
    for option, words in [
            ("--listen", ["api", "--listen", taken]), ("--listen", ["up", "--listen", taken]),
            ("--gateway", ["up", *any_port, "--gateway", taken]), ("--fn-listen", ["up", *any_port, "--fn-listen", taken]),
            ("--fn-worker-listen", ["up", *any_port, "--fn-worker-listen", taken]),
            ("--listen", ["fn", "controlplane", "--kubeconfig", up.kubeconfig, "--listen", taken]),
            ("--listen", ["fn", "gateway", "-c", taken, "--listen", taken]),
            ("--listen", ["fn", "worker", "-c", taken, "--listen", taken]),
            ("--health-listen", ["fn", "worker", "-c", taken, "--health-listen", taken]),
            ("--health-listen", ["scheduler", "--kubeconfig", up.kubeconfig, "--health-listen", taken]),
            ("--health-listen", ["operator", "run", "--kubeconfig", up.kubeconfig, "--health-listen", taken])]:
        done = dormouse(*words, "--data-dir", tmp_path / "d")
        assert done.returncode == 1 and f"port is taken ({option} HOST:PORT" in done.stderr.splitlines()[-1], done


def test_version_names_the_commit(up):
    commit = json.loads(dormouse("version", "-o", "json").stdout)["commit"]
    reported = up.get("/version").json()
    if commit != "unknown":
        assert reported["gitCommit"] == commit.removesuffix("+") and reported["buildDate"].startswith("20")
        assert reported["gitTreeState"] == ("dirty" if commit.endswith("+") else "clean")


def test_a_kubeconfig_for_programs(up, tmp_path):
    words = ["kubeconfig", "--user", "jane", "--data-dir", up.data_dir, "-o"]
    reported = json.loads(dormouse(*words, "json").stdout)
    assert reported["clusters"][0]["cluster"]["server"] == up.url and reported["users"][0]["name"] == "jane"
    assert dormouse(*words, "yaml").stdout.startswith("apiVersion: v1\n")
    (tmp_path / "jane.json").write_text(json.dumps(reported))
    assert "jane" in dormouse("fn", "list", "--kubeconfig", tmp_path / "jane.json").stderr  # has no rights
    done = dormouse(*words, tmp_path / "nowhere" / "file")
    assert done.returncode == 1 and "nowhere/file" in done.stderr


DEPLOYMENT = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"generateName": "web-"},
              "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "a", "image": "a"}]}}}}


def test_a_workload_that_nothing_runs_is_warned_of_once(tmp_path):
    up = Workloads(tmp_path / "data", "--no-workloads")
    path = "/apis/apps/v1/namespaces/default/deployments"
    warning = '299 - "this cluster has no controller for deployments: the Deployment is stored, and no Pods are made for it"'
    for _ in range(2):  # two clients
        connection = up.connect()
        assert up.ask("POST", path, DEPLOYMENT, connection).headers["Warning"] == warning
        assert up.ask("POST", path, DEPLOYMENT, connection).headers["Warning"] is None
        connection.close()
    assert up.text_of_log().count("no controller here runs objects of a kind") == 1
    follower = up.watch("/apis/apps/v1/deployments?watch=1")  # as a controller does
    assert up.ask("POST", path, DEPLOYMENT).headers["Warning"] is None
    follower.close()
    assert up.ask("POST", "/api/v1/namespaces/default/configmaps", {"metadata": {"generateName": "a-"}}).headers["Warning"] is None
    assert up.stop() == 0


def test_explain_of_a_pod_that_does_not_exist_says_so(up):
    done = dormouse("scheduler", "explain", "web-0", "--data-dir", up.data_dir)
    assert done.returncode == 1 and 'pods "web-0" not found' in done.stderr, done


def test_a_refused_operator_is_described(up):
    up.create("/apis/dormouse.dev/v1alpha1/namespaces/default/operators",
              {"apiVersion": "dormouse.dev/v1alpha1", "kind": "Operator", "metadata": {"name": "nofile"}, "spec": {"module": {"file": "no.wasm"}}})
    done = wait_for(lambda: (lambda d: d.returncode == 0 and d)(dormouse("operator", "describe", "nofile", "--data-dir", up.data_dir)), "it is known")
    assert "Refused" in done.stdout and "no.wasm" in done.stdout


def test_a_start_and_a_clean_stop_warn_of_nothing(tmp_path):
    server = FunctionServer(tmp_path / "data")
    assert server.stop() == 0
    lines = server.text_of_log().splitlines()
    assert lines and not [line for line in lines if line.split()[1] in ("warn", "error")], lines
    assert not [line for line in lines if "has lost" in line or "identity=_" in line], lines


def test_a_data_directory_may_have_a_long_path(tmp_path):
    """Longer than the address of a Unix socket: the server starts, and commands reach it."""
    data = tmp_path / ("d" * 100) / ("e" * 100)
    data.mkdir(parents=True)
    server = Server(data / "data")
    out = subprocess.run([BUILD / "dormouse", "guests", "--data-dir", data / "data"], capture_output=True, text=True)
    assert out.returncode == 0, out.stderr
    assert (data / "data/admin.sock").exists()
    assert server.stop() == 0
    assert not (data / "data/admin.sock").exists()


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="needs root, and setpriv")
def test_root_of_a_user_namespace_has_a_data_directory_of_its_own():
    words = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "unshare", "-Ur"]
    with tempfile.TemporaryDirectory() as home:
        os.chmod(home, 0o777)
        env = {"PATH": os.environ["PATH"], "HOME": home}
        if subprocess.run([*words, DORMOUSE, "version"], capture_output=True, env=env).returncode:
            pytest.skip("no user namespaces for others here, or they cannot reach the program")
        done = subprocess.run([*words, DORMOUSE, "image", "ls"], capture_output=True, text=True, timeout=DEADLINE_S, env=env)
    assert "/var/lib/dormouse" not in done.stderr, done.stderr
    assert done.returncode == 0 or home in done.stderr, done.stderr


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="needs root, and setpriv")
@pytest.mark.parametrize("words, status, why", [
    (["up", "--listen", "127.0.0.1:0"], 2, "--data-dir"),
    (["image", "ls"], 2, "$DORMOUSE_DATA_DIR"),
    (["guests"], 2, "--data-dir"),
    (["fn", "list", "--kubeconfig", "/nonexistent"], 3, "/nonexistent"),  # needs no data directory
])
def test_without_a_home_there_is_no_default_data_directory(words, status, why):
    """Never one below /tmp, where another user could have made it."""
    other = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
    env = {"PATH": os.environ["PATH"]}
    if subprocess.run([*other, DORMOUSE, "version"], capture_output=True, env=env).returncode:
        pytest.skip("other users cannot reach the program")
    done = subprocess.run([*other, DORMOUSE, *words], capture_output=True, text=True, timeout=DEADLINE_S, env=env)
    assert (done.returncode, len(done.stderr.splitlines())) == (status, 1), done.stderr
    assert done.stderr.startswith("error: ") and why in done.stderr


@pytest.mark.parametrize("words", [["scheduler", "--leader-elect=false"], ["nodes", "simulate", "--nodes", "2"]])
def test_a_cluster_that_does_not_answer_is_named_once(words, tmp_path):
    """However many watches wait for it, and however often they try."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        config = {"clusters": [{"name": "a", "cluster": {"server": f"http://127.0.0.1:{port}"}}],
                  "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}], "current-context": "a",
                  "users": [{"name": "a", "user": {"token": "x"}}]}
        (tmp_path / "config").write_text(json.dumps(config))
        process = subprocess.Popen([DORMOUSE, *words, "--kubeconfig", tmp_path / "config", "--data-dir", tmp_path / "data"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        listener.settimeout(DEADLINE_S)
        for _ in range(5 * (16 if words[0] == "scheduler" else 2)):  # each watch several times
            listener.accept()[0].close()
        process.terminate()
        said = [line for line in process.communicate(timeout=DEADLINE_S)[1].splitlines() if " warn " in line or " error " in line]
    assert len(said) == 1 and f"cluster does not answer, retrying server=127.0.0.1:{port} reason=" in said[0], said
