/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of the module cache. Every function blocks and must run on a worker thread, unless its
 * comment says otherwise. A struct module_store does not change after module_store_open(), so any
 * thread may use it.
 *
 *     <dir>/<sha256 of the Wasm>.<environment>[.n][.q].code   machine code, mapped by runners
 *                                                     .info   description and hash; without
 *                                                             this file an entry does not exist
 *
 * environment: 16 hex digits of a hash over engine build, engine configuration and instruction set.
 * n: with names. q: quick code, made before the optimized code. Files are renamed into place and
 * never changed: a runner may have them mapped. The modification time of .info is when the entry
 * was used last (module_store_touch()): a process that makes room removes the oldest entries first.
 */
#pragma once

#include "base/vec.h"
#include "codec/digest.h"
#include "wasm/module_info.h"

#include <sys/stat.h>

struct module_store {
    int dir_fd;
    char environment[17];
};

enum module_id_flags {
    MODULE_ID_NAMES = 1 << 0,
    MODULE_ID_QUICK = 1 << 1,
};

/* The key of an entry. No padding, so that its bytes serve as the key of a map. */
struct module_id {
    uint8_t sha256[SHA256_BYTES]; /* of the Wasm bytes */
    uint8_t flags;
};
_Static_assert(sizeof(struct module_id) == SHA256_BYTES + 1, "no padding");

struct module_key {
    struct module_id id;
    uint64_t wasm_bytes;
};

/* Identifies a file's version, so that a change is noticed without reading it. */
struct module_file_id {
    dev_t dev;
    ino_t ino;
    off_t bytes;
    struct timespec mtime;
};

bool module_file_id_eq(const struct module_file_id *a, const struct module_file_id *b);

struct module_entry {
    struct module_info *info;
    struct module_file_id code;
    bool is_final; /* quick code that stays because the optimizing compiler refused the module */
};

/*
 * Main thread. Creates `dir` if it is missing. Errors: -EACCES if other users may write there, of
 * open(2).
 */
int module_store_open(struct module_store *s, const char *dir, struct err *err);
void module_store_fini(struct module_store *s);

/* Reads all of `fd`, from offset 0. Errors: E_LIMIT, -EINVAL not a regular file, of read(2). */
int module_key_of(int fd, unsigned flags, struct module_key *ret, struct err *err);

/*
 * Make a private copy of the file that `key` was computed from: a read-only descriptor (given) of
 * an unnamed file in the directory, which no other process can change. Errors: E_CONFLICT if the
 * file has changed since.
 */
int module_copy_wasm(const struct module_store *s, int fd, const struct module_key *key,
                     struct err *err);

/*
 * Find an entry and verify it by its hash. ret->info: given, module_info_free().
 * Errors: -ENOENT; E_CORRUPT if it is damaged, of another build, or not what its name says.
 */
int module_store_load(const struct module_store *s, const struct module_key *key,
                      struct module_entry *ret, struct err *err);

/*
 * Create a temporary file for code; `name` is for module_store_add() or module_store_drop_temp().
 * Returns a descriptor (given).
 */
#define MODULE_TEMP_NAME_SIZE 32
int module_store_temp(const struct module_store *s, char name[MODULE_TEMP_NAME_SIZE],
                      struct err *err);
void module_store_drop_temp(const struct module_store *s, const char *name);

/*
 * Make an entry of the code and the description that dormouse-compile wrote. `info_fd` is read from
 * offset 0. The temporary file is taken, also on failure. ret->info: given.
 */
int module_store_add(const struct module_store *s, const struct module_key *key, int code_fd,
                     const char *temp_name, int info_fd, struct module_entry *ret, struct err *err);

/* Record for later processes that the optimizing compiler refused this module. The entry is quick
 * code. */
int module_store_keep_quick(const struct module_store *s, const struct module_key *key,
                            struct err *err);
/* Record that the entry is in use now. */
void module_store_touch(const struct module_store *s, const struct module_id *id);

/*
 * Any thread; does not block for long. Open verified code read-only. Errors: E_EXPIRED if the file
 * is no longer the verified one.
 */
int module_store_open_code(const struct module_store *s, const struct module_id *id,
                           const struct module_file_id *code, struct err *err);

struct module_file {
    struct module_id id;
    uint64_t bytes;
    int64_t used_ns; /* wall clock */
};
struct module_files {
    struct module_file *p; /* free() */
    size_t n, cap;
};

/*
 * List the entries, the least recently used first, and remove what other builds and crashes have
 * left.
 */
int module_store_sweep(const struct module_store *s, struct module_files *ret, struct err *err);
/* Main thread: two unlinks. */
void module_store_remove(const struct module_store *s, const struct module_id *id);
