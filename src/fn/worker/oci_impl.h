/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the runtime `oci` share: oci.c the runtime, oci_plan.c what the containers of a
 * revision are made of, oci_box.c the life of a container, oci_adopt.c what an earlier process
 * left, oci_setup.c what containers need of the machine.
 */
#pragma once

#include "base/map.h"
#include "base/sm.h"
#include "base/vec.h"
#include "container/cgroup.h"
#include "container/network.h"
#include "container/output.h"
#include "fn/worker/logs.h"
#include "fn/worker/oci.h"
#include "fn/worker/oci_config.h"
#include "fn/worker/probe.h"
#include "io/process.h"

#define OCI_CGROUP "/dormouse-fn" /* parent of all groups of containers */

enum {
    OCI_CONFIG_TEXT_MAX = 4 << 20,
    OCI_STATE_MAX = 64 << 10,
    OCI_ADDRESS_MAX = 32,
    OCI_NAME_MAX = 32
};

struct oci {
    struct runtime base;
    struct loop *loop;
    struct guest_logs *logs;
    char *run;     /* RUN */
    char *program; /* crun's path */
    char *copy;    /* its sealed copy in memory, "/proc/self/fd/N"; runc: as program */
    int copy_fd;
    bool is_runc, no_limits;
    char *subnet;
    VEC(char *) bundle_dirs; /* real paths */
    struct fn_images images; /* ops NULL: none */
    uint32_t n_networks;
    enum { OCI_NEW, OCI_SET_UP, OCI_BROKEN } at; /* what containers need is made with the first */
    struct err broken;
    char *filter; /* seccomp program, base64 */
    struct container_cgroups cgroups;
    int mount_ns; /* in which crun runs; -1: ours */
    int null_fd;
    struct container_networks *networks;
    struct map boxes;  /* 8 bytes -> struct box */
    struct list queue; /* boxes that wait for one of OCI_STARTS_MAX */
    uint32_t n_starting;
    size_t n_owed; /* boxes and farewells */
    void (*done)(void *arg);
    void *done_arg;
    struct defer closing;
};

enum box_at {
    BOX_IMAGE,
    BOX_NETWORK,
    BOX_QUEUED,
    BOX_STARTING,
    BOX_PROBING,
    BOX_READY,
    BOX_ENDING,
    BOX_CLEANING
};

struct box {
    struct oci *o;
    uint64_t id;
    char name[OCI_NAME_MAX];      /* s<ID> */
    char group[OCI_NAME_MAX * 2]; /* its control group: other workers have the same ids */
    char *dir;
    struct sm sm;
    struct list queued; /* in oci.queue, or in the list of its revision that waits for an image */
    struct fn_image *image;     /* NULL: a bundle */
    struct runtime_revision of; /* copies of its names; nothing else of it is used later */
    uint64_t cpu_milli;         /* limit; 0: none */
    uint64_t ready_ms;
    uint16_t port;
    char *path; /* of the probe */
    char *config;
    size_t config_n;
    struct oci_user user;

    struct container_network *network;
    struct container_network_wait wait;
    struct process *crun, *init;
    int pid;
    int crun_pid; /* of crun run, whose child is still to be waited for; 0: it was */
    struct probe *probe;
    struct container_output *out, *err_out;
    struct timer grace, late; /* to SIGKILL: of the container, of crun */
    unsigned tries;           /* to remove its control group */
    struct defer turn;        /* finish() without a callback inside a call */

    uint64_t at_ns; /* when the current phase began */
    uint64_t begun_ns;
    Dormouse__Fn__V1__Breakdown took;

    bool is_told;       /* on_created() has been called, one way or the other */
    bool is_wanted;     /* by the worker: neither failed, died nor deleted */
    bool owes_farewell; /* on_destroyed() */
    uint32_t grace_ms;
};

/* ---- oci.c ---- */

/* One of n_owed less. */
void oci_give_back(struct oci *o);

/* What it is made of is here: it gets its directory and a network. */
void box_begin(struct box *b, const struct runtime_revision *r);

/* ---- oci_plan.c ---- */

/*
 * What all containers of a revision share: the configuration of its bundle or image, which is asked
 * for here. r: kept until oci_plan_free(), by which no box waits any more.
 */
struct oci_plan *oci_plan_new(struct oci *o, const struct runtime_revision *r);
void oci_plan_free(struct oci_plan *p);
/*
 * What the plan has goes to a box in state IMAGE. 1: it has it; 0: the box waits for an image, in a
 * list by `queued`, and then goes on or fails by itself. Errors: why it cannot be run; an image is
 * asked for again by the next box.
 */
int oci_plan_give(struct oci_plan *p, struct box *b, struct err *err);

/* ---- oci_box.c ---- */

/* In state IMAGE, and in the table. Strings are copied. */
struct box *box_new(struct oci *o, uint64_t id, const struct runtime_revision *of);
/* Its directory, with the secrets. */
int box_make_dir(struct box *b, const struct runtime_revision *r, struct err *err);
/* It has its network: write its configuration, and run it when its turn comes. */
void box_queue(struct box *b);
/* IMAGE -> NETWORK: what it is made of is here. */
void box_has_image(struct box *b);
/* NETWORK: as soon as there is one. */
void box_wait_for_network(struct box *b);
/* Of a container that runs already: its end and what it prints are ours from now on. */
int box_take_over(struct box *b, int pid, struct err *err);
/* The container ends, if there is one, after b->grace_ms; then all that is left of it. */
void box_end(struct box *b);
/* Nothing of it runs: the same without waiting for an end. */
void box_clean(struct box *b);
/* The worker is told, if it still wants it; then box_end(). */
void box_fail(struct box *b, int r, const char *text);
/* "A.B.C.D:PORT" */
void box_address(const struct box *b, char to[OCI_ADDRESS_MAX]);
/* Since the last call: for the breakdown. */
uint32_t box_lap_us(struct box *b);

static inline struct str box_key(const uint64_t *id)
{
    return str_n(id, sizeof *id);
}

/* ---- oci_adopt.c ---- */

/* What is in RUN: adopted and told by on_recovered(), or removed. */
void oci_recover(struct oci *o);
/* So that a worker that comes after us knows what this is. */
void box_write_state(const struct box *b);

/* ---- oci_setup.c ---- */

/* crun's path, or runc's; NULL: not installed. wanted: NULL, a name or a path. Given. */
char *oci_find_program(const char *wanted);
/* RUN of a data directory. Given. */
char *oci_run_of(const char *dir);
/* Nothing is made before the first function that is a container. E_UNSUPPORTED. */
int oci_ensure_set_up(struct oci *o, struct err *err);
/* All of it but the networks. */
void oci_tear_down(struct oci *o);
