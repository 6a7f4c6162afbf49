# The few commands of the README. Everything else: CMakeLists.txt and CMakePresets.json.
PREFIX ?= /usr/local
JOBS   ?= 2

# Ninja where there is one, for build trees not configured yet.
GENERATOR := $(if $(shell command -v ninja),Ninja,Unix Makefiles)
configure  = test -f $(2)/CMakeCache.txt || cmake --preset $(1) -G "$(GENERATOR)"

.PHONY: all test demo bench coverage format install uninstall package reference web clean help determinism endurance fuzz nightly

all:
	@$(call configure,release,build)
	cmake --build build -j $(JOBS)

test:
	tools/setup.sh
	@$(MAKE) --no-print-directory all
	ctest --test-dir build -j $(JOBS) --output-on-failure

demo:
	tools/setup.sh
	@$(MAKE) --no-print-directory all
	build/bin/poise demo

bench: all
	build/bin/poise-bench

coverage:
	@$(call configure,coverage,build-coverage)
	cmake --build build-coverage -j $(JOBS)
	ctest --preset coverage -j $(JOBS)
	tools/coverage.sh build-coverage

determinism:
	tools/check_determinism.sh

fuzz:
	tools/fuzz.sh $(SECONDS)

# 10^7 solves, then a tracker for ten minutes; SOAK=7200 for two hours
endurance: all
	cmake --build build --target endurance
	build/bin/endurance $(or $(SOLVES),10000000) $(JOBS) $(or $(SOAK),600)

nightly: all
	tools/nightly.sh

format:
	tools/check_format.sh --fix

reference:
	tools/check_reference.sh build/reference
	@echo "open build/reference/html/index.html"

web:
	tools/setup.sh
	web/build.sh
	web/studio/build.sh $(CURDIR)/build/studio

install: all
	cmake --install build --prefix $(PREFIX)

uninstall:
	cmake -DMANIFEST=build/install_manifest.txt -P cmake/uninstall.cmake

package: all
	cd build && cpack

clean:
	rm -rf build build-debug build-asan build-clang build-coverage build-tsan build-msan build-fuzz web/build web/dist web/studio/dist

help:
	@echo "make            build the library and the programs in build/"
	@echo "make test       install missing Debian packages, build, run all tests"
	@echo "make demo       the same up to the build, then run the demonstration"
	@echo "make bench      build and run the benchmarks (build/bin/poise-bench --help)"
	@echo "make coverage   run the unit tests and say which share of each source ran"
	@echo "make reference  make the API reference from the headers (doxygen)"
	@echo "make web        build the npm package and the studio (web/dist, build/studio)"
	@echo "make fuzz       fuzz readers and solvers, SECONDS=60 each"
	@echo "make determinism  the same bits from every compiler, level, thread count and batch size"
	@echo "make endurance  10^7 random solves, then a tracker for SOAK=600 seconds"
	@echo "make nightly    all the long checks"
	@echo "make format     run clang-format on all C files"
	@echo "make install    install to PREFIX (default /usr/local)"
	@echo "make uninstall  remove what the last install put there"
	@echo "make package    make a Debian package in build/"
	@echo "make clean      remove the build folders"
