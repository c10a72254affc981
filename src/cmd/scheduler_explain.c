/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse scheduler explain: who refused which node for a pod, and what the others are worth. */
#include "base/buf.h"
#include "cmd/cmd.h"
#include "cmd/kube_client.h"
#include "cmd/text_table.h"
#include "codec/url.h"
#include "codec/yaml.h"
#include "node/admin_client.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *data_dir, *namespace = "default", *output = "table";

static const struct cmd_opt opts[] = {
    { "namespace", 'n', "NS", "of the pod (default)", CMD_STRING, &namespace, 0, 0 },
    { "data-dir", 0, "DIR", "data directory of the scheduler " CMD_SERVER_DATA_DIR_DEFAULT,
      CMD_STRING, &data_dir, 0, 0 },
    { "output", 'o', "FORMAT", "table, wide, json or yaml (table)", CMD_STRING, &output, 0, 0 },
    { .name = NULL },
};

static const struct cmd_opt *explain_opts(void)
{
    return opts;
}

/* ---- the table ---- */

static struct str joined(struct arena *a, const struct json *reasons)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(1 << 20);
    json_each (r, reasons)
        (void)buf_printf(&b, "%s" STR_FMT, b.n ? ", " : "", STR_ARG(json_str(r)));
    return str_copy_arena(a, buf_str(&b));
}

static struct str number(struct arena *a, const struct json *v)
{
    return v ? str_of(arena_printf(a, "%lld", (long long)json_int_or(v, 0))) : STR("-");
}

/* Plugins in the order of the first node that has points. */
static const struct json *first_scores(const struct json *nodes)
{
    json_each (n, nodes)
        if (json_getc(n, "scores"))
            return json_getc(n, "scores");
    return NULL;
}

static void add_row(struct text_table *t, const struct json *node, const struct json *plugins,
                    bool wide)
{
    const struct json *refused = json_getc(node, "refused"), *scores = json_getc(node, "scores");
    text_table_cell(t, json_get_str(node, "name"));
    text_table_cell(t, number(t->a, json_getc(node, "total")));
    text_table_cell(t, refused ? json_get_str(refused, "plugin") : STR("-"));
    size_t n = 3;
    if (wide)
        json_each (p, plugins) {
            if (++n < t->n_columns)
                text_table_cell(t, number(t->a, json_get(scores, p->key)));
        }
    text_table_cell(t, refused ? joined(t->a, json_getc(refused, "reasons")) : STR("-"));
}

static void print_nodes(struct arena *a, const struct json *nodes, bool wide)
{
    const struct json *plugins = first_scores(nodes);
    const char *head[TEXT_TABLE_MAX_COLUMNS] = { "NODE", "POINTS", "REFUSED BY" };
    struct text_table t = { .a = a, .n_columns = 3 };
    if (wide)
        json_each (p, plugins)
            if (t.n_columns + 1 < TEXT_TABLE_MAX_COLUMNS)
                head[t.n_columns++] = str_dup_arena(a, p->key);
    head[t.n_columns++] = "REASON";
    text_table_head(&t, head);
    json_each (n, nodes)
        add_row(&t, n, plugins, wide);
    text_table_print(&t, stdout);
}

static void print_line(const char *label, struct str text)
{
    scoped(buf_fini_scoped) struct buf safe = BUF_INIT(1 << 20);
    cmd_add_safe(&safe, text);
    (void)printf("%-10s %s\n", label, buf_cstr(&safe));
}

static void show(struct arena *a, const struct json *o, bool wide)
{
    struct str node = json_get_str(o, "node"), message = json_get_str(o, "message");
    struct str assigned = json_get_str(o, "assigned");
    print_line("Pod",
               str_of(arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(json_get_str(o, "namespace")),
                                   STR_ARG(json_get_str(o, "name")))));
    print_line("Profile", json_get_str(o, "schedulerName"));
    if (assigned.n)
        print_line("Is on", assigned);
    const struct json *waiting = json_getc(o, "waiting");
    if (waiting) {
        struct str what = json_get_str(waiting, "for");
        struct str on = json_get_str(waiting, "node");
        print_line("Waits", str_of(arena_printf(a, "%s" STR_FMT "%sfor " STR_FMT "%s" STR_FMT,
                                                on.n ? "on " : "", STR_ARG(on), on.n ? " " : "",
                                                STR_ARG(json_get_str(waiting, "plugin")),
                                                what.n ? ": " : "", STR_ARG(what))));
    }
    print_line("Would go", node.n ? node : STR("nowhere"));
    if (message.n)
        print_line("Because", message);
    if (json_first(json_getc(o, "nodes"))) {
        (void)putchar('\n');
        print_nodes(a, json_getc(o, "nodes"), wide);
    }
}

static void print_plan(struct arena *a, const struct json *plan)
{
    static const char *const head[] = { "LAYER", "BYTES", "HOW", "FROM", "EXPECTED-MS", "WHY" };
    struct text_table t = { .a = a, .n_columns = ARRAY_LEN(head) };
    struct str image = json_get_str(plan, "image"), node = json_get_str(plan, "node");
    (void)putchar('\n');
    print_line("Image",
               str_of(arena_printf(a, STR_FMT " for " STR_FMT, STR_ARG(image), STR_ARG(node))));
    if (!json_first(json_getc(plan, "transfers"))) {
        print_line("Layers", STR("the node had all of them"));
        return;
    }
    text_table_head(&t, head);
    json_each (k, json_getc(plan, "transfers")) {
        int64_t from = json_int_or(json_getc(k, "fromByte"), 0);
        int64_t to = json_int_or(json_getc(k, "toByte"), 0);
        text_table_cell(&t, json_get_str(k, "layer"));
        text_table_cell(&t, str_of(arena_printf(a, "%lld", (long long)(to - from))));
        text_table_cell(&t, json_get_str(k, "how"));
        text_table_cell(&t, json_get_str(k, "source"));
        text_table_cell(&t, number(a, json_getc(k, "expectMilliseconds")));
        text_table_cell(&t, json_get_str(k, "why"));
    }
    text_table_print(&t, stdout);
}

/* ---- the command ---- */

static int print(struct str body)
{
    struct arena a = { 0 };
    struct json *o;
    struct err err = { 0 };
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(BUF_MAX_DEFAULT * 4);
    int r = json_parse(&a, body, NULL, &o, &err);
    if (r < 0) {
        arena_fini(&a);
        return cmd_fail(CMD_FAILED, &err);
    }
    if (strcmp(output, "json") == 0) {
        (void)json_write_pretty(&out, o, 2);
        (void)buf_add_char(&out, '\n');
    } else if (strcmp(output, "yaml") == 0) {
        (void)yaml_write(&out, o, false);
    } else {
        show(&a, o, strcmp(output, "wide") == 0);
        json_each (plan, json_getc(o, "plans"))
            print_plan(&a, plan);
    }
    (void)fwrite(buf_cstr(&out), 1, out.n, stdout);
    arena_fini(&a);
    return CMD_OK;
}

static void add_target(struct buf *to, struct str pod)
{
    struct str head, tail;
    bool has_namespace = str_cut(pod, '/', &head, &tail);
    (void)buf_add_cstr(to, "/scheduler/explain?namespace=");
    url_encode(to, has_namespace ? head : str_of(namespace));
    (void)buf_add_cstr(to, "&name=");
    url_encode(to, has_namespace ? tail : pod);
}

/* A sleeping scheduler holds no pods; ask its cluster whether the pod exists. */
static int look_for_pod(const char *dir, struct str pod, struct err *err)
{
    scoped(kube_client_close_scoped) struct kube_client *c = NULL;
    struct err why = { 0 };
    struct arena a = { 0 };
    struct kube_answer answer;
    struct str head, tail;
    bool has_namespace = str_cut(pod, '/', &head, &tail);
    scoped(buf_fini_scoped) struct buf path = BUF_INIT(4096);
    (void)buf_add_cstr(&path, "/api/v1/namespaces/");
    url_encode(&path, has_namespace ? head : str_of(namespace));
    (void)buf_add_cstr(&path, "/pods/");
    url_encode(&path, has_namespace ? tail : pod);
    int r = kube_client_open(NULL, NULL, dir, &c, &why);
    if (r >= 0)
        r = kube_client_ask(c, &a, "GET", buf_cstr(&path), NULL, STR(""), &answer, &why);
    if (r == -ENOENT && c)
        *err = why; /* pods "x" not found */
    arena_fini(&a);
    return r;
}

static int run(int argc, char **argv)
{
    static const char *const formats[] = { "table", "wide", "json", "yaml" };
    size_t n, format = 0;
    struct err err = { 0 };
    int r = cmd_parse(&cmd_scheduler_explain, opts, argc, argv, 1, &n);
    if (r)
        return r - 1;
    if (n == 0)
        return cmd_failf(CMD_USAGE, "which pod? 'dormouse scheduler explain [-n NS] POD'");
    while (format < ARRAY_LEN(formats) && strcmp(output, formats[format]) != 0)
        format++;
    if (format == ARRAY_LEN(formats))
        return cmd_failf(CMD_USAGE, "--output is table, wide, json or yaml, not '%s'", output);
    scoped(free_scoped) char *dir = cmd_server_data_dir(data_dir);
    scoped(buf_fini_scoped) struct buf target = BUF_INIT(4096);
    scoped(buf_fini_scoped) struct buf body = BUF_INIT(BUF_MAX_DEFAULT);
    add_target(&target, str_of(argv[0]));
    r = admin_get(dir, buf_cstr(&target), &body, &err);
    if (r == -ENOENT || r == -ECONNREFUSED)
        return cmd_failf(CMD_UNAVAILABLE, "no scheduler runs in '%s' (--data-dir)", dir);
    if (r == E_UNSUPPORTED && str_has_prefix(str_of(err_text(&err)), STR("the scheduler sleeps")))
        (void)look_for_pod(dir, str_of(argv[0]), &err);
    return r < 0 ? cmd_fail(CMD_FAILED, &err) : print(buf_str(&body));
}

const struct cmd cmd_scheduler_explain = {
    .name = "scheduler explain",
    .args = "POD",
    .doc = "show why a pod has no node, or the scores of its nodes",
    .help =
        "Asks a running scheduler ('dormouse scheduler' or 'dormouse up' with the same --data-dir) "
        "to look at all\n"
        "nodes for the pod as they are now, without placing it: which plugin refused which node, "
        "and how many\n"
        "points the others get. -o wide shows the points of each plugin.\n"
        "\n"
        "  dormouse scheduler explain web-0 -n shop\n"
        "  dormouse scheduler explain shop/web-0 -o json | jq '.nodes[].refused.plugin'\n",
    .run = run,
    .opts = explain_opts,
};
