#include "link/link_testing.h"

#include <string.h>

#include "sim/random.h"
#include "testing/testing.h"

uint64_t link_test_draw(uint64_t *n, uint64_t below)
{
	return random_below(random_draw(5, 0, RANDOM_TEST, (*n)++).a, below);
}

struct link_params link_test_defaults(void)
{
	struct link_params p;

	memset(&p, 0, sizeof(p));
	link_params_defaults(&p);
	return p;
}

/* All that were made, for the end. */
static struct link_rules made[1000];
static size_t n_made;

struct link_rules link_test_rules_on(
	const struct link_params *p, const struct topo *t)
{
	struct link_rules r;
	struct err e = { 0 };

	if (link_rules_init(&r, p, t, &e))
		fail_msg("%s", e.text);
	assert_true(n_made < sizeof(made) / sizeof(made[0]));
	made[n_made++] = r;
	return r;
}

struct link_rules link_test_rules(const struct link_params *p)
{
	return link_test_rules_on(p, NULL);
}

int link_test_forget(void **state)
{
	(void)state;
	while (n_made)
		link_rules_fini(&made[--n_made]);
	return 0;
}
