/* `weft sweep`: the runs (sweep.c) and the report (sweep_tell.c). */
#ifndef CLI_SWEEP_H
#define CLI_SWEEP_H

#include "cli/cli.h"
#include "cli/run.h"
#include "record/curves.h"

enum { SETUP_TEXTS = AXES_MOST };

struct sweep {
	const struct cli_args *args;
	struct axes axes;
	size_t x, seed; /* which axes these are; axes.n: none */
	enum axis_unit unit; /* of x */
	size_t n; /* points */
	struct load_launch launch; /* of a program of the host */
	struct cluster *cluster; /* a job that shares the points; or NULL */
	struct sweep_machine *machine; /* that are loaded */
	size_t n_machines;
	struct db *curves;
	int64_t first_id; /* of the first point in it, if that is new */
	bool *is_there; /* done before, or now */
	bool *is_new; /* ... now */
	size_t *saturated; /* [point without x and seed]: the first value */
	size_t done, failed, skipped;
	bool is_stopped;
	size_t failed_at; /* the first that failed, by its number */
	int code;
	char why[480];
	/* The first warning of each kind, its point, and their number. */
	struct {
		char text[CURVES_NAME + RUN_WARNING + 2];
		size_t n, at;
	} warning[N_RUN_WARNINGS];
	double start;
	bool talks;
	struct err *e;
	/* of the point that is being set up */
	char text[SETUP_TEXTS][256];
	const char *sets[CLI_MAX_SETS];
	size_t n_arguments; /* of a program, before the keys */
	const char *keys[CLI_MAX_WORDS + 1]; /* NULL behind the last */
};

void sweep_name_point(const struct sweep *w, size_t i, struct curves_point *p);
/* Points of one curve have one number. */
size_t sweep_curve_of(const struct sweep *w, size_t i);

/* Whether its curve saturates at a lower value of x. */
bool sweep_is_past(const struct sweep *w, size_t i);

/* A machine that stays the sweep's: one that is loaded, or NULL; and one that
 * is loaded if it can be. */
struct machine *sweep_find_machine(
	const struct sweep *w, const struct machine_source *s);
struct machine *sweep_load_machine(
	struct sweep *w, const struct machine_source *s);
void sweep_free_machines(struct sweep *w);

/* The table or JSON of all points, and files; the exit code, or -1. */
int sweep_tell(struct sweep *w, struct err *e);

#endif
