/* SPDX-License-Identifier: Apache-2.0 */
#include "dm/frames.h"

#include <string.h>

void dm_frames_reset(struct dm_frames *f)
{
    dm_text_fini(&f->partial);
    *f = (struct dm_frames){ 0 };
}

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Take one character; true when it ends an event. */
static bool step(struct dm_frames *f, char c)
{
    if (f->in_string) {
        if (f->escaped)
            f->escaped = false;
        else if (c == '\\')
            f->escaped = true;
        else if (c == '"')
            f->in_string = false;
        else if (c == '\n')
            f->broken = true; /* an event was cut off in the middle */
        return false;
    }
    if (c == '"')
        f->in_string = true;
    else if (c == '{' || c == '[')
        f->depth++;
    else if (c == '}' || c == ']')
        return --f->depth == 0;
    return false;
}

static bool break_off(struct dm_frames *f)
{
    dm_frames_reset(f);
    f->broken = true;
    return false;
}

bool dm_frames_feed(struct dm_frames *f, const char *p, size_t n, dm_frame_fn fn, void *arg)
{
    const char *end = p + n, *from = p;
    while (p < end && !f->broken) {
        if (f->depth == 0) {
            if (is_space(*p)) {
                from = ++p;
                continue;
            }
            if (*p != '{')
                break;
        }
        bool complete = step(f, *p++);
        if (f->partial.n + (size_t)(p - from) > DM_EVENT_MAX)
            break;
        if (!complete)
            continue;
        if (!f->partial.n) {
            fn(arg, from, (size_t)(p - from));
        } else {
            dm_text_put(&f->partial, from, (size_t)(p - from));
            struct dm_text whole = f->partial;
            f->partial = (struct dm_text){ 0 };
            fn(arg, whole.p, whole.n);
            dm_text_fini(&whole);
        }
        from = p;
    }
    if (p < end || f->broken)
        return break_off(f);
    if (f->depth)
        dm_text_put(&f->partial, from, (size_t)(end - from));
    return true;
}
