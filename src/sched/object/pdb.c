/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/object/pdb.h"

static int compare_names(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static void read_disrupted(struct sched_pdb *pdb, const struct json *pods)
{
    if (!json_is(pods, JSON_OBJECT) || pods->n == 0)
        return;
    size_t bytes = 0;
    json_each (pod, pods)
        bytes += pod->key.n;
    pdb->disrupted = xnew_n(struct str, pods->n);
    pdb->strings = xalloc(bytes + 1);
    char *at = pdb->strings;
    json_each (pod, pods) {
        memcpy(at, pod->key.p, pod->key.n);
        pdb->disrupted[pdb->n_disrupted++] = str_n(at, pod->key.n);
        at += pod->key.n;
    }
    qsort(pdb->disrupted, pdb->n_disrupted, sizeof(*pdb->disrupted), compare_names);
}

static int pdb_read(struct intern_table *w, struct sched_object *o, const struct json *json,
                    struct err *err)
{
    struct sched_pdb *pdb = (struct sched_pdb *)o;
    pdb->namespace_word = intern_get(w, o->namespace);
    /* An invalid selector selects nothing, as upstream. */
    if (sched_selector_read(w, json_path(json, "spec", "selector", NULL), &pdb->selector, NULL) < 0)
        pdb->selector = (struct sched_selector){ .nothing = true };
    if (pdb->selector.n == 0)
        pdb->selector.nothing = true;
    const struct json *status = json_getc(json, "status");
    int64_t allowed = json_int_or(json_getc(status, "disruptionsAllowed"), 0);
    if (allowed < 0 || allowed > INT32_MAX)
        return err_set(err, E_INVALID, "status.disruptionsAllowed: out of range");
    pdb->disruptions_allowed = (int32_t)allowed;
    read_disrupted(pdb, json_getc(status, "disruptedPods"));
    return 0;
}

static void pdb_fini(struct intern_table *w, struct sched_object *o)
{
    struct sched_pdb *pdb = (struct sched_pdb *)o;
    sched_selector_fini(w, &pdb->selector);
    intern_unref(w, pdb->namespace_word);
    free(pdb->disrupted);
    free(pdb->strings);
}

const struct sched_kind_ops sched_pdb_ops = {
    .size = sizeof(struct sched_pdb),
    .read = pdb_read,
    .fini = pdb_fini,
};

static bool is_disrupted(const struct sched_pdb *pdb, struct str name)
{
    return pdb->n_disrupted > 0 && bsearch(&name, pdb->disrupted, pdb->n_disrupted,
                                           sizeof(*pdb->disrupted), compare_names) != NULL;
}

bool sched_pdb_counts(const struct sched_pdb *pdb, const struct sched_pod *pod)
{
    return pod->labels.n > 0 && pdb->namespace_word == pod->namespace_word &&
           !pdb->selector.nothing && sched_selector_matches(&pdb->selector, &pod->labels) &&
           !is_disrupted(pdb, pod->o.name);
}
