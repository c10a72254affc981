/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse image push: an image from anywhere into a registry. */
#include "base/clock.h"
#include "cmd/image_args.h"
#include "codec/json.h"
#include "oci/push.h"

#include <stdio.h>
#include <unistd.h>

enum { BAR_CELLS = 30, DRAW_MS = 100 };

static struct image_args args;
static bool all;

static const struct cmd_opt opts[] = {
    { "all", 0, NULL, "all platforms of an image for several, not only one", CMD_FLAG, &all, 0, 0 },
    { "platform", 0, "OS/ARCH", "of an image for several platforms (this machine's)", CMD_STRING,
      &args.platform, 0, 0 },
    IMAGE_REGISTRY_OPTS(args.registry),
    IMAGE_TEXT_OUTPUT_OPT(args.output),
    { .name = NULL },
};

static const struct cmd_opt *image_push_opts(void)
{
    return opts;
}

/* ---- progress: a bar on a terminal, a line for each blob that is done everywhere ---- */

struct image_push_progress {
    bool is_terminal, is_drawn;
    uint64_t drawn_ms;
};

static void clear_bar(struct image_push_progress *p)
{
    if (p->is_drawn)
        (void)fprintf(stderr, "\r\x1b[K");
    p->is_drawn = false;
}

static void draw_bar(struct image_push_progress *p, const char *name, uint64_t n, uint64_t size)
{
    char bar[BAR_CELLS + 1] = { 0 };
    size_t cells = size ? (size_t)((double)n / (double)size * BAR_CELLS) : BAR_CELLS;
    for (size_t i = 0; i < BAR_CELLS; i++)
        bar[i] = i < cells ? '#' : '.';
    (void)fprintf(stderr, "\r%.12s [%s] %s of %s\x1b[K", name, bar, image_size_text(n),
                  image_size_text(size));
    (void)fflush(stderr);
    p->is_drawn = true;
    p->drawn_ms = clock_mono_ms();
}

static void on_news(void *arg, const struct oci_push_news *news)
{
    static const char *const words[] = { [OCI_PUSHED_UPLOADED] = "uploaded",
                                         [OCI_PUSHED_EXISTED] = "present",
                                         [OCI_PUSHED_MOUNTED] = "mounted" };
    struct image_push_progress *p = arg;
    char digest[OCI_DIGEST_TEXT_SIZE];
    oci_digest_format(&news->blob->digest, digest);
    const char *name = digest + sizeof "sha256:" - 1;
    if (news->is_done) {
        clear_bar(p);
        (void)fprintf(stderr, "blob %.12s  %-8s  %s\n", name, words[news->how],
                      image_size_text(news->blob->size));
    } else if (p->is_terminal && clock_mono_ms() - p->drawn_ms >= DRAW_MS) {
        draw_bar(p, name, news->n_bytes, news->blob->size);
    }
}

static void on_note(void *arg, const char *text)
{
    clear_bar(arg);
    (void)fprintf(stderr, "%s\n", text);
}

/* ---- the command ---- */

static int push(const char *source, struct str target, struct image_push_progress *progress,
                struct oci_push_result *ret, struct oci_reference *ref, struct err *err)
{
    scoped(oci_source_free_scoped) struct oci_source *from = NULL;
    scoped(oci_remote_free_scoped) struct oci_remote *to = NULL;
    scoped(free_scoped) char *full = image_reference(args.store, source);
    struct oci_push_opts push_opts = {
        .platform = args.wanted, .all = all, .news = on_news, .arg = progress
    };
    args.registry.note = on_note;
    args.registry.arg = progress;
    int r = oci_reference_parse(target, ref, err);
    r = r < 0 ? r : oci_source_open_with(str_of(full), &args.registry, &from, err);
    r = r < 0 ? r : oci_remote_open(ref, &args.registry, &to, err);
    r = r < 0 ? r : oci_push(from, to, &push_opts, ret, err);
    clear_bar(progress);
    return r;
}

static void print(const struct oci_reference *ref, const struct oci_push_result *res)
{
    char digest[OCI_DIGEST_TEXT_SIZE];
    struct arena a = { 0 };
    scoped(buf_fini_scoped) struct buf name = BUF_INIT(1024), out = BUF_INIT(1 << 16);
    oci_digest_format(&res->digest, digest);
    oci_reference_format(ref, &name);
    if (args.is_json) {
        struct json *v = json_new_object(&a);
        json_set_str(&a, v, "name", buf_str(&name));
        json_set_str(&a, v, "digest", str_of(digest));
        json_set_int(&a, v, "uploaded", (int64_t)res->n_uploaded);
        json_set_int(&a, v, "mounted", (int64_t)res->n_mounted);
        json_set_int(&a, v, "present", (int64_t)res->n_existed);
        json_set_int(&a, v, "bytes", (int64_t)res->n_bytes);
        (void)json_write_pretty(&out, v, 2);
        (void)printf(STR_FMT "\n", STR_ARG(buf_str(&out)));
    } else {
        (void)printf("%s@%s\n", buf_cstr(&name), digest);
    }
    arena_fini(&a);
}

static int run(int argc, char **argv)
{
    size_t n;
    struct err err = { 0 };
    struct oci_push_result res;
    struct oci_reference ref;
    struct image_push_progress progress = { .is_terminal = isatty(STDERR_FILENO) };
    static const struct str docker = { "docker://", 9 };
    int r = cmd_parse(&cmd_image_push, opts, argc, argv, 2, &n);
    if (r)
        return r - 1;
    if (n != 2 || !str_has_prefix(str_of(argv[1]), docker))
        return cmd_failf(
            CMD_USAGE,
            "an image and docker://REFERENCE are needed; see 'dormouse image push --help'");
    if ((r = image_args_check(&args)) != 0)
        return r;
    struct str target = str_of(argv[1] + docker.n);
    if (push(argv[0], target, &progress, &res, &ref, &err) < 0)
        return cmd_fail(CMD_FAILED, &err);
    print(&ref, &res);
    return CMD_OK;
}

const struct cmd cmd_image_push = {
    .name = "image push",
    .args = "SOURCE docker://REFERENCE",
    .doc = "copy an image into a registry",
    .help = IMAGE_SOURCE_HELP
    "\n"
    "Blobs that the registry has are not sent again; blobs of another repository of it are\n"
    "mounted. The manifest stays unchanged, and so does its digest, which is printed. Two\n"
    "kinds of image have no manifest of a registry: those of docker-archive, and those in a\n"
    "store that keeps no compressed layers ('dormouse image pull --form gz' or both keeps\n"
    "them). The command makes an OCI manifest for them, with the uncompressed layers, which\n"
    "are larger and have other digests.\n"
    "\n"
    "  dormouse image push oci:layout:v1 docker://localhost:5000/app:v1\n"
    "  dormouse image push docker://redis:7 docker://registry.example.org/mirror/redis:7 --all\n",
    .run = run,
    .opts = image_push_opts,
};
