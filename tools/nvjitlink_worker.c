/* cubind-nvjitlink: loads nvJitLink for a cubind that is linked statically.  Reads a job on its
 * standard input and writes the reply on its standard output; both are files that cubind made
 * (src/lto/child.h). */
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "base/write.h"
#include "lto/worker.h"

static cb_status work(cbi_ctx *ctx, void *arg)
{
    (void)arg;
    struct stat st;
    cbi_lto_job job;
    if (fstat(STDIN_FILENO, &st) != 0 || !S_ISREG(st.st_mode))
        return CB_ERR_IO;
    size_t size = (size_t)st.st_size;
    uint8_t *said = cbi_alloc(ctx, size + 1);
    if (!cbi_read_at(STDIN_FILENO, said, size, 0) ||
        !cbi_lto_read_job(ctx, (cbi_span){said, size}, &job))
        return CB_ERR_IO;
    cbi_lto_worker(&job, STDOUT_FILENO);
    return CB_OK;
}

int main(void)
{
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    cb_status status = cbi_run(&ctx, work, NULL);
    if (status != CB_OK)
        cbi_write_all(STDERR_FILENO, "cubind-nvjitlink: started by cubind alone\n", 42);
    cbi_ctx_fini(&ctx);
    return status != CB_OK;
}
