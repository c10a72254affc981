/* SPDX-License-Identifier: Apache-2.0 */
/* agent/registration: a node in a cluster that is played by hand, in virtual time. */
#include "agent/registration/registration.h"

#include "agent/registration/machine.h"
#include "agent/registration/node_object.h"
#include "agent/registration/shortage.h"
#include "base/clock.h"
#include "base/sys.h"
#include "fake_transport.h"
#include "temp_dir.h"
#include "test.h"

#include <fcntl.h>
#include <sys/stat.h>

/* ---------------------------------------------------------------- a machine in a directory */

static char root[TEMP_DIR_BYTES];

static void put(const char *path, const char *text)
{
    char full[256], dir[256];
    (void)snprintf(full, sizeof full, "%s%s", root, path);
    (void)snprintf(dir, sizeof dir, "%.*s", (int)(strrchr(full, '/') - full), full);
    CHECK_OK(sys_mkdir_all(dir, 0700, NULL));
    CHECK_OK(sys_write_file_atomic(AT_FDCWD, full, str_of(text), 0600, NULL));
}

#define MEMORY(available)                                                                          \
    "MemTotal:        4194304 kB\nMemFree:           10 kB\nMemAvailable:    " available           \
    " kB\nSwapTotal:       0 kB\n"

static void make_machine(void)
{
    CHECK(temp_dir_make("registration", root));
    put("/etc/machine-id", "0123456789abcdef0123456789abcdef\n");
    put("/etc/os-release", "NAME=X\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nID=debian\n");
    put("/proc/sys/kernel/random/boot_id", "11111111-2222-3333-4444-555555555555\n");
    put("/proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
    put("/proc/sys/kernel/pid_max", "1000\n");
    put("/proc/loadavg", "0.10 0.20 0.30 1/200 4321\n");
    put("/proc/meminfo", MEMORY("2000000"));
    put("/sys/devices/system/cpu/online", "0-2,5\n");
    put("/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages", "0\n");
    put("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "8\n");
}

TEST(facts_are_read_below_the_root)
{
    struct arena a = { 0 };
    struct machine m;
    make_machine();
    machine_read(&a, root, &m);
    CHECK_STR(m.machine_id, "0123456789abcdef0123456789abcdef");
    CHECK_STR(m.system_uuid, "0123456789abcdef0123456789abcdef"); /* no firmware says another */
    CHECK_STR(m.boot_id, "11111111-2222-3333-4444-555555555555");
    CHECK_STR(m.kernel, "6.1.0-18-amd64");
    CHECK_STR(m.os_image, "Debian GNU/Linux 12 (bookworm)");
    CHECK_INT(m.n_cpus, 4);
    CHECK_INT(m.memory_bytes, 4LL << 30);
    CHECK_INT(m.n_hugepages, 2);
    CHECK_INT(m.hugepages[0].size_bytes, 2 << 20);
    CHECK_INT(m.hugepages[0].total_bytes, 16 << 20);
    CHECK_INT(m.hugepages[1].size_bytes, 1 << 30);
    put("/sys/class/dmi/id/product_uuid", "ABCDEF00-0000-0000-0000-000000000000\n");
    machine_read(&a, root, &m);
    CHECK_STR(m.system_uuid, "ABCDEF00-0000-0000-0000-000000000000");
    arena_fini(&a);
}

TEST(lists_of_cpus_are_counted)
{
    CHECK_INT(machine_count_cpus(STR("0\n")), 1);
    CHECK_INT(machine_count_cpus(STR("0-63")), 64);
    CHECK_INT(machine_count_cpus(STR("0-3,8,10-11")), 7);
    CHECK_INT(machine_count_cpus(STR("")), 0);
    CHECK_INT(machine_count_cpus(STR("3-1")), 0);
    CHECK_INT(machine_count_cpus(STR("a")), 0);
    CHECK_INT(machine_count_cpus(STR("0-99999")), 0);
}

TEST(the_address_is_the_one_that_leads_to_the_server)
{
    char address[MACHINE_ADDRESS_CHARS];
    machine_address_towards("https://127.0.0.1:6443", address);
    CHECK_STR(str_of(address), "127.0.0.1");
    machine_address_towards("127.0.0.2:6443", address);
    CHECK_STR(str_of(address), "127.0.0.1");
    machine_address_towards(NULL, address);
    CHECK(address[0]);
}

TEST(labels_and_taints_of_the_command_line)
{
    struct registration_label l;
    struct registration_taint t;
    CHECK_OK(registration_read_label(STR("a.example/b=c=d"), &l, NULL));
    CHECK_STR(l.key, "a.example/b");
    CHECK_STR(l.value, "c=d");
    CHECK_ERR(registration_read_label(STR("a"), &l, NULL), E_INVALID);
    CHECK_ERR(registration_read_label(STR("=a"), &l, NULL), E_INVALID);
    CHECK_OK(registration_read_taint(STR("k=v:NoSchedule"), &t, NULL));
    CHECK_STR(t.key, "k");
    CHECK_STR(t.value, "v");
    CHECK_STR(t.effect, "NoSchedule");
    CHECK_OK(registration_read_taint(STR("k:NoExecute"), &t, NULL));
    CHECK_STR(t.value, "");
    CHECK_ERR(registration_read_taint(STR("k=v:Never"), &t, NULL), E_INVALID);
    CHECK_ERR(registration_read_taint(STR("k=v"), &t, NULL), E_INVALID);
    CHECK_ERR(registration_read_taint(STR(":NoSchedule"), &t, NULL), E_INVALID);
}

/* ---------------------------------------------------------------- shortage */

#define GIB ((uint64_t)1 << 30)

static struct shortage_values plenty(void)
{
    struct shortage_values v = { 0 };
    v.of[SHORTAGE_MEMORY] = (struct shortage_value){ true, 2 * GIB, 4 * GIB };
    v.of[SHORTAGE_NODEFS] = (struct shortage_value){ true, 50 * GIB, 100 * GIB };
    v.of[SHORTAGE_NODEFS_INODES] = (struct shortage_value){ true, 500, 1000 };
    v.of[SHORTAGE_IMAGEFS] = v.of[SHORTAGE_NODEFS];
    v.of[SHORTAGE_IMAGEFS_INODES] = v.of[SHORTAGE_NODEFS_INODES];
    v.of[SHORTAGE_PID] = (struct shortage_value){ true, 30000, 32768 };
    return v;
}

TEST(thresholds_are_kubelets)
{
    struct shortage_values v = plenty();
    CHECK_INT(shortage_minimum(SHORTAGE_MEMORY, &v.of[SHORTAGE_MEMORY]), 100 << 20);
    CHECK_INT(shortage_minimum(SHORTAGE_NODEFS, &v.of[SHORTAGE_NODEFS]), 10 * GIB);
    CHECK_INT(shortage_minimum(SHORTAGE_IMAGEFS, &v.of[SHORTAGE_IMAGEFS]), 15 * GIB);
    CHECK_INT(shortage_minimum(SHORTAGE_NODEFS_INODES, &v.of[SHORTAGE_NODEFS_INODES]), 50);
    for (unsigned i = 0; i < SHORTAGE_SIGNALS; i++) {
        struct shortage s = { 0 };
        struct shortage_values now = v;
        CHECK(!shortage_step(&s, &now, 1000));
        now.of[i].available = shortage_minimum(i, &now.of[i]);
        CHECK(!shortage_step(&s, &now, 2000) && !s.is_set[i]);
        now.of[i].available--;
        CHECK(shortage_step(&s, &now, 3000) && s.is_set[i] && s.is_short[i]);
    }
}

TEST(a_condition_lasts_five_minutes_longer_than_the_shortage)
{
    struct shortage s = { 0 };
    struct shortage_values good = plenty(), bad = good;
    bad.of[SHORTAGE_MEMORY].available = 1 << 20;
    CHECK(shortage_step(&s, &bad, 1000));
    CHECK_INT(shortage_next_ms(&s, false, 1000), 1000 + SHORTAGE_LOOK_MS);
    CHECK(shortage_step(&s, &bad, 5000)); /* is told again: there is more to evict */
    CHECK(!shortage_step(&s, &good, 6000) && s.is_set[SHORTAGE_MEMORY]);
    CHECK(!s.is_short[SHORTAGE_MEMORY]);
    CHECK(!shortage_step(&s, &good, 4999 + SHORTAGE_LASTS_MS));
    CHECK(shortage_step(&s, &good, 5000 + SHORTAGE_LASTS_MS) && !s.is_set[SHORTAGE_MEMORY]);
    CHECK_INT(shortage_next_ms(&s, false, 400000), UINT64_MAX);
}

TEST(a_disk_is_watched_as_often_as_it_could_fill_up)
{
    struct shortage s = { 0 };
    struct shortage_values v = plenty();
    (void)shortage_step(&s, &v, 1000);
    CHECK_INT(shortage_next_ms(&s, false, 1000), UINT64_MAX); /* no pod writes */
    uint64_t in_ms = 35 * GIB / SHORTAGE_FILL_BYTES_PER_MS;   /* 15 of 50 must stay on imagefs */
    CHECK_INT(shortage_next_ms(&s, true, 1000), 1000 + in_ms);
    v.of[SHORTAGE_NODEFS].available = 10 * GIB + (1 << 20);
    (void)shortage_step(&s, &v, 2000);
    CHECK_INT(shortage_next_ms(&s, true, 2000), 2000 + SHORTAGE_LOOK_MS);
}

/* ---------------------------------------------------------------- a registration */

struct rig {
    struct loop loop;
    struct fake fake;
    struct registration *r;
    struct arena arena;
    unsigned registered, nodes, pressures, done;
    struct registration_pressure pressure;
    const char *not_ready;
    size_t n_images;
};

static void turn(struct rig *r)
{
    for (int i = 0; i < 10; i++)
        (void)loop_turn(&r->loop, false);
}

static void on_registered(void *arg)
{
    ((struct rig *)arg)->registered++;
}

static void on_node(void *arg, const struct json *node)
{
    CHECK(json_is(node, JSON_OBJECT));
    ((struct rig *)arg)->nodes++;
}

static void on_pressure(void *arg, const struct registration_pressure *p)
{
    struct rig *r = arg;
    r->pressures++;
    r->pressure = *p;
}

static const char *why_not_ready(void *arg)
{
    return ((struct rig *)arg)->not_ready;
}

static size_t list_images(void *arg, struct arena *a, const struct registration_image **ret)
{
    static const struct str names[] = { { "example/a:1", 11 } };
    static const struct registration_image images[] = { { names, 1, 1234 } };
    *ret = images;
    return ((struct rig *)arg)->n_images;
}

static void on_done(void *arg)
{
    ((struct rig *)arg)->done++;
}

static void rig_init(struct rig *r, struct registration_opts opts)
{
    *r = (struct rig){ 0 };
    if (!root[0])
        make_machine();
    put("/proc/meminfo", MEMORY("2000000"));
    CHECK_OK(loop_init(&r->loop, NULL));
    fake_init(&r->fake);
    opts.loop = &r->loop;
    opts.transport = &r->fake.base;
    opts.node_name = "n1";
    opts.root = root;
    opts.data_dir = root;
    opts.server = "https://127.0.0.1:1";
    opts.kubelet_port = 10250;
    opts.not_ready = why_not_ready;
    opts.images = list_images;
    opts.on_registered = on_registered;
    opts.on_node = on_node;
    opts.on_pressure = on_pressure;
    opts.arg = r;
    CHECK_OK(registration_start(&opts, &r->r, NULL));
    CHECK_INT(r->fake.n, 0);
    turn(r);
}

static void rig_fini(struct rig *r)
{
    registration_stop(r->r, on_done, r);
    turn(r);
    fake_settle(&r->fake);
    turn(r);
    CHECK_INT(r->done, 1);
    CHECK_INT(loop_next_timer_ms(&r->loop), UINT64_MAX);
    arena_fini(&r->arena);
    loop_fini(&r->loop);
    fake_fini(&r->fake);
}

static struct fake_call *last(struct rig *r)
{
    CHECK(r->fake.n > 0);
    return &r->fake.call[r->fake.n - 1];
}

static void expect(struct rig *r, const char *method, const char *target)
{
    CHECK(!last(r)->ended);
    CHECK_STR(str_of(last(r)->method), method);
    CHECK_STR(str_of(last(r)->target), target);
}

static struct json *sent(struct rig *r)
{
    struct json *v;
    CHECK_OK(json_parse(&r->arena, str_of(last(r)->body), NULL, &v, NULL));
    return v;
}

static void answer(struct rig *r, int status, const char *body)
{
    struct fake_call *c = last(r);
    fake_head(c, status);
    fake_data(c, body);
    fake_end(c, 0);
    turn(r);
}

static void skip(struct rig *r, uint64_t ms)
{
    loop_skip(&r->loop, ms);
    turn(r);
}

#define NODE   "/api/v1/nodes/n1"
#define STATUS NODE "/status"
#define LEASES "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
#define LEASE  LEASES "/n1"
#define META   "\"metadata\":{\"name\":\"n1\",\"uid\":\"u1\"}"
#define SEEN   "{" META ",\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}"

/* The node is new, and its Lease. */
static void join(struct rig *r)
{
    expect(r, "POST", "/api/v1/nodes");
    answer(r, 201, SEEN);
    expect(r, "PATCH", LEASE);
    answer(r, 404, "{}");
    expect(r, "GET", NODE);
    answer(r, 200, SEEN);
    expect(r, "POST", LEASES);
    answer(r, 201, "{}");
}

static const struct json *condition(const struct json *obj, const char *type)
{
    json_each (c, json_path(obj, "status", "conditions", NULL))
        if (str_is(json_get_str(c, "type"), type))
            return c;
    return NULL;
}

TEST(a_new_node_is_created_with_its_status)
{
    struct rig r;
    const struct registration_label labels[] = { { STR("zone.example/a"), STR("b") } };
    const struct registration_taint taints[] = { { STR("k"), STR("v"), STR("NoSchedule") } };
    rig_init(&r, (struct registration_opts){ .labels = labels,
                                             .n_labels = 1,
                                             .taints = taints,
                                             .n_taints = 1,
                                             .reserved = { .cpu_milli = 250 } });
    expect(&r, "POST", "/api/v1/nodes");
    struct json *node = sent(&r);
    const struct json *tags = json_path(node, "metadata", "labels", NULL);
    CHECK_STR(json_get_str(tags, "kubernetes.io/hostname"), "n1");
    CHECK_STR(json_get_str(tags, "kubernetes.io/os"), "linux");
    CHECK_STR(json_get_str(tags, "beta.kubernetes.io/arch"), machine_arch());
    CHECK_STR(json_get_str(tags, "zone.example/a"), "b");
    const struct json *taint = json_first(json_path(node, "spec", "taints", NULL));
    CHECK_STR(json_get_str(taint, "key"), "k");
    CHECK_STR(json_get_str(taint, "value"), "v");
    const struct json *capacity = json_path(node, "status", "capacity", NULL),
                      *left = json_path(node, "status", "allocatable", NULL);
    CHECK_STR(json_get_str(capacity, "cpu"), "4");
    CHECK_STR(json_get_str(left, "cpu"), "3750m");
    CHECK_STR(json_get_str(capacity, "memory"), "4Gi");
    CHECK_STR(json_get_str(left, "memory"), "3980Mi"); /* less 100Mi and 16Mi of huge pages */
    CHECK_STR(json_get_str(capacity, "hugepages-2Mi"), "16Mi");
    CHECK_STR(json_get_str(capacity, "hugepages-1Gi"), "0");
    CHECK_STR(json_get_str(capacity, "pods"), "110");
    CHECK(json_get_str(capacity, "ephemeral-storage").n);
    CHECK_STR(json_get_str(condition(node, "Ready"), "status"), "True");
    CHECK(json_get_str(condition(node, "Ready"), "lastHeartbeatTime").n);
    CHECK_STR(json_get_str(condition(node, "MemoryPressure"), "status"), "False");
    CHECK_STR(json_get_str(condition(node, "DiskPressure"), "reason"), "KubeletHasNoDiskPressure");
    CHECK_STR(json_get_str(condition(node, "PIDPressure"), "status"), "False");
    const struct json *address = json_first(json_path(node, "status", "addresses", NULL));
    CHECK_STR(json_get_str(address, "type"), "InternalIP");
    CHECK_STR(json_get_str(address, "address"), "127.0.0.1");
    CHECK_STR(json_get_str(address->next, "type"), "Hostname");
    CHECK_INT(json_int_or(
                  json_path(node, "status", "daemonEndpoints", "kubeletEndpoint", "Port", NULL), 0),
              10250);
    CHECK(str_has_prefix(json_str(json_path(node, "status", "nodeInfo", "kubeletVersion", NULL)),
                         STR("v1.")));
    CHECK_INT(r.registered, 0);
    answer(&r, 201, SEEN);
    CHECK_INT(r.registered, 1);
    CHECK(registration_is_registered(r.r));
    rig_fini(&r);
}

TEST(the_lease_is_owned_by_the_node_and_renewed_every_ten_seconds)
{
    struct rig r;
    rig_init(&r, (struct registration_opts){ 0 });
    expect(&r, "POST", "/api/v1/nodes");
    answer(&r, 201, SEEN);
    expect(&r, "PATCH", LEASE);
    answer(&r, 404, "{}");
    expect(&r, "GET", NODE);
    answer(&r, 200, SEEN);
    expect(&r, "POST", LEASES);
    const struct json *lease = sent(&r);
    const struct json *owner = json_first(json_path(lease, "metadata", "ownerReferences", NULL));
    CHECK_STR(json_get_str(owner, "uid"), "u1");
    CHECK_STR(json_get_str(owner, "kind"), "Node");
    CHECK_INT(json_int_or(json_path(lease, "spec", "leaseDurationSeconds", NULL), 0), 40);
    CHECK_STR(json_str(json_path(lease, "spec", "holderIdentity", NULL)), "n1");
    answer(&r, 201, "{}");
    size_t n = r.fake.n;
    for (int i = 0; i < 5; i++) {
        skip(&r, 9999);
        CHECK_INT(r.fake.n, n);
        skip(&r, 401); /* with the jitter */
        CHECK_INT(r.fake.n, ++n);
        expect(&r, "PATCH", LEASE);
        CHECK(json_str(json_path(sent(&r), "spec", "renewTime", NULL)).n);
        answer(&r, 200, "{}");
    }
    rig_fini(&r);
}

TEST(an_unchanged_status_is_reported_every_five_minutes)
{
    struct rig r;
    unsigned reports = 0, renewals = 0;
    rig_init(&r, (struct registration_opts){ 0 });
    join(&r);
    for (unsigned s = 0; s < 900; s++) {
        size_t n = r.fake.n;
        skip(&r, 1000);
        for (; r.fake.n > n; n++) {
            bool is_status = strcmp(last(&r)->target, STATUS) == 0;
            reports += is_status;
            renewals += !is_status;
            answer(&r, 200, SEEN);
        }
    }
    CHECK(reports >= 2 && reports <= 3);
    CHECK(renewals >= 80 && renewals <= 90);
    rig_fini(&r);
}

TEST(beside_the_api_server_the_lease_waits_for_the_report)
{
    struct rig r;
    rig_init(&r, (struct registration_opts){ .embedded = true });
    expect(&r, "POST", "/api/v1/nodes");
    answer(&r, 201, SEEN);
    expect(&r, "PATCH", LEASE);
    CHECK_INT(json_int_or(json_path(sent(&r), "spec", "leaseDurationSeconds", NULL), 0), 900);
    answer(&r, 200, "{}");
    size_t n = r.fake.n;
    for (int i = 0; i < 3; i++) { /* both, after one wait: no other timer ran between */
        uint64_t in_ms = loop_next_timer_ms(&r.loop) - loop_now_ms(&r.loop);
        CHECK(in_ms >= 225000 && in_ms <= 300000);
        skip(&r, 12000 + in_ms);
        expect(&r, "PATCH", LEASE);
        answer(&r, 200, "{}");
        expect(&r, "PATCH", STATUS);
        answer(&r, 200, SEEN);
        CHECK_INT(r.fake.n, n += 2);
    }
    rig_fini(&r);
}

TEST(a_change_is_reported_at_once_and_only_if_it_is_one)
{
    struct rig r;
    rig_init(&r, (struct registration_opts){ 0 });
    join(&r);
    size_t n = r.fake.n;
    registration_changed(r.r);
    turn(&r);
    CHECK_INT(r.fake.n, n);
    r.n_images = 1;
    registration_changed(r.r);
    registration_changed(r.r);
    turn(&r);
    CHECK_INT(r.fake.n, n + 1);
    expect(&r, "PATCH", STATUS);
    const struct json *image = json_first(json_path(sent(&r), "status", "images", NULL));
    CHECK_INT(json_int_or(json_getc(image, "sizeBytes"), 0), 1234);
    const struct json *first = json_first(json_path(sent(&r), "status", "addresses", NULL));
    CHECK_STR(json_get_str(first, "$patch"), "replace");
    answer(&r, 200, SEEN);
    r.not_ready = "the runtime is missing";
    registration_changed(r.r);
    turn(&r);
    expect(&r, "PATCH", STATUS);
    CHECK_STR(json_get_str(condition(sent(&r), "Ready"), "status"), "False");
    CHECK_STR(json_get_str(condition(sent(&r), "Ready"), "reason"), "KubeletNotReady");
    CHECK_STR(json_get_str(condition(sent(&r), "Ready"), "message"), "the runtime is missing");
    answer(&r, 200, SEEN);
    rig_fini(&r);
}

TEST(a_node_that_exists_is_taken_over)
{
    struct rig r;
    rig_init(&r, (struct registration_opts){ 0 });
    answer(&r, 409, "{}");
    expect(&r, "GET", NODE);
    answer(&r, 200,
           "{\"metadata\":{\"name\":\"n1\",\"uid\":\"old\",\"labels\":{"
           "\"kubernetes.io/hostname\":\"n1\",\"kubernetes.io/os\":\"plan9\",\"mine\":\"x\"}},"
           "\"status\":{\"capacity\":{\"cpu\":\"1\",\"vendor.example/gpu\":\"4\"},\"conditions\":["
           "{\"type\":\"Ready\",\"status\":\"True\","
           "\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}]}}");
    expect(&r, "PATCH", NODE);
    const struct json *labels = json_path(sent(&r), "metadata", "labels", NULL);
    CHECK_STR(json_get_str(labels, "kubernetes.io/os"), "linux");
    CHECK(!json_getc(labels, "mine") && !json_getc(labels, "kubernetes.io/hostname"));
    CHECK(!json_getc(sent(&r), "spec")); /* taints stay as they are */
    answer(&r, 200,
           "{\"metadata\":{\"uid\":\"old\"},\"status\":{\"capacity\":{"
           "\"vendor.example/gpu\":\"4\"}}}");
    expect(&r, "PATCH", STATUS);
    CHECK_STR(json_str(json_path(sent(&r), "status", "capacity", "vendor.example/gpu", NULL)), "0");
    CHECK_INT(r.registered, 0);
    answer(&r, 200, "{\"metadata\":{\"uid\":\"old\"}}");
    CHECK_INT(r.registered, 1);
    expect(&r, "PATCH", LEASE);
    answer(&r, 200, "{}");
    expect(&r, "PATCH", STATUS); /* in any case: what stands there is from before */
    CHECK_STR(json_get_str(condition(sent(&r), "Ready"), "lastTransitionTime"),
              "2026-01-01T00:00:00Z");
    answer(&r, 200, SEEN);
    CHECK_INT(r.fake.n, 6);
    rig_fini(&r);
}

TEST(failures_are_repeated_with_growing_waits)
{
    struct rig r;
    rig_init(&r, (struct registration_opts){ 0 });
    for (unsigned i = 0; i < 12; i++) {
        size_t n = r.fake.n;
        fake_end(last(&r), -ECONNREFUSED);
        turn(&r);
        uint64_t wait = loop_next_timer_ms(&r.loop) - loop_now_ms(&r.loop);
        CHECK(wait >= 100 && wait <= 7000 && wait >= MIN((uint64_t)100 << i, (uint64_t)3500));
        skip(&r, wait);
        CHECK_INT(r.fake.n, n + 1);
        expect(&r, "POST", "/api/v1/nodes");
    }
    join(&r);
    rig_fini(&r);
}

TEST(a_server_that_does_not_answer_does_not_hold_up_the_lease)
{
    struct rig r;
    rig_init(&r, (struct registration_opts){ 0 });
    join(&r);
    skip(&r, 10400);
    expect(&r, "PATCH", LEASE);
    size_t n = r.fake.n;
    skip(&r, 10000);
    CHECK(last(&r)->cancelled);
    skip(&r, 200);
    CHECK_INT(r.fake.n, n + 1);
    expect(&r, "PATCH", LEASE);
    answer(&r, 200, "{}");
    rig_fini(&r);
}

TEST(after_a_lease_ran_out_the_status_is_reported_at_once)
{
    struct rig r;
    rig_init(&r, (struct registration_opts){ 0 });
    join(&r);
    skip(&r, 10400);
    for (unsigned i = 0; i < 8; i++) {
        fake_end(last(&r), -ENETUNREACH);
        turn(&r);
        skip(&r, 7000);
    }
    expect(&r, "PATCH", LEASE);
    answer(&r, 200, "{}");
    expect(&r, "PATCH", STATUS); /* a controller has called the node Unknown meanwhile */
    answer(&r, 200, SEEN);
    rig_fini(&r);
}

TEST(a_node_that_a_person_deleted_stays_deleted)
{
    struct rig r;
    rig_init(&r, (struct registration_opts){ 0 });
    join(&r);
    skip(&r, 10400);
    expect(&r, "PATCH", LEASE);
    answer(&r, 404, "{}");
    expect(&r, "GET", NODE);
    answer(&r, 404, "{}");
    CHECK(!registration_is_registered(r.r));
    size_t n = r.fake.n;
    skip(&r, 200000);
    CHECK_INT(r.fake.n, n);
    skip(&r, 100000);
    expect(&r, "PATCH", STATUS);
    answer(&r, 200, SEEN); /* a person has made it again */
    CHECK(registration_is_registered(r.r));
    expect(&r, "PATCH", LEASE);
    rig_fini(&r);
}

TEST(a_shortage_becomes_a_condition_and_a_call)
{
    struct rig r;
    rig_init(&r, (struct registration_opts){ 0 });
    join(&r);
    unsigned before = r.pressures;
    put("/proc/meminfo", MEMORY("50000"));
    registration_look(r.r);
    CHECK_INT(r.pressures, before); /* not inside the call */
    turn(&r);
    CHECK_INT(r.pressures, before + 1);
    CHECK(r.pressure.memory && r.pressure.memory_now);
    CHECK_STR(str_of(r.pressure.signal), "memory.available");
    CHECK_INT(r.pressure.available, 50000 * 1024);
    expect(&r, "PATCH", STATUS);
    CHECK_STR(json_get_str(condition(sent(&r), "MemoryPressure"), "status"), "True");
    answer(&r, 200, SEEN);
    put("/proc/meminfo", MEMORY("2000000"));
    registration_look(r.r);
    turn(&r);
    CHECK(registration_pressure(r.r).memory && !registration_pressure(r.r).memory_now);
    rig_fini(&r);
}

static unsigned count_events(struct rig *r, const char *reason)
{
    unsigned n = 0;
    for (size_t i = 0; i < r->fake.n; i++)
        n += strcmp(r->fake.call[i].target, "/api/v1/namespaces/default/events") == 0 &&
             strstr(r->fake.call[i].body, reason);
    return n;
}

/* Answers whatever was asked. */
static void answer_all(struct rig *r)
{
    for (size_t i = 0; i < r->fake.n; i++) {
        struct fake_call *c = &r->fake.call[i];
        if (c->ended || c->cancelled)
            continue;
        bool creates = strcmp(c->method, "POST") == 0;
        bool is_node = strcmp(c->target, "/api/v1/nodes") == 0;
        fake_head(c, is_node ? 409 : creates ? 201 : 200);
        fake_data(c, is_node ? "{}"
                             : "{\"metadata\":{\"uid\":\"u\"},\"status\":{\"nodeInfo\":{"
                               "\"bootID\":\"another\"},\"conditions\":[{\"type\":\"Ready\","
                               "\"status\":\"True\","
                               "\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}]}}");
        fake_end(c, 0);
        turn(r);
    }
}

TEST(events_tell_what_has_changed)
{
    struct rig r;
    rig_init(&r, (struct registration_opts){ .records_events = true });
    for (int i = 0; i < 10; i++)
        answer_all(&r);
    CHECK_INT(r.registered, 1);
    CHECK_INT(count_events(&r, "\"reason\":\"Starting\""), 1);
    CHECK_INT(count_events(&r, "\"reason\":\"Rebooted\""), 1);
    r.not_ready = "no";
    registration_changed(r.r);
    turn(&r);
    for (int i = 0; i < 5; i++)
        answer_all(&r);
    CHECK_INT(count_events(&r, "\"reason\":\"NodeNotReady\""), 1);
    CHECK_INT(count_events(&r, "HasSufficientMemory"), 0);
    put("/proc/meminfo", MEMORY("50000"));
    registration_look(r.r);
    turn(&r);
    CHECK_INT(count_events(&r, "\"reason\":\"NodeHasInsufficientMemory\""), 1);
    rig_fini(&r);
}

TEST(names_and_addresses_are_checked)
{
    struct registration *none;
    struct fake fake;
    struct loop loop;
    CHECK_OK(loop_init(&loop, NULL));
    fake_init(&fake);
    struct registration_opts opts = { .loop = &loop, .transport = &fake.base, .data_dir = "/" };
    static const char *const bad[] = { "", "A", "a_b", "-a", "a-", "a..b", "a.-b", ".a", "a." };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        opts.node_name = bad[i];
        CHECK_ERR(registration_start(&opts, &none, NULL), E_INVALID);
    }
    const struct str addresses[] = { STR("10.0.0.1"), STR("host") };
    opts.node_name = "node-1.example";
    opts.addresses = addresses;
    opts.n_addresses = 2;
    CHECK_ERR(registration_start(&opts, &none, NULL), E_INVALID);
    loop_fini(&loop);
    fake_fini(&fake);
}

TEST_MAIN
