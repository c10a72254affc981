# SPDX-License-Identifier: Apache-2.0
"""What the variants of ./dev bench images share: rows of results, and words on stderr."""
import sys


class Skipped(Exception):
    """Something that a variant needs is not here; the text says what."""


class Results:
    def __init__(self):
        self.rows = []

    def add(self, metric, labels, unit, value=None, **more):
        row = {"metric": metric, "labels": labels, "unit": unit}
        if value is not None:
            row["value"] = round(value, 4)
        row.update({k: round(v, 4) for k, v in more.items()})
        self.rows.append(row)


def say(text):
    print(text, file=sys.stderr, flush=True)
