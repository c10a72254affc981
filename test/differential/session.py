# SPDX-License-Identifier: Apache-2.0
"""A session asks one server on behalf of one scenario and writes down the answers, with all that may differ between
two runs of the same server (uids, times, versions, allocated addresses, tokens) replaced by stable words."""
import base64
import http.client
import json
import re

import yaml

# What is compared of the header.
HEADERS = ("content-type", "warning", "retry-after", "cache-control", "www-authenticate", "location", "allow",
           "x-content-type-options", "vary", "content-encoding")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
ADDRESS = re.compile(r"\b10\.(9[6-9]|10\d|11[01])\.\d+\.\d+\b")  # of Services: 10.96.0.0/12
AGE = re.compile(r"(\d+[smhdy]){1,2}|<invalid>")  # every form of upstream's HumanDuration: the answer must not depend on today's date
JWT = re.compile(r"eyJ[\w-]+\.[\w-]+\.[\w-]+")
SERVER = re.compile(r"\b\d+\.\d+\.\d+\.\d+:\d{4,5}\b|\[::1\]:\d+")
VERSION = re.compile(r"""(resource version: |current: |in record \(|resourceVersion\\?":\\?")(\d+)""")
DEADLINE_S = 30
PROTOBUF = "application/vnd.kubernetes.protobuf"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
PARTIAL = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
PARTIAL_LIST = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
JSON_PATCH, MERGE_PATCH = "application/json-patch+json", "application/merge-patch+json"
STRATEGIC, APPLY = "application/strategic-merge-patch+json", "application/apply-patch+yaml"


class Answer:
    def __init__(self, status, headers, raw):
        self.status, self.headers, self.raw = status, headers, raw
        try:
            self.obj = json.loads(raw)
        except ValueError:
            self.obj = None

    def get(self, *path, default=None):
        """A value deep in the answer, or the default: scenarios go on whatever was answered."""
        at = self.obj
        for key in path:
            try:
                at = at[key]
            except (KeyError, IndexError, TypeError):
                return default
        return at


class Names:
    """Words for values that differ from run to run: 'UID of m' is the first uid that an object named m had, 'UID of m, 2'
    its second. Named by object, so that one missing answer does not rename all that follow."""

    def __init__(self):
        self.words, self.counts = {}, {}

    def note(self, sort, value, owner):
        if (sort, value) not in self.words:
            n = self.counts[sort, owner] = self.counts.get((sort, owner), 0) + 1
            self.words[sort, value] = f"{sort} of {owner}" + (f", {n}" if n > 1 else "")
        return self.words[sort, value]

    def word(self, sort, value):
        return self.words.get((sort, value), sort)


def is_publication(item):
    """The ConfigMap that a controller puts into every namespace: upstream's controllers are another process."""
    item = item.get("object", item) if isinstance(item, dict) else {}
    return isinstance(item, dict) and item.get("metadata", {}).get("name") == "kube-root-ca.crt"


class Normaliser:
    def __init__(self, own_port):
        self.own_port = own_port
        self.names = Names()
        self.generated = []  # prefixes of generated names

    def text(self, s):
        s = UID.sub(lambda m: self.names.word("UID", m.group()), s)
        s = TIME.sub("TIME", s)
        s = re.sub(r"selfType\d+", "selfType", s)  # upstream puts a number behind it that is another one each time
        s = ADDRESS.sub("ADDRESS", s)
        s = SERVER.sub("SERVER", s)
        s = VERSION.sub(r"\1VERSION", s)
        s = JWT.sub(lambda m: self.jwt(m.group()), s)
        for prefix in self.generated:
            s = re.sub(re.escape(prefix) + r"[a-z0-9]{5}\b", prefix + "RANDOM", s)
        return s

    def jwt(self, token):
        """The claims, since nothing else of a token is anybody's business."""
        part = token.split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
        for key in ("exp", "iat", "nbf"):
            if key in claims:
                claims[key] = "TIME"
        return "JWT " + json.dumps(self.value(claims), sort_keys=True)

    def value(self, v, key="", parent=None):
        if isinstance(v, list) and key in ("items", "rows"):
            v = [x for x in v if not is_publication(x)]
        if isinstance(v, dict):
            is_dry = "creationTimestamp" in v and "resourceVersion" not in v  # has a uid that nobody sees again
            if isinstance(v.get("uid"), str) and isinstance(v.get("name"), str) and UID.fullmatch(v["uid"]) and not is_dry:
                self.names.note("UID", v["uid"], self.text(v["name"]))
            return {self.text(k): self.value(x, k, v) for k, x in v.items()}
        if isinstance(v, list) and key == "managedFields":
            # In the order of their times, which are whole seconds.
            return sorted((self.value(x) for x in v), key=lambda e: json.dumps([e.get(k, "") for k in ("operation", "manager", "subresource", "apiVersion")] if isinstance(e, dict) else e))
        if isinstance(v, list):
            return [self.value(x, key, None) for x in v]
        if key == "resourceVersion" and isinstance(v, str) and v.isdigit() and v != "0":
            # A list's version also counts what others wrote, so only those of objects are told apart.
            owner = parent.get("name") if parent is not None else None
            return self.names.note("VERSION", v, self.text(owner)) if isinstance(owner, str) else "VERSION"
        if key == "continue" and v:
            return "CONTINUE"
        if key == "targetPort" and v == self.own_port:
            return "SERVER"
        if key == "nodePort" and isinstance(v, int) and v:
            return "NODEPORT"
        if key == "cells" and isinstance(v, str) and AGE.fullmatch(v):
            return "AGE"
        return self.text(v) if isinstance(v, str) else v


# ------------------------------------------------------------------ protobuf without a schema

def varint(b, at):
    value = shift = 0
    while True:
        byte = b[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at
        if shift > 63:
            raise ValueError


def decode_message(b):
    """Fields as [[number, value], ...]; raises when these bytes are no message."""
    out, at = [], 0
    while at < len(b):
        tag, at = varint(b, at)
        number, kind = tag >> 3, tag & 7
        if number == 0:
            raise ValueError
        if kind == 0:
            value, at = varint(b, at)
            out.append([number, "TIME" if 1_600_000_000 < value < 2_500_000_000 else value])
        elif kind in (1, 5):
            n = 8 if kind == 1 else 4
            if at + n > len(b):
                raise ValueError
            out.append([number, b[at:at + n].hex()])
            at += n
        elif kind == 2:
            n, at = varint(b, at)
            if at + n > len(b):
                raise ValueError
            out.append([number, decode_bytes(b[at:at + n])])
            at += n
        else:
            raise ValueError
    return out


def decode_bytes(b):
    """A string where it looks like one, else a message where it is one, else the bytes."""
    if b and all(32 <= c < 127 or c in b"\t\n\r" for c in b):
        return b.decode()
    try:
        return decode_message(b)
    except (ValueError, IndexError):
        return "0x" + b.hex()


def decode_protobuf(raw):
    if not raw.startswith(b"k8s\0"):
        return {"no envelope": raw[:64].hex()}
    return {"protobuf": hide_versions(decode_message(raw[4:]))}


def hide_versions(v):
    """Lengths of versions differ, so numbers in strings are hidden; uids and times are strings like any."""
    if isinstance(v, list):
        return [hide_versions(x) for x in v]
    return "NUMBER" if isinstance(v, str) and v.isdigit() and len(v) < 12 else v


# ------------------------------------------------------------------ sessions

class Session:
    def __init__(self, server, scenario):
        self.server, self.scenario = server, scenario
        self.ns = "d-" + re.sub(r"[^a-z0-9]+", "-", scenario.lower()).strip("-")
        self.normaliser = Normaliser(server.port)
        self.entries = []
        self.connection = None

    # -- requests

    def raw(self, method, path, body=None, headers=None):
        all_headers = {"Authorization": "Bearer " + self.server.token, "Accept": "application/json", **(headers or {})}
        all_headers = {k: v for k, v in all_headers.items() if v is not None}
        for attempt in (0, 1):
            if self.connection is None:
                self.connection = http.client.HTTPSConnection(self.server.host, self.server.port,
                                                              context=self.server.tls, timeout=DEADLINE_S)
            try:
                self.connection.request(method, path, body=body, headers=all_headers)
                response = self.connection.getresponse()
                return Answer(response.status, response.headers, response.read())
            except (OSError, http.client.HTTPException):
                self.connection.close()
                self.connection = None
                if attempt:
                    raise

    def quietly(self, method, path, body=None, **kw):
        """Not written down: a fixture."""
        return self.ask(method, path, body, record=False, **kw)

    def ask(self, method, path, body=None, ct=None, accept=None, label=None, record=True, user=None, groups=(),
            headers=None, view=None):
        path = path.replace("{ns}", self.ns)
        label = f"{len(self.entries):03d} {label or method + ' ' + path}"
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
        if isinstance(body, str):
            body = body.replace("{ns}", self.ns)
        send = {}
        if body is not None:
            send["Content-Type"] = ct or "application/json"
        if accept:
            send["Accept"] = accept
        if user:
            send["Impersonate-User"] = user
            if groups:
                send["Impersonate-Group"] = groups[0]  # http.client sends one value for each name
        send.update(headers or {})
        try:
            answer = self.raw(method, path, body, send)
        except (OSError, http.client.HTTPException) as e:
            if record:
                self.entries.append({"label": label, "status": f"no answer: {type(e).__name__}"})
            return Answer(0, {}, b"")
        if record:
            self.note(label, answer, view)
        return answer

    def note(self, label, answer, view=None):
        entry = {"label": self.normaliser.text(label), "status": answer.status}
        headers = {}
        for name in HEADERS:
            values = answer.headers.get_all(name)
            if values:
                headers[name] = [self.normaliser.text(v) for v in values]
        entry["headers"] = headers
        media = (answer.headers.get("content-type") or "").split(";")[0]
        if view:
            entry["body"] = self.normaliser.value(view(answer))
        elif media == PROTOBUF:
            entry["body"] = self.normaliser.value(decode_protobuf(answer.raw))
        elif answer.obj is not None:
            entry["body"] = self.normaliser.value(answer.obj)
        elif media == "application/yaml":
            entry["body"] = {"yaml": self.normaliser.value(yaml.load(answer.raw, yaml.BaseLoader))}
        else:
            entry["body"] = self.normaliser.text(answer.raw.decode(errors="replace")[:4000])
        self.entries.append(entry)

    def get(self, path, **kw):
        return self.ask("GET", path, **kw)

    def post(self, path, body, **kw):
        return self.ask("POST", path, body, **kw)

    def put(self, path, body, **kw):
        return self.ask("PUT", path, body, **kw)

    def patch(self, path, body, ct=MERGE_PATCH, **kw):
        return self.ask("PATCH", path, body, ct=ct, **kw)

    def delete(self, path, body=None, **kw):
        return self.ask("DELETE", path, body, **kw)

    def events(self, path, count, label=None, accept=None, timeout=5):
        """Writes down the first `count` events of a watch (fewer when it ends or nothing comes)."""
        path = path.replace("{ns}", self.ns)
        connection = http.client.HTTPSConnection(self.server.host, self.server.port, context=self.server.tls,
                                                 timeout=timeout)
        connection.request("GET", path, headers={"Authorization": "Bearer " + self.server.token,
                                                 "Accept": accept or "application/json"})
        response = connection.getresponse()
        events = []
        if response.status != 200:
            self.note(f"{len(self.entries):03d} {label or 'WATCH ' + path}",
                      Answer(response.status, response.headers, response.read()))
            connection.close()
            return events
        try:
            while len(events) < count:
                line = response.readline()
                if not line:
                    break
                event = json.loads(line)
                if is_told(event):
                    events.append(event)
        except (OSError, ValueError):
            pass
        connection.close()
        self.entries.append({
            "label": self.normaliser.text(f"{len(self.entries):03d} {label or 'WATCH ' + path}"), "status": 200,
            "headers": {"content-type": response.headers.get_all("content-type")},
            "body": [self.normaliser.value(e) for e in events]})
        return events

    # -- fixtures

    def namespace(self, name=None):
        """A namespace with its default ServiceAccount, whoever makes that one."""
        name = name or self.ns
        self.quietly("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
        self.quietly("POST", f"/api/v1/namespaces/{name}/serviceaccounts", {"metadata": {"name": "default"}})

    def close(self):
        if self.connection:
            self.connection.close()


def is_told(event):
    """Not bookmarks within a watch, which come when the server likes, nor what is no affair of the scenario's."""
    obj = event["object"]
    if event["type"] == "BOOKMARK":
        return "rows" in obj or "annotations" in obj["metadata"]
    rows = obj.get("rows") or [obj]
    return not is_publication(rows[0])


def schema_shapes(of):
    """A view of an OpenAPI document: of each schema what clients act upon, without prose."""
    def view(answer):
        schemas = of(answer.obj) if answer.obj is not None else {}
        return {name: shape(s) for name, s in (schemas or {}).items()}
    return view


def shape(schema):
    out = {k: schema[k] for k in ("type", "format", "required", "x-kubernetes-group-version-kind") if k in schema}
    if "properties" in schema:
        out["properties"] = {name: type_of(p) for name, p in schema["properties"].items()}
    return out


def type_of(p):
    """A property in one line: its type or reference, and how patches treat it."""
    if "allOf" in p and len(p["allOf"]) == 1:
        p = {**p, **p["allOf"][0]}
    text = p.get("$ref", "").rsplit("/", 1)[-1] or p.get("type", "any") + (":" + p["format"] if "format" in p else "")
    for key in ("items", "additionalProperties"):
        if isinstance(p.get(key), dict):
            text += f" of {type_of(p[key])}"
    # A list without a type is atomic.
    extensions = {k: v for k, v in p.items() if k.startswith("x-kubernetes-") and (k, v) != ("x-kubernetes-list-type", "atomic")}
    return " ".join([text, *(f"{k}={json.dumps(extensions[k])}" for k in sorted(extensions))])


def methods_of(answer):
    """A view of an OpenAPI document: the paths and what may be done there."""
    paths = answer.get("paths", default={})
    return {path: sorted(k for k in item if k in ("get", "put", "post", "delete", "patch")) for path, item in paths.items()} if paths else answer.obj


def rules_in_order(answer):
    """A view of a SelfSubjectRulesReview, whose rules come in any order."""
    status = answer.get("status", default={})
    return {k: sorted(v, key=json.dumps) if isinstance(v, list) else v for k, v in status.items()} if isinstance(status, dict) else answer.obj
