/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about a module: packing into one allocation, look-up, and the encoding for files. */
#include "wasm/module_info.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#define INFO_MAGIC   0x494d4d44u /* "DMMI" */
#define INFO_VERSION 1u

enum info_flag {
    INFO_MEMORY = 1 << 0,
    INFO_START = 1 << 1,
    INFO_NAMES = 1 << 2,
    INFO_DISSOLVABLE = 1 << 3,
    INFO_FLAGS = (1 << 4) - 1,
};

static const struct module_extern *find(const struct module_extern *list, size_t n,
                                        const char *module, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (str_is(list[i].name, name) && (!module || str_is(list[i].module, module)))
            return &list[i];
    return NULL;
}

const struct module_extern *module_info_import(const struct module_info *info, const char *module,
                                               const char *name)
{
    return find(info->imports, info->n_imports, module, name);
}

const struct module_extern *module_info_export(const struct module_info *info, const char *name)
{
    return find(info->exports, info->n_exports, NULL, name);
}

bool module_info_has_func(const struct module_info *info, const char *name, const char *sig)
{
    const struct module_extern *e = module_info_export(info, name);
    return e && e->kind == MODULE_FUNC && str_is(e->sig, sig);
}

static size_t names_size(const struct module_extern *list, size_t n)
{
    size_t bytes = 0;
    for (size_t i = 0; i < n; i++)
        bytes += list[i].module.n + list[i].name.n + list[i].sig.n;
    return bytes;
}

static struct str pack_str(char **at, struct str s)
{
    char *p = *at;
    if (s.n > 0)
        memcpy(p, s.p, s.n);
    *at += s.n;
    return str_n(p, s.n);
}

static void pack_externs(char **at, struct module_extern *to, const struct module_extern *from,
                         size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = (struct module_extern){
            .kind = from[i].kind,
            .module = pack_str(at, from[i].module),
            .name = pack_str(at, from[i].name),
            .sig = pack_str(at, from[i].sig),
        };
}

int module_info_copy(const struct module_info *info, struct module_info **ret, struct err *err)
{
    size_t n = info->n_imports + info->n_exports;
    assert(info->n_imports <= MODULE_EXTERNS_MAX && info->n_exports <= MODULE_EXTERNS_MAX);
    size_t bytes = names_size(info->imports, info->n_imports) +
                   names_size(info->exports, info->n_exports) + info->globals.n + info->why_not.n;
    struct module_info *to = mem_try(sizeof *to + n * sizeof *to->imports + bytes);
    if (!to)
        return err_set(err, -ENOMEM, "no memory to describe the module");

    *to = *info;
    struct module_extern *externs = (struct module_extern *)(to + 1);
    char *at = (char *)(externs + n);
    to->imports = externs;
    to->exports = externs + info->n_imports;
    pack_externs(&at, externs, info->imports, info->n_imports);
    pack_externs(&at, externs + info->n_imports, info->exports, info->n_exports);
    to->globals = pack_str(&at, info->globals);
    to->why_not = pack_str(&at, info->why_not);
    *ret = to;
    return 0;
}

void module_info_free(struct module_info *info)
{
    free(info);
}

static void put_str(struct buf *b, struct str s)
{
    (void)buf_add_le32(b, (uint32_t)s.n);
    (void)buf_add_str(b, s);
}

static void put_externs(struct buf *b, const struct module_extern *list, size_t n)
{
    (void)buf_add_le32(b, (uint32_t)n);
    for (size_t i = 0; i < n; i++) {
        (void)buf_add_u8(b, (uint8_t)list[i].kind);
        put_str(b, list[i].module);
        put_str(b, list[i].name);
        put_str(b, list[i].sig);
    }
}

int module_info_encode(const struct module_info *info, struct buf *b)
{
    unsigned flags = (info->has_memory ? INFO_MEMORY : 0) | (info->has_start ? INFO_START : 0) |
                     (info->has_names ? INFO_NAMES : 0) |
                     (info->is_dissolvable ? INFO_DISSOLVABLE : 0);
    (void)buf_add_le32(b, INFO_MAGIC);
    (void)buf_add_u8(b, INFO_VERSION);
    (void)buf_add_u8(b, (uint8_t)flags);
    (void)buf_add_le32(b, info->memory_min_pages);
    (void)buf_add_le32(b, info->memory_max_pages);
    (void)buf_add_le64(b, info->image_lo);
    (void)buf_add_le64(b, info->image_hi);
    put_str(b, info->globals);
    put_str(b, info->why_not);
    put_externs(b, info->imports, info->n_imports);
    put_externs(b, info->exports, info->n_exports);
    return b->failed;
}

static struct str get_str(struct rd *r)
{
    return rd_str(r, rd_le32(r));
}

/* Names are borrowed from the input; the array is given. */
static int get_externs(struct rd *r, struct module_extern **ret, size_t *ret_n, struct err *err)
{
    uint32_t n = rd_le32(r);
    if (!rd_ok(r) || n > MODULE_EXTERNS_MAX)
        return err_set(err, E_PARSE, "module description: bad number of imports or exports");
    struct module_extern *list = xnew_n(struct module_extern, n);
    *ret = list;
    *ret_n = n;
    for (uint32_t i = 0; i < n; i++) {
        list[i].kind = rd_u8(r);
        list[i].module = get_str(r);
        list[i].name = get_str(r);
        list[i].sig = get_str(r);
        if (!rd_ok(r) || list[i].kind > MODULE_TAG)
            return err_set(err, E_PARSE, "module description: bad import or export");
    }
    return 0;
}

static bool is_sane(const struct module_info *info)
{
    for (size_t i = 0; i < info->globals.n; i++)
        if (!strchr("iIfFv", info->globals.p[i]) || !info->globals.p[i])
            return false;
    return info->memory_min_pages <= MODULE_PAGES_MAX &&
           info->memory_max_pages <= MODULE_PAGES_MAX && info->image_lo <= info->image_hi &&
           info->image_hi <= (uint64_t)info->memory_min_pages * MODULE_PAGE_BYTES &&
           info->globals.n <= MODULE_GLOBALS_MAX;
}

int module_info_decode(struct str bytes, struct module_info **ret, struct err *err)
{
    struct rd r = rd_init(bytes.p, bytes.n);
    uint32_t magic = rd_le32(&r);
    uint8_t version = rd_u8(&r);
    if (magic != INFO_MAGIC || version != INFO_VERSION)
        return err_set(err, E_PARSE, "not a module description of this version");

    unsigned flags = rd_u8(&r);
    struct module_info info = {
        .has_memory = flags & INFO_MEMORY,
        .has_start = flags & INFO_START,
        .has_names = flags & INFO_NAMES,
        .is_dissolvable = flags & INFO_DISSOLVABLE,
        .memory_min_pages = rd_le32(&r),
    };
    info.memory_max_pages = rd_le32(&r);
    info.image_lo = rd_le64(&r);
    info.image_hi = rd_le64(&r);
    info.globals = get_str(&r);
    info.why_not = get_str(&r);
    if (!rd_ok(&r) || (flags & ~(unsigned)INFO_FLAGS) || !is_sane(&info))
        return err_set(err, E_PARSE, "module description: values out of range");

    scoped(free_scoped) struct module_extern *imports = NULL;
    scoped(free_scoped) struct module_extern *exports = NULL;
    int n = get_externs(&r, &imports, &info.n_imports, err);
    if (n >= 0)
        n = get_externs(&r, &exports, &info.n_exports, err);
    if (n < 0)
        return n;
    if (rd_left(&r) > 0)
        return err_set(err, E_PARSE, "module description: bytes after its end");
    info.imports = imports;
    info.exports = exports;
    return module_info_copy(&info, ret, err);
}
