/* SPDX-License-Identifier: Apache-2.0 */
/* The config.json of `image run`. */
#include "base/mem.h"
#include "codec/json.h"
#include "image/run_spec.h"
#include "test.h"

#include <sys/socket.h>

static const struct container_user root_user;

static struct json *make_whole(struct arena *a, struct run_spec_opts o)
{
    static const struct str words[] = { { "sh", 2 } };
    const struct oci_run run = { .command = { words, 1 } };
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(1 << 20);
    struct json *doc;
    o.root = "/a \"root\"";
    o.host_name = "h";
    CHECK_OK(run_spec_make(&run, &o, &root_user, &out, NULL));
    CHECK_OK(json_parse(a, str_copy_arena(a, buf_str(&out)), NULL, &doc, NULL));
    return doc;
}

static bool has(const struct json *list, const char *member, const char *value)
{
    json_each (v, list)
        if (str_is(json_get_str(v, member), value))
            return true;
    return false;
}

TEST(arguments_and_variables_take_the_place_of_those_of_the_image)
{
    const struct str entry = STR("/entry"), command[] = { STR("serve"), STR("x") },
                     env[] = { STR("PATH=/bin"), STR("A=1") }, other = STR("other"),
                     shell = STR("/sh"), own[] = { STR("A=3"), STR("C=") };
    const struct oci_run run = { .entrypoint = { &entry, 1 },
                                 .command = { command, 2 },
                                 .env = { env, 2 } };
    struct run_spec_opts o = {
        .args = { &other, 1 }, .env = { own, 2 }, .root = "/r", .host_name = "h"
    };
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(1 << 20);
    CHECK_OK(run_spec_make(&run, &o, &root_user, &out, NULL));
    CHECK(strstr(buf_cstr(&out), "\"args\":[\"/entry\",\"other\"],\"env\":[\"PATH=/bin\",\"A=3\","
                                 "\"C=\"],\"cwd\":\"/\""));
    o = (struct run_spec_opts){
        .entrypoint = { &shell, 1 }, .cwd = STR("/tmp"), .root = "/r", .host_name = "h"
    };
    buf_reset(&out);
    CHECK_OK(run_spec_make(&run, &o, &root_user, &out, NULL));
    CHECK(strstr(buf_cstr(&out),
                 "\"args\":[\"/sh\"],\"env\":[\"PATH=/bin\",\"A=1\"],\"cwd\":\"/tmp\""));
}

TEST(a_container_has_no_network_and_few_rights_unless_asked)
{
    struct arena a = { 0 };
    struct json *doc = make_whole(&a, (struct run_spec_opts){ 0 });
    CHECK_STR(json_get_str(json_getc(doc, "root"), "path"), "/a \"root\"");
    CHECK(!json_bool(json_path(doc, "root", "readonly", NULL)));
    CHECK(json_bool(json_path(doc, "process", "noNewPrivileges", NULL)));
    CHECK(has(json_path(doc, "linux", "namespaces", NULL), "type", "network"));
    CHECK(!has(json_getc(doc, "mounts"), "destination", "/etc/hosts"));
    CHECK(!has(json_getc(doc, "mounts"), "destination", "/run"));
    json_each (c, json_path(doc, "process", "capabilities", "bounding", NULL))
        CHECK(!str_is(json_str(c), "CAP_SYS_ADMIN") && !str_is(json_str(c), "CAP_NET_RAW"));
    doc = make_whole(&a, (struct run_spec_opts){ .has_network = true, .is_read_only = true });
    CHECK(json_bool(json_path(doc, "root", "readonly", NULL)));
    CHECK(!has(json_path(doc, "linux", "namespaces", NULL), "type", "network"));
    CHECK(has(json_getc(doc, "mounts"), "destination", "/etc/hosts"));
    CHECK(has(json_getc(doc, "mounts"), "destination", "/run"));
    arena_fini(&a);
}

/* The address families that socket() is refused for. */
TEST(terminals_have_their_group_only_where_it_exists)
{
    const struct oci_run run = { .command = { (const struct str[]){ STR("sh") }, 1 } };
    for (int is_user = 0; is_user < 2; is_user++) {
        scoped(buf_fini_scoped) struct buf out = BUF_INIT(1 << 20);
        const struct run_spec_opts o = { .root = "/r",
                                         .host_name = "h",
                                         .is_in_user_namespace = is_user };
        CHECK_OK(run_spec_make(&run, &o, &root_user, &out, NULL));
        CHECK(strstr(buf_cstr(&out), "\"mode=0620\""));
        CHECK_INT(strstr(buf_cstr(&out), "\"gid=5\"") != NULL, !is_user);
    }
}

TEST(no_socket_leads_to_the_hypervisor)
{
    struct arena a = { 0 };
    struct json *doc = make_whole(&a, (struct run_spec_opts){ 0 });
    int64_t family = 0;
    json_each (rule, json_path(doc, "linux", "seccomp", "syscalls", NULL)) {
        const struct json *arg = json_first(json_getc(rule, "args"));
        if (!str_is(json_str(json_first(json_getc(rule, "names"))), "socket"))
            continue;
        CHECK_STR(json_get_str(rule, "action"), "SCMP_ACT_ERRNO");
        CHECK_STR(json_get_str(arg, "op"), "SCMP_CMP_MASKED_EQ");
        CHECK_INT(json_int_or(json_getc(arg, "value"), 0), UINT32_MAX); /* an int: 32 bits count */
        family = json_int_or(json_getc(arg, "valueTwo"), 0);
    }
    CHECK_INT(family, AF_VSOCK);
    arena_fini(&a);
}

TEST_MAIN
