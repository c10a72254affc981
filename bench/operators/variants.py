# SPDX-License-Identifier: Apache-2.0
"""The ways to run N ring operators that the benchmark compares.

Each is started on an empty data directory, tells which processes belong to it, and is stopped. The API server
is dormouse's in every one of them and is counted in every one of them.
"""
import contextlib
import json
import os
import pathlib
import select
import shutil
import signal
import socket
import subprocess
import sys
import time

from measure import family

READY_S = 60
STOP_S = 15


class Failed(Exception):
    pass


class Skipped(Exception):
    """This machine cannot run the variant; the text says why."""


class Paths:
    def __init__(self, build, work):
        self.build, self.work = pathlib.Path(build), pathlib.Path(work)
        self.dormouse = self.build / "dormouse"
        self.ring = self.build / "bench/operators/ring"
        self.native = self.build / "bench/operators/native/ring-native"
        self.comb = self.build / "bench/operators/native/ring-comb"
        self.guests = self.build / "guests"
        self.modules = self.work / "modules"    # distinct copies of the guests, in a directory for each
        self.programs = self.work / "programs"  # distinct copies of the native operator
        self.code = self.work / "code"          # compiled modules, handed from one server to the next
        self.data = self.work / "data"


DISTINCT_MAX = 1000  # distinct modules; more operators than that share them: compiling takes 50 ms each


def make_distinct(source, count, where, suffix):
    """Copies that differ, made once and kept while the source stays the same."""
    newest = source.stat().st_mtime
    have = where / f"controller{count - 1}{suffix}"
    if have.exists() and have.stat().st_mtime > newest:
        return
    distinct = min(count, DISTINCT_MAX)
    subprocess.run([sys.executable, "tools/make-distinct", source, str(distinct), where], check=True)
    for i in range(distinct, count):
        name = where / f"controller{i}{suffix}"
        name.unlink(missing_ok=True)
        name.hardlink_to(where / f"controller{i % distinct}{suffix}")


class Server:
    """`dormouse up` or `dormouse api` on a fresh data directory, or on what the one before has left."""

    def __init__(self, paths, *args, keep=False):
        self.paths = paths
        if not keep:
            shutil.rmtree(paths.data, ignore_errors=True)
        paths.data.mkdir(parents=True, mode=0o700, exist_ok=keep)
        if "up" in args:
            self.hand_over(paths.code, paths.data)
        self.log = open(paths.work / "server.log", "wb")
        began = time.monotonic()
        self.process = subprocess.Popen(
            [paths.dormouse, *args, "--data-dir", paths.data, "--listen", "127.0.0.1:0", "--log-level", "warn"],
            stdout=subprocess.PIPE, stderr=self.log)
        line = self.first_line()
        self.ready_s = time.monotonic() - began
        words = dict(word.split("=", 1) for word in line.split()[1:] if "=" in word)
        self.kubeconfig = words["kubeconfig"]

    @staticmethod
    def hand_over(source, to):
        """Compiled modules move on, so that only the first server compiles them; "format" marks the directory as ours."""
        to.mkdir(parents=True, exist_ok=True)
        if (source / "modules").exists():
            shutil.rmtree(to / "modules", ignore_errors=True)
            (source / "modules").rename(to / "modules")
            shutil.copy2(source / "format", to / "format")

    def first_line(self):
        if not select.select([self.process.stdout], [], [], READY_S)[0]:
            raise Failed(f"the server is not ready after {READY_S} s; see {self.log.name}")
        line = self.process.stdout.readline().decode()
        if not line.startswith("ready "):
            raise Failed(f"the server ended; see {self.log.name}")
        return line

    def pids(self):
        return family(self.process.pid)

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        try:
            status = self.process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise Failed(f"the server does not end within {STOP_S} s of TERM")
        finally:
            self.log.close()
            self.process.stdout.close()
            self.hand_over(self.paths.data, self.paths.code)
        if status:
            raise Failed(f"the server ended with status {status}; see {self.log.name}")

    def metrics(self):
        """The counters of the admin socket. Wakes the server, of course."""
        found = {}
        for line in admin_text(self.paths.data, "/metrics").splitlines():
            name, _, value = line.partition(" ")
            if name.startswith("dormouse_"):
                with contextlib.suppress(ValueError):
                    found[name[len("dormouse_"):]] = int(value)
        return found


def admin_text(data, path):
    """What the server of a data directory answers at its admin socket."""
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(os.fspath(data / "admin.sock"))
        s.sendall(f"GET {path} HTTP/1.1\r\nhost: admin\r\nconnection: close\r\n\r\n".encode())
        return b"".join(iter(lambda: s.recv(65536), b"")).decode()


class Variant:
    """name: the label in the results. hibernates: its guests sleep when idle. sleeps_always: after each activation."""
    hibernates = False
    sleeps_always = False
    guest = "c"
    abi = None

    def __init__(self, name, paths):
        self.name, self.paths = name, paths
        self.server = None

    def ring(self, action, *args, timeout=None):
        command = [self.paths.ring, action, *map(str, args)]
        r = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout)
        if r.returncode:
            raise Failed(f"ring {action}: {r.stderr.decode().strip()[-400:]}")
        return json.loads(r.stdout) if r.stdout.strip() else {}

    def rounds(self, n, rounds, first, *more):
        """Returns the times of hops and of rounds, in ms."""
        r = self.ring("rounds", "--kubeconfig", self.server.kubeconfig, "--operators", n,
                      "--rounds", rounds, "--first", first, "--raw", *more)
        return [us / 1000 for us in r["hop_us"]], [us / 1000 for us in r["round_us"]]


class Wasm(Variant):
    """Operators as modules of `dormouse up`."""
    abi = "g2"

    def __init__(self, name, paths, option=None):
        super().__init__(name, paths)
        self.option = [option] if option else []
        self.hibernates = option != "--sleep-never"
        self.sleeps_always = option == "--sleep-always"

    def module(self):
        return self.paths.guests / f"ring-{self.abi}.wasm"

    def start(self, n, heap_mib):
        modules = self.paths.modules / self.module().stem
        make_distinct(self.module(), n, modules, ".wasm")
        self.server = Server(self.paths, "up", "--gateway", "none", "--modules", modules, "--swap-quota", "64Gi", *self.option)
        self.ring("setup", "--kubeconfig", self.server.kubeconfig, "--operators", n, "--heap", heap_mib, "--abi", self.abi)

    def wait_started(self, n):
        """All are compiled, have run once and wait for events."""
        if self.hibernates:
            self.wait_asleep(n)
            return
        deadline = time.monotonic() + 60 + n
        while self.server.metrics().get("guests_awake", 0) < n:
            if time.monotonic() > deadline:
                raise Failed("not all operators have started")
            time.sleep(0.1)

    def wait_asleep(self, n):
        self.ring("wait", "--operators", n, "--asleep", self.paths.data)

    def pids(self):
        return self.server.pids()

    def stop(self):
        if self.server:
            self.server.stop()


class V1(Wasm):
    """The same on ABI v1: watches, caches and queues are the host's."""
    abi = "v1"


class Rust(V1):
    """The same in Rust, as the paper's operators are."""
    guest = "rust"

    def module(self):
        return self.paths.work / "ring-rust.wasm"

    def check(self):
        # Not where tests build: every operator is called operator.wasm, and cargo would take theirs for ours.
        env = {"CARGO_TARGET_DIR": str(self.paths.build / "bench-rust"), "CARGO_NET_RETRY": "0"}
        made = subprocess.run(["sdk/rust/build", "guests/ring/rust", self.module()], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=os.environ | env)
        if made.returncode:
            raise Skipped((made.stdout.decode().strip().splitlines() or ["it cannot be built"])[0])


class Native(Variant):
    """One process per operator, the guest's C source linked natively, beside `dormouse api`."""

    def __init__(self, name, paths):
        super().__init__(name, paths)
        self.processes = []

    def start(self, n, heap_mib):
        self.processes = []
        self.server = Server(self.paths, "api")
        self.ring("setup", "--kubeconfig", self.server.kubeconfig, "--operators", n, "--no-operators")
        self.start_operators(n, heap_mib)

    def start_operators(self, n, heap_mib):
        make_distinct(self.program(), n, self.programs, "")
        for i in range(n):
            self.spawn(self.programs / f"controller{i}", self.ring_env(i, n, heap_mib))

    def program(self):
        return self.paths.native

    @property
    def programs(self):
        """Where the copies of this variant's program go."""
        return self.paths.programs / self.guest

    def ring_env(self, i, n, heap_mib):
        return {"KUBECONFIG": self.server.kubeconfig, "IN_NAMESPACE": f"ring{i}",
                "OUT_NAMESPACE": f"ring{(i + 1) % n}", "HEAP_MEM_SIZE": str(heap_mib << 20), "DM_LOG": "warn"}

    def spawn(self, program, env):
        """With nothing else in its environment but the clock that a test may have shifted."""
        clock = {k: os.environ[k] for k in ("LD_PRELOAD", "SHIFTED_CLOCK_S") if k in os.environ}
        with open(self.paths.work / "operators.log", "ab") as log:
            self.processes.append(subprocess.Popen([program], env={**clock, **env}, stdout=log, stderr=log))

    def wait_started(self, n):
        ended = [p.args[0] for p in self.processes if p.poll() is not None]
        if ended:
            raise Failed(f"{len(ended)} operators ended, the first is {ended[0]}; see operators.log")

    def pids(self):
        return self.server.pids() + [p.pid for p in self.processes]

    def stop(self):
        for p in self.processes:
            p.kill()
        for p in self.processes:
            p.wait()
        if self.server:
            self.server.stop()


class ControllerRuntime(Native):
    """The same operator written with controller-runtime in Go, one process each: what people run today, without the container."""
    guest = "go"
    built = None

    def check(self):
        made = subprocess.run(["tools/build-go", "bench/operators/controllerruntime"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if made.returncode:
            raise Skipped((made.stderr.decode().strip().splitlines() or ["it cannot be built"])[-1])
        self.built = pathlib.Path(made.stdout.decode().strip())

    def program(self):
        return self.built


class KubeRs(Native):
    """The same operator written with kube-rs in Rust, one process each."""
    guest = "rust"

    def check(self):
        if not shutil.which("cargo"):
            raise Skipped("no cargo here to build it with")
        made = subprocess.run(["cargo", "build", "--release", "--locked", "--quiet", "--manifest-path", "bench/operators/kubers/Cargo.toml",
                               "--target-dir", self.target], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if made.returncode:
            raise Skipped((made.stdout.strip().splitlines() or ["it cannot be built"])[-1])

    @property
    def target(self):
        return self.paths.build / "bench-kubers"

    def program(self):
        return self.target / "release/kubers"


class Comb(Native):
    """All operators in one process, which nothing separates from each other."""

    def start_operators(self, n, heap_mib):
        self.spawn(self.paths.comb, {"KUBECONFIG": self.server.kubeconfig, "NAMESPACE_PREFIX": "ring",
                                     "NR_OPERATORS": str(n), "HEAP_MEM_SIZE": str(heap_mib << 20), "DM_LOG": "warn"})


class Container(Native):
    """One crun container per operator: own mount, pid, ipc and uts namespaces, the host's network.

    Nothing stays beside the operator: neither a shim nor a pause container, both of which a kubelet adds.
    """
    # crun refuses machines with both cgroup versions mounted; hidden in a private mount namespace, v2 is not there.
    hide_unified = ["unshare", "--mount", "sh", "-c", 'umount /sys/fs/cgroup/unified && exec "$@"', "sh"]

    def __init__(self, name, paths):
        super().__init__(name, paths)
        self.containers = []
        self.prefix = []

    def crun(self, *args, check=True):
        command = [*self.prefix, "crun", "--root", self.paths.work / "crun", "--cgroup-manager=disabled", *args]
        with open(self.paths.work / "operators.log", "ab") as log:
            return subprocess.run(command, check=check, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def check(self):
        if not shutil.which("crun"):
            raise Skipped("crun is not installed (apt-get install crun)")
        if os.getuid() != 0:
            raise Skipped("starting containers needs root here")
        if os.path.ismount("/sys/fs/cgroup/unified"):
            self.prefix = self.hide_unified
        bundle = self.bundle("probe", "/usr/bin/true", {})
        name = f"dormouse-bench-{os.getpid()}-probe"
        if self.crun("run", "--bundle", bundle, name, check=False).returncode:
            raise Skipped(f"crun cannot start a container here; see {self.paths.work}/operators.log")
        self.crun("delete", "--force", name, check=False)

    def bundle(self, name, program, env):
        where = self.paths.work / "bundles" / name
        root = where / "rootfs"
        for d in ("proc", "tmp", "usr", "lib", "lib64", "dev"):
            (root / d).mkdir(parents=True, exist_ok=True)
        config = {
            "ociVersion": "1.0.0",
            "process": {"terminal": False, "user": {"uid": 0, "gid": 0}, "args": [program], "cwd": "/",
                        "env": [f"{k}={v}" for k, v in env.items()], "noNewPrivileges": True},
            "root": {"path": "rootfs"},
            "mounts": [{"destination": "/proc", "type": "proc", "source": "proc"}] + [
                {"destination": d, "type": "bind", "source": d, "options": ["rbind", "ro"]}
                for d in ("/usr", "/lib", "/lib64") if os.path.exists(d)],
            "linux": {"namespaces": [{"type": t} for t in ("pid", "ipc", "uts", "mount")]},
        }
        (where / "config.json").write_text(json.dumps(config))
        return where

    def start_operators(self, n, heap_mib):
        self.containers = []
        make_distinct(self.program(), n, self.programs, "")
        for i in range(n):
            env = self.ring_env(i, n, heap_mib) | {"KUBECONFIG": "/kubeconfig"}
            bundle = self.bundle(f"controller{i}", "/controller", env)
            shutil.copy(self.programs / f"controller{i}", bundle / "rootfs/controller")
            shutil.copy(self.server.kubeconfig, bundle / "rootfs/kubeconfig")
            name = f"dormouse-bench-{os.getpid()}-{i}"
            self.crun("run", "--detach", "--pid-file", bundle / "pid", "--bundle", bundle, name)
            self.containers.append((name, int((bundle / "pid").read_text())))

    def wait_started(self, n):
        ended = [name for name, pid in self.containers if not os.path.exists(f"/proc/{pid}/exe")]
        if ended:
            raise Failed(f"{len(ended)} containers ended, the first is {ended[0]}; see operators.log")

    def pids(self):
        return self.server.pids() + [pid for _, pid in self.containers]

    def stop(self):
        for name, pid in self.containers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            self.crun("delete", "--force", name, check=False)
        shutil.rmtree(self.paths.work / "bundles", ignore_errors=True)
        self.containers = []
        super().stop()


class GoContainer(Container, ControllerRuntime):
    """What people run today, in a container each."""

    def check(self):
        ControllerRuntime.check(self)
        Container.check(self)


class RustContainer(Container, KubeRs):
    """The paper's Rust operators in containers."""

    def check(self):
        KubeRs.check(self)
        Container.check(self)


def all_variants(paths):
    return [
        Wasm("wasm", paths),
        Wasm("wasm-never", paths, "--sleep-never"),
        Wasm("wasm-always", paths, "--sleep-always"),
        V1("v1", paths),
        V1("v1-always", paths, "--sleep-always"),
        Rust("rust", paths),
        Rust("rust-always", paths, "--sleep-always"),
        Native("native", paths),
        ControllerRuntime("controller-runtime", paths),
        KubeRs("kube-rs", paths),
        Comb("comb", paths),
        Container("crun", paths),
        GoContainer("crun-go", paths),
        RustContainer("crun-rust", paths),
    ]
