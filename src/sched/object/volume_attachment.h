/* SPDX-License-Identifier: Apache-2.0 */
/* A VolumeAttachment: a volume is, or is about to be, attached to a node. */
#pragma once

#include "sched/object/object.h"

struct sched_volume_attachment {
    struct sched_object o;
    struct intern *attacher, *node; /* never NULL */
    struct str volume;              /* name of the PersistentVolume; "": none */
};
static inline const struct sched_volume_attachment *sched_volume_attachment_of(
    const struct sched_object *o)
{
    return (const struct sched_volume_attachment *)o;
}
