/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Projects of operators, functions and scheduler plugins: creating and building them, and finding
 * the SDKs.
 *
 * An SDK is a directory: a template is what a new project starts from, and the program `build DIR
 * OUT` makes a module of a project, or says on stderr which tool is missing. A project carries a
 * copy of its SDK in `sdk/`, so it is built the same way wherever it goes. Blocking; for commands.
 */
#pragma once

#include "cmd/cmd.h"

struct project_kind {
    const char *command;  /* "operator": of `dormouse operator init` */
    const char *template; /* directory in an SDK */
    const char *module;   /* what is built, in the project's directory */
};
extern const struct project_kind project_operator, project_function, project_scheduler;
#define OPERATOR_MODULE "operator.wasm"
#define FUNCTION_MODULE "function.wasm"
#define PLUGIN_MODULE   "plugin.wasm"

/*
 * Make the directory `name` with the kind's template and a copy of the SDK. `language`: "c",
 * "rust", "go". Of the SDKs' directory: below `chosen` if that is not NULL, else below
 * $DORMOUSE_SDK, or `sdk` beside this program, `../sdk` (a source tree), `../share/dormouse/sdk`.
 * The project appears whole or not at all. Errors: -EEXIST; -ENOENT no such SDK; the system's.
 */
int project_create(const struct project_kind *kind, const char *name, const char *language,
                   const char *chosen, struct err *err);

/*
 * Build the project in `dir` into dir/MODULE, which is replaced only by a complete one. The tools'
 * messages go to stderr. `chosen` as above, for a project that has no `sdk/`. Errors: -ENOENT no
 * project, or no SDK; -ENOPKG a tool is missing; E_INVALID or the system's else.
 */
int project_build(const struct project_kind *kind, const char *dir, const char *chosen,
                  struct err *err);

/* The directory of a language's SDK. Given; NULL and err when there is none. */
char *project_sdk_find(const char *chosen, const char *language, struct err *err);
/* The run functions of `init NAME` and `build [DIR]`. */
int project_init_run(const struct cmd *cmd, const struct cmd_opt *opts,
                     const struct project_kind *kind, const char *const *language,
                     const char *const *sdk, int argc, char **argv);
int project_build_run(const struct cmd *cmd, const struct cmd_opt *opts,
                      const struct project_kind *kind, const char *const *sdk, int argc,
                      char **argv);
