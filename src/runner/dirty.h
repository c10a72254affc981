/* SPDX-License-Identifier: Apache-2.0 */
/* The pages of its memory that a guest has written to, from the kernel. */
#pragma once

#include "runner/instance.h"

enum { RUNNER_PAGE = 4096 };

struct page_region {
    uint64_t start, end, categories;
};
/* A walk over dirty ranges of [base, base + size), in order. */
struct dirty {
    int fd;
    bool old_way;
    uint64_t base, at, end; /* addresses; from `at` on not scanned yet */
    struct page_region found[64];
    size_t n, next;
};

/* Whether the kernel has PAGEMAP_SCAN (Linux 6.7). Without it pages are looked up one by one. */
bool dirty_has_scan(int pagemap_fd);
void dirty_init(struct dirty *d, struct instance *in, bool use_pagemap);
/* 1: [*from, *to) of the memory is dirty; 0: no more; else an error. */
int dirty_next(struct dirty *d, uint64_t *from, uint64_t *to);
