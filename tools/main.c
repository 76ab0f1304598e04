#include <stdio.h>

#include "base/base.h"

int main(void)
{
    fputs("cubind: no command\n", stderr);
    return 1;
}
