/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/network: CNI plug-ins. Plug-ins of the test are scripts that note how they were called; the
 * last tests use the plug-ins of Debian's containernetworking-plugins where they are installed.
 */
#include "pod_network_kit.h"

#include "agent/network/pod_cni.h"
#include "agent/network/pod_cni_config.h"

#include <sys/stat.h>

#define POD "5f0c2f4e-0b9c-4f6a-8a52-0d6f5c1f0001"

static bool can_isolate;
static char config_dir[TEMP_DIR_BYTES + 8], bin_dir[TEMP_DIR_BYTES + 8];

#define NEEDS_NAMESPACES                                                                           \
    do {                                                                                           \
        if (!can_isolate)                                                                          \
            SKIP("network namespaces may not be made here");                                       \
    } while (0)

static void write_file(const char *dir, const char *name, const char *text, mode_t mode)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
    CHECK_OK(fd);
    CHECK_OK(sys_write_all(fd, text, strlen(text)));
    (void)close(fd);
}

/* What the scripts noted under this name; in a static buffer. */
static const char *noted(const char *name)
{
    static char text[8192];
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", kit_dir, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        (void)close(fd);
    text[n > 0 ? n : 0] = '\0';
    return text;
}

/* Notes order, environment and input, then does what the text says. */
static void write_plugin(const char *name, const char *then)
{
    char text[2048];
    (void)snprintf(text, sizeof text,
                   "#!/bin/sh\necho \"$CNI_COMMAND %s\" >>%s/calls\n"
                   "cat >%s/$CNI_COMMAND-%s-input\n"
                   "env | grep ^CNI_ | sort >%s/$CNI_COMMAND-%s-env\n%s\n",
                   name, kit_dir, kit_dir, name, kit_dir, name, then);
    write_file(bin_dir, name, text, 0755);
}

#define RESULT                                                                                     \
    "{\"cniVersion\":\"0.4.0\",\"interfaces\":[{\"name\":\"br\"},{\"name\":\"eth0\","              \
    "\"sandbox\":\"x\"}],\"ips\":[{\"version\":\"4\",\"address\":\"10.9.0.7/24\","                 \
    "\"interface\":1},{\"version\":\"4\",\"address\":\"10.9.0.1/24\",\"interface\":0},"            \
    "{\"version\":\"6\",\"address\":\"fd00:9::7/64\",\"interface\":1}],"                           \
    "\"dns\":{\"nameservers\":[\"10.9.0.53\"],\"search\":[\"example\"]}}"

#define LIST                                                                                       \
    "{\"cniVersion\":\"0.4.0\",\"name\":\"net\",\"plugins\":[{\"type\":\"first\","                 \
    "\"capabilities\":{\"ipRanges\":true}},{\"type\":\"second\","                                  \
    "\"capabilities\":{\"portMappings\":true,\"bandwidth\":true}}]}"

static struct pod_networks *open_networks(enum pod_network_mode mode, const char *bins)
{
    struct pod_networks *p = NULL;
    struct err err = { 0 };
    static const char *dirs[2];
    const struct str cidr = STR("10.9.0.0/24");
    dirs[0] = bins;
    struct pod_networks_opts o = { .loop = &kit_loop,
                                   .state_dir = kit_dir,
                                   .mode = mode,
                                   .config_dir = config_dir,
                                   .bin_dirs = dirs };
    if (pod_networks_new(&o, &cidr, 1, &p, &err) < 0)
        TEST_FAIL("%s", err_text(&err));
    return p;
}

static void begin(void)
{
    CHECK_OK(loop_init(&kit_loop, NULL));
    CHECK(temp_dir_make("podcni", kit_dir));
    (void)snprintf(config_dir, sizeof config_dir, "%s/net.d", kit_dir);
    (void)snprintf(bin_dir, sizeof bin_dir, "%s/bin", kit_dir);
    CHECK_OK(mkdir(config_dir, 0755));
    CHECK_OK(mkdir(bin_dir, 0755));
}

static void end(void)
{
    temp_dir_remove(kit_dir);
    while (loop_turn(&kit_loop, false))
        ;
    loop_fini(&kit_loop);
}

static void write_both(void)
{
    write_file(config_dir, "10-net.conflist", LIST, 0644);
    write_file(config_dir, "99-other.conflist", "{", 0644); /* only the first counts */
    write_plugin("first", "[ $CNI_COMMAND = DEL ] || echo '" RESULT "'");
    write_plugin("second", "[ $CNI_COMMAND = DEL ] || echo '" RESULT "'");
}

TEST(plug_ins_are_called_in_order_and_removed_in_reverse)
{
    NEEDS_NAMESPACES;
    struct kit_pod a;
    const struct pod_network_port port = { .host_port = 8080, .container_port = 80 };
    begin();
    write_both();
    struct pod_networks *p = open_networks(POD_NETWORK_AUTO, bin_dir);
    kit_start(p, POD, &a, &port, 1);
    kit_must_be_ready(&a);
    CHECK_STR(str_of(noted("calls")), "ADD first\nADD second\n");
    CHECK_STR(str_of(kit_ip(&a, 0)), "10.9.0.7"); /* not that of the bridge */
    CHECK_STR(str_of(kit_ip(&a, 1)), "fd00:9::7");
    const struct pod_network_dns *dns = pod_network_dns(a.n);
    CHECK_INT(dns->n_nameservers, 1);
    CHECK_STR(str_of(dns->nameservers[0]), "10.9.0.53");
    CHECK_STR(str_of(dns->searches[0]), "example");

    const char *env = noted("ADD-first-env");
    CHECK(strstr(env, "CNI_CONTAINERID=" POD "\n") && strstr(env, "CNI_IFNAME=eth0\n"));
    CHECK(strstr(env, pod_network_netns(a.n)) && strstr(env, bin_dir));
    CHECK(strstr(env, "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=" POD
                      ";K8S_POD_INFRA_CONTAINER_ID=" POD ";K8S_POD_UID=" POD "\n"));
    CHECK(strstr(noted("ADD-first-input"), "\"ipRanges\":[[{\"subnet\":\"10.9.0.0/24\"}]]"));
    CHECK(!strstr(noted("ADD-first-input"), "portMappings"));
    CHECK(!strstr(noted("ADD-first-input"), "prevResult"));
    CHECK(strstr(noted("ADD-second-input"), "\"name\":\"net\""));
    CHECK(strstr(noted("ADD-second-input"), "\"cniVersion\":\"0.4.0\""));
    CHECK(strstr(noted("ADD-second-input"), "\"prevResult\":{"));
    CHECK(strstr(noted("ADD-second-input"), "\"portMappings\":[{\"hostPort\":8080,"
                                            "\"containerPort\":80,\"protocol\":\"tcp\"}]"));
    kit_stop(&a);
    CHECK_STR(str_of(noted("calls")), "ADD first\nADD second\nDEL second\nDEL first\n");
    CHECK(strstr(noted("DEL-first-input"), "\"prevResult\":{"));
    CHECK(strstr(noted("DEL-first-env"), "CNI_NETNS="));
    CHECK(!kit_exists("netns", POD) && !kit_exists("records", POD));
    kit_close(p);
    end();
}

TEST(a_network_is_removed_by_the_configuration_that_made_it)
{
    NEEDS_NAMESPACES;
    struct kit_pod a;
    begin();
    write_both();
    struct pod_networks *p = open_networks(POD_NETWORK_CNI, bin_dir);
    kit_start(p, POD, &a, NULL, 0);
    kit_must_be_ready(&a);
    pod_network_leave(a.n); /* the process ends */
    kit_close(p);
    write_file(config_dir, "10-net.conflist",
               "{\"cniVersion\":\"0.4.0\",\"name\":\"new\",\"plugins\":[{\"type\":\"third\"}]}",
               0644);
    p = open_networks(POD_NETWORK_CNI, bin_dir);
    kit_collect(p);
    CHECK_STR(str_of(noted("calls")), "ADD first\nADD second\nDEL second\nDEL first\n");
    CHECK(strstr(noted("DEL-second-input"), "\"name\":\"net\""));
    CHECK(strstr(noted("DEL-second-input"), "10.9.0.7")); /* the result that was kept */
    CHECK(!kit_exists("netns", POD) && !kit_exists("records", POD));
    kit_close(p);
    end();
}

TEST(a_plug_in_that_fails_is_reported_and_everything_removed)
{
    NEEDS_NAMESPACES;
    struct kit_pod a;
    begin();
    write_both();
    write_plugin("second",
                 "[ $CNI_COMMAND = DEL ] || { echo '{\"cniVersion\":\"0.4.0\",\"code\":11,"
                 "\"msg\":\"no room\",\"details\":\"at all\"}'; exit 1; }");
    struct pod_networks *p = open_networks(POD_NETWORK_CNI, bin_dir);
    kit_start(p, POD, &a, NULL, 0);
    kit_wait_ready(&a);
    CHECK_ERR(a.r, E_INVALID);
    CHECK(strstr(a.err.text, "second: no room: at all (code 11)"));
    CHECK_STR(str_of(noted("calls")), "ADD first\nADD second\nDEL second\nDEL first\n");
    CHECK(!kit_exists("netns", POD) && !kit_exists("records", POD));
    kit_stop(&a);
    kit_close(p);
    end();
}

TEST(a_removal_that_fails_is_tried_again_by_the_next_collection)
{
    NEEDS_NAMESPACES;
    struct kit_pod a;
    begin();
    write_both();
    struct pod_networks *p = open_networks(POD_NETWORK_CNI, bin_dir);
    kit_start(p, POD, &a, NULL, 0);
    kit_must_be_ready(&a);
    write_plugin("second", "echo broken >&2; exit 3");
    pod_network_stop(a.n, kit_on_stopped, &a);
    while (!a.stopped)
        (void)loop_turn(&kit_loop, true);
    CHECK(a.stop_r < 0);
    CHECK(strstr(a.err.text, "second: ended with status 3: broken"));
    CHECK(kit_exists("records", POD));
    write_both();
    kit_collect(p);
    CHECK(!kit_exists("netns", POD) && !kit_exists("records", POD));
    kit_close(p);
    end();
}

TEST(a_plug_in_has_a_deadline_and_a_limit_of_output)
{
    NEEDS_NAMESPACES;
    struct kit_pod a;
    begin();
    write_both();
    write_plugin("first", "[ $CNI_COMMAND = DEL ] || exec sleep 1000");
    struct pod_networks *p = open_networks(POD_NETWORK_CNI, bin_dir);
    kit_start(p, POD, &a, NULL, 0);
    while (loop_next_timer_ms(&kit_loop) == UINT64_MAX) /* until it runs */
        (void)loop_turn(&kit_loop, true);
    loop_skip(&kit_loop, POD_CNI_TIMEOUT_MS);
    kit_wait_ready(&a);
    CHECK_ERR(a.r, -ETIMEDOUT);
    kit_stop(&a);
    write_plugin("first", "[ $CNI_COMMAND = DEL ] || exec yes");
    kit_start(p, POD, &a, NULL, 0);
    kit_wait_ready(&a);
    CHECK_ERR(a.r, E_LIMIT);
    kit_stop(&a);
    kit_close(p);
    end();
}

TEST(without_a_configuration_the_mode_decides)
{
    NEEDS_NAMESPACES;
    struct kit_pod a;
    begin();
    struct pod_networks *p = open_networks(POD_NETWORK_CNI, bin_dir);
    kit_start(p, POD, &a, NULL, 0);
    kit_wait_ready(&a);
    CHECK_ERR(a.r, E_UNSUPPORTED);
    kit_stop(&a);
    kit_close(p);
    p = open_networks(POD_NETWORK_AUTO, bin_dir);
    kit_collect(p);
    kit_start(p, POD, &a, NULL, 0);
    kit_must_be_ready(&a);
    CHECK_INT(kit_reach(NULL, kit_ip(&a, 0), 80), -ECONNREFUSED);
    write_file(config_dir, "10-net.conflist", "{\"name\":", 0644);
    kit_stop(&a); /* natively, as it was made */
    CHECK(!kit_exists("netns", POD));
    kit_start(p, POD, &a, NULL, 0);
    kit_wait_ready(&a);
    CHECK(a.r < 0 && strstr(a.err.text, "10-net.conflist"));
    kit_stop(&a);
    write_file(config_dir, "10-net.conflist", LIST, 0644);
    kit_start(p, POD, &a, NULL, 0);
    kit_wait_ready(&a);
    CHECK_ERR(a.r, -ENOENT); /* no such plug-in */
    CHECK(strstr(a.err.text, "'first'"));
    kit_stop(&a);
    CHECK(kit_exists("netns", POD)); /* it cannot be removed either */
    write_both();
    loop_skip(&kit_loop, POD_NETWORKS_RETRY_MS);
    while (kit_exists("records", POD))
        (void)loop_turn(&kit_loop, true);
    CHECK(!kit_exists("netns", POD));
    kit_close(p);
    end();
}

/* ---------------------------------------------------------------- texts */

static int read_config(const char *text, struct arena *a, const struct json **ret)
{
    struct err err = { 0 };
    return pod_cni_read_config(a, str_of(text), ret, &err);
}

TEST(configurations_of_all_versions_are_read)
{
    struct arena a = { 0 };
    const struct json *c = NULL;
    CHECK_OK(read_config(LIST, &a, &c));
    CHECK_INT(pod_cni_count(c), 2);
    CHECK_STR(json_get_str(pod_cni_plugin(c, 1), "type"), "second");
    CHECK_OK(read_config("{\"cniVersion\":\"0.3.1\",\"name\":\"n\",\"type\":\"ptp\"}", &a, &c));
    CHECK_INT(pod_cni_count(c), 1);
    CHECK_OK(
        read_config("{\"cniVersion\":\"0.3.1\",\"cniVersions\":[\"1.0.0\",\"0.4.0\",\"9.0.0\"],"
                    "\"name\":\"n\",\"plugins\":[{\"type\":\"x\"}]}",
                    &a, &c));
    CHECK_STR(json_get_str(c, "cniVersion"), "1.0.0");
    CHECK_ERR(read_config("{\"cniVersion\":\"0.2.0\",\"name\":\"n\",\"type\":\"x\"}", &a, &c),
              E_UNSUPPORTED);
    const char *const bad[] = {
        "[]",
        "{\"cniVersion\":\"1.0.0\",\"type\":\"x\"}",
        "{\"cniVersion\":\"1.0.0\",\"name\":\"n\",\"plugins\":[]}",
        "{\"cniVersion\":\"1.0.0\",\"name\":\"n\",\"plugins\":[{}]}",
        "{\"cniVersion\":\"1.0.0\",\"name\":\"n\",\"plugins\":[1]}",
        "{\"cniVersion\":\"1.0.0\",\"name\":\"n\",\"plugins\":{}}",
        "{\"cniVersion\":\"1.0.0\",\"name\":\"n\",\"type\":\"../../bin/sh\"}",
        "{\"cniVersion\":\"1.0.0\",\"name\":\"n\",\"type\":\"..\"}",
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        CHECK_ERR(read_config(bad[i], &a, &c), E_INVALID);
    arena_fini(&a);
}

TEST(a_record_is_read_as_it_was_written)
{
    const struct pod_network_port ports[] = {
        { .host_port = 53, .container_port = 5353, .protocol = POD_NETWORK_UDP },
        { .host_port = 1, .container_port = 2, .host_ip = STR("10.0.0.1") },
    };
    struct pod_record *again = NULL;
    struct pod_record *rec = pod_record_new(&(struct pod_network_opts){ .id = STR("id-1"),
                                                                        .namespace = STR("ns"),
                                                                        .name = STR("n"),
                                                                        .uid = STR("u"),
                                                                        .ports = ports,
                                                                        .n_ports = 2,
                                                                        .egress_bits = 12 });
    struct buf b = BUF_INIT(65536);
    const struct json *result = NULL;
    struct err err = { 0 };
    rec->driver = POD_RECORD_CNI;
    rec->is_complete = true;
    CHECK_OK(pod_cni_read_config(&rec->arena, STR(LIST), &rec->config, &err));
    CHECK_OK(pod_cni_read_result(&rec->arena, STR(RESULT), &result, &err));
    CHECK_OK(pod_cni_apply_result(rec, result, &err));
    for (int i = 0; i < 2; i++) { /* a record can be written again */
        buf_reset(&b);
        CHECK_OK(pod_record_encode(rec, &b));
    }
    CHECK_OK(pod_record_decode(buf_str(&b), &again, &err));
    CHECK(str_is(again->id, "id-1") && again->is_complete && again->driver == POD_RECORD_CNI);
    CHECK_INT(again->n_ips, 2);
    CHECK_STR(again->ips[1], "fd00:9::7");
    CHECK_INT(again->n_ports, 2);
    CHECK(again->ports[0].protocol == POD_NETWORK_UDP && again->ports[0].container_port == 5353);
    CHECK_STR(again->ports[1].host_ip, "10.0.0.1");
    CHECK_INT(again->egress_bits, 12);
    CHECK(json_equal(again->config, rec->config) && json_equal(again->result, rec->result));
    pod_record_free(again);
    pod_record_free(rec);
    CHECK_ERR(pod_record_decode(STR("{\"id\":\"../x\",\"driver\":\"cni\"}"), &again, &err),
              E_INVALID);
    buf_fini(&b);
}

/* ---------------------------------------------------------------- Debian's plug-ins */

#define DEBIAN "/usr/lib/cni"

TEST(bridge_host_local_and_portmap_make_a_network)
{
    NEEDS_NAMESPACES;
    struct kit_pod a, b;
    char text[1024], from[INET6_ADDRSTRLEN];
    if (access(DEBIAN "/portmap", X_OK) != 0 || access("/usr/sbin/iptables", X_OK) != 0)
        SKIP("containernetworking-plugins or iptables is not installed");
    const struct pod_network_port port = { .host_port = 8080, .container_port = 80 };
    begin();
    (void)snprintf(text, sizeof text,
                   "{\"cniVersion\":\"1.0.0\",\"name\":\"dm\",\"plugins\":[{\"type\":\"bridge\","
                   "\"bridge\":\"dmtest0\",\"isGateway\":true,\"ipMasq\":true,\"hairpinMode\":true,"
                   "\"ipam\":{\"type\":\"host-local\",\"ranges\":[[{\"subnet\":\"10.9.0.0/24\"}]],"
                   "\"dataDir\":\"%s/hl\",\"routes\":[{\"dst\":\"0.0.0.0/0\"}]}},"
                   "{\"type\":\"portmap\",\"capabilities\":{\"portMappings\":true}}]}",
                   kit_dir);
    write_file(config_dir, "10-dm.conflist", text, 0644);
    struct pod_networks *p = open_networks(POD_NETWORK_CNI, DEBIAN);
    kit_start(p, POD, &a, &port, 1);
    kit_start(p, "second", &b, NULL, 0);
    kit_must_be_ready(&a);
    kit_must_be_ready(&b);
    int fd = kit_listen(pod_network_netns(a.n), "0.0.0.0", 80);
    CHECK_OK(kit_reach(NULL, kit_ip(&a, 0), 80));
    kit_accept(fd, from);
    CHECK_OK(kit_reach(pod_network_netns(b.n), kit_ip(&a, 0), 80));
    kit_accept(fd, from);
    CHECK_STR(str_of(from), kit_ip(&b, 0));
    CHECK_OK(kit_reach(NULL, "10.9.0.1", 8080));
    (void)close(fd);
    kit_stop(&a);
    kit_stop(&b);
    CHECK(!kit_exists("hl/dm", "10.9.0.2") && !kit_exists("hl/dm", "10.9.0.3"));
    kit_close(p);
    end();
}

int main(int argc, char **argv)
{
    can_isolate = kit_isolate();
    return test_main(argc, argv);
}
