/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls that can fail for reasons outside the program, called through one table so that
 * torture tests can make the n-th call fail, and the few helpers built on them.
 *
 * All functions retry on EINTR and return -errno instead of -1.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <sys/types.h>

struct buf;

enum sys_call {
    SYS_OPENAT,
    SYS_WRITE,
    SYS_PWRITE,
    SYS_PREAD,
    SYS_FSYNC,
    SYS_RENAMEAT,
    SYS_FTRUNCATE,
    SYS_MMAP,
    SYS_MEMFD,
    SYS_FALLOCATE,
    SYS_UNLINKAT,
    SYS_MKDIRAT,
    SYS_CALL_COUNT
};

/* Always O_CLOEXEC. */
int sys_openat(int dir_fd, const char *path, int flags, mode_t mode);
/* Write all of it; short writes are continued. 0 or -errno. */
int sys_write_all(int fd, const void *p, size_t n);
int sys_pwrite_all(int fd, const void *p, size_t n, uint64_t offset);
/* Up to n bytes, fewer only at the end of the file; the count or -errno. */
ssize_t sys_pread_full(int fd, void *p, size_t n, uint64_t offset);
int sys_fsync(int fd);
int sys_renameat(int dir_fd, const char *from, int to_dir_fd, const char *to);
int sys_ftruncate(int fd, uint64_t size);
int sys_fallocate(int fd, int mode, uint64_t offset, uint64_t len);
int sys_unlinkat(int dir_fd, const char *path, int flags);
int sys_mkdirat(int dir_fd, const char *path, mode_t mode);
/* A memfd with O_CLOEXEC and sealing allowed. */
int sys_memfd(const char *name);
int sys_mmap(void *at, size_t n, int prot, int flags, int fd, uint64_t offset, void **ret);

enum { SYS_FAIL_KILL = 1 << 20 };
/*
 * Make the nth (from 1) call of this kind from now on fail with -code, or, for SYS_FAIL_KILL, end
 * the process by SIGKILL before that call; nth 0: no call fails. Tests only.
 */
void sys_fail_nth(enum sys_call call, unsigned nth, int code);
/* Calls of this kind since the last sys_fail_nth() for it. */
unsigned sys_call_count(enum sys_call call);

/* Raise the soft limit of open descriptors to the hard limit: the usual soft limit, 1024, exists
 * for select(). */
void sys_raise_files(void);

/* Cryptographic randomness from the kernel; cannot fail after boot (aborts if it does). */
void sys_random(void *p, size_t n);
uint64_t sys_random_u64(void);
/* RFC 9562 version 4, 36 characters and NUL. */
void sys_uuid(char out[37]);

/*
 * Replace dir_fd/name by these bytes: write a temporary, fsync, rename, fsync the directory.
 * After a crash the file has either the old or the new content, complete. name may be a path; its
 * directory exists.
 */
int sys_write_file_atomic(int dir_fd, const char *name, struct str content, mode_t mode,
                          struct err *err);
/* fsync the directory of `path`, so that a file created or renamed there survives a crash. */
int sys_sync_parent(const char *path, struct err *err);
/* Whole file appended to `to`, bounded by to->max (-EMSGSIZE). */
int sys_read_file(int dir_fd, const char *path, struct buf *to, struct err *err);
/* Create path (and parents) with mode; fine if it exists as a directory. */
int sys_mkdir_all(const char *path, mode_t mode, struct err *err);
