/* SPDX-License-Identifier: Apache-2.0 */
/*
 * modules/module_source and module_fetch: modules from files with real inotify, from ConfigMaps by
 * a transport played by hand, from a real HTTP server, through redirects, and what goes wrong.
 */
#include "modules/module_source.h"

#include "base/buf.h"
#include "base/sys.h"
#include "codec/digest.h"
#include "fake_transport.h"
#include "io/http.h"
#include "modules/module_fetch.h"
#include "test.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEADLINE_MS = 60000 };

struct rig {
    struct loop loop;
    struct fake fake;
    struct watch_hub *hub;
    struct module_sources *sources;
    struct module_source *source;
    struct http_server *server;
    char dir[64];
    struct buf got; /* the module that was told last */
    unsigned modules, troubles, requests, fail_first;
    char reason[40], text[244];
    const char *body, *elsewhere;
};

static void take(struct rig *r, int fd)
{
    char b[256];
    ssize_t n = sys_pread_full(fd, b, sizeof b, 0);
    CHECK(n >= 0 && close(fd) == 0);
    buf_reset(&r->got);
    CHECK_OK(buf_add(&r->got, b, (size_t)n));
    r->modules++;
}

static void on_module(void *arg, int fd)
{
    take(arg, fd);
}

static void on_trouble(void *arg, const char *reason, const struct err *err)
{
    struct rig *r = arg;
    r->troubles++;
    (void)snprintf(r->reason, sizeof r->reason, "%s", reason);
    (void)snprintf(r->text, sizeof r->text, "%s", err_text(err));
}

static const struct module_source_ops ops = { .on_module = on_module, .on_trouble = on_trouble };

static void on_deadline(struct timer *t)
{
    TEST_FAIL("nothing came");
}

static void wait_for(struct rig *r, unsigned *counter, unsigned n)
{
    struct timer deadline = { 0 };
    timer_start(&r->loop, &deadline, DEADLINE_MS, on_deadline);
    while (*counter < n)
        (void)loop_turn(&r->loop, true);
    timer_stop(&r->loop, &deadline);
}

static void turn(struct rig *r)
{
    for (int i = 0; i < 10; i++)
        (void)loop_turn(&r->loop, false);
}

/* /module, /gone, /away -> /module, /loop -> /loop; the first `fail_first` get 503. */
static void on_request(struct http_exchange *x, const struct http_request *req, void *arg)
{
    struct rig *r = arg;
    struct headers h = { 0 };
    r->requests++;
    if (r->requests <= r->fail_first) {
        http_reply(x, 503, NULL, STR(""));
    } else if (str_is(req->target, "/no-login")) {
        http_reply(x, 407, NULL, STR(""));
    } else if (str_is(req->target, "/hang")) {
        return; /* it waits for an answer until it goes */
    } else if (str_is(req->target, "/module")) {
        http_reply(x, 200, NULL, str_of(r->body));
    } else if (str_is(req->target, "/elsewhere")) {
        (void)headers_addc(&h, "location", r->elsewhere);
        http_reply(x, 302, &h, STR(""));
    } else if (str_is(req->target, "/away") || str_is(req->target, "/loop")) {
        (void)headers_addc(&h, "location", str_is(req->target, "/away") ? "/module" : "/loop");
        http_reply(x, 302, &h, STR(""));
    } else {
        http_reply(x, 404, NULL, STR(""));
    }
    headers_fini(&h);
}

/* hosts: from where URLs may be; NULL: the default. */
static void rig_init_with(struct rig *r, const char *const *hosts, size_t n_hosts)
{
    *r = (struct rig){ .dir = "/tmp/dm-test-source-XXXXXX",
                       .got = BUF_INIT(1 << 20),
                       .body = "the module" };
    CHECK(mkdtemp(r->dir));
    CHECK_OK(loop_init(&r->loop, NULL));
    fake_init(&r->fake);
    struct watch_hub_opts hub = { .transport = &r->fake.base, .widen_at = UINT_MAX };
    CHECK_OK(watch_hub_new(&r->loop, &hub, &r->hub, NULL));
    struct module_sources_opts opts = { .loop = &r->loop,
                                        .transport = &r->fake.base,
                                        .hub = r->hub,
                                        .dir = r->dir,
                                        .site.hosts = { hosts, n_hosts } };
    CHECK_OK(module_sources_new(&opts, &r->sources, NULL));
    struct http_server_opts server = { .on_request = on_request, .arg = r };
    CHECK_OK(http_server_start(&r->loop, &server, &r->server, NULL));
}

static void rig_init(struct rig *r)
{
    static const char *const here[] = { "127.0.0.1", "*" };
    rig_init_with(r, here, ARRAY_LEN(here));
}

static void rig_fini(struct rig *r)
{
    module_source_close(r->source);
    module_sources_close(r->sources);
    watch_hub_close(r->hub, NULL, NULL);
    http_server_close(r->server, 0, NULL, NULL);
    turn(r);
    for (size_t i = 0; i < r->fake.n; i++)
        if (!r->fake.call[i].ended)
            fake_end(&r->fake.call[i], -ECANCELED);
    while (loop_turn(&r->loop, false))
        ;
    loop_fini(&r->loop);
    fake_fini(&r->fake);
    buf_fini(&r->got);
    scoped(free_scoped) char *rm = xasprintf("rm -r %s", r->dir);
    CHECK_INT(system(rm), 0);
}

static int open_source(struct rig *r, const struct module_origin *o, struct err *err)
{
    return module_source_open(r->sources, o, &ops, r, &r->source, err);
}

static void write_file(const char *path, const char *text)
{
    CHECK_OK(sys_write_file_atomic(AT_FDCWD, path, str_of(text), 0600, NULL));
}

TEST(a_file_is_there_at_once_and_its_changes_are_noticed)
{
    struct rig r;
    struct err err = { 0 };
    rig_init(&r);
    scoped(free_scoped) char *path = xasprintf("%s/a.wasm", r.dir);
    write_file(path, "one");
    struct module_origin o = { .from = MODULE_FROM_FILE, .path = path };
    take(&r, open_source(&r, &o, &err));
    CHECK_STR(buf_str(&r.got), "one");
    write_file(path, "two"); /* by a rename */
    wait_for(&r, &r.modules, 2);
    CHECK_STR(buf_str(&r.got), "two");
    FILE *f = fopen(path, "w"); /* in place */
    CHECK(f && fputs("three", f) >= 0 && fclose(f) == 0);
    wait_for(&r, &r.modules, 3);
    CHECK_STR(buf_str(&r.got), "three");
    struct module_sources_stats stats;
    module_sources_get_stats(r.sources, &stats);
    CHECK_INT(stats.directories, 1);
    rig_fini(&r);
}

TEST(a_file_that_comes_later_is_noticed)
{
    struct rig r;
    struct err err = { 0 };
    rig_init(&r);
    scoped(free_scoped) char *path = xasprintf("%s/b.wasm", r.dir);
    struct module_origin o = { .from = MODULE_FROM_FILE, .path = path };
    CHECK_INT(open_source(&r, &o, &err), -ENOENT);
    write_file(path, "late");
    wait_for(&r, &r.modules, 1);
    CHECK_STR(buf_str(&r.got), "late");
    rig_fini(&r);
}

static const char config_map[] =
    "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"m\",\"resourceVersion\":\"%d\"},"
    "\"binaryData\":{\"x.wasm\":\"%s\"}}";

/* The list's answer, and the watch that follows. */
static void list_config_maps(struct rig *r, const char *item)
{
    CHECK_INT(r->fake.n, 1);
    CHECK_STR(str_of(r->fake.call[0].target),
              "/api/v1/namespaces/ns/configmaps?limit=500&fieldSelector=metadata.name%3Dm");
    scoped(free_scoped) char *text =
        xasprintf("{\"metadata\":{\"resourceVersion\":\"5\"},\"items\":[%s]}", item);
    fake_head(&r->fake.call[0], 200);
    fake_data(&r->fake.call[0], text);
    fake_end(&r->fake.call[0], 0);
    turn(r);
    fake_head(&r->fake.call[1], 200);
}

TEST(a_config_map_is_decoded_and_followed)
{
    struct rig r;
    struct err err = { 0 };
    rig_init(&r);
    struct module_origin o = {
        .from = MODULE_FROM_CONFIG_MAP, .namespace = "ns", .name = "m", .key = "x.wasm"
    };
    CHECK_INT(open_source(&r, &o, &err), -EAGAIN);
    turn(&r);
    list_config_maps(&r, "");
    CHECK_INT(r.troubles, 1);
    CHECK_STR(str_of(r.text), "there is no ConfigMap 'ns/m' with 'x.wasm' in its binaryData");
    static const char *const versions[] = { "b25l", "b25l", "dHdv" }; /* one, one, two */
    for (int i = 0; i < 3; i++) {
        char object[256];
        (void)snprintf(object, sizeof object, config_map, 6 + i, versions[i]);
        scoped(free_scoped) char *line =
            xasprintf("{\"type\":\"%s\",\"object\":%s}\n", i ? "MODIFIED" : "ADDED", object);
        fake_data(&r.fake.call[1], line);
        turn(&r);
    }
    CHECK_INT(r.modules, 2); /* the same again is no change */
    CHECK_STR(buf_str(&r.got), "two");
    rig_fini(&r);
}

static struct module_origin url_of(struct rig *r, const char *path, const char *content, char *url,
                                   char hex[SHA256_HEX_SIZE])
{
    uint8_t digest[SHA256_BYTES];
    sha256_of(str_of(content), digest);
    hex_format(digest, sizeof digest, hex);
    (void)snprintf(url, 128, "http://127.0.0.1:%u%s", http_server_port(r->server), path);
    return (struct module_origin){ .from = MODULE_FROM_URL, .url = url, .sha256 = hex };
}

TEST(a_download_is_followed_through_redirects_checked_and_kept)
{
    struct rig r;
    struct err err = { 0 };
    char url[128], hex[SHA256_HEX_SIZE];
    rig_init(&r);
    struct module_origin o = url_of(&r, "/away", "the module", url, hex);
    CHECK_INT(open_source(&r, &o, &err), -EAGAIN);
    wait_for(&r, &r.modules, 1);
    CHECK_STR(buf_str(&r.got), "the module");
    CHECK_INT(r.requests, 2);
    module_source_close(take_ptr(&r.source));
    take(&r, open_source(&r, &o, &err)); /* not asked for again */
    CHECK_STR(buf_str(&r.got), "the module");
    CHECK_INT(r.requests, 2);
    rig_fini(&r);
}

TEST(a_server_that_is_down_is_asked_again)
{
    struct rig r;
    struct err err = { 0 };
    char url[128], hex[SHA256_HEX_SIZE];
    rig_init(&r);
    r.fail_first = 1;
    struct module_origin o = url_of(&r, "/module", "the module", url, hex);
    CHECK_INT(open_source(&r, &o, &err), -EAGAIN);
    wait_for(&r, &r.modules, 1);
    CHECK_INT(r.troubles, 1);
    CHECK_STR(str_of(r.reason), "ModuleUnavailable");
    CHECK_STR(str_of(r.text),
              "the module cannot be fetched from its URL; the host's log says why (hosts that "
              "--module-host does not name have to be at public addresses)");
    rig_fini(&r);
}

TEST(other_bytes_than_the_digest_says_are_refused)
{
    struct rig r;
    struct err err = { 0 };
    char url[128], hex[SHA256_HEX_SIZE];
    rig_init(&r);
    struct module_origin o = url_of(&r, "/module", "another", url, hex);
    CHECK_INT(open_source(&r, &o, &err), -EAGAIN);
    wait_for(&r, &r.troubles, 1);
    CHECK_STR(str_of(r.reason), "ModuleDigestWrong");
    CHECK_STR(str_of(r.text), "what is at the URL has another digest than the spec names");
    CHECK_INT(r.modules, 0);
    scoped(free_scoped) char *ls = xasprintf("test -z \"$(ls %s)\"", r.dir);
    CHECK_INT(system(ls), 0); /* nothing of it stays */
    rig_fini(&r);
}

TEST(redirects_without_end_are_an_error)
{
    struct rig r;
    struct err err = { 0 };
    char url[128], hex[SHA256_HEX_SIZE];
    rig_init(&r);
    struct module_origin o = url_of(&r, "/loop", "x", url, hex);
    CHECK_INT(open_source(&r, &o, &err), -EAGAIN);
    wait_for(&r, &r.troubles, 1);
    CHECK_STR(str_of(r.reason), "ModuleUnavailable");
    rig_fini(&r);
}

/* What was asked for, what was told, and that nobody was asked. */
static void check_denied(const char *const *hosts, size_t n, const char *url, const char *reason)
{
    struct rig r;
    struct err err = { 0 };
    char own[128], hex[SHA256_HEX_SIZE];
    rig_init_with(&r, hosts, n);
    struct module_origin o = url_of(&r, "/module", "the module", own, hex);
    o.url = url ? url : own;
    CHECK_INT(open_source(&r, &o, &err), -EAGAIN);
    wait_for(&r, &r.troubles, 1);
    CHECK_STR(str_of(r.reason), reason);
    CHECK_INT(r.requests, 0);
    rig_fini(&r);
}

TEST(the_host_does_not_look_at_its_neighbours_for_whoever_writes_a_url)
{
    static const char *const any[] = { "*" }, *const other[] = { "modules.example", "127.0.0.1:1" };
    check_denied(NULL, 0, NULL, "ModuleHostDenied"); /* 127.0.0.1 */
    check_denied(any, 1, NULL, "ModuleHostDenied");
    check_denied(other, 2, NULL, "ModuleHostDenied");
    check_denied(NULL, 0, "http://169.254.169.254/latest/", "ModuleHostDenied");
    check_denied(NULL, 0, "http://[::ffff:10.0.0.1]/", "ModuleHostDenied");
    check_denied(other, 2, "https://example.org/", "ModuleHostDenied");
    /* A name is found first; that it is here is not told. */
    check_denied(NULL, 0, "http://localhost:1/", "ModuleUnavailable");
}

TEST(a_redirect_leads_to_no_other_host)
{
    struct rig r;
    struct err err = { 0 };
    static const char *const here[] = { "127.0.0.1" };
    char url[128], hex[SHA256_HEX_SIZE], away[64];
    rig_init_with(&r, here, 1);
    struct module_origin o = url_of(&r, "/elsewhere", "the module", url, hex);
    (void)snprintf(away, sizeof away, "http://[::1]:%u/module", http_server_port(r.server));
    r.elsewhere = away;
    CHECK_INT(open_source(&r, &o, &err), -EAGAIN);
    wait_for(&r, &r.troubles, 1);
    CHECK_STR(str_of(r.reason), "ModuleUnavailable"); /* and not to where */
    CHECK(!strstr(r.text, "::1"));
    CHECK_INT(r.requests, 1);
    rig_fini(&r);
}

TEST(hosts_are_found_by_name_suffix_port_and_address)
{
    static const char *const entries[] = { "a.example", "b.example:444", ".c.example",
                                           "10.0.0.1",  "fd00::1",       "[fd00::2]:80" };
    static const struct {
        const char *host;
        uint16_t port;
        enum module_host want;
    } asked[] = {
        { "a.example", 443, MODULE_HOST_NAMED },     { "A.Example.", 80, MODULE_HOST_NAMED },
        { "x.a.example", 443, MODULE_HOST_DENIED },  { "b.example", 444, MODULE_HOST_NAMED },
        { "b.example", 443, MODULE_HOST_DENIED },    { "c.example", 443, MODULE_HOST_DENIED },
        { "x.y.c.example", 443, MODULE_HOST_NAMED }, { "xc.example", 443, MODULE_HOST_DENIED },
        { "10.0.0.1", 1, MODULE_HOST_NAMED },        { "10.0.0.11", 1, MODULE_HOST_DENIED },
        { "fd00::1", 443, MODULE_HOST_NAMED },       { "fd00::2", 80, MODULE_HOST_NAMED },
        { "fd00::2", 81, MODULE_HOST_DENIED },       { "", 80, MODULE_HOST_DENIED }
    };
    struct module_hosts hosts = { entries, ARRAY_LEN(entries) }, none = { 0 };
    CHECK_OK(module_hosts_check(&hosts, NULL));
    for (size_t i = 0; i < ARRAY_LEN(asked); i++)
        CHECK_INT(module_hosts_find(&hosts, asked[i].host, asked[i].port), asked[i].want);
    CHECK_INT(module_hosts_find(&none, "a", 80), MODULE_HOST_PUBLIC);
    static const char *const bad[] = { "",   "http://a", "a/b", "a:0", "a:65536",
                                       "a:", "*.a",      ".",   "[::1" };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        hosts = (struct module_hosts){ &bad[i], 1 };
        CHECK_ERR(module_hosts_check(&hosts, NULL), E_INVALID);
    }
}

enum { HANGING = MODULE_SOURCE_TENANT_MAX + 3 };

TEST(a_namespace_whose_server_hangs_holds_up_itself_alone)
{
    struct rig r;
    struct err err = { 0 };
    struct module_source *hanging[HANGING] = { 0 };
    char url[128], hex[SHA256_HEX_SIZE], own[128];
    struct module_sources_stats stats;
    rig_init(&r);
    struct module_origin o = url_of(&r, "/hang", "the module", url, hex);
    o.namespace = "slow";
    for (size_t i = 0; i < HANGING; i++)
        CHECK_INT(module_source_open(r.sources, &o, &ops, &r, &hanging[i], &err), -EAGAIN);
    wait_for(&r, &r.requests, MODULE_SOURCE_TENANT_MAX);
    o = url_of(&r, "/module", "the module", own, hex);
    o.namespace = "other";
    CHECK_INT(open_source(&r, &o, &err), -EAGAIN);
    wait_for(&r, &r.modules, 1);
    CHECK_INT(r.requests, MODULE_SOURCE_TENANT_MAX + 1);
    module_sources_get_stats(r.sources, &stats);
    CHECK_INT(stats.downloads_running, MODULE_SOURCE_TENANT_MAX);
    module_source_close(hanging[0]); /* the next one has its turn */
    wait_for(&r, &r.requests, MODULE_SOURCE_TENANT_MAX + 2);
    for (size_t i = 1; i < HANGING; i++)
        module_source_close(hanging[i]);
    module_sources_get_stats(r.sources, &stats);
    CHECK_INT(stats.downloads_running, 0);
    rig_fini(&r);
}

/* Downloads of who runs the process have turns of their own. */
TEST(what_belongs_to_no_namespace_waits_for_room_alone)
{
    struct rig r;
    struct err err = { 0 };
    struct module_source *hanging[HANGING] = { 0 };
    char url[128], hex[SHA256_HEX_SIZE];
    rig_init(&r);
    struct module_origin o = url_of(&r, "/hang", "the module", url, hex);
    for (size_t i = 0; i < HANGING; i++)
        CHECK_INT(module_source_open(r.sources, &o, &ops, &r, &hanging[i], &err), -EAGAIN);
    wait_for(&r, &r.requests, HANGING);
    for (size_t i = 0; i < HANGING; i++)
        module_source_close(hanging[i]);
    rig_fini(&r);
}

static void make_part(const struct rig *r, const char *name, time_t age_s)
{
    scoped(free_scoped) char *path = xasprintf("%s/%s", r->dir, name);
    write_file(path, "half");
    const struct timespec at[2] = { { .tv_sec = time(NULL) - age_s },
                                    { .tv_sec = time(NULL) - age_s } };
    CHECK_INT(utimensat(AT_FDCWD, path, at, 0), 0);
}

static bool is_there(const struct rig *r, const char *name)
{
    scoped(free_scoped) char *path = xasprintf("%s/%s", r->dir, name);
    return access(path, F_OK) == 0;
}

TEST(what_a_killed_process_left_half_goes_and_what_another_one_fetches_stays)
{
    struct rig r;
    rig_init(&r);
    make_part(&r, "a.wasm.1.part", MODULE_FETCH_PART_S + 60);
    make_part(&r, "a.wasm.2.part", 0);
    make_part(&r, "a.wasm", MODULE_FETCH_PART_S + 60);
    module_fetch_tidy(r.dir);
    CHECK(!is_there(&r, "a.wasm.1.part"));
    CHECK(is_there(&r, "a.wasm.2.part"));
    CHECK(is_there(&r, "a.wasm"));
    rig_fini(&r);
}

TEST(closed_while_it_is_being_fetched_nothing_is_told)
{
    struct rig r;
    struct err err = { 0 };
    char url[128], hex[SHA256_HEX_SIZE];
    rig_init(&r);
    struct module_origin o = url_of(&r, "/module", "the module", url, hex);
    CHECK_INT(open_source(&r, &o, &err), -EAGAIN);
    wait_for(&r, &r.requests, 1);
    module_source_close(take_ptr(&r.source));
    turn(&r);
    CHECK_INT(r.modules + r.troubles, 0);
    rig_fini(&r);
}

/* ---------------------------------------------------------------- URLs and proxies */

TEST(urls_are_taken_apart)
{
    static const struct {
        const char *text, *host, *path;
        unsigned port;
        bool tls;
    } good[] = {
        { "http://a", "a", "/", 80, false },
        { "https://a.example:8443/x/y?z=1#f", "a.example", "/x/y?z=1", 8443, true },
        { "https://[::1]/m", "::1", "/m", 443, true },
        { "http://a?q", "a", "/?q", 80, false },
        { "/rel?x", "base", "/rel?x", 81, true },
        { "//other/x", "other", "/x", 443, true },
    };
    static const char *const bad[] = { "",
                                       "a",
                                       "ftp://a",
                                       "http://",
                                       "http://:1",
                                       "http://a:0",
                                       "http://u@a/x",
                                       "http://a b/",
                                       "http://[::1",
                                       "http://a:x" };
    struct fetch_url base = { .tls = true, .host = (char *)"base", .port = 81 }, u;
    struct err err = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        CHECK_OK(fetch_url_parse(good[i].text, &base, &u, &err));
        CHECK_STR(str_of(u.host), good[i].host);
        CHECK_STR(str_of(u.path), good[i].path);
        CHECK(u.port == good[i].port && u.tls == good[i].tls);
        fetch_url_fini(&u);
    }
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        CHECK_INT(fetch_url_parse(bad[i], NULL, &u, &err), E_INVALID);
}

TEST(messages_name_the_host_with_a_port_that_is_not_the_schemes)
{
    static const char *const cases[][2] = { { "http://a", "a" },
                                            { "http://a:80/x", "a" },
                                            { "https://a:80", "a:80" },
                                            { "https://a:443", "a" },
                                            { "http://a:5000/x", "a:5000" },
                                            { "http://[::1]:5000", "[::1]:5000" },
                                            { "https://[::1]", "[::1]" } };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fetch_url u;
        char text[FETCH_URL_HOST_MAX];
        CHECK_OK(fetch_url_parse(cases[i][0], NULL, &u, NULL));
        CHECK_STR(str_of(fetch_url_host(&u, text)), cases[i][1]);
        fetch_url_fini(&u);
    }
}

TEST(hosts_are_exempt_from_proxies_as_no_proxy_says)
{
    CHECK(fetch_url_no_proxy("*", "a", 80));
    CHECK(fetch_url_no_proxy("x, example.org", "a.example.org", 80));
    CHECK(fetch_url_no_proxy(".example.org", "example.org", 80));
    CHECK(!fetch_url_no_proxy("example.org", "anexample.org", 80));
    CHECK(fetch_url_no_proxy("a:81", "a", 81));
    CHECK(!fetch_url_no_proxy("a:81", "a", 80));
    CHECK(!fetch_url_no_proxy("", "a", 80));
    CHECK(!fetch_url_no_proxy(NULL, "a", 80));
}

TEST(proxies_may_want_a_login)
{
    static const struct {
        const char *url, *authorization;
    } good[] = {
        { "http://proxy:3128", NULL },
        { "http://aladdin:opensesame@proxy:3128/", "Basic YWxhZGRpbjpvcGVuc2VzYW1l" },
        { "http://user@proxy:3128", "Basic dXNlcjo=" },
        { "http://a:p%40ss%3Aword@proxy:3128", "Basic YTpwQHNzOndvcmQ=" },
        { "http://a:p@ss@proxy:3128", "Basic YTpwQHNz" },
    };
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        struct fetch_proxy proxy;
        CHECK_OK(fetch_proxy_parse(good[i].url, &proxy, NULL));
        CHECK_STR(str_of(proxy.host), "proxy");
        CHECK_INT(proxy.port, 3128);
        CHECK((proxy.authorization == NULL) == (good[i].authorization == NULL));
        if (proxy.authorization && good[i].authorization)
            CHECK_STR(str_of(proxy.authorization), good[i].authorization);
        fetch_proxy_fini(&proxy);
    }
}

TEST(errors_about_proxies_hold_no_password)
{
    static const char *const bad[] = {
        "http://u:secret@",     "http://u:secret@:80",     "ftp://u:secret@h",
        "http://u:secret@h:0",  "http://u:sec%zret@h",     "https://u:secret@h",
        "http://u:se@secret@/", "http://u:secret@h:1:2",   "u:secret@h:3128",
        "//u:secret@h:3128",    "http:/u:secret@h",        "u:sec://ret@h",
        "http://u:sec/ret@h",   "http://u:sec?ret@h",      "http://u:sec#ret@h",
        "http://u:80/secret@h", "http://u:80?secret@h",    "http://u:80#secret@h",
        "http://u/secret@h:1",  "http://u@x:80/secret@h:1"
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct fetch_proxy proxy;
        struct fetch_url url;
        struct err err = { 0 };
        CHECK(fetch_proxy_parse(bad[i], &proxy, &err) < 0);
        CHECK(!strstr(err_text(&err), "sec") && !strstr(err_text(&err), "ret@") && !proxy.host);
        CHECK(!proxy.authorization);
        if (fetch_url_parse(bad[i], NULL, &url, &err) >= 0)
            fetch_url_fini(&url);
        else
            CHECK(!strstr(err_text(&err), "sec"));
    }
}

TEST(a_plain_url_goes_to_the_proxy_of_the_environment)
{
    struct rig r;
    struct err err = { 0 };
    char url[128], hex[SHA256_HEX_SIZE], proxy[64];
    rig_init(&r);
    struct module_origin o = url_of(&r, "/module", "the module", url, hex);
    (void)snprintf(proxy, sizeof proxy, "http://127.0.0.1:%u", http_server_port(r.server));
    CHECK(setenv("http_proxy", proxy, 1) == 0);
    o.url = "http://unknown.invalid/module";
    CHECK_INT(open_source(&r, &o, &err), -EAGAIN);
    wait_for(&r, &r.modules, 1);
    CHECK_INT(r.requests, 1);
    CHECK(unsetenv("http_proxy") == 0);
    rig_fini(&r);
}

struct fetched {
    unsigned n;
    int r;
    char text[244];
};

static void on_fetched(void *arg, int r, const struct err *err)
{
    struct fetched *f = arg;
    f->n++;
    f->r = r;
    (void)snprintf(f->text, sizeof f->text, "%s", err_text(err));
}

static struct fetched fetch(struct rig *r, const char *url, const char *hex)
{
    static const char *const any[] = { "127.0.0.1", "*" };
    const struct module_site site = { .hosts = { any, ARRAY_LEN(any) } };
    scoped(free_scoped) char *path = xasprintf("%s/fetched", r->dir);
    struct fetched f = { 0 };
    struct module_fetch *fetch;
    const struct module_fetch_opts opts = { .loop = &r->loop,
                                            .url = url,
                                            .sha256 = hex,
                                            .path = path,
                                            .max_bytes = 1 << 20,
                                            .idle_ms = DEADLINE_MS,
                                            .site = &site };
    CHECK_OK(module_fetch_start(&opts, on_fetched, &f, &fetch, NULL));
    wait_for(r, &f.n, 1);
    return f;
}

/* That of a proxy may be another one the next time, and is none of the server. */
TEST(a_407_is_the_servers_answer_unless_a_proxy_gives_it)
{
    struct rig r;
    char url[128], hex[SHA256_HEX_SIZE], proxy[64];
    rig_init(&r);
    (void)url_of(&r, "/no-login", "the module", url, hex);
    struct fetched f = fetch(&r, url, hex);
    CHECK_INT(f.r, E_DENIED);
    CHECK_STR(str_of(f.text), "the server answers 407");
    (void)snprintf(proxy, sizeof proxy, "http://127.0.0.1:%u", http_server_port(r.server));
    CHECK(setenv("http_proxy", proxy, 1) == 0);
    f = fetch(&r, "http://a.invalid/no-login", hex);
    CHECK(unsetenv("http_proxy") == 0);
    CHECK_INT(f.r, -ECONNREFUSED);
    CHECK_STR(str_of(f.text), "the proxy answers 407: it wants a login, "
                              "http://USER:PASSWORD@HOST:PORT");
    CHECK_INT(r.requests, 2);
    rig_fini(&r);
}

TEST_MAIN
