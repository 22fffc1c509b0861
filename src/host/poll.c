#include "host/node.h"

#define NO_WORD (UINT64_MAX / 2) /* no address */

/* Fills in what is seen. */
static bool passes(struct program *p)
{
	uint64_t word = 0;

	if (p->test)
		return p->test(p->test_arg, &p->seen);
	memory_load(&node_of(p)->hot.memory, MEMORY_CORE, p->at, &word);
	p->seen = word;
	switch (p->word_test) {
	case WORD_IS:
		return word == p->value;
	case WORD_IS_NOT:
		return word != p->value;
	default:
		return word >= p->value;
	}
}

static struct program **list_of(const struct program *p)
{
	return &node_of(p)->hot.polling[p->test ? HOST_POLLS_TEST
						: HOST_POLLS_WORD];
}

/* A program that has a word, or no watch, does not depend on a watch alone. */
static void remember(struct program *p)
{
	struct program **list = list_of(p);

	p->is_walked = p->test && (p->at != NO_WORD || !p->watch.on_write);
	node_of(p)->n_walked += p->is_walked;
	p->next_polling = *list;
	*list = p;
}

void poll_forget(struct program *p)
{
	struct program **at = list_of(p);

	while (*at != p)
		at = &(*at)->next_polling;
	*at = p->next_polling;
	node_of(p)->n_walked -= p->is_walked;
	p->is_walked = false;
}

void poll_look(struct program *p, struct sim_worker *w, sim_time t)
{
	p->is_look_posted = false;
	if (!passes(p))
		return;
	poll_forget(p);
	if (!p->loop.load && t >= p->free_at) {
		program_resume(p, w, t);
		return;
	}
	p->state = STATE_TIMED;
	t += p->loop.load;
	program_post(p, w, t > p->free_at ? t : p->free_at, 0, EVENT_RESUME);
}

void poll_give_up(struct program *p, struct sim_worker *w, sim_time t)
{
	poll_forget(p);
	p->is_look_posted = false;
	p->look_at = 0;
	p->is_late = true;
	program_resume(p, w, t);
}

/*
 * The first look that sees what changes now.  The looks of this instant are
 * over for the programs up to the one that runs, and for all once those run
 * that were spawned in it.
 */
static sim_time next_look(const struct program *p, sim_time t)
{
	sim_time since = t - p->first, period = p->loop.period;
	const struct program *now = program_current();
	bool is_over = now && (now->round || now->thread >= p->thread);

	if (since < 0)
		return p->first;
	if (is_over)
		return p->first + (since / period + 1) * period;
	return p->first + (since + period - 1) / period * period;
}

/* It has been back, as it were, and polls anew since. */
static void poll_anew(struct program *p)
{
	p->loop = p->through->again(p->test_arg, node_of(p)->n_draws++);
	p->first = p->back_at + p->loop.phase;
	p->back_at = 0;
}

/* Whether a program need not look now for what has come; if it must, its test
 * passes. */
static bool sleeps_on(struct program *p, struct sim_worker *w, sim_time t)
{
	enum poll_news news;

	if (p->back_at && t > p->back_at)
		poll_anew(p);
	news = p->through->news(p->test_arg);
	if (news == POLL_QUIET && !p->back_at)
		p->back_at = next_look(p, t) + p->loop.load;
	p->seen = p->loop.stays;
	if (news != POLL_ENDS || !p->back_at)
		return news != POLL_ENDS;
	/* it comes back because of something else, and finds this, too */
	poll_forget(p);
	p->state = STATE_TIMED;
	program_post(p, w, p->back_at, 0, EVENT_RESUME);
	return true;
}

/* What it has seen now lasts until its look, which needs no event. */
static void see_ahead(struct program *p, struct sim_worker *w)
{
	poll_forget(p);
	p->state = STATE_TIMED;
	program_post(p, w, p->look_at + p->loop.load, 0, EVENT_RESUME);
}

static void consider(struct program *p, struct sim_worker *w, sim_time t)
{
	if (p->is_look_posted || (p->through ? sleeps_on(p, w, t) : !passes(p)))
		return;
	p->look_at = next_look(p, t);
	if ((p->loop.lasts || p->loop.stays) && p->seen == 1 &&
		p->look_at <= p->deadline) {
		see_ahead(p, w);
		return;
	}
	p->is_look_posted = true;
	program_post(p, w, p->look_at, 0, EVENT_LOOK);
}

static bool touches(const struct program *p, uint64_t at, size_t n)
{
	return p->at + sizeof(p->value) > at && p->at < at + n;
}

static void add_watched(struct host_node *to, const struct program *p)
{
	for (; p; p = p->next_watching) {
		const struct watch *x = &p->watch;

		if (x->at < to->watched_from)
			to->watched_from = x->at;
		if (x->at + x->bytes > to->watched_to)
			to->watched_to = x->at + x->bytes;
	}
}

/* Sets the range to all bytes if the watched bytes are not known. */
void poll_set_watched(const struct host *h, struct node *n)
{
	bool is_all = n->n_with || (n->cards && n->cards->on_write);
	struct host_node *to = &n->hot;

	to->watched_from = is_all ? 0 : UINT64_MAX;
	to->watched_to = is_all ? UINT64_MAX : 0;
	add_watched(to, n->watching);
	for (uint32_t i = 0; n->watching_own && i < h->n_processes; i++)
		add_watched(to, n->watching_own[i]);
}

static bool is_told(const struct node *n, const struct program *p)
{
	return p->told_of == n->n_told;
}

/* Whether a program may have learned of a write: one that is told of writes
 * elsewhere has not. */
static bool may_know(const struct node *n, const struct program *p)
{
	return is_told(n, p) || !p->watch.on_write;
}

/* A write, and the node's programs that it is for. */
struct write {
	struct node *node;
	struct sim_worker *w;
	sim_time t;
	uint64_t at;
	size_t n;
	bool is_told; /* to any program */
};

static void tell_list(struct write *x, struct program *p)
{
	for (; p; p = p->next_watching) {
		const struct watch *y = &p->watch;

		if (x->at + x->n <= y->at || x->at >= y->at + y->bytes)
			continue;
		p->told_of = x->node->n_told;
		y->on_write(y->arg, x->t, x->at, x->n);
		x->is_told = true;
	}
}

static void consider_list(const struct write *x, struct program *p)
{
	for (; p; p = p->next_watching)
		if (is_told(x->node, p) && p->state == STATE_POLLING && p->test)
			consider(p, x->w, x->t);
}

static void walk_all(const struct write *x)
{
	struct program *p = x->node->hot.polling[HOST_POLLS_TEST];

	for (; p; p = p->next_polling)
		if ((x->is_told && may_know(x->node, p)) ||
			touches(p, x->at, x->n))
			consider(p, x->w, x->t);
}

static void tell_programs(const struct host *h, struct write *x)
{
	struct program **own = x->node->watching_own;
	uint64_t each = own ? host_memory_each(h) : 1;
	uint64_t first = x->at / each;
	uint64_t end = own ? (x->at + x->n - 1) / each + 1 : first;
	uint64_t i;

	end = end < h->n_processes ? end : h->n_processes;
	x->node->n_told++;
	tell_list(x, x->node->watching);
	for (i = first; i < end; i++)
		tell_list(x, own[i]);
	if (x->node->n_walked && (x->is_told || x->node->n_with)) {
		walk_all(x);
	} else if (x->is_told) {
		consider_list(x, x->node->watching);
		for (i = first; i < end; i++)
			consider_list(x, own[i]);
	}
}

void host_notice(struct host *h, site_id site, struct sim_worker *w, sim_time t,
	uint64_t at, size_t n)
{
	struct node *node = &h->nodes[site];
	struct write x = { node, w, t, at, n, false };

	for (struct program *p = node->hot.polling[HOST_POLLS_WORD]; p;
		p = p->next_polling)
		if (touches(p, at, n))
			consider(p, w, t);
	if (!node->hot.watched_to)
		return;
	tell_programs(h, &x);
	if (node->cards && node->cards->on_write)
		node->cards->on_write(node->cards->arg, w, site, t, at, n);
}

void host_look(struct host *h, struct sim_worker *w, site_id node, sim_time t)
{
	struct program *p = host_node(h, node)->polling[HOST_POLLS_TEST];

	for (; p; p = p->next_polling)
		consider(p, w, t);
}

void host_look_of(struct host *h, struct sim_worker *w, site_id node,
	sim_time t, uint32_t process)
{
	struct program *p = host_node(h, node)->polling[HOST_POLLS_TEST];

	for (; p; p = p->next_polling)
		if (p->process == process)
			consider(p, w, t);
}

void host_look_at(struct host *h, struct sim_worker *w, site_id node,
	sim_time t, uint64_t at, size_t n)
{
	struct program *p = host_node(h, node)->polling[HOST_POLLS_TEST];

	for (; p; p = p->next_polling)
		if (!p->loop.lasts || touches(p, at, n))
			consider(p, w, t);
}

/* --- for programs --- */

/* One event will do for all polls with the same deadline. */
static void post_deadline(struct program *p)
{
	if (p->deadline == SIM_NEVER || p->deadline == p->late_at)
		return;
	p->late_at = p->deadline;
	program_post(p, p->worker, p->deadline, 0, EVENT_LATE);
}

void poll_put_off(struct program *p, sim_time time)
{
	p->now += time;
	p->first += time;
	if (!p->is_look_posted)
		return;
	p->look_at += time;
	program_post(p, p->worker, p->look_at, 0, EVENT_LOOK);
}

static void poll(struct program *p, struct poll_loop loop, sim_time deadline)
{
	BUG_IF(loop.period < 1 || loop.load < 0 || loop.phase < 0);
	/* one that is ahead looks later, and is told of changes until then */
	if (p->is_ahead && (!loop.phase || deadline != SIM_NEVER))
		program_settle(p);
	program_catch_up(p);
	p->loop = loop;
	p->first = p->now + loop.phase;
	p->deadline = deadline;
	p->is_late = false;
	if (!loop.phase && passes(p)) {
		program_charge(loop.load);
		return;
	}
	if (deadline <= p->now) {
		p->is_late = true;
		return;
	}
	post_deadline(p);
	remember(p);
	p->state = STATE_POLLING;
	if (loop.phase && !loop.is_checked)
		consider(p, p->worker, p->now);
	program_suspend(p, (enum program_state)p->state);
}

bool program_poll(uint64_t at, enum word_test test, uint64_t value,
	struct poll_loop loop, uint64_t *word)
{
	struct program *p = program_current();
	uint64_t seen;

	BUG_IF(!p || p->is_card);
	if (!memory_load(&node_of(p)->hot.memory, MEMORY_CORE, at, &seen))
		return false;
	p->test = NULL;
	p->through = NULL;
	p->at = at;
	p->word_test = (uint8_t)test;
	p->value = value;
	poll(p, loop, SIM_NEVER);
	*word = p->seen;
	return true;
}

/* The program that runs will look by a test. */
static struct program *set_test(
	bool (*test)(void *arg, uint64_t *seen), void *arg)
{
	struct program *p = program_current();

	BUG_IF(!p || p->is_card || !test);
	p->test = test;
	p->test_arg = arg;
	p->at = NO_WORD;
	p->through = NULL;
	return p;
}

bool program_poll_before(bool (*test)(void *arg, uint64_t *seen), void *arg,
	struct poll_loop loop, sim_time deadline, uint64_t *seen)
{
	struct program *p = set_test(test, arg);

	poll(p, loop, deadline);
	*seen = p->seen;
	return !p->is_late;
}

void program_poll_until(bool (*test)(void *arg, uint64_t *seen), void *arg,
	struct poll_loop loop, uint64_t *seen)
{
	program_poll_before(test, arg, loop, SIM_NEVER, seen);
}

void program_poll_done(uint64_t at, bool (*test)(void *arg, uint64_t *seen),
	void *arg, struct poll_loop loop, uint64_t *seen)
{
	struct program *p = set_test(test, arg);

	p->at = at;
	loop.lasts = true;
	poll(p, loop, SIM_NEVER);
	*seen = p->seen;
}

void program_poll_with(uint64_t at, bool (*test)(void *arg, uint64_t *seen),
	void *arg, struct poll_loop loop, uint64_t *seen)
{
	struct program *p = set_test(test, arg);

	p->at = at;
	node_of(p)->n_with++;
	poll_set_watched(p->host, node_of(p));
	poll(p, loop, SIM_NEVER);
	node_of(p)->n_with--;
	poll_set_watched(p->host, node_of(p));
	*seen = p->seen;
}

/* Others of its node would draw numbers meanwhile; one that dies must not be
 * asleep. */
void program_poll_through(bool (*test)(void *arg, uint64_t *seen), void *arg,
	struct poll_loop loop, const struct poll_through *through)
{
	struct program *p = set_test(test, arg);
	bool is_alone = !node_of(p)->programs->next && !p->host->dies_at;

	if (p->is_ahead)
		program_settle(p);
	if (is_alone && loop.load)
		p->through = through;
	p->back_at = 0;
	poll(p, loop, SIM_NEVER);
}

/* The list for its watch.  A node's memory is that of its processes, one after
 * the other; a program that watches other bytes, such as a card's ring, is in
 * the node's own list. */
static struct program **watching_list(const struct program *p)
{
	const struct host *h = p->host;
	const struct watch *x = &p->watch;
	struct node *n = node_of(p);
	uint64_t each = host_memory_each(h), base = p->process * each;

	if (h->n_processes < 2 || x->at < base ||
		x->at + x->bytes > base + each)
		return &n->watching;
	if (!n->watching_own)
		n->watching_own =
			mem_alloc(h->n_processes, sizeof(*n->watching_own));
	return &n->watching_own[p->process];
}

void poll_end_watch(struct program *p)
{
	struct node *n = node_of(p);
	struct program **at;

	if (!p->watch.on_write)
		return;
	at = watching_list(p);
	while (*at != p)
		at = &(*at)->next_watching;
	*at = p->next_watching;
	p->watch.on_write = NULL;
	poll_set_watched(p->host, n);
}

void program_watch(uint64_t at, uint64_t bytes,
	void (*on_write)(void *arg, sim_time t, uint64_t at, size_t n),
	void *arg)
{
	struct program *p = program_current(), **list;

	BUG_IF(!p || p->is_card);
	if (p->is_ahead)
		program_settle(p);
	poll_end_watch(p);
	if (!on_write)
		return;
	p->watch = (struct watch){ at, bytes, on_write, arg };
	list = watching_list(p);
	p->next_watching = *list;
	*list = p;
	poll_set_watched(p->host, node_of(p));
}
