/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The initial state of all instances of one revision of a function: memory and globals after
 * initialisation.
 *
 * An instance that has served a request is reused. Its written pages get the template's bytes back,
 * at a tenth of a microsecond each; a new instance would cost a page fault for each page, and
 * creation and destruction. Pages that the kernel reports as not written are left alone; if many
 * pages were written, the template is mapped again over all of them. An instance that failed, or
 * whose memory has grown, is freed. Tables and passive segments need no reset: a module that could
 * change them cannot be dissolved, so it has no snapshot and is initialised for every request.
 */
#pragma once

#include "runner/worker.h"

enum {
    TEMPLATE_COPY_PAGES = 16,   /* stored or initialised pages that are copied; more are mapped */
    TEMPLATE_RESET_PAGES = 256, /* written pages of an instance that is reset page by page */
    TEMPLATE_KEPT_MAX = 8,      /* waiting instances of one template, */
    RUNNER_KEPT_MAX = 512,      /* of all templates, */
    RUNNER_KEPT_PAGES = 8192    /* and their pages: past these the oldest is freed */
};

struct template;

/* Make the template of w->run in its slot. While the function runs, the instance is in `slots`. */
int template_new(struct runner_worker *w, struct err *err);
/* Remove the template from its slot; running instances continue. */
void template_drop(struct runner *r, uint32_t slot);
/* Put an instance for w->run into its slot; *t stays valid. E_TRAP: its initialisation failed. */
int template_take(struct runner_worker *w, struct template *t, struct err *err);
/* Return an instance whose request has ended; it is in no slot any more. is_ok: it may serve
 * another request. */
void template_give(struct instance *in, bool is_ok);
