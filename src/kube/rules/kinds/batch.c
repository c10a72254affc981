/* SPDX-License-Identifier: Apache-2.0 */
/* batch: Jobs and CronJobs. */
#include "base/clock.h"
#include "kube/model/meta.h"
#include "kube/model/table.h"
#include "kube/rules/kinds/kinds.h"
#include "kube/rules/kinds/row.h"
#include "kube/rules/validate/validate.h"

/* ------------------------------------------------------------------ Job */

#define LABEL_UID      "batch.kubernetes.io/controller-uid"
#define LABEL_NAME     "batch.kubernetes.io/job-name"
#define OLD_LABEL_UID  "controller-uid"
#define OLD_LABEL_NAME "job-name"

/* Keeps an existing label: validation reports a template that names another owner. */
static void add_label(struct arena *a, struct json *labels, const char *key, struct str value)
{
    if (!json_getc(labels, key))
        json_set_str(a, labels, key, value);
}

/* The Job selects its pods by its uid, unless the client sets manualSelector. */
static void job_generate_selector(struct arena *a, struct json *job)
{
    struct json *spec = json_obj(a, job, "spec");
    struct json *labels =
        json_obj(a, json_obj(a, json_obj(a, spec, "template"), "metadata"), "labels");
    struct str uid = meta_uid(job), name = meta_name(job);
    add_label(a, labels, LABEL_NAME, name);
    add_label(a, labels, LABEL_UID, uid);
    add_label(a, labels, OLD_LABEL_NAME, name);
    add_label(a, labels, OLD_LABEL_UID, uid);
    struct json *match = json_obj(a, json_obj(a, spec, "selector"), "matchLabels");
    add_label(a, match, LABEL_UID, uid);
}

static void job_prepare_create(struct arena *a, struct json *job)
{
    if (!json_bool(json_path(job, "spec", "manualSelector", NULL)))
        job_generate_selector(a, job);
    struct json *meta = meta_of(a, job), *labels = json_getc(meta, "labels");
    const struct json *of_pods = json_path(job, "spec", "template", "metadata", "labels", NULL);
    if (of_pods && of_pods->n && !(labels && labels->n))
        json_setc(a, meta, "labels", json_clone(a, of_pods));
}

static void row_job_status(struct kind_row *r)
{
    static const char *const shown[][2] = { { "Complete", "Complete" },
                                            { "Failed", "Failed" },
                                            { "", "Terminating" },
                                            { "Suspended", "Suspended" },
                                            { "FailureTarget", "FailureTarget" } };
    const struct json *conditions = json_path(r->obj, "status", "conditions", NULL);
    for (size_t i = 0; i < ARRAY_LEN(shown); i++) {
        if (*shown[i][0] ? row_condition(conditions, shown[i][0]) : meta_is_deleting(r->obj)) {
            row_str(r, str_of(shown[i][1]));
            return;
        }
    }
    row_str(r, STR("Running"));
}

static void row_completions(struct kind_row *r)
{
    long long done = row_num(r->obj, "status.succeeded");
    const struct json *wanted = json_path(r->obj, "spec", "completions", NULL);
    long long parallel = row_num(r->obj, "spec.parallelism");
    if (wanted)
        row_printf(r, "%lld/%lld", done, (long long)json_int_or(wanted, 0));
    else if (parallel > 1)
        row_printf(r, "%lld/1 of %lld", done, parallel);
    else
        row_printf(r, "%lld/1", done);
}

static void row_duration(struct kind_row *r)
{
    int64_t from, to = r->now_s * 1000000;
    struct str start = row_text(r->obj, "status.startTime");
    struct str end = row_text(r->obj, "status.completionTime");
    if (start.n == 0 || rfc3339_parse(start, &from) < 0 || (end.n && rfc3339_parse(end, &to) < 0))
        row_str(r, STR(""));
    else
        row_str(r, table_duration(r->a, (to - from) / 1000000));
}

static void job_cells(struct arena *a, const struct json *job, int64_t now_s, struct json *cells)
{
    struct kind_row r = { a, cells, job, now_s };
    row_name(&r);
    row_job_status(&r);
    row_completions(&r);
    row_duration(&r);
    row_age(&r);
    row_containers(&r, json_path(job, "spec", "template", "spec", NULL));
    row_selector(&r, json_path(job, "spec", "selector", NULL), "<none>");
}

#define COLUMNS_POD                                                                                \
    COLUMN("Containers", "string", "Names of the containers of a pod.", 1, NULL),                  \
        COLUMN("Images", "string", "Images of the containers of a pod.", 1, NULL),                 \
        COLUMN("Selector", "string", "Which pods belong to it.", 1, NULL)

static const struct kube_column job_columns[] = {
    COLUMN_NAME,
    COLUMN("Status", "string", "Running, or how it ended.", 0, NULL),
    COLUMN("Completions", "string", "Pods that succeeded, of those wanted.", 0, NULL),
    COLUMN("Duration", "string", "How long it took, or has been running.", 0, NULL),
    COLUMN_AGE,
    COLUMNS_POD,
};

/* ------------------------------------------------------------------ CronJob */

static void cron_cells(struct arena *a, const struct json *cron, int64_t now_s, struct json *cells)
{
    struct kind_row r = { a, cells, cron, now_s };
    const struct json *suspend = json_path(cron, "spec", "suspend", NULL);
    const struct json *job = json_path(cron, "spec", "jobTemplate", "spec", NULL);
    struct str last = row_text(cron, "status.lastScheduleTime");
    row_name(&r);
    row_str(&r, row_text(cron, "spec.schedule"));
    row_or(&r, row_text(cron, "spec.timeZone"), "<none>");
    row_str(&r, !suspend ? STR("<unset>") : json_bool(suspend) ? STR("True") : STR("False"));
    row_int(&r, row_count(json_path(cron, "status", "active", NULL)));
    if (last.n)
        row_since(&r, last);
    else
        row_str(&r, STR("<none>"));
    row_age(&r);
    row_containers(&r, json_path(job, "template", "spec", NULL));
    row_selector(&r, json_getc(job, "selector"), "<none>");
}

static const struct kube_column cron_columns[] = {
    COLUMN_NAME,
    COLUMN("Schedule", "string", "When it runs.", 0, NULL),
    COLUMN("Timezone", "string", "Time zone of the schedule.", 0, NULL),
    COLUMN("Suspend", "boolean", "Whether it is paused.", 0, NULL),
    COLUMN("Active", "integer", "Jobs of it that run now.", 0, NULL),
    COLUMN("Last Schedule", "string", "When it ran last.", 0, NULL),
    COLUMN_AGE,
    COLUMNS_POD,
};

/* ------------------------------------------------------------------ rows */

static const struct kube_subresource job_subs[] = {
    { .name = S("status"),
      .verbs = KUBE_GET | KUBE_PATCH | KUBE_UPDATE,
      .group = S("batch"),
      .version = S("v1"),
      .kind = S("Job") },
};
static const struct kube_subresource cron_subs[] = {
    { .name = S("status"),
      .verbs = KUBE_GET | KUBE_PATCH | KUBE_UPDATE,
      .group = S("batch"),
      .version = S("v1"),
      .kind = S("CronJob") },
};

static const struct kube_strategy job_strategy = { .validate = validate_job,
                                                   .prepare_create = job_prepare_create,
                                                   .has_generation = true,
                                                   .unconditional_update = true,
                                                   .gc_policy = KUBE_GC_ORPHAN };
static const struct kube_strategy cron_strategy = { .validate = validate_cron_job,
                                                    .has_generation = true,
                                                    .unconditional_update = true };

static struct kube_resource rows[] = {
    { .group = S("batch"),
      .version = S("v1"),
      .kind = S("Job"),
      .list_kind = S("JobList"),
      .plural = S("jobs"),
      .singular = S("job"),
      CATEGORY(S("all")),
      .namespaced = true,
      .verbs = KUBE_VERBS_ALL,
      SUBRESOURCES(job_subs),
      .strategy = &job_strategy,
      COLUMNS(job_columns),
      .cells = job_cells,
      SELECT(S("status.successful")) },
    { .group = S("batch"),
      .version = S("v1"),
      .kind = S("CronJob"),
      .list_kind = S("CronJobList"),
      .plural = S("cronjobs"),
      .singular = S("cronjob"),
      SHORT(S("cj")),
      CATEGORY(S("all")),
      .namespaced = true,
      .verbs = KUBE_VERBS_ALL,
      SUBRESOURCES(cron_subs),
      .strategy = &cron_strategy,
      COLUMNS(cron_columns),
      .cells = cron_cells },
};

const struct kind_list kinds_batch = { rows, ARRAY_LEN(rows) };
