/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the catalog: catalog.c (objects in), catalog_write.c (status, revisions, Events),
 * catalog_env.c (Secrets and ConfigMaps, policies), catalog_module.c (modules that are missing). */
#pragma once

#include "base/clock.h"
#include "base/list.h"
#include "base/map.h"
#include "base/vec.h"
#include "client/ask.h"
#include "client/reflector.h"
#include "fn/control/catalog.h"

#define FN_GROUP_VERSION "dormouse.dev/v1alpha1"

struct known_revision {
    uint32_t number;
    bool is_written;
    char *template;
};

/* A Function, or a namespace and name of which only revisions are known so far. */
struct catalog_entry {
    struct catalog *c;
    char *namespace, *name, *uid; /* one block; uid "": the Function itself is not known */
    uint32_t number;              /* in the plane; 0: not registered */
    uint32_t ready;               /* the newest revision that was ready */
    uint64_t generation, version;
    uint64_t status_hash; /* of the status that the object has */
    uint64_t wanted_hash; /* of the last status that was computed for it; 0: none yet */
    uint64_t other_hash;  /* of a different status in the API that is being replaced; 0: none */
    int64_t since_s;      /* of the condition as it was written last */
    char was_ready;       /* likewise: first letter of its status; 0: none */
    VEC(struct known_revision) revisions; /* ascending */
    char *reason, *message;               /* of a spec that cannot be used; NULL: it can */
    uint64_t event_at_ms;
    struct client_ask *write;
    struct module_search *search; /* while its module is missing or searched; else NULL */
    bool seen;                    /* in the list under way */
    struct list dirty;            /* to be written */
};

struct token_source {
    char *secret, *key;
};

struct namespace_rule {
    struct catalog *c;
    char *namespace;
    uint32_t functions; /* quota */
    bool seen;
    struct plane_policy policy;
    VEC(struct token_source) tokens;
    struct token_read *read; /* under way */
    struct timer again;      /* retry: the API could not be asked */
};

struct resolve;

struct catalog {
    struct catalog_opts opts;
    struct reflector *functions, *revisions, *policies;
    struct map entries; /* "namespace/name" */
    struct map counts;  /* namespace: number of functions, as a pointer */
    struct map rules;   /* namespace: struct namespace_rule */
    VEC(struct catalog_entry *) by_number;
    struct catalog_entry
        *being_set; /* the plane may ask for its environment before it has a number here */
    struct list dirty;
    struct list resolves;
    struct list persists;                  /* writes of sandboxes under way */
    struct list missing_files;             /* struct module_search: of files */
    struct module_dir_watch **dir_watches; /* for opts.modules' directories; NULL: none */
    unsigned n_writes;
    struct timer write_timer;
    uint64_t news_ms;  /* time of the last new or changed function */
    uint64_t dirty_ms; /* since when an entry has waited to be written */
    bool synced, leads, closed;
    bool functions_synced, policies_synced;
};

enum { ENTRY_KEY_MAX = 600 };
struct str catalog_key(char buf[ENTRY_KEY_MAX], struct str namespace, struct str name);
#define REASON_QUOTA "QuotaExceeded"
/* A quota has room again: read again the functions that it excluded. */
void catalog_retry_refused(struct catalog *c, struct str namespace);
void catalog_set_trouble(struct catalog_entry *e, const char *reason, const char *message);

/*
 * Functions and the policies that guard them are known, with their tokens. Only then is on_synced()
 * called.
 */
void catalog_check_synced(struct catalog *c);

/* ---- catalog_write.c ---- */
void catalog_entry_touch(struct catalog_entry *e); /* part of it must be written */
/* Of the status as an object has it; what catalog_write.c compares with. */
uint64_t catalog_status_hash(const struct json *status);
void catalog_end_persists(struct catalog *c);

/* ---- catalog_module.c ---- */
/* Called for each new spec: check for its module. Trouble and status follow from the result. */
void catalog_look_for_module(struct catalog_entry *e, const struct fn_template *t);
bool catalog_module_is_awaited(const struct catalog_entry *e); /* the check has no result yet */
void catalog_end_search(struct catalog_entry *e);
void catalog_stop_searching(struct catalog *c);

/* ---- catalog_env.c ---- */
int catalog_follow_policies(struct catalog *c, struct err *err);
void catalog_close_env(struct catalog *c);
