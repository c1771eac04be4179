"""Valid queries that nobody would write by hand.

The key in a reply tells the field and its arguments. The same key therefore always means the same, and may be
requested again anywhere: graphql-core merges such fields.
"""

import re
from dataclasses import dataclass, field
from random import Random
from typing import Any

from graphql import GraphQLField, GraphQLObjectType, get_named_type, is_leaf_type

from tests.interfaces.graphql.catalogue import LISTS, Json, arguments_text, literal
from tests.interfaces.graphql.oracle import Oracle, frozen
from wmsd.interfaces.graphql.limits import DEEPEST
from wmsd.interfaces.graphql.schema import schema

FLAGS = {"$yes": True, "$no": False}
UNKNOWN = "999"
ROOTS = 3
MOST_FIELDS = 100
MOST_ALIASES = 15


TOKENS = re.compile(r'\.\.\.|"[^"]*"|\w+|\S')
ODD_TOKENS = (
    *("null", "-1", "1e999", '"x"', "{a: null}", "[1]", "{ }", "$yes", "(first: $n)", "__typename"),
    *("__schema { types { name } }", "@skip(if: $yes)", "on", "fragment", "mutation", "subscription"),
)
ODD_VALUES: tuple[Any, ...] = (None, 1.5, "x", [], {}, True, 10**30, -1, "1")


@dataclass(frozen=True)
class Asked:
    document: str
    variables: Json


@dataclass
class Query:
    random: Random
    oracle: Oracle
    variables: dict[str, tuple[str, Any]] = field(default_factory=dict)
    """The type and the value of each variable, by its name with the $."""
    written: dict[str, str] = field(default_factory=dict)
    fragments: dict[str, tuple[str, int, str]] = field(default_factory=dict)
    """The type, the depth and the text of each fragment, by its name."""
    fields: int = 0
    aliases: int = 0

    def write(self) -> Asked:
        root = schema().query_type
        assert root is not None
        names = [self._one_of(list(root.fields)) for _ in range(self.random.randint(1, ROOTS))]
        selections = [self._root(name, root.fields[name]) for name in names]
        if self._happens(0.2):
            selections.insert(self.random.randint(0, len(selections)), "__typename")
        if self._happens(0.2):
            selections = [
                f"... on Query {{ {' '.join(selections)} }}",
                self._root(names[0], root.fields[names[0]]),
            ]
        fragments = [f"fragment {name} on {of} {text}" for name, (of, _, text) in self.fragments.items()]
        declared = ", ".join(f"{name}: {kind}" for name, (kind, _) in self.variables.items())
        head = f"query Random{f'({declared})' if declared else ''}"
        document = "\n".join([f"{head} {{ {' '.join(selections)} }}", *fragments])
        return Asked(document, {name[1:]: value for name, (_, value) in self.variables.items()})

    # --- root fields --------------------------------------------------------------------------------------------

    def _root(self, name: str, declared: GraphQLField) -> str:
        if name in LISTS:
            return self._list(name, declared)
        record_id = self._one_of(["1", "2", "3", UNKNOWN])
        key = f"r{record_id}_{name}" if self._happens(0.7) else ""
        if not key:
            record_id = "1"
        value = self._variable(f"$id{record_id}", "ID!", self._one_of([record_id, int(record_id)]))
        return self._field(name, f"(id: {value})", key, declared, 1)

    def _list(self, name: str, declared: GraphQLField) -> str:
        variant = self.random.randrange(len(LISTS[name].filters))
        arguments = LISTS[name].filters[variant]
        cursors = self.oracle.cursors[name, frozen(arguments)]
        first, after = self.random.randint(1, 4), self.random.randint(-1, min(5, len(cursors) - 1))
        called = f"f{variant}_{first}_{after + 1}_{name}"
        more = f"first: {self._variable(f'$first{first}', 'Int!', first)}"
        if after >= 0:
            more += f', after: "{cursors[after]}"'
        text = f"{arguments_text(arguments)[:-1] or '('}{', ' if arguments else ''}{more})"
        return self._field(name, text, called, declared, 1)

    # --- selections ---------------------------------------------------------------------------------------------

    def _field(self, name: str, arguments: str, key: str, declared: GraphQLField, depth: int) -> str:
        self.fields += 1
        self.aliases += bool(key)
        text = f"{key}: {name}{arguments}" if key else f"{name}{arguments}"
        kind = get_named_type(declared.type)
        if isinstance(kind, GraphQLObjectType):
            return f"{text}{self._directive()} {self._selection(kind, depth + 1)}"
        return f"{text}{self._directive()}"

    def _selection(self, of: GraphQLObjectType, depth: int) -> str:
        chosen = [self._chosen(of, depth) for _ in range(self.random.randint(1, 4))]
        return f"{{ {' '.join(chosen)} }}"

    def _chosen(self, of: GraphQLObjectType, depth: int) -> str:
        """Return a field, a fragment, or the name of the type."""
        dice = self.random.random()
        if dice < 0.1 or self.fields > MOST_FIELDS:
            return f"{self._alias('__typename')}__typename{self._directive()}"
        if dice < 0.17:
            condition = self._one_of(["", f" on {of.name}"])
            return f"...{condition}{self._directive()} {self._selection(of, depth)}"
        if dice < 0.27:
            return self._fragment(of, depth)
        possible = {name: each for name, each in of.fields.items() if is_leaf(each) or depth < DEEPEST}
        composite = [name for name, each in possible.items() if not is_leaf(each)]
        name = self._one_of(composite if composite and self._happens(0.5) else list(possible))
        return self._inner_field(name, possible[name], depth)

    def _inner_field(self, name: str, declared: GraphQLField, depth: int) -> str:
        if "first" in declared.args:
            first = self.random.randint(1, 3)
            text = self._variable(f"$first{first}", "Int!", first)
            return self._field(name, f"(first: {text})", f"s{first}_{name}", declared, depth)
        key = self._alias(name)
        return self._field(name, "", key[:-2], declared, depth)

    def _alias(self, name: str) -> str:
        if self.aliases >= MOST_ALIASES or not self._happens(0.2):
            return ""
        return f"{self._one_of(['a', 'b'])}_{name}: "

    def _fragment(self, of: GraphQLObjectType, depth: int) -> str:
        """Return an existing fragment or a new one. A fragment never contains itself, because only complete
        fragments are stored.
        """
        fitting = [
            name
            for name, (kind, deepest, _) in self.fragments.items()
            if kind == of.name and depth + deepest <= DEEPEST
        ]
        if fitting and self._happens(0.7):
            return f"...{self._one_of(fitting)}{self._directive()}"
        text = self._selection(of, depth)
        name = f"F{len(self.fragments)}"
        self.fragments[name] = (of.name, DEEPEST - depth, text)
        return f"...{name}{self._directive()}"

    def _directive(self) -> str:
        if not self._happens(0.12):
            return ""
        name = self._one_of(["skip", "include"])
        value = self._one_of(["true", "false", *FLAGS])
        if value in FLAGS:
            value = self._variable(value, "Boolean!", FLAGS[value])
        return f" @{name}(if: {value})"

    def _variable(self, name: str, kind: str, value: Any) -> str:
        """Return the variable or its value, the same one at each place of the query."""
        if name not in self.written:
            is_written_out = name not in FLAGS and self._happens(0.5)
            self.written[name] = literal(value) if is_written_out else name
            if not is_written_out:
                self.variables[name] = (kind, value)
        return self.written[name]

    def _one_of(self, choices: list[Any]) -> Any:
        return self.random.choice(choices)

    def _happens(self, probability: float) -> bool:
        return self.random.random() < probability


def is_leaf(declared: GraphQLField) -> bool:
    return is_leaf_type(get_named_type(declared.type))


def mangled(asked: Asked, random: Random) -> Asked:
    """Return the query with a few tokens changed, removed, doubled or moved, and with odd variables."""
    tokens = TOKENS.findall(asked.document)
    for _ in range(random.randint(1, 4)):
        place = random.randrange(len(tokens) - 1)
        match random.randint(0, 4):
            case 0:
                tokens[place] = random.choice(tokens)
            case 1:
                del tokens[place]
            case 2:
                tokens.insert(place, random.choice(tokens))
            case 3:
                tokens[place] = random.choice(ODD_TOKENS)
            case _:
                other = random.randrange(len(tokens))
                tokens[place], tokens[other] = tokens[other], tokens[place]
    variables = {
        name: random.choice(ODD_VALUES) if random.random() < 0.3 else value
        for name, value in asked.variables.items()
    }
    return Asked(" ".join(tokens), variables)
