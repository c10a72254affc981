/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What guests of ABI v1 post: events and labels of metrics. Whatever is accepted becomes JSON that
 * parses, and Prometheus text with one line per value.
 */
#include "fuzz.h"

#include "codec/json.h"
#include "operator/v1/events.h"
#include "operator/v1/guest_metrics.h"

#include <errno.h>

static unsigned n_sent;

static int start(struct transport *t, const struct kube_request *req,
                 const struct exchange_events *events, void *arg, struct exchange **ret,
                 struct err *err)
{
    struct arena a = { 0 };
    struct json *body;
    FUZZ_CHECK(json_parse(&a, req->body, NULL, &body, NULL) == 0);
    FUZZ_CHECK(json_get_str(json_getc(body, "metadata"), "name").n > 0);
    FUZZ_CHECK(str_has_prefix(req->target, STR("/apis/events.k8s.io/v1/namespaces/")));
    FUZZ_CHECK(str_find(req->target, STR("..")) < 0);
    arena_fini(&a);
    n_sent++;
    return err_set(err, -ECONNREFUSED, "nobody is there");
}

static void check_event(struct str text)
{
    struct transport transport = { start };
    struct loop loop;
    struct err err = { 0 };
    FUZZ_CHECK(loop_init(&loop, NULL) == 0);
    struct events_opts opts = { .loop = &loop,
                                .transport = &transport,
                                .operator_name = "ns/op",
                                .default_namespace = "default" };
    struct events *ev = events_new(&opts);
    unsigned before = n_sent;
    if (events_report(ev, text, &err) < 0)
        FUZZ_CHECK(err.code < 0 && n_sent == before);
    else
        FUZZ_CHECK(n_sent == before + 1);
    events_free(ev);
    loop_fini(&loop);
}

static void check_labels(struct str text)
{
    static const char declared[] =
        "{\"controllers\":[],\"metrics\":[{\"name\":\"m\",\"type\":\"gauge\",\"labels\":[\"a\","
        "\"b\"]}]}";
    struct declarations all;
    struct declaration *d = NULL;
    declarations_init(&all);
    FUZZ_CHECK(declaration_get(&all, str_of(declared), &d, NULL) == 0);
    struct guest_metrics *m = guest_metrics_new(d);
    if (guest_metrics_observe(m, 0, text, 1, NULL) == 0) {
        struct guest_metrics_source source = { m, "ns/op" };
        struct buf b = BUF_INIT(1 << 20);
        size_t lines = 0;
        guest_metrics_write(&source, 1, &b);
        for (size_t i = 0; i < b.n; i++)
            lines += b.p[i] == '\n';
        FUZZ_CHECK(lines == 3);
        buf_fini(&b);
    }
    guest_metrics_free(m);
    declaration_unref(d);
    declarations_fini(&all);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct str text = str_n(data, n);
    if (n > 0 && data[0] == '[')
        check_labels(text);
    else
        check_event(text);
    return 0;
}
