# SPDX-License-Identifier: Apache-2.0
"""HTTP/2 by ALPN, with curl as the peer."""
import json
import shutil
import subprocess

import pytest

MAPS = "/api/v1/namespaces/default/configmaps"

pytestmark = pytest.mark.skipif(
    not shutil.which("curl") or "HTTP2" not in subprocess.run(["curl", "-V"], capture_output=True, text=True).stdout,
    reason="no curl that speaks HTTP/2")


def curl(api, *args, version="--http2", input=None):
    """(HTTP version, status, body) for each URL."""
    mark = "\n@@%{http_version} %{http_code}@@\n"
    done = subprocess.run(
        ["curl", "-sS", version, "--cacert", api.data_dir / "pki/ca.crt", "-H", f"Authorization: Bearer {api.token}",
         "-w", mark, *args], capture_output=True, input=input, timeout=60)
    assert done.returncode == 0, done.stderr
    answers, rest = [], done.stdout
    while b"@@" in rest:
        body, info, rest = rest.split(b"@@", 2)
        spoke, status = info.decode().split()
        answers.append((spoke, int(status), body.strip()))
    return answers


def test_a_client_that_offers_h2_gets_it(shared_api):
    (spoke, status, body), = curl(shared_api, shared_api.url + "/version")
    assert (spoke, status) == ("2", 200) and json.loads(body)["major"] == "1"
    (spoke, status, body), = curl(shared_api, shared_api.url + "/version", version="--http1.1")
    assert (spoke, status) == ("1.1", 200)


def test_many_requests_share_a_connection(shared_api):
    urls = [word for _ in range(300) for word in ("-o", "/dev/null", shared_api.url + "/version")]
    answers = curl(shared_api, "-Z", "--parallel-max", "100", *urls)
    assert len(answers) == 300 and all(a[:2] == ("2", 200) for a in answers)


def test_objects_are_written_and_listed(shared_api):
    big = "x" * (512 << 10)
    for i in range(4):
        body = json.dumps({"metadata": {"name": f"h2-{i}", "labels": {"h2": ""}}, "data": {"big": big}})
        (spoke, status, _), = curl(shared_api, "-H", "content-type: application/json", "--data-binary", "@-",
                                   shared_api.url + MAPS, input=body.encode())
        assert (spoke, status) == ("2", 201)
    (_, status, body), = curl(shared_api, shared_api.url + MAPS + "?labelSelector=h2")
    assert status == 200 and [len(o["data"]["big"]) for o in json.loads(body)["items"]] == [len(big)] * 4


def test_what_is_too_large_is_said(shared_api):
    (_, status, body), = curl(shared_api, "-H", "content-type: application/json", "--data-binary", "@-",
                              shared_api.url + MAPS, input=b" " * (4 << 20))
    assert status == 413 and json.loads(body)["reason"] == "RequestEntityTooLarge"
