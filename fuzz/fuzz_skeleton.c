/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Skeletons of layers: a tar that is made has the length that the skeleton says, and no part is
 * asked for that does not lie in it. The input is taken as it is, and with its checksum made right.
 */
#include "fuzz.h"

#include "oci/skeleton.h"

enum { SUM_BYTES = 8, TAR_MAX = 16 << 20, SKELETON_MAX = 64 << 20 };

static int give_zeros(void *arg, const struct oci_skeleton_part *part, oci_skeleton_sink sink,
                      void *sink_arg, struct err *err)
{
    static const char zeros[4096];
    const struct oci_skeleton *k = arg;
    FUZZ_CHECK(part->size > 0 && part->offset + part->size <= k->tar_bytes);
    for (uint64_t left = part->size; left;) {
        size_t n = (size_t)MIN(left, (uint64_t)sizeof zeros);
        int r = sink(sink_arg, str_n(zeros, n), err);
        if (r < 0)
            return r;
        left -= n;
    }
    return 0;
}

static int count(void *arg, struct str bytes, struct err *err)
{
    uint64_t *n = arg;
    (void)err;
    *n += bytes.n;
    return *n > TAR_MAX ? E_LIMIT : 0;
}

static void read_skeleton(struct str bytes)
{
    struct oci_skeleton k;
    uint64_t n = 0;
    if (oci_skeleton_read(bytes, &k, NULL) < 0)
        return;
    int r = oci_skeleton_make_tar(&k, give_zeros, &k, count, &n, NULL);
    FUZZ_CHECK(r < 0 || n == k.tar_bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str in = str_n(data, size);
    read_skeleton(in);
    if (size < SUM_BYTES)
        return 0;
    struct buf b = BUF_INIT(SKELETON_MAX);
    struct str summed = str_slice(in, 0, size - SUM_BYTES);
    (void)buf_add_str(&b, summed);
    (void)buf_add_le64(&b, oci_skeleton_sum(summed));
    read_skeleton(buf_str(&b));
    buf_fini(&b);
    return 0;
}
