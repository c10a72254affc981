/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of the module cache. Everything here blocks and belongs on a worker thread, except
 * where said; a struct module_store does not change after module_store_open(), so any thread may
 * use it.
 *
 *     <dir>/<sha256 of the Wasm>.<environment>[.n][.q].code   machine code, mapped by runners
 *                                                     .info   what it is, and its hash; without
 *                                                             this file an entry does not exist
 *
 * environment: 16 hex digits of a hash over engine build, engine configuration and instruction set.
 * n: with names. q: quick code, which is made before the optimized code. Files are renamed into
 * place and never changed: a runner may have them mapped. The modification time of .info is when
 * the entry was used last (module_store_touch()): a process that makes room removes the oldest
 * entries first.
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

/* What an entry is found by. No padding: it serves as the key of a map. */
struct module_id {
    uint8_t sha256[SHA256_BYTES]; /* of the Wasm bytes */
    uint8_t flags;
};
_Static_assert(sizeof(struct module_id) == SHA256_BYTES + 1, "no padding");

struct module_key {
    struct module_id id;
    uint64_t wasm_bytes;
};

/* Tells whether a file is still the same, without reading it. */
struct file_id {
    dev_t dev;
    ino_t ino;
    off_t bytes;
    struct timespec mtime;
};

bool file_id_eq(const struct file_id *a, const struct file_id *b);

struct module_entry {
    struct module_info *info;
    struct file_id code;
    bool is_final; /* quick code that stays: the optimizing compiler refused the module */
};

/* Main thread. Makes `dir` if it is missing. Errors: -EACCES if others may write there, of open(2).
 */
int module_store_open(struct module_store *s, const char *dir, struct err *err);
void module_store_fini(struct module_store *s);

/* Reads all of `fd`, from offset 0. Errors: E_LIMIT, -EINVAL not a regular file, of read(2). */
int module_key_of(int fd, unsigned flags, struct module_key *ret, struct err *err);

/* A private copy of the file that `key` was made of: a read-only descriptor (given) of a file
 * without a name in the directory, so no other process can change it. Errors: E_CONFLICT if the
 * file has changed since. */
int module_copy_wasm(const struct module_store *s, int fd, const struct module_key *key,
                     struct err *err);

/*
 * Find an entry and verify it by its hash. ret->info: given, module_info_free().
 * Errors: -ENOENT; E_CORRUPT if it is damaged, of another build, or not what its name says.
 */
int module_store_load(const struct module_store *s, const struct module_key *key,
                      struct module_entry *ret, struct err *err);

/* A new file to write code to; `name` tells module_store_add() or module_store_drop_temp(). Returns
 * a descriptor (given). */
#define MODULE_TEMP_NAME_SIZE 32
int module_store_temp(const struct module_store *s, char name[MODULE_TEMP_NAME_SIZE],
                      struct err *err);
void module_store_drop_temp(const struct module_store *s, const char *name);

/*
 * Make code and description, which dormouse-compile wrote, an entry. `info_fd` is read from offset
 * 0. Takes the temporary file, also on failure. ret->info: given.
 */
int module_store_add(const struct module_store *s, const struct module_key *key, int code_fd,
                     const char *temp_name, int info_fd, struct module_entry *ret, struct err *err);

/* Record for later processes that the optimizing compiler refused this module. The entry is quick
 * code. */
int module_store_keep_quick(const struct module_store *s, const struct module_key *key,
                            struct err *err);
/* Record that the entry is in use now. */
void module_store_touch(const struct module_store *s, const struct module_id *id);

/* Any thread; does not block for long. Open verified code read-only; E_EXPIRED if it is another
 * file. */
int module_store_open_code(const struct module_store *s, const struct module_id *id,
                           const struct file_id *code, struct err *err);

struct module_file {
    struct module_id id;
    uint64_t bytes;
    int64_t used_ns; /* wall clock */
};
struct module_files {
    struct module_file *p; /* free() */
    size_t n, cap;
};

/* What is there, the least recently used first; removes what other builds and crashes left behind.
 */
int module_store_sweep(const struct module_store *s, struct module_files *ret, struct err *err);
/* Main thread: two unlinks. */
void module_store_remove(const struct module_store *s, const struct module_id *id);
