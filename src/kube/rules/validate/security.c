/* SPDX-License-Identifier: Apache-2.0 */
/* Security contexts of pods and containers. */
#include "kube/rules/validate/check.h"

/* Generated from text/security.txt. */
#include "kube/rules/security_rules.h"

/* ---- profiles ---- */

static void seccomp(const struct validate_value *s, const void *unused)
{
    MEMBER(type, s, "type");
    MEMBER(profile, s, "localhostProfile");
    if (!s->v)
        return;
    if (value_text(&type).n == 0)
        report_required(&type, "type is required when seccompProfile is set");
    else
        validate_enum_strict(&type, &enum_seccomp_types);
    if (!value_is(&type, "Localhost")) {
        if (profile.v)
            report_invalid_value(
                &profile,
                value_go_struct(s->errs->a, s->v,
                                "Type=type/\"\" LocalhostProfile=localhostProfile/null"),
                "can only be set when seccomp type is Localhost");
    } else if (!profile.v) {
        report_required(&profile, "must be set when seccomp type is Localhost");
    } else {
        validate_path_below(&profile, NULL);
    }
}

static void app_armor_local(const struct validate_value *profile)
{
    enum { PROFILE_MAX_BYTES = 4095 };
    struct str text = value_text(profile);
    bool padded = str_trim(text).n != text.n;
    if (!profile->v || (!padded && text.n == 0))
        report_required(profile, "must be set when AppArmor type is Localhost");
    if (padded)
        report_invalid_text(profile, "must not be padded with whitespace");
    if (text.n > PROFILE_MAX_BYTES)
        report_too_long(profile, PROFILE_MAX_BYTES);
}

static void app_armor(const struct validate_value *s, const void *unused)
{
    MEMBER(type, s, "type");
    MEMBER(profile, s, "localhostProfile");
    if (!s->v)
        return;
    if (value_text(&type).n == 0)
        report_required(&type, "type is required when appArmorProfile is set");
    else if (!validate_enum_has(&enum_app_armor_types, value_text(&type)))
        report_not_supported(&type, &enum_app_armor_types);
    else if (value_is(&type, "Localhost"))
        app_armor_local(&profile);
    else if (profile.v)
        report_invalid(&profile, "can only be set when AppArmor type is Localhost");
}

/* ---- Windows ---- */

static bool has_any(struct str s, const char *set)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] && strchr(set, s.p[i]))
            return true;
    return false;
}

static bool has_control(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < ' ' || s.p[i] == 0x7f)
            return true;
    return false;
}

static bool is_netbios(struct str s)
{
    return s.n >= 1 && s.n <= 15 && s.p[0] != '.' && !has_any(s, "\\/:*?\"<>|");
}

static bool is_domain(struct str s)
{
    struct str label;
    for (bool more = true; more;) {
        more = str_cut(s, '.', &label, &s);
        if (label.n == 0 || label.n > 63 || label.p[0] == '-' || label.p[label.n - 1] == '-')
            return false;
        for (size_t i = 0; i < label.n; i++) {
            char c = label.p[i];
            if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') &&
                c != '-')
                return false;
        }
    }
    return true;
}

static bool only_dots_and_blanks(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] != '.' && s.p[i] != ' ')
            return false;
    return s.n > 0;
}

static void windows_user(const struct validate_value *s, struct str domain, bool has_domain,
                         struct str user)
{
    enum { DOMAIN_MAX_BYTES = 256, USER_MAX_BYTES = 104 };
    if (domain.n >= DOMAIN_MAX_BYTES)
        report_invalid(s, "runAsUserName's Domain length must be under 256 characters");
    if (has_domain && !is_netbios(domain) && !is_domain(domain))
        report_invalid(s, "runAsUserName's Domain doesn't match the NetBios nor the DNS format");
    if (user.n == 0)
        report_invalid(s, "runAsUserName's User cannot be empty");
    else if (user.n > USER_MAX_BYTES)
        report_invalid(s, "runAsUserName's User length must not be longer than 104 characters");
    if (only_dots_and_blanks(user))
        report_invalid(s, "runAsUserName's User cannot contain only periods or spaces");
    if (has_any(user, "\"/\\:;|=,+*?<>@[]"))
        report_invalid(s, "runAsUserName's User cannot contain the following characters: "
                          "\"/\\:;|=,+*?<>@[]");
}

static void windows_user_name(const struct validate_value *s, const void *unused)
{
    struct str name = value_text(s), head, tail;
    if (!s->v)
        return;
    bool has_domain = str_cut(name, '\\', &head, &tail);
    if (name.n == 0)
        report_invalid(s, "runAsUserName cannot be an empty string");
    else if (has_control(name))
        report_invalid(s, "runAsUserName cannot contain control characters");
    else if (has_domain && str_find_char(tail, '\\') >= 0)
        report_invalid(s, "runAsUserName cannot contain more than one backslash");
    else
        windows_user(s, has_domain ? head : STR(""), has_domain, has_domain ? tail : name);
}

static void credential_spec(const struct validate_value *s, const void *unused)
{
    enum { SPEC_MAX_BYTES = 64 * 1024 };
    if (s->v && value_text(s).n == 0)
        report_invalid(s, "gmsaCredentialSpec cannot be an empty string");
    else if (value_text(s).n > SPEC_MAX_BYTES)
        report_invalid(s, "gmsaCredentialSpec size must be under 64 KiB");
}

static void subdomain_if_set(const struct validate_value *s, const void *unused)
{
    if (s->v)
        validate_subdomain(s, NULL);
}

static void windows_options(const struct validate_value *s, const void *unused)
{
    VALIDATE_MEMBERS(s, rules_windows_options);
}

/* ---- containers ---- */

static struct json *shown_context(const struct validate_value *s)
{
    struct arena *a = s->errs->a;
    const struct json *capabilities = json_getc(s->v, "capabilities");
    struct json *v = json_clone(a, s->v);
    if (capabilities)
        json_setc(a, v, "capabilities",
                  value_go_struct(a, capabilities, "Add=add/null Drop=drop/null"));
    return value_go_struct(a, v,
                           "Capabilities=capabilities/null Privileged=privileged/null "
                           "SELinuxOptions=seLinuxOptions/null WindowsOptions=windowsOptions/null "
                           "RunAsUser=runAsUser/null RunAsGroup=runAsGroup/null "
                           "RunAsNonRoot=runAsNonRoot/null "
                           "ReadOnlyRootFilesystem=readOnlyRootFilesystem/null "
                           "AllowPrivilegeEscalation=allowPrivilegeEscalation/null "
                           "ProcMount=procMount/null SeccompProfile=seccompProfile/null "
                           "AppArmorProfile=appArmorProfile/null");
}

static void escalation(const struct validate_value *s)
{
    MEMBER(allow, s, "allowPrivilegeEscalation");
    MEMBER(capabilities, s, "capabilities");
    if (!json_is(allow.v, JSON_FALSE))
        return;
    if (value_member_bool(s, "privileged"))
        report_invalid_value(s, shown_context(s),
                             "cannot set `allowPrivilegeEscalation` to false and `privileged` to "
                             "true");
    json_each (c, json_getc(capabilities.v, "add"))
        if (str_is(json_str(c), "CAP_SYS_ADMIN"))
            report_invalid_value(s, shown_context(s),
                                 "cannot set `allowPrivilegeEscalation` to false and "
                                 "`capabilities.Add` CAP_SYS_ADMIN");
}

void validate_container_security(const struct validate_value *s, bool host_users)
{
    MEMBER(proc_mount, s, "procMount");
    MEMBER(profile, s, "seccompProfile");
    if (!s->v)
        return;
    VALIDATE_MEMBERS(s, rules_container_security_users);
    validate_enum_if_set(&proc_mount, &enum_container_security_proc_mounts);
    if (host_users && value_is(&proc_mount, "Unmasked"))
        report_invalid(&proc_mount, "`hostUsers` must be false to use `Unmasked`");
    seccomp(&profile, NULL);
    escalation(s);
    VALIDATE_MEMBERS(s, rules_container_security_rest);
}

/* ---- pods ---- */

/* Sysctls of a namespace, by prefix. */
static bool in_ipc_namespace(struct str name)
{
    return str_has_prefix(name, STR("kernel.shm")) || str_has_prefix(name, STR("kernel.msg")) ||
           str_is(name, "kernel.sem") || str_has_prefix(name, STR("fs.mqueue."));
}

/* Replaces slashes by dots if a slash comes first. */
static struct str with_dots(struct arena *a, struct str name)
{
    ptrdiff_t slash = str_find_char(name, '/'), dot = str_find_char(name, '.');
    if (slash < 0 || (dot >= 0 && dot < slash))
        return name;
    struct str dotted = str_copy_arena(a, name);
    for (size_t i = 0; i < dotted.n; i++)
        if (dotted.p[i] == '/' || dotted.p[i] == '.')
            ((char *)dotted.p)[i] = dotted.p[i] == '/' ? '.' : '/';
    return dotted;
}

#define SYSCTL_SEGMENT "[a-z0-9]([-_a-z0-9]*[a-z0-9])?"

static void sysctls(const struct validate_value *s, const struct validate_value *spec)
{
    struct map seen = { 0 };
    value_each (sysctl, i, s) {
        MEMBER(name, &sysctl, "name");
        struct str text = value_text(&name), dotted = with_dots(s->errs->a, text);
        if (text.n == 0)
            report_required(&name, "");
        else if (!names_is_sysctl(text))
            report_invalid_text(&name, "must have at most 253 characters and match regex "
                                       "^(" SYSCTL_SEGMENT "[\\./])*" SYSCTL_SEGMENT "$");
        else if (map_has(&seen, text))
            report_duplicate_str(&name, text);
        if (value_member_bool(spec, "hostNetwork") && str_has_prefix(dotted, STR("net.")))
            report_invalid_text(&name, "may not be specified when 'hostNetwork' is true");
        else if (value_member_bool(spec, "hostIPC") && in_ipc_namespace(dotted))
            report_invalid_text(&name, "may not be specified when 'hostIPC' is true");
        (void)map_put(&seen, text, &seen);
    }
    map_fini(&seen);
}

void validate_pod_security(const struct validate_value *spec)
{
    MEMBER(s, spec, "securityContext");
    MEMBER(list, &s, "sysctls");
    const struct json *share = json_getc(spec->v, "shareProcessNamespace");
    struct validate_value share_at = value_named(&s, "shareProcessNamespace", share);
    VALIDATE_MEMBERS(&s, rules_pod_security_users);
    if (json_bool(share) && value_member_bool(spec, "hostPID"))
        report_invalid(&share_at, "ShareProcessNamespace and HostPID cannot both be enabled");
    sysctls(&list, spec);
    VALIDATE_MEMBERS(&s, rules_pod_security_rest);
}
