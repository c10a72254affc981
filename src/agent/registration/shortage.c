/* SPDX-License-Identifier: Apache-2.0 */
/* What the machine runs short of; see shortage.h. */
#include "agent/registration/shortage.h"

#include "agent/registration/machine.h"
#include "base/buf.h"
#include "base/sys.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/statvfs.h>

static const struct shortage_rule {
    const char *name;
    uint64_t min_bytes; /* 0: min_percent */
    unsigned min_percent;
} rules[SHORTAGE_SIGNALS] = {
    [SHORTAGE_MEMORY] = { "memory.available", SHORTAGE_MEMORY_MIN_BYTES, 0 },
    [SHORTAGE_NODEFS] = { "nodefs.available", 0, SHORTAGE_NODEFS_MIN_PERCENT },
    [SHORTAGE_NODEFS_INODES] = { "nodefs.inodesFree", 0, SHORTAGE_INODES_MIN_PERCENT },
    [SHORTAGE_IMAGEFS] = { "imagefs.available", 0, SHORTAGE_IMAGEFS_MIN_PERCENT },
    [SHORTAGE_IMAGEFS_INODES] = { "imagefs.inodesFree", 0, SHORTAGE_INODES_MIN_PERCENT },
    [SHORTAGE_PID] = { "pid.available", 0, SHORTAGE_PID_MIN_PERCENT },
};

/* ---------------------------------------------------------------- reading */

static bool read_text(const char *root, const char *path, struct buf *to)
{
    char full[PATH_MAX];
    int n = snprintf(full, sizeof full, "%s%s", root, path);
    buf_reset(to);
    return n > 0 && (size_t)n < sizeof full && sys_read_file(AT_FDCWD, full, to, NULL) >= 0;
}

static bool read_number(const char *root, const char *path, uint64_t *ret)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(256);
    return read_text(root, path, &b) && parse_u64(str_trim(buf_str(&b)), 0, UINT64_MAX, ret) >= 0;
}

static void read_memory(const char *root, struct shortage_value *ret)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(MACHINE_FILE_MAX_BYTES);
    ret->is_known = read_text(root, "/proc/meminfo", &b) &&
                    machine_meminfo(buf_str(&b), "MemAvailable", &ret->available) &&
                    machine_meminfo(buf_str(&b), "MemTotal", &ret->capacity);
}

static void read_disk(const char *dir, struct shortage_value *ret_bytes,
                      struct shortage_value *ret_inodes)
{
    struct statvfs st;
    if (statvfs(dir, &st) < 0)
        return;
    *ret_bytes = (struct shortage_value){ true, (uint64_t)st.f_bavail * st.f_frsize,
                                          (uint64_t)st.f_blocks * st.f_frsize };
    /* btrfs and others have no number of inodes. */
    *ret_inodes = (struct shortage_value){ st.f_files > 0, st.f_favail, st.f_files };
}

/* The fourth field of /proc/loadavg is "RUNNING/ALL" tasks. */
static bool read_tasks(const char *root, uint64_t *ret)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(256);
    struct str word, rest;
    if (!read_text(root, "/proc/loadavg", &b))
        return false;
    rest = buf_str(&b);
    for (int i = 0; i < 4; i++)
        (void)str_cut(rest, ' ', &word, &rest);
    return str_cut(word, '/', &rest, &word) && parse_u64(word, 0, UINT32_MAX, ret) >= 0;
}

static void read_pids(const char *root, struct shortage_value *ret)
{
    uint64_t most, threads, used;
    if (!read_number(root, "/proc/sys/kernel/pid_max", &most) || !read_tasks(root, &used))
        return;
    if (read_number(root, "/proc/sys/kernel/threads-max", &threads))
        most = MIN(most, threads);
    *ret = (struct shortage_value){ true, most - MIN(used, most), most };
}

void shortage_read(const char *root, const char *data_dir, const char *image_dir,
                   struct shortage_values *ret)
{
    *ret = (struct shortage_values){ 0 };
    read_memory(root, &ret->of[SHORTAGE_MEMORY]);
    read_disk(data_dir, &ret->of[SHORTAGE_NODEFS], &ret->of[SHORTAGE_NODEFS_INODES]);
    read_disk(image_dir, &ret->of[SHORTAGE_IMAGEFS], &ret->of[SHORTAGE_IMAGEFS_INODES]);
    read_pids(root, &ret->of[SHORTAGE_PID]);
}

/* ---------------------------------------------------------------- deciding */

const char *shortage_name(enum shortage_signal s)
{
    return rules[s].name;
}

uint64_t shortage_minimum(enum shortage_signal s, const struct shortage_value *v)
{
    if (rules[s].min_bytes)
        return rules[s].min_bytes;
    return v->capacity / 100 * rules[s].min_percent +
           v->capacity % 100 * rules[s].min_percent / 100;
}

bool shortage_step(struct shortage *s, const struct shortage_values *now, uint64_t now_ms)
{
    bool changed = false, is_any = false;
    for (unsigned i = 0; i < SHORTAGE_SIGNALS; i++) {
        const struct shortage_value *v = &now->of[i];
        if (!v->is_known)
            continue;
        s->is_short[i] = v->available < shortage_minimum(i, v);
        if (s->is_short[i])
            s->seen_ms[i] = now_ms;
        bool is_set =
            s->is_short[i] || (s->is_set[i] && now_ms - s->seen_ms[i] < SHORTAGE_LASTS_MS);
        changed |= is_set != s->is_set[i];
        is_any |= s->is_short[i];
        s->is_set[i] = is_set;
    }
    s->last = *now;
    return changed || is_any;
}

/* When the disk could be short, at the soonest. */
static uint64_t fill_ms(enum shortage_signal s, const struct shortage_value *v)
{
    uint64_t minimum = shortage_minimum(s, v);
    return v->available <= minimum ? 0 : (v->available - minimum) / SHORTAGE_FILL_BYTES_PER_MS;
}

uint64_t shortage_next_ms(const struct shortage *s, bool has_pods, uint64_t now_ms)
{
    static const enum shortage_signal disks[] = { SHORTAGE_NODEFS, SHORTAGE_IMAGEFS };
    uint64_t next = UINT64_MAX;
    for (unsigned i = 0; i < SHORTAGE_SIGNALS; i++)
        if (s->is_set[i])
            next = now_ms + SHORTAGE_LOOK_MS;
    for (size_t i = 0; has_pods && i < ARRAY_LEN(disks); i++) {
        const struct shortage_value *v = &s->last.of[disks[i]];
        if (v->is_known)
            next = MIN(next, now_ms + MAX(fill_ms(disks[i], v), (uint64_t)SHORTAGE_LOOK_MS));
    }
    return next;
}
