/* SPDX-License-Identifier: Apache-2.0 */
/* A client of a running server's admin socket; see admin_client.h. */
#include "node/admin_client.h"

#include "base/mem.h"
#include "io/http.h"

#include <errno.h>

struct admin_client_ask {
    struct loop loop;
    void (*on_data)(void *arg, struct str chunk);
    void *arg;
    struct buf refusal; /* the body of a response other than 200 */
    int status, r;
    struct err err;
};

static void on_head(void *arg, int status, const struct headers *headers)
{
    struct admin_client_ask *a = arg;
    a->status = status;
}

static void on_data(void *arg, struct str chunk)
{
    struct admin_client_ask *a = arg;
    if (a->status == 200)
        a->on_data(a->arg, chunk);
    else
        (void)buf_add_str(&a->refusal, chunk);
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct admin_client_ask *a = arg;
    a->r = r;
    if (err)
        a->err = *err;
    loop_stop(&a->loop);
}

static int ask(const char *method, const char *data_dir, const char *path,
               void (*data)(void *arg, struct str), void *arg, struct err *err)
{
    static const struct exchange_events events = { .on_head = on_head,
                                                   .on_data = on_data,
                                                   .on_end = on_end };
    scoped(free_scoped) char *socket_path = xasprintf("%s/admin.sock", data_dir);
    struct admin_client_ask a = { .on_data = data, .arg = arg, .refusal = BUF_INIT(4096) };
    struct http_client_opts opts = { .unix_path = socket_path,
                                     .host = "localhost",
                                     .max_connections = 1 };
    struct http_client *client = NULL;
    struct exchange *call;
    int r = loop_init(&a.loop, err);
    if (r < 0)
        return r;
    r = http_client_new(&a.loop, &opts, &client, err);
    if (r >= 0) {
        struct http_call_opts req = { .method = str_of(method),
                                      .target = str_of(path),
                                      .head_timeout_ms = ADMIN_TIMEOUT_MS,
                                      .events = &events,
                                      .arg = &a };
        r = http_call_start(client, &req, &call, err);
        if (r >= 0)
            loop_run(&a.loop);
        http_client_close(client);
        while (loop_turn(&a.loop, true))
            ;
    }
    loop_fini(&a.loop);
    if (r >= 0 && a.r < 0)
        r = err_set(err, a.r, "%s", err_text(&a.err));
    bool refused = r >= 0 && a.status != 200;
    if (refused && a.refusal.n)
        r = err_set(err, E_UNSUPPORTED, "%s", buf_cstr(&a.refusal));
    else if (refused)
        r = err_set(err, E_UNSUPPORTED, "the server answered %d", a.status);
    buf_fini(&a.refusal);
    if (refused || r >= 0)
        return r;
    if (r == -ENOENT || r == -ECONNREFUSED)
        return err_set(err, r,
                       "no answer from a dormouse in '%s' (is it running? --data-dir DIR or "
                       "$DORMOUSE_DATA_DIR: another directory)",
                       data_dir);
    if (r == -EACCES)
        return err_set(err, r, "the dormouse in '%s' belongs to another user", data_dir);
    return err_ctx(err, r, "no answer from the dormouse in '%s'", data_dir);
}

int admin_follow(const char *data_dir, const char *path, void (*data)(void *arg, struct str),
                 void *arg, struct err *err)
{
    return ask("GET", data_dir, path, data, arg, err);
}

int admin_post(const char *data_dir, const char *path, void (*data)(void *arg, struct str),
               void *arg, struct err *err)
{
    return ask("POST", data_dir, path, data, arg, err);
}

static void add_to_buf(void *arg, struct str chunk)
{
    (void)buf_add_str(arg, chunk);
}

int admin_get(const char *data_dir, const char *path, struct buf *to, struct err *err)
{
    return admin_follow(data_dir, path, add_to_buf, to, err);
}
