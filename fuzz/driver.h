/*
 * Drives a fuzz target without libFuzzer: replays the files it is given, or
 * makes its own inputs by splicing pieces into a few good ones.
 */
#ifndef FUZZ_DRIVER_H
#define FUZZ_DRIVER_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { FUZZ_INPUT_MAX = 4096, FUZZ_FILE_MAX = (1 << 20) + 1, FUZZ_CUT = 12 };

struct fuzz_words {
	const char *const *word;
	size_t n;
};

#define FUZZ_WORDS(array)                                                      \
	(&(struct fuzz_words){ array, sizeof(array) / sizeof(*(array)) })

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	char text[FUZZ_INPUT_MAX];
	size_t n;
};

static inline uint64_t draw(uint64_t *seed, uint64_t below)
{
	uint64_t z = (*seed += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (z ^ (z >> 31)) % below;
}

/* Puts n bytes of s in the place of gone bytes at at. */
static inline void splice(
	struct input *in, size_t at, size_t gone, const char *s, size_t n)
{
	if (in->n - gone + n > FUZZ_INPUT_MAX)
		return;
	memmove(in->text + at + n, in->text + at + gone, in->n - at - gone);
	memcpy(in->text + at, s, n);
	in->n += n - gone;
}

static inline void mutate(
	struct input *in, const struct fuzz_words *pieces, uint64_t *seed)
{
	size_t at = draw(seed, in->n + 1);
	size_t span = draw(seed, in->n - at + 1);
	char copy[FUZZ_INPUT_MAX], byte = (char)draw(seed, 256);
	const char *piece = pieces->word[draw(seed, pieces->n)];

	switch (draw(seed, 6)) {
	case 0:
		splice(in, at, at < in->n, &byte, 1);
		break;
	case 1:
		splice(in, at, span < FUZZ_CUT ? span : FUZZ_CUT, "", 0);
		break;
	case 2:
		memcpy(copy, in->text + at, span);
		splice(in, draw(seed, in->n + 1), 0, copy, span);
		break;
	default:
		splice(in, at, 0, piece, strlen(piece));
	}
}

static inline void run(const struct fuzz_words *seeds,
	const struct fuzz_words *pieces, uint64_t runs, uint64_t seed)
{
	struct input in;

	for (uint64_t i = 0; i < runs; i++) {
		const char *start = seeds->word[draw(&seed, seeds->n)];
		uint64_t n = draw(&seed, 8);

		in.n = strlen(start);
		memcpy(in.text, start, in.n);
		while (n--)
			mutate(&in, pieces, &seed);
		LLVMFuzzerTestOneInput((const uint8_t *)in.text, in.n);
	}
	printf("%llu runs\n", (unsigned long long)runs);
}

static inline void replay(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data = mem_alloc(FUZZ_FILE_MAX, 1);
	size_t n;

	if (!f) {
		perror(path);
		exit(2);
	}
	n = fread(data, 1, FUZZ_FILE_MAX, f);
	LLVMFuzzerTestOneInput(data, n);
	mem_free(data);
	fclose(f);
}

static inline int fuzz_main(int argc, char **argv,
	const struct fuzz_words *seeds, const struct fuzz_words *pieces)
{
	uint64_t runs = 20000, seed = 1;
	int n_files = 0;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--runs") && i + 1 < argc) {
			runs = strtoull(argv[++i], NULL, 10);
		} else if (!strcmp(argv[i], "--seed") && i + 1 < argc) {
			seed = strtoull(argv[++i], NULL, 10);
		} else {
			replay(argv[i]);
			n_files++;
		}
	}
	if (!n_files)
		run(seeds, pieces, runs, seed);
	return 0;
}

#endif
