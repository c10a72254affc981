/* SPDX-License-Identifier: Apache-2.0 */
/* The programs of this project that are installed beside the running one. */
#pragma once

/* The directory of the running program; "." if /proc does not tell it. Given, free(). */
char *sibling_dir(void);
/*
 * The path of another program: the environment variable `variable` if it is set and not empty, else
 * `name` in sibling_dir(). Given, free().
 */
char *sibling_find(const char *name, const char *variable);
