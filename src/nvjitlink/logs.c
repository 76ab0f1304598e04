#include "nvjitlink/jit.h"

#include <stdio.h>
#include <stdlib.h>

void cbi_jit_say(cbi_jit_log *log, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = len > 0 ? realloc(log->text, log->len + (size_t)len + 1) : NULL;
    if (!text)
        return;
    va_start(args, format);
    vsnprintf(text + log->len, (size_t)len + 1, format, args);
    va_end(args);
    log->text = text;
    log->len += (size_t)len;
}
