/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of several hosts runs the operators: a Lease (coordination.k8s.io/v1), as client-go's
 * leader election keeps it, so that either can take it over from the other.
 *
 *     FOLLOWS: looks every LEADER_RETRY_MS -> nobody holds it, or its holder has not renewed it for
 *              its time -> takes it
 *     LEADS:   renews it every LEADER_RETRY_MS; not renewed for LEADER_DEADLINE_MS -> FOLLOWS
 *
 * How old a renewal is is measured by our own clock, from when we saw it, never by the time that
 * stands in it: clocks that differ or jump move nothing. Loop thread only.
 */
#pragma once

#include "io/loop.h"
#include "kube/transport.h"

struct leader;

enum {
    LEADER_LEASE_MS = 15000,    /* who has not renewed it for so long has lost it */
    LEADER_DEADLINE_MS = 10000, /* who could not renew it for so long gives up leading */
    LEADER_RETRY_MS = 2000,
    LEADER_RELEASE_MS = 2000, /* to let go of it on the way out */
    LEADER_LEASE_MAX_BYTES = 256 << 10
};

struct leader_opts {
    struct loop *loop;
    struct transport *transport;             /* kept; asked with the host's own credentials */
    const char *namespace, *name, *identity; /* copied; identity: of this process, unique */
    /* When it begins and ends to lead; never inside leader_start(). */
    void (*on_change)(void *arg, bool leads);
    void *arg;
};

struct leader *leader_start(const struct leader_opts *opts);
bool leader_leads(const struct leader *l);
/*
 * on_change does not come any more. Whoever leads lets go of the Lease, so that another one need
 * not wait; done() then, or when that takes too long.
 */
void leader_stop(struct leader *l, void (*done)(void *arg), void *arg);
