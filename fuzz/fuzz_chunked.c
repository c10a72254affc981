/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of contents in blobs: footers, packed tables, and tables as JSON, the first byte chooses.
 * Parts that are taken cover the blob without gaps, and chunks lie in their files.
 */
#include "fuzz.h"

#include "oci/chunked.h"

enum { SIZE = 100000 }; /* of the blob that the input is of */

static void check(const struct oci_chunks *c, uint64_t size)
{
    uint64_t end = 0;
    for (size_t i = 0; i < c->parts.n; i++) {
        const struct oci_chunk *p = &c->parts.p[i];
        FUZZ_CHECK(p->from == end && p->to > p->from);
        FUZZ_CHECK(p->at <= p->file_size && p->n <= p->file_size - p->at);
        end = p->to;
    }
    FUZZ_CHECK(end == size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct oci_chunked_place place = { SIZE - 1000, 900, 900 };
    struct oci_chunks c;
    struct buf table = BUF_INIT(OCI_CHUNKED_TABLE_MAX + 1);
    if (size == 0)
        return 0;
    struct str in = str_n(data + 1, size - 1);
    switch (data[0] % 6) {
    case 0:
        if (oci_estargz_footer(in, SIZE, &place, NULL) >= 0)
            FUZZ_CHECK(place.at + place.n + OCI_ESTARGZ_FOOTER_BYTES == SIZE);
        break;
    case 1:
        if (oci_zstd_chunked_position(in, SIZE, &place, NULL) >= 0)
            FUZZ_CHECK(place.at <= SIZE && place.n <= SIZE - place.at);
        break;
    case 2:
        (void)oci_estargz_table(in, &table, NULL);
        break;
    case 3:
        (void)oci_zstd_chunked_table(in, &place, &table, NULL);
        break;
    case 4:
        if (oci_estargz_parts(in, &place, SIZE, &c, NULL) >= 0) {
            check(&c, SIZE);
            oci_chunks_fini(&c);
        }
        break;
    default:
        if (oci_zstd_chunked_parts(in, &place, &c, NULL) >= 0) {
            check(&c, place.at - 8);
            oci_chunks_fini(&c);
        }
        break;
    }
    buf_fini(&table);
    return 0;
}
