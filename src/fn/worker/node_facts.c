/* SPDX-License-Identifier: Apache-2.0 */
/* The machine of a worker; see node_facts.h. Also worker_identity(). */
#include "fn/worker/node_facts.h"

#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/sys.h"
#include "codec/json.h"
#include "fn/worker/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/sysinfo.h>
#include <unistd.h>

enum { PROC_FILE_MAX = 64 << 10, NAME_MAX_BYTES = 253, IDENTITY_MAX = 4096 };

uint64_t node_cpu_milli(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) < 0)
        return 1000;
    return (uint64_t)CPU_COUNT(&set) * 1000;
}

static uint64_t read_number(const char *path)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(PROC_FILE_MAX);
    struct err ignored;
    uint64_t n;
    if (sys_read_file(AT_FDCWD, path, &text, &ignored) < 0 ||
        parse_u64(str_trim(buf_str(&text)), 0, UINT64_MAX, &n) < 0)
        return UINT64_MAX;
    return n;
}

uint64_t node_memory_bytes(void)
{
    struct sysinfo info;
    uint64_t limit = MIN(read_number("/sys/fs/cgroup/memory.max"),
                         read_number("/sys/fs/cgroup/memory/memory.limit_in_bytes"));
    if (sysinfo(&info) < 0)
        return limit == UINT64_MAX ? UINT64_C(1) << 30 : limit;
    return MIN((uint64_t)info.totalram * info.mem_unit, limit);
}

/* ---------------------------------------------------------------- load */

/* "cpu  user nice system idle iowait ..." in ticks */
static void read_ticks(struct str text, uint64_t *busy, uint64_t *total)
{
    struct str line, word;
    (void)str_cut(text, '\n', &line, &text);
    (void)str_cut(line, ' ', &word, &line);
    *busy = *total = 0;
    for (int i = 0; i < 8; i++) {
        uint64_t n;
        line = str_trim(line);
        (void)str_cut(line, ' ', &word, &line);
        if (parse_u64(word, 0, UINT64_MAX / 16, &n) < 0)
            return;
        *total += n;
        if (i != 3 && i != 4)
            *busy += n;
    }
}

static uint64_t read_meminfo(struct str text, struct str name)
{
    struct str line, key, value;
    uint64_t kib;
    while (str_cut(text, '\n', &line, &text)) {
        (void)str_cut(line, ':', &key, &value);
        if (!str_eq(key, name))
            continue;
        (void)str_cut(str_trim(value), ' ', &value, &line);
        return parse_u64(value, 0, UINT64_MAX / 1024, &kib) == 0 ? kib * 1024 : 0;
    }
    return 0;
}

void node_load_read(struct node_load *at, uint32_t *ret_cpu_milli, uint64_t *ret_memory_bytes)
{
    scoped(buf_fini_scoped) struct buf stat = BUF_INIT((size_t)4 << 20);
    scoped(buf_fini_scoped) struct buf memory = BUF_INIT(PROC_FILE_MAX);
    struct err ignored;
    uint64_t busy = 0, total = 0;
    *ret_cpu_milli = 0;
    *ret_memory_bytes = 0;
    if (sys_read_file(AT_FDCWD, "/proc/stat", &stat, &ignored) == 0)
        read_ticks(buf_str(&stat), &busy, &total);
    if (at->total && total > at->total && busy >= at->busy) {
        uint64_t cores = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
        *ret_cpu_milli = (uint32_t)((busy - at->busy) * 1000 * cores / (total - at->total));
    }
    *at = (struct node_load){ busy, total };
    if (sys_read_file(AT_FDCWD, "/proc/meminfo", &memory, &ignored) == 0)
        *ret_memory_bytes = read_meminfo(buf_str(&memory), STR("MemTotal")) -
                            read_meminfo(buf_str(&memory), STR("MemAvailable"));
}

/* ---------------------------------------------------------------- identity of the node */

static int read_identity(const char *path, char **name, uint64_t *incarnation, struct err *err)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(IDENTITY_MAX);
    struct arena arena = { 0 };
    struct json *v;
    int64_t n = 0;
    int r = sys_read_file(AT_FDCWD, path, &text, err);
    if (r < 0)
        return r;
    r = json_parse(&arena, buf_str(&text), NULL, &v, err);
    struct str kept = r == 0 ? json_get_str(v, "name") : STR_NULL;
    if (kept.n == 0 || json_int(json_getc(v, "incarnation"), &n) < 0 || n < 0)
        r = err_set(err, E_CORRUPT, "'%s' names no worker", path);
    else
        *name = str_dup(kept);
    *incarnation = (uint64_t)n;
    arena_fini(&arena);
    return r;
}

static char *new_name(void)
{
    char host[NAME_MAX_BYTES + 1] = "worker";
    (void)gethostname(host, sizeof host - 1);
    return xasprintf("%s-%04x", host, (unsigned)(sys_random_u64() & 0xffff));
}

int worker_identity(const char *dir, const char *wanted, char **ret_name, uint64_t *ret_incarnation,
                    struct err *err)
{
    scoped(free_scoped) char *path = xasprintf("%s/worker.json", dir);
    scoped(free_scoped) char *name = NULL;
    uint64_t incarnation = 0;
    struct err why = { 0 };
    int r = read_identity(path, &name, &incarnation, &why);
    if (r < 0 && r != -ENOENT)
        return err_ctx(err, err_set(err, r, "%s", err_text(&why)), "worker's name");
    if (wanted[0] && strlen(wanted) > NAME_MAX_BYTES)
        return err_set(err, E_INVALID, "a worker's name has at most %d bytes", NAME_MAX_BYTES);
    if (!name || (wanted[0] && strcmp(name, wanted) != 0)) {
        free(name);
        name = wanted[0] ? xstrdup(wanted) : new_name();
    }
    incarnation++;
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(IDENTITY_MAX);
    (void)buf_add_cstr(&text, "{\"name\":");
    (void)json_write_str(&text, str_of(name));
    (void)buf_printf(&text, ",\"incarnation\":%llu}\n", (unsigned long long)incarnation);
    r = sys_mkdir_all(dir, 0700, err);
    if (r == 0)
        r = sys_write_file_atomic(AT_FDCWD, path, buf_str(&text), 0600, err);
    if (r < 0)
        return err_ctx(err, r, "worker's name");
    *ret_name = take_ptr(&name);
    *ret_incarnation = incarnation;
    return 0;
}
