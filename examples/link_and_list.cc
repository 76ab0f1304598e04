// Links what is given for a target and lists the kernels of the result, with cubind.hpp.
//
//     c++ -std=c++17 link_and_list.cc -lcubind && ./a.out sm_90 a.cubin b.cubin
#include <cstdio>

#include <cubind/cubind.hpp>

int main(int argc, char **argv)
{
    if (argc < 3) {
        std::fprintf(stderr, "usage: %s TARGET FILE...\n", argv[0]);
        return 2;
    }
    try {
        cubind::link link{cubind::link_options(argv[1])};
        for (int i = 2; i < argc; i++)
            link.add_file(argv[i]);
        const cubind::bytes_view linked = link.run();
        const cubind::container result("linked", linked.data, linked.size);
        for (const cubind::image &image : result)
            for (const cb_function &f : image.functions())
                if (f.kernel)
                    std::printf("%s: %lld registers, %llu bytes of shared memory\n",
                                image.demangle(f.name), static_cast<long long>(f.registers),
                                static_cast<unsigned long long>(f.shared));
    } catch (const cubind::error &e) {
        for (const cubind::diagnostic &d : e.diagnostics())
            std::fprintf(stderr, "%s\n", d.message.c_str());
        std::fprintf(stderr, "failed: %s\n", e.what());
        return 1;
    }
    return 0;
}
