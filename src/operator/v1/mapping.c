/* SPDX-License-Identifier: Apache-2.0 */
/* Maps objects to keys; see mapping.h. */
#include "operator/v1/mapping.h"

size_t mapping_fields(const struct declaration_watch *w,
                      struct object_field ret[MAPPING_FIELDS_MAX])
{
    size_t n = 0;
    for (size_t i = 0; i < w->n_indexes; i++) {
        const struct declaration_index *index = &w->indexes[i];
        struct object_field *f = &ret[n++];
        *f = (struct object_field){ .indexed = true };
        switch (index->kind) {
        case INDEX_FIELD:
            f->kind = OBJECT_FIELD_PATH;
            f->text = index->field.text;
            break;
        case INDEX_LABEL:
            f->kind = OBJECT_FIELD_LABEL;
            f->text = index->label;
            break;
        case INDEX_OWNER:
            f->kind = OBJECT_FIELD_OWNER_UID;
            break;
        }
    }
    if (w->role != WATCH_MAPPED)
        return n;
    if (w->map->kind == MAP_ANNOTATION)
        ret[n++] = (struct object_field){ .kind = OBJECT_FIELD_ANNOTATION, .text = w->map->text };
    if (w->map->kind == MAP_FIELD) {
        ret[n++] = (struct object_field){ .kind = OBJECT_FIELD_PATH, .text = w->map->field.text };
        if (w->map->namespace_field.path)
            ret[n++] = (struct object_field){ .kind = OBJECT_FIELD_PATH,
                                              .text = w->map->namespace_field.text };
    }
    return n;
}

bool mapping_is_constant(const struct declaration_watch *w)
{
    return w->role == WATCH_MAPPED &&
           (w->map->kind == MAP_KEY || (w->map->kind == MAP_ALL && !w->map->same_namespace));
}

static struct str group_of(struct str api_version)
{
    struct str group, version;
    return str_cut(api_version, '/', &group, &version) ? group : STR("");
}

static struct str own_namespace(const struct mapping *m, const struct cached_object *o)
{
    return m->primary_namespaced ? cached_object_namespace(o) : STR("");
}

/* An owner is cluster-scoped or in the namespace of its dependent. */
static void add_owners(const struct mapping *m, const struct cached_object *o, bool any,
                       mapping_add_fn add, void *arg)
{
    struct object_owner owner;
    for (size_t i = 0; i < cached_object_n_owners(o); i++) {
        cached_object_owner(o, i, &owner);
        if ((any || owner.is_controller) && str_eq(owner.kind, m->primary->kind) &&
            str_eq(group_of(owner.api_version), group_of(m->primary->api_version)))
            add(arg, (struct work_key){ own_namespace(m, o), owner.name });
    }
}

/* "name" or "namespace/name" */
static void add_text(const struct mapping *m, const struct cached_object *o, struct str text,
                     mapping_add_fn add, void *arg)
{
    struct str namespace, name;
    if (!str_cut(text, '/', &namespace, &name)) {
        name = text;
        namespace = own_namespace(m, o);
    } else if (!m->primary_namespaced) {
        namespace = STR("");
    }
    if (name.n && str_find_char(name, '/') < 0)
        add(arg, (struct work_key){ namespace, name });
}

static void add_fields(const struct mapping *m, const struct cached_object *o, mapping_add_fn add,
                       void *arg)
{
    struct str names[OBJECT_CACHE_FIELD_VALUES_MAX], namespaces[1];
    struct str namespace = own_namespace(m, o);
    size_t at = m->watch->n_indexes;
    size_t n = object_sub_field(m->sub, o, at, names, ARRAY_LEN(names));
    if (m->primary_namespaced && m->watch->map->namespace_field.path &&
        object_sub_field(m->sub, o, at + 1, namespaces, 1) > 0 && namespaces[0].n)
    namespace = namespaces[0];
    for (size_t i = 0; i < MIN(n, ARRAY_LEN(names)); i++)
        if (names[i].n)
            add(arg, (struct work_key){ namespace, names[i] });
}

struct collect {
    mapping_add_fn add;
    void *arg;
};

static bool add_primary(void *arg, const struct cached_object *primary)
{
    struct collect *c = arg;
    c->add(c->arg,
           (struct work_key){ cached_object_namespace(primary), cached_object_name(primary) });
    return true;
}

static void add_indexed(const struct mapping *m, const struct cached_object *o, mapping_add_fn add,
                        void *arg)
{
    enum { TEXT_MAX = 512 };
    char text[TEXT_MAX], uid[CACHED_UID_BYTES];
    struct str value = cached_object_name(o), namespace = STR("");
    struct collect c = { add, arg };
    switch (m->watch->map->value) {
    case MAP_VALUE_NAME:
        namespace
        = own_namespace(m, o);
        break;
    case MAP_VALUE_NAMESPACED_NAME: {
        struct str in = cached_object_namespace(o);
        if (in.n == 0)
            break;
        if (in.n + value.n + 1 > sizeof text)
            return;
        memcpy(text, in.p, in.n);
        text[in.n] = '/';
        memcpy(text + in.n + 1, value.p, value.n);
        value = str_n(text, in.n + 1 + value.n);
        break;
    }
    case MAP_VALUE_UID:
        value = cached_object_uid(o, uid);
        break;
    }
    for (size_t i = 0; i < m->n_primary_subs; i++)
        object_sub_find_by(m->primary_subs[i], m->watch->map->index, value, namespace, add_primary,
                           &c);
}

static void add_all(const struct mapping *m, const struct cached_object *o, mapping_add_fn add,
                    void *arg)
{
    struct collect c = { add, arg };
    struct str namespace = m->watch->map->same_namespace ? own_namespace(m, o) : STR("");
    for (size_t i = 0; i < m->n_primary_subs; i++)
        object_sub_each(m->primary_subs[i], namespace, add_primary, &c);
}

static void add_mapped(const struct mapping *m, const struct cached_object *o, mapping_add_fn add,
                       void *arg)
{
    const struct declaration_map *map = m->watch->map;
    struct str value;
    switch (map->kind) {
    case MAP_OWNER:
        add_owners(m, o, true, add, arg);
        break;
    case MAP_FIELD:
        add_fields(m, o, add, arg);
        break;
    case MAP_LABEL:
        value = cached_object_label(o, map->text);
        if (value.p)
            add_text(m, o, value, add, arg);
        break;
    case MAP_ANNOTATION:
        if (object_sub_field(m->sub, o, m->watch->n_indexes, &value, 1) > 0)
            add_text(m, o, value, add, arg);
        break;
    case MAP_INDEX:
        add_indexed(m, o, add, arg);
        break;
    case MAP_ALL:
        add_all(m, o, add, arg);
        break;
    case MAP_KEY:
        add(arg, (struct work_key){ m->primary_namespaced ? map->namespace : STR(""), map->name });
        break;
    }
}

void mapping_keys(const struct mapping *m, const struct cached_object *o, mapping_add_fn add,
                  void *arg)
{
    switch (m->watch->role) {
    case WATCH_FOR:
        add(arg, (struct work_key){ cached_object_namespace(o), cached_object_name(o) });
        break;
    case WATCH_OWNS:
        add_owners(m, o, m->watch->any_owner, add, arg);
        break;
    case WATCH_MAPPED:
        add_mapped(m, o, add, arg);
        break;
    case WATCH_CACHE:
        break;
    }
}
