/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's boot ID; see boot.h. */
#include "base/boot.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define PATH "/proc/sys/kernel/random/boot_id"

int boot_id_read(char ret[BOOT_ID_BYTES], struct err *err)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(BOOT_ID_BYTES); /* the file has a line end */
    struct err why = { 0 };
    int r = sys_read_file(AT_FDCWD, PATH, &b, &why);
    if (r < 0)
        return err_set(err, r == -EACCES ? -ENOENT : r, "%s", err_text(&why));
    struct str id = str_trim(buf_str(&b));
    if (id.n == 0 || id.n >= BOOT_ID_BYTES)
        return err_set(err, -EBADMSG, "'" PATH "' has no id");
    (void)memcpy(ret, id.p, id.n);
    ret[id.n] = '\0';
    return 0;
}
