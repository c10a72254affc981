/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse image pull: bring an image into the node store. */
#include "base/buf.h"
#include "base/clock.h"
#include "cmd/image_args.h"
#include "cmd/image_source.h"
#include "cmd/image_store.h"
#include "codec/json.h"
#include "oci/pull.h"
#include "oci/reference.h"

#include <unistd.h>

enum { BAR_CELLS = 30, DRAW_MS = 100, NOTE_MAX_BYTES = 4096 };

static struct image_store_args where;
static const char *name, *platform, *form, *policy_word;
static uint64_t quota, threads;
static bool pin, by_blobs, wants_original, is_not_durable;
static struct oci_remote_opts registry;

static const struct cmd_opt opts[] = {
    { "name", 0, "NAME", "of the image in the store (from SOURCE)", CMD_STRING, &name, 0, 0 },
    { "platform", 0, "OS/ARCH", "of an image for several platforms (this machine's)", CMD_STRING,
      &platform, 0, 0 },
    IMAGE_STORE_OPT(where.store),
    { "form", 0, "FORM",
      "what the store keeps of layers, also of existing ones: raw, gz, both or cas (raw)",
      CMD_STRING, &form, 0, 0 },
    IMAGE_STORE_QUOTA_OPTS(quota, policy_word),
    { "threads", 0, "N", "layers in parallel (one for each processor)", CMD_U64, &threads, 1,
      OCI_PULL_THREADS_MAX },
    { "whole", 0, NULL, "fetch layers only as whole blobs, not by their files", CMD_FLAG, &by_blobs,
      0, 0 },
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
    if (image_source_is_file(source)) {
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

struct image_pull_progress {
    bool is_terminal, is_drawn;
    uint64_t drawn_ms;
};

static uint64_t count_of(const struct json *v, const char *key)
{
    int64_t n = json_int_or(json_getc(v, key), 0);
    return n < 0 ? 0 : (uint64_t)n;
}

static void draw_bar(struct image_pull_progress *p, const struct json *v)
{
    uint64_t done = count_of(v, "doneBytes"), all = count_of(v, "bytes");
    char bar[BAR_CELLS + 1] = { 0 };
    size_t cells = all ? (size_t)((double)done / (double)all * BAR_CELLS) : BAR_CELLS;
    for (size_t i = 0; i < BAR_CELLS; i++)
        bar[i] = i < cells ? '#' : '.';
    (void)fprintf(stderr, "\r[%s] %s of %s, %llu of %llu layers\x1b[K", bar, image_size_text(done),
                  image_size_text(all), (unsigned long long)count_of(v, "layersDone"),
                  (unsigned long long)count_of(v, "layers"));
    (void)fflush(stderr);
    p->is_drawn = true;
    p->drawn_ms = clock_mono_ms();
}

static void clear_bar(struct image_pull_progress *p)
{
    if (p->is_drawn)
        (void)fprintf(stderr, "\r\x1b[K");
    p->is_drawn = false;
}

/* The beginning of the digest of a layer. */
static struct str short_digest(const struct json *layer)
{
    return str_slice(json_get_str(layer, "diffID"), strlen("sha256:"), strlen("sha256:") + 12);
}

static void print_layer(struct image_pull_progress *p, const struct json *l)
{
    struct str state = json_get_str(l, "state");
    clear_bar(p);
    (void)fprintf(stderr, "layer " STR_FMT "  %-7.*s  %s\n", STR_ARG(short_digest(l)),
                  STR_ARG(state), image_size_text(count_of(l, "bytes")));
}

static void print_about(struct image_pull_progress *p, const struct json *v)
{
    scoped(buf_fini_scoped) struct buf safe = BUF_INIT(NOTE_MAX_BYTES);
    clear_bar(p);
    cmd_add_safe(&safe, json_get_str(v, "why"));
    (void)fprintf(stderr, "layer " STR_FMT "  " STR_FMT ": " STR_FMT "\n",
                  STR_ARG(short_digest(json_getc(v, "layer"))), STR_ARG(json_get_str(v, "what")),
                  STR_ARG(buf_str(&safe)));
}

static void print_note(struct image_pull_progress *p, struct str text)
{
    scoped(buf_fini_scoped) struct buf safe = BUF_INIT(NOTE_MAX_BYTES);
    clear_bar(p);
    cmd_add_safe(&safe, text);
    (void)fprintf(stderr, STR_FMT "\n", STR_ARG(buf_str(&safe)));
}

static void on_event(void *arg, const struct json *v)
{
    struct image_pull_progress *p = arg;
    const struct json *layer = json_getc(v, "layer");
    if (json_getc(v, "note")) {
        print_note(p, json_get_str(v, "note"));
        return;
    }
    if (json_getc(v, "what")) {
        print_about(p, v);
        return;
    }
    if (json_getc(v, "original")) {
        clear_bar(p);
        scoped(free_scoped) char *why = str_dup(json_get_str(v, "original"));
        image_warn_original(why);
        return;
    }
    if (layer)
        print_layer(p, layer);
    if (p->is_terminal && (!p->is_drawn || clock_mono_ms() - p->drawn_ms >= DRAW_MS))
        draw_bar(p, v);
}

/* ---- the command ---- */

static int read_args(struct store_do *j, enum image_store_output *output)
{
    static const char *const forms[] = {
        [OCI_STORE_RAW] = "raw",
        [OCI_STORE_GZ] = "gz",
        [OCI_STORE_BOTH] = "both",
        [OCI_STORE_CAS] = "cas",
    };
    struct err err = { 0 };
    struct oci_platform of;
    size_t i = 0;
    while (i < ARRAY_LEN(forms) && strcmp(form ? form : "raw", forms[i]) != 0)
        i++;
    if (i == ARRAY_LEN(forms))
        return cmd_failf(CMD_USAGE, "--form is raw, gz, both or cas, not '%s'", form);
    int bad = image_store_policy(policy_word, &j->policy);
    if (bad)
        return bad;
    if (platform && oci_platform_parse(str_of(platform), &of, &err) < 0)
        return cmd_fail(CMD_USAGE, &err);
    j->opts = (struct oci_store_opts){ .form = (enum oci_store_form)i,
                                       .quota_bytes = quota,
                                       .is_not_durable = is_not_durable,
                                       .lock_ms = where.wait_ms };
    j->alone = quota || policy_word ? "has a quota and policy of its own" : NULL;
    j->job.kind = STORE_JOB_PULL;
    j->job.pull = (struct store_job_pull){ .platform = str_of(platform ? platform : ""),
                                           .form = str_of(form ? form : ""),
                                           .threads = threads,
                                           .is_pinned = pin,
                                           .is_by_blobs = by_blobs,
                                           .wants_original = wants_original };
    return image_store_output(where.output, output);
}

static void print(const struct json *v, enum image_store_output output)
{
    struct str digest = json_get_str(v, "digest"), original = json_get_str(v, "original");
    scoped(buf_fini_scoped) struct buf safe = BUF_INIT(OCI_STORE_NAME_MAX * 8);
    uint64_t n = count_of(v, "layers"), n_by_files = count_of(v, "layersByFiles");
    if (output == IMAGE_STORE_NAME) {
        image_store_print_name(json_get_str(v, "name"));
        return;
    }
    if (output == IMAGE_STORE_JSON) {
        image_store_print_json(v);
        return;
    }
    cmd_add_safe(&safe, json_get_str(v, "name"));
    (void)printf(STR_FMT "  " STR_FMT "\n%llu layers, %llu of them new, %s read",
                 STR_ARG(buf_str(&safe)), STR_ARG(digest), (unsigned long long)n,
                 (unsigned long long)(n - count_of(v, "layersPresent")),
                 image_size_text(count_of(v, "bytes")));
    if (n_by_files)
        (void)printf("; %llu made from files, instead of %s", (unsigned long long)n_by_files,
                     image_size_text(count_of(v, "blobBytesSpared")));
    (void)putchar('\n');
    if (original.n)
        (void)printf("the refactored form of " STR_FMT "\n", STR_ARG(original));
}

static int pull(struct store_do *j, const char *word, struct arena *a, struct json **ret,
                struct err *err)
{
    scoped(free_scoped) char *as = NULL;
    int r = name_of(str_of(word), &as, err);
    r = r < 0 ? r : image_source_pull(word, &registry, a, &j->job.pull, &j->alone, err);
    if (r < 0)
        return r;
    j->job.name = str_of(name ? name : as);
    return image_store_do(where.store, j, a, ret, err);
}

static int run(int argc, char **argv)
{
    size_t n;
    struct err err = { 0 };
    struct arena a = { 0 };
    struct json *result;
    enum image_store_output output;
    struct image_pull_progress progress = { .is_terminal = isatty(STDERR_FILENO) };
    int r = cmd_parse(&cmd_image_pull, opts, argc, argv, 1, &n);
    if (r)
        return r - 1;
    if (n != 1)
        return cmd_failf(CMD_USAGE, "no image is named; see 'dormouse image pull --help'");
    struct store_do j = { .on_event = on_event, .arg = &progress };
    if ((r = read_args(&j, &output)) != 0)
        return r;
    r = pull(&j, argv[0], &a, &result, &err);
    clear_bar(&progress);
    if (r >= 0)
        print(result, output);
    arena_fini(&a);
    return r < 0 ? cmd_fail(CMD_FAILED, &err) : CMD_OK;
}

const struct cmd cmd_image_pull = {
    .name = "image pull",
    .args = "SOURCE",
    .doc = "bring an image into the store of this machine",
    .help = IMAGE_SOURCE_HELP
    "The prefix docker:// is optional. A pull does not read layers again that the store has;\n"
    "with --form it adds what they lack in that form. Existing files stay, except that cas\n"
    "replaces tars by files. The digest of every blob and the DiffID of every layer are\n"
    "compared before anything becomes visible. An interrupted pull leaves complete layers,\n"
    "and the received part of blobs of a registry; the next pull continues there.\n"
    "\n"
    "'dormouse image serve' also gives files by their digests. From such a server a store of\n"
    "the form raw fetches only the files of a layer that it does not have, compressed against\n"
    "older versions of them, and makes the layer from these files; its DiffID is compared as\n"
    "well. The pull also uses what 'dormouse image delta' has attached to the image in its\n"
    "registry, and ranges of the blobs of eStargz and zstd:chunked layers.\n"
    "\n"
    "If 'dormouse image refactor' has attached an image to the image of a tag, the pull takes\n"
    "the attached image, under the same name: it has the same files, in layers that other\n"
    "images share. Its configuration has to be the same. --original takes the image of the\n"
    "tag, as every command does with DORMOUSE_IMAGE_ORIGINAL=1. A reference with a digest\n"
    "always gives the image with this digest. To pin the attached image use its own digest,\n"
    "which -o json prints for a tag.\n"
    "\n"
    "With --no-sync the pull does not wait for the disk. Images are complete as long as the\n"
    "machine runs. After a stop of the machine the next command removes the layers of such\n"
    "pulls, and they have to be pulled again. The next command without --no-sync that writes\n"
    "the store ('dormouse image gc') makes them durable.\n"
    "\n"
    "With --form cas each file is kept once, even if several layers have its content. Mounts\n"
    "use it directly (Linux 6.5), and the tar of a layer is made again where it is needed.\n"
    "\n"
    "With --quota layers are evicted until there is room, in the order of --policy, which\n"
    "uses the record of earlier pulls and uses ('dormouse image ls --layers'). Layers of\n"
    "pinned images and layers that mounts and containers use are not evicted. If too little\n"
    "can be evicted the pull fails.\n"
    "\n"
    "While a server ('dormouse image serve --upstream', or 'dormouse up' that pulls) has the\n"
    "store open, that server pulls, with the credentials of this command. Its own quota,\n"
    "policy and form apply, and it waits for the disk. If this command ends, the pull ends.\n"
    "\n"
    "With -o json the result has spans. For each layer that was fetched they say when the\n"
    "transfer began, when the last byte of its blob was passed on, and when it was complete\n"
    "in the store, counted from the start of the pull.\n"
    "\n"
    "  dormouse image pull redis:7\n"
    "  dormouse image pull docker-archive:app.tar\n"
    "  dormouse image pull oci:layout:v1 --name registry.example/app:v1 --platform linux/arm64\n",
    .run = run,
    .opts = image_pull_opts,
};
