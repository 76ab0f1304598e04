#include "say.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"

static void to_stderr(void *user, const char *bytes, size_t size)
{
    (void)user;
    fwrite(bytes, 1, size, stderr);
}

void cbi_say(const char *format, ...)
{
    char small[512];
    char *text = small;
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int len = vsnprintf(small, sizeof small, format, args);
    if (len >= (int)sizeof small) {
        char *large = malloc((size_t)len + 1); /* without it the message is cut */
        if (large)
            vsnprintf(text = large, (size_t)len + 1, format, again);
    }
    va_end(again);
    va_end(args);
    cbi_text_each(text, "", to_stderr, NULL);
    fputc('\n', stderr);
    if (text != small)
        free(text);
}

void cbi_say_text(const char *text)
{
    cbi_text_each(text, "\n\t", to_stderr, NULL);
}

int cbi_check_stdout(const char *program, int code, int failed)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    cbi_say("%s: cannot write to stdout: %s", program,
            errno ? strerror(errno) : "an earlier write failed");
    clearerr(stdout); /* said once is enough */
    return failed;
}
