#include "outside/account.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"

/* --- MPI's names --- */

enum call_number {
	CALL_0,
#define NAME(name, ...) CALL_##name,
#include "inside/names.h"
#undef NAME
	N_CALLS
};

_Static_assert((int)N_CALLS <= (int)CHANNEL_NAMES, "names of calls");

static const char *const names[] = {
	"outside of MPI",
#define NAME(name, ...) "MPI_" #name,
#include "inside/names.h"
#undef NAME
};

/* Collectives that exchange data, and those that make and free things: both
 * wait for other members. */
enum { DATA = 1, OTHER = 2 };

static const uint8_t collective[N_CALLS] = {
	[CALL_Barrier] = DATA,
	[CALL_Bcast] = DATA,
	[CALL_Gather] = DATA,
	[CALL_Gatherv] = DATA,
	[CALL_Scatter] = DATA,
	[CALL_Scatterv] = DATA,
	[CALL_Reduce] = DATA,
	[CALL_Allreduce] = DATA,
	[CALL_Allgather] = DATA,
	[CALL_Allgatherv] = DATA,
	[CALL_Alltoall] = DATA,
	[CALL_Alltoallv] = DATA,
	[CALL_Alltoallw] = DATA,
	[CALL_Reduce_scatter] = DATA,
	[CALL_Reduce_scatter_block] = DATA,
	[CALL_Scan] = DATA,
	[CALL_Exscan] = DATA,
	[CALL_Ibarrier] = DATA,
	[CALL_Ibcast] = DATA,
	[CALL_Igather] = DATA,
	[CALL_Igatherv] = DATA,
	[CALL_Iscatter] = DATA,
	[CALL_Iscatterv] = DATA,
	[CALL_Ireduce] = DATA,
	[CALL_Iallreduce] = DATA,
	[CALL_Iallgather] = DATA,
	[CALL_Iallgatherv] = DATA,
	[CALL_Ialltoall] = DATA,
	[CALL_Ialltoallv] = DATA,
	[CALL_Ialltoallw] = DATA,
	[CALL_Ireduce_scatter] = DATA,
	[CALL_Ireduce_scatter_block] = DATA,
	[CALL_Iscan] = DATA,
	[CALL_Iexscan] = DATA,
	[CALL_Neighbor_allgather] = DATA,
	[CALL_Neighbor_allgatherv] = DATA,
	[CALL_Neighbor_alltoall] = DATA,
	[CALL_Neighbor_alltoallv] = DATA,
	[CALL_Neighbor_alltoallw] = DATA,
	[CALL_Finalize] = OTHER,
	[CALL_Comm_create] = OTHER,
	[CALL_Comm_create_group] = OTHER,
	[CALL_Comm_disconnect] = OTHER,
	[CALL_Comm_dup] = OTHER,
	[CALL_Comm_dup_with_info] = OTHER,
	[CALL_Comm_free] = OTHER,
	[CALL_Comm_split] = OTHER,
	[CALL_Comm_split_type] = OTHER,
	[CALL_Cart_create] = OTHER,
	[CALL_Cart_sub] = OTHER,
	[CALL_Graph_create] = OTHER,
	[CALL_Dist_graph_create] = OTHER,
	[CALL_Dist_graph_create_adjacent] = OTHER,
	[CALL_Intercomm_create] = OTHER,
	[CALL_Intercomm_merge] = OTHER,
	[CALL_Win_create] = OTHER,
	[CALL_Win_allocate] = OTHER,
	[CALL_Win_allocate_shared] = OTHER,
	[CALL_Win_create_dynamic] = OTHER,
	[CALL_Win_free] = OTHER,
	[CALL_Win_fence] = OTHER,
	[CALL_File_open] = OTHER,
	[CALL_File_close] = OTHER,
	[CALL_File_set_size] = OTHER,
	[CALL_File_set_view] = OTHER,
	[CALL_File_sync] = OTHER,
	[CALL_File_read_all] = OTHER,
	[CALL_File_read_at_all] = OTHER,
	[CALL_File_write_all] = OTHER,
	[CALL_File_write_at_all] = OTHER,
};

const char *account_call_name(uint32_t number)
{
	return names[number < N_CALLS ? number : CALL_0];
}

uint32_t account_call_number(const char *name)
{
	uint32_t i = N_CALLS - 1;

	while (i > 0 && strcmp(names[i], name) != 0)
		i--;
	return i;
}

bool account_is_collective(uint32_t number)
{
	return number < N_CALLS && collective[number];
}

bool account_has_peer(uint32_t number)
{
#define NAME(name, fortran, how, rank, tag) rank,
	static const int8_t at[] = {
		-1,
#include "inside/names.h"
	};
#undef NAME

	return number < N_CALLS && at[number] >= 0;
}

bool account_is_test(uint32_t number)
{
#define NAME(name, fortran, how, rank, tag) HOW_##how,
	enum { HOW_OTHER, HOW_BLOCKS, HOW_TESTS };
	static const uint8_t how[] = {
		HOW_OTHER,
#include "inside/names.h"
	};
#undef NAME

	return number < N_CALLS && how[number] == HOW_TESTS;
}

uint64_t account_collectives(const struct account *a)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < a->n_calls; i++)
		if (a->call[i].number < N_CALLS &&
			collective[a->call[i].number] == DATA)
			n += a->call[i].times;
	return n;
}

/* --- life --- */

void account_begin(struct account *a, uint32_t n_ranks, sim_time now)
{
	*a = (struct account){
		.n_ranks = n_ranks,
		.began = now,
		.until = now,
	};
}

void account_free(struct account *a)
{
	mem_free(a->pair);
	mem_free(a->call);
	*a = (struct account){ 0 };
}

/* --- lists in the order of a number --- */

/* Where the entry of a call is, or belongs. */
static uint32_t find_call(const struct account *a, uint32_t number)
{
	uint32_t i = 0;

	while (i < a->n_calls && a->call[i].number < number)
		i++;
	return i;
}

static struct account_call *call_of(struct account *a, uint32_t number)
{
	uint32_t i = find_call(a, number);

	if (i < a->n_calls && a->call[i].number == number)
		return &a->call[i];
	a->call = mem_more(a->call, a->n_calls, sizeof(*a->call));
	memmove(&a->call[i + 1], &a->call[i],
		(a->n_calls++ - i) * sizeof(*a->call));
	a->call[i] = (struct account_call){ .number = number };
	return &a->call[i];
}

struct account_call account_call(const struct account *a, uint32_t number)
{
	uint32_t i = find_call(a, number);

	if (i < a->n_calls && a->call[i].number == number)
		return a->call[i];
	return (struct account_call){ .number = number };
}

void account_count(struct account *a, uint32_t number, uint64_t times)
{
	if (times)
		call_of(a, number)->times = times;
}

/* The same of another rank, of which there may be many. */
static uint32_t find_pair(const struct account *a, uint32_t rank)
{
	uint32_t from = 0, to = a->n_pairs;

	while (from < to) {
		uint32_t middle = (from + to) / 2;

		if (a->pair[middle].rank < rank)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static struct account_pair *pair_of(struct account *a, uint32_t rank)
{
	uint32_t i = find_pair(a, rank);

	if (rank >= a->n_ranks)
		return NULL;
	if (i < a->n_pairs && a->pair[i].rank == rank)
		return &a->pair[i];
	a->pair = mem_more(a->pair, a->n_pairs, sizeof(*a->pair));
	memmove(&a->pair[i + 1], &a->pair[i],
		(a->n_pairs++ - i) * sizeof(*a->pair));
	a->pair[i] = (struct account_pair){ .rank = rank };
	return &a->pair[i];
}

struct account_pair account_pair(const struct account *a, uint32_t rank)
{
	uint32_t i = find_pair(a, rank);

	if (i < a->n_pairs && a->pair[i].rank == rank)
		return a->pair[i];
	return (struct account_pair){ .rank = rank };
}

/* --- charges --- */

void account_until(
	struct account *a, enum account_kind k, uint32_t call, sim_time now)
{
	sim_time spent = now - a->until;

	BUG_IF(spent < 0);
	a->spent[k] += spent;
	a->until = now;
	if (k != ACCOUNT_COMPUTING)
		call_of(a, call < N_CALLS ? call : CALL_0)->spent += spent;
}

void account_wait(struct account *a, uint32_t rank, uint32_t call, sim_time now)
{
	struct account_pair *p = pair_of(a, rank);

	*(p ? &p->waited : &a->nobody) += now - a->until;
	account_until(a, ACCOUNT_MESSAGES, call, now);
}

/* --- operations --- */

static void count_sent(struct account *a, const struct channel_command *c)
{
	struct account_pair *p = pair_of(a, c->rank);

	if (!p)
		return;
	p->messages++;
	p->bytes += c->bytes;
	a->bytes += c->bytes;
}

/* Groups of ranks are made together, but exchange nothing. */
static bool exchanges(uint16_t kind)
{
	return channel_is_collective(kind) && kind <= CHANNEL_REDUCE;
}

void account_command(
	struct account *a, const struct channel_command *c, uint64_t eager)
{
	/* parts of other commands, or hints */
	a->operations += c->kind != CHANNEL_MORE &&
			 c->kind != CHANNEL_VECTOR_OF &&
			 c->kind != CHANNEL_UNPOLLED;
	if (c->kind == CHANNEL_SEND || c->kind == CHANNEL_WRITE)
		count_sent(a, c);
	a->n_short += c->kind == CHANNEL_SEND && c->bytes <= eager;
	a->n_long += c->kind == CHANNEL_SEND && c->bytes > eager;
	a->n_writes += c->kind == CHANNEL_WRITE;
	a->n_reads += c->kind == CHANNEL_READ;
	a->n_atomics += c->kind == CHANNEL_ATOMIC;
	/* unless it is refused */
	a->n_network += exchanges(c->kind);
}

void account_completion(struct account *a, const struct channel_completion *c)
{
	a->n_network -= exchanges(c->kind) && c->error == ENOTSUP;
}

/* --- the sum --- */

bool account_is_exact(const struct account *a, sim_time end)
{
	sim_time sum = 0, waited = a->nobody;

	for (uint32_t k = 0; k < N_ACCOUNTS; k++)
		sum += a->spent[k];
	for (uint32_t i = 0; i < a->n_pairs; i++)
		waited += a->pair[i].waited;
	return sum == end - a->began && waited == a->spent[ACCOUNT_MESSAGES];
}
