/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host for operators of the C SDK for ABI v1, in the test's own process: it hands out
 * activations, records what the operator asks for, and answers from a list that the test has
 * filled.
 */
#pragma once

#include "dm/operator.h"
#include "test.h"
#include "v1.h"

/* ---- the host ---- */

#define CALLS_MAX 32

static uint64_t host_wall_us = 1700000000123456; /* what its clock shows */

struct call {
    char what[16], head[512], body[2048];
};

static struct host {
    struct call calls[CALLS_MAX];
    size_t n_calls;
    struct {
        int64_t code; /* of the call; with >= 0 the size of the bytes */
        char bytes[4096];
        size_t n;
    } answers[CALLS_MAX];
    size_t n_answers, n_answered;
    char result[8192];
    size_t n_result;
    char failed[1024];
} host;

static struct call *record(const char *what, const void *head, size_t n_head, const void *body,
                           size_t n_body)
{
    CHECK(host.n_calls < CALLS_MAX);
    struct call *c = &host.calls[host.n_calls++];
    (void)snprintf(c->what, sizeof(c->what), "%s", what);
    (void)snprintf(c->head, sizeof(c->head), "%.*s", (int)n_head, n_head ? (const char *)head : "");
    (void)snprintf(c->body, sizeof(c->body), "%.*s", (int)n_body, n_body ? (const char *)body : "");
    return c;
}

static void set_result(const void *p, size_t n)
{
    CHECK(n <= sizeof(host.result));
    memcpy(host.result, p, n);
    host.n_result = n;
}

static int64_t answer(void)
{
    if (host.n_answered == host.n_answers)
        TEST_FAIL("a call without an answer: %s", host.calls[host.n_calls - 1].head);
    size_t i = host.n_answered++;
    set_result(host.answers[i].bytes, host.answers[i].n);
    return host.answers[i].code;
}

int32_t v1_declare(const void *p, uint32_t n)
{
    record("declare", NULL, 0, p, n);
    return (int32_t)answer();
}

uint32_t v1_result_size(void)
{
    return (uint32_t)host.n_result;
}

uint32_t v1_result_read(void *p, uint32_t n)
{
    if (n > host.n_result)
        n = (uint32_t)host.n_result;
    memcpy(p, host.result, n);
    memmove(host.result, host.result + n, host.n_result - n);
    host.n_result -= n;
    return n;
}

void v1_fail_message(const void *p, uint32_t n)
{
    (void)snprintf(host.failed, sizeof(host.failed), "%.*s", (int)n, (const char *)p);
}

void v1_log(uint32_t level, const void *p, uint32_t n, const void *kv, uint32_t n_kv)
{
    record("log", p, n, kv, n_kv)->what[3] = (char)('0' + level);
}

int64_t v1_api_request(const void *head, uint32_t n_head, const void *body, uint32_t n_body)
{
    record("api", head, n_head, body, n_body);
    return answer();
}

int64_t v1_cache_get(const void *query, uint32_t n)
{
    record("get", NULL, 0, query, n);
    return answer();
}

int64_t v1_cache_list(const void *query, uint32_t n)
{
    record("list", NULL, 0, query, n);
    return answer();
}

int64_t v1_config_get(const void *name, uint32_t n)
{
    record("config", name, n, NULL, 0);
    return answer();
}

void v1_enqueue(const void *p, uint32_t n)
{
    record("enqueue", NULL, 0, p, n);
}

void v1_event(const void *p, uint32_t n)
{
    record("event", NULL, 0, p, n);
}

void v1_metric(uint32_t index, const void *labels, uint32_t n, int64_t bits)
{
    char head[64];
    double v;
    memcpy(&v, &bits, sizeof(v));
    record("metric", head, (size_t)snprintf(head, sizeof(head), "%u %g", index, v), labels, n);
}

uint64_t dm_host_now_ms(void)
{
    return 0;
}

uint64_t dm_host_wall_us(void)
{
    return host_wall_us;
}

uint64_t dm_host_random(void)
{
    return 4;
}

const char *dm_host_env(const char *name)
{
    return NULL;
}

void dm_host_write(const char *line, size_t n)
{
    (void)fwrite(line, 1, n, stderr);
}

/* ---- what tests say to it ---- */

static inline void fresh(void)
{
    host = (struct host){ 0 };
}

static inline void will_say(int64_t code, const char *bytes)
{
    size_t n = strlen(bytes), i = host.n_answers++;
    CHECK(i < CALLS_MAX && n <= sizeof(host.answers[i].bytes));
    memcpy(host.answers[i].bytes, bytes, n);
    host.answers[i].n = n;
    host.answers[i].code = code < 0 ? code : (int64_t)n;
}

static inline void will_answer_with(uint32_t status, const char *headers, const char *body)
{
    size_t i = host.n_answers++;
    uint32_t n_headers = (uint32_t)strlen(headers);
    char *p = host.answers[i].bytes;
    CHECK(i < CALLS_MAX);
    memcpy(p, &status, 4);
    memcpy(p + 4, &n_headers, 4);
    int n = snprintf(p + 8, sizeof(host.answers[i].bytes) - 8, "%s%s", headers, body);
    host.answers[i].n = (size_t)n + 8;
    host.answers[i].code = n + 8;
}

static inline void will_answer(uint32_t status, const char *body)
{
    will_answer_with(status, "content-type: application/json\n", body);
}

static inline int64_t activate(const char *what)
{
    set_result(what, strlen(what));
    return v1_activate((uint32_t)strlen(what));
}
