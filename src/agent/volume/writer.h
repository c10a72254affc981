/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of a ConfigMap, Secret, downward API or projected volume, replaced all at once. The layout
 * is the one that programs in containers know from Kubernetes:
 *
 *     ..2026_01_02_15_04_05.123456789/app.conf   the files
 *     ..data -> ..2026_01_02_15_04_05.123456789  exchanged by rename(2)
 *     app.conf -> ..data/app.conf                what programs open
 *
 * Blocking, any thread; one at a time for a directory.
 */
#pragma once

#include "agent/volume/tree.h"
#include "base/str.h"

enum { VOLUME_PATH_MAX = 4096 };

struct volume_file {
    struct str path; /* relative, clean: volume_path_clean() */
    struct str bytes;
    mode_t mode;
    int64_t uid; /* of the owner; -1: root */
};

/*
 * Whether `path` may be a file of a volume, and its clean form ("a//./b" is "a/b") in the arena:
 * not empty, not absolute, no "..", first name not beginning with "..", names of at most 255 bytes.
 * Errors: E_INVALID with upstream's text.
 */
int volume_path_clean(struct arena *a, struct str path, struct str *ret, struct err *err);

struct volume_payload {
    const struct volume_file *files; /* each path once */
    size_t n;
    const struct volume_ownership *ownership; /* NULL: of root, with the modes of the files */
};

/*
 * Make the directory dir_fd show exactly these files. Nothing changes if they are there already.
 * After an error or a crash the former files are complete and in place, and the next call removes
 * what was left. Returns 1: written, 0: nothing changed.
 */
int volume_writer_write(int dir_fd, const struct volume_payload *payload, struct err *err);
