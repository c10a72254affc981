/* SPDX-License-Identifier: Apache-2.0 */
/*
 * WASI functions that work on descriptors nobody is given, for a table of WASI_IMPORTS (abi.h) with
 * rows wasi_NAME: all are bad_descriptor(), which the includer defines and which answers BADF.
 * fd_prestat_get must: Go panics, and wasi-libc exits, on any other error.
 */
#pragma once

#define wasi_fd_prestat_get          bad_descriptor
#define wasi_fd_prestat_dir_name     bad_descriptor
#define wasi_fd_advise               bad_descriptor
#define wasi_fd_allocate             bad_descriptor
#define wasi_fd_datasync             bad_descriptor
#define wasi_fd_sync                 bad_descriptor
#define wasi_fd_fdstat_set_rights    bad_descriptor
#define wasi_fd_filestat_set_size    bad_descriptor
#define wasi_fd_filestat_set_times   bad_descriptor
#define wasi_fd_pread                bad_descriptor
#define wasi_fd_pwrite               bad_descriptor
#define wasi_fd_readdir              bad_descriptor
#define wasi_fd_renumber             bad_descriptor
#define wasi_path_create_directory   bad_descriptor
#define wasi_path_filestat_get       bad_descriptor
#define wasi_path_filestat_set_times bad_descriptor
#define wasi_path_link               bad_descriptor
#define wasi_path_open               bad_descriptor
#define wasi_path_readlink           bad_descriptor
#define wasi_path_remove_directory   bad_descriptor
#define wasi_path_rename             bad_descriptor
#define wasi_path_symlink            bad_descriptor
#define wasi_path_unlink_file        bad_descriptor
#define wasi_sock_accept             bad_descriptor
#define wasi_sock_recv               bad_descriptor
#define wasi_sock_send               bad_descriptor
#define wasi_sock_shutdown           bad_descriptor
