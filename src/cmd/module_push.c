/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dormouse module push: a Wasm module into a registry, as an OCI artifact (CNCF, "Wasm OCI Artifact
 * Layout": a configuration that lists the digests of the layers, and one layer, the module).
 */
#include "base/sys.h"
#include "cmd/image_args.h"
#include "codec/digest.h"
#include "codec/json.h"
#include "oci/remote.h"
#include "wasm/module_info.h"

#include <fcntl.h>
#include <stdio.h>

#define CONFIG_TYPE   "application/vnd.wasm.config.v0+json"
#define LAYER_TYPE    "application/wasm"
#define MANIFEST_TYPE "application/vnd.oci.image.manifest.v1+json"

enum { DOCUMENT_MAX = 64 << 10 };

static struct oci_remote_opts registry;
static const char *output;

static const struct cmd_opt opts[] = {
    IMAGE_REGISTRY_OPTS(registry),
    { "output", 'o', "FORMAT", "text or json (text)", CMD_STRING, &output, 0, 0 },
    { .name = NULL },
};

static const struct cmd_opt *module_push_opts(void)
{
    return opts;
}

struct blob {
    struct str bytes;
    struct oci_descriptor d;
    char digest[OCI_DIGEST_TEXT_SIZE];
};

static struct blob blob_of(struct str bytes)
{
    struct blob b = { .bytes = bytes, .d = { .size = bytes.n } };
    sha256_of(bytes, b.d.digest.bytes);
    oci_digest_format(&b.d.digest, b.digest);
    return b;
}

static void make_config(const struct blob *module, struct buf *to)
{
    (void)buf_printf(to, "{\"architecture\":\"wasm\",\"os\":\"wasip1\",\"layerDigests\":[\"%s\"]}",
                     module->digest);
}

static void make_manifest(const struct blob *module, const struct blob *config, struct buf *to)
{
    (void)buf_printf(to,
                     "{\"schemaVersion\":2,\"mediaType\":\"" MANIFEST_TYPE
                     "\",\"config\":{\"mediaType\":\"" CONFIG_TYPE
                     "\",\"digest\":\"%s\",\"size\":%zu},\"layers\":[{\"mediaType\":\"" LAYER_TYPE
                     "\",\"digest\":\"%s\",\"size\":%zu}]}",
                     config->digest, config->bytes.n, module->digest, module->bytes.n);
}

static int write_blob(void *arg, oci_blob_sink sink, void *sink_arg, struct err *err)
{
    const struct blob *b = arg;
    return sink(sink_arg, b->bytes, err);
}

static int push(const struct oci_reference *ref, struct blob *module, struct blob *manifest,
                struct buf *manifest_text, struct err *err)
{
    scoped(oci_remote_free_scoped) struct oci_remote *to = NULL;
    scoped(buf_fini_scoped) struct buf config_text = BUF_INIT(DOCUMENT_MAX);
    enum oci_pushed how;
    make_config(module, &config_text);
    struct blob config = blob_of(buf_str(&config_text));
    make_manifest(module, &config, manifest_text);
    *manifest = blob_of(buf_str(manifest_text));
    int r = oci_remote_open(ref, &registry, &to, err);
    r = r < 0 ? r : oci_remote_push_blob(to, &module->d, NULL, write_blob, module, &how, err);
    r = r < 0 ? r : oci_remote_push_blob(to, &config.d, NULL, write_blob, &config, &how, err);
    return r < 0 ? r
                 : oci_remote_push_manifest(to, ref->tag[0] ? ref->tag : NULL, STR(MANIFEST_TYPE),
                                            manifest->bytes, err);
}

static void print(const struct oci_reference *ref, const struct blob *module,
                  const struct blob *manifest)
{
    scoped(buf_fini_scoped) struct buf name = BUF_INIT(4096);
    const char *sha256 = module->digest + strlen("sha256:");
    oci_reference_format(ref, &name);
    if (str_is(str_of(output ? output : "text"), "json"))
        (void)printf("{\"url\": \"oci://%s@%s\", \"sha256\": \"%s\", \"manifest\": \"%s\"}\n",
                     buf_cstr(&name), manifest->digest, sha256, manifest->digest);
    else
        (void)printf("url: oci://%s@%s\nsha256: %s\n", buf_cstr(&name), manifest->digest, sha256);
}

static int run(int argc, char **argv)
{
    size_t n;
    struct err err = { 0 };
    struct oci_reference ref;
    struct blob manifest;
    scoped(buf_fini_scoped) struct buf bytes = BUF_INIT(MODULE_WASM_BYTES_MAX);
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(DOCUMENT_MAX);
    static const struct str magic = { "\0asm", 4 };
    int r = cmd_parse(&cmd_module_push, opts, argc, argv, 2, &n);
    if (r)
        return r - 1;
    if (n != 2)
        return cmd_failf(CMD_USAGE, "a module and a reference: 'dormouse module push --help' says "
                                    "more");
    if (output && strcmp(output, "text") != 0 && strcmp(output, "json") != 0)
        return cmd_failf(CMD_USAGE, "--output is text or json, not '%s'", output);
    const char *target = argv[1];
    if (str_has_prefix(str_of(target), STR("oci://")))
        target += strlen("oci://");
    if (oci_reference_parse(str_of(target), &ref, &err) < 0)
        return cmd_fail(CMD_USAGE, &err);
    if (ref.has_digest)
        return cmd_failf(CMD_USAGE, "'%s' has a digest: the registry computes it, name a tag",
                         argv[1]);
    if (sys_read_file(AT_FDCWD, argv[0], &bytes, &err) < 0)
        return cmd_fail(CMD_FAILED, &err);
    if (!str_has_prefix(buf_str(&bytes), magic))
        return cmd_failf(CMD_FAILED, "'%s' is no Wasm module", argv[0]);
    struct blob module = blob_of(buf_str(&bytes));
    if (push(&ref, &module, &manifest, &text, &err) < 0)
        return cmd_fail(CMD_FAILED, &err);
    print(&ref, &module, &manifest);
    return CMD_OK;
}

const struct cmd cmd_module_push = {
    .name = "module push",
    .args = "FILE REFERENCE",
    .doc = "put a Wasm module into a registry, as an OCI artifact",
    .help =
        "What it prints is what the module of an Operator or a Function names: url and sha256.\n"
        "Other tools that know Wasm artifacts pull it, too. Credentials are those of\n"
        "`docker login` and `podman login`.\n"
        "\n"
        "  dormouse module push hello.wasm registry.example/team/hello:v1\n"
        "  dormouse fn deploy --name hello --url oci://registry.example/team/hello:v1 --sha256 "
        "...\n",
    .run = run,
    .opts = module_push_opts,
};
