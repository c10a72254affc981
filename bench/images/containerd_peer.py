# SPDX-License-Identifier: Apache-2.0
"""containerd as a peer: daemons of their own, with root, state and socket on the file system that is measured.

The one of this machine, and a newer one in a root file system of another release (--containerd-root), which runs there by chroot in a mount
namespace of its own: its mounts end with it.
"""
import pathlib
import subprocess
import sys
import time

from result import say

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "test/behaviour"))
from release_kit import Release  # noqa: E402

STARTS_WITHIN_S = 30


class Containerd:
    """One installation with one snapshotter."""

    def __init__(self, release, snapshotter):
        self.release, self.snapshotter = release, snapshotter
        found = release.containerd_version()
        if not found:
            raise OSError(f"containerd in '{release.root or '/'}' says no version")
        self.version, self.is_old = found[0], found[1] < 2
        self.name = f"containerd {self.version} {snapshotter}"

    def config(self, at):
        differ = '["erofs", "walking"]' if self.snapshotter == "erofs" else '["walking"]'
        diff = "" if self.is_old else f'[plugins."io.containerd.service.v1.diff-service"]\n  default = {differ}\n'
        return (f'version = 2\nroot = "{at}/root"\nstate = "{at}/state"\ndisabled_plugins = ["io.containerd.grpc.v1.cri", '
                f'"io.containerd.internal.v1.opt", "io.containerd.cri.v1.images", "io.containerd.cri.v1.runtime"]\n'
                f'[grpc]\n  address = "{at}/containerd.sock"\n[ttrpc]\n  address = "{at}/containerd.sock.ttrpc"\n{diff}')

    def start(self, at):
        at = pathlib.Path(at)
        (at / "config.toml").write_text(self.config(at))
        return Daemon(self, at, self.release.command(at, "containerd", "-c", at / "config.toml", "-l", "error"))


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
        return subprocess.run(self.of.release.local("ctr", "-a", self.socket, *args), capture_output=True, text=True)

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
    if Release().containerd_version():
        yield Containerd(Release(), "overlayfs")
    else:
        say("  without containerd: it is not installed")
    if not newer_root:
        say("  without a newer containerd: --containerd-root names none")
        return
    newer = Release(newer_root)
    yield Containerd(newer, "overlayfs")
    if (newer.root / "usr/bin/mkfs.erofs").exists() and "erofs" in pathlib.Path("/proc/filesystems").read_text():
        yield Containerd(newer, "erofs")
    else:
        say(f"  without its erofs snapshotter: no mkfs.erofs in '{newer.root}', or none in the kernel")
