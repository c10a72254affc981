/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse image snapshotter: the layers of the store for containerd. */
#include "base/log.h"
#include "base/sys.h"
#include "cmd/image_args.h"
#include "image/snapshot_server.h"
#include "image/store_control.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

enum {
    GRACE_MS = 2000,
    END_MS = 8000, /* what does not end by then is cut: store and snapshots survive that */
};

static struct image_store_args where;
static const char *socket_path, *root, *policy_word;
static enum image_cache_policy policy;
static struct cmd_list upstreams;
static uint64_t quota;
static bool is_not_durable;
static struct oci_remote_opts registry;

static const struct cmd_opt opts[] = {
    { "socket", 0, "PATH", "socket for containerd (snapshotter.sock in the data directory)",
      CMD_STRING, &socket_path, 0, 0 },
    { "root", 0, "DIR",
      "directory of the snapshots, for nothing else (snapshots/ in the data directory)", CMD_STRING,
      &root, 0, 0 },
    IMAGE_STORE_OPT(where.store),
    { "no-sync", 0, NULL, "use layers before they are on the disk: a power failure may damage them",
      CMD_FLAG, &is_not_durable, 0, 0 },
    CMD_SECTION("Images that are missing"),
    { "upstream", 0, "REGISTRY",
      "pull them from this registry without credentials, docker.io for example; repeatable (none)",
      CMD_LIST, &upstreams, 0, 0 },
    IMAGE_STORE_QUOTA_OPTS(quota, policy_word),
    IMAGE_REGISTRY_OPTS(registry),
    CMD_SECTION("The store"),
    IMAGE_STORE_WAIT_OPT(where.wait_ms),
    CMD_SECTION("This process"),
    CMD_LOG_OPTS,
    { .name = NULL },
};

static const struct cmd_opt *image_snapshotter_opts(void)
{
    return opts;
}

struct snapshotting {
    struct loop loop;
    struct oci_store *store;
    struct snapshotter *snapshotter;
    struct snapshot_server *server;
    struct store_control *control; /* NULL: a reader */
    struct sig_watch term, interrupt;
    struct timer end;
    bool is_stopping;
};

/* ---- the end ---- */

static void on_closed(void *arg)
{
    struct snapshotting *v = arg;
    timer_stop(&v->loop, &v->end);
    sig_watch_close(&v->term, NULL);
    sig_watch_close(&v->interrupt, NULL);
}

static void on_late(struct timer *t)
{
    (void)t;
    _exit(CMD_OK);
}

static void stop(struct snapshotting *v)
{
    if (v->is_stopping)
        return;
    v->is_stopping = true;
    timer_start(&v->loop, &v->end, END_MS, on_late);
    snapshot_server_close(v->server, GRACE_MS, on_closed, v);
}

static void on_term(struct sig_watch *w, int signum)
{
    (void)signum;
    stop(container_of(w, struct snapshotting, term));
}

static void on_interrupt(struct sig_watch *w, int signum)
{
    (void)signum;
    stop(container_of(w, struct snapshotting, interrupt));
}

/* ---- the beginning ---- */

static bool writes(void)
{
    return upstreams.n > 0;
}

/* Without pulls of its own it leaves the lock of the store to others; a store that is not there yet
 * is made, so that what they pull is found. */
static int open_store(struct snapshotting *v, struct err *err)
{
    struct oci_store_opts o = { .is_reader = !writes(),
                                .is_service = writes(),
                                .has_control = writes(),
                                .lock_ms = where.wait_ms,
                                .form = OCI_STORE_RAW,
                                .quota_bytes = quota };
    int r = image_store_open_with(where.store, o, policy, &v->store, err);
    if (r != -ENOENT || writes())
        return r;
    o.is_reader = false;
    r = image_store_open_with(where.store, o, policy, &v->store, err);
    if (r < 0)
        return r;
    image_store_close(take_ptr(&v->store));
    o.is_reader = true;
    return image_store_open_with(where.store, o, policy, &v->store, err);
}

static int start(struct snapshotting *v, const char *at, const char *dir, struct err *err)
{
    struct err why = { 0 };
    int r = open_store(v, err);
    if (r < 0)
        return r;
    const struct snapshotter_opts how = { .root = dir,
                                          .store = v->store,
                                          .is_not_durable = is_not_durable };
    r = snapshotter_open(&how, &v->snapshotter, err);
    if (r < 0)
        return r;
    const struct snapshot_server_opts o = { .loop = &v->loop,
                                            .socket = at,
                                            .snapshotter = v->snapshotter,
                                            .upstreams = upstreams.at,
                                            .n_upstreams = upstreams.n,
                                            .store = v->store,
                                            .registry = registry };
    r = snapshot_server_start(&o, &v->server, err);
    if (r >= 0 && writes() && store_control_start(v->store, &v->control, &why) < 0)
        log_warn("commands cannot write the store meanwhile", "error=\"%s\"", err_text(&why));
    return r;
}

static int serve(const char *at, const char *dir, struct err *err)
{
    struct snapshotting v = { 0 };
    sys_raise_files();
    int r = loop_init(&v.loop, err);
    if (r < 0)
        return r;
    r = start(&v, at, dir, err);
    if (r >= 0) {
        (void)sig_watch_start(&v.loop, &v.term, SIGTERM, true, on_term, NULL);
        (void)sig_watch_start(&v.loop, &v.interrupt, SIGINT, true, on_interrupt, NULL);
        (void)printf("ready socket=%s root=%s store=%s snapshots=%zu pid=%d\n", at, dir,
                     oci_store_root(v.store), snapshotter_count(v.snapshotter), (int)getpid());
        (void)fflush(stdout);
    }
    loop_run(&v.loop);
    while (loop_turn(&v.loop, false))
        ;
    loop_fini(&v.loop);
    snapshotter_close(v.snapshotter);
    store_control_close(v.control, true);
    if (writes())
        image_store_close(v.store);
    else
        oci_store_close(v.store);
    return r;
}

static int check_args(void)
{
    if (geteuid() != 0)
        return cmd_failf(CMD_FAILED, "image snapshotter: snapshots of containerd have files of all "
                                     "owners: run this command as root, as containerd");
    if (upstreams.n > SNAPSHOT_SERVER_UPSTREAMS_MAX)
        return cmd_failf(CMD_USAGE, "--upstream: at most %d", SNAPSHOT_SERVER_UPSTREAMS_MAX);
    for (size_t i = 0; i < upstreams.n; i++)
        if (strlen(upstreams.at[i]) > OCI_REFERENCE_HOST_MAX || strchr(upstreams.at[i], '/'))
            return cmd_failf(CMD_USAGE, "--upstream is the host of a registry, not '%s'",
                             upstreams.at[i]);
    if ((quota || policy_word) && !writes())
        return cmd_failf(
            CMD_USAGE,
            "--quota and --policy need --upstream: otherwise nothing is written to the store");
    return image_store_policy(policy_word, &policy);
}

static int run(int argc, char **argv)
{
    size_t n;
    struct err err = { 0 };
    int r = cmd_parse(&cmd_image_snapshotter, opts, argc, argv, 0, &n);
    if (r)
        return r - 1;
    r = cmd_setup_log();
    if (r)
        return r;
    if ((r = check_args()) != 0)
        return r;
    scoped(free_scoped) char *data = socket_path && root ? NULL : cmd_data_dir(NULL);
    scoped(free_scoped) char *at =
        socket_path ? xstrdup(socket_path) : xasprintf("%s/snapshotter.sock", data);
    scoped(free_scoped) char *dir = root ? xstrdup(root) : xasprintf("%s/snapshots", data);
    return serve(at, dir, &err) < 0 ? cmd_fail(CMD_FAILED, &err) : CMD_OK;
}

const struct cmd cmd_image_snapshotter = {
    .name = "image snapshotter",
    .doc =
        "give containerd the layers of the store, so that it fetches and unpacks only missing ones",
    .help =
        "A remote snapshotter of containerd (1.6 or later), which calls it on a Unix socket:\n"
        "\n"
        "  # /etc/containerd/config.toml\n"
        "  [proxy_plugins.dormouse]\n"
        "    type = \"snapshot\"\n"
        "    address = \"/var/lib/dormouse/snapshotter.sock\"\n"
        "\n"
        "  [plugins.\"io.containerd.grpc.v1.cri\".containerd]\n"
        "    snapshotter = \"dormouse\"\n"
        "\n"
        "A layer that the store has ('dormouse image pull') is written as a directory once, and\n"
        "all images that have it share it. containerd fetches the other layers as usual. This\n"
        "works for the kubelet and crictl; 'ctr images pull' of containerd 1.6 does not ask the\n"
        "snapshotter for layers. containerd 2 unpacks for the snapshotters in its configuration:\n"
        "\n"
        "  [proxy_plugins.dormouse.exports]\n"
        "    root = \"/var/lib/dormouse/snapshots\"\n"
        "    enable_remote_snapshot_annotations = \"true\"\n"
        "  [[plugins.\"io.containerd.transfer.v1.local\".unpack_config]]\n"
        "    platform = \"linux\"\n"
        "    snapshotter = \"dormouse\"\n"
        "    differ = \"walking\"\n"
        "  [plugins.\"io.containerd.cri.v1.images\"]\n"
        "    snapshotter = \"dormouse\"\n"
        "\n"
        "The socket has the mode 0600.\n"
        "\n"
        "With --upstream the snapshotter pulls layers that the store lacks, if containerd sends\n"
        "the image to which a layer belongs: the CRI plugin of 1.x does so with\n"
        "disable_snapshot_annotations = false, and containerd 2 with the exports above. The\n"
        "snapshotter then holds the lock of the store. It pulls without credentials, because all\n"
        "containers of the node may use what it pulls; containerd fetches private images with its\n"
        "own credentials.\n"
        "\n"
        "  dormouse image snapshotter --upstream docker.io --quota 20Gi\n"
        "\n"
        "It makes no mounts: containers continue to run while it is stopped, and find their\n"
        "snapshots after its restart. Removing the DIR of --root removes the files of "
        "containers.\n",
    .run = run,
    .opts = image_snapshotter_opts,
};
