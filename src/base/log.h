/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Log lines: a fixed message and key=value pairs, on stderr.
 *
 *     log_info("image pulled", "ref=%s bytes=%zu", ref, n);
 *
 * error: an operator must act. warn: dormouse recovered. info: state changes for a timeline. debug:
 * anything.
 * The sink adds time and level and chooses text or JSON; a value with blanks is quoted:
 * "reason=\"%s\"". Secrets and bodies are never logged. Any thread.
 */
#pragma once

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };
enum log_format { LOG_TEXT, LOG_JSON };

/* Set once at start, before threads. Defaults: info, text. */
void log_setup(enum log_level level, enum log_format format);
bool log_is_on(enum log_level level);

/* pairs_fmt: "key=value key2=value2" after formatting, or "". */
void log_write(enum log_level level, const char *message, const char *pairs_fmt, ...)
    __attribute__((format(printf, 3, 4)));

#define log_error(message, ...) log_write(LOG_ERROR, message, __VA_ARGS__)
#define log_warn(message, ...)  log_write(LOG_WARN, message, __VA_ARGS__)
#define log_info(message, ...)  log_write(LOG_INFO, message, __VA_ARGS__)
#define log_debug(message, ...) log_write(LOG_DEBUG, message, __VA_ARGS__)

/*
 * Foreign text (of a guest, a peer, a file), escaped for a quoted value; cut at the size of `out`.
 *
 *     log_info("guest", "line=\"%s\"", log_quote(out, line));
 */
enum { LOG_QUOTE_MAX = 1536 };
const char *log_quote(char out[LOG_QUOTE_MAX], struct str text);

/* For events that repeat: true at most once per interval; *ret_skipped counts the events skipped
 * since. */
struct log_rate {
    uint64_t last_ms;
    uint64_t skipped;
};
bool log_rate_ok(struct log_rate *rate, uint64_t interval_ms, uint64_t *ret_skipped);

/* Print the last lines, debug included, which are kept in memory; for the crash handler. */
void log_dump_ring(int fd);
