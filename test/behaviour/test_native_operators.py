# SPDX-License-Identifier: Apache-2.0
"""The guests' sources as ordinary processes, against a real API server: TLS, tokens, watches, recovery."""
import os
import re
import subprocess

import pytest

from conftest import BUILD, DEADLINE_S, Server, wait_for
from guest_kit import apply_crd, check_mirror, make_namespaces, nonce_of, set_nonce

class Operator:
    """A native operator, told by a kubeconfig where its cluster is."""

    def __init__(self, program, kubeconfig, log_path, **env):
        self.log_path = log_path
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("DM_", "KUBE"))}
        self.process = subprocess.Popen(
            [str(BUILD / program)], stderr=open(log_path, "w"), env=dict(clean, KUBECONFIG=str(kubeconfig), **env))

    def log(self):
        return open(self.log_path).read()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        assert self.process.poll() is None, f"it has ended: {self.log()}"
        self.process.kill()
        self.process.wait(DEADLINE_S)


def test_one_process_runs_a_whole_ring(shared_api, tmp_path):
    apply_crd(shared_api, "guests/ring/crd.yaml")
    make_namespaces(shared_api, *[f"comb{i}" for i in range(5)])
    with Operator("bench/operators/native/ring-comb", shared_api.kubeconfig, tmp_path / "log",
                  NR_OPERATORS="5", NAMESPACE_PREFIX="comb"):
        for nonce in (1, 2, 7):
            set_nonce(shared_api, "comb0", nonce)
            wait_for(lambda: nonce_of(shared_api, "comb4") == nonce, f"nonce {nonce} has gone around")


def test_a_process_per_operator_makes_the_same_ring(shared_api, tmp_path):
    apply_crd(shared_api, "guests/ring/crd.yaml")
    make_namespaces(shared_api, "one0", "one1")
    with Operator("bench/operators/native/ring-native", shared_api.kubeconfig, tmp_path / "log",
                  IN_NAMESPACE="one0", OUT_NAMESPACE="one1", HEAP_MEM_SIZE="1048576"):
        set_nonce(shared_api, "one0", 3)
        wait_for(lambda: nonce_of(shared_api, "one1") == 3, "the object has arrived")


def test_an_operator_survives_the_death_of_its_server(data_dir, tmp_path):
    server = Server(data_dir)
    apply_crd(server, "guests/ring/crd.yaml")
    make_namespaces(server, "a", "b")
    with Operator("bench/operators/native/ring-native", server.kubeconfig, tmp_path / "log",
                  IN_NAMESPACE="a", OUT_NAMESPACE="b") as operator:
        set_nonce(server, "a", 1)
        wait_for(lambda: nonce_of(server, "b") == 1, "the first object has arrived")
        listen = f"127.0.0.1:{server.port}"
        server.kill()
        wait_for(lambda: "warn no answer" in operator.log(), "the operator has tried again, in vain")
        server = Server(data_dir, listen=listen)
        set_nonce(server, "a", 2)
        wait_for(lambda: nonce_of(server, "b") == 2, "the operator has recovered")
        log = operator.log()
        assert log.count("warn watch failed") == log.count("warn no answer") == 1, log  # said once
        # Which of its connections breaks first decides the reason: a reset, an end, or a refusal.
        assert re.search(r"warn no answer from the API server host=\S+ port=\d+: \w+", log), log
        assert "answers again" in log, log
    assert server.stop() == 0


def test_an_operator_without_a_cluster_says_what_is_missing(tmp_path):
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("DM_", "KUBE"))}
    ring = str(BUILD / "bench/operators/native/ring-native")
    done = subprocess.run([ring], env=clean, capture_output=True, text=True, timeout=DEADLINE_S)
    assert done.returncode == 2 and "set KUBECONFIG" in done.stderr
    (tmp_path / "bad").write_text("clusters: [")
    done = subprocess.run([ring], env=dict(clean, KUBECONFIG=str(tmp_path / "bad")), capture_output=True, text=True,
                          timeout=DEADLINE_S)
    assert done.returncode == 2 and "line" in done.stderr
    done = subprocess.run([ring], env=dict(clean, DM_SERVER="ftp://x"), capture_output=True, text=True, timeout=DEADLINE_S)
    assert done.returncode == 2 and "ftp://x" in done.stderr


def test_a_server_with_another_certificate_is_not_trusted(shared_api, tmp_path):
    other = tmp_path / "ca.pem"
    made = subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                           "-keyout", str(tmp_path / "key"), "-out", str(other), "-days", "1", "-subj", "/CN=other"],
                          capture_output=True)
    if made.returncode:
        pytest.skip("no openssl command here")
    with Operator("bench/operators/native/ring-native", "", tmp_path / "log", DM_SERVER=shared_api.url,
                  DM_TOKEN=shared_api.token, DM_CA_FILE=str(other), IN_NAMESPACE="x", OUT_NAMESPACE="y") as operator:
        wait_for(lambda: "list failed" in operator.log(), "the operator refuses")
        assert "TLS: self-signed certificate" in operator.log() or "TLS: unable to get" in operator.log(), operator.log()


def test_mirror_from_the_first_copy_to_the_last(shared_api, tmp_path):
    apply_crd(shared_api, "guests/mirror/crd.yaml")
    with Operator("guests/mirror-native", shared_api.kubeconfig, tmp_path / "log"):
        check_mirror(shared_api)
