/* SPDX-License-Identifier: Apache-2.0 */
/* Bootstrap tokens; see bootstrap_token.h. */
#include "api/bootstrap_token.h"

#include "base/clock.h"
#include "codec/base64.h"
#include "kube/model/object.h"

#include <assert.h>

#define GROUP        "system:bootstrappers"
#define GROUP_PREFIX GROUP ":"

enum { VALUE_MAX_BYTES = 64 << 10 };

static bool is_lower_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_word(struct str s, size_t n)
{
    if (s.n != n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!is_lower_alnum(s.p[i]))
            return false;
    return true;
}

bool bootstrap_token_split(struct str token, struct str *ret_id, struct str *ret_secret)
{
    return str_cut(token, '.', ret_id, ret_secret) && is_word(*ret_id, BOOTSTRAP_TOKEN_ID_CHARS) &&
           is_word(*ret_secret, BOOTSTRAP_TOKEN_SECRET_CHARS);
}

bool bootstrap_token_is_id(struct str id)
{
    return is_word(id, BOOTSTRAP_TOKEN_ID_CHARS);
}

struct str bootstrap_token_value(const struct json *secret, const char *name, struct arena *a)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(VALUE_MAX_BYTES);
    struct str text = json_str(json_path(secret, "data", name, NULL));
    return base64_decode(&b, text, BASE64_LENIENT) < 0 ? STR("") : str_copy_arena(a, buf_str(&b));
}

/* Compare in a time that does not depend on the position of the first difference. */
static bool equal_secrets(struct str a, struct str b)
{
    unsigned diff = a.n != b.n;
    for (size_t i = 0; i < MIN(a.n, b.n); i++)
        diff |= (unsigned)(unsigned char)a.p[i] ^ (unsigned char)b.p[i];
    return diff == 0;
}

static bool is_token_secret(const struct json *secret)
{
    return str_is(json_get_str(secret, "type"), BOOTSTRAP_TOKEN_TYPE);
}

static int64_t expires_s(const struct json *secret, struct arena *a)
{
    int64_t at_us;
    if (json_str(json_path(secret, "data", "expiration", NULL)).n == 0)
        return INT64_MAX;
    return rfc3339_parse(bootstrap_token_value(secret, "expiration", a), &at_us) < 0
               ? INT64_MIN
               : at_us / 1000000;
}

int64_t bootstrap_token_expires_s(const struct json *secret)
{
    struct arena a = { 0 };
    int64_t at_s = is_token_secret(secret) ? expires_s(secret, &a) : INT64_MAX;
    arena_fini(&a);
    return at_s;
}

bool bootstrap_token_is_group(struct str group)
{
    if (!str_has_prefix(group, STR(GROUP_PREFIX)) || group.n > BOOTSTRAP_TOKEN_GROUP_CHARS)
        return false;
    struct str rest = str_slice(group, sizeof GROUP_PREFIX - 1, group.n);
    for (size_t i = 0; i < rest.n; i++)
        if (!is_lower_alnum(rest.p[i]) && rest.p[i] != ':' && rest.p[i] != '-')
            return false;
    return rest.n && is_lower_alnum(rest.p[rest.n - 1]);
}

static bool has_group(const struct kube_identity *id, struct str group)
{
    for (size_t i = 0; i < id->n_groups; i++)
        if (str_eq(id->groups[i], group))
            return true;
    return false;
}

/* false: the list has an invalid group, or too many of them. */
static bool take_groups(struct str list, struct arena *a, struct kube_identity *ret)
{
    struct str *groups = arena_new_n(a, struct str, BOOTSTRAP_TOKEN_GROUPS_MAX + 2);
    groups[0] = STR(GROUP);
    ret->groups = groups;
    ret->n_groups = 1;
    for (struct str one; list.n;) {
        (void)str_cut(list, ',', &one, &list);
        if (!bootstrap_token_is_group(one) || ret->n_groups > BOOTSTRAP_TOKEN_GROUPS_MAX)
            return false;
        if (!has_group(ret, one))
            groups[ret->n_groups++] = one;
    }
    groups[ret->n_groups++] = STR("system:authenticated");
    assert(ret->n_groups <= BOOTSTRAP_TOKEN_GROUPS_MAX + 2);
    return true;
}

const char *bootstrap_token_check(const struct json *secret, struct str token, int64_t now_s,
                                  struct arena *a, struct kube_identity *ret)
{
    struct str id, word;
    *ret = (struct kube_identity){ 0 };
    if (!bootstrap_token_split(token, &id, &word) || !is_token_secret(secret) ||
        json_str(json_path(secret, "metadata", "deletionTimestamp", NULL)).n)
        return "there is no such bootstrap token";
    if (!equal_secrets(bootstrap_token_value(secret, "token-secret", a), word) ||
        !str_eq(bootstrap_token_value(secret, "token-id", a), id))
        return "the secret of the bootstrap token does not match";
    if (expires_s(secret, a) <= now_s)
        return "the bootstrap token has expired";
    if (!str_is(bootstrap_token_value(secret, "usage-bootstrap-authentication", a), "true"))
        return "the bootstrap token is not for authentication";
    if (!take_groups(bootstrap_token_value(secret, "auth-extra-groups", a), a, ret))
        return "the bootstrap token adds an invalid group";
    ret->user = str_of(arena_printf(a, "system:bootstrap:" STR_FMT, STR_ARG(id)));
    return NULL;
}
