# SPDX-License-Identifier: Apache-2.0
"""Where a cluster of one machine runs in tests and benchmarks: namespaces of its own for processes, mounts and the network, and what its processes cost.

A container has a namespace of processes below that of the place, so the processes in that of the place itself are those of the system; what runs in
the containers is not counted, except the pause programs. Everything ends with the place. It takes root.
"""
import contextlib
import ctypes
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

ADDRESS = "10.77.0.1"  # of a place with a network of its own, which has no other device than lo
CLONE_NEWNET = 0x40000000
libc = ctypes.CDLL(None, use_errno=True)

# What lives as long as the place. It must not wait for anything: its own wake-ups would count.
INIT = "import signal; signal.signal(signal.SIGCHLD, signal.SIG_IGN); print('here', flush=True)\nwhile True: signal.pause()"
GROUPS = pathlib.Path("/sys/fs/cgroup")
# What a kubelet writes on start, for the whole machine; the last: run_first().
SYSCTLS = ("vm/overcommit_memory", "vm/panic_on_oom", "kernel/panic", "kernel/panic_on_oops", "kernel/keys/root_maxkeys", "kernel/keys/root_maxbytes",
           "net/netfilter/nf_conntrack_max", "kernel/sched_autogroup_enabled")


def enter_network(path):
    fd = os.open(path, os.O_RDONLY)
    try:
        if libc.setns(fd, CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), "setns")
    finally:
        os.close(fd)


@contextlib.contextmanager
def inside(path):
    """This thread, with the sockets it makes and the processes it starts, in a network namespace."""
    here = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    try:
        enter_network(path)
        try:
            yield
        finally:
            enter_network(f"/proc/self/fd/{here}")
    finally:
        os.close(here)


@contextlib.contextmanager
def settings_kept():
    """What is changed of the kernel's settings is as before afterwards."""
    paths = [p for p in (pathlib.Path("/proc/sys") / s for s in SYSCTLS) if p.exists()]
    before = {p: p.read_text() for p in paths}
    try:
        yield
    finally:
        for path, text in before.items():
            if path.read_text() != text:
                path.write_text(text)


def run_first():
    """This process, and those it will start, run before others, in whichever session they are. Within settings_kept()."""
    autogroup = pathlib.Path("/proc/sys/kernel/sched_autogroup_enabled")
    if autogroup.exists():
        autogroup.write_text("0")
    os.nice(-20)


def namespace_of(pid, kind):
    try:
        return os.readlink(f"/proc/{pid}/ns/{kind}")
    except OSError:
        return None


def all_pids():
    return [int(d) for d in os.listdir("/proc") if d.isdigit()]


class Place:
    """name: of its control group. netns: a path, with the address there; else it makes one. directory: of the logs."""

    def __init__(self, name, directory, netns=None, address=ADDRESS):
        self.address, self.directory = address, pathlib.Path(directory)
        self.ident = f"dmplace{os.getpid()}-{name}"
        self.programs, self.group = {}, None
        self.elsewhere = []     # names of groups at the top whose processes belong to the system, too
        words = ["unshare", "--mount", "--pid", *([] if netns else ["--net"]), "--fork", "--kill-child", "--mount-proc", sys.executable, "-c", INIT]
        with inside(netns or "/proc/self/ns/net"):
            self.holder = subprocess.Popen(words, stdout=subprocess.PIPE)
        self.holder.stdout.readline()
        self.init = int(pathlib.Path(f"/proc/{self.holder.pid}/task/{self.holder.pid}/children").read_text().split()[0])
        self.netns = netns or f"/proc/{self.init}/ns/net"
        self.pid_ns = namespace_of(self.init, "pid")
        self.make_group()
        if not netns:
            self.run("ip", "link", "set", "lo", "up")
            self.run("ip", "addr", "add", f"{address}/32", "dev", "lo")

    def make_group(self):
        """All that the system does is accounted for there, programs that have ended included."""
        base = GROUPS / "cpuacct" if (GROUPS / "cpuacct").is_dir() else GROUPS
        self.group = base / self.ident
        self.group.mkdir(exist_ok=True)

    def enter(self, *words):
        return ["nsenter", "--target", str(self.init), "--mount", "--pid", "--net", *map(str, words)]

    def run(self, *words, check=True):
        done = subprocess.run(self.enter(*words), capture_output=True, text=True, timeout=120)
        if check and done.returncode:
            raise OSError(f"{words[0]}: status {done.returncode} {done.stderr.strip()[-400:]}")
        return done.stdout

    def start(self, name, *words, env=None, out=None):
        """A program of the system. -> its Popen, which is that of nsenter; program() is the pid."""
        log = open(self.directory / f"{name}.log", "ab")
        group = self.group / "cgroup.procs"
        process = subprocess.Popen(["sh", "-c", 'echo $$ > "$0" && exec "$@"', str(group), *self.enter(*words)], stdout=out or log, stderr=log, env=env)
        log.close()
        self.programs[name] = process
        return process

    def program(self, name):
        """The pid here."""
        pid = self.programs[name].pid
        return int(pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])

    def is_alive(self, name):
        return self.programs[name].poll() is None

    def log_of(self, name, n=2000):
        path = self.directory / f"{name}.log"
        return path.read_text(errors="replace")[-n:] if path.exists() else ""

    def pids(self):
        """Processes of the system, and pause programs of pods."""
        found = []
        for pid in all_pids():
            if pid == self.init:
                continue
            ns = namespace_of(pid, "pid")
            if ns == self.pid_ns or (ns and self.is_pause(pid)):
                found.append(pid)
        return found

    def is_pause(self, pid):
        """pause programs are in namespaces of their own: theirs is the group of our containerd's."""
        try:
            return (pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[:2] == [b"/program", b"pause"] and
                    self.ident in pathlib.Path(f"/proc/{pid}/cgroup").read_text())
        except OSError:
            return False

    def pss_mib(self):
        """{name of the program: MiB}, and how many processes each has."""
        sums, counts = {}, {}
        for pid in self.pids():
            with contextlib.suppress(OSError, AttributeError):
                name = pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
                if self.is_pause(pid):
                    name = "pause"
                kib = int(re.search(r"^Pss:\s+(\d+)", pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text(), re.M)[1])
                sums[name] = sums.get(name, 0) + kib / 1024
                counts[name] = counts.get(name, 0) + 1
        return sums, counts

    def switches(self):
        """{thread: context switches}"""
        found = {}
        for pid in self.pids():
            with contextlib.suppress(OSError):
                for tid in os.listdir(f"/proc/{pid}/task"):
                    with contextlib.suppress(OSError):
                        text = pathlib.Path(f"/proc/{pid}/task/{tid}/status").read_text()
                        name = pathlib.Path(f"/proc/{pid}/task/{tid}/comm").read_text().strip()
                        found[name, pid, int(tid)] = sum(int(n) for n in re.findall(r"ctxt_switches:\s+(\d+)", text))
        return found

    def wakeups(self, seconds):
        """-> per minute: all threads; {name of the thread: per minute}. A thread that began counts from 0, one that ended until then does not."""
        before = self.switches()
        time.sleep(seconds)
        names = {}
        for key, n in self.switches().items():
            names[key[0]] = names.get(key[0], 0) + (n - before.get(key, 0)) * 60 / seconds
        return sum(names.values()), {k: v for k, v in names.items() if v}

    def cpu_s(self):
        return sum(self.cpu_of(g) for g in (self.group, *(self.group.parent / name for name in self.elsewhere)) if g.is_dir())

    @staticmethod
    def cpu_of(group):
        if (group / "cpuacct.usage").exists():
            return int((group / "cpuacct.usage").read_text()) / 1e9
        return int(re.search(r"usage_usec (\d+)", (group / "cpu.stat").read_text())[1]) / 1e6

    def end(self, name, timeout_s=20):
        """TERM to one program, and wait."""
        if self.is_alive(name):
            with contextlib.suppress(OSError, IndexError):
                os.kill(self.program(name), signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.programs[name].wait(timeout_s)

    def close(self):
        """All processes end with the first of the namespace; those of containers are below."""
        self.holder.kill()
        with contextlib.suppress(OSError):
            os.kill(self.init, signal.SIGKILL)
        self.holder.wait()
        self.holder.stdout.close()
        for process in self.programs.values():
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(20)
        self.remove_groups()

    def remove_groups(self):
        """Those of the name, with what is below, in all hierarchies."""
        end = time.monotonic() + 10
        bases = {p.parent for p in GROUPS.glob(f"*/{self.ident}")} | {GROUPS}
        while time.monotonic() < end:
            left = [d for b in bases for d in (b / self.ident, *(b / self.ident).rglob("*")) if d.is_dir()]
            for d in sorted(left, key=lambda d: -len(d.parts)):
                with contextlib.suppress(OSError):
                    d.rmdir()
            if not any(d.is_dir() for d in left):
                return
            time.sleep(0.1)
