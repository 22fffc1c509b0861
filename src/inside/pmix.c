/*
 * A server of PMIx for one job.  All ranks are clients of this one server, on
 * whatever node of the simulated machine they are: so a fence is complete as
 * soon as the library says so.  Where each rank is they have from a table.
 */
#define _GNU_SOURCE /* memfd_create() */
#include "inside/start.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pmix.h>
#include <pmix_server.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "inside/places.h"

enum {
	SILENT = 3600, /* s before a silent connection is accepted */
	HANDSHAKE = 5000, /* ms for the next bytes of a handshake */
};

static const pmix_nspace_t nspace = PLACES_JOB;

/* The library's callbacks have no argument of their own. */
static struct start *start_;

/* --- what ranks ask for --- */

static pmix_status_t on_connected(const pmix_proc_t *proc, void *object,
	pmix_op_cbfunc_t done, void *data)
{
	(void)proc, (void)object, (void)done, (void)data;
	return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t on_abort(const pmix_proc_t *proc, void *object, int status,
	const char *text, pmix_proc_t procs[], size_t n, pmix_op_cbfunc_t done,
	void *data)
{
	(void)object, (void)procs, (void)n, (void)done, (void)data;
	start_tell(start_, CHANNEL_ABORTED, proc->rank, status, text);
	return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t on_fence(const pmix_proc_t procs[], size_t n,
	const pmix_info_t info[], size_t n_info, char *bytes, size_t n_bytes,
	pmix_modex_cbfunc_t done, void *data)
{
	(void)procs, (void)n, (void)info, (void)n_info;
	done(PMIX_SUCCESS, bytes, n_bytes, data, free, bytes);
	return PMIX_SUCCESS;
}

static pmix_status_t on_modex(const pmix_proc_t *proc, const pmix_info_t info[],
	size_t n_info, pmix_modex_cbfunc_t done, void *data)
{
	(void)proc, (void)info, (void)n_info, (void)done, (void)data;
	return PMIX_ERR_NOT_FOUND;
}

static pmix_server_module_t module = {
	.client_connected = on_connected,
	.client_finalized = on_connected,
	.abort = on_abort,
	.fence_nb = on_fence,
	.direct_modex = on_modex,
};

/* --- where ranks are --- */

static struct place place_of(const struct start *s, uint32_t rank)
{
	struct place p = {
		.node = s->rank[rank].node,
		.process = s->rank[rank].process,
		.program = s->rank[rank].program,
		.leader = rank,
	};

	for (uint32_t r = s->n_ranks; r-- > 0;)
		if (s->rank[r].node == p.node) {
			p.leader = r;
			p.n_local++;
		}
	return p;
}

int places_make(const struct start *s)
{
	int file = memfd_create("weft-places", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	bool is_good = file >= 0;

	for (uint32_t r = 0; is_good && r < s->n_ranks; r++) {
		struct place p = place_of(s, r);

		is_good = write(file, &p, sizeof(p)) == sizeof(p);
	}
	if (is_good && fcntl(file, F_ADD_SEALS,
			       F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) == 0)
		return file;
	if (file >= 0)
		close(file);
	return -1;
}

/* --- what ranks are told --- */

/* Growing list of facts. */
struct facts {
	pmix_info_t *info;
	size_t n, size;
};

static pmix_info_t *add(struct facts *f)
{
	if (f->n == f->size) {
		f->size = f->size ? 2 * f->size : 16;
		f->info = start_alloc(f->info, f->size * sizeof(*f->info));
	}
	memset(&f->info[f->n], 0, sizeof(*f->info));
	return &f->info[f->n++];
}

static void add_number(struct facts *f, const char *key, uint32_t value)
{
	PMIX_INFO_LOAD(add(f), key, &value, PMIX_UINT32);
}

static void add_rank(struct facts *f, const char *key, pmix_rank_t rank)
{
	PMIX_INFO_LOAD(add(f), key, &rank, PMIX_PROC_RANK);
}

static void add_text(struct facts *f, const char *key, const char *text)
{
	PMIX_INFO_LOAD(add(f), key, text, PMIX_STRING);
}

static uint32_t n_programs(void)
{
	return start_->rank[start_->n_ranks - 1].program + 1;
}

/* Without the number of its ranks, which they have from their table, the
 * library keeps nothing for each of them. */
static void add_job(struct facts *f)
{
	add_text(f, PMIX_JOBID, nspace);
	add_number(f, PMIX_UNIV_SIZE, start_->n_ranks);
	add_number(f, PMIX_MAX_PROCS, start_->n_ranks);
	add_number(f, PMIX_JOB_NUM_APPS, n_programs());
	add_number(f, PMIX_NUM_NODES, start_->n_nodes);
}

static pmix_status_t register_job(void)
{
	struct facts f = { .n = 0 };
	pmix_status_t status;

	add_job(&f);
	status = PMIx_server_register_nspace(
		nspace, (int)start_->n_ranks, f.info, f.n, NULL, NULL);
	free(f.info);
	return status;
}

static pmix_proc_t proc_of(uint32_t rank)
{
	pmix_proc_t p;

	PMIX_LOAD_PROCID(&p, nspace, rank);
	return p;
}

static bool is_good(pmix_status_t status)
{
	return status == PMIX_SUCCESS || status == PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t register_ranks(void)
{
	for (uint32_t r = 0; r < start_->n_ranks; r++) {
		pmix_proc_t p = proc_of(r);
		pmix_status_t status = PMIx_server_register_client(
			&p, getuid(), getgid(), NULL, NULL, NULL);

		if (!is_good(status))
			return status;
	}
	return PMIX_SUCCESS;
}

/* --- connections --- */

/*
 * libpmix reads a new connection's handshake in its only thread, without a
 * timeout, so a silent connection would stop all ranks.  The kernel therefore
 * holds connections back until they have sent something.
 */
static void defer_silent(int fd)
{
	int seconds = SILENT, listens = 0;
	socklen_t size = sizeof(listens);

	if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 &&
		listens)
		setsockopt(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, &seconds,
			sizeof(seconds));
}

static void defer_all_silent(void)
{
	DIR *all = opendir("/proc/self/fd");
	struct dirent *d;

	while (all && (d = readdir(all)))
		if (d->d_name[0] != '.')
			defer_silent(atoi(d->d_name));
	if (all)
		closedir(all);
}

static bool is_blocking(int socket, int flags)
{
	return !(flags & MSG_DONTWAIT) &&
	       !(fcntl(socket, F_GETFL) & O_NONBLOCK);
}

/* Replaces the C library's function in libpmix, which uses it only to read
 * handshakes: a connection may also fall silent after its first bytes. */
__attribute__((visibility("default"))) ssize_t recv(
	int socket, void *to, size_t bytes, int flags)
{
	struct pollfd p = { .fd = socket, .events = POLLIN };
	int n = 1;

	if (is_blocking(socket, flags))
		while ((n = poll(&p, 1, HANDSHAKE)) < 0 && errno == EINTR)
			;
	if (n == 0) {
		errno = ETIMEDOUT;
		return -1;
	}
	/* the caller repeats this until it has all bytes */
	return recvfrom(socket, to, bytes, flags & ~MSG_WAITALL, NULL, NULL);
}

/* --- life --- */

static pmix_status_t open_server(void)
{
	struct facts f = { .n = 0 };
	pmix_status_t status;

	/* Facts go by messages, not by files of shared memory. */
	setenv("PMIX_MCA_gds", "hash", 1);
	setenv("PMIX_MCA_pmix_show_load_errors", "0", 1);
	setenv("PMIX_MCA_psec", "native", 0);
	/* Its own names have its number in them. */
	add_text(&f, PMIX_SERVER_NSPACE, "weft-server");
	add_rank(&f, PMIX_SERVER_RANK, 0);
	add_text(&f, PMIX_SERVER_TMPDIR, start_->scratch);
	add_text(&f, PMIX_SYSTEM_TMPDIR, start_->scratch);
	status = PMIx_server_init(&module, f.info, f.n);
	free(f.info);
	return status;
}

const char *pmix_open(struct start *s)
{
	pmix_status_t status;

	start_ = s;
	status = open_server();
	defer_all_silent();
	if (is_good(status))
		status = register_job();
	if (is_good(status))
		status = register_ranks();
	return is_good(status) ? NULL : PMIx_Error_string(status);
}

const char *pmix_environ(uint32_t rank, char ***list)
{
	pmix_proc_t p = proc_of(rank);
	pmix_status_t status = PMIx_server_setup_fork(&p, list);

	/* It names the host, and that is the simulated one. */
	environ_set(list,
		start_text("PMIX_HOSTNAME=node%u", start_->rank[rank].node));
	return is_good(status) ? NULL : PMIx_Error_string(status);
}
