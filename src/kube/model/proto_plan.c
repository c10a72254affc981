/* SPDX-License-Identifier: Apache-2.0 */
/* See proto_plan.h. */
#include "kube/model/proto_plan.h"

#include "kube/model/builtin_tables.h"
#include "kube/model/proto_inner.h"

#include <assert.h>

static struct {
    struct arena a;
    struct proto_plan **of_type; /* by schema.builtin - 1 */
} plans = { .a = { .block_bytes = 1024 } };

static enum proto_step step_of(const struct schema *s)
{
    switch ((enum schema_type)s->type) {
    case SCHEMA_STRING:
        return PROTO_STEP_STRING;
    case SCHEMA_BOOL:
        return PROTO_STEP_BOOL;
    case SCHEMA_INT32:
    case SCHEMA_INT64:
        return PROTO_STEP_INT;
    case SCHEMA_TIME:
        return PROTO_STEP_TIME;
    case SCHEMA_QUANTITY:
        return PROTO_STEP_QUANTITY;
    case SCHEMA_OBJECT:
        return s->builtin ? PROTO_STEP_MESSAGE : PROTO_STEP_OTHER;
    case SCHEMA_RAW:
    case SCHEMA_FIELDS:
        return PROTO_STEP_TEXT;
    case SCHEMA_ANY:
        return s->flags & (SCHEMA_OR_ARRAY | SCHEMA_OR_BOOL | SCHEMA_OR_STRINGS) ? PROTO_STEP_OTHER
                                                                                 : PROTO_STEP_TEXT;
    case SCHEMA_NUMBER:
    case SCHEMA_BYTES:
    case SCHEMA_MICRO_TIME:
    case SCHEMA_DURATION:
    case SCHEMA_INT_OR_STRING:
    case SCHEMA_MAP:
    case SCHEMA_ARRAY:
        break;
    }
    return PROTO_STEP_OTHER;
}

static void set_head(struct proto_plan_field *f, struct str name)
{
    char head[8] = "\"";
    size_t n = MIN(name.n, sizeof head - 1);
    memcpy(head + 1, name.p, n);
    for (size_t i = 0; i < 2 && n + 1 + i < sizeof head; i++)
        head[n + 1 + i] = "\":"[i];
    size_t used = MIN(name.n + 3, sizeof head);
    f->mask = used == 8 ? UINT64_MAX : (1ull << 8 * used) - 1;
    memcpy(&f->head, head, sizeof head);
}

/* Number of ranks: fields in the message. */
static uint8_t count_ranks(const uint8_t *order, size_t n)
{
    size_t ranks = 0;
    while (ranks < n && order[ranks] != BUILTIN_NO_FIELD)
        ranks++;
    return (uint8_t)ranks;
}

static void plan_field(struct proto_plan_field *f, const struct schema_field *field, size_t i)
{
    bool is_many = field->schema->type == SCHEMA_ARRAY || field->schema->type == SCHEMA_MAP;
    *f = (struct proto_plan_field){ .field = field,
                                    .shape = is_many ? field->schema->type : 0,
                                    .value = is_many ? field->schema->items : field->schema,
                                    .rank = PROTO_NO_FIELD,
                                    .follower = (uint8_t)(i + 1) };
    set_head(f, field->name);
    f->step = (uint8_t)step_of(f->value);
}

static void plan_rank(struct proto_plan *plan, size_t rank, size_t i)
{
    struct proto_plan_field *f = &plan->fields[i];
    char tag[VARINT_MAX_BYTES];
    bool is_varint = f->shape != SCHEMA_MAP && /* items of lists are not packed */
                     (f->step == PROTO_STEP_BOOL || f->step == PROTO_STEP_INT);
    enum wire_type type = is_varint ? WIRE_VARINT : WIRE_BYTES;
    f->rank = (uint8_t)rank;
    f->tag_n = (uint8_t)(wire_tag(tag, f->field->proto, type) - tag);
    assert(f->tag_n <= PROTO_TAG_MAX_BYTES);
    memcpy(f->tag, tag, f->tag_n);
    if (str_is(f->field->name, "resourceVersion") && !f->shape && f->step == PROTO_STEP_STRING)
        plan->revision = f->rank;
    plan->has_embedded |= f->field->proto_outer != 0;
}

/* The bytes of all zero values, and the offset of each rank's. */
static void plan_zeroes(struct proto_plan *plan, uint16_t *zero_at)
{
    scoped(buf_fini_scoped) struct buf zeroes = BUF_INIT(UINT16_MAX);
    struct arena scratch = { 0 };
    for (size_t rank = 0; rank < plan->n_ranks; rank++) {
        const struct schema_field *f = plan->fields[plan->field_of_rank[rank]].field;
        zero_at[rank] = (uint16_t)zeroes.n;
        if (!proto_may_lack(f))
            proto_encode_member(&scratch, f, NULL, &zeroes);
    }
    assert(buf_ok(&zeroes));
    zero_at[plan->n_ranks] = (uint16_t)zeroes.n;
    plan->zero_at = zero_at;
    char *copy = arena_alloc(&plans.a, zeroes.n + WIRE_SPILL_BYTES);
    memcpy(copy, buf_cstr(&zeroes), zeroes.n);
    plan->zeroes = copy;
    arena_fini(&scratch);
}

static uint16_t outer_of(const struct proto_plan *plan, size_t rank)
{
    return plan->fields[plan->field_of_rank[rank]].field->proto_outer;
}

static void plan_runs(struct proto_plan *plan, uint8_t *run_end)
{
    for (size_t i = plan->n_ranks; i--;) {
        bool is_last = i + 1 == plan->n_ranks || outer_of(plan, i) != outer_of(plan, i + 1);
        run_end[i] = is_last ? (uint8_t)(i + 1) : run_end[i + 1];
    }
    plan->run_end = run_end;
}

static struct proto_plan *plan_new(const struct schema *s)
{
    size_t n;
    const struct schema_field *fields = schema_fields(s, &n);
    const uint8_t *order = builtin_field_order(s);
    assert(order && n < PROTO_NO_FIELD);
    struct proto_plan *plan = arena_alloc(&plans.a, sizeof *plan + n * sizeof plan->fields[0]);
    *plan = (struct proto_plan){ .n_fields = (uint8_t)n,
                                 .n_ranks = count_ranks(order, n),
                                 .revision = PROTO_NO_FIELD,
                                 .length_bytes = 1,
                                 .field_of_rank = order };
    for (size_t i = 0; i < n; i++)
        plan_field(&plan->fields[i], &fields[i], i);
    for (size_t rank = 0; rank < plan->n_ranks; rank++)
        plan_rank(plan, rank, order[rank]);
    plan_zeroes(plan, arena_new_n(&plans.a, uint16_t, plan->n_ranks + 1));
    plan_runs(plan, arena_new_n(&plans.a, uint8_t, MAX(plan->n_ranks, 1)));
    return plan;
}

struct proto_plan *proto_plan_of(const struct schema *s)
{
    if (!s->builtin)
        return NULL;
    if (!plans.of_type)
        plans.of_type = arena_new_n(&plans.a, struct proto_plan *, builtin_n_types);
    struct proto_plan **plan = &plans.of_type[s->builtin - 1];
    if (!*plan)
        *plan = plan_new(s);
    return *plan;
}

size_t proto_plan_bytes(void)
{
    return plans.a.total_bytes;
}
