# SPDX-License-Identifier: Apache-2.0
"""containerd as a peer: daemons of their own, with root, state and socket on the file system that is measured.

The one of this machine, and a newer one in a root file system of another release (--containerd-root), which runs there by chroot in a mount
namespace of its own: its mounts end with it.
"""
import os
import pathlib
import re
import shutil
import subprocess
import time

from result import say

STARTS_WITHIN_S = 30
# $1: the root, $2: what it shares with this one. Nothing of this is seen outside of the namespace.
IN_ROOT = """set -e
mount --rbind /dev "$1/dev"; mount --rbind /sys "$1/sys"; mount -t proc proc "$1/proc"
mkdir -p "$1$2"; mount --rbind "$2" "$1$2"
root=$1; shift 2
exec chroot "$root" "$@"
"""


class Containerd:
    """One installation with one snapshotter. root: None, or of another release."""

    def __init__(self, root, snapshotter):
        self.root, self.snapshotter = root, snapshotter
        words = subprocess.run(self.local("containerd", "--version"), capture_output=True, text=True).stdout
        version = re.search(r"\b(\d+)\.(\d+)\.(\d+)", words)
        if not version:
            raise OSError(f"containerd in '{root or '/'}' says no version: {words.strip()}")
        self.version, self.is_old = version[0], int(version[1]) < 2
        self.name = f"containerd {self.version} {snapshotter}"

    def local(self, program, *args):
        """A command that starts nothing else: a program of the other release by the loader of that release, in this root."""
        if not self.root:
            return [program, *map(str, args)]
        return [str(self.root / "lib64/ld-linux-x86-64.so.2"), "--library-path", f"{self.root}/usr/lib/x86_64-linux-gnu:{self.root}/lib/x86_64-linux-gnu",
                str(self.root / "usr/bin" / program), *map(str, args)]

    def config(self, at):
        differ = '["erofs", "walking"]' if self.snapshotter == "erofs" else '["walking"]'
        diff = "" if self.is_old else f'[plugins."io.containerd.service.v1.diff-service"]\n  default = {differ}\n'
        return (f'version = 2\nroot = "{at}/root"\nstate = "{at}/state"\ndisabled_plugins = ["io.containerd.grpc.v1.cri", '
                f'"io.containerd.internal.v1.opt", "io.containerd.cri.v1.images", "io.containerd.cri.v1.runtime"]\n'
                f'[grpc]\n  address = "{at}/containerd.sock"\n[ttrpc]\n  address = "{at}/containerd.sock.ttrpc"\n{diff}')

    def start(self, at):
        at = pathlib.Path(at)
        (at / "config.toml").write_text(self.config(at))
        command = ["containerd", "-c", str(at / "config.toml"), "-l", "error"]
        if self.root:
            command = ["unshare", "--mount", "--propagation", "private", "sh", "-c", IN_ROOT, "sh", str(self.root), str(at), *command]
        return Daemon(self, at, command)


class Daemon:
    def __init__(self, of, at, command):
        self.of, self.socket = of, at / "containerd.sock"
        self.log = open(at / "containerd.log", "w+")
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log)
        deadline = time.monotonic() + STARTS_WITHIN_S
        while self.ctr("version").returncode:
            if time.monotonic() > deadline or self.process.poll() is not None:
                self.stop()
                raise OSError(f"{of.name} does not answer: {self.last_words()}")
            time.sleep(0.02)

    def ctr(self, *args):
        return subprocess.run(self.of.local("ctr", "-a", self.socket, *args), capture_output=True, text=True)

    def pull(self, reference):
        how = ["--plain-http", "--snapshotter", self.of.snapshotter] + ([] if self.of.is_old else ["--local"])
        done = self.ctr("image", "pull", *how, reference)
        if done.returncode:
            raise OSError(f"{self.of.name}: {done.stderr.strip()[-300:]} {self.last_words()}")

    def check(self, n_layers):
        """It has unpacked what it pulled."""
        rows = self.ctr("snapshots", "--snapshotter", self.of.snapshotter, "ls").stdout.splitlines()[1:]
        if sum("Committed" in r for r in rows) != n_layers:
            raise OSError(f"{self.of.name}: {len(rows)} snapshots of {n_layers} layers")

    def last_words(self):
        self.log.seek(0)
        return self.log.read()[-300:].strip()

    def stop(self):
        self.process.terminate()
        self.process.wait()


def installed(newer_root):
    """What is here, each with what it can."""
    if shutil.which("containerd") and shutil.which("ctr"):
        yield Containerd(None, "overlayfs")
    else:
        say("  without containerd: it is not installed")
    if not newer_root:
        say("  without a newer containerd: --containerd-root names none")
        return
    root = pathlib.Path(newer_root).resolve()
    yield Containerd(root, "overlayfs")
    if (root / "usr/bin/mkfs.erofs").exists() and "erofs" in pathlib.Path("/proc/filesystems").read_text():
        yield Containerd(root, "erofs")
    else:
        say(f"  without its erofs snapshotter: no mkfs.erofs in '{root}', or none in the kernel")


def default_root():
    """Where docs/benchmarks.md puts the newer release; None: it is not there."""
    at = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "dormouse/containerd-root"
    return at if (at / "usr/bin/containerd").exists() else None
