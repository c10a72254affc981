/* SPDX-License-Identifier: Apache-2.0 */
/* The forward of decorators; see exchange.h. */
#include "io/exchange.h"

#include "base/mem.h"

static struct exchange_forward *forward_of(struct exchange *x)
{
    return container_of(x, struct exchange_forward, x);
}

/* ------------------------------------------------------------------ events */

void exchange_forward_head(void *arg, int status, const struct headers *headers)
{
    const struct exchange_forward *f = arg;
    exchange_report_head(&f->x, status, headers);
}

void exchange_forward_data(void *arg, struct str chunk)
{
    const struct exchange_forward *f = arg;
    exchange_report_data(&f->x, chunk);
}

void exchange_forward_trailers(void *arg, const struct headers *trailers)
{
    const struct exchange_forward *f = arg;
    exchange_report_trailers(&f->x, trailers);
}

void exchange_forward_writable(void *arg)
{
    const struct exchange_forward *f = arg;
    exchange_report_writable(&f->x);
}

void exchange_forward_end(void *arg, int r, const struct err *err)
{
    struct exchange_forward *f = arg;
    if (!f->x.reason && f->under)
        f->x.reason = f->under->reason;
    exchange_report_end(&f->x, r, err);
}

/* ------------------------------------------------------------------ controls */

void exchange_forward_started(struct exchange_forward *f)
{
    if (f->is_paused)
        exchange_pause(f->under);
}

bool exchange_forward_write(struct exchange *x, struct str chunk)
{
    return exchange_write(forward_of(x)->under, chunk);
}

void exchange_forward_end_body(struct exchange *x, const struct headers *trailers)
{
    exchange_end_body(forward_of(x)->under, trailers);
}

void exchange_forward_pause(struct exchange *x)
{
    struct exchange_forward *f = forward_of(x);
    f->is_paused = true;
    if (f->under)
        exchange_pause(f->under);
}

void exchange_forward_resume(struct exchange *x)
{
    struct exchange_forward *f = forward_of(x);
    f->is_paused = false;
    if (f->under)
        exchange_resume(f->under);
}

void exchange_forward_cancel(struct exchange *x)
{
    const struct exchange_forward *f = forward_of(x);
    if (f->under)
        exchange_cancel(f->under);
}

const struct exchange_ops exchange_forward_ops = { .write = exchange_forward_write,
                                                   .end_body = exchange_forward_end_body,
                                                   .pause = exchange_forward_pause,
                                                   .resume = exchange_forward_resume,
                                                   .cancel = exchange_forward_cancel };
