// Our parsers of XML and JSON against expat and jansson: documents that are right or wrong in one way, and thousands with
// random changes, get the same content, or are refused in the same line.
#include "support/oracles.h"
#include "support/test_main.h"

#include <stdint.h>
#include <string.h>

typedef verdict (*oracle)(const void *bytes, size_t size, char reason[REASON_SIZE]);

static const char urdf[] = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
                           "<!-- an arm -->\n"
                           "<robot name=\"arm &amp; hand &#x41;\">\n"
                           "  <link name=\"base\"/><link name='upper'><inertial><mass value=\"1.5\"/></inertial></link>\n"
                           "  <joint name=\"j1\" type=\"revolute\"><parent link=\"base\"/><child link=\"upper\"/>\n"
                           "    <origin xyz=\"0 0 0.5\"\n"
                           "            rpy=\"0 0.1\t0\"/>\n"
                           "    <axis xyz=\"0 1 0\"/><limit lower=\"-1\" upper=\"1.25e0\" effort=\"1\" velocity=\"2\"/>\n"
                           "  </joint> text &lt; &#65; <![CDATA[ <raw> ]]> <?note hi?>\r\n"
                           "</robot>\n<!-- end -->";
static const char typed[] =
    "<!DOCTYPE mujoco SYSTEM \"mujoco.dtd\">\n<mujoco model=\"m\"><compiler angle=\"radian\"/>"
    "<worldbody>\n<OpenSim::Body name=\"a\" pos=\"0 0 1\" a1=\"\" a2='' a3='' a4='' a5='' a6='' a7=''>"
    "&entity;\n<Körper name=\"\xC3\xA9\xF0\x9F\x98\x80\"/></OpenSim::Body></worldbody></mujoco>";
static const char gltf[] =
    "{\"asset\": {\"version\": \"2.0\"}, \"nodes\": [\n {\"name\": \"a\\u00e9\\ud83d\\ude00\\n\\/\", \"children\": [1, "
    "2]},\n"
    " {\"translation\": [1, -2.5e-3, 0.1E+2], \"extras\": null, \"t\": true, \"f\": false},\t{\"name\": \"\xC3\xA9\"}],\r\n"
    " \"a\": 1, \"b\": 2, \"c\": [], \"d\": {}, \"e\": -0, \"f\": 12345678901234567890, \"g\": 1e-400, \"h\": \"\", \"i\": "
    "0}";

// ---- Documents that are right or wrong in one way ------------------------------------------------------------------------

static const char *const xml_documents[] = {
    urdf,
    typed,
    "",
    " ",
    "<",
    "<a",
    "<a>",
    "<a/>",
    "<a></b>",
    "<a/><b/>",
    "<a/>x",
    "x<a/>",
    "<a b=\"c\"",
    "<a b=1/>",
    "<a b=\"1\" b=\"2\"/>",
    "<a a='' b='' c='' d='' e='' f='' g='' h='' i='' j='' d=''/>",
    "<a b=\"&x;\"/>",
    "<a b=\"&#0;\"/>",
    "<a b=\"&#xD800;\"/>",
    "<a b=\"&#x110000;\"/>",
    "<a b=\"&#99999999999;\"/>",
    "<a b=\"&#;\"/>",
    "<a b=\"&#x;\"/>",
    "<a b=\"&;\"/>",
    "<a b=\"<\"/>",
    "<a b='&lt;&gt;&amp;&quot;&apos;&#9;&#10;&#x1F600;'/>",
    "<a>&lt;&unknown;</a>",
    "<a>]]></a>",
    "<a>]]</a>",
    "<a><!-- a -- b --></a>",
    "<a><!-- a --->",
    "<a><!-- a",
    "<a><!---->\n</a>",
    "<a><![CDATA[ a\n",
    "<a><![CDATA[]]]]></a>",
    "<a><![CDAT[]]></a>",
    "<a><?xml version=\"1.0\"?></a>",
    "<a><?XML ?></a>",
    "<a><?b?></a>",
    "<a><?b c</a>",
    "<a><? b?></a>",
    "<a><!x></a>",
    "<a><!",
    "<!DOCTYPE a><a b=\"r\"/>",
    "<!DOCTYPE a SYSTEM \"r.dtd\"><a b=\"x&r;y\">&r;</a>",
    "<!DOCTYPE a [<!ENTITY a \"b\">]><a/>",
    "<!DOCTYPE a PUBLIC \"a\" \"b\"><a/>",
    "<!DOCTYPE a><!DOCTYPE a><a/>",
    "<!DOCTYPE",
    "<!DOCTYPE a",
    "<!DOCTYPE a SYSTEM>",
    "<a/><!DOCTYPE a>",
    "<?xml version=\"1.0\" encoding=\"latin-9\"?><a/>",
    "<?xml encoding=\"utf-8\"?><a/>",
    "<?xml version='1.0'?><?xml version='1.0'?><a/>",
    "<?xml version=\"1.0\" encoding=\"utf-16\"?><a/>",
    "<?xml version=\"1.0\" standalone=\"no\"?><a/>",
    "\n\n<?xml version=\"1.0\"?>\n<a></b>",
    "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a b=\"\xE9\"/>",
    "<?xml version=\"1.0\" encoding=\"US-ASCII\"?><a b=\"c\"/>",
    "<a b=\"a\tb\r\nc\rd\n\ne\"/>",
    "\xEF\xBB\xBF<a b=\"r\"/>",
    "<a\nb=\"r\"\n>\n</aa>",
    "<a b=\"r\"/ >",
    "<a b=\"c\"d=\"e\"/>",
    "<1a/>",
    "<-a/>",
    "<a:b::c/>",
    "<a.b-c_1/>",
    "<a b=\"\x01\"/>",
    "<a>\x7F</a>",
    "<a>\xEF\xBF\xBF</a>",
    "<a b='\xEF\xBF\xBE'/>",
    "</a>",
    "<a></a",
    "<a></a >",
    "<a></ a>",
    "&lt;<a/>",
    "<a/>&lt;",
    "<!-- -->",
    "<a b = 'c' />",
    "<a b 'c'/>",
    "<a/>\r\n\r<b/>",
};

static const char *const json_documents[] = {
    gltf,
    "",
    " ",
    "{",
    "[",
    "{}",
    "[]",
    "[[]]",
    "{\"a\": {}}",
    "{\"a\": 1, \"a\": 2}",
    "{\"a\" 1}",
    "{\"a\": tru}",
    "{\"a\": True}",
    "{\"a\": 01}",
    "{\"a\": -01}",
    "{\"a\": 1.}",
    "{\"a\": .5}",
    "{\"a\": -}",
    "{\"a\": +1}",
    "{\"a\": 1e}",
    "{\"a\": 1e+}",
    "{\"a\": 1e400}",
    "[-1e400]",
    "[1e-400]",
    "[\"\\u0000\"]",
    "[\"\\ud800\"]",
    "[\"\\udc00\"]",
    "[\"\\ud83d\\ude00\"]",
    "[\"\\ud83d\\u0041\"]",
    "[\"\\ud83dx\"]",
    "[\"\\u12\"]",
    "[\"\\u00e9\"]",
    "[\"\n\"]",
    "[\"\t\"]",
    "[\"\\x\"]",
    "[\"\\\"]",
    "[\"a",
    "[1,]",
    "[,1]",
    "[1 2]",
    "{\"a\": 1,}",
    "{,}",
    "{1: 2}",
    "{\"a\": 1} x",
    "[] []",
    "1",
    "\"a\"",
    "null",
    "[NaN]",
    "[Infinity]",
    "[1, 2\n\n",
    "{\"a\": nul",
    "{\"a\": {\"b\": [}}",
    "[\"\xFF\"]",
    "[\xFF]",
    "[\"\xC3\x28\"]",
    "[\"\xED\xA0\x80\"]",
    "[\"\xF4\x90\x80\x80\"]",
    "\xEF\xBB\xBF{}",
    "[true, false, null, -0, -0.0, 0, 1E-2, 9007199254740993]",
    "// a\n{}",
    "{'a': 1}",
    "[\"\x7F\"]",
    "{\"a\":0,\"b\":0,\"c\":0,\"d\":0,\"e\":0,\"f\":0,\"g\":0,\"h\":0,\"i\":0,\"j\":0,\n\"c\":0}",
};

static void check(oracle of, const char *bytes, size_t size, int seen[3])
{
    char reason[REASON_SIZE];
    verdict v = of(bytes, size, reason);
    seen[v] += 1;
    if (v == VERDICT_DIFFERENT) {
        ck_abort_msg("%s in:\n%.*s", reason, (int)size, bytes);
    }
}

TEST(documents_right_or_wrong_in_one_way_get_the_answer_of_expat)
{
    int seen[3] = {0};
    for (size_t i = 0; i < TEST_COUNT(xml_documents); ++i) {
        check(xml_against_expat, xml_documents[i], strlen(xml_documents[i]), seen);
    }
    ck_assert_int_le(seen[VERDICT_OURS], 6);
}

TEST(documents_right_or_wrong_in_one_way_get_the_answer_of_jansson)
{
    int seen[3] = {0};
    for (size_t i = 0; i < TEST_COUNT(json_documents); ++i) {
        check(json_against_jansson, json_documents[i], strlen(json_documents[i]), seen);
    }
    ck_assert_int_eq(seen[VERDICT_OURS], 0);
}

// ---- Random changes ------------------------------------------------------------------------------------------------------

static uint32_t draw(uint32_t *state, size_t below)
{
    *state = *state * 1103515245u + 12345u;
    return (*state >> 8) % (uint32_t)below;
}

// Cut off, leave out, replace or double a byte, one to three times. Returns the size.
static size_t change(const char *text, size_t size, uint32_t *state, char *to)
{
    static const char marks[] = "<>\"'&;/=!?-[]{},: \n\r\t1.e+\\uax#\x01\x80\xC3\xE9\xEF";
    memcpy(to, text, size);
    for (uint32_t times = 1 + draw(state, 3); times > 0 && size > 1; --times) {
        size_t at = draw(state, size);
        switch (draw(state, 7)) {
        case 0:
            size = at;
            break;
        case 1:
            memmove(to + at, to + at + 1, size - at - 1);
            size -= 1;
            break;
        case 2:
            memmove(to + at + 1, to + at, size - at);
            size += 1;
            break;
        default:
            to[at] = marks[draw(state, sizeof marks - 1)];
        }
    }
    return size;
}

static void check_changes(oracle of, const char *text, int count, int seen[3])
{
    static char changed[4096];
    uint32_t state = 12345;
    for (int i = 0; i < count; ++i) {
        check(of, changed, change(text, strlen(text), &state, changed), seen);
    }
}

TEST(documents_with_random_changes_get_the_answer_of_expat)
{
    int seen[3] = {0};
    check_changes(xml_against_expat, urdf, 12000, seen);
    check_changes(xml_against_expat, typed, 8000, seen);
    ck_assert_int_gt(seen[VERDICT_SAME], 15000);
}

TEST(documents_with_random_changes_get_the_answer_of_jansson)
{
    int seen[3] = {0};
    check_changes(json_against_jansson, gltf, 20000, seen);
    ck_assert_int_eq(seen[VERDICT_SAME], 20000);
}

// ---- Encodings -----------------------------------------------------------------------------------------------------------

TEST_ROWS(utf_16_is_read_in_both_orders, 2)
{
    char wide[2 * sizeof urdf + 2];
    size_t size = 0;
    for (const char *c = strstr(urdf, "<robot"); c && *c; ++c, size += 2) {
        wide[size + (size_t)test_row] = *c;
        wide[size + 1 - (size_t)test_row] = '\0';
    }
    for (size_t cut = 0; cut <= size; cut += 2 + cut / 16 * 2) {
        int seen[3] = {0};
        check(xml_against_expat, wide, size - cut, seen);
    }
}
