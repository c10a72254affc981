/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube/proto: hand-made messages, malformed ones, and upstream's golden data (the testdata of the
 * k8s.io/api module, found in Go's module cache or by K8S_API_TESTDATA; skipped without).
 */
#include "test.h"

#include "base/mem.h"
#include "base/sys.h"
#include "kube/builtin.h"
#include "kube/object.h"
#include "kube/proto.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>

static const struct schema *config_map(void)
{
    return builtin_schema(STR(""), STR("v1"), STR("ConfigMap"));
}

/* k8s\0, Unknown{TypeMeta{v1, ConfigMap}, raw = ConfigMap{metadata{name "a"}, data{"k": "v"}}, "",
 * ""} */
#define CONFIG_MAP_RAW                                                                             \
    "\x0a\x03\x0a\x01"                                                                             \
    "a"                                                                                            \
    "\x12\x06\x0a\x01"                                                                             \
    "k"                                                                                            \
    "\x12\x01"                                                                                     \
    "v"
static const char envelope[] = "k8s\0"
                               "\x0a\x0f\x0a\x02"
                               "v1"
                               "\x12\x09"
                               "ConfigMap"
                               "\x12\x0d" CONFIG_MAP_RAW "\x1a\x00\x22\x00";

TEST(a_message_in_its_envelope_becomes_an_object)
{
    struct arena a = { 0 };
    struct err err = { 0 };
    struct proto_envelope env;
    struct json *obj;
    CHECK_OK(proto_open(str_n(envelope, sizeof envelope - 1), &env, &err));
    CHECK_STR(env.api_version, "v1");
    CHECK_STR(env.kind, "ConfigMap");
    CHECK_OK(proto_decode(&a, config_map(), env.raw, &obj, &err));
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(1000);
    CHECK_OK(json_write(&b, obj));
    CHECK_STR(buf_str(&b), "{\"metadata\":{\"name\":\"a\"},\"data\":{\"k\":\"v\"}}");
    arena_fini(&a);
}

TEST(malformed_messages_are_refused)
{
    struct err err = { 0 };
    struct proto_envelope env;
    CHECK_ERR(proto_open(STR("{}"), &env, &err), E_PARSE);
    CHECK_ERR(proto_open(STR(""), &env, &err), E_PARSE);
    for (size_t n = 4; n < sizeof envelope - 1;
         n++) { /* every cut, and every flipped byte, ends in an answer */
        struct arena a = { 0 };
        struct json *obj;
        if (proto_open(str_n(envelope, n), &env, &err) >= 0)
            (void)proto_decode(&a, config_map(), env.raw, &obj, &err);
        char copy[sizeof envelope];
        memcpy(copy, envelope, sizeof copy);
        copy[n] = (char)(copy[n] ^ (char)(1 + test_random_below(255)));
        if (proto_open(str_n(copy, sizeof envelope - 1), &env, &err) >= 0)
            (void)proto_decode(&a, config_map(), env.raw, &obj, &err);
        arena_fini(&a);
    }
    struct arena a = { 0 };
    struct json *obj;
    CHECK_ERR(proto_decode(&a, config_map(), STR("\x0a\x7f"), &obj, &err),
              E_PARSE); /* longer than it is */
    CHECK_ERR(proto_decode(&a, config_map(), STR("\x08\x01"), &obj, &err),
              E_PARSE); /* a number where a message is due */
    CHECK_ERR(proto_decode(&a, config_map(), STR("\x0b\x0c"), &obj, &err), E_PARSE); /* a group */
    CHECK_OK(proto_decode(&a, config_map(), STR("\x98\x06\x01"), &obj,
                          &err)); /* a field of the future */
    arena_fini(&a);
}

/* ------------------------------------------------------------------ golden data */

static char *golden_dir(void)
{
    const char *env = getenv("K8S_API_TESTDATA"), *path = getenv("GOPATH"), *home = getenv("HOME");
    if (env)
        return xstrdup(env);
    scoped(free_scoped) char *root = path ? xstrdup(path) : xasprintf("%s/go", home ? home : "");
    scoped(free_scoped) char *pattern = xasprintf("%s/pkg/mod/k8s.io/api@v*/testdata/HEAD", root);
    glob_t g;
    char *found = NULL;
    if (glob(pattern, 0, NULL, &g) == 0) {
        found = xstrdup(g.gl_pathv[g.gl_pathc - 1]);
        globfree(&g);
    }
    return found;
}

/* "core.v1.ConfigMap.pb" */
static const struct schema *schema_of(struct str file)
{
    struct str kind, version, rest = str_slice(file, 0, file.n - 3);
    size_t dot = rest.n;
    while (dot && rest.p[dot - 1] != '.')
        dot--;
    kind = str_slice(rest, dot, rest.n);
    rest = str_slice(rest, 0, dot ? dot - 1 : 0);
    for (dot = rest.n; dot && rest.p[dot - 1] != '.'; dot--)
        ;
    version = str_slice(rest, dot, rest.n);
    struct str group = str_slice(rest, 0, dot ? dot - 1 : 0);
    return builtin_schema(str_is(group, "core") ? STR("") : group, version, kind);
}

static void check_golden(int dir, struct str file, const struct schema *s)
{
    struct arena a = { 0 };
    struct err err = { 0 };
    scoped(buf_fini_scoped) struct buf pb = BUF_INIT(8 << 20), js = BUF_INIT(8 << 20);
    scoped(free_scoped) char *pb_name = str_dup(file);
    scoped(free_scoped) char *js_name = xasprintf("%.*s.json", (int)file.n - 3, file.p);
    struct proto_envelope env;
    struct json *got, *want;
    CHECK_OK(sys_read_file(dir, pb_name, &pb, &err));
    CHECK_OK(sys_read_file(dir, js_name, &js, &err));
    CHECK_OK(proto_open(buf_str(&pb), &env, &err));
    CHECK_OK(proto_decode(&a, s, env.raw, &got, &err));
    CHECK_OK(json_parse(&a, buf_str(&js), NULL, &want, &err));
    json_set_str(&a, got, "apiVersion", env.api_version);
    json_set_str(&a, got, "kind", env.kind);
    CHECK_OK(schema_normalize(&a, s, got, "Object", NULL, NULL, &err));
    CHECK_OK(schema_normalize(&a, s, want, "Object", NULL, NULL, &err));
    if (!json_equal(got, want)) {
        scoped(buf_fini_scoped) struct buf g = BUF_INIT(8 << 20), w = BUF_INIT(8 << 20);
        (void)json_write_sorted(&g, got);
        (void)json_write_sorted(&w, want);
        size_t i = 0;
        while (i < g.n && i < w.n && g.p[i] == w.p[i])
            i++;
        i = i > 60 ? i - 60 : 0;
        TEST_FAIL("%s differs: got ...%.200s, want ...%.200s", pb_name, g.p + i, w.p + i);
    }
    arena_fini(&a);
}

TEST(upstreams_golden_messages_decode_to_upstreams_golden_json)
{
    scoped(free_scoped) char *path = golden_dir();
    if (!path)
        SKIP("no testdata of the k8s.io/api module in Go's module cache");
    DIR *d = opendir(path);
    if (!d)
        SKIP("the testdata of the k8s.io/api module cannot be read");
    size_t n = 0;
    for (struct dirent *e; (e = readdir(d));) {
        struct str file = str_of(e->d_name);
        const struct schema *s = str_has_suffix(file, STR(".pb")) ? schema_of(file) : NULL;
        if (!s)
            continue;
        check_golden(dirfd(d), file, s);
        n++;
    }
    (void)closedir(d);
    (void)printf("# %zu kinds\n", n);
    CHECK(n > 5);
}

TEST_MAIN
