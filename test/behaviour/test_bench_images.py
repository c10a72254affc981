# SPDX-License-Identifier: Apache-2.0
"""bench/images: the variant that needs nothing but the program, and its plot."""
import json
import subprocess
import xml.dom.minidom

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


def test_an_unknown_variant_is_named():
    assert "there is no variant 'moon'; there are " in bench("--variants", "moon", status=1).stderr


def test_memory_of_an_idle_server(tmp_path):
    out = tmp_path / "results.json"
    bench("--quick", "--variants", "serve", "--work", tmp_path / "work", "--out", out)
    rows = json.loads(out.read_text())["results"]
    assert [r["metric"] for r in rows] == ["serve_idle_pss_mib", "serve_idle_pss_mib", "serve_cpu_s_per_gb"]
    assert all(r["value"] > 0 for r in rows)
