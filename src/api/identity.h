/* Who we say we are: versions, and the strings of the tool that we are compatible with. */
#ifndef CBI_IDENTITY_H
#define CBI_IDENTITY_H

/* Name in the tkinfo record; the finalizer looks for a record of this name. */
#define CBI_TOOL_NAME "nvlink"

#define CBI_OWN_VERSION "cubind " CUBIND_VERSION
#define CBI_OWN_BUILD   "Build cubind-" CUBIND_VERSION

#define CBI_NVLINK_VERSION "Cuda compilation tools, release 13.0, V13.0.88"
#define CBI_NVLINK_BUILD   "Build cuda_13.0.r13.0/compiler.36424714_0"

/* The toolkit whose linker we follow. */
#define CBI_TOOLKIT_MAJOR 13

#endif
