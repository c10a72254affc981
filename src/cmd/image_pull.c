/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse image pull: bring an image into the node store. */
#include "base/buf.h"
#include "base/clock.h"
#include "cmd/image_args.h"
#include "cmd/image_store.h"
#include "codec/json.h"
#include "image/layer_child.h"
#include "image/layer_rights.h"
#include "oci/pull.h"
#include "oci/reference.h"

#include <unistd.h>

enum { BAR_CELLS = 30, DRAW_MS = 100, NOTE_MAX_BYTES = 4096 };

static struct image_store_args where;
static const char *name, *platform, *form, *policy_word;
static enum image_cache_policy policy;
static uint64_t quota, threads;
static bool pin, by_blobs, wants_original, is_not_durable;
static struct oci_remote_opts registry;

static const struct cmd_opt opts[] = {
    { "name", 0, "NAME", "of the image in the store (from SOURCE)", CMD_STRING, &name, 0, 0 },
    { "platform", 0, "OS/ARCH", "of an image for several (this machine's)", CMD_STRING, &platform,
      0, 0 },
    IMAGE_STORE_OPT(where.store),
    { "form", 0, "FORM",
      "what to keep of layers: raw, gz, both or cas, also of those that are here (raw)", CMD_STRING,
      &form, 0, 0 },
    IMAGE_STORE_QUOTA_OPTS(quota, policy_word),
    { "threads", 0, "N", "layers at once (as many as processors)", CMD_U64, &threads, 1,
      OCI_PULL_THREADS_MAX },
    { "whole", 0, NULL, "layers only as their blobs, also where their files could be had alone",
      CMD_FLAG, &by_blobs, 0, 0 },
    IMAGE_ORIGINAL_OPT(wants_original),
    { "pin", 0, NULL, "never evict it", CMD_FLAG, &pin, 0, 0 },
    { "no-sync", 0, NULL, "do not wait until everything is on the disk", CMD_FLAG, &is_not_durable,
      0, 0 },
    IMAGE_REGISTRY_OPTS(registry),
    IMAGE_STORE_WAIT_OPT(where.wait_ms),
    IMAGE_STORE_OUTPUT_OPT(where.output),
    { .name = NULL },
};

static const struct cmd_opt *image_pull_opts(void)
{
    return opts;
}

/* ---- names ---- */

/* What stands in front of a source that is none of a registry. */
static bool is_file(struct str source)
{
    static const char *const kinds[] = { "oci:", "oci-archive:", "docker-archive:" };
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (str_has_prefix(source, str_of(kinds[i])))
            return true;
    return false;
}

/* "oci:dir/app:v1" is "app:v1", "docker-archive:x.tar:app:v1" too, "oci:dir/app" "app:latest". */
static char *name_of_file(struct str source)
{
    struct str kind, path, tag;
    (void)str_cut(source, ':', &kind, &path);
    (void)str_cut(path, ':', &path, &tag);
    if (str_find_char(tag, ':') >= 0 || str_find_char(tag, '/') >= 0)
        return str_dup(tag);
    while (str_has_suffix(path, STR("/")))
        path.n--;
    size_t at = path.n;
    while (at && path.p[at - 1] != '/')
        at--;
    path = str_slice(path, at, path.n);
    if (str_has_suffix(path, STR(".tar")))
        path.n -= strlen(".tar");
    return xasprintf(STR_FMT ":" STR_FMT, STR_ARG(path), STR_ARG(tag.n ? tag : STR("latest")));
}

/* "redis" and "docker://redis" are "docker.io/library/redis:latest". */
static int name_of(struct str source, char **ret, struct err *err)
{
    struct oci_reference ref;
    scoped(buf_fini_scoped) struct buf whole = BUF_INIT(2 * OCI_STORE_NAME_MAX);
    if (is_file(source)) {
        *ret = name_of_file(source);
        return 0;
    }
    if (str_has_prefix(source, STR("docker://")))
        source = str_slice(source, strlen("docker://"), source.n);
    int r = oci_reference_parse(source, &ref, err);
    if (r < 0)
        return err_ctx(err, r,
                       "none of oci:DIR[:NAME], oci-archive:FILE[:NAME], "
                       "docker-archive:FILE[:NAME] and [docker://]REFERENCE");
    oci_reference_format(&ref, &whole);
    *ret = xstrdup(buf_cstr(&whole));
    return 0;
}

/* ---- progress ---- */

/* Of a layer, since the command began; 0: that did not happen. */
struct span {
    struct oci_digest diff_id;
    uint64_t blob_bytes, began_us, received_us, done_us;
};

struct progress {
    uint64_t began_ns;
    struct span *spans;
    size_t n_spans;
    struct oci_store *store;
    bool is_terminal, is_quiet, is_drawn;
    uint64_t drawn_ms;
};

static void draw_bar(struct progress *p, const struct oci_pull_layer *layers, size_t n)
{
    uint64_t done = 0, all = 0;
    size_t n_done = 0;
    char bar[BAR_CELLS + 1] = { 0 };
    for (size_t i = 0; i < n; i++) {
        all += layers[i].blob.size;
        done += MIN(layers[i].done_bytes, layers[i].blob.size);
        n_done += layers[i].state == OCI_PULL_DONE || layers[i].state == OCI_PULL_PRESENT;
    }
    size_t cells = all ? (size_t)((double)done / (double)all * BAR_CELLS) : BAR_CELLS;
    for (size_t i = 0; i < BAR_CELLS; i++)
        bar[i] = i < cells ? '#' : '.';
    (void)fprintf(stderr, "\r[%s] %s of %s, %zu of %zu layers\x1b[K", bar, image_size_text(done),
                  image_size_text(all), n_done, n);
    (void)fflush(stderr);
    p->is_drawn = true;
    p->drawn_ms = clock_mono_ms();
}

static void clear_bar(struct progress *p)
{
    if (p->is_drawn)
        (void)fprintf(stderr, "\r\x1b[K");
    p->is_drawn = false;
}

static void print_layer(struct progress *p, const struct oci_pull_layer *l)
{
    static const char *const words[] = {
        [OCI_PULL_PRESENT] = "present", [OCI_PULL_DONE] = "done", [OCI_PULL_FAILED] = "failed"
    };
    char text[OCI_DIGEST_TEXT_SIZE];
    if (l->state < OCI_PULL_PRESENT)
        return;
    clear_bar(p);
    oci_digest_format(&l->diff_id, text);
    (void)fprintf(stderr, "layer %.12s  %-7s  %s\n", text + strlen("sha256:"), words[l->state],
                  image_size_text(l->blob.size));
}

static void time_layer(struct progress *p, const struct oci_pull_layer *l, size_t i)
{
    struct span *to = &p->spans[i];
    uint64_t now_us = MAX((clock_mono_ns() - p->began_ns) / 1000, (uint64_t)1);
    if (l->state == OCI_PULL_RUNNING && !to->began_us)
        *to = (struct span){ l->diff_id, l->blob.size, .began_us = now_us };
    if (l->state == OCI_PULL_RUNNING && l->done_bytes >= l->blob.size && !to->received_us)
        to->received_us = now_us;
    if (l->state == OCI_PULL_DONE)
        to->done_us = now_us;
}

static void on_progress(void *arg, const struct oci_pull_layer *layers, size_t n,
                        const struct oci_pull_layer *changed)
{
    struct progress *p = arg;
    if (!changed) {
        free(p->spans);
        p->spans = xnew_n(struct span, n + 1);
        p->n_spans = n;
    } else {
        time_layer(p, changed, (size_t)(changed - layers));
    }
    if (changed && changed->state == OCI_PULL_DONE)
        layer_rights_give(p->store, &changed->diff_id, STR(""));
    if (p->is_quiet)
        return;
    if (changed)
        print_layer(p, changed);
    if (p->is_terminal && (!p->is_drawn || clock_mono_ms() - p->drawn_ms >= DRAW_MS))
        draw_bar(p, layers, n);
}

/* What a command pulls is for all who may use the store. */
static int on_image(void *arg, const struct oci_image *image, struct err *err)
{
    struct progress *p = arg;
    (void)err;
    layer_rights_give_documents(p->store, image, STR(""));
    return 0;
}

static void print_about(void *arg, const struct oci_pull_layer *layer, const char *what,
                        const char *why)
{
    struct progress *p = arg;
    char text[OCI_DIGEST_TEXT_SIZE];
    scoped(buf_fini_scoped) struct buf safe = BUF_INIT(NOTE_MAX_BYTES);
    if (p->is_quiet)
        return;
    clear_bar(p);
    cmd_add_safe(&safe, str_of(why));
    oci_digest_format(&layer->diff_id, text);
    (void)fprintf(stderr, "layer %.12s  %s: " STR_FMT "\n", text + strlen("sha256:"), what,
                  STR_ARG(buf_str(&safe)));
}

static void on_fallback(void *arg, const struct oci_pull_layer *layer, const char *why)
{
    print_about(arg, layer, "cannot be made from parts, the blob is fetched", why);
}

static void on_again(void *arg, const struct oci_pull_layer *layer, const char *why)
{
    print_about(arg, layer, "is asked for once more", why);
}

static void on_other_form(void *arg, const struct oci_pull_layer *layer, const char *why)
{
    print_about(arg, layer, "is not kept in the form asked for", why);
}

static void on_original(void *arg, const char *why)
{
    clear_bar(arg);
    image_warn_original(why);
}

/* Of several threads, so that it leaves what they share alone. */
static void on_note(void *arg, const char *text)
{
    const struct progress *p = arg;
    scoped(buf_fini_scoped) struct buf safe = BUF_INIT(NOTE_MAX_BYTES);
    cmd_add_safe(&safe, str_of(text));
    (void)fprintf(stderr, "%s" STR_FMT "\n", p->is_terminal ? "\r\x1b[K" : "",
                  STR_ARG(buf_str(&safe)));
}

/* ---- the command ---- */

static int read_args(struct oci_store_opts *store, struct oci_pull_opts *pull,
                     enum image_store_output *output)
{
    static const char *const forms[] = {
        [OCI_STORE_RAW] = "raw",
        [OCI_STORE_GZ] = "gz",
        [OCI_STORE_BOTH] = "both",
        [OCI_STORE_CAS] = "cas",
    };
    struct err err = { 0 };
    size_t i = 0;
    while (i < ARRAY_LEN(forms) && strcmp(form ? form : "raw", forms[i]) != 0)
        i++;
    if (i == ARRAY_LEN(forms))
        return cmd_failf(CMD_USAGE, "--form is raw, gz, both or cas, not '%s'", form);
    int bad = image_store_policy(policy_word, &policy);
    if (bad)
        return bad;
    *store = (struct oci_store_opts){ .form = (enum oci_store_form)i,
                                      .quota_bytes = quota,
                                      .is_not_durable = is_not_durable,
                                      .lock_ms = where.wait_ms };
    pull->platform = oci_platform_here();
    pull->demands_platform = platform != NULL;
    pull->threads = (unsigned)threads;
    if (platform && oci_platform_parse(str_of(platform), &pull->platform, &err) < 0)
        return cmd_fail(CMD_USAGE, &err);
    return image_store_output(where.output, output);
}

/* Of the layers that were brought. */
static struct json *spans_json(struct arena *a, const struct progress *p)
{
    struct json *list = json_new_array(a);
    for (size_t i = 0; i < p->n_spans; i++) {
        const struct span *s = &p->spans[i];
        char digest[OCI_DIGEST_TEXT_SIZE];
        if (!s->done_us)
            continue;
        struct json *v = json_new_object(a);
        oci_digest_format(&s->diff_id, digest);
        json_set_str(a, v, "layer", str_of(digest));
        json_set_int(a, v, "bytes", (int64_t)s->blob_bytes);
        json_set_int(a, v, "beganMicroseconds", (int64_t)s->began_us);
        if (s->received_us)
            json_set_int(a, v, "receivedMicroseconds", (int64_t)s->received_us);
        json_set_int(a, v, "doneMicroseconds", (int64_t)s->done_us);
        json_add(list, v);
    }
    return list;
}

static void print(const struct oci_pull_result *res, struct str as, const struct progress *p,
                  enum image_store_output output)
{
    struct arena a = { 0 };
    char digest[OCI_DIGEST_TEXT_SIZE], original[OCI_DIGEST_TEXT_SIZE];
    oci_digest_format(&res->manifest, digest);
    oci_digest_format(&res->original, original);
    if (output == IMAGE_STORE_NAME) {
        image_store_print_name(as);
    } else if (output == IMAGE_STORE_JSON) {
        struct json *v = json_new_object(&a);
        json_set_str(&a, v, "name", as);
        json_set_str(&a, v, "digest", str_of(digest));
        if (res->is_refactored)
            json_set_str(&a, v, "original", str_of(original));
        json_set_int(&a, v, "layers", (int64_t)res->n_layers);
        json_set_int(&a, v, "layersPresent", (int64_t)res->n_present);
        json_set_int(&a, v, "bytes", (int64_t)res->n_bytes);
        json_set_int(&a, v, "tarBytes", (int64_t)res->n_tar_bytes);
        json_set_int(&a, v, "layersByFiles", (int64_t)res->n_by_files);
        json_set_int(&a, v, "blobBytesSpared", (int64_t)res->n_blob_bytes);
        json_setc(&a, v, "spans", spans_json(&a, p));
        image_store_print_json(v);
    } else {
        scoped(buf_fini_scoped) struct buf safe = BUF_INIT(OCI_STORE_NAME_MAX * 8);
        cmd_add_safe(&safe, as);
        (void)printf(STR_FMT "  %s\n%zu layers, %zu of them new, %s read", STR_ARG(buf_str(&safe)),
                     digest, res->n_layers, res->n_layers - res->n_present,
                     image_size_text(res->n_bytes));
        if (res->n_by_files)
            (void)printf("; %zu made from files, instead of %s", res->n_by_files,
                         image_size_text(res->n_blob_bytes));
        (void)putchar('\n');
        if (res->is_refactored)
            (void)printf("the refactored form of %s\n", original);
    }
    arena_fini(&a);
}

static void origin_scoped(struct oci_origin *origin)
{
    oci_origin_close(origin);
}

static int pull_source(const char *source, struct oci_store_opts store_opts,
                       struct oci_pull_opts *pull, struct oci_pull_result *res, struct err *err)
{
    bool is_bare = !is_file(str_of(source)) && strncmp(source, "docker://", 9) != 0;
    scoped(free_scoped) char *reference = xasprintf("%s%s", is_bare ? "docker://" : "", source);
    scoped(origin_scoped) struct oci_origin origin = { 0 };
    scoped(image_store_close_scoped) struct oci_store *store = NULL;
    int r = oci_origin_open(str_of(reference), &registry, &origin, err);
    r = r < 0 ? r : image_store_open_with(where.store, store_opts, policy, &store, err);
    if (r < 0)
        return r;
    pull->origin = origin;
    pull->is_pinned = pin;
    pull->has_form = form != NULL;
    pull->is_by_blobs = by_blobs;
    pull->prefers_refactored = !wants_original;
    pull->may_show = layer_rights_is_public;
    pull->reading = &layer_child_reading;
    ((struct progress *)pull->arg)->store = store;
    return oci_pull(store, pull, res, err);
}

static int run(int argc, char **argv)
{
    size_t n;
    struct err err = { 0 };
    struct oci_store_opts store;
    struct oci_pull_result res;
    enum image_store_output output;
    struct progress progress = { .began_ns = clock_mono_ns(),
                                 .is_terminal = isatty(STDERR_FILENO) };
    struct oci_pull_opts pull = { .on_image = on_image,
                                  .on_progress = on_progress,
                                  .on_fallback = on_fallback,
                                  .on_again = on_again,
                                  .on_other_form = on_other_form,
                                  .on_original = on_original,
                                  .arg = &progress };
    int r = cmd_parse(&cmd_image_pull, opts, argc, argv, 1, &n);
    if (r)
        return r - 1;
    if (n != 1)
        return cmd_failf(CMD_USAGE, "which image? 'dormouse image pull --help' says more");
    if ((r = read_args(&store, &pull, &output)) != 0)
        return r;
    registry.note = on_note;
    registry.arg = &progress;
    scoped(free_scoped) char *as = NULL;
    r = name_of(str_of(argv[0]), &as, &err);
    pull.name = str_of(name ? name : as);
    r = r < 0 ? r : pull_source(argv[0], store, &pull, &res, &err);
    clear_bar(&progress);
    if (r >= 0)
        print(&res, pull.name, &progress, output);
    free(progress.spans);
    return r < 0 ? cmd_fail(CMD_FAILED, &err) : CMD_OK;
}

const struct cmd cmd_image_pull = {
    .name = "image pull",
    .args = "SOURCE",
    .doc = "bring an image into the store of this machine",
    .help = IMAGE_SOURCE_HELP
    "docker:// may be left out. Layers that the store has are not read again, except, with "
    "--form,\n"
    "for what they lack in that form; what is kept stays, but with cas tars become files. The "
    "digest of\n"
    "every blob and the DiffID of every layer are compared before anything becomes visible. A\n"
    "pull that is interrupted leaves whole layers, and of a registry's blobs what arrived; the\n"
    "next one goes on there.\n"
    "\n"
    "'dormouse image serve' also gives files by their digests. From it a store of the form raw\n"
    "fetches of a layer only the files that it does not have, packed against older versions of\n"
    "them, and makes the layer from these; its DiffID is compared as ever. So it does with what\n"
    "'dormouse image delta' attached to the image in its registry, and, where layers are eStargz\n"
    "or zstd:chunked, with ranges of their blobs.\n"
    "\n"
    "Where 'dormouse image refactor' attached an image to the one of a tag, that is what is "
    "pulled,\n"
    "under the same name: it has the same files, in layers that it shares with others. Its\n"
    "configuration has to be the same. --original takes what the tag names, as every command does\n"
    "with DORMOUSE_IMAGE_ORIGINAL=1; an image that is named by its digest is never another one.\n"
    "\n"
    "With --no-sync the pull does not wait for the disk. Images are whole as long as the machine\n"
    "runs; when it stops, the next command removes the layers that came so, to be pulled again.\n"
    "The next command without it that writes the store ('dormouse image gc') makes them stay.\n"
    "\n"
    "With --form cas each file is kept once, however many layers have its content; mounts use it\n"
    "from there (Linux 6.5), and the tar of a layer is made again where one is needed.\n"
    "\n"
    "With --quota layers leave until there is room, in the order of --policy, which remembers "
    "what\n"
    "was pulled and used before ('dormouse image ls --layers'). Those of pinned images, and those\n"
    "that mounts and containers use, stay; where too much stays the pull fails.\n"
    "\n"
    "With -o json the result has spans: of each layer that was brought when it began, when the "
    "last\n"
    "byte of its blob was passed on, and when it was whole in the store, since the command began.\n"
    "\n"
    "  dormouse image pull redis:7\n"
    "  dormouse image pull docker-archive:app.tar\n"
    "  dormouse image pull oci:layout:v1 --name registry.example/app:v1 --platform linux/arm64\n",
    .run = run,
    .opts = image_pull_opts,
};
