/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs and CronJobs. */
#include "kube/rules/validate/check.h"
#include "kube/rules/validate/validate.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/stat.h>

/* Generated from text/batch.txt. */
#include "kube/rules/batch_rules.h"

#define ZONES "/usr/share/zoneinfo"

enum {
    INDEXED_PARALLELISM_MAX = 100000,
    FAILED_INDEXES_MAX = 100000,
    MANY_COMPLETIONS = 100000, /* above this, with a backoff limit per index, lower limits apply */
    MANY_PARALLELISM_MAX = 10000,
    POLICY_RULES_MAX = 20,
    EXIT_CODES_MAX = 255,
    POD_CONDITIONS_MAX = 20,
    MANAGED_BY_MAX_BYTES = 63,
    CRON_NAME_MAX_BYTES = 52, /* names of the Jobs are eleven characters longer */
};

/* ---- completion ---- */

static void at_most(const struct validate_value *s, int64_t most, const char *detail)
{
    if (s->v && value_number(s) > most)
        report_invalid(s, detail);
}

#define WITH_INDEX_LIMIT "when completions are above 100000 and used with backoff limit per index"

static void indexed(const struct validate_value *spec)
{
    MEMBER(completions, spec, "completions");
    MEMBER(parallelism, spec, "parallelism");
    MEMBER(failed, spec, "maxFailedIndexes");
    if (!completions.v)
        report_required(&completions, "when completion mode is Indexed");
    at_most(&parallelism, INDEXED_PARALLELISM_MAX,
            "must be less than or equal to 100000 when completion mode is Indexed");
    if (completions.v)
        at_most(&failed, value_number(&completions), "must be less than or equal to completions");
    at_most(&failed, FAILED_INDEXES_MAX, "must be less than or equal to 100000");
    if (value_number(&completions) <= MANY_COMPLETIONS || !value_has(spec, "backoffLimitPerIndex"))
        return;
    if (!failed.v)
        report_required(&failed, "must be specified when completions is above 100000");
    at_most(&parallelism, MANY_PARALLELISM_MAX,
            "must be less than or equal to 10000 " WITH_INDEX_LIMIT);
    at_most(&failed, MANY_PARALLELISM_MAX, "must be less than or equal to 10000 " WITH_INDEX_LIMIT);
}

static void completion(const struct validate_value *spec)
{
    static const char *const only_indexed[] = { "backoffLimitPerIndex", "maxFailedIndexes" };
    MEMBER(mode, spec, "completionMode");
    validate_enum_if_set(&mode, &enum_completion_modes);
    if (value_is(&mode, "Indexed"))
        indexed(spec);
    if (mode.v && !value_is(&mode, "NonIndexed"))
        return;
    for (size_t i = 0; i < ARRAY_LEN(only_indexed); i++) {
        MEMBER(m, spec, only_indexed[i]);
        if (m.v)
            report_invalid(&m, "requires indexed completion mode");
    }
}

/* ---- failure and success ---- */

static void valid_values(const struct validate_value *s, const struct validate_enum *w)
{
    struct buf b = BUF_INIT(1024);
    (void)buf_add_cstr(&b, "valid values: [");
    for (size_t i = 0; i < w->n; i++) {
        (void)buf_add_cstr(&b, i ? " " : "");
        field_go_quote(&b, w->p[i]);
    }
    (void)buf_add_char(&b, ']');
    if (value_text(s).n == 0)
        report_required(s, buf_cstr(&b));
    else
        validate_enum_strict(s, w);
    buf_fini(&b);
}

static void exit_code_values(const struct validate_value *list, bool is_in)
{
    struct map seen = { 0 };
    int64_t before = INT64_MIN;
    bool ordered = true;
    value_each (value, i, list) {
        int64_t n = value_number(&value);
        struct str id = value.v ? value.v->s : STR("");
        if (is_in && n == 0)
            report_invalid_number(&value, "must not be 0 for the In operator");
        if (map_put(&seen, id, &seen))
            report_duplicate(&value);
        ordered = ordered && n >= before;
        before = n;
    }
    if (!ordered)
        report_invalid(list, "must be ordered");
    map_fini(&seen);
}

static void exit_codes(const struct validate_value *s, const struct map *containers)
{
    MEMBER(op, s, "operator");
    MEMBER(name, s, "containerName");
    MEMBER(values, s, "values");
    valid_values(&op, &enum_exit_codes_operators);
    if (name.v && !map_has(containers, value_text(&name)))
        report_invalid_text(&name, "must be one of the container or initContainer names in the pod "
                                   "template");
    if (value_count(&values) == 0)
        report_invalid(&values, "at least one value is required");
    else if (value_count(&values) > EXIT_CODES_MAX)
        report_too_many(&values, EXIT_CODES_MAX);
    exit_code_values(&values, value_is(&op, "In"));
}

static void pod_conditions(const struct validate_value *list)
{
    if (value_count(list) > POD_CONDITIONS_MAX)
        report_too_many(list, POD_CONDITIONS_MAX);
    value_each (pattern, i, list) {
        MEMBER(type, &pattern, "type");
        MEMBER(status, &pattern, "status");
        validate_qualified_name(&type, NULL);
        valid_values(&status, &enum_pod_conditions_states);
    }
}

/* Upstream's errors of this kind have no value. */
static void say_wrong(const struct validate_value *s, const char *detail)
{
    field_error(s->errs, FIELD_INVALID, value_path(s), NULL, "%s", detail);
}

static void failure_rule(const struct validate_value *s, const struct validate_value *spec,
                         const struct map *containers)
{
    MEMBER(action, s, "action");
    MEMBER(codes, s, "onExitCodes");
    MEMBER(conditions, s, "onPodConditions");
    if (!value_is(&action, "FailIndex"))
        valid_values(&action, &enum_failure_rule_actions);
    else if (!value_has(spec, "backoffLimitPerIndex"))
        report_invalid_text(&action, "requires the backoffLimitPerIndex to be set");
    if (codes.v)
        exit_codes(&codes, containers);
    pod_conditions(&conditions);
    if (codes.v && value_count(&conditions))
        say_wrong(s, "specifying both OnExitCodes and OnPodConditions is not supported");
    if (!codes.v && !value_count(&conditions))
        say_wrong(s, "specifying one of OnExitCodes and OnPodConditions is required");
}

static void failure_policy(const struct validate_value *s, const struct validate_value *spec)
{
    static const char *const lists[] = { "containers", "initContainers" };
    struct map containers = { 0 };
    MEMBER(rules, s, "rules");
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        json_each (c, json_path(spec->v, "template", "spec", lists[i], NULL))
            (void)map_put(&containers, json_get_str(c, "name"), c);
    if (value_count(&rules) > POLICY_RULES_MAX)
        report_too_many(&rules, POLICY_RULES_MAX);
    value_each (rule, i, &rules)
        failure_rule(&rule, spec, &containers);
    map_fini(&containers);
}

static void success_rule(const struct validate_value *s, int64_t completions)
{
    MEMBER(count, s, "succeededCount");
    if (!count.v && !value_has(s, "succeededIndexes"))
        report_required(s, "at least one of succeededCount or succeededIndexes must be specified");
    validate_nonnegative(&count, NULL);
    at_most(&count, completions,
            report_text(s,
                        "must be less than or equal to %" PRId64
                        " (the number of specified completions)",
                        completions));
}

static struct json *shown_success_policy(const struct validate_value *s)
{
    struct arena *a = s->errs->a;
    struct json *v = json_new_object(a), *rules = json_new_array(a);
    json_each (rule, json_getc(s->v, "rules"))
        json_add(rules, value_go_struct(a, rule,
                                        "SucceededIndexes=succeededIndexes/null "
                                        "SucceededCount=succeededCount/null"));
    json_setc(a, v, "Rules", rules);
    return v;
}

static void success_policy(const struct validate_value *s, const struct validate_value *spec)
{
    MEMBER(rules, s, "rules");
    if (!str_is(value_member_text(spec, "completionMode"), "Indexed")) {
        report_invalid_value(s, shown_success_policy(s), "requires indexed completion mode");
        return;
    }
    validate_required(&rules,
                      "at least one rules must be specified when the successPolicy is specified");
    if (value_count(&rules) > POLICY_RULES_MAX)
        report_too_many(&rules, POLICY_RULES_MAX);
    value_each (rule, i, &rules)
        success_rule(&rule, value_member_number(spec, "completions"));
}

static void replacement_policy(const struct validate_value *s, bool with_failure_policy)
{
    validate_enum_if_set(s, with_failure_policy ? &enum_replacement_policy_only_failed
                                                : &enum_replacement_policy_policies);
}

/* ---- Jobs ---- */

static void domain_prefixed_path(const struct validate_value *s)
{
    static const char set[] = "/-._~%!$&'()*+,;=:";
    struct str host, path;
    bool spelled = true, cut = str_cut(value_text(s), '/', &host, &path);
    if (value_text(s).n == 0) {
        report_required(s, "");
        return;
    }
    if (!cut || host.n == 0 || path.n == 0) {
        report_invalid_text(s, "must be a domain-prefixed path (such as \"acme.io/foo\")");
        return;
    }
    report_problems(s, host, meta_check_dns1123_subdomain(host));
    for (size_t i = 0; i < path.n; i++) {
        char c = path.p[i];
        spelled = spelled && c &&
                  ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                   strchr(set, c));
    }
    if (!spelled)
        report_invalid_str(s, path,
                           "Invalid path (regex used for validation is "
                           "'[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')");
}

void validate_domain_prefixed_path(const struct validate_value *s, const void *unused)
{
    domain_prefixed_path(s);
}

static void managed_by(const struct validate_value *s)
{
    if (!s->v)
        return;
    domain_prefixed_path(s);
    if (value_text(s).n > MANAGED_BY_MAX_BYTES)
        report_too_long(s, MANAGED_BY_MAX_BYTES);
}

static void job_restart_policy(const struct validate_value *s, bool with_failure_policy)
{
    if (value_text(s).n == 0 || value_is(s, "Always"))
        report_required(s, "valid values: \"OnFailure\", \"Never\"");
    else if (!validate_enum_has(&enum_job_restart_policy_policies, value_text(s)))
        report_not_supported(s, &enum_job_restart_policy_policies);
    else if (with_failure_policy && !value_is(s, "Never"))
        report_invalid_text(s, "only \"Never\" is supported when podFailurePolicy is specified");
}

/* Rules that also apply to the Jobs of CronJobs. */
static void job_spec(const struct validate_value *s)
{
    MEMBER(per_index, s, "backoffLimitPerIndex");
    MEMBER(manager, s, "managedBy");
    MEMBER(failure, s, "podFailurePolicy");
    MEMBER(success, s, "successPolicy");
    MEMBER(replacement, s, "podReplacementPolicy");
    MEMBER(template, s, "template");
    MEMBER(pod, &template, "spec");
    MEMBER(restart, &pod, "restartPolicy");
    VALIDATE_MEMBERS(s, rules_job_spec_counts);
    if (value_has(s, "maxFailedIndexes") && !per_index.v)
        report_required(&per_index, "when maxFailedIndexes is specified");
    managed_by(&manager);
    completion(s);
    if (failure.v)
        failure_policy(&failure, s);
    if (success.v)
        success_policy(&success, s);
    replacement_policy(&replacement, failure.v != NULL);
    pod_template(&template);
    job_restart_policy(&restart, failure.v != NULL);
}

static void has_label(const struct validate_value *template, const struct json *labels,
                      const char *key, struct str want)
{
    const struct json *have = json_getc(labels, key), named = { .key = str_of(key) };
    MEMBER(metadata, template, "metadata");
    MEMBER(list, &metadata, "labels");
    struct validate_value at = value_key(&list, &named);
    if (!have)
        report_required(&at, report_text(&at, "must be '" STR_FMT "'", STR_ARG(want)));
    else if (!str_eq(json_str(have), want))
        report_invalid_value(&at, value_sorted_map(at.errs->a, labels),
                             report_text(&at, "must be '" STR_FMT "'", STR_ARG(want)));
}

/* Unless manualSelector is set, a Job selects its pods by its name and uid. */
static void generated_selector(const struct validate_value *root, const struct validate_value *spec)
{
    struct arena *a = root->errs->a;
    MEMBER(metadata, root, "metadata");
    MEMBER(uid, &metadata, "uid");
    MEMBER(selector, spec, "selector");
    MEMBER(template, spec, "template");
    const struct json *own = json_path(template.v, "metadata", "labels", NULL);
    struct str id = value_text(&uid), name = value_member_text(&metadata, "name");
    struct {
        const char *key;
        struct str value;
    } labels[] = { { "controller-uid", id },
                   { "job-name", name },
                   { "batch.kubernetes.io/controller-uid", id },
                   { "batch.kubernetes.io/job-name", name } };
    struct json *expected = json_new_object(a);
    if (value_member_bool(spec, "manualSelector") || !selector.v)
        return;
    validate_required(&uid, NULL);
    for (size_t i = 0; i < ARRAY_LEN(labels); i++) {
        has_label(&template, own, labels[i].key, labels[i].value);
        json_set_str(a, expected, labels[i].key, labels[i].value);
    }
    if (selector_fit(a, selector.v, expected) == SELECTOR_MISSES)
        report_invalid_value(&selector, selector_shown(a, selector.v),
                             "`selector` not auto-generated");
}

static void whole_job(const struct validate_value *spec)
{
    struct arena *a = spec->errs->a;
    MEMBER(selector, spec, "selector");
    MEMBER(template, spec, "template");
    MEMBER(metadata, &template, "metadata");
    MEMBER(own, &metadata, "labels");
    job_spec(spec);
    if (!selector.v)
        report_required(&selector, "");
    validate_label_selector(&selector, NULL);
    if (selector_fit(a, selector.v, own.v) == SELECTOR_MISSES)
        report_invalid_value(&own, value_sorted_map(a, own.v),
                             "`selector` does not match template `labels`");
}

static void indexed_name(const struct validate_value *root, const struct validate_value *spec)
{
    MEMBER(metadata, root, "metadata");
    MEMBER(name, &metadata, "name");
    int64_t completions = value_member_number(spec, "completions");
    if (!str_is(value_member_text(spec, "completionMode"), "Indexed") || completions <= 0)
        return;
    const char *host =
        report_text(root, STR_FMT "-%" PRId64, STR_ARG(value_text(&name)), completions - 1);
    if (meta_check_dns1123_label(str_of(host)).n)
        report_invalid_text(
            &name,
            report_text(root, "will not able to create pod with invalid DNS label: %s", host));
}

static void completions_update(const struct validate_value *spec, const struct json *old)
{
    MEMBER(completions, spec, "completions");
    if (!str_is(value_member_text(spec, "completionMode"), "Indexed"))
        validate_immutable(&completions, json_getc(old, "completions"));
    else if (completions.v && !value_same(completions.v, json_getc(old, "completions")) &&
             value_number(&completions) != value_member_number(spec, "parallelism"))
        report_invalid(&completions, "can only be modified in tandem with spec.parallelism");
}

/* Before a Job has started, the placement of its pods may change. */
static void template_update(const struct validate_value *spec, const struct json *old, bool waits)
{
    static const char *const free_members[] = { "nodeSelector", "tolerations", "schedulingGates" };
    struct arena *a = spec->errs->a;
    MEMBER(template, spec, "template");
    const struct json *before = json_getc(old, "template");
    struct json *now = json_clone(a, template.v), *was = json_clone(a, before);
    if (value_same(now, was))
        return;
    struct json *const sides[] = { now, was };
    for (size_t i = 0; waits && i < ARRAY_LEN(sides); i++) {
        struct json *pod = json_obj(a, sides[i], "spec"), *place = json_getc(pod, "affinity");
        struct json *metadata = json_obj(a, sides[i], "metadata");
        for (size_t k = 0; k < ARRAY_LEN(free_members); k++)
            (void)json_del(pod, str_of(free_members[k]));
        (void)json_del(metadata, STR("labels"));
        (void)json_del(metadata, STR("annotations"));
        if (place)
            (void)json_del(place, STR("nodeAffinity"));
        if (place && place->n == 0)
            (void)json_del(pod, STR("affinity"));
    }
    if (!value_same(now, was))
        report_invalid_value(&template, internal_form(a, template.v, STR("PodTemplateSpec")),
                             "field is immutable");
}

static void job_update(const struct validate_value *spec, const struct json *old)
{
    static const char *const fixed[] = { "completionMode", "podFailurePolicy",
                                         "backoffLimitPerIndex", "managedBy", "successPolicy" };
    const struct json *old_spec = json_getc(old, "spec");
    MEMBER(selector, spec, "selector");
    bool waits = json_bool(json_getc(old_spec, "suspend")) &&
                 !json_is(json_path(old, "status", "startTime", NULL), JSON_STRING);
    completions_update(spec, old_spec);
    if (!value_same(selector.v, json_getc(old_spec, "selector")))
        report_invalid_value(&selector, selector_shown(spec->errs->a, selector.v),
                             "field is immutable");
    template_update(spec, old_spec, waits);
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++) {
        MEMBER(m, spec, fixed[i]);
        validate_immutable(&m, json_getc(old_spec, fixed[i]));
    }
}

static void counted_once(const struct validate_value *list, struct map *seen)
{
    value_each (uid, i, list)
        if (value_text(&uid).n == 0)
            report_invalid_text(&uid, "must not be empty");
        else if (map_put(seen, value_text(&uid), seen))
            report_duplicate_str(&uid, value_text(&uid));
}

static void job_status(const struct validate_value *root)
{
    static const char *const counters[] = { "active", "succeeded", "failed", "ready",
                                            "terminating" };
    struct map seen = { 0 };
    MEMBER(status, root, "status");
    MEMBER(uncounted, &status, "uncountedTerminatedPods");
    MEMBER(succeeded, &uncounted, "succeeded");
    MEMBER(failed, &uncounted, "failed");
    validate_status_counters(&status, counters, ARRAY_LEN(counters));
    counted_once(&succeeded, &seen);
    counted_once(&failed, &seen);
    map_fini(&seen);
}

void validate_job(const struct json *obj, const struct json *old, struct field_errors *errs)
{
    struct validate_value root = value_root(obj, errs);
    MEMBER(spec, &root, "spec");
    if (old && !value_same(json_getc(obj, "status"), json_getc(old, "status"))) {
        job_status(&root);
        return;
    }
    generated_selector(&root, &spec);
    whole_job(&spec);
    indexed_name(&root, &spec);
    if (old) {
        whole_job(&spec); /* upstream reports it twice */
        job_update(&spec, old);
    }
}

/* ---- schedules ---- */

struct cron_field {
    unsigned min, max;
    const char *names; /* names of values, three letters each, from min on */
};

static const struct cron_field cron_fields[] = {
    { 0, 59, "" },
    { 0, 23, "" },
    { 1, 31, "" },
    { 1, 12, "janfebmaraprmayjunjulaugsepoctnovdec" },
    { 0, 6, "sunmontuewedthufrisat" },
};

/* NULL, or the error. */
static const char *cron_number(struct arena *a, struct str s, int64_t *ret)
{
    struct str digits = s.n > 1 && s.p[0] == '+' ? str_slice(s, 1, s.n) : s;
    int r = parse_i64(digits, INT64_MIN, INT64_MAX, ret);
    if (r < 0)
        return arena_printf(
            a, "failed to parse int from " STR_FMT ": strconv.Atoi: parsing \"" STR_FMT "\": %s",
            STR_ARG(s), STR_ARG(s), r == -ERANGE ? "value out of range" : "invalid syntax");
    if (*ret < 0)
        return arena_printf(a, "negative number (%" PRId64 ") not allowed: " STR_FMT, *ret,
                            STR_ARG(s));
    return NULL;
}

static const char *cron_value(struct arena *a, struct str s, const struct cron_field *f,
                              int64_t *ret)
{
    struct str lower = str_lower_arena(a, s);
    for (size_t i = 0; f->names[i] && s.n == 3; i += 3)
        if (memcmp(f->names + i, lower.p, 3) == 0) {
            *ret = f->min + (int64_t)i / 3;
            return NULL;
        }
    return cron_number(a, s, ret);
}

/* "*", "5", "1-5", each with "/2". */
static const char *cron_range(struct arena *a, struct str expr, const struct cron_field *f)
{
    struct str range, step, low, high, rest;
    int64_t from = f->min, to = f->max, by = 1;
    bool has_step = str_cut(expr, '/', &range, &step);
    bool has_high = str_cut(range, '-', &low, &high);
    const char *wrong = NULL;
    if (!str_is(low, "*") && !str_is(low, "?")) {
        wrong = cron_value(a, low, f, &from);
        if (!wrong && has_high && str_cut(high, '-', &high, &rest))
            return arena_printf(a, "too many hyphens: " STR_FMT, STR_ARG(expr));
        to = from;
        if (!wrong && has_high)
            wrong = cron_value(a, high, f, &to);
    }
    if (!wrong && has_step && str_find_char(step, '/') >= 0)
        return arena_printf(a, "too many slashes: " STR_FMT, STR_ARG(expr));
    if (!wrong && has_step) {
        wrong = cron_number(a, step, &by);
        to = has_high ? to : f->max;
    }
    if (wrong)
        return wrong;
    if (from < f->min)
        return arena_printf(a, "beginning of range (%" PRId64 ") below minimum (%u): " STR_FMT,
                            from, f->min, STR_ARG(expr));
    if (to > f->max)
        return arena_printf(a, "end of range (%" PRId64 ") above maximum (%u): " STR_FMT, to,
                            f->max, STR_ARG(expr));
    if (from > to)
        return arena_printf(
            a, "beginning of range (%" PRId64 ") beyond end of range (%" PRId64 "): " STR_FMT, from,
            to, STR_ARG(expr));
    return by ? NULL
              : arena_printf(a, "step of range should be a positive number: " STR_FMT,
                             STR_ARG(expr));
}

static const char *cron_list(struct arena *a, struct str text, const struct cron_field *f)
{
    struct str item;
    const char *wrong = NULL;
    for (bool more = true; more && !wrong;) {
        more = str_cut(text, ',', &item, &text);
        if (item.n)
            wrong = cron_range(a, item, f);
    }
    return wrong;
}

static const char *cron_descriptor(struct arena *a, struct str s)
{
    if (validate_enum_has(&enum_cron_descriptor_known, s) || str_has_prefix(s, STR("@every ")))
        return NULL;
    return arena_printf(a, "unrecognized descriptor: " STR_FMT, STR_ARG(s));
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Takes the next word off *s. */
static struct str cron_word(struct str *s)
{
    size_t from = 0, to;
    while (from < s->n && is_blank(s->p[from]))
        from++;
    for (to = from; to < s->n && !is_blank(s->p[to]);)
        to++;
    struct str word = str_slice(*s, from, to);
    *s = str_slice(*s, to, s->n);
    return word;
}

/* NULL, or the error in the words of upstream's cron library. */
static const char *cron_flaw(struct arena *a, struct str s)
{
    struct str words[ARRAY_LEN(cron_fields)] = { 0 }, rest, zone;
    struct buf all = BUF_INIT(8 * 1024);
    size_t n = 0;
    if (str_has_prefix(s, STR("TZ=")) || str_has_prefix(s, STR("CRON_TZ="))) {
        (void)str_cut(s, ' ', &zone, &rest);
        s = str_trim(rest);
    }
    if (str_has_prefix(s, STR("@")))
        return cron_descriptor(a, s);
    rest = s;
    for (struct str word = cron_word(&rest); word.n; word = cron_word(&rest)) {
        (void)buf_printf(&all, "%s" STR_FMT, n ? " " : "", STR_ARG(word));
        if (n < ARRAY_LEN(words))
            words[n] = word;
        n++;
    }
    const char *wrong = NULL;
    if (n != ARRAY_LEN(words))
        wrong = arena_printf(a, "expected exactly 5 fields, found %zu: [%s]", n, buf_cstr(&all));
    buf_fini(&all);
    for (size_t i = 0; i < ARRAY_LEN(words) && !wrong; i++)
        wrong = cron_list(a, words[i], &cron_fields[i]);
    return wrong;
}

static void schedule(const struct validate_value *s, struct str before, bool has_zone)
{
    bool zone_inside = str_find(value_text(s), STR("TZ")) >= 0;
    bool zone_allowed = str_find(before, STR("TZ")) >= 0;
    if (value_text(s).n == 0) {
        report_required(s, "");
        return;
    }
    const char *wrong = cron_flaw(s->errs->a, value_text(s));
    if (wrong)
        report_invalid_text(s, wrong);
    if (zone_inside && !zone_allowed)
        report_invalid_text(s, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
    else if (zone_inside && has_zone)
        report_invalid_text(s, "cannot use both timeZone field and TZ or CRON_TZ in schedule");
}

static bool is_zone_part(struct str s)
{
    if (s.n == 0 || s.n > 14 || s.p[0] == '-' || str_is(s, ".") || str_is(s, ".."))
        return false;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') &&
            (c == 0 || !strchr(".-_+", c)))
            return false;
    }
    return true;
}

/* Without a time zone database every name is accepted. */
static bool is_zone(struct arena *a, struct str name)
{
    struct stat st;
    if (str_is(name, "UTC") || stat(ZONES, &st) < 0)
        return true;
    return stat(arena_printf(a, ZONES "/" STR_FMT, STR_ARG(name)), &st) == 0 && S_ISREG(st.st_mode);
}

static void time_zone(const struct validate_value *s)
{
    struct str rest = value_text(s), part;
    bool is_known = true;
    if (!s->v)
        return;
    if (rest.n == 0) {
        report_invalid(s, "timeZone must be nil or non-empty string");
        return;
    }
    for (bool more = true; more;) {
        more = str_cut(rest, '/', &part, &rest);
        is_known = is_known && is_zone_part(part);
    }
    bool is_local = str_ieq(value_text(s), STR("Local"));
    if (!is_known || (!is_local && !is_zone(s->errs->a, value_text(s))))
        report_invalid(s, report_text(s, "unknown time zone " STR_FMT, STR_ARG(value_text(s))));
    else if (is_local)
        report_invalid(s, "timeZone must be an explicit time zone as defined in "
                          "https://www.iana.org/time-zones");
}

/* ---- CronJobs ---- */

static void job_template(const struct validate_value *s)
{
    MEMBER(spec, s, "spec");
    MEMBER(selector, &spec, "selector");
    MEMBER(manual, &spec, "manualSelector");
    job_spec(&spec);
    if (selector.v)
        report_invalid_value(&selector, selector_shown(s->errs->a, selector.v),
                             "`selector` will be auto-generated");
    if (json_bool(manual.v))
        report_not_supported(&manual, &enum_job_template_unset);
}

void validate_cron_job(const struct json *obj, const struct json *old, struct field_errors *errs)
{
    struct validate_value root = value_root(obj, errs);
    MEMBER(metadata, &root, "metadata");
    MEMBER(name, &metadata, "name");
    MEMBER(spec, &root, "spec");
    MEMBER(when, &spec, "schedule");
    MEMBER(zone, &spec, "timeZone");
    MEMBER(deadline, &spec, "startingDeadlineSeconds");
    MEMBER(policy, &spec, "concurrencyPolicy");
    MEMBER(template, &spec, "jobTemplate");
    const struct json *before = json_getc(old, "spec");
    schedule(&when, json_get_str(before, "schedule"), zone.v != NULL);
    validate_nonnegative(&deadline, NULL);
    if (!old || !value_same(zone.v, json_getc(before, "timeZone")))
        time_zone(&zone);
    validate_enum(&policy, &enum_cron_job_policies);
    job_template(&template);
    VALIDATE_MEMBERS(&spec, rules_cron_job_limits);
    if (!old && value_text(&name).n > CRON_NAME_MAX_BYTES)
        report_invalid_text(&name, "must be no more than 52 characters");
}
