/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a call to disk; see async.h. */
#include "fn/async/async_int.h"

#include <errno.h>
#include <sys/statvfs.h>

struct submission {
    struct async *a;
    char id[ASYNC_ID_TEXT];
    char lane[ASYNC_LANE_MAX];
    struct due due;
    async_submit_cb cb;
    void *arg;
    struct async_key by_key; /* n 0: no idempotency key */
    char *note, *note_value; /* stored also if the call is a repeat; NULL: none */
    size_t note_value_n;
};

static void submission_end(struct submission *s, int r, bool is_repeat, const struct err *err)
{
    s->cb(s->arg, r, s->id, is_repeat, err);
    free(s->note);
    free(s->note_value);
    free(s);
}

static void on_repeat_noted(void *arg, int r, struct str value, const struct err *err)
{
    submission_end(arg, r, true, err);
}

/* A call with this key exists: return its id. */
static void on_first(void *arg, int r, const struct store_kv *kv, uint64_t rev,
                     const struct err *err)
{
    struct submission *s = arg;
    struct async_id id;
    struct err text = { 0 };
    if (r >= 0 && (!kv || !async_id_parse(kv->value, &id)))
        r = err_set(&text, -EBUSY, "the first call with this key has just been forgotten");
    if (r < 0) {
        submission_end(s, r, false, text.code ? &text : err);
        return;
    }
    async_id_text(&id, s->id);
    s->a->stats.repeated++;
    if (!s->note) {
        submission_end(s, 0, true, NULL);
        return;
    }
    r = async_note_put(s->a, str_of(s->note), str_n(s->note_value, s->note_value_n),
                       on_repeat_noted, s, &text);
    if (r < 0)
        submission_end(s, r, false, &text);
}

static void on_stored(void *arg, const struct store_txn_result *res, const struct err *err)
{
    struct submission *s = arg;
    struct async *a = s->a;
    struct err text = { 0 };
    if (res->r >= 0) {
        a->stats.accepted++;
        async_added(a, str_of(s->lane), &s->due);
        submission_end(s, 0, false, NULL);
        return;
    }
    if (res->r != E_CONFLICT) {
        a->stats.refused++;
        submission_end(s, res->r, false, err);
        return;
    }
    int r = store_get(a->store, async_key_str(&s->by_key), 0, on_first, s, &text);
    if (r < 0)
        submission_end(s, r, false, &text);
}

static int check(const struct async *a, const struct async_call *call, struct err *err)
{
    char host[ASYNC_HOST_MAX];
    if (call->namespace.n == 0 || call->namespace.n > FN_NAME_MAX || call->name.n == 0 ||
        call->name.n > FN_NAME_MAX)
        return err_set(err, E_INVALID, "no name of a function");
    if (call->key.n > ASYNC_KEY_MAX_BYTES)
        return err_set(err, E_INVALID, "idempotency key of %zu bytes, at most %d", call->key.n,
                       ASYNC_KEY_MAX_BYTES);
    if (call->body.n > ASYNC_BODY_MAX)
        return err_set(err, -EMSGSIZE, "body of %zu bytes, at most %d", call->body.n,
                       ASYNC_BODY_MAX);
    if (a->lanes.pending >= a->pending_max)
        return err_set(err, -EBUSY, "%llu calls wait", (unsigned long long)a->lanes.pending);
    return call->callback.n ? async_url_check(call->callback, host, err) : 0;
}

/*
 * An accepted call will write its result, on a disk that may be full by then, and frees its own
 * space only afterwards. If the file does not exist yet, check its directory.
 */
static int check_disk(const struct async *a, size_t body_bytes, struct err *err)
{
    struct statvfs fs;
    char *slash = strrchr(a->path, '/');
    scoped(free_scoped) char *dir = slash ? xstrndup(a->path, (size_t)(slash - a->path)) : NULL;
    if (statvfs(dir && *dir ? dir : slash ? "/" : ".", &fs) != 0)
        return 0; /* the store reports the error */
    uint64_t free_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
    uint64_t needed = ASYNC_DISK_RESERVE_BYTES + 2 * (uint64_t)body_bytes;
    if (free_bytes < needed && a->store) { /* the file does not shrink, but has room in it */
        struct store_stats s;
        store_stats(a->store, &s);
        free_bytes += s.bytes_reusable;
    }
    if (free_bytes < needed)
        return err_set(err, -ENOSPC, "%llu bytes are left on the disk",
                       (unsigned long long)free_bytes);
    return 0;
}

static int check_lane(const struct async *a, struct str lane, struct err *err)
{
    const struct lane *l = map_get(&a->lanes.by_key, lane);
    if (l && l->pending >= a->function_pending_max)
        return err_set(err, -EBUSY, "%llu calls of the function wait",
                       (unsigned long long)l->pending);
    return 0;
}

/* The rows of `call`. */
static void fill(struct async_batch *b, struct submission *s, const struct async_call *call,
                 const struct async_id *id)
{
    struct buf fields;
    struct async_key k;
    buf_init(&fields, HEADERS_MAX_BYTES * 2);
    async_fields_write(&fields, call->headers);
    struct async_record r = { .namespace = call->namespace,
                              .name = call->name,
                              .key = call->key,
                              .callback = call->publishes ? STR(ASYNC_TO_EVENTS) : call->callback,
                              .method = call->method,
                              .target = call->target,
                              .fields = buf_str(&fields) };
    batch_call(b, s->a->owner, id, &r, call->body, async_wall_ms(s->a));
    buf_fini(&fields);
    if (call->key.n) {
        async_key_by_key(&s->by_key, call->publishes, call->namespace, call->name, call->key);
        batch_put_absent(b, &s->by_key, str_of(s->id));
    }
    if (call->note.n && async_key_note(&k, call->note, NULL) >= 0) {
        batch_put(b, &k, call->note_value);
        s->note = str_dup(call->note);
        s->note_value = str_dup(call->note_value);
        s->note_value_n = call->note_value.n;
    }
}

int async_submit(struct async *a, const struct async_call *call, async_submit_cb cb, void *arg,
                 struct err *err)
{
    int r = check(a, call, err);
    if (r >= 0)
        r = check_disk(a, call->body.n, err);
    if (r >= 0)
        r = async_db(a, err);
    if (r < 0)
        return r;
    struct async_id id = async_id_new(a->owner);
    struct submission *s = xnew(struct submission);
    *s = (struct submission){ .a = a, .cb = cb, .arg = arg };
    async_id_text(&id, s->id);
    struct async_batch b = { .n = 0 };
    fill(&b, s, call, &id);
    memcpy(s->lane, b.added[0].lane, sizeof s->lane);
    s->due = b.added[0].due;
    r = check_lane(a, str_of(s->lane), err);
    if (r >= 0)
        r = store_txn(a->store, b.ops, b.n, on_stored, s, err);
    batch_fini(&b);
    if (r < 0) {
        free(s->note);
        free(s->note_value);
        free(s);
    }
    return r;
}
