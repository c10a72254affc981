# SPDX-License-Identifier: Apache-2.0
"""Damage below the server: a write-ahead log that is lost, cut or damaged, bits that flip in stored objects."""
import json
import pathlib
import random
import re
import subprocess

import pytest

from conftest import BUILD, DEADLINE_S, Server
from test_api_process import MAPS, config_map

OBJECTS = 60


def check(data_dir, *args):
    return subprocess.run([BUILD / "dormouse", "store", "check", "--data-dir", data_dir, *args],
                          capture_output=True, text=True, timeout=DEADLINE_S)


def fill(server, n=OBJECTS):
    return [server.create(MAPS, config_map(f"m{i}", k=f"{i:04}" * 200)) for i in range(n)]


def newest(server):
    return int(server.get(MAPS).json()["metadata"]["resourceVersion"])


def remove(wal):
    wal.unlink()


def cut(wal):
    wal.write_bytes(wal.read_bytes()[:wal.stat().st_size // 2])


def flip_early(wal):
    damaged = bytearray(wal.read_bytes())
    damaged[5000] ^= 1
    wal.write_bytes(damaged)


@pytest.mark.parametrize("damage", [remove, cut, flip_early])
def test_a_lost_log_is_told_and_no_version_is_given_twice(data_dir, damage):
    server = Server(data_dir)
    last = int(fill(server)[-1]["metadata"]["resourceVersion"])
    server.kill()
    damage(pathlib.Path(data_dir) / "store.db-wal")
    server = Server(data_dir)
    log = server.text_of_log()
    reported = re.search(r"has lost acknowledged changes.* lost_revisions=(\d+) newest=(\d+) had=(\d+) resumes_at=(\d+)", log)
    assert reported, log
    lost, found, had, resumed = map(int, reported.groups())
    assert lost == had - found and had >= last and resumed > had
    assert newest(server) >= resumed
    # A client that knows what was lost has to list again.
    answer = server.get(f"{MAPS}?watch=1&timeoutSeconds=1&resourceVersion={last}")
    assert answer.status == 410 or json.loads(answer.body.splitlines()[0])["object"]["code"] == 410, answer.body
    made = server.create(MAPS, config_map("after"))
    assert int(made["metadata"]["resourceVersion"]) > resumed
    # A version that was not given to any client yet is too large, with upstream's message.
    future = server.get(f"{MAPS}?resourceVersion={newest(server) + 1000}")
    assert future.status == 504 and "Too large resource version" in future.json()["message"], future.body
    assert server.stop() == 0
    server = Server(data_dir)
    assert server.text_of_log().count("has lost acknowledged changes") == 1
    assert newest(server) > resumed
    assert server.stop() == 0


def test_a_killed_server_says_nothing_and_goes_on(data_dir):
    server = Server(data_dir)
    last = int(fill(server, 5)[-1]["metadata"]["resourceVersion"])
    server.kill()
    server = Server(data_dir)
    assert "lost" not in server.text_of_log()
    assert newest(server) < last + 1000
    assert server.stop() == 0


def damage_objects(store, names):
    """Flip a bit in the value of each of these objects, where it lies in the file."""
    content = bytearray(store.read_bytes())
    for name in names:
        at = content.find(f"{int(name[1:]):04}".encode() * 100)
        assert at > 0
        content[at + random.randrange(390)] ^= 1
    store.write_bytes(content)


def test_a_damaged_object_is_never_served_and_can_be_found_and_removed(data_dir):
    server = Server(data_dir)
    fill(server)
    assert server.stop() == 0
    assert check(data_dir).returncode == 0
    damage_objects(pathlib.Path(data_dir) / "store.db", ["m7", "m41"])
    server = Server(data_dir)
    one = server.get(MAPS + "/m7")
    assert one.status == 500 and "/m7'" in one.json()["message"] and "damaged" in one.json()["message"], one.body
    assert server.get(MAPS + "/m8").status == 200
    every = server.get(MAPS)
    assert every.status == 500 and re.search(r"/m(7|41)'", every.json()["message"]), every.body
    assert server.ask("DELETE", MAPS + "/m7").status == 500
    assert server.ask("DELETE", MAPS + "/m9").status == 200
    assert re.search(r"error .*configmaps/default/m7' at revision \d+ is damaged", server.text_of_log())
    assert "in use" in check(data_dir).stderr
    assert server.stop() == 0
    found = check(data_dir)
    assert found.returncode == 1 and len(re.findall(r"^damaged +\S+/m(7|41) +revision \d+$", found.stdout, re.M)) == 2, found.stdout
    assert check(data_dir, "--remove").returncode == 0
    assert check(data_dir).returncode == 0
    server = Server(data_dir)
    names = {o["metadata"]["name"] for o in server.get(MAPS).json()["items"]}
    assert len(names & {f"m{i}" for i in range(OBJECTS)}) == OBJECTS - 3 and not names & {"m7", "m9", "m41"}
    server.create(MAPS, config_map("m7"))
    assert server.stop() == 0


def test_an_older_data_directory_says_its_new_format_once_it_is_upgraded(data_dir):
    assert Server(data_dir).stop() == 0
    form = pathlib.Path(data_dir) / "format"
    assert form.read_text() == "dormouse data 3\n"
    form.write_text("dormouse data 1\n")
    assert Server(data_dir).stop() == 0
    assert form.read_text() == "dormouse data 3\n"


def test_a_check_of_something_else_is_a_clear_error(tmp_path):
    done = check(tmp_path)
    assert done.returncode == 1 and "store.db" in done.stderr and done.stdout == ""
