# SPDX-License-Identifier: Apache-2.0
"""`dormouse image replay`: requests for images against layer caches in virtual time."""
import json
import subprocess

from conftest import BUILD


def replay(*args, status=0):
    r = subprocess.run([BUILD / "dormouse", "image", "replay", *map(str, args)], capture_output=True, text=True, timeout=60)
    assert r.returncode == status, r.stderr
    return r


def test_every_policy_cluster_and_cache_is_run_on_the_drawn_trace():
    out = replay("--days", 1, "--nodes", 4, "--nodes", 10, "--cache", "500Mi", "--cache", "1Gi", "-o", "json").stdout
    report = json.loads(out)
    got = [(r["policy"], r["nodes"], r["cacheBytes"]) for r in report["results"]]
    assert got == [(p, n, c) for c in (500 << 20, 1 << 30) for n in (4, 10) for p in ("arc", "lru", "lfu")]
    for r in report["results"]:
        assert r["deployments"] == report["trace"]["requests"]
        assert 0 < r["localHitRatio"]["bytes"] + r["edgeHitRatio"]["bytes"] < 1
        assert r["wideAreaBytes"] <= r["requested"]["bytes"]


def test_the_seed_decides():
    args = "--days", 1, "--prefetch", "-o", "json"
    assert replay(*args).stdout == replay(*args).stdout
    assert replay(*args).stdout != replay(*args, "--seed", 1).stdout


def test_a_trace_comes_from_a_file(tmp_path):
    trace = tmp_path / "requests.csv"
    trace.write_text("# two nodes, one layer\nlayer,web,sha256:aa,1000\nrequest,0,web\nrequest,5,web,1\nrequest,9,web,1\n")
    r = json.loads(replay(trace, "--nodes", 2, "--policy", "arc", "-o", "json").stdout)["results"][0]
    assert r["localHitRatio"]["requests"] == r["edgeHitRatio"]["requests"] == 1 / 3
    assert r["wideAreaBytes"] == 1000
    table = replay(trace, "--nodes", 2).stdout.splitlines()
    assert table[0] == "3 requests for 1 images of 1 layers, 0.00 GB"
    assert table[2].split()[:3] == ["POLICY", "NODES", "CACHE-MB"]


def test_placement_by_links_and_by_prediction(tmp_path):
    trace = tmp_path / "requests.csv"
    trace.write_text("layer,a,x,100000\nlayer,b,y,40000000\nrequest,0,a\nrequest,1,b\nrequest,5000,b\n")
    pair = (trace, "--nodes", 2, "--policy", "lru", "--drawn-rates", "--slots", 1, "--run", "1s", "--hold", "1ms", "-o", "json")
    found = {}
    for place in ("netmarks", "predicted"):
        found[place] = r = json.loads(replay(*pair, "--place", place, "--registry-rtt", "50ms", "--peer-rtt", "15ms").stdout)["results"][0]
        assert r["linkRateLeast"] < 1 < r["linkRateMost"]
        assert r["deploymentsWithoutSlot"] == 0
        assert r["fetchMedianSeconds"] <= r["fetchP95Seconds"]
    # b is on the slow node: predicted goes there once more, netmarks to the fast one.
    assert found["predicted"]["deploymentsWithoutFetch"] == 1 and found["netmarks"]["deploymentsWithoutFetch"] == 0
    without = json.loads(replay(*pair, "--place", "netmarks", "--no-peers", "--cache", 0).stdout)["results"][0]
    assert without["edgeHitRatio"]["requests"] == without["localHitRatio"]["requests"] == 0
    assert without["wideAreaBytes"] == 80100000


def test_starts_by_files_or_before_the_rest(tmp_path):
    trace = tmp_path / "requests.csv"
    trace.write_text("layer,web,base,1450000\nrequest,0,web,0\nrequest,5,web,1\n")
    args = (trace, "--nodes", 2, "--policy", "lru", "--read", "0.1", "--registry-rtt", "100ms", "--peer-rtt", "10ms", "-o", "json")
    files, alone, rest = (json.loads(replay(*args, *more).stdout)["results"][0]
                          for more in (("--start", "files"), ("--start", "files", "--batch", 1), ("--start", "rest")))
    assert files["wideAreaBytes"] == 145000 + 2 * 5200     # the index twice
    assert rest["wideAreaBytes"] == 1450000
    first = (145000 + 5200) * 8 / 100e6
    assert abs(files["fetchP95Seconds"] - (first + 0.3)) < 1e-9     # connection, index, ten files at once
    assert abs(alone["fetchP95Seconds"] - (first + 1.2)) < 1e-9
    assert abs(rest["fetchP95Seconds"] - (first + 0.4)) < 1e-9


def test_wrong_words_are_named(tmp_path):
    trace = tmp_path / "requests.csv"
    trace.write_text("layer,web,x,1000\nrequest,soon,web\n")
    assert f"{trace}: line 2: the time of a request is a number" in replay(trace, status=1).stderr
    assert "--policy is arc, lru, lfu or all, not 'fifo'" in replay("-p", "fifo", status=2).stderr
    assert "--place is random, turn, locality, netmarks or predicted, not 'near'" in replay("--place", "near", status=2).stderr
    assert "--start is whole, rest or files, not 'lazy'" in replay("--start", "lazy", status=2).stderr
    assert "what a start reads is a part" in replay("--read", "2", status=2).stderr
    assert "round trip of more than a minute" in replay("--peer-rtt", "2m", status=2).stderr
    assert "--nodes cannot be '0'" in replay("--nodes", 0, status=2).stderr
    assert "--cache cannot be 'large'" in replay("--cache", "large", status=2).stderr
    assert "--overlap is a number, not 'x'" in replay("--overlap", "x", status=2).stderr
    assert "out of range" in replay("--overlap", "2", status=2).stderr
