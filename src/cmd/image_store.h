/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands that use the node store share: where it is, and how results are printed. */
#pragma once

#include "cmd/cmd.h"
#include "oci/store.h"

#include <stdio.h>

struct image_store_args {
    const char *store, *output;
    uint64_t wait_ms;
};

#define IMAGE_STORE_OPT(to)                                                                        \
    {                                                                                              \
        "store", 0, "DIR", "of the images ($DORMOUSE_IMAGE_STORE; images/ in the data directory)", \
            CMD_STRING, &(to), 0, 0                                                                \
    }
#define IMAGE_STORE_WAIT_OPT(to)                                                                   \
    {                                                                                              \
        "wait", 0, "DURATION", "for another process that writes the store (0s)", CMD_DURATION,     \
            &(to), 0, 0                                                                            \
    }
#define IMAGE_STORE_OUTPUT_OPT(to)                                                                 \
    {                                                                                              \
        "output", 'o', "FORMAT", "table, json or name (table)", CMD_STRING, &(to), 0, 0            \
    }

enum image_store_output { IMAGE_STORE_TABLE, IMAGE_STORE_JSON, IMAGE_STORE_NAME };
/* 0, or the cmd_exit of a wrong word, with its message printed. */
int image_store_output(const char *word, enum image_store_output *ret);

/* Given, free(). */
char *image_store_dir(const char *given);
/* Errors: those of oci_store_open(); of a reader -ENOENT with what to do. */
int image_store_open(const char *given, struct oci_store_opts opts, struct oci_store **ret,
                     struct err *err);
/* Empty the trash, then close. */
void image_store_close(struct oci_store *s);
static inline void image_store_close_scoped(struct oci_store **s)
{
    image_store_close(*s);
}

struct json;
void image_store_print_json(const struct json *v);
/* A text that others wrote, on a line of its own. */
void image_store_print_name(struct str name);
