/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gRPC's health service (grpc.health.v1.Health/Check) as a probe, without TLS. Its messages have
 * one field each, which are written and read here. See prober_attempt.h.
 */
#include "agent/probe/probe_health.h"
#include "agent/probe/prober_attempt.h"

#include "base/buf.h"
#include "base/mem.h"
#include "io/grpc.h"

#include <assert.h>

enum { ANSWER_MAX = 4096 };

static const char *const statuses[] = { "UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN" };

struct grpc_probe {
    struct prober_attempt *a;
    struct http_client *client;
    struct grpc_call *call; /* NULL: none is under way */
    bool has_answer;
    uint64_t status;
};

static void grpc_probe_free(struct grpc_probe *g)
{
    struct prober_attempt *a = g->a;
    assert(!g->call);
    if (g->client)
        http_client_close(g->client);
    free(g);
    a->method = NULL;
    prober_attempt_unref(a);
}

static void on_message(void *arg, struct str message)
{
    struct grpc_probe *g = arg;
    g->has_answer = probe_health_read(message, &g->status);
}

static void judge(struct grpc_probe *g, const struct grpc_result *result)
{
    struct prober_attempt *a = g->a;
    if (result->code == GRPC_UNIMPLEMENTED)
        prober_attempt_end(a, PROBE_FAILURE,
                           "error: this server does not implement the grpc health protocol "
                           "(grpc.health.v1.Health): " STR_FMT,
                           STR_ARG(result->text));
    else if (result->code != GRPC_OK && result->r < 0 && !result->was_sent)
        prober_attempt_end(a, PROBE_FAILURE,
                           "error: failed to connect service at \"" STR_FMT ":%u\": " STR_FMT,
                           STR_ARG(a->address), a->spec->port, STR_ARG(result->text));
    else if (result->code != GRPC_OK)
        prober_attempt_end(a, PROBE_FAILURE,
                           "error: health rpc probe failed: code = %s desc = " STR_FMT,
                           grpc_code_name(result->code), STR_ARG(result->text));
    else if (!g->has_answer)
        prober_attempt_end(a, PROBE_FAILURE, "error: health rpc probe failed: malformed answer");
    else if (g->status != PROBE_HEALTH_SERVING)
        prober_attempt_end(a, PROBE_FAILURE, "service unhealthy (responded with \"%s\")",
                           g->status < ARRAY_LEN(statuses) ? statuses[g->status] : "?");
    else
        prober_attempt_end_str(a, PROBE_SUCCESS, STR("service healthy"));
}

static void on_end(void *arg, const struct grpc_result *result)
{
    struct grpc_probe *g = arg;
    g->call = NULL;
    if (g->a->is_over)
        grpc_probe_free(g);
    else
        judge(g, result);
}

static const struct grpc_call_ops call_ops = { .on_message = on_message, .on_end = on_end };

static int start_call(struct grpc_probe *g, struct err *err)
{
    struct prober_attempt *a = g->a;
    scoped(buf_fini_scoped) struct buf message = BUF_INIT(ANSWER_MAX);
    scoped(free_scoped) char *host = str_dup(a->address);
    struct headers metadata = { 0 };
    struct http_client_opts o = { .host = host,
                                  .port = a->spec->port,
                                  .http2 = true,
                                  .connect_timeout_ms = (uint64_t)a->spec->timeout_s * 1000 };
    probe_health_write(a->spec->service, &message);
    if (!buf_ok(&message))
        return err_set(err, E_LIMIT, "the name of the service is too long");
    struct str only = buf_str(&message);
    int r = http_client_new(a->env->loop, &o, &g->client, err);
    if (r == 0)
        r = headers_addc(&metadata, "user-agent", a->env->user_agent);
    struct grpc_call_opts co = { .path = "/grpc.health.v1.Health/Check",
                                 .metadata = &metadata,
                                 .timeout_ms = (uint64_t)a->spec->timeout_s * 1000,
                                 .max_bytes = ANSWER_MAX,
                                 .only = &only,
                                 .ops = &call_ops,
                                 .arg = g };
    if (r == 0)
        r = grpc_call_start(g->client, &co, &g->call, err);
    headers_fini(&metadata);
    return r;
}

static void grpc_start(struct prober_attempt *a)
{
    struct grpc_probe *g = xnew(struct grpc_probe);
    struct err err = { 0 };
    g->a = a;
    a->method = g;
    prober_attempt_ref(a);
    if (start_call(g, &err) < 0)
        prober_attempt_end(a, PROBE_FAILURE, "error: health rpc probe failed: %s", err_text(&err));
}

static void grpc_stop(struct prober_attempt *a)
{
    struct grpc_probe *g = a->method;
    if (g->call)
        grpc_call_cancel(g->call); /* on_end() frees */
    else
        grpc_probe_free(g);
}

const struct probe_method_ops probe_grpc_ops = {
    .start = grpc_start, .stop = grpc_stop, .timeout_text = "timeout: health rpc did not complete"
};
