#define _GNU_SOURCE
#include "report/pack.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "testing/testing.h"

/* The JSON of numbers without blanks, as "p": WANT. */
static void packs(const double *value, size_t n, const char *want)
{
	struct pack p = { 0 };
	char *text = NULL, *to;
	size_t size, i;
	FILE *f = open_memstream(&text, &size);
	struct json j;

	json_init(&j, f);
	json_object(&j, NULL);
	for (i = 0; i < n; i++)
		pack_add(&p, value[i]);
	pack_write(&p, &j, "p");
	json_end(&j, '}');
	fclose(f);
	assert_null(p.value);
	for (i = 0, to = text; text[i]; i++)
		if (!strchr(" \n", text[i]))
			*to++ = text[i];
	*to = '\0';
	assert_int_equal(strncmp(text, "{\"p\":", 5), 0);
	to[-1] = '\0';
	assert_string_equal(text + 5, want);
	mem_free(text);
}

#define PACKS(want, ...)                                                       \
	packs((const double[]){ __VA_ARGS__ },                                 \
		sizeof((const double[]){ __VA_ARGS__ }) / sizeof(double),      \
		want)

static void whole_numbers_have_the_smallest_type_that_holds_all(void **state)
{
	PACKS("[\"u8\",\"AAH/\"]", 0, 1, 255);
	PACKS("[\"u16\",\"AAAAAf//\"]", 0, 256, 65535);
	PACKS("[\"u32\",\"AAABAP////8=\"]", 65536, 4294967295.0);
	PACKS("[\"f64\",\"AAAAAAAA8EEAAAAAAAAAAA==\"]", 4294967296.0, 0);
	PACKS("[\"f64\",\"AAAAAAAA8L8AAAAAAADwPw==\"]", -1, 1);
}

static void other_numbers_are_floats(void **state)
{
	PACKS("[\"f32\",\"AAAAPwAAgD8=\"]", 0.5, 1);
	PACKS("[\"f32\",\"AAAAPwAAAD4=\"]", 0.5, 0.125);
	/* what is too large is as large as a float can be */
	PACKS("[\"f32\",\"AAAAP///f38=\"]", 0.5, INFINITY);
}

static void equal_numbers_are_one_and_how_many(void **state)
{
	PACKS("[\"u8\",\"Bw==\",3]", 7, 7, 7);
	PACKS("[\"f32\",\"AAAAPw==\",2]", 0.5, 0.5);
	PACKS("[\"u8\",\"Bw==\"]", 7);
	packs(NULL, 0, "[\"u8\",\"\"]");
}

TESTS(TEST(whole_numbers_have_the_smallest_type_that_holds_all),
	TEST(other_numbers_are_floats),
	TEST(equal_numbers_are_one_and_how_many))
