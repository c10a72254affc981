# SPDX-License-Identifier: Apache-2.0
"""The texts of src/kube/rules/text become tables by a program of the build, which refuses what is wrong in them."""
import subprocess

import pytest

from conftest import BUILD, ROOT

PACKER = BUILD / "src/kube/rules/pack-rules"
TEXTS = sorted((ROOT / "src/kube/rules/text").glob("*.txt"))


def pack(tmp_path, text):
    (tmp_path / "in.txt").write_text(text)
    return subprocess.run([PACKER, tmp_path / "out.h", tmp_path / "in.txt"], capture_output=True, text=True)


@pytest.mark.parametrize("text", TEXTS, ids=lambda path: path.stem)
def test_a_text_of_the_tree_becomes_the_same_tables_each_time(tmp_path, text):
    done = pack(tmp_path, text.read_text())
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out.h").read_text() == (BUILD / f"src/kube/rules/{text.stem}_rules.h").read_text()


def test_a_rule_becomes_a_check_with_its_argument(tmp_path):
    done = pack(tmp_path, """\
enum modes "" One
rules thing
  name   required "give a name"
  name   required label
  mode   enum? modes
  mode   enum! modes
  host   subdomain?
  size   range -1 9
  hosts  each each label
  odd    check odd_thing "text"
""")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "out.h").read_text()
    assert '{ "", sizeof("") - 1 },\n    { "One", sizeof("One") - 1 },' in text
    assert "static void odd_thing(const struct validate_value *s, const void *argument);" in text
    assert "rule_argument_0 = { -1, 9 };" in text
    assert "rule_argument_1 = { validate_label, NULL };" in text
    assert "rule_argument_2 = { validate_each, &rule_argument_1 };" in text
    rows = [line.strip(" ,") for line in text[text.index("rules_thing[]"):].splitlines()[1:-1]]
    assert rows == ['{ "name", validate_required, "give a name" }', '{ "name", validate_required_label, NULL }',
                    '{ "mode", validate_enum_if_set, &enum_modes }', '{ "mode", validate_enum_strict, &enum_modes }',
                    '{ "host", validate_subdomain_if_set, NULL }', '{ "size", validate_range, &rule_argument_0 }',
                    '{ "hosts", validate_each, &rule_argument_2 }', '{ "odd", odd_thing, "text" }']


@pytest.mark.parametrize("text, complaint", [
    ("rules a\n  b  labell", ":2: no rule 'labell' of this form"),
    ("rules a\n  b  port?", ":2: no rule 'port' of this form"),
    ("rules a\n  b  path-segment", ":2: no rule 'path-segment' of this form"),
    ("rules a\n  b", ":2: no rule"),
    ("rules a\n  b  label c", ":2: 'c' is too much"),
    ("rules a\n  b  enum c", ":2: no enum 'c' before this"),
    ("rules a\n  b  enum", ":2: no name of an enum"),
    ("rules a\n  b  range 1", ":2: no limit of a range"),
    ("rules a\n  b  range 1 x", ":2: 'x' is no number"),
    ("rules a\n  b  range 2 1", ":2: the range is empty"),
    ("rules a\n  b  check C()", ":2: 'C()' is no name of a function"),
    ("rules a\n  b  each each each each each label", ":2: no rule 'each' of this form"),
    ("rules a\n  b  required \"c", ":2: '\"c' is no string"),
    ("rules a\n  \"b\"  label", ":2: '\"b\"' is no name of a member"),
    ("rules a\nrules b\n  c  label", ":2: rules without a member"),
    ("rules a\n  b  label\nrules a\n  b  label", ":3: a second 'rules a'"),
    ("rules A", ":1: 'A' is no name: lower case, digits, '_'"),
    ("rules", ":1: not 'rules NAME'"),
    ("enum a", ":1: not 'enum NAME VALUE...'"),
    ("enum a B B", ":1: 'B' stands twice"),
    ("enum a B\nenum a C", ":2: a second 'enum a'"),
    ("  b  label", ":1: a member, but no rules before it"),
    ("rule a", ":1: 'rule' begins no line"),
])
def test_what_is_wrong_in_a_text_is_reported_with_its_line(tmp_path, text, complaint):
    done = pack(tmp_path, text + "\n")
    assert done.returncode == 1 and complaint in done.stderr, done.stderr
    assert not (tmp_path / "out.h").exists()
