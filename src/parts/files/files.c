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

/* Of an IO node. */
struct store {
	bool is_shared;
	struct bus pcie;
	struct file file[FILES_MOST];
	struct opened opened[FILES_MOST];
};

struct files {
	int fd; /* the bytes of files, FILES_BYTES for each */
	uint32_t n_io;
	struct bus_params pcie;
	struct store *store; /* [IO node] */
};

/* --- life --- */

struct files *files_new(
	uint32_t n_io, const struct files_params *p, struct err *e)
{
	struct files *f;
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
	f->pcie = (struct bus_params){ .width = 4,
		.clock = 4 * PS_PER_S,
		.cycles = p->pcie_rate,
		.is_duplex = true };
	f->store = map_alloc(n_io * sizeof(*f->store));
	for (uint32_t i = 0; i < n_io; i++)
		bus_init(&f->store[i].pcie, &f->pcie);
	return f;
}

void files_free(struct files *f)
{
	if (!f)
		return;
	map_free(f->store, f->n_io * sizeof(*f->store));
	close(f->fd);
	mem_free(f);
}

void files_share(struct files *f, uint32_t io)
{
	f->store[io].is_shared = true;
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
	*free = NULL;
	for (uint32_t i = FILES_MOST; i--;) {
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
	struct file *x, uint8_t *data)
{
	bool is_write = c->op == FILES_WRITE;
	uint64_t end = c->offset + c->bytes, bytes = c->bytes;

	if (is_write && end > x->bytes)
		x->bytes = end;
	if (end > x->bytes)
		bytes = c->offset < x->bytes ? x->bytes - c->offset : 0;
	c->end = bus_burst(&s->pcie, c->at, is_write ? BUS_WRITE : BUS_DATA,
		(uint32_t)bytes);
	move(f, place(f, s, x) + (off_t)c->offset, data, bytes, is_write);
	return (int64_t)bytes;
}

static int64_t carry_out(const struct files_seat *seat, struct files_call *c)
{
	struct files *f = seat->files;
	struct store *s = &f->store[c->io];
	struct opened *o;

	if (c->op == FILES_OPEN)
		return do_open(f, s, c, seat->member);
	o = find_opened(s, c, seat->member);
	if (!o)
		return -EBADF;
	if (c->op == FILES_LOOK)
		return (int64_t)s->file[o->file - 1].bytes;
	if (c->op != FILES_CLOSE)
		return do_move(
			f, s, c, &s->file[o->file - 1], files_data(seat, c));
	o->file = 0;
	return 0;
}

void files_carry_out(const struct files_seat *s, struct files_call *c)
{
	c->end = c->at;
	c->result = carry_out(s, c);
}

/* --- seats --- */

struct files_call *files_call(
	const struct files_seat *s, uint32_t io, uint32_t thread)
{
	return &s->call[io * FILES_THREADS + thread];
}

uint8_t *files_data(const struct files_seat *s, const struct files_call *c)
{
	return s->data + (size_t)(c - s->call) * FILES_PIECE;
}

void files_hand_over(
	struct files_seat *s, struct files_call *c, uint32_t io, sim_time t)
{
	c->io = io;
	c->at = t + s->begin;
	if (s->files->store[io].is_shared)
		s->sent[s->n_sent++] = (uint32_t)(c - s->call);
	else
		files_carry_out(s, c);
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

/* At files of its own, or of several machines. */
static void *open_seat(
	const void *params, const struct part_place *at, struct err *e)
{
	struct files_seat *s;

	if (!at->n_serving)
		return NULL;
	s = mem_alloc(1, sizeof(*s));
	if (at->shared)
		*s = *(const struct files_seat *)at->shared;
	else
		s->files = files_new(at->topo->n_io, params, e);
	s->n_calls = at->topo->n_io * FILES_THREADS;
	s->call = mem_alloc(s->n_calls, sizeof(*s->call));
	s->sent = mem_alloc(s->n_calls, sizeof(*s->sent));
	s->data = map_alloc((size_t)s->n_calls * FILES_PIECE);
	return s;
}

static void close_seat(void *state)
{
	struct files_seat *s = state;

	if (!s->is_shared)
		files_free(s->files);
	map_free(s->data, (size_t)s->n_calls * FILES_PIECE);
	mem_free(s->sent);
	mem_free(s->call);
	mem_free(s);
}

static void start_daemons(const void *params, const struct part_place *at)
{
	struct files_seat *s = part_state(at->parts, &part_files);

	(void)params;
	for (uint32_t io = 0; s && io < at->topo->n_io; io++)
		for (uint32_t i = 0; i < at->n_serving; i++)
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
