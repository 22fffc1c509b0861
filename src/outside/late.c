#define _GNU_SOURCE
#include "outside/late.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PS_PER_NS INT64_C(1000)

int64_t late_cpu(pid_t pid)
{
	struct timespec t;
	clockid_t clock;

	if (pid <= 0 || clock_getcpuclockid(pid, &clock) ||
		clock_gettime(clock, &t))
		return 0;
	return (t.tv_sec * INT64_C(1000000000) + t.tv_nsec) * PS_PER_NS;
}

/* --- the thread --- */

/* User time of a thread that runs, in the kernel's ticks; 0: it does not. */
static unsigned long ticks_of(pid_t pid, pid_t thread)
{
	char path[64], text[512] = "", state = 0, *end;
	unsigned long ticks = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)pid,
		(int)thread);
	f = fopen(path, "re");
	if (!f)
		return 0;
	end = fgets(text, sizeof(text), f) ? strrchr(text, ')') : NULL;
	fclose(f);
	if (!end || sscanf(end + 1,
			    " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu",
			    &state, &ticks) != 2)
		return 0;
	return state == 'R' ? ticks + 1 : 0;
}

static pid_t busiest_of(pid_t pid)
{
	unsigned long most = 0, ticks;
	struct dirent *d;
	pid_t found = pid;
	char path[64];
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	folder = opendir(path);
	while (folder && (d = readdir(folder))) {
		pid_t thread = (pid_t)atoi(d->d_name);

		ticks = thread > 0 ? ticks_of(pid, thread) : 0;
		if (ticks > most) {
			most = ticks;
			found = thread;
		}
	}
	if (folder)
		closedir(folder);
	return found;
}

static uint64_t counter_of(pid_t thread)
{
	struct user_regs_struct regs;
	struct iovec all = { &regs, sizeof(regs) };

	if (ptrace(PTRACE_GETREGSET, thread, (void *)NT_PRSTATUS, &all))
		return 0;
#if defined(__x86_64__)
	return regs.rip;
#elif defined(__aarch64__)
	return regs.pc;
#else
	return 0;
#endif
}

/* The address of the next instruction; 0: it is not known. */
static uint64_t instruction_of(pid_t thread)
{
	uint64_t at = 0;
	int status;

	if (ptrace(PTRACE_SEIZE, thread, NULL, NULL))
		return 0;
	if (!ptrace(PTRACE_INTERRUPT, thread, NULL, NULL) &&
		waitpid(thread, &status, __WALL) == thread &&
		WIFSTOPPED(status))
		at = counter_of(thread);
	ptrace(PTRACE_DETACH, thread, NULL, NULL);
	return at;
}

/* --- the file --- */

struct place {
	char path[256]; /* empty: no file */
	uint64_t offset; /* in the file */
};

static struct place place_of(pid_t pid, uint64_t at)
{
	struct place p = { "", 0 };
	uint64_t first, last, offset;
	char path[64], line[512];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	f = fopen(path, "re");
	while (f && !*p.path && fgets(line, sizeof(line), f)) {
		char file[256] = "";

		if (sscanf(line,
			    "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64
			    " %*s %*s %255[^\n]",
			    &first, &last, &offset, file) < 3 ||
			at < first || at >= last || *file != '/')
			continue;
		memcpy(p.path, file, sizeof(file));
		p.offset = offset + (at - first);
	}
	if (f)
		fclose(f);
	return p;
}

/* --- the function --- */

struct image {
	const uint8_t *at;
	uint64_t bytes;
};

/* n things of a size within the file, or NULL: nothing in it is trusted. */
static const void *part(
	const struct image *i, uint64_t offset, uint64_t n, uint64_t size)
{
	uint64_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes) || offset > i->bytes ||
		bytes > i->bytes - offset || offset % 8 != 0)
		return NULL;
	return i->at + offset;
}

static bool find_address(const struct image *i, const Elf64_Ehdr *head,
	uint64_t offset, uint64_t *address)
{
	const Elf64_Phdr *p = part(i, head->e_phoff, head->e_phnum, sizeof(*p));

	for (unsigned k = 0; p && k < head->e_phnum; k++)
		if (p[k].p_type == PT_LOAD && offset >= p[k].p_offset &&
			offset - p[k].p_offset < p[k].p_filesz) {
			*address = p[k].p_vaddr + (offset - p[k].p_offset);
			return true;
		}
	return false;
}

static bool find_in(const struct image *i, const Elf64_Shdr *table,
	const Elf64_Shdr *names, uint64_t address, char *text, size_t size)
{
	uint64_t n = table->sh_size / sizeof(Elf64_Sym);
	const Elf64_Sym *s = part(i, table->sh_offset, n, sizeof(*s));

	if (!s || names->sh_offset > i->bytes ||
		names->sh_size > i->bytes - names->sh_offset)
		return false;
	for (uint64_t k = 0; k < n; k++) {
		if (ELF64_ST_TYPE(s[k].st_info) != STT_FUNC ||
			address < s[k].st_value ||
			address - s[k].st_value >= s[k].st_size ||
			s[k].st_name >= names->sh_size)
			continue;
		snprintf(text, size, "%.*s",
			(int)(names->sh_size - s[k].st_name < 128
					? names->sh_size - s[k].st_name
					: 128),
			(const char *)i->at + names->sh_offset + s[k].st_name);
		return true;
	}
	return false;
}

/* All symbols rather than those that other files may use. */
static bool find_function(
	const struct image *i, uint64_t offset, char *text, size_t size)
{
	const Elf64_Ehdr *head = part(i, 0, 1, sizeof(*head));
	static const uint32_t kinds[] = { SHT_SYMTAB, SHT_DYNSYM };
	const Elf64_Shdr *s;
	uint64_t address;

	if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
		head->e_ident[EI_CLASS] != ELFCLASS64 ||
		!find_address(i, head, offset, &address))
		return false;
	s = part(i, head->e_shoff, head->e_shnum, sizeof(*s));
	for (unsigned kind = 0; s && kind < 2; kind++)
		for (unsigned k = 0; k < head->e_shnum; k++)
			if (s[k].sh_type == kinds[kind] &&
				s[k].sh_link < head->e_shnum &&
				find_in(i, &s[k], &s[s[k].sh_link], address,
					text, size))
				return true;
	return false;
}

static bool name_function(const struct place *p, char *text, size_t size)
{
	int file = open(p->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct image i = { MAP_FAILED, 0 };
	struct stat is;
	bool is_found = false;

	if (file >= 0 && !fstat(file, &is) && S_ISREG(is.st_mode) &&
		is.st_size > 0) {
		i.bytes = (uint64_t)is.st_size;
		i.at = mmap(NULL, i.bytes, PROT_READ, MAP_PRIVATE, file, 0);
	}
	if (i.at != MAP_FAILED) {
		is_found = find_function(&i, p->offset, text, size);
		munmap((void *)i.at, i.bytes);
	}
	if (file >= 0)
		close(file);
	return is_found;
}

void late_where(pid_t pid, char *text, size_t size)
{
	uint64_t at = instruction_of(busiest_of(pid));
	struct place p = place_of(pid, at);
	char name[160];

	if (!at)
		snprintf(text, size, "a function that is not known");
	else if (!*p.path)
		snprintf(text, size, "code at 0x%" PRIx64, at);
	else if (name_function(&p, name, sizeof(name)))
		snprintf(text, size, "%s() of %s", name, p.path);
	else
		snprintf(text, size, "code at 0x%" PRIx64 " of %s", p.offset,
			p.path);
}
