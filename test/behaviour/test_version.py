# SPDX-License-Identifier: Apache-2.0
"""Where the version comes from."""
import json
import os
import re
import subprocess

from conftest import BUILD, ROOT

GIT = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.com", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.com",
       "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null",
       "GIT_AUTHOR_DATE": "2026-01-02T03:04:05Z", "GIT_COMMITTER_DATE": "2026-01-02T03:04:05Z"}
DATE = "2026-01-02T03:04:05Z"


class Tree:
    """A repository with tools/describe-commit in it."""

    def __init__(self, path):
        self.path = path
        (path / "tools").mkdir(parents=True)
        (path / "tools/describe-commit").write_bytes((ROOT / "tools/describe-commit").read_bytes())
        (path / "file").write_text("")

    def git(self, *args):
        done = subprocess.run(["git", *args], cwd=self.path, capture_output=True, text=True, env={**os.environ, **GIT}, check=True)
        return done.stdout.strip()

    def commit(self):
        self.git("add", ".")
        self.git("commit", "-q", "--allow-empty", "-m", "x")
        return self.git("rev-parse", "--short=12", "HEAD")

    def described(self):
        return subprocess.run(["sh", "tools/describe-commit", "0.2.0"], cwd=self.path, capture_output=True, text=True, check=True,
                              env={**os.environ, **GIT}).stdout.strip()


def test_the_version_comes_from_the_tag(tmp_path):
    tree = Tree(tmp_path / "tree")
    assert tree.described() == "unknown unknown 0.2.0"
    tree.git("init", "-q")
    first = tree.commit()
    assert tree.described() == f"{first} {DATE} 0.2.0-dev.1+g{first}"
    tree.git("tag", "-a", "-m", "x", "v0.1.0")
    tree.git("tag", "nightly")  # not a version
    assert tree.described() == f"{first} {DATE} 0.1.0"
    (tree.path / "file").write_text("changed")
    assert tree.described() == f"{first}+ {DATE} 0.1.0+dirty"
    tree.commit()
    third = tree.commit()
    assert tree.described() == f"{third} {DATE} 0.2.0-dev.2+g{third}"
    (tree.path / "file").write_text("changed again")
    assert tree.described() == f"{third}+ {DATE} 0.2.0-dev.2+g{third}.dirty"


def test_a_tree_in_another_repository_is_not_that_repository(tmp_path):
    subprocess.run(["git", "init", "-q", tmp_path], check=True, env={**os.environ, **GIT})
    assert Tree(tmp_path / "unpacked/tree").described() == "unknown unknown 0.2.0"


def test_the_build_and_its_tag_have_one_version():
    number = re.search(r"version: '([\d.]+)'", (ROOT / "meson.build").read_text())[1]
    tags = subprocess.run(["git", "tag", "--points-at", "HEAD", "v[0-9]*"], cwd=ROOT, capture_output=True, text=True).stdout.split()
    assert set(tags) <= {f"v{number}"}
    reported = json.loads(subprocess.run([BUILD / "dormouse", "version", "-o", "json"], capture_output=True, check=True).stdout)
    assert re.fullmatch(rf"{re.escape(number)}(-dev\.\d+\+g[0-9a-f]{{12}}(\.dirty)?|\+dirty)?", reported["version"])
    assert number in (ROOT / "CHANGELOG.md").read_text()


def test_clients_see_the_version_that_was_built(dormouse_api):
    built = json.loads(subprocess.run([BUILD / "dormouse", "version", "-o", "json"], capture_output=True, check=True).stdout)["version"]
    document = json.loads(dormouse_api.get("/openapi/v2").body)
    assert document["info"]["version"] == built
    shown = json.loads(dormouse_api.get("/version").body)["gitVersion"]
    assert re.fullmatch(rf"v1\.\d+\.\d+\+dormouse-{re.escape(built.replace('+', '.'))}", shown)
