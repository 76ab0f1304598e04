/* Link-time optimization of a program that is linked statically: it cannot load a library, so the
 * child becomes the program that can.  Stands in for the library's function of that name, which the
 * linker does not take from its archive then. */
#include "lto/worker.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/base.h"

/* Beside the program, as it is built, or where it is installed. */
static const char *const folders[] = {"", CBI_WORKER_FOLDER "/"};

static void become(const char *program, int length)
{
    char path[4096 + 256];
    for (size_t i = 0; i < CBI_COUNT(folders); i++) {
        snprintf(path, sizeof path, "%.*s/%s" CBI_LTO_WORKER, length, program, folders[i]);
        execl(path, path, (char *)NULL);
    }
}

void cbi_lto_worker(void *user, int to)
{
    char program[4096];
    ssize_t size = readlink("/proc/self/exe", program, sizeof program);
    while (size > 0 && program[size - 1] != '/')
        size--;
    int job = memfd_create("cubind-job", 0);
    if (size > 0 && job >= 0 && cbi_lto_write_job(job, user) && lseek(job, 0, SEEK_SET) == 0 &&
        dup2(job, STDIN_FILENO) >= 0 && dup2(to, STDOUT_FILENO) >= 0)
        become(program, (int)size - 1);
    cbi_lto_say(to, CBI_LTO_NO_LIBRARY, 0,
                "the program " CBI_LTO_WORKER " is not where it was installed with cubind", "",
                (cbi_span){NULL, 0});
}
