/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/credentials.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/sys.h"
#include "codec/base64.h"
#include "codec/json.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { END_POLL_MS = 5 };

static const char HUB_KEY[] = "https://index.docker.io/v1/"; /* of Docker Hub, since Docker 1.0 */

void oci_login_fini(struct oci_login *login)
{
    free(login->user);
    free(login->password);
    free(login->identity_token);
    *login = (struct oci_login){ 0 };
}

bool oci_login_is_empty(const struct oci_login *login)
{
    return !login->user && !login->identity_token;
}

void oci_login_copy(struct oci_login *to, const struct oci_login *from)
{
    *to = (struct oci_login){
        .user = from->user ? xstrdup(from->user) : NULL,
        .password = from->password ? xstrdup(from->password) : NULL,
        .identity_token = from->identity_token ? xstrdup(from->identity_token) : NULL,
    };
}

/* ---- configuration files ---- */

static bool is_program_name(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] <= ' ' || s.p[i] == '/' || s.p[i] >= 0x7f)
            return false;
    return s.n > 0 && s.n <= 100;
}

/* A key without scheme and "/v1/", "/v2/"; Docker Hub's is "docker.io". */
static struct str plain_key(struct str key)
{
    if (str_is(key, HUB_KEY) || str_has_prefix(key, STR("index.docker.io")))
        return STR("docker.io");
    static const struct str schemes[] = { { "https://", 8 }, { "http://", 7 } };
    for (size_t i = 0; i < ARRAY_LEN(schemes); i++)
        if (str_has_prefix(key, schemes[i])) {
            struct str host, path;
            (void)str_cut(str_slice(key, schemes[i].n, key.n), '/', &host, &path);
            return host;
        }
    while (key.n && key.p[key.n - 1] == '/')
        key.n--;
    return key;
}

/* The key is the host, or begins the host and repository at a slash. */
static bool fits(struct str key, const struct oci_reference *ref)
{
    struct buf whole = BUF_INIT(1024);
    (void)buf_printf(&whole, "%s/%s/", ref->host, ref->repository);
    bool yes =
        key.n && key.n < whole.n && str_has_prefix(buf_str(&whole), key) && whole.p[key.n] == '/';
    buf_fini(&whole);
    return yes;
}

static const struct json *best_entry(const struct json *auths, const struct oci_reference *ref)
{
    const struct json *best = NULL;
    size_t best_n = 0;
    json_each (e, auths) {
        struct str key = plain_key(e->key);
        if (fits(key, ref) && key.n > best_n) {
            best = e;
            best_n = key.n;
        }
    }
    return best;
}

static int read_pair(struct str coded, struct oci_login *ret, struct err *err)
{
    scoped(buf_fini_scoped) struct buf pair = BUF_INIT(OCI_CREDENTIAL_MAX);
    struct str user, password;
    if (base64_decode(&pair, coded, BASE64_LENIENT) < 0 ||
        !str_cut(buf_str(&pair), ':', &user, &password) || user.n == 0 ||
        str_find_char(buf_str(&pair), '\0') >= 0)
        return err_set(err, E_PARSE, "an 'auth' is no 'USER:PASSWORD' in base64");
    ret->user = str_dup(user);
    ret->password = str_dup(password);
    return 0;
}

static int read_entry(const struct json *e, struct oci_login *ret, struct err *err)
{
    struct str token = json_get_str(e, "identitytoken"), auth = json_get_str(e, "auth");
    struct str user = json_get_str(e, "username"), password = json_get_str(e, "password");
    if (token.n > OCI_CREDENTIAL_MAX || user.n + password.n > OCI_CREDENTIAL_MAX)
        return err_set(err, E_LIMIT, "a credential has more than %d bytes", OCI_CREDENTIAL_MAX);
    if (token.n) {
        ret->identity_token = str_dup(token);
    } else if (auth.n) {
        return read_pair(auth, ret, err);
    } else if (user.n) {
        ret->user = str_dup(user);
        ret->password = str_dup(password);
    }
    return 0;
}

static struct str program_of(const struct json *doc, const struct oci_reference *ref)
{
    json_each (e, json_getc(doc, "credHelpers"))
        if (str_is(plain_key(e->key), ref->host))
            return json_str(e);
    return json_get_str(doc, "credsStore");
}

int oci_login_read(struct str config, const struct oci_reference *ref, struct oci_login *ret,
                   char **ret_program, struct err *err)
{
    struct arena a = { .max_bytes = OCI_CREDENTIALS_FILE_MAX * 8 };
    struct json *doc;
    struct oci_login login = { 0 };
    struct str program = STR_NULL;
    int r = json_parse(&a, config, NULL, &doc, NULL) < 0 || !json_is(doc, JSON_OBJECT)
                ? err_set(err, E_PARSE, "it is no JSON object")
                : 0;
    if (r >= 0) {
        const struct json *e = best_entry(json_getc(doc, "auths"), ref);
        program = program_of(doc, ref);
        r = e ? read_entry(e, &login, err) : 0;
    }
    if (r >= 0 && program.n && !is_program_name(program))
        r = err_set(err, E_PARSE, "the name of a credential program is none");
    if (r >= 0) {
        *ret = login;
        *ret_program = program.n ? str_dup(program) : NULL;
    } else {
        oci_login_fini(&login);
    }
    arena_fini(&a);
    return r;
}

int oci_login_read_first(const struct str *configs, size_t n, const struct oci_reference *ref,
                         struct oci_login *ret, struct err *err)
{
    struct oci_login login = { 0 };
    for (size_t i = 0; i < n && oci_login_is_empty(&login); i++) {
        scoped(free_scoped) char *program = NULL;
        int r = oci_login_read(configs[i], ref, &login, &program, err);
        if (r < 0)
            return err_ctx(err, E_INVALID, "credentials of the registry");
    }
    *ret = login;
    return 0;
}

/* ---- programs ---- */

struct credentials_child {
    pid_t pid;
    int to, from;
};

static int spawn(const char *name, struct credentials_child *ret, struct err *err)
{
    int in[2] = { -1, -1 }, out[2] = { -1, -1 };
    posix_spawn_file_actions_t actions;
    if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0) {
        int r = -errno;
        fd_scoped(&in[0]);
        fd_scoped(&in[1]);
        return err_sys(err, r, "pipe");
    }
    char *argv[] = { (char *)name, (char *)"get", NULL };
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
    (void)posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    int r = -posix_spawnp(&ret->pid, name, &actions, NULL, argv, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)close(in[0]);
    (void)close(out[1]);
    ret->to = in[1];
    ret->from = out[0];
    if (r < 0) {
        (void)close(ret->to);
        (void)close(ret->from);
        return err_sys(err, r, "run '%s'", name);
    }
    return 0;
}

/* Until its end, at most OCI_CREDENTIAL_PROGRAM_MS. */
static int read_answer(int fd, struct buf *to, struct err *err)
{
    uint64_t until = clock_mono_ms() + OCI_CREDENTIAL_PROGRAM_MS;
    for (;;) {
        char *room;
        uint64_t now = clock_mono_ms();
        struct pollfd p = { .fd = fd, .events = POLLIN };
        int r = now < until ? poll(&p, 1, (int)(until - now)) : 0;
        if (r == 0)
            return err_set(err, -ETIMEDOUT, "it does not answer");
        if (r < 0 && errno != EINTR)
            return err_sys(err, -errno, "poll");
        if (r < 0)
            continue;
        if (buf_reserve(to, 4096, &room) < 0)
            return err_set(err, E_LIMIT, "its answer is too long");
        ssize_t n = read(fd, room, 4096);
        if (n < 0 && errno != EINTR)
            return err_sys(err, -errno, "read");
        if (n == 0)
            return 0;
        if (n > 0)
            buf_advance(to, (size_t)n);
    }
}

/* It has closed its output. */
static int wait_for_end(pid_t pid, int *ret_status, struct err *err)
{
    uint64_t until = clock_mono_ms() + OCI_CREDENTIAL_PROGRAM_END_MS;
    for (;;) {
        pid_t ended = waitpid(pid, ret_status, WNOHANG);
        if (ended == pid)
            return 0;
        if (ended < 0 && errno != EINTR)
            return err_sys(err, -errno, "wait");
        if (clock_mono_ms() >= until)
            return err_set(err, -ETIMEDOUT, "it does not end");
        (void)poll(NULL, 0, END_POLL_MS);
    }
}

static int converse(const char *name, struct str question, struct buf *answer, int *ret_status,
                    struct err *err)
{
    struct credentials_child c;
    int r = spawn(name, &c, err);
    if (r < 0)
        return r;
    struct sigaction ignore = { .sa_handler = SIG_IGN }, before;
    (void)sigaction(SIGPIPE, &ignore, &before);
    (void)sys_write_all(c.to, question.p, question.n); /* one that does not read still answers */
    (void)sigaction(SIGPIPE, &before, NULL);
    (void)close(c.to);
    r = read_answer(c.from, answer, err);
    (void)close(c.from);
    r = r < 0 ? r : wait_for_end(c.pid, ret_status, err);
    if (r >= 0)
        return 0;
    (void)kill(c.pid, SIGKILL);
    while (waitpid(c.pid, ret_status, 0) < 0 && errno == EINTR)
        ;
    return r;
}

static int read_secret(struct str answer, struct oci_login *ret, struct err *err)
{
    struct arena a = { .max_bytes = OCI_CREDENTIAL_MAX * 8 };
    struct json *doc;
    int r = json_parse(&a, answer, NULL, &doc, NULL);
    struct str user = r < 0 ? STR_NULL : json_get_str(doc, "Username");
    struct str secret = r < 0 ? STR_NULL : json_get_str(doc, "Secret");
    if (secret.n == 0) {
        r = err_set(err, E_PARSE, "its answer has no Secret");
    } else if (str_is(user, "<token>")) {
        ret->identity_token = str_dup(secret);
    } else {
        ret->user = str_dup(user);
        ret->password = str_dup(secret);
    }
    arena_fini(&a);
    return r < 0 ? r : 0;
}

int oci_login_ask(const char *program, const struct oci_reference *ref, struct oci_login *ret,
                  struct err *err)
{
    scoped(free_scoped) char *name = xasprintf("docker-credential-%s", program);
    scoped(buf_fini_scoped) struct buf answer = BUF_INIT(OCI_CREDENTIAL_MAX * 2);
    bool is_hub = strcmp(ref->host, "docker.io") == 0;
    int status = 0;
    int r = converse(name, str_of(is_hub ? HUB_KEY : ref->host), &answer, &status, err);
    struct str words = str_trim(str_slice(buf_str(&answer), 0, 120));
    *ret = (struct oci_login){ 0 };
    if (r < 0)
        return err_ctx(err, r, "%s", name);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        if (str_find(words, STR("not found")) >= 0)
            return 0;
        return err_set(err, -EIO, "%s failed%s" STR_FMT, name, words.n ? ": " : "", STR_ARG(words));
    }
    r = read_secret(buf_str(&answer), ret, err);
    return r < 0 ? err_ctx(err, r, "%s", name) : 0;
}

/* ---- finding ---- */

/* The path of a configuration file by an environment variable; NULL: it is not set. Given. */
static char *config_path(unsigned i)
{
    static const struct {
        const char *name, *rest;
    } places[] = {
        { "REGISTRY_AUTH_FILE", "" },
        { "DOCKER_CONFIG", "/config.json" },
        { "HOME", "/.docker/config.json" },
    };
    const char *value = getenv(places[i].name);
    return value && value[0] ? xasprintf("%s%s", value, places[i].rest) : NULL;
}

int oci_login_find(const struct oci_reference *ref, struct oci_login *ret, struct err *err)
{
    scoped(free_scoped) char *path = NULL, *program = NULL;
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(OCI_CREDENTIALS_FILE_MAX);
    struct oci_login login = { 0 }, asked = { 0 };
    *ret = (struct oci_login){ 0 };
    for (unsigned i = 0; i < 3 && !path; i++)
        path = config_path(i);
    if (!path)
        return 0;
    int r = sys_read_file(AT_FDCWD, path, &text, err);
    if (r == -ENOENT)
        return 0;
    r = r < 0 ? r : oci_login_read(buf_str(&text), ref, &login, &program, err);
    if (r < 0)
        return err_ctx(err, r, "credentials in '%s'", path);
    r = program ? oci_login_ask(program, ref, &asked, err) : 0;
    if (r < 0 || oci_login_is_empty(&asked)) {
        *ret = login;
        return r < 0 && oci_login_is_empty(&login) ? r : 0;
    }
    oci_login_fini(&login);
    *ret = asked;
    return 0;
}
