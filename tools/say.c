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

static void say(const char *keep, const char *format, va_list args)
{
    char small[512];
    char *text = small;
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(small, sizeof small, format, args);
    if (len >= (int)sizeof small) {
        char *large = malloc((size_t)len + 1); /* without it the message is cut */
        if (large)
            vsnprintf(text = large, (size_t)len + 1, format, again);
    }
    va_end(again);
    cbi_text_each(text, keep, to_stderr, NULL);
    fputc('\n', stderr);
    if (text != small)
        free(text);
}

void cbi_say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say("", format, args);
    va_end(args);
}

void cbi_say_lines(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say("\n\t", format, args);
    va_end(args);
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
