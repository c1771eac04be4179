"""Documents of attackers who want to overload the service, and the error for each document."""

from dataclasses import dataclass
from typing import Any

CREATE = (
    'mutation { create_webhook(input: {name: "a", url: "https://a.example", events: [], headers: %s}) { id } }'
)


@dataclass(frozen=True)
class Hostile:
    document: str
    says: str
    variables: Any = None


def each(count: int, text: str) -> str:
    return " ".join(text.replace("#", str(number)) for number in range(count))


def articles(selection: str, arguments: str = "") -> str:
    return f"{{ articles{arguments} {{ nodes {{ {selection} }} }} }}"


def fragments(count: int, text: str) -> str:
    """Return the fragments F0, F1 and so on. In `text`, > stands for the next fragment's number, # for the
    fragment's own.
    """
    return " ".join(
        f"fragment F{number} on Article {{ {text.replace('>', str((number + 1) % count))} }}".replace(
            "#", str(number)
        )
        for number in range(count)
    )


DEEP = "fields deep; 8 are allowed."
NESTED = "The query has over 50 nested brackets; 50 are allowed."
COSTS = "but the limit is 1000. Request shorter lists."
LONG = "The query is over 20000 characters long; use variables."
TOKENS = "The query has over 1000 tokens; use variables."
FIELDS = "fields, including fragments; 250 are allowed."
ALIASES = "aliases; 30 are allowed."
REPEATED = "fields within a selection; 20 are allowed."
SPREADS = "times; 100 times are allowed."
DIRECTIVES = "directives; 50 are allowed."
ARGUMENTS = "A field has 300 arguments; 20 are allowed."
LITERALS = "values in lists and objects; 300 are allowed. Use variables."
VARIABLES = "The query has 230 variables; 100 are allowed."
VALUES = "The variables have over 10000 values; 10000 are allowed in one request."
TOLD = "requests too much of the schema. GET /api/graphql/schema returns the whole schema."
WITHIN = "contains itself, directly or through other fragments."
FROM_1 = "1 to 500 are allowed."
BAD_CHARACTER = "Unexpected character"

HOSTILE = {
    # depth
    "nine fields deep": Hostile(
        "{ sales_orders { nodes { lines { article { stock { article { stock { warehouse { id } } } } } } } } }",
        f"The query is 9 {DEEP}",
    ),
    "deep by fragments": Hostile(
        "{ articles { nodes { ...A } } } fragment A on Article { stock { article { ...B } } }"
        " fragment B on Article { stock { article { stock { warehouse { id } } } } }",
        f"The query is 9 {DEEP}",
    ),
    "40 unknown fields deep": Hostile("{ a " * 40 + "}" * 40, f"The query is 40 {DEEP}"),
    "deep inline fragments": Hostile("{ ... " * 60 + "{ id }" + "}" * 60, NESTED),
    "900 braces": Hostile("{ a " * 900 + "}" * 900, NESTED),
    "19000 braces": Hostile("{" * 19_000, NESTED),
    "19000 parentheses": Hostile("(" * 19_000, NESTED),
    "deep lists": Hostile(f"{{ article(id: {'[' * 300 + ']' * 300}) {{ id }} }}", NESTED),
    "deep objects": Hostile(CREATE % ("{a: " * 200 + "1" + "}" * 200), NESTED),
    "deep types of variables": Hostile(f"query($a: {'[' * 400}Int{']' * 400}) {{ __typename }}", NESTED),
    "fragments in fragments, each of them deep": Hostile(
        articles("...F0") + fragments(9, "... { " * 30 + "id ...F> " + "}" * 30),
        "nested levels, including fragments; 50 are allowed.",
    ),
    # cost
    "500 of 500 of 500": Hostile(
        articles("stock(first: 500) { article { stock(first: 500) { id } } }", "(first: 500)"),
        f"The query costs 125500500, {COSTS}",
    ),
    "cost through variables": Hostile(
        "query($n: Int!) { articles(first: $n) { nodes { stock(first: $n) { id } } } }",
        f"The query costs 40200, {COSTS}",
        {"n": 200},
    ),
    "cost through defaults": Hostile(
        articles("stock { article { stock { id } } }"), f"The query costs 6050, {COSTS}"
    ),
    "cost through aliases": Hostile(f"{{ {each(21, 'a#: articles { nodes { id } }')} }}", COSTS),
    "cost through nodes and edges": Hostile(
        "{ articles(first: 400) { nodes { id } a: nodes { id } edges { node { id } b: node { id } } } }", COSTS
    ),
    "cost through fragments": Hostile(
        articles("...A") + " fragment A on Article { stock(first: 400) { id } }", COSTS
    ),
    "first of 501": Hostile(articles("id", "(first: 501)"), f"Argument 'first' is 501; {FROM_1}"),
    "first of 0": Hostile(articles("id", "(first: 0)"), f"Argument 'first' is 0; {FROM_1}"),
    "first below 0": Hostile(articles("stock(first: -1) { id }"), f"Argument 'first' is -1; {FROM_1}"),
    "first of null": Hostile(
        articles("id", "(first: null)"), "Expected value of non-null type 'Int!' not to be None."
    ),
    "first of a null variable": Hostile(
        "query($n: Int = 5) { articles(first: $n) { nodes { id } } }", "not to be None", {"n": None}
    ),
    "first beyond 32 bits": Hostile(articles("id", "(first: 4294967297)"), "Int cannot represent"),
    "first of a fraction": Hostile(articles("id", "(first: 1.5)"), "Int cannot represent non-integer value: 1.5"),
    "first as a text": Hostile(articles("id", '(first: "5")'), 'Int cannot represent non-integer value: "5"'),
    # size
    "a comment of 1 MB": Hostile("#" + "x" * 1_000_000 + "\n{ __typename }", LONG),
    "20001 blanks": Hostile(" " * 20_001 + "{ __typename }", LONG),
    "2500 fields": Hostile(articles("id " * 2500), TOKENS),
    "3000 numbers": Hostile("1 " * 3000, TOKENS),
    "5000 comments": Hostile("#\n" * 5_000 + articles("id " * 2500)[:9000], TOKENS),
    "quotes": Hostile('"' * 19_000, TOKENS),
    "900 repeated fields": Hostile(articles("id " * 900), f"The query has 902 {FIELDS}"),
    "900 type names": Hostile(f"{{ {'__typename ' * 900} }}", f"The query has 900 {FIELDS}"),
    "240 times the same field": Hostile(articles("id " * 240), f"The query repeats 239 {REPEATED}"),
    "200 inline fragments with the same field": Hostile(
        articles("... { id } " * 200), f"uses fragments 200 {SPREADS}"
    ),
    "90 inline fragments with the same reference": Hostile(articles("... { client { id } } " * 90), REPEATED),
    "two fragments with 49 inline fragments each": Hostile(
        articles("...F0 ...F1") + fragments(2, "... { id } " * 48), REPEATED
    ),
    "80 aliases": Hostile(f"{{ {each(80, 'a#: articles { nodes { id } }')} }}", f"The query has 80 {ALIASES}"),
    "aliases in a fragment": Hostile(
        articles("...F0 ...F0 ...F0") + fragments(1, each(11, "a#: code")), f"The query has 33 {ALIASES}"
    ),
    "300 arguments": Hostile(articles("id", f"({each(300, 'x#: 1')})"), ARGUMENTS),
    "the same argument 300 times": Hostile(articles("id", f"({'first: 1 ' * 300})"), ARGUMENTS),
    "directives": Hostile(articles("id" + " @skip(if: true)" * 120), f"The query has 120 {DIRECTIVES}"),
    "directives that nobody knows": Hostile(articles("id" + " @a" * 450), f"The query has 450 {DIRECTIVES}"),
    "directives on the operation": Hostile("query " + "@a " * 450 + "{ __typename }", DIRECTIVES),
    "180 operations": Hostile(
        each(180, "query Q# { __typename }"), "The document has 180 operations; 10 are allowed."
    ),
    "120 fragments": Hostile(
        articles("id") + fragments(120, "id"), "The document has 120 fragments; 30 are allowed."
    ),
    "230 variables": Hostile(f"query({each(230, '$a#: Int')}) {{ __typename }}", VARIABLES),
    "the same variable 230 times": Hostile(f"query({'$a: Int ' * 230}) {{ __typename }}", VARIABLES),
    # fragments
    "30 fragments that double": Hostile(
        articles("...F0") + fragments(30, "...F> ...F> id").replace("...F0 ...F0", ""), FIELDS
    ),
    "a fragment that spreads itself": Hostile(articles("...F0") + fragments(1, "id ...F0"), WITHIN),
    "five fragments in each other, each of them deep": Hostile(
        articles("...F0") + fragments(5, "... { " * 15 + "id ...F> " + "}" * 15).replace("...F0 }", "}"),
        "The query has 78 nested levels, including fragments; 50 are allowed.",
    ),
    "fragments in a circle": Hostile(articles("...F0") + fragments(30, "client { id } ...F>"), WITHIN),
    "fragments that all spread each other": Hostile(articles("...F0") + fragments(18, each(18, "...F#")), SPREADS),
    "a circle through fields": Hostile(
        articles("...A") + " fragment A on Article { stock { article { ...A } } }", WITHIN
    ),
    "400 fragments that are not there": Hostile(articles(each(400, "...X#")), f"uses fragments 400 {SPREADS}"),
    "fragments of another type": Hostile(articles("... on Client { id } " * 20), "can never be of type 'Client'"),
    "fragments of one name": Hostile(articles("...F0") + fragments(1, "id") * 29, "only one fragment named 'F0'"),
    # values
    "an int of 19000 digits": Hostile(articles("id", f"(first: {'9' * 19_000})"), "Expected value of type 'Int'"),
    "an exponent of 400 digits": Hostile(articles("id", f"(first: 1e{'9' * 400})"), "Int cannot represent"),
    "a decimal of 19000 digits": Hostile(
        'mutation { create_article(input: {code: "a", name: "b", min_stock: %s}) { id } }' % ("9" * 19_000),
        "outside the allowed range",
    ),
    "a decimal beyond all bounds": Hostile(
        'mutation { create_article(input: {code: "a", name: "b", min_stock: 1e999999999}) { id } }',
        "outside the allowed range",
    ),
    "a list of 900": Hostile(articles("id", f"(search: [{'1 ' * 900}])"), f"The query has 900 {LITERALS}"),
    "a list of 900 that nobody uses": Hostile(f"query($a: [Int] = [{'1 ' * 900}]) {{ __typename }}", LITERALS),
    "an object of 310": Hostile(
        f"mutation {{ create_article(input: {{{each(310, 'a#: 1')}}}) {{ id }} }}", f"The query has 310 {LITERALS}"
    ),
    "280 statuses that are none": Hostile(
        "{ sales_orders(status: [%s]) { nodes { id } } }" % ("CRET " * 280), "Value 'CRET' does not exist in"
    ),
    "a variable of 100000 values": Hostile(
        "query($s: [SalesOrderStatus!]) { sales_orders(status: $s) { nodes { id } } }",
        VALUES,
        {"s": ["CREAT"] * 100_000},
    ),
    "9000 values that are none": Hostile(
        "query($s: [SalesOrderStatus!]) { sales_orders(status: $s) { nodes { id } } }",
        "does not exist in 'SalesOrderStatus' enum",
        {"s": ["CRET"] * 9_000},
    ),
    "values of variables that nobody declared": Hostile(
        "{ __typename }", VALUES, {f"v{number}": [1] * 100 for number in range(200)}
    ),
    "an id of 100000 characters": Hostile(
        "query($n: Int!) { articles(first: $n) { nodes { id } } }", "Int cannot represent", {"n": "9" * 100_000}
    ),
    "an object for an id": Hostile(
        "query($id: ID!) { article(id: $id) { id } }", "ID cannot represent value", {"id": {"a": ["x" * 10_000]}}
    ),
    # introspection
    "the schema in circles": Hostile(
        "{ __schema { types { fields { type { fields { type { fields { type { name } } } } } } } } }",
        TOLD,
    ),
    "the schema, 28 times": Hostile(
        f"{{ __schema {{ {each(28, 'a#: types { fields { type { ofType { fields { name } } } } }')} }} }}", TOLD
    ),
    "the schema, 20 times by fragments": Hostile(
        f"{{ __schema {{ {each(20, 'a#: types { ...T }')} }} }}"
        " fragment T on __Type { fields { args { type { name } } type { fields { name } } } }",
        TOLD,
    ),
    "types of types of types": Hostile(
        "{ __schema { types " + "{ ofType " * 30 + "{ name }" + "}" * 30 + " } }",
        "The query about the schema is 33 fields deep; 16 are allowed.",
    ),
    "lists of the schema in each other": Hostile(
        '{ __type(name: "Lot") { fields { type { fields { type { fields { name } } } } } } }',
        "Maximum introspection depth exceeded",
    ),
    "80 types": Hostile(
        f"{{ {each(80, '''a#: __type(name: 'Article') { name }''')} }}".replace("'", '"'), ALIASES
    ),
    # not GraphQL
    "nothing": Hostile("", "Unexpected <EOF>"),
    "a zero byte": Hostile("{ articles { nodes { id\0 } } }", BAD_CHARACTER),
    "text from right to left": Hostile("{ articles { nodes { \u202eid } } }", BAD_CHARACTER),
    "wide letters": Hostile("{ \uff41rticles { nodes { id } } }", BAD_CHARACTER),
    "a name that only looks the same": Hostile("{ \u0430rticles { nodes { id } } }", BAD_CHARACTER),
    "half a surrogate pair": Hostile(articles("id", '(search: "\\uD800")'), "Invalid Unicode escape sequence"),
    "a string without an end": Hostile('{ articles(search: """' + '\\"""' * 4000, "Unterminated string"),
    "a subscription": Hostile("subscription { articles { id } }", "subscription operation is not supported"),
    "types of its own": Hostile("type A { b: Int } " * 130, "is not executable"),
    "a name of 18400 letters": Hostile("{ " + "articles" * 2300 + " }", "Cannot query field"),
    "a selection of nothing": Hostile("{ articles { } }", "Syntax Error: Expected Name"),
    "240 unknown fields": Hostile(articles(each(240, "artcle_#")), "Cannot query field 'artcle_0'"),
    "180 unknown fields with long names": Hostile(articles(each(180, f"{'x' * 100}#")), "Cannot query field"),
    "100 unknown root fields": Hostile(
        f"{{ {each(100, 'article_#(id: 1) { id }')} }}", "Cannot query field 'article_0'"
    ),
    "fields in conflict": Hostile(
        f"{{ {each(19, 'a: articles(first: 1#) { nodes { id code } }')} }}", "conflict because they have differing"
    ),
}
