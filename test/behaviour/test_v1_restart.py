# SPDX-License-Identifier: Apache-2.0
"""Guests of ABI v1 when what runs them ends: the host by a signal of either kind, or their runner."""
import pytest

from conftest import wait_for
from guest_kit import make_namespaces
from test_operator_v1 import V1, declaration, grant, watch


@pytest.fixture
def host(tmp_path):
    hosts = [start(tmp_path)]
    grant(hosts[0], "script-guests", [""], ["configmaps"])
    make_namespaces(hosts[0], "space")
    yield hosts
    assert hosts[-1].stop() == 0


def start(path):
    return V1(path, "--idle", "100ms")


def counts(host):
    """What the guest remembers: activations since it started, also before a sleep."""
    return [int(text.split()[-1]) for text in host.output("counter", "count")]


def add_counter(host):
    host.put("space", "a", "count")
    host.scripted("counter", declaration(watch("p", "space", name="a")))
    wait_for(lambda: counts(host) == [1], "the first activation")
    host.put("space", "a", "count", more="1")
    wait_for(lambda: counts(host) == [1, 2], "the second one")
    wait_for(lambda: host.is_asleep("counter"), "it sleeps")


@pytest.mark.parametrize("how", ["kill", "stop"])
def test_a_sleeping_guest_goes_on_after_its_host_has_ended(host, tmp_path, how):
    """It keeps its memory, is called again for what is there, and works on."""
    add_counter(host[0])
    if how == "kill":
        host[0].kill()
    else:
        assert host[0].stop() == 0
    host.append(start(tmp_path))
    wait_for(lambda: counts(host[1]) == [1, 2, 3], "the first list of the new host, in the old memory")
    host[1].put("space", "a", "count", more="2")
    wait_for(lambda: counts(host[1]) == [1, 2, 3, 4], "a change")
    assert host[1].guest("counter")["restarts"] == 0


def test_an_operator_that_changed_meanwhile_starts_anew(host, tmp_path):
    add_counter(host[0])
    assert host[0].stop() == 0
    host.append(start(tmp_path))
    wait_for(lambda: len(counts(host[1])) == 3, "it goes on")
    answer = host[1].ask("PATCH", "/apis/dormouse.dev/v1alpha1/namespaces/operators/operators/counter",
                         {"spec": {"args": ["another"]}}, Content_Type="application/merge-patch+json")
    assert answer.status == 200, answer.body
    wait_for(lambda: counts(host[1])[3:] == [1], "the new generation, in new memory")


def test_a_key_is_not_lost_with_the_runner_in_which_its_guest_waited(host):
    """The guest is killed while it makes calls; its key comes again, and others too."""
    h = host[0]
    h.put("space", "a", "say begins\nrepeat 2000 api GET /api/v1/namespaces/space/configmaps/a -\nsay ends")
    h.scripted("caller", declaration(watch("p", "space", name="a"), backoff={"baseMs": 5, "maxMs": 50}))
    for i in range(3):
        wait_for(lambda i=i: len(h.acts("caller")) > i, "it begins")
        h.kill_runners()
    wait_for(lambda: "ends" in h.output("caller", "say"), "in the end it is done")
    assert h.keys("caller")[0] == "space/a"
