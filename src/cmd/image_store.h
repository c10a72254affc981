/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands that use the node store share: where it is, and how results are printed. */
#pragma once

#include "cmd/cmd.h"
#include "image/store_do.h"

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
        "wait", 0, "DURATION", "how long to wait for another process that writes the store (0s)",  \
            CMD_DURATION, &(to), 0, 0                                                              \
    }
#define IMAGE_STORE_QUOTA_OPTS(quota, policy)                                                      \
    { "quota",                                                                                     \
      0,                                                                                           \
      "SIZE",                                                                                      \
      "maximum size of the layers in the store; the policy decides which are evicted (none)",      \
      CMD_SIZE,                                                                                    \
      &(quota),                                                                                    \
      0,                                                                                           \
      0 },                                                                                         \
    {                                                                                              \
        "policy", 0, "NAME", "which layers are evicted first: arc, lru or lfu (arc)", CMD_STRING,  \
            &(policy), 0, 0                                                                        \
    }
#define IMAGE_STORE_OUTPUT_OPT(to)                                                                 \
    {                                                                                              \
        "output", 'o', "FORMAT", "table, json or name (table)", CMD_STRING, &(to), 0, 0            \
    }

#define IMAGE_TEXT_OUTPUT_OPT(to)                                                                  \
    {                                                                                              \
        "output", 'o', "FORMAT", "text or json (text)", CMD_STRING, &(to), 0, 0                    \
    }

enum image_store_output { IMAGE_STORE_TABLE, IMAGE_STORE_JSON, IMAGE_STORE_NAME };
/* 0, or the cmd_exit of a wrong word, with its message printed. */
int image_store_output(const char *word, enum image_store_output *ret);
/* The same for commands whose result is not a list: text (also for NULL) or json. */
int image_text_output(const char *word, bool *ret_is_json);

/* Given, free(). */
char *image_store_dir(const char *given);
/* Errors: those of oci_store_open(); of a reader -ENOENT with what to do. */
int image_store_open(const char *given, struct oci_store_opts opts, struct oci_store **ret,
                     struct err *err);
/* With another policy of the layer cache than ARC. */
int image_store_open_with(const char *given, struct oci_store_opts opts,
                          enum image_cache_policy policy, struct oci_store **ret, struct err *err);
/* word: NULL for ARC. 0, or the cmd_exit of a wrong word, with its message printed. */
int image_store_policy(const char *word, enum image_cache_policy *ret);
/* Empty the trash, then close. */
void image_store_close(struct oci_store *s);
static inline void image_store_close_scoped(struct oci_store **s)
{
    image_store_close(*s);
}

/* store_do() with the store that is `given` as --store. */
int image_store_do(const char *given, struct store_do *d, struct arena *a, struct json **ret,
                   struct err *err);

void image_store_print_json(const struct json *v);
/* A text that others wrote, on a line of its own. */
void image_store_print_name(struct str name);
