# SPDX-License-Identifier: Apache-2.0
"""Fixtures that drive the real programs: a running API server, kubectl, a small HTTP client.

Nothing here sleeps for a fixed time: whatever is waited for has an event or a deadline.
The build directory comes from the environment (DORMOUSE_BUILD) or is build/ of this tree.
"""
import atexit
import contextlib
import functools
import http.client
import json
import os
import pathlib
import shutil
import signal
import ssl
import subprocess
import tempfile
import threading
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("DORMOUSE_BUILD", ROOT / "build"))
DEADLINE_S = 60  # of what has come within a second on a quiet machine
# Of each part of a test: what its fixtures set up, itself, their end. What a test waits for has a deadline of its own; this is
# for what has none, such as a line that a server never prints. Some tests build programs first, which takes minutes.
LIMIT_S = float(os.environ.get("TEST_LIMIT_S", "900"))
GRACE_S = float(os.environ.get("TEST_GRACE_S", "5"))  # of processes that a test leaves, to end by themselves
# Under ./dev test --clock; the reason for which some peers cannot take part, or empty.
IS_CLOCK_SHIFTED = "SHIFTED_CLOCK_S" in os.environ
QUEUE = os.environ.pop("TEST_QUEUE", None)  # of this process; see pytest_runtestloop
GO_HAS_ANOTHER_CLOCK = "a Go program does not see the shifted clock" if IS_CLOCK_SHIFTED else ""
GUESTS_HAVE_ANOTHER_CLOCK = "guests do not see the shifted clock: dormouse-runner is static" if IS_CLOCK_SHIFTED else ""

# A build with sanitizers: each process of a test that writes a report, which goes to this directory, makes the test fail.
IS_SANITIZED = any(name in BUILD.name for name in ("asan", "tsan"))


def reports_of_sanitizers():
    """The directory. pytest and the tests may import this file under two names, which share it."""
    pid, _, path = os.environ.get("TEST_REPORTS", "").partition(":")
    if pid != str(os.getpid()):
        path = tempfile.mkdtemp(prefix="dm-reports-")
        atexit.register(shutil.rmtree, path, True)
        os.environ["TEST_REPORTS"] = f"{os.getpid()}:{path}"
        for variable in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"):
            os.environ[variable] = " ".join([os.environ.get(variable, ""), f"log_path={path}/report", "print_stacktrace=1"]).strip()
    return pathlib.Path(path)


REPORTS = reports_of_sanitizers() if IS_SANITIZED else None


OLDEST_KUBECTL = 28  # 1.28; older ones want OpenAPI v2 as protobuf


def is_new_enough(kubectl):
    out = subprocess.run([kubectl, "version", "--client", "-o", "json"], capture_output=True, text=True).stdout
    try:
        return int(json.loads(out)["clientVersion"]["minor"].rstrip("+")) >= OLDEST_KUBECTL
    except (ValueError, KeyError):
        return False


@functools.cache
def find_kubectl():
    """$KUBECTL, or the one in PATH, else built from its module; None without any."""
    if GO_HAS_ANOTHER_CLOCK:
        return None
    found = os.environ.get("KUBECTL") or shutil.which("kubectl")
    if found and (os.environ.get("KUBECTL") or is_new_enough(found)):
        return found
    made = subprocess.run([ROOT / "tools/build-go", ROOT / "test/kubectl"], capture_output=True, text=True)
    return made.stdout.strip() if made.returncode == 0 else None


class Answer:
    def __init__(self, response, body):
        self.status = response.status
        self.headers = response.headers
        self.body = body

    def json(self):
        return json.loads(self.body)


class Watch:
    """An open watch: next() gives one decoded event, raises when none came in time."""

    def __init__(self, connection, response):
        self.connection, self.response = connection, response

    def next(self, timeout=DEADLINE_S):
        self.connection.sock.settimeout(timeout)
        line = self.response.readline()
        return json.loads(line) if line else None

    def close(self):
        self.connection.close()


class Server:
    """A running `dormouse api`, or another command that serves the API. prefix: words that run it."""

    COMMAND = "api"

    def __init__(self, data_dir, listen="127.0.0.1:0", extra=(), wait=True, prefix=()):
        self.data_dir = pathlib.Path(data_dir)
        # Where it can, `up` is a node: only where a test asks for that.
        no_agent = ["--no-agent"] if self.COMMAND == "up" and "--agent" not in extra else []
        self.args = [*prefix, str(BUILD / "dormouse"), self.COMMAND, "--data-dir", str(data_dir), "--listen", listen, *no_agent, *extra]
        self.log = open(str(data_dir) + ".log", "ab")
        self.process = subprocess.Popen(self.args, stdout=subprocess.PIPE, stderr=self.log, text=True)
        self.ready_ms = None
        if wait:
            self.wait_ready()

    def wait_ready(self):
        begin = time.monotonic()
        line = self.process.stdout.readline()
        self.ready_ms = (time.monotonic() - begin) * 1000
        if not line.startswith("ready "):
            self.process.wait(DEADLINE_S)
            raise RuntimeError(f"no ready line; log: {self.text_of_log()}")
        pairs = dict(word.split("=", 1) for word in line.split()[1:])
        self.url, self.kubeconfig, self.listen = pairs["url"], pairs["kubeconfig"], pairs["listen"]
        self.host, port = self.url.removeprefix("https://").rsplit(":", 1)
        self.port = int(port)
        self.token = (self.data_dir / "admin.token").read_text().strip()
        self.tls = ssl.create_default_context(cafile=str(self.data_dir / "pki/ca.crt"))

    def text_of_log(self):
        return pathlib.Path(str(self.data_dir) + ".log").read_text()

    def connect(self):
        return http.client.HTTPSConnection(self.host, self.port, context=self.tls, timeout=DEADLINE_S)

    def headers(self, **more):
        return {"Authorization": "Bearer " + self.token, **{k.replace("_", "-"): v for k, v in more.items()}}

    def ask(self, method, path, body=None, connection=None, **headers):
        own = connection is None
        connection = connection or self.connect()
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
        if body is not None:
            headers.setdefault("Content_Type", "application/json")
        connection.request(method, path, body=body, headers=self.headers(**headers),
                           encode_chunked="Transfer_Encoding" in headers)
        response = connection.getresponse()
        answer = Answer(response, response.read())
        if own:
            connection.close()
        return answer

    def get(self, path, **headers):
        return self.ask("GET", path, **headers)

    def create(self, path, body):
        answer = self.ask("POST", path, body)
        assert answer.status == 201, answer.body
        return answer.json()

    def watch(self, path, **headers):
        connection = self.connect()
        connection.request("GET", path, headers=self.headers(**headers))
        response = connection.getresponse()
        assert response.status == 200, response.read()
        return Watch(connection, response)

    def kubectl(self, *args, check=True, input=None, timeout=60):
        kubectl = find_kubectl()
        if not kubectl:
            pytest.skip(GO_HAS_ANOTHER_CLOCK or "no kubectl here, and it could not be built from its module")
        env = dict(os.environ, KUBECONFIG=self.kubeconfig, HOME=str(self.data_dir), KUBE_EDITOR="")
        done = subprocess.run([kubectl, *args], capture_output=True, text=True, input=input, env=env, timeout=timeout)
        if check:
            assert done.returncode == 0, f"kubectl {' '.join(args)}: {done.stderr}"
        return done

    def kubectl_stream(self, *args):
        kubectl = find_kubectl()
        if not kubectl:
            pytest.skip(GO_HAS_ANOTHER_CLOCK or "no kubectl here, and it could not be built from its module")
        env = dict(os.environ, KUBECONFIG=self.kubeconfig, HOME=str(self.data_dir))
        return subprocess.Popen([kubectl, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(DEADLINE_S)

    def stop(self):
        """TERM; the exit status."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(DEADLINE_S)
        self.process.stdout.close()
        self.log.close()
        return status


@functools.cache
def can_mount():
    """Mounts in a namespace of its own. Root in a container of others often may not."""
    return subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True).returncode == 0


def wait_for(condition, what, timeout=DEADLINE_S):
    """Ask until it is true; for what has no event to wait for."""
    end = time.monotonic() + timeout
    pause = threading.Event()
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        pause.wait(0.02)
    raise AssertionError(f"not within {timeout} s: {what}")


def is_alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def children_now():
    """The processes that this one started and that still run."""
    found = set()
    for task in pathlib.Path("/proc/self/task").iterdir():
        try:
            found |= {int(pid) for pid in (task / "children").read_text().split()}
        except OSError:
            pass  # the thread has ended
    return {pid for pid in found if is_alive(pid)}


def command_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return ""


def signal_all(pids, number, timeout):
    """Those of them that still run after the timeout."""
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass
    try:
        wait_for(lambda: not any(map(is_alive, pids)), "they end", timeout)
    except AssertionError:
        pass
    return {pid for pid in pids if is_alive(pid)}


def end_what_started_since(before):
    """End the children that were started since then; the commands of those that did not end by themselves."""
    left = signal_all(children_now() - before, 0, GRACE_S)
    commands = sorted(map(command_of, left))
    signal_all(signal_all(left, signal.SIGTERM, DEADLINE_S), signal.SIGKILL, DEADLINE_S)
    return commands


@pytest.fixture(scope="session", autouse=True)
def nothing_outlives_the_session():
    before = children_now()
    yield
    end_what_started_since(before)


@pytest.fixture(scope="module", autouse=True)
def nothing_outlives_its_module(request):
    """Automatic fixtures come first in their scope, but pytest ends those first that were asked for last: see below."""
    request.node.children_before = children_now()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item, nextitem):
    """When the last test of a module and all fixtures of the module have ended."""
    yield
    module = item.getparent(pytest.Module)
    if hasattr(module, "children_before") and (nextitem is None or nextitem.getparent(pytest.Module) is not module):
        end_what_started_since(module.children_before)


def on_limit(number, frame):
    pytest.fail(f"this takes longer than {LIMIT_S:g} s")


@contextlib.contextmanager
def limited():
    """Ends what the main thread waits for, and again if what ends it waits as well."""
    before = signal.signal(signal.SIGALRM, on_limit)
    signal.setitimer(signal.ITIMER_REAL, LIMIT_S, LIMIT_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def limited_hook(item):
    with limited():
        yield


pytest_runtest_setup = pytest.hookimpl(hookwrapper=True)(limited_hook)
pytest_runtest_call = pytest.hookimpl(hookwrapper=True)(limited_hook)


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_teardown(item):
    """When the fixtures have ended, of the module too, and what they started has ended with them."""
    with limited():
        (yield).get_result()
    reports = sorted(REPORTS.iterdir()) if IS_SANITIZED else []
    if reports:
        text = "\n".join(report.read_text(errors="replace") for report in reports)
        for report in reports:
            report.unlink()
        pytest.fail(f"{len(reports)} processes wrote reports of a sanitizer:\n{text[:20000]}", pytrace=False)


def pytest_configure(config):
    config.addinivalue_line("markers", "foreign: needs container engines; ./dev test --foreign installs them and runs these alone")
    config.addinivalue_line("markers", "long: of a file that takes a minute or more; it is among the first to be run")


def pytest_collection_modifyitems(config, items):
    """Either the tests with foreign engines, or all others."""
    is_foreign = os.environ.get("FOREIGN_TESTS") == "1"
    chosen = [i for i in items if (i.get_closest_marker("foreign") is not None) == is_foreign]
    config.hook.pytest_deselected(items=[i for i in items if i not in chosen])
    items[:] = chosen


def groups_of(items):
    """The tests of a file together, which share its servers; files that take longest first."""
    files = {}
    for item in items:
        files.setdefault(item.getparent(pytest.Module), []).append(item)
    return sorted(files.values(), key=lambda tests: (tests[0].get_closest_marker("long") is None, -len(tests)))


def take_from_queue(groups):
    """Those groups that no other process with the same TEST_QUEUE has taken, one after the other."""
    for tests in groups:
        try:
            (pathlib.Path(QUEUE) / tests[0].path.stem).touch(exist_ok=False)
        except FileExistsError:
            continue
        yield tests


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session):
    """With TEST_QUEUE, an empty directory at first, processes share the tests: each takes a file when it has run one."""
    if not QUEUE or session.testsfailed or session.config.option.collectonly:
        return None
    queue = take_from_queue(groups_of(session.items))
    tests = next(queue, None)
    while tests:
        following = None
        for i, item in enumerate(tests):
            if i + 1 < len(tests):
                after = tests[i + 1]
            else:  # pytest wants to know the next one now, to end what it does not need
                following = next(queue, None)
                after = following[0] if following else None
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
            if session.shouldfail or session.shouldstop:
                raise session.Interrupted(session.shouldfail or session.shouldstop)
        tests = following
    return True


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    item.has_passed = report.passed and getattr(item, "has_passed", True)


@pytest.fixture(autouse=True)
def nothing_outlives_its_test(request):
    """A test that skips or fails in the middle may leave its processes to this; one that passes ends its own."""
    before = children_now()
    yield
    left = end_what_started_since(before)
    if getattr(request.node, "has_passed", False):
        assert not left, f"the test left processes running: {left}"


@pytest.fixture
def data_dir():
    with tempfile.TemporaryDirectory(prefix="dm-behaviour-") as path:
        yield os.path.join(path, "data")


@pytest.fixture
def dormouse_api(data_dir):
    """A fresh server; TERM at the end must leave it with status 0."""
    server = Server(data_dir)
    yield server
    assert server.stop() == 0


@pytest.fixture(scope="module")
def shared_api():
    """One server for the tests of a module that do not disturb each other."""
    with tempfile.TemporaryDirectory(prefix="dm-behaviour-") as path:
        server = Server(os.path.join(path, "data"))
        yield server
        assert server.stop() == 0


@pytest.fixture
def tiny_disk(tmp_path):
    """A file system of 1 MiB."""
    path = tmp_path / "tiny"
    path.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", path], capture_output=True).returncode != 0:
        pytest.skip("may not mount a small file system here")
    yield path
    subprocess.run(["umount", "-l", path], check=True)


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 4 MiB, and a function that makes it larger."""
    tmp_path = tmp_path / "disk"
    tmp_path.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", tmp_path], capture_output=True).returncode != 0:
        pytest.skip("may not mount a small file system here")
    yield tmp_path, lambda: subprocess.run(["mount", "-o", "remount,size=64m", tmp_path], check=True)
    subprocess.run(["umount", "-l", tmp_path], check=True)
