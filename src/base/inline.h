/* A function of which each caller has its own copy: a constant argument makes
 * that copy one for its case, and a hot loop makes no call. */
#ifndef BASE_INLINE_H
#define BASE_INLINE_H

#define INLINE static inline __attribute__((always_inline))

#endif
