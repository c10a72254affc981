# SPDX-License-Identifier: Apache-2.0
"""Table I and Fig. 10 of the BREAK paper over the ten recorded images: one refactoring that is written, then counted from its layers.

Contents are drawn from the recorded digests (see refactor.py): shares of files are those of the real images, compressed bytes are near them.
"""
import json
import pathlib
import subprocess
import sys

from refactor import DATA, FAMILIES, read_layers, run_once
from result import Skipped, say

DOC = "Table I and Fig. 10 of BREAK: what a new version shares with the old one, sizes before and after"


def merged(name):
    """path -> (type, mode, uid, gid, digest, link, size) of everything but directories, and the directories' paths apart."""
    tree = {}

    def remove(path, itself):
        for p in [p for p in tree if p.startswith(path + "/") or (itself and p == path)]:
            del tree[p]

    for _, _, rows in read_layers(name):
        rows = [(r[0].removeprefix("./"), *r[1:]) for r in rows]
        whiteouts = [r[0] for r in rows if r[0].rsplit("/", 1)[-1].startswith(".wh.")]
        for path in whiteouts:
            parent, _, base = path.rpartition("/")
            if base == ".wh..wh..opq":
                remove(parent, False)
            else:
                remove(f"{parent}/{base[4:]}" if parent else base[4:], True)
        own = {r[0]: r for r in rows}
        for path, kind, mode, uid, gid, _, size, link, digest in rows:
            if path.rsplit("/", 1)[-1].startswith(".wh.") or path in ("", "."):
                continue
            if kind == "1":  # a hard link is what it names, whose bytes count once
                digest = own[link.removeprefix("./")][8] if link.removeprefix("./") in own else digest
            if kind == "5":
                if path in tree and tree[path][0] != "5":
                    del tree[path]
            elif path in tree and tree[path][0] == "5":
                remove(path, True)
            tree[path] = (kind, mode, uid, gid, digest, link, int(size))
    return tree


def potential(family):
    """Percent of the files, and of their bytes, of the new version that the old one has at the same path with the same rights; without directories."""
    old, new = (merged(f"{family}-{age}") for age in ("old", "new"))
    files = {p: v for p, v in new.items() if v[0] != "5"}
    same = [p for p, v in files.items() if old.get(p) == v]
    total = sum(v[6] for v in files.values())
    return 100 * len(same) / len(files), 100 * sum(files[p][6] for p in same) / total


def layers_of(layout, name):
    """digest -> (files, size) of the layers of an image in the written layout."""
    def read(digest):
        return json.loads((layout / "blobs/sha256" / digest[7:]).read_text())
    index = json.loads((layout / "index.json").read_text())
    found = next(m for m in index["manifests"] if m["annotations"]["org.opencontainers.image.ref.name"] == name)
    return {d["digest"]: (int(d.get("annotations", {}).get("image.dormouse.dev/files", 0)), d["size"]) for d in read(found["digest"])["layers"]}


def files_of(name):
    """recorded digest -> (names that are no directories and no whiteouts, 0) of the layers of a recorded image."""
    return {digest: (sum(r[1] != "5" and not r[0].rsplit("/", 1)[-1].startswith(".wh.") for r in rows), 0) for digest, _, rows in read_layers(name)}


def percent_shared(layers, among, what):
    total = sum(v[what] for v in layers.values())
    return 100 * sum(v[what] for d, v in layers.items() if d in among) / total


def missing_mb(layers, present):
    return sum(size for digest, (_, size) in layers.items() if digest not in present) / 1e6


def table_one(results, source, written, families):
    moved = {"before": 0, "after": 0}
    say(f"  {'new version of':14}{'files before':>14}{'after':>8}{'at most':>9}{'bytes before':>14}{'after':>8}{'at most':>9}")
    for family in families:
        old, new = (layers_of(written, f"{family}-{age}") for age in ("old", "new"))
        was_old, was_new = (layers_of(source, f"{family}-{age}") for age in ("old", "new"))
        before = percent_shared(was_new, was_old, 1)
        row = {"files": (percent_shared(files_of(f"{family}-new"), files_of(f"{family}-old"), 0), percent_shared(new, old, 0)),
               "compressed bytes": (before, percent_shared(new, old, 1))}
        bound = dict(zip(("files", "file bytes"), potential(family)))
        labels = {"variant": "figures", "figure": "table1", "family": family}
        for of, (was, now) in row.items():
            results.add("shareable_percent", {**labels, "of": of, "when": "before"}, "%", was)
            results.add("shareable_percent", {**labels, "of": of, "when": "after"}, "%", now)
        mb = {"before": missing_mb(was_new, was_old), "after": missing_mb(new, old)}
        results.add("update_mb", labels, "MB", mb["after"])
        results.add("peer_update_mb", {**labels, "peer": "layers as they were"}, "MB", mb["before"])
        results.add("wan_ratio", {**labels, "of": "bytes of an update"}, "1", mb["before"] / mb["after"])
        moved = {when: n + mb[when] for when, n in moved.items()}
        for of, percent in bound.items():
            results.add("shareable_percent", {**labels, "of": of, "when": "at most"}, "%", percent)
        say(f"  {family:14}{row['files'][0]:14.1f}{row['files'][1]:8.1f}{bound['files']:9.1f}{before:14.1f}{row['compressed bytes'][1]:8.1f}"
            f"{bound['file bytes']:9.1f}")
    results.add("wan_ratio", {"variant": "figures", "figure": "table1", "family": "all", "of": "bytes of an update"}, "1", moved["before"] / moved["after"])
    say(f"  updates of all move {moved['before']:.0f} MB before, {moved['after']:.0f} MB after: {moved['before'] / moved['after']:.2f} times less")


def figure_ten(results, out, written, names):
    seen = {}
    for name in names:
        layers = layers_of(written, name)
        for digest in layers:
            seen.setdefault(digest, set()).add(name)
    for image in out["images"]:
        layers = layers_of(written, image["name"])
        shared = {d for d in layers if len(seen[d]) > 1}
        labels = {"variant": "figures", "figure": "10", "image": image["name"]}
        results.add("image_mb", {**labels, "part": "before"}, "MB", image["sizeBefore"] / 1e6)
        results.add("image_mb", {**labels, "part": "shared after"}, "MB", image["sharedSize"] / 1e6)
        results.add("image_mb", {**labels, "part": "own after"}, "MB", image["ownSize"] / 1e6)
        results.add("shareable_percent", {**labels, "of": "files"}, "%", percent_shared(layers, shared, 0))
    labels = {"variant": "figures", "figure": "10", "image": "all"}
    results.add("image_mb", {**labels, "part": "images"}, "MB", sum(i["sizeBefore"] for i in out["images"]) / 1e6)
    results.add("image_mb", {**labels, "part": "before"}, "MB", out["storedBefore"] / 1e6)
    results.add("image_mb", {**labels, "part": "after"}, "MB", out["stored"] / 1e6)
    total = sum(i["sizeBefore"] for i in out["images"])
    results.add("disk_ratio", {**labels, "of": "images to stored, compressed"}, "1", total / out["stored"])
    results.add("disk_ratio", {**labels, "of": "images to stored, compressed", "peer": "layers as they were"}, "1", total / out["storedBefore"])
    files = out["fileBytes"]
    for name, ratio in (("merged to stored", files["merged"] / files["layersAfter"]), ("distinct layers to stored", files["layersBefore"] / files["layersAfter"]),
                        ("redundant before to after", (files["layersBefore"] - files["distinct"]) / max(1, files["layersAfter"] - files["distinct"]))):
        results.add("disk_ratio", {"variant": "figures", "figure": "10", "of": name}, "1", ratio)
        say(f"  {name}: {ratio:.2f}")


def run(plan, results):
    if subprocess.run(["which", "zstd"], stdout=subprocess.DEVNULL).returncode:
        raise Skipped("no zstd here")
    if not pathlib.Path(DATA).is_dir():
        raise Skipped("no recorded images here")
    families = FAMILIES[:2] if plan.quick else FAMILIES
    names = [f"{f}-{age}" for age in ("old", "new") for f in families]
    plan.work.mkdir(parents=True, exist_ok=True)
    images = plan.work / f"images-{len(names)}"
    subprocess.run([sys.executable, str(pathlib.Path(__file__).with_name("refactor.py")), str(images), *names], check=True)
    written = plan.work / "figures"
    subprocess.run(["rm", "-rf", str(written)], check=True)
    out = run_once(plan, [f"oci:{images / 'layout'}:{n}" for n in names], "--to", f"oci:{written}", *(("--gain-threshold", "1") if plan.quick else ()))[0]
    table_one(results, images / "layout", written, families)
    figure_ten(results, out, written, names)
    subprocess.run(["rm", "-rf", str(written)], check=True)
