# SPDX-License-Identifier: Apache-2.0
"""Images in registries: what dormouse reads from them, with every fault that registries have."""
import base64
import contextlib
import json
import os
import random
import shutil
import subprocess
import threading

import pytest

from conftest import BUILD, DEADLINE_S
from image_kit import Layout, layer
from registry_kit import REGISTRY, Proxy, answer, cut_after, digest, fake, real, stall_after

SKOPEO = shutil.which("skopeo")
needs_registry = pytest.mark.skipif(not REGISTRY, reason="no docker-registry here")
needs_skopeo = pytest.mark.skipif(not (REGISTRY and SKOPEO), reason="no docker-registry or no skopeo here")

BASE = layer([("etc", "d", ""), ("etc/passwd", "f", b"root\n"), ("usr", "d", ""), ("usr/tool", "f", b"tool" * 500)])
APP = layer([("app", "d", ""), ("app/data", "f", random.Random(1).randbytes(700_000))])


def dormouse(*args, env=None):
    clean = {k: v for k, v in os.environ.items() if "proxy" not in k.lower()}
    clean |= {"HOME": "/nonexistent", **(env or {})}
    return subprocess.run([BUILD / "dormouse", "image", *args], capture_output=True, text=True, timeout=DEADLINE_S, env=clean)


def inspect(reference, *args, env=None):
    done = dormouse("inspect", reference, "-o", "json", *args, env=env)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def fails(reference, *args, env=None):
    done = dormouse("inspect", reference, *args, env=env)
    assert done.returncode == 1 and not done.stdout, done.stdout
    return done.stderr


def skopeo(*args):
    done = subprocess.run([SKOPEO, "--insecure-policy", *args], capture_output=True, text=True, timeout=DEADLINE_S)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def layout(tmp_path):
    made = Layout(tmp_path / "layout")
    made.image("v1", [BASE, APP])
    return made


@pytest.fixture
def registry(layout):
    with fake() as server:
        server.doc = server.add_layout(layout, "a/b", "v1")
        server.ref = f"docker://{server.host}/a/b:v1"
        server.big = max(server.doc["layers"], key=lambda d: d["size"])["digest"]
        yield server


def config_file(tmp_path, host, user="me", password="secret", **rest):
    path = tmp_path / "auth.json"
    auth = base64.b64encode(f"{user}:{password}".encode()).decode()
    path.write_text(json.dumps({"auths": {host: {"auth": auth, **rest}}}))
    return {"REGISTRY_AUTH_FILE": str(path)}


# ---- reading

def test_an_image_in_a_registry_is_the_one_in_the_layout(registry, layout):
    want = inspect(f"oci:{layout.directory}:v1")
    assert inspect(registry.ref) == want
    by_digest = f"docker://{registry.host}/a/b@{want['digest']}"
    assert inspect(by_digest) == want
    done = dormouse("diff", registry.ref, f"oci:{layout.directory}:v1")
    assert done.returncode == 0 and "content     0 paths" in done.stdout


def test_the_platform_of_an_index_is_chosen(registry, layout):
    arm = layout.image("arm", [BASE], architecture="arm64")
    index = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": [
        dict(m, platform={"os": "linux", "architecture": a}) for m, a in zip(layout.manifests, ("amd64", "arm64"))]}
    outer = layout.descriptor(json.dumps(index).encode(), index["mediaType"])
    registry.add_manifest(layout, outer, "a/b", "multi")
    seen = inspect(f"docker://{registry.host}/a/b:multi", "--platform", "linux/arm64")
    assert [x["digest"] for x in seen["layers"]] == [x["digest"] for x in arm["layers"]]
    assert "none for linux/s390x" in fails(f"docker://{registry.host}/a/b:multi", "--platform", "linux/s390x")


def test_a_platform_that_an_image_is_not_for_is_refused(registry, tmp_path):
    store, output = ("--store", str(tmp_path / "store")), "the image is for linux/amd64, not for linux/arm64"
    assert output in fails(registry.ref, "--platform", "linux/arm64")
    pulled = dormouse("pull", registry.ref, *store, "--platform", "linux/arm64")
    assert pulled.returncode == 1 and output in pulled.stderr and not any("/blobs/" + d in p for p in registry.paths() for d in (registry.big,))
    assert dormouse("pull", registry.ref, *store, "--platform", "linux/amd64", "--name", "app").returncode == 0
    for words in (("inspect", "app"), ("unpack", "app", str(tmp_path / "root")), ("mount", "app", str(tmp_path))):
        done = dormouse(*words, *store, "--platform", "linux/arm64")
        assert done.returncode == 1 and (output in done.stderr or "needs root" in done.stderr), done.stderr


def test_a_tag_that_moves_while_it_is_read_gives_one_image_or_the_other(registry, layout):
    """Everything after the tag is asked for by digest."""
    want = inspect(registry.ref)
    new = layout.image("v2", [layer([("new", "f", b"new")])])

    def move(h):
        registry.add_layout(layout, "a/b", "v2")
        registry.manifests["a/b", "v1"] = registry.manifests["a/b", "v2"]
    registry.faults.append(("GET", f"/blobs/{registry.doc['config']['digest']}", move))
    assert inspect(registry.ref) == want
    assert [x["digest"] for x in inspect(registry.ref)["layers"]] == [x["digest"] for x in new["layers"]]


@needs_skopeo
def test_what_skopeo_pushes_is_read(tmp_path, layout):
    with real(tmp_path) as host:
        for form in ("oci", "v2s2"):
            skopeo("copy", "--dest-tls-verify=false", "--format", form, f"oci:{layout.directory}:v1", f"docker://{host}/x/{form}:1")
            seen = inspect(f"docker://{host}/x/{form}:1")
            assert [x["diffID"] for x in seen["layers"]] == [x["diffID"] for x in inspect(f"oci:{layout.directory}:v1")["layers"]]
        assert "answers 404" in fails(f"docker://{host}/x/none:1")


# ---- tokens and credentials

def test_an_anonymous_token_is_fetched_once_for_a_scope(registry):
    registry.auth = "bearer"
    inspect(registry.ref)
    assert [(m, u, f) for m, u, f in registry.asked] == [
        ("GET", None, {"service": ["fake"], "scope": ["repository:a/b:pull"]})]


def test_a_token_that_is_refused_is_fetched_again(registry):
    registry.auth = "bearer"

    def expire(h):
        registry.tokens.clear()
        return h.challenge()
    registry.faults.append(("GET", registry.big, expire))
    inspect(registry.ref)
    assert len(registry.asked) == 2


def test_a_registry_that_never_takes_its_own_tokens_is_given_up(registry):
    registry.auth = "bearer"
    registry.tokens = type("None", (), {"add": lambda *a: None, "__contains__": lambda *a: False})()
    assert "refuses GET /v2/a/b/manifests/v1 (401)" in fails(registry.ref)
    assert len(registry.asked) == 2


def test_credentials_of_docker_login(registry, tmp_path):
    registry.users = {"me": "secret"}
    for auth in ("basic", "bearer"):
        registry.auth = auth
        refused = fails(registry.ref)
        assert "401" in refused
        assert auth != "basic" or "(401); no credentials for it are known ('docker login', $REGISTRY_AUTH_FILE)" in refused
        inspect(registry.ref, env=config_file(tmp_path, registry.host))
        inspect(registry.ref, env=config_file(tmp_path, f"https://{registry.host}/v1/"))
        inspect(registry.ref, env=config_file(tmp_path, f"{registry.host}/a"))
        wrong = fails(registry.ref, env=config_file(tmp_path, registry.host, password="wrong"))
        assert "401" in wrong and "wrong" not in wrong.replace("wrong credentials", "")
        assert "401" in fails(registry.ref, env=config_file(tmp_path, f"{registry.host}/other"))
    assert registry.asked[-1][1] is None
    docker = tmp_path / "docker"
    docker.mkdir()
    shutil.copy(config_file(tmp_path, registry.host)["REGISTRY_AUTH_FILE"], docker / "config.json")
    inspect(registry.ref, env={"DOCKER_CONFIG": str(docker)})
    (docker / "config.json").write_text('{"auths": 7')
    assert "it is no JSON object" in fails(registry.ref, env={"DOCKER_CONFIG": str(docker)})


def test_a_refresh_token_is_exchanged(registry, tmp_path):
    registry.auth, registry.users, registry.refresh = "bearer", {"me": "secret"}, "long lived"
    path = tmp_path / "auth.json"
    path.write_text(json.dumps({"auths": {registry.host: {"identitytoken": "long lived"}}}))
    inspect(registry.ref, env={"REGISTRY_AUTH_FILE": str(path)})
    method, _, form = registry.asked[0]
    assert method == "POST" and form["grant_type"] == ["refresh_token"] and form["scope"] == ["repository:a/b:pull"]


def test_a_refresh_token_is_not_redirected_to_another_host(registry, tmp_path):
    registry.auth, registry.users, registry.refresh = "bearer", {"me": "secret"}, "long lived"
    path = tmp_path / "auth.json"
    path.write_text(json.dumps({"auths": {registry.host: {"identitytoken": "long lived"}}}))
    with fake() as other:
        registry.token_fault = lambda h: h.reply(307, Location=f"http://{other.host}/token")
        reported = fails(registry.ref, env={"REGISTRY_AUTH_FILE": str(path)})
        assert "redirects credentials to 127.0.0.1" in reported
        assert not other.seen


@pytest.mark.parametrize("key", ["credHelpers", "credsStore"])
def test_a_program_is_asked_for_credentials(registry, tmp_path, key):
    registry.auth, registry.users = "basic", {"me": "secret"}
    program = tmp_path / "docker-credential-test"
    program.write_text(f'''#!/bin/sh
read host
[ "$1 $host" = "get {registry.host}" ] || {{ echo "credentials not found in native keychain"; exit 1; }}
echo '{{"ServerURL": "x", "Username": "me", "Secret": "secret"}}'
''')
    program.chmod(0o755)
    path = tmp_path / "auth.json"
    path.write_text(json.dumps({key: {registry.host: "test"} if key == "credHelpers" else "test"}))
    env = {"REGISTRY_AUTH_FILE": str(path), "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    inspect(registry.ref, env=env)
    program.write_text("#!/bin/sh\necho no keychain today\nexit 1\n")
    assert "docker-credential-test failed: no keychain today" in fails(registry.ref, env=env)
    program.write_text("#!/bin/sh\necho credentials not found in native keychain\nexit 1\n")
    assert "401" in fails(registry.ref, env=env)
    program.unlink()
    assert "run 'docker-credential-test'" in fails(registry.ref, env=env)


def test_a_program_that_answers_and_does_not_end_is_ended(registry, tmp_path):
    registry.auth, registry.users = "basic", {"me": "secret"}
    program = tmp_path / "docker-credential-test"
    program.write_text("#!/bin/sh\necho '{\"Username\": \"me\", \"Secret\": \"secret\"}'\n"
                       f"echo $$ >{tmp_path}/pid\nexec >&- <&-\nexec sleep 1000\n")
    program.chmod(0o755)
    path = tmp_path / "auth.json"
    path.write_text(json.dumps({"credsStore": "test"}))
    env = {"REGISTRY_AUTH_FILE": str(path), "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    assert "docker-credential-test: it does not end" in fails(registry.ref, env=env)
    assert not os.path.exists(f"/proc/{(tmp_path / 'pid').read_text().strip()}")


# ---- faults

def test_it_waits_as_long_as_the_registry_asks(registry):
    registry.faults += [("GET", "/manifests/", answer(429, "TOOMANYREQUESTS", Retry_After="1"))]
    inspect(registry.ref)
    registry.faults += [("GET", "/manifests/", answer(429, "TOOMANYREQUESTS", Retry_After="100000"))]
    assert "try again in 100000 s" in fails(registry.ref)


def test_errors_of_servers_pass_or_are_told(registry):
    registry.faults += [("GET", registry.big, answer(s)) for s in (500, 503)]
    inspect(registry.ref)
    registry.faults += [("GET", "/manifests/", answer(403, "DENIED"))]
    assert "answers 403 to GET /v2/a/b/manifests/v1: it is DENIED" in fails(registry.ref)


def test_a_blob_goes_on_where_it_broke(registry):
    registry.faults += [("GET", registry.big, cut_after(100_000)) for _ in range(3)]
    inspect(registry.ref)
    ranges = [h.get("Range") for m, p, h in registry.seen if registry.big in p]
    assert ranges == [None, "bytes=100000-", "bytes=200000-", "bytes=300000-"]


def test_a_registry_without_ranges_sends_all_of_it_again(registry):
    registry.knows_ranges = False
    registry.faults += [("GET", registry.big, cut_after(100_000))]
    inspect(registry.ref)


def test_a_blob_that_is_cut_for_ever_is_given_up(registry):
    registry.blobs[registry.big] = registry.blobs[registry.big][:-5]
    assert "fewer than" in fails(registry.ref)


def test_wrong_bytes_are_refused(registry):
    right = registry.blobs[registry.big]
    registry.blobs[registry.big] = right[:-9] + b"x" + right[-8:]
    stderr = fails(registry.ref)
    assert "sent other bytes than those of" in stderr or "gzip" in stderr
    registry.blobs[registry.big] = right + b"more"
    assert "more than" in fails(registry.ref)
    name = registry.doc["config"]["digest"]
    registry.blobs[name] = registry.blobs[name].replace(b"amd64", b"arm64")
    assert f"sent other bytes than those of {name}" in fails(registry.ref)


def test_a_manifest_is_compared_with_its_digest(registry):
    media_type, data = registry.manifests["a/b", "v1"]
    want = digest(data)
    registry.manifests["a/b", want] = (media_type, data + b" ")
    assert "not the one of its digest" in fails(f"docker://{registry.host}/a/b@{want}")
    registry.faults += [("GET", "/manifests/v1", lambda h: h.reply(200, data + b" ", Docker_Content_Digest=want))]
    assert "not what the registry says" in fails(registry.ref)
    registry.faults += [("GET", "/manifests/v1", lambda h: h.reply(200, b" " * (5 << 20)))]
    assert "more than 4194304 bytes" in fails(registry.ref)


def test_a_silent_registry_is_left(registry):
    released = threading.Event()
    registry.faults += [("GET", registry.big, stall_after(100_000, released))]
    inspect(registry.ref, "--timeout", "300ms")
    released.set()
    assert [h.get("Range") for m, p, h in registry.seen if registry.big in p] == [None, "bytes=100000-"]


def test_another_host_gets_no_credentials(registry, tmp_path):
    registry.auth, registry.users = "basic", {"me": "secret"}
    with fake() as store:
        store.blobs = registry.blobs
        registry.faults += [("GET", f"/blobs/{d}", lambda h: h.reply(307, Location=f"http://{store.host}{h.path}?signed=1"))
                            for d in registry.blobs]
        inspect(registry.ref, env=config_file(tmp_path, registry.host))
        assert len(store.seen) == 3
        assert not [h for _, _, h in store.seen if "Authorization" in h]
    assert [h for _, _, h in registry.seen if "Authorization" in h]


@pytest.mark.parametrize("status", [200, 404, 403])
def test_an_answer_without_end_is_left(registry, status):
    def endless(h):
        h.close_connection = True
        h.send_response(status)
        h.end_headers()
        with contextlib.suppress(OSError):
            while True:
                h.wfile.write(b" " * 65536)
        return True

    registry.faults += [("GET", "/manifests/", endless)]
    assert "has more than 4194304 bytes" in fails(registry.ref)


def test_redirects_end(registry):
    registry.faults += [("GET", registry.big, lambda h: h.reply(307, Location=h.path)) for _ in range(7)]
    assert "more than 5 redirects" in fails(registry.ref)


def test_a_proxy_is_used_except_for_loopback(registry, layout):
    proxy = {"http_proxy": f"http://{registry.host}", "HTTPS_PROXY": f"http://{registry.host}"}
    seen = inspect("docker://registry.example.org/a/b:v1", "--plain-http", env=proxy)
    assert seen == inspect(f"oci:{layout.directory}:v1")
    assert registry.seen[0][1] == "http://registry.example.org:80/v2/a/b/manifests/v1"
    inspect(registry.ref, env={"http_proxy": "http://127.0.0.1:1"})
    assert "proxy" in fails("docker://registry.example.org/a/b:v1", "--plain-http", env={"http_proxy": "ftp://x"})


def test_a_registry_that_is_not_there_is_told_at_once():
    assert "refused" in fails("docker://127.0.0.1:1/a/b")
    assert "is no reference to an image" in fails("docker://127.0.0.1:1/A")


@needs_registry
def test_tls_with_an_own_ca(tmp_path, layout):
    key, cert = tmp_path / "key.pem", tmp_path / "cert.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key,
                    "-out", cert, "-days", "2", "-subj", "/CN=x", "-addext", "subjectAltName=IP:127.0.0.1"],
                   check=True, capture_output=True)
    with real(tmp_path, http={"tls": {"certificate": str(cert), "key": str(key)}}) as host:
        assert "answers 404" in fails(f"docker://{host}/a/b", "--ca-file", str(cert))
        other = tmp_path / "other.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key,
                        "-out", other, "-days", "2", "-subj", "/CN=y"], check=True, capture_output=True)
        assert "certificate refused" in fails(f"docker://{host}/a/b", "--ca-file", str(other))
        assert "No such file" in fails(f"docker://{host}/a/b", "--ca-file", str(tmp_path / "none"))


# ---- proxies

LOGIN = "user:p@ss:word"
ENCODED = "user:p%40ss%3Aword"


def proxy_of(proxy, encoded=ENCODED):
    url = f"http://{encoded}@127.0.0.1:{proxy.server_address[1]}"
    return {"http_proxy": url, "https_proxy": url}


def certificate(tmp_path, name):
    key, cert = tmp_path / "key.pem", tmp_path / "cert.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key,
                    "-out", cert, "-days", "2", "-subj", "/CN=x", "-addext", f"subjectAltName=DNS:{name}"], check=True, capture_output=True)
    return key, cert


def test_plain_requests_log_in_to_a_proxy(registry):
    with Proxy(registry.port, LOGIN) as proxy:
        shown = inspect("docker://registry.example:5000/a/b:v1", "--plain-http", env=proxy_of(proxy))
        assert len(shown["layers"]) == 2
        assert {(target.split("/v2/")[0], login) for _, target, login in proxy.seen} == {("http://registry.example:5000", proxy.wanted)}
    assert not any("Proxy-Authorization" in headers for _, _, headers in registry.seen)


@needs_registry
def test_connections_with_tls_log_in_to_a_proxy(tmp_path):
    key, cert = certificate(tmp_path, "registry.example")
    with real(tmp_path, http={"tls": {"certificate": str(cert), "key": str(key)}}) as host:
        with Proxy(int(host.split(":")[1]), LOGIN) as proxy:
            reported = fails("docker://registry.example/a/b", "--ca-file", str(cert), env=proxy_of(proxy))
            assert "answers 404" in reported  # it is the registry that says so
            assert set(proxy.seen) == {("CONNECT", "registry.example:443", proxy.wanted)}


def test_errors_name_the_proxy_and_not_its_password(registry):
    with Proxy(registry.port, LOGIN) as proxy:
        for scheme in ["--plain-http"], []:
            reported = fails("docker://registry.example/a/b", *scheme, env=proxy_of(proxy, "user:secret"))
            assert "the proxy answers" in reported and "407" in reported and "secret" not in reported
    registry.faults.append(("GET", "/manifests/", answer(407)))
    reported = fails(registry.ref)
    assert f"{registry.host} answers 407" in reported and "proxy" not in reported, reported
    reported = fails("docker://registry.example/a/b", env=proxy_of(proxy, "user:secret"))  # it is gone
    assert f"the proxy '127.0.0.1' port {proxy.server_address[1]}" in reported and "secret" not in reported
    for url in ("http://user:secret@:80", "ftp://user:secret@h", "http://user:se%zzcret@h", "http://user:secret@h:99999/",
                "user:secret@h:3128", "http://user:1/secret@h", "http://user:1?secret@h", "http://user:1#secret@h"):
        reported = fails("docker://registry.example/a/b", env={"https_proxy": url})
        assert "proxy" in reported and "cret" not in reported and "user" not in reported.lower().replace("[user", ""), reported


# ---- pushing

def push(source, target, *args, env=None):
    done = dormouse("push", source, f"docker://{target}", "-o", "json", *args, env=env)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def push_fails(source, target, *args, env=None):
    done = dormouse("push", source, f"docker://{target}", *args, env=env)
    assert done.returncode == 1 and not done.stdout, done.stdout
    return done.stderr


LARGE = layer([("large", "f", random.Random(2).randbytes(21 << 20))])


@pytest.fixture
def large(layout):
    """21 MiB that do not shrink: three chunks."""
    layout.image("large", [BASE, LARGE])
    return f"oci:{layout.directory}:large"


@needs_skopeo
def test_what_is_pushed_is_read_by_skopeo(tmp_path, layout, large):
    with real(tmp_path) as host:
        pushed = push(large, f"{host}/x/large:1")
        assert (pushed["uploaded"], pushed["present"]) == (3, 0)
        skopeo("copy", "--src-tls-verify=false", f"docker://{host}/x/large:1", f"oci:{tmp_path}/back:1")
        assert inspect(f"oci:{tmp_path}/back:1")["layers"] == inspect(large)["layers"] == inspect(f"docker://{host}/x/large:1")["layers"]
        raw = skopeo("inspect", "--raw", "--tls-verify=false", f"docker://{host}/x/large:1")
        assert digest(raw.encode()) == pushed["digest"] == inspect(large)["digest"]
        again = push(large, f"{host}/x/large:2")
        assert (again["uploaded"], again["present"], again["bytes"]) == (0, 3, 0)
        mounted = push(f"docker://{host}/x/large:1", f"{host}/y:1")
        assert (mounted["uploaded"], mounted["mounted"], mounted["digest"]) == (0, 3, pushed["digest"])
        assert inspect(f"docker://{host}/y:1") == inspect(large)


@needs_skopeo
def test_archives_are_pushed(tmp_path, layout):
    with real(tmp_path) as host:
        skopeo("copy", f"oci:{layout.directory}:v1", f"docker-archive:{tmp_path}/d.tar:d:1")
        skopeo("copy", f"oci:{layout.directory}:v1", f"oci-archive:{tmp_path}/o.tar:1")
        for source in (f"docker-archive:{tmp_path}/d.tar", f"oci-archive:{tmp_path}/o.tar:1"):
            pushed = push(source, f"{host}/x:1")
            seen = inspect(f"docker://{host}/x:1")
            assert pushed["digest"] == seen["digest"]
            assert [x["diffID"] for x in seen["layers"]] == [x["diffID"] for x in inspect(f"oci:{layout.directory}:v1")["layers"]]
            skopeo("copy", "--src-tls-verify=false", f"docker://{host}/x:1", f"oci:{tmp_path}/{pushed['digest'][-5:]}:1")


def test_all_platforms_or_one_are_copied_between_registries(registry, layout):
    layout.image("arm", [BASE], architecture="arm64")
    index = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": [
        dict(m, platform={"os": "linux", "architecture": a}) for m, a in zip(layout.manifests, ("amd64", "arm64"))]}
    outer = layout.descriptor(json.dumps(index).encode(), index["mediaType"])
    registry.add_manifest(layout, outer, "a/b", "multi")
    source = f"docker://{registry.host}/a/b:multi"
    with fake() as target:
        one = push(source, f"{target.host}/c:1", "--platform", "linux/arm64")
        assert set(r for _, r in target.manifests) == {"1", layout.manifests[1]["digest"]} and one["digest"] == layout.manifests[1]["digest"]
        assert len(target.blobs) == 2
        whole = push(source, f"{target.host}/c:all", "--all")
        assert whole["digest"] == outer["digest"]
        assert inspect(f"docker://{target.host}/c:all", "--platform", "linux/amd64")["digest"] == layout.manifests[0]["digest"]


def test_indexes_that_name_one_another_again_and_again_are_copied_once(registry, layout):
    inner, kind = layout.manifests[0], "application/vnd.oci.image.index.v1+json"
    for _ in range(3):
        data = json.dumps({"schemaVersion": 2, "mediaType": kind, "manifests": [inner] * 1000}).encode()
        inner = layout.descriptor(data, kind)
    registry.add_manifest(layout, inner, "a/b", "deep")
    with fake() as target:
        assert push(f"docker://{registry.host}/a/b:deep", f"{target.host}/c:all", "--all")["digest"] == inner["digest"]
        assert len(target.paths("PUT")) == 3 + 4  # blobs, manifests


def test_a_token_for_pushing_is_fetched_once(registry, tmp_path, layout):
    registry.auth, registry.users = "bearer", {"me": "secret"}
    push(f"oci:{layout.directory}:v1", f"{registry.host}/new:1", env=config_file(tmp_path, registry.host))
    assert [(u, f["scope"]) for _, u, f in registry.asked] == [("me", ["repository:new:pull,push"])]
    assert "401" in push_fails(f"oci:{layout.directory}:v1", f"{registry.host}/new:2")


def test_an_upload_goes_on_where_it_broke(registry, large):
    def part(n):
        """Take some of the bytes, and hang up."""
        def fault(h):
            name = h.path.split("/")[-1].split("?")[0]
            registry.uploads[name] += h.body[:n]
            return h.hang_up()
        return fault
    registry.faults += [("PATCH", "/uploads/", part(n)) for n in (0, 1_000_000, 1 << 30)]
    pushed = push(large, f"{registry.host}/c:1")
    assert inspect(f"docker://{registry.host}/c:1")["digest"] == pushed["digest"]
    assert [h["Content-Range"] for m, _, h in registry.seen if m == "PATCH"][:4] == [
        "0-8388607", "0-8388607", "1000000-8388607", "8388608-16777215"]


def test_an_upload_that_is_lost_begins_again(registry, large):
    def lose(h):
        registry.uploads.clear()
        return h.error(500, "UNKNOWN")
    registry.faults += [("PATCH", "/uploads/", lose), ("PUT", "/uploads/", lose)]
    pushed = push(large, f"{registry.host}/c:1")
    assert inspect(f"docker://{registry.host}/c:1")["digest"] == pushed["digest"]
    registry.faults += [("PATCH", "/uploads/", lose) for _ in range(3)]
    registry.blobs.clear()
    assert "lost the upload" in push_fails(large, f"{registry.host}/c:2")
    assert ("c", "2") not in registry.manifests


def test_an_answer_that_is_lost_after_the_last_byte(registry, layout):
    """The registry has the blob; the client finds out by asking."""
    def take(h):
        registry.blobs[h.query["digest"][0]] = h.body
        return h.hang_up()
    registry.faults += [("PUT", "/uploads/", take)]
    pushed = push(f"oci:{layout.directory}:v1", f"{registry.host}/c:1")
    assert inspect(f"docker://{registry.host}/c:1")["digest"] == pushed["digest"]


def test_what_is_damaged_is_not_pushed(registry, layout):
    path = layout.directory / "blobs/sha256" / registry.big[7:]
    right = path.read_bytes()
    path.write_bytes(right[:-9] + b"x" + right[-8:])
    registry.blobs.clear()
    assert "is not what its name says" in push_fails(f"oci:{layout.directory}:v1", f"{registry.host}/c:1")
    assert ("c", "1") not in registry.manifests and registry.big not in registry.blobs


def test_a_manifest_with_a_subject_is_found_by_tag_where_there_is_no_api(registry, layout):
    subject = dict(layout.manifests[0])
    subject.pop("annotations")
    for name in ("sbom", "signature"):
        manifest = layout.image(name, [layer([(name, "f", name.encode())])])
        del layout.manifests[-1]
        manifest |= {"subject": subject, "artifactType": f"application/{name}", "annotations": {"made": "now"}}
        layout.manifests.append(layout.descriptor(json.dumps(manifest).encode(), manifest["mediaType"],
                                                  annotations={"org.opencontainers.image.ref.name": name}))
        (layout.directory / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": layout.manifests}))
        for _ in range(2):
            push(f"oci:{layout.directory}:{name}", f"{registry.host}/a/b:{name}")
    tag = subject["digest"].replace(":", "-")
    index = json.loads(registry.manifests["a/b", tag][1])
    assert [(m["artifactType"], m["digest"], m["annotations"]) for m in index["manifests"]] == [
        (f"application/{name}", m["digest"], {"made": "now"}) for name, m in zip(("sbom", "signature"), layout.manifests[1:])]
    assert inspect(registry.ref, "--referrers") == index
    assert "application/sbom" in dormouse("inspect", registry.ref, "--referrers").stdout
    assert inspect(f"docker://{registry.host}/a/b:sbom", "--referrers")["manifests"] == []
    assert dormouse("inspect", f"oci:{layout.directory}:sbom", "--referrers").returncode == 2


def test_the_referrers_api_is_asked_first(registry, layout):
    index = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": [
        {"mediaType": "x", "artifactType": "application/\x1b[1mx", "digest": "sha256:" + "0" * 64, "size": 7}]}
    registry.faults.append(("GET", "/referrers/", lambda h: h.reply(200, json.dumps(index).encode())))
    assert inspect(registry.ref, "--referrers") == index
    assert registry.paths()[-1].endswith(f"/v2/a/b/referrers/{layout.manifests[0]['digest']}")
    registry.faults.append(("GET", "/referrers/", lambda h: h.reply(200, json.dumps(index).encode())))
    assert "\x1b" not in dormouse("inspect", registry.ref, "--referrers").stdout


def test_a_registry_that_knows_subjects_gets_no_tag(registry, layout):
    manifest = layout.image("sbom", [BASE])
    manifest["subject"] = {k: layout.manifests[0][k] for k in ("mediaType", "digest", "size")}
    layout.manifests[-1] = layout.descriptor(json.dumps(manifest).encode(), manifest["mediaType"],
                                             annotations={"org.opencontainers.image.ref.name": "sbom"})
    (layout.directory / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": layout.manifests}))

    def take(h):
        registry.manifests["a/b", "sbom"] = (h.headers["Content-Type"], h.body)
        return h.reply(201, OCI_Subject=manifest["subject"]["digest"])
    registry.faults.append(("PUT", "/manifests/sbom", take))
    push(f"oci:{layout.directory}:sbom", f"{registry.host}/a/b:sbom")
    assert len([p for p in registry.paths("PUT") if "/manifests/" in p]) == 1


def test_chunks_are_as_large_as_the_registry_wants(registry, large):
    def begin(minimum):
        def fault(h):
            registry.uploads["wide"] = b""
            return h.reply(202, Location="/v2/c/blobs/uploads/wide", OCI_Chunk_Min_Length=str(minimum))
        return fault
    registry.faults += [("POST", "/uploads/", begin(16 << 20))]
    push(large, f"{registry.host}/c:1")
    assert [h["Content-Range"] for m, _, h in registry.seen if m == "PATCH"] == ["0-16777215", f"16777216-{json_size(large) - 1}"]
    registry.blobs.clear()
    registry.faults += [("POST", "/uploads/", begin(1 << 40))]
    assert "requires chunks of 1099511627776 bytes" in push_fails(large, f"{registry.host}/c:2")


def json_size(source):
    return max(x["size"] for x in inspect(source)["layers"])


def test_words_of_push_that_are_wrong(layout):
    source = f"oci:{layout.directory}:v1"
    for args in ([source], [source, "localhost/x"], [source, "docker://a", "b"]):
        assert dormouse("push", *args).returncode == 2
    assert "under a digest" in push_fails(source, "127.0.0.1:1/a@sha256:" + "0" * 64)


def test_progress_in_a_pipe_is_a_line_for_each_blob(registry, layout):
    done = dormouse("push", f"oci:{layout.directory}:v1", f"docker://{registry.host}/c:1")
    lines = done.stderr.splitlines()
    assert len(lines) == 3 and all(line.startswith("blob ") and "present" in line for line in lines)
    assert done.stdout == f"{registry.host}/c:1@{layout.manifests[0]['digest']}\n"


# ---- into the store

def pull(reference, store, *args, env=None):
    done = dormouse("pull", reference, "--store", str(store), "-o", "json", *args, env=env)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_an_image_is_pulled_into_the_store(registry, layout, tmp_path):
    pulled = pull(registry.ref, tmp_path / "store", "--threads", "4")
    assert (pulled["name"], pulled["digest"], pulled["layersPresent"]) == (f"{registry.host}/a/b:v1", layout.manifests[0]["digest"], 0)
    seen = inspect(f"{registry.host}/a/b:v1", "--store", str(tmp_path / "store"))
    assert [x["diffID"] for x in seen["layers"]] == [x["diffID"] for x in inspect(registry.ref)["layers"]]
    n = len(registry.paths())
    assert pull(registry.ref, tmp_path / "store")["layersPresent"] == 2
    assert not [p for p in registry.paths()[n:] if registry.big in p]


def test_many_layers_are_pulled_at_once_with_a_token_for_each_connection(registry, layout, tmp_path):
    registry.auth = "bearer"
    layout.image("many", [layer([(f"f{i}", "f", random.Random(i).randbytes(50_000 + i))]) for i in range(24)])
    registry.add_layout(layout, "a/b", "many")
    registry.faults += [("GET", "/blobs/", cut_after(10_000)) for _ in range(3)]
    pulled = pull(f"docker://{registry.host}/a/b:many", tmp_path / "store", "--threads", "6")
    assert (pulled["layers"], pulled["layersPresent"]) == (24, 0)
    assert len(registry.asked) <= 7
    assert dormouse("check", "--store", str(tmp_path / "store")).returncode == 0


def test_a_pull_says_why_it_waits(registry, tmp_path):
    registry.faults += [("GET", registry.big, answer(503))]
    done = dormouse("pull", registry.ref, "--store", str(tmp_path / "store"))
    assert done.returncode == 0 and f"{registry.host} answers 503; again in " in done.stderr


def test_a_push_from_the_store_keeps_the_digest_where_blobs_are_kept(registry, tmp_path):
    digests = {}
    for form in ("gz", "both", "raw"):
        store = tmp_path / form
        name = pull(registry.ref, store, "--form", form)["name"]
        with fake() as target:
            digests[form] = push(name, f"{target.host}/c:1", env={"DORMOUSE_IMAGE_STORE": str(store)})["digest"]
    want = inspect(registry.ref)["digest"]
    assert digests["gz"] == digests["both"] == want != digests["raw"]


def test_a_pull_that_failed_goes_on_where_it_was(registry, tmp_path):
    registry.faults += [("GET", registry.big, cut_after(0 if i else 300_000)) for i in range(6)]
    done = dormouse("pull", registry.ref, "--store", str(tmp_path / "store"), "--threads", "1")
    assert done.returncode == 1 and "after 5 attempts" in done.stderr
    registry.faults.clear()
    n = len(registry.seen)
    pulled = pull(registry.ref, tmp_path / "store")
    ranges = [h.get("Range") for m, p, h in registry.seen[n:] if registry.big in p]
    assert len(ranges) == 1 and int(ranges[0][6:-1]) >= 300_000
    assert dormouse("check", "--store", str(tmp_path / "store")).returncode == 0
    assert pulled["digest"] == inspect(registry.ref)["digest"]


def test_bytes_that_are_wrong_once_are_asked_for_once_more(registry, tmp_path):
    def damaged(h):
        right = registry.blobs[registry.big]
        return h.reply(200, right[:1000] + bytes([right[1000] ^ 1]) + right[1001:])
    for n_wrong in (1, 2):
        registry.seen.clear()
        registry.faults += [("GET", registry.big, damaged)] * n_wrong
        done = dormouse("pull", registry.ref, "--store", str(tmp_path / f"store{n_wrong}"))
        assert done.returncode == n_wrong - 1 and "is asked for once more" in done.stderr, done.stderr
        assert len([p for p in registry.paths("GET") if registry.big in p]) == 2
        assert dormouse("check", "--store", str(tmp_path / f"store{n_wrong}")).returncode == 0


def test_wrong_bytes_do_not_reach_the_store(registry, tmp_path):
    right = registry.blobs[registry.big]
    registry.blobs[registry.big] = right[:-9] + b"x" + right[-8:]
    done = dormouse("pull", registry.ref, "--store", str(tmp_path / "store"))
    assert done.returncode == 1
    assert dormouse("ls", "--store", str(tmp_path / "store"), "-o", "name").stdout == ""
    registry.blobs[registry.big] = right
    pull(registry.ref, tmp_path / "store")
    assert dormouse("check", "--store", str(tmp_path / "store")).returncode == 0
