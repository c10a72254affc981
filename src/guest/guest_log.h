/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Log lines of operators and functions, kept on disk for `dormouse operator logs` and `dormouse fn
 * logs`: each has one file of JSON lines and the previous file, and nothing of them is held in
 * memory.
 *
 *     DIR/NAMESPACE/NAME.log, NAME.log.1      ("_" for operators without a namespace)
 *
 * A line is {"time", "level", "message"} and what the host adds (operators: "controller", "key",
 * "reconcile"; functions: "revision", "sandbox", "call", "stream"), then the guest's own keys as
 * "fields". A full disk loses lines and nothing else: they are counted, and the next line that is
 * written reports the count.
 *
 * Loop thread only. Writing blocks on the page cache alone.
 */
#pragma once

#include "base/err.h"
#include "base/log.h"
#include "base/token_bucket.h"

enum {
    GUEST_LOG_FILE_MAX = 1 << 20, /* bytes; then it becomes NAME.log.1 */
    GUEST_LOG_LINE_MAX = 16 << 10,
    GUEST_LOG_LINES_PER_S = 200, /* of one guest, */
    GUEST_LOG_LINES_BURST = 1000 /* after silence */
};

/* Whether one more line may be logged at this rate. The caller counts the lines that may not. */
bool guest_log_allows(struct token_bucket *lines, uint32_t per_s, uint32_t burst);

struct guest_logs;

/* dir: created with mode 0700 when the first line is written; copied. Never fails. */
struct guest_logs *guest_logs_new(const char *dir);
void guest_logs_free(struct guest_logs *logs);

struct guest_log_line {
    enum log_level level;
    struct str message;    /* any bytes; invalid UTF-8 is replaced */
    struct str controller; /* "": omitted, as the next two */
    struct str key;        /* "namespace/name" */
    struct str reconcile;  /* id of the activation, as in the host's log */
    struct str fields;     /* a JSON object, or "" */
    struct str call;       /* id of a function's call */
    struct str stream;     /* "stdout", "stderr" */
    uint64_t sandbox;      /* 0: omitted, as the next one */
    uint32_t revision;
};
/* logs NULL: does nothing. `fields` that is not a JSON object is stored as text. */
void guest_log_add(struct guest_logs *logs, const char *namespace, const char *name,
                   const struct guest_log_line *line);
/* The operator was deleted: remove its files. */
void guest_log_remove(struct guest_logs *logs, const char *namespace, const char *name);

/*
 * Path of an operator's file below dir; old: of the previous file. Bytes of the names that are not
 * [A-Za-z0-9._-], and a leading dot, are written as %XX. Given, free().
 */
char *guest_log_path(const char *dir, const char *namespace, const char *name, bool old);
const char *guest_log_level_name(enum log_level level);
