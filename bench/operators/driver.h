/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the drivers of the operators' benchmarks have in common: requests to any Kubernetes API, one
 * watch of TestResources, by whose nonces operators show that they have done their work, and
 * waiting for operators to fall asleep. Whatever goes wrong ends the process with a text on stderr.
 */
#pragma once

#include "base/clock.h"
#include "base/sys.h"
#include "base/vec.h"
#include "client/http_transport.h"
#include "codec/json.h"

#include <inttypes.h>
#include <stdio.h>

#define TEST_RESOURCES "/apis/amurant.io/v1"

struct driver {
    struct loop loop;
    struct kubeconfig *config;
    struct http_transport *transport;
    size_t in_flight;
    unsigned refused;
    char first_refusal[400];
    /* watch */
    struct exchange *watch;
    struct buf line;
    bool watch_ended;
    /* An operator's TestResource as it is now; called by driver_watch() and the loop. */
    void (*on_object)(void *arg, struct str namespace, int64_t nonce, uint64_t now_ns);
    void *arg;
};

_Noreturn void driver_die(const char *what, const struct err *err);

/* on_object and arg are set. */
void driver_open(struct driver *d, const char *kubeconfig);

/* One request and its answer; returns the status. type: of the body. ret: NULL, or gets the body.
 */
int driver_ask(struct driver *d, const char *method, const char *target, const char *type,
               struct str body, struct buf *ret);
/*
 * Without waiting for the answer, a bounded number at once. accept_also: a status that is fine as
 * well, 409 when creating what exists, 404 when deleting.
 */
void driver_start(struct driver *d, const char *method, const char *target, struct str body,
                  int accept_also);
/* For all that were started; `what` is said when one was refused. */
void driver_wait_all(struct driver *d, const char *what);

void driver_create_namespace(struct driver *d, const char *name);
/* TestResources, served when this returns. */
void driver_create_crd(struct driver *d);
/* Rules (JSON of its elements) for all service accounts of namespace "operators". */
void driver_allow_operators(struct driver *d, const char *name, const char *rules);

/* All TestResources as they are now, then their changes. */
void driver_watch(struct driver *d);
/* Turns the loop until *left is 0; too late is an error. */
void driver_wait_for(struct driver *d, const size_t *left, const char *what);

/*
 * Until all guests of the server of this data directory sleep. min_guests: so many must be there at
 * all, and its runners have ended, too; shows how far it is on a terminal.
 */
void driver_wait_asleep(const char *data_dir, uint64_t min_guests);

/* "name":[...], in microseconds. */
void driver_print_us(const char *name, const uint64_t *ns, size_t n);
