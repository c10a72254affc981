# SPDX-License-Identifier: Apache-2.0
"""A real kubelet with containerd in a place of its own (place_kit.py): the kubelet of tools/build-upstream --node, containerd and CNI's plug-ins of this machine."""
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import time

from place_kit import GROUPS

ROOT = pathlib.Path(__file__).resolve().parents[2]
PLUGINS = "/usr/lib/cni"
PAUSE = "docker.io/library/pause:1"
READY_S = 180

CONTAINERD = """version = 2
root = "{at}/root"
state = "{at}/state"
disabled_plugins = ["io.containerd.internal.v1.opt", "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs",
  "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.aufs", "io.containerd.tracing.processor.v1.otlp"]
[grpc]
  address = "{at}/c.sock"
[ttrpc]
  address = "{at}/t.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{pause}"
  stream_server_port = "0"
  restrict_oom_score_adj = {restricted}
[plugins."io.containerd.grpc.v1.cri".cni]
  bin_dir = "{plugins}"
  conf_dir = "{at}/cni"
[plugins."io.containerd.grpc.v1.cri".registry]
  config_path = "{at}/hosts"
"""
NETWORK = {"cniVersion": "0.4.0", "name": "pods", "plugins": [
    {"type": "bridge", "bridge": "cni0", "isGateway": True, "hairpinMode": True,
     "ipam": {"type": "host-local", "ranges": [[{"subnet": "10.88.0.0/16"}]], "routes": [{"dst": "0.0.0.0/0"}]}}]}


def can_protect():
    """From the OOM killer: containerd wants that for the pause program."""
    return subprocess.run(["sh", "-c", "echo -998 >/proc/self/oom_score_adj"], capture_output=True).returncode == 0


def find_upstream():
    """The directory with the programs, or what is missing: (path, None) or (None, text)."""
    if os.geteuid():
        return None, "kubelet and containerd need root"
    for program in ("containerd", "runc", "ctr", "unshare", "nsenter", "ip"):
        if not shutil.which(program):
            return None, f"no {program} here (./dev test --foreign installs it)"
    if not pathlib.Path(PLUGINS, "bridge").exists():
        return None, f"no plug-ins of CNI in {PLUGINS} (Debian's containernetworking-plugins)"
    done = subprocess.run([ROOT / "tools/build-upstream", "--node", "--cached"], capture_output=True, text=True)
    return (pathlib.Path(done.stdout.strip()), None) if done.returncode == 0 else (None, done.stderr.strip())


class KubeletNode:
    """built: find_upstream(). layout: an OCI layout with the images of the pods and PAUSE."""

    def __init__(self, place, built, layout, node, directory):
        self.place, self.built, self.layout, self.node, self.directory = place, built, layout, node, pathlib.Path(directory)
        self.ctr = ["ctr", "-a", str(self.directory / "c/c.sock"), "-n", "k8s.io"]
        self.registries = []    # HOST:PORT without TLS

    def wait(self, what, condition, *programs):
        end = time.monotonic() + READY_S
        while not condition():
            if time.monotonic() > end or not all(self.place.is_alive(p) for p in programs):
                raise OSError(f"no {what}; {[(p, self.place.log_of(p)) for p in programs]}")
            time.sleep(0.05)

    def start_containerd(self):
        at = self.directory / "c"
        (at / "cni").mkdir(parents=True)
        (at / "cni/10-pods.conflist").write_text(json.dumps(NETWORK))
        for host in self.registries:
            (at / "hosts" / host).mkdir(parents=True)
            (at / "hosts" / host / "hosts.toml").write_text(f'server = "http://{host}"\n[host."http://{host}"]\n  capabilities = ["pull", "resolve"]\n')
        (at / "config.toml").write_text(CONTAINERD.format(at=at, plugins=PLUGINS, pause=PAUSE, restricted=str(not can_protect()).lower()))
        self.place.start("containerd", shutil.which("containerd"), "-c", at / "config.toml", "-l", "error")
        self.wait("containerd", self.has_containerd, "containerd")
        archive = self.directory / "images.tar"
        subprocess.run(["tar", "-C", self.layout, "-cf", archive, "."], check=True)
        self.place.run(*self.ctr, "images", "import", archive)

    def has_containerd(self):
        return (self.directory / "c/c.sock").exists() and subprocess.run(self.place.enter(*self.ctr, "version"), capture_output=True).returncode == 0

    def config(self, **more):
        at = self.directory
        return {"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration", "containerRuntimeEndpoint": f"unix://{at}/c/c.sock",
                "cgroupDriver": "cgroupfs", "cgroupRoot": "/" + self.place.ident, "failCgroupV1": False, "failSwapOn": False,
                "podLogsDir": str(at / "logs"), "volumePluginDir": str(at / "plugins"), "evictionHard": {"memory.available": "50Mi"},
                "resolvConf": "/etc/resolv.conf", "authorization": {"mode": "Webhook"}, **more}

    def start_kubelet(self, client_ca, *args, **more):
        """client_ca: of the clients of its server. more: of its configuration."""
        at = self.directory
        self.make_groups()
        authentication = {"anonymous": {"enabled": False}, "webhook": {"enabled": True}, "x509": {"clientCAFile": str(client_ca)}}
        (at / "kubelet.yaml").write_text(json.dumps(self.config(authentication=authentication, **more)))
        self.place.start("kubelet", self.built / "kubelet", "--config", at / "kubelet.yaml", "--root-dir", at / "kubelet", "--cert-dir", at / "kubelet-pki",
                         "--hostname-override", self.node, "--node-ip", self.place.address, *args)

    def make_groups(self):
        """A kubelet wants the group of its pods to exist."""
        for base in GROUPS.iterdir():
            if base.is_dir() and not base.is_symlink() and (base / "cgroup.procs").exists():
                with contextlib.suppress(OSError):
                    (base / self.place.ident).mkdir(exist_ok=True)
        if (GROUPS / "cgroup.procs").exists():
            (GROUPS / self.place.ident).mkdir(exist_ok=True)
