/* SPDX-License-Identifier: Apache-2.0 */
/* Data directory and first-start secrets; see datadir.h. */
#include "api/datadir.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/sys.h"
#include "client/kubeconfig.h"
#include "codec/jwt.h"
#include "io/tls.h"

#include <arpa/inet.h>
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { DATADIR_FILE_MAX_BYTES = 64 << 10, DAY_S = 86400 };

#define FORMAT_PREFIX "dormouse data "
#define CA_NAME       "dormouse-ca"

void datadir_free(struct datadir *d)
{
    if (!d)
        return;
    fd_scoped(&d->fd);
    buf_fini(&d->ca_cert);
    buf_fini(&d->ca_key);
    buf_fini(&d->server_cert);
    buf_fini(&d->server_key);
    buf_fini(&d->sa_key);
    buf_fini(&d->token);
    free(d->path);
    free(d);
}

static void close_dir(DIR **d)
{
    if (*d)
        (void)closedir(*d);
}

/*
 * What other commands keep in a data directory (operators, workers of functions, images); a
 * directory with only these may become that of an API server.
 */
static bool is_of_host(const char *name)
{
    static const char *const names[] = { "modules",    "swap",          "operators", "downloads",
                                         "logs",       "admin.sock",    "images",    "fn-downloads",
                                         "functions",  "function-logs", "async.db",  "oci",
                                         "worker.json" };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static int is_empty_dir(int dir_fd, bool *ret, struct err *err)
{
    scoped(fd_scoped) int fd = sys_openat(dir_fd, ".", O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0)
        return err_sys(err, fd, "read directory");
    scoped(close_dir) DIR *dir = fdopendir(fd);
    if (!dir)
        return err_sys(err, -errno, "read directory");
    (void)take_fd(&fd);
    *ret = true;
    for (struct dirent *e; (e = readdir(dir));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 && !is_of_host(e->d_name))
            *ret = false;
    return 0;
}

static int write_format(const struct datadir *d, struct err *err)
{
    char text[64];
    int n = snprintf(text, sizeof text, FORMAT_PREFIX "%d\n", DATADIR_FORMAT);
    return sys_write_file_atomic(d->fd, "format", str_n(text, (size_t)n), 0600, err);
}

/* On a smaller disk the server would start, fail to write what it begins with, and end. */
static int check_room(const struct datadir *d, struct err *err)
{
    struct statvfs fs;
    if (fstatvfs(d->fd, &fs) < 0 || fs.f_blocks == 0) /* a file system that does not count */
        return 0;
    uint64_t free_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
    if (free_bytes >= DATADIR_NEW_MIN_BYTES)
        return 0;
    return err_set(err, -ENOSPC, "its disk has %llu KiB free, and a new one needs %d MiB",
                   (unsigned long long)(free_bytes >> 10), DATADIR_NEW_MIN_BYTES >> 20);
}

/* The first file written into an empty directory, and the first one read from an existing one. */
static int check_format(struct datadir *d, struct err *err)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(256);
    int r = sys_read_file(d->fd, "format", &text, err);
    if (r == -ENOENT) {
        bool empty = false;
        r = is_empty_dir(d->fd, &empty, err);
        if (r < 0)
            return r;
        if (!empty)
            return err_set(
                err, -ENOTEMPTY,
                "has files but no 'format' file, so it is not dormouse's; give an empty or "
                "new directory");
        r = check_room(d, err);
        if (r < 0)
            return r;
        d->format = DATADIR_FORMAT;
        d->is_new = true;
        return write_format(d, err);
    }
    if (r < 0)
        return r;
    struct str s = str_trim(buf_str(&text));
    uint64_t format;
    if (!str_has_prefix(s, STR(FORMAT_PREFIX)) ||
        parse_u64(str_slice(s, strlen(FORMAT_PREFIX), s.n), 1, UINT32_MAX, &format) < 0)
        return err_set(err, E_CORRUPT, "file 'format' does not say what this directory is");
    if (format > DATADIR_FORMAT)
        return err_set(err, E_VERSION,
                       "written by a newer dormouse (format %llu, this one knows %d)",
                       (unsigned long long)format, DATADIR_FORMAT);
    d->format = (unsigned)format;
    return 0;
}

void datadir_upgraded(struct datadir *d)
{
    struct err err = { 0 };
    if (d->format == DATADIR_FORMAT)
        return;
    if (write_format(d, &err) < 0)
        log_warn("the data directory's format is not written, going on", "error=\"%s\"",
                 err_text(&err));
    else
        log_info("data directory upgraded", "path=%s format=%d", d->path, DATADIR_FORMAT);
    d->format = DATADIR_FORMAT;
}

static int open_dir(struct datadir *d, struct err *err)
{
    int r = sys_mkdir_all(d->path, 0700, err);
    if (r < 0)
        return r;
    d->fd = sys_openat(AT_FDCWD, d->path, O_RDONLY | O_DIRECTORY, 0);
    if (d->fd < 0)
        return err_sys(err, d->fd, "open");
    struct stat st;
    if (fstat(d->fd, &st) < 0)
        return err_sys(err, -errno, "stat");
    if (st.st_uid != geteuid())
        return err_set(err, -EPERM, "belongs to another user");
    if (faccessat(d->fd, ".", R_OK | W_OK | X_OK, AT_EACCESS) < 0)
        return err_sys(err, -errno, "not writable");
    r = check_format(d, err);
    if (r < 0)
        return r;
    if ((st.st_mode & 0777) != 0700 && fchmod(d->fd, 0700) < 0)
        return err_sys(err, -errno, "restrict its mode to 0700");
    if (mkdirat(d->fd, "pki", 0700) < 0 && errno != EEXIST)
        return err_sys(err, -errno, "create 'pki'");
    return 0;
}

/* -ENOENT is not shown to the user: the caller creates the pair. */
static int read_pair(const struct datadir *d, const char *cert_name, struct buf *cert,
                     const char *key_name, struct buf *key, struct err *err)
{
    *cert = BUF_INIT(DATADIR_FILE_MAX_BYTES);
    *key = BUF_INIT(DATADIR_FILE_MAX_BYTES);
    int r = sys_read_file(d->fd, cert_name, cert, err);
    if (r >= 0)
        r = sys_read_file(d->fd, key_name, key, err);
    return r;
}

/* The key first: a certificate must not exist without its key. */
static int write_pair(const struct datadir *d, const char *cert_name, const struct buf *cert,
                      const char *key_name, const struct buf *key, struct err *err)
{
    int r = sys_write_file_atomic(d->fd, key_name, buf_str(key), 0600, err);
    if (r >= 0)
        r = sys_write_file_atomic(d->fd, cert_name, buf_str(cert), 0644, err);
    return r;
}

/* A server that cannot start on a full disk could not delete anything from it either. */
static bool is_disk_full(int r)
{
    return r == -ENOSPC || r == -EDQUOT || r == -EROFS;
}

/* The key may be alone because a first start ended between the two files. */
static int remake_ca(struct datadir *d, struct err *err)
{
    int r = x509_remake_ca(CA_NAME, buf_str(&d->ca_key), &d->ca_cert, err);
    if (r < 0)
        return err_ctx(err, r, "file 'pki/ca.crt' is missing, file 'pki/ca.key'");
    if (!d->is_new)
        log_warn("file 'pki/ca.crt' is missing: it is made again from 'pki/ca.key', and clients "
                 "trust it as the one before",
                 "path=%s", d->path);
    return sys_write_file_atomic(d->fd, "pki/ca.crt", buf_str(&d->ca_cert), 0644, err);
}

static int load_ca(struct datadir *d, struct err *err)
{
    int r = read_pair(d, "pki/ca.crt", &d->ca_cert, "pki/ca.key", &d->ca_key, err);
    if (r >= 0) {
        r = x509_check_pair(buf_str(&d->ca_cert), buf_str(&d->ca_key), err);
        return r < 0 ? err_ctx(err, r, "files 'pki/ca.crt' and 'pki/ca.key'") : r;
    }
    if (r != -ENOENT)
        return r;
    if (d->ca_cert.n > 0) /* clients would not trust a new authority */
        return err_set(err, E_CORRUPT, "file 'pki/ca.key' is missing, 'pki/ca.crt' is there");
    buf_reset(&d->ca_cert);
    buf_reset(&d->ca_key);
    r = sys_read_file(d->fd, "pki/ca.key", &d->ca_key, err);
    if (r >= 0)
        return remake_ca(d, err);
    if (r != -ENOENT)
        return r;
    r = x509_make_ca(CA_NAME, &d->ca_cert, &d->ca_key, err);
    if (r < 0)
        return err_ctx(err, r, "make the cluster's certificate authority");
    return write_pair(d, "pki/ca.crt", &d->ca_cert, "pki/ca.key", &d->ca_key, err);
}

/* The fixed names, the machine's, the listener's; then the addresses and the user's names. */
enum { NAMES_MAX = 12 + DATADIR_ADDRESSES_MAX + DATADIR_EXTRA_NAMES_MAX };

struct name_list {
    char *at[NAMES_MAX];
    size_t n;
};

static void name_list_fini(struct name_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->at[i]);
}

static void add_name(struct name_list *l, const char *name)
{
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->at[i], name) == 0)
            return;
    assert(l->n < NAMES_MAX);
    l->at[l->n++] = xstrdup(name);
}

static bool is_wildcard(const char *host)
{
    return strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0;
}

int datadir_check_name(const char *name, struct err *err)
{
    unsigned char address[16];
    struct str rest = str_of(name), label;
    if (inet_pton(AF_INET, name, address) == 1 || inet_pton(AF_INET6, name, address) == 1)
        return 0;
    bool ok = rest.n > 0 && rest.n <= 253;
    if (str_has_prefix(rest, STR("*.")))
        rest = str_slice(rest, 2, rest.n);
    do {
        ok = str_cut(rest, '.', &label, &rest) ? ok && rest.n > 0 : ok;
        ok = ok && label.n > 0 && label.n <= 63 && label.p[0] != '-' && label.p[label.n - 1] != '-';
        for (size_t i = 0; ok && i < label.n; i++)
            ok = (label.p[i] >= 'a' && label.p[i] <= 'z') ||
                 (label.p[i] >= 'A' && label.p[i] <= 'Z') ||
                 (label.p[i] >= '0' && label.p[i] <= '9') || label.p[i] == '-' || label.p[i] == '_';
    } while (ok && rest.n);
    return ok ? 0 : err_set(err, E_INVALID, "'%s' is neither a DNS name nor an address", name);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/*
 * The addresses by which other machines reach this one: without loopback and link-local addresses,
 * and sorted, because another order would lead to a new certificate at each start.
 */
static void add_own_addresses(struct name_list *to)
{
    struct ifaddrs *all = NULL;
    struct name_list found = { 0 };
    if (getifaddrs(&all) < 0)
        return;
    for (struct ifaddrs *i = all; i && found.n < DATADIR_ADDRESSES_MAX; i = i->ifa_next) {
        char text[INET6_ADDRSTRLEN];
        if (!i->ifa_addr || (i->ifa_flags & IFF_LOOPBACK))
            continue;
        if (i->ifa_addr->sa_family == AF_INET) {
            const struct sockaddr_in *v4 = (const struct sockaddr_in *)i->ifa_addr;
            (void)inet_ntop(AF_INET, &v4->sin_addr, text, sizeof text);
        } else if (i->ifa_addr->sa_family == AF_INET6) {
            const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)i->ifa_addr;
            if (IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr))
                continue;
            (void)inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof text);
        } else {
            continue;
        }
        add_name(&found, text);
    }
    freeifaddrs(all);
    qsort(found.at, found.n, sizeof found.at[0], by_text);
    for (size_t i = 0; i < found.n; i++)
        add_name(to, found.at[i]);
    name_list_fini(&found);
}

static void server_names(const struct datadir_names *names, struct name_list *to)
{
    static const char *const fixed[] = { "localhost",
                                         "127.0.0.1",
                                         "::1",
                                         "kubernetes",
                                         "kubernetes.default",
                                         "kubernetes.default.svc",
                                         "kubernetes.default.svc.cluster.local" };
    char machine[256] = "";
    (void)gethostname(machine, sizeof machine - 1);
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
        add_name(to, fixed[i]);
    if (machine[0])
        add_name(to, machine);
    if (is_wildcard(names->host))
        add_own_addresses(to);
    else
        add_name(to, names->host);
    for (size_t i = 0; i < names->n_extra; i++)
        add_name(to, names->extra[i]);
}

static void names_text(const struct name_list *names, struct buf *to)
{
    for (size_t i = 0; i < names->n; i++)
        (void)buf_printf(to, "%s\n", names->at[i]);
}

static int make_server_cert(struct datadir *d, const struct name_list *names, struct err *err)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(DATADIR_FILE_MAX_BYTES);
    buf_reset(&d->server_cert);
    buf_reset(&d->server_key);
    int r = x509_make_server(buf_str(&d->ca_cert), buf_str(&d->ca_key), "dormouse-api",
                             (const char *const *)names->at, names->n, DATADIR_CERT_DAYS,
                             &d->server_cert, &d->server_key, err);
    if (r < 0)
        return err_ctx(err, r, "make the API's certificate");
    names_text(names, &text);
    r = write_pair(d, "pki/server.crt", &d->server_cert, "pki/server.key", &d->server_key, err);
    if (r >= 0)
        r = sys_write_file_atomic(d->fd, "pki/server.names", buf_str(&text), 0600, err);
    if (is_disk_full(r)) {
        log_warn("the API's new certificate is not written, going on", "error=\"%s\"",
                 err_text(err));
        r = 0;
    }
    return r;
}

static int read_names(const struct datadir *d, struct buf *to)
{
    return sys_read_file(d->fd, "pki/server.names", to, NULL);
}

int datadir_renew(struct datadir *d, const struct datadir_names *names, bool *ret_replaced,
                  struct err *err)
{
    scoped(name_list_fini) struct name_list list = { 0 };
    assert(names->n_extra <= DATADIR_EXTRA_NAMES_MAX);
    server_names(names, &list);
    scoped(buf_fini_scoped) struct buf want = BUF_INIT(DATADIR_FILE_MAX_BYTES);
    scoped(buf_fini_scoped) struct buf have = BUF_INIT(DATADIR_FILE_MAX_BYTES);
    names_text(&list, &want);
    int64_t left_s = 0;
    bool good = d->server_cert.n > 0 && read_names(d, &have) >= 0 &&
                str_eq(buf_str(&have), buf_str(&want)) &&
                x509_check_pair(buf_str(&d->server_cert), buf_str(&d->server_key), NULL) >= 0 &&
                x509_seconds_left(buf_str(&d->server_cert), &left_s, NULL) >= 0 &&
                left_s > (int64_t)DATADIR_CERT_RENEW_DAYS * DAY_S;
    if (!good) {
        int r = make_server_cert(d, &list, err);
        if (r < 0)
            return r;
        left_s = (int64_t)DATADIR_CERT_DAYS * DAY_S;
    }
    d->cert_renew_at_s = clock_wall_ms() / 1000 + left_s - (int64_t)DATADIR_CERT_RENEW_DAYS * DAY_S;
    *ret_replaced = !good;
    return 0;
}

static int load_server_cert(struct datadir *d, const struct datadir_names *names, struct err *err)
{
    int r = read_pair(d, "pki/server.crt", &d->server_cert, "pki/server.key", &d->server_key, err);
    if (r < 0 && r != -ENOENT)
        return r;
    if (r == -ENOENT)
        buf_reset(&d->server_cert);
    bool replaced;
    return datadir_renew(d, names, &replaced, err);
}

static int load_token(struct datadir *d, struct err *err)
{
    d->token = BUF_INIT(256);
    int r = sys_read_file(d->fd, "admin.token", &d->token, err);
    if (r >= 0) {
        struct str s = str_trim(buf_str(&d->token));
        if (s.n < DATADIR_TOKEN_BYTES)
            return err_set(err, E_CORRUPT, "file 'admin.token' holds no token");
        d->token.n = s.n;
        return 0;
    }
    if (r != -ENOENT)
        return r;
    uint8_t secret[DATADIR_TOKEN_BYTES];
    sys_random(secret, sizeof secret);
    for (size_t i = 0; i < sizeof secret; i++)
        (void)buf_printf(&d->token, "%02x", secret[i]);
    return sys_write_file_atomic(d->fd, "admin.token", buf_str(&d->token), 0600, err);
}

static int load_sa_key(struct datadir *d, struct err *err)
{
    d->sa_key = BUF_INIT(DATADIR_FILE_MAX_BYTES);
    int r = sys_read_file(d->fd, "pki/sa.key", &d->sa_key, err);
    if (r != -ENOENT)
        return r;
    if (!d->is_new)
        log_warn("file 'pki/sa.key' is missing: a new key is made, and every token of a "
                 "ServiceAccount ends",
                 "path=%s", d->path);
    scoped(jwt_key_free_scoped) struct jwt_key *key = NULL;
    r = jwt_key_make(&key, err);
    if (r >= 0)
        r = jwt_key_write(key, &d->sa_key, err);
    if (r < 0)
        return err_ctx(err, r, "make the key of service accounts' tokens");
    return sys_write_file_atomic(d->fd, "pki/sa.key", buf_str(&d->sa_key), 0600, err);
}

void datadir_undo(struct datadir *d, int r)
{
    static const char *const files[] = {
        "pki/ca.crt",   "pki/ca.key",    "pki/server.crt", "pki/server.key",   "pki/server.names",
        "pki/sa.key",   "admin.token",   "kubeconfig",     "store.db",         "store.db-wal",
        "store.db-shm", "store.db.lock", "store.db.mark",  "store.db.reserve", "format",
    };
    if (!is_disk_full(r))
        return;
    if (d->is_new) {
        for (size_t i = 0; i < ARRAY_LEN(files); i++)
            (void)unlinkat(d->fd, files[i], 0);
        (void)unlinkat(d->fd, "pki", AT_REMOVEDIR);
    }
}

int datadir_open_ca(const char *path, struct datadir **ret, struct err *err)
{
    scoped(datadir_free_scoped) struct datadir *d = xnew(struct datadir);
    d->path = xstrdup(path);
    d->fd = sys_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0);
    if (d->fd < 0)
        return err_sys(err, d->fd, "open data directory '%s'", path);
    int r = read_pair(d, "pki/ca.crt", &d->ca_cert, "pki/ca.key", &d->ca_key, err);
    if (r < 0)
        return err_ctx(err, r, "data directory '%s'", path);
    *ret = take_ptr(&d);
    return 0;
}

int datadir_open(const char *path, const struct datadir_names *names, struct datadir **ret,
                 struct err *err)
{
    scoped(datadir_free_scoped) struct datadir *d = xnew(struct datadir);
    d->fd = -1;
    d->path = xstrdup(path);
    int r = open_dir(d, err);
    if (r >= 0)
        r = load_ca(d, err);
    if (r >= 0)
        r = load_server_cert(d, names, err);
    if (r >= 0)
        r = load_sa_key(d, err);
    if (r >= 0)
        r = load_token(d, err);
    if (r < 0) {
        datadir_undo(d, r);
        return err_ctx(err, r,
                       d->is_new && is_disk_full(r)
                           ? "no space for the first start in data directory '%s'"
                           : "data directory '%s'",
                       path);
    }
    *ret = take_ptr(&d);
    return 0;
}

char *datadir_url(const char *host, uint16_t port)
{
    if (strcmp(host, "0.0.0.0") == 0)
        host = "127.0.0.1";
    else if (strcmp(host, "::") == 0)
        host = "::1";
    return strchr(host, ':') ? xasprintf("https://[%s]:%u", host, port)
                             : xasprintf("https://%s:%u", host, port);
}

/* Whether `name` is a regular file that belongs to this user alone and holds exactly `text`. */
static bool is_written(int dir, const char *name, struct str text)
{
    struct stat st;
    scoped(buf_fini_scoped) struct buf have = BUF_INIT(DATADIR_FILE_MAX_BYTES * 4);
    return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
           (st.st_mode & 0777) == 0600 && st.st_uid == geteuid() &&
           sys_read_file(dir, name, &have, NULL) >= 0 && str_eq(buf_str(&have), text);
}

int datadir_write_kubeconfig(const struct datadir *d, const char *path, const char *url,
                             char **ret_path, struct err *err)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(DATADIR_FILE_MAX_BYTES * 4);
    const struct kubeconfig config = { .server = (char *)url,
                                       .ca_pem = d->ca_cert.p,
                                       .token = d->token.p };
    if (kubeconfig_write(&config, STR("admin"), &text) < 0)
        return err_set(err, -EMSGSIZE, "kubeconfig is too large");
    int dir = path ? AT_FDCWD : d->fd;
    const char *name = path ? path : "kubeconfig";
    int r = is_written(dir, name, buf_str(&text))
                ? 0
                : sys_write_file_atomic(dir, name, buf_str(&text), 0600, err);
    if (is_disk_full(r))
        log_warn("the kubeconfig is not written, going on", "server=%s error=\"%s\"", url,
                 err_text(err));
    else if (r < 0)
        return err_ctx(err, r, "write kubeconfig '%s'", name);
    *ret_path = path ? xstrdup(path) : xasprintf("%s/kubeconfig", d->path);
    return 0;
}

int datadir_user_kubeconfig(const struct datadir *d, const char *url, const struct x509_user *user,
                            uint64_t valid_s, struct buf *to, struct err *err)
{
    scoped(buf_fini_scoped) struct buf cert = BUF_INIT(DATADIR_FILE_MAX_BYTES);
    scoped(buf_fini_scoped) struct buf key = BUF_INIT(DATADIR_FILE_MAX_BYTES);
    int r = x509_make_client(buf_str(&d->ca_cert), buf_str(&d->ca_key), user, valid_s, &cert, &key,
                             err);
    if (r < 0)
        return r;
    const struct kubeconfig config = { .server = (char *)url,
                                       .ca_pem = d->ca_cert.p,
                                       .client_cert_pem = cert.p,
                                       .client_key_pem = key.p };
    if (kubeconfig_write(&config, user->name, to) < 0)
        return err_set(err, -EMSGSIZE, "kubeconfig is too large");
    return 0;
}
