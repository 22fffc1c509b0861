/*
 * Weft processes as a job of MPI: the only file of the simulator that includes
 * mpi.h.  It is a shared object of its own for each MPI, since their ABIs
 * differ; weft loads the one of the job that it finds itself in.
 *
 * Processes that are all on one computer share a room (sim/room.h), and need
 * MPI for their beginning and end only.  Otherwise they send each other
 * messages.  Where one is longer than the receiver is ready for, its length is
 * sent before.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "sim/cluster.h"
#include "sim/patience.h"
#include "sim/yield.h"
#include <weft_cluster.h> /* made by meson */

enum {
	SHORT = 1 << 12, /* bytes of a message that comes without its length */
	MOST_BYTES = 1 << 30, /* of a message, or of a reduction */
	TAG_SHORT = 1,
	TAG_LENGTH = 2,
	TAG_LONG = 3,
	SPIN_NS = 20000, /* longest poll before a sleep */
	NAP_PART = 4, /* of the time that it has waited */
	MOST_NAP_NS = 1000000,
	EXIT_TOO_MUCH = 4, /* of weft: a limit */
};

/* For the others, when this process ends: with an error, or as it should, while
 * the first one writes files. */
#define PATIENCE_NS	 INT64_C(2000000000)
#define MUCH_PATIENCE_NS INT64_MAX / 2

/* A message that is on its way, or was. */
struct letter {
	struct letter *next;
	struct cluster_bytes b;
	uint64_t n;
	MPI_Request is_sent[2];
};

/* What comes from another process. */
struct near {
	union {
		char bytes[SHORT];
		uint64_t n;
	};
	uint32_t slot; /* of its request */
	bool has_come;
	MPI_Status status; /* then */
};

struct job {
	struct cluster c;
	struct cluster_help help;
	MPI_Comm all;
	MPI_Datatype words; /* all that processes agree on */
	MPI_Op merge; /* of these */
	MPI_Op greatest;
	struct near *near[CLUSTER_MOST]; /* on first use */
	struct near *at[CLUSTER_MOST]; /* those, by slots */
	MPI_Request coming[CLUSTER_MOST];
	MPI_Status status[CLUSTER_MOST];
	int which[CLUSTER_MOST];
	uint32_t n_near;
	struct letter *letters;
	MPI_Request wait; /* for one thing at a time */
	struct yield yield;
	struct patience patience;
	int64_t look; /* the time of this wait's poll */
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

static int64_t begin_wait(struct job *j)
{
	j->look = patience_next(&j->patience, SPIN_NS);
	return j->help.clock();
}

static void end_wait(struct job *j, int64_t since)
{
	patience_learn(
		&j->patience, SPIN_NS, j->help.clock() - since <= j->look);
}

/* MPI's own waits never sleep. */
static void hold_on(struct job *j, int64_t since)
{
	int64_t now = j->help.clock(), waited = now - since;

	if (waited > j->look) {
		j->help.look(&j->c);
		nap(waited / NAP_PART);
	} else {
		yield_core(&j->yield, now, j->help.clock);
	}
}

static int is_done_by(struct job *j, int64_t until)
{
	int64_t since = begin_wait(j);
	int is_done = 0;

	for (;;) {
		MPI_Test(&j->wait, &is_done, MPI_STATUS_IGNORE);
		if (is_done || j->help.clock() > until)
			break;
		hold_on(j, since);
	}
	end_wait(j, since);
	return is_done;
}

static void finish(struct job *j)
{
	is_done_by(j, INT64_MAX);
}

/* --- messages --- */

static bool is_free(struct job *j, struct letter *l)
{
	int is_sent = 0;

	MPI_Testall(2, l->is_sent, &is_sent, j->status);
	return is_sent;
}

/* One whose last message has left, if there is any. */
static struct letter *find_letter(struct job *j)
{
	struct letter *l;

	for (l = j->letters; l; l = l->next)
		if (is_free(j, l))
			return l;
	l = j->help.alloc(sizeof(*l));
	l->is_sent[0] = l->is_sent[1] = MPI_REQUEST_NULL;
	l->next = j->letters;
	return j->letters = l;
}

static void mpi_send(struct cluster *c, uint32_t to, struct cluster_bytes *b)
{
	struct job *j = of(c);
	struct letter *l = find_letter(j);
	struct cluster_bytes was = l->b;
	int n = (int)b->n;

	if (b->n > MOST_BYTES)
		MPI_Abort(j->all, EXIT_TOO_MUCH);
	l->b = *b;
	l->n = b->n;
	*b = (struct cluster_bytes){ .at = was.at, .room = was.room };
	if (n > SHORT)
		MPI_Isend(&l->n, sizeof(l->n), MPI_BYTE, (int)to, TAG_LENGTH,
			j->all, &l->is_sent[1]);
	MPI_Isend(l->b.at, n, MPI_BYTE, (int)to,
		n > SHORT ? TAG_LONG : TAG_SHORT, j->all, &l->is_sent[0]);
}

static void expect(struct job *j, uint32_t from)
{
	struct near *x = j->near[from];

	x->has_come = false;
	MPI_Irecv(x->bytes, SHORT, MPI_BYTE, (int)from, MPI_ANY_TAG, j->all,
		&j->coming[x->slot]);
}

/* From now on its messages are expected. */
static void get_near(struct job *j, uint32_t from)
{
	struct near *x = j->help.alloc(sizeof(*x));

	j->near[from] = j->at[j->n_near] = x;
	x->slot = j->n_near++;
	expect(j, from);
}

static bool mpi_receive(
	struct cluster *c, uint32_t from, struct cluster_bytes *b)
{
	struct job *j = of(c);
	struct near *x = j->near[from];
	int n;
	char *to;

	if (!x)
		get_near(j, from);
	if (!x || !x->has_come)
		return false;
	b->n = 0;
	if (x->status.MPI_TAG == TAG_LENGTH) {
		to = j->help.add(b, x->n);
		MPI_Irecv(to, (int)x->n, MPI_BYTE, (int)from, TAG_LONG, j->all,
			&j->wait);
		finish(j);
	} else {
		MPI_Get_count(&x->status, MPI_BYTE, &n);
		to = j->help.add(b, (size_t)n);
		if (n)
			memcpy(to, x->bytes, (size_t)n);
	}
	expect(j, from);
	return true;
}

static void mpi_wait(struct cluster *c)
{
	struct job *j = of(c);
	int64_t since = begin_wait(j);
	int n;

	for (;;) {
		MPI_Testsome(
			(int)j->n_near, j->coming, &n, j->which, j->status);
		if (n) /* or MPI_UNDEFINED: all have come */
			break;
		hold_on(j, since);
	}
	end_wait(j, since);
	for (int i = 0; i < n; i++) {
		struct near *x = j->at[j->which[i]];

		x->has_come = true;
		x->status = j->status[i];
	}
}

/* --- agreements --- */

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

/* As those of agree(), where CLUSTER_OTHERS is the second greatest of
 * CLUSTER_OWN. */
static void merge_words(void *from, void *to, int *n, MPI_Datatype *type)
{
	const uint64_t *x = from;
	uint64_t *y = to;

	(void)type;
	for (int k = 0; k < *n; k++) {
		uint64_t a = x[CLUSTER_OWN], b = y[CLUSTER_OWN];
		uint64_t less = a < b ? a : b;
		uint64_t busy = x[CLUSTER_BUSY] + y[CLUSTER_BUSY];

		for (int i = 0; i < N_CLUSTER_WORDS; i++)
			y[i] = x[i] > y[i] ? x[i] : y[i];
		if (less > y[CLUSTER_OTHERS])
			y[CLUSTER_OTHERS] = less;
		y[CLUSTER_BUSY] = busy;
		x += N_CLUSTER_WORDS;
		y += N_CLUSTER_WORDS;
	}
}

static void mpi_agree(struct cluster *c, uint64_t word[N_CLUSTER_WORDS])
{
	struct job *j = of(c);
	uint64_t own = word[CLUSTER_OWN];

	MPI_Iallreduce(
		MPI_IN_PLACE, word, 1, j->words, j->merge, j->all, &j->wait);
	finish(j);
	if (word[CLUSTER_OWN] != own)
		word[CLUSTER_OTHERS] = word[CLUSTER_OWN];
}

static void reduce(struct job *j, uint64_t *x, size_t n, MPI_Op op)
{
	const size_t most = MOST_BYTES / sizeof(*x);

	for (size_t i = 0; i < n; i += most) {
		size_t part = n - i < most ? n - i : most;

		MPI_Iallreduce(MPI_IN_PLACE, x + i, (int)part, MPI_UINT64_T, op,
			j->all, &j->wait);
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

	MPI_Ibcast(bytes, (int)n, MPI_BYTE, (int)from, j->all, &j->wait);
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

/* Nobody sends or waits for any more. */
static void drop_messages(struct job *j)
{
	struct letter *l;

	for (uint32_t i = 0; i < j->n_near; i++) {
		if (!j->at[i]->has_come) {
			MPI_Cancel(&j->coming[i]);
			MPI_Wait(&j->coming[i], MPI_STATUS_IGNORE);
		}
		j->help.free(j->at[i]);
	}
	while ((l = j->letters)) {
		j->letters = l->next;
		if (!is_free(j, l)) /* after an error: MPI may read it yet */
			continue;
		j->help.free(l->b.at);
		j->help.free(l);
	}
}

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

	MPI_Ibarrier(j->all, &j->wait);
	if (!is_done_by(j, until))
		MPI_Abort(j->all, code);
	drop_messages(j);
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
	.send = mpi_send,
	.receive = mpi_receive,
	.wait = mpi_wait,
	.agree = mpi_agree,
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
