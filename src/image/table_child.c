/* SPDX-License-Identifier: Apache-2.0 */
#include "image/table_child.h"

#include "base/clock.h"
#include "base/sys.h"
#include "wasm/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    INPUT_MAX = OCI_TABLE_HEAD_BYTES + (256 << 20),
    LENGTH_BYTES = 8,
    ERROR_TEXT_MAX = 256,
    WORK_BYTES = 256 << 20, /* that the processor time of the child is for */
    REUSE_BYTES = 16 << 20, /* of tables; then another child has time of its own */
    LEAVE_MS = 1000,        /* from the end of its output to its own */
    STOP_MS = 100,          /* between two checks whether to continue to wait */
};

/* ---- the child ---- */

/* 1; 0: the input has ended before the first byte. */
static int read_all(char *p, size_t n, struct err *err)
{
    for (size_t done = 0; done < n;) {
        ssize_t got = read(STDIN_FILENO, p + done, n - done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_sys(err, -errno, "read");
        if (got == 0)
            return done ? err_set(err, E_PARSE, "the table of a layer is cut short") : 0;
        done += (size_t)got;
    }
    return 1;
}

/* 1; 0: nothing is asked any more. */
static int read_request(struct buf *to, struct err *err)
{
    char length[LENGTH_BYTES], *room;
    int r = read_all(length, sizeof length, err);
    if (r <= 0)
        return r;
    struct rd in = rd_init(length, sizeof length);
    uint64_t n = rd_le64(&in);
    if (n < OCI_TABLE_HEAD_BYTES || n > INPUT_MAX)
        return err_set(err, E_LIMIT, "the table of a layer is too large");
    r = buf_reserve(to, (size_t)n, &room);
    if (r < 0)
        return err_sys(err, r, "table of a layer");
    r = read_all(room, (size_t)n, err);
    if (r > 0)
        buf_advance(to, (size_t)n);
    return r == 0 ? err_set(err, E_PARSE, "the table of a layer is cut short") : r;
}

static int flatten(struct str request, struct buf *to, struct err *err)
{
    struct oci_table t;
    int r = oci_table_read_head(str_slice(request, 0, OCI_TABLE_HEAD_BYTES), &t, err);
    t.bytes = str_slice(request, OCI_TABLE_HEAD_BYTES, request.n);
    return r < 0 ? r : oci_table_flatten(&t, to, err);
}

static int answer(int status, struct str bytes)
{
    scoped(buf_fini_scoped) struct buf head = BUF_INIT(TABLE_CHILD_HEAD_BYTES);
    (void)buf_add_le32(&head, status < 0 ? (uint32_t)-status : 0);
    (void)buf_add_le64(&head, bytes.n);
    int r = sys_write_all(STDOUT_FILENO, head.p, head.n);
    return r < 0 ? r : sys_write_all(STDOUT_FILENO, bytes.p, bytes.n);
}

/* 1; 0: the end; negative: an error, which was reported. */
static int read_one(struct err *err)
{
    scoped(buf_fini_scoped) struct buf in = BUF_INIT(INPUT_MAX);
    scoped(buf_fini_scoped) struct buf flat = BUF_INIT(OCI_TABLE_FLAT_MAX);
    int r = read_request(&in, err);
    if (r == 0)
        return 0;
    r = r < 0 ? r : flatten(buf_str(&in), &flat, err);
    struct str reply = r < 0 ? str_of(err_text(err)) : buf_str(&flat);
    int written = answer(r, r < 0 ? str_slice(reply, 0, ERROR_TEXT_MAX) : reply);
    return r < 0 ? r : written < 0 ? written : 1;
}

int table_child_main(void)
{
    struct err err = { 0 };
    uint8_t digest[SHA256_BYTES];
    sha256_of(STR(""), digest); /* its library reads files, which the child cannot open later */
    int r = layer_child_confine(NULL, WORK_BYTES, false, &err);
    if (r < 0) /* this is no error of a table */
        (void)answer(-EIO, str_of(err_text(&err)));
    for (r = r < 0 ? r : 1; r > 0;)
        r = read_one(&err);
    return r < 0;
}

/* ---- the parent ---- */

/* Codes that a child may give; it may be someone else's by now. */
static bool is_code(int r)
{
    static const int codes[] = { E_PARSE, E_CORRUPT, E_VERSION,     E_LIMIT, E_DIGEST,
                                 -ENOMEM, -EMSGSIZE, E_UNSUPPORTED, -EIO };
    for (size_t i = 0; i < ARRAY_LEN(codes); i++)
        if (codes[i] == r)
            return true;
    return false;
}

int table_child_head(struct str head, uint32_t *ret_code, size_t *ret_n, struct err *err)
{
    struct rd r = rd_init(head.p, head.n);
    uint32_t code = rd_le32(&r);
    uint64_t n = rd_le64(&r);
    if (!rd_ok(&r))
        return err_set(err, E_PARSE, "the reader of a table ended early");
    if (n > (code ? (uint64_t)ERROR_TEXT_MAX : (uint64_t)OCI_TABLE_FLAT_MAX))
        return err_set(err, E_LIMIT, "the reader of a table gives too much");
    *ret_code = code;
    *ret_n = (size_t)n;
    return 0;
}

int table_child_error(uint32_t code, struct str text, struct err *err)
{
    int given = code <= INT32_MAX ? -(int)code : 0;
    text.n = MIN(text.n, (size_t)ERROR_TEXT_MAX);
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] < ' ' || text.p[i] > '~') /* messages are shown as they are */
            text.n = i;
    return err_set(err, is_code(given) ? given : E_PARSE, STR_FMT, STR_ARG(text));
}

struct table_child {
    int pid, to, from;
    uint64_t end_ms;  /* of the table that it reads */
    uint64_t n_bytes; /* of the tables that it has read */
    bool has_begun;   /* to answer: the first byte has come */
    const atomic_bool *stop;
};

/* End it. Returns its status. */
static int reap(struct table_child *c)
{
    int status = 0;
    (void)confine_signal(c->pid, SIGKILL); /* one that has ended is not reaped yet */
    while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    (void)close(c->to);
    (void)close(c->from);
    free(c);
    return status;
}

void table_child_free(struct table_child *c)
{
    if (c)
        (void)reap(c);
}

static int spawn(const char *program, int in, int out, struct err *err)
{
    char name[] = "dormouse", word[] = LAYER_CHILD_WORD, table[] = TABLE_CHILD_WORD;
    char *argv[] = { name, word, table, NULL }, *envp[] = { NULL };
    const int fds[] = { in, out, STDERR_FILENO };
    const struct confine_child child = { .path = program ? program : "/proc/self/exe",
                                         .argv = argv,
                                         .envp = envp,
                                         .fds = fds,
                                         .n_fds = ARRAY_LEN(fds) };
    return confine_spawn(&child, err);
}

static int open_pipe(int *ret_read, int *ret_write, struct err *err)
{
    int both[2];
    if (pipe2(both, O_CLOEXEC) < 0)
        return err_sys(err, -errno, "pipe");
    *ret_read = both[0];
    *ret_write = both[1];
    return 0;
}

static int start(const char *program, struct table_child **ret, struct err *err)
{
    scoped(fd_scoped) int in = -1, to = -1;
    scoped(fd_scoped) int from = -1, out = -1;
    int r = open_pipe(&in, &to, err);
    r = r < 0 ? r : open_pipe(&from, &out, err);
    if (r >= 0 && (fcntl(to, F_SETFL, O_NONBLOCK) < 0 || fcntl(from, F_SETFL, O_NONBLOCK) < 0))
        r = err_sys(err, -errno, "pipe");
    r = r < 0 ? r : spawn(program, in, out, err);
    if (r < 0)
        return r;
    struct table_child *c = xnew(struct table_child);
    *c = (struct table_child){ .pid = r, .to = take_fd(&to), .from = take_fd(&from) };
    *ret = c;
    return 0;
}

/* Until the pipe can be read or written. All of a table has one deadline: a child that was taken
 * over could take and give a byte now and then. */
static int wait_for(const struct table_child *c, int fd, short events, struct err *err)
{
    struct pollfd p = { .fd = fd, .events = events };
    for (;;) {
        uint64_t now_ms = clock_mono_ms();
        if (c->stop && atomic_load(c->stop))
            return err_set(err, -ECANCELED, "reading a table was canceled");
        if (now_ms >= c->end_ms)
            return err_set(err, -ETIMEDOUT, "the reader of a table takes too long");
        uint64_t left_ms = c->end_ms - now_ms;
        int r = poll(&p, 1, (int)(c->stop ? MIN(left_ms, (uint64_t)STOP_MS) : left_ms));
        if (r < 0 && errno != EINTR)
            return err_sys(err, -errno, "poll");
        if (r > 0)
            return 0;
    }
}

static bool is_again(void)
{
    return errno == EINTR || errno == EAGAIN;
}

static int send_all(const struct table_child *c, struct str bytes, struct err *err)
{
    while (bytes.n) {
        int r = wait_for(c, c->to, POLLOUT, err);
        if (r < 0)
            return r;
        ssize_t n = write(c->to, bytes.p, bytes.n);
        if (n < 0 && errno == EPIPE)
            return 0; /* the reason is in its answer, if there is one */
        if (n < 0 && !is_again())
            return err_sys(err, -errno, "write");
        bytes = str_slice(bytes, n > 0 ? (size_t)n : 0, bytes.n);
    }
    return 0;
}

/* E_EOF: it has ended; err is not set. */
static int take_all(struct table_child *c, char *to, size_t size, struct err *err)
{
    for (size_t done = 0; done < size;) {
        int r = wait_for(c, c->from, POLLIN, err);
        if (r < 0)
            return r;
        ssize_t n = read(c->from, to + done, size - done);
        if (n == 0)
            return E_EOF;
        if (n < 0 && !is_again())
            return err_sys(err, -errno, "read");
        done += n > 0 ? (size_t)n : 0;
        c->has_begun |= n > 0;
    }
    return 0;
}

static int take_answer(struct table_child *c, struct buf *to, struct err *err)
{
    char head[TABLE_CHILD_HEAD_BYTES], text[ERROR_TEXT_MAX], *room;
    uint32_t code;
    size_t n;
    int r = take_all(c, head, sizeof head, err);
    r = r < 0 ? r : table_child_head(str_n(head, sizeof head), &code, &n, err);
    if (r < 0)
        return r;
    if (code) {
        r = take_all(c, text, n, err);
        return r < 0 ? r : table_child_error(code, str_n(text, n), err);
    }
    r = buf_reserve(to, n, &room);
    if (r < 0)
        return err_sys(err, r, "table of a layer");
    r = take_all(c, room, n, err);
    if (r >= 0)
        buf_advance(to, n);
    return r;
}

static int ask(struct table_child *c, const struct oci_table *t, const atomic_bool *stop,
               struct buf *to, struct err *err)
{
    scoped(buf_fini_scoped) struct buf head = BUF_INIT(LENGTH_BYTES + OCI_TABLE_HEAD_BYTES);
    (void)buf_add_le64(&head, OCI_TABLE_HEAD_BYTES + (uint64_t)t->bytes.n);
    oci_table_write_head(t, &head);
    c->end_ms = clock_mono_ms() + LAYER_CHILD_STALL_MS;
    c->n_bytes += t->bytes.n;
    c->has_begun = false;
    c->stop = stop;
    int r = send_all(c, buf_str(&head), err);
    r = r < 0 ? r : send_all(c, t->bytes, err);
    return r < 0 ? r : take_answer(c, to, err);
}

static void drop(struct table_child **child)
{
    table_child_free(*child);
    *child = NULL;
}

/* Its output has ended: whether it ends, too, so that its status is its own. */
static bool leaves(const struct table_child *c)
{
    scoped(fd_scoped) int pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
    struct pollfd p = { .fd = pidfd, .events = POLLIN };
    uint64_t end_ms = clock_mono_ms() + LEAVE_MS;
    int r = -1;
    for (uint64_t now_ms; r <= 0 && (now_ms = clock_mono_ms()) < end_ms && pidfd >= 0;)
        r = poll(&p, 1, (int)(end_ms - now_ms));
    return pidfd < 0 || r > 0;
}

/* The reason for a missing answer. If the kernel killed the child, this is no error of the table.
 */
static int ended(struct table_child **child, struct err *err)
{
    bool is_own = leaves(*child);
    int status = reap(*child);
    *child = NULL;
    return is_own && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL
               ? err_set(err, -ENOMEM,
                         "the reader of a table was killed: no memory, or too much processor time")
               : err_set(err, E_PARSE, "the reader of a table ended early");
}

/* A child of an earlier table that does not begin to answer had ended before. This is no error of
 * this table, so a new child reads it. */
int table_child_read(const char *program, struct table_child **child, const struct oci_table *t,
                     const atomic_bool *stop, struct buf *to, struct err *err)
{
    if (*child && (*child)->n_bytes + t->bytes.n > REUSE_BYTES)
        drop(child);
    int r = *child ? ask(*child, t, stop, to, err) : E_EOF;
    if (r == E_EOF && !(*child && (*child)->has_begun)) {
        drop(child);
        r = start(program, child, err);
        r = r < 0 ? r : ask(*child, t, stop, to, err);
    }
    if (r == E_EOF)
        return ended(child, err);
    if (r < 0)
        drop(child);
    return r;
}
