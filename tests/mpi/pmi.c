/*
 * A program that asks by PMI-1, as MPI libraries without PMIx do: each rank
 * puts a value, and all get those of all behind a barrier.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int fd;

/* Sends a line, and returns the answer. */
static char *ask(const char *line)
{
	static char answer[2048];
	size_t n = 0;

	if (write(fd, line, strlen(line)) < 0)
		exit(2);
	do
		if (n == sizeof(answer) - 1 || read(fd, answer + n, 1) != 1)
			exit(3);
	while (answer[n++] != '\n');
	answer[n] = 0;
	return answer;
}

static void expect(const char *line, const char *part)
{
	const char *answer = ask(line);

	if (!strstr(answer, part)) {
		printf("%s answered %s, not %s\n", line, answer, part);
		exit(1);
	}
}

int main(void)
{
	int rank = atoi(getenv("PMI_RANK")), n = atoi(getenv("PMI_SIZE"));
	char line[200], part[200];

	fd = atoi(getenv("PMI_FD"));
	expect("cmd=init pmi_version=1 pmi_subversion=1\n", "rc=0");
	expect("cmd=get_maxes\n", "vallen_max=1024");
	expect("cmd=get_my_kvsname\n", "kvsname=weft");
	snprintf(part, sizeof(part), "size=%d", n);
	expect("cmd=get_universe_size\n", part);
	expect("cmd=get kvsname=weft key=PMI_process_mapping\n",
		"value=(vector,(0,");
	snprintf(line, sizeof(line),
		"cmd=put kvsname=weft key=name-%d value=rank %d\n", rank, rank);
	expect(line, "rc=0");
	expect("cmd=barrier_in\n", "cmd=barrier_out");
	for (int i = 0; i < n; i++) {
		snprintf(line, sizeof(line),
			"cmd=get kvsname=weft key=name-%d\n", i);
		snprintf(part, sizeof(part), "value=rank %d\n", i);
		expect(line, part);
	}
	expect("cmd=get kvsname=weft key=nobody\n", "rc=-1");
	expect("cmd=finalize\n", "cmd=finalize_ack");
	printf("rank %d of %d knows all\n", rank, n);
	return 0;
}
