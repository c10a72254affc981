# SPDX-License-Identifier: Apache-2.0
"""The wall clock is set, forward and back, under a server that runs or between two starts; with libfaketime around the program."""
import glob
import os
import socket

import pytest

from conftest import Server, wait_for
from test_api_process import MAPS, config_map

LIBRARY = next(iter(glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")), None)
pytestmark = pytest.mark.skipif(not LIBRARY, reason="no libfaketime here")


class Shifted(Server):
    """A server that reads its wall clock from a file; its monotonic clock is unchanged."""

    def __init__(self, data_dir, offset):
        self.clock = str(data_dir) + ".clock"
        self.set_clock(offset)
        before = dict(os.environ)
        os.environ |= {"LD_PRELOAD": LIBRARY, "FAKETIME_TIMESTAMP_FILE": self.clock, "FAKETIME_NO_CACHE": "1",
                       "FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1"}
        try:
            super().__init__(data_dir)
        finally:
            os.environ.clear()
            os.environ.update(before)

    def set_clock(self, offset):
        with open(self.clock + ".new", "w") as to:
            to.write(offset + "\n")
        os.rename(self.clock + ".new", self.clock)


def created(server, name):
    return server.create(MAPS, config_map(name))["metadata"]


def test_what_a_machine_made_before_its_clock_was_set_stays_good(data_dir):
    server = Shifted(data_dir, "-20000d")  # 1972: no battery, and the network comes later
    assert created(server, "early")["creationTimestamp"].startswith("197")
    server.set_clock("+0")
    wait_for(lambda: server.get("/readyz").status == 200, "a client with the right time believes its certificate")
    assert created(server, "late")["creationTimestamp"].startswith("20")
    watch = server.watch(MAPS + "?watch=1&timeoutSeconds=5&labelSelector=none")
    server.set_clock("-40d")
    created(server, "back")
    assert server.stop() == 0
    watch.close()
    server = Server(data_dir)
    assert {"early", "late", "back"} <= {o["metadata"]["name"] for o in server.get(MAPS).json()["items"]}
    assert server.stop() == 0


def test_a_client_finds_a_renewed_certificate_when_the_clock_went_past_the_old_ones_end(data_dir):
    server = Shifted(data_dir, "+0")

    def shown():
        """What a client that sends nothing is shown."""
        with socket.create_connection((server.host, server.port)) as plain:
            with server.tls.wrap_socket(plain, server_hostname=server.host) as s:
                return s.getpeercert()["notAfter"]
    before = shown()
    server.set_clock("+400d")
    wait_for(lambda: shown() != before, "another certificate")
    assert "server certificate renewed" in server.text_of_log()
    assert server.stop() == 0


def test_a_token_ends_by_the_clock_that_is(data_dir):
    server = Shifted(data_dir, "+0")
    accounts = "/api/v1/namespaces/default/serviceaccounts"
    server.create(accounts, {"metadata": {"name": "robot"}})
    token = server.create(accounts + "/robot/token", {"spec": {"expirationSeconds": 600}})["status"]["token"]
    ask = lambda: server.get("/api", Authorization="Bearer " + token).status  # noqa: E731
    assert ask() == 200
    server.set_clock("-30d")
    created(server, "note")  # the token is not looked up in what is remembered for ever
    assert ask() in (200, 401)
    server.set_clock("+0")
    wait_for(lambda: ask() == 200, "the token is good again")
    server.set_clock("+1d")
    wait_for(lambda: ask() == 401, "the token has ended")
    assert server.stop() == 0
