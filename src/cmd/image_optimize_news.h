/* SPDX-License-Identifier: Apache-2.0 */
/* What 'dormouse image optimize' says: events on standard output, a table on a terminal, and news
 * of images to files and endpoints. */
#pragma once

#include "cmd/cmd.h"
#include "image/watch.h"

/* Lines of JSON instead of text; call first. */
void image_optimize_output(bool is_json);
/* "TIME KIND key=value ..." */
void image_optimize_event(const char *kind, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Draw the table again; nothing unless standard output is a terminal. */
void image_optimize_screen(const struct image_watch *w);

struct optimize_news {
    const struct cmd_list *where; /* files, URLs, nodes as NAME=URL */
    struct str key;               /* of the cluster that the nodes are of */
    const struct oci_remote_opts *registry;
};
/*
 * An image_news_fn; arg: struct optimize_news. Logs an event, and sends for an image that moved or
 * was deleted {"name", "old", "new", "dead": [...]} to all of `where`: appended to a file, or
 * POSTed. A failed POST to a node is an event; the node finds out when it next compares the tag.
 */
int image_optimize_print(void *arg, const struct image_news *n, struct err *err);
/* Check a receiver of news: a URL of HTTP(S), a node (with a key), or a file in an existing
 * directory. Errors: E_INVALID, those of stat(). */
int image_optimize_check(const char *where, bool has_key, struct err *err);
