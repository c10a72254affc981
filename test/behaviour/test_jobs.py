# SPDX-License-Identifier: Apache-2.0
"""Jobs of `dormouse up`; a test decides when a pod of a simulated node ends."""
import pytest

from conftest import wait_for
from workloads_kit import CORE, Workloads, template, workloads  # noqa: F401

JOBS = "/apis/batch/v1/namespaces/default/jobs"
FINALIZER = "batch.kubernetes.io/job-tracking"


def make(server, name, metadata=None, restart="Never", **spec):
    pod = template(name)
    pod["spec"]["restartPolicy"] = restart
    return server.create(JOBS, {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, **(metadata or {})}, "spec": {"template": pod, **spec}})


def job(server, name):
    return server.get(f"{JOBS}/{name}").json()


def pods(server, name, phase=None):
    return [p for p in server.pods(name) if phase in (None, p["status"].get("phase"))]


def running(server, name, n):
    return wait_for(lambda: len(found := pods(server, name, "Running")) == n and found, f"{n} pods of {name} run")


def end(server, pod, code=0):
    """Its only container ends."""
    at = "2026-01-01T00:00:00Z"
    status = {"phase": "Failed" if code else "Succeeded", "conditions": [{"type": "Ready", "status": "False"}], "containerStatuses": [
        {"name": "a", "image": "one", "imageID": "", "ready": False, "restartCount": 0,
         "state": {"terminated": {"exitCode": code, "finishedAt": at, "startedAt": at}}}]}
    answer = server.ask("PATCH", f"{CORE}/pods/{pod['metadata']['name']}/status", {"status": status}, Content_Type="application/strategic-merge-patch+json")
    assert answer.status == 200, answer.body


def wait_job(server, name, **wanted):
    return wait_for(lambda: all((v := job(server, name))["status"].get(k, 0) == n for k, n in wanted.items()) and v, f"{name} has {wanted}")


def condition(server, name, kind):
    return next((c for c in job(server, name)["status"].get("conditions", []) if c["type"] == kind and c["status"] == "True"), None)


def wait_condition(server, name, kind):
    return wait_for(lambda: condition(server, name, kind), f"{name} is {kind}")


def test_a_job_completes(workloads):
    make(workloads, "three", completions=3, parallelism=2)
    for left in (2, 2, 1):
        v = wait_job(workloads, "three", active=left)
        assert v["status"]["startTime"]
        end(workloads, running(workloads, "three", left)[0])
    found = wait_condition(workloads, "three", "Complete")
    assert (found["reason"], found["message"]) == ("CompletionsReached", "Reached expected number of succeeded pods")
    v = job(workloads, "three")
    assert v["status"]["succeeded"] == 3 and v["status"]["completionTime"] and "active" not in v["status"]
    assert not v["status"]["uncountedTerminatedPods"]
    ended = workloads.pods("three")
    assert len(ended) == 3 and not any(FINALIZER in p["metadata"].get("finalizers", []) for p in ended)
    wait_for(lambda: workloads.events("three", "Completed"), "an Event")
    assert workloads.kubectl("wait", "--for=condition=complete", "job/three", "--timeout", "60s").returncode == 0
    workloads.kubectl("delete", "job", "three")
    wait_for(lambda: not workloads.items(f"{CORE}/pods?labelSelector=app%3Dthree"), "its pods go")


def test_a_job_fails_beyond_its_limit(workloads):
    make(workloads, "fails", backoffLimit=1)
    for _ in range(2):
        end(workloads, running(workloads, "fails", 1)[0], code=3)
    found = wait_condition(workloads, "fails", "Failed")
    assert (found["reason"], found["message"]) == ("BackoffLimitExceeded", "Job has reached the specified backoff limit")
    assert job(workloads, "fails")["status"]["failed"] == 2 and condition(workloads, "fails", "FailureTarget")
    wait_for(lambda: workloads.events("fails", "BackoffLimitExceeded"), "an Event")


def test_a_job_is_ended_by_its_deadline(workloads):
    make(workloads, "late", activeDeadlineSeconds=1)
    assert wait_condition(workloads, "late", "Failed")["reason"] == "DeadlineExceeded"
    v = wait_job(workloads, "late", active=0, terminating=0)
    assert v["status"]["failed"] == 1
    assert not pods(workloads, "late", "Running")


def test_an_indexed_job_has_a_pod_for_each_index(workloads):
    make(workloads, "numbers", completions=3, parallelism=3, completionMode="Indexed")
    found = running(workloads, "numbers", 3)
    index = {p["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"]: p for p in found}
    assert set(index) == {"0", "1", "2"}
    assert {p["spec"]["hostname"] for p in found} == {"numbers-0", "numbers-1", "numbers-2"}
    assert all(p["spec"]["containers"][0]["env"][0]["name"] == "JOB_COMPLETION_INDEX" for p in found)
    end(workloads, index["2"])
    wait_for(lambda: job(workloads, "numbers")["status"].get("completedIndexes") == "2", "an index is done")
    end(workloads, index["0"])
    end(workloads, index["1"])
    wait_condition(workloads, "numbers", "Complete")
    assert job(workloads, "numbers")["status"]["completedIndexes"] == "0-2"


def test_a_job_fails_by_its_indexes(workloads):
    make(workloads, "each", completions=2, parallelism=2, completionMode="Indexed", backoffLimitPerIndex=0)
    found = sorted(running(workloads, "each", 2), key=lambda p: p["spec"]["hostname"])
    end(workloads, found[0], code=1)
    wait_for(lambda: job(workloads, "each")["status"].get("failedIndexes") == "0", "an index failed")
    end(workloads, found[1])
    assert wait_condition(workloads, "each", "Failed")["reason"] == "FailedIndexes"
    assert job(workloads, "each")["status"]["completedIndexes"] == "1"


def test_a_policy_decides_about_failures(workloads):
    rules = [{"action": "Ignore", "onExitCodes": {"operator": "In", "values": [42]}},
             {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [43]}}]
    make(workloads, "rules", backoffLimit=0, podFailurePolicy={"rules": rules})
    end(workloads, running(workloads, "rules", 1)[0], code=42)
    end(workloads, running(workloads, "rules", 1)[0], code=43)
    found = wait_condition(workloads, "rules", "Failed")
    assert found["reason"] == "PodFailurePolicy" and "failed with exit code 43 matching FailJob rule at index 1" in found["message"]
    assert job(workloads, "rules")["status"]["failed"] == 1


def test_a_success_policy_ends_the_job_early(workloads):
    make(workloads, "leader", completions=3, parallelism=3, completionMode="Indexed", successPolicy={"rules": [{"succeededIndexes": "0"}]})
    first = min(running(workloads, "leader", 3), key=lambda p: p["spec"]["hostname"])
    end(workloads, first)
    assert wait_condition(workloads, "leader", "Complete")["reason"] == "SuccessPolicy"
    assert not pods(workloads, "leader", "Running")


def test_a_job_is_suspended_and_resumed(workloads):
    make(workloads, "sleeps", suspend=True)
    wait_condition(workloads, "sleeps", "Suspended")
    assert not workloads.pods("sleeps") and "startTime" not in job(workloads, "sleeps")["status"]
    workloads.kubectl("patch", "job", "sleeps", "-p", '{"spec":{"suspend":false}}')
    running(workloads, "sleeps", 1)
    assert not condition(workloads, "sleeps", "Suspended")
    workloads.kubectl("patch", "job", "sleeps", "-p", '{"spec":{"suspend":true}}')
    wait_condition(workloads, "sleeps", "Suspended")
    wait_for(lambda: not workloads.items(f"{CORE}/pods?labelSelector=app%3Dsleeps"), "its pods go")
    v = wait_job(workloads, "sleeps", active=0)
    assert v["status"].get("failed", 0) == 0
    workloads.kubectl("patch", "job", "sleeps", "-p", '{"spec":{"suspend":false}}')
    end(workloads, running(workloads, "sleeps", 1)[0])
    wait_condition(workloads, "sleeps", "Complete")


def test_a_finished_job_goes_after_its_time(workloads):
    make(workloads, "short", ttlSecondsAfterFinished=1)
    end(workloads, running(workloads, "short", 1)[0])
    wait_for(lambda: workloads.get(f"{JOBS}/short").status == 404, "the Job goes")
    wait_for(lambda: not workloads.items(f"{CORE}/pods?labelSelector=app%3Dshort"), "and its pods")


@pytest.mark.parametrize("cascade", ["background", "foreground"])
def test_a_running_job_can_be_deleted(workloads, cascade):
    make(workloads, f"{cascade}", completions=2, parallelism=2)
    running(workloads, cascade, 2)
    workloads.kubectl("delete", "job", cascade, f"--cascade={cascade}")
    wait_for(lambda: not workloads.items(f"{CORE}/pods?labelSelector=app%3D{cascade}"), "no finalizer holds its pods")


def test_no_pod_is_counted_twice_when_the_process_is_killed(data_dir):
    server = Workloads(data_dir)
    server.start_nodes()
    make(server, "many", completions=60, parallelism=60)
    for pod in running(server, "many", 60):
        end(server, pod)
    wait_for(lambda: job(server, "many")["status"].get("succeeded", 0) or job(server, "many")["status"]["uncountedTerminatedPods"], "some are counted")
    server.kill()
    server.log.close()
    server.nodes.stop()
    server = Workloads(data_dir)
    wait_condition(server, "many", "Complete")
    assert job(server, "many")["status"]["succeeded"] == 60 and len(server.pods("many")) == 60
    assert server.stop() == 0
