/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time zones of the TZ database: the files below /usr/share/zoneinfo (RFC 9636), and the rule in
 * their footer (a POSIX TZ string) for times after their last transition. The C library is not used
 * for this, since it has one zone per process.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

struct zone;

enum { ZONE_FILE_MAX_BYTES = 256 << 10, ZONE_NAME_MAX = 64 };

/*
 * Blocks while it reads a small file. name "" and "UTC": NULL, which all functions treat as UTC.
 * E_INVALID: the zone does not exist, or its file is invalid.
 */
int zone_load(const char *dir, struct str name, struct zone **ret, struct err *err);
/* The bytes of such a file. E_PARSE. */
int zone_parse(struct str bytes, struct zone **ret, struct err *err);
void zone_free(struct zone *z);
/* Seconds that local time is ahead of UTC at that moment. */
int32_t zone_offset(const struct zone *z, int64_t utc_s);

struct civil {
    int64_t year;
    unsigned month, day, weekday; /* 1.., 1.., 0 is Sunday */
    unsigned hour, minute, second;
};
/* Of the proleptic Gregorian calendar; seconds in UTC. */
struct civil zone_civil_of(int64_t s);
int64_t zone_civil_days(int64_t year, unsigned month, unsigned day); /* since 1970-01-01 */
