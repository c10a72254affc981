/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptions of clusters; what was read can be planned. */
#include "fuzz.h"

#include "image/cluster_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct arena a = { 0 };
    struct image_cluster_file f;
    struct err err = { 0 };
    struct image_tasks tasks;
    int r = image_cluster_file_read(&a, str_n(data, n), &f, &err);
    FUZZ_CHECK(r >= 0 || err.code == r);
    for (uint32_t i = 0; r >= 0 && i < f.o.n_nodes && i < 8; i++) {
        f.o.node = i;
        if (!image_orchestrate(&f.o, &tasks))
            continue;
        FUZZ_CHECK(tasks.seconds >= 0);
        image_tasks_fini(&tasks);
    }
    arena_fini(&a);
    return 0;
}
