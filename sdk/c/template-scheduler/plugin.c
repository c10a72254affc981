/* The plugin: nodes without a label are refused. sdk/include/dormouse_scheduler.h says what there
 * is. */
#include <dormouse_scheduler.h>

#include <stdio.h>

/* The name of the label is the configuration, guestConfig. */
static const char *key(void)
{
    struct ds_str config = ds_config(); /* ends with a NUL */
    return config.p ? config.p : "";
}

DS_HOOK(filter)
{
    char why[128];
    if (ds_label(ds_node(ds_node_name()), key()).p)
        return DS_SUCCESS;
    (void)snprintf(why, sizeof why, "the node has no label %.80s", key());
    return ds_refuse(DS_UNSCHEDULABLE, why);
}
