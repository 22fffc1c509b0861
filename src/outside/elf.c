#define _GNU_SOURCE
#include "outside/elf.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

enum { MOST_STRINGS = 64 << 20, CHUNK = 64 << 10, ENTRY = 24, CACHE_HEAD = 48 };
enum { MOST_SYMBOLS = 1 << 28 }; /* bytes */

static bool read_at(int file, void *to, uint64_t n, uint64_t at)
{
	return at <= INT64_MAX && pread(file, to, n, (off_t)at) == (ssize_t)n;
}

/* --- the file --- */

static uint16_t own_machine(void)
{
	static const uint16_t machine =
#if defined(__x86_64__)
		EM_X86_64;
#elif defined(__aarch64__)
		EM_AARCH64;
#elif defined(__riscv)
		EM_RISCV;
#elif defined(__powerpc64__)
		EM_PPC64;
#else
		EM_NONE;
#endif
	return machine;
}

static bool is_own(const Elf64_Ehdr *h)
{
	const uint16_t one = 1;
	unsigned char data =
		*(const unsigned char *)&one ? ELFDATA2LSB : ELFDATA2MSB;

	return h->e_ident[EI_CLASS] == ELFCLASS64 &&
	       h->e_ident[EI_DATA] == data &&
	       (own_machine() == EM_NONE || h->e_machine == own_machine()) &&
	       (h->e_type == ET_EXEC || h->e_type == ET_DYN);
}

static uint32_t n_segments(const struct elf_file *f)
{
	return f->head.e_phnum < ELF_SEGMENTS ? f->head.e_phnum : ELF_SEGMENTS;
}

/* Where an address is in the file; false if it is not. */
static bool find_address(
	const struct elf_file *f, uint64_t address, uint64_t *offset)
{
	for (uint32_t i = 0; i < n_segments(f); i++) {
		const Elf64_Phdr *p = &f->segment[i];

		if (p->p_type == PT_LOAD && address >= p->p_vaddr &&
			address - p->p_vaddr < p->p_filesz) {
			*offset = p->p_offset + (address - p->p_vaddr);
			return true;
		}
	}
	return false;
}

/* The first entry of a kind that the loader finds; 0 if there is none. */
static bool find_entry(const struct elf_file *f, const Elf64_Phdr *p,
	int64_t tag, uint64_t *at, Elf64_Dyn *entry)
{
	for (; *at + sizeof(*entry) <= p->p_filesz; *at += sizeof(*entry)) {
		if (!read_at(f->file, entry, sizeof(*entry),
			    p->p_offset + *at) ||
			entry->d_tag == DT_NULL)
			return false;
		if (entry->d_tag != tag)
			continue;
		*at += sizeof(*entry);
		return true;
	}
	return false;
}

static uint64_t value_of(const struct elf_file *f, const Elf64_Phdr *p, int tag)
{
	Elf64_Dyn entry;
	uint64_t at = 0;

	return find_entry(f, p, tag, &at, &entry) ? entry.d_un.d_val : 0;
}

static void read_strings(struct elf_file *f, const Elf64_Phdr *p)
{
	uint64_t n = value_of(f, p, DT_STRSZ), at;

	if (!n || n > MOST_STRINGS ||
		!find_address(f, value_of(f, p, DT_STRTAB), &at))
		return;
	f->strings = mem_alloc(n + 1, 1);
	f->n_strings = n + 1;
	if (!read_at(f->file, f->strings, n, at))
		memset(f->strings, 0, n);
}

static const char *string_at(const struct elf_file *f, uint64_t at)
{
	return at < f->n_strings ? f->strings + at : "";
}

static void read_dynamic(struct elf_file *f, const Elf64_Phdr *p)
{
	uint64_t at = 0, runpath, rpath;
	Elf64_Dyn entry;

	read_strings(f, p);
	while (f->strings && f->n_needed < ELF_NEEDED &&
		find_entry(f, p, DT_NEEDED, &at, &entry))
		f->needed[f->n_needed++] = string_at(f, entry.d_un.d_val);
	runpath = value_of(f, p, DT_RUNPATH);
	rpath = value_of(f, p, DT_RPATH);
	if (runpath || rpath)
		f->path = string_at(f, runpath ? runpath : rpath);
}

enum elf_answer elf_open(struct elf_file *f, const char *path)
{
	*f = (struct elf_file){ .file = open(path,
					O_RDONLY | O_CLOEXEC | O_NONBLOCK) };
	if (f->file < 0 || !read_at(f->file, &f->head, sizeof(f->head), 0) ||
		memcmp(f->head.e_ident, ELFMAG, SELFMAG) != 0)
		return ELF_NONE;
	if (!is_own(&f->head) || f->head.e_phentsize != sizeof(Elf64_Phdr))
		return ELF_FOREIGN;
	if (!read_at(f->file, f->segment, n_segments(f) * sizeof(Elf64_Phdr),
		    f->head.e_phoff))
		return ELF_FOREIGN;
	for (uint32_t i = 0; i < n_segments(f); i++) {
		f->has_interpreter |= f->segment[i].p_type == PT_INTERP;
		if (f->segment[i].p_type == PT_DYNAMIC && !f->strings)
			read_dynamic(f, &f->segment[i]);
	}
	return ELF_GOOD;
}

void elf_close(struct elf_file *f)
{
	if (f->file >= 0)
		close(f->file);
	mem_free(f->strings);
}

bool elf_names(const struct elf_file *f, const char *name)
{
	size_t n = strlen(name) + 1;

	return f->strings && (strcmp(f->strings, name) == 0 ||
				     memmem(f->strings, f->n_strings, name, n));
}

/* --- libraries --- */

static bool is_library(const char *path)
{
	struct elf_file f;
	bool is_one = elf_open(&f, path) == ELF_GOOD;

	elf_close(&f);
	return is_one;
}

/* A list of folders with colons; $ORIGIN is where the file itself is. */
static bool find_in_list(const char *list, const char *origin, const char *name,
	char *path, size_t size)
{
	static const char *const marks[] = { "$ORIGIN", "${ORIGIN}" };

	while (list && *list) {
		int n = (int)strcspn(list, ":"), skip = 0;

		for (int i = 0; i < 2; i++)
			if (!strncmp(list, marks[i], strlen(marks[i])))
				skip = (int)strlen(marks[i]);
		snprintf(path, size, "%s%.*s/%s", skip ? origin : "", n - skip,
			list + skip, name);
		if (is_library(path))
			return true;
		list += n + (list[n] == ':');
	}
	return false;
}

/* A text of the cache's own, which ends within it. */
static const char *cached(const char *cache, uint64_t n, uint32_t at)
{
	return at < n && memchr(cache + at, 0, n - at) ? cache + at : "";
}

static bool look_up(const char *cache, uint64_t n, const char *name, char *path,
	size_t size)
{
	static const char magic[] = "glibc-ld.so.cache1.1";
	uint32_t count, word[3];

	if (n < CACHE_HEAD || memcmp(cache, magic, sizeof(magic) - 1) != 0)
		return false;
	memcpy(&count, cache + sizeof(magic) - 1, sizeof(count));
	for (uint64_t at = CACHE_HEAD; count-- && at + ENTRY <= n;
		at += ENTRY) {
		memcpy(word, cache + at, sizeof(word));
		if (strcmp(cached(cache, n, word[1]), name) != 0)
			continue;
		snprintf(path, size, "%s", cached(cache, n, word[2]));
		if (is_library(path))
			return true;
	}
	return false;
}

static bool find_in_cache(const char *name, char *path, size_t size)
{
	int file = open("/etc/ld.so.cache", O_RDONLY | O_CLOEXEC);
	struct stat s;
	char *cache = NULL;
	bool is_found = false;

	if (file >= 0 && fstat(file, &s) == 0 && s.st_size > 0 &&
		s.st_size < MOST_STRINGS) {
		cache = mem_alloc((size_t)s.st_size, 1);
		is_found =
			read_at(file, cache, (uint64_t)s.st_size, 0) &&
			look_up(cache, (uint64_t)s.st_size, name, path, size);
	}
	if (file >= 0)
		close(file);
	mem_free(cache);
	return is_found;
}

bool elf_find(const struct elf_file *for_whom, const char *origin,
	const char *folders, const char *name, char *path, size_t size)
{
	if (strchr(name, '/')) {
		snprintf(path, size, "%s", name);
		return is_library(path);
	}
	return find_in_list(folders, origin, name, path, size) ||
	       find_in_list(for_whom->path, origin, name, path, size) ||
	       find_in_cache(name, path, size) ||
	       find_in_list("/lib:/usr/lib:/lib64:/usr/lib64", origin, name,
		       path, size);
}

/* --- instructions --- */

enum { AHEAD = 40 }; /* bytes that are looked at behind an instruction */

#if defined(__x86_64__)
/* What compilers do with the two halves of the clock: a shift by 32. */
static bool is_joined(const unsigned char *at)
{
	for (uint32_t i = 0; i + 4 <= AHEAD - 2; i++)
		if ((at[i] & 0xfe) == 0x48 && at[i + 1] == 0xc1 &&
			(at[i + 2] & 0xf8) == 0xe0 && at[i + 3] == 32)
			return true;
	return false;
}

/* Or a copy of eax or edx, in the next instruction; or lfence. */
static bool is_used(const unsigned char *at)
{
	const unsigned char *move = at + ((at[0] & 0xf0) == 0x40);

	return (move[0] == 0x89 && (move[1] >> 3 & 5) == 0) ||
	       (at[0] == 0x0f && at[1] == 0xae && at[2] == 0xe8);
}

/* rdtsc is 0f 31, rdtscp 0f 01 f9.  Two bytes may be anything, so what is done
 * with the result must be seen, too. */
static bool reads_clock(const unsigned char *at)
{
	return at[0] == 0x0f &&
	       ((at[1] == 0x01 && at[2] == 0xf9) ||
		       (at[1] == 0x31 &&
			       (is_joined(at + 2) || is_used(at + 2))));
}
#else
static bool reads_clock(const unsigned char *at)
{
	(void)at;
	return false;
}
#endif

/* In pieces that overlap, so that none is cut. */
static uint64_t count_segment(const struct elf_file *f, const Elf64_Phdr *p)
{
	unsigned char *bytes = mem_alloc(CHUNK + AHEAD, 1);
	uint64_t count = 0, at = 0, left;
	ssize_t n = 1;

	for (; at < p->p_filesz && n > 0; at += CHUNK) {
		left = p->p_filesz - at;
		memset(bytes, 0, CHUNK + AHEAD);
		n = pread(f->file, bytes,
			left < CHUNK + AHEAD ? left : CHUNK + AHEAD,
			(off_t)(p->p_offset + at));
		for (ssize_t i = 0; i < n && i < CHUNK; i++)
			count += reads_clock(bytes + i);
	}
	mem_free(bytes);
	return count;
}

uint64_t elf_count_clocks(const struct elf_file *f)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < n_segments(f); i++)
		if (f->segment[i].p_type == PT_LOAD &&
			f->segment[i].p_flags & PF_X)
			count += count_segment(f, &f->segment[i]);
	return count;
}

/* --- functions --- */

/* n things of a size at an offset, to be freed; NULL if they are not there. */
static void *load(
	const struct elf_file *f, uint64_t offset, uint64_t n, size_t size)
{
	uint64_t bytes;
	void *to;

	if (__builtin_mul_overflow(n, size, &bytes) || !bytes ||
		bytes > MOST_SYMBOLS)
		return NULL;
	to = mem_alloc(bytes, 1);
	if (read_at(f->file, to, bytes, offset))
		return to;
	mem_free(to);
	return NULL;
}

static bool address_of(
	const struct elf_file *f, uint64_t offset, uint64_t *address)
{
	for (uint32_t i = 0; i < n_segments(f); i++) {
		const Elf64_Phdr *p = &f->segment[i];

		if (p->p_type == PT_LOAD && offset >= p->p_offset &&
			offset - p->p_offset < p->p_filesz) {
			*address = p->p_vaddr + (offset - p->p_offset);
			return true;
		}
	}
	return false;
}

static bool is_in(const Elf64_Sym *s, uint64_t address)
{
	return ELF64_ST_TYPE(s->st_info) == STT_FUNC &&
	       address >= s->st_value && address - s->st_value < s->st_size;
}

static bool find_in(const struct elf_file *f, const Elf64_Shdr *table,
	const Elf64_Shdr *names, uint64_t address, char *name, size_t size)
{
	uint64_t n = table->sh_size / sizeof(Elf64_Sym), k = 0, at;
	Elf64_Sym *s = load(f, table->sh_offset, n, sizeof(*s));
	ssize_t got;

	while (s && k < n && !is_in(&s[k], address))
		k++;
	if (!s || k == n) {
		mem_free(s);
		return false;
	}
	at = names->sh_offset + s[k].st_name;
	mem_free(s);
	got = at <= INT64_MAX ? pread(f->file, name, size - 1, (off_t)at) : 0;
	name[got > 0 ? got : 0] = '\0';
	return got > 0;
}

/* All symbols rather than those that other files may use. */
bool elf_function(
	const struct elf_file *f, uint64_t offset, char *name, size_t size)
{
	static const uint32_t kinds[] = { SHT_SYMTAB, SHT_DYNSYM };
	uint32_t n = f->head.e_shnum;
	uint64_t address = 0;
	Elf64_Shdr *s = NULL;
	bool is_found = false;

	if (address_of(f, offset, &address))
		s = load(f, f->head.e_shoff, n, sizeof(*s));
	for (uint32_t k = 0; s && k < 2 * n && !is_found; k++) {
		const Elf64_Shdr *x = &s[k % n];

		is_found = x->sh_type == kinds[k / n] && x->sh_link < n &&
			   find_in(f, x, &s[x->sh_link], address, name, size);
	}
	mem_free(s);
	return is_found;
}
