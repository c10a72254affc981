# SPDX-License-Identifier: Apache-2.0
"""After Figs. 12 and 14 of the BREAK paper, in virtual time: how long deployments wait for their layers.

A model, not a cluster: the trace and the caches of the variant cache, links at their full rate without other traffic, no unpacking (see
extract for that). A deployment that has to fetch pays two round trips to the farthest source before the first byte.

Gear is a model as well: the index of an image first, from the registry, then the files that a start reads, by digest, from nodes that have them or
from the registry, BATCH of them in a round trip; nodes keep these files and fetch no others. What a start reads is published (READ); how many
files that is, how large an index is, and what two versions have in common, is counted in the recorded file lists.
"""
import pathlib
import shutil
import zlib

from cache import MIB, mean, means
from figures import merged
from refactor import DATA, FAMILIES, read_layers
from result import Skipped, say

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
READ = 0.064    # of an image's bytes, in the mean of 57 images: Harter et al., Slacker, FAST 2016
BATCH = 16      # assumed
LAZY = "dormouse, lazy"
SYSTEMS = {
    "kubernetes": ("--policy=lru", "--place=turn", "--no-peers"),
    "gear": ("--policy=lru", "--place=turn", "--start=files"),
    "dormouse": ("--policy=arc", "--place=predicted"),
    LAZY: ("--policy=arc", "--place=predicted", "--start=rest"),
}
OURS = ("dormouse", LAZY)


def index_of(name):
    """The index of a recorded image: (bytes, distinct files). Digests are 32 bytes, the whole is compressed."""
    tree = merged(name)
    rows = (f"{path} {kind} {mode} {uid} {gid} {link} {size}\n".encode() + (b"" if digest == "-" else bytes.fromhex(digest))
            for path, (kind, mode, uid, gid, digest, link, size) in sorted(tree.items()))
    return len(zlib.compress(b"".join(rows), 6)), len({v[4] for v in tree.values() if v[6] > 0})


def above_base(family):
    """Bytes of the files of the new version above its lowest layer: all, and those that the old version has, by digest."""
    old = {row[8] for _, _, rows in read_layers(f"{family}-old") for row in rows}
    files = {row[8]: int(row[6]) for _, _, rows in read_layers(f"{family}-new")[1:] for row in rows if row[1] == "0"}
    return sum(files.values()), sum(n for digest, n in files.items() if digest in old)


def file_options(results):
    """What the lists say of files, as options of the replay."""
    if not shutil.which("zstd") or not pathlib.Path(DATA).is_dir():
        raise Skipped("no zstd or no recorded images here")
    names = [f"{f}-{age}" for age in ("old", "new") for f in FAMILIES]
    indexes = [index_of(n) for n in names]
    size, files = sum(layer[1] for n in names for layer in read_layers(n)), sum(n for _, n in indexes)
    above = [above_base(f) for f in FAMILIES]
    found = {"read": READ, "common": sum(c for _, c in above) / sum(n for n, _ in above), "file-bytes": round(size / files),
             "index-bytes": round(sum(n for n, _ in indexes) / files), "batch": BATCH}
    for what, value in found.items():
        results.add("gear_assumption", {"variant": "deploy", "what": what}, "1", value)
    say("  of files: " + ", ".join(f"{what} {value:.3g}" if value < 1 else f"{what} {value}" for what, value in found.items()))
    return [f"--{what}={value}" for what, value in found.items()]


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


def networks(plan, results, parts, of_files):
    speedups = {}
    for network in NETWORKS:
        found = {name: waits(plan, parts, network, *how, *of_files) for name, how in SYSTEMS.items()}
        at = {"variant": "deploy", "figure": "14", "mbit": network[0], "rtt_ms": network[1]}
        for part in parts:
            for name, runs in found.items():
                add(results, name in OURS, {**at, "cache_percent": part, "system": name}, runs[part])
            for ours in OURS:
                for peer in [n for n in SYSTEMS if n not in OURS]:
                    speedup = found[peer][part]["mean"] / found[ours][part]["mean"]
                    results.add("deploy_speedup", {**at, "cache_percent": part, "system": ours, "over": peer, "of": "waiting for layers, modelled"}, "1", speedup)
                    speedups.setdefault((ours, peer), []).append(speedup)
            say(f"  {network[0]:3} Mbit/s, caches of {part:2} %: " + "; ".join(f"{name} {words_of(runs[part])}" for name, runs in found.items()))
        for batch in (1, 0):    # what the assumption means
            runs = waits(plan, parts, network, *SYSTEMS["gear"], *of_files, f"--batch={batch}")
            for part in parts:
                results.add("peer_deploy_fetch_s", {**at, "cache_percent": part, "system": f"gear, batch {batch or 'of all'}"}, "s", runs[part]["mean"],
                            median=runs[part]["median"], p95=runs[part]["p95"])
    for (ours, peer), values in speedups.items():
        results.add("deploy_speedup", {"variant": "deploy", "figure": "14", "system": ours, "over": peer, "of": "waiting for layers, modelled", "mean": "all"}, "1",
                    sum(values) / len(values), least=min(values), most=max(values))


def run(plan, results):
    parts = PARTS[::2] if plan.quick else PARTS
    schedulers(plan, results, parts)
    networks(plan, results, parts, file_options(results))
