/* SPDX-License-Identifier: Apache-2.0 */
/* Decoding instructions far enough to know where the next one begins and what kind of state they
 * change. */
#pragma once

#include "base/str.h"

enum instruction {
    INSTRUCTION_PLAIN,   /* changes nothing but the stack, locals, globals and memory */
    INSTRUCTION_MUTATES, /* changes a table or drops a segment; its immediates are not read */
    INSTRUCTION_ATOMIC,
    INSTRUCTION_UNKNOWN, /* so is everything behind it */
};

/* Reads one instruction of a function's body; whether it was whole, rd_ok() tells. *ret_opcode: for
 * opcodes with a prefix, the prefix shifted by 16 and the second opcode. */
enum instruction instruction_read(struct rd *r, uint32_t *ret_opcode);
