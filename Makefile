# The commands of this package. `make help` lists them.

SHELL := /bin/bash
.DEFAULT_GOAL := help

# Swift, also where the toolchain was unpacked to its usual place but is not on the PATH.
export PATH := $(PATH):/opt/swift/usr/bin:/usr/share/swift/usr/bin

# How many seeds `make simulate` plays.
SEEDS := 1000
# How long `make fuzz` gives each target; other commands have their own.
SECONDS := 60
soak: SECONDS := 1800
fuzz-driver: SECONDS := 300
# Where `make install` puts things.
PREFIX ?= $(HOME)/.local
# Where format looks.
SWIFT_SOURCES := $(wildcard Sources Tests Benchmarks Compatibility Examples Scripts/Adopt Package.swift)

.PHONY: help install uninstall fetch-manual pictures measure-fetch adoption compatibility examples guest demo test test-http2 build release coverage sanitize sanitize-thread sanitize-address fuzz behaviour pages docs docs-show docs-check \
	surface simulate mutations soak soak-netem fuzz-driver bench bench-peers bench-counts bench-growth lint format clean

help: ## List the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## See it work: requests over http and https against a server made for the occasion
	@Scripts/install-packages build
	@swift build --product URLLoadingDemo
	@swift run --skip-build URLLoadingDemo

test: ## Run the whole suite, the real peers (servers and proxies) included
	@Scripts/install-packages test
	@Scripts/suite

test-http2: ## Run the API's suites once more, with sessions and servers that speak HTTP/2 to each other
	@Scripts/install-packages test
	@Scripts/suite --http2

build: ## Build everything for debugging
	@Scripts/install-packages build
	swift build --build-tests

release: ## Build all products with optimisation
	@Scripts/install-packages build
	swift build -c release

coverage: ## Run the suite and print line coverage and the uncovered lines
	@Scripts/install-packages test
	@Scripts/coverage

sanitize: sanitize-thread sanitize-address ## Run the suite under ThreadSanitizer and AddressSanitizer

sanitize-thread: ## Run the suite under ThreadSanitizer
	@Scripts/install-packages test
	@Scripts/sanitize thread

sanitize-address: ## Run the suite under AddressSanitizer, leaks included where the system allows it
	@Scripts/install-packages test
	@Scripts/sanitize address

fuzz: ## Fuzz every parser, SECONDS=60 each
	@Scripts/install-packages build
	@Tests/Fuzz/run all $(SECONDS)

fuzz-driver: ## Run the conformance driver against servers that reply with anything, SECONDS=300
	@Scripts/install-packages build
	@swift build --product URLLoadingConformance
	@swift run --skip-build URLLoadingConformance --fuzz-driver $(SECONDS)

simulate: ## Play the whole library from SEEDS=1000 seeds, on one thread and a virtual clock; SIMULATE="--seed 7 --trace" tells one story
	@Scripts/install-packages build
	@swift build --product URLLoadingTestPrograms
	@swift run --skip-build URLLoadingTestPrograms simulate --seeds $(SEEDS) $(SIMULATE)

mutations: ## Put the faults of Tests/Mutations into a copy, one by one, and see that the simulation finds each
	@Scripts/install-packages build
	@Scripts/mutations

# Built for debugging, on purpose: the assertions of our own code are looked at too.
soak: ## Mixed load through bad networks, every answer checked, SECONDS=1800; SOAK="--seed 2"; writes docs/soak.md and its plot
	@Scripts/install-packages build
	@swift build --product URLLoadingTestPrograms
	@swift run --skip-build URLLoadingTestPrograms soak mixed --seconds $(SECONDS) --report docs --json .build/soak.json $(SOAK)

soak-netem: ## The same for SECONDS=60 where the kernel loses and delays packets, in a network namespace if one is allowed
	@Scripts/install-packages build
	@Scripts/install-packages netem || true
	@Scripts/soak-netem $(SECONDS) $(SOAK)

behaviour: ## Count which statements of docs/behaviour are tested; fails where one is not, or is cited and not there
	@Scripts/behaviour

docs: ## Build the documentation of the API and its articles into docs/reference
	@Scripts/install-packages build
	@Scripts/documentation

docs-show: ## Serve docs/reference on this machine, and say the address to open
	@Scripts/reference

docs-check: ## Follow every link of docs/reference, and open some of its pages in chromium
	@Scripts/install-packages browser
	@Scripts/reference --check

pages: ## Check the links, commands, names and figures of the pages
	@Scripts/pages

surface: ## Compare the public API with the list of Apple's, type by type
	@Scripts/install-packages build
	@Scripts/api-surface
	@Scripts/surface-tests --skip-build --check

bench-peers: ## Install and build the clients that the benchmarks compare with
	@Scripts/bench-peers

bench: ## Measure every scenario beside every installed peer; BENCH="--filter get" narrows it
	@Scripts/install-packages build
	@Scripts/bench $(BENCH)

bench-counts: ## Count instructions and allocations per request and compare them with the stored thresholds; COUNTS="--only get"
	@Scripts/install-packages counts
	@Scripts/bench-counts --check $(COUNTS)

bench-growth: ## Count what a connection, a byte, a field, a cookie costs as there are more, and write docs/growth.md; GROWTH="--only cookies*"
	@Scripts/install-packages counts
	@Scripts/bench growth --check --report docs $(GROWTH)

# In a place of its own, or this build and that of `make release` would undo each other.
STATIC := swift build -c release --static-swift-stdlib --scratch-path .build/static

SHARE := $(DESTDIR)$(PREFIX)/share
# Everything that `make install` puts below PREFIX.
INSTALLED := $(DESTDIR)$(PREFIX)/bin/fetch $(DESTDIR)$(PREFIX)/bin/urlloading-transfers $(SHARE)/man/man1/fetch.1 \
	$(SHARE)/bash-completion/completions/fetch $(SHARE)/zsh/site-functions/_fetch $(SHARE)/fish/vendor_completions.d/fetch.fish

install: ## Build fetch and the helper of background sessions, and put them, the manual page and completions below PREFIX=~/.local
	@Scripts/install-packages build
	$(STATIC) --product fetch -Xlinker -s
	$(STATIC) --product urlloading-transfers -Xlinker -s
	install -D -m 755 -t "$(DESTDIR)$(PREFIX)/bin" \
		"$$($(STATIC) --show-bin-path)/fetch" "$$($(STATIC) --show-bin-path)/urlloading-transfers"
	@Scripts/install-generated "$(DESTDIR)$(PREFIX)"

uninstall: ## Remove what `make install` has put below PREFIX=~/.local
	rm -f $(foreach file,$(INSTALLED),"$(file)")

fetch-manual: build ## Bring the tables of docs/fetch.md and docs/fetch-and-curl.md up to date with fetch's options
	@Scripts/fetch-manual

pictures: ## Make the pictures of terminals in docs anew, from real runs
	@Scripts/install-packages test
	@Scripts/pictures

measure-fetch: ## Measure fetch beside a FoundationNetworking program: size, start, one GET, memory
	@Scripts/install-packages build
	@Scripts/measure-fetch

adoption: ## Check Scripts/adopt, which changes a package to use URLLoading, on a sample that is built afterwards
	@Scripts/install-packages build
	@Scripts/adoption

compatibility: ## Build and run a library that imports FoundationNetworking and knows nothing of URLLoading
	@Scripts/install-packages build
	@Scripts/compatibility

examples: ## Build the programs in Examples and run them against the demo's server
	@Scripts/install-packages build
	@Scripts/examples

guest: ## Build a package beside ours whose targets have names that were or might be ours, and run it
	@Scripts/install-packages test
	@Scripts/guest

lint: ## Check the format, and rules of the house
	@Scripts/lint

format: ## Rewrite the sources in the project's format
	swift format --in-place --recursive --configuration .swift-format $(SWIFT_SOURCES)

clean: ## Remove everything that was built
	rm -rf .build
