/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals shared by the files that implement wasm_runtime.h:
 *
 *     wasm_runtime.c  the runtime: revisions, sandboxes, logs
 *     wasm_invoke.c   requests             wasm_answer.c  messages of runners about them
 *     wasm_http.c     their forms, pure    wasm_files.c   files of modules
 *
 * A revision is a program, a request a job of it (guest/template.h). A request whose revision has
 * no template is held, one without room waits in the revision's line.
 *
 * A callback of an invocation may call anything on it: check whether it is over after each.
 */
#pragma once

#include "fn/worker/wasm_runtime.h"

#include "base/map.h"
#include "guest/template.h"

enum {
    WASM_RESTING_MAX = 1024, /* revisions without sandboxes whose module is known */
    WASM_RETRY_MS = 1000,    /* after a module or template that failed */
    WASM_SPARE_MAX = 256,    /* invocations kept for the next ones */
    WASM_CALL_ID_MAX = 128
};

struct wasm_rt {
    struct runtime runtime;
    struct invoker invoker;
    struct wasm_runtime_opts opts;
    char **dirs;
    struct guest_templates *templates; /* NULL: closed */
    /* "uid/revision", of a twin with a number after it -> wasm_revision, with those that rest */
    struct map revisions;
    struct list resting;  /* longest first */
    struct map sandboxes; /* 8 bytes -> wasm_sandbox */
    struct map files;     /* wasm_file_id -> wasm_file */
    struct list files_in_order;
    struct list spare; /* invocations */
    unsigned n_resting, n_spare, n_gets, n_revisions;
    unsigned n_invocations; /* that have not ended */
    uint64_t serial, requests, traps;
    bool is_closing;
    void (*done)(void *arg);
    void *done_arg;
};

enum wasm_state {
    WASM_NEW,
    WASM_FETCHING,  /* its source calls back */
    WASM_COMPILING, /* its module, or the module is in the cache */
    WASM_COMPILED,  /* rests, or its first template is being made */
    WASM_READY,     /* has had a template with this module */
    WASM_FAILED     /* `why`; a create tries again after WASM_RETRY_MS */
};

struct wasm_revision {
    struct wasm_rt *rt;
    char *key;
    struct list node;           /* on rt->resting */
    struct runtime_revision *r; /* NULL: rests */
    enum wasm_state state;
    struct module_source *source;
    struct module_get *get;
    struct module *module;
    enum guest_abi abi;
    struct err why;
    uint64_t failed_ms, begun_ms, fetched_ms;
    struct timer compiling; /* until a compilation is reported */
    struct buf args, env;   /* as in proto_add_setup(), without and with their counts */
    uint32_t n_env;
    struct list sandboxes; /* with their waiting creates */
    struct guest_program program;
    bool is_twin; /* another of the same number was there: it is freed instead of resting */
    struct token_bucket log_lines;
    uint64_t logs_left_out;
};

struct wasm_sandbox {
    struct list node; /* of the revision */
    struct wasm_rt *rt;
    struct wasm_revision *rev;
    uint64_t id;
    struct list invocations;
    uint32_t running;
    bool is_ready, is_leaving;
    struct defer notify;
    struct timer grace;
};

/*
 * What has become of the answer.
 *
 *     AWAITED --head--> BEGUN --> OVER
 *        |--> VOID ----------------^
 *        `-------------------------'
 */
enum wasm_answer {
    WASM_ANSWER_AWAITED,
    WASM_ANSWER_BEGUN, /* the caller has its head */
    WASM_ANSWER_VOID,  /* the guest has failed before any of it was handed out: none of it is */
    WASM_ANSWER_OVER   /* end, reason and err are set, and only on_end is left */
};

/* Why its guest is parked. */
enum wasm_wants { WASM_WANTS_NOTHING, WASM_WANTS_BODY, WASM_WANTS_CREDIT };

struct invocation {
    struct exchange exchange; /* of its caller */
    struct wasm_rt *rt;
    struct wasm_revision *rev; /* until it is over */
    struct wasm_sandbox *sandbox;
    struct list node;       /* on rt->spare */
    struct list in_sandbox; /* until its guest has ended its part */
    struct guest_job job;
    uint64_t token, deadline_ms, response_max;
    struct buf head; /* of a reactor; of a command its setup */
    struct buf body; /* not with the guest yet; the first in_run bytes were sent with the RUN */
    size_t in_run;
    bool body_ended;
    bool was_full; /* on_writable is due */
    enum wasm_wants wants;
    bool is_paused;
    enum wasm_answer answer;
    struct buf out;       /* of the answer, not taken yet */
    struct buf text;      /* of a command's head */
    bool has_no_body;     /* to HEAD, or by its status: what its guest writes is dropped */
    uint64_t length, got; /* of the answer: as promised, so far */
    uint64_t still_here;  /* bytes of the answer in the message being read; UINT64_MAX: more may
                           * follow it */
    struct headers trailers;
    bool has_trailers;
    int end;
    struct err err;
    struct timer deadline;
    struct defer later;
    char call_id[WASM_CALL_ID_MAX];
};

static inline struct wasm_rt *wasm_of(struct runtime *rt)
{
    return container_of(rt, struct wasm_rt, runtime);
}

/* ---- wasm_runtime.c ---- */

struct wasm_sandbox *wasm_find_sandbox(struct wasm_rt *rt, uint64_t id);
/* A request of it has ended; a sandbox that is leaving may be removed now. */
void wasm_sandbox_done(struct wasm_sandbox *s);
void wasm_fill_template(struct guest_program *p, struct proto_run *run, struct buf *setup);
void wasm_on_ready(struct guest_program *p);
void wasm_on_failed(struct guest_program *p, const struct err *why);
void wasm_on_code_lost(struct guest_program *p);
void wasm_free_if_closed(struct wasm_rt *rt);
static inline struct wasm_revision *wasm_revision_of(struct guest_program *p)
{
    return container_of(p, struct wasm_revision, program);
}
/* A line of its log; x may be NULL. */
void wasm_log(struct wasm_revision *rev, const struct invocation *x, const char *stream,
              enum log_level level, struct str text);
/* A line that it printed. */
void wasm_log_output(struct wasm_revision *rev, const struct invocation *x, const char *stream,
                     struct str text);
void wasm_log_left_out(struct wasm_revision *rev, uint64_t n);

/* ---- wasm_files.c ---- */

struct wasm_file_id { /* without padding: its bytes are a key */
    uint64_t dev, ino, size;
    int64_t mtime_ns, ctime_ns;
};
/* false: not known, or the file was changed a moment ago. */
bool wasm_file_identify(int fd, struct wasm_file_id *ret);
/* Borrowed; NULL: not known. */
struct module *wasm_files_find(const struct wasm_rt *rt, const struct wasm_file_id *id);
void wasm_files_add(struct wasm_rt *rt, const struct wasm_file_id *id, struct module *m);
void wasm_files_fini(struct wasm_rt *rt);

/* ---- wasm_invoke.c ---- */

/* Of the runtime's struct invoker. */
int wasm_invoke_start(struct invoker *v, const struct invoke_request *q,
                      const struct exchange_events *events, void *arg, struct exchange **ret,
                      struct err *err);
static inline struct invocation *wasm_invocation_of(struct guest_job *j)
{
    return container_of(j, struct invocation, job);
}
void wasm_fill_job(struct guest_job *j, struct proto_run *run);
/* The only way to change x->answer. */
void wasm_answer_move(struct invocation *x, enum wasm_answer to);
static inline bool wasm_is_over(const struct invocation *x)
{
    return x->answer == WASM_ANSWER_OVER;
}
/* The part of the body that was sent with the RUN is with the guest: it will not be sent again. */
void wasm_body_begun(struct invocation *x);
/* End every invocation that is held, or every one of a sandbox; on_end follows from the loop. */
void wasm_fail_held(struct wasm_revision *rev, int code, const char *reason, const struct err *why);
void wasm_end_sandbox(struct wasm_sandbox *s, int code, const char *reason);
/*
 * It is over, with `end` and `reason` for on_end; ends its job. What of its answer was not taken
 * yet is still delivered where end is 0.
 */
void wasm_over(struct invocation *x, int end, const char *reason, const char *text);
/* Hand out what can be handed out; x may be freed afterwards. Only from the loop. */
void wasm_deliver(struct invocation *x);
void wasm_invocation_free(struct invocation *x);

/* ---- wasm_answer.c ---- */

extern const struct guest_template_ops wasm_template_ops;
