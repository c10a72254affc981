# SPDX-License-Identifier: Apache-2.0
"""The paper's upper bound of memory: a limit that is lowered until the processes stall, once per second.

Needs the memory controller of cgroup v2. What the processes use under the moving limit is the figure; the paper
takes its 95th percentile over the end of each phase (its definition in full: docs/benchmarks.md).
"""
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


class Modulator:
    """Moves processes into a cgroup of their own and squeezes it until stopped. Their children stay with them."""

    def __init__(self, pids, root="/sys/fs/cgroup", interval_s=1.0):
        self.root, self.interval_s = pathlib.Path(root), interval_s
        self.group = self.root / f"dormouse-bench-{os.getpid()}"
        self.samples = []  # (monotonic time, bytes)
        self.most = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        (self.root / "cgroup.subtree_control").write_text("+memory")
        self.group.mkdir(exist_ok=True)
        for pid in pids:
            (self.group / "cgroup.procs").write_text(str(pid))

    @staticmethod
    def is_possible(root="/sys/fs/cgroup"):
        controllers = pathlib.Path(root) / "cgroup.controllers"
        return os.getuid() == 0 and controllers.exists() and "memory" in controllers.read_text().split()

    def stalled_us(self):
        for line in (self.group / "memory.pressure").read_text().splitlines():
            if line.startswith("full "):
                return int(line.rpartition("total=")[2])
        return 0

    def run(self):
        limit, stalled, step = self.most, self.stalled_us(), 0
        while not self.ended.wait(self.interval_s):
            current, now = int((self.group / "memory.current").read_text()), self.stalled_us()
            limit = next_limit(step, limit, current, now - stalled, self.most)
            (self.group / "memory.high").write_text("max" if limit >= self.most else str(int(limit)))
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
        (self.group / "memory.high").write_text("max")

    def remove(self):
        """When its processes have ended."""
        self.group.rmdir()
