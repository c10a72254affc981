/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a module against the tables of abi.h. */
#include "wasm/abi.h"

struct func_row {
    enum guest_abi abi;
    const char *module, *name, *sig;
    enum abi_entry role; /* exports */
};

static const struct func_row imports[] = {
#define ROW(abi, module, name, sig, fn) { abi, module, name, sig, 0 },
    ABI_IMPORTS(ROW)
#undef ROW
};

static const struct func_row wasi[] = {
#define ROW(name, sig) { GUEST_ABI_G1, WASI_MODULE, #name, sig, 0 },
    WASI_IMPORTS(ROW)
#undef ROW
};

static const struct func_row v1[] = {
#define ROW(name, sig) { GUEST_ABI_V1, V1_MODULE, #name, sig, 0 },
    V1_IMPORTS(ROW)
#undef ROW
};

static const struct func_row fn[] = {
#define ROW(name, sig) { GUEST_ABI_HTTP, FN_MODULE, #name, sig, 0 },
    FN_IMPORTS(ROW)
#undef ROW
};

static const struct func_row exports[] = {
#define ROW(abi, role, name, sig) { abi, "", name, sig, role },
    ABI_EXPORTS(ROW)
#undef ROW
};

bool abi_is_optional(enum guest_abi abi, enum abi_entry entry)
{
    return abi == GUEST_ABI_G2 && entry == ENTRY_START;
}

const char *abi_name(enum guest_abi abi)
{
    switch (abi) {
    case GUEST_ABI_G1:
        return "G1";
    case GUEST_ABI_G2:
        return "G2";
    case GUEST_ABI_V1:
        return "v1";
    case GUEST_ABI_COMMAND:
        return "command";
    case GUEST_ABI_HTTP:
        return "reactor";
    }
    return "?";
}

static bool is_in(const struct func_row *rows, size_t n, const struct module_extern *e,
                  enum guest_abi abi)
{
    for (size_t i = 0; i < n; i++)
        if (rows[i].abi == abi && str_is(e->module, rows[i].module) &&
            str_is(e->name, rows[i].name) && str_is(e->sig, rows[i].sig))
            return true;
    return false;
}

static bool is_offered(const struct module_extern *e, enum guest_abi abi)
{
    if (e->kind != MODULE_FUNC)
        return false;
    if (is_in(imports, ARRAY_LEN(imports), e, abi) || is_in(v1, ARRAY_LEN(v1), e, abi) ||
        is_in(fn, ARRAY_LEN(fn), e, abi))
        return true;
    if (!str_is(e->module, WASI_MODULE) &&
        !(abi == GUEST_ABI_G1 && str_is(e->module, WASI_MODULE_OLD)))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(wasi); i++)
        if (str_is(e->name, wasi[i].name) && str_is(e->sig, wasi[i].sig))
            return true;
    return false;
}

int abi_check(const struct module_info *info, enum guest_abi abi, struct err *err)
{
    const struct module_extern *memory = module_info_export(info, "memory");
    if (!info->has_memory || !memory || memory->kind != MODULE_MEMORY)
        return err_set(err, E_UNSUPPORTED, "the module exports no 'memory'");
    bool is_reactor = module_info_has_func(info, ABI_INITIALIZE, ":");
    for (size_t i = 0; i < ARRAY_LEN(exports); i++) {
        const struct func_row *e = &exports[i];
        if (e->abi != abi || (is_reactor && abi_is_optional(abi, e->role)))
            continue;
        if (!module_info_has_func(info, e->name, e->sig))
            return err_set(err, E_UNSUPPORTED,
                           "the module exports no function '%s' of type %s, which ABI %s needs",
                           e->name, e->sig, abi_name(abi));
    }
    for (size_t i = 0; i < info->n_imports; i++) {
        const struct module_extern *e = &info->imports[i];
        if (!is_offered(e, abi))
            return err_set(err, E_UNSUPPORTED,
                           "the module imports '" STR_FMT "." STR_FMT "' of type " STR_FMT
                           ", which ABI %s does not offer",
                           STR_ARG(e->module), STR_ARG(e->name), STR_ARG(e->sig), abi_name(abi));
    }
    return 0;
}
