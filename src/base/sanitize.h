/* What the build is watched by.  Internal. */
#ifndef CUBIND_BASE_SANITIZE_H
#define CUBIND_BASE_SANITIZE_H

/* CBI_SANITIZES_ADDRESSES: 1 with AddressSanitizer, for which gcc defines a macro and clang has a
 * feature, else 0. */
#if defined(__SANITIZE_ADDRESS__)
#define CBI_SANITIZES_ADDRESSES 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CBI_SANITIZES_ADDRESSES 1
#endif
#endif
#ifndef CBI_SANITIZES_ADDRESSES
#define CBI_SANITIZES_ADDRESSES 0
#endif

#endif
