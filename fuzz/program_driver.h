/* The main() of targets that run programs: any bytes will do as an input. */
#ifndef FUZZ_PROGRAM_DRIVER_H
#define FUZZ_PROGRAM_DRIVER_H

#ifndef WEFT_LIBFUZZER

#include "driver.h"

static const char *const seeds[] = {
	"0abcdefghijklmnopqrstuvwxyz0123456789",
	"1The quick brown fox jumps over the lazy dog.",
	"2\x01\x80\x10\x05\xc3\xc4\x02\x02\x02\x05\x01\x01\x06\x06\x06",
	"3\x05\x05\x05\x05\x05\x05\x05\x05\x05\x05\x05\x05\x05\x05\x05\x05",
};

static const char *const pieces[] = { "\x01", "\x02", "\x03", "\x04", "\x05",
	"\x06", "\x07", "\x80\x01", "\x80\x40", "\xc1", "\xc4", "\xc9", "\xca",
	"\xcb", "\xcc", "\xcd", "\xce", "\xcf", "\xff\x01" };

int main(int argc, char **argv)
{
	return fuzz_main(argc, argv, FUZZ_WORDS(seeds), FUZZ_WORDS(pieces));
}

#endif

#endif
