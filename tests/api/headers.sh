#!/bin/sh
# Each public header alone compiles as C99 and C11 with -pedantic, and as C++11 to C++20.
set -eu
cd "$TMPDIR"
cat >use.c <<'END'
#include <cubind/cubind.h>
#include <cubind/nvJitLink.h>
int main(void)
{
    cb_link_options options;
    cb_link_options_init(&options, sizeof options);
    options.flags = CB_LINK_RELOCATABLE | CB_LINK_SUPPRESS_WARNINGS;
    return cb_status_string(CB_ERR_FATAL) == 0;
}
END
cp use.c use.cc
cat >inspect.c <<'END'
#include <cubind/inspect.h>
int main(void)
{
    cb_inspect_options options = {0};
    cb_image *image = NULL;
    options.struct_size = sizeof options;
    cb_image_close(image);
    return cb_image_open_memory(&options, "x", "", 0, &image) == CB_OK && CB_INSPECT_VERSION < 1;
}
END
sed 's/{0}/{}/' inspect.c >inspect.cc
flags="-fsyntax-only -Wall -Wextra -Wpedantic -Wstrict-prototypes -Werror -I$CUBIND_ROOT/include"
cxxflags="-fsyntax-only -Wall -Wextra -Wpedantic -Werror -I$CUBIND_ROOT/include"
n=0
failed=0
try() {
    n=$((n + 1))
    name=$1
    shift
    if "$@"; then
        echo "ok $n - $name"
    else
        echo "not ok $n - $name"
        failed=1
    fi
}
for std in c99 c11 c17; do
    # shellcheck disable=SC2086
    try "$std" cc -std=$std $flags use.c
    # shellcheck disable=SC2086
    try "$std, inspect.h" cc -std=$std $flags inspect.c
done
if command -v c++ >/dev/null; then
    for std in c++11 c++17 c++20; do
        # shellcheck disable=SC2086
        try "$std" c++ -std=$std $cxxflags use.cc
    # shellcheck disable=SC2086
    try "$std, inspect.h" c++ -std=$std $cxxflags -Wno-missing-field-initializers inspect.cc
    done
else
    echo "ok $((n + 1)) - C++ # SKIP no C++ compiler"
fi
exit $failed
