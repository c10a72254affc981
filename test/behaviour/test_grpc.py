# SPDX-License-Identifier: Apache-2.0
"""Our gRPC, grpcio's and grpc-go's understand each other, in both directions and for all kinds of calls."""
import concurrent.futures
import itertools
import subprocess
import threading
import time

import pytest

from conftest import BUILD, IS_CLOCK_SHIFTED
from test_clients import go_program

grpc = pytest.importorskip("grpc", reason="no grpcio here (python3-grpcio)")

PEER = BUILD / "test/grpc_peer"
pytestmark = [pytest.mark.skipif(not PEER.exists(), reason="test/grpc_peer is not built"),
              pytest.mark.skipif(IS_CLOCK_SHIFTED, reason="grpcio waits until a time of the wall clock")]
DEADLINE_S = 30


@pytest.fixture(scope="module")
def channel():
    """To our server."""
    server = subprocess.Popen([PEER, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    port = int(server.stdout.readline())
    with grpc.insecure_channel(f"127.0.0.1:{port}", options=[("grpc.max_receive_message_length", -1)]) as channel:
        yield channel
    server.stdin.close()
    assert server.wait(DEADLINE_S) == 0


def test_a_unary_call_with_metadata(channel):
    call = channel.unary_unary("/t.T/Echo")
    answer, state = call.with_call(b"hello", metadata=[("x-key", "mine")], timeout=DEADLINE_S)
    assert answer == b"hello"
    assert state.code() is grpc.StatusCode.OK
    assert ("x-initial", "early") in state.initial_metadata()
    assert ("x-key", "mine") in state.trailing_metadata()


def test_many_calls_at_once(channel):
    call = channel.unary_unary("/t.T/Echo")
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        bodies = [bytes([i % 256]) * (i * 37) for i in range(500)]
        assert list(pool.map(lambda b: call(b, timeout=DEADLINE_S), bodies)) == bodies


def test_a_large_message(channel):
    body = bytes(range(256)) * 12000
    assert channel.unary_unary("/t.T/Echo")(body, timeout=DEADLINE_S) == body


def test_a_message_beyond_the_limit(channel):
    with pytest.raises(grpc.RpcError) as e:
        channel.unary_unary("/t.T/Echo")(bytes(5 << 20), timeout=DEADLINE_S)
    assert e.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED


def test_messages_both_ways(channel):
    turn = threading.Semaphore(1)

    def ours():
        for i in range(100):
            assert turn.acquire(timeout=DEADLINE_S)
            yield str(i).encode()

    answers = channel.stream_stream("/t.T/Echo")(ours(), timeout=DEADLINE_S)
    for i, answer in enumerate(answers):
        assert answer == str(i).encode()
        turn.release()  # the next one goes only after this answer
    assert i == 99 and answers.code() is grpc.StatusCode.OK


def test_a_stream_of_requests(channel):
    assert channel.stream_unary("/t.T/Sum")((bytes(1000) for _ in range(3000)), timeout=DEADLINE_S) == b"3000 3000000"
    assert channel.stream_unary("/t.T/Sum")(iter(()), timeout=DEADLINE_S) == b"0 0"


def test_a_stream_of_answers_that_is_read_slowly(channel):
    answers = channel.unary_stream("/t.T/Pour")(b"5000", timeout=DEADLINE_S)
    assert next(answers) == bytes(1000)
    assert sum(1 for _ in answers) == 4999
    assert list(channel.unary_stream("/t.T/Pour")(b"0", timeout=DEADLINE_S)) == []


def test_a_status_with_text(channel):
    with pytest.raises(grpc.RpcError) as e:
        channel.unary_unary("/t.T/Refuse")(b"", timeout=DEADLINE_S)
    assert e.value.code() is grpc.StatusCode.FAILED_PRECONDITION
    assert e.value.details() == "nicht für 100%\n"
    with pytest.raises(grpc.RpcError) as e:
        channel.unary_unary("/t.T/Missing")(b"", timeout=DEADLINE_S)
    assert e.value.code() is grpc.StatusCode.UNIMPLEMENTED


def test_a_deadline_and_a_cancel(channel):
    with pytest.raises(grpc.RpcError) as e:
        channel.unary_unary("/t.T/Hold")(b"", timeout=0.2)
    assert e.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    call = channel.unary_unary("/t.T/Hold").future(b"")
    call.cancel()
    assert call.code() is grpc.StatusCode.CANCELLED
    assert channel.unary_unary("/t.T/Echo")(b"still there", timeout=DEADLINE_S) == b"still there"


def test_compressed_messages_are_refused(channel):
    with pytest.raises(grpc.RpcError) as e:
        channel.unary_unary("/t.T/Echo")(bytes(10000), timeout=DEADLINE_S, compression=grpc.Compression.Gzip)
    assert e.value.code() is grpc.StatusCode.UNIMPLEMENTED


# ---------------------------------------------------------------- our client

class Handler(grpc.GenericRpcHandler):
    @staticmethod
    def echo(requests, context):
        context.send_initial_metadata([("x-initial", "theirs")])
        context.set_trailing_metadata([("x-key", dict(context.invocation_metadata())["x-key"])])
        yield from requests

    @staticmethod
    def refuse(request, context):
        context.abort(grpc.StatusCode.FAILED_PRECONDITION, "nicht für 100%")

    @staticmethod
    def pour(request, context):
        return itertools.repeat(bytes(1000), int(request))

    @staticmethod
    def total(requests, context):
        return str(sum(len(r) for r in requests)).encode()

    @staticmethod
    def hold(request, context):
        while context.is_active():
            time.sleep(0.01)
        return b""

    def service(self, details):
        return {
            "/t.T/Echo": grpc.stream_stream_rpc_method_handler(self.echo),
            "/t.T/Refuse": grpc.unary_unary_rpc_method_handler(self.refuse),
            "/t.T/Pour": grpc.unary_stream_rpc_method_handler(self.pour),
            "/t.T/Sum": grpc.stream_unary_rpc_method_handler(self.total),
            "/t.T/Hold": grpc.unary_unary_rpc_method_handler(self.hold),
        }.get(details.method)


@pytest.fixture(scope="module")
def theirs():
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(4), handlers=[Handler()])
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield port
    server.stop(None).wait()


def ask(port, method, *args):
    done = subprocess.run([PEER, "call", str(port), f"/t.T/{method}", *args], capture_output=True, text=True,
                          timeout=DEADLINE_S)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_our_calls(theirs):
    assert ask(theirs, "Echo", "a", "", "ccc") == ["head theirs", "message 1 a", "message 0 ", "message 3 ccc",
                                                   "status OK '' 'from us'"]
    assert ask(theirs, "Echo") == ["head theirs", "status OK '' 'from us'"]
    assert ask(theirs, "Sum", "12345", "678") == ["message 1 8", "status OK '' ''"]
    answers = ask(theirs, "Pour", "2000")
    assert len(answers) == 2001 and answers[-1] == "status OK '' ''"


def test_our_failures(theirs):
    assert ask(theirs, "Refuse", "x") == ["status FAILED_PRECONDITION 'nicht für 100%' ''"]
    assert ask(theirs, "Missing", "x")[-1].startswith("status UNIMPLEMENTED")
    assert ask(theirs, "Hold", "x", "-t", "200")[-1].startswith("status DEADLINE_EXCEEDED")
    assert ask(theirs, "Echo", "x" * 100000)[1].startswith("message 100000 xxx")


# ---------------------------------------------------------------- grpc-go

def test_grpc_go_as_a_client():
    with subprocess.Popen([PEER, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        port = server.stdout.readline().strip()
        done = subprocess.run([go_program("grpcgo"), "call", port], capture_output=True, text=True, timeout=90)
        server.stdin.close()
    assert done.returncode == 0 and done.stdout.endswith("done\n"), done.stdout + done.stderr


def test_grpc_go_as_a_server():
    with subprocess.Popen([go_program("grpcgo"), "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        port = server.stdout.readline().strip()
        assert ask(port, "Echo", "a", "", "ccc") == ["head go", "message 1 a", "message 0 ", "message 3 ccc",
                                                     "status OK '' 'from us'"]
        assert ask(port, "Refuse", "x") == ["status FAILED_PRECONDITION 'nicht für 100%' ''"]
        server.stdin.close()
