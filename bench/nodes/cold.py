# SPDX-License-Identifier: Apache-2.0
"""Images that a node does not have, in a registry behind a slow link (../images/network.py)."""
import contextlib
import os
import pathlib
import random
import stat
import subprocess
from unittest import mock

from image_kit import Layout, layer
from network import inside
from registry_kit import REGISTRY, real
from result import Skipped
from systems import BUILD, REGISTRY_PORT

# Mbit/s from the registry, milliseconds of a round trip to it: those of the BREAK paper.
NETWORKS = ((50, 200), (100, 50), (500, 10))
LAYERS = ((24 << 20, "usr/lib"), (12 << 20, "usr/share"), (4 << 20, "usr/bin"))  # bytes of each, files of this machine
FILE_MAX = 4 << 20


def files_below(top):
    for path, dirs, names in os.walk("/" + top):
        dirs.sort()
        for name in sorted(names):
            full = os.path.join(path, name)
            with contextlib.suppress(OSError):
                st = os.lstat(full)
                if stat.S_ISREG(st.st_mode) and 0 < st.st_size <= FILE_MAX:
                    yield full, st.st_size


def make_layers():
    """Lists of entries, with files of this machine: their text and programs compress as those of images do."""
    made, random_ = [], random.Random(1)
    for size, top in LAYERS:
        entries, found = [], list(files_below(top))
        random_.shuffle(found)
        for full, n in found:
            if size <= 0:
                break
            with contextlib.suppress(OSError):
                entries.append((full.lstrip("/"), "f", pathlib.Path(full).read_bytes()))
                size -= n
        made.append(entries)
    return made


@contextlib.contextmanager
def registry_of(network, work, n_images):
    """A registry with images cold:0 and so on, no two of which share a layer. -> function(Mbit/s, ms) that sets the network."""
    if not REGISTRY:
        raise Skipped("no docker-registry here")
    work.mkdir()
    netns = f"/run/netns/{network.name('registry')}"
    layers, program = make_layers(), (BUILD / "bench/nodes/pod-program").read_bytes()
    with mock.patch.dict(os.environ, {"no_proxy": "*", "NO_PROXY": "*"}), contextlib.ExitStack() as stack:
        with inside(network.name("registry")):
            inner = stack.enter_context(real(work))
        layout = Layout(work / "layout")
        for i in range(n_images):
            mark = ("a-mark", "f", b"%d" % i)
            tars = [layer([mark, *entries]) for entries in layers]
            tars.append(layer([mark, ("program", "f", program, {"mode": 0o755})]))
            layout.image(f"cold:{i}", tars, run={"Entrypoint": ["/program"], "Cmd": ["idle"]})
            words = [BUILD / "dormouse", "image", "push", f"oci:{work / 'layout'}:cold:{i}", f"docker://{inner}/cold:{i}"]
            done = subprocess.run(["nsenter", f"--net={netns}", *map(str, words)], capture_output=True, text=True)
            if done.returncode:
                raise OSError(f"image push: {done.stderr}")
        host, port = inner.split(":")
        proxy = network.proxy("registry", REGISTRY_PORT, (host, int(port)), 0)

        def set_network(mbit, rtt_ms):
            network.shape("registry", mbit)
            proxy.rtt_ms = rtt_ms
        yield set_network
