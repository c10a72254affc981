/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast JSON is parsed and written, for a Pod of about 10 KB as an API server sends it. Prints
 * one line per operation: the best of several rounds, since everything else is noise of the
 * machine.
 *
 *     ninja -C build bench/codec/micro_json && build/bench/codec/micro_json
 */
#include "base/clock.h"
#include "codec/json.h"

#include <stdio.h>

enum { ROUNDS = 40, REPEATS = 200, N_CONTAINERS = 10, N_MANAGED = 2 };

static void add_container(struct arena *a, struct json *list, int i)
{
    static const char *const variables[] = { "POD_NAME", "POD_NAMESPACE", "LOG_LEVEL",
                                             "DATABASE_URL" };
    struct json *c = json_new_object(a), *env = json_new_array(a);
    json_set_str(a, c, "name", str_of(arena_printf(a, "container-%d", i)));
    json_set_str(a, c, "image",
                 STR("registry.example.com/team/service@sha256:"
                     "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
    for (size_t k = 0; k < ARRAY_LEN(variables); k++) {
        struct json *v = json_new_object(a);
        json_set_str(a, v, "name", str_of(variables[k]));
        json_set_str(a, v, "value", STR("postgres://user@db.default.svc:5432/app?sslmode=disable"));
        json_add(env, v);
    }
    json_setc(a, c, "env", env);
    struct json *limits = json_obj(a, json_obj(a, c, "resources"), "limits");
    json_set_str(a, limits, "cpu", STR("500m"));
    json_set_str(a, limits, "memory", STR("256Mi"));
    struct json *probe = json_obj(a, c, "livenessProbe");
    json_set_str(a, json_obj(a, probe, "httpGet"), "path", STR("/healthz"));
    json_set_int(a, json_obj(a, probe, "httpGet"), "port", 8080);
    json_set_int(a, probe, "periodSeconds", 10);
    json_set_bool(a, c, "tty", false);
    json_set_str(a, c, "terminationMessagePath", STR("/dev/termination-log"));
    json_set_str(a, c, "imagePullPolicy", STR("IfNotPresent"));
    json_add(list, c);
}

static void add_managed_fields(struct arena *a, struct json *list)
{
    static const char *const paths[] = { "f:image", "f:imagePullPolicy", "f:name",   "f:resources",
                                         "f:env",   "f:livenessProbe",   "f:limits", "f:tty" };
    struct json *m = json_new_object(a);
    json_set_str(a, m, "manager", STR("kube-controller-manager"));
    json_set_str(a, m, "time", STR("2026-01-02T03:04:05Z"));
    struct json *spec = json_obj(a, json_obj(a, m, "fieldsV1"), "f:spec");
    for (int i = 0; i < N_CONTAINERS; i++) {
        struct json *c = json_obj(a, json_obj(a, spec, "f:containers"),
                                  arena_printf(a, "k:{\"name\":\"container-%d\"}", i));
        for (size_t k = 0; k < ARRAY_LEN(paths); k++)
            (void)json_obj(a, c, paths[k]);
    }
    json_add(list, m);
}

static struct json *make_pod(struct arena *a)
{
    struct json *pod = json_new_object(a), *list = json_new_array(a), *managed = json_new_array(a);
    json_set_str(a, pod, "apiVersion", STR("v1"));
    json_set_str(a, pod, "kind", STR("Pod"));
    struct json *meta = json_obj(a, pod, "metadata");
    json_set_str(a, meta, "name", STR("service-7d9c6b9c8f-x2x9z"));
    json_set_str(a, meta, "uid", STR("0f9a2c3e-8a55-4f4b-9d41-0c4b8c3f7a11"));
    json_set_str(a, json_obj(a, meta, "labels"), "app.kubernetes.io/name", STR("service"));
    for (int i = 0; i < N_MANAGED; i++)
        add_managed_fields(a, managed);
    json_setc(a, meta, "managedFields", managed);
    for (int i = 0; i < N_CONTAINERS; i++)
        add_container(a, list, i);
    json_setc(a, json_obj(a, pod, "spec"), "containers", list);
    return pod;
}

struct work {
    struct str text;
    struct json *tree;
    struct arena arena;
    struct buf out;
};

static void run_parse(struct work *w)
{
    struct json *v;
    arena_reset(&w->arena);
    if (json_parse(&w->arena, w->text, NULL, &v, NULL) < 0)
        abort();
}

static void run_write(struct work *w)
{
    buf_reset(&w->out);
    if (json_write(&w->out, w->tree) < 0)
        abort();
}

static void run_write_sorted(struct work *w)
{
    buf_reset(&w->out);
    if (json_write_sorted(&w->out, w->tree) < 0)
        abort();
}

static void run_clone(struct work *w)
{
    arena_reset(&w->arena);
    (void)json_clone(&w->arena, w->tree);
}

static void run_equal(struct work *w)
{
    if (!json_equal(w->tree, w->tree->next))
        abort();
}

static void measure(const char *name, void (*run)(struct work *), struct work *w)
{
    uint64_t best = UINT64_MAX;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t before = clock_mono_ns();
        for (int i = 0; i < REPEATS; i++)
            run(w);
        uint64_t took = clock_mono_ns() - before;
        best = took < best ? took : best;
    }
    double ns = (double)best / REPEATS;
    (void)printf("%-13s %8.0f ns  %6.0f MB/s\n", name, ns, (double)w->text.n * 1000 / ns);
}

int main(void)
{
    struct arena a = { 0 };
    struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
    struct work w = { .tree = make_pod(&a), .out = BUF_INIT(BUF_MAX_DEFAULT) };
    if (json_write(&text, w.tree) < 0)
        return 1;
    w.text = buf_str(&text);
    w.tree->next = json_clone(&a, w.tree); /* for run_equal() */
    run_parse(&w);
    (void)printf("%zu bytes of JSON, %zu bytes of tree\n", w.text.n, w.arena.total_bytes);
    measure("parse", run_parse, &w);
    measure("write", run_write, &w);
    measure("write sorted", run_write_sorted, &w);
    measure("clone", run_clone, &w);
    measure("equal", run_equal, &w);
    arena_fini(&w.arena);
    arena_fini(&a);
    buf_fini(&w.out);
    buf_fini(&text);
    return 0;
}
