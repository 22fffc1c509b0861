#define _GNU_SOURCE
#include "outside/inspect.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/mem.h"
#include "outside/elf.h"

enum { MOST_LIBRARIES = 512 };

__attribute__((format(printf, 3, 4))) static void add(
	struct inspect *x, enum inspect_weight weight, const char *form, ...)
{
	struct inspect_finding *f = &x->finding[x->n_findings];
	va_list list;

	if (x->n_findings == INSPECT_MOST)
		return;
	x->n_findings++;
	f->weight = weight;
	va_start(list, form);
	vsnprintf(f->text, sizeof(f->text), form, list);
	va_end(list);
}

const struct inspect_finding *inspect_worst(const struct inspect *x)
{
	const struct inspect_finding *worst = NULL;

	for (uint32_t i = 0; i < x->n_findings; i++)
		if (x->finding[i].weight > (worst ? worst->weight : 0))
			worst = &x->finding[i];
	return worst;
}

/* --- where it is --- */

static const char *variable(const struct inspect_how *how, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; how->variables && how->variables[i]; i++)
		if (!strncmp(how->variables[i], name, n) &&
			how->variables[i][n] == '=')
			return how->variables[i] + n + 1;
	return getenv(name);
}

static bool is_program(const char *path)
{
	struct stat s;

	return !stat(path, &s) && S_ISREG(s.st_mode) && !access(path, X_OK);
}

/* A path that begins somewhere else begins in the ranks' folder. */
static void join(char *path, const struct inspect_how *how, const char *folder,
	int n, const char *name)
{
	snprintf(path, PATH_MAX, "%s%s%.*s%s%s",
		how->folder && folder[0] != '/' && name[0] != '/' ? how->folder
								  : "",
		how->folder && folder[0] != '/' && name[0] != '/' ? "/" : "", n,
		folder, n ? "/" : "", name);
}

/* As execvp() finds it. */
bool inspect_find(
	const char *name, const struct inspect_how *how, char path[PATH_MAX])
{
	const char *at = getenv("PATH");

	if (strchr(name, '/')) {
		join(path, how, "", 0, name);
		return is_program(path);
	}
	for (at = at ? at : "/bin:/usr/bin"; *at;) {
		int n = (int)strcspn(at, ":");

		join(path, how, n ? at : ".", n ? n : 1, name);
		if (is_program(path))
			return true;
		at += n + (at[n] == ':');
	}
	snprintf(path, PATH_MAX, "%s", name);
	return false;
}

static void explain_missing(struct inspect *x, const char *name)
{
	struct stat s;

	if (!strchr(name, '/'))
		add(x, INSPECT_BAD, "no program of this name is in PATH%s",
			access(name, X_OK) ? "" : "; want ./ in front of it");
	else if (stat(x->path, &s))
		add(x, INSPECT_BAD, "%s", strerror(errno));
	else if (!S_ISREG(s.st_mode))
		add(x, INSPECT_BAD, "it is not a file");
	else
		add(x, INSPECT_BAD, "it may not be executed (chmod +x)");
}

/* --- what it is --- */

static void read_script(struct inspect *x)
{
	char line[INSPECT_NAME + 2] = "";
	int file = open(x->path, O_RDONLY | O_CLOEXEC);
	ssize_t n = file < 0 ? 0 : read(file, line, sizeof(line) - 1);

	if (file >= 0)
		close(file);
	if (n > 2 && line[0] == '#' && line[1] == '!') {
		char *from = line + 2 + strspn(line + 2, " \t");

		from[strcspn(from, "\n")] = '\0';
		x->kind = INSPECT_SCRIPT;
		snprintf(x->interpreter, sizeof(x->interpreter), "%s", from);
		from[strcspn(from, " \t")] = '\0';
		if (from[0] == '/' && !is_program(from))
			add(x, INSPECT_WRONG,
				"its first line names %s, which does not exist "
				"or may not be executed",
				from);
		else
			add(x, INSPECT_NOTE,
				"it is a script for %s: what that loads is "
				"known only when it runs",
				x->interpreter);
		return;
	}
	x->kind = INSPECT_OTHER;
	add(x, INSPECT_WRONG, "it is neither a program nor a script with #!");
}

/* The loader takes nothing from LD_PRELOAD into programs whose rights are not
 * those of their user. */
static void check_rights(struct inspect *x)
{
	static const char so[] =
		"so the loader takes no library of Weft's into it";
	struct stat s;

	if (stat(x->path, &s))
		return;
	if (s.st_mode & S_ISUID && s.st_uid != geteuid())
		add(x, INSPECT_WRONG, "it is set-user-id, %s", so);
	else if (s.st_mode & S_ISGID && s.st_gid != getegid())
		add(x, INSPECT_WRONG, "it is set-group-id, %s", so);
	else if (getuid() &&
		 getxattr(x->path, "security.capability", NULL, 0) > 0)
		add(x, INSPECT_WRONG, "it has capabilities, %s", so);
}

/* --- its libraries --- */

struct walk {
	struct inspect *x;
	const char *folders; /* LD_LIBRARY_PATH */
	char *name[MOST_LIBRARIES], *path[MOST_LIBRARIES];
	uint32_t n;
};

static bool begins(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

static bool ends(const char *name, const char *with)
{
	size_t n = strlen(name), m = strlen(with);

	return n >= m && !strcmp(name + n - m, with);
}

static enum inspect_mpi kind_of(const char *name)
{
	if (!begins(name, "libmpi") && !begins(name, "libmvapich"))
		return INSPECT_NO_MPI;
	if (ends(name, ".so.40"))
		return INSPECT_OPENMPI;
	return ends(name, ".so.12") ? INSPECT_MPICH : INSPECT_UNKNOWN_MPI;
}

static void note_library(struct inspect *x, const char *name, const char *path)
{
	enum inspect_mpi mpi = kind_of(name);

	x->calls_fabric |= begins(name, "libfabric.so") && !x->mpi;
	if (!mpi || (x->mpi && !begins(name, "libmpi.so")))
		return;
	x->mpi = mpi;
	snprintf(x->library, sizeof(x->library), "%s", name);
	snprintf(x->library_path, sizeof(x->library_path), "%s", path);
}

static void note_missing(struct inspect *x, const char *name)
{
	if (x->n_missing < INSPECT_MOST)
		snprintf(x->missing[x->n_missing++], INSPECT_NAME, "%s", name);
}

static bool is_known(const struct walk *w, const char *name)
{
	for (uint32_t i = 0; i < w->n; i++)
		if (!strcmp(w->name[i], name))
			return true;
	return w->n == MOST_LIBRARIES;
}

/* Those that a file needs join the list. */
static void add_needed(struct walk *w, const struct elf_file *f, const char *of)
{
	char origin[PATH_MAX], path[PATH_MAX], *slash;

	if (!realpath(of, origin))
		snprintf(origin, sizeof(origin), "%s", of);
	slash = strrchr(origin, '/');
	if (slash)
		*slash = '\0';
	for (uint32_t i = 0; i < f->n_needed; i++) {
		const char *name = f->needed[i];
		bool is_there;

		if (is_known(w, name))
			continue;
		is_there = elf_find(
			f, origin, w->folders, name, path, sizeof(path));
		note_library(w->x, name, is_there ? path : "");
		if (!is_there)
			note_missing(w->x, name);
		w->name[w->n] = mem_text(name);
		w->path[w->n++] = mem_text(is_there ? path : "");
	}
}

static void walk(struct walk *w, const struct elf_file *program)
{
	add_needed(w, program, w->x->path);
	/* its own, and then theirs */
	for (uint32_t i = 0; i < w->n; i++) {
		struct elf_file f;

		if (!*w->path[i])
			continue;
		if (elf_open(&f, w->path[i]) == ELF_GOOD)
			add_needed(w, &f, w->path[i]);
		elf_close(&f);
	}
	for (uint32_t i = 0; i < w->n; i++) {
		mem_free(w->name[i]);
		mem_free(w->path[i]);
	}
}

/* --- what would go wrong --- */

/* Debian's package of a library, by the rule for their names. */
static void name_package(const char *library, char *text, size_t size)
{
	size_t n = strcspn(library, ".");
	const char *version = strstr(library, ".so.");
	bool has_digit = n && library[n - 1] >= '0' && library[n - 1] <= '9';

	if (ends(library, ".so.40") &&
		(begins(library, "libmpi") || begins(library, "libopen-")))
		snprintf(text, size, "libopenmpi3");
	else
		snprintf(text, size, "%.*s%s%s", (int)n, library,
			has_digit ? "-" : "", version ? version + 4 : "");
}

static void check_missing(struct inspect *x)
{
	char package[INSPECT_NAME + 8];

	for (uint32_t i = 0; i < x->n_missing; i++) {
		name_package(x->missing[i], package, sizeof(package));
		add(x, INSPECT_DOUBT,
			"%s is not found; Debian's package should be %s",
			x->missing[i], package);
	}
}

/* Whether an Open MPI can use libfabric: it has a component for that, as a file
 * beside it or in itself. */
static bool has_ofi(const struct inspect *x)
{
	static const char *const places[] = { "openmpi", "openmpi3",
		"openmpi/lib/openmpi", "openmpi/lib/openmpi3" };
	char path[PATH_MAX], file[PATH_MAX + 64], *slash;
	struct elf_file f;
	bool has = false;

	if (!realpath(x->library_path, path))
		return true; /* that is told elsewhere */
	if (elf_open(&f, path) == ELF_GOOD)
		has = elf_names(&f, "mca_mtl_ofi_component");
	elf_close(&f);
	slash = strrchr(path, '/');
	if (slash)
		*slash = '\0';
	for (uint32_t i = 0; i < 4 && !has; i++) {
		snprintf(file, sizeof(file), "%s/%s/mca_mtl_ofi.so", path,
			places[i]);
		has = !access(file, R_OK);
	}
	return has;
}

static void check_openmpi(struct inspect *x)
{
	if (x->mpi == INSPECT_OPENMPI && !has_ofi(x))
		add(x, INSPECT_DOUBT,
			"its Open MPI, %s, has no component for "
			"libfabric, mtl/ofi",
			x->library_path);
	else if (x->mpi > INSPECT_OPENMPI)
		add(x, INSPECT_WRONG,
			"it needs %s, which is %s; want Open MPI 4 or 5, "
			"libmpi.so.40, or stack=pmi for an MPI library that "
			"is built on libfabric",
			x->library,
			x->mpi == INSPECT_MPICH
				? "MPICH's or of an MPI library like it"
				: "of an unknown MPI library");
}

static void check_mpi(struct inspect *x, const struct inspect_how *how)
{
	if (!strcmp(how->stack, "openmpi"))
		check_openmpi(x);
	if (x->mpi || !strcmp(how->stack, "none"))
		return;
	if (x->calls_fabric)
		add(x, INSPECT_NOTE,
			"it has no MPI library and calls libfabric itself: "
			"want stack=none");
	else if (x->may_load)
		add(x, INSPECT_NOTE,
			"it needs no MPI library; it may load one when it "
			"runs, or start another program");
	else
		add(x, INSPECT_DOUBT,
			"it needs no MPI library: its ranks would send "
			"nothing");
}

static void check_clocks(struct inspect *x)
{
	if (x->clocks)
		add(x, INSPECT_NOTE,
			"its code reads the processor's clock (rdtsc) at about "
			"%llu place%s: that shows the host's time, unless "
			"tsc=trap",
			(unsigned long long)x->clocks,
			x->clocks == 1 ? "" : "s");
}

static void look_inside(struct inspect *x, const struct elf_file *f,
	const struct inspect_how *how)
{
	struct walk *w = mem_alloc(1, sizeof(*w));

	w->x = x;
	w->folders = variable(how, "LD_LIBRARY_PATH");
	x->kind = f->has_interpreter ? INSPECT_DYNAMIC : INSPECT_STATIC;
	x->may_load = elf_names(f, "dlopen") || elf_names(f, "execve");
	if (how->counts_clocks)
		x->clocks = elf_count_clocks(f);
	if (!f->has_interpreter)
		add(x, INSPECT_WRONG,
			"it is linked statically, so the loader takes no "
			"library of Weft's into it");
	walk(w, f);
	mem_free(w);
	check_missing(x);
	if (f->has_interpreter)
		check_mpi(x, how);
	check_clocks(x);
}

void inspect(
	struct inspect *x, const char *program, const struct inspect_how *how)
{
	struct elf_file f;
	enum elf_answer answer;

	*x = (struct inspect){ .kind = INSPECT_OTHER };
	if (!inspect_find(program, how, x->path)) {
		explain_missing(x, program);
		return;
	}
	answer = elf_open(&f, x->path);
	if (answer == ELF_GOOD)
		look_inside(x, &f, how);
	else if (f.file < 0)
		add(x, INSPECT_NOTE, "it cannot be read: %s", strerror(errno));
	else if (answer == ELF_NONE)
		read_script(x);
	else
		add(x, INSPECT_WRONG,
			"it is not for the processor of this host");
	elf_close(&f);
	check_rights(x);
}
