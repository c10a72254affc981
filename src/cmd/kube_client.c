/* SPDX-License-Identifier: Apache-2.0 */
/* A blocking client of a cluster's API; see kube_client.h. */
#include "cmd/kube_client.h"

#include "base/mem.h"
#include "client/http_transport.h"
#include "io/loop.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct kube_client {
    struct loop loop;
    struct http_transport *transport;
    char *namespace, *server;
    bool is_over;
    /* Of the request under way. */
    int status, r;
    struct buf body;
    struct err err;
};

static void on_closed(void *arg)
{
    ((struct kube_client *)arg)->is_over = true;
}

static void turn_until_over(struct kube_client *c)
{
    c->is_over = false;
    while (!c->is_over)
        (void)loop_turn(&c->loop, true);
}

int kube_client_config(const char *kubeconfig, const char *context, const char *data_dir,
                       struct kubeconfig **ret, struct err *err)
{
    scoped(free_scoped) char *dir = cmd_find_data_dir(data_dir);
    scoped(free_scoped) char *own = dir ? xasprintf("%s/kubeconfig", dir) : NULL;
    if (!kubeconfig && own && (data_dir || (!getenv("KUBECONFIG") && access(own, R_OK) == 0)))
        kubeconfig = own;
    return kubeconfig_load(kubeconfig, context, ret, err);
}

int kube_client_open(const char *kubeconfig, const char *context, const char *data_dir,
                     struct kube_client **ret, struct err *err)
{
    scoped(kubeconfig_free_scoped) struct kubeconfig *config = NULL;
    int r = kube_client_config(kubeconfig, context, data_dir, &config, err);
    if (r < 0)
        return r;
    struct kube_client *c = xnew(struct kube_client);
    c->body = BUF_INIT(KUBE_CLIENT_ANSWER_MAX_BYTES);
    c->namespace = xstrdup(config->namespace ? config->namespace : "default");
    c->server = xstrdup(config->server);
    r = loop_init(&c->loop, err);
    if (r < 0) {
        free(c->namespace);
        free(c->server);
        free(c);
        return r;
    }
    r = http_transport_new(&c->loop, config, &c->transport, err);
    if (r < 0)
        kube_client_close(take_ptr(&c));
    *ret = c;
    return r;
}

void kube_client_close(struct kube_client *c)
{
    if (!c)
        return;
    if (c->transport) {
        http_transport_close(c->transport, on_closed, c);
        turn_until_over(c);
    }
    while (loop_turn(&c->loop, false))
        ;
    loop_fini(&c->loop);
    buf_fini(&c->body);
    free(c->namespace);
    free(c->server);
    free(c);
}

const char *kube_client_namespace(const struct kube_client *c)
{
    return c->namespace;
}

bool kube_client_is_of(const struct kube_client *c, const char *data_dir)
{
    scoped(free_scoped) char *path = xasprintf("%s/kubeconfig", data_dir);
    scoped(kubeconfig_free_scoped) struct kubeconfig *config = NULL;
    return kubeconfig_load(path, NULL, &config, NULL) >= 0 &&
           strcmp(config->server, c->server) == 0;
}

static void on_head(void *arg, int status, const struct headers *headers)
{
    ((struct kube_client *)arg)->status = status;
}

static void on_data(void *arg, struct str chunk)
{
    (void)buf_add_str(&((struct kube_client *)arg)->body, chunk);
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct kube_client *c = arg;
    c->r = r;
    if (r < 0)
        c->err = *err;
    c->is_over = true;
}

static int refused(const struct kube_answer *answer, struct err *err)
{
    struct str message = json_get_str(answer->body, "message");
    int code = answer->status == 404                            ? -ENOENT
               : answer->status == 409                          ? E_CONFLICT
               : answer->status == 401 || answer->status == 403 ? E_DENIED
                                                                : E_INVALID;
    if (message.n)
        return err_set(err, code, STR_FMT, STR_ARG(message));
    return err_set(err, code, "the API answered %d", answer->status);
}

int kube_client_ask(struct kube_client *c, struct arena *a, const char *method, const char *target,
                    const char *content_type, struct str body, struct kube_answer *ret,
                    struct err *err)
{
    static const struct exchange_events events = { .on_head = on_head,
                                                   .on_data = on_data,
                                                   .on_end = on_end };
    struct headers headers = { 0 };
    if (content_type)
        (void)headers_add(&headers, STR("content-type"), str_of(content_type));
    struct kube_request request = { .method = str_of(method),
                                    .target = str_of(target),
                                    .headers = &headers,
                                    .body = body,
                                    .timeout_ms = KUBE_CLIENT_TIMEOUT_MS };
    struct exchange *call;
    buf_reset(&c->body);
    c->status = 0;
    int r = transport_start(http_transport_base(c->transport), &request, &events, c, &call, err);
    headers_fini(&headers);
    if (r < 0)
        return r;
    turn_until_over(c);
    if (c->r < 0) {
        *err = c->err;
        return c->r;
    }
    *ret = (struct kube_answer){ .status = c->status };
    struct str text = { arena_strndup(a, buf_str(&c->body).p ? buf_str(&c->body).p : "",
                                      buf_str(&c->body).n),
                        buf_str(&c->body).n };
    (void)json_parse(a, text, NULL, &ret->body, NULL);
    return c->status >= 400 ? refused(ret, err) : 0;
}
