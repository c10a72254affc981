/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One file of `dormouse operator test`: initial objects, and steps. docs/operator-test.md is the
 * reference.
 */
#pragma once

#include "lab/node/testbed.h"

enum { TEST_FILE_MAX_BYTES = 4 << 20 };

struct test_project {
    const char *dir;    /* has the module and the manifests */
    const char *module; /* its file name below dir */
    bool update;        /* write the recorded files instead of comparing with them */
};

/*
 * Run one file against a new cluster in data_dir. Returns 0 if the test passes, else a negative
 * code; then `why` has the reason, with step and line.
 */
int operator_test_file_run(const struct test_project *project, const char *path,
                           const char *data_dir, unsigned *ret_steps, struct buf *why);
