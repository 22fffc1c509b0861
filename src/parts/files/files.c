#define _GNU_SOURCE
#include "parts/files/files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "host/bus.h"
#include "host/program.h"
#include "net/net.h"

struct file {
	char name[FILES_NAME]; /* empty: there is none */
	uint64_t bytes;
};

struct opened {
	uint32_t member, node, process;
	uint32_t file; /* 1 + number; 0: not in use */
};

/* A call that waits for its turn, where at is not SIM_NEVER. */
struct turn {
	sim_time at; /* in the time of all */
	uint64_t number; /* of its member's */
	struct files_call call;
};

/* Of an IO node. */
struct store {
	uint32_t n_members, member[FILES_MEMBERS];
	struct bus pcie;
	struct file file[FILES_MOST];
	struct opened opened[FILES_MOST];
	struct turn turn[FILES_MEMBERS][FILES_THREADS];
};

struct files {
	int fd; /* the bytes of files, FILES_BYTES for each */
	uint32_t n_io, n_places; /* the latter for members, of an IO node */
	struct bus_params pcie;
	struct store *store; /* [IO node] */
	uint8_t *data; /* [IO node][place][thread][FILES_PIECE] */
};

/* --- life --- */

static size_t data_bytes(const struct files *f)
{
	return (size_t)f->n_io * f->n_places * FILES_THREADS * FILES_PIECE;
}

static void init_store(struct files *f, uint32_t io)
{
	struct store *s = &f->store[io];
	uint32_t i;

	bus_init(&s->pcie, &f->pcie);
	for (i = 0; i < FILES_MEMBERS * FILES_THREADS; i++)
		s->turn[i / FILES_THREADS][i % FILES_THREADS].at = SIM_NEVER;
}

struct files *files_new(uint32_t n_io, uint32_t n_members,
	const struct files_params *p, struct err *e)
{
	struct files *f;
	uint32_t i;
	int fd;

	if (n_io > FILES_IO) {
		err_set_code(e, EXIT_LIMIT,
			"%u IO nodes have files (want at most %d)", n_io,
			FILES_IO);
		return NULL;
	}
	fd = memfd_create("weft-files", MFD_CLOEXEC);
	if (fd < 0) {
		err_set_code(e, EXIT_LIMIT, "no memory for files: %s",
			strerror(errno));
		return NULL;
	}
	f = mem_alloc(1, sizeof(*f));
	f->fd = fd;
	f->n_io = n_io;
	f->n_places = n_members < FILES_MEMBERS ? n_members : FILES_MEMBERS;
	f->pcie = (struct bus_params){ .width = 4,
		.clock = 4 * PS_PER_S,
		.cycles = p->pcie_rate,
		.is_duplex = true };
	f->store = map_alloc(n_io * sizeof(*f->store));
	f->data = map_alloc(data_bytes(f));
	for (i = 0; i < n_io; i++)
		init_store(f, i);
	return f;
}

void files_free(struct files *f)
{
	if (!f)
		return;
	map_free(f->store, f->n_io * sizeof(*f->store));
	map_free(f->data, data_bytes(f));
	close(f->fd);
	mem_free(f);
}

void files_join(struct files *f, uint32_t io, uint32_t member)
{
	struct store *s = &f->store[io];

	BUG_IF(s->n_members == FILES_MEMBERS);
	s->member[s->n_members++] = member;
}

/* --- bytes --- */

static off_t place(
	const struct files *f, const struct store *s, const struct file *x)
{
	uint64_t io = (uint64_t)(s - f->store), i = (uint64_t)(x - s->file);

	return (off_t)((io * FILES_MOST + i) * FILES_BYTES);
}

/* What the host has no memory for ends the run. */
static void move(const struct files *f, off_t at, uint8_t *data, uint64_t bytes,
	bool is_write)
{
	ssize_t n;

	for (; bytes; bytes -= (size_t)n, data += n, at += n) {
		n = is_write ? pwrite(f->fd, data, bytes, at)
			     : pread(f->fd, data, bytes, at);
		if (n < 0)
			mem_give_up();
		/* what was never written */
		if (!n) {
			memset(data, 0, bytes);
			return;
		}
	}
}

/* --- calls --- */

static struct file *find_file(
	struct store *s, const char *name, struct file **free)
{
	uint32_t i;

	*free = NULL;
	for (i = FILES_MOST; i--;) {
		if (!strcmp(s->file[i].name, name))
			return &s->file[i];
		if (!s->file[i].name[0])
			*free = &s->file[i];
	}
	return NULL;
}

static int64_t do_open(struct files *f, struct store *s,
	const struct files_call *c, uint32_t member)
{
	struct file *free, *x;
	uint32_t i = 0;

	if (!c->name[0] || c->how & ~(uint32_t)(FILES_CREATE | FILES_TRUNCATE))
		return -EINVAL;
	x = find_file(s, c->name, &free);
	if (!x && !(c->how & FILES_CREATE))
		return -ENOENT;
	while (i < FILES_MOST && s->opened[i].file)
		i++;
	if ((!x && !free) || i == FILES_MOST)
		return -ENFILE;
	if (!x) {
		x = free;
		memcpy(x->name, c->name, sizeof(x->name));
	}
	if (c->how & FILES_TRUNCATE && x->bytes) {
		BUG_IF(fallocate(f->fd,
			FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			place(f, s, x), (off_t)x->bytes));
		x->bytes = 0;
	}
	s->opened[i] = (struct opened){ member, c->node, c->process,
		1 + (uint32_t)(x - s->file) };
	return i;
}

/* What a call names, or NULL where that is not the caller's. */
static struct opened *find_opened(
	struct store *s, const struct files_call *c, uint32_t member)
{
	struct opened *o;

	if (c->file < 0 || c->file >= FILES_MOST)
		return NULL;
	o = &s->opened[c->file];
	return o->file && o->member == member && o->node == c->node &&
			       o->process == c->process
		       ? o
		       : NULL;
}

static int64_t do_move(struct files *f, struct store *s, struct files_call *c,
	struct file *x, uint8_t *data, sim_time t)
{
	bool is_write = c->op == FILES_WRITE;
	uint64_t end = c->offset + c->bytes, bytes = c->bytes;

	if (is_write && end > x->bytes)
		x->bytes = end;
	if (end > x->bytes)
		bytes = c->offset < x->bytes ? x->bytes - c->offset : 0;
	c->end = bus_burst(
		&s->pcie, t, is_write ? BUS_WRITE : BUS_DATA, (uint32_t)bytes);
	move(f, place(f, s, x) + (off_t)c->offset, data, bytes, is_write);
	return (int64_t)bytes;
}

static int64_t carry_out(struct files *f, struct store *s, uint32_t k,
	uint32_t thread, sim_time t)
{
	struct files_call *c = &s->turn[k][thread].call;
	uint32_t member = s->member[k];
	struct files_seat seat = { .files = f, .member = member };
	struct opened *o;

	c->end = t;
	if (c->op == FILES_OPEN)
		return do_open(f, s, c, member);
	o = find_opened(s, c, member);
	if (!o)
		return -EBADF;
	if (c->op == FILES_LOOK)
		return (int64_t)s->file[o->file - 1].bytes;
	if (c->op != FILES_CLOSE)
		return do_move(f, s, c, &s->file[o->file - 1],
			files_data(&seat, (uint32_t)(s - f->store), thread), t);
	o->file = 0;
	return 0;
}

/* --- in turn --- */

/* The place of a member among those of an IO node. */
static uint32_t place_of(const struct files_seat *s, uint32_t io)
{
	const struct store *x = &s->files->store[io];
	uint32_t k = 0;

	while (x->member[k] != s->member) {
		k++;
		BUG_IF(k == x->n_members);
	}
	return k;
}

struct files_call *files_call(
	const struct files_seat *s, uint32_t io, uint32_t thread)
{
	return &s->files->store[io].turn[place_of(s, io)][thread].call;
}

uint8_t *files_data(const struct files_seat *s, uint32_t io, uint32_t thread)
{
	const struct files *f = s->files;
	size_t place = (size_t)io * f->n_places + place_of(s, io);

	return f->data + (place * FILES_THREADS + thread) * FILES_PIECE;
}

static bool is_before(const struct store *s, uint32_t k, const struct turn *a,
	uint32_t i, const struct turn *b)
{
	if (a->at != b->at)
		return a->at < b->at;
	if (k != i)
		return s->member[k] < s->member[i];
	return a->number < b->number;
}

/* The first call of an IO node that waits, of those before a time. */
static struct turn *find_first(struct store *s, sim_time before, uint32_t *k)
{
	struct turn *first = NULL, *t;
	uint32_t i, j;

	for (i = 0; i < s->n_members; i++)
		for (j = 0; j < FILES_THREADS; j++) {
			t = &s->turn[i][j];
			if (t->at >= before ||
				(first && !is_before(s, i, t, *k, first)))
				continue;
			first = t;
			*k = i;
		}
	return first;
}

static void carry_out_all(struct files *f, struct store *s, sim_time before)
{
	struct turn *t;
	uint32_t k = 0;

	while ((t = find_first(s, before, &k))) {
		t->call.result =
			carry_out(f, s, k, (uint32_t)(t - s->turn[k]), t->at);
		t->at = SIM_NEVER;
	}
}

void files_hand_over(
	struct files_seat *s, uint32_t io, uint32_t thread, sim_time t)
{
	struct files *f = s->files;
	struct store *x = &f->store[io];
	uint32_t k = place_of(s, io);
	struct turn *turn = &x->turn[k][thread];

	if (x->n_members == 1) {
		turn->call.result = carry_out(f, x, k, thread, t + s->begin);
		return;
	}
	turn->at = t + s->begin;
	turn->number = s->n_calls++;
	s->n_waiting++;
}

void files_pass(void *arg, sim_time start)
{
	struct files_seat *s = arg;
	struct files *f = s->files;
	uint32_t i, k;

	for (i = 0; s->n_waiting && i < f->n_io; i++)
		for (k = 0; k < f->store[i].n_members; k++)
			if (f->store[i].member[k] == s->member)
				carry_out_all(
					f, &f->store[i], start + s->begin);
	s->n_waiting = 0;
}

/* --- parameters --- */

#define AT(field) offsetof(struct files_params, field)

static const struct param pcie[] = {
	PARAM_ROW(PARAM_RATE, "pcie.rate", AT(pcie_rate), "4 GB/s", 1000000,
		PS_PER_S, "rate of an IO node's PCIe in each direction",
		"BGQ-N7"),
};

static const struct param own[] = {
	PARAM_ROW(PARAM_TIME, "latency", AT(latency), "10 us", 0, PS_PER_S,
		"time that the file system takes for a request",
		"assumed: a server's memory over a network"),
};

static const struct part_block blocks[] = {
	{ "nic", pcie, sizeof(pcie) / sizeof(pcie[0]), 0 },
	{ "files", own, sizeof(own) / sizeof(own[0]), 0 },
	{ 0 },
};

/* --- as a part --- */

static void take_seat(struct files_seat *s, const void *params,
	const struct part_place *at, struct err *e)
{
	uint32_t i;

	s->files = files_new(at->topo->n_io, 1, params, e);
	for (i = 0; s->files && i < at->topo->n_io; i++)
		files_join(s->files, i, 0);
}

/* Of its own, or of several machines. */
static void *open_seat(
	const void *params, const struct part_place *at, struct err *e)
{
	struct files_seat *s;

	if (!at->n_serving)
		return NULL;
	s = mem_alloc(1, sizeof(*s));
	if (at->shared) {
		*s = *(const struct files_seat *)at->shared;
		sim_on_window(at->net->sim, files_pass, s);
	} else {
		take_seat(s, params, at, e);
	}
	return s;
}

static void close_seat(void *state)
{
	struct files_seat *s = state;

	if (!s->is_shared)
		files_free(s->files);
	mem_free(s);
}

static void start_daemons(const void *params, const struct part_place *at)
{
	struct files_seat *s = part_state(at->parts, &part_files);
	uint32_t io, i;

	(void)params;
	for (io = 0; s && io < at->topo->n_io; io++)
		for (i = 0; i < at->n_serving; i++)
			program_start(at->host, at->topo->n_nodes + io, i, 0,
				at->serve, s);
}

const struct part_ops part_files = {
	.name = "files",
	.needs = "packaging",
	.blocks = blocks,
	.params_size = sizeof(struct files_params),
	.open = open_seat,
	.close = close_seat,
	.start = start_daemons,
};
