# SPDX-License-Identifier: Apache-2.0
"""The texts of src/kube/model/types become tables by a program of the build, which refuses what is wrong in them."""
import re
import subprocess

import pytest

from conftest import BUILD, ROOT

PACKER = BUILD / "src/kube/model/pack-types"
TYPES = ROOT / "src/kube/model/types"
FILES = re.findall(r"'types/(\w+\.txt)'", (ROOT / "src/kube/model/meson.build").read_text())
HEAD = "release v1\npackage io.k8s.api.core.v1\nkind v1 Pod\ntype Pod\n  kind  string omitempty\n"


def pack(tmp_path, *texts):
    return subprocess.run([PACKER, tmp_path / "out.c", *texts], capture_output=True, text=True)


def pack_text(tmp_path, text):
    (tmp_path / "in.txt").write_text(text)
    return pack(tmp_path, tmp_path / "in.txt")


def test_the_texts_of_the_tree_become_the_same_tables_each_time(tmp_path):
    assert sorted(FILES) == sorted(path.name for path in TYPES.iterdir())
    done = pack(tmp_path, *(TYPES / name for name in FILES))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out.c").read_text() == (BUILD / "src/kube/model/builtin_tables.c").read_text()


def test_a_type_becomes_rows(tmp_path):
    done = pack_text(tmp_path, HEAD + """\
  spec  *Spec =2 required
  rules  Rules =3.1 omitempty omitzero
type Spec
  items  []Item =1 listType=map listMapKey=name,port patchStrategy=merge,retainKeys patchMergeKey=name
  phase  Phase =2 default="a b"
type Item
  last   string =9
  first  map[string]Quantity =2 nullable
type Rules atomic
  any    any
enum Phase "" Busy
""")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "out.c").read_text()
    rows = {name: re.findall(r"\{ (.*?) \}", body) for name, body in re.findall(r"(builtin_\w+)\[\] = \{\n(.*?)\};", text, re.S)}
    texts = re.findall(r'^    "(.*)\\0"$', text, re.M)
    at, names = 0, {}
    for t in texts:
        names[at] = t
        at += len(t.replace('\\"', '"')) + 1
    fields = [row.split(", ") for row in rows["builtin_fields"]]
    types = [row.split(", ") for row in rows["builtin_types"]]
    assert [names[int(f[0])] for f in fields] == ["kind", "spec", "rules", "items", "phase", "last", "first", "any"]
    assert [f[2:] for f in fields] == [["0", "0", "2"], ["2", "0", "5"], ["1", "3", "10"], ["1", "0", "0"],
                                       ["2", "0", "0"], ["9", "0", "0"], ["2", "0", "0"], ["0", "0", "0"]]
    assert [names[int(t[1])] for t in types] == ["v1.Pod", "v1.Spec", "v1.Item", "v1.Rules"]
    assert [t[2:] for t in types] == [["0", "3"], ["3", "2"], ["5", "2"], ["7", "1"]]
    assert '"a b"' in "".join(names.values()).replace('\\"', '"')
    order = re.search(r"builtin_proto_order\[\] = \{\n(.*?)\};", text, re.S)[1]
    assert [line.strip() for line in order.splitlines()] == ["1, 2, 255,", "0, 1,", "1, 0,", "255,"]


@pytest.mark.parametrize("text, complaint", [
    ("  spec  Spec =1", ":6: no type 'Spec'"),
    ("  spec  metav1.Spec =1", ":6: no import 'metav1'"),
    ("  spec", ":6: not 'FIELD TYPE ATTRIBUTE...'"),
    ("  kind  string", ":6: a second field 'kind'"),
    ("  spec  string optional", ":6: no attribute 'optional'"),
    ("  spec  string required required", ":6: a second 'required'"),
    ("  spec  string =x", ":6: '=x' is no number in protobuf"),
    ("  spec  string =1.2.3.4", ":6: '=1.2.3.4' is no number in protobuf"),
    ("  spec  string =300.1", ":6: '=300.1' is no number in protobuf"),
    ("  spec  string =70000", ":6: '=70000' is no number in protobuf"),
    ("  spec  string patchStrategy=merg", ":6: no patch strategy 'merg'"),
    ("  spec  []string listType=list", ":6: no list type 'list'"),
    ("  spec  []string listType=map", ":6: listType=map and listMapKey go together"),
    ("  spec  string listType=set", ":6: a list type of something else than a list"),
    ("  spec  string patchMergeKey=", ":6: 'patchMergeKey=' has no value"),
    ("  spec  string default=", ":6: 'default=' has no value"),
    ("  spec  string default=\"x", ":6: the default '\"x' is no JSON"),
    ("  spec  string|bool", ":6: no union 'string|bool'"),
    ("  s/c   string", ":6: 's/c' is no name of a field"),
    ("  spec  " + 70 * "[]" + "string", ":6: types in types, more than 64 deep"),
    ("type Spec\n", ":6: no kind has anything of type 'Spec'"),
    ("type Pod\n", ":6: a second type 'Pod'"),
    ("type Spec odd", ":6: not 'type NAME' or 'type NAME atomic'"),
    ("enum Phase", ":6: not 'enum NAME VALUE...'"),
    ("enum Phase A A", ":6: 'A' stands twice"),
    ("enum Phase \"A", ":6: '\"A' is no string"),
    ("kind v1 Pod", ":6: a second kind 'Pod'"),
    ("kind v1 Nod", ":6: no type 'Nod'"),
    ("kind v1", ":6: not 'kind GROUP/VERSION KIND'"),
    ("import a", ":6: not 'import ALIAS PACKAGE'"),
    ("import a b.c\nimport a b.d", ":7: a second import 'a'"),
    ("package one", ":6: not 'package NAME'"),
    ("release v2", ":6: release v2, but v1 before"),
    ("typ Spec", ":6: 'typ' begins no line"),
    ("package a.b\n  spec  string", ":7: a field, but no type before it"),
])
def test_what_is_wrong_in_a_text_is_reported_with_its_line(tmp_path, text, complaint):
    done = pack_text(tmp_path, HEAD + text + "\n")
    assert done.returncode == 1 and complaint in done.stderr, done.stderr
    assert not (tmp_path / "out.c").exists()


def test_what_a_text_lacks_is_reported(tmp_path):
    assert "no release" in pack_text(tmp_path, HEAD.replace("release v1\n", "")).stderr
    assert ":1: 'type' before a package" in pack_text(tmp_path, "type Pod\n").stderr
    done = pack_text(tmp_path, HEAD + "".join(f"  f{i}  string\n" for i in range(254)))
    assert done.returncode == 1 and "more than 254 fields" in done.stderr
    assert "cannot read" in pack(tmp_path, tmp_path / "none.txt").stderr
    (tmp_path / "in.txt").write_text(HEAD)
    assert "cannot write" in pack(tmp_path / "no", tmp_path / "in.txt").stderr
