# SPDX-License-Identifier: Apache-2.0
"""The registry of scenarios: functions of a session, independent of each other, named 'area/what'."""
import copy

ALL = {}
DELETE = object()


def scenario(name):
    def keep(function):
        assert name not in ALL, name
        ALL[name] = function
        return function
    return keep


def changed(base, path, value):
    """A copy of `base` in which 'a.b[0].c' has the value, or is gone."""
    out = copy.deepcopy(base)
    keys = []
    for part in path.split("."):
        name, *indices = part.replace("]", "").split("[")
        keys += [name.replace("~", ".")] + [int(i) for i in indices]
    at = out
    for key in keys[:-1]:
        if isinstance(at, dict):
            at = at.setdefault(key, {})
        else:
            while len(at) <= key:
                at.append({})
            at = at[key]
    if value is DELETE:
        if isinstance(at, list):
            del at[keys[-1]]
        else:
            at.pop(keys[-1], None)
    elif isinstance(at, list) and keys[-1] == len(at):
        at.append(value)
    else:
        at[keys[-1]] = value
    return out


def creates(name, path, base, changes):
    """A scenario that creates `base` as it is and with each of the changes, dry."""
    def run(s):
        s.namespace()
        s.post(path + "?dryRun=All&fieldValidation=Strict", base, label="as it is")
        for where, value in changes:
            shown = "gone" if value is DELETE else repr(value)[:60]
            s.post(path + "?dryRun=All&fieldValidation=Strict", changed(base, where, value), label=f"{where} = {shown}")
    scenario(name)(run)


def updates(name, path, base, changes):
    """A scenario that creates `base` and puts it back with each of the changes, dry."""
    def run(s):
        s.namespace()
        answer = s.post(path, base, label="create")
        made = answer.obj if answer.status == 201 else base
        for where, value in changes:
            shown = "gone" if value is DELETE else repr(value)[:60]
            s.put(f"{path}/{base['metadata']['name']}?dryRun=All", changed(made, where, value), label=f"{where} = {shown}")
    scenario(name)(run)
