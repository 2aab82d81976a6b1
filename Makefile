# The commands of this package. `make help` lists them.

SHELL := /bin/bash
.DEFAULT_GOAL := help

# Swift, also where the toolchain was unpacked to its usual place but is not on the PATH.
export PATH := $(PATH):/opt/swift/usr/bin:/usr/share/swift/usr/bin

# How long `make fuzz` gives each target.
SECONDS := 60
# Where lint and format look.
SWIFT_SOURCES := $(wildcard Sources Tests Benchmarks Compatibility Package.swift)

.PHONY: help compatibility demo test build release coverage sanitize sanitize-thread sanitize-address fuzz behaviour surface bench \
	bench-peers bench-counts lint format clean

help: ## List the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## See it work: requests over http and https against a server made for the occasion
	@Scripts/install-packages build
	@swift build --product demo
	@swift run --skip-build demo

test: ## Run the whole suite, the real peers (servers and proxies) included
	@Scripts/install-packages test
	@Scripts/suite

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

behaviour: ## Count which statements of the behaviour reference are tested, chapter by chapter
	@Scripts/behaviour

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

compatibility: ## Build and run a library that imports FoundationNetworking and knows nothing of URLLoading
	@Scripts/install-packages build
	@Scripts/compatibility

lint: ## Check formatting and style
	swift format lint --strict --recursive --configuration .swift-format $(SWIFT_SOURCES)
	@! grep -rn --include='*.swift' --exclude=Handover.swift 'with[A-Za-z]*Continuation' Tests \
		|| { echo "Tests wait with withHandover: Tests/Support/Handover.swift says why."; exit 1; }

format: ## Rewrite the sources in the project's format
	swift format --in-place --recursive --configuration .swift-format $(SWIFT_SOURCES)

clean: ## Remove everything that was built
	rm -rf .build
