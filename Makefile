# `make` alone lists the targets. Recipes are short; what is longer lives in scripts/.
SHELL := /bin/sh
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PKG ?= ./...
GOTESTFLAGS ?=
BENCH ?= .
BENCHTIME ?= 1s
FIGURETIME ?= 6s
PARKED ?= 1000000
DUE ?= 100000
WAITERS ?= 10000
FUZZ ?= .
FUZZTIME ?= 10m
TORTURETIME ?= 10m
FUZZPARALLEL ?= $(shell nproc 2>/dev/null || echo 2)

export PKG GOTESTFLAGS FUZZ FUZZTIME FUZZPARALLEL

##@ Test

.PHONY: test
test: ## format, vet, builds for Linux and macOS, every test on SQLite and PostgreSQL with the race detector; installs what is missing (NO_INSTALL=1: says what)
	@scripts/test

.PHONY: test-all
test-all: ## every test again with every variant (all crash points, all page states), without the race detector
	@scripts/test all

.PHONY: stress
stress: ## every test three times with the race detector while other processes keep all cores busy: make stress PKG=./engine
	@scripts/test stress

.PHONY: test-short
test-short: ## a quick look: SQLite only, no race detector, no long tests; leaves PostgreSQL out and says so
	@echo "test-short: leaves out PostgreSQL, the race detector and long tests; before a commit run 'make test'"
	@HOLDSHORT_TEST_SKIP_POSTGRES=1 go test -short $(GOTESTFLAGS) $(PKG)

.PHONY: race
race: ## only the tests, with the race detector and PostgreSQL: make race PKG=./store/... GOTESTFLAGS='-run Claim -count 20'
	@CGO_ENABLED=1 scripts/postgres exec go test -race -shuffle=on $(GOTESTFLAGS) $(PKG)

.PHONY: bench
bench: ## Go benchmarks, with PostgreSQL: make bench PKG=./store/... BENCH=Commit BENCHTIME=5s
	@scripts/postgres exec go test -run '^$$' -bench '$(BENCH)' -benchtime $(BENCHTIME) -benchmem $(PKG)

.PHONY: figures
figures: build ## the figures of docs/performance.md on this machine, SQLite then PostgreSQL (some minutes; PARKED and DUE make it longer)
	bin/holdshort bench --folder . --duration $(FIGURETIME) --cycle --agents --rules --sleeps 200 --parked $(PARKED) --due $(DUE) --door --pollers 1000 --waiters $(WAITERS)
	@scripts/postgres exec sh -c 'bin/holdshort bench --store "$$HOLDSHORT_TEST_POSTGRES" --duration $(FIGURETIME) --cycle --agents --sleeps 200 --due $(DUE)'

.PHONY: fuzz
fuzz: ## every fuzz target in turn, FUZZTIME=10m each: make fuzz FUZZ=Canonical FUZZTIME=1m FUZZPARALLEL=2
	@scripts/fuzz

.PHONY: torture
torture: build ## the promises: every crash point on PostgreSQL, then real processes killed on SQLite and on PostgreSQL, directly and over HTTP, TORTURETIME=10m each
	@HOLDSHORT_TORTURE=full scripts/postgres exec go test -timeout 0 -count 1 ./torture
	bin/holdshort torture --duration $(TORTURETIME)
	bin/holdshort torture --duration $(TORTURETIME) --http
	@scripts/postgres exec sh -c 'bin/holdshort torture --duration $(TORTURETIME) --store "$$HOLDSHORT_TEST_POSTGRES"'
	@scripts/postgres exec sh -c 'bin/holdshort torture --duration $(TORTURETIME) --http --store "$$HOLDSHORT_TEST_POSTGRES"'

.PHONY: sdkcheck
sdkcheck: ## what our model clients read and send, judged by the vendors' own SDKs, in a module of its own (they take minutes to compile)
	@cd internal/sdkcheck && go test -p 1 ./...

.PHONY: postgres
postgres: ## a throw-away PostgreSQL in the foreground; prints HOLDSHORT_TEST_POSTGRES for other terminals
	@scripts/postgres run

.PHONY: gallery
gallery: ## pictures of every page in every state, light, dark, phone and right to left, in ./gallery; installs Chromium if it is missing
	@scripts/gallery

##@ Build

.PHONY: build
build: ## the static binary, bin/holdshort
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o bin/holdshort ./cmd/holdshort

.PHONY: generate
generate: ## generated code and the third-party notices
	go generate ./...
	scripts/notices

##@ Keep tidy

.PHONY: lint
lint: ## gofmt, go vet, go.mod, notices; shellcheck and golangci-lint where they are installed
	@scripts/lint

.PHONY: clean
clean: ## removes bin/ and what tests and profiles left
	rm -rf bin
	find . -name '*.test' -type f -delete
	find . -name '*.prof' -type f -delete
	find . -name 'coverage.out' -type f -delete

.PHONY: help
help: ## this list
	@awk 'BEGIN { FS = ":.*## "; print "usage: make TARGET" } \
		/^##@ / { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
