# `make run` and `make test` set up everything they need in .venv; nothing else on the machine is touched.

PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
SETUP = $(VENV)/.installed
COMPONENTS = coredns etcd kube-apiserver kube-controller-manager
NODE_COMPONENTS = $(COMPONENTS) kube-scheduler kubelet kube-proxy kubectl

.PHONY: help run test lint conformance deploy-check e2e-node record bench pages lock clean

help:  ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST)

run: $(SETUP)  ## serve the demo cluster on 127.0.0.1:1053
	@PYDNS=$(BIN)/pydns exec sh deploy/demo/run.sh

test: lint  ## lint, types, layers, tests and the comparison with recorded CoreDNS, on this Python and on 3.13 if it is there
	$(BIN)/python -m pytest tests
	$(BIN)/python -m conformance --reference recorded --api fake ^clients
	@sh tests/on_other_python.sh

lint: $(SETUP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

conformance: $(SETUP)  ## judge pydns beside real CoreDNS, on a real API, by real resolvers (built with Go the first time)
	$(BIN)/python -m conformance.tools.build $(COMPONENTS)
	$(BIN)/python -m conformance.clients.recipes || true  # what is missing is skipped by name
	$(BIN)/python -m conformance --subject pydns --reference coredns $(CONFORMANCE)

deploy-check: $(SETUP)  ## prove what is in deploy/: manifests, rights, alerts, bad input; the image; rollouts; e2e-node; as root
	$(BIN)/python -m conformance.tools.build coredns etcd kube-apiserver kubectl
	$(BIN)/python -m pytest tests/deploy conformance/deploy
	$(BIN)/python -m conformance.image.proof
	$(BIN)/python -m conformance.rollout
	$(MAKE) e2e-node

e2e-node: $(SETUP)  ## pydns in CoreDNS's place on a real node (kubelet, containerd, kube-proxy), and back, while Pods keep asking; as root
	$(BIN)/python -m conformance.tools.build $(NODE_COMPONENTS)
	$(BIN)/python -m conformance.node $(NODE)

record: $(SETUP)  ## write CoreDNS's replies anew, for machines without Go
	$(BIN)/python -m conformance.tools.build $(COMPONENTS)
	$(BIN)/python -m conformance --record

bench: $(SETUP)  ## speed, latency, memory, start and changes beside CoreDNS, 20 minutes; QUICK=1: two minutes
	$(BIN)/python -m conformance.tools.build coredns etcd kube-apiserver
	$(BIN)/python -m conformance.bench $(if $(QUICK),--quick) $(BENCH)

pages: $(SETUP)  ## write docs/plugins anew
	$(BIN)/python -m pydns.tools.pages docs/plugins

lock: $(SETUP)  ## choose versions anew and write the lock files
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --upgrade \
	    --extra fast pyproject.toml --output-file requirements.lock
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
	    --constraint requirements.lock --extra dev pyproject.toml --output-file requirements-dev.lock

$(SETUP): requirements-dev.lock pyproject.toml
	@PYTHON=$(PYTHON) VENV=$(VENV) sh deploy/demo/setup.sh
	@touch $@

clean:  ## remove .venv and caches
	rm -rf .venv .venv-* .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
