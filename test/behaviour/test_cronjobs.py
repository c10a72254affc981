# SPDX-License-Identifier: Apache-2.0
"""CronJobs of `dormouse up`. Names of Jobs have minutes, so that each CronJob here makes one or two in a test."""
from conftest import wait_for
from test_jobs import end, job, pods, running
from workloads_kit import CORE, template, workloads  # noqa: F401

CRONS = "/apis/batch/v1/namespaces/default/cronjobs"
JOBS = "/apis/batch/v1/namespaces/default/jobs"


def make(server, name, schedule="@every 1s", **spec):
    pod = template(name)
    pod["spec"]["restartPolicy"] = "Never"
    return server.create(CRONS, {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": name}, "spec": {
        "schedule": schedule, "jobTemplate": {"spec": {"template": pod}}, **spec}})


def status(server, name):
    return server.get(f"{CRONS}/{name}").json().get("status", {})


def jobs(server, name):
    return [j for j in server.items(JOBS) if any(r["name"] == name for r in j["metadata"].get("ownerReferences", []))]


def test_a_job_starts_at_its_time_and_is_followed_to_its_end(workloads):
    make(workloads, "ticks", concurrencyPolicy="Forbid")
    active = wait_for(lambda: status(workloads, "ticks").get("active"), "a Job is active")
    found, = jobs(workloads, "ticks")
    assert active[0]["name"] == found["metadata"]["name"] and active[0]["uid"] == found["metadata"]["uid"]
    assert found["metadata"]["annotations"]["batch.kubernetes.io/cronjob-scheduled-timestamp"]
    wait_for(lambda: workloads.events("ticks", "SuccessfulCreate"), "an Event")
    wait_for(lambda: workloads.events("ticks", "JobAlreadyActive"), "the next one has to wait")
    workloads.kubectl("patch", "cronjob", "ticks", "-p", '{"spec":{"suspend":true}}')
    for pod in running(workloads, "ticks", len(jobs(workloads, "ticks"))):
        end(workloads, pod)
    wait_for(lambda: (s := status(workloads, "ticks")).get("lastSuccessfulTime") and not s.get("active"), "its end is known")
    assert status(workloads, "ticks")["lastScheduleTime"]
    workloads.kubectl("delete", "cronjob", "ticks")
    wait_for(lambda: not jobs(workloads, "ticks") and not workloads.items(f"{CORE}/pods?labelSelector=app%3Dticks"), "its Jobs and pods go")


def test_a_suspended_one_starts_nothing_but_by_hand(workloads):
    make(workloads, "paused", suspend=True)
    workloads.kubectl("create", "job", "by-hand", "--from=cronjob/paused")
    end(workloads, running(workloads, "paused", 1)[0])
    wait_for(lambda: job(workloads, "by-hand")["status"].get("succeeded") == 1, "the Job completes")
    assert [j["metadata"]["name"] for j in jobs(workloads, "paused")] == ["by-hand"]
    assert len(pods(workloads, "paused")) == 1


def test_the_history_has_a_limit(workloads):
    make(workloads, "short", concurrencyPolicy="Forbid", successfulJobsHistoryLimit=0)
    pod, = running(workloads, "short", 1)
    workloads.kubectl("patch", "cronjob", "short", "-p", '{"spec":{"suspend":true}}')
    end(workloads, pod)
    wait_for(lambda: workloads.events("short", "SawCompletedJob") and workloads.events("short", "SuccessfulDelete"), "Events say so")
    assert not jobs(workloads, "short")
