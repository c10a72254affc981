/* SPDX-License-Identifier: Apache-2.0 */
/* kubectl port-forward: connections to ports of a pod, from inside its network namespace. */
#include "agent/agent_impl.h"
#include "agent/answer.h"
#include "agent/stream/dial.h"

#include <errno.h>

struct agent_ports { /* of one client */
    struct loop *loop;
    char *netns; /* NULL: that of this process */
};

static int dial(void *arg, uint16_t port, stream_dialed_cb done, void *dial_arg, struct err *err)
{
    const struct agent_ports *p = arg;
    stream_dial_start(p->loop, p->netns, port, done, dial_arg);
    return 0;
}

static void close_ports(void *arg)
{
    struct agent_ports *p = arg;
    free(p->netns);
    free(p);
}

static const struct stream_port_ops port_ops = { .dial = dial, .close = close_ports };

int agent_answer_forward(void *arg, const struct agent_ref *ref,
                         const struct stream_port_ops **ret_ops, void **ret_arg, struct err *err)
{
    struct agent_pod *pod = agent_answer_find(arg, ref);
    if (!pod || !pod->has_network)
        return err_set(err, -ENOENT, "the pod has no network");
    struct agent_ports *p = xnew(struct agent_ports);
    p->loop = pod->agent->loop;
    p->netns = pod->network ? xstrdup(pod_network_netns(pod->network)) : NULL;
    *ret_ops = &port_ops;
    *ret_arg = p;
    return 0;
}
