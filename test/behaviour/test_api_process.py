# SPDX-License-Identifier: Apache-2.0
"""The program as a process: start, stop, restart, kill, and what it says when it cannot start."""
import errno
import os
import pathlib
import re
import shutil
import signal
import socket
import ssl
import subprocess
import time

import pytest

from conftest import BUILD, DEADLINE_S, Server, wait_for

MAPS = "/api/v1/namespaces/default/configmaps"
ROOT_CA = "kube-root-ca.crt"  # in every namespace


def config_map(name, **data):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def fails(data_dir, *extra, listen="127.0.0.1:0"):
    done = subprocess.run([BUILD / "dormouse", "api", "--data-dir", data_dir, "--listen", listen, *extra],
                          capture_output=True, text=True, timeout=DEADLINE_S)
    assert done.returncode == 1 and done.stdout == "", done
    assert done.stderr.startswith("error: ") and len(done.stderr.splitlines()) == 1, done.stderr
    return done.stderr


def test_a_restart_keeps_everything(data_dir):
    server = Server(data_dir)
    made = server.create(MAPS, config_map("a", k="v"))
    token = server.token
    assert server.stop() == 0
    server = Server(data_dir)
    assert server.token == token
    assert server.get(MAPS + "/a").json() == made
    assert int(server.create(MAPS, config_map("b"))["metadata"]["resourceVersion"]) > int(made["metadata"]["resourceVersion"])
    assert server.stop() == 0


def test_term_ends_open_watches_and_idle_connections(data_dir):
    server = Server(data_dir)
    watch = server.watch(MAPS + "?watch=1&resourceVersion=0&labelSelector=none")
    idle = server.connect()
    idle.connect()
    assert server.stop() == 0
    assert watch.next() is None


def test_the_kubeconfig_goes_where_it_is_wanted(data_dir, tmp_path):
    path = tmp_path / "kc"
    server = Server(data_dir, extra=("--kubeconfig", str(path)))
    assert server.kubeconfig == str(path) and os.stat(path).st_mode & 0o777 == 0o600
    assert server.url in path.read_text()
    assert server.stop() == 0


def test_the_ready_line_says_where_it_listens(data_dir):
    server = Server(data_dir, listen="0.0.0.0:0")
    assert server.url == f"https://127.0.0.1:{server.port}" and server.listen == f"0.0.0.0:{server.port}"
    version = server.get("/version").json()
    assert version["emulationMinor"] == version["minor"] and int(version["minCompatibilityMinor"]) == int(version["minor"]) - 1
    assert server.stop() == 0


def subject_of_handshake(server, name, address="127.0.0.1"):
    """The API's certificate, verified for `name`; ssl.SSLCertVerificationError: it is not good for it."""
    with socket.create_connection((address, server.port), timeout=DEADLINE_S) as plain, server.tls.wrap_socket(plain, server_hostname=name) as tls:
        return tls.getpeercert()["serialNumber"]


def own_address():
    """Of an interface that is not loopback; None: there is none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        try:
            s.connect(("192.0.2.1", 9))  # nothing is sent
            return s.getsockname()[0]
        except OSError:
            return None


def test_the_certificate_is_good_for_the_names_that_were_asked_for(data_dir):
    server = Server(data_dir, extra=["--tls-san", "api.example.org", "--tls-san=192.0.2.7"])
    first = {subject_of_handshake(server, name) for name in ("127.0.0.1", "localhost", "api.example.org", "192.0.2.7")}
    assert len(first) == 1
    with pytest.raises(ssl.SSLCertVerificationError):
        subject_of_handshake(server, "other.example.org")
    assert server.stop() == 0
    server = Server(data_dir, extra=["--tls-san", "192.0.2.7", "--tls-san=*.example.org"])  # another set: another certificate
    second = subject_of_handshake(server, "other.example.org")
    assert second not in first and subject_of_handshake(server, "192.0.2.7") == second
    assert server.stop() == 0
    server = Server(data_dir, extra=["--tls-san", "192.0.2.7", "--tls-san=*.example.org"])
    assert subject_of_handshake(server, "localhost") == second, "the same set: the same certificate"
    assert server.stop() == 0
    for wrong in ("a b", "https://x.example.org", "x:6443", ""):
        done = subprocess.run([BUILD / "dormouse", "api", "--data-dir", data_dir, "--tls-san", wrong], capture_output=True, text=True,
                              timeout=DEADLINE_S)
        assert done.returncode == 2 and "--tls-san" in done.stderr


def test_a_server_on_all_addresses_is_verified_by_each_of_them(data_dir):
    address = own_address()
    if not address:
        pytest.skip("no address here but loopback")
    server = Server(data_dir, listen="0.0.0.0:0")
    assert subject_of_handshake(server, address, address=address)
    assert server.stop() == 0
    server = Server(data_dir)
    with pytest.raises(ssl.SSLCertVerificationError):  # it does not listen there
        subject_of_handshake(server, address)
    assert server.stop() == 0


def test_a_port_in_use_is_said(data_dir):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        why = fails(data_dir, listen=f"127.0.0.1:{port}")
        assert "in use" in why and "--listen" in why


def test_a_foreign_directory_is_left_alone(tmp_path):
    (tmp_path / "thesis.txt").write_text("precious")
    text = fails(tmp_path)
    assert str(tmp_path) in text and "not dormouse's" in text
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_directory_in_which_another_command_worked_is_taken(tmp_path):
    tried = subprocess.run([BUILD / "dormouse", "image", "pull", "oci:/nonexistent"], capture_output=True,
                           env={**os.environ, "DORMOUSE_DATA_DIR": str(tmp_path)})
    assert tried.returncode == 1 and [p.name for p in tmp_path.iterdir()] == ["images"]
    server = Server(tmp_path)
    assert server.stop() == 0
    assert (tmp_path / "images").is_dir()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_an_unwritable_directory_is_said(tmp_path):
    tmp_path.chmod(0o500)
    assert "denied" in fails(tmp_path / "data")


def test_a_directory_of_a_newer_program_is_left_alone(data_dir):
    assert Server(data_dir).stop() == 0
    (pathlib.Path(data_dir) / "format").write_text("dormouse data 99\n")
    assert "newer" in fails(data_dir)


def test_a_second_server_on_the_same_directory_is_refused(data_dir):
    server = Server(data_dir)
    assert "in use" in fails(data_dir)
    assert server.get("/readyz").status == 200
    assert server.stop() == 0


def test_a_damaged_store_is_said_and_left_alone(data_dir):
    assert Server(data_dir).stop() == 0
    store = pathlib.Path(data_dir) / "store.db"
    store.write_bytes(b"not a database, by any means" * 400)
    assert "store" in fails(data_dir)
    assert store.read_bytes().startswith(b"not a database")


def test_a_full_disk_refuses_writes_loses_nothing_and_recovers(small_disk):
    disk, enlarge = small_disk
    server = Server(disk / "data")
    written = []
    for i in range(100):
        answer = server.ask("POST", MAPS, config_map(f"m{i}", k="x" * 200000))
        if answer.status != 201:
            break
        written.append(f"m{i}")
    assert answer.status == 507 and answer.json()["reason"] == "InsufficientStorage" and "space" in answer.json()["message"], answer.body
    assert {o["metadata"]["name"] for o in server.get(MAPS).json()["items"]} == {*written, ROOT_CA}
    assert server.get("/readyz").status == 200
    enlarge()
    wait_for(lambda: server.ask("POST", MAPS, config_map("after")).status == 201, "writes to succeed again")
    assert server.stop() == 0
    server = Server(disk / "data")
    assert {o["metadata"]["name"] for o in server.get(MAPS).json()["items"]} == {*written, "after", ROOT_CA}
    assert server.stop() == 0


def test_a_server_starts_on_a_full_disk(small_disk):
    disk, enlarge = small_disk
    server = Server(disk / "data")
    written = 0
    while server.ask("POST", MAPS, config_map(f"m{written}", k="x" * 50000)).status == 201:
        written += 1
    assert written > 10
    assert server.stop() == 0
    with open(disk / "filler", "ab", buffering=0) as filler:
        try:
            while True:
                filler.write(b"x" * 4096)
        except OSError as e:
            assert e.errno == errno.ENOSPC
    server = Server(disk / "data")
    assert server.get(MAPS + "/m0").status == 200
    assert server.ask("POST", MAPS, config_map("large", k="x" * 50000)).status == 507
    assert server.ask("DELETE", MAPS + "/m0").status == 200, "the store keeps space for this"
    enlarge()
    wait_for(lambda: server.ask("DELETE", MAPS + "/m1").status == 200, "there is room again")
    server.create(MAPS, config_map("after", k="x" * 50000))
    assert server.stop() == 0


def test_a_disk_that_is_too_small_is_refused_before_anything_is_written(tiny_disk):
    assert re.search(r"its disk has \d+ KiB free, and a new one needs 2 MiB", fails(tiny_disk / "data"))
    assert not (tiny_disk / "data").exists()


def test_a_full_disk_is_not_logged_for_each_write(tiny_disk, tmp_path):
    """A data directory that was made elsewhere has no room for what a first start writes."""
    data = tiny_disk / "data"
    server = Server(tmp_path / "roomy")
    assert server.stop() == 0
    shutil.copytree(tmp_path / "roomy", data, ignore=shutil.ignore_patterns("store.db*"))
    done = subprocess.run([BUILD / "dormouse", "up", "--data-dir", data, "--listen", "127.0.0.1:0"], capture_output=True, text=True,
                          timeout=DEADLINE_S)
    lines = done.stderr.splitlines()
    assert done.returncode == 1 and "no space left on device" in lines[-1]
    assert sum(" error " in line for line in lines) <= 3, done.stderr  # of a request, of a default role
    assert sum(" warn " in line for line in lines) < 20, done.stderr


def test_wrong_words_are_usage_errors(data_dir):
    done = subprocess.run([BUILD / "dormouse", "api", "--datadir", "x"], capture_output=True, text=True, timeout=DEADLINE_S)
    assert done.returncode == 2
    done = subprocess.run([BUILD / "dormouse", "api", "--data-dir", data_dir, "--listen", "nowhere"],
                          capture_output=True, text=True, timeout=DEADLINE_S)
    assert done.returncode == 2 and "nowhere" in done.stderr


def count_calls(pid, name, run):
    """How often the threads of the process make this system call while run() runs."""
    trace = subprocess.Popen(["strace", "-f", "-c", "-e", "trace=" + name, "-p", str(pid)], stderr=subprocess.PIPE, text=True)
    first = trace.stderr.readline()
    if "attached" not in first:
        pytest.skip("strace cannot attach: " + first + trace.communicate()[1])
    run()
    trace.send_signal(signal.SIGINT)
    table = trace.communicate(timeout=DEADLINE_S)[1]
    return sum(int(line.split()[3]) for line in table.splitlines() if line.split()[-1:] == [name])


@pytest.mark.skipif(not shutil.which("strace") or "san" in BUILD.name, reason="needs strace, and a build without sanitizers")
def test_a_durable_write_wakes_the_writer_once(data_dir):
    """The writer's thread waits, is woken, and releases its lock (which glibc takes for contended after a wait): it does
    not run into the lock of the thread that wakes it. On one processor it ran as soon as it was woken."""
    server = Server(data_dir)
    pid, connection, n = server.process.pid, server.connect(), 200
    for task in os.listdir(f"/proc/{pid}/task"):
        os.sched_setaffinity(int(task), {min(os.sched_getaffinity(0))})

    def write():
        for i in range(n):
            assert server.ask("POST", MAPS, config_map(f"m-{i}"), connection=connection).status == 201

    server.ask("GET", "/version", connection=connection)
    assert count_calls(pid, "futex", write) < 3.2 * n
    assert server.stop() == 0


@pytest.mark.skipif(not shutil.which("strace"), reason="needs strace")
def test_an_idle_server_is_not_woken(data_dir):
    """Once the work that follows a write is done (the store's checkpoint), no thread wakes up any more."""
    server = Server(data_dir)
    watch = server.watch(MAPS + "?watch=1&resourceVersion=0&labelSelector=none")
    for _ in range(4):  # on a busy machine the checkpoint comes late
        trace = subprocess.run(["timeout", "12", "strace", "-f", "-qq", "-ttt", "-p", str(server.process.pid)],
                               capture_output=True, text=True)
        times = [float(word) for line in trace.stderr.splitlines() for word in line.split() if re.fullmatch(r"\d{10}\.\d{6}", word)]
        rested_s = time.time() - max(times, default=0)
        if rested_s > 6:
            break
    assert times and rested_s > 6, trace.stderr[-3000:]
    watch.close()
    assert server.stop() == 0


def test_a_module_cache_that_others_can_write_is_refused_in_one_line(data_dir):
    modules = pathlib.Path(data_dir) / "modules"
    server = Server(data_dir)
    assert server.stop() == 0
    modules.mkdir(exist_ok=True)
    modules.chmod(0o777)
    done = subprocess.run([BUILD / "dormouse", "up", "--data-dir", data_dir, "--listen", "127.0.0.1:0"], capture_output=True, text=True, timeout=DEADLINE_S)
    assert done.returncode == 1
    assert done.stderr.splitlines(keepends=True)[-1] == f"error: module cache '{modules}' can be written by others\n"
