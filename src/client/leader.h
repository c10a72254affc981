/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leader election among several processes (which one runs the operators, which one controls the
 * functions), by a Lease (coordination.k8s.io/v1) in the format of client-go's leader election, so
 * that either implementation can take the Lease over from the other.
 *
 *     FOLLOWS: reads the Lease every LEADER_RETRY_MS -> it has no holder, or its holder has not
 *              renewed it for leaseDurationSeconds -> takes it
 *     LEADS:   renews it every LEADER_RETRY_MS; not renewed for LEADER_DEADLINE_MS -> FOLLOWS
 *
 * The age of a renewal is measured by our own monotonic clock from the moment when we saw it, never
 * by the timestamps in the Lease: clocks that differ or jump have no effect. Loop thread only.
 */
#pragma once

#include "client/transport.h"
#include "io/loop.h"

struct leader;

/* Label of a Lease whose holder lives in the API server's process: api_release_left_lease(). */
#define LEADER_LABEL "dormouse.dev/ends-with-api"

enum {
    LEADER_LEASE_MS = 15000,    /* a holder that has not renewed for this long has lost the Lease */
    LEADER_DEADLINE_MS = 10000, /* a leader that could not renew for this long stops leading */
    LEADER_RETRY_MS = 2000,
    LEADER_RELEASE_MS = 2000,     /* limit for releasing the Lease on shutdown */
    LEADER_ENDLESS_S = INT32_MAX, /* leaseDurationSeconds of a Lease that never expires */
    LEADER_LEASE_MAX_BYTES = 256 << 10
};

struct leader_opts {
    struct loop *loop;
    struct transport *transport;              /* kept; used with the host's own credentials */
    const char *namespace, *name, *identity;  /* copied; identity: of this process, unique */
    uint64_t lease_ms, deadline_ms, retry_ms; /* 0: the values above; written in whole seconds */
    /*
     * The API ends with this process, so no other holder can outlive it: the leader takes the Lease
     * at once, whoever held it, and holds it for LEADER_ENDLESS_S. It does not renew the Lease: an
     * idle process arms no timer for it. A later leader in another process takes such a Lease once
     * it has been released (leader_stop(), or the next API server of that store) or deleted, or
     * once leader_holder_gone() names its holder.
     */
    bool alone;
    /* Leading begins or ends; never called inside leader_start(). */
    void (*on_change)(void *arg, bool leads);
    void (*on_holder)(void *arg, const char *identity); /* another holder was seen; may be NULL */
    void *arg;
};

struct leader *leader_start(const struct leader_opts *opts);
bool leader_leads(const struct leader *l);
/*
 * leaseTransitions + 1 of the Lease as last seen: a leader's term is higher than all earlier ones.
 */
uint64_t leader_term(const struct leader *l);
/* Holder of the Lease as last seen; "": no holder. */
const char *leader_holder(const struct leader *l);
/* This holder is known to have ended: if it still holds the Lease, take the Lease at once. */
void leader_holder_gone(struct leader *l, const char *identity);
/* Read the Lease now: another component reported that there is a later leader. */
void leader_look(struct leader *l);
/*
 * Stop: on_change does not run any more. A leader releases the Lease first, so that its successor
 * need not wait. done() runs after that, or after LEADER_RELEASE_MS.
 */
void leader_stop(struct leader *l, void (*done)(void *arg), void *arg);
