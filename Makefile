# The logic is Go; this file names it. `make test` needs Go alone; `make test-all` installs the rest (Debian).
GO        ?= go
STATIC    := honnef.co/go/tools/cmd/staticcheck@v0.8.2
LINT      := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
PACKAGES  := prometheus libyang2-tools etcd-server systemd libnm0
TOOLS     := $(CURDIR)/.tools
YANG      ?= ../shared/yang
SEEDS     ?= 10000

.PHONY: build test test-all packages check golden generate bench soak fuzz clean

build: ## the binary, static
	CGO_ENABLED=0 $(GO) build -trimpath -o weir ./cmd/weir

# Garbage is collected at 400 %: tests hold little and end soon. More run at once than there are processors, since many wait.
test: ## what needs nothing but Go; the rest says that it is skipped
	GOGC=400 $(GO) test -p 4 -parallel 8 ./...

test-all: packages $(TOOLS)/usr/bin/nmcli ## everything; a component that is missing is a failure
	$(GO) vet ./...
	PATH="$(PATH):$(TOOLS)/usr/bin" WEIR_TEST_ALL=1 GOGC=400 $(GO) test -timeout 25m -p 4 -parallel 8 ./...

packages:
	@missing=""; for p in $(PACKAGES); do dpkg-query -W -f '$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || missing="$$missing $$p"; done; \
	if [ -n "$$missing" ]; then apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $$missing; fi

# NetworkManager's client alone, from its package: the daemon would take over the network of the machine.
$(TOOLS)/usr/bin/nmcli:
	@mkdir -p $(TOOLS)
	cd $(TOOLS) && { apt-get download network-manager || { apt-get update && apt-get download network-manager; }; } && dpkg-deb -x network-manager_*.deb . && rm network-manager_*.deb

check: ## before a commit
	@test -z "$$(gofmt -l .)" || { gofmt -l .; exit 1; }
	$(GO) vet ./...
	$(GO) run $(STATIC) ./...
	$(GO) run $(LINT) run
	$(GO) test -race ./...

golden: ## rewrite the goldens; review them like code
	$(GO) test -short $$(grep -rl --include=*_test.go 'flag.Bool("update"' . | xargs -n1 dirname | sort -u) -update

generate: ## generated code, from the folder of YANG modules
	WEIR_YANG=$(abspath $(YANG)) $(GO) generate ./...

bench: ## results and method stand in docs/benchmarks.md
	$(GO) test -run '^$$' -bench . -benchmem -timeout 20m ./...

soak: ## the simulation, SEEDS of it; figures at its end. And as many devices of each language, written and lifted
	$(GO) test ./cmd/control/simulation -run TestSoak -soak $(SEEDS) -v -timeout 3h
	$(GO) test ./render/sonic ./render/cli ./host -run TestTheLawsOfLiftingHold -lifts $(SEEDS) -timeout 1h
	$(GO) test ./cmd/control -run TestTheVerdictOnWhatRuns -fabrics 100 -timeout 1h
	$(GO) test ./cmd/control -run TestWhatIsPlannedFromOne -intents 1000 -timeout 2h

fuzz: ## each fuzz target, by count: a bound in time ends in "context deadline exceeded" where the machine is slow
	@for p in $$($(GO) list ./...); do for f in $$($(GO) test -list '^Fuzz' $$p | grep ^Fuzz); do \
	$(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime 20000x $$p || exit 1; done; done

clean:
	rm -f weir
