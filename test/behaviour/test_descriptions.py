# SPDX-License-Identifier: Apache-2.0
"""The texts of `kubectl explain` are packed by a program of the build, which refuses what is wrong in them."""
import subprocess

import pytest

from conftest import BUILD, ROOT

PACKER = BUILD / "src/kube/model/pack-descriptions"
HEAD = "package io.k8s.api.core.v1\n"
SHARED = ROOT / "src/kube/model/descriptions/shared.txt"
TEXTS = sorted((ROOT / "src/kube/model/descriptions").glob("*.txt"))


def pack(tmp_path, *texts):
    return subprocess.run([PACKER, tmp_path / "out.c", *texts], capture_output=True, text=True)


def test_the_texts_of_the_tree_pack_the_same_way_each_time(tmp_path):
    assert pack(tmp_path, *TEXTS).returncode == 0
    assert (tmp_path / "out.c").read_text() == (BUILD / "src/kube/model/builtin_docs_packed.c").read_text()


@pytest.mark.parametrize("text, complaint", [
    ("Pod: Containers.\n  speck: A word.", ":3: no field 'speck' in this type"),
    ("Pood: Containers.", ":2: no type 'io.k8s.api.core.v1.Pood'"),
    ("Pod: Containers.\n  spec:", ":3: 'spec' has no text"),
    ("Pod: Containers.\n  spec: The Spec.", ":3: the text of 'spec' repeats the name"),
    ("Pod: Containers", ":2: the text of 'Pod' does not end with a full stop"),
    ("Pod: Containers.\nPod: More.", ":3: a second text for 'Pod'"),
    ("Pod: Containers.\n  spec: @nothing", "no shared text '@nothing'"),
    ("Pod: Containers.\n  = Pood", "no type 'io.k8s.api.core.v1.Pood' to be like"),
    ("@lonely: A text.", "nothing refers to '@lonely'"),
    ("Pod: " + 400 * "x" + ".", ":2: the text of 'Pod' is longer than 400 bytes"),
    ("Pod: Contain\u00e9rs.", ":2: the text of 'Pod' is not plain ASCII"),
    ("Pod", ":2: neither a comment nor 'name: text'"),
])
def test_what_is_wrong_in_a_text_is_reported_with_its_line(tmp_path, text, complaint):
    (tmp_path / "bad.txt").write_text(HEAD + text + "\n")
    done = pack(tmp_path, SHARED, tmp_path / "bad.txt")
    assert done.returncode == 1 and complaint in done.stderr, done.stderr
    assert not (tmp_path / "out.c").exists()


def test_texts_that_cannot_be_read_or_written_are_reported(tmp_path):
    done = pack(tmp_path, tmp_path / "none.txt")
    assert done.returncode == 1 and "cannot read" in done.stderr
    done = pack(tmp_path / "no" / "directory", *TEXTS)
    assert done.returncode == 1 and "cannot write" in done.stderr
