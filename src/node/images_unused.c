/* SPDX-License-Identifier: Apache-2.0 */
#include "node/images_unused.h"

#include "base/log.h"
#include "base/mem.h"
#include "codec/json.h"
#include "node/images.h"
#include "node/images_known.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------- removing */

struct images_pruning {
    struct images_job job;
    struct container_images_prune *call; /* NULL: cancelled */
};

static uint64_t count_of(const struct json *result, const char *key)
{
    return (uint64_t)MAX(json_int_or(json_getc(result, key), 0), (int64_t)0);
}

static void on_pruned(struct images_job *j, int r, const struct json *result, const struct err *err)
{
    struct images_pruning *p = container_of(j, struct images_pruning, job);
    struct container_images_prune *c = p->call;
    uint64_t n = count_of(result, "images"), n_bytes = count_of(result, "bytes");
    free(p);
    if (r >= 0 && n > 0)
        log_info("unused images were removed", "images=%" PRIu64 " bytes=%" PRIu64, n, n_bytes);
    if (!c)
        return;
    c->data = NULL;
    c->on_done(c, r, n, n_bytes, err);
}

void images_prune(void *arg, uint64_t bytes, uint64_t min_age_ms, struct container_images_prune *c)
{
    char job[128];
    struct images_pruning *p = xnew(struct images_pruning);
    p->job.on_done = on_pruned;
    p->call = c;
    c->data = p;
    (void)snprintf(job, sizeof job,
                   "{\"do\":\"prune\",\"bytes\":%" PRIu64 ",\"minAgeSeconds\":%" PRIu64 "}",
                   MIN(bytes, (uint64_t)INT64_MAX), min_age_ms / 1000);
    images_do(arg, job, &p->job);
}

void images_prune_cancel(void *arg, struct container_images_prune *c)
{
    struct images_pruning *p = take_ptr(&c->data);
    (void)arg;
    if (!p)
        return;
    images_cancel_job(&p->job);
    free(p);
}

/* ---------------------------------------------------------------- the list */

struct images_list {
    struct loop *loop;
    struct node_images *images;
    const char *store;
    void (*on_change)(void *arg);
    void *arg;
    struct timer timer;
    struct images_job job;
    struct images_stamp asked, stamp; /* of the answer that is awaited, and of what is here */
    bool wants_look;                  /* after the answer */
    struct arena arena;
    struct registration_image *list;
    size_t n;
};

static void on_timer(struct timer *t);

static void wait_for_next(struct images_list *l)
{
    timer_start(l->loop, &l->timer, l->wants_look ? IMAGES_LIST_SOON_MS : IMAGES_LIST_LOOK_MS,
                on_timer);
    l->wants_look = false;
}

static void take_image(struct images_list *l, const struct json *v)
{
    struct registration_image *to = &l->list[l->n++];
    struct str *names = arena_new_n(&l->arena, struct str, REGISTRATION_IMAGE_NAMES_MAX);
    size_t n = 0;
    json_each (name, json_getc(v, "names")) {
        if (n < REGISTRATION_IMAGE_NAMES_MAX)
            names[n++] = str_copy_arena(&l->arena, json_str(name));
    }
    *to = (struct registration_image){ .names = names,
                                       .n_names = n,
                                       .size_bytes = count_of(v, "bytes") };
}

static void on_list(struct images_job *j, int r, const struct json *result, const struct err *err)
{
    struct images_list *l = container_of(j, struct images_list, job);
    if (r < 0) {
        log_warn("the images of the node are not known", "error=\"%s\"", err_text(err));
        wait_for_next(l);
        return;
    }
    arena_reset(&l->arena);
    l->n = 0;
    l->stamp = l->asked;
    l->list = arena_new_n(&l->arena, struct registration_image, REGISTRATION_IMAGES_MAX);
    json_each (v, json_getc(result, "images")) {
        if (l->n < REGISTRATION_IMAGES_MAX)
            take_image(l, v);
    }
    wait_for_next(l);
    l->on_change(l->arg);
}

static void on_timer(struct timer *t)
{
    struct images_list *l = container_of(t, struct images_list, timer);
    l->asked = images_stamp_now(l->store);
    if (l->asked.ns == l->stamp.ns && l->asked.inode == l->stamp.inode)
        wait_for_next(l); /* also where there is no store yet */
    else
        images_do(l->images, "{\"do\":\"images\"}", &l->job);
}

struct images_list *images_list_new(struct loop *loop, struct node_images *images,
                                    const char *store, void (*on_change)(void *arg), void *arg)
{
    struct images_list *l = xnew(struct images_list);
    *l = (struct images_list){ .loop = loop,
                               .images = images,
                               .store = store,
                               .on_change = on_change,
                               .arg = arg,
                               .job = { .on_done = on_list } };
    images_list_look(l);
    return l;
}

void images_list_free(struct images_list *l)
{
    if (!l)
        return;
    timer_stop(l->loop, &l->timer);
    images_cancel_job(&l->job);
    arena_fini(&l->arena);
    free(l);
}

void images_list_look(struct images_list *l)
{
    l->wants_look = true;
    if (!l->job.data)
        wait_for_next(l);
}

size_t images_list_get(const struct images_list *l, const struct registration_image **ret)
{
    *ret = l->list;
    return l->n;
}
