/* SPDX-License-Identifier: Apache-2.0 */
/* What scheduler plugins need to run in a command: a loop, compiled modules, a host. */
#pragma once

#include "io/loop.h"
#include "sched/wasm/plugin.h"

struct plugin_home {
    struct loop loop;
    struct module_cache *cache;
    struct module_references *references;
    struct wplugin_host *host;
    bool is_closed;
};

/* data_dir: whose modules/ has compiled plugins and whose plugins/ those of registries, made when
 * missing; NULL: the default one. Registries are reached as CMD_REGISTRY_OPTS say. Stays where it
 * is until plugin_home_fini(). */
int plugin_home_init(struct plugin_home *h, const char *data_dir, struct err *err);
/* Plugins have been freed. */
void plugin_home_fini(struct plugin_home *h);
