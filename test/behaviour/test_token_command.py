# SPDX-License-Identifier: Apache-2.0
"""dormouse token: create, list, delete; nodes join with what it makes."""
import base64
import json
import re
import subprocess

import pytest

from conftest import find_kubectl, wait_for
from test_auth import RBAC, ask_with_certificate, ask_with_token, token_review
from test_cli import dormouse
from test_join import CSRS, SECRETS, conditions, csr, issued, request, token_secret

GROUP = "system:bootstrappers:dormouse:nodes"
BINDINGS = {"dormouse:node-bootstrapper": ("system:node-bootstrapper", GROUP),
            "dormouse:node-autoapprove-bootstrap": ("system:certificates.k8s.io:certificatesigningrequests:nodeclient", GROUP),
            "dormouse:node-autoapprove-certificate-rotation":
                ("system:certificates.k8s.io:certificatesigningrequests:selfnodeclient", "system:nodes")}
OTHER = "system:bootstrappers:other"


def token(server, *words, config=None):
    return dormouse("token", *words, KUBECONFIG=config or server.kubeconfig)


def create(server, *words):
    """The token, on a line of its own."""
    done = token(server, "create", *words)
    assert done.returncode == 0 and re.fullmatch(r"[a-z0-9]{6}\.[a-z0-9]{16}\n", done.stdout), done
    return done.stdout.strip()


def values(server, made):
    secret = server.get(f"{SECRETS}/bootstrap-token-{made.split('.')[0]}").json()
    assert secret["type"] == "bootstrap.kubernetes.io/token", secret
    return {key: base64.b64decode(value).decode() for key, value in secret["data"].items()}


def rows(server):
    """The cells of the table, by token."""
    done = token(server, "list")
    assert done.returncode == 0, done
    head, *lines = (re.split(r" {3,}", line) for line in done.stdout.splitlines())
    assert head == ["TOKEN", "TTL", "EXPIRES", "USAGES", "DESCRIPTION", "GROUPS"]
    return {cells[0]: cells[1:] for cells in lines}


def delete_bindings(server):
    for name in BINDINGS:
        assert server.ask("DELETE", f"{RBAC}/clusterrolebindings/{name}").status in (200, 404)


def bindings(server):
    found = {}
    for name in BINDINGS:
        answer = server.get(f"{RBAC}/clusterrolebindings/{name}")
        if answer.status == 200:
            binding = answer.json()
            found[name] = (binding["roleRef"]["name"], *(s["name"] for s in binding.get("subjects", [])))
    return found


def test_a_node_joins_with_a_token_of_the_command(shared_api, tmp_path):
    delete_bindings(shared_api)
    done = token(shared_api, "create")
    made = done.stdout.strip()
    assert done.stderr.splitlines() == [f"clusterrolebinding {name}: created" for name in BINDINGS], done
    assert bindings(shared_api) == BINDINGS
    assert token_review(shared_api, made)["user"] == {
        "username": f"system:bootstrap:{made[:6]}", "groups": ["system:bootstrappers", GROUP, "system:authenticated"]}
    key, text = request(tmp_path, "/O=system:nodes/CN=system:node:n1")
    code, answer = ask_with_token(shared_api, made, CSRS, "POST", csr("n1", text))
    assert code == 201, answer
    cert = issued(shared_api, "n1", tmp_path)
    assert conditions(shared_api, "n1")["Approved"]["reason"] == "AutoApproved"
    shared_api.create("/api/v1/nodes", {"metadata": {"name": "n1"}})
    assert ask_with_certificate(shared_api, cert, key, "/api/v1/nodes/n1")[0] == 200
    again = shared_api.ask("POST", CSRS, csr("n1-again", request(tmp_path, "/O=system:nodes/CN=system:node:n1")[1]),
                           Impersonate_User="system:node:n1", Impersonate_Group="system:nodes")
    assert again.status == 201, again.body
    issued(shared_api, "n1-again", tmp_path)


def test_what_a_token_holds_is_said_by_the_options(shared_api):
    plain = create(shared_api)
    assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ", values(shared_api, plain)["expiration"])
    made = create(shared_api, "abcdef.0123456789abcdef", "--ttl", "0", "--group", OTHER, "--group", OTHER + ":more",
                  "--description", "hall 3")
    assert made == "abcdef.0123456789abcdef" != plain
    assert values(shared_api, made) == {
        "token-id": "abcdef", "token-secret": "0123456789abcdef", "usage-bootstrap-authentication": "true",
        "usage-bootstrap-signing": "true", "auth-extra-groups": f"{OTHER},{OTHER}:more", "description": "hall 3"}
    shown = rows(shared_api)
    assert shown[made] == ["<forever>", "<never>", "authentication,signing", "hall 3", f"{OTHER},{OTHER}:more"]
    assert shown[plain] == [shown[plain][0], values(shared_api, plain)["expiration"], "authentication,signing", "<none>", GROUP]
    assert shown[plain][0] in ("24h", "23h")
    listed = {t["token"]: t for t in json.loads(token(shared_api, "list", "-o", "json").stdout)}
    assert listed[made] == {"token": made, "usages": ["authentication", "signing"], "description": "hall 3",
                            "groups": [OTHER, OTHER + ":more"]}
    told = json.loads(token(shared_api, "create", "-o", "json", "--ttl", "90m").stdout)
    assert set(told) == {"token", "expires", "usages", "description", "groups"} and told["groups"] == [GROUP]
    assert told in json.loads(token(shared_api, "list", "-o", "json").stdout)
    assert rows(shared_api)[told["token"]][0].endswith("m")


def test_a_deleted_token_is_refused(shared_api):
    first, second = create(shared_api), create(shared_api)
    assert ask_with_token(shared_api, first, "/api")[0] == 200
    done = token(shared_api, "delete", first[:6], second)
    assert (done.returncode, done.stdout) == (0, "") and done.stderr == f"token {first[:6]}: deleted\ntoken {second[:6]}: deleted\n"
    for made in first, second:
        assert ask_with_token(shared_api, made, "/api")[0] == 401
        assert made not in rows(shared_api)
    third = create(shared_api)
    done = token(shared_api, "delete", first, third)
    assert done.returncode == 1 and done.stderr == f"error: there is no token '{first[:6]}'\ntoken {third[:6]}: deleted\n"


def test_an_expired_token_is_refused(shared_api):
    made = create(shared_api, "--ttl", "1s")
    wait_for(lambda: ask_with_token(shared_api, made, "/api")[0] == 401, "it expires")
    wait_for(lambda: made not in rows(shared_api), "the server deletes it")
    kept = token_secret("old000.0123456789abcdef", expiration="2000-01-01T00:00:00Z")
    kept["metadata"]["finalizers"] = ["example.com/keep"]  # the server deletes it otherwise
    shared_api.create(SECRETS, kept)
    unreadable = token_secret("old001.0123456789abcdef", expiration="soon")
    unreadable["metadata"]["finalizers"] = ["example.com/keep"]
    shared_api.create(SECRETS, unreadable)
    shown = rows(shared_api)
    assert shown["old000.0123456789abcdef"] == ["<expired>", "2000-01-01T00:00:00Z", "authentication", "<none>", "<none>"]
    assert shown["old001.0123456789abcdef"][:2] == ["<expired>", "soon"]
    for name in "old000", "old001":
        assert shared_api.ask("PATCH", f"{SECRETS}/bootstrap-token-{name}", {"metadata": {"finalizers": None}},
                              Content_Type="application/merge-patch+json").status == 200
    wait_for(lambda: not {"old000.0123456789abcdef", "old001.0123456789abcdef"} & rows(shared_api).keys(), "they are deleted")


def test_secrets_that_hold_no_token_are_skipped_with_a_warning(shared_api):
    shared_api.create(SECRETS, token_secret("other0.0123456789abcdef", name="bootstrap-token-other1"))
    shared_api.create(SECRETS, token_secret("wrong0.short"))
    shared_api.create(SECRETS, token_secret("escape.0123456789abcdef", description="\x1b[31mred"))
    done = token(shared_api, "list", "-o", "json")
    assert done.returncode == 0 and "other0" not in done.stdout and "wrong0" not in done.stdout
    for name in "other1", "wrong0":
        assert f"warning: Secret kube-system/bootstrap-token-{name} holds no valid token, skipped\n" in done.stderr
        assert shared_api.ask("DELETE", f"{SECRETS}/bootstrap-token-{name}").status == 200
    assert rows(shared_api)["escape.0123456789abcdef"][3] == "?[31mred"


def test_bindings_are_for_the_default_group_and_existing_ones_stay(shared_api):
    delete_bindings(shared_api)
    create(shared_api, "--group", OTHER)
    assert bindings(shared_api) == {}
    create(shared_api, "--group", OTHER, "--group", GROUP)
    assert bindings(shared_api) == BINDINGS
    name = "dormouse:node-autoapprove-bootstrap"  # an administrator wants to approve the requests
    assert shared_api.ask("PATCH", f"{RBAC}/clusterrolebindings/{name}", {"subjects": None},
                          Content_Type="application/merge-patch+json").status == 200
    done = token(shared_api, "create")
    assert done.returncode == 0 and done.stderr == ""
    assert bindings(shared_api)[name] == BINDINGS[name][:1]
    delete_bindings(shared_api)


def test_the_printed_kubeconfig_has_the_token(shared_api, tmp_path):
    printed = token(shared_api, "create", "--print-kubeconfig")
    config = tmp_path / "bootstrap.conf"
    config.write_text(printed.stdout)
    no = token(shared_api, "list", config=config)
    assert no.returncode == 1 and no.stdout == "" and 'User "system:bootstrap:' in no.stderr, no
    told = json.loads(token(shared_api, "create", "--print-kubeconfig", "-o", "json", "--server", "https://10.0.0.1:6443").stdout)
    assert told["clusters"][0]["cluster"] == {
        "server": "https://10.0.0.1:6443",
        "certificate-authority-data": base64.b64encode((shared_api.data_dir / "pki/ca.crt").read_bytes()).decode()}
    assert told["users"][0]["user"]["token"] in rows(shared_api)
    digits = token(shared_api, "create", "123456.0123456789012345", "--print-kubeconfig").stdout
    assert 'token: "123456.0123456789012345"' in digits, "it is no number"


def test_kubectl_takes_the_printed_kubeconfig(shared_api, tmp_path):
    kubectl = find_kubectl()
    if not kubectl:
        pytest.skip("no kubectl here")
    config = tmp_path / "bootstrap.conf"
    config.write_text(token(shared_api, "create", "--print-kubeconfig").stdout)
    body = csr("n2", request(tmp_path, "/O=system:nodes/CN=system:node:n2")[1])
    done = subprocess.run([kubectl, "--kubeconfig", config, "create", "-f", "-"], input=json.dumps(body), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    issued(shared_api, "n2", tmp_path)


def test_a_cluster_that_is_not_verified_is_none_for_a_kubeconfig(shared_api, tmp_path):
    config = tmp_path / "insecure"
    config.write_text(re.sub("certificate-authority-data: .*", "insecure-skip-tls-verify: true", open(shared_api.kubeconfig).read()))
    before = rows(shared_api)
    no = token(shared_api, "create", "--print-kubeconfig", config=config)
    assert no.returncode == 1 and no.stdout == "" and "does not verify the server" in no.stderr, no
    assert rows(shared_api).keys() == before.keys()


SECRET = "0123456789abcdeF"


@pytest.mark.parametrize("words, says", [
    (["create", f"abcdef.{SECRET}"], "[a-z0-9]{6}.[a-z0-9]{16}"), (["create", SECRET], "[a-z0-9]{6}.[a-z0-9]{16}"),
    (["create", f"abcdef.{SECRET.lower()}", f"abcdeg.{SECRET}"], "one token"), (["create", ""], "[a-z0-9]{6}.[a-z0-9]{16}"),
    (["create", "--group", "system:masters"], "'system:masters' does not have the form system:bootstrappers:"),
    (["create", "--group", "system:bootstrappers:"], "does not have the form"),
    (["create", "--group", "system:bootstrappers:a,b"], "does not have the form"),
    (["create", "--group", "system:bootstrappers:" + "a" * 257], "does not have the form"),
    (["create", *["--group", OTHER] * 65], "64 of them are enough"),
    (["create", "--ttl", "999ms"], "--ttl is 0 or from 1s to 87600h"), (["create", "--ttl", "87601h"], "--ttl is 0 or"),
    (["create", "--ttl", "5"], "--ttl does not take '5'"), (["create", "--ttl", "-1h"], "--ttl does not take '-1h'"),
    (["create", "--description", "a" * 1025], "longer than 1024 bytes"), (["create", "-o", "yaml"], "text or json, not 'yaml'"),
    (["create", "--server", "https://a"], "--server is for --print-kubeconfig"),
    (["create", "--print-kubeconfig", "--server", "10.0.0.1"], "'10.0.0.1' is not the URL"),
    (["create", "--print-kubeconfig", "--server", "https://a b"], "is not the URL"),
    (["list", SECRET], "takes no argument"), (["list", "-o", "wide"], "text or json, not 'wide'"),
    (["delete"], "which token?"), (["delete", "abcdef", SECRET], "argument 2 is neither a token nor the ID"),
    (["delete", *["abcdef"] * 80, f"abcdef.{SECRET}"], "argument 81 is neither"),
])
def test_wrong_words_change_nothing_and_show_no_secret(shared_api, words, says):
    before = rows(shared_api)
    done = token(shared_api, *words)
    assert done.returncode == 2 and done.stdout == "" and done.stderr.startswith("error: ") and says in done.stderr, done
    assert SECRET.lower() not in done.stderr.lower()
    assert rows(shared_api).keys() == before.keys()


def test_a_token_that_exists_is_not_made_again(shared_api):
    made = create(shared_api, "--ttl", "0", "--description", "first")
    done = token(shared_api, "create", f"{made[:6]}.{'x' * 16}")
    assert (done.returncode, done.stdout) == (1, "") and f"error: a token with the ID '{made[:6]}' exists already\n" == done.stderr
    assert values(shared_api, made)["description"] == "first" and values(shared_api, made)["token-secret"] == made[7:]


def test_without_rights_nothing_happens(shared_api, tmp_path):
    config = tmp_path / "jane"
    assert dormouse("kubeconfig", "--data-dir", shared_api.data_dir, "--user", "jane", "-o", config).returncode == 0
    made = create(shared_api)
    before = rows(shared_api)
    for words, says in [(["create", f"nowxyz.{SECRET.lower()}"], 'User "jane" cannot create resource "clusterrolebindings"'),
                        (["create", f"nowxyz.{SECRET.lower()}", "--group", OTHER], 'User "jane" cannot create resource'),
                        (["list"], 'User "jane" cannot list resource "secrets"'), (["delete", made], 'User "jane" cannot delete resource "secrets"')]:
        done = token(shared_api, *words, config=config)
        assert (done.returncode, done.stdout) == (1, "") and says in done.stderr, done
        assert SECRET.lower() not in done.stderr and made[7:] not in done.stderr
    assert rows(shared_api).keys() == before.keys()


def test_without_a_server_the_status_is_3(shared_api, tmp_path):
    gone = tmp_path / "gone"
    gone.write_text(open(shared_api.kubeconfig).read().replace(shared_api.url, "https://127.0.0.1:1"))
    for config in gone, tmp_path / "missing":
        for words in (["create"], ["create", "--print-kubeconfig"], ["list"], ["delete", "abcdef"]):
            done = token(shared_api, *words, config=config)
            assert (done.returncode, done.stdout) == (3, "") and "error: " in done.stderr, done


def test_a_token_that_cannot_be_printed_is_a_failure(shared_api):
    with open("/dev/full", "w") as full:
        done = subprocess.run([shared_api.args[0], "token", "create", "--kubeconfig", shared_api.kubeconfig], stdout=full,
                              stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1 and done.stderr.endswith("error: write the token: No space left on device\n"), done
