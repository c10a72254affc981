# SPDX-License-Identifier: Apache-2.0
"""Addresses of Services: what pods and machines reach by them. Each machine is a network namespace."""
import contextlib
import http.client
import shutil
import ssl

import pytest

from conftest import wait_for
from pods_kit import is_ready, needs_pods, store  # noqa: F401 - a fixture
from test_pods_network import Machines, Network, patch
from place_kit import inside

pytestmark = [needs_pods, pytest.mark.skipif(not shutil.which("ip"), reason="needs ip (package iproute2)")]
SERVICES = "/api/v1/namespaces/default/services"
SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"
TRIES, WAIT_S = 64, 10
REFUSED = "refused"


def ask(address, port, is_tls=False):
    """The body of an answer, or why there is none."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    connection = http.client.HTTPSConnection(address, port, timeout=WAIT_S, context=context) if is_tls else http.client.HTTPConnection(address, port, timeout=WAIT_S)
    with contextlib.closing(connection):
        try:
            connection.request("GET", "/healthz" if is_tls else "/")
            return connection.getresponse().read().decode().strip()
        except ConnectionRefusedError:
            return REFUSED


def serve(m, name, node):
    """A pod that answers with its name."""
    command = ["sh", "-c", f"mkdir -p /tmp/w; echo {name} > /tmp/w/index.html; exec httpd -f -p 8080 -h /tmp/w"]
    m.up.run(name, command=command, nodeName=node,
             containers=[{"name": "a", "image": "busybox:test", "command": command, "readinessProbe": {"httpGet": {"port": 8080}, "periodSeconds": 1}}])
    return m.up.wait(name, is_ready)


def slice_of(name, pods):
    endpoints = [{"addresses": [p["status"]["podIP"]], "nodeName": p["spec"]["nodeName"], "conditions": {"ready": True}} for p in pods]
    return {"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "metadata": {"name": name, "labels": {"kubernetes.io/service-name": name}},
            "addressType": "IPv4", "ports": [{"name": "", "port": 8080, "protocol": "TCP"}], "endpoints": endpoints}


def seen_from(netns, address, port):
    """Who answers, when asked often enough that one of two even endpoints is left out once in 2^63 runs."""
    with inside(netns):
        return {ask(address, port) for _ in range(TRIES)}


def test_services_of_two_machines(tmp_path, store):  # noqa: F811
    with contextlib.ExitStack() as stack:
        m = Machines(stack, tmp_path, store, Network(stack), "--pod-cidr", "10.99.0.0/16")
        machines = [f"/run/netns/{name}" for name in m.network.machines]
        with m.network.inside(0):
            pods = [serve(m, "w0", "n0"), serve(m, "w1", "n1")]
            service = m.up.create(SERVICES, {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"},
                                             "spec": {"type": "NodePort", "ports": [{"port": 80, "targetPort": 8080}]}})
            m.up.create(SLICES, slice_of("web", pods))
        address, node_port = service["spec"]["clusterIP"], service["spec"]["ports"][0]["nodePort"]
        both = {"w0", "w1"}
        for n in (0, 1):
            wait_for(lambda: seen_from(m.network_of(n), address, 80) == both, f"p{n} reaches both")
            # Through either machine, from outside of the cluster's pods as well.
            assert seen_from(machines[1 - n], m.network.address(n), node_port) == both
            assert seen_from(m.network_of(n), m.network.address(n), node_port) == both
            with inside(m.network_of(n)):
                assert ask(address, 81) == REFUSED
                assert ask("10.96.0.1", 443, is_tls=True) == "ok"  # the API
        # A pod reaches itself.
        assert "w0" in seen_from(f"/proc/{m.up.pid_of(pods[0])}/ns/net", address, 80)
        with m.network.inside(0):
            patch(m.up, f"{SLICES}/web", {"endpoints": slice_of("web", pods[1:])["endpoints"]})
        for n in (0, 1):
            wait_for(lambda: seen_from(m.network_of(n), address, 80) == {"w1"}, "one endpoint is gone")
        with m.network.inside(0):
            patch(m.up, f"{SLICES}/web", {"endpoints": []})
        for n in (0, 1):
            wait_for(lambda: seen_from(m.network_of(n), address, 80) == {REFUSED}, "there are no endpoints")
            wait_for(lambda: seen_from(machines[1 - n], m.network.address(n), node_port) == {REFUSED}, "nor at the node port")


def test_rules_outlive_the_process(tmp_path, store):  # noqa: F811
    """Connections go on being translated while it restarts, and afterwards what changed meanwhile counts."""
    with contextlib.ExitStack() as stack:
        m = Machines(stack, tmp_path, store, Network(stack), "--pod-cidr", "10.99.0.0/16")
        with m.network.inside(0):
            pods = [serve(m, "w0", "n0"), serve(m, "w1", "n1")]
            address = m.up.create(SERVICES, {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"},
                                             "spec": {"ports": [{"port": 80, "targetPort": 8080}]}})["spec"]["clusterIP"]
            m.up.create(SLICES, slice_of("web", pods[:1]))
        wait_for(lambda: seen_from(m.network_of(0), address, 80) == {"w0"}, "p0 reaches w0")
        with m.network.inside(0):
            m.up.kill()
            with inside(m.network_of(0)):
                assert ask(address, 80) == "w0"
            m.up.more = (*m.up.more, "--listen", m.up.listen)  # where the other machine looks for it
            m.up = m.up.again()
            assert m.up.ask("DELETE", f"{SLICES}/web").status == 200
            m.up.create(SLICES, slice_of("web", pods[1:]))
        wait_for(lambda: seen_from(m.network_of(0), address, 80) == {"w1"}, "p0 reaches w1")


def test_a_deployment_that_is_exposed(tmp_path, store):  # noqa: F811
    """What kubectl create deployment, expose and scale make, from pods to an address that answers."""
    def endpoints():
        slices = m.up.get(f"{SLICES}?labelSelector=kubernetes.io/service-name%3Dweb").json()["items"]
        return sorted((e["addresses"][0], e["conditions"]["ready"]) for s in slices for e in s["endpoints"])

    def pods():
        items = m.up.get("/api/v1/namespaces/default/pods?labelSelector=app%3Dweb").json()["items"]
        return sorted((p["status"].get("podIP"), is_ready(p)) for p in items)

    def remove():
        with m.network.inside(0):
            m.up.ask("DELETE", "/apis/apps/v1/namespaces/default/deployments/web", {"propagationPolicy": "Foreground"})
            wait_for(lambda: not pods(), "its pods are gone")
    with contextlib.ExitStack() as stack:
        m = Machines(stack, tmp_path, store, Network(stack), "--pod-cidr", "10.99.0.0/16")
        command = ["sh", "-c", "mkdir -p /tmp/w; hostname > /tmp/w/index.html; exec httpd -f -p 8080 -h /tmp/w"]
        container = {"name": "a", "image": "busybox:test", "imagePullPolicy": "IfNotPresent", "command": command, "ports": [{"name": "web", "containerPort": 8080}],
                     "readinessProbe": {"httpGet": {"port": "web"}, "periodSeconds": 1}}
        with m.network.inside(0):
            stack.callback(remove)
            m.up.create("/apis/apps/v1/namespaces/default/deployments", {
                "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
                "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "web"}},
                         "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"terminationGracePeriodSeconds": 0, "containers": [container]}}}})
            m.up.kubectl("expose", "deployment", "web", "--port", "80", "--target-port", "web")
            wait_for(lambda: len(pods()) == 3 and all(ready for _, ready in pods()) and endpoints() == pods(), "three endpoints")
            names = {p["metadata"]["name"] for p in m.up.get("/api/v1/namespaces/default/pods?labelSelector=app%3Dweb").json()["items"]}
            address = m.up.get(f"{SERVICES}/web").json()["spec"]["clusterIP"]
        wait_for(lambda: seen_from(m.network_of(1), address, 80) == names, "all pods answer")
        with m.network.inside(0):
            m.up.kubectl("scale", "deployment", "web", "--replicas", "1")
            wait_for(lambda: len(pods()) == 1 and endpoints() == pods(), "one endpoint")
            (name,) = (p["metadata"]["name"] for p in m.up.get("/api/v1/namespaces/default/pods?labelSelector=app%3Dweb").json()["items"])
        wait_for(lambda: seen_from(m.network_of(1), address, 80) == {name}, "one pod answers")
        with m.network.inside(0):
            m.up.kubectl("scale", "deployment", "web", "--replicas", "0")
            wait_for(lambda: not endpoints(), "no endpoint")
        wait_for(lambda: seen_from(m.network_of(1), address, 80) == {REFUSED}, "nobody answers")
