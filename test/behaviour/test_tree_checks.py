# SPDX-License-Identifier: Apache-2.0
"""What the checks of the tree find: circles of directories, in made-up trees."""
import subprocess

import pytest

from conftest import ROOT

LAYERS = "base\n# services\napi fn\nnode\n"


def check_layers(tree, includes, known=()):
    """What tools/check-layers prints of a tree whose files include others, `path: (path, ...)`."""
    (tree / "tools").mkdir()
    (tree / "layers.txt").write_text(LAYERS)
    (tree / "tools/known-circles.txt").write_text("# exceptions\n" + "".join(f"{line}\n" for line in known))
    for path, targets in includes.items():
        file = tree / "src" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("#include <stdio.h>\n" + "".join(f'#include "{target}"\n' for target in targets))
    done = subprocess.run([ROOT / "tools/check-layers", tree], capture_output=True, text=True)
    assert (done.returncode == 0) == (done.stdout == ""), done.stderr
    return done.stdout.splitlines()


def test_what_points_down_is_right(tmp_path):
    includes = {"base/list.c": ["base/list.h", "version.h"], "api/core.c": ["base/list.h", "api/auth/authn.h"],
                "api/auth/authn.c": ["base/list.h"], "node/server.c": ["api/core.h", "api/auth/authn.h", "fn/fn.h"]}
    assert check_layers(tmp_path, includes) == []


@pytest.mark.parametrize("path, target, says", [
    ("base/list.c", "api/core.h", "src/base/list.c:2: base may not include api"),
    ("api/core.c", "fn/fn.h", "src/api/core.c:2: api may not include fn"),
    ("api/core.c", "lib/fn.h", "src/api/core.c:2: includes unknown directory lib"),
    ("lib/core.c", "base/list.h", "src/lib/core.c: directory lib is not in layers.txt"),
])
def test_what_points_up_or_aside_is_found(tmp_path, path, target, says):
    assert check_layers(tmp_path, {path: [target]}) == [says]


CIRCLE = {"api/core.c": ["api/auth/authn.h"], "api/auth/authn.c": ["api/admit/admit.h"], "api/admit/admit.h": ["api/core.h"],
          "api/gc/gc.c": ["api/core.h"]}
EDGES = ["api -> api/auth", "api/admit -> api", "api/auth -> api/admit"]


def test_a_circle_of_directories_is_found(tmp_path):
    rooms = "makes a circle of api, api/admit, api/auth"
    assert check_layers(tmp_path, CIRCLE) == [
        f"src/api/core.c:2: includes api/auth/authn.h: api -> api/auth {rooms}",
        f"src/api/admit/admit.h:2: includes api/core.h: api/admit -> api {rooms}",
        f"src/api/auth/authn.c:2: includes api/admit/admit.h: api/auth -> api/admit {rooms}"]


def test_a_known_circle_is_an_exception_and_may_not_grow(tmp_path):
    (tmp_path / "known").mkdir()
    assert check_layers(tmp_path / "known", CIRCLE, known=EDGES) == []
    (tmp_path / "grown").mkdir()
    grown = CIRCLE | {"api/auth/tokens.c": ["api/gc/gc.h"]}
    assert [line.split(": ")[2].split(" makes")[0] for line in check_layers(tmp_path / "grown", grown, known=EDGES)] == [
        "api/auth -> api/gc", "api/gc -> api"]


def test_an_exception_without_its_include_or_its_circle_is_stale(tmp_path):
    includes = dict(CIRCLE, **{"api/auth/authn.c": []})
    assert check_layers(tmp_path, includes, known=EDGES) == [
        "tools/known-circles.txt:2: api -> api/auth is part of no circle any more: remove the line",
        "tools/known-circles.txt:3: api/admit -> api is part of no circle any more: remove the line",
        "tools/known-circles.txt:4: api/auth -> api/admit is included nowhere any more: remove the line"]


def test_an_exception_that_cannot_be_read_is_an_error(tmp_path):
    assert check_layers(tmp_path, {}, known=["api api/auth"]) == [
        "tools/known-circles.txt:2: 'api api/auth' is not 'FROM -> TO'"]
