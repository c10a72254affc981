/* SPDX-License-Identifier: Apache-2.0 */
/* A function that is a command: reads its environment and standard input, and prints. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    const char *method = getenv("REQUEST_METHOD"), *path = getenv("PATH_INFO");
    printf("Content-Type: text/plain\n\n");
    printf("%s %s\n", method ? method : "?", path ? path : "?");
    if (method && strcmp(method, "POST") == 0) {
        unsigned long lines = 0, bytes = 0;
        for (int c; (c = getchar()) != EOF; bytes++)
            lines += c == '\n';
        printf("%lu lines, %lu bytes\n", lines, bytes);
    }
    fprintf(stderr, "served %s\n", path ? path : "?");
    return 0;
}
