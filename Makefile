# The targets, with what each does, are what "make help" prints.

GO             ?= go
BIN            := bin
GOLANGCI       := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
GOTESTSUM      := gotest.tools/gotestsum@v1.13.0
# runs tests, and says at the end which were skipped and why, and which failed
TEST           := $(BIN)/gotestsum --format pkgname
# tests kill processes at failpoints, in many packages: all are built with them, once
TAGS           := -tags failpoints
# test binaries carry nothing for debuggers, nor a symbol table: they link in two thirds of the time
LINK           := -ldflags=-s
# packages that take long begin first, so that the others fill the time that they wait; "make lint" has "go vet"
LONG           := ./test/script ./broker ./drivers/sqlite ./drivers/helm ./drivers/kubernetes
VERSION        ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS        := -s -w -X main.version=$(VERSION)
FUZZTIME       ?= 30s
SOAK           ?= 1h
LISTEN         ?= 127.0.0.1:8420
DATA_DIR       ?= $(HOME)/.local/state/vimbroker
# packages whose tests want a real system, each of them; the crash kit, which kills real servers for minutes; and the
# client that others generate, whose generator is built: make test does not link them
OF_REAL        := /test/(crash|generated|real|replicas)(/|$$)
# the longest first, so that the others fill the time that those wait
REAL_PACKAGES  := ./test/real/cloud ./test/real ./drivers/postgres ./test/crash ./test/replicas ./test/real/cmd/demo ./cmd/vimbroker ./test/upgrade ./test/generated ./test/real/...
# tests that go on for SOAK; make test-real runs a short form of each
SOAKED         := ^Test(KubectlThroughThePlugin|Killed|KilledInOperations|Stopped|CutOff|DatabaseRestarted|OpenSnapshot)$$
# tools of the tests that only "make test-field" runs
FIELD_TOOLS    := kube-tools helm-tools vault-kubernetes-tools capi-tools inventory-tools cni-tools openstack-tools postgres-tools rpm-tools

# What is built names no directory: other clones, and the builds of tests, find it in Go's cache. Nothing is compiled for
# debuggers, as what is linked keeps nothing for them: that saves a tenth of the time, and a fifth of the cache.
export GOFLAGS += -trimpath -gcflags=all=-dwarf=false
# Nothing needs a C compiler or a libc: programs and tests are built the one way.
export CGO_ENABLED ?= 0

# Compilers, linters, tests and the systems that they start collect garbage less often: that saves a fifth of their work.
test race lint test-real test-field: export GOGC = 400

.DEFAULT_GOAL := help

.PHONY: help
help: ## print this
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## build bin/vimbroker, and bin/vimbroker-helm, which renders charts for its server; neither needs a libc
	$(GO) build -trimpath -ldflags "$(LDFLAGS)" -o $(BIN)/vimbroker ./cmd/vimbroker
	$(GO) build -trimpath -ldflags "-s -w" -o $(BIN)/vimbroker-helm ./cmd/vimbroker-helm

.PHONY: run
run: build ## build and start a server on embedded defaults, and print what to do next
	$(BIN)/vimbroker serve --dev --listen $(LISTEN) --data-dir $(DATA_DIR)

.PHONY: test
test: $(BIN)/gotestsum ## run the tests that need only Go; say what was skipped and why
	all="$$($(GO) list ./...)" && VIMBROKER_REAL=0 $(TEST) --packages="$(LONG) $$(echo "$$all" | grep -Ev '$(OF_REAL)' | tr '\n' ' ')" -- -vet=off -p 3 -timeout 30m $(LINK) $(TAGS)

.PHONY: race
race: $(BIN)/gotestsum ## the same tests under the race detector (needs a C compiler)
	CGO_ENABLED=1 $(TEST) --packages="./..." -- -race -timeout 30m $(TAGS)

.PHONY: kube-tools
kube-tools: ## build the real etcd, API server, controller manager and kubectl into bin/kube
	@test -n "$$KUBEBUILDER_ASSETS" || test/real/kube/build.sh $(CURDIR)/$(BIN)/kube

.PHONY: helm-tools
helm-tools: ## build the real Helm and a real registry into bin/helm
	test/real/helm/build.sh $(CURDIR)/$(BIN)/helm

.PHONY: vault-tools
vault-tools: ## build the real Vault into bin/vault
	test/real/vault/build.sh $(CURDIR)/$(BIN)/vault

.PHONY: vault-kubernetes-tools
vault-kubernetes-tools: vault-tools ## build Vault's method "kubernetes" into bin/vault-kubernetes
	test/real/vault/build.sh $(CURDIR)/$(BIN)/vault-kubernetes github.com/hashicorp/vault-plugin-auth-kubernetes/cmd/vault-plugin-auth-kubernetes

.PHONY: capi-tools
capi-tools: ## build the core manager of the real Cluster API into bin/capi
	test/real/capi/build.sh $(CURDIR)/$(BIN)/capi

.PHONY: inventory-tools
inventory-tools: ## build a program with the field's library for ClusterProfile objects into bin/inventory
	test/real/inventory/build.sh $(CURDIR)/$(BIN)/inventory

.PHONY: cni-tools
cni-tools: ## build Multus, whereabouts and network plugins into bin/cni
	test/real/cni/build.sh $(CURDIR)/$(BIN)/cni

.PHONY: openstack-tools
openstack-tools: ## install the real OpenStack (apt-get, as root) and unpack into bin/openstack
	test/real/openstack/install.sh $(CURDIR)/$(BIN)/openstack

.PHONY: postgres-tools
postgres-tools: ## install PostgreSQL (apt-get, as root), if there is none
	test/real/postgres/install.sh

.PHONY: oidc-tools
oidc-tools: ## install the certified provider oidc-provider (npm) into bin/oidc
	test/real/oidc/install.sh $(CURDIR)/$(BIN)/oidc

.PHONY: browser-tools
browser-tools: ## install Chromium (apt-get, as root), if there is none, and axe-core (npm) into bin/browser
	test/real/browser/install.sh $(CURDIR)/$(BIN)/browser

.PHONY: prometheus-tools
prometheus-tools: ## unpack promtool of Debian's Prometheus (apt-get) into bin/prometheus; nothing is installed
	test/real/prometheus/unpack.sh $(CURDIR)/$(BIN)/prometheus

.PHONY: rpm-tools
rpm-tools: ## unpack rpm of Debian's packages (apt-get) into bin/rpm; nothing is installed
	test/real/rpm/unpack.sh $(CURDIR)/$(BIN)/rpm

.PHONY: test-real
test-real: $(BIN)/gotestsum build kube-tools helm-tools capi-tools vault-tools postgres-tools openstack-tools oidc-tools browser-tools prometheus-tools ## the suites and stories against real systems; a skip is a failure
	VIMBROKER_REAL=1 $(TEST) --packages="$(REAL_PACKAGES)" -- -vet=off -p 2 -count=1 -timeout 40m $(LINK) $(TAGS)

.PHONY: soak
soak: build kube-tools postgres-tools ## the tests that may go on for any time, each for SOAK (1h): tokens through kubectl's plugin, chaos on three replicas, 200 CNFs under kills, an open snapshot
	VIMBROKER_REAL=1 VIMBROKER_SOAK=$(SOAK) $(GO) test -count=1 -timeout 0 -v -run '$(SOAKED)' ./test/real ./test/replicas

.PHONY: test-field
test-field: $(BIN)/gotestsum build $(FIELD_TOOLS) ## what takes long, or needs tools that build for minutes; before an issue is closed. ONLY=NAME runs one, CHARTS=DIR has the public charts live
	VIMBROKER_CHARTS=$(CHARTS) VIMBROKER_FIELD=1 VIMBROKER_REAL=1 $(TEST) --packages="$$(grep -rl --include='*_test.go' '^func TestField[A-Z]' . | xargs -n 1 dirname | sort -u | tr '\n' ' ')" \
		-- -vet=off -p 2 -count=1 -timeout 5h $(LINK) $(TAGS) -run '^TestField.*$(ONLY)'

.PHONY: mutants
mutants: ## compile faults in and see whether the tests notice: a sample of N (600) by SEED (1). ALL=1 goes on through every fault, HAND=FILE has written ones, ONLY=TEXT those whose name has it, PKG=./policy/... those of packages
	$(GO) run ./test/mutants -seed $(or $(SEED),1) -n $(or $(N),600) $(if $(ALL),-all) $(if $(NEAR),-near) $(if $(HAND),-hand '$(HAND)') $(if $(ONLY),-only '$(ONLY)') $(PKG)

.PHONY: kube
kube: kube-tools ## start a throw-away Kubernetes to try things on, until Ctrl-C
	$(GO) run ./test/real/cmd/kube

.PHONY: demo
demo: build kube-tools capi-tools ## show the whole loop on real systems: Cluster API makes a cluster, it becomes a VIM, a CNF runs on it
	$(GO) run ./test/real/cmd/demo

.PHONY: openstack
openstack: openstack-tools ## start a throw-away OpenStack (Keystone, Barbican, Heat; with SERVERS=1 also Nova, Neutron, Glance) to try things on, until Ctrl-C
	$(GO) run ./test/real/cmd/openstack $(if $(SERVERS),-servers)

.PHONY: bench
bench: build kube-tools helm-tools vault-tools postgres-tools openstack-tools ## measure figures, as ratios to the bare calls; ONLY=GROUP measures one group, FIGURES=FILE also writes JSON
	VIMBROKER_REAL=1 $(GO) test -count=1 -timeout 60m -run '^$$' -bench 'Figures/$(ONLY)' ./test/bench $(if $(FIGURES),-args -figures=$(abspath $(FIGURES)))

.PHONY: fuzz
fuzz: ## every fuzz target for FUZZTIME each (30s)
	@set -e; for f in $$(grep -rl --include='*_test.go' '^func Fuzz' . | sort); do \
		for name in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\).*/\1/p' $$f); do \
			echo "== $$(dirname $$f) $$name"; $(GO) test -run '^$$' -fuzz "^$$name$$" -fuzztime $(FUZZTIME) $$(dirname $$f); \
		done; done

$(BIN)/gotestsum: Makefile
	GOBIN=$(CURDIR)/$(BIN) $(GO) install $(GOTESTSUM)
	@touch $@

$(BIN)/golangci-lint: Makefile
	GOBIN=$(CURDIR)/$(BIN) $(GO) install $(GOLANGCI)
	@touch $@

.PHONY: lint
lint: $(BIN)/golangci-lint ## few, reasoned linters (.golangci.yml)
	$(BIN)/golangci-lint run ./...

.PHONY: generate
generate: ## rewrite the golden files (OpenAPI, what is published, state pictures, command output, the chart's schema)
	$(GO) test ./broker/api/rest ./cmd/vimbroker/cli ./cmd/vimbroker/server -run 'Golden' -update
	$(GO) test ./test -run 'Golden' -update

.PHONY: dump
dump: postgres-tools ## make the databases anew that upgrades are tried on; after a change of a schema, until 1.0.0 is released
	VIMBROKER_REAL=1 $(GO) test ./test/upgrade -count=1 -run TestMakeTheDump -dump

.PHONY: verify
verify: generate ## fail if anything generated is not as committed
	git diff --exit-code

.PHONY: dist
dist: ## make the release in dist/: archives, packages, an image, bills of materials, digests. HERE=1 for this platform alone, KEY=FILE signs
	$(GO) run -C deploy/dist . -out $(CURDIR)/dist $(if $(HERE),-here) $(if $(KEY),-key $(abspath $(KEY)))

.PHONY: docs
docs: ## write the manual, with the references of commands, configuration, errors, metrics and events, as static HTML to dist/docs
	$(GO) run -C deploy/dist . -manual $(CURDIR)/dist/docs

.PHONY: clean
clean: ## remove bin/ and dist/
	rm -rf $(BIN) dist
