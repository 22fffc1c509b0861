/*
 * Two binary trees with long data: members keep a timetable, or several would
 * send to one while others wait.  Time is counted in turns, each long enough
 * for some chunks.  An edge has a colour: those of a member to its children
 * differ, and so do those to its parents.  Chunks go up in turns of their
 * edge's colour, and down in others, so in each turn a member sends to one
 * other and receives from one.  Nobody looks at a clock: chunks just leave and
 * come in that order, and windows keep members from running ahead.
 */
#include "load/coll/tree.h"

enum {
	COLOURS = 2,
	MOST_STREAMS = 6,
	/* A timetable takes a few turns to begin and to end, and short turns
	 * are not kept: as many turns of an edge, each of so many chunks. */
	USUAL_TURNS = 128,
	LEAST_CHUNKS = 16,
	MOST_CHUNKS = 32,
	/* Steps under way: these, and so many bytes.  Members that run ahead
	 * take from the links of others; what comes late leaves links idle.
	 * Few go on in a turn that is not everybody's yet. */
	PACE_SENDS = 2,
	PACE_RECEIVES = 1,
	PACE_NEXT = 1,
	BYTES_SENT = 192 << 10,
	BYTES_RECEIVED = 128 << 10,
	BYTES_SENT_NEXT = 128 << 10,
	BYTES_RECEIVED_NEXT = 64 << 10,
	LEAST_RECEIVES = 3,
	MOST_STEPS = 16,
};

/* What a tree sends between a member and its parent or child. */
struct stream {
	uint32_t tree, peer, child; /* child: which of the member's */
	bool is_up;
	uint64_t turn; /* its first */
};

/* A member's streams of one direction. */
struct table {
	struct stream stream[MOST_STREAMS]; /* by tree */
	uint32_t n;
	uint64_t turns; /* of each */
	uint32_t period; /* from one to the next */
};

/* --- colours --- */

/* The way from the top to a label: all its steps, and those to the left. */
struct way {
	uint32_t n, left;
};

static struct way way_to(uint32_t x, uint32_t n)
{
	struct way w = { 0 };
	uint32_t up;

	for (; x; x = up) {
		up = parent_of(x, n);
		w.n++;
		w.left += up > x;
	}
	return w;
}

static bool turns_right(uint32_t x, uint32_t n)
{
	struct way w = way_to(x, n);

	return (w.n - w.left) % 2;
}

/*
 * Of the edge above a label.  Of inner labels: in the first tree each step to
 * the left changes it, in the second tree each step to the right.  Then
 * siblings differ, and so do the leaves of the other tree that the labels next
 * to each other are there, whose colours are opposite.  Where the last label
 * lacks a sibling or a neighbour, all of the first tree's are exchanged.
 */
static bool inner_colour(uint32_t tree, uint32_t x, uint32_t n)
{
	bool is_other = n % 4 && !turns_right((n - 1) & ~1u, n);

	return tree ? turns_right(x, n) : (way_to(x, n).left % 2) ^ is_other;
}

static bool colour_of(uint32_t tree, uint32_t x, uint32_t n)
{
	if (!x)
		return !tree; /* from the root */
	if (x % 2 == 0)
		return inner_colour(tree, x, n);
	if (!tree)
		return !inner_colour(1, x - 1, n);
	return x + 1 < n ? !inner_colour(0, x + 1, n)
			 : inner_colour(0, x - 1, n);
}

/* --- the timetable --- */

/* Edges from the root, or the first label, down to the lowest leaf. */
static uint32_t height(const struct algo_plan *p)
{
	uint32_t n = tree_labels(p), h = algo_op_has_root(p->op);

	for (uint32_t x = 1; x < n; x *= 2)
		h++;
	return h;
}

/* From when a chunk has come until it is passed on: four turns, in any case. */
static uint32_t periods_each(const struct algo_plan *p)
{
	return tree_goes_up(p) && tree_goes_down(p) ? 1 : 2;
}

/* The edge above a label, for one direction. */
static void add_edge(
	const struct algo_plan *p, struct table *t, uint32_t x, struct stream s)
{
	uint32_t n = tree_labels(p), depth = way_to(x, n).n;
	uint64_t period;

	depth += algo_op_has_root(p->op);
	if (s.is_up)
		period = (height(p) - depth) * periods_each(p);
	else if (tree_goes_up(p))
		period = height(p) + depth - 1;
	else
		period = (depth - 1) * periods_each(p);
	s.turn = period * t->period + colour_of(s.tree, x, n);
	if (!s.is_up && tree_goes_up(p))
		s.turn += COLOURS;
	t->stream[t->n++] = s;
}

/* Of a tree: up and down, from or to children and the parent. */
static void add_tree(const struct algo_plan *p, struct table *t,
	uint32_t member, uint32_t tree, bool is_send)
{
	uint32_t n = tree_labels(p), x, child[2] = { 0 }, n_children = 1;
	bool is_root = algo_op_has_root(p->op) && member == p->root;
	struct stream s = { .tree = tree };

	x = is_root ? 0 : tree_label(p, tree, member);
	if (!is_root)
		n_children = children_of(x, n, child);
	if (is_send ? tree_goes_down(p) : tree_goes_up(p))
		for (s.child = 0; s.child < n_children; s.child++) {
			s.is_up = !is_send;
			s.peer = tree_member(p, tree, child[s.child]);
			add_edge(p, t, child[s.child], s);
		}
	if (is_root || (!x && !algo_op_has_root(p->op)) ||
		!(is_send ? tree_goes_up(p) : tree_goes_down(p)))
		return;
	s.is_up = is_send;
	s.peer = x ? tree_member(p, tree, parent_of(x, n)) : p->root;
	add_edge(p, t, x, s);
}

/* Of a turn. */
static uint64_t chunks_each(const struct algo_plan *p)
{
	uint64_t n = tree_chunks(p) / USUAL_TURNS;

	return n < MOST_CHUNKS ? n : MOST_CHUNKS;
}

bool tree_has_turns(const struct algo_plan *p)
{
	return p->n > 2 && chunks_each(p) >= LEAST_CHUNKS;
}

static uint32_t pace(const struct algo_plan *p, uint32_t more, uint64_t bytes)
{
	uint64_t n = (bytes + p->chunk - 1) / p->chunk + more;

	return n < MOST_STEPS ? (uint32_t)n : MOST_STEPS;
}

void tree_turns_pace(
	const struct algo_plan *p, uint32_t *sends, uint32_t *receives)
{
	if (!tree_has_turns(p))
		return;
	*sends = pace(p, PACE_SENDS, BYTES_SENT);
	*receives = pace(p, PACE_RECEIVES, BYTES_RECEIVED);
	if (*receives < LEAST_RECEIVES)
		*receives = LEAST_RECEIVES;
}

/* Of a step of a turn, with those of the turn before: at its beginning few. */
static uint32_t most_with(
	const struct algo_plan *p, bool is_send, uint64_t chunk)
{
	return (uint32_t)chunk +
	       pace(p, PACE_NEXT,
		       is_send ? BYTES_SENT_NEXT : BYTES_RECEIVED_NEXT);
}

static struct table table_of(
	const struct algo_plan *p, uint32_t member, bool is_send)
{
	uint64_t each = chunks_each(p);
	struct table t = {
		.turns = (tree_chunks(p) + each - 1) / each,
		.period = tree_goes_up(p) && tree_goes_down(p) ? 2 * COLOURS
							       : COLOURS,
	};

	for (uint32_t i = 0; i < TREES; i++)
		add_tree(p, &t, member, i, is_send);
	return t;
}

/* Turns of a stream before one. */
static uint64_t n_before(
	const struct table *t, const struct stream *s, uint64_t turn)
{
	uint64_t n = turn <= s->turn
			     ? 0
			     : (turn - s->turn + t->period - 1) / t->period;

	return n < t->turns ? n : t->turns;
}

static uint64_t all_before(const struct table *t, uint64_t turn)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < t->n; i++)
		n += n_before(t, &t->stream[i], turn);
	return n;
}

/* How many of all are before the nth of a stream: of the same time by tree. */
static uint64_t n_before_step(
	const struct table *t, const struct stream *s, uint64_t nth)
{
	uint64_t turn = s->turn + nth * t->period, n = 0;

	for (const struct stream *x = t->stream; x < t->stream + t->n; x++)
		n += n_before(t, x, turn + (x < s));
	return n;
}

/* The stream that is the ith of all, and which of its own that is. */
static const struct stream *find_stream(
	const struct table *t, uint64_t i, uint64_t *nth)
{
	const struct stream *s = t->stream;
	uint64_t low = 0, high = 0;

	for (uint32_t k = 0; k < t->n; k++)
		if (t->stream[k].turn > high)
			high = t->stream[k].turn;
	high += t->turns * t->period;
	while (low < high) {
		uint64_t mid = (low + high) / 2;

		if (all_before(t, mid + 1) > i)
			high = mid;
		else
			low = mid + 1;
	}
	for (;; s++) {
		*nth = n_before(t, s, low);
		if (n_before(t, s, low + 1) > *nth &&
			n_before_step(t, s, *nth) == i)
			return s;
	}
}

/* --- steps --- */

uint64_t tree_turns_count(
	const struct algo_plan *p, uint32_t member, bool is_send)
{
	struct table t = table_of(p, member, is_send);

	return t.n * t.turns * chunks_each(p);
}

/* What is sent has come before: from all children or, down, from the parent,
 * the same chunk of its turn. */
static uint64_t n_come(const struct algo_plan *p, uint32_t member,
	const struct stream *s, uint64_t nth, uint64_t chunk)
{
	struct table in = table_of(p, member, false);
	uint64_t most = 0;

	for (const struct stream *x = in.stream; x < in.stream + in.n; x++) {
		uint64_t n;

		if (x->tree != s->tree || (s->is_up && !x->is_up))
			continue;
		n = n_before_step(&in, x, nth) * chunks_each(p) + chunk + 1;
		most = n > most ? n : most;
	}
	return most;
}

void tree_turns_step(const struct algo_plan *p, uint32_t member, uint32_t lane,
	bool is_send, uint64_t i, struct algo_step *out)
{
	struct table t = table_of(p, member, is_send);
	uint64_t each = chunks_each(p), nth;
	const struct stream *s = find_stream(&t, i / each, &nth);
	struct algo_span span = tree_span(p, algo_channel(p, lane), s->tree);

	span = algo_cut(p, span, t.turns, nth);
	span = algo_cut(p, span, each, i % each);
	algo_set(out,
		is_send	   ? ALGO_SEND
		: s->is_up ? ALGO_ADD
			   : ALGO_RECEIVE,
		s->peer, span);
	out->to = (1 + s->child) * p->bytes + span.at;
	out->most = most_with(p, is_send, i % each);
	if (is_send)
		out->after = (struct algo_after){ lane,
			n_come(p, member, s, nth, i % each) };
}
