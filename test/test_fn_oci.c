/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fn/worker/oci: real containers of crun. Where the machine cannot have any, every test that needs
 * one is skipped, saying why.
 *
 * The program also plays a worker that is killed: `test_fn_oci --hold DIR BUNDLE ID`.
 */
#include "base/buf.h"
#include "base/map.h"
#include "base/sys.h"
#include "codec/json.h"
#include "container/spec.h"
#include "fn/worker/logs.h"
#include "fn/worker/oci.h"
#include "fn/worker/oci_config.h"
#include "test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

/* ---------------------------------------------------------------- a worker's part */

struct reported {
    int r, created, gone, destroyed, recovered;
    char address[64], text[300];
    Dormouse__Fn__V1__Breakdown took;
};

struct rig {
    struct loop loop;
    char dir[64], bundle[64];
    struct guest_logs *logs;
    struct runtime *rt;
    struct reported reported[40]; /* by sandbox */
    struct arena arena;
    struct fn_template t;
    struct runtime_revision rev;
    bool closed;
};

static struct reported *reported_of(void *arg, uint64_t id)
{
    CHECK(id < 40);
    return &((struct rig *)arg)->reported[id];
}

static void on_created(void *arg, uint64_t id, int r, const char *address,
                       const Dormouse__Fn__V1__Breakdown *took, const struct err *err)
{
    struct reported *t = reported_of(arg, id);
    t->created++;
    t->r = r;
    if (took)
        t->took = *took;
    (void)snprintf(t->address, sizeof t->address, "%s", address ? address : "");
    (void)snprintf(t->text, sizeof t->text, "%s", r < 0 ? err_text(err) : "");
}

static void on_gone(void *arg, uint64_t id, const char *reason)
{
    struct reported *t = reported_of(arg, id);
    t->gone++;
    (void)snprintf(t->text, sizeof t->text, "%s", reason);
}

static void on_destroyed(void *arg, uint64_t id)
{
    reported_of(arg, id)->destroyed++;
}

static void on_recovered(void *arg, uint64_t id, const char *uid, uint32_t revision,
                         const char *address)
{
    struct reported *t = reported_of(arg, id);
    CHECK_STR(str_of(uid), "u-1");
    CHECK_INT(revision, 3);
    t->recovered++;
    (void)snprintf(t->address, sizeof t->address, "%s", address);
}

static const struct runtime_events events = { .on_created = on_created,
                                              .on_gone = on_gone,
                                              .on_destroyed = on_destroyed,
                                              .on_recovered = on_recovered };

static void make_bundle(const char *dir)
{
    scoped(free_scoped) char *rootfs = xasprintf("%s/rootfs", dir);
    scoped(free_scoped) char *program = xasprintf("%s/guest", rootfs);
    scoped(free_scoped) char *config = xasprintf("%s/config.json", dir);
    scoped(buf_fini_scoped) struct buf bytes = BUF_INIT((size_t)64 << 20);
    CHECK_OK(sys_mkdir_all(rootfs, 0755, NULL));
    CHECK_OK(sys_read_file(AT_FDCWD, OCI_GUEST, &bytes, NULL));
    int fd = sys_openat(AT_FDCWD, program, O_WRONLY | O_CREAT, 0755);
    CHECK_OK(fd);
    CHECK_OK(sys_write_all(fd, bytes.p, bytes.n));
    CHECK_OK(fchmod(fd, 0755));
    (void)close(fd);
    scoped(free_scoped) char *kmsg = xasprintf("%s/kmsg", rootfs);
    CHECK(mknod(kmsg, S_IFCHR | 0666, makedev(1, 11)) == 0 ? chmod(kmsg, 0666) == 0
                                                           : errno == EPERM);
    CHECK_OK(sys_write_file_atomic(
        AT_FDCWD, config,
        STR("{\"ociVersion\":\"1.0.2\",\"process\":{\"args\":[\"/guest\",\"given\"],\"cwd\":\"/\","
            "\"env\":[\"FROM=bundle\",\"OVER=bundle\"],\"user\":{\"uid\":1000,\"gid\":1000},"
            "\"capabilities\":{\"bounding\":[\"CAP_SYS_ADMIN\"]}},\"root\":{\"path\":\"rootfs\"},"
            "\"mounts\":[{\"destination\":\"/host\",\"type\":\"bind\",\"source\":\"/\"},"
            "{\"destination\":\"/data\",\"type\":\"tmpfs\",\"source\":\"x\"}]}"),
        0644, NULL));
}

static void rig_revision(struct rig *r)
{
    scoped(free_scoped) char *spec = xasprintf(
        "{\"image\":{\"bundle\":\"%s\"},\"resources\":{\"memory\":\"64Mi\",\"cpu\":\"500m\","
        "\"pids\":20},\"port\":80}",
        r->bundle);
    struct json *v;
    struct str text = str_copy_arena(&r->arena, str_of(spec));
    CHECK_OK(json_parse(&r->arena, text, NULL, &v, NULL));
    CHECK_OK(fn_template_read(&r->arena, v, &r->t, NULL));
    r->rev = (struct runtime_revision){
        .namespace = "default", .function = "hello", .uid = "u-1", .revision = 3, .t = &r->t
    };
}

static void on_closed(void *arg)
{
    ((struct rig *)arg)->closed = true;
}

static void rig_close(struct rig *r)
{
    if (r->rev.data)
        r->rt->ops->forget(r->rt, &r->rev);
    r->rt->ops->close(r->rt, on_closed, r);
    while (!r->closed)
        (void)loop_turn(&r->loop, true);
    guest_logs_free(r->logs);
    arena_fini(&r->arena);
    while (loop_turn(&r->loop, false))
        ;
    loop_fini(&r->loop);
}

static bool rig_open(struct rig *r, const char *dir, const char *bundle, struct err *err)
{
    *r = (struct rig){ 0 };
    CHECK_OK(loop_init(&r->loop, NULL));
    (void)snprintf(r->dir, sizeof r->dir, "%s", dir);
    (void)snprintf(r->bundle, sizeof r->bundle, "%s", bundle);
    scoped(free_scoped) char *logs = xasprintf("%s/" FN_LOGS_DIR, dir);
    r->logs = guest_logs_new(logs);
    const char *dirs[] = { r->dir };
    struct oci_opts o = { .loop = &r->loop,
                          .dir = dir,
                          .logs = r->logs,
                          .bundle_dirs = dirs,
                          .n_bundle_dirs = 1,
                          .program = getenv("OCI_PROGRAM"), /* to try another than the first */
                          .n_networks = 2 };
    int code = oci_runtime_new(&o, &r->rt, err);
    if (code < 0) {
        guest_logs_free(r->logs);
        loop_fini(&r->loop);
        CHECK_INT(code, E_UNSUPPORTED);
        return false;
    }
    r->rt->events = &events;
    r->rt->events_arg = r;
    rig_revision(r);
    r->rt->ops->recover(r->rt);
    code = oci_runtime_set_up(r->rt, err);
    if (code < 0) {
        CHECK_INT(code, E_UNSUPPORTED);
        rig_close(r);
    }
    return code >= 0;
}

/* Starts with a directory of its own; false: this machine cannot. */
static bool rig_init(struct rig *r)
{
    static char why[300];
    char dir[] = "/tmp/test-fn-oci-XXXXXX", bundle[64];
    struct err err = { 0 };
    CHECK(mkdtemp(dir));
    (void)snprintf(bundle, sizeof bundle, "%s/bundle", dir);
    make_bundle(bundle);
    if (rig_open(r, dir, bundle, &err)) {
        r->rt->ops->prepare(r->rt, &r->rev);
        return true;
    }
    (void)snprintf(why, sizeof why, "no containers here: %s", err_text(&err));
    test_skipped = why;
    return false;
}

static void remove_tree(const char *dir)
{
    scoped(free_scoped) char *command = xasprintf("rm -rf '%s'", dir);
    CHECK_INT(system(command), 0);
}

static void rig_fini(struct rig *r)
{
    rig_close(r);
    /* Every process has been waited for, except perhaps crun's last helper: it ends by itself, on a
       busy machine after its container. */
    int helpers = 0;
    while (waitpid(-1, NULL, 0) > 0)
        helpers++;
    CHECK(errno == ECHILD && helpers <= 1);
    remove_tree(r->dir);
}

#define UNTIL(r, cond)                                                                             \
    while (!(cond))                                                                                \
    (void)loop_turn(&(r)->loop, true)

static struct reported *create(struct rig *r, uint64_t id)
{
    r->rt->ops->create(r->rt, id, &r->rev);
    CHECK_INT(r->reported[id].created, 0);
    UNTIL(r, r->reported[id].created);
    return &r->reported[id];
}

static void destroy(struct rig *r, uint64_t id, uint32_t grace_ms)
{
    r->rt->ops->destroy(r->rt, id, grace_ms);
    CHECK_INT(r->reported[id].destroyed, 0);
    UNTIL(r, r->reported[id].destroyed);
}

/* GET, blocking; the body in `to`. Returns the status, or a negative code. */
static int get(struct rig *r, uint64_t id, const char *path, struct buf *to)
{
    struct sockaddr_in at = { .sin_family = AF_INET };
    char host[64], *port;
    uint64_t n;
    (void)snprintf(host, sizeof host, "%s", r->reported[id].address);
    port = strchr(host, ':');
    CHECK(port);
    *port++ = '\0';
    CHECK_OK(parse_u64(str_of(port), 1, 65535, &n));
    CHECK_INT(inet_pton(AF_INET, host, &at.sin_addr), 1);
    at.sin_port = htons((uint16_t)n);
    scoped(fd_scoped) int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (struct sockaddr *)&at, sizeof at) < 0)
        return -errno;
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(1 << 20);
    (void)buf_printf(&text, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path);
    CHECK_OK(sys_write_all(fd, text.p, text.n));
    (void)shutdown(fd, SHUT_WR);
    buf_reset(&text);
    size_t whole = SIZE_MAX;
    ptrdiff_t head = -1;
    char chunk[4096];
    ssize_t got;
    while (text.n < whole && (got = read(fd, chunk, sizeof chunk)) > 0) {
        (void)buf_add(&text, chunk, (size_t)got);
        head = str_find(buf_str(&text), STR("\r\n\r\n"));
        ptrdiff_t size_at = str_find(buf_str(&text), STR("Length: "));
        if (head < 0)
            continue;
        CHECK(size_at > 0);
        CHECK_OK(parse_u64(str_slice(buf_str(&text), (size_t)size_at + 8, (size_t)head), 0, 1 << 20,
                           &n));
        whole = (size_t)head + 4 + n;
    }
    if (head < 0)
        return -ECONNRESET;
    CHECK_OK(parse_u64(str_slice(buf_str(&text), 9, 12), 100, 599, &n));
    if (to) {
        buf_reset(to);
        (void)buf_add_str(to, str_slice(buf_str(&text), (size_t)head + 4, text.n));
    }
    return (int)n;
}

/* The host's end of a sandbox's network, by its address. */
static void device_of(const struct reported *t, char to[IFNAMSIZ])
{
    struct in_addr in;
    char host[64];
    (void)snprintf(host, sizeof host, "%s", t->address);
    *strchr(host, ':') = '\0';
    CHECK_INT(inet_pton(AF_INET, host, &in), 1);
    (void)snprintf(to, IFNAMSIZ, "dmf%x", (unsigned)(ntohl(in.s_addr) & 0xffff));
}

/* "HASH-s<ID>", as its control group is called */
static void group_of(const struct rig *r, uint64_t id, char to[64])
{
    scoped(free_scoped) char *run = container_host_run_dir("fn", r->dir);
    (void)snprintf(to, 64, "%s-s%d", strrchr(run, '-') + 1, (int)id);
}

static bool has_cgroup(const struct rig *r, uint64_t id)
{
    char v1[128], v2[128], group[64];
    group_of(r, id, group);
    (void)snprintf(v1, sizeof v1, "/sys/fs/cgroup/memory/dormouse-fn/%s", group);
    (void)snprintf(v2, sizeof v2, "/sys/fs/cgroup/dormouse-fn/%s", group);
    return access(v1, F_OK) == 0 || access(v2, F_OK) == 0;
}

static void quota_of(const struct rig *r, uint64_t id, struct buf *to)
{
    char v1[128], v2[128], group[64];
    group_of(r, id, group);
    (void)snprintf(v1, sizeof v1, "/sys/fs/cgroup/cpu/dormouse-fn/%s/cpu.cfs_quota_us", group);
    (void)snprintf(v2, sizeof v2, "/sys/fs/cgroup/dormouse-fn/%s/cpu.max", group);
    buf_reset(to);
    CHECK_OK(sys_read_file(AT_FDCWD, access(v1, R_OK) == 0 ? v1 : v2, to, NULL));
}

static unsigned count_mounts(const char *of)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(1 << 20);
    CHECK_OK(sys_read_file(AT_FDCWD, "/proc/self/mountinfo", &text, NULL));
    unsigned n = 0;
    struct str left = buf_str(&text), line;
    while (str_cut(left, '\n', &line, &left))
        n += str_find(line, str_of(of)) >= 0;
    return n;
}

/* ---------------------------------------------------------------- its config, without containers
 */

static struct json *config_of(struct arena *a, struct rig *r, const char *bundle_config)
{
    struct buf text = BUF_INIT(1 << 20), filled = BUF_INIT(1 << 20);
    struct oci_config_made made;
    struct json *v;
    const struct container_machine machine = { .cgroup = "/g" };
    struct oci_config_opts o = { .bundle = r->bundle, .machine = &machine, .host_name = "hello" };
    CHECK_OK(oci_config_make(str_of(bundle_config), &r->rev, &o, &text, &made, NULL));
    oci_config_made_fini(&made);
    const char *const with[CONTAINER_HOLES] = { [CONTAINER_HOLE_GROUP] = "s7",
                                                [CONTAINER_HOLE_NETWORK] = "/proc/1/fd/9",
                                                [CONTAINER_HOLE_FILES] = "/run/x" };
    container_spec_fill(buf_str(&text), with, &filled);
    struct str copy = str_copy_arena(a, buf_str(&filled));
    CHECK_OK(json_parse(a, copy, NULL, &v, NULL));
    buf_fini(&text);
    buf_fini(&filled);
    return v;
}

static void pure_rig(struct rig *r)
{
    char dir[] = "/tmp/test-fn-oci-XXXXXX";
    *r = (struct rig){ 0 };
    CHECK(mkdtemp(dir));
    (void)snprintf(r->dir, sizeof r->dir, "%s", dir);
    (void)snprintf(r->bundle, sizeof r->bundle, "%s/bundle", dir);
    make_bundle(r->bundle);
    rig_revision(r);
}

TEST(a_bundle_decides_its_program_and_little_else)
{
    struct rig r;
    struct arena a = { 0 };
    pure_rig(&r);
    struct fn_name_value env[] = { { STR("B"), STR("function \"q\"") }, { STR("PORT"), STR("1") } };
    Dormouse__Fn__V1__SecretFile secret = DORMOUSE__FN__V1__SECRET_FILE__INIT;
    const Dormouse__Fn__V1__SecretFile *secrets[] = { &secret };
    secret.path = (char *)(uintptr_t) "/etc/key";
    r.rev.env = env;
    r.rev.n_env = 2;
    r.rev.secrets = secrets;
    r.rev.n_secrets = 1;
    struct json *v = config_of(
        &a, &r,
        "{\"process\":{\"args\":[\"/guest\"],\"env\":[\"A=bundle\",\"B=bundle\"],\"user\":{"
        "\"uid\":7},\"noNewPrivileges\":false,\"capabilities\":{\"bounding\":[\"CAP_SYS_ADMIN\"]},"
        "\"rlimits\":[{\"type\":\"RLIMIT_NOFILE\",\"soft\":99999999}]},\"root\":{\"path\":"
        "\"rootfs\",\"readonly\":false},\"hooks\":{\"prestart\":[{\"path\":\"/bin/sh\"}]},"
        "\"mounts\":[{\"destination\":\"/h\",\"type\":\"bind\",\"source\":\"/\"},{\"destination\":"
        "\"/d\",\"type\":\"tmpfs\"}],\"linux\":{\"seccomp\":null,\"devices\":[{\"path\":\"/"
        "x\"}]}}");
    struct json *process = json_getc(v, "process"), *linux_part = json_getc(v, "linux");
    CHECK(json_bool(json_getc(process, "noNewPrivileges")));
    CHECK_INT(json_path(process, "capabilities", "bounding", NULL)->n, 0);
    CHECK(json_bool(json_path(v, "root", "readonly", NULL)));
    CHECK(!json_getc(v, "hooks"));
    CHECK(!json_getc(linux_part, "devices"));
    CHECK(json_path(linux_part, "seccomp", "syscalls", NULL)->n == 4);
    CHECK_STR(json_get_str(linux_part, "cgroupsPath"), "/g/s7");
    CHECK_INT(json_int_or(json_path(linux_part, "resources", "memory", "limit", NULL), 0),
              64 << 20);
    CHECK_INT(json_int_or(json_path(linux_part, "resources", "pids", "limit", NULL), 0), 20);
    const struct json *devices = json_path(linux_part, "resources", "devices", NULL);
    CHECK_INT(devices->n, 1);
    CHECK(!json_bool(json_getc(json_first(devices), "allow")));
    CHECK_INT(json_int_or(json_path(process, "user", "uid", NULL), 0), 7);
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(1 << 20);
    CHECK_OK(json_write(&text, v));
    struct str all = buf_str(&text);
    CHECK(str_find(all, STR("\"source\":\"/\"")) < 0);
    CHECK(str_find(all, STR("\"destination\":\"/d\"")) > 0);
    CHECK(str_find(all, STR("\"/run/x/0\"")) > 0 && str_find(all, STR("/etc/key")) > 0);
    CHECK(str_find(all, STR("A=bundle")) > 0 && str_find(all, STR("B=bundle")) < 0);
    CHECK(str_find(all, STR("B=function \\\"q\\\"")) > 0);
    CHECK(str_find(all, STR("PORT=80")) > 0 && str_find(all, STR("PORT=1")) < 0);
    CHECK(str_find(all, STR("K_REVISION=hello-00003")) > 0);
    CHECK(str_find(all, STR("/proc/1/fd/9")) > 0);
    CHECK(str_find(all, STR("99999999")) < 0);
    arena_fini(&a);
    arena_fini(&r.arena);
    remove_tree(r.dir);
}

TEST(a_bundle_that_cannot_be_run_says_what_is_wrong)
{
    static const struct {
        const char *config, *says;
    } cases[] = {
        { "{", "config.json" },
        { "{}", "process.args" },
        { "{\"process\":{\"args\":[\"/x\"],\"cwd\":\"x\"}}", "cwd" },
        { "{\"process\":{\"args\":[\"/x\"],\"user\":{\"uid\":-1}}}", "user" },
        { "{\"process\":{\"args\":[\"/x\"]},\"root\":{\"path\":\"../..\"}}", "root.path" },
        { "{\"process\":{\"args\":[\"/x\"]},\"root\":{\"path\":\"/etc\"}}", "root.path" },
    };
    struct rig r;
    pure_rig(&r);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf text = BUF_INIT(1 << 20);
        struct oci_config_made made;
        struct err err = { 0 };
        struct oci_config_opts o = { .bundle = r.bundle, .host_name = "hello" };
        CHECK_ERR(oci_config_make(str_of(cases[i].config), &r.rev, &o, &text, &made, &err),
                  E_INVALID);
        CHECK(strstr(err.text, cases[i].says));
        buf_fini(&text);
    }
    arena_fini(&r.arena);
    remove_tree(r.dir);
}

TEST(a_variable_with_a_nul_is_refused_and_not_cut)
{
    struct rig r;
    struct buf text = BUF_INIT(1 << 20);
    struct oci_config_made made;
    struct err err = { 0 };
    struct fn_name_value env = { STR("KEY"), str_n("a\0b", 3) };
    pure_rig(&r);
    r.rev.env = &env;
    r.rev.n_env = 1;
    struct oci_config_opts o = { .bundle = r.bundle, .host_name = "hello" };
    CHECK_ERR(
        oci_config_make(STR("{\"process\":{\"args\":[\"/x\"]}}"), &r.rev, &o, &text, &made, &err),
        E_INVALID);
    CHECK(strstr(err.text, "NUL"));
    buf_fini(&text);
    arena_fini(&r.arena);
    remove_tree(r.dir);
}

/* ---------------------------------------------------------------- containers */

TEST(a_container_is_made_answers_and_leaves_nothing)
{
    struct rig r;
    scoped(buf_fini_scoped) struct buf body = BUF_INIT(1 << 20);
    char device[IFNAMSIZ];
    if (!rig_init(&r))
        return;
    struct reported *t = create(&r, 1);
    CHECK_STR(str_of(t->text), "");
    CHECK_INT(t->r, 0);
    CHECK_INT(get(&r, 1, "/", &body), 200);
    CHECK_STR(buf_str(&body), "hello given");
    CHECK_INT(get(&r, 1, "/env/OVER", &body), 200);
    CHECK_INT(get(&r, 1, "/env/PORT", &body), 200);
    CHECK_STR(buf_str(&body), "80");
    CHECK(t->took.total >= t->took.sandbox_start && t->took.sandbox_start > 0);
    (void)printf("# us: files %u network %u start %u probe %u total %u\n", t->took.sandbox_create,
                 t->took.network_setup, t->took.sandbox_start, t->took.readiness_probe,
                 t->took.total);
    CHECK(has_cgroup(&r, 1));
    device_of(t, device);
    CHECK(if_nametoindex(device));
    destroy(&r, 1, 1000);
    CHECK(!has_cgroup(&r, 1));
    CHECK_INT(count_mounts(r.dir), 0);
    CHECK_INT(r.reported[1].gone, 0);
    rig_fini(&r);
    while (if_nametoindex(device))
        (void)sched_yield(); /* the kernel takes namespaces apart on its own time */
}

TEST(a_container_may_do_little)
{
    struct rig r;
    scoped(buf_fini_scoped) struct buf body = BUF_INIT(1 << 20);
    if (!rig_init(&r))
        return;
    CHECK_INT(create(&r, 1)->r, 0);
    CHECK_INT(get(&r, 1, "/try", &body), 200);
    CHECK_STR(buf_str(&body), "");
    CHECK_INT(get(&r, 1, "/status", &body), 200);
    CHECK(str_find(buf_str(&body), STR("CapEff:\t0000000000000000")) > 0);
    CHECK(str_find(buf_str(&body), STR("CapBnd:\t0000000000000000")) > 0);
    CHECK(str_find(buf_str(&body), STR("NoNewPrivs:\t1")) > 0);
    CHECK(str_find(buf_str(&body), STR("Seccomp:\t2")) > 0);
    CHECK(str_find(buf_str(&body), STR("Uid:\t1000")) > 0);
    CHECK_INT(get(&r, 1, "/write/guest2", &body), 404);
    CHECK_INT(get(&r, 1, "/write/tmp/x", &body), 200);
    CHECK_INT(get(&r, 1, "/write/data/x", &body), 200);
    CHECK_INT(get(&r, 1, "/read/host/etc/passwd", &body), 404);
    (void)get(&r, 1, "/read/proc/kcore", &body); /* masked */
    CHECK_STR(buf_str(&body), "");
    rig_fini(&r);
}

TEST(limits_of_memory_processes_and_cpu_hold)
{
    struct rig r;
    uint64_t n;
    scoped(buf_fini_scoped) struct buf body = BUF_INIT(1 << 20);
    if (!rig_init(&r))
        return;
    CHECK_INT(create(&r, 1)->r, 0);
    CHECK_INT(get(&r, 1, "/forks/100", &body), 200);
    CHECK_OK(parse_u64(buf_str(&body), 0, 100, &n));
    CHECK(n > 5 && n < 20);
    CHECK_INT(create(&r, 2)->r, 0);
    CHECK_INT(get(&r, 2, "/spin/200", &body), 200);
    CHECK_OK(parse_u64(buf_str(&body), 0, 60000, &n));
    CHECK(n >= 250); /* half a core */
    (void)get(&r, 2, "/memory/32", &body);
    CHECK_STR(buf_str(&body), "eaten");
    CHECK(get(&r, 2, "/memory/200", &body) < 0); /* the process that ate is killed */
    rig_fini(&r);
}

TEST(cpu_is_limited_only_where_it_was_asked_for)
{
    struct rig r;
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(4096);
    if (!rig_init(&r))
        return;
    CHECK_INT(create(&r, 1)->r, 0);
    quota_of(&r, 1, &text);
    CHECK(str_has_prefix(buf_str(&text), STR("50000")));
    r.t.has_cpu_limit = false;
    CHECK_INT(create(&r, 2)->r, 0);
    quota_of(&r, 2, &text);
    CHECK(str_has_prefix(buf_str(&text), STR("-1")) || str_has_prefix(buf_str(&text), STR("max")));
    rig_fini(&r);
}

TEST(a_container_that_ends_is_reported_with_its_last_words)
{
    struct rig r;
    if (!rig_init(&r))
        return;
    struct reported *t = create(&r, 1);
    CHECK_INT(t->r, 0);
    CHECK_INT(create(&r, 2)->r, 0);
    scoped(free_scoped) char *run = container_host_run_dir("fn", r.dir);
    scoped(free_scoped) char *find = xasprintf("kill -9 $(cat %s/s2/pid)", run);
    CHECK_INT(system(find), 0);
    UNTIL(&r, r.reported[2].gone);
    (void)printf("# %s\n", r.reported[2].text);
    CHECK(strstr(r.reported[2].text, "signal 9"));
    CHECK_INT(get(&r, 1, "/", NULL), 200);
    rig_fini(&r);
}

TEST(a_container_that_never_gets_ready_says_why)
{
    struct rig r;
    struct str die[] = { STR("--die"), STR("3") }, late[] = { STR("--late"), STR("60000") };
    if (!rig_init(&r))
        return;
    r.rt->ops->forget(r.rt, &r.rev);
    r.t.args = die;
    r.t.n_args = 2;
    r.rt->ops->prepare(r.rt, &r.rev);
    struct reported *t = create(&r, 1);
    CHECK(t->r < 0);
    (void)printf("# %s\n", t->text);
    CHECK(strstr(t->text, "status 3") && strstr(t->text, "no configuration"));
    r.rt->ops->forget(r.rt, &r.rev);
    r.t.args = late;
    r.t.readiness_ms = 100;
    r.rt->ops->prepare(r.rt, &r.rev);
    t = create(&r, 2);
    CHECK_INT(t->r, -ETIMEDOUT);
    CHECK(strstr(t->text, "not ready within 100 ms"));
    r.rt->ops->forget(r.rt, &r.rev);
    r.t.bundle = STR("../../etc");
    r.rt->ops->prepare(r.rt, &r.rev);
    t = create(&r, 3);
    CHECK_INT(t->r, E_INVALID);
    CHECK(strstr(t->text, "not below"));
    r.rt->ops->forget(r.rt, &r.rev);
    r.t.bundle = STR("bundle");
    r.t.n_args = 0;
    r.t.readiness_ms = 30000;
    r.rt->ops->prepare(r.rt, &r.rev);
    CHECK_INT(create(&r, 4)->r, 0);
    rig_fini(&r);
}

TEST(a_program_that_is_not_there_is_named)
{
    struct rig r;
    if (!rig_init(&r))
        return;
    scoped(free_scoped) char *program = xasprintf("%s/bundle/rootfs/guest", r.dir);
    CHECK_OK(unlink(program));
    struct reported *t = create(&r, 1);
    CHECK(t->r < 0);
    (void)printf("# %s\n", t->text);
    CHECK(strstr(t->text, "/guest"));
    rig_fini(&r);
}

TEST(a_path_decides_readiness_where_one_is_given)
{
    struct rig r;
    if (!rig_init(&r))
        return;
    r.t.readiness_path = STR("/env/MISSING");
    uint64_t id = 1;
    for (r.t.readiness_ms = 700;; r.t.readiness_ms *= 4) { /* until it is up within that time */
        r.rt->ops->forget(r.rt, &r.rev);
        r.rt->ops->prepare(r.rt, &r.rev);
        struct reported *t = create(&r, id++);
        CHECK_INT(t->r, -ETIMEDOUT);
        (void)printf("# %s\n", t->text);
        if (strstr(t->text, "status 404"))
            break;
        CHECK(r.t.readiness_ms < 30000);
    }
    r.rt->ops->forget(r.rt, &r.rev);
    r.t.readiness_path = STR("/env/FROM");
    r.t.readiness_ms = 30000;
    r.rt->ops->prepare(r.rt, &r.rev);
    CHECK_INT(create(&r, id)->r, 0);
    rig_fini(&r);
}

TEST(an_end_is_asked_for_first_and_forced_after_the_grace)
{
    struct rig r;
    scoped(buf_fini_scoped) struct buf log = BUF_INIT(1 << 20);
    if (!rig_init(&r))
        return;
    CHECK_INT(create(&r, 1)->r, 0);
    CHECK_INT(get(&r, 1, "/say/hullo", NULL), 200);
    destroy(&r, 1, 5000);
    scoped(free_scoped) char *logs = xasprintf("%s/" FN_LOGS_DIR, r.dir);
    scoped(free_scoped) char *path = guest_log_path(logs, "default", "hello", false);
    CHECK_OK(sys_read_file(AT_FDCWD, path, &log, NULL));
    struct str all = buf_str(&log);
    CHECK(str_find(all, STR("\"message\":\"hullo\",\"revision\":3,\"sandbox\":1,\"stream\":\"stdout"
                            "\"")) > 0);
    CHECK(str_find(all, STR("\"message\":\"not hullo\"")) > 0);
    CHECK(str_find(all, STR("\"level\":\"warn\",\"message\":\"told hullo\"")) > 0);
    CHECK(str_find(all, STR("\"call\":\"c-9\"")) > 0);
    CHECK(str_find(all, STR("\"message\":\"terminated\"")) > 0);
    rig_fini(&r);
}

TEST(what_is_deleted_while_it_starts_goes_and_is_never_ready)
{
    struct rig r;
    if (!rig_init(&r))
        return;
    for (uint64_t id = 1; id <= 8; id++) {
        r.rt->ops->create(r.rt, id, &r.rev);
        for (uint64_t i = 0; i < id * 2; i++)
            (void)loop_turn(&r.loop, false);
        r.rt->ops->destroy(r.rt, id, 0);
    }
    for (uint64_t id = 1; id <= 8; id++) {
        UNTIL(&r, r.reported[id].destroyed);
        CHECK(!has_cgroup(&r, id));
    }
    r.rt->ops->destroy(r.rt, 30, 0); /* not known: told all the same */
    UNTIL(&r, r.reported[30].destroyed);
    rig_fini(&r);
}

TEST(many_at_once_are_made_and_each_has_its_own_address)
{
    static const char *const mount_points[] = { "proc", "dev", "sys", "tmp" };
    struct rig r;
    if (!rig_init(&r))
        return;
    for (size_t i = 0; i < ARRAY_LEN(mount_points); i++) { /* before the first container starts */
        scoped(free_scoped) char *path = xasprintf("%s/bundle/rootfs/%s", r.dir, mount_points[i]);
        CHECK_INT(access(path, X_OK), 0);
    }
    for (uint64_t id = 1; id <= 20; id++)
        r.rt->ops->create(r.rt, id, &r.rev);
    for (uint64_t id = 1; id <= 20; id++) {
        UNTIL(&r, r.reported[id].created);
        CHECK_STR(str_of(r.reported[id].text), "");
        CHECK_INT(get(&r, id, "/", NULL), 200);
        for (uint64_t other = 1; other < id; other++)
            CHECK(strcmp(r.reported[id].address, r.reported[other].address) != 0);
    }
    rig_fini(&r);
}

TEST(a_device_that_lies_in_the_root_file_system_cannot_be_opened)
{
    struct rig r;
    if (!rig_init(&r))
        return;
    scoped(buf_fini_scoped) struct buf output = BUF_INIT(4096);
    scoped(free_scoped) char *here = xasprintf("%s/rootfs/kmsg", r.bundle);
    scoped(fd_scoped) int fd = open(here, O_WRONLY | O_CLOEXEC);
    CHECK(fd >= 0); /* else the container could not prove anything */
    CHECK_INT(create(&r, 1)->r, 0);
    CHECK_INT(get(&r, 1, "/write/kmsg", &output), 404);
    CHECK_STR(buf_str(&output), "Operation not permitted");
    CHECK_INT(get(&r, 1, "/write/dev/null", NULL), 200);
    rig_fini(&r);
}

TEST(many_at_once_find_the_places_of_their_mounts_and_no_link_leads_out)
{
    struct rig r;
    Dormouse__Fn__V1__SecretFile deep = DORMOUSE__FN__V1__SECRET_FILE__INIT,
                                 linked = DORMOUSE__FN__V1__SECRET_FILE__INIT;
    const Dormouse__Fn__V1__SecretFile *secrets[] = { &deep, &linked };
    scoped(buf_fini_scoped) struct buf output = BUF_INIT(4096);
    deep.path = (char *)(uintptr_t) "/etc/app//keys/one";
    linked.path = (char *)(uintptr_t) "/out/dormouse-test-key";
    deep.content = linked.content = (ProtobufCBinaryData){ 3, (uint8_t *)(uintptr_t) "key" };
    if (!rig_init(&r))
        return;
    scoped(free_scoped) char *out = xasprintf("%s/rootfs/out", r.bundle),
                             *file = xasprintf("%s/rootfs/etc/app/keys/one", r.bundle),
                             *data = xasprintf("%s/rootfs/data", r.bundle);
    CHECK_INT(access(data, X_OK), 0); /* of the bundle's own mount */
    CHECK_INT(symlink("/../../../../tmp", out), 0);
    r.rt->ops->forget(r.rt, &r.rev);
    r.rev.secrets = secrets;
    r.rev.n_secrets = 2;
    r.rt->ops->prepare(r.rt, &r.rev);
    CHECK_INT(access(file, R_OK), 0); /* before the first container starts */
    CHECK(access("/tmp/dormouse-test-key", F_OK) < 0);
    for (uint64_t id = 1; id <= 12; id++)
        r.rt->ops->create(r.rt, id, &r.rev);
    for (uint64_t id = 1; id <= 12; id++) {
        UNTIL(&r, r.reported[id].created);
        CHECK_STR(str_of(r.reported[id].text), "");
        CHECK_INT(get(&r, id, "/read/etc/app/keys/one", &output), 200);
        CHECK_STR(buf_str(&output), "key");
    }
    rig_fini(&r);
}

TEST(two_workers_of_a_machine_do_not_touch_each_others_containers)
{
    struct rig one, other;
    if (!rig_init(&one))
        return;
    CHECK(rig_init(&other));
    CHECK_INT(create(&one, 1)->r, 0);
    CHECK_INT(create(&other, 1)->r, 0);
    CHECK(strcmp(one.reported[1].address, other.reported[1].address) != 0);
    destroy(&one, 1, 0);
    CHECK_INT(get(&other, 1, "/", NULL), 200);
    CHECK_INT(get(&other, 1, "/spin/1", NULL), 200);
    rig_close(&one); /* a child of the other's crun may still wait for us */
    remove_tree(one.dir);
    CHECK_INT(get(&other, 1, "/", NULL), 200);
    rig_fini(&other);
}

/* ---------------------------------------------------------------- a worker that is killed */

static pid_t hold(struct rig *r, const char *id)
{
    int out[2];
    char byte;
    CHECK_OK(pipe(out));
    pid_t pid = fork();
    if (pid == 0) {
        (void)dup2(out[1], 3);
        (void)execl("/proc/self/exe", "test_fn_oci", "--hold", r->dir, r->bundle, id, NULL);
        _exit(1);
    }
    (void)close(out[1]);
    CHECK_INT(read(out[0], &byte, 1), 1);
    (void)close(out[0]);
    return pid;
}

static int held(const char *dir, const char *bundle, const char *id)
{
    struct rig r;
    uint64_t n;
    CHECK_OK(parse_u64(str_of(id), 1, 39, &n));
    if (!rig_open(&r, dir, bundle, NULL))
        return 1;
    r.rt->ops->prepare(r.rt, &r.rev);
    CHECK_INT(create(&r, n)->r, 0);
    r.rt->ops->create(r.rt, n + 1, &r.rev); /* and one that is not ready yet */
    (void)!write(3, "r", 1);
    for (;;)
        (void)loop_turn(&r.loop, true);
}

/* What another program, or somebody by hand, may have left. */
static const char *const foreign_names[] = { "s05", "s00", "s006", "x5", "s5x" };

static void leave_foreign(const struct rig *r)
{
    scoped(free_scoped) char *run = container_host_run_dir("fn", r->dir);
    for (size_t i = 0; i < ARRAY_LEN(foreign_names); i++) {
        scoped(free_scoped) char *dir = xasprintf("%s/%s", run, foreign_names[i]);
        CHECK_OK(mkdir(dir, 0700));
    }
}

static void check_no_foreign(const struct rig *r)
{
    scoped(free_scoped) char *run = container_host_run_dir("fn", r->dir);
    for (size_t i = 0; i < ARRAY_LEN(foreign_names); i++) {
        scoped(free_scoped) char *dir = xasprintf("%s/%s", run, foreign_names[i]);
        CHECK_INT(access(dir, F_OK), -1);
    }
}

TEST(a_worker_that_was_killed_finds_its_containers_again_or_removes_them)
{
    struct rig r;
    int status;
    if (!rig_init(&r))
        return;
    rig_close(&r);
    pid_t pid = hold(&r, "5");
    (void)kill(pid, SIGKILL);
    CHECK_INT(waitpid(pid, &status, 0), pid);
    char dir[64], bundle[64];
    memcpy(dir, r.dir, sizeof dir);
    memcpy(bundle, r.bundle, sizeof bundle);
    leave_foreign(&r);
    CHECK(rig_open(&r, dir, bundle, NULL));
    CHECK_INT(r.reported[5].recovered, 1);
    CHECK_INT(get(&r, 5, "/say/again", NULL), 200);
    destroy(&r, 5, 100);
    CHECK(!has_cgroup(&r, 5));
    rig_close(&r);
    CHECK(!has_cgroup(&r, 6));
    CHECK_INT(r.reported[0].destroyed + r.reported[5].gone, 0);
    check_no_foreign(&r);
    remove_tree(r.dir);
}

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "--hold") == 0)
        return held(argv[2], argv[3], argv[4]);
    return test_main(argc, argv);
}
