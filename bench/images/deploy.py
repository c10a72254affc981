# SPDX-License-Identifier: Apache-2.0
"""After Figs. 12 and 14 of the BREAK paper, in virtual time: how long deployments wait for their layers.

A model, not a cluster: the trace and the caches of the variant cache, links at their full rate without other traffic, no unpacking (see
extract for that). A deployment that has to fetch pays two round trips before the first byte. What it says is how much placement, caches and peers save.
"""
from cache import MIB, mean, means
from result import say

DOC = "waiting for layers in virtual time, by scheduler, cache size and network (after Figs. 12 and 14)"
# Mbit/s from the registry, seconds of a round trip; inside a cluster 500 Mbit/s.
NETWORKS = ((50, 0.2), (100, 0.05), (500, 0.01))
PEER_MBIT = 500
ROUND_TRIPS = 2
DATA_MIB = 8400  # of the drawn layers, about; caches are parts of it
PARTS = (5, 10, 15, 20, 25)
# Kubernetes knows neither peers nor layers: what is missing comes from the registry, to any node of the site.
SYSTEMS = {"dormouse": ("arc", "locality", PEER_MBIT), "kubernetes": ("lru", "turn", None)}


def fetch_s(plan, policy, place, rate, delay, peer_rate, parts):
    """Seconds of a deployment in the mean, by part of the data that a cache holds."""
    caches = {DATA_MIB * p // 100: p for p in parts}
    runs = means(plan, f"--policy={policy}", "--nodes=10", f"--place={place}", f"--registry-mbit={rate}", f"--peer-mbit={peer_rate or rate}",
                 *(f"--cache={mib}Mi" for mib in caches))
    found = {}
    for (_, _, cache), same in runs.items():
        asking = 1 - mean(same, "deploymentsWithoutFetch") / mean(same, "deployments")
        found[caches[cache // MIB]] = mean(same, "fetchSeconds") + ROUND_TRIPS * delay * asking
    return found


def schedulers(plan, results, parts):
    """Only the scheduler is exchanged: caches, peers and the link are the same."""
    rate, delay = NETWORKS[1]
    found = {place: fetch_s(plan, "arc", place, rate, delay, PEER_MBIT, parts) for place in ("locality", "turn")}
    for part in parts:
        ours, peer = found["locality"][part], found["turn"][part]
        labels = {"variant": "deploy", "figure": "12", "cache_percent": part, "mbit": rate}
        results.add("deploy_fetch_s", {**labels, "scheduler": "locality"}, "s", ours)
        results.add("peer_deploy_fetch_s", {**labels, "scheduler": "turn"}, "s", peer)
        results.add("deploy_speedup", {**labels, "of": "waiting for layers, modelled"}, "1", peer / ours)
        say(f"  caches of {part:2} %: {ours:.2f} s by locality, {peer:.2f} s by turn")


def networks(plan, results, parts):
    speedups = []
    for rate, delay in NETWORKS:
        found = {name: fetch_s(plan, policy, place, rate, delay, peer, parts) for name, (policy, place, peer) in SYSTEMS.items()}
        for part in parts:
            ours, peer = found["dormouse"][part], found["kubernetes"][part]
            labels = {"variant": "deploy", "figure": "14", "cache_percent": part, "mbit": rate}
            results.add("deploy_fetch_s", labels, "s", ours)
            results.add("peer_deploy_fetch_s", {**labels, "peer": "kubernetes"}, "s", peer)
            results.add("deploy_speedup", {**labels, "of": "waiting for layers, modelled"}, "1", peer / ours)
            speedups.append(peer / ours)
            say(f"  {rate:3} Mbit/s, caches of {part:2} %: {ours:6.2f} s, Kubernetes {peer:6.2f} s ({peer / ours:.1f} times)")
    results.add("deploy_speedup", {"variant": "deploy", "figure": "14", "of": "waiting for layers, modelled", "mean": "all"}, "1", sum(speedups) / len(speedups))


def run(plan, results):
    parts = PARTS[::2] if plan.quick else PARTS
    schedulers(plan, results, parts)
    networks(plan, results, parts)
