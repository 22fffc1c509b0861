# A front end for meson: `make help` lists the targets.

PREFIX = /usr/local
MATRIX = release asan clang O0 tsan cross

.PHONY: build help demo test sanitize tutorial matrix bench inside campaign \
	mutants chaos fuzz sources format install deb dist clean

build:
	@scripts/deps
	@scripts/build release

help:
	@echo 'make            build build/release/src/weft'
	@echo 'make demo       build it, run a few experiments, write demo.html'
	@echo 'make test       build it and run all tests'
	@echo 'make sanitize   run the tests under ASan and UBSan'
	@echo 'make matrix     also with clang, -O0, TSan, another architecture'
	@echo '                and, for golden runs, without short cuts'
	@echo 'make bench      run the benchmarks'
	@echo 'make inside     measure the cost of recording and reports'
	@echo 'make tutorial   run weft-tutorial(7) on all its 4,096 nodes'
	@echo 'make campaign   run the long tests'
	@echo 'make mutants    remove features, and check that tests notice it'
	@echo '                IDS="BGQ-F2 qsnet2" selects features'
	@echo 'make chaos      try random machines, workloads, faults, failures'
	@echo '                SEED=1 COUNT=200 VARIANT=release KIND=ends ...'
	@echo 'make fuzz       run each fuzz target for a minute'
	@echo 'make sources    add new files to the meson.build files'
	@echo 'make format     run clang-format on all C files'
	@echo 'make install    install into PREFIX=$(PREFIX); DESTDIR works'
	@echo 'make deb        build the Debian packages in build/deb'
	@echo 'make dist       make a tarball of the last commit'
	@echo 'make clean      remove build/'
	@echo
	@echo 'JOBS=N limits the number of concurrent jobs.'

demo:
	@scripts/deps
	@scripts/demo

test:
	@scripts/test release

sanitize:
	@scripts/test asan

matrix:
	@ASAN_OPTIONS=detect_leaks=1 scripts/test $(MATRIX)
	@for variant in release clang; do \
		[ -x build/$$variant/src/weft ] || continue; \
		WEFT=$(CURDIR)/build/$$variant/src/weft WHOLE=1 \
			tests/processes.sh >build/$$variant/log 2>&1 || \
			{ cat build/$$variant/log; exit 1; }; \
	done
	@WEFT=$(CURDIR)/build/release/src/weft WHOLE=1 tests/processes-mpi.sh \
		>build/release/log 2>&1 || { cat build/release/log; exit 1; }
	@echo 'golden runs, packed and in several processes: passed'
	@scripts/build plain-paths src/weft
	@scripts/digests build/plain-paths/src/weft >build/plain-paths/log || \
		{ grep -v '^ok' build/plain-paths/log; exit 1; }
	@echo 'golden runs without short cuts: passed'
	@scripts/deps deb
	@scripts/deb

bench:
	@scripts/deps
	@scripts/build release
	@if [ -x bench/run ]; then \
		WEFT=build/release/src/weft WEFT_MACHINES=$(CURDIR)/machines \
			bench/run; \
	else \
		echo 'there is no bench/run'; \
	fi

inside:
	@scripts/deps
	@scripts/build release src/weft
	@WEFT=build/release/src/weft WEFT_MACHINES=$(CURDIR)/machines \
		bench/inside

tutorial:
	@scripts/deps
	@scripts/build release src/weft
	@WEFT=$(CURDIR)/build/release/src/weft WHOLE=1 tests/tutorial.sh

campaign:
	@scripts/deps
	@scripts/build release
	@if [ -x tests/campaign ]; then \
		WEFT=build/release/src/weft WEFT_MACHINES=$(CURDIR)/machines \
			tests/campaign; \
	else \
		echo 'there is no tests/campaign'; \
	fi
	@WEFT=build/release/src/weft WEFT_MACHINES=$(CURDIR)/machines WHOLE=1 \
		tests/paper.sh
	@scripts/mutants
	@COUNT=2000 scripts/chaos
	@COUNT=200 SEED=10001 VARIANT=asan scripts/chaos
	@scripts/build asan
	@WEFT=build/asan/src/weft WEFT_MACHINES=$(CURDIR)/machines \
		tests/campaign-links
	@meson test -C build/asan --no-rebuild --setup whole --suite again
	@WEFT_MACHINES=$(CURDIR)/machines WHOLE=1 build/asan/src/testing_tests \
		>build/asan/log 2>&1 || { cat build/asan/log; exit 1; }
	@echo 'every interface on every machine, with sanitizers: passed'

mutants:
	@scripts/deps
	@scripts/mutants $(IDS)

chaos:
	@scripts/deps
	@SEED='$(SEED)' COUNT='$(COUNT)' VARIANT='$(VARIANT)' KIND='$(KIND)' \
		scripts/chaos

fuzz:
	@scripts/deps matrix
	@scripts/fuzz

sources:
	@scripts/sources --write

format:
	@scripts/deps
	@find src fuzz bench examples include tests -name '*.[ch]' | \
		xargs -r clang-format -i

install:
	@scripts/deps
	@PREFIX='$(PREFIX)' scripts/build install
	@meson install -C build/release --no-rebuild --quiet
	@scripts/installed '$(PREFIX)'

deb:
	@scripts/deps deb
	@scripts/deb

dist:
	@scripts/deps
	@scripts/build release src/weft
	@meson dist -C build/release --no-tests

clean:
	rm -rf build
