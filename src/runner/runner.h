/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dormouse-runner: the process in which guests run.
 *
 * One thread runs at a time. It carries out main's orders (wasm/proto.h), one turn after the other,
 * and has access to nothing else: no files, no network, no clock events, no names of other guests.
 * Reading order: main.c (life of the process), worker.c (threads and who has the baton), orders.c
 * (one order each), instance.c (one guest), function.c and template.c (requests to functions),
 * abi.c, v1.c and wasm/wasi.c (what guests call), hibernate.c (dissolve and resume), sandbox.c.
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
    RUNNER_SOCKET = 3, /* the descriptor that main passes */
    RUNNER_SLOTS_MAX = 65536,
    RUNNER_TICK_MS = 4,                  /* CPU time between epochs; about the kernel's tick */
    RUNNER_SLICE_TICKS = 1,              /* after this a guest that may be parked yields */
    RUNNER_TRIM_BYTES = 1 << 20,         /* dissolved memory after which the heap is trimmed */
    RUNNER_CODE_MAPPED_BYTES = 16 << 20, /* of the modules used last; see code.h */
    RUNNER_COUNT_DIRTY_MS = 100 /* shortest time between counts of an awake guest's dirty pages */
};

struct run_module {
    wasmtime_module_t *module;
    wasmtime_instance_pre_t *pre[GUEST_ABI_COUNT]; /* made when first needed */
    bool has_memory, has_start, is_dissolvable;
    uint64_t image_lo, image_hi;
    char globals[MODULE_GLOBALS_MAX + 1];
    uint32_t n_instances;
    struct list code_node; /* node of runner->code while its code may be mapped */
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
    VEC(struct template *) templates; /* by slot; a slot has an instance or a template */
    struct list kept;                 /* waiting instances of functions, oldest first */
    unsigned n_kept;
    size_t kept_pages;    /* of these */
    pthread_mutex_t lock; /* guards every worker's has_baton */
    struct list spares;   /* idle workers */
    unsigned n_spares;
    struct list code; /* run_module.code_node; the last used at the end */
    size_t code_bytes;
    int pagemap_fd;
    bool has_pagemap_scan;
    size_t dissolved_bytes; /* since the last trim */
    uint64_t guest_bytes;   /* sum of the limits of all instances */
    struct confine_report confined;
    int group_fd;      /* of the cgroup to join; -1: none */
    uint64_t data_max; /* limit of the process; see sandbox.h */
};

/* Epochs since the process began: CPU time of all its threads, in units of RUNNER_TICK_MS. */
uint64_t runner_ticks(void);
