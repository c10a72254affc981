/* SPDX-License-Identifier: Apache-2.0 */
#include "node/images_text.h"

#include "base/buf.h"
#include "image/provide.h"

/* The registries that a request may ask. */
static void add_site(const struct provide_site *site, bool is_listed_only, struct arena *a,
                     struct json *to)
{
    struct json *hosts = json_new_array(a), *plain = json_new_array(a);
    for (size_t i = 0; i < site->n_hosts; i++)
        json_add(hosts, json_new_cstr(a, site->hosts[i]));
    if (site->n_hosts == 0 && is_listed_only)
        json_add(hosts, json_new_cstr(a, "none.invalid"));
    for (size_t i = 0; i < site->n_plain_hosts; i++)
        json_add(plain, json_new_str(a, site->plain_hosts[i]));
    json_setc(a, to, "hosts", hosts);
    json_setc(a, to, "plainHosts", plain);
    if (site->ca_file)
        json_set_str(a, to, "ca", str_of(site->ca_file));
}

char *images_text_get(const struct images_opts *o, const char *lease,
                      const struct container_image_want *want)
{
    static const char *const policies[] = { [CONTAINER_PULL_IF_NOT_PRESENT] = "IfNotPresent",
                                            [CONTAINER_PULL_ALWAYS] = "Always",
                                            [CONTAINER_PULL_NEVER] = "Never" };
    struct arena a = { 0 };
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(IMAGES_TEXT_MAX);
    struct json *v = json_new_object(&a), *auths = json_new_array(&a);
    json_set_str(&a, v, "reference", want->reference);
    json_set_str(&a, v, "tenant", want->tenant);
    json_set_str(&a, v, "policy", str_of(policies[want->policy]));
    json_set_str(&a, v, "lease", str_of(lease));
    add_site(o->site, want->is_listed_only, &a, v);
    if (want->is_mounted)
        json_set_bool(&a, v, "mounted", true);
    for (size_t i = 0; i < want->n_auths && i < PROVIDE_AUTHS_MAX; i++)
        json_add(auths, json_new_str(&a, want->auths[i]));
    json_setc(&a, v, "auths", auths);
    (void)json_write(&text, v);
    arena_fini(&a);
    size_t n;
    return buf_ok(&text) ? buf_take(&text, &n) : NULL;
}
