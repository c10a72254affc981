/* SPDX-License-Identifier: Apache-2.0 */
#include "node/cluster_key.h"

#include "base/sys.h"
#include "client/ask.h"
#include "codec/base64.h"
#include "codec/digest.h"
#include "image/bdm_send.h"

#include <errno.h>
#include <stdlib.h>

#define SECRETS "/api/v1/namespaces/" CLUSTER_KEY_NAMESPACE "/secrets"

enum { KEY_BYTES = 32, READ_TRIES = 2 };

struct cluster_key {
    struct transport *transport;
    const struct kube_identity *identity;
    bool makes;
    unsigned n_reads;
    struct client_ask *ask;
    void (*done)(void *arg, int r, struct str key, const struct err *err);
    void *arg;
};

static int start_read(struct cluster_key *k, struct err *err);

static void finish(struct cluster_key *k, int r, struct str key, const struct err *err)
{
    k->done(k->arg, r, key, err);
    free(k);
}

static void fail(struct cluster_key *k, int r, const char *why)
{
    struct err err = { 0 };
    (void)err_set(&err, r, "Secret " CLUSTER_KEY_NAMESPACE "/" CLUSTER_KEY_NAME ": %s", why);
    finish(k, r, STR(""), &err);
}

static void take_secret(struct cluster_key *k, const struct json *secret)
{
    scoped(buf_fini_scoped) struct buf key = BUF_INIT(IMAGE_BDM_KEY_MAX_BYTES);
    struct str text = json_get_str(json_getc(secret, "data"), "key");
    bool ok = base64_decode(&key, text, BASE64_STD) >= 0 && key.n >= IMAGE_BDM_KEY_MIN_BYTES;
    if (ok)
        finish(k, 0, buf_str(&key), NULL);
    else
        fail(k, E_INVALID, "its member 'key' is no key");
    if (key.p)
        explicit_bzero(key.p, key.n);
}

/* Another process may have made it meanwhile. */
static void on_made(void *arg, int status, struct str body, const struct json *json,
                    const struct err *err)
{
    struct cluster_key *k = arg;
    (void)body, (void)json;
    k->ask = NULL;
    if (status != 201 && status != 409)
        fail(k, -EIO, status ? "it cannot be made" : err_text(err));
    else if (start_read(k, NULL) < 0)
        fail(k, -EIO, "it cannot be read");
}

static int make(struct cluster_key *k, struct err *err)
{
    uint8_t bytes[KEY_BYTES];
    char hex[2 * KEY_BYTES + 1];
    struct arena a = { 0 };
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(4096);
    struct json *v = json_new_object(&a), *meta = json_obj(&a, v, "metadata");
    sys_random(bytes, sizeof bytes);
    hex_format(bytes, sizeof bytes, hex);
    json_set_str(&a, v, "apiVersion", STR("v1"));
    json_set_str(&a, v, "kind", STR("Secret"));
    json_set_str(&a, v, "type", STR("Opaque"));
    json_set_str(&a, meta, "name", STR(CLUSTER_KEY_NAME));
    json_set_str(&a, json_obj(&a, v, "stringData"), "key", str_of(hex));
    (void)json_write(&text, v);
    arena_fini(&a);
    const struct ask_request rq = { .method = "POST",
                                    .target = STR(SECRETS),
                                    .content_type = "application/json",
                                    .body = buf_str(&text) };
    int r = ask_start(k->transport, k->identity, &rq, on_made, k, &k->ask, err);
    explicit_bzero(bytes, sizeof bytes);
    explicit_bzero(hex, sizeof hex);
    return r;
}

static void on_read(void *arg, int status, struct str body, const struct json *json,
                    const struct err *err)
{
    struct cluster_key *k = arg;
    (void)body;
    k->ask = NULL;
    if (status == 200 && json)
        take_secret(k, json);
    else if (status == 404 && k->makes && k->n_reads < READ_TRIES) {
        if (make(k, NULL) < 0)
            fail(k, -EIO, "it cannot be made");
    } else if (status == 404 || status == 403)
        fail(k, -ENOENT, status == 404 ? "there is none" : "it may not be read");
    else
        fail(k, -EIO, status ? "an unexpected answer" : err_text(err));
}

static int start_read(struct cluster_key *k, struct err *err)
{
    const struct ask_request rq = { .method = "GET", .target = STR(SECRETS "/" CLUSTER_KEY_NAME) };
    k->n_reads++;
    return ask_start(k->transport, k->identity, &rq, on_read, k, &k->ask, err);
}

int cluster_key_get(struct transport *t, const struct kube_identity *identity, bool makes,
                    void (*done)(void *arg, int r, struct str key, const struct err *err),
                    void *arg, struct cluster_key **ret, struct err *err)
{
    struct cluster_key *k = xnew(struct cluster_key);
    *k = (struct cluster_key){
        .transport = t, .identity = identity, .makes = makes, .done = done, .arg = arg
    };
    int r = start_read(k, err);
    if (r < 0) {
        free(k);
        return r;
    }
    *ret = k;
    return 0;
}

void cluster_key_cancel(struct cluster_key *k)
{
    if (!k)
        return;
    ask_cancel(k->ask);
    free(k);
}
