/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of agent/volume: a host, its pods, and their work.
 *
 * A pod has at most one piece of work (struct volume_work) on a pool thread. What changes meanwhile
 * sets a flag, and volume_pod_step() looks for the next work when that one has ended. The thread
 * sees only what the work owns.
 */
#pragma once

#include "agent/volume/payload.h"
#include "agent/volume/volume.h"
#include "base/map.h"
#include "codec/digest.h"

/* ---------------------------------------------------------------- host */

struct volume_host {
    struct loop *loop;
    char *root;
    struct pod_objects objects;
    const struct volume_supply *supply;
    void *supply_arg;
    bool without_mounts;
    struct map pods;       /* UID -> struct volume_pod */
    unsigned n_operations; /* that do not belong to a pod any more, or never did */
    bool collects_orphans;
    const char *removing; /* UID of the orphan that is being removed; NULL: none */
};

/* ---------------------------------------------------------------- work */

struct volume_work {
    struct list node; /* of volume_pod.queue */
    struct job job;
    struct volume_pod *pod;
    struct arena arena;
    void (*run)(struct volume_work *w); /* pool thread */
    /* Loop thread; frees what follows this struct in its owner. was_run: false: the pod ends. */
    void (*done)(struct volume_work *w, bool was_run);
};

/* ---------------------------------------------------------------- volumes of a pod */

/* A token source of a projected volume. Lives on its own: an answer may come after the pod. */
struct volume_ticket {
    struct volume_token token; /* the request */
    struct arena arena;        /* its strings */
    struct volume_host *host;
    struct volume_pod *pod; /* NULL: closed while asking */
    size_t source;
    bool is_asking;
    char *text; /* NULL: none yet */
    size_t text_n;
    uint64_t due_ms; /* when to ask next */
    int64_t expires_wall_ms;
    unsigned failures;
    struct err problem;
};

struct volume_slot {
    const struct pod_volume *v; /* of the pod's spec; NULL: it vanished from there */
    char *name;
    bool is_ready;
    char *source;               /* directory or file on this machine; NULL: not known yet */
    bool is_read_only, is_made; /* made by the agent, below the pod's directory */
    /* If is_ready: of the files on disk, and of what they were made from. */
    uint8_t digest[SHA256_BYTES], stamp[SHA256_BYTES];
    struct volume_ticket **tickets;
    size_t n_tickets;
    struct err problem;
};

struct volume_pod {
    struct volume_host *host;
    const struct pod_spec *spec;
    const struct pod_facts *facts;
    char *uid, *dir;
    struct volume_slot *slots;
    size_t n_slots;
    enum volume_pod_state at;
    struct err problem;
    bool has_dir;                /* ROOT/UID is there */
    struct err dir_problem;      /* why not */
    bool is_dirty;               /* plan again */
    bool is_unsettled;           /* slots changed: find state, problem and the next attempt */
    struct volume_work *running; /* NULL: none */
    struct list queue;           /* struct volume_work of volume_mounts_start() */
    struct timer timer;          /* the next attempt or token */
    struct defer step, notify;
    unsigned failures; /* attempts that left a problem */
    volume_pod_changed_cb changed;
    void *arg;
    enum volume_pod_end end;
    bool is_removed;
    volume_pod_closed_cb closed;
    void *closed_arg;
};

/* Look for the next work on the next turn. */
void volume_pod_step_soon(struct volume_pod *p);
/* Append to the queue. */
void volume_pod_enqueue(struct volume_pod *p, struct volume_work *w);

/* prepare.c: the work that makes volumes ready; NULL: there is none. Sets problems of slots. */
struct volume_work *volume_prepare_plan(struct volume_pod *p);

/*
 * stamp.c: a hash of all that the files of a volume depend on. false: not of all, since an object
 * has no version.
 */
bool volume_slot_stamp(const struct volume_pod *p, const struct volume_slot *s,
                       uint8_t ret[SHA256_BYTES]);

/* token.c */
void volume_tickets_init(struct volume_pod *p, struct volume_slot *s);
void volume_tickets_free(struct volume_slot *s);
/* Ask for tokens that are due. */
void volume_tickets_run(struct volume_pod *p, struct volume_slot *s);
struct str volume_ticket_text(const struct volume_slot *s, size_t source);
/* Of a token that is missing or expired; NULL: none. */
const struct err *volume_tickets_problem(const struct volume_slot *s);
/* When the next one is due; UINT64_MAX: never. */
uint64_t volume_tickets_due_ms(const struct volume_slot *s);

/* "kubernetes.io~empty-dir"; NULL: the agent keeps no directory of this kind. */
const char *volume_kind_dir(enum pod_volume_kind kind);
/* Remove ROOT/UID with all mounts in it. Blocking, any thread. */
int volume_dir_remove(const char *root, const char *uid, struct err *err);
