# SPDX-License-Identifier: Apache-2.0
"""The paper's upper bound of memory: a limit that is lowered until the processes stall, once per second.

Needs root and the memory controller, of cgroup v2 or v1. What the processes use under the moving limit is the figure;
the paper takes its 95th percentile over the end of each phase (its definition in full: docs/benchmarks.md).

v2 throttles above `memory.high` and counts the stall of the group. v1 has no such limit and no such count: its hard
limit is moved, the OOM killer is off for the group, and the stall is that of the whole machine, so it needs a machine
that does nothing else.
"""
import contextlib
import os
import pathlib
import threading
import time

UNLIMITED_STEPS = 20
STALL_US = 400           # more stall than this in a second: the limit goes up
WORSE_US, WORST_US = 10_000, 2_000_000
UP, DOWN = 1.02, 1 / 1.03


def next_limit(step, limit, current, stalled_us, most):
    """The limit in bytes after this second; most stands for none."""
    if step < UNLIMITED_STEPS:
        return most
    if step == UNLIMITED_STEPS:
        limit = 1.2 * current
    elif stalled_us > STALL_US:
        limit *= UP
        if stalled_us > WORST_US:
            limit = max(limit, 1.3 * current)
        elif stalled_us > WORSE_US:
            limit = max(limit, 1.2 * current)
    else:
        limit *= DOWN
    return min(max(limit, 1), most)


def full_stall_us(text):
    """The total of the line 'full' of a pressure file."""
    for line in text.splitlines():
        if line.startswith("full "):
            return int(line.rpartition("total=")[2])
    return 0


def own_group(controller):
    """The path behind this controller's name in /proc/self/cgroup."""
    for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
        if controller in line:
            return line.partition(controller)[2]
    return "/"


class GroupV2:
    """A cgroup whose memory can be limited and read."""

    def __init__(self, root, name):
        (root / "cgroup.subtree_control").write_text("+memory")
        self.path = root / name
        self.path.mkdir(exist_ok=True)

    @staticmethod
    def is_possible(root):
        controllers = root / "cgroup.controllers"
        return controllers.exists() and "memory" in controllers.read_text().split()

    def used(self):
        return int((self.path / "memory.current").read_text())

    def stalled_us(self):
        return full_stall_us((self.path / "memory.pressure").read_text())

    @staticmethod
    def home(root):
        """The group that this process is in."""
        return root / own_group("0::").lstrip("/")

    def limit(self, limit):
        """In bytes; None for none."""
        (self.path / "memory.high").write_text("max" if limit is None else str(int(limit)))


class GroupV1:
    PRESSURE = pathlib.Path("/proc/pressure/memory")

    def __init__(self, root, name):
        self.path = root / "memory" / name
        self.path.mkdir(exist_ok=True)
        (self.path / "memory.oom_control").write_text("1")

    @classmethod
    def is_possible(cls, root):
        return (root / "memory/memory.limit_in_bytes").exists() and cls.PRESSURE.exists()

    @staticmethod
    def home(root):
        return root / "memory" / own_group(":memory:").lstrip("/")

    def used(self):
        return int((self.path / "memory.usage_in_bytes").read_text())

    def stalled_us(self):
        return full_stall_us(self.PRESSURE.read_text())

    def limit(self, limit):
        try:
            (self.path / "memory.limit_in_bytes").write_text("-1" if limit is None else str(int(limit)))
        except OSError:
            pass  # EBUSY: nothing more can be reclaimed, so the limit stays where it is


def group_kind(root):
    return next((kind for kind in (GroupV2, GroupV1) if kind.is_possible(root)), None)


class Modulator:
    """A cgroup that is squeezed until stopped. Memory is charged to the group in which it is first used and stays there, so
    processes must start inside()."""

    def __init__(self, root="/sys/fs/cgroup", interval_s=1.0):
        self.root, self.interval_s = pathlib.Path(root), interval_s
        self.group = group_kind(self.root)(self.root, f"dormouse-bench-{os.getpid()}")
        self.samples = []  # (monotonic time, bytes)
        self.most = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    @contextlib.contextmanager
    def inside(self):
        """What this process starts meanwhile belongs to the group, and so do the children of it."""
        home = self.group.home(self.root)
        (self.group.path / "cgroup.procs").write_text(str(os.getpid()))
        try:
            yield
        finally:
            (home / "cgroup.procs").write_text(str(os.getpid()))

    @staticmethod
    def is_possible(root="/sys/fs/cgroup"):
        return os.getuid() == 0 and group_kind(pathlib.Path(root)) is not None

    def run(self):
        limit, stalled, step = self.most, self.group.stalled_us(), 0
        while not self.ended.wait(self.interval_s):
            current, now = self.group.used(), self.group.stalled_us()
            limit = next_limit(step, limit, current, now - stalled, self.most)
            self.group.limit(None if limit >= self.most else limit)
            self.samples.append((time.monotonic(), current))
            stalled, step = now, step + 1

    def last(self, seconds):
        """Bytes used in the last seconds."""
        end = time.monotonic()
        return [used for when, used in self.samples if when >= end - seconds]

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()
        self.group.limit(None)

    def remove(self):
        """When its processes have ended."""
        self.group.path.rmdir()
