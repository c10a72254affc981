/* SPDX-License-Identifier: Apache-2.0 */
#include "node/image_supply.h"

#include "base/sys.h"
#include "modules/module_hosts.h"
#include "node/images.h"
#include "node/images_unused.h"

#include <errno.h>
#include <stdlib.h>

struct image_supply {
    struct image_supply_opts opts;
    char *store, *lazy_dir;
    struct provide_site site;
    struct node_images *images;
    struct image_node *node;  /* NULL: images are not shared */
    struct images_list *list; /* NULL: nobody follows */
    void (*done)(void *arg);
    void *done_arg;
};

static void free_supply(struct image_supply *s)
{
    free(s->store);
    free(s->lazy_dir);
    free(s->site.plain_hosts);
    free(s);
}

static void on_pulled(void *arg)
{
    struct image_supply *s = arg;
    if (s->list)
        images_list_look(s->list);
}

static int open_dir(const struct image_supply_opts *o, char **ret, struct err *err)
{
    const char *env = getenv("DORMOUSE_IMAGE_STORE");
    scoped(free_scoped) char *dir = o->store        ? xstrdup(o->store)
                                    : env && env[0] ? xstrdup(env)
                                                    : xasprintf("%s/images", o->data_dir);
    int r = sys_mkdir_all(dir, 0700, err);
    if (r < 0)
        return r;
    *ret = realpath(dir, NULL);
    return *ret ? 0 : err_sys(err, -errno, "'%s'", dir);
}

/* A path that the next process has, too, whatever its working directory is. Given, free(). */
static char *lazy_dir(const char *data_dir)
{
    scoped(free_scoped) char *real = realpath(data_dir, NULL);
    return xasprintf("%s/lazy", real ? real : data_dir);
}

int image_supply_new(const struct image_supply_opts *opts, struct image_supply **ret,
                     struct err *err)
{
    char *store = NULL;
    int r = module_hosts_check(&(struct module_hosts){ opts->hosts, opts->n_hosts }, err);
    r = r < 0 ? err_ctx(err, r, "--image-registry") : open_dir(opts, &store, err);
    if (r < 0)
        return r;
    struct image_supply *s = xnew(struct image_supply);
    *s = (struct image_supply){
        .opts = *opts,
        .store = store,
        .lazy_dir = lazy_dir(opts->data_dir),
        .site = { .hosts = opts->hosts,
                  .n_hosts = opts->n_hosts,
                  .ca_file = opts->ca_file,
                  .plain_hosts = xnew_n(struct str, opts->n_plain_hosts + 1),
                  .n_plain_hosts = opts->n_plain_hosts },
    };
    for (size_t i = 0; i < opts->n_plain_hosts; i++)
        s->site.plain_hosts[i] = str_of(opts->plain_hosts[i]);
    s->images = images_new(&(struct images_opts){ .loop = opts->loop,
                                                  .store = s->store,
                                                  .owner = opts->data_dir,
                                                  .site = &s->site,
                                                  .lazy_dir = s->lazy_dir,
                                                  .keep_ms = IMAGE_SUPPLY_KEEP_MS,
                                                  .on_pulled = on_pulled,
                                                  .arg = s });
    *ret = s;
    return 0;
}

struct container_images image_supply_interface(struct image_supply *s)
{
    return images_interface(s->images);
}

const char *image_supply_dir(const struct image_supply *s)
{
    return s->store;
}

void image_supply_follow(struct image_supply *s, void (*on_list)(void *arg), void *arg)
{
    assert(!s->list);
    s->list = images_list_new(s->opts.loop, s->images, s->store, on_list, arg);
}

void image_supply_unfollow(struct image_supply *s)
{
    images_list_free(take_ptr(&s->list));
}

size_t image_supply_list(const struct image_supply *s, const struct registration_image **ret)
{
    return s->list ? images_list_get(s->list, ret) : 0;
}

void image_supply_changed(struct image_supply *s)
{
    on_pulled(s);
    if (s->node)
        image_node_changed(s->node);
}

void image_supply_share(struct image_supply *s, const struct image_node_opts *opts)
{
    struct image_node_opts o = *opts;
    o.loop = s->opts.loop;
    o.store = s->store;
    o.site = &s->site;
    s->node = image_node_start(&o);
    images_set_node(s->images, s->node);
}

void image_supply_set_cert(struct image_supply *s, struct str cert_pem, struct str key_pem)
{
    if (s->node)
        image_node_set_cert(s->node, cert_pem, key_pem);
}

static void on_node_closed(void *arg)
{
    struct image_supply *s = arg;
    void (*done)(void *) = s->done;
    void *done_arg = s->done_arg;
    free_supply(s);
    done(done_arg);
}

static void on_images_closed(void *arg)
{
    struct image_supply *s = arg;
    if (s->node)
        image_node_close(take_ptr(&s->node), on_node_closed, s);
    else
        on_node_closed(s);
}

void image_supply_close(struct image_supply *s, void (*done)(void *arg), void *arg)
{
    assert(!s->list);
    s->done = done;
    s->done_arg = arg;
    images_close(take_ptr(&s->images), on_images_closed, s);
}
