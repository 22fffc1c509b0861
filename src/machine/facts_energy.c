#include "machine/energy.h"
#include "machine/facts.h"

static void add_row(struct facts *f, const struct energy *x, uint32_t i)
{
	const struct bill_row *row = &x->priced->bill.row[i];

	facts_group(f, NULL);
	facts_text(f, "kind", bill_kinds[row->kind]);
	facts_text(f, "part", row->name);
	facts_count(f, "number", row->number);
	if (row->kind != BILL_CABLE)
		facts_count(f, "ports_used", row->used);
	facts_real(f, "idle_J", x->idle_J[i]);
	facts_real(f, "traffic_J", x->traffic_J[i]);
	facts_end(f);
}

void facts_of_energy(struct facts *f, const struct machine_run *r)
{
	const struct energy *x = r->energy;

	if (!x)
		return;
	facts_place(f, FACTS_AT_ENERGY);
	facts_group(f, "energy");
	facts_text(f, "prices", x->priced->prices.path);
	facts_list(f, "parts");
	for (uint32_t i = 0; i < x->priced->bill.n; i++)
		add_row(f, x, i);
	facts_end(f);
	facts_real(f, "idle_J", energy_idle(x));
	facts_real(f, "traffic_J", energy_traffic(x));
	facts_real(f, "total_J", energy_idle(x) + energy_traffic(x));
	facts_line(f, "energy",
		"{total_J:u}: {idle_J:u} of idle power, {traffic_J:u} for the "
		"bits ({prices})");
	facts_each(f, "parts", 0, "",
		"{number} x {part}[, {ports_used} port{ports_used|s} used]: "
		"{idle_J:u} "
		"idle, {traffic_J:u} for bits");
	facts_end(f);
}
