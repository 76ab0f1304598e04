#!/bin/sh
# Installs the Debian packages that `./dev package` has made, and uses them as somebody would who has nothing
# else: the program and its manual, every example with pkg-config and one with CMake, the Python package by pip
# with its tests.  Meant for a system that is thrown away: it installs packages, as root.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
[ "$(id -u)" = 0 ] || { echo "packaging/installed.sh: installs packages, and must be root for that" >&2; exit 1; }
[ -e "$root/build-package" ] || { echo "packaging/installed.sh: ./dev package comes first" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
number=0
check() {
    number=$((number + 1))
    what=$1
    shift
    if ! "$@" >"$work/log" 2>&1; then
        cat "$work/log"
        echo "not ok $number - $what"
        exit 1
    fi
    echo "ok $number - $what"
}

export DEBIAN_FRONTEND=noninteractive
apt-get update -q
apt-get install -q -y --no-install-recommends "$root"/build-package/*.deb gcc g++ libc6-dev pkg-config cmake ninja-build \
    python3-pip python3-venv python3-pytest \
    meson python3-yaml python3-jinja2
for package in "$root"/build-package/*.deb; do
    name=$(dpkg-deb --field "$package" Package)
    check "$name is installed" dpkg --status "$name"
done
a=$root/samples/reduce.cubin
b=$root/samples/mathlib.cubin
cp -r "$root/examples" "$root/python" "$work"
# nothing of the tree is left but copies of what users are shown
cd "$work"
check "the program links" cubind link -arch=sm_90 "$a" "$b" -o linked.cubin
check "it finds nothing wrong" cubind check linked.cubin
check "manual pages" sh -c "dpkg --listfiles cubind | grep man1/cubind-link.1.gz"

for example in link_memory finalize_memory list_kernels size_report which_kernel; do
    check "$example.c builds" sh -c "cc -Wall -Werror examples/$example.c \$(pkg-config --cflags --libs cubind) -o $example"
done
check "link_and_list.cc builds" \
    sh -c "c++ -std=c++17 -Wall -Werror examples/link_and_list.cc \$(pkg-config --cflags --libs cubind) -o link_and_list"
check "link_memory" ./link_memory sm_90 again.cubin "$a" "$b"
check "it gives the same bytes" cmp linked.cubin again.cubin
check "link_and_list" ./link_and_list sm_90 "$a" "$b"
check "list_kernels" sh -c "./list_kernels linked.cubin | grep 'registers.*block_sum'"
check "size_report" sh -c "./size_report linked.cubin | grep 'in [0-9]* functions'"
check "which_kernel" sh -c "./which_kernel linked.cubin block_sum+0x10 | grep block_sum"
check "finalize_memory" ./finalize_memory sm_121 moved.cubin "$root/tests/golden/diamond-120-default/expected.cubin"

mkdir app
cat >app/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.16)
project(app C CXX)
find_package(cubind 0.1 REQUIRED)
add_executable(app ../examples/link_memory.c)
target_link_libraries(app cubind::cubind)
add_executable(static_app ../examples/link_memory.c)
target_link_libraries(static_app cubind::static)
END
check "CMake finds it" cmake -G Ninja -S app -B app/build
check "CMake builds with it" cmake --build app/build
check "the shared library" app/build/app sm_90 shared.cubin "$a" "$b"
check "the static library" app/build/static_app sm_90 static.cubin "$a" "$b"
check "the same bytes of both" sh -c "cmp linked.cubin shared.cubin && cmp linked.cubin static.cubin"

check "the Python module of the package" /usr/bin/python3 -c 'import cubind; print(cubind.library_version())'
check "a virtual environment" /usr/bin/python3 -m venv --system-site-packages venv
check "pip install ./python" venv/bin/pip install --quiet ./python
check "it is that one" sh -c "venv/bin/python -c 'import cubind; print(cubind.__file__)' | grep venv"
check "its tests" sh -c "venv/bin/python -m pytest -q -p no:cacheprovider '$root/python/tests'"
tail -n 1 "$work/log"
apt-get remove -q -y cubind libcubind0 >"$work/log" 2>&1
check "removed, nothing of it is left" sh -c '! command -v cubind && [ ! -e /usr/share/man/man1/cubind.1.gz ]'

# conda-build is not in Debian; what its recipe tells it to do is
check "the conda recipe" sh -c "python3 '$root/packaging/recipe.py' >recipe.sh"
check "its steps" sh -c "cd '$root' && PATH=${work}/venv/bin:\$PATH PREFIX=$work/conda PYTHON=$work/venv/bin/python sh '$work/recipe.sh'"
