/* SPDX-License-Identifier: Apache-2.0 */
#include "modules/module_login.h"

#include "base/mem.h"

struct module_login {
    struct job job;
    struct oci_reference ref;
    struct oci_login login;
    int r;
    struct err err;
    module_login_cb cb; /* NULL: cancelled */
    void *arg;
};

static void find(struct job *j)
{
    struct module_login *l = container_of(j, struct module_login, job);
    l->r = oci_login_find(&l->ref, &l->login, &l->err);
}

static void on_found(struct job *j, int r)
{
    struct module_login *l = container_of(j, struct module_login, job);
    if (l->cb)
        l->cb(l->arg, r < 0 ? r : l->r, &l->login, &l->err);
    oci_login_fini(&l->login);
    free(l);
}

int module_login_start(struct loop *loop, const struct oci_reference *ref, module_login_cb cb,
                       void *arg, struct module_login **ret, struct err *err)
{
    struct module_login *l = xnew(struct module_login);
    *l = (struct module_login){
        .job = { .work = find, .done = on_found }, .ref = *ref, .cb = cb, .arg = arg
    };
    int r = job_start(loop, &l->job);
    if (r < 0) {
        free(l);
        return err_sys(err, r, "look for credentials");
    }
    *ret = l;
    return 0;
}

void module_login_cancel(struct module_login *l)
{
    if (l)
        l->cb = NULL; /* done() frees */
}
