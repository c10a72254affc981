# SPDX-License-Identifier: Apache-2.0
"""The benchmark of operators measures what it says, in the form that its readers expect."""
import json
import os
import subprocess

from conftest import BUILD, ROOT


def bench(tmp_path, *args):
    out = tmp_path / "out.json"
    subprocess.run([ROOT / "bench/operators/run", "--quick", "--no-wake", "--build", BUILD, "--work", tmp_path / "work",
                    "--out", out, *args], check=True, timeout=300)
    return json.loads(out.read_text())


def by_metric(report, variant):
    return {r["metric"]: r for r in report["results"] if r["labels"].get("variant") == variant}


def test_the_ring_is_measured_awake_and_asleep(tmp_path):
    report = bench(tmp_path, "--operators", "5", "--variants", "wasm,native")
    assert report["bench"] == "operators" and report["machine"] and report["revision"]
    wasm, native = by_metric(report, "wasm"), by_metric(report, "native")
    for metric in ("pss_asleep_mib", "pss_active_mib", "anon_active_mib", "swap_disk_mib"):
        assert wasm[metric]["value"] > 0, metric
        assert wasm[metric]["labels"] == {"n": 5, "variant": "wasm", "heap_mib": 0, "guest": "c"}
    for found in (wasm, native):
        hop = found["hop_awake_ms"]
        assert 0 < hop["p50"] <= hop["p90"] <= hop["p99"] and hop["n"] >= 20 * 4
    assert native["processes_active"]["value"] == 6
    assert wasm["idle_wakeups_per_minute"]["labels"]["of"] == "guests"
    assert wasm["idle_wakeups_per_minute"]["value"] == 0


def test_unknown_variants_are_refused(tmp_path):
    r = subprocess.run([ROOT / "bench/operators/run", "--variants", "wasm,docker", "--work", tmp_path], capture_output=True,
                       text=True)
    assert r.returncode == 1 and "no variant 'docker'" in r.stderr
    assert not os.path.exists(tmp_path / "data")
