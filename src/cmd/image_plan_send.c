/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse image plan --send: the BDM of a plan to its node, then its outcome. */
#include "cmd/image_plan_send.h"

#include "base/clock.h"
#include "base/sys.h"
#include "cmd/image_store.h"
#include "image/bdm_send.h"

#include <errno.h>
#include <fcntl.h>

enum { PEM_MAX = 1 << 20, POLL_MS = 200 };

struct sender {
    const struct image_plan_send *o;
    const char *node;
    bool is_over;
    int r;
    struct err err;
};

static void print_outcome(const struct sender *s, const struct json *v)
{
    if (s->o->is_json) {
        image_store_print_json(v);
        return;
    }
    struct str why = json_get_str(v, "error");
    (void)printf("\n%s on %s: %lld of %lld layers, %lld of them there before, %lld bytes from "
                 "nodes (%lld pushed), %lld from the registry\n",
                 str_is(json_get_str(v, "state"), "done") ? "deployed" : "failed", s->node,
                 (long long)json_int_or(json_getc(v, "layersDone"), 0),
                 (long long)json_int_or(json_getc(v, "layers"), 0),
                 (long long)json_int_or(json_getc(v, "layersPresent"), 0),
                 (long long)json_int_or(json_getc(v, "peerBytes"), 0),
                 (long long)json_int_or(json_getc(v, "pushedBytes"), 0),
                 (long long)json_int_or(json_getc(v, "registryBytes"), 0));
    if (why.n)
        image_store_print_name(why);
    json_each (l, json_getc(v, "liars"))
        (void)printf("wrong bytes came from " STR_FMT "\n", STR_ARG(json_str(l)));
}

static void on_end(void *arg, int r, const struct json *outcome, const struct err *err)
{
    struct sender *s = arg;
    s->is_over = true;
    s->r = r;
    if (r < 0)
        s->err = *err;
    else
        print_outcome(s, outcome);
}

/* What the store here has of the image, if there is one; else the node asks the registry. */
static struct str stored_text(const struct image_plan_send *o, const struct oci_digest *d,
                              struct arena *a)
{
    scoped(oci_store_close_scoped) struct oci_store *store = NULL;
    const struct oci_store_opts so = { .is_reader = true };
    struct str text = STR("");
    if (image_store_open(o->store, so, &store, NULL) < 0)
        return STR("");
    return oci_store_document(store, d, a, &text, NULL) < 0 ? STR("") : text;
}

static int send_it(struct sender *s, struct loop *loop, const struct image_cluster_file *f,
                   const struct image_tasks *tasks, struct tls_ctx **tls, struct err *err)
{
    struct arena a = { 0 };
    struct image_bdm_send *sent;
    scoped(buf_fini_scoped) struct buf ca = BUF_INIT(PEM_MAX);
    scoped(buf_fini_scoped) struct buf key = BUF_INIT(IMAGE_BDM_KEY_MAX_BYTES);
    struct str url = f->node_urls[f->o.node];
    int r = image_bdm_key_read(s->o->key_file, &key, err);
    if (r >= 0 && !url.n)
        r = err_set(err, E_INVALID, "node '%s' has no url in the file", s->node);
    if (r >= 0 && s->o->peer_ca)
        r = sys_read_file(AT_FDCWD, s->o->peer_ca, &ca, err);
    struct image_bdm_send_opts o = { .loop = loop,
                                     .plan = { .file = f,
                                               .tasks = tasks,
                                               .key = buf_str(&key),
                                               .deadline_ms = s->o->deadline_ms,
                                               .is_push = s->o->is_push,
                                               .wall_s = clock_wall_ms() / 1000 },
                                     .poll_ms = POLL_MS,
                                     .on_end = on_end,
                                     .arg = s };
    if (r >= 0 && image_bdm_send_wants_tls(&o.plan))
        r = tls_ctx_new_client(buf_str(&ca), STR(""), STR(""), false, tls, err);
    if (r >= 0) {
        o.tls = *tls;
        o.manifest_text = stored_text(s->o, &f->manifest, &a);
        o.config_text = stored_text(s->o, &f->config, &a);
        r = image_bdm_send_start(&o, &sent, err);
    }
    arena_fini(&a);
    while (r >= 0 && !s->is_over)
        (void)loop_turn(loop, true);
    if (r >= 0 && s->r < 0)
        *err = s->err;
    return r < 0 ? r : s->r;
}

int image_plan_send(const struct image_plan_send *o, const struct image_cluster_file *f,
                    const struct image_tasks *tasks)
{
    struct err err = { 0 };
    struct loop loop;
    struct tls_ctx *tls = NULL;
    scoped(free_scoped) char *node = str_dup(f->node_names[f->o.node]);
    struct sender s = { .o = o, .node = node };
    int r = loop_init(&loop, &err);
    if (r < 0)
        return cmd_fail(CMD_FAILED, &err);
    r = send_it(&s, &loop, f, tasks, &tls, &err);
    loop_run(&loop);
    loop_fini(&loop);
    tls_ctx_free(tls);
    if (r < 0)
        return cmd_fail(r == -ECONNREFUSED ? CMD_UNAVAILABLE : CMD_FAILED, &err);
    return r > 0 ? CMD_OK : CMD_FAILED;
}
