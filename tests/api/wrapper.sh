#!/bin/sh
# cubind.hpp compiles without a warning, alone and in two files of a program, and does what it says.
set -eu
library=$CUBIND_BUILD/package
if ! command -v c++ >/dev/null; then
    echo "there is no C++ compiler"
    exit 77
fi
if [ ! -e "$library/libcubind.so" ]; then
    echo "this build has no shared library"
    exit 77
fi
cd "$TMPDIR"
cat >use.cc <<'END'
#include <cubind/cubind.hpp>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

extern int second();

static int failed;
static int number;
static void say(bool ok, const char *what)
{
    std::printf("%s %d - %s\n", ok ? "ok" : "not ok", ++number, what);
    failed |= !ok;
}

static std::vector<char> read(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

static cubind::link make(const std::string &root)
{
    cubind::link link(cubind::link_options("sm_90"));
    link.add_file(root + "/samples/reduce.cubin").add_file(root + "/samples/mathlib.cubin");
    return link; // moved
}

static void check_links(const std::string &root)
{
    cubind::link link = make(root);
    const std::vector<std::byte> image = link.run().to_vector();
    say(image.size() > 64 && link.diagnostics().empty(), "a link of files");
    const std::vector<char> a = read(root + "/samples/reduce.cubin");
    const std::vector<char> b = read(root + "/samples/mathlib.cubin");
    cubind::link again(cubind::link_options("sm_90"));
    again.add_memory("a", a).add_memory("b", b);
    say(again.run().to_vector() == image, "the same of memory");

    int seen = 0;
    cubind::link_options options("sm_90", CB_LINK_VERBOSE);
    options.on_diagnostic = [](void *user, const cb_diagnostic *) { ++*static_cast<int *>(user); };
    options.on_diagnostic_user = &seen;
    cubind::link failing(options);
    failing.add_memory("a", a);
    try {
        failing.run();
        say(false, "a link that fails");
    } catch (const cubind::error &e) {
        const cubind::error copy = e;
        say(copy.status() == CB_ERR_LINK && !copy.diagnostics().empty() &&
                copy.diagnostics()[0].id == "undefined-reference" && seen > 0 &&
                copy.what() == copy.diagnostics()[0].message,
            "a link that fails");
    }
    try {
        cubind::link none(cubind::link_options("sm_1"));
        say(false, "an unknown target");
    } catch (const cubind::error &e) {
        say(e.status() == CB_ERR_USAGE, "an unknown target");
    }
    try {
        cubind::finalize(image.data(), image.size(), "sm_103");
        say(false, "code that cannot be finalized");
    } catch (const cubind::error &e) {
        say(e.status() == CB_ERR_FORMAT, "code that cannot be finalized");
    }
}

static void check_images(const std::string &root)
{
    std::vector<cubind::image> kept;
    {
        const cubind::container file(root + "/tests/cases/inputs/host.o");
        say(file.content() == CB_CONTENT_HOST_OBJECT && file.size() == 1 &&
                std::string(file.info(0).arch) == "sm_90",
            "a container");
        for (cubind::image image : file)
            kept.push_back(std::move(image));
    }
    std::size_t kernels = 0;
    for (const cb_function &f : kept[0].functions())
        kernels += f.kernel != 0;
    say(kernels > 0 && kept[0].functions().size() >= kernels, "functions");
    say(kept[0].header()->sm == 90 && kept[0].bytes().size == kept[0].info().size, "header and bytes");
    say(!kept[0].sections().empty() && kept[0].sections()[0].type == 0, "sections");
    say(kept[0].findings().empty(), "findings");
    const std::vector<char> a = read(root + "/samples/reduce.cubin");
    const cubind::image one("one", a.data(), a.size());
    const cubind::image two("two", a.data(), a.size());
    say(cubind::diff(one, two).size() == 0, "no difference");
    say(cubind::diff(one, kept[0]).size() > 0, "a difference");
    try {
        const cubind::container missing("no such file");
        say(false, "a missing file");
    } catch (const cubind::error &e) {
        say(e.status() == CB_ERR_IO, "a missing file");
    }
}

int main(int, char **argv)
{
    check_links(argv[1]);
    check_images(argv[1]);
    say(second() == CB_ERR_IO, "from a second file");
    const std::vector<char> mercury = read(std::string(argv[1]) + "/tests/golden/diamond-120-default/expected.cubin");
    say(!cubind::finalize(mercury.data(), mercury.size(), "sm_120").empty(), "finalize");
    return failed;
}
END
cat >second.cc <<'END'
#include <cubind/cubind.hpp>

int second()
{
    try {
        cubind::container file("no such file");
    } catch (const cubind::error &e) {
        return e.status();
    }
    return CB_OK;
}
END
for std in c++17 c++20; do
    c++ -std=$std -Wall -Wextra -Wpedantic -Wshadow -Werror "-I$CUBIND_ROOT/include" use.cc second.cc \
        "-L$library" "-Wl,-rpath,$library" -lcubind -o "use-$std"
    "./use-$std" "$CUBIND_ROOT"
done
c++ -std=c++17 -Wall -Wextra -Werror "-I$CUBIND_ROOT/include" "$CUBIND_ROOT/examples/link_and_list.cc" \
    "-L$library" "-Wl,-rpath,$library" -lcubind -o example
./example sm_90 "$CUBIND_ROOT/samples/reduce.cubin" "$CUBIND_ROOT/samples/mathlib.cubin" | grep -q registers
if ./example sm_90 "$CUBIND_ROOT/samples/reduce.cubin" 2>err; then
    exit 1
fi
grep -q "Undefined reference" err
