/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commands of the program dormouse-lab. dormouse lists them and starts dormouse-lab for them;
 * both programs take name, arguments and line of help from here. The options and the rest of the
 * help are in dormouse-lab.
 */
#pragma once

#define LAB_PROGRAM "dormouse-lab"

#define LAB_OPERATOR_TEST                                                                          \
    .name = "operator test", .args = "[DIR [FILE...]]",                                            \
    .doc = "run an operator's tests: each with a cluster and a clock of its own"
#define LAB_SCHEDULER_SIMULATE                                                                     \
    .name = "scheduler simulate", .doc = "place pods on nodes without a cluster"
#define LAB_NODES_SIMULATE                                                                         \
    .name = "nodes simulate", .doc = "add simulated nodes, whose pods run as soon as they are "    \
                                     "bound"
#define LAB_REPLAY                                                                                 \
    .name = "replay", .args = "TRACE_DIR",                                                         \
    .doc = "replay recorded load of functions against policies, in virtual time"
#define LAB_IMAGE_REPLAY                                                                           \
    .name = "image replay", .args = "[TRACE.csv]",                                                 \
    .doc = "requests for images against layer caches, in virtual time"
