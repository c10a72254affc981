/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dormouse-runner: the process in which guests run.
 *
 * One busy thread. It does what main orders (wasm/proto.h), one turn after the other, and knows
 * nothing beyond that: no files, no network, no clock events, no other guest's name. Reading order:
 * main.c (life of the process), worker.c (threads and who has the baton), orders.c (one order
 * each), instance.c (one guest), function.c and template.c (requests to functions), abi.c, v1.c and
 * wasi.c (what guests call), hibernate.c (dissolve and resume), sandbox.c.
 */
#pragma once

#include "base/buf.h"
#include "base/list.h"
#include "base/vec.h"
#include "wasm/confine.h"
#include "wasm/proto.h"

#include <dm_engine.h>
#include <pthread.h>

enum {
    RUNNER_SOCKET = 3, /* the descriptor that main leaves us */
    RUNNER_SLOTS_MAX = 65536,
    RUNNER_TICK_MS = 4,          /* CPU time between epochs; the kernel looks about that often */
    RUNNER_SLICE_TICKS = 1,      /* then a guest that may be parked lets others have their turns */
    RUNNER_TRIM_BYTES = 1 << 20, /* dissolved since the heap was last returned to the system */
    RUNNER_CODE_MAPPED_BYTES = 16 << 20, /* of modules, those used last; see code.h */
    RUNNER_COUNT_DIRTY_MS = 100 /* dirty pages of an awake guest are counted this often at most */
};

struct run_module {
    wasmtime_module_t *module;
    wasmtime_instance_pre_t *pre[GUEST_ABI_COUNT]; /* made when first needed */
    bool has_memory, has_start, is_dissolvable;
    uint64_t image_lo, image_hi;
    char globals[MODULE_GLOBALS_MAX + 1];
    uint32_t n_instances;
    struct list code_node; /* on runner->code while its code may be mapped */
    size_t code_bytes;
    int status; /* why it could not be loaded */
    struct err err;
};

struct instance;
struct template;

struct runner {
    wasm_engine_t *engine;
    wasmtime_linker_t *linkers[GUEST_ABI_COUNT]; /* made when first needed */
    struct run_module **modules;                 /* by id */
    size_t n_modules;
    VEC(struct instance *) slots;
    VEC(struct template *) templates; /* by slot as well; never both */
    struct list kept;                 /* instances of functions that wait, longest first */
    unsigned n_kept;
    size_t kept_pages;    /* of these */
    pthread_mutex_t lock; /* of every worker's has_baton */
    struct list spares;   /* workers without anything to do */
    unsigned n_spares;
    struct list code; /* run_module.code_node; used last at the end */
    size_t code_bytes;
    int pagemap_fd;
    bool has_pagemap_scan;
    size_t dissolved_bytes; /* since the last trim */
    uint64_t guest_bytes;   /* that the instances may have */
    struct confine_report confined;
    int group_fd;      /* of the group to join; -1: there is none */
    uint64_t data_max; /* that the process may have; see sandbox.h */
};

/* Epochs since the process began: CPU time of all its threads in RUNNER_TICK_MS. */
uint64_t runner_ticks(void);
