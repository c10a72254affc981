# SPDX-License-Identifier: Apache-2.0
"""What the checks of the tree find: circles of directories and names without a prefix, in made-up trees."""
import json
import os
import shutil
import subprocess

import pytest

from conftest import ROOT

LAYERS = "base\n# services\napi fn\nnode\nlab\n"


def check_layers(tree, includes):
    """What tools/check-layers prints of a tree whose files include others, `path: (path, ...)`."""
    (tree / "layers.txt").write_text(LAYERS)
    for path, targets in includes.items():
        file = tree / ("" if path.startswith("lab/") else "src") / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("#include <stdio.h>\n" + "".join(f'#include "{target}"\n' for target in targets))
    done = subprocess.run([ROOT / "tools/check-layers", tree], capture_output=True, text=True)
    assert (done.returncode == 0) == (done.stdout == ""), done.stderr
    return done.stdout.splitlines()


def test_what_points_down_is_right(tmp_path):
    includes = {"base/list.c": ["base/list.h", "version.h"], "api/core.c": ["base/list.h", "api/auth/authn.h"],
                "api/auth/authn.c": ["base/list.h"], "node/server.c": ["api/core.h", "api/auth/authn.h", "fn/fn.h"],
                "lab/cmd/main.c": ["node/server.h", "lab/fn/sim.h"], "lab/fn/sim.c": ["lab/fn/sim.h", "fn/fn.h"]}
    assert check_layers(tmp_path, includes) == []


@pytest.mark.parametrize("path, target, says", [
    ("base/list.c", "api/core.h", "src/base/list.c:2: base may not include api"),
    ("api/core.c", "fn/fn.h", "src/api/core.c:2: api may not include fn"),
    ("api/core.c", "lib/fn.h", "src/api/core.c:2: includes unknown directory lib"),
    ("lib/core.c", "base/list.h", "src/lib/core.c: directory lib is not in layers.txt"),
    ("node/server.c", "lab/fn/sim.h", "src/node/server.c:2: node may not include lab"),
    ("lab/fn/sim.c", "lib/fn.h", "lab/fn/sim.c:2: includes unknown directory lib"),
])
def test_what_points_up_or_aside_is_found(tmp_path, path, target, says):
    assert check_layers(tmp_path, {path: [target]}) == [says]


CIRCLE = {"api/core.c": ["api/auth/authn.h"], "api/auth/authn.c": ["api/admit/admit.h"], "api/admit/admit.h": ["api/core.h"],
          "api/gc/gc.c": ["api/core.h"]}


def test_a_circle_of_directories_is_found(tmp_path):
    rooms = "makes a circle of api, api/admit, api/auth"
    assert check_layers(tmp_path, CIRCLE) == [
        f"src/api/core.c:2: includes api/auth/authn.h: api -> api/auth {rooms}",
        f"src/api/admit/admit.h:2: includes api/core.h: api/admit -> api {rooms}",
        f"src/api/auth/authn.c:2: includes api/admit/admit.h: api/auth -> api/admit {rooms}"]


def test_a_circle_in_the_lab_is_found(tmp_path):
    assert check_layers(tmp_path, {"lab/fn/sim.c": ["lab/cmd/cmd.h"], "lab/cmd/cmd.c": ["lab/fn/sim.h"]}) == [
        "lab/cmd/cmd.c:2: includes lab/fn/sim.h: lab/cmd -> lab/fn makes a circle of lab/cmd, lab/fn",
        "lab/fn/sim.c:2: includes lab/cmd/cmd.h: lab/fn -> lab/cmd makes a circle of lab/cmd, lab/fn"]


class Names:
    """A tree with sources in src/ and a build directory with their objects, as Meson lays them out."""

    def __init__(self, tree):
        self.tree, self.commands = tree, []
        (tree / "tools").mkdir()
        (tree / "build").mkdir()

    def add(self, path, text, library):
        source, output = self.tree / path, f"{library}.p/{path.replace('/', '_')}.o"
        for file, content in ((source, text), (self.tree / "build" / output, "")):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content)
        if path.endswith(".c"):
            subprocess.run(["cc", "-c", "-o", self.tree / "build" / output, source], check=True)
            self.commands.append({"directory": str(self.tree / "build"), "file": f"../{path}", "output": output})
        return self

    def check(self, prefixes=""):
        (self.tree / "tools/name-prefixes.txt").write_text(prefixes)
        (self.tree / "build/compile_commands.json").write_text(json.dumps(self.commands))
        done = subprocess.run([ROOT / "tools/check-names", self.tree / "build", "--tree", self.tree], capture_output=True, text=True)
        assert (done.returncode == 0) == (done.stdout == ""), done.stderr
        return done.stdout.splitlines()


LIBRARY = "src/guest/libdm_guest.a"


def test_names_with_the_prefix_of_file_or_directory_are_right(tmp_path):
    names = Names(tmp_path).add("src/guest/runner_pool.c", """
        int runner_pool_size; void runner_start(void) {} void guest_end(void) {} static void hidden(void) {}
        void guests_stop(void) { hidden(); }""", LIBRARY)
    names.add("src/guest/identity.c", "void identities_new(void) {} int IDENTITY_ALL;", LIBRARY)
    names.add("src/cmd/main.c", "int main(void) { return 0; }", "dormouse").add("src/runner/main.c", "int main(void) { return 0; }", "dormouse-runner")
    names.add("lab/node/testbed.c", "void testbed_start(void) {}", "lab/node/libdm_lab_node.a")
    assert names.check() == []


def test_a_name_without_prefix_is_found(tmp_path):
    names = Names(tmp_path).add("src/guest/runner_pool.c", "void pool_start(void) {} int runner; void runnerstop(void) {}", LIBRARY)
    assert names.check() == [f"src/guest/runner_pool.c: {name} has no prefix of its file or directory" for name in ("pool_start", "runnerstop")]
    assert names.check(prefixes="src/guest/runner_pool.c pool runnerstop\n") == []
    assert names.check(prefixes="src/guest pool runnerstop\nsrc/no x\n") == ["tools/name-prefixes.txt: there is no src/no"]
    names.add("lab/fn/sim.c", "void run(void) {}", "lab/fn/libdm_lab_fn.a")
    assert names.check(prefixes="src/guest pool runnerstop\n") == ["lab/fn/sim.c: run has no prefix of its file or directory"]


def test_a_symbol_with_two_definitions_is_found(tmp_path):
    names = Names(tmp_path).add("src/guest/guest.c", "int guest_size;", LIBRARY).add("src/guest/x/guest.c", "int guest_size;", "src/guest/x/libdm_x.a")
    assert names.check() == ["guest_size has definitions in src/guest/guest.c, src/guest/x/guest.c"]


def test_a_tag_with_two_meanings_is_found(tmp_path):
    names = Names(tmp_path).add("src/guest/guest.c", "struct guest { int size; }; enum worker { A };  /* struct reader { */", LIBRARY)
    names.add("src/guest/worker.h", "struct worker\n{ struct guest *one; }; struct worker *worker_new(void);", LIBRARY)
    names.add("src/guest/reader.h", "struct reader { struct part { int a; } parts[2]; };", LIBRARY)
    assert names.check() == ["the tag worker means 2 things: src/guest/guest.c, src/guest/worker.h"]
    names.add("src/guest/more.c", "union worker { int a; };", LIBRARY)
    assert names.check() == ["the tag worker means 3 things: src/guest/guest.c, src/guest/more.c, src/guest/worker.h"]


class Changed:
    """A repository with sources, and stand-ins for clang-format and clang-tidy that dislike files with certain words."""

    def __init__(self, tree):
        self.tree = tree
        (tree / "bin").mkdir()
        for name, text in (("clang-format", 'shift 2; ! grep -l "bad format" "$@" >&2'),
                           ("clang-tidy", 'for p; do :; done; echo "1 warnings generated."; echo "$p" >>tidied; ! grep -H "bad code" "$p"')):
            (tree / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
            (tree / "bin" / name).chmod(0o755)
        self.git("init", "-q", "-b", "main")

    def git(self, *args):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *args], cwd=self.tree, check=True, capture_output=True)

    def commit(self, **files):
        for name, text in files.items():
            path = self.tree / name.replace("__", "/").replace("_c", ".c").replace("_h", ".h")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.git("add", "-A", "--", ":!bin", ":!tidied")
        self.git("commit", "-q", "-m", "it")
        return self

    def check(self, *args, status=0, **more):
        """The lines; the files that clang-tidy has seen."""
        (self.tree / "tidied").write_text("")
        env = dict(os.environ, PATH=f"{self.tree}/bin:{os.environ['PATH']}", **more)
        done = subprocess.run([ROOT / "tools/check-changed", "build", *args], cwd=self.tree, capture_output=True, text=True, env=env)
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout.splitlines(), sorted((self.tree / "tidied").read_text().split())


def test_a_first_commit_has_nothing_to_compare_with(tmp_path):
    changed = Changed(tmp_path).commit(src__a_c="bad format bad code\n")
    assert changed.check() == (["no commit to compare with: nothing is checked"], [])


def test_the_last_commit_of_the_only_branch_is_checked(tmp_path):
    changed = Changed(tmp_path).commit(src__old_c="bad code bad format\n", src__a_h="\n", src__a_c="\n")
    changed.commit(src__new_c="bad code\n", test__t_c="bad format\n", src__a_h="int a;\n", docs="bad format\n")
    lines, tidied = changed.check(status=1)
    assert tidied == ["src/a.c", "src/new.c"] and lines[0].startswith("3 files of C")
    assert lines[1:] == ["FAILED: clang-format; ./dev fmt mends it", "src/new.c:bad code", "FAILED: clang-tidy src/new.c"]


def test_a_branch_is_checked_from_where_it_left_the_default_branch(tmp_path):
    changed = Changed(tmp_path).commit(src__old_c="bad code\n", src__moved_c="bad code\n" * 9).commit(src__base_c="bad code\n")
    changed.git("checkout", "-q", "-b", "topic")
    changed.commit(src__one_c="\n").commit(src__two_c="\n")
    changed.git("mv", "src/moved.c", "src/there.c")
    changed.commit()
    (tmp_path / "src/one.c").write_text("not committed\n")
    lines, tidied = changed.check()
    assert tidied == ["src/one.c", "src/two.c"]
    assert changed.check("--base", "HEAD^^")[1] == ["src/one.c", "src/two.c"]
    assert changed.check("--base", "HEAD^")[1] == ["src/one.c"]


def test_time_for_clang_tidy_is_bounded(tmp_path):
    changed = Changed(tmp_path).commit(src__a_c="\n").commit(src__b_c="bad code\n")
    lines, tidied = changed.check(TIDY_S="-1")
    assert (lines[1:], tidied) == (["not checked by clang-tidy: src/b.c"], [])


ANALYZED = {
    "src/io/a.c": "#include <stdlib.h>\nvoid twice(char *p)\n{\n    free(p);\n    free(p);\n}\n",
    "src/io/b.c": "int one(void)\n{\n    return 1;\n}\n",
    "src/api/c.c": "#include <stdlib.h>\nint leak(void)\n{\n    int *p = malloc(4);\n    if (!p)\n        return 1;\n    return *p = 2;\n}\n",
}


def analyze(tree, *paths, known="", sources=ANALYZED):
    (tree / "tools").mkdir(exist_ok=True)
    (tree / "build").mkdir(exist_ok=True)
    shutil.copy(ROOT / "tools/analyze", tree / "tools")
    (tree / "tools/known-analysis.txt").write_text(known)
    commands = []
    for path, text in sources.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text)
        commands.append({"directory": str(tree / "build"), "file": f"../{path}", "output": "x.o",
                         "command": f"ccache gcc -MD -MQ x.o -MF x.o.d -Werror -o x.o -c ../{path}"})
    (tree / "build/compile_commands.json").write_text(json.dumps(commands))
    return subprocess.run([tree / "tools/analyze", tree / "build", *(tree / path for path in paths)], capture_output=True, text=True)


def test_the_analyzer_reports_by_file(tmp_path):
    done = analyze(tmp_path)
    lines = [line for line in done.stdout.splitlines() if not line.startswith(" ")]
    assert done.returncode == 1 and sorted(line.split(": ")[0] for line in lines[:-1]) == ["src/api/c.c:7", "src/io/a.c:5"], done
    assert "[double-free] in twice()" in done.stdout and "[malloc-leak] in leak()" in done.stdout
    assert lines[-1] == "1 passed, 2 failed"


def test_the_analyzer_takes_paths_and_knows_what_is_wrong(tmp_path):
    known = "# known\nsrc/io/a.c twice double-free  # it is a test\n"
    done = analyze(tmp_path, "src/io", known=known)
    assert (done.returncode, done.stdout) == (0, "2 passed, 0 failed\n"), done
    done = analyze(tmp_path, "src/io/b.c")
    assert (done.returncode, done.stdout) == (0, "1 passed, 0 failed\n")
    assert "no source" in analyze(tmp_path, "src/none").stderr


def test_a_known_report_that_is_gone_is_stale(tmp_path):
    done = analyze(tmp_path, known="src/io/b.c one double-free  # long ago\n", sources={"src/io/b.c": ANALYZED["src/io/b.c"]})
    assert done.returncode == 1
    assert done.stdout == "tools/known-analysis.txt: 'src/io/b.c one double-free' is reported no more: remove the line\n1 passed, 1 failed\n"


def test_a_file_that_does_not_compile_fails(tmp_path):
    done = analyze(tmp_path, sources={"src/io/d.c": "int one(void) { return }\n"})
    assert (done.returncode, done.stdout) == (1, "FAILED src/io/d.c: the compiler failed\n0 passed, 1 failed\n")


def test_coverage_is_summed_by_directory(tmp_path):
    files = [{"filename": name, "line_covered": covered, "line_total": total, "branch_covered": 1, "branch_total": 2}
             for name, covered, total in (("src/io/a.c", 10, 10), ("src/io/b.c", 5, 10), ("src/api/auth/c.c", 1, 10))]
    for name, text in (("bin/gcovr", f"#!/bin/sh\nwhile [ $1 != --json-summary ]; do shift; done; cat >$2 <<'E'\n{json.dumps({'files': files})}\nE\n"),
                       ("tools/coverage", (ROOT / "tools/coverage").read_text())):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    (tmp_path / "build").mkdir()
    env = dict(os.environ, PATH=f"{tmp_path}/bin:{os.environ['PATH']}")
    done = subprocess.run([tmp_path / "tools/coverage", tmp_path / "build"], capture_output=True, text=True, env=env, check=True)
    rows = [line.split() for line in done.stdout.splitlines()[1:-1]]
    assert rows == ["src/api/auth 10.0 % of 10 50.0 % of 2".split(), "src/io 75.0 % of 20 50.0 % of 4".split(), "all 53.3 % of 30 50.0 % of 6".split()]
    assert done.stdout.splitlines()[-1] == "each file: build/coverage/index.html"
