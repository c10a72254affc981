/* SPDX-License-Identifier: Apache-2.0 */
/* Comma separated values (RFC 4180), read without copying; a byte order mark is skipped. */
#pragma once

#include "base/mem.h"
#include "base/str.h"

enum { CSV_COLUMNS_MAX = 32768 };

struct csv {
    struct str rest;
    uint32_t line; /* of the last row read, from 1 */
};

struct csv csv_open(struct str text);
/*
 * The fields of the next row that is not empty, at most `max` of them; a quoted field loses its
 * outer quotes, inner quotes stay doubled. Returns their number, 0 at the end.
 * Errors: E_PARSE: a quote that is not closed, or text after a closing one; E_LIMIT: too many
 * fields.
 */
int csv_row(struct csv *c, struct str *ret, size_t max);
