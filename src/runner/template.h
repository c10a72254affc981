/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The start of all instances of one revision of a function: memory and globals as they are after
 * initialisation.
 *
 * An instance that has served a request is not thrown away. Its pages that were written to get the
 * template's bytes back, which costs a tenth of a microsecond each, where a new instance costs a
 * page fault for each and its making and unmaking besides. What the kernel says was never written
 * to is as it was; when many pages were, the template is mapped anew over all of them. What ended
 * badly, or has grown, is ended for good. Tables and passive segments need no care, since a
 * module that could change them is none that can be dissolved; such a module has no snapshot, and
 * is initialised for every request.
 */
#pragma once

#include "runner/worker.h"

enum {
    TEMPLATE_COPY_PAGES = 16,   /* stored, or written by the initialisation: copied, more are
                                 * mapped */
    TEMPLATE_RESET_PAGES = 256, /* of an instance that is put right page by page */
    TEMPLATE_KEPT_MAX = 8,      /* instances of one template that wait for a request, */
    RUNNER_KEPT_MAX = 512,      /* and of all; with so many pages of their own: */
    RUNNER_KEPT_PAGES = 8192    /* beyond, the one that has waited longest goes */
};

struct template;

/* Makes the template of w->run in its slot. While it lasts, its instance lies in slots. */
int template_new(struct runner_worker *w, struct err *err);
/* The slot lets go of it; instances at work go on. */
void template_drop(struct runner *r, uint32_t slot);
/* An instance for w->run, into its slot; *t stays. E_TRAP: its initialisation failed. */
int template_take(struct runner_worker *w, struct template *t, struct err *err);
/* The request has ended, the instance lies in no slot any more. is_ok: it may serve another one. */
void template_give(struct instance *in, bool is_ok);
