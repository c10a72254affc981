/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles of system calls of users; see syscall_profile.h. */
#include "container/syscall_profile.h"

#include "codec/bind.h"

enum {
    ERRNO_MAX = 4095,
    ARGS_MAX = 16, /* of a rule; an argument may be compared more than once */
    CALL_ARGS = 6,
    NAME_MAX_BYTES = 64,
    ARCHITECTURES_MAX = 32,
    FLAGS_MAX = 8
};

struct seccomp_arg {
    uint32_t index;
    uint64_t value, value_two;
    uint32_t op;
};

struct seccomp_rule {
    struct str name; /* instead of names, in old profiles */
    struct str *names;
    size_t n_names;
    uint32_t action;
    uint32_t errno_ret;
    bool has_errno;
    struct seccomp_arg *args;
    size_t n_args;
    const struct json *includes, *excludes;
};

struct seccomp_profile {
    uint32_t default_action, default_errno;
    bool has_default_errno;
    struct str *architectures, *flags;
    size_t n_architectures, n_flags;
    struct seccomp_rule *rules;
    size_t n_rules;
};

/* From SCMP_ACT_KILL, so that a missing one is not SCMP_ACT_ALLOW. */
static const char *const actions[] = { "SCMP_ACT_KILL",        "SCMP_ACT_KILL_PROCESS",
                                       "SCMP_ACT_KILL_THREAD", "SCMP_ACT_TRAP",
                                       "SCMP_ACT_ERRNO",       "SCMP_ACT_TRACE",
                                       "SCMP_ACT_ALLOW",       "SCMP_ACT_LOG",
                                       "SCMP_ACT_NOTIFY" };
static const char *const operators[] = { "SCMP_CMP_NE",       "SCMP_CMP_LT", "SCMP_CMP_LE",
                                         "SCMP_CMP_EQ",       "SCMP_CMP_GE", "SCMP_CMP_GT",
                                         "SCMP_CMP_MASKED_EQ" };
enum { ACTION_NOTIFY = ARRAY_LEN(actions) - 1 };

static bool is_word(struct str s)
{
    bool ok = s.n > 0 && s.n <= NAME_MAX_BYTES;
    for (size_t i = 0; ok && i < s.n; i++)
        ok = (s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= 'A' && s.p[i] <= 'Z') ||
             (s.p[i] >= '0' && s.p[i] <= '9') || s.p[i] == '_';
    return ok;
}

static int check_word(struct bind *b, const struct json *v, void *at)
{
    const struct str *word = at;
    return is_word(*word) ? 0 : BIND_FAIL(b, "is no name");
}

static int check_action(struct bind *b, const struct json *v, void *at)
{
    return *(uint32_t *)at == ACTION_NOTIFY
               ? bind_fail(b, E_UNSUPPORTED, "SCMP_ACT_NOTIFY is not supported")
               : 0;
}

static int check_rule(struct bind *b, const struct json *v, void *at)
{
    struct seccomp_rule *r = at;
    if (json_first(r->includes) || json_first(r->excludes))
        return bind_fail(b, E_UNSUPPORTED, "includes and excludes are not supported");
    if (r->name.n && r->n_names)
        return BIND_FAIL(b, "has both name and names");
    if (!r->name.n && !r->n_names)
        return bind_fail_in(b, "names", E_INVALID, "is missing");
    r->includes = r->excludes = NULL;
    return 0;
}

static const struct bind_field word_field = { .kind = BIND_KIND_STR, .check = check_word };

static const struct bind_field arg_fields[] = {
    BIND_UINT("index", struct seccomp_arg, index, .max = CALL_ARGS - 1,
              .flags = BIND_REQUIRED | BIND_ALWAYS),
    BIND_UINT("value", struct seccomp_arg, value, .flags = BIND_ALWAYS),
    BIND_UINT("valueTwo", struct seccomp_arg, value_two),
    BIND_ENUM("op", struct seccomp_arg, op, operators, .flags = BIND_REQUIRED | BIND_ALWAYS),
};
static const struct bind_table arg_table =
    BIND_TABLE(arg_fields, .size = sizeof(struct seccomp_arg));

static const struct bind_field rule_fields[] = {
    BIND_STR("name", struct seccomp_rule, name, .flags = BIND_NEVER, .check = check_word),
    BIND_ARRAY("names", struct seccomp_rule, names, n_names, &word_field,
               CONTAINER_SYSCALL_PROFILE_NAMES_MAX),
    BIND_ENUM("action", struct seccomp_rule, action, actions, .flags = BIND_REQUIRED | BIND_ALWAYS,
              .check = check_action),
    BIND_UINT("errnoRet", struct seccomp_rule, errno_ret, .max = ERRNO_MAX,
              .has_at = BIND_HAS(struct seccomp_rule, has_errno)),
    BIND_OBJECTS("args", struct seccomp_rule, args, n_args, &arg_table, ARGS_MAX),
    BIND_JSON("includes", struct seccomp_rule, includes, .flags = BIND_NEVER),
    BIND_JSON("excludes", struct seccomp_rule, excludes, .flags = BIND_NEVER),
};
static const struct bind_table rule_table =
    BIND_TABLE(rule_fields, .size = sizeof(struct seccomp_rule), .check = check_rule);

static const struct bind_field profile_fields[] = {
    BIND_ENUM("defaultAction", struct seccomp_profile, default_action, actions,
              .flags = BIND_REQUIRED | BIND_ALWAYS, .check = check_action),
    BIND_UINT("defaultErrnoRet", struct seccomp_profile, default_errno, .max = ERRNO_MAX,
              .has_at = BIND_HAS(struct seccomp_profile, has_default_errno)),
    BIND_ARRAY("architectures", struct seccomp_profile, architectures, n_architectures, &word_field,
               ARCHITECTURES_MAX),
    BIND_ARRAY("flags", struct seccomp_profile, flags, n_flags, &word_field, FLAGS_MAX),
    BIND_OBJECTS("syscalls", struct seccomp_profile, rules, n_rules, &rule_table,
                 CONTAINER_SYSCALL_PROFILE_RULES_MAX),
};
static const struct bind_table profile_table =
    BIND_TABLE(profile_fields, .size = sizeof(struct seccomp_profile));

/* OCI has only `names`. */
static void rename_old(struct seccomp_profile *p)
{
    for (size_t i = 0; i < p->n_rules; i++) {
        struct seccomp_rule *r = &p->rules[i];
        if (!r->name.n)
            continue;
        r->names = &r->name;
        r->n_names = 1;
    }
}

static int translate(struct arena *a, struct str text, struct buf *to, struct err *err)
{
    struct seccomp_profile p = { 0 };
    struct json *doc;
    struct bind b = { .arena = a, .err = err, .mode = BIND_NULL_NONE };
    int r = json_parse(a, text, NULL, &doc, err);
    r = r < 0 ? r : bind_read(&b, &profile_table, doc, &p);
    if (r < 0)
        return r;
    rename_old(&p);
    return json_write(to, bind_write(a, &profile_table, &p));
}

int container_syscall_profile_write(struct str profile, struct buf *to, struct err *err)
{
    struct arena a = { 0 };
    if (profile.n > CONTAINER_SYSCALL_PROFILE_MAX_BYTES)
        return err_set(err, E_LIMIT, "the seccomp profile has more than %d bytes",
                       CONTAINER_SYSCALL_PROFILE_MAX_BYTES);
    int r = translate(&a, profile, to, err);
    arena_fini(&a);
    return r < 0 ? err_ctx(err, r, "seccomp profile") : 0;
}
