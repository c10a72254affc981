# SPDX-License-Identifier: Apache-2.0
"""Verdicts, reasons, scores and queueing hints of our plugins against those of kube-scheduler's (test/schedplugins): against what they
were recorded to say, and against the plugins themselves where tools/build-upstream-plugins has built them."""
import os
import subprocess

import pytest

from conftest import BUILD, ROOT


def compare(*args, what="run"):
    done = subprocess.run([ROOT / "test/schedplugins" / what, *args], capture_output=True, text=True, timeout=300,
                          env=dict(os.environ, DORMOUSE_BUILD=str(BUILD)))
    print(done.stdout.splitlines()[-1] if done.stdout else "")  # with the seed
    return done


def test_verdicts_and_scores_are_those_that_were_recorded():
    done = compare()
    assert done.returncode == 0, done.stdout[-20000:] + done.stderr


def test_verdicts_and_scores_are_those_of_kube_schedulers_plugins():
    done = compare("--live", "--cases", "20")
    if done.returncode == 77:
        pytest.skip(done.stderr.strip().splitlines()[-1])
    assert done.returncode == 0, done.stdout[-20000:] + done.stderr


def test_hints_are_those_that_were_recorded():
    done = compare(what="hints")
    assert done.returncode == 0, done.stdout[-20000:] + done.stderr


def test_hints_are_those_of_kube_schedulers_plugins():
    done = compare("--live", "--cases", "8", what="hints")
    if done.returncode == 77:
        pytest.skip(done.stderr.strip().splitlines()[-1])
    assert done.returncode == 0, done.stdout[-20000:] + done.stderr
