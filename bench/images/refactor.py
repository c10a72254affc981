# SPDX-License-Identifier: Apache-2.0
"""Refactoring the ten real images of test/data/image-trees, with contents made from their digests: time, memory, and the ratios of BREAK.

A file's content is drawn from its digest: equal digests give equal contents, different ones different contents. Of every 4 KiB a part is
random and the rest a text that repeats, so that a layer compresses about as the real one did (its recorded compressed size).
"""
import gzip
import hashlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import time

from result import Skipped, say

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "test/behaviour"))
from image_kit import Layout  # noqa: E402

DOC = "shared layers for ten real images: ratios, update sharing, time and memory"
FAMILIES = ("debian", "redis", "python", "node", "postgres")
DATA = "test/data/image-trees"
BLOCK = 4096
TEXT = b"".join(hashlib.sha256(b"%d" % (i % 97)).hexdigest().encode() for i in range(64))
TYPES = {"0": tarfile.REGTYPE, "1": tarfile.LNKTYPE, "2": tarfile.SYMTYPE, "3": tarfile.CHRTYPE, "5": tarfile.DIRTYPE}


def content(digest, size, random_part):
    """`size` bytes that depend on the digest; of each block random_part bytes do not compress."""
    if size <= 0:
        return b""
    blocks = -(-size // BLOCK)
    noise = hashlib.shake_128(bytes.fromhex(digest)).digest(blocks * random_part)
    filler = TEXT[:BLOCK - random_part]
    return b"".join(noise[i * random_part:(i + 1) * random_part] + filler for i in range(blocks))[:size]


def read_layers(name):
    text = subprocess.run(["zstd", "-dc", f"{DATA}/{name}.tsv.zst"], stdout=subprocess.PIPE, check=True).stdout.decode()
    layers = []
    for line in text.splitlines():
        row = line.split("\t")
        if row[0] == "#layer":
            layers.append((row[2], int(row[3]), []))
        else:
            layers[-1][2].append(row)
    return layers


def make_tar(size, rows, parts):
    """parts: digest -> random bytes of a block, the same in all layers."""
    total = sum(int(r[6]) for r in rows) or 1
    part = min(BLOCK, max(1, int(BLOCK * max(0, size - 60 * len(rows)) / total)))
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path, kind, mode, uid, gid, mtime, n, link, digest in rows:
            info = tarfile.TarInfo(path.removeprefix("./") or ".")
            info.type, info.mode, info.uid, info.gid, info.mtime = TYPES[kind], int(mode, 8), int(uid), int(gid), int(mtime)
            data = content(digest, int(n), parts.setdefault(digest, part)) if kind == "0" else b""
            info.size, info.linkname = len(data), "" if link == "-" else link.removeprefix("./") if kind == "1" else link
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


def take_part(rows, one_in):
    """One file in so many, chosen by digest, so that layers share what they share; with all directories and links but hard ones to what is left out."""
    kept = {r[0] for r in rows if r[1] == "0" and int(r[8][:8], 16) % one_in == 0}
    return [r for r in rows if r[1] not in "01" or r[0] in kept or (r[1] == "1" and r[7] in kept)]


def make_images(directory, names, one_in=1):
    """A layout with the images, made once. one_in: of the files."""
    done = directory / "complete"
    if done.exists():
        return
    subprocess.run(["rm", "-rf", str(directory)], check=True)
    directory.mkdir(parents=True)
    layout, made, parts = Layout(directory / "layout"), {}, {}
    for name in names:
        say(f"  making {name}")
        described = []
        for recorded, size, rows in read_layers(name):
            if recorded not in made:
                tar = make_tar(size // one_in, take_part(rows, one_in) if one_in > 1 else rows, parts)
                packed = gzip.compress(tar, 1, mtime=0)
                made[recorded] = ("sha256:" + hashlib.sha256(tar).hexdigest(), layout.descriptor(packed, "application/vnd.oci.image.layer.v1.tar+gzip"))
            described.append(made[recorded])
        config = json.dumps({"os": "linux", "architecture": "amd64", "rootfs": {"type": "layers", "diff_ids": [d for d, _ in described]}})
        manifest = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
                    "config": layout.descriptor(config.encode(), "application/vnd.oci.image.config.v1+json"), "layers": [d for _, d in described]}
        layout.manifests.append(layout.descriptor(json.dumps(manifest).encode(), manifest["mediaType"], platform={"os": "linux", "architecture": "amd64"},
                                                  annotations={"org.opencontainers.image.ref.name": name}))
    (directory / "layout/index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": layout.manifests}))
    done.touch()


def run_once(plan, references, *args):
    """The output, wall and CPU seconds, peak memory in MiB."""
    began = time.monotonic()
    child = subprocess.Popen([str(plan.build / "dormouse"), "image", "refactor", *references, "-o", "json", *args], stdout=subprocess.PIPE)
    out = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = status
    if status:
        raise OSError("dormouse image refactor failed")
    return json.loads(out), time.monotonic() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def measure(plan, results, label, references, *args, rounds=3):
    runs = []
    for _ in range(1 if plan.quick else rounds):
        subprocess.run(["rm", "-rf", str(plan.work / "out")], check=True)
        runs.append(run_once(plan, references, *args))
    runs.sort(key=lambda r: r[1])
    out, wall, cpu, mib = runs[len(runs) // 2]
    labels = {"variant": "refactor", **label}
    results.add("refactor_s", labels, "s", wall, n=len(runs), least=runs[0][1], most=runs[-1][1])
    results.add("refactor_cpu_s", labels, "s", cpu)
    results.add("refactor_peak_mib", labels, "MiB", mib)
    return out


def report(results, out, label):
    labels = {"variant": "refactor", **label}
    files = out["fileBytes"]
    stored = out.get("stored", out["storedEstimate"])
    total = sum(i["sizeBefore"] for i in out["images"])
    results.add("disk_ratio", {**labels, "of": "images to stored, compressed"}, "1", total / stored)
    results.add("disk_ratio", {**labels, "of": "layers before to after, compressed"}, "1", out["storedBefore"] / stored)
    results.add("disk_ratio", {**labels, "of": "merged to stored, files"}, "1", files["merged"] / files["layersAfter"])
    results.add("disk_ratio", {**labels, "of": "layers before to after, files"}, "1", files["layersBefore"] / files["layersAfter"])
    results.add("disk_ratio", {**labels, "of": "content alone (the bound)"}, "1", files["merged"] / files["distinct"])
    if files["layersAfter"] > files["distinct"]:
        results.add("disk_ratio", {**labels, "of": "redundant before to after"}, "1",
                    (files["layersBefore"] - files["distinct"]) / (files["layersAfter"] - files["distinct"]))
    results.add("stored_mb", {**labels, "when": "before"}, "MB", out["storedBefore"] / 1e6)
    results.add("stored_mb", {**labels, "when": "after"}, "MB", stored / 1e6)
    results.add("shared_mb", {**labels, "by": "digest"}, "MB", out["digestShared"] / 1e6)
    results.add("shared_mb", {**labels, "by": "prefix"}, "MB", out["prefixShared"] / 1e6)


def layers_of(out, name):
    return {i: v for i, v in enumerate(out["layers"]) if name in v["images"]}


def report_updates(results, out, families, threshold):
    """How much of each new version the layers of the old one provide."""
    for family in families:
        old, new = layers_of(out, f"{family}-old"), layers_of(out, f"{family}-new")
        image = next(i for i in out["images"] if i["name"] == f"{family}-new")
        both = sum(v["size"] for d, v in new.items() if d in old)
        labels = {"variant": "refactor", "family": family, "layer_threshold_kib": threshold}
        results.add("shareable_percent", {**labels, "of": "compressed bytes of the new version"}, "%", 100 * both / (image["sharedSize"] + image["ownSize"]))
        results.add("update_mb", {**labels, "when": "before"}, "MB", image["sizeBefore"] / 1e6)
        results.add("update_mb", {**labels, "when": "after"}, "MB", (image["sharedSize"] + image["ownSize"] - both) / 1e6)


def run(plan, results):
    if subprocess.run(["which", "zstd"], stdout=subprocess.DEVNULL).returncode:
        raise Skipped("no zstd here")
    families = FAMILIES[:2] if plan.quick else FAMILIES
    names = [f"{f}-{age}" for age in ("old", "new") for f in families]
    plan.work.mkdir(parents=True, exist_ok=True)
    images = plan.work / f"images-{len(names)}"
    # In a process of its own: what this one holds would count as the peak of those that it starts.
    subprocess.run([sys.executable, __file__, str(images), *names], check=True)
    layout = images / "layout"
    references = [f"oci:{layout}:{n}" for n in names]
    small = ("--gain-threshold", "1") if plan.quick else ()
    say("  planning")
    measure(plan, results, {"step": "plan", "images": len(names)}, references, "--dry-run")
    for threads in (1, 2):
        say(f"  refactoring with {threads} threads")
        out = measure(plan, results, {"step": "all", "images": len(names), "threads": threads}, references, "--to", f"oci:{plan.work / 'out'}",
                      "--threads", str(threads), *small, rounds=1 if threads == 1 else 3)
    report(results, out, {"link": "none"})
    report_updates(results, out, families, 256)
    for threshold in (1024, 64):
        out = run_once(plan, references, "--dry-run", "--layer-threshold", f"{threshold}Ki")[0]
        report(results, out, {"link": "none", "layer_threshold_kib": threshold, "sizes": "estimated"})
        report_updates(results, out, families, threshold)
    say("  linked content")
    subprocess.run(["rm", "-rf", str(plan.work / "out")], check=True)
    report(results, run_once(plan, references, "--dry-run", "--link", "symlink", "--force")[0], {"link": "symlink"})


if __name__ == "__main__":
    one_in = int(sys.argv[2]) if sys.argv[1] == "--one-in" else 1
    directory, *names = sys.argv[3:] if one_in > 1 else sys.argv[1:]
    make_images(pathlib.Path(directory), names, one_in)
