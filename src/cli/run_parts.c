#include "cli/run.h"
#include "out/facts_json.h"
#include "out/facts_text.h"

static void find(const struct machine_run *r, struct facts *f)
{
	facts_init(f);
	parts_facts(&r->system->place, r->result.end, f);
}

void run_parts_text(FILE *f, const struct machine_run *r)
{
	struct facts x;

	find(r, &x);
	facts_text_write(f, &x.root, 0, false);
	facts_fini(&x);
}

void run_parts_json(struct json *j, const struct machine_run *r)
{
	struct facts x;

	find(r, &x);
	facts_json_all(j, &x.root);
	facts_fini(&x);
}
