/* SPDX-License-Identifier: Apache-2.0 */
/* The expression language of rules: what expressions are, what goes wrong, what it may cost. */
#include "test.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/sys.h"
#include "codec/json.h"
#include "kube/cel/cel.h"
#include "kube/cel/cel_int.h"
#include "kube/cel/cel_rules.h"
#include "kube/cel/cel_static.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>

static const struct json *parse(struct arena *a, const char *text)
{
    struct json *v;
    struct err err = { 0 };
    char *p = arena_strndup(a, text, strlen(text));
    for (char *c = p; *c; c++)
        if (*c == '`')
            *c = '"';
    if (json_parse(a, str_of(p), NULL, &v, &err) < 0)
        TEST_FAIL("%s: %s", text, err_text(&err));
    return v;
}

/* Back quotes stand for quotes. */
static const char self_json[] =
    "{`name`:`web`,`n`:3,`big`:9007199254740993,`d`:1.5,`on`:true,`none`:null,`list`:[1,2,3],"
    "`words`:[`b`,`a`],`map`:{`a`:1,`b`:2},`items`:[{`k`:`x`,`v`:1},{`k`:`y`,`v`:2}],`a-b`:1,"
    "`in`:1,`cpu`:`1500m`,`empty`:[],`nested`:{`deep`:{`x`:`y`}}}";

static int run_it(struct arena *a, const char *text, const struct schema *s, struct cel_value *ret,
                  struct cel_run *run)
{
    const struct cel_expr *e;
    struct cel_flaw flaw;
    const struct cel_var self = { STR("self"), cel_from_json(parse(a, self_json), s), NULL };
    *run = (struct cel_run){ .a = a };
    if (cel_parse(a, str_of(text), &e, &flaw) < 0)
        TEST_FAIL("%s: %s", text, flaw.text);
    return cel_eval(run, e, &self, ret);
}

static void is_true(const char *text)
{
    struct arena a = { 0 };
    struct cel_run run;
    struct cel_value v = { 0 };
    if (run_it(&a, text, NULL, &v, &run) < 0)
        TEST_FAIL("%s: %s", text, err_text(&run.err));
    if (v.type != CEL_BOOL || !v.b)
        TEST_FAIL("%s is not true (%s)", text, cel_type_name((enum cel_type)v.type));
    arena_fini(&a);
}

TEST(what_is_true)
{
    static const char *const all[] = {
        /* literals and operators */
        "1 + 2 * 3 == 7",
        "(1 + 2) * 3 == 9",
        "7 / 2 == 3",
        "-7 / 2 == -3",
        "-7 % 3 == -1",
        "0x1F == 31",
        "1u + 2u == 3u",
        "1.5e3 == 1500.0",
        ".5 == 0.5",
        "1 == 1.0",
        "2u == 2",
        "-9223372036854775808 < 0",
        "9223372036854775807 > 0",
        "!false",
        "!!true",
        "--1 == 1",
        "true || (1 / 0 == 1)",
        "(1 / 0 == 1) || true",
        "!(false && 1 / 0 == 1)",
        "!(1 / 0 == 1 && false)",
        "true ? true : 1 / 0 == 1",
        "1 < 2 && 'a' < 'b' && false < true",
        "'a' + 'b' == 'ab'",
        "[1] + [2] == [1, 2]",
        "[1, 2,] == [1, 2]",
        "1 in [2, 1]",
        "!(3 in [1, 2])",
        "'a' in {'a': 1}",
        "{'a': 1}['a'] == 1",
        "{'a': 1}.a == 1",
        "[1, 2][1] == 2",
        "{'a': 1, 'b': 2} == {'b': 2, 'a': 1}",
        "null == null",
        "1 != '1'",
        "b'ab' + b'c' == b'abc'",
        "size(b'\\xff\\000') == 2",
        "0.0 / 0.0 != 0.0 / 0.0",
        "!(0.0 / 0.0 < 1.0)",
        "// a word\n1 == 1",
        "'a' // another\n == 'a'",
        "9007199254740993 > 9007199254740992.0 || true",
        /* strings */
        "'\\u00e9' == 'é'",
        "'\\x41\\101\\n' == \"AA\\n\"",
        "r'\\n' == '\\\\n'",
        "'''a'b''' == \"a'b\"",
        "R\"\"\"a\nb\"\"\" == 'a\\nb'",
        "size('héé') == 3",
        "'hello'.contains('ell') && 'hello'.startsWith('he') && 'hello'.endsWith('lo')",
        "'hello'.matches('^h.*o$') && matches('a1', '[0-9]')",
        "'héllo'.charAt(1) == 'é'",
        "'a'.charAt(1) == ''",
        "'hello mellow'.indexOf('ello') == 1",
        "'hello mellow'.indexOf('ello', 2) == 7",
        "'x'.indexOf('y') == -1",
        "'hello mellow'.lastIndexOf('ello') == 7",
        "'hello mellow'.lastIndexOf('ello', 6) == 1",
        "'TacoCat'.lowerAscii() == 'tacocat' && 'é'.upperAscii() == 'é'",
        "'hello hello'.replace('he', 'we') == 'wello wello'",
        "'hello hello'.replace('he', 'we', 1) == 'wello hello'",
        "'ab'.replace('', '-') == '-a-b-'",
        "'a,b,c'.split(',') == ['a', 'b', 'c']",
        "'a,b,c'.split(',', 2) == ['a', 'b,c']",
        "'abc'.split('') == ['a', 'b', 'c']",
        "'a'.split(',', 0) == []",
        "''.split(',') == ['']",
        "'tacocat'.substring(4) == 'cat' && 'tacocat'.substring(0, 4) == 'taco'",
        "'  \\ttrim\\n '.trim() == 'trim'",
        "['a', 'b'].join('-') == 'a-b' && [].join() == ''",
        "'stressed'.reverse() == 'desserts'",
        "'aé'.reverse() == 'éa'",
        "'%s is %d: %.2f %x %b %o %%'.format(['a', 3, 1.5, 255, 5, 8]) == 'a is 3: 1.50 ff 101 10 "
        "%'",
        "'%s %s'.format([[1, 'a'], {'k': true}]) == '[1, a] {k: true}'",
        "strings.quote('a\"b') == '\"a\\\\\"b\"'",
        "'abc 123'.find('[0-9]+') == '123'",
        "'a'.find('[0-9]') == ''",
        "'1 22 333'.findAll('[0-9]+') == ['1', '22', '333']",
        "'1 22 333'.findAll('[0-9]+', 2) == ['1', '22']",
        "'baaau'.findAll('a*') == ['', 'aaa', '']",
        /* lists and maps */
        "size([1, 2]) == 2 && [].size() == 0 && {'a': 1}.size() == 1",
        "[1, 2, 3].all(i, i > 0) && ![1, 2].all(i, i > 1)",
        "[1, 2].exists(i, i == 2)",
        "[1, 2, 2].exists_one(i, i == 1) && ![1, 2, 2].exists_one(i, i == 2)",
        "[1, 2, 3].filter(i, i % 2 == 1) == [1, 3]",
        "[1, 2].map(i, i * 2) == [2, 4]",
        "[1, 2, 3].map(i, i > 1, i * 2) == [4, 6]",
        "{'a': 1, 'b': 2}.all(k, k in ['a', 'b'])",
        "{'a': 1}.map(k, k) == ['a']",
        "[[1], [2, 3]].map(l, l.map(i, i + 1)) == [[2], [3, 4]]",
        "[0, 1].exists(i, 1 / i == 1)",
        "![1, 0].all(i, 1 / i == 2)",
        "[1, 2].all(i, v, i < v)",
        "{'a': 1}.exists(k, v, k == 'a' && v == 1)",
        "[5, 6].transformList(i, v, i + v) == [5, 7]",
        "{'a': 1, 'b': 2}.transformMap(k, v, v > 1, v * 2) == {'b': 4}",
        "{'a': 'x'}.transformMapEntry(k, v, {v: k}) == {'x': 'a'}",
        "[1, 2].isSorted() && ![2, 1].isSorted()",
        "[1, 2, 3].sum() == 6 && [1.5].sum() == 1.5",
        "[3, 1].min() == 1 && ['a', 'b'].max() == 'b'",
        "[1, 2, 1].lastIndexOf(1) == 2",
        "[1, 2].indexOf(3) == -1",
        "sets.contains([1, 2], [2]) && sets.intersects([1], [1, 2])",
        "sets.equivalent([1, 1], [1]) && !sets.contains([1], [2])",
        /* conversions and types */
        "int('12') == 12 && int(3.9) == 3 && int(4u) == 4 && uint(5) == 5u",
        "double('1.5') == 1.5 && double(2) == 2.0",
        "string(1) == '1' && string(1.5) == '1.5'",
        "string(true) == 'true' && bool('true') && string(b'a') == 'a'",
        "type(1) == int && type('a') == string && type(1) != type(1u)",
        "type(type(1)) == type",
        "dyn(1) == 1",
        "string(duration('90m')) == '5400s' && string(duration('1.5s')) == '1.5s'",
        /* times */
        "duration('1h30m').getMinutes() == 90",
        "duration('1h') - duration('30m') == duration('30m')",
        "duration('-1s') < duration('0')",
        "duration('1us') == duration('1000ns')",
        "timestamp('2024-02-29T12:30:45Z').getFullYear() == 2024",
        "timestamp('2024-02-29T12:30:45Z').getMonth() == 1",
        "timestamp('2024-02-29T12:30:45Z').getDate() == 29",
        "timestamp('2024-02-29T12:30:45Z').getDayOfMonth() == 28",
        "timestamp('2024-02-29T12:30:45Z').getDayOfWeek() == 4",
        "timestamp('2024-03-01T00:00:00Z').getDayOfYear() == 60",
        "timestamp('2023-12-31T23:00:00Z').getDayOfYear() == 364",
        "timestamp('2024-02-29T23:30:00Z').getHours('+01:00') == 0",
        "timestamp('2024-01-01T00:00:00Z') + duration('24h') == timestamp('2024-01-02T00:00:00Z')",
        "timestamp('2024-01-02T00:00:00Z') - timestamp('2024-01-01T00:00:00Z') == duration('24h')",
        "string(timestamp('2024-01-01T00:00:00.5Z')) == '2024-01-01T00:00:00.5Z'",
        "timestamp(0) == timestamp('1970-01-01T00:00:00Z')",
        /* Kubernetes' own */
        "quantity('1500m').isGreaterThan(quantity('1')) && isQuantity('1Gi') && !isQuantity('x')",
        "quantity('1k').add(quantity('24')).asInteger() == 1024",
        "quantity('1').sub(2).sign() == -1",
        "quantity('50k') == quantity('50000')",
        "quantity('1').compareTo(quantity('2')) == -1",
        "quantity('1.5').asApproximateFloat() == 1.5 && !quantity('1.5').isInteger()",
        "url('https://user@example.com:80/a%20b?x=1&x=2').getHost() == 'example.com:80'",
        "url('https://[::1]:80/').getHostname() == '::1' && url('https://a:80/').getPort() == '80'",
        "url('/a?b=c+d').getQuery() == {'b': ['c d']} && url('/a%20b').getEscapedPath() == "
        "'/a%20b'",
        "isURL('https://a') && !isURL('../a') && !isURL('https://a:x/') && !isURL('a b')",
        "ip('127.0.0.1').isLoopback() && ip('::1').family() == 6 && isIP('10.0.0.1')",
        "!isIP('010.0.0.1') && !isIP('::ffff:1.2.3.4') && string(ip('1.2.3.4')) == '1.2.3.4'",
        "ip.isCanonical('::1') && !ip.isCanonical('0:0:0:0:0:0:0:1')",
        "cidr('10.0.0.0/8').containsIP('10.1.2.3') && !cidr('10.0.0.0/8').containsIP('11.0.0.1')",
        "cidr('10.0.0.0/8').containsCIDR(cidr('10.1.0.0/16')) && cidr('10.1.2.3/8').masked() == "
        "cidr('10.0.0.0/8')",
        "cidr('10.0.0.0/8').ip() == ip('10.0.0.0') && cidr('::/0').prefixLength() == 0",
        "!format.dns1123Label().validate('a-b').hasValue()",
        "format.dns1123Label().validate('A').value().size() == 1",
        "format.named('uuid').value().validate('x').hasValue() && !format.named('x').hasValue()",
        "semver('1.2.3').isGreaterThan(semver('1.2.3-rc.1')) && isSemver('1.0.0') && "
        "!isSemver('1')",
        "semver('1.2.3').major() == 1 && semver('v1.2', true) == semver('1.2.0')",
        "semver('1.0.0-alpha.1').isLessThan(semver('1.0.0-alpha.beta'))",
        /* optionals */
        "optional.of(1).value() == 1 && !optional.none().hasValue()",
        "optional.none().orValue(2) == 2 && optional.of(1).or(optional.none()).value() == 1",
        "[1, ?optional.none(), ?optional.of(2)] == [1, 2]",
        "{?'a': optional.none()} == {}",
        "{'a': 1}[?'b'].orValue(3) == 3 && {'a': {'b': 1}}.?a.?b == optional.of(1)",
        "!{'a': 1}.?b.c.hasValue() && [1][?0] == optional.of(1)",
        "optional.of(1).optMap(x, x + 1) == optional.of(2) && !optional.none().optMap(x, "
        "1).hasValue()",
        "optional.of(1).optFlatMap(x, optional.of(x)).value() == 1",
        "!optional.ofNonZeroValue('').hasValue()",
        /* objects */
        "self.name == 'web' && self.n == 3 && self.d == 1.5 && self.on",
        "has(self.name)",
        "!has(self.other) && has(self.nested.deep.x)",
        "self.big == 9007199254740993",
        "self.none == null",
        "self.list.sum() == 6",
        "self.items.all(i, i.v > 0)",
        "self.items.exists_one(i, i.k == 'x')",
        "self.map['a'] == 1 && 'b' in self.map",
        "self.map.all(k, self.map[k] > 0)",
        "self['name'] == 'web'",
        "self.`a-b` == 1",
        "self.?nested.?deep.?x.orValue('') == 'y'",
        "size(self.empty) == 0",
        "quantity(self.cpu).isLessThan(quantity('2'))",
        "self.words.map(w, w + w) == ['bb', 'aa']",
    };
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        is_true(all[i]);
}

TEST(lists_make_lists)
{
    static const char *const rows[] = {
        "[3, 1, 2].sort() == [1, 2, 3]",
        "self.words.sort() == ['a', 'b'] && [].sort() == []",
        "self.items.sortBy(i, -i.v).map(i, i.k) == ['y', 'x']",
        "['bb', 'a', 'cc'].sortBy(s, size(s)) == ['a', 'bb', 'cc']", /* stable */
        "[1, 2, 1, 1.0, 'a'].distinct() == [1, 2, 'a']",
        "[self.list, [4], []].flatten() == [1, 2, 3, 4]",
        "[[1, [2, [3]]], 4].flatten() == [1, [2, [3]], 4]",
        "[1, [2, [3]]].flatten(2) == [1, 2, 3] && [1, [2]].flatten(0) == [1, [2]]",
        "self.list.slice(1, 3) == [2, 3] && self.list.slice(3, 3) == []",
        "lists.range(3) == [0, 1, 2] && lists.range(-1) == []",
        "self.list.first().value() == 1 && self.list.last().value() == 3",
        "!self.empty.first().hasValue() && self.empty.last().orValue(7) == 7",
        "self.list.reverse() == [3, 2, 1] && 'abc'.reverse() == 'cba'",
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        is_true(rows[i]);
}

TEST(what_goes_wrong)
{
    static const struct {
        const char *text, *why;
    } all[] = {
        { "1 / 0", "division by zero" },
        { "1 % 0", "modulus by zero" },
        { "9223372036854775807 + 1", "integer overflow" },
        { "-(-9223372036854775808)", "integer overflow" },
        { "0u - 1u", "unsigned integer overflow" },
        { "self.other", "no such key: other" },
        { "self.list[3]", "index out of bounds: 3" },
        { "self.map['z']", "no such key: z" },
        { "1 + 'a'", "no such overload" },
        { "1 && true", "no such overload" },
        { "[1].all(i, 'x')", "no such overload" },
        { "1 ? 2 : 3", "no such overload" },
        { "'a' < 1", "no such overload" },
        { "size(1)", "no such overload" },
        { "'a'.substring(2)", "index out of range: 2" },
        { "'abc'.substring(2, 1)", "invalid substring range. start: 2, end: 1" },
        { "int('x')", "strconv.ParseInt: parsing \"x\": invalid syntax" },
        { "duration('x')", "time: invalid duration \"x\"" },
        { "optional.none().value()", "optional.none() dereference" },
        { "[].max()", "max called on empty list" },
        { "[1, 'a'].sort()", "list elements must have the same type" },
        { "[{}].sort()", "list elements must have the same type" },
        { "[1].slice(0, 2)", "cannot slice(0, 2), list is length 1" },
        { "[1].slice(-1, 1)", "cannot slice(-1, 1), negative indexes not supported" },
        { "[1].slice(1, 0)",
          "cannot slice(1, 0), start index must be less than or equal to end index" },
        { "[1].flatten(-1)", "level must be non-negative" },
        { "{'a': 1, 'a': 2}", "Failed with repeated key" },
        { "'('.matches('(')", "error parsing regexp: missing closing ): `(`" },
        { "'a'.matches('(a{10}){101}')",
          "error parsing regexp: invalid repeat count: `(a{10}){101}`" },
        { "!'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab'.matches('^(a+)+$')",
          "the regular expression needs more than 200000 steps" },
    };
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        struct arena a = { 0 };
        struct cel_run run;
        struct cel_value v;
        if (run_it(&a, all[i].text, NULL, &v, &run) >= 0)
            TEST_FAIL("%s is something", all[i].text);
        CHECK_STR(str_of(err_text(&run.err)), all[i].why);
        arena_fini(&a);
    }
}

TEST(what_is_no_expression)
{
    static const char *const all[] = {
        "",
        "1 +",
        "(1",
        "[1",
        "{1}",
        "{1: 2",
        "a.",
        "a.b(",
        "'abc",
        "'a\nb'",
        "\"\\q\"",
        "1 2",
        "if",
        "a.1",
        "9223372036854775808",
        "has(a)",
        "x.all(1, true)",
        "?",
        "a ? b",
        "'\\ud800'",
        "b'\\u0041'",
        "1..2",
        "a[",
        "@",
        "'''a''",
        "for.x",
    };
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        struct arena a = { 0 };
        const struct cel_expr *e;
        struct cel_flaw flaw = { 0 };
        if (cel_parse(&a, str_of(all[i]), &e, &flaw) >= 0)
            TEST_FAIL("'%s' is one", all[i]);
        CHECK(strncmp(flaw.text, "ERROR: <input>:", 15) == 0);
        arena_fini(&a);
    }
    struct arena a = { 0 };
    const struct cel_expr *e;
    struct cel_flaw flaw = { 0 };
    CHECK_ERR(cel_parse(&a, STR("self =="), &e, &flaw), E_PARSE);
    CHECK_STR(str_of(flaw.text),
              "ERROR: <input>:1:8: Syntax error: mismatched input '<EOF>' expecting {'[', '{', "
              "'(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, "
              "BYTES, IDENTIFIER}\n | self ==\n | .......^");
    arena_fini(&a);
}

/* ------------------------------------------------------------------ bounds */

static char *repeat(struct arena *a, const char *before, const char *part, int n, const char *after)
{
    size_t at = strlen(before), len = strlen(part);
    char *p = arena_alloc(a, at + len * (size_t)n + strlen(after) + 1);
    memcpy(p, before, at);
    for (int i = 0; i < n; i++, at += len)
        memcpy(p + at, part, len);
    memcpy(p + at, after, strlen(after));
    return p;
}

TEST(depth_and_length_are_bounded)
{
    struct arena a = { 0 };
    const struct cel_expr *e;
    struct cel_flaw flaw;
    CHECK_OK(cel_parse(&a, str_of(repeat(&a, "1", "+1", 240, "")), &e, &flaw));
    CHECK_ERR(cel_parse(&a, str_of(repeat(&a, "1", "+1", 20000, "")), &e, &flaw), E_PARSE);
    CHECK_ERR(cel_parse(&a, str_of(repeat(&a, "", "(", 20000, "")), &e, &flaw), E_PARSE);
    CHECK_ERR(cel_parse(&a, str_of(repeat(&a, "", "[", 20000, "")), &e, &flaw), E_PARSE);
    CHECK_ERR(cel_parse(&a, str_of(repeat(&a, "a", ".b", 20000, "")), &e, &flaw), E_PARSE);
    CHECK_ERR(cel_parse(&a, str_of(repeat(&a, "a", "?b:c", 10000, "")), &e, &flaw), E_PARSE);
    CHECK_OK(cel_parse(&a, str_of(repeat(&a, "", "!", 20001, "true")), &e, &flaw));
    CHECK_ERR(cel_parse(&a, str_of(repeat(&a, "1", " ", CEL_MAX_BYTES, "")), &e, &flaw), E_PARSE);
    arena_fini(&a);
}

TEST(cost_and_memory_are_bounded)
{
#define TEN "[0,1,2,3,4,5,6,7,8,9]"
    static const char *const all[] = {
        TEN ".all(a," TEN ".all(b," TEN ".all(c," TEN ".all(d," TEN ".all(e," TEN
            ".all(f,true))))))",
        TEN ".map(a," TEN ".map(b," TEN ".map(c," TEN ".map(d," TEN ".map(e," TEN ".map(f," TEN
            "))))))",
        "['aaaaaaaaaaaaaaaaaaaa'].map(a,a+a+a+a+a+a+a+a+a+a).map(a,a+a+a+a+a+a+a+a+a+a).map(a,"
        "a+a+a+a+a+a+a+a+a+a).map(a,a+a+a+a+a+a+a+a+a+a).map(a,a+a+a+a+a+a+a+a+a+a).map(a,a+a+a+a+"
        "a+a+a+a+a+a).size() == 1",
    };
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        struct arena a = { 0 };
        struct cel_run run;
        struct cel_value v;
        CHECK_ERR(run_it(&a, all[i], NULL, &v, &run), E_LIMIT);
        CHECK(a.total_bytes < CEL_MEMORY_MAX * 8u);
        arena_fini(&a);
    }
}

/* What one step makes is bounded before it is made. */
TEST(no_step_takes_more_memory_than_an_evaluation_may)
{
    enum { STEP_MAX = 4 << 20 };
    static const struct {
        const char *expr, *part;
        size_t n; /* bytes of `big`, parts of it repeated */
    } all[] = {
        { "url('/?' + big).getQuery().size() > 0", "a&", 900000 },
        { "url('/?' + big).getQuery().size() > 0", "a=&b=&", 900000 },
        { "(big.split('x') + big.split('x')).size() > 0", "x", 500000 },
        { "(big + big + big + big + big + big + big + big + big).size() > 0", "y", 4000000 },
    };
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        struct arena a = { 0 };
        struct cel_run run = { .a = &a };
        struct cel_flaw flaw;
        struct cel_value v;
        const struct cel_expr *e;
        scoped(buf_fini_scoped) struct buf big = BUF_INIT(16 << 20);
        while (big.n < all[i].n)
            (void)buf_add_cstr(&big, all[i].part);
        const struct cel_var var = { STR("big"), cel_string(buf_str(&big)), NULL };
        CHECK_OK(cel_parse(&a, str_of(all[i].expr), &e, &flaw));
        (void)cel_eval(&run, e, &var, &v);
        if (a.total_bytes > CEL_MEMORY_MAX + STEP_MAX)
            TEST_FAIL("%s: %zu bytes", all[i].expr, a.total_bytes);
        arena_fini(&a);
    }
}

/* Two lists that are sets are joined by comparing each with each. */
TEST(joining_large_sets_ends_by_its_cost)
{
    enum { ITEMS = 60000 };
    struct arena a = { 0 };
    struct cel_run run = { .a = &a };
    struct cel_flaw flaw;
    struct cel_value v, *items = xnew_n(struct cel_value, ITEMS);
    const struct cel_expr *e;
    for (int i = 0; i < ITEMS; i++)
        items[i] = cel_int(i);
    struct cel_value set = cel_list(items, ITEMS);
    set.list_type = SCHEMA_LIST_SET;
    const struct cel_var var = { STR("big"), set, NULL };
    CHECK_OK(cel_parse(&a, STR("(big + big).size() == 1"), &e, &flaw));
    CHECK_ERR(cel_eval(&run, e, &var, &v), E_LIMIT);
    CHECK(run.cost < 2 * CEL_COST_MAX);
    free(items);
    arena_fini(&a);
}

/* ------------------------------------------------------------------ with a schema */

static const struct schema *schema_of(struct arena *a, const char *text)
{
    struct field_errors errs = field_errors_init(a);
    const struct schema *s;
    if (schema_from_openapi(a, parse(a, text), NULL, NULL, &errs, &s) < 0)
        TEST_FAIL("%s: " STR_FMT, text, STR_ARG(field_errors_text(&errs)));
    return s;
}

static const char typed[] =
    "{`type`:`object`,`properties`:{`name`:{`type`:`string`},`n`:{`type`:`number`},`a-b`:{`type`:"
    "`integer`},`in`:{`type`:`integer`},`map`:{`type`:`object`,`additionalProperties`:{`type`:"
    "`integer`}},`words`:{`type`:`array`,`items`:{`type`:`string`},`x-kubernetes-list-type`:"
    "`set`},`items`:{`type`:`array`,`items`:{`type`:`object`,`required`:[`k`],`properties`:{`k`:"
    "{`type`:`string`},`v`:{`type`:`integer`}}},`x-kubernetes-list-type`:`map`,"
    "`x-kubernetes-list-map-keys`:[`k`]}}}";

TEST(schemas_say_what_values_are)
{
    static const char *const all[] = {
        "self.a__dash__b == 1 && self.__in__ == 1", "type(self.n) == double",
        "self.words == ['a', 'b'] || true",         "self.words + ['a', 'c'] == self.words + ['c']",
        "size(self.items + self.items) == 2",
    };
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        struct arena a = { 0 };
        struct cel_run run;
        struct cel_value v;
        const struct schema *s = schema_of(&a, typed);
        if (run_it(&a, all[i], s, &v, &run) < 0)
            TEST_FAIL("%s: %s", all[i], err_text(&run.err));
        if (v.type != CEL_BOOL || !v.b)
            TEST_FAIL("%s is not true", all[i]);
        schema_release(s);
        arena_fini(&a);
    }
}

TEST(names_and_fields_are_checked)
{
    static const struct {
        const char *text, *why; /* NULL: nothing */
    } all[] = {
        { "self.name.size() > 0 && self.items.all(i, i.v > 0 && has(i.k))", NULL },
        { "self.map.x == 1 && self.map.all(k, k.size() < self.map[k])", NULL },
        { "self.items.map(i, i.v)[0] == optional.of(1).value()", NULL },
        { "self.other", "ERROR: <input>:1:5: undefined field 'other'\n | self.other\n | ....^" },
        { "self.items.all(i,\n i.z)", "ERROR: <input>:2:3: undefined field 'z'\n |  i.z)\n | ..^" },
        { "self.name.x",
          "ERROR: <input>:1:10: type 'string' does not support field selection\n | self.name.x\n "
          "| .........^" },
        { "that == 1",
          "ERROR: <input>:1:1: undeclared reference to 'that' (in container '')\n | that == 1\n | "
          "^" },
        { "[1].all(i, true) && i == 1",
          "ERROR: <input>:1:21: undeclared reference to 'i' (in container '')\n | [1].all(i, true) "
          "&& i == 1\n | ....................^" },
        { "nothing(1)",
          "ERROR: <input>:1:8: undeclared reference to 'nothing' (in container '')\n | nothing(1)\n"
          " | .......^" },
    };
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        struct arena a = { 0 };
        const struct cel_expr *e;
        struct cel_flaw flaw = { 0 };
        const struct schema *s = schema_of(&a, typed);
        struct cel_checked *checked;
        const struct cel_static *type;
        const struct cel_name self = { STR("self"), cel_decl_new(&a, s, false, "selfType")->type,
                                       NULL };
        CHECK_OK(cel_parse(&a, str_of(all[i].text), &e, &flaw));
        int r = cel_check(&a, e, str_of(all[i].text), &self, &checked, &type, &flaw);
        CHECK_INT(r, all[i].why ? E_INVALID : 0);
        if (all[i].why)
            CHECK_STR(str_of(flaw.text), all[i].why);
        schema_release(s);
        arena_fini(&a);
    }
}

/* ---- agreement with upstream: test/data/cel_costs.txt ---- */

struct vectors {
    const struct schema *schema;
    const struct cel_decl *decl;
    bool optional_old;
    int n_wrong, n;
};

static void check_vector(struct vectors *v, struct str text, struct str cost, struct str times,
                         struct str why)
{
    struct arena a = { 0 };
    const struct cel_expr *e;
    struct cel_checked *checked;
    const struct cel_static *type, *old = v->decl->type;
    struct cel_flaw flaw = { 0 };
    struct str got = STR(""), got_times = STR("");
    if (v->optional_old)
        old = cel_static_optional(&a, old);
    const struct cel_name was = { STR("oldSelf"), old, NULL };
    const struct cel_name self = { STR("self"), v->decl->type, &was };
    if (cel_parse(&a, text, &e, &flaw) < 0 ||
        cel_check(&a, e, text, &self, &checked, &type, &flaw) < 0) {
        got = str_of(arena_printf(&a, "compilation failed: %s", flaw.text));
    } else if (type->kind != CEL_KIND_BOOL) {
        got = STR("cel expression must evaluate to a bool");
    } else {
        got = str_of(arena_printf(&a, "%" PRIu64, cel_cost(&a, checked, v->decl)));
        got_times = str_of(arena_printf(&a, "%" PRIu64, cel_decl_cardinality(v->decl)));
    }
    v->n++;
    if (!str_eq(got, why.n ? why : cost) || (!why.n && !str_eq(got_times, times))) {
        v->n_wrong++;
        fprintf(stderr,
                STR_FMT "\n  got      " STR_FMT " " STR_FMT "\n  expected " STR_FMT STR_FMT
                        " " STR_FMT "\n",
                STR_ARG(text), STR_ARG(got), STR_ARG(got_times), STR_ARG(why), STR_ARG(cost),
                STR_ARG(times));
    }
    arena_fini(&a);
}

TEST(estimates_and_mistakes_are_those_of_upstream)
{
    struct arena a = { 0 };
    struct buf data = BUF_INIT(1 << 20);
    struct vectors v = { .n = 0 };
    CHECK_OK(sys_read_file(AT_FDCWD, TEST_DATA "/cel_costs.txt", &data, NULL));
    for (struct str rest = buf_str(&data), line; rest.n;) {
        struct str first, second, text;
        struct json *j;
        (void)str_cut(rest, '\n', &line, &rest);
        (void)str_cut(line, ' ', &first, &text);
        if (str_is(first, "#"))
            continue;
        if (str_is(first, "s") || str_is(first, "r") || str_is(first, "o")) {
            struct field_errors errs = field_errors_init(&a);
            schema_release(v.schema);
            CHECK_OK(json_parse(&a, text, NULL, &j, NULL));
            (void)schema_from_openapi(&a, j, NULL, NULL, &errs, &v.schema);
            v.decl = cel_decl_new(&a, v.schema, str_is(first, "r"), "selfType");
            v.optional_old = str_is(first, "o");
        } else if (str_is(first, "!")) {
            (void)str_cut(rest, '\n', &line, &rest);
            CHECK_OK(json_parse(&a, line, NULL, &j, NULL));
            check_vector(&v, text, STR(""), STR(""), json_str(j));
        } else {
            (void)str_cut(text, ' ', &second, &text);
            check_vector(&v, text, first, second, STR(""));
        }
    }
    if (v.n_wrong)
        TEST_FAIL("%d of %d differ", v.n_wrong, v.n);
    schema_release(v.schema);
    buf_fini(&data);
    arena_fini(&a);
}

/* ------------------------------------------------------------------ rules */

static void rules_say(const char *schema, const char *obj, const char *old, const char *want)
{
    struct arena a = { 0 };
    struct field_errors errs = field_errors_init(&a);
    const struct schema *s = schema_of(&a, schema);
    cel_validate(s, parse(&a, obj), old ? parse(&a, old) : NULL, &errs);
    CHECK_STR(errs.n ? field_errors_text(&errs) : STR(""), want);
    schema_release(s);
    arena_fini(&a);
}

#define SPEC(rules)                                                                                \
    "{`type`:`object`,`properties`:{`spec`:{`type`:`object`,`properties`:{`min`:{`type`:`integer`" \
    "},`max`:{`type`:`integer`},`name`:{`type`:`string`}},`x-kubernetes-validations`:[" rules      \
    "]}}}"

TEST(backtracking_is_paid_for)
{
    struct arena a = { 0 };
    struct cel_run run;
    struct cel_value v = { 0 };
    CHECK_ERR(run_it(&a,
                     "[1,2,3,4,5,6,7,8].all(x, [1,2,3,4,5,6,7,8].all(y, "
                     "!'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac'.matches('^(a|aa)+[bd]$')))",
                     NULL, &v, &run),
              E_LIMIT);
    CHECK_OK(run_it(&a, "'web-0.example.test'.matches('^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$')", NULL,
                    &v, &run));
    CHECK(v.b && run.cost < 100);
    arena_fini(&a);
}

TEST(rules_are_told_as_upstream_tells_them)
{
    const char *bad = "{`spec`:{`min`:3,`max`:2}}", *good = "{`spec`:{`min`:1,`max`:2}}";
    rules_say(SPEC("{`rule`:`self.min <= self.max`}"), good, NULL, "");
    rules_say(SPEC("{`rule`:`self.min <= self.max`}"), bad, NULL,
              "spec: Invalid value: failed rule: self.min <= self.max");
    rules_say(SPEC("{`rule`:`self.min <= self.max`,`message`:`too small`}"), bad, NULL,
              "spec: Invalid value: too small");
    rules_say(SPEC("{`rule`:`self.min <= self.max`,`message`:`x`,`messageExpression`:`'min ' + "
                   "string(self.min)`}"),
              bad, NULL, "spec: Invalid value: min 3");
    rules_say(SPEC("{`rule`:`self.min <= self.max`,`message`:`x`,`messageExpression`:`self.gone`}"),
              bad, NULL, "spec: Invalid value: x");
    rules_say(SPEC("{`rule`:`self.min <= self.max`,`message`:`x`,`reason`:`FieldValueForbidden`,"
                   "`fieldPath`:`.min`}"),
              bad, NULL, "spec.min: Forbidden: x");
    rules_say(SPEC("{`rule`:`has(self.name)`,`message`:`x`,`reason`:`FieldValueRequired`,"
                   "`fieldPath`:`['name']`}"),
              bad, NULL, "spec.name: Required value: x");
    rules_say(SPEC("{`rule`:`self.name == 'a'`}"), bad, NULL,
              "spec: Invalid value: \"object\": no such key: name evaluating rule: self.name == "
              "'a'");
    rules_say(SPEC("{`rule`:`self.min < 3`},{`rule`:`self.max < 2`}"), bad, NULL,
              "[spec: Invalid value: failed rule: self.min < 3, spec: Invalid value: failed rule: "
              "self.max < 2]");
    rules_say("{`type`:`object`,`properties`:{`a`:{`type`:`array`,`items`:{`type`:`integer`,"
              "`x-kubernetes-validations`:[{`rule`:`self > 1`}]}}}}",
              "{`a`:[2,1]}", NULL, "a[1]: Invalid value: 1: failed rule: self > 1");
}

TEST(rules_of_transitions_need_an_old_self)
{
    const char *three = "{`spec`:{`min`:3}}", *two = "{`spec`:{`min`:2}}";
    const char *fixed = SPEC("{`rule`:`self.min >= oldSelf.min`}");
    rules_say(fixed, two, NULL, "");
    rules_say(fixed, three, two, "");
    rules_say(fixed, two, three, "spec: Invalid value: failed rule: self.min >= oldSelf.min");
    rules_say(SPEC("{`rule`:`!oldSelf.hasValue() || self.min >= oldSelf.value().min`,"
                   "`optionalOldSelf`:true}"),
              two, NULL, "");
    rules_say(SPEC("{`rule`:`oldSelf.hasValue()`,`optionalOldSelf`:true}"), two, NULL,
              "spec: Invalid value: failed rule: oldSelf.hasValue()");
    const char *items = "{`type`:`object`,`properties`:{`l`:{`type`:`array`,"
                        "`x-kubernetes-list-type`:`map`,`x-kubernetes-list-map-keys`:[`k`],`items`:"
                        "{`type`:`object`,`required`:[`k`],`properties`:{`k`:{`type`:`string`},`v`:"
                        "{`type`:`integer`,`x-kubernetes-validations`:[{`rule`:`self == oldSelf`}]"
                        "}}}}}}";
    rules_say(items, "{`l`:[{`k`:`b`,`v`:2},{`k`:`a`,`v`:1}]}",
              "{`l`:[{`k`:`a`,`v`:1},{`k`:`b`,`v`:3}]}",
              "l[0].v: Invalid value: 2: failed rule: self == oldSelf");
}

TEST(parts_that_did_not_change_are_let_through)
{
    const char *schema = SPEC("{`rule`:`self.min < 2`}");
    rules_say(schema, "{`spec`:{`min`:3}}", "{`spec`:{`min`:3}}", "");
    rules_say(schema, "{`spec`:{`min`:4}}", "{`spec`:{`min`:3}}",
              "spec: Invalid value: failed rule: self.min < 2");
    const char *list = "{`type`:`object`,`properties`:{`a`:{`type`:`array`,`items`:{`type`:"
                       "`integer`,`x-kubernetes-validations`:[{`rule`:`self > 1`}]}}}}";
    rules_say(list, "{`a`:[1],`b`:1}", "{`a`:[1]}", "");
    rules_say(list, "{`a`:[1,2]}", "{`a`:[1]}", "a[0]: Invalid value: 1: failed rule: self > 1");
}

TEST(rules_are_not_evaluated_beside_complaints_that_make_them_pointless)
{
    struct arena a = { 0 };
    struct field_errors errs = field_errors_init(&a);
    const struct schema *s = schema_of(&a, SPEC("{`rule`:`self.min < 2`}"));
    struct fpath at = fpath_child(NULL, STR("spec"));
    field_error(&errs, FIELD_REQUIRED, &at, NULL, "%s", "");
    cel_validate(s, parse(&a, "{`spec`:{}}"), NULL, &errs);
    CHECK_STR(field_errors_text(&errs),
              "[spec: Required value, <nil>: Invalid value: null: some validation rules were not "
              "checked because the object was invalid; correct the existing errors to complete "
              "validation]");
    schema_release(s);
    arena_fini(&a);
}

#define TRY                                                                                        \
    " (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, "  \
    "maps, and strings are declared)"
#define LIST_OF(limits, rules)                                                                     \
    "{`type`:`object`,`properties`:{`l`:{`type`:`array`," limits                                   \
    "`items`:{`type`:`string`,`maxLength`:100,`x-kubernetes-validations`:[" rules "]}}}}"

static void estimate_says(const char *schema, const char *want)
{
    struct arena a = { 0 };
    struct field_errors errs = field_errors_init(&a);
    const struct schema *s = schema_of(&a, schema);
    struct fpath at = fpath_child(NULL, STR("S"));
    cel_validate_rules(s, NULL, &at, &errs);
    CHECK_STR(errs.n ? field_errors_text(&errs) : STR(""), want);
    schema_release(s);
    arena_fini(&a);
}

TEST(rules_that_may_cost_too_much_are_refused)
{
    estimate_says(LIST_OF("`maxItems`:1000,", "{`rule`:`self == 'a'`}"), "");
    estimate_says(LIST_OF("", "{`rule`:`self == 'a'`}"), "");
    estimate_says(
        LIST_OF("", "{`rule`:`self == 'a' && self != 'b' && self != 'c' && self != "
                    "'d' && self != 'e'`}"),
        "S.properties[l].items.x-kubernetes-validations[0].rule: Forbidden: estimated rule "
        "cost exceeds budget by factor of 1.048576x" TRY);
    estimate_says(
        LIST_OF("`maxItems`:1000000,", "{`rule`:`self.matches('^a$')`}"),
        "S.properties[l].items.x-kubernetes-validations[0].rule: Forbidden: estimated rule "
        "cost exceeds budget by factor of 4.2x" TRY);
    estimate_says(
        LIST_OF("",
                "{`rule`:`self.matches('^aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa$')`,`messageExpression`:`self + self`}"),
        "[S.properties[l].items.x-kubernetes-validations[0].rule: Forbidden: estimated rule cost "
        "exceeds budget by factor of more than 100x" TRY
        ", S.properties[l].items.x-kubernetes-validations[0].rule: Forbidden: contributed to "
        "estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema, S: Forbidden: "
        "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds "
        "budget by factor of 10.3x" TRY "]");
}

TEST(rules_have_types)
{
    estimate_says(SPEC("{`rule`:`self.min`}"),
                  "S.properties[spec].x-kubernetes-validations[0].rule: Invalid value: {\"Rule\":"
                  "\"self.min\",\"Message\":\"\",\"MessageExpression\":\"\",\"Reason\":null,"
                  "\"FieldPath\":\"\",\"OptionalOldSelf\":null}: cel expression must evaluate to a "
                  "bool");
    estimate_says(
        SPEC("{`rule`:`self.min == 1`,`messageExpression`:`self.min`}"),
        "S.properties[spec].x-kubernetes-validations[0].messageExpression: Invalid value: "
        "{\"Rule\":\"self.min == 1\",\"Message\":\"\",\"MessageExpression\":\"self.min\","
        "\"Reason\":null,\"FieldPath\":\"\",\"OptionalOldSelf\":null}: "
        "messageExpression must evaluate to a string");
}

TEST(types_that_grow_end_the_check)
{
    struct arena a = { 0 };
    struct buf text = BUF_INIT(1 << 16);
    const struct cel_expr *e;
    struct cel_checked *checked;
    const struct cel_static *type;
    struct cel_flaw flaw = { 0 };
    (void)buf_add_str(&text, STR("[1]"));
    for (int i = 0; i < 60; i++) /* each step doubles the type of x */
        (void)buf_printf(&text, ".map(x, {'a': [x], 'b': [x]}).map(x, [x, x])");
    (void)buf_add_str(&text, STR(" == [2]"));
    CHECK_OK(cel_parse(&a, buf_str(&text), &e, &flaw));
    CHECK_ERR(cel_check(&a, e, buf_str(&text), NULL, &checked, &type, &flaw), E_INVALID);
    CHECK(flaw.text[0] && strlen(flaw.text) < 1 << 20);
    buf_fini(&text);
    arena_fini(&a);
}

static void definition_says(const char *schema, const char *stored, const char *want)
{
    struct arena a = { 0 };
    struct field_errors errs = field_errors_init(&a);
    const struct schema *s = schema_of(&a, schema);
    struct fpath at = fpath_child(NULL, STR("S"));
    cel_validate_rules(s, stored ? parse(&a, stored) : NULL, &at, &errs);
    CHECK_STR(errs.n ? field_errors_text(&errs) : STR(""), want);
    schema_release(s);
    arena_fini(&a);
}

TEST(rules_of_a_definition_are_checked)
{
    definition_says(SPEC("{`rule`:`self.min <= self.max`,`messageExpression`:`self.name`}"), NULL,
                    "");
    definition_says("{`type`:`object`,`x-kubernetes-validations`:[{`rule`:`self.metadata.name == "
                    "'a' && self.kind == 'b'`}]}",
                    NULL, "");
    definition_says(SPEC("{`rule`:`self.gone`}"), "{`rule`:`self.gone`}", ""); /* it is there */
    definition_says(
        SPEC("{`rule`:`self.gone`}"), NULL,
        "S.properties[spec].x-kubernetes-validations[0].rule: Invalid value: {\"Rule\":\"self.gone"
        "\",\"Message\":\"\",\"MessageExpression\":\"\",\"Reason\":null,\"FieldPath\":\"\","
        "\"OptionalOldSelf\":null}: compilation failed: ERROR: <input>:1:5: undefined field 'gone'"
        "\n | self.gone\n | ....^");
    definition_says(SPEC("{`rule`:` `}"), NULL,
                    "S.properties[spec].x-kubernetes-validations[0].rule: Required value: rule is "
                    "not specified");
    definition_says(SPEC("{`rule`:`true`,`reason`:`Odd`}"), NULL,
                    "S.properties[spec].x-kubernetes-validations[0].reason: Unsupported value: "
                    "\"Odd\": supported values: \"FieldValueDuplicate\", \"FieldValueForbidden\", "
                    "\"FieldValueInvalid\", \"FieldValueRequired\"");
    definition_says("{`type`:`object`,`properties`:{`a`:{`type`:`array`,`items`:{`type`:`integer`,"
                    "`x-kubernetes-validations`:[{`rule`:`self > oldSelf`}]}}}}",
                    NULL,
                    "S.properties[a].items.x-kubernetes-validations[0].rule: Invalid value: "
                    "\"self > oldSelf\": oldSelf cannot be used on the uncorrelatable portion of "
                    "the schema within S.properties[a]");
    definition_says(SPEC("{`rule`:`true`,`optionalOldSelf`:true}"), NULL,
                    "S.properties[spec].x-kubernetes-validations[0].optionalOldSelf: Invalid "
                    "value: true: may not be set if oldSelf is not used in rule");
}

TEST_MAIN
