/* SPDX-License-Identifier: Apache-2.0 */
/* Running one test file; see operator_test_file.h. Reading order: steps, manifests, the file. */
#include "lab/cmd/operator_test_file.h"

#include "base/mem.h"
#include "base/sys.h"
#include "cmd/cmd.h"
#include "codec/yaml.h"
#include "lab/cmd/test_match.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct operator_test_file_run {
    const struct test_project *project;
    struct testbed *bed;
    struct arena arena;
    struct buf *why;
    size_t seen; /* bytes of testbed_writes() before the last step that acted */
};

__attribute__((format(printf, 2, 3))) static int wrong(struct operator_test_file_run *run,
                                                       const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    (void)buf_vprintf(run->why, fmt, ap);
    va_end(ap);
    return E_INVALID;
}

/* ---------------------------------------------------------------- objects */

struct ref {
    struct str api_version, kind, namespace, name;
};

/* The reference of an object, or of a value that names one. */
static struct ref ref_of(const struct json *o)
{
    const struct json *meta = json_getc(o, "metadata");
    const struct json *from = meta ? meta : o;
    return (struct ref){ json_get_str(o, "apiVersion"), json_get_str(o, "kind"),
                         json_get_str(from, "namespace"), json_get_str(from, "name") };
}

static int ask(struct operator_test_file_run *run, const char *method, struct str target,
               const char *type, struct str body, int *status, struct buf *answer)
{
    struct err err = { 0 };
    int r = testbed_request(run->bed, method, target, type, body, status, answer, &err);
    return r < 0 ? wrong(run, "%s " STR_FMT ": %s", method, STR_ARG(target), err_text(&err)) : 0;
}

static int path_of(struct operator_test_file_run *run, const struct ref *ref, const char *query,
                   struct buf *path)
{
    struct err err = { 0 };
    if (!ref->api_version.n || !ref->kind.n)
        return wrong(run, "it needs apiVersion and kind");
    int r =
        testbed_path(run->bed, ref->api_version, ref->kind, ref->namespace, ref->name, path, &err);
    (void)buf_add_cstr(path, query);
    return r < 0 ? wrong(run, "%s", err_text(&err)) : 0;
}

/* The message of a Status, or the bytes. */
static struct str message_of(struct arena *a, const struct buf *answer)
{
    struct json *o;
    struct err ignored;
    if (json_parse(a, buf_str(answer), NULL, &o, &ignored) == 0 && json_get_str(o, "message").n)
        return json_get_str(o, "message");
    return str_slice(buf_str(answer), 0, 500);
}

static int change(struct operator_test_file_run *run, const char *method, const struct ref *ref,
                  const char *query, const char *type, struct str body)
{
    scoped(buf_fini_scoped) struct buf path = BUF_INIT(16 << 10);
    scoped(buf_fini_scoped) struct buf answer = BUF_INIT(TESTBED_ANSWER_MAX_BYTES);
    int status, r = path_of(run, ref, query, &path);
    if (r == 0 && !ref->name.n)
        r = wrong(run, "it needs a name");
    if (r == 0)
        r = ask(run, method, buf_str(&path), type, body, &status, &answer);
    if (r == 0 && status / 100 != 2)
        r = wrong(run, "%s %s: %d " STR_FMT, method, buf_cstr(&path), status,
                  STR_ARG(message_of(&run->arena, &answer)));
    return r;
}

/* Server-side apply; then the status and other subresources of the object. */
static int apply(struct operator_test_file_run *run, const struct json *o)
{
    scoped(buf_fini_scoped) struct buf body = BUF_INIT(TEST_FILE_MAX_BYTES);
    struct ref ref = ref_of(o);
    (void)json_write(&body, o);
    int r = change(run, "PATCH", &ref, "?fieldManager=test&force=true",
                   "application/apply-patch+yaml", buf_str(&body));
    if (r < 0 || !json_getc(o, "status"))
        return r;
    buf_reset(&body);
    (void)buf_add_cstr(&body, "{\"status\":");
    (void)json_write(&body, json_getc(o, "status"));
    (void)buf_add_char(&body, '}');
    scoped(buf_fini_scoped) struct buf path = BUF_INIT(16 << 10);
    scoped(buf_fini_scoped) struct buf answer = BUF_INIT(TESTBED_ANSWER_MAX_BYTES);
    int status;
    r = path_of(run, &ref, "/status?fieldManager=test", &path);
    if (r == 0) /* 404: the kind has no such subresource, and the object was applied with it */
        r = ask(run, "PATCH", buf_str(&path), "application/merge-patch+json", buf_str(&body),
                &status, &answer);
    return r;
}

/* Get the object, or the list if `ref` has no name. After a 404, *ret is NULL. */
static int read_back(struct operator_test_file_run *run, const struct ref *ref, struct json **ret)
{
    scoped(buf_fini_scoped) struct buf path = BUF_INIT(16 << 10);
    scoped(buf_fini_scoped) struct buf answer = BUF_INIT(TESTBED_ANSWER_MAX_BYTES);
    struct err err = { 0 };
    int status, r = path_of(run, ref, "", &path);
    *ret = NULL;
    if (r == 0)
        r = ask(run, "GET", buf_str(&path), NULL, STR(""), &status, &answer);
    if (r == 0 && status == 200) {
        char *kept = arena_strndup(&run->arena, answer.p, answer.n);
        r = json_parse(&run->arena, str_n(kept, answer.n), NULL, ret, &err);
    } else if (r == 0 && status != 404) {
        r = wrong(run, "GET %s: %d " STR_FMT, buf_cstr(&path), status,
                  STR_ARG(message_of(&run->arena, &answer)));
    }
    return r;
}

/* The items of lists have no apiVersion and kind, which an expected item may have. */
static bool matches(struct operator_test_file_run *run, const struct json *wanted,
                    const struct json *item, struct buf *why)
{
    struct json *part = json_clone(&run->arena, wanted);
    if (!json_getc(item, "kind")) {
        (void)json_del(part, STR("kind"));
        (void)json_del(part, STR("apiVersion"));
    }
    return test_match(part, item, why);
}

static const struct json *find_item(struct operator_test_file_run *run, const struct json *list,
                                    const struct json *wanted, struct buf *why)
{
    json_each (item, json_getc(list, "items")) {
        buf_reset(why);
        if (matches(run, wanted, item, why))
            return item;
    }
    return NULL;
}

/* ---------------------------------------------------------------- steps that act */

static int step_apply(struct operator_test_file_run *run, const struct json *o)
{
    return apply(run, o);
}

static int step_patch(struct operator_test_file_run *run, const struct json *o)
{
    scoped(buf_fini_scoped) struct buf body = BUF_INIT(TEST_FILE_MAX_BYTES);
    struct ref ref = ref_of(o);
    struct str sub = json_get_str(o, "subresource");
    char query[128];
    if (!json_getc(o, "merge"))
        return wrong(run, "it needs 'merge', a JSON merge patch");
    (void)snprintf(query, sizeof query, "%s" STR_FMT "?fieldManager=test", sub.n ? "/" : "",
                   STR_ARG(sub));
    (void)json_write(&body, json_getc(o, "merge"));
    return change(run, "PATCH", &ref, query, "application/merge-patch+json", buf_str(&body));
}

static int step_delete(struct operator_test_file_run *run, const struct json *o)
{
    struct ref ref = ref_of(o);
    return change(run, "DELETE", &ref, "", NULL, STR(""));
}

/* Durations as in Go: 90s, 1h30m, 2h45m10s, 500ms; also days: 3d. */
static int parse_span(struct str text, uint64_t *ret_ms)
{
    static const struct {
        const char *unit;
        uint64_t ms;
    } units[] = { { "ms", 1 }, { "s", 1000 }, { "m", 60000 }, { "h", 3600000 }, { "d", 86400000 } };
    *ret_ms = 0;
    while (text.n) {
        size_t digits = 0, letters = 0, unit = 0;
        uint64_t n;
        while (digits < text.n && text.p[digits] >= '0' && text.p[digits] <= '9')
            digits++;
        while (digits + letters < text.n && text.p[digits + letters] >= 'a')
            letters++;
        struct str name = str_slice(text, digits, digits + letters);
        while (unit < ARRAY_LEN(units) && !str_is(name, units[unit].unit))
            unit++;
        if (unit == ARRAY_LEN(units) ||
            parse_u64(str_slice(text, 0, digits), 0, UINT32_MAX, &n) < 0)
            return E_INVALID;
        *ret_ms += n * units[unit].ms;
        text = str_slice(text, digits + letters, text.n);
    }
    return *ret_ms ? 0 : E_INVALID;
}

static int step_advance(struct operator_test_file_run *run, const struct json *o)
{
    uint64_t ms;
    struct err err = { 0 };
    if (parse_span(json_str(o), &ms) < 0)
        return wrong(run, "'" STR_FMT "' is no time such as 90s, 1h30m or 7d",
                     STR_ARG(json_str(o)));
    return testbed_advance(run->bed, ms, &err) < 0 ? wrong(run, "%s", err_text(&err)) : 0;
}

static int step_sleep(struct operator_test_file_run *run, const struct json *o)
{
    struct err err = { 0 };
    return testbed_sleep(run->bed, &err) < 0 ? wrong(run, "%s", err_text(&err)) : 0;
}

static int step_fail(struct operator_test_file_run *run, const struct json *o)
{
    int64_t status = json_int_or(json_getc(o, "status"), 503);
    int64_t times = json_int_or(json_getc(o, "times"), 1);
    if (!json_get_str(o, "path").n || status < 400 || status > 599 || times < 1)
        return wrong(run,
                     "it needs 'path', and may have 'method', 'status' (4xx, 5xx) and 'times'");
    testbed_fail(run->bed, json_get_str(o, "method"), json_get_str(o, "path"), (int)status,
                 (uint64_t)times);
    return 0;
}

/* ---------------------------------------------------------------- steps that check */

static int expect_one(struct operator_test_file_run *run, const struct json *wanted)
{
    scoped(buf_fini_scoped) struct buf why = BUF_INIT(64 << 10);
    struct ref ref = ref_of(wanted);
    struct json *got;
    int r = read_back(run, &ref, &got);
    if (r < 0)
        return r;
    if (!ref.name.n && !find_item(run, got, wanted, &why))
        return wrong(run, "none of these is as expected; of the last one looked at: %s",
                     why.n ? buf_cstr(&why) : "there are none");
    if (ref.name.n && !got)
        return wrong(run, STR_FMT " '" STR_FMT "' is not there", STR_ARG(ref.kind),
                     STR_ARG(ref.name));
    if (ref.name.n && !matches(run, wanted, got, &why))
        return wrong(run, "%s", buf_cstr(&why));
    return 0;
}

static int step_expect(struct operator_test_file_run *run, const struct json *o)
{
    if (!json_is(o, JSON_ARRAY))
        return expect_one(run, o);
    int r = 0;
    json_each (wanted, o)
        if (r == 0)
            r = expect_one(run, wanted);
    return r;
}

static int step_absent(struct operator_test_file_run *run, const struct json *o)
{
    scoped(buf_fini_scoped) struct buf why = BUF_INIT(64 << 10);
    struct ref ref = ref_of(o);
    struct json *got;
    int r = read_back(run, &ref, &got);
    if (r == 0 && ref.name.n && got)
        r = wrong(run, STR_FMT " '" STR_FMT "' is there", STR_ARG(ref.kind), STR_ARG(ref.name));
    else if (r == 0 && !ref.name.n && find_item(run, got, o, &why))
        r = wrong(run, "one of these is there");
    return r;
}

static int step_event(struct operator_test_file_run *run, const struct json *o)
{
    scoped(buf_fini_scoped) struct buf why = BUF_INIT(64 << 10);
    struct ref all = { STR("events.k8s.io/v1"), STR("Event"), json_get_str(o, "namespace"),
                       STR_NULL };
    struct json *list, *wanted = json_clone(&run->arena, o);
    (void)json_del(wanted, STR("namespace"));
    int r = read_back(run, &all, &list);
    if (r == 0 && !find_item(run, list, wanted, &why))
        r = wrong(run, "there is no such event; of the last one looked at: %s",
                  why.n ? buf_cstr(&why) : "there are none");
    return r;
}

static size_t count_lines(struct str text)
{
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++)
        n += text.p[i] == '\n';
    return n;
}

/* Writes of the operator since the last step that acted. */
static int step_writes(struct operator_test_file_run *run, const struct json *o)
{
    struct str new = str_slice(testbed_writes(run->bed), run->seen, SIZE_MAX);
    int64_t wanted;
    if (json_int(o, &wanted) < 0)
        return wrong(run, "it needs a number");
    if (count_lines(new) == (size_t)wanted)
        return 0;
    return wrong(run, "the operator has written %zu times, expected %lld:\n" STR_FMT,
                 count_lines(new), (long long)wanted, STR_ARG(str_slice(new, 0, 4000)));
}

/* ---------------------------------------------------------------- one step */

static const struct {
    const char *name;
    int (*run)(struct operator_test_file_run *run, const struct json *o);
    bool acts;
} steps[] = {
    { "apply", step_apply, true },    { "patch", step_patch, true },
    { "delete", step_delete, true },  { "advance", step_advance, true },
    { "sleep", step_sleep, true },    { "fail", step_fail, true },
    { "expect", step_expect, false }, { "absent", step_absent, false },
    { "event", step_event, false },   { "writes", step_writes, false },
};

static int run_step(struct operator_test_file_run *run, const struct json *step,
                    const char **ret_name)
{
    const struct json *o = json_first(step);
    struct err err = { 0 };
    *ret_name = "?";
    if (!json_is(step, JSON_OBJECT) || !o || o->next)
        return wrong(run, "a step is one of apply, patch, delete, advance, sleep, fail, expect, "
                          "absent, event, writes");
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        if (!str_is(o->key, steps[i].name))
            continue;
        *ret_name = steps[i].name;
        if (!steps[i].acts)
            return steps[i].run(run, o);
        run->seen = testbed_writes(run->bed).n;
        int r = steps[i].run(run, o);
        return r == 0 && testbed_settle(run->bed, &err) < 0 ? wrong(run, "%s", err_text(&err)) : r;
    }
    return wrong(run, "there is no step '" STR_FMT "'", STR_ARG(o->key));
}

/* ---------------------------------------------------------------- manifests */

static int make_namespace(struct operator_test_file_run *run, struct str name)
{
    struct json *o = json_new_object(&run->arena);
    json_set_str(&run->arena, o, "apiVersion", STR("v1"));
    json_set_str(&run->arena, o, "kind", STR("Namespace"));
    json_set_str(&run->arena, json_obj(&run->arena, o, "metadata"), "name", name);
    return apply(run, o);
}

/* Set the module of the manifest to the built one. */
static void name_module(struct operator_test_file_run *run, struct json *o)
{
    struct json *spec = json_obj(&run->arena, o, "spec");
    struct json *module = json_new_object(&run->arena);
    json_set_str(&run->arena, module, "file", str_of(run->project->module));
    json_setc(&run->arena, spec, "module", module);
}

/* Apply all documents. A missing namespace of an object is created first. */
static int apply_all(struct operator_test_file_run *run, const struct json *documents,
                     const char *from)
{
    json_each (o, documents) {
        struct ref ref = ref_of(o);
        int r = 0;
        if (!json_is(o, JSON_OBJECT))
            continue;
        if (ref.namespace.n && !str_is(ref.namespace, "default"))
            r = make_namespace(run, ref.namespace);
        if (str_is(ref.kind, "Operator"))
            name_module(run, o);
        if (r == 0)
            r = apply(run, o);
        if (r < 0)
            return wrong(run, " (%s)", from);
    }
    return 0;
}

static int read_documents(struct operator_test_file_run *run, const char *path, struct json **ret,
                          bool *ret_there)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(TEST_FILE_MAX_BYTES);
    struct err err = { 0 };
    int r = sys_read_file(AT_FDCWD, path, &text, &err);
    *ret_there = r >= 0;
    *ret = NULL;
    if (r == -ENOENT)
        return 0;
    if (r >= 0)
        r = yaml_parse_all(&run->arena, buf_str(&text), NULL, ret, &err);
    return r < 0 ? wrong(run, "%s: %s", path, err_text(&err)) : 0;
}

static int apply_manifest(struct operator_test_file_run *run, const char *name, bool *ret_there)
{
    scoped(free_scoped) char *path = xasprintf("%s/%s", run->project->dir, name);
    struct json *documents;
    int r = read_documents(run, path, &documents, ret_there);
    return r < 0 ? r : apply_all(run, documents, path);
}

static int is_yaml(const struct dirent *e)
{
    struct str name = str_of(e->d_name);
    return name.p[0] != '.' &&
           (str_has_suffix(name, STR(".yaml")) || str_has_suffix(name, STR(".yml")));
}

static int apply_directory(struct operator_test_file_run *run, const char *name)
{
    scoped(free_scoped) char *path = xasprintf("%s/%s", run->project->dir, name);
    struct dirent **entries;
    int n = scandir(path, &entries, is_yaml, alphasort), r = 0;
    for (int i = 0; i < n; i++) {
        scoped(free_scoped) char *below = xasprintf("%s/%s", name, entries[i]->d_name);
        bool there;
        if (r == 0)
            r = apply_manifest(run, below, &there);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    return r;
}

/* For a project without manifests: an operator with all rights. */
static const char plain_operator[] = "apiVersion: dormouse.dev/v1alpha1\n"
                                     "kind: Operator\n"
                                     "metadata: {name: tested, namespace: default}\n"
                                     "spec: {module: {file: %s}}\n";
static const char plain_rights[] =
    "apiVersion: rbac.authorization.k8s.io/v1\n"
    "kind: ClusterRoleBinding\n"
    "metadata: {name: tested}\n"
    "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}\n"
    "subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: "
    "'system:serviceaccounts'}]\n";

static int apply_text(struct operator_test_file_run *run, const char *text)
{
    struct json *documents;
    struct err err = { 0 };
    int r = yaml_parse_all(&run->arena, str_of(text), NULL, &documents, &err);
    return r < 0 ? r : apply_all(run, documents, "built in");
}

/* Definitions come first, since the other objects may need them; the operator comes last. */
static int set_up(struct operator_test_file_run *run, const struct json *objects)
{
    bool there, has_operator = false;
    struct err err = { 0 };
    int r = apply_manifest(run, "crd.yaml", &there);
    if (r == 0)
        r = apply_directory(run, "crds");
    if (r == 0)
        r = apply_manifest(run, "rbac.yaml", &there);
    if (r == 0 && !there)
        r = apply_text(run, plain_rights);
    if (r == 0)
        r = apply_all(run, objects, "objects");
    if (r == 0)
        r = apply_manifest(run, "operator.yaml", &has_operator);
    if (r == 0 && !has_operator) {
        scoped(free_scoped) char *text = xasprintf(plain_operator, run->project->module);
        r = apply_text(run, text);
    }
    return r == 0 && testbed_settle(run->bed, &err) < 0 ? wrong(run, "%s", err_text(&err)) : r;
}

/* ---------------------------------------------------------------- recorded files */

static int normalized_writes(struct operator_test_file_run *run, struct buf *to)
{
    struct str left = testbed_writes(run->bed), line;
    struct err err = { 0 };
    while (str_cut(left, '\n', &line, &left)) {
        struct json *o;
        if (json_parse(&run->arena, line, NULL, &o, &err) < 0)
            return wrong(run, "%s", err_text(&err));
        test_normalize(&run->arena, o);
        (void)json_write(to, o);
        (void)buf_add_char(to, '\n');
    }
    return 0;
}

/* Report the first line that differs. */
static int compare(struct operator_test_file_run *run, const char *path, struct str wanted,
                   struct str got)
{
    struct str w, g;
    for (unsigned n = 1;; n++) {
        bool more_w = str_cut(wanted, '\n', &w, &wanted), more_g = str_cut(got, '\n', &g, &got);
        if (!more_w && !more_g)
            return 0;
        if (!str_eq(w, g))
            return wrong(
                run,
                "the operator's writes are not those recorded in %s; number %u is\n  " STR_FMT
                "\nexpected\n  " STR_FMT "\n(--update records it again)",
                path, n, STR_ARG(more_g ? g : STR("not there")),
                STR_ARG(more_w ? w : STR("nothing")));
    }
}

static int check_recorded(struct operator_test_file_run *run, const char *test_path)
{
    scoped(free_scoped) char *path = xasprintf("%s.recorded", test_path);
    scoped(buf_fini_scoped) struct buf got = BUF_INIT(TESTBED_WRITES_MAX_BYTES);
    scoped(buf_fini_scoped) struct buf wanted = BUF_INIT(TESTBED_WRITES_MAX_BYTES);
    struct err err = { 0 };
    int r = normalized_writes(run, &got);
    if (r < 0)
        return r;
    if (run->project->update) {
        r = sys_write_file_atomic(AT_FDCWD, path, buf_str(&got), 0644, &err);
        return r < 0 ? wrong(run, "%s: %s", path, err_text(&err)) : 0;
    }
    r = sys_read_file(AT_FDCWD, path, &wanted, &err);
    if (r == -ENOENT)
        return 0; /* nothing is recorded */
    if (r < 0)
        return wrong(run, "%s: %s", path, err_text(&err));
    return compare(run, path, buf_str(&wanted), buf_str(&got));
}

/* ---------------------------------------------------------------- the file */

static int run_steps(struct operator_test_file_run *run, const struct json *test,
                     const struct yaml_marks *marks, unsigned *ret_steps)
{
    json_each (step, json_getc(test, "steps")) {
        const char *name;
        scoped(buf_fini_scoped) struct buf what = BUF_INIT(256 << 10);
        struct buf *why = run->why;
        run->why = &what;
        int r = run_step(run, step, &name);
        run->why = why;
        ++*ret_steps;
        if (r == 0)
            continue;
        const struct yaml_mark *mark = yaml_find_mark(marks, step);
        return wrong(run, "step %u (%s, line %u): %s", *ret_steps, name, mark ? mark->line : 0,
                     buf_cstr(&what));
    }
    return 0;
}

static int check_file(struct operator_test_file_run *run, const struct json *test)
{
    static const char *const members[] = { "name", "objects", "steps" };
    json_each (m, test) {
        bool known = false;
        for (size_t i = 0; i < ARRAY_LEN(members); i++)
            known = known || str_is(m->key, members[i]);
        if (!known)
            return wrong(run, "'" STR_FMT "' is none of name, objects, steps", STR_ARG(m->key));
    }
    return json_is(json_getc(test, "steps"), JSON_ARRAY) ? 0 : wrong(run, "it has no 'steps'");
}

/*
 * The directory for compiled modules: the one of servers with the default data directory. Given,
 * free(); NULL: there is none that belongs to this user.
 */
static char *find_code_dir(void)
{
    scoped(free_scoped) char *data = cmd_find_data_dir(NULL);
    if (!data)
        return NULL;
    scoped(free_scoped) char *dir = xasprintf("%s/modules", data);
    struct err err = { 0 };
    struct stat st;
    /* Files in this directory are executed. The cache makes the same check and fails; a test also
     * works without the directory. */
    if (sys_mkdir_all(dir, 0700, &err) < 0 || lstat(dir, &st) < 0 || !S_ISDIR(st.st_mode) ||
        st.st_uid != geteuid() || (st.st_mode & 022) || access(dir, W_OK) < 0)
        return NULL;
    return take_ptr(&dir);
}

static int run_test(struct operator_test_file_run *run, const char *path, const struct json *test,
                    const struct yaml_marks *marks, const char *data_dir, unsigned *ret_steps)
{
    struct err err = { 0 };
    int r = check_file(run, test);
    scoped(free_scoped) char *code_dir = find_code_dir();
    if (r == 0 && testbed_start(data_dir, run->project->dir, code_dir, &run->bed, &err) < 0)
        r = wrong(run, "%s", err_text(&err));
    if (r == 0)
        r = set_up(run, json_getc(test, "objects"));
    if (r == 0)
        r = run_steps(run, test, marks, ret_steps);
    if (r == 0)
        r = check_recorded(run, path);
    if (r < 0 && run->bed) {
        (void)buf_add_char(run->why, '\n');
        (void)testbed_trouble(run->bed, run->why);
    }
    testbed_stop(run->bed);
    return r;
}

int operator_test_file_run(const struct test_project *project, const char *path,
                           const char *data_dir, unsigned *ret_steps, struct buf *why)
{
    struct operator_test_file_run run = { .project = project, .why = why };
    struct yaml_marks marks = { 0 };
    struct yaml_opts opts = { .marks = &marks };
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(TEST_FILE_MAX_BYTES);
    struct json *test;
    struct err err = { 0 };
    *ret_steps = 0;
    int r = sys_read_file(AT_FDCWD, path, &text, &err);
    if (r >= 0)
        r = yaml_parse(&run.arena, buf_str(&text), &opts, &test, &err);
    if (r < 0)
        (void)wrong(&run, "%s", err_text(&err));
    else
        r = run_test(&run, path, test, &marks, data_dir, ret_steps);
    yaml_marks_fini(&marks);
    arena_fini(&run.arena);
    return r;
}
