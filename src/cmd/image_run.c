/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse image run: a program of an image in a container, in the foreground. */
#include "base/sys.h"
#include "cmd/image_lazy.h"
#include "cmd/image_mounting.h"
#include "container/foreground.h"
#include "container/program.h"
#include "image/run.h"
#include "image/run_spec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { WAIT_MS = 60 * 1000, STOP_MS = 10 * 1000, ARGS_MAX = 4096 };

static struct image_args args;
static bool is_read_only, has_terminal, is_lazy, is_recording, wants_original;
static const char *data_dir, *network, *user, *cwd, *entrypoint, *host_name, *runtime;
static struct cmd_list env;
static uint64_t max_bytes, wait_ms = WAIT_MS, open_ms = LAZY_GUARD_OPEN_MS, prove_ms, record_ms;
static uint64_t stop_ms = STOP_MS;

static const struct cmd_opt opts[] = {
    IMAGE_ARGS_OPTS(args),
    { "env", 'e', "NAME[=VALUE]", "set a variable, or hand on this one; may be repeated", CMD_LIST,
      &env, 0, 0 },
    { "user", 'u', "USER[:GROUP]", "user and group, as names of the image or numbers (the image's)",
      CMD_STRING, &user, 0, 0 },
    { "workdir", 'w', "DIR", "where the program starts (the image's)", CMD_STRING, &cwd, 0, 0 },
    { "entrypoint", 0, "PROGRAM", "instead of the image's", CMD_STRING, &entrypoint, 0, 0 },
    { "hostname", 0, "NAME", "of the container (dormouse)", CMD_STRING, &host_name, 0, 0 },
    { "tty", 't', NULL, "give it a terminal; standard input has to be one", CMD_FLAG, &has_terminal,
      0, 0 },
    { "read-only", 0, NULL, "read-only, except /tmp, /run and /dev/shm in memory", CMD_FLAG,
      &is_read_only, 0, 0 },
    { "network", 0, "KIND", "none, or host for that of this machine (none)", CMD_STRING, &network,
      0, 0 },
    { "runtime", 0, "PROGRAM", "an OCI runtime (crun, else runc)", CMD_STRING, &runtime, 0, 0 },
    { "lazy", 0, NULL, "start before the whole image is here; needs a recorded start", CMD_FLAG,
      &is_lazy, 0, 0 },
    { "open-timeout", 0, "DURATION", "with --lazy: how long an open waits for a file (1m)",
      CMD_DURATION, &open_ms, 0, 0 },
    { "prove-within", 0, "DURATION",
      "with --lazy: end a container whose layers are not compared with the image by then (0s: "
      "never)",
      CMD_DURATION, &prove_ms, 0, 0 },
    { "record", 0, NULL, "record what the program opens, for lazy starts", CMD_FLAG, &is_recording,
      0, 0 },
    { "record-for", 0, "DURATION", "--record, and end the program then, by TERM", CMD_DURATION,
      &record_ms, 0, 0 },
    { "stop-timeout", 0, "DURATION", "with --record-for: after TERM, until it is killed (10s)",
      CMD_DURATION, &stop_ms, 0, 0 },
    { "max-layer-size", 0, "SIZE",
      "maximum size of an uncompressed layer (100 times the compressed size, at least 256Mi)",
      CMD_SIZE, &max_bytes, 0, 0 },
    IMAGE_ORIGINAL_OPT(wants_original),
    { "data-dir", 0, "DIR", "directory of images and containers " CMD_DATA_DIR_DEFAULT, CMD_STRING,
      &data_dir, 0, 0 },
    { "wait", 0, "DURATION", "how long to wait for another process that writes the store (1m)",
      CMD_DURATION, &wait_ms, 0, 0 },
    { .name = NULL }
};

static const struct cmd_opt *image_run_opts(void)
{
    return opts;
}

/* Variables without a value are those of this process; what it does not have is left out. */
static struct container_strings environment(struct arena *a)
{
    size_t n = 0;
    struct str *all = arena_new_n(a, struct str, env.n);
    for (size_t i = 0; i < env.n; i++) {
        bool has_value = strchr(env.at[i], '=') != NULL;
        const char *value = has_value ? NULL : getenv(env.at[i]);
        if (!has_value && !value)
            continue;
        scoped(free_scoped) char *pair =
            has_value ? xstrdup(env.at[i]) : xasprintf("%s=%s", env.at[i], value);
        all[n++] = str_copy_arena(a, str_of(pair));
    }
    return (struct container_strings){ all, n };
}

static int write_config(const struct run_place *p, const struct oci_run *image, struct arena *a,
                        size_t n_words, char **words, struct err *err)
{
    struct str program = str_of(entrypoint);
    scoped(free_scoped) struct str *arguments = xnew_n(struct str, n_words);
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(RUN_SPEC_MAX);
    struct container_user who;
    for (size_t i = 0; i < n_words; i++)
        arguments[i] = str_of(words[i]);
    const struct run_spec_opts o = {
        .args = { arguments, n_words },
        .entrypoint = { &program, entrypoint != NULL },
        .env = environment(a),
        .cwd = str_of(cwd),
        .has_terminal = has_terminal,
        .root = p->target,
        .host_name = host_name ? host_name : "dormouse",
        .is_read_only = is_read_only,
        .has_network = network && str_is(str_of(network), "host"),
        .is_in_user_namespace = image_mounting_users() != IMAGE_MOUNTING_USERS_ALL,
    };
    scoped(fd_scoped) int root = sys_openat(AT_FDCWD, p->target, O_RDONLY | O_DIRECTORY, 0);
    scoped(fd_scoped) int dir = sys_openat(AT_FDCWD, p->dir, O_RDONLY | O_DIRECTORY, 0);
    if (root < 0 || dir < 0)
        return err_sys(err, root < 0 ? root : dir, "open '%s'", p->dir);
    int r = container_user_find(root, user ? str_of(user) : image->user, &who, err);
    r = r < 0 ? r : run_spec_make(image, &o, &who, &text, err);
    return r < 0 ? r : sys_write_file_atomic(dir, "config.json", buf_str(&text), 0600, err);
}

/* *ret: what the image says of programs; borrowed from either. */
static int mount_image(struct image_lazy *z, struct image_mounting *m, const struct oci_run **ret,
                       struct err *err)
{
    int r = is_recording ? image_lazy_record(z, err) : is_lazy ? image_lazy_mount(z, err) : 1;
    *ret = r == 0 ? &z->config.run : &m->config.run;
    return r == 1 ? image_mounting_mount(m, err) : r;
}

static int run_at(const struct run_place *p, const char *program, size_t n_words, char **words,
                  struct image_lazy *z, int *ret_status, struct err *err)
{
    const struct oci_run *image = NULL;
    scoped(image_mounting_fini_scoped) struct image_mounting m = {
        .args = z->args,
        .reference = words[0],
        .target = p->target,
        .state = p->state,
        .max_bytes = max_bytes,
        .wait_ms = wait_ms,
        .is_writable =
            true, /* the runtime makes mount points, even if the container cannot write */
        .is_not_durable = true,
        .is_alone = true,
        .wants_original = wants_original,
        .is_rootless = image_mounting_users() == IMAGE_MOUNTING_USERS_ONE,
    };
    z->reference = words[0];
    z->target = p->target;
    z->state = p->state;
    int r = mount_image(z, &m, &image, err);
    r = r < 0 ? r : run_place_remove_devices(p, err);
    r = r < 0 ? r : write_config(p, image, &m.documents, n_words - 1, words + 1, err);
    r = r < 0 ? r : container_foreground_run(program, p->dir, p->id, ret_status, err);
    int kept = image_lazy_end(z, r < 0 ? NULL : ret_status, r < 0 ? NULL : err);
    return r < 0 ? r : kept;
}

static int run_image(size_t n_words, char **words, int *ret_status, struct err *err)
{
    struct run_place place;
    scoped(free_scoped) char *data = cmd_data_dir(data_dir), *program = NULL;
    scoped(free_scoped) char *runs = xasprintf("%s/runs", data);
    scoped(free_scoped) char *store = image_mounting_store(args.store, data_dir);
    struct image_args with = args;
    struct image_lazy z = { .args = &with,
                            .store = store,
                            .max_bytes = max_bytes,
                            .wait_ms = wait_ms,
                            .open_ms = open_ms,
                            .prove_ms = prove_ms,
                            .record_ms = record_ms,
                            .stop_ms = stop_ms };
    with.store = store;
    int r = container_program_find(runtime, &program, err);
    r = r < 0 ? r : run_enter_namespace(err);
    r = r < 0 ? r : run_place_new(runs, wait_ms, &place, err);
    if (r < 0)
        return r;
    r = run_at(&place, program, n_words, words, &z, ret_status, err);
    int removed = run_place_remove(&place, wait_ms, r < 0 ? NULL : err);
    image_lazy_fini(&z);
    return r < 0 ? r : removed;
}

static int run(int argc, char **argv)
{
    size_t n;
    int status = CMD_FAILED;
    struct err err = { 0 };
    int r = cmd_parse(&cmd_image_run, opts, argc, argv, ARGS_MAX, &n);
    if (r)
        return r - 1;
    if (n == 0)
        return cmd_failf(CMD_USAGE, "no image is named; see 'dormouse image run --help'");
    if ((r = image_args_check(&args)) != 0)
        return r;
    if (network && !str_is(str_of(network), "none") && !str_is(str_of(network), "host"))
        return cmd_failf(CMD_USAGE, "--network is none or host, not '%s'", network);
    is_recording = is_recording || record_ms;
    if (is_lazy && is_recording)
        return cmd_failf(CMD_USAGE, "--lazy and --record exclude each other");
    if (open_ms < 1 || open_ms > LAZY_GUARD_OPEN_MAX_MS)
        return cmd_failf(CMD_USAGE, "--open-timeout is 1ms to %dh",
                         LAZY_GUARD_OPEN_MAX_MS / 3600000);
    if (prove_ms && !is_lazy)
        return cmd_failf(CMD_USAGE, "--prove-within needs --lazy");
    if (has_terminal && !isatty(STDIN_FILENO))
        return cmd_failf(CMD_USAGE, "--tty needs a terminal as standard input");
    if (geteuid() != 0)
        return cmd_failf(CMD_FAILED,
                         "running an image needs root or a user namespace (unshare -Urm)");
    if ((is_lazy || is_recording) && image_mounting_users() != IMAGE_MOUNTING_USERS_ALL)
        return cmd_failf(CMD_FAILED, "--lazy and --record need root outside of user namespaces");
    return run_image(n, argv, &status, &err) < 0 ? cmd_fail(CMD_FAILED, &err) : status;
}

const struct cmd cmd_image_run = {
    .name = "image run",
    .args = "IMAGE [-- ARG...]",
    .doc = "run a program of an image in a container",
    .help = IMAGE_REFERENCE_HELP
    "The container runs in the foreground with the standard files of this command. The exit\n"
    "status is that of the program, or 128 plus the number of the signal that ended it.\n"
    "Signals are passed on. Arguments replace those of the image. An image that is not in the\n"
    "store is pulled first, without a name; a server that has the store open does this. The\n"
    "files that the container writes are removed at the end; a kill -9 ends the container\n"
    "too, and the next 'image run' removes its files. The container has no network unless\n"
    "--network host is given, no new privileges, and few capabilities. There are no limits of\n"
    "memory, processes and processor time. The command needs root or a user namespace; in one\n"
    "with a single user every file of the image belongs to that user.\n"
    "\n"
    "With --record the start of an image of the store is recorded: which files are opened, in\n"
    "which order. The store has to keep its layers as tars, as 'image pull' does without\n"
    "--form cas; 'image mount --sink cas' replaces the tars. 'dormouse image serve' of that\n"
    "store gives out the list. Then 'image run --lazy', there or on another node, starts the\n"
    "image as soon as the files of the list are available. Opening another file waits until\n"
    "it is fetched. The rest is fetched in the background, and then the image is in the\n"
    "store, by its name. After --open-timeout an open fails (EIO) and may be tried again.\n"
    "Until all files of a layer are here, its names and attributes are only those that 'image\n"
    "serve' has sent; each layer is then compared with the image, and a difference ends the\n"
    "container. --prove-within also ends a container if a registry is not reachable, or does\n"
    "not send a file, and the comparison is delayed by this. The start of a program that\n"
    "fails is not recorded.\n"
    "\n"
    "  dormouse image run oci:layout:v1\n"
    "  dormouse image run app:1.2 -e LEVEL=debug -- serve --port 80\n"
    "  dormouse image run docker://alpine:3.20 --entrypoint /bin/sh -t\n"
    "  unshare -Urm dormouse image run oci:layout:v1\n"
    "  dormouse image run app:1.2 --record-for 20s\n"
    "  dormouse image run docker://node1:5000/app:1.2 --lazy\n",
    .run = run,
    .opts = image_run_opts,
};
