/* SPDX-License-Identifier: Apache-2.0 */
/* The files of the module cache; see module_store.h. */
#include "guest/module_store.h"

#include "base/map.h"
#include "base/sys.h"
#include "wasm/engine_config.h"

#include <dm_engine_id.h>

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define RECORD_MAGIC     0x434d4d44u /* "DMMC" */
#define RECORD_VERSION   2u
#define RECORD_BYTES_MAX ((size_t)4 << 20)
#define READ_BYTES       ((size_t)256 << 10)
/*
 * Temporary files of crashed processes are removed after this time. It is longer than any
 * compilation, even one that is paused for hours by foreground work.
 */
#define TEMP_AGE_NS ((int64_t)86400 * 1000000000)

/* ---- opening ---- */

/*
 * Hash the machine's instruction set as the kernel reports it: code is compiled for exactly these.
 */
static void add_cpu(struct sha256 *h)
{
    char text[16384];
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, "/proc/cpuinfo", O_RDONLY, 0);
    ssize_t n = fd < 0 ? 0 : sys_pread_full(fd, text, sizeof text, 0);
    struct str rest = str_n(text, n < 0 ? 0 : (size_t)n), line;
    while (rest.n > 0) {
        (void)str_cut(rest, '\n', &line, &rest);
        if (!str_has_prefix(line, STR("flags")) && !str_has_prefix(line, STR("Features")))
            continue;
        sha256_add(h, line.p, line.n);
        return;
    }
}

static void make_environment(char ret[17])
{
    static const char build[] = DM_ENGINE_VERSION "\n" ENGINE_CONFIG_ID "\n";
    uint8_t sum[SHA256_BYTES];
    scoped(sha256_free_scoped) struct sha256 *h = sha256_new();
    sha256_add(h, build, sizeof build);
    add_cpu(h);
    sha256_end(h, sum);
    hex_format(sum, 8, ret);
}

int module_store_open(struct module_store *s, const char *dir, struct err *err)
{
    if (mkdir(dir, 0700) < 0 && errno != EEXIST)
        return err_sys(err, -errno, "make the module cache '%s'", dir);
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, dir, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0)
        return err_sys(err, fd, "open the module cache '%s'", dir);
    struct stat st;
    if (fstat(fd, &st) < 0)
        return err_sys(err, -errno, "stat the module cache '%s'", dir);
    /* Files in the directory are executed. */
    if (st.st_uid != geteuid() || (st.st_mode & 022))
        return err_set(err, -EACCES, "module cache '%s' can be written by others", dir);
    *s = (struct module_store){ .dir_fd = take_fd(&fd) };
    make_environment(s->environment);
    return 0;
}

void module_store_fini(struct module_store *s)
{
    fd_scoped(&s->dir_fd);
    s->dir_fd = -1;
}

/* ---- hashing ---- */

/* Feed the file to `h`, and to `copy_fd` unless that is -1. Returns the number of bytes. */
static int64_t hash_file(int fd, uint64_t max, struct sha256 *h, int copy_fd, struct err *err)
{
    scoped(free_scoped) char *chunk = mem_try(READ_BYTES);
    if (!chunk)
        return err_set(err, -ENOMEM, "no memory to read a file");
    uint64_t at = 0;
    for (;;) {
        ssize_t n = sys_pread_full(fd, chunk, READ_BYTES, at);
        if (n < 0)
            return err_sys(err, (int)n, "read a module");
        at += (uint64_t)n;
        if (at > max)
            return err_set(err, E_LIMIT, "more than %ju bytes", (uintmax_t)max);
        sha256_add(h, chunk, (size_t)n);
        int r = copy_fd < 0 ? 0 : sys_write_all(copy_fd, chunk, (size_t)n);
        if (r < 0)
            return err_sys(err, r, "copy a module");
        if ((size_t)n < READ_BYTES)
            return (int64_t)at;
    }
}

int module_key_of(int fd, unsigned flags, struct module_key *ret, struct err *err)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return err_sys(err, -errno, "stat the module");
    if (!S_ISREG(st.st_mode))
        return err_set(err, -EINVAL, "the module is not a regular file");
    if ((uint64_t)st.st_size > MODULE_WASM_BYTES_MAX)
        return err_set(err, E_LIMIT, "the module has %jd bytes; at most %ju are accepted",
                       (intmax_t)st.st_size, (uintmax_t)MODULE_WASM_BYTES_MAX);
    scoped(sha256_free_scoped) struct sha256 *h = sha256_new();
    int64_t n = hash_file(fd, MODULE_WASM_BYTES_MAX, h, -1, err);
    if (n < 0)
        return err_ctx(err, (int)n, "the module");
    *ret = (struct module_key){ .wasm_bytes = (uint64_t)n, .id.flags = (uint8_t)flags };
    sha256_end(h, ret->id.sha256);
    return 0;
}

/* On disk and not in memory: many modules may be queued. */
static int unnamed_file(const struct module_store *s, int *ret_reader, struct err *err)
{
    char name[MODULE_TEMP_NAME_SIZE];
    scoped(fd_scoped) int writer = module_store_temp(s, name, err);
    if (writer < 0)
        return writer;
    int reader = sys_openat(s->dir_fd, name, O_RDONLY | O_NOFOLLOW, 0);
    module_store_drop_temp(s, name);
    if (reader < 0)
        return err_sys(err, reader, "open a file in the module cache");
    *ret_reader = reader;
    return take_fd(&writer);
}

int module_copy_wasm(const struct module_store *s, int fd, const struct module_key *key,
                     struct err *err)
{
    scoped(fd_scoped) int reader = -1;
    scoped(fd_scoped) int copy = unnamed_file(s, &reader, err);
    if (copy < 0)
        return copy;
    scoped(sha256_free_scoped) struct sha256 *h = sha256_new();
    int64_t n = hash_file(fd, MODULE_WASM_BYTES_MAX, h, copy, err);
    if (n < 0)
        return (int)n;
    uint8_t sum[SHA256_BYTES];
    sha256_end(h, sum);
    if (memcmp(sum, key->id.sha256, sizeof sum) != 0)
        return err_set(err, E_CONFLICT, "the module changed while it was read");
    return take_fd(&reader);
}

/* ---- the record in .info ---- */

struct record {
    uint8_t code_sha256[SHA256_BYTES];
    uint64_t code_bytes;
    bool is_final;
    struct str info; /* module_info_encode() */
};

static void put_text(struct buf *b, const char *s)
{
    (void)buf_add_le32(b, (uint32_t)strlen(s));
    (void)buf_add_cstr(b, s);
}

static int record_encode(const struct module_store *s, const struct module_key *key,
                         const struct record *rec, struct buf *b)
{
    (void)buf_add_le32(b, RECORD_MAGIC);
    (void)buf_add_le32(b, RECORD_VERSION);
    put_text(b, DM_ENGINE_VERSION);
    put_text(b, s->environment);
    (void)buf_add(b, &key->id, sizeof key->id);
    (void)buf_add_le64(b, key->wasm_bytes);
    (void)buf_add(b, rec->code_sha256, sizeof rec->code_sha256);
    (void)buf_add_le64(b, rec->code_bytes);
    (void)buf_add_le32(b, rec->is_final);
    (void)buf_add_le32(b, (uint32_t)rec->info.n);
    (void)buf_add_str(b, rec->info);
    uint8_t sum[SHA256_BYTES];
    sha256_of(buf_str(b), sum);
    return buf_add(b, sum, sizeof sum);
}

static int damaged(struct err *err, const char *what)
{
    return err_set(err, E_CORRUPT, "cached module: %s", what);
}

static int record_decode(const struct module_store *s, struct str bytes,
                         const struct module_key *key, struct record *ret, struct err *err)
{
    uint8_t sum[SHA256_BYTES];
    if (bytes.n < sizeof sum)
        return damaged(err, "short record");
    struct str body = str_slice(bytes, 0, bytes.n - sizeof sum);
    sha256_of(body, sum);
    if (memcmp(sum, body.p + body.n, sizeof sum) != 0)
        return damaged(err, "wrong hash of its record");

    struct rd r = rd_init(body.p, body.n);
    bool is_ours = rd_le32(&r) == RECORD_MAGIC;
    is_ours = rd_le32(&r) == RECORD_VERSION && is_ours;
    is_ours = str_is(rd_str(&r, rd_le32(&r)), DM_ENGINE_VERSION) && is_ours;
    is_ours = str_is(rd_str(&r, rd_le32(&r)), s->environment) && is_ours;
    is_ours = str_eq(rd_str(&r, sizeof key->id), str_n(&key->id, sizeof key->id)) && is_ours;
    is_ours = rd_le64(&r) == key->wasm_bytes && is_ours;
    struct str code_sum = rd_str(&r, SHA256_BYTES);
    ret->code_bytes = rd_le64(&r);
    ret->is_final = rd_le32(&r) != 0;
    ret->info = rd_str(&r, rd_le32(&r));
    if (!rd_ok(&r) || rd_left(&r) > 0 || !is_ours)
        return damaged(err, "record of something else");
    memcpy(ret->code_sha256, code_sum.p, SHA256_BYTES);
    return 0;
}

/* ---- entries ---- */

enum suffix { SUFFIX_CODE, SUFFIX_INFO };

struct module_store_path {
    char text[104];
};

static struct module_store_path path_of(const struct module_store *s, const struct module_id *id,
                                        enum suffix suffix)
{
    struct module_store_path p;
    char hash[SHA256_HEX_SIZE];
    hex_format(id->sha256, sizeof id->sha256, hash);
    int n =
        snprintf(p.text, sizeof p.text, "%s.%s%s%s%s", hash, s->environment,
                 id->flags & MODULE_ID_NAMES ? ".n" : "", id->flags & MODULE_ID_QUICK ? ".q" : "",
                 suffix == SUFFIX_CODE ? ".code" : ".info");
    assert(n > 0 && (size_t)n < sizeof p.text);
    return p;
}

static struct module_file_id file_id_of(const struct stat *st)
{
    return (struct module_file_id){
        .dev = st->st_dev, .ino = st->st_ino, .bytes = st->st_size, .mtime = st->st_mtim
    };
}

bool module_file_id_eq(const struct module_file_id *a, const struct module_file_id *b)
{
    return a->dev == b->dev && a->ino == b->ino && a->bytes == b->bytes &&
           a->mtime.tv_sec == b->mtime.tv_sec && a->mtime.tv_nsec == b->mtime.tv_nsec;
}

static int open_code(const struct module_store *s, const struct module_id *id,
                     struct module_file_id *ret, struct err *err)
{
    struct module_store_path path = path_of(s, id, SUFFIX_CODE);
    scoped(fd_scoped) int fd = sys_openat(s->dir_fd, path.text, O_RDONLY | O_NOFOLLOW, 0);
    if (fd < 0)
        return err_sys(err, fd, "open '%s'", path.text);
    struct stat st;
    if (fstat(fd, &st) < 0)
        return err_sys(err, -errno, "stat '%s'", path.text);
    if (!S_ISREG(st.st_mode))
        return damaged(err, "its code is not a regular file");
    *ret = file_id_of(&st);
    return take_fd(&fd);
}

static int verify_code(const struct module_store *s, const struct module_key *key,
                       const struct record *rec, struct module_file_id *ret, struct err *err)
{
    scoped(fd_scoped) int fd = open_code(s, &key->id, ret, err);
    if (fd == -ENOENT)
        return damaged(err, "its code is missing");
    if (fd < 0)
        return fd;
    if ((uint64_t)ret->bytes != rec->code_bytes)
        return damaged(err, "wrong size of its code");
    scoped(sha256_free_scoped) struct sha256 *h = sha256_new();
    int64_t n = hash_file(fd, rec->code_bytes, h, -1, err);
    if (n < 0)
        return (int)n;
    uint8_t sum[SHA256_BYTES];
    sha256_end(h, sum);
    if (memcmp(sum, rec->code_sha256, sizeof sum) != 0)
        return damaged(err, "wrong hash of its code");
    return 0;
}

/* rec: points into `bytes`. */
static int read_record(const struct module_store *s, const struct module_key *key,
                       struct buf *bytes, struct record *rec, struct err *err)
{
    int r = sys_read_file(s->dir_fd, path_of(s, &key->id, SUFFIX_INFO).text, bytes, err);
    if (r == -EMSGSIZE)
        return damaged(err, "long record");
    return r < 0 ? r : record_decode(s, buf_str(bytes), key, rec, err);
}

int module_store_load(const struct module_store *s, const struct module_key *key,
                      struct module_entry *ret, struct err *err)
{
    scoped(buf_fini_scoped) struct buf bytes = BUF_INIT(RECORD_BYTES_MAX);
    struct record rec;
    struct module_entry entry = { 0 };
    int r = read_record(s, key, &bytes, &rec, err);
    if (r == 0)
        r = verify_code(s, key, &rec, &entry.code, err);
    if (r == 0 && module_info_decode(rec.info, &entry.info, err) < 0)
        r = damaged(err, "unreadable description");
    if (r < 0)
        return r;
    module_store_touch(s, &key->id);
    entry.is_final = rec.is_final;
    *ret = entry;
    return 0;
}

void module_store_touch(const struct module_store *s, const struct module_id *id)
{
    (void)utimensat(s->dir_fd, path_of(s, id, SUFFIX_INFO).text, NULL, AT_SYMLINK_NOFOLLOW);
}

/* Quick code need not survive a crash of the machine: a damaged file is compiled again. */
static bool is_lasting(const struct module_key *key)
{
    return !(key->id.flags & MODULE_ID_QUICK);
}

static int write_record(const struct module_store *s, const struct module_key *key,
                        struct str record, struct err *err)
{
    struct module_store_path path = path_of(s, &key->id, SUFFIX_INFO);
    if (is_lasting(key))
        return sys_write_file_atomic(s->dir_fd, path.text, record, 0600, err);
    char name[MODULE_TEMP_NAME_SIZE];
    scoped(fd_scoped) int fd = module_store_temp(s, name, err);
    if (fd < 0)
        return fd;
    int r = sys_write_all(fd, record.p, record.n);
    if (r == 0)
        r = sys_renameat(s->dir_fd, name, s->dir_fd, path.text);
    if (r < 0)
        module_store_drop_temp(s, name);
    return r < 0 ? err_sys(err, r, "write the module's record") : 0;
}

int module_store_keep_quick(const struct module_store *s, const struct module_key *key,
                            struct err *err)
{
    scoped(buf_fini_scoped) struct buf bytes = BUF_INIT(RECORD_BYTES_MAX);
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(RECORD_BYTES_MAX);
    struct record rec;
    int r = read_record(s, key, &bytes, &rec, err);
    if (r < 0)
        return r;
    rec.is_final = true;
    r = record_encode(s, key, &rec, &out);
    return r < 0 ? err_sys(err, r, "describe the module")
                 : write_record(s, key, buf_str(&out), err);
}

int module_store_temp(const struct module_store *s, char name[MODULE_TEMP_NAME_SIZE],
                      struct err *err)
{
    char text[MODULE_TEMP_NAME_SIZE];
    (void)snprintf(text, sizeof text, ".%016jx.tmp", (uintmax_t)sys_random_u64());
    int fd = sys_openat(s->dir_fd, text, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    if (fd < 0)
        return err_sys(err, fd, "create a file in the module cache");
    memcpy(name, text, sizeof text);
    return fd;
}

void module_store_drop_temp(const struct module_store *s, const char *name)
{
    (void)unlinkat(s->dir_fd, name, 0);
}

static int read_info(int fd, struct buf *to, struct err *err)
{
    char *at;
    int r = buf_reserve(to, RECORD_BYTES_MAX, &at);
    if (r < 0)
        return err_sys(err, r, "read the module's description");
    ssize_t n = sys_pread_full(fd, at, RECORD_BYTES_MAX, 0);
    if (n < 0)
        return err_sys(err, (int)n, "read the module's description");
    buf_advance(to, (size_t)n);
    return 0;
}

/* Everything except the rename. *ret describes the written file; the record is appended to `b`. */
static int prepare_entry(const struct module_store *s, const struct module_key *key, int code_fd,
                         int info_fd, struct buf *b, struct module_entry *ret, struct err *err)
{
    scoped(buf_fini_scoped) struct buf info = BUF_INIT(RECORD_BYTES_MAX);
    int r = read_info(info_fd, &info, err);
    if (r < 0)
        return r;
    struct record rec = { .info = buf_str(&info) };
    scoped(sha256_free_scoped) struct sha256 *h = sha256_new();
    int64_t n = hash_file(code_fd, UINT64_MAX, h, -1, err);
    if (n < 0)
        return (int)n;
    if (n == 0)
        return err_set(err, E_INVALID, "the compiler wrote no code");
    sha256_end(h, rec.code_sha256);
    rec.code_bytes = (uint64_t)n;
    r = record_encode(s, key, &rec, b);
    if (r < 0)
        return err_sys(err, r, "describe the module");
    if (fchmod(code_fd, 0400) < 0)
        return err_sys(err, -errno, "protect the module's code");
    r = is_lasting(key) ? sys_fsync(code_fd) : 0;
    if (r < 0)
        return err_sys(err, r, "sync the module's code");
    struct stat st;
    if (fstat(code_fd, &st) < 0)
        return err_sys(err, -errno, "stat the module's code");
    ret->code = file_id_of(&st);
    return module_info_decode(rec.info, &ret->info, err);
}

int module_store_add(const struct module_store *s, const struct module_key *key, int code_fd,
                     const char *temp_name, int info_fd, struct module_entry *ret, struct err *err)
{
    scoped(buf_fini_scoped) struct buf record = BUF_INIT(RECORD_BYTES_MAX);
    struct module_entry entry = { 0 };
    int r = prepare_entry(s, key, code_fd, info_fd, &record, &entry, err);
    if (r == 0) {
        r = sys_renameat(s->dir_fd, temp_name, s->dir_fd, path_of(s, &key->id, SUFFIX_CODE).text);
        if (r < 0)
            (void)err_sys(err, r, "rename the module's code");
    }
    if (r < 0) {
        module_store_drop_temp(s, temp_name);
        module_info_free(entry.info);
        return r;
    }
    r = write_record(s, key, buf_str(&record), err);
    if (r < 0) {
        module_info_free(entry.info);
        return r;
    }
    *ret = entry;
    return 0;
}

int module_store_open_code(const struct module_store *s, const struct module_id *id,
                           const struct module_file_id *code, struct err *err)
{
    struct module_file_id now;
    scoped(fd_scoped) int fd = open_code(s, id, &now, err);
    if (fd == -ENOENT || fd == -ELOOP || fd == E_CORRUPT)
        return err_set(err, E_EXPIRED, "the compiled module is no longer there");
    if (fd < 0)
        return fd;
    if (!module_file_id_eq(&now, code))
        return err_set(err, E_EXPIRED, "the compiled module was replaced");
    return take_fd(&fd);
}

/* ---- sweeping ---- */

static int64_t ns_of(struct timespec t)
{
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

enum file_kind { FILE_UNKNOWN, FILE_ENTRY, FILE_OTHER_BUILD, FILE_TEMP };

/*
 * Files that this module did not create are left alone. *ret: the id that the file is named after.
 */
static enum file_kind kind_of(const struct module_store *s, struct str file, struct module_id *ret)
{
    uint8_t environment_bytes[8];
    struct module_id id = { .flags = 0 };
    if (str_has_prefix(file, STR(".")) && str_has_suffix(file, STR(".tmp")))
        return FILE_TEMP;
    if (!str_has_suffix(file, STR(".code")) && !str_has_suffix(file, STR(".info")))
        return FILE_UNKNOWN;
    struct str name = str_slice(file, 0, file.n - 5), hash, environment;
    if (str_has_suffix(name, STR(".q"))) {
        name = str_slice(name, 0, name.n - 2);
        id.flags |= MODULE_ID_QUICK;
    }
    if (str_has_suffix(name, STR(".n"))) {
        name = str_slice(name, 0, name.n - 2);
        id.flags |= MODULE_ID_NAMES;
    }
    if (!str_cut(name, '.', &hash, &environment) || !hex_parse(hash, id.sha256, SHA256_BYTES) ||
        !hex_parse(environment, environment_bytes, sizeof environment_bytes))
        return FILE_UNKNOWN;
    *ret = id;
    return str_is(environment, s->environment) ? FILE_ENTRY : FILE_OTHER_BUILD;
}

static void add_file(struct module_files *files, struct map *by_id, const struct module_id *id,
                     bool is_info, const struct stat *st)
{
    /* Values of the map are index + 1, since the vector moves while it grows. */
    struct str key = str_n(id, sizeof *id);
    size_t at = (size_t)(uintptr_t)map_get(by_id, key);
    if (at == 0) {
        struct module_file file = { .id = *id };
        vec_push(files, file);
        at = files->n;
        (void)map_put(by_id, key, (void *)(uintptr_t)at);
    }
    struct module_file *file = &files->p[at - 1];
    file->bytes += (uint64_t)st->st_blocks * 512;
    if (is_info || file->used_ns == 0)
        file->used_ns = ns_of(st->st_mtim);
}

static int by_use(const void *a, const void *b)
{
    int64_t x = ((const struct module_file *)a)->used_ns;
    int64_t y = ((const struct module_file *)b)->used_ns;
    return (x > y) - (x < y);
}

static void sweep_file(const struct module_store *s, const char *file_name, int64_t now_ns,
                       struct module_files *files, struct map *by_id)
{
    struct stat st;
    struct str file = str_of(file_name);
    struct module_id id;
    if (fstatat(s->dir_fd, file_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
        return;
    bool is_garbage = false;
    switch (kind_of(s, file, &id)) {
    case FILE_UNKNOWN:
        break;
    case FILE_ENTRY:
        add_file(files, by_id, &id, str_has_suffix(file, STR(".info")), &st);
        break;
    case FILE_OTHER_BUILD:
        is_garbage = true;
        break;
    case FILE_TEMP:
        is_garbage = now_ns - ns_of(st.st_mtim) > TEMP_AGE_NS;
        break;
    }
    if (is_garbage)
        (void)unlinkat(s->dir_fd, file_name, 0);
}

int module_store_sweep(const struct module_store *s, struct module_files *ret, struct err *err)
{
    int fd = sys_openat(s->dir_fd, ".", O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0)
        return err_sys(err, fd, "list the module cache");
    DIR *dir = fdopendir(fd);
    if (!dir) {
        int r = -errno;
        fd_scoped(&fd);
        return err_sys(err, r, "list the module cache");
    }
    struct module_files files = { 0 };
    struct map by_id = { 0 };
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    for (struct dirent *e; (e = readdir(dir));)
        sweep_file(s, e->d_name, ns_of(now), &files, &by_id);
    (void)closedir(dir);
    map_fini(&by_id);
    if (files.n > 1)
        qsort(files.p, files.n, sizeof *files.p, by_use);
    *ret = files;
    return 0;
}

void module_store_remove(const struct module_store *s, const struct module_id *id)
{
    /* Remove the record first: without it the entry does not exist. */
    (void)unlinkat(s->dir_fd, path_of(s, id, SUFFIX_INFO).text, 0);
    (void)unlinkat(s->dir_fd, path_of(s, id, SUFFIX_CODE).text, 0);
}
