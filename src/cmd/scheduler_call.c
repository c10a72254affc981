/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse scheduler call: one scheduler plugin, by hand, without a cluster. */
#include "base/map.h"
#include "cmd/cmd.h"
#include "cmd/host_opts.h"
#include "cmd/plugin_home.h"
#include "sched/wasm/objects.h"
#include "sched/wasm/payload.h"
#include "sched/wasm/plugin.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 64 << 20, CALL_NODES_MAX = 100000 };

static const char *data_dir;
static bool real_time;

static const struct cmd_opt opts[] = {
    { "data-dir", 0, "DIR", "where compiled plugins are kept " CMD_SERVER_DATA_DIR_DEFAULT,
      CMD_STRING, &data_dir, 0, 0 },
    { "real-time", 0, NULL, "real clocks and random numbers, instead of the same in each run",
      CMD_FLAG, &real_time, 0, 0 },
    CMD_REGISTRY_OPTS,
    { .name = NULL },
};

static const struct cmd_opt *call_opts(void)
{
    return opts;
}

struct scheduler_call_waiting {
    char *uid;
    struct wobject *pod;
};

struct session {
    struct plugin_home home;
    struct wplugin *plugin;
    struct wnodes *nodes;
    VEC(struct scheduler_call_waiting) waiting;
    bool is_loaded;
    struct buf load_error;
    /* What the plugin did since the last answer. */
    struct buf log, event, rejected;
    bool has_event, has_rejected;
};

/* ---- what plugins ask for ---- */

static bool on_node(void *arg, struct str name, struct str *ret)
{
    return wnodes_get(((struct session *)arg)->nodes, name, ret);
}

static struct str on_node_list(void *arg)
{
    return wnodes_list(((struct session *)arg)->nodes);
}

static bool on_image_states(void *arg, struct str node, struct str *ret)
{
    return wnodes_image_states(((struct session *)arg)->nodes, node, ret);
}

static bool on_node_pods(void *arg, struct str node, struct str *ret)
{
    return wnodes_pods(((struct session *)arg)->nodes, node, ret);
}

static const struct scheduler_call_waiting *find_waiting(struct session *s, struct str uid)
{
    vec_each (w, &s->waiting)
        if (str_is(uid, w->uid))
            return w;
    return NULL;
}

static bool on_waiting_pod(void *arg, struct str uid, struct str *ret)
{
    const struct scheduler_call_waiting *w = find_waiting(arg, uid);
    if (w)
        *ret = w->pod->bytes;
    return w != NULL;
}

static bool on_reject(void *arg, struct str uid)
{
    struct session *s = arg;
    buf_reset(&s->rejected);
    (void)buf_add_str(&s->rejected, uid);
    s->has_rejected = true;
    return find_waiting(s, uid) != NULL;
}

static void on_event(void *arg, const struct wplugin_event *e)
{
    struct session *s = arg;
    buf_reset(&s->event);
    if (e->regarding.name.n)
        (void)buf_printf(&s->event, STR_FMT " ", STR_ARG(e->regarding.name));
    (void)buf_printf(&s->event, STR_FMT " " STR_FMT " " STR_FMT " " STR_FMT, STR_ARG(e->type),
                     STR_ARG(e->reason), STR_ARG(e->action), STR_ARG(e->note));
    s->has_event = true;
}

static void on_log(void *arg, enum wplugin_severity severity, struct str text)
{
    (void)buf_add_str(&((struct session *)arg)->log, text);
}

static const struct wplugin_handle handle = {
    .node = on_node,
    .node_list = on_node_list,
    .image_states = on_image_states,
    .node_pods = on_node_pods,
    .waiting_pod = on_waiting_pod,
    .reject_waiting_pod = on_reject,
    .event = on_event,
    .log = on_log,
};

/* ---- the session ---- */

static int session_init(struct session *s, struct err *err)
{
    *s = (struct session){ .log = BUF_INIT(BUF_MAX_DEFAULT),
                           .event = BUF_INIT(BUF_MAX_DEFAULT),
                           .rejected = BUF_INIT(BUF_MAX_DEFAULT),
                           .load_error = BUF_INIT(BUF_MAX_DEFAULT) };
    int r = plugin_home_init(&s->home, data_dir, err);
    if (r < 0)
        return r;
    s->nodes = wnodes_new();
    return 0;
}

static void session_fini(struct session *s)
{
    wplugin_free(s->plugin);
    plugin_home_fini(&s->home);
    vec_each (w, &s->waiting) {
        free(w->uid);
        wobject_unref(w->pod);
    }
    vec_fini(&s->waiting);
    wnodes_free(s->nodes);
    buf_fini(&s->load_error);
    buf_fini(&s->log);
    buf_fini(&s->event);
    buf_fini(&s->rejected);
}

/* ---- answers ---- */

static void add_member(struct buf *to, const char *name)
{
    (void)buf_printf(to, "%s\"%s\":", to->n > 1 ? "," : "", name);
}

static void add_text(struct buf *to, const char *name, struct str text)
{
    add_member(to, name);
    (void)json_write_str(to, text);
}

static void add_int(struct buf *to, const char *name, int64_t value)
{
    add_member(to, name);
    (void)buf_printf(to, "%lld", (long long)value);
}

static void print(struct buf *answer)
{
    (void)buf_add_cstr(answer, "}\n");
    (void)fwrite(answer->p, 1, answer->n, stdout);
    (void)fflush(stdout);
}

static void print_error(const char *text)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(BUF_MAX_DEFAULT);
    (void)buf_add_char(&b, '{');
    add_text(&b, "error", str_of(text));
    print(&b);
}

static void print_points(const struct session *s)
{
    static const char *const names[] = {
#define NAME(name) name,
        WPLUGIN_POINTS(NAME)
#undef NAME
    };
    bool is_first = true;
    (void)fputs("{\"points\":[", stdout);
    for (unsigned i = 0; i < ARRAY_LEN(names); i++) {
        if (!(wplugin_points(s->plugin) >> i & 1))
            continue;
        (void)printf("%s\"%s\"", is_first ? "" : ",", names[i]);
        is_first = false;
    }
    struct wplugin_origin origin;
    wplugin_get_origin(s->plugin, &origin);
    (void)fputs("]", stdout);
    if (origin.manifest[0])
        (void)printf(",\"manifest\":\"%s\",\"sha256\":\"%s\"", origin.manifest, origin.sha256);
    (void)fputs("}\n", stdout);
    (void)fflush(stdout);
}

static void add_names(struct buf *to, const struct wplugin_result *r)
{
    add_member(to, "nodeNames");
    if (r->n_node_names == 0)
        (void)buf_add_cstr(to, "null");
    else
        payload_add_name_list(to, r->node_names, r->n_node_names);
}

static void add_scores(struct buf *to, const struct wplugin_result *r)
{
    add_member(to, "scores");
    (void)buf_add_char(to, '[');
    for (size_t i = 0; i < r->n_scores; i++) {
        (void)buf_add_cstr(to, i ? ",[" : "[");
        (void)json_write_str(to, r->scores[i].node);
        (void)buf_printf(to, ",%lld]", (long long)r->scores[i].score);
    }
    (void)buf_add_char(to, ']');
}

static void add_events(struct buf *to, const struct wplugin_result *r)
{
    add_member(to, "events");
    (void)buf_add_char(to, '[');
    for (size_t i = 0; i < r->n_events; i++) {
        (void)buf_add_cstr(to, i ? ",[" : "[");
        (void)json_write_str(to, r->events[i].resource);
        (void)buf_printf(to, ",%u]", r->events[i].actions);
    }
    (void)buf_add_char(to, ']');
}

static void add_result(struct buf *to, enum wplugin_hook hook, const struct wplugin_result *r)
{
    bool has_status = hook != WPLUGIN_HOOK_ENQUEUE && hook != WPLUGIN_HOOK_UNRESERVE &&
                      hook != WPLUGIN_HOOK_POSTBIND;
    if (has_status) {
        add_int(to, "code", r->code);
        add_text(to, "message", r->message);
    }
    if (hook == WPLUGIN_HOOK_PREFILTER)
        add_names(to, r);
    if (hook == WPLUGIN_HOOK_POSTFILTER && !r->has_failed) {
        add_text(to, "nominated", r->nominated);
        add_int(to, "mode", r->mode);
    }
    if (hook == WPLUGIN_HOOK_SCORE)
        add_int(to, "score", r->score);
    if (hook == WPLUGIN_HOOK_NORMALIZESCORE)
        add_scores(to, r);
    if (hook == WPLUGIN_HOOK_PERMIT)
        add_int(to, "timeoutMs", r->timeout_ms);
    if (hook == WPLUGIN_HOOK_ENQUEUE)
        add_events(to, r);
}

static void print_result(struct session *s, enum wplugin_hook hook, const struct wplugin_result *r)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT((size_t)256 << 20);
    (void)buf_add_char(&b, '{');
    add_result(&b, hook, r);
    if (s->has_event)
        add_text(&b, "event", buf_str(&s->event));
    if (s->has_rejected)
        add_text(&b, "rejectedUid", buf_str(&s->rejected));
    add_text(&b, "log", buf_str(&s->log));
    s->has_event = s->has_rejected = false;
    buf_reset(&s->log);
    print(&b);
}

/* ---- the first line ---- */

static int check_type(const struct json *v, const char *name, enum json_type type,
                      const char *type_name, struct err *err)
{
    if (!v || v->type == type || v->type == JSON_NULL)
        return 0;
    return err_set(err, E_INVALID, "'%s' is not %s", name, type_name);
}

/* The members of both kinds of lines. */
static int check_members(const struct json *line, struct err *err)
{
    static const struct {
        const char *name;
        enum json_type type;
        const char *type_name;
    } members[] = {
        { "module", JSON_STRING, "a string" },    { "args", JSON_ARRAY, "an array" },
        { "config", JSON_STRING, "a string" },    { "logSeverity", JSON_NUMBER, "a number" },
        { "waiting", JSON_ARRAY, "an array" },    { "nodes", JSON_ARRAY, "an array" },
        { "hook", JSON_STRING, "a string" },      { "pod", JSON_OBJECT, "an object" },
        { "node", JSON_STRING, "a string" },      { "target", JSON_OBJECT, "an object" },
        { "statuses", JSON_OBJECT, "an object" }, { "scores", JSON_ARRAY, "an array" },
        { "globals", JSON_OBJECT, "an object" },  { "pods", JSON_ARRAY, "an array" },
        { "event", JSON_OBJECT, "an object" },
    };
    int r = 0;
    for (size_t i = 0; i < ARRAY_LEN(members) && r == 0; i++)
        r = check_type(json_getc(line, members[i].name), members[i].name, members[i].type,
                       members[i].type_name, err);
    return r;
}

/* Hand-written objects may share uid and version, so that nothing is kept from one to the next. */
static int add_nodes(struct session *s, struct arena *a, const struct json *list, struct err *err)
{
    int r = 0;
    for (struct json *node = json_first(list), *next; node && r == 0; node = next) {
        next = node->next;
        r = wnodes_add(s->nodes, NULL, a, node, err);
    }
    return r < 0 ? err_ctx(err, r, "nodes") : 0;
}

static int add_pods(struct session *s, struct arena *a, const struct json *list, struct err *err)
{
    int r = 0;
    for (struct json *pod = json_first(list), *next; pod && r == 0; pod = next) {
        next = pod->next;
        r = wnodes_add_pod(s->nodes, NULL, a, pod, err);
    }
    return r < 0 ? err_ctx(err, r, "pods") : 0;
}

static int add_waiting(struct session *s, struct arena *a, const struct json *list, struct err *err)
{
    for (struct json *pod = json_first(list), *next; pod; pod = next) {
        struct scheduler_call_waiting w = { 0 };
        next = pod->next;
        int r = wobject_get(NULL, WOBJECT_POD, a, pod, &w.pod, err);
        if (r < 0)
            return err_ctx(err, r, "waiting");
        w.uid = str_dup(json_str(json_path(pod, "metadata", "uid", NULL)));
        vec_push(&s->waiting, w);
    }
    return 0;
}

/* A path or a URL. What is there is a file, and what looks like one is a path. */
static struct str url_of(struct arena *a, struct str module)
{
    bool has_colon = str_find_char(module, ':') >= 0;
    bool is_path = module.n && (module.p[0] == '/' || module.p[0] == '.');
    bool may_be_path = str_find_char(module, '/') >= 0 || str_find_char(module, '.') >= 0;
    if (!is_path && (has_colon || !may_be_path) && access(str_dup_arena(a, module), F_OK) < 0)
        return module;
    return str_of(arena_printf(a, "file://" STR_FMT, STR_ARG(module)));
}

static void on_loaded(struct wplugin *p, struct str error, void *arg)
{
    struct session *s = arg;
    s->plugin = p;
    s->is_loaded = true;
    (void)buf_add_str(&s->load_error, error);
}

static int read_first(struct session *s, struct arena *a, struct json *line,
                      struct wplugin_config *ret, struct err *err)
{
    struct wplugin_config c = { .name = STR("plugin"), .handle = &handle, .handle_arg = s };
    const struct json *args = json_getc(line, "args"), *severity = json_getc(line, "logSeverity");
    int64_t n = 0;
    int r = check_members(line, err);
    if (r == 0 && severity && severity->type == JSON_NUMBER &&
        (json_int(severity, &n) < 0 || n < INT32_MIN || n > INT32_MAX))
        r = err_set(err, E_INVALID, "'logSeverity' is not a 32-bit integer");
    r = r < 0 ? r : add_nodes(s, a, json_getc(line, "nodes"), err);
    r = r < 0 ? r : add_pods(s, a, json_getc(line, "pods"), err);
    r = r < 0 ? r : add_waiting(s, a, json_getc(line, "waiting"), err);
    if (r < 0)
        return r;
    c.guest_url = url_of(a, json_get_str(line, "module"));
    c.guest_config = json_get_str(line, "config");
    c.log_severity = (int32_t)n;
    c.deterministic = !real_time;
    struct str *to = arena_new_n(a, struct str, (args ? args->n : 0) + 1);
    c.args = to;
    json_each (arg, args) {
        if (arg->type != JSON_STRING)
            return err_set(err, E_INVALID, "'args' is not a list of strings");
        to[c.n_args++] = arg->s;
    }
    *ret = c;
    return 0;
}

static void load(struct session *s, struct arena *a, struct json *line)
{
    struct wplugin_config config;
    struct err err = { 0 };
    s->is_loaded = true;
    buf_reset(&s->load_error);
    if (read_first(s, a, line, &config, &err) < 0) {
        (void)buf_add_cstr(&s->load_error, err_text(&err));
        print_error(err_text(&err));
        return;
    }
    s->is_loaded = false;
    wplugin_load(s->home.host, &config, on_loaded, s);
    while (!s->is_loaded)
        (void)loop_turn(&s->home.loop, true);
    if (s->plugin)
        print_points(s);
    else
        print_error(buf_cstr(&s->load_error));
}

/* ---- the other lines ---- */

struct scheduler_call {
    enum wplugin_hook hook;
    struct wplugin_input in;
    struct wobject *pod, *target, *old, *new;
    struct buf event;
};

static int read_pod(struct arena *a, struct json *v, struct wobject **ret, struct err *err)
{
    *ret = NULL;
    if (!v || v->type == JSON_NULL)
        return 0;
    int r = wobject_get(NULL, WOBJECT_POD, a, v, ret, err);
    return r < 0 ? r : 0;
}

/* What a pod without a uid is known by. */
static struct str key_of(struct arena *a, const struct json *pod)
{
    struct str uid = json_str(json_path(pod, "metadata", "uid", NULL));
    return uid.n ? uid
                 : str_of(arena_printf(
                       a, STR_FMT "/" STR_FMT,
                       STR_ARG(json_str(json_path(pod, "metadata", "namespace", NULL))),
                       STR_ARG(json_str(json_path(pod, "metadata", "name", NULL)))));
}

static int read_names(struct arena *a, const struct json *list, struct wplugin_input *in,
                      struct err *err)
{
    struct str *names = arena_new_n(a, struct str, (list ? list->n : 0) + 1);
    in->nodes = names;
    json_each (name, list) {
        if (name->type != JSON_STRING)
            return err_set(err, E_INVALID, "'nodes' is not a list of names");
        names[in->n_nodes++] = name->s;
    }
    return 0;
}

static int read_codes(struct arena *a, const struct json *obj, const char *what,
                      const struct wplugin_node_code **ret, size_t *ret_n, struct err *err)
{
    struct wplugin_node_code *codes =
        arena_new_n(a, struct wplugin_node_code, (obj ? obj->n : 0) + 1);
    size_t n = 0;
    *ret = codes;
    json_each (member, obj) {
        int64_t value;
        if (member->type != JSON_NUMBER || json_int(member, &value) < 0 || value < INT32_MIN ||
            value > UINT32_MAX)
            return err_set(err, E_INVALID, "'%s' has a value that is not a 32-bit integer", what);
        codes[n++] = (struct wplugin_node_code){ member->key, (int32_t)value };
    }
    *ret_n = n;
    return 0;
}

static int read_scores(struct arena *a, const struct json *list, struct wplugin_input *in,
                       struct err *err)
{
    struct wplugin_node_score *scores =
        arena_new_n(a, struct wplugin_node_score, (list ? list->n : 0) + 1);
    in->scores = scores;
    json_each (pair, list) {
        const struct json *name = json_first(pair);
        int64_t value;
        if (pair->type != JSON_ARRAY || pair->n != 2 || name->type != JSON_STRING ||
            name->next->type != JSON_NUMBER || json_int(name->next, &value) < 0)
            return err_set(err, E_INVALID, "'scores' is not a list of [NAME, SCORE]");
        scores[in->n_scores++] = (struct wplugin_node_score){ name->s, value };
    }
    return 0;
}

/* {"resource", "action", "old", "new"}: objects go apart, as messages. */
static int read_event(struct arena *a, struct json *v, struct scheduler_call *ret, struct err *err)
{
    struct json *old = json_getc(v, "old"), *new = json_getc(v, "new");
    bool is_node = str_is(json_get_str(v, "resource"), "Node");
    bool has_objects = is_node || str_is(json_get_str(v, "resource"), "Pod");
    enum wobject_kind kind = is_node ? WOBJECT_NODE : WOBJECT_POD;
    int r = 0;
    if (!json_is(v, JSON_OBJECT))
        return 0;
    if (has_objects && json_is(old, JSON_OBJECT))
        r = wobject_get(NULL, kind, a, old, &ret->old, err);
    if (r == 0 && has_objects && json_is(new, JSON_OBJECT))
        r = wobject_get(NULL, kind, a, new, &ret->new, err);
    if (r < 0)
        return err_ctx(err, r, "event");
    (void)json_del(v, STR("old"));
    (void)json_del(v, STR("new"));
    r = json_write(&ret->event, v);
    ret->in.event = buf_str(&ret->event);
    ret->in.event_old = ret->old ? ret->old->bytes : STR_NULL;
    ret->in.event_new = ret->new ? ret->new->bytes : STR_NULL;
    return r;
}

static int read_call(struct arena *a, struct json *line, struct scheduler_call *ret,
                     struct err *err)
{
    struct wplugin_input *in = &ret->in;
    struct str hook = json_get_str(line, "hook");
    int r = check_members(line, err);
    if (r < 0)
        return r;
    ret->hook = wplugin_hook_of(hook);
    if (ret->hook == WPLUGIN_HOOK_COUNT)
        return err_set(err, E_INVALID, "there is no hook '" STR_FMT "'",
                       STR_ARG(str_slice(hook, 0, 64)));
    in->node = json_get_str(line, "node");
    in->key = key_of(a, json_getc(line, "pod"));
    r = read_names(a, json_getc(line, "nodes"), in, err);
    r = r < 0 ? r
              : read_codes(a, json_getc(line, "statuses"), "statuses", &in->statuses,
                           &in->n_statuses, err);
    r = r < 0 ? r
              : read_codes(a, json_getc(line, "globals"), "globals", &in->globals, &in->n_globals,
                           err);
    r = r < 0 ? r : read_scores(a, json_getc(line, "scores"), in, err);
    r = r < 0 ? r : read_pod(a, json_getc(line, "pod"), &ret->pod, err);
    r = r < 0 ? r : read_pod(a, json_getc(line, "target"), &ret->target, err);
    r = r < 0 ? r : read_event(a, json_getc(line, "event"), ret, err);
    if (ret->pod)
        in->pod = ret->pod->bytes;
    if (ret->target)
        in->target_pod = ret->target->bytes;
    return r;
}

static void call(struct session *s, struct arena *a, struct json *line)
{
    struct err err = { 0 };
    struct scheduler_call c = { .event = BUF_INIT(BUF_MAX_DEFAULT) };
    if (!s->plugin) {
        print_error(s->load_error.n ? buf_cstr(&s->load_error) : "no plugin is loaded");
        return;
    }
    if (read_call(a, line, &c, &err) < 0) {
        print_error(err_text(&err));
    } else {
        struct wplugin_result result;
        wplugin_call(s->plugin, c.hook, &c.in, a, &result);
        print_result(s, c.hook, &result);
    }
    wobject_unref(c.pod);
    wobject_unref(c.target);
    wobject_unref(c.old);
    wobject_unref(c.new);
    buf_fini(&c.event);
}

static void take_line(struct session *s, struct str text)
{
    struct arena a = { 0 };
    struct err err = { 0 };
    struct json *line;
    if (json_parse(&a, text, NULL, &line, &err) < 0)
        print_error(err_text(&err));
    else if (line->type != JSON_OBJECT)
        print_error("a line is not an object");
    else if (!s->plugin && (!s->is_loaded || json_getc(line, "module")))
        load(s, &a, line);
    else
        call(s, &a, line);
    arena_fini(&a);
}

/* ---- */

static int serve(struct session *s)
{
    scoped(free_scoped) char *text = NULL;
    size_t cap = 0;
    ssize_t n;
    while ((n = getline(&text, &cap, stdin)) >= 0) {
        struct str line = str_trim(str_n(text, (size_t)n));
        if (line.n > LINE_MAX_BYTES)
            print_error("a line is longer than 64 MiB");
        else if (line.n)
            take_line(s, line);
    }
    return CMD_OK;
}

static int run(int argc, char **argv)
{
    size_t n;
    int r = cmd_parse(&cmd_scheduler_call, opts, argc, argv, 0, &n);
    if (r)
        return r - 1;
    struct session s;
    struct err err = { 0 };
    if (session_init(&s, &err) < 0)
        return cmd_fail(CMD_FAILED, &err);
    r = serve(&s);
    session_fini(&s);
    return r;
}

const struct cmd cmd_scheduler_call = {
    .name = "scheduler call",
    .doc = "talk to one scheduler plugin, without a cluster",
    .help =
        "Reads JSON objects, one a line, and answers each with one line. The first one loads the\n"
        "plugin; \"module\" is a file or a URL, and all but it may be left out:\n"
        "\n"
        "  {\"module\": FILE, \"args\": [TEXT...], \"config\": TEXT, \"logSeverity\": N,\n"
        "   \"nodes\": [Node...], \"waiting\": [Pod...]}\n"
        "\n"
        "It is answered by {\"points\": [...]}, the extension points in effect (bind, filter,\n"
        "permit, reserve, score), or by {\"error\": TEXT}. Each further line calls a hook:\n"
        "\n"
        "  {\"hook\": NAME, \"pod\": Pod, \"node\": NAME, \"nodes\": [NAME...], \"target\": Pod,\n"
        "   \"statuses\": {NAME: CODE}, \"scores\": [[NAME, SCORE]...], \"globals\": {NAME: I32}}\n"
        "\n"
        "Hooks: enqueue, prefilter, filter, postfilter, addpod, removepod, prescore, score,\n"
        "normalizescore, reserve, unreserve, permit, prebind, bind, postbind. A line has what its\n"
        "hook takes: \"nodes\" for prescore, \"target\" for addpod and removepod, \"statuses\" "
        "for\n"
        "postfilter, \"scores\" for normalizescore. \"globals\" sets exported mutable globals "
        "first.\n"
        "The answer has, where the hook has it: code, message, nodeNames (null: no restriction),\n"
        "nominated, mode, score, scores, timeoutMs, events ([[RESOURCE, ACTIONS]...]), and what "
        "the\n"
        "plugin did: event (the last one), rejectedUid, log.\n"
        "\n"
        "Of dormouse's own: \"pods\" in the first line, those on the nodes, and the hook\n"
        "queueinghint with \"event\": {\"resource\", \"action\", \"old\", \"new\"} (code 1: "
        "queue).\n"
        "\n"
        "A pod keeps its instance of the plugin from line to line. Clocks and random numbers are\n"
        "the same in each run unless --real-time is given.\n"
        "\n"
        "  printf '%s\\n' '{\"module\": \"p.wasm\", \"nodes\": [{\"metadata\": {\"name\": "
        "\"n1\"}}]}' \\\n"
        "    '{\"hook\": \"filter\", \"pod\": {\"metadata\": {\"uid\": \"1\"}}, \"node\": \"n1\"}' "
        "|\n"
        "    dormouse scheduler call\n",
    .run = run,
    .opts = call_opts,
};
