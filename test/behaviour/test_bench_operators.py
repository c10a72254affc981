# SPDX-License-Identifier: Apache-2.0
"""The benchmark of operators measures what it says, in the form that its readers expect."""
import json
import os
import subprocess
import sys

import pytest

from conftest import BUILD, ROOT

sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "bench/operators"))
from measure import percentile  # noqa: E402
from fit import Line, add_fits, break_even, t_975  # noqa: E402
from modulator import UNLIMITED_STEPS, GroupV1, Modulator, next_limit  # noqa: E402

pytestmark = pytest.mark.long


def bench(tmp_path, *args):
    out = tmp_path / "out.json"
    subprocess.run([ROOT / "bench/operators/run", "--quick", "--no-wake", "--build", BUILD, "--work", tmp_path / "work",
                    "--out", out, *args], check=True, timeout=300)
    return json.loads(out.read_text())


def by_metric(report, variant):
    return {r["metric"]: r for r in report["results"] if r["labels"].get("variant") == variant}


def test_the_ring_is_measured_awake_and_asleep(tmp_path):
    report = bench(tmp_path, "--operators", "5", "--variants", "wasm,v1,native", "--shared", "0")
    assert report["bench"] == "operators" and report["machine"] and report["revision"]
    wasm, v1, native = (by_metric(report, variant) for variant in ("wasm", "v1", "native"))
    for metric in ("pss_asleep_mib", "pss_active_mib", "anon_active_mib", "swap_disk_mib"):
        assert wasm[metric]["value"] > 0, metric
        assert wasm[metric]["labels"] == {"n": 5, "variant": "wasm", "heap_mib": 0, "guest": "c", "abi": "g2"}
    assert v1["pss_asleep_mib"]["labels"] == {"n": 5, "variant": "v1", "heap_mib": 0, "guest": "c", "abi": "v1"}
    for found in (wasm, v1, native):
        hop = found["hop_awake_ms"]
        assert 0 < hop["p50"] <= hop["p90"] <= hop["p99"] and hop["n"] >= 20 * 4
    assert native["processes_active"]["value"] == 6
    for found in (wasm, v1):
        assert found["hop_after_sleep_ms"]["n"] == 2 * 4
        assert found["idle_wakeups_per_minute"]["labels"]["of"] == "guests"
        assert found["idle_wakeups_per_minute"]["value"] == 0


def test_a_change_of_a_shared_object_wakes_whom_it_concerns(tmp_path):
    rows = bench(tmp_path, "--variants", "", "--shared", "300")["results"]
    for place in ("http", "embedded"):
        found = {r["metric"]: r for r in rows if r["labels"]["place"] == place}
        assert found["shared_synced_s"]["labels"] == {"place": place, "objects": 310, "n": 10, "abi": "v1", "guest": "c"}
        assert found["shared_synced_s"]["value"] > 0 and found["shared_pss_mib"]["value"] > 0
        assert found["shared_change_ms"]["n"] == 5 and found["shared_change_ms"]["p50"] > 0
        assert found["shared_needless_wakeups"]["value"] == 0 and found["shared_needless_wakeups"]["labels"]["others"] == 5
    phases = [(r["labels"]["of"], r["labels"]["phase"]) for r in rows if r["metric"] == "shared_pss_mib" and r["labels"]["place"] == "http"]
    assert phases == [("all", "before"), ("all", "starting"), ("all", "asleep"), ("host", "asleep")]


def test_unknown_variants_are_refused(tmp_path):
    r = subprocess.run([ROOT / "bench/operators/run", "--variants", "wasm,docker", "--work", tmp_path], capture_output=True,
                       text=True)
    assert r.returncode == 1 and "no variant 'docker'" in r.stderr
    assert not os.path.exists(tmp_path / "data")


def test_percentiles_are_values_that_were_seen():
    assert percentile([3, 1, 2], 50) == 2
    assert percentile(range(100), 95) == 95
    assert percentile([7], 99) == 7


def test_the_modulator_lowers_its_limit_until_processes_stall():
    most = 1 << 30
    assert next_limit(0, most, 100, 0, most) == most
    shock = next_limit(UNLIMITED_STEPS, most, 100, 0, most)
    assert shock == 120
    calm = next_limit(UNLIMITED_STEPS + 1, shock, 100, 400, most)
    assert calm == shock * (1 / 1.03)
    assert next_limit(UNLIMITED_STEPS + 2, calm, 100, 401, most) == calm * 1.02
    assert next_limit(UNLIMITED_STEPS + 2, 50, 100, 20_000, most) == 120
    assert next_limit(UNLIMITED_STEPS + 2, 50, 100, 3_000_000, most) == 130
    assert next_limit(UNLIMITED_STEPS + 2, most, most, 3_000_000, most) == most


def squeeze(modulator, used, stalled):
    """Past the steps without a limit, with files that say these."""
    used.write_text("4096\n")
    stalled.write_text("some avg10=0.00 total=9\nfull avg10=0.00 total=7\n")
    with modulator:
        while len(modulator.samples) <= UNLIMITED_STEPS + 1:
            modulator.ended.wait(0.001)
    assert modulator.group.stalled_us() == 7 and set(modulator.last(60)) == {4096}


def test_the_modulator_samples_the_group_that_it_squeezes(tmp_path, monkeypatch):
    (tmp_path / "cgroup.controllers").write_text("cpu memory")
    assert not Modulator.is_possible(tmp_path / "elsewhere")
    limits = []
    modulator = Modulator(root=tmp_path, interval_s=0.001)
    group = modulator.group
    modulator.group.limit = lambda limit: (limits.append(limit), type(group).limit(group, limit))
    squeeze(modulator, group.path / "memory.current", group.path / "memory.pressure")
    assert limits[0] is None and min(limit for limit in limits if limit) < 4096 * 1.2
    assert (group.path / "memory.high").read_text() == "max"
    monkeypatch.setattr(type(group), "home", staticmethod(lambda root: root))
    with modulator.inside():
        assert (group.path / "cgroup.procs").read_text() == str(os.getpid()) and not (tmp_path / "cgroup.procs").exists()
    assert (tmp_path / "cgroup.procs").read_text() == str(os.getpid())


def test_the_modulator_takes_the_controller_of_cgroup_v1_where_v2_has_none(tmp_path, monkeypatch):
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory/memory.limit_in_bytes").write_text("-1")
    monkeypatch.setattr(GroupV1, "PRESSURE", tmp_path / "pressure")
    assert not GroupV1.is_possible(tmp_path)
    (tmp_path / "pressure").write_text("full avg10=0.00 total=7\n")
    modulator = Modulator(root=tmp_path, interval_s=0.001)
    path = modulator.group.path
    assert path.parent == tmp_path / "memory" and (path / "memory.oom_control").read_text() == "1"
    squeeze(modulator, path / "memory.usage_in_bytes", tmp_path / "pressure")
    assert (path / "memory.limit_in_bytes").read_text() == "-1"


def test_lines_have_the_intervals_of_students_t():
    # Worked by hand: means 2.5 and 4.25, Sxy = 8, Sxx = 5; two degrees of freedom.
    line = Line([(1, 1.5), (2, 3.5), (3, 6.0), (4, 6.0)])
    assert line.slope == pytest.approx(1.6) and line.base == pytest.approx(0.25)
    left = (1.5 - 1.85) ** 2 + (3.5 - 3.45) ** 2 + (6 - 5.05) ** 2 + (6 - 6.65) ** 2
    assert line.slope_half == pytest.approx(4.303 * (left / 2 / 5) ** 0.5)
    assert line.base_half == pytest.approx(4.303 * (left / 2) ** 0.5 * (1 / 4 + 6.25 / 5) ** 0.5)
    assert Line([(10, 1), (20, 2)]).slope_half is None
    with pytest.raises(ValueError):
        Line([(10, 1), (10, 2)])
    assert t_975(11) == t_975(10) and t_975(1000) == 1.96


def test_the_break_even_is_where_two_lines_cross():
    wasm, native, large = Line([(0, 10), (100, 14)]), Line([(0, 5), (100, 105)]), Line([(0, 5), (100, 6)])
    assert break_even(wasm, native) == pytest.approx(5 / 0.96)
    assert break_even(wasm, large) is None
    assert break_even(Line([(0, 1), (100, 2)]), native) == 0


def test_fits_are_of_rings_without_extra_heap():
    rows, out = [], []
    for variant, per in (("wasm", 0.1), ("native", 1.0), ("comb", 0.2)):
        for n in (10, 50, 100):
            rows.append({"metric": "pss_asleep_mib", "labels": {"variant": variant, "n": n, "heap_mib": 0}, "value": 10 + per * n})
        rows.append({"metric": "pss_asleep_mib", "labels": {"variant": variant, "n": 60, "heap_mib": 1}, "value": 1000})
    add_fits(rows, lambda metric, labels, unit, value, **more: out.append((metric, labels, value, more)))
    slopes = {labels["variant"]: value for metric, labels, value, _ in out if metric == "pss_per_operator_mib"}
    assert slopes == pytest.approx({"wasm": 0.1, "native": 1.0, "comb": 0.2})
    crossings = [(labels["variant"], labels["against"], value) for metric, labels, value, _ in out if metric == "break_even_operators"]
    assert crossings == [("wasm", "native", pytest.approx(0))]
