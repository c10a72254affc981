# SPDX-License-Identifier: Apache-2.0
"""The two clusters of one machine: `dormouse up`, and kubelet with containerd, kube-apiserver, etcd, the scheduler and the controllers."""
import contextlib
import json
import os
import pathlib
import shutil
import socket
import ssl
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("DORMOUSE_BUILD", ROOT / "build"))
sys.path[:0] = [str(ROOT / "test/behaviour"), str(ROOT / "test/differential")]
from image_kit import Layout, layer  # noqa: E402
from kubelet_kit import PAUSE, KubeletNode, find_upstream  # noqa: E402
from place_kit import Place, inside  # noqa: E402
from pod_client_kit import Api  # noqa: E402
from servers import UPSTREAM_ARGS  # noqa: E402

IMAGE, NODE, MAX_PODS = "docker.io/library/bench:1", "bench", 110
REGISTRY_PORT = 5000
READY_S = 180

class Unavailable(Exception):
    """Something that the system needs is not here."""


def make_layout(directory):
    """The image of all containers, and the same as a pause image."""
    program = [("program", "f", (BUILD / "bench/nodes/pod-program").read_bytes(), {"mode": 0o755}),
               ("etc/passwd", "f", b"root:x:0:0:root:/:/\n"), ("etc/group", "f", b"root:x:0:\n"), ("tmp", "d", b"", {"mode": 0o1777})]
    layout = Layout(directory)
    for name, mode in ((IMAGE, "idle"), (PAUSE, "pause")):
        layout.image(name, [layer(program)], run={"Entrypoint": ["/program"], "Cmd": [mode]})
    return directory


class System:
    """network: of ../images/network.py, with a host of the system's name."""

    name = None

    def __init__(self, network, base):
        self.network, self.directory = network, base / self.name
        self.directory.mkdir()
        self.place = Place(self.name, self.directory, f"/run/netns/{network.name(self.name)}", network.address(self.name))
        self.api = None
        self.registry = f"{network.address('registry')}:{REGISTRY_PORT}"

    @property
    def address(self):
        return self.place.address

    def wait(self, what, condition, *programs):
        end = time.monotonic() + READY_S
        while not condition():
            dead = [p for p in programs if not self.place.is_alive(p)]
            if dead or time.monotonic() > end:
                raise OSError(f"{self.name}: no {what}; {[(p, self.place.log_of(p)) for p in programs]}")
            time.sleep(0.05)

    def is_node_ready(self):
        status, data = self.api.ask("GET", f"/api/v1/nodes/{NODE}")
        return status == 200 and any(c["type"] == "Ready" and c["status"] == "True" for c in json.loads(data)["status"].get("conditions", []))

    def has_account(self):
        return self.api.ask("GET", "/api/v1/namespaces/default/serviceaccounts/default")[0] == 200

    def wait_ready(self, *programs):
        self.wait("node", lambda: self.is_node_ready() and self.has_account(), *programs)

    def explain(self):
        """What a reader needs who asks why it went wrong."""
        node = self.api.must("GET", f"/api/v1/nodes/{NODE}")
        events = self.api.must("GET", "/api/v1/events")["items"]
        return "\n".join([f"{self.name}: " + json.dumps({c["type"]: c["status"] for c in node["status"]["conditions"]}), json.dumps(node["spec"]),
                          *(f"{p['metadata']['name']}: {json.dumps(p['status'])}" for p in self.api.pods() if p["status"].get("phase") != "Running"),
                          *(f"{e['reason']}: {e['message']}" for e in events if e.get("type") != "Normal"),
                          *(self.place.log_of(name, 1500) for name in self.place.programs)])

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()


class Dormouse(System):
    name = "dormouse"

    def version(self):
        return subprocess.run([BUILD / "dormouse", "version"], capture_output=True, text=True).stdout.split("\n")[0]

    def start(self):
        if not (BUILD / "dormouse").exists():
            raise Unavailable(f"no {BUILD / 'dormouse'}")
        self.place.elsewhere = ["dormouse-pod"]     # those of a kubelet are below the group of its place
        store, data = self.directory / "store", self.directory / "data"
        layout = make_layout(self.directory / "layout")
        done = subprocess.run([BUILD / "dormouse", "image", "pull", f"oci:{layout}:{IMAGE}", "--name", IMAGE, "--store", store], capture_output=True, text=True)
        if done.returncode:
            raise OSError(done.stderr)
        self.place.start("dormouse", BUILD / "dormouse", "up", "--data-dir", data, "--listen", f"{self.address}:6443", "--agent", "--node-name", NODE,
                         "--node-ip", self.address, "--max-pods", str(MAX_PODS), "--pod-log-dir", self.directory / "logs",
                         "--plain-http-registry", self.registry, "--image-registry", self.registry,
                         env=os.environ | {"DORMOUSE_IMAGE_STORE": str(store)}, out=subprocess.PIPE)
        line = self.place.programs["dormouse"].stdout.readline()
        if not line.startswith(b"ready "):
            raise OSError("dormouse up: " + self.place.log_of("dormouse"))
        self.api = Api(self.place.netns, self.address, 6443, ssl.create_default_context(cafile=data / "pki/ca.crt"), (data / "admin.token").read_text().strip())
        self.wait_ready("dormouse")

    def stop(self):
        if "dormouse" in self.place.programs:
            self.place.end("dormouse")
            self.place.programs["dormouse"].stdout.close()
        self.place.close()


class ControlPlane(System):
    """etcd, kube-apiserver, the scheduler and the controllers, which have administrators' tokens; a leader is not elected. nodes: whose kubelets have tokens."""

    name = "master"
    ORDER = ("scheduler", "controllers", "kube-apiserver", "etcd")

    def __init__(self, network, base, nodes=()):
        self.built, missing = find_upstream()
        if missing:
            raise Unavailable(missing)
        super().__init__(network, base)
        self.users = [("admin", "admin", "system:masters"), *((n, f"system:node:{n}", "system:nodes") for n in nodes)]

    def version(self):
        containerd = subprocess.run(["containerd", "--version"], capture_output=True, text=True).stdout.split()[2]
        return f"kubelet {(self.built / 'version').read_text().strip()}, containerd {containerd}"

    # -- the control plane

    def spawn(self, name, program, *args):
        self.place.start(name, program, *args)

    def config_of(self, user):
        path = self.directory / f"{user}.conf"
        path.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "c", "user": "c"}}],
            "clusters": [{"name": "c", "cluster": {"server": f"https://{self.address}:6443", "insecure-skip-tls-verify": True}}],
            "users": [{"name": "c", "user": {"token": "token-" + user}}]}))
        return path

    def make_keys(self):
        """An authority that the kubelet trusts, and the certificate that kube-apiserver shows it."""
        def openssl(*words):
            subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True, cwd=self.directory)
        openssl("genrsa", "-out", "sa.key", 2048)
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "ca.key", "-out", "ca.crt", "-days", 30, "-subj", "/CN=bench")
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "client.key", "-out", "client.csr",
                "-subj", "/O=system:masters/CN=kube-apiserver")
        openssl("x509", "-req", "-in", "client.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-out", "client.crt", "-days", 30)
        (self.directory / "tokens.csv").write_text("".join(f'token-{t},{user},,"{group}"\n' for t, user, group in self.users))

    def can_reach(self, port):
        with contextlib.suppress(OSError), inside(self.place.netns):
            socket.create_connection((self.address, port), 1).close()
            return True
        return False

    def start_control_plane(self):
        at = self.directory
        client, peers = f"http://{self.address}:2379", f"http://{self.address}:2380"
        self.spawn("etcd", self.built / "etcd", "--data-dir", at / "etcd", "--log-level=error", "--listen-client-urls", client, "--advertise-client-urls", client,
                   "--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers, "--initial-cluster", f"default={peers}")
        self.wait("etcd", lambda: self.can_reach(2379), "etcd")
        self.spawn("kube-apiserver", self.built / "kube-apiserver", f"--etcd-servers={client}", "--secure-port=6443", f"--bind-address={self.address}",
                   f"--advertise-address={self.address}", f"--cert-dir={at}/certs", f"--token-auth-file={at}/tokens.csv", f"--service-account-key-file={at}/sa.key",
                   f"--service-account-signing-key-file={at}/sa.key", f"--kubelet-client-certificate={at}/client.crt", f"--kubelet-client-key={at}/client.key",
                   "--kubelet-preferred-address-types=InternalIP", *UPSTREAM_ARGS)
        tls = ssl.create_default_context()
        tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
        self.api = Api(self.place.netns, self.address, 6443, tls, "token-admin")
        self.wait("kube-apiserver", lambda: self.can_reach(6443) and self.api.ask("GET", "/readyz")[0] == 200, "kube-apiserver")
        admin = self.config_of("admin")
        self.spawn("scheduler", self.built / "kube-scheduler", f"--kubeconfig={admin}", "--leader-elect=false", "--authentication-skip-lookup=true")
        self.spawn("controllers", self.built / "kube-controller-manager", f"--kubeconfig={admin}", "--leader-elect=false", f"--service-account-private-key-file={at}/sa.key",
                   f"--root-ca-file={at}/certs/apiserver.crt", "--authentication-skip-lookup=true")

    def start(self):
        self.make_keys()
        self.start_control_plane()

    def stop(self):
        for name in self.ORDER:
            if name in self.place.programs:
                self.place.end(name)
        self.place.close()


class Peer(ControlPlane):
    """All on one machine."""

    name = "peer"
    ORDER = ("kubelet", "containerd", *ControlPlane.ORDER)

    def __init__(self, network, base):
        super().__init__(network, base, [NODE])
        self.node = KubeletNode(self.place, self.built, make_layout(self.directory / "layout"), NODE, self.directory)
        self.node.registries = [self.registry]

    def start(self):
        super().start()
        self.node.start_containerd()
        self.node.start_kubelet(self.directory / "ca.crt", "--kubeconfig", self.config_of(NODE), maxPods=MAX_PODS)
        self.wait_ready("kubelet", "containerd", "kube-apiserver", "controllers", "scheduler")
