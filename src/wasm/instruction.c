/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of the immediates of each opcode; see instruction.h. Core specification 2.0, section
 * 5.4. */
#include "wasm/instruction.h"

#include "base/mem.h"
#include "wasm/leb.h"

/* The immediates of an opcode. */
enum imm {
    IMM_UNKNOWN, /* unknown instruction */
    IMM_NONE,
    IMM_BLOCK,    /* block type */
    IMM_INDEX,    /* one index */
    IMM_INDEX2,   /* two indices */
    IMM_BR_TABLE, /* vector of labels and a label */
    IMM_SELECT,   /* vector of types */
    IMM_MEM,      /* alignment and offset */
    IMM_MEM_LANE, /* the same and a lane */
    IMM_LANE,
    IMM_REF,
    IMM_I32,
    IMM_I64,
    IMM_BYTES4,
    IMM_BYTES8,
    IMM_BYTES16,
    IMM_MUTATES, /* changes a table or drops a segment: two indices at most, not read */
    IMM_FC,      /* a second opcode follows */
    IMM_FD,
    IMM_ATOMIC,
};

static const uint8_t imm_of[256] = {
    [0x00 ... 0x01] = IMM_NONE,  /* unreachable, nop */
    [0x02 ... 0x04] = IMM_BLOCK, /* block, loop, if */
    [0x05] = IMM_NONE,           /* else */
    [0x0b] = IMM_NONE,           /* end */
    [0x0c ... 0x0d] = IMM_INDEX, /* br, br_if */
    [0x0e] = IMM_BR_TABLE,
    [0x0f] = IMM_NONE,          /* return */
    [0x10] = IMM_INDEX,         /* call */
    [0x11] = IMM_INDEX2,        /* call_indirect */
    [0x12] = IMM_INDEX,         /* return_call */
    [0x13] = IMM_INDEX2,        /* return_call_indirect */
    [0x1a ... 0x1b] = IMM_NONE, /* drop, select */
    [0x1c] = IMM_SELECT,
    [0x20 ... 0x25] = IMM_INDEX, /* local.get, set, tee; global.get, set; table.get */
    [0x26] = IMM_MUTATES,        /* table.set */
    [0x28 ... 0x3e] = IMM_MEM,   /* loads and stores */
    [0x3f ... 0x40] = IMM_INDEX, /* memory.size, grow */
    [0x41] = IMM_I32,
    [0x42] = IMM_I64,
    [0x43] = IMM_BYTES4,
    [0x44] = IMM_BYTES8,
    [0x45 ... 0xc4] = IMM_NONE, /* numbers */
    [0xd0] = IMM_REF,           /* ref.null */
    [0xd1] = IMM_NONE,          /* ref.is_null */
    [0xd2] = IMM_INDEX,         /* ref.func */
    [0xfc] = IMM_FC,
    [0xfd] = IMM_FD,
    [0xfe] = IMM_ATOMIC,
};

static const uint8_t imm_of_fc[] = {
    [0x00 ... 0x07] = IMM_NONE,    /* saturating truncation */
    [0x08 ... 0x09] = IMM_MUTATES, /* memory.init, data.drop */
    [0x0a] = IMM_INDEX2,           /* memory.copy */
    [0x0b] = IMM_INDEX,            /* memory.fill */
    [0x0c ... 0x0f] = IMM_MUTATES, /* table.init, elem.drop, table.copy, table.grow */
    [0x10] = IMM_INDEX,            /* table.size */
    [0x11] = IMM_MUTATES,          /* table.fill */
};

static const uint8_t imm_of_fd[256] = {
    [0x00 ... 0x0b] = IMM_MEM,     /* v128 loads and store */
    [0x0c ... 0x0d] = IMM_BYTES16, /* v128.const, i8x16.shuffle */
    [0x0e ... 0x14] = IMM_NONE,    /* swizzle, splats */
    [0x15 ... 0x22] = IMM_LANE,    /* extract and replace lane */
    [0x23 ... 0x53] = IMM_NONE,
    [0x54 ... 0x5b] = IMM_MEM_LANE, /* load and store lane */
    [0x5c ... 0x5d] = IMM_MEM,      /* load32_zero, load64_zero */
    [0x5e ... 0x99] = IMM_NONE,
    [0x9b ... 0xa1] = IMM_NONE,
    [0xa3 ... 0xa4] = IMM_NONE,
    [0xa7 ... 0xae] = IMM_NONE,
    [0xb1] = IMM_NONE,
    [0xb5 ... 0xba] = IMM_NONE,
    [0xbc ... 0xc1] = IMM_NONE,
    [0xc3 ... 0xc4] = IMM_NONE,
    [0xc7 ... 0xce] = IMM_NONE,
    [0xd1] = IMM_NONE,
    [0xd5 ... 0xe1] = IMM_NONE,
    [0xe3 ... 0xed] = IMM_NONE,
    [0xef ... 0xff] = IMM_NONE,
};

static void rd_memarg(struct rd *r)
{
    if (rd_u32(r) & 0x40) /* a memory index follows */
        (void)rd_u32(r);
    (void)rd_leb(r, 64);
}

enum instruction instruction_read(struct rd *r, uint32_t *ret_opcode)
{
    uint32_t op = rd_u8(r);
    unsigned imm = imm_of[op];
    if (imm == IMM_FC || imm == IMM_FD) {
        uint32_t sub = rd_u32(r);
        if (imm == IMM_FC)
            imm = sub < ARRAY_LEN(imm_of_fc) ? imm_of_fc[sub] : IMM_UNKNOWN;
        else
            imm = sub < ARRAY_LEN(imm_of_fd) ? imm_of_fd[sub] : IMM_UNKNOWN;
        op = op << 16 | (sub & 0xffff);
    }
    *ret_opcode = op;
    switch ((enum imm)imm) {
    case IMM_NONE:
        return INSTRUCTION_PLAIN;
    case IMM_BLOCK:
    case IMM_REF:
        (void)rd_sleb(r, 33);
        return INSTRUCTION_PLAIN;
    case IMM_INDEX2:
        (void)rd_u32(r);
        (void)rd_u32(r);
        return INSTRUCTION_PLAIN;
    case IMM_INDEX:
        (void)rd_u32(r);
        return INSTRUCTION_PLAIN;
    case IMM_BR_TABLE:
        for (uint32_t n = rd_count(r, 1) + 1; n > 0 && rd_ok(r); n--)
            (void)rd_u32(r);
        return INSTRUCTION_PLAIN;
    case IMM_SELECT:
        (void)rd_str(r, rd_u32(r));
        return INSTRUCTION_PLAIN;
    case IMM_MEM:
        rd_memarg(r);
        return INSTRUCTION_PLAIN;
    case IMM_MEM_LANE:
        rd_memarg(r);
        (void)rd_u8(r);
        return INSTRUCTION_PLAIN;
    case IMM_LANE:
        (void)rd_u8(r);
        return INSTRUCTION_PLAIN;
    case IMM_I32:
        (void)rd_sleb(r, 32);
        return INSTRUCTION_PLAIN;
    case IMM_I64:
        (void)rd_sleb(r, 64);
        return INSTRUCTION_PLAIN;
    case IMM_BYTES4:
        (void)rd_str(r, 4);
        return INSTRUCTION_PLAIN;
    case IMM_BYTES8:
        (void)rd_str(r, 8);
        return INSTRUCTION_PLAIN;
    case IMM_BYTES16:
        (void)rd_str(r, 16);
        return INSTRUCTION_PLAIN;
    case IMM_MUTATES:
        return INSTRUCTION_MUTATES;
    case IMM_ATOMIC:
        return INSTRUCTION_ATOMIC;
    case IMM_UNKNOWN:
    case IMM_FC:
    case IMM_FD:
        break;
    }
    return INSTRUCTION_UNKNOWN;
}
