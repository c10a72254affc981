/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/object/volume_attachment.h"

#include "sched/object/keep.h"

static int volume_attachment_read(struct intern_table *w, struct sched_object *o,
                                  const struct json *json, struct err *err)
{
    struct sched_volume_attachment *a = (struct sched_volume_attachment *)o;
    const struct json *spec = json_getc(json, "spec");
    a->attacher = intern_get(w, json_get_str(spec, "attacher"));
    a->node = intern_get(w, json_get_str(spec, "nodeName"));
    a->volume = sched_keep(json_str(json_path(spec, "source", "persistentVolumeName", NULL)));
    return 0;
}

static void volume_attachment_fini(struct intern_table *w, struct sched_object *o)
{
    struct sched_volume_attachment *a = (struct sched_volume_attachment *)o;
    intern_unref(w, a->attacher);
    intern_unref(w, a->node);
    sched_drop(a->volume);
}

const struct sched_kind_ops sched_volume_attachment_ops = {
    .size = sizeof(struct sched_volume_attachment),
    .read = volume_attachment_read,
    .fini = volume_attachment_fini,
};
