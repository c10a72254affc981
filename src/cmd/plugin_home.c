/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/plugin_home.h"

#include "base/sys.h"
#include "cmd/cmd.h"
#include "cmd/host_opts.h"
#include "guest/module.h"
#include "modules/module_reference.h"

static int open_cache(struct plugin_home *h, const char *data_dir, struct err *err)
{
    scoped(free_scoped) char *own = cmd_server_data_dir(data_dir);
    scoped(free_scoped) char *dir = xasprintf("%s/modules", own);
    int r = sys_mkdir_all(own, 0700, err);
    if (r < 0)
        return r;
    scoped(free_scoped) char *plugins = xasprintf("%s/plugins", own);
    const struct module_cache_config config = { .dir = dir };
    const struct module_references_opts references = { .loop = &h->loop,
                                                       .dir = plugins,
                                                       .site = cmd_registry_site() };
    h->references = module_references_new(&references);
    return module_cache_new(&h->loop, &config, &h->cache, err);
}

int plugin_home_init(struct plugin_home *h, const char *data_dir, struct err *err)
{
    *h = (struct plugin_home){ 0 };
    int r = loop_init(&h->loop, err);
    if (r < 0)
        return r;
    r = open_cache(h, data_dir, err);
    if (r < 0) {
        module_references_free(h->references);
        loop_fini(&h->loop);
        return r;
    }
    h->host = wplugin_host_new(&h->loop, h->cache, h->references);
    return 0;
}

static void on_closed(void *arg)
{
    ((struct plugin_home *)arg)->is_closed = true;
}

void plugin_home_fini(struct plugin_home *h)
{
    while (loop_turn(&h->loop, false)) /* plugins that are on their way out */
        ;
    wplugin_host_free(h->host);
    module_references_free(h->references);
    module_cache_close(h->cache, on_closed, h);
    while (!h->is_closed)
        (void)loop_turn(&h->loop, true);
    while (loop_turn(&h->loop, false))
        ;
    loop_fini(&h->loop);
}
