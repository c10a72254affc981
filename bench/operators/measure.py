# SPDX-License-Identifier: Apache-2.0
"""What processes cost, read from /proc without touching them: memory, context switches, page cache, disk."""
import collections
import ctypes
import mmap
import os
import pathlib
import resource
import threading
import time

PAGE = mmap.PAGESIZE
MIB = 1 << 20


def family(pid):
    """The process and all its descendants that exist now."""
    found = [pid]
    for task in tasks(pid):
        try:
            children = (task / "children").read_text().split()
        except OSError:
            continue
        for child in children:
            found += family(int(child))
    return found


def tasks(pid):
    try:
        return list(pathlib.Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return []


def fields(path):
    """The "Name: value unit" lines of a file in /proc; empty when the process is gone."""
    try:
        lines = pathlib.Path(path).read_text().splitlines()
    except OSError:
        return {}
    split = (line.split(":", 1) for line in lines if ":" in line)
    return {name: int(value.split()[0]) for name, value in split if value.split()[:1] and value.split()[0].isdigit()}


class Memory(collections.namedtuple("Memory", "pss anon page_tables processes")):
    """Bytes, except for the number of processes."""

    @staticmethod
    def of(pids):
        pss = anon = tables = processes = 0
        for pid in pids:
            rollup = fields(f"/proc/{pid}/smaps_rollup")
            if "Pss" not in rollup:
                continue
            pss += rollup["Pss"] * 1024
            anon += rollup.get("Pss_Anon", rollup.get("Anonymous", 0)) * 1024
            tables += fields(f"/proc/{pid}/status").get("VmPTE", 0) * 1024
            processes += 1
        return Memory(pss, anon, tables, processes)


class Sampler:
    """Takes memory samples of a changing set of processes in a thread, until stopped."""

    def __init__(self, pids, interval_s):
        self.pids = pids  # function
        self.interval_s = interval_s
        self.samples = []
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def run(self):
        while not self.ended.is_set():
            began = time.monotonic()
            self.samples.append((began, Memory.of(self.pids())))
            self.ended.wait(max(0, began + self.interval_s - time.monotonic()))

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()

    def last(self, seconds, at_least_part=0.8):
        """The samples of the last seconds, but not of the first fifth of the phase."""
        if not self.samples:
            return []
        first, end = self.samples[0][0], self.samples[-1][0]
        since = max(end - seconds, first + (1 - at_least_part) * (end - first))
        return [memory for when, memory in self.samples if when >= since]


def percentile(values, percent):
    """Nearest rank, as the ring driver's."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


def context_switches(pids):
    """Voluntary and involuntary, of each thread."""
    counts = {}
    for pid in pids:
        for task in tasks(pid):
            f = fields(task / "status")
            counts[task] = f.get("voluntary_ctxt_switches", 0) + f.get("nonvoluntary_ctxt_switches", 0)
    return counts


def switched(before, after):
    """Context switches between two readings; those of threads that came or went in between count from 0."""
    return sum(n - before.get(task, 0) for task, n in after.items())


def cpu_seconds(pids):
    """User and system time used so far by the processes that exist."""
    ticks = 0
    for pid in pids:
        try:
            stat = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        ticks += int(stat[11]) + int(stat[12])
    return ticks / os.sysconf("SC_CLK_TCK")


class Foreign:
    """How much of the machine others use: all CPU time less that of our processes and of the benchmark itself."""

    def __init__(self, pids):
        self.pids = pids  # function
        self.before = self.read()

    def read(self):
        busy = [int(v) for v in pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]
        idle = busy[3] + busy[4]
        own = sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        return sum(busy[:8]) - idle, sum(busy[:8]), own + cpu_seconds(self.pids())

    def percent(self):
        """Since it was made."""
        busy, total, own = (now - then for now, then in zip(self.read(), self.before))
        own *= os.sysconf("SC_CLK_TCK")
        return max(0.0, 100 * (busy - own) / total) if total > 0 else 0.0


class Realtime:
    """While entered, real-time priority for a changing set of processes and for what the calling thread starts.

    It keeps other people's processes on a shared machine from taking the CPU in the middle of a hop. Their order
    among each other stays: the runner, which asks for SCHED_BATCH so as not to preempt the server, gets less.
    """
    HIGH, LOW = 11, 10
    LOOK_S = 0.05  # runners come and go

    def __init__(self, pids, wanted):
        self.pids, self.wanted = pids, wanted
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.raised = {}

    def raise_all(self):
        for pid in self.pids():
            for task in tasks(pid):
                tid = int(task.name)
                try:
                    policy = os.sched_getscheduler(tid)
                    if policy == os.SCHED_FIFO:
                        continue
                    self.raised[tid] = policy
                    os.sched_setscheduler(tid, os.SCHED_FIFO,
                                          os.sched_param(self.LOW if policy == os.SCHED_BATCH else self.HIGH))
                except ProcessLookupError:
                    pass

    def run(self):
        while not self.ended.wait(self.LOOK_S):
            self.raise_all()

    def __enter__(self):
        if self.wanted:
            self.raise_all()
            self.thread.start()
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(self.HIGH))

    def __exit__(self, *_):
        if not self.wanted:
            return
        self.ended.set()
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        self.thread.join()
        for tid, policy in self.raised.items():
            try:
                os.sched_setscheduler(tid, policy, os.sched_param(0))
            except ProcessLookupError:
                pass


def disk_bytes(directory):
    """Blocks that the files below a directory occupy."""
    total = 0
    for where, _, names in os.walk(directory):
        for name in names:
            try:
                total += os.lstat(os.path.join(where, name)).st_blocks * 512
            except OSError:
                pass
    return total


_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
_libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
_libc.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]


def page_cache_bytes(directory):
    """How much of the files below a directory the page cache holds."""
    total = 0
    for where, _, names in os.walk(directory):
        for name in names:
            total += _cached(os.path.join(where, name))
    return total


def _cached(path):
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return 0
    try:
        size = os.fstat(fd).st_size
        if size == 0:
            return 0
        at = _libc.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, fd, 0)
        if at in (None, ctypes.c_void_p(-1).value):
            return 0
        pages = (size + PAGE - 1) // PAGE
        resident = ctypes.create_string_buffer(pages)
        ok = _libc.mincore(at, size, resident) == 0
        _libc.munmap(at, size)
        return sum(b & 1 for b in resident.raw) * PAGE if ok else 0
    finally:
        os.close(fd)
