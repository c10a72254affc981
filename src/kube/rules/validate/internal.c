/* SPDX-License-Identifier: Apache-2.0 */
/* Volumes, claims and pods in upstream's internal form, for messages that print it. */
#include "kube/rules/validate/check.h"

#include <ctype.h>

/* "DNSPolicy" is dnsPolicy, "TTY" is tty. */
static struct str api_name(struct arena *a, struct str name)
{
    char *p = str_dup_arena(a, name);
    size_t n = 0;
    while (n < name.n && isupper((unsigned char)p[n]))
        n++;
    if (n > 1 && n < name.n)
        n--;
    for (size_t i = 0; i < n; i++)
        p[i] = (char)tolower((unsigned char)p[i]);
    return str_n(p, name.n);
}

static void add_metadata(struct arena *a, struct json *shown, const struct json *metadata)
{
    static const char *const members[] = { "name",        "generateName",    "namespace", "labels",
                                           "annotations", "ownerReferences", "finalizers" };
    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        const struct json *m = json_getc(metadata, members[i]);
        if (json_is(m, JSON_OBJECT))
            json_add_member(shown, str_of(members[i]), value_sorted_map(a, m));
        else if (m)
            json_add_member(shown, str_of(members[i]), json_clone(a, m));
    }
}

/* Moves fields into the security context, where upstream's internal form has them. */
static struct json *with_context(struct arena *a, const struct json *pod)
{
    static const char *const moved[] = { "hostNetwork", "hostPID", "hostIPC",
                                         "shareProcessNamespace", "hostUsers" };
    struct json *copy = json_clone(a, pod), *context = NULL;
    for (size_t i = 0; i < ARRAY_LEN(moved); i++) {
        const struct json *m = json_getc(pod, moved[i]);
        if (m) {
            context = json_obj(a, copy, "securityContext");
            json_setc(a, context, moved[i], json_clone(a, m));
        }
    }
    return copy;
}

static struct json *plain_value(struct arena *a, const struct json *v)
{
    if (!json_is(v, JSON_OBJECT))
        return json_clone(a, v);
    if (json_getc(v, "matchLabels") || json_getc(v, "matchExpressions"))
        return selector_shown(a, v);
    return value_sorted_map(a, v);
}

static struct json *absent_value(struct arena *a, char kind, struct str type)
{
    switch (kind) {
    case '\'':
        return json_new_cstr(a, "");
    case '0':
        return json_new_int(a, 0);
    case '!':
        return json_new_bool(a, false);
    case '/':
        return json_new_cstr(a, "0");
    case '.':
        return internal_form(a, NULL, type);
    default:
        return json_new_null(a);
    }
}

static struct json *member_value(struct arena *a, const struct json *v, char kind, struct str type)
{
    if (!v || v->type == JSON_NULL)
        return absent_value(a, kind, type);
    if (type.n == 0)
        return plain_value(a, v);
    if (v->type != JSON_ARRAY)
        return internal_form(a, v, type);
    struct json *list = json_new_array(a);
    json_each (item, v)
        json_add(list, internal_form(a, item, type));
    return list;
}

struct json *internal_form(struct arena *a, const struct json *v, struct str type)
{
    const struct internal_type *t = internal_type_find(type);
    struct json *shown = json_new_object(a);
    struct str rest = str_of(t ? t->members : ""), word, name, key;
    if (str_is(type, "PodSpec") && v)
        v = with_context(a, v);
    while (rest.n) {
        size_t n = 0;
        (void)str_cut(rest, ' ', &word, &rest);
        while (n < word.n && (isalpha((unsigned char)word.p[n]) || word.p[n] == '='))
            n++;
        if (str_is(word, "@")) {
            add_metadata(a, shown, json_getc(v, "metadata"));
            continue;
        }
        if (!str_cut(str_slice(word, 0, n), '=', &name, &key))
            key = api_name(a, name);
        json_add_member(shown, name,
                        member_value(a, v ? json_get(v, key) : NULL, word.p[n],
                                     str_slice(word, n + 1, word.n)));
    }
    return shown;
}

const char *internal_diff(struct arena *a, const struct json *old, const struct json *now,
                          const char *type)
{
    struct buf was = BUF_INIT(BUF_MAX_DEFAULT), is = BUF_INIT(BUF_MAX_DEFAULT);
    const char *text = "";
    if (json_write_pretty(&was, internal_form(a, old, str_of(type)), 1) == 0 &&
        json_write_pretty(&is, internal_form(a, now, str_of(type)), 1) == 0)
        text = unified_diff(a, buf_str(&was), buf_str(&is));
    buf_fini(&was);
    buf_fini(&is);
    return text;
}
