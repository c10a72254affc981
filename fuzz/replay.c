/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a fuzzer's entry over its seed corpus, without libFuzzer: what every build and gcc can do.
 * Arguments: files and directories of inputs.
 */
#include "fuzz.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static unsigned n_inputs;

static void replay_file(int dir, const char *name)
{
    int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0) {
        perror(name);
        exit(1);
    }
    /* An allocation of the exact size, so that the sanitizers see the first byte behind it. */
    uint8_t *bytes = malloc((size_t)st.st_size);
    ssize_t n = bytes ? read(fd, bytes, (size_t)st.st_size) : -1;
    (void)close(fd);
    if (n != st.st_size && st.st_size > 0) {
        perror(name);
        exit(1);
    }
    (void)LLVMFuzzerTestOneInput(bytes, n < 0 ? 0 : (size_t)n);
    free(bytes);
    n_inputs++;
}

static void replay_dir(const char *path)
{
    DIR *dir = opendir(path);
    if (!dir) {
        perror(path);
        exit(1);
    }
    for (struct dirent *e; (e = readdir(dir));)
        if (e->d_name[0] != '.')
            replay_file(dirfd(dir), e->d_name);
    (void)closedir(dir);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        struct stat st;
        if (stat(argv[i], &st) == 0 && S_ISDIR(st.st_mode))
            replay_dir(argv[i]);
        else
            replay_file(AT_FDCWD, argv[i]);
    }
    (void)printf("%u inputs\n", n_inputs);
    return n_inputs ? 0 : 1;
}
