// Processes an order from its creation to its delivery, with the client of openapi-typescript and openapi-fetch.
// Everything here is typed: `tsc --strict` fails if a description does not say what the server does.

import createClient from "openapi-fetch";
import type { components, paths as PathsOfV1 } from "./v1.js";
import type { paths as PathsOfV2 } from "./v2.js";

declare const process: { argv: string[] };

const [baseUrl, token, company] = process.argv.slice(2) as [string, string, string];
const headers = { Authorization: `Bearer ${token}` };
const v1 = createClient<PathsOfV1>({ baseUrl, headers });
const v2 = createClient<PathsOfV2>({ baseUrl, headers });
const inCompany = { "X-Company-Id": Number(company) };
type Order = components["schemas"]["SalesOrder"];

function check(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(what);
}

const made = await v1.POST("/api/sales-orders", {
  params: { header: { ...inCompany, "Idempotency-Key": "typescript-1" } },
  body: {
    partner_id: 1,
    warehouse_id: 1,
    external_ref: "TS-1",
    ship_to: { name: "Ana Pop", city: "Cluj-Napoca" },
    lines: [{ article_code: "A", quantity: 2.5 }],
  },
});
check(made.data !== undefined, JSON.stringify(made.error));
const order: Order = made.data;
check(order.lines[0]?.quantity === 2.5 && order.ship_to?.city === "Cluj-Napoca", "the order is not as it was sent");
const etag = made.response.headers.get("ETag") ?? "";

const params = { path: { id: order.id } };
const changed = await v1.PATCH("/api/sales-orders/{id}", {
  params: { ...params, header: { ...inCompany, "If-Match": etag } },
  body: { carrier: "Fan Courier" },
});
check(changed.data?.carrier === "Fan Courier", JSON.stringify(changed.error));
const late = await v1.PATCH("/api/sales-orders/{id}", {
  params: { ...params, header: { ...inCompany, "If-Match": etag } },
  body: { carrier: "Other" },
});
check(late.error?.code === "PRECONDITION_FAILED", "a stale ETag was taken");

export const wrong = () =>
  v1.PATCH("/api/sales-orders/{id}", {
    params: { ...params, header: inCompany },
    // @ts-expect-error  a carrier is a text: the compiler fails if it accepts what is not described
    body: { carrier: 5 },
  });

for (const status of ["IN_LUCRU", "INCARCAT", "LIVRAT"] as const) {
  const moved = await v2.PATCH("/api/v2/sales-orders/{id}/status", {
    params: { ...params, header: inCompany },
    body: { status },
  });
  check(moved.data?.status === status, JSON.stringify(moved.error));
}

const found: number[] = [];
let cursor: string | null | undefined;
do {
  const page = await v2.GET("/api/v2/sales-orders", {
    params: { query: { per_page: 1, status: "LIVRAT", ...(cursor ? { cursor } : {}) }, header: inCompany },
  });
  check(page.data !== undefined, JSON.stringify(page.error));
  found.push(...page.data.data.map((each) => each.id));
  cursor = page.data.next_cursor;
} while (cursor);
check(found.length === 2 && found.includes(order.id), `the walk found ${found.join()}`);

const refused = await v1.POST("/api/sales-orders", {
  params: { header: inCompany },
  body: { partner_id: 1, warehouse_id: 1, external_ref: "TS-1", lines: [{ article_code: "NONE", quantity: 1 }] },
});
check(refused.error?.code === "EXTERNAL_REF_TAKEN", "a taken external_ref has no code of its own");
check(Object.keys(refused.error.errors ?? {}).sort().join() === "external_ref,lines.0.article_code", "errors");

const events = await v2.GET("/api/v2/events", { params: { query: { event: "sales_order.status_changed" }, header: inCompany } });
check(events.data !== undefined && events.data.data.length >= 3, "the events of the moves are missing");
console.log(`order ${order.code} went from ${order.status} to LIVRAT`);
