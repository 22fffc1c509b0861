/* Hints to compilers, for hot code. */
#ifndef BASE_INLINE_H
#define BASE_INLINE_H

/* A function of which each caller has its own copy: a constant argument makes
 * that copy one for its case, and a hot loop makes no call. */
#define INLINE static inline __attribute__((always_inline))

/* Keeps a pointer in a register: compilers find it cheaper to compute it anew
 * for each use. */
#define KEEP(p) __asm__("" : "+r"(p))

#endif
