# SPDX-License-Identifier: Apache-2.0
"""The same life for an object of every kind: defaults, representations, patches, updates, deletion."""
import json
import time

from kinds import KINDS, SCALED, WITH_STATUS, api_version, area_of, crd
from scenario import scenario
from session import APPLY, JSON_PATCH, PARTIAL, PARTIAL_LIST, PROTOBUF, STRATEGIC, TABLE

CSR = ("LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIU01Ia0NBUUF3RnpFVk1CTUdBMVVFQXd3TVpYaGhiWEJzWlMxMWMyVnlNRmt3"
       "RXdZSEtvWkl6ajBDQVFZSQpLb1pJemowREFRY0RRZ0FFS0QvVGUzRTBRalFpclBha3ZDdjNnUGh6MGRMQ09ueUpqYXkrQzA0cFRiQzlrcDVCCndt"
       "OExBdDR2ejk1bXdQTStsMTd5QTB4bHJvcjhjNHpya1BwdjZhQUFNQW9HQ0NxR1NNNDlCQU1DQTBrQU1FWUMKSVFDWnBKMmxBZGFSWnNaeGEzby8w"
       "ajhlQThHZGh3T3FnZlpENmNnM2hYTUpDUUloQU5JQUZnVDk5WUlnSWQ5QwpZenI1VC9OVnV4Q3hrWVBadWRabkQrRWRId0Q2Ci0tLS0tRU5EIENF"
       "UlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=")


EMPTIED_FIRST = {"namespaces", "customresourcedefinitions"}


def special(plural, name):
    if plural == "customresourcedefinitions":
        return crd(f"{name}.example.com"), {"metadata": {"annotations": {"a": "b"}}}
    if plural == "apiservices":
        return ({"metadata": {"name": f"v1.{name}.example.com"},
                 "spec": {"group": f"{name}.example.com", "version": "v1", "groupPriorityMinimum": 100, "versionPriority": 10,
                          "insecureSkipTLSVerify": True, "service": {"name": "s", "namespace": "n"}}},
                {"spec": {"versionPriority": 11}})
    return ({"metadata": {"name": name}, "spec": {"request": CSR, "signerName": "example.com/s", "usages": ["client auth"]}},
            {"metadata": {"annotations": {"a": "b"}}})


def wait_established(s, at):
    for _ in range(100):
        conditions = s.quietly("GET", at).get("status", "conditions") or []
        if any(c["type"] == "Established" and c["status"] == "True" for c in conditions):
            return
        time.sleep(0.1)


def wait_checked(s, at):
    """The status of a policy is written a moment later here, and by another process upstream."""
    for _ in range(20):
        if (s.quietly("GET", at).obj or {}).get("status"):
            return
        time.sleep(0.05)


def life(base, plural, kind, namespaced, fields, change):
    name = "d-" + plural + "-" + base.split("/")[-1]
    path = f"{base}/namespaces/{{ns}}/{plural}" if namespaced else f"{base}/{plural}"
    strategic = base != "/apis/none"

    def run(s):
        s.namespace()
        if fields is None:
            obj, patch = special(plural, name)
        else:
            obj, patch = {"metadata": {"name": name}, **fields}, change
        obj.setdefault("apiVersion", api_version(base))
        obj.setdefault("kind", kind)
        obj["metadata"]["labels"] = {"life": name}
        at = f"{path}/{obj['metadata']['name']}"
        mine = f"?labelSelector=life%3D{name}"

        s.post(path + "?dryRun=All", obj, label="create dry")
        s.post(path, obj, label="create")
        if plural == "customresourcedefinitions":
            wait_established(s, at)
        if plural == "validatingadmissionpolicies":
            wait_checked(s, at)
        s.post(path, obj, label="create again")
        got = s.get(at, label="get")
        s.get(path + mine, label="list")
        s.get(at, accept=TABLE, label="get as table")
        s.get(path + mine, accept=TABLE, label="list as table")
        s.get(at, accept=PARTIAL, label="get metadata")
        s.get(path + mine, accept=PARTIAL_LIST, label="list metadata")
        s.get(at, accept=PROTOBUF, label="get protobuf")
        s.get(path + mine, accept=PROTOBUF, label="list protobuf")
        if namespaced:
            s.get(f"{base}/{plural}{mine}", label="list in all namespaces")
        s.put(at, got.raw, label="put back unchanged")
        s.patch(at, patch, label="merge patch")
        s.patch(at, patch, ct=STRATEGIC, label="strategic patch, no change")
        s.patch(at, {"metadata": {"labels": {"more": "x"}}}, ct=STRATEGIC, label="strategic patch of labels")
        s.patch(at, [{"op": "add", "path": "/metadata/annotations", "value": {"x": "y"}}], ct=JSON_PATCH, label="json patch")
        s.patch(at, [{"op": "test", "path": "/metadata/name", "value": "other"}], ct=JSON_PATCH, label="json patch whose test fails")
        s.patch(at, {"metadata": {"name": "other"}}, label="patch of the name")
        s.patch(at, {"metadata": {"resourceVersion": "1"}}, label="patch with an old version")
        s.put(at, got.raw, label="put of a stale object")
        s.patch(at + "?fieldManager=applier", json.dumps(
            {"apiVersion": obj["apiVersion"], "kind": kind, "metadata": {"name": obj["metadata"]["name"], "labels": {"applied": "yes"}}}),
            ct=APPLY, label="apply a label")
        if plural in WITH_STATUS:
            s.get(at + "/status", label="get status")
            s.patch(at + "/status", {"metadata": {"labels": {"of": "status"}}, "status": {}}, label="patch status")
        else:
            s.get(at + "/status", label="no status")
        if plural in SCALED:
            s.get(at + "/scale", label="get scale")
            s.patch(at + "/scale", {"spec": {"replicas": 7}}, label="patch scale")
            s.put(at + "/scale", {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": obj["metadata"]["name"]},
                                  "spec": {"replicas": 2}}, label="put scale")
            s.patch(at + "/scale", {"spec": {"replicas": -1}}, label="scale below zero")
        else:
            s.get(at + "/scale", label="no scale")
        s.get(at + "/nothing", label="no such subresource")
        s.post(path, {"apiVersion": obj["apiVersion"], "kind": kind, "metadata": {"name": "empty"}}, label="nothing but a name")
        s.post(path, {"apiVersion": obj["apiVersion"], "kind": kind}, label="nothing at all")
        s.post(path, {**obj, "metadata": {"name": "Bad_Name!"}}, label="bad name")
        s.post(path, {**obj, "metadata": {"name": name + "2", "labels": {"bad key!": "x"}}}, label="bad label")
        s.post(path, {**obj, "metadata": {"name": name + "2", "labels": {"k": "bad value!"}}}, label="bad value of a label")
        s.post(path, {**obj, "kind": "Wrong"}, label="wrong kind")
        s.post(path, {**obj, "apiVersion": "wrong/v9"}, label="wrong version")
        s.post(path + "?fieldValidation=Strict", {**obj, "metadata": {"name": name + "3"}, "extra": 1}, label="unknown field, strict")
        s.post(path + "?fieldValidation=Warn&dryRun=All", {**obj, "metadata": {"name": name + "3"}, "extra": 1}, label="unknown field, warn")
        if namespaced:
            s.post(path, {**obj, "metadata": {"name": name, "namespace": "elsewhere"}}, label="another namespace")
        s.delete(at + "?dryRun=All", label="delete dry")
        s.delete(at, {"preconditions": {"uid": "00000000-0000-0000-0000-000000000000"}}, label="delete of another uid")
        s.delete(at + "?gracePeriodSeconds=0&propagationPolicy=Background", label="delete")
        if plural in EMPTIED_FIRST:
            return  # a controller says when it is gone
        s.get(at, label="get after the deletion")
        s.delete(at, label="delete again")
        s.post(path, obj, label="create anew")
        s.delete(path + mine, {"gracePeriodSeconds": 0, "propagationPolicy": "Background"}, label="delete collection")
        s.get(path + mine, label="list after the deletion")

    scenario(f"{area_of(base)}/kind {api_version(base)} {plural}")(run)


for row in KINDS:
    life(*row)
