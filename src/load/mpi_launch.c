#include "load/mpi_launch.h"

#include "base/mem.h"
#include "outside/inspect.h"
#include "outside/limits.h"

/* What is certain to go wrong is not begun. */
static int check_programs(const struct load_launch *launch,
	const struct commands *c, const char *stack, struct err *e)
{
	const struct inspect_how how = { .folder = launch->folder,
		.variables = launch->variables,
		.stack = stack };
	struct inspect *x = mem_alloc(1, sizeof(*x));
	int code = 0;

	for (uint32_t i = 0; i < c->n && !code; i++) {
		const char *program = commands_name(c, i);
		const struct inspect_finding *f;

		inspect(x, program, &how);
		f = inspect_worst(x);
		if (f && f->weight >= INSPECT_WRONG)
			code = err_set(e, "%.200s: %.240s", program, f->text);
	}
	mem_free(x);
	return code;
}

int mpi_launch_check(const struct load_launch *how, const struct commands *c,
	const char *stack, uint32_t n_ranks, struct err *e)
{
	if (how->is_debugged && how->debugged >= n_ranks)
		return err_set(e, "--debug: there is no rank %u (want 0 to %u)",
			how->debugged, n_ranks - 1);
	return check_programs(how, c, stack, e) || limits_check(n_ranks, e) ? -1
									    : 0;
}
