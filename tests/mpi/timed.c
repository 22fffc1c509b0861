/*
 * What time is for ranks, and what is the same each time: each word is one
 * case, in their order.  Cases print what they have seen.
 */
#define _GNU_SOURCE /* clocks and timers of Linux */
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
#include <weft/rank.h>

enum { DAY = 946684800 }; /* 2000-01-01 */

static int rank, n;

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* What the processor does in some milliseconds. */
static double work(long steps)
{
	volatile double x = 1;

	for (long i = 0; i < steps; i++)
		x = x * 1.0000001 + 0.1;
	return x;
}

/* --- clocks --- */

/* Each look takes 25 ns, by whichever name. */
static void looks(void)
{
	struct timespec t;
	struct timeval v;
	struct tms ticks;
	long long a, b[6];
	time_t day;

	a = now();
	gettimeofday(&v, NULL);
	b[0] = now();
	day = time(NULL);
	b[1] = now();
	clock();
	b[2] = now();
	times(&ticks);
	b[3] = now();
	MPI_Wtime();
	b[4] = now();
	clock_gettime(CLOCK_REALTIME, &t);
	b[5] = now();
	printf("looks");
	for (int i = 0; i < 6; i++)
		printf(" %lld", b[i] - (i ? b[i - 1] : a));
	clock_getres(CLOCK_MONOTONIC, &t);
	printf(" ns, day %ld, resolution %ld ns\n", (long)(day - DAY),
		(long)t.tv_nsec);
}

/* Reads in a row become longer from the 16,385th on, until something else
 * happens.  A loop of reads for two seconds ends only a little late. */
static void reads(void)
{
	enum { SHORT = 16384 };
	long long begin, t, n = 0;
	int x;

	MPI_Comm_rank(MPI_COMM_WORLD, &x);
	begin = now();
	for (int i = 1; i < SHORT; i++)
		t = now();
	printf("reads %lld ns each", (t - begin) / (SHORT - 1));
	do
		n++;
	while ((t = now() - begin) < 2000000000);
	printf(", %s, %s", n < 400000 ? "few" : "many",
		t < 2000010000 ? "in time" : "late");
	t = now();
	printf(", at last %lld", now() - t);
	MPI_Comm_rank(MPI_COMM_WORLD, &x);
	t = now();
	printf(", after a call %lld\n", now() - t);
}

static int took(long long *since)
{
	long long t = now(), d = t - *since - 25;

	*since = t;
	return (int)(d / 1000);
}

static void sleeps(void)
{
	struct timespec ms = { 0, 1000000 }, until;
	struct timeval tv = { 0, 1000 };
	struct epoll_event event;
	int set = epoll_create1(0);
	long long t = now();

	printf("sleeps");
	nanosleep(&ms, NULL);
	printf(" %d", took(&t));
	usleep(1000);
	printf(" %d", took(&t));
	sleep(1);
	printf(" %d", took(&t));
	clock_nanosleep(CLOCK_MONOTONIC, 0, &ms, NULL);
	printf(" %d", took(&t));
	until = (struct timespec){ t / 1000000000, t % 1000000000 + 500000 };
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	printf(" %d", took(&t));
	poll(NULL, 0, 1);
	printf(" %d", took(&t));
	select(0, NULL, NULL, NULL, &tv);
	printf(" %d", took(&t));
	ppoll(NULL, 0, &ms, NULL);
	printf(" %d", took(&t));
	pselect(0, NULL, NULL, NULL, &ms, NULL);
	printf(" %d", took(&t));
	epoll_wait(set, &event, 1, 1);
	printf(" %d", took(&t));
	sched_yield();
	t = now() - t;
	printf(" us, yield %lld ns\n", t);
	close(set);
}

static volatile int n_signals, last_value;

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	n_signals++;
	last_value = info->si_value.sival_int;
}

static void on_timer(union sigval value)
{
	n_signals++;
	last_value = value.sival_int;
}

/* They fire at the first call behind their time. */
static void timers(void)
{
	struct sigaction a = { .sa_sigaction = on_signal,
		.sa_flags = SA_SIGINFO };
	struct sigevent how = { .sigev_notify = SIGEV_SIGNAL,
		.sigev_signo = SIGUSR1 };
	struct itimerspec each = { { 0, 1000000 }, { 0, 500000 } }, left;
	timer_t id, other;

	sigaction(SIGUSR1, &a, NULL);
	sigaction(SIGALRM, &a, NULL);
	how.sigev_value.sival_int = 17;
	timer_create(CLOCK_MONOTONIC, &how, &id);
	timer_settime(id, 0, &each, NULL);
	usleep(400);
	printf("timers %d", n_signals);
	usleep(200);
	printf(" %d of %d", n_signals, last_value);
	usleep(5000);
	timer_gettime(id, &left);
	printf(" %d, overruns %d, %ld us left", n_signals, timer_getoverrun(id),
		(long)left.it_value.tv_nsec / 1000);
	timer_delete(id);
	usleep(5000);
	how.sigev_notify = SIGEV_THREAD;
	how.sigev_notify_function = on_timer;
	how.sigev_value.sival_int = 18;
	timer_create(CLOCK_REALTIME, &how, &other);
	each = (struct itimerspec){ { 0, 0 }, { DAY + 3, 0 } };
	timer_settime(other, TIMER_ABSTIME, &each, NULL);
	sleep(1);
	printf(", %d", n_signals);
	sleep(2);
	printf(" %d of %d", n_signals, last_value);
	alarm(1);
	usleep(999000);
	printf(", %d", n_signals);
	MPI_Barrier(MPI_COMM_WORLD);
	usleep(2000);
	printf(" %d\n", n_signals);
}

/* The host's clock, us: by no name that is wrapped. */
static long long real_us(void)
{
	struct timespec t;

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

/* Called within MPI_Finalize(): no sleep is longer than 10 ms there. */
static int end(MPI_Comm comm, int key, void *value, void *state)
{
	long long t = real_us();

	(void)comm;
	(void)key;
	(void)value;
	(void)state;
	sleep(60);
	t = real_us() - t;
	printf("at the end %d\n", t >= 10000 && t < 30000000);
	return MPI_SUCCESS;
}

static void ends(void)
{
	int key;

	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end, &key, NULL);
	MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
}

/* Asked for by MPI_Init(), in which sleeps of 1 us become longer, unless the
 * host takes the processor away meanwhile, which looks like work. */
enum { LONG_ONES = 3 };

static bool is_starting;
static int start_sleeps = -1; /* long ones, one after the other */

uid_t geteuid(void)
{
	enum { MOST = 1000, LONG_US = 3000 };
	long long t;

	if (is_starting && start_sleeps < 0) {
		start_sleeps = 0;
		for (int i = 0; i < MOST && start_sleeps < LONG_ONES; i++) {
			t = real_us();
			usleep(1);
			t = real_us() - t;
			start_sleeps = t >= LONG_US ? start_sleeps + 1 : 0;
		}
	}
	return (uid_t)syscall(SYS_geteuid);
}

static void rests(void)
{
	printf("at the start %d\n", start_sleeps >= LONG_ONES);
}

/* When the process began, for those that compute before MPI_Init(). */
static long long began;

static void starts(void)
{
	long long first, last;

	MPI_Reduce(
		&began, &first, 1, MPI_LONG_LONG, MPI_MIN, 0, MPI_COMM_WORLD);
	MPI_Reduce(&began, &last, 1, MPI_LONG_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("started within %lld ms\n", (last - first) / 1000);
}

/* The processor's clock, which ticks once a nanosecond if it is trapped. */
static void ticks(void)
{
#if defined(__x86_64__)
	unsigned long long a = __builtin_ia32_rdtsc();

	usleep(3);
	printf("ticks %llu\n", __builtin_ia32_rdtsc() - a);
#else
	printf("ticks 3025\n");
#endif
}

/* --- what is the same each time --- */

static uint64_t sum_of(const void *bytes, size_t n_bytes)
{
	const unsigned char *b = bytes;
	uint64_t x = 14695981039346656037u;

	for (size_t i = 0; i < n_bytes; i++)
		x = (x ^ b[i]) * 1099511628211u;
	return x;
}

/* Before MPI_Init(), too. */
static void get_random(unsigned char *to)
{
	FILE *f = fopen("/dev/urandom", "r");

	if (getrandom(to, 8, 0) != 8 || getentropy(to + 8, 8) || !f ||
		fread(to + 16, 1, 8, f) != 8)
		exit(9);
	fclose(f);
}

static void selves(void)
{
	unsigned char bytes[24];
	struct utsname u;
	struct timespec t;
	cpu_set_t cpus;
	char text[64];
	clockid_t id;
	FILE *f;

	get_random(bytes);
	uname(&u);
	clock_getcpuclockid(getpid(), &id);
	clock_gettime(id, &t);
	snprintf(text, sizeof(text), "/proc/%d/comm", (int)getpid());
	f = fopen(text, "r");
	if (!f || !fgets(text, sizeof(text), f))
		exit(9);
	fclose(f);
	text[strcspn(text, "\n")] = 0;
	sched_getaffinity(0, sizeof(cpus), &cpus);
	printf("%s, %s %d of %d, cpu %d of %ld %d %d, random %016llx, %ld\n",
		u.nodename, text, (int)getpid(), (int)getppid(), sched_getcpu(),
		sysconf(_SC_NPROCESSORS_ONLN), get_nprocs(), CPU_COUNT(&cpus),
		(unsigned long long)sum_of(bytes, sizeof(bytes)),
		(long)t.tv_nsec);
}

/* Where memory is, after MPI has made its own. */
static void addresses(void)
{
	char *a = malloc(300000), *b;
	MPI_Request request[2];
	MPI_Comm other;
	int x;

	MPI_Irecv(a, 300000, MPI_CHAR, (rank + n - 1) % n, 3, MPI_COMM_WORLD,
		&request[0]);
	b = calloc(1, 300000);
	MPI_Isend(b, 300000, MPI_CHAR, (rank + 1) % n, 3, MPI_COMM_WORLD,
		&request[1]);
	MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
	MPI_Comm_dup(MPI_COMM_WORLD, &other);
	printf("at %p %p %p %p %p\n", (void *)a, (void *)b, malloc(50),
		(void *)&x,
		mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			0));
}

static void sockets(void)
{
	close(socket(AF_INET, SOCK_STREAM, 0));
	MPI_Barrier(MPI_COMM_WORLD);
}

static void sources(void)
{
	FILE *f = fopen("/proc/sys/kernel/random/uuid", "r");

	if (f)
		fclose(f);
	MPI_Barrier(MPI_COMM_WORLD);
}

static int is_before(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec < b->tv_sec ||
	       (a->tv_sec == b->tv_sec && a->tv_nsec < b->tv_nsec);
}

/* --- computing --- */

/* Tests until a message is there, whose sender computes for longer: more often
 * than looks are recorded one by one. */
static void compute(void)
{
	MPI_Request request;
	double t[3];
	int x = -1, is_done = 0;

	t[0] = MPI_Wtime();
	work(1000000);
	t[1] = MPI_Wtime();
	MPI_Irecv(&x, 1, MPI_INT, (rank + n - 1) % n, 5, MPI_COMM_WORLD,
		&request);
	work(20000 + 8000000 * rank);
	MPI_Send(&rank, 1, MPI_INT, (rank + 1) % n, 5, MPI_COMM_WORLD);
	while (!is_done) {
		MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
		work(1000);
	}
	t[2] = MPI_Wtime();
	printf("computes %.3f of %.3f us\n", (t[1] - t[0]) * 1e6,
		(t[2] - t[0]) * 1e6);
}

/* One more call. */
static void otherwise(void)
{
	if (rank == 1)
		MPI_Barrier(MPI_COMM_SELF);
}

static void declare(void)
{
	long long t = now();

	if (weft_rank_compute)
		weft_rank_compute(123456);
	printf("declared %lld ns\n", now() - t - 25);
}

/* --- waiting --- */

static void tests(void)
{
	MPI_Request request;
	int x, is_done = 0;

	MPI_Irecv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &request);
	if (rank == 1)
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	while (!is_done)
		MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
}

static void probes(void)
{
	int is_there = 0;

	while (!is_there)
		MPI_Iprobe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &is_there,
			MPI_STATUS_IGNORE);
}

/* Ranks that test some number of times before they go on: nothing else says
 * that they will. */
static void counts(void)
{
	enum { TESTS = 50000 };
	long long t = now();
	MPI_Request request;
	int x, is_done = 0, other = 1 - rank;

	MPI_Irecv(&x, 1, MPI_INT, other, 5, MPI_COMM_WORLD, &request);
	for (int i = 0; i < (1 + rank) * TESTS && !is_done; i++)
		MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
	t = now() - t;
	MPI_Send(&rank, 1, MPI_INT, other, 5, MPI_COMM_WORLD);
	if (!is_done)
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	printf("rank %d counts %lld us\n", rank, t / 1000);
}

/* By names that nobody knows. */
static void hides(void)
{
	int x;

	PMPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD,
		MPI_STATUS_IGNORE);
}

/* What comes after many tests is seen when it comes. */
static void late(void)
{
	long long t = now();
	int x, is_there = 0, probed = 0;

	if (rank == 0) {
		usleep(2000);
		MPI_Send(&rank, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
		PMPI_Send(&rank, 1, MPI_INT, 1, 6, MPI_COMM_WORLD);
		return;
	}
	for (; !is_there; probed++)
		MPI_Iprobe(0, 5, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
	t = now() - t;
	MPI_Recv(&x, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	PMPI_Recv(&x, 1, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	printf("%s probes, %lld us\n", probed < 4400 ? "few" : "many",
		t / 1000);
}

/* By such a name for a long time. */
static void hides_long(void)
{
	if (rank == 0)
		usleep(20000);
	if (rank == 0)
		MPI_Send(&rank, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
	else
		hides();
}

static void spin_here(void)
{
	for (volatile int i = 0;; i++)
		;
}

static void loops(void)
{
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 1)
		spin_here();
	MPI_Barrier(MPI_COMM_WORLD);
}

/* Waits for a message by looking at its buffer. */
static void spins(void)
{
	MPI_Request request;
	volatile int x = -1;

	if (rank == 0) {
		usleep(3000);
		MPI_Send(&rank, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
		return;
	}
	MPI_Irecv((int *)&x, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, &request);
	while (x == -1)
		;
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	printf("got %d\n", x);
}

/* Whether both ranks compute at the same time of the host. */
static void overlaps(void)
{
	struct timespec t[2], all[4];

	MPI_Barrier(MPI_COMM_WORLD);
	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t[0]);
	work(3000000);
	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t[1]);
	MPI_Gather(t, sizeof(t), MPI_BYTE, all, sizeof(t), MPI_BYTE, 0,
		MPI_COMM_WORLD);
	if (rank == 0)
		printf("overlap %d\n", is_before(&all[0], &all[3]) &&
					       is_before(&all[2], &all[1]));
}

/* Longer than any run. */
static void forever(void)
{
	sleep(20000000);
	MPI_Barrier(MPI_COMM_WORLD);
}

/* --- children and threads --- */

static int real_time(void)
{
	return time(NULL) > DAY + 86400;
}

/* None of them is a rank. */
static void children(void)
{
	char year[16] = "";
	pid_t pid = fork();
	FILE *f;
	int status, code;

	if (pid == 0)
		_exit(real_time() && !getenv("WEFT_CHANNEL") &&
					getpid() != 1000 + rank
				? 3
				: 4);
	waitpid(pid, &status, 0);
	code = system("exit $(test $(date +%Y) -gt 2020 && echo 5)");
	f = popen("date +%Y", "r");
	if (!f || !fgets(year, sizeof(year), f))
		exit(9);
	pclose(f);
	MPI_Barrier(MPI_COMM_WORLD);
	printf("children %d %d %d, parent %d\n", WEXITSTATUS(status),
		WEXITSTATUS(code), atoi(year) > 2020, real_time());
}

/* One thread waits for what another one sends after it has computed. */
static void *receive(void *to)
{
	MPI_Recv(to, 1, MPI_INT, rank, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	return NULL;
}

static int receive_c11(void *to)
{
	MPI_Recv(to, 1, MPI_INT, rank, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	return 7;
}

static void threads(void)
{
	pthread_t thread;
	thrd_t other;
	int x = -1, y = 41, z = -1, code = 0;

	pthread_create(&thread, NULL, receive, &x);
	thrd_create(&other, receive_c11, &z);
	work(10000000);
	MPI_Send(&y, 1, MPI_INT, rank, 9, MPI_COMM_WORLD);
	pthread_join(thread, NULL);
	MPI_Send(&y, 1, MPI_INT, rank, 8, MPI_COMM_WORLD);
	thrd_join(other, &code);
	printf("threads have got %d %d, and return %d\n", x, z, code);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *word;
		void (*run)(void);
	} cases[] = {
		{ "looks", looks },
		{ "reads", reads },
		{ "sleeps", sleeps },
		{ "timers", timers },
		{ "ends", ends },
		{ "rests", rests },
		{ "starts", starts },
		{ "ticks", ticks },
		{ "selves", selves },
		{ "addresses", addresses },
		{ "sockets", sockets },
		{ "sources", sources },
		{ "compute", compute },
		{ "otherwise", otherwise },
		{ "declare", declare },
		{ "tests", tests },
		{ "probes", probes },
		{ "counts", counts },
		{ "hides", hides },
		{ "hides-long", hides_long },
		{ "late", late },
		{ "loops", loops },
		{ "spins", spins },
		{ "overlaps", overlaps },
		{ "forever", forever },
		{ "children", children },
		{ "threads", threads },
	};
	unsigned char early[24];
	int level;

	began = real_us();
	if (argc > 1 && !strcmp(argv[1], "starts"))
		while (real_us() < began + 100000)
			;
	get_random(early);
	is_starting = true;
	if (argc > 1 && !strcmp(argv[1], "threads"))
		MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	else
		MPI_Init(&argc, &argv);
	is_starting = false;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	for (int i = 1; i < argc; i++)
		for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
			if (!strcmp(argv[i], cases[k].word))
				cases[k].run();
	if (argc > 1 && !strcmp(argv[1], "selves"))
		printf("early %016llx\n",
			(unsigned long long)sum_of(early, sizeof(early)));
	MPI_Finalize();
	return 0;
}
