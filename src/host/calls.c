/* The calls that programs are in, and the log of what they did. */
#include <string.h>

#include "host/node.h"
#include "host/program.h"

int program_call_begin(const char *text, uint32_t a, uint32_t b)
{
	struct program *p = host_self();

	if (!p->call_depth++) {
		p->call = text;
		p->call_args[0] = a == UINT32_MAX ? UINT64_MAX : a;
		p->call_args[1] = b == UINT32_MAX ? UINT64_MAX : b;
		p->call_since = p->now;
	}
	return 1;
}

static struct host_log_process *log_of(const struct program *p)
{
	const struct host_log *l = p->host->log;

	return &l->process[p->node * l->n_processes +
			   p->thread / host_threads_each(p->host)];
}

static void log_call(const struct program *p)
{
	const struct host_log_call c = {
		.text = p->call,
		.args = { p->call_args[0], p->call_args[1] },
		.thread = p->thread,
		.from = p->call_since,
		.to = p->now,
	};

	host_log_call(log_of(p), p->host->log->most, &c);
}

void program_call_end(const int *is_open)
{
	struct program *p = host_self();

	(void)is_open;
	if (--p->call_depth)
		return;
	if (p->host->log && p->call)
		log_call(p);
	p->call = NULL;
}

void program_explain(
	void (*explain)(void *arg, char *text, size_t size), void *arg)
{
	struct program *p = host_self();

	p->explain = explain;
	p->explain_arg = arg;
}

void program_waits_since(sim_time t)
{
	host_self()->waits_since = t;
}

uint32_t program_log_begin(
	const char *text, const uint64_t args[HOST_CALL_ARGS])
{
	const struct program *p = host_self();
	struct host_log_call c = {
		.text = text,
		.thread = p->thread,
		.from = p->now,
		.to = SIM_NEVER,
	};

	if (!p->host->log)
		return 0;
	memcpy(c.args, args, sizeof(c.args));
	return host_log_call(log_of(p), p->host->log->most, &c);
}

void program_log_end(uint32_t mark)
{
	const struct program *p = host_self();

	if (mark)
		log_of(p)->call[mark - 1].to = p->now;
}

uint32_t program_log_call(const struct host_log_call *c)
{
	const struct program *p = host_self();
	struct host_log_call x = *c;

	x.thread = p->thread;
	return p->host->log ? host_log_call(log_of(p), p->host->log->most, &x)
			    : 0;
}

void program_log_more(uint32_t mark, sim_time to)
{
	struct host_log_call *c;

	if (!mark)
		return;
	c = &log_of(host_self())->call[mark - 1];
	c->to = to;
	c->more++;
}

void program_log_sent(const struct host_log_message *m)
{
	const struct program *p = host_self();
	struct host_log_message now = *m;

	now.at = p->now;
	if (p->host->log)
		host_log_sent(log_of(p), p->host->log->most, &now);
}

uint32_t program_log_matched(const struct host_log_message *m)
{
	const struct program *p = host_self();
	struct host_log_message now = *m;

	now.at = SIM_NEVER;
	return p->host->log
		       ? host_log_matched(log_of(p), p->host->log->most, &now)
		       : 0;
}

void program_log_received(uint32_t mark)
{
	const struct program *p;

	if (!mark)
		return;
	p = host_self();
	log_of(p)->received[mark - 1].at = p->now;
}
