/* Global links of a dragonfly that a file names. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "testing/testing.h"
#include "topo/dragonfly.h"
#include "topo/topo_testing.h"

static const struct topo_ops *ops = &dragonfly_ops;

/* Three groups of two routers, each with a node and up to two global links. */
static int try_to_read(struct dragonfly *t, const char *text, struct err *e)
{
	int fd = memfd_create("links", 0), failed;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	*t = (struct dragonfly){ .topo.ops = ops };
	topo_defaults(&t->topo);
	t->per_router = 1;
	t->routers = 2;
	t->globals = 2;
	t->nodes = 6;
	snprintf(t->wiring, sizeof(t->wiring), "/proc/self/fd/%d", fd);
	failed = ops->init(&t->topo, e);
	close(fd);
	return failed;
}

/* "0.0 global 0 leads to 1.1 global 0", by group and router. */
static void leads(const struct dragonfly *t, uint32_t from, uint32_t port,
	uint32_t to, uint32_t far)
{
	const struct topo_end x =
		ops->peer(&t->topo, 6 + from, t->global + port);

	assert_int_equal(x.router, 6 + to);
	assert_int_equal(x.port, t->global + far);
}

/* NET-F12: links take the ports of their routers in the order of the lines. */
static void links_are_where_the_lines_say(void **state)
{
	struct err e = { 0 };
	struct dragonfly t;

	if (try_to_read(&t,
		    "# group,router,group,router\n0,0,1,1\n1,1,2,0\n2,0,0,0\n",
		    &e) ||
		topo_look(&t.topo, &e))
		fail_msg("%s", e.text);
	assert_int_equal(t.m, 1);
	leads(&t, 0, 0, 3, 0);
	leads(&t, 3, 1, 4, 0);
	leads(&t, 4, 1, 0, 1);
	leads(&t, 0, 1, 4, 1);
	/* routers that no line names have none */
	assert_int_equal(ops->peer(&t.topo, 6 + 1, t.global).router, NO_ROUTER);
	/* the way to a group is its link */
	assert_int_equal(dragonfly_way(&t, 0, 1, 0), 0);
	assert_int_equal(dragonfly_way(&t, 0, 2, 0), 1);
	assert_int_equal(dragonfly_way(&t, 1, 2, 0), 3);
	assert_int_equal(dragonfly_way(&t, 2, 1, 0), 0);
	ops->fini(&t.topo);
}

static void is_refused(const char *text, const char *what)
{
	struct err e = { 0 };
	struct dragonfly t;

	assert_int_equal(try_to_read(&t, text, &e), -1);
	assert_int_equal(e.code, EXIT_BAD_INPUT);
	if (!strstr(e.text, what))
		fail_msg("\"%s\" says nothing of \"%s\"", e.text, what);
	ops->fini(&t.topo);
}

/* NET-F12 */
static void other_lines_are_refused(void **state)
{
	is_refused("", "groups 0 and 1 are joined by 0 links");
	is_refused("0,0,1,1\n0,0,2,1\n", "groups 1 and 2 are joined by 0");
	is_refused("0,0,1\n", ":1: want GROUP,ROUTER,GROUP,ROUTER");
	is_refused("3,0,1,1\n", ":1: there is no group \"3\"");
	is_refused("0,2,1,1\n", ":1: a group has no router \"2\"");
	is_refused("0,0,-1,1\n", ":1: there is no group \"-1\"");
	is_refused("0,0,1,1x\n", ":1: a group has no router \"1x\"");
	is_refused("0,0,0,1\n", ":1: a global link joins two groups");
	is_refused("0,0,1,0\n0,0,1,1\n0,0,2,1\n",
		":3: a router of this line has more links");
}

TESTS(TEST(links_are_where_the_lines_say), TEST(other_lines_are_refused))
