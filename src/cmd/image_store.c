/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/image_store.h"

#include "base/buf.h"
#include "codec/json.h"

enum { OUTPUT_MAX_BYTES = 256 << 20 };

int image_store_output(const char *word, enum image_store_output *ret)
{
    static const char *const words[] = {
        [IMAGE_STORE_TABLE] = "table", [IMAGE_STORE_JSON] = "json", [IMAGE_STORE_NAME] = "name"
    };
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (strcmp(word ? word : "table", words[i]) == 0) {
            *ret = (enum image_store_output)i;
            return 0;
        }
    return cmd_failf(CMD_USAGE, "--output is table, json or name, not '%s'", word);
}

int image_text_output(const char *word, bool *ret_is_json)
{
    bool is_json = word && strcmp(word, "json") == 0;
    if (word && !is_json && strcmp(word, "text") != 0)
        return cmd_failf(CMD_USAGE, "--output is text or json, not '%s'", word);
    *ret_is_json = is_json;
    return 0;
}

char *image_store_dir(const char *given)
{
    const char *env = getenv("DORMOUSE_IMAGE_STORE");
    if (given || (env && *env))
        return xstrdup(given ? given : env);
    scoped(free_scoped) char *data = cmd_data_dir(NULL);
    return xasprintf("%s/images", data);
}

int image_store_policy(const char *word, enum image_cache_policy *ret)
{
    enum image_cache_policy p = word ? image_cache_policy_of(str_of(word)) : IMAGE_CACHE_ARC;
    if (p == IMAGE_CACHE_POLICIES)
        return cmd_failf(CMD_USAGE, "--policy is arc, lru or lfu, not '%s'", word);
    *ret = p;
    return 0;
}

int image_store_open(const char *given, struct oci_store_opts opts, struct oci_store **ret,
                     struct err *err)
{
    return image_store_open_with(given, opts, IMAGE_CACHE_ARC, ret, err);
}

int image_store_open_with(const char *given, struct oci_store_opts opts,
                          enum image_cache_policy policy, struct oci_store **ret, struct err *err)
{
    scoped(free_scoped) char *dir = image_store_dir(given);
    opts.root = dir;
    return store_do_open(&opts, policy, ret, err);
}

void image_store_close(struct oci_store *s)
{
    if (s)
        (void)oci_store_sweep(s, SIZE_MAX, NULL);
    oci_store_close(s);
}

int image_store_do(const char *given, struct store_do *d, struct arena *a, struct json **ret,
                   struct err *err)
{
    scoped(free_scoped) char *dir = image_store_dir(given);
    d->opts.root = dir;
    return store_do(d, a, ret, err);
}

void image_store_print_json(const struct json *v)
{
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(OUTPUT_MAX_BYTES);
    (void)json_write_pretty(&out, v, 2);
    (void)printf(STR_FMT "\n", STR_ARG(buf_str(&out)));
}

void image_store_print_name(struct str name)
{
    scoped(buf_fini_scoped) struct buf safe = BUF_INIT(OUTPUT_MAX_BYTES);
    cmd_add_safe(&safe, name);
    (void)printf(STR_FMT "\n", STR_ARG(buf_str(&safe)));
}
