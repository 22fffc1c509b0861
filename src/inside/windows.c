/*
 * Windows of memory, as Open MPI 4.1 makes them, with two exceptions.
 *
 * It would keep the state of a window, and memory that MPI_Win_allocate() gets,
 * in a file that all ranks of a node map: a rank would change what another one
 * waits for without the network, and without a time.  So where it asks for the
 * ranks of the node, to make a window for them, it gets each rank for itself.
 *
 * Of a window to which memory is attached later, it locks the list of memory
 * twice before it reads that, and waits for itself for ever.  So such windows
 * go by messages, its component pt2pt.  That has precedence over rdma where the
 * messages' component is in a list (inside/environ.c): for all other windows
 * that component is hidden while the choice is made.
 *
 * While Open MPI waits, it polls the state of its windows, which other ranks
 * write, and never their contents.  The simulator gets the addresses of the
 * contents, so puts do not wake a rank that waits for a fence.
 */
#include "inside/rank.h"

#include <stdlib.h>

enum { DYNAMIC = 3, SHARED = 4 }; /* MPI_WIN_FLAVOR_ */

typedef int rank_call(void *comm, int *rank);
typedef int split_call(void *comm, int color, int key, void **made);
typedef int split_type_call(
	void *comm, int type, int key, void *info, void **made);
typedef int select_call(void *win, void **base, size_t bytes, int unit,
	void *comm, void *info, int flavor, int *model);

static int split_each(void *comm, int key, void **made)
{
	rank_call *rank_of;
	split_call *split;
	int rank, code;

	call_next_of_mpi(&rank_of, "MPI_Comm_rank");
	call_next_of_mpi(&split, "MPI_Comm_split");
	code = rank_of(comm, &rank);
	return code ? code : split(comm, rank, key, made);
}

/* The same for all ranks. */
static bool has_neighbours(void)
{
	const struct channel *c = weft_link_open();

	return c && c->n_processes > 1;
}

/* Open MPI's own, behind MPI_Comm_split_type(). */
INSIDE_EXPORT split_type_call ompi_comm_split_type;
int ompi_comm_split_type(void *comm, int type, int key, void *info, void **made)
{
	split_type_call *next;

	if (call_mine()->makes_window && has_neighbours())
		return split_each(comm, key, made);
	call_next_of_mpi(&next, "ompi_comm_split_type");
	return next(comm, type, key, info, made);
}

/* --- memory of windows --- */

typedef int free_call(void *win);

struct window {
	struct window *next;
	const void *win;
	uint64_t at, bytes;
};

static struct window *windows;

static void tell(const struct window *w, uint16_t flags)
{
	const struct channel_command c = { .kind = CHANNEL_UNPOLLED,
		.flags = flags,
		.at = w->at,
		.bytes = w->bytes };

	weft_link_post(&c, 1, NULL);
}

static void add(const void *win, const void *base, size_t bytes)
{
	struct window *w = malloc(sizeof(*w));

	if (!w)
		return;
	*w = (struct window){ windows, win, (uintptr_t)base, bytes };
	weft_link_lock();
	windows = w;
	tell(w, 0);
	weft_link_unlock();
}

static void forget(const void *win)
{
	struct window **at = &windows, *w;

	weft_link_lock();
	while (*at && (*at)->win != win)
		at = &(*at)->next;
	w = *at;
	if (w) {
		*at = w->next;
		tell(w, CHANNEL_RELEASED);
	}
	weft_link_unlock();
	free(w);
}

/* Open MPI's own function for MPI_Win_free(). */
INSIDE_EXPORT free_call ompi_win_free;
int ompi_win_free(void *win)
{
	free_call *next;

	forget(win);
	call_next_of_mpi(&next, "ompi_win_free");
	return next(win);
}

/* --- how they are made --- */

/* Open MPI's own, behind MPI_Win_create(), PMPI_Win_create() and all others
 * like them. */
INSIDE_EXPORT select_call ompi_osc_base_select;
int ompi_osc_base_select(void *win, void **base, size_t bytes, int unit,
	void *comm, void *info, int flavor, int *model)
{
	void **of_messages =
		call_find_in_mpi("ompi_mtl_base_selected_component");
	void *was = of_messages ? *of_messages : NULL;
	select_call *next;
	int code;

	call_next_of_mpi(&next, "ompi_osc_base_select");
	if (of_messages && flavor != DYNAMIC)
		*of_messages = NULL;
	call_mine()->makes_window = flavor != SHARED;
	code = next(win, base, bytes, unit, comm, info, flavor, model);
	call_mine()->makes_window = false;
	if (of_messages)
		*of_messages = was;
	if (!code && bytes && base && *base && flavor < DYNAMIC)
		add(win, *base, bytes);
	return code;
}
