/* SPDX-License-Identifier: Apache-2.0 */
/* The commands that run in the program dormouse-lab; see lab.h. */
#include "cmd/lab.h"

#include "base/mem.h"
#include "base/sibling.h"
#include "base/vec.h"
#include "cmd/cmd.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Replace this process with dormouse-lab. Returns only on failure: a cmd_exit. */
static int start_lab(const struct cmd *cmd, int argc, char **argv)
{
    VEC(char *) words = { 0 };
    scoped(free_scoped) char *program = sibling_find(LAB_PROGRAM, "DORMOUSE_LAB");
    scoped(free_scoped) char *name = xstrdup(cmd->name);
    vec_push(&words, program);
    for (char *word = name, *space; word; word = space) {
        space = strchr(word, ' ');
        if (space)
            *space++ = '\0';
        vec_push(&words, word);
    }
    for (int i = 0; i < argc; i++)
        vec_push(&words, argv[i]);
    vec_push(&words, NULL);
    (void)execv(program, words.p);
    int r = -errno;
    vec_fini(&words);
    return cmd_failf(CMD_FAILED,
                     "'dormouse %s' needs the program " LAB_PROGRAM
                     ", which is installed beside dormouse: start '%s': %s",
                     cmd->name, program, err_strerror(r));
}

#define LAB_COMMAND(id, row)                                                                       \
    static int run_##id(int argc, char **argv)                                                     \
    {                                                                                              \
        return start_lab(&cmd_##id, argc, argv);                                                   \
    }                                                                                              \
    const struct cmd cmd_##id = { row, .run = run_##id }

LAB_COMMAND(operator_test, LAB_OPERATOR_TEST);
LAB_COMMAND(scheduler_simulate, LAB_SCHEDULER_SIMULATE);
LAB_COMMAND(nodes_simulate, LAB_NODES_SIMULATE);
LAB_COMMAND(replay, LAB_REPLAY);
LAB_COMMAND(image_replay, LAB_IMAGE_REPLAY);
