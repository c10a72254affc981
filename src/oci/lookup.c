/* SPDX-License-Identifier: Apache-2.0 */
/* What images are made of; see lookup.h. */
#include "oci/lookup.h"

#include "base/buf.h"
#include "base/map.h"
#include "codec/digest.h"
#include "io/address.h"
#include "oci/registry.h"

#include <errno.h>
#include <string.h>

enum { ATTEMPTS = 2, STALL_MS = 5000 };

/* The layers of a manifest or, by the digest of an index, of its image for this platform. */
struct lookup_kept {
    struct list node; /* of by_use, the last used at the end */
    struct oci_digest digest, manifest, config;
    size_t n, n_manifest, n_config;
    struct oci_lookup_layer layers[]; /* followed by the texts of manifest and configuration */
};

/* A reference as one login sees it. */
struct lookup_name {
    struct list node;          /* of by_use, likewise */
    uint8_t key[SHA256_BYTES]; /* of reference and login */
    bool is_known, is_pinned;  /* pinned: the reference has a digest */
    uint64_t known_ms;
    int r;
    char *why; /* of r < 0 */
    struct oci_digest digest;
    struct list calls;            /* struct oci_lookup_call */
    struct list due;              /* in `due`: its calls are answered on the next turn */
    struct lookup_flight *flight; /* NULL: none */
};

/* Asking a registry for one name. */
struct lookup_flight {
    struct list node;     /* in waiting or flying */
    struct oci_lookup *l; /* NULL: closed */
    struct lookup_name *name;
    struct oci_reference ref;
    struct oci_login login;
    struct oci_registry *registry;
    struct oci_request *request; /* NULL: none is under way */
    char *scope;
    struct oci_digest top, asked; /* the digest of the name; the digest that is requested now */
    bool has_asked, is_inner;     /* inner: the manifest is one of an index */
    struct arena arena;
    struct oci_digest manifest_digest;
    struct str manifest_text;
    struct oci_manifest manifest;
    struct buf config;
    struct timer limit;
    bool is_late;
    struct defer turn; /* the end: no registry is closed in a callback of its own */
    int r;
    struct err err;
};

struct oci_lookup {
    struct oci_lookup_opts opts;
    struct oci_platform platform;
    char *ca;
    struct map names, kept; /* by key, by digest; borrowed from the values */
    struct list names_by_use, kept_by_use;
    size_t kept_bytes, n_waiting, n_flying;
    struct list waiting, flying; /* struct lookup_flight */
    struct list due;             /* struct lookup_name */
    struct list answering;       /* struct oci_lookup_call, in on_turn() */
    struct defer turn;
    bool *is_closed; /* set for on_turn() */
};

static void fly(struct oci_lookup *l);

static struct str key_str(const uint8_t key[SHA256_BYTES])
{
    return str_n(key, SHA256_BYTES);
}

/* ---- images by digest ---- */

static size_t kept_size(const struct lookup_kept *k)
{
    return sizeof *k + k->n * sizeof k->layers[0] + k->n_manifest + k->n_config;
}

static void kept_free(struct oci_lookup *l, struct lookup_kept *k)
{
    map_del(&l->kept, key_str(k->digest.bytes));
    list_remove(&k->node);
    assert(l->kept_bytes >= kept_size(k));
    l->kept_bytes -= kept_size(k);
    free(k);
}

static struct lookup_kept *kept_find(struct oci_lookup *l, const struct oci_digest *digest)
{
    struct lookup_kept *k = map_get(&l->kept, key_str(digest->bytes));
    if (k) {
        list_remove(&k->node);
        list_push_back(&l->kept_by_use, &k->node);
    }
    return k;
}

static struct oci_lookup_image kept_image(const struct lookup_kept *k)
{
    const char *texts = (const char *)&k->layers[k->n];
    return (struct oci_lookup_image){ .layers = k->layers,
                                      .n = k->n,
                                      .manifest = k->manifest,
                                      .config = k->config,
                                      .manifest_text = str_n(texts, k->n_manifest),
                                      .config_text = str_n(texts + k->n_manifest, k->n_config) };
}

/* The result of the flight, by the digest of its name. */
static void keep(struct oci_lookup *l, const struct lookup_flight *f,
                 const struct oci_config *config)
{
    const struct oci_manifest *m = &f->manifest;
    struct str manifest_text = l->opts.keeps_documents ? f->manifest_text : STR("");
    struct str config_text = l->opts.keeps_documents ? buf_str(&f->config) : STR("");
    struct lookup_kept *before = kept_find(l, &f->top);
    if (before)
        kept_free(l, before);
    struct lookup_kept *k =
        xalloc(sizeof *k + m->n_layers * sizeof k->layers[0] + manifest_text.n + config_text.n);
    k->digest = f->top;
    k->manifest = f->manifest_digest;
    k->config = m->config.digest;
    k->n = m->n_layers;
    k->n_manifest = manifest_text.n;
    k->n_config = config_text.n;
    for (size_t i = 0; i < k->n; i++)
        k->layers[i] = (struct oci_lookup_layer){ .diff_id = config->diff_ids[i],
                                                  .blob = m->layers[i].digest,
                                                  .size = m->layers[i].size };
    char *texts = (char *)&k->layers[k->n];
    memcpy(texts, manifest_text.p, manifest_text.n);
    memcpy(texts + manifest_text.n, config_text.p, config_text.n);
    (void)map_put(&l->kept, key_str(k->digest.bytes), k);
    list_push_back(&l->kept_by_use, &k->node);
    l->kept_bytes += kept_size(k);
    while (l->kept_bytes > OCI_LOOKUP_KEPT_BYTES && l->kept.n > 1)
        kept_free(l, list_first(&l->kept_by_use, struct lookup_kept, node));
}

/* ---- names ---- */

static void add_part(struct sha256 *h, const char *text)
{
    uint64_t n = text ? strlen(text) + 1 : 0; /* so that parts cannot run into each other */
    sha256_add(h, &n, sizeof n);
    sha256_add(h, text ? text : "", text ? (size_t)n : 0);
}

static void name_key(const struct oci_reference *ref, const struct oci_login *login,
                     uint8_t ret[SHA256_BYTES])
{
    scoped(buf_fini_scoped) struct buf text =
        BUF_INIT(sizeof(struct oci_reference) + OCI_DIGEST_TEXT_SIZE);
    scoped(sha256_free_scoped) struct sha256 *h = sha256_new();
    oci_reference_format(ref, &text);
    add_part(h, buf_cstr(&text));
    add_part(h, login->user);
    add_part(h, login->password);
    add_part(h, login->identity_token);
    sha256_end(h, ret);
}

static void name_free(struct oci_lookup *l, struct lookup_name *n)
{
    map_del(&l->names, key_str(n->key));
    list_remove(&n->node);
    list_remove(&n->due);
    free(n->why);
    free(n);
}

/* Those that wait for something stay. */
static void forget_names(struct oci_lookup *l)
{
    list_each_safe (node, &l->names_by_use) {
        struct lookup_name *n = list_entry(node, struct lookup_name, node);
        if (l->names.n < OCI_LOOKUP_NAMES_MAX)
            return;
        if (!n->flight && list_is_empty(&n->calls))
            name_free(l, n);
    }
}

static struct lookup_name *name_get(struct oci_lookup *l, const struct oci_reference *ref,
                                    const struct oci_login *login)
{
    uint8_t key[SHA256_BYTES];
    name_key(ref, login, key);
    struct lookup_name *n = map_get(&l->names, key_str(key));
    if (n) {
        list_remove(&n->node);
    } else {
        forget_names(l);
        n = xnew(struct lookup_name);
        memcpy(n->key, key, sizeof key);
        n->is_pinned = ref->has_digest;
        list_init(&n->calls);
        (void)map_put(&l->names, key_str(n->key), n);
    }
    list_push_back(&l->names_by_use, &n->node);
    return n;
}

static bool is_fresh(struct oci_lookup *l, const struct lookup_name *n)
{
    if (!n->is_known || (n->r >= 0 && !kept_find(l, &n->digest)))
        return false;
    return (n->r >= 0 && n->is_pinned) ||
           loop_now_ms(l->opts.loop) - n->known_ms < l->opts.fresh_ms;
}

/* ---- answers ---- */

static void on_turn(struct defer *d)
{
    struct oci_lookup *l = container_of(d, struct oci_lookup, turn);
    bool is_closed = false;
    l->is_closed = &is_closed;
    while (!list_is_empty(&l->due)) {
        struct lookup_name *n = list_entry(list_pop_front(&l->due), struct lookup_name, due);
        struct lookup_kept *k = n->r < 0 ? NULL : kept_find(l, &n->digest);
        struct err err = { 0 };
        int r = n->r < 0 ? err_set(&err, n->r, "%s", n->why)
                : k      ? 0
                         : err_set(&err, E_LIMIT, "too many images are asked for");
        /* A callback may ask for more, and what is kept may go for that. */
        scoped(free_scoped) struct lookup_kept *copy =
            k ? memcpy(xalloc(kept_size(k)), k, kept_size(k)) : NULL;
        struct oci_lookup_image image = { 0 };
        if (copy)
            image = kept_image(copy);
        list_move_all(&n->calls, &l->answering);
        while (!is_closed && !list_is_empty(&l->answering)) {
            struct oci_lookup_call *c =
                list_entry(list_pop_front(&l->answering), struct oci_lookup_call, node);
            c->on_done(c, r, r < 0 ? NULL : &image, &err);
        }
        if (is_closed)
            return;
    }
    l->is_closed = NULL;
}

static void notify(struct oci_lookup *l, struct lookup_name *n)
{
    if (!list_is_linked(&n->due))
        list_push_back(&l->due, &n->due);
    defer_start(l->opts.loop, &l->turn, on_turn);
}

/* ---- flights ---- */

static void flight_free(struct lookup_flight *f)
{
    if (f->registry)
        oci_registry_close(f->registry);
    oci_login_fini(&f->login);
    arena_fini(&f->arena);
    buf_fini(&f->config);
    free(f->scope);
    free(f);
}

static void on_landed(struct defer *d)
{
    struct lookup_flight *f = container_of(d, struct lookup_flight, turn);
    struct oci_lookup *l = f->l;
    if (!l) {
        flight_free(f);
        return;
    }
    struct lookup_name *n = f->name;
    free(n->why);
    n->why = f->r < 0 ? xstrdup(err_text(&f->err)) : NULL;
    n->r = f->r;
    n->digest = f->top;
    n->is_known = true;
    n->known_ms = loop_now_ms(l->opts.loop);
    n->flight = NULL;
    assert(l->n_flying > 0);
    l->n_flying--;
    list_remove(&f->node);
    timer_stop(l->opts.loop, &f->limit);
    flight_free(f);
    notify(l, n);
    fly(l);
}

/* No request is under way. */
static void land(struct lookup_flight *f, int r, const struct err *err)
{
    f->r = r < 0 ? r : 0;
    if (r < 0 && f->is_late)
        f->r = err_set(&f->err, -ETIMEDOUT, "registry '%s' has not answered in time", f->ref.host);
    else if (r < 0 && err)
        f->err = *err;
    if (f->l)
        defer_start(f->l->opts.loop, &f->turn, on_landed);
    else
        flight_free(f); /* the registry is being closed already */
}

static void on_limit(struct timer *t)
{
    struct lookup_flight *f = container_of(t, struct lookup_flight, limit);
    f->is_late = true;
    if (f->request)
        oci_request_cancel(f->request);
}

/* ---- configuration ---- */

static int on_config_bytes(void *arg, struct str bytes, struct err *err)
{
    struct lookup_flight *f = arg;
    int r = buf_add_str(&f->config, bytes);
    return r < 0 ? err_set(err, E_LIMIT, "the configuration has more bytes than the manifest says")
                 : 0;
}

static int take_config(struct lookup_flight *f, struct err *err)
{
    struct oci_digest digest;
    struct oci_config config;
    sha256_of(buf_str(&f->config), digest.bytes);
    if (!oci_digest_equal(&digest, &f->manifest.config.digest))
        return err_set(err, E_DIGEST, "the registry's configuration is not the one of its digest");
    int r = oci_config_parse(&f->arena, buf_str(&f->config), &config, err);
    if (r < 0)
        return r;
    if (config.n_diff_ids != f->manifest.n_layers)
        return err_set(err, E_PARSE, "manifest and configuration have different layers");
    keep(f->l, f, &config);
    return 0;
}

static void on_config(void *arg, int r, const struct oci_answer *answer, const struct err *err)
{
    struct lookup_flight *f = arg;
    struct err why = { 0 };
    f->request = NULL;
    if (r >= 0 && f->l) {
        r = take_config(f, &why);
        err = &why;
    }
    land(f, r, err);
}

static int ask_config(struct lookup_flight *f, struct err *err)
{
    const struct oci_descriptor *config = &f->manifest.config;
    if (config->size > OCI_DOCUMENT_MAX)
        return err_set(err, E_LIMIT, "its configuration is larger than %d bytes", OCI_DOCUMENT_MAX);
    buf_init(&f->config, (size_t)config->size);
    return oci_registry_blob(f->registry, f->ref.repository, config, 0, f->scope, on_config_bytes,
                             f, on_config, f, &f->request, err);
}

/* ---- manifest ---- */

static void on_manifest(void *arg, int r, const struct oci_answer *answer, const struct err *err);

/* digest NULL: by tag. */
static int ask_manifest(struct lookup_flight *f, const struct oci_digest *digest, struct err *err)
{
    f->has_asked = digest != NULL;
    if (digest)
        f->asked = *digest;
    return oci_registry_manifest(f->registry, f->ref.repository, f->ref.tag,
                                 digest ? &f->asked : NULL, f->scope, on_manifest, f, &f->request,
                                 err);
}

/* Of an index: the one for this platform. */
static int take_index(struct lookup_flight *f, struct str text, struct err *err)
{
    struct oci_index index;
    if (f->is_inner)
        return err_set(err, E_UNSUPPORTED, "an index that is in an index");
    int r = oci_index_parse(&f->arena, text, &index, err);
    if (r < 0)
        return r;
    const struct oci_descriptor *d = oci_index_select(&index, &f->l->platform);
    if (!d)
        return err_set(err, E_UNSUPPORTED, "the image is not there for this platform");
    f->is_inner = true;
    return ask_manifest(f, &d->digest, err);
}

/* 1: nothing more has to be asked. */
static int take_manifest(struct lookup_flight *f, struct str body, struct err *err)
{
    struct oci_digest digest;
    enum oci_document kind;
    sha256_of(body, digest.bytes);
    if (f->has_asked && !oci_digest_equal(&digest, &f->asked))
        return err_set(err, E_DIGEST, "the registry's manifest is not the one of its digest");
    if (!f->is_inner) {
        f->top = digest;
        if (kept_find(f->l, &f->top))
            return 1;
    }
    struct str text = str_copy_arena(&f->arena, body); /* what is read points into it */
    int r = oci_document_kind(&f->arena, text, &kind, err);
    if (r < 0)
        return r;
    if (kind == OCI_DOCUMENT_INDEX)
        return take_index(f, text, err);
    f->manifest_digest = digest;
    f->manifest_text = text;
    r = oci_manifest_parse(&f->arena, text, &f->manifest, err);
    return r < 0 ? r : ask_config(f, err);
}

static void on_manifest(void *arg, int r, const struct oci_answer *answer, const struct err *err)
{
    struct lookup_flight *f = arg;
    struct err why = { 0 };
    f->request = NULL;
    if (r < 0 || !f->l) {
        land(f, r, err);
        return;
    }
    r = take_manifest(f, answer->body, &why);
    if (r != 0)
        land(f, r, &why);
}

/* ---- beginning ---- */

static bool is_public(void *arg, const struct sockaddr *addr)
{
    return address_is_public(addr);
}

static int begin(struct lookup_flight *f, struct err *err)
{
    const struct oci_lookup *l = f->l;
    const struct oci_lookup_opts *o = &l->opts;
    enum oci_lookup_reach reach = o->reach ? o->reach(o->arg, f->ref.host) : OCI_LOOKUP_ANYWHERE;
    if (reach == OCI_LOOKUP_DENIED)
        return err_set(err, E_DENIED, "registry '%s' is not to be asked", f->ref.host);
    struct oci_registry_opts registry = {
        .loop = o->loop,
        .host = f->ref.host,
        .plain_http = o->is_plain && o->is_plain(o->arg, f->ref.host),
        .ca_pem = o->ca_pem,
        .login = f->login,
        .attempts = ATTEMPTS,
        .stall_ms = STALL_MS,
        .may_connect = reach == OCI_LOOKUP_PUBLIC ? is_public : NULL,
        .no_address = o->no_address,
    };
    f->scope = oci_registry_scope(f->ref.repository, false);
    int r = oci_registry_new(&registry, &f->registry, err);
    return r < 0 ? r : ask_manifest(f, f->ref.has_digest ? &f->ref.digest : NULL, err);
}

static bool has_turn(const struct oci_lookup *l, const struct lookup_flight *wanted)
{
    unsigned n = 0;
    list_each (node, &l->flying)
        n += strcmp(list_entry(node, struct lookup_flight, node)->ref.host, wanted->ref.host) == 0;
    return n < OCI_LOOKUP_HOST_FLIGHTS;
}

/* As many of those that wait as may. */
static void fly(struct oci_lookup *l)
{
    list_each_safe (node, &l->waiting) {
        struct lookup_flight *f = list_entry(node, struct lookup_flight, node);
        struct err err = { 0 };
        if (l->n_flying >= OCI_LOOKUP_FLIGHTS)
            return;
        if (!has_turn(l, f))
            continue;
        list_remove(&f->node);
        list_push_back(&l->flying, &f->node);
        assert(l->n_waiting > 0);
        l->n_waiting--;
        l->n_flying++;
        timer_start(l->opts.loop, &f->limit, l->opts.limit_ms, on_limit);
        int r = begin(f, &err);
        if (r < 0)
            land(f, r, &err);
    }
}

static struct lookup_flight *flight_new(struct oci_lookup *l, struct lookup_name *n,
                                        const struct oci_reference *ref,
                                        const struct oci_login *login)
{
    struct lookup_flight *f = xnew(struct lookup_flight);
    f->l = l;
    f->name = n;
    f->ref = *ref;
    oci_login_copy(&f->login, login);
    list_push_back(&l->waiting, &f->node);
    l->n_waiting++;
    return f;
}

int oci_lookup_ask(struct oci_lookup *l, const struct oci_reference *ref,
                   const struct oci_login *login, struct oci_lookup_call *call, struct err *err)
{
    struct lookup_name *n = name_get(l, ref, login);
    if (!n->flight && is_fresh(l, n)) {
        list_push_back(&n->calls, &call->node);
        notify(l, n);
        return 0;
    }
    if (!n->flight && l->n_waiting >= OCI_LOOKUP_WAITING_MAX)
        return err_set(err, E_LIMIT, "more than %d images wait to be asked for",
                       OCI_LOOKUP_WAITING_MAX);
    list_push_back(&n->calls, &call->node);
    if (!n->flight) {
        n->flight = flight_new(l, n, ref, login);
        fly(l);
    }
    return 0;
}

void oci_lookup_cancel(struct oci_lookup_call *call)
{
    list_remove(&call->node);
}

struct oci_lookup *oci_lookup_new(const struct oci_lookup_opts *opts)
{
    struct oci_lookup *l = xnew(struct oci_lookup);
    l->opts = *opts;
    l->opts.fresh_ms = opts->fresh_ms ? opts->fresh_ms : OCI_LOOKUP_FRESH_MS;
    l->opts.limit_ms = opts->limit_ms ? opts->limit_ms : OCI_LOOKUP_LIMIT_MS;
    l->ca = str_dup(opts->ca_pem);
    l->opts.ca_pem = str_n(l->ca, opts->ca_pem.n);
    l->platform = oci_platform_here();
    l->names.borrows_keys = l->kept.borrows_keys = true;
    list_init(&l->names_by_use);
    list_init(&l->kept_by_use);
    list_init(&l->waiting);
    list_init(&l->flying);
    list_init(&l->due);
    list_init(&l->answering);
    return l;
}

/* The data of a request that still runs is freed with its callback. */
static void leave(struct lookup_flight *f)
{
    list_remove(&f->node);
    timer_stop(f->l->opts.loop, &f->limit);
    f->l = NULL;
    f->name = NULL;
    if (f->request)
        oci_registry_close(take_ptr(&f->registry));
    else if (!list_is_linked(&f->turn.node)) /* it waits for its turn */
        flight_free(f);
}

void oci_lookup_close(struct oci_lookup *l)
{
    if (!l)
        return;
    if (l->is_closed)
        *l->is_closed = true;
    defer_cancel(&l->turn);
    list_each_safe (node, &l->waiting)
        leave(list_entry(node, struct lookup_flight, node));
    list_each_safe (flying, &l->flying)
        leave(list_entry(flying, struct lookup_flight, node));
    list_each_safe (name, &l->names_by_use) {
        struct lookup_name *n = list_entry(name, struct lookup_name, node);
        assert(list_is_empty(&n->calls));
        name_free(l, n);
    }
    list_each_safe (kept, &l->kept_by_use)
        kept_free(l, list_entry(kept, struct lookup_kept, node));
    assert(list_is_empty(&l->answering));
    map_fini(&l->names);
    map_fini(&l->kept);
    free(l->ca);
    free(l);
}
