#define _GNU_SOURCE /* MSG_CMSG_CLOEXEC */
#include "outside/pass.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union control {
	struct cmsghdr header;
	char room[CMSG_SPACE(PASS_FILES * sizeof(int))];
};

int pass_send(int socket, const void *bytes, size_t size, const int *files,
	uint32_t n)
{
	union control control = { 0 };
	struct iovec io = { (void *)(uintptr_t)bytes, size };
	struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1 };
	struct cmsghdr *c;

	if (n) {
		m.msg_control = &control;
		m.msg_controllen = CMSG_SPACE(n * sizeof(int));
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(n * sizeof(int));
		memcpy(CMSG_DATA(c), files, n * sizeof(int));
	}
	while (sendmsg(socket, &m, MSG_NOSIGNAL) < 0)
		if (errno != EINTR)
			return -1;
	return 0;
}

ssize_t pass_receive(
	int socket, void *bytes, size_t size, int *files, uint32_t n)
{
	union control control = { 0 };
	struct iovec io = { bytes, size };
	struct msghdr m = { .msg_iov = &io,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = CMSG_SPACE(n * sizeof(int)) };
	struct cmsghdr *c;
	ssize_t did;

	do
		did = recvmsg(socket, &m, MSG_CMSG_CLOEXEC);
	while (did < 0 && errno == EINTR);
	c = did > 0 ? CMSG_FIRSTHDR(&m) : NULL;
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		memcpy(files, CMSG_DATA(c), c->cmsg_len - CMSG_LEN(0));
	return did;
}
