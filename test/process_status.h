/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel says about another process, for tests. */
#pragma once

#include "test.h"

#include "base/str.h"

#include <stdio.h>
#include <string.h>

/* The value of a field of /proc/PID/status, up to the first blank. */
static inline void status_of(int pid, const char *field, char ret[32])
{
    char path[64], line[256];
    (void)snprintf(path, sizeof path, "/proc/%d/status", pid);
    FILE *f = fopen(path, "re");
    CHECK(f);
    *ret = 0;
    while (fgets(line, sizeof line, f))
        if (str_has_prefix(str_of(line), str_of(field)) && line[strlen(field)] == ':')
            (void)snprintf(ret, 32, "%.*s", (int)strcspn(line + strlen(field) + 2, " \t\n"),
                           line + strlen(field) + 2);
    (void)fclose(f);
}

static inline bool has_field(int pid, const char *field, const char *value)
{
    char text[32];
    status_of(pid, field, text);
    if (strcmp(text, value) != 0)
        (void)fprintf(stderr, "%s is %s, not %s\n", field, text, value);
    return strcmp(text, value) == 0;
}
