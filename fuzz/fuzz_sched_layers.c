/* SPDX-License-Identifier: Apache-2.0 */
/* The annotation that names the layers of a pod's images: what is read of it is within its limits,
 * and all of it is missing on a node that tells nothing. */
#include "fuzz.h"

#include "sched/plugins/break_inputs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct arena a = { 0 };
    struct intern_table *w = intern_table_new();
    struct sched_pod pod = { .image_layers = intern_get(w, str_n(data, n)) };
    struct sched_framework f = { .words = w };
    struct sched_cycle cycle = { .arena = &a, .pod = &pod, .framework = &f };
    const struct break_layers *l =
        break_layers_of(&(struct break_states){ 0 }, &(struct break_images){ 0 }, &cycle);
    FUZZ_CHECK(l->n <= PLACE_BREAK_LAYERS_MAX && l->prefix);
    int64_t total = 0;
    for (uint32_t i = 0; i < l->n; i++) {
        FUZZ_CHECK(l->size[i] >= 0 && l->unpacked[i] >= 0);
        FUZZ_CHECK(l->prefix[i] >> 8 * SCHED_LAYER_PREFIX_BYTES == 0);
        total += l->size[i];
        for (uint32_t k = 0; k < i; k++)
            FUZZ_CHECK(l->prefix[i] != l->prefix[k]);
    }
    FUZZ_CHECK(total == l->total);
    struct break_states states = { .words = w };
    struct place_break_set present;
    struct sched_node node = { 0 };
    struct sched_node_info info = { .node = &node };
    break_present(&states, &cycle, l, &info, NULL, &present);
    for (uint32_t i = 0; i < l->n; i++)
        FUZZ_CHECK(!place_break_in(&present, i));
    break_states_fini(&states);
    intern_unref(w, pod.image_layers);
    intern_table_free(w);
    arena_fini(&a);
    return 0;
}
