# SPDX-License-Identifier: Apache-2.0
"""What the programs contain, and what NOTICE and the SBOM say of it."""
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
import subprocess

import pytest

from conftest import BUILD, ROOT


def load_sbom():
    loader = importlib.machinery.SourceFileLoader("sbom", str(ROOT / "tools/sbom"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("sbom", loader))
    loader.exec_module(module)
    return module


sbom = load_sbom()


@pytest.fixture(scope="module")
def notice():
    return sbom.read_notice(ROOT / "NOTICE")


@pytest.fixture(scope="module")
def contents(notice):
    return sbom.Contents(BUILD.resolve(), notice[0])


@pytest.fixture(scope="module")
def lock():
    return sbom.read_lock(ROOT / "engine/Cargo.lock")


def test_every_part_of_the_programs_is_in_notice(contents, notice, lock):
    assert sbom.problems(contents, *notice, lock) == []


def test_a_part_that_notice_lacks_is_found(contents, notice, lock):
    parts, crates = notice
    found = "\n".join(sbom.problems(contents, {stem: part for stem, part in parts.items() if part.name not in ("zlib", "llhttp")}, crates, lock))
    assert "libz (" in found and ("libdm_llhttp (" in found or "libllhttp (" in found)
    lacking = dict(crates)
    version = next(version for name, version in lacking if name == "wasmtime")
    lacking["bitflags", "0.0.1"] = lacking.pop(("wasmtime", version))
    found = sbom.problems(contents, parts, lacking, lock)
    assert [line for line in found if line.startswith(f"crate wasmtime {version}, in ") and "dormouse-runner" in line]
    assert "crate bitflags 0.0.1 is listed and not in engine/Cargo.lock" in found


def test_a_static_library_under_the_lgpl_is_found(contents, notice, lock):
    parts, crates = notice
    everywhere = {stem: part._replace(how="shared") if "LGPL" in part.licence else part for stem, part in parts.items()}
    found = sbom.problems(contents, everywhere, crates, lock)
    assert "libseccomp (LGPL-2.1-only) is static in dormouse-runner" in found
    assert not [line for line in found if not line.endswith("is static in dormouse-runner")]


@pytest.mark.skipif(sbom.distribution()[0] != "debian", reason="other distributions have fewer static libraries")
def test_the_programs_need_no_package_that_a_minimal_debian_lacks(contents):
    """libseccomp comes with apt, the GCC runtime and the C library with everything."""
    shared = {one.stem for one in contents.linked if one.how == "shared"}
    assert shared <= {"libc", "libm", "libmvec", "libgcc_s", "libseccomp", "ld-linux-x86", "ld-linux-aarch64"}


def test_the_sbom_names_what_each_program_contains(contents, notice, lock):
    made = sbom.make_sbom(BUILD.resolve(), contents, notice[0], lock)
    assert json.dumps(made) == json.dumps(sbom.make_sbom(BUILD.resolve(), contents, notice[0], lock))
    assert (made["bomFormat"], made["specVersion"]) == ("CycloneDX", "1.5")
    components = {c["bom-ref"]: c for c in made["components"]}
    assert len(components) == len(made["components"])
    for name in ("OpenSSL", "nghttp2", "ldns", "llhttp", "libuv", "SQLite", "PCRE2", "libyaml", "protobuf-c", "zstd", "zlib", "libseccomp"):
        component = components[f"library/{name}"]
        assert component["version"] and component["licenses"][0]["expression"] and component["purl"].startswith("pkg:"), component
    uses = {d["ref"]: d["dependsOn"] for d in made["dependencies"]}
    assert uses["dormouse"] == [f"program/{name}" for name in ("dormouse", "dormouse-runner", "dormouse-compile", "dormouse-lab")]
    assert set(components) == {ref for program in uses["dormouse"] for ref in uses[program]}
    crates = {program: {ref.split("@")[0] for ref in uses[program] if ref.startswith("crate/")} for program in uses["dormouse"]}
    assert "crate/cranelift-codegen" in crates["program/dormouse-compile"] - crates["program/dormouse-runner"]
    assert "library/OpenSSL" in uses["program/dormouse"] and "library/OpenSSL" not in uses["program/dormouse-runner"]
    wasmtime = next(c for c in made["components"] if c["name"] == "wasmtime")
    assert re.fullmatch("[0-9a-f]{64}", wasmtime["hashes"][0]["content"])


def paths_of_this_machine(file):
    """Names of the places where the programs were made that a file contains."""
    cargo = os.environ.get("CARGO_HOME") or pathlib.Path.home() / ".cargo"
    cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    data = file.read_bytes()
    return {place for place in (f"{ROOT}/src/", f"{BUILD.resolve()}/src/", f"{cargo}/registry/", f"{cache}/dormouse/engine/")
            if place.encode() in data}


@pytest.mark.parametrize("program", sbom.PROGRAMS)
def test_a_program_does_not_depend_on_where_it_was_built(program):
    assert paths_of_this_machine(BUILD / program) == set()


def test_a_path_of_this_machine_is_found():
    assert f"{ROOT}/src/" in paths_of_this_machine(BUILD / "build.ninja")  # of the header that every file includes


def test_no_source_has_the_time_of_the_build():
    done = subprocess.run(["git", "grep", "-nE", "__(DATE|TIME|TIMESTAMP)__", "--", "*.c", "*.h"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode in (1, 128), done.stdout  # none found, or an archive without git
