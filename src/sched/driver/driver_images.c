/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks up the layers of images, on the loop thread: reads the pod's pull secrets as far as the
 * scheduler may, as kubelet would; then asks the registry (oci/lookup.h). A secret that cannot be
 * read is ignored: the registry decides.
 */
#include "sched/driver/driver_impl.h"

#include "client/ask.h"
#include "codec/base64.h"
#include "codec/json.h"
#include "codec/url.h"
#include "modules/module_artifact.h"
#include "modules/pull_secrets.h"
#include "place/break.h"

#include <errno.h>

enum { PREFIX_HEX = 12 };

/* One lookup: for the thread, whose call it owns, or for sched_driver_ask_image(). */
struct asked_image {
    struct list node; /* of d->asking */
    struct sched_driver *d;
    struct driver_call *call; /* NULL: for cb */
    sched_image_cb cb;
    void *arg;
    struct str namespace, secrets; /* from the call's target; secrets: those not read yet */
    struct oci_reference ref;
    struct oci_login login;
    struct defer begin; /* for cb, which must not be called before the function has returned */
    struct client_ask *reading; /* the secret being read; NULL: none */
    struct oci_lookup_call lookup;
};

static void write_layers(const struct oci_lookup_image *image, struct buf *to)
{
    for (size_t i = 0; i < image->n && i < PLACE_BREAK_LAYERS_MAX; i++) {
        char hex[PREFIX_HEX + 1];
        hex_format(image->layers[i].diff_id.bytes, PREFIX_HEX / 2, hex);
        (void)buf_printf(to, "%ssha256:%s=%llu", i ? "," : "", hex,
                         (unsigned long long)image->layers[i].size);
    }
}

static void answer_call(struct driver_call *c, int r, const struct oci_lookup_image *image,
                        const struct err *err)
{
    if (r >= 0)
        write_layers(image, &c->answer);
    c->r = r < 0 ? r : c->answer.failed;
    c->status = 200;
    if (r < 0)
        c->err = *err;
    else if (c->r < 0)
        (void)err_sys(&c->err, c->r, "layers of an image");
    driver_answer(c);
}

/* image: valid if r is 0. */
static void answer_asked(struct asked_image *q, int r, const struct oci_lookup_image *image,
                         const struct err *err)
{
    struct asked_image was = *q;
    assert(q->d->n_asking > 0);
    list_remove(&q->node);
    q->d->n_asking--;
    oci_login_fini(&q->login);
    free(q);
    if (was.call)
        answer_call(was.call, r, image, err);
    else
        was.cb(was.arg, r, image, err);
}

static void finish(struct asked_image *q, int r, const struct oci_lookup_image *image,
                   const struct err *err)
{
    struct sched_driver *d = q->d;
    answer_asked(q, r, image, err);
    driver_continue_stop(d);
}

/* ---- the registry ---- */

static void on_found(struct oci_lookup_call *call, int r, const struct oci_lookup_image *image,
                     const struct err *err)
{
    struct asked_image *q = container_of(call, struct asked_image, lookup);
    finish(q, r, image, err);
}

static enum oci_lookup_reach reach(void *arg, const char *host)
{
    const struct sched_driver *d = arg;
    switch (module_artifact_host(&d->opts.registries->hosts, host)) {
    case MODULE_HOST_DENIED:
        return OCI_LOOKUP_DENIED;
    case MODULE_HOST_PUBLIC:
        return OCI_LOOKUP_PUBLIC;
    case MODULE_HOST_NAMED:
        return OCI_LOOKUP_ANYWHERE;
    }
    return OCI_LOOKUP_DENIED;
}

static bool is_plain(void *arg, const char *host)
{
    const struct sched_driver *d = arg;
    const struct sched_registries *r = d->opts.registries;
    for (size_t i = 0; i < r->n_plain_hosts; i++)
        if (strcmp(r->plain_hosts[i], host) == 0)
            return true;
    return false;
}

static void look_up(struct asked_image *q)
{
    struct sched_driver *d = q->d;
    struct err err = { 0 };
    if (!d->lookup) {
        const struct oci_lookup_opts opts = { .loop = d->loop,
                                              .reach = reach,
                                              .is_plain = is_plain,
                                              .arg = d,
                                              .no_address = "--image-registry HOST:PORT names it",
                                              .keeps_documents = d->opts.on_bound != NULL,
                                              .ca_pem = d->opts.registries->ca_pem };
        d->lookup = oci_lookup_new(&opts);
    }
    q->lookup.on_done = on_found;
    int r = oci_lookup_ask(d->lookup, &q->ref, &q->login, &q->lookup, &err);
    if (r < 0)
        finish(q, r, NULL, &err);
}

/* ---- pull secrets ---- */

static void read_secrets(struct asked_image *q);

/* The credentials of docker login: a whole file, or (the old type) only its "auths". */
static void read_auths(struct asked_image *q, const struct json *data, const char *key,
                       bool is_bare)
{
    char *program = NULL;
    struct str coded = json_get_str(data, key);
    scoped(buf_fini_scoped) struct buf plain = BUF_INIT(OCI_CREDENTIALS_FILE_MAX);
    if (coded.n == 0 || base64_decode(&plain, coded, BASE64_LENIENT) < 0 ||
        !oci_login_is_empty(&q->login))
        return;
    scoped(free_scoped) char *config = xasprintf("%s" STR_FMT "%s", is_bare ? "{\"auths\":" : "",
                                                 STR_ARG(buf_str(&plain)), is_bare ? "}" : "");
    (void)oci_login_read(str_of(config), &q->ref, &q->login, &program, NULL);
    free(program); /* a credential helper would run with our rights */
}

static void on_secret(void *arg, int status, struct str body, const struct json *json,
                      const struct err *err)
{
    struct asked_image *q = arg;
    const struct json *data = json_getc(json, "data");
    (void)body;
    (void)err;
    q->reading = NULL;
    if (status == 200) {
        read_auths(q, data, PULL_SECRET_KEY, false);
        read_auths(q, data, ".dockercfg", true);
    }
    read_secrets(q);
}

static int start_reading(struct asked_image *q, struct str name)
{
    const struct sched_driver_opts *o = &q->d->opts;
    scoped(buf_fini_scoped) struct buf target = BUF_INIT(8 << 10);
    (void)buf_add_cstr(&target, "/api/v1/namespaces/");
    (void)url_encode(&target, q->namespace);
    (void)buf_add_cstr(&target, "/secrets/");
    (void)url_encode(&target, name);
    const struct ask_request rq = { .method = "GET", .target = buf_str(&target) };
    return ask_start(o->transport, o->identity, &rq, on_secret, q, &q->reading, NULL);
}

/* Reads secrets until one has credentials for the registry. */
static void read_secrets(struct asked_image *q)
{
    struct str name;
    while (q->secrets.n && oci_login_is_empty(&q->login)) {
        (void)str_cut(q->secrets, '\n', &name, &q->secrets);
        if (start_reading(q, name) >= 0)
            return;
    }
    look_up(q);
}

/* ---- questions ---- */

static struct asked_image *new_asked(struct sched_driver *d)
{
    struct asked_image *q = xnew(struct asked_image);
    q->d = d;
    list_push_back(&d->asking, &q->node);
    d->n_asking++;
    return q;
}

void driver_ask_image(struct sched_driver *d, struct driver_call *c)
{
    struct str rest = str_of(c->target), image;
    struct asked_image *q = new_asked(d);
    q->call = c;
    (void)str_cut(rest, '\n', &q->namespace, &rest);
    (void)str_cut(rest, '\n', &image, &q->secrets);
    int r = driver_is_stopping(d) ? err_set(&c->err, -ECANCELED, "the scheduler ends")
                                  : oci_reference_parse(image, &q->ref, &c->err);
    if (r < 0) {
        struct err err = c->err;
        finish(q, r, NULL, &err);
        return;
    }
    read_secrets(q);
}

static void on_begin(struct defer *b)
{
    look_up(container_of(b, struct asked_image, begin));
}

int sched_driver_ask_image(struct sched_driver *d, struct str image, sched_image_cb cb, void *arg,
                           struct err *err)
{
    struct oci_reference ref;
    assert(d->opts.registries && d->opts.on_bound);
    int r = driver_is_stopping(d) ? err_set(err, -ECANCELED, "the scheduler ends")
                                  : oci_reference_parse(image, &ref, err);
    if (r < 0)
        return r;
    struct asked_image *q = new_asked(d);
    q->cb = cb;
    q->arg = arg;
    q->ref = ref;
    defer_start(d->loop, &q->begin, on_begin);
    return 0;
}

void driver_cancel_images(struct sched_driver *d)
{
    struct err err = { 0 };
    (void)err_set(&err, -ECANCELED, "the scheduler ends");
    list_each_safe (node, &d->asking) {
        struct asked_image *q = list_entry(node, struct asked_image, node);
        ask_cancel(q->reading);
        defer_cancel(&q->begin);
        oci_lookup_cancel(&q->lookup);
        answer_asked(q, -ECANCELED, NULL, &err);
    }
}
