# make help lists the targets.

GO          ?= go
STATICCHECK ?= $(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2
FUZZTIME    ?= 10s
BUILD       ?= build

# The build tag of the tests and cases of all element types: see internal/longtest.
LONG = -tags long

.DEFAULT_GOAL := help
.PHONY: help build bench test test-all ci-full race fuzz parquet dots man space-all bench-cpu bench-peers lint vet staticcheck cover gates clean gpu-test bench-gpu nvrtc gorgonia-deps gorgonia-check

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## the command line, as build/hiveblas
	$(GO) build -o $(BUILD)/hiveblas ./cmd/hiveblas

bench: ## the command of the benchmarks, as build/hiveblas-bench
	$(GO) build -o $(BUILD)/hiveblas-bench ./cmd/hiveblas-bench

test: ## the quick form of all tests, 9 minutes of processor time once compiled
	$(GO) test ./...

test-all: ## the long form of all tests, which CI runs by turns, 9 minutes on two cores once compiled
	HIVEBLAS_LONG=1 $(GO) test $(LONG) ./...
	$(GO) test -tags hiveblas_portable ./internal/parallel

# The packages that start goroutines or are called from several. The tests of bench
# and of the commands run whole programs.
RACE = ./apps/... ./auction ./chunked ./comm/... ./cusparse/... ./graphio ./matrix/... ./ops ./program ./semiring \
	./internal/chunk ./internal/filelock ./internal/fresh ./internal/parallel

ci-full: ## all that CI does by turns at once, an hour and more on two cores
	HIVEBLAS_CI=full .ci/run

race: ## the short tests under the race detector with the element types of the quick form (needs a C compiler)
	CGO_ENABLED=1 GOGC=400 $(GO) test -vet=off -race -short $(RACE)

fuzz: ## every fuzz target for FUZZTIME (10s)
	@GO="$(GO)" scripts/fuzz.sh $(FUZZTIME)

parquet: ## vet and test the module parquet, and build its command as build/hiveblas-parquet
	cd parquet && $(GO) vet ./... && $(GO) test ./...
	cd parquet && $(GO) build -o $(abspath $(BUILD))/hiveblas-parquet ./cmd/hiveblas-parquet

dots: ## write the assembly of internal/dots, by avo
	cd internal/dots/gen && $(GO) run . -out ../dots_amd64.s -stubs ../stubs_amd64.go -pkg dots

man: build bench ## the man pages, into build/man
	$(BUILD)/hiveblas man $(BUILD)/man
	$(BUILD)/hiveblas-bench man $(BUILD)/man

bench-peers: ## fetch and build the peers of bench-cpu
	sh bench/peers/build.sh

bench-cpu: bench ## measure against the peers; also writes build/bench-cpu.json
	$(BUILD)/hiveblas-bench cpu --json $(BUILD)/bench-cpu.json

bench-gpu: bench ## measure on the first GPU, against cuSPARSE; also writes build/bench-gpu.json
	$(BUILD)/hiveblas-bench gpu --json $(BUILD)/bench-gpu.json

GPUTEST = CGO_ENABLED=0 GOOS=linux $(GO)

FAMILIES = centrality classify communities components cores flow geo lasso lgc sage sage/train scan search sets sgm triangles # with tests on devices

gpu-test: ## build the GPU tests and run.sh into dist/gpu and dist/gpu.tar.gz, for a machine with a GPU and no Go
	@mkdir -p dist/gpu
	for p in cusparse cusparse/driver cusparse/jit ops apps $(FAMILIES:%=apps/%) auction chunked program/examples; do \
		$(GPUTEST) test $(LONG) -c -ldflags '-s -w' -o dist/gpu/$$(basename $$p).test ./$$p || exit 1; \
	done
	$(GPUTEST) build -ldflags '-s -w' -o dist/gpu/ ./cmd/hiveblas ./cmd/hiveblas-bench
	cp scripts/gpu-run.sh dist/gpu/run.sh
	cp -r cusparse/driver/testdata dist/gpu/
	tar -C dist -czf dist/gpu.tar.gz --exclude log --exclude kernels gpu

lint: vet staticcheck ## gofmt, go vet, staticcheck

vet: ## gofmt, go vet
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then echo "gofmt these:" $$unformatted; exit 1; fi
	GOGC=400 $(GO) vet $(LONG) ./...
	$(GO) vet ./internal/conformance ./internal/longtest ./internal/zerovalues ./semiring # without the tag
	cd parquet && $(GO) list -deps ./... > /dev/null # its go.sum has all that this module needs

staticcheck: ## staticcheck
	GOGC=400 $(STATICCHECK) $(LONG) ./...

cover: ## test coverage, as build/cover.html
	@mkdir -p $(BUILD)
	$(GO) test $(LONG) -coverprofile $(BUILD)/cover.out -coverpkg ./... ./...
	$(GO) tool cover -html $(BUILD)/cover.out -o $(BUILD)/cover.html
	@$(GO) tool cover -func $(BUILD)/cover.out | tail -1

gates: lint test-all race ## the checks of a change: lint, test-all, race, each fuzz target for 3s
	$(MAKE) fuzz FUZZTIME=3s

nvrtc: ## fetch Debian's NVRTC 11.8 into .deps/nvrtc, to compile kernels without CUDA
	@scripts/nvrtc.sh

space-all: ## compile the kernel of every plan through NVRTC for sm_90 (make nvrtc first), 20 minutes on two cores
	HIVEBLAS_SPACE=all HIVEBLAS_NVRTC=$$(sh scripts/nvrtc.sh | tail -n 1) \
		$(GO) test $(LONG) -count=1 -timeout 60m -run TestSpaceByNVRTC -v ./cusparse

CUDA11 := $(CURDIR)/.deps/cuda11
STUBS   = $(dir $(firstword $(wildcard $(CUDA11)/usr/lib/*/stubs/libcuda.so)))

GORGONIA = CGO_ENABLED=1 CGO_CFLAGS="-w -I$(CUDA11)/usr/include" CGO_LDFLAGS="-L$(STUBS) -Wl,-z,lazy"

gorgonia-deps: ## fetch Debian's headers of CUDA 11.8 and the stub of libcuda into .deps/cuda11 (downloads 774 MB, keeps 16)
	@[ -f $(CUDA11)/usr/include/cuda.h ] || UNPACK='*/include/* */stubs/*' sh scripts/debian-nonfree.sh $(CUDA11) nvidia-cuda-dev

gorgonia-check: ## vet and test the driver of the build tag gorgonia, on a recording libcuda (make gorgonia-deps first)
	@mkdir -p $(BUILD)/fake
	gcc -shared -fPIC -w -Wl,-soname,libcuda.so.1 -o $(BUILD)/fake/libcuda.so.1 cusparse/driver/testdata/fake.c
	$(GORGONIA) $(GO) vet -tags gorgonia ./cusparse ./cusparse/driver
	LD_LIBRARY_PATH=$(abspath $(BUILD))/fake $(GORGONIA) $(GO) test -tags gorgonia -run Gorgonia ./cusparse/driver

clean: ## remove build/
	rm -rf $(BUILD)
