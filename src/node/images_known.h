/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers of the process that provides images (images.h) which hold as long as the names of the
 * store do not change: a request that is made again while its image is still leased needs no
 * process. A change of any name, by whichever process, forgets all.
 */
#pragma once

#include "base/map.h"
#include "base/str.h"

#include <stdbool.h>

enum { IMAGES_KNOWN_MAX = 256 /* answers; more begin anew */ };

/* When a name of the store was last changed; zeroed: unknown, which equals nothing. */
struct images_stamp {
    uint64_t ns, inode;
};

struct images_known { /* zeroed: empty */
    struct map dirs;  /* text of the request -> directory of the image */
    struct images_stamp at;
};

struct images_stamp images_stamp_now(const char *store);
/* The answer to the request of `text`, which was made at `asked`, has come. */
void images_known_add(struct images_known *k, const char *store, struct images_stamp asked,
                      struct str text, const char *dir);
/* The directory, until the next call; NULL: nothing is known. */
const char *images_known_find(struct images_known *k, const char *store, struct str text);
void images_known_fini(struct images_known *k);
