// Heat along a rod in C++: each process has a part of its cells in its node's
// memory, works on them in place through a pointer (weft_map), and exchanges
// edges with its neighbours.  ./heat torus --shape 4x4 -- 1000 50
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include <weft/msg.h>
#include <weft/program.h>
#include <weft/run.h>

namespace
{
constexpr uint64_t EVEN = 0x10000; // where cells are: two edges around them

struct rank {
	double heat;
	weft_time took;
};

uint64_t number(const char *text, uint64_t otherwise)
{
	return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

// Sends an edge to a neighbour and receives the one that it sends.
void swap_edges(weft_msg *m, uint32_t other, uint64_t mine, uint64_t its)
{
	weft_msg_request r;

	weft_msg_send_start(m, other, 1, mine, 8, &r);
	weft_msg_receive(m, other, 1, its, 8, nullptr);
	weft_msg_finish(m, &r, nullptr);
}

void run(void *arg)
{
	auto *mine = static_cast<rank *>(arg);
	uint64_t cells = number(weft_argument(0), 1000);
	uint64_t steps = number(weft_argument(1), 20);
	uint64_t from = EVEN, to = EVEN + 8 * (cells + 2);
	weft_msg m;

	weft_msg_init(&m, nullptr);
	uint32_t me = weft_msg_rank(&m), last = weft_msg_ranks(&m) - 1;
	auto *a = static_cast<double *>(weft_map(from, 16 * (cells + 2)));
	if (!a)
		return;
	auto *b = a + cells + 2;
	a[1] = me ? 0 : 1000; // all heat is at one end
	for (uint64_t step = 0; step < steps; step++) {
		a[0] = a[1]; // the ends of the rod lose nothing
		a[cells + 1] = a[cells];
		if (me)
			swap_edges(&m, me - 1, from + 8, from);
		if (me < last)
			swap_edges(&m, me + 1, from + 8 * cells,
				from + 8 * (cells + 1));
		for (uint64_t i = 1; i <= cells; i++)
			b[i] = a[i] + 0.25 * (a[i - 1] - 2 * a[i] + a[i + 1]);
		weft_compute(static_cast<weft_time>(cells) * WEFT_NS);
		std::swap(a, b);
		std::swap(from, to);
	}
	for (uint64_t i = 1; i <= cells; i++)
		mine->heat += a[i];
	mine->took = weft_now();
	weft_msg_fini(&m);
}

bool check(const weft_result *r, const void *ranks, char *text, size_t size)
{
	auto *rank = static_cast<const struct rank *>(ranks);
	double sum = 0;

	for (uint32_t i = 0; i < r->n_nodes; i++)
		sum += rank[i].heat;
	std::snprintf(text, size, "%.6f of 1000 is left after %.1f us", sum,
		static_cast<double>(rank->took) / WEFT_NS / 1e3);
	return std::fabs(sum - 1000) < 1e-6;
}

bool accept(const char *const *arguments, char *text, size_t size)
{
	for (int i = 0; i < 2 && arguments[i]; i++) {
		uint64_t n = number(arguments[i], 0);

		if (n && n <= 1000000)
			continue;
		std::snprintf(text, size, "\"%.20s\" is not 1 to 1000000",
			arguments[i]);
		return false;
	}
	return true;
}
} // namespace

int main(int argc, char **argv)
{
	weft_app app{};

	app.name = "heat";
	app.help = "Heat spreads along a rod that is divided among all nodes.";
	app.run = run;
	app.node_bytes = sizeof(rank);
	app.check = check;
	app.usage = "[CELLS [STEPS]]";
	app.accept = accept;
	return weft_main(argc, argv, &app);
}
