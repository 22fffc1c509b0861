#include "cli/run_faults.h"

#include <inttypes.h>

static struct fault_counts sum(const struct net *n)
{
	struct fault_counts all = { 0 };
	uint32_t i;

	for (i = 0; i < n->topo->n_wires; i++) {
		struct fault_counts c = faults_total(n->faults, i);

		all.bit_errors += c.bit_errors;
		all.hurt += c.hurt;
		all.lost += c.lost;
	}
	return all;
}

void run_faults_text(FILE *f, const struct machine_run *r)
{
	const struct nic_retries *x = &r->result.retries;
	struct fault_counts c;

	if (!r->net->faults)
		return;
	c = sum(r->net);
	fprintf(f,
		"faults      %" PRIu64 " bits flipped in %" PRIu64
		" packets, %" PRIu64 " packets lost on dead links\n",
		c.bit_errors, c.hurt, c.lost);
	fprintf(f,
		"retries     %" PRIu64 " packets sent again: %" PRIu64
		" were turned away, %" PRIu64 " not answered; %" PRIu64
		" came twice\n",
		x->resent, x->nacks, x->timeouts, x->duplicates);
	if (r->result.dead_programs)
		fprintf(f, "programs    %u died with their nodes\n",
			r->result.dead_programs);
	if (x->escapes)
		fprintf(f,
			"escapes     %" PRIu64
			" packets were wrong, and no code saw it\n",
			x->escapes);
}

static void json_counts(struct json *j, const struct fault_counts *c)
{
	json_count(j, "bit_errors", c->bit_errors);
	json_count(j, "hurt_packets", c->hurt);
	json_count(j, "lost_packets", c->lost);
}

void run_faults_json(struct json *j, const struct machine_run *r)
{
	const struct nic_retries *x = &r->result.retries;
	const struct topo *t = r->net->topo;
	struct fault_counts c;
	uint32_t i;

	if (!r->net->faults)
		return;
	c = sum(r->net);
	json_object(j, "faults");
	json_counts(j, &c);
	json_count(j, "torn", x->torn);
	json_count(j, "unreadable", x->unreadable);
	json_count(j, "escapes", x->escapes);
	json_count(j, "nacks", x->nacks);
	json_count(j, "timeouts", x->timeouts);
	json_count(j, "resent", x->resent);
	json_count(j, "duplicates", x->duplicates);
	json_count(j, "dead_programs", r->result.dead_programs);
	json_array(j, "links");
	for (i = 0; i < t->n_wires; i++) {
		c = faults_total(r->net->faults, i);
		json_object(j, NULL);
		json_text(j, "class", t->wire[i].name);
		json_counts(j, &c);
		json_end(j, '}');
	}
	json_end(j, ']');
	json_end(j, '}');
}
