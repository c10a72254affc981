/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts about a module, usable without an engine: enough to determine its ABI, to decide whether it
 * can be dissolved, and to save and restore an instance of it.
 *
 * dormouse-compile collects them (wasm/instrument.h), and the module cache keeps them beside the
 * compiled code. One allocation holds a module_info and everything it points to.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"

/* Larger modules are refused: compiling takes about 20 bytes of memory and 0.9 us per byte. */
#define MODULE_WASM_BYTES_MAX ((uint64_t)256 << 20)
/* Applies to the imports, to the exports, and to the bytes of all their names and signatures. */
#define MODULE_EXTERNS_MAX    8192u
#define MODULE_NAME_BYTES_MAX (512u << 10)
/* Mutable globals of a module that can be dissolved; each costs 16 bytes in the record of an idle
 * guest. */
#define MODULE_GLOBALS_MAX 64u
#define MODULE_PAGE_BYTES  65536u
#define MODULE_PAGES_MAX   65536u

enum module_extern_kind {
    MODULE_FUNC = 0, /* the numbers of the binary format */
    MODULE_TABLE = 1,
    MODULE_MEMORY = 2,
    MODULE_GLOBAL = 3,
    MODULE_TAG = 4,
};

/*
 * One import or export. Types are letters: i i32, I i64, f f32, F f64, v v128, r funcref, x
 * externref. sig: a function's "params:results", for instance "iiI:i"; a table's or global's single
 * letter, for a mutable global followed by 'm'; empty otherwise.
 */
struct module_extern {
    enum module_extern_kind kind;
    struct str module; /* imports only */
    struct str name;
    struct str sig;
};

struct module_info {
    /* In pages of 64 KiB. A memory without a declared maximum has MODULE_PAGES_MAX; both are 0 if
     * there is no memory. */
    bool has_memory;
    uint32_t memory_min_pages, memory_max_pages;
    /* Addresses that active data segments cover, [lo, hi); both 0 if there are none. They must be
     * saved in full when an instance is dissolved for the first time. */
    uint64_t image_lo, image_hi;
    /* The mutable globals, which the instrumented module exports as __dm_g0, __dm_g1 ...: one type
     * letter each. */
    struct str globals;
    /* The start function became the export __dm_start: call it at the first instantiation only. */
    bool has_start;
    bool has_names; /* the name section was kept */
    bool is_dissolvable;
    struct str why_not; /* the reason, a clause for people; empty if dissolvable */
    size_t n_imports, n_exports;
    const struct module_extern *imports;
    const struct module_extern *exports; /* without those that instrument() added */
};

/* NULL when there is none. */
const struct module_extern *module_info_import(const struct module_info *info, const char *module,
                                               const char *name);
const struct module_extern *module_info_export(const struct module_info *info, const char *name);
/* true if a function is exported by this name with this signature ("i:", ":i" ...). */
bool module_info_has_func(const struct module_info *info, const char *name, const char *sig);

/* Encode for files and pipes. Fails only as `b` does. */
int module_info_encode(const struct module_info *info, struct buf *b);
/* `bytes` may be untrusted. ret: given, module_info_free(). Errors: E_PARSE, -ENOMEM. */
int module_info_decode(struct str bytes, struct module_info **ret, struct err *err);
/* A deep copy, independent of `info`. */
int module_info_copy(const struct module_info *info, struct module_info **ret, struct err *err);
void module_info_free(struct module_info *info);
DEFINE_SCOPED(module_info, module_info_free)
