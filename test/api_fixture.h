/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests of the API server: one on a store in a temporary directory, asked through its
 * in-process transport. A request that does not go as it should fails the test.
 */
#pragma once

#include "test.h"

#include "api/core.h"
#include "api/server.h"
#include "codec/json.h"
#include "io/loop.h"
#include "store/store.h"

/* ---- a server ---- */

struct fixture {
    char dir[40];
    struct loop loop;
    struct store *store;
    struct api *api;
    struct arena arena; /* of parsed answers */
    bool done;
    int r;
    /* for the next open_server() */
    struct str ca_cert, ca_key, sa_key;
    bool rbac;
    uint64_t event_ttl_ms, watch_min_ms;
    void (*opened)(struct fixture *f); /* with the store, before the server starts; NULL: nothing */
    const struct kube_identity *identity; /* who asks; NULL: this process */
};

void fixture_init(struct fixture *f);
void fixture_fini(struct fixture *f);
/* Stop and start on the same store. */
void close_server(struct fixture *f);
void open_server(struct fixture *f);
/* For api_start() and the like: set f->done and f->r; `arg` is the fixture. */
void on_ready(void *arg, int r, const struct err *err);
void on_done(void *arg);
/* Turn the loop until f->done. */
void wait_done(struct fixture *f);
/* Until no controller has anything to do. */
void settle(struct fixture *f);
/* GET it: 200 or 404. */
bool there(struct fixture *f, const char *path);

/* ---- requests ---- */

struct answer {
    struct fixture *f;
    int status;
    struct buf body;
    struct headers headers;
    struct json *json; /* NULL when the body is none */
    int r;
};

/* type, accept, body: may be NULL. */
struct answer ask(struct fixture *f, const char *method, const char *target, const char *type,
                  const char *accept, const char *body);
struct answer ask_bytes(struct fixture *f, const char *method, const char *target, const char *type,
                        const char *accept, struct str body);
void answer_fini(struct answer *a);
/* Ask, check the status, return the parsed answer (in the fixture's arena). */
struct json *want(struct fixture *f, int status, const char *method, const char *target,
                  const char *body);
struct str text_at(const struct json *v, const char *k1, const char *k2);
uint64_t rev_of(const struct json *obj);

#define MAPS "/api/v1/namespaces/default/configmaps"

struct json *make_map(struct fixture *f, const char *name, const char *value);

/* ---- watches ---- */

struct watching {
    struct fixture *f;
    struct exchange *call;
    struct buf text;
    int status, end;
    bool ended;
};

extern const struct exchange_events watching_events; /* arg: a struct watching */
void watch(struct fixture *f, struct watching *w, const char *target);
/* t: of the same loop. unwatch() is for watches of the in-process transport only. */
void watch_through(struct fixture *f, struct transport *t, struct watching *w, const char *target,
                   const char *accept);
void watch_as(struct fixture *f, struct watching *w, const char *target, const char *accept);
/* In JSON. */
struct json *next_event(struct watching *w);
/* The next event's object; its type and name (or NULL) are checked. */
struct json *expect(struct watching *w, const char *type, const char *name);
void wait_end(struct watching *w);
void unwatch(struct watching *w);
