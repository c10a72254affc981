/* SPDX-License-Identifier: Apache-2.0 */
/* oci/: layers, the merged view, documents; image/: what is shared and what changed. */
#include "base/sys.h"
#include "codec/decompress.h"
#include "image/changes.h"
#include "image/share.h"
#include "image_tree_kit.h"
#include "oci/image.h"
#include "oci/refactored.h"
#include "oci/tree.h"
#include "tar_kit.h"

#include <fcntl.h>

static struct oci_layer *layer_of(struct tar_kit *k)
{
    scoped(oci_layer_reader_free_scoped) struct oci_layer_reader *r = oci_layer_reader_new();
    struct oci_layer *layer;
    struct err err = { 0 };
    kit_end(k);
    if (oci_layer_reader_add(r, buf_str(&k->out), &err) < 0 ||
        oci_layer_reader_end(r, &layer, &err) < 0)
        TEST_FAIL("%s", err_text(&err));
    buf_fini(&k->out);
    return layer;
}

/*
 * A layer from words: "d/" a directory, "f=x" a file with this content, "l>t" a symbolic link,
 * "h<t" a hard link, and whiteouts by their names.
 */
static struct oci_layer *layer_from(const char *const *words)
{
    struct tar_kit k = { BUF_INIT(1 << 20) };
    for (; *words; words++) {
        struct str name, rest;
        const char *at = strpbrk(*words, "=><");
        if (!at) {
            if (str_has_suffix(str_of(*words), STR("/")))
                kit_dir(&k, *words);
            else
                kit_file(&k, *words, "");
            continue;
        }
        (void)str_cut(str_of(*words), *at, &name, &rest);
        scoped(free_scoped) char *n = str_dup(name), *v = str_dup(rest);
        if (*at == '=')
            kit_file(&k, n, v);
        else
            kit_link(&k, n, *at == '>' ? '2' : '1', v);
    }
    return layer_of(&k);
}
#define LAYER(...) layer_from((const char *const[]){ __VA_ARGS__, NULL })

/* The tree in words, sorted: "a/ a/b=SIZE c>target", implicit directories in brackets. */
static void check_tree(const struct oci_tree *t, const char *want)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(1 << 16);
    scoped(free_scoped) struct oci_node **nodes = NULL;
    size_t n = oci_tree_sorted(t, &nodes);
    for (size_t i = 1; i < n; i++) {
        const struct oci_entry *e = nodes[i]->inode->entry;
        CHECK_OK(buf_printf(&text, "%s%s" STR_FMT, i > 1 ? " " : "",
                            nodes[i]->is_implicit ? "(" : "", STR_ARG(nodes[i]->path)));
        if (oci_node_is_dir(nodes[i]))
            CHECK_OK(buf_add_cstr(&text, nodes[i]->is_implicit ? "/)" : "/"));
        else if (e->type == TAR_SYMLINK)
            CHECK_OK(buf_printf(&text, ">" STR_FMT, STR_ARG(e->link)));
        else
            CHECK_OK(buf_printf(&text, "=%llu", (unsigned long long)e->size));
    }
    CHECK_STR(buf_str(&text), want);
}

TEST(a_layer_knows_its_diff_id_and_the_digests_of_its_files)
{
    struct tar_kit k = { BUF_INIT(1 << 20) };
    kit_file(&k, "hello", "hello\n");
    kit_file(&k, "empty", "");
    struct str tar = buf_str(&k.out);
    uint8_t diff_id[SHA256_BYTES], digest[SHA256_BYTES];
    scoped(buf_fini_scoped) struct buf whole = BUF_INIT(1 << 20);
    CHECK_OK(buf_add_str(&whole, tar));
    CHECK_OK(buf_add(&whole, (char[1024]){ 0 }, 1024));
    sha256_of(buf_str(&whole), diff_id);
    struct oci_layer *layer = layer_of(&k);
    CHECK(memcmp(layer->diff_id, diff_id, sizeof diff_id) == 0);
    CHECK_INT(layer->entries.n, 2);
    sha256_of(STR("hello\n"), digest);
    CHECK(memcmp(layer->entries.p[0].digest, digest, sizeof digest) == 0);
    sha256_of(STR(""), digest);
    CHECK(memcmp(layer->entries.p[1].digest, digest, sizeof digest) == 0);
    oci_layer_free(layer);
}

TEST(a_layer_cannot_make_hours_of_hashing_out_of_holes)
{
    scoped(oci_layer_reader_free_scoped) struct oci_layer_reader *r = oci_layer_reader_new();
    struct tar_kit k = { BUF_INIT(1 << 20) };
    char size[64];
    struct err err = { 0 };
    (void)snprintf(size, sizeof size, "GNU.sparse.size=%llu",
                   (unsigned long long)OCI_LAYER_HOLES_MAX + 1);
    const char *sparse[] = { size, "GNU.sparse.map=0,0" };
    kit_pax(&k, sparse, ARRAY_LEN(sparse));
    kit_file(&k, "hole", "");
    kit_end(&k);
    CHECK_ERR(oci_layer_reader_add(r, buf_str(&k.out), &err), E_LIMIT);
    CHECK(strstr(err_text(&err), "holes"));
    buf_fini(&k.out);
}

TEST(leftovers_of_aufs_and_attributes_of_overlayfs_are_dropped)
{
    static const char *const records[] = { "SCHILY.xattr.trusted.overlay.opaque=y",
                                           "SCHILY.xattr.user.overlay.redirect=/etc",
                                           "SCHILY.xattr.security.capability=c" };
    struct tar_kit k = { BUF_INIT(1 << 20) };
    kit_dir(&k, ".wh..wh.plnk/");
    kit_file(&k, ".wh..wh.plnk/12.34", "x");
    kit_file(&k, ".wh..wh.aufs", "");
    kit_pax(&k, records, ARRAY_LEN(records));
    kit_file(&k, "ping", "p");
    struct oci_layer *layer = layer_of(&k);
    CHECK_INT(layer->entries.n, 1);
    CHECK_INT(layer->whiteouts.n, 0);
    CHECK_INT(layer->n_dropped, 5);
    CHECK_INT(layer->entries.p[0].n_xattrs, 1);
    CHECK_STR(layer->entries.p[0].xattrs[0].name, "security.capability");
    oci_layer_free(layer);
}

TEST(whiteouts_that_name_nothing_are_refused)
{
    static const char *const names[] = { ".wh.", "a/.wh..", ".wh..." };
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct tar_kit k = { BUF_INIT(1 << 20) };
        scoped(oci_layer_reader_free_scoped) struct oci_layer_reader *r = oci_layer_reader_new();
        kit_file(&k, names[i], "");
        CHECK_ERR(oci_layer_reader_add(r, buf_str(&k.out), NULL), E_PARSE);
        buf_fini(&k.out);
    }
}

TEST(a_whiteout_hides_lower_layers_only_wherever_it_stands)
{
    struct merged m;
    merged_init(&m, OCI_SYMLINK_PARENT_REFUSE);
    CHECK_OK(merged_add(&m, LAYER("d/", "d/x=1", "d/y=1", "e/", "e/z=1"), NULL));
    CHECK_OK(merged_add(
        &m, LAYER("d/", "d/x=22", "d/.wh.x", "d/.wh.y", "e/new=333", "e/.wh..wh..opq"), NULL));
    check_tree(&m.tree, "d/ d/x=2 e/ e/new=3");
    CHECK_INT(m.tree.n_missing, 0);
    CHECK_OK(merged_add(&m, LAYER(".wh.absent", ".wh.d", "d/", "d/again=1"), NULL));
    check_tree(&m.tree, "d/ d/again=1 e/ e/new=3");
    CHECK_INT(m.tree.n_missing, 1);
    merged_fini(&m);
}

TEST(directories_merge_and_everything_else_replaces)
{
    struct merged m;
    merged_init(&m, OCI_SYMLINK_PARENT_REFUSE);
    CHECK_OK(merged_add(&m, LAYER("a/", "a/b/", "a/b/c=1", "f=1", "l>a"), NULL));
    CHECK_OK(merged_add(&m, LAYER("a/", "a/b=22", "f/", "f/g=1", "l/", "l/h=1", "n/o/p=4"), NULL));
    check_tree(&m.tree, "a/ a/b=2 f/ f/g=1 l/ l/h=1 (n/) (n/o/) n/o/p=1");
    CHECK_OK(merged_add(&m, LAYER("n/", "twice=1", "twice=22"), NULL));
    check_tree(&m.tree, "a/ a/b=2 f/ f/g=1 l/ l/h=1 n/ (n/o/) n/o/p=1 twice=2");
    merged_fini(&m);
}

TEST(an_entry_below_a_symbolic_link_is_refused_or_read_as_asked)
{
    struct err err = { 0 };
    struct merged m;
    merged_init(&m, OCI_SYMLINK_PARENT_REFUSE);
    CHECK_OK(merged_add(&m, LAYER("usr/", "usr/lib/", "lib>usr/lib"), NULL));
    CHECK_ERR(merged_add(&m, LAYER("lib/x=1"), &err), E_PARSE);
    CHECK(strstr(err_text(&err), "'lib/x' is below a symbolic link"));
    merged_fini(&m);

    merged_init(&m, OCI_SYMLINK_PARENT_SHADOW);
    CHECK_OK(merged_add(&m, LAYER("usr/", "usr/lib/", "lib>usr/lib"), NULL));
    CHECK_OK(merged_add(&m, LAYER("lib/x=1"), NULL));
    check_tree(&m.tree, "(lib/) lib/x=1 usr/ usr/lib/");
    merged_fini(&m);

    merged_init(&m, OCI_SYMLINK_PARENT_FOLLOW);
    CHECK_OK(
        merged_add(&m, LAYER("usr/", "usr/lib/", "lib>usr/lib", "up>../../../usr", "r>r"), NULL));
    CHECK_OK(merged_add(&m, LAYER("lib/x=1", "up/lib/y=1"), NULL));
    check_tree(&m.tree, "lib>usr/lib r>r up>../../../usr usr/ usr/lib/ usr/lib/x=1 usr/lib/y=1");
    CHECK_ERR(merged_add(&m, LAYER("r/x=1"), NULL), E_PARSE);
    merged_fini(&m);
}

TEST(hard_links_share_an_inode_that_outlives_its_first_name)
{
    struct merged m;
    merged_init(&m, OCI_SYMLINK_PARENT_REFUSE);
    CHECK_OK(merged_add(&m, LAYER("a=1", "b<a", "a=22", "c<a"), NULL));
    CHECK_OK(merged_add(&m, LAYER("d<b"), NULL));
    check_tree(&m.tree, "a=2 b=1 c=2 d=1");
    CHECK_INT(oci_tree_find(&m.tree, STR("d"))->inode->n_links, 2);
    CHECK(oci_tree_find(&m.tree, STR("a"))->inode == oci_tree_find(&m.tree, STR("c"))->inode);
    CHECK_OK(merged_add(&m, LAYER(".wh.b"), NULL));
    CHECK_INT(oci_tree_find(&m.tree, STR("d"))->inode->n_links, 1);
    CHECK_ERR(merged_add(&m, LAYER(".wh.d", "e<d"), NULL), E_PARSE);
    merged_fini(&m);
}

/* A naive twin: paths in a sorted list, everything by scanning. */
struct twin {
    VEC(char *) paths; /* "p" a file, "p/" a directory */
};

static bool is_below(const char *path, const char *dir)
{
    size_t n = strlen(dir);
    return strncmp(path, dir, n) == 0 && path[n] == '/' && path[n + 1];
}

static void twin_drop(struct twin *t, const char *name, bool itself)
{
    for (size_t i = 0; i < t->paths.n;) {
        char *p = t->paths.p[i];
        size_t n = strlen(name);
        bool is_it = strncmp(p, name, n) == 0 && (p[n] == 0 || (p[n] == '/' && !p[n + 1]));
        if (is_below(p, name) || (is_it && itself)) {
            free(p);
            vec_remove(&t->paths, i);
        } else {
            i++;
        }
    }
}

static bool twin_has(const struct twin *t, const char *path)
{
    for (size_t i = 0; i < t->paths.n; i++)
        if (strcmp(t->paths.p[i], path) == 0)
            return true;
    return false;
}

static void twin_add(struct twin *t, const char *path)
{
    scoped(free_scoped) char *name = xstrdup(path);
    bool is_dir = str_has_suffix(str_of(path), STR("/"));
    name[strlen(name) - is_dir] = 0;
    for (char *at = strchr(name, '/'); at; at = strchr(at + 1, '/')) {
        scoped(free_scoped) char *parent = xstrndup(path, (size_t)(at - name) + 1);
        if (!twin_has(t, parent))
            twin_add(t, parent);
    }
    if (is_dir && twin_has(t, path))
        return;
    twin_drop(t, name, true);
    vec_push(&t->paths, xstrdup(path));
}

static int cmp_text(const void *a, const void *b)
{
    const char *const *x = a, *const *y = b;
    struct str s = str_of(*x), t = str_of(*y);
    s.n -= str_has_suffix(s, STR("/"));
    t.n -= str_has_suffix(t, STR("/"));
    return str_cmp(s, t);
}

static void check_twin(struct twin *t, const struct oci_tree *tree)
{
    scoped(free_scoped) struct oci_node **nodes = NULL;
    size_t n = oci_tree_sorted(tree, &nodes);
    if (t->paths.n)
        qsort(t->paths.p, t->paths.n, sizeof *t->paths.p, cmp_text);
    CHECK_INT(n, t->paths.n + 1);
    for (size_t i = 1; i < n; i++) {
        scoped(free_scoped) char *p =
            xasprintf(STR_FMT "%s", STR_ARG(nodes[i]->path), oci_node_is_dir(nodes[i]) ? "/" : "");
        CHECK_STR(str_of(p), t->paths.p[i - 1]);
    }
}

/* A random path of up to three components from few names, so that they meet. */
static void random_path(struct buf *to, const char *last_prefix)
{
    size_t depth = 1 + (size_t)test_random_below(3);
    buf_reset(to);
    for (size_t i = 0; i < depth; i++)
        CHECK_OK(buf_printf(to, "%s%s%c", i ? "/" : "", i + 1 == depth ? last_prefix : "",
                            (int)('a' + test_random_below(3))));
}

TEST(random_layers_merge_as_a_naive_twin_merges_them)
{
    for (int round = 0; round < 200; round++) {
        struct twin twin = { 0 };
        struct merged m;
        scoped(buf_fini_scoped) struct buf path = BUF_INIT(256);
        merged_init(&m, OCI_SYMLINK_PARENT_REFUSE);
        for (int i = 0; i < LAYERS_MAX; i++) {
            struct tar_kit k = { BUF_INIT(1 << 20) };
            size_t n = (size_t)test_random_below(6);
            VEC(char *) added = { 0 };
            for (size_t j = 0; j < n; j++)
                switch (test_random_below(4)) {
                case 0: /* a whiteout acts before the entries, so the twin drops at once */
                    random_path(&path, ".wh.");
                    kit_file(&k, buf_cstr(&path), "");
                    random_path(&path, "");
                    break;
                default:
                    random_path(&path, "");
                    if (test_random_below(2))
                        CHECK_OK(buf_add_char(&path, '/'));
                    if (str_has_suffix(buf_str(&path), STR("/")))
                        kit_dir(&k, buf_cstr(&path));
                    else
                        kit_file(&k, buf_cstr(&path), "");
                    vec_push(&added, xstrdup(buf_cstr(&path)));
                }
            struct oci_layer *layer = layer_of(&k);
            vec_each (w, &layer->whiteouts) {
                scoped(free_scoped) char *hidden = str_dup(w->path);
                twin_drop(&twin, hidden, true);
            }
            vec_each (p, &added) {
                twin_add(&twin, *p);
                free(*p);
            }
            vec_fini(&added);
            CHECK_OK(merged_add(&m, layer, NULL));
            check_twin(&twin, &m.tree);
        }
        vec_each (p, &twin.paths)
            free(*p);
        vec_fini(&twin.paths);
        merged_fini(&m);
    }
}

TEST(memory_of_deep_paths_is_bounded)
{
    struct oci_layer layer = { 0 };
    struct merged m;
    char path[TAR_PATH_MAX - 2];
    struct err err = { 0 };
    int r = 0;
    merged_init(&m, OCI_SYMLINK_PARENT_REFUSE);
    m.tree.memory.max_bytes = 16 << 20;
    for (size_t i = 0; i < sizeof path; i++)
        path[i] = i % 2 ? '/' : 'a';
    path[sizeof path - 1] = 'a';
    for (int i = 0; i < 26 && r >= 0; i++) {
        struct oci_entry e = { .path = str_n(path, sizeof path), .type = TAR_FILE };
        path[0] = (char)('a' + i);
        layer.entries.n = 0;
        vec_push(&layer.entries, e);
        r = oci_tree_apply(&m.tree, &layer, &err);
    }
    CHECK_ERR(r, E_LIMIT);
    CHECK(m.tree.memory.total_bytes < 32 << 20);
    vec_fini(&layer.entries);
    merged_fini(&m);
}

/* ---- documents ---- */

#define DIGEST(c)                                                                                  \
    "sha256:" c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c  \
        c c c c c c c c c c c c c c c c c c c c c c

TEST(what_a_container_runs_is_read_from_the_configuration)
{
    struct arena a = { 0 };
    struct oci_config c;
    struct err err = { 0 };
    CHECK_OK(oci_config_parse(
        &a,
        STR("{\"config\":{\"Entrypoint\":[\"/e\",\"x\"],\"Cmd\":null,\"Env\":[\"A=1\"],"
            "\"User\":\"redis:disk\",\"WorkingDir\":\"/d\",\"StopSignal\":\"SIGINT\"},"
            "\"rootfs\":{\"diff_ids\":[]}}"),
        &c, NULL));
    CHECK_INT(c.run.entrypoint.n, 2);
    CHECK_STR(c.run.entrypoint.p[1], "x");
    CHECK_INT(c.run.command.n, 0);
    CHECK_STR(c.run.env.p[0], "A=1");
    CHECK_STR(c.run.user, "redis:disk");
    CHECK_STR(c.run.cwd, "/d");
    CHECK_STR(c.run.stop_signal, "SIGINT");
    CHECK_ERR(oci_config_parse(
                  &a, STR("{\"config\":{\"Cmd\":\"sh\"},\"rootfs\":{\"diff_ids\":[]}}"), &c, &err),
              E_PARSE);
    CHECK_ERR(oci_config_parse(&a, STR("{\"config\":{\"Env\":[1]},\"rootfs\":{\"diff_ids\":[]}}"),
                               &c, &err),
              E_PARSE);
    CHECK(strstr(err.text, "config.Env[0]"));
    arena_fini(&a);
}

TEST(documents_of_oci_and_docker_are_read)
{
    struct arena a = { 0 };
    struct oci_manifest m;
    struct oci_config c;
    struct oci_index index;
    enum oci_document kind;
    struct str manifest = STR(
        "{\"schemaVersion\":2,\"mediaType\":\"application/"
        "vnd.docker.distribution.manifest.v2+json\","
        "\"config\":{\"digest\":\"" DIGEST(
            "a") "\",\"size\":7},"
                 "\"layers\":[{\"mediaType\":\"application/vnd.docker.image.rootfs.diff.tar.gzip\","
                 "\"digest\":\"" DIGEST("b") "\",\"size\":123}]}");
    CHECK_OK(oci_document_kind(&a, manifest, &kind, NULL));
    CHECK_INT(kind, OCI_DOCUMENT_MANIFEST);
    CHECK_OK(oci_manifest_parse(&a, manifest, &m, NULL));
    CHECK_INT(m.n_layers, 1);
    CHECK_INT(m.layers[0].size, 123);
    CHECK_INT(m.layers[0].digest.bytes[31], 0xbb);
    struct str config = STR("{\"os\":\"linux\",\"architecture\":\"arm64\",\"variant\":\"v8\","
                            "\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[\"" DIGEST("c") "\"]}}");
    CHECK_OK(oci_config_parse(&a, config, &c, NULL));
    CHECK_INT(c.n_diff_ids, 1);
    CHECK_STR(c.platform.variant, "v8");
    CHECK_INT(c.run.entrypoint.n, 0);
    struct str list =
        STR("{\"schemaVersion\":2,\"manifests\":["
            "{\"digest\":\"" DIGEST(
                "1") "\",\"size\":1,\"platform\":"
                     "{\"os\":\"linux\",\"architecture\":\"arm64\",\"variant\":\"v7\"}},"
                     "{\"digest\":\"" DIGEST(
                         "2") "\",\"size\":1,\"platform\":"
                              "{\"os\":\"linux\",\"architecture\":\"arm64\",\"variant\":\"v8\"}},"
                              "{\"digest\":\"" DIGEST(
                                  "3") "\",\"size\":1,\"annotations\":"
                                       "{\"org.opencontainers.image.ref.name\":\"v1\"}}]}");
    CHECK_OK(oci_document_kind(&a, list, &kind, NULL));
    CHECK_INT(kind, OCI_DOCUMENT_INDEX);
    CHECK_OK(oci_index_parse(&a, list, &index, NULL));
    CHECK_STR(index.manifests[2].ref_name, "v1");
    struct oci_platform wanted;
    CHECK_OK(oci_platform_parse(STR("linux/arm64/v8"), &wanted, NULL));
    CHECK(oci_index_select(&index, &wanted) == &index.manifests[1]);
    CHECK_OK(oci_platform_parse(STR("linux/arm64"), &wanted, NULL));
    CHECK(oci_index_select(&index, &wanted) == &index.manifests[0]);
    CHECK_OK(oci_platform_parse(STR("linux/s390x"), &wanted, NULL));
    CHECK(oci_index_select(&index, &wanted) == NULL);
    CHECK_ERR(oci_platform_parse(STR("linux"), &wanted, NULL), E_PARSE);
    arena_fini(&a);
}

TEST(an_image_for_another_platform_is_told_from_one_that_says_none)
{
    struct oci_platform wanted;
    struct err err = { 0 };
    struct oci_config config = { .platform = { STR("linux"), STR("arm64"), STR("v8") } };
    CHECK_OK(oci_platform_parse(STR("linux/arm64/v7"), &wanted, NULL));
    CHECK_OK(oci_platform_check(&wanted, &config, NULL));
    config.platform.architecture = STR("amd64");
    CHECK_INT(oci_platform_check(&wanted, &config, &err), -ENOENT);
    CHECK_STR(str_of(err_text(&err)), "the image is for linux/amd64, not for linux/arm64");
    config.platform = (struct oci_platform){ .os = STR("windows") };
    CHECK_INT(oci_platform_check(&wanted, &config, NULL), -ENOENT);
    config.platform = (struct oci_platform){ 0 };
    CHECK_OK(oci_platform_check(&wanted, &config, NULL));
}

TEST(documents_that_are_none_are_refused)
{
    static const struct {
        const char *text;
        int code;
    } manifests[] = {
        { "[]", E_PARSE },
        { "{\"schemaVersion\":1,\"layers\":[]}", E_UNSUPPORTED },
        { "{\"schemaVersion\":2,\"mediaType\":\"text/plain\",\"layers\":[]}", E_UNSUPPORTED },
        { "{\"schemaVersion\":2,\"layers\":[],\"manifests\":[]}", E_UNSUPPORTED },
    };
    struct arena a = { 0 };
    struct oci_manifest m;
    struct oci_digest d;
    enum oci_document kind;
    for (size_t i = 0; i < ARRAY_LEN(manifests); i++)
        CHECK_ERR(oci_document_kind(&a, str_of(manifests[i].text), &kind, NULL), manifests[i].code);
    CHECK_ERR(oci_manifest_parse(
                  &a, STR("{\"config\":{\"digest\":\"" DIGEST("a") "\",\"size\":-1}}"), &m, NULL),
              E_PARSE);
    CHECK_ERR(oci_digest_parse(STR("sha512:00"), &d, NULL), E_UNSUPPORTED);
    CHECK_ERR(oci_digest_parse(STR("sha256:00"), &d, NULL), E_PARSE);
    CHECK_ERR(oci_digest_parse(STR(DIGEST("A")), &d, NULL), E_PARSE);
    CHECK_OK(oci_digest_parse(STR(DIGEST("f")), &d, NULL));
    arena_fini(&a);
}

/* ---- sharing and changes ---- */

TEST(what_images_share_depends_on_what_counts_as_the_same)
{
    struct merged old, new;
    struct image_share share = { 0 };
    struct tar_kit k = { BUF_INIT(1 << 20) };
    char block[TAR_BLOCK_BYTES];
    merged_init(&old, OCI_SYMLINK_PARENT_REFUSE);
    merged_init(&new, OCI_SYMLINK_PARENT_REFUSE);
    CHECK_OK(
        merged_add(&old, LAYER("same=1", "moved=22", "mode=333", "time=4444", "link<same"), NULL));
    kit_file(&k, "same", "1");
    kit_file(&k, "elsewhere", "22");
    kit_header(block, "mode", '0', 3);
    kit_octal(block + 100, 8, 04755);
    kit_add_block(&k, block);
    kit_add_padded(&k, STR("333"));
    kit_header(block, "time", '0', 4);
    kit_octal(block + 136, 12, 1);
    kit_add_block(&k, block);
    kit_add_padded(&k, STR("4444"));
    CHECK_OK(merged_add(&new, layer_of(&k), NULL));
    image_share_add(&share, &old.tree);
    image_share_add(&share, &new.tree);
    CHECK_INT(share.merged.files, 8);
    CHECK_INT(share.merged.bytes, 20);
    CHECK_INT(share.distinct[IMAGE_KEY_CONTENT].bytes, 10);
    CHECK_INT(share.distinct[IMAGE_KEY_PATH].bytes, 12);
    CHECK_INT(share.distinct[IMAGE_KEY_ATTRIBUTES].bytes, 15);
    CHECK_INT(share.distinct[IMAGE_KEY_MODIFICATION].bytes, 19);
    image_share_fini(&share);

    struct image_changes changes;
    static const char *const want[] = { "added elsewhere", "removed link", "attributes mode",
                                        "removed moved", "time time" };
    image_changes_find(&old.tree, &new.tree, &changes);
    CHECK_INT(changes.all.n, ARRAY_LEN(want));
    for (size_t i = 0; i < changes.all.n; i++) {
        const struct image_change *c = &changes.all.p[i];
        scoped(free_scoped) char *got = xasprintf("%s " STR_FMT, image_change_name(c->kind),
                                                  STR_ARG((c->to ? c->to : c->from)->path));
        CHECK_STR(str_of(got), want[i]);
    }
    CHECK_INT(changes.same, 2); /* the root and "same" */
    CHECK_INT(changes.same_bytes, 1);
    image_changes_fini(&changes);
    merged_fini(&old);
    merged_fini(&new);
}

/* ---- two real images, file by file: test/data/image-trees ---- */

static void check_counts(const struct oci_tree *t)
{
    size_t n[TAR_FIFO + 1] = { 0 };
    struct image_share share = { 0 };
    map_each (e, &t->nodes) {
        const struct oci_node *node = e->value;
        n[oci_node_is_dir(node) ? TAR_DIR : node->inode->entry->type]++;
    }
    image_share_add(&share, t);
    CHECK_INT(share.merged.files, 4914);
    CHECK_INT(n[TAR_DIR], 710);
    CHECK_INT(n[TAR_SYMLINK], 516);
    image_share_fini(&share);
}

TEST(two_versions_of_a_real_image_merge_and_differ_as_recorded)
{
    struct merged old, new;
    struct image_changes changes;
    size_t n[IMAGE_CHANGE_TIME + 1] = { 0 };
    load_image(&old, "redis-old");
    load_image(&new, "redis-new");
    check_counts(&old.tree);
    check_counts(&new.tree);
    image_changes_find(&old.tree, &new.tree, &changes);
    for (size_t i = 0; i < changes.all.n; i++)
        n[changes.all.p[i].kind]++;
    CHECK_INT(n[IMAGE_CHANGE_ADDED], 0);
    CHECK_INT(n[IMAGE_CHANGE_REMOVED], 0);
    CHECK_INT(n[IMAGE_CHANGE_CONTENT], 559 + 2); /* two of them have a second name */
    image_changes_fini(&changes);
    merged_fini(&old);
    merged_fini(&new);
}

/* ---- refactored forms ---- */

#define D1 "sha256:1111111111111111111111111111111111111111111111111111111111111111"
#define D2 "sha256:2222222222222222222222222222222222222222222222222222222222222222"
#define D3 "sha256:3333333333333333333333333333333333333333333333333333333333333333"
#define D4 "sha256:4444444444444444444444444444444444444444444444444444444444444444"
#define D5 "sha256:5555555555555555555555555555555555555555555555555555555555555555"
#define D6 "sha256:6666666666666666666666666666666666666666666666666666666666666666"
#define LINK_OF(source, subject, config)                                                           \
    "{\"subject\":{\"digest\":\"" subject "\"},\"config\":{\"digest\":\"" D3                       \
    "\"},\"annotations\":{\"" OCI_REFACTORED_SOURCE "\":\"" source "\",\"" OCI_REFACTORED_CONFIG   \
    "\":\"" config "\"}}"
#define LINK(source, subject) LINK_OF(source, subject, D3)

static int check_link(const char *manifest, const char *config, size_t n_layers)
{
    struct oci_image original = { .config_text =
                                      STR("{\"os\":\"linux\",\"config\":{\"Env\":[\"A=1\"]},"
                                          "\"rootfs\":{\"diff_ids\":[1]}}") };
    struct oci_image image = { .manifest_text = str_of(manifest),
                               .config_text = str_of(config),
                               .manifest.n_layers = n_layers,
                               .config.n_diff_ids = 2 };
    CHECK_OK(oci_digest_parse(STR(D1), &original.digest, NULL));
    return oci_refactored_check(&image, &original, NULL);
}

TEST(a_refactored_form_has_the_configuration_of_its_original_and_names_it_twice)
{
    const char *same = "{\"config\":{\"Env\":[\"A=1\"]},\"os\":\"linux\",\"history\":[{}]}";
    CHECK_INT(check_link(LINK(D1, D1), same, 2), 0);
    CHECK_INT(check_link(LINK(D1, D2), same, 2), E_INVALID);
    CHECK_INT(check_link(LINK(D2, D1), same, 2), E_INVALID);
    CHECK_INT(check_link(LINK_OF(D1, D1, D2), same, 2), E_INVALID); /* built FROM it */
    CHECK_INT(check_link("{}", same, 2), E_INVALID);
    CHECK_INT(check_link(LINK(D1, D1), same, 1), E_INVALID);
    CHECK_INT(check_link(LINK(D1, D1), "{\"config\":{\"Env\":[\"A=2\"]},\"os\":\"linux\"}", 2),
              E_INVALID);
    CHECK_INT(check_link(LINK(D1, D1), "{\"os\":\"linux\"}", 2), E_INVALID);
    CHECK_INT(check_link(LINK(D1, D1), "[]", 2), E_PARSE);
}

#define REFERRER(digest, source, newest)                                                           \
    "{\"digest\":\"" digest "\",\"annotations\":{\"" OCI_REFACTORED_SOURCE "\":\"" source          \
    "\"," newest "\"x\":\"\"}}"
#define NEWEST(time) "\"" OCI_REFACTORED_NEWEST "\":\"" time "\","

static void check_listed(const char *index, const char *first, const char *second, size_t n)
{
    size_t found;
    struct oci_digest original, at[OCI_REFACTORED_TRIES];
    char text[OCI_DIGEST_TEXT_SIZE];
    CHECK_OK(oci_digest_parse(STR(D1), &original, NULL));
    CHECK_OK(oci_refactored_list(str_of(index), &original, at, &found, NULL));
    CHECK_INT(found, n);
    for (size_t i = 0; i < MIN(n, (size_t)2); i++) {
        oci_digest_format(&at[i], text);
        CHECK_STR(str_of(text), i ? second : first);
    }
}

TEST(of_several_refactored_forms_that_of_the_newest_group_comes_first_wherever_it_is_listed)
{
#define EARLY REFERRER(D2, D1, NEWEST("2024-05-01T00:00:00Z"))
#define LATE  REFERRER(D3, D1, NEWEST("2024-05-01T01:00:00.5+00:30"))
    check_listed("{\"manifests\":[" LATE "," EARLY "]}", D3, D2, 2);
    check_listed("{\"manifests\":[" EARLY "," LATE "]}", D3, D2, 2);
    check_listed("{\"manifests\":[" LATE "," REFERRER(D4, D1, "") "]}", D3, D4, 2);
    check_listed("{\"manifests\":[" REFERRER(D4, D1, "") "," REFERRER(D5, D1, "") "]}", D5, D4, 2);
    check_listed("{\"manifests\":[" EARLY "," REFERRER(D4, D2, "") ",{},1]}", D2, "", 1);
    check_listed("{\"manifests\":[" LATE "," REFERRER(D4, D1, "") "," REFERRER(
                     D5, D1, "") "," REFERRER(D6, D1, "") "," EARLY "]}",
                 D3, D2, OCI_REFACTORED_TRIES);
    check_listed("[]", "", "", 0);
}

TEST(only_a_tag_in_a_registry_may_be_taken_in_another_form)
{
    CHECK(oci_refactored_may(STR("docker://localhost:5000/app:v1")));
    CHECK(oci_refactored_may(STR("docker://localhost:5000/app")));
    CHECK(!oci_refactored_may(STR("docker://localhost:5000/app@" D1)));
    CHECK(!oci_refactored_may(STR("docker://localhost:5000/app:v1@" D1)));
    CHECK(!oci_refactored_may(STR("oci:dir:v1")));
    CHECK_INT(setenv(OCI_REFACTORED_OFF, "1", 1), 0);
    CHECK(!oci_refactored_may(STR("docker://localhost:5000/app:v1")));
    CHECK_INT(setenv(OCI_REFACTORED_OFF, "0", 1), 0);
    CHECK(oci_refactored_may(STR("docker://localhost:5000/app:v1")));
    CHECK_INT(unsetenv(OCI_REFACTORED_OFF), 0);
}

TEST_MAIN
