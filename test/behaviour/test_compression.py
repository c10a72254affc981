# SPDX-License-Identifier: Apache-2.0
"""Long answers are compressed for those who ask, as upstream does it."""
import gzip
import json

import pytest

MAPS = "/api/v1/namespaces/compressed/configmaps"


@pytest.fixture(scope="module")
def filled(shared_api):
    """1,200 ConfigMaps of 2 KiB: more than a page of the store."""
    connection = shared_api.connect()
    assert shared_api.ask("POST", "/api/v1/namespaces", {"metadata": {"name": "compressed"}}).status == 201
    for i in range(1200):
        body = {"metadata": {"name": f"m{i:04}"}, "data": {"a": f"{i} " * 400}}
        assert shared_api.ask("POST", MAPS, body, connection=connection).status == 201
    return shared_api


def test_a_long_list_is_the_same_compressed(filled):
    plain, packed = filled.get(MAPS), filled.get(MAPS, Accept_Encoding="gzip")
    assert plain.headers["content-encoding"] is None and len(plain.body) > 1 << 20
    assert packed.headers["content-encoding"] == "gzip" and packed.headers["vary"] == "Accept-Encoding"
    assert len(packed.body) < len(plain.body) / 5
    assert gzip.decompress(packed.body) == plain.body


def test_so_is_a_part_of_it(filled):
    packed = filled.get(MAPS + "?limit=300", Accept_Encoding="deflate, gzip;q=0.5")
    assert packed.headers["content-encoding"] == "gzip"
    assert len(json.loads(gzip.decompress(packed.body))["items"]) == 300


def test_short_answers_and_watches_are_not(filled):
    assert filled.get(MAPS + "?limit=10", Accept_Encoding="gzip").headers["content-encoding"] is None
    assert filled.get(MAPS, Accept_Encoding="gzip;q=0").headers["content-encoding"] is None
    watch = filled.watch(MAPS + "?watch=1", Accept_Encoding="gzip")
    assert watch.response.headers["content-encoding"] is None and watch.next()["type"] == "ADDED"
    watch.close()


def test_documents_are_compressed_too(filled):
    packed = filled.get("/openapi/v2", Accept_Encoding="gzip")
    assert packed.headers["content-encoding"] == "gzip" and packed.headers["etag"]
    assert json.loads(gzip.decompress(packed.body))["swagger"] == "2.0"


def test_a_client_that_leaves_in_between_harms_nobody(filled):
    for _ in range(20):
        connection = filled.connect()
        connection.request("GET", MAPS, headers=filled.headers(Accept_Encoding="gzip"))
        connection.getresponse().read(100)
        connection.close()
    assert filled.get("/readyz").body == b"ok"
