/*
 * Weft processes as a job of MPI: the only file of the simulator that includes
 * mpi.h.  It is a shared object of its own for each MPI, since their ABIs
 * differ; weft loads the one of the job that it finds itself in.
 *
 * Processes that are all on one computer share a room (sim/room.h), and need
 * MPI for their beginning and end only.  Otherwise a meeting is one message to
 * each neighbour and one reduction, both under way at the same time.  A message
 * begins with its length; what does not fit into the first part follows in a
 * second one.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "sim/cluster.h"
#include <weft_cluster.h> /* made by meson */

enum {
	PART = 1 << 12, /* bytes of a message's first part */
	MOST_BYTES = 1 << 30, /* of a second part, or of a reduction */
	TAG_FIRST = 1,
	TAG_REST = 2,
	SPIN_NS = 20000, /* that a process looks before it sleeps */
	NAP_PART = 4, /* of the time that it has waited */
	MOST_NAP_NS = 1000000,
	EXIT_TOO_MUCH = 4, /* of weft: a limit */
};

/* For the others, when this process ends: with an error, or as it should, while
 * the first one writes files. */
#define PATIENCE_NS	 INT64_C(2000000000)
#define MUCH_PATIENCE_NS INT64_MAX / 2

/* The first part of a message. */
struct part {
	uint64_t n; /* bytes of all */
	char bytes[PART - sizeof(uint64_t)];
};

/* What goes to a neighbour and comes from it. */
struct near {
	struct part to, from;
};

struct job {
	struct cluster c;
	struct cluster_help help;
	MPI_Comm all;
	MPI_Datatype words; /* all that processes agree on */
	MPI_Op merge; /* of these */
	MPI_Op greatest;
	struct near *near[CLUSTER_MOST]; /* on first use */
	MPI_Request wait[2 * CLUSTER_MOST + 1], later[CLUSTER_MOST];
	MPI_Status status[2 * CLUSTER_MOST + 1]; /* nobody looks at it */
	int n_wait, n_later;
	char *memory; /* of the room, or NULL */
};

static struct job *of(struct cluster *c)
{
	return (struct job *)(void *)c;
}

/* A wait takes hardly longer than without naps. */
static void nap(int64_t ns)
{
	struct timespec t = { .tv_nsec = ns < MOST_NAP_NS ? ns : MOST_NAP_NS };

	nanosleep(&t, NULL);
}

/* MPI's own wait never sleeps. */
static int is_done_by(struct job *j, int64_t until)
{
	int64_t since = j->help.clock(), now = since;
	int is_done = 0;

	for (;;) {
		MPI_Testall(j->n_wait, j->wait, &is_done, j->status);
		if (is_done || now > until)
			break;
		now = j->help.clock();
		if (now - since > SPIN_NS) {
			j->help.look(&j->c);
			nap((now - since) / NAP_PART);
		} else
			sched_yield();
	}
	if (is_done)
		j->n_wait = 0;
	return is_done;
}

static void finish(struct job *j)
{
	is_done_by(j, INT64_MAX);
}

static void send(struct job *j, MPI_Request *r, const void *bytes, size_t n,
	uint32_t to, int tag)
{
	MPI_Isend(bytes, (int)n, MPI_BYTE, (int)to, tag, j->all, r);
}

static void receive(
	struct job *j, void *bytes, size_t n, uint32_t from, int tag)
{
	MPI_Irecv(bytes, (int)n, MPI_BYTE, (int)from, tag, j->all,
		&j->wait[j->n_wait++]);
}

static size_t first_of(size_t n)
{
	const size_t room = sizeof(((struct part *)0)->bytes);

	return n < room ? n : room;
}

/* The rest of a message may not leave before its receiver has asked for it, so
 * that is not waited for now. */
static void begin_with(
	struct job *j, uint32_t i, const struct cluster_bytes *out)
{
	struct near *x = j->near[i];
	size_t first = first_of(out->n);

	if (!x)
		x = j->near[i] = j->help.alloc(sizeof(*x));
	if (out->n > MOST_BYTES)
		MPI_Abort(j->all, EXIT_TOO_MUCH);
	x->to.n = out->n;
	if (first)
		memcpy(x->to.bytes, out->at, first);
	receive(j, &x->from, sizeof(x->from), i, TAG_FIRST);
	send(j, &j->wait[j->n_wait++], &x->to, sizeof(x->to.n) + first, i,
		TAG_FIRST);
	if (first < out->n)
		send(j, &j->later[j->n_later++], out->at + first,
			out->n - first, i, TAG_REST);
}

static void end_with(struct job *j, uint32_t i, struct cluster_bytes *in)
{
	const struct part *from = &j->near[i]->from;
	size_t first = first_of(from->n);
	char *at;

	in->n = 0;
	at = j->help.add(in, from->n);
	if (first)
		memcpy(at, from->bytes, first);
	if (first < from->n)
		receive(j, at + first, from->n - first, i, TAG_REST);
}

/* Some MPIs compare unsigned numbers as if they were signed (MPI_MAX of
 * MPICH 4.0). */
static void take_greatest(void *from, void *to, int *n, MPI_Datatype *type)
{
	const uint64_t *x = from;
	uint64_t *y = to;

	(void)type;
	for (int i = 0; i < *n; i++)
		y[i] = x[i] > y[i] ? x[i] : y[i];
}

/* The greatest of each word, but for CLUSTER_OTHERS: the second greatest of
 * CLUSTER_OWN. */
static void merge_words(void *from, void *to, int *n, MPI_Datatype *type)
{
	const uint64_t *x = from;
	uint64_t *y = to;

	(void)type;
	for (int k = 0; k < *n; k++) {
		uint64_t a = x[CLUSTER_OWN], b = y[CLUSTER_OWN];
		uint64_t less = a < b ? a : b;

		for (int i = 0; i < N_CLUSTER_WORDS; i++)
			y[i] = x[i] > y[i] ? x[i] : y[i];
		if (less > y[CLUSTER_OTHERS])
			y[CLUSTER_OTHERS] = less;
		x += N_CLUSTER_WORDS;
		y += N_CLUSTER_WORDS;
	}
}

static void mpi_meet(struct cluster *c, const bool *is_near,
	const struct cluster_bytes *out, struct cluster_bytes *in,
	uint64_t word[N_CLUSTER_WORDS])
{
	struct job *j = of(c);
	uint64_t own = word[CLUSTER_OWN];

	for (uint32_t i = 0; i < c->n; i++)
		if (is_near[i])
			begin_with(j, i, &out[i]);
	MPI_Iallreduce(MPI_IN_PLACE, word, 1, j->words, j->merge, j->all,
		&j->wait[j->n_wait++]);
	finish(j);
	if (word[CLUSTER_OWN] != own)
		word[CLUSTER_OTHERS] = word[CLUSTER_OWN];
	for (uint32_t i = 0; i < c->n; i++)
		if (is_near[i])
			end_with(j, i, &in[i]);
	while (j->n_later)
		j->wait[j->n_wait++] = j->later[--j->n_later];
	if (j->n_wait)
		finish(j);
}

static void reduce(struct job *j, uint64_t *x, size_t n, MPI_Op op)
{
	const size_t most = MOST_BYTES / sizeof(*x);

	for (size_t i = 0; i < n; i += most) {
		size_t part = n - i < most ? n - i : most;

		MPI_Iallreduce(MPI_IN_PLACE, x + i, (int)part, MPI_UINT64_T, op,
			j->all, &j->wait[j->n_wait++]);
		finish(j);
	}
}

static void mpi_sum(struct cluster *c, uint64_t *x, size_t n)
{
	reduce(of(c), x, n, MPI_SUM);
}

static void mpi_max(struct cluster *c, uint64_t *x, size_t n)
{
	reduce(of(c), x, n, of(c)->greatest);
}

static void mpi_tell(struct cluster *c, uint32_t from, void *bytes, size_t n)
{
	struct job *j = of(c);

	MPI_Ibcast(bytes, (int)n, MPI_BYTE, (int)from, j->all,
		&j->wait[j->n_wait++]);
	finish(j);
}

/* --- a room --- */

/* Where the others find the memory of the first one, and what it begins with:
 * names of other files of other processes may look the same. */
struct door {
	int64_t token;
	int pid, file;
};

enum { ROOM_AT = 4096 }; /* behind the token */

static size_t memory_size(const struct job *j)
{
	return ROOM_AT + j->help.room_size(j->c.n);
}

static void drop_memory(struct job *j)
{
	if (j->memory)
		munmap(j->memory, memory_size(j));
	j->memory = NULL;
}

static void map_memory(struct job *j, int file)
{
	void *p = mmap(NULL, memory_size(j), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_NORESERVE, file, 0);

	j->memory = p == MAP_FAILED ? NULL : p;
}

/* Memory without a name: nothing of it is left, however processes end. */
static void make_memory(struct job *j, struct door *d)
{
	*d = (struct door){ j->help.clock(), getpid(),
		memfd_create("weft-room", MFD_CLOEXEC) };
	if (d->file < 0 || ftruncate(d->file, (off_t)memory_size(j)))
		return;
	map_memory(j, d->file);
	if (j->memory)
		memcpy(j->memory, &d->token, sizeof(d->token));
}

static void find_memory(struct job *j, const struct door *d)
{
	char path[64];
	int file;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", d->pid, d->file);
	file = open(path, O_RDWR | O_CLOEXEC);
	if (file < 0)
		return;
	if (lseek(file, 0, SEEK_END) == (off_t)memory_size(j))
		map_memory(j, file);
	close(file);
	if (j->memory && memcmp(j->memory, &d->token, sizeof(d->token)))
		drop_memory(j);
}

/* All processes are on this computer: a room serves them better than MPI, but
 * where one of them cannot enter it, there is none. */
static void make_room(struct job *j)
{
	struct door d = { 0 };
	int has_it;

	if (!j->c.me)
		make_memory(j, &d);
	MPI_Bcast(&d, sizeof(d), MPI_BYTE, 0, j->all);
	if (j->c.me)
		find_memory(j, &d);
	has_it = j->memory ? 1 : 0;
	MPI_Allreduce(MPI_IN_PLACE, &has_it, 1, MPI_INT, MPI_MIN, j->all);
	if (!j->c.me && d.file >= 0)
		close(d.file);
	if (has_it)
		j->c.room = j->help.room_open(j->memory + ROOM_AT, &j->c);
	else
		drop_memory(j);
}

/* --- */

/* Where all come to their end, they leave together.  A process that ends alone
 * ends the job. */
static void mpi_leave(struct cluster *c, int code)
{
	struct job *j = of(c);
	/* an error that all know brings all here, and the first one has yet to
	 * print it */
	bool is_alone = code && !c->knows_error;
	int64_t until =
		j->help.clock() + (is_alone ? PATIENCE_NS : MUCH_PATIENCE_NS);

	MPI_Ibarrier(j->all, &j->wait[j->n_wait++]);
	if (!is_done_by(j, until))
		MPI_Abort(j->all, code);
	for (uint32_t i = 0; i < c->n; i++)
		j->help.free(j->near[i]);
	if (c->room)
		j->help.room_close(c->room);
	drop_memory(j);
	MPI_Op_free(&j->merge);
	MPI_Op_free(&j->greatest);
	MPI_Type_free(&j->words);
	MPI_Comm_free(&j->all);
	MPI_Finalize();
	j->help.free(j);
}

static const struct cluster_ops mpi_ops = {
	.name = "mpi",
	.meet = mpi_meet,
	.sum = mpi_sum,
	.max = mpi_max,
	.tell = mpi_tell,
	.leave = mpi_leave,
};

/* Processes of this computer. */
static void look_here(struct job *j)
{
	MPI_Comm here;
	int n, me;

	MPI_Comm_split_type(
		j->all, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
	MPI_Comm_size(here, &n);
	MPI_Comm_rank(here, &me);
	MPI_Comm_free(&here);
	j->c.n_here = (uint32_t)n;
	j->c.me_here = (uint32_t)me;
}

/* Of this object, for sim/join.c. */
extern const char weft_cluster_build[];
__attribute__((visibility("default"))) const char weft_cluster_build[] =
	WEFT_CLUSTER_BUILD;

__attribute__((visibility("default"))) struct cluster *weft_cluster_open(
	const struct cluster_help *help);

struct cluster *weft_cluster_open(const struct cluster_help *help)
{
	struct job *j = help->alloc(sizeof(*j));
	int level, n, me;

	MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);
	MPI_Comm_dup(MPI_COMM_WORLD, &j->all);
	MPI_Comm_size(j->all, &n);
	MPI_Comm_rank(j->all, &me);
	j->help = *help;
	j->c = (struct cluster){
		.ops = &mpi_ops,
		.me = (uint32_t)me,
		.n = (uint32_t)n,
	};
	MPI_Type_contiguous(N_CLUSTER_WORDS, MPI_UINT64_T, &j->words);
	MPI_Type_commit(&j->words);
	MPI_Op_create(merge_words, 1, &j->merge);
	MPI_Op_create(take_greatest, 1, &j->greatest);
	look_here(j);
	if (j->c.n_here == j->c.n && !j->help.is_apart())
		make_room(j);
	return &j->c;
}
