# SPDX-License-Identifier: Apache-2.0
"""Programs of another release, in a root file system of its own (tools/containerd-root makes one): they run there by chroot, in a mount
namespace that ends with them."""
import os
import pathlib
import re
import shutil
import subprocess

# $1: the root, $2: the directory that it shares with this one. Nothing of this is seen outside of the namespace, and nothing is left in the
# root but an empty directory, where $2 is not below /tmp.
# runc's pivot_root() takes a root that is a mount.
IN_ROOT = """set -e
mount --bind "$1" "$1"; cd "$1"
mount --rbind /dev "$1/dev"; mount --rbind /sys "$1/sys"; mount -t proc proc "$1/proc"
mount -t tmpfs none "$1/run"; mount -t tmpfs none "$1/tmp"
mkdir -p "$1$2"; mount --rbind "$2" "$1$2"
root=$1; shift 2
exec chroot "$root" "$@"
"""


class Release:
    """root: None, what is installed here."""

    def __init__(self, root=None):
        self.root = pathlib.Path(root).resolve() if root else None

    def local(self, program, *args):
        """A command that starts nothing else: in this root, by the loader of the release."""
        if not self.root:
            return [program, *map(str, args)]
        return [str(self.root / "lib64/ld-linux-x86-64.so.2"), "--library-path", f"{self.root}/usr/lib/x86_64-linux-gnu:{self.root}/lib/x86_64-linux-gnu",
                str(self.root / "usr/bin" / program), *map(str, args)]

    def command(self, shared, program, *args):
        """A command in the root, which sees the directory `shared` at the same path. It becomes the program."""
        words = [program, *map(str, args)]
        if not self.root:
            return words
        return ["unshare", "--mount", "--propagation", "private", "sh", "-c", IN_ROOT, "sh", str(self.root), str(shared), *words]

    def beside(self, pid, program, *args):
        """A command where the process runs that command() became."""
        words = [program, *map(str, args)]
        return ["nsenter", "--target", str(pid), "--mount", "--root", "--wd=/", *words] if self.root else words

    def containerd_version(self):
        """("2.1.9", 2); None: there is none."""
        if not self.root and not shutil.which("containerd"):
            return None
        done = subprocess.run(self.local("containerd", "--version"), capture_output=True, text=True)
        found = re.search(r"\b(\d+)\.(\d+)\.(\d+)", done.stdout)
        return (found[0], int(found[1])) if found else None


def default_root():
    """Where tools/containerd-root puts the newer release; None: it is not there."""
    at = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "dormouse/containerd-root"
    return at if (at / "usr/bin/containerd").exists() else None
