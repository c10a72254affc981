/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse image plan: where the layers of an image would come from, and why. */
#include "base/sys.h"
#include "cmd/cmd.h"
#include "cmd/image_args.h"
#include "cmd/image_plan_cluster.h"
#include "cmd/image_plan_send.h"
#include "cmd/text_table.h"
#include "image/bdm.h"
#include "image/cluster_file.h"
#include "image/plan_why.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>

enum { OUTPUT_MAX_BYTES = 64 << 20 };

static const char *node, *output = "table";
static struct image_args args;
static struct image_plan_cluster cluster = { .args = &args };
static bool is_sent;
static struct image_plan_send sending = { .deadline_ms = 60000 };

static const struct cmd_opt opts[] = {
    { "node", 'n', "NAME", "the node of the deployment (the node where it would be ready first)",
      CMD_STRING, &node, 0, 0 },
    { "output", 'o', "FORMAT", "table or json (table)", CMD_STRING, &output, 0, 0 },
    CMD_SECTION("In a running cluster"),
    { "image", 0, "IMAGE", "plan for this image and the nodes of a running cluster, without a file",
      CMD_STRING, &cluster.reference, 0, 0 },
    { "kubeconfig", 0, "FILE", "of the cluster ($KUBECONFIG, that of the data directory)",
      CMD_STRING, &cluster.kubeconfig, 0, 0 },
    { "context", 0, "NAME", "of the kubeconfig (its current one)", CMD_STRING, &cluster.context, 0,
      0 },
    { "platform", 0, "OS/ARCH", "of an image for several platforms (this machine's)", CMD_STRING,
      &args.platform, 0, 0 },
    IMAGE_REGISTRY_OPTS(args.registry),
    CMD_SECTION("Carrying it out"),
    { "send", 0, NULL, "send the plan to the node, and wait until the node has the image", CMD_FLAG,
      &is_sent, 0, 0 },
    { "push", 0, NULL, "with --send: nodes push the layers that they have", CMD_FLAG,
      &sending.is_push, 0, 0 },
    { "cluster-key-file", 0, "FILE", "the key that all nodes share", CMD_STRING, &sending.key_file,
      0, 0 },
    { "deadline", 0, "DURATION", "deadline of the deployment (60s)", CMD_DURATION,
      &sending.deadline_ms, 0, 0 },
    { "peer-ca", 0, "FILE", "trust these certificates (PEM) for nodes (the system's)", CMD_STRING,
      &sending.peer_ca, 0, 0 },
    IMAGE_STORE_OPT(sending.store),
    { .name = NULL },
};

static const struct cmd_opt *image_plan_opts(void)
{
    return opts;
}

/* ---- which node ---- */

struct image_plan_candidate {
    uint32_t node;
    double seconds; /* HUGE_VAL: a layer can come from nowhere */
};

static double predict(struct image_cluster_file *f, uint32_t at)
{
    struct image_tasks t;
    image_cluster_file_deploy_on(f, at);
    if (!image_orchestrate(&f->o, &t))
        return HUGE_VAL;
    image_tasks_fini(&t);
    return t.seconds;
}

static int by_time(const void *a, const void *b)
{
    const struct image_plan_candidate *x = a, *y = b;
    if (x->seconds != y->seconds)
        return x->seconds < y->seconds ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

/* The nodes that are not silent, the fastest first, or the one that was named. Returns a cmd_exit.
 */
static int list_candidates(struct image_cluster_file *f, struct arena *a,
                           struct image_plan_candidate **ret, size_t *ret_n)
{
    struct image_plan_candidate *c = arena_new_n(a, struct image_plan_candidate, f->o.n_nodes);
    size_t n = 0;
    for (uint32_t i = 0; i < f->o.n_nodes; i++)
        if (node ? str_is(f->node_names[i], node)
                 : f->o.nodes[i].silent_ms <= IMAGE_ORCHESTRATE_FRESH_MS)
            c[n++] = (struct image_plan_candidate){ i, predict(f, i) };
    if (n == 0)
        return node ? cmd_failf(CMD_FAILED, "there is no node '%s'", node)
                    : cmd_failf(CMD_FAILED, "no node has reported within 30 s");
    qsort(c, n, sizeof *c, by_time);
    *ret = c;
    *ret_n = n;
    return isfinite(c[0].seconds)
               ? 0
               : cmd_failf(CMD_FAILED,
                           "a layer has no source: no peer may send it, and there is no registry");
}

/* ---- output ---- */

static const char *alternatives_text(const struct image_cluster_file *f, struct arena *a,
                                     const struct image_task *t)
{
    const char *text = "";
    for (uint32_t i = 0; i < t->n_alternatives; i++)
        text = arena_printf(a, "%s%s" STR_FMT, text, i ? ", " : "",
                            STR_ARG(image_plan_source(f, t->alternatives[i])));
    return t->n_alternatives ? text : "-";
}

static void print_table(const struct image_cluster_file *f, struct arena *a,
                        const struct image_tasks *tasks, const struct image_plan_candidate *c,
                        size_t n)
{
    static const char *const head[] = { "PRIO", "LAYER",       "BYTES", "HOW",
                                        "FROM", "THERE-IN-MS", "ELSE",  "WHY" };
    static const char *const nodes_head[] = { "NODE", "SECONDS" };
    struct text_table t = { .a = a, .n_columns = ARRAY_LEN(head) };
    struct text_table nodes = { .a = a, .n_columns = ARRAY_LEN(nodes_head) };
    scoped(buf_fini_scoped) struct buf name = BUF_INIT(1 << 10);
    cmd_add_safe(&name, f->node_names[c[0].node]);
    (void)printf("%zu layers, %zu transfers to %s, there and unpacked in %.3f s\n\n", f->o.n_layers,
                 tasks->all.n, buf_cstr(&name), tasks->seconds);
    text_table_head(&t, head);
    for (size_t i = 0; i < tasks->all.n; i++) {
        const struct image_task *k = &tasks->all.p[i];
        text_table_cell(&t, str_of(arena_printf(a, "%u", k->priority)));
        text_table_cell(&t, f->layer_names[k->layer]);
        text_table_cell(&t,
                        str_of(arena_printf(a, "%lld-%lld", (long long)k->from, (long long)k->to)));
        text_table_cell(&t, str_of(image_task_kind_name(k->kind)));
        text_table_cell(&t, image_plan_source(f, k->source));
        text_table_cell(&t, str_of(arena_printf(a, "%lld", (long long)k->expect_ms)));
        text_table_cell(&t, str_of(alternatives_text(f, a, k)));
        text_table_cell(&t, str_of(image_plan_why(&f->o, k, a)));
    }
    if (tasks->all.n)
        text_table_print(&t, stdout);
    if (n < 2)
        return;
    (void)printf("\n");
    text_table_head(&nodes, nodes_head);
    for (size_t i = 0; i < n; i++) {
        text_table_cell(&nodes, f->node_names[c[i].node]);
        text_table_cell(&nodes, isfinite(c[i].seconds)
                                    ? str_of(arena_printf(a, "%.3f", c[i].seconds))
                                    : STR("never"));
    }
    text_table_print(&nodes, stdout);
}

static void print_json(const struct image_cluster_file *f, struct arena *a,
                       const struct image_tasks *tasks, const struct image_plan_candidate *c,
                       size_t n)
{
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(OUTPUT_MAX_BYTES);
    struct json *v = image_plan_json(f, tasks, a), *nodes = json_new_array(a);
    for (size_t i = 0; i < n; i++) {
        struct json *e = json_new_object(a);
        json_set_str(a, e, "node", f->node_names[c[i].node]);
        json_setc(a, e, "seconds", json_new_float(a, c[i].seconds)); /* never: null */
        json_add(nodes, e);
    }
    json_setc(a, v, "nodes", nodes);
    (void)json_write_pretty(&out, v, 2);
    (void)printf(STR_FMT "\n", STR_ARG(buf_str(&out)));
}

static int show(struct image_cluster_file *f, struct arena *a)
{
    struct image_plan_candidate *c;
    struct image_tasks tasks;
    size_t n;
    int r = list_candidates(f, a, &c, &n);
    if (r)
        return r;
    image_cluster_file_deploy_on(f, c[0].node);
    if (!image_orchestrate(&f->o, &tasks))
        return CMD_FAILED;
    sending.is_json = strcmp(output, "json") == 0;
    if (!sending.is_json)
        print_table(f, a, &tasks, c, n);
    else if (!is_sent)
        print_json(f, a, &tasks, c, n);
    (void)fflush(stdout);
    r = is_sent ? image_plan_send(&sending, f, &tasks) : CMD_OK;
    image_tasks_fini(&tasks);
    return r;
}

static int read_file(const char *path, struct arena *a, struct buf *text,
                     struct image_cluster_file *ret, struct err *err)
{
    int r = sys_read_file(AT_FDCWD, path, text, err);
    r = r < 0 ? r : image_cluster_file_read(a, buf_str(text), ret, err);
    return r < 0 && text->n ? err_ctx(err, r, "%s", path) : r;
}

static int run(int argc, char **argv)
{
    struct arena a = { 0 };
    struct err err = { 0 };
    struct image_cluster_file f;
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(IMAGE_CLUSTER_FILE_MAX_BYTES);
    size_t n;
    int r = cmd_parse(&cmd_image_plan, opts, argc, argv, 1, &n);
    if (r)
        return r - 1;
    if (n != !cluster.reference)
        return cmd_failf(CMD_USAGE, "name the file that describes image and cluster, or --image; "
                                    "'dormouse image plan --help' shows one");
    args.store = sending.store;
    if (cluster.reference && (r = image_args_check(&args)) != 0)
        return r;
    if (strcmp(output, "table") != 0 && strcmp(output, "json") != 0)
        return cmd_failf(CMD_USAGE, "--output is table or json, not '%s'", output);
    if (is_sent && !sending.key_file)
        return cmd_failf(CMD_USAGE, "--send needs --cluster-key-file");
    if (sending.is_push && !is_sent)
        return cmd_failf(CMD_USAGE, "--push needs --send");
    if (sending.deadline_ms > IMAGE_BDM_DEADLINE_MAX_MS)
        return cmd_failf(CMD_USAGE, "--deadline must be a day at most");
    r = cluster.reference ? image_plan_cluster_read(&cluster, &a, &f, &err)
                          : read_file(argv[0], &a, &text, &f, &err);
    r = r < 0 ? cmd_fail(CMD_FAILED, &err) : show(&f, &a);
    arena_fini(&a);
    return r;
}

const struct cmd cmd_image_plan = {
    .name = "image plan",
    .args = "[CLUSTER.json]",
    .doc = "show the sources of an image's layers in a cluster, and why they are chosen",
    .help =
        "Shows the planned transfers of a deployment in a cluster, and the time that the\n"
        "deployment would take on each node. FILE describes the layers of the image (compressed\n"
        "bytes), the layers and rates of the nodes, and transfers that are running:\n"
        "\n"
        "  {\"layers\": [{\"name\": \"base\", \"bytes\": 30000000, \"urgent\": true}],\n"
        "   \"registryMbit\": 100, \"downlinkMbit\": 1000, \"unpackMBPerSecond\": 100,\n"
        "   \"registryRttMilliseconds\": 50, \"peerRttMilliseconds\": 15,\n"
        "   \"nodes\": [{\"name\": \"n1\"},\n"
        "             {\"name\": \"n2\", \"layers\": [\"base\"], \"uplinkMbit\": 500, "
        "\"freeSlots\": 3,\n"
        "              \"silentSeconds\": 2, \"queuedBytes\": 0}],\n"
        "   \"transfers\": [{\"layer\": \"base\", \"to\": \"n1\", \"from\": \"n2\", "
        "\"leftMilliseconds\": 800}]}\n"
        "\n"
        "Defaults: uplinkMbit unknown (not a source), freeSlots 3, registryMbit no registry,\n"
        "downlinkMbit no limit, unpackMBPerSecond no time, round trips no time. The first byte of\n"
        "a source arrives after two round trips.\n"
        "\n"
        "  dormouse image plan cluster.json\n"
        "  dormouse image plan cluster.json --node n1 -o json\n"
        "\n"
        "With --image there is no file: the layers are those of the image, and the nodes are\n"
        "those that write a NodeImageState ('dormouse image serve --report'), which has their\n"
        "layers, their fetches for other plans, and their rates. A rate that a node has not\n"
        "measured counts as 100 Mbit/s. IMAGE is a name in the store, or else a source of 'image\n"
        "pull', such as the reference of a registry; with the prefix docker:// the store is not\n"
        "read.\n"
        "\n"
        "  dormouse image plan --image docker.io/library/redis:7\n"
        "  dormouse image plan --image docker.io/library/redis:7 --send --cluster-key-file key\n"
        "\n"
        "With --send the node carries out the plan ('dormouse image serve --node'). FILE then\n"
        "also has the image, \"image\": {\"reference\", \"manifest\", \"config\"}, \"digest\" and "
        "\"diffID\"\n"
        "of each layer, and the \"url\" of each node. Manifest and configuration are sent from "
        "the\n"
        "store if it has them; else the node fetches them from the registry.\n"
        "\n"
        "  dormouse image plan cluster.json --node n1 --send --cluster-key-file key\n"
        "\n"
        "The node requests layers from other nodes. With --push these nodes get the plan as well,\n"
        "and send without a request. This is for nodes that do not accept connections of other\n"
        "nodes; the senders have to reach the node at its url. The node requests what is not\n"
        "pushed in time.\n"
        "\n"
        "HOW: peer and registry send at once; after: a node that is fetching the layer sends it\n"
        "when it has it; join: it is in transfer to this node already. ELSE is the source that is\n"
        "tried next.\n",
    .run = run,
    .opts = image_plan_opts,
};
