# make test        everything, about ten minutes on two cores; of fuzzing the seeds
# make test-long   full seeds, 1000 kills, 1000 corruptions, minutes of fuzzing
# make soak        HOURS (8) of fuzzing, kills, corruptions and crowds
# make release     VERSION: the same binaries for everybody, checksums, SBOM
# make site        the documents with search, in dist/site
# make wheels      VERSION: the Python package with its binary, for six systems
# make accrete     one static binary
# make beam        accrete-beam, for Apache Beam, and its tests; fetches its modules
# make bench       against what people use today, under 40 minutes; docs/benchmark.md
# make bench-quick the same in small, under 5 minutes
# make apidiff    what changed in the exported API
# make microbench  the benchmarks of every package

GO ?= go
STATICCHECK = $(GO) tool -modfile=tools.mod staticcheck
VERSION ?= $(shell git describe --tags --dirty 2>/dev/null)
.PHONY: test test-long check modules apidiff race bench bench-quick microbench cover accrete soak release wheels beam

accrete:
	CGO_ENABLED=0 $(GO) build -trimpath $(if $(VERSION),-ldflags "-X main.version=$(VERSION:v%=%)") -o accrete ./cmd/accrete

test: check
	scripts/laws 1 -vet=off
	scripts/beam here
	$(MAKE) race

test-long: check
	for os in darwin windows; do GOOS=$$os CGO_ENABLED=0 $(GO) build -o /dev/null ./cmd/accrete || exit 1; done
	ACCRETE_LONG=1 scripts/laws 0 -timeout 60m
	ACCRETE_LONG=1 scripts/beam
	scripts/race -timeout 60m ./...
	scripts/fuzz 2m

beam:
	scripts/beam
	cd beam && CGO_ENABLED=0 $(GO) build -trimpath -o ../accrete-beam ./accrete-beam

soak:
	scripts/soak $(or $(HOURS),8)

release:
	scripts/release $(VERSION)

site:
	scripts/site/build

wheels:
	scripts/wheels $(VERSION)

check:
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "gofmt would change these files"; exit 1; }
	$(GO) vet ./...
	$(STATICCHECK) ./...
	scripts/modules

# What changed in the exported API since BASE (default: the newest release).
apidiff:
	scripts/apidiff $(BASE)

# What runs on several cores or is used from several goroutines: the readers, the
# contract, the store; the long run takes every package, learners among them.
race:
	scripts/race -skip 'Memory|SparseARFF|LateNames|ManyColumns' ./table -rapid.seed=1
	scripts/race ./learn ./learn/learntest
	scripts/race -run 'Reader|Writer|Delete' ./store -rapid.seed=1

bench:
	scripts/bench-peers
	$(GO) run ./bench -docs docs

bench-quick:
	scripts/bench-peers
	$(GO) run ./bench -quick

microbench:
	$(GO) test -run '^$$' -bench . -benchmem ./...

cover:
	$(GO) test -cover ./table ./encode ./rule ./learn/... ./evaluate ./store
