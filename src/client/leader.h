/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of several processes works (runs the operators, controls the functions): a Lease
 * (coordination.k8s.io/v1), as client-go's leader election keeps it, so that either can take it
 * over from the other.
 *
 *     FOLLOWS: looks every LEADER_RETRY_MS -> nobody holds it, or its holder has not renewed it for
 *              its time -> takes it
 *     LEADS:   renews it every LEADER_RETRY_MS; not renewed for LEADER_DEADLINE_MS -> FOLLOWS
 *
 * How old a renewal is is measured by our own clock, from when we saw it, never by the time that
 * stands in it: clocks that differ or jump move nothing. Loop thread only.
 */
#pragma once

#include "client/transport.h"
#include "io/loop.h"

struct leader;

/* On a Lease whose holder lives in the process of the API server: api_release_left_lease(). */
#define LEADER_LABEL "dormouse.dev/ends-with-api"

enum {
    LEADER_LEASE_MS = 15000,    /* who has not renewed it for so long has lost it */
    LEADER_DEADLINE_MS = 10000, /* who could not renew it for so long gives up leading */
    LEADER_RETRY_MS = 2000,
    LEADER_RELEASE_MS = 2000,     /* to let go of it on the way out */
    LEADER_ENDLESS_S = INT32_MAX, /* leaseDurationSeconds of a Lease that does not age */
    LEADER_LEASE_MAX_BYTES = 256 << 10
};

struct leader_opts {
    struct loop *loop;
    struct transport *transport;              /* kept; asked with the host's own credentials */
    const char *namespace, *name, *identity;  /* copied; identity: of this process, unique */
    uint64_t lease_ms, deadline_ms, retry_ms; /* 0: the values above; whole seconds are written */
    /* The API ends with this process, so no other holder can outlive it: the Lease is taken at
     * once, whoever had it, and held for LEADER_ENDLESS_S. It is not renewed: an idle process arms
     * no timer for it. A later leader of another process takes such a Lease when it has been let
     * go of (leader_stop(), or the next API server of that store), deleted, or
     * leader_holder_gone() names its holder. */
    bool alone;
    /* When it begins and ends to lead; never inside leader_start(). */
    void (*on_change)(void *arg, bool leads);
    void (*on_holder)(void *arg, const char *identity); /* another holder was seen; may be NULL */
    void *arg;
};

struct leader *leader_start(const struct leader_opts *opts);
bool leader_leads(const struct leader *l);
/* leaseTransitions + 1 of the Lease as it was seen last: who leads has a higher one than all
 * before.
 */
uint64_t leader_term(const struct leader *l);
/* Who holds it, as seen last; "" nobody. */
const char *leader_holder(const struct leader *l);
/* This holder is known to have ended: if the Lease is still its, it is taken at once. */
void leader_holder_gone(struct leader *l, const char *identity);
/* Look now whose it is: somebody says that there is a later leader. */
void leader_look(struct leader *l);
/*
 * on_change does not come any more. Whoever leads lets go of the Lease, so that another one need
 * not wait; done() then, or when that takes too long.
 */
void leader_stop(struct leader *l, void (*done)(void *arg), void *arg);
