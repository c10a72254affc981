# SPDX-License-Identifier: Apache-2.0
"""New versions of images that were refactored and published: what `image refactor --update` sends to the registry.

The old versions of the recorded images are refactored together and pushed into docker-registry. Each new version then goes there as a delta, which is
also what a node with the old version fetches. Compared with the least that has to move: the contents of the files that changed or came, in the
order of their paths, in one gzip stream of level 6. Contents are drawn (see refactor.py).
"""
import json
import pathlib
import subprocess
import sys
import zlib

from figures import merged, potential
from refactor import BLOCK, DATA, FAMILIES, content, read_layers
from result import Skipped, say

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "test/behaviour"))
from registry_kit import REGISTRY, real  # noqa: E402

DOC = "updates of published images: bytes that are sent, beside those of the files that changed"


def random_parts(names):
    """digest -> random bytes of each block, as refactor.make_images() draws contents."""
    parts, made = {}, set()
    for name in names:
        for recorded, size, rows in read_layers(name):
            if recorded in made:
                continue
            made.add(recorded)
            total = sum(int(r[6]) for r in rows) or 1
            part = min(BLOCK, max(1, int(BLOCK * max(0, size - 60 * len(rows)) / total)))
            for r in rows:
                if r[1] == "0":
                    parts.setdefault(r[8], part)
    return parts


def changed_mb(family, parts):
    """The files of the new version that the old one has not at the same path with the same rights and content, compressed."""
    old, new = (merged(f"{family}-{age}") for age in ("old", "new"))
    packer, n = zlib.compressobj(6, wbits=31), 0
    for path, v in sorted(new.items()):
        if v[0] == "0" and old.get(path) != v:
            n += len(packer.compress(content(v[4], v[6], parts[v[4]])))
    return (n + len(packer.flush())) / 1e6


def call(plan, *words, check=True):
    done = subprocess.run([str(plan.build / "dormouse"), "image", *map(str, words), "-o", "json"], capture_output=True, text=True, timeout=600)
    if check and done.returncode:
        raise OSError(f"dormouse image {words[0]}: {done.stderr.strip()[-300:]}")
    return json.loads(done.stdout) if done.returncode == 0 else done.stderr.strip()


def update(plan, results, host, layout, family, parts):
    words = ("refactor", f"oci:{layout}:{family}-new", "--update", f"{family}-old", "--to", f"docker://{host}/shared:{family}-new", "--mode", "replace",
             "--index-dir", plan.work / "published/indexes", "--proof", "own")
    out = call(plan, *words, check=False)
    refused = isinstance(out, str)
    if refused:
        out = call(plan, *words, "--force")
    sent, least = out["blobs"]["bytes"] / 1e6, changed_mb(family, parts)
    share, possible = 100 * (1 - out["addedFileBytes"] / out["fileBytes"]), potential(family)[1]
    labels = {"variant": "published", "family": family}
    results.add("update_mb", {**labels, "how": "sent to the registry"}, "MB", sent)
    results.add("update_mb", {**labels, "how": "files that changed, compressed"}, "MB", least)
    results.add("update_ratio", {**labels, "of": "sent to changed"}, "1", sent / least)
    results.add("shareable_percent", {**labels, "of": "file bytes", "when": "after"}, "%", share)
    results.add("shareable_percent", {**labels, "of": "file bytes", "when": "at most"}, "%", possible)
    results.add("hidden_percent", labels, "%", 100 * out["hiddenFileBytes"] / out["fileBytes"])
    say(f"  {family:10} sent {sent:6.2f} MB, changed {least:6.2f} MB ({sent / least:.3f}); shared {share:5.1f} of {possible:5.1f} %; "
        f"hidden {100 * out['hiddenFileBytes'] / out['fileBytes']:4.1f} %{', only with --force' if refused else ''}")


def run(plan, results):
    if not REGISTRY or not pathlib.Path(DATA).is_dir() or subprocess.run(["which", "zstd"], stdout=subprocess.DEVNULL).returncode:
        raise Skipped("no docker-registry, zstd or recorded images here")
    families = FAMILIES[:2] if plan.quick else FAMILIES
    names = [f"{f}-{age}" for age in ("old", "new") for f in families]
    work, images = plan.work / "published", plan.work / f"images-{len(names)}"
    subprocess.run(["rm", "-rf", str(work)], check=True)
    (work / "indexes").mkdir(parents=True)
    subprocess.run([sys.executable, str(pathlib.Path(__file__).with_name("refactor.py")), str(images), *names], check=True)
    parts, layout = random_parts(names), images / "layout"
    with real(work) as host:
        call(plan, "refactor", *[f"oci:{layout}:{f}-old" for f in families], "--to", f"docker://{host}/shared", "--mode", "replace", "--gain-threshold", "1",
             "--proof", "own")
        for family in families:
            update(plan, results, host, layout, family, parts)
    subprocess.run(["rm", "-rf", str(work)], check=True)
