# SPDX-License-Identifier: Apache-2.0
"""podman as a peer: no daemon, and nothing of it outside of the file system that is measured."""
import os
import pathlib
import re
import shutil
import subprocess
import time

DEADLINE_S = 300
CLEANS_UP_S = 10
CONTAINERS_CONF = """[engine]
cgroup_manager = "cgroupfs"
events_logger = "none"
[containers]
log_driver = "none"
"""


def installed():
    """Its version; None: there is none."""
    if not shutil.which("podman"):
        return None
    found = re.search(r"\d+(\.\d+)+", subprocess.run(["podman", "--version"], capture_output=True, text=True).stdout)
    return found and found[0]


def is_of(at, process):
    """Whether the process of that directory in /proc is a podman with its files in `at`, or what it has left behind."""
    try:
        return f"{at}/podman".encode() in (process / "cmdline").read_bytes()
    except OSError:
        return False


class Podman:
    """All of it lies in `at`. Its storage is a mount there, which is left to whoever unmounts the file system."""

    def __init__(self, at):
        self.at = at
        for name, text in (("storage.conf", f'[storage]\ndriver = "overlay"\ngraphroot = "{at}/podman"\nrunroot = "{at}/podman-run"\n'),
                           ("registries.conf", ""), ("containers.conf", CONTAINERS_CONF)):
            (at / name).write_text(text)
        (at / "tmp").mkdir()
        self.env = {**os.environ, "CONTAINERS_STORAGE_CONF": str(at / "storage.conf"), "CONTAINERS_REGISTRIES_CONF": str(at / "registries.conf"),
                    "CONTAINERS_CONF": str(at / "containers.conf"), "TMPDIR": str(at / "tmp")}

    def __call__(self, *args):
        words = ["podman", "--root", self.at / "podman", "--runroot", self.at / "podman-run", "--tmpdir", self.at / "libpod", "--storage-driver", "overlay",
                 *args]
        done = subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=DEADLINE_S, env=self.env)
        if done.returncode:
            raise OSError(f"podman: {done.stderr.strip()[-300:]}")
        return done.stdout

    def pull(self, source):
        """The id of the image. source: docker://HOST/NAME:TAG or oci:DIRECTORY:NAME."""
        return self("pull", "--quiet", "--tls-verify=false", source).split()[-1]

    def run(self, name, image, *words):
        """By runc, as containerd; crun takes no mixture of control groups. podman's own limits are more than a machine may allow."""
        limits = ["--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024"]
        return self("run", "--rm", "--runtime", "runc", *limits, "--network", "none", "--name", name, image, *words)

    def wait(self):
        """Until what cleans up after its containers has ended: it would make the storage again, wherever that was."""
        deadline = time.monotonic() + CLEANS_UP_S
        while any(is_of(self.at, p) for p in pathlib.Path("/proc").iterdir() if p.name.isdigit()) and time.monotonic() < deadline:
            time.sleep(0.02)

    def check(self, image, n_layers):
        """It has unpacked what it pulled."""
        rows = self("image", "inspect", "--format", "{{len .RootFS.Layers}}", image).split()
        there = [p for p in (self.at / "podman/overlay").iterdir() if (p / "diff").is_dir()]
        if rows != [str(n_layers)] or len(there) < n_layers:
            raise OSError(f"podman: {len(there)} layers of {n_layers}")
