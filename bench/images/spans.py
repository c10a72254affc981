# SPDX-License-Identifier: Apache-2.0
"""Where the time goes from a registry on loopback to a root file system, layer by layer, as `image pull -o json` says it: when a layer began, when the
last byte of its blob was passed on, and when it was whole in the store. Bytes are compared, inflated and parsed while they arrive, so what is left
after the last one is the end of that, and the wait for the disk. Then the image is mounted. Each time on a fresh file system.
"""
import json
import os
import pathlib
import statistics
import time

from extract import Fresh, Image, call, end, registry_with
from refactor import make_images
from result import Skipped, say

DOC = "where the time of a pull goes, layer by layer"
IMAGES = ("redis-new", "postgres-new")
MOMENTS = ("began", "received", "done")


def seconds(span):
    return [span[f"{m}Microseconds"] / 1e6 for m in MOMENTS]


def once(image, sync):
    """[(layer, bytes, began, received, done)] of each layer, the lowest first; seconds until the pull was over, and until it was mounted then."""
    with Fresh(image.plan.work) as fresh:
        env = {**os.environ, "DORMOUSE_IMAGE_STORE": str(fresh.at / "images")}
        program, data = image.plan.build / "dormouse", ("--data-dir", fresh.at / "data")
        target = fresh.at / "mnt"
        target.mkdir()
        began = time.monotonic()
        output = json.loads(call(program, "image", "pull", f"docker://{image.in_registry}", "--name", "it", *([] if sync else ["--no-sync"]), "-o", "json", env=env))
        pulled = time.monotonic()
        error = None
        try:
            call(program, "image", "mount", "it", target, "--sink", "tarfs", *data, env=env)
            mounted = time.monotonic()
        except OSError as e:
            error = e
            raise
        finally:
            end(error, lambda: os.path.ismount(target) and call(program, "image", "umount", target, *data, env=env))
        return [(s["layer"], s["bytes"], *seconds(s)) for s in output["spans"]], pulled - began, mounted - pulled


def measure(results, image, rounds):
    runs = {True: [], False: []}
    for _ in range(rounds):
        for sync, all_runs in runs.items():  # in turn, so that what disturbs one disturbs all
            all_runs.append(once(image, sync))
    for sync, all_runs in runs.items():
        labels = {"variant": "spans", "image": image.name, "sync": "yes" if sync else "no"}
        for layer, spans in enumerate(zip(*(r[0] for r in all_runs))):
            for i, moment in enumerate(MOMENTS):
                times = [s[2 + i] for s in spans]
                results.add("layer_s", {**labels, "layer": layer, "until": moment}, "s", statistics.median(times), least=min(times), most=max(times),
                            bytes=spans[0][1])
        for what, i in (("pull_s", 1), ("mount_s", 2)):
            times = [r[i] for r in all_runs]
            results.add(what, labels, "s", statistics.median(times), n=len(times), least=min(times), most=max(times))
            say(f"  {image.name} sync={labels['sync']} {what}: {statistics.median(times):.2f} s ({min(times):.2f} to {max(times):.2f})")


def run(plan, results):
    if os.geteuid() != 0:
        raise Skipped("spans: a fresh file system takes root")
    images = IMAGES[:1] if plan.quick else IMAGES
    corpus = pathlib.Path(plan.work) / f"spans-{len(images)}"
    make_images(corpus, images)
    with registry_with(plan, corpus / "layout", images) as host:
        if not host:
            raise Skipped("spans: no docker-registry here")
        for name in images:
            measure(results, Image(plan, corpus / "layout", host, name), 2 if plan.quick else 5)
