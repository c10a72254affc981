/* SPDX-License-Identifier: Apache-2.0 */
/* Internals that remote.c and remote_push.c share. */
#pragma once

#include "oci/registry_int.h"
#include "oci/remote.h"

struct oci_remote {
    struct loop loop;
    struct oci_registry *reg;
    struct oci_reference ref;
    char *pull_scope, *push_scope;
    char *chunk; /* of an upload, chunk_bytes long; allocated by the first upload */
    size_t chunk_bytes;
    bool has_files;                 /* announced with a manifest */
    bool pushes;                    /* after the first push one scope, so one token, is used */
    uint64_t until_ms;              /* clock_mono_ms(); 0: no deadline */
    const atomic_bool *stop;        /* NULL: none */
    const atomic_bool *opened_stop; /* as given to oci_remote_open(), for clones */
    struct timer tick;              /* to check both */
};

/* The result of a request. */
struct remote_answer {
    bool is_done;
    int r;
    int status;
    struct headers headers;
    struct buf body;
    struct err *err;
};

void remote_answer_fini(struct remote_answer *a);
/* The scope for the next request. */
const char *remote_scope(const struct oci_remote *m);
/* The callback of a request whose arg is a struct remote_answer. */
void remote_on_answer(void *arg, int r, const struct oci_answer *answer, const struct err *err);
/* Run the loop until the result is there; r: of starting the request. */
int remote_wait(struct oci_remote *m, struct remote_answer *a, int r);
/* Start and wait. `opts` without callback. */
int remote_request(struct oci_remote *m, struct oci_request_opts *opts, struct remote_answer *a,
                   struct err *err);
