#include "cli/cli.h"

#include <inttypes.h>

#include "machine/system.h"
#include "out/json.h"
#include "net/proof.h"

static void json_step(
	struct json *j, const struct machine *m, const struct proof_step *s)
{
	char text[256];
	uint32_t i;

	json_object(j, NULL);
	snprintf(text, sizeof(text), "%c", s->letter);
	json_text(j, "step", text);
	json_text(j, "what", s->what);
	json_flag(j, "holds", s->holds);
	json_text(j, "why", s->why);
	json_array(j, "cycle");
	for (i = 0; i < s->n_cycle; i++) {
		proof_name(m->topo, m->route, &s->cycle[i], text, sizeof(text));
		json_text(j, NULL, text);
	}
	json_end(j, ']');
	json_end(j, '}');
}

static void print_json(const struct machine *m, const struct proof *p, FILE *f)
{
	char shape[PARAM_TEXT_MAX];
	struct json j;
	uint32_t i;

	machine_shape(m, shape, sizeof(shape));
	json_init(&j, f);
	json_object(&j, NULL);
	json_text(&j, "weft", WEFT_VERSION);
	json_text(&j, "machine", m->header.name);
	json_text(&j, "shape", shape);
	json_count(&j, "nodes", m->topo->n_nodes);
	json_flag(&j, "proved", p->is_proved);
	if (p->n_routes) {
		json_count(&j, "routes", p->n_routes);
		json_count(&j, "channels", p->n_channels);
	} else {
		json_count(&j, "rings", p->n_rings);
		json_count(&j, "hint_sets", p->n_hint_sets);
	}
	json_count(&j, "turns", p->n_turns);
	json_array(&j, "steps");
	for (i = 0; i < p->n_steps; i++)
		json_step(&j, m, &p->step[i]);
	json_end(&j, ']');
	json_end(&j, '}');
}

static void print_step(
	const struct machine *m, const struct proof_step *s, FILE *f)
{
	char text[256];
	uint32_t i;

	fprintf(f, "%c  %s: %s\n   %s\n", s->letter, s->what,
		s->holds ? "yes" : "NO", s->why);
	if (s->n_cycle)
		fputs("   each of these waits for the next, and the last for "
		      "the first:\n",
			f);
	for (i = 0; i < s->n_cycle; i++) {
		proof_name(m->topo, m->route, &s->cycle[i], text, sizeof(text));
		fprintf(f, "     %s\n", text);
	}
}

static void print_text(const struct machine *m, const struct proof *p, FILE *f)
{
	char shape[PARAM_TEXT_MAX];
	uint32_t i;

	machine_shape(m, shape, sizeof(shape));
	fprintf(f, "%s %s, %u node%s: %s\n", m->header.name, shape,
		m->topo->n_nodes, cli_s(m->topo->n_nodes),
		p->is_proved ? "cannot deadlock"
			     : "not proved to be free of deadlock");
	for (i = 0; i < p->n_steps; i++)
		print_step(m, &p->step[i], f);
}

static int check(
	const struct cli_args *a, const struct machine *m, struct err *e)
{
	struct cli_out out;
	struct proof p;
	int code;

	proof_make(&p, m->topo, m->route, m->router.packets);
	cli_out_open(&out);
	if (a->is_json)
		print_json(m, &p, out.file);
	else
		print_text(m, &p, out.file);
	code = p.is_proved ? EXIT_FINISHED : EXIT_ANSWER_NO;
	proof_free(&p);
	return cli_out_close(&out, e) ? -1 : code;
}

int cli_check(int argc, char **argv, struct err *e)
{
	struct machine *m;
	struct cli_args a;
	int code = cli_parse(&a, argc, argv, CLI_MACHINE | CLI_JSON, "MACHINE",
		"Proves that packets on a machine cannot deadlock, or prints "
		"channels that can wait for each other.\vThe exit code is 0 if "
		"freedom from deadlock is proved, and 1 if it is not.",
		e);

	if (code)
		return code < 0 ? -1 : 0;
	if (a.n_words != 1)
		return err_set(e, "want one machine, as in `weft check bgq`");
	m = machine_load(a.word[0], a.set, a.n_sets, a.shape, e);
	if (!m)
		return -1;
	code = system_check(m, e) ? -1 : check(&a, m, e);
	machine_free(m);
	return code;
}
