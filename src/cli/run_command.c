#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "cli/run.h"

static void add_word(struct stream *o, const char *option, const char *value)
{
	bool is_plain = strcspn(value, " \t\n'\"$\\*?&;|<>()") == strlen(value);

	fprintf(o->file, "%s%s%s%s%s", *option ? " " : "", option,
		is_plain ? " " : " '", value, is_plain ? "" : "'");
}

/* Words, and what is said of the machine. */
static void add_machine(struct stream *o, const struct cli_args *a)
{
	for (size_t i = 0; i < a->n_words; i++)
		add_word(o, "", a->word[i]);
	for (size_t i = 0; i < a->n_sets; i++)
		add_word(o, "--set", a->set[i]);
	if (a->shape)
		add_word(o, "--shape", a->shape);
	if (a->faults)
		add_word(o, "--faults", a->faults);
	if (a->tables)
		add_word(o, "--tables", a->tables);
	if (a->jobs)
		add_word(o, "--jobs", a->jobs);
	for (size_t i = 0; i < a->n_plugins; i++)
		add_word(o, "--plugin", a->plugin[i]);
}

/* A program of the host. */
static void add_rest(struct stream *o, const struct cli_args *a)
{
	if (a->folder)
		add_word(o, "--wdir", a->folder);
	for (size_t i = 0; i < a->n_variables; i++)
		add_word(o, "-x", a->variable[i]);
	for (size_t i = 0; a->rest && a->rest[i]; i++)
		add_word(o, i ? "" : "--", a->rest[i]);
}

char *run_sweep_command(const struct cli_args *a)
{
	struct stream o;

	stream_open(&o);
	fputs("weft sweep", o.file);
	add_machine(&o, a);
	if (a->bill)
		add_word(&o, "--bill", a->bill);
	if (a->is_past)
		fputs(" --past-saturation", o.file);
	add_rest(&o, a);
	if (fclose(o.file))
		mem_give_up();
	return o.text;
}

char *run_command(const struct cli_args *a, const struct machine_run_setup *s)
{
	struct stream o;
	char text[48];

	stream_open(&o);
	fputs(s->program ? s->program : "weft run", o.file);
	add_machine(&o, a);
	if (a->energy)
		add_word(&o, "--energy", a->energy);
	if (a->until) {
		units_format(UNIT_TIME, a->until, text, sizeof(text));
		add_word(&o, "--until", text);
	}
	snprintf(text, sizeof(text), "%" PRIu64, a->seed);
	add_word(&o, "--seed", text);
	for (size_t i = 0; s->program && s->arguments && s->arguments[i]; i++)
		add_word(&o, i ? "" : "--", s->arguments[i]);
	if (!s->program)
		add_rest(&o, a);
	if (fclose(o.file))
		mem_give_up();
	return o.text;
}
