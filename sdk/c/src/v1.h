/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ABI v1 as docs/guest-abi.md has it: the host's functions, the module's, and what the v1_*.c files
 * share. A test implements the first and calls the second.
 */
#pragma once

#include "dm/operator.h"

#ifdef __wasm__
#define V1_IMPORT(name) __attribute__((import_module("dormouse_v1"), import_name(name)))
#define V1_EXPORT(name) __attribute__((export_name(name), used))
#else
#define V1_IMPORT(name)
#define V1_EXPORT(name)
#endif

V1_IMPORT("declare") int32_t v1_declare(const void *p, uint32_t n);
V1_IMPORT("result_size") uint32_t v1_result_size(void);
V1_IMPORT("result_read") uint32_t v1_result_read(void *p, uint32_t n);
V1_IMPORT("fail_message") void v1_fail_message(const void *p, uint32_t n);
V1_IMPORT("log")
void v1_log(uint32_t level, const void *p, uint32_t n, const void *kv, uint32_t n_kv);
V1_IMPORT("api_request")
int64_t v1_api_request(const void *head, uint32_t n_head, const void *body, uint32_t n_body);
V1_IMPORT("cache_get") int64_t v1_cache_get(const void *query, uint32_t n);
V1_IMPORT("cache_list") int64_t v1_cache_list(const void *query, uint32_t n);
V1_IMPORT("config_get") int64_t v1_config_get(const void *name, uint32_t n);
V1_IMPORT("enqueue") void v1_enqueue(const void *p, uint32_t n);
V1_IMPORT("event") void v1_event(const void *p, uint32_t n);
V1_IMPORT("metric") void v1_metric(uint32_t index, const void *labels, uint32_t n, int64_t bits);

V1_EXPORT("dormouse_v1_setup") int32_t v1_setup(void);
V1_EXPORT("dormouse_v1_activate") int64_t v1_activate(uint32_t n);

/* Append the declaration of an operator. */
void v1_put_declaration(struct dm_text *t, const struct dm_operator *op);

/* The id under which a watch is declared. */
static inline const char *v1_watch_id(const struct dm_watch *w)
{
    return w->id ? w->id : w->res->plural;
}

/* The host's result, n bytes of it, into the request's arena. */
struct dm_str v1_take_result(struct dm_request *r, uint32_t n);

/* Scratch texts and the arena of a request: released, or set aside for a while. */
void v1_release(struct dm_request *r);

void v1_clear_error(struct dm_request *r);
