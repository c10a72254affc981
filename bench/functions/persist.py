# SPDX-License-Identifier: Apache-2.0
"""What it would cost to write every sandbox down before it is used: Dirigent's ablation (section 5.2 of its paper).

The roles as processes of their own, cold calls to functions that never ran, whose fake sandboxes take no time; the control plane
with and without --persist-sandboxes, in turns.
"""
import json
import time

import failures


def run(bench):
    seconds = 2 if bench.args.quick else 6
    program = failures.bench_build() / "bench/functions/fn-load"
    for rate in (100, 500, 1000, 2000):
        for persists in (False, True):
            directory = bench.fresh()
            cluster = failures.Cluster(failures.bench_build(), directory, ["--persist-sandboxes"] if persists else [])
            try:
                n = rate * seconds
                cluster.register([f"s{i:05}" for i in range(n)], {"fake": {}, "scale": {"policy": "dirigent", "max": 1}})
                time.sleep(3)
                answer = json.loads(failures.load(program, cluster.gateway, "s", directory / "record", "--hosts", n, "--rate", rate,
                                                  "--seconds", seconds).communicate()[0])
                bench.add("persist_ms", "ms", {"rate": rate, "persists": persists}, achieved=answer["per_second"],
                          refused=answer["refused"], unanswered=answer["unanswered"], n=answer["requests"],
                          **{p: answer["latency_ms"][p] for p in ("p50", "p90", "p99")})
            finally:
                cluster.stop()
