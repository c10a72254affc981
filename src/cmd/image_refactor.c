/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse image refactor: new layers for several images, so that what they share is stored once.
 */
#include "cmd/image_refactor.h"
#include "base/sys.h"
#include "base/vec.h"
#include "cmd/image_args.h"
#include "cmd/image_refactor_print.h"
#include "image/layer_child.h"
#include "image/publish.h"
#include "image/redundancy.h"
#include "image/scratch.h"
#include "image/second_reader.h"
#include "image/start_list.h"
#include "image/times.h"
#include "image/volatility.h"
#include "oci/layout.h"

#include <fcntl.h>
#include <stdio.h>

static const struct str DOCKER = { "docker://", 9 };

static struct image_args args;
static const char *to, *update, *mtime = "canonical", *link_how = "none", *mode = "side",
                                *proof = "auto";
static struct cmd_list exact_globs, names, start_files;
static const char *layers_how = "gzip";
static struct map start_contents; /* SHA-256 of what the start of an image opens */
static const char *redundancy = "0", *times_file, *changes_file, *index_dir;
static struct image_times times;
static struct image_volatility changes;
static bool is_dry, is_forced, is_skipping;
static uint64_t redundancy_threshold;
static uint64_t layer_threshold = IMAGE_LAYER_THRESHOLD, gain_threshold = IMAGE_GAIN_AUTOMATIC;
static uint64_t split_threshold = IMAGE_SPLIT_THRESHOLD;
static uint64_t max_layers = IMAGE_LAYERS_DEFAULT, cached, threads;

static const struct cmd_opt opts[] = {
    { "to", 0, "WHERE",
      "oci:DIR[:NAME], an image layout; docker://REPOSITORY[:TAG]; or source, the repositories "
      "that "
      "the images are from",
      CMD_STRING, &to, 0, 0 },
    { "dry-run", 0, NULL, "show what would be shared, write nothing", CMD_FLAG, &is_dry, 0, 0 },
    { "name", 0, "NAME", "of the first, second, ... new image (that of its source)", CMD_LIST,
      &names, 0, 0 },
    { "update", 0, "NAME",
      "IMAGE is a new version of this image: keep its layers, add one with what changed; a name in "
      "the layout, a tag or digest in the repository, or docker://REPOSITORY:TAG",
      CMD_STRING, &update, 0, 0 },
    { "layers", 0, "HOW",
      "estargz, zstd-chunked: with a table of contents, by which some clients fetch single files; "
      "gzip (gzip)",
      CMD_STRING, &layers_how, 0, 0 },
    { "start", 0, "FILE",
      "the files that the start of an image opens, from 'dormouse image run --record': eStargz "
      "layers have them first, to be read ahead; may be repeated",
      CMD_LIST, &start_files, 0, 0 },
    { "mode", 0, "MODE",
      "replace: names and tags move to the new images. side: they do not; in a registry a new "
      "image is attached to its source, in a layout it is called sha256-DIGEST where the name is "
      "taken (side)",
      CMD_STRING, &mode, 0, 0 },
    CMD_SECTION("Plan"),
    { "layer-threshold", 0, "SIZE", "minimum compressed size of a shared layer (256Ki)", CMD_SIZE,
      &layer_threshold, 0, 0 },
    { "split-threshold", 0, "SIZE",
      "split a shared layer of this size if some of its paths have changed between versions, into "
      "one layer with these and one with the rest; 0: never (8Mi)",
      CMD_SIZE, &split_threshold, 0, 0 },
    { "changes", 0, "FILE",
      "record of the paths that have changed between versions; read and updated by each run; one "
      "file for each group",
      CMD_STRING, &changes_file, 0, 0 },
    { "gain-threshold", 0, "SIZE",
      "the minimum saving (64Mi, or a tenth of the stored bytes, if more)", CMD_SIZE,
      &gain_threshold, 0, 0 },
    { "max-layers", 0, "N", "layers of an image (16)", CMD_U64, &max_layers, 2, IMAGE_LAYERS_HARD },
    { "cached", 0, "SIZE", "bytes of the present layers that nodes hold and would fetch again (0)",
      CMD_SIZE, &cached, 0, 0 },
    { "redundancy-threshold", 0, "SIZE",
      "with --skip: start only if an image, or the group, has more bytes than this that are also "
      "in layers of others; auto: 16Mi or a fifth, if more (0)",
      CMD_STRING, &redundancy, 0, 0 },
    { "skip", 0, NULL,
      "if it would save too little, print why and succeed, without reading the contents; leave out "
      "images that cannot be read, and do not move tags that name an index for several platforms",
      CMD_FLAG, &is_skipping, 0, 0 },
    { "force", 0, NULL, "even if it saves too little; with --update also if much is new or hidden",
      CMD_FLAG, &is_forced, 0, 0 },
    CMD_SECTION("What counts as the same file"),
    { "mtime", 0, "HOW",
      "canonical: times need not be equal, shared files get the earliest; exact (canonical)",
      CMD_STRING, &mtime, 0, 0 },
    { "mtime-exact", 0, "GLOB", "paths whose times have to be equal; may be repeated", CMD_LIST,
      &exact_globs, 0, 0 },
    { "times", 0, "FILE",
      "record of the times with which files were published before, which they keep; read and "
      "updated by each run",
      CMD_STRING, &times_file, 0, 0 },
    { "link", 0, "HOW",
      "symlink: share by content, with symbolic links in the place of files; none (none)",
      CMD_STRING, &link_how, 0, 0 },
    CMD_SECTION("Other"),
    { "proof", 0, "HOW",
      "libarchive: it reads each new layer as well, and has to be installed; auto: if it is; own: "
      "only dormouse's reader (auto)",
      CMD_STRING, &proof, 0, 0 },
    { "index-dir", 0, "DIR", "keep indexes of layers, so that planning again reads no layer twice",
      CMD_STRING, &index_dir, 0, 0 },
    { "threads", 0, "N", "(one for each processor)", CMD_U64, &threads, 1, IMAGE_THREADS_MAX },
    IMAGE_ARGS_OPTS(args),
    { .name = NULL },
};

static const struct cmd_opt *image_refactor_opts(void)
{
    return opts;
}

/* ---- the command line ---- */

static int one_of(const char *option, const char *value, const char *first, const char *second,
                  bool *ret_second)
{
    *ret_second = str_is(str_of(value), second);
    if (*ret_second || str_is(str_of(value), first))
        return 0;
    return cmd_failf(CMD_USAGE, "--%s is %s or %s, not '%s'", option, first, second, value);
}

/* Do the new images go into registries? */
static bool is_registry(void)
{
    return to && (strcmp(to, "source") == 0 || str_has_prefix(str_of(to), DOCKER));
}

static int check_proof(struct image_refactor_opts *o)
{
    static const char *const ways[] = { "own", "auto", "libarchive" };
    size_t i = 0;
    while (i < ARRAY_LEN(ways) && strcmp(proof, ways[i]) != 0)
        i++;
    if (i == ARRAY_LEN(ways))
        return cmd_failf(CMD_USAGE, "--proof is libarchive, auto or own, not '%s'", proof);
    o->is_read_twice = i > 0 && !is_dry && second_reader_name();
    if (i == 2 && !second_reader_name())
        return cmd_failf(CMD_FAILED,
                         "libarchive (libarchive.so.13) is not installed on this machine");
    return 0;
}

static int check_redundancy(void)
{
    redundancy_threshold = IMAGE_REDUNDANCY_AUTOMATIC;
    if (strcmp(redundancy, "auto") == 0 || cmd_parse_size(redundancy, &redundancy_threshold) >= 0)
        return 0;
    return cmd_failf(CMD_USAGE, "--redundancy-threshold is a size or auto, not '%s'", redundancy);
}

static int check_layers(enum image_layer_kind *ret)
{
    static const char *const kinds[] = {
        [IMAGE_LAYER_GZIP] = "gzip",
        [IMAGE_LAYER_ESTARGZ] = "estargz",
        [IMAGE_LAYER_ZSTD_CHUNKED] = "zstd-chunked",
    };
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        *ret = (enum image_layer_kind)i;
        if (strcmp(layers_how, kinds[i]) == 0)
            return 0;
    }
    return cmd_failf(CMD_USAGE, "--layers is gzip, estargz or zstd-chunked, not '%s'", layers_how);
}

static int check_args(struct image_refactor_opts *o, size_t n)
{
    bool is_replace;
    int r = image_args_check(&args);
    r = r ? r : one_of("mtime", mtime, "canonical", "exact", &o->atoms.is_exact);
    r = r ? r : one_of("link", link_how, "none", "symlink", &o->atoms.is_linked);
    r = r ? r : one_of("mode", mode, "side", "replace", &is_replace);
    r = r ? r : check_layers(&o->form.kind);
    r = r ? r : check_proof(o);
    r = r ? r : check_redundancy();
    if (r)
        return r;
    if (!to && !is_dry)
        return cmd_failf(CMD_USAGE, "--to is missing: the destination of the new images, such as "
                                    "oci:DIR; --dry-run only shows what would be shared");
    if (to && !str_has_prefix(str_of(to), STR("oci:")) && !is_registry())
        return cmd_failf(CMD_USAGE,
                         "--to is oci:DIR[:NAME], docker://REPOSITORY[:TAG] or source, "
                         "not '%s'",
                         to);
    if (start_files.n && o->form.kind != IMAGE_LAYER_ESTARGZ)
        return cmd_failf(CMD_USAGE, "--start needs --layers estargz");
    if (update && (n != 1 || is_dry))
        return cmd_failf(CMD_USAGE, "--update needs exactly one image, and no --dry-run");
    if (names.n > n)
        return cmd_failf(CMD_USAGE, "%zu names for %zu images", names.n, n);
    o->platform = &args.wanted;
    o->registry = &args.registry;
    o->reading = &layer_child_reading;
    o->symlink_parent = args.parent;
    o->n_threads = (unsigned)threads;
    o->max_layers = (unsigned)max_layers;
    o->layer_threshold = layer_threshold;
    o->split_threshold = split_threshold;
    o->volatility = changes_file ? &changes : NULL;
    o->gain_threshold = gain_threshold;
    o->cached = cached;
    o->is_forced = is_forced;
    o->index_directory = index_dir;
    o->atoms.exact_globs = exact_globs.at;
    o->atoms.n_exact_globs = exact_globs.n;
    o->is_beside = !is_replace;
    return 0;
}

int image_refactor_check_args(int argc, char **argv)
{
    size_t n;
    struct image_refactor_opts o = { 0 };
    int r = cmd_parse(&cmd_image_refactor, opts, argc, argv, IMAGE_GROUP_MAX, &n);
    return r ? r - 1 : check_args(&o, n);
}

/* "v1" of "oci:DIR:v1", else "app" of "docker-archive:/x/app.tar"; "app:v1" of "docker://x/app:v1"
 * and of the store. */
static const char *name_of(struct arena *a, const char *reference)
{
    struct str form, rest, path = str_of(reference), name;
    bool is_remote = str_has_prefix(path, DOCKER);
    if (!is_remote) {
        (void)str_cut(path, ':', &form, &rest);
        bool is_named = str_cut(rest, ':', &path, &name) && name.n;
        if (is_named && !str_is(form, "store"))
            return str_dup_arena(a, name);
        path = is_named ? name : path;
    }
    while (path.n > 1 && path.p[path.n - 1] == '/')
        path.n--;
    for (size_t at = path.n; at-- > 0;)
        if (path.p[at] == '/') {
            path = str_slice(path, at + 1, path.n);
            break;
        }
    if (!is_remote && str_has_suffix(path, STR(".tar")))
        path.n -= 4;
    return str_dup_arena(a, path);
}

/* "v1" of "app:v1": names of images from registries have the repository as well. */
static const char *tag_of(const char *name)
{
    const char *colon = strrchr(name, ':');
    return colon ? colon + 1 : name;
}

/* Do names go anywhere? Images that are attached to their sources need none, and those that go
 * where they are from have theirs. */
static bool names_count(void)
{
    return !is_registry() || (strcmp(mode, "replace") == 0 && strcmp(to, "source") != 0);
}

static int check_names(const char *const *image_names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(image_names[i], image_names[j]) == 0)
                return cmd_failf(CMD_USAGE,
                                 "two new images would be called '%s'; name them with "
                                 "--name, once for each image",
                                 image_names[i]);
    return 0;
}

static int name_all(struct arena *a, char **references, size_t n, struct str target_name,
                    const char **ret)
{
    if (target_name.n && n > 1)
        return cmd_failf(CMD_USAGE, "--to has one name, but there are %zu images; use --name", n);
    for (size_t i = 0; i < n; i++) {
        ret[i] = i < names.n ? names.at[i] : name_of(a, references[i]);
        if (is_registry() && names_count())
            ret[i] = tag_of(ret[i]);
        if (target_name.n)
            ret[i] = str_dup_arena(a, target_name);
    }
    return names_count() ? check_names(ret, n) : 0;
}

/* The directory of "oci:DIR:NAME", and the name; of "docker://HOST/REPOSITORY:TAG" the tag. */
static void split_target(struct str *ret_directory, struct str *ret_name)
{
    struct str rest = str_of(to);
    if (!is_registry()) {
        (void)str_cut(str_slice(rest, 4, rest.n), ':', ret_directory, ret_name);
        return;
    }
    for (size_t at = rest.n; at-- > DOCKER.n && rest.p[at] != '/';)
        if (rest.p[at] == ':')
            *ret_name = str_slice(rest, at + 1, rest.n);
}

/* ---- doing it ---- */

static int must_pay(const struct image_refactoring *r, struct err *err)
{
    return r->plan.is_accepted
               ? 0
               : err_set(err, E_DENIED,
                         "nothing is written: %s (saves %s; --dry-run shows the plan)", r->plan.why,
                         image_size_text((uint64_t)MAX(r->plan.saved, (int64_t)0)));
}

static struct {
    VEC(const char *) all; /* references */
} left_out;

static void print(const struct image_refactoring *r, const char *const *image_names,
                  const struct image_published *published)
{
    const struct image_refactor_context context = { image_names, left_out.all.p, left_out.all.n,
                                                    published };
    image_refactor_print(r, &context, args.is_json);
}

/* Those that can be read move to the front. Returns how many they are. */
static size_t leave_out(const char **references, const char **image_names, size_t n,
                        const struct err *unreadable)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (unreadable[i].code < 0) {
            (void)fprintf(stderr, "image '%s' is left out: %s\n", references[i],
                          err_text(&unreadable[i]));
            vec_push(&left_out.all, references[i]);
            continue;
        }
        references[kept] = references[i];
        image_names[kept++] = image_names[i];
    }
    return kept;
}

/* 1; 0 with --skip: it would not pay, which was printed. Without the contents of files, so that the
 * stored indexes are sufficient. */
static int is_worth_it(const char *const *references, const char *const *image_names, size_t n,
                       const struct image_refactor_opts *o, struct err *err)
{
    struct image_refactoring refactoring = { .plan.why = "no image can be read" };
    uint64_t bytes;
    if (!is_skipping)
        return 1;
    int r = n ? image_refactor_plan(references, n, o, NULL, &refactoring, err) : 0;
    if (r >= 0 && n && !image_is_redundant(&refactoring, redundancy_threshold, &bytes)) {
        refactoring.plan.is_accepted = false;
        refactoring.plan.why = "no image has this many redundant bytes";
    }
    r = r < 0 ? r : refactoring.plan.is_accepted;
    if (r == 0)
        print(&refactoring, image_names, NULL);
    image_refactoring_fini(&refactoring);
    return r;
}

/* Before anything is published: what is published later has to keep these times, and to be split
 * where this was. */
static int keep_tables(const struct image_refactoring *r, struct err *err)
{
    if (changes_file && image_volatility_save(&changes, changes_file, err) < 0)
        return err->code;
    if (!times_file)
        return 0;
    image_times_note(&times, r);
    return image_times_save(&times, times_file, err);
}

static int load_start(const char *path, struct err *err)
{
    struct start_list list;
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(START_LIST_BYTES_MAX);
    int r = sys_read_file(AT_FDCWD, path, &text, err);
    r = r < 0 ? r : start_list_read(buf_str(&text), &list, err);
    if (r < 0)
        return err_ctx(err, r, "'%s'", path);
    vec_each (file, &list.files)
        (void)map_put(&start_contents, str_n(file->bytes, sizeof file->bytes), &start_contents);
    start_list_fini(&list);
    return 0;
}

static int load_tables(struct image_refactor_opts *o, struct err *err)
{
    bool is_good = true;
    for (size_t i = 0; i < start_files.n; i++)
        if (load_start(start_files.at[i], err) < 0)
            return err->code;
    o->form.start = &start_contents;
    int r = times_file ? image_times_load(times_file, &times, err) : 0;
    if (r >= 0 && times_file)
        o->atoms.published = &times.by_key;
    if (r >= 0 && changes_file)
        r = image_volatility_load(changes_file, &changes, &is_good, err);
    if (!is_good)
        (void)fprintf(stderr, "'%s' is damaged, starting a new one\n", changes_file);
    return r;
}

static int show_plan(const char *const *references, size_t n, const struct image_refactor_opts *o,
                     const char *const *image_names, struct err *err)
{
    struct image_refactoring refactoring = { 0 };
    int r = image_refactor_plan(references, n, o, NULL, &refactoring, err);
    if (r >= 0)
        print(&refactoring, image_names, NULL);
    image_refactoring_fini(&refactoring);
    return r;
}

static int to_layout(const char *const *references, size_t n, const struct image_refactor_opts *o,
                     struct str directory, const char *const *image_names, struct err *err)
{
    scoped(free_scoped) char *path = str_dup(directory);
    scoped(oci_layout_end_scoped) struct oci_layout *layout = NULL;
    scoped(image_spool_free_scoped) struct image_spool *spool = NULL;
    struct image_refactoring refactoring = { 0 };
    int r = oci_layout_begin(path, &layout, err);
    r = r < 0 ? r : image_spool_new(oci_layout_staging(layout), &spool, err);
    r = r < 0 ? r : image_refactor_plan(references, n, o, spool, &refactoring, err);
    r = r < 0 ? r : must_pay(&refactoring, err);
    r = r < 0 ? r : keep_tables(&refactoring, err);
    r = r < 0 ? r : image_refactor_write(&refactoring, spool, layout, image_names, err);
    if (r >= 0)
        print(&refactoring, image_names, NULL);
    image_refactoring_fini(&refactoring);
    return r;
}

/* Through a private layout, from which the image is pushed once it is proven. */
static int to_registry(const char *const *references, size_t n, const struct image_refactor_opts *o,
                       const struct image_publish_opts *publish, const char *const *image_names,
                       struct err *err)
{
    scoped(image_scratch_free_scoped) struct image_scratch *scratch = NULL;
    scoped(free_scoped) char *path = NULL;
    scoped(oci_layout_end_scoped) struct oci_layout *layout = NULL;
    scoped(image_spool_free_scoped) struct image_spool *spool = NULL;
    struct image_refactoring refactoring = { 0 };
    struct image_published published;
    int r = image_scratch_new(&scratch, err);
    if (r < 0)
        return r;
    path = xasprintf("%s/layout", image_scratch_path(scratch));
    r = oci_layout_begin(path, &layout, err);
    r = r < 0 ? r : image_spool_new(oci_layout_staging(layout), &spool, err);
    r = r < 0 ? r : image_refactor_plan(references, n, o, spool, &refactoring, err);
    r = r < 0 ? r : must_pay(&refactoring, err);
    r = r < 0 ? r : image_refactor_check_targets(&refactoring, publish, err);
    r = r < 0 ? r : image_refactor_stage(&refactoring, spool, layout, err);
    r = r < 0 ? r : keep_tables(&refactoring, err);
    r = r < 0 ? r : image_refactor_publish(&refactoring, layout, publish, &published, err);
    if (r >= 0)
        print(&refactoring, image_names, &published);
    image_refactoring_fini(&refactoring);
    return r;
}

static void on_blob(void *arg, const struct oci_push_news *news)
{
    static const char *const words[] = { [OCI_PUSHED_UPLOADED] = "uploaded",
                                         [OCI_PUSHED_EXISTED] = "present",
                                         [OCI_PUSHED_MOUNTED] = "mounted" };
    char digest[OCI_DIGEST_TEXT_SIZE];
    (void)arg;
    if (!news->is_done)
        return;
    oci_digest_format(&news->blob->digest, digest);
    (void)fprintf(stderr, "blob %.12s  %-8s  %s\n", digest + sizeof "sha256:" - 1, words[news->how],
                  image_size_text(news->blob->size));
}

static void on_note(void *arg, const char *text)
{
    (void)arg;
    (void)fprintf(stderr, "%s\n", text);
}

static int publish(const char *const *references, size_t n, const struct image_refactor_opts *o,
                   const char *const *image_names, struct err *err)
{
    struct oci_reference into;
    struct image_publish_opts how = { .registry = &args.registry,
                                      .tags = image_names,
                                      .is_replacing = !o->is_beside,
                                      .keeps_indexes = is_skipping,
                                      .news = on_blob };
    struct str target = str_slice(str_of(to), DOCKER.n, strlen(to));
    args.registry.note = on_note;
    if (!str_has_prefix(str_of(to), DOCKER))
        return to_registry(references, n, o, &how, image_names, err);
    int r = oci_reference_parse(target, &into, err);
    if (r >= 0 && into.has_digest)
        r = err_set(err, E_INVALID, "the destination must be a repository without a digest");
    if (r < 0)
        return r;
    how.into = &into;
    return to_registry(references, n, o, &how, image_names, err);
}

/* ---- new versions ---- */

static int check_name(const struct oci_layout *layout, const char *name, bool is_replace,
                      struct err *err)
{
    const struct oci_index *index = oci_layout_index(layout);
    for (size_t i = 0; i < index->n && !is_replace; i++)
        if (str_eq(index->manifests[i].ref_name, str_of(name)))
            return err_set(err, E_CONFLICT,
                           "the layout has an image '%s'; --mode replace moves the name", name);
    return 0;
}

static int must_fit(const struct image_update *u, struct err *err)
{
    if (!u->why)
        return 0;
    return err_set(err, E_DENIED,
                   "no delta is written: %s; refactor all images of the group again, with the new "
                   "version, or --force it",
                   u->why);
}

/* The repository for the new version. */
static int target_of(const char *reference, struct oci_reference *ret, struct err *err)
{
    struct str where = str_of(str_has_prefix(str_of(to), DOCKER) ? to : reference);
    if (!str_has_prefix(where, DOCKER))
        return err_set(err, E_INVALID, "'%s' is not from a registry; name a repository for it",
                       reference);
    int r = oci_reference_parse(str_slice(where, DOCKER.n, where.n), ret, err);
    if (r >= 0 && ret->has_digest && where.p == to)
        r = err_set(err, E_INVALID, "the destination must be a repository without a digest");
    return r;
}

/* "docker://HOST/REPOSITORY:TAG" of what --update says. */
static char *old_reference(const struct oci_reference *target)
{
    bool is_digest = str_has_prefix(str_of(update), STR("sha256:"));
    if (str_has_prefix(str_of(update), DOCKER))
        return xstrdup(update);
    return xasprintf("docker://%s/%s%s%s", target->host, target->repository, is_digest ? "@" : ":",
                     update);
}

static int update_published(const char *reference, const struct image_refactor_opts *o,
                            const char *name, const struct oci_reference *target, struct err *err)
{
    scoped(image_scratch_free_scoped) struct image_scratch *scratch = NULL;
    scoped(free_scoped) char *path = NULL, *base = NULL, *old = old_reference(target);
    scoped(oci_layout_end_scoped) struct oci_layout *layout = NULL;
    scoped(image_spool_free_scoped) struct image_spool *spool = NULL;
    struct image_update u = { 0 };
    struct image_published published = { 0 };
    bool is_given = str_has_prefix(str_of(to), DOCKER);
    const char *const tags[] = { name, name };
    const struct image_publish_opts how = { .registry = &args.registry,
                                            .into = is_given ? target : NULL,
                                            .tags = tags,
                                            .is_replacing = !o->is_beside,
                                            .is_update = true,
                                            .news = on_blob };
    int r = image_update_base(old, o, &base, err);
    const char *references[] = { base, reference };
    r = r < 0 ? r : image_scratch_new(&scratch, err);
    if (r < 0)
        return r;
    path = xasprintf("%s/layout", image_scratch_path(scratch));
    r = oci_layout_begin(path, &layout, err);
    r = r < 0 ? r : image_spool_new(oci_layout_staging(layout), &spool, err);
    r = r < 0 ? r : image_update_plan(references, o, spool, &u, err);
    r = r < 0 ? r : must_fit(&u, err);
    r = r < 0 ? r : image_refactor_check_targets(&u.pair, &how, err);
    r = r < 0 ? r : image_update_stage(&u, spool, layout, err);
    r = r < 0 ? r : image_refactor_publish(&u.pair, layout, &how, &published, err);
    if (r >= 0)
        image_refactor_print_update(&u, name, &published, args.is_json);
    image_update_fini(&u);
    return r;
}

static int update_in_registry(const char *reference, const struct image_refactor_opts *o,
                              const char *name, struct err *err)
{
    struct oci_reference target;
    args.registry.note = on_note;
    int r = target_of(reference, &target, err);
    return r < 0 ? r : update_published(reference, o, name, &target, err);
}

static int update_image(const char *reference, const struct image_refactor_opts *o,
                        struct str directory, const char *name, struct err *err)
{
    scoped(free_scoped) char *path = str_dup(directory);
    scoped(free_scoped) char *old = xasprintf("oci:%s:%s", path, update);
    const char *references[] = { old, reference };
    scoped(oci_layout_end_scoped) struct oci_layout *layout = NULL;
    scoped(image_spool_free_scoped) struct image_spool *spool = NULL;
    struct image_update u = { 0 };
    int r = oci_layout_begin(path, &layout, err);
    r = r < 0 ? r : check_name(layout, name, !o->is_beside, err);
    r = r < 0 ? r : image_spool_new(oci_layout_staging(layout), &spool, err);
    r = r < 0 ? r : image_update_plan(references, o, spool, &u, err);
    r = r < 0 ? r : must_fit(&u, err);
    r = r < 0 ? r : image_update_write(&u, spool, layout, name, err);
    if (r >= 0)
        image_refactor_print_update(&u, name, NULL, args.is_json);
    image_update_fini(&u);
    return r;
}

/* With --skip again without the images that could not be read: some show that only when their
 * contents are read, and nothing is published before that. */
static int refactor(const char **references, size_t n, const struct image_refactor_opts *o,
                    struct str directory, const char **image_names, struct err *err)
{
    for (;;) {
        scoped(free_scoped) struct err *unreadable = is_skipping ? xnew_n(struct err, n) : NULL;
        struct image_refactor_opts own = *o;
        own.unreadable = unreadable;
        int r = is_worth_it(references, image_names, n, &own, err);
        if (r > 0)
            r = is_registry() ? publish(references, n, &own, image_names, err)
                              : to_layout(references, n, &own, directory, image_names, err);
        size_t left = r < 0 && is_skipping ? leave_out(references, image_names, n, unreadable) : n;
        if (left == n)
            return r;
        n = left;
    }
}

static int act(const char **references, size_t n, const struct image_refactor_opts *o,
               struct str directory, const char **image_names, struct err *err)
{
    if (is_dry)
        return show_plan(references, n, o, image_names, err);
    if (update && is_registry())
        return update_in_registry(references[0], o, image_names[0], err);
    if (update)
        return update_image(references[0], o, directory, image_names[0], err);
    return refactor(references, n, o, directory, image_names, err);
}

static int run(int argc, char **argv)
{
    size_t n;
    struct err err = { 0 };
    struct image_refactor_opts o = { 0 };
    struct arena a = { 0 };
    struct str directory = STR_NULL, target_name = STR_NULL;
    int r = cmd_parse(&cmd_image_refactor, opts, argc, argv, IMAGE_GROUP_MAX, &n);
    if (r)
        return r - 1;
    if (n == 0)
        return cmd_failf(CMD_USAGE, "no image is named; see 'dormouse image refactor --help'");
    if ((r = check_args(&o, n)) != 0)
        return r;
    if (to)
        split_target(&directory, &target_name);
    const char **image_names = arena_new_n(&a, const char *, n);
    for (size_t i = 0; i < n; i++) {
        scoped(free_scoped) char *full = image_reference(args.store, argv[i]);
        argv[i] = arena_strndup(&a, full, strlen(full));
    }
    r = name_all(&a, argv, n, target_name, image_names);
    if (r == 0)
        r = load_tables(&o, &err);
    if (r == 0)
        r = act((const char **)argv, n, &o, directory, image_names, &err);
    if (r < 0)
        r = cmd_fail(CMD_FAILED, &err);
    image_times_fini(&times);
    image_volatility_fini(&changes);
    map_fini(&start_contents);
    vec_fini(&left_out.all);
    arena_fini(&a);
    return r;
}

const struct cmd cmd_image_refactor = {
    .name = "image refactor",
    .args = "IMAGE...",
    .doc = "give images new layers, so that shared content is stored once",
    .help =
        "Reads the images, finds the files that they share (path, content, mode, owner and\n"
        "extended attributes), and writes images with the same content into an image layout:\n"
        "shared layers below, and one layer of its own on top. Before anything becomes visible,\n"
        "the command reads the result back and compares it with the sources.\n"
        "\n"
        "In registries blobs are sent first, shared ones once for each registry, then manifests.\n"
        "With --mode side no tag moves: each image is attached to its source, where 'dormouse\n"
        "image inspect --referrers' finds it. With --mode replace the tag moves last, unless it\n"
        "meanwhile names another image than the one that was read. The trees of its layers are\n"
        "attached to each new image: with them 'dormouse image pull' on a node that has another\n"
        "version fetches only parts of the layers.\n"
        "\n"
        "Shared files get the earliest of their modification times, except Python sources whose\n"
        "compiled files record the time; --mtime exact shares only files with equal times.\n"
        "\n"
        "Files that change often between versions are kept apart from stable ones in a large\n"
        "layer: with --changes FILE the command records the paths where one version had another\n"
        "file than the version before, and splits a layer of 8 MiB or more by them. The next\n"
        "version then has another small layer, and the large one does not change.\n"
        "\n"
        "With --update a new version keeps the layers of the old one and gets a layer with the\n"
        "difference. Files that it replaces or removes stay in the layers below: hidden, but\n"
        "readable. After four deltas, or if too much changed, refactor the group again. In a\n"
        "registry only the delta and two documents are sent; the old version is the image of that\n"
        "tag, or the image that is attached to it. With --index-dir its layers are read once and\n"
        "not again.\n"
        "\n"
        "With --layers estargz clients that fetch single files or chunks (stargz-snapshotter,\n"
        "containers/storage, dormouse) need not fetch whole layers; for all others the blobs are\n"
        "gzip. Each layer has two more files, stargz.index.json and a landmark, and is about 5 %\n"
        "larger. With --force an image that shares nothing gets one such layer.\n"
        "\n"
        "With --layers zstd-chunked podman, CRI-O and dormouse do the same. Layers are smaller\n"
        "and faster to unpack, and no file is added. Engines without zstd (umoci 0.4) cannot pull\n"
        "such images; docker 20.10 can.\n"
        "\n" IMAGE_REFERENCE_HELP "\n"
        "  dormouse image refactor --dry-run oci:app:v1 oci:app:v2 docker-archive:db.tar\n"
        "  dormouse image refactor app:v1 app:v2 --to oci:shared\n"
        "  dormouse image refactor oci:app:v3 --update v2 --to oci:shared\n"
        "  dormouse image refactor docker://localhost:5000/app:v3 --update v2 --to source\n"
        "  dormouse image refactor docker://localhost:5000/app:v1 docker://localhost:5000/db:v1 "
        "\\\n"
        "      --to source\n"
        "  dormouse image refactor oci:app:v1 oci:app:v2 --to docker://localhost:5000/app --mode "
        "\\\n"
        "      replace\n",
    .run = run,
    .opts = image_refactor_opts,
};
