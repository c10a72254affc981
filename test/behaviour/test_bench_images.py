# SPDX-License-Identifier: Apache-2.0
"""bench/images: the variant that needs nothing but the program, and its plot."""
import json
import subprocess
import xml.dom.minidom

import pytest

from conftest import BUILD, ROOT


def bench(*args, status=0):
    r = subprocess.run([ROOT / "bench/images/run", "--build", BUILD, *map(str, args)], capture_output=True, text=True,
                       timeout=120)
    assert r.returncode == status, r.stderr
    return r


def test_hit_ratios_and_their_plot(tmp_path):
    out = tmp_path / "results.json"
    bench("--quick", "--variants", "cache", "--work", tmp_path / "work", "--out", out)
    report = json.loads(out.read_text())
    assert (report["bench"], report["skipped"]) == ("images", [])
    ratios = [r for r in report["results"] if r["metric"] == "hit_ratio" and r["labels"]["figure"] == "11a"]
    assert {r["labels"]["policy"] for r in ratios} == {"arc", "lru", "lfu"}
    assert {r["labels"]["nodes"] for r in ratios} == {4, 6, 8, 10}
    assert all(0 < r["value"] < 1 for r in ratios)
    subprocess.run([ROOT / "bench/images/plot", out, tmp_path], check=True, timeout=60)
    xml.dom.minidom.parse(str(tmp_path / "images-cache.svg"))


def test_deployments_in_virtual_time_and_their_plot(tmp_path):
    out = tmp_path / "results.json"
    bench("--quick", "--variants", "deploy", "--work", tmp_path / "work", "--out", out)
    report = json.loads(out.read_text())
    rows = [r for r in report["results"] if r["metric"] == "deploy_speedup" and r["labels"]["figure"] == "14"]
    assert report["skipped"] == [] and {r["labels"].get("mbit") for r in rows} == {50, 100, 500, None}
    ratios = {(r["labels"].get("mbit"), r["labels"].get("cache_percent"), r["labels"]["system"], r["labels"]["over"]): r["value"] for r in rows}
    for mbit in (50, 100, 500):
        assert ratios[mbit, 0, "dormouse", "kubernetes"] == 1  # nothing is kept anywhere: both fetch all from the registry
        # peers that are faster than the registry, and nodes that have the layers
        assert all(ratios[mbit, c, "dormouse", "kubernetes"] > 1 for c in (10, 20))
        assert all(ratios[mbit, c, "dormouse, lazy", "kubernetes"] > 1 for c in (0, 10, 20))
        # a start that fetches whole layers waits longer than one that reads single files
        assert all(ratios[mbit, c, "dormouse", "gear"] < 1 for c in (0, 10, 20))
    subprocess.run([ROOT / "bench/images/plot", out, tmp_path], check=True, timeout=60)
    xml.dom.minidom.parse(str(tmp_path / "images-deploy.svg"))


def row(metric, value, **labels):
    return {"metric": metric, "labels": {"variant": labels.pop("variant", "figures"), **labels}, "unit": "", "value": value}


def test_plots_of_figures_and_extraction(tmp_path):
    """From results as the variants write them; making the images takes too long here."""
    rows = [row("shareable_percent", v, figure="table1", family=f, of="files", when=w) for f in ("a", "b") for w, v in (("before", 0), ("after", 80), ("at most", 90))]
    rows += [row("wan_ratio", 3, figure="table1", family="a", of="bytes of an update"), row("update_mb", 3, figure="table1", family="a")]
    rows += [row("image_mb", v, figure="10", image=n, part=p) for n in ("a-old", "a-new") for p, v in (("before", 50), ("own after", 5), ("shared after", 45))]
    rows += [row("image_mb", v, figure="10", image="all", part=p) for p, v in (("images", 100), ("before", 80), ("after", 40))]
    rows += [row("extract_s", 0.5, variant="extract", image="a", sink="dirs", **{"from": "layout"})]
    rows += [row("peer_extract_s", 1.5, variant="extract", image="a", peer=p) for p in ("umoci", "containerd 2.x erofs")]
    (tmp_path / "results.json").write_text(json.dumps({"results": rows}))
    subprocess.run([ROOT / "bench/images/plot", tmp_path / "results.json", tmp_path], check=True, timeout=60)
    for name in ("figures", "extract"):
        xml.dom.minidom.parse(str(tmp_path / f"images-{name}.svg"))


def test_a_merged_view_of_recorded_layers_knows_whiteouts_and_hard_links(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "bench/images"))
    monkeypatch.chdir(ROOT)
    import figures

    def entry(path, kind="0", size=1, link="-", digest="d"):
        return [path, kind, "0o644", "0", "0", "1", str(size), link, digest]

    layers = [("l0", 1, [entry("./a", "5"), entry("./a/x"), entry("./a/y"), entry("./b", size=5, digest="e"), entry("./c", "1", 0, "./b")]),
              ("l1", 1, [entry("a/.wh.x"), entry("b", "5"), entry("b/n")])]
    monkeypatch.setattr(figures, "read_layers", lambda name: layers)
    tree = figures.merged("any")
    assert set(tree) == {"a", "a/y", "b", "b/n", "c"} and tree["c"][4] == "e" and tree["c"][6] == 0
    assert figures.files_of("any") == {"l0": (4, 0), "l1": (1, 0)}


def test_what_packages_share_is_what_has_the_same_path_rights_and_content(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "bench/images"))
    import packages
    from image_kit import layer
    old = [("d", "d", ""), ("d/same", "f", b"x" * 30), ("d/content", "f", b"1"), ("d/mode", "f", b"m", {"mode": 0o755}), ("d/link", "l", "same"), ("gone", "f", b"g")]
    new = [("d", "d", ""), ("d/same", "f", b"x" * 30), ("d/content", "f", b"2" * 10), ("d/mode", "f", b"m" * 10), ("d/link", "l", "same"), ("came", "f", b"c" * 10)]
    was, now = (packages.files_of(layer(entries)) for entries in (old, new))
    assert set(now) == {"d/same", "d/content", "d/mode", "d/link", "came"}
    assert packages.potential(was, now) == (40, 50)


def test_what_fails_first_is_said_when_unmounting_fails_too(monkeypatch, tmp_path, capsys):
    monkeypatch.syspath_prepend(str(ROOT / "bench/images"))
    import extract

    def refuse(program, *args, **options):
        if program == "umount":
            raise OSError("umount: busy")
    monkeypatch.setattr(extract, "call", refuse)
    monkeypatch.setattr(extract, "UNMOUNT_S", 0)
    with pytest.raises(OSError, match="pull failed"):
        with extract.Fresh(tmp_path):
            raise OSError("pull failed")
    assert "umount: busy" in capsys.readouterr().err
    with pytest.raises(OSError, match="umount: busy"):
        with extract.Fresh(tmp_path):
            pass


def test_an_unknown_variant_is_named():
    assert "there is no variant 'moon'; there are " in bench("--variants", "moon", status=1).stderr


def test_memory_of_an_idle_server(tmp_path):
    out = tmp_path / "results.json"
    bench("--quick", "--variants", "serve", "--work", tmp_path / "work", "--out", out)
    rows = json.loads(out.read_text())["results"]
    assert [(r["metric"], r["labels"].get("kind")) for r in rows] == [
        ("serve_idle_pss_mib", "registry"), ("serve_idle_pss_mib", "registry"), ("serve_cpu_s_per_gb", None), ("serve_idle_pss_mib", "node")]
    assert all(r["value"] > 0 for r in rows)
