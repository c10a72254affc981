/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse scheduler: gives pods of any cluster their nodes. */
#include "base/mem.h"
#include "base/sys.h"
#include "cmd/cmd.h"
#include "cmd/host_opts.h"
#include "node/server.h"

#include <fcntl.h>

static const char *data_dir, *kubeconfig, *context, *config_file, *health_at;
static struct cmd_list image_registries;
static struct scheduling_leader leader = { .elect = -1 };
static uint64_t seed;

static const struct cmd_opt opts[] = {
    { "kubeconfig", 0, "FILE",
      "the cluster (that of the configuration, $KUBECONFIG, ~/.kube/config, or the pod's service "
      "account)",
      CMD_STRING, &kubeconfig, 0, 0 },
    { "context", 0, "NAME", "context of the kubeconfig (its current one)", CMD_STRING, &context, 0,
      0 },
    { "config", 0, "FILE", "KubeSchedulerConfiguration; read again when it changes (the defaults)",
      CMD_STRING, &config_file, 0, 0 },
    { "data-dir", 0, "DIR",
      "compiled plugins and the admin socket; a process each " CMD_DATA_DIR_DEFAULT, CMD_STRING,
      &data_dir, 0, 0 },
    { "leader-elect", 0, NULL,
      "of several such processes, one works; =false: no Lease (as configured: true)", CMD_BOOL,
      &leader.elect, 0, 0 },
    { "leader-elect-resource-name", 0, "NAME", "the Lease for that (as configured: kube-scheduler)",
      CMD_STRING, &leader.name, 0, 0 },
    { "leader-elect-resource-namespace", 0, "NAME", "and where it is (as configured: kube-system)",
      CMD_STRING, &leader.namespace, 0, 0 },
    { "leader-elect-lease-duration", 0, "TIME", "(as configured: 15s)", CMD_DURATION,
      &leader.lease_ms, 0, 0 },
    { "leader-elect-renew-deadline", 0, "TIME", "(as configured: 10s)", CMD_DURATION,
      &leader.deadline_ms, 0, 0 },
    { "leader-elect-retry-period", 0, "TIME", "(as configured: 2s)", CMD_DURATION, &leader.retry_ms,
      0, 0 },
    CMD_PLUGIN_CHECK_OPT("plugin-check"),
    CMD_REGISTRY_OPTS,
    { "seed", 0, "N", "of the choice among nodes with equal points (random)", CMD_U64, &seed, 0,
      UINT64_MAX },
    { "image-registry", 0, "HOST[:PORT]",
      "BREAK's plugins and --send-plans may ask it what images are made of; .SUFFIX, or * for any "
      "at a public address; repeatable (*)",
      CMD_LIST, &image_registries, 0, 0 },
    CMD_SECTION("Images of pods, to their nodes"),
    CMD_PLAN_OPTS,
    CMD_SECTION("This process"),
    { "health-listen", 0, "HOST:PORT", "serve /healthz, /readyz and /metrics there (nowhere)",
      CMD_STRING, &health_at, 0, 0 },
    CMD_LOG_OPTS,
    { .name = NULL },
};

static const struct cmd_opt *scheduler_opts(void)
{
    return opts;
}

/* clientConnection.kubeconfig of the configuration, given; NULL: it says nothing. What is wrong
 * with it, the start says. */
static char *configured_kubeconfig(void)
{
    struct arena a = { 0 };
    struct sched_config config = { 0 };
    char *ret = NULL;
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(SCHED_CONFIG_MAX_BYTES + 1);
    scoped(buf_fini_scoped) struct buf warnings = BUF_INIT(4 * SCHED_CONFIG_MAX_BYTES);
    if (config_file && sys_read_file(AT_FDCWD, config_file, &text, NULL) >= 0 &&
        sched_config_read(&a, buf_str(&text), &config, &warnings, NULL) == 0 && config.kubeconfig.n)
        ret = str_dup(config.kubeconfig);
    arena_fini(&a);
    return ret;
}

static int run(int argc, char **argv)
{
    size_t n;
    char health_host[256];
    struct err err = { 0 };
    struct server_opts server = { .with_scheduler = true };
    int r = cmd_parse(&cmd_scheduler, opts, argc, argv, 0, &n);
    if (r)
        return r - 1;
    r = cmd_setup_log();
    if (r)
        return r;
    if (health_at &&
        cmd_parse_listen(health_at, health_host, sizeof health_host, &server.health_port, &err) < 0)
        return cmd_fail(CMD_USAGE, &err);
    scoped(free_scoped) char *dir = cmd_data_dir(data_dir);
    server.data_dir = dir;
    scoped(free_scoped) char *configured = kubeconfig ? NULL : configured_kubeconfig();
    server.kubeconfig = kubeconfig ? kubeconfig : configured;
    server.context = context;
    server.health_host = health_at ? health_host : NULL;
    server.scheduler =
        (struct scheduling_opts){ .config_file = config_file,
                                  .leader = leader,
                                  .seed = seed,
                                  .check_ms = cmd_plugin_check_ms,
                                  .registries = cmd_registry_site(),
                                  .image_hosts = { image_registries.at, image_registries.n } };
    if ((r = cmd_take_plan_opts(false, &server.scheduler.plans)) != 0)
        return r;
    return server_run(&server, &err) < 0 ? cmd_fail(CMD_FAILED, &err) : CMD_OK;
}

const struct cmd cmd_scheduler = {
    .name = "scheduler",
    .doc = "give pods their nodes: kube-scheduler's semantics, native and Wasm plugins",
    .help =
        "Works for pods whose schedulerName is that of one of its profiles, beside kube-scheduler "
        "or instead of it.\n"
        "Prints 'ready data-dir=... pid=...' once it knows the cluster, even while it waits to "
        "lead. SIGHUP reads\n"
        "the configuration again, as does a change of the file, and the plugins; a wrong one "
        "changes "
        "nothing. Plugins\n"
        "are files, or modules in registries (guestURL: oci://REGISTRY/NAME:TAG), with the "
        "credentials of 'docker login'.\n"
        "SIGTERM ends it. 'scheduler explain', 'scheduler simulate' and 'scheduler call' are "
        "commands of their own.\n"
        "\n"
        "With --send-plans it also plans, for each pod that it binds, where the layers come from "
        "that the node\n"
        "lacks of the pod's images (as 'dormouse image plan' shows it), and sends the plan to the "
        "node. That goes for nodes\n"
        "that run 'dormouse image serve --node NAME --report'; others pull as ever.\n"
        "\n"
        "  dormouse scheduler --kubeconfig ~/.kube/config --config scheduler.yaml\n"
        "  dormouse scheduler                 # in a pod, by 'dormouse manifest scheduler'\n"
        "  dormouse scheduler explain web-0   # why a pod has no node, or where it would go\n",
    .run = run,
    .opts = scheduler_opts,
};
