/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes of containers: HTTP, TCP, gRPC, and commands in the container.
 *
 *     struct probers            of the node: bounds, shared wake-ups, connections
 *     struct container_probes   of one running container: its liveness, readiness and startup probe
 *
 * The owner starts the probes when a container has started and closes them when it has ended; a
 * container that starts again gets a new object. With a startup probe, the other two wait until it
 * has succeeded.
 *
 * Results, as with kubelet: readiness is false until the first success, liveness true until it
 * fails, startup false until it succeeds. After successThreshold or failureThreshold equal results
 * in a row the value changes, and on_result() reports it. Once liveness or startup has failed no
 * further probe runs: the owner ends the container.
 *
 * Wake-ups: after each success the next probe is delayed by up to a tenth of its period, until it
 * falls on a multiple of the period; from then on all probes with the same period share one timer.
 * Failures are not delayed, so that thresholds are reached in time.
 *
 * Connections come from this process's network namespace. Loop thread only.
 */
#pragma once

#include "base/mem.h"
#include "base/str.h"
#include "io/loop.h"

struct probers;
struct container_probes;

enum {
    PROBES_BUSY = 32,          /* probes that run at a time; others wait in order */
    PROBE_BODY_MAX = 10 << 10, /* bytes of an HTTP body or output; the rest is not read */
    PROBE_HEADERS_MAX = 64,    /* of an HTTP probe */
    PROBE_REDIRECTS_MAX = 10,
    PROBE_MESSAGE_MAX = 10 << 10, /* bytes of a report's message */
    PROBE_TRIES = 3               /* of a probe that could not be made, before it is given up */
};

enum probe_kind { PROBE_LIVENESS, PROBE_READINESS, PROBE_STARTUP };
enum { PROBE_KINDS = 3 };
const char *probe_kind_name(enum probe_kind kind); /* "Liveness", as events write it */

enum probe_method { PROBE_EXEC, PROBE_HTTP, PROBE_TCP, PROBE_GRPC };

struct probe_header {
    struct str name, value;
};

/* A Probe of the API with its defaults applied: counts are at least 1. Strings are copied. */
struct probe_spec {
    enum probe_method method;
    uint32_t initial_delay_s, period_s, timeout_s, success_threshold, failure_threshold;
    /* terminationGracePeriodSeconds; -1: that of the pod. Given back in the report. */
    int64_t grace_s;
    const struct str *command; /* PROBE_EXEC */
    size_t n_command;
    struct str host;       /* HTTP, TCP; "": the container's address */
    uint16_t port;         /* HTTP, TCP, gRPC; names are resolved by the caller */
    bool is_https;         /* HTTP; certificates are not verified */
    bool takes_any_status; /* HTTP: every answer is a success, as of a hook */
    struct str path;       /* HTTP: "/healthz?full"; "": "/" */
    const struct probe_header *headers;
    size_t n_headers;
    struct str service; /* gRPC */
};
/* With all its strings, into the arena. */
void probe_spec_copy(struct arena *a, const struct probe_spec *from, struct probe_spec *to);

enum probe_outcome {
    PROBE_SUCCESS,
    PROBE_WARNING, /* a success, with something to say: event ProbeWarning */
    PROBE_FAILURE, /* event Unhealthy, "Readiness probe failed: MESSAGE" */
    PROBE_UNKNOWN  /* it could not be made and counts neither way: event Unhealthy, "Readiness probe
                      errored: MESSAGE" */
};

struct probe_report {
    enum probe_kind kind;
    enum probe_outcome outcome; /* of this attempt */
    bool has_changed;           /* the value of the probe is another one now */
    bool value;                 /* true: live, ready, started */
    /* Liveness or startup has failed: end the container, with grace_s if that is not -1. */
    bool must_end;
    int64_t grace_s;
    struct str message; /* borrowed */
};

/* A command in a container, supplied by the owner of containers. */
struct probe_exec {
    /*
     * Run the command. done() exactly once, on a later turn: r 0 and the exit status, or r < 0: it
     * could not be run. output: stdout and stderr, cut at PROBE_BODY_MAX; borrowed. *ret is valid
     * until done() has returned.
     */
    int (*start)(void *arg, void *container, const struct str *command, size_t n,
                 uint64_t timeout_ms,
                 void (*done)(void *done_arg, int r, int status, struct str output), void *done_arg,
                 void **ret, struct err *err);
    void (*cancel)(void *arg, void *running); /* done() still runs */
    void *arg;
};

struct probers_opts {
    struct loop *loop;
    const struct probe_exec *exec; /* kept; NULL: commands are PROBE_UNKNOWN */
    const char *user_agent;        /* kept; NULL: "kube-probe/1.34" */
    uint64_t seed;                 /* of random delays */
};

struct probers *probers_new(const struct probers_opts *opts);
/* All container_probes and attempts of probers_run() have been closed. done: when what ran has
 * ended. */
void probers_close(struct probers *p, void (*done)(void *arg), void *arg);

struct prober_attempt;
/*
 * A single attempt beside all probes, such as a postStart or preStop handler: only method,
 * timeout_s and what the method needs count. spec with its strings and address are kept until
 * done(), which runs exactly once, on a later turn, unless probers_cancel() comes first. message:
 * borrowed.
 */
struct prober_attempt *probers_run(
    struct probers *p, const struct probe_spec *spec, struct str address, void *container,
    void (*done)(void *arg, enum probe_outcome outcome, struct str message), void *arg);
void probers_cancel(struct prober_attempt *a);

struct container_probes_opts {
    const struct probe_spec *specs[PROBE_KINDS]; /* by enum probe_kind; NULL: none */
    struct str address;                          /* of the pod; with hostNetwork: of the node */
    void *container;                             /* for struct probe_exec; kept */
    uint64_t started_ms;                         /* of the container, by loop_now_ms() */
    /*
     * An earlier process started the container, and these were its values. The first probes then
     * come after a random part of their period, so that not all containers are probed at once.
     */
    bool is_adopted, was_ready, was_started;
    /* On later turns, for every failure, warning and change. May close the object. */
    void (*on_result)(void *arg, const struct probe_report *report);
    void *arg;
};

struct container_probes *container_probes_start(struct probers *p,
                                                const struct container_probes_opts *opts);
/* No callback runs from now on; a running probe is cancelled. */
void container_probes_close(struct container_probes *c);
/* The pod is being deleted: liveness and startup probes end; readiness goes on. */
void container_probes_end_liveness(struct container_probes *c);

/* The values now. Without a startup probe a container is started; without a readiness probe it is
 * ready once it is started. */
bool container_probes_is_started(const struct container_probes *c);
bool container_probes_is_ready(const struct container_probes *c);
