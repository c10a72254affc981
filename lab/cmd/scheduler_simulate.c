/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse scheduler simulate: placing pods without a cluster. */
#include "lab/cmd/commands.h"

#include "base/sys.h"
#include "cmd/host_opts.h"
#include "cmd/lab.h"
#include "cmd/plugin_home.h"
#include "cmd/scheduler_args.h"
#include "cmd/text_table.h"
#include "codec/yaml.h"
#include "lab/sched/simulate.h"
#include "sched/extender/extender.h"
#include "sched/wasm/plugins.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

enum { FILE_MAX_BYTES = 256 << 20 };

static struct cmd_list node_files, pod_files;
static const char *config_file, *data_dir, *output = "table";
static uint64_t seed = 1;

static const struct cmd_opt opts[] = {
    { "nodes", 0, "FILE",
      "objects: Nodes, volumes, pods that run, whatever counts; YAML or JSON, - is standard input; "
      "repeatable",
      CMD_LIST, &node_files, 0, 0 },
    { "pods", 0, "FILE", "pods to be placed (any objects, too); repeatable", CMD_LIST, &pod_files,
      0, 0 },
    { "config", 0, "FILE", "KubeSchedulerConfiguration (the defaults)", CMD_STRING, &config_file, 0,
      0 },
    { "seed", 0, "N", "of the choice among nodes with equal points (1)", CMD_U64, &seed, 0,
      UINT64_MAX },
    { "output", 'o', "FORMAT", "table, wide, json or yaml (table)", CMD_STRING, &output, 0, 0 },
    { "data-dir", 0, "DIR", "where compiled plugins are kept " CMD_SERVER_DATA_DIR_DEFAULT,
      CMD_STRING, &data_dir, 0, 0 },
    CMD_REGISTRY_OPTS,
    { .name = NULL },
};

static const struct cmd_opt *simulate_opts(void)
{
    return opts;
}

/* ---- files ---- */

static int parse_file(struct arena *a, struct str text, struct json **ret, struct err *err)
{
    struct str head = str_trim(text);
    if (head.n && head.p[0] == '{' && json_parse(a, text, NULL, ret, NULL) == 0)
        return 0;
    return yaml_parse_all(a, text, NULL, ret, err);
}

static int add_file(struct simulation *s, const char *path, struct err *err)
{
    struct arena a = { .max_bytes = (size_t)FILE_MAX_BYTES * 8 };
    struct json *tree;
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(FILE_MAX_BYTES);
    int r = sys_read_file(AT_FDCWD, strcmp(path, "-") == 0 ? "/dev/stdin" : path, &text, err);
    if (r < 0)
        return r;
    r = parse_file(&a, buf_str(&text), &tree, err);
    if (r >= 0 && tree->type == JSON_OBJECT)
        r = simulation_add(s, tree, err);
    else if (r >= 0)
        json_each (doc, tree)
            if (r >= 0 && doc->type != JSON_NULL)
                r = simulation_add(s, doc, err);
    arena_fini(&a);
    return r < 0 ? err_ctx(err, r, "%s", path) : 0;
}

static int add_files(struct simulation *s, const struct cmd_list *files, struct err *err)
{
    int r = 0;
    for (size_t i = 0; i < files->n && r >= 0; i++)
        r = add_file(s, files->at[i], err);
    return r;
}

/* ---- output ---- */

static void print_notes(struct str text)
{
    struct str line;
    while (text.n) {
        scoped(buf_fini_scoped) struct buf safe = BUF_INIT(BUF_MAX_DEFAULT);
        (void)str_cut(text, '\n', &line, &text);
        cmd_add_safe(&safe, line);
        (void)fprintf(stderr, "warning: %s\n", buf_cstr(&safe));
    }
}

/* The points of the plugins: "Fit=87,Image=100". */
static struct str points_of(struct arena *a, const struct simulation_pod *p)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(64 << 10);
    json_each (s, p->scores)
        (void)buf_printf(&b, "%s" STR_FMT "=" STR_FMT, b.n ? "," : "", STR_ARG(s->key),
                         STR_ARG(s->s));
    return b.n ? str_copy_arena(a, buf_str(&b)) : STR("-");
}

static struct str or_dash(struct str s)
{
    return s.n ? s : STR("-");
}

static void print_table(const struct simulation_pod *pods, size_t n, bool wide)
{
    static const char *const head[] = { "POD",       "NODE",     "SCORE", "REASON",
                                        "NOMINATED", "ATTEMPTS", "POINTS" };
    struct arena a = { 0 };
    struct text_table t = { .a = &a, .n_columns = wide ? ARRAY_LEN(head) : 4 };
    text_table_head(&t, head);
    for (size_t i = 0; i < n; i++) {
        const struct simulation_pod *p = &pods[i];
        text_table_cell(&t, str_of(arena_printf(&a, STR_FMT "/" STR_FMT, STR_ARG(p->namespace),
                                                STR_ARG(p->name))));
        text_table_cell(&t, or_dash(p->node));
        text_table_cell(&t, p->has_score ? str_of(arena_printf(&a, "%lld", (long long)p->score))
                                         : STR("-"));
        text_table_cell(&t, or_dash(p->reason));
        if (!wide)
            continue;
        text_table_cell(&t, or_dash(p->nominated));
        text_table_cell(&t, str_of(arena_printf(&a, "%u", p->attempts)));
        text_table_cell(&t, points_of(&a, p));
    }
    text_table_print(&t, stdout);
    arena_fini(&a);
}

static struct json *str_or_null(struct arena *a, struct str s)
{
    return s.n ? json_new_str(a, s) : json_new_null(a);
}

static struct json *pod_json(struct arena *a, const struct simulation_pod *p)
{
    struct json *o = json_new_object(a);
    json_set_str(a, o, "namespace", p->namespace);
    json_set_str(a, o, "name", p->name);
    json_setc(a, o, "node", str_or_null(a, p->node));
    json_setc(a, o, "score", p->has_score ? json_new_int(a, p->score) : json_new_null(a));
    if (p->scores)
        json_setc(a, o, "scores", json_clone(a, p->scores));
    json_setc(a, o, "reason", str_or_null(a, p->reason));
    if (p->nominated.n)
        json_set_str(a, o, "nominatedNode", p->nominated);
    if (p->evicted_for.n)
        json_set_str(a, o, "preemptedBy", p->evicted_for);
    json_set_int(a, o, "attempts", p->attempts);
    if (p->explain)
        json_setc(a, o, "nodes", json_clone(a, json_getc(p->explain, "nodes")));
    return o;
}

static int print_tree(const struct simulation_pod *pods, size_t n, bool is_yaml)
{
    struct arena a = { 0 };
    scoped(buf_fini_scoped) struct buf out = BUF_INIT((size_t)1 << 30);
    struct json *top = json_new_object(&a), *list = json_new_array(&a);
    int64_t placed = 0, evicted = 0;
    for (size_t i = 0; i < n; i++) {
        json_add(list, pod_json(&a, &pods[i]));
        placed += pods[i].node.n > 0;
        evicted += pods[i].evicted_for.n > 0;
    }
    json_setc(&a, top, "pods", list);
    json_set_int(&a, top, "placed", placed);
    json_set_int(&a, top, "notPlaced", (int64_t)n - placed);
    json_set_int(&a, top, "evicted", evicted);
    int r = is_yaml ? yaml_write(&out, top, false) : json_write_pretty(&out, top, 2);
    if (!is_yaml)
        (void)buf_add_char(&out, '\n');
    arena_fini(&a);
    if (r < 0 || !buf_ok(&out))
        return cmd_failf(CMD_FAILED, "the answer is longer than 1 GiB");
    (void)fwrite(out.p, 1, out.n, stdout);
    return CMD_OK;
}

static int print(const struct simulation *s)
{
    const struct simulation_pod *pods;
    size_t n = simulation_pods(s, &pods);
    bool wide = strcmp(output, "wide") == 0, yaml = strcmp(output, "yaml") == 0;
    int r = CMD_OK;
    print_notes(simulation_notes(s));
    if (yaml || strcmp(output, "json") == 0)
        r = print_tree(pods, n, yaml);
    else
        print_table(pods, n, wide);
    return r;
}

/* ---- plugins and extenders ---- */

struct others {
    struct plugin_home home;
    bool has_home, is_loaded;
    struct wplugins *plugins;
    struct sched_extenders *extenders;
    struct err err;
};

static void on_loaded(struct wplugins *ret, const struct err *err, void *arg)
{
    struct others *o = arg;
    o->is_loaded = true;
    o->plugins = ret;
    if (!ret)
        o->err = *err;
}

/* True if a profile names a plugin that is not native, which needs the Wasm engine. */
static bool needs_plugins(const struct sched_config *c)
{
    for (size_t i = 0; i < c->n_profiles; i++) {
        const struct sched_config_set *set = &c->profiles[i].multi_point;
        for (size_t k = 0; k < set->n; k++)
            if (!sched_native_plugin(set->p[k].name))
                return true;
    }
    return false;
}

static int start_others(struct others *o, const struct sched_config *c, struct err *err)
{
    int r = sched_extenders_new(c->extenders, c->n_extenders, &o->extenders, err);
    if (r < 0 || !needs_plugins(c))
        return r;
    r = plugin_home_init(&o->home, data_dir, err);
    if (r < 0)
        return r;
    o->has_home = true;
    wplugins_load(o->home.host, &o->home.loop, c, true, on_loaded, o);
    while (!o->is_loaded)
        (void)loop_turn(&o->home.loop, true);
    if (o->plugins)
        return 0;
    *err = o->err;
    return err->code ? err->code : E_INVALID;
}

static void end_others(struct others *o)
{
    sched_extenders_free(o->extenders);
    wplugins_release(o->plugins);
    if (o->has_home)
        plugin_home_fini(&o->home);
}

/* ---- the command ---- */

static int simulate(const struct sched_config *config, struct others *others, struct err *err)
{
    struct simulation_opts o = {
        .config = config,
        .foreign = others->plugins ? wplugins_foreign(others->plugins) : NULL,
        .extenders = &sched_extenders_ops,
        .extenders_arg = others->extenders,
        .seed = seed,
        .explains = strcmp(output, "json") == 0 || strcmp(output, "yaml") == 0,
        .keeps_json = config->n_extenders > 0,
    };
    scoped(simulation_free_scoped) struct simulation *s = NULL;
    int r = simulation_new(&o, &s, err);
    r = r < 0 ? r : add_files(s, &node_files, err);
    r = r < 0 ? r : add_files(s, &pod_files, err);
    r = r < 0 ? r : simulation_run(s, err);
    return r < 0 ? r : print(s);
}

static int run(int argc, char **argv)
{
    static const char *const formats[] = { "table", "wide", "json", "yaml" };
    size_t n, format = 0;
    struct err err = { 0 };
    struct arena a = { 0 };
    struct others others = { 0 };
    struct sched_config config = { 0 };
    int r = cmd_parse(&scheduler_simulate_command, opts, argc, argv, 0, &n);
    if (r)
        return r - 1;
    while (format < ARRAY_LEN(formats) && strcmp(output, formats[format]) != 0)
        format++;
    if (format == ARRAY_LEN(formats))
        return cmd_failf(CMD_USAGE, "--output is table, wide, json or yaml, not '%s'", output);
    if (!pod_files.n && !node_files.n)
        return cmd_failf(CMD_USAGE, "--nodes FILE and --pods FILE say what there is");
    r = scheduler_config_load(&a, config_file, &config, NULL, &err);
    r = r < 0 ? r : start_others(&others, &config, &err);
    r = r < 0 ? r : simulate(&config, &others, &err);
    end_others(&others);
    arena_fini(&a);
    return r < 0 ? cmd_fail(CMD_FAILED, &err) : r;
}

const struct cmd scheduler_simulate_command = {
    LAB_SCHEDULER_SIMULATE,
    .help =
        "Reads objects from files, places the pods that have no node as the scheduler would, and\n"
        "prints where they go; time is virtual, and the same files, configuration and seed give\n"
        "the same result. Files may hold any kinds and lists, as 'kubectl get -o yaml' prints\n"
        "them: pods with a node are there already, PriorityClasses are looked up, claims are\n"
        "bound and provisioned, disruption budgets are kept. Deployments, ReplicaSets,\n"
        "StatefulSets and Jobs without a uid bring their pods. Nothing is started, nothing ends.\n"
        "\n"
        "SCORE: the sum of all plugins' points of the chosen node; '-' where one node was left.\n"
        "-o wide adds the points of each plugin, -o json also who refused which node.\n"
        "\n"
        "  kubectl get nodes,pods,pv,pvc,sc,pdb,pc -A -o yaml > now.yaml\n"
        "  dormouse scheduler simulate --nodes now.yaml --pods new.yaml\n"
        "  dormouse scheduler simulate --nodes now.yaml --pods new.yaml --config mine.yaml -o "
        "json\n",
    .run = run,
    .opts = simulate_opts,
};
