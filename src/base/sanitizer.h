/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sanitizers that a file is compiled with, as 0 or 1: gcc names them by macros, clang by
 * __has_feature(). A sanitizer needs files, system calls, threads and address space that a confined
 * process gives up.
 */
#ifndef BASE_SANITIZER_H
#define BASE_SANITIZER_H

#if !defined(__has_feature)
#define __has_feature(x) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define HAS_ASAN 1
#else
#define HAS_ASAN 0
#endif

#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#define HAS_TSAN 1
#else
#define HAS_TSAN 0
#endif

#if HAS_ASAN || HAS_TSAN || __has_feature(memory_sanitizer)
#define HAS_SANITIZER 1
#else
#define HAS_SANITIZER 0
#endif

#endif
