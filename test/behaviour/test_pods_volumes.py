# SPDX-License-Identifier: Apache-2.0
"""Volumes and environments of pods: what the programs in them see, and what changes while they run."""
import base64
import json
import os
import pathlib
import stat

from conftest import wait_for
from pods_kit import IMAGE, PODS, cluster, is_ready, needs_pods, state_of, status_of, store

pytestmark = needs_pods

SLEEP = ["sleep", "100000"]
CLAIMS = "/api/v1/namespaces/default/persistentvolumeclaims"


def mount(name, path, **more):
    return {"name": name, "mountPath": path, **more}


def test_an_environment_from_everything(cluster):
    cluster.put("ConfigMap", "env-c", data={"one": "1", "two": "2"})
    cluster.put("Secret", "env-s", stringData={"pass": "word"})
    field = lambda path: {"valueFrom": {"fieldRef": {"fieldPath": path}}}  # noqa: E731
    resource = lambda name, **more: {"valueFrom": {"resourceFieldRef": {"resource": name, **more}}}  # noqa: E731
    env = [{"name": "PLAIN", "value": "a$(LATER)b"}, {"name": "BOTH", "value": "$(PLAIN)-$(PASS)-$$(PLAIN)"}, {"name": "PATH", "value": "/bin:/other"},
           {"name": "PASS", "valueFrom": {"secretKeyRef": {"name": "env-s", "key": "pass"}}}, {"name": "AFTER", "value": "$(PASS)"},
           {"name": "ONE", "valueFrom": {"configMapKeyRef": {"name": "env-c", "key": "one"}}},
           {"name": "NONE", "valueFrom": {"configMapKeyRef": {"name": "no", "key": "no", "optional": True}}},
           {"name": "NAME", **field("metadata.name")}, {"name": "LABEL", **field("metadata.labels['app']")}, {"name": "IP", **field("status.podIP")},
           {"name": "NODE", **field("spec.nodeName")}, {"name": "HOST", **field("status.hostIP")}, {"name": "ACCOUNT", **field("spec.serviceAccountName")},
           {"name": "CPU", **resource("limits.cpu", divisor="1m")}, {"name": "MEMORY", **resource("requests.memory", divisor="1Mi")}]
    cluster.run("env", labels={"app": "x"}, containers=[{
        "name": "a", "command": ["sh", "-c", "env | sort; exec sleep 100000"], "env": env,
        "envFrom": [{"configMapRef": {"name": "env-c"}}, {"prefix": "S_", "secretRef": {"name": "env-s"}}, {"configMapRef": {"name": "no", "optional": True}}],
        "resources": {"limits": {"cpu": "300m", "memory": "64Mi"}}}])
    pod = cluster.wait("env", is_ready)
    wait_for(lambda: cluster.log_of(pod), "the log")
    seen = dict(line.split("=", 1) for line in cluster.log_of(pod) if "=" in line)
    want = {"PLAIN": "a$(LATER)b", "BOTH": "a$(LATER)b-$(PASS)-$(PLAIN)", "PATH": "/bin:/other", "PASS": "word", "AFTER": "word", "ONE": "1", "NAME": "env",
            "LABEL": "x", "IP": pod["status"]["podIP"], "NODE": pod["spec"]["nodeName"], "HOST": pod["status"]["hostIP"], "ACCOUNT": "default",
            "CPU": "300", "MEMORY": "64", "one": "1", "two": "2", "S_pass": "word", "HOSTNAME": "env", "KUBERNETES_SERVICE_PORT": "443", "HOME": "/root"}
    assert {k: seen.get(k) for k in want} == want and "NONE" not in seen and "KUBERNETES_SERVICE_HOST" in seen


def test_changes_of_objects_become_visible(cluster):
    cluster.put("ConfigMap", "live", data={"k": "old", "gone": "x"})
    cluster.put("Secret", "live", stringData={"s": "old"})
    downward = [{"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}}, {"path": "note", "fieldRef": {"fieldPath": "metadata.annotations['note']"}}]
    cluster.run("changes", labels={"a": "1"}, annotations={"note": "first"}, volumes=[
        {"name": "c", "configMap": {"name": "live"}}, {"name": "s", "secret": {"secretName": "live", "defaultMode": 0o400}},
        {"name": "d", "downwardAPI": {"items": downward}}, {"name": "one", "configMap": {"name": "live", "items": [{"key": "k", "path": "deep/er", "mode": 0o440}]}},
        {"name": "all", "projected": {"sources": [{"configMap": {"name": "live"}}, {"secret": {"name": "live"}}, {"downwardAPI": {"items": downward}}]}},
    ], containers=[{"name": "a", "command": SLEEP, "volumeMounts": [
        mount("c", "/c"), mount("s", "/s"), mount("d", "/d"), mount("one", "/one"), mount("all", "/all"), mount("c", "/k", subPath="k")]}])
    pod = cluster.wait("changes", is_ready)
    read = lambda *paths: cluster.sh("changes", "cat " + " ".join(paths)).strip()  # noqa: E731
    assert read("/c/k", "/s/s", "/d/labels", "/d/note", "/one/deep/er", "/all/k", "/all/s", "/k") == 'oldolda="1"firstoldoldoldold'
    assert cluster.sh("changes", "stat -L -c %a /s/s /one/deep/er /c/k").split() == ["400", "440", "644"]
    cluster.put("ConfigMap", "live", "PUT", data={"k": "new"})
    cluster.put("Secret", "live", "PUT", data={"s": base64.b64encode(b"new").decode()})
    cluster.patch(f"{PODS}/changes", {"metadata": {"labels": {"a": "2"}, "annotations": {"note": "second"}}})
    want = 'newnewa="2"secondnewnewnewold'  # what is mounted by a sub path stays as it was
    wait_for(lambda: read("/c/k", "/s/s", "/d/labels", "/d/note", "/one/deep/er", "/all/k", "/all/s", "/k") == want, "the new contents")
    assert "gone" not in cluster.sh("changes", "ls /c") and status_of(cluster.pod("changes"))["restartCount"] == 0
    assert cluster.sh("changes", "touch /c/x 2>&1 || true").count("Read-only") == 1
    assert [line for line in pathlib.Path("/proc/mounts").read_text().splitlines() if pod["metadata"]["uid"] in line and "tmpfs" in line]


def test_directories_of_a_pod(cluster):
    sized = {"name": "m", "emptyDir": {"medium": "Memory", "sizeLimit": "1Mi"}}
    cluster.run("dirs", volumes=[{"name": "e", "emptyDir": {}}, sized], containers=[
        {"name": "a", "command": SLEEP, "volumeMounts": [mount("e", "/e"), mount("m", "/m"), mount("e", "/sub", subPath="x/y"),
                                                         mount("e", "/named", subPathExpr="$(WHO)")], "env": [{"name": "WHO", "value": "me"}]},
        {"name": "b", "command": SLEEP, "volumeMounts": [mount("e", "/e", readOnly=True)]}])
    cluster.wait("dirs", is_ready)
    assert cluster.sh("dirs", "echo 1 > /e/f; touch /sub/s /named/n; ls -a /e/x/y; ls /e/me; stat -c %a /e").split() == [".", "..", "s", "n", "777"]
    assert cluster.sh("dirs", "cat /e/f; touch /e/g 2>&1", "b", check=False).splitlines()[0] == "1"
    assert "No space" in cluster.sh("dirs", "dd if=/dev/zero of=/m/f bs=65536 count=32 2>&1", check=False)


def test_paths_of_the_machine(cluster, tmp_path):
    (tmp_path / "dir").mkdir()
    (tmp_path / "dir/f").write_text("host")
    paths = {"any": ("dir", ""), "dir": ("dir", "Directory"), "file": ("dir/f", "File"), "newdir": ("made", "DirectoryOrCreate"), "newfile": ("made-file", "FileOrCreate"),
             "null": ("/dev/null", "CharDevice")}
    volumes = [{"name": name, "hostPath": {"path": str(tmp_path / path), "type": kind}} for name, (path, kind) in paths.items()]
    cluster.run("host", volumes=volumes, containers=[{"name": "a", "command": SLEEP, "volumeMounts": [mount(name, f"/h/{name}") for name in paths]}])
    cluster.wait("host", is_ready)
    assert cluster.sh("host", "cat /h/any/f /h/dir/f /h/file; echo x > /h/newdir/x; echo y > /h/newfile; echo z > /h/null") == "hosthosthost"
    assert (tmp_path / "made/x").read_text() == "x\n" and (tmp_path / "made-file").read_text() == "y\n"
    assert stat.S_IMODE(os.stat(tmp_path / "made").st_mode) == 0o755
    cluster.run("host-no", volumes=[{"name": "v", "hostPath": {"path": str(tmp_path / "no"), "type": "Directory"}}],
                containers=[{"name": "a", "command": SLEEP, "volumeMounts": [mount("v", "/v")]}])
    cluster.wait_reason("host-no", "FailedMount")
    cluster.wait("host-no", lambda p: state_of(p)[1].get("reason") == "ContainerCreating")
    (tmp_path / "no").mkdir()
    cluster.delete("host-no")
    cluster.wait_gone("host-no")
    cluster.delete("host")
    cluster.wait_gone("host")
    assert (tmp_path / "made/x").exists()  # the machine's own files stay


def bind(cluster, claim, volume, path):
    """A claim, and the local volume that it is bound to."""
    node = cluster.get("/api/v1/nodes").json()["items"][0]["metadata"]["name"]
    cluster.create("/api/v1/persistentvolumes", {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": volume}, "spec": {
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "manual", "local": {"path": str(path)},
        "claimRef": {"namespace": "default", "name": claim},
        "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}]}]}}}})
    cluster.create(CLAIMS, {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {
        "name": claim, "annotations": {"pv.kubernetes.io/bind-completed": "yes"}}, "spec": {
        "accessModes": ["ReadWriteOnce"], "storageClassName": "manual", "volumeName": volume, "resources": {"requests": {"storage": "1Gi"}}}})
    for path in (f"/api/v1/persistentvolumes/{volume}", f"{CLAIMS}/{claim}"):
        cluster.patch(path + "/status", {"status": {"phase": "Bound"}})


def test_a_claim_that_was_made_again_is_another_one(cluster, tmp_path):
    pods = {}
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "f").write_text(name + "\n")
        bind(cluster, "again", "pv-" + name, tmp_path / name)
        cluster.run("claim-" + name, volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "again"}}],
                    containers=[{"name": "a", "command": ["sh", "-c", "cat /v/f; exec sleep 100000"], "volumeMounts": [mount("v", "/v")]}])
        pods[name] = cluster.wait("claim-" + name, is_ready)
        assert cluster.ask("DELETE", f"{CLAIMS}/again").status in (200, 202)  # while the pod uses it: by force
        cluster.ask("PATCH", f"{CLAIMS}/again", {"metadata": {"finalizers": None}}, Content_Type="application/merge-patch+json")
        wait_for(lambda: cluster.get(f"{CLAIMS}/again").status == 404, "the claim is gone")
    for name, pod in pods.items():
        wait_for(lambda: cluster.log_of(pod) == [name], "the log")  # noqa: B023
        cluster.delete("claim-" + name)
        cluster.wait_gone("claim-" + name)


def test_a_claim_of_a_volume_of_the_machine(cluster, tmp_path):
    (tmp_path / "f").write_text("kept\n")
    bind(cluster, "claim", "pv", tmp_path)
    cluster.run("claim", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "claim"}}],
                containers=[{"name": "a", "command": ["sh", "-c", "cat /v/f; exec sleep 100000"], "volumeMounts": [mount("v", "/v")]}])
    pod = cluster.wait("claim", is_ready)
    wait_for(lambda: cluster.log_of(pod) == ["kept"], "the log")


def test_an_image_as_a_volume(cluster):
    cluster.run("image-volume", volumes=[{"name": "i", "image": {"reference": IMAGE, "pullPolicy": "IfNotPresent"}}],
                containers=[{"name": "a", "command": SLEEP, "volumeMounts": [mount("i", "/i")]}])
    cluster.wait("image-volume", is_ready)
    assert "busybox" in cluster.sh("image-volume", "ls /i/bin") and "Read-only" in cluster.sh("image-volume", "touch /i/x 2>&1", check=False)


TOKEN = "/var/run/secrets/kubernetes.io/serviceaccount"


def test_the_token_of_a_pod_is_good_at_the_server(cluster):
    cluster.run("token")
    pod = cluster.wait("token", is_ready)
    files = cluster.root_of(pod) / TOKEN.lstrip("/")
    token = (files / "token").read_text()
    assert (files / "namespace").read_text() == "default" and (files / "ca.crt").read_text() == (cluster.data_dir / "pki/ca.crt").read_text()
    answer = cluster.ask("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"},
                         Authorization="Bearer " + token)
    assert json.loads(answer.body)["status"]["userInfo"]["username"] == "system:serviceaccount:default:default"
    extra = json.loads(answer.body)["status"]["userInfo"]["extra"]
    assert extra["authentication.kubernetes.io/pod-uid"] == [pod["metadata"]["uid"]]
    cluster.delete("token")
    cluster.wait_gone("token")
    assert cluster.get("/api/v1/namespaces", Authorization="Bearer " + token).status == 401
