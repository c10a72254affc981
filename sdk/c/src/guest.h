/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What both guest ABIs have in common: names of imports and exports, and the entry.
 *
 * A guest is linked without a C runtime start file: the host never calls _initialize for G1, and a
 * G2 instance lives on after _start, so constructors run here and destructors never.
 */
#pragma once

#define IMPORT(module, name) __attribute__((import_module(module), import_name(name)))
#define EXPORT(name)         __attribute__((export_name(name), used))

/* Constructors, then the operator. A non-zero result ends the guest through proc_exit(). */
void guest_start(void);
