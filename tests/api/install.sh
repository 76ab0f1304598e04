#!/bin/sh
# What is installed works from outside: pkg-config, CMake package, header, program, and the example.
set -eu
[ -e "$CUBIND_BUILD/package/libcubind.so" ] || { echo "no shared library in this build"; exit 77; }
dest=$TMPDIR/dest
meson install -C "$CUBIND_BUILD" --no-rebuild --quiet --destdir "$dest" >"$TMPDIR/log" 2>&1 || {
    cat "$TMPDIR/log"
    exit 1
}
pc=$(find "$dest" -name cubind.pc)
prefix=$dest$(sed -n 's/^prefix=//p' "$pc")
libdir=$(dirname "$(find "$dest" -name libcubind.so)")
a=$CUBIND_ROOT/samples/reduce.cubin
b=$CUBIND_ROOT/samples/mathlib.cubin
cd "$TMPDIR"

# pkg-config
PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_PATH
# shellcheck disable=SC2046
cc -std=c99 "$CUBIND_ROOT/examples/link_memory.c" -o by_pkgconfig \
    $(pkg-config --define-variable=prefix="$prefix" --cflags --libs cubind)
LD_LIBRARY_PATH=$libdir ./by_pkgconfig sm_90 one.cubin "$a" "$b"
echo "ok 1 - pkg-config"

# the program writes the same bytes
"$prefix/bin/cubind" link -arch=sm_90 "$a" "$b" -o two.cubin
cmp one.cubin two.cubin
echo "ok 2 - program and library agree"

# a failing link writes nothing and says why
if LD_LIBRARY_PATH=$libdir ./by_pkgconfig sm_90 none.cubin "$a" 2>err; then
    exit 1
fi
grep -q "Undefined reference" err
[ ! -e none.cubin ]
echo "ok 3 - failure"

if command -v cmake >/dev/null; then
    mkdir app
    cat >app/CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.16)
project(app C)
find_package(cubind 0.1 REQUIRED)
add_executable(app $CUBIND_ROOT/examples/link_memory.c)
target_link_libraries(app cubind::cubind)
END
    cmake -S app -B app/build -DCMAKE_PREFIX_PATH="$prefix" >"$TMPDIR/log" 2>&1 &&
        cmake --build app/build >>"$TMPDIR/log" 2>&1 || {
        cat "$TMPDIR/log"
        exit 1
    }
    app/build/app sm_90 three.cubin "$a" "$b"
    cmp one.cubin three.cubin
    echo "ok 4 - CMake"
else
    echo "ok 4 - CMake # SKIP cmake is missing"
fi
