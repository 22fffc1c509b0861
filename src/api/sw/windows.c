#include "api/sw/windows.h"

#include "base/mem.h"

/* Times are in units of 65.536 ns. */
enum { SHIFT = 16 };

struct swv_known_place {
	uint32_t peer, number; /* peer + 1; 0: none */
	uint32_t came, forgot; /* the latest that was forgotten */
};

void swv_windows_init(struct swv_windows *w, sim_time now)
{
	*w = (struct swv_windows){ .first = (uint32_t)(now >> SHIFT) };
}

void swv_windows_fini(struct swv_windows *w)
{
	mem_free(w->window);
	w->window = NULL;
}

uint64_t swv_windows_memory(const struct swv_windows *w)
{
	return w->window ? SW_WINDOWS * sizeof(*w->window) : 0;
}

void swv_windows_make(struct swv_windows *w)
{
	w->window = mem_alloc(SW_WINDOWS, sizeof(*w->window));
	for (uint32_t i = 0; i < SW_WINDOWS; i++)
		w->window[i] = (struct window){
			.next = w->first,
			.oldest = w->first,
		};
}

void swv_known_fini(struct swv_known *k)
{
	for (uint32_t i = 0; k->window && i < SW_WINDOWS; i++)
		mem_free(k->window[i]);
	mem_free(k->window);
	k->window = NULL;
}

uint64_t swv_known_memory(const struct swv_known *k)
{
	uint64_t bytes = k->window ? SW_WINDOWS * sizeof(*k->window) : 0;

	for (uint32_t i = 0; k->window && i < SW_WINDOWS; i++)
		if (k->window[i])
			bytes += SW_WINDOW * sizeof(**k->window);
	return bytes;
}

enum swv_known_answer swv_known_take(struct swv_known *k, uint32_t peer,
	uint32_t number, sim_time first, sim_time now)
{
	struct swv_known_place **w, *x;

	if (!k->window)
		k->window = mem_alloc(SW_WINDOWS, sizeof(*k->window));
	w = &k->window[swv_window_of(peer)];
	if (!*w)
		*w = mem_alloc(SW_WINDOW, sizeof(**w));
	x = &(*w)[number % SW_WINDOW];
	if (x->peer == peer + 1 && x->number == number)
		return SW_KNOWN_DOUBLE;
	if (first != SIM_NEVER && x->forgot > (uint32_t)(first >> SHIFT))
		return SW_KNOWN_UNSURE;
	*x = (struct swv_known_place){
		.peer = peer + 1,
		.number = number,
		.came = (uint32_t)(now >> SHIFT) + 1,
		.forgot = x->came,
	};
	return SW_KNOWN_NEW;
}
