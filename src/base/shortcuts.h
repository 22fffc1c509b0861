/*
 * Short cuts: faster code for frequent cases.  They change no simulated result:
 * the code without them defines it.
 *
 * A build with -Dshortcuts=false (scripts/build plain-paths) takes none of
 * those that test SHORTCUTS.  Its runs must have the golden digests.
 */
#ifndef BASE_SHORTCUTS_H
#define BASE_SHORTCUTS_H

#ifdef WEFT_NO_SHORTCUTS
enum { SHORTCUTS = 0 };
#else
enum { SHORTCUTS = 1 };
#endif

#endif
