/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse: the table of subcommands, the text of help, and main(). */
#include "base/version.h"
#include "cmd/commands.h"
#include "cmd/dispatch.h"
#include "image/layer_child.h"
#include "image/lazy_child.h"
#include "image/lazy_guard.h"
#include "image/provide_child.h"
#include "io/loop.h"
#include "version.h" /* made by meson: what was built */

#include <string.h>

static const struct cmd *const commands[] = { COMMANDS NULL };

static const char intro[] =
    "dormouse: an edge control plane that sleeps.\n"
    "\n"
    "Runs Kubernetes operators and functions as Wasm guests next to its own small Kubernetes\n"
    "API server; what is idle is written to disk, or nothing but a record.\n"
    "\n"
    "Usage: dormouse COMMAND [OPTION...] [ARGUMENT...]\n";

static const char outro[] = "\n"
                            "dormouse COMMAND --help says more about one of them.\n"
                            "\n"
                            "Exit status: 0 done, 1 failed (the message says why), 2 wrong usage,\n"
                            "3 the server or cluster that was asked is not there.\n";

static const struct cmd_section sections[] = {
    { "up", "Clusters" },           { "operator", "Operators" },
    { "fn", "Functions" },          { "scheduler", "Scheduling" },
    { "image", "Images" },          { "module", "Modules" },
    { "guests", "What runs here" }, { "kubeconfig", "Administration" },
};

static int run(int argc, char **argv)
{
    const struct cmd_program dormouse = { .name = "dormouse",
                                          .intro = intro,
                                          .outro = outro,
                                          .commands = commands,
                                          .sections = sections,
                                          .n_sections = ARRAY_LEN(sections),
                                          .print_version = cmd_version.run };
    cmd_set_signals();
    version_set(strrchr(DORMOUSE_BUILT, ' ') + 1);
    if (argc > 1 && str_is(str_of(argv[1]), LAYER_CHILD_WORD)) /* no command for people */
        return layer_child_main(argc, argv);
    if (argc > 1 && str_is(str_of(argv[1]), PROVIDE_CHILD_WORD)) /* likewise */
        return provide_child_main();
    if (argc > 1 && str_is(str_of(argv[1]), LAZY_GUARD_WORD)) /* likewise */
        return lazy_guard_main(argc, argv);
    if (argc > 1 && str_is(str_of(argv[1]), LAZY_CHILD_WORD)) /* likewise */
        return lazy_child_main();
    return cmd_dispatch(&dormouse, argc, argv);
}

int main(int argc, char **argv)
{
    int status = run(argc, argv);
    loop_end_threads();
    return status;
}
