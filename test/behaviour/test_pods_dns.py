# SPDX-License-Identifier: Apache-2.0
"""Names that pods look up: Services, endpoints of headless ones, names outside of the cluster."""
import pathlib
import re
import socket

import pytest

from conftest import wait_for
from dns_kit import PTR, SRV, Upstream, count_of, question, rcode_of
from pods_kit import Cluster, needs_pods, store  # noqa: F401

pytestmark = needs_pods

GATEWAY = "10.77.0.1"
SERVICES = "/api/v1/namespaces/default/services"
SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"


@pytest.fixture(scope="module")
def upstream():
    server = Upstream({"www.example.com": "198.51.100.7", "forged.example.com": "198.51.100.8"})
    yield server
    server.end()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory, store, upstream):  # noqa: F811
    up = Cluster(tmp_path_factory.mktemp("dns") / "data", store, "--pod-cidr", "10.77.0.0/16", "--dns-upstream", upstream.address)
    up.run("client")
    up.wait_ready("client")
    yield up
    up.clear()
    assert up.stop() == 0


def lookup(cluster, name, pod="client"):
    """The addresses that a program in a pod gets; the first ones are those of the server."""
    text = cluster.sh(pod, f"busybox nslookup {name} 2>&1; true")
    return sorted(re.findall(r"^Address(?: \d+)?: ([\da-f.:]+)$", text.partition("\n\n")[2], re.M))


def ask(name, kind=1):
    """As a program of the machine: it asks again where no answer has come, since datagrams may be lost."""
    message = None

    def has_answer():
        nonlocal message
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.settimeout(2)
            s.sendto(question(name, kind), (GATEWAY, 53))
            try:
                message = s.recv(4096)
            except TimeoutError:
                return False
        return True
    wait_for(has_answer, f"an answer about {name}")
    return message


def service(cluster, name, **spec):
    body = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": {"ports": [{"name": "http", "port": 80}], **spec}}
    return cluster.create(SERVICES, body)


def slice_of(cluster, name, endpoints):
    body = {"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
            "metadata": {"name": f"{name}-1", "labels": {"kubernetes.io/service-name": name}},
            "ports": [{"name": "http", "port": 8080}], "endpoints": endpoints}
    return cluster.create(SLICES, body)


def test_a_pod_has_the_address_and_the_search_path(cluster):
    text = cluster.sh("client", "cat /etc/resolv.conf")
    assert text.splitlines()[-2:] == [f"nameserver {GATEWAY}", "options ndots:5"], text
    assert "search default.svc.cluster.local svc.cluster.local cluster.local" in text
    assert "MissingClusterDNS" not in cluster.reasons("client")


def test_a_service_has_its_address_by_name(cluster):
    service(cluster, "web")
    address = cluster.get(f"{SERVICES}/web").json()["spec"]["clusterIP"]
    wait_for(lambda: lookup(cluster, "web.default.svc.cluster.local") == [address], "the name of the Service")
    assert f"PING web ({address})" in cluster.sh("client", "busybox ping -c 1 -W 1 web; true")  # by the search path
    assert rcode_of(ask("none.default.svc.cluster.local")) == 3
    assert count_of(ask("_http._tcp.web.default.svc.cluster.local", SRV)) == 1
    assert count_of(ask(".".join(reversed(address.split("."))) + ".in-addr.arpa", PTR)) == 1
    cluster.ask("DELETE", f"{SERVICES}/web")
    wait_for(lambda: rcode_of(ask("web.default.svc.cluster.local")) == 3, "the name is gone")


def test_a_headless_service_has_its_endpoints(cluster):
    service(cluster, "db", clusterIP="None")
    slice_of(cluster, "db", [{"addresses": ["10.77.0.51"], "hostname": "db-0", "conditions": {"ready": True}},
                             {"addresses": ["10.77.0.52"], "conditions": {"ready": True}},
                             {"addresses": ["10.77.0.53"], "conditions": {"ready": False}}])
    wait_for(lambda: lookup(cluster, "db.default.svc.cluster.local") == ["10.77.0.51", "10.77.0.52"], "the endpoints that are ready")
    assert lookup(cluster, "db-0.db.default.svc.cluster.local") == ["10.77.0.51"]
    assert lookup(cluster, "10-77-0-52.db.default.svc.cluster.local") == ["10.77.0.52"]


def test_other_names_come_from_the_server_that_is_given(cluster, upstream):
    assert lookup(cluster, "www.example.com") == ["198.51.100.7"]
    assert rcode_of(ask("none.example.com")) == 3
    n = upstream.asked.count("www.example.com")
    assert count_of(ask("WWW.example.com")) == 1
    assert upstream.asked.count("www.example.com") == n  # the cache has it
    service(cluster, "far", type="ExternalName", externalName="www.example.com")
    wait_for(lambda: lookup(cluster, "far.default.svc.cluster.local") == ["198.51.100.7"], "the name that an ExternalName leads to")
    assert not [name for name in upstream.asked if name.endswith("cluster.local")]


def test_forged_answers_do_not_count(cluster, upstream):
    upstream.forges = True
    try:
        assert lookup(cluster, "forged.example.com") == ["198.51.100.8"]
    finally:
        upstream.forges = False


def test_policies(cluster):
    host = [line.split()[1] for line in pathlib.Path("/etc/resolv.conf").read_text().splitlines() if line.startswith("nameserver")]
    cluster.run("machine", dnsPolicy="Default")
    cluster.run("host", hostNetwork=True)
    cluster.run("host-cluster", hostNetwork=True, dnsPolicy="ClusterFirstWithHostNet")
    for name, want in (("machine", host), ("host", host), ("host-cluster", [GATEWAY])):
        cluster.wait_ready(name)
        text = cluster.sh(name, "cat /etc/resolv.conf")
        assert [line.split()[1] for line in text.splitlines() if line.startswith("nameserver")] == want[:3], (name, text)
    assert lookup(cluster, "kubernetes.default.svc.cluster.local", pod="host-cluster")


def test_a_flood_leaves_the_api_and_names_of_the_cluster_answering(cluster, upstream):
    upstream.is_mute = True
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            for i in range(20000):
                s.sendto(question(f"n{i}.example.com"), (GATEWAY, 53))
                if i % 2000 == 0:
                    assert cluster.get("/api/v1/namespaces/default").status == 200
            s.sendto(b"\0" * 3, (GATEWAY, 53))
        wait_for(lambda: count_of(ask("kubernetes.default.svc.cluster.local")) == 1, "a name of the cluster")
        assert cluster.get("/api/v1/namespaces/default").status == 200
    finally:
        upstream.is_mute = False
    wait_for(lambda: count_of(ask("www.example.com")) == 1, "another name")


def test_the_next_process_goes_on(tmp_path, store):  # noqa: F811
    up = Cluster(tmp_path / "data", store, "--pod-cidr", "10.79.0.0/16")
    try:
        up.run("client")
        up.wait_ready("client")
        up.kill()
        up = up.again()
        up.wait_ready("client")
        wait_for(lambda: lookup(up, "kubernetes.default.svc.cluster.local"), "a name, in a pod of before")
    finally:
        up.clear()
        assert up.stop() == 0


def test_it_can_be_switched_off(tmp_path, store):  # noqa: F811
    up = Cluster(tmp_path / "data", store, "--pod-cidr", "10.78.0.0/16", "--cluster-dns", "none")
    try:
        up.run("off")
        up.wait_ready("off")
        host = [line for line in pathlib.Path("/etc/resolv.conf").read_text().splitlines() if line.startswith("nameserver")]
        assert [line for line in up.sh("off", "cat /etc/resolv.conf").splitlines() if line.startswith("nameserver")] == host[:3]
        assert "MissingClusterDNS" not in up.reasons("off")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.connect(("10.78.0.1", 53))
            s.settimeout(1)
            with pytest.raises(OSError):
                s.send(question("kubernetes.default.svc.cluster.local"))
                s.recv(512)
    finally:
        up.clear()
        assert up.stop() == 0
