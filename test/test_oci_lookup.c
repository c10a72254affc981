/* SPDX-License-Identifier: Apache-2.0 */
/* oci/lookup: what images are made of, from a registry of this process. Time is virtual. */
#include "test.h"

#include "base/buf.h"
#include "codec/base64.h"
#include "io/http.h"
#include "oci/lookup.h"

#include <errno.h>

enum { TURNS_MAX = 1000000, DOCUMENTS_MAX = 16, CALLS = 4 };

struct document {
    char path[160], text[1024];
    const char *type;
};

struct asked {
    struct oci_lookup_call call;
    bool is_done;
    int r;
    size_t n;
    uint64_t sizes[8];
    char first[OCI_DIGEST_TEXT_SIZE], blob[OCI_DIGEST_TEXT_SIZE];
    struct err err;
};

static struct {
    struct loop loop;
    struct http_server *server;
    struct document documents[DOCUMENTS_MAX];
    size_t n_documents;
    const char *wants; /* of authorization; NULL: anybody may */
    int status;        /* 0: what is asked for, else this */
    bool is_silent;
    struct http_exchange *silent[64]; /* what is not answered */
    size_t n_silent;
    unsigned n_seen, n_manifests, n_blobs;
    bool is_closed;
    enum oci_lookup_reach reach;
    struct oci_lookup *lookup;
    struct asked asked[CALLS];
} t;

/* ---- the registry ---- */

static void on_silent_gone(struct http_exchange *x, int r)
{
    (void)r;
    for (size_t i = 0; i < t.n_silent; i++)
        if (t.silent[i] == x)
            t.silent[i] = t.silent[--t.n_silent];
}

static void reply(struct http_exchange *x, int status, const char *name, const char *value,
                  struct str body)
{
    struct headers h = { 0 };
    if (name)
        CHECK_OK(headers_addc(&h, name, value));
    http_reply(x, status, &h, body);
    headers_fini(&h);
}

static void on_request(struct http_exchange *x, const struct http_request *req, void *arg)
{
    static const struct http_exchange_ops ops = { .on_gone = on_silent_gone };
    (void)arg;
    t.n_seen++;
    t.n_manifests += str_find(req->target, STR("/manifests/")) >= 0;
    t.n_blobs += str_find(req->target, STR("/blobs/")) >= 0;
    if (t.is_silent) {
        CHECK(t.n_silent < ARRAY_LEN(t.silent));
        t.silent[t.n_silent++] = x;
        http_exchange_set(x, &ops, NULL);
        return;
    }
    if (t.wants && !str_is(headers_get(req->headers, "authorization"), t.wants)) {
        reply(x, 401, "www-authenticate", "Basic realm=x", STR("{}"));
        return;
    }
    if (t.status) {
        reply(x, t.status, NULL, NULL, STR("{}"));
        return;
    }
    for (size_t i = 0; i < t.n_documents; i++)
        if (str_is(req->target, t.documents[i].path)) {
            reply(x, 200, "content-type", t.documents[i].type, str_of(t.documents[i].text));
            return;
        }
    reply(x, 404, NULL, NULL, STR("{}"));
}

static void add_as(const char *kind, const char *name, const char *type, const char *text)
{
    struct document *d = &t.documents[t.n_documents++];
    CHECK(t.n_documents <= DOCUMENTS_MAX);
    (void)snprintf(d->path, sizeof d->path, "/v2/app/%s/%s", kind, name);
    (void)snprintf(d->text, sizeof d->text, "%s", text);
    d->type = type;
}

static void digest_of(const char *text, char ret[OCI_DIGEST_TEXT_SIZE])
{
    struct oci_digest d;
    sha256_of(str_of(text), d.bytes);
    oci_digest_format(&d, ret);
}

#define MANIFEST "application/vnd.oci.image.manifest.v1+json"
#define INDEX    "application/vnd.oci.image.index.v1+json"

/* An image of two layers of so many bytes, whose DiffIDs end with their number. */
static void add_image(const char *tag, unsigned first, unsigned second,
                      char ret_manifest[OCI_DIGEST_TEXT_SIZE])
{
    char config[512], manifest[1024], config_digest[OCI_DIGEST_TEXT_SIZE];
    struct oci_platform here = oci_platform_here();
    (void)snprintf(config, sizeof config,
                   "{\"architecture\":\"" STR_FMT
                   "\",\"os\":\"linux\",\"rootfs\":{\"type\":\"layers\",\"diff_ids\":["
                   "\"sha256:%064u\",\"sha256:%064u\"]}}",
                   STR_ARG(here.architecture), first, second);
    digest_of(config, config_digest);
    (void)snprintf(manifest, sizeof manifest,
                   "{\"schemaVersion\":2,\"mediaType\":\"" MANIFEST "\",\"config\":{\"mediaType\":"
                   "\"application/vnd.oci.image.config.v1+json\",\"digest\":\"%s\",\"size\":%zu},"
                   "\"layers\":[{\"mediaType\":\"application/vnd.oci.image.layer.v1.tar+gzip\","
                   "\"digest\":\"sha256:%064u\",\"size\":%u},{\"mediaType\":"
                   "\"application/vnd.oci.image.layer.v1.tar+gzip\",\"digest\":\"sha256:%064u\","
                   "\"size\":%u}]}",
                   config_digest, strlen(config), first + 1000, first, second + 1000, second);
    digest_of(manifest, ret_manifest);
    add_as("blobs", config_digest, "application/octet-stream", config);
    add_as("manifests", ret_manifest, MANIFEST, manifest);
    if (tag)
        add_as("manifests", tag, MANIFEST, manifest);
}

static enum oci_lookup_reach reach_of(void *arg, const char *host)
{
    (void)arg;
    CHECK(strncmp(host, "127.0.0.1:", 10) == 0);
    return t.reach;
}

static void begin(void)
{
    memset(&t, 0, sizeof t);
    t.reach = OCI_LOOKUP_ANYWHERE;
    CHECK_OK(loop_init(&t.loop, NULL));
    struct http_server_opts o = { .host = "127.0.0.1", .on_request = on_request };
    CHECK_OK(http_server_start(&t.loop, &o, &t.server, NULL));
    struct oci_lookup_opts opts = { .loop = &t.loop, .reach = reach_of, .keeps_documents = true };
    t.lookup = oci_lookup_new(&opts);
}

static void on_server_closed(void *arg)
{
    *(bool *)arg = true;
}

static void end(void)
{
    oci_lookup_close(t.lookup);
    http_server_close(t.server, 0, on_server_closed, &t.is_closed);
    loop_run(&t.loop);
    CHECK(t.is_closed);
    loop_fini(&t.loop);
}

/* ---- asking ---- */

static void check_text(struct str text, const struct oci_digest *digest)
{
    struct oci_digest d;
    sha256_of(text, d.bytes);
    CHECK(text.n > 0 && oci_digest_equal(&d, digest));
}

static void on_done(struct oci_lookup_call *c, int r, const struct oci_lookup_image *image,
                    const struct err *err)
{
    struct asked *a = container_of(c, struct asked, call);
    CHECK(!a->is_done);
    a->is_done = true;
    a->r = r;
    if (r < 0) {
        CHECK(!image);
        a->err = *err;
        return;
    }
    a->n = image->n;
    for (size_t i = 0; i < image->n && i < ARRAY_LEN(a->sizes); i++)
        a->sizes[i] = image->layers[i].size;
    oci_digest_format(&image->layers[0].diff_id, a->first);
    oci_digest_format(&image->layers[0].blob, a->blob);
    check_text(image->manifest_text, &image->manifest);
    check_text(image->config_text, &image->config);
}

static void ask_as(size_t i, const char *name, const char *user)
{
    char text[256];
    struct oci_reference ref;
    struct oci_login login = { 0 };
    (void)snprintf(text, sizeof text, "127.0.0.1:%u/%s", (unsigned)http_server_port(t.server),
                   name);
    CHECK_OK(oci_reference_parse(str_of(text), &ref, NULL));
    if (user)
        login = (struct oci_login){ .user = xstrdup(user), .password = xstrdup("secret") };
    t.asked[i] = (struct asked){ .call.on_done = on_done };
    CHECK_OK(oci_lookup_ask(t.lookup, &ref, &login, &t.asked[i].call, NULL));
    CHECK(!t.asked[i].is_done);
    oci_login_fini(&login);
}

static void wait_for(size_t i)
{
    for (int n = 0; !t.asked[i].is_done; n++) {
        CHECK(n < TURNS_MAX);
        (void)loop_turn(&t.loop, false);
    }
}

static struct asked *find(const char *name)
{
    ask_as(0, name, NULL);
    wait_for(0);
    return &t.asked[0];
}

static void check_image(const struct asked *a, unsigned first, unsigned second)
{
    char diff_id[OCI_DIGEST_TEXT_SIZE];
    (void)snprintf(diff_id, sizeof diff_id, "sha256:%064u", first);
    if (a->r < 0)
        TEST_FAIL("%s", err_text(&a->err));
    CHECK_INT(a->n, 2);
    CHECK_INT(a->sizes[0], first);
    CHECK_INT(a->sizes[1], second);
    CHECK_STR(str_of(a->first), diff_id);
    (void)snprintf(diff_id, sizeof diff_id, "sha256:%064u", first + 1000);
    CHECK_STR(str_of(a->blob), diff_id);
}

TEST(an_image_takes_two_requests_and_is_kept)
{
    char digest[OCI_DIGEST_TEXT_SIZE];
    begin();
    add_image("v1", 10, 20, digest);
    check_image(find("app:v1"), 10, 20);
    CHECK_INT(t.n_seen, 2);
    check_image(find("app:v1"), 10, 20);
    CHECK_INT(t.n_seen, 2);
    end();
}

TEST(many_who_ask_at_once_share_one_flight)
{
    char digest[OCI_DIGEST_TEXT_SIZE];
    begin();
    add_image("v1", 10, 20, digest);
    for (size_t i = 0; i < CALLS; i++)
        ask_as(i, "app:v1", NULL);
    oci_lookup_cancel(&t.asked[1].call);
    for (size_t i = 0; i < CALLS; i++)
        if (i != 1)
            wait_for(i);
    check_image(&t.asked[3], 10, 20);
    CHECK_INT(t.n_seen, 2);
    CHECK(!t.asked[1].is_done);
    end();
}

TEST(a_tag_is_asked_again_after_a_minute_and_its_image_only_when_it_has_moved)
{
    char digest[OCI_DIGEST_TEXT_SIZE];
    begin();
    add_image("v1", 10, 20, digest);
    check_image(find("app:v1"), 10, 20);
    loop_skip(&t.loop, OCI_LOOKUP_FRESH_MS);
    check_image(find("app:v1"), 10, 20);
    CHECK_INT(t.n_manifests, 2);
    CHECK_INT(t.n_blobs, 1);
    t.n_documents = 0;
    add_image("v1", 30, 40, digest);
    check_image(find("app:v1"), 10, 20);
    loop_skip(&t.loop, OCI_LOOKUP_FRESH_MS);
    check_image(find("app:v1"), 30, 40);
    end();
}

TEST(a_reference_with_a_digest_is_not_asked_again)
{
    char digest[OCI_DIGEST_TEXT_SIZE], name[128];
    begin();
    add_image(NULL, 10, 20, digest);
    (void)snprintf(name, sizeof name, "app@%s", digest);
    check_image(find(name), 10, 20);
    loop_skip(&t.loop, 100 * OCI_LOOKUP_FRESH_MS);
    check_image(find(name), 10, 20);
    CHECK_INT(t.n_seen, 2);
    end();
}

TEST(of_an_index_it_is_the_image_of_this_machine)
{
    char here[OCI_DIGEST_TEXT_SIZE], other[OCI_DIGEST_TEXT_SIZE], index[1024];
    struct oci_platform p = oci_platform_here();
    begin();
    add_image(NULL, 10, 20, here);
    add_image(NULL, 30, 40, other);
    (void)snprintf(index, sizeof index,
                   "{\"schemaVersion\":2,\"mediaType\":\"" INDEX "\",\"manifests\":["
                   "{\"mediaType\":\"" MANIFEST "\",\"digest\":\"%s\",\"size\":1,\"platform\":"
                   "{\"os\":\"linux\",\"architecture\":\"vax\"}},"
                   "{\"mediaType\":\"" MANIFEST "\",\"digest\":\"%s\",\"size\":1,\"platform\":"
                   "{\"os\":\"linux\",\"architecture\":\"" STR_FMT "\"}}]}",
                   other, here, STR_ARG(p.architecture));
    add_as("manifests", "v1", INDEX, index);
    check_image(find("app:v1"), 10, 20);
    CHECK_INT(t.n_seen, 3);
    end();
}

TEST(a_failure_is_kept_for_a_minute)
{
    char digest[OCI_DIGEST_TEXT_SIZE];
    begin();
    CHECK_ERR(find("app:v1")->r, -ENOENT);
    add_image("v1", 10, 20, digest);
    CHECK_ERR(find("app:v1")->r, -ENOENT);
    CHECK_INT(t.n_seen, 1);
    loop_skip(&t.loop, OCI_LOOKUP_FRESH_MS);
    check_image(find("app:v1"), 10, 20);
    end();
}

TEST(a_silent_registry_is_given_up_and_leaves_the_flights_of_others_alone)
{
    begin();
    t.is_silent = true;
    ask_as(0, "app:v1", NULL);
    ask_as(1, "app:v2", NULL);
    ask_as(2, "app:v3", NULL);
    for (int n = 0; t.n_silent < OCI_LOOKUP_HOST_FLIGHTS; n++) {
        CHECK(n < TURNS_MAX);
        (void)loop_turn(&t.loop, false);
    }
    for (int n = 0; n < 100; n++)
        (void)loop_turn(&t.loop, false);
    CHECK_INT(t.n_silent, OCI_LOOKUP_HOST_FLIGHTS); /* the third has to wait for its turn */
    loop_skip(&t.loop, OCI_LOOKUP_LIMIT_MS);
    wait_for(0);
    wait_for(1);
    CHECK_ERR(t.asked[0].r, -ETIMEDOUT);
    CHECK(!t.asked[2].is_done);
    loop_skip(&t.loop, OCI_LOOKUP_LIMIT_MS);
    wait_for(2);
    CHECK_ERR(t.asked[2].r, -ETIMEDOUT);
    end();
}

TEST(it_may_be_closed_while_a_registry_is_asked)
{
    begin();
    t.is_silent = true;
    for (size_t i = 0; i < CALLS; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "app:v%zu", i);
        ask_as(i, name, NULL);
    }
    for (int n = 0; t.n_silent == 0; n++) {
        CHECK(n < TURNS_MAX);
        (void)loop_turn(&t.loop, false);
    }
    for (size_t i = 0; i < CALLS; i++)
        oci_lookup_cancel(&t.asked[i].call);
    end();
    for (size_t i = 0; i < CALLS; i++)
        CHECK(!t.asked[i].is_done);
}

TEST(what_one_login_may_see_another_has_to_ask_for)
{
    char digest[OCI_DIGEST_TEXT_SIZE];
    begin();
    add_image("v1", 10, 20, digest);
    t.wants = "Basic bWU6c2VjcmV0"; /* me:secret */
    ask_as(0, "app:v1", "me");
    wait_for(0);
    check_image(&t.asked[0], 10, 20);
    ask_as(1, "app:v1", NULL);
    ask_as(2, "app:v1", "you");
    wait_for(1);
    wait_for(2);
    CHECK_ERR(t.asked[1].r, E_DENIED);
    CHECK_ERR(t.asked[2].r, E_DENIED);
    end();
}

TEST(registries_are_asked_only_where_they_may_be)
{
    char digest[OCI_DIGEST_TEXT_SIZE];
    begin();
    add_image("v1", 10, 20, digest);
    t.reach = OCI_LOOKUP_DENIED;
    CHECK_ERR(find("app:v1")->r, E_DENIED);
    t.reach = OCI_LOOKUP_PUBLIC; /* which loopback is not */
    CHECK_ERR(find("app:other")->r, -EACCES);
    CHECK_INT(t.n_seen, 0);
    end();
}

TEST(documents_that_lie_are_refused)
{
    char digest[OCI_DIGEST_TEXT_SIZE], name[128];
    begin();
    add_image("v1", 10, 20, digest);
    t.documents[0].text[0] = ' '; /* the configuration */
    CHECK_ERR(find("app:v1")->r, E_DIGEST);
    (void)snprintf(name, sizeof name, "app@%s", digest);
    t.documents[1].text[1] = ' '; /* the manifest */
    CHECK_ERR(find(name)->r, E_DIGEST);
    add_as("manifests", "v2", MANIFEST, "{\"schemaVersion\":2}");
    CHECK(find("app:v2")->r < 0);
    end();
}

TEST(what_was_not_asked_for_longest_is_forgotten)
{
    enum { NAMES = OCI_LOOKUP_NAMES_MAX + 1 };
    char name[32];
    begin();
    t.reach = OCI_LOOKUP_DENIED;
    for (int i = 0; i < NAMES; i++) {
        (void)snprintf(name, sizeof name, "app:v%d", i);
        CHECK_ERR(find(name)->r, E_DENIED);
    }
    t.reach = OCI_LOOKUP_ANYWHERE;
    CHECK_ERR(find(name)->r, E_DENIED); /* the last is known */
    CHECK_ERR(find("app:v0")->r, -ENOENT);
    end();
}

TEST_MAIN
