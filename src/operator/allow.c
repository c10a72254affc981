/* SPDX-License-Identifier: Apache-2.0 */
/* The allow list of one operator: verbs and paths; see allow.h. */
#include "operator/allow.h"

#include "base/mem.h"

#include <errno.h>

struct allow_rule {
    struct allow_rule *next;
    unsigned verbs; /* enum kube_verb */
    size_t n_paths;
    char *paths[];
};

struct allow {
    struct allow_rule *first;
    size_t n, bytes;
};

static int verb_bits(struct str name, unsigned *ret)
{
    static const enum kube_verb verbs[] = {
#define ALLOW_VERB(id, bit, text) id,
        KUBE_VERBS(ALLOW_VERB)
#undef ALLOW_VERB
    };
    if (str_is(name, "*")) {
        *ret |= KUBE_VERBS_ALL;
        return 0;
    }
    for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
        if (!str_is(name, kube_verb_name(verbs[i])))
            continue;
        *ret |= verbs[i];
        return 0;
    }
    return E_INVALID;
}

int allow_add(struct allow **list, const struct str *verbs, size_t n_verbs, const struct str *paths,
              size_t n_paths, struct err *err)
{
    unsigned bits = 0;
    size_t bytes = 0;
    if (n_verbs == 0 || n_paths == 0)
        return err_set(err, E_INVALID, "an allow rule needs at least one verb and one path");
    if (n_verbs > ALLOW_MAX_WORDS || n_paths > ALLOW_MAX_WORDS)
        return err_set(err, -E2BIG, "an allow rule has at most %d verbs and %d paths",
                       ALLOW_MAX_WORDS, ALLOW_MAX_WORDS);
    for (size_t i = 0; i < n_verbs; i++)
        if (verb_bits(verbs[i], &bits) < 0)
            return err_set(err, E_INVALID, "unknown verb '" STR_FMT "' in an allow rule",
                           STR_ARG(verbs[i]));
    for (size_t i = 0; i < n_paths; i++) {
        if (!str_has_prefix(paths[i], STR("/")))
            return err_set(err, E_INVALID,
                           "path '" STR_FMT "' of an allow rule does not begin with '/'",
                           STR_ARG(paths[i]));
        bytes += paths[i].n;
    }
    struct allow *a = *list ? *list : xnew(struct allow);
    if (a->n == ALLOW_MAX_RULES || a->bytes + bytes > ALLOW_MAX_BYTES) {
        if (!*list)
            free(a);
        return err_set(err, -E2BIG, "more than %d allow rules, or %d bytes of them",
                       ALLOW_MAX_RULES, ALLOW_MAX_BYTES);
    }
    struct allow_rule *rule = xalloc(sizeof *rule + n_paths * sizeof rule->paths[0]);
    rule->verbs = bits;
    rule->n_paths = n_paths;
    for (size_t i = 0; i < n_paths; i++)
        rule->paths[i] = str_dup(paths[i]);
    rule->next = a->first;
    a->first = rule;
    a->n++;
    a->bytes += bytes;
    *list = a;
    return 0;
}

void allow_free(struct allow *list)
{
    if (!list)
        return;
    struct allow_rule *rule = list->first;
    while (rule) {
        struct allow_rule *next = rule->next;
        for (size_t i = 0; i < rule->n_paths; i++)
            free(rule->paths[i]);
        free(rule);
        rule = next;
    }
    free(list);
}

static bool path_matches(struct str pattern, struct str path)
{
    struct str want, have;
    for (;;) {
        bool more_pattern = str_cut(pattern, '/', &want, &pattern);
        bool more_path = str_cut(path, '/', &have, &path);
        if (!more_pattern && str_is(want, "..."))
            return have.n > 0;
        if (!str_is(want, "{any}") ? !str_eq(want, have) : have.n == 0)
            return false;
        if (more_pattern != more_path)
            return false;
        if (!more_pattern)
            return true;
    }
}

bool allow_check(const struct allow *list, enum kube_verb verb, struct str path)
{
    if (!list)
        return true;
    for (const struct allow_rule *rule = list->first; rule; rule = rule->next) {
        if (!(rule->verbs & verb))
            continue;
        for (size_t i = 0; i < rule->n_paths; i++)
            if (path_matches(str_of(rule->paths[i]), path))
                return true;
    }
    return false;
}
