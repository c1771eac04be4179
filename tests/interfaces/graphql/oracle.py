"""The reply of graphql-core itself over the records of REST: the same types, with resolvers but without a plan."""

from dataclasses import dataclass, field
from typing import Any

from graphql import ExecutionResult, GraphQLError, GraphQLResolveInfo, execute_sync, parse

from tests.interfaces.graphql.catalogue import LISTS, RECORDS, Catalogue, Json, arguments_text
from wmsd.interfaces.graphql.schema import schema

REFERENCES = {
    "article": "articles",
    "partner": "partners",
    "client": "clients",
    "warehouse": "warehouses",
    "sales_order": "sales_orders",
    "purchase_order": "purchase_orders",
}


def frozen(arguments: Json) -> str:
    return arguments_text(dict(sorted(arguments.items())))


@dataclass
class Oracle:
    """The records of each list, by name and filters, with their `cursors` in the same order, and the end of each
    list.
    """

    lists: dict[tuple[str, str], list[Json]] = field(default_factory=dict, repr=False)
    cursors: dict[tuple[str, str], list[str]] = field(default_factory=dict, repr=False)
    ends: dict[tuple[str, str], str] = field(default_factory=dict, repr=False)
    moments: dict[tuple[str, str], str | None] = field(default_factory=dict, repr=False)
    by_id: dict[str, dict[str, Json]] = field(default_factory=dict, repr=False)

    def execute(self, document: str, variables: Json, name: str | None = None) -> ExecutionResult:
        return execute_sync(
            schema(),
            parse(document),
            variable_values=variables,
            operation_name=name,
            field_resolver=self._resolve,
        )

    def _resolve(self, source: Any, info: GraphQLResolveInfo[Any], **arguments: Any) -> Any:
        name = info.field_name
        if info.parent_type.name == "Query":
            return self._record(name, arguments["id"]) if name in RECORDS else self._connection(name, arguments)
        if name in REFERENCES and name not in source:
            return self.by_id[REFERENCES[name]].get(str(source[f"{name}_id"]))
        if info.parent_type.name == "Article" and name == "stock":
            of = [each for each in self.lists["stock", ""] if each["article_id"] == source["id"]]
            return of[: arguments["first"]]
        return source[name]

    def _end(self, key: tuple[str, str], edges: list[Json], after: str | None, has_more: bool) -> str:
        """Return the end cursor. The last page of events ends at the end of the log, even if the last events do
        not match.
        """
        if key[0] == "events" and not has_more:
            return self.ends[key]
        return str(edges[-1]["cursor"]) if edges else after or self.ends[key]

    def _record(self, name: str, record_id: str) -> Json:
        found = self.by_id[RECORDS[name]].get(record_id)
        if found is None:
            raise GraphQLError("not found")
        return found

    def _connection(self, name: str, arguments: Json) -> Json:
        first, after = arguments.pop("first"), arguments.pop("after", None)
        key = name, frozen({key: value for key, value in arguments.items() if value is not None})
        records, cursors = self.lists[key], self.cursors[key]
        start = 0 if after is None else cursors.index(after) + 1
        end = start + first
        edges = [
            {"cursor": cursor, "node": record}
            for cursor, record in zip(cursors[start:end], records[start:end], strict=True)
        ]
        return {
            "edges": edges,
            "nodes": records[start:end],
            "pageInfo": {
                "hasNextPage": len(records) > end,
                "hasPreviousPage": after is not None,
                "startCursor": edges[0]["cursor"] if edges else None,
                "endCursor": self._end(key, edges, after, has_more=len(records) > end),
                "asOf": self.moments[key],
            },
        }


async def read_oracle(catalogue: Catalogue) -> Oracle:
    """Read the records from REST. Only the form of a cursor comes from GraphQL: see test_connections.py."""
    oracle = Oracle()
    for name, of in LISTS.items():
        for arguments in of.filters:
            key = name, frozen(arguments)
            oracle.lists[key] = await catalogue.listed(name, arguments)
            text = arguments_text({**arguments, "first": 500})
            shown = f"{{ {name}{text} {{ edges {{ cursor node {{ id }} }} pageInfo {{ endCursor asOf }} }} }}"
            told = (await catalogue.ask(shown))[name]
            assert [edge["node"]["id"] for edge in told["edges"]] == [
                str(each["id"]) for each in oracle.lists[key]
            ]
            oracle.cursors[key] = [edge["cursor"] for edge in told["edges"]]
            oracle.ends[key] = told["pageInfo"]["endCursor"]
            oracle.moments[key] = told["pageInfo"]["asOf"]
    for name in {*REFERENCES.values(), *RECORDS.values()}:
        oracle.by_id[name] = {str(each["id"]): each for each in oracle.lists[name, ""]}
    return oracle
