/*
 * mca_coll_weft.so: a component of Open MPI that leaves barriers, broadcasts
 * and reductions to the machine's network where it can do them.
 *
 * With its first collective a communicator asks the network for a group of its
 * members.  All of them must come to the same decision, so it depends only on
 * what they know alike: the network's answer for the group, and for a kind, a
 * type, an operation and a length.  What the network cannot do goes to the
 * component that was there before.
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

/* Most elements of 8 or 16 bits that the network reduces.  Its words of 64 bits
 * are four or eight times as many bytes, so messages are faster for more. */
enum { MOST_NARROW = 512 };

enum group_state { GROUP_UNKNOWN, GROUP_OPEN, GROUP_NONE };

struct coll_module {
	mca_coll_base_module_t super;
	mca_coll_base_comm_coll_t before; /* functions and their modules */
	enum group_state state;
	uint64_t group; /* its number */
	uint32_t *rank; /* [members] among all ranks */
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
static int run(struct channel_command *c, const void *bytes, uint64_t *data)
{
	struct link_collective wait = { .is_done = false };
	int error;

	c->context = (uintptr_t)&wait;
	weft_link_lock();
	error = weft_link_post(c, 1, bytes);
	weft_link_unlock();
	while (!error && !wait.is_done)
		opal_progress();
	*data = wait.data;
	return error ? error : wait.error;
}

static const void *if_short(const void *from, uint64_t bytes)
{
	return bytes > 0 && bytes <= CHANNEL_SHORT ? from : NULL;
}

/* --- groups --- */

/* By their names: MPI_Group_translate_ranks() takes a time that grows with the
 * square of their number, 0.1 s for 1,024. */
static bool list_members(struct coll_module *m, MPI_Comm comm)
{
	int n = ompi_comm_size(comm);

	m->rank = malloc((size_t)n * sizeof(*m->rank));
	for (int i = 0; m->rank && i < n; i++)
		m->rank[i] =
			ompi_group_get_proc_name(comm->c_local_group, i).vpid;
	return m->rank;
}

static void open_group(struct coll_module *m, MPI_Comm comm)
{
	struct channel_command c = {
		.kind = CHANNEL_GROUP,
		.bytes = (uint64_t)ompi_comm_size(comm) * sizeof(*m->rank),
	};

	m->state = GROUP_NONE;
	if (!list_members(m, comm))
		return;
	c.at = (uintptr_t)m->rank;
	if (!run(&c, if_short(m->rank, c.bytes), &m->group))
		m->state = GROUP_OPEN;
}

/* In a member's group; ENOTSUP where there is none. */
static int run_in_group(struct coll_module *m, MPI_Comm comm,
	struct channel_command *c, const void *bytes)
{
	uint64_t unused;

	if (!has(c->kind))
		return ENOTSUP;
	if (m->state == GROUP_UNKNOWN)
		open_group(m, comm);
	if (m->state == GROUP_NONE)
		return ENOTSUP;
	c->data = m->group;
	if (c->kind != CHANNEL_BARRIER && c->rank != CHANNEL_ANY)
		c->rank = m->rank[c->rank];
	return run(c, bytes, &unused);
}

static void close_group(struct coll_module *m)
{
	struct channel_command c = { .kind = CHANNEL_UNGROUP,
		.data = m->group };
	uint64_t unused;

	if (m->state == GROUP_OPEN)
		run(&c, NULL, &unused);
	m->state = GROUP_NONE;
	free(m->rank);
	m->rank = NULL;
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
		{ MPI_CHAR, FI_INT8 },
		{ MPI_SIGNED_CHAR, FI_INT8 },
		{ MPI_INT8_T, FI_INT8 },
		{ MPI_INTEGER1, FI_INT8 },
		{ MPI_UNSIGNED_CHAR, FI_UINT8 },
		{ MPI_UINT8_T, FI_UINT8 },
		{ MPI_BYTE, FI_UINT8 },
		{ MPI_C_BOOL, FI_UINT8 },
		{ MPI_CXX_BOOL, FI_UINT8 },
		{ MPI_SHORT, FI_INT16 },
		{ MPI_INT16_T, FI_INT16 },
		{ MPI_INTEGER2, FI_INT16 },
		{ MPI_UNSIGNED_SHORT, FI_UINT16 },
		{ MPI_UINT16_T, FI_UINT16 },
		{ MPI_LOGICAL, FI_INT32 },
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
		{ MPI_AINT, FI_INT64 },
		{ MPI_OFFSET, FI_INT64 },
		{ MPI_COUNT, FI_INT64 },
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
		{ MPI_LOR, FI_LOR },
		{ MPI_LAND, FI_LAND },
		{ MPI_LXOR, FI_LXOR },
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
	int error = run_in_group(of(module), comm, &c, NULL);

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
	int at = 0, error = bytes <= INT_MAX ? ENOMEM : ENOTSUP;

	if (packed && is_root)
		PMPI_Pack(buf, n, type, packed, (int)bytes, &at, comm);
	if (packed)
		error = run_in_group(of(module), comm, &c, NULL);
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

/* To one member, or with CHANNEL_ANY to all. */
static int reduce_to(struct coll_module *m, MPI_Comm comm, uint32_t root,
	const void *from, void *to, int n, MPI_Datatype type, MPI_Op op)
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

	if (t < 0 || o < 0 || (t <= FI_UINT16 && n > MOST_NARROW))
		return ENOTSUP;
	return run_in_group(m, comm, &c, if_short(from, bytes));
}

static int all_reduce(const void *from, void *to, int n, MPI_Datatype type,
	MPI_Op op, MPI_Comm comm, mca_coll_base_module_t *module)
{
	const mca_coll_base_comm_coll_t *before = &of(module)->before;
	int error = reduce_to(of(module), comm, CHANNEL_ANY,
		from == MPI_IN_PLACE ? to : from, to, n, type, op);

	if (error == ENOTSUP)
		return before->coll_allreduce(from, to, n, type, op, comm,
			before->coll_allreduce_module);
	return code_of(error);
}

static int reduce(const void *from, void *to, int n, MPI_Datatype type,
	MPI_Op op, int root, MPI_Comm comm, mca_coll_base_module_t *module)
{
	const mca_coll_base_comm_coll_t *before = &of(module)->before;
	int error = reduce_to(of(module), comm, (uint32_t)root,
		from == MPI_IN_PLACE ? to : from,
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
	close_group(of(module));
	release(&before->coll_barrier_module);
	release(&before->coll_bcast_module);
	release(&before->coll_reduce_module);
	release(&before->coll_allreduce_module);
	return OMPI_SUCCESS;
}

static mca_coll_base_module_t *query(MPI_Comm comm, int *priority)
{
	struct coll_module *m;

	if (OMPI_COMM_IS_INTER(comm) || ompi_comm_size(comm) < 2 ||
		!weft_link_open() || !weft_link_open()->collectives)
		return NULL;
	m = OBJ_NEW(coll_module);
	if (!m)
		return NULL;
	*priority = PRIORITY;
	m->state = GROUP_UNKNOWN;
	m->rank = NULL;
	m->super.coll_module_enable = enable;
	m->super.coll_module_disable = disable;
	m->super.coll_barrier = barrier;
	m->super.coll_bcast = broadcast;
	m->super.coll_allreduce = all_reduce;
	m->super.coll_reduce = reduce;
	return &m->super;
}

static int init(bool has_progress_threads, bool has_mpi_threads)
{
	(void)has_progress_threads;
	if (has_mpi_threads)
		weft_link_has_threads();
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
