/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of a sandbox that is a container (container/container.h): from its image or bundle to
 * the first answer of its program, and to its end. Every callback moves the box or notifies the
 * worker; a box that the worker has given up only ends.
 */
#include "base/clock.h"
#include "codec/json.h"
#include "fn/worker/oci_impl.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { NOTE_MAX = 16 << 10 };

/*
 *     IMAGE -> MAKING -> PROBING -> READY -> ENDING -> (freed)
 *
 * IMAGE waits for the image or bundle, MAKING for on_started(), PROBING for readiness, ENDING for
 * on_removed(), or for the next turn if there is no container.
 */
static const struct sm_state box_table[] = {
    [BOX_IMAGE] = { "image", EDGE(BOX_MAKING) | EDGE(BOX_ENDING) },
    [BOX_MAKING] = { "making", EDGE(BOX_PROBING) | EDGE(BOX_ENDING) },
    [BOX_PROBING] = { "probing", EDGE(BOX_READY) | EDGE(BOX_ENDING) },
    [BOX_READY] = { "ready", EDGE(BOX_ENDING) },
    [BOX_ENDING] = { "ending", 0 },
};

uint32_t oci_box_lap_us(struct box *b)
{
    uint64_t now = clock_mono_ns(), us = (now - b->at_ns) / 1000;
    b->at_ns = now;
    return (uint32_t)MIN(us, (uint64_t)UINT32_MAX);
}

struct box *oci_box_new(struct oci *o, uint64_t id, const struct runtime_revision *of)
{
    struct box *b = xnew(struct box);
    b->o = o;
    b->id = id;
    sm_init(&b->sm, box_table, BOX_IMAGE);
    b->of = (struct runtime_revision){ .namespace = xstrdup(of->namespace),
                                       .function = xstrdup(of->function),
                                       .uid = xstrdup(of->uid),
                                       .revision = of->revision };
    b->begun_ns = b->at_ns = clock_mono_ns();
    dormouse__fn__v1__breakdown__init(&b->took);
    map_put(&o->boxes, box_key(&b->id), b);
    o->n_owed++;
    return b;
}

/* Its container is gone: free it. */
static void box_over(struct box *b)
{
    struct oci *o = b->o;
    uint64_t id = b->id;
    bool farewell = b->owes_farewell;
    if (b->image)
        o->images.ops->put(o->images.arg, b->image);
    map_del(&o->boxes, box_key(&b->id));
    free((char *)(uintptr_t)b->of.namespace);
    free((char *)(uintptr_t)b->of.function);
    free((char *)(uintptr_t)b->of.uid);
    free(b->path);
    free(b);
    if (farewell)
        o->base.events->on_destroyed(o->base.events_arg, id);
    oci_give_back(o);
}

/* ---------------------------------------------------------------- reports to the worker */

static void box_address(const struct box *b, char to[OCI_ADDRESS_MAX])
{
    struct in_addr in = { htonl(container_address(b->container)) };
    char plain[INET_ADDRSTRLEN];
    (void)inet_ntop(AF_INET, &in, plain, sizeof plain);
    (void)snprintf(to, OCI_ADDRESS_MAX, "%s:%u", plain, b->port);
}

static void report_created(struct box *b)
{
    char address[OCI_ADDRESS_MAX];
    box_address(b, address);
    b->took.total = (uint32_t)((clock_mono_ns() - b->begun_ns) / 1000);
    b->is_reported = true;
    b->o->base.events->on_created(b->o->base.events_arg, b->id, 0, address, &b->took, NULL);
}

/* Report to the worker that the sandbox has failed or ended. */
static void report_lost(struct box *b, int r, const char *text)
{
    struct err err = { 0 };
    struct fn_log_line line = {
        .level = LOG_ERROR, .message = str_of(text), .sandbox = b->id, .stream = "host"
    };
    fn_log_add(b->o->logs, &b->of, &line);
    b->is_wanted = false;
    if (b->is_reported) {
        b->o->base.events->on_gone(b->o->base.events_arg, b->id, text);
        return;
    }
    b->is_reported = true;
    b->took.total = (uint32_t)((clock_mono_ns() - b->begun_ns) / 1000);
    (void)err_set(&err, r, "%s", text);
    b->o->base.events->on_created(b->o->base.events_arg, b->id, r, NULL, &b->took, &err);
}

/* ---------------------------------------------------------------- ending */

static void on_turn(struct defer *d)
{
    struct box *b = container_of(d, struct box, turn);
    if (b->refusal.code && b->is_wanted)
        report_lost(b, b->refusal.code, err_text(&b->refusal));
    if (b->sm.at != BOX_ENDING)
        sm_move(&b->sm, BOX_ENDING);
    box_over(b);
}

/* End the container, if there is one. */
static void end(struct box *b, uint32_t grace_ms)
{
    probe_stop(take_ptr(&b->probe));
    list_remove(&b->queued);
    if (b->sm.at != BOX_ENDING)
        sm_move(&b->sm, BOX_ENDING);
    if (b->container)
        container_stop(b->container, grace_ms);
    else if (!list_is_linked(&b->turn.node))
        defer_start(b->o->loop, &b->turn, on_turn);
}

void oci_box_fail(struct box *b, int r, const char *text)
{
    if (b->is_wanted)
        report_lost(b, r, text);
    end(b, 0);
}

void oci_box_refuse(struct box *b, const struct err *err)
{
    b->refusal = *err;
    defer_start(b->o->loop, &b->turn, on_turn);
}

void oci_box_destroy(struct box *b, uint32_t grace_ms)
{
    b->owes_farewell = true;
    b->is_wanted = false;
    end(b, grace_ms);
}

/* ---------------------------------------------------------------- its container */

static void on_probed(void *arg, int r, const struct err *err)
{
    struct box *b = arg;
    b->probe = NULL;
    b->took.readiness_probe = oci_box_lap_us(b);
    if (r < 0) {
        oci_box_fail(b, r, err_text(err));
        return;
    }
    sm_move(&b->sm, BOX_READY);
    if (b->cpu_milli)
        container_limit_cpu(b->container, b->cpu_milli);
    report_created(b);
}

static void on_started(void *arg, int r, const struct err *err)
{
    struct box *b = arg;
    struct err why = { 0 };
    const struct container_timings took = container_timings(b->container);
    b->took.sandbox_create = took.files_us;
    b->took.network_setup = took.network_us;
    b->took.sandbox_start = took.start_us;
    (void)oci_box_lap_us(b);
    if (r < 0) {
        oci_box_fail(b, r, err_text(err));
        return;
    }
    struct probe_opts o = { .address = container_address(b->container),
                            .port = b->port,
                            .path = str_of(b->path),
                            .limit_ms = b->ready_ms,
                            .done = on_probed,
                            .arg = b };
    sm_move(&b->sm, BOX_PROBING);
    r = probe_start(b->o->loop, &o, &b->probe, &why);
    if (r < 0)
        oci_box_fail(b, r, err_text(&why));
}

static void on_ended(void *arg, const struct container_end *how)
{
    struct box *b = arg;
    if (b->is_wanted)
        oci_box_fail(b, -EPIPE, how->text);
}

static void on_removed(void *arg)
{
    struct box *b = arg;
    b->container = NULL;
    box_over(b);
}

static void on_line(void *arg, enum container_stream stream, struct str line, bool has_more)
{
    struct box *b = arg;
    (void)has_more; /* a piece is a line of the log */
    if (line.n && line.p[line.n - 1] == '\r')
        line.n--;
    if (line.n == 0)
        return;
    fn_log_output(b->o->logs, &b->of, b->id, STR(""),
                  stream == CONTAINER_STDOUT ? "stdout" : "stderr", line);
}

static const struct container_events events = {
    .on_started = on_started, .on_ended = on_ended, .on_removed = on_removed, .on_line = on_line
};

/* For the worker that starts after a crash. */
static void write_note(const struct box *b, struct buf *to)
{
    (void)buf_printf(to, "{\"sandbox\":%llu,\"uid\":", (unsigned long long)b->id);
    (void)json_write_str(to, str_of(b->of.uid));
    (void)buf_add_cstr(to, ",\"namespace\":");
    (void)json_write_str(to, str_of(b->of.namespace));
    (void)buf_add_cstr(to, ",\"function\":");
    (void)json_write_str(to, str_of(b->of.function));
    if (b->image) {
        (void)buf_add_cstr(to, ",\"image\":");
        (void)json_write_str(to, str_of(b->image->dir));
    }
    (void)buf_printf(to, ",\"revision\":%u,\"port\":%u}", b->of.revision, b->port);
}

int oci_box_make(struct box *b, const struct runtime_revision *r,
                 const struct oci_config_made *made, struct str config, struct err *err)
{
    scoped(buf_fini_scoped) struct buf note = BUF_INIT(NOTE_MAX);
    scoped(free_scoped) struct str *files = xnew_n(struct str, r->n_secrets + 1);
    char name[OCI_NAME_MAX];
    (void)snprintf(name, sizeof name, "s%llu", (unsigned long long)b->id);
    for (size_t i = 0; i < r->n_secrets; i++)
        files[i] = str_n(r->secrets[i]->content.data, r->secrets[i]->content.len);
    write_note(b, &note);
    struct container_opts opts = { .name = name,
                                   .config = config,
                                   .uid = made->uid,
                                   .gid = made->gid,
                                   .files = files,
                                   .n_files = r->n_secrets,
                                   .note = buf_str(&note),
                                   .events = &events,
                                   .arg = b };
    int code = container_start(b->o->host, &opts, &b->container, err);
    if (code >= 0)
        sm_move(&b->sm, BOX_MAKING);
    return code;
}

/* ---------------------------------------------------------------- after a restart */

static void report_recovered(struct box *b)
{
    char address[OCI_ADDRESS_MAX];
    box_address(b, address);
    b->is_reported = b->is_wanted = true;
    b->o->base.events->on_recovered(b->o->base.events_arg, b->id, b->of.uid, b->of.revision,
                                    address);
}

/* Two names must not mean one box: one with zeros before its number is not of this program. */
static bool read_name(const char *name, uint64_t *ret_id)
{
    return name[0] == 's' && (name[1] != '0' || name[2] == 0) &&
           parse_u64(str_of(name + 1), 0, UINT64_MAX, ret_id) >= 0;
}

static void *on_found(void *arg, struct container *c, const struct container_left *left)
{
    struct oci *o = arg;
    const struct json *note = left->note;
    uint64_t id;
    if (!read_name(container_name(c), &id))
        return NULL;
    scoped(free_scoped) char *namespace = str_dup(json_get_str(note, "namespace"));
    scoped(free_scoped) char *function = str_dup(json_get_str(note, "function"));
    scoped(free_scoped) char *uid = str_dup(json_get_str(note, "uid"));
    struct runtime_revision of = { .namespace = namespace,
                                   .function = function,
                                   .uid = uid,
                                   .revision =
                                       (uint32_t)json_int_or(json_getc(note, "revision"), 0) };
    struct box *b = oci_box_new(o, id, &of);
    struct str image = json_get_str(note, "image");
    b->container = c;
    b->port = (uint16_t)json_int_or(json_getc(note, "port"), 0);
    if (image.n && o->images.ops)
        b->image = o->images.ops->adopt(o->images.arg, image);
    b->sm.at =
        left->is_adopted ? BOX_READY : BOX_ENDING; /* the state that the previous process left */
    if (left->is_adopted && note)
        report_recovered(b);
    else if (left->is_adopted)
        end(b, 0);
    return b;
}

void oci_box_recover_all(struct oci *o)
{
    container_host_recover(o->host, on_found, &events, o);
}
