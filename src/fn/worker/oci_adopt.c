/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Containers outlive a worker that was killed. What each of them is stands in its state.json,
 * written when it was ready; a worker that starts takes over those that still run, and removes the
 * rest.
 */
#include "base/sys.h"
#include "codec/json.h"
#include "fn/worker/oci_impl.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

void box_write_state(const struct box *b)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(OCI_STATE_MAX);
    scoped(free_scoped) char *path = xasprintf("%s/state.json", b->dir);
    struct process_facts facts = { 0 };
    (void)process_facts(b->pid, &facts);
    (void)buf_printf(&text, "{\"sandbox\":%llu,\"uid\":", (unsigned long long)b->id);
    (void)json_write_str(&text, str_of(b->of.uid));
    (void)buf_add_cstr(&text, ",\"namespace\":");
    (void)json_write_str(&text, str_of(b->of.namespace));
    (void)buf_add_cstr(&text, ",\"function\":");
    (void)json_write_str(&text, str_of(b->of.function));
    if (b->image) {
        (void)buf_add_cstr(&text, ",\"image\":");
        (void)json_write_str(&text, str_of(b->image->dir));
    }
    (void)buf_printf(&text,
                     ",\"revision\":%u,\"address\":%u,\"port\":%u,\"pid\":%d,\"ticks\":%llu}\n",
                     b->of.revision, b->network->address, b->port, b->pid,
                     (unsigned long long)facts.start_ticks);
    int fd = sys_openat(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0)
        return; /* it will be removed instead of adopted */
    (void)sys_write_all(fd, text.p, text.n);
    (void)close(fd);
}

static bool adopt(struct box *b, const struct json *state)
{
    struct err err = { 0 };
    uint64_t ticks = (uint64_t)json_int_or(json_getc(state, "ticks"), 0);
    int pid = (int)json_int_or(json_getc(state, "pid"), 0);
    b->port = (uint16_t)json_int_or(json_getc(state, "port"), 0);
    struct process_facts facts;
    uint32_t address = (uint32_t)json_int_or(json_getc(state, "address"), 0);
    return pid > 1 && process_facts(pid, &facts) == 0 && facts.start_ticks == ticks &&
           box_take_over(b, pid, &err) == 0 &&
           container_network_adopt(b->o->networks, pid, address, &b->network, &err) == 0;
}

static void tell_recovered(struct box *b)
{
    char address[OCI_ADDRESS_MAX];
    box_address(b, address);
    b->is_told = b->is_wanted = true;
    b->o->base.events->on_recovered(b->o->base.events_arg, b->id, b->of.uid, b->of.revision,
                                    address);
}

static void recover_one(struct oci *o, const char *name)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(OCI_STATE_MAX);
    scoped(free_scoped) char *path = xasprintf("%s/%s/state.json", o->run, name);
    struct arena a = { 0 };
    struct json *state = NULL;
    struct err ignored;
    uint64_t id;
    if (parse_u64(str_of(name + 1), 0, UINT64_MAX, &id) < 0)
        return;
    if (sys_read_file(AT_FDCWD, path, &text, &ignored) < 0 ||
        json_parse(&a, buf_str(&text), NULL, &state, &ignored) < 0)
        state = NULL;
    scoped(free_scoped) char *namespace = str_dup(json_get_str(state, "namespace"));
    scoped(free_scoped) char *function = str_dup(json_get_str(state, "function"));
    scoped(free_scoped) char *uid = str_dup(json_get_str(state, "uid"));
    struct runtime_revision of = { .namespace = namespace,
                                   .function = function,
                                   .uid = uid,
                                   .revision =
                                       (uint32_t)json_int_or(json_getc(state, "revision"), 0) };
    struct box *b = box_new(o, id, &of);
    b->sm.at = BOX_READY; /* where the process before us had it */
    struct str image = json_get_str(state, "image");
    if (image.n && o->images.ops)
        b->image = o->images.ops->adopt(o->images.arg, image);
    if (state && adopt(b, state)) {
        log_info("container adopted", "name=%s function=%s/%s", b->name, namespace, function);
        tell_recovered(b);
    } else {
        log_info("container of an earlier process is removed", "name=%s", b->name);
        b->grace_ms = 0;
        box_end(b);
    }
    arena_fini(&a);
}

/* A crun of ours, by its words: "--root" and our directory of its state, each with its NUL. */
static void kill_if_ours(const struct oci *o, uint64_t pid)
{
    scoped(buf_fini_scoped) struct buf words = BUF_INIT(64 << 10), ours = BUF_INIT(4096);
    char path[64];
    struct err ignored;
    (void)buf_add(&ours, "--root", sizeof "--root");
    (void)buf_printf(&ours, "%s/crun", o->run);
    (void)buf_add_char(&ours, '\0');
    (void)snprintf(path, sizeof path, "/proc/%llu/cmdline", (unsigned long long)pid);
    if (sys_read_file(AT_FDCWD, path, &words, &ignored) == 0 &&
        str_find(buf_str(&words), buf_str(&ours)) >= 0)
        (void)kill((pid_t)pid, SIGKILL);
}

/* crun was killed with its worker, but not a child that it had detached: that would go on. */
static void kill_starts(const struct oci *o)
{
    DIR *dir = opendir("/proc");
    struct dirent *e;
    uint64_t pid;
    while (dir && (e = readdir(dir)))
        if (parse_u64(str_of(e->d_name), 2, INT32_MAX, &pid) == 0)
            kill_if_ours(o, pid);
    if (dir)
        (void)closedir(dir);
}

void oci_recover(struct oci *o)
{
    struct err err = { 0 };
    DIR *dir = opendir(o->run);
    struct dirent *e;
    if (dir)
        kill_starts(o);
    while (dir && (e = readdir(dir))) {
        if (e->d_name[0] != 's')
            continue;
        if (oci_ensure_set_up(o, &err) < 0) {
            log_warn("containers of an earlier process are left alone", "error=\"%s\"",
                     err_text(&err));
            break;
        }
        recover_one(o, e->d_name);
    }
    if (dir)
        (void)closedir(dir);
}
