/* What programs add to the log of a run (host/log.h), if there is one.  Nobody
 * is ahead of its node then. */
#include <string.h>

#include "host/node.h"

static const struct program *self(void)
{
	const struct program *p = program_current();

	BUG_IF(!p || p->is_card);
	return p;
}

static struct host_log_process *log_of(const struct program *p)
{
	const struct host_log *l = p->host->log;

	return &l->process[p->node * l->n_processes +
			   p->thread / host_threads_each(p->host)];
}

void program_log_ended(const struct program *p)
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

uint32_t program_log_begin(
	const char *text, const uint64_t args[HOST_CALL_ARGS])
{
	const struct program *p = self();
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
	const struct program *p = self();

	if (mark)
		log_of(p)->call[mark - 1].to = p->now;
}

uint32_t program_log_call(const struct host_log_call *c)
{
	const struct program *p = self();
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
	c = &log_of(self())->call[mark - 1];
	c->to = to;
	c->more++;
}

void program_log_sent(const struct host_log_message *m)
{
	const struct program *p = self();
	struct host_log_message now = *m;

	now.at = p->now;
	if (p->host->log)
		host_log_sent(log_of(p), p->host->log->most, &now);
}

uint32_t program_log_matched(const struct host_log_message *m)
{
	const struct program *p = self();
	struct host_log_message now = *m;

	now.at = SIM_NEVER;
	return p->host->log
		       ? host_log_matched(log_of(p), p->host->log->most, &now)
		       : 0;
}

void program_log_received(uint32_t mark)
{
	const struct program *p = self();

	if (mark)
		log_of(p)->received[mark - 1].at = p->now;
}
