/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a list of Pods costs in protobuf: from the stored JSON of each to its item in the list, and
 * how many bytes that is. Prints one line per step: the best of several rounds. The server
 * transcodes; parsing and encoding is what it does where that is not possible.
 *
 *     ninja -C build bench/codec/micro_proto && build/bench/codec/micro_proto
 */
#include "base/clock.h"
#include "kube/model/builtin.h"
#include "kube/model/proto.h"
#include "kube/model/proto_plan.h"
#include "kube/model/proto_transcode.h"

#include <stdio.h>

enum { ROUNDS = 10, PODS = 10000 };

static const char pod_text[] =
    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"web-7d4b9c6f5d-x2x9k\","
    "\"generateName\":\"web-7d4b9c6f5d-\",\"namespace\":\"default\","
    "\"uid\":\"0b6f6a0e-5c0a-4a51-9d0c-6d0d7c1f2a3b\",\"creationTimestamp\":\"2026-01-02T03:04:"
    "05Z\","
    "\"labels\":{\"app\":\"web\",\"pod-template-hash\":\"7d4b9c6f5d\"},\"ownerReferences\":[{"
    "\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\",\"name\":\"web-7d4b9c6f5d\","
    "\"uid\":\"8a1f3c56-0f35-4b1e-8a32-2f6a8d1f0e11\",\"controller\":true,"
    "\"blockOwnerDeletion\":true}]},\"spec\":{\"volumes\":[{\"name\":\"token\",\"projected\":{"
    "\"sources\":[{\"serviceAccountToken\":{\"expirationSeconds\":3607,\"path\":\"token\"}},"
    "{\"configMap\":{\"name\":\"kube-root-ca.crt\",\"items\":[{\"key\":\"ca.crt\",\"path\":\"ca."
    "crt\"}]"
    "}},{\"downwardAPI\":{\"items\":[{\"path\":\"namespace\",\"fieldRef\":{\"apiVersion\":\"v1\","
    "\"fieldPath\":\"metadata.namespace\"}}]}}],\"defaultMode\":420}}],\"containers\":[{"
    "\"name\":\"web\",\"image\":\"registry.example.com/team/web:1.25\",\"ports\":[{"
    "\"containerPort\":8080,\"protocol\":\"TCP\"}],\"env\":[{\"name\":\"LOG_LEVEL\",\"value\":"
    "\"info\"},"
    "{\"name\":\"POD_NAME\",\"valueFrom\":{\"fieldRef\":{\"apiVersion\":\"v1\","
    "\"fieldPath\":\"metadata.name\"}}}],\"resources\":{\"limits\":{\"cpu\":\"500m\","
    "\"memory\":\"256Mi\"},\"requests\":{\"cpu\":\"100m\",\"memory\":\"128Mi\"}},\"volumeMounts\":["
    "{"
    "\"name\":\"token\",\"readOnly\":true,"
    "\"mountPath\":\"/var/run/secrets/kubernetes.io/serviceaccount\"}],\"livenessProbe\":{"
    "\"httpGet\":{\"path\":\"/healthz\",\"port\":8080,\"scheme\":\"HTTP\"},\"timeoutSeconds\":1,"
    "\"periodSeconds\":10,\"successThreshold\":1,\"failureThreshold\":3},"
    "\"terminationMessagePath\":\"/dev/termination-log\",\"terminationMessagePolicy\":\"File\","
    "\"imagePullPolicy\":\"IfNotPresent\"}],\"restartPolicy\":\"Always\","
    "\"terminationGracePeriodSeconds\":30,\"dnsPolicy\":\"ClusterFirst\","
    "\"serviceAccountName\":\"default\",\"serviceAccount\":\"default\",\"nodeName\":\"node-1\","
    "\"securityContext\":{},\"schedulerName\":\"default-scheduler\",\"tolerations\":[{"
    "\"key\":\"node.kubernetes.io/not-ready\",\"operator\":\"Exists\",\"effect\":\"NoExecute\","
    "\"tolerationSeconds\":300},{\"key\":\"node.kubernetes.io/"
    "unreachable\",\"operator\":\"Exists\","
    "\"effect\":\"NoExecute\",\"tolerationSeconds\":300}],\"priority\":0,\"enableServiceLinks\":"
    "true,"
    "\"preemptionPolicy\":\"PreemptLowerPriority\"},\"status\":{\"phase\":\"Running\","
    "\"conditions\":[{"
    "\"type\":\"Ready\",\"status\":\"True\",\"lastProbeTime\":null,"
    "\"lastTransitionTime\":\"2026-01-02T03:04:09Z\"},{\"type\":\"PodScheduled\",\"status\":"
    "\"True\","
    "\"lastProbeTime\":null,\"lastTransitionTime\":\"2026-01-02T03:04:05Z\"}],"
    "\"hostIP\":\"10.0.0.5\",\"podIP\":\"10.244.1.17\",\"podIPs\":[{\"ip\":\"10.244.1.17\"}],"
    "\"startTime\":\"2026-01-02T03:04:05Z\",\"containerStatuses\":[{\"name\":\"web\",\"state\":{"
    "\"running\":{\"startedAt\":\"2026-01-02T03:04:08Z\"}},\"lastState\":{},\"ready\":true,"
    "\"restartCount\":0,\"image\":\"registry.example.com/team/web:1.25\","
    "\"imageID\":\"registry.example.com/team/web@sha256:"
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\","
    "\"containerID\":\"containerd://"
    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\","
    "\"started\":true}],\"qosClass\":\"Burstable\"}}";

static uint64_t best = UINT64_MAX;

static void lap(uint64_t since)
{
    uint64_t ns = clock_mono_ns() - since;
    best = ns < best ? ns : best;
}

static void report(const char *what, size_t bytes)
{
    (void)printf("%-28s %7.1f ms %8.2f us each %7zu bytes each\n", what, (double)best / 1e6,
                 (double)best / 1e3 / PODS, bytes);
    best = UINT64_MAX;
}

int main(void)
{
    const struct schema *pod = builtin_schema(STR(""), STR("v1"), STR("Pod"));
    struct arena a = { 0 };
    struct buf out = BUF_INIT(BUF_MAX_DEFAULT);
    struct json *v;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t since = clock_mono_ns();
        for (int i = 0; i < PODS; i++) {
            arena_reset(&a);
            if (json_parse(&a, str_of(pod_text), NULL, &v, NULL) < 0)
                return 1;
        }
        lap(since);
    }
    report("parse", sizeof pod_text - 1);
    size_t bytes = 0;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t since = clock_mono_ns();
        for (int i = 0; i < PODS; i++) {
            buf_reset(&out);
            (void)proto_encode_field(&a, 2, pod, v, &out);
        }
        lap(since);
        bytes = out.n;
    }
    report("encode in protobuf", bytes);
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t since = clock_mono_ns();
        for (int i = 0; i < PODS; i++) {
            buf_reset(&out);
            (void)json_write(&out, v);
        }
        lap(since);
    }
    report("for comparison: write JSON", out.n);
    struct proto_transcoder t = PROTO_TRANSCODER_INIT;
    const struct proto_source from = { pod, str_of(pod_text), STR("4711") };
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t since = clock_mono_ns();
        for (int i = 0; i < PODS; i++) {
            buf_reset(&out);
            if (proto_transcode_field(&t, 2, &from, &out) < 0)
                return 1;
        }
        lap(since);
    }
    report("transcode", out.n);
    (void)printf("%-28s %7zu bytes\n", "plans of the types", proto_plan_bytes());
    proto_transcoder_fini(&t);
    buf_fini(&out);
    arena_fini(&a);
    return 0;
}
