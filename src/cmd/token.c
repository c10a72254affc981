/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse token list and token delete: the bootstrap tokens of a cluster. */
#include "cmd/token.h"

#include "api/bootstrap_token.h"
#include "base/clock.h"
#include "cmd/text_table.h"
#include "kube/model/table.h"

#include <errno.h>
#include <stdio.h>

static struct token_args args;

int token_wants_json(const struct token_args *given, bool *ret)
{
    struct str format = str_of(given->output ? given->output : "text");
    if (!str_is(format, "text") && !str_is(format, "json"))
        return cmd_failf(CMD_USAGE, "--output is text or json, not '%s'", given->output);
    *ret = str_is(format, "json");
    return 0;
}

int token_open(const struct token_args *given, struct kube_client **ret)
{
    struct err err = { 0 };
    int r = kube_client_open(given->kubeconfig, given->context, given->data_dir, ret, &err);
    return r < 0 ? cmd_fail(CMD_UNAVAILABLE, &err) : 0;
}

/* ---------------------------------------------------------------- a token's Secret */

static struct json *usages_of(struct arena *a, const struct json *secret)
{
    struct json *usages = json_new_array(a);
    const struct str prefix = STR("usage-bootstrap-");
    json_each (member, json_getc(secret, "data")) {
        const char *key = str_dup_arena(a, member->key);
        if (str_has_prefix(member->key, prefix) &&
            str_is(bootstrap_token_value(secret, key, a), "true"))
            json_add(usages, json_new_str(a, str_slice(member->key, prefix.n, member->key.n)));
    }
    return usages;
}

static struct json *groups_of(struct arena *a, const struct json *secret)
{
    struct json *groups = json_new_array(a);
    struct str one, list = bootstrap_token_value(secret, "auth-extra-groups", a);
    while (list.n) {
        (void)str_cut(list, ',', &one, &list);
        json_add(groups, json_new_str(a, one));
    }
    return groups;
}

struct json *token_json(struct arena *a, const struct json *secret)
{
    struct str id = bootstrap_token_value(secret, "token-id", a), parts[2];
    struct str token =
        str_of(arena_printf(a, STR_FMT "." STR_FMT, STR_ARG(id),
                            STR_ARG(bootstrap_token_value(secret, "token-secret", a))));
    struct str name = json_str(json_path(secret, "metadata", "name", NULL));
    struct str expires = bootstrap_token_value(secret, "expiration", a);
    if (!bootstrap_token_split(token, &parts[0], &parts[1]) || !str_eq(parts[0], id) ||
        !str_is(name, arena_printf(a, BOOTSTRAP_TOKEN_PREFIX STR_FMT, STR_ARG(id))))
        return NULL;
    struct json *v = json_new_object(a);
    json_set_str(a, v, "token", token);
    if (expires.n)
        json_set_str(a, v, "expires", expires);
    json_setc(a, v, "usages", usages_of(a, secret));
    json_set_str(a, v, "description", bootstrap_token_value(secret, "description", a));
    json_setc(a, v, "groups", groups_of(a, secret));
    return v;
}

/* ---------------------------------------------------------------- list */

static const struct cmd_opt list_opts[] = { KUBE_CLIENT_OPTS(args),
                                            TOKEN_OUTPUT_OPT(args),
                                            { .name = NULL } };

static const struct cmd_opt *token_list_opts(void)
{
    return list_opts;
}

static void add_words(struct text_table *t, const struct json *array)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
    json_each (word, array)
        (void)buf_printf(&text, "%s" STR_FMT, text.n ? "," : "", STR_ARG(json_str(word)));
    text_table_cell(t, text.n ? buf_str(&text) : STR("<none>"));
}

static void add_row(struct text_table *t, const struct json *secret, const struct json *token)
{
    int64_t left_s = INT64_MAX, at_s = bootstrap_token_expires_s(secret);
    if (at_s != INT64_MAX && __builtin_sub_overflow(at_s, clock_wall_ms() / 1000, &left_s))
        left_s = 0; /* the time cannot be read */
    struct str expires = json_get_str(token, "expires"),
               description = json_get_str(token, "description");
    text_table_cell(t, json_get_str(token, "token"));
    text_table_cell(t, left_s == INT64_MAX ? STR("<forever>")
                       : left_s <= 0       ? STR("<expired>")
                                           : table_duration(t->a, left_s));
    text_table_cell(t, expires.n ? expires : STR("<never>"));
    add_words(t, json_getc(token, "usages"));
    text_table_cell(t, description.n ? description : STR("<none>"));
    add_words(t, json_getc(token, "groups"));
}

static void print_skipped(const struct json *secret)
{
    scoped(buf_fini_scoped) struct buf name = BUF_INIT(BUF_MAX_DEFAULT);
    cmd_add_safe(&name, json_str(json_path(secret, "metadata", "name", NULL)));
    (void)fprintf(stderr, "warning: Secret kube-system/%s holds no valid token, skipped\n",
                  buf_cstr(&name));
}

static void print_list(struct arena *a, const struct json *secrets, bool as_json)
{
    static const char *const names[] = { "TOKEN",  "TTL",         "EXPIRES",
                                         "USAGES", "DESCRIPTION", "GROUPS" };
    struct text_table t = { .a = a, .n_columns = ARRAY_LEN(names) };
    struct json *list = json_new_array(a);
    text_table_head(&t, names);
    json_each (secret, secrets) {
        struct json *token = token_json(a, secret);
        if (!token) {
            print_skipped(secret);
            continue;
        }
        add_row(&t, secret, token);
        json_add(list, token);
    }
    if (!as_json) {
        text_table_print(&t, stdout);
        return;
    }
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(KUBE_CLIENT_ANSWER_MAX_BYTES * 2L);
    (void)json_write_pretty(&text, list, 2);
    (void)printf(STR_FMT "\n", STR_ARG(buf_str(&text)));
}

static int run_list(int argc, char **argv)
{
    size_t n;
    bool as_json;
    struct err err = { 0 };
    struct arena a = { 0 };
    struct kube_answer answer;
    scoped(kube_client_close_scoped) struct kube_client *c = NULL;
    int r = cmd_parse(&cmd_token_list, list_opts, argc, argv, (size_t)argc, &n);
    if (r)
        return r - 1;
    if (n) /* not quoted: it may be a token */
        return cmd_failf(CMD_USAGE, "'dormouse token list' takes no argument, only options");
    if ((r = token_wants_json(&args, &as_json)) != 0 || (r = token_open(&args, &c)) != 0)
        return r;
    r = kube_client_ask(c, &a, "GET", TOKEN_SECRETS "?fieldSelector=type%3D" BOOTSTRAP_TOKEN_TYPE,
                        NULL, STR(""), &answer, &err);
    if (r >= 0)
        print_list(&a, json_getc(answer.body, "items"), as_json);
    arena_fini(&a);
    return r < 0 ? cmd_fail_request(r, &err) : CMD_OK;
}

const struct cmd cmd_token_list = {
    .name = "token list",
    .doc = "list bootstrap tokens",
    .help =
        "The list shows the secrets of the tokens. An expired token is refused, and the server\n"
        "deletes it.\n"
        "\n"
        "  dormouse token list\n"
        "  dormouse token list -o json | jq -r '.[].token'\n",
    .run = run_list,
    .opts = token_list_opts,
};

/* ---------------------------------------------------------------- delete */

static const struct cmd_opt delete_opts[] = { KUBE_CLIENT_OPTS(args), { .name = NULL } };

static const struct cmd_opt *token_delete_opts(void)
{
    return delete_opts;
}

/* The ID of an argument; false: it is neither a token nor an ID. */
static bool take_id(const char *word, struct str *ret)
{
    struct str secret;
    *ret = str_of(word);
    return bootstrap_token_is_id(*ret) || bootstrap_token_split(str_of(word), ret, &secret);
}

static int delete_token(struct kube_client *c, struct arena *a, struct str id)
{
    struct err err = { 0 };
    struct kube_answer answer;
    const char *target =
        arena_printf(a, TOKEN_SECRETS "/" BOOTSTRAP_TOKEN_PREFIX STR_FMT, STR_ARG(id));
    int r = kube_client_ask(c, a, "DELETE", target, NULL, STR(""), &answer, &err);
    if (r == -ENOENT)
        return cmd_failf(CMD_FAILED, "there is no token '" STR_FMT "'", STR_ARG(id));
    if (r < 0)
        return cmd_fail_request(r, &err);
    (void)fprintf(stderr, "token " STR_FMT ": deleted\n", STR_ARG(id));
    return CMD_OK;
}

static int run_delete(int argc, char **argv)
{
    size_t n;
    struct str id;
    struct arena a = { 0 };
    scoped(kube_client_close_scoped) struct kube_client *c = NULL;
    int r = cmd_parse(&cmd_token_delete, delete_opts, argc, argv, (size_t)argc, &n), worst = 0;
    if (r)
        return r - 1;
    if (n == 0)
        return cmd_failf(CMD_USAGE, "which token? 'dormouse token delete ID'");
    for (size_t i = 0; i < n; i++)
        if (!take_id(argv[i], &id)) /* not quoted: it may be a secret */
            return cmd_failf(CMD_USAGE, "argument %zu is neither a token nor the ID of one", i + 1);
    if ((r = token_open(&args, &c)) != 0)
        return r;
    for (size_t i = 0; i < n; i++)
        if (take_id(argv[i], &id) && (r = delete_token(c, &a, id)) != CMD_OK)
            worst = r;
    arena_fini(&a);
    return worst;
}

const struct cmd cmd_token_delete = {
    .name = "token delete",
    .args = "ID|TOKEN...",
    .doc = "delete bootstrap tokens, which nodes cannot use from then on",
    .help = "Nodes that have joined keep their certificates.\n"
            "\n"
            "  dormouse token delete abcdef\n",
    .run = run_delete,
    .opts = token_delete_opts,
};
