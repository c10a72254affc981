# SPDX-License-Identifier: Apache-2.0
"""DNS messages, written byte by byte, and servers for names outside of the cluster."""
import random
import socket
import struct
import threading

A, PTR, SRV = 1, 12, 33


def encode_name(name):
    return b"".join(bytes([len(label)]) + label.encode() for label in name.rstrip(".").split(".") if label) + b"\0"


def question(name, kind=A, ident=None):
    ident = random.randrange(65536) if ident is None else ident
    return struct.pack(">6H", ident, 0x0100, 1, 0, 0, 0) + encode_name(name) + struct.pack(">2H", kind, 1)


def question_of(message):
    """Name and bytes of the question."""
    at, labels = 12, []
    while message[at]:
        labels.append(message[at + 1:at + 1 + message[at]].decode())
        at += 1 + message[at]
    return ".".join(labels).lower(), message[12:at + 5]


def rcode_of(message):
    return message[3] & 15


def count_of(message):
    return struct.unpack_from(">H", message, 6)[0]


def answer(ident, asked, address, ttl=60):
    """asked: bytes of the question; address None: there is no such name. Other kinds of records there are none."""
    if address is None or asked[-4:] != struct.pack(">2H", A, 1):
        return struct.pack(">6H", ident, 0x8180 if address else 0x8183, 1, 0, 0, 0) + asked
    return struct.pack(">6H", ident, 0x8180, 1, 1, 0, 0) + asked + struct.pack(">HHHIH", 0xC00C, A, 1, ttl, 4) + socket.inet_aton(address)


class Upstream(threading.Thread):
    """A server on loopback that knows some names. forges: it sends answers that must not count before each one; mute: it answers nothing."""

    def __init__(self, names):
        super().__init__(daemon=True)
        self.names, self.asked, self.forges, self.is_mute = names, [], False, False
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.socket.getsockname()[1]}"
        self.start()

    def run(self):
        while True:
            message, peer = self.socket.recvfrom(4096)
            if message == b"end":
                return
            self.reply(message, peer)

    def reply(self, message, peer):
        ident, (name, asked) = struct.unpack_from(">H", message)[0], question_of(message)
        self.asked.append(name)
        if self.is_mute:
            return
        if self.forges:
            forged = "203.0.113.66"
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
                other.sendto(answer(ident, asked, forged), peer)
            self.socket.sendto(answer(ident ^ 1, asked, forged), peer)
            self.socket.sendto(answer(ident, question("other.example")[12:], forged), peer)
            self.socket.sendto(b"\xff" * 30, peer)
        self.socket.sendto(answer(ident, asked, self.names.get(name)), peer)

    def end(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.sendto(b"end", self.socket.getsockname())
        self.join()
        self.socket.close()
