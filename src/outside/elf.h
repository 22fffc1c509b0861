/* Executable files and libraries of the host: what they need. */
#ifndef OUTSIDE_ELF_H
#define OUTSIDE_ELF_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ELF_NEEDED = 128, ELF_SEGMENTS = 64 };

struct elf_file {
	int file;
	Elf64_Ehdr head;
	Elf64_Phdr segment[ELF_SEGMENTS];
	bool has_interpreter;
	char *strings; /* of the loader's, or NULL */
	uint64_t n_strings; /* bytes, the last of which is 0 */
	const char *needed[ELF_NEEDED]; /* libraries */
	uint32_t n_needed;
	const char *path; /* where to look for them, or NULL */
};

/* Why a file cannot be run here. */
enum elf_answer { ELF_GOOD, ELF_NONE, ELF_FOREIGN };

/* Must be closed in any case. */
enum elf_answer elf_open(struct elf_file *f, const char *path);
void elf_close(struct elf_file *f);

/* Whether a name is among those that the loader joins. */
bool elf_names(const struct elf_file *f, const char *name);

/* Where the loader would take a library from; false if it would not find it. */
bool elf_find(const struct elf_file *for_whom, const char *origin,
	const char *folders, const char *name, char *path, size_t size);

/* The name of the function that has a byte of the file; false if there is none.
 * Nothing in the file is trusted, and it may change meanwhile. */
bool elf_function(
	const struct elf_file *f, uint64_t offset, char *name, size_t size);

/* Places in the text that look as if they read the processor's clock. */
uint64_t elf_count_clocks(const struct elf_file *f);

#endif
