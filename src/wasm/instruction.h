/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes instructions far enough to find the next one and to know what kind of state they
 * change. */
#pragma once

#include "base/str.h"

enum instruction {
    INSTRUCTION_PLAIN,   /* changes only the stack, locals, globals and memory */
    INSTRUCTION_MUTATES, /* changes a table or drops a segment; its immediates are not read */
    INSTRUCTION_ATOMIC,
    INSTRUCTION_UNKNOWN, /* what follows cannot be decoded either */
};

/* Read one instruction of a function's body; rd_ok() says whether it was complete. *ret_opcode: for
 * opcodes with a prefix, the prefix shifted by 16, and the second opcode. */
enum instruction instruction_read(struct rd *r, uint32_t *ret_opcode);
