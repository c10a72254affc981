# SPDX-License-Identifier: Apache-2.0
"""Commands that write the store while a server has it open: names, gc, pulls; kill -9 of either side."""
import base64
import json
import os
import signal
import stat
import subprocess
import threading

import pytest

from conftest import BUILD, DEADLINE_S, can_mount, wait_for
from image_kit import Layout, layer
from registry_kit import fake
from serve_kit import serve

TARS = [layer([(f"f{i}", "f", os.urandom(50_000))]) for i in range(3)]


class Store:
    def __init__(self, directory):
        self.directory = directory
        self.env = {**os.environ, "DORMOUSE_IMAGE_STORE": str(directory)}

    def start(self, *args, cwd=None, **env):
        return subprocess.Popen([BUILD / "dormouse", "image", *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env={**self.env, **env}, cwd=cwd)

    def end(self, process):
        out, err = process.communicate(timeout=DEADLINE_S)
        assert process.returncode == 0, err
        return out

    def ok(self, *args, **env):
        return self.end(self.start(*args, **env))

    def fails(self, *args, out=False, **how):
        process = self.start(*args, **how)
        output = process.communicate(timeout=DEADLINE_S)
        assert process.returncode == 1, output
        return output[0 if out else 1]

    def names(self):
        return self.ok("ls", "-o", "name").split()

    def is_sound(self):
        found = json.loads(self.ok("check", "-o", "json"))
        return found["damaged"] == 0 and found["incomplete"] == 0


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store")


@pytest.fixture
def registry():
    with fake() as server:
        yield server


@pytest.fixture
def layout(tmp_path, registry):
    made = Layout(tmp_path / "app")
    made.image("v1", TARS[:1])
    made.image("v2", TARS)
    registry.add_manifest(made, made.manifests[0], "team/web", "v1")
    registry.add_manifest(made, made.manifests[1], "team/web", "v2")
    return made


@pytest.fixture
def held(registry):
    """The second layer that is asked for waits."""
    begun, released, n = threading.Event(), threading.Event(), []

    def wait(handler):
        n.append(1)
        if len(n) == 3:     # after the configuration and a layer
            begun.set()
            released.wait(60)
        return False

    registry.faults += [("GET", "/blobs/", wait)] * 4
    yield begun, released
    released.set()


def pid_of(store):
    return int((store.directory / "lock").read_text().split()[0])


def test_names_gc_and_pulls_beside_a_server(store, layout, registry):
    with serve(store.directory, "--upstream", registry.host) as server:
        assert stat.S_IMODE(os.stat(store.directory / "control").st_mode) == 0o600
        got = json.loads(store.ok("pull", f"oci:{layout.directory}:v1", "-o", "json"))
        assert (got["name"], got["digest"], got["layers"], got["layersPresent"]) == ("app:v1", layout.manifests[0]["digest"], 1, 0)
        here = os.path.relpath(layout.directory)    # the server may have another working directory
        assert "3 layers, 2 of them new" in store.ok("pull", f"oci:{here}:v2")
        store.ok("tag", "app:v1", "app:stable")
        store.ok("pin", "app:stable")
        store.ok("rm", "app:v1", "app:v2")
        assert "the store has no image 'app:v1'" in store.fails("pin", "app:stable", "app:v1")
        assert store.names() == ["app:stable"]
        assert json.loads(store.ok("gc", "--dry-run", "-o", "json"))["layers"] == 2
        assert json.loads(store.ok("gc", "-o", "json"))["layers"] == 2
        assert list((store.directory / "trash").iterdir()) == []
        assert pid_of(store) == server.process.pid
        # What is settled where the server was started is not changed by a command.
        assert "a quota and policy of its own" in store.fails("pull", f"oci:{layout.directory}:v2", "--quota", "1Gi")
        assert "in the form both, not 'raw'" in store.fails("pull", f"oci:{layout.directory}:v2", "--form", "raw")
        assert store.ok("ls").count("pinned") == 1
    assert not (store.directory / "control").exists() and store.is_sound()
    store.ok("unpin", "app:stable")


def test_what_is_damaged_is_found_and_removed_beside_a_server(store, layout, registry):
    with serve(store.directory, "--upstream", registry.host) as server:
        store.ok("pull", f"oci:{layout.directory}:v2")
        tar = sorted(store.directory.glob("layers/*/data.tar"))[0]
        tar.chmod(0o600)
        tar.write_bytes(b"x" + tar.read_bytes()[1:])
        done = json.loads(store.fails("check", "-o", "json", out=True))
        assert (done["damaged"], done["removed"], done["incomplete"]) == (1, 0, 0) and done["findings"][0]["kind"] == "layer"
        done = json.loads(store.ok("check", "--remove", "-o", "json"))
        assert (done["damaged"], done["removed"], done["incomplete"]) == (1, 1, 1)
        assert [f["kind"] for f in done["findings"]] == ["layer", "incomplete"] and not tar.exists()
        assert "0 damaged, 0 removed, 0 made again, 1 images incomplete" in store.ok("check", "--remove")
        assert pid_of(store) == server.process.pid and list((store.directory / "trash").iterdir()) == []
        store.ok("pull", f"oci:{layout.directory}:v2")
        assert store.is_sound()


def test_a_file_below_a_directory_with_a_colon_is_pulled_by_the_command_alone(store, tmp_path, registry):
    where = tmp_path / "work:1"
    where.mkdir()
    made = Layout(where / "app")
    made.image("v1", TARS[:1])
    with serve(store.directory, "--upstream", registry.host):
        assert "cannot be given a path with a colon" in store.fails("pull", "oci:app:v1", cwd=where)
    store.ok("pull", "oci:app:v1", cwd=where)
    assert store.names() == ["app:v1"] and store.is_sound()


def test_a_pull_by_a_server_has_the_credentials_of_the_command(store, layout, registry, tmp_path):
    registry.auth, registry.users = "basic", {"ann": "s3cret"}
    config = {"auths": {registry.host: {"auth": base64.b64encode(b"ann:s3cret").decode()}}}
    (tmp_path / "config.json").write_text(json.dumps(config))
    with serve(store.directory, "--upstream", registry.host) as server:
        assert "credentials" in store.fails("pull", f"{registry.host}/team/web:v2")
        process = store.start("pull", f"{registry.host}/team/web:v2", DOCKER_CONFIG=str(tmp_path))
        _, err = process.communicate(timeout=DEADLINE_S)
        assert process.returncode == 0 and err.count("  done ") == 3, err
        assert store.names() == [f"{registry.host}/team/web:v2"]
    assert "s3cret" not in "".join(server.log)


def test_gc_leaves_what_a_pull_of_the_server_has_brought(store, layout, registry, held):
    begun, released = held
    with serve(store.directory, "--upstream", registry.host):
        pull = store.start("pull", f"{registry.host}/team/web:v2", "--threads", "1")
        assert begun.wait(60)
        assert json.loads(store.ok("gc", "-o", "json"))["layers"] == 0
        released.set()
        store.end(pull)
        assert store.names() == [f"{registry.host}/team/web:v2"] and store.is_sound()


def test_a_command_goes_on_itself_when_the_server_is_killed(store, layout, registry, held):
    begun, released = held
    with serve(store.directory, "--upstream", registry.host) as server:
        pull = store.start("pull", f"{registry.host}/team/web:v2", "--threads", "1")
        assert begun.wait(60)
        server.kill()
        released.set()
        store.end(pull)
    assert store.names() == [f"{registry.host}/team/web:v2"] and store.is_sound()
    assert list((store.directory / "trash").iterdir()) == []


def test_a_pull_ends_with_the_command_that_asked_for_it(store, layout, registry, held):
    begun, released = held
    store.ok("pull", f"oci:{layout.directory}:v1")
    with serve(store.directory, "--upstream", registry.host) as server:
        pull = store.start("pull", f"{registry.host}/team/web:v2", "--threads", "1")
        assert begun.wait(60)
        pull.kill()
        pull.communicate(timeout=DEADLINE_S)
        # The registry has not answered. What the pull has brought is held until it is over.
        wait_for(lambda: json.loads(store.ok("gc", "--dry-run", "-o", "json"))["layers"] == 1, "the end of the pull")
        released.set()
        assert server.stop() == 0
    assert store.names() == ["app:v1"] and store.is_sound()
    store.ok("pull", f"{registry.host}/team/web:v2")
    assert store.is_sound()


def test_a_mount_that_is_interrupted_leaves_no_lease(store, layout, registry, held, tmp_path):
    if os.geteuid() != 0 or not can_mount():
        pytest.skip("no mounts here")
    begun, released = held
    at, data = tmp_path / "mnt", ("--data-dir", tmp_path / "data")
    at.mkdir()
    store.ok("pull", f"oci:{layout.directory}:v1")
    with serve(store.directory, "--upstream", registry.host):
        mount = store.start("mount", f"docker://{registry.host}/team/web:v2", at, "--sink", "tarfs", *data)
        while not begun.wait(0.05):
            if mount.poll() is not None:
                pytest.skip("no EROFS images in files here: " + mount.communicate()[1])
        # SIGTERM and not SIGINT, which shells have their background processes ignore.
        mount.send_signal(signal.SIGTERM)
        mount.communicate(timeout=DEADLINE_S)
        assert mount.returncode == -signal.SIGTERM and not os.path.ismount(at)
        released.set()
        wait_for(lambda: json.loads(store.ok("gc", "-o", "json", "--dry-run"))["layers"] == len(list(store.directory.glob("layers/*"))) - 1, "the end of the pull")
        assert list((store.directory / "leases").iterdir()) == []
        # The next one finds what the command left.
        mount = store.ok("mount", "app:v1", at, "--sink", "tarfs", *data)
        store.ok("umount", at, *data)
        assert list((store.directory / "leases").iterdir()) == [] and list((tmp_path / "data/mounts").iterdir()) == []


def test_a_command_goes_on_itself_when_the_server_is_told_to_end(store, layout, registry, held):
    begun, _ = held
    store.ok("pull", f"oci:{layout.directory}:v1")
    with serve(store.directory, "--upstream", registry.host) as server:
        pull = store.start("pull", f"{registry.host}/team/web:v2", "--threads", "1")
        assert begun.wait(60)
        assert server.stop() == 0               # the registry has not answered
        store.end(pull)
    assert sorted(store.names()) == sorted(["app:v1", f"{registry.host}/team/web:v2"]) and store.is_sound()
