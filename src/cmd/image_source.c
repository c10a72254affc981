/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/image_source.h"

#include "oci/credentials.h"
#include "oci/refactored.h"
#include "oci/reference.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

bool image_source_is_file(struct str source)
{
    static const char *const kinds[] = { "oci:", "oci-archive:", "docker-archive:" };
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (str_has_prefix(source, str_of(kinds[i])))
            return true;
    return false;
}

/* For a server, which has another working directory. */
static int absolute_path(struct str path, char **ret, struct err *err)
{
    char here[PATH_MAX];
    scoped(free_scoped) char *given = str_dup(path);
    *ret = realpath(given, NULL);
    if (*ret)
        return 0;
    if (!str_has_prefix(path, STR("/")) && !getcwd(here, sizeof here))
        return err_sys(err, -errno, "the working directory");
    *ret = str_has_prefix(path, STR("/")) ? take_ptr(&given) : xasprintf("%s/%s", here, given);
    return 0;
}

/* Open only here: "/dev/stdin" is another file in another process. */
static bool is_of_process(const char *path)
{
    return str_has_prefix(str_of(path), STR("/dev/")) ||
           str_has_prefix(str_of(path), STR("/proc/"));
}

/* Where a colon ends a path, one that has such a directory above it cannot be given as absolute. */
static int file_source(struct str source, char **ret, const char **ret_alone, struct err *err)
{
    struct str kind, path, rest;
    scoped(free_scoped) char *absolute = NULL;
    (void)str_cut(source, ':', &kind, &path);
    bool has_rest = str_cut(path, ':', &path, &rest);
    int r = absolute_path(path, &absolute, err);
    if (r < 0)
        return r;
    if (is_of_process(absolute))
        *ret_alone = "cannot open a file of this process";
    if (strchr(absolute, ':')) {
        *ret_alone = "cannot be given a path with a colon";
        *ret = str_dup(source);
        return 0;
    }
    *ret = xasprintf(STR_FMT ":%s%s" STR_FMT, STR_ARG(kind), absolute, has_rest ? ":" : "",
                     STR_ARG(rest));
    return 0;
}

/* As oci_origin_open() takes it. */
static int source_of(const char *word, char **ret, const char **ret_alone, struct err *err)
{
    if (image_source_is_file(str_of(word)))
        return file_source(str_of(word), ret, ret_alone, err);
    *ret = xasprintf("%s%s", strncmp(word, "docker://", 9) == 0 ? "" : "docker://", word);
    return 0;
}

/* The credentials of this user. Of a reference that is none the pull says so. */
static int find_login(struct str source, struct arena *a, struct store_job_pull *to,
                      struct err *err)
{
    struct oci_reference ref;
    struct oci_login login;
    if (image_source_is_file(source) ||
        oci_reference_parse(str_slice(source, strlen("docker://"), source.n), &ref, NULL) < 0)
        return 0;
    int r = oci_login_find(&ref, &login, err);
    if (r < 0)
        return r;
    to->has_login = true;
    to->user = str_copy_arena(a, str_of(login.user ? login.user : ""));
    to->password = str_copy_arena(a, str_of(login.password ? login.password : ""));
    to->identity_token =
        str_copy_arena(a, str_of(login.identity_token ? login.identity_token : ""));
    oci_login_fini(&login);
    return 0;
}

static int find_ca(const char *file, struct arena *a, struct store_job_pull *to, struct err *err)
{
    scoped(free_scoped) char *path = NULL;
    int r = file ? absolute_path(str_of(file), &path, err) : 0;
    if (r >= 0 && path)
        to->ca = str_copy_arena(a, str_of(path));
    return r;
}

int image_source_pull(const char *word, const struct oci_remote_opts *registry, struct arena *a,
                      struct store_job_pull *to, const char **ret_alone, struct err *err)
{
    scoped(free_scoped) char *source = NULL;
    int r = source_of(word, &source, ret_alone, err);
    r = r < 0 ? r : find_ca(registry->ca_file, a, to, err);
    r = r < 0 ? r : find_login(str_of(source), a, to, err);
    if (r < 0)
        return r;
    to->source = str_copy_arena(a, str_of(source));
    to->stall_ms = registry->stall_ms;
    to->is_plain_http = registry->plain_http;
    to->allows_private = registry->allows_private;
    to->wants_original |= !oci_refactored_may(to->source); /* the environment of this command */
    return 0;
}
