# SPDX-License-Identifier: Apache-2.0
"""What tests of operators share: `dormouse up`, `dormouse operator run`, and the ring of the wasm-operator paper.

Operator i of a ring watches the namespace ring<i> and copies the nonce of its objects to ring<i+1>; a round sets
the nonce in ring0 and has ended when it arrives in the last namespace.
"""
import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess

import yaml

from conftest import BUILD, DEADLINE_S, ROOT, Server, wait_for

OPERATORS = "/apis/dormouse.dev/v1alpha1/namespaces/operators/operators"
RESOURCES = "/apis/amurant.io/v1/namespaces/{}/testresources"
ALL_RESOURCES = "/apis/amurant.io/v1/testresources"
PLACEHOLDER = b"@@COMPILE_NONCE@@@@@"


PATHS = {"Namespace": "/api/v1/namespaces",
         "CustomResourceDefinition": "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "ServiceAccount": "/api/v1/namespaces/{}/serviceaccounts",
         **{kind: f"/apis/rbac.authorization.k8s.io/v1/{kind.lower()}s" for kind in ("ClusterRole", "ClusterRoleBinding")},
         **{kind: f"/apis/rbac.authorization.k8s.io/v1/namespaces/{{}}/{kind.lower()}s" for kind in ("Role", "RoleBinding")}}


def create_all(server, documents):
    """Objects of the few kinds that operators need around them; one that is there already stays."""
    for o in documents:
        answer = server.ask("POST", PATHS[o["kind"]].format(o["metadata"].get("namespace", "")), o)
        assert answer.status in (201, 409), answer.body


def apply_yaml(server, name):
    create_all(server, yaml.safe_load_all((ROOT / name).read_text()))


def grant(server, name, rules, account=None, namespace=None):
    """To a service account of the namespace "operators", or to all of them: everywhere, or in one namespace."""
    group = {"apiGroup": "rbac.authorization.k8s.io"}
    subject = {"kind": "ServiceAccount", "name": account, "namespace": "operators"} if account else \
        {"kind": "Group", "name": "system:serviceaccounts:operators", **group}
    meta = {"name": name, **({"namespace": namespace} if namespace else {})}
    kind = "Role" if namespace else "ClusterRole"
    create_all(server, [
        {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": meta, "rules": rules},
        {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind + "Binding", "metadata": meta, "subjects": [subject],
         "roleRef": {"kind": kind, "name": name, **group}}])


def dormouse(*args, timeout=DEADLINE_S):
    return subprocess.run([BUILD / "dormouse", *args], capture_output=True, text=True, timeout=timeout)


def children(pid):
    """Processes of this name that were started by pid."""
    found = []
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        try:
            found += [int(p) for p in (task / "children").read_text().split()]
        except OSError:
            pass
    return found


def name_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


class Hosting:
    """The side of a server process that hosts guests; mixed into what has data_dir and process."""

    def admin(self, path):
        connection = http.client.HTTPConnection("localhost", timeout=DEADLINE_S)
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.settimeout(DEADLINE_S)
        connection.sock.connect(str(self.data_dir / "admin.sock"))
        connection.request("GET", path)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        assert answer.status == 200, body
        return body.decode()

    def status(self):
        return json.loads(self.admin("/status"))

    def guests(self):
        return {g["name"]: g for g in json.loads(self.admin("/guests"))}

    def runners(self):
        return [p for p in children(self.process.pid) if name_of(p) == "dormouse-runner"]

    def kill_runners(self):
        for pid in self.runners():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def all_asleep(self, n, timeout=60):
        def asleep():
            s = self.status()
            return s["guests"] == s["asleep"] == n
        wait_for(asleep, f"{n} guests asleep", timeout)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(DEADLINE_S)


class Up(Hosting, Server):
    """A running `dormouse up`. Modules may be named out of modules/ beside its data directory."""

    COMMAND = "up"

    def __init__(self, data_dir, *extra, **more):
        self.modules = modules_beside(data_dir)
        super().__init__(data_dir, extra=("--modules", str(self.modules), "--idle", "100ms", *extra), **more)

    def operator(self, name, file, env=None, **spec):
        body = {"apiVersion": "dormouse.dev/v1alpha1", "kind": "Operator", "metadata": {"name": name},
                "spec": {"module": {"file": file}, "env": [{"name": k, "value": v} for k, v in (env or {}).items()], **spec}}
        return self.create(OPERATORS, body)

    def patch(self, name, spec):
        answer = self.ask("PATCH", f"{OPERATORS}/{name}", {"spec": spec}, Content_Type="application/merge-patch+json")
        assert answer.status == 200, answer.body
        return answer.json()

    def ready(self, name):
        """The condition Ready, if it speaks of the newest generation."""
        operator = self.get(f"{OPERATORS}/{name}").json()
        for condition in operator.get("status", {}).get("conditions", []):
            if condition["type"] == "Ready" and condition["observedGeneration"] == operator["metadata"]["generation"]:
                return condition
        return None

    def becomes(self, name, status, reason):
        def there():
            c = self.ready(name)
            return c if c and (c["status"], c["reason"]) == (status, reason) else None
        return wait_for(there, f"{name} is {status} because of {reason}, not {self.ready(name)}", 60)

    def events(self, name):
        items = self.get("/api/v1/namespaces/operators/events").json()["items"]
        return [e for e in items if e["involvedObject"]["name"] == name]


class Run(Hosting):
    """A running `dormouse operator run`."""

    def __init__(self, data_dir, operators, kubeconfig, *extra):
        self.data_dir = pathlib.Path(data_dir)
        self.log = open(str(data_dir) + ".log", "ab")
        self.process = subprocess.Popen(
            [BUILD / "dormouse", "operator", "run", str(operators), "--kubeconfig", str(kubeconfig), "--data-dir", str(data_dir),
             "--idle", "100ms", *extra], stdout=subprocess.PIPE, stderr=self.log, text=True)
        line = self.process.stdout.readline()
        if not line.startswith("ready "):
            self.process.wait(DEADLINE_S)
            raise RuntimeError(f"no ready line; log: {self.text_of_log()}")

    def text_of_log(self):
        return pathlib.Path(str(self.data_dir) + ".log").read_text()

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(DEADLINE_S)
        self.process.stdout.close()
        self.log.close()
        return status


def modules_beside(data_dir):
    """A directory with the guests of the build."""
    path = pathlib.Path(data_dir).parent / "modules"
    if not path.exists():
        path.mkdir()
        for built in [*BUILD.glob("guests/*.wasm"), *BUILD.glob("test/guests/*.wasm")]:
            shutil.copy(built, path)
    return path


def distinct(module, to, nonce):
    """A copy of a ring guest whose bytes differ."""
    data = module.read_bytes()
    assert data.count(PLACEHOLDER) == 1
    to.write_bytes(data.replace(PLACEHOLDER, nonce.encode().ljust(len(PLACEHOLDER), b".")))


class Ring:
    """A ring on an API server; `hosting` runs its operators, and is the server itself for `dormouse up`."""

    def __init__(self, server, n):
        self.server, self.n, self.nonce, self.connection = server, n, 0, None
        names = {"plural": "testresources", "singular": "testresource", "kind": "TestResource"}
        spec = {"type": "object", "properties": {"nonce": {"type": "integer"}, "updated_at": {"type": "string"}}}
        create_all(server, [{
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "testresources.amurant.io"},
            "spec": {"group": "amurant.io", "scope": "Namespaced", "names": names, "versions": [
                {"name": "v1", "served": True, "storage": True,
                 "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}}]}}])
        create_all(server, [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": ns}}
                            for ns in ["operators", *(f"ring{i}" for i in range(n))]])
        apply_yaml(server, "guests/ring/rbac.yaml")
        wait_for(lambda: server.get(ALL_RESOURCES).status == 200, "the CRD is served")

    def env(self, i):
        return {"IN_NAMESPACE": f"ring{i}", "OUT_NAMESPACE": f"ring{(i + 1) % self.n}", "DM_LOG": "warn"}

    def apply(self, file):
        """All operators, of the module file with {} standing for the number."""
        for i in range(self.n):
            self.server.operator(f"ring-{i}", file.format(i), self.env(i))

    def nonce_at(self, i):
        answer = self.server.get(RESOURCES.format(f"ring{i}") + "/run0")
        return answer.json()["spec"]["nonce"] if answer.status == 200 else 0

    def begin(self):
        """Start a round: set the next nonce in ring0. Returns a watch that will see it travel."""
        self.nonce += 1
        version = self.server.get(ALL_RESOURCES + "?limit=1").json()["metadata"]["resourceVersion"]
        watch = self.server.watch(ALL_RESOURCES + "?watch=true&resourceVersion=" + version)
        path, spec = RESOURCES.format("ring0"), {"nonce": self.nonce}
        answer = self.server.ask("PATCH", path + "/run0", {"spec": spec}, Content_Type="application/merge-patch+json")
        if answer.status == 404:
            self.server.create(path, {"apiVersion": "amurant.io/v1", "kind": "TestResource", "metadata": {"name": "run0"}, "spec": spec})
        else:
            assert answer.status == 200, answer.body
        return watch

    def finish(self, watch, timeout=60):
        last = f"ring{self.n - 1}"
        try:
            while True:
                event = watch.next(timeout)
                assert event is not None and event["type"] != "ERROR", event
                if event["object"]["metadata"]["namespace"] == last and event["object"]["spec"]["nonce"] == self.nonce:
                    return
        except TimeoutError:
            where = [self.nonce_at(i) for i in range(self.n)]
            guests = self.server.admin("/guests")
            raise AssertionError(f"round {self.nonce} got stuck: {where}; guests: {guests}; log: {self.server.text_of_log()[-4000:]}") from None
        finally:
            watch.close()

    def round(self, timeout=60):
        self.finish(self.begin(), timeout)
