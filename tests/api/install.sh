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

# the static library needs nothing of ours at run time
# shellcheck disable=SC2046
cc -std=c99 "$CUBIND_ROOT/examples/link_memory.c" -o by_archive \
    $(pkg-config --define-variable=prefix="$prefix" --cflags cubind) "$libdir/libcubind.a" \
    $(pkg-config --define-variable=prefix="$prefix" --libs --static cubind | sed 's/-lcubind//')
./by_archive sm_90 archive.cubin "$a" "$b"
cmp one.cubin archive.cubin
echo "ok 4 - static library"

for file in share/doc/cubind/LICENSE share/doc/cubind/CHANGELOG.md \
    share/bash-completion/completions/cubind share/zsh/site-functions/_cubind \
    share/fish/vendor_completions.d/cubind.fish; do
    [ -s "$prefix/$file" ] || { echo "not ok 5 - $file is missing"; exit 1; }
done
echo "ok 5 - licence, completions"

if command -v cmake >/dev/null; then
    mkdir app
    cat >app/CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.16)
project(app C)
find_package(cubind 0.1 REQUIRED)
add_executable(app $CUBIND_ROOT/examples/link_memory.c)
target_link_libraries(app cubind::cubind)
add_executable(static_app $CUBIND_ROOT/examples/link_memory.c)
target_link_libraries(static_app cubind::static)
END
    cmake -G Ninja -S app -B app/build -DCMAKE_PREFIX_PATH="$prefix" >"$TMPDIR/log" 2>&1 &&
        cmake --build app/build >>"$TMPDIR/log" 2>&1 || {
        cat "$TMPDIR/log"
        exit 1
    }
    app/build/app sm_90 three.cubin "$a" "$b"
    cmp one.cubin three.cubin
    app/build/static_app sm_90 four.cubin "$a" "$b"
    cmp one.cubin four.cubin
    echo "ok 6 - CMake"
else
    echo "ok 6 - CMake # SKIP cmake is missing"
fi

# ./dev uninstall takes away what the list of an installation names, and no more
mkdir release
cp "$CUBIND_BUILD/meson-logs/install-log.txt" "release/installed$(echo "$prefix" | tr '/ ' '__')"
: >"$prefix/bin/other"
RELEASE=$TMPDIR/release "$CUBIND_ROOT/dev" uninstall "$prefix"
[ "$(find "$dest" -type f -o -type l)" = "$prefix/bin/other" ]
[ ! -e "$prefix/include/cubind" ]
if RELEASE=$TMPDIR/release "$CUBIND_ROOT/dev" uninstall "$prefix" 2>err; then
    exit 1
fi
grep -q "writes it" err
echo "ok 7 - uninstall"
