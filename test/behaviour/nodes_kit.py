# SPDX-License-Identifier: Apache-2.0
"""A running `dormouse nodes simulate`."""
import os
import signal
import subprocess

from conftest import BUILD, DEADLINE_S


class Nodes:
    """Nodes of a server (conftest.Server); log: a path."""

    def __init__(self, server, log, *args, wait=True):
        self.log = log
        self.out = open(log, "ab")
        env = {k: v for k, v in os.environ.items() if k != "KUBECONFIG"}
        self.process = subprocess.Popen([str(BUILD / "dormouse"), "nodes", "simulate", "--kubeconfig",
                                         server.kubeconfig, *args], stdout=subprocess.PIPE, stderr=self.out,
                                        text=True, env=env)
        if wait:
            line = self.process.stdout.readline()
            if not line.startswith("ready "):
                self.process.wait(DEADLINE_S)
                raise RuntimeError(f"no ready line; log: {self.text()}")

    def text(self):
        return self.log.read_text()

    def stop(self):
        """TERM; exit status, and what it counted."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(2 * DEADLINE_S)
        self.process.stdout.close()
        self.out.close()
        last = self.text().splitlines()[-1] if self.text() else ""
        return status, {k: int(v) for k, v in (w.split("=", 1) for w in last.split()) if v.isdigit()} \
            if last.startswith("nodes=") else {}
