/* 128-bit integers, which ISO C lacks and both our compilers have. */
#ifndef BASE_WIDE_H
#define BASE_WIDE_H

__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

#endif
