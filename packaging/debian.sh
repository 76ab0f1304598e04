#!/bin/sh
# Builds the Debian packages from a clean copy of the tree, looks at them with lintian, and uses what is
# in them: the program, the examples in C and C++, the Python module.  The packages come to build-package.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
out=$root/build-package
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
number=0
result() {
    number=$((number + 1))
    echo "$1 $number - $2"
}

mkdir "$work/cubind"
(cd "$root" && git ls-files -co --exclude-standard -z | tar --null --files-from=- --create --file=-) |
    tar --extract --file=- --directory="$work/cubind"
cd "$work/cubind"
# Debian's own tools, whatever else is first on PATH
PATH=/usr/sbin:/usr/bin:/sbin:/bin
export PATH
if ! dpkg-buildpackage --unsigned-source --unsigned-changes >"$work/log" 2>&1; then
    tail -n 40 "$work/log"
    result "not ok" dpkg-buildpackage
    exit 1
fi
result ok dpkg-buildpackage
rm -rf "$out"
mkdir "$out"
cp "$work"/*.deb "$work"/*.dsc "$work"/*.tar.* "$work"/*.changes "$out"

failed=0
if lintian --allow-root --fail-on error --tag-display-limit 0 "$work"/*.changes; then
    result ok "lintian has no errors"
else
    result "not ok" "lintian has no errors"
    failed=1
fi

tree=$work/tree
mkdir "$tree"
for package in "$out"/*.deb; do
    dpkg-deb --extract "$package" "$tree"
done
libraries=$(dirname "$(find "$tree/usr/lib" -name libcubind.so)")
export LD_LIBRARY_PATH="$libraries"
a=$root/samples/reduce.cubin
b=$root/samples/mathlib.cubin
cd "$work"
check() {
    what=$1
    shift
    if "$@" >"$work/check.log" 2>&1; then
        result ok "$what"
    else
        cat "$work/check.log"
        result "not ok" "$what"
        failed=1
    fi
}
check "the program links" "$tree/usr/bin/cubind" link -arch=sm_90 "$a" "$b" -o linked.cubin
check "an example in C builds" cc "-I$tree/usr/include" "$root/examples/link_memory.c" "-L$libraries" -lcubind -o in_c
check "an example in C links" ./in_c sm_90 in_c.cubin "$a" "$b"
check "the same bytes" cmp linked.cubin in_c.cubin
if command -v c++ >/dev/null; then
    check "an example in C++ builds" c++ -std=c++17 "-I$tree/usr/include" "$root/examples/link_and_list.cc" \
        "-L$libraries" -lcubind -o in_cc
    check "an example in C++ runs" ./in_cc sm_90 "$a" "$b"
fi
check "the Python module" env "CUBIND_LIBRARY=$libraries/libcubind.so.0" \
    "PYTHONPATH=$tree/usr/lib/python3/dist-packages" python3 -c \
    "import cubind, sys; assert cubind.link(sys.argv[1:3], arch='sm_90').image == open(sys.argv[3], 'rb').read()" \
    "$a" "$b" linked.cubin
check "man pages" test -s "$tree/usr/share/man/man1/cubind-link.1.gz"
exit $failed
