# SPDX-License-Identifier: Apache-2.0
"""Layer caches on drawn traces in virtual time: figures 11a and 11b of the BREAK paper, and prefetch.

Hit ratios depend on nothing of the machine. Each is the mean over traces of several seeds.
"""
import json
import subprocess

from result import say

DOC = "hit ratios of layer caches on drawn traces, by cluster size, cache size and prefetch"
POLICIES = ("arc", "lru", "lfu")
MIB = 1 << 20


def replay(plan, seed, *args):
    command = [plan.build / "dormouse", "image", "replay", "--seed", seed, "-o", "json", *args]
    if plan.quick:
        command += ["--days", 2]
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)["results"]


def means(plan, *args):
    """Runs by (policy, nodes, cacheBytes); each is a list with an entry for each seed."""
    runs = {}
    for seed in range(1, 3 if plan.quick else 6):
        for r in replay(plan, seed, *args):
            runs.setdefault((r["policy"], r["nodes"], r["cacheBytes"]), []).append(r)
    return runs


def mean(runs, *path):
    total = 0
    for r in runs:
        for key in path:
            r = r[key]
        total += r
    return total / len(runs)


def add(results, figure, runs, **labels):
    for (policy, nodes, cache), same in runs.items():
        at = {"variant": "cache", "figure": figure, "policy": policy, "nodes": nodes, "cache_mib": cache // MIB, **labels}
        for by in ("requests", "bytes"):
            local, edge = mean(same, "localHitRatio", by), mean(same, "edgeHitRatio", by)
            for where, ratio in (("local", local), ("edge", edge), ("total", local + edge)):
                results.add("hit_ratio", {**at, "where": where, "by": by}, "1", ratio, n=len(same))
        results.add("wide_area_gb", at, "GB", mean(same, "wideAreaBytes") / 1e9, n=len(same))
        results.add("fetch_s", at, "s", mean(same, "fetchSeconds"), n=len(same))


def cluster_sizes(plan, results):
    runs = means(plan, *(f"--nodes={n}" for n in (4, 6, 8, 10)), "--cache=1000Mi")
    add(results, "11a", runs)
    say(f"  {'policy':8}{'workers':>8}{'local':>8}{'edge':>8}{'local, bytes':>14}{'edge, bytes':>13}{'WAN GB':>8}")
    for (policy, nodes, _), r in runs.items():
        say(f"  {policy:8}{nodes:8}{mean(r, 'localHitRatio', 'requests'):8.3f}{mean(r, 'edgeHitRatio', 'requests'):8.3f}"
            f"{mean(r, 'localHitRatio', 'bytes'):14.3f}{mean(r, 'edgeHitRatio', 'bytes'):13.3f}"
            f"{mean(r, 'wideAreaBytes') / 1e9:8.1f}")


def cache_sizes(plan, results):
    for sizes, more in (("equal", ()), ("drawn", ("--drawn-sizes",))):
        runs = means(plan, "--nodes=10", *(f"--cache={mib}Mi" for mib in (250, 500, 1000)), *more)
        add(results, "11b", runs, sizes=sizes)
        for (policy, _, cache), r in runs.items():
            local, edge = mean(r, "localHitRatio", "requests"), mean(r, "edgeHitRatio", "requests")
            say(f"  {sizes} caches of {cache // MIB:4} MiB, {policy}: local {local:.3f}, edge {edge:.3f}, total {local + edge:.3f}")


def prefetch(plan, results):
    for how, more in (("off", ()), ("on", ("--prefetch",))):
        runs = means(plan, "--policy=arc", "--nodes=10", *(f"--cache={mib}Mi" for mib in (500, 1000, 2000)), *more)
        add(results, "prefetch", runs, prefetch=how)
        for (_, _, cache), r in runs.items():
            used, wasted = mean(r, "prefetchUsed", "bytes"), mean(r, "prefetchWasted", "bytes")
            if how == "on" and used + wasted:
                results.add("prefetch_used", {"variant": "cache", "cache_mib": cache // MIB}, "1", used / (used + wasted))
            say(f"  prefetch {how:3}, {cache // MIB:4} MiB: local {mean(r, 'localHitRatio', 'bytes'):.4f} of bytes, "
                f"{mean(r, 'wideAreaBytes') / 1e9:.1f} GB over the wide link")


def options(plan, results):
    """Variants of replacement that are off by default."""
    for option in ("none", "best-fit", "cluster-aware", "by-refetch"):
        runs = means(plan, "--policy=arc", "--nodes=10", "--cache=1000Mi", *([] if option == "none" else [f"--{option}"]))
        add(results, "options", runs, option=option)
        for r in runs.values():
            say(f"  {option:14} local {mean(r, 'localHitRatio', 'bytes'):.3f}, edge {mean(r, 'edgeHitRatio', 'bytes'):.3f} "
                f"of bytes, {mean(r, 'wideAreaBytes') / 1e9:.1f} GB over the wide link")


def run(plan, results):
    cluster_sizes(plan, results)
    cache_sizes(plan, results)
    prefetch(plan, results)
    options(plan, results)
