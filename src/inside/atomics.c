/*
 * Atomics of MPI_Accumulate() and the like, as Open MPI asks its component of
 * libfabric for them.
 *
 * That component knows sums and swaps.  Open MPI 4.1 asks it for minima, maxima
 * and bits, too, and then the component ends the program; and of a derived type
 * Open MPI loses what MPI_Get_accumulate() has fetched.  Where the component
 * says that it cannot do it, Open MPI gets the other's words under a lock, and
 * puts them back.
 */
#include "inside/rank.h"

#include <stddef.h>
#include <string.h>

static const char mpi[] = "libmpi.so.40";

/* Of opal/mca/btl/btl.h and opal/constants.h. */
enum { OP_ADD = 0x1, OP_SWAP = 0x1a, ERR_NOT_SUPPORTED = -8 };

typedef int op_call(void *btl, void *endpoint, uint64_t to, void *handle,
	int op, uint64_t operand, int flags, int order, void *done,
	void *context, void *data);
typedef int fetch_call(void *btl, void *endpoint, void *result, uint64_t to,
	void *own_handle, void *handle, int op, uint64_t operand, int flags,
	int order, void *done, void *context, void *data);

typedef int envelope_call(
	void *type, int *integers, int *addresses, int *types, int *combiner);
typedef void *type_call(int type);

/* --- what cannot be done --- */

/* Into a pointer to a function. */
static bool find(void *function, const char *library, const char *name)
{
	void *found = call_find_in(library, name);

	memcpy(function, &found, sizeof(found));
	return found;
}

static bool is_derived(const struct call *c, int i)
{
	int integers, addresses, types = 0, combiner;
	void *type = (void *)c->words[i];
	envelope_call *look;
	type_call *of_fortran;

	if (c->is_fortran && find(&of_fortran, mpi, "PMPI_Type_f2c"))
		type = of_fortran(*(const int *)c->words[i]);
	if (find(&look, mpi, "PMPI_Type_get_envelope"))
		look(type, &integers, &addresses, &types, &combiner);
	return types > 0;
}

/* Of MPI_Get_accumulate() and MPI_Rget_accumulate(). */
static bool loses_result(void)
{
	enum { ORIGIN = 2, RESULT = 5, TARGET = 9 };
	const struct call *c = call_mine();
	const char *name = call_name(c->what.name);

	return c->how != CALL_NONE && name &&
	       (strcmp(name, "MPI_Get_accumulate") == 0 ||
		       strcmp(name, "MPI_Rget_accumulate") == 0) &&
	       (is_derived(c, ORIGIN) || is_derived(c, RESULT) ||
		       is_derived(c, TARGET));
}

/* Whether the component knows it; its function comes into a pointer to it. */
static bool knows(void *function, const char *name, int op)
{
	return find(function, "mca_btl_ofi.so", name) &&
	       (op == OP_ADD || op == OP_SWAP);
}

/* --- names of Open MPI --- */

INSIDE_EXPORT op_call mca_btl_ofi_aop;
int mca_btl_ofi_aop(void *btl, void *endpoint, uint64_t to, void *handle,
	int op, uint64_t operand, int flags, int order, void *done,
	void *context, void *data)
{
	op_call *next;

	return knows(&next, "mca_btl_ofi_aop", op)
		       ? next(btl, endpoint, to, handle, op, operand, flags,
				 order, done, context, data)
		       : ERR_NOT_SUPPORTED;
}

INSIDE_EXPORT fetch_call mca_btl_ofi_afop;
int mca_btl_ofi_afop(void *btl, void *endpoint, void *result, uint64_t to,
	void *own_handle, void *handle, int op, uint64_t operand, int flags,
	int order, void *done, void *context, void *data)
{
	fetch_call *next;

	return knows(&next, "mca_btl_ofi_afop", op) && !loses_result()
		       ? next(btl, endpoint, result, to, own_handle, handle, op,
				 operand, flags, order, done, context, data)
		       : ERR_NOT_SUPPORTED;
}
