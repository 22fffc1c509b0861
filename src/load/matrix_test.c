/* Traffic matrices: what is read, what is drawn, and what is refused. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "load/matrix.h"
#include "sim/random.h"
#include "testing/testing.h"

enum { NODES = 8, DRAWS = 20000 };

static int read_text(struct matrix *m, const char *text, struct err *e)
{
	int fd = memfd_create("matrix", 0), failed;
	char path[32];

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	failed = matrix_read(m, path, "node", NODES, e);
	close(fd);
	return failed;
}

static void destinations_are_drawn_by_weight(void **state)
{
	uint32_t n[NODES] = { 0 }, i;
	struct err e = { 0 };
	struct matrix m;

	assert_int_equal(read_text(&m,
				 "source,destination,weight\n"
				 "2,5,0.5 # half\n# nothing\n\n2,0,1\n2,7,2.5\n"
				 "4,4,0\n3,1,9\n",
				 &e),
		0);
	for (i = 0; i < DRAWS; i++)
		n[matrix_draw(&m, 2, random_draw(1, 0, RANDOM_TEST, i).a)]++;
	assert_in_range(n[5], DRAWS / 8 - 300, DRAWS / 8 + 300);
	assert_in_range(n[0], DRAWS / 4 - 300, DRAWS / 4 + 300);
	assert_int_equal(n[5] + n[0] + n[7], DRAWS);
	assert_int_equal(matrix_sum(&m, 4), 0);
	assert_int_equal(matrix_sum(&m, 3), 9000000);
	assert_int_equal(m.total, 13000000);
	assert_false(m.is_rates);
	matrix_free(&m);
}

static void rates_are_bytes_per_second(void **state)
{
	struct err e = { 0 };
	struct matrix m;

	assert_int_equal(read_text(&m, "0,1,2GB/s\r\n0,2,8 Gb/s\r\n", &e), 0);
	assert_true(m.is_rates);
	assert_int_equal(matrix_sum(&m, 0), 3000000000);
	matrix_free(&m);
}

static void huge_weights_keep_their_shares(void **state)
{
	struct err e = { 0 };
	struct matrix m;
	char text[1024] = "";

	for (uint32_t i = 0; i < 7; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			"%u,%u,1000000000000\n0,%u,1000000000000\n", i + 1, 0,
			i + 1);
	assert_int_equal(read_text(&m, text, &e), 0);
	assert_true(matrix_sum(&m, 0) / 7 == matrix_sum(&m, 1));
	matrix_free(&m);
}

static void a_mistake_is_named_with_its_line(void **state)
{
	static const char *const bad[][2] = {
		{ "0,1\n", ":1: want three columns" },
		{ "0,1,2,3\n", ":1: want three columns" },
		{ "0,1,1\n0,8,1\n", ":2: there is no node 8 (want 0 to 7)" },
		{ "0,1,1\n#\n0,x,1\n", ":3: want the number of a node" },
		{ "0,1,-1\n", ":1: want a weight" },
		{ "0,1,1\n0,2,1GB/s\n", ":2: want a weight" },
		{ "source,destination,rate\n0,1,5\n", ":2: want a rate" },
		{ "from,to,weight\n0,1,1\n", ":1: want the columns source" },
		{ "3,3,1\n", ":1: a node cannot send to itself" },
		{ "0,1,1\n1,2,1\n0,1,2\n", ":3: the traffic from 0 to 1 is "
					   "given twice, first in line 1" },
		{ "0,1,0\n", "no node sends anything" },
		{ "", "no node sends anything" },
	};
	struct matrix m;

	for (uint32_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct err e = { 0 };

		assert_int_equal(read_text(&m, bad[i][0], &e), -1);
		if (!strstr(e.text, bad[i][1]))
			fail_msg("%s", e.text);
	}
}

TESTS(TEST(destinations_are_drawn_by_weight), TEST(rates_are_bytes_per_second),
	TEST(huge_weights_keep_their_shares),
	TEST(a_mistake_is_named_with_its_line))
