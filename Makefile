# The few commands of the README. Everything else: CMakeLists.txt and CMakePresets.json.
PREFIX ?= /usr/local
JOBS   ?= $(shell nproc 2>/dev/null || sysctl -n hw.ncpu)

configure = tools/configure.sh $(2) --preset $(1) $(3)
# once more, when packages may have been added since
refresh   = cmake $(1) >/dev/null

MAKEFLAGS += --no-print-directory

.PHONY: all demo test check bench coverage format install uninstall package python reference web clean help determinism endurance \
	fuzz nightly release

all:
	@$(call configure,release,build,--log-level=NOTICE)
	@cmake build | grep 'Left out:' || true
	cmake --build build -j $(JOBS)

# the tool alone
demo:
	@tools/setup.sh tool
	@$(call configure,release,build,--log-level=NOTICE)
	cmake --build build -j $(JOBS) --target poise
	build/bin/poise demo

test:
	@tools/setup.sh test
	@$(call configure,release,build)
	@$(call refresh,build)
	cmake --build build -j $(JOBS)
	tools/run_tests.sh build -j $(JOBS) -LE '^check$$'

# the sources themselves: format, structure, linters
check: all
	tools/run_tests.sh build -j $(JOBS) -L '^check$$'

bench: all
	build/bin/poise-bench

coverage:
	@$(call configure,coverage,build-coverage)
	cmake --build build-coverage -j $(JOBS)
	ctest --preset coverage -j $(JOBS)
	tools/coverage.sh build-coverage

determinism:
	tools/check_bits.sh levels

fuzz:
	tools/fuzz.sh $(SECONDS)

# 10^7 solves, then a tracker for ten minutes; SOLVES=100000000 for 10^8, SOAK=7200 for two hours, CLOSEST=100000 answers looked at;
# then 20 times CONSTRAINED=50000 solves within constraints, judged by a check that shares no code with the solver; PART=1, 2, ... for others
endurance: all
	build/bin/endurance $(or $(SOLVES),10000000) $(JOBS) $(or $(SOAK),600) $(or $(CLOSEST),10000)
	TEST_SOLVES=$(or $(CONSTRAINED),50000) TEST_PART=$(or $(PART),0) build/bin/tests_constraints within_random

nightly: all
	tools/nightly.sh

format:
	tools/check_linters.sh format --fix || test $$? -eq 77

reference:
	@tools/check_linters.sh reference build/reference && echo "open build/reference/html/index.html" || test $$? -eq 77

web:
	@tools/setup.sh web
	JOBS=$(JOBS) web/build.sh
	web/studio/build.sh "$(CURDIR)/build/studio"
	@echo "npm package: web/dist. Open the studio with:"
	@test -x build/bin/poise || echo "  make demo             (once: it builds the program)"
	@echo "  build/bin/poise view"

# a wheel for any Python from 3.9 on
python:
	@tools/setup.sh python
	@$(call configure,release,build)
	@$(call refresh,build)
	cmake --build build -j $(JOBS) --target poise_python
	@python3 python/build_poise.py build build/python/poise/_poise.abi3.so | sed 's,^,build/,'

# libraries and tool alone: neither tests nor benchmarks
install:
	@$(call configure,release,build)
	cmake --build build -j $(JOBS) --target installed
	tools/install.sh build "$(PREFIX)"

uninstall:
	cmake -DMANIFEST=build/installed.txt -P cmake/uninstall.cmake

# with the studio, unless its build lacks something and says so
package:
	@tools/setup.sh package
	@$(call configure,release,build)
	cmake --build build -j $(JOBS) --target installed
	web/build.sh && web/studio/build.sh "$(CURDIR)/build/studio" || test $$? -eq 77
	cd build && cpack
	@test -f build/studio/index.html || echo "The package has been built WITHOUT the studio; the line \"skipped: ...\" above says why."

# all files that are given to users, in build/release
release:
	@tools/setup.sh release
	JOBS=$(JOBS) tools/release.sh

clean:
	rm -rf build build-* web/build web/dist web/LICENSE web/studio/dist

help:
	@echo "make              build everything whose dependencies are installed, in build/"
	@echo "make demo         install CMake and a C compiler if missing, build the tool, run its demonstration"
	@echo "make test         install what the tests need, build everything, run all tests"
	@echo "make check        check format and structure of the sources and run the linters"
	@echo "make web          build the npm package and the studio (web/dist, build/studio)"
	@echo "make python       make a wheel of the Python package in build/"
	@echo "make bench        run the benchmarks (build/bin/poise-bench --help)"
	@echo "make install      install to PREFIX (default /usr/local)"
	@echo "make uninstall    remove what the last make install installed"
	@echo "make package      make a Debian package in build/"
	@echo "make release      make packages for Debian, any Linux, Windows, npm and Python in build/release/"
	@echo "make reference    make the API reference from the headers (doxygen)"
	@echo "make coverage     run the unit tests and report line coverage by source"
	@echo "make fuzz         fuzz readers and solvers, SECONDS=60 each"
	@echo "make determinism  compare results bit by bit across compilers, optimisation levels, threads and batch sizes"
	@echo "make endurance    10^7 random solves, a tracker for SOAK=600 seconds, 10^6 solves within constraints"
	@echo "make nightly      run all the long checks"
	@echo "make format       run clang-format on all C files"
	@echo "make clean        remove the build folders"
