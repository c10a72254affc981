/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One file of `dormouse operator test`: objects that are there before, and steps. What they may be
 * is said in docs/operator-test.md.
 */
#pragma once

#include "lab/node/testbed.h"

enum { TEST_FILE_MAX_BYTES = 4 << 20 };

struct test_project {
    const char *dir;    /* with the module and the manifests */
    const char *module; /* its file name below dir */
    bool update;        /* write what is recorded instead of comparing with it */
};

/*
 * Run one file against a new cluster in data_dir. Returns 0 when all is as it should be; else a
 * negative code and why, with step and line.
 */
int operator_test_file_run(const struct test_project *project, const char *path,
                           const char *data_dir, unsigned *ret_steps, struct buf *why);
