// Processes an order from its creation to its delivery, with the client of openapi-generator (typescript-fetch).

import { Configuration, ResponseError, SalesOrdersApi, SalesOrderStatus } from "./typescript";

declare const process: { argv: string[]; exit(code: number): void };

const [basePath, token, company] = process.argv.slice(2) as [string, string, string];
const orders = new SalesOrdersApi(new Configuration({ basePath, accessToken: token }));
const xCompanyId = Number(company);

async function main(): Promise<void> {
  const order = await orders.createSalesOrder({
    xCompanyId,
    idempotencyKey: "generator-ts",
    salesOrderFields: {
      partnerId: 1,
      warehouseId: 1,
      externalRef: "OG-TS",
      requestedDate: new Date("2026-12-01"),
      shipTo: { city: "Cluj-Napoca" },
      lines: [{ articleCode: "A", quantity: 2.5 }],
    },
  });
  for (const status of [SalesOrderStatus.InLucru, SalesOrderStatus.Incarcat, SalesOrderStatus.Livrat]) {
    await orders.updateSalesOrder({ id: order.id, xCompanyId, salesOrderChanges: { status } });
  }
  const { data, meta } = await orders.listSalesOrders({ xCompanyId, status: "LIVRAT" });
  if (meta.total !== 1 || data[0]?.shipTo?.city !== "Cluj-Napoca") throw new Error(JSON.stringify(data));
  try {
    await orders.getSalesOrder({ id: 999, xCompanyId });
  } catch (error) {
    if (!(error instanceof ResponseError) || error.response.status !== 404) throw error;
    console.log(`${order.code} ${data[0].status}`);
  }
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
