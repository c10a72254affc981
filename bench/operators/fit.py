# SPDX-License-Identifier: Apache-2.0
"""Memory against the number of operators: straight lines with confidence intervals, and where two of them cross.

Ordinary least squares; the intervals are Student's, for the slope and the intercept each.
"""
import math

# The 97.5th percentile of Student's t by degrees of freedom.
T_975 = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262, 10: 2.228, 12: 2.179, 15: 2.131,
         20: 2.086, 30: 2.042, 60: 2.000}
T_NORMAL = 1.960


def t_975(freedom):
    """Of the next smaller number of degrees that the table has: the interval is never too narrow."""
    if freedom > 120:
        return T_NORMAL
    return T_975[max(d for d in T_975 if d <= freedom)]


class Line:
    """y = base + slope * x, with half the width of the 95 % intervals; None with fewer than three points."""

    def __init__(self, points):
        n = len(points)
        mean_x, mean_y = sum(x for x, _ in points) / n, sum(y for _, y in points) / n
        square = sum((x - mean_x) ** 2 for x, _ in points)
        if not square:
            raise ValueError("all points have the same x")
        self.slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / square
        self.base = mean_y - self.slope * mean_x
        self.slope_half = self.base_half = None
        if n > 2:
            left = sum((y - self.base - self.slope * x) ** 2 for x, y in points)
            deviation = math.sqrt(left / (n - 2))
            t = t_975(n - 2)
            self.slope_half = t * deviation / math.sqrt(square)
            self.base_half = t * deviation * math.sqrt(1 / n + mean_x ** 2 / square)


def break_even(small, other):
    """From how many operators on `small` takes less memory than `other`; None: never, 0: always."""
    if small.base <= other.base and small.slope <= other.slope:
        return 0
    if small.slope >= other.slope:
        return None
    return max(0, (small.base - other.base) / (other.slope - small.slope))


def add_fits(rows, add, against=("native", "crun", "controller-runtime", "crun-go", "kube-rs", "crun-rust")):
    """From rows pss_active_mib and pss_asleep_mib of at least two sizes without extra heap: what an operator adds, what there is
    without any, and how many operators make a Wasm variant the smaller one."""
    points = {}
    for row in rows:
        labels = row["labels"]
        if row["metric"] in ("pss_active_mib", "pss_asleep_mib") and labels.get("heap_mib") == 0 and "distinct_modules" not in labels:
            points.setdefault((labels["variant"], row["metric"].split("_")[1]), []).append((labels["n"], row["value"]))
    lines = {}
    for key, of in sorted(points.items()):
        if len({n for n, _ in of}) < 2:
            continue
        line = lines[key] = Line(of)
        labels = {"variant": key[0], "phase": key[1]}
        interval = {} if line.slope_half is None else {"low": line.slope - line.slope_half, "high": line.slope + line.slope_half}
        add("pss_per_operator_mib", labels, "MiB", line.slope, n=len(of), **interval)
        interval = {} if line.base_half is None else {"low": line.base - line.base_half, "high": line.base + line.base_half}
        add("pss_without_operators_mib", labels, "MiB", line.base, n=len(of), **interval)
    for (variant, phase), line in lines.items():
        for other in against:
            if variant in against or variant == "comb" or (other, phase) not in lines:
                continue
            at = break_even(line, lines[other, phase])
            if at is not None:
                add("break_even_operators", {"variant": variant, "against": other, "phase": phase}, "1", at)
