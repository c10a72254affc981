/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse nodes simulate: simulated nodes, for schedulers and controllers at scale. */
#include "lab/cmd/commands.h"

#include "base/sys.h"
#include "client/http_transport.h"
#include "cmd/kube_client.h"
#include "cmd/lab.h"
#include "codec/yaml.h"
#include "lab/node/simulated_nodes.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

static const char *kubeconfig, *context, *data_dir, *file;
static const char *prefix = "sim", *region = "simulated", *cpu = "8", *memory = "32Gi",
                  *pods = "110";
static struct cmd_list labels, resources, taints;
static uint64_t n_nodes, zones, start_ms, stop_ms, lease_ms = 10000, concurrency = 64;
static bool no_leases, untaints, removes;

static const struct cmd_opt opts[] = {
    { "nodes", 'n', "N", "how many (10; with a file of several, as many as it has)", CMD_U64,
      &n_nodes, 1, SIMULATED_NODES_MAX },
    { "prefix", 0, "NAME", "named NAME-0, NAME-1, ... (sim)", CMD_STRING, &prefix, 0, 0 },
    { "cpu", 0, "QUANTITY", "of each (8)", CMD_STRING, &cpu, 0, 0 },
    { "memory", 0, "QUANTITY", "of each (32Gi)", CMD_STRING, &memory, 0, 0 },
    { "pods", 0, "N", "that each takes (110)", CMD_STRING, &pods, 0, 0 },
    { "resource", 0, "NAME=QUANTITY", "a further resource, as nvidia.com/gpu=4; repeatable",
      CMD_LIST, &resources, 0, 0 },
    { "zones", 0, "N", "put them into zones in turns: zone-a, zone-b, ... (none)", CMD_U64, &zones,
      0, SIMULATED_NODES_MAX },
    { "region", 0, "NAME", "of the zones (simulated)", CMD_STRING, &region, 0, 0 },
    { "label", 'l', "KEY=VALUE", "of each node; repeatable", CMD_LIST, &labels, 0, 0 },
    { "taint", 0, "KEY=VALUE:EFFECT", "of each node; repeatable", CMD_LIST, &taints, 0, 0 },
    { "file", 'f', "FILE", "Nodes as YAML or JSON: one is the pattern of all, several are all",
      CMD_STRING, &file, 0, 0 },
    { "start-after", 0, "TIME", "from when a pod is bound to when it runs (0s)", CMD_DURATION,
      &start_ms, 0, 0 },
    { "stop-after", 0, "TIME", "from when a pod is to end to when it is gone (0s)", CMD_DURATION,
      &stop_ms, 0, 0 },
    { "lease-interval", 0, "TIME", "between renewals of a node's Lease (10s)", CMD_DURATION,
      &lease_ms, 0, 0 },
    { "no-leases", 0, NULL, "keep none", CMD_FLAG, &no_leases, 0, 0 },
    { "untaint", 0, NULL,
      "take the taint not-ready off new nodes: for a bare API, where no controller does", CMD_FLAG,
      &untaints, 0, 0 },
    { "concurrency", 0, "N", "requests at once (64)", CMD_U64, &concurrency, 1, 1024 },
    { "remove", 0, NULL, "remove the nodes at the end", CMD_FLAG, &removes, 0, 0 },
    { "kubeconfig", 0, "FILE", "the cluster (DIR/kubeconfig, $KUBECONFIG, ~/.kube/config)",
      CMD_STRING, &kubeconfig, 0, 0 },
    { "context", 0, "NAME", "context of the kubeconfig (its current one)", CMD_STRING, &context, 0,
      0 },
    { "data-dir", 0, "DIR",
      "of a running server, to find its kubeconfig " CMD_SERVER_DATA_DIR_DEFAULT, CMD_STRING,
      &data_dir, 0, 0 },
    CMD_LOG_OPTS,
    { .name = NULL },
};

static const struct cmd_opt *nodes_simulate_opts(void)
{
    return opts;
}

struct nodes_simulate_run {
    struct loop loop;
    struct http_transport *transport;
    struct simulated_nodes *nodes;
    struct sig_watch term, interrupt;
    size_t n;
    bool is_stopping;
    int r;
    struct err err;
};

/* ---- options ---- */

static int read_lists(struct simulated_spec *spec, struct err *err)
{
    int r = 0;
    for (size_t i = 0; r >= 0 && i < labels.n; i++)
        r = simulated_read_pair(str_of(labels.at[i]), &spec->labels[spec->n_labels++], err);
    for (size_t i = 0; r >= 0 && i < resources.n; i++)
        r = simulated_read_pair(str_of(resources.at[i]), &spec->resources[spec->n_resources++],
                                err);
    for (size_t i = 0; r >= 0 && i < taints.n; i++)
        r = simulated_read_taint(str_of(taints.at[i]), &spec->taints[spec->n_taints++], err);
    return r;
}
_Static_assert(SIMULATED_LIST_MAX >= ARRAY_LEN(((struct cmd_list *)0)->at), "as many as options");

/* Read the documents of the file, and the items of its Lists. */
static int read_file(struct arena *a, struct simulated_spec *spec, struct err *err)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(YAML_MAX_BYTES);
    struct json *documents;
    int r = strcmp(file, "-") == 0 ? sys_read_file(AT_FDCWD, "/dev/stdin", &text, err)
                                   : sys_read_file(AT_FDCWD, file, &text, err);
    if (r >= 0)
        r = yaml_parse_all(a, buf_str(&text), NULL, &documents, err);
    if (r < 0)
        return err_ctx(err, r, "%s", file);
    size_t n = 0, at = 0;
    json_each (d, documents)
        json_each (item, json_getc(d, "items"))
            n++;
    json_each (d, documents)
        n++;
    const struct json **nodes = arena_alloc_n(a, sizeof *nodes, n);
    json_each (d, documents) {
        json_each (item, json_getc(d, "items"))
            nodes[at++] = item;
        if (json_is(d, JSON_OBJECT) && !json_getc(d, "items"))
            nodes[at++] = d;
    }
    if (at == 0)
        return err_set(err, E_INVALID, "'%s' holds no Node", file);
    spec->files = nodes;
    spec->n_files = at;
    if (at > 1 && n_nodes && n_nodes != at)
        return err_set(err, E_INVALID, "'%s' holds %zu Nodes, so there cannot be %" PRIu64, file,
                       at, n_nodes);
    if (at > 1)
        spec->n = at;
    return 0;
}

/* ---- running ---- */

static void on_sig_closed(struct sig_watch *w)
{
}

static void on_transport_closed(void *arg)
{
    struct nodes_simulate_run *run = arg;
    sig_watch_close(&run->term, on_sig_closed);
    sig_watch_close(&run->interrupt, on_sig_closed);
}

static void on_nodes_stopped(void *arg)
{
    struct nodes_simulate_run *run = arg;
    run->nodes = NULL;
    http_transport_close(run->transport, on_transport_closed, run);
}

static void stop(struct nodes_simulate_run *run)
{
    if (run->is_stopping)
        return;
    run->is_stopping = true;
    struct simulated_counts n;
    simulated_nodes_count(run->nodes, &n);
    (void)fprintf(stderr,
                  "nodes=%zu started=%" PRIu64 " ended=%" PRIu64 " renewals=%" PRIu64
                  " retries=%" PRIu64 " refused=%" PRIu64 "\n",
                  n.nodes, n.started, n.ended, n.renewals, n.retries, n.refused);
    simulated_nodes_stop(run->nodes, on_nodes_stopped, run);
}

static void on_term(struct sig_watch *w, int signum)
{
    stop(container_of(w, struct nodes_simulate_run, term));
}

static void on_interrupt(struct sig_watch *w, int signum)
{
    stop(container_of(w, struct nodes_simulate_run, interrupt));
}

static void on_ready(void *arg, int r, const struct err *err)
{
    struct nodes_simulate_run *run = arg;
    if (r >= 0) {
        (void)printf("ready nodes=%zu prefix=%s pid=%d\n", run->n, prefix, (int)getpid());
        (void)fflush(stdout);
        return;
    }
    run->r = r;
    run->err = *err;
    stop(run);
}

static int start(struct nodes_simulate_run *run, const struct simulated_spec *spec, struct err *err)
{
    scoped(kubeconfig_free_scoped) struct kubeconfig *config = NULL;
    int r = kube_client_config(kubeconfig, context, data_dir, &config, err);
    if (r >= 0)
        r = http_transport_new(&run->loop, config, &run->transport, err);
    if (r < 0)
        return r;
    const struct simulated_nodes_opts o = { .loop = &run->loop,
                                            .transport = http_transport_base(run->transport),
                                            .spec = spec,
                                            .start_ms = start_ms,
                                            .stop_ms = stop_ms,
                                            .lease_ms = no_leases ? 0 : lease_ms,
                                            .concurrency = (unsigned)concurrency,
                                            .untaints = untaints,
                                            .removes = removes,
                                            .on_ready = on_ready,
                                            .arg = run };
    run->n = spec->n;
    return simulated_nodes_start(&o, &run->nodes, err);
}

static int simulate(const struct simulated_spec *spec, struct err *err)
{
    struct nodes_simulate_run run = { 0 };
    int r = loop_init(&run.loop, err);
    if (r < 0)
        return r;
    r = start(&run, spec, err);
    if (r >= 0) {
        (void)sig_watch_start(&run.loop, &run.term, SIGTERM, true, on_term, NULL);
        (void)sig_watch_start(&run.loop, &run.interrupt, SIGINT, true, on_interrupt, NULL);
    } else if (run.transport) {
        http_transport_close(run.transport, NULL, NULL);
    }
    loop_run(&run.loop);
    while (loop_turn(&run.loop, false))
        ;
    loop_fini(&run.loop);
    if (run.r < 0) {
        *err = run.err;
        return run.r;
    }
    return r;
}

static int run_command(int argc, char **argv)
{
    size_t n;
    struct err err = { 0 };
    struct arena a = { 0 };
    int r = cmd_parse(&nodes_simulate_command, opts, argc, argv, 0, &n);
    if (r)
        return r - 1;
    r = cmd_setup_log();
    if (r)
        return r;
    if (lease_ms < 1000)
        return cmd_failf(CMD_USAGE, "--lease-interval must be 1s at least; --no-leases keeps none");
    struct simulated_spec spec = { .n = n_nodes ? n_nodes : 10,
                                   .prefix = prefix,
                                   .zones = (unsigned)zones,
                                   .region = region,
                                   .cpu = cpu,
                                   .memory = memory,
                                   .pods = pods };
    r = read_lists(&spec, &err);
    if (r >= 0 && file)
        r = read_file(&a, &spec, &err);
    if (r >= 0)
        r = simulated_check(&spec, &err);
    int status = r < 0 ? CMD_USAGE : CMD_FAILED;
    if (r >= 0)
        r = simulate(&spec, &err);
    arena_fini(&a);
    return r < 0 ? cmd_fail(status, &err) : CMD_OK;
}

const struct cmd nodes_simulate_command = {
    LAB_NODES_SIMULATE,
    .help =
        "For schedulers and controllers at scale: Node objects with Leases and the condition "
        "Ready.\n"
        "A pod that is bound to one becomes Running, with an address; a deleted pod ends.\n"
        "Prints a line that begins with \"ready\" when all nodes are there. Nodes of an earlier "
        "run with\n"
        "the same prefix are taken over, deleted nodes are not made again.\n"
        "\n"
        "  dormouse nodes simulate --data-dir /tmp/d --nodes 1000 --zones 3\n"
        "  dormouse nodes simulate --nodes 8 --cpu 64 --memory 512Gi --resource nvidia.com/gpu=8 "
        "\\\n"
        "      --label pool=gpu --taint gpu=yes:NoSchedule --prefix gpu --remove\n"
        "  kubectl get nodes -o yaml | dormouse nodes simulate -f - --kubeconfig "
        "other.kubeconfig\n",
    .run = run_command,
    .opts = nodes_simulate_opts,
};
