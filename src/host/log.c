#include "host/log.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"

enum { ALL_ROWS = 1 << 18, FEW_ROWS = 16 };

struct host_log *host_log_new(uint32_t n_nodes, uint32_t n_processes)
{
	struct host_log *l = mem_alloc(1, sizeof(*l));

	l->n_processes = n_processes;
	l->n = n_nodes * n_processes;
	l->most = ALL_ROWS / l->n > FEW_ROWS ? ALL_ROWS / l->n : FEW_ROWS;
	l->process = mem_alloc(l->n, sizeof(*l->process));
	return l;
}

void host_log_free(struct host_log *l)
{
	if (!l)
		return;
	for (uint32_t i = 0; i < l->n; i++) {
		mem_free(l->process[i].call);
		mem_free(l->process[i].sent);
		mem_free(l->process[i].received);
	}
	mem_free(l->process);
	mem_free(l);
}

uint32_t host_log_call(struct host_log_process *p, uint32_t most,
	const struct host_log_call *c)
{
	if (p->n_calls == most)
		return 0;
	p->call = mem_more(p->call, p->n_calls, sizeof(*p->call));
	p->call[p->n_calls++] = *c;
	return p->n_calls;
}

void host_log_sent(struct host_log_process *p, uint32_t most,
	const struct host_log_message *m)
{
	if (p->n_sent == most)
		return;
	p->sent = mem_more(p->sent, p->n_sent, sizeof(*p->sent));
	p->sent[p->n_sent++] = *m;
}

uint32_t host_log_matched(struct host_log_process *p, uint32_t most,
	const struct host_log_message *m)
{
	if (p->n_received == most)
		return 0;
	p->received =
		mem_more(p->received, p->n_received, sizeof(*p->received));
	p->received[p->n_received++] = *m;
	return p->n_received;
}

void host_call_text(const char *call, const uint64_t args[HOST_CALL_ARGS],
	char *text, size_t size)
{
	uint32_t arg = 0;
	size_t n = 0;

	for (; *call && n + 1 < size; call++) {
		uint64_t v = args[arg % HOST_CALL_ARGS];

		if (*call != '#') {
			text[n++] = *call;
			continue;
		}
		arg++;
		if (v == UINT64_MAX)
			n += (size_t)snprintf(text + n, size - n, "any");
		else
			n += (size_t)snprintf(
				text + n, size - n, "%" PRIu64, v);
	}
	text[n < size ? n : size - 1] = '\0';
}
