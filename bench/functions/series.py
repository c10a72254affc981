# SPDX-License-Identifier: Apache-2.0
"""What a replay looks like over time: slowdown by minute, and sandboxes made so far."""
import collections
import math
import threading
import time


def slowdown_by_minute(schedule, record, begin_s):
    """[(minute, geometric mean of response over run time, calls)]; minutes count from begin_s of the schedule on.

    schedule: lines "due in us, function, run time in ms"; record: lines "due in us, latency in us, status, function".
    Calls that were not answered well are left out.
    """
    run_ms = {}
    for line in schedule:
        due, function, ms = map(int, line.split())
        run_ms[due, function] = ms
    logs = collections.defaultdict(list)
    for line in record:
        due, latency, status, function = map(int, line.split())
        ms = run_ms.get((due, function), 0)
        minute = (due / 1e6 - begin_s) // 60
        if status == 200 and ms > 0 and minute >= 0:
            logs[int(minute)].append(math.log(max(latency / 1000 / ms, 1)))
    return [(minute, math.exp(sum(of) / len(of)), len(of)) for minute, of in sorted(logs.items())]


class Counter:
    """Asks read() each so many seconds in a thread, until stopped: [(seconds since the begin, answer)]."""

    def __init__(self, read, every_s):
        self.read, self.every_s, self.rows, self.ended = read, every_s, [], threading.Event()
        self.began = time.monotonic()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def run(self):
        while not self.ended.wait(self.every_s):
            self.rows.append((round(time.monotonic() - self.began), self.read()))

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()
