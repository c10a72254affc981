# SPDX-License-Identifier: Apache-2.0
"""After Figs. 12 and 14 of the BREAK paper, in virtual time: how long deployments wait for their layers.

A model, not a cluster: the trace and the caches of the variant cache, links at their full rate without other traffic, no unpacking (see
extract for that). A deployment that has to fetch pays two round trips to the farthest source before the first byte.
"""
from cache import MIB, mean, means
from result import say

DOC = "waiting for layers in virtual time, by scheduler, cache size and network (after Figs. 12 and 14)"
# Mbit/s from the registry, milliseconds of a round trip to it; inside a cluster 500 and 15.
NETWORKS = ((50, 200), (100, 50), (500, 10))
PEERS = ("--peer-mbit=500", "--peer-rtt=15ms")
DATA_MIB = 8400  # of the drawn layers, about; caches are parts of it
PARTS = (0, 5, 10, 15, 20, 25)
# Fig. 12: links differ, and a node has room for some deployments only: the nodes of a site are full to a third in the mean.
UNEQUAL = ("--drawn-rates", "--slots=12", "--run=30m")
SCHEDULERS = {"turns": "turn", "bandwidth": "netmarks", "predicted time": "predicted"}
# Fig. 14. Kubernetes knows neither peers nor layers: what is missing comes from the registry, to any node of the site.
SYSTEMS = {
    "kubernetes": ("--policy=lru", "--place=turn", "--no-peers"),
    "dormouse": ("--policy=arc", "--place=predicted"),
}


def waits(plan, parts, network, *args):
    """Of a deployment, by part of the data that a cache holds; percentiles are means over the seeds."""
    rate, rtt_ms = network
    caches = {DATA_MIB * p // 100: p for p in parts}
    runs = means(plan, "--nodes=10", f"--registry-mbit={rate}", f"--registry-rtt={rtt_ms}ms", *PEERS, *(f"--cache={mib}Mi" for mib in caches), *args)
    return {caches[cache // MIB]: {"mean": mean(same, "fetchSeconds"), "median": mean(same, "fetchMedianSeconds"), "p95": mean(same, "fetchP95Seconds"),
                                   "wan_gb": mean(same, "wideAreaBytes") / 1e9, "crowded": mean(same, "deploymentsWithoutSlot") / mean(same, "deployments")}
            for (_, _, cache), same in runs.items()}


def add(results, is_ours, labels, found):
    results.add("deploy_fetch_s" if is_ours else "peer_deploy_fetch_s", labels, "s", found["mean"], median=found["median"], p95=found["p95"])
    results.add("wide_area_gb", labels, "GB", found["wan_gb"])


def words_of(found):
    return f"{found['mean']:6.2f} s ({found['median']:5.2f}, {found['p95']:6.2f})"


def schedulers(plan, results, parts):
    """Only the scheduler is exchanged: caches, peers and links are the same."""
    network = NETWORKS[1]
    found = {name: waits(plan, parts, network, "--policy=arc", f"--place={place}", *UNEQUAL) for name, place in SCHEDULERS.items()}
    crowded = max(v["crowded"] for runs in found.values() for v in runs.values())
    say(f"  Fig. 12: mean (median, 95th percentile); at most {100 * crowded:.1f} % found no free slot")
    for part in parts:
        at = {"variant": "deploy", "figure": "12", "cache_percent": part, "mbit": network[0]}
        ours = found["predicted time"][part]
        for name, runs in found.items():
            add(results, name == "predicted time", {**at, "scheduler": name}, runs[part])
            if name != "predicted time":
                results.add("deploy_speedup", {**at, "over": name, "of": "waiting for layers, modelled"}, "1", runs[part]["mean"] / ours["mean"])
        say(f"  caches of {part:2} %: " + "; ".join(f"{name} {words_of(runs[part])}" for name, runs in found.items()))


def networks(plan, results, parts):
    speedups = {}
    for network in NETWORKS:
        found = {name: waits(plan, parts, network, *how) for name, how in SYSTEMS.items()}
        for part in parts:
            at = {"variant": "deploy", "figure": "14", "cache_percent": part, "mbit": network[0], "rtt_ms": network[1]}
            ours = found["dormouse"][part]
            for name, runs in found.items():
                add(results, name == "dormouse", {**at, "system": name}, runs[part])
                if name != "dormouse":
                    speedup = runs[part]["mean"] / ours["mean"]
                    results.add("deploy_speedup", {**at, "over": name, "of": "waiting for layers, modelled"}, "1", speedup)
                    speedups.setdefault(name, []).append(speedup)
            say(f"  {network[0]:3} Mbit/s, caches of {part:2} %: " + "; ".join(f"{name} {words_of(runs[part])}" for name, runs in found.items()))
    for name, values in speedups.items():
        results.add("deploy_speedup", {"variant": "deploy", "figure": "14", "over": name, "of": "waiting for layers, modelled", "mean": "all"}, "1",
                    sum(values) / len(values), least=min(values), most=max(values))


def run(plan, results):
    parts = PARTS[::2] if plan.quick else PARTS
    schedulers(plan, results, parts)
    networks(plan, results, parts)
