/* The option table: one row per option, in the order of --help. */
#include "options.h"

#define FLAG(r)     OPT_KIND_FLAG, 0, OPT_RECORD_ALWAYS, (r), NULL, NULL, NULL, NULL
#define HIDDEN_FLAG OPT_KIND_FLAG, OPT_HIDDEN, OPT_RECORD_NEVER, 0, NULL, NULL, NULL, NULL
#define HIDDEN_BOOL                                                                                \
    OPT_KIND_BOOL, OPT_HIDDEN, OPT_RECORD_NEVER, 0, NULL, NULL, "<true|false>", "false"
#define OURS(kind, value) (kind), OPT_OURS, OPT_RECORD_NEVER, 0, NULL, NULL, (value), NULL

const cbi_option cbi_options[OPT_COUNT] = {
    [OPT_OFAST_COMPILE] = {"Ofast-compile", "Ofc", OPT_KIND_STRING, OPT_LTO, OPT_RECORD_ALWAYS, 28,
                           NULL, "0", "<0|min|mid|max>", "0",
                           "Trade speed of generated code for compile time (link-time "
                           "optimization only)."},
    [OPT_XNVVM] = {"Xnvvm", "Xnvvm", OPT_KIND_LIST, OPT_LTO, OPT_RECORD_ALWAYS, 31, NULL, NULL,
                   "<option>,...", NULL,
                   "Options for the NVVM compiler (link-time optimization only)."},
    [OPT_XPTXAS] = {"Xptxas", "Xptxas", OPT_KIND_LIST, 0, OPT_RECORD_ALWAYS, 30, NULL, NULL,
                    "<option>,...", NULL, "Options for ptxas when an input is PTX or LTO-IR."},
    [OPT_ALLOW_UNDEFINED_GLOBALS] = {"allow-undefined-globals", "allow-undefined-globals",
                                     HIDDEN_FLAG,
                                     "Leave references to undefined global variables to the "
                                     "loader."},
    [OPT_ARCH] = {"arch", "arch", OPT_KIND_KEYWORD, 0, OPT_RECORD_ALWAYS, 5, "@arch", NULL,
                  "<target>", NULL,
                  "The GPU to link for, an 'sm_' name.  With a 'compute_' name the inputs are "
                  "looked at but nothing is linked."},
    [OPT_CPU_ARCH] = {"cpu-arch", "cpu-arch", OPT_KIND_KEYWORD, 0, OPT_RECORD_ALWAYS, 18,
                      "AARCH64 ARMv7 PPC64LE X86 X86_64 unknown", NULL, "<host architecture>",
                      "unknown", "The machine that libraries given with -l must be made for."},
    [OPT_CUDA_API_VERSION] = {"cuda-api-version", "cuda-api-version", OPT_KIND_STRING,
                              OPT_HIDDEN | OPT_NO_EFFECT, OPT_RECORD_NEVER, 0, NULL, NULL,
                              "<major.minor>", NULL, "CUDA version of the program."},
    [OPT_DEBUG] = {"debug", "g", FLAG(4),
                   "The inputs were compiled for debugging: keep unused "
                   "code and debug information."},
    [OPT_DEVICE_STACK_PROTECTOR] = {"device-stack-protector", "device-stack-protector",
                                    OPT_KIND_BOOL, 0, OPT_RECORD_ALWAYS, 36, NULL, NULL,
                                    "<true|false>", NULL,
                                    "Stack protection in code compiled from PTX."},
    [OPT_DEVICE_STACK_PROTECTOR_THRESHOLD] = {"device-stack-protector-frame-size-threshold",
                                              "device-stack-protector-frame-size-threshold",
                                              OPT_KIND_INT, OPT_HIDDEN | OPT_NO_EFFECT,
                                              OPT_RECORD_NEVER, 0, NULL, NULL, "<bytes>", "0",
                                              "Smallest frame that gets stack protection."},
    [OPT_DISABLE_INFOS] = {"disable-infos", "disable-infos", FLAG(14),
                           "Print no warnings.  (nvlink's help says information messages; it "
                           "keeps those and drops the warnings, and so does cubind.)"},
    [OPT_DISABLE_SMEM_RESERVATION] = {"disable-smem-reservation", "disable-smem-reservation",
                                      HIDDEN_BOOL,
                                      "Do without the 1024 bytes of shared memory that the "
                                      "system reserves from sm_90 on."},
    [OPT_DISABLE_WARNINGS] = {"disable-warnings", "w", OPT_KIND_FLAG, OPT_NO_EFFECT,
                              OPT_RECORD_ALWAYS, 12, NULL, NULL, NULL, NULL,
                              "Accepted for compatibility: warnings are printed all the same, "
                              "as nvlink does; see -disable-infos."},
    [OPT_DLTO] = {"dlto", "dlto", FLAG(24), "Same as -lto."},
    [OPT_DONT_RESERVE_NULL_POINTER] = {"dont-reserve-null-pointer", "dont-reserve-null-pointer",
                                       HIDDEN_FLAG, "Cancel --reserve-null-pointer."},
    [OPT_DOT_FILE] = {"dot-file", "dot", OPT_KIND_STRING, OPT_HIDDEN, OPT_RECORD_NEVER, 0, NULL,
                      NULL, "<file>", NULL, "Write the call graph as a Graphviz file."},
    [OPT_DUMP_CALLGRAPH] = {"dump-callgraph", "dump-callgraph", FLAG(33), "Print the call graph."},
    [OPT_DUMP_CALLGRAPH_NO_DEMANGLE] = {"dump-callgraph-no-demangle", "dump-callgraph-no-demangle",
                                        FLAG(33),
                                        "Print the call graph.  (Names are demangled all the "
                                        "same, as in nvlink.)"},
    [OPT_DURABLE] = {"durable", NULL, OURS(OPT_KIND_FLAG, NULL),
                     "Return when the results are on the disk, not only in its cache."},
    [OPT_ELF32] = {"elf32", NULL, OURS(OPT_KIND_FLAG, NULL),
                   "Link ELF32 files, of toolkits that made code for 32-bit host programs, into an "
                   "ELF32 file.  Targets below sm_100 only."},
    [OPT_EMIT_PTX] = {"emit-ptx", "emit-ptx", OPT_KIND_FLAG, 0, OPT_RECORD_ALWAYS, 20, NULL, NULL,
                      NULL, NULL, "Write PTX (link-time optimization only)."},
    [OPT_EMULATE] = {"emulate", NULL, OPT_KIND_KEYWORD, OPT_OURS, OPT_RECORD_NEVER, 0,
                     "nvlink-13.0.88", NULL, "<tool>", NULL,
                     "Write the identification strings of that tool into the output and print "
                     "only what it prints: the result is the same byte for byte."},
    [OPT_ENABLE_EXTENDED_SMEM] = {"enable-extended-smem", "enable-extended-smem", HIDDEN_BOOL,
                                  "Allow as much static shared memory as the GPU has."},
    [OPT_EXTRA_WARNINGS] = {"extra-warnings", "extrawarn", FLAG(22),
                            "Warn about functions whose address is taken but that no indirect "
                            "call can reach."},
    [OPT_FDCMPT] = {"fdcmpt", "fdcmpt", HIDDEN_FLAG, "Accepted together with --uumn."},
    [OPT_FORCE_PARTIAL_LTO] = {"force-partial-lto", "force-partial-lto", HIDDEN_FLAG,
                               "Link-time optimization that keeps other objects possible."},
    [OPT_FORCE_RELA] = {"force-rela", "force-rela", HIDDEN_FLAG,
                        "Write every relocation with an explicit addend."},
    [OPT_FORCE_WHOLE_LTO] = {"force-whole-lto", "force-whole-lto", HIDDEN_FLAG,
                             "Link-time optimization of the whole program."},
    [OPT_GEN_HOST_LINKER_SCRIPT] = {"gen-host-linker-script", "ghls", OPT_KIND_KEYWORD, 0,
                                    OPT_RECORD_NEVER, 0, "lcs-abs lcs-aug", "lcs-abs", "<kind>",
                                    NULL,
                                    "Write a linker script for the host linker that keeps device "
                                    "code together: 'lcs-aug' only the addition, 'lcs-abs' the "
                                    "host's default script with it.  No inputs are allowed."},
    [OPT_HELP] = {"help", "h", OPT_KIND_FLAG, 0, OPT_RECORD_NEVER, 0, NULL, NULL, NULL, NULL,
                  "Print this text."},
    [OPT_HOST_CCBIN] = {"host-ccbin", "host-ccbin", OPT_KIND_STRING, OPT_HIDDEN, OPT_RECORD_NEVER,
                        0, NULL, NULL, "<compiler>", "gcc",
                        "Host compiler that -ghls asks for its linker options."},
    [OPT_HOST_LINKER_OPTIONS] = {"host-linker-options", "Xlinker", OPT_KIND_LIST, OPT_HIDDEN,
                                 OPT_RECORD_NEVER, 0, NULL, NULL, "<option>,...", NULL,
                                 "Options of the host linker for -ghls."},
    [OPT_IGNORE_HOST_INFO] = {"ignore-host-info", "ignore-host-info", FLAG(34),
                              "Keep kernels and variables even if no host object refers to "
                              "them."},
    [OPT_KEEP_SYSTEM_LIBRARIES] = {"keep-system-libraries", "keep-system-libraries", FLAG(15),
                                   "Keep all of libcudadevrt."},
    [OPT_KERNELS_USED] = {"kernels-used", "kernels-used", OPT_KIND_LIST, 0, OPT_RECORD_ALWAYS, 16,
                          NULL, NULL, "<kernel>,...", NULL,
                          "Keep only kernels whose mangled name contains one of these texts; '*' "
                          "stands for anything."},
    [OPT_LIBRARY] = {"library", "l", OPT_KIND_LIST, OPT_GLUED, OPT_RECORD_ALWAYS, 7, NULL, NULL,
                     "<name>,...", NULL,
                     "Link libNAME.a from the library folders.  A library that is not found is "
                     "left out in silence, as the host linker will look for it too."},
    [OPT_LIBRARY_PATH] = {"library-path", "L", OPT_KIND_LIST, OPT_GLUED, OPT_RECORD_ALWAYS, 8, NULL,
                          NULL, "<folder>,...", NULL, "Folders to search for libraries."},
    [OPT_LINK_TIME_OPT] =
        {"link-time-opt", "lto", FLAG(23),
         "Link-time optimization, with NVIDIA's nvJitLink library; see --nvjitlink."},
    [OPT_LTO_MEMORY_LIMIT] =
        {"lto-memory-limit", NULL, OPT_KIND_INT, OPT_OURS, OPT_RECORD_NEVER, 0, NULL, NULL, "<MiB>",
         "32768", "The most address space that the compiler of LTO-IR may use; 0: any."},
    [OPT_LTO_TIME_LIMIT] = {"lto-time-limit", NULL, OPT_KIND_INT, OPT_OURS, OPT_RECORD_NEVER, 0,
                            NULL, NULL, "<seconds>", "3600",
                            "The longest time that the compiler of LTO-IR may take; 0: any."},
    [OPT_MACHINE] = {"machine", "m", OPT_KIND_INT, OPT_GLUED, OPT_RECORD_ALWAYS, 6, "64", NULL,
                     "<bits>", "64", "Address size; there is only one."},
    [OPT_MAP] = {"map", NULL, OURS(OPT_KIND_STRING, "<file>"),
                 "Write a link map: where each input piece went, and why others were dropped."},
    [OPT_MAXRREGCOUNT] = {"maxrregcount", "maxrregcount", OPT_KIND_INT, 0, OPT_RECORD_ALWAYS, 32,
                          NULL, NULL, "<number>", "0",
                          "Register limit for code compiled from PTX."},
    [OPT_MEMORY_LIMIT] =
        {"memory-limit", NULL, OPT_KIND_INT, OPT_OURS, OPT_RECORD_NEVER, 0, NULL, NULL, "<MiB>",
         NULL,
         "The most memory that the link may take; 0: any.  Without it, 1024 and 64 times "
         "the size of the inputs, and the output may have 64 MiB and 64 times that size."},
    [OPT_NV_HOST] = {"nv-host", "nv-host", OPT_KIND_STRING, OPT_HIDDEN, OPT_RECORD_NEVER, 0, NULL,
                     NULL, "<file>", NULL, "Put the bytes of a file into section .nv.host."},
    [OPT_NVJITLINK] =
        {"nvjitlink", NULL, OURS(OPT_KIND_STRING, "<file>"),
         "The nvJitLink library that compiles LTO-IR.  Otherwise it is looked for in the "
         "toolkit of -nvvmpath, in that of the nvcc on PATH, and where the system "
         "looks for libraries."},
    [OPT_NVVMPATH] =
        {"nvvmpath", "nvvmpath", OPT_KIND_STRING, OPT_LTO, OPT_RECORD_ALWAYS, 25, NULL, NULL,
         "<folder>", NULL,
         "Folder nvvm of the CUDA toolkit, or the toolkit's own; its libraries are looked for from "
         "there (link-time optimization only)."},
    [OPT_OPTIONS_FILE] = {"options-file", "optf", OPT_KIND_LIST, OPT_FILES,
                          OPT_RECORD_VERBOSE_EMPTY, 37, NULL, NULL, "<file>,...", NULL,
                          "Read more options and inputs from files."},
    [OPT_OUTPUT_FILE] = {"output-file", "o", OPT_KIND_STRING, 0, OPT_RECORD_VERBOSE_BASENAME, 3,
                         NULL, NULL, "<file>", NULL, "The file to write."},
    [OPT_PRESERVE_RELOCS] = {"preserve-relocs", "preserve-relocs", FLAG(10),
                             "Record the relocations that the link resolved, and drop no code."},
    [OPT_PTXAS] = {"ptxas", NULL, OURS(OPT_KIND_STRING, "<file>"),
                   "The ptxas that compiles PTX inputs."},
    [OPT_REGISTER_LINK_BINARIES] = {"register-link-binaries", NULL, OPT_KIND_STRING, 0,
                                    OPT_RECORD_VERBOSE_BASENAME, 9, NULL, NULL, "<file>", NULL,
                                    "Write the list of linked modules that the host's start-up "
                                    "code must register."},
    [OPT_RELOCATABLE_LINK] = {"relocatable-link", "r", FLAG(35),
                              "Combine the inputs into one relocatable file for a later link."},
    [OPT_REPORT_ARCH] = {"report-arch", "report-arch", FLAG(19),
                         "Add the target to every message."},
    [OPT_REPRO] = {"repro", NULL, OURS(OPT_KIND_STRING, "<file.tar>"),
                   "Write the inputs and the command line into an archive, to repeat the link "
                   "elsewhere."},
    [OPT_REQUIRE_KERNEL] = {"require-kernel", NULL, OURS(OPT_KIND_LIST, "<kernel>,..."),
                            "Fail if the output lacks this kernel.  Names may be mangled, "
                            "demangled, or demangled without the parameters."},
    [OPT_RESERVE_NULL_POINTER] = {"reserve-null-pointer", "reserve-null-pointer", HIDDEN_FLAG,
                                  "Let no shared variable have address 0."},
    [OPT_SHARED] = {"shared", "shared", HIDDEN_FLAG,
                    "The host program is a shared library "
                    "(matters to -ghls only)."},
    [OPT_SPLIT_COMPILE] = {"split-compile", "split-compile", OPT_KIND_INT, 0, OPT_RECORD_ALWAYS, 26,
                           NULL, NULL, "<number>", "1",
                           "Threads for compiling PTX and for link-time optimization."},
    [OPT_SPLIT_COMPILE_EXTENDED] = {"split-compile-extended", "split-compile-extended",
                                    OPT_KIND_INT, OPT_LTO, OPT_RECORD_ALWAYS, 27, NULL, NULL,
                                    "<number>", "1",
                                    "Threads of split compilation (link-time optimization "
                                    "only)."},
    [OPT_STRICT] = {"strict", NULL, OURS(OPT_KIND_FLAG, NULL),
                    "Treat inputs that would be left out as errors."},
    [OPT_SUMMARIZE_WARNINGS] = {"summarize-warnings", NULL, OURS(OPT_KIND_FLAG, NULL),
                                "Print one line for each kind of warning instead of each "
                                "warning."},
    [OPT_SUPPRESS_ARCH_WARNING] = {"suppress-arch-warning", "suppress-arch-warning", FLAG(2),
                                   "Do not warn about inputs without code for the target."},
    [OPT_SUPPRESS_DEBUG_INFO] = {"suppress-debug-info", "suppress-debug-info", FLAG(29),
                                 "Drop debug information; only together with -g."},
    [OPT_SUPPRESS_STACK_SIZE_WARNING] = {"suppress-stack-size-warning",
                                         "suppress-stack-size-warning", FLAG(1),
                                         "Do not warn about kernels whose stack size is not "
                                         "known, because of recursion."},
    [OPT_SYSCALL_CONST_OFFSET] = {"syscall-const-offset", "syscall-const-offset", OPT_KIND_INT,
                                  OPT_HIDDEN | OPT_NO_EFFECT, OPT_RECORD_NEVER, 0, NULL, NULL,
                                  "<bytes>", "0", "Accepted for compatibility."},
    [OPT_THREADS] =
        {"threads", NULL, OURS(OPT_KIND_INT, "<number>"),
         "Use so many threads; by default one, and as many as there are cores for inputs "
         "from 32 MiB on. The output is the same for every number."},
    [OPT_TIME] = {"time", "time", OPT_KIND_STRING, 0, OPT_RECORD_VERBOSE_BASENAME, 21, NULL, NULL,
                  "<file>", NULL,
                  "Append a table of the time used by compilers that were run; '-' is the "
                  "standard output."},
    [OPT_TOOL_NAME] = {"tool-name", "tool-name", OPT_KIND_STRING, OPT_HIDDEN, OPT_RECORD_NEVER, 0,
                       NULL, NULL, "<name>", "nvlink",
                       "Name before every message and in the output's record of tools."},
    [OPT_TRACE_SYMBOL] = {"trace-symbol", NULL, OURS(OPT_KIND_LIST, "<symbol>,..."),
                          "Print every input that defines or refers to a symbol."},
    [OPT_UIDX_FILE] = {"uidx-file", "uidx", OPT_KIND_STRING, 0, OPT_RECORD_NEVER, 0, NULL, NULL,
                       "<file>", NULL, "Index file for unified functions and data."},
    [OPT_USE_HOST_INFO] = {"use-host-info", "use-host-info", FLAG(34),
                           "Drop kernels and variables that no host object refers to (this is "
                           "the default)."},
    [OPT_UUMN] = {"uumn", "uumn", HIDDEN_FLAG, "Accepted for compatibility."},
    [OPT_VARIABLES_USED] = {"variables-used", "variables-used", OPT_KIND_LIST, 0, OPT_RECORD_ALWAYS,
                            17, NULL, NULL, "<variable>,...", NULL,
                            "Turns on the removal of kernels that -kernels-used does not name; "
                            "variables are kept."},
    [OPT_VERBOSE] = {"verbose", "v", FLAG(9), "Print the resources that each kernel uses."},
    [OPT_VERBOSE_TKINFO] = {"verbose-tkinfo", "verbose-tkinfo", HIDDEN_BOOL,
                            "Record file names in the output's record of tools."},
    [OPT_VERSION] = {"version", "V", OPT_KIND_FLAG, 0, OPT_RECORD_NEVER, 0, NULL, NULL, NULL, NULL,
                     "Print the version."},
    [OPT_WARNING_AS_ERROR] = {"warning-as-error", "Werror", FLAG(13), "Treat warnings as errors."},
    [OPT_WHY_LIVE] = {"why-live", NULL, OURS(OPT_KIND_LIST, "<symbol>,..."),
                      "Print the chain of references that keeps a function in the output."},
};
