/* SPDX-License-Identifier: Apache-2.0 */
/* The words of `dormouse image refactor`, for a program that will run it. */
#pragma once

/*
 * Are these words ones that it would begin with? argv is reordered. Returns 0 or the cmd_exit of
 * what is wrong, with its message printed. The options stay set: once in a process.
 */
int image_refactor_check_args(int argc, char **argv);
