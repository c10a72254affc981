# SPDX-License-Identifier: Apache-2.0
"""SIGKILL at any moment, a disk without room, watchers that do not read. Choices are random, printed, and replay with
DORMOUSE_SEED; DORMOUSE_SLOW_TESTS=1 runs more rounds and what has to wait for a minute."""
import os
import pathlib
import random
import re
import socket
import sqlite3
import subprocess
import threading

import pytest

from conftest import BUILD, DEADLINE_S, Server, wait_for

MAPS = "/api/v1/namespaces/default/configmaps"
SLOW = bool(os.environ.get("DORMOUSE_SLOW_TESTS"))
SEED = int(os.environ.get("DORMOUSE_SEED", "0")) or random.randrange(1, 1 << 32)
MERGE = "application/merge-patch+json"


class Writer:
    """Owns a few objects and writes them in every way; knows what was acknowledged and what was on its way."""

    KEYS = 4

    def __init__(self, number, seed):
        self.number, self.random = number, random.Random(seed)
        self.state = {}  # name -> (resourceVersion, value); absent: deleted, or never made
        self.pending = None  # (name, value after it, or None for a deletion)
        self.acks = 0

    def step(self, server, connection):
        name = f"w{self.number}-{self.random.randrange(self.KEYS)}"
        value = f"{self.number}.{self.acks}.{self.random.random()}"
        if name not in self.state:
            how = ("POST", MAPS, {"metadata": {"name": name}, "data": {"v": value}}, None)
        else:
            how = self.random.choice([
                ("PUT", f"{MAPS}/{name}", {"metadata": {"name": name, "resourceVersion": self.state[name][0]}, "data": {"v": value}}, None),
                ("PATCH", f"{MAPS}/{name}", {"data": {"v": value}}, MERGE),
                ("DELETE", f"{MAPS}/{name}", None, None)])
        method, path, body, content_type = how
        self.pending = (name, None if method == "DELETE" else value)
        headers = {"Content_Type": content_type} if content_type else {}
        answer = server.ask(method, path, body, connection=connection, **headers)
        assert answer.status in (200, 201), (method, name, answer.status, answer.body)
        if method == "DELETE":
            del self.state[name]
        else:
            self.state[name] = (answer.json()["metadata"]["resourceVersion"], value)
        self.pending = None
        self.acks += 1

    def run(self, server, enough):
        try:
            connection = server.connect()
            while True:
                self.step(server, connection)
                enough()
        except (OSError, ValueError, EOFError) as e:
            if server.process.poll() is None and not server.dying.is_set():
                raise e
        except Exception as e:  # http.client's own, for an answer that was cut
            if not server.dying.is_set() or isinstance(e, AssertionError):
                raise

    def check(self, objects):
        """After a restart: what was acknowledged is there, and what was on its way happened whole or not at all."""
        mine = {n: o for n, o in objects.items() if n.startswith(f"w{self.number}-")}
        uncertain, self.pending = self.pending, None
        for name in {*mine, *self.state}:
            now = mine.get(name)
            was = self.state.get(name)
            if uncertain and uncertain[0] == name:
                after = uncertain[1]
                got = now["data"]["v"] if now else None
                assert got in (after, was[1] if was else None), (name, got, uncertain, was)
                if now:
                    self.state[name] = (now["metadata"]["resourceVersion"], got)
                else:
                    self.state.pop(name, None)
                continue
            assert now and was, (name, now, was)
            assert (now["metadata"]["resourceVersion"], now["data"]["v"]) == was, (name, was)


class Follower:
    """Sees every event until the server dies: also of writes that nobody got an answer to."""

    def __init__(self, server, after):
        self.events = []
        self.watch = server.watch(f"{MAPS}?watch=1&resourceVersion={after}&allowWatchBookmarks=false")
        self.thread = threading.Thread(target=self.follow)
        self.thread.start()

    def follow(self):
        try:
            while event := self.watch.next():
                meta = event["object"]["metadata"]
                self.events.append((int(meta["resourceVersion"]), event["type"], meta["name"], event["object"].get("data", {}).get("v")))
        except (OSError, ValueError, EOFError):
            pass
        except Exception:  # http.client's, for a stream that was cut
            pass


def test_sigkill_loses_no_acknowledged_write_and_reuses_no_version(data_dir):
    print(f"DORMOUSE_SEED={SEED}")
    choice = random.Random(SEED)
    writers = [Writer(i, choice.random()) for i in range(4)]
    seen = {}  # resourceVersion -> event, of all lives of the server
    server = Server(data_dir)
    for _ in range(25 if SLOW else 5):
        after = server.get(MAPS).json()["metadata"]["resourceVersion"]
        assert all(int(after) >= rev for rev in seen), "the version went back"
        follower = Follower(server, after)
        server.dying = threading.Event()
        limit = choice.randrange(5, 150)
        count, reached = [0], threading.Event()

        def enough():
            count[0] += 1
            if count[0] >= limit:
                reached.set()
        threads = [threading.Thread(target=w.run, args=(server, enough)) for w in writers]
        for t in threads:
            t.start()
        assert reached.wait(DEADLINE_S)
        server.dying.set()
        server.kill()
        for t in [*threads, follower.thread]:
            t.join()
        for event in follower.events:
            assert event[0] > int(after) and seen.setdefault(event[0], event) == event, ("given twice", event, seen[event[0]])
        server = Server(data_dir)
        objects = {o["metadata"]["name"]: o for o in server.get(MAPS).json()["items"]}
        for w in writers:
            w.check(objects)
        # The history that was told before is told again, in the same words.
        again = server.watch(f"{MAPS}?watch=1&resourceVersion={after}")
        for event in follower.events:
            reported = again.next()
            meta = reported["object"]["metadata"]
            assert (int(meta["resourceVersion"]), reported["type"], meta["name"], reported["object"].get("data", {}).get("v")) == event
        again.close()
    assert server.stop() == 0


def pss_kib(server):
    return int(re.search(r"^Pss:\s+(\d+) kB", open(f"/proc/{server.process.pid}/smaps_rollup").read(), re.M).group(1))


@pytest.mark.skipif(not SLOW, reason="waits for the minute after which a watcher that reads nothing is cut off; DORMOUSE_SLOW_TESTS=1 runs it")
def test_watchers_that_read_nothing_are_closed_at_bounded_memory(dormouse_api):
    dormouse_api.create(MAPS, {"metadata": {"name": "slow"}})
    stuck = []
    for _ in range(20):
        plain = socket.socket()
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        plain.connect((dormouse_api.host, dormouse_api.port))
        s = dormouse_api.tls.wrap_socket(plain, server_hostname=dormouse_api.host)
        s.sendall(f"GET {MAPS}?watch=1&resourceVersion=0 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {dormouse_api.token}\r\n\r\n".encode())
        assert s.recv(1)
        stuck.append(s)
    before = pss_kib(dormouse_api)
    connection = dormouse_api.connect()
    for i in range(100):
        assert dormouse_api.ask("PUT", MAPS + "/slow", {"metadata": {"name": "slow"}, "data": {"n": str(i), "pad": "x" * 200000}},
                                connection=connection).status == 200
    grown = pss_kib(dormouse_api) - before
    assert grown < 20 * 600 + 12 * 1024, f"{grown} KiB for 20 watchers and 20 MB of events each"

    def open_watches():
        text = dormouse_api.get("/metrics").body.decode()
        found = re.search(r"^apiserver_longrunning_requests\{[^}]*configmaps[^}]*\} (\d+)", text, re.M)
        return int(found.group(1)) if found else 0
    assert open_watches() == 20
    wait_for(lambda: open_watches() == 0, "the server to give up on them", timeout=90)
    for s in stuck:
        s.close()


def fill_up(path):
    fd = os.open(path, os.O_WRONLY | os.O_CREAT)
    with pytest.raises(OSError, match="No space left"):
        while True:
            os.write(fd, b"x" * 4096)
    os.close(fd)


def test_what_stands_on_a_full_disk_can_be_read_watched_and_deleted(small_disk):
    disk, enlarge = small_disk
    server = Server(disk / "data")
    after = server.get(MAPS).json()["metadata"]["resourceVersion"]
    watch = server.watch(f"{MAPS}?watch=1&resourceVersion={after}")
    names = []
    for i in range(100):
        answer = server.ask("POST", MAPS, {"metadata": {"name": f"m{i}"}, "data": {"k": "x" * 200000}})
        if answer.status != 201:
            break
        names.append(f"m{i}")
    assert answer.status >= 500 and answer.json()["kind"] == "Status", answer.body
    assert [watch.next()["object"]["metadata"]["name"] for _ in names] == names
    page = server.get(MAPS + "?limit=2").json()
    rest = server.get(MAPS + "?continue=" + page["metadata"]["continue"]).json()
    listed = [o["metadata"]["name"] for o in page["items"] + rest["items"]]
    assert sorted(n for n in listed if n.startswith("m")) == sorted(names)
    for name in names[:4]:
        assert server.ask("DELETE", f"{MAPS}/{name}").status == 200
        event = watch.next()
        assert event["type"] == "DELETED" and event["object"]["metadata"]["name"] == name
    watch.close()
    made = {"metadata": {"name": "again"}, "data": {"k": "y" * 200000}}
    wait_for(lambda: server.ask("POST", MAPS, made).status == 201, "the space of what was deleted")
    assert "the store's disk is full" in server.text_of_log()
    assert server.stop() == 0
    # Nor does it matter to a start, and what is said there is served.
    fill_up(disk / "fill")
    server = Server(disk / "data")
    assert server.ask("POST", MAPS, {"metadata": {"name": "more"}, "data": {"k": "z" * 900000}}).status >= 500
    for name in names[4:]:
        assert server.ask("DELETE", f"{MAPS}/{name}").status == 200
    assert server.get(MAPS + "/again").json()["data"] == made["data"]
    server.kill()
    server = Server(disk / "data")
    assert server.ask("DELETE", f"{MAPS}/again").status == 200
    (disk / "fill").unlink()
    wait_for(lambda: server.ask("POST", MAPS, made).status == 201, "space")
    assert server.stop() == 0


def test_a_first_start_on_a_full_disk_says_so_and_leaves_nothing(small_disk):
    disk, enlarge = small_disk
    fill_up(disk / "fill")
    for command in ("api", "up"):
        for _ in range(8):  # it ends at another file each time
            os.truncate(disk / "fill", os.path.getsize(disk / "fill") - 4096)
            done = subprocess.run([BUILD / "dormouse", command, "--data-dir", disk / "data", "--listen", "127.0.0.1:0"],
                                  capture_output=True, text=True, timeout=DEADLINE_S)
            assert done.returncode != 0 and ("a new one needs 2 MiB" in done.stderr or "No space left on device" in done.stderr), done
            assert sorted(os.listdir(disk)) == ["fill"], (command, done.stderr)
    enlarge()
    server = Server(disk / "data")
    assert server.stop() == 0


def test_the_certificate_of_the_authority_is_made_again_and_old_clients_trust_it(data_dir):
    server = Server(data_dir)
    trusted = server.tls
    assert server.stop() == 0
    (pathlib.Path(data_dir) / "pki/ca.crt").unlink()
    server = Server(data_dir)
    assert server.get("/version").status == 200  # with the new one
    server.tls = trusted
    assert server.get("/version").status == 200
    assert "'pki/ca.crt' is missing" in server.text_of_log()
    assert server.stop() == 0
    (pathlib.Path(data_dir) / "pki/server.crt").unlink()  # signed anew, by the same key
    server = Server(data_dir)
    server.tls = trusted
    assert server.get("/version").status == 200
    assert server.stop() == 0


@pytest.mark.parametrize("what", ["format", "store"])
def test_what_a_newer_version_wrote_is_refused_and_left_as_it_is(data_dir, what):
    data_dir = pathlib.Path(data_dir)
    server = Server(data_dir)
    server.create(MAPS, {"metadata": {"name": "kept"}})
    assert server.stop() == 0
    own = (data_dir / "format").read_text()
    if what == "format":
        (data_dir / "format").write_text("dormouse data 99\n")
    else:
        with sqlite3.connect(data_dir / "store.db") as db:
            version = db.execute("PRAGMA user_version").fetchone()[0]
            db.execute("PRAGMA user_version = 99")
        db.close()
    before = {p.name: p.read_bytes() for p in data_dir.iterdir() if p.is_file()}
    done = subprocess.run([BUILD / "dormouse", "api", "--data-dir", data_dir, "--listen", "127.0.0.1:0"],
                          capture_output=True, text=True, timeout=DEADLINE_S)
    assert done.returncode != 0 and "newer" in done.stderr, done
    assert {p.name: p.read_bytes() for p in data_dir.iterdir() if p.is_file()} == before
    if what == "format":
        (data_dir / "format").write_text(own)
    else:
        with sqlite3.connect(data_dir / "store.db") as db:
            db.execute(f"PRAGMA user_version = {version}")
        db.close()
    server = Server(data_dir)
    assert server.get(MAPS + "/kept").status == 200
    assert server.stop() == 0
