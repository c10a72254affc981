/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commands in the order in which --help shows them. Each is defined in the file named after it,
 * those that dormouse-lab runs in lab.c.
 */
#pragma once

#include "cmd/cmd.h"

#define COMMANDS                                                                                   \
    &cmd_up, &cmd_join, &cmd_api, &cmd_operator_init, &cmd_operator_build, &cmd_operator_test,     \
        &cmd_operator_run, &cmd_operator_describe, &cmd_operator_logs, &cmd_fn_init,               \
        &cmd_fn_build, &cmd_fn_deploy, &cmd_fn_call, &cmd_fn_list, &cmd_fn_logs, &cmd_fn_rollback, \
        &cmd_fn_delete, &cmd_fn_top, &cmd_fn_controlplane, &cmd_fn_gateway, &cmd_fn_worker,        \
        &cmd_scheduler, &cmd_scheduler_init, &cmd_scheduler_build, &cmd_scheduler_explain,         \
        &cmd_scheduler_simulate, &cmd_scheduler_call, &cmd_node_shutdown, &cmd_nodes_simulate,     \
        &cmd_replay, &cmd_image_pull, &cmd_image_push, &cmd_image_delta, &cmd_image_ls,            \
        &cmd_image_inspect, &cmd_image_diff, &cmd_image_unpack, &cmd_image_mount,                  \
        &cmd_image_umount, &cmd_image_run, &cmd_image_plan, &cmd_image_replay, &cmd_image_tag,     \
        &cmd_image_rm, &cmd_image_pin, &cmd_image_unpin, &cmd_image_gc, &cmd_image_check,          \
        &cmd_image_refactor, &cmd_image_groups, &cmd_image_optimize, &cmd_image_serve,             \
        &cmd_image_snapshotter, &cmd_module_push, &cmd_guests, &cmd_top, &cmd_trace,               \
        &cmd_kubeconfig, &cmd_token_create, &cmd_token_list, &cmd_token_delete, &cmd_store_check,  \
        &cmd_manifest_operator, &cmd_manifest_fn, &cmd_manifest_scheduler, &cmd_version,
