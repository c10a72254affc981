# SPDX-License-Identifier: Apache-2.0
"""Machines that become nodes: `dormouse up --agent` and `dormouse join`, their Node, Lease and certificates, and what ends them."""
import base64
import hashlib
import json
import os
import pathlib
import shutil
import signal
import ssl
import stat
import subprocess
import tempfile

import pytest

from conftest import BUILD, DEADLINE_S, IS_CLOCK_SHIFTED, Server, wait_for
from place_kit import inside

NODES = "/api/v1/nodes"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
CSRS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
INFO = "/api/v1/namespaces/kube-public/configmaps/cluster-info"
NOBODY = 65534


class Up(Server):
    COMMAND = "up"

    def __init__(self, data_dir, *extra, listen="127.0.0.1:0", prefix=()):
        super().__init__(data_dir, listen=listen, extra=("--gateway", "none", "--no-scheduler", *extra), prefix=prefix)


class Node:
    """A running `dormouse join`."""

    def __init__(self, server, directory, *args, wait=True, user=None, shift_s=0):
        self.directory, self.log_path = directory, directory.parent / (directory.name + ".log")
        self.log = open(self.log_path, "ab")
        env = {k: v for k, v in os.environ.items() if k not in ("KUBECONFIG", "DORMOUSE_JOIN_TOKEN")}
        if shift_s:
            env |= {"LD_PRELOAD": str(BUILD / "test/shifted_clock.so"), "SHIFTED_CLOCK_S": str(shift_s)}
        self.process = subprocess.Popen([str(BUILD / "dormouse"), "join", server if isinstance(server, str) else server.url,
                                         "--data-dir", str(directory), *args], stdout=subprocess.PIPE, stderr=self.log, text=True,
                                        env=env, user=user, group=user, extra_groups=[] if user else None)
        self.words = {}
        if wait:
            line = self.process.stdout.readline()
            assert line.startswith("ready "), self.text()
            self.words = dict(word.split("=", 1) for word in line.split()[1:])

    def text(self):
        return self.log_path.read_text()

    def kubeconfig(self):
        return self.directory / "node.kubeconfig"

    def close(self):
        self.process.stdout.close()
        self.log.close()

    def kill(self):
        self.process.kill()
        self.process.wait(DEADLINE_S)
        self.close()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(DEADLINE_S)
        self.close()
        return status

    def fails(self):
        """Exit status and what it said, of one that cannot join."""
        status = self.process.wait(DEADLINE_S)
        self.close()
        return status, self.text().splitlines()[-1]


@pytest.fixture
def api(data_dir):
    server = Server(data_dir)
    yield server
    assert server.stop() == 0


def create_token(server, *args):
    done = subprocess.run([str(BUILD / "dormouse"), "token", "create", "--kubeconfig", server.kubeconfig, *args],
                          capture_output=True, text=True, check=True)
    token = done.stdout.strip()
    wait_for(lambda: signatures(server).get("jws-kubeconfig-" + token.split(".")[0]), "the token signs cluster-info")
    return token


def signatures(server):
    return server.get(INFO).json().get("data") or {}


def ready(server, name):
    answer = server.get(f"{NODES}/{name}")
    node = answer.json() if answer.status == 200 else {}
    return {c["type"]: c for c in node.get("status", {}).get("conditions", [])}.get("Ready", {})


def runs_pods(user=None):
    """A node says that it is ready where pods can run."""
    return os.geteuid() == 0 and not user and bool(shutil.which("crun") or shutil.which("runc"))


def is_ready(server, name, user=None):
    return ready(server, name).get("status") == ("True" if runs_pods(user) else "False")


def test_up_is_a_node_as_the_user_of_a_node(data_dir):
    server = Up(data_dir, "--agent", "--node-name", "edge-1", "--node-label", "hall=3", "--node-taint", "k=v:NoSchedule")
    wait_for(lambda: is_ready(server, "edge-1"), "the node is ready")
    node = server.get(f"{NODES}/edge-1").json()
    assert node["metadata"]["labels"]["hall"] == "3" and node["metadata"]["labels"]["kubernetes.io/hostname"] == "edge-1"
    assert node["spec"]["taints"] == [{"key": "k", "value": "v", "effect": "NoSchedule"}]
    assert {m["manager"] for m in node["metadata"]["managedFields"]}
    lease = wait_for(lambda: server.get(f"{LEASES}/edge-1").json().get("spec"), "it has a Lease")
    assert (lease["holderIdentity"], lease["leaseDurationSeconds"]) == ("edge-1", 900)
    assert server.kubectl("get", "nodes", "--no-headers").stdout.split()[:2] == ["edge-1", "Ready" if runs_pods() else "NotReady"]
    assert server.kubectl("describe", "node", "edge-1").returncode == 0
    events = wait_for(lambda: {e["reason"] for e in server.get("/api/v1/namespaces/default/events").json()["items"]
                               if e["involvedObject"]["kind"] == "Node"}, "it says that it starts")
    assert events <= {"Starting", "NodeReady", "NodeNotReady"}
    # It renews and reports; a label that a node may not set was refused by NodeRestriction, so it acts as a node.
    renewed = server.get(f"{LEASES}/edge-1").json()["metadata"]["uid"]
    server.kill()
    server = Up(data_dir, "--agent", "--node-name", "edge-1")
    lease = wait_for(lambda: server.get(f"{LEASES}/edge-1").json(), "the Lease is still there")
    assert lease["metadata"]["uid"] == renewed
    wait_for(lambda: "was registered before" in server.text_of_log(), "it takes its Node over")
    assert server.get(f"{NODES}/edge-1").json()["spec"]["taints"]  # and leaves a person's settings alone
    assert server.stop() == 0
    server = Up(data_dir, "--agent", "--node-name", "edge-2", "--node-label", "node-restriction.kubernetes.io/x=y")
    wait_for(lambda: "is not allowed to set the following labels" in server.text_of_log(), "NodeRestriction holds for it")
    assert server.get(f"{NODES}/edge-2").status == 404
    assert server.stop() == 0


def test_up_without_an_agent_is_no_node(data_dir):
    server = Up(data_dir, "--no-agent")
    assert server.get(NODES).json()["items"] == []
    assert server.get(INFO).status == 404  # nothing is published without tokens
    assert server.stop() == 0


@pytest.fixture(params=[None, NOBODY], ids=["root", "nobody"])
def home(request):
    """A user, None for the one of the tests, and a directory of that user."""
    user = request.param
    if user and os.geteuid() != 0:
        pytest.skip("not root, who could become another user")
    if user and subprocess.run([str(BUILD / "dormouse"), "version"], user=user, group=user, extra_groups=[], capture_output=True).returncode:
        pytest.skip("another user cannot run the program")
    with tempfile.TemporaryDirectory(prefix="dm-join-") as made:
        if user:
            os.chown(made, user, user)
        yield user, pathlib.Path(made)


def test_a_machine_joins_with_a_token_and_later_without(api, home):
    user, made = home
    token, directory = create_token(api), made / "n1"
    node = Node(api, directory, "--token", token, "--node-name", "n1", "--node-ip", "127.0.0.5", "--label", "a=b", user=user)
    assert node.words["node"] == "n1"
    assert api.kubectl("get", "nodes", "--no-headers").stdout.split()[:2] == ["n1", "Ready" if runs_pods(user) else "NotReady"]
    if user:
        assert "need root" in ready(api, "n1")["message"]
    seen = api.get(f"{NODES}/n1").json()
    assert seen["status"]["addresses"] == [{"type": "InternalIP", "address": "127.0.0.5"}, {"type": "Hostname", "address": "n1"}]
    assert seen["metadata"]["labels"]["a"] == "b"
    lease = wait_for(lambda: api.get(f"{LEASES}/n1").json().get("spec"), "its Lease")
    assert lease["leaseDurationSeconds"] == 40
    owner, = api.get(f"{LEASES}/n1").json()["metadata"]["ownerReferences"]
    assert owner["uid"] == seen["metadata"]["uid"]
    assert stat.S_IMODE(node.kubeconfig().stat().st_mode) == 0o600
    assert token.split(".")[1] not in node.text()
    who = api.kubectl("--kubeconfig", str(node.kubeconfig()), "auth", "whoami", "-o", "json") if not user else None
    if who:
        assert json.loads(who.stdout)["status"]["userInfo"]["username"] == "system:node:n1"
    before = node.kubeconfig().read_bytes()
    node.kill()
    # From now on without a token: what counts is the certificate.
    subprocess.run([str(BUILD / "dormouse"), "token", "delete", token.split(".")[0], "--kubeconfig", api.kubeconfig], check=True, capture_output=True)
    wait_for(lambda: not any(k.startswith("jws-") for k in signatures(api)), "its signature is gone")
    node = Node(api, directory, "--node-name", "n1", user=user)
    assert node.kubeconfig().read_bytes() == before
    assert node.stop() == 0
    assert is_ready(api, "n1", user)  # the node stays; its Lease ends
    status, said = Node(api, directory, "--node-name", "n2", wait=False, user=user).fails()
    assert status == 1 and "is of another node than n2" in said
    assert len([c for c in api.get(CSRS).json()["items"] if c["spec"]["signerName"].endswith("client-kubelet")]) == 1


def ca_hash(server):
    pem = (server.data_dir / "pki/ca.crt").read_text()
    done = subprocess.run(["openssl", "x509", "-pubkey", "-noout"], input=pem, capture_output=True, text=True, check=True)
    return "sha256:" + hashlib.sha256(ssl.PEM_cert_to_DER_cert(
        done.stdout.replace("PUBLIC KEY", "CERTIFICATE"))).hexdigest()


def test_what_proves_the_cluster(api, tmp_path):
    token, right = create_token(api), ca_hash(api)
    for name, args in (("hash", ("--ca-hash", right)), ("file", ("--ca-file", str(api.data_dir / "pki/ca.crt"))),
                       ("both", ("--ca-hash", right, "--ca-file", str(api.data_dir / "pki/ca.crt")))):
        node = Node(api, tmp_path / name, "--token", token, "--node-name", name, *args)
        assert node.stop() == 0
    other = tmp_path / "other.crt"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", os.devnull,
                    "-out", str(other), "-subj", "/CN=dormouse-ca", "-days", "2"], check=True, capture_output=True)
    wrong = "sha256:" + "0" * 64
    for args, why in ((("--ca-hash", wrong), "another key than the one that --ca-hash names"),
                      (("--ca-hash", "sha256:12"), "64 hexadecimal digits"),
                      (("--ca-hash", wrong, "--ca-file", str(api.data_dir / "pki/ca.crt")), "another key than --ca-hash names"),
                      (("--ca-file", str(tmp_path / "none")), "No such file")):
        status, said = Node(api, tmp_path / "no", "--token", token, "--node-name", "no", *args, wait=False).fails()
        assert status == 1 and why in said, said
    # A server that the given CA has not signed for never sees the token.
    node = Node(api, tmp_path / "no", "--token", token, "--node-name", "no", "--ca-file", str(other), wait=False)
    wait_for(lambda: "certificate" in node.text(), "it does not trust the server")
    assert node.stop() == 0
    assert api.get(f"{NODES}/no").status == 404
    assert not (tmp_path / "no/node.kubeconfig").exists()


def test_tokens_that_are_not_valid(api, tmp_path):
    status, said = Node(api, tmp_path / "n", "--token", "abcdef.0123456789abcdef", "--node-name", "n", wait=False).fails()
    assert status == 1 and "there is no bootstrap token in the cluster" in said or "cluster-info" in said
    token = create_token(api)
    token_id, secret = token.split(".")
    for wrong, why in (("abcdef.0123456789abcdef", "does not know the token abcdef"), (f"{token_id}.{secret[::-1]}", "secret of the token"),
                       ("abc", "does not have the form")):
        status, said = Node(api, tmp_path / "n", "--token", wrong, "--node-name", "n", wait=False).fails()
        assert status == 1 and why in said and secret[::-1] not in said, said
    # A token that expired a moment after its signature was read: the server refuses it.
    expired = create_token(api, "--ttl", "1s")
    wait_for(lambda: "jws-kubeconfig-" + expired.split(".")[0] not in signatures(api), "it has expired")
    status, said = Node(api, tmp_path / "n", "--token", expired, "--node-name", "n", wait=False).fails()
    assert status == 1 and "does not know the token" in said, said
    status, said = Node(api, tmp_path / "n", "--token", expired, "--ca-hash", ca_hash(api), "--ca-file", str(api.data_dir / "pki/ca.crt"),
                        "--node-name", "n", wait=False).fails()
    assert status == 1 and "401" in said, said
    status, said = Node(api, tmp_path / "n", "--node-name", "n", wait=False).fails()
    assert status == 1 and "has not joined yet" in said
    status, said = Node("http://127.0.0.1:1", tmp_path / "n", "--token", token, "--node-name", "n", wait=False).fails()
    assert status == 1 and "is not an https:// URL" in said
    assert not (tmp_path / "n").exists()


def test_the_printed_command_joins(api, tmp_path):
    done = subprocess.run([str(BUILD / "dormouse"), "token", "create", "--print-join-command", "--kubeconfig", api.kubeconfig],
                          capture_output=True, text=True, check=True)
    words = done.stdout.split()
    assert words[:3] == ["dormouse", "join", api.url] and words[words.index("--ca-hash") + 1] == ca_hash(api)
    node = Node(api, tmp_path / "n1", *words[3:], "--node-name", "n1")
    assert node.stop() == 0


def certificate(node):
    return node.kubeconfig().read_text().split("client-certificate-data: ")[1].split()[0]


@pytest.mark.skipif(IS_CLOCK_SHIFTED, reason="the test shifts the clock itself")
def test_a_certificate_is_renewed_before_it_ends(api, tmp_path):
    token = create_token(api)
    node = Node(api, tmp_path / "n1", "--token", token, "--node-name", "n1", "--certificate-lifetime", "10m")
    first = certificate(node)
    assert node.stop() == 0
    # 90 % of its time are over by this clock, and it is valid.
    node = Node(api, tmp_path / "n1", "--node-name", "n1", "--certificate-lifetime", "10m", shift_s=560)
    wait_for(lambda: certificate(node) != first, "it is renewed")
    assert len([c for c in api.get(CSRS).json()["items"] if c["spec"]["username"] == "system:node:n1"
                and c["spec"]["signerName"].endswith("client-kubelet")]) == 1
    api.ask("DELETE", f"{NODES}/n1")  # the renewed one works: what it asks now, it asks with that
    assert api.kubectl("--kubeconfig", str(node.kubeconfig()), "auth", "whoami").returncode == 0
    assert node.stop() == 0
    # One that has ended is replaced with a token, and with nothing else.
    status, said = Node(api, tmp_path / "n1", "--node-name", "n1", wait=False, shift_s=100000).fails()
    assert status == 1 and "has expired" in said
    shutil.rmtree(tmp_path / "n1")
    node = Node(api, tmp_path / "n1", "--token", token, "--node-name", "n1")
    assert node.stop() == 0


def test_a_serving_certificate_for_its_own_name_and_address_needs_no_person(api, tmp_path):
    token = create_token(api)
    node = Node(api, tmp_path / "n1", "--token", token, "--node-name", "n1")
    pem = wait_for(lambda: (tmp_path / "n1/node-serving.pem").exists() and (tmp_path / "n1/node-serving.pem").read_text(), "it has one")
    text = subprocess.run(["openssl", "x509", "-noout", "-text"], input=pem, capture_output=True, text=True, check=True).stdout
    assert "DNS:n1, IP Address:127.0.0.1" in text and "TLS Web Server Authentication" in text and "PRIVATE KEY" in pem
    assert stat.S_IMODE((tmp_path / "n1/node-serving.pem").stat().st_mode) == 0o600
    assert node.stop() == 0
    # For another address, or another name, it has to wait for a person.
    node = Node(api, tmp_path / "n1", "--node-name", "n1", "--node-ip", "127.0.0.9")
    pending = wait_for(lambda: [c for c in api.get(CSRS).json()["items"] if not c.get("status")], "it asks")
    name = pending[0]["metadata"]["name"]
    assert pending[0]["metadata"]["annotations"] == {"dormouse.dev/requested-from": "127.0.0.1"}
    assert not pending[0].get("status")
    api.kubectl("certificate", "approve", name)
    wait_for(lambda: "127.0.0.9" in subprocess.run(["openssl", "x509", "-noout", "-text"], input=(tmp_path / "n1/node-serving.pem").read_text(),
                                                   capture_output=True, text=True).stdout, "it has the approved one")
    assert node.stop() == 0


def test_where_a_request_came_from_cannot_be_claimed(api, tmp_path):
    token = create_token(api)
    node = Node(api, tmp_path / "n1", "--token", token, "--node-name", "n1")
    assert node.stop() == 0
    key, csr = tmp_path / "k", tmp_path / "c"
    subprocess.run(["openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", str(key), "-out",
                    str(csr), "-subj", "/O=system:nodes/CN=system:node:n1", "-addext", "subjectAltName=IP:10.9.9.9"], check=True, capture_output=True)
    manifest = {"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest",
                "metadata": {"name": "liar", "annotations": {"dormouse.dev/requested-from": "10.9.9.9"}},
                "spec": {"request": base64.b64encode(csr.read_bytes()).decode(), "signerName": "kubernetes.io/kubelet-serving",
                         "usages": ["digital signature", "server auth"]}}
    api.kubectl("--kubeconfig", str(node.kubeconfig()), "create", "-f", "-", input=json.dumps(manifest))
    seen = api.get(f"{CSRS}/liar").json()
    assert seen["metadata"]["annotations"] == {"dormouse.dev/requested-from": "127.0.0.1"} and not seen.get("status")
    # Nor can a user who may write requests change it.
    api.kubectl("annotate", "--overwrite", "csr", "liar", "dormouse.dev/requested-from=10.9.9.9", "other=x")
    seen = api.get(f"{CSRS}/liar").json()
    assert seen["metadata"]["annotations"] == {"dormouse.dev/requested-from": "127.0.0.1", "other": "x"} and not seen.get("status")


def patch_conditions(server, name, **more):
    return server.ask("PATCH", f"{NODES}/{name}/status", {"status": {"conditions": [{"type": "Ready", **more}]}},
                      Content_Type="application/strategic-merge-patch+json")


@pytest.mark.parametrize("kind", ["up", "join"])
def test_what_others_write_into_its_node_it_sees_at_once(data_dir, tmp_path, kind):
    server = Up(data_dir, "--agent", "--node-name", "n1") if kind == "up" else Server(data_dir)
    node = None if kind == "up" else Node(server, tmp_path / "n1", "--token", create_token(server), "--node-name", "n1")
    wait_for(lambda: is_ready(server, "n1"), "it is ready")
    # A controller that missed the Lease: the node is there, and says so long before its next report is due.
    assert patch_conditions(server, "n1", status="Unknown", reason="NodeStatusUnknown").status == 200
    wait_for(lambda: is_ready(server, "n1"), "it says that it is ready")
    assert ready(server, "n1")["reason"].startswith("Kubelet")
    # A node that a person deletes does not come back by itself; one that a person makes again does.
    assert server.ask("DELETE", f"{NODES}/n1").status == 200
    log = server.text_of_log if kind == "up" else node.text
    wait_for(lambda: "the Node was deleted" in log(), "it notices")
    assert server.get(f"{NODES}/n1").status == 404
    server.create(NODES, {"metadata": {"name": "n1"}})
    wait_for(lambda: is_ready(server, "n1"), "it is ready again")
    assert not node or node.stop() == 0
    assert server.stop() == 0


def test_a_node_outlives_its_server(data_dir, tmp_path):
    server = Server(data_dir)
    token, address = create_token(server), server.listen
    node = Node(server, tmp_path / "n1", "--token", token, "--node-name", "n1")
    first = wait_for(lambda: server.get(f"{LEASES}/n1").json().get("spec"), "its Lease")["renewTime"]
    server.kill()
    wait_for(lambda: "cannot report" in node.text(), "it notices")
    server = Server(data_dir, listen=address)
    wait_for(lambda: server.get(f"{LEASES}/n1").json()["spec"]["renewTime"] != first, "it renews its Lease")
    wait_for(lambda: "reports again" in node.text(), "it says so")
    assert node.stop() == 0
    assert server.stop() == 0


def ranges(server):
    return {n["metadata"]["name"]: n["spec"].get("podCIDRs") for n in server.get(NODES).json()["items"]}


def test_each_node_has_addresses_for_its_pods(data_dir):
    server = Up(data_dir, "--pod-cidr", "10.7.0.0/23,fd00:7::/63")
    for name in ("a", "b"):
        server.create(NODES, {"metadata": {"name": name}})
    have = wait_for(lambda: all(ranges(server).values()) and ranges(server), "both have theirs")
    assert sorted(have.values()) == [["10.7.0.0/24", "fd00:7::/64"], ["10.7.1.0/24", "fd00:7:0:1::/64"]]
    assert server.get(f"{NODES}/a").json()["spec"]["podCIDR"] == have["a"][0]
    server.create(NODES, {"metadata": {"name": "c"}})
    wait_for(lambda: "is used up" in server.text_of_log(), "there is none for a third")
    assert ranges(server)["c"] is None
    server.create(NODES, {"metadata": {"name": "d"}, "spec": {"podCIDRs": ["10.9.0.0/24"]}})  # another controller's, or a person's
    assert server.ask("DELETE", f"{NODES}/a").status == 200
    wait_for(lambda: ranges(server)["c"], "what a deleted node had is given to the next")
    assert ranges(server) == {"b": have["b"], "c": have["a"], "d": ["10.9.0.0/24"]}
    server.kill()
    server = Up(data_dir, "--pod-cidr", "10.7.0.0/22,fd00:7::/62")
    server.create(NODES, {"metadata": {"name": "e"}})
    wait_for(lambda: ranges(server)["e"], "a start knows what is taken")
    assert ranges(server)["e"][0] not in {r[0] for n, r in ranges(server).items() if n != "e"}
    assert server.stop() == 0


def test_a_bare_api_leaves_addresses_to_others(api):
    api.create(NODES, {"metadata": {"name": "a"}})
    api.create(NODES, {"metadata": {"name": "b"}})
    assert ranges(api) == {"a": None, "b": None}
    done = subprocess.run([str(BUILD / "dormouse"), "api", "--pod-cidr", "10.0.0.0/30"], capture_output=True, text=True)
    assert done.returncode == 2 and "not between /8 and /24" in done.stderr


@pytest.mark.skipif(not runs_pods() or not shutil.which("ip"), reason="needs root, crun or runc, and ip (package iproute2)")
def test_a_machine_without_control_groups_is_not_ready_and_serves_the_api(tmp_path):
    """As in `ip netns exec`, whose /sys has none: no pod can run, and everything else goes on."""
    name = f"dmtest{os.getpid()}-none"
    subprocess.run(["ip", "netns", "add", name], check=True)
    try:
        subprocess.run(["ip", "-n", name, "link", "set", "lo", "up"], check=True)
        with inside(f"/run/netns/{name}"):
            up = Up(tmp_path / "data", "--agent", "--node-name", "n1", "--pod-log-dir", str(tmp_path / "logs"), prefix=("ip", "netns", "exec", name))
            wait_for(lambda: ready(up, "n1").get("status") == "False", "it is not ready")
            assert "control groups" in ready(up, "n1")["message"] and ready(up, "n1")["reason"] == "KubeletNotReady"
            wait_for(lambda: list((tmp_path / "data").rglob("node-serving.pem")), "its serving certificate, which concerns the pods")
            pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"nodeName": "n1", "containers": [{"name": "a", "image": "i"}]}}
            up.create("/api/v1/namespaces/default/pods", pod)
            up.create("/api/v1/namespaces/default/configmaps", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}})
            assert up.ask("PATCH", f"{NODES}/n1", {"metadata": {"labels": {"a": "b"}}}, Content_Type="application/merge-patch+json").status == 200
            assert up.get("/api/v1/namespaces/default/pods/p").json()["status"]["phase"] == "Pending"
            assert up.get("/apis/metrics.k8s.io/v1beta1/nodes").json()["items"] == []
            assert up.process.poll() is None and up.stop() == 0
    finally:
        subprocess.run(["ip", "netns", "delete", name], check=True)
