/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the SDKs are, and how an operator's project is built.
 *
 * An SDK is a directory: `template/` is what a new project starts from, and the program `build DIR
 * OUT` makes a module of a project, or says on stderr which tool is missing. A project carries a
 * copy of its SDK in `sdk/`, so it is built the same way wherever it goes. Blocking; for commands.
 */
#pragma once

#include "base/err.h"

/* What `operator build` makes, in the project's directory. */
#define OPERATOR_MODULE "operator.wasm"

/*
 * The directory of a language's SDK ("c", "rust", "go"): below `chosen` if that is not NULL, else
 * below $DORMOUSE_SDK, or `sdk` beside this program, `../sdk` (a source tree),
 * `../share/dormouse/sdk`. Given; NULL and err when there is none.
 */
char *operator_sdk_find(const char *chosen, const char *language, struct err *err);

/*
 * Build the project in `dir` into dir/OPERATOR_MODULE, which is replaced only by a complete one.
 * The tools' messages go to stderr. `chosen` as above, for a project that has no `sdk/`. Errors:
 * -ENOENT no project, or no SDK; -ENOPKG a tool is missing; E_INVALID or the system's else.
 */
int operator_project_build(const char *dir, const char *chosen, struct err *err);
