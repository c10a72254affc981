# SPDX-License-Identifier: Apache-2.0
"""What differs between two transcripts, and which differences are known."""
import json
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent


class Absent:
    def __repr__(self):
        return "(absent)"


ABSENT = Absent()


def key_of(items):
    """How a list of objects is aligned: by name, so that one that is missing does not shift all others."""
    for key in ("name", "type", "key", "resource", "subresource", "groupVersion"):
        values = [i.get(key) for i in items if isinstance(i, dict)]
        if values and len(values) == len(items) and len(set(map(str, values))) == len(values) and None not in values:
            return key
    return None


def differences(want, got, path=""):
    """Yields (path, upstream's value, ours)."""
    if isinstance(want, dict) and isinstance(got, dict):
        for k in sorted({*want, *got}):
            yield from differences(want.get(k, ABSENT), got.get(k, ABSENT), f"{path}.{k}" if path else str(k))
    elif isinstance(want, list) and isinstance(got, list):
        key = key_of(want)
        if key and key == key_of(got):
            theirs, ours = {str(i[key]): i for i in want}, {str(i[key]): i for i in got}
            for k in [*theirs, *(k for k in ours if k not in theirs)]:
                yield from differences(theirs.get(k, ABSENT), ours.get(k, ABSENT), f"{path}[{k}]")
            if list(theirs) != list(ours) and set(theirs) == set(ours):
                yield path + "[order]", list(theirs), list(ours)
            return
        for i in range(max(len(want), len(got))):
            yield from differences(want[i] if i < len(want) else ABSENT, got[i] if i < len(got) else ABSENT, f"{path}[{i}]")
    elif want != got or isinstance(want, bool) != isinstance(got, bool):
        yield path, want, got


class Difference:
    def __init__(self, scenario, label, path, want, got):
        self.scenario, self.label, self.path, self.want, self.got = scenario, label, path, want, got

    @property
    def area(self):
        return self.scenario.split("/")[0]

    @property
    def pattern(self):
        """The path without what is particular, to count alike differences once."""
        return re.sub(r"\[[^\]]*\]", "[]", self.path)

    def __str__(self):
        return f"{self.scenario} | {self.label} | {self.path}: upstream {show(self.want)}, dormouse {show(self.got)}"


def show(v):
    text = repr(v) if v is ABSENT else json.dumps(v, sort_keys=True)
    return text if len(text) <= 300 else text[:297] + "..."


def compare(scenario, theirs, ours):
    """All differences of one scenario. When the status differs nothing else of that answer is compared."""
    for i in range(max(len(theirs), len(ours))):
        if i >= len(theirs) or i >= len(ours):
            yield Difference(scenario, (theirs if i < len(theirs) else ours)[i]["label"], "asked", i < len(theirs), i < len(ours))
            continue
        want, got = theirs[i], ours[i]
        if want["status"] != got["status"]:
            yield Difference(scenario, want["label"], "status", [want["status"], brief(want)], [got["status"], brief(got)])
            continue
        for path, w, g in differences({k: want.get(k) for k in ("headers", "body")}, {k: got.get(k) for k in ("headers", "body")}):
            yield Difference(scenario, want["label"], path, w, g)


def brief(entry):
    body = entry.get("body")
    return body.get("message") if isinstance(body, dict) else None


class Known:
    """The deliberate differences: known.json, a list of {scenario, label, path, reason}, patterns of re.search."""

    def __init__(self, path=HERE / "known.json"):
        self.rules = json.loads(path.read_text())
        for rule in self.rules:
            assert rule["reason"], rule
            rule["used"] = 0

    def explains(self, d):
        for rule in self.rules:
            if all(re.search(rule.get(k, ""), getattr(d, k)) for k in ("scenario", "label", "path")) and \
                    ("got" not in rule or re.search(rule["got"], show(d.got))) and ("want" not in rule or re.search(rule["want"], show(d.want))):
                rule["used"] += 1
                return rule["reason"]
        return None
