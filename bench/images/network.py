# SPDX-License-Identifier: Apache-2.0
"""A network for processes of this machine: namespaces on one bridge, each behind token buckets (tbf) in both directions.

Delay is added by proxies in user space, since kernels without netem cannot: a proxy stands in the namespace of a server, at its address, and
holds what goes either way for half of a round trip, and what comes first on a connection for a whole one more (the handshake). The buckets are
the kernel's; what TCP does on a long way (slow start over many round trips) is not there, so long ways look a little better than they are.

It takes root. Everything goes with close(); what a killed run left is removed by the next one.
"""
import asyncio
import contextlib
import ctypes
import os
import re
import socket
import subprocess
import threading

from result import Skipped

CLONE_NEWNET = 0x40000000
PIECE = 1 << 17
HELD_PIECES = 64    # of a direction of a connection
TIMEOUT_S = 20
libc = ctypes.CDLL(None, use_errno=True)


def run(*words):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=TIMEOUT_S)
    if done.returncode:
        raise OSError(f"{' '.join(map(str, words))}: {done.stderr.strip()}")
    return done.stdout


@contextlib.contextmanager
def inside(name):
    """This thread, with the sockets it makes and the processes it starts, in the namespace."""
    here = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    try:
        there = os.open(f"/run/netns/{name}", os.O_RDONLY)
        try:
            if libc.setns(there, CLONE_NEWNET):
                raise OSError(ctypes.get_errno(), "setns")
        finally:
            os.close(there)
        try:
            yield
        finally:
            if libc.setns(here, CLONE_NEWNET):
                raise OSError(ctypes.get_errno(), "setns")
    finally:
        os.close(here)


class Proxy:
    """From `at` to `target`, both in one namespace. n_down: bytes of answers."""

    def __init__(self, network, host, port, target, rtt_ms):
        self.namespace, self.target, self.rtt_ms, self.n_down = network.name(host), target, rtt_ms, 0
        self.url = f"http://{network.address(host)}:{port}"
        with inside(self.namespace):
            self.listener = socket.create_server((network.address(host), port))

    def connect(self):
        with inside(self.namespace):
            return socket.socket()

    async def accept(self, reader, writer):
        s = self.connect()
        s.setblocking(False)
        try:
            await asyncio.get_running_loop().sock_connect(s, self.target)
            there, to = await asyncio.open_connection(sock=s, limit=2 * PIECE)
        except OSError:
            s.close()
            writer.close()
            return
        half = self.rtt_ms / 2000
        await asyncio.gather(self.carry(reader, to, half, 3 * half, False), self.carry(there, writer, half, half, True))

    async def carry(self, reader, writer, delay_s, first_s, is_answer):
        loop, held = asyncio.get_running_loop(), asyncio.Queue(HELD_PIECES)

        async def send():
            while (piece := await held.get())[1]:
                if (wait := piece[0] - loop.time()) > 0:
                    await asyncio.sleep(wait)
                writer.write(piece[1])
                await writer.drain()
            await asyncio.sleep(max(0, piece[0] - loop.time()))
            writer.close()

        sending = asyncio.create_task(send())
        with contextlib.suppress(OSError):
            data = b"-"
            while data and not sending.done():
                data = await reader.read(PIECE)
                self.n_down += len(data) if is_answer else 0
                await held.put((loop.time() + (first_s or delay_s), data))
                first_s = None
        with contextlib.suppress(OSError, asyncio.QueueFull):
            if not sending.done() and data:
                held.put_nowait((0, b""))
            await sending


class Network:
    """hosts: name -> Mbit/s, both ways; addresses are 10.77.0.1 and so on, in that order."""

    def __init__(self, hosts):
        self.hosts, self.made = list(hosts), []
        if os.geteuid() or subprocess.run(["ip", "netns", "list"], capture_output=True).returncode:
            raise Skipped("namespaces of the network take root and iproute2")
        self.remove_left()
        try:
            self.make("lan")
            run("ip", "-n", self.name("lan"), "link", "add", "br0", "type", "bridge")
            run("ip", "-n", self.name("lan"), "link", "set", "br0", "up")
            for i, host in enumerate(self.hosts):
                self.add(i, host)
                self.shape(host, hosts[host])
        except OSError as e:
            self.remove()
            raise Skipped(f"no namespaces with token buckets here: {e}") from e
        self.loop, self.servers = asyncio.new_event_loop(), []
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()

    def name(self, host):
        return f"dmbench{os.getpid()}-{host}"

    def address(self, host):
        return f"10.77.0.{self.hosts.index(host) + 1}"

    def make(self, host):
        run("ip", "netns", "add", self.name(host))
        self.made.append(self.name(host))
        run("ip", "-n", self.name(host), "link", "set", "lo", "up")

    def add(self, i, host):
        self.make(host)
        run("ip", "link", "add", f"port{i}", "netns", self.name("lan"), "type", "veth", "peer", "name", "eth0", "netns", self.name(host))
        run("ip", "-n", self.name("lan"), "link", "set", f"port{i}", "master", "br0", "up")
        run("ip", "-n", self.name(host), "addr", "add", f"{self.address(host)}/24", "dev", "eth0")
        run("ip", "-n", self.name(host), "link", "set", "eth0", "up")

    def shape(self, host, mbit):
        for where, device in ((host, "eth0"), ("lan", f"port{self.hosts.index(host)}")):
            run("tc", "-n", self.name(where), "qdisc", "replace", "dev", device, "root", "tbf", "rate", f"{mbit}mbit", "burst", "256kb", "latency", "100ms")

    def proxy(self, host, port, target, rtt_ms):
        p = Proxy(self, host, port, target, rtt_ms)
        start = asyncio.run_coroutine_threadsafe(asyncio.start_server(p.accept, sock=p.listener, limit=2 * PIECE), self.loop)
        self.servers.append(start.result(TIMEOUT_S))
        return p

    def close(self):
        async def end():
            for server in self.servers:
                server.close()
            for task in asyncio.all_tasks() - {asyncio.current_task()}:
                task.cancel()
        with contextlib.suppress(Exception):
            asyncio.run_coroutine_threadsafe(end(), self.loop).result(TIMEOUT_S)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(TIMEOUT_S)
        self.remove()

    def remove(self):
        for name in reversed(self.made):
            subprocess.run(["ip", "netns", "del", name], capture_output=True)
        self.made = []

    @staticmethod
    def remove_left():
        for line in run("ip", "netns", "list").splitlines():
            left = re.match(r"(dmbench(\d+)-\w+)", line)
            if left and not os.path.exists(f"/proc/{left[2]}"):
                subprocess.run(["ip", "netns", "del", left[1]], capture_output=True)
