# SPDX-License-Identifier: Apache-2.0
"""Our queue and kube-scheduler's, by the same random history: after each step every pod is in the same place.
The seed is printed; DORMOUSE_SEED replays it, DORMOUSE_SLOW_TESTS=1 runs more."""
import os
import random
import subprocess

import pytest

from conftest import BUILD, ROOT

UPSTREAM = ROOT / "test/upstream"
SLOW = bool(os.environ.get("DORMOUSE_SLOW_TESTS"))
SEED = int(os.environ.get("DORMOUSE_SEED", "0")) or random.randrange(1, 1 << 32)
EVENTS = ["Node Add", "Node Delete", "Node UpdateNodeLabel", "Node UpdateNodeTaint", "Node UpdateNodeAllocatable",
          "AssignedPod Add", "AssignedPod Delete", "AssignedPod UpdatePodLabel", "AssignedPod UpdatePodScaleDown",
          "AssignedPod Update", "PersistentVolumeClaim Add", "PersistentVolumeClaim Update",
          "PersistentVolumeClaim Delete", "storage.k8s.io/CSINode Add", "* All"]


@pytest.fixture(scope="module")
def upstream_queue(tmp_path_factory):
    """Its program, built where kube-scheduler was (tools/build-upstream); $SCHEDQUEUE names another."""
    if os.environ.get("SCHEDQUEUE"):
        return os.environ["SCHEDQUEUE"]
    if subprocess.run([ROOT / "tools/build-upstream", "--cached"], capture_output=True).returncode != 0:
        pytest.skip("kube-scheduler's queue is not built here: run tools/build-upstream")
    path = tmp_path_factory.mktemp("upstream") / "schedqueue"
    subprocess.run(["go", "build", "-p", "1", "-trimpath", "-o", path, "./schedqueue"], cwd=UPSTREAM, check=True,
                   env=dict(os.environ, CGO_ENABLED="0"))
    return path


class History:
    """Random steps. Names are not used again, and no two pods come at the same time: there the order is nobody's."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.now, self.made, self.pods, self.steps = 0, 0, [], []

    def at(self, ms):
        self.now += ms
        self.steps.append(f"at {self.now}")

    def refusals(self):
        r = self.random
        if r.random() < 0.2:
            return []
        names = [n for n in ("Fit", "Label", "Volume", "Any", "Mute") if r.random() < 0.35] or ["Fit"]
        return [("~" if r.random() < 0.25 else "") + n for n in names]

    def put(self, name):
        self.at(1)
        words = [str(self.random.randrange(3))]
        if self.random.random() < 0.2:
            words.append("gate=x")
        if self.random.random() < 0.1:
            words.append(f"node=n{self.random.randrange(3)}")
        self.steps.append(" ".join(["put", name, *words]))

    def step(self):
        r, pods = self.random, self.pods
        what = r.randrange(13)
        name = r.choice(pods) if pods else None
        if what <= 1 and len(pods) < 30:
            name = f"p{self.made}"
            self.made += 1
            pods.append(name)
            self.put(name)
        elif what == 2 and name:
            self.put(name)
        elif what == 3 and name and r.random() < 0.3:
            pods.remove(name)
            self.steps.append(f"del {name}")
        elif what <= 5:
            self.steps.append("pop -")
        elif what <= 7 and name:
            self.at(1)
            for _ in range(3):
                self.steps.append(" ".join(["back", r.choice(pods), *self.refusals()]))
                self.at(1)
        elif what == 8:
            self.steps.append("event " + r.choice(EVENTS))
        elif what == 9:
            self.steps.append(f"hint {r.choice(['Gate', 'Fit', 'Volume', 'Any'])} {r.choice(['skip', 'queue'])}")
            self.steps.append(f"gate {r.choice(['open', 'closed', 'closed'])}")
        elif what == 10 and name:
            self.steps.append(f"activate {name}")
        elif what == 11 and name:
            self.steps.append(f"nominate {name}" + (f" n{r.randrange(3)}" if r.random() < 0.7 else ""))
        elif what == 12:
            # second by second, as both are called
            for _ in range(r.choice([1, 1, 2, 5, 40 if r.random() < 0.1 else 1])):
                self.at(1000 - self.now % 1000)
                self.steps.append("tick")


def states(program, steps):
    done = subprocess.run(program, input="\n".join(steps) + "\n", capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.splitlines()


def test_every_pod_is_where_upstreams_queue_has_it(upstream_queue):
    print(f"DORMOUSE_SEED={SEED}")
    for i in range(200 if SLOW else 20):
        history = History(SEED + i)
        while len(history.steps) < 1500:
            history.step()
        ours = states([str(BUILD / "test/test_sched_queue"), "--steps"], history.steps)
        theirs = states([str(upstream_queue)], history.steps)
        assert len(ours) == len(theirs) == len(history.steps)
        for at, (a, b) in enumerate(zip(ours, theirs)):
            if a == b:
                continue
            (begin, end) = (max(0, at - 12), at + 1)
            story = "\n".join(f"{s}\n    {t}" for s, t in zip(history.steps[begin:end], theirs[begin:end]))
            raise AssertionError(f"seed {SEED + i}, step {at}:\n{story}\nours: {a}\ntheirs: {b}\n"
                                 f"differ: {sorted(set(a.split()) ^ set(b.split()))}")
