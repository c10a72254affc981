# SPDX-License-Identifier: Apache-2.0
"""dormouse image run: what the program of an image sees, how it ends, and that nothing of it stays."""
import gzip
import os
import re
import shutil
import signal
import subprocess
import time

import pytest

from conftest import BUILD, DEADLINE_S
from image_kit import Layout, layer, programs
from registry_kit import fake
from serve_kit import serve

PROGRAMS = ("sh", "cat", "id", "sleep", "touch", "mount", "unshare", "env")
USERS = b"root:x:0:0::/root:/bin/sh\napp:x:1000:1001::/:/bin/sh\n"
GROUPS = b"root:x:0:\napp:x:1001:\nextra:x:77:app\n"
SYSTEM = [("etc", "d", ""), ("etc/passwd", "f", USERS), ("etc/group", "f", GROUPS), ("tmp", "d", "", {"mode": 0o1777})]


@pytest.fixture(scope="module")
def layout(tmp_path_factory):
    directory = tmp_path_factory.mktemp("run") / "layout"
    made, one = Layout(directory), layer(SYSTEM + programs(*PROGRAMS))
    made.image("plain", [one], compress=lambda t: gzip.compress(t, 1), run={"Cmd": ["sh", "-c", "echo plain"], "Env": ["A=image", "B=image"]})
    made.image("app", [one], compress=lambda t: gzip.compress(t, 1),
               run={"Entrypoint": ["sh", "-c"], "Cmd": ["id -u; id -g; id -G; pwd"], "User": "app", "WorkingDir": "/tmp/made"})
    nodes = layer([("kmsg", "k", "", {"devmajor": 1, "devminor": 11, "mode": 0o666}), ("srv/deep/kmsg", "k", "", {"devmajor": 1, "devminor": 11, "mode": 0o666})])
    made.image("nodes", [one, nodes], compress=lambda t: gzip.compress(t, 1))
    with open(BUILD / "test/oci_guest", "rb") as f:
        guest = layer([("guest", "f", f.read(), {"mode": 0o755})])
    made.image("guest", [guest], compress=lambda t: gzip.compress(t, 1), run={"Entrypoint": ["/guest"], "Cmd": ["--try"]})
    owned = layer([("srv/note", "f", b"theirs", {"uid": 1000, "gid": 77, "mode": 0o640})])
    made.image("owned", [one, owned], compress=lambda t: gzip.compress(t, 1))
    made.image("none", [one], compress=lambda t: gzip.compress(t, 1))
    return directory


class Runner:
    def __init__(self, layout, data):
        self.layout, self.data = layout, data

    def words(self, image, *options, args=()):
        return [BUILD / "dormouse", "image", "run", f"oci:{self.layout}:{image}", "--data-dir", self.data, *options, *(["--", *args] if args else [])]

    def __call__(self, image, *options, args=(), **more):
        return subprocess.run(self.words(image, *options, args=args), capture_output=True, text=True, timeout=DEADLINE_S, **more)

    def shell(self, script, *options, **more):
        return self("plain", *options, args=["sh", "-c", script], **more)

    def is_clean(self):
        """No files of containers, no mounts, no leases that would keep layers."""
        leases = list((self.data / "images/leases").iterdir()) if (self.data / "images/leases").exists() else []
        return list((self.data / "runs").iterdir()) == [] and str(self.data) not in open("/proc/mounts").read() and leases == []


@pytest.fixture
def run(run_of_user):
    if os.geteuid() != 0:
        pytest.skip("containers take root")
    return run_of_user


@pytest.fixture
def run_of_user(layout, tmp_path):
    if not shutil.which("crun"):
        pytest.skip("no crun here")
    made = Runner(layout, tmp_path / "data")
    yield made
    if (made.data / "runs").exists():
        assert made.is_clean()


def test_signals_wait_for_the_container_in_all_threads_of_the_command(run):
    made = Layout(run.data / "made")
    made.image("v1", [layer(SYSTEM + programs(*PROGRAMS))], compress=lambda t: gzip.compress(t, 1))
    with fake() as registry:
        registry.add_layout(made, "app", "v1")      # whose name is looked up by threads that stay
        process = subprocess.Popen([BUILD / "dormouse", "image", "run", f"docker://localhost:{registry.host.split(':')[1]}/app:v1", "--data-dir", run.data, "--",
                                    "sh", "-c", "trap 'exit 7' TERM; echo up; while :; do sleep 0.01; done"], stdout=subprocess.PIPE, text=True)
        assert process.stdout.readline() == "up\n"
        for task in os.listdir(f"/proc/{process.pid}/task"):
            with open(f"/proc/{process.pid}/task/{task}/status") as f:
                blocked = next(int(line.split()[1], 16) for line in f if line.startswith("SigBlk"))
            # The one that waits for signals has those unblocked meanwhile.
            assert task == str(process.pid) or blocked & (1 << signal.SIGTERM - 1) and blocked & (1 << signal.SIGINT - 1), task
        process.send_signal(signal.SIGTERM)
        assert process.wait(DEADLINE_S) == 7 and run.is_clean()
        process.stdout.close()


def test_beside_a_server_the_image_is_in_the_store_once(run):
    store = run.data / "images"
    with serve(store, "--upstream", "127.0.0.1:1"):
        names = ["image", "ls", "--store", store, "-o", "name"]
        done = run("plain")
        assert (done.returncode, done.stdout, done.stderr) == (0, "plain\n", "")
        assert len(list((store / "layers").iterdir())) == 1 and run.is_clean()
        subprocess.run([BUILD / "dormouse", "image", "pull", f"oci:{run.layout}:plain", "--name", "app:v1", "--store", store], check=True, capture_output=True)
        assert subprocess.run([BUILD / "dormouse", *names], capture_output=True, text=True).stdout == "app:v1\n"
        # While it runs there is a lease, and what it needs is in the store.
        process = subprocess.Popen([BUILD / "dormouse", "image", "run", "app:v1", "--data-dir", run.data, "--", "sh", "-c", "echo up; cat"],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert process.stdout.readline() == "up\n"
        assert len(list((store / "leases").iterdir())) == 1
        assert not list(run.data.glob("runs/*/state/*.tar")) and not list(run.data.glob("runs/*/state/fs"))
        process.communicate(timeout=DEADLINE_S)
        assert process.returncode == 0 and run.is_clean()


def test_a_platform_that_the_image_is_not_for_is_refused(run):
    done = run("plain", "--platform", "linux/s390x")
    assert done.returncode == 1 and done.stdout == "" and "the image is for linux/amd64, not for linux/s390x" in done.stderr


def test_the_program_of_the_image_runs(run):
    done = run("plain")
    assert (done.returncode, done.stdout, done.stderr) == (0, "plain\n", "")
    done = run("app")
    assert done.stdout.split() == ["1000", "1001", "1001", "77", "/tmp/made"], done.stderr


def test_the_data_directory_may_be_relative(run, tmp_path, monkeypatch):
    monkeypatch.delenv("DORMOUSE_IMAGE_STORE", raising=False)
    words = [BUILD / "dormouse", "image", "run", f"oci:{run.layout}:plain"]
    for more, env in ((["--data-dir", "data"], {}), (["--data-dir", "./data"], {}), ([], {"DORMOUSE_DATA_DIR": "data"})):
        done = subprocess.run([*words, *more], cwd=tmp_path, env={**os.environ, **env}, capture_output=True, text=True, timeout=DEADLINE_S)
        assert (done.returncode, done.stdout, done.stderr) == (0, "plain\n", "")
        assert run.is_clean() and (run.data / "images/layers").is_dir()


def test_standard_files_and_the_exit_status_are_the_programs(run):
    done = run.shell("cat; echo err >&2; exit 42", input="in\n")
    assert (done.returncode, done.stdout, done.stderr) == (42, "in\n", "err\n")
    assert run.shell("kill -KILL $$").returncode == 128 + signal.SIGKILL or run.shell("sh -c 'kill -KILL $$'").returncode == 137


def test_variables_user_directory_and_entrypoint_can_be_others(run):
    done = run.shell("echo $A $B $C $D $PATH; id -u; id -g; pwd", "-e", "A=own", "-e", "C", "-e", "D", "-u", "5:app", "-w", "/etc",
                     env={**os.environ, "C": "handed on"})
    assert done.stdout == "own image handed on /usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n5\n1001\n/etc\n"
    assert run("app", "--entrypoint", "/bin/cat", args=["/etc/group"]).stdout == GROUPS.decode()


def test_what_it_writes_is_gone_and_read_only_means_it(run):
    script = "echo x >/etc/new && cat /etc/new; echo y >/tmp/new && cat /tmp/new; mount | cat; exit 0"
    assert run.shell(script).stdout.split()[:2] == ["x", "y"]
    done = run.shell(script, "--read-only")
    assert done.stdout.split()[0] == "y" and "Read-only" in done.stderr
    assert run.shell("cat /etc/new").returncode == 1


def test_it_has_no_network_no_privileges_and_sees_no_other_process(run):
    done = run.shell("cat /proc/net/dev; echo; cat /proc/self/status; cat /proc/1/cmdline; cat /proc/mounts; unshare -m true; unshare -U true; mount -t tmpfs x /tmp")
    devices = [line.split(":")[0].strip() for line in done.stdout.split("\n\n")[0].splitlines() if ":" in line]
    assert devices == ["lo"]
    assert re.search(r"NoNewPrivs:\s*1", done.stdout) and re.search(r"Seccomp:\s*2", done.stdout)
    assert int(re.search(r"CapEff:\s*(\w+)", done.stdout)[1], 16) & (1 << 21) == 0  # CAP_SYS_ADMIN
    assert "sh\0-c" in done.stdout and "dormouse" not in done.stdout.split("CapEff")[0]
    assert done.stderr.count("Operation not permitted") + done.stderr.count("permission denied") >= 3, done.stderr
    before = set(os.listdir("/sys/class/net"))  # tests beside this one make and remove devices
    host = run.shell("cat /proc/net/dev", "--network", "host").stdout
    after = set(os.listdir("/sys/class/net"))
    assert before & after <= {line.split(":")[0].strip() for line in host.splitlines() if ":" in line} <= before | after


@pytest.mark.parametrize("network", ["none", "host"])
def test_what_is_refused_is_refused_for_any_form_of_it(run, network):
    """Among it sockets to the hypervisor, by an argument of which the kernel sees the lower half."""
    done = run("guest", "--network", network)
    assert (done.returncode, done.stdout) == (0, "\n"), done.stderr


def test_devices_of_the_image_are_not_there(run):
    """A node of the machine's disk would be the disk, and crun drops the nodev of the mount."""
    script = "for f in /kmsg /srv/deep/kmsg; do [ -e $f ] && echo there; echo x >>$f && [ -f $f ] && echo file; done; [ -c /dev/null ] && echo null"
    done = run("nodes", args=["sh", "-c", script])
    assert done.stdout.split() == ["file", "file", "null"], done.stdout + done.stderr


def wait_for(condition):
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_signals_are_passed_on(run):
    child = subprocess.Popen(run.words("plain", args=["sh", "-c", "trap 'echo got; exit 3' TERM; echo ready; while :; do sleep 0.05; done"]),
                             stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "ready\n"
    child.terminate()
    assert child.stdout.readline() == "got\n"
    assert child.wait(DEADLINE_S) == 3


def test_kill_9_ends_the_container_and_the_next_run_removes_its_files(run):
    child = subprocess.Popen(run.words("plain", args=["sh", "-c", "echo x >/etc/new; echo ready; sleep 1000"]), stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "ready\n"
    left = list((run.data / "runs").iterdir())
    assert len(left) == 1
    child.kill()
    child.wait()
    assert child.stdout.read() == ""  # the last process that had it open is gone
    assert str(run.data) not in open("/proc/mounts").read()
    assert list((run.data / "runs").iterdir()) == left
    assert run("plain").returncode == 0  # and the fixture sees that all is clean


def test_runs_of_one_image_start_at_the_same_time(run):
    """It has none of the mount points (/proc, /dev, /sys): each container's are made in what it alone can write."""
    children = [subprocess.Popen(run.words("none", *(["--read-only"] if i % 2 else []), args=["sh", "-c", "cat /proc/self/comm; touch /dev/shm/x"]),
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for i in range(8)]
    assert [(c.communicate(timeout=DEADLINE_S), c.returncode) for c in children] == [(("cat\n", ""), 0)] * 8


def test_one_run_leaves_another_alone(run):
    child = subprocess.Popen(run.words("plain", args=["sh", "-c", "echo ready; cat >/dev/null; cat /etc/group"]), stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "ready\n"
    assert run("plain").stdout == "plain\n"
    out, _ = child.communicate(timeout=DEADLINE_S)
    assert (child.returncode, out) == (0, GROUPS.decode())


@pytest.mark.parametrize("words, status, text", [
    (["none"], 1, "names no program"),
    (["plain", "-u", "nobody"], 1, "no user 'nobody'"),
    (["plain", "--network", "bridge"], 2, "none or host"),
    (["plain", "--runtime", "there-is-none"], 1, "there-is-none"),
    (["plain", "-w", "tmp"], 1, "not absolute"),
    (["missing"], 1, "missing"),
])
def test_what_cannot_run_says_why_and_leaves_nothing(run, words, status, text):
    done = run(*words)
    assert done.returncode == status and text in done.stderr, done.stderr


def test_a_program_that_is_not_there_is_an_error_of_the_runtime(run):
    done = run("plain", args=["/no/such"])
    assert done.returncode != 0 and "no/such" in done.stderr


def test_root_of_a_user_namespace_runs_images(run_of_user):
    """The only user of the namespace owns every file."""
    if subprocess.run(["unshare", "-Urm", "true"]).returncode:
        pytest.skip("no user namespaces here")
    words = run_of_user.words("owned", args=["sh", "-c", "id -u; cat /srv/note; echo; echo x >/made && cat /made; exit 7"])
    done = subprocess.run(["unshare", "-Urm", *words], capture_output=True, text=True, timeout=DEADLINE_S)
    assert (done.returncode, done.stdout) == (7, "0\ntheirs\nx\n"), done.stderr
