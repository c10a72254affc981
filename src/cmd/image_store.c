/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/image_store.h"

#include "base/buf.h"
#include "base/clock.h"
#include "codec/json.h"
#include "image/store_ask.h"

#include <errno.h>

enum {
    OUTPUT_MAX_BYTES = 256 << 20,
    TURN_MS = 100,     /* for the lock, before a process that takes jobs is looked for again */
    CONTROL_MS = 5000, /* for one that is about to take jobs, or to end */
    ENDS_MAX = 4,      /* processes that end with the job; after each the wait begins again */
};

int image_store_output(const char *word, enum image_store_output *ret)
{
    static const char *const words[] = {
        [IMAGE_STORE_TABLE] = "table", [IMAGE_STORE_JSON] = "json", [IMAGE_STORE_NAME] = "name"
    };
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (strcmp(word ? word : "table", words[i]) == 0) {
            *ret = (enum image_store_output)i;
            return 0;
        }
    return cmd_failf(CMD_USAGE, "--output is table, json or name, not '%s'", word);
}

int image_text_output(const char *word, bool *ret_is_json)
{
    bool is_json = word && strcmp(word, "json") == 0;
    if (word && !is_json && strcmp(word, "text") != 0)
        return cmd_failf(CMD_USAGE, "--output is text or json, not '%s'", word);
    *ret_is_json = is_json;
    return 0;
}

char *image_store_dir(const char *given)
{
    const char *env = getenv("DORMOUSE_IMAGE_STORE");
    if (given || (env && *env))
        return xstrdup(given ? given : env);
    scoped(free_scoped) char *data = cmd_data_dir(NULL);
    return xasprintf("%s/images", data);
}

int image_store_policy(const char *word, enum image_cache_policy *ret)
{
    enum image_cache_policy p = word ? image_cache_policy_of(str_of(word)) : IMAGE_CACHE_ARC;
    if (p == IMAGE_CACHE_POLICIES)
        return cmd_failf(CMD_USAGE, "--policy is arc, lru or lfu, not '%s'", word);
    *ret = p;
    return 0;
}

int image_store_open(const char *given, struct oci_store_opts opts, struct oci_store **ret,
                     struct err *err)
{
    return image_store_open_with(given, opts, IMAGE_CACHE_ARC, ret, err);
}

static int no_store(const char *dir, struct err *err)
{
    return err_set(err, -ENOENT, "no images are in '%s' yet; 'dormouse image pull' brings one",
                   dir);
}

static int busy(const struct err *why, uint64_t lock_ms, struct err *err)
{
    return err_set(err, -EBUSY, "%s%s", err_text(why),
                   lock_ms ? "" : "; --wait 1m waits for its end");
}

int image_store_open_with(const char *given, struct oci_store_opts opts,
                          enum image_cache_policy policy, struct oci_store **ret, struct err *err)
{
    scoped(free_scoped) char *dir = image_store_dir(given);
    opts.root = dir;
    struct err why = { 0 };
    int r = layer_cache_open_store(&opts, policy, ret, &why);
    if (r == -ENOENT && (opts.is_reader || opts.must_exist))
        return no_store(dir, err);
    if (r == -EBUSY)
        return busy(&why, opts.lock_ms, err);
    return r < 0 ? err_set(err, r, "%s", err_text(&why)) : r;
}

void image_store_close(struct oci_store *s)
{
    if (s)
        (void)oci_store_sweep(s, SIZE_MAX, NULL);
    oci_store_close(s);
}

static int do_here(const struct image_store_job *j, struct oci_store *s, struct arena *a,
                   struct json **ret, struct err *err)
{
    const struct store_job_watch watch = { .on_event = j->on_event, .arg = j->arg };
    int r = store_job_run(s, &j->job, &watch, a, ret, err);
    image_store_close(s);
    return r;
}

/* How long a process may take until it begins. */
static uint64_t taken_ms(const struct image_store_job *j)
{
    return MAX(j->opts.lock_ms, (uint64_t)STORE_ASK_TAKEN_MS);
}

/* As store_ask(); STORE_ASKED_DONE also here. why: of the process that has the lock. */
static int try_job(struct image_store_job *j, uint64_t lock_ms, struct arena *a, struct json **ret,
                   struct err *why, struct err *err)
{
    struct oci_store *s;
    struct oci_store_opts opts = j->opts;
    opts.lock_ms = lock_ms;
    int r = layer_cache_open_store(&opts, j->policy, &s, why);
    if (r >= 0)
        return (r = do_here(j, s, a, ret, err)) < 0 ? r : STORE_ASKED_DONE;
    if (r == -ENOENT && opts.must_exist)
        return no_store(opts.root, err);
    if (r != -EBUSY)
        return err_set(err, r, "%s", err_text(why));
    if (j->alone)
        return STORE_ASKED_NO_ONE;
    r = store_ask(opts.root, &j->job, taken_ms(j), j->on_event, j->arg, a, ret, err);
    j->job.is_again |= r == STORE_ASKED_LOST;
    return r;
}

static int late(const struct image_store_job *j, const struct err *why, struct err *err)
{
    return err_set(err, -EBUSY, "%s, and has not begun within %llu s%s", err_text(why),
                   (unsigned long long)taken_ms(j) / 1000,
                   j->opts.lock_ms < taken_ms(j) ? "; --wait 1m waits longer" : "");
}

/* How long to try: one that takes jobs may be about to open its store, or to close it. */
static uint64_t patience_ms(const struct image_store_job *j, bool had_control)
{
    return had_control && !j->alone ? MAX(j->opts.lock_ms, (uint64_t)CONTROL_MS) : j->opts.lock_ms;
}

int image_store_do(struct image_store_job *j, struct arena *a, struct json **ret, struct err *err)
{
    scoped(free_scoped) char *dir = image_store_dir(j->given);
    uint64_t since = clock_mono_ms();
    unsigned n_ends = 0;
    bool had_control = false;
    struct err why = { 0 };
    struct oci_store_holder holder;
    j->opts.root = dir;
    for (uint64_t lock_ms = 0;;) {
        int r = try_job(j, lock_ms, a, ret, &why, err);
        if (r < 0 || r == STORE_ASKED_DONE)
            return r < 0 ? r : 0;
        if (r == STORE_ASKED_LATE)
            return late(j, &why, err);
        if (r != STORE_ASKED_NO_ONE && n_ends++ < ENDS_MAX)
            since = clock_mono_ms(); /* before that it may have worked for long */
        oci_store_holder(dir, &holder);
        had_control |= holder.has_control;
        uint64_t passed = clock_mono_ms() - since, all = patience_ms(j, had_control);
        if (passed >= all)
            break;
        lock_ms = MIN(all - passed, (uint64_t)TURN_MS);
    }
    return j->alone && holder.has_control
               ? err_set(err, -EBUSY, "%s, and %s", err_text(&why), j->alone)
               : busy(&why, j->opts.lock_ms, err);
}

void image_store_print_json(const struct json *v)
{
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(OUTPUT_MAX_BYTES);
    (void)json_write_pretty(&out, v, 2);
    (void)printf(STR_FMT "\n", STR_ARG(buf_str(&out)));
}

void image_store_print_name(struct str name)
{
    scoped(buf_fini_scoped) struct buf safe = BUF_INIT(OUTPUT_MAX_BYTES);
    cmd_add_safe(&safe, name);
    (void)printf(STR_FMT "\n", STR_ARG(buf_str(&safe)));
}
