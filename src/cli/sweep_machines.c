/* Machines of a sweep: each is loaded once, and points have copies of it. */
#include "cli/sweep.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

struct sweep_machine {
	char *source; /* all that it is made of */
	struct machine *machine;
};

static char *describe(const struct machine_source *s)
{
	const char *shape = s->shape ? s->shape : "";
	size_t room = strlen(s->name) + strlen(shape) + 3, n;
	char *text;

	for (size_t i = 0; i < s->n_sets; i++)
		room += strlen(s->sets[i]) + 1;
	text = mem_alloc(room, 1);
	n = (size_t)snprintf(text, room, "%s\n%s\n", s->name, shape);
	for (size_t i = 0; i < s->n_sets; i++)
		n += (size_t)snprintf(text + n, room - n, "%s\n", s->sets[i]);
	return text;
}

static struct machine *find(const struct sweep *w, const char *source)
{
	for (size_t i = 0; i < w->n_machines; i++)
		if (strcmp(w->machine[i].source, source) == 0)
			return w->machine[i].machine;
	return NULL;
}

struct machine *sweep_find_machine(
	const struct sweep *w, const struct machine_source *s)
{
	char *source = describe(s);
	struct machine *m = find(w, source);

	mem_free(source);
	return m;
}

static void keep(struct sweep *w, char *source, struct machine *m)
{
	w->machine = mem_more(w->machine, w->n_machines, sizeof(*w->machine));
	w->machine[w->n_machines++] = (struct sweep_machine){ source, m };
}

struct machine *sweep_load_machine(
	struct sweep *w, const struct machine_source *s)
{
	struct machine *m = sweep_find_machine(w, s);
	struct err none = { 0 };

	if (!m && (m = machine_load_from(s, &none)))
		keep(w, describe(s), m);
	return m;
}

void sweep_free_machines(struct sweep *w)
{
	for (size_t i = 0; i < w->n_machines; i++) {
		mem_free(w->machine[i].source);
		machine_free(w->machine[i].machine);
	}
	mem_free(w->machine);
}
