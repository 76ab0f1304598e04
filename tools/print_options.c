/* The options of a command in its --help. */
#include "tools.h"

void cbi_print_options(FILE *out, const cbi_tool_option *options)
{
    int width = 0;
    for (int pass = 0; pass < 2; pass++)
        for (const cbi_tool_option *o = options; o->name; o++) {
            char left[64];
            int len =
                snprintf(left, sizeof left, "  %s%s%s%s%s", o->name, o->other ? ", " : "",
                         o->other ? o->other : "", o->value ? " " : "", o->value ? o->value : "");
            if (pass == 0)
                width = len > width ? len : width;
            else
                fprintf(out, "%-*s  %s\n", width, left, o->help);
        }
}
