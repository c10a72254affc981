/* SPDX-License-Identifier: Apache-2.0 */
/* codec/bind: structs from JSON and back by tables, and what is said of what does not fit. */
#include "bind_kit.h"
#include "test.h"

static struct arena arena;

static struct json *parse(const char *text)
{
    struct json *v = NULL;
    struct err err = { 0 };
    if (json_parse(&arena, str_of(text), NULL, &v, &err) < 0)
        TEST_FAIL("%s: %s", text, err_text(&err));
    return v;
}

static int read_kit(const char *text, unsigned mode, struct kit *ret, struct err *err)
{
    struct bind b = { .arena = &arena, .err = err, .mode = mode, .root = "kit" };
    return bind_read(&b, &kit_table, parse(text), ret);
}

static struct str text_of(const struct json *v)
{
    struct buf b = BUF_INIT(1 << 20);
    CHECK_OK(json_write(&b, v));
    struct str s = str_copy_arena(&arena, buf_str(&b));
    buf_fini(&b);
    return s;
}

static void refuse(const char *text, int code, const char *want)
{
    struct kit k = { 0 };
    struct err err = { 0 };
    CHECK_ERR(read_kit(text, BIND_STRICT, &k, &err), code);
    if (strcmp(err_text(&err), want) != 0)
        TEST_FAIL("%s: said '%s', expected '%s'", text, err_text(&err), want);
}

TEST(every_kind_is_read)
{
    struct kit k = { .large = 7, .title = STR("before") };
    struct err err = { 0 };
    CHECK_OK(read_kit("{\"on\":true,\"small\":254,\"count\":0,\"offset\":-10,\"wide\":-5,"
                      "\"ratio\":0.5,\"name\":\"ab\",\"mode\":\"safe\",\"limits\":{\"bytes\":9},"
                      "\"main\":{\"name\":\"m\"},\"times\":{\"timeoutSeconds\":3,"
                      "\"retrySeconds\":60},\"tags\":[\"x\",\"\"],\"parts\":[{\"name\":\"p\","
                      "\"port\":1,\"delta\":-128},{\"name\":\"q\",\"open\":true}],"
                      "\"labels\":{\"a\":\"1\"},\"codes\":[100,599],\"any\":[null],"
                      "\"hex\":\"0x1f\"}",
                      BIND_STRICT, &k, &err));
    CHECK(k.is_on && k.has_count && k.count == 0 && k.small == 254);
    CHECK(k.large == 7); /* not in the document */
    CHECK(k.offset == -10 && k.wide == -5 && k.ratio == 0.5);
    CHECK_STR(k.name, "ab");
    CHECK_STR(k.title, "before");
    CHECK(k.mode == KIT_SAFE && k.limits.bytes == 9);
    CHECK_STR(k.main->name, "m");
    CHECK_INT(k.main->port, 80); /* as its table presets it */
    CHECK(k.timeout_s == 3 && k.retry_s == 60);
    CHECK(k.n_tags == 2 && str_is(k.tags[0], "x") && k.tags[1].n == 0);
    CHECK(k.n_parts == 2 && k.parts[0].port == 1 && k.parts[0].delta == -128);
    CHECK(k.parts[1].port == 80 && k.parts[1].is_open);
    CHECK(k.n_labels == 1 && str_is(k.labels[0].key, "a") && str_is(k.labels[0].value, "1"));
    CHECK(k.n_codes == 2 && k.codes[0] == 100 && k.codes[1] == 599);
    CHECK(json_is(k.any, JSON_ARRAY) && k.hex == 0x1f);
    arena_reset(&arena);
}

TEST(what_does_not_fit_is_named_with_its_place)
{
    refuse("[]", E_INVALID, "kit: must be an object");
    refuse("{\"on\":1}", E_INVALID, "on: must be true or false");
    refuse("{\"small\":256}", E_INVALID, "small: must be from 0 to 255");
    refuse("{\"small\":-1}", E_INVALID, "small: must be from 0 to 255");
    refuse("{\"small\":1.5}", E_INVALID, "small: must be an integer");
    refuse("{\"small\":\"1\"}", E_INVALID, "small: must be an integer");
    refuse("{\"small\":3}", E_INVALID, "small: is odd");
    refuse("{\"large\":9223372036854775808}", E_INVALID, "large: must be an integer");
    refuse("{\"offset\":11}", E_INVALID, "offset: must be from -10 to 10");
    refuse("{\"parts\":[{\"name\":\"a\",\"delta\":128}]}", E_INVALID,
           "parts[0].delta: must be from -128 to 127");
    refuse("{\"ratio\":1e999}", E_INVALID, "ratio: must be a number");
    refuse("{\"name\":[]}", E_INVALID, "name: must be a string");
    refuse("{\"name\":\"\"}", E_INVALID, "name: must not be empty");
    refuse("{\"name\":\"a\"}", E_INVALID, "name: is shorter than 2 bytes");
    refuse("{\"name\":\"aaaaaaaaaaaaaaaaaaaaa\"}", E_LIMIT, "name: is longer than 20 bytes");
    refuse("{\"name\":\"a\\u0000\"}", E_INVALID, "name: contains a NUL");
    refuse("{\"mode\":\"slow\"}", E_INVALID, "mode: must be 'fast' or 'safe'");
    refuse("{\"mode\":1}", E_INVALID, "mode: must be 'fast' or 'safe'");
    refuse("{\"limits\":7}", E_INVALID, "limits: must be an object");
    refuse("{\"limits\":{\"bytes\":1125899906842625}}", E_INVALID,
           "limits.bytes: must be from 0 to 1125899906842624");
    refuse("{\"main\":{}}", E_INVALID, "main.name: is missing");
    refuse("{\"main\":null}", E_INVALID, "main: must be an object");
    refuse("{\"times\":{\"retrySeconds\":0}}", E_INVALID,
           "times.retrySeconds: must be from 1 to 60");
    refuse("{\"tags\":{}}", E_INVALID, "tags: must be an array");
    refuse("{\"tags\":[\"a\",1]}", E_INVALID, "tags[1]: must be a string");
    refuse("{\"tags\":[1,2,3,4,5,6,7,8,9]}", E_LIMIT, "tags: has more than 8 entries");
    refuse("{\"parts\":[{\"name\":\"a\"},[]]}", E_INVALID, "parts[1]: must be an object");
    refuse("{\"parts\":[{\"name\":\"a\",\"open\":true,\"port\":0}]}", E_INVALID,
           "parts[0].port: of an open part");
    refuse("{\"labels\":{\"a\":1}}", E_INVALID, "labels.a: must be a string");
    refuse("{\"labels\":[]}", E_INVALID, "labels: must be an object");
    refuse("{\"codes\":[100,200,300,400]}", E_LIMIT, "codes: has more than 3 entries");
    refuse("{\"codes\":[99]}", E_INVALID, "codes[0]: must be from 100 to 599");
    refuse("{\"hex\":\"0xg\"}", E_PARSE, "hex: 'g' is no digit");
    refuse("{\"odd\\u0001\":1}", E_INVALID, "odd?: there is no such member");
    refuse("{\"parts\":[{\"nam\":\"a\"}]}", E_INVALID, "parts[0].nam: there is no such member");
    arena_reset(&arena);
}

TEST(a_long_path_is_cut)
{
    char text[512];
    struct kit k = { 0 };
    struct err err = { 0 };
    struct fpath up[4];
    const struct fpath *at = NULL;
    for (size_t i = 0; i < ARRAY_LEN(up); i++, at = &up[i - 1])
        up[i] = fpath_child(at, STR("0123456789012345678901234567890123456789012345678901234567890"
                                    "123456789012345678901234567890"));
    struct bind b = { .arena = &arena, .err = &err, .at = at };
    CHECK_ERR(bind_read(&b, &kit_table, parse("{\"on\":0}"), &k), E_INVALID);
    (void)snprintf(text, sizeof text, "%s", err_text(&err));
    CHECK_INT(strstr(text, ": must be true or false") - text, BIND_PATH_MAX_BYTES - 1);
    CHECK(b.at == at);
    arena_reset(&arena);
}

TEST(unknown_members_are_ignored_refused_or_noted)
{
    struct kit k = { 0 };
    struct err err = { 0 };
    CHECK_OK(read_kit("{\"x\":1,\"on\":true,\"y\":{\"on\":false}}", 0, &k, &err));
    CHECK(k.is_on && err.code == 0);
    refuse("{\"on\":true,\"x\":1}", E_INVALID, "x: there is no such member");
    arena_reset(&arena);
}

static int note(struct bind *b, const struct bind_problem *p)
{
    char path[BIND_PATH_MAX_BYTES];
    bind_path(b, path);
    (void)buf_printf(b->arg, "%s|%d|%s;", path, p->fault, p->text);
    return p->fault == BIND_TOO_MANY ? p->code : 0;
}

TEST(the_caller_words_problems_and_decides_whether_to_go_on)
{
    struct buf output = BUF_INIT(4096);
    struct kit k = { .count = 5, .mode = KIT_FAST };
    const struct fpath spec = fpath_child(NULL, STR("spec"));
    struct bind b = {
        .arena = &arena, .at = &spec, .mode = BIND_STRICT, .report = note, .arg = &output
    };
    CHECK_OK(bind_read(&b, &kit_table,
                       parse("{\"x\":1,\"count\":\"5\",\"mode\":\"z\",\"name\":\"ok\",\"main\":{},"
                             "\"small\":1}"),
                       &k));
    CHECK(k.count == 5 && !k.has_count && k.mode == KIT_FAST && str_is(k.name, "ok"));
    CHECK_STR(buf_str(&output), "spec.x|7|there is no such member;spec.count|0|must be an integer;"
                                "spec.mode|5|must be 'fast' or 'safe';spec.main.name|8|is missing;"
                                "spec.small|9|is odd;");
    CHECK_ERR(bind_read(&b, &kit_table, parse("{\"codes\":[1,2,3,4]}"), &k), E_LIMIT);
    buf_fini(&output);
    arena_reset(&arena);
}

TEST(lax_fields_and_null_are_as_good_as_nothing)
{
    struct kit k = { .title = STR("t"), .count = 3 };
    struct err err = { 0 };
    CHECK_OK(read_kit("{\"title\":7,\"count\":null,\"main\":null,\"tags\":null,\"any\":null}",
                      BIND_NULL_NONE, &k, &err));
    CHECK_STR(k.title, "t");
    CHECK(k.count == 3 && !k.has_count && !k.main && k.n_tags == 0);
    CHECK(json_is(k.any, JSON_NULL)); /* that field takes any value */
    CHECK_ERR(read_kit("{\"count\":null}", 0, &k, &err), E_INVALID);
    arena_reset(&arena);
}

TEST(strings_are_views_or_copies)
{
    char text[] = "{\"name\":\"abc\",\"tags\":[\"abc\"],\"labels\":{\"k\":\"v\"}}";
    for (unsigned copies = 0; copies < 2; copies++) {
        struct kit k = { 0 };
        struct err err = { 0 };
        CHECK_OK(read_kit(text, copies ? BIND_COPIES : 0, &k, &err));
        const char *all[] = { k.name.p, k.tags[0].p, k.labels[0].key.p, k.labels[0].value.p };
        for (size_t i = 0; i < ARRAY_LEN(all); i++)
            CHECK((all[i] >= text && all[i] < text + sizeof text) == !copies);
    }
    arena_reset(&arena);
}

/* A check of `parts`, which is read later, sees what follows it in the document. */
static int parts_after_name(struct bind *b, const struct json *v, void *at)
{
    const struct kit *k = container_of((struct kit_part **)at, struct kit, parts);
    return str_is(k->name, "ab") && k->n_parts == 1 ? 0 : BIND_FAIL(b, "too early");
}

TEST(later_fields_follow_the_others)
{
    const struct bind_field fields[] = {
        BIND_OBJECTS("parts", struct kit, parts, n_parts, &kit_part_table, 2, .flags = BIND_LATER,
                     .check = parts_after_name),
        BIND_STR("name", struct kit, name),
    };
    const struct bind_table table = BIND_TABLE(fields);
    struct kit k = { 0 };
    struct bind b = { .arena = &arena };
    CHECK_OK(bind_read(&b, &table, parse("{\"parts\":[{\"name\":\"a\"}],\"name\":\"ab\"}"), &k));
    arena_reset(&arena);
}

TEST(fields_as_in_the_preset_are_left_out)
{
    struct kit k = { 0 };
    CHECK_STR(text_of(bind_write(&arena, &kit_table, &k)), "{\"ratio\":0}");
    k.has_count = true;
    k.limits.rate = 2;
    CHECK_STR(text_of(bind_write(&arena, &kit_table, &k)),
              "{\"count\":0,\"ratio\":0,\"limits\":{\"rate\":2}}");
    k = (struct kit){ .main = &(struct kit_part){ .name = STR("m"), .port = 80 } };
    CHECK_STR(text_of(bind_write(&arena, &kit_table, &k)),
              "{\"ratio\":0,\"main\":{\"name\":\"m\"}}");
    k.main->port = 0;
    CHECK_STR(text_of(bind_write(&arena, &kit_table, &k)),
              "{\"ratio\":0,\"main\":{\"name\":\"m\",\"port\":0}}");
    arena_reset(&arena);
}

/* ---- model ---- */

static struct str random_text(size_t min, size_t max)
{
    static const char *const pieces[] = { "a", "Z", "\"", "\\", "\n", "\xc3\xa9", "/", " " };
    struct buf b = BUF_INIT(256);
    size_t n = min + test_random_below(max - min + 1);
    while (b.n < n) {
        const char *p = pieces[test_random_below(ARRAY_LEN(pieces))];
        (void)buf_add_cstr(&b, b.n + strlen(p) <= n ? p : "x");
    }
    struct str s = str_copy_arena(&arena, buf_str(&b));
    buf_fini(&b);
    return s;
}

static struct kit_part random_part(void)
{
    static const uint16_t ports[] = { 0, 80, 81 };
    struct kit_part p = { .name = random_text(1, 16),
                          .port = ports[test_random_below(ARRAY_LEN(ports))],
                          .delta = (int8_t)test_random() };
    p.is_open = p.port && test_random() & 1;
    return p;
}

static void random_kit(struct kit *k)
{
    *k = (struct kit){ .is_on = test_random() & 1,
                       .has_count = test_random() & 1,
                       .small = (uint8_t)(test_random() & 0xfe),
                       .large = test_random() >> 1 >> test_random_below(63),
                       .offset = (int32_t)test_random_below(21) - 10,
                       .wide = (int64_t)test_random() >> test_random_below(63),
                       .ratio = (double)(int64_t)test_random() / 1024,
                       .title = random_text(0, 40),
                       .mode = (unsigned)test_random_below(3),
                       .limits = { .bytes = test_random_below(1 << 30), .rate = 0.25 },
                       .timeout_s = (uint32_t)test_random(),
                       .retry_s = (uint32_t)test_random_below(61),
                       .hex = (uint32_t)test_random() };
    if (k->has_count)
        k->count = (uint32_t)test_random();
    if (test_random() & 1)
        k->name = random_text(2, 20);
    if (test_random() & 1) {
        k->main = arena_new(&arena, struct kit_part);
        *k->main = random_part();
    }
    k->n_tags = test_random_below(KIT_TAGS_MAX + 1);
    k->tags = arena_new_n(&arena, struct str, k->n_tags);
    for (size_t i = 0; i < k->n_tags; i++)
        k->tags[i] = random_text(0, 9);
    k->n_parts = (uint32_t)test_random_below(KIT_PARTS_MAX + 1);
    k->parts = arena_new_n(&arena, struct kit_part, k->n_parts);
    for (size_t i = 0; i < k->n_parts; i++)
        k->parts[i] = random_part();
    k->n_labels = test_random_below(KIT_LABELS_MAX + 1);
    k->labels = arena_new_n(&arena, struct kit_label, k->n_labels);
    for (size_t i = 0; i < k->n_labels; i++)
        k->labels[i] =
            (struct kit_label){ str_of(arena_printf(&arena, "k%zu", i)), random_text(0, 5) };
    k->n_codes = test_random_below(KIT_FIXED_MAX + 1);
    for (size_t i = 0; i < k->n_codes; i++)
        k->codes[i] = (uint16_t)(100 + test_random_below(500));
    k->any = test_random() & 1 ? json_new_bool(&arena, true) : NULL;
}

static void same_part(const struct kit_part *a, const struct kit_part *b)
{
    CHECK(str_eq(a->name, b->name) && a->port == b->port);
    CHECK(a->delta == b->delta && a->is_open == b->is_open);
}

static void same_kit(const struct kit *a, const struct kit *b)
{
    CHECK(a->is_on == b->is_on && a->has_count == b->has_count && a->count == b->count);
    CHECK(a->small == b->small && a->large == b->large && a->offset == b->offset);
    CHECK(a->wide == b->wide && a->ratio == b->ratio && a->mode == b->mode);
    CHECK(str_eq(a->name, b->name) && str_eq(a->title, b->title) && a->hex == b->hex);
    CHECK(a->limits.bytes == b->limits.bytes && a->limits.rate == b->limits.rate);
    CHECK(!a->main == !b->main && a->timeout_s == b->timeout_s && a->retry_s == b->retry_s);
    if (a->main)
        same_part(a->main, b->main);
    CHECK(a->n_tags == b->n_tags && a->n_parts == b->n_parts && a->n_labels == b->n_labels);
    for (size_t i = 0; i < a->n_tags; i++)
        CHECK(str_eq(a->tags[i], b->tags[i]));
    for (size_t i = 0; i < a->n_parts; i++)
        same_part(&a->parts[i], &b->parts[i]);
    for (size_t i = 0; i < a->n_labels; i++)
        CHECK(str_eq(a->labels[i].key, b->labels[i].key) &&
              str_eq(a->labels[i].value, b->labels[i].value));
    CHECK(a->n_codes == b->n_codes && memcmp(a->codes, b->codes, a->n_codes * 2) == 0);
    CHECK(!a->any == !b->any && (!a->any || json_equal(a->any, b->any)));
}

/* Members in another order are the same object. */
static void shuffle(struct json *v)
{
    struct json *all[64];
    size_t n = 0;
    for (struct json *m = json_take_children(v), *next; m; m = next) {
        next = m->next;
        m->next = NULL;
        all[n++] = m;
    }
    for (; n > 0; n--) {
        size_t i = test_random_below(n);
        json_add_member(v, all[i]->key, all[i]);
        all[i] = all[n - 1];
    }
}

TEST(a_random_struct_comes_back_from_its_text)
{
    for (int round = 0; round < 2000; round++) {
        struct kit k, again = { 0 };
        struct err err = { 0 };
        random_kit(&k);
        struct json *v = bind_write(&arena, &kit_table, &k), *parsed;
        if (round & 1)
            shuffle(v);
        CHECK_OK(json_parse(&arena, text_of(v), NULL, &parsed, NULL));
        struct bind b = { .arena = &arena, .err = &err, .mode = BIND_STRICT };
        if (bind_read(&b, &kit_table, parsed, &again) < 0)
            TEST_FAIL("%s", err_text(&err));
        same_kit(&k, &again);
        arena_reset(&arena);
    }
    arena_fini(&arena);
}

TEST_MAIN
