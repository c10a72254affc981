/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operator host of one process, put together: guest host, shared watches,
 * operators, and where their specs come from. It needs a transport and nothing else, so it is the
 * same next to the embedded API and against any cluster.
 *
 * Below the data directory it makes swap/ (hibernated guests), operators/
 * (a place for modules that `Operator` objects name), logs/ (guest/guest_log.h), each with mode
 * 0700.
 */
#pragma once

#include "base/buf.h"
#include "guest/guest.h"
#include "operator/host/operator.h"

struct host;
struct url_target;
struct watch_hub;

/* As whom operators act that name a ServiceAccount, or have one by default. */
enum host_identity {
    HOST_IDENTITY_ACCOUNT,     /* in process as it; elsewhere by tokens of it */
    HOST_IDENTITY_IMPERSONATE, /* elsewhere by impersonation */
    HOST_IDENTITY_HOST         /* as the host, with all of its rights */
};

struct host_opts {
    struct loop *loop;
    const char *data_dir;
    struct module_cache *modules; /* kept; of the process */
    struct runner_pool *runners;  /* the same */
    struct transport *transport;  /* kept */
    struct watch_hub *hub;        /* kept; the process's, over that transport */
    bool embedded;                /* the API is in this process: watch resources, not namespaces */
    /* Have its watches told how far they are, as in object_cache.h; NULL beside any other API. */
    void (*request_progress)(void *arg);
    void *progress_arg;
    const char *const *module_dirs; /* beside data_dir/operators; for Operator objects */
    size_t n_module_dirs;
    struct module_site module_site; /* what URLs of modules may name; its texts are kept */
    const char *operators_dir; /* NULL: Operator objects; else a directory with wasm_config.yaml */
    const char *namespace;     /* Operator objects of this one alone; NULL: of all */
    bool standby;              /* begin so; see host_set_standby() */
    enum host_identity identity;
    struct guest_host_opts guests; /* swap_dir and runners are filled in */
    /* Every operator known at start has been applied. */
    void (*on_synced)(void *arg);
    void *arg;
};

/*
 * On failure *ret may be set, too: a host that has started in part and is to be stopped. It ends
 * from the loop, and what was lent to it (modules, runners, hub) has to live until then.
 */
int host_start(const struct host_opts *opts, struct host **ret, struct err *err);
/* End guests (they are dissolved or stopped), watches, compilations; done() last. */
void host_stop(struct host *h, void (*done)(void *arg), void *arg);

/*
 * Standby: operators are known and their modules compiled, none of them runs, and no status is
 * written. Guests that run when it begins end at once.
 */
void host_set_standby(struct host *h, bool standby);
/* The operators of the start are known. */
bool host_is_synced(const struct host *h);

/* Rights may have been granted: operators that were denied some retry soon. */
void host_rights_changed(struct host *h);

struct host_counts {
    size_t operators, guests, awake, asleep, failed;
    unsigned runners;
    uint64_t wakes, activations;
};
void host_get_counts(const struct host *h, struct host_counts *ret);

/* By `namespace` and `name` of the query; NULL: there is none. */
/* Describe an Operator object that was refused; false: there is none. */
bool host_describe_refused(const struct host *h, const struct url_target *target, struct buf *to);
struct operator* host_find(const struct host *h, const struct url_target *target);

/* Prometheus text, and the JSON list of `dormouse guests`. */
void host_metrics(const struct host *h, struct buf *to);
/* Prometheus text of the process's module cache. */
void host_modules_metrics(const struct module_cache *modules, struct buf *to);
void host_guests_json(const struct host *h, struct buf *to);

/* For testbeds. false: something is under way, and `why` names it; timers do not count. */
bool host_is_at_rest(const struct host *h, struct buf *why);
bool host_is_compiling(const struct host *h); /* a module; it has a limit of its own */
/* Put every guest to sleep that is idle. */
void host_sleep(struct host *h);
/* Lines about operators that cannot do their work, or have complained; false: there are none. */
bool host_trouble(const struct host *h, struct buf *why);
