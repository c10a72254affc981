/* SPDX-License-Identifier: Apache-2.0 */
/* BREAK deployment manifests; see bdm.h. */
#include "image/bdm.h"

#include "codec/base64.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

enum { DEPTH_MAX = 8 };

static const char *const encodings[IMAGE_BDM_ENCODINGS] = { "gzip", "zstd", "raw" };

/* ---- writing ---- */

static void set_digest(struct arena *a, struct json *to, const char *key,
                       const struct oci_digest *d)
{
    char text[OCI_DIGEST_TEXT_SIZE];
    oci_digest_format(d, text);
    json_set_str(a, to, key, str_of(text));
}

static struct json *source_json(struct arena *a, const struct image_bdm_source *s)
{
    struct json *v = json_new_object(a);
    json_set_str(a, v, "kind", s->is_registry ? STR("registry") : STR("peer"));
    json_set_str(a, v, s->is_registry ? "repo" : "node", s->name);
    if (s->token.n)
        json_set_str(a, v, "token", s->token);
    if (s->url.n)
        json_set_str(a, v, "url", s->url);
    return v;
}

static struct json *task_json(struct arena *a, const struct image_bdm_task *t, bool with_others)
{
    struct json *v = json_new_object(a), *range = json_new_array(a), *alt = json_new_array(a);
    json_set_int(a, v, "id", t->id);
    set_digest(a, v, "blob", &t->blob);
    set_digest(a, v, "diff", &t->diff);
    json_set_int(a, v, "size", (int64_t)t->size);
    json_set_int(a, v, "raw_size", (int64_t)t->raw_size);
    json_set_str(a, v, "enc", str_of(encodings[t->encoding]));
    json_add(range, json_new_int(a, (int64_t)t->from));
    json_add(range, json_new_int(a, (int64_t)t->to));
    json_setc(a, v, "range", range);
    json_set_int(a, v, "prio", t->priority);
    if (t->is_after)
        json_set_bool(a, v, "after", true);
    if (t->is_push)
        json_set_str(a, v, "mode", STR("push"));
    json_setc(a, v, "src", source_json(a, &t->source));
    for (uint32_t i = 0; with_others && i < t->n_alternatives; i++)
        json_add(alt, source_json(a, &t->alternatives[i]));
    json_setc(a, v, "alt", alt);
    json_set_int(a, v, "expect_ms", (int64_t)t->expect_ms);
    return v;
}

static bool is_of(const struct image_bdm_task *t, struct str receiver)
{
    return receiver.n == 0 ||
           (t->is_push && !t->source.is_registry && str_eq(t->source.name, receiver));
}

void image_bdm_write(const struct image_bdm *b, struct str receiver, struct buf *to)
{
    struct arena a = { 0 };
    struct json *v = json_new_object(&a), *image, *node, *tasks = json_new_array(&a);
    json_set_int(&a, v, "v", IMAGE_BDM_VERSION);
    json_set_str(&a, v, "deploy", b->deploy);
    json_set_int(&a, v, "epoch", (int64_t)b->epoch);
    image = json_obj(&a, v, "image");
    json_set_str(&a, image, "ref", b->reference);
    set_digest(&a, image, "manifest", &b->manifest);
    set_digest(&a, image, "config", &b->config);
    node = json_obj(&a, v, "binding");
    json_set_str(&a, node, "node", b->node);
    json_set_str(&a, node, "url", b->url);
    json_set_int(&a, v, "deadline_ms", (int64_t)b->deadline_ms);
    if (b->is_prefetch)
        json_set_bool(&a, v, "prefetch", true);
    for (size_t i = 0; i < b->n_tasks; i++)
        if (is_of(&b->tasks[i], receiver))
            json_add(tasks, task_json(&a, &b->tasks[i], receiver.n == 0));
    json_setc(&a, v, "tasks", tasks);
    (void)json_write(to, v);
    arena_fini(&a);
}

/* ---- reading ---- */

struct bdm_reader {
    struct arena *a;
    struct err *err;
    char where[32]; /* "tasks[3]", or "" */
};

static int bad(struct bdm_reader *r, int code, const char *key, const char *what)
{
    return err_set(r->err, code, "%s%s%s: %s", r->where, r->where[0] ? "." : "", key, what);
}

static int get_number(struct bdm_reader *r, const struct json *in, const char *key, uint64_t max,
                      uint64_t *ret)
{
    int64_t v;
    if (json_int(json_getc(in, key), &v) < 0 || v < 0 || (uint64_t)v > max)
        return bad(r, E_INVALID, key, "not a number, or out of range");
    *ret = (uint64_t)v;
    return 0;
}

static int get_digest(struct bdm_reader *r, const struct json *in, const char *key,
                      struct oci_digest *ret)
{
    if (oci_digest_parse(json_get_str(in, key), ret, NULL) < 0)
        return bad(r, E_INVALID, key, "not a sha256 digest");
    return 0;
}

/* Printable ASCII without blanks; the user of the value checks its meaning. */
static int get_text(struct bdm_reader *r, const struct json *in, const char *key, size_t max,
                    struct str *ret)
{
    struct str s = json_get_str(in, key);
    bool ok = s.n > 0 && s.n <= max;
    for (size_t i = 0; ok && i < s.n; i++)
        ok = s.p[i] > ' ' && s.p[i] < 0x7f && s.p[i] != '"' && s.p[i] != '\\';
    if (!ok)
        return bad(r, E_INVALID, key, "empty, too long, or of other characters than it may have");
    *ret = s;
    return 0;
}

static bool is_name_char(char c, bool slash)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
           (slash && (c == '/' || c == '_'));
}

/* Of a node (RFC 1123), or of a repository, whose parts may hold '_' and never are "..". */
static int get_name(struct bdm_reader *r, const struct json *in, const char *key,
                    bool is_repository, struct str *ret)
{
    struct str s = json_get_str(in, key);
    bool ok = s.n > 0 && s.n <= IMAGE_BDM_NAME_MAX && s.p[0] != '/' && s.p[0] != '.' &&
              s.p[s.n - 1] != '/' && str_find(s, STR("..")) < 0 && str_find(s, STR("//")) < 0;
    for (size_t i = 0; ok && i < s.n; i++)
        ok = is_name_char(s.p[i], is_repository);
    if (!ok)
        return bad(r, E_INVALID, key,
                   is_repository ? "not a repository" : "not the name of a node");
    *ret = s;
    return 0;
}

static int get_url(struct bdm_reader *r, const struct json *in, struct str *ret)
{
    int n = get_text(r, in, "url", IMAGE_BDM_TEXT_MAX, ret);
    if (n >= 0 && !str_has_prefix(*ret, STR("https://")) && !str_has_prefix(*ret, STR("http://")))
        return bad(r, E_INVALID, "url", "neither http nor https");
    return n;
}

static int get_source(struct bdm_reader *r, const struct json *in, const char *key,
                      struct image_bdm_source *ret)
{
    struct str kind = json_get_str(in, "kind");
    ret->is_registry = str_is(kind, "registry");
    if (!ret->is_registry && !str_is(kind, "peer"))
        return bad(r, E_INVALID, key, "a source is a peer or a registry");
    int n = get_name(r, in, ret->is_registry ? "repo" : "node", ret->is_registry, &ret->name);
    if (n >= 0 && json_getc(in, "token"))
        n = get_text(r, in, "token", IMAGE_BDM_TOKEN_SIZE - 1, &ret->token);
    return n < 0 || !json_getc(in, "url") ? n : get_url(r, in, &ret->url);
}

static int get_encoding(struct bdm_reader *r, const struct json *in, enum image_bdm_encoding *ret)
{
    struct str text = json_get_str(in, "enc");
    for (size_t i = 0; i < ARRAY_LEN(encodings); i++)
        if (str_is(text, encodings[i])) {
            *ret = (enum image_bdm_encoding)i;
            return 0;
        }
    return bad(r, E_INVALID, "enc", "neither gzip nor zstd nor raw");
}

static int get_range(struct bdm_reader *r, const struct json *in, struct image_bdm_task *t)
{
    struct json *range = json_getc(in, "range"), *from = json_first(range);
    int64_t low, high;
    uint64_t most = t->encoding == IMAGE_BDM_RAW ? t->raw_size : t->size;
    if (!json_is(range, JSON_ARRAY) || range->n != 2 || json_int(from, &low) < 0 ||
        json_int(from->next, &high) < 0 || low < 0 || high < low || (uint64_t)high > most)
        return bad(r, E_INVALID, "range", "not two numbers within the layer");
    t->from = (uint64_t)low;
    t->to = (uint64_t)high;
    return 0;
}

static int get_mode(struct bdm_reader *r, const struct json *in, struct image_bdm_task *t)
{
    const struct json *mode = json_getc(in, "mode");
    struct str text = json_str(mode);
    t->is_push = str_is(text, "push");
    if (mode && !t->is_push && !str_is(text, "pull"))
        return bad(r, E_INVALID, "mode", "neither push nor pull");
    if (t->is_push && t->source.is_registry)
        return bad(r, E_INVALID, "mode", "a registry does not push");
    return 0;
}

static int get_alternatives(struct bdm_reader *r, const struct json *in, struct image_bdm_task *t)
{
    struct json *alt = json_getc(in, "alt");
    if (alt && (!json_is(alt, JSON_ARRAY) || alt->n > IMAGE_BDM_ALTERNATIVES_MAX))
        return bad(r, E_LIMIT, "alt", "not a list of at most three sources");
    json_each (v, alt) {
        int n = get_source(r, v, "alt", &t->alternatives[t->n_alternatives++]);
        if (n < 0)
            return n;
    }
    return 0;
}

static int get_task(struct bdm_reader *r, const struct json *in, struct image_bdm_task *t)
{
    uint64_t id = 0, priority = 0;
    int n = get_number(r, in, "id", UINT32_MAX, &id);
    n = n < 0 ? n : get_digest(r, in, "blob", &t->blob);
    n = n < 0 ? n : get_digest(r, in, "diff", &t->diff);
    n = n < 0 ? n : get_number(r, in, "size", IMAGE_BDM_SIZE_MAX, &t->size);
    n = n < 0 ? n : get_number(r, in, "raw_size", IMAGE_BDM_SIZE_MAX, &t->raw_size);
    n = n < 0 ? n : get_encoding(r, in, &t->encoding);
    n = n < 0 ? n : get_range(r, in, t);
    n = n < 0 ? n : get_number(r, in, "prio", UINT32_MAX, &priority);
    n = n < 0 ? n : get_number(r, in, "expect_ms", IMAGE_BDM_DEADLINE_MAX_MS, &t->expect_ms);
    n = n < 0 ? n : get_source(r, json_getc(in, "src"), "src", &t->source);
    n = n < 0 ? n : get_mode(r, in, t);
    n = n < 0 ? n : get_alternatives(r, in, t);
    if (n < 0)
        return n;
    t->id = (uint32_t)id;
    t->priority = (uint32_t)priority;
    t->is_after = json_bool(json_getc(in, "after"));
    return 0;
}

static int by_id(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static bool ids_repeat(const struct image_bdm *b)
{
    uint32_t ids[IMAGE_BDM_TASKS_MAX];
    for (size_t i = 0; i < b->n_tasks; i++)
        ids[i] = b->tasks[i].id;
    qsort(ids, b->n_tasks, sizeof *ids, by_id);
    for (size_t i = 1; i < b->n_tasks; i++)
        if (ids[i] == ids[i - 1])
            return true;
    return false;
}

static int get_tasks(struct bdm_reader *r, const struct json *list, struct image_bdm *b)
{
    if (!json_is(list, JSON_ARRAY) || list->n > IMAGE_BDM_TASKS_MAX)
        return bad(r, E_LIMIT, "tasks", "not a list, or too many of them");
    b->tasks = arena_new_n(r->a, struct image_bdm_task, list->n + 1);
    json_each (v, list) {
        (void)snprintf(r->where, sizeof r->where, "tasks[%zu]", b->n_tasks);
        int n = get_task(r, v, &b->tasks[b->n_tasks++]);
        if (n < 0)
            return n;
    }
    r->where[0] = '\0';
    return ids_repeat(b) ? bad(r, E_INVALID, "tasks", "two of them have one id") : 0;
}

/* 8-4-4-4-12 lower-case hexadecimal digits. */
static int get_uuid(struct bdm_reader *r, const struct json *in, struct str *ret)
{
    struct str s = json_get_str(in, "deploy");
    bool ok = s.n == 36;
    for (size_t i = 0; ok && i < s.n; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        char c = s.p[i];
        ok = dash ? c == '-' : (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
    }
    if (!ok)
        return bad(r, E_INVALID, "deploy", "not a UUID");
    *ret = s;
    return 0;
}

static int get_head(struct bdm_reader *r, const struct json *v, struct image_bdm *b)
{
    const struct json *image = json_getc(v, "image"), *binding = json_getc(v, "binding");
    int n = get_uuid(r, v, &b->deploy);
    n = n < 0 ? n : get_number(r, v, "epoch", INT64_MAX, &b->epoch);
    n = n < 0 ? n : get_text(r, image, "ref", IMAGE_BDM_TEXT_MAX, &b->reference);
    n = n < 0 ? n : get_digest(r, image, "manifest", &b->manifest);
    n = n < 0 ? n : get_digest(r, image, "config", &b->config);
    n = n < 0 ? n : get_name(r, binding, "node", false, &b->node);
    n = n < 0 ? n : get_url(r, binding, &b->url);
    b->is_prefetch = json_bool(json_getc(v, "prefetch"));
    return n < 0 ? n : get_number(r, v, "deadline_ms", IMAGE_BDM_DEADLINE_MAX_MS, &b->deadline_ms);
}

int image_bdm_parse(struct arena *a, struct str text, struct image_bdm *ret, struct err *err)
{
    struct json_parse_opts o = { .max_depth = DEPTH_MAX };
    struct bdm_reader r = { .a = a, .err = err };
    struct image_bdm b = { 0 };
    struct json *v;
    uint64_t version;
    if (text.n > IMAGE_BDM_MAX_BYTES)
        return err_set(err, E_LIMIT, "larger than 4 MiB");
    int n = json_parse(a, text, &o, &v, err);
    n = n < 0 ? n : get_number(&r, v, "v", INT64_MAX, &version);
    if (n < 0)
        return n;
    if (version != IMAGE_BDM_VERSION)
        return err_set(err, E_VERSION, "version %" PRIu64, version);
    n = get_head(&r, v, &b);
    n = n < 0 ? n : get_tasks(&r, json_getc(v, "tasks"), &b);
    if (n >= 0)
        *ret = b;
    return n;
}

/* ---- tokens: BEGIN.END.MAC, times in seconds since 1970 ---- */

/* The signed text is unambiguous: no field contains a line feed. */
static void token_mac(struct str key, const struct image_bdm_grant *g, int64_t begin_s,
                      int64_t end_s, struct buf *to)
{
    char blob[OCI_DIGEST_TEXT_SIZE];
    uint8_t mac[SHA256_BYTES];
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(8 << 10);
    oci_digest_format(&g->blob, blob);
    (void)buf_printf(
        &text,
        "dormouse bdm 1\n" STR_FMT "\n%s\n" STR_FMT "\n" STR_FMT "\n%" PRId64 "\n%" PRId64 "\n",
        STR_ARG(g->deploy), blob, STR_ARG(g->source), STR_ARG(g->node), begin_s, end_s);
    assert(buf_ok(&text));
    sha256_hmac(key, buf_str(&text), mac);
    (void)buf_printf(to, "%" PRId64 ".%" PRId64 ".", begin_s, end_s);
    (void)base64_encode(to, str_n(mac, sizeof mac), BASE64_URL);
}

static bool is_plain(struct str s)
{
    return s.n <= IMAGE_BDM_TEXT_MAX && str_find_char(s, '\n') < 0;
}

static bool is_grant(const struct image_bdm_grant *g)
{
    return is_plain(g->deploy) && is_plain(g->source) && is_plain(g->node);
}

void image_bdm_token(struct str key, const struct image_bdm_grant *g, int64_t wall_s,
                     uint32_t seconds, char ret[IMAGE_BDM_TOKEN_SIZE])
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(IMAGE_BDM_TOKEN_SIZE - 1);
    assert(key.n >= IMAGE_BDM_KEY_MIN_BYTES && is_grant(g));
    token_mac(key, g, wall_s, wall_s + seconds, &b);
    assert(buf_ok(&b));
    memcpy(ret, b.p, b.n + 1);
}

int image_bdm_token_check(struct str key, const struct image_bdm_grant *g, struct str token,
                          int64_t wall_s, struct err *err)
{
    struct str begin, end, mac, rest;
    int64_t begin_s, end_s;
    const int64_t most = INT64_MAX / 2;
    scoped(buf_fini_scoped) struct buf want = BUF_INIT(IMAGE_BDM_TOKEN_SIZE - 1);
    assert(key.n >= IMAGE_BDM_KEY_MIN_BYTES);
    if (!is_grant(g) || !str_cut(token, '.', &begin, &rest) || !str_cut(rest, '.', &end, &mac) ||
        parse_i64(begin, 0, most, &begin_s) < 0 || parse_i64(end, 0, most, &end_s) < 0)
        return err_set(err, E_DENIED, "the token is malformed");
    token_mac(key, g, begin_s, end_s, &want);
    if (!buf_ok(&want) || !str_is_secret(token, buf_cstr(&want)))
        return err_set(err, E_DENIED, "the token is not for this transfer");
    if (wall_s + IMAGE_BDM_SLACK_S < begin_s || wall_s - IMAGE_BDM_SLACK_S > end_s)
        return err_set(err, E_DENIED, "the token has expired, or clocks differ");
    return 0;
}
