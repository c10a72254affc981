/* SPDX-License-Identifier: Apache-2.0 */
/* A loop, a directory, ConfigMaps and Secrets for tests of volumes. */
#pragma once

#include "agent/volume/volume.h"
#include "agent_pod_kit.h"
#include "base/log.h"
#include "base/sys.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>

static struct loop kit_loop;
static char kit_dir[] = "/tmp/dormouse-volume-XXXXXX";
static bool kit_can_mount; /* in a mount namespace of this process */

static const struct json *kit_config_maps, *kit_secrets;

static inline const struct json *kit_object(void *arg, enum pod_object_kind kind,
                                            struct str namespace, struct str name)
{
    return json_get(kind == POD_OBJECT_SECRET ? kit_secrets : kit_config_maps, name);
}

/* Mounts of the tests are seen by this process alone. */
static inline void kit_begin(void)
{
    (void)umask(022);
    log_setup(LOG_ERROR, LOG_TEXT); /* tests cause what is warned of */
    kit_can_mount = geteuid() == 0 && unshare(CLONE_NEWNS) == 0 &&
                    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
    CHECK(mkdtemp(kit_dir)); /* its path is real: that of /tmp must be */
    CHECK_OK(loop_init(&kit_loop, NULL));
}

static inline void kit_end(void)
{
    char command[64];
    loop_fini(&kit_loop);
    kit_reset();
    (void)snprintf(command, sizeof command, "rm -rf --one-file-system %s", kit_dir);
    CHECK(system(command) == 0);
}

/* Run the loop until the condition holds. */
#define KIT_WAIT(cond)                                                                             \
    do {                                                                                           \
        while (!(cond))                                                                            \
            (void)loop_turn(&kit_loop, true);                                                      \
    } while (0)

static inline const char *kit_path(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static inline const char *kit_path(const char *fmt, ...)
{
    char tail[1024];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(tail, sizeof tail, fmt, ap);
    va_end(ap);
    return arena_printf(&kit_arena, "%s/%s", kit_dir, tail);
}

static inline void kit_mkdir(const char *path)
{
    CHECK_OK(sys_mkdir_all(path, 0755, NULL));
}

static inline void kit_write(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    CHECK(fd >= 0);
    CHECK_OK(sys_write_all(fd, text, strlen(text)));
    CHECK(close(fd) == 0);
}

/* The text of a file; "!ENOENT" and the like. */
static inline struct str kit_read(const char *path)
{
    struct buf text = BUF_INIT(1 << 20);
    int r = sys_read_file(AT_FDCWD, path, &text, NULL);
    struct str s = r < 0 ? str_of(arena_printf(&kit_arena, "!%s", err_name(r)))
                         : str_copy_arena(&kit_arena, buf_str(&text));
    buf_fini(&text);
    return s;
}

static inline bool kit_exists(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

static inline struct stat kit_stat(const char *path)
{
    struct stat st;
    if (lstat(path, &st) < 0)
        TEST_FAIL("%s: %s", path, err_name(-errno));
    return st;
}

static inline bool kit_is_tmpfs(const char *path)
{
    struct statfs st;
    CHECK(statfs(path, &st) == 0);
    return st.f_type == 0x01021994;
}

static inline bool kit_is_mount(const char *path)
{
    struct statx st;
    CHECK(statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_TYPE, &st) == 0);
    return (st.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

/* ---------------------------------------------------------------- hosts and pods */

/* What the tests supply, and what they saw. */
static struct kit_supply {
    struct volume_token *asked; /* the request without an answer */
    unsigned n_asked;
    int token_result; /* of the start of a request */
    struct volume_claim claim;
    int claim_result;
    const char *image; /* NULL: not yet */
} kit_supplied;

static inline int kit_token(void *arg, struct volume_token *t, struct err *err)
{
    kit_supplied.n_asked++;
    if (kit_supplied.token_result < 0)
        return err_set(err, kit_supplied.token_result, "no server");
    CHECK(!kit_supplied.asked);
    kit_supplied.asked = t;
    return 0;
}

static inline int kit_claim(void *arg, const struct pod_spec *pod, struct str claim,
                            struct volume_claim *ret, struct err *err)
{
    if (kit_supplied.claim_result < 0)
        return err_set(err, kit_supplied.claim_result, "claim \"" STR_FMT "\" is not bound",
                       STR_ARG(claim));
    *ret = kit_supplied.claim;
    return 0;
}

static inline int kit_image(void *arg, const struct pod_spec *pod, const struct pod_volume *v,
                            struct str *ret_path, struct err *err)
{
    if (!kit_supplied.image)
        return err_set(err, -EAGAIN, "pulling \"" STR_FMT "\"", STR_ARG(v->image));
    *ret_path = str_of(kit_supplied.image);
    return 0;
}

static const struct volume_supply kit_volume_supply = { kit_token, kit_claim, kit_image };
static const struct pod_facts kit_facts = { .allocatable = { 1000, 64 << 20, 1 << 30 } };
static struct volume_host *kit_host;
static unsigned kit_n_changes, kit_n_closed;

static inline void kit_host_new(bool without_mounts)
{
    const struct volume_host_options o = { .loop = &kit_loop,
                                           .root = kit_path("pods"),
                                           .objects = { .get = kit_object },
                                           .supply = &kit_volume_supply,
                                           .without_mounts = without_mounts };
    kit_supplied = (struct kit_supply){ 0 };
    CHECK_OK(volume_host_new(&o, &kit_host, NULL));
}

static inline void kit_host_free(void)
{
    volume_host_free(kit_host);
    kit_host = NULL;
    kit_config_maps = kit_secrets = NULL;
    kit_reset();
}

static inline void kit_on_change(struct volume_pod *p, void *arg)
{
    kit_n_changes++;
}

static inline void kit_on_closed(struct volume_pod *p, void *arg)
{
    kit_n_closed++;
}

/* A pod with one container "c"; spec: members in flow style. */
static inline const struct pod_spec *kit_spec(const char *uid, const char *spec)
{
    return kit_pod(arena_printf(&kit_arena,
                                "{metadata: {name: web, namespace: shop, uid: %s, labels: {app: "
                                "web}}, spec: {nodeName: n1, %s}}",
                                uid, spec));
}

static inline struct volume_pod *kit_start(const struct pod_spec *spec)
{
    struct volume_pod *p;
    struct err err = { 0 };
    kit_n_changes = 0;
    int r = volume_pod_start(kit_host, spec, &kit_facts, kit_on_change, NULL, &p, &err);
    if (r < 0)
        TEST_FAIL("%s", err_text(&err));
    CHECK(volume_pod_at(p) == VOLUME_POD_PREPARING && kit_n_changes == 0);
    return p;
}

/* Wait for the first state or problem. */
static inline struct volume_pod *kit_started(const struct pod_spec *spec)
{
    struct volume_pod *p = kit_start(spec);
    KIT_WAIT(volume_pod_at(p) == VOLUME_POD_READY || volume_pod_problem(p)->code);
    return p;
}

static inline struct volume_pod *kit_ready(const struct pod_spec *spec)
{
    struct volume_pod *p = kit_started(spec);
    if (volume_pod_at(p) != VOLUME_POD_READY)
        TEST_FAIL("%s", err_text(volume_pod_problem(p)));
    return p;
}

static inline void kit_close(struct volume_pod *p, enum volume_pod_end end)
{
    kit_n_closed = 0;
    volume_pod_close(p, end, kit_on_closed, NULL);
    CHECK(kit_n_closed == 0);
    KIT_WAIT(kit_n_closed);
}

/* Of pod "u": ROOT/u/volumes/kubernetes.io~KIND/NAME... */
#define KIT_VOLUME(rest) kit_path("pods/u/volumes/kubernetes.io~" rest)

#define KIT_MAIN                                                                                   \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        kit_begin();                                                                               \
        int r = test_main(argc, argv);                                                             \
        kit_end();                                                                                 \
        return r;                                                                                  \
    }
