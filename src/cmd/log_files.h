/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log of one operator or function (guest/guest_log.h): printed as text or as it is, the newest
 * lines of it or the young ones, and followed by inotify. Reads files, so that it works while the
 * server is down. Blocking.
 */
#pragma once

#include "cmd/cmd.h"

struct log_files {
    const char *dir; /* below which the files lie */
    const char *namespace, *name;
    bool json, follow;
    uint64_t tail;     /* only so many of the newest lines; 0: all */
    uint64_t since_ms; /* only lines younger than this; 0: all */
    /* Lines in which this member has this value, as text or number; NULL: all. */
    const char *where_key, *where_value;
    const char
        *missing; /* what to say when there is no log: "operator a/b has logged nothing..." */
};

/* Prints; a cmd_exit. */
int log_files_print(const struct log_files *l);
