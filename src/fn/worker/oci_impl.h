/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the runtime `oci` share: oci.c the runtime, oci_plan.c what the containers of a
 * revision are made of, oci_box.c the life of a sandbox that is a container.
 */
#pragma once

#include "base/map.h"
#include "base/sm.h"
#include "base/vec.h"
#include "container/container.h"
#include "fn/worker/logs.h"
#include "fn/worker/oci.h"
#include "fn/worker/oci_config.h"
#include "fn/worker/probe.h"

#define OCI_KIND "fn" /* of the host of containers */

enum { OCI_ADDRESS_MAX = 32, OCI_NAME_MAX = 32 };

struct oci {
    struct runtime base;
    struct loop *loop;
    struct guest_logs *logs;
    struct container_host *host;
    VEC(char *) bundle_dirs;        /* real paths */
    struct container_images images; /* ops NULL: none */
    struct map boxes;               /* 8 bytes -> struct box */
    size_t n_owed;                  /* boxes and farewells */
    void (*done)(void *arg);
    void *done_arg;
    struct defer closing;
};

enum box_at { BOX_IMAGE, BOX_MAKING, BOX_PROBING, BOX_READY, BOX_ENDING };

struct box {
    struct oci *o;
    uint64_t id;
    struct sm sm;
    struct list queued;            /* in the list of its revision that waits for an image */
    struct container_image *image; /* NULL: a bundle */
    struct runtime_revision of;    /* copies of its names; its other members are not used later */
    uint64_t cpu_milli;            /* limit; 0: none */
    uint64_t ready_ms;
    uint16_t port;
    char *path;                  /* of the probe */
    struct container *container; /* NULL: not begun, or removed */
    struct probe *probe;
    struct defer turn;  /* runs callbacks that must not run inside a call */
    struct err refusal; /* of the turn; code 0: it has ended */

    uint64_t at_ns; /* when the current phase began */
    uint64_t begun_ns;
    Dormouse__Fn__V1__Breakdown took;

    bool is_reported;   /* on_created() has been called, with success or failure */
    bool is_wanted;     /* by the worker: it has neither failed nor died, and was not deleted */
    bool owes_farewell; /* on_destroyed() */
};

/* ---- oci.c ---- */

/* One of n_owed less. */
void oci_give_back(struct oci *o);

/* ---- oci_plan.c ---- */

/*
 * What all containers of a revision share: the configuration of its bundle or image, which is
 * requested here. r: kept until oci_plan_free(); no box waits any more by then.
 */
struct oci_plan *oci_plan_new(struct oci *o, const struct runtime_revision *r);
void oci_plan_free(struct oci_plan *p);
/*
 * Give the configuration to a box in state IMAGE, which begins. 0 also while the box waits for an
 * image, in a list by `queued`; it begins or fails later. Errors: why it cannot run; the next box
 * requests an image again.
 */
int oci_plan_give(struct oci_plan *p, struct box *b, struct err *err);

/* ---- oci_box.c ---- */

/* In state IMAGE, and in the table. Strings are copied. */
struct box *oci_box_new(struct oci *o, uint64_t id, const struct runtime_revision *of);
/*
 * The image or bundle is ready: make its container, with the user of `made`; its files are the
 * secrets of `r`. Errors: those of container_start(); the box has no container then.
 */
int oci_box_make(struct box *b, const struct runtime_revision *r,
                 const struct oci_config_made *made, struct str config, struct err *err);
/* The worker has given it up. */
void oci_box_destroy(struct box *b, uint32_t grace_ms);
/* Report it to the worker, unless that gave the container up, and end the container. */
void oci_box_fail(struct box *b, int r, const char *text);
/* The same on a later turn. */
void oci_box_refuse(struct box *b, const struct err *err);
/* Since the last call: for the breakdown. */
uint32_t oci_box_lap_us(struct box *b);
/* Containers of an earlier process: reported by on_recovered(), or removed. */
void oci_box_recover_all(struct oci *o);

static inline struct str box_key(const uint64_t *id)
{
    return str_n(id, sizeof *id);
}
