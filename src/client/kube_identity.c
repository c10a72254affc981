/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of identities; see kube_identity.h. */
#include "client/kube_identity.h"

struct kube_identity *kube_identity_copy(struct arena *a, const struct kube_identity *id)
{
    if (!id)
        return NULL;
    struct kube_identity *copy = arena_new(a, struct kube_identity);
    struct str *groups = arena_new_n(a, struct str, id->n_groups + 1);
    struct kube_extra *extra = arena_new_n(a, struct kube_extra, id->n_extra + 1);
    for (size_t i = 0; i < id->n_groups; i++)
        groups[i] = str_copy_arena(a, id->groups[i]);
    for (size_t i = 0; i < id->n_extra; i++) {
        struct str *values = arena_new_n(a, struct str, id->extra[i].n + 1);
        for (size_t k = 0; k < id->extra[i].n; k++)
            values[k] = str_copy_arena(a, id->extra[i].values[k]);
        extra[i] = (struct kube_extra){ .key = str_copy_arena(a, id->extra[i].key),
                                        .values = values,
                                        .n = id->extra[i].n };
    }
    *copy = (struct kube_identity){ .user = str_copy_arena(a, id->user),
                                    .uid = str_copy_arena(a, id->uid),
                                    .token = str_copy_arena(a, id->token),
                                    .groups = groups,
                                    .n_groups = id->n_groups,
                                    .extra = extra,
                                    .n_extra = id->n_extra };
    return copy;
}
