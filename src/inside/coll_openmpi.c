/*
 * mca_coll_weft.so: a component of Open MPI that leaves barriers, broadcasts
 * and reductions to the machine's network where it can do them.
 *
 * A communicator gets it whose members are all ranks, in their order.  All
 * members must come to the same decision, so it depends only on what all of
 * them know alike: the network's answer for a kind, a type, an operation and a
 * length. What the network cannot do goes to the component that was there
 * before.
 *
 * While a rank waits, Open MPI goes on with all else that it has to do.
 */
#include <ompi_config.h>

#include <mpi.h>
#include <ompi/communicator/communicator.h>
#include <ompi/mca/coll/coll.h>
#include <opal/runtime/opal_progress.h>

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/fi_atomic.h>
#include <rdma/fi_domain.h>

#include "inside/link.h"

/* Above tuned (30), which does all of it by messages. */
enum { PRIORITY = 70 };

struct coll_module {
	mca_coll_base_module_t super;
	mca_coll_base_comm_coll_t before; /* functions and their modules */
};

OBJ_CLASS_DECLARATION(coll_module);
typedef struct coll_module coll_module;
OBJ_CLASS_INSTANCE(coll_module, mca_coll_base_module_t, NULL, NULL);

static struct coll_module *of(mca_coll_base_module_t *module)
{
	return (struct coll_module *)module;
}

/* --- commands --- */

static bool has(enum channel_kind kind)
{
	const struct channel *c = weft_link_open();

	return c && c->collectives & 1u << kind;
}

/* 0, ENOTSUP if the network cannot do it, or what else went wrong. */
static int run(struct channel_command *c, const void *bytes)
{
	struct link_collective wait = { .is_done = false };
	int error;

	c->context = (uintptr_t)&wait;
	weft_link_lock();
	error = weft_link_post(c, 1, bytes);
	weft_link_unlock();
	while (!error && !wait.is_done)
		opal_progress();
	return error ? error : wait.error;
}

static int code_of(int error)
{
	return error ? OMPI_ERROR : OMPI_SUCCESS;
}

/* --- types and operations, as libfabric has them --- */

struct number {
	const void *handle;
	unsigned number;
};

static int find(const struct number *list, size_t n, const void *handle)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].handle == handle)
			return (int)list[i].number;
	return -1;
}

static int type_of(MPI_Datatype type)
{
	const struct number types[] = {
		{ MPI_INT, FI_INT32 },
		{ MPI_INT32_T, FI_INT32 },
		{ MPI_INTEGER, FI_INT32 },
		{ MPI_INTEGER4, FI_INT32 },
		{ MPI_UNSIGNED, FI_UINT32 },
		{ MPI_UINT32_T, FI_UINT32 },
		{ MPI_LONG, sizeof(long) == 8 ? FI_INT64 : FI_INT32 },
		{ MPI_LONG_LONG, FI_INT64 },
		{ MPI_INT64_T, FI_INT64 },
		{ MPI_INTEGER8, FI_INT64 },
		{ MPI_UNSIGNED_LONG,
			sizeof(long) == 8 ? FI_UINT64 : FI_UINT32 },
		{ MPI_UNSIGNED_LONG_LONG, FI_UINT64 },
		{ MPI_UINT64_T, FI_UINT64 },
		{ MPI_FLOAT, FI_FLOAT },
		{ MPI_REAL, FI_FLOAT },
		{ MPI_DOUBLE, FI_DOUBLE },
		{ MPI_DOUBLE_PRECISION, FI_DOUBLE },
	};

	return find(types, sizeof(types) / sizeof(types[0]), type);
}

static int op_of(MPI_Op op)
{
	const struct number ops[] = {
		{ MPI_MIN, FI_MIN },
		{ MPI_MAX, FI_MAX },
		{ MPI_SUM, FI_SUM },
		{ MPI_BOR, FI_BOR },
		{ MPI_BAND, FI_BAND },
		{ MPI_BXOR, FI_BXOR },
	};

	return find(ops, sizeof(ops) / sizeof(ops[0]), op);
}

static size_t bytes_of(int n, MPI_Datatype type)
{
	int bytes;

	PMPI_Type_size(type, &bytes);
	return (size_t)n * (size_t)bytes;
}

/* --- barrier --- */

static int barrier(MPI_Comm comm, mca_coll_base_module_t *module)
{
	const mca_coll_base_comm_coll_t *before = &of(module)->before;
	struct channel_command c = { .kind = CHANNEL_BARRIER };
	int error = run(&c, NULL);

	if (error == ENOTSUP)
		return before->coll_barrier(comm, before->coll_barrier_module);
	return code_of(error);
}

/* --- broadcast --- */

/* Members may name the same bytes by different types, so what is decided is
 * decided by their number; they are packed where they do not lie together. */
static int broadcast(void *buf, int n, MPI_Datatype type, int root,
	MPI_Comm comm, mca_coll_base_module_t *module)
{
	const mca_coll_base_comm_coll_t *before = &of(module)->before;
	size_t bytes = bytes_of(n, type);
	char *packed = bytes <= INT_MAX ? malloc(bytes + 1) : NULL;
	bool is_root = ompi_comm_rank(comm) == root;
	struct channel_command c = {
		.kind = CHANNEL_BROADCAST,
		.rank = (uint32_t)root,
		.at = (uintptr_t)packed,
		.bytes = bytes,
	};
	int at = 0, error = ENOMEM;

	if (packed && is_root)
		PMPI_Pack(buf, n, type, packed, (int)bytes, &at, comm);
	if (packed)
		error = run(&c, NULL);
	at = 0;
	if (!error && !is_root)
		PMPI_Unpack(packed, (int)bytes, &at, buf, n, type, comm);
	free(packed);
	if (error == ENOTSUP)
		return before->coll_bcast(
			buf, n, type, root, comm, before->coll_bcast_module);
	return code_of(error);
}

/* --- reductions --- */

/* To one rank, or with CHANNEL_ANY to all. */
static int reduce_to(uint32_t root, const void *from, void *to, int n,
	MPI_Datatype type, MPI_Op op)
{
	int t = type_of(type), o = op_of(op);
	size_t bytes = bytes_of(n, type);
	struct channel_command c = {
		.kind = CHANNEL_REDUCE,
		.op = (uint16_t)(t << 8 | o),
		.rank = root,
		.at = (uintptr_t)from,
		.bytes = bytes,
		.tag = (uintptr_t)to,
	};

	if (t < 0 || o < 0)
		return ENOTSUP;
	return run(&c, bytes > 0 && bytes <= CHANNEL_SHORT ? from : NULL);
}

static int all_reduce(const void *from, void *to, int n, MPI_Datatype type,
	MPI_Op op, MPI_Comm comm, mca_coll_base_module_t *module)
{
	const mca_coll_base_comm_coll_t *before = &of(module)->before;
	int error = reduce_to(
		CHANNEL_ANY, from == MPI_IN_PLACE ? to : from, to, n, type, op);

	if (error == ENOTSUP)
		return before->coll_allreduce(from, to, n, type, op, comm,
			before->coll_allreduce_module);
	return code_of(error);
}

static int reduce(const void *from, void *to, int n, MPI_Datatype type,
	MPI_Op op, int root, MPI_Comm comm, mca_coll_base_module_t *module)
{
	const mca_coll_base_comm_coll_t *before = &of(module)->before;
	int error = reduce_to((uint32_t)root, from == MPI_IN_PLACE ? to : from,
		ompi_comm_rank(comm) == root ? to : NULL, n, type, op);

	if (error == ENOTSUP)
		return before->coll_reduce(from, to, n, type, op, root, comm,
			before->coll_reduce_module);
	return code_of(error);
}

/* --- life --- */

#define KEEP(what)                                                             \
	do {                                                                   \
		m->before.coll_##what = comm->c_coll->coll_##what;             \
		m->before.coll_##what##_module =                               \
			comm->c_coll->coll_##what##_module;                    \
		if (!m->before.coll_##what)                                    \
			return OMPI_ERR_NOT_FOUND;                             \
		OBJ_RETAIN(m->before.coll_##what##_module);                    \
	} while (0)

static int enable(mca_coll_base_module_t *module, MPI_Comm comm)
{
	struct coll_module *m = of(module);

	KEEP(barrier);
	KEEP(bcast);
	KEEP(reduce);
	KEEP(allreduce);
	return OMPI_SUCCESS;
}

static void release(mca_coll_base_module_t **module)
{
	mca_coll_base_module_t *m = *module;

	*module = NULL;
	if (m)
		OBJ_RELEASE(m);
}

/* Called once for each function that is taken back. */
static int disable(mca_coll_base_module_t *module, MPI_Comm comm)
{
	mca_coll_base_comm_coll_t *before = &of(module)->before;

	(void)comm;
	release(&before->coll_barrier_module);
	release(&before->coll_bcast_module);
	release(&before->coll_reduce_module);
	release(&before->coll_allreduce_module);
	return OMPI_SUCCESS;
}

/* Threads could call for two communicators at once, in different orders. */
static bool is_world(MPI_Comm comm)
{
	int answer = MPI_UNEQUAL, level = MPI_THREAD_SINGLE;

	if (OMPI_COMM_IS_INTER(comm) || ompi_comm_size(comm) < 2 ||
		ompi_comm_size(comm) != ompi_comm_size(MPI_COMM_WORLD))
		return false;
	if (comm == MPI_COMM_WORLD)
		return true;
	PMPI_Query_thread(&level);
	ompi_comm_compare(comm, MPI_COMM_WORLD, &answer);
	return level < MPI_THREAD_MULTIPLE && answer == MPI_CONGRUENT;
}

static mca_coll_base_module_t *query(MPI_Comm comm, int *priority)
{
	struct coll_module *m;

	if (!is_world(comm) || !weft_link_open() ||
		!weft_link_open()->collectives)
		return NULL;
	m = OBJ_NEW(coll_module);
	if (!m)
		return NULL;
	*priority = PRIORITY;
	m->super.coll_module_enable = enable;
	m->super.coll_module_disable = disable;
	if (has(CHANNEL_BARRIER))
		m->super.coll_barrier = barrier;
	if (has(CHANNEL_BROADCAST))
		m->super.coll_bcast = broadcast;
	if (has(CHANNEL_REDUCE)) {
		m->super.coll_allreduce = all_reduce;
		m->super.coll_reduce = reduce;
	}
	return &m->super;
}

static int init(bool has_progress_threads, bool has_mpi_threads)
{
	(void)has_progress_threads, (void)has_mpi_threads;
	return OMPI_SUCCESS;
}

INSIDE_EXPORT mca_coll_base_component_2_0_0_t mca_coll_weft_component = {
	.collm_version = {
		MCA_COLL_BASE_VERSION_2_0_0,
		.mca_component_name = "weft",
		MCA_BASE_MAKE_VERSION(component, OMPI_MAJOR_VERSION,
			OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION),
	},
	.collm_data.param_field = MCA_BASE_METADATA_PARAM_CHECKPOINT,
	.collm_init_query = init,
	.collm_comm_query = query,
};
