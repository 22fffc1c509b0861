/* The core of the message layer: memory, arrivals, puts and gets. */
#include "api/msg/msg.h"

#include <errno.h>
#include <string.h>

#include "api/msg/domain.h"
#include "api/msg/pool.h"
#include "api/msg/slots.h"
#include "meas/calls.h"
#include "parts/domain/domain.h"
#include "parts/mpi/mpi.h"

enum {
	SLOTS = 8, /* by default */
	FIN = 16, /* bytes */
	CREDITS = 2, /* words */
	ASK = sizeof(struct msg_ask),
};

#define START (10000 * (sim_time)SIM_NS)

/* --- memory --- */

static uint64_t round_up(uint64_t bytes)
{
	return (bytes + MSG_PAGE - 1) / MSG_PAGE * MSG_PAGE;
}

/* The addresses of everything, from m->at on.  Without slots there are no
 * credits either, and stages in place of early messages. */
static void lay_out(struct msg_state *m, uint64_t own, uint64_t tagged)
{
	uint64_t n = m->n_ranks, at = m->at;
	uint64_t n_slots = tagged ? 0 : n * MSG_LANES * m->n_slots;

	m->n_blocks = tagged ? 0 : m->n_blocks;
	if (m->n_blocks)
		n_slots = msg_pool_slots(m);
	m->own_at = at;
	at += round_up(own);
	m->peers_at = at;
	at += round_up(n * MSG_LANES * sizeof(struct msg_peer));
	m->stages_at = at;
	at += round_up((uint64_t)MSG_STAGES * WEFT_MSG_EAGER);
	/* from here on others write */
	m->words_at = at;
	at += 8 * (WEFT_MSG_COUNTERS + WEFT_MSG_DONES);
	m->fins_at = at;
	at += FIN * MSG_FINS;
	m->credits_at = at;
	at += tagged ? 0 : n * MSG_LANES * CREDITS * 8;
	m->asks_at = at;
	at = round_up(at + n * ASK);
	m->tagged_at = at;
	at = round_up(at + tagged);
	m->slots_at = at;
	m->more_fins_at = round_up(at + n_slots * MSG_SLOT);
	m->n_more_fins = tagged ? 0 : MSG_MORE_FINS;
	m->end = m->more_fins_at + round_up((uint64_t)FIN * m->n_more_fins);
	m->pieces_at = m->n_blocks ? m->end : m->stages_at;
	if (m->n_blocks)
		m->end += round_up((uint64_t)MSG_STAGES * WEFT_MSG_EAGER);
}

static uint64_t most_own(void)
{
	uint64_t most = 0;

	for (uint32_t i = 0; api_registry[i]; i++)
		if (api_registry[i]->msg->memory > most)
			most = api_registry[i]->msg->memory;
	return most;
}

static int set_options(struct msg_state *m, const struct weft_msg_options *o)
{
	uint32_t parts = msg_lane_parts(o->eager, true);

	m->n_slots = o->slots ? o->slots : SLOTS;
	if (!o->slots && parts > m->n_slots / 2 + 1)
		m->n_slots = 2 * (parts - 1);
	m->eager = o->eager ? o->eager : WEFT_MSG_EAGER;
	m->is_eager_set = o->eager;
	m->n_blocks = o->pool;
	m->at = o->at;
	m->is_software = o->software;
	if (m->n_slots < 2 || m->n_slots > WEFT_MSG_SLOTS ||
		m->eager > WEFT_MSG_EAGER_MOST ||
		(m->eager > WEFT_MSG_EAGER && parts > m->n_slots / 2 + 1) ||
		m->at % MSG_PAGE || o->start < 0 || o->pool > WEFT_MSG_POOL ||
		(uint32_t)o->matching >= WEFT_MSG_MATCHINGS)
		return EINVAL;
	return 0;
}

/* Of the machine's tagged messages, or 0. */
static uint64_t tagged_bytes(const struct nic_ops *nic, const void *params,
	uint32_t n_ranks, const struct weft_msg_options *o)
{
	const struct api *api = api_to(nic);

	if (!api || !api->msg->tagged || o->matching == WEFT_MSG_MATCH_HOST)
		return 0;
	return api->msg->tagged->memory(params, n_ranks);
}

uint64_t msg_memory(const struct nic_ops *nic, const void *params,
	uint32_t n_ranks, const struct weft_msg_options *options)
{
	struct msg_state m = { .n_ranks = n_ranks };
	struct weft_msg_options o = { 0 };

	if (options)
		o = *options;
	o.at = 0;
	if (set_options(&m, &o))
		return 0;
	lay_out(&m, most_own(), tagged_bytes(nic, params, n_ranks, &o));
	return m.end;
}

uint64_t weft_msg_memory(
	uint32_t n_ranks, const struct weft_msg_options *options)
{
	uint64_t most = 0, bytes;

	for (uint32_t i = 0; api_registry[i]; i++) {
		bytes = msg_memory(
			api_registry[i]->nic, NULL, n_ranks, options);
		most = bytes > most ? bytes : most;
	}
	return most;
}

/* If the node has one process, the node checks the bytes itself. */
static bool is_mine(uint64_t at, uint64_t n)
{
	return host_n_processes(program_host()) == 1 || program_has(at, n);
}

uint64_t weft_msg_base(void)
{
	return program_base();
}

bool weft_msg_load(uint64_t at, void *to, size_t n)
{
	return is_mine(at, n) && program_read(program_base() + at, to, n);
}

bool weft_msg_store(uint64_t at, const void *from, size_t n)
{
	return is_mine(at, n) && program_write(program_base() + at, from, n);
}

/* A GPU makes the copy from or to its memory. */
static void wait_for_gpu(uint32_t gpu, enum gpu_way way, uint64_t bytes)
{
	if (gpu && bytes)
		program_wait(gpu_copy(gpus_of(program_host()), program_node(),
			gpu - 1, way, program_now(), bytes));
}

void msg_copy(uint64_t to, uint64_t from, uint64_t bytes)
{
	if (gpu_of(to))
		wait_for_gpu(gpu_of(to), GPU_IN, bytes);
	else
		wait_for_gpu(gpu_of(from), GPU_OUT, bytes);
	program_move(to, from, bytes);
}

void msg_read(uint64_t at, void *to, uint64_t bytes)
{
	wait_for_gpu(gpu_of(at), GPU_OUT, bytes);
	if (gpu_of(at))
		memory_read(host_at(program_host(), program_node()),
			MEMORY_DEVICE, at, to, bytes);
	else
		program_read(at, to, bytes);
}

void msg_write(uint64_t at, const void *from, uint64_t bytes)
{
	wait_for_gpu(gpu_of(at), GPU_IN, bytes);
	if (gpu_of(at))
		host_write_by(program_host(), program_worker(), program_node(),
			program_now(), MEMORY_DEVICE, at, from, bytes);
	else
		program_write(at, from, bytes);
}

int msg_check(
	const struct msg_state *m, uint32_t rank, uint64_t at, uint64_t bytes)
{
	if (!m->ops)
		return EBADF;
	if (rank >= m->n_ranks)
		return EINVAL;
	if (gpu_of(at))
		return m->ops->check_gpu ? m->ops->check_gpu(m, at, bytes)
					 : EFAULT;
	return at <= m->each && bytes <= m->each - at ? 0 : EFAULT;
}

int msg_check_host(
	const struct msg_state *m, uint32_t rank, uint64_t at, uint64_t bytes)
{
	int code = msg_check(m, rank, at, bytes);

	return code || !gpu_of(at) ? code : EFAULT;
}

struct msg_times msg_times(const struct msg_state *m, uint64_t bytes)
{
	const struct mpi_params *p = mpi_params_of(m->host);

	if (m->ops->times)
		return m->ops->times(m, bytes);
	return (struct msg_times){ p->send, p->receive, p->match };
}

void msg_post(struct msg_state *m, uint32_t rank, uint64_t own_at,
	const void *data, uint32_t bytes)
{
	uint64_t to = msg_address(m, rank, own_at - m->base);

	if (msg_is_near(m, rank))
		msg_domain_post(m, rank, to, data, bytes);
	else
		m->ops->post(m, rank, to, data, bytes);
}

/* Without faults all arrives, though its answer may come too late. */
void msg_lose(struct msg_state *m, uint32_t node, uint32_t process)
{
	uint32_t place = m->world ? m->world->place[node] : node;

	if (m->tagged->lose && m->nic->net->faults)
		m->tagged->lose(m, place * m->n_processes + process);
}

/* --- arrivals --- */

static void add_news(struct msg_state *m, uint32_t what)
{
	if (m->n_news == MSG_NEWS)
		m->has_all = true;
	else
		m->news[(m->news_first + m->n_news++) % MSG_NEWS] = what;
}

/* The sender of a message in a slot; MSG_TAGGED_ANY: it is none. */
static uint32_t sender_of(const struct msg_state *m, uint64_t slot)
{
	if (m->n_blocks)
		return msg_pool_rank(m, slot);
	return slot / m->n_ranks / m->n_slots == MSG_USER
		       ? (uint32_t)(slot % m->n_ranks)
		       : MSG_TAGGED_ANY;
}

static void on_slot(struct msg_state *m, sim_time t, uint64_t end)
{
	uint32_t rank;

	/* the number comes last */
	if (end % MSG_SLOT) {
		m->has_word |= end > m->more_fins_at - m->slots_at;
		return;
	}
	rank = sender_of(m, end / MSG_SLOT - 1);
	if (rank != MSG_TAGGED_ANY) {
		add_news(m, rank << 1);
		if (m->trip.trips)
			trips_arrive(m->trip.trips, m->node, m->rank, rank, t);
	} else {
		m->has_word = true;
	}
}

/* The pool's words beside credits are about blocks. */
static void on_credit(struct msg_state *m, uint64_t at)
{
	m->has_word = true;
	if (at / (8 * CREDITS) % MSG_LANES != MSG_USER)
		add_news(m, (uint32_t)(at / (8 * CREDITS * MSG_LANES)) << 1);
}

/* Also called outside of the program. */
static void on_write(void *arg, sim_time t, uint64_t at, size_t n)
{
	struct msg_state *m = arg;
	uint64_t end = at + n;

	if (at < m->words_at) {
		if (m->on_touch)
			m->on_touch(m->on_end_arg, at, n);
		/* a program's own write may end in the layer's memory */
		m->has_word |= end > m->words_at;
		return;
	}
	if (m->tagged->on_write && at >= m->tagged_at) {
		m->tagged->on_write(m, t, at, n);
	} else if (at >= m->slots_at) {
		on_slot(m, t, end - m->slots_at);
	} else if (at >= m->asks_at) {
		end -= m->asks_at;
		if (end % ASK == 0)
			add_news(m,
				(uint32_t)(end / ASK - 1) << 1 | MSG_NEWS_ASK);
	} else if (m->n_blocks && at >= m->credits_at) {
		on_credit(m, at - m->credits_at);
	} else if (at >= m->fins_at ||
		   msg_word_is_zero(m, (uint32_t)((at - m->words_at) / 8))) {
		m->has_word = true;
	}
}

/* The same, of slots that are tracked.  A slot is written from its beginning
 * on. */
static void on_tracked(void *arg, sim_time t, uint64_t at, size_t n)
{
	struct msg_state *m = arg;
	uint64_t slot = (at - m->slots_at) / MSG_SLOT;

	if (at >= m->slots_at && at < m->more_fins_at)
		m->written[slot / 8] |= (uint8_t)(1 << slot % 8);
	on_write(arg, t, at, n);
}

void msg_watch_all(
	struct msg_state *m, void (*on_touch)(void *arg, uint64_t at, size_t n))
{
	m->on_touch = on_touch;
	program_watch(m->base, m->end - m->base,
		m->written ? on_tracked : on_write, m);
}

/* --- words and answers --- */

static uint32_t take_bit(uint64_t *used)
{
	uint32_t i;

	if (*used == UINT64_MAX)
		return 64;
	i = (uint32_t)__builtin_ctzll(~*used);
	*used |= UINT64_C(1) << i;
	return i;
}

uint32_t msg_take_word(struct msg_state *m)
{
	uint32_t i = take_bit(&m->dones);

	return i < WEFT_MSG_DONES ? WEFT_MSG_COUNTERS + i : 0;
}

void msg_give_word(struct msg_state *m, uint32_t word)
{
	m->dones &= ~(UINT64_C(1) << (word - WEFT_MSG_COUNTERS));
}

bool msg_word_is_zero(const struct msg_state *m, uint32_t word)
{
	uint64_t value = 1;

	memory_read(m->memory, MEMORY_NIC, msg_word_at(m, word), &value, 8);
	return !value;
}

void msg_word_expect(struct msg_state *m, uint32_t word, uint64_t bytes)
{
	program_write(msg_word_at(m, word), &bytes, 8);
}

void msg_word_arrived(struct msg_state *m, uint32_t word, uint64_t bytes)
{
	program_atomic(ATOMIC_STORE_ADD, msg_word_at(m, word), -bytes, NULL);
}

static uint64_t fin_at(const struct msg_state *m, uint32_t fin)
{
	return fin < MSG_FINS
		       ? m->fins_at + FIN * fin
		       : m->more_fins_at + FIN * (uint64_t)(fin - MSG_FINS);
}

void msg_clear_fin(struct msg_state *m, uint32_t fin)
{
	uint64_t none[2] = { 0 };

	program_write(fin_at(m, fin), none, sizeof(none));
}

uint32_t msg_take_fin(struct msg_state *m)
{
	uint32_t fin = take_bit(&m->fins);

	if (fin < MSG_FINS)
		msg_clear_fin(m, fin);
	return fin;
}

void msg_give_fin(struct msg_state *m, uint32_t fin)
{
	m->fins &= ~(UINT64_C(1) << fin);
}

uint64_t msg_fin(const struct msg_state *m, uint32_t fin, uint64_t *value)
{
	uint64_t word[2] = { 0 };

	msg_load(m, fin_at(m, fin), word, sizeof(word));
	*value = word[0];
	return word[1];
}

void msg_answer(struct msg_state *m, uint32_t rank, uint32_t fin,
	uint64_t answer, uint64_t value)
{
	uint64_t word[2] = { value, answer };

	msg_post(m, rank, fin_at(m, fin), word, sizeof(word));
}

/* --- puts and gets --- */

bool msg_is_done(const struct msg_state *m, const struct weft_msg_done *done)
{
	if (!m->ops)
		return true;
	switch (done->kind) {
	case MSG_DONE:
		return true;
	case MSG_DONE_WORD:
		return msg_word_is_zero(m, done->index);
	default:
		return m->ops->is_done(m, done);
	}
}

void msg_end(struct msg_state *m, struct weft_msg_done *done)
{
	if (done->kind == MSG_DONE_WORD)
		msg_give_word(m, done->index);
	done->kind = MSG_DONE;
}

bool weft_msg_is_done(struct weft_msg *msg, struct weft_msg_done *done)
{
	struct msg_state *m = msg_state(msg);

	if (!msg_is_done(m, done))
		weft_msg_progress(msg);
	if (!msg_is_done(m, done))
		return false;
	msg_end(m, done);
	return true;
}

void weft_msg_wait(struct weft_msg *msg, struct weft_msg_done *done)
{
	PROGRAM_CALL("weft_msg_wait", 0, 0);
	struct msg_state *m = msg_state(msg);

	m->awaited = *done;
	while (!msg_is_done(m, done))
		msg_go_on(m);
	m->awaited = (struct weft_msg_done){ 0 };
	msg_end(m, done);
}

int weft_msg_put(struct weft_msg *msg, uint32_t rank, uint64_t to,
	uint64_t from, uint64_t bytes, uint32_t counter,
	struct weft_msg_done *done)
{
	PROGRAM_CALL("weft_msg_put to #", rank, 0);
	struct msg_state *m = msg_state(msg);
	int code = msg_check(m, rank, to, bytes);

	if (!code)
		code = msg_check(m, m->rank, from, bytes);
	if (code || (counter >= WEFT_MSG_COUNTERS && counter != WEFT_MSG_NONE))
		return code ? code : EINVAL;
	if (done && m->dones == UINT64_MAX)
		return EBUSY;
	if (done)
		*done = (struct weft_msg_done){ 0 };
	if (!bytes)
		return 0;
	to = msg_address(m, rank, to);
	from = msg_address(m, m->rank, from);
	if (rank != m->rank) {
		msg_put(m, rank, to, from, bytes, counter, done);
		return 0;
	}
	msg_copy(to, from, bytes);
	if (counter != WEFT_MSG_NONE)
		m->ops->arrived(m, counter, bytes);
	return 0;
}

int weft_msg_get(struct weft_msg *msg, uint32_t rank, uint64_t from,
	uint64_t to, uint64_t bytes, struct weft_msg_done *done)
{
	PROGRAM_CALL("weft_msg_get from #", rank, 0);
	struct msg_state *m = msg_state(msg);
	struct weft_msg_done mine = { 0 };
	int code = msg_check(m, rank, from, bytes);

	if (!code)
		code = msg_check(m, m->rank, to, bytes);
	if (code)
		return code;
	from = msg_address(m, rank, from);
	to = msg_address(m, m->rank, to);
	if (bytes && rank != m->rank) {
		mine.index = msg_take_word(m);
		if (!mine.index)
			return EBUSY;
		mine.kind = MSG_DONE_WORD;
		msg_get(m, rank, from, to, bytes, mine.index);
	} else {
		msg_copy(to, from, bytes);
	}
	if (done)
		*done = mine;
	else
		weft_msg_wait(msg, &mine);
	return 0;
}

int weft_msg_expect(struct weft_msg *msg, uint32_t counter, uint64_t bytes)
{
	struct msg_state *m = msg_state(msg);

	if (!m->ops || counter >= WEFT_MSG_COUNTERS)
		return m->ops ? EINVAL : EBADF;
	if (!msg_word_is_zero(m, counter))
		return EBUSY;
	if (bytes)
		m->ops->expect(m, counter, bytes);
	return 0;
}

int weft_msg_wait_counter(struct weft_msg *msg, uint32_t counter)
{
	PROGRAM_CALL("weft_msg_wait_counter #", counter, 0);
	struct msg_state *m = msg_state(msg);

	if (!m->ops || counter >= WEFT_MSG_COUNTERS)
		return m->ops ? EINVAL : EBADF;
	while (!msg_word_is_zero(m, counter))
		msg_go_on(m);
	return 0;
}

/* --- life --- */

uint32_t msg_count_ranks(struct host *h)
{
	const struct host_world *w = program_world();

	return (w ? w->n : host_nic(h)->net->n_nodes) * host_n_processes(h);
}

/* Its rank, and its part of the node's memory. */
static void find_place(struct msg_state *m)
{
	m->node = program_node();
	m->memory = host_at(m->host, m->node);
	m->process = program_process();
	m->n_processes = host_n_processes(m->host);
	m->world = program_world();
	m->rank = (m->world ? m->world->place[m->node] : m->node) *
			  m->n_processes +
		  m->process;
	m->n_ranks = msg_count_ranks(m->host);
	m->each = host_memory_each(m->host);
	m->base = program_base();
}

/* Everything except open(): its rank, and its memory. */
static int set_up(struct msg_state *m, const struct weft_msg_options *o)
{
	uint64_t tagged;
	int code;

	m->host = program_host();
	m->nic = host_nic(m->host);
	BUG_IF(!api_to(m->nic->ops));
	m->ops = api_to(m->nic->ops)->msg;
	m->domain = domain_of(m->host);
	m->trip.trips = book_trips(m->nic->net->book);
	m->is_logged = host_log(m->host);
	find_place(m);
	if (m->n_processes > msg_most_processes(m->nic->ops))
		return EBUSY;
	code = set_options(m, o);
	if (code)
		return code;
	tagged = tagged_bytes(m->nic->ops, m->nic->params, m->n_ranks, o);
	if (!m->at) {
		lay_out(m, most_own(), tagged);
		if (m->end < m->each)
			m->at = (m->each - m->end) / MSG_PAGE * MSG_PAGE;
	}
	if (!m->at)
		return EFAULT;
	m->at += m->base;
	lay_out(m, m->ops->memory, tagged);
	if (m->end > m->base + m->each)
		return EFAULT;
	m->tagged = tagged ? m->ops->tagged : &msg_slots;
	m->pieces = tagged || m->n_blocks ? &msg_pieces_by_tags
					  : &msg_pieces_by_slots;
	return 0;
}

int weft_msg_init(struct weft_msg *msg, const struct weft_msg_options *options)
{
	/* msg may be in use, and is not changed if this fails */
	struct msg_state *m = msg_state(msg), fresh = { 0 };
	struct weft_msg_options o = { 0 };
	int code;

	if (options)
		o = *options;
	code = set_up(&fresh, &o);
	if (!code)
		code = fresh.ops->open(&fresh);
	if (code)
		return code;
	*m = fresh;
	msg_open_requests(m);
	program_watch(m->words_at, m->end - m->words_at, on_write, m);
	program_wait((fresh.world ? fresh.world->begin : 0) +
		     (o.start ? o.start : START));
	return 0;
}

void msg_track_slots(struct msg_state *m)
{
	uint64_t pages = (m->more_fins_at - m->slots_at) / MEMORY_PAGE;

	if (!m->soft || !pages)
		return;
	m->written = soft_track(m->soft, pages);
	program_watch(m->words_at, m->end - m->words_at, on_tracked, m);
}

static bool is_busy(struct msg_state *m)
{
	return !msg_has_no_requests(m) || m->dones || m->fins;
}

int weft_msg_fini(struct weft_msg *msg)
{
	struct msg_state *m = msg_state(msg);

	if (!m->ops)
		return EBADF;
	if (is_busy(m))
		return EBUSY;
	weft_msg_barrier(msg);
	return msg_leave(m);
}

int msg_leave(struct msg_state *m)
{
	if (is_busy(m))
		return EBUSY;
	if (m->domain)
		msg_domain_close(m);
	m->ops->close(m);
	program_watch(0, 0, NULL, NULL);
	m->ops = NULL; /* no call has an effect from now on */
	return 0;
}

uint32_t weft_msg_rank(const struct weft_msg *m)
{
	return ((const struct msg_state *)m)->rank;
}

uint32_t weft_msg_ranks(const struct weft_msg *m)
{
	return ((const struct msg_state *)m)->n_ranks;
}
