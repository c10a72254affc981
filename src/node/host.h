/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operator host of a process, put together: guest host, shared watches, operators, and the
 * source of their specs. It needs only a transport, so it works the same beside the embedded API
 * and against any cluster.
 *
 * Below the data directory it creates swap/ (hibernated guests), operators/ (a directory for
 * modules that `Operator` objects name), logs/ (guest/guest_log.h), each with mode 0700.
 */
#pragma once

#include "base/buf.h"
#include "guest/guest.h"
#include "operator/host/operator.h"

struct host;
struct url_target;
struct watch_hub;

/* The identity of operators that name a ServiceAccount, or have one by default. */
enum host_identity {
    HOST_IDENTITY_ACCOUNT,     /* the account: in process directly, elsewhere by its tokens */
    HOST_IDENTITY_IMPERSONATE, /* the account: elsewhere by impersonation */
    HOST_IDENTITY_HOST         /* the host itself, with all of its rights */
};

struct host_opts {
    struct loop *loop;
    const char *data_dir;
    struct module_cache *modules; /* kept; the process's */
    struct runner_pool *runners;  /* as above */
    struct transport *transport;  /* kept */
    struct watch_hub *hub;        /* kept; the process's hub over that transport */
    bool embedded;                /* the API is in this process: watch resources, not namespaces */
    /*
     * Request progress notifications for its watches, as in object_cache.h; NULL unless the API is
     * embedded.
     */
    void (*request_progress)(void *arg);
    void *progress_arg;
    const char *const *module_dirs; /* in addition to data_dir/operators; for Operator objects */
    size_t n_module_dirs;
    struct module_site module_site; /* which module URLs are allowed; its texts are kept */
    const char *operators_dir; /* NULL: Operator objects; else a directory with wasm_config.yaml */
    const char *namespace;     /* only Operator objects of this namespace; NULL: all */
    bool standby;              /* start in standby; see host_set_standby() */
    enum host_identity identity;
    struct guest_host_opts guests; /* swap_dir and runners are filled in */
    /* Runs when every operator known at start has been applied. */
    void (*on_synced)(void *arg);
    void *arg;
};

/*
 * On failure *ret may be set, too: a host that has started in part and is to be stopped. It ends
 * from the loop, and what was lent to it (modules, runners, hub) has to live until then.
 */
int host_start(const struct host_opts *opts, struct host **ret, struct err *err);
/* End guests (they are put to sleep or stopped), watches and compilations; done() runs last. */
void host_stop(struct host *h, void (*done)(void *arg), void *arg);

/*
 * In standby, operators are known and their modules compiled, but none runs and no status is
 * written. Guests that are running when standby begins end at once.
 */
void host_set_standby(struct host *h, bool standby);
/* Whether the operators of the start are known. */
bool host_is_synced(const struct host *h);

/* Rights may have been granted: operators that were denied access retry soon. */
void host_rights_changed(struct host *h);

struct host_counts {
    size_t operators, guests, awake, asleep, failed;
    unsigned runners;
    uint64_t wakes, activations;
};
void host_get_counts(const struct host *h, struct host_counts *ret);

/* The operator named by `namespace` and `name` of the query; NULL: not found. */
/* Describe an Operator object that was refused; false: there is none of that name. */
bool host_describe_refused(const struct host *h, const struct url_target *target, struct buf *to);
struct operator* host_find(const struct host *h, const struct url_target *target);

/* Append Prometheus text; append the JSON list of `dormouse guests`. */
void host_metrics(const struct host *h, struct buf *to);
/* Append Prometheus text of the process's module cache. */
void host_modules_metrics(const struct module_cache *modules, struct buf *to);
void host_guests_json(const struct host *h, struct buf *to);
